"""The registry of methods by name.

Importing this package imports no method. The command line lists their names in its help, which
should not wait for numpy.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from poolwise.errors import BadOption

if TYPE_CHECKING:
    from poolwise.linear.fit import Fit
    from poolwise.linear.problem import Method, Problem
    from poolwise.methods.auto import Auto as Auto
    from poolwise.methods.bayes_pooling import BayesPooling as BayesPooling
    from poolwise.methods.boosted_pooling import BoostedPooling as BoostedPooling
    from poolwise.methods.data_pooling import DataPooling as DataPooling
    from poolwise.methods.derived_pooling import DerivedPooling as DerivedPooling
    from poolwise.methods.feature_transfer import FeatureTransfer as FeatureTransfer
    from poolwise.methods.kernel_transfer import KernelTransfer as KernelTransfer
    from poolwise.methods.mean_fill import MeanFill as MeanFill
    from poolwise.methods.monotone_likelihood import MonotoneLikelihood as MonotoneLikelihood
    from poolwise.methods.offset import Offset as Offset
    from poolwise.methods.source_columns_only import SourceColumnsOnly as SourceColumnsOnly
    from poolwise.methods.target_only import TargetOnly as TargetOnly
    from poolwise.methods.target_ridge import TargetRidge as TargetRidge

METHODS: dict[str, type[Any]]  # made by __getattr__
DEFAULT_METHOD = "bayes_pooling"

# The name of each method, and its label in the report. File, class and name agree:
# "data_pooling" is the class DataPooling in data_pooling.py.
METHOD_LABELS = {
    "bayes_pooling": "Bayes pooling",
    "target_only": "Least squares on the recent rows, history dropped",
    "target_ridge": "Ridge regression on the recent rows, history dropped",
    "data_pooling": "Data pooling: new columns at their mean, rows weighed",
    "feature_transfer": "New columns predicted from old ones, linearly",
    "kernel_transfer": "New columns predicted from old ones, by a kernel",
    "source_columns_only": "New columns dropped, all rows stacked",
    "mean_fill": "New columns filled with their mean, all rows stacked",
    "offset": "Old model, corrected by the new columns",
    "monotone_likelihood": "Maximum likelihood of all columns",
    "boosted_pooling": "Bayes pooling and boosted trees, weighed",
    "derived_pooling": "Bayes pooling with a column that trees learnt from history",
    "auto": "Bayes pooling, with boosted trees if they predict better",
}


def is_method(thing: Any) -> bool:
    """Return whether an object can solve a problem."""
    return not isinstance(thing, type) and hasattr(thing, "solve")


def needs_rows(method: Any) -> bool:
    """Return whether a method, or a class of methods, always learns from rows."""
    return getattr(method, "needs_rows", False) is True


def method_of(method: Any) -> Method:
    """Return a method given by name or as an object."""
    if isinstance(method, str) and method in _methods():
        made: Method = _methods()[method]()
        return made
    if not isinstance(method, str) and is_method(method):
        own: Method = method
        return own
    raise BadOption.unknown_method(method, list(_methods()))


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
    for name, kind in _methods().items():
        if type(method) is kind:
            return name
    return type(method).__name__


def __getattr__(name: str) -> Any:
    """Return ``METHODS``, or the class of a method."""
    if name == "METHODS":
        return _methods()
    for key in METHOD_LABELS:
        if name == _class_name(key):
            return _methods()[key]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), "METHODS", *map(_class_name, METHOD_LABELS)})


@cache
def _methods() -> dict[str, type[Any]]:
    return {
        key: getattr(import_module(f"{__name__}.{key}"), _class_name(key)) for key in METHOD_LABELS
    }


def _class_name(key: str) -> str:
    return "".join(word.capitalize() for word in key.split("_"))
