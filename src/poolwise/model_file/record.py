"""ModelRecord: a fitted model, and how it was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from poolwise.fitted_model import FittedModel

FORMAT, VERSION = "poolwise model", 1


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
