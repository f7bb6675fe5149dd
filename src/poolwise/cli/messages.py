"""Errors, warnings and interrupts as text on standard error."""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from poolwise.cli.hints import message_and_hint
from poolwise.cli.interrupts import ignore_more, none_swallowed
from poolwise.errors import BadOption, DataWarning, LeftOut, PoolwiseError, PoolwiseWarning

# Categories of characters that a terminal interprets: control, direction, surrogates, line breaks.
OBEYED = {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}
LONGEST = 60  # characters of a name


class CommandFailed(typer.Exit):
    """The end of a command after its error was printed; `kind` is the class of the error."""

    def __init__(self, kind: str, message: str, hint: str, status: int) -> None:
        super().__init__(status)
        self.kind, self.message, self.hint = kind, message, hint


@contextmanager
def running(
    *,
    quiet: bool,
    written: Sequence[Path] | None = None,
    kept: Path | None = None,
    lacks: Collection[str] = (),
) -> Iterator[list[PoolwiseWarning]]:
    """Run a command: collect its warnings, and end it with a message after an error.

    ``quiet`` leaves it to the caller to print warnings. An interrupt names the files that were
    ``written`` before (None if the command writes none) and the folder of files that were ``kept``.
    Hints do not name options that the command ``lacks``.
    """
    try:
        with none_swallowed(), _collected(quiet=quiet) as cautions:
            yield cautions
    except BrokenPipeError:  # the reader of standard output has ended
        raise
    except (PoolwiseError, OSError) as error:
        message, hint = (
            message_and_hint(error, lacks) if isinstance(error, PoolwiseError) else (str(error), "")
        )
        kind = type(error).__name__
        tell(f"{kind}: {message} {hint}")
        status = 2 if isinstance(error, BadOption) else 1
        raise CommandFailed(kind, message, hint, status) from None
    except KeyboardInterrupt:
        ignore_more()
        message = _interrupted(written, kept)
        tell(message)
        raise CommandFailed("Interrupted", message, "", 130) from None


def _interrupted(written: Sequence[Path] | None, kept: Path | None) -> str:
    said = ["Interrupted."]
    if written:
        said.append(f"Written before: {', '.join(map(str, written))}.")
    elif written is not None:
        said.append("Nothing was written.")
    if kept is not None:
        said.append(f"Files that were read are kept in {kept}.")
    return " ".join(said)


@contextmanager
def _collected(*, quiet: bool) -> Iterator[list[PoolwiseWarning]]:
    """Collect the warnings of poolwise; print them at the end, or before an error."""
    cautions: list[PoolwiseWarning] = []
    with warnings.catch_warnings():
        warnings.simplefilter("always", PoolwiseWarning)
        others = warnings.showwarning

        def show(message: Warning | str, *about: Any, **more: Any) -> None:
            if isinstance(message, PoolwiseWarning):
                cautions.append(message)
            else:
                others(message, *about, **more)

        warnings.showwarning = show
        try:
            yield cautions
        except BaseException:
            _tell_all(cautions)
            raise
    if not quiet:
        _tell_all(cautions)


def _tell_all(cautions: Sequence[PoolwiseWarning]) -> None:
    for record in as_records([c for c in cautions if not _is_in_account(c)]):
        tell(f"{record['kind']}: {record['message']} {record['hint']}")


def _is_in_account(caution: PoolwiseWarning) -> bool:
    """Return whether the account says the same, without a guess at another name."""
    about = caution.about
    is_named = isinstance(caution, LeftOut) and "names" in about and not about.get("near")
    return is_named or is_note(caution)


def is_note(caution: PoolwiseWarning) -> bool:
    """Return whether a warning is about rows that folds should keep together."""
    return isinstance(caution, DataWarning) and not {"groups", "time"}.isdisjoint(caution.about)


def as_records(cautions: Sequence[PoolwiseWarning]) -> list[dict[str, str]]:
    """Return warnings for JSON, without repetitions, the one about swapped tables first."""
    in_order = sorted(cautions, key=lambda c: "swapped" not in c.about)
    said = dict.fromkeys((type(c).__name__, *message_and_hint(c)) for c in in_order)
    return [{"kind": kind, "message": message, "hint": hint} for kind, message, hint in said]


def tell(text: str) -> None:
    """Print a line on standard error."""
    console = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
    console.print(harmless(text.rstrip()))


def wrong_option(message: str, option: str) -> typer.BadParameter:
    """Return the error for a wrong option or argument; its message may have untrusted names."""
    return typer.BadParameter(harmless(message), param_hint=option)


def harmless(text: str) -> str:
    """Return text in which control characters are escaped; names of columns are untrusted."""
    return "".join(
        c if c == "\n" or unicodedata.category(c) not in OBEYED else ascii(c)[1:-1] for c in text
    )


def name(text: str) -> str:
    """Return a name as one line, without the middle of a long one."""
    shown = harmless(text).replace("\n", "\\n")
    if len(shown) <= LONGEST:
        return shown
    return f"{shown[: LONGEST - 21]}…{shown[-20:]}"
