"""Hard cases: large and small numbers, sizes that change on the way, and sizes that are refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from poolwise import Moments, PooledRegressor
from poolwise.errors import OutOfRange
from tests.hard_cases.fitting import WITHOUT_PENALTY, all_is_told, coefficients, draw, fit
from tests.laws.problems import least_squares

# Powers of two for the shared feature, the new ones and the response; numbers are below one, and
# 2**199 is just below 1e60.
SIZES = {
    "a large feature": (199, 0, 0),
    "a large new feature": (0, 199, 0),
    "a large response": (0, 0, 199),
    "all large": (199, 190, 199),
    "a tiny feature": (-199, 0, 0),
    "a tiny response": (0, 0, -199),
    "all tiny": (-199, -190, -199),
    "large and tiny": (-199, 199, 150),
}


def sized(X, y, kind):
    shared, new, response = SIZES[kind]
    return X * 2.0 ** np.array([shared, new, new]), np.ldexp(y / 16.0, response)


class TestSizes:
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
        if gain:
            assert_allclose(model.transfer_gain_, np.ldexp(gain, 2 * response), rtol=1e-9)
        assert all_is_told(model)

    @pytest.mark.parametrize("kind", SIZES)
    @pytest.mark.parametrize("method", ["feature_transfer", "kernel_transfer"])
    def test_methods_with_penalties_answer_too(self, rows, method, precision, kind):
        X, y = sized(*rows, kind)
        model, _ = fit(method, precision, X[:20], y[:20], source=(X[20:, :1], y[20:]))
        assert all_is_told(model)
        residual = (y[:20] - model.predict(X[:20])) / np.abs(y).max()
        assert np.std(residual) < np.std(y[:20] / np.abs(y).max())

    def test_variances_scale_with_the_columns(self, rows, precision):
        X, y = rows
        usual, _ = fit("target_only", precision, X, y)
        model, kinds = fit("target_only", precision, np.ldexp(X, 199), np.ldexp(y, 199))
        assert kinds == []
        assert_allclose(model.coef_cov_, usual.coef_cov_, rtol=1e-11)
        expected = np.ldexp(usual.standard_errors_, [199, 0, 0, 0])
        assert_allclose(model.standard_errors_, expected, rtol=1e-11)
        assert_allclose(model.fit_.noise, np.ldexp(usual.fit_.noise, 398), rtol=1e-11)

    @pytest.mark.parametrize("exponent", [-240, 240])
    def test_a_column_near_the_limits_is_fitted_like_any_other(self, precision, exponent):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(30, 2))
        y = X @ [1.0, 2.0] + rng.normal(size=30)
        usual, _ = fit("bayes_pooling", precision, X, y)
        model, kinds = fit("bayes_pooling", precision, X * [1.0, 2.0**exponent], y)
        assert kinds == []
        assert_allclose(model.coef_, usual.coef_ * [1.0, 2.0**-exponent], rtol=1e-14)

    def test_a_coefficient_without_effect_may_be_what_rounding_leaves(self, rows, precision):
        X, _ = rows
        large = X * [1e74, 1.0, 1.0]
        y = 1e-20 * X[:, 1]  # what rounding leaves of the first coefficient is below 1e-105
        model, _ = fit("target_only", precision, large, y)
        assert_allclose(model.predict(large), y, rtol=1e-12, atol=1e-32)
        assert_allclose(model.coef_[1], 1e-20, rtol=1e-12)

    @pytest.mark.parametrize("precision", ["accurate", "exact"])
    def test_terms_far_larger_than_the_response_cancel(self, precision):
        rng = np.random.default_rng(0)
        a = rng.integers(-64, 64, 40) / 64.0
        b = a + rng.integers(-64, 64, 40) * 2.0**-40
        y = (b - a) * 2.0**40 / 64.0
        X, y = np.ldexp(np.column_stack((a, b)), 240), np.ldexp(y, 240)
        model, _ = fit("target_only", precision, X, y)
        assert_allclose(model.coef_, [-(2.0**34), 2.0**34], rtol=1e-9)
        assert_allclose(model.predict(X), y, rtol=1e-5, atol=1e-5 * 2.0**240)

    def test_a_prediction_that_no_double_holds_is_an_error(self, rows, precision):
        X, y = rows
        model, _ = fit("target_only", precision, X, y * 1e60)
        far = X[:3] * [[1.0], [1e290], [-1e290]]
        assert np.isfinite(model.predict(far[:1])).all()
        with pytest.raises(OutOfRange, match="predictions of 2 rows are beyond"):
            model.predict(far)

    def test_a_column_of_zeros_suits_any_size(self, rows, precision):
        X, y = rows
        tiny = np.ldexp(X, -199)
        source = np.zeros((40, 3)), y[20:]
        usual, _ = fit("mean_fill", precision, X[:20], y[:20], source=source)
        model, _ = fit("mean_fill", precision, tiny[:20], y[:20], source=source)
        assert_allclose(model.coef_, np.ldexp(usual.coef_, 199), rtol=1e-12)

    def test_one_number_of_1e75_among_usual_ones(self, rows, precision):
        X, y = rows
        X[7, 2] = 1e75
        model, _ = fit("target_only", precision, X, y)
        # The column is an indicator of the one row, up to rounding: that row says nothing else.
        rest = np.arange(60) != 7
        expected = least_squares(X[rest, :2], y[rest])
        assert_allclose(coefficients(model)[:3], expected, rtol=1e-9)
        assert_allclose(model.predict(X)[7], y[7], rtol=1e-9)

    def test_a_mean_far_beyond_the_deviations_of_a_large_column(self, precision):
        steps = np.array([0.0, 1.0, 3.0, 4.0, 7.0, 11.0])
        x = np.ldexp(1.0 + steps * 2.0**-40, 199)
        y = np.array([1.0, 2.0, 2.0, 5.0, 7.0, 8.0])
        model, _ = fit("target_only", precision, x[:, None], y)
        slope = least_squares(steps[:, None], y)
        assert_allclose(model.coef_, np.ldexp(slope[1:], 40 - 199), rtol=1e-9)
        assert_allclose(model.predict(x[:, None]), slope[0] + slope[1] * steps, rtol=1e-9)


class TestRefusedSizes:
    """The largest number of a column counts, regardless of its sign."""

    @pytest.mark.parametrize("value", [1.1e75, -1.7e308])
    def test_columns_beyond_1e75_are_refused(self, rows, method, precision, value):
        X, y = rows
        source = X[20:, :2], y[20:]
        message = r"largest numbers of 'y' are above 1e\+75 or below 1e-75.*power of ten"
        with pytest.raises(OutOfRange, match=message):
            fit(method, precision, X[:20], np.r_[y[:19], value], source=source)
        X[3, 1] = value
        with pytest.raises(OutOfRange, match="largest numbers of 'x1' are"):
            fit(method, precision, X[:20], y[:20], source=source)

    @pytest.mark.parametrize("unit", [0.9e-75, 5e-324])
    def test_columns_below_1e_75_are_refused(self, rows, precision, unit):
        X, y = rows
        X[:, 1] = np.sign(X[:, 1]) * unit
        X[:, 2] *= 1e80
        with pytest.raises(OutOfRange, match="largest numbers of 'x1', 'x2' are"):
            fit("target_only", precision, X, y)

    def test_small_numbers_beside_a_larger_one_are_not(self, rows, precision):
        X, y = rows
        X[5:, 1] = [0.0, 5e-324, 1e-300, 1e-80, 1e-70] * 11
        model, _ = fit("target_only", precision, X, y)
        small = np.where(np.abs(X) < 1e-60, 0.0, X)
        expected, _ = fit("target_only", precision, small, y)
        assert_allclose(model.coef_, expected.coef_, rtol=1e-12)

    @pytest.mark.parametrize("size", [1e-72, 1e72])
    def test_sizes_just_within_the_limits_are_fitted(self, rows, method, precision, size):
        X, y = rows[0] * size, rows[1] * size
        model, _ = fit(method, precision, X[:20], y[:20], source=(X[20:, :2], y[20:]))
        assert all_is_told(model)


class TestLongTables:
    """Sizes that change after the first rows, which are read as one chunk."""

    @pytest.mark.parametrize("first", [-199, 0, 199])
    @pytest.mark.parametrize("then", [-199, 0, 199])
    def test_units_may_change_on_the_way(self, precision, first, then):
        X, y, scaled = changing(first, then)
        model, _ = fit("target_only", precision, X, y)
        expected = least_squares(scaled, y)
        top = max(first, then)
        assert_allclose(np.ldexp(model.coef_, [top, 0]), expected[1:], rtol=1e-9)
        assert_allclose(model.intercept_, expected[0], rtol=1e-9, atol=1e-9)

    @pytest.mark.parametrize("exponent", [-199, 199])
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

    @pytest.mark.parametrize("exponent", [-199, 199])
    def test_moments_of_parts_add_up(self, precision, exponent):
        X, y = draw(60)
        X[:20, 0] = 0.0
        table = np.column_stack((np.ldexp(X, exponent), y))
        names = ("a", "b", "c", "y")
        parts = [Moments.of_rows(names, part, precision=precision) for part in np.split(table, 3)]
        model = PooledRegressor("target_only").fit_moments(parts[0] + (parts[1] + parts[2]))
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
