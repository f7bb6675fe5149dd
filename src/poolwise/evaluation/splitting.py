"""How target rows are split into training and test rows: at random, by groups, or by time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedKFold, check_cv

from poolwise._typing import Array
from poolwise.errors import BadColumns, BadOption, BadTable, LeftOut, PoolwiseWarning, TooFewRows
from poolwise.evaluation.leaks import leaks
from poolwise.tables.frames import FrameTable
from poolwise.tables.memory import Table, name_of, open_table
from poolwise.tables.text_values import DATES, PARSERS, kind_of_texts
from poolwise.wording import plural

Positions: TypeAlias = NDArray[np.intp]
Fold: TypeAlias = tuple[Positions, Positions]

FEWEST = 3  # target rows, or groups of them, that can be split
FOLDS = 5
YEAR_OR_MONTH = re.compile(r"\d{4}(-\d\d)?")


@dataclass(frozen=True, eq=False)
class Splitting:
    """How the rows of the target's table are split.

    Parameters
    ----------
    cv : int, splitter or iterable, optional
        Number of folds, a splitter of scikit-learn, or pairs of positions of rows.
    groups, time : array of int, optional
        The group of each row, and its rank in time.
    repeats : int, optional
        How often random folds are drawn; by default as often as there is time for.
    text : str
        What is special about the folds, as a sentence.
    """

    cv: Any = None
    groups: Positions | None = None
    time: Positions | None = None
    repeats: int | None = None
    text: str = ""

    @property
    def is_random(self) -> bool:
        """Whether rows or groups are drawn at random."""
        return self.time is None and (self.cv is None or isinstance(self.cv, int))

    def folds(
        self, X: Array, y: Array, positions: Positions, repeats: int, random_state: int
    ) -> list[Fold]:
        """Return the training and test rows of each fold.

        ``positions`` are the rows of the target's table that ``X`` and ``y`` have.
        """
        groups = None if self.groups is None else self.groups[positions]
        time = None if self.time is None else self.time[positions]
        order = np.arange(len(y)) if time is None else np.argsort(time, kind="stable")
        if self.cv is not None and not isinstance(self.cv, int):
            if not hasattr(self.cv, "split"):
                return _listed(self.cv, positions)
            found = check_cv(self.cv).split(X[order], y[order], groups)
        elif time is not None:
            found = _later(time[order], self.cv or FOLDS)
        else:
            often = repeats if self.repeats is None else self.repeats
            found = _random(groups, len(y), self.cv or FOLDS, often, random_state)
        folds = [(order[train], order[test]) for train, test in found]
        if not folds or any(len(train) == 0 or len(test) == 0 for train, test in folds):
            raise TooFewRows("A fold has no training rows or no test rows.", "Use fewer folds.")
        return folds


AT_RANDOM = Splitting()


def split_by(
    X: Any,
    *,
    groups: Any = None,
    time: Any = None,
    cv: Any = None,
    repeats: int | None = None,
) -> tuple[Any, Splitting, list[PoolwiseWarning]]:
    """Return the features, the splitting of their rows, and warnings.

    Groups or times are one value per row, or the name of a column of ``X``. A column of groups is
    left out of the features. If neither is given, the columns are searched for them.
    """
    if cv is not None and not isinstance(cv, int) and not hasattr(cv, "split"):
        cv = list(cv)  # the comparison reads it, and the residuals of a report
    if groups is not None and time is not None:
        what = "Rows are split by groups or by time, and both were given."
        raise BadOption(what, "Give one of them.")
    is_random = time is None and (cv is None or isinstance(cv, int))
    if repeats is not None:
        if isinstance(repeats, bool) or not isinstance(repeats, int) or repeats < 1:
            raise BadOption.of("repeats", repeats, "a whole number, at least one")
        if not is_random:
            raise BadOption.of("repeats", repeats, "left out: these folds are not random")
    if groups is None and time is None:
        own = Splitting(cv, repeats=repeats)
        return X, own, list(leaks(open_table(X, "X"))) if is_random else []
    apart = ("groups", groups) if time is None else ("time", time)
    given, name, values = _values(X, *apart)
    if time is not None:
        text = f"Methods were fitted on earlier rows and tested on later ones, by {name}."
        return X, Splitting(cv, time=_ranks(values, name), text=text), []
    told: list[PoolwiseWarning] = []
    if isinstance(groups, str):
        what = f"Column {name!r} is left out of the features: its groups are held out whole."
        told.append(LeftOut(what, "Rows of a new group have another value.", names=[name]))
        left = tuple(n for n in given.names if n != name)
        X = replace(given, frame=given.frame.drop(name), names=left)
    codes = _codes(values)
    count = len(set(codes.tolist()))
    if is_random and count < FEWEST:
        raise TooFewRows(
            f"Whole groups are held out, and {name} has {plural(count, 'group')}: {FEWEST} are the "
            "least.",
            "Leave the groups out to hold out rows.",
        )
    text = f"Whole groups of {name} were held out: {count:,} in all."
    return X, Splitting(cv, groups=codes, repeats=repeats, text=text), told


def _values(X: Any, option: str, values: Any) -> tuple[Any, str, list[Any]]:
    """Return the table, the name of the groups or times, and their value for each row."""
    table: Table = open_table(X, "X")
    if isinstance(values, str):
        name = values
        if not isinstance(table, FrameTable):
            raise BadOption.of(option, name, "one value per row, since X is an array")
        if name not in table.names:
            raise BadColumns.missing([name], table.names, "X")
        values = table.frame[name]
    else:
        name = name_of(values) or option
    listed = list(values.to_list() if hasattr(values, "to_list") else np.asarray(values).tolist())
    if len(listed) != table.rows:
        raise BadTable(
            f"{option} has {plural(len(listed), 'value')}, and X has {plural(table.rows, 'row')}.",
            "Give one value for each row of X.",
        )
    return table, name, listed


def _is_missing(value: Any) -> bool:
    return value is None or value != value  # as NaN and NaT are


def _codes(values: Sequence[Any]) -> Positions:
    """Return a number for each group; a row without a group is a group of its own."""
    known: dict[Any, int] = {}
    keys = (("row", k) if _is_missing(v) else v for k, v in enumerate(values))
    return np.array([known.setdefault(key, len(known)) for key in keys], dtype=np.intp)


def _ranks(values: Sequence[Any], name: str) -> Positions:
    """Return the rank of each time; equal times have the same."""
    if gone := sum(map(_is_missing, values)):
        what = f"{name} has no value in {plural(gone, 'row')}, which have no place in time."
        raise BadOption(what, "Leave these rows out, or fill in the time.")
    texts = dict.fromkeys(v for v in values if isinstance(v, str))
    if texts and (kind := kind_of_texts(texts)) in DATES:
        values = [PARSERS[kind](v) if isinstance(v, str) else v for v in values]
    elif wrong := next((v for v in texts if not YEAR_OR_MONTH.fullmatch(v)), None):
        what = f"{name} holds text, {wrong!r} for one, which does not sort in the order of time."
        raise BadOption(what, "Write times as 2024-12-31 or 2024-12-31T23:59, or as numbers.")
    try:
        order = {v: k for k, v in enumerate(sorted(set(values)))}
    except TypeError:
        raise BadOption(f"{name} mixes types that have no order.", "Use one type.") from None
    if len(order) < 2:
        raise TooFewRows(f"{name} is the same in all rows.", "Leave it out to hold out rows.")
    return np.array([order[v] for v in values], dtype=np.intp)


def _random(
    groups: Positions | None, rows: int, folds: int, repeats: int, random_state: int
) -> Iterator[Fold]:
    """Yield random folds of rows, or of whole groups."""
    codes = np.arange(rows) if groups is None else np.unique(groups, return_inverse=True)[1]
    count = int(codes.max()) + 1
    cv = RepeatedKFold(n_splits=min(folds, count), n_repeats=repeats, random_state=random_state)
    for train, test in cv.split(np.arange(count)):
        yield np.flatnonzero(np.isin(codes, train)), np.flatnonzero(np.isin(codes, test))


def _later(time: Positions, folds: int) -> Iterator[Fold]:
    """Yield blocks of the later half of sorted rows, each with all earlier rows to train on.

    Rows of one time are never on both sides.
    """
    rows = len(time)
    starts = rows // 2 + (rows - rows // 2) * np.arange(folds) // folds
    edges = np.unique(np.searchsorted(time, time[starts]))
    edges = edges[edges > 0]
    if not len(edges):  # more than half of the rows are of the first time
        edges = np.searchsorted(time, time[:1], side="right")
    for start, stop in pairwise([*edges.tolist(), rows]):
        yield np.arange(start), np.arange(start, stop)


def _listed(cv: Iterable[Any], positions: Positions) -> list[Fold]:
    """Return the folds of a list, whose positions are rows of the table."""
    place = {int(k): j for j, k in enumerate(positions)}

    def kept(rows: Any) -> Positions:
        at = np.asarray(rows)
        at = np.flatnonzero(at) if at.dtype == bool else at
        return np.array([place[k] for k in at.tolist() if k in place], dtype=np.intp)

    folds = [(kept(train), kept(test)) for train, test in cv]
    for k, (train, test) in enumerate(folds):
        if not (len(train) and len(test)) or np.intersect1d(train, test).size:
            what = f"Split {k} of cv has no training rows, no test rows, or rows in both."
            raise BadOption(what, "Give pairs of positions in X: training rows and test rows.")
    return folds
