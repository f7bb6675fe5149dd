"""Line: a fitted model over raw columns, as every export needs it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from poolwise.errors import BadOption, NotALine
from poolwise.fit import LinearFit
from poolwise.fitted_model import FittedModel
from poolwise.methods import name_of_method
from poolwise.prediction import fits_on
from poolwise.tables.columns import Column
from poolwise.wording import listed


@dataclass(frozen=True)
class NumberTerm:
    """What a column of numbers adds: ``coef * (x - centre)``.

    Parameters
    ----------
    name : str
        The column.
    coef, centre : float
        The coefficient, and where it adds nothing.
    """

    name: str
    coef: float
    centre: float


@dataclass(frozen=True)
class TextTerm:
    """What a column of texts adds: a number for each level.

    Parameters
    ----------
    name : str
        The column.
    adds : dict of str to float
        What each level adds; nothing for a reference level.
    ignores_unseen : bool
        Whether any other text adds nothing; else it is a mistake.
    is_full : bool
        Whether the first level has a coefficient too.
    """

    name: str
    adds: dict[str, float]
    ignores_unseen: bool
    is_full: bool


@dataclass(frozen=True)
class Line:
    """A prediction: the level and all terms added up, held between bounds.

    Parameters
    ----------
    level : float
        The prediction where all terms are zero.
    terms : tuple of NumberTerm or TextTerm
        One per column, in their order.
    bounds : pair of float, or None
        Predictions are held between these.
    response : str
        Name of the response.
    are_named : bool
        Whether the columns had these names at fit.
    """

    level: float
    terms: tuple[NumberTerm | TextTerm, ...]
    bounds: tuple[float, float] | None
    response: str
    are_named: bool

    @property
    def numbers(self) -> tuple[NumberTerm, ...]:
        """The columns of numbers."""
        return tuple(t for t in self.terms if isinstance(t, NumberTerm))

    @property
    def texts(self) -> tuple[TextTerm, ...]:
        """The columns of texts."""
        return tuple(t for t in self.terms if isinstance(t, TextTerm))


def line_without(model: FittedModel, without: Sequence[str], *, are_named: bool) -> Line:
    """Return the line of a model for rows that lack some columns.

    Parameters
    ----------
    model : FittedModel
        The model.
    without : sequence of str
        Optional columns that the rows do not have.
    are_named : bool
        Whether the columns had names at fit.
    """
    if model.derived is not None:
        raise NotALine(name_of_method(model.method))
    gone = {without} if isinstance(without, str) else set(without)
    has = [c for c in model.columns if c.name not in gone]
    if not gone <= set(model.optional) or not has:
        raise BadOption("without", without, f"some of {listed(model.optional)}, not all columns")
    return line_of(fits_on(model, [has])[0], has, model.response, are_named=are_named)


def line_of(
    fit: LinearFit, columns: Sequence[Column], response: str, *, are_named: bool = True
) -> Line:
    """Return the line of a fit.

    Parameters
    ----------
    fit : LinearFit
        The fit.
    columns : sequence of Column
        The raw columns whose encoding has the names of the fit.
    response : str
        Name of the response.
    are_named : bool, default=True
        Whether the columns had these names at fit.
    """
    coef = dict(zip(fit.names, fit.coef.tolist(), strict=True))
    centre = dict(zip(fit.names, fit.centre.tolist(), strict=True))
    terms: list[NumberTerm | TextTerm] = []
    level = [float(fit.level)]
    for column in columns:
        if column.levels is None:
            terms.append(NumberTerm(column.name, coef[column.name], centre[column.name]))
            continue
        adds = dict.fromkeys(column.levels, 0.0)
        for text, output in zip(column.indicated, column.outputs, strict=True):
            adds[text] = coef[output]
            level.append(-centre[output] * coef[output])  # a share of rows: no digits are lost
        terms.append(TextTerm(column.name, adds, column.unseen == "ignore", column.full))
    return Line(math.fsum(level), tuple(terms), fit.bounds, response, are_named)


def is_unicode(text: str) -> bool:
    """Say whether a text can be written as UTF-8: half of a pair of surrogates cannot."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
