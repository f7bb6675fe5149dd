"""Progress: a bar for whatever takes longer than two seconds, on a terminal that shows it."""

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
    """Yield items, and show a bar with the time left once it takes longer than two seconds.

    Parameters
    ----------
    items : iterable
        What to go through.
    total : float
        How many there are, or how much work they are together.
    label : str
        What is being done.
    work : callable, optional
        How much work an item was; all are alike unless given.
    show : bool, optional
        Whether to show a bar; unless given, on a terminal and in a notebook. It needs rich,
        which comes with ``poolwise[cli]``; without it nothing is shown.
    """
    if not _shown(show):
        yield from items
        return
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

    with _bar(
        TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn()
    ) as bar:
        task = bar.add_task(label, total=total)
        for item in items:
            yield item
            bar.advance(task, 1.0 if work is None else work(item))


@contextmanager
def waiting(label: str, *, show: bool | None = None) -> Iterator[None]:
    """Show that something is being done, and for how long, where nobody knows how much is left.

    Parameters
    ----------
    label : str
        What is being done.
    show : bool, optional
        As in ``tracked``.
    """
    if not _shown(show):
        yield
        return
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with _bar(*columns) as bar:
        bar.add_task(label, total=None)
        yield


@contextmanager
def reading_bar(label: str, size: float, *, show: bool | None = None) -> Iterator[ReadingBar]:
    """Give a bar of bytes and rows, to be moved while files are read.

    Parameters
    ----------
    label : str
        What is being read.
    size : float
        Bytes of all files; zero where nobody knows, and the bar does not say how much is left.
    show : bool, optional
        As in ``tracked``; where nothing is to be shown, moving the bar does nothing.
    """
    if not _shown(show):
        yield ReadingBar(None, label, size)
        return
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TextColumn("{task.fields[rows]:,} rows"),
        TimeRemainingColumn(),
    )
    with _bar(*columns) as bar:
        yield ReadingBar(bar, label, size)


class ReadingBar:
    """Bytes and rows read so far.

    Parameters
    ----------
    bar : rich.progress.Progress or None
        Where they are drawn.
    label : str
        What is being read.
    size : float
        Bytes to come; zero where nobody knows.
    """

    def __init__(self, bar: Progress | None, label: str, size: float) -> None:
        self._bar, self.rows, self.bytes = bar, 0, 0.0
        if bar is not None:
            self._task = bar.add_task(label, total=size or None, rows=0)

    def update(self, rows: int, size: float) -> None:
        """Move on by some rows and bytes."""
        self.rows, self.bytes = self.rows + rows, self.bytes + size
        if self._bar is not None:
            self._bar.update(self._task, completed=self.bytes, rows=self.rows)


def _bar(*columns: ProgressColumn) -> Progress:
    """Return a bar that draws itself from time to time, and nothing before its time has come."""
    from rich.console import Console, RenderableType
    from rich.progress import Progress

    start = time.monotonic()

    class PatientProgress(Progress):
        def get_renderables(self) -> Iterable[RenderableType]:
            return super().get_renderables() if time.monotonic() - start > PATIENCE else ()

    # Speed is that of the last ten minutes: an item may well take one.
    return PatientProgress(
        *columns, console=Console(stderr=True), transient=True, speed_estimate_period=600.0
    )


def _shown(show: bool | None) -> bool:
    wanted = sys.stderr.isatty() or "ipykernel" in sys.modules if show is None else show
    return wanted and find_spec("rich") is not None
