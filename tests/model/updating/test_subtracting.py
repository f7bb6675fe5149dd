"""Moments from which rows are taken away are those of the rows that are left."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from poolwise import Moments
from poolwise.errors import BadColumns, CannotSubtract
from poolwise.linear.regress import regress
from tests.laws.tables import several
from tests.model.updating.rows import NAMES, PRECISIONS, W, X, Y
from tests.moments.stored_moments import assert_same_bits, bits


class TestMoments:
    """Rows of moments that are taken away."""

    @settings(deadline=None, max_examples=60)
    @given(several(2))
    def test_exact_moments_come_back_to_the_bit(self, parts):
        names = [f"c{j}" for j in range(parts[0].shape[1])]
        a, b = (Moments.of_rows(names, part, precision="exact") for part in parts)
        left = (a + b) - b
        assert left.rows == a.rows
        assert (left.low <= a.low).all()
        assert (left.high >= a.high).all()
        again, same = (Moments._of_sums(names, a.rows, m.sums, a.low, a.high) for m in (left, a))
        for pair, expected in (
            (again.weight_pair, same.weight_pair),
            (again.mean_pair, same.mean_pair),
        ):
            assert bits(pair.high) == bits(expected.high)
            assert bits(pair.low) == bits(expected.low)
        assert bits(again.scatter.pair.high) == bits(same.scatter.pair.high)
        assert bits(again.scatter.pair.low) == bits(same.scatter.pair.low)

    @settings(deadline=None, max_examples=60)
    @given(several(2), st.sampled_from(["fast", "accurate"]))
    def test_other_moments_come_back_up_to_rounding(self, parts, precision):
        names = [f"c{j}" for j in range(parts[0].shape[1])]
        a, b = (Moments.of_rows(names, part, precision=precision) for part in parts)
        left, share = (a + b) - b, {"fast": 1e-12, "accurate": 1e-24}[precision]
        # The errors are shares of the sums, which the rows taken away may have made large.
        room = share * (a + b).scatter.diagonal() + 1e-24 * (a + b).weight * a.mean**2
        gone = np.abs((left.scatter - a.scatter).pair.high.diagonal())
        assert (gone <= room * (a + b).weight).all()
        assert (left.scatter.diagonal() >= 0.0).all()

    @pytest.mark.parametrize("precision", PRECISIONS)
    def test_what_is_left_can_be_saved_and_loaded_however_little_it_is(self, precision, tmp_path):
        path = tmp_path / "left.moments.json"
        for seed in range(60):
            rng = np.random.default_rng(seed)
            columns, kept = int(rng.integers(1, 5)), int(rng.integers(1, 4))
            rows = rng.normal(size=(30, columns)) + 10.0 ** rng.uniform(0.0, 8.0)
            w, names = 10.0 ** rng.uniform(-2.0, 2.0, size=30), NAMES[:columns]
            a = Moments.of_rows(names, rows[:kept], w[:kept], precision=precision)
            b = Moments.of_rows(names, rows[kept:], w[kept:], precision=precision)
            left = (a + b) - b
            left.save(path, overwrite=True)
            assert_same_bits(Moments.load(path), left)
            # Rounding errors are shares of the sums over all rows, and of their means, up to 1e8.
            room = {"fast": 1e-12, "accurate": 1e-20, "exact": 0.0}[precision]
            unit = np.sqrt((a + b).scatter.diagonal())
            gone = np.abs((left.scatter - a.scatter).pair.high)
            assert (gone <= room * np.outer(unit, unit)).all()

    @pytest.mark.parametrize("precision", PRECISIONS)
    def test_all_rows_taken_away_leave_nothing(self, precision):
        a = Moments.of_rows(["a", "b"], X[:, :2], W, precision=precision)
        assert_same_bits(a - a, Moments.empty(["a", "b"]))
        assert_same_bits(a - Moments.empty(["a", "b"]), a)
        nothing = Moments.empty(["a"])
        assert_same_bits(nothing - nothing, nothing)
        with pytest.raises(CannotSubtract):
            nothing - a.select(["a"])

    def test_weight_without_rows_is_refused(self):
        a = Moments.of_rows(["a", "b"], X[:, :2])
        with pytest.raises(CannotSubtract, match="400 rows of weight 200, to be taken from 400"):
            a - 0.5 * a

    def test_other_columns_are_refused(self):
        a = Moments.of_rows(["a", "b"], X[:, :2])
        with pytest.raises(BadColumns, match="Cannot subtract moments over different columns"):
            a - a.select(["a"])

    def test_columns_of_other_sizes_are_refused_without_an_overflow(self):
        a = Moments.of_rows(["a"], X[:, :1])
        with pytest.raises(CannotSubtract):
            a - Moments.of_rows(["a"], X[:10, :1] * 1e70)
        with pytest.raises(CannotSubtract):
            Moments.of_rows(["a"], X[:, :1] * 1e-70) - Moments.of_rows(["a"], X[:10, :1] * 1e70)

    @pytest.mark.parametrize("precision", PRECISIONS)
    def test_leaving_one_fold_out_is_adding_the_others(self, precision):
        rows = np.column_stack((X, Y))
        folds = [Moments.of_rows(NAMES, rows[k::5], precision=precision) for k in range(5)]
        total = sum(folds, start=Moments.empty(NAMES))
        for k in range(5):
            others = (f for j, f in enumerate(folds) if j != k)
            known = regress(sum(others, start=Moments.empty(NAMES)), "y")
            found = regress(total - folds[k], "y")
            # A few hundred rows, of columns well apart.
            assert_allclose(found.coef, known.coef, rtol=1e-12)
            assert precision != "exact" or bits(found.coef) == bits(known.coef)
