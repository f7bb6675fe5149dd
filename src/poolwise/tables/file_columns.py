"""File columns: which of them files must have, what they hold, and what a filter is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from poolwise.errors import BadOption, NotInFile, NotNumeric
from poolwise.tables.arrow_columns import Kind, kind_of
from poolwise.tables.files import Files
from poolwise.tables.formats import Reader
from poolwise.wording import listed


def check_presence(
    readers: Sequence[Reader], files: Files, used: Sequence[str], response: str | None
) -> None:
    """Refuse a file that lacks a column which it must have."""
    holders = {n: str(r.file.path) for r in reversed(readers) for n in r.names}
    must = {n: "the name of the response" for n in holders if n == response}
    if files.weights:
        must[files.weights] = "which Files(..., weights=...) names"
    if files.nulls != "split":
        must |= {n: f"which {holders[n]!r} has" for n in used}
    for reader in readers:
        there = reader.names
        for name, why in must.items():
            if name not in there:
                raise NotInFile(str(reader.file.path), name, there, why)


def kinds_in_files(
    readers: Sequence[Reader], asked: Mapping[str, bool], keys: Mapping[str, Any]
) -> dict[str, Kind]:
    """Return what the columns asked for hold, in all files alike."""
    kinds: dict[str, Kind] = {}
    first: dict[str, str] = {}
    for reader in readers:
        for name, is_text in asked.items():
            path = str(reader.file.path)
            if name not in reader.schema.names:
                if name in reader.file.keys:
                    kinds[name] = kind_of(keys[name]) or "text"
                continue
            own = kind_of(reader.schema.field(name).type)
            if reader.file.format == "csv":
                own = "text" if is_text else "number"
            if own is None:
                advice = "Turn it into numbers (days since a date, say) or text, or drop it."
                kind = reader.schema.field(name).type
                raise NotNumeric(name, f"of {path} holds {kind}", advice)
            held = kinds.setdefault(name, own)
            if held == "void" or own == "void":
                kinds[name] = own if held == "void" else held
            elif held != own:
                words = {"text": "text", "number": "numbers"}
                what = f"holds {words[held]} in {first[name]} and {words[own]} in {path}"
                raise NotNumeric(name, what, "Write it alike in all files.")
            if own != "void":
                first.setdefault(name, path)
    return kinds


def key_types(readers: Sequence[Reader], texts: Mapping[str, bool]) -> dict[str, Any]:
    """Return the types of the columns that folders' names give: integers, if all of them are."""
    import pyarrow as pa

    values: dict[str, list[str]] = {}
    for reader in readers:
        for name, value in reader.file.keys.items():
            values.setdefault(name, []).extend([] if value is None else [value])
    return {
        name: pa.string() if texts.get(name) or not _are_integers(own) else pa.int64()
        for name, own in values.items()
    }


def _are_integers(values: Sequence[str]) -> bool:
    return all(v.removeprefix("-").isdecimal() and len(v) < 19 for v in values)


def filter_of(given: Any, readers: Sequence[Reader], keys: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return an expression, and the types of the columns that it is about."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    if given is None:
        return None, {}
    types = dict(keys)
    for reader in readers:
        for own in reader.schema:
            if own.name not in types or pa.types.is_null(types[own.name]):
                types[own.name] = own.type
    try:
        expression = given
        if not isinstance(given, ds.Expression):
            from pyarrow.parquet import filters_to_expression

            expression = filters_to_expression([given] if isinstance(given, tuple) else given)
        pa.schema(types.items()).empty_table().filter(expression)
    except (pa.ArrowException, ValueError, TypeError, KeyError) as error:
        what = f"a condition on columns of the files, which are {listed([*types])} ({error})"
        raise BadOption("filter", given, what) from error
    return expression, {n: t for n, t in types.items() if not _binds(expression, types, without=n)}


def _binds(expression: Any, types: Mapping[str, Any], *, without: str) -> bool:
    import pyarrow as pa

    try:
        rest = [(n, t) for n, t in types.items() if n != without]
        pa.schema(rest).empty_table().filter(expression)
    except pa.ArrowException:
        return False
    return True
