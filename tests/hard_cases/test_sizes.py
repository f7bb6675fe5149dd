"""Hard cases: numbers near the ends of doubles, and sizes that change on the way."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from poolwise import Moments, PooledRegressor
from poolwise.errors import (
    BeyondDoubles,
    PredictionsBeyondDoubles,
    TooLarge,
    UnitsApart,
    VarianceLeftOut,
)
from tests.hard_cases.fitting import WITHOUT_PENALTY, all_is_told, coefficients, draw, fit
from tests.laws.problems import least_squares, with_one

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
        message = r"numbers in 'y' are so large or so small that the noise or the standard"
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
        self, rows, precision, feature, response
    ):
        X, y = rows
        X = X * [1.0, feature, 1.0]
        with pytest.raises(BeyondDoubles, match=r"coefficients of 'x1' are beyond the range"):
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
        with pytest.raises(BeyondDoubles, match=r"'\(intercept\)'"):
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
        with pytest.raises(TooLarge, match=r"'y' are beyond 1e\+300 in size"):
            fit(method, precision, X[:20], np.r_[y[:19], value], source=source)
        X[3, 1] = value
        with pytest.raises(TooLarge, match=r"'x1' are beyond 1e\+300 in size"):
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
