"""What it is to be the same moments, whatever the order of columns."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from poolwise import Moments


def moments_of(frame):
    return Moments.of_rows(tuple(frame), frame.to_numpy(dtype=float))


def assert_same(a, b):
    """The same numbers, column by column, whatever the order of columns."""
    assert set(a.names) == set(b.names)
    b = b.select(a.names)
    assert (a.rows, a.weight) == (b.rows, b.weight)
    assert_array_equal(a.mean, b.mean)
    S, T = (m.scatter_between(m.names, m.names) for m in (a, b))
    # A matrix product may sum in another order when its columns stand in another order.
    assert_allclose(S, T, rtol=1e-12, atol=1e-12 * np.abs(T).max(initial=0.0))
