"""METHODS: every method by its name, for the regressor, comparisons and experiments."""

from __future__ import annotations

from typing import Any

from poolwise.errors import UnknownMethod
from poolwise.methods.bayes_pooling import BayesPooling
from poolwise.methods.data_pooling import DataPooling
from poolwise.methods.feature_transfer import FeatureTransfer
from poolwise.methods.kernel_transfer import KernelTransfer
from poolwise.methods.mean_fill import MeanFill
from poolwise.methods.monotone_likelihood import MonotoneLikelihood
from poolwise.methods.offset import Offset
from poolwise.methods.source_columns_only import SourceColumnsOnly
from poolwise.methods.target_only import TargetOnly
from poolwise.problem import Method

METHODS: dict[str, type[Method]] = {
    "bayes_pooling": BayesPooling,
    "target_only": TargetOnly,
    "data_pooling": DataPooling,
    "feature_transfer": FeatureTransfer,
    "kernel_transfer": KernelTransfer,
    "source_columns_only": SourceColumnsOnly,
    "mean_fill": MeanFill,
    "offset": Offset,
    "monotone_likelihood": MonotoneLikelihood,
}


def method_of(method: Any) -> Method:
    """Return a method given by name or as an object."""
    if isinstance(method, str) and method in METHODS:
        return METHODS[method]()
    if not isinstance(method, str | type) and hasattr(method, "solve"):
        solver: Method = method
        return solver
    raise UnknownMethod(method, list(METHODS))


def name_of_method(method: Method) -> str:
    """Return the key of a method, or the name of its class where it is not one of ours."""
    for name, kind in METHODS.items():
        if type(method) is kind:
            return name
    return type(method).__name__
