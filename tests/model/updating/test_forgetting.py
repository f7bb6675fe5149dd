"""Forgetting: a model with fewer rows is the one that a fit without them gives."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from poolwise.errors import BadSource, CannotSubtract, TooFewRows
from tests.model.same_model import assert_same_model
from tests.model.updating.rows import (
    LATER,
    MOMENT_METHODS,
    NEW,
    OLD,
    OLDER,
    PRECISIONS,
    W,
    X,
    Y,
    both,
    model_of,
    source,
)
from tests.moments.stored_moments import bits


class TestForgetting:
    @pytest.mark.parametrize("method", MOMENT_METHODS)
    def test_what_is_left_has_the_bits_of_a_fit_without(self, method):
        found = model_of(method).fit(*both(NEW, LATER), sources={"old": (X[60:, :2], Y[60:])})
        found.forget(X[LATER], Y[LATER], sources={"old": source(OLDER)})
        known = model_of(method).fit(X[NEW], Y[NEW], sources={"old": source(OLD)})
        assert_same_model(found, known)

    @pytest.mark.parametrize("precision", ["auto", "fast", "accurate"])
    def test_rounded_sums_are_left_up_to_rounding(self, precision):
        found = model_of(precision=precision).fit(*both(NEW, LATER), sources=source(OLD))
        found.forget(X[LATER], Y[LATER])
        known = model_of(precision=precision).fit(X[NEW], Y[NEW], sources=source(OLD))
        assert_same_model(found, known, exactly=False)

    @pytest.mark.parametrize("method", ["data_pooling", "bayes_pooling"])
    def test_a_rolling_window_never_drifts(self, method):
        found = model_of(method).fit(X[:40], Y[:40], sources=source(OLD))
        for k in range(0, 20, 4):
            found.update(X[40 + k : 44 + k], Y[40 + k : 44 + k]).forget(X[k : k + 4], Y[k : k + 4])
        known = model_of(method).fit(X[20:60], Y[20:60], sources=source(OLD))
        if method == "data_pooling":
            assert_same_model(found, known)
        # Ranges are not forgotten, and the unit of a column with extreme values is its range.
        room = 0.1 * known.standard_errors_[1:]
        assert (np.abs(found.coef_ - known.coef_) <= room).all()

    def test_a_source_is_gone_with_its_last_row(self):
        found = model_of().fit(X[NEW], Y[NEW], sources={"a": source(OLD), "b": source(OLDER)})
        found.forget(sources={"b": source(OLDER)})
        assert_same_model(found, model_of().fit(X[NEW], Y[NEW], sources={"a": source(OLD)}))

    def test_weights_are_taken_away_as_they_came(self):
        found = model_of().fit(*both(NEW, LATER), sample_weight=W[:60])
        found.forget(X[LATER], Y[LATER], sample_weight=W[LATER])
        assert_same_model(found, model_of().fit(X[NEW], Y[NEW], sample_weight=W[NEW]))

    @pytest.mark.parametrize("precision", PRECISIONS)
    def test_a_level_whose_rows_are_forgotten_has_no_coefficient(self, precision):
        for seed in range(5):
            rng = np.random.default_rng(seed)
            table = pd.DataFrame({"age": rng.normal(60.0, 8.0, 90), "site": ["n", "s", "w"] * 30})
            y, w, west = rng.normal(size=90), np.full(90, 0.1), table["site"] == "w"
            found = model_of("target_only", precision).fit(table, y, sample_weight=w)
            found.forget(table[west], y[west], sample_weight=w[west])
            assert dict(zip(found.coef_names_, found.coef_, strict=True))["site=w"] == 0.0
            known = model_of("target_only", precision).fit(table[~west], y[~west])
            assert_allclose(found.coef_[:2], known.coef_, rtol=1e-9)

    @pytest.mark.parametrize("precision", PRECISIONS)
    def test_rows_that_were_never_there_are_refused_and_nothing_changes(self, precision):
        found = model_of(precision=precision).fit(X[NEW], Y[NEW], sources={"old": source(OLD)})
        before = found.coef_.copy()
        with pytest.raises(CannotSubtract, match="41 rows of weight 41, to be taken from 40"):
            found.forget(X[:41], Y[:41])
        with pytest.raises(CannotSubtract, match="other values of"):
            found.forget(X[NEW] + 1.0, Y[NEW])
        with pytest.raises(CannotSubtract, match="other values of"):
            found.forget(X[LATER] + 100.0, Y[LATER])
        with pytest.raises(CannotSubtract, match="in the remaining moments"):
            found.forget(X[NEW][:30] * [5.0, 1.0, 1.0], Y[:30])
        with pytest.raises(BadSource, match=r"no source 'new'.*'old'"):
            found.forget(sources={"new": source(OLD)})
        assert bits(found.coef_) == bits(before)

    def test_the_last_row_of_the_target_cannot_be_forgotten(self):
        with pytest.raises(TooFewRows):
            model_of().fit(X[NEW], Y[NEW]).forget(X[NEW], Y[NEW])
