"""Moments of a table without a target: the same from memory, files and streams."""

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as pf
import pytest

from poolwise import (
    Files,
    Moments,
    PooledRegressor,
    moments_by_pattern,
    moments_of,
)
from poolwise.errors import (
    BadOption,
    BadWeights,
    EmptySource,
    FilesNotFound,
    MissingColumns,
    NotFinite,
    NotInFile,
    NotNumeric,
    NotTwoDimensional,
    NullsInFile,
    RowsDropped,
    RowsWithoutFeatures,
    TransferError,
    UnknownTable,
    UnreadableFile,
)
from poolwise.intake import gather

N = 300


@pytest.fixture
def pumps():
    """Return numbers, a whole number, a text, a yes or no, and the response."""
    rng = np.random.default_rng(8)
    hours, load = rng.uniform(0.0, 5.0, N), rng.normal(60.0, 12.0, N)
    return pd.DataFrame(
        {
            "hours": hours,
            "count": rng.integers(0, 9, N),
            "site": rng.choice(["coast", "inland", "Ærø"], N),
            "load": load,
            "on": rng.random(N) < 0.5,
            "wear": 3.0 * hours + 0.1 * load + rng.normal(size=N),
        }
    )


@pytest.fixture
def gaps(pumps):
    """Return the same with values missing in three patterns."""
    pumps = pumps.astype({"count": float})
    pumps.loc[:79, "load"] = np.nan
    pumps.loc[60:119, "site"] = None
    return pumps


NAMES = ("hours", "count", "site=coast", "site=inland", "site=Ærø", "load", "on", "wear")


def by_hand(frame, weights=None):
    """Return the moments of the definition: all indicators, in the order of the table."""
    columns = {}
    for name in frame:
        if frame[name].dtype.kind in "fiub":
            columns[name] = frame[name].astype(float)
        else:
            for level in sorted(set(frame[name].dropna())):
                columns[f"{name}={level}"] = (frame[name] == level).astype(float)
    rows = np.column_stack([*columns.values()])
    return Moments.of_rows([*columns], rows, weights, precision="exact")


def bits(moments):
    """Return all numbers; exact sums of the same value may be written in other units."""
    return {k: v for k, v in json.loads(moments.text()).items() if k != "sums"}


def csv_of(frame, folder):
    frame.to_csv(folder / "rows.csv", index=False)
    return folder / "rows.csv"


def packed_of(frame, folder):
    frame.to_csv(folder / "rows.csv.gz", index=False)
    return str(folder / "rows.csv.gz")


def parquet_of(frame, folder):
    frame.to_parquet(folder / "rows.parquet", index=False, row_group_size=37)
    return folder / "rows.parquet"


def folder_of(frame, folder):
    (folder / "many").mkdir(exist_ok=True)
    for k in range(5):
        frame.iloc[k::5].to_parquet(folder / f"many/{k}.parquet", index=False)
    return folder / "many"


def mixed_of(frame, folder):
    frame[:100].to_csv(folder / "a.csv", index=False)
    frame[100:200].to_parquet(folder / "b.parquet", index=False)
    pf.write_feather(pa.Table.from_pandas(frame[200:], preserve_index=False), folder / "c.feather")
    return [folder / "a.csv", str(folder / "b.parquet"), folder / "c.feather"]


def arrow_of(frame, folder):
    return pa.Table.from_pandas(frame, preserve_index=False)


DOORS = {
    "csv": csv_of,
    "csv.gz": packed_of,
    "parquet": parquet_of,
    "folder": folder_of,
    "mixed": mixed_of,
    "Files": lambda frame, folder: Files(folder_of(frame, folder)),
    "pandas": lambda frame, folder: frame,
    "polars": lambda frame, folder: pl.from_arrow(arrow_of(frame, folder)),
    "arrow": arrow_of,
    "reader": lambda frame, folder: arrow_of(frame, folder).to_reader(max_chunksize=41),
    "lazy": lambda frame, folder: pl.from_arrow(arrow_of(frame, folder)).lazy(),
}


@pytest.fixture(params=DOORS)
def door(request, tmp_path):
    return lambda frame: DOORS[request.param](frame, tmp_path)


@pytest.fixture(params=["csv", "folder", "pandas", "lazy"])
def some_door(request, tmp_path):
    return lambda frame: DOORS[request.param](frame, tmp_path)


def test_every_door_gives_the_moments_of_all_columns(door, pumps):
    found = moments_of(door(pumps), precision="exact")
    assert found.names == NAMES
    assert bits(found) == bits(by_hand(pumps))


@pytest.mark.parametrize("precision", ["auto", "fast", "accurate"])
def test_every_precision_can_be_asked_for(some_door, pumps, precision):
    found, exact = moments_of(some_door(pumps), precision=precision), by_hand(pumps)
    assert found.precision == {"auto": "accurate"}.get(precision, precision)
    S, T = (m.scatter_between(NAMES, NAMES) for m in (found, exact))
    size = np.sqrt(np.outer(T.diagonal(), T.diagonal()))
    assert (np.abs(S - T) <= 1e-12 * size).all()  # sums of 300 products, in doubles at least
    assert (found.low == exact.low).all()
    assert (found.high == exact.high).all()


def test_all_indicators_of_a_text_are_no_reason_to_read_again(some_door, pumps):
    lonely = pumps.assign(site=["coast", *["inland"] * 200, *["Ærø"] * (N - 201)])
    lonely.loc[0, "load"] = np.nan  # the only row on the coast
    found = moments_by_pattern(some_door(lonely))
    assert [m.precision for m in found.values()] == ["accurate"] * 2
    nearly = pumps.assign(again=pumps["hours"] + 1e-9 * pumps["load"])
    assert moments_of(some_door(nearly)).precision == "exact"


def test_numbers_in_arrays_and_lists_have_names_by_position():
    rows = [[1.0, 2.0], [3.0, 5.0], [4.0, 1.0]]
    for given in (rows, np.array(rows)):
        assert moments_of(given).text() == Moments.of_rows(["x0", "x1"], rows).text()


def test_columns_can_be_chosen_and_left_out(door, pumps):
    some = moments_of(door(pumps), columns=["wear", "site"], precision="exact")
    assert bits(some) == bits(by_hand(pumps[["site", "wear"]]))
    some = moments_of(door(pumps), columns=["site"], response="wear", precision="exact")
    assert bits(some) == bits(by_hand(pumps[["site", "wear"]]))
    some = moments_of(door(pumps), drop=["site", "hours", "on"], precision="exact")
    assert bits(some) == bits(by_hand(pumps[["count", "load", "wear"]]))


def test_weights_come_from_a_column(door, pumps):
    weighed = pumps.assign(w=np.arange(N) % 4)
    found = moments_of(door(weighed), weights="w", precision="exact")
    assert bits(found) == bits(by_hand(pumps, weighed["w"]))
    split = moments_by_pattern(door(weighed), weights="w", precision="exact")
    assert bits(split["source"]) == bits(found)


def test_files_may_say_columns_weights_and_nulls_themselves(tmp_path, gaps):
    path = parquet_of(gaps.assign(w=2.0), tmp_path)
    told = Files(path, columns=["hours", "load"], weights="w", nulls="drop")
    with pytest.warns(RowsDropped, match="80 of 300"):
        found = moments_of(told, response="wear")
    assert (found.names, found.rows, found.weight) == (("hours", "load", "wear"), 220, 440.0)
    assert moments_of(told, columns=["hours"], nulls="raise").names == ("hours",)
    some = moments_of(Files(path, filter=[("load", ">", 60.0)]), columns=["load"])
    assert some.rows == (gaps["load"] > 60.0).sum()
    with pytest.raises(BadOption, match=r"nulls='drop'.*moments_of"):
        moments_by_pattern(told)


def test_a_missing_value_is_refused_with_counts(door, gaps):
    with pytest.raises((NullsInFile, NotFinite), match=r"'site'.*'load'|'load'.*'site'") as told:
        moments_of(door(gaps))
    assert "nulls=" in str(told.value)
    assert moments_of(door(gaps), drop=["site", "load"]).rows == N


def test_rows_that_lack_a_value_are_dropped_and_counted(door, gaps):
    with pytest.warns(RowsDropped, match=r"120 of 300 .*'site' in 60.*|'load' in 80.*") as seen:
        found = moments_of(door(gaps), nulls="drop", precision="exact")
    assert bits(found) == bits(by_hand(gaps.dropna()))
    (caution,) = (w.message for w in seen)
    assert (caution.dropped, caution.rows) == (120, 300)
    assert caution.counts == {"load": 80, "site": 60}
    assert seen[0].filename == __file__


def test_each_pattern_of_missing_columns_has_its_moments(door, gaps):
    found = moments_by_pattern(door(gaps), name="pumps", response="wear", precision="exact")
    patterns = {
        "pumps": gaps[120:],
        "pumps without load": gaps[:60].drop(columns="load"),
        "pumps without site": gaps[80:120].drop(columns="site"),
        "pumps without site, load": gaps[60:80].drop(columns=["load", "site"]),
    }
    assert found.keys() == patterns.keys()
    for name, rows in patterns.items():
        assert bits(found[name]) == bits(by_hand(rows)), name
    same = moments_by_pattern(door(gaps), name="pumps", precision="exact")
    assert {n: bits(m) for n, m in same.items()} == {n: bits(m) for n, m in found.items()}


def test_patterns_are_the_sources_that_fit_makes_of_the_same_rows(some_door, gaps):
    numbers = gaps.drop(columns="site")
    X, y = numbers.drop(columns="wear").dropna()[:40], gaps["wear"].dropna()[-40:]
    rows = some_door(numbers)
    theirs = gather(X, y, sources={"pumps": numbers}, precision="exact").problem.sources
    ours = moments_by_pattern(rows, name="pumps", response="wear", precision="exact")
    assert list(ours) == list(theirs)
    for name, moments in theirs.items():
        assert bits(ours[name].select(moments.names)) == bits(moments)
    from_rows = PooledRegressor(precision="exact").fit(X, y, sources={"pumps": numbers})
    from_moments = PooledRegressor(precision="exact").fit(X, y, sources=ours)
    assert (from_rows.coef_ == from_moments.coef_).all()


def test_a_row_without_its_response_is_of_no_use(door, gaps):
    gaps.loc[7, "wear"] = np.nan
    with pytest.raises(
        NotFinite, match=r"response of .*'wear' in 1|lacks the response 'wear' in 1 of"
    ):
        moments_by_pattern(door(gaps), response="wear")
    found = moments_by_pattern(door(gaps))
    assert found["source without load, wear"].rows == 1


def test_a_row_without_any_value_is_refused(some_door, gaps):
    gaps = gaps.drop(columns="on").astype({"count": float})
    gaps.loc[3] = np.nan
    with pytest.raises(RowsWithoutFeatures, match="1 rows"):
        moments_by_pattern(some_door(gaps))


def test_the_response_alone_can_be_split(some_door, pumps):
    found = moments_by_pattern(some_door(pumps[["wear"]]), response="wear", precision="exact")
    assert bits(found["source"]) == bits(by_hand(pumps[["wear"]]))


def test_a_file_without_a_column_is_a_pattern_or_an_error(tmp_path, pumps):
    folder = folder_of(pumps, tmp_path)
    pumps[::5].drop(columns="load").to_parquet(folder / "0.parquet", index=False)
    found = moments_by_pattern(folder)
    assert {n: m.rows for n, m in found.items()} == {"source": 240, "source without load": 60}
    for nulls in ("raise", "drop"):
        with pytest.raises(NotInFile, match=r"0\.parquet.*'load'"):
            moments_of(folder, nulls=nulls)


def test_folders_named_by_key_and_value_give_columns(tmp_path, pumps):
    for (site, count), part in pumps.groupby(["site", "count"]):
        folder = tmp_path / f"site={site}" / f"count={count}"
        folder.mkdir(parents=True)
        part.drop(columns=["site", "count"]).to_parquet(folder / "rows.parquet", index=False)
    found = moments_of(tmp_path, precision="exact")
    assert bits(found.select(NAMES)) == bits(by_hand(pumps))
    codes = moments_of(tmp_path, texts=["count"])
    assert "count=8" in codes.names
    assert "count" not in codes.names


def test_a_column_without_any_value_is_missing_everywhere(some_door, pumps):
    void = pumps.assign(memo=None)
    with pytest.raises((NullsInFile, NotFinite), match="'memo'"):
        moments_of(some_door(void))
    with pytest.warns((RowsDropped, EmptySource)) as seen:
        assert moments_of(some_door(void), nulls="drop").rows == 0
    assert [w.category for w in seen] == [RowsDropped, EmptySource]
    found = moments_by_pattern(some_door(void), precision="exact")
    assert {n: bits(m) for n, m in found.items()} == {"source": bits(by_hand(pumps))}


def test_no_rows_are_told(door, pumps):
    with pytest.warns(EmptySource):
        found = moments_of(door(pumps[["hours", "wear"]][:0]))
    assert bits(found) == bits(Moments.empty(["hours", "wear"]))
    with pytest.warns(EmptySource):
        assert moments_by_pattern(door(pumps[["hours", "wear"]][:0])) == {}


def test_dates_are_refused_by_name_and_may_be_left_out(door, pumps):
    dated = pumps.assign(day=pd.Timestamp("2021-05-04"))
    with pytest.raises(NotNumeric, match=r"'day' of .*drop it"):
        moments_of(door(dated))
    assert moments_of(door(dated), drop=["day"]).names == NAMES


def test_identifiers_are_refused_by_name(door, pumps):
    many = pd.concat([pumps] * 2, ignore_index=True)
    named = many.assign(patient=[f"p{k}" for k in range(2 * N)])
    with pytest.raises(NotNumeric, match=r"'patient' .*500 .*Leave it out with drop=\['patient'\]"):
        moments_of(door(named))


def test_a_response_must_be_a_column_of_numbers(door, pumps):
    for take in (moments_of, moments_by_pattern):
        with pytest.raises(MissingColumns, match=r"'waer'.*Did you mean 'wear'"):
            take(door(pumps), response="waer")
        with pytest.raises(NotNumeric, match="'site'"):
            take(door(pumps), response="site")


@pytest.mark.parametrize(
    "options",
    [{"columns": ["laod"]}, {"drop": ["laod"]}, {"texts": ["laod"]}, {"weights": "laod"}],
    ids=str,
)
def test_unknown_columns_are_told(some_door, pumps, options):
    with pytest.raises(MissingColumns, match=r"'laod'.*Did you mean 'load'"):
        moments_of(some_door(pumps), **options)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"nulls": "split"}, "moments_by_pattern"),
        ({"nulls": "skip"}, "'raise' or 'drop'"),
        ({"columns": "load"}, "a list of names"),
        ({"drop": "load"}, "a list of names"),
        ({"texts": "load"}, "a list of names"),
        ({"precision": "double"}, "'exact'"),
        ({"drop": ["wear"], "response": "wear"}, "other than the response"),
        ({"drop": [*"abc"], "columns": [*"abc"]}, "No column named"),
        ({"columns": []}, "some of"),
        ({"texts": ["load"]}, "texts='load'.*holds text"),
    ],
)
def test_options_that_cannot_be_are_told(pumps, options, says):
    with pytest.raises(TransferError, match=says):
        moments_of(pumps, **options)


def test_bad_weights_are_told(some_door, pumps):
    with pytest.raises(BadWeights, match="negative"):
        moments_of(some_door(pumps.assign(w=-1.0)), weights="w")


def test_infinity_is_no_missing_value(some_door, pumps):
    pumps.loc[3, "load"] = np.inf
    for nulls in ("raise", "drop"):
        with pytest.raises(NotFinite, match=r"'load' in 1"):
            moments_of(some_door(pumps), nulls=nulls)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (Moments.empty(["a"]), UnknownTable),
        (([[1.0]], [2.0]), UnknownTable),
        (np.ones(3), NotTwoDimensional),
        ({"a": [1.0]}, UnknownTable),
        ([], NotTwoDimensional),
        ("no/such/*.csv", FilesNotFound),
    ],
    ids=["moments", "pair", "vector", "dict", "nothing", "no file"],
)
def test_what_is_no_table_is_told(given, error):
    with pytest.raises(error):
        moments_of(given)


class TestCsv:
    """CSV has no types: its first rows tell, and may be wrong."""

    def write(self, path, rows, header="a,code,y"):
        path.write_text("\n".join([header, *rows]) + "\n")
        return path

    def test_codes_are_numbers_unless_one_says_that_they_are_text(self, tmp_path):
        path = self.write(tmp_path / "rows.csv", ["1,01,2", "2,02,4", "4,02,5"])
        assert moments_of(path).names == ("a", "code", "y")
        codes = moments_of(path, texts=["code"])
        assert codes.names == ("a", "code=01", "code=02", "y")
        assert codes.mean_of("code=02") == pytest.approx(2 / 3)

    def test_text_among_numbers_names_file_and_column_and_the_way_out(self, tmp_path):
        late = [f"{k},{k % 7},{k}" for k in range(600_000)]  # beyond the first block
        path = self.write(tmp_path / "late.csv", [*late, "1,x7,2"])
        with pytest.raises(UnreadableFile, match=r"late\.csv.*'code'.*'x7'.*texts=\['code'\]"):
            moments_of(path)
        assert moments_of(path, drop=["code"]).rows == 600_001
        assert "code=x7" in moments_of(path, texts=["code"]).names

    def test_text_here_and_numbers_there_names_both_files(self, tmp_path):
        self.write(tmp_path / "a.csv", ["1,7,2"])
        self.write(tmp_path / "b.csv", ["1,x7,2"])
        says = r"'code' holds numbers in .*a\.csv and text in .*b\.csv.*drop=.*texts=\['code'\]"
        with pytest.raises(NotNumeric, match=says):
            moments_of(tmp_path)
        assert moments_of(tmp_path, texts=["code"]).names == ("a", "code=7", "code=x7", "y")

    def test_a_type_of_parquet_is_not_changed(self, tmp_path):
        pd.DataFrame({"a": [1.0], "code": [7], "y": [2.0]}).to_parquet(tmp_path / "a.parquet")
        with pytest.raises(BadOption, match="texts='code'"):
            moments_of(tmp_path, texts=["code"])
        self.write(tmp_path / "b.csv", ["1,x7,2"])
        with pytest.raises(NotNumeric, match=r"numbers in .*a\.parquet and text in .*b\.csv"):
            moments_of(tmp_path)

    def test_a_column_that_is_empty_at_first_holds_what_comes_later(self, tmp_path):
        self.write(tmp_path / "a.csv", ["1,,2", "2,,2"])
        self.write(tmp_path / "b.csv", ["1,x7,2"])
        found = moments_by_pattern(tmp_path)
        assert {n: m.names for n, m in found.items()} == {
            "source": ("a", "code=x7", "y"),
            "source without code": ("a", "y"),
        }

    def test_numbers_with_a_word_for_missing_are_not_taken_for_levels(self, tmp_path):
        rows = [f"{k},{k % 40},{k}" for k in range(200)]
        path = self.write(tmp_path / "rows.csv", [*rows, "1,unknown,2"])
        with pytest.raises(NotNumeric, match=r"'code' .*'0' and 'unknown'.*null_values"):
            moments_of(path)
        assert len(moments_of(path, texts=["code"]).names) == 43
        files = Files(path, csv={"null_values": ["unknown"]}, nulls="drop")
        with pytest.warns(RowsDropped):
            assert moments_of(files).names == ("a", "code", "y")

    def test_dates_may_be_levels_if_one_says_so(self, tmp_path):
        path = self.write(tmp_path / "rows.csv", ["1,2020-01-01,2", "2,2020-01-02,2"])
        with pytest.raises(NotNumeric, match=r"'code' of .*texts=\['code'\]"):
            moments_of(path)
        assert "code=2020-01-02" in moments_of(path, texts=["code"]).names


@pytest.mark.parametrize("precision", ["auto", "fast", "accurate", "exact"])
def test_any_number_of_threads_gives_the_same_bits(tmp_path, gaps, precision):
    folder = folder_of(gaps, tmp_path)
    one, *others = (
        {n: m.text() for n, m in found.items()}
        for found in (
            moments_by_pattern(folder, precision=precision, n_jobs=jobs) for jobs in (None, 2, -1)
        )
    )
    assert others == [one, one]
    with pytest.raises(BadOption, match="n_jobs=0"):
        moments_of(folder, n_jobs=0)
    with pytest.raises(BadOption, match="workers=0"):
        moments_of(Files(folder, workers=0))


def test_moments_can_be_sent(tmp_path, pumps):
    moments_of(pumps).save(tmp_path / "pumps.moments.json", min_rows=20)
    assert json.loads((tmp_path / "pumps.moments.json").read_text())["names"] == [*NAMES]
    assert Moments.load(tmp_path / "pumps.moments.json").text() == moments_of(pumps).text()


def test_nothing_is_warned_of_without_reason(door, pumps):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        moments_of(door(pumps))
        moments_by_pattern(door(pumps))
    assert not told
