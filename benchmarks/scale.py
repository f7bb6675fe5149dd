"""Benchmarks of files, clusters, peers and merging: ``python -m benchmarks.scale [--quick]``.

Files are written to the system's temporary folder (3.2 GB of them), and removed.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks.answers import Answer
from benchmarks.dask_array import dask_array
from benchmarks.dask_files import dask_files
from benchmarks.merging import merging
from benchmarks.parquet_reading import parquet_reading
from benchmarks.report import tell
from benchmarks.spark_files import spark_files

NO_JAVA = "Left out: Spark, because Java is missing."


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.scale", description="Measure any size.")
    parser.add_argument("--quick", action="store_true", help="small sizes, no target judged")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the answers here too")
    options = parser.parse_args()
    questions: list[Callable[..., list[Answer]]]
    questions = [parquet_reading, dask_array, dask_files, merging]
    if shutil.which("java"):
        questions.append(spark_files)
    else:
        print(NO_JAVA)
    with threadpool_limits(1):
        answers = [a for question in questions for a in question(quick=options.quick)]
        tell(answers, judged=not options.quick, file=options.json)


if __name__ == "__main__":
    main()
