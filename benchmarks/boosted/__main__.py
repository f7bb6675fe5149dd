"""Measure boosted pooling: ``python -m benchmarks.boosted [--quick] [--jobs N] [--only NAME]...``.

On the paper's datasets it is compared with trees on rows stacked with NaN, with Bayes pooling and
with the best of all others in hindsight; on simulated tables with wrong history, with the better of
two models without it; then coverage of its intervals, the cost of a fit, and the choices of
``auto``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.answers import Answer
from benchmarks.boosted.auto import auto
from benchmarks.boosted.cost import cost
from benchmarks.boosted.coverage import coverage
from benchmarks.boosted.datasets import FEWEST_SPLITS, FIRST_SPLITS, RUNS, TABLES, on_datasets
from benchmarks.boosted.lies import on_lies
from benchmarks.cells import LEFT_OUT
from benchmarks.report import tell
from paper.reproduction import missing_data

QUESTIONS: dict[str, Callable[..., list[Answer]]] = {
    "datasets": on_datasets,
    "lies": on_lies,
    "coverage": coverage,
    "cost": cost,
    "auto": auto,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.boosted", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, no target judged")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the answers here too")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes")
    parser.add_argument("--only", action="append", choices=QUESTIONS, metavar="QUESTION")
    parser.add_argument(
        "--first",
        type=int,
        action="append",
        choices=range(1, FEWEST_SPLITS + 1),
        metavar="SPLIT",
        help=f"datasets: number of the first of {RUNS} splits; "
        f"{' and '.join(map(str, FIRST_SPLITS))} unless given",
    )
    options = parser.parse_args()
    asked = options.only or list(QUESTIONS)
    if "datasets" in asked and any(missing_data(table) for table in TABLES):
        print(LEFT_OUT)
        asked.remove("datasets")
    questions = QUESTIONS | {"datasets": partial(on_datasets, firsts=options.first or FIRST_SPLITS)}
    answers = [a for q in asked for a in questions[q](quick=options.quick, jobs=options.jobs)]
    tell(answers, judged=not options.quick, file=options.json)


if __name__ == "__main__":
    main()
