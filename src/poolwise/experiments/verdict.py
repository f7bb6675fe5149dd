"""Verdict: how many numbers and marks of a table agree with the printed ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from poolwise.double_double import Array
from poolwise.experiments.marks import OTHERS, Mark, Marks, marks_of, printed_marks
from poolwise.experiments.runs import Errors
from poolwise.experiments.specs import TableSpec
from poolwise.experiments.tables import run_count

NONE = "–"  # where there is no number


@dataclass(frozen=True)
class Tally:
    """Numbers that agree with the printed ones to the last printed digit.

    Parameters
    ----------
    agree : int
        How many agree.
    next_to : int
        How many are off by one unit in the last digit.
    total : int
        How many there are.
    """

    agree: int = 0
    next_to: int = 0
    total: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.agree + other.agree, self.next_to + other.next_to, self.total + other.total
        )

    def said(self, what: str) -> str:
        """Return the counts in words.

        Parameters
        ----------
        what : str
            What was counted.
        """
        near = f" ({self.next_to} more off by one unit)" if self.next_to else ""
        return f"{self.agree} of {self.total} {what}{near}"


@dataclass(frozen=True)
class Verdict:
    """How a table compares with the printed one.

    Parameters
    ----------
    means, sds, marks : Tally
        What agrees; marks by the paper's rule.
    against_ranks : int
        Significant comparisons in which the means contradict the ranks.
    shortened : bool
        Whether there were fewer runs than in the paper.
    """

    means: Tally = Tally()
    sds: Tally = Tally()
    marks: Tally = Tally()
    against_ranks: int = 0
    shortened: bool = False

    def __add__(self, other: Verdict) -> Verdict:
        return Verdict(
            self.means + other.means,
            self.sds + other.sds,
            self.marks + other.marks,
            self.against_ranks + other.against_ranks,
            self.shortened or other.shortened,
        )

    def __str__(self) -> str:
        counted = {"means": self.means, "standard deviations": self.sds, "marks": self.marks}
        told = [tally.said(what) for what, tally in counted.items() if tally.total]
        agree = f"Agree with the printed digits: {', '.join(told)}."
        sentences = [agree if told else "The paper prints nothing of these methods."]
        if self.against_ranks:
            times = "comparison" if self.against_ranks == 1 else "comparisons"
            sentences.append(
                f"In {self.against_ranks} significant {times} the means contradict the ranks."
            )
        if self.shortened:
            sentences.append("There were fewer runs than in the paper: do not expect agreement.")
        return " ".join(sentences)


def verdict(spec: TableSpec, errors: Errors) -> Verdict:
    """Compare the errors of a table with what the paper prints.

    Parameters
    ----------
    spec : TableSpec
        Which table.
    errors : mapping
        Errors by dataset and method, as ``read_runs`` gives them.
    """
    return total(_line_verdict(spec, dataset, by_method) for dataset, by_method in errors.items())


def other_marks(spec: TableSpec, errors: Errors) -> list[str]:
    """Say which marks are not those of the paper.

    Parameters
    ----------
    spec : TableSpec
        Which table.
    errors : mapping
        Errors by dataset and method, as ``read_runs`` gives them.
    """
    return [
        f"{dataset}: dp against {_dashed(other)} is {_said(a)}, printed {_said(b)}"
        for dataset, by_method in errors.items()
        for other, a, b in zip(
            OTHERS, marks_of(by_method), printed_marks(spec.published[dataset]), strict=True
        )
        if a is not None and a != b
    ]


def total(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict on several tables together."""
    return sum(verdicts, start=Verdict())


def agreement(ours: float, printed: float) -> Tally:
    """Compare one number with a printed one.

    Parameters
    ----------
    ours, printed : float
        The two numbers; ours is rounded to three digits first.
    """
    if shown(ours) == shown(printed):
        return Tally(1, 0, 1)
    if not math.isfinite(ours):
        return Tally(0, 0, 1)
    unit = 10.0 ** (math.floor(math.log10(abs(printed))) - 2)
    return Tally(0, int(abs(float(shown(ours)) - printed) < 1.5 * unit), 1)


def shown(number: float) -> str:
    """Write a number as the paper does: three digits, without zeros at the end; no NaN, a dash."""
    return NONE if math.isnan(number) else f"{number:.3g}"


def summaries(errors: Mapping[str, Array]) -> dict[str, tuple[float, float]]:
    """Return mean and standard deviation over runs by method; the latter is NaN for one run."""
    return {
        m: (float(e.mean()), float(e.std(ddof=1)) if len(e) > 1 else math.nan)
        for m, e in errors.items()
    }


def _line_verdict(spec: TableSpec, dataset: str, errors: Mapping[str, Array]) -> Verdict:
    printed, ours = spec.published[dataset], summaries(errors)
    known = [m for m in spec.methods if m in ours]
    several = [m for m in known if len(errors[m]) > 1]  # one run has no deviation
    by_means, by_ranks = marks_of(errors, "means"), marks_of(errors, "ranks")
    return Verdict(
        means=sum((agreement(ours[m][0], printed.means[m]) for m in known), start=Tally()),
        sds=sum((agreement(ours[m][1], printed.sds[m]) for m in several), start=Tally()),
        marks=_same(by_means, printed_marks(printed)),
        against_ranks=sum(a != b for a, b in zip(by_means, by_ranks, strict=True)),
        shortened=any(len(e) < run_count(spec, dataset) for e in errors.values()),
    )


def _same(ours: Marks, printed: Marks) -> Tally:
    pairs = [(a, b) for a, b in zip(ours, printed, strict=True) if a is not None]
    return Tally(sum(a == b for a, b in pairs), 0, len(pairs))


def _said(mark: Mark | None) -> str:
    return "not different" if mark is None or mark == "none" else mark


def _dashed(method: str) -> str:
    return method.replace("_", "-")
