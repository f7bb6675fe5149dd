"""Parts: one method on one dataset of a table, in a file of its own.

The first line of a file tells what the part was made by, and has a checksum of the other lines. A
file made by anything else, be it another protocol, other data or other code, counts as not there,
and so does one that was changed. While a part is made, a journal keeps each run that is finished.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy
import sklearn

from poolwise.experiments.datasets import UCI
from poolwise.experiments.journals import new_journal, whole_lines
from poolwise.experiments.specs import Protocol, TableSpec
from poolwise.experiments.tables import Score, labels, run_count, scores
from poolwise.experiments.whole_files import replace_file

# Modules and packages that compute no number of a table: a part outlives a change of these.
ASIDE = frozenset(
    {
        *("__main__", "cli", "comparison", "contenders", "cross_validation", "demo"),
        *("progress", "target_folds"),
        *("experiments/detailed", "experiments/drawing", "experiments/expectations"),
        *("experiments/figure_specs", "experiments/figures", "experiments/points"),
        *("experiments/samples", "experiments/seeds", "experiments/simulations"),
        *("experiments/stacked_methods", "experiments/stacked_moments"),
        *("experiments/challenge", "experiments/dataset_statistics", "experiments/grids"),
        *("experiments/marks", "experiments/rendering", "experiments/reproduction"),
        *("experiments/outcomes", "experiments/verdict"),
    }
)


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
        """How its file and its journals begin: with a hash of all that decides the numbers."""
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
        """Return the scores in its file, or None if it is not there, damaged or made otherwise.

        Parameters
        ----------
        folder : path
            That of all parts.
        """
        try:
            text = self.file(folder).read_text(encoding="utf-8")
        except (FileNotFoundError, UnicodeDecodeError):
            return None
        errors = _errors_in(text.splitlines()[1:])
        if list(errors) != list(range(self.runs)) or text != self._text(errors):
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
            if lines[:1] == [self.head]:
                errors |= _errors_in(lines[1:])
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
        body = "".join(f"{_line(run, errors[run])}\n" for run in range(self.runs))
        return f"{self.head} {hashlib.sha256(body.encode()).hexdigest()}\n{body}"


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
        Names of the paper or of ours; those of the paper unless given.
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
    """Hash our source where it may decide a number, and the versions of what computes below it."""
    versions = (np.__version__, scipy.__version__, sklearn.__version__)
    digest = hashlib.sha256(" ".join(versions).encode())
    root = Path(__file__).parents[1]
    for file in sorted(root.rglob("*.py")):
        if not _is_aside(file.relative_to(root)):
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _is_aside(file: Path) -> bool:
    return any(path.as_posix() in ASIDE for path in (file.with_suffix(""), *file.parents))


def _errors_in(lines: Sequence[str]) -> dict[int, float]:
    """Return errors by run, up to the first line that is none."""
    errors: dict[int, float] = {}
    for line in lines:
        run, _, error = line.partition(",")
        try:
            errors[int(run)] = float(error)
        except ValueError:
            break
    return errors


def _line(run: int, error: float) -> str:
    return f"{run},{error!r}"  # reading it gives the same bits
