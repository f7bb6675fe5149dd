"""Errors about methods, their options, and questions that a fit cannot answer."""

from __future__ import annotations

from collections.abc import Sequence

from poolwise.errors.family import TransferError
from poolwise.wording import did_you_mean, listed


class UnknownMethod(TransferError):
    """A method name that is not registered."""

    def __init__(self, name: object, there: Sequence[str]) -> None:
        hint = did_you_mean(name, there)
        if isinstance(name, type):
            hint = f" {name.__name__} is a class: write {name.__name__}()."
        super().__init__(f"No method named {name!r}. There are {listed(there)}.{hint}")


class BadOption(TransferError):
    """An option that is not one of its values."""

    def __init__(self, option: str, value: object, allowed: str) -> None:
        super().__init__(f"{option}={value!r} is not possible. It must be {allowed}.")


class NeedsRows(TransferError):
    """A method that reads rows was given moments alone."""

    def __init__(self, method: str, sources: Sequence[str]) -> None:
        super().__init__(
            f"{method} reads the rows of every source that lacks a column, and of "
            f"{listed(sources)} only moments are at hand. Give the rows, or use feature_transfer, "
            "which needs moments alone."
        )


class NeedsTargetRows(TransferError):
    """A method that learns from rows was given a target as moments alone, or an update."""

    def __init__(self, method: str) -> None:
        super().__init__(
            f"{method} learns from rows, and of the target only moments are at hand: it can "
            "neither be fitted to moments nor updated. Fit it to all rows again, or use "
            "bayes_pooling, which needs moments alone."
        )


class NoCoefficients(TransferError, AttributeError):
    """Coefficients of a model that is not linear."""

    def __init__(self, attribute: str, method: str) -> None:
        super().__init__(
            f"There is no {attribute}: {method} is a weighted mean of linear models and trees. "
            "summary() has the weights and what each new column does; fit_ is the linear "
            "candidate with derived columns; derived_pooling and bayes_pooling have coefficients."
        )


class NotALine(TransferError):
    """A model with trees where only a line can be written."""

    def __init__(self, method: str) -> None:
        super().__init__(
            f"scikit-learn, ONNX and SQL get linear models from here, and this one of {method} has "
            "trees in it. save() keeps all of it; bayes_pooling gives a model that is a line."
        )


class NoUncertainty(TransferError):
    """A question about uncertainty that a fit cannot answer."""

    def __init__(self, method: str) -> None:
        super().__init__(
            f"This fit of {method} has no standard deviation of its predictions: its theory gives "
            "no covariance, or the noise of the target could not be estimated. bayes_pooling "
            "has one wherever the response varies; target_only and data_pooling have one where "
            "the target has more rows than coefficients."
        )


class SingularTarget(TransferError):
    """A theory that needs a target which determines its coefficients."""

    def __init__(self, rank: int, coefficients: int) -> None:
        super().__init__(
            f"The target determines {rank} of {coefficients} coefficients, so the variance of "
            "target-only least squares is infinite and there is no gain to compute. Leave out "
            "dependent features, or collect more rows."
        )


class TooFewToCompare(TransferError):
    """A target too small for cross-validation."""

    def __init__(self, rows: int, needed: int) -> None:
        super().__init__(
            f"The target has {rows} complete rows, and cross-validation needs at least {needed}. "
            "Collect more rows before comparing methods."
        )


class TooFewRows(TransferError):
    """Fewer rows than the method can live with."""

    def __init__(self, method: str, rows: float, needed: int, instead: str) -> None:
        super().__init__(
            f"{method} needs a target of at least {needed} rows here and has {rows:g}. "
            f"Use {instead}, or collect more rows."
        )
