"""Updating: a model with more rows is the one that a fit on all of them gives."""

import numpy as np
import pandas as pd
import pytest

from poolwise import Moments, PooledRegressor
from poolwise.errors import CannotSubtract
from tests.model.same_model import assert_same_model
from tests.model.updating.rows import (
    LATER,
    MOMENT_METHODS,
    NAMES,
    NEW,
    OLD,
    OLDER,
    W,
    X,
    Y,
    both,
    model_of,
    source,
)
from tests.moments.stored_moments import bits


class TestAdding:
    @pytest.mark.parametrize("method", MOMENT_METHODS)
    def test_more_target_rows_give_the_bits_of_a_fit_on_all(self, method):
        found = model_of(method).fit(X[NEW], Y[NEW], sources=source(OLD)).update(X[LATER], Y[LATER])
        known = model_of(method).fit(*both(NEW, LATER), sources=source(OLD))
        assert_same_model(found, known)
        assert found.problem_.target.rows == 60

    @pytest.mark.parametrize("precision", ["auto", "fast", "accurate"])
    def test_rounded_sums_give_the_fit_on_all_up_to_rounding(self, precision):
        found = model_of(precision=precision).fit(X[NEW], Y[NEW], sources=source(OLD))
        found.update(X[LATER], Y[LATER], sources=source(OLDER))
        known = model_of(precision=precision).fit(*both(NEW, LATER), sources=(X[60:, :2], Y[60:]))
        assert_same_model(found, known, exactly=False)
        assert found.problem_.target.precision == known.problem_.target.precision

    def test_more_rows_of_a_source_are_added_to_it(self):
        found = model_of().fit(X[NEW], Y[NEW], sources={"old": source(OLD)})
        found.update(sources={"old": source(OLDER)})
        known = model_of().fit(X[NEW], Y[NEW], sources={"old": (X[60:, :2], Y[60:])})
        assert_same_model(found, known)

    def test_a_source_of_a_new_name_is_a_new_source(self):
        found = model_of().fit(X[NEW], Y[NEW]).update(sources={"old": source(OLD)})
        assert_same_model(found, model_of().fit(X[NEW], Y[NEW], sources={"old": source(OLD)}))
        assert found.optional_columns_ == ["x2"]
        found.update(sources={"older": (X[OLDER, :1], Y[OLDER])})
        known = {"old": source(OLD), "older": (X[OLDER, :1], Y[OLDER])}
        assert_same_model(found, model_of().fit(X[NEW], Y[NEW], sources=known))
        assert found.optional_columns_ == ["x1", "x2"]

    def test_a_list_of_sources_may_be_as_long_as_the_rows(self):
        found = model_of().fit(X[NEW], Y[NEW], sources=[source(OLD), source(OLDER)])
        found.update(X[40:42], Y[40:42], sources=[source(OLD), source(OLDER)])
        found.update(sources=[])
        assert [s.rows for s in found.problem_.sources.values()] == [380, 300]

    def test_many_small_updates_are_one_fit(self):
        found = model_of().fit(X[:10], Y[:10], sources=source(OLD))
        for k in range(10, 60, 5):
            found.update(X[k : k + 5], Y[k : k + 5])
        assert_same_model(found, model_of().fit(X[:60], Y[:60], sources=source(OLD)))

    def test_weights_count(self):
        found = model_of().fit(X[NEW], Y[NEW], sources=(*source(OLD), W[OLD]), sample_weight=W[NEW])
        found.update(X[LATER], Y[LATER], sample_weight=W[LATER], sources=(*source(OLDER), W[OLDER]))
        known = model_of().fit(
            *both(NEW, LATER), sources=(X[60:, :2], Y[60:], W[60:]), sample_weight=W[:60]
        )
        assert_same_model(found, known)

    def test_without_an_intercept_too(self):
        found = model_of(fit_intercept=False).fit(X[NEW], Y[NEW], sources=source(OLD))
        found.update(X[LATER], Y[LATER])
        known = model_of(fit_intercept=False).fit(*both(NEW, LATER), sources=source(OLD))
        assert_same_model(found, known)

    def test_large_and_small_columns_too(self):
        scale, up = [1e60, 1e-60, 1.0], 1e20
        found = model_of().fit(X[NEW] * scale, Y[NEW] * up, sources=(X[OLD] * scale, Y[OLD] * up))
        found.update(X[LATER] * scale, Y[LATER] * up, sources=(X[OLDER] * scale, Y[OLDER] * up))
        known = model_of().fit(X[:60] * scale, Y[:60] * up, sources=(X[60:] * scale, Y[60:] * up))
        assert_same_model(found, known)
        found.forget(X[LATER] * scale, Y[LATER] * up)
        known = model_of().fit(X[NEW] * scale, Y[NEW] * up, sources=(X[60:] * scale, Y[60:] * up))
        assert_same_model(found, known)

    def test_rows_that_lack_columns_join_the_source_of_their_pattern(self):
        Z = X.copy()
        Z[20:200, 2] = np.nan
        found = model_of().fit(Z[:100], Y[:100]).update(Z[100:], Y[100:])
        known = model_of().fit(Z, Y)
        assert list(found.problem_.sources) == list(known.problem_.sources)
        assert_same_model(found, known)

    def test_rows_without_a_complete_one_are_history(self):
        Z = X[:100].copy()
        Z[50:, 2] = np.nan
        found = model_of().fit(Z[:60], Y[:60]).update(Z[60:], Y[60:100])
        assert_same_model(found, model_of().fit(Z, Y[:100]))
        assert found.problem_.target.rows == 50

    def test_a_few_rows_that_lack_columns_join_their_pattern_or_have_gaps(self):
        Z = X[:100].copy()
        Z[50:97, 2] = np.nan
        Z[97:, 1] = np.nan
        found = model_of().fit(Z[:95], Y[:95]).update(Z[95:], Y[95:100])
        assert list(found.problem_.sources) == ["rows without x2"]
        assert found.problem_.sources["rows without x2"].rows == 47
        assert found.problem_.target.rows == 53
        assert found.problem_.target.weight < 53.0
        with pytest.raises(CannotSubtract, match="has 3 missing values"):
            found.forget(Z[95:], Y[95:100])

    def test_moments_are_added_like_rows(self, tmp_path):
        part = Moments.of_rows(NAMES, np.column_stack((X, Y))[LATER], precision="exact")
        known = model_of().fit(*both(NEW, LATER), sources=source(OLD))
        path = tmp_path / "later.moments.json"
        part.save(path)
        for given_as in (part, path, str(path), part.select(NAMES[::-1])):
            found = model_of().fit(X[NEW], Y[NEW], sources=source(OLD)).update(given_as)
            assert_same_model(found, known)

    def test_a_model_of_moments_alone_is_updated_too(self):
        rows = np.column_stack((X, Y))
        parts = [
            Moments.of_rows(NAMES, rows[part], precision="exact") for part in (NEW, LATER, OLD)
        ]
        old = parts[2].select(["x0", "y"])
        found = PooledRegressor().fit_moments(parts[0], {"old": old}).update(parts[1])
        assert_same_model(found, PooledRegressor().fit_moments(parts[0] + parts[1], {"old": old}))
        found.update(pd.DataFrame(X[OLD], columns=[*NAMES[:3]]), Y[OLD])
        assert found.problem_.target.rows == 250

    def test_reading_and_predicting_go_on_as_before(self):
        found = model_of().fit(X[NEW], Y[NEW], sources=source(OLD)).update(X[LATER], Y[LATER])
        known = model_of().fit(*both(NEW, LATER), sources=source(OLD))
        Z = X[:9].copy()
        Z[4:, 2] = np.nan
        assert bits(found.predict(Z)) == bits(known.predict(Z))
        assert bits(found.predict_interval(Z)) == bits(known.predict_interval(Z))
        assert str(found.summary()) == str(known.summary())
