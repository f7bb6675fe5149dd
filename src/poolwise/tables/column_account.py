"""Which columns the tables share, which are new, and which are not used."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

NOT_IN_TARGET = "the recent table lacks it"


class Dropped(NamedTuple):
    """A column that the model does not use."""

    name: str
    table: str
    why: str


@dataclass(frozen=True)
class Account:
    """The use of every column, from the names of the columns alone.

    Parameters
    ----------
    response : str
        The column to predict.
    features : tuple of str
        The columns of the target that the model uses.
    shared : tuple of str
        Features that all sources have.
    new : tuple of str
        Features that no source has.
    partly : mapping of str to tuple of str
        Features that some sources have, and the sources that lack them.
    dropped : tuple of Dropped
        Columns of any table that the model does not use.
    sources : tuple of str
        Names of the sources.
    """

    response: str
    features: tuple[str, ...]
    shared: tuple[str, ...]
    new: tuple[str, ...]
    partly: Mapping[str, tuple[str, ...]]
    dropped: tuple[Dropped, ...]
    sources: tuple[str, ...]

    @classmethod
    def of(
        cls,
        response: str,
        target: Sequence[str],
        sources: Mapping[str, Sequence[str]],
        *,
        target_name: str = "target",
        unwanted: Mapping[str, str] | None = None,
        weights: Collection[str] = (),
    ) -> Account:
        """Match columns by name.

        Parameters
        ----------
        response : str
            The column to predict.
        target : sequence of str
            Columns of the target.
        sources : mapping of str to sequence of str
            Columns of each source.
        target_name : str
            Name of the target in messages.
        unwanted : mapping of str to str, optional
            Columns that are not to be used, and why.
        weights : collection of str
            Columns that hold row weights.
        """
        why, apart = unwanted or {}, (response, *weights)
        features = tuple(n for n in target if n not in why and n not in apart)
        lacking = {f: tuple(s for s, own in sources.items() if f not in own) for f in features}
        dropped = [Dropped(n, target_name, why[n]) for n in target if n in why]
        dropped += [
            Dropped(n, source, why.get(n, NOT_IN_TARGET))
            for source, own in sources.items()
            for n in own
            if n not in lacking and n not in apart
        ]
        return cls(
            response=response,
            features=features,
            shared=tuple(f for f, without in lacking.items() if not without),
            new=tuple(f for f, without in lacking.items() if 0 < len(sources) == len(without)),
            partly={
                f: without for f, without in lacking.items() if 0 < len(without) < len(sources)
            },
            dropped=tuple(dropped),
            sources=tuple(sources),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain dicts, lists and strings."""
        return {
            "response": self.response,
            "shared": list(self.shared),
            "new": list(self.new),
            "partly_shared": [
                {"name": f, "lacking_in": list(without)} for f, without in self.partly.items()
            ],
            "dropped": [column._asdict() for column in self.dropped],
        }

    def only_in_sources(self) -> list[str]:
        """Return the columns that sources have and the target lacks."""
        return list(dict.fromkeys(x.name for x in self.dropped if x.why == NOT_IN_TARGET))
