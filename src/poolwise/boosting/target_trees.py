"""Target trees: trees on the target's rows alone, grown without a tenth of them each time."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np

from poolwise.boosting.booster import Grow, Growth
from poolwise.boosting.folds import tenths
from poolwise.boosting.learning_rows import LearningRows
from poolwise.boosting.tree_mean import TreeMean
from poolwise.double_double import Array

Own: TypeAlias = Literal["target_trees", "deep_target_trees"]

OWN: dict[Own, Growth] = {
    "target_trees": Growth(trees=100, leaves=8, rate=0.2, rows_per_leaf=5),
    "deep_target_trees": Growth(trees=100, leaves=31, rate=0.2, rows_per_leaf=5),
}
CORRECTION = OWN["target_trees"]._replace(trees=75)
FEW_ROWS, FEW_PER_LEAF = 50, 3  # of a small target, whose leaves are small too
FEWEST = 6  # rows of the target that trees can be grown on


def growths(target: LearningRows, least: int) -> list[tuple[Own, Growth]]:
    """Return how trees on the target are grown; not twice where no tree can be deep.

    Parameters
    ----------
    target : LearningRows
        Its rows.
    least : int
        How many of them are outside the largest tenth.
    """
    small = {"rows_per_leaf": FEW_PER_LEAF} if len(target.y) < FEW_ROWS else {}
    shallow, deep = ((name, growth._replace(**small)) for name, growth in OWN.items())
    can_be_deep = least > shallow[1].leaves * shallow[1].rows_per_leaf
    return [shallow, deep] if can_be_deep else [shallow]


def about_mean(trees: TreeMean, target: LearningRows) -> TreeMean:
    """Return trees on the target about the mean of all its rows; each is about that of its own."""
    tenth = tenths(target.fold)
    centres = [
        float(np.average(target.y[tenth != k], weights=target.w[tenth != k]))
        for k in np.unique(tenth)
    ]
    mean = float(np.average(target.y, weights=target.w))
    return replace(trees, constant=mean - sum(centres) / len(centres))


def grown(target: LearningRows, X: Array, y: Array, growth: Growth, grow: Grow) -> list[TreeMean]:
    """Grow trees on the target's rows outside each tenth."""
    found, tenth = [], tenths(target.fold)
    for k in np.unique(tenth):
        outside = tenth != k
        w = None if target.weights is None else target.w[outside]
        found.append(TreeMean((grow(X[outside], y[outside], w, growth),), growth.trees))
    return found
