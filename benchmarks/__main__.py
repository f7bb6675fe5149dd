"""Answer every question, print one table: ``python -m benchmarks [--quick] [--json FILE]``."""

from __future__ import annotations

import argparse
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks.bayes import bayes
from benchmarks.kernel_transfer import kernel_transfer
from benchmarks.memory import memory
from benchmarks.report import tell
from benchmarks.reproduce import reproduce
from benchmarks.scaling import scaling
from benchmarks.small_fits import small_fits
from benchmarks.speed import speed

QUESTIONS = (speed, memory, scaling, kernel_transfer, small_fits, bayes, reproduce)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks", description="Measure seconds and bytes.")
    parser.add_argument("--quick", action="store_true", help="small sizes, no target judged")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the answers here too")
    parser.add_argument("--threads", type=int, default=1, help="threads of BLAS (default: 1)")
    options = parser.parse_args()
    with threadpool_limits(options.threads):
        answers = [a for question in QUESTIONS for a in question(quick=options.quick)]
        tell(answers, judged=not options.quick, file=options.json)


if __name__ == "__main__":
    main()
