"""Warnings from methods: what the data did not determine, and what was done instead."""

from __future__ import annotations

from collections.abc import Sequence

from poolwise.errors.family import TransferWarning
from poolwise.wording import listed

LEAST_NORM = "the ones of least norm (in units of standard deviations) were taken"


class RankDeficient(TransferWarning):
    """Columns that are linear combinations of others."""

    def __init__(self, dependent: Sequence[str], where: str, taken: str = LEAST_NORM) -> None:
        super().__init__(
            f"In {where}, the columns {listed(dependent)} are linearly dependent: their "
            f"coefficients are not determined by the data, and {taken}. Predictions are "
            "not affected where the same relation holds; drop one of these columns to get unique "
            "coefficients."
        )


class DigitsLost(TransferWarning):
    """Columns so nearly dependent that rounding leaves few digits of the coefficients."""

    def __init__(self, where: str, error: float, better: str = "accurate") -> None:
        super().__init__(
            f"The columns of {where} are so nearly dependent that rounding may change the "
            f"coefficients by a share of {error:.0e}. Read the rows with precision={better!r}; "
            "moments that are already taken must be taken again."
        )


class VarianceLeftOut(TransferWarning):
    """Noise or standard errors that no double can hold."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(
            f"The numbers in {listed(names)} are so large or so small that the noise or the "
            "standard errors are beyond double precision: they are left out. Multiply or divide "
            "these columns by a power of ten to have them."
        )


class NoiseNotEstimable(TransferWarning):
    """A residual variance that is zero or has no degrees of freedom."""

    def __init__(self, where: str, why: str, then: str) -> None:
        super().__init__(f"The noise of {where} cannot be estimated: {why}. {then}")


class OptionIgnored(TransferWarning):
    """An option that names something which is not there."""

    def __init__(self, option: str, names: Sequence[str], what: str, there: Sequence[str]) -> None:
        super().__init__(
            f"{option} names {listed(names)}, and there are no such {what}: ignored. "
            f"There are {listed(there)}."
        )


class SourceLeftOut(TransferWarning):
    """A source that a method cannot use beside the others."""

    def __init__(self, method: str, sources: Sequence[str], why: str) -> None:
        super().__init__(
            f"{method} left out {listed(sources)}: {why}. data_pooling takes sources of any "
            "features and any number of rows."
        )


class PredictionsBounded(TransferWarning):
    """Predictions far outside of all responses that were seen."""

    def __init__(self, count: int, rows: int, bounds: tuple[float, float]) -> None:
        low, high = bounds
        super().__init__(
            f"{count:,} of {rows:,} predictions fell outside of the bounds, {low:.5g} to "
            f"{high:.5g}, and are held there: a linear model is not to be trusted far from its "
            "data. Look at the features of these rows, or switch the bounds off with "
            "method=BayesPooling(bounds=None)."
        )
