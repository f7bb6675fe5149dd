"""Pooling and the usual choices: ``python -m benchmarks.today [--splits N] [--jobs N]``.

Each way to use a small table with new columns and a long one without them is measured in two setups
of the paper, on its nine datasets with their published splits, and on the diabetes data of
scikit-learn in its own units. It prints the table of the README in Markdown; ``--picture FILE``
draws it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression

from benchmarks.cells import (
    LEFT_OUT,
    MOST_SOURCE_ROWS,
    Sample,
    cell_samples,
    errors_of,
    stacked_rows,
    trees_on_nan,
)
from benchmarks.picture import svg
from paper.reproduction import missing_data
from paper.specs import read_table_spec
from poolwise import PooledRegressor
from poolwise._typing import Array
from poolwise.moments.progress import tracked

TABLES = ("small5", "large100")
SPLITS, DRAWS = 3, 20
NEW_COLUMNS, HISTORY_ROWS, NEW_ROWS = ("bmi", "bp"), 250, 40  # as in the README's example
BASE = "target_ridge"
WAYS = {  # key -> its name in the table
    BASE: "drop the history (ridge)",
    "target_only": "drop the history (least squares)",
    "source_columns_only": "drop the new columns",
    "zero_fill": "fill with zeros",
    "mean_fill": "fill with means",
    "trees_on_nan": "gradient boosting, gaps left as NaN",
    "bayes_pooling": "**`bayes_pooling`**",
    "boosted_pooling": "**`boosted_pooling`**",
}

Cell = Mapping[str, Array]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(prog="benchmarks.today", description=__doc__)
    parser.add_argument("--splits", type=int, default=SPLITS, metavar="N", help="of each dataset")
    parser.add_argument(
        "--draws", type=int, default=DRAWS, metavar="N", help="of the diabetes data"
    )
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="an .svg to draw")
    options = parser.parse_args(arguments)
    here = not any(missing_data(table) for table in TABLES)
    cells = on_datasets(options.splits, options.jobs) if here else []
    clinic = on_diabetes(options.draws, options.jobs)
    print(as_markdown(cells, clinic))
    print("\n" + (in_words(cells, options.splits, options.draws) if here else LEFT_OUT))
    if options.picture is not None and here:
        errors = {way: geometric_mean(ratios) for way, ratios in relative(cells).items()}
        options.picture.write_text(picture(errors, len(cells)), encoding="utf-8")


def on_datasets(splits: int, jobs: int) -> list[Cell]:
    """Return the errors of each way in each cell of the two setups."""
    cells = [(table, name) for table in TABLES for name in read_table_spec(table).datasets]
    work = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(_cell)(table, name, splits) for table, name in cells
    )
    return list(tracked(work, len(cells), "Datasets"))


def _cell(table: str, name: str, splits: int) -> Cell:
    return errors_of(cell_samples(table, name, splits), predictions)


def on_diabetes(draws: int, jobs: int) -> Cell:
    """Return the errors of each way over draws of old, new and other patients."""
    work = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(errors_of)([sample], predictions) for sample in diabetes_samples(draws)
    )
    found = list(tracked(work, draws, "Diabetes"))
    return {way: np.concatenate([f[way] for f in found]) for way in WAYS}


def diabetes_samples(draws: int) -> Iterator[Sample]:
    """Yield past patients without the new columns, new ones with them, and all the others."""
    data = load_diabetes(scaled=False)
    names = [n for n in data.feature_names if n not in NEW_COLUMNS]
    X = data.data[:, [data.feature_names.index(n) for n in (*names, *NEW_COLUMNS)]]
    for seed in range(draws):
        order = np.random.default_rng(seed).permutation(len(X))
        old, new, test = np.split(order, [HISTORY_ROWS, HISTORY_ROWS + NEW_ROWS])
        history = X[old][:, : len(names)], data.target[old]
        yield Sample(X[new], data.target[new], history, X[test], data.target[test])


def predictions(
    X: Array, y: Array, history: tuple[Array, Array]
) -> Iterator[tuple[str, Callable[[Array], Array]]]:
    """Fit each way; yield its name and predictor."""
    for way in WAYS:
        if way == "zero_fill":
            rows, responses = stacked_rows(X, y, history)
            yield way, LinearRegression().fit(np.nan_to_num(rows), responses).predict
        elif way == "trees_on_nan":
            yield way, trees_on_nan(X, y, history).predict
        else:
            yield way, PooledRegressor(way).fit(X, y, sources=history).predict


def relative(cells: Iterable[Cell]) -> dict[str, Array]:
    """Return the mean error of each way relative to ridge without history, cell by cell."""
    cells = list(cells)
    return {w: np.array([c[w].mean() / c[BASE].mean() for c in cells]) for w in WAYS}


def geometric_mean(ratios: Array) -> float:
    """Return the geometric mean."""
    return float(np.exp(np.mean(np.log(ratios))))


def as_markdown(cells: Sequence[Cell], clinic: Cell) -> str:
    """Return the table, one line for each way."""
    ratios, clinics = relative(cells), relative([clinic])
    ways = list(WAYS)
    rank = np.array([ratios[w] for w in ways])  # (ways, cells)
    best, worst = rank.argmin(axis=0), rank.argmax(axis=0)
    lines = ["| | error, paper's data | in its worst cell | best in | worst in | error, diabetes |",
             "|---|---:|---:|---:|---:|---:|"]  # fmt: skip
    for k, way in enumerate(ways):
        seen = (
            [
                f"{geometric_mean(ratios[way]):.2f}",
                f"{ratios[way].max():.2f}",
                str(int(np.sum(best == k))),
                str(int(np.sum(worst == k))),
            ]
            if cells
            else ["-"] * 4
        )
        lines.append(f"| {WAYS[way]} | {' | '.join(seen)} | {clinics[way][0]:.2f} |")
    return "\n".join(lines)


def in_words(cells: Sequence[Cell], splits: int, draws: int) -> str:
    """Return a description of the measurement."""
    return (
        "Test RMSE relative to ridge regression on the recent rows: geometric mean of "
        f"{len(cells)} cells ({', '.join(TABLES)}, {splits} published splits each, at most "
        f"{MOST_SOURCE_ROWS:,} rows of history), and mean of {draws} draws of the "
        f"diabetes data ({HISTORY_ROWS} old and {NEW_ROWS} new patients)."
    )


def picture(errors: Mapping[str, float], cells: int) -> str:
    """Return the two tables, and the errors on the paper's data with the digits of the table."""
    drawn = {w: words.strip("*`").partition(",")[0] for w, words in WAYS.items()}
    ours = frozenset(words for w, words in drawn.items() if w.endswith("_pooling"))
    about = f"RMSE / RMSE of ridge without history, geometric mean of {cells} cells"
    return svg({drawn[w]: round(errors[w], 2) for w in WAYS}, ours, about=about)


if __name__ == "__main__":
    main()
