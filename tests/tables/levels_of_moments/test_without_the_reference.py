"""Moments that leave a level out: it is the reference, or they are refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from poolwise import published_model
from poolwise.errors import BadLevels, DataWarning
from poolwise.linear.linear_fit import recentred
from poolwise.linear.regress import regress
from tests.model.same_model import assert_same_model
from tests.tables.levels_of_moments.tables import OLD, OTHER, TARGET, fitted, in_full, leaving_out


class TestWithoutTheReference:
    """Moments that leave a level out."""

    @pytest.mark.parametrize("intercept", [True, False])
    def test_rows_without_a_named_level_have_the_reference_level(self, intercept):
        part = leaving_out(in_full(OLD), "site=coast")
        found = fitted(TARGET, {"old": part}, fit_intercept=intercept)
        known = fitted(TARGET, {"old": OLD}, fit_intercept=intercept)
        assert_same_model(found, known)
        assert found.cautions_ == known.cautions_

    @pytest.mark.parametrize("precision", ["fast", "accurate"])
    def test_the_indicator_that_is_left_out_is_found_up_to_rounding(self, precision):
        part = leaving_out(in_full(OLD, precision=precision), "site=coast")
        options = {"precision": precision, "fit_intercept": False}
        assert_same_model(
            fitted(TARGET, {"old": part}, **options),
            fitted(TARGET, {"old": OLD}, **options),
            exactly=False,
        )

    def test_the_moments_of_a_fitted_model_do(self):
        known = fitted(TARGET, {"old": OLD, "other": OTHER})
        again = fitted(TARGET, dict(known.problem_.sources))
        assert_same_model(again, known)
        assert again.cautions_ == known.cautions_

    def test_another_level_than_the_targets_reference_is_refused(self):
        part = leaving_out(in_full(OLD), "site=inland")
        share = f"{(OLD['site'] == 'inland').mean():.2%}"
        with pytest.raises(BadLevels, match=r"'site' in the moments of table 'old'") as error:
            fitted(TARGET, {"old": part})
        for said in (share, "'coast', 'valley'", "'coast'", "indicator for every level"):
            assert said in str(error.value)

    def test_the_remedy_that_the_error_names_works(self):
        part = leaving_out(in_full(OLD), "site=inland")
        p = len(part.names)
        matrix, shift = np.eye(p + 1, p), np.zeros(p + 1)
        matrix[p, part.index(["site=coast", "site=valley"])], shift[p] = -1.0, 1.0
        mended = part.affine((*part.names, "site=inland"), matrix, shift)
        assert_same_model(fitted(TARGET, {"old": mended}), fitted(TARGET, {"old": OLD}))

    def test_a_level_with_no_rows_left_for_it_is_zero(self):
        some = OLD[OLD["site"] != "valley"]  # all that is not named has no rows
        assert_same_model(fitted(TARGET, {"old": in_full(some)}), fitted(TARGET, {"old": some}))

    def test_what_might_be_another_level_is_told(self):
        some = leaving_out(in_full(OLD), "site=coast", "site=inland")
        with pytest.warns(DataWarning, match=r"reference level, 'coast', and not one of 'inland'"):
            fitted(TARGET, {"old": some})

    def test_a_published_model_leaves_its_reference_out(self):
        moments = leaving_out(in_full(OLD), "site=coast")
        fit = regress(moments, "cost")
        printed = published_model(
            fit.names,
            fit.coef,
            recentred(fit.covariance, fit.centre, np.zeros(len(fit.coef))),
            len(OLD),
            intercept=fit.intercept,
            response="cost",
        )
        found, known = fitted(TARGET, {"paper": printed}), fitted(TARGET, {"paper": moments})
        # A published model has no ranges, which the units of bayes_pooling use.
        assert_allclose(found.coef_, known.coef_, rtol=0.02)
        assert found.cautions_ == known.cautions_
