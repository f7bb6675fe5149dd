"""poolwise moments --parts that is killed or interrupted: the same command goes on."""

import json
import signal
import subprocess
import sys

import pytest

from poolwise import Moments, moments_of
from tests.cli.entry import names_in, run

pytestmark = pytest.mark.slow

# The command, which stops for good when it comes to a file.
BRAKED = """
import sys, time
from poolwise.cli import main
from poolwise.tables.file_reader import Reader

batches = Reader.batches

def braked(reader, *args):
    if reader.file.path.name == {stop_at!r}:
        print("stopped", flush=True)
        for _ in range(6000):
            time.sleep(0.1)  # a signal just before a long sleep would not end it
    return batches(reader, *args)

Reader.batches = braked
sys.argv = ["poolwise", "moments", *{arguments!r}]
main()
"""
ARGUMENTS = ["history", "--label", "wear", "--precision", "exact", "-o", "h.moments.json"]
PARTS = ["--parts", "parts"]


def stopped(folder, arguments, sign):
    """Run the command, and end it by a signal at the fourth file; return what it said."""
    fourth = sorted(path.name for path in (folder / "history").iterdir())[3]
    program = BRAKED.format(stop_at=fourth, arguments=arguments)
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=folder, stdout=-1, stderr=-1, text=True
    ) as process:
        try:
            assert process.stdout.readline() == "stopped\n"
            process.send_signal(sign)
            _, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    return process.returncode, errors


@pytest.mark.in_turn
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("name", ["SIGKILL", "SIGINT"])
def test_after_a_kill_or_an_interrupt_the_same_command_goes_on(pump_files, name, jobs):
    arguments = [*ARGUMENTS, *PARTS, "--jobs", str(jobs)]
    code, errors = stopped(pump_files, arguments, getattr(signal, name))
    assert names_in(pump_files) == {"pumps.csv", "gaps.csv", "history", "parts"}
    if name == "SIGINT":
        told = "Interrupted. Nothing was written. Files that were read are kept in parts.\n"
        assert (code, errors) == (130, told)
    kept = len([*(pump_files / "parts").glob("*.part.json")])
    assert kept == 3 if jobs == 1 else kept >= 2
    told = run(pump_files, "moments", *arguments, "--json")
    assert (told.returncode, told.stderr) == (0, "")
    report = json.loads(told.stdout)
    assert (report["resumed"], report["warnings"]) == (True, [])
    whole = moments_of(pump_files / "history", response="wear", precision="exact")
    assert Moments.load(pump_files / "h.moments.json").text() == whole.text()


def test_an_interrupt_without_parts_keeps_nothing(pump_files):
    told = stopped(pump_files, ARGUMENTS, signal.SIGINT)
    assert told == (130, "Interrupted. Nothing was written.\n")
    assert names_in(pump_files) == {"pumps.csv", "gaps.csv", "history"}


def test_what_was_read_is_kept_when_it_may_not_be_written(pump_files):
    refused = run(pump_files, "moments", *ARGUMENTS, *PARTS, "--min-rows", "1000")
    assert refused.returncode == 1
    assert refused.stderr.endswith("or use a smaller --min-rows.\n")
    told = run(pump_files, "moments", *ARGUMENTS, *PARTS)
    assert told.stdout.startswith("Used files of moments of an earlier run.\nh.moments.json: 300 ")
