"""Reading: a model from JSON text, or the reason why it is none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, cast

from poolwise.errors import UnreadableModel
from poolwise.fitted_model import FittedModel
from poolwise.methods import METHOD_NAMES
from poolwise.model_file.derived import derived_in
from poolwise.model_file.fits import fit_in
from poolwise.model_file.method_options import method_in
from poolwise.model_file.record import FORMAT, VERSION, ModelRecord
from poolwise.model_file.tables import KEYS as TABLES
from poolwise.model_file.tables import moments_in, problem_in
from poolwise.precision import PRECISIONS
from poolwise.strict_json import (
    MOST_BYTES,
    AnyPath,
    Wrong,
    choice,
    document,
    entries,
    fields,
    flag,
    names,
    parsed,
    text,
    text_in,
    within,
)
from poolwise.tables.columns import Column, encoded
from poolwise.tables.moments_table import Levels
from poolwise.wording import listed

KEYS = (
    *("made_with", "options", "method", "response", "response_is_named", "columns"),
    *("columns_are_named", "optional_columns", "levels", "cautions", "reason", "fit", "moments"),
    "derived",
)
OPTIONS = ("method", "fit_intercept", "response", "unseen_level", "precision")


def read(path: AnyPath, *, max_bytes: int = MOST_BYTES) -> ModelRecord:
    """Read a file and check all that it says."""
    try:
        content = text_in(path, max_bytes)
    except Wrong as wrong:
        raise UnreadableModel(str(path), *map(str, wrong.args)) from None
    return record_of(content, str(path))


def record_of(content: str, where: str) -> ModelRecord:
    """Read JSON as a model; ``where`` is what to call it in an error."""
    try:
        return _record(parsed(content))
    except Wrong as wrong:
        raise UnreadableModel(where, *map(str, wrong.args)) from None


def _record(found: Any) -> ModelRecord:
    found = document(found, FORMAT, VERSION, KEYS)
    _check_versions(found["made_with"])
    options = options_in(found["options"])
    named = flag(found["columns_are_named"], "columns_are_named")
    columns = _columns(found["columns"])
    features, response = encoded(columns), text(found["response"], "response")
    if len({*features, response}) <= len(features):
        raise Wrong("two of its columns, levels or the response have the same name")
    optional = names(found["optional_columns"], "optional_columns")
    may_lack = frozenset(optional)
    if optional != tuple(c.name for c in columns if c.name in may_lack):
        raise Wrong("optional_columns are not some of the columns, in their order")
    derived, wide = None, features
    if found["derived"] is not None:
        with within("derived"):
            derived = derived_in(found["derived"], features, response)
        wide = (*features, *(c.name for c in derived.columns))
    with within("fit"):
        fit = fit_in(found["fit"], wide)
    fitted = FittedModel(
        method=method_in(found["method"], "its method"),
        columns=columns,
        optional=optional,
        response=response,
        own_name=response if flag(found["response_is_named"], "response_is_named") else None,
        levels=_levels(found["levels"]),
        fit=fit,
        working_fit=fit,
        problem=None,
        cautions=tuple(text(c, "a caution") for c in entries(found["cautions"], "cautions")),
        derived=derived,
        reason=text(found["reason"], "reason"),
    )
    if derived is not None and (derived.problem is None) != (found["moments"] is None):
        raise Wrong(
            "there are moments of one and not of the other: of its columns, and of its derived ones"
        )
    if found["moments"] is not None:
        with within("moments"):
            fitted = _with_moments(fitted, found["moments"])
    return ModelRecord(options, named, fitted)


def options_in(found: Any) -> dict[str, Any]:
    """Return the options of a regressor."""
    found = fields(found, "options", OPTIONS)
    method = found["method"]
    return {
        "method": choice(method, "the option method", METHOD_NAMES)
        if type(method) is str
        else method_in(method, "the option method"),
        "fit_intercept": flag(found["fit_intercept"], "the option fit_intercept"),
        "response": text(found["response"], "the option response"),
        "unseen_level": _unseen(found["unseen_level"], "the option unseen_level"),
        "precision": choice(found["precision"], "the option precision", ("auto", *PRECISIONS)),
    }


def _check_versions(found: Any) -> None:
    """Refuse what does not say who wrote it; what it says has no effect."""
    if not isinstance(found, dict) or "poolwise" not in found:
        raise Wrong("made_with does not say which poolwise wrote it")
    for key, value in found.items():
        text(value, f"the version of {key[:40]!r}")


def _unseen(found: Any, what: str) -> Literal["raise", "ignore"]:
    return cast(Literal["raise", "ignore"], choice(found, what, ("raise", "ignore")))


def _columns(found: Any) -> tuple[Column, ...]:
    columns = []
    for entry in entries(found, "columns"):
        entry = fields(entry, "a column", ("name", "levels", "full", "unseen"))
        name, levels = text(entry["name"], "the name of a column"), entry["levels"]
        full, unseen = flag(entry["full"], "full"), _unseen(entry["unseen"], "unseen")
        if levels is None:
            if full or unseen != "raise":
                raise Wrong(f"column {name!r} has no levels, and says what they do")
            columns.append(Column(name))
            continue
        known = names(levels, f"levels of {name!r}", "level")
        if not known:
            raise Wrong(f"the list of levels of {name!r} is empty")
        columns.append(Column(name, known, full, unseen))
    if not columns:
        raise Wrong("it has no columns")
    names([c.name for c in columns], "columns")
    return tuple(columns)


def _levels(found: Any) -> dict[str, Levels | None]:
    levels: dict[str, Levels | None] = {}
    for entry in entries(found, "levels"):
        entry = fields(entry, "an entry of levels", ("name", "reference", "indicated"))
        name, reference = text(entry["name"], "the name of a column"), entry["reference"]
        if name in levels:
            raise Wrong(f"it has the levels of {name[:40]!r} twice")
        if entry["indicated"] is None:
            if reference is not None:
                raise Wrong(f"{name[:40]!r} has a reference level, and no levels")
            levels[name] = None
            continue
        first = None if reference is None else text(reference, "a reference level")
        levels[name] = Levels(first, names(entry["indicated"], "indicated", "level"))
    return levels


def _with_moments(fitted: FittedModel, found: Any) -> FittedModel:
    """Return a model with the moments it was made from."""
    found = fields(found, "the object", (*TABLES, "pool", "working_fit"))
    fit = fitted.fit
    own = {key: found[key] for key in TABLES}
    problem = problem_in(own, encoded(fitted.columns), fitted.response)
    target, sources, units = problem.target, problem.sources, problem.units
    told = {*fit.source_noise, *fit.weights, *fit.conflict}
    if unknown := sorted(told - sources.keys()):
        raise Wrong(f"the fit tells of sources {listed(unknown)}, which are not there")
    if found["pool"] is not None:
        pool = moments_in(found["pool"], "the pool")
        if set(pool.names) != set(target.names):
            raise Wrong("the pool has other columns than the target")
        fit = replace(fit, pool=pool)
    working = fit
    if (found["working_fit"] is None) != (not units):
        raise Wrong("there is a working_fit without units, or units without a working_fit")
    if units:
        with within("working_fit"):
            working = replace(fit_in(found["working_fit"], fit.names), pool=fit.pool)
    return replace(fitted, fit=fit, working_fit=working, problem=problem)
