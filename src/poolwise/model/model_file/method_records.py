"""Records of methods in a model file: one Struct per method, made from its declared parameters.

A method is restored by its constructor from plain values; nothing that a file names is imported.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from functools import reduce
from operator import or_
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from poolwise.errors import NotWritten
from poolwise.linear.fit import plain
from poolwise.linear.problem import Method
from poolwise.methods import METHODS, name_of_method
from poolwise.moments.json_format import JsonObject, reason
from poolwise.wording import listed

INFINITE = {"inf": math.inf, "-inf": -math.inf}  # JSON has no such numbers


def _in_json(declared: Any) -> Any:
    """Return the declared type of a parameter, with names for infinity."""
    # Without limits: one on a number, beside a tuple of fixed length, crashes msgspec 0.22.
    kind, inner = get_origin(declared), tuple(map(_in_json, get_args(declared)))
    if kind in (Union, UnionType):
        return reduce(or_, inner)
    if kind in (tuple, Mapping):
        return kind[inner]
    return float | Literal["inf", "-inf"] if declared is float else declared


def _struct(name: str, kind: type[Any]) -> Any:
    hints = get_type_hints(kind)
    declared = [(field.name, _in_json(hints[field.name])) for field in fields(kind)]
    told = {"__doc__": (kind.__doc__ or "").partition("\n")[0]}
    return msgspec.defstruct(
        kind.__name__, declared, bases=(JsonObject,), namespace=told, tag_field="name", tag=name
    )


if TYPE_CHECKING:
    MethodRecord = JsonObject
    MethodName = str
else:
    MethodRecord = reduce(or_, (_struct(name, kind) for name, kind in METHODS.items()))
    MethodName = Literal[tuple(METHODS)]


def method_in(record: MethodRecord) -> Method:
    """Return the method of a record."""
    given = msgspec.structs.asdict(record)
    method: Method = METHODS[str(record.__struct_config__.tag)](
        **{key: _meant(value) for key, value in given.items()}
    )
    return method


def record_of(method: Any) -> dict[str, Any]:
    """Return the data of a record: the name and the parameters of a method."""
    name = name_of_method(method)
    if name not in METHODS:
        raise not_saved(
            f"its method {name} is not one of poolwise's, {listed(list(METHODS))}",
            "Reading a file must not run code, so it can only name methods of poolwise. Keep a "
            "model with a method of your own in a pickle or with skops, and load it only if you "
            "trust it.",
        )
    record = {"name": name, **plain(method.get_params(deep=False), _infinite)}
    try:
        msgspec.convert(record, MethodRecord)
    except msgspec.ValidationError as error:
        raise not_saved(
            f"a parameter of {method!r} does not have its declared type ({reason(error)})",
            "Set the parameter to a value of that type and fit again.",
        ) from None
    return record


def not_saved(why: str, hint: str) -> NotWritten:
    """Return the error for a model that a model file cannot express."""
    return NotWritten(f"The model cannot be saved: {why}.", hint)


def _infinite(value: float) -> float | str:
    return str(value) if math.isinf(value) else value


def _meant(value: Any) -> Any:
    """Return the Python value of a JSON value."""
    if isinstance(value, dict):
        return {key: _meant(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(_meant(item) for item in value)
    return INFINITE.get(value, value) if isinstance(value, str) else value
