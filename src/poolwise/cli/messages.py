"""Messages: how an error of ours, or an interrupt, reaches the user: without a traceback."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import typer
from rich.console import Console

from poolwise.errors import TransferError

OBEYED = {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}  # control, direction, half a letter, line breaks


@contextmanager
def told_plainly(interrupted: str | Callable[[], str]) -> Iterator[None]:
    """End with a message after an error of ours, a path that cannot be, or an interrupt.

    Parameters
    ----------
    interrupted : str or callable
        What to say after an interrupt, or what finds that out then.
    """
    try:
        yield
    except (TransferError, OSError) as error:
        tell(f"{type(error).__name__}: {error}")
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        tell(interrupted if isinstance(interrupted, str) else interrupted())
        raise typer.Exit(130) from None


def tell_left_out(names: Mapping[str, Sequence[str]]) -> None:
    """Say what was left out and why, a line for each reason.

    Parameters
    ----------
    names : mapping of str to sequence of str
        What was left out, by reason.
    """
    for reason, left_out in names.items():
        tell(f"Left out: {', '.join(left_out)} ({reason})")


def tell(text: str) -> None:
    """Say something on standard error."""
    Console(stderr=True, soft_wrap=True, highlight=False, markup=False).print(harmless(text))


def harmless(text: str) -> str:
    """Return text that a terminal shows and does not obey, whatever names of columns are in it."""
    return "".join(
        c if c == "\n" or unicodedata.category(c) not in OBEYED else ascii(c)[1:-1] for c in text
    )
