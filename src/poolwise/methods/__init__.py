"""The registry of methods by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from poolwise.errors import BadOption
from poolwise.linear.fit import Fit
from poolwise.linear.problem import Method, Problem
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

METHODS: dict[str, type[Any]] = {
    "bayes_pooling": BayesPooling,
    "target_only": TargetOnly,
    "data_pooling": DataPooling,
    "feature_transfer": FeatureTransfer,
    "kernel_transfer": KernelTransfer,
    "source_columns_only": SourceColumnsOnly,
    "mean_fill": MeanFill,
    "offset": Offset,
    "monotone_likelihood": MonotoneLikelihood,
    "boosted_pooling": BoostedPooling,
    "derived_pooling": DerivedPooling,
    "auto": Auto,
}


def is_method(thing: Any) -> bool:
    """Return whether an object can solve a problem."""
    return not isinstance(thing, type) and hasattr(thing, "solve")


def needs_rows(method: Any) -> bool:
    """Return whether a method, or a class of methods, always learns from rows."""
    return getattr(method, "needs_rows", False) is True


def method_of(method: Any) -> Method:
    """Return a method given by name or as an object."""
    if isinstance(method, str) and method in METHODS:
        made: Method = METHODS[method]()
        return made
    if not isinstance(method, str) and is_method(method):
        own: Method = method
        return own
    raise BadOption.unknown_method(method, list(METHODS))


def with_seed(method: str, seed: int) -> Method:
    """Return a method given by name, with this seed where it draws at random."""
    made = method_of(method)
    if hasattr(made, "random_state"):
        made.random_state = seed
    return made


def solved_without(
    method: Any, problem: Problem, patterns: Sequence[Sequence[str]], fit: Fit
) -> Sequence[Fit]:
    """Return a fit for each set of features that rows lack, given the fit for complete rows."""
    if hasattr(method, "solve_without"):
        found: Sequence[Fit] = method.solve_without(problem, patterns, fit)
        return found
    return [method.solve(problem.without(lacking)) for lacking in patterns]


def name_of_method(method: Method) -> str:
    """Return the key of a method, or the name of its class if METHODS does not have it."""
    for name, kind in METHODS.items():
        if type(method) is kind:
            return name
    return type(method).__name__
