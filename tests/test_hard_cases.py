"""Hard cases: each has a defined answer and, where something should be known, its message."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from poolwise import METHODS, Moments, PooledRegressor
from poolwise.errors import (
    BadWeights,
    BeyondDoubles,
    ConstantFeatures,
    ConstantResponse,
    EmptySource,
    FewRows,
    NoiseNotEstimable,
    PredictionsBeyondDoubles,
    RankDeficient,
    RoundedIntegers,
    SourceLeftOut,
    TooFewRows,
    TooLarge,
    TransferWarning,
    UnitsApart,
    VarianceLeftOut,
)
from tests.laws.exact import exact_least_squares
from tests.laws.problems import least_squares, with_one

PRECISIONS = ("fast", "accurate", "exact", "auto")
# Their penalties and kernels depend on the units of the columns.
WITHOUT_PENALTY = [m for m in METHODS if m not in ("feature_transfer", "kernel_transfer")]
# One more column is one more prior, which moves its answers by a few hundredths of a deviation.
SHRINKS = {"bayes_pooling": 0.05}
TRUTH = np.array([1.0, -2.0, 3.0])


@pytest.fixture(params=PRECISIONS)
def precision(request):
    return request.param


@pytest.fixture(params=METHODS)
def method(request):
    return request.param


@pytest.fixture
def rows():
    """A target of 20 rows and a history of 40; numbers with few digits, so that sums are exact."""
    return draw(60)


def draw(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(-64, 64, size=(n, 3)) / 64.0
    return X, np.round(64.0 * (1.0 + X @ TRUTH + rng.normal(size=n))) / 64.0


def fit(method, precision, X, y, *, source=None, weights=None, **options):
    """Return a fitted model, and the kinds of warnings that it gave."""
    model = PooledRegressor(method, precision=precision, **options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y, sources=source, sample_weight=weights)
    kinds = [type(w.message) for w in caught]
    assert all(issubclass(kind, TransferWarning) for kind in kinds), kinds
    return model, kinds


def split(X, y, features=3):
    """Return target and source, the source with the first features alone."""
    return (X[:20], y[:20]), (X[20:, :features], y[20:])


def all_is_told(model):
    """Ask for everything a model can say; all of it is finite or left out."""
    for numbers in (model.coef_, model.intercept_, model.standard_errors_, model.coef_cov_):
        assert numbers is None or np.isfinite(numbers).all()
    assert model.transfer_gain_ is None or np.isfinite(model.transfer_gain_)
    text = f"{model.summary()} {model.summary()._repr_html_()}"
    return "nan" not in text and "inf " not in text


class TestConstantColumns:
    @pytest.mark.parametrize("value", [0.0, 0.1, 1e8 + 0.1, -1e300, 5e-324])
    def test_they_get_coefficient_zero_and_change_nothing(self, rows, method, precision, value):
        X, y = rows
        (X_t, y_t), source = split(X, y, 2)
        expected, _ = fit(method, precision, X_t, y_t, source=source)
        wide = np.column_stack((X_t, np.full(20, value)))
        model, kinds = fit(method, precision, wide, y_t, source=source)
        assert ConstantFeatures in kinds
        assert model.coef_[3] == 0.0
        assert_allclose(model.coef_[:3], expected.coef_, rtol=1e-9)
        assert_allclose(model.predict(wide), expected.predict(X_t), rtol=1e-9)
        assert all_is_told(model)

    def test_they_are_named(self, rows):
        X, y = rows
        X[:, 1] = 7.0
        with pytest.warns(ConstantFeatures, match=r"\['x1'\] have one value in every row"):
            model = PooledRegressor("target_only").fit(X, y)
        assert model.summary().coefficients[1].note == "constant in the target"

    @pytest.mark.parametrize("value", [1.0, 1e-300, 1e300])
    def test_without_an_intercept_a_constant_takes_its_place(self, rows, precision, value):
        X, y = rows
        expected, _ = fit("target_only", precision, X, y)
        wide = np.column_stack((X, np.full(60, value)))
        model, _ = fit("target_only", precision, wide, y, fit_intercept=False)
        assert_allclose(model.coef_[:3], expected.coef_, rtol=1e-11)
        assert_allclose(model.coef_[3] * value, expected.intercept_, rtol=1e-11)


class TestDependentColumns:
    def test_a_copy_shares_the_coefficient(self, rows, method, precision):
        X, y = rows
        wide = np.column_stack((X, X[:, 1]))
        (X_t, y_t), source = split(X, y)
        expected, _ = fit(method, precision, X_t, y_t, source=source)
        model, kinds = fit(method, precision, wide[:20], y_t, source=(wide[20:], y[20:]))
        assert RankDeficient in kinds
        close = SHRINKS.get(method, 1e-9)
        assert_allclose(model.coef_[1], model.coef_[3], rtol=1e-9)
        assert_allclose(model.coef_[[1, 3]], expected.coef_[1] / 2.0, rtol=close)
        assert_allclose(model.predict(wide), expected.predict(X), rtol=1e-9, atol=close)

    def test_they_are_named(self, rows, precision):
        X, y = rows
        wide = np.column_stack((X, X[:, 1]))
        message = r"In the target, the columns \['x1', 'x3'\] are linearly dependent"
        with pytest.warns(RankDeficient, match=message):
            PooledRegressor("target_only", precision=precision).fit(wide, y)

    @pytest.mark.parametrize("centre", [0.0, 1e3, 1e8])
    @pytest.mark.parametrize("unit", [1e-200, 1.0, 1e250])
    def test_a_sum_up_to_rounding_is_dependent(self, method, precision, centre, unit):
        rng = np.random.default_rng(0)
        X = (rng.normal(size=(60, 2)) + centre) * unit  # with all their digits, so sums are rounded
        y = rng.normal(size=60)
        wide = np.column_stack((X, X[:, 0] + X[:, 1]))
        expected, _ = fit(method, precision, X[:20], y[:20], source=(X[20:], y[20:]))
        model, kinds = fit(method, precision, wide[:20], y[:20], source=(wide[20:], y[20:]))
        assert RankDeficient in kinds
        close = SHRINKS.get(method, 1e-5)
        assert_allclose(model.predict(wide), expected.predict(X), rtol=0, atol=close)

    @pytest.mark.parametrize("share", [1.0 / 3.0, 0.1])
    def test_a_share_of_another_column_is_dependent(self, precision, share):
        rng = np.random.default_rng(1)
        X, y = rng.normal(3.0, 1.0, size=(50, 2)), rng.normal(size=50)
        wide = np.column_stack((X, share * X[:, 0]))
        model, kinds = fit("target_only", precision, wide, y)
        assert kinds == [RankDeficient]
        expected, _ = fit("target_only", precision, X, y)
        assert_allclose(model.predict(wide), expected.predict(X), atol=1e-7)

    def test_an_indicator_for_every_level_gives_the_means_of_the_levels(self, method, precision):
        rng = np.random.default_rng(0)
        level = np.tile([0, 1, 2, 0, 1], 12)
        y = np.array([1.0, -1.0, 4.0])[level] + rng.integers(-8, 8, 60) / 8.0
        X = np.eye(3)[level]
        model, kinds = fit(method, precision, X[:20], y[:20], source=(X[20:], y[20:]))
        assert RankDeficient in kinds
        reduced, _ = fit(method, precision, X[:20, 1:], y[:20], source=(X[20:, 1:], y[20:]))
        close = SHRINKS.get(method, 1e-9)
        assert_allclose(model.predict(np.eye(3)), reduced.predict(np.eye(3)[:, 1:]), rtol=close)
        if method == "target_only":
            means = [y[:20][level[:20] == k].mean() for k in range(3)]
            assert_allclose(model.predict(np.eye(3)), means, rtol=1e-9)


class TestFewRows:
    @pytest.mark.parametrize("n", [1, 2, 3, 4])
    def test_the_target_alone(self, rows, precision, n):
        X, y = rows
        model, kinds = fit("target_only", precision, X[:n], y[:n])
        assert FewRows in kinds
        assert model.fit_.noise is None
        assert model.standard_errors_ is None
        assert_allclose(model.predict(X[:n]), y[:n], rtol=1e-9)  # they are met exactly
        assert all_is_told(model)

    def test_five_rows_for_four_coefficients_leave_a_noise(self, rows, precision):
        X, y = rows
        model, kinds = fit("target_only", precision, X[:5], y[:5])
        assert kinds == []
        expected = exact_least_squares(X[:5], y[:5])
        assert_allclose(model.coef_, [float(b) for b in expected.coef], rtol=1e-12)
        assert_allclose(model.fit_.noise, float(expected.residual), rtol=1e-9)

    @pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
    def test_beside_history(self, rows, method, precision, n):
        X, y = rows
        source = X[20:, :2], y[20:]
        if method == "monotone_likelihood" and n < 5:
            with pytest.raises(TooFewRows, match=rf"at least 5 rows here and has {n}"):
                fit(method, precision, X[:n], y[:n], source=source)
            return
        model, kinds = fit(method, precision, X[:n], y[:n], source=source)
        assert (FewRows in kinds) == (n < 5)
        assert all_is_told(model)
        if method in ("data_pooling", "mean_fill"):
            assert_allclose(coefficients(model), pooled(model, X[:n], y[:n], *source), rtol=1e-8)

    def test_no_rows_of_history_change_nothing(self, rows, method, precision):
        X, y = rows
        alone, _ = fit(method if method in SHRINKS else "target_only", precision, X, y)
        model, kinds = fit(method, precision, X, y, source=(X[:0, :2], y[:0]))
        assert kinds == [EmptySource]
        if method != "source_columns_only":
            assert_array_equal(model.coef_, alone.coef_)
        assert all_is_told(model)

    def test_a_single_row_of_history(self, rows, method, precision):
        X, y = rows
        source = X[20:21, :2], y[20:21]
        model, kinds = fit(method, precision, X[:20], y[:20], source=source)
        assert all_is_told(model)
        if method == "data_pooling":
            assert kinds == [NoiseNotEstimable]
        if method == "bayes_pooling":
            assert kinds == [SourceLeftOut]
        if method in ("data_pooling", "mean_fill"):
            assert_allclose(coefficients(model), pooled(model, X[:20], y[:20], *source), rtol=1e-9)

    def test_the_message_for_a_single_row_of_history(self, rows):
        X, y = rows
        message = "The noise of source 'source' cannot be estimated: 1 row for 3 coefficients"
        with pytest.warns(NoiseNotEstimable, match=message):
            PooledRegressor("data_pooling").fit(X[:20], y[:20], sources=(X[20:21, :2], y[20:21]))

    def test_no_target_and_no_rows_are_refused(self, rows, method, precision):
        X, y = rows
        with pytest.raises(ValueError, match="a minimum of 1 is required"):
            fit(method, precision, X[:0], y[:0], source=(X[:, :2], y))


def pooled(model, X, y, X_old, y_old):
    """Return intercept and coefficients of the stacked rows, by an orthogonal factorisation.

    Of least norm in units of standard deviations: a column that does not vary gets zero.
    """
    filled = np.tile(X.mean(axis=0), (len(X_old), 1))
    filled[:, : X_old.shape[1]] = X_old
    Z, w = np.vstack((X, filled)), np.full(len(y) + len(y_old), model.fit_.weights["source"])
    w[: len(y)] = 1.0
    Z, t = Z[w > 0], np.concatenate((y, y_old))[w > 0]
    w = w[w > 0]
    mean = w @ Z / w.sum()
    unit = np.sqrt(w @ (Z - mean) ** 2)
    unit[np.ptp(Z, axis=0) == 0.0] = np.inf
    beta = least_squares((Z - mean) / unit, t, w)[1:] / unit
    return np.concatenate(([w @ t / w.sum() - mean @ beta], beta))


def coefficients(model):
    return np.concatenate(([model.intercept_], model.coef_))


class TestExactFits:
    def test_an_all_zero_response_is_predicted_as_zero(self, rows, method, precision):
        X, _ = rows
        model, kinds = fit(method, precision, X[:20], np.zeros(20), source=(X[20:], np.zeros(40)))
        assert kinds.count(ConstantResponse) == 2
        assert_array_equal(model.coef_, np.zeros(3))
        assert model.intercept_ == 0.0
        assert_array_equal(model.predict(X), np.zeros(60))
        assert all_is_told(model)

    def test_the_message_for_an_all_zero_response(self, rows):
        X, _ = rows
        with pytest.warns(ConstantResponse, match="The response is 0 in every row of the target"):
            PooledRegressor().fit(X, np.zeros(60))

    @pytest.mark.parametrize("unit", [1e-290, 1.0, 1e290])
    def test_a_response_without_residual_is_met(self, rows, method, precision, unit):
        X, _ = rows
        y = (2.0 + X @ TRUTH) * unit
        model, _ = fit(method, precision, X[:20], y[:20], source=(X[20:], y[20:]))
        assert_allclose(model.coef_, TRUTH * unit, rtol=1e-11)
        assert_allclose(model.intercept_, 2.0 * unit, rtol=1e-11)
        assert_allclose(model.predict(X), y, rtol=1e-11, atol=1e-11 * unit)
        assert all_is_told(model)

    def test_a_target_without_residual_has_no_noise(self, rows, precision):
        X, _ = rows
        y = 2.0 + X @ TRUTH
        source = X[20:, :2], y[20:]
        model, kinds = fit("data_pooling", precision, X[:20], y[:20], source=source)
        assert kinds == [NoiseNotEstimable]
        assert model.fit_.noise == 0.0
        assert model.fit_.weights == {"source": 0.0}
        assert_array_equal(model.standard_errors_, np.zeros(4))
        assert_allclose(model.coef_, TRUTH, rtol=1e-12)


class TestWeights:
    def test_rows_of_weight_zero_are_not_there(self, rows, method, precision):
        X, y = rows
        w = np.tile([1.0, 0.0, 2.0, 1.0], 15)
        kept = w > 0
        t, s = kept[:20], kept[20:]
        (X_t, y_t), (X_s, y_s) = split(X, y, 2)
        expected, _ = fit(
            method, precision, X_t[t], y_t[t], source=(X_s[s], y_s[s], w[20:][s]), weights=w[:20][t]
        )
        X_t[~t], y_t[~t], X_s[~s], y_s[~s] = 1e308, np.nan, 1e308, np.inf  # whatever they hold
        X_t[~t, 1] = X_s[~s, 0] = np.nan
        model, _ = fit(method, precision, X_t, y_t, source=(X_s, y_s, w[20:]), weights=w[:20])
        assert_allclose(model.coef_, expected.coef_, rtol=1e-9)
        assert_allclose(model.intercept_, expected.intercept_, rtol=1e-9)

    @pytest.mark.parametrize("weight", [1e-100, 1e-30, 1e30, 1e100])
    def test_the_unit_of_the_weights_does_not_matter(self, rows, precision, weight):
        X, y = rows
        expected, _ = fit("target_only", precision, X, y)
        model, kinds = fit("target_only", precision, X, y, weights=np.full(60, weight))
        assert (FewRows in kinds) == (weight < 1.0)
        assert_allclose(model.coef_, expected.coef_, rtol=1e-12)
        assert_allclose(model.intercept_, expected.intercept_, rtol=1e-12)
        assert all_is_told(model)

    @pytest.mark.parametrize("span", [1e8, 1e50])
    def test_huge_and_tiny_weights_side_by_side(self, rows, precision, span):
        X, y = rows
        w = np.where(np.arange(60) % 3, span, 1.0 / span)
        model, _ = fit("target_only", precision, X, y, weights=w)
        expected = exact_least_squares(X, y, w)
        assert_allclose(model.coef_, [float(b) for b in expected.coef], rtol=1e-11)
        assert_allclose(model.intercept_, float(expected.intercept), rtol=1e-11)

    @pytest.mark.parametrize("heavy", [1e8, 1e20, 1e100])
    @pytest.mark.parametrize("at", [0, 47])
    def test_one_heavy_row_is_met_and_the_others_tell_the_slope(self, rows, precision, heavy, at):
        X, y = rows
        w = np.ones(60)
        w[at] = heavy
        model, _ = fit("target_only", precision, X, y, weights=w)
        expected = exact_least_squares(X, y, w)
        assert_allclose(model.coef_, [float(b) for b in expected.coef], rtol=1e-12)
        assert_allclose(model.predict(X[at : at + 1]), float(expected.at(X[at])), rtol=1e-12)

    @pytest.mark.parametrize("heavy", [1e50, 1e100])
    def test_what_only_light_rows_tell_is_not_determined(self, rows, precision, heavy):
        X, y = rows
        w = np.ones(60)
        w[:2] = heavy  # the line through these two; across it, the others are too light to see
        model, kinds = fit("target_only", precision, X, y, weights=w)
        assert RankDeficient in kinds
        assert_allclose(model.predict(X[:2]), y[:2], rtol=1e-6)

    @pytest.mark.parametrize("weight", [1e-90, 1e90])
    def test_every_method_takes_them(self, rows, method, precision, weight):
        X, y = rows
        (X_t, y_t), (X_s, y_s) = split(X, y, 2)
        w = np.where(np.arange(20) % 3, 1.0, weight)
        model, _ = fit(method, precision, X_t, y_t, source=(X_s, y_s, np.repeat(w, 2)), weights=w)
        assert all_is_told(model)
        assert np.isfinite(model.predict(X)).all()

    @pytest.mark.parametrize(
        ("weight", "message"),
        [
            (1e101, r"The largest weight, 1e\+101, is above 1e\+100"),
            (1e-101, "A weight, 1e-101, is below 1e-100 and not zero"),
            (5e-324, "A weight, 4.94066e-324, is below 1e-100 and not zero"),
            (-1.0, "60 weights are negative, least -1"),
            (np.inf, "60 weights are NaN or infinite"),
        ],
    )
    def test_weights_beyond_the_range_are_refused(self, rows, precision, weight, message):
        X, y = rows
        with pytest.raises(BadWeights, match=message):
            fit("target_only", precision, X, y, weights=np.full(60, weight))

    def test_a_source_beyond_comparison_weighs_1e100(self, rows, precision):
        X, y = rows
        source = X[20:, :2], y[20:] * 1e-60
        model, _ = fit("data_pooling", precision, X[:20], y[:20] * 1e60, source=source)
        assert model.fit_.weights == {"source": 1e100}
        assert all_is_told(model)


class TestTypesAndLayouts:
    @pytest.mark.parametrize(
        "dtype", ["float16", "float32", "int8", "int64", "uint16", "bool", object]
    )
    def test_numbers_of_any_type_give_the_same_bits(self, rows, method, precision, dtype):
        X, y = rows
        X = (np.abs(X) * 8.0).astype(dtype)
        (X_t, y_t), (X_s, y_s) = split(X, y, 2)
        model, _ = fit(method, precision, X_t, y_t, source=(X_s, y_s))
        as_doubles = X_t.astype(float), y_t
        expected, _ = fit(method, precision, *as_doubles, source=(X_s.astype(float), y_s))
        assert_array_equal(model.coef_, expected.coef_)
        assert_array_equal(model.predict(X_t), expected.predict(X_t.astype(float)))

    @pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
    def test_a_response_of_any_type_gives_the_same_bits(self, rows, precision, dtype):
        X, y = rows
        y = y.astype(dtype)
        model, _ = fit("target_only", precision, X, y)
        expected, _ = fit("target_only", precision, X, y.astype(float))
        assert_array_equal(model.coef_, expected.coef_)

    @pytest.mark.parametrize("kind", [np.asarray, lambda X: pd.DataFrame(X, columns=[*"abc"])])
    def test_integers_beyond_53_bits_are_exact_or_refused(self, rows, precision, kind):
        X, y = rows
        whole = np.round(64.0 * X).astype(np.int64)
        held = whole * 2**50  # 57 bits, the last ones zero
        expected, _ = fit("target_only", precision, whole, y)
        model, _ = fit("target_only", precision, kind(held), y)
        assert_array_equal(model.coef_, expected.coef_ * 2.0**-50)
        with pytest.raises(RoundedIntegers, match=r"more than the 53 bits of a double"):
            fit("target_only", precision, kind(held + 1), y)
        with pytest.raises(RoundedIntegers, match=r"'y' has \d+ integers"):
            fit("target_only", precision, X, held[:, 0] + 1)

    @pytest.mark.parametrize(
        "view",
        [
            np.asfortranarray,
            lambda X: np.flip(np.flip(X).copy()),
            lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=-1)[::2, ::2],
        ],
        ids=["fortran", "negative strides", "every second"],
    )
    def test_the_layout_in_memory_does_not_matter(self, rows, method, precision, view):
        X, y = rows
        (X_t, y_t), (X_s, y_s) = split(X, y, 2)
        expected, _ = fit(method, precision, X_t, y_t, source=(X_s, y_s))
        y_t, y_s = np.flip(np.flip(y_t).copy()), np.repeat(y_s, 2)[::2]
        model, _ = fit(method, precision, view(X_t), y_t, source=(view(X_s), y_s))
        assert_array_equal(model.coef_, expected.coef_)
        assert_allclose(model.predict(view(X_t)), expected.predict(X_t), rtol=1e-13)

    def test_arrays_are_not_written_to(self, rows, method, precision):
        X, y = rows
        w = np.ones(60)
        for array in (X, y, w):
            array.setflags(write=False)
        (X_t, y_t), (X_s, y_s) = split(X, y, 2)
        model, _ = fit(method, precision, X_t, y_t, source=(X_s, y_s, w[20:]), weights=w[:20])
        assert np.isfinite(model.predict(X)).all()


# Powers of two for the shared feature, the new ones and the response; numbers are below one, and
# 2**996 is just below 1e300.
SIZES = {
    "a large feature": (996, 0, 0),
    "a large new feature": (0, 996, 0),
    "a large response": (0, 0, 996),
    "all large": (996, 990, 996),
    "large ones of all sizes": (996, 300, 700),
    "a tiny feature": (-996, 0, 0),
    "a tiny response": (0, 0, -996),
    "all tiny": (-996, -990, -996),
    "just beyond the usual": (-210, 210, 205),
}


def sized(X, y, kind):
    shared, new, response = SIZES[kind]
    return X * 2.0 ** np.array([shared, new, new]), np.ldexp(y / 16.0, response)


class TestExtremeSizes:
    @pytest.mark.parametrize("intercept", [True, False])
    @pytest.mark.parametrize("kind", SIZES)
    @pytest.mark.parametrize("method", WITHOUT_PENALTY)
    def test_the_answer_is_that_of_usual_sizes(self, rows, method, precision, kind, intercept):
        X, y = rows
        large, y_large = sized(X, y, kind)
        options = {"fit_intercept": intercept}
        usual, _ = fit(
            method, precision, X[:20], y[:20] / 16.0, source=(X[20:, :1], y[20:] / 16.0), **options
        )
        source = large[20:, :1], y_large[20:]
        model, _ = fit(method, precision, large[:20], y_large[:20], source=source, **options)
        shared, new, response = SIZES[kind]
        expected = np.ldexp(usual.coef_, response - np.array([shared, new, new]))
        assert_allclose(model.coef_, expected, rtol=1e-12)
        assert_allclose(model.intercept_, np.ldexp(usual.intercept_, response), rtol=1e-12)
        assert_allclose(model.predict(large), np.ldexp(usual.predict(X), response), rtol=1e-11)
        lacking = large.copy()
        lacking[:, 1:] = np.nan
        X_lacking = np.where(np.isnan(lacking), np.nan, X)
        assert_allclose(
            model.predict(lacking), np.ldexp(usual.predict(X_lacking), response), rtol=1e-11
        )
        gain = usual.transfer_gain_
        if gain and abs(response) < 500:
            assert_allclose(model.transfer_gain_, np.ldexp(gain, 2 * response), rtol=1e-9)
        elif gain:
            assert model.transfer_gain_ is None
        assert all_is_told(model)

    @pytest.mark.parametrize("kind", SIZES)
    @pytest.mark.parametrize("method", ["feature_transfer", "kernel_transfer"])
    def test_methods_with_penalties_answer_too(self, rows, method, precision, kind):
        X, y = sized(*rows, kind)
        model, _ = fit(method, precision, X[:20], y[:20], source=(X[20:, :1], y[20:]))
        assert all_is_told(model)
        residual = (y[:20] - model.predict(X[:20])) / np.abs(y).max()
        assert np.std(residual) < np.std(y[:20] / np.abs(y).max())

    def test_a_variance_that_no_double_holds_is_left_out(self, rows, precision):
        X, y = rows
        message = r"numbers in \['y'\] are so large or so small that the noise or the standard"
        with pytest.warns(VarianceLeftOut, match=message):
            model = PooledRegressor("target_only", precision=precision).fit(X, y * 1e290)
        assert model.fit_.noise is None
        assert model.coef_cov_ is None
        assert model.standard_errors_ is None

    def test_a_variance_that_a_double_holds_is_kept(self, rows, precision):
        X, y = rows
        usual, _ = fit("target_only", precision, X, y)
        model, kinds = fit("target_only", precision, np.ldexp(X, 400), np.ldexp(y, 400))
        assert kinds == []
        assert_allclose(model.coef_cov_, usual.coef_cov_, rtol=1e-11)
        expected = np.ldexp(usual.standard_errors_, [400, 0, 0, 0])
        assert_allclose(model.standard_errors_, expected, rtol=1e-11)
        assert_allclose(model.fit_.noise, np.ldexp(usual.fit_.noise, 800), rtol=1e-11)

    @pytest.mark.parametrize(("feature", "response"), [(1e-250, 1e100), (1e250, 1e-200)])
    def test_a_coefficient_that_no_double_holds_is_an_error(
        self, rows, method, precision, feature, response
    ):
        X, y = rows
        X = X * [1.0, feature, 1.0]
        with pytest.raises(BeyondDoubles, match=r"coefficients of \['x1'\] are beyond the range"):
            fit("target_only", precision, X, y * response)

    def test_a_coefficient_without_effect_may_be_zero(self, rows, precision):
        X, _ = rows
        large = X * [1e299, 1.0, 1.0]
        y = 1e-20 * X[:, 1]  # what rounding leaves of the first coefficient is below 1e-330
        model, _ = fit("target_only", precision, large, y)
        assert_allclose(model.predict(large), y, rtol=1e-12, atol=1e-32)
        assert_allclose(model.coef_[1], 1e-20, rtol=1e-12)

    def test_an_intercept_that_no_double_holds_is_an_error(self, precision):
        x = 1e290 * (1.0 + 1e-14 * np.arange(8.0))
        y = 1e299 * np.array([1.0, -1.0, 2.0, 3.0, -5.0, 2.0, 2.0, 1.0])
        with pytest.raises(BeyondDoubles, match=r"\['\(intercept\)'\]"):
            fit("target_only", precision, x[:, None], y)

    def test_a_prediction_that_no_double_holds_is_an_error(self, rows, precision):
        X, y = rows
        model, _ = fit("target_only", precision, X, y * 1e200)
        far = X[:3] * [[1.0], [1e150], [-1e150]]
        assert np.isfinite(model.predict(far[:1])).all()
        with pytest.raises(PredictionsBeyondDoubles, match="predictions of 2 rows are beyond"):
            model.predict(far)

    @pytest.mark.parametrize("precision", ["accurate", "exact"])
    def test_terms_that_no_double_holds_may_cancel(self, precision):
        rng = np.random.default_rng(0)
        a = rng.integers(-64, 64, 40) / 64.0
        b = a + rng.integers(-64, 64, 40) * 2.0**-40
        y = (b - a) * 2.0**40 / 64.0
        X, y = np.ldexp(np.column_stack((a, b)), 990), np.ldexp(y, 990)
        model, _ = fit("target_only", precision, X, y)
        assert_allclose(model.coef_, [-(2.0**34), 2.0**34], rtol=1e-9)
        assert_allclose(model.predict(X), y, rtol=1e-5, atol=1e-5 * 2.0**990)

    @pytest.mark.parametrize("value", [1.1e300, -1.7e308])
    def test_numbers_beyond_1e300_are_refused(self, rows, method, precision, value):
        X, y = rows
        source = X[20:, :2], y[20:]
        with pytest.raises(TooLarge, match=r"\['y'\] are beyond 1e\+300 in size"):
            fit(method, precision, X[:20], np.r_[y[:19], value], source=source)
        X[3, 1] = value
        with pytest.raises(TooLarge, match=r"\['x1'\] are beyond 1e\+300 in size"):
            fit(method, precision, X[:20], y[:20], source=source)

    def test_tables_of_quite_different_size_are_refused(self, rows, method, precision):
        X, y = rows
        message = r"'x1' holds numbers up to 1 in the target and up to 1e\+150 in source 'old'"
        X_old = X[20:, :2] * [1.0, 1e150]
        X[:20, 1] = np.clip(X[:20, 1], -0.5, 0.5)
        X[0, 1], X_old[0, 1] = 1.0, 1e150
        with pytest.raises(UnitsApart, match=message):
            fit(method, precision, X[:20], y[:20], source={"old": (X_old, y[20:])})

    def test_a_column_of_zeros_takes_any_unit(self, rows, precision):
        X, y = rows
        tiny = np.ldexp(X, -990)
        source = np.zeros((40, 3)), y[20:]
        usual, _ = fit("mean_fill", precision, X[:20], y[:20], source=source)
        model, _ = fit("mean_fill", precision, tiny[:20], y[:20], source=source)
        assert_allclose(model.coef_, np.ldexp(usual.coef_, 990), rtol=1e-12)

    def test_subnormal_numbers_are_fitted_with_the_digits_they_have(self, rows, precision):
        X, y = rows
        steps = np.round(64.0 * X)  # subnormal numbers are these times 2**-1074
        usual, _ = fit("target_only", precision, steps, y)
        model, _ = fit("target_only", precision, np.ldexp(steps, -1074), np.ldexp(y, -60))
        assert_allclose(model.coef_, np.ldexp(usual.coef_, 1014), rtol=1e-12)
        expected = np.ldexp(usual.predict(steps), -60)
        assert_allclose(model.predict(np.ldexp(steps, -1074)), expected, rtol=1e-9)
        with pytest.raises(BeyondDoubles):
            fit("target_only", precision, np.ldexp(steps, -1074), y)

    def test_a_subnormal_response_is_fitted_with_the_digits_it_has(self, rows, precision):
        X, y = rows
        unit = 2.0**-1060
        model, _ = fit("target_only", precision, X, np.round(64.0 * y) * unit)
        expected = least_squares(X, np.round(64.0 * y))
        assert_allclose(coefficients(model) / unit, expected, atol=2.0**-13)
        assert_allclose(model.predict(X) / unit, with_one(X) @ expected, atol=2.0**-11)

    def test_one_number_of_1e300_among_usual_ones(self, rows, precision):
        X, y = rows
        X[7, 2] = 1e300
        model, _ = fit("target_only", precision, X, y)
        # The column is an indicator of the one row, up to rounding: that row says nothing else.
        rest = np.arange(60) != 7
        expected = least_squares(X[rest, :2], y[rest])
        assert_allclose(coefficients(model)[:3], expected, rtol=1e-9)
        assert_allclose(model.predict(X)[7], y[7], rtol=1e-9)

    def test_a_mean_far_beyond_the_deviations_at_1e300(self, precision):
        steps = np.array([0.0, 1.0, 3.0, 4.0, 7.0, 11.0])
        x = np.ldexp(1.0 + steps * 2.0**-40, 990)
        y = np.array([1.0, 2.0, 2.0, 5.0, 7.0, 8.0])
        model, _ = fit("target_only", precision, x[:, None], y)
        slope = least_squares(steps[:, None], y)
        assert_allclose(model.coef_, np.ldexp(slope[1:], 40 - 990), rtol=1e-9)
        assert_allclose(model.predict(x[:, None]), slope[0] + slope[1] * steps, rtol=1e-9)


class TestLongTables:
    """Sizes that change after the first rows, which are read as one chunk."""

    @pytest.mark.parametrize("first", [-996, -300, 0, 300, 996])
    @pytest.mark.parametrize("then", [-996, 0, 996])
    def test_units_may_change_on_the_way(self, precision, first, then):
        X, y, scaled = changing(first, then)
        model, _ = fit("target_only", precision, X, y)
        expected = least_squares(scaled, y)
        top = max(first, then)
        assert_allclose(np.ldexp(model.coef_, [top, 0]), expected[1:], rtol=1e-9)
        assert_allclose(model.intercept_, expected[0], rtol=1e-9, atol=1e-9)

    @pytest.mark.parametrize("exponent", [-1000, -300, 300, 990])
    def test_rows_of_zeros_may_come_first(self, precision, exponent):
        X, y = draw(5000)
        X[:3000, 0] = 0.0
        expected = least_squares(X, y)
        model, _ = fit("target_only", precision, X * [2.0**exponent, 1.0, 1.0], y)
        assert_allclose(np.ldexp(model.coef_, [exponent, 0, 0]), expected[1:], rtol=1e-9)

    @pytest.mark.parametrize("at", [0, 2100, 4999])
    def test_a_heavy_row_may_come_late(self, precision, at):
        X, y = draw(5000)
        w = np.ones(5000)
        w[at] = 1e60
        model, _ = fit("target_only", precision, X, y, weights=w)
        # The plane goes through the heavy row, and is the best of those that do.
        rest = np.arange(5000) != at
        slope = np.linalg.lstsq(X[rest] - X[at], y[rest] - y[at], rcond=None)[0]
        assert_allclose(model.coef_, slope, rtol=1e-11)

    @pytest.mark.parametrize("exponent", [-1000, 990])
    def test_moments_of_parts_add_up(self, precision, exponent):
        X, y = draw(60)
        X[:20, 0] = 0.0
        table = np.column_stack((np.ldexp(X, exponent), y))
        names = ("a", "b", "c", "y")
        parts = [Moments.of_rows(names, part, precision=precision) for part in np.split(table, 3)]
        model = PooledRegressor("target_only")
        with pytest.warns(VarianceLeftOut):
            model.fit_moments(parts[0] + (parts[1] + parts[2]))
        expected = least_squares(X, y)[1:]
        assert_allclose(np.ldexp(model.coef_, exponent), expected, rtol=1e-12)


def changing(first, then):
    """Return 5,000 rows, the first 3,000 in another unit, and the same in the larger unit."""
    X, y = draw(5000)
    X = X[:, :2]
    exponent = np.where(np.arange(5000) < 3000, first, then)
    scaled = X.copy()
    scaled[:, 0] = np.ldexp(X[:, 0], exponent - max(first, then))
    X[:, 0] = np.ldexp(X[:, 0], exponent)
    return X, y, scaled
