"""Fits in a file: a `LinearFit` as JSON, but for its pool, which is moments."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Literal, cast

from poolwise.errors import BeyondDoubles, TransferWarning
from poolwise.fit import LinearFit
from poolwise.strict_json import (
    Wrong,
    choice,
    entries,
    fields,
    joined,
    line,
    lines,
    matrix,
    number,
    shown,
    text,
    vector,
)
from poolwise.tails import Tails
from poolwise.wording import listed

OURS = TransferWarning.__module__
KEYS = tuple(k for k in LinearFit.__dataclass_fields__ if k != "pool")


def fit_text(fit: LinearFit) -> str:
    """Write a fit as JSON."""
    return joined(
        {
            "names": line(list(fit.names)),
            "coef": line(fit.coef.tolist()),
            "centre": line(fit.centre.tolist()),
            "level": line(float(fit.level)),
            "covariance": lines(None if fit.covariance is None else fit.covariance.tolist()),
            "noise": line(_double(fit.noise)),
            "source_noise": line({n: _double(v) for n, v in fit.source_noise.items()}),
            "weights": line({n: float(v) for n, v in fit.weights.items()}),
            "dropped": line(dict(fit.dropped)),
            "cautions": line([{"kind": type(c).__name__, "message": str(c)} for c in fit.cautions]),
            "tail": line(None if fit.tail is None else fit.tail.tolist()),
            "intercept_variance": line(_double(fit.intercept_variance)),
            "tails": line(
                {
                    "freedom": None if math.isinf(fit.tails.freedom) else float(fit.tails.freedom),
                    "deviation": fit.tails.deviation,
                }
            ),
            "bounds": line(
                None
                if fit.bounds is None
                else [None if math.isinf(b) else float(b) for b in fit.bounds]
            ),
            "conflict": line({n: float(v) for n, v in fit.conflict.items()}),
        }
    )


def _double(value: float | None) -> float | None:
    return None if value is None else float(value)


def fit_in(found: Any, names: tuple[str, ...]) -> LinearFit:
    """Return the fit that a file holds, of the features it must have."""
    found = fields(found, "the fit", KEYS)
    if found["names"] != list(names):
        raise Wrong("its names are not those of the columns and their levels, in this order")
    d = len(names)
    covariance, tail = found["covariance"], found["tail"]
    fit = LinearFit(
        names=names,
        coef=vector(found["coef"], "coef", d),
        centre=vector(found["centre"], "centre", d),
        level=number(found["level"], "level"),
        covariance=None if covariance is None else matrix(covariance, "covariance", d + 1),
        noise=_positive(found["noise"], "noise"),
        source_noise=_mapping(found["source_noise"], "source_noise", _positive),
        weights=_mapping(found["weights"], "weights", _sure),
        dropped=_mapping(found["dropped"], "dropped", text),
        cautions=tuple(_caution(c) for c in entries(found["cautions"], "cautions")),
        tail=None if tail is None else vector(tail, "tail", d + 1),
        intercept_variance=_positive(found["intercept_variance"], "intercept_variance"),
        tails=_tails(found["tails"]),
        bounds=_bounds(found["bounds"]),
        conflict=_mapping(found["conflict"], "conflict", _probability),
    )
    if unknown := sorted(fit.dropped.keys() - set(names)):
        raise Wrong(f"dropped names {listed(unknown)}, which the model does not have")
    try:
        _ = fit.intercept
    except BeyondDoubles:
        raise Wrong("the intercept is beyond doubles") from None
    return fit


def _mapping(found: Any, what: str, read: Callable[[Any, str], Any]) -> Mapping[str, Any]:
    if not isinstance(found, dict):
        raise Wrong(f"{what} is {shown(found)} where an object is needed")
    return {key: read(value, what) for key, value in found.items()}


def _positive(found: Any, what: str) -> float | None:
    return None if found is None else _sure(found, what)


def _sure(found: Any, what: str) -> float:
    value = number(found, what)
    if value < 0.0:
        raise Wrong(f"{what} is {value:g}, and must not be negative")
    return value


def _probability(found: Any, what: str) -> float:
    value = number(found, what)
    if not 0.0 <= value <= 1.0:
        raise Wrong(f"{what} is {value:g}, and must be between 0 and 1")
    return value


def _caution(found: Any) -> TransferWarning:
    """Return a warning, of a kind that poolwise gives."""
    found = fields(found, "a caution", ("kind", "message"))
    known = {k.__name__: k for k in TransferWarning.__subclasses__() if k.__module__ == OURS}
    kind = known[choice(found["kind"], "the kind of a caution", tuple(known))]
    caution = kind.__new__(kind)  # it is made from more than its message
    caution.args = (text(found["message"], "the message of a caution"),)
    return caution


def _tails(found: Any) -> Tails:
    found = fields(found, "tails", ("freedom", "deviation"))
    deviation = choice(found["deviation"], "the deviation of tails", ("plugged in", "averaged"))
    freedom = math.inf if found["freedom"] is None else number(found["freedom"], "freedom")
    least = 2.0 if deviation == "averaged" else 0.0  # else there is no deviation
    if not freedom > least:
        raise Wrong(f"the freedom of tails is {freedom:g}, and must be above {least:g}")
    return Tails(freedom, cast(Literal["plugged in", "averaged"], deviation))


def _bounds(found: Any) -> tuple[float, float] | None:
    if found is None:
        return None
    low, high = entries(found, "bounds", 2)
    least = -math.inf if low is None else number(low, "bounds")
    most = math.inf if high is None else number(high, "bounds")
    if not least <= most:
        raise Wrong(f"the bounds end at {most:g}, below their beginning at {least:g}")
    return least, most
