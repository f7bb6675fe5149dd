"""The demo runs as a user runs it."""

import json

import pytest

from poolwise.cli.demo_stories import FILES
from tests.cli.entry import FEW_TREES, quick, run_without
from tests.cli.test_json import VERBS, follows


@pytest.mark.slow
def test_the_demo_tells_both_stories_and_replaces_an_earlier_one_by_force(tmp_path, monkeypatch):
    for name in FILES:
        (tmp_path / name).write_text("old")
    command = ["demo", "--draws", "5", "--out", str(tmp_path)]
    told = quick(tmp_path, monkeypatch, *command)
    assert told.exit_code == 2
    assert "exists already" in " ".join(told.stderr.split())
    told = quick(tmp_path, monkeypatch, *command, "--force")
    assert told.exit_code == 0, told.output
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(FILES)
    assert "past patients   250" in told.stdout
    assert "Over all draws, pooling changes the mean error by -" in told.stdout
    assert (tmp_path / "history_helps.svg").read_text().startswith("<?xml")
    assert (tmp_path / "history_helps.png").read_bytes()[:4] == b"\x89PNG"
    for name in ("clinic", "pumps"):
        assert (tmp_path / f"{name}.html").read_text().startswith("<!DOCTYPE html>")
    _, clinic, pumps = told.stdout.split("\nReport: ")
    assert "history probably helps (probability 90%); " in clinic.splitlines()[1]
    assert "no clear difference with history" in pumps.splitlines()[1]
    assert "“old pumps” contradicts the recent rows" in " ".join(told.stdout.split())
    assert problems(told) == []


def problems(told):
    """Return the lines of standard error, but for those with the time left of a slow machine."""
    return [line for line in told.stderr.splitlines() if "% done" not in line]


@pytest.mark.slow
def test_the_verb_says_the_same_in_json_without_pandas(tmp_path):
    command = ["demo", "--draws", "2", "-o", "new", "--json"]
    told = run_without("pandas", tmp_path, *command, first=FEW_TREES)
    assert (told.returncode, problems(told)) == (0, [])
    found = json.loads(told.stdout)
    stories = found["stories"]
    assert follows(found, {"format": str, "version": int, **VERBS["demo"][1]})
    assert {s["name"]: s["verdict"]["level"] for s in stories} == {
        "clinic": "probably_helps",
        "pumps": "no_clear_difference",
    }
    assert sorted(p.name for p in (tmp_path / "new").iterdir()) == sorted(FILES)


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_there_is_replaced_by_force_alone(tmp_path, name, monkeypatch):
    (tmp_path / name).write_text("mine")
    told = quick(tmp_path, monkeypatch, "demo", "--draws", "2", "-o", ".")
    assert told.exit_code == 2, told.output
    assert "--force to replace it." in " ".join(told.stderr.split())
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [(name, "mine")]


@pytest.mark.slow
def test_a_folder_that_is_a_file_is_told(tmp_path, monkeypatch):
    (tmp_path / "out").write_text("a file")
    told = quick(tmp_path, monkeypatch, "demo", "-o", "out")
    assert (told.exit_code, told.stdout) == (2, "")
    assert "out is a file." in told.stderr


@pytest.mark.slow
def test_a_package_that_the_demo_needs_is_named(tmp_path):
    told = run_without("matplotlib", tmp_path, "demo", "-o", "new")
    assert told.returncode == 1
    assert told.stderr.startswith("NotInstalled: The demo needs the package matplotlib")
    assert not (tmp_path / "new").exists()
