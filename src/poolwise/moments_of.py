"""Moments of a table, of files or of a stream, where there is no target to match them with."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any, Literal

from poolwise.errors import BadOption
from poolwise.moments import Moments
from poolwise.moments_job import AnyCheckpoint, MomentsJob
from poolwise.precision import Precision
from poolwise.tables.every_column import Wanted
from poolwise.tables.files import Files, is_path
from poolwise.tables.patterns import pattern_name


def moments_of(
    source: Any,
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    texts: Sequence[str] = (),
    response: str | None = None,
    weights: str | None = None,
    nulls: Literal["raise", "drop"] | None = None,
    precision: Precision = "auto",
    n_jobs: int | None = None,
    checkpoint: AnyCheckpoint | None = None,
    progress: bool | None = None,
) -> Moments:
    """Return the moments of all columns of a table or of files, without any target.

    Numbers and booleans are taken as they are. A column of text becomes one indicator per level,
    all of them (``site=coast``, ``site=inland``): which of them a model leaves out is for the
    target to say. What ``Files`` say about columns, weights and nulls holds unless it is said here.

    Parameters
    ----------
    source : table, str, path, list of paths, or Files
        A table or a stream as in ``fit``, or files, which are read in batches and forgotten.
    columns : sequence of str, optional
        The columns to take; all unless given. The response and the weights come by themselves.
    drop : sequence of str
        Columns to leave out.
    texts : sequence of str
        Columns of CSV files that hold text, although they may look like numbers: codes. Unless
        said so, the first rows of each file tell.
    response : str, optional
        The column that is the response in a model: it must be there, and hold numbers.
    weights : str, optional
        The column of row weights, which is then no other column.
    nulls : {"raise", "drop"}, default="raise"
        What a null or NaN does: an error, or the row is left out and counted. For moments of each
        pattern of missing columns see :func:`moments_by_pattern`.
    precision : {"auto", "fast", "accurate", "exact"}, default="auto"
        Digits of the second moments; see :class:`Moments`.
    n_jobs : int, optional
        Threads that read files, -1 for all processors; the result has the same bits for any number.
    checkpoint : str or path, optional
        A file to keep what was found so far, from time to time. When the process is killed and the
        same call is made again, it goes on from there, and ends with the same bits. A file that
        has changed begins anew. It is removed when all is done, unless you give a ``Checkpoint``
        of your own. Files alone can have one.
    progress : bool, optional
        Whether to show a bar; unless given, on a terminal and in a notebook.

    Returns
    -------
    Moments
        Of all rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from poolwise import moments_of
    >>> moments_of(pd.DataFrame({"site": ["coast", "inland", "coast"], "wear": [1.0, 2.0, 4.0]}))
    Moments(3 rows, weight 3, columns ['site=coast', 'site=inland', 'wear'])
    """
    if nulls not in (None, "raise", "drop"):
        raise BadOption("nulls", nulls, "'raise' or 'drop'; for 'split' see moments_by_pattern")
    files = _as_files(source)
    if isinstance(files, Files) and nulls is None and files.nulls == "drop":
        nulls = "drop"
    wanted = _wanted(files, columns, drop, texts, response, weights)
    job = MomentsJob(files, wanted, nulls or "raise", _name_of(files), precision, n_jobs, progress)
    return job.run(checkpoint)[()]


def moments_by_pattern(
    source: Any,
    *,
    name: str = "source",
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    texts: Sequence[str] = (),
    response: str | None = None,
    weights: str | None = None,
    precision: Precision = "auto",
    n_jobs: int | None = None,
    checkpoint: AnyCheckpoint | None = None,
    progress: bool | None = None,
) -> dict[str, Moments]:
    """Return moments of the rows of each pattern of missing columns, named as ``fit`` names them.

    These are ``name`` for the rows that have all columns, ``name without load`` for those that
    lack ``load``, and so on: what ``fit`` makes of ``sources={name: source}``, with all columns.
    Each pattern is there, however few rows it has. A file without a column that others have is a
    pattern too.

    Parameters
    ----------
    source : table, str, path, list of paths, or Files
        As in :func:`moments_of`.
    name : str, default="source"
        Name of the source.
    response : str, optional
        The column that is the response in a model: rows that lack it are of no use and are
        refused. Unless given, to lack it is a pattern like others.
    columns, drop, texts, weights, precision, n_jobs, checkpoint, progress
        As in :func:`moments_of`.

    Returns
    -------
    dict of str to Moments
        One entry per pattern, ready to be ``sources=`` of a fit.

    Examples
    --------
    >>> import pandas as pd
    >>> from poolwise import moments_by_pattern
    >>> rows = pd.DataFrame({"load": [1.0, None, 3.0], "wear": [1.0, 2.0, 4.0]})
    >>> moments_by_pattern(rows, name="pumps")
    {'pumps': Moments(2 rows, weight 2, columns ['load', 'wear']),
     'pumps without load': Moments(1 row, weight 1, columns ['wear'])}
    """
    files = _as_files(source)
    if isinstance(files, Files) and files.nulls != "split":
        raise BadOption("nulls", files.nulls, "'split' here; moments_of raises and drops")
    wanted = _wanted(files, columns, drop, texts, response, weights)
    job = MomentsJob(files, wanted, "split", name, precision, n_jobs, progress)
    found: dict[str, Moments] = {}
    for lacks, moments in job.run(checkpoint).items():
        found[pattern_name(name, lacks, found)] = moments
    return found


def _as_files(source: Any) -> Any:
    """Return files where paths were given, and else what was given."""
    is_many = isinstance(source, list | tuple) and source and all(map(is_path, source))
    return Files(source) if is_many or is_path(source) else source


def _name_of(source: Any) -> str:
    """Return what to call a source that has no name."""
    if not isinstance(source, Files):
        return "table"
    if isinstance(source.paths, str | PathLike):
        return str(source.paths)
    first, more = next(iter(source.paths), "no files"), len(source.paths) - 1
    return f"{first} and {more:,} more" if more > 0 else str(first)


def _wanted(
    source: Any,
    columns: Sequence[str] | None,
    drop: Sequence[str],
    texts: Sequence[str],
    response: str | None,
    weights: str | None,
) -> Wanted:
    for option, given in {"columns": columns, "drop": drop, "texts": texts}.items():
        if isinstance(given, str):
            raise BadOption(option, given, "a list of names")
    if isinstance(source, Files):
        columns = source.columns if columns is None else columns
        weights = source.weights if weights is None else weights
    own = None if columns is None else tuple(map(str, columns))
    return Wanted(own, tuple(map(str, drop)), tuple(map(str, texts)), response, weights)
