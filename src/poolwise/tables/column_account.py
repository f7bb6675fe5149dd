"""What each column of the tables is, what is done with it, and why; and the rows that are used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from poolwise.wording import html_table, plural, short

ONE_TABLE = "in one table only"
MOST_NAMES = 12  # columns of a kind that are named
MOST_GAPS = 5  # columns with gaps that are named
PLAIN = ("number", "category")  # kinds that need no line of their own, if nothing was merged


@dataclass(frozen=True)
class ColumnAccount:
    """A column of the target, or one that only a source has."""

    name: str
    table: str
    kind: str
    use: str  # what the model makes of it; empty if it is left out
    why: str = ""  # the reason, if it is left out or changed
    lacking_in: tuple[str, ...] = ()  # sources without it


@dataclass(frozen=True)
class TableAccount:
    """Rows of a table: those with a response, and those without, which are left out."""

    name: str
    rows: int
    without_response: int = 0
    filled: dict[str, int] = field(default_factory=dict)  # values that were missing, by column
    lacks: tuple[str, ...] = ()  # columns by which rows of the target's table are history


@dataclass(frozen=True)
class Account:
    """The use of every column and of the rows of every table. It prints as text."""

    response: str
    columns: tuple[ColumnAccount, ...]
    tables: tuple[TableAccount, ...]  # the target first
    answer: str = ""  # how the response is read, unless as a number
    notes: tuple[str, ...] = ()  # on rows that belong together, and folds

    @property
    def target(self) -> str:
        """Name of the target."""
        return self.tables[0].name

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the sources."""
        return tuple(table.name for table in self.tables[1:])

    @property
    def features(self) -> tuple[str, ...]:
        """Columns of the target that the model uses."""
        return tuple(c.name for c in self.columns if c.use)

    @property
    def shared(self) -> tuple[str, ...]:
        """Features that all sources have."""
        return tuple(c.name for c in self.columns if c.use and not c.lacking_in)

    @property
    def new(self) -> tuple[str, ...]:
        """Features that no source has."""
        count = len(self.sources)
        return tuple(c.name for c in self.columns if c.use and 0 < count == len(c.lacking_in))

    @property
    def partly(self) -> dict[str, tuple[str, ...]]:
        """Features of some sources, and the sources without them."""
        used, count = [c for c in self.columns if c.use], len(self.sources)
        return {c.name: c.lacking_in for c in used if 0 < len(c.lacking_in) < count}

    @property
    def dropped(self) -> tuple[ColumnAccount, ...]:
        """Columns of any table that the model does not use."""
        return tuple(c for c in self.columns if not c.use)

    def only_in_sources(self) -> list[str]:
        """Return the columns that sources have and the target lacks."""
        return list(dict.fromkeys(c.name for c in self.dropped if c.kind == ONE_TABLE))

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain dicts, lists and strings."""
        return {
            "response": self.response,
            "response_read_as": self.answer or "number",
            "shared": list(self.shared),
            "new": list(self.new),
            "partly_shared": [
                {"name": f, "lacking_in": list(without)} for f, without in self.partly.items()
            ],
            "dropped": [{"name": c.name, "table": c.table, "why": c.why} for c in self.dropped],
            "columns": [asdict(column) for column in self.columns],
            "tables": [asdict(table) for table in self.tables],
            "notes": list(self.notes),
        }

    def lines(self) -> list[tuple[str, str]]:
        """Return the account as lines: a word, and a sentence about columns or rows."""
        lines = [("shared", _counted(self.shared)), ("new", _counted(self.new))]
        if not self.sources:
            lines = [("columns", f"{_counted(self.features)}; one table was given")]
        lines += [
            ("in some", f"{called(n)}, not in {_list(without)}")
            for n, without in self.partly.items()
        ]
        alike: dict[tuple[str, str, str], list[str]] = {}
        for c in self.columns:
            if c.use and (c.why or c.kind not in PLAIN):
                alike.setdefault((c.kind, c.use, c.why), []).append(c.name)
        for (kind, use, why), names in alike.items():
            lines.append((kind, f"{_list(names)}: {use}{why and f'; {why}'}"))
        reasons: dict[tuple[str, str], list[str]] = {}
        for c in self.dropped:
            reasons.setdefault((c.table, c.why), []).append(c.name)
        for (table, why), names in reasons.items():
            lines.append(("dropped", f"{_list(names)} of {called(table)}: {why}"))
        if self.answer:
            lines.append(("response", f"{called(self.response)}: {self.answer}"))
        for own in self.tables:
            rows = f"{plural(own.rows + own.without_response, 'row')} of {called(own.name)}"
            if own.lacks:
                rows = f"{plural(own.rows, 'row')} of {called(self.target)} without "
                rows += f"{_list(own.lacks)}: history"
            if own.without_response:
                rows += f"; {own.without_response:,} without {called(self.response)} left out"
            if own.filled:
                gaps = plural(sum(own.filled.values()), "missing value")
                rows += f"; {gaps} filled in: {_most_gaps(own.filled)}"
            lines.append(("rows", rows))
        return [*lines, *(("note", note) for note in self.notes)]

    def __str__(self) -> str:
        return "\n".join(f"{word:<10} {said}" for word, said in self.lines())

    def _repr_html_(self) -> str:
        return html_table(["", ""], self.lines())


def not_read(name: str, table: str, why: str) -> ColumnAccount:
    """Return the account of a column that was left out before the tables were read."""
    return ColumnAccount(name, table, "not read", "", why)


def called(name: str) -> str:
    """Return the name of a column in a text; the empty one has no other."""
    return short(name) or "(unnamed)"


def _most_gaps(gaps: Mapping[str, int]) -> str:
    """Return the columns with most gaps."""
    order = sorted(gaps, key=lambda n: -gaps[n])
    rest = len(order) - MOST_GAPS
    more = f" and {plural(rest, 'more column')}" if rest > 0 else ""
    return ", ".join(f"{called(n)} {gaps[n]:,}" for n in order[:MOST_GAPS]) + more


def _counted(columns: Sequence[str]) -> str:
    return f"{len(columns):,}: {_list(columns)}" if columns else "none"


def _list(columns: Sequence[str]) -> str:
    more = f" and {len(columns) - MOST_NAMES:,} more" if len(columns) > MOST_NAMES else ""
    return ", ".join(map(called, columns[:MOST_NAMES])) + more
