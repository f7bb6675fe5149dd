"""Adversarial arrays for fit: our errors may be raised, and nothing but finite numbers returned.

``make test`` tries a few of them. For as long as one likes: ``make fuzz MINUTES=30``, or
``python -m tests.fuzz --minutes 30 --seed 1``.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from poolwise import Moments, PooledRegressor
from poolwise.errors import PoolwiseError, PoolwiseWarning
from poolwise.numerics.chunks import CHUNK
from tests.laws.exact import exact_projection, fraction
from tests.linear_methods import LINEAR_METHODS

SIZES = (1e-60, 1e-30, 1e-8, 1e8, 1e30, 1e60)
SPECIAL = (0.0, -0.0, 5e-324, 2.2e-308, 1e-300, 1.0, -1.0, 1.0 + 2.0**-52, 1e8, 1e60, -1e60)
REFUSED = (np.nan, np.inf, -np.inf, 1e76, 1e308, -1.7e308)
WEIGHTS = (0.0, 1.0, 2.0, 0.5, 1e-100, 1e-50, 1e-8, 1e8, 1e50, 1e90, 1e100)
BAD_WEIGHTS = (-1.0, np.nan, np.inf, 1e-101, 1e200)
SMALL = tuple(float(s * k) for k in range(10) for s in (1, -1))
FRACTIONS = tuple(s * k / 91.0 for k in range(91) for s in (1, -1))  # with all digits
KINDS = (*("small",) * 6, *("any",) * 2, "special", "wide", "constant", "near", "far", "made")
DTYPES = ("float32", "float16", "int64", "uint64", "bool")
BATCH = 250  # examples between two lines of progress


@dataclass(frozen=True, eq=False)
class Table:
    """Rows as a user gives them; printed so that they can be pasted."""

    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray | None = None

    def __repr__(self) -> str:
        weights = "" if self.weights is None else f", {_shown(self.weights)}"
        return f"Table({_shown(self.X)}, {_shown(self.y)}{weights})"


@dataclass(frozen=True)
class Case:
    """What fit is given."""

    target: Table
    sources: tuple[Table, ...]
    method: str
    precision: str
    intercept: bool
    as_moments: bool
    chunk: int

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))  # hypothesis would leave out digits


def check(case: Case) -> str:
    """Fit, predict and sum up; raise where that does anything it may not. Says how it ended."""
    few_rows = mock.patch.multiple("poolwise.numerics.chunks", CHUNK=case.chunk, LONG=case.chunk)
    with warnings.catch_warnings(), few_rows:
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", PoolwiseWarning)
        try:
            model = _fitted(case)
        except ValueError as error:
            if not _is_ours(error):
                raise
            return type(error).__name__
        _require_finite("coef_", model.coef_)
        _require_finite("intercept_", model.intercept_)
        _require_finite("standard_errors_", model.standard_errors_)
        _require_finite("coef_cov_", model.coef_cov_)
        _require_finite("transfer_gain_", model.transfer_gain_)
        noises = [model.fit_.noise, *model.fit_.source_noise.values()]
        _require_finite("noise", [n for n in noises if n is not None])
        _require_finite("weights", list(model.fit_.weights.values()))
        summary = f"{model.summary()}{model.summary()._repr_html_()}"
        assert "nan" not in summary, summary
        for table in (case.target, *case.sources):
            X = np.full((len(table.X), model.n_features_in_), np.nan)
            X[:, : table.X.shape[1]] = table.X
            rows = pd.DataFrame(X, columns=model.coef_names_) if case.as_moments else X
            try:
                _require_finite("predictions", model.predict(rows))
            except ValueError as error:
                if not _is_ours(error):
                    raise
                return f"fitted, then {type(error).__name__}"
    if case.method == "target_only" and _determines(case.target, model):
        _compare_with_projection(case, model)
        return "compared"
    return "fitted"


def _fitted(case: Case) -> PooledRegressor:
    model = PooledRegressor(case.method, fit_intercept=case.intercept, precision=case.precision)
    if case.as_moments:
        target, *sources = (_moments(t, case.precision) for t in (case.target, *case.sources))
        return model.fit_moments(target, sources)
    sources = [(t.X, t.y, t.weights) for t in case.sources]
    named = {f"s{k}": source for k, source in enumerate(sources)}
    t = case.target
    return model.fit(t.X, t.y, sources=named, sample_weight=t.weights)


def _moments(table: Table, precision: str) -> Moments:
    names = (*(f"x{j}" for j in range(table.X.shape[1])), "y")
    return Moments.of_blocks(names, [((table.X, table.y), table.weights)], precision=precision)


def _is_ours(error: ValueError) -> bool:
    """Say whether an error was raised on purpose, by us or by scikit-learn's validation."""
    if isinstance(error, PoolwiseError):
        return True
    last = traceback.extract_tb(error.__traceback__)[-1]
    return type(error) is ValueError and "sklearn" in last.filename


def _determines(target: Table, model: PooledRegressor) -> bool:
    """Say whether fitted values must be the projection on the columns: no digit was missing."""
    few = [c for c in model.cautions_ if "linearly dependent" in c or "nearly dependent" in c]
    usual = target.weights is None or set(target.weights) <= {0.5, 1.0, 2.0}
    return not few and usual and bool(np.isfinite(target.X).all())


def _compare_with_projection(case: Case, model: PooledRegressor) -> None:
    """Compare fitted values with the projection in rational numbers."""
    X, y, w = case.target.X.astype(np.float64), case.target.y, case.target.weights
    expected = exact_projection(X, y, w, intercept=case.intercept)
    fit = model.fit_
    predicted = fit.predict(X)
    with np.errstate(over="ignore"):  # then the terms say nothing
        terms = np.abs(X - fit.centre) @ np.abs(fit.coef)
    for i in range(len(y)):
        room = 1e-6 * (max(np.abs(y)) + terms[i]) + 1e-320
        if abs(fraction(predicted[i]) - expected[i]) > room:
            raise AssertionError(f"predicted {predicted}, not {[float(e) for e in expected]}")


def _require_finite(what: str, values: object) -> None:
    if values is not None and not np.isfinite(np.asarray(values, dtype=np.float64)).all():
        raise AssertionError(f"{what} is {values}")


def _shown(array: np.ndarray) -> str:
    kind = "" if array.dtype == np.float64 else f", np.{array.dtype}"
    shape = f".reshape{array.shape}" if array.size == 0 else ""
    return f"np.array({array.tolist()}{kind}){shape}"


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw a target, at most two sources and the options."""
    features = draw(st.integers(1, 4))
    units = draw(st.lists(_units(), min_size=features + 1, max_size=features + 1))
    has = draw(st.lists(st.integers(1, features), max_size=2))
    return Case(
        target=draw(_tables(units)),
        sources=tuple(draw(_tables((*units[:k], units[-1]))) for k in has),
        method=draw(st.sampled_from(list(LINEAR_METHODS))),
        precision=draw(st.sampled_from(("fast", "accurate", "exact", "auto"))),
        intercept=draw(st.booleans()),
        as_moments=draw(_rarely()),
        chunk=draw(st.sampled_from((CHUNK, 2))),
    )


@st.composite
def _tables(draw: st.DrawFn, units: Sequence[float]) -> Table:
    rows = draw(st.sampled_from((3, 4, 5, 6, 7, 8, 9, 12, 1, 2, 0)))
    columns: list[np.ndarray] = []
    for unit in units:
        columns.append(_column(draw, rows, unit, columns))
    X = np.column_stack(columns[:-1])
    if draw(_rarely()):
        X = _as(X, draw(st.sampled_from(DTYPES)))
    weights = None
    if draw(_rarely()):
        weights = _of(draw, BAD_WEIGHTS if draw(_rarely()) else WEIGHTS, rows)
    return Table(X, columns[-1], weights)


def _column(draw: st.DrawFn, rows: int, unit: float, others: list[np.ndarray]) -> np.ndarray:
    """Draw a column: small numbers in any unit, special ones, or one made from earlier columns."""
    kind = draw(st.sampled_from(KINDS))
    if kind == "made" and others:
        first, second = draw(st.sampled_from(others)), draw(st.sampled_from(others))
        with np.errstate(all="ignore"):
            made = [first, first + second, first - second, 2.0 * first, first + 1.0, first / 3.0]
            return draw(st.sampled_from(made))
    if kind == "special":
        return _of(draw, (*SPECIAL, *REFUSED) if draw(_rarely()) else SPECIAL, rows)
    if kind == "any":
        return _of(draw, FRACTIONS, rows) * unit
    if kind == "wide":  # of all sizes, in one unit
        return _of(draw, FRACTIONS, rows) * _of(draw, (1.0, 1e-20, 1e-60, 1e-150), rows) * unit
    if kind == "constant":
        return np.full(rows, draw(st.sampled_from((0.0, unit, 0.1 * unit, 1e60, 1e-60))))
    if kind == "near":  # a number and its neighbours
        return unit + _of(draw, SMALL, rows) * np.spacing(unit)
    if kind == "far":  # far from zero
        return unit * (1.0 + 1e-6 * _of(draw, SMALL, rows))
    return _of(draw, SMALL, rows) * unit


def _of(draw: st.DrawFn, values: Sequence[float], rows: int) -> np.ndarray:
    """Draw one of some values for each row, the first being the simplest."""
    which = draw(st.binary(min_size=rows, max_size=rows))
    return np.array([values[byte % len(values)] for byte in which], dtype=np.float64)


def _units() -> st.SearchStrategy[float]:
    return st.just(1.0) | st.sampled_from(SIZES)


def _rarely() -> st.SearchStrategy[bool]:
    return st.sampled_from((False, False, False, False, True))


def _as(X: np.ndarray, dtype: str) -> np.ndarray:
    """Return numbers as another type, wrapped round where they do not fit."""
    with np.errstate(all="ignore"):
        if np.dtype(dtype).kind in "iu":
            X = np.nan_to_num(X) % 2.0**63
        return X.astype(dtype)


def main() -> int:
    """Try cases until the time is out or one fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    start, batch, ends = time.monotonic(), 0, Counter[str]()
    while time.monotonic() - start < 60.0 * options.minutes:
        try:
            _try_batch(options.seed + batch, ends)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                break
            traceback.print_exception(error)
            print(f"Failed with --seed {options.seed + batch}.")
            return 1
        batch += 1
        told = ", ".join(f"{count:,} {end}" for end, count in ends.most_common(6))
        print(f"{time.monotonic() - start:6.0f} s, {ends.total():,} cases: {told}", flush=True)
    print("No failure.")
    return 0


def _try_batch(number: int, ends: Counter[str]) -> None:
    @seed(number)
    @settings(
        max_examples=BATCH, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(cases())
    def nothing_but_finite_numbers(case: Case) -> None:
        ends[check(case)] += 1

    nothing_but_finite_numbers()


if __name__ == "__main__":
    sys.exit(main())
