"""P-values, corrected for the number of tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poolwise.double_double import Array


def corrected_p(p: Sequence[float]) -> Array:
    """Return p-values corrected for their number, by the method of Holm (1979)."""
    values = np.asarray(p, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    steps = (len(values) - np.arange(len(values))) * values[order]
    corrected = np.empty_like(values)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return corrected
