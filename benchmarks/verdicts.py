"""Whether the probability that history helps is right: used by ``benchmarks.honesty``.

Each case is a small target, its history, and thousands of rows to test on. The truth is whether the
error on these rows is smaller with history than without it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.stats import ttest_1samp
from threadpoolctl import threadpool_limits

from benchmarks.messy import FEWEST_TEST_ROWS, RECENT_ROWS
from benchmarks.messy_problems import PARTLY_HELD_OUT, PROBLEMS, Draw
from poolwise import PooledRegressor, compare, diagnose, report
from poolwise.evaluation.compare import measured_effect
from poolwise.evaluation.verdict import Verdict
from poolwise.methods import BayesPooling
from poolwise.model.fitted_model import fit_kept
from poolwise.moments.progress import tracked

DOORS = ("fit", "diagnose", "compare", "report")
SURE = 0.95
SIZES = ((4, 1), (10, 3), (20, 6))  # features of a simulation, and how many of them are new
SIMULATED_ROWS = (12, 25, 60, 150)
DIFFERENCES = (0.0, 0.0, 0.5, 3.0)  # of one coefficient, in standard deviations of the noise
CLEAN, CONFLICT, MESSY = "simulations without conflict", "simulations with conflict", "messy tables"


@dataclass(frozen=True)
class Case:
    """What was said about history, and whether it was true."""

    group: str
    door: str
    probability: float
    level: str
    is_better: bool  # the error on the test rows with history
    is_worse: bool  # significantly larger


def cases(seeds: int, jobs: int = 1) -> list[Case]:
    """Return the cases of all problems, and of as many draws of each."""
    messy = [(name, rows, k) for name in PROBLEMS for rows in RECENT_ROWS for k in range(seeds)]
    every = product(SIZES, SIMULATED_ROWS, enumerate(DIFFERENCES), range(seeds))
    work = [delayed(_messy)(*task) for task in messy]
    work += [delayed(_simulated)(*task) for task in every]
    found = Parallel(n_jobs=jobs, return_as="generator")(work)
    return [case for some in tracked(found, len(work), "Verdicts") for case in some]


def _messy(name: str, rows: int, seed: int) -> list[Case]:
    problem = PROBLEMS[name]()
    if len(problem.recent) - rows < FEWEST_TEST_ROWS:
        return []
    return list(
        judged(problem.draw(seed, rows), PARTLY_HELD_OUT if name == PARTLY_HELD_OUT else MESSY)
    )


def _simulated(
    size: tuple[int, int], rows: int, difference: tuple[int, float], seed: int
) -> list[Case]:
    """Draw correlated features, and history that has another coefficient of one of them."""
    (features, new), (which, apart) = size, difference
    rng = np.random.default_rng((features, rows, which, seed))
    root = np.linalg.cholesky(0.6 * np.eye(features) + 0.4).T
    coef = 2.0 / np.sqrt(features) * rng.normal(size=features)
    noise = rng.choice([0.5, 1.0, 2.0])
    theirs = coef.copy()
    theirs[rng.integers(features - new)] += apart * noise
    names = [f"x{j}" for j in range(features)]

    def table(n: int, own: object) -> tuple[pd.DataFrame, pd.Series]:
        X = rng.normal(size=(n, features)) @ root
        y = X @ np.asarray(own) + noise * rng.normal(size=n)
        return pd.DataFrame(X, columns=names), pd.Series(y, name="y")

    X_old, y_old = table(400, theirs)
    draw = Draw((X_old[names[: features - new]], y_old), table(rows, coef), table(2000, coef))
    return list(judged(draw, CONFLICT if apart else CLEAN))


def judged(draw: Draw, group: str) -> Iterator[Case]:
    """Ask every door about one draw, and look at its test rows."""
    (X, y), (X_test, y_test), sources = draw.recent, draw.test, {"history": draw.history}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, alone = PooledRegressor(), PooledRegressor()
        intake, _ = fit_kept(model, X, y, sources=sources)
        told: dict[str, Verdict] = {"diagnose": diagnose(model).verdict}
        measured = measured_effect(intake, BayesPooling())
        told["fit"] = replace(diagnose(model), measured=measured).verdict
        told["compare"] = compare(X, y, sources=sources, methods=["bayes_pooling"]).verdict
        told["report"] = report(X, y, sources=sources, methods=[], progress=False).verdict
        alone.fit(X, y)
        errors = [(y_test - m.predict(X_test)) ** 2 for m in (model, alone)]
    apart = np.asarray(errors[0] - errors[1])
    p = float(ttest_1samp(apart, 0.0, alternative="greater").pvalue) if apart.any() else 1.0
    for door in DOORS:
        if (probability := told[door].probability) is not None:
            better = bool(apart.mean() < 0.0)
            yield Case(group, door, probability, told[door].level, better, p < 0.025)


@dataclass(frozen=True)
class Calibration:
    """How good some probabilities are."""

    count: int
    mean: float
    hits: float  # share of cases where history was better
    brier: float
    sure: int  # cases with 95 % or more
    sure_hits: float
    wrong: int  # "helps" where the error was significantly larger

    @classmethod
    def of(cls, some: Sequence[Case]) -> Calibration:
        """Compare what was said with what was true."""
        p = np.array([case.probability for case in some])
        true = np.array([case.is_better for case in some], dtype=float)
        sure = p >= SURE
        return cls(
            count=len(some),
            mean=float(p.mean()),
            hits=float(true.mean()),
            brier=float(np.mean((p - true) ** 2)),
            sure=int(sure.sum()),
            sure_hits=float(true[sure].mean()) if sure.any() else 1.0,
            wrong=sum(case.level == "helps" and case.is_worse for case in some),
        )

    def line(self) -> str:
        """Return a line of the table."""
        sure = f"{self.sure} ({self.sure_hits:.0%})" if self.sure else "0"
        return (
            f"{self.count:>6} {self.mean:>8.2f} {self.hits:>8.2f} {self.brier:>8.3f} "
            f"{sure:>12} {self.wrong:>6}"
        )


GROUPS = {
    CLEAN: (CLEAN,),
    CONFLICT: (CONFLICT,),
    MESSY: (MESSY,),
    f"{PARTLY_HELD_OUT}, held out": (PARTLY_HELD_OUT,),
    "all but the last": (CLEAN, CONFLICT, MESSY),
}
GOALS = (
    "Said within 0.05 of true, 95% or more right in 93%, Brier at most 0.20 on messy tables and "
    "0.10 on simulations without conflict, never wrong"
)
HEAD = f"{'cases':>6} {'said':>8} {'true':>8} {'Brier':>8} {'95% or more':>12} {'wrong':>6}"


def as_text(found: Sequence[Case]) -> tuple[str, bool]:
    """Return the table, and whether every door keeps its word."""
    lines, missed = [f"{'':<40} {HEAD}"], []
    for door in DOORS:
        own = [case for case in found if case.door == door]
        by_group = {
            name: Calibration.of(some)
            for name, groups in GROUPS.items()
            if (some := [case for case in own if case.group in groups])
        }
        lines += [f"{f'{door}: {name}':<40} {c.line()}" for name, c in by_group.items()]
        if not _keeps_its_word(by_group):
            missed.append(door)
    verdict = f"MISSED by {', '.join(missed)}" if missed else "met"
    lines += ["", f"{GOALS}: {verdict}"]
    return "\n".join(lines), not missed


def _keeps_its_word(by_group: dict[str, Calibration]) -> bool:
    """Return whether probabilities are calibrated, over all and in each group."""
    everything = by_group["all but the last"]
    return (
        abs(everything.mean - everything.hits) <= 0.05
        and everything.sure_hits >= 0.93
        and everything.wrong == 0
        and all(by_group[name].brier <= most for name, most in ((MESSY, 0.2), (CLEAN, 0.1)))
    )
