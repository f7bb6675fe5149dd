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
    """The use of every column, from the names of the columns alone."""

    response: str
    features: tuple[str, ...]  # columns of the target that the model uses
    shared: tuple[str, ...]  # features that all sources have
    new: tuple[str, ...]  # features that no source has
    partly: Mapping[str, tuple[str, ...]]  # features of some sources, and the sources without them
    dropped: tuple[Dropped, ...]  # columns of any table that the model does not use
    sources: tuple[str, ...]  # their names

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
        """Match the columns of the target and of each source by name.

        ``unwanted`` are columns that are not to be used, and why; ``weights`` hold row weights.
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
