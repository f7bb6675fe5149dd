"""Peak memory of a task, beyond the memory in use before it, in a new process."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks.clock import threads

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@dataclass(frozen=True)
class Peak:
    """Bytes that a task added, by the system (if available) and by Python's allocator."""

    resident: int | None
    traced: int
    seen_by: str

    @property
    def megabytes(self) -> float:
        """The greater of the two: one misses memory that is reused, the other memory of BLAS."""
        return max(self.resident or 0, self.traced) / 1e6

    def in_words(self) -> str:
        """Describe how it was measured, and how much of it Python allocated."""
        return f"by {self.seen_by}; arrays and objects {self.traced / 1e6:.2g} MB (tracemalloc)"


def peak_in_new_process(prepare: Callable[..., Callable[[], object]], *arguments: Any) -> Peak:
    """Return the peak of the work that ``prepare(*arguments)`` returns."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_peak, threads(), prepare, arguments).result()


def _peak(limit: int, prepare: Callable[..., Callable[[], object]], arguments: Any) -> Peak:
    with threadpool_limits(limit):
        work = prepare(*arguments)
        gc.collect()
        resident, seen_by = _resident(work)
        tracemalloc.start()
        work()
        traced = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return Peak(resident, traced, seen_by)


def _resident(work: Callable[[], object]) -> tuple[int | None, str]:
    """Return the growth of the resident set's high-water mark, and its source."""
    try:
        CLEAR.write_text("5")  # the mark falls to what is resident now
        before = _status("VmRSS")
    except OSError:
        return _resident_at_most(work)
    work()
    return max(0, _status("VmHWM") - before), "VmHWM"


def _status(field: str) -> int:
    lines = STATUS.read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))


def _resident_at_most(work: Callable[[], object]) -> tuple[int | None, str]:
    """Return the same where the mark cannot be reset: growth below an older peak is not seen."""
    try:
        import resource
    except ImportError:
        return None, "tracemalloc alone: this system has no high-water mark"
    unit = 1 if sys.platform == "darwin" else 1024
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    work()
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return (after - before) * unit, "ru_maxrss"
