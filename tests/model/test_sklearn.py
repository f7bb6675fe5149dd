"""The outside, as scikit-learn sees it."""

import numpy as np
import pytest
from sklearn import config_context, get_config
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from poolwise import PooledRegressor, Sources, TargetSplit
from poolwise.errors import BadSource
from poolwise.methods.data_pooling import DataPooling
from tests.linear_methods import LINEAR_METHODS


# One check skips itself: that of array-API input, which scikit-learn runs only where the variable
# SCIPY_ARRAY_API is set before SciPy is imported. poolwise does not claim that support.
@pytest.mark.filterwarnings("ignore::poolwise.errors.PoolwiseWarning")  # tiny, odd data on purpose
@parametrize_with_checks([PooledRegressor(), PooledRegressor(method="kernel_transfer")])
def test_the_default_and_a_method_that_reads_rows_are_scikit_learn_estimators(estimator, check):
    check(estimator)


@pytest.fixture
def data():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(260, 3)) * [1.0, 4.0, 2.0] + [0.0, 10.0, -3.0]
    y = X @ [1.0, -0.5, 2.0] + 5.0 + rng.normal(size=260)
    return X[200:], y[200:], X[:200, :2], y[:200]


def stacked(data):
    X, y, X_old, y_old = data
    lacking = np.column_stack((X_old, np.full(len(X_old), np.nan)))
    return np.concatenate((lacking, X)), np.concatenate((y_old, y))


@pytest.mark.parametrize("routing", [False, True])
def test_sources_reach_every_fold_whole(data, routing):
    X, y, X_old, y_old = data
    seen = []

    class Watched(PooledRegressor):
        def fit(self, X, y, *, sources=None, sample_weight=None):
            fitted = super().fit(X, y, sources=sources, sample_weight=sample_weight)
            seen.append((fitted.problem_.target.rows, fitted.problem_.sources["source"].rows))
            return fitted

    with config_context(enable_metadata_routing=routing):
        cross_val_score(Watched(), X, y, cv=3, params={"sources": (X_old, y_old)})
    assert seen == [(40, 200)] * 3


@pytest.mark.parametrize("routing", [False, True])
def test_a_grid_search_over_methods_works(data, routing):
    X, y, X_old, y_old = data
    with config_context(enable_metadata_routing=routing):
        search = GridSearchCV(PooledRegressor(), {"method": list(LINEAR_METHODS)}, cv=3)
        search.fit(X, y, sources=Sources((X_old, y_old)))
    assert set(search.cv_results_["param_method"]) == set(LINEAR_METHODS)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_a_grid_search_over_a_parameter_of_the_method_works(data):
    X, y, X_old, y_old = data
    search = GridSearchCV(
        PooledRegressor(method=DataPooling()), {"method__ridge": [0.0, 1e6]}, cv=3
    )
    search.fit(X, y, sources=(X_old, y_old))
    assert search.best_params_ == {"method__ridge": 0.0}


@pytest.mark.parametrize("routing", [False, True])
def test_stacked_rows_go_through_a_scaler_exactly(data, routing):
    X, y, X_old, y_old = data
    direct = PooledRegressor().fit(X, y, sources=(X_old, y_old))
    with config_context(enable_metadata_routing=routing):
        pipeline = make_pipeline(StandardScaler(), PooledRegressor()).fit(*stacked(data))
    np.testing.assert_allclose(pipeline.predict(X), direct.predict(X), rtol=1e-10)
    lacking = np.column_stack((X[:, :2], np.full(len(X), np.nan)))
    np.testing.assert_allclose(pipeline.predict(lacking), direct.predict(lacking), rtol=1e-10)


def test_target_split_scores_target_rows_only(data):
    X, y = stacked(data)
    result = cross_validate(
        make_pipeline(StandardScaler(), PooledRegressor()),
        X,
        y,
        cv=TargetSplit(KFold(3)),
        return_indices=True,
    )
    tested = np.concatenate(result["indices"]["test"])
    assert sorted(tested) == list(range(200, 260))
    assert all(set(range(200)) <= set(train) for train in result["indices"]["train"])


def test_sample_weight_is_routed_when_asked_for(data):
    X, y, X_old, y_old = data
    weights = np.where(np.arange(len(X)) < 30, 1.0, 0.0)
    with config_context(enable_metadata_routing=True):
        model = PooledRegressor().set_fit_request(sample_weight=True)
        model.set_score_request(sample_weight=False)
        scores = cross_val_score(
            model, X, y, cv=3, params={"sources": (X_old, y_old), "sample_weight": weights}
        )
    for (train, test), score in zip(KFold(3).split(X), scores, strict=True):
        fitted = PooledRegressor().fit(
            X[train], y[train], sources=(X_old, y_old), sample_weight=weights[train]
        )
        assert score == pytest.approx(fitted.score(X[test], y[test]), rel=1e-12)


def test_a_list_of_sources_as_long_as_the_target_is_refused(data):
    X, y, X_old, y_old = data
    sources = [(X_old[k::60], y_old[k::60]) for k in range(60)]
    with pytest.raises(BadSource, match=r"poolwise\.Sources"):
        PooledRegressor().fit(X, y, sources=sources)
    with pytest.raises(BadSource, match="length 40"):  # scikit-learn has cut it to the fold
        cross_val_score(
            PooledRegressor(), X, y, cv=3, params={"sources": sources}, error_score="raise"
        )


@pytest.mark.filterwarnings("ignore::poolwise.errors.PoolwiseWarning")  # sources of three rows
def test_the_same_list_in_sources_is_taken_whole(data):
    X, y, X_old, y_old = data
    sources = Sources([(X_old[k::60], y_old[k::60]) for k in range(60)])
    model = PooledRegressor().fit(X, y, sources=sources)
    assert len(model.problem_.sources) == 60


def test_clone_and_params_keep_a_method_object():
    model = clone(PooledRegressor(method=DataPooling(ridge=3.0), fit_intercept=False))
    assert model.get_params()["method__ridge"] == 3.0
    assert model.fit_intercept is False


def test_the_method_given_cannot_change_a_fitted_model(data):
    X, y, X_old, y_old = data
    method = DataPooling()
    model = PooledRegressor(method=method).fit(X, y, sources=(X_old, y_old))
    lacking = np.column_stack((X[:, :2], np.full(len(X), np.nan)))
    before = model.predict(lacking)
    method.ridge = 1e9
    np.testing.assert_array_equal(model.predict(lacking), before)


def test_the_model_shows_itself_in_a_notebook(data):
    X, y, X_old, y_old = data
    model = PooledRegressor().fit(X, y, sources=(X_old, y_old))
    assert "PooledRegressor" in model._repr_html_()
    assert "<table>" in model.summary()._repr_html_()


def test_fitting_changes_no_global_configuration(data):
    X, y, X_old, y_old = data
    before = get_config()
    PooledRegressor().fit(X, y, sources=(X_old, y_old)).predict(X)
    assert get_config() == before
