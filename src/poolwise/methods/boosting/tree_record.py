"""Records of fits with trees: what `TreeFit.record` writes, and the fit it restores."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Annotated, Literal

import numpy as np
from msgspec import Meta
from msgspec.structs import asdict

from poolwise.linear.fit import HeldOutErrors, PartialEffect
from poolwise.linear.linear_record import (
    LinearRecord,
    ModelMomentsRecord,
    NotNegative,
    check_bounds,
)
from poolwise.methods.boosting.candidates import Candidates
from poolwise.methods.boosting.stack import MOST, EffectRows, Spread, Stack
from poolwise.methods.boosting.tree_fit import TreeFit
from poolwise.methods.boosting.trees import DerivedColumn, TreeMean, Trees
from poolwise.moments.json_format import UNIQUE, JsonObject, check_distinct, numbers
from poolwise.numerics.chunks import LARGEST

Place = Annotated[int, Meta(ge=0, le=2**31)]
TreeName = Literal["pooled_trees", "all_pooled_trees", "target_trees", "deep_target_trees"]
TYPES: tuple[type, ...] = (  # of a fit in memory, beside those of a linear one
    *(TreeFit, Stack, Spread, Candidates, TreeMean, DerivedColumn, Trees),
    *(HeldOutErrors, EffectRows, PartialEffect),
)


class BoosterRecord(JsonObject, dict=True):
    """A sum of trees. A node is a place in the lists, and its children come after it.

    baseline: where the sum begins
    roots: the first node of each tree, from 0 on
    feature: the column that a node splits on; rows up to its threshold go left
    missing_left: 1 if rows without a value go left
    left, right: the children; a leaf is its own child
    value: the number that a leaf adds
    """

    baseline: float
    roots: list[Place]
    feature: list[Place]
    threshold: list[float]
    missing_left: list[Annotated[int, Meta(ge=0, le=1)]]
    left: list[Place]
    right: list[Place]
    value: list[float]

    def __post_init__(self) -> None:
        _ = self.trees

    @cached_property
    def trees(self) -> Trees:
        """The trees."""
        count, given, own = len(self.feature), asdict(self), np.arange(len(self.feature))
        for key in ("feature", "threshold", "missing_left", "left", "right", "value"):
            given[key] = numbers(key, given[key], count)
        for key in ("roots", "feature", "left", "right"):
            given[key] = np.array(given[key], dtype=np.intp)
        roots, left, right = given["roots"], given["left"], given["right"]
        ends = np.append(roots[1:], count)
        if self.roots[:1] != ([0] if count else []) or (roots >= ends).any():
            raise ValueError("`roots` must rise from 0 on and be nodes")
        end = ends[np.searchsorted(roots, own, side="right") - 1]
        is_leaf = (left == own) & (right == own)
        if not (is_leaf | ((own < left) & (left < end) & (own < right) & (right < end))).all():
            raise ValueError("a node has a child that does not come after it in its tree")
        with np.errstate(over="ignore"):
            sizes = np.maximum.reduceat(np.abs(given["value"]), roots) if count else roots
            if not abs(self.baseline) + sizes.sum() <= LARGEST:
                raise ValueError(f"the sum of trees is beyond {LARGEST:g}")
        return Trees(**given | {"missing_left": given["missing_left"].astype(np.bool_)})


class MeanOfTrees(JsonObject):
    """The mean of some `boosters`, by their places in the list; each has this number of `trees`."""

    trees: Annotated[int, Meta(ge=0, le=2**20)]
    boosters: Annotated[list[Place], Meta(min_length=1)]


class TreeMeanRecord(MeanOfTrees):
    """The mean of some `boosters`, each with this number of `trees`, plus a constant."""

    constant: float


class DerivedColumnRecord(MeanOfTrees):
    """A column: the mean of `boosters` that split on its inputs; other columns are masked."""

    name: str
    inputs: Annotated[list[str], UNIQUE]

    def __post_init__(self) -> None:
        check_distinct("input", self.inputs)


class HeldOutErrorsRecord(JsonObject):
    """Errors of the candidates, in their order, and of their weighted mean."""

    rows: Annotated[int, Meta(ge=1, le=2**53)]
    errors: list[NotNegative]
    error: NotNegative
    fall: float
    fall_error: NotNegative


class SpreadRecord(JsonObject):
    """Errors on target rows that were left out: their root mean square and, rising, their sizes."""

    rows: Annotated[float, Meta(ge=1.0 - 1e-9)]
    deviation: NotNegative
    sizes: Annotated[list[NotNegative], Meta(min_length=1, max_length=MOST)]

    def __post_init__(self) -> None:
        if any(b < a for a, b in pairwise(self.sizes)):
            raise ValueError("`sizes` must rise")


class EffectRecord(JsonObject):
    """The mean prediction with one feature held at several values, which rise."""

    feature: str
    values: Annotated[tuple[float, ...], Meta(min_length=2)]
    means: tuple[float, ...]
    deviations: tuple[NotNegative, ...]
    change: float
    change_deviation: NotNegative

    def __post_init__(self) -> None:
        if not len(self.values) == len(self.means) == len(self.deviations):
            raise ValueError("`values`, `means` and `deviations` must have the same length")
        if any(b <= a for a, b in pairwise(self.values)):
            raise ValueError("`values` must rise")


class StackRecord(JsonObject):
    """A weighted mean of candidates, each held within bounds.

    linear: of the features alone
    alone: the same, of the target alone; null if there are no sources
    trees: means of trees, by name
    correction: trees on the features, the derived columns and the prediction of the fit
    weights: of linear, the fit with derived columns if there are some, alone, trees and correction
    """

    linear: LinearRecord
    alone: LinearRecord | None
    trees: dict[TreeName, TreeMeanRecord]
    correction: TreeMeanRecord | None
    weights: list[NotNegative]
    bounds: tuple[float, float]
    held_out: HeldOutErrorsRecord
    spread: SpreadRecord
    effects: list[EffectRecord]

    def __post_init__(self) -> None:
        check_bounds(*self.bounds)
        check_distinct("effect of a feature", [e.feature for e in self.effects])
        if abs(sum(self.weights) - 1.0) > 1e-9:
            raise ValueError("`weights` must sum to one")


class TreesRecord(JsonObject, tag_field="kind", tag="trees"):
    """A fit that learnt from rows, with columns derived by trees.

    linear: of the features and the derived columns; it predicts unless there is a stack
    stack: candidates whose weighted mean predicts, or null
    boosters: all sums of trees
    reason: why this method, where one was chosen
    """

    linear: LinearRecord
    columns: list[DerivedColumnRecord]
    stack: StackRecord | None
    boosters: list[BoosterRecord]
    reason: str

    def restored(
        self, features: tuple[str, ...], response: str, moments: ModelMomentsRecord | None
    ) -> TreeFit:
        """Return the fit of a model with these features."""
        columns, problem = [], None
        for record in self.columns:
            if not set(record.inputs) <= set(features):
                raise ValueError("the inputs of a derived column are not columns of the model")
            boosters, inputs = self._boosters(record, len(features)), tuple(record.inputs)
            columns.append(DerivedColumn(record.name, inputs, features, boosters, record.trees))
        wide = (*features, *(c.name for c in columns))
        check_distinct("column", [*wide, response])
        linear = self.linear.named(wide)
        if moments is not None:
            if moments.derived is None or moments.pool is not None:
                raise ValueError("a fit with trees needs `moments.derived`, and has no pool")
            problem = moments.derived.problem(wide, response, moments.intercept)
        stack = None if self.stack is None else self._stack(self.stack, tuple(columns), features)
        return TreeFit(features, tuple(columns), linear, problem, stack, self.reason)

    def _stack(
        self, record: StackRecord, columns: tuple[DerivedColumn, ...], features: tuple[str, ...]
    ) -> Stack:
        width = len(features)
        correction = record.correction
        candidates = Candidates(
            features,
            columns,
            record.linear.named(features),
            self.linear.fit,
            None if record.alone is None else record.alone.named(features),
            {name: self._mean(mean, width) for name, mean in record.trees.items()},
            None if correction is None else self._mean(correction, width + len(columns) + 1),
        )
        names = candidates.names
        errors = numbers("errors", record.held_out.errors, len(names)).tolist()
        held_out = asdict(record.held_out) | {"errors": dict(zip(names, errors, strict=True))}
        if unknown := {e.feature for e in record.effects} - set(features):
            raise ValueError(f"there is an effect of {min(unknown)!r}, which is not a feature")
        return Stack(
            candidates,
            numbers("weights", record.weights, len(names)),
            record.bounds,
            HeldOutErrors(**held_out),
            Spread(record.spread.rows, record.spread.deviation, np.array(record.spread.sizes)),
            tuple(PartialEffect(**asdict(effect)) for effect in record.effects),
        )

    def _mean(self, record: TreeMeanRecord, width: int) -> TreeMean:
        return TreeMean(self._boosters(record, width), record.trees, record.constant)

    def _boosters(self, record: MeanOfTrees, width: int) -> tuple[Trees, ...]:
        """Return the sums of trees on this many columns."""
        if max(record.boosters) >= len(self.boosters):
            raise ValueError("a mean of trees names a booster that does not exist")
        found = tuple(self.boosters[place].trees for place in record.boosters)
        if any(len(trees.roots) != record.trees for trees in found):
            raise ValueError(f"a booster does not have the {record.trees} trees of its mean")
        if any((trees.feature >= width).any() for trees in found):
            raise ValueError("a tree splits on a column that does not exist")
        return found
