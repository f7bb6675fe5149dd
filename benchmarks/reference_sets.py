"""Datasets of NIST with certified coefficients and standard errors."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.estimates import Estimates

FOLDER = Path(__file__).parent / "nist"


@dataclass(frozen=True, eq=False)
class ReferenceSet:
    """Numbers as they are printed, the model to fit, and its certified estimates.

    Parameters
    ----------
    name : str
        Name of the set.
    rows : list of list of Fraction
        The response first, then the columns, with all the digits that are printed.
    intercept : bool
        Whether the model has one.
    degree : int or None
        Of the polynomial in the only column; None where the columns are the features.
    certified : Estimates
        Certified estimates, the intercept first.
    """

    name: str
    rows: Sequence[Sequence[Fraction]]
    intercept: bool
    degree: int | None
    certified: Estimates

    def as_printed(self) -> tuple[list[list[Fraction]], list[Fraction]]:
        """Return features and response without any rounding."""
        y = [row[0] for row in self.rows]
        if self.degree is None:
            return [list(row[1:]) for row in self.rows], y
        return [[row[1] ** k for k in range(1, self.degree + 1)] for row in self.rows], y

    def as_doubles(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return features and response as a program gets them, the powers rounded once more."""
        table = np.array([[float(v) for v in row] for row in self.rows])
        y, X = table[:, 0].copy(), table[:, 1:].copy()
        return (X if self.degree is None else X ** np.arange(1, self.degree + 1)), y


def reference_sets() -> list[ReferenceSet]:
    """Return all sets, in the order of NIST."""
    models = json.loads((FOLDER / "certified.json").read_text())
    return [_read(name, model) for name, model in models.items()]


def _read(name: str, model: dict[str, Any]) -> ReferenceSet:
    with (FOLDER / f"{name}.csv").open(newline="") as lines:
        _, *texts = csv.reader(lines)
    rows = [[Fraction(text) for text in row] for row in texts]
    certified = Estimates(np.array(model["coefficients"]), np.array(model["standard_errors"]))
    return ReferenceSet(name, rows, model["intercept"], model["polynomial_degree"], certified)
