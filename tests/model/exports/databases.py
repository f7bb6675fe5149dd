"""Rows predicted in DuckDB, in SQLite and, without a word of warning, by the model itself."""

import sqlite3
import warnings

import duckdb
import numpy as np
import pandas as pd

from poolwise import PooledRegressor
from poolwise.errors import PoolwiseWarning

CLOSE = (
    1e-12  # the same terms, added in another order; SQLite may be off by a last bit in a literal
)
DIALECTS = ["duckdb", "sqlite"]


def in_duckdb(expression, frame):
    with duckdb.connect() as base:
        base.register("rows", frame)
        found = base.execute(f"SELECT {expression} AS p FROM rows").fetchall()
    return np.array([np.nan if p is None else p for (p,) in found], dtype=np.float64)


def in_sqlite(expression, frame):
    """Predict rows in SQLite, in a table whose columns have no type, as of a file that was read."""
    with sqlite3.connect(":memory:") as base:
        columns = ["`" + n.replace("`", "``") + "`" for n in frame.columns]
        base.execute(f"CREATE TABLE rows ({', '.join(columns)})")
        marks = ", ".join("?" * len(columns))
        values = [
            [None if pd.isna(v) else v for v in row]
            for row in frame.astype(object).itertuples(index=False, name=None)
        ]
        base.executemany(f"INSERT INTO rows VALUES ({marks})", values)
        found = base.execute(f"SELECT {expression} AS p FROM rows").fetchall()
    base.close()
    assert all(p is None or type(p) is float for (p,) in found)
    return np.array([np.nan if p is None else p for (p,) in found])


RUN = {"duckdb": in_duckdb, "sqlite": in_sqlite}


def quietly(model, rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PoolwiseWarning)
        return model.predict(rows)


def fitted_quietly(frame, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PoolwiseWarning)
        return PooledRegressor("target_only").fit(frame, y)
