"""Comparison of another method with the published ones, in every cell of the tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from paper.agreement import OTHERS, POOLED, Mark, compare
from paper.results import Errors
from poolwise._typing import Array

PAPERS = (*OTHERS, POOLED)  # the paper's names of its methods
ALONE = "ols"  # the target alone


@dataclass(frozen=True)
class Duel:
    """The challenger in one cell: one dataset of one table."""

    table: str
    dataset: str
    best: str  # the published method with the smallest mean error there
    error: float  # mean error of the challenger
    best_error: float
    marks: Mapping[str, Mark]  # the challenger against each published method


@dataclass(frozen=True)
class Challenge:
    """A method against the published ones, over all cells."""

    method: str
    duels: tuple[Duel, ...]

    def against(self, method: str | None = None) -> tuple[int, int, int]:
        """Return cells won, tied and lost against a published method, or the best of each cell."""
        marks = [duel.marks[method or duel.best] for duel in self.duels]
        return marks.count("better"), marks.count("none"), marks.count("worse")

    @property
    def ratio(self) -> float:
        """The geometric mean of the ratios to the best."""
        return float(np.exp(np.mean(np.log([d.error / d.best_error for d in self.duels]))))

    @property
    def lost_to_target_only(self) -> tuple[tuple[str, str], ...]:
        """Table and dataset of the cells that are lost to the target alone."""
        return tuple((d.table, d.dataset) for d in self.duels if d.marks[ALONE] == "worse")

    def __str__(self) -> str:
        lost = self.lost_to_target_only
        cells = ": " + ", ".join(" ".join(cell) for cell in lost) if lost else ""
        said = "{} won, {} tied, {} lost".format
        sentences = (
            f"{self.method} against the best published method of each of {len(self.duels)} "
            f"cells: {said(*self.against())}.",
            f"Geometric mean of its error relative to the best: {self.ratio:.3f}.",
            *(f"Against {m}: {said(*self.against(m))}." for m in PAPERS),
            f"Significantly worse than the target alone in {len(lost)}{cells}.",
        )
        return "\n".join(sentences)


def challengers(errors: Mapping[str, Errors]) -> list[str]:
    """Return the methods that were run in every cell beside all the published ones."""
    cells = [by_method for of_table in errors.values() for by_method in of_table.values()]
    everywhere = [m for m in cells[0] if all(m in cell for cell in cells)] if cells else []
    is_whole = set(PAPERS) <= set(everywhere)
    return [m for m in everywhere if m not in PAPERS] if is_whole else []


def challenge(method: str, errors: Mapping[str, Errors]) -> Challenge:
    """Compare a method with the four published ones in every cell; errors are by table.

    The test is the two-sided Wilcoxon signed-rank test at 0.05 / 3, directed by the ranks. The
    choice of the best of four by the same errors is not corrected for, which favours the published
    methods.
    """
    duels = (
        _duel(method, table, dataset, by_method)
        for table, of_table in errors.items()
        for dataset, by_method in of_table.items()
    )
    return Challenge(method, tuple(duels))


def _duel(method: str, table: str, dataset: str, errors: Mapping[str, Array]) -> Duel:
    best = min(PAPERS, key=lambda m: float(errors[m].mean()))
    marks = {m: compare(errors[method], errors[m], "ranks") for m in PAPERS}
    error, best_error = (float(errors[m].mean()) for m in (method, best))
    return Duel(table, dataset, best, error, best_error, marks)
