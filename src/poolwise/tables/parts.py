"""The moments of each input file, kept in a folder so that no file is read twice.

For an input ``2019.csv`` the folder holds ``2019.csv-KEY.moments.json``, with a number for each
further pattern of missing columns, and ``2019.csv-KEY.part.json``, written last, which records
what they were made from. A job that was killed repeats only the files it was reading.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from poolwise._typing import AnyPath
from poolwise.errors import BadOption
from poolwise.moments.atomic_write import write
from poolwise.moments.moments import Moments
from poolwise.moments.moments_json import SUFFIX
from poolwise.moments.progress import reading_bar
from poolwise.numerics.options import PRECISIONS, Kept, Precision, chosen
from poolwise.tables.encoding import Column, KnownLevels, wholes
from poolwise.tables.file_reader import Reader
from poolwise.tables.file_table import FileBatches
from poolwise.tables.response import Response
from poolwise.tables.row_splitter import Lacks, RowSplitter, Tally
from poolwise.tables.shards import StreamedTable, Threads
from poolwise.tables.streamed_rows import PatternSums, SumByPattern, check_few, without_void

ON_CLUSTER = 8  # files that a cluster reads at the same time


class FilePart(NamedTuple):
    """The results for one input file."""

    levels: Mapping[str, Mapping[str, float]]  # of its text columns, and their rows
    tally: Tally  # of its rows
    paths: Mapping[Lacks, Path]  # its moments, by the columns that rows lack


class Parts:
    """A folder for the moments of each input file."""

    def __init__(self, folder: AnyPath) -> None:
        self.folder = Path(folder)
        self.reused = 0  # files that were not read, because their moments exist
        try:
            self.folder.mkdir(exist_ok=True)
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise BadOption.of("parts", str(folder), f"a folder that can be used ({why})") from None

    def find(
        self, reader: Reader, options: str, precision: Precision, kept: Kept
    ) -> FilePart | None:
        """Return the moments of a file that has not changed, if they exist and are complete."""
        try:
            record = json.loads(self._path(reader, ".part.json").read_text(encoding="ascii"))
            digits = PRECISIONS.index(record["precision"]) - PRECISIONS.index(kept)
            is_same = record["made_from"] == _made_from(reader, options)
            if not is_same or digits < 0 or (digits and precision != "auto"):
                return None
            paths = dict[Lacks, Path]()
            for lacks, name, digest in record["patterns"]:
                paths[tuple(lacks)] = self.folder / name
                if _digest((self.folder / name).read_text(encoding="ascii")) != digest:
                    return None
            found = FilePart(record["levels"], Tally(**record["tally"]), paths)
        except (OSError, ValueError, LookupError, TypeError):
            return None  # it is made again
        self.reused += 1
        return found

    def save(
        self, reader: Reader, options: str, kept: Kept, levels: KnownLevels, sums: PatternSums
    ) -> FilePart:
        """Write the moments of a file, and then the record of what they were made from."""
        paths, patterns = dict[Lacks, Path](), []
        for k, (lacks, moments) in enumerate(sums.moments.items(), start=1):
            text, path = moments.text(), self._path(reader, f"{f'.{k}' if k > 1 else ''}{SUFFIX}")
            write(path, text, overwrite=True)
            paths[lacks] = path
            patterns.append((lacks, path.name, _digest(text)))
        texts = {name: own for name, own in levels.items() if own is not None}
        record = {
            "format": "poolwise part",
            "made_from": _made_from(reader, options),
            "precision": kept,
            "levels": texts,
            "tally": vars(sums.tally),
            "patterns": patterns,
        }
        write(self._path(reader, ".part.json"), json.dumps(record, indent=1), overwrite=True)
        return FilePart(texts, sums.tally, paths)

    def _path(self, reader: Reader, suffix: str) -> Path:
        return self.folder / f"{reader.path.name}-{_digest(str(reader.path))[:12]}{suffix}"


@dataclass(frozen=True, eq=False)
class PartedRows:
    """The rows of files whose moments are kept file by file."""

    table: StreamedTable
    names: tuple[str, ...]  # of the columns to read
    columns_of: Callable[[KnownLevels], tuple[Column, ...]]
    response: str | None  # its name, where one column is it
    parts: Parts
    tally: Tally = field(default_factory=Tally, init=False)

    def moments(self, precision: Precision) -> tuple[tuple[Column, ...], dict[Lacks, Moments]]:
        """Return the columns, and moments by the columns that rows lack."""
        kept = chosen(precision, self._batches.rows, len(self.names))
        columns, found = self._total(precision, kept)
        if precision == "auto":
            full = wholes(columns)
            own = [[names for names in full if names[0] in m] for m in found.values()]
            better = [m.better_precision(w) for m, w in zip(found.values(), own, strict=True)]
            best = max((kept, *better), key=PRECISIONS.index)
            if any(m.precision != best for m in found.values()):
                columns, found = self._total(precision, best)
        return columns, without_void(found, columns)

    @property
    def _batches(self) -> FileBatches:
        assert isinstance(self.table.batches, FileBatches)
        return self.table.batches

    def _total(
        self, precision: Precision, kept: Kept
    ) -> tuple[tuple[Column, ...], dict[Lacks, Moments]]:
        """Add up the moments of all files; an indicator that a file lacks is zero there."""
        files, kinds = self._files(precision, kept), self._batches.kinds
        known: dict[str, Mapping[str, float] | None] = {}
        for name in (n for n in self.names if kinds[n] != "void"):
            levels = sorted({level for file in files for level in file.levels.get(name, ())})
            if levels or kinds[name] == "number":
                known[name] = dict.fromkeys(levels, 0.0) or None
        columns = self.columns_of(known)
        splitter, by_pattern = self._splitter(columns), dict[Lacks, list[Path]]()
        vars(self.tally).update(vars(Tally()))
        for file in files:
            self.tally.add(file.tally)
            for lacks, path in file.paths.items():
                by_pattern.setdefault(lacks, []).append(path)
        check_few(len(by_pattern), self.table.where)
        totals = {}
        for lacks, paths in by_pattern.items():
            names = splitter.names_of(lacks)
            totals[lacks] = Moments.total(
                names, (Moments.load(p).widened(names, {}) for p in paths)
            )
        return columns, totals

    def _splitter(self, columns: Sequence[Column]) -> RowSplitter:
        features = tuple(c for c in columns if c.name != self.response)
        response = Response(self.response) if features and self.response else None
        own = features or tuple(columns)
        return RowSplitter(own, response, self.table.weights, self.table.nulls)

    def _files(self, precision: Precision, kept: Kept) -> list[FilePart]:
        """Return the moments of each file, from the folder or from its rows."""
        batches, table = self._batches, self.table
        made_by = sys.modules["poolwise"].__version__
        options = repr((made_by, sorted(batches.kinds.items()), self.names, self.response))
        options += repr((batches.keys, str(batches.expression), table.weights, table.nulls))
        workers, jobs = batches.workers, ON_CLUSTER
        if isinstance(workers, Threads):  # each file by one of them
            workers, jobs = Threads(), workers.jobs

        def part_of(reader: Reader) -> tuple[FilePart, float]:
            found = self.parts.find(reader, options, precision, kept)
            if found is None:
                own = replace(batches, readers=(reader,), workers=workers)
                levels, sums = self._read(replace(table, batches=own, progress=False), kept)
                found = self.parts.save(reader, options, kept, levels, sums)
            return found, reader.size

        files = list[FilePart]()
        label = f"Reading {table.where}"
        with threadpool_limits(1), reading_bar(label, batches.size, show=table.progress) as bar:
            pool = Parallel(n_jobs=jobs, require="sharedmem", return_as="generator")
            for file, size in pool(delayed(part_of)(r) for r in batches.matching_readers()):
                files.append(file)
                bar.update(file.tally.rows, size)
        return files

    def _read(self, table: StreamedTable, kept: Kept) -> tuple[KnownLevels, PatternSums]:
        kinds = self._batches.kinds
        known = table.levels([n for n in self.names if kinds[n] != "void"])
        columns = self.columns_of({n: {} for n in self.names if kinds[n] == "text"} | {**known})
        task = SumByPattern(self._splitter(columns), kept, None, table.where)
        found = table.total(task) or PatternSums({}, Tally())
        there = {lacks: own for lacks, own in found.moments.items() if own.rows}
        return known, PatternSums(there, found.tally)


def _made_from(reader: Reader, options: str) -> dict[str, Any]:
    return {
        "file": str(reader.path),
        "size": int(reader.size),
        "changed": reader.changed,
        "csv": repr(sorted(reader.words.items())),
        "options": _digest(options),
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()
