"""Reproduce: the cells of one dataset of the paper's tables, beside a plain loop over its runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import median

from benchmarks.answers import Answer, Target, ratios
from benchmarks.clock import in_words, interleaved
from benchmarks.peak import peak_in_new_process
from benchmarks.textbook import Array, textbook_errors
from poolwise.experiments import datasets
from poolwise.experiments.columns import ordered
from poolwise.experiments.specs import PROTOCOLS, Protocol, read_table_spec
from poolwise.experiments.tables import scores, splits_of

LEFT_OUT = (
    "The question 'reproduce' is left out: the paper's datasets are not here. "
    "POOLWISE_DATA should name their folder."
)
MEASURED = ("pumadyn32nm", "protein")  # many features for time; the longest for memory


def reproduce(*, quick: bool) -> list[Answer]:
    timed, longest = ("energy", "energy") if quick else MEASURED
    if not all(map(datasets.available, (timed, longest))):
        print(LEFT_OUT)
        return []
    runs = 2 if quick else None
    return [*(_times(timed, protocol, runs) for protocol in PROTOCOLS), _memory(longest)]


def _times(dataset: str, protocol: Protocol, runs: int | None) -> Answer:
    rows = ordered(datasets.load(dataset), "published")  # ours keeps its rows from call to call
    works: dict[str, Callable[[], object]] = {
        "ours": partial(our_errors, dataset, protocol, runs),
        "loop": partial(loop_errors, rows, dataset, runs),
    }
    ours, loop = interleaved(works, rounds=3, label=f"Reproduce, {protocol}").values()
    count, size = len(splits_of(read_table_spec("large100"), dataset)[:runs]), datasets.UCI[dataset]
    return Answer(
        "reproduce",
        f"Cells of a table, {protocol} / a plain loop over runs",
        ratios(ours, loop),
        detail=f"{in_words(median(ours))} / {in_words(median(loop))}; "
        f"{dataset} in large100, {size.rows:,} x {size.columns}, {count} runs of 4 methods, "
        "both in linear time",
    )


def our_errors(dataset: str, protocol: Protocol, runs: int | None) -> list[float]:
    spec = read_table_spec("large100")
    found = scores(spec, dataset, list(spec.methods), protocol, runs=runs)
    return [score.rmse for score in found]


def loop_errors(rows: Array, dataset: str, runs: int | None) -> list[float]:
    spec = read_table_spec("large100")
    shared = rows.shape[1] - 1 - spec.new_features
    return [
        error
        for split in splits_of(spec, dataset)[:runs]
        for error in textbook_errors(
            rows[split.source, :shared],
            rows[split.source, -1],
            rows[split.target, :-1],
            rows[split.target, -1],
            rows[split.test],
        )
    ]


def _memory(dataset: str) -> Answer:
    peak = peak_in_new_process(kernel_run, dataset)
    source = len(splits_of(read_table_spec("large300"), dataset)[0].source)
    return Answer(
        "reproduce",
        "Peak extra memory of a kernel cell, with reading the data",
        (peak.megabytes,),
        Target("under 2 GB", high=2_000.0),
        "MB",
        f"{peak.in_words()}; dsft_nl on {dataset} in large300, one run; "
        f"the published matrix of source by source would be {8.0 * source**2 / 1e9:.3g} GB",
    )


def kernel_run(dataset: str) -> Callable[[], object]:
    spec = read_table_spec("large300")
    return lambda: list(scores(spec, dataset, ["dsft_nl"], "published", runs=1))
