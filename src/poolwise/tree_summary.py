"""Tree summary: what a model with trees is made of, and what its new columns do."""

from __future__ import annotations

from dataclasses import dataclass

from poolwise.boosting.partial_effects import PartialEffect
from poolwise.boosting.stack import Stack

WORDS = {
    "linear": "Bayes pooling on the columns as they are",
    "derived": "Bayes pooling with a column that trees learnt from history",
    "target_line": "Bayes pooling without history, on the target rows alone",
    "pooled_trees": "trees on all rows, as many as predict history best",
    "all_pooled_trees": "trees on all rows, all of them",
    "target_trees": "trees on the target rows alone, of eight leaves",
    "deep_target_trees": "trees on the target rows alone, of thirty-one leaves",
    "corrected": "Bayes pooling with that column, and trees on what it leaves",
}


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
        """Return the table of candidates: names of its columns, and its rows."""
        rows = [[c.name, f"{c.weight:.0%}", f"{c.error:.5g}", c.words] for c in self.candidates]
        return ["candidate", "weight", "error", "what it is"], rows

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
