"""Shift: whether shared columns lie, spread and go together alike in a source and the target.

For each source, each shared column and the response, three questions: location, scale, and the
correlation of each pair.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from poolwise.diagnostics.subject import problem_of
from poolwise.diagnostics.table_pair import ShiftLine, TablePair
from poolwise.errors import BadOption
from poolwise.p_values import corrected_p
from poolwise.problem import Problem
from poolwise.text_tables import text_table

SHOWN = 12  # shifts that are printed


@dataclass(frozen=True, repr=False)
class Shift:
    """Shift of shared columns between sources and target. Print it, or use its fields.

    Parameters
    ----------
    lines : tuple of ShiftLine
        Every location and scale; of the correlations those that differ, and the most different
        pair of each source.
    tests : int
        Number of tests that were made, for which all p-values are corrected.
    level : float
        Probability of any finding at all where nothing has shifted, at most.
    """

    lines: tuple[ShiftLine, ...]
    tests: int
    level: float

    @property
    def found(self) -> tuple[ShiftLine, ...]:
        """The differences that are beyond chance, the surest first."""
        sure = [x for x in self.lines if x.p_holm is not None and x.p_holm <= self.level]
        return tuple(sorted(sure, key=lambda x: (x.p or 0.0, -_strength(x))))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dicts, lists, numbers and strings."""
        return asdict(self)

    def __str__(self) -> str:
        if not self.lines:
            return "Shift: there is nothing to compare."
        found = self.found
        if not found:
            return (
                f"Shift: none found in {self.tests:,} comparisons of shared columns (location, "
                "scale, correlation)."
            )
        head = ["source", "what", "column", "source has", "target has", "size"]
        rows = [
            [
                x.source,
                x.kind,
                " and ".join(x.columns),
                f"{x.in_source:.4g}",
                f"{x.in_target:.4g}",
                _size(x),
            ]
            for x in found[:SHOWN]
        ]
        lines = [
            f"Shift: {len(found):,} of {self.tests:,} comparisons of shared columns differ beyond "
            f"chance (level {self.level:g}, all tests together).",
            *text_table(head, rows),
        ]
        if len(found) > SHOWN:
            lines.append(f"... and {len(found) - SHOWN:,} more.")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)


def shift(problem: Problem, *, level: float = 0.05) -> Shift:
    r"""Compare location, scale and correlation of shared columns in each source and the target.

    *Location*: the difference of means over its standard error, in which neither table counts as
    narrower than both together. *Scale*: the difference of the logarithms of the variances; its
    variance is :math:`(\kappa - 1)(1/n_T + 1/n_s)`. *Correlation*: the difference of Fisher's
    :math:`z`, its variance multiplied by :math:`\kappa/3`, which is right for elliptical
    distributions. Here :math:`\kappa = M^2/2s^2`, and three at least. Student's distribution has
    the degrees of freedom of the smaller table, and for means those of both. A difference of means
    of :math:`z` standard errors counts as :math:`z / \sqrt{1 + \rho z/6}` of them, where
    :math:`\rho` is how far one row may move it, in standard errors: half of Bernstein's correction
    for rare large values.

    Where one row makes up nearly half of a column's squares, scale and correlation are not tested;
    of a column with two values only the mean is, which says all there is to say.

    Without any shift, 0 to 4.8 % of all reports found something at the level 0.05: normal columns,
    Student's with 5 and 3 degrees of freedom, lognormal, Pareto, mostly zero; 8 to 500 target rows
    (``python -m benchmarks.honesty``).

    Assumes independent rows. A shift of features does no harm by itself, as long as the response
    depends on them in the same way; a shift of units or of the way things are measured does.

    Parameters
    ----------
    problem : Problem or fitted regressor
        Target and sources.
    level : float, default=0.05
        Probability of any finding at all where nothing has shifted, at most.

    Returns
    -------
    Shift
        The differences that chance does not explain, of each source.
    """
    problem = problem_of(problem)
    if not 0.0 < level < 1.0:
        raise BadOption("level", level, "a number between 0 and 1")
    kept: list[ShiftLine] = []
    others: list[float] = []  # p-values of correlations that may not be kept
    for name, source in problem.sources.items():
        pair = TablePair(problem, name, source)
        kept += pair.locations()
        kept += pair.scales()
        lines, rest = pair.correlations(level)
        kept += lines
        others += rest
    tested = [x for x in kept if x.p is not None]
    corrected = corrected_p([x.p for x in tested if x.p is not None] + others)
    by_line = {id(x): p for x, p in zip(tested, corrected, strict=False)}
    lines = [_with_holm(x, by_line.get(id(x))) for x in kept]
    most = {x.source: x for x in sorted(lines, key=_strength) if x.kind == "correlation"}
    shown = tuple(
        x
        for x in lines
        if x.kind != "correlation"
        or (1.0 if x.p_holm is None else x.p_holm) <= level
        or x is most[x.source]
    )
    return Shift(shown, len(tested) + len(others), level)


def _with_holm(line: ShiftLine, p_holm: float | None) -> ShiftLine:
    known = {**vars(line), "p_holm": None if p_holm is None else float(p_holm)}
    return ShiftLine(**known)


def _strength(line: ShiftLine) -> float:
    """Return what tells apart differences of the same p-value."""
    return -1.0 if line.size is None else abs(line.size)


def _size(line: ShiftLine) -> str:
    if line.size is None:
        return "-"
    return {
        "location": f"{line.size:+.2g} sd",
        "scale": f"{line.size:.3g} times",
        "correlation": f"{line.size:+.2f}",
    }[line.kind]
