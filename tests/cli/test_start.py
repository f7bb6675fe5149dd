"""The start of the command: by module, interrupted, without its packages."""

import subprocess
import sys

import pytest

from poolwise import cli


def test_an_interrupt_of_the_imports_ends_it_quietly(monkeypatch, capsys):
    class Interrupt:
        def find_spec(self, name, *_):
            if name == "poolwise.cli.app":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "poolwise.cli.app")
    monkeypatch.setattr(sys, "meta_path", [Interrupt(), *sys.meta_path])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 130
    assert capsys.readouterr() == ("", "")


def test_the_module_runs_as_a_command():
    command = [sys.executable, "-m", "poolwise.cli", "predict", "nothing", "x.csv"]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told.returncode == 1
    assert "nothing" in told.stderr
    assert told.stderr.count("\n") == 1


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_without_its_packages_the_command_says_what_to_install(monkeypatch, package):
    find = cli.find_spec
    monkeypatch.setattr(cli, "find_spec", lambda name: None if name == package else find(name))
    with pytest.raises(SystemExit) as told:
        cli.main()
    assert str(told.value) == (
        f"The command line needs the package {package}, which is not installed. "
        'Run pip install "poolwise[cli]". Then try again.'
    )
