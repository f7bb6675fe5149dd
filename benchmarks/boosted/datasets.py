"""Errors in the paper's cells, beside trees on NaN, Bayes pooling and the best other method."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import wilcoxon

from benchmarks.answers import Answer, Target
from benchmarks.boosted import OURS
from benchmarks.cells import cell_samples, errors_of, trees_on_nan
from paper.specs import read_table_spec
from poolwise import PooledRegressor
from poolwise._typing import Array
from poolwise.errors import PoolwiseError
from poolwise.methods import METHODS
from poolwise.moments.progress import tracked

TABLES = ("small5", "small5_np1", "large100", "large300")
RUNS = 8
TREES = "trees_on_nan"
OTHERS = tuple(m for m in METHODS if m not in (OURS, "auto"))  # auto takes ours or bayes_pooling
FIRST_SPLITS = (1, 1 + RUNS)  # splits after the first eight were not used in development
FEWEST_SPLITS = 15  # that a cell has: energy of small5
LEVEL = 0.05


def on_datasets(*, quick: bool, jobs: int, firsts: Sequence[int] = FIRST_SPLITS) -> list[Answer]:
    """Compare test errors in each cell of four tables of the paper."""
    cells = [(table, name) for table in TABLES for name in read_table_spec(table).datasets]
    cells, runs = (cells[:1], 2) if quick else (cells, RUNS)
    cases = [(table, name, runs, first) for first in firsts for table, name in cells]
    work = Parallel(n_jobs=jobs, return_as="generator")(delayed(cell_errors)(*c) for c in cases)
    errors = list(tracked(work, len(cases), "Datasets"))
    answers = []
    for k, first in enumerate(firsts):
        found = errors[k * len(cells) : (k + 1) * len(cells)]
        named = {f"{t} {n}": e for (t, n), e in zip(cells, found, strict=True)}
        answers += _on_splits(named, f"splits {first} to {first + runs - 1}")
    return answers


def cell_errors(table: str, name: str, runs: int, first: int) -> dict[str, Array]:
    """Return the test errors in one dataset of one table of each method that fits every run."""
    errors = errors_of(cell_samples(table, name, runs, first), predictions)
    return {method: e for method, e in errors.items() if len(e) == len(errors[OURS])}


def predictions(
    X: Array, y: Array, history: tuple[Array, Array]
) -> Iterator[tuple[str, Callable[[Array], Array]]]:
    """Fit each method; yield its name and predictor. Other methods may raise errors."""
    yield OURS, PooledRegressor(OURS).fit(X, y, sources=history).predict
    for method in OTHERS:
        with suppress(PoolwiseError):
            yield method, PooledRegressor(method).fit(X, y, sources=history).predict
    yield TREES, trees_on_nan(X, y, history).predict


def _on_splits(cells: dict[str, dict[str, Array]], splits: str) -> list[Answer]:
    """Return the comparisons of the errors of all cells, by name of the cell."""
    runs = sorted({len(errors[OURS]) for errors in cells.values()})
    seen = (
        f"{len(cells)} cells of {', '.join(TABLES)}, "
        f"{' or '.join(map(str, runs))} published splits each"
    )
    best = Counter(_best_other(errors) for errors in cells.values())
    refused = Counter(m for e in cells.values() for m in (*OTHERS, TREES) if m not in e)
    hindsight = "the best in hindsight: " + _counts(best)
    if refused:
        hindsight += "; left out of cells where it refused to fit: " + _counts(refused)
    return [
        _against(cells, lambda _: TREES, f"trees on NaN rows, {splits}", seen, 0.88, 1),
        _against(cells, lambda _: "bayes_pooling", f"bayes_pooling, {splits}", "", 0.75, 1),
        _against(cells, _best_other, f"the best other, {splits}", hindsight, 0.97, None),
    ]


def _counts(found: Mapping[str, int]) -> str:
    return ", ".join(f"{m} {n}" for m, n in sorted(found.items(), key=lambda item: -item[1]))


def _best_other(errors: Mapping[str, Array]) -> str:
    return min((m for m in errors if m != OURS), key=lambda m: float(errors[m].mean()))


def _against(
    cells: dict[str, dict[str, Array]],
    other: Callable[[Mapping[str, Array]], str],
    what: str,
    about: str,
    most: float,
    losses: int | None,
) -> Answer:
    """Return the geometric mean of ratios of mean errors; too many losses are a miss as well."""
    ratio = [float(errors[OURS].mean() / errors[other(errors)].mean()) for errors in cells.values()]
    gaps = {name: errors[OURS] - errors[other(errors)] for name, errors in cells.items()}
    clear = {n: gap for n, gap in gaps.items() if gap.any() and wilcoxon(gap).pvalue < LEVEL}
    lost = [name for name, gap in clear.items() if gap.mean() > 0.0]
    won = len(clear) - len(lost)
    record = f"{won} won, {len(cells) - len(clear)} tied, {len(lost)} lost"
    return Answer(
        "datasets",
        f"RMSE of boosted_pooling / {what}",
        (float(np.exp(np.mean(np.log(ratio)))),),
        Target(f"at most {most:g}" + ("" if losses is None else f", {losses} lost"), high=most),
        detail=f"{record} (Wilcoxon, p < {LEVEL:g}); "
        + (f"lost: {', '.join(lost)}; " if lost else "")
        + f"geometric mean, cells {min(ratio):.2f} to {max(ratio):.2f}"
        + (about and f"; {about}"),
        missed=losses is not None and len(lost) > losses,
    )
