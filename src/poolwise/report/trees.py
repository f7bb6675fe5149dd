"""Trees: what a model that is not linear is made of, and what its new columns do."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from poolwise.summary import Summary

# Standard errors to each side of an effect: they come from ten groups, so nine degrees of freedom.
WIDTH = 2.26


def trees(summary: Summary) -> dict[str, Any] | None:
    """Return candidates, their weights and the effects of new columns; None of a linear model.

    Parameters
    ----------
    summary : Summary
        Of the model.
    """
    own = summary.trees
    if own is None:
        return None
    return {
        "text": own.text if not summary.reason else summary.reason,
        "error": own.error,
        "candidates": [asdict(c) for c in own.candidates],
        "effects": [
            {
                **asdict(e),
                "low": e.change - WIDTH * e.change_deviation,
                "high": e.change + WIDTH * e.change_deviation,
            }
            for e in own.effects
        ],
    }
