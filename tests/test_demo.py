"""The demo runs as a user runs it."""

import subprocess
import sys


def test_the_demo_tells_its_story_and_draws_its_figure(tmp_path):
    command = [sys.executable, "-m", "poolwise.demo", "--draws", "5", "--out", str(tmp_path)]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "past patients   250" in told.stdout
    assert "History helps: pooling changes the mean error by -" in told.stdout
    assert (tmp_path / "history_helps.svg").read_text().startswith("<?xml")
    assert (tmp_path / "history_helps.png").read_bytes()[:4] == b"\x89PNG"
    assert told.stderr == ""
