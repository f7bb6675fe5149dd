"""Sources: what the user calls history, under names, safe from being cut like rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from poolwise.errors import BadSource, DuplicateColumns, SlicedSources
from poolwise.moments import Moments
from poolwise.store import is_moments_path


@dataclass(frozen=True, eq=False)
class Given:
    """One source as the user gave it.

    Parameters
    ----------
    X : object
        The features, as a table.
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
        column, :class:`Moments`, or the path of a file of moments, which ends in
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
        """Wrap what fit was given, unless scikit-learn may have cut it."""
        if isinstance(sources, Sources):
            return sources
        # A path that is text has a length too; but cut, it arrives as a list of letters.
        bare = isinstance(sources, list) or not isinstance(sources, tuple | Mapping | Moments | str)
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
        and all(isinstance(s, tuple | Moments) or is_moments_path(s) for s in sources)
    ):
        return {f"source {k}": _source(f"source {k}", s) for k, s in enumerate(sources, start=1)}
    return {"source": _source("source", sources)}


def _source(name: str, source: Any) -> Given | Moments:
    if isinstance(source, Moments):
        return source
    if is_moments_path(source):
        return Moments.load(source)
    if isinstance(source, tuple) and len(source) in (2, 3):
        return Given(*source)
    is_table = hasattr(source, "columns") or hasattr(source, "__arrow_c_stream__")
    if is_table and getattr(source, "ndim", 2) == 2:
        return Given(source)
    raise BadSource(name, source)
