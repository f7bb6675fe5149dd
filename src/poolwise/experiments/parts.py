"""Parts: one method on one dataset of a table, in a file of its own.

The first line of a file tells what the part was made by. A file made by anything else, be it
another protocol, other data or other code, counts as not there. While a part is made, a journal
keeps each run that is finished.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
import scipy
import sklearn

from poolwise.experiments.datasets import UCI
from poolwise.experiments.journals import new_journal, whole_lines
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
        return folder / f"{self.dataset}-{self.method}.csv"

    def read(self, folder: Path) -> list[Score] | None:
        """Return the scores in its file, or None if it is not there or made by other means.

        Parameters
        ----------
        folder : path
            That of all parts.
        """
        try:
            text = self.file(folder).read_text(encoding="utf-8")
        except (FileNotFoundError, UnicodeDecodeError):
            return None
        errors = self._errors_in(text.splitlines())
        if list(errors) != list(range(self.runs)) or text != self._text(errors):  # damaged
            return None
        return [Score(run, self.method, error) for run, error in errors.items()]

    def write(self, folder: Path, data: str | os.PathLike[str] | None = None) -> None:
        """Compute the runs that no journal has, and write its file.

        Parameters
        ----------
        folder : path
            That of all parts.
        data : path, optional
            A folder to look for the dataset in.
        """
        if self.read(folder) is not None:  # another process was faster
            return
        file = self.file(folder)
        errors: dict[int, float] = {}
        for lines in whole_lines(file):
            errors |= self._errors_in(lines)
        todo = scores(
            self.spec,
            self.dataset,
            [self.method],
            self.protocol,
            data=data,
            runs=self.runs,
            skip=set(errors),
        )
        with new_journal(file) as add:
            add(self.head)
            for score in todo:
                errors[score.run] = score.rmse
                add(_line(score.run, score.rmse))
        replace_file(file, self._text(errors))

    def _text(self, errors: Mapping[int, float]) -> str:
        lines = (_line(run, errors[run]) for run in range(self.runs))
        return "\n".join((self.head, *lines)) + "\n"

    def _errors_in(self, lines: Sequence[str]) -> dict[int, float]:
        """Return errors by run, up to the first line that is none; no head of ours, no errors."""
        errors: dict[int, float] = {}
        if lines[:1] != [self.head]:
            return errors
        for line in lines[1:]:
            run, _, error = line.partition(",")
            try:
                errors[int(run)] = float(error)
            except ValueError:
                break
        return errors


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
    versions = (version("poolwise"), np.__version__, scipy.__version__, sklearn.__version__)
    digest = hashlib.sha256(" ".join(versions).encode())
    for file in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _line(run: int, error: float) -> str:
    return f"{run},{error!r}"  # reading it gives the same bits
