"""The demo runs as a user runs it."""

import json
import subprocess
import sys

import pytest


@pytest.mark.slow
def test_the_demo_tells_both_stories_and_writes_figure_and_reports(tmp_path):
    command = [sys.executable, "-m", "poolwise.demo", "--draws", "5", "--out", str(tmp_path)]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "past patients   250" in told.stdout
    assert "History helps: pooling changes the mean error by -" in told.stdout
    assert (tmp_path / "history_helps.svg").read_text().startswith("<?xml")
    assert (tmp_path / "history_helps.png").read_bytes()[:4] == b"\x89PNG"
    for name in ("clinic", "pumps"):
        assert (tmp_path / f"{name}.html").read_text().startswith("<!DOCTYPE html>")
    _, clinic, pumps = told.stdout.split("\nReport: ")
    assert "History probably helps: " in clinic.splitlines()[1]
    assert "History does not help: " in pumps.splitlines()[1]
    assert "“old pumps” contradicts the target" in told.stdout
    assert told.stderr == ""


@pytest.mark.slow
def test_the_verb_says_the_same_in_json_and_replaces_an_earlier_demo(tmp_path):
    (tmp_path / "clinic.html").write_text("old")
    command = [sys.executable, "-m", "poolwise", "demo", "--draws", "2", "-o", str(tmp_path)]
    told = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    found = json.loads(told.stdout)
    assert (found["format"], found["version"], found.keys()) == (
        "poolwise demo",
        1,
        {"format", "version", "stories"},
    )
    assert {s["name"]: s["answer"] for s in found["stories"]} == {
        "clinic": "probably_helps",
        "pumps": "does_not_help",
    }
    keys = {"name", "answer", "verdict", "report", "figures"}
    assert all(story.keys() == keys for story in found["stories"])
    assert (tmp_path / "clinic.html").read_text() != "old"
    assert told.stderr == ""
