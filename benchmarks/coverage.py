"""How often 95 % intervals hold the truth: ``python -m benchmarks.coverage [--repetitions N]``.

Each repetition draws tables and coefficients anew, fits, and counts. Rows to predict share one
fit, so a standard error is taken over repetitions, never over rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

import numpy as np

from benchmarks.repetitions import asked
from benchmarks.report import versions
from poolwise import PooledRegressor
from poolwise._typing import Array
from poolwise.errors import PoolwiseWarning
from poolwise.linear.linear_fit import coefficient_intervals

FEATURES, SHARED = 8, 5
ROWS_TO_PREDICT = 100
PREDICTIONS = (0.935, 0.97)  # range for the coverage of predictions
COEFFICIENTS = (0.88, 0.985)  # range for the coverage of coefficients
NOTES = (
    f"{FEATURES} features, of which the source has {SHARED}; noise 1 in both tables; coefficients "
    "are normal with the standard deviation 'signal'. In brackets: standard errors.",
    "With d + 1 rows the target's noise and signal are not identified. So the signal is drawn anew "
    "in each repetition, between 0.2 and 1, uniform in its logarithm. If it is always strong, "
    "intervals are too wide; the last line shows by how much.",
)


@dataclass(frozen=True)
class Scenario:
    """How tables are drawn.

    Parameters
    ----------
    target_rows, source_rows : int
        Numbers of rows.
    signal : tuple of float
        Range of the standard deviation of coefficients.
    correlation : float
        Of each new feature with a combination of shared ones.
    freedom : float
        Degrees of freedom of the noise; infinite for normal noise.
    shift : float
        Mean of new features in the source, which is zero in the target.
    difference : float
        Coefficient of the first feature in the source, less that in the target.
    conflict : bool
        Whether there is a second source, with other coefficients and another level.
    exception : str
        Why this one is not judged.
    """

    target_rows: int = 20
    source_rows: int = 200
    signal: tuple[float, float] = (1.0, 1.0)
    correlation: float = 0.0
    freedom: float = np.inf
    shift: float = 0.0
    difference: float = 0.0
    conflict: bool = False
    exception: str = ""


SCENARIOS = {
    "d + 1 rows": Scenario(FEATURES + 1, 100, signal=(0.2, 1.0)),
    "1.5 d rows": Scenario(FEATURES * 3 // 2, 100),
    "4 d rows": Scenario(FEATURES * 4, 100),
    "20 d rows": Scenario(FEATURES * 20, 400),
    "correlated features": Scenario(correlation=0.9),
    "t noise, 5 degrees": Scenario(freedom=5.0),
    "mean shift": Scenario(shift=1.0),
    "two sources, one in conflict": Scenario(conflict=True),
    "a coefficient differs by 0.5": Scenario(
        difference=0.5, exception="half detected: the interval of that coefficient is too narrow"
    ),
    "d + 1 rows, strong signal": Scenario(
        FEATURES + 1, 100, exception="the noise is not identified; the prior expects less signal"
    ),
}


@dataclass(frozen=True)
class Coverage:
    """Shares of intervals that hold the truth, one for each repetition."""

    predictions: Array
    coefficients: Array

    def line(self, name: str, scenario: Scenario) -> str:
        """Return a line of the table."""
        cells = [_with_error(self.predictions), _with_error(self.coefficients)]
        return "  ".join([f"{name:<28}", *(f"{c:>15}" for c in cells), self.verdict(scenario)])

    def verdict(self, scenario: Scenario) -> str:
        """Return whether both shares are in their ranges."""
        if scenario.exception:
            return f"not judged: {scenario.exception}"
        missed = [
            what
            for what, values, (low, high) in (
                ("predictions", self.predictions, PREDICTIONS),
                ("coefficients", self.coefficients, COEFFICIENTS),
            )
            if not low <= values.mean() <= high
        ]
        return f"MISSED: {', '.join(missed)}" if missed else "met"


def measured(scenario: Scenario, repetitions: int, seed: int = 0) -> Coverage:
    """Draw, fit and count, as often as asked.

    Parameters
    ----------
    scenario : Scenario
        How tables are drawn.
    repetitions : int
        How often.
    seed : int, default=0
        Of the random numbers.
    """
    rng = np.random.default_rng(seed)
    counts = [_once(scenario, rng) for _ in range(repetitions)]
    predictions, coefficients = np.array(counts).T
    return Coverage(predictions, coefficients)


def _once(scenario: Scenario, rng: np.random.Generator) -> tuple[float, float]:
    mix = np.eye(FEATURES)
    if scenario.correlation:
        along = rng.normal(size=(SHARED, FEATURES - SHARED))
        along /= np.linalg.norm(along, axis=0)
        mix[:SHARED, SHARED:] = scenario.correlation * along
        mix[SHARED:, SHARED:] *= np.sqrt(1.0 - scenario.correlation**2)
    low, high = np.log(scenario.signal)
    truth = np.exp(rng.uniform(low, high)) * rng.normal(size=FEATURES)

    def draw(rows: int, coef: Array, shift: float = 0.0, level: float = 0.0) -> tuple[Array, Array]:
        X = rng.normal(size=(rows, FEATURES)) @ mix
        X[:, SHARED:] += shift
        return X, level + X @ coef + _noise(scenario.freedom, rows, rng)

    X, y = draw(scenario.target_rows, truth)
    theirs = truth + scenario.difference * (np.arange(FEATURES) == 0)
    X_old, y_old = draw(scenario.source_rows, theirs, scenario.shift)
    sources = {"old": (X_old[:, :SHARED], y_old)}
    if scenario.conflict:
        X_bad, y_bad = draw(scenario.source_rows, truth + rng.normal(size=FEATURES), level=2.0)
        sources["in conflict"] = (X_bad[:, :SHARED], y_bad)
    X_new, y_new = draw(ROWS_TO_PREDICT, truth)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PoolwiseWarning)
        model = PooledRegressor(precision="fast").fit(X, y, sources=sources)
    of_coefficients = coefficient_intervals(model.fit_)
    assert of_coefficients is not None
    return _share(model.predict_interval(X_new), y_new), _share(of_coefficients[1:], truth)


def _noise(freedom: float, rows: int, rng: np.random.Generator) -> Array:
    """Draw noise of variance one."""
    if not np.isfinite(freedom):
        return rng.normal(size=rows)
    return rng.standard_t(freedom, size=rows) * np.sqrt((freedom - 2.0) / freedom)


def _share(intervals: Array, truth: Array) -> float:
    return float(np.mean((intervals[:, 0] <= truth) & (truth <= intervals[:, 1])))


def _with_error(values: Array) -> str:
    return f"{values.mean():.3f} ({values.std(ddof=1) / np.sqrt(len(values)):.3f})"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table; return 1 if a target is missed."""
    options = asked("benchmarks.coverage", __doc__, arguments)
    print(versions(("poolwise", "numpy", "scipy")))
    print(f"\nCoverage of 95 % intervals of bayes_pooling, {options.repetitions:,} repetitions\n")
    print(f"{'':<28}  {'predictions':>15}  {'coefficients':>15}")
    first, second = ("{} to {}".format(*ends) for ends in (PREDICTIONS, COEFFICIENTS))
    print(f"{'target':<28}  {first:>15}  {second:>15}")
    missed = 0
    for name, scenario in SCENARIOS.items():
        found = measured(scenario, options.repetitions, options.seed)
        missed += found.verdict(scenario).startswith("MISSED")
        print(found.line(name, scenario), flush=True)
    print()
    for note in NOTES:
        print("\n".join(wrap(note, 100, subsequent_indent="  ")))
    judged = sum(not s.exception for s in SCENARIOS.values())
    print(f"\nTargets met: {judged - missed} of {judged}")
    return int(missed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
