r"""TablePair: a source and the target, compared in location, scale and correlation.

Moments say nothing about tails, and the tests of textbooks on variances and correlations claim far
too much when tails are heavy. So tails are taken to be as heavy as the range suggests: with the
greatest distance :math:`M` of a value from its mean and the pooled standard deviation :math:`s`, no
fourth moment of the rows is above :math:`M^2 s^2`, and half of that is assumed. That makes the
tests slow to speak, and what they say can be believed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from scipy.special import stdtr

from poolwise.double_double import Array
from poolwise.moments import Moments
from poolwise.problem import Problem

Kind: TypeAlias = Literal["location", "scale", "correlation"]

CONSTANT = 1e-10  # deviation of a column, relative to its largest number
NORMAL = 3.0  # kurtosis of the normal distribution, the least that is assumed
ENOUGH = 5.0  # rows below which a scale or a correlation is not tested
TWO_VALUED = 0.99  # share of the greatest variance that mean and range allow
LONELY = 0.4  # share of the squares that one row may have where scale and correlation are tested


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
        Location: difference of means, source less target, in pooled standard deviations. Scale:
        ratio of standard deviations, source to target. Correlation: difference. None where there
        is no spread to measure by.
    p : float or None
        Probability of a difference as large by chance; None where there are too few rows to tell.
    p_holm : float or None
        The same, corrected for the number of tests (Holm 1979).
    """

    source: str
    kind: Kind
    columns: tuple[str, ...]
    in_source: float
    in_target: float
    size: float | None
    p: float | None
    p_holm: float | None = None


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
            theirs, ours = (self.problem.true(column, float(m)) for m in self.mean[:, j])
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
            theirs, ours = (self.problem.true(column, float(s)) for s in deviation[:, j])
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
        most = 1.0 - 2.0 / n**2  # of a few rows, one may decide that it is exactly one
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
