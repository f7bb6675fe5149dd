"""Random tables, and what it is to have the same moments."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

from poolwise import Moments
from tests.laws.exact import ExactMoments, fraction

EPS = float(np.finfo(np.float64).eps)
PRECISIONS = ["fast", "accurate", "exact"]
MEANS = [0.0, 1.0, -3.5, 1e8, -1e8, 123456789.0]
lawful = settings(deadline=None, max_examples=40)


def rounding(rows: int) -> float:
    """Error of a scatter, in units of sqrt(S_jj S_kk).

    A sum of n products is off by at most n eps of the sum of their sizes, which is at most
    sqrt(G_jj G_kk) with G taken about the shift; on the grid of doubles G is at most twice S, and
    G and the correction of the mean each count it once or twice.
    """
    return 8 * (rows + 8) * EPS


@st.composite
def tables(draw, columns=None, max_rows=20):
    """Rows about a mean of up to 1e8, each column on a scale of its own."""
    p = draw(st.integers(1, 4)) if columns is None else columns
    n = draw(st.integers(1, max_rows))
    units = draw(hnp.arrays(np.float64, (n, p), elements=st.floats(-1, 1, width=32)))
    means = draw(hnp.arrays(np.float64, p, elements=st.sampled_from(MEANS)))
    scales = 10.0 ** draw(hnp.arrays(np.int64, p, elements=st.integers(-9, 9)))
    return means + scales * units


@st.composite
def several(draw, count):
    """Several tables of the same columns, each with means and scales of its own."""
    p = draw(st.integers(1, 4))
    return [draw(tables(columns=p)) for _ in range(count)]


@st.composite
def maps(draw, rows, columns):
    """Return a matrix and a shift of small integers, which products and sums keep exact."""
    small = st.integers(-3, 3)
    matrix = draw(hnp.arrays(np.int64, (rows, columns), elements=small))
    return matrix.astype(float), draw(hnp.arrays(np.int64, rows, elements=small)).astype(float)


def names_of(p):
    return [f"c{j}" for j in range(p)]


def moments_of(rows, weights=None):
    return Moments.of_rows(names_of(rows.shape[1]), rows, weights)


def full_mean(moments):
    return [fraction(m) + fraction(t) for m, t in zip(moments.mean, moments.mean_tail, strict=True)]


def scatter_of(moments):
    return moments.scatter_between(moments.names, moments.names)


def assert_exact_within(moments: Moments, exact: ExactMoments, tolerance: float) -> None:
    """Compare with the oracle: scatter per sqrt(S_jj S_kk), means per standard deviation."""
    assert moments.weight == pytest.approx(float(exact.weight), rel=tolerance)
    S, p = scatter_of(moments), len(moments.names)
    for j in range(p):
        # The squares keep this comparison in exact arithmetic, where nothing underflows.
        error = full_mean(moments)[j] - exact.mean[j]
        room = Fraction(tolerance) ** 2 * exact.scatter[j][j] / exact.weight
        assert error**2 <= room + (Fraction(8 * EPS**2) * exact.mean[j]) ** 2
        assert abs(fraction(moments.mean[j]) - full_mean(moments)[j]) <= EPS * abs(exact.mean[j])
        for k in range(p):
            error = fraction(S[j, k]) - exact.scatter[j][k]
            room = Fraction(tolerance) ** 2 * exact.scatter[j][j] * exact.scatter[k][k]
            assert error**2 <= room


def assert_same_within(a: Moments, b: Moments, tolerance: float, sizes=None) -> None:
    """Compare two moments, per standard deviation, or per what went into each column."""
    assert a.names == b.names
    assert a.rows == b.rows
    assert a.weight == pytest.approx(b.weight, rel=tolerance)
    S, T = scatter_of(a), scatter_of(b)
    if sizes is None:
        sizes = np.sqrt(np.maximum(S.diagonal(), T.diagonal()))
    assert (np.abs(S - T) <= tolerance * np.outer(sizes, sizes)).all()
    for j, (m, n) in enumerate(zip(full_mean(a), full_mean(b), strict=True)):
        room = tolerance * sizes[j] / np.sqrt(a.weight) if a.weight else 0.0
        assert abs(m - n) <= Fraction(room) + Fraction(8 * EPS**2) * abs(n)


def assert_identical(a: Moments, b: Moments) -> None:
    assert (a.names, a.rows, a.weight) == (b.names, b.rows, b.weight)
    for left, right in (
        (a.mean, b.mean),
        (a.mean_tail, b.mean_tail),
        (scatter_of(a), scatter_of(b)),
        (a.low, b.low),
        (a.high, b.high),
    ):
        assert_array_equal(left, right)


def sizes_of_map(matrix, shift, moments):
    """Return what goes into each new column: deviations, and the last digits held of the means."""
    deviations = np.sqrt(scatter_of(moments).diagonal())
    means = np.abs(matrix) @ np.abs(moments.mean) + np.abs(shift)
    return np.abs(matrix) @ deviations + 8 * EPS * np.sqrt(moments.weight) * means
