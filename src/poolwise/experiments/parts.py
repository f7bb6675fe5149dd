"""Parts: one method on one dataset of a table, in a file of its own.

The first line of a file tells what the part was made by. A file made by anything else, be it
another protocol, other data or other code, counts as not there.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
import scipy

from poolwise.experiments.datasets import UCI
from poolwise.experiments.specs import Protocol, TableSpec
from poolwise.experiments.tables import Score, labels, run_count, scores
from poolwise.experiments.whole_files import replace_file


@dataclass(frozen=True)
class Part:
    """One method on one dataset of a table.

    Parameters
    ----------
    spec : TableSpec
        The table.
    protocol : {"published", "corrected"}
        How.
    dataset, method : str
        Which line and column of it.
    runs : int
        How many runs.
    code : str
        Hash of the code that makes it.
    """

    spec: TableSpec
    protocol: Protocol
    dataset: str
    method: str
    runs: int
    code: str

    @property
    def head(self) -> str:
        """The first line of its file, with a hash of all that decides the numbers."""
        made_by = (
            self.spec.digest,
            self.protocol,
            self.dataset,
            UCI[self.dataset].sha256,
            self.method,
            self.runs,
            self.code,
        )
        digest = hashlib.sha256(json.dumps(made_by).encode()).hexdigest()
        return f"# {self.spec.name} {self.protocol} {self.dataset} {self.method} {digest}"

    def file(self, folder: Path) -> Path:
        """Return where the part is kept.

        Parameters
        ----------
        folder : path
            That of all parts.
        """
        whole = self.runs == run_count(self.spec, self.dataset)
        runs = "" if whole else f"-{self.runs}"  # a quick look does not replace a long run
        return folder / f"{self.dataset}-{self.method}{runs}.csv"

    def read(self, folder: Path) -> list[Score] | None:
        """Return the scores in its file, or None if it is not there or made by other means.

        Parameters
        ----------
        folder : path
            That of all parts.
        """
        try:
            head, *lines = self.file(folder).read_text(encoding="utf-8").splitlines()
            pairs = [(int(run), float(rmse)) for run, rmse in (line.split(",") for line in lines)]
        except (FileNotFoundError, ValueError):  # or damaged: no text, no head, no numbers
            return None
        if head != self.head or [run for run, _ in pairs] != list(range(self.runs)):
            return None
        return [Score(run, self.method, rmse) for run, rmse in pairs]

    def write(self, folder: Path, data: str | os.PathLike[str] | None = None) -> None:
        """Compute it and write its file.

        Parameters
        ----------
        folder : path
            That of all parts.
        data : path, optional
            A folder to look for the dataset in.
        """
        found = scores(
            self.spec, self.dataset, [self.method], self.protocol, data=data, runs=self.runs
        )
        lines = [self.head, *(f"{score.run},{score.rmse!r}" for score in found)]
        replace_file(self.file(folder), "\n".join(lines) + "\n")


def parts_of(
    spec: TableSpec,
    protocol: Protocol,
    *,
    methods: Sequence[str] | None = None,
    datasets: Sequence[str] | None = None,
    runs: int | None = None,
) -> list[Part]:
    """Return the parts of a table, line by line.

    Parameters
    ----------
    spec : TableSpec
        Which table.
    protocol : {"published", "corrected"}
        How.
    methods : sequence of str, optional
        Names of the paper or of ``poolwise.METHODS``; those of the paper unless given.
    datasets : sequence of str, optional
        Some of the lines; all unless given.
    runs : int, optional
        At most so many runs of each; all unless given.
    """
    chosen = spec.datasets if datasets is None else datasets
    names, code = labels(spec, methods), _code()
    return [
        Part(spec, protocol, d, m, run_count(spec, d, runs), code) for d in chosen for m in names
    ]


def _code() -> str:
    """Hash our version and source, and the versions of what computes below it."""
    versions = (version("poolwise"), np.__version__, scipy.__version__)
    digest = hashlib.sha256(" ".join(versions).encode())
    for file in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()
