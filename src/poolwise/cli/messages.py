"""Messages: how an error of ours, or an interrupt, reaches the user: without a traceback."""

from __future__ import annotations

from collections.abc import Iterator
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
    errors = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
    try:
        yield
    except (TransferError, OSError) as error:
        errors.print(f"{type(error).__name__}: {error}")
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        errors.print(interrupted)
        raise typer.Exit(130) from None
