"""Derived columns and candidates in a file, trees as plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from poolwise.answer import Derived
from poolwise.boosting.candidates import PRIOR, Candidates, Name
from poolwise.boosting.derived_column import DerivedColumn
from poolwise.boosting.evidence import Evidence
from poolwise.boosting.partial_effects import PartialEffect
from poolwise.boosting.spread import MOST, Spread
from poolwise.boosting.stack import Stack
from poolwise.boosting.tree_mean import TreeMean
from poolwise.boosting.trees import Trees
from poolwise.fit import LinearFit
from poolwise.model_file.fits import fit_in, fit_text
from poolwise.model_file.tables import problem_in, problem_text
from poolwise.model_file.trees import Shelf, shelf_in
from poolwise.strict_json import (
    Wrong,
    choice,
    entries,
    fields,
    integers,
    joined,
    line,
    names,
    number,
    text,
    vector,
    within,
)
from poolwise.wording import listed

MOST_TREES = 2**20
NOT_TREES = ("linear", "derived", "target_line", "corrected")  # candidates with fields of their own


def derived_text(derived: Derived, *, moments: bool) -> str:
    """Write derived columns, and the candidates of a model that has them, as JSON."""
    shelf, stack, problem = Shelf(), derived.stack, derived.problem
    parts = {
        "columns": line([_column(c, shelf) for c in derived.columns]),
        "problem": problem_text(problem) if moments and problem is not None else "null",
        "stack": "null" if stack is None else _stack(stack, shelf),
    }
    return joined({**parts, "boosters": shelf.written()})


def derived_in(found: Any, features: tuple[str, ...], response: str) -> Derived:
    """Return the derived columns and candidates that a file holds.

    Parameters
    ----------
    found : object
        What was parsed.
    features : tuple of str
        The encoded columns of the model.
    response : str
        Name of the response.
    """
    found = fields(found, "derived", ("columns", "problem", "stack", "boosters"))
    boosters = shelf_in(found["boosters"])
    columns = tuple(
        _column_in(c, features, boosters) for c in entries(found["columns"], "derived columns")
    )
    own = names([c.name for c in columns], "derived columns")
    if {*own} & {*features, response}:
        raise Wrong("a derived column has the name of another column")
    problem, wide = None, (*features, *own)
    if found["problem"] is not None:
        with within("its problem"):
            problem = problem_in(found["problem"], wide, response)
    stack = None
    if found["stack"] is not None:
        with within("its stack"):
            stack = _stack_in(found["stack"], features, columns, boosters)
    return Derived(columns, problem, stack)


def _column(column: DerivedColumn, shelf: Shelf) -> dict[str, Any]:
    return {
        "name": column.name,
        "inputs": list(column.inputs),
        "trees": column.trees,
        "boosters": [shelf.place(b) for b in column.boosters],
    }


def _column_in(found: Any, features: tuple[str, ...], boosters: Sequence[Trees]) -> DerivedColumn:
    found = fields(found, "a derived column", ("name", "inputs", "trees", "boosters"))
    inputs = names(found["inputs"], "inputs")
    if not inputs or not set(inputs) <= set(features):
        raise Wrong("the inputs of a derived column are not columns of the model")
    own, trees = _mean_in(found, boosters, len(features))
    return DerivedColumn(text(found["name"], "a name"), inputs, features, own, trees)


def _mean(mean: TreeMean, shelf: Shelf) -> dict[str, Any]:
    places = [shelf.place(b) for b in mean.boosters]
    return {"trees": mean.trees, "boosters": places, "constant": mean.constant}


def _mean_in(
    found: dict[str, Any], boosters: Sequence[Trees], width: int
) -> tuple[tuple[Trees, ...], int]:
    """Return sums of trees that look at columns which are there, and the number of their trees."""
    listed = entries(found["boosters"], "boosters")
    places = integers(listed, "boosters", len(listed), max(len(boosters) - 1, 0))
    if not len(places) or (places < 0).any() or not boosters:
        raise Wrong("a mean of trees has no booster, or one that is not there")
    own = tuple(boosters[p] for p in places)
    trees = int(integers([found["trees"]], "trees", 1, MOST_TREES)[0])
    if any(len(b.roots) != trees for b in own):
        raise Wrong(f"a booster does not have the {trees} trees that it should have")
    if any((b.feature >= width).any() for b in own):
        raise Wrong("a tree looks at a column that is not there")
    return own, trees


def _tree_mean_in(found: Any, boosters: Sequence[Trees], width: int) -> TreeMean:
    found = fields(found, "a mean of trees", ("trees", "boosters", "constant"))
    own, trees = _mean_in(found, boosters, width)
    return TreeMean(own, trees, number(found["constant"], "constant"))


def _stack(stack: Stack, shelf: Shelf) -> str:
    own, evidence, spread = stack.candidates, stack.evidence, stack.spread
    return joined(
        {
            "linear": fit_text(own.linear),
            "derived": fit_text(own.derived),
            "alone": line(None) if own.alone is None else fit_text(own.alone),
            "trees": line([{"name": n, "mean": _mean(m, shelf)} for n, m in own.trees.items()]),
            "correction": line(None if own.correction is None else _mean(own.correction, shelf)),
            "weights": line(stack.weights.tolist()),
            "bounds": line(list(stack.bounds)),
            "evidence": line(
                {
                    "rows": evidence.rows,
                    "errors": [evidence.errors[n] for n in own.names],
                    "error": evidence.error,
                    "fall": evidence.fall,
                    "fall_error": evidence.fall_error,
                }
            ),
            "spread": line(
                {
                    "rows": spread.rows,
                    "deviation": spread.deviation,
                    "sizes": spread.sizes.tolist(),
                }
            ),
            "effects": line([vars(e) for e in stack.effects]),
        }
    )


def _stack_in(
    found: Any,
    features: tuple[str, ...],
    columns: tuple[DerivedColumn, ...],
    boosters: Sequence[Trees],
) -> Stack:
    keys = ("linear", "derived", "alone", "trees", "correction", "weights", "bounds")
    found = fields(found, "the object", (*keys, "evidence", "spread", "effects"))
    wide = (*features, *(c.name for c in columns))
    fits: dict[str, LinearFit] = {}
    for key, own in (("linear", features), ("derived", wide)):
        with within(key):
            fits[key] = fit_in(found[key], own)
    alone = None
    if found["alone"] is not None:
        with within("alone"):
            alone = fit_in(found["alone"], features)
    trees: dict[Name, TreeMean] = {}
    for entry in entries(found["trees"], "trees"):
        entry = fields(entry, "a mean of trees", ("name", "mean"))
        name = cast(Name, choice(entry["name"], "the name of a candidate", tuple(PRIOR)))
        if name in trees or name in NOT_TREES:
            raise Wrong(f"it has the candidate {name!r} twice, or among its trees")
        trees[name] = _tree_mean_in(entry["mean"], boosters, len(features))
    correction = None
    if found["correction"] is not None:
        correction = _tree_mean_in(found["correction"], boosters, len(wide) + 1)
    candidates = Candidates(
        features, columns, fits["linear"], fits["derived"], alone, trees, correction
    )
    weights = vector(found["weights"], "weights", len(candidates.names))
    if (weights < 0.0).any() or abs(weights.sum() - 1.0) > 1e-9:
        raise Wrong("the weights of candidates are negative, or do not sum to one")
    low, high = vector(found["bounds"], "bounds", 2).tolist()
    if not low <= high:
        raise Wrong(f"the bounds end at {high:g}, below their beginning at {low:g}")
    effects = tuple(_effect_in(e, features) for e in entries(found["effects"], "effects"))
    told = [e.feature for e in effects]
    if len(set(told)) < len(told):
        raise Wrong(f"it has the effect of one of {listed(told)} twice")
    return Stack(
        candidates,
        weights,
        (low, high),
        _evidence_in(found["evidence"], candidates.names),
        _spread_in(found["spread"]),
        effects,
    )


def _evidence_in(found: Any, candidates: Sequence[Name]) -> Evidence:
    found = fields(found, "evidence", ("rows", "errors", "error", "fall", "fall_error"))
    errors = vector(found["errors"], "errors", len(candidates))
    rows = int(integers([found["rows"]], "rows", 1, 2**53)[0])
    error, spread = number(found["error"], "error"), number(found["fall_error"], "fall_error")
    if rows < 1 or min(error, spread, *errors) < 0.0:
        raise Wrong("evidence holds an error that is negative, or has no rows")
    named = dict(zip(candidates, errors.tolist(), strict=True))
    return Evidence(rows, named, error, number(found["fall"], "fall"), spread)


def _spread_in(found: Any) -> Spread:
    found = fields(found, "spread", ("rows", "deviation", "sizes"))
    listed = entries(found["sizes"], "sizes")
    sizes = vector(listed, "sizes", len(listed))
    rows, deviation = number(found["rows"], "rows"), number(found["deviation"], "deviation")
    if not 0 < len(sizes) <= MOST or sizes[0] < 0.0 or (np.diff(sizes) < 0.0).any():
        raise Wrong(f"the sizes of errors are not 1 to {MOST} rising numbers")
    if rows < 1.0 - 1e-9 or deviation < 0.0:
        raise Wrong("the spread has no rows, or a negative deviation")
    return Spread(rows, deviation, sizes)


def _effect_in(found: Any, features: Sequence[str]) -> PartialEffect:
    found = fields(found, "an effect", tuple(PartialEffect.__dataclass_fields__))
    count = len(entries(found["values"], "values"))
    values, means, deviations = (
        vector(found[key], key, count) for key in ("values", "means", "deviations")
    )
    if count < 2 or (np.diff(values) <= 0.0).any():
        raise Wrong("an effect has fewer than two values, or they do not rise")
    spread = number(found["change_deviation"], "change_deviation")
    if min(spread, *deviations) < 0.0:
        raise Wrong("an effect has a negative standard error")
    return PartialEffect(
        choice(found["feature"], "the feature of an effect", tuple(features)),
        tuple(values.tolist()),
        tuple(means.tolist()),
        tuple(deviations.tolist()),
        number(found["change"], "change"),
        spread,
    )
