"""Messages: how an error of ours, or an interrupt, reaches the user: without a traceback."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import typer
from rich.console import Console

from poolwise.errors import TransferError


@contextmanager
def told_plainly(interrupted: str) -> Iterator[None]:
    """End with a message after an error of ours, a path that cannot be, or an interrupt.

    Parameters
    ----------
    interrupted : str
        What to say after an interrupt.
    """
    errors = _console()
    try:
        yield
    except (TransferError, OSError) as error:
        errors.print(f"{type(error).__name__}: {error}")
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        errors.print(interrupted)
        raise typer.Exit(130) from None


def tell_left_out(names: Mapping[str, Sequence[str]]) -> None:
    """Say what was left out and why, a line for each reason.

    Parameters
    ----------
    names : mapping of str to sequence of str
        What was left out, by reason.
    """
    for reason, left_out in names.items():
        _console().print(f"Left out: {', '.join(left_out)} ({reason})")


def _console() -> Console:
    return Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
