"""Dask: a real cluster of two processes finds what one process finds, and says what goes wrong."""

import asyncio
import os
import pickle
import signal
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from operator import getitem

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.feather as pf
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose
from threadpoolctl import threadpool_info, threadpool_limits

from poolwise import Files, PooledRegressor, Sources
from poolwise.errors import (
    BadOption,
    BadSource,
    DuplicateColumns,
    FilesNotFound,
    NotNumeric,
    NullsInFile,
    RowsDropped,
    TransferError,
    UnknownTable,
    UnreadableFile,
    WorkersLost,
)
from poolwise.intake import gather
from poolwise.tables import dask as ours
from poolwise.tables import dask_frames, formats
from poolwise.tables.columns import Column
from poolwise.tables.file_batches import open_files
from poolwise.tables.pattern_sums import SumByPattern
from poolwise.tables.row_splitter import RowSplitter
from poolwise.tables.streamed import LevelsFound, Reading
from tests.tables.same import same

dask = pytest.importorskip("dask", reason="dask is not installed")
dd = pytest.importorskip("dask.dataframe", reason="dask[dataframe] is not installed")
distributed = pytest.importorskip("distributed", reason="distributed is not installed")

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("dask")]

WRITERS = {"csv": pc.write_csv, "parquet": pq.write_table, "feather": pf.write_feather}


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """Return a client of two processes, which is not the one that Dask computes with by itself."""
    with cluster_in(tmp_path_factory.mktemp("dask"), n_workers=2, processes=True) as client:
        yield client


@contextmanager
def cluster_in(folder, **options):
    places = {"dashboard_address": ":0", "local_directory": str(folder)}  # any free port
    with (
        distributed.LocalCluster(threads_per_worker=1, **places, **options) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(params=["threads", "sync", "cluster"])
def scheduler(request):
    """Compute Dask DataFrames in one of the ways there are."""
    if request.param == "cluster":
        with request.getfixturevalue("client").as_current():
            yield request.param
    else:
        with dask.config.set(scheduler=request.param):
            yield request.param


@pytest.fixture
def rows():
    """Return history with gaps: numbers, an integer, a text and the response."""
    rng, n = np.random.default_rng(8), 90
    a = rng.normal(size=n) * 1e3
    frame = pd.DataFrame(
        {"a": a, "count": rng.integers(0, 9, n), "y": a / 1e3 + rng.normal(size=n)}
    )
    frame["site"] = rng.choice(["coast", "inland", "Ærø"], n)
    frame.loc[::7, "a"] = np.nan
    frame.loc[::11, "site"] = None
    return frame


@pytest.fixture
def target():
    rng, n = np.random.default_rng(9), 30
    numbers = {"a": rng.normal(size=n) * 1e3, "count": rng.integers(0, 9, n)}
    return pd.DataFrame(numbers).assign(
        site=rng.choice(["coast", "inland"], n), new=rng.normal(size=n)
    )


def read(target, source, precision="exact"):
    y = pd.Series(target["a"] / 1e3 + target["new"], name="y")
    return gather(target, y, sources={"old": source}, precision=precision)


def write(folder, frame, form="parquet", files=5):
    """Write every so many rows to another file."""
    folder.mkdir(exist_ok=True)
    for k in range(files):
        table = pa.Table.from_pandas(frame.iloc[k::files], preserve_index=False)
        WRITERS[form](table, folder / f"{k:03}.{form}")
    return folder


def opened(paths, client=None):
    texts = {"a": False, "count": False, "site": True}
    return open_files(Files(paths, workers=client), "source 'old'", texts, "y")


SPLITTER = RowSplitter((Column("a"), Column("count")), "y", None, "split")
SUMS = SumByPattern(SPLITTER, "exact", None, "source 'old'")


# --- Files on the workers.


@pytest.mark.parametrize("precision", ["fast", "accurate", "exact"])
@pytest.mark.parametrize("form", WRITERS)
def test_workers_find_the_bits_that_one_process_finds(
    tmp_path, client, target, rows, form, precision
):
    folder = write(tmp_path / "old", rows, form)
    here = read(target, Files(folder), precision).problem.sources
    there = read(target, Files(folder, workers=client), precision).problem.sources
    assert list(here) == ["old", "old without site", "old without a"]
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
    monkeypatch.setattr(formats, "PIECE", 1)
    assert len(opened(path).batches.shards()) == 13
    for precision in ("fast", "exact"):
        here, there = (
            read(target, Files(path, workers=w), precision).problem.sources for w in (2, client)
        )
        assert same(there, here)


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
    assert [type(c) for c in there.cautions] == [RowsDropped]
    assert list(map(str, there.cautions)) == list(map(str, here.cautions))
    kept = rows[rows["count"] > 2]
    assert f"{kept.isna().any(axis=1).sum()} of {len(kept)} rows" in str(there.cautions[0])


def test_what_workers_refuse_is_told_with_file_and_column(tmp_path, client, target, rows):
    folder = write(tmp_path / "old", rows.fillna({"a": 0.0, "site": "coast"}))
    broken = rows.iloc[:9].assign(a=np.nan, site="inland")
    pq.write_table(pa.Table.from_pandas(broken), folder / "003.parquet")
    with pytest.raises(NullsInFile, match=r"003\.parquet' has missing values in 9 rows: 'a' in 9"):
        read(target, Files(folder, workers=client, nulls="raise"))
    csv = write(tmp_path / "csv", rows, "csv")
    with (csv / "004.csv").open("a") as file:
        file.write("n.a.,1,2.5,coast\n")
    with pytest.raises(UnreadableFile, match=r"004\.csv' .*column 'a' holds 'n\.a\.' in line \d"):
        read(target, Files(csv, workers=client))
    until(lambda: client.futures == {})  # the other files are not waited for


def test_a_file_that_workers_do_not_find_is_named(tmp_path, client, rows):
    table = opened(write(tmp_path / "old", rows), client)
    (tmp_path / "old" / "002.parquet").unlink()  # as on a disk that workers do not see
    with pytest.raises(FilesNotFound, match=r"002\.parquet'.* Workers must find files under the"):
        table.total(SUMS)


def test_what_is_sent_to_a_worker_does_not_grow_with_the_rows(tmp_path, rows):
    sizes = []
    for times in (1, 400):
        frame = pd.concat([rows] * times)
        folder = write(tmp_path / str(times), frame, files=1)
        [shard] = opened(folder).batches.shards()
        assert len(pickle.dumps(frame)) > 2_000 * times
        sizes.append(len(pickle.dumps((Reading(SUMS), shard))))
    assert max(sizes) < 6_000
    assert abs(sizes[1] - sizes[0]) < 100


def test_as_many_rows_are_counted_as_there_are(tmp_path, client, rows):
    batches, seen = opened(write(tmp_path / "old", rows), client).batches, []
    found = list(batches.each(Reading(SUMS), lambda *counts: seen.append(counts)))
    assert [own.tally.rows for own in found] == [n for n, _ in seen if n] == [18] * 5
    assert sum(size for _, size in seen) == pytest.approx(batches.size)
    assert len(list(batches.each(Reading(SUMS), lambda *_: None, skip=3))) == 2


def test_only_so_many_shards_are_under_way(tmp_path, client, rows, monkeypatch):
    monkeypatch.setattr(ours, "FEWEST_AHEAD", 3)
    monkeypatch.setattr(ours, "AHEAD", 1)
    batches = opened(write(tmp_path / "old", rows, files=12), client).batches
    count = 0
    for k, _ in enumerate(batches.each(Reading(SUMS), lambda *_: None)):
        until(lambda k=k: len(client.futures) == min(3, 11 - k))
        count += 1
    assert count == 12


# --- Workers that are lost.


@dataclass(frozen=True)
class KillsOne:
    """Workers one of which is killed while it holds results that nobody has fetched yet."""

    client: object

    def each(self, reading, shards, seen):
        for k, result in enumerate(ours.workers(self.client).each(reading, shards, seen)):
            if k == 0:
                victim, lost = holder_of_results(self.client)
                assert len(lost) > 2
                os.kill(self.client.run(os.getpid)[victim], signal.SIGKILL)
                until(partial(is_gone, self.client, victim))
            yield result


def have_two_workers(client):
    """Start more workers where some were killed: Dask does not always do so by itself."""
    missing = 2 - len(client.nthreads())
    if missing > 0:
        client.cluster.scale(len(client.cluster.worker_spec) + missing)
        client.wait_for_workers(2, timeout=60)


def is_gone(client, worker):
    return worker not in client.nthreads()


def holder_of_results(client):
    """Wait until a worker holds results, and return it with them."""
    held = {}

    def some():
        held.update(client.has_what())
        return max(map(len, held.values())) > 2

    until(some)
    return max(held.items(), key=lambda item: len(item[1]))


def until(condition, seconds=30.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("precision", ["fast", "exact"])
def test_a_worker_that_is_killed_changes_no_bit(tmp_path, client, rows, precision):
    have_two_workers(client)
    table = opened(write(tmp_path / "old", rows, files=40))
    task = replace(SUMS, precision=precision)
    expected = table.total(task)
    batches = replace(table.batches, workers=KillsOne(client))
    found = replace(table, batches=batches).total(task)
    assert same(found.moments, expected.moments)
    assert found.tally == expected.tally


@dataclass(frozen=True)
class Dies:
    """A task that ends the process it runs in."""

    names = ("a",)
    key = "dies"

    def __call__(self, parts):
        os.kill(os.getpid(), signal.SIGKILL)


def test_when_dask_gives_up_the_file_is_named(tmp_path, client, rows):
    have_two_workers(client)
    table = opened(write(tmp_path / "old", rows, files=1), client)
    try:
        set_allowed_failures(client, 0)
        with pytest.raises(WorkersLost, match=r"000\.parquet was read \(KilledWorker: .* memory"):
            table.total(Dies())
    finally:
        set_allowed_failures(client, 3)


def set_allowed_failures(client, number):
    def set_them(dask_scheduler):
        dask_scheduler.allowed_failures = number

    client.run_on_scheduler(set_them)


@pytest.fixture
def brittle(tmp_path):
    """Return a client of a cluster in this process, which may be broken."""
    with cluster_in(tmp_path / "dask", n_workers=1, processes=False) as client:
        yield client


def test_a_closed_client_is_told_before_and_in_the_middle(tmp_path, brittle, rows):
    table = opened(write(tmp_path / "old", rows), brittle)
    each = table.batches.each(Reading(SUMS), lambda *_: None)
    next(each)
    brittle.close()
    with pytest.raises(
        WorkersLost, match=r"00\d\.parquet was read \(Futures?CancelledError: .*ed\)\."
    ):
        list(each)
    with pytest.raises(WorkersLost, match=r"000\.parquet was read \(its client is closed\)"):
        table.total(SUMS)


@dataclass(frozen=True)
class Waits:
    """A task that takes longer than its worker lasts."""

    names = ("a",)
    key = "waits"

    def __call__(self, parts):
        time.sleep(1.0)


def test_workers_that_are_all_gone_are_not_waited_for(tmp_path, brittle, rows, monkeypatch):
    monkeypatch.setattr(ours, "PATIENCE", 0.2)
    table = opened(write(tmp_path / "old", rows, files=2), brittle)
    each = table.batches.each(Reading(SUMS), lambda *_: None)
    next(each)
    brittle.cluster.scale(0)
    until(lambda: not brittle.nthreads())
    with pytest.raises(WorkersLost, match=r"001\.parquet was read \(no worker is left"):
        list(each)


def test_slow_workers_are_waited_for(tmp_path, brittle, rows, monkeypatch):
    monkeypatch.setattr(ours, "PATIENCE", 0.2)
    table = opened(write(tmp_path / "old", rows, files=1), brittle)
    assert list(table.batches.each(Reading(Waits()), lambda *_: None)) == [None]


@dataclass(frozen=True)
class CountThreads:
    """A task that tells how many threads BLAS may use, as if they were texts."""

    names = ("a",)
    key = "threads"

    def __call__(self, parts):
        return LevelsFound({"threads": frozenset(map(str, blas_threads()))})


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_blas_has_one_thread_where_shards_are_read_side_by_side(tmp_path, client, brittle, rows):
    folder = write(tmp_path / "old", rows)
    with threadpool_limits(2):
        before = blas_threads()
        assert set(before) == {2}
        for cluster in (client, brittle):
            found = opened(folder, cluster).total(CountThreads())
            assert found == LevelsFound({"threads": frozenset({"1"})})
        assert blas_threads() == before


def test_workers_without_poolwise_are_told(tmp_path, client, rows):
    table = opened(write(tmp_path / "old", rows), client)
    try:
        client.run(lambda: sys.modules.__setitem__("poolwise.tables.dask", None))
        with pytest.raises(TransferError, match=r'poolwise.*pip install "poolwise\[dask,io\]"'):
            table.total(SUMS)
    finally:
        client.run(lambda: sys.modules.pop("poolwise.tables.dask"))


def test_an_asynchronous_client_is_refused(client, tmp_path, rows):
    async def made():
        async with distributed.Client(client.scheduler.address, asynchronous=True) as other:
            opened(write(tmp_path / "old", rows), other)

    with pytest.raises(BadOption, match="not asynchronous"):
        asyncio.run(made())


# --- Dask DataFrames.


@pytest.mark.parametrize("partitions", [1, 12])
def test_a_frame_has_the_bits_of_the_same_rows_in_memory(scheduler, target, rows, partitions):
    frame = dd.from_pandas(rows, npartitions=partitions, sort=False)
    assert frame.npartitions == partitions
    assert same(read(target, frame).problem.sources, read(target, rows).problem.sources)


@pytest.mark.parametrize("precision", ["fast", "accurate", "auto"])
def test_a_frame_agrees_with_memory_in_every_precision(client, target, rows, precision):
    with client.as_current():
        frame = dd.from_pandas(rows, npartitions=3)
        there = read(target, frame, precision).problem.sources
    here = read(target, rows, precision).problem.sources
    assert list(there) == list(here)
    for name, source in there.items():
        S, T = (m.scatter_between(m.names, m.names) for m in (source, here[name]))
        assert_allclose(source.mean, here[name].mean, rtol=1e-12)
        assert_allclose(S, T, rtol=1e-9, atol=1e-12 * np.abs(T).max())


def test_a_frame_can_be_a_source_as_it_stands_and_in_a_container(client, target, rows):
    y = pd.Series(target["a"] / 1e3 + target["new"], name="y")
    rows = rows.dropna()
    frame = dd.from_pandas(rows, npartitions=3)
    expected = PooledRegressor(precision="exact").fit(target, y, sources=rows).coef_
    with client.as_current():
        for sources in (frame, [frame], Sources(frame), {"old": frame}):
            model = PooledRegressor(precision="exact").fit(target, y, sources=sources)
            assert np.array_equal(model.coef_, expected)


def test_types_and_indexes_of_pandas_may_be_any(target, rows):
    types = {"a": "Float64", "count": "category", "site": "category", "y": "double[pyarrow]"}
    typed = rows.astype(types).set_index(pd.Index(np.arange(90) % 3, name="a"))
    codes = target.assign(count=target["count"].astype("category"))
    unsorted = dd.from_pandas(typed, npartitions=4, sort=False).clear_divisions()
    unsorted["site"] = unsorted["site"].cat.as_unknown()
    assert same(read(codes, unsorted).problem.sources, read(codes, typed).problem.sources)


def test_categories_of_fractions_and_truths_are_written_as_in_memory(target, rows):
    codes = {"count": rows["count"] / 2.0, "site": rows["site"] == "coast"}
    typed = rows.assign(**codes).astype({"count": "category", "site": "category"})
    own = target.assign(count=typed["count"][:30], site=typed["site"][:30])
    frame = dd.from_pandas(typed, npartitions=4)
    assert same(read(own, frame).problem.sources, read(own, typed).problem.sources)


def test_partitions_may_be_empty_or_hold_nothing_but_gaps(client, target, rows):
    gaps = rows.assign(site=rows["site"].where(rows.index > 40, None))
    pieces = [gaps[:0], gaps[:30], gaps[30:31], gaps[:0], gaps[31:]]
    expected = read(target, gaps).problem.sources
    with client.as_current(), dask.config.set({"dataframe.convert-string": False}):
        for types in ({}, {"site": object, "count": object}):
            typed = [piece.astype(types) for piece in pieces]
            frame = dd.from_map(partial(getitem, typed), range(5), meta=typed[0])
            assert same(read(target, frame).problem.sources, expected)


def test_names_of_columns_need_not_be_text():
    rng = np.random.default_rng(0)
    numbers = pd.DataFrame(rng.normal(size=(40, 3)), columns=[0, 1, "y"])
    target = numbers[:15]
    taken = [
        gather(target[[0, 1]], target["y"], sources={"old": source}, precision="exact")
        for source in (numbers, dd.from_pandas(numbers, npartitions=3))
    ]
    assert same(taken[0].problem.sources, taken[1].problem.sources)


def test_columns_that_are_not_needed_are_not_computed(tmp_path, target, rows):
    path = tmp_path / "old.parquet"
    wide = rows.assign(note=[f"note {k}" for k in range(90)])
    pq.write_table(pa.Table.from_pandas(wide), path, compression="none", use_dictionary=False)
    note = pq.read_metadata(path).row_group(0).column(list(wide).index("note"))
    with path.open("r+b") as file:  # whoever reads this column fails
        file.seek(note.data_page_offset)
        file.write(b"\xff" * note.total_compressed_size)
    frame = dd.read_parquet(path)
    with pytest.raises(OSError, match="deserialize"):
        frame.compute()
    assert same(read(target, frame).problem.sources, read(target, rows).problem.sources)


def test_what_partitions_share_is_computed_once(tmp_path, scheduler, target, rows, monkeypatch):
    monkeypatch.setattr(dask_frames, "ADDED_AT_ONCE", 2)
    log, numbers = tmp_path / "log", rows[["count", "y"]]

    def shuffled():
        with log.open("a") as file:
            file.write("once\n")
        return numbers

    base = dask.delayed(shuffled)()
    parts = [dask.delayed(lambda f, k: f[k::9])(base, k) for k in range(9)]
    frame = dd.from_delayed(parts, meta=numbers[:0], verify_meta=False)
    assert same(read(target, frame).problem.sources, read(target, numbers).problem.sources)
    assert log.read_text() == "once\n"


def test_a_method_that_needs_rows_has_them_brought_here(scheduler, target, rows):
    y = pd.Series(target["a"] / 1e3 + target["new"], name="y")
    known = rows[["count", "site", "y"]].dropna()
    here, there = (
        PooledRegressor("kernel_transfer").fit(target, y, sources={"old": source})
        for source in (known, dd.from_pandas(known, npartitions=3))
    )
    assert_allclose(there.coef_, here.coef_, rtol=1e-10)


def test_a_column_that_breaks_its_promise_is_named_with_its_partition(scheduler, target, rows):
    pieces = [rows[:45], rows[45:].assign(a="high")]
    lying = dd.from_map(partial(getitem, pieces), range(2), meta=rows[:0])
    with pytest.raises(NotNumeric, match=r"'a' of partitions\[1\] of source 'old' .*promises numb"):
        read(target, lying)
    with dask.config.set({"dataframe.convert-string": False}):
        torn = dd.from_pandas(rows.assign(site=["coast", 3] * 45), npartitions=1)
        with pytest.raises(NotNumeric, match=r"'site' of partitions\[0\] of source 'old' cannot"):
            read(target, torn)


def test_what_a_frame_raises_itself_is_left_as_it_is(scheduler, target, rows):
    def fails(part):
        raise LookupError("no such patient")

    frame = dd.from_pandas(rows, npartitions=2).map_partitions(fails, meta=rows[:0])
    with pytest.raises(LookupError, match="no such patient"):
        read(target, frame)


def test_nothing_is_computed_before_it_is_read(target, rows):
    def fails(k):
        raise AssertionError("computed")

    frame = dd.from_map(fails, range(2), meta=rows[:0])
    assert list(dict(Sources.of(frame, 30))) == ["source"]
    table = dask_frames.open_frame(frame, "source 'old'", {"a": False, "site": True}, "y")
    assert table.names == ("a", "count", "y", "site")
    assert (table.batches.rows, table.batches.size, table.batches.key) == (None, 0.0, None)
    with pytest.raises(AssertionError, match="computed"):
        table.levels_of("site")


def test_a_frame_of_twice_one_name_is_refused(target, rows):
    twice = dd.from_pandas(rows, npartitions=2)[["a", "a", "y"]]
    with pytest.raises(DuplicateColumns, match="source 'old'"):
        read(target, twice)


@pytest.mark.parametrize("values", [1j, pd.Period("2020"), pd.Timedelta("1D"), pd.Interval(0, 1)])
def test_what_is_neither_number_nor_text_is_refused(target, rows, values):
    with pytest.raises(NotNumeric, match="'a' of source 'old' holds "):
        read(target, dd.from_pandas(rows.assign(a=values), npartitions=2))


def test_a_response_beside_a_frame_is_refused(target, rows):
    frame = dd.from_pandas(rows, npartitions=2)
    with pytest.raises(BadSource, match="the response being one of their columns"):
        read(target, (frame, frame["y"]))
    with pytest.raises(BadSource, match="Series"):
        read(target, frame["y"])


def test_a_frame_as_the_target_is_refused(target):
    with pytest.raises(UnknownTable, match=r"Call \.compute\(\) first\."):
        PooledRegressor().fit(dd.from_pandas(target, npartitions=2), target["new"])
