"""Errors about processes and clusters."""

from __future__ import annotations

from poolwise.errors.family import TransferError


class NotOnWorkers(TransferError, ImportError):
    """Work that needs a package which the workers of a cluster do not have."""

    def __init__(self, package: str, cluster: str, what_to_do: str) -> None:
        super().__init__(
            f"The workers of {cluster} cannot import {package}: the Python that they run does not "
            f"have it. {what_to_do}"
        )


class WorkerDied(TransferError):
    """A process of several that ended in the middle of its work."""

    def __init__(self, jobs: int) -> None:
        super().__init__(
            f"One of {jobs} worker processes was ended from outside, most likely by a system short "
            "of memory. What was finished is kept. Give the same command again with fewer --jobs "
            "(jobs= in Python); --jobs 1 needs the least memory."
        )


class WorkersLost(TransferError):
    """A cluster that stopped before it had read everything."""

    def __init__(self, cluster: str, where: str, why: str) -> None:
        super().__init__(
            f"{cluster} gave up before {where} was read ({why}). If workers were ended, most "
            "likely for want of memory, give them more of it, or fewer threads each; their logs "
            "tell. If the client or the cluster was closed, open it again. Then fit once more."
        )


class RowsMoved(TransferError):
    """A source whose rows came otherwise when they were read again."""

    def __init__(self, source: str) -> None:
        super().__init__(
            f"The rows of source {source!r} were not the same, or not in the same order, when they "
            "were read again: a row would get its value from trees that have already seen it. "
            "Keep the rows as they are: write them to files and give these, or sort a DataFrame of "
            "Spark, or persist one of Dask."
        )
