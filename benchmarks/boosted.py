"""Boosted pooling: ``python -m benchmarks.boosted [--quick] [--jobs N] [--only QUESTION]...``.

On the paper's datasets it is held against trees on rows stacked with NaN, against Bayes pooling and
against the best of all others in hindsight; on simulated tables against the better of two models
that never saw a history which lies; then coverage of its intervals, and the cost of a fit. Where
LightGBM is installed it is held against scikit-learn's boosting.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import wilcoxon
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from benchmarks.answers import Answer, Target, ratios
from benchmarks.cells import LEFT_OUT, cell_samples, errors_of, stacked_rows, trees_on_nan
from benchmarks.clock import in_words
from benchmarks.report import tell
from benchmarks.truths import TRUTHS, simulated
from poolwise import PooledRegressor
from poolwise.double_double import Array
from poolwise.errors import OtherUnits, TransferError
from poolwise.experiments.reproduction import missing_data
from poolwise.experiments.specs import read_table_spec
from poolwise.methods import METHODS
from poolwise.progress import tracked

TABLES = ("small5", "small5_np1", "large100", "large300")
RUNS = 8
OURS, TREES = "boosted_pooling", "trees_on_nan"
OTHERS = (*METHODS, "derived_pooling")  # auto is no other: it takes ours or bayes_pooling
FIRST_SPLITS = (1, 1 + RUNS)  # of those after the first eight none was looked at
LEVEL = 0.05
TARGET_ROWS = 800  # in all draws of a kind together, at least
BOOSTERS = 35  # that one fit trains: five on all rows, three times ten on the target


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
    """Fit each method; yield its name and how it predicts. Others may refuse."""
    yield OURS, PooledRegressor(OURS).fit(X, y, sources=history).predict
    for method in OTHERS:
        with suppress(TransferError):
            yield method, PooledRegressor(method).fit(X, y, sources=history).predict
    yield TREES, trees_on_nan(X, y, history).predict


def _on_splits(cells: dict[str, dict[str, Array]], splits: str) -> list[Answer]:
    """Return what the errors of all cells say, each by the name of its cell."""
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
        detail=f"{record} (Wilcoxon, p < {LEVEL:g}){''.join(f', {name}' for name in lost)}; "
        f"geometric mean, cells {min(ratio):.2f} to {max(ratio):.2f}" + (about and f"; {about}"),
        missed=losses is not None and len(lost) > losses,
    )


def on_lies(*, quick: bool, jobs: int) -> list[Answer]:
    """Compare with models that never saw the history, where its labels lie."""
    lies: dict[str, Callable[[Array, np.random.Generator], Array]] = {
        "permuted": lambda y, rng: rng.permutation(y),
        "flipped": lambda y, _: 2.0 * y.mean() - y,
        "shifted by 3 sd": lambda y, _: y + 3.0 * y.std(),
    }
    cases = [(truth, lie, rows) for truth in TRUTHS for lie in lies for rows in (40, 100)]
    cases, runs = (cases[:1], 1) if quick else (cases, 10)
    work = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(_lied)(truth, lies[lie], rows, runs) for truth, lie, rows in cases
    )
    found = list(tracked(work, len(cases), "Lies"))
    named = {f"{t}, {lie}, {n} rows": r for (t, lie, n), r in zip(cases, found, strict=True)}
    worst = max(named, key=named.__getitem__)
    return [
        Answer(
            "lies",
            "History that lies: RMSE / the better of target_only and trees on the target",
            (max(found),),
            Target("at most 1.1", high=1.1),
            detail=f"the worst of {len(cases)} kinds ({worst}), mean of {runs} draws of 1,000 rows "
            f"of history; median {np.median(found):.3f}",
        )
    ]


def _lied(
    truth: str, lie: Callable[[Array, np.random.Generator], Array], rows: int, runs: int
) -> float:
    squared: dict[str, list[float]] = {"ours": [], "line": [], "trees": []}
    for seed in range(runs):
        rng = np.random.default_rng([seed, rows])
        t = simulated(truth, rng, history=1000, target=rows)
        old_y = lie(t.old_y, rng)
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", OtherUnits)  # so it looks, shifted by 3 sd
            fitted = {
                "ours": PooledRegressor(OURS).fit(t.X, t.y, sources=(t.old, old_y)),
                "line": PooledRegressor("target_only").fit(t.X, t.y),
                "trees": HistGradientBoostingRegressor(random_state=0).fit(t.X, t.y),
            }
            for name, model in fitted.items():
                squared[name].append(float(np.mean((t.test_y - model.predict(t.test)) ** 2)))
    error = {name: float(np.sqrt(np.mean(s))) for name, s in squared.items()}
    return error["ours"] / min(error["line"], error["trees"])


def coverage(*, quick: bool, jobs: int) -> list[Answer]:
    """Count how often intervals hold new responses."""
    cases = [(truth, rows) for truth in TRUTHS for rows in (10, 20, 40, 100, 300)]
    cases, fewest = (cases[:1], 2) if quick else (cases, 20)
    # Of small targets more are drawn: one covers by chance what another does not.
    draws = [fewest if quick else max(fewest, TARGET_ROWS // rows) for _, rows in cases]
    work = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(_covered)(truth, rows, runs)
        for (truth, rows), runs in zip(cases, draws, strict=True)
    )
    shares = list(tracked(work, len(cases), "Coverage"))
    each = ", ".join(
        f"{truth} {rows}: {share:.3f}" for (truth, rows), share in zip(cases, shares, strict=True)
    )
    about = (
        f"{min(draws)} to {max(draws)} draws, more for few target rows, of 800 rows of history "
        f"each; truth and target rows: {each}"
    )
    ends = {"Least": min(shares), "Greatest": max(shares)}
    return [
        Answer(
            "coverage",
            f"{which} coverage of 95 % intervals of boosted_pooling",
            (share,),
            Target("0.92 to 0.97", 0.92, 0.97),
            detail=about if which == "Least" else "",
        )
        for which, share in ends.items()
    ]


def _covered(truth: str, rows: int, runs: int) -> float:
    held = []
    for seed in range(runs):
        t = simulated(truth, np.random.default_rng([seed, rows, 1]), history=800, target=rows)
        with threadpool_limits(1):
            model = PooledRegressor(OURS).fit(t.X, t.y, sources=(t.old, t.old_y))
            low, high = model.predict_interval(t.test).T
        held.append(float(np.mean((low <= t.test_y) & (t.test_y <= high))))
    return float(np.mean(held))


def cost(*, quick: bool, jobs: int) -> list[Answer]:
    """Compare the time of a fit with that of one booster; memory as the history grows."""
    del jobs  # one after the other: it is time that is measured
    rows, rounds = (400, 1) if quick else (4000, 3)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows + 100, 24))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + X[:, -1] + rng.normal(size=len(X))
    target, history = (X[rows:], y[rows:]), (X[:rows, :20], y[:rows])
    works: dict[str, Callable[[], object]] = {
        "ours": partial(PooledRegressor(OURS).fit, *target, sources=history),
        "booster": partial(HistGradientBoostingRegressor(max_iter=200).fit, *history),
    }
    seconds: dict[str, list[float]] = {name: [] for name in works}
    with threadpool_limits(1):
        for _ in range(rounds):
            for name, work in works.items():
                start = time.process_time()
                work()
                seconds[name].append(time.process_time() - start)
    ours, booster = seconds["ours"], [BOOSTERS * s for s in seconds["booster"]]
    sizes = (1000, 2000) if quick else (20_000, 40_000)
    peaks = [_peak(n) for n in sizes]
    return [
        Answer(
            "cost",
            f"Time of a fit / one HistGradientBoosting x {BOOSTERS}",
            ratios(ours, booster),
            Target("at most 3", high=3.0),
            detail=f"{in_words(float(np.median(ours)))}; {rows:,} rows of history, 100 of the "
            "target, 24 features, one thread",
        ),
        Answer(
            "cost",
            f"Memory at {sizes[1]:,} rows of history / at {sizes[0]:,}",
            (peaks[1] / peaks[0],),
            Target("at most 2.2", high=2.2),
            detail=" and ".join(f"{p / 1e6:.0f} MB" for p in peaks) + " (tracemalloc)",
        ),
    ]


def _peak(rows: int) -> float:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows + 100, 12))
    y = X.sum(axis=1) + rng.normal(size=len(X))
    tracemalloc.start()
    PooledRegressor(OURS).fit(X[rows:], y[rows:], sources=(X[:rows, :10], y[:rows]))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return float(peak)


def learners(*, quick: bool, jobs: int) -> list[Answer]:
    """Compare LightGBM with scikit-learn's boosting, both grown alike, where it is installed."""
    del jobs
    if find_spec("lightgbm") is None:
        return []
    import lightgbm

    alike = {"learning_rate": 0.1, "random_state": 0}
    kinds: dict[str, Callable[[], Any]] = {
        "lightgbm": lambda: lightgbm.LGBMRegressor(
            n_estimators=200, num_leaves=31, min_child_samples=10, n_jobs=1, verbose=-1, **alike
        ),
        "sklearn": lambda: HistGradientBoostingRegressor(
            max_iter=200, max_leaf_nodes=31, min_samples_leaf=10, early_stopping=False, **alike
        ),
    }
    answers = []
    for history in (400,) if quick else (400, 4000):
        error: dict[str, list[float]] = {name: [] for name in kinds}
        seconds: dict[str, list[float]] = {name: [] for name in kinds}
        for truth, seed in product(TRUTHS, range(1 if quick else 10)):
            t = simulated(truth, np.random.default_rng([seed, 2]), history=history, target=100)
            with threadpool_limits(1):
                for name, kind in kinds.items():
                    start = time.process_time()
                    model = kind().fit(*stacked_rows(t.X, t.y, (t.old, t.old_y)))
                    seconds[name].append(time.process_time() - start)
                    error[name].append(float(np.mean((t.test_y - model.predict(t.test)) ** 2)))
        for what, found in (("RMSE", np.sqrt), ("time of a fit", np.asarray)):
            own = {n: found(v) for n, v in (error if what == "RMSE" else seconds).items()}
            answers.append(
                Answer(
                    "learners",
                    f"LightGBM / scikit-learn, {what}, {history:,} rows of history",
                    tuple((own["lightgbm"] / own["sklearn"]).tolist()),
                )
            )
    return answers


QUESTIONS = {
    "datasets": on_datasets,
    "lies": on_lies,
    "coverage": coverage,
    "cost": cost,
    "learners": learners,
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
