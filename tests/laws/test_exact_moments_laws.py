"""Exact moments have the same bits, however rows are cut, merged, weighed and mapped."""

import pickle
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

from poolwise import Moments
from poolwise.numerics.chunks import CHUNK
from tests.numbered_columns import names_of, read

lawful = settings(deadline=None, max_examples=30)


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
    ):
        assert_array_equal(left, right)


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

    @pytest.mark.parametrize("scale", [1.0, 1e-60, 1e60])
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
