"""Files: any format, any layout, and the same moments as the same rows in memory."""

import gzip
import json
import re
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.dataset as ds
import pyarrow.feather as pf
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose
from sklearn.model_selection import cross_val_score

from poolwise import Files, PooledRegressor, Sources, compare, moments_of
from poolwise.errors import (
    BadOption,
    BadSource,
    BadWeights,
    DroppedColumns,
    DuplicateColumns,
    EmptySource,
    FilesNotFound,
    FragmentsLeftOut,
    MissingColumns,
    NoResponse,
    NoSharedColumn,
    NotFinite,
    NotInFile,
    NotNumeric,
    NullResponse,
    NullsInFile,
    RoundedIntegers,
    RowsDropped,
    RowsWithoutFeatures,
    SlicedSources,
    TooManyPatterns,
    TransferError,
    UnknownFormat,
    UnreadableFile,
)
from poolwise.intake import gather
from poolwise.tables import pattern_sums
from poolwise.tables.formats import Reader
from poolwise.tables.paths import find_files


def write_csv(table, path):
    pc.write_csv(table, path)


def write_compressed(codec):
    def write(table, path):
        with pa.OSFile(str(path), "wb") as raw, pa.CompressedOutputStream(raw, codec) as out:
            pc.write_csv(table, out)

    return write


def write_tsv(table, path):
    pc.write_csv(table, path, pc.WriteOptions(delimiter="\t"))


WRITERS = {
    "csv": write_csv,
    "tsv": write_tsv,
    "csv.gz": write_compressed("gzip"),
    "csv.bz2": write_compressed("bz2"),
    "csv.zst": write_compressed("zstd"),
    "csv.lz4": write_compressed("lz4"),
    "parquet": pq.write_table,
    "pq": lambda table, path: pq.write_table(table, path, row_group_size=7),
    "feather": pf.write_feather,
    "arrow": lambda table, path: pf.write_feather(table, path, compression="uncompressed"),
}


@pytest.fixture(params=WRITERS)
def suffix(request):
    return request.param


@pytest.fixture(params=["csv", "parquet", "feather"])
def form(request):
    return request.param


@pytest.fixture
def rows():
    """Return history: numbers, an integer, a text, a yes or no, and the response."""
    rng, n = np.random.default_rng(3), 60
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=n) * 1e3,
            "count": rng.integers(0, 9, n),
            "site": rng.choice(["coast", "inland", "Ærø"], n),
            "on": rng.random(n) < 0.5,
        }
    )
    return frame.assign(y=frame["a"] / 1e3 + frame["count"] + rng.normal(size=n))


@pytest.fixture
def target():
    rng, n = np.random.default_rng(4), 30
    return pd.DataFrame(
        {
            "a": rng.normal(size=n) * 1e3,
            "count": rng.integers(0, 9, n),
            "site": rng.choice(["coast", "inland"], n),
            "on": rng.random(n) < 0.5,
            "new": rng.normal(size=n),
        }
    )


def y_of(target):
    return pd.Series(target["a"] / 1e3 + target["new"], name="y")


def write(frame, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    suffix = path.name.partition(".")[2]
    WRITERS[suffix](pa.Table.from_pandas(frame, preserve_index=False), path)
    return path


def read(target, sources, precision="exact", **options):
    return gather(target, y_of(target), sources=sources, precision=precision, **options)


def same(one, other):
    """Say whether two collections of sources are the same to the last bit."""
    assert list(one) == list(other)
    for name, a in one.items():
        b = other[name]
        assert (a.names, a.rows, a.weight) == (b.names, b.rows, b.weight)
        S, T = (m.scatter_between(m.names, m.names) for m in (a, b))
        pairs = [(a.mean, b.mean), (a.mean_tail, b.mean_tail), (S, T), (a.low, b.low)]
        assert all(np.array_equal(x, z) for x, z in pairs)
    return True


def agree(target, files, frame, **options):
    ours = read(target, files, **options).problem.sources
    held = {"source": frame} if isinstance(frame, pd.DataFrame) else frame
    return same(ours, read(target, held, **options).problem.sources)


def test_every_format_gives_the_moments_of_the_same_rows_in_memory(tmp_path, suffix, target, rows):
    path = write(rows, tmp_path / f"old.{suffix}")
    assert agree(target, str(path), rows)
    assert agree(target, path, rows)
    assert agree(target, Files(path), rows, intercept=False)


@pytest.mark.parametrize("precision", ["auto", "fast", "accurate"])
def test_every_precision_agrees_with_memory(tmp_path, form, target, rows, precision):
    path = write(rows, tmp_path / f"old.{form}")
    ours, theirs = (read(target, s, precision).problem.sources["source"] for s in (path, rows))
    assert ours.precision == theirs.precision
    assert_allclose(ours.mean, theirs.mean, rtol=1e-14)
    S, T = (m.scatter_between(m.names, m.names) for m in (ours, theirs))
    assert_allclose(S, T, rtol=1e-12, atol=1e-9)


def test_files_of_a_glob_a_folder_and_a_list_are_one_source(tmp_path, form, target, rows):
    parts = [rows[:20], rows[20:45], rows[45:]]
    for k, part in enumerate(parts):
        write(part, tmp_path / "history" / f"part{k}.{form}")
    (tmp_path / "history" / "_SUCCESS").touch()
    (tmp_path / "history" / "README.md").write_text("not data")
    (tmp_path / "history" / ".hidden").mkdir()
    write(rows, tmp_path / "history" / ".hidden" / f"more.{form}")
    folder = tmp_path / "history"
    assert agree(target, f"{folder}/*.{form}", rows)
    assert agree(target, str(folder), rows)
    assert agree(target, Files([folder / f"part{k}.{form}" for k in range(3)]), rows)
    assert agree(target, Files([folder / f"part0.{form}", folder]), rows)  # none is read twice


def test_a_list_of_paths_is_as_many_sources(tmp_path, target, rows):
    one, two = (write(rows[i : i + 30], tmp_path / f"{i}.csv") for i in (0, 30))
    assert agree(target, [str(one), two], [rows[:30], rows[30:]])
    assert agree(target, (str(one), str(two)), [rows[:30], rows[30:]])
    assert agree(target, {"x": str(one), "z": two}, {"x": rows[:30], "z": rows[30:]})


def test_formats_may_be_mixed(tmp_path, target, rows):
    write(rows[:20], tmp_path / "h" / "a.csv")
    write(rows[20:40], tmp_path / "h" / "b.parquet")
    write(rows[40:], tmp_path / "h" / "c.feather")
    assert agree(target, tmp_path / "h", rows)


def test_folders_named_by_key_and_value_give_a_column(tmp_path, form, target, rows):
    for site, part in rows.groupby("site"):
        for on, piece in part.groupby("on"):
            folder = tmp_path / "h" / f"site={site}" / f"on={int(on)}"
            write(piece.drop(columns=["site", "on"]), folder / f"p.{form}")
    ordered = rows.assign(on=rows["on"].astype(int))
    assert agree(target.astype({"on": int}), str(tmp_path / "h"), ordered)
    some = ordered[ordered["site"] == "coast"]
    filtered = Files(tmp_path / "h", filter=[("site", "==", "coast")])
    assert agree(target.astype({"on": int}), filtered, some)


def test_keys_that_the_target_lacks_are_no_columns(tmp_path, target, rows):
    write(rows[:30], tmp_path / "h" / "year=2019" / "p.parquet")
    write(rows[30:], tmp_path / "h" / "year=2020" / "p.parquet")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert agree(target, tmp_path / "h", rows)
    late = Files(tmp_path / "h", filter=[("year", ">", 2019)])
    assert agree(target, late, rows[30:])
    with pytest.raises(MissingColumns, match="yeer"):
        read(target, Files(tmp_path / "h", columns=["a", "yeer"]))


def test_rows_of_folders_that_cannot_match_are_not_read(tmp_path, form, target, rows, monkeypatch):
    for year in (2018, 2019, 2020):
        write(rows[year % 3 :: 3], tmp_path / "h" / f"year={year}" / f"p.{form}")
    touched, batches = [], Reader.batches

    def watched(reader, *args):
        touched.append(reader.file.keys["year"])
        return batches(reader, *args)

    monkeypatch.setattr(Reader, "batches", watched)
    files = Files(tmp_path / "h", filter=[("year", "<", 2020), ("count", ">", 1)])
    some = pd.concat([rows[2018 % 3 :: 3], rows[2019 % 3 :: 3]])
    assert agree(target, files, some[some["count"] > 1])
    assert set(touched) == {"2018", "2019"}


def test_columns_may_stand_in_another_order_in_each_file(tmp_path, form, target, rows):
    write(rows[:30], tmp_path / "h" / f"a.{form}")
    write(rows[30:][["y", "on", "site", "count", "a"]], tmp_path / "h" / f"b.{form}")
    assert agree(target, tmp_path / "h", rows)


def test_integers_here_and_fractions_there_are_numbers(tmp_path, form, target, rows):
    mixed = rows.astype({"count": float})
    mixed.loc[40, "count"] = 2.5
    write(mixed[:30].astype({"count": np.int8}), tmp_path / "h" / f"a.{form}")
    write(mixed[30:].astype({"count": np.float64}), tmp_path / "h" / f"b.{form}")
    assert agree(target, tmp_path / "h", mixed)


def test_a_csv_may_hold_integers_or_nothing_for_long_before_fractions(tmp_path, target):
    n = 450_000
    early = "".join(f"{k},,{k % 5}\n" for k in range(n))
    late = "".join(f"{k}.5,{k * k}.25,{k}\n" for k in range(50))
    assert len(early) > 2**22  # the first block, from which types could be guessed
    (tmp_path / "late.csv").write_text(f"a,count,y\n{early}{late}")
    ours = read(target, tmp_path / "late.csv", "fast").problem.sources
    assert [(n, m.rows) for n, m in ours.items()] == [
        ("source", 50),
        ("source without count", n),
    ]


def test_a_csv_has_the_kinds_of_the_target(tmp_path, target, rows):
    coded = rows.assign(site=np.arange(60) % 3 + 1)
    write(coded, tmp_path / "codes.csv")
    texts = target.assign(site=["01", "2"] * 15)
    ours = read(texts, tmp_path / "codes.csv").problem
    assert [n for n in ours.target.names if n.startswith("site")] == [
        "site=1",
        "site=2",
        "site=3",
    ]
    write(rows, tmp_path / "codes.csv")
    with pytest.raises(UnreadableFile, match=r"codes.*'site'.*inland"):
        read(target.assign(site=1.0), tmp_path / "codes.csv")


def test_a_csv_can_be_written_as_people_do(tmp_path, target, rows):
    text = rows.to_csv(index=False, sep=";", decimal=",")
    (tmp_path / "old.csv").write_bytes(text.replace("Ærø", "Aerø").encode("latin1"))
    words = {"delimiter": ";", "decimal_point": ",", "encoding": "latin1"}
    renamed = rows.replace({"site": {"Ærø": "Aerø"}})
    assert agree(target, Files(tmp_path / "old.csv", csv=words), renamed)
    with pytest.raises(BadOption, match="sep"):
        read(target, Files(tmp_path / "old.csv", csv={"sep": ";"}))


def test_integers_of_more_than_53_bits_are_refused(tmp_path, form, target, rows):
    large = rows.assign(count=rows["count"].astype(np.int64) + 2**53 + 1)
    with pytest.raises(RoundedIntegers, match=r"'count' of .*large"):
        read(target, write(large, tmp_path / f"large.{form}"))


def test_dictionaries_and_views_are_text(tmp_path, target, rows):
    table = pa.Table.from_pandas(rows, preserve_index=False)
    at = table.schema.get_field_index("site")
    for k, kind in enumerate([pa.dictionary(pa.int8(), pa.string()), pa.string_view()]):
        column = table.column("site").cast(kind)
        held = table.set_column(at, "site", column)
        pf.write_feather(held, tmp_path / f"{k}.feather")
        assert agree(target, tmp_path / f"{k}.feather", rows)


def test_names_of_columns_and_paths_may_be_any_text(tmp_path, form, target, rows):
    names = {"a": "Größe [m²]", "count": "数", "y": "y"}
    folder = tmp_path / "données 数[1]*"
    write(rows.rename(columns=names), folder / f"été.{form}")
    ours = target.rename(columns=names)
    y = pd.Series(target["a"] / 1e3, name="y")
    sources = {"file": str(folder / f"été.{form}")}
    held = {"file": rows.rename(columns=names)}
    one, two = (gather(ours, y, sources=s, precision="exact") for s in (sources, held))
    assert same(one.problem.sources, two.problem.sources)


def test_only_the_columns_asked_for_are_read(tmp_path, form, target, rows):
    path = write(rows.assign(when=pd.Timestamp("2020-01-01")), tmp_path / f"old.{form}")
    with_all = read(target, path)
    assert [type(c) for c in with_all.cautions] == [DroppedColumns]
    files = Files(path, columns=["site", "a"])
    assert agree(target, files, rows[["a", "site", "y"]])
    assert read(target, files).cautions == ()


def test_weights_come_from_a_column(tmp_path, form, target, rows):
    w = np.arange(60) % 4
    path = write(rows.assign(w=w), tmp_path / f"old.{form}")
    assert agree(target, Files(path, weights="w"), (rows.drop(columns="y"), rows["y"], w))
    one, two = (read(target, s) for s in (Files(path, weights="w"), rows))
    assert one.cautions == two.cautions == ()


def test_bad_weights_name_file_and_column(tmp_path, form, target, rows):
    path = write(rows.assign(w=-1.0), tmp_path / f"old.{form}")
    with pytest.raises(BadWeights, match=r"'w' of .*old"):
        read(target, Files(path, weights="w"))
    with pytest.raises(NotInFile, match=r"old.*'v'"):
        read(target, Files(path, weights="v"))
    with pytest.raises((NotNumeric, UnreadableFile), match=r"'site'"):
        read(target, Files(path, weights="site"))


@pytest.mark.parametrize(
    "condition",
    [
        [("count", ">=", 4), ("on", "==", True)],
        (ds.field("count") >= 4) & ds.field("on"),
        [[("count", ">=", 4), ("on", "==", True)], [("count", ">", 99)]],
    ],
    ids=["tuples", "expression", "any of"],
)
def test_a_filter_leaves_rows_out(tmp_path, suffix, target, rows, condition):
    path = write(rows, tmp_path / f"old.{suffix}")
    some = rows[(rows["count"] >= 4) & rows["on"]]
    assert agree(target, Files(path, filter=condition), some)
    features = Files(path, filter=condition, columns=["a", "site"])  # the filter's are read too
    assert agree(target, features, some[["a", "site", "y"]])


def test_a_filter_of_one_tuple_needs_no_list(tmp_path, target, rows):
    path = write(rows, tmp_path / "old.parquet")
    assert agree(target, Files(path, filter=("count", "<", 5)), rows[rows["count"] < 5])


def test_a_filter_skips_row_groups_that_cannot_match(tmp_path, target, rows):
    path = tmp_path / "old.parquet"
    ordered = rows.sort_values("a").reset_index(drop=True)
    pq.write_table(pa.Table.from_pandas(ordered), path, row_group_size=10)
    limit = ordered["a"][19]
    assert agree(target, Files(path, filter=[("a", "<=", limit)]), ordered[:20])


def test_a_filter_on_an_unknown_column_is_refused(tmp_path, form, target, rows):
    path = write(rows, tmp_path / f"old.{form}")
    with pytest.raises(BadOption, match=r"filter.*'count'"):
        read(target, Files(path, filter=[("cuont", ">", 1)]))
    with pytest.raises(BadOption, match="filter"):
        read(target, Files(path, filter="count > 1"))


def test_a_filter_that_leaves_nothing_is_told(tmp_path, form, target, rows):
    path = write(rows, tmp_path / f"old.{form}")
    taken = read(target, Files(path, filter=[("count", ">", 99)]))
    assert taken.problem.sources == {}
    assert [type(c) for c in taken.cautions] == [EmptySource]


def test_a_file_without_rows_changes_nothing(tmp_path, form, target, rows):
    write(rows, tmp_path / "h" / f"a.{form}")
    write(rows[:0], tmp_path / "h" / f"b.{form}")
    assert agree(target, tmp_path / "h", rows)
    assert [type(c) for c in read(target, tmp_path / "h" / f"b.{form}").cautions] == [EmptySource]


def holed(rows):
    rows = rows.copy()
    rows.loc[:24, "a"] = np.nan
    rows.loc[23:45, "site"] = None
    return rows.astype({"count": "float64"})


def test_each_pattern_of_missing_columns_is_a_source(tmp_path, form, target, rows):
    gaps = holed(rows)
    for k in range(3):
        write(gaps[k::3], tmp_path / "h" / f"{k}.{form}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours, theirs = read(target, tmp_path / "h"), read(target, gaps)
    assert same(ours.problem.sources, theirs.problem.sources)
    assert ours.optional == theirs.optional
    assert [str(c) for c in ours.cautions] == [str(c) for c in theirs.cautions]
    assert any(isinstance(c, FragmentsLeftOut) for c in ours.cautions)


def test_a_file_that_lacks_a_column_is_a_pattern(tmp_path, form, target, rows):
    write(rows[:30].drop(columns="a"), tmp_path / "h" / f"a.{form}")
    write(rows[30:], tmp_path / "h" / f"b.{form}")
    gaps = rows.copy()
    gaps.loc[:29, "a"] = np.nan
    assert agree(target, tmp_path / "h", gaps)
    for nulls in ("raise", "drop"):
        with pytest.raises(NotInFile, match=r"a\..*no column 'a'.*b\."):
            read(target, Files(tmp_path / "h", nulls=nulls))


def test_patterns_of_many_columns_are_told_apart(tmp_path):
    rng, names = np.random.default_rng(8), [f"x{j}" for j in range(70)]
    target = pd.DataFrame(rng.normal(size=(200, 70)), columns=names)
    rows = pd.DataFrame(rng.normal(size=(300, 71)), columns=[*names, "y"])
    rows.loc[:149, "x69"] = np.nan
    rows.loc[100:, "x0"] = np.nan
    y = pd.Series(target["x1"], name="y")
    one, two = (
        gather(target, y, sources={"old": s}, precision="exact").problem.sources
        for s in (write(rows, tmp_path / "wide.parquet"), rows)
    )
    assert same(one, two)


def test_a_column_without_a_value_is_not_there(tmp_path, form, target, rows):
    path = write(rows.assign(a=np.nan, site=None), tmp_path / f"old.{form}")
    assert agree(target, path, rows[["count", "on", "y"]])


def test_nulls_can_be_refused_with_file_and_column(tmp_path, form, target, rows):
    write(rows.astype({"count": float}), tmp_path / "h" / f"a.{form}")
    bad = write(holed(rows), tmp_path / "h" / f"b.{form}")
    with pytest.raises(NullsInFile) as caught:
        read(target, Files(tmp_path / "h", nulls="raise"))
    told = str(caught.value)
    assert str(bad) in told
    assert "in 46 rows: 'a' in 25, 'site' in 23." in told


def test_nulls_can_be_dropped_and_are_counted(tmp_path, form, target, rows):
    gaps = holed(rows)
    gaps.loc[50, "y"] = np.nan
    path = write(gaps, tmp_path / f"old.{form}")
    taken = read(target, Files(path, nulls="drop"))
    assert same(taken.problem.sources, read(target, gaps.dropna()).problem.sources)
    (told,) = [str(c) for c in taken.cautions if isinstance(c, RowsDropped)]
    assert told.startswith("47 of 60 rows of source 'source' were dropped")
    assert "'a' in 25, 'site' in 23, 'y' in 1" in told
    full = write(rows, tmp_path / f"full.{form}")
    assert read(target, Files(full, nulls="drop")).cautions == ()


def test_a_missing_response_is_refused_with_its_file(tmp_path, form, target, rows):
    gaps = rows.copy()
    gaps.loc[[3, 5], "y"] = np.nan
    path = write(gaps, tmp_path / f"old.{form}")
    with pytest.raises(NullResponse, match=r"old.* lacks the response 'y' in 2 of 60 rows") as told:
        read(target, path)
    condition = re.search(r"filter=(.*?\(nan_is_null=True\))", str(told.value))[1]
    advised = Files(path, filter=eval(condition, {"pyarrow": pa}))
    assert agree(target, advised, rows.drop(index=[3, 5]))
    weighted = write(gaps.assign(w=gaps["y"].notna()), tmp_path / f"weighted.{form}")
    assert read(target, Files(weighted, weights="w")).problem.sources["source"].rows == 58


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_is_refused_with_its_file(tmp_path, target, rows, value):
    rows.loc[3, "a"] = value
    with pytest.raises(NotFinite, match=r"old\.parquet.*'a': 1"):
        read(target, write(rows, tmp_path / "old.parquet"))


def test_not_a_number_is_a_missing_value(tmp_path, target, rows):
    table = pa.Table.from_pandas(rows.assign(a=0.0), preserve_index=False)
    gaps = np.where(np.arange(len(rows)) < 20, np.nan, rows["a"])
    at = table.schema.get_field_index("a")
    table = table.set_column(at, "a", pa.array(gaps, from_pandas=False))
    assert not table.column("a").null_count
    pq.write_table(table, tmp_path / "old.parquet")
    sources = read(target, tmp_path / "old.parquet").problem.sources
    assert [moments.rows for moments in sources.values()] == [40, 20]


def test_rows_without_any_feature_are_refused_with_their_file(tmp_path, target, rows):
    gaps = rows[["a", "y"]].copy()
    gaps.loc[:3, "a"] = np.nan
    with pytest.raises(RowsWithoutFeatures, match=r"old\.parquet has 4 rows"):
        read(target, write(gaps, tmp_path / "old.parquet"))


def test_patterns_beyond_number_are_refused(tmp_path, target, rows, monkeypatch):
    monkeypatch.setattr(pattern_sums, "MOST_PATTERNS", 2)
    path = write(holed(rows), tmp_path / "old.parquet")
    with pytest.raises(TooManyPatterns, match="more than 2 "):
        read(target, path)


def test_a_file_without_the_response_is_named(tmp_path, form, target, rows):
    write(rows, tmp_path / "h" / f"a.{form}")
    path = write(rows.rename(columns={"y": "Y"}), tmp_path / "h" / f"b.{form}")
    with pytest.raises(NotInFile, match=r"b\..*no column 'y'"):
        read(target, tmp_path / "h")
    with pytest.raises(NoResponse, match="'y'"):
        read(target, path)


def test_text_here_and_numbers_there_names_both_files(tmp_path, target, rows):
    write(rows, tmp_path / "h" / "a.parquet")
    write(rows.assign(a="high"), tmp_path / "h" / "b.parquet")
    with pytest.raises(NotNumeric, match=r"'a' holds numbers in .*a\.parquet and text in .*b\."):
        read(target, tmp_path / "h")
    with pytest.raises(NotNumeric, match="numbers in the target and text in source"):
        read(target, tmp_path / "h" / "b.parquet")


def test_dates_are_refused_with_their_file(tmp_path, target, rows):
    path = write(rows.assign(a=pd.Timestamp("2020-01-01")), tmp_path / "old.parquet")
    with pytest.raises(NotNumeric, match=r"'a' of .*old\.parquet holds timestamp"):
        read(target, path)


def test_text_as_the_response_is_refused(tmp_path, form, target, rows):
    path = write(rows.assign(y="high"), tmp_path / f"old.{form}")
    with pytest.raises((NotNumeric, UnreadableFile), match=r"'y'"):
        read(target, path)


def test_files_that_share_nothing_are_refused(tmp_path, form, target, rows):
    path = write(rows[["y"]].assign(z=1.0), tmp_path / f"old.{form}")
    with pytest.raises(NoSharedColumn, match="'z'"):
        read(target, path)


def test_two_columns_of_one_name_are_refused_with_their_file(tmp_path, target):
    (tmp_path / "old.csv").write_text("a,a,y\n1,2,3\n")
    with pytest.raises(DuplicateColumns, match=r"old\.csv"):
        read(target, tmp_path / "old.csv")


@pytest.mark.parametrize("share", [0.02, 0.5, 0.98])
def test_a_truncated_file_is_named(tmp_path, target, rows, share):
    for suffix in ("parquet", "feather", "csv.gz", "csv.bz2", "csv.zst"):
        path = write(pd.concat([rows] * 50), tmp_path / f"old.{suffix}")
        whole = path.read_bytes()
        path.write_bytes(whole[: int(len(whole) * share)])
        with pytest.raises(UnreadableFile, match=r"old\."):
            read(target, path)


def test_a_file_that_is_cut_in_the_middle_of_its_rows_is_named(tmp_path, target, rows):
    path = tmp_path / "old.parquet"
    write(pd.concat([rows] * 50), path)
    content = bytearray(path.read_bytes())
    content[100:3000] = bytes(2900)
    path.write_bytes(content)
    with pytest.raises(UnreadableFile, match=r"old\.parquet"):
        read(target, path)


@pytest.mark.parametrize(
    ("is_really", "named"),
    [
        ("csv", "parquet"),
        ("csv", "feather"),
        ("csv", "csv.gz"),
        ("csv.gz", "csv"),
        ("parquet", "csv"),
        ("parquet", "feather"),
        ("feather", "parquet"),
    ],
)
def test_a_mislabelled_file_is_named(tmp_path, target, rows, is_really, named):
    path = write(rows, tmp_path / f"old.{is_really}").rename(tmp_path / f"x.{named}")
    with pytest.raises(UnreadableFile, match=rf"x\.{named}.* cannot be read as .*begins like"):
        read(target, path)


def test_the_format_can_be_said(tmp_path, target, rows):
    path = write(rows, tmp_path / "old.parquet").rename(tmp_path / "part-0000")
    with pytest.raises(UnknownFormat, match="part-0000"):
        read(target, path)
    assert agree(target, Files(path, format="parquet"), rows)
    assert agree(target, Files(tmp_path, format="parquet"), rows)


def test_an_empty_or_ragged_csv_is_named(tmp_path, target):
    for text in ("", "a,y\n1,2\n3\n", "a,y\n1,2\nx,3\n"):
        (tmp_path / "old.csv").write_text(text)
        with pytest.raises(UnreadableFile, match=r"old\.csv"):
            read(target, tmp_path / "old.csv")


def test_nothing_to_read_is_told(tmp_path, target):
    (tmp_path / "empty").mkdir()
    for path in ("gone.parquet", "gone/*.csv", "empty"):
        with pytest.raises(FilesNotFound, match=path.partition("/")[0]):
            read(target, str(tmp_path / path))
    with pytest.raises(FilesNotFound):
        read(target, Files([]))


@pytest.mark.parametrize(
    "options", [{"nulls": "keep"}, {"format": "xlsx"}, {"columns": "a"}], ids=str
)
def test_options_are_checked_when_they_are_given(options):
    with pytest.raises(BadOption):
        Files("old.csv", **options)


def test_files_print_their_paths():
    assert repr(Files(["a.csv", "b/*.csv"])) == "Files('a.csv', 'b/*.csv')"


def test_the_response_is_a_column_of_the_files(tmp_path, target, rows):
    path = write(rows, tmp_path / "old.csv")
    for source in ((Files(path), rows["y"]), (path, rows["y"], None)):
        with pytest.raises(BadSource):
            read(target, source)


def test_a_path_as_long_as_the_target_is_not_cut(tmp_path, target, rows, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = rows.drop(columns="site")
    path = write(rows, tmp_path / ("x" * (30 - len(".csv")) + ".csv")).name
    assert len(path) == len(target)
    assert agree(target, path, rows)
    X, y = target[["a", "count", "on", "new"]].astype(float), y_of(target).to_numpy()
    with pytest.raises(SlicedSources):
        cross_val_score(
            PooledRegressor(), X, y, params={"sources": path}, cv=3, error_score="raise"
        )
    scores = cross_val_score(PooledRegressor(), X, y, params={"sources": Files(path)}, cv=3)
    wrapped = cross_val_score(PooledRegressor(), X, y, params={"sources": Sources(path)}, cv=3)
    assert np.isfinite(scores).all()
    assert np.array_equal(scores, wrapped)


def test_a_method_that_needs_rows_reads_the_files_again(tmp_path, form, target, rows):
    path = write(rows.assign(w=np.arange(60) % 3), tmp_path / f"old.{form}")
    held = (rows.drop(columns="y"), rows["y"], np.arange(60) % 3)
    fits = [
        PooledRegressor("kernel_transfer").fit(target, y_of(target), sources=s)
        for s in (Files(path, weights="w"), held)
    ]
    assert_allclose(fits[0].coef_, fits[1].coef_, rtol=1e-10)


def test_methods_are_compared_on_files(tmp_path, target, rows):
    path = write(holed(rows), tmp_path / "old.parquet")
    X, y = target[["a", "count", "new"]], y_of(target)
    methods = ["target_only", "bayes_pooling"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, two = (
            compare(X, y, sources=s, methods=methods, cv=3)
            for s in ({"old": str(path)}, {"old": holed(rows)})
        )
    assert str(one) == str(two)


def test_poor_sums_are_read_again(tmp_path, target):
    rng = np.random.default_rng(0)
    a = rng.normal(size=500)
    rows = pd.DataFrame({"a": a, "new": a + 1e-9 * rng.normal(size=500), "y": a})
    path = write(rows, tmp_path / "old.parquet")
    ours, theirs = (
        gather(target[["a", "new"]], y_of(target), sources=s).problem for s in (path, rows)
    )
    assert ours.sources["source"].precision == theirs.sources["source"].precision == "exact"


def test_a_bar_shows_rows_and_bytes(tmp_path, target, rows, monkeypatch):
    from poolwise import progress

    bars = []

    class Watched(progress.ReadingBar):
        def __init__(self, *args):
            super().__init__(*args)
            self.size = args[-1]
            bars.append(self)

    monkeypatch.setattr(progress, "ReadingBar", Watched)
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    for suffix in ("csv", "csv.gz", "parquet", "feather"):
        write(rows, tmp_path / "h" / f"old.{suffix}")
    read(target, Files(tmp_path / "h", progress=True))
    assert [bar.rows for bar in bars] == [240, 240]  # for the levels of site, and for the sums
    assert all(bar.bytes == pytest.approx(bar.size, rel=0.01) for bar in bars)


def test_an_error_of_files_is_one_of_ours(tmp_path, target):
    with gzip.open(tmp_path / "old.parquet", "wb") as file:
        file.write(b"no table at all")
    with pytest.raises(TransferError):
        read(target, tmp_path / "old.parquet")


MEMORY = """
import json, resource, sys
import numpy as np, pandas as pd, pyarrow.parquet, pyarrow.csv
from poolwise import PooledRegressor
rng = np.random.default_rng(0)
X = pd.DataFrame(rng.normal(size=(40, 9)), columns=[f"x{j}" for j in range(9)])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
model = PooledRegressor("data_pooling").fit(X, rng.normal(size=40), sources=sys.argv[1])
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(json.dumps([grown / 1024, model.problem_.sources["source"].rows]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ru_maxrss has other units")
@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_memory_is_bounded_however_long_the_file(tmp_path, suffix):
    n = 2_000_000
    values = np.random.default_rng(0).normal(size=(10, n))
    table = pa.table(dict(zip([*(f"x{j}" for j in range(9)), "y"], values, strict=True)))
    if suffix == "parquet":
        pq.write_table(table, tmp_path / "big.parquet", row_group_size=n)
    else:
        pf.write_feather(table, tmp_path / "big.feather")
    command = [sys.executable, "-c", MEMORY, str(tmp_path / f"big.{suffix}")]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    grown, rows = json.loads(out)
    assert rows == n
    assert grown < 150  # megabytes; the table has 160


@pytest.mark.parametrize("given", ["", ["old.parquet", ""]])
def test_an_empty_name_is_not_the_working_directory(tmp_path, target, rows, monkeypatch, given):
    monkeypatch.chdir(tmp_path)
    rows.to_parquet("old.parquet", index=False)
    with pytest.raises(FilesNotFound, match="The name is empty"):
        find_files(given)


def test_a_header_in_another_encoding_is_told_with_the_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("größe,y\n1,2\n3,4\n".encode("latin-1"))
    with pytest.raises(UnreadableFile, match=r"a\.csv"):
        moments_of(path)
    assert moments_of(Files(path, csv={"encoding": "latin-1"})).names == ("größe", "y")
