"""Account: which columns the tables share, which are new, which were dropped, and why."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from poolwise.cli.messages import name
from poolwise.cli.screen import say
from poolwise.errors import SwappedTables

NAMED = 12  # columns of a kind that are named
NAMED_BY_DROP = "--drop names it"
LACKED = "the recent table lacks it"


class Dropped(NamedTuple):
    """A column that no model sees."""

    name: str
    table: str
    why: str


@dataclass(frozen=True)
class Account:
    """Columns, matched by name.

    Parameters
    ----------
    response : str
        The column to predict.
    shared : sequence of str
        Features that all tables have.
    new : sequence of str
        Features that the recent table alone has.
    partly : mapping of str to sequence of str
        Features that some sources have, and those that lack them.
    dropped : sequence of Dropped
        All others.
    has_history : bool
        Whether there is any source.
    """

    response: str
    shared: Sequence[str]
    new: Sequence[str]
    partly: Mapping[str, Sequence[str]]
    dropped: Sequence[Dropped]
    has_history: bool

    @classmethod
    def of(
        cls,
        response: str,
        features: Sequence[str],
        sources: Mapping[str, Sequence[str]],
        dropped: Sequence[Dropped],
        ours: Sequence[str],
        drop: Sequence[str] = (),
    ) -> Account:
        """Match the columns of the recent table with those of the sources.

        Parameters
        ----------
        response : str
            The column to predict.
        features : sequence of str
            Columns of the recent table to predict from.
        sources : mapping of str to sequence of str
            Columns of each source.
        dropped : sequence of Dropped
            Columns of the recent table that were left out.
        ours : sequence of str
            Columns of any table that are no features: the response, the weights.
        drop : sequence of str
            Columns of any table that --drop names.
        """
        lacking = {f: [s for s, there in sources.items() if f not in there] for f in features}
        reasons = {**dict.fromkeys(drop, NAMED_BY_DROP), **{x.name: x.why for x in dropped}}
        gone = [
            Dropped(column, source, reasons.get(column, LACKED))
            for source, there in sources.items()
            for column in there
            if column not in lacking and column not in ours
        ]
        return cls(
            response=response,
            shared=[f for f, without in lacking.items() if not without],
            new=[f for f, without in lacking.items() if len(without) == len(sources)]
            if sources
            else [],
            partly={f: w for f, w in lacking.items() if w and len(w) < len(sources)},
            dropped=[*dropped, *gone],
            has_history=bool(sources),
        )

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return {
            "response": self.response,
            "shared": list(self.shared),
            "new": list(self.new),
            "partly_shared": [
                {"name": f, "lacking_in": list(without)} for f, without in self.partly.items()
            ],
            "dropped": [x._asdict() for x in self.dropped],
        }

    def warn_if_swapped(self, own: int, rows: int) -> None:
        """Warn where the recent table looks like history, and history like the recent table.

        Parameters
        ----------
        own : int
            Rows of the recent table, those with gaps included.
        rows : int
            Rows of all tables.
        """
        history = rows - own
        lacked = list(dict.fromkeys(x.name for x in self.dropped if x.why == LACKED))
        if lacked and not self.new and not self.partly and own > history:
            warnings.warn(SwappedTables(lacked, history, own), stacklevel=2)

    def show(self) -> None:
        """Print it."""
        if not self.has_history:
            say(f"Columns: {_counted(self.shared)}; there is no history.")
        else:
            say("Columns, matched by name", "bold")
            say(f"  shared    {_counted(self.shared)}", indent=12)
            say(f"  new       {_counted(self.new)}", indent=12)
        for column, without in self.partly.items():
            say(f"  in some   {name(column)}, not in {_list(without)}", indent=12)
        reasons: dict[tuple[str, str], list[str]] = {}
        for column, table, why in self.dropped:
            reasons.setdefault((table, why), []).append(column)
        for (table, why), columns in reasons.items():
            say(f"  dropped   {_list(columns)} of {name(table)}: {why}", indent=12)


def _counted(columns: Sequence[str]) -> str:
    return f"{len(columns):,}: {_list(columns)}" if columns else "none"


def _list(columns: Sequence[str]) -> str:
    more = f" and {len(columns) - NAMED:,} more" if len(columns) > NAMED else ""
    return ", ".join(map(name, columns[:NAMED])) + more
