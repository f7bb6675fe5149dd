"""Values deleted at random from recent rows: ``python -m benchmarks.gaps [--quick]``.

On the paper's datasets, with a tenth and three tenths of the values of the recent rows deleted, the
test error of bayes_pooling is compared with the error after the gaps were filled by the median, and
by scikit-learn's IterativeImputer. Coverage of 95 % intervals is that of complete test rows and of
test rows with as many gaps. A simulation counts how often intervals of coefficients hold the truth.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.experimental import enable_iterative_imputer  # noqa: F401  it makes the next one
from sklearn.impute import IterativeImputer, SimpleImputer
from threadpoolctl import threadpool_limits

from benchmarks.cells import LEFT_OUT, Sample, cell_samples
from benchmarks.report import versions
from paper import datasets
from paper.specs import read_table_spec
from poolwise import PooledRegressor
from poolwise._typing import Array
from poolwise.linear.linear_fit import coefficient_intervals

TABLE = "small3"
SHARES = (0.1, 0.3)
MOST_RATIO = 1.02  # of errors, as a geometric mean over datasets
COVERAGE = (0.93, 0.97)
FEATURES, SHARED, CORRELATION = 6, 4, 0.5  # of the simulation
ROWS = ((30, 200), (60, 400), (300, 1000))  # of target and source in the simulation


def with_gaps(X: Array, share: float, rng: np.random.Generator) -> Array:
    """Delete values at random; every column keeps a value."""
    while True:
        gone = rng.random(X.shape) < share
        if not gone.all(axis=0).any():
            return np.where(gone, np.nan, X)


def errors(sample: Sample, share: float, rng: np.random.Generator) -> tuple[float, ...]:
    """Return errors with gaps, after the median and after imputation, and two coverages."""
    X, tested = with_gaps(sample.X, share, rng), with_gaps(sample.test, share, rng)
    own = _fit(X, sample.y, sample.history)
    found = [_error(own, sample)]
    for imputer in (SimpleImputer(strategy="median"), IterativeImputer(random_state=0)):
        found.append(_error(_fit(imputer.fit_transform(X), sample.y, sample.history), sample))
    ends = (own.predict_interval(rows) for rows in (sample.test, tested))
    return (*found, *(_share(e, sample.test_y) for e in ends))


def simulated(
    rows: tuple[int, int], share: float, repetitions: int, seed: int = 0
) -> tuple[float, float, float]:
    """Return coverages of coefficients, and of predictions for complete rows and with gaps."""
    rng = np.random.default_rng(seed)
    own = CORRELATION + (1.0 - CORRELATION) * np.eye(FEATURES)
    root, held = np.linalg.cholesky(own).T, []
    for _ in range(repetitions):
        truth = rng.normal(size=FEATURES)
        tables = [rng.normal(size=(n, FEATURES)) @ root for n in (*rows, 100)]
        y, y_old, y_new = (X @ truth + rng.normal(size=len(X)) for X in tables)
        model = _fit(with_gaps(tables[0], share, rng), y, (tables[1][:, :SHARED], y_old))
        intervals = coefficient_intervals(model.fit_)
        assert intervals is not None
        shares = [_share(intervals[1:], truth)]
        for X in (tables[2], with_gaps(tables[2], share, rng)):
            shares.append(_share(model.predict_interval(X), y_new))
        held.append(shares)
    coefficients, complete, gaps = np.mean(held, axis=0).tolist()
    return coefficients, complete, gaps


def _fit(X: Array, y: Array, history: tuple[Array, Array]) -> Any:
    return PooledRegressor(precision="fast").fit(X, y, sources=history)


def _error(model: Any, sample: Sample) -> float:
    return float(np.sqrt(np.mean((sample.test_y - model.predict(sample.test)) ** 2)))


def _share(intervals: Array, truth: Array) -> float:
    return float(np.mean((intervals[:, 0] <= truth) & (truth <= intervals[:, 1])))


def _judged(name: str, met: bool) -> int:
    print(f"  {name}: {'met' if met else 'MISSED'}")
    return int(not met)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print two tables; return 1 if a target is missed."""
    parser = argparse.ArgumentParser(prog="benchmarks.gaps", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two datasets, few repetitions")
    parser.add_argument("--runs", type=int, default=20, help="splits of each dataset (20)")
    parser.add_argument("--repetitions", type=int, default=200, help="of the simulation (200)")
    options = parser.parse_args(arguments)
    runs, repetitions = (2, 5) if options.quick else (options.runs, options.repetitions)
    names = [n for n in read_table_spec(TABLE).datasets if datasets.available(n)]
    if not names:
        print(LEFT_OUT)
    print(versions(("poolwise", "numpy", "scikit-learn")))
    head = f"{'error, of median':>17} {'of imputation':>14} {'coverage':>9} {'with gaps':>10}"
    missed = 0
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for share in SHARES if names else ():
            print(f"\n{share:.0%} of the values of recent rows deleted, {runs} splits\n")
            print(f"{'':<14}{head}")
            ratios, coverages = [], []
            for name in names[:2] if options.quick else names:
                rng = np.random.default_rng(0)
                found = [errors(s, share, rng) for s in cell_samples(TABLE, name, runs)]
                own, median, imputed, complete, gaps = np.mean(found, axis=0).tolist()
                ratios.append(own / min(median, imputed))
                coverages.append((complete, gaps))
                print(
                    f"{name:<14}{own / median:>17.3f} {own / imputed:>14.3f} {complete:>9.3f} "
                    f"{gaps:>10.3f}",
                    flush=True,
                )
            mean = float(np.exp(np.mean(np.log(ratios))))
            complete, gaps = np.mean(coverages, axis=0).tolist()
            print(
                f"\n  error, of the better of the two: {mean:.3f}; "
                f"coverage: {complete:.3f}, {gaps:.3f}"
            )
            missed += _judged(f"at most {MOST_RATIO}", mean <= MOST_RATIO)
            for what, value in (("complete rows", complete), ("rows with gaps", gaps)):
                inside = COVERAGE[0] <= value <= COVERAGE[1]
                missed += _judged(f"coverage {COVERAGE[0]} to {COVERAGE[1]}, {what}", inside)
        print(f"\nSimulation, {SHARES[-1]:.0%} of the values deleted, {repetitions} repetitions\n")
        print(f"{'rows':<14}{'coefficients':>17} {'predictions':>14} {'with gaps':>10}")
        for rows in ROWS[:1] if options.quick else ROWS:
            values = simulated(rows, SHARES[-1], repetitions)
            print("{:<14}{:>17.3f} {:>14.3f} {:>10.3f}".format("{}, {}".format(*rows), *values))
            inside = COVERAGE[0] <= values[0] <= COVERAGE[1]
            missed += _judged(f"coverage of coefficients {COVERAGE[0]} to {COVERAGE[1]}", inside)
    return int(missed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
