"""Evidence: how large errors were on target rows that what predicts them had not seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from poolwise.double_double import Array


@dataclass(frozen=True)
class Evidence:
    """Errors of each candidate, and of their weighted mean against the linear one.

    Parameters
    ----------
    rows : int
        Target rows.
    errors : mapping of str to float
        Root of the mean squared error of each candidate.
    error : float
        That of the weighted mean, with weights that the row has had no say in.
    fall : float
        By what share its mean squared error is below that of ``linear``.
    fall_error : float
        Standard error of that, from the rows' differences.
    """

    rows: int
    errors: Mapping[str, float]
    error: float
    fall: float
    fall_error: float

    @classmethod
    def of(cls, errors: Mapping[str, Array], own: Array, weights: Array) -> Evidence:
        """Sum up errors of rows.

        Parameters
        ----------
        errors : mapping of str to array
            Errors of each candidate.
        own : array
            Errors of the weighted mean.
        weights : array
            Of the rows.
        """
        before = _root_mean(errors["linear"], weights) or 1.0
        falls = (errors["linear"] / before) ** 2 - (own / before) ** 2
        fall = float(np.average(falls, weights=weights))
        count = float(weights.sum()) ** 2 / float((weights**2).sum())
        spread = float(np.average((falls - fall) ** 2, weights=weights))
        return cls(
            rows=len(own),
            errors={name: _root_mean(e, weights) for name, e in errors.items()},
            error=_root_mean(own, weights),
            fall=fall,
            fall_error=float(np.sqrt(spread / max(count - 1.0, 1.0))),
        )

    @property
    def sureness(self) -> float:
        """How many standard errors the fall is above zero."""
        if self.fall_error:
            return self.fall / self.fall_error
        return float(np.sign(self.fall)) * np.inf if self.fall else 0.0

    def in_words(self) -> str:
        """Say what the target's rows say of the part that is not linear."""
        change = f"{abs(self.fall):.0%} {'lower' if self.fall > 0.0 else 'higher'} than"
        return (
            f"On the {self.rows:,} target rows, each predicted by models that had not seen it, the "
            f"mean squared error with trees is {change if self.fall else 'the same as'} that of "
            f"the linear model ({abs(self.sureness):.1f} standard errors)"
        )

    def times_units(self, response: int) -> Evidence:
        """Return the evidence for a response that had been divided by a power of two."""
        return Evidence(
            self.rows,
            {name: float(np.ldexp(e, response)) for name, e in self.errors.items()},
            float(np.ldexp(self.error, response)),
            self.fall,
            self.fall_error,
        )


def _root_mean(errors: Array, weights: Array) -> float:
    return float(np.sqrt(np.average(errors**2, weights=weights)))
