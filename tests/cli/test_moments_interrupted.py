"""poolwise moments that is killed or interrupted: the same command goes on, with the same bits."""

import json
import signal
import subprocess
import sys
import time

import pytest

from poolwise import Moments, moments_of
from tests.cli.entry import names_in, run

pytestmark = pytest.mark.slow

# The command, which writes what it found after every file and stops for good at one of them.
BRAKED = """
import sys, time
from poolwise.cli import main
from poolwise.tables import checkpoint
from poolwise.tables.formats import Reader

checkpoint.PAUSE = {pause}
batches, read = Reader.batches, []

def braked(reader, *args):
    read.append(reader.where)
    if len(read) == {stop_at}:
        print("stopped", flush=True)
        time.sleep(600.0)
    return batches(reader, *args)

Reader.batches = braked
sys.argv = ["poolwise", "moments", *{arguments!r}]
main()
"""
ARGUMENTS = ["history", "--label", "wear", "-o", "h.moments.json"]


def done(part):
    """Return how many files the second task, that of the sums, has done."""
    if not part.exists():
        return 0
    _, *later = json.loads(part.read_text().splitlines()[1]).values()
    return later[0][0] if later else 0


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(("name", "pause"), [("SIGKILL", 0.0), ("SIGINT", 1e9)])
def test_after_a_kill_or_an_interrupt_the_same_command_goes_on(pump_files, name, pause, jobs):
    arguments, part = [*ARGUMENTS, "--jobs", str(jobs)], pump_files / "h.moments.json.part"
    program = BRAKED.format(pause=pause, stop_at=14, arguments=arguments)  # the fourth of the sums
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=pump_files, stdout=-1, stderr=-1, text=True
    ) as process:
        try:
            assert process.stdout.readline() == "stopped\n"
            end = time.monotonic() + 30.0
            while not pause and done(part) < 3 and time.monotonic() < end:
                time.sleep(0.01)  # another thread may be at the file before
            process.send_signal(getattr(signal, name))
            _, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    assert names_in(pump_files) == {"pumps.csv", "gaps.csv", "history", part.name}
    if name == "SIGINT":
        assert process.returncode == 130
        assert errors == (
            f"Interrupted. Nothing was written. What was read is kept in {part.name}: the same "
            "command goes on from there.\n"
        )
    assert done(part) in ((3,) if jobs == 1 or not pause else range(4))
    told = run(pump_files, "moments", *arguments, "--json")
    assert (told.returncode, told.stderr) == (0, "")
    report = json.loads(told.stdout)
    assert (report["resumed"], report["warnings"]) == (True, [])
    whole = moments_of(pump_files / "history", response="wear")
    assert Moments.load(pump_files / "h.moments.json").text() == whole.text()
    assert not part.exists()


def test_an_interrupt_before_anything_was_read_says_so(pump_files):
    program = BRAKED.format(pause=0.0, stop_at=1, arguments=ARGUMENTS)
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=pump_files, stdout=-1, stderr=-1, text=True
    ) as process:
        try:
            assert process.stdout.readline() == "stopped\n"
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, errors) == (130, "Interrupted. Nothing was written.\n")


def test_what_was_read_for_long_is_kept_when_it_may_not_be_written(pump_files):
    program = BRAKED.format(pause=0.0, stop_at=-1, arguments=[*ARGUMENTS, "--min-rows", "1000"])
    refused = subprocess.run(
        [sys.executable, "-c", program], cwd=pump_files, capture_output=True, text=True, check=False
    )
    assert refused.returncode == 1
    assert refused.stderr.endswith(
        "or give a smaller --min-rows. What was read is kept in h.moments.json.part: the same "
        "command goes on from there.\n"
    )
    told = run(pump_files, "moments", *ARGUMENTS)
    assert told.stdout.startswith("Went on from where an earlier run was.\nh.moments.json: 300 ")
