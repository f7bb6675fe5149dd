"""Strict JSON: files of ours, read with a reason for everything that is refused.

Whoever reads a file catches `Wrong` and says which file it was. Nothing here runs code from a file,
and nothing else than `Wrong` is raised, whatever a file holds.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from poolwise.double_double import Array
from poolwise.wording import listed

MOST_BYTES = 2**28  # of a file that is read unless told otherwise

AnyPath: TypeAlias = str | os.PathLike[str]


class Wrong(Exception):
    """What is wrong with a file, and what to do about it unless that is the usual."""


@contextmanager
def within(part: str) -> Iterator[None]:
    """Say of which part of a file something is wrong."""
    try:
        yield
    except Wrong as wrong:
        why, *then = wrong.args
        raise Wrong(f"in {part}, {why}", *then) from None


def text_in(path: AnyPath, max_bytes: int) -> str:
    """Return the text of a file that is not too large."""
    try:
        with Path(path).open("rb") as source:
            content = source.read(max_bytes + 1)
    except FileNotFoundError:
        raise Wrong("there is no such file", "Check its name and its folder") from None
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise Wrong(why, "Check that it is a file you may read") from None
    if len(content) > max_bytes:
        then = "If it is meant to be that large, load it with a larger max_bytes"
        raise Wrong(f"it is larger than {max_bytes:,} bytes", then)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise Wrong("it is not text in UTF-8") from None


def parsed(text: str) -> Any:
    """Parse JSON: no key twice, no NaN."""
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise Wrong(f"it is not JSON (line {error.lineno}: {error.msg})") from None
    except RecursionError:
        raise Wrong("its lists are nested too deeply") from None
    except ValueError:  # digits without end
        raise Wrong("it holds an integer of too many digits") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Wrong("it has the same key twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise Wrong(f"it holds {name}, which is no number in JSON")


def document(found: Any, name: str, version: int, keys: Collection[str]) -> dict[str, Any]:
    """Return an object that says which format it has, of a version that is known.

    Parameters
    ----------
    found : object
        What was parsed.
    name, version : str, int
        The format, and the newest version of it.
    keys : collection of str
        All keys but ``format`` and ``version``.
    """
    if not isinstance(found, dict) or found.get("format") != name:
        raise Wrong(f'it does not say "format": "{name}"')
    theirs = found.get("version")
    if type(theirs) is not int or theirs < 1:
        raise Wrong(f"its version is {shown(theirs)}, and must be a whole number from 1")
    if theirs > version:
        raise Wrong(
            f"it is of version {theirs}, and this poolwise reads up to {version}",
            "Install a newer poolwise",
        )
    wanted = {"format", "version", *keys}
    if lacking := sorted(wanted - found.keys()):
        raise Wrong(f"it lacks {listed(lacking)}")
    if unknown := sorted(found.keys() - wanted):
        raise Wrong(f"it has keys that version {version} does not have, {listed(unknown)}")
    return found


def fields(found: Any, what: str, keys: Collection[str]) -> dict[str, Any]:
    """Return an object that has exactly these keys."""
    if not isinstance(found, dict):
        raise Wrong(f"{what} is {shown(found)} where an object is needed")
    if found.keys() != set(keys):
        raise Wrong(
            f"{what} has the keys {listed(sorted(found))} where {listed(sorted(keys))} are needed"
        )
    return found


def entries(found: Any, what: str, length: int | None = None) -> list[Any]:
    """Return a list, of this length if one is given."""
    if isinstance(found, list) and length in (None, len(found)):
        return found
    has = f"{len(found)} entries" if isinstance(found, list) else shown(found)
    needed = "a list" if length is None else f"a list of {length}"
    raise Wrong(f"{what} is {has} where {needed} is needed")


def names(found: Any, what: str, of: str = "column") -> tuple[str, ...]:
    """Return different texts."""
    if not isinstance(found, list) or not all(type(n) is str for n in found):
        raise Wrong(f"{what} is not a list of texts")
    if len(set(found)) < len(found):
        twice = sorted(n for n, count in Counter(found).items() if count > 1)
        raise Wrong(f"it has more than one {of} named {listed(twice)}")
    return tuple(found)


def text(found: Any, what: str) -> str:
    """Return a text."""
    if type(found) is not str:
        raise Wrong(f"{what} is {shown(found)} where a text is needed")
    return found


def choice(found: Any, what: str, choices: tuple[str, ...]) -> str:
    """Return one of some texts."""
    if type(found) is not str or found not in choices:
        said = repr(found[:40]) if type(found) is str else shown(found)
        raise Wrong(f"{what} is {said}, and must be one of {listed(choices)}")
    return found


def flag(found: Any, what: str) -> bool:
    """Return true or false."""
    if type(found) is not bool:
        raise Wrong(f"{what} is {shown(found)} where true or false is needed")
    return found


def number(found: Any, what: str) -> float:
    """Return one double."""
    return float(vector([found], what, 1)[0])


def vector(found: Any, what: str, length: int) -> Array:
    """Return a list of finite doubles; whole numbers may stand for them."""
    values = entries(found, what, length)
    if not all(type(v) is float or type(v) is int for v in values):
        raise Wrong(f"{what} holds something that is not a number")
    try:
        numbers = np.array(values, dtype=np.float64)
    except OverflowError:
        numbers = np.array([np.inf])
    if not np.isfinite(numbers).all():
        raise Wrong(f"{what} holds a number beyond doubles")
    return numbers


def matrix(found: Any, what: str, size: int) -> Array:
    """Return a square matrix of finite doubles."""
    rows = [vector(row, what, size) for row in entries(found, what, size)]
    return np.array(rows).reshape(size, size)


def integers(found: Any, what: str, length: int, most: int) -> NDArray[np.intp]:
    """Return a list of whole numbers of some size at most."""
    values = entries(found, what, length)
    if not all(type(v) is int and abs(v) <= most for v in values):
        raise Wrong(f"{what} holds something that is not a whole number of at most {most:,}")
    return np.array(values, dtype=np.intp)


def shown(value: Any) -> str:
    """Write a value in a few letters."""
    text = repr(value) if value is None or type(value) in (bool, int, float) else ""
    return text[:40] or f"a {type(value).__name__}"


def line(value: Any) -> str:
    """Write a value as JSON in one line; doubles in digits that read as the same double."""
    return json.dumps(value, allow_nan=False)


def lines(rows: Sequence[Any] | None) -> str:
    """Write a matrix as JSON, one line per row."""
    if not rows:
        return line(rows)
    return "[\n  " + ",\n  ".join(map(line, rows)) + "]"


def joined(parts: dict[str, str]) -> str:
    """Write an object whose values are JSON already, one key per line."""
    return "{\n" + ",\n".join(f" {line(key)}: {text}" for key, text in parts.items()) + "\n}"
