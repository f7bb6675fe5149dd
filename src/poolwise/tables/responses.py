"""Responses: the name that a response brings along, and its numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from poolwise.chunks import doubles, doubles_of_objects
from poolwise.double_double import Array
from poolwise.errors import NotNumeric, RoundedIntegers


def name_of(y: Any) -> str | None:
    """Return the name that a response brings along, if any."""
    name = getattr(y, "name", None)
    return str(name) if isinstance(name, str) and name else None


def numbers(y: Any, name: str) -> Array:
    """Return a response as doubles; what is missing becomes NaN."""
    values = np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    advice = "Give one number per row."
    if values.ndim != 1 or values.dtype.kind not in "fiubO":
        what = f"is the response and has the type {values.dtype}, shape {values.shape}"
        raise NotNumeric(name, what, advice)
    if values.dtype.kind == "O" and (texts := [v for v in values if isinstance(v, str)]):
        what = f"is the response and holds text, {texts[0]!r} for one"
        raise NotNumeric(name, what, advice)
    try:
        read = doubles_of_objects if values.dtype.kind == "O" else doubles
        return read(values, f"the response {name!r}")
    except RoundedIntegers:
        raise
    except (TypeError, ValueError) as error:
        raise NotNumeric(name, f"is the response and is not numeric ({error})", advice) from error
