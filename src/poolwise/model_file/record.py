"""FittedModel: all that is kept of a fit; ModelRecord: that, and how it was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from poolwise.fit import LinearFit
from poolwise.problem import Method, Problem
from poolwise.tables.columns import Column
from poolwise.tables.moments_table import Levels

FORMAT, VERSION = "poolwise model", 1


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A fitted model, without the rows it was made from.

    Parameters
    ----------
    method : Method
        The method that made the fit.
    columns : tuple of Column
        The raw columns and their encoding.
    optional : tuple of str
        Raw columns that rows to predict may lack.
    response : str
        Name of the response.
    own_name : str or None
        The name that the response itself brought along.
    levels : mapping of str to Levels or None
        The columns as moments are matched with them in an update.
    fit : LinearFit
        The fit.
    working_fit : LinearFit
        The same in the units of the problem.
    problem : Problem or None
        The moments it was made from, unless they are left out.
    cautions : tuple of str
        Warnings given at fit.
    """

    method: Method
    columns: tuple[Column, ...]
    optional: tuple[str, ...]
    response: str
    own_name: str | None
    levels: Mapping[str, Levels | None]
    fit: LinearFit
    working_fit: LinearFit
    problem: Problem | None
    cautions: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class ModelRecord:
    """What a model file holds.

    Parameters
    ----------
    options : mapping of str to object
        Parameters of the regressor.
    named : bool
        Whether the columns of ``X`` had names.
    fitted : FittedModel
        The fitted model.
    """

    options: Mapping[str, Any]
    named: bool
    fitted: FittedModel
