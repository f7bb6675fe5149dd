"""Seconds and memory of a command, with all processes that it starts."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
PAUSE = 0.1  # seconds between two samples


@dataclass(frozen=True)
class Cost:
    """Cost of a command: wall and CPU seconds, bytes, how these were measured, and its output."""

    wall: float
    cpu: float
    peak: int
    seen_by: str
    output: str


def cost_of(command: Sequence[str]) -> Cost:
    """Run a command to its end; raise CalledProcessError if it fails.

    The peak adds up the high-water marks of the processes that are alive together, at the worst of
    many samples. It may exceed the memory in use at any moment, since they need not peak at once
    and shared pages count for each; it misses growth in the last tenth of a second of one.
    """
    cpu, start, peak = _cpu_of_children(), time.perf_counter(), 0
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        while process.poll() is None:
            peak = max(peak, sum(map(_high_water, _tree(process.pid))))
            time.sleep(PAUSE)
        wall = time.perf_counter() - start
        assert process.stdout is not None
        output = process.stdout.read()  # the pipe holds it: these commands print little
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, list(command), output)
    seen_by = "VmHWM of all processes alive together, summed"
    if not peak:
        peak, seen_by = _largest_child(), "ru_maxrss of the largest process"
    return Cost(wall, _cpu_of_children() - cpu, peak, seen_by, output)


def cpu_of_tree(pid: int) -> float:
    """Return the CPU seconds of a process and its descendants, alive and waited for."""
    return sum(map(_cpu_of, _tree(pid)))


def _cpu_of(pid: int) -> float:
    fields = _read(PROC / str(pid) / "stat").rpartition(")")[2].split()
    ticks = sum(map(int, fields[11:15]))  # utime, stime, and both of children that have ended
    return ticks / os.sysconf("SC_CLK_TCK")


def _tree(pid: int) -> Iterator[int]:
    """Yield a process and its descendants, as far as the system reports them."""
    yield pid
    for file in PROC.glob(f"{pid}/task/*/children"):
        for child in _read(file).split():
            yield from _tree(int(child))


def _high_water(pid: int) -> int:
    lines = _read(PROC / str(pid) / "status").splitlines()
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)


def _read(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:  # it has just ended
        return ""


def _cpu_of_children() -> float:
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _largest_child() -> int:
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit
