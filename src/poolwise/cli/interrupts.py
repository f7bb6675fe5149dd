"""Interrupts: Ctrl-C ends a command, also where a library swallows the exception that it raises.

Arrow, for one, imports pandas within a conversion and drops whatever goes wrong there. So an
interrupt is remembered, and nothing is written after one.
"""

from __future__ import annotations

import atexit
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

_came: list[int] = []  # the signals


def listen() -> None:
    """Remember interrupts from now on, unless someone else looks after them."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _remember)
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)  # all is done by then


def stop_if_interrupted() -> None:
    """End the command if an interrupt came, whatever became of it: call it before writing."""
    if _came:
        raise KeyboardInterrupt


def ignore_more() -> None:
    """Let no second interrupt disturb the end that a first one has brought."""
    if _came:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def none_swallowed() -> Iterator[None]:
    """Raise an interrupt that was swallowed in the block, also in place of what came of that."""
    try:
        yield
    except Exception:
        stop_if_interrupted()
        raise
    stop_if_interrupted()


def import_pandas() -> None:
    """Import pandas, if it is there, before Arrow does it where no interrupt would be heard."""
    with suppress(ImportError):
        import pandas  # noqa: F401


def _remember(signum: int, _: Any) -> None:
    _came.append(signum)
    raise KeyboardInterrupt
