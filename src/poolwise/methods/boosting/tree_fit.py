"""A fit that learnt from rows, with columns derived by trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poolwise._typing import Array
from poolwise.linear.fit import Candidate, FitParts, Record, plain
from poolwise.linear.linear_fit import LinearFit
from poolwise.linear.problem import Problem
from poolwise.methods.bayes_pooling import BayesPooling
from poolwise.methods.boosting.candidates import WITHOUT_SOURCES, WORDS, widened
from poolwise.methods.boosting.stack import Stack
from poolwise.methods.boosting.trees import DerivedColumn, TreeMean, Trees

ARRAYS = ("roots", "feature", "threshold", "missing_left", "left", "right", "value")


@dataclass(frozen=True, eq=False)
class TreeFit:
    """A linear fit of features and derived columns, or a stack of such lines and trees."""

    features: tuple[str, ...]  # of rows to predict
    columns: tuple[DerivedColumn, ...]  # derived from the features by trees
    linear: LinearFit  # Bayes pooling of the features and these columns
    problem: Problem | None  # with these columns, unless its moments are left out
    stack: Stack | None = None  # candidates whose weighted mean predicts; else `linear` predicts
    reason: str = ""  # why this fit, where there was a choice
    chosen: Any = None  # the method that was chosen

    def predict(self, rows: Array) -> Array:
        """Return the prediction for each row."""
        if self.stack is not None:
            return self.stack.predict(rows)
        return self.linear.predict(self._wide(rows))

    def deviation(self, rows: Array) -> Array | None:
        """Return the standard deviation of a new response about each prediction."""
        if self.stack is not None:
            return np.full(len(rows), self.stack.spread.deviation)
        return self.linear.deviation(self._wide(rows))

    def half_width(self, rows: Array, coverage: float) -> Array | None:
        """Return half the width of each row's interval."""
        if self.stack is not None:
            return np.full(len(rows), self.stack.spread.width(coverage))
        return self.linear.half_width(self._wide(rows), coverage)

    def beyond(self, rows: Array, predicted: Array, least: float = 0.0) -> NDArray[np.intp]:
        """Return the places of predictions of the linear fit that were moved to a bound."""
        if self.stack is not None or self.linear.bounds is None:
            return np.empty(0, dtype=np.intp)
        low, high = self.linear.bounds
        at = np.flatnonzero((predicted <= low) | (predicted >= high))
        if not len(at):
            return at
        return at[self.linear.beyond(self._wide(rows[at]), predicted[at], least)]

    def gap_variance(self, rows: Array) -> Array:
        """Return zeros: these rows have no gaps."""
        return np.zeros(len(rows))

    def without(self, patterns: Sequence[Sequence[str]]) -> list[TreeFit]:
        """Return linear fits of the features that are left and of columns derived from them."""
        assert self.problem is not None
        left = [tuple(n for n in self.features if n not in lacking) for lacking in patterns]
        kept = [tuple(c for c in self.columns if set(c.inputs) <= set(has)) for has in left]
        known = [{*has, *(c.name for c in own)} for has, own in zip(left, kept, strict=True)]
        lacking = [sorted(set(self.linear.names) - names) for names in known]
        fits = BayesPooling().solve_without(self.problem, lacking, self.linear)
        return [
            TreeFit(has, own, fit, self.problem)
            for has, own, fit in zip(left, kept, fits, strict=True)
        ]

    def parts(self) -> FitParts:
        """Return the linear fit, the derived columns and the candidates."""
        shown = FitParts(
            self.linear,
            derived=tuple(c.name for c in self.columns),
            problem=self.problem,
            reason=self.reason,
            chosen=self.chosen,
        )
        if (stack := self.stack) is None:
            return shown
        names, errors = stack.candidates.names, stack.held_out.errors
        return replace(
            shown,
            candidates=tuple(
                Candidate(name, WORDS[name], float(weight), errors[name])
                for name, weight in zip(names, stack.weights, strict=True)
            ),
            plain=stack.candidates.linear,
            held_out=replace(
                stack.held_out,
                alone=min((errors[n] for n in WITHOUT_SOURCES if n in errors), default=None),
            ),
            effects=lambda: stack.effects,
        )

    def record(self) -> Record:
        """Return plain data; a sum of trees that several parts share is written once."""
        shelf = _Shelf()
        columns = [
            {
                "name": c.name,
                "inputs": list(c.inputs),
                "trees": c.trees,
                "boosters": [shelf.place(b) for b in c.boosters],
            }
            for c in self.columns
        ]
        return {
            "kind": "trees",
            "linear": self.linear.record(),
            "columns": columns,
            "stack": None if self.stack is None else _stack_record(self.stack, shelf),
            "boosters": list(shelf.records.values()),
            "reason": self.reason,
        }

    def _wide(self, rows: Array) -> Array:
        """Return rows with their derived columns."""
        return widened(rows, self.features, self.columns)


class _Shelf:
    """Sums of trees by their content."""

    def __init__(self) -> None:
        self.records: dict[tuple[bytes, ...], Record] = {}
        self.places: dict[tuple[bytes, ...], int] = {}

    def place(self, trees: Trees) -> int:
        """Return the place of a sum in the list, appending it where it is new."""
        arrays = {name: getattr(trees, name) for name in ARRAYS}
        key = (np.float64(trees.baseline).tobytes(), *(a.tobytes() for a in arrays.values()))
        if key not in self.places:
            lists = {name: array.tolist() for name, array in arrays.items()}
            lists["missing_left"] = [int(left) for left in lists["missing_left"]]
            self.places[key] = len(self.places)
            self.records[key] = {"baseline": trees.baseline, **lists}
        return self.places[key]


def _mean_record(mean: TreeMean, shelf: _Shelf) -> Record:
    places = [shelf.place(b) for b in mean.boosters]
    return {"trees": mean.trees, "boosters": places, "constant": mean.constant}


def _stack_record(stack: Stack, shelf: _Shelf) -> Record:
    own, held_out = stack.candidates, plain(stack.held_out)
    del held_out["alone"]  # follows from the others
    return {
        "linear": own.linear.record(),
        "alone": None if own.alone is None else own.alone.record(),
        "trees": {name: _mean_record(mean, shelf) for name, mean in own.trees.items()},
        "correction": None if own.correction is None else _mean_record(own.correction, shelf),
        "weights": stack.weights.tolist(),
        "bounds": list(stack.bounds),
        "held_out": held_out | {"errors": [held_out["errors"][n] for n in own.names]},
        "spread": plain(stack.spread),
        "effects": plain(stack.effects),
    }
