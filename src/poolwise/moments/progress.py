"""Progress of long work: bars on a terminal, lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

T = TypeVar("T")

PATIENCE = 2.0  # seconds before a bar appears
LONG, EVERY = 10.0, 5.0  # seconds of work that has lines, and between two of them


def tracked(
    items: Iterable[T],
    total: float,
    label: str,
    *,
    work: Callable[[T], float] | None = None,
    sample: int = 1,
    show: bool | None = None,
) -> Iterator[T]:
    """Yield items, and show the time left: a bar after two seconds, or lines on standard error.

    ``total`` is the number of items or, where ``work`` is given, the work of all of them;
    ``sample`` is the number of items after which the time of the others is known. Bars are for a
    terminal or a notebook, and need rich, which comes with ``poolwise[cli]``. Elsewhere work of
    more than about ten seconds has a line every five seconds. ``show`` is False for neither, and
    True for a bar in any case.
    """
    if not _shown(show):
        lines = None if show is False else Lines(label, sample)
        done = 0.0
        for item in items:
            yield item
            done += 1.0 if work is None else work(item)
            if lines is not None:
                lines.update(done / total if total else 1.0)
        return
    from rich.progress import TimeRemainingColumn

    with _bar(TimeRemainingColumn()) as bar:
        task = bar.add_task(label, total=total)
        for item in items:
            yield item
            bar.advance(task, 1.0 if work is None else work(item))


class Lines:
    """Lines on standard error with the time left of work that takes long."""

    def __init__(self, label: str, sample: int = 1) -> None:
        self._label, self._sample, self._is_told = label, sample, False
        self._start = self._last = time.monotonic()

    def update(self, share: float) -> None:
        """Print a line if it is time for one; ``share`` of the work is done."""
        now, self._sample = time.monotonic(), self._sample - 1
        spent = now - self._start
        left = spent * (1.0 - share) / share if share > 0.0 else 0.0
        is_known = self._sample <= 0 and spent >= PATIENCE
        is_due = now - self._last >= EVERY or (is_known and not self._is_told)
        if share >= 1.0 or not is_due or spent + left < LONG:
            return
        rest = f", {_about(left)} left" if is_known else ""
        print(f"{self._label}: {share:.0%} done{rest}", file=sys.stderr, flush=True)
        self._last, self._is_told = now, self._is_told or is_known


def _about(seconds: float) -> str:
    """Return a duration in words."""
    for unit, size in (("hour", 3600.0), ("minute", 60.0)):
        if seconds >= 1.5 * size:
            return f"about {seconds / size:.0f} {unit}s"
    return f"about {max(5.0 * round(seconds / 5.0), 5.0):.0f} seconds"


@contextmanager
def waiting(label: str, *, show: bool | None = None) -> Iterator[None]:
    """Show the elapsed time of work of unknown length; ``show`` as in ``tracked``."""
    if not _shown(show):
        yield
        return
    from rich.progress import TimeElapsedColumn

    with _bar(TimeElapsedColumn()) as bar:
        bar.add_task(label, total=None)
        yield


@contextmanager
def reading_bar(label: str, size: float, *, show: bool | None = None) -> Iterator[ReadingBar]:
    """Yield a bar of bytes and rows, to be advanced while files are read.

    ``size`` is the number of bytes of all files, zero if unknown; ``show`` is as in ``tracked``. If
    no bar is shown, advancing it has no effect.
    """
    if not _shown(show):
        yield ReadingBar(None, label, size, None if show is False else Lines(label))
        return
    from rich.progress import DownloadColumn, TextColumn, TimeRemainingColumn

    rows = TextColumn("{task.fields[rows]:,} rows")
    with _bar(DownloadColumn(), rows, TimeRemainingColumn()) as bar:
        yield ReadingBar(bar, label, size)


class ReadingBar:
    """Bytes and rows read so far."""

    def __init__(
        self, bar: Progress | None, label: str, size: float, lines: Lines | None = None
    ) -> None:
        self._bar, self._lines, self._size = bar, lines, size
        self.rows, self.bytes = 0, 0.0
        if bar is not None:
            self._task = bar.add_task(label, total=size or None, rows=0)

    def update(self, rows: int, size: float) -> None:
        """Advance by some rows and bytes."""
        self.rows, self.bytes = self.rows + rows, self.bytes + size
        if self._bar is not None:
            self._bar.update(self._task, completed=self.bytes, rows=self.rows)
        elif self._lines is not None and self._size:
            self._lines.update(self.bytes / self._size)


def _bar(*columns: ProgressColumn) -> Progress:
    """Return a bar with a label and these columns, which appears after two seconds."""
    from rich.console import Console, RenderableType
    from rich.progress import BarColumn, Progress, TextColumn

    start = time.monotonic()

    class PatientProgress(Progress):
        def get_renderables(self) -> Iterable[RenderableType]:
            return super().get_renderables() if time.monotonic() - start > PATIENCE else ()

    # Speed over the last ten minutes: an item may take a minute.
    return PatientProgress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        *columns,
        console=Console(stderr=True),
        transient=True,
        speed_estimate_period=600.0,
    )


def _shown(show: bool | None) -> bool:
    wanted = sys.stderr.isatty() or "ipykernel" in sys.modules if show is None else show
    return wanted and find_spec("rich") is not None
