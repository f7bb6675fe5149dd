"""Dataset statistics: sizes of the datasets and of the small setup, ours beside the printed."""

from __future__ import annotations

import os
from dataclasses import astuple, dataclass

from poolwise.experiments import datasets
from poolwise.experiments.columns import ordered
from poolwise.experiments.specs import Sizes, read_statistics
from poolwise.experiments.splits import small_sizes

HEAD = ("dataset", "n_total", "n_S", "n_T", "n_test", "d_T", "runs")


@dataclass(frozen=True)
class Statistics:
    """Sizes counted in the data, and sizes in the paper.

    Parameters
    ----------
    ours, printed : dict of str to Sizes
        By dataset.
    """

    ours: dict[str, Sizes]
    printed: dict[str, Sizes]

    @property
    def verdict(self) -> str:
        """How many numbers agree."""
        pairs = [
            (a, b)
            for name, sizes in self.ours.items()
            for a, b in zip(astuple(sizes), astuple(self.printed[name]), strict=True)
        ]
        return f"Agree with the paper: {sum(a == b for a, b in pairs)} of {len(pairs)} numbers."

    def rows(self) -> list[list[str]]:
        """Return the cells of the table; where the paper says otherwise, that stands behind."""
        return [
            [name, *map(_cell, astuple(sizes), astuple(self.printed[name]))]
            for name, sizes in self.ours.items()
        ]


def count(data: str | os.PathLike[str] | None = None) -> Statistics:
    """Count rows and features of the nine datasets of the tables.

    Parameters
    ----------
    data : path, optional
        A folder to look for the datasets in.
    """
    printed = read_statistics()
    ours = {}
    for name in printed:
        rows = ordered(datasets.load(name, data), "corrected")
        ours[name] = small_sizes(len(rows), rows.shape[1] - 1)
    return Statistics(ours, printed)


def _cell(ours: int, printed: int) -> str:
    return f"{ours}" if ours == printed else f"{ours} (printed {printed})"
