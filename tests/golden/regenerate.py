"""Golden numbers: what every method answers on two fixed problems, and how to store it anew.

Run ``python -m tests.golden.regenerate`` after a change that is meant to move a coefficient, look
at the difference, and say under *Numbers* in the changelog what moved and how far.
"""

import json
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes

from tests.laws.problems import Table, Tables
from tests.linear_methods import LINEAR_METHODS

STORE = Path(__file__).parent / "coefficients.json"


def waves() -> Tables:
    """Return sines of integers, to four decimals so that every machine has the same numbers."""
    centre, coef = np.array([0.0, 1.0, -2.0, 3.0]), np.array([1.5, -1.0, 0.5, 2.0])

    def table(start: int, rows: int, features: int) -> Table:
        i = np.arange(start, start + rows)
        X = np.sin(1.7 * np.outer(i, np.arange(1, 5)) + np.arange(4) ** 2)
        X = np.round(X + centre, 4)
        y = np.round(2.0 + X @ coef + 0.3 * np.cos(i**2), 4)
        return Table(("x0", "x1", "x2", "x3")[:features], X[:, :features], y)

    return Tables(table(0, 14, 4), {"older": table(14, 40, 2), "old": table(54, 25, 3)})


def diabetes() -> Tables:
    """Return the diabetes data in round units, history without bmi, bp and s5."""
    X, y = load_diabetes(return_X_y=True, scaled=False)
    names = ("age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6")
    X = X - [50.0, 1.0, 26.0, 95.0, 190.0, 115.0, 50.0, 4.0, 4.6, 90.0]
    X = np.round(X / [10.0, 1.0, 5.0, 15.0, 35.0, 30.0, 13.0, 1.0, 0.5, 10.0], 4)
    whole = Table(names, X, y)
    kept = [n for n in names if n not in ("bmi", "bp", "s5")]
    return Tables(whole.take(range(60)), {"old": whole.take(range(60, 442)).in_order(kept)})


PROBLEMS = {"waves": waves, "diabetes": diabetes}


def compute() -> dict[str, dict[str, dict[str, float]]]:
    """Return intercept and coefficients by problem, method and name."""
    return {problem: _answers(tables()) for problem, tables in PROBLEMS.items()}


def _answers(tables: Tables) -> dict[str, dict[str, float]]:
    answers = {}
    for name, kind in LINEAR_METHODS.items():
        fit = kind().solve(tables.problem())
        coef = zip(fit.names, fit.coef, strict=True)
        answers[name] = {"intercept": fit.intercept, **{n: float(c) for n, c in coef}}
    return answers


if __name__ == "__main__":
    STORE.write_text(json.dumps(compute(), indent=2) + "\n")
    print(f"Wrote {STORE}")
