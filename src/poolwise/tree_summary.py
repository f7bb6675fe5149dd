"""Tree summary: what a model with trees is made of, and what its new columns do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from poolwise.boosting.partial_effects import PartialEffect
from poolwise.boosting.stack import Stack

WORDS = {
    "linear": "Bayes pooling on the columns as they are",
    "derived": "Bayes pooling with a column learnt by trees",
    "target_line": "Bayes pooling on the target rows alone",
    "pooled_trees": "trees on all rows, as many as predict history best",
    "all_pooled_trees": "trees on all rows, all that were grown",
    "target_trees": "trees on the target rows alone, of 8 leaves",
    "deep_target_trees": "trees on the target rows alone, of 31 leaves",
    "corrected": "Bayes pooling with that column, corrected by trees",
}
MEAN = "weighted mean", "the prediction: a mean of these, by their weights"


@dataclass(frozen=True)
class CandidateLine:
    """One of the models whose weighted mean predicts.

    Parameters
    ----------
    name : str
        Its name.
    words : str
        What it is.
    weight : float
        Its share of the prediction.
    error : float
        Root of its mean squared error on target rows that it had not seen.
    """

    name: str
    words: str
    weight: float
    error: float


@dataclass(frozen=True)
class TreeSummary:
    """What a weighted mean of linear models and trees is made of.

    Parameters
    ----------
    candidates : tuple of CandidateLine
        The models.
    error : float
        Root of the mean squared error of the mean, on target rows that had no say in it.
    text : str
        What the part that is not linear adds, in words.
    effects : tuple of PartialEffect
        What predictions do as a new column moves and the others stay.
    """

    candidates: tuple[CandidateLine, ...]
    error: float
    text: str
    effects: tuple[PartialEffect, ...]

    @classmethod
    def of(cls, stack: Stack) -> TreeSummary:
        """Sum up a weighted mean of candidates."""
        evidence, names = stack.evidence, stack.candidates.names
        return cls(
            candidates=tuple(
                CandidateLine(name, WORDS[name], float(weight), evidence.errors[name])
                for name, weight in zip(names, stack.weights, strict=True)
            ),
            error=evidence.error,
            text=f"{evidence.in_words()}.",
            effects=stack.effects,
        )

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
class MeanEffect:
    """What a new column does, on average over models.

    Parameters
    ----------
    feature : str
        The column.
    low, high : float
        From which value to which it goes.
    change : float
        By how much the mean prediction changes.
    std_error : float
        Standard error of that in one model: the root of the mean square of all of them.
    """

    feature: str
    low: float
    high: float
    change: float
    std_error: float


@dataclass(frozen=True)
class MeanTrees:
    """What models with trees are made of, on average.

    Parameters
    ----------
    models : int
        How many.
    weights : dict of str to float
        The weight of each candidate; one that is not there has none.
    fall : float
        By what share their mean squared error is below that of their linear candidates, on target
        rows that neither had seen.
    effects : tuple of MeanEffect
        What new columns do.
    """

    models: int
    weights: dict[str, float]
    fall: float
    effects: tuple[MeanEffect, ...]

    @classmethod
    def of(cls, each: Sequence[TreeSummary]) -> MeanTrees:
        """Take the mean of several models."""
        lines = [{c.name: c for c in summary.candidates} for summary in each]
        names = dict.fromkeys(name for candidates in lines for name in candidates)
        linear = sum(candidates["linear"].error ** 2 for candidates in lines)
        own = sum(summary.error**2 for summary in each)
        effects: dict[str, list[PartialEffect]] = {}
        for effect in (e for summary in each for e in summary.effects):
            effects.setdefault(effect.feature, []).append(effect)
        return cls(
            len(each),
            {n: sum(c[n].weight for c in lines if n in c) / len(each) for n in names},
            1.0 - own / linear if linear else 0.0,
            tuple(_mean_effect(feature, found) for feature, found in effects.items()),
        )


def _mean_effect(feature: str, each: Sequence[PartialEffect]) -> MeanEffect:
    return MeanEffect(
        feature,
        low=float(np.mean([e.values[0] for e in each])),
        high=float(np.mean([e.values[-1] for e in each])),
        change=float(np.mean([e.change for e in each])),
        std_error=float(np.sqrt(np.mean([e.change_deviation**2 for e in each]))),
    )
