"""Problems drawn from a known truth, and the same problems told in another way."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from poolwise import Moments, Problem
from tests.laws.problems import Tables, random_tables

NAMES = ("x0", "x1", "x2", "x3", "y")


class World(NamedTuple):
    """A problem, the rows of its target, and the coefficients that made it."""

    problem: Problem
    X: np.ndarray
    coef: np.ndarray


def moments(rows, names=NAMES, weights=None):
    return Moments.of_rows(names, rows, weights, precision="fast")


def world(
    seed, *, target_rows=25, source_rows=300, shift=0.0, level=0.0, correlation=0.6, sources=1
):
    """Draw a target of four features, and sources that lack the last; ``shift`` is in conflict."""
    rng = np.random.default_rng(seed)
    coef = rng.normal(size=4)

    def rows(count, change=0.0, more=0.0):
        X = rng.normal(size=(count, 4))
        X[:, 3] = correlation * X[:, 0] + np.sqrt(1.0 - correlation**2) * X[:, 3]
        y = X @ coef + change * X[:, 1] + more + rng.normal(size=count)
        return np.column_stack((X, y))

    target = rows(target_rows)
    history = {
        f"s{k}": moments(rows(source_rows, shift, level)[:, [0, 1, 2, 4]], ("x0", "x1", "x2", "y"))
        for k in range(sources)
    }
    return World(Problem(moments(target), history, "y"), target[:, :4], coef)


def nested(seed=0) -> Tables:
    """Return tables whose sources have different features."""
    sources = {"older": (50, (0, 1)), "old": (40, (0, 1, 2)), "full": (15, (0, 1, 2, 3))}
    return random_tables(seed, target_rows=24, features=4, sources=sources)


def in_other_units(tables: Tables) -> Tables:
    """Return the same tables with columns multiplied and moved."""
    factor = {"x0": 64.0, "x1": 0.125, "x2": 2.0**30, "x3": 1.0}
    move = {"x0": 3.0, "x1": -8.0, "x2": 0.0, "x3": 100.0}

    def change(table):
        f = np.array([factor[n] for n in table.names])
        m = np.array([move[n] for n in table.names])
        return replace(table, X=f * (table.X + m), y=16.0 * (table.y - 5.0))

    return tables.each(change)


def turned_round(tables: Tables) -> Tables:
    """Return the same tables with columns and sources in the opposite order."""
    other = tables.each(lambda t: t.in_order(("x3", "x2", "x1", "x0")))
    return Tables(other.target, dict(reversed(list(other.sources.items()))))


def hard_cases() -> dict[str, Problem]:
    """Return problems with something missing, constant, extreme or too small."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    Z = np.column_stack((X, X @ [1.0, 2.0, 3.0] + rng.normal(size=40)))
    n = ("a", "b", "c", "y")
    flat, quiet, tied, exact = Z.copy(), Z.copy(), Z.copy(), Z.copy()
    flat[:, 1] = 5.0
    quiet[:, 3] = 2.0
    tied[:, 2] = 2.0 * tied[:, 0] - tied[:, 1]
    exact[:, 3] = exact[:, :3].sum(axis=1)
    extreme = Z * [1e60, 1e-60, 1.0, 1e50]
    unicode = ("höhe", "β", "température", "ответ")

    def problem(target, source, names=n, **more):
        kept = [0, 1, 3]
        history = {"früher": moments(source[:, kept], [names[j] for j in kept])}
        return Problem(moments(target, names), history, names[-1], **more)

    def constant(rows, value, names, kept):
        wide = np.column_stack((rows[:, :3], np.full(len(rows), value), rows[:, 3]))
        return moments(wide[:, kept], names)

    apart = Problem(
        constant(Z[:20], 1.0, ("a", "b", "c", "k", "y"), [0, 1, 2, 3, 4]),
        {"s": constant(Z[20:], 2.0, ("a", "b", "k", "y"), [0, 1, 3, 4])},
        "y",
    )
    weights = rng.integers(0, 4, 20).astype(float)
    plain = problem(Z[:20], Z[20:])
    return {
        "no sources": Problem(moments(Z[:20], n), {}, "y"),
        "a source with all features": Problem(moments(Z[:20], n), {"s": moments(Z[20:], n)}, "y"),
        "fewer rows than features": problem(Z[:2], Z[20:]),
        "one row": problem(Z[:1], Z[20:]),
        "a constant feature": problem(flat[:20], flat[20:]),
        "a feature constant in the target": problem(flat[:20], Z[20:]),
        "a feature constant in the source": problem(Z[:20], flat[20:]),
        "a feature constant in both, and different": apart,
        "a constant response": problem(quiet[:20], quiet[20:]),
        "a response constant in the target": problem(quiet[:20], Z[20:]),
        "weights": replace(plain, target=moments(Z[:20], n, weights)),
        "weights next to nothing": replace(plain, target=1e-3 * plain.target),
        "no intercept": problem(Z[:20], Z[20:], intercept=False),
        "an empty source": replace(
            plain, sources={**plain.sources, "e": Moments.empty(("a", "y"))}
        ),
        "a source of two rows": Problem(
            moments(Z[:20], n), {"s": moments(Z[20:22, [0, 3]], ("a", "y"))}, "y"
        ),
        "unicode": problem(Z[:20], Z[20:], unicode),
        "dependent features": problem(tied[:20], tied[20:]),
        "no noise": problem(exact[:20], exact[20:]),
        "large and small columns": problem(extreme[:20], extreme[20:]),
    }
