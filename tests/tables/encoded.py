"""Tables of a column: of objects, of nothing but a stream, and as it is encoded."""

import pandas as pd

from poolwise.tables.encoding import unify
from poolwise.tables.memory import open_table


class OnlyAStream:
    """A table that offers nothing but the Arrow C stream."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def encoded(table, **options):
    """Return levels, missing and encoded values of the column g."""
    opened = open_table(table, "X")
    (column,) = unify(["g"], opened.levels(["g"]), {}, **options)
    values = opened.read([column], 0, opened.rows)
    return column.levels, opened.missing(["g"])[:, 0].tolist(), values


def objects(values):
    return pd.DataFrame({"g": pd.Series(values, dtype=object)})
