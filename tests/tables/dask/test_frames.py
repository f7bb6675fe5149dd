"""Dask DataFrames: the same rows are the same moments, however they are computed."""

from functools import partial
from operator import getitem

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose

from poolwise import PooledRegressor, Sources
from poolwise.errors import BadColumns, BadSource, BadTable, NotNumeric
from poolwise.tables import dask as ours
from poolwise.tables.intake import gather
from poolwise.tables.sources import find_frame, open_frame, sources_of
from tests.tables.dask.reading import read
from tests.tables.same import same

dask = pytest.importorskip("dask", reason="dask is not installed")
dd = pytest.importorskip("dask.dataframe", reason="dask[dataframe] is not installed")
pytest.importorskip("distributed", reason="distributed is not installed")

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("dask")]


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
    monkeypatch.setattr(ours, "ADDED_AT_ONCE", 2)
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
    with pytest.raises(NotNumeric, match=r"'a' of partitions\[1\] of table 'old' .*promises numb"):
        read(target, lying)
    with dask.config.set({"dataframe.convert-string": False}):
        torn = dd.from_pandas(rows.assign(site=["coast", 3] * 45), npartitions=1)
        with pytest.raises(NotNumeric, match=r"'site' of partitions\[0\] of table 'old' cannot"):
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
    assert list(dict(sources_of(frame, 30))) == ["source"]
    unread = find_frame(frame, "table 'old'")
    table = open_frame(unread, "table 'old'", {"a": False, "site": True}, "y")
    assert table.names == ("a", "count", "y", "site")
    assert (table.batches.rows, table.batches.size) == (None, 0.0)
    with pytest.raises(AssertionError, match="computed"):
        table.levels(["site"])


def test_a_frame_of_twice_one_name_is_refused(target, rows):
    twice = dd.from_pandas(rows, npartitions=2)[["a", "a", "y"]]
    with pytest.raises(BadColumns, match="Table 'old'"):
        read(target, twice)


@pytest.mark.parametrize("values", [1j, pd.Period("2020"), pd.Timedelta("1D"), pd.Interval(0, 1)])
def test_what_is_neither_number_nor_text_is_refused(target, rows, values):
    with pytest.raises(NotNumeric, match="'a' of table 'old' holds "):
        read(target, dd.from_pandas(rows.assign(a=values), npartitions=2))


def test_a_response_beside_a_frame_is_refused(target, rows):
    frame = dd.from_pandas(rows, npartitions=2)
    with pytest.raises(BadSource, match="the response being one of their columns"):
        read(target, (frame, frame["y"]))
    with pytest.raises(BadSource, match="Series"):
        read(target, frame["y"])


def test_a_frame_as_the_target_is_refused(target):
    with pytest.raises(BadTable, match=r"Call \.compute\(\) first\."):
        PooledRegressor().fit(dd.from_pandas(target, npartitions=2), target["new"])
