"""A published model: the moments of its rows, from nothing but what a paper prints."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from poolwise import Moments, PooledRegressor, published_model
from poolwise.errors import BadColumns, BadSource, DataWarning, OutOfRange
from poolwise.linear.linear_fit import recentred
from poolwise.linear.regress import regress

RNG = np.random.default_rng(5)
FEATURES = ("age", "bmi")
MIX = np.array([[8.0, 1.0, 0.5], [0.0, 4.0, 0.3], [0.0, 0.0, 1.0]])
TABLE = RNG.normal(size=(540, 3)) @ MIX + np.array([60.0, 27.0, 0.0])
Y = TABLE @ [0.1, 0.3, 2.0] + 5.0 + RNG.normal(size=540)
ROWS = np.column_stack((TABLE, Y))
REAL = Moments.of_rows((*FEATURES, "y"), ROWS[:300, [0, 1, 3]])
TARGET = Moments.of_rows((*FEATURES, "marker", "y"), ROWS[500:])
# Inverting twice costs the condition of the covariance, about 1e4 with its intercept, times 1e-16.
CLOSE = 1e-10


def printed(moments=REAL):
    """Return what a paper would print, in full digits."""
    fit = regress(moments, "y")
    covariance = recentred(fit.covariance, fit.centre, np.zeros(len(fit.coef)))
    return fit, covariance


def whole(moments=REAL):
    fit, covariance = printed(moments)
    return published_model(
        fit.names, fit.coef, covariance, int(moments.weight), intercept=fit.intercept
    )


def by_means(moments=REAL):
    fit, covariance = printed(moments)
    means = {n: moments.mean_of(n) for n in fit.names}
    return published_model(
        fit.names,
        fit.coef,
        covariance[1:, 1:],
        int(moments.weight),
        intercept=fit.intercept,
        noise=fit.noise,
        means=means,
    )


BOTH = pytest.mark.parametrize("made", [whole, by_means])


@BOTH
def test_the_moments_are_those_of_the_rows(made):
    found = made()
    assert (found.names, found.rows, found.weight) == (REAL.names, 300, 300.0)
    assert found.precision == "fast"
    assert_allclose(found.mean, REAL.mean, rtol=CLOSE)
    S = REAL.scatter_between(REAL.names, REAL.names)
    assert_allclose(found.scatter_between(REAL.names, REAL.names), S, rtol=CLOSE)


@BOTH
def test_least_squares_on_them_is_the_published_model(made):
    again, known = regress(made(), "y"), regress(REAL, "y")
    assert_allclose(again.coef, known.coef, rtol=CLOSE)
    assert again.intercept == pytest.approx(known.intercept, rel=CLOSE)
    assert again.noise == pytest.approx(known.noise, rel=CLOSE)
    assert_allclose(again.standard_errors, known.standard_errors, rtol=CLOSE)
    assert_allclose(again.covariance, known.covariance, rtol=CLOSE, atol=1e-16)


@BOTH
@pytest.mark.parametrize("method", ["bayes_pooling", "data_pooling", "monotone_likelihood"])
def test_as_a_source_they_do_what_the_rows_do(made, method):
    found = PooledRegressor(method).fit_moments(TARGET, {"paper": made()})
    known = PooledRegressor(method).fit_moments(TARGET, {"paper": REAL})
    # A published model has no ranges, which the units of bayes_pooling use.
    room = 0.02 if method == "bayes_pooling" else 1e-8
    assert_allclose(found.coef_, known.coef_, rtol=room)
    assert found.intercept_ == pytest.approx(known.intercept_, rel=room)
    assert found.cautions_ == known.cautions_


def test_no_rows_reach_beyond_the_bounds():
    found = whole()
    assert (found.low <= REAL.low).all()
    assert (found.high >= REAL.high).all()
    # Samuelson's bound is reached by one row against all others alike.
    rows = np.zeros((50, 2))
    rows[0, 1] = 1.0
    rows[:, 0] = RNG.normal(size=50)
    one = whole(Moments.of_rows(("age", "y"), rows))
    assert one.high[1] == pytest.approx(1.0, rel=0.05)
    assert one.high[1] >= 1.0


def test_the_mean_of_the_response_stands_in_for_the_intercept():
    fit, covariance = printed()
    means = {n: REAL.mean_of(n) for n in REAL.names}
    found = published_model(
        fit.names, fit.coef, covariance[1:, 1:], 300, noise=fit.noise, means=means
    )
    assert found.mean_of("y") == REAL.mean_of("y")
    assert regress(found, "y").intercept == pytest.approx(fit.intercept, rel=CLOSE)


def test_the_means_of_other_moments_are_an_assumption_that_is_told():
    fit, covariance = printed()
    with pytest.warns(DataWarning, match="its means are taken to be those of the moments given"):
        found = published_model(
            fit.names,
            fit.coef,
            covariance[1:, 1:],
            300,
            intercept=fit.intercept,
            noise=fit.noise,
            means=TARGET,
        )
    assert found.mean_of("age") == TARGET.mean_of("age")
    assert_allclose(regress(found, "y").coef, fit.coef, rtol=CLOSE)


def test_a_noise_that_the_intercept_contradicts_is_told():
    fit, covariance = printed()
    with pytest.warns(DataWarning, match="robust least squares"):
        published_model(
            fit.names,
            fit.coef,
            2.0 * covariance,
            300,
            intercept=fit.intercept,
            noise=fit.noise,
        )


def test_a_noise_that_was_rounded_is_taken():
    fit, covariance = printed()
    found = published_model(
        fit.names,
        fit.coef,
        covariance,
        300,
        intercept=fit.intercept,
        noise=1.01 * fit.noise,
    )
    assert regress(found, "y").noise == pytest.approx(1.01 * fit.noise)


def test_columns_may_be_large_or_small():
    rows = ROWS[:300, [0, 1, 3]] * [1e70, 1e-70, 1.0]
    found = whole(Moments.of_rows((*FEATURES, "y"), rows))
    assert_allclose(regress(found, "y").coef, regress(REAL, "y").coef * [1e-70, 1e70], rtol=1e-8)


def test_other_names_of_the_response_are_kept():
    found = published_model(["a"], [1.0], [[0.01, 0], [0, 0.02]], 20, intercept=0, response="cost")
    assert found.names == ("a", "cost")


GOOD = {
    "names": ["a", "b"],
    "coef": [1.0, 2.0],
    "covariance": [[0.02, 0.001], [0.001, 0.03]],
    "n": 50,
    "intercept": 1.0,
    "noise": 2.0,
    "means": {"a": 0.0, "b": 1.0},
}


@pytest.mark.parametrize(
    ("change", "error", "why"),
    [
        ({"coef": [1.0]}, BadSource, r"2 names, coefficients of shape \(1,\)"),
        ({"coef": "abc"}, BadSource, "coef is not an array of numbers"),
        ({"coef": [np.nan, 1.0]}, BadSource, "coef holds NaN or infinity in 1 of 2 places"),
        ({"names": []}, BadSource, "0 names"),
        ({"names": ["a", "a"]}, BadColumns, "'a'"),
        ({"names": ["a", "y"]}, BadColumns, "'y'"),
        ({"covariance": np.eye(4)}, BadSource, r"a covariance of \(4, 4\)"),
        ({"covariance": [0.1, 0.2]}, BadSource, r"a covariance of \(2,\)"),
        ({"covariance": [[0.1, 0.0], [0.05, 0.1]]}, BadSource, "not symmetric"),
        ({"covariance": [[0.1, 0.2], [0.2, 0.1]]}, BadSource, "not positive definite"),
        ({"covariance": [[0.1, 0.0], [0.0, 0.0]]}, BadSource, "no positive variance"),
        ({"n": 3}, BadSource, "n=3 rows leave nothing"),
        ({"n": 50.5}, BadSource, r"n=50\.5 is not a number of rows"),
        ({"n": np.nan}, BadSource, "n=nan is not a number of rows"),
        ({"n": "50"}, BadSource, "n='50' is not a number of rows"),
        ({"n": 10**30}, BadSource, "whole number up to"),
        ({"noise": "much"}, BadSource, "noise is not an array of numbers"),
        ({"noise": [2.0]}, BadSource, r"noise is an array of shape \(1,\)"),
        ({"noise": np.inf}, BadSource, "noise holds NaN or infinity"),
        ({"covariance": [[1.0, 1.0], [1.0, 1.0]]}, BadSource, "not positive definite"),
        ({"covariance": [[1.0, 1.0], [1.0, 1.0 + 1e-12]]}, BadSource, "or hardly so"),
        ({"noise": None}, BadSource, "its noise is not known"),
        ({"noise": -1.0}, BadSource, r"its noise is -1\.0"),
        ({"means": None}, BadSource, "means of its features are not known.*means=target"),
        ({"means": {"a": 0.0}}, BadSource, r"means lacks 'b'"),
        (
            {"means": {"a": 0.0, "b": np.inf}},
            BadSource,
            "means holds NaN or infinity in 1 of 2",
        ),
        ({"means": {"a": 1e76, "b": 0.0}}, OutOfRange, r"'a', 'y' are above 1e\+75"),
        ({"means": {"a": 1e20, "b": 0.0}}, BadSource, r"the mean 1e\+20 and the standard dev"),
        ({"intercept": None}, BadSource, "mean of its response is not known"),
        (
            {"noise": 1e300, "covariance": np.eye(2) * 1e-300},
            OutOfRange,
            r"'a', 'b', 'y' are above",
        ),
    ],
)
def test_what_is_missing_or_wrong_is_told(change, error, why):
    assert published_model(**GOOD).rows == 50
    with pytest.raises(error, match=why):
        published_model(**(GOOD | change))


WITH_INTERCEPT = {
    "covariance": np.array([[0.50, 0.01, 0.02], [0.01, 0.02, 0.001], [0.02, 0.001, 0.03]]),
    "noise": None,
    "means": None,
}


def test_the_row_of_the_intercept_is_checked_too():
    good, wrong = WITH_INTERCEPT["covariance"], WITH_INTERCEPT["covariance"].copy()
    assert published_model(**(GOOD | WITH_INTERCEPT)).rows == 50
    wrong[0, 1] = 0.05
    with pytest.raises(BadSource, match="not symmetric"):
        published_model(**(GOOD | WITH_INTERCEPT | {"covariance": wrong}))
    small = good.copy()
    small[0, 0] = 0.01
    with pytest.raises(BadSource, match=r"its noise would be -0.*the intercept first"):
        published_model(**(GOOD | WITH_INTERCEPT | {"covariance": small}))


def test_means_that_the_covariance_or_the_intercept_contradict_are_told():
    far = {"means": {"a": 9.0, "b": 0.0}}
    with pytest.warns(DataWarning, match="a mean of 9 was given for 'a', and by the covariance"):
        found = published_model(**(GOOD | WITH_INTERCEPT | far))
    assert found.mean_of("a") == 9.0
    other = {"means": GOOD["means"] | {"y": 30.0}}
    with pytest.warns(DataWarning, match="a mean of 30 was given for 'y', .* it is 3"):
        found = published_model(**(GOOD | other))
    assert found.mean_of("y") == 30.0


def test_a_number_of_rows_may_be_written_as_a_double():
    assert published_model(**(GOOD | {"n": 50.0})).rows == 50
    assert published_model(**(GOOD | {"n": np.float64(50.0)})).weight == 50.0


@pytest.mark.filterwarnings("ignore::poolwise.errors.DataWarning")
def test_moments_that_lend_means_must_have_them():
    with pytest.raises(BadColumns):
        published_model(**(GOOD | {"means": TARGET}))
