"""What every method promises where tables determine too little."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poolwise.errors import RankDeficient, TooFewRows
from tests.laws.methods import NEEDS_MANY_ROWS
from tests.laws.problems import random_tables, tables_of
from tests.linear_methods import LINEAR_METHODS


def test_columns_that_determine_nothing_are_named(method):
    def doubled(table):
        X = table.X.copy()
        X[:, 1] = 3.0 * X[:, 0] - 1.0
        return replace(table, X=X)

    tables = tables_of("one source", seed=6).each(doubled)
    cautions = [c for c in method.solve(tables.problem()).cautions if isinstance(c, RankDeficient)]
    assert len(cautions) == 1
    assert "'x0', 'x1'" in str(cautions[0])


def test_a_feature_that_never_varies_is_dropped_and_said_to_be(method):
    def stilled(table):
        X = table.X.copy()
        X[:, 0] = 5.0
        return replace(table, X=X)

    fit = method.solve(tables_of("one source", seed=6).each(stilled).problem())
    assert fit.coef[0] == 0.0
    assert "constant in" in fit.dropped["x0"]


def spoiled(draw, table):
    """Spoil a table in one of the ways that make something undefined."""
    how = draw(st.sampled_from(["", "", "constant y", "exact y", "constant x", "double x", "tiny"]))
    X, y = table.X.copy(), table.y
    if how == "constant y":
        y = np.full(len(y), 3.0)
    elif how == "exact y":
        y = X @ np.arange(1.0, X.shape[1] + 1.0)
    elif how == "constant x":
        X[:, draw(st.integers(0, X.shape[1] - 1))] = 5.0
    elif how == "double x":
        X[:, -1] = 2.0 * X[:, 0]
    elif how == "tiny":
        X, y = 1e-9 * X, 1e-9 * y
    return replace(table, X=X, y=y)


@st.composite
def poor_tables(draw):
    """Draw tables with too few rows, constant or dependent columns, exact or absent signals."""
    has = st.sampled_from([(0,), (0, 1), (1, 2), (2,), (0, 1, 2)])
    tables = random_tables(
        draw(st.integers(0, 10_000)),
        target_rows=draw(st.integers(1, 8)),
        features=3,
        sources={
            f"s{k}": (draw(st.integers(1, 8)), draw(has)) for k in range(draw(st.integers(0, 3)))
        },
        weighted=draw(st.booleans()),
    )
    return tables.each(lambda table: spoiled(draw, table))


@pytest.mark.parametrize("name", LINEAR_METHODS)
@settings(max_examples=150, deadline=None)
@given(tables=poor_tables(), intercept=st.booleans())
def test_nothing_is_ever_nan_or_infinite(name, tables, intercept):
    try:
        fit = LINEAR_METHODS[name]().solve(tables.problem(intercept=intercept))
    except TooFewRows:  # a clear no, from the one method that has a minimum
        assert name in NEEDS_MANY_ROWS
        return
    noises = [fit.noise, *fit.source_noise.values()]
    numbers = [n for n in noises if n is not None] + list(fit.weights.values())
    assert np.isfinite(fit.coef).all()
    assert np.isfinite(fit.predict(tables.target.X)).all()
    assert np.isfinite(numbers).all()
    assert min(numbers, default=0.0) >= 0.0
    if fit.covariance is not None:
        assert np.isfinite(fit.covariance).all()
