"""Regression on a small target and on sources that lack some of its columns."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from poolwise.evaluation import diagnose as diagnose
    from poolwise.evaluation import plan as plan
    from poolwise.evaluation.compare import compare as compare
    from poolwise.evaluation.comparison import Comparison as Comparison
    from poolwise.evaluation.target_split import TargetSplit as TargetSplit
    from poolwise.linear.linear_fit import LinearFit as LinearFit
    from poolwise.linear.problem import Problem as Problem
    from poolwise.methods import METHODS as METHODS
    from poolwise.model.regressor import PooledRegressor as PooledRegressor
    from poolwise.model.saving import SKOPS_TRUSTED as SKOPS_TRUSTED
    from poolwise.moments.moments import Moments as Moments
    from poolwise.moments.published_model import published_model as published_model
    from poolwise.report import Report as Report
    from poolwise.report import report as report
    from poolwise.tables.files import Files as Files
    from poolwise.tables.moments_of import moments_by_pattern as moments_by_pattern
    from poolwise.tables.moments_of import moments_of as moments_of
    from poolwise.tables.sources import Sources as Sources

__version__ = "0.1.0"

# Module of each public name, in the order data meets them. Names are imported on first access, so
# that the help of the command line does not wait for numpy and scikit-learn.
_HOMES = {
    "Moments": "moments.moments",
    "published_model": "moments.published_model",
    "Files": "tables.files",
    "moments_of": "tables.moments_of",
    "moments_by_pattern": "tables.moments_of",
    "Sources": "tables.sources",
    "Problem": "linear.problem",
    "LinearFit": "linear.linear_fit",
    "METHODS": "methods",
    "PooledRegressor": "model.regressor",
    "SKOPS_TRUSTED": "model.saving",
    "diagnose": "evaluation",
    "plan": "evaluation",
    "TargetSplit": "evaluation.target_split",
    "Comparison": "evaluation.comparison",
    "compare": "evaluation.compare",
    "Report": "report",
    "report": "report",
}
__all__ = [*_HOMES]


class _Package(ModuleType):
    """A package whose functions are not hidden by modules of the same name."""

    def __setattr__(self, name: str, value: object) -> None:
        # Importing the module poolwise.report must not hide the function poolwise.report.
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        found = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = found
        return found
    if not name.startswith("_") and find_spec(f"{__name__}.{name}") is not None:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
