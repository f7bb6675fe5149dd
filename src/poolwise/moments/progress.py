"""Progress bars on a terminal for work that takes longer than two seconds."""

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


def tracked(
    items: Iterable[T],
    total: float,
    label: str,
    *,
    work: Callable[[T], float] | None = None,
    show: bool | None = None,
) -> Iterator[T]:
    """Yield items, and show a bar with the time left after two seconds.

    ``total`` is the number of items or, where ``work`` is given, the work of all of them. Unless
    ``show`` is given, the bar is shown on a terminal and in a notebook. It needs rich, which comes
    with ``poolwise[cli]``; without it nothing is shown.
    """
    if not _shown(show):
        yield from items
        return
    from rich.progress import TimeRemainingColumn

    with _bar(TimeRemainingColumn()) as bar:
        task = bar.add_task(label, total=total)
        for item in items:
            yield item
            bar.advance(task, 1.0 if work is None else work(item))


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
        yield ReadingBar(None, label, size)
        return
    from rich.progress import DownloadColumn, TextColumn, TimeRemainingColumn

    rows = TextColumn("{task.fields[rows]:,} rows")
    with _bar(DownloadColumn(), rows, TimeRemainingColumn()) as bar:
        yield ReadingBar(bar, label, size)


class ReadingBar:
    """Bytes and rows read so far."""

    def __init__(self, bar: Progress | None, label: str, size: float) -> None:
        self._bar, self.rows, self.bytes = bar, 0, 0.0
        if bar is not None:
            self._task = bar.add_task(label, total=size or None, rows=0)

    def update(self, rows: int, size: float) -> None:
        """Advance by some rows and bytes."""
        self.rows, self.bytes = self.rows + rows, self.bytes + size
        if self._bar is not None:
            self._bar.update(self._task, completed=self.bytes, rows=self.rows)


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
