"""Suspicions: what looks like a mistake is told, what is ordinary is not."""

import numpy as np
import pandas as pd
import pytest

from poolwise import Moments
from poolwise.errors import DataWarning, NoiseNotEstimable
from poolwise.linear.problem import Problem
from poolwise.tables.data_checks import suspicions
from poolwise.tables.intake import gather


def told(target, source=None, **options):
    """Return the suspicions about tables given as mappings of columns."""
    sources = {} if source is None else {"old": moments_of(source)}
    return list(suspicions(Problem(moments_of(target), sources, "y", **options)))


def moments_of(columns):
    return Moments.of_rows(tuple(columns), np.column_stack([*columns.values()]))


@pytest.fixture
def draw():
    """Return a function that draws a weather table in Celsius."""
    rng = np.random.default_rng(0)

    def table(rows):
        celsius, rain = rng.normal(15.0, 8.0, size=rows), rng.exponential(2.0, size=rows)
        y = celsius + 3.0 * rain + rng.normal(size=rows)
        return {"temperature": celsius, "rain": rain, "y": y}

    return table


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("rows", [(10, 40), (30, 1000)])
def test_ordinary_data_are_not_suspected(seed, rows):
    rng = np.random.default_rng(seed)
    spread = rng.uniform(0.5, 2.0)  # a population may well be twice as varied as another
    target = rng.normal(size=(rows[0], 4))
    source = 0.5 + spread * rng.normal(size=(rows[1], 4))
    names = ("a", "b", "c", "y")
    problem = Problem(Moments.of_rows(names, target), {"old": Moments.of_rows(names, source)}, "y")
    assert list(suspicions(problem)) == []


def test_fahrenheit_against_celsius_is_told_with_both_means(draw):
    target, source = draw(100), draw(400)
    source["temperature"] = 1.8 * source["temperature"] + 32.0
    (warning,) = told(target, source)
    assert isinstance(warning, DataWarning)
    message = str(warning)
    assert "Column 'temperature' of table 'old'" in message
    for moments in (moments_of(source), moments_of(target)):
        assert f"{moments.mean_of('temperature'):.3g}" in message
        assert f"{moments.deviation_of('temperature'):.3g}" in message
    assert "Other units, or scaled in one table only?" in message


@pytest.mark.parametrize("standardised", ["target", "source"])
def test_standardised_against_raw_is_told_for_every_column(standardised):
    rng = np.random.default_rng(1)
    target, source = (
        {
            "age": rng.normal(50.0, 12.0, size=rows),
            "income": rng.normal(40e3, 15e3, size=rows),
            "y": rng.normal(size=rows),
        }
        for rows in (100, 400)
    )
    scaled = target if standardised == "target" else source
    for name in ("age", "income"):
        scaled[name] = (scaled[name] - scaled[name].mean()) / scaled[name].std()
    warnings = told(target, source)
    assert [type(w) for w in warnings] == [DataWarning, DataWarning]
    assert "'age'" in str(warnings[0])
    assert "'income'" in str(warnings[1])


def test_a_response_in_other_units_is_told(draw):
    target, source = draw(100), draw(400)
    source["y"] = source["y"] / 1000.0
    (warning,) = told(target, source)
    assert isinstance(warning, DataWarning)
    assert "Column 'y' of table 'old'" in str(warning)


@pytest.mark.parametrize("value", [0.0, -1.0, 999.0])
def test_a_filled_column_is_told_with_its_value(draw, value):
    target, source = draw(100), draw(400)
    source["rain"] = np.full(400, value)
    (warning,) = told(target, source)
    assert isinstance(warning, DataWarning)
    assert f"Column 'rain' is {value:.6g} in every row of table 'old'" in str(warning)
    assert "leave it out of that table (or set it to NaN)" in str(warning)


def test_a_column_that_is_constant_everywhere_is_not_taken_for_filled(draw):
    target, source = draw(100), draw(400)
    target["rain"], source["rain"] = np.zeros(100), np.zeros(400)
    assert [type(said) for said in told(target, source)] == [DataWarning]


def test_a_constant_response_of_the_target_is_told(draw):
    target = draw(50)
    target["y"] = np.full(50, 2.5)
    (warning,) = told(target)
    assert isinstance(warning, DataWarning)
    assert "The response is 2.5 in every row of the target" in str(warning)


def test_a_constant_response_of_a_source_is_told_once(draw):
    target, source = draw(50), draw(50)
    source["y"] = np.zeros(50)
    (warning,) = told(target, source)
    assert isinstance(warning, DataWarning)
    assert "in every row of table 'old'" in str(warning)


@pytest.mark.parametrize(
    ("rows", "intercept", "expected"), [(3, True, 1), (4, True, 0), (2, False, 1), (3, False, 0)]
)
def test_no_more_rows_than_coefficients_are_told(draw, rows, intercept, expected):
    warnings = told(draw(rows), intercept=intercept)
    assert [type(w) for w in warnings] == [NoiseNotEstimable] * expected
    if expected:
        assert f"The target has {rows} rows for {2 + intercept} coefficients" in str(warnings[0])
        assert "weight" not in str(warnings[0])


def test_a_single_row_is_held_against_all_coefficients(draw):
    (warning,) = told(draw(1), draw(50))
    assert "The target has 1 row for 3 coefficients" in str(warning)


def test_weights_that_sum_to_little_count_as_few_rows(draw):
    table = moments_of(draw(50))
    (warning,) = suspicions(Problem(0.02 * table, {}, "y"))
    assert isinstance(warning, NoiseNotEstimable)
    assert "has 1 row for 3 coefficients" in str(warning)
    assert "Its 50 rows count as 1, because of gaps or weights" in str(warning)
    assert "should have a mean of one" in str(warning)


def test_a_handful_of_rows_says_too_little_about_units(draw):
    target, source = draw(100), draw(4)
    source["rain"] = 1000.0 * source["rain"]
    assert told(target, source) == []
    assert told(draw(4), draw(400) | {"rain": np.full(400, 1e6) + np.arange(400)}) == []


def test_a_rarer_level_is_no_other_unit(draw):
    target, source = draw(100), draw(1000)
    target["rain"], source["rain"] = np.arange(100) % 2.0, (np.arange(1000) == 7) * 1.0
    assert told(target, source) == []


def test_unseen_columns_are_not_suspected(draw):
    source = draw(400)
    del source["rain"]
    assert told(draw(100), source) == []


def test_features_that_vary_nowhere_are_named():
    rng = np.random.default_rng(0)
    rows = np.column_stack((rng.normal(size=(40, 2)), np.full(40, 3.0), rng.normal(size=40)))
    target = Moments.of_rows(("a", "b", "c", "y"), rows)
    source = Moments.of_rows(("a", "c", "y"), rows[:, [0, 2, 3]])
    (said,) = suspicions(Problem(target, {"old": source}, "y"))
    assert isinstance(said, DataWarning)
    assert "One value in every row: 'c'." in str(said)
    varying = Moments.of_rows(("a", "c", "y"), rng.normal(size=(40, 3)))
    assert not list(suspicions(Problem(target, {"old": varying}, "y")))


def test_parts_of_one_table_are_not_held_against_each_other():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 3)), columns=["a", "b", "c"])
    X.loc[:39, "b"] *= 100.0
    y = pd.Series(X["a"] + rng.normal(size=80), name="y")
    stacked = X.assign(c=X["c"].where(X.index >= 40))
    assert units_of(gather(stacked, y).problem) == []
    old, y_old = X[:40].assign(c=X["c"].where(X.index % 2 == 0)), y[:40]
    assert len(units_of(gather(X[40:], y[40:], sources={"old": (old, y_old)}).problem)) == 1


def test_indicators_of_texts_and_dates_have_no_units():
    rng = np.random.default_rng(0)

    def table(rows, rare, since):
        kind = np.where(np.arange(rows) < rare, "rare", np.where(rng.random(rows) < 0.5, "a", "b"))
        day = pd.Timestamp(since) + pd.to_timedelta(np.arange(rows), unit="D")
        X = pd.DataFrame({"a": rng.normal(size=rows), "kind": kind, "day": day.astype(str)})
        X.loc[rows - 3 :, ["kind", "day"]] = None  # their fills are no zeros and ones
        return X, pd.Series(rng.normal(size=rows), name="y")

    taken = gather(*table(300, 0, "2020-01-01"), sources={"old": table(900, 40, "2012-01-01")})
    assert units_of(taken.problem)
    assert units_of(taken.problem, taken.without_units) == []


def units_of(problem, without_units=()):
    found = suspicions(problem, without_units)
    return [str(caution) for caution in found if "Other units" in str(caution)]


def test_earlier_years_do_not_count_as_other_units():
    rng = np.random.default_rng(0)
    X, X_old = (
        pd.DataFrame({"year": v, "x": rng.normal(size=len(v))})
        for v in (
            rng.integers(2018, 2020, 60).astype(float),
            rng.integers(1980, 1986, 300).astype(float),
        )
    )
    y = X["x"].to_numpy() + rng.normal(size=60)
    y_old = X_old["x"].to_numpy() + rng.normal(size=300)
    intake = gather(X, y, sources=(X_old, y_old))
    assert list(suspicions(intake.problem)) == []
    moved = gather(X, y, sources=(X_old.assign(year=X_old["year"] - 1_900.0), y_old))
    assert [c.about["column"] for c in suspicions(moved.problem)] == ["year"]
