"""Writing: a model as JSON text, the same for the same model."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy
import sklearn

from poolwise.errors import CannotSave, MomentsLeftOut
from poolwise.fitted_model import FittedModel
from poolwise.model_file.derived import derived_text
from poolwise.model_file.fits import fit_text
from poolwise.model_file.method_options import described
from poolwise.model_file.reading import options_in
from poolwise.model_file.record import FORMAT, VERSION, ModelRecord
from poolwise.model_file.tables import problem_parts
from poolwise.problem import Problem
from poolwise.strict_json import Wrong, joined, line
from poolwise.tables.columns import Column
from poolwise.tables.moments_table import Levels


def text_of(record: ModelRecord, *, moments: bool = True) -> str:
    """Write a model as JSON.

    Parameters
    ----------
    record : ModelRecord
        The model.
    moments : bool, default=True
        Whether the moments it was made from are written too.
    """
    fitted = record.fitted
    if moments and fitted.problem is None:
        raise MomentsLeftOut("saving it with them", "Save it with moments=False")
    try:
        return _text(record, fitted.problem if moments else None) + "\n"
    except ValueError as error:
        if type(error) is not ValueError:
            raise
        raise CannotSave("it holds a number that is not finite", "Fit it again") from None


def _text(record: ModelRecord, problem: Problem | None) -> str:
    fitted = record.fitted
    parts = {
        "format": line(FORMAT),
        "version": line(VERSION),
        "made_with": line(_versions()),
        "options": line(_options(record.options)),
        "method": line(described(fitted.method)),
        "response": line(fitted.response),
        "response_is_named": line(fitted.own_name is not None),
        "columns": "[\n  " + ",\n  ".join(line(_column(c)) for c in fitted.columns) + "]",
        "columns_are_named": line(record.named),
        "optional_columns": line(list(fitted.optional)),
        "levels": line([_levels(name, own) for name, own in fitted.levels.items()]),
        "cautions": line(list(fitted.cautions)),
        "reason": line(fitted.reason),
        "fit": fit_text(fitted.fit),
        "moments": "null" if problem is None else _moments(fitted, problem),
        "derived": "null"
        if fitted.derived is None
        else derived_text(fitted.derived, moments=problem is not None),
    }
    return joined(parts)


def _options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of the regressor, which a user may have changed since the fit."""
    method = given["method"]
    options = {
        "method": method if isinstance(method, str) else described(method),
        "fit_intercept": bool(given["fit_intercept"]),
        "response": given["response"],
        "unseen_level": given["unseen_level"],
        "precision": given["precision"],
    }
    try:
        options_in(options)
    except Wrong as wrong:
        raise CannotSave(str(wrong), "Set this option to what it may be") from None
    return options


def _moments(fitted: FittedModel, problem: Problem) -> str:
    pool = fitted.fit.pool
    return joined(
        {
            **problem_parts(problem),
            "pool": "null" if pool is None else pool.text().strip(),
            "working_fit": fit_text(fitted.working_fit) if problem.units else "null",
        }
    )


def _column(column: Column) -> dict[str, object]:
    return {
        "name": column.name,
        "levels": None if column.levels is None else list(column.levels),
        "full": column.full,
        "unseen": column.unseen,
    }


def _levels(name: str, levels: Levels | None) -> dict[str, object]:
    if levels is None:
        return {"name": name, "reference": None, "indicated": None}
    return {"name": name, "reference": levels.reference, "indicated": list(levels.indicated)}


def _versions() -> dict[str, str]:
    """Return what the last bits of a fit may depend on, and nothing of who made it, or when."""
    own = sys.modules[__name__.partition(".")[0]]  # cannot be imported from here: it imports us
    return {
        "poolwise": str(getattr(own, "__version__", "")),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }
