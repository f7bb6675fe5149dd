"""Command line options of simulations."""

from __future__ import annotations

import argparse
from collections.abc import Sequence


def asked(
    name: str, description: str | None, arguments: Sequence[str] | None
) -> argparse.Namespace:
    """Return how often to draw, and the seed; two draws are the fewest that have an error."""
    parser = argparse.ArgumentParser(prog=name, description=description)
    parser.add_argument("--repetitions", type=int, default=1000, help="of each line (1000)")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers (0)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    options = parser.parse_args(arguments)
    if options.repetitions < 2:
        parser.error("a standard error takes two repetitions")
    return options
