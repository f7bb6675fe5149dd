"""Auto: the line, unless the target's own rows say that trees pay; and why, in words."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from poolwise import Moments, PooledRegressor
from poolwise.errors import NeedsRows
from poolwise.methods import Auto, BayesPooling, BoostedPooling
from tests.methods.boosting.few_trees import grow_few
from tests.methods.nonlinear import fit, fitted, quietly, world


def test_a_truth_that_bends_gets_trees():
    given, model = world("smooth"), fitted("auto")
    assert isinstance(model.method_, BoostedPooling)
    expected = fitted("boosted_pooling")
    assert_array_equal(model.predict(given.tried), expected.predict(given.tried))
    assert "lower than with the linear model" in model.reason_
    assert model.reason_.endswith(": boosted_pooling.")
    assert not hasattr(model, "coef_")


def test_a_line_stays_a_line():
    given, model = world("linear"), fitted("auto", "linear")
    assert isinstance(model.method_, BayesPooling)
    expected = fitted("bayes_pooling", "linear")
    assert_array_equal(model.predict(given.tried), expected.predict(given.tried))
    assert_array_equal(model.coef_, expected.coef_)
    assert model.reason_.endswith("and a reduction by 1% is needed: bayes_pooling.")
    assert model.fit_.parts().line is not None


def test_rows_that_lack_columns_are_predicted_by_what_was_taken():
    for truth, method in (("linear", "bayes_pooling"), ("smooth", "boosted_pooling")):
        rows = world(truth).tried[:20].copy()
        rows[:, 3] = np.nan
        found = fitted("auto", truth).predict(rows)
        assert_array_equal(found, fitted(method, truth).predict(rows))


def test_the_reason_is_in_the_summary_and_names_the_rows():
    text = " ".join(str(fitted("auto").summary()).split())
    assert text.startswith("boosted_pooling: y")
    assert fitted("auto").reason_ in text
    assert "On the 60 recent rows" in text
    model = fitted("auto", "linear")
    assert model.reason_ in " ".join(str(model.summary()).split())
    assert fitted("auto").summary().to_dict()["reason"] == fitted("auto").reason_


def test_the_option_stays_auto_and_a_fit_chooses_again(monkeypatch):
    grow_few(monkeypatch)
    given = world("smooth", rows=40, history=80)
    model = fit("auto", given)
    assert model.method == "auto"
    line = world("linear", rows=40, history=80)
    model.fit(line.X, line.y, sources=line.source)
    assert isinstance(model.method_, BayesPooling)
    assert hasattr(model, "coef_")


@pytest.mark.parametrize("rows", [1, 4])
def test_too_few_rows_say_nothing(rows):
    given = world("smooth", rows=rows, history=40)
    model = fit("auto", given)
    assert isinstance(model.method_, BayesPooling)
    assert "cannot test trees" in model.reason_
    assert np.isfinite(quietly(model.predict, given.tried)).all()


def test_moments_alone_are_for_the_line():
    given = world("smooth", rows=20, history=60)
    target = Moments.of_rows(list("abcdy"), np.column_stack((given.X, given.y)))
    model = PooledRegressor("auto").fit_moments(target)
    assert isinstance(model.method_, BayesPooling)
    assert "only moments are available" in model.reason_


def test_a_line_is_updated_and_trees_are_not(monkeypatch):
    grow_few(monkeypatch, stages=(5, 10, 40))
    line, bent = world("linear", rows=40, history=80), world("smooth", rows=40, history=80)
    model = fit("auto", line._replace(X=line.X[:30], y=line.y[:30]))
    model.update(line.X[30:], line.y[30:])
    np.testing.assert_allclose(model.coef_, fit("bayes_pooling", line).coef_, rtol=1e-7)
    trees = fit("auto", bent)
    with pytest.raises(NeedsRows, match="boosted_pooling learns from rows"):
        trees.update(bent.X, bent.y)


def test_the_random_state_reaches_the_folds(monkeypatch):
    grow_few(monkeypatch, stages=(5, 10, 40))
    given = world("smooth", rows=40, history=80)
    expected = fit(BoostedPooling(random_state=9), given).predict(given.tried)
    model = fit(Auto(random_state=9), given)
    assert model.method_.random_state == 9
    assert_array_equal(model.predict(given.tried), expected)
