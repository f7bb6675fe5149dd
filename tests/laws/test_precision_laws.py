"""What each precision promises: every verb keeps it, and exact has the same bits everywhere."""

import pickle
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

from poolwise import METHODS, Moments, PooledRegressor
from poolwise.chunks import CHUNK
from poolwise.errors import ConstantFeatures
from tests.laws.problems import KINDS, tables_of
from tests.numbered_columns import names_of, read

lawful = settings(deadline=None, max_examples=30)
NEEDS_ROWS = {"kernel_transfer"}
ROUNDED_ERRORS = {"mean_fill"}  # its variance adds up sources in doubles, in their order
POORER = {"fast": 0, "accurate": 1, "exact": 2}


@pytest.fixture(params=POORER)
def precision(request):
    return request.param


@pytest.fixture(params=sorted(METHODS.keys() - NEEDS_ROWS))
def method(request):
    return request.param


@st.composite
def tables(draw, columns=3, max_rows=30):
    """Rows about a mean of up to 1e8, each column on a scale of its own, half of them weighted."""
    n = draw(st.integers(1, max_rows))
    units = draw(hnp.arrays(np.float64, (n, columns), elements=st.floats(-1, 1, width=32)))
    means = hnp.arrays(np.float64, columns, elements=st.sampled_from([0.0, -3.5, 1e8, 0.1]))
    scales = 10.0 ** draw(hnp.arrays(np.int64, columns, elements=st.integers(-9, 9)))
    weight = st.sampled_from([0.0, 1.0, 0.3, 1e-20, 7e19])
    weights = draw(hnp.arrays(np.float64, n, elements=weight))
    weights[0] = 1.0  # nothing at all is exact without sums
    return draw(means) + scales * units, weights if draw(st.booleans()) else None


def part(table, index):
    rows, weights = table
    return rows[index], None if weights is None else weights[index]


def merged(parts, draw):
    """Add moments two at a time, any two, until one is left."""
    parts = list(parts)
    while len(parts) > 1:
        a = parts.pop(draw(st.integers(0, len(parts) - 1)))
        b = parts.pop(draw(st.integers(0, len(parts) - 1)))
        parts.append(a + b)
    return parts[0]


def pieces(rows, draw):
    """Cut rows, in any order, into pieces of any size."""
    order = np.array(draw(st.permutations(range(rows))))
    cuts = sorted(draw(st.lists(st.integers(0, rows), max_size=6)))
    return np.split(order, cuts)


def assert_same_bits(a, b, *, rows=True):
    """Compare all that is read off, but not the range of mapped columns, which is a bound."""
    assert (a.names, a.precision, b.precision) == (b.names, "exact", "exact")
    assert (a.weight, a.weight_tail) == (b.weight, b.weight_tail)
    assert a.rows == b.rows or not rows
    for left, right in (
        (a.mean, b.mean),
        (a.mean_tail, b.mean_tail),
        (a.scatter.pair.high, b.scatter.pair.high),
        (a.scatter.pair.low, b.scatter.pair.low),
        (a.units, b.units),
    ):
        assert_array_equal(left, right)


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

    @pytest.mark.parametrize("scale", [1e-300, 1e290])
    def test_other_units_keep_it(self, precision, scale):
        moments = read(np.random.default_rng(2).normal(size=(9, 2)) * [1.0, scale], None, precision)
        assert moments.units.any()
        assert moments.rescaled(moments.units).precision == precision
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


class TestExactMomentsHaveTheSameBits:
    @lawful
    @given(tables(), st.data())
    def test_for_any_order_of_rows_and_any_blocks(self, table, data):
        blocks = [((z,), w) for z, w in (part(table, i) for i in pieces(len(table[0]), data.draw))]
        names = names_of(table[0])
        assert_same_bits(Moments.of_blocks(names, blocks, precision="exact"), read(*table))

    @lawful
    @given(tables(), st.data())
    def test_for_any_cut_and_any_tree_of_merging(self, table, data):
        found = [read(*part(table, i)) for i in pieces(len(table[0]), data.draw)]
        assert_same_bits(merged(found, data.draw), read(*table))

    @lawful
    @given(tables(), st.data())
    def test_for_any_cut_and_one_total(self, table, data):
        found = [read(*part(table, i)) for i in pieces(len(table[0]), data.draw)]
        total = Moments.total(names_of(table[0]), found)
        assert_same_bits(total, read(*table))
        by_pairs = merged(found, data.draw)
        assert_array_equal(total.sums.gram, by_pairs.sums.gram)
        assert_array_equal(total.sums.units, by_pairs.sums.units)

    @lawful
    @given(tables(), st.data())
    def test_for_merging_with_a_mail_in_between(self, table, data):
        total = Moments.empty(names_of(table[0]))
        for index in pieces(len(table[0]), data.draw):
            sent = pickle.dumps(read(*part(table, index)))
            total = pickle.loads(pickle.dumps(total)) + pickle.loads(sent)
        assert_same_bits(total, read(*table))

    @lawful
    @given(tables(), st.data(), st.sampled_from([0.3, 7.0, 1e-50, 1e30]))
    def test_for_weighing_before_and_after_adding(self, table, data, factor):
        found = [read(*part(table, i)) for i in pieces(len(table[0]), data.draw)]
        weighed = [factor * moments for moments in found]
        assert_same_bits(merged(weighed, data.draw), factor * merged(found, data.draw))

    @lawful
    @given(tables(), st.sampled_from([0.5, 4.0, 3.0, 2.0**-40]))
    def test_for_weighing_rows_or_moments(self, table, factor):
        rows, weights = table
        if weights is None or set(weights) <= {0.0, 1.0}:  # products of weights are not rounded
            all_weights = np.ones(len(rows)) if weights is None else weights
            assert_same_bits(factor * read(*table), read(rows, factor * all_weights))

    @lawful
    @given(tables(), st.data())
    def test_for_weights_and_repeated_rows(self, table, data):
        rows, _ = table
        times = data.draw(hnp.arrays(np.int64, len(rows), elements=st.integers(0, 4)))
        times[0] = 1
        repeated = read(np.repeat(rows, times, axis=0))
        assert_same_bits(read(rows, times.astype(float)), repeated, rows=False)

    @lawful
    @given(tables(), st.data())
    def test_for_mapping_before_and_after_adding(self, table, data):
        number = st.floats(-9, 9, width=32)
        matrix = data.draw(hnp.arrays(np.float64, (2, 3), elements=number))
        shift = data.draw(hnp.arrays(np.float64, 2, elements=number))
        found = [read(*part(table, i)) for i in pieces(len(table[0]), data.draw)]
        mapped = [moments.affine(["u", "v"], matrix, shift) for moments in found]
        together = merged(found, data.draw).affine(["u", "v"], matrix, shift)
        assert_same_bits(merged(mapped, data.draw), together)

    @lawful
    @given(tables(), st.data())
    def test_for_filling_and_selecting_before_and_after_adding(self, table, data):
        def changed(moments):
            wide = moments.widened(["c2", "new", "c0"], {"new": 0.1}, {"new": 3e-19})
            return wide.fill({"one": 1.0}).select(["new", "c0", "one"])

        found = [read(*part(table, i)) for i in pieces(len(table[0]), data.draw)]
        there = [moments for moments in found if moments.weight]
        if there:
            once = changed(merged(there, data.draw))
            assert_same_bits(merged(map(changed, there), data.draw), once)

    @pytest.mark.parametrize("scale", [1.0, 1e-310, 1e290])
    def test_over_several_chunks(self, scale):
        rng = np.random.default_rng(0)
        rows = rng.normal(size=(3 * CHUNK + 5, 3)) * [scale, 1e9, 1.0] + [0.0, 0.0, 1e8]
        weights = 10.0 ** rng.uniform(-20, 20, len(rows))
        weights[::7] = 0.0
        for table in ((rows, None), (rows, weights)):
            whole = read(*table)
            order = rng.permutation(len(rows))
            assert_same_bits(read(*part(table, order)), whole)
            for count in (2, 9):
                at = np.array_split(order, count)
                blocks = [((z,), w) for z, w in (part(table, i) for i in at)]
                names = names_of(rows)
                assert_same_bits(Moments.of_blocks(names, blocks, precision="exact"), whole)
                found = [read(*part(table, i)) for i in at]
                assert_same_bits(sum(found[::-1], start=Moments.empty(names)), whole)
                assert_same_bits(Moments.total(names, found), whole)

    @pytest.mark.slow
    def test_with_two_workers_that_finish_in_any_order(self):
        rng = np.random.default_rng(1)
        rows = rng.normal(size=(3 * CHUNK, 4)) * [1.0, 1e-9, 1e9, 1.0] + [0.0, 0.0, 0.0, 1e8]
        weights = rng.uniform(0.1, 9.0, len(rows))
        cuts = np.sort(rng.integers(0, len(rows), 11))
        total = Moments.empty(names_of(rows))
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as workers:
            jobs = [
                workers.submit(Moments.of_rows, total.names, z, w, precision="exact")
                for z, w in zip(np.split(rows, cuts), np.split(weights, cuts), strict=True)
            ]
            for job in as_completed(jobs):
                total += job.result()
        assert_same_bits(total, read(rows, weights))


@pytest.mark.filterwarnings("ignore::poolwise.errors.TransferWarning")
@pytest.mark.parametrize(
    ("kind", "intercept"), [*((kind, True) for kind in KINDS), ("nested sources", False)]
)
class TestExactFitsHaveTheSameBits:
    def fitted(self, method, intercept, tables, names=None):
        t = tables.target
        names = names or list(tables.sources)
        sources = {n: (s.frame, s.y, s.weights) for n in names for s in [tables.sources[n]]}
        model = PooledRegressor(method, precision="exact", fit_intercept=intercept)
        return model.fit(t.frame, t.y, sources=sources, sample_weight=t.weights)

    def test_for_any_order_of_rows_and_sources(self, method, kind, intercept):
        tables, rng = tables_of(kind, seed=5), np.random.default_rng(0)
        first = self.fitted(method, intercept, tables)
        shuffled = tables.each(lambda table: table.take(rng.permutation(len(table.y))))
        order = list(tables.sources)[::-1]
        assert_same_model(self.fitted(method, intercept, shuffled, order), first)

    def test_for_moments_cut_and_merged_in_any_order(self, method, kind, intercept):
        tables, rng = tables_of(kind, seed=6), np.random.default_rng(1)

        def cut(table):
            index = np.array_split(rng.permutation(len(table.y)), 5)
            parts = [
                Moments.of_rows(
                    (*table.names, "y"),
                    np.column_stack((table.X, table.y))[i],
                    None if table.weights is None else table.weights[i],
                    precision="exact",
                )
                for i in index
            ]
            return (parts[3] + (parts[0] + parts[4])) + (parts[2] + parts[1])

        sources = {n: cut(tables.sources[n]) for n in rng.permutation(list(tables.sources))}
        model = PooledRegressor(method, precision="exact", fit_intercept=intercept)
        model.fit_moments(cut(tables.target), sources)
        assert_same_model(model, self.fitted(method, intercept, tables))


def assert_same_model(a, b):
    """Compare coefficients, intercept, noise and, but for an exception, standard errors."""
    assert_array_equal(a.coef_, b.coef_)
    assert a.intercept_ == b.intercept_
    assert a.fit_.noise == b.fit_.noise
    assert (a.standard_errors_ is None) == (b.standard_errors_ is None)
    if b.standard_errors_ is not None and b.method not in ROUNDED_ERRORS:
        assert_array_equal(a.standard_errors_, b.standard_errors_)


def test_constant_columns_beside_exact_ones_cost_no_digit():
    rng = np.random.default_rng(0)
    a = rng.integers(1, 10, 60) * 10.0**11
    rows = np.column_stack((a, a + rng.integers(-3, 4, 60), rng.integers(-9, 10, 60)))
    moments = Moments.of_rows(["a", "b", "y"], rows, precision="exact")
    alone = PooledRegressor("target_only").fit_moments(moments)
    with pytest.warns(ConstantFeatures, match="'c'"):
        beside = PooledRegressor("target_only").fit_moments(moments.fill({"c": 1.0}))
    assert beside.coef_[:2].tobytes() == alone.coef_.tobytes()
