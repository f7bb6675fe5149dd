"""Candidates: linear fits and sums of trees that may each predict, made from a derivation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from poolwise.boosting.booster import Grow, Growth
from poolwise.boosting.derived_column import DerivedColumn, mean_of
from poolwise.boosting.deriving import STAGES, Derivation
from poolwise.boosting.folds import tenths
from poolwise.boosting.learning_rows import LearningRows
from poolwise.boosting.trees import Trees
from poolwise.double_double import Array
from poolwise.fit import LinearFit
from poolwise.moments import Moments
from poolwise.problem import Problem

Name: TypeAlias = Literal[
    "linear",
    "derived",
    "target_line",
    "pooled_trees",
    "all_pooled_trees",
    "target_trees",
    "deep_target_trees",
    "corrected",
]
PRIOR: dict[Name, float] = {
    "linear": 2.0,
    "derived": 2.0,
    "target_line": 0.5,
    "pooled_trees": 2.0,
    "all_pooled_trees": 0.5,
    "target_trees": 0.5,
    "deep_target_trees": 0.5,
    "corrected": 0.5,
}
OWN: dict[Name, Growth] = {
    "target_trees": Growth(trees=100, leaves=8, rate=0.2, rows_per_leaf=5),
    "deep_target_trees": Growth(trees=100, leaves=31, rate=0.2, rows_per_leaf=5),
}
CORRECTION = OWN["target_trees"]._replace(trees=75)
FEW_ROWS, FEW_PER_LEAF = 50, 3  # of a small target, whose leaves are small too
FEWEST = 6  # rows of the target that trees can be grown on

Solver: TypeAlias = Callable[[Problem], LinearFit]


@dataclass(frozen=True, eq=False)
class TreeMean:
    """The mean of several sums of trees, and a constant.

    Parameters
    ----------
    boosters : tuple of Trees
        The sums.
    trees : int
        How many trees of each count.
    constant : float, default=0.0
        What is added.
    """

    boosters: tuple[Trees, ...]
    trees: int
    constant: float = 0.0

    @classmethod
    def joined(cls, means: Sequence[TreeMean]) -> TreeMean:
        """Return the mean of means of one sum each."""
        boosters = tuple(b for mean in means for b in mean.boosters)
        return cls(boosters, means[0].trees, sum(m.constant for m in means) / len(means))

    def predict(self, rows: Array) -> Array:
        """Return the value of each row."""
        return mean_of([b.predict(rows, self.trees) for b in self.boosters]) + self.constant

    def times_units(self, columns: Sequence[int], response: int) -> TreeMean:
        """Return the mean for columns that had been divided by powers of two."""
        boosters = tuple(b.times_units(columns, response) for b in self.boosters)
        return TreeMean(boosters, self.trees, float(np.ldexp(self.constant, response)))


@dataclass(frozen=True, eq=False)
class Candidates:
    """Everything that predicts, by name.

    Parameters
    ----------
    features : tuple of str
        The columns of rows to predict, encoded.
    columns : tuple of DerivedColumn
        Columns that are computed from them.
    linear : LinearFit
        Of the features.
    derived : LinearFit
        Of the features and the derived columns.
    alone : LinearFit or None
        Of the features, on the target without its sources, where there are some.
    trees : mapping of str to TreeMean
        Those that look at the features.
    correction : TreeMean or None
        Of what ``derived`` leaves; it looks at the features, the derived columns and at ``derived``
        itself.
    """

    features: tuple[str, ...]
    columns: tuple[DerivedColumn, ...]
    linear: LinearFit
    derived: LinearFit
    alone: LinearFit | None
    trees: dict[Name, TreeMean]
    correction: TreeMean | None

    @property
    def names(self) -> tuple[Name, ...]:
        """Names of the candidates."""
        known: dict[Name, object] = {
            "linear": self.linear,
            "derived": self.columns,
            "target_line": self.alone,
            **self.trees,
            "corrected": self.correction,
        }
        return tuple(name for name, there in known.items() if there)

    def predict(self, rows: Array) -> Array:
        """Return what each candidate says of each row, one column for each."""
        said = [self.linear.predict(rows)]
        wide = widened(rows, self.features, self.columns)
        derived = self.derived.predict(wide)
        if self.columns:
            said.append(derived)
        if self.alone is not None:
            said.append(self.alone.predict(rows))
        said += [trees.predict(rows) for trees in self.trees.values()]
        if self.correction is not None:
            said.append(derived + self.correction.predict(np.column_stack((wide, derived))))
        return np.column_stack(said)

    def restored(self, problem: Problem) -> Candidates:
        """Return the candidates for columns as the user knows them."""
        y = problem.units.get(problem.response, 0)
        own = [problem.units.get(n, 0) for n in self.features]
        wide = [*own, *(y for _ in self.columns), y]
        return replace(
            self,
            columns=tuple(c.times_units(own, y) for c in self.columns),
            linear=problem.restored(self.linear),
            derived=problem.restored(self.derived),
            alone=None if self.alone is None else problem.restored(self.alone),
            trees={n: t.times_units(own, y) for n, t in self.trees.items()},
            correction=None if self.correction is None else self.correction.times_units(wide, y),
        )


def widened(rows: Array, names: Sequence[str], columns: Sequence[DerivedColumn]) -> Array:
    """Return rows with their derived columns."""
    return np.column_stack((rows, *(c.values(rows, names) for c in columns)))


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
        trees = {n: _grown(target, target.X, target.y, g, grow) for n, g in _growths(target, least)}
        if derivation.columns:
            before = _by_tenth(derived, wide, target)
            looked_at = np.column_stack((wide, before))
            correction = _grown(target, looked_at, target.y - before, CORRECTION, grow)
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
        | {name: _about_mean(TreeMean.joined(means), target) for name, means in trees.items()},
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


def _growths(target: LearningRows, least: int) -> list[tuple[Name, Growth]]:
    """Return how trees on the target are grown; not twice where no tree can be deep."""
    small = {"rows_per_leaf": FEW_PER_LEAF} if len(target.y) < FEW_ROWS else {}
    shallow, deep = ((name, growth._replace(**small)) for name, growth in OWN.items())
    can_be_deep = least > shallow[1].leaves * shallow[1].rows_per_leaf
    return [shallow, deep] if can_be_deep else [shallow]


def _about_mean(trees: TreeMean, target: LearningRows) -> TreeMean:
    """Return trees on the target about the mean of all its rows, which none of them has seen."""
    tenth = tenths(target.fold)
    centres = [
        float(np.average(target.y[tenth != k], weights=target.w[tenth != k]))
        for k in np.unique(tenth)
    ]
    mean = float(np.average(target.y, weights=target.w))
    return replace(trees, constant=mean - sum(centres) / len(centres))


def _grown(target: LearningRows, X: Array, y: Array, growth: Growth, grow: Grow) -> list[TreeMean]:
    """Grow trees on the target's rows outside each tenth."""
    found, tenth = [], tenths(target.fold)
    for k in np.unique(tenth):
        outside = tenth != k
        w = None if target.weights is None else target.w[outside]
        found.append(TreeMean((grow(X[outside], y[outside], w, growth),), growth.trees))
    return found
