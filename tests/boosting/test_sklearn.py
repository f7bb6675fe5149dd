"""Methods with trees, as scikit-learn sees them."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from poolwise import PooledRegressor
from poolwise.boosting import candidates, deriving
from poolwise.methods import ROW_METHODS

WEIGHTS = "check_sample_weight_equivalence_on_dense_data"


def expected_failures(estimator):
    """Say what is not so: a row that comes twice may be in two folds, one of weight two cannot."""
    return {WEIGHTS: "folds are of rows"} if estimator.method == "boosted_pooling" else {}


@pytest.mark.filterwarnings("ignore::poolwise.errors.TransferWarning")  # tiny, odd data on purpose
@parametrize_with_checks(
    [PooledRegressor(method=name) for name in ROW_METHODS],
    expected_failed_checks=expected_failures,
)
def test_every_method_with_trees_is_a_scikit_learn_estimator(estimator, check, monkeypatch):
    for module in (deriving, candidates):  # a few trees do as well as many
        monkeypatch.setattr(module, "STAGES", (1, 2, 4))
    monkeypatch.setattr(deriving, "POOLED", deriving.POOLED._replace(trees=4))
    for name in ("OWN", "CORRECTION"):
        monkeypatch.setattr(candidates, name, getattr(candidates, name)._replace(trees=3))
    check(estimator)
