"""The model file as a whole: its declaration, and how a fitted model is written and restored."""

from __future__ import annotations

import dataclasses
import platform
import sys
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
import scipy
import sklearn
from msgspec import Meta
from msgspec.structs import asdict

from poolwise.errors import NeedsRows
from poolwise.linear import linear_record
from poolwise.linear.linear_record import ModelMomentsRecord
from poolwise.linear.problem import Problem
from poolwise.linear.response_transform import ResponseTransform
from poolwise.methods.boosting import tree_record
from poolwise.model.fitted_model import FittedModel
from poolwise.model.model_file.method_records import (
    MethodName,
    MethodRecord,
    method_in,
    not_saved,
    record_of,
)
from poolwise.moments.json_format import UNIQUE, Format, JsonObject, check_distinct, reason
from poolwise.moments.moments_json import record_of as record_of_moments
from poolwise.tables.column_account import Account
from poolwise.tables.encoding import Column, Levels, encoded
from poolwise.tables.text_values import DATES, parts_of
from poolwise.wording import listed

Transform = Literal["log", "sqrt"] | None
# A new kind of `Fit` has `record()`, a record beside it that restores it, and its place in these.
FitRecord = linear_record.LinearRecord | tree_record.TreesRecord
FIT_TYPES: tuple[type, ...] = (*linear_record.TYPES, *tree_record.TYPES)


class OptionsRecord(JsonObject):
    """Parameters of the regressor, which a later fit or update follows."""

    method: MethodName | MethodRecord
    fit_intercept: bool
    response: str
    response_transform: Transform
    max_levels: int
    strict: bool
    precision: Literal["auto", "fast", "accurate", "exact"]


class ColumnRecord(JsonObject):
    """A column of a table to predict.

    levels: levels of a column of texts, the reference level first; null for numbers and dates
    full: whether the reference level has a coefficient too
    kind: digits are numbers stored as text; month/day and day/month are dates with slashes
    other: the level that texts count as that are not a level, or null
    means: without such a level, the shares of the indicators, which are used for these texts
    aliases: other spellings, each with the level it stands for
    strict: whether a text that is not a level raises an error
    parts: month and weekday of a column of dates, beside its trend in days since 1970
    """

    name: str
    levels: Annotated[tuple[str, ...], UNIQUE] | None
    full: bool
    kind: Literal["number", "digits", "text", "date", "month/day", "day/month"]
    other: str | None
    means: tuple[float, ...]
    aliases: tuple[tuple[str, str], ...]
    strict: bool
    parts: tuple[ColumnRecord, ...]

    def __post_init__(self) -> None:
        if (self.levels is None) != (self.kind != "text"):
            raise ValueError("a column has `levels` if its `kind` is text, and no others")
        if self.levels is None and (self.full or self.other or self.means or self.aliases):
            raise ValueError("a column without levels cannot be `full` or have other levels")
        levels = self.levels or ()
        check_distinct("level", [*levels, *(alias for alias, _ in self.aliases)])
        known = [*(level for _, level in self.aliases), *([self.other] if self.other else [])]
        if any(level not in levels for level in known):
            raise ValueError("`other` and `aliases` are not levels")
        if self.means and len(self.means) != len(levels) - (not self.full):
            raise ValueError("`means` has not one share for each indicator")
        if any(part.levels is None for part in self.parts) or (
            self.parts and self.kind not in DATES
        ):
            raise ValueError("`parts` are columns of texts, of a column of dates")
        called = parts_of(self.name)
        if any(part.name not in called for part in self.parts):
            raise ValueError("`parts` are named as month and weekday of their column")

    def column(self) -> Column:
        """Return the column."""
        given = {key: getattr(self, key) for key in self.__struct_fields__}
        return Column(**{**given, "parts": tuple(part.column() for part in self.parts)})


class LevelsRecord(JsonObject):
    """The levels of a column as moments are matched with them in an update.

    reference: the level without an indicator; null where none is known
    indicated: levels with an indicator
    column: what other levels count as; null if they are an error
    """

    reference: str | None
    indicated: tuple[str, ...]
    column: ColumnRecord | None

    def __post_init__(self) -> None:
        check_distinct("level", self.indicated)

    def restored(self) -> Levels:
        """Return the levels."""
        column = None if self.column is None else self.column.column()
        return Levels(self.reference, self.indicated, column)


class ModelFile(JsonObject, dict=True):
    """A fitted model, as poolwise.PooledRegressor.save writes it.

    Numbers are doubles: read them with a parser that rounds correctly. Features are the columns in
    their order, a column of levels as name=level for each level but the first, or for all if full;
    no two of them and the response are alike.

    made_with: versions of the packages that wrote the file; nothing depends on them
    method: the method that made the fit
    response_transform: the response of the fit and of all moments is this function of the response,
      and has the name log(response) or sqrt(response) in moments; null if it is the response itself
    response_is_named: whether the response had this name itself, and needs it in an update
    columns_are_named: whether columns had names at fit, or were named x0, x1, ... by poolwise
    optional_columns: columns, in their order, that a row to predict may lack if there are moments
    cautions: warnings given at fit
    account: what each column was, what was done with it, and why; null for moments alone
    fit: its linear fit has the features of the model as names, followed by derived columns
    moments: null if they were left out
    """

    format: Literal["poolwise model"]
    version: Literal[1]
    made_with: Annotated[dict[str, str], Meta(min_length=1)]
    options: OptionsRecord
    method: MethodRecord
    response: str
    response_transform: Transform
    response_is_named: bool
    columns: Annotated[list[ColumnRecord], Meta(min_length=1)]
    columns_are_named: bool
    optional_columns: list[str]
    levels: dict[str, LevelsRecord | None]
    cautions: list[str]
    account: Account | None
    fit: FitRecord
    moments: ModelMomentsRecord | None

    def __post_init__(self) -> None:
        _ = self.fitted

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters of the regressor."""
        given = asdict(self.options)
        if isinstance(given["method"], JsonObject):
            given["method"] = method_in(given["method"])
        return given

    @cached_property
    def fitted(self) -> FittedModel:
        """The fitted model."""
        check_distinct("column", [c.name for c in self.columns])
        columns = tuple(c.column() for c in self.columns)
        features, problem = encoded(columns), None
        transform = ResponseTransform.of(self.response_transform)
        response = transform.named(self.response)
        check_distinct("column, level or response", [*features, response])
        optional = set(self.optional_columns)
        if self.optional_columns != [c.name for c in columns if c.name in optional]:
            raise ValueError("`optional_columns` are not some of the columns, in their order")
        fit = self.fit.restored(features, response, self.moments)
        if self.moments is not None:
            problem = self.moments.problem(features, response, self.moments.intercept)
            line = fit.parts().linear
            sources = {*line.source_noise, *line.weights, *line.conflict}
            if unknown := sorted(sources - problem.sources.keys()):
                raise ValueError(f"`moments` lacks sources of the fit: {listed(unknown)}")
        return FittedModel(
            method=method_in(self.method),
            columns=columns,
            optional_columns=self.optional_columns,
            response=self.response,
            transform=transform,
            own_name=self.response if self.response_is_named else None,
            levels={
                name: None if own is None else own.restored() for name, own in self.levels.items()
            },
            fit=fit,
            problem=problem,
            cautions=tuple(self.cautions),
            account=self.account,
        )


FORMAT = Format("poolwise model", 1, ModelFile)


def text_of(
    model: FittedModel, parameters: Mapping[str, Any], *, are_named: bool, moments: bool
) -> str:
    """Return the content of a model file, with or without the moments it was made from."""
    if moments and model.problem is None:
        raise NeedsRows.moments_left_out("saving it with them", "Save it with moments=False.")
    if not (model.transform.option is None or isinstance(model.transform.option, str)):
        why = f"its response is transformed by functions, {model.transform.name}"
        raise not_saved(why, 'Model files hold "log" and "sqrt". pickle can save functions.')
    record = {
        "made_with": _versions(),
        "options": _options(parameters),
        "method": record_of(model.method),
        "response": model.response,
        "response_transform": model.transform.option,
        "response_is_named": model.own_name is not None,
        "columns": [_column(column) for column in model.columns],
        "columns_are_named": are_named,
        "optional_columns": model.optional_columns,
        "levels": {
            name: None if own is None else _levels(own) for name, own in model.levels.items()
        },
        "cautions": model.cautions,
        "account": None if model.account is None else dataclasses.asdict(model.account),
        "fit": model.fit.record(),
        "moments": _moments(model, model.problem) if moments and model.problem else None,
    }
    try:
        return FORMAT.encode(record)
    except ValueError:
        raise not_saved("it holds a number that is not finite", "Fit it again.") from None


def _column(column: Column) -> dict[str, Any]:
    """Return the attributes of a column that its record declares."""
    given = {key: getattr(column, key) for key in ColumnRecord.__struct_fields__}
    return {**given, "parts": [_column(part) for part in column.parts]}


def _levels(levels: Levels) -> dict[str, Any]:
    column = None if levels.column is None else _column(levels.column)
    return {"reference": levels.reference, "indicated": levels.indicated, "column": column}


def _options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the regressor, which a user may have changed since the fit."""
    options = {name: given[name] for name in OptionsRecord.__struct_fields__}
    options["fit_intercept"] = bool(options["fit_intercept"])
    options["strict"] = bool(options["strict"])
    if not isinstance(options["method"], str):
        options["method"] = record_of(options["method"])
    try:
        msgspec.convert(options, OptionsRecord)
    except msgspec.ValidationError as error:
        why = f"among its parameters, {reason(error)}"
        raise not_saved(why, "Set this parameter to a valid value.") from None
    return options


def _moments(model: FittedModel, problem: Problem) -> dict[str, Any]:
    parts = model.fit.parts()
    return {
        "intercept": bool(problem.intercept),
        **_tables(problem),
        "pool": None if parts.linear.pool is None else record_of_moments(parts.linear.pool),
        "derived": None if parts.problem is None else _tables(parts.problem),
    }


def _tables(problem: Problem) -> dict[str, Any]:
    sources = {name: record_of_moments(source) for name, source in problem.sources.items()}
    return {"target": record_of_moments(problem.target), "sources": sources}


def _versions() -> dict[str, str]:
    """Return the versions that the last bits of a fit may depend on, without user or date."""
    own = sys.modules[__name__.partition(".")[0]]  # cannot be imported from here: it imports us
    return {
        "poolwise": str(getattr(own, "__version__", "")),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }
