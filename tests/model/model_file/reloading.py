"""Models that were saved and loaded again, and what it is to be the same."""

import warnings

import numpy as np

from poolwise import PooledRegressor
from poolwise.errors import PoolwiseError, PoolwiseWarning
from tests.moments.stored_moments import assert_same_bits, bits


def saved(model, folder, **options):
    path = folder / "wear.model.json"
    model.save(path, overwrite=True, **options)
    return path


def reloaded(model, folder, **options):
    return PooledRegressor.load(saved(model, folder, **options))


def quietly(function, *args, **options):
    """Return what a call gives, or the error of ours that it ends with."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PoolwiseWarning)
        try:
            return function(*args, **options)
        except PoolwiseError as error:
            return f"{type(error).__name__}: {error}"


def same(a, b):
    """Say whether two answers have the same bits."""
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.shape == b.shape and bits(a) == bits(b)
    return type(a) is type(b) and a == b


def assert_same_model(a, b, rows, lacking=None):
    """Compare all that two models say."""
    assert a.get_params(deep=False).keys() == b.get_params(deep=False).keys()
    assert str(a.get_params()) == str(b.get_params())
    assert same(quietly(a.predict, rows), quietly(b.predict, rows))
    assert same(quietly(a.predict_interval, rows), quietly(b.predict_interval, rows))
    if lacking is not None:
        assert same(*(quietly(m.predict_interval, lacking) for m in (a, b)))
        if a.fit_.covariance is None:
            assert same(*(quietly(m.predict, lacking) for m in (a, b)))
    for name in ("coef_", "coef_cov_", "standard_errors_", "intercept_", "transfer_gain_"):
        assert same(getattr(a, name), getattr(b, name)), name
    for name in ("optional_columns_", "conflict_", "cautions_", "columns_", "response_"):
        assert getattr(a, name) == getattr(b, name), name
    assert a.coef_names_.tolist() == b.coef_names_.tolist()
    assert a.n_features_in_ == b.n_features_in_
    assert hasattr(a, "feature_names_in_") == hasattr(b, "feature_names_in_")
    if hasattr(a, "feature_names_in_"):
        assert a.feature_names_in_.tolist() == b.feature_names_in_.tolist()
    assert str(a.summary()) == str(b.summary())
    assert_same_fit(a.fit_, b.fit_)
    assert_same_bits(a.problem_.target, b.problem_.target)
    assert list(a.problem_.sources) == list(b.problem_.sources)
    for name, source in a.problem_.sources.items():
        assert_same_bits(source, b.problem_.sources[name])


def assert_same_fit(a, b):
    assert (a.names, a.distribution, a.bounds) == (b.names, b.distribution, b.bounds)
    for name in ("coef", "centre", "covariance", "rounding"):
        assert same(getattr(a, name), getattr(b, name)), name
    for name in ("level", "noise", "intercept_variance"):
        assert same(getattr(a, name), getattr(b, name)), name
    for name in ("source_noise", "weights", "dropped", "conflict"):
        assert dict(getattr(a, name)) == dict(getattr(b, name)), name
    assert [type(c) for c in a.cautions] == [type(c) for c in b.cautions]
    assert [str(c) for c in a.cautions] == [str(c) for c in b.cautions]
    assert (a.pool is None) == (b.pool is None)
    if a.pool is not None:
        assert_same_bits(a.pool, b.pool)


def quietly_also_sklearn(function, *args, **options):
    """Return what a call gives, or an error of ours, or scikit-learn's about names of columns."""
    try:
        return quietly(function, *args, **options)
    except (ValueError, UserWarning) as error:
        if "feature names" in str(error) or "features, but" in str(error):
            return str(error)
        raise
