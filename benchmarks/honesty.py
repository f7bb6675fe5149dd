"""Error rates of the diagnostics: ``python -m benchmarks.honesty [--repetitions N]``.

How often ``shift`` reports a shift without one, and how often it finds a real one; whether the
expected gain of ``gain`` agrees with the measured one, and its 95 % interval holds it; and whether
the probability that history helps is right, as fit, diagnose, compare and report say it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from benchmarks import verdicts
from benchmarks.repetitions import asked
from benchmarks.report import versions
from poolwise import Moments, Problem
from poolwise._typing import Array
from poolwise.evaluation import gain, shift
from poolwise.evaluation.risk import solved, without_sources

Draw = Callable[[np.random.Generator, int], Array]

COLUMNS = 6
ROOT = np.linalg.cholesky(0.5 * np.eye(COLUMNS) + 0.5).T  # correlations of one half
LEVEL = 0.05
ROWS = ((8, 200), (30, 30), (30, 1000), (500, 2000))  # of the target and of the source
MOVES = (0.4, 0.6, 0.8, 1.0)  # of one mean, in standard deviations
MANY = 12  # columns, where moves are looked for
VERDICT_DRAWS = 250  # repetitions for one draw of each problem of `verdicts`


def _normal(rng: np.random.Generator, rows: int) -> Array:
    return rng.normal(size=(rows, COLUMNS)) @ ROOT


TAILS: Mapping[str, Draw] = {
    "normal": _normal,
    "Student's, 5 degrees": lambda rng, n: rng.standard_t(5, size=(n, 1)) * _normal(rng, n),
    "Student's, 3 degrees": lambda rng, n: _normal(rng, n) / np.sqrt(rng.chisquare(3, (n, 1))),
    "lognormal": lambda rng, n: np.exp(_normal(rng, n)),
    "Pareto, 3": lambda rng, n: rng.pareto(3.0, size=(n, COLUMNS)),
    "mostly zero": lambda rng, n: (
        rng.exponential(size=(n, COLUMNS)) * (rng.random((n, COLUMNS)) < 0.1)
    ),
}


def alarms(draw: Draw, rows: tuple[int, int], repetitions: int, seed: int = 0) -> float:
    """Return how often a shift is found between tables that are drawn alike."""
    rng = np.random.default_rng(seed)
    found = [
        bool(shift(_problem(draw(rng, rows[0]), draw(rng, rows[1]))).found)
        for _ in range(repetitions)
    ]
    return float(np.mean(found))


def detections(move: float, repetitions: int, seed: int = 0) -> float:
    """Return how often a move of one mean is found, among a dozen columns and thirty rows."""
    rng = np.random.default_rng(seed)
    found = 0
    for _ in range(repetitions):
        target, source = rng.normal(size=(30, MANY)), rng.normal(size=(1000, MANY))
        source[:, 0] += move
        found += any("x0" in line.columns for line in shift(_problem(target, source)).found)
    return found / repetitions


def promises(
    target_rows: int, difference: float, repetitions: int, seed: int = 0
) -> tuple[float, float, float]:
    """Return the mean expected gain, the mean measured one, and how often the interval holds it.

    Parameters
    ----------
    target_rows : int
        Of four features, the last of which 300 rows of history lack.
    difference : float
        Difference of one coefficient between history and target; noise is one.
    repetitions, seed : int
        Number of repetitions, and seed of the random numbers.
    """
    told = []
    for k in range(repetitions):
        rng = np.random.default_rng((seed, k))
        coef = rng.normal(size=4)
        X, X_old = rng.normal(size=(target_rows, 4)), rng.normal(size=(300, 4))
        for rows in (X, X_old):
            rows[:, 3] = 0.6 * rows[:, 0] + 0.8 * rows[:, 3]
        y = X @ coef + rng.normal(size=target_rows)
        y_old = X_old @ coef + difference * X_old[:, 1] + rng.normal(size=300)
        problem = _problem(np.column_stack((X, y)), np.column_stack((X_old[:, :3], y_old)))
        posterior, alone = solved(problem), solved(without_sources(problem))
        wrong = [np.mean((fit.line(X) - X @ coef) ** 2) for fit in (alone, posterior)]
        line, real = gain(problem, posterior=posterior).lines[0], wrong[0] - wrong[1]
        assert posterior.noise is not None
        told.append((line.gain, real, line.low <= real / posterior.noise <= line.high))
    promised, found, held = np.mean(told, axis=0)
    return float(promised), float(found), float(held)


def _problem(target: Array, source: Array) -> Problem:
    names = [*(f"x{j}" for j in range(target.shape[1] - 1)), "y"]
    own = [*names[: source.shape[1] - 1], "y"]
    tables = [Moments.of_rows(n, t, precision="fast") for n, t in ((names, target), (own, source))]
    return Problem(tables[0], {"old": tables[1]}, "y")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print four tables; return 1 if false alarms or probabilities are further off than chance."""
    options = asked("benchmarks.honesty", __doc__, arguments)
    count, seed = options.repetitions, options.seed
    most = LEVEL + 3.0 * np.sqrt(LEVEL * (1.0 - LEVEL) / count)
    print(versions(("poolwise", "numpy", "scipy")))
    print(f"\nReports of a shift without a shift, level {LEVEL:.0%}, {count:,} repetitions\n")
    print(f"{'rows of target and source':<28}", *(f"{f'{t}, {s:,}':>10}" for t, s in ROWS))
    worst = 0.0
    for name, draw in TAILS.items():
        shares = [alarms(draw, rows, count, seed) for rows in ROWS]
        worst = max(worst, *shares)
        print(f"{name:<28}", *(f"{share:>10.1%}" for share in shares), flush=True)
    print(f"\nA mean that has moved is found, 30 target rows, {MANY} columns\n")
    print(f"{'moved by (deviations)':<28}", *(f"{move:>10g}" for move in MOVES))
    print(f"{'found':<28}", *(f"{detections(m, count, seed):>10.1%}" for m in MOVES), flush=True)
    print("\nExpected and measured gain, and coverage of the 95 % interval\n")
    print(f"{'':<40} {'expected':>10} {'measured':>10} {'covered':>10}")
    for difference, what in ((0.0, ""), (0.5, ", a coefficient 0.5 off"), (3.0, ", 3 off")):
        for rows in (12, 25, 60):
            promised, found, held = promises(rows, difference, count, seed)
            label = f"{rows} target rows{what}"
            print(f"{label:<40} {promised:>10.4f} {found:>10.4f} {held:>10.1%}", flush=True)
    met = worst <= most
    print(f"\nAt most {most:.1%} of reports without a shift find one: {worst:.1%},", end=" ")
    print("met" if met else "MISSED")
    draws = max(count // VERDICT_DRAWS, 1)
    print(f"\nProbability that history helps, {draws} draws of each problem and size\n")
    table, kept = verdicts.as_text(verdicts.cases(draws, options.jobs))
    print(table)
    return int(not (met and kept))


if __name__ == "__main__":
    raise SystemExit(main())
