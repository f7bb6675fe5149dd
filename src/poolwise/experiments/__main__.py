"""Print the paper's two gain figures as a table."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from poolwise.experiments.gain_curves import CURVES, gain_table
from poolwise.progress import tracked
from poolwise.summary import text_table

POINTS = (5, 6, 8, 10, 12, 14, 17, 20, 25, 30)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the simulations and print gain and standard error, curve by curve.

    Parameters
    ----------
    arguments : sequence of str, optional
        Command-line arguments; those of the process unless given.
    """
    parser = argparse.ArgumentParser(prog="python -m poolwise.experiments", description=__doc__)
    parser.add_argument("--iterations", type=int, default=200, help="samples per point")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    table = gain_table(POINTS, iterations=options.iterations, random_state=options.seed)
    records = list(tracked(table, len(POINTS), "Simulating"))
    head = ["target rows", *(curve.label for curve in CURVES)]
    rows = [
        [f"{r['target rows']}", *(f"{r[c.label]:.3f} ± {r[c.label + ' se']:.3f}" for c in CURVES)]
        for r in records
    ]
    print("Transfer gain of data pooling over target-only least squares (squared error)")
    print("\n".join(text_table(head, rows)))
    print("(Where the mean of the new feature is known it does not matter: two columns agree.)")


if __name__ == "__main__":
    main()
