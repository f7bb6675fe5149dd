"""Making: all candidates from a derivation, and again without each tenth of the target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from poolwise.boosting.booster import Grow
from poolwise.boosting.candidates import Candidates, Name
from poolwise.boosting.deriving import STAGES, Derivation
from poolwise.boosting.folds import tenths
from poolwise.boosting.learning_rows import LearningRows
from poolwise.boosting.target_trees import CORRECTION, FEWEST, about_mean, grown, growths
from poolwise.boosting.tree_mean import TreeMean
from poolwise.double_double import Array
from poolwise.fit import LinearFit
from poolwise.moments import Moments
from poolwise.problem import Problem

Solver: TypeAlias = Callable[[Problem], LinearFit]


@dataclass(frozen=True, eq=False)
class Made:
    """Candidates, and the same made ten times without a tenth of the target.

    Parameters
    ----------
    all : Candidates
        From all rows; trees on all rows are means over fifths, those on the target over tenths.
    without : tuple of Candidates
        From the target's rows outside each tenth; trees on all rows from those outside its fifth.
    said : array of shape (n, candidates)
        What these say of the target's rows in their tenth, which they have not seen.
    """

    all: Candidates
    without: tuple[Candidates, ...]
    said: Array


def candidates(problem: Problem, derivation: Derivation, solve: Solver, grow: Grow) -> Made:
    """Make all candidates.

    Parameters
    ----------
    problem : Problem
        The target and its sources.
    derivation : Derivation
        The same with derived columns, and the trees that these come from.
    solve : callable
        Gives the linear fit of a problem.
    grow : callable
        Boosts trees.
    """
    target, wide = derivation.target, np.column_stack((derivation.target.X, derivation.derived))
    lines = _refitted(problem, target, target.X, solve)
    derived = lines
    if derivation.columns:
        derived = _refitted(derivation.problem, target, wide, solve)
    apart = replace(problem, sources={})
    alone: list[LinearFit] = []
    if problem.sources:
        alone = _refitted(apart, target, target.X, solve)
    pooled, tenth = _pooled(derivation), tenths(target.fold)
    trees: dict[Name, list[TreeMean]] = {}
    correction: list[TreeMean] = []
    least = len(tenth) - int(np.bincount(tenth).max())  # rows that trees are grown on
    if least >= FEWEST:
        trees = {n: grown(target, target.X, target.y, g, grow) for n, g in growths(target, least)}
        if derivation.columns:
            before = _by_tenth(derived, wide, target)
            looked_at = np.column_stack((wide, before))
            correction = grown(target, looked_at, target.y - before, CORRECTION, grow)
    without = tuple(
        Candidates(
            problem.features,
            tuple(replace(c, boosters=(c.boosters[k // 2],)) for c in derivation.columns),
            lines[j],
            derived[j],
            alone[j] if alone else None,
            {name: means[k // 2] for name, means in pooled.items()}
            | {name: means[j] for name, means in trees.items()},
            correction[j] if correction else None,
        )
        for j, k in enumerate(np.unique(tenth))
    )
    whole = Candidates(
        problem.features,
        derivation.columns,
        solve(problem),
        solve(derivation.problem),
        solve(apart) if alone else None,
        {name: TreeMean.joined(means) for name, means in pooled.items()}
        | {name: about_mean(TreeMean.joined(means), target) for name, means in trees.items()},
        TreeMean.joined(correction) if correction else None,
    )
    said = np.empty((len(target.y), len(whole.names)))
    for k, own in zip(np.unique(tenth), without, strict=True):
        said[tenth == k] = own.predict(target.X[tenth == k])
    return Made(whole, without, said)


def _pooled(derivation: Derivation) -> dict[Name, list[TreeMean]]:
    """Return the trees on all rows, as many as predict history best, and all of them."""
    last = STAGES[-1]
    best = derivation.columns[0].trees if derivation.columns else None
    stages: dict[Name, int] = {} if best is None else {"pooled_trees": best}
    if best != last:
        stages["all_pooled_trees"] = last
    return {
        name: [TreeMean((b.first(trees),), trees) for b in derivation.boosters]
        for name, trees in stages.items()
    }


def _refitted(problem: Problem, target: LearningRows, X: Array, solve: Solver) -> list[LinearFit]:
    """Return the fits on all target rows but those of each tenth, with all of the history."""
    table, fits = np.column_stack((X, target.y)), []
    names = (*problem.features, problem.response)
    tenth = tenths(target.fold)
    for k in np.unique(tenth):
        outside = tenth != k
        moments = Moments.of_rows(
            names, table[outside], target.w[outside], precision=problem.target.precision
        )
        fits.append(solve(replace(problem, target=moments.select(problem.target.names))))
    return fits


def _by_tenth(fits: Sequence[LinearFit], X: Array, target: LearningRows) -> Array:
    """Return what each fit says of the rows that it was made without."""
    said, tenth = np.empty(len(X)), tenths(target.fold)
    for k, fit in zip(np.unique(tenth), fits, strict=True):
        said[tenth == k] = fit.predict(X[tenth == k])
    return said
