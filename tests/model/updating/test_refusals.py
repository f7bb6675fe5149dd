"""Updates that cannot be are refused, and the model stays as it was."""

import pytest
from sklearn.exceptions import NotFittedError

from poolwise import PooledRegressor
from poolwise.errors import BadColumns, BadOption, NeedsRows
from tests.model.updating.rows import LATER, NEW, OLD, OLDER, W, X, Y, model_of, source
from tests.moments.stored_moments import bits


class TestRefusals:
    def test_an_unfitted_model_has_nothing_to_add_to(self):
        with pytest.raises(NotFittedError):
            PooledRegressor().update(X, Y)

    def test_a_method_that_reads_rows_says_so(self):
        found = model_of("kernel_transfer").fit(X[NEW], Y[NEW], sources={"old": source(OLD)})
        before = found.coef_.copy()
        with pytest.raises(NeedsRows, match="kernel_transfer reads the rows"):
            found.update(X[LATER], Y[LATER])
        assert bits(found.coef_) == bits(before)

    def test_a_response_goes_with_rows_alone(self):
        found = model_of().fit(X[NEW], Y[NEW])
        with pytest.raises(BadOption, match="y"):
            found.update(found.problem_.target, Y[NEW])
        with pytest.raises(BadOption, match="sample_weight"):
            found.update(found.problem_.target, sample_weight=W[NEW])
        with pytest.raises(BadOption, match="the response of each row"):
            found.update(X[LATER])

    def test_other_columns_are_refused(self):
        found = model_of().fit(X[NEW], Y[NEW], sources={"old": source(OLD)})
        with pytest.raises(BadColumns, match=r"in the target: only the model has 'x1'"):
            found.update(found.problem_.target.select(["x0", "x2", "y"]))
        with pytest.raises(BadColumns, match=r"in source 'old': only the model has 'x1'.*under"):
            found.update(sources={"old": (X[OLDER, :1], Y[OLDER])})
        with pytest.raises(ValueError, match="features"):
            found.update(X[LATER, :2], Y[LATER])

    def test_nothing_changes_nothing(self):
        found = model_of().fit(X[NEW], Y[NEW], sources=source(OLD))
        before = found.coef_.copy()
        assert bits(found.update().coef_) == bits(before)
        assert bits(found.forget().coef_) == bits(before)
