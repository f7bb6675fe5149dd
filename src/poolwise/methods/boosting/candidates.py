"""Linear fits and trees whose weighted mean predicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from poolwise._typing import Array
from poolwise.linear.linear_fit import LinearFit
from poolwise.linear.problem import Problem
from poolwise.methods.boosting.booster import BinnedRows, Growth
from poolwise.methods.boosting.derivation import STAGES, Derivation, by_fold
from poolwise.methods.boosting.learning_rows import LearningRows, tenths
from poolwise.methods.boosting.trees import DerivedColumn, TreeMean
from poolwise.moments.moments import Moments

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
WORDS: dict[Name, str] = {
    "linear": "Bayes pooling on the columns as they are",
    "derived": "Bayes pooling with a column learnt by trees",
    "target_line": "Bayes pooling on the recent rows alone",
    "pooled_trees": "trees on all rows, as many as predict history best",
    "all_pooled_trees": "trees on all rows, all that were grown",
    "target_trees": "trees on the recent rows alone, of 8 leaves",
    "deep_target_trees": "trees on the recent rows alone, of 31 leaves",
    "corrected": "Bayes pooling with that column, corrected by trees",
}
WITHOUT_SOURCES: tuple[Name, ...] = ("target_line", "target_trees", "deep_target_trees")
LIKELY: tuple[Name, ...] = ("linear", "derived", "pooled_trees")
PRIOR = {name: 2.0 if name in LIKELY else 0.5 for name in WORDS}  # Dirichlet's parameters


@dataclass(frozen=True, eq=False)
class Candidates:
    """Linear fits and trees that each predict the response."""

    features: tuple[str, ...]  # of rows to predict, encoded
    columns: tuple[DerivedColumn, ...]  # computed from the features
    linear: LinearFit  # of the features
    derived: LinearFit  # of the features and the derived columns
    alone: LinearFit | None  # of the features, without the sources, if there are sources
    trees: dict[Name, TreeMean]  # on the features
    correction: TreeMean | None  # of residuals of `derived`; on all columns and its prediction

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
        """Return the predictions of the candidates, one column for each."""
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


def widened(rows: Array, names: Sequence[str], columns: Sequence[DerivedColumn]) -> Array:
    """Return rows with their derived columns."""
    return np.column_stack((rows, *(c.values(rows, names) for c in columns)))


Own: TypeAlias = Literal["target_trees", "deep_target_trees"]

OWN: dict[Own, Growth] = {
    "target_trees": Growth(trees=100, leaves=8, rate=0.2, rows_per_leaf=5),
    "deep_target_trees": Growth(trees=60, leaves=31, rate=0.3, rows_per_leaf=5),
}
CORRECTION = OWN["target_trees"]._replace(trees=75)
BINS = 127  # of the values of a column of the target
FEW_ROWS, FEW_PER_LEAF = 50, 3  # of a small target, whose leaves are small too
FEWEST = 6  # rows of the target that trees can be grown on


def growths(target: LearningRows, least: int) -> list[tuple[Own, Growth]]:
    """Return how trees are grown on the target, with at least ``least`` training rows.

    Deep trees are left out where no tree can be deep.
    """
    small = {"rows_per_leaf": FEW_PER_LEAF} if len(target.y) < FEW_ROWS else {}
    shallow, deep = ((name, growth._replace(**small)) for name, growth in OWN.items())
    can_be_deep = least > shallow[1].leaves * shallow[1].rows_per_leaf
    return [shallow, deep] if can_be_deep else [shallow]


def about_mean(trees: TreeMean, target: LearningRows) -> TreeMean:
    """Move trees on the target from the mean of their own rows to the mean of all its rows."""
    tenth = tenths(target.fold)
    centres = [
        float(np.average(target.y[tenth != k], weights=target.w[tenth != k]))
        for k in np.unique(tenth)
    ]
    mean = float(np.average(target.y, weights=target.w))
    return replace(trees, constant=mean - sum(centres) / len(centres))


def grown(
    target: LearningRows, X: Array, y: Array, growth: Growth, seed: int
) -> tuple[list[TreeMean], Array]:
    """Grow trees on the target's rows outside each tenth, and predict the rows of the tenth."""
    binned = BinnedRows(X, target.weights, seed, BINS)
    found, said, tenth = [], np.empty(len(y)), tenths(target.fold)
    for k in np.unique(tenth):
        trees = binned.grow(y, tenth != k, growth)
        found.append(TreeMean((trees.trees,), growth.trees))
        said[tenth == k] = trees.staged(X[tenth == k], [growth.trees])[:, 0]
    return found, said


Solver: TypeAlias = Callable[[Problem], LinearFit]


@dataclass(frozen=True, eq=False)
class Made:
    """Candidates, and the same fitted ten times, each time without a tenth of the target."""

    all: Candidates  # trees on all rows are means over fifths, those on the target over tenths
    without: tuple[Candidates, ...]  # each tenth; trees on all rows are without its fifth
    said: Array  # (n, candidates): predictions of these for the rows of their tenth


def candidates(problem: Problem, derivation: Derivation, solve: Solver, seed: int) -> Made:
    """Make all candidates, of which ``solve`` makes the linear ones."""
    target, wide = derivation.target, np.column_stack((derivation.target.X, derivation.derived))
    tenth = tenths(target.fold)
    said: dict[Name, Array] = {}
    lines = _refitted(problem, target, target.X, solve)
    said["linear"] = _by_tenth(lines, target.X, target)
    derived = lines
    if derivation.columns:
        derived = _refitted(derivation.problem, target, wide, solve)
        said["derived"] = _by_tenth(derived, wide, target)
    apart = replace(problem, sources={})
    alone: list[LinearFit] = []
    if problem.sources:
        alone = _refitted(apart, target, target.X, solve)
        said["target_line"] = _by_tenth(alone, target.X, target)
    pooled = _pooled(derivation)
    staged = by_fold(derivation.grown, target.X, target.fold)
    said |= {name: staged[:, STAGES.index(means[0].trees)] for name, means in pooled.items()}
    trees: dict[Name, list[TreeMean]] = {}
    correction: list[TreeMean] = []
    least = len(tenth) - int(np.bincount(tenth).max())  # rows that trees are grown on
    if least >= FEWEST:
        for name, growth in growths(target, least):
            trees[name], said[name] = grown(target, target.X, target.y, growth, seed)
        if derivation.columns:
            before = said["derived"]
            looked_at = np.column_stack((wide, before))
            correction, more = grown(target, looked_at, target.y - before, CORRECTION, seed)
            said["corrected"] = before + more
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
    return Made(whole, without, np.column_stack([said[name] for name in whole.names]))


def _pooled(derivation: Derivation) -> dict[Name, list[TreeMean]]:
    """Return the trees on all rows, as many as predict history best, and all of them."""
    last = STAGES[-1]
    best = derivation.columns[0].trees if derivation.columns else None
    stages: dict[Name, int] = {} if best is None else {"pooled_trees": best}
    if best != last:
        stages["all_pooled_trees"] = last
    return {
        name: [TreeMean((g.trees.first(trees),), trees) for g in derivation.grown]
        for name, trees in stages.items()
    }


def _refitted(problem: Problem, target: LearningRows, X: Array, solve: Solver) -> list[LinearFit]:
    """Return the fits on all target rows except each tenth, with all sources."""
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
    """Return the predictions of each fit for the rows that it was made without."""
    said, tenth = np.empty(len(X)), tenths(target.fold)
    for k, fit in zip(np.unique(tenth), fits, strict=True):
        said[tenth == k] = fit.predict(X[tenth == k])
    return said
