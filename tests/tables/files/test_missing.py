"""Files whose rows lack values: patterns, and what is dropped or refused."""

import re
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from poolwise import Files, moments_by_pattern
from poolwise.errors import BadColumns, LeftOut, NotFinite
from poolwise.tables import streamed_rows
from poolwise.tables.intake import gather
from tests.tables.files.writing import agree, read, write
from tests.tables.same import same


def holed(rows):
    rows = rows.copy()
    rows.loc[:24, "a"] = np.nan
    rows.loc[23:45, "site"] = None
    return rows.astype({"count": "float64"})


def test_rows_with_gaps_count_as_in_memory(tmp_path, form, target, rows):
    gaps = holed(rows)
    for k in range(3):
        write(gaps[k::3], tmp_path / "h" / f"{k}.{form}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours, theirs = read(target, tmp_path / "h"), read(target, gaps)
    assert same(ours.problem.sources, theirs.problem.sources)
    assert ours.optional == theirs.optional
    assert [str(c) for c in ours.cautions] == [str(c) for c in theirs.cautions]
    assert ours.filled == theirs.filled == {"source": {"a": 25, "site": 23}}


def test_a_file_that_lacks_a_column_is_a_pattern(tmp_path, form, target, rows):
    write(rows[:30].drop(columns="a"), tmp_path / "h" / f"a.{form}")
    write(rows[30:], tmp_path / "h" / f"b.{form}")
    gaps = rows.copy()
    gaps.loc[:29, "a"] = np.nan
    assert agree(target, tmp_path / "h", gaps)
    for nulls in ("raise", "drop"):
        with pytest.raises(BadColumns, match=r"a\..*no column 'a'.*b\."):
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
    with pytest.raises(NotFinite) as caught:
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
    (told,) = [str(c) for c in taken.cautions if isinstance(c, LeftOut)]
    assert told.startswith("47 of 60 rows of table 'source' were dropped")
    assert "'a' in 25, 'site' in 23, 'y' in 1" in told
    full = write(rows, tmp_path / f"full.{form}")
    assert read(target, Files(full, nulls="drop")).cautions == ()


def test_a_missing_response_is_refused_with_its_file(tmp_path, form, target, rows):
    gaps = rows.copy()
    gaps.loc[[3, 5], "y"] = np.nan
    path = write(gaps, tmp_path / f"old.{form}")
    with pytest.raises(NotFinite, match=r"old.* lacks the response 'y' in 2 of 60 rows") as told:
        read(target, path, strict=True)
    found = read(target, path)
    assert found.problem.sources["source"].rows == 58
    assert found.account.tables[1].without_response == 2
    condition = re.search(r"filter=(.*?\(nan_is_null=True\))", str(told.value))[1]
    advised = Files(path, filter=eval(condition, {"pyarrow": pa}))
    assert agree(target, advised, rows.drop(index=[3, 5]))
    weighted = write(gaps.assign(w=gaps["y"].notna()), tmp_path / f"weighted.{form}")
    assert read(target, Files(weighted, weights="w")).problem.sources["source"].rows == 58


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_is_refused_with_its_file(tmp_path, target, rows, value):
    rows.loc[3, "a"] = value
    with pytest.raises(NotFinite, match=r"old\.parquet.*'a' in 1"):
        read(target, write(rows, tmp_path / "old.parquet"))


def test_not_a_number_is_a_missing_value(tmp_path, target, rows):
    table = pa.Table.from_pandas(rows.assign(a=0.0), preserve_index=False)
    gaps = np.where(np.arange(len(rows)) < 20, np.nan, rows["a"])
    at = table.schema.get_field_index("a")
    table = table.set_column(at, "a", pa.array(gaps, from_pandas=False))
    assert not table.column("a").null_count
    pq.write_table(table, tmp_path / "old.parquet")
    assert read(target, tmp_path / "old.parquet").filled == {"source": {"a": 20}}


def test_rows_without_any_feature_count_as_in_memory(tmp_path, target, rows):
    gaps = rows[["a", "y"]].copy()
    gaps.loc[:3, "a"] = np.nan
    assert agree(target, write(gaps, tmp_path / "old.parquet"), gaps)


def test_rows_of_too_many_patterns_are_left_out_and_counted(tmp_path, target, rows, monkeypatch):
    monkeypatch.setattr(streamed_rows, "MOST_PATTERNS", 2)
    path = write(holed(rows), tmp_path / "old.parquet")
    taken = read(target, path)
    (told,) = [c for c in taken.cautions if isinstance(c, LeftOut)]
    assert "lack columns in more than 2 different patterns" in str(told)
    assert taken.problem.sources["source"].rows == len(rows) - told.about["dropped"]
    with pytest.raises(NotFinite, match="more than 2 "):
        moments_by_pattern(Files(path))
