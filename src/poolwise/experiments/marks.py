"""Marks: where the paper calls a difference significant, and in whose favour."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np
from scipy.stats import rankdata, wilcoxon

from poolwise.double_double import Array
from poolwise.experiments.specs import Published

Mark = Literal["better", "worse", "none"]
Rule = Literal["means", "ranks"]

LEVEL = 0.05 / 3  # three comparisons
POOLED = "dp"
OTHERS = ("ols", "dsft", "dsft_nl")  # what data pooling is compared with


class Marks(NamedTuple):
    """How data pooling does against each other method of the paper; None where it was not run."""

    ols: Mark | None
    dsft: Mark | None
    dsft_nl: Mark | None

    @property
    def sign(self) -> str:
        """The paper's sign after the name of the dataset; a question mark where there is none."""
        return "?" if self.ols is None else {"better": "", "none": "*", "worse": "†"}[self.ols]

    @property
    def underlined(self) -> str:
        """The better one of dp and dsft_nl, or nothing."""
        return _winner(self.dsft_nl, "dsft_nl")

    @property
    def italic(self) -> str:
        """The better one of dp and dsft, or nothing."""
        return _winner(self.dsft, "dsft")


def compare(pooled: Array, other: Array, rule: Rule = "means") -> Mark:
    """Say whether data pooling has significantly smaller errors than another method.

    The test is the two-sided Wilcoxon signed-rank test on the errors of the same runs, at level
    0.05 / 3. It says that there is a difference; which way is read from the means (the paper's
    rule), or from the sums of ranks that the test is about. A few large errors can turn the means
    against the ranks.

    Parameters
    ----------
    pooled, other : array of shape (runs,)
        Errors of data pooling and of the other method.
    rule : {"means", "ranks"}, default="means"
        Where the direction comes from.
    """
    if not p_value(pooled, other) < LEVEL:
        return "none"
    gap = pooled - other
    direction = gap.mean() if rule == "means" else np.sign(gap) @ rankdata(np.abs(gap))
    return "better" if direction < 0.0 else "worse"


def p_value(pooled: Array, other: Array) -> float:
    """Return the p-value of the test; one where all runs agree."""
    if np.array_equal(pooled, other):
        return 1.0
    return float(wilcoxon(pooled, other).pvalue)


def marks_of(errors: Mapping[str, Array], rule: Rule = "means") -> Marks:
    """Return the marks of one dataset, as many as the methods that were run allow.

    Parameters
    ----------
    errors : mapping of str to array
        Errors by method.
    rule : {"means", "ranks"}, default="means"
        Where the direction comes from.
    """
    return Marks(
        *(
            compare(errors[POOLED], errors[m], rule) if {POOLED, m} <= errors.keys() else None
            for m in OTHERS
        )
    )


def printed_marks(line: Published) -> Marks:
    """Return the marks that the paper prints."""
    sign: dict[str, Mark] = {"": "better", "*": "none", "†": "worse"}
    winner: dict[str, Mark] = {"": "none", POOLED: "better"}
    return Marks(
        sign[line.mark], winner.get(line.italic, "worse"), winner.get(line.underlined, "worse")
    )


def _winner(mark: Mark | None, other: str) -> str:
    return {"better": POOLED, "worse": other}.get(mark or "none", "")
