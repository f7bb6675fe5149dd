"""Challenge: another method against the published ones, in every cell of the tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from poolwise.double_double import Array
from poolwise.errors import BadOption
from poolwise.experiments.marks import OTHERS, POOLED, Mark, compare
from poolwise.experiments.runs import Errors

PAPERS = (*OTHERS, POOLED)  # the paper's names of its methods
ALONE = "ols"  # the target alone


class Record(NamedTuple):
    """Cells in which a method is significantly better, not different, and significantly worse."""

    wins: int
    ties: int
    losses: int

    def __str__(self) -> str:
        return f"{self.wins} won, {self.ties} tied, {self.losses} lost"


@dataclass(frozen=True)
class Duel:
    """The challenger in one cell: one dataset of one table.

    Parameters
    ----------
    table, dataset : str
        Which cell.
    best : str
        The published method with the smallest mean error there.
    error, best_error : float
        Mean error of the challenger, and of the best.
    marks : mapping of str to {"better", "none", "worse"}
        How the challenger does against each published method.
    """

    table: str
    dataset: str
    best: str
    error: float
    best_error: float
    marks: Mapping[str, Mark]

    @property
    def ratio(self) -> float:
        """Mean error of the challenger over that of the best."""
        return self.error / self.best_error


@dataclass(frozen=True)
class Challenge:
    """A method against the published ones, over all cells.

    Parameters
    ----------
    method : str
        The challenger.
    duels : tuple of Duel
        The cells.
    """

    method: str
    duels: tuple[Duel, ...]

    @property
    def against_best(self) -> Record:
        """The record against the best published method of each cell."""
        return _record(duel.marks[duel.best] for duel in self.duels)

    def against(self, method: str) -> Record:
        """Return the record against one published method.

        Parameters
        ----------
        method : str
            The paper's name of it.
        """
        return _record(duel.marks[method] for duel in self.duels)

    @property
    def ratio(self) -> float:
        """The geometric mean of the ratios to the best."""
        return float(np.exp(np.mean(np.log([duel.ratio for duel in self.duels]))))

    @property
    def lost_to_target_only(self) -> tuple[tuple[str, str], ...]:
        """Table and dataset of the cells that are lost to the target alone."""
        return tuple((d.table, d.dataset) for d in self.duels if d.marks[ALONE] == "worse")

    def __str__(self) -> str:
        lost = self.lost_to_target_only
        cells = ": " + ", ".join(" ".join(cell) for cell in lost) if lost else ""
        return "\n".join(
            (
                f"{self.method} against the best published method of each of {len(self.duels)} "
                f"cells: {self.against_best}.",
                f"Geometric mean of its error over that of the best: {self.ratio:.3f}.",
                *(f"Against {m}: {self.against(m)}." for m in PAPERS),
                f"Significantly worse than the target alone in {len(lost)}{cells}.",
            )
        )


def challengers(errors: Mapping[str, Errors]) -> list[str]:
    """Return the methods that can be compared with the published ones, which must be there too.

    Parameters
    ----------
    errors : mapping of str to Errors
        As in ``challenge``.
    """
    cells = [by_method for of_table in errors.values() for by_method in of_table.values()]
    everywhere = [m for m in cells[0] if all(m in cell for cell in cells)] if cells else []
    if not set(PAPERS) <= set(everywhere):
        return []
    return [m for m in everywhere if m not in PAPERS]


def challenge(method: str, errors: Mapping[str, Errors]) -> Challenge:
    """Compare a method with the four published ones in every cell.

    The test is that of the marks, the two-sided Wilcoxon signed-rank test at 0.05 / 3, directed by
    the ranks. It takes the best as given: that it was chosen among four by the same errors is not
    corrected for, which is to the challenger's cost.

    Parameters
    ----------
    method : str
        The challenger, by its name in the runs.
    errors : mapping of str to Errors
        By table, errors by dataset and method, as ``read_runs`` gives them.
    """
    return Challenge(
        method,
        tuple(
            _duel(method, table, dataset, by_method)
            for table, of_table in errors.items()
            for dataset, by_method in of_table.items()
        ),
    )


def _duel(method: str, table: str, dataset: str, errors: Mapping[str, Array]) -> Duel:
    missing = {method, *PAPERS} - errors.keys()
    if missing:
        raise BadOption(
            "methods", list(errors), f"also {', '.join(sorted(missing))} on {dataset} in {table}"
        )
    best = min(PAPERS, key=lambda m: float(errors[m].mean()))
    marks = {m: compare(errors[method], errors[m], "ranks") for m in PAPERS}
    error, best_error = (float(errors[m].mean()) for m in (method, best))
    return Duel(table, dataset, best, error, best_error, marks)


def _record(marks: Iterable[Mark]) -> Record:
    found = list(marks)
    return Record(found.count("better"), found.count("none"), found.count("worse"))
