"""Messages: how errors, warnings and interrupts reach the user: plainly, without a traceback."""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console

from poolwise.cli.interrupts import ignore_more, none_swallowed
from poolwise.cli.wording import as_typed
from poolwise.errors import (
    BadOption,
    DroppedColumns,
    TransferError,
    TransferWarning,
    UnknownMethod,
    UnknownResult,
)

OBEYED = {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}  # control, direction, half a letter, line breaks
LONGEST = 60  # letters of a name
USAGE = (BadOption, UnknownMethod, UnknownResult)  # about what was typed, not about the data


@contextmanager
def told_plainly(interrupted: str | Callable[[], str]) -> Iterator[None]:
    """End with a message after an error of ours, a path that cannot be, or an interrupt.

    Parameters
    ----------
    interrupted : str or callable
        What to say after an interrupt, or what finds that out then.
    """
    try:
        with none_swallowed():
            yield
    except BrokenPipeError:  # whoever read what we print has seen enough
        raise
    except (TransferError, OSError) as error:
        kind, message = type(error).__name__, as_typed(str(error))
        tell(f"{kind}: {message}")
        raise Refused(kind, message, 2 if isinstance(error, USAGE) else 1) from None
    except KeyboardInterrupt:
        ignore_more()
        message = interrupted if isinstance(interrupted, str) else interrupted()
        tell(message)
        raise Refused("Interrupted", message, 130) from None


class Refused(typer.Exit):
    """The end of a command that could not do what it was to do, after it has said so.

    Parameters
    ----------
    kind : str
        The class of the error.
    message : str
        What it says.
    status : int
        The exit status.
    """

    def __init__(self, kind: str, message: str, status: int) -> None:
        super().__init__(status)
        self.kind, self.message = kind, message


@contextmanager
def heard(*, quiet: bool) -> Iterator[list[TransferWarning]]:
    """Collect our warnings, and tell them in the end.

    Parameters
    ----------
    quiet : bool
        Whether to leave it to the caller to tell them, unless an error comes between.
    """
    cautions: list[TransferWarning] = []
    with warnings.catch_warnings():
        warnings.simplefilter("always", TransferWarning)
        others = warnings.showwarning

        def show(message: Warning | str, *about: Any, **more: Any) -> None:
            if isinstance(message, TransferWarning):
                cautions.append(message)
            else:
                others(message, *about, **more)

        warnings.showwarning = show
        try:
            yield cautions
        except BaseException:
            tell_cautions(cautions)
            raise
    if not quiet:
        tell_cautions(cautions)


def tell_cautions(cautions: Sequence[TransferWarning]) -> None:
    """Say warnings on standard error, each once."""
    said = [c for c in cautions if not _is_in_account(c)]
    for record in as_records(said):
        tell(f"{record['kind']}: {record['message']}")


def _is_in_account(caution: TransferWarning) -> bool:
    """Say whether the account of the columns tells it, and no column has a likely other name."""
    return isinstance(caution, DroppedColumns) and not caution.near


def as_records(cautions: Sequence[TransferWarning]) -> list[dict[str, str]]:
    """Return warnings as JSON can hold them, each once."""
    said = dict.fromkeys((type(c).__name__, as_typed(str(c))) for c in cautions)
    return [{"kind": kind, "message": message} for kind, message in said]


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


def name(text: str) -> str:
    """Return a name as one line, the middle of a long one left out."""
    shown = harmless(text).replace("\n", "\\n")
    if len(shown) <= LONGEST:
        return shown
    return f"{shown[: LONGEST - 21]}…{shown[-20:]}"
