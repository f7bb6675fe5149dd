"""scikit-learn: a fitted model as a fitted pipeline of plain scikit-learn estimators.

Whoever loads it needs scikit-learn and NumPy, and no poolwise. Columns are centred before they meet
their coefficients, so that features far from zero keep their digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from poolwise.exports.line import Line, NumberTerm, TextTerm


def pipeline(line: Line) -> Pipeline | TransformedTargetRegressor:
    """Return a fitted estimator that predicts as the line does.

    Parameters
    ----------
    line : Line
        The model.

    Returns
    -------
    Pipeline or TransformedTargetRegressor
        The second, around the first, where predictions have bounds.
    """
    coef, centre = [t.coef for t in line.numbers], [t.centre for t in line.numbers]
    for term in sorted(line.texts, key=_kind):  # as the encoder puts them out
        indicated = list(term.adds.values())[0 if term.is_full else 1 :]
        coef += indicated
        centre += [0.0] * len(indicated)
    steps = [("centre", _scaler(centre)), ("line", _regression(coef, line.level))]
    if line.texts:
        steps.insert(0, ("encode", _encoder(line)))
    if line.are_named:  # the first step checks names
        steps[0][1].feature_names_in_ = _names(line.terms)
    return _bounded(Pipeline(steps), line)


def _kind(term: TextTerm) -> tuple[bool, bool]:
    """Return what must be alike for columns to share an encoder."""
    return term.is_full, term.ignores_unseen


def _encoder(line: Line) -> Any:
    """Return an encoder that puts out numbers, then indicators of levels."""
    place = {term.name: j for j, term in enumerate(line.terms)}
    parts: list[tuple[str, Any, list[int]]] = []
    if line.numbers:
        parts.append(("numbers", "passthrough", [place[t.name] for t in line.numbers]))
    for kind in sorted({_kind(t) for t in line.texts}):
        alike = [t for t in line.texts if _kind(t) == kind]
        is_full, ignores_unseen = kind
        encoder = OneHotEncoder(
            categories=[np.array(list(t.adds), dtype=object) for t in alike],
            drop=None if is_full else "first",
            handle_unknown="ignore" if ignores_unseen else "error",
            sparse_output=False,
        )
        parts.append((f"texts {len(parts)}", encoder, [place[t.name] for t in alike]))
    fitted = ColumnTransformer(parts).fit(_some_row(line))
    if line.are_named:
        for name, _, at in parts:
            if isinstance(encoder := fitted.named_transformers_[name], OneHotEncoder):
                encoder.feature_names_in_ = _names([line.terms[j] for j in at])
    return fitted


def _names(terms: Sequence[NumberTerm | TextTerm]) -> Any:
    return np.array([t.name for t in terms], dtype=object)


def _some_row(line: Line) -> Any:
    row = [0.0 if isinstance(t, NumberTerm) else next(iter(t.adds)) for t in line.terms]
    return np.array([row], dtype=object if line.texts else np.float64)


def _scaler(centre: list[float]) -> Any:
    scaler = StandardScaler(with_std=False)
    scaler.mean_, scaler.n_features_in_ = np.array(centre), len(centre)
    scaler.var_ = scaler.scale_ = None
    return scaler


def _regression(coef: list[float], level: float) -> Any:
    regression = LinearRegression()
    regression.coef_, regression.n_features_in_ = np.array(coef), len(coef)
    regression.intercept_ = level
    return regression


def _bounded(fitted: Pipeline, line: Line) -> Pipeline | TransformedTargetRegressor:
    """Hold predictions between bounds, where there are some."""
    if line.bounds is None:
        return fitted
    low, high = line.bounds
    clip = partial(np.clip, a_min=low, a_max=high)
    hold = FunctionTransformer(inverse_func=clip, check_inverse=False)
    held = TransformedTargetRegressor(fitted, transformer=hold, check_inverse=False)
    held.fit(_some_row(line), [0.0])  # learns the shape of a response; its regressor is replaced
    held.regressor_ = fitted
    if line.are_named:
        held.feature_names_in_ = fitted.feature_names_in_
    return held
