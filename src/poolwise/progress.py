"""Progress: a bar for whatever takes longer than two seconds, on a terminal that shows it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 2.0  # seconds before a bar appears


def tracked(items: Iterable[T], total: int, label: str, *, show: bool | None = None) -> Iterator[T]:
    """Yield items, and show a bar with the time left once it takes longer than two seconds.

    Parameters
    ----------
    items : iterable
        What to go through.
    total : int
        How many there are.
    label : str
        What is being done.
    show : bool, optional
        Whether to show a bar; unless given, on a terminal and in a notebook. It needs rich,
        which comes with ``poolwise[cli]``; without it nothing is shown.
    """
    wanted = sys.stderr.isatty() or "ipykernel" in sys.modules if show is None else show
    if not wanted or find_spec("rich") is None:
        yield from items
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total, visible=False)
        start = time.monotonic()
        for item in items:
            yield item
            bar.update(task, advance=1, visible=time.monotonic() - start > PATIENCE)
