"""Errors of the reproduction: wrong arguments, and missing data or packages."""

from __future__ import annotations

from collections.abc import Iterable

from poolwise.wording import did_you_mean, listed


class PaperError(ValueError):
    """A wrong name or option, or a specification that cannot be read."""


class OutOfReach(PaperError):
    """A dataset or package that is missing, damaged or cannot be downloaded."""


def check_name(what: str, name: str, known: Iterable[str]) -> None:
    """Raise an error for an unknown name, with the known names and the nearest one."""
    there = list(known)
    if name not in there:
        hint = did_you_mean(name, there)
        raise PaperError(f"No {what} named {name!r}.{hint} There are {listed(there, 99)}.")
