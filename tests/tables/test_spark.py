"""Spark: a real session on this machine gives the bits of one process, whatever happens to it."""

import gc
import os
import pickle
import shutil
import site
import sys
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose

import poolwise
from benchmarks.parquet_files import parquet_files
from benchmarks.spark_files import least_squares, spark_fit
from poolwise import Files, PooledRegressor, Sources
from poolwise.errors import (
    BadColumns,
    BadFile,
    BadOption,
    BadSource,
    LeftOut,
    NotFinite,
    NotInstalled,
    NotNumeric,
    WorkersLost,
)
from poolwise.tables import spark as engine
from poolwise.tables.encoding import Column
from poolwise.tables.file_table import open_files
from poolwise.tables.intake import gather
from poolwise.tables.response import Response
from poolwise.tables.row_splitter import RowSplitter
from poolwise.tables.shards import Threads, workers_of
from poolwise.tables.sources import sources_of
from poolwise.tables.streamed_rows import SumByPattern
from tests.tables.same import same
from tests.tables.test_account import OLD, check_same, fitted

pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed")
HAS_JAVA = shutil.which("java") or os.environ.get("JAVA_HOME")
ROOT = Path(__file__).parents[2]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not HAS_JAVA, reason="there is no Java, which Spark runs on"),
    # What Spark says of pandas holds for its functions on pandas objects, which are not used here.
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]


@pytest.fixture(scope="module")
def sessions():
    """Return a builder of sessions with two workers, which run a task up to three times.

    The first one starts Java, which takes ten seconds; another one after it does not.
    """
    from pyspark.sql import SparkSession

    importable = os.pathsep.join([str(Path(poolwise.__file__).parents[1]), str(ROOT)])
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "7",  # a partition comes in several
        "spark.executorEnv.PYTHONPATH": importable,
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",  # what runs once starts sooner
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        builder = SparkSession.builder.master("local[2,3]")
        for name, value in settings.items():
            builder = builder.config(name, value)
        yield builder
        builder.getOrCreate().stop()
    gc.collect()  # what Spark leaves open is its own, and not to be found by another test


@pytest.fixture
def spark(sessions):
    """Return the session, or another one if a test has stopped it."""
    session = sessions.getOrCreate()
    session.sparkContext.setLogLevel("OFF")  # a task that is killed on purpose fills pages
    return session


@pytest.fixture
def rows():
    """Return history: numbers, an integer, a text, a yes or no, and the response."""
    rng, n = np.random.default_rng(3), 90
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=n) * 1e3,
            "count": rng.integers(0, 9, n),
            "site": rng.choice(["coast", "inland", "Ærø"], n),
            "on": rng.random(n) < 0.5,
            "w": rng.integers(1, 4, n).astype(float),
        }
    )
    frame["y"] = frame["a"] / 1e3 + frame["count"] + rng.normal(size=n)
    return frame


@pytest.fixture
def target():
    rng, n = np.random.default_rng(4), 40
    columns = {"a": rng.normal(size=n) * 1e3, "count": rng.integers(0, 9, n)}
    sites, on = rng.choice(["coast", "inland"], n), rng.random(n) < 0.5
    return pd.DataFrame(columns).assign(site=sites, on=on, new=rng.normal(size=n))


@pytest.fixture
def folder(rows, tmp_path):
    """Return the name of a folder with history in seven files, which lack a few values."""
    rows.loc[::11, "a"] = np.nan
    (tmp_path / "history").mkdir()
    for k in range(7):
        rows.iloc[k::7].to_parquet(tmp_path / "history" / f"{k}.parquet", index=False)
    return tmp_path / "history"


def frame_of(spark, rows, *partitions):
    frame = spark.createDataFrame(pa.Table.from_pandas(rows, preserve_index=False))
    return frame.repartition(*partitions)


def read(target, source, precision="exact", **options):
    y = pd.Series(target["new"] + target["count"], name="y")
    return gather(target, y, sources={"old": source}, precision=precision, **options)


@pytest.mark.parametrize("partitions", [[1], [3], [9, "on"]], ids=["one", "three", "two of nine"])
def test_a_frame_gives_the_bits_of_the_same_rows_in_memory(spark, target, rows, partitions):
    rows = rows.drop(columns="w")
    rows.loc[:39, "a"] = np.nan
    rows.loc[60:70, "site"] = None
    ours, theirs = read(target, frame_of(spark, rows, *partitions)), read(target, rows)
    assert list(theirs.problem.sources) == ["old"]
    assert same(ours.problem.sources, theirs.problem.sources)
    assert ours.optional == theirs.optional


@pytest.mark.filterwarnings("ignore::poolwise.errors.PoolwiseWarning")
def test_a_raw_frame_gets_the_account_and_the_coefficients_of_the_same_rows(spark):
    plain = OLD.astype({"at": "datetime64[us]"})
    check_same(fitted(spark.createDataFrame(pa.Table.from_pandas(plain))), fitted(OLD))


def test_the_coefficients_from_a_frame_are_those_from_memory(spark, target, rows):
    y, model = pd.Series(target["new"] + target["count"], name="y"), PooledRegressor()
    model.set_params(precision="exact")
    rows = rows.drop(columns="w")
    ours = model.fit(target, y, sources=frame_of(spark, rows, 3)).coef_
    assert pickle.loads(pickle.dumps(model)).coef_.tolist() == ours.tolist()
    assert np.array_equal(ours, model.fit(target, y, sources={"source": rows}).coef_)


def test_a_frame_may_stand_wherever_a_table_may(spark, rows):
    frame = frame_of(spark, rows, 1)
    for sources in (frame, [frame], {"source 1": frame}, Sources(frame)):
        ((_, given),) = sources_of(sources, target_rows=90)  # as many as the frame has
        assert given.X is frame


def test_numbers_of_every_type_are_read_and_names_are_taken_as_they_are(spark):
    rng = np.random.default_rng(0)
    rows = [(Decimal(k) / 4, k % 2 == 0, k % 5, None, float(k * k), 2.0 * k) for k in range(30)]
    types = "`a.b` decimal(9,2), `A.b` boolean, `it's` tinyint, void void, `x``y` float, y double"
    X = pd.DataFrame(rng.normal(size=(20, 5)), columns=["a.b", "A.b", "it's", "void", "x`y"])
    y = pd.Series(rng.normal(size=20), name="y")
    found = gather(X, y, sources=spark.createDataFrame(rows, types), precision="exact")
    source = found.problem.sources["source"]
    plain = np.array([[float(v) for v in row if v is not None] for row in rows])
    assert source.names == ("a.b", "A.b", "it's", "x`y", "y")
    assert np.array_equal(source.mean, plain.mean(axis=0))  # quarters and squares: no rounding


@pytest.mark.parametrize("column", ["a date", "c array<double>", "y string"])
def test_a_column_that_is_no_number_is_refused(spark, column):
    X, y = pd.DataFrame({"a": [1.0, 2.0], "c": [2.0, 1.0]}), pd.Series([1.0, 2.0], name="y")
    types = {"a": "double", "c": "double", "y": "double"} | dict([column.split()])
    frame = spark.createDataFrame([], ", ".join(f"{n} {t}" for n, t in types.items()))
    name, kind = column.split()
    with pytest.raises(NotNumeric, match=rf"'{name}' of table 'old' holds {kind}"):
        gather(X, y, sources={"old": frame})


def test_a_frame_must_hold_its_response_once_and_by_its_name(spark, target, rows):
    frame = frame_of(spark, rows.drop(columns="w"), 1)
    with pytest.raises(BadSource, match="'y'"):
        read(target, frame.drop("y"))
    with pytest.raises(BadColumns, match="Table 'old' has more than one column named"):
        read(target, frame.select("*", "a"))
    with pytest.raises(BadSource):
        read(target, (frame, rows["y"]))


def test_a_frame_without_rows_is_an_empty_source(spark, target, rows):
    frame = frame_of(spark, rows.drop(columns="w"), 2).where("a > 1e9")
    found = read(target, frame)
    assert [type(c) for c in found.cautions if isinstance(c, LeftOut)]


def test_what_is_wrong_with_a_frame_is_said_by_our_errors(spark, target, rows):
    rows.loc[5, "y"] = np.nan
    frame = spark.createDataFrame(pa.Table.from_pandas(rows)).coalesce(1)  # good rows come after it
    with pytest.raises(NotFinite, match=r"Table 'old' lacks the response 'y' in 1 of 7 rows"):
        read(target, frame, strict=True)


def test_a_method_that_needs_rows_gets_them_from_a_frame(spark, target, rows):
    y, model = pd.Series(target["new"] + target["count"], name="y"), PooledRegressor()
    model.set_params(method="kernel_transfer")
    rows = rows.drop(columns="w")
    ours = model.fit(target, y, sources={"old": frame_of(spark, rows, 3)}).coef_
    theirs = model.fit(target, y, sources={"old": rows}).coef_
    assert_allclose(ours, theirs, rtol=1e-9)  # the rows come in another order


@pytest.mark.parametrize("precision", ["fast", "accurate", "exact"])
def test_files_read_by_spark_give_the_bits_of_one_thread(
    spark, target, folder, precision, monkeypatch
):
    monkeypatch.chdir(folder.parent)  # the workers were started elsewhere
    ours, theirs = (
        read(target, Files("history", workers=w, weights="w"), precision) for w in (spark, 1)
    )
    assert list(theirs.problem.sources) == ["old"]
    assert same(ours.problem.sources, theirs.problem.sources)


def test_rows_that_lack_values_are_dropped_and_counted(spark, target, folder):
    some = {"nulls": "drop", "filter": [("count", ">=", 3)], "weights": "w"}
    ours, theirs = (read(target, Files(folder, workers=w, **some)) for w in (spark, 1))
    assert same(ours.problem.sources, theirs.problem.sources)
    (said,) = [str(c) for c in theirs.cautions if isinstance(c, LeftOut)]
    assert "'a' in " in said
    assert said in [str(c) for c in ours.cautions]


def test_an_error_of_a_worker_is_ours_and_names_file_and_column(spark, target, rows, folder):
    with pytest.raises(NotFinite, match=r"0\.parquet' has missing values in \d rows: 'a' in"):
        read(target, Files(folder, nulls="raise", workers=spark))
    text = folder.parent / "text"
    text.mkdir()
    for name, count in {"good": rows["count"], "bad": ["seven"] * len(rows)}.items():
        rows.drop(columns="w").assign(count=count).to_csv(text / f"{name}.csv", index=False)
    with pytest.raises(BadFile, match=r"bad\.csv.*column 'count' holds"):
        read(target, Files(text, workers=spark))


def test_results_come_in_the_order_of_the_shards_whatever_a_job_holds(spark, folder, monkeypatch):
    task, shards = sums_of(folder)
    seen = []
    whole = list(Threads().each(task, shards, lambda *_: None))
    monkeypatch.setattr(engine, "SHARDS", 3)
    run = engine._run
    monkeypatch.setattr(engine, "_run", lambda *job: dict(reversed(run(*job).items())))
    found = list(engine.workers(spark).each(task, shards, lambda *read: seen.append(read)))
    assert [texts(f) for f in found] == [texts(w) for w in whole]
    assert [rows for rows, _ in seen] == [w.tally.rows for w in whole]


def test_a_task_that_dies_and_is_run_again_changes_nothing(spark, folder, tmp_path):
    task, shards = sums_of(folder)
    whole = list(Threads().each(task, shards, lambda *_: None))
    frail = [DiesOnce(s, tmp_path / "tries") if k == 3 else s for k, s in enumerate(shards)]
    found = list(engine.workers(spark).each(task, frail, lambda *_: None))
    assert (tmp_path / "tries").read_text() == "01"  # the attempts, of which the first was killed
    assert [texts(f) for f in found] == [texts(w) for w in whole]


def texts(sums):
    return {lacks: moments.text() for lacks, moments in sums.moments.items()}


@dataclass
class DiesOnce:
    """A shard whose reader is killed in the middle of the first attempt."""

    shard: Any
    tries: Path

    def parts(self, names):
        attempt = pyspark.TaskContext.get().attemptNumber()
        with self.tries.open("a") as file:
            file.write(str(attempt))
        for part in self.shard.parts(names):
            yield part
            if attempt == 0:
                os._exit(1)


def test_names_are_sent_to_the_workers_and_no_rows(tmp_path):
    sizes = []
    for count in (10, 100_000):
        values = np.random.default_rng(0).normal(size=count)
        pq.write_table(pa.table({"a": values, "y": values}), tmp_path / "history.parquet")
        sizes.append(len(pickle.dumps(sums_of(tmp_path, ["a"])[1])))
    assert (tmp_path / "history.parquet").stat().st_size > 500_000
    assert max(sizes) < 5_000
    assert max(sizes) - min(sizes) < 20  # a larger number has more digits


def sums_of(folder, features=("a", "count")):
    """Return the task of adding up files, and their shards."""
    table = open_files(Files(folder), "table 'old'", dict.fromkeys(features, False), "y")
    splitter = RowSplitter(tuple(map(Column, features)), Response("y"), None, "split")
    return SumByPattern(splitter, "fast", None, table.where), table.batches.shards()


def test_workers_that_lack_poolwise_are_an_error_that_says_what_to_do(
    spark, folder, tmp_path, monkeypatch
):
    packages = tmp_path / "packages"
    packages.mkdir()
    for entry in (e for where in site.getsitepackages() for e in Path(where).iterdir()):
        if "poolwise" not in entry.name:
            (packages / entry.name).symlink_to(entry)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{packages}" exec "{sys.executable}" -S "$@"\n')
    python.chmod(0o755)
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(python))
    task, shards = sums_of(folder)
    with pytest.raises(NotInstalled, match=r"cannot import poolwise: .*PYSPARK_PYTHON"):
        list(engine.workers(spark).each(task, shards, lambda *_: None))


def test_a_session_that_was_stopped_is_an_error_that_says_what_to_do(spark, target, rows, folder):
    frame, files = frame_of(spark, rows, 1), Files(folder, workers=spark)
    spark.stop()
    for source, unread in ((files, str(folder / "0.parquet")), (frame, "table 'old'")):
        with pytest.raises(WorkersLost) as lost:
            read(target, source)
        assert f"Spark gave up before {unread} was read" in str(lost.value)
        assert "cluster was closed, open it again. Then fit again." in str(lost.value)


def test_another_error_of_the_workers_is_sparks(spark):
    with pytest.raises(pyspark.errors.PythonException, match="ZeroDivisionError"):
        engine._run(lambda batches: iter([1 / 0]), lambda: spark.range(1), "rows")


def test_the_regression_of_spark_itself_finds_our_coefficients(spark):
    with parquet_files(rows=800, files=8) as history:
        ours, theirs = least_squares(history), spark_fit(history, spark)
    assert_allclose(ours, theirs, rtol=1e-10)


def test_workers_of_spark_are_those_of_a_session(spark):
    assert isinstance(workers_of(spark), engine.SparkWorkers)
    with pytest.raises(BadOption, match="a SparkSession"):
        workers_of(spark.sparkContext)


def test_columns_that_the_target_lacks_are_dropped_with_a_warning(spark, target, rows):
    found = read(target, frame_of(spark, rows.assign(day=pd.Timestamp("2024-01-01")), 2))
    (said,) = [str(c) for c in found.cautions if isinstance(c, LeftOut)]
    assert "'w', 'day'" in said
