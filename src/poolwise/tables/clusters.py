"""Clusters: data frames whose rows are not here, and which of our modules reads them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from poolwise.tables.streamed import StreamedTable

# Package and name of the type -> our module.
FRAMES_ELSEWHERE = {
    ("dask.dataframe", "DataFrame"): "dask_frames",
    ("pyspark.sql", "DataFrame"): "spark",
    ("pyarrow._dataset", "Dataset"): "datasets",
}


def is_elsewhere(table: Any) -> bool:
    """Say whether rows are on a cluster or in a dataset; nothing is imported to find out."""
    return _module_of(table) is not None


def open_frame(
    table: Any, where: str, texts: Mapping[str, bool], response: str | None
) -> StreamedTable:
    """Open a data frame of a cluster, or a dataset, reading none of its rows yet.

    Parameters
    ----------
    table : object
        The data frame, or the dataset.
    where : str
        What to call it in an error.
    texts : mapping of str to bool
        The features of the target, and whether they are text.
    response : str or None
        Name of the response, if one column is it.
    """
    opened: Callable[..., StreamedTable]
    opened = import_module(f"poolwise.tables.{_module_of(table)}").open_frame
    return opened(table, where, texts, response)


def _module_of(table: Any) -> str | None:
    for kind in type(table).__mro__:
        for (package, name), module in FRAMES_ELSEWHERE.items():
            if kind.__name__ == name and f"{kind.__module__}.".startswith(f"{package}."):
                return module
    return None
