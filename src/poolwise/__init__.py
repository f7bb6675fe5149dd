"""poolwise: the best linear model when history lacks the new columns."""

from poolwise.comparison import Comparison
from poolwise.cross_validation import compare
from poolwise.diagnostics import diagnose, plan
from poolwise.exports.skops_types import SKOPS_TRUSTED
from poolwise.fit import LinearFit
from poolwise.methods import METHODS
from poolwise.moments import Moments
from poolwise.moments_of import moments_by_pattern, moments_of
from poolwise.problem import Problem
from poolwise.published_model import published_model
from poolwise.regressor import PooledRegressor
from poolwise.report import Report, report
from poolwise.splits import TargetSplit
from poolwise.tables.files import Files
from poolwise.tables.sources import Sources

__version__ = "0.1.0"

__all__ = [  # noqa: RUF022  in the order data meets them
    "Moments",
    "published_model",
    "Files",
    "moments_of",
    "moments_by_pattern",
    "Sources",
    "Problem",
    "LinearFit",
    "METHODS",
    "PooledRegressor",
    "SKOPS_TRUSTED",
    "diagnose",
    "plan",
    "TargetSplit",
    "Comparison",
    "compare",
    "Report",
    "report",
]
