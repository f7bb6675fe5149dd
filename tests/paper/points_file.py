"""Points of a figure, read back from their file."""

import csv

from paper.figures import Point


def read_points(path):
    """Read points from CSV."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Point(
                figure=line["figure"],
                curve=line["curve"],
                protocol=line["protocol"],
                x=float(line["x"]),
                mean=float(line["mean"]),
                error=float(line["error"]),
                low=float(line["low"]),
                high=float(line["high"]),
                repetitions=int(line["repetitions"]),
                seed=int(line["seed"]) if line["seed"] else None,
            )
            for line in csv.DictReader(file)
        ]
