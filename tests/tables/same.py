"""What it is for the sources of two problems to be the same."""

import numpy as np


def same(one, other):
    """Say whether two collections of sources are the same to the last bit."""
    assert list(one) == list(other)
    for name, a in one.items():
        b = other[name]
        assert (a.names, a.rows, a.weight) == (b.names, b.rows, b.weight)
        S, T = (m.scatter_between(m.names, m.names) for m in (a, b))
        pairs = [(a.mean, b.mean), (a.mean_tail, b.mean_tail), (S, T), (a.low, b.low)]
        assert all(np.array_equal(x, z) for x, z in pairs)
    return True
