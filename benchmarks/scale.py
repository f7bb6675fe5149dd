"""Any size: files, clusters, peers and merging; ``python -m benchmarks.scale [--quick]``.

Files are written to the system's temporary folder (3.2 GB of them), and removed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks.answers import Answer
from benchmarks.dask_array import dask_array
from benchmarks.dask_files import dask_files
from benchmarks.merging import merging
from benchmarks.reading import reading
from benchmarks.report import as_data, as_text
from benchmarks.spark_files import spark_files, spark_regression, spark_session

NO_JAVA = "Left out: Spark, for want of Java."


def spark(*, quick: bool) -> list[Answer]:
    with tempfile.TemporaryDirectory() as above, spark_session() as session:
        folder = Path(above) / "history"
        files = spark_files(folder, session, 80_000 if quick else 4_000_000)
        return files + spark_regression(folder, session, 80_000 if quick else 2_500_000)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.scale", description="Measure any size.")
    parser.add_argument("--quick", action="store_true", help="small sizes, no target judged")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the answers here too")
    options = parser.parse_args()
    questions: list[Callable[..., list[Answer]]] = [reading, dask_array, dask_files, merging]
    if shutil.which("java"):
        questions.append(spark)
    else:
        print(NO_JAVA)
    with threadpool_limits(1):
        answers = [a for question in questions for a in question(quick=options.quick)]
        print(as_text(answers, judged=not options.quick))
        if options.json:
            data = as_data(answers, judged=not options.quick)
            options.json.write_text(json.dumps(data, indent=1) + "\n")


if __name__ == "__main__":
    main()
