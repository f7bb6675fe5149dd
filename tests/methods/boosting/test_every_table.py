"""History of every kind of table: trees learn the same from it as from memory."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.dataset as ds
import pyarrow.feather as pf
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose

from poolwise import PooledRegressor
from poolwise.errors import BadSource
from tests.methods.boosting.few_trees import grow_few

WRITERS = {"csv": pc.write_csv, "parquet": pq.write_table, "feather": pf.write_feather}


@pytest.fixture(autouse=True)
def _few_trees(monkeypatch):
    grow_few(monkeypatch)


def drawn(rows, seed):
    """Return numbers, integers, texts, truths and a new column, and a response that bends."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"a": rng.uniform(-2.0, 2.0, rows), "count": rng.integers(0, 9, rows)})
    table["größe"] = rng.choice(["klein", "groß", "中"], rows)
    table["on"] = rng.random(rows) < 0.5
    table["new"] = rng.normal(size=rows)
    bend = 3.0 * np.sin(2.0 * table["a"]) + table["count"] * table["on"]
    return table.assign(y=bend + (table["größe"] == "groß") + table["new"])


def history():
    """Return history, some rows of which lack a value."""
    rows = drawn(90, 1).drop(columns="new")
    rows.loc[::9, "a"] = np.nan
    return rows


def written(folder, form):
    """Write history into two files."""
    table = pa.Table.from_pandas(history(), preserve_index=False)
    for k, part in enumerate((table.slice(0, 37), table.slice(37))):
        WRITERS[form](part, folder / f"{k}.{form}")
    return folder


def by_dask(_: Path):
    frames = pytest.importorskip("dask.dataframe", reason="dask[dataframe] is not installed")
    return frames.from_pandas(history(), npartitions=3)


KINDS = {
    "polars": lambda _: pl.from_pandas(history()),
    "lazy": lambda _: pl.from_pandas(history()).lazy(),
    "arrow": lambda _: pa.Table.from_pandas(history(), preserve_index=False),
    "dataset": lambda folder: ds.dataset(written(folder, "parquet")),
    "parquet": lambda folder: written(folder, "parquet"),
    "csv": lambda folder: str(written(folder, "csv") / "*.csv"),
    "feather": lambda folder: written(folder, "feather"),
    "dask": by_dask,
}


def fitted(method, source):
    X = drawn(40, 2)
    return PooledRegressor(method).fit(X.drop(columns="y"), X["y"], sources={"old": source})


@pytest.mark.parametrize("kind", KINDS)
def test_a_derived_column_is_the_one_from_memory(kind, tmp_path):
    found = fitted("derived_pooling", KINDS[kind](tmp_path))
    expected = fitted("derived_pooling", history())
    rows = drawn(20, 3).drop(columns="y")
    # Sums over blocks of another length round otherwise; trees have the same bits.
    assert_allclose(found.predict(rows), expected.predict(rows), rtol=1e-11)
    ours, theirs = found.fit_.columns[0], expected.fit_.columns[0]
    for a, b in zip(ours.boosters, theirs.boosters, strict=True):
        assert np.array_equal(a.value, b.value)


def test_trees_and_their_weights_are_those_from_memory(tmp_path):
    found = fitted("auto", by_dask(tmp_path))
    expected = fitted("boosted_pooling", history())
    rows = drawn(20, 3).drop(columns="y")
    assert_allclose(found.predict(rows), expected.predict(rows), rtol=1e-11)
    stack = found.fit_.stack
    assert_allclose(stack.weights, expected.fit_.stack.weights, rtol=1e-9)


def test_rows_that_come_in_another_order_each_time_are_refused(tmp_path):
    shuffled = by_dask(tmp_path).map_partitions(lambda part: part.sample(frac=1.0))
    with pytest.raises(BadSource, match=r"table 'old.*not in the same order.*persist"):
        fitted("derived_pooling", shuffled)
    assert np.isfinite(fitted("derived_pooling", shuffled.persist()).coef_).all()


def test_a_file_that_is_written_to_in_the_meantime_is_told(tmp_path, monkeypatch):
    folder = written(tmp_path, "parquet")
    from poolwise.methods.boosting import derivation

    def slowly():
        more = pq.read_table(folder / "1.parquet")
        pq.write_table(pa.concat_tables([more, more]), folder / "1.parquet")
        return range(5)

    monkeypatch.setattr(derivation, "_folds", slowly)
    with pytest.raises(BadSource, match="table 'old"):
        fitted("derived_pooling", folder)
