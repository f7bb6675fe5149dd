"""Help: every verb is there with an example, quickly, and the shell completes them."""

import ast
import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import poolwise
from poolwise.cli import options
from poolwise.cli.app import app
from poolwise.cli.input_tables import MOMENTS
from poolwise.cli.options import HistoryOptions, ReadingOptions
from poolwise.moments.moments_json import SUFFIX
from tests.cli.entry import quick, run

VERBS = ["fit", "predict", "compare", "plan", "report", "moments", "demo", "version"]
HEAVY = ["numpy", "scipy", "sklearn", "pyarrow", "pandas", "narwhals", "matplotlib", "joblib"]


@pytest.mark.slow
def test_help_lists_every_verb_in_a_line_and_loads_none_of_the_heavy_packages():
    program = (
        "import sys; sys.argv = ['poolwise', '--help']\n"
        "from poolwise.cli import main\n"
        "try:\n    main()\n"
        "finally:\n    print(*sys.modules, file=sys.stderr)"
    )
    told = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert told.returncode == 0
    commands = told.stdout.partition("Commands:")[2].strip().splitlines()
    assert [line.split()[0] for line in commands] == VERBS
    assert all(line.endswith(".") and not line.endswith("...") for line in commands)
    assert "poolwise report history.csv recent.csv --label y -o report.html" in told.stdout
    loaded = {name.partition(".")[0] for name in told.stderr.split()}
    assert {"poolwise", "typer"} <= loaded
    assert not loaded & set(HEAVY)


@pytest.mark.parametrize("verb", [v for v in VERBS if v != "version"])
def test_help_of_a_verb_shows_examples_and_json(tmp_path, monkeypatch, verb):
    told = quick(tmp_path, monkeypatch, verb, "--help")
    assert told.exit_code == 0
    assert "--json" in told.stdout
    assert "For example:" in told.stdout
    assert f"\n  poolwise {verb}" in told.stdout


@pytest.mark.parametrize("verb", [v for v in VERBS if v != "version"])
def test_options_have_no_lists_of_python_and_no_limit_that_is_refused(tmp_path, monkeypatch, verb):
    told = quick(tmp_path, monkeypatch, verb, "--help").stdout
    _, _, options = told.partition("Options:")
    for odd in ("list[", "(5)", "x<=1.0"):
        assert odd not in options


def test_commands_that_share_options_say_the_same_about_them():
    commands = typer.main.get_command(app).commands
    for group, verbs in {
        HistoryOptions: ["fit", "compare", "plan", "report"],
        ReadingOptions: ["moments"],
    }.items():
        for field in dataclasses.fields(group):
            found = {
                option.help: option.opts
                for verb in verbs
                for option in commands[verb].params
                if option.name == field.name
            }
            assert [*found.values()] == [[f"--{field.name.replace('_', '-')}"]], field.name
            assert all(field.name in [o.name for o in commands[v].params] for v in verbs)


def test_no_command_declares_an_option_of_another_one_again():
    found = {}
    for path in Path(options.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
                name = node.arg if isinstance(node, ast.arg) else node.target.id
                if "typer.Option(" in ast.unparse(node.annotation):
                    found.setdefault(name, []).append(path.name)
    assert len(found) > 15
    again = {name: files for name, files in found.items() if len(files) > 1}
    # Random futures of a plan, and random samples of the demo; strict fits, and strict predictions.
    assert again.keys() == {"draws", "strict"}


def test_required_options_come_first():
    for name, command in typer.main.get_command(app).commands.items():
        required = [option.required for option in command.params]
        assert required == sorted(required, reverse=True), name


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_completes_verbs_and_methods(tmp_path, shell):
    told = run(tmp_path, "--show-completion", shell)
    assert told.returncode == 0, told.stderr
    assert "_POOLWISE_COMPLETE=complete_" in told.stdout
    if shell == "bash":
        asked = {
            "_POOLWISE_COMPLETE": "complete_bash",
            "COMP_WORDS": "poolwise p",
            "COMP_CWORD": "1",
        }
        assert run(tmp_path, **asked).stdout.split() == ["predict", "plan"]
        asked |= {"COMP_WORDS": "poolwise fit --method b", "COMP_CWORD": "3"}
        assert run(tmp_path, **asked).stdout.split() == ["bayes_pooling", "boosted_pooling"]


def test_the_command_line_repeats_the_suffix_of_moments():
    assert MOMENTS == SUFFIX


def test_every_public_name_is_imported_when_it_is_asked_for():
    assert set(poolwise.__all__) <= set(dir(poolwise))
    assert poolwise._HOMES.keys() == set(poolwise.__all__)
    for name in poolwise.__all__:
        assert getattr(poolwise, name) is not None
    with pytest.raises(AttributeError, match="module 'poolwise' has no attribute 'nothing'"):
        poolwise.nothing  # noqa: B018  to ask is the test


@pytest.mark.slow
def test_a_function_is_not_hidden_by_the_module_of_its_name():
    program = (
        "import poolwise.report.number_format, poolwise.tables.moments_of, poolwise\n"
        "print(callable(poolwise.report), callable(poolwise.moments_of), poolwise.methods.__name__)"
    )
    told = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert told.stdout == "True True poolwise.methods\n"
