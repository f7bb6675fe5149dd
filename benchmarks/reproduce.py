"""The time of the command that reproduces the paper, relative to a plain loop over its runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.answers import Answer, Target, ratios
from benchmarks.clock import in_words, interleaved
from benchmarks.process_tree import Cost, cost_of
from benchmarks.textbook import Array, textbook_errors
from paper import datasets
from paper.protocol import ordered, run_errors, splits_of, with_product
from paper.reproduction import NAMES, missing_data
from paper.specs import TABLES, Protocol, TableSpec, read_table_spec

LEFT_OUT = (
    "The question 'reproduce' is left out: some of the paper's datasets are missing. "
    "POOLWISE_DATA should name their folder."
)
JOBS = 2


def reproduce(*, quick: bool) -> list[Answer]:
    if any(missing_data(name) for name in NAMES):
        print(LEFT_OUT)
        return []
    names, tables, runs = (["small3"], ["small3"], 2) if quick else (["all"], list(TABLES), None)
    return [
        *_command(names, tables, runs),
        _cells("energy" if quick else "pumadyn32nm", "corrected", runs),
    ]


def _command(names: Sequence[str], tables: Sequence[str], runs: int | None) -> list[Answer]:
    ours = _run(names, runs)
    start = time.thread_time()
    fits = len(list(loop_errors(tables, runs)))
    loop = time.thread_time() - start
    said = f"python -m paper {' '.join(names)} --protocol published --jobs {JOBS}"
    return [
        Answer(
            "reproduce",
            "The whole paper by the command, wall time",
            (ours.wall,),
            Target("under 300 s", high=300.0),
            "s",
            f"{said}; start, figures and files included; {in_words(ours.cpu)} of CPU",
        ),
        Answer(
            "reproduce",
            "Its CPU time / a plain loop over the runs of its tables",
            (ours.cpu / loop,),
            Target("under 4", high=4.0),
            detail=f"{in_words(ours.cpu)} / {in_words(loop)}; {fits:,} fits, both in linear time; "
            "the loop makes neither figures nor files",
        ),
        Answer(
            "reproduce",
            "Its peak memory, all processes together",
            (ours.peak / 1e6,),
            Target("under 2 GB", high=2_000.0),
            "MB",
            f"{ours.seen_by}; the published program has matrices of source by source, "
            f"{_matrix():.3g} GB each (docs/reproduction.md)",
        ),
    ]


def _run(names: Sequence[str], runs: int | None) -> Cost:
    shortened = [] if runs is None else ["--runs", str(runs)]
    with TemporaryDirectory() as folder:
        options = ["--protocol", "published", "--jobs", str(JOBS), "--out", folder, *shortened]
        return cost_of([sys.executable, "-m", "paper", *names, *options])


def _matrix() -> float:
    """Return the gigabytes of a matrix of the longest source by itself."""
    split = splits_of(read_table_spec("large100"), "protein")[0]
    return 8.0 * len(split.source) ** 2 / 1e9


def _cells(dataset: str, protocol: Protocol, runs: int | None) -> Answer:
    spec = read_table_spec("large100")
    rows = ordered(datasets.load(dataset), "corrected")  # ours keeps its rows from call to call
    works: dict[str, Callable[[], object]] = {
        "ours": partial(our_errors, spec, dataset, protocol, runs),
        "loop": lambda: list(dataset_errors(spec, rows, dataset, runs)),
    }
    ours, loop = interleaved(
        works, rounds=3 if runs is None else 1, label=f"Reproduce, {protocol}"
    ).values()
    count, size = len(splits_of(spec, dataset)[:runs]), datasets.UCI[dataset]
    return Answer(
        "reproduce",
        f"Cells of a table, {protocol} / a plain loop over runs",
        ratios(ours, loop),
        detail=f"{in_words(median(ours))} / {in_words(median(loop))}; "
        f"{dataset} in large100, {size.rows:,} x {size.columns}, {count} runs of 4 methods, "
        "both in linear time",
    )


def our_errors(
    spec: TableSpec, dataset: str, protocol: Protocol, runs: int | None = None
) -> list[float]:
    by_method = [run_errors(spec, dataset, m, protocol, runs=runs) for m in spec.methods]
    return [error for run in zip(*by_method, strict=True) for error in run]


def loop_errors(tables: Sequence[str], runs: int | None = None) -> Iterator[float]:
    for spec in map(read_table_spec, tables):
        for dataset in spec.datasets:
            rows = ordered(datasets.load(dataset), "corrected")
            yield from dataset_errors(spec, rows, dataset, runs)


def dataset_errors(
    spec: TableSpec, rows: Array, dataset: str, runs: int | None = None
) -> Iterator[float]:
    shared = rows.shape[1] - 1 - spec.new_features
    if spec.product:
        rows = with_product(rows, spec.new_features)
    for split in splits_of(spec, dataset)[:runs]:
        yield from textbook_errors(
            rows[split.source, :shared],
            rows[split.source, -1],
            rows[split.target, :-1],
            rows[split.target, -1],
            rows[split.test],
            product=spec.product,
        )
