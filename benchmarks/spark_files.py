"""Files read by Spark's workers relative to one process, and Spark's own regression.

``python -m benchmarks.spark_files [--quick]``. It needs Java, and files in a temporary folder.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.answers import Answer, Target, ratios
from benchmarks.clock import in_words
from benchmarks.parquet_files import COLUMNS, NAMES, made_up_table, parquet_files
from benchmarks.process_tree import cpu_of_tree
from benchmarks.report import as_text
from poolwise import Files, PooledRegressor
from poolwise.linear.regress import regress

FILES, TARGET_SEED, WORKERS, ROUNDS = 8, 1000, 2, 5


def spark_files(*, quick: bool) -> list[Answer]:
    with spark_session() as session:
        sizes = (80_000, 80_000) if quick else (4_000_000, 2_500_000)
        with parquet_files(sizes[0], FILES) as folder:
            answers = workers(folder, session, sizes[0])
        with parquet_files(sizes[1], FILES) as folder:
            return answers + regression(folder, session, sizes[1])


def workers(folder: Path, session: Any, rows: int) -> list[Answer]:
    """Compare Spark's workers with one process."""
    works = {
        "spark": partial(fit, folder, session),
        "here": partial(fit, folder, 1),
    }
    cold = _cpu(works["spark"])  # Python workers start, and import poolwise
    times = {name: list[float]() for name in works}
    works["here"]()
    for _ in range(ROUNDS):
        for name, work in works.items():
            times[name].append(_cpu(work))
    here = median(times["here"])
    same = np.array_equal(works["spark"]().coef_, works["here"]().coef_)
    return [
        Answer(
            "spark",
            "CPU time over files on 2 workers / one process",
            ratios(times["spark"], times["here"]),
            Target("at most 4", high=4.0),
            detail=f"{in_words(median(times['spark']))} / {in_words(here)} of all processes: this "
            f"one, Java, Python workers; {rows:,} x {COLUMNS} in {FILES} files of Parquet; "
            f"coefficients have {'the same' if same else 'OTHER'} bits",
        ),
        Answer(
            "spark",
            "The same for the first fit of a session",
            (cold / here,),
            detail=f"{in_words(cold)}: Python workers start and import poolwise, Java compiles "
            "what it runs; the start of the session itself is not in it",
        ),
    ]


def regression(folder: Path, session: Any, rows: int) -> list[Answer]:
    """Compare the regression of Spark's own library with ours."""
    works: dict[str, Callable[[], Any]] = {
        "theirs": partial(spark_fit, folder, session),
        "ours": partial(least_squares, folder),
    }
    first = {name: np.asarray(work()) for name, work in works.items()}  # unseen, as it compiles
    wall = {name: list[float]() for name in works}
    cpu = {name: list[float]() for name in works}
    for _ in range(3):
        for name, work in works.items():
            start = time.perf_counter()
            cpu[name].append(_cpu(work))
            wall[name].append(time.perf_counter() - start)
    apart = float(np.abs(first["ours"] - first["theirs"]).max())
    what = (
        f"{rows:,} x {COLUMNS} in {FILES} files; 2 workers of Spark, 2 threads of ours; "
        f"coefficients differ by {apart:.1g} at most"
    )
    return [
        Answer(
            "spark",
            "Spark's LinearRegression (normal) / ours, wall time",
            ratios(wall["theirs"], wall["ours"]),
            Target("at least 10", low=10.0),
            detail=f"{in_words(median(wall['theirs']))} / {in_words(median(wall['ours']))}; {what}",
        ),
        Answer(
            "spark",
            "The same in CPU time",
            ratios(cpu["theirs"], cpu["ours"]),
            detail=f"{in_words(median(cpu['theirs']))} / {in_words(median(cpu['ours']))}",
        ),
    ]


def fit(folder: Path, workers: Any) -> PooledRegressor:
    target = made_up_table(TARGET_SEED, 200)
    y = target["y"].to_numpy()
    new = np.random.default_rng(TARGET_SEED).standard_normal((3, len(y)))
    X = target.select(NAMES)
    for k, column in enumerate(new):
        X = X.append_column(f"new{k}", [column])
    model = PooledRegressor("data_pooling", precision="fast")
    return model.fit(X, y + new.sum(axis=0), sources=Files(folder, workers=workers))


def least_squares(folder: Path) -> Any:
    """Least squares on the files alone, after a fit that has read them with two threads."""
    return regress(fit(folder, WORKERS).problem_.sources["source"], "y").coef


def spark_fit(folder: Path, session: Any) -> Any:
    from pyspark.ml.feature import VectorAssembler
    from pyspark.ml.regression import LinearRegression

    rows = VectorAssembler(inputCols=NAMES, outputCol="x").transform(
        session.read.parquet(str(folder))
    )
    model = LinearRegression(featuresCol="x", labelCol="y", solver="normal")
    return model.fit(rows).coefficients.toArray()


@contextmanager
def spark_session() -> Iterator[Any]:
    """Start Spark with two workers on this machine."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {"spark.ui.enabled": "false", "spark.driver.memory": "4g"}
    builder = SparkSession.builder.master(f"local[{WORKERS}]")
    for name, value in (settings | {"spark.ui.showConsoleProgress": "false"}).items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    try:
        yield session
    finally:
        session.stop()


def _cpu(work: Callable[[], object]) -> float:
    start = cpu_of_tree(os.getpid())
    work()
    return cpu_of_tree(os.getpid()) - start


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.spark_files", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, no target judged")
    quick = parser.parse_args().quick
    with threadpool_limits(1):
        print(as_text(spark_files(quick=quick), judged=not quick))


if __name__ == "__main__":
    main()
