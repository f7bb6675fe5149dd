"""JSON files whose format is declared once, as a Struct.

msgspec checks keys, types and limits while it reads, and prints the JSON Schema. What a schema
cannot say, such as lengths that must agree, a Struct checks in ``__post_init__``: it raises
``ValueError``, and msgspec adds the place in the file. Reading a file never runs code from it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from inspect import cleandoc
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec
import numpy as np

from poolwise._typing import AnyPath, Array
from poolwise.errors import BadFile

WRITE_AGAIN = "Ask its author to write it again."
MOST_BYTES = 2**28  # of a file, unless the caller allows more
UNIQUE = msgspec.Meta(min_length=1, extra_json_schema={"uniqueItems": True})  # of a list
CONTAINERS = (dict, list, tuple, np.ndarray)


class JsonObject(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """One JSON object of a file: exactly the declared keys."""


class _Header(msgspec.Struct):
    format: str
    version: int


T = TypeVar("T", bound=JsonObject)


@dataclass(frozen=True)
class Format(Generic[T]):
    """A format of files."""

    name: str  # what a file says under "format"
    version: int  # the only one that is read and written
    struct: type[T]  # what a file holds

    def read(self, path: AnyPath, max_bytes: int = MOST_BYTES) -> T:
        """Read a file; raise `BadFile` if it cannot be read, is too large, or is invalid."""
        where = str(path)
        try:
            with Path(path).open("rb") as source:
                content = source.read(max_bytes + 1)
        except FileNotFoundError:
            raise self._bad(where, "there is no such file", "Check its name and folder.") from None
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise self._bad(where, why, "Check that it is a file you may read.") from None
        if len(content) > max_bytes:
            hint = "If it is meant to be that large, load it with a larger max_bytes."
            why = f"it is larger than {max_bytes:,} bytes"
            raise self._bad(where, why, hint, max_bytes=max_bytes)
        return self.decode(content, where)

    def decode(self, content: bytes | str, where: str) -> T:
        """Parse the content of a file; ``where`` names it in an error."""
        try:
            text = content if isinstance(content, str) else content.decode("utf-8")
            found = msgspec.json.decode(text, type=self.struct)
            json.loads(text, object_pairs_hook=_check_keys)
        except RecursionError:
            raise self._bad(where, "its lists or objects are nested too deeply") from None
        except UnicodeError:
            raise self._bad(where, "it is not text in UTF-8") from None
        except ValueError as error:
            raise self._other_format(text, where) or self._bad(where, reason(error)) from None
        return found

    def encode(self, record: dict[str, Any]) -> str:
        """Write plain data and arrays as JSON in ASCII; raise ValueError for NaN and infinity."""
        return _laid_out({"format": self.name, "version": self.version, **record}) + "\n"

    def schema(self) -> str:
        """Return the JSON Schema of a file."""
        _, parts = msgspec.json.schema_components([self.struct], ref_template="#/$defs/{name}")
        for part in parts.values():
            part["description"] = cleandoc(part.get("description", ""))
        own = parts.pop(self.struct.__name__)
        kinds = [
            kind
            for kind in self.struct.__mro__
            if issubclass(kind, JsonObject) and kind is not JsonObject
        ]
        own["description"] = "\n\n".join(cleandoc(kind.__doc__ or "") for kind in kinds)
        whole = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": f"urn:{self.name.replace(' ', ':')}:{self.version}",
            **own,
            "$defs": parts,
        }
        return _laid_out(whole) + "\n"

    def _other_format(self, text: str, where: str) -> BadFile | None:
        """Return the error for a file of another format or version, if it is one."""
        try:
            header = msgspec.json.decode(text, type=_Header)
        except (ValueError, RecursionError):
            return None
        if header.format != self.name:
            return self._bad(where, f'it does not say "format": "{self.name}"')
        if header.version <= self.version:
            return None
        why = f"it is of version {header.version}, and this poolwise reads version {self.version}"
        return self._bad(where, why, "Install a newer poolwise.")

    def _bad(self, where: str, why: str, hint: str = WRITE_AGAIN, **about: Any) -> BadFile:
        what = self.name.removeprefix("poolwise ")
        message = f"{where} cannot be read as a {what} file: {why}."
        return BadFile(message, hint, **about)


def reason(error: Exception) -> str:
    """Return what msgspec says is wrong, as part of a sentence."""
    said = str(error).replace(" - at ", " at ").replace("Invalid enum", "Invalid").rstrip(".")
    return said if said.startswith("JSON") else said[:1].lower() + said[1:]


def numbers(what: str, values: Sequence[Any], *shape: int) -> Array:
    """Return numbers of a file as an array; raise ValueError unless they have this shape."""
    rows = values if len(shape) == 2 else [values]
    if len(values) != shape[0] or any(len(row) != shape[-1] for row in rows):
        raise ValueError(f"`{what}` must have {' lists of '.join(map(str, shape))} entries")
    return np.array(values, dtype=np.float64).reshape(shape)


def check_distinct(what: str, names: Sequence[str]) -> None:
    """Raise ValueError if a name is repeated."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"there is more than one {what} named {twice!r}")


def _check_keys(pairs: list[tuple[str, Any]]) -> None:
    """Raise ValueError for a repeated key, of which msgspec would take the last."""
    check_distinct("key", [key for key, _ in pairs])


def _laid_out(value: Any, indent: str = " ") -> str:
    """Write JSON: a list or object that holds others has one entry per line."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    keys = [f"{json.dumps(key)}: " for key in value] if isinstance(value, dict) else None
    entries = value.values() if keys else value if isinstance(value, list | tuple) else ()
    first = entries if keys else entries[:1]  # entries of a list are of one kind
    if not any(isinstance(entry, CONTAINERS) for entry in first):
        return json.dumps(value, allow_nan=False, default=np.generic.item)
    lines = [_laid_out(entry, indent + " ") for entry in entries]
    if keys:
        lines = [key + line for key, line in zip(keys, lines, strict=True)]
    joined = f",\n{indent}".join(lines)
    return f"{{\n{indent}{joined}}}" if keys else f"[\n{indent}{joined}]"
