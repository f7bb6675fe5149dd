"""Files on Dask: a real cluster of two processes finds the bits that one process finds."""

import asyncio
import os
import pickle
import sys
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose
from threadpoolctl import threadpool_info, threadpool_limits

from poolwise import Files, moments_of
from poolwise.errors import BadFile, BadOption, LeftOut, NotFinite, PoolwiseError
from poolwise.tables import parquet
from poolwise.tables.shards import LevelsFound
from tests.tables.dask.cluster import until
from tests.tables.dask.reading import SUMS, WRITERS, opened, read, write
from tests.tables.same import same

dask = pytest.importorskip("dask", reason="dask is not installed")
pytest.importorskip("dask.dataframe", reason="dask[dataframe] is not installed")
distributed = pytest.importorskip("distributed", reason="distributed is not installed")

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("dask")]


@pytest.mark.parametrize("precision", ["fast", "accurate", "exact"])
@pytest.mark.parametrize("form", WRITERS)
def test_workers_find_the_bits_that_one_process_finds(
    tmp_path, client, target, rows, form, precision
):
    folder = write(tmp_path / "old", rows, form)
    here = read(target, Files(folder), precision).problem.sources
    there = read(target, Files(folder, workers=client), precision).problem.sources
    assert list(here) == ["old"]
    assert same(there, here)
    held = read(target, rows, precision).problem.sources
    if precision == "exact":
        assert same(there, held)
    for name, source in there.items():
        assert_allclose(source.mean, held[name].mean, rtol=1e-12)


def test_pieces_of_a_long_file_are_read_by_several_workers(
    tmp_path, client, target, rows, monkeypatch
):
    path = tmp_path / "old.parquet"
    pq.write_table(pa.Table.from_pandas(rows, preserve_index=False), path, row_group_size=7)
    monkeypatch.setattr(parquet, "PIECE", 1)
    assert len(opened(path).batches.shards()) == 13
    for precision in ("fast", "exact"):
        here, there = (
            read(target, Files(path, workers=w), precision).problem.sources for w in (2, client)
        )
        assert same(there, here)


def test_moments_of_each_file_are_kept_while_the_cluster_reads_several(tmp_path, client, rows):
    folder, parts = write(tmp_path / "old", rows), tmp_path / "parts"
    words = {"precision": "exact", "nulls": "drop"}
    with pytest.warns(LeftOut):
        here = moments_of(folder, **words)
    with pytest.warns(LeftOut):
        there = moments_of(Files(folder, workers=client), **words, parts=parts)
    with pytest.warns(LeftOut):
        again = moments_of(folder, **words, parts=parts)
    assert len(list(parts.glob("*.part.json"))) == len(list(folder.iterdir())) > 1
    assert there.text() == again.text() == here.text()
    assert dask.config.get("scheduler", None) is None  # threads that share a client leave it alone


def test_workers_need_not_have_our_working_directory(tmp_path, client, target, rows, monkeypatch):
    write(tmp_path / "old", rows, "csv")
    monkeypatch.chdir(tmp_path)
    there = client.run(os.getcwd)
    assert str(tmp_path) not in there.values()
    taken = read(target, Files("old", workers=client))
    assert same(taken.problem.sources, read(target, rows).problem.sources)


def test_weights_filters_and_dropped_rows_are_those_of_one_process(tmp_path, client, target, rows):
    folder = write(tmp_path / "old", rows.assign(w=np.arange(90.0) % 4))
    words = {"weights": "w", "filter": [("count", ">", 2)], "nulls": "drop"}
    here, there = (read(target, Files(folder, workers=w, **words)) for w in (None, client))
    assert same(there.problem.sources, here.problem.sources)
    assert [type(c) for c in there.cautions] == [LeftOut]
    assert list(map(str, there.cautions)) == list(map(str, here.cautions))
    kept = rows[rows["count"] > 2]
    assert f"{kept.isna().any(axis=1).sum()} of {len(kept)} rows" in str(there.cautions[0])


def test_what_workers_refuse_is_told_with_file_and_column(tmp_path, client, target, rows):
    folder = write(tmp_path / "old", rows.fillna({"a": 0.0, "site": "coast"}))
    broken = rows.iloc[:9].assign(a=np.nan, site="inland")
    pq.write_table(pa.Table.from_pandas(broken), folder / "003.parquet")
    with pytest.raises(NotFinite, match=r"003\.parquet' has missing values in 9 rows: 'a' in 9"):
        read(target, Files(folder, workers=client, nulls="raise"))
    csv = write(tmp_path / "csv", rows, "csv")
    with (csv / "004.csv").open("a") as file:
        file.write("n.a.,1,2.5,coast\n")
    with pytest.raises(BadFile, match=r"004\.csv' .*column 'a' holds 'n\.a\.' in line \d"):
        read(target, Files(csv, workers=client))
    until(lambda: client.futures == {})  # the other files are not waited for


def test_a_file_that_workers_do_not_find_is_named(tmp_path, client, rows):
    table = opened(write(tmp_path / "old", rows), client)
    (tmp_path / "old" / "002.parquet").unlink()  # as on a disk that workers do not see
    with pytest.raises(BadFile, match=r"002\.parquet'.* Workers must find files under the"):
        table.total(SUMS)


def test_what_is_sent_to_a_worker_does_not_grow_with_the_rows(tmp_path, rows):
    sizes = []
    for times in (1, 400):
        frame = pd.concat([rows] * times)
        folder = write(tmp_path / str(times), frame, files=1)
        [shard] = opened(folder).batches.shards()
        assert len(pickle.dumps(frame)) > 2_000 * times
        sizes.append(len(pickle.dumps((SUMS, shard))))
    assert max(sizes) < 6_000
    assert abs(sizes[1] - sizes[0]) < 100


def test_as_many_rows_are_counted_as_there_are(tmp_path, client, rows):
    batches, seen = opened(write(tmp_path / "old", rows), client).batches, []
    found = list(batches.each(SUMS, lambda *counts: seen.append(counts)))
    assert [own.tally.rows for own in found] == [n for n, _ in seen if n] == [18] * 5
    assert sum(size for _, size in seen) == pytest.approx(batches.size)


@dataclass(frozen=True)
class CountThreads:
    """A task that tells how many threads BLAS may use, as if they were texts."""

    names = ("a",)

    def __call__(self, parts):
        return LevelsFound({"threads": dict.fromkeys(map(str, blas_threads()), 1)})


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_blas_has_one_thread_where_shards_are_read_side_by_side(tmp_path, client, brittle, rows):
    folder = write(tmp_path / "old", rows)
    with threadpool_limits(2):
        before = blas_threads()
        assert set(before) == {2}
        for cluster in (client, brittle):
            found = opened(folder, cluster).total(CountThreads())
            assert [*found.texts["threads"]] == ["1"]
        assert blas_threads() == before


def test_workers_without_poolwise_are_told(tmp_path, client, rows):
    table = opened(write(tmp_path / "old", rows), client)
    try:
        client.run(lambda: sys.modules.__setitem__("poolwise.tables.dask", None))
        with pytest.raises(PoolwiseError, match=r'poolwise.*pip install "poolwise\[dask,io\]"'):
            table.total(SUMS)
    finally:
        client.run(lambda: sys.modules.pop("poolwise.tables.dask"))


def test_an_asynchronous_client_is_refused(client, tmp_path, rows):
    async def made():
        async with distributed.Client(
            client.scheduler.address, asynchronous=True, set_as_default=False
        ) as other:
            opened(write(tmp_path / "old", rows), other)

    with pytest.raises(BadOption, match="not asynchronous"):
        asyncio.run(made())
