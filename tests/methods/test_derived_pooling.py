"""Derived pooling: Bayes pooling with what history alone would predict as one more column."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from poolwise import Moments, PooledRegressor
from poolwise.errors import BadOption, NeedsRows
from poolwise.methods import BayesPooling, DerivedPooling
from tests.methods.nonlinear import error, fit, fitted, lacking, quietly, world


def test_it_is_better_than_bayes_pooling_where_shared_columns_bend():
    given = world("smooth")
    own = error(fitted("derived_pooling"), given)
    assert own < 0.8 * error(fitted("bayes_pooling"), given)


def test_it_is_hardly_worse_where_they_do_not():
    given = world("linear")
    own = error(fitted("derived_pooling", "linear"), given)
    assert own < 1.05 * error(fitted("bayes_pooling", "linear"), given)


def test_it_is_bayes_pooling_on_rows_with_the_column_beside_them():
    given, model = world("smooth"), fitted("derived_pooling")
    (column,) = model.fit_.columns
    fit_ = BayesPooling().solve(model.fit_.problem)
    rows = np.column_stack((given.tried, column.values(given.tried, ("x0", "x1", "x2", "x3"))))
    assert_allclose(model.predict(given.tried), fit_.predict(rows), rtol=1e-12)
    assert_allclose(model.coef_, fit_.coef, rtol=1e-12)


def test_its_coefficients_can_be_read():
    model = fitted("derived_pooling")
    assert model.coef_names_.tolist() == ["x0", "x1", "x2", "x3", "boosted"]
    assert model.standard_errors_.shape == (6,)
    assert 0.5 < model.coef_[-1] < 1.5  # what trees predict is taken over
    assert "boosted" in str(model.summary())
    assert [line.name for line in model.summary().coefficients] == model.coef_names_.tolist()


def test_intervals_are_those_of_the_line():
    given = world("smooth")
    ends = fitted("derived_pooling").predict_interval(given.tried, 0.9)
    held = (ends[:, 0] <= given.answers) & (given.answers <= ends[:, 1])
    # The noise of 60 rows is known to a tenth, and with it the coverage to 0.04.
    assert 0.9 - 3 * 0.04 < held.mean() < 0.99
    middle, deviation = fitted("derived_pooling").predict(given.tried, return_std=True)
    assert (deviation > 0.0).all()
    widths = (ends - middle[:, None]) / deviation[:, None]
    assert_allclose(widths, np.tile([-widths[0, 1], widths[0, 1]], (len(widths), 1)), rtol=1e-9)


@pytest.mark.parametrize(("rows", "history"), [(1, 1), (1, 40), (2, 4), (2, 5), (5, 1), (5, 40)])
def test_it_predicts_from_as_few_rows_as_there_are(rows, history):
    given = world("smooth", rows=rows, history=history)
    model = fit("derived_pooling", given)
    assert np.isfinite(quietly(model.predict, given.tried)).all()
    assert np.isfinite(quietly(model.predict, lacking(given.tried[:9]))).all()
    assert (model.fit_.parts().line is not None) == (history < 5)
    assert ("this is bayes_pooling" in model.reason_) == (history < 5)


def test_without_history_it_is_bayes_pooling():
    given = world("smooth")
    model = PooledRegressor("derived_pooling").fit(given.X, given.y)
    expected = PooledRegressor().fit(given.X, given.y)
    assert_array_equal(model.coef_, expected.coef_)
    assert model.fit_.parts().line is not None


def test_a_history_of_moments_gives_no_column_and_still_counts():
    given = world("linear", rows=20, history=60)
    old = Moments.of_rows(["x0", "x1", "x2", "y"], np.column_stack(given.source))
    X = pd.DataFrame(given.X, columns=["x0", "x1", "x2", "x3"])
    model = PooledRegressor("derived_pooling").fit(X, given.y, sources=old)
    assert_allclose(model.coef_, fit("bayes_pooling", given).coef_, rtol=1e-9)
    found = model.predict(X[["x0", "x1", "x2"]])
    expected = PooledRegressor().fit(X, given.y, sources=old).predict(X[["x0", "x1", "x2"]])
    assert_array_equal(found, expected)


@pytest.mark.parametrize("power", [-190, 140])
def test_units_of_the_response_do_not_matter(power):
    given = world("smooth", rows=20, history=60)
    old_X, old_y = given.source
    scaled = given._replace(y=np.ldexp(given.y, power), source=(old_X, np.ldexp(old_y, power)))
    found, base = fit("derived_pooling", scaled), fit("derived_pooling", given)
    assert_array_equal(found.predict(given.tried), np.ldexp(base.predict(given.tried), power))
    assert found.coef_[-1] == base.coef_[-1]


def test_the_same_random_state_gives_the_same_bits_and_another_one_others():
    given = world("smooth", rows=20, history=60)
    found = [fit(DerivedPooling(random_state=k), given).coef_ for k in (3, 3, 4)]
    assert_array_equal(found[0], found[1])
    assert (found[0] != found[2]).any()


def test_fewer_rows_to_learn_from_give_another_column_of_all_rows():
    given = world("smooth", rows=20, history=200)
    short = fit(DerivedPooling(most_rows=50), given)
    assert short.fit_.problem.sources["source"].rows == 200
    assert (short.coef_ != fit("derived_pooling", given).coef_).any()


def test_what_it_cannot_do_is_refused():
    given = world("smooth", rows=20, history=60)
    model = fit("derived_pooling", given)
    with pytest.raises(NeedsRows, match="derived_pooling learns from rows"):
        model.update(given.X, given.y)
    target = Moments.of_rows(list("abcdy"), np.column_stack((given.X, given.y)))
    with pytest.raises(NeedsRows, match="derived_pooling learns from rows"):
        PooledRegressor("derived_pooling").fit_moments(target)
    with pytest.raises(BadOption, match="most_rows"):
        fit(DerivedPooling(most_rows=-1), given)
