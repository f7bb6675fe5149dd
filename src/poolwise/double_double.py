"""Error-free sums and products: pairs of doubles that hold twice the digits."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]

_SPLITTER = 134217729.0  # 2**27 + 1


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """Return ``s, e`` with ``s = fl(a + b)`` and ``s + e == a + b`` exactly (Knuth 1969)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """Return ``p, e`` with ``p = fl(a * b)`` and ``p + e == a * b`` exactly (Dekker 1971)."""
    p = a * b
    a_high, a_low = _split(a)
    b_high, b_low = _split(b)
    return p, ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low


def _split(a: Array) -> tuple[Array, Array]:
    c = _SPLITTER * a
    high = c - (c - a)
    return high, a - high
