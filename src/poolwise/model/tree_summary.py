"""Summary of a weighted mean of linear models and trees, and the mean of several summaries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from poolwise.linear.fit import Candidate, FitParts, PartialEffect

MEAN = "weighted mean", "the prediction: a mean of these, by their weights"


@dataclass(frozen=True)
class TreeSummary:
    """The candidates of a weighted mean of linear models and trees."""

    candidates: tuple[Candidate, ...]
    error: float  # RMSE of the mean, on target rows that were not used for it
    text: str  # the effect of the part that is not linear, in words
    effects: tuple[PartialEffect, ...]  # of new columns

    @classmethod
    def of(cls, parts: FitParts) -> TreeSummary | None:
        """Return the summary of a weighted mean of candidates; None of a linear fit."""
        if parts.held_out is None:
            return None
        text = f"{parts.held_out.in_words()}."
        return cls(parts.candidates, parts.held_out.error, text, parts.effects())

    def candidate_cells(self) -> tuple[list[str], list[list[str]]]:
        """Return the table of candidates and, last, of their mean: names of columns, and rows."""
        rows = [[c.name, f"{c.weight:.0%}", f"{c.error:.5g}", c.words] for c in self.candidates]
        rows.append([MEAN[0], "100%", f"{self.error:.5g}", MEAN[1]])
        return ["candidate", "weight", "RMSE on unseen rows", "what it is"], rows

    def effect_cells(self) -> tuple[list[str], list[list[str]]]:
        """Return the table of effects: names of its columns, and its rows."""
        head = ["new feature", "from", "to", "prediction changes by", "std error"]
        return head, [
            [
                e.feature,
                f"{e.values[0]:.4g}",
                f"{e.values[-1]:.4g}",
                f"{e.change:+.4g}",
                f"{e.change_deviation:.2g}",
            ]
            for e in self.effects
        ]


@dataclass(frozen=True)
class MeanTrees:
    """The candidates of models with trees, on average."""

    models: int
    weights: dict[str, float]  # of each candidate; zero where a model lacks it
    fall: float  # relative reduction of the squared error against the linear candidates

    @classmethod
    def of(cls, each: Sequence[tuple[Sequence[Candidate], float]]) -> MeanTrees:
        """Take the mean of several models, each given by its candidates and its error."""
        lines = [{c.name: c for c in candidates} for candidates, _ in each]
        names = dict.fromkeys(name for candidates in lines for name in candidates)
        linear = sum(candidates["linear"].error ** 2 for candidates in lines)
        own = sum(error**2 for _, error in each)
        return cls(
            len(each),
            {n: sum(c[n].weight for c in lines if n in c) / len(each) for n in names},
            1.0 - own / linear if linear else 0.0,
        )
