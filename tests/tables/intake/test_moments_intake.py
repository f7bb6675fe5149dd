"""gather_moments(): from moments to a Problem."""

import numpy as np
import pytest

from poolwise import Moments
from poolwise.errors import BadColumns, BadSource, BadTable
from poolwise.tables.moments_intake import gather_moments
from tests.tables.intake.same import assert_same, moments_of


class TestMoments:
    def test_moments_are_matched_by_name(self, target, y, old, y_old):
        whole, history = moments_of(target.assign(y=y)), moments_of(old.assign(z=1.0, y=y_old))
        intake = gather_moments(whole, {"old": history}, "y", intercept=False)
        problem, (caution,) = intake.problem, intake.cautions
        assert problem.target is whole
        assert problem.intercept is False
        assert_same(problem.sources["old"], moments_of(old.assign(y=y_old)))
        assert "Table 'old' has 'z'" in str(caution)

    def test_no_sources_are_no_sources(self, target, y):
        whole = moments_of(target.assign(y=y))
        intake = gather_moments(whole, None, "y", intercept=True)
        assert (intake.problem.sources, intake.cautions) == ({}, ())

    def test_rows_beside_moments_are_refused(self, target, y, old, y_old):
        whole = moments_of(target.assign(y=y))
        with pytest.raises(BadTable, match=r"Source 'old' is a DataFrame"):
            gather_moments(whole, {"old": (old, y_old)}, "y", intercept=True)

    def test_moments_that_share_no_column_are_refused(self, target, y):
        whole = moments_of(target.assign(y=y))
        given = Moments.of_rows(("Alter", "y"), np.eye(2))
        with pytest.raises(BadSource, match=r"it has 'Alter', 'y'"):
            gather_moments(whole, given, "y", intercept=True)

    def test_a_response_that_is_not_there_is_refused(self, target, y):
        whole = moments_of(target.assign(y=y))
        with pytest.raises(BadColumns, match=r"No column named 'cost'"):
            gather_moments(whole, None, "cost", intercept=True)
