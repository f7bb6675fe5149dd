"""Tails: which distribution an estimate divided by its standard deviation has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Tails:
    """Student's distribution, or the normal one.

    Parameters
    ----------
    freedom : float, default=inf
        Degrees of freedom; infinite for the normal distribution.
    deviation : {"plugged in", "averaged"}, default="plugged in"
        What a standard deviation is: computed from an estimate of the noise, or from its mean over
        a posterior, which holds the uncertainty of the noise already.
    """

    freedom: float = float("inf")
    deviation: Literal["plugged in", "averaged"] = "plugged in"


NORMAL = Tails()
