"""Trees in a file: sums of trees as lists of numbers, each sum once."""

from __future__ import annotations

from typing import Any

import numpy as np

from poolwise.boosting.trees import Trees
from poolwise.chunks import LARGEST
from poolwise.strict_json import Wrong, entries, fields, integers, joined, line, number, vector

KEYS = ("baseline", "roots", "feature", "threshold", "missing_left", "left", "right", "value")
MOST = 2**31  # nodes


class Shelf:
    """Sums of trees that are written once, however many parts of a model have them."""

    def __init__(self) -> None:
        self.texts: dict[str, int] = {}

    def place(self, trees: Trees) -> int:
        """Put a sum on the shelf, unless it is there; return its place."""
        return self.texts.setdefault(_text(trees), len(self.texts))

    def written(self) -> str:
        """Write all sums as JSON."""
        return "[" + ",\n".join(self.texts) + "]"


def _text(trees: Trees) -> str:
    values = {key: getattr(trees, key).tolist() for key in KEYS[1:]}
    values["missing_left"] = [int(left) for left in values["missing_left"]]
    return joined({"baseline": line(trees.baseline)} | {k: line(v) for k, v in values.items()})


def shelf_in(found: Any) -> list[Trees]:
    """Return the sums of trees that a file holds."""
    return [_trees(one) for one in entries(found, "boosters")]


def _trees(found: Any) -> Trees:
    found = fields(found, "a booster", KEYS)
    count = len(entries(found["feature"], "feature"))
    roots = integers(found["roots"], "roots", len(entries(found["roots"], "roots")), MOST)
    left, right = (integers(found[k], k, count, MOST) for k in ("left", "right"))
    feature = integers(found["feature"], "feature", count, MOST)
    missing = integers(found["missing_left"], "missing_left", count, 1)
    own = np.arange(count)
    starts_right = not len(roots) or (roots[0] == 0 and roots[-1] < count)
    if not starts_right or (np.diff(roots) <= 0).any() or (bool(count) != bool(len(roots))):
        raise Wrong("the roots of trees do not rise from 0 on")
    end = np.append(roots[1:], count)[np.searchsorted(roots, own, side="right") - 1]
    is_leaf = (left == own) & (right == own)
    if not (is_leaf | ((own < left) & (left < end) & (own < right) & (right < end))).all():
        raise Wrong("a node of a tree has a child that does not come after it in its tree")
    if (feature < 0).any() or (missing < 0).any():
        raise Wrong("a node of a tree looks at a column of a negative place")
    baseline, value = number(found["baseline"], "baseline"), vector(found["value"], "value", count)
    with np.errstate(over="ignore"):
        largest = abs(baseline)
        if count:
            largest += float(np.maximum.reduceat(np.abs(value), roots).sum())
    if not largest <= LARGEST:
        raise Wrong(f"the sum of trees is beyond {LARGEST:g}")
    return Trees(
        baseline=baseline,
        roots=roots,
        feature=feature,
        threshold=vector(found["threshold"], "threshold", count),
        missing_left=missing.astype(np.bool_),
        left=left,
        right=right,
        value=value,
    )
