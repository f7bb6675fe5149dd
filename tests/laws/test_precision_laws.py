"""What each precision promises: every verb keeps it, and costs no digits."""

import pickle

import numpy as np
import pytest

from poolwise import Moments
from tests.numbered_columns import read

POORER = {"fast": 0, "accurate": 1, "exact": 2}


@pytest.fixture(params=POORER)
def precision(request):
    return request.param


class TestEveryVerbKeepsThePrecision:
    @pytest.fixture
    def moments(self, precision):
        return read(np.random.default_rng(0).normal(size=(20, 3)) + 5.0, None, precision)

    def test_adding_keeps_it(self, moments, precision):
        assert (moments + moments).precision == precision
        nothing = Moments.empty(moments.names)
        assert (nothing + moments).precision == (moments + nothing).precision == precision

    @pytest.mark.parametrize("other", POORER)
    def test_a_sum_has_that_of_the_poorer_table(self, moments, precision, other):
        both = moments + read(np.ones((3, 3)), None, other)
        assert both.precision == min(precision, other, key=POORER.__getitem__)

    def test_a_total_keeps_it(self, moments, precision):
        assert Moments.total(moments.names, 3 * [moments]).precision == precision

    @pytest.mark.parametrize("factor", [1.0, 0.3, 1e-50, 8.0])
    def test_weighing_keeps_it(self, moments, precision, factor):
        assert (factor * moments).precision == precision

    @pytest.mark.parametrize("rows", [1, 3, 30])
    def test_mapping_keeps_it(self, moments, precision, rows):
        names = [f"new {j}" for j in range(rows)]
        matrix = np.random.default_rng(1).normal(size=(rows, 3))
        assert moments.affine(names, matrix, np.ones(rows)).precision == precision

    def test_selecting_and_filling_keep_it(self, moments, precision):
        assert moments.select(["c2", "c0"]).precision == precision
        assert moments.fill({"new": 0.1}).precision == precision
        wide = moments.widened(["new", "c1", "c0"], {"new": 0.1}, {"new": 1e-20})
        assert wide.precision == precision

    def test_a_copy_keeps_it(self, moments, precision):
        assert pickle.loads(pickle.dumps(moments)).precision == precision

    @pytest.mark.parametrize("scale", [1e-60, 1e60])
    def test_large_and_small_columns_keep_it(self, precision, scale):
        moments = read(np.random.default_rng(2).normal(size=(9, 2)) * [1.0, scale], None, precision)
        assert (0.3 * (moments + moments)).select(["c1"]).precision == precision

    def test_blocks_are_read_as_asked(self, precision):
        blocks = [((np.ones((5, 1)),), None), ((np.zeros((5, 1)),), None)]
        assert Moments.of_blocks(["a"], blocks, precision=precision).precision == precision

    @pytest.mark.parametrize(
        ("columns", "apart"),
        [
            (4, 1e9),
            (4, 1e18),
            (20, 1e9),
            (20, 1e18),
        ],
    )
    def test_reordering_by_a_map_costs_no_digits(self, columns, apart):
        scale = np.geomspace(1.0 / apart**0.5, apart**0.5, columns)
        rows = np.random.default_rng(4).normal(size=(60, columns)) * scale
        moments = read(rows, None, "accurate")
        back = moments.names[::-1]
        mapped = moments.affine(back, np.eye(columns)[::-1], np.zeros(columns))
        size = np.sqrt(mapped.scatter.diagonal())
        gap = (mapped.scatter.pair - moments.select(back).scatter.pair).high
        assert (np.abs(gap) <= 1e-29 * np.outer(size, size)).all()

    def test_verbs_do_not_cost_digits(self, precision):
        # Two ways to the same moments: within two units of the last place that is kept.
        rng = np.random.default_rng(3)
        rows = np.round(2**20 * rng.normal(size=(50, 3))) / 2**20
        matrix = rng.integers(-9, 10, (3, 3)).astype(float)
        a, b = read(rows[:20], None, precision), read(rows[20:], None, precision)
        names = list("uvw")
        one = (0.5 * (a + b)).affine(names, matrix, np.arange(3.0)).select(["w", "u"])
        other = Moments.of_rows(
            ["w", "u"],
            (rows @ matrix.T + np.arange(3.0))[:, [2, 0]],
            np.full(50, 0.5),
            precision=precision,
        )
        size = np.sqrt(one.scatter.diagonal())
        last = {"fast": 1e-15, "accurate": 1e-28, "exact": 0.0}[precision]
        gap = (one.scatter.pair - other.scatter.pair).high
        assert (np.abs(gap) <= 8 * last * np.outer(size, size)).all()
        gap = (one.mean_pair - other.mean_pair).high
        assert (np.abs(gap) <= 8 * last * size).all()
