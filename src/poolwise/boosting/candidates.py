"""Candidates: linear fits and sums of trees that may each predict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from poolwise.boosting.derived_column import DerivedColumn
from poolwise.boosting.tree_mean import TreeMean
from poolwise.double_double import Array
from poolwise.fit import LinearFit
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
