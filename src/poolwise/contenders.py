"""Contenders: what is to be compared, by label."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sklearn.ensemble import HistGradientBoostingRegressor

from poolwise.answer import RowMethod, is_method
from poolwise.errors import UnknownMethod
from poolwise.methods import METHOD_NAMES, METHODS, ROW_METHODS, method_of
from poolwise.regressor import PooledRegressor

BASELINE = "target_only"
TREES = "trees_on_nan"  # what many would do today


def contenders_of(methods: Any, random_state: int) -> dict[str, Any]:
    """Return what is to be fitted, by label; the baseline is always there."""
    named = named_methods(methods, random_state)
    contenders = {label: _contender(given, random_state) for label, given in named.items()}
    contenders.setdefault(BASELINE, method_of(BASELINE))
    return contenders


def named_methods(methods: Any, random_state: int = 0) -> dict[str, Any]:
    """Return what is to be compared, by label; unless given, every method, and trees on NaN."""
    if methods is None:
        trees = HistGradientBoostingRegressor(random_state=random_state)
        return {**{name: name for name in METHODS}, TREES: trees}
    if isinstance(methods, str):
        methods = [methods]
    named = methods if isinstance(methods, Mapping) else _labelled(methods)
    return {str(label): given for label, given in named.items()}


def is_line(contender: Any) -> bool:
    """Say whether a contender is a linear method of ours."""
    if isinstance(contender, PooledRegressor):
        contender = method_of(contender.method)
    return is_method(contender) and not isinstance(contender, RowMethod)


def _contender(given: Any, random_state: int) -> Any:
    """Return what fits; a method with trees that is given by name has the seed of all."""
    if isinstance(given, str) and given in ROW_METHODS:
        kind: Any = ROW_METHODS[given]
        return kind(random_state=random_state)
    if isinstance(given, str | type) or is_method(given):
        return method_of(given)
    if hasattr(given, "fit") and hasattr(given, "predict"):
        return given
    raise UnknownMethod(given, list(METHOD_NAMES))


def _labelled(methods: Iterable[Any]) -> dict[str, Any]:
    labelled: dict[str, Any] = {}
    for given in methods:
        label = given if isinstance(given, str) else type(given).__name__
        if isinstance(given, PooledRegressor) and isinstance(given.method, str):
            label = given.method + ("" if given.fit_intercept else " without intercept")
        count = sum(known == label or known.startswith(f"{label} ") for known in labelled)
        labelled[f"{label} {count + 1}" if count else label] = given
    return labelled
