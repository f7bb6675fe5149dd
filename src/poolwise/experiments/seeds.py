"""Seeds: at how many of them what is said of a figure holds, and what chance does to its numbers.

``python -m poolwise.experiments.seeds wine`` prints both.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from poolwise.experiments import figures
from poolwise.experiments.expectations import Judgement
from poolwise.progress import tracked


@dataclass(frozen=True)
class SeedTally:
    """One statement at many seeds.

    Parameters
    ----------
    says : str
        The statement.
    holds, seeds : int
        At how many seeds it holds, and of how many.
    low, high : float
        The middle 95 % of what was found: 2.5 % of the seeds have less, 2.5 % have more.
    """

    says: str
    holds: int
    seeds: int
    low: float
    high: float

    @classmethod
    def of(cls, judgements: Sequence[Judgement]) -> SeedTally:
        """Count the judgements on one statement, one per seed."""
        low = np.quantile([v.values[0] for v in judgements], 0.025)
        high = np.quantile([v.values[-1] for v in judgements], 0.975)
        holds = sum(v.holds for v in judgements)
        return cls(judgements[0].says, holds, len(judgements), float(low), float(high))

    def __str__(self) -> str:
        middle = f"middle 95 %: {self.low:.4g} to {self.high:.4g}"
        return f"{self.holds} of {self.seeds}, {middle}. {self.says}"


def tally(
    name: str, seeds: Iterable[int], *, data: str | None = None, progress: bool | None = None
) -> list[SeedTally]:
    """Run a figure at many seeds and count where each statement about it holds.

    Parameters
    ----------
    name : str
        One of ``figures.NAMES``.
    seeds : iterable of int
        Which seeds; each is another simulation, or another split of the data.
    data : str, optional
        Folder with the data.
    progress : bool, optional
        Whether to show a bar; unless given, on a terminal.
    """
    seeds = list(seeds)
    judgements = [
        figures.judgements(figures.run(name, seed=seed, data=data, progress=False), name)
        for seed in tracked(seeds, len(seeds), f"Figure {name}", show=progress)
    ]
    return [SeedTally.of(one) for one in zip(*judgements, strict=True)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print at how many seeds each statement about some figures holds.

    Parameters
    ----------
    arguments : sequence of str, optional
        Command-line arguments; those of the process unless given.
    """
    parser = argparse.ArgumentParser(prog="python -m poolwise.experiments.seeds")
    parser.add_argument("names", nargs="+", choices=figures.NAMES, metavar="name")
    parser.add_argument("--seeds", type=int, default=40, help="how many, from 0 on")
    parser.add_argument("--data", help="folder with the datasets")
    options = parser.parse_args(arguments)
    for name in options.names:
        print(name)
        for line in tally(name, range(options.seeds), data=options.data):
            print(" ", line)


if __name__ == "__main__":
    main()
