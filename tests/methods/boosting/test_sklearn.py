"""Methods with trees, as scikit-learn sees them."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from poolwise import PooledRegressor
from tests.methods.boosting.few_trees import grow_few

WEIGHTS = "check_sample_weight_equivalence_on_dense_data"


def expected_failures(estimator):
    """Say what is not so: a row that comes twice may be in two folds, one of weight two cannot."""
    return {WEIGHTS: "folds are of rows"}


@pytest.mark.filterwarnings("ignore::poolwise.errors.PoolwiseWarning")  # tiny, odd data on purpose
@parametrize_with_checks(
    [PooledRegressor(method="boosted_pooling")],
    expected_failed_checks=expected_failures,
)
def test_a_stack_of_lines_and_trees_is_a_scikit_learn_estimator(estimator, check, monkeypatch):
    grow_few(monkeypatch, stages=(1, 2, 4), own=3)
    check(estimator)
