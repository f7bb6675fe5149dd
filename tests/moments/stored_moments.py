"""Moments that were saved and loaded again, and what it is to have the same bits."""

import json

import numpy as np

from poolwise import Moments
from poolwise.moments.moments_json import FORMAT

PRECISIONS = ["fast", "accurate", "exact"]
NAMES = ("age", "größe", "y")
CENTRE = np.array([50.0, 1e8, 0.0])
ROWS = np.random.default_rng(0).normal(size=(40, 3)) * [1.0, 1e-3, 1e6] + CENTRE


def moments_of(rows=ROWS, precision="accurate", weights=None):
    names = NAMES if rows.shape[1] == 3 else tuple(f"c{j}" for j in range(rows.shape[1]))
    return Moments.of_rows(names, rows, weights, precision=precision)


def saved(moments, folder):
    path = folder / "some.moments.json"
    moments.save(path, overwrite=True)
    return path


def data_of(moments, folder):
    return json.loads(saved(moments, folder).read_text(encoding="ascii"))


def loaded(data):
    """Read JSON, or what becomes JSON, as moments."""
    text = data if isinstance(data, str) else json.dumps(data)
    return FORMAT.decode(text, "b.moments.json").moments


def bits(array):
    return np.asarray(array, dtype=np.float64).tobytes()


def assert_same_bits(a, b):
    assert (a.names, a.rows, a.precision) == (b.names, b.rows, b.precision)
    for key in ("weight", "weight_tail", "mean", "mean_tail", "low", "high"):
        assert bits(getattr(a, key)) == bits(getattr(b, key)), key
    assert bits(a.scatter.pair.high) == bits(b.scatter.pair.high)
    assert bits(a.scatter.pair.low) == bits(b.scatter.pair.low)
    assert (a.sums is None) == (b.sums is None)
    if a.sums is not None:
        left, right = a.sums.reduced(), b.sums.reduced()  # the unit of a sum has no say
        assert left.gram.tolist() == right.gram.tolist()
        assert left.units.tolist() == right.units.tolist()


def made(precision):
    """Return moments of every kind that the verbs make."""
    weights = np.random.default_rng(1).uniform(0.1, 3.0, size=len(ROWS))
    a = moments_of(precision=precision, weights=weights)
    b = moments_of(ROWS[:7] + 1.0, precision)
    far = moments_of(ROWS * [1e60, 1e-60, 1.0], precision)
    return {
        "weighted": a,
        "sum": a + b,
        "difference": (a + b) - b,
        "weighed": 0.3 * a,
        "mapped": a.affine(["u", "v"], np.array([[1.0, 0.1, 0.0], [0.0, 1.0, -1e-7]]), np.ones(2)),
        "selected": a.select(["y", "age"]),
        "filled": a.fill({"const": 0.1}),
        "large and small": far,
        "large and small, sum": far + moments_of(ROWS * [1e65, 1e-65, 1.0], precision),
        "one row": moments_of(ROWS[:1], precision),
        "constant": moments_of(np.full((5, 3), 0.1), precision),
        "negative zeros": moments_of(np.full((5, 3), -0.0), precision),
        "empty": Moments.empty(NAMES),
        "empty, filled": Moments.empty(NAMES).widened((*NAMES, "k"), {"k": 2.0}),
        "no columns": Moments.empty(()),
    }
