"""Sources: what the user calls history, under names, safe from being cut like rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from poolwise.errors import BadSource, DuplicateColumns, SlicedSources
from poolwise.moments import Moments
from poolwise.store import is_moments_path
from poolwise.tables.clusters import is_elsewhere
from poolwise.tables.files import Files, is_path


@dataclass(frozen=True, eq=False)
class Given:
    """One source as the user gave it.

    Parameters
    ----------
    X : object
        The features, as a table or as files.
    y : object or None
        The response; None when it is a column of ``X``.
    weights : object or None
        Row weights.
    """

    X: Any
    y: Any = None
    weights: Any = None


class Sources:
    """A container of sources that scikit-learn passes on whole.

    scikit-learn cuts every fit argument with a length like that of ``X`` into training rows.
    This container has no length, so cross-validation leaves it alone.

    Parameters
    ----------
    sources : object
        One source, a list of sources (named "source 1", "source 2", ...) or a mapping of names to
        sources. A source is ``(X, y)``, ``(X, y, weights)``, a table that holds the response as a
        column, :class:`Files`, a Dask or Spark DataFrame or a pyarrow Dataset that do, the path of
        such files, :class:`Moments`, or the path of a file of moments, which ends in
        ``.moments.json`` and is read at once.

    Examples
    --------
    >>> from poolwise import Sources
    >>> Sources({"2019": ([[1.0], [2.0]], [1.0, 2.0])})
    Sources(['2019'])
    """

    def __init__(self, sources: Any) -> None:
        self._named = _named(sources)

    @classmethod
    def of(cls, sources: Any, target_rows: int) -> Sources:
        """Wrap what fit was given, unless scikit-learn may have cut it.

        Parameters
        ----------
        sources : object
            As in :meth:`PooledRegressor.fit`.
        target_rows : int
            Number of rows of the target: a bare list of as many things may have been cut with it.

        Returns
        -------
        Sources
            What was given, by name.
        """
        if isinstance(sources, Sources):
            return sources
        # Had a path been cut, it would be a list of letters; a frame of a cluster is not cut, and
        # to tell its length it would have to be run.
        if is_path(sources) or is_elsewhere(sources):
            return cls(sources)
        bare = isinstance(sources, list) or not isinstance(sources, tuple | Mapping | Moments)
        if bare and hasattr(sources, "__len__") and len(sources) == target_rows:
            raise SlicedSources(type(sources).__name__, target_rows)
        return cls(sources)

    def __iter__(self) -> Iterator[tuple[str, Given | Moments]]:
        return iter(self._named.items())

    def __repr__(self) -> str:
        return f"Sources({list(self._named)})"


def _named(sources: Any) -> dict[str, Given | Moments]:
    if sources is None:
        return {}
    if isinstance(sources, Sources):
        return dict(sources)
    if isinstance(sources, Mapping):
        names = [str(name) for name in sources]
        if len(set(names)) < len(names):
            raise DuplicateColumns(names, "sources")
        return {str(name): _source(str(name), source) for name, source in sources.items()}
    if isinstance(sources, list) or (
        isinstance(sources, tuple)
        and all(isinstance(s, tuple | Moments | Files) or is_path(s) for s in sources)
    ):
        return {f"source {k}": _source(f"source {k}", s) for k, s in enumerate(sources, start=1)}
    return {"source": _source("source", sources)}


def _source(name: str, source: Any) -> Given | Moments:
    if isinstance(source, Moments):
        return source
    if is_moments_path(source):
        return Moments.load(source)
    if isinstance(source, Files) or is_path(source):
        return Given(source if isinstance(source, Files) else Files(source))
    if isinstance(source, tuple) and len(source) in (2, 3):
        X = source[0]
        if isinstance(X, Files) or is_path(X) or is_elsewhere(X):  # their response is a column
            raise BadSource(name, source, is_split=True)
        return Given(*source)
    if is_elsewhere(source):
        return Given(source)
    if hasattr(source, "__dask_graph__"):  # not a DataFrame; it has any attribute one asks for
        raise BadSource(name, source)
    # Of a lazy frame, only the type is asked for columns: to tell them it would have to plan.
    holders = (type(source), source)
    is_table = hasattr(source, "__arrow_c_stream__") or any(hasattr(h, "columns") for h in holders)
    if is_table and getattr(source, "ndim", 2) == 2:
        return Given(source)
    raise BadSource(name, source)
