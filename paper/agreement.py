"""How many numbers and significance marks of a table agree with the paper."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from operator import add
from typing import Literal, NamedTuple

import numpy as np
from scipy.stats import rankdata, wilcoxon

from paper.protocol import run_count
from paper.results import Errors
from paper.specs import PrintedLine, TableSpec
from poolwise._typing import Array
from poolwise.wording import plural

Mark = Literal["better", "worse", "none"]
Rule = Literal["means", "ranks"]

LEVEL = 0.05 / 3  # three comparisons
POOLED = "dp"
OTHERS = ("ols", "dsft", "dsft_nl")  # compared with data pooling
NONE = "–"  # where there is no number


class Marks(NamedTuple):
    """Data pooling against each other method of the paper; None where it was not run."""

    ols: Mark | None
    dsft: Mark | None
    dsft_nl: Mark | None

    @property
    def sign(self) -> str:
        """The paper's sign after the name of the dataset; a question mark if it is unknown."""
        return "?" if self.ols is None else {"better": "", "none": "*", "worse": "†"}[self.ols]

    @property
    def underlined(self) -> str:
        """The better one of dp and dsft_nl, or nothing."""
        return {"better": POOLED, "worse": "dsft_nl"}.get(self.dsft_nl or "", "")

    @property
    def italic(self) -> str:
        """The better one of dp and dsft, or nothing."""
        return {"better": POOLED, "worse": "dsft"}.get(self.dsft or "", "")


def compare(pooled: Array, other: Array, rule: Rule = "means") -> Mark:
    """Return whether data pooling has significantly smaller errors than another method.

    The test is the two-sided Wilcoxon signed-rank test on the errors of the same runs, at level
    0.05 / 3. The direction of a difference is taken from the means (the paper's rule), or from the
    rank sums of the test. A few large errors can make the means contradict the ranks.
    """
    if not p_value(pooled, other) < LEVEL:
        return "none"
    gap = pooled - other
    direction = gap.mean() if rule == "means" else np.sign(gap) @ rankdata(np.abs(gap))
    return "better" if direction < 0.0 else "worse"


def p_value(pooled: Array, other: Array) -> float:
    """Return the p-value of the test; one where all runs agree."""
    return 1.0 if np.array_equal(pooled, other) else float(wilcoxon(pooled, other).pvalue)


def marks_of(errors: Mapping[str, Array], rule: Rule = "means") -> Marks:
    """Return the marks of one dataset, as far as the methods that were run allow."""
    dp = errors.get(POOLED)
    known = {m: compare(dp, errors[m], rule) for m in OTHERS if m in errors and dp is not None}
    return Marks(*map(known.get, OTHERS))


def printed_marks(line: PrintedLine) -> Marks:
    """Return the marks that the paper prints."""
    sign: dict[str, Mark] = {"": "better", "*": "none", "†": "worse"}
    winner: dict[str, Mark] = {"": "none", POOLED: "better"}
    italic, underlined = (winner.get(name, "worse") for name in (line.italic, line.underlined))
    return Marks(sign[line.mark], italic, underlined)


@dataclass(frozen=True)
class Tally:
    """Numbers that agree to the last printed digit, that are off by one unit in it, and all."""

    agree: int = 0
    next_to: int = 0
    total: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(*map(add, astuple(self), astuple(other)))

    def said(self, what: str) -> str:
        """Return the counts in words."""
        near = f" ({self.next_to} more off by one unit)" if self.next_to else ""
        return f"{self.agree} of {self.total} {what}{near}"


@dataclass(frozen=True)
class Agreement:
    """How a table compares with the printed one."""

    means: Tally = Tally()
    sds: Tally = Tally()
    marks: Tally = Tally()  # by the paper's rule
    against_ranks: int = 0  # significant comparisons in which the means contradict the ranks
    shortened: int = 0  # lines with fewer runs than in the paper

    def __add__(self, other: Agreement) -> Agreement:
        a, b = vars(self), vars(other)
        return Agreement(**{name: a[name] + b[name] for name in a})

    def __str__(self) -> str:
        counted = {"means": self.means, "standard deviations": self.sds, "marks": self.marks}
        told = [tally.said(what) for what, tally in counted.items() if tally.total]
        agree = f"Agree with the printed digits: {', '.join(told)}."
        sentences = [agree if told else "The paper has no numbers for these methods."]
        if self.against_ranks:
            times = plural(self.against_ranks, "significant comparison")
            sentences.append(f"In {times} the means contradict the ranks.")
        if self.shortened:
            sentences.append("There were fewer runs than in the paper: do not expect agreement.")
        return " ".join(sentences)


def agreement(spec: TableSpec, errors: Errors) -> Agreement:
    """Compare the errors of a table, as ``read_runs`` returns them, with the printed numbers."""
    return total(_of_line(spec, dataset, by_method) for dataset, by_method in errors.items())


def total(agreements: Iterable[Agreement]) -> Agreement:
    """Return the agreement of several tables together."""
    return sum(agreements, start=Agreement())


def other_marks(spec: TableSpec, errors: Errors) -> list[str]:
    """Return a sentence for each mark that differs from the paper."""
    words = {"none": "not different", "better": "better", "worse": "worse", None: ""}
    found = []
    for dataset, by_method in errors.items():
        pairs = zip(marks_of(by_method), printed_marks(spec.published[dataset]), strict=True)
        for other, (a, b) in zip(OTHERS, pairs, strict=True):
            if a is not None and a != b:
                dp = f"dp against {other.replace('_', '-')}"
                found.append(f"{dataset}: {dp} is {words[a]}, printed {words[b]}")
    return found


def compare_digits(ours: float, printed: float) -> Tally:
    """Compare one number, rounded to three digits, with a printed one."""
    if shown(ours) == shown(printed):
        return Tally(1, 0, 1)
    if not math.isfinite(ours):
        return Tally(0, 0, 1)
    unit = 10.0 ** (math.floor(math.log10(abs(printed))) - 2)
    return Tally(0, int(abs(float(shown(ours)) - printed) < 1.5 * unit), 1)


def shown(number: float) -> str:
    """Write a number as the paper does: three digits, without zeros at the end; NaN as a dash."""
    return NONE if math.isnan(number) else f"{number:.3g}"


def summaries(errors: Mapping[str, Array]) -> dict[str, tuple[float, float]]:
    """Return mean and standard deviation over runs by method; the latter is NaN for one run."""
    sds = {m: float(e.std(ddof=1)) if len(e) > 1 else math.nan for m, e in errors.items()}
    return {m: (float(e.mean()), sds[m]) for m, e in errors.items()}


def _of_line(spec: TableSpec, dataset: str, errors: Mapping[str, Array]) -> Agreement:
    printed, ours = spec.published[dataset], summaries(errors)
    known = [m for m in spec.methods if m in ours]
    several = [m for m in known if len(errors[m]) > 1]  # one run has no deviation
    by_means, by_ranks = marks_of(errors, "means"), marks_of(errors, "ranks")
    pairs = zip(by_means, printed_marks(printed), strict=True)
    same = [a == b for a, b in pairs if a is not None]
    return Agreement(
        means=sum((compare_digits(ours[m][0], printed.means[m]) for m in known), start=Tally()),
        sds=sum((compare_digits(ours[m][1], printed.sds[m]) for m in several), start=Tally()),
        marks=Tally(sum(same), 0, len(same)),
        against_ranks=sum(a != b for a, b in zip(by_means, by_ranks, strict=True)),
        shortened=any(len(e) < run_count(spec, dataset) for e in errors.values()),
    )
