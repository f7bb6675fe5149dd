"""Summary: everything a fit has to say, as plain data that prints."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

import numpy as np

from poolwise.boosting.stack import Stack
from poolwise.fit import LinearFit
from poolwise.intervals import coefficient_intervals
from poolwise.problem import Problem
from poolwise.text_tables import html_table, paragraph, text_table
from poolwise.tree_summary import TreeSummary

GAIN = "Expected transfer gain over least squares on the target (squared error, model-based)"


@dataclass(frozen=True)
class CoefficientLine:
    """One coefficient.

    Parameters
    ----------
    name : str
        Encoded column.
    coef : float or None
        Coefficient; None where there is none to hold against another one.
    std_error : float or None
        Its standard error, where the method's theory gives one and the coefficient was not dropped.
    low, high : float or None
        Ends of its 95 % interval, the same.
    seen_in : int
        Number of sources that have this column.
    note : str
        Why the coefficient is zero, if it was dropped; or that the target says nothing about it.
    """

    name: str
    coef: float | None
    std_error: float | None
    low: float | None
    high: float | None
    seen_in: int
    note: str = ""


@dataclass(frozen=True)
class SourceLine:
    """One table.

    Parameters
    ----------
    name : str
        Name of the source; "target" for the target.
    rows : int
        Number of rows.
    lacks : tuple of str
        Features it does not have.
    noise : float or None
        Residual variance given the features it has.
    weight : float or None
        Weight of one of its rows, where a target row has weight one.
    conflict : float or None
        Probability that it contradicts the target, where the method judges that.
    """

    name: str
    rows: int
    lacks: tuple[str, ...]
    noise: float | None
    weight: float | None
    conflict: float | None = None


@dataclass(frozen=True, repr=False)
class Summary:
    """What was fitted, from what, and with what result. Print it, or use its fields.

    Parameters
    ----------
    method : str
        Name of the method.
    response : str
        Name of the response.
    intercept : float or None
        Intercept; None in a model with trees.
    intercept_std_error : float or None
        Its standard error, where the method's theory gives one.
    intercept_low, intercept_high : float or None
        Ends of its 95 % interval, the same.
    coefficients : tuple of CoefficientLine
        One per encoded column, and per derived one; none in a model with trees.
    tables : tuple of SourceLine
        The target and the sources.
    transfer_gain : float or None
        Expected fall of the squared error of a prediction against least squares on the target,
        according to the model; None where the method's theory gives none.
    cautions : tuple of str
        Warnings given at fit.
    reason : str
        Why this method, where one was chosen.
    trees : TreeSummary or None
        What a model with trees is made of.
    """

    method: str
    response: str
    intercept: float | None
    intercept_std_error: float | None
    intercept_low: float | None
    intercept_high: float | None
    coefficients: tuple[CoefficientLine, ...]
    tables: tuple[SourceLine, ...]
    transfer_gain: float | None
    cautions: tuple[str, ...]
    reason: str = ""
    trees: TreeSummary | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dicts, lists, numbers and strings."""
        return asdict(self)

    def __str__(self) -> str:
        features = f" on {len(self.coefficients)} features" if self.trees is None else ""
        lines = [f"{self.method}: {self.response}{features}"]
        for cells in self.parts():
            lines += ["", *text_table(*cells)]
        lines += [line for text in self.sentences() for line in ("", paragraph(text))]
        lines += [paragraph(f"Note: {caution}") for caution in self.cautions]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        parts = [f"<h4>{escape(self.method)}: {escape(self.response)}</h4>"]
        parts += [html_table(*cells) for cells in self.parts()]
        parts += [f"<p>{escape(text)}</p>" for text in self.sentences()]
        parts += [f"<p>Note: {escape(caution)}</p>" for caution in self.cautions]
        return "".join(parts)

    def parts(self) -> list[tuple[list[str], list[list[str]]]]:
        """Return all tables: names of columns, and rows."""
        if self.trees is None:
            return [self.table_cells(), self.coefficient_cells()]
        effects = [self.trees.effect_cells()] if self.trees.effects else []
        return [self.table_cells(), self.trees.candidate_cells(), *effects]

    def sentences(self) -> list[str]:
        """Return what there is to say beside the tables."""
        said = [self.reason] if self.reason else []
        if self.trees is not None and not self.reason:
            said.append(self.trees.text)
        if self.transfer_gain is not None and len(self.tables) > 1:
            noise = self.tables[0].noise
            share = (
                f", {100.0 * self.transfer_gain / noise:.2g}% of the noise variance"
                if noise
                else ""
            )
            said.append(f"{GAIN}: {_shown(self.transfer_gain)}{share}")
        return said

    def table_cells(self) -> tuple[list[str], list[list[str]]]:
        """Return the table of tables: names of its columns, and its rows."""
        head = ["table", "rows", "noise sd", "weight", "conflict", "lacks"]
        return head, [
            [
                t.name,
                f"{t.rows:,}",
                _shown(None if t.noise is None else float(np.sqrt(t.noise))),
                _shown(t.weight),
                "-" if t.conflict is None else f"{t.conflict:.0%}",
                ", ".join(t.lacks) or "-",
            ]
            for t in self.tables
        ]

    def coefficient_cells(self) -> tuple[list[str], list[list[str]]]:
        """Return the table of coefficients: names of its columns, and its rows."""
        sources = len(self.tables) - 1
        head = ["feature", "coef", "std error", "95% interval", "in sources", "note"]
        own = _shown(self.intercept), _shown(self.intercept_std_error)
        return head, [
            ["(intercept)", *own, _range(self.intercept_low, self.intercept_high), "-", ""],
            *(
                [
                    c.name,
                    _shown(c.coef),
                    _shown(c.std_error),
                    _range(c.low, c.high),
                    f"{c.seen_in} of {sources}" if sources else "-",
                    c.note,
                ]
                for c in self.coefficients
            ),
        ]


def summarise(
    problem: Problem,
    fit: LinearFit,
    *,
    method: str,
    transfer_gain: float | None = None,
    cautions: Sequence[str] = (),
    reason: str = "",
    stack: Stack | None = None,
    made: Collection[str] = (),
) -> Summary:
    """Collect what a fit has to say.

    Parameters
    ----------
    problem : Problem
        What was solved.
    fit : LinearFit
        The solution.
    method : str
        Name of the method.
    transfer_gain : float, optional
        Expected transfer gain.
    cautions : sequence of str
        Warnings given at fit.
    reason : str
        Why this method, where one was chosen.
    stack : Stack, optional
        What predicts in place of the fit.
    made : collection of str
        Columns that were derived from others: no table is told to lack them.
    """
    errors: list[float | None] = [None] * (len(fit.names) + 1)
    if fit.standard_errors is not None:
        errors = [float(e) for e in fit.standard_errors]
    ends: list[tuple[float | None, float | None]] = [(None, None)] * len(errors)
    if (intervals := coefficient_intervals(fit)) is not None:
        ends = [(float(low), float(high)) for low, high in intervals]
    coefficients = tuple(
        CoefficientLine(
            name=name,
            coef=float(coef),
            std_error=None if name in fit.dropped else error,
            low=None if name in fit.dropped else low,
            high=None if name in fit.dropped else high,
            seen_in=sum(name in s.names for s in problem.sources.values()),
            note=fit.dropped.get(name, "") or _known_from(problem, name),
        )
        for name, coef, error, (low, high) in zip(
            fit.names, fit.coef, errors[1:], ends[1:], strict=True
        )
    )
    tables = [SourceLine("target", problem.target.rows, (), fit.noise, 1.0)]
    tables += [
        SourceLine(
            name,
            s.rows,
            tuple(n for n in problem.unseen(s) if n not in made),
            fit.source_noise.get(name),
            fit.weights.get(name),
            fit.conflict.get(name),
        )
        for name, s in problem.sources.items()
    ]
    if stack is not None:
        coefficients, errors, ends = (), [None], [(None, None)]
    return Summary(
        method=method,
        response=problem.response,
        intercept=fit.intercept if stack is None else None,
        intercept_std_error=errors[0],
        intercept_low=ends[0][0],
        intercept_high=ends[0][1],
        coefficients=coefficients,
        tables=tuple(tables),
        transfer_gain=transfer_gain,
        cautions=tuple(cautions),
        reason=reason,
        trees=None if stack is None else TreeSummary.of(stack),
    )


def _known_from(problem: Problem, name: str) -> str:
    """Say where a coefficient comes from sources alone, as the target's rows are all alike."""
    target = problem.target
    return "one value in the target" if target.rows > 1 and target.is_constant(name) else ""


def _range(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else f"{low:.4g} to {high:.4g}"


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.5g}"
