"""The outside, as scikit-learn sees it."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from poolwise import METHODS, PooledRegressor


@pytest.mark.filterwarnings("ignore::poolwise.errors.TransferWarning")  # tiny, odd data on purpose
@parametrize_with_checks([PooledRegressor(method=name) for name in METHODS])
def test_every_method_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)
