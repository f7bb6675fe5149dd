r"""Whether shared columns have the same location, scale and correlation in a source and the target.

Moments have no information about tails, and textbook tests of variances and correlations reject far
too often if tails are heavy. So tails are assumed to be as heavy as the range suggests: with the
greatest distance :math:`M` of a value from its mean and the pooled standard deviation :math:`s`,
no fourth moment of the rows is above :math:`M^2 s^2`, and half of that is assumed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.special import stdtr

from poolwise._typing import Array
from poolwise.errors import BadOption
from poolwise.evaluation.risk import Findings, Shown, problem_of
from poolwise.linear.problem import Problem
from poolwise.moments.moments import Moments

CONSTANT = 1e-10  # deviation of a column, relative to its largest number
NORMAL = 3.0  # kurtosis of the normal distribution, the least that is assumed
ENOUGH = 5.0  # rows below which a scale or a correlation is not tested
TWO_VALUED = 0.99  # share of the greatest variance that mean and range allow
LONELY = 0.4  # largest share of a column's squares in one row for scale and correlation tests
SHOWN = 12  # shifts that are printed


@dataclass(frozen=True)
class ShiftLine:
    """One comparison of a source with the target.

    Parameters
    ----------
    source : str
        Name of the source.
    kind : {"location", "scale", "correlation"}
        What is compared.
    columns : tuple of str
        The column, or the pair of them.
    in_source, in_target : float
        Mean, standard deviation or correlation in each table.
    size : float or None
        Difference of means in pooled standard deviations, ratio of standard deviations, or
        difference of correlations; source against target. None where nothing varies.
    p, p_holm : float or None
        The p-value, and the same corrected for the number of tests (Holm 1979); None where there
        are too few rows.
    """

    source: str
    kind: Literal["location", "scale", "correlation"]
    columns: tuple[str, ...]
    in_source: float
    in_target: float
    size: float | None
    p: float | None
    p_holm: float | None = None


@dataclass(frozen=True, repr=False)
class Shift(Findings):
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
        """The significant differences, the most significant first."""
        sure = [x for x in self.lines if x.p_holm is not None and x.p_holm <= self.level]
        return tuple(sorted(sure, key=lambda x: (x.p or 0.0, -_strength(x))))

    def shown(self) -> Shown:
        """Return what is printed."""
        if not self.lines:
            return ["Shift: no columns to compare."]
        found = self.found
        if not found:
            return [
                f"Shift: none found in {self.tests:,} comparisons of shared columns (location, "
                "scale, correlation)."
            ]
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
        shown: Shown = [
            f"Shift: {len(found):,} of {self.tests:,} comparisons of shared columns differ beyond "
            f"chance (level {self.level:g}, all tests together).",
            (head, rows),
        ]
        if len(found) > SHOWN:
            shown.append(f"... and {len(found) - SHOWN:,} more.")
        return shown


def shift(problem: Problem, *, level: float = 0.05) -> Shift:
    r"""Compare location, scale and correlation of shared columns in each source and the target.

    *Location*: the difference of means over its standard error, in which neither table counts as
    narrower than both together. *Scale*: the difference of the logarithms of the variances; its
    variance is :math:`(\kappa - 1)(1/n_T + 1/n_s)`. *Correlation*: the difference of Fisher's
    :math:`z`, its variance multiplied by :math:`\kappa/3`. Here :math:`\kappa = M^2/2s^2`, at least
    three. A difference of means of :math:`z` standard errors counts as
    :math:`z / \sqrt{1 + \rho z/6}`, where :math:`\rho` is how far one row may move it: half of
    Bernstein's correction for rare large values. Scale and correlation are not tested for columns
    of two values, or where one row has nearly half of a column's squares.

    Assumes independent rows. Without any shift, at most 4.8 % of reports found something at the
    level 0.05, for columns from normal to Pareto (``python -m benchmarks.honesty``). A shift of
    features does no harm by itself; a change of units or of the measurement does.

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
        raise BadOption.of("level", level, "a number between 0 and 1")
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
    by_line = {id(x): float(p) for x, p in zip(tested, corrected, strict=False)}
    lines = [replace(x, p_holm=by_line.get(id(x))) for x in kept]
    most = {x.source: x for x in sorted(lines, key=_strength) if x.kind == "correlation"}
    shown = tuple(
        x
        for x in lines
        if x.kind != "correlation"
        or (1.0 if x.p_holm is None else x.p_holm) <= level
        or x is most[x.source]
    )
    return Shift(shown, len(tested) + len(others), level)


def _strength(line: ShiftLine) -> float:
    """Return the key that orders differences of the same p-value."""
    return -1.0 if line.size is None else abs(line.size)


def _size(line: ShiftLine) -> str:
    if line.size is None:
        return "-"
    return {
        "location": f"{line.size:+.2g} sd",
        "scale": f"{line.size:.3g} times",
        "correlation": f"{line.size:+.2f}",
    }[line.kind]


class TablePair:
    """A source and the target, the columns that both have."""

    def __init__(self, problem: Problem, name: str, source: Moments) -> None:
        target = problem.target
        self.problem, self.name = problem, name
        self.columns = (*problem.shared(source), problem.response)
        theirs, ours = source.index(self.columns), target.index(self.columns)
        self.rows = np.array([[source.weight], [target.weight]])
        free = np.maximum(self.rows - 1.0, 0.0)
        tables = ((source, theirs), (target, ours))
        mean = np.stack([t.mean[at] for t, at in tables])
        self.mean = mean
        self.step = (source.mean_pair[theirs] - target.mean_pair[ours]).high
        scatter = np.stack([t.scatter.between(at, at) for t, at in tables])
        squares = np.einsum("tii->ti", scatter)
        low, high = (np.stack([getattr(t, e)[at] for t, at in tables]) for e in ("low", "high"))
        far = np.maximum(high - mean, mean - low)
        size = np.maximum(-low, high)
        deviation = np.sqrt(squares / np.maximum(free, 1.0))
        self.varies = deviation > CONSTANT * size
        self.variance = np.where(self.varies, deviation, 0.0) ** 2
        total = float(free.sum())
        self.pooled = np.sqrt((free * self.variance).sum(axis=0) / max(total, 1.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            self.reach = np.where(self.pooled > 0.0, far.max(axis=0) / self.pooled, 0.0)
            root = np.where(self.varies, np.sqrt(squares), np.inf)
            self.correlation = scatter / (root[:, :, None] * root[:, None, :])
        self.kurtosis = np.maximum(0.5 * self.reach**2, NORMAL)
        most = (high - mean) * (mean - low)  # variance if all values were at the ends of the range
        two_valued = (squares >= TWO_VALUED * self.rows * most).any(axis=0)
        lonely = (far**2 > LONELY * squares).any(axis=0)
        self.is_told = self.varies.all(axis=0) & ~two_valued & ~lonely

    def locations(self) -> Iterator[ShiftLine]:
        """Compare means."""
        n = self.rows
        variance = (np.maximum(self.variance, self.pooled**2) / n).sum(axis=0)
        alike = self.step == 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.where(alike, 0.0, np.abs(self.step) / np.sqrt(variance))
            size = self.step / self.pooled
        one_row = self.reach / (n.min() * np.sqrt((1.0 / n).sum()))
        with np.errstate(invalid="ignore"):
            p = _two_sided(z / np.sqrt(1.0 + one_row * z / 6.0), float(n.sum()) - 2.0)
        for j, column in enumerate(self.columns):
            measured = self.pooled[j] > 0.0
            if not measured and alike[j]:
                continue
            known = float(p[j]) if measured else 0.0
            if not measured and n.min() < ENOUGH:
                known = 1.0
            theirs, ours = map(float, self.mean[:, j])
            ratio = float(size[j]) if measured else None
            yield ShiftLine(self.name, "location", (column,), theirs, ours, ratio, known)

    def scales(self) -> Iterator[ShiftLine]:
        """Compare standard deviations."""
        n, both = self.rows, self.varies.all(axis=0)
        deviation = np.sqrt(self.variance)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = deviation[0] / deviation[1]
            error = np.sqrt((self.kurtosis - 1.0) * (1.0 / np.maximum(n - 1.0, 1.0)).sum())
            p = _two_sided(2.0 * np.abs(np.log(ratio)) / error, float(n.min()) - 1.0)
        for j, column in enumerate(self.columns):
            if not self.varies[:, j].any():
                continue
            is_tested = self.is_told[j] and n.min() >= ENOUGH
            known = float(p[j]) if is_tested else None
            theirs, ours = map(float, deviation[:, j])
            size = float(ratio[j]) if both[j] else None
            yield ShiftLine(self.name, "scale", (column,), theirs, ours, size, known)

    def correlations(self, level: float) -> tuple[list[ShiftLine], list[float]]:
        """Compare correlations: return the likely differences, and the p-values of the rest."""
        n, at = self.rows, np.flatnonzero(self.is_told)
        if n.min() < ENOUGH or len(at) < 2:
            return [], []
        first, second = (at[k] for k in np.triu_indices(len(at), 1))
        r = np.clip(self.correlation[:, first, second], -1.0, 1.0)
        inflation = np.sqrt(self.kurtosis[first] * self.kurtosis[second]) / 3.0
        most = 1.0 - 2.0 / n**2  # in a few rows, a single one can make the correlation exactly one
        angle = np.arctanh(np.clip(r, -most, most))
        error = np.sqrt(inflation * (1.0 / (n - 3.0)).sum())
        p = _two_sided(np.abs(angle[0] - angle[1]) / error, float(n.min()) - 3.0)
        order = np.argsort(p, kind="stable")
        likely = [k for rank, k in enumerate(order) if rank == 0 or p[k] <= level]
        lines = [
            ShiftLine(
                self.name,
                "correlation",
                (self.columns[first[k]], self.columns[second[k]]),
                float(r[0, k]),
                float(r[1, k]),
                float(r[0, k] - r[1, k]),
                float(p[k]),
            )
            for k in likely
        ]
        return lines, np.delete(p, likely).tolist()


def _two_sided(z: Array, freedom: float) -> Array:
    """Return the probability of an absolute value above ``z`` in Student's distribution."""
    p: Array = 2.0 * stdtr(max(freedom, 1.0), -np.where(np.isnan(z), 0.0, z))
    return p


def corrected_p(p: Sequence[float]) -> Array:
    """Return p-values corrected for their number, by the method of Holm (1979)."""
    values = np.asarray(p, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    steps = (len(values) - np.arange(len(values))) * values[order]
    corrected = np.empty_like(values)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return corrected
