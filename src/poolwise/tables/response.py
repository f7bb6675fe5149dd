"""The response of all tables: its name, its scale, and the rows that have it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from poolwise._typing import Array
from poolwise.errors import BadColumns, BadSource, NotFinite, NotNumeric
from poolwise.linear.response_transform import AS_IS, ResponseTransform
from poolwise.numerics.chunks import doubles, doubles_of_objects, weights_as_numbers
from poolwise.tables.encoding import Column
from poolwise.tables.memory import Table, name_of
from poolwise.tables.text_values import Kind, truth_of
from poolwise.wording import capital, listed


class Answered(NamedTuple):
    """Rows that have a response, and their positions."""

    table: Table
    y: Array
    weights: Array | None
    positions: NDArray[np.intp]


@dataclass(frozen=True)
class Response:
    """How the response of every table is read."""

    raw: str  # its name in tables
    transform: ResponseTransform = AS_IS
    kind: Kind = "number"  # truth if it says yes and no
    strict: bool = True  # whether a row without a response raises an error
    own_name: str | None = None  # of the target's response, if it is a named series

    @property
    def name(self) -> str:
        """Its name in problems, after the transform."""
        return self.transform.named(self.raw)

    @property
    def column(self) -> Column:
        """The column of a table that holds it."""
        return Column(self.raw, kind=self.kind)

    @classmethod
    def of(cls, y: Any, name: str, transform: Any, *, strict: bool) -> Response:
        """Return how the response of a new fit is read, given that of the target."""
        own = name_of(y)
        scale = ResponseTransform.of(transform)
        return cls(own or name, scale, "truth" if says_yes_or_no(y) else "number", strict, own)

    def of_target(self, table: Table, y: Any, weights: Any, where: str) -> Answered:
        """Return the rows of the target that have a response."""
        self._check_apart(table.names, where)
        values = response_numbers(y, self.raw)
        weights = None if weights is None else weights_as_numbers(weights)
        return self._scaled(_answered(table, values, weights), where)

    def of_source(self, name: str, table: Table, y: Any, weights: Any) -> Answered:
        """Return the rows of a source in memory; the response may be one of its columns."""
        where = f"table {name!r}"
        if y is None:
            values = table.read([self.column], 0, table.rows)[:, 0]
        else:
            theirs = name_of(y)
            if theirs and self.own_name and theirs != self.own_name:
                raise BadSource(
                    f"The response of table {name!r} is named {theirs!r}, the target's is "
                    f"{self.own_name!r}.",
                    "If they are the same quantity, give them the same name.",
                )
            self._check_apart(table.names, where)
            values = response_numbers(y, self.raw)
        weights = None if weights is None else weights_as_numbers(weights)
        found = Answered(table, values, weights, np.arange(table.rows))
        return self._scaled(found if self.strict else _answered(*found[:3]), where)

    def _check_apart(self, names: Collection[str], where: str) -> None:
        """Raise an error if a feature has the name of the response."""
        for taken in {self.raw, self.name}.intersection(names):
            raise BadColumns(
                f"{capital(where)} has a column named {taken!r}, which is the name of the "
                "response.",
                "If it is the response, take it out; if not, rename it, or rename y (where y has "
                "no name: PooledRegressor(response=...)).",
                response=self.raw,
                column=taken,
            )

    def transformed(self, y: Array, where: str, weights: Array | None = None) -> Array:
        """Return values on the scale of the model."""
        return self.transform.transformed(y, self.raw, where, weights)

    def _scaled(self, found: Answered, where: str) -> Answered:
        return found._replace(y=self.transformed(found.y, where, found.weights))


def _answered(table: Table, y: Array, weights: Array | None) -> Answered:
    """Leave out the rows without a response."""
    there = np.flatnonzero(~np.isnan(y))
    if len(there) == len(y) or len(y) != table.rows:
        return Answered(table, y, weights, np.arange(table.rows))
    own = weights if weights is None or len(weights) != len(y) else weights[there]
    return Answered(table.take(there), y[there], own, there)


def without_response(where: str, response: str, count: int, rows: int) -> NotFinite:
    """Return the error for rows that lack the response."""
    return NotFinite(
        f"{capital(where)} lacks the response {response!r} in {count:,} of {rows:,} rows, which "
        "cannot be used.",
        "Of files, leave them out with Files(..., filter="
        f"~pyarrow.dataset.field({response!r}).is_null(nan_is_null=True)), or leave "
        'out all that lack any value with Files(..., nulls="drop"). Of a data frame or a '
        "stream, filter them out before.",
        response=response,
        counts={response: count},
        rows=rows,
    )


def response_numbers(y: Any, name: str) -> Array:
    """Return a response as doubles; missing values become NaN."""
    values = np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    hint = "Give one number per row."
    if values.ndim != 1 or values.dtype.kind not in "fiubOU":
        why = f"has the type {values.dtype}, shape {values.shape}"
    elif says_yes_or_no(values):
        known = [truth_of(v) if isinstance(v, str) else None for v in values.tolist()]
        return np.array([np.nan if v is None else v for v in known], dtype=np.float64)
    elif values.dtype.kind in "OU" and (texts := [str(v) for v in values if isinstance(v, str)]):
        why, hint = f"holds numbers stored as text, {texts[0]!r} for one", "Convert it to numbers."
        if other := next((text for text in texts if not _is_number(text)), None):
            why, hint = f"holds text, {other!r} for one", "Give one number per row."
            if len({*texts}) == 2:
                why = f"holds text, the two values {listed(sorted({*texts}))}"
                hint = "Give numbers, such as 1 for one of them and 0 for the other."
    else:
        try:
            read = doubles_of_objects if values.dtype.kind == "O" else doubles
            return read(values, f"the response {name!r}")
        except NotNumeric:
            raise
        except (TypeError, ValueError) as error:
            why = f"is not numeric ({error})"
    raise NotNumeric.of(name, f"is the response and {why}", hint)


def says_yes_or_no(values: Any) -> bool:
    """Return whether a response holds both yes and no as text, and nothing else."""
    values = np.asarray(values).reshape(-1)
    if values.dtype.kind not in "OU":
        return False
    texts = {v for v in values.tolist() if isinstance(v, str)}
    others = any(not isinstance(v, str) and v is not None and v == v for v in values.tolist())
    return {truth_of(text) for text in texts} == {0.0, 1.0} and not others


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
