"""Hard cases: weights of all sizes, and arrays of all types and layouts."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from poolwise.errors import BadWeights, NoiseNotEstimable, NotNumeric, RankDeficient
from tests.hard_cases.fitting import all_is_told, fit, split
from tests.laws.exact import exact_least_squares


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
        assert (NoiseNotEstimable in kinds) == (weight < 1.0)
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
        with pytest.raises(NotNumeric, match=r"more than the 53 bits of a double"):
            fit("target_only", precision, kind(held + 1), y)
        with pytest.raises(NotNumeric, match=r"'y' has \d+ integers"):
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
