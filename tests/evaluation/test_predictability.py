import numpy as np
import pytest
from numpy.testing import assert_allclose

from poolwise import Problem
from poolwise.evaluation import predictability
from tests.evaluation.worlds import in_other_units, moments, nested, turned_round


def draw(seed, rows, truth, old=3):
    """Return a problem in which old features explain a share ``truth`` of the new one."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows + 200, old)) @ (np.eye(old) + 0.4 * rng.normal(size=(old, old)) / old)
    b = rng.normal(size=old)
    signal = X @ b / np.std(X @ b)
    z = np.sqrt(truth) * signal + np.sqrt(1.0 - truth) * rng.normal(size=len(X))
    names = [f"x{j}" for j in range(old)]
    Z = np.column_stack((X, z, rng.normal(size=len(X))))
    source = moments(np.delete(Z[rows:], old, axis=1), [*names, "y"])
    return Problem(moments(Z[:rows], [*names, "z", "y"]), {"s": source}, "y")


def numbers(result):
    return {(x.feature, frozenset(x.sources)): (x.r2, x.low, x.high) for x in result.lines}


@pytest.mark.parametrize("change", [in_other_units, turned_round])
def test_neither_units_nor_order_matter(change):
    was, now = (numbers(predictability(t.problem())) for t in (nested(), change(nested())))
    assert was.keys() == now.keys()
    for key, known in was.items():
        assert_allclose(now[key], known, rtol=1e-6, atol=1e-9)


def test_there_is_a_line_for_each_new_feature_and_set_of_old_ones():
    lines = predictability(nested().problem()).lines
    assert [(x.feature, x.sources) for x in lines] == [
        ("x2", ("older",)),
        ("x3", ("older",)),
        ("x3", ("old",)),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("rows", [8, 25, 100])
@pytest.mark.parametrize("truth", [0.0, 0.4, 0.9])
def test_the_interval_holds_the_truth(rows, truth):
    lines = [predictability(draw(seed, rows, truth)).lines[0] for seed in range(80)]
    held = np.mean([x.low - 1e-12 <= truth <= x.high for x in lines])
    # 95 % less three standard errors; a prior on eight rows shrinks what is nearly one.
    assert held > (0.87 if rows > 8 else 0.78)
    if rows == 100:
        assert_allclose(np.mean([x.r2 for x in lines]), truth, atol=0.03)


def test_few_rows_and_many_features_do_not_look_predictable():
    problem = draw(0, 10, 0.0, old=8)  # least squares has R squared near one
    line = predictability(problem).lines[0]
    assert line.low < 0.01
    assert not line.is_high


def test_the_features_that_matter_are_named_and_the_bias_is_told():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(260, 3))
    z = X[:, 1] + 0.3 * rng.normal(size=260)
    Z = np.column_stack((X, z, rng.normal(size=260)))
    source = moments(Z[60:, [0, 1, 2, 4]], ("a", "b", "c", "y"))
    result = predictability(Problem(moments(Z[:60], ("a", "b", "c", "z", "y")), {"s": source}, "y"))
    (line,) = result.lines
    assert next(iter(line.by)) == "b"
    assert line.related > 0.99
    assert "data_pooling" in str(result)
