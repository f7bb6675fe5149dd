"""Summary of a fit: tables, coefficients and cautions, as plain data that prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

import numpy as np

from poolwise.errors import PoolwiseWarning
from poolwise.linear.fit import Fit
from poolwise.linear.linear_fit import LinearFit, coefficient_intervals
from poolwise.linear.problem import Problem
from poolwise.model.fitted_model import FittedModel
from poolwise.model.tree_summary import TreeSummary
from poolwise.tables.encoding import Column
from poolwise.wording import html_table, paragraph, text_table


@dataclass(frozen=True)
class CoefficientLine:
    """One coefficient.

    Parameters
    ----------
    name : str
        Encoded column.
    coef : float or None
        Coefficient; None for a column that the fit does not have.
    std_error : float or None
        Its standard error, if the theory of the method gives one and the coefficient was estimated.
    low, high : float or None
        Ends of its 95 % interval, under the same condition.
    seen_in : int
        Number of sources that have this column.
    note : str
        Why the coefficient is zero, if it was dropped; or that the target does not determine it.
    column : str
        For one of several levels of a text column, that column.
    reference : str
        The level that these are compared with; empty if there is none.
    """

    name: str
    coef: float | None
    std_error: float | None
    low: float | None
    high: float | None
    seen_in: int
    note: str = ""
    column: str = ""
    reference: str = ""

    @property
    def level(self) -> str:
        """The level of the column."""
        return self.name.removeprefix(f"{self.column}=")


NO_COEFFICIENT = CoefficientLine("", None, None, None, None, 0)


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
    conflict, level_conflict : float or None
        Probability that it contradicts the target, and that it does so in its level alone, where
        the method judges that. The rest is about its slopes, which lowers its weight.
    """

    name: str
    rows: int
    lacks: tuple[str, ...]
    noise: float | None
    weight: float | None
    conflict: float | None = None
    level_conflict: float | None = None

    def conflict_cells(self) -> list[str]:
        """Return the probabilities of another level alone, and of other slopes."""
        if self.conflict is None or self.level_conflict is None:
            return ["-", "-"]
        slopes = max(self.conflict - self.level_conflict, 0.0)  # a difference of sums: rounded
        return [f"{self.level_conflict:.0%}", f"{slopes:.0%}"]


@dataclass(frozen=True, repr=False)
class Summary:
    """Tables, coefficients and warnings of a fit. Print it, or use its fields.

    Parameters
    ----------
    method : str
        Name of the method.
    response : str
        Name of the response.
    intercept : float or None
        Intercept; None in a model with trees.
    intercept_std_error : float or None
        Its standard error, if the theory of the method gives one.
    intercept_low, intercept_high : float or None
        Ends of its 95 % interval, under the same condition.
    coefficients : tuple of CoefficientLine
        One per encoded column, and per derived one; none in a model with trees.
    tables : tuple of SourceLine
        The target and the sources.
    transfer_gain : float or None
        Expected reduction of the squared error of a prediction against least squares on the
        target, according to the model; None if the method has no theory of it.
    cautions : tuple of str
        Warnings given at fit.
    reason : str
        Why this method, where one was chosen.
    trees : TreeSummary or None
        The candidates of a model with trees.
    share : float or None
        Share of the fit with history in the mean that the coefficients are; the rest is a fit
        without it. None if there is one fit only.
    transform : str
        The function of the response that was fitted, such as "log".
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
    share: float | None = None
    transform: str = ""

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

    def parts(self, most_levels: int | None = None) -> list[tuple[list[str], list[list[str]]]]:
        """Return all tables: names of columns, and rows."""
        if self.trees is None:
            return [self.table_cells(), self.coefficient_cells(most_levels)]
        effects = [self.trees.effect_cells()] if self.trees.effects else []
        return [self.table_cells(), self.trees.candidate_cells(), *effects]

    def sentences(self) -> list[str]:
        """Return the sentences below the tables."""
        said = [self.reason] if self.reason else []
        if self.transform == "log":
            said.append(
                f"The model is of {self.response}: a coefficient of 0.01 is a change of the "
                "response by about 1% for one unit of the column. Predictions are of the response "
                "itself."
            )
        elif self.transform:
            said.append(f"The model is of {self.response}; predictions are of the response itself.")
        if self.trees is not None and not self.reason:
            said.append(self.trees.text)
        if self.share is not None:
            said.append(
                f"Coefficients are a mean of two fits: {self.share:.0%} with history, weighed as "
                f"above, and {1.0 - self.share:.0%} without it."
            )
        return said

    def table_cells(self) -> tuple[list[str], list[list[str]]]:
        """Return the table of tables: names of its columns, and its rows."""
        head = ["table", "rows", "noise sd", "weight", "other level", "other slopes", "lacks"]
        return head, [
            [
                t.name,
                f"{t.rows:,}",
                _shown(None if t.noise is None else float(np.sqrt(t.noise))),
                _shown(t.weight),
                *t.conflict_cells(),
                ", ".join(t.lacks) or "-",
            ]
            for t in self.tables
        ]

    def coefficient_cells(
        self, most_levels: int | None = None
    ) -> tuple[list[str], list[list[str]]]:
        """Return the table of coefficients: names of its columns, and its rows.

        Of a column with more than ``most_levels``, those with the largest coefficients are shown.
        """
        sources = len(self.tables) - 1
        head = ["feature", "coef", "std error", "95% interval", "in sources", "note"]
        own = _shown(self.intercept), _shown(self.intercept_std_error)
        ends = _range(self.intercept_low, self.intercept_high)
        rows, column = [["(intercept)", *own, ends, "-", ""]], ""
        hidden = self._hidden(most_levels)
        more = Counter(c.column for c in hidden)
        for c in self.coefficients:
            if c.column and c.column != column:
                notes = [f"against {c.reference}"] if c.reference else []
                notes += [f"{more[c.column]:,} smaller not shown"] if more[c.column] else []
                rows.append([c.column, *[""] * 4, ", ".join(notes)])
            column = c.column
            if c in hidden:
                continue
            rows.append(
                [
                    f"  {c.level}" if column else c.name,
                    _shown(c.coef),
                    _shown(c.std_error),
                    _range(c.low, c.high),
                    f"{c.seen_in} of {sources}" if sources else "-",
                    c.note,
                ]
            )
        return head, rows

    def _hidden(self, most: int | None) -> frozenset[CoefficientLine]:
        """Return the levels of a column with smaller coefficients than its ``most`` largest."""
        levels: dict[str, list[CoefficientLine]] = {}
        for c in self.coefficients:
            if c.column and c.level != c.name:
                levels.setdefault(c.column, []).append(c)
        each = (sorted(own, key=_size, reverse=True) for own in levels.values())
        return frozenset(c for own in each if most is not None for c in own[most:])


def _size(line: CoefficientLine) -> float:
    return abs(line.coef or 0.0)


def summary_of(model: FittedModel, told: Sequence[PoolwiseWarning] = ()) -> Summary:
    """Return the summary of a fitted model, with what is told of rows to predict."""
    return summarise(
        model.known_problem("summary"),
        model.fit,
        method=model.name,
        columns=model.columns,
        transform=model.transform.name,
        transfer_gain=model.transfer_gain,
        cautions=(*model.cautions, *map(str, told)),
    )


def summarise(
    problem: Problem,
    fit: Fit,
    *,
    method: str,
    columns: Sequence[Column] = (),
    transfer_gain: float | None = None,
    cautions: Sequence[str] = (),
    transform: str = "",
) -> Summary:
    """Return the summary of a fit of a problem; ``columns`` tell which levels belong together."""
    parts = fit.parts()
    linear, asked = parts.linear, parts.problem or problem
    tables = [SourceLine("target", asked.target.rows, (), linear.noise, 1.0)]
    tables += [
        SourceLine(
            name,
            s.rows,
            tuple(n for n in asked.unseen(s) if n not in parts.derived),
            linear.source_noise.get(name),
            linear.weights.get(name),
            linear.conflict.get(name),
            linear.level_conflict.get(name),
        )
        for name, s in asked.sources.items()
    ]
    shown = parts.coefficients
    first, *rest = [NO_COEFFICIENT] if shown is None else _coefficients(asked, shown, columns)
    return Summary(
        method=method,
        response=problem.response,
        intercept=first.coef,
        intercept_std_error=first.std_error,
        intercept_low=first.low,
        intercept_high=first.high,
        coefficients=tuple(rest),
        tables=tuple(tables),
        transfer_gain=transfer_gain,
        cautions=tuple(cautions),
        reason=parts.reason,
        trees=TreeSummary.of(parts),
        share=None if parts.coefficients is None else parts.coefficients.share,
        transform=transform,
    )


def _coefficients(
    problem: Problem, fit: LinearFit, columns: Sequence[Column]
) -> list[CoefficientLine]:
    text = {name: c for c in columns if len(c.outputs) > 1 for name in c.outputs}
    errors, ends = fit.standard_errors, coefficient_intervals(fit)
    lines = []
    for j, (name, coef) in enumerate([("", fit.intercept), *zip(fit.names, fit.coef, strict=True)]):
        is_known = name not in fit.dropped
        low, high = (None, None) if ends is None or not is_known else map(float, ends[j])
        own = text.get(name)
        lines.append(
            CoefficientLine(
                name=name,
                coef=float(coef),
                std_error=None if errors is None or not is_known else float(errors[j]),
                low=low,
                high=high,
                seen_in=sum(name in s.names for s in problem.sources.values()),
                note=(fit.dropped.get(name, "") or _known_from(problem, name)) if j else "",
                column="" if own is None else own.name,
                reference="" if own is None or own.full else str((own.levels or ("",))[0]),
            )
        )
    return lines


def _known_from(problem: Problem, name: str) -> str:
    """Note a column that is constant in the target: its coefficient is from sources alone."""
    own = problem.target
    if own.rows < 2 or not own.is_constant(name):
        return ""
    return f"{own.mean_of(name):.4g} in every row of {problem.target_name}"


def _range(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else f"{low:.4g} to {high:.4g}"


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.5g}"
