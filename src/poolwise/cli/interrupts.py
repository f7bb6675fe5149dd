"""Ctrl-C ends a command, even if a library swallows the KeyboardInterrupt.

Arrow, for example, imports pandas during a conversion and ignores any exception of that import. So
an interrupt is remembered, and nothing is written after it.
"""

from __future__ import annotations

import atexit
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

_came: list[int] = []  # the signals


def listen() -> None:
    """Remember interrupts from now on, unless another handler is installed."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _remember)
        atexit.register(
            signal.signal, signal.SIGINT, signal.SIG_IGN
        )  # everything is written by then


def stop_if_interrupted() -> None:
    """End the command if there was an interrupt. Call it before writing a file."""
    if _came:
        raise KeyboardInterrupt


def ignore_more() -> None:
    """Ignore a second interrupt while the first one ends the command."""
    if _came:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def none_swallowed() -> Iterator[None]:
    """Raise an interrupt that was swallowed in the block, also instead of an error it caused."""
    try:
        yield
    except Exception:
        stop_if_interrupted()
        raise
    stop_if_interrupted()


def import_pandas() -> None:
    """Import pandas, if installed, before Arrow imports it and ignores interrupts."""
    with suppress(ImportError):
        import pandas  # noqa: F401


def _remember(signum: int, _: Any) -> None:
    _came.append(signum)
    raise KeyboardInterrupt
