"""Streams: whatever speaks the Arrow C stream is read in batches, once."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from numpy.testing import assert_allclose

from poolwise import Files, PooledRegressor, Sources, moments_of
from poolwise.errors import BadColumns, BadSource, BadTable, LeftOut, NotNumeric
from poolwise.tables import arrow_streams
from poolwise.tables.intake import gather
from poolwise.tables.sources import find_frame, open_frame
from tests.tables.same import same


@pytest.fixture
def rows():
    rng, n = np.random.default_rng(5), 90
    a = rng.normal(size=n)
    frame = pd.DataFrame({"a": a, "count": rng.integers(0, 9, n), "y": a + rng.normal(size=n)})
    frame.loc[:39, "a"] = np.nan
    return frame.assign(site=rng.choice(["coast", "inland", "Ærø"], n))


@pytest.fixture
def target():
    rng, n = np.random.default_rng(6), 30
    columns = {"a": rng.normal(size=n), "count": rng.integers(0, 9, n)}
    sites = rng.choice(["coast", "inland"], n)
    return pd.DataFrame(columns).assign(site=sites, new=rng.normal(size=n))


class Once:
    """A stream that can be taken once."""

    def __init__(self, table, rows=11):
        self.reader, self.taken = table.to_reader(max_chunksize=rows), 0

    def __arrow_c_stream__(self, requested_schema=None):
        self.taken += 1
        assert self.taken == 1
        return self.reader.__arrow_c_stream__(requested_schema)


def duck(table):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    connection = duckdb.connect()
    connection.register("history", table)
    return connection.sql("select * from history")


def dasked(table):
    dask = pytest.importorskip("dask.dataframe", reason="dask is not installed")
    return dask.from_pandas(table.to_pandas(), npartitions=4)


# A new kind of streamed table is one line here.
MAKERS = {
    "reader": lambda table: table.to_reader(max_chunksize=13),
    "once": Once,
    "polars lazy": lambda table: pl.from_arrow(table).lazy(),
    "polars query": lambda table: (
        pl.from_arrow(table).lazy().with_columns(z=pl.col("count") * 2).drop("z")
    ),
    "duckdb": duck,
    "dask": dasked,
    "dataset": ds.dataset,
}


@pytest.fixture(params=MAKERS)
def make(request):
    def made(frame):
        return MAKERS[request.param](pa.Table.from_pandas(frame, preserve_index=False))

    return made


def read(target, source, precision="exact"):
    y = pd.Series(target["new"], name="y")
    return gather(target, y, sources={"old": source}, precision=precision)


@pytest.mark.parametrize("held", [2**26, 500], ids=["in memory", "in a file"])
def test_a_stream_gives_the_moments_of_the_same_rows_in_memory(
    make, target, rows, held, monkeypatch
):
    monkeypatch.setattr(arrow_streams, "HELD", held)
    ours, theirs = read(target, make(rows)), read(target, rows)
    assert list(theirs.problem.sources) == ["old"]
    assert same(ours.problem.sources, theirs.problem.sources)
    assert ours.optional == theirs.optional


def test_a_temporary_file_goes_with_the_fit(target, rows, monkeypatch, tmp_path):
    monkeypatch.setattr(arrow_streams, "HELD", 500)
    monkeypatch.setattr(arrow_streams.tempfile, "tempdir", str(tmp_path))
    table = pa.Table.from_pandas(rows, preserve_index=False)
    taken = read(target, table.to_reader(max_chunksize=13))
    assert len(list(tmp_path.iterdir())) == 1
    model = PooledRegressor("kernel_transfer")
    once = Once(table.select(["count", "site", "y"]))
    other = PooledRegressor("kernel_transfer")
    y = pd.Series(target["new"] + target["count"], name="y")
    model.fit(target, y, sources={"old": once})  # reads the rows again, and the stream once
    other.fit(target, y, sources={"old": rows[["count", "site", "y"]]})
    assert_allclose(model.coef_, other.coef_, rtol=1e-10)
    del taken
    assert list(tmp_path.iterdir()) == []


def test_columns_that_are_not_needed_are_not_kept(rows):
    wide = rows.assign(note="x" * 1000, day=pd.Timestamp("2020-01-01"))
    table = pa.Table.from_pandas(wide, preserve_index=False)
    unread = find_frame(Once(table), "table 'old'")
    opened = open_frame(unread, "table 'old'", dict.fromkeys(["a", "count"], False), "y")
    assert opened.batches.size < 90 * 8 * 4
    assert opened.names == tuple(wide.columns)


def test_an_empty_stream_changes_nothing(make, target, rows):
    taken = read(target, make(rows[:0].astype({"site": str})))
    assert taken.problem.sources == {}
    assert [type(c) for c in taken.cautions] == [LeftOut]


def test_what_is_wrong_with_a_stream_is_told(make, target, rows):
    with pytest.raises(BadSource, match="'y'"):
        read(target, make(rows.drop(columns="y")))
    with pytest.raises(NotNumeric, match=r"'a' of table 'old' holds (timestamp|datetime)"):
        read(target, make(rows.assign(a=pd.Timestamp("2020-01-01"))))
    with pytest.raises(NotNumeric, match="'y'"):
        read(target, make(rows.assign(y="high")))


@pytest.mark.parametrize("form", ["parquet", "feather", "csv"])
def test_a_dataset_of_files_is_read_with_its_folders_and_filter(target, rows, form, tmp_path):
    table = pa.Table.from_pandas(rows, preserve_index=False)
    hive = ds.partitioning(pa.schema([("site", pa.string())]), flavor="hive")
    ds.write_dataset(table, tmp_path / "history", format=form, partitioning=hive)
    dataset = ds.dataset(tmp_path / "history", format=form, partitioning=hive)
    some = dataset.filter(ds.field("count") > 2)
    files = Files(tmp_path / "history", filter=[("count", ">", 2)])
    assert same(read(target, some).problem.sources, read(target, files).problem.sources)
    assert moments_of(dataset, drop=["a"], precision="exact").rows == len(rows)


def test_a_dataset_is_read_again_by_every_fit_and_wherever_rows_are_needed(target, rows, tmp_path):
    rows.to_parquet(tmp_path / "old.parquet", index=False)
    dataset = ds.dataset(tmp_path / "old.parquet")
    coefs = [
        PooledRegressor("kernel_transfer", response="y", precision="exact")
        .fit(target, target["new"].rename("y"), sources=sources)
        .coef_
        for sources in (dataset, Sources([dataset]), rows)
    ]
    assert np.array_equal(coefs[0], coefs[1])
    assert_allclose(coefs[0], coefs[2], rtol=1e-9)  # blocks of rows are added up in another order
    with pytest.raises(BadSource, match="has its response beside files, a dataset or"):
        Sources({"old": (dataset, rows["y"])})


def test_rows_of_a_stream_are_weighed_by_way_of_moments(make, target, rows):
    rows = rows.assign(a=1.0 * rows.index, w=rows.index % 3)
    whole = moments_of(make(rows), weights="w", response="y", precision="exact")
    source = read(target, whole).problem.sources["old"]
    w = rows["w"].to_numpy()
    assert source.weight == w.sum()
    assert_allclose(source.mean_of("y"), np.average(rows["y"], weights=w), rtol=1e-15)
    assert "w" not in whole.names


def test_names_of_a_stream_are_unique(target):
    twice = pa.table([pa.array([1.0]), pa.array([2.0])], names=["a", "a"])
    with pytest.raises(BadColumns, match="Table 'old'"):
        read(target, twice.to_reader())


class Series:
    """A stream of numbers instead of rows."""

    def __arrow_c_stream__(self, requested_schema=None):
        return pa.chunked_array([[1.0]]).__arrow_c_stream__(requested_schema)


def test_a_stream_of_a_single_column_is_no_table(target):
    with pytest.raises(BadTable, match="Series"):
        read(target, Series())


MEMORY = """
import json, resource, sys
import numpy as np, pandas as pd, polars as pl, pyarrow as pa
from poolwise import PooledRegressor
rng = np.random.default_rng(0)
names = [f"x{j}" for j in range(9)]
X = pd.DataFrame(rng.normal(size=(40, 9)), columns=names)
schema = pa.schema([(n, pa.float64()) for n in [*names, "y"]])
def batches():
    for _ in range(200):
        yield pa.record_batch(list(rng.normal(size=(10, 10_000))), schema=schema)
stream = pa.RecordBatchReader.from_batches(schema, batches())
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
model = PooledRegressor("data_pooling").fit(X, rng.normal(size=40), sources=stream)
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(json.dumps([grown / 1024, model.problem_.sources["source"].rows]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ru_maxrss has other units")
def test_memory_is_bounded_however_long_the_stream():
    command = [sys.executable, "-c", MEMORY]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    grown, rows = json.loads(out)
    assert rows == 2_000_000
    assert grown < 150  # megabytes; the table has 160
