"""One look at all tables: what each column is, what is done with it, and alike for every engine."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose

from poolwise import PooledRegressor
from poolwise.errors import BadColumns, DataWarning, NotNumeric, PoolwiseWarning
from poolwise.tables.column_names import names_rows
from poolwise.tables.inspection import inspect
from poolwise.tables.memory import open_table

ROWS = 400


def raw(seed, rows, start="2023-01-01"):
    """Return a table as it comes: an index, an identifier, dates, categories, gaps in y."""
    rng = np.random.default_rng(seed)
    site = rng.choice(["north", "south", "east"], rows)
    at = pd.Timestamp(start) + pd.to_timedelta(rng.integers(0, 24 * 330, rows), unit="h")
    size = rng.normal(size=rows)
    y = size + (site == "south") + 0.1 * at.day_of_week + rng.normal(scale=0.1, size=rows)
    return pd.DataFrame(
        {
            "rownames": range(1, rows + 1),
            "order_id": 7_000 + rng.permutation(rows),
            "email": [f"{seed}-{k}@a.org" for k in range(rows)],
            "at": at,
            "day": at.date,
            "due": at.strftime("%m/%d/%Y"),
            "site": np.where(rng.random(rows) < 0.02, "rare", site),
            "paid": rng.choice(["Yes", "no"], rows),
            "price": [f"{v:.2f}" for v in rng.uniform(1, 9, rows)],
            "size": size,
            "year": 2023,
            "y": np.where(np.arange(rows) % 50 == 7, np.nan, y),
        }
    )


TARGET, OLD = raw(1, 120, "2024-01-01"), raw(2, ROWS).assign(paid=lambda t: t["paid"].str.upper())
FEATURES = [n for n in TARGET if n != "y"]


def as_csv(rows, folder):
    rows.to_csv(folder / "old.csv", index=False)
    return folder / "old.csv"


def as_parquet(rows, folder):
    pq.write_table(pa.Table.from_pandas(rows), folder / "old.parquet")
    return folder / "old.parquet"


def as_dask(rows, folder):
    dask = pytest.importorskip("dask.dataframe")
    return dask.from_pandas(rows, npartitions=3)


SOURCES = {
    "pandas": lambda rows, folder: rows,
    "pandas texts": lambda rows, folder: rows.assign(at=rows["at"].astype(str)),
    "polars": lambda rows, folder: pl.from_pandas(rows),
    "lazy polars": lambda rows, folder: pl.from_pandas(rows).lazy(),
    "arrow": lambda rows, folder: pa.Table.from_pandas(rows),
    "csv": as_csv,
    "parquet": as_parquet,
    "dask": as_dask,
}
TARGETS = {
    "pandas": lambda rows: rows,
    "polars": pl.from_pandas,
    "arrow": lambda rows: pa.Table.from_pandas(rows, preserve_index=False),
}


def fitted(source, target=TARGET[FEATURES], **options):
    y = TARGET["y"].to_numpy()
    model = PooledRegressor("data_pooling", precision="exact", **options)
    return model.fit(target, y, sources={"old": source})


@pytest.fixture(scope="module")
def known():
    return fitted(OLD)


def check_same(model, known):
    assert str(model.account_) == str(known.account_)
    assert model.coef_names_.tolist() == known.coef_names_.tolist()
    assert_allclose(model.coef_, known.coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.filterwarnings("ignore::poolwise.errors.PoolwiseWarning")
class TestEngines:
    @pytest.mark.parametrize("kind", SOURCES)
    def test_the_same_raw_source_gives_the_same_account_and_coefficients(
        self, kind, known, tmp_path
    ):
        check_same(fitted(SOURCES[kind](OLD, tmp_path)), known)

    @pytest.mark.parametrize("kind", TARGETS)
    def test_the_same_raw_target_gives_the_same_account_and_coefficients(self, kind, known):
        target = TARGETS[kind](TARGET[FEATURES])
        model = fitted(OLD, target)
        check_same(model, known)
        assert_allclose(model.predict(target), known.predict(TARGET[FEATURES]), rtol=1e-9)

    def test_a_saved_model_keeps_its_account_and_its_predictions(self, known, tmp_path):
        known.save(tmp_path / "m.json")
        again = PooledRegressor.load(tmp_path / "m.json")
        assert again.account_ == known.account_
        as_texts = TARGET[FEATURES].astype({"at": str, "day": str})
        assert_allclose(again.predict(as_texts), known.predict(TARGET[FEATURES]), rtol=1e-12)

    def test_the_account_names_every_decision(self, known):
        said = {(c.name, c.kind) for c in known.account_.columns}
        assert said == {
            ("rownames", "index column"),
            ("order_id", "identifier"),
            ("email", "identifier"),
            ("at", "date"),
            ("day", "date"),
            ("due", "date"),
            ("site", "category"),
            ("paid", "yes/no"),
            ("price", "number"),
            ("size", "number"),
            ("year", "constant"),
        }
        target, old = known.account_.tables
        assert (target.rows, target.without_response) == (117, 3)
        assert (old.rows, old.without_response) == (392, 8)
        assert "'YES' is 'Yes'" in str(known.account_)

    def test_a_strict_fit_lists_all_that_it_does_not_take_as_it_is(self):
        with pytest.raises(BadColumns) as caught:
            fitted(OLD, strict=True)
        lines = str(caught.value).splitlines()
        assert lines[0] == "There are 7 faults."
        assert any("'old'" in line and "'y' in 8 of 400 rows" in line for line in lines)
        for name in ("rownames", "order_id", "email", "price", "paid"):
            assert sum(f"{name!r}" in line for line in lines) == 1


def test_dates_are_a_trend_with_months_and_weekdays(recwarn):
    days = pd.date_range("2024-01-01", periods=366)
    y = 0.01 * np.arange(366) + (days.month == 3) - 2.0 * (days.day_of_week == 6)
    model = PooledRegressor("target_only").fit(pd.DataFrame({"day": days}), y)
    coef = dict(zip(model.coef_names_, model.coef_, strict=True))
    assert_allclose(coef["day"], 0.01, rtol=1e-6)
    assert_allclose(coef["day month=March"], 1.0, rtol=1e-6)
    assert_allclose(coef["day weekday=Sunday"], -2.0, rtol=1e-6)
    later = pd.DataFrame({"day": [datetime.date(2025, 3, 2)]})
    assert_allclose(model.predict(later), 0.01 * 426 + 1.0 - 2.0, rtol=1e-6)


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("%Y-%m-%d", "date"),
        ("%Y-%m-%dT%H:%M", "date"),
        ("%d.%m.%Y", "date"),
        ("%d.%m.%Y %H:%M", "date"),
        ("%m/%d/%Y", "month/day"),
        ("%m/%d/%Y %I:%M:%S %p", "month/day"),
        ("%d/%m/%Y, %H:%M", "day/month"),
    ],
)
def test_dates_as_text_are_read_as_dates(written, kind):
    at = pd.date_range("2024-01-05 13:30", periods=60, freq="24h")
    y = np.random.default_rng(0).normal(size=60)
    models = [
        PooledRegressor("target_ridge").fit(pd.DataFrame({"day": day}), y)
        for day in (
            at if "H" in written or "I" in written else at.normalize(),
            at.strftime(written),
        )
    ]
    assert models[1].account_.columns[0].kind == "date"
    assert_allclose(models[1].coef_, models[0].coef_, rtol=1e-9)
    assert inspect(open_table(pd.DataFrame({"day": at.strftime(written)}), "X"), "X").kinds == {
        "day": kind
    }


@pytest.mark.parametrize("texts", [["1/2/2024", "3/4/2024"] * 20, ["5/5/2024"] * 40])
def test_dates_whose_day_or_month_may_come_first_are_left_out_with_a_reason(texts):
    table = open_table(pd.DataFrame({"day": texts, "size": np.arange(40.0)}), "X")
    found = inspect(table, "X")
    assert [*found.kinds] == ["size"]
    assert "day or month may come first" in found.left_out[0].why


@pytest.mark.parametrize(
    "texts", [["13/13/2024"], ["1/2/24"], ["1/2/2024 13:00 PM"], ["31.6.2024"]]
)
def test_texts_that_are_no_dates(texts):
    table = open_table(pd.DataFrame({"day": [*texts, "n", "n"]}), "X")
    assert inspect(table, "X").kinds == {"day": "text"}


def test_another_way_to_write_dates_is_refused_and_not_guessed():
    days = pd.date_range("2024-01-01", periods=60)
    target = pd.DataFrame({"day": days.strftime("%m/%d/%Y"), "y": np.arange(60.0)})
    old = target.assign(day=days.strftime("%d.%m.%Y"))[:50]
    with pytest.raises(NotNumeric, match="not dates as month/day/year: '01"):
        PooledRegressor().fit(target[["day"]], target["y"], sources=old)


MEASURED = {
    "floats": np.random.default_rng(0).normal(size=200),
    "price": np.random.default_rng(0).permutation(200) * 100.0 + 99.0,
    "year": np.arange(1824, 2024),
    "time": np.arange(200),
    "seconds": np.cumsum(np.random.default_rng(1).integers(1, 9, 200)),
    "weight": np.random.default_rng(2).permutation(2_000)[:200],
    "key_figure": np.sqrt(np.arange(200)),
    "degree": np.arange(200.0),  # doubles are measured, integers are counted
    "tripDay": np.arange(200),
    "covid": np.random.default_rng(3).permutation(200),
}


@pytest.mark.parametrize("name", MEASURED)
def test_measurements_are_no_identifiers(name):
    table = open_table(pd.DataFrame({name: MEASURED[name]}), "X")
    assert [*inspect(table, "X").kinds] == [name]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("", [3, 1, 4, 1, 5]),
        ("Unnamed: 0", range(30)),
        ("x1", range(1, 31)),
        ("rownames", range(500, 530)),
        ("customer_id", [7, 3, 9, 12, 5]),
        ("orderId", [7, 3, 9, 12, 5]),
        ("code", [f"{k:x}-{k}" for k in range(40)]),
        ("nr", [*range(13, 553, 9)] * 8),
    ],
)
def test_columns_that_only_name_rows_are_left_out(name, values):
    table = open_table(pd.DataFrame({name: values, "size": np.ones(len(values))}), "X")
    assert [*inspect(table, "X").kinds] == ["size"]


def test_names_of_identifiers():
    yes = ["id", "ID", "user_id", "userId", "order key", "uuid", "nr", "patient_no"]
    no = ["covid", "humid", "bid", "solid", "keyboard", "number", "idea", "x", "paid", "grid"]
    assert [n for n in (*yes, *no) if names_rows(n)] == yes


def test_tables_that_look_swapped_are_noticed():
    big, small = raw(3, 200)[["size", "y"]], raw(4, 30)[["size", "year", "y"]].dropna()
    big = big.dropna()
    with pytest.warns(PoolwiseWarning) as told:
        PooledRegressor("data_pooling").fit(big[["size"]], big["y"], sources=small)
    assert any("Are they swapped?" in str(w.message) for w in told if w.category is DataWarning)


def test_names_of_several_types_get_our_error():
    frame = pd.DataFrame(np.ones((3, 2)), columns=["a", 1])
    with pytest.raises(BadColumns, match="different types: 'int', 'str'"):
        PooledRegressor().fit(frame, np.arange(3.0))


def test_a_response_of_yes_and_no_is_one_and_zero():
    rows = raw(5, 100).dropna()
    answer = pd.Series(np.where(rows["size"] > 0, "Yes", "no"), name="y")
    model = PooledRegressor("target_only").fit(rows[["size"]], answer)
    twin = PooledRegressor("target_only").fit(
        rows[["size"]], pd.Series((rows["size"] > 0) * 1.0, name="y")
    )
    assert_allclose(model.coef_, twin.coef_)
    assert "1 for yes" in str(model.account_)
