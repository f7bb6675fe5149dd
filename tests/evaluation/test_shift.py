import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks.honesty import COLUMNS, TAILS
from poolwise import Problem
from poolwise.errors import BadOption
from poolwise.evaluation import shift
from tests.evaluation.worlds import in_other_units, moments, nested, turned_round

D = COLUMNS
NAMES = [*(f"x{j}" for j in range(D - 1)), "y"]


def of(target, source, names=NAMES):
    return Problem(moments(target, names), {"old": moments(source, names)}, "y")


def numbers(result):
    return {(x.source, x.kind, frozenset(x.columns)): (x.size, x.p) for x in result.lines}


@pytest.mark.parametrize("change", [in_other_units, turned_round])
def test_neither_units_nor_order_matter(change):
    was, now = (numbers(shift(t.problem())) for t in (nested(), change(nested())))
    assert was.keys() == now.keys()
    for key, known in was.items():  # None is not a number
        assert_allclose(*(np.array(v, dtype=float) for v in (now[key], known)), rtol=1e-6)


@pytest.mark.parametrize(
    ("change", "kind", "column"),
    [
        (lambda x: x + 1.2 * np.eye(D)[1], "location", "x1"),
        (lambda x: x * np.where(np.arange(D) == 2, 4.0, 1.0), "scale", "x2"),
        (lambda x: x * np.where(np.arange(D) == 2, 0.25, 1.0), "scale", "x2"),
        (lambda x: x * np.where(np.arange(D) == 3, -1.0, 1.0), "correlation", "x3"),
    ],
)
def test_a_clear_shift_is_found_and_named(change, kind, column):
    rng = np.random.default_rng(2)
    target, source = TAILS["normal"](rng, 60), change(TAILS["normal"](rng, 1000))
    found = shift(of(target, source)).found
    assert {x.kind for x in found} == {kind}
    assert all(column in x.columns for x in found)
    assert column in str(shift(of(target, source)))


def test_sizes_are_those_of_their_definitions():
    rng = np.random.default_rng(2)
    target, source = rng.normal(size=(30, D)), 2.0 + 3.0 * rng.normal(size=(50, D))
    lines = {(x.kind, x.columns): x for x in shift(of(target, source)).lines}
    pooled = np.sqrt((29 * target[:, 0].var(ddof=1) + 49 * source[:, 0].var(ddof=1)) / 78)
    where = lines["location", ("x0",)]
    assert_allclose(where.size, (source[:, 0].mean() - target[:, 0].mean()) / pooled)
    assert_allclose([where.in_source, where.in_target], [source[:, 0].mean(), target[:, 0].mean()])
    wide = lines["scale", ("x0",)]
    assert_allclose(wide.size, source[:, 0].std(ddof=1) / target[:, 0].std(ddof=1))
    pair = next(x for x in lines.values() if x.kind == "correlation")
    at = [NAMES.index(n) for n in pair.columns]
    r = [np.corrcoef(t[:, at].T)[0, 1] for t in (source, target)]
    assert_allclose([pair.in_source, pair.in_target, pair.size], [*r, r[0] - r[1]])


def test_p_values_are_corrected_for_all_tests():
    rng = np.random.default_rng(3)
    result = shift(of(TAILS["normal"](rng, 40), TAILS["normal"](rng, 400)))
    assert result.tests == D + D + D * (D - 1) // 2
    least = min((x for x in result.lines if x.p is not None), key=lambda x: x.p)
    assert_allclose(least.p_holm, min(least.p * result.tests, 1.0))


def test_a_column_that_is_constant_and_different_is_a_shift():
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(2, 20, D))
    rows[:, :, 0] = [[2019.0], [2020.0]]
    (line,) = shift(of(*rows)).found
    assert (line.kind, line.columns, line.size) == ("location", ("x0",), None)


def test_a_level_is_between_zero_and_one():
    with pytest.raises(BadOption, match="level"):
        shift(nested().problem(), level=0.0)
