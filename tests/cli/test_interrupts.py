"""Ctrl-C ends a command at any time, also where a library swallows the exception."""

import subprocess
import sys

import pytest

from tests.cli.entry import write_tables

pytestmark = pytest.mark.slow
FIT = ["fit", "history.csv", "recent.csv", "--label", "wear", "-o", "m.json", "--force"]
PREDICT = ["predict", "model.json", "new.csv", "-o", "out.csv", "--force"]
SAVED = ["moments", "history.csv", "-o", "h.moments.json", "--force"]
MEASURED = ["history.csv", "recent.csv", "--label", "wear", "--folds", "2", "--method", "offset"]
REPORT = ["report", *MEASURED, "-o", "r.html", "--force"]
COMPARE = ["compare", *MEASURED]

# The command, which is interrupted when it comes to import a module, or to call a function.
AT_IMPORT = """
import signal, sys
from poolwise.cli import main

class Finder:
    def find_spec(self, name, *_):
        if name == {module!r}:
            print("interrupted", name, flush=True)
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Finder())
sys.argv = ["poolwise", *{arguments!r}]
main()
"""
SWALLOWED = """
import signal, sys
from importlib import import_module
from poolwise.cli import main

owner = import_module({module!r})
own = getattr(owner, {name!r})

def swallowing(*args, **kwargs):
    try:
        print("interrupted", flush=True)
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        {then}
    return own(*args, **kwargs)

setattr(owner, {name!r}, swallowing)
sys.argv = ["poolwise", *{arguments!r}]
main()
"""
TWICE = """
import signal, sys
from poolwise.cli import main, messages

def told(text):
    print(text, file=sys.stderr)
    signal.raise_signal(signal.SIGINT)

messages.tell = told
""" + AT_IMPORT.partition("from poolwise.cli import main\n")[2]

# What was registered first with atexit is called last: after all of ours.
AT_END = """
import atexit, signal, sys
from poolwise.cli import main
atexit.register(signal.raise_signal, signal.SIGINT)
sys.argv = ["poolwise", *{arguments!r}]
main()
"""


@pytest.fixture
def folder(tmp_path):
    write_tables(tmp_path)
    return tmp_path


def end_of(folder, program):
    """Return exit status and errors of a program that is interrupted, and leaves all as it was."""
    for name in ("m.json", "out.csv", "h.moments.json", "r.html"):
        if not (folder / name).exists():
            (folder / name).write_text("what was there")
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False
    )
    assert ended.stdout.startswith(("interrupted", "Columns")), ended.stderr
    assert "interrupted" in ended.stdout
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before
    return ended.returncode, ended.stderr


@pytest.mark.parametrize("module", ["pandas", "pandas.core.frame", "scipy.stats"])
def test_an_interrupt_of_an_import_ends_the_command(folder, module):
    code, errors = end_of(folder, AT_IMPORT.format(module=module, arguments=FIT))
    assert (code, errors) == (130, "Interrupted. Nothing was written.\n")


def test_a_second_interrupt_changes_nothing(folder):
    code, errors = end_of(folder, TWICE.format(module="pyarrow.csv", arguments=FIT))
    assert (code, errors) == (130, "Interrupted. Nothing was written.\n")


def test_an_interrupt_after_the_end_does_not_turn_success_into_failure():
    program = AT_END.format(arguments=["version"])
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("arguments", "module", "name", "then"),
    [
        (FIT, "poolwise.model.regressor", "PooledRegressor", "pass"),
        (FIT, "poolwise.model.regressor", "PooledRegressor", "raise AttributeError from None"),
        (PREDICT, "poolwise.cli.predict", "_predicted", "raise AttributeError from None"),
        (SAVED, "poolwise.tables.moments_of", "MomentsJob", "pass"),
        (REPORT, "poolwise.report", "report", "pass"),
        (COMPARE, "poolwise.evaluation.compare", "compare", "pass"),
    ],
    ids=["fit", "fit that fails then", "predict", "moments", "report", "compare"],
)
def test_nothing_is_written_after_an_interrupt_that_was_swallowed(
    fitted, arguments, module, name, then
):
    program = SWALLOWED.format(module=module, name=name, then=then, arguments=arguments)
    code, errors = end_of(fitted, program)
    assert code == 130
    assert errors.splitlines()[-1].startswith("Interrupted.")
    assert "Traceback" not in errors
