"""Auto: how tables are read when the precision is left to us, and what is said when it is not."""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest

import poolwise.numerics.options as module
from poolwise import Moments, PooledRegressor
from poolwise.errors import BadOption, DigitsLost
from poolwise.numerics.options import CHEAP, chosen
from tests.laws.exact import exact_least_squares

NAMES = ["x0", "x1", "x2", "y"]


@pytest.fixture
def dear(monkeypatch):
    """Call tables of more than 50 rows and four columns large."""
    monkeypatch.setattr(module, "CHEAP", 50 * 4**2)


def table(rows, size=1, seed=0):
    """Integers: two columns that differ by a part in ``size``, one more, and a response."""
    rng = np.random.default_rng(seed)
    a = size * rng.integers(1, 10, rows)
    small = rng.integers(-3, 4, (3, rows))
    y = 5 * small[0] - small[1] + small[2] + rng.integers(-9, 10, rows)
    return np.column_stack((a + small[0], a + small[1], small[2], y)).astype(float)


def far_table(rows, distance=1e7, seed=0):
    """Columns that depend on each other only where no intercept takes their means away."""
    rng = np.random.default_rng(seed)
    X = distance + rng.normal(size=(rows, 3))
    return np.column_stack((X, X @ [1.0, 2.0, -3.0] + rng.normal(size=rows)))


class Readings:
    """Rows that can be read again, and how often they were."""

    def __init__(self, rows):
        self.rows, self.count = rows, 0

    def __call__(self):
        self.count += 1
        return iter([((part,), None) for part in np.array_split(self.rows, 4)])

    def read(self, precision="auto", *, intercept=True):
        rows = len(self.rows)
        return Moments.read(NAMES, self, rows, precision=precision, intercept=intercept)


def frame(rows, columns=("x0", "x1", "x2")):
    return pd.DataFrame(rows[:, :3], columns=NAMES[:3])[list(columns)], rows[:, 3]


def largest_error(coef, rows, *, intercept=True):
    exact = exact_least_squares(rows[:, :3], rows[:, 3], intercept=intercept)
    return max(abs(float(b / e) - 1.0) for b, e in zip(map(float, coef), exact.coef, strict=True))


class TestWhatIsCheap:
    def test_it_is_rows_times_squared_columns(self):
        assert chosen("auto", CHEAP // 100, 10) == "accurate"
        assert chosen("auto", CHEAP // 100 + 1, 10) == "fast"
        assert chosen("auto", 0, 10) == "accurate"

    @pytest.mark.parametrize("precision", ["fast", "accurate", "exact"])
    def test_what_is_asked_for_is_done_at_any_price(self, precision):
        assert chosen(precision, 10**12, 100) == precision
        assert chosen(precision, 1, 1) == precision

    def test_the_precision_is_left_to_us_unless_given(self):
        assert PooledRegressor().precision == "auto"
        for reader in (Moments.of_rows, Moments.of_blocks, Moments.read):
            assert inspect.signature(reader).parameters["precision"].default == "auto"


class TestReading:
    def test_small_tables_are_read_accurately_and_once(self):
        rows = Readings(table(50))
        assert rows.read().precision == "accurate"
        assert rows.count == 1

    @pytest.mark.usefixtures("dear")
    @pytest.mark.parametrize(("count", "expected"), [(50, "accurate"), (51, "fast")])
    def test_large_tables_are_read_fast_and_once(self, count, expected):
        rows = Readings(table(count))
        assert rows.read().precision == expected
        assert rows.count == 1

    @pytest.mark.usefixtures("dear")
    @pytest.mark.parametrize("size", [10**3, 10**5, 10**7])
    def test_large_tables_with_near_copies_are_read_again_accurately(self, size):
        rows = Readings(table(60, size))
        assert rows.read().precision == "accurate"  # and never exactly
        assert rows.count == 2

    @pytest.mark.usefixtures("dear")
    def test_without_an_intercept_far_columns_are_read_again(self):
        for intercept, expected in ((True, "fast"), (False, "accurate")):
            assert Readings(far_table(60)).read(intercept=intercept).precision == expected

    @pytest.mark.parametrize("size", [10**8, 10**10])
    def test_small_tables_with_very_near_copies_are_read_again_exactly(self, size):
        rows = Readings(table(50, size))
        assert rows.read().precision == "exact"
        assert rows.count == 2

    def test_small_tables_with_near_copies_are_accurate_enough(self):
        rows = Readings(table(50, 10**4))
        assert rows.read().precision == "accurate"
        assert rows.count == 1

    def test_too_few_rows_to_tell_columns_apart_are_read_once(self):
        rows = Readings(table(4, 10**10))
        assert rows.read().precision == "accurate"
        assert rows.count == 1

    @pytest.mark.parametrize("precision", ["fast", "accurate", "exact"])
    def test_what_is_asked_for_is_read_once(self, precision):
        rows = Readings(table(50, 10**10))
        assert rows.read(precision).precision == precision
        assert rows.count == 1

    @pytest.mark.usefixtures("dear")
    def test_rows_in_one_array_are_read_again_too(self):
        assert Moments.of_rows(NAMES, table(60)).precision == "fast"
        assert Moments.of_rows(NAMES, table(60, 10**5)).precision == "accurate"

    @pytest.mark.usefixtures("dear")
    def test_blocks_are_accurate_for_as_long_as_that_is_cheap(self):
        rows = table(60, 10**5)
        few, many = [((rows[:50],), None)], [((part,), None) for part in np.split(rows, 3)]
        assert Moments.of_blocks(NAMES, few).precision == "accurate"
        assert Moments.of_blocks(NAMES, many).precision == "fast"

    @pytest.mark.parametrize("value", ["double", "", None, 2, "Exact"])
    def test_a_precision_that_there_is_not_is_refused(self, value):
        message = rf"precision={value!r} is not possible. It must be 'fast', 'accurate', 'exact' or"
        with pytest.raises(BadOption, match=message):
            Moments.of_rows(NAMES, table(9), precision=value)
        with pytest.raises(BadOption, match=message):
            Moments.of_blocks(NAMES, [((table(9),), None)], precision=value)
        with pytest.raises(BadOption, match=message):
            PooledRegressor(precision=value).fit(*frame(table(9)))
        with pytest.raises(BadOption, match=message):
            PooledRegressor(precision=value).fit_moments(Moments.of_rows(NAMES, table(9)))


class TestFitting:
    def fitted(self, rows, source=None, **options):
        given = None if source is None else frame(*source)
        return PooledRegressor("data_pooling", **options).fit(*frame(rows), sources=given)

    def precisions(self, model):
        tables = (model.problem_.target, *model.problem_.sources.values())
        return [t.precision for t in tables]

    @pytest.mark.usefixtures("dear")
    @pytest.mark.parametrize("size", [10**4, 10**6])
    def test_a_second_reading_saves_the_digits(self, size):
        rows = table(60, size)
        assert largest_error(self.fitted(rows).coef_, rows) < 1e-13
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DigitsLost)
            fast = self.fitted(rows, precision="fast")
        assert self.precisions(fast) == ["fast"]
        assert largest_error(fast.coef_, rows) > 1e-12

    @pytest.mark.usefixtures("dear")
    def test_without_an_intercept_a_second_reading_saves_the_digits(self):
        rows = far_table(60)
        with_intercept = self.fitted(rows)
        without = self.fitted(rows, fit_intercept=False)
        assert self.precisions(with_intercept) == ["fast"]
        assert self.precisions(without) == ["accurate"]
        assert largest_error(without.coef_, rows, intercept=False) < 1e-13
        assert largest_error(with_intercept.coef_, rows) < 1e-13

    @pytest.mark.usefixtures("dear")
    def test_large_tables_of_which_none_is_poor_are_read_fast(self):
        model = self.fitted(table(60), (table(300, seed=1), ("x0", "x1")))
        assert self.precisions(model) == ["fast", "fast"]

    @pytest.mark.usefixtures("dear")
    @pytest.mark.parametrize("rows", [40, 60])
    def test_a_table_that_must_be_accurate_takes_large_companions_along(self, rows):
        poor, large = table(rows, 10**5), table(300, seed=1)
        model = self.fitted(poor, (large, ("x2",)))  # no copies there, but in the pool
        assert self.precisions(model) == ["accurate", "accurate"]

    @pytest.mark.parametrize("poor", ["target", "source"])
    def test_a_table_that_must_be_exact_takes_its_companions_along(self, poor):
        good, bad = table(40, 1), table(50, 10**9, seed=1)
        good[:, :2] += bad[:, :2].mean()  # in the same region
        pair = (bad, good) if poor == "target" else (good, bad)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # one varies far less than the other
            model = self.fitted(pair[0], (pair[1], ("x0", "x1")))
        assert self.precisions(model) == ["exact", "exact"]

    @pytest.mark.usefixtures("dear")
    def test_a_companion_that_is_large_stays_as_it_is(self):
        model = self.fitted(table(40, 10**9), (table(200, 10**9, seed=1), ("x0", "x1")))
        assert self.precisions(model) == ["exact", "accurate"]

    def test_tables_that_are_well_conditioned_stay_accurate(self):
        model = self.fitted(table(40), (table(90, seed=1), ("x0", "x2")))
        assert self.precisions(model) == ["accurate", "accurate"]

    @pytest.mark.parametrize("precision", ["fast", "accurate", "exact"])
    def test_every_table_is_read_as_asked(self, precision):
        model = self.fitted(table(40), (table(90, seed=1), ("x0", "x2")), precision=precision)
        assert self.precisions(model) == [precision, precision]


class TestWarnings:
    MESSAGE = (
        r"The columns of the target are so nearly dependent that rounding may change the "
        r"coefficients by about \de[-+]\d\d of their size\. Compute the moments again with "
        r"precision='accurate'"
    )

    @pytest.mark.usefixtures("dear")
    def test_blocks_that_cannot_be_read_again_are_warned_of(self):
        rows = table(90, 10**5)
        stream = (((part,), None) for part in np.split(rows, 3))
        moments = Moments.of_blocks(NAMES, stream)
        assert moments.precision == "fast"
        model = PooledRegressor("target_only")
        with pytest.warns(DigitsLost, match=self.MESSAGE):
            model.fit_moments(moments)

    def test_what_was_asked_for_is_warned_of(self):
        with pytest.warns(DigitsLost, match=self.MESSAGE):
            PooledRegressor("target_only", precision="fast").fit(*frame(table(90, 10**5)))

    def test_far_columns_without_an_intercept_are_warned_of(self):
        rows = far_table(90)
        model = PooledRegressor("target_only", precision="fast", fit_intercept=False)
        with pytest.warns(DigitsLost, match=self.MESSAGE):
            model.fit(*frame(rows))
        PooledRegressor("target_only", precision="fast").fit(*frame(rows))  # no warning

    @pytest.mark.parametrize("precision", ["accurate", "exact", "auto"])
    @pytest.mark.parametrize("size", [1, 10**5])
    def test_with_enough_digits_nothing_is_said(self, precision, size):
        rows = table(90, size)
        model = PooledRegressor("target_only", precision=precision).fit(*frame(rows))
        assert largest_error(model.coef_, rows) < 1e-13

    def test_the_share_it_names_is_not_too_small(self):
        rows = table(90, 10**5)
        moments = Moments.of_rows(NAMES, rows, precision="fast")
        with pytest.warns(DigitsLost) as caught:
            model = PooledRegressor("target_only").fit_moments(moments)
        told = float(str(caught[0].message).split("by about ")[1].split(" of ")[0])
        assert 1e-8 < told < 1.0
        assert largest_error(model.coef_, rows) < told


def test_two_doubles_that_are_not_enough_say_so():
    x = np.linspace(0.0, 1.0, 60)
    X = x[:, None] ** np.arange(1, 17)  # a condition of 4e11; the true error is 1e-6
    with pytest.warns(DigitsLost, match="precision='exact'"):
        PooledRegressor("target_only", precision="accurate").fit(X, np.cos(9.0 * x))


def test_a_gain_without_a_right_digit_is_not_told():
    rng = np.random.default_rng(0)
    a, e, z = rng.integers(1, 10, 60) * 10.0**8, rng.integers(-3, 4, 60), rng.integers(-9, 10, 60)
    X, y = np.column_stack((a, a + e, z)), e + 3.0 * z + rng.integers(-10, 11, 60)
    pooled = PooledRegressor("data_pooling")
    model = pooled.fit(X[:20], y[:20], sources=(X[20:, :1], y[20:]))
    assert model.transfer_gain_ is None
