import numpy as np
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose

from poolwise.errors import BadOption, LeftOut
from poolwise.methods import DataPooling, TargetOnly
from tests.laws.problems import KINDS, least_squares, tables_of, with_one

EXACT = 1e-10  # two stable solvers of a well-conditioned system reach it


@pytest.fixture(params=KINDS)
def tables(request):
    return tables_of(request.param, seed=7)


def own_noise(table, *, ddof="unbiased", intercept=True):
    """Return the residual variance of a table given the features it has."""
    beta = least_squares(table.X, table.y, table.w, intercept=intercept)
    rss = table.w @ (table.y - with_one(table.X) @ beta) ** 2
    free = table.w.sum() - table.X.shape[1] - intercept
    return rss / (free if ddof == "unbiased" else table.w.sum())


def zero_filled(tables, means=None):
    """Return the rows of every table as in Algorithm 1, and what was taken from each feature.

    Features that a source lacks are centred at the target's mean, in all tables, and zero there.
    """
    t = tables.target
    unseen = [n for n in t.names if any(n not in s.names for s in tables.sources.values())]
    means = dict(zip(t.names, np.average(t.X, axis=0, weights=t.w), strict=True)) | (means or {})
    shift = np.array([means[n] if n in unseen else 0.0 for n in t.names])
    rows = {"the target": t.X - shift}
    for name, s in tables.sources.items():
        columns = [
            s.column(n) - m if n in s.names else np.zeros(len(s.y))
            for n, m in zip(t.names, shift, strict=True)
        ]
        rows[name] = np.column_stack(columns)
    return rows, shift


def precisions(tables, **options):
    return {name: 1.0 / own_noise(table, **options) for name, table in every(tables).items()}


def every(tables):
    return {"the target": tables.target, **tables.sources}


def stacked(tables, alphas, rows):
    """Return the rows of all tables, their responses, and their weights."""
    X = np.concatenate([rows[name] for name in every(tables)])
    y = np.concatenate([table.y for table in every(tables).values()])
    w = np.concatenate([alphas[name] * table.w for name, table in every(tables).items()])
    return X, y, w


def assert_is_wls(fit, tables, alphas, means=None):
    rows, shift = zero_filled(tables, means)
    X, y, w = stacked(tables, alphas, rows)
    expected = sm.WLS(y, with_one(X), weights=w).fit(method="qr").params
    assert_allclose(fit.coef, expected[1:], rtol=0, atol=EXACT * np.abs(expected).max())
    assert_allclose(fit.predict(shift[None, :]), expected[0], rtol=EXACT)


def test_it_is_the_weighted_least_squares_of_statsmodels_on_zero_filled_rows(tables):
    fit = DataPooling().solve(tables.problem())
    assert_is_wls(fit, tables, precisions(tables))


def test_noises_divided_by_rows_give_the_published_weights(tables):
    fit = DataPooling(ddof="mle").solve(tables.problem())
    alphas = precisions(tables, ddof="mle")
    assert_is_wls(fit, tables, alphas)
    for name in tables.sources:
        assert_allclose(fit.weights[name], alphas[name] / alphas["the target"], rtol=EXACT)
    assert_allclose(fit.noise, 1.0 / alphas["the target"], rtol=EXACT)


def test_own_weights_by_name_replace_the_estimated_ones(tables):
    first = next(iter(tables.sources))
    fit = DataPooling(weights={first: 0.37}).solve(tables.problem())
    alphas = precisions(tables)
    alphas[first] = 0.37 * alphas["the target"]
    assert_is_wls(fit, tables, alphas)


def test_one_own_weight_is_for_all_sources(tables):
    fit = DataPooling(weights=0.2).solve(tables.problem())
    alphas = {"the target": 1.0} | dict.fromkeys(tables.sources, 0.2)
    assert_is_wls(fit, tables, alphas)
    assert fit.weights == dict.fromkeys(tables.sources, 0.2)


def test_known_means_replace_those_of_the_target(tables):
    means = {"x3": 0.25, "x2": -1.5}
    fit = DataPooling(means=means).solve(tables.problem())
    assert_is_wls(fit, tables, precisions(tables), means)


def test_a_known_mean_of_a_feature_that_all_sources_have_changes_nothing():
    problem = tables_of("one source", seed=7).problem()
    plain, told = (DataPooling(means=m).solve(problem) for m in (None, {"x0": 99.0}))
    assert (plain.coef == told.coef).all()


def test_ridge_is_added_to_the_pooled_scatter(tables):
    fit = DataPooling(ridge=3.0).solve(tables.problem())
    found = precisions(tables)
    alphas = {name: alpha / found["the target"] for name, alpha in found.items()}
    X, y, w = stacked(tables, alphas, zero_filled(tables)[0])
    centred = X - np.average(X, axis=0, weights=w)
    left = centred.T * w @ centred + 3.0 * np.eye(X.shape[1])
    expected = np.linalg.solve(left, centred.T * w @ (y - np.average(y, weights=w)))
    assert_allclose(fit.coef, expected, rtol=0, atol=EXACT * np.abs(expected).max())
    assert fit.covariance is None


def test_without_intercept_sources_are_filled_with_the_mean_and_nothing_is_centred(tables):
    fit = DataPooling().solve(tables.problem(intercept=False))
    rows = {n: tables.filled(s) for n, s in tables.sources.items()} | {
        "the target": tables.target.X
    }
    X, y, w = stacked(tables, precisions(tables, intercept=False), rows)
    expected = sm.WLS(y, X, weights=w).fit(method="qr").params
    assert_allclose(fit.coef, expected, rtol=0, atol=EXACT * np.abs(expected).max())


@pytest.mark.parametrize("own", [None, 0.4])
def test_the_covariance_is_that_of_proposition_2(tables, own):
    fit = DataPooling(weights=own).solve(tables.problem())
    rows, shift = zero_filled(tables)
    precision = precisions(tables)
    M = middle = np.zeros((len(shift) + 1, len(shift) + 1))
    for name, table in every(tables).items():
        alpha = precision[name]
        if own is not None:
            alpha = 1.0 if name == "the target" else own
        Sigma = with_one(rows[name]).T * table.w @ with_one(rows[name])
        M = M + alpha * Sigma
        middle = middle + alpha**2 / precision[name] * Sigma
    inverse = np.linalg.inv(M)
    expected = inverse @ middle @ inverse
    to_level = np.eye(len(expected))  # from the paper's origin to the centre of the fit
    to_level[0, 1:] = fit.centre - shift
    expected = to_level @ expected @ to_level.T
    atol = 1e-9 * np.abs(expected).max()  # the explicit inverse loses a digit
    assert_allclose(fit.covariance, expected, rtol=0, atol=atol)
    if own is None:  # with the optimal weights the middle cancels
        assert_allclose(expected, to_level @ inverse @ to_level.T, rtol=0, atol=atol)


def test_noises_and_weights_are_reported(tables):
    fit = DataPooling().solve(tables.problem())
    assert_allclose(fit.noise, own_noise(tables.target), rtol=EXACT)
    for name, source in tables.sources.items():
        assert_allclose(fit.source_noise[name], own_noise(source), rtol=EXACT)
        assert_allclose(fit.weights[name], fit.noise / fit.source_noise[name], rtol=EXACT)
    assert fit.cautions == ()


def test_a_weight_of_zero_leaves_the_target_alone(tables):
    problem = tables.problem()
    fit, alone = DataPooling(weights=0.0).solve(problem), TargetOnly().solve(problem)
    assert (fit.coef == alone.coef).all()
    assert_allclose(fit.covariance, alone.covariance, rtol=0, atol=EXACT * alone.covariance.max())


@pytest.mark.parametrize("weights", [-1.0, np.inf, np.nan, {"old": -0.5}])
def test_weights_that_mean_nothing_are_refused(weights):
    with pytest.raises(BadOption, match="finite and not negative"):
        DataPooling(weights=weights).solve(tables_of("one source", seed=7).problem())


def test_an_unknown_ddof_is_refused():
    with pytest.raises(BadOption, match="'unbiased' or 'mle'"):
        DataPooling(ddof="n").solve(tables_of("one source", seed=7).problem())


def test_options_that_name_nothing_are_pointed_out(tables):
    problem = tables.problem()
    fit = DataPooling(weights={"odl": 0.1}, means={"x33": 1.0}).solve(problem)
    said = [str(c) for c in fit.cautions if isinstance(c, LeftOut)]
    assert len(said) == 2
    assert "weights names 'odl'" in said[0]
    assert "means names 'x33'" in said[1]
    assert_allclose(fit.coef, DataPooling().solve(problem).coef)


@pytest.mark.parametrize("ridge", [-1.0, np.nan, np.inf])
def test_a_ridge_that_is_no_penalty_is_refused(tables, ridge):
    with pytest.raises(BadOption, match="ridge"):
        DataPooling(ridge=ridge).solve(tables.problem())
