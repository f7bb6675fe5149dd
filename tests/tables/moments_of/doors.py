"""Every way to give a table, and its moments by their definition."""

import json

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.feather as pf

from poolwise import Files, Moments

N = 300
NAMES = ("hours", "count", "site=coast", "site=inland", "site=Ærø", "load", "on", "wear")


def by_hand(frame, weights=None):
    """Return the moments of the definition: all indicators, in the order of the table."""
    columns = {}
    for name in frame:
        if frame[name].dtype.kind in "fiub":
            columns[name] = frame[name].astype(float)
        else:
            for level in sorted(set(frame[name].dropna())):
                columns[f"{name}={level}"] = (frame[name] == level).astype(float)
    rows = np.column_stack([*columns.values()])
    return Moments.of_rows([*columns], rows, weights, precision="exact")


def bits(moments):
    """Return all numbers; exact sums of the same value may be written in other units."""
    return {k: v for k, v in json.loads(moments.text()).items() if k != "sums"}


def csv_of(frame, folder):
    frame.to_csv(folder / "rows.csv", index=False)
    return folder / "rows.csv"


def packed_of(frame, folder):
    frame.to_csv(folder / "rows.csv.gz", index=False)
    return str(folder / "rows.csv.gz")


def parquet_of(frame, folder):
    frame.to_parquet(folder / "rows.parquet", index=False, row_group_size=37)
    return folder / "rows.parquet"


def folder_of(frame, folder):
    (folder / "many").mkdir(exist_ok=True)
    for k in range(5):
        frame.iloc[k::5].to_parquet(folder / f"many/{k}.parquet", index=False)
    return folder / "many"


def mixed_of(frame, folder):
    frame[:100].to_csv(folder / "a.csv", index=False)
    frame[100:200].to_parquet(folder / "b.parquet", index=False)
    pf.write_feather(pa.Table.from_pandas(frame[200:], preserve_index=False), folder / "c.feather")
    return [folder / "a.csv", str(folder / "b.parquet"), folder / "c.feather"]


def arrow_of(frame, folder):
    return pa.Table.from_pandas(frame, preserve_index=False)


DOORS = {
    "csv": csv_of,
    "csv.gz": packed_of,
    "parquet": parquet_of,
    "folder": folder_of,
    "mixed": mixed_of,
    "Files": lambda frame, folder: Files(folder_of(frame, folder)),
    "pandas": lambda frame, folder: frame,
    "polars": lambda frame, folder: pl.from_arrow(arrow_of(frame, folder)),
    "arrow": arrow_of,
    "reader": lambda frame, folder: arrow_of(frame, folder).to_reader(max_chunksize=41),
    "lazy": lambda frame, folder: pl.from_arrow(arrow_of(frame, folder)).lazy(),
}
