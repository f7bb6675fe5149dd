"""poolwise: the best linear model when history lacks the new columns."""

from poolwise.methods import METHODS
from poolwise.moments import Moments
from poolwise.regressor import PooledRegressor
from poolwise.tables.sources import Sources

__version__ = "0.1.0"
__all__ = ["METHODS", "Moments", "PooledRegressor", "Sources"]
