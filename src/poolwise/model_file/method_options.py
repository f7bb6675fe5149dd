"""Methods in a file: a name of `METHODS`, and parameters of the types that the class declares.

A method is made by its constructor from plain values. Nothing that a file says is imported, and a
parameter that the class does not declare, or of another type, is refused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from poolwise.answer import AnyMethod
from poolwise.errors import CannotSave
from poolwise.methods import METHOD_NAMES, METHODS, ROW_METHODS
from poolwise.strict_json import Wrong, fields, shown
from poolwise.wording import listed

KINDS = METHODS | ROW_METHODS
INFINITE = {"inf": math.inf, "-inf": -math.inf}  # JSON has no such numbers


def described(method: AnyMethod) -> dict[str, Any]:
    """Return the name and the parameters of a method, as plain values."""
    for name, kind in KINDS.items():
        if type(method) is kind:
            return {"name": name, "parameters": _parameters(name, method)}
    kind_name = type(method).__name__
    raise CannotSave(
        f"its method {kind_name} is not one of poolwise's, {listed(METHOD_NAMES)}",
        "To read a file must not run code, so it can only name methods of poolwise. Keep a model "
        "with a method of your own in a pickle or with skops, and load it only if you trust it",
    )


def _parameters(name: str, method: Any) -> dict[str, Any]:
    types, found = _types(type(method)), {}
    for key, value in method.get_params(deep=False).items():
        plain = _plain(value)
        try:
            _meant(plain, types[key])
        except TypeError:
            raise CannotSave(
                f"{key}={value!r} of its method {name} is not {_said(types[key])}",
                f"Set {key} to such a value and fit again",
            ) from None
        found[key] = plain
    return found


def _plain(value: Any) -> Any:
    """Return a value as JSON has it, where it has one."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Real) and not isinstance(value, int):
        number = float(value)
        return {v: k for k, v in INFINITE.items()}.get(number, number)
    return value


def method_in(found: Any, what: str) -> AnyMethod:
    """Return the method that a file describes."""
    found = fields(found, what, ("name", "parameters"))
    name, given = found["name"], found["parameters"]
    if type(name) is not str or name not in KINDS:
        said = repr(name[:40]) if type(name) is str else shown(name)
        raise Wrong(f"{what} is {said}, and this poolwise has {listed(METHOD_NAMES)}")
    types = _types(KINDS[name])
    values = fields(given, f"the list of parameters of {name}", types)
    meant = {}
    for key, value in values.items():
        try:
            meant[key] = _meant(value, types[key])
        except TypeError:
            raise Wrong(f"the parameter {key} of {name} is not {_said(types[key])}") from None
    return KINDS[name](**meant)


def _types(kind: type[Any]) -> dict[str, Any]:
    """Return the declared type of each parameter of a method."""
    return {k: v for k, v in get_type_hints(kind).items() if k in kind.__dataclass_fields__}


def _meant(value: Any, declared: Any) -> Any:
    """Return what a value of JSON stands for where this type is declared, or raise TypeError."""
    kind, inner = get_origin(declared), get_args(declared)
    if kind in (Union, UnionType):
        for choice in inner:
            try:
                return _meant(value, choice)
            except TypeError:
                continue
    elif declared is NoneType and value is None:
        return None
    elif declared in (int, float) and _is_number(value, declared):
        return value
    elif declared is float and type(value) is str and value in INFINITE:
        return INFINITE[value]
    elif kind is Literal and type(value) is str and value in inner:
        return value
    elif kind is tuple and isinstance(value, list) and len(value) == len(inner):
        return tuple(_meant(v, t) for v, t in zip(value, inner, strict=True))
    elif kind is Mapping and isinstance(value, dict):
        return {k: _meant(v, inner[1]) for k, v in value.items()}
    raise TypeError


def _is_number(value: Any, declared: type) -> bool:
    if type(value) is not int and (declared is int or type(value) is not float):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def _said(declared: Any) -> str:
    """Write a type in words."""
    kind, inner = get_origin(declared), get_args(declared)
    if kind in (Union, UnionType):
        return " or ".join(_said(choice) for choice in inner)
    if kind is Literal:
        return " or ".join(map(repr, inner))
    if kind is tuple:
        return f"{len(inner)} numbers"
    if kind is Mapping:
        return "a mapping of names to numbers"
    return {NoneType: "None", float: "a number", int: "a whole number"}[declared]
