"""Exact moments: rounded once, when they are read off, or refused; never a wrong bit."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

import poolwise.numerics.exact_sums as module
from poolwise import Moments
from poolwise.numerics.chunks import CHUNK
from poolwise.numerics.double_double import Pair
from poolwise.numerics.exact_sums import ExactSums, nearest
from tests.laws.exact import exact_moments_of_many
from tests.moments.stored_moments import assert_same_bits
from tests.numbered_columns import names_of, read

lawful = settings(deadline=None, max_examples=60)


def read_blocks(parts):
    blocks = [((rows,), weights) for rows, weights in parts]
    return Moments.of_blocks(names_of(parts[0][0]), blocks, precision="exact")


def nearest_pair(value):
    high = float(value)
    return high, float(value - Fraction(high))


def assert_rounded_once(moments, rows, weights=None):
    """Compare both parts of every number with what a fraction rounds to."""
    exact = exact_moments_of_many(rows, weights)
    assert moments.precision == "exact"
    assert (moments.weight, moments.weight_tail) == nearest_pair(exact.weight)
    S = moments.scatter.pair
    for j, mean in enumerate(exact.mean):
        assert (moments.mean[j], moments.mean_tail[j]) == nearest_pair(mean)
        for k, value in enumerate(exact.scatter[j]):
            held = S.high[j, k], S.low[j, k]
            assert held == nearest_pair(value)


@st.composite
def tables(draw):
    """Rows of any size, with or without weights of any size."""
    n, p = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    z = draw(hnp.arrays(np.float64, (n, p), elements=st.floats(-1e9, 1e9, width=32)))
    scales = 10.0 ** draw(hnp.arrays(np.int64, p, elements=st.integers(-9, 9)))
    z = z * scales + draw(st.sampled_from([0.0, 1e8, -0.1]))
    if draw(st.booleans()):
        return z, None
    exponents = st.sampled_from([-20.0, -3.0, 0.0, 0.1, 2.0, 20.0])
    w = 10.0 ** draw(hnp.arrays(np.float64, n, elements=exponents))
    w[1:] *= draw(hnp.arrays(np.float64, n, elements=st.sampled_from([0.0, 1.0, 0.3])))[1:]
    return z, w


class TestRounding:
    @lawful
    @given(tables())
    def test_every_number_is_rounded_once(self, table):
        assert_rounded_once(read(*table), *table)

    @pytest.mark.parametrize("mean", [0.0, 1e8])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_several_chunks_are_rounded_once(self, mean, weighted):
        rng = np.random.default_rng(0)
        z = mean + rng.normal(size=(2 * CHUNK + 17, 3)) * [1e-9, 1.0, 1e9]
        w = 10.0 ** rng.uniform(-20, 20, len(z)) if weighted else None
        assert_rounded_once(read(z, w), z, w)

    @pytest.mark.parametrize("factor", [1e9, 1e-9, 1e60])
    def test_rows_and_weights_that_grow_between_chunks_are_rounded_once(self, factor):
        rng = np.random.default_rng(1)
        z, w = rng.normal(size=(2 * CHUNK + 17, 2)), rng.uniform(0.1, 2.0, 2 * CHUNK + 17)
        z[CHUNK:] *= factor
        w[2 * CHUNK :] *= factor
        assert_rounded_once(read(z, w), z, w)
        assert_rounded_once(read(z), z)

    def test_one_far_row_is_no_matter(self):
        z = 1e8 + np.random.default_rng(2).normal(size=(CHUNK + 9, 2))
        z[5, 0], z[-1, 1] = 1e-9, -1e14
        w = np.ones(len(z))
        w[5] = 1e-30
        assert_rounded_once(read(z), z)
        assert_rounded_once(read(z, w), z, w)

    @pytest.mark.parametrize("scale", [1e70, 1e60, 1e-60, 1e-70])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_large_and_small_numbers_are_rounded_once(self, scale, weighted):
        rng = np.random.default_rng(3)
        z = np.round(64 * np.clip(rng.normal(size=(40, 2)), -9, 9)) * [scale / 64, 1.0]
        w = 10.0 ** rng.uniform(-9, 9, 40) if weighted else None
        moments = read(z, w)
        assert_rounded_once(moments, z, w)

    def test_sums_of_many_chunks_are_moved_in_time(self, monkeypatch):
        rng = np.random.default_rng(4)
        z = rng.normal(size=(300, 2)) + 1e3
        whole = read(z)
        monkeypatch.setattr(module, "ROOM", 3)
        parts = [(part, None) for part in np.array_split(z, 20)]
        assert_same_bits(read_blocks(parts), whole)

    def test_two_million_rows_of_the_largest_numbers_have_room(self):
        # The first row sets a unit that the others just fit in: sums of 2**53 a chunk.
        first, other, count = 0.25, 1.0 - 2.0**-21, 1200
        chunk = np.full((CHUNK, 1), other)
        blocks = [((np.full((1, 1), first),), None), *([((chunk,), None)] * count)]
        moments = Moments.of_blocks(["c0"], blocks, precision="exact")
        n, a, b = count * CHUNK, Fraction(first), Fraction(other)
        assert moments.weight == n + 1
        assert (moments.mean[0], moments.mean_tail[0]) == nearest_pair((a + n * b) / (n + 1))
        S = moments.scatter.pair
        assert (S.high[0, 0], S.low[0, 0]) == nearest_pair((a - b) ** 2 * n / (n + 1))

    @pytest.mark.parametrize("value", [0.1, 1e8 + 1 / 3, -7e70, 5e-70])
    def test_a_constant_column_has_exactly_no_scatter(self, value):
        z = np.random.default_rng(5).normal(size=(30, 2))
        z[:, 0] = value
        moments = read(z, np.random.default_rng(6).uniform(0.1, 3.0, 30))
        assert not moments.scatter.pair.high[0].any()
        assert moments.mean_of("c0") == value


class TestFarApart:
    """Numbers of one column, or weights, of any sizes: no bit is lost, however rows are cut."""

    @pytest.mark.parametrize("top", [0, 240, -240])
    def test_all_chunkings_agree(self, top):
        for span in [0, 60, 200, 300, 390, 450, 600, 700, 800, 1000, 1300, 1900]:
            if top - span < -1074:
                continue
            least = np.ldexp(1.1, top - span)
            rows = np.array([[np.ldexp(1.3, top)], [least], [3.0 * least], [-np.ldexp(1.0, top)]])
            orders = [[0, 1, 2, 3], [1, 2, 0, 3], [2, 3, 1, 0]]
            found = [read_blocks([(rows[i], None)]) for i in orders]
            found += [read_blocks([(rows[[k]], None) for k in i]) for i in orders]
            if top - span > -240:  # else rows by themselves are refused
                found.append(sum((read(rows[[k]]) for k in range(4)), start=Moments.empty(["c0"])))
            for moments in found:
                assert_rounded_once(moments, rows)

    def test_a_long_table_whose_sizes_alternate(self):
        rng = np.random.default_rng(5)
        rows = rng.normal(size=(60, 2)) * np.where(np.arange(60)[:, None] % 2, 1e-70, 1e70)
        assert_rounded_once(read(rows), rows)
        assert_same_bits(read(rows[::-1]), read(rows))
        assert_same_bits(read(rows[1::2]) + read(rows[::2]), read(rows))

    @pytest.mark.parametrize("span", range(100, 640, 60))
    def test_weights_that_are_far_apart(self, span):
        rng = np.random.default_rng(span)
        rows = rng.normal(size=(6, 2))
        weights = rng.uniform(1.0, 2.0, 6)
        weights[3:] *= 2.0**-span if span < 320 else 2.0 ** -(span // 2)
        weights[:3] *= 1.0 if span < 320 else 2.0 ** (span // 2)
        moments = read(rows, weights)
        assert_rounded_once(moments, rows, weights)
        assert_same_bits(
            read_blocks([(rows[[k]], weights[[k]]) for k in (5, 0, 3, 1, 4, 2)]), moments
        )


class TestSums:
    """The integers themselves, against fractions."""

    def exact_gram(self, sums):
        unit = np.array([Fraction(2) ** int(u) for u in sums.units], dtype=object)
        return sums.gram * np.outer(unit, unit)

    def gram_of(self, rows, weights):
        z = np.array([[*map(Fraction, row), Fraction(1)] for row in rows.tolist()], dtype=object)
        w = np.array([Fraction(v) for v in weights.tolist()], dtype=object)
        return (z * w[:, None]).T.dot(z)

    @pytest.fixture
    def table(self):
        rng = np.random.default_rng(8)
        return rng.normal(size=(9, 2)) * [1e-9, 1e12], 10.0 ** rng.uniform(-9, 9, 9)

    def test_they_are_those_of_the_rows(self, table):
        assert_array_equal(self.exact_gram(read(*table).sums), self.gram_of(*table))

    def test_adding_and_weighing_round_nothing(self, table):
        (rows, weights), a = table, read(*table).sums
        b = read(1e30 * rows, weights).sums
        both = self.exact_gram(a + b.weighed(0.3))
        expected = self.gram_of(rows, weights) + Fraction(0.3) * self.gram_of(1e30 * rows, weights)
        assert_array_equal(both, expected)
        assert_array_equal(self.exact_gram(a + ExactSums.zero(2)), self.exact_gram(a))
        assert_array_equal(self.exact_gram(a.weighed(2.0**-7)) * 2**7, self.exact_gram(a))

    def test_mapping_rounds_nothing(self, table):
        rows, weights = table
        rng = np.random.default_rng(9)
        matrix, shift = rng.normal(size=(3, 2)), rng.normal(size=3)
        matrix[1] = shift[1] = matrix[2, 0] = 0.0
        full = np.array([[0.0, 0.0, 0.0]] * 4)
        full[:3, :2], full[:3, 2], full[3, 2] = matrix, shift, 1.0
        M = np.array([[Fraction(v) for v in row] for row in full.tolist()], dtype=object)
        mapped = self.exact_gram(read(rows, weights).sums.mapped(matrix, shift))
        assert_array_equal(mapped, M.dot(self.gram_of(rows, weights)).dot(M.T))

    def test_columns_can_be_picked_and_made_constant(self, table):
        sums, G = read(*table).sums, self.gram_of(*table)
        value = Fraction(0.1) + Fraction(2.0**-60)
        values = Pair(np.array([7.0, 0.1, 7.0]), np.array([0.0, 2.0**-60, 0.0]))
        picked = self.exact_gram(sums.picked([1, -1, 0], values))
        at, factor = [1, 2, 0, 2], np.array([1, value, 1, 1], dtype=object)
        assert_array_equal(picked, G[at][:, at] * np.outer(factor, factor))

    def test_they_survive_pickling(self, table):
        moments = read(*table)
        again = pickle.loads(pickle.dumps(moments))
        assert_same_bits(again, moments)
        assert_same_bits(again + moments, moments + moments)


@lawful
@given(st.integers(0, 2**32 - 1), st.integers(1, 29))
def test_a_file_does_not_tell_in_which_blocks_rows_came(seed, cut):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(30, 3)) * 2.0 ** rng.integers(-40, 40, 3)
    rows[: cut // 2] = rng.integers(-5, 5, (cut // 2, 3))
    whole = read(rows)
    parts = read(rows[cut:]) + read(rows[:cut])
    assert whole.text() == parts.text()
    exact = [
        [g * Fraction(2) ** int(u + v) for g, v in zip(row, whole.sums.units, strict=True)]
        for row, u in zip(whole.sums.gram, whole.sums.units, strict=True)
    ]
    reduced = whole.sums.reduced()
    again = [
        [g * Fraction(2) ** int(u + v) for g, v in zip(row, reduced.units, strict=True)]
        for row, u in zip(reduced.gram, reduced.units, strict=True)
    ]
    assert exact == again


integers = st.integers(-(10**40), 10**40)


class TestNearest:
    @lawful
    @given(integers, st.integers(1, 10**40), st.integers(-400, 400))
    def test_both_parts_are_rounded_correctly(self, above, below, exponent):
        value = Fraction(above, below) * Fraction(2) ** exponent
        high, low = nearest(above, below, exponent)
        assert high == float(value)
        assert low == float(value - Fraction(high))

    @pytest.mark.parametrize("exponent", [-1074, -1060, -1022, 0, 900])
    def test_small_integers_are_exact_in_any_unit(self, exponent):
        assert nearest(-5, 1, exponent) == (float(Fraction(-5) * Fraction(2) ** exponent), 0.0)
        assert nearest(0, 7, exponent) == (0.0, 0.0)

    def test_a_tie_goes_to_the_even_number_and_is_not_lost(self):
        assert nearest(2**54 + 2, 2, 0) == (2.0**53, 1.0)
        assert nearest(2**54 + 6, 2, 0) == (2.0**53 + 4.0, -1.0)


@lawful
@given(
    st.integers(1, 4).flatmap(lambda p: hnp.arrays(object, (p, p), elements=integers)), st.data()
)
def test_matrices_of_fractions_become_the_nearest_pairs(full, data):
    p, divisor = len(full), data.draw(st.integers(1, 10**40))
    numerators = np.tril(full) + np.tril(full, -1).T
    units = data.draw(hnp.arrays(np.intp, p, elements=st.integers(-200, 200)))
    pair = module._pairs(numerators, divisor, units)
    for i, j in np.ndindex(p, p):
        value = Fraction(numerators[i, j], divisor) * Fraction(2) ** int(units[i] + units[j])
        assert (pair.high[i, j], pair.low[i, j]) == nearest_pair(value)
