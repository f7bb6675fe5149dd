"""METHODS and ROW_METHODS: every method by its name, for the regressor and comparisons."""

from __future__ import annotations

from typing import Any

from poolwise.answer import AnyMethod, RowMethod, is_method
from poolwise.errors import UnknownMethod
from poolwise.methods.auto import Auto
from poolwise.methods.bayes_pooling import BayesPooling
from poolwise.methods.boosted_pooling import BoostedPooling
from poolwise.methods.data_pooling import DataPooling
from poolwise.methods.derived_pooling import DerivedPooling
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

# These read rows, and what they say need not be linear.
ROW_METHODS: dict[str, type[RowMethod]] = {
    "boosted_pooling": BoostedPooling,
    "derived_pooling": DerivedPooling,
    "auto": Auto,
}
METHOD_NAMES = (*METHODS, *ROW_METHODS)


def method_of(method: Any) -> AnyMethod:
    """Return a method given by name or as an object."""
    if isinstance(method, str) and method in METHOD_NAMES:
        return (METHODS | ROW_METHODS)[method]()
    if not isinstance(method, str) and is_method(method):
        solver: AnyMethod = method
        return solver
    raise UnknownMethod(method, list(METHOD_NAMES))


def name_of_method(method: AnyMethod) -> str:
    """Return the key of a method, or the name of its class where it is not one of ours."""
    for name, kind in (METHODS | ROW_METHODS).items():
        if type(method) is kind:
            return name
    return type(method).__name__
