"""Hard cases: columns that are constant or depend on each other, few rows, exact fits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from poolwise import PooledRegressor
from poolwise.errors import (
    DataWarning,
    LeftOut,
    NoiseNotEstimable,
    RankDeficient,
    TooFewRows,
)
from tests.hard_cases.fitting import SHRINKS, TRUTH, all_is_told, coefficients, fit, split
from tests.laws.exact import exact_least_squares
from tests.laws.problems import least_squares


class TestConstantColumns:
    @pytest.mark.parametrize("value", [0.0, 0.1, 1e8 + 0.1, -1e60, 1e-60])
    def test_they_get_coefficient_zero_and_change_nothing(self, rows, method, precision, value):
        X, y = rows
        (X_t, y_t), source = split(X, y, 2)
        expected, _ = fit(method, precision, X_t, y_t, source=source)
        wide = np.column_stack((X_t, np.full(20, value)))
        model, kinds = fit(method, precision, wide, y_t, source=source)
        assert DataWarning in kinds
        assert model.coef_[3] == 0.0
        assert_allclose(model.coef_[:3], expected.coef_, rtol=1e-9)
        assert_allclose(model.predict(wide), expected.predict(X_t), rtol=1e-9)
        assert all_is_told(model)

    def test_they_are_named(self, rows):
        X, y = rows
        X[:, 1] = 7.0
        with pytest.warns(DataWarning, match=r"One value in every row: 'x1'"):
            model = PooledRegressor("target_only").fit(X, y)
        assert model.summary().coefficients[1].note == "constant in the target"

    @pytest.mark.parametrize("value", [1.0, 1e-60, 1e60])
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
        message = r"In the target, the columns 'x1', 'x3' are linearly dependent"
        with pytest.warns(RankDeficient, match=message):
            PooledRegressor("target_only", precision=precision).fit(wide, y)

    @pytest.mark.parametrize("centre", [0.0, 1e3, 1e8])
    @pytest.mark.parametrize("unit", [1e-60, 1.0, 1e60])
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
        assert NoiseNotEstimable in kinds
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
            with pytest.raises(TooFewRows, match=rf"at least 5 recent rows here; there are {n}"):
                fit(method, precision, X[:n], y[:n], source=source)
            return
        model, kinds = fit(method, precision, X[:n], y[:n], source=source)
        assert (NoiseNotEstimable in kinds) == (n < 5)
        assert all_is_told(model)
        if method in ("data_pooling", "mean_fill"):
            assert_allclose(coefficients(model), pooled(model, X[:n], y[:n], *source), rtol=1e-8)

    def test_no_rows_of_history_change_nothing(self, rows, method, precision):
        X, y = rows
        alone, _ = fit(method if method in SHRINKS else "target_only", precision, X, y)
        model, kinds = fit(method, precision, X, y, source=(X[:0, :2], y[:0]))
        assert kinds == [LeftOut]
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
            assert kinds == [LeftOut]
        if method in ("data_pooling", "mean_fill"):
            assert_allclose(coefficients(model), pooled(model, X[:20], y[:20], *source), rtol=1e-9)

    def test_the_message_for_a_single_row_of_history(self, rows):
        X, y = rows
        message = "The noise of table 'source' cannot be estimated: 1 row for 3 coefficients"
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


class TestExactFits:
    def test_an_all_zero_response_is_predicted_as_zero(self, rows, method, precision):
        X, _ = rows
        model, kinds = fit(method, precision, X[:20], np.zeros(20), source=(X[20:], np.zeros(40)))
        assert kinds.count(DataWarning) == 2
        assert_array_equal(model.coef_, np.zeros(3))
        assert model.intercept_ == 0.0
        assert_array_equal(model.predict(X), np.zeros(60))
        assert all_is_told(model)

    def test_the_message_for_an_all_zero_response(self, rows):
        X, _ = rows
        with pytest.warns(DataWarning, match="The response is 0 in every row of the target"):
            PooledRegressor().fit(X, np.zeros(60))

    @pytest.mark.parametrize("unit", [1e-60, 1.0, 1e60])
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
