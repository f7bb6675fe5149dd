"""Residual variances, and what stands in for them where they cannot be estimated."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from poolwise.errors import NoiseNotEstimable, TooFewRows
from poolwise.linear.noise import estimate_noise
from poolwise.methods import DataPooling, MeanFill, TargetOnly
from tests.laws.problems import Tables, least_squares, random_tables, tables_of, with_one
from tests.linear_methods import LINEAR_METHODS


def exact(table):
    """Return a table whose response its own features tell without residual."""
    return replace(table, y=3.0 + table.X @ np.arange(1.0, table.X.shape[1] + 1.0))


def constant(table):
    return replace(table, y=np.full(len(table.y), 7.0))


def with_target(tables, change):
    return replace(tables, target=change(tables.target))


def with_sources(tables, change):
    return replace(tables, sources={n: change(s) for n, s in tables.sources.items()})


def few_target_rows(rows=4):
    return random_tables(1, target_rows=rows, sources={"old": (30, (0, 1)), "b": (25, (1, 2))})


def few_source_rows(rows=3):
    return random_tables(1, sources={"few": (rows, (0, 1)), "old": (30, (0, 1, 2))})


def no_rows_anywhere():
    return random_tables(1, target_rows=2, sources={"old": (2, (0, 1))})


PLAIN = tables_of("overlapping sources", seed=1)
DEGENERATE = {
    "fewer target rows than coefficients": few_target_rows(4),
    "as many target rows as coefficients": few_target_rows(5),
    "one target row": few_target_rows(1),
    "a target without residual": with_target(PLAIN, exact),
    "sources without residual": with_sources(PLAIN, exact),
    "no residual anywhere": PLAIN.each(exact),
    "as many source rows as coefficients": few_source_rows(3),
    "one source row": few_source_rows(1),
    "too few rows everywhere": no_rows_anywhere(),
    "too few target rows, sources without residual": with_sources(few_target_rows(), exact),
    "a constant target response": with_target(PLAIN, constant),
    "constant source responses": with_sources(PLAIN, constant),
    "constant responses": PLAIN.each(constant),
}


@pytest.fixture(params=DEGENERATE)
def degenerate(request):
    return DEGENERATE[request.param]


def own_noise(table, names=None, *, ddof="unbiased"):
    X = table.X if names is None else table.having(names)
    residual = table.y - with_one(X) @ least_squares(X, table.y, table.w)
    free = table.w.sum() - X.shape[1] - 1
    return table.w @ residual**2 / (free if ddof == "unbiased" else table.w.sum())


def told(noise):
    assert all(isinstance(c, NoiseNotEstimable) for c in noise.cautions)
    return [str(c) for c in noise.cautions]


@pytest.mark.parametrize("ddof", ["unbiased", "mle"])
@pytest.mark.parametrize("kind", ["nested sources", "weighted rows"])
def test_weights_are_target_noise_over_source_noise(kind, ddof):
    tables = tables_of(kind, seed=2)
    noise = estimate_noise(tables.problem(), ddof)
    target = own_noise(tables.target, ddof=ddof)
    assert_allclose(noise.target, target, rtol=1e-10)
    for name, source in tables.sources.items():
        assert_allclose(noise.sources[name], own_noise(source, ddof=ddof), rtol=1e-10)
        assert_allclose(noise.weights[name], target / own_noise(source, ddof=ddof), rtol=1e-10)
    assert noise.cautions == ()


@pytest.mark.parametrize("ddof", ["unbiased", "mle"])
@pytest.mark.parametrize("rows", [1, 4, 5])
def test_a_target_of_too_few_rows_takes_the_smallest_noise_of_the_sources(rows, ddof):
    tables = few_target_rows(rows)
    noise = estimate_noise(tables.problem(), ddof)
    own = {name: own_noise(source, ddof=ddof) for name, source in tables.sources.items()}
    assert noise.target is None
    assert_allclose([noise.weights[n] for n in own], min(own.values()) / np.array([*own.values()]))
    (caution,) = told(noise)
    assert (
        f"the target cannot be estimated: {rows} row{'s' * (rows > 1)} for 5 coefficients"
        in caution
    )
    assert "smallest noise of the other tables" in caution


def test_one_row_more_than_coefficients_is_enough():
    noise = estimate_noise(few_target_rows(6).problem())
    assert_allclose(noise.target, own_noise(few_target_rows(6).target), rtol=1e-8)
    assert noise.cautions == ()


def test_a_target_without_residual_gives_its_sources_weight_zero():
    tables = DEGENERATE["a target without residual"]
    noise = estimate_noise(tables.problem())
    assert noise.target == 0.0
    assert noise.weights == {"a": 0.0, "b": 0.0}
    (caution,) = told(noise)
    assert "the target cannot be estimated: it is fitted without residual" in caution
    fit = DataPooling().solve(tables.problem())
    assert (fit.coef == TargetOnly().solve(tables.problem()).coef).all()
    assert_allclose(fit.coef, [1.0, 2.0, 3.0, 4.0], rtol=1e-10)
    assert_allclose(fit.intercept, 3.0, rtol=1e-10)


def test_a_source_without_residual_weighs_as_much_as_the_target():
    tables = DEGENERATE["sources without residual"]
    noise = estimate_noise(tables.problem())
    assert noise.target > 0.0
    assert noise.sources == {"a": 0.0, "b": 0.0}
    assert noise.weights == {"a": 1.0, "b": 1.0}
    for name, caution in zip("ab", told(noise), strict=True):
        assert f"table '{name}' cannot be estimated: it is fitted without residual" in caution
        assert "weigh as much as those of the target" in caution
    pooled, filled = (m.solve(tables.problem()).coef for m in (DataPooling(), MeanFill()))
    assert_allclose(pooled, filled, rtol=1e-12)


def test_without_residual_anywhere_the_target_decides():
    tables = DEGENERATE["no residual anywhere"]
    noise = estimate_noise(tables.problem())
    assert noise.target == 0.0
    assert noise.sources == {"a": 0.0, "b": 0.0}
    assert noise.weights == {"a": 0.0, "b": 0.0}
    assert len(told(noise)) == 1


@pytest.mark.parametrize("ddof", ["unbiased", "mle"])
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_a_source_of_too_few_rows_takes_the_noise_of_the_target_on_its_features(rows, ddof):
    tables = few_source_rows(rows)
    noise = estimate_noise(tables.problem(), ddof)
    stand_in = own_noise(tables.target, ["x0", "x1"], ddof=ddof)
    assert noise.sources["few"] is None
    assert_allclose(noise.weights["few"], noise.target / stand_in, rtol=1e-10)
    assert_allclose(noise.weights["old"], noise.target / noise.sources["old"], rtol=1e-12)
    (caution,) = told(noise)
    assert (
        f"table 'few' cannot be estimated: {rows} row{'s' * (rows > 1)} for 3 coefficients"
        in caution
    )
    assert "The noise of the target given the same features is used instead" in caution
    assert DataPooling(ddof=ddof).solve(tables.problem()).covariance is None


def test_with_too_few_rows_everywhere_all_rows_weigh_the_same():
    tables = no_rows_anywhere()
    noise = estimate_noise(tables.problem())
    assert noise.target is None
    assert noise.sources == {"old": None}
    assert noise.weights == {"old": 1.0}
    source, target = told(noise)
    assert "Its rows weigh as much as those of the target." in source
    assert "All rows weigh the same." in target


def test_with_too_few_target_rows_and_exact_sources_all_rows_weigh_the_same():
    noise = estimate_noise(DEGENERATE["too few target rows, sources without residual"].problem())
    assert noise.weights == {"old": 1.0, "b": 1.0}
    assert "All rows weigh the same." in told(noise)[-1]


def test_a_constant_target_response_is_fitted_by_a_constant():
    fit = DataPooling().solve(DEGENERATE["a constant target response"].problem())
    assert_allclose(fit.coef, 0.0, atol=1e-12)
    assert_allclose(fit.intercept, 7.0, rtol=1e-12)
    assert fit.noise == 0.0
    assert [type(c) for c in fit.cautions] == [NoiseNotEstimable]


def test_without_sources_there_is_nothing_to_weigh_and_nothing_to_say():
    alone = Tables(DEGENERATE["a target without residual"].target).problem()
    noise = estimate_noise(alone)
    assert noise.target == 0.0
    assert noise.weights == {}
    assert noise.cautions == ()


def test_own_weights_need_no_noise_and_no_caution():
    fit = DataPooling(weights=0.5).solve(few_target_rows(4).problem())
    assert not [c for c in fit.cautions if isinstance(c, NoiseNotEstimable)]
    assert set(fit.weights.values()) == {0.5}


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("ddof", ["unbiased", "mle"])
def test_weights_are_finite_and_not_negative_in_every_case(degenerate, ddof, intercept):
    noise = estimate_noise(degenerate.problem(intercept=intercept), ddof)
    assert set(noise.weights) == set(noise.sources) == set(degenerate.sources)
    weights = np.array([*noise.weights.values()])
    assert np.isfinite(weights).all()
    assert (weights >= 0.0).all()
    if intercept:
        assert told(noise)


@pytest.mark.parametrize("name", LINEAR_METHODS)
def test_every_method_has_a_finite_answer_or_a_clear_no_in_every_case(degenerate, name):
    problem = degenerate.problem()
    try:
        fit = LINEAR_METHODS[name]().solve(problem)
    except TooFewRows as error:
        assert name == "monotone_likelihood"
        assert "at least 6 recent rows" in str(error)  # noqa: PT017
        return
    assert np.isfinite(fit.coef).all()
    assert np.isfinite(fit.predict(degenerate.target.X)).all()
