"""The demo: two tables with new columns and their history, which helps once and once does not."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes

from poolwise.cross_validation import compare
from poolwise.double_double import Array
from poolwise.methods import METHODS
from poolwise.moments import Moments
from poolwise.problem import Problem
from poolwise.progress import tracked
from poolwise.regressor import PooledRegressor
from poolwise.report import Report, report
from poolwise.summary import text_table

NEW_COLUMNS = ("bmi", "bp")
HISTORY_ROWS, NEW_ROWS = 250, 40
OLD_PUMPS, NEW_PUMPS = 1000, 60
SIZES = (12, 16, 20, 30, 40, 60, 80, 120)
DRAWN = {  # method -> how the figure calls it
    "target_only": "new patients only",
    "source_columns_only": "old columns only",
    "bayes_pooling": "pooled",
}

Say: TypeAlias = Callable[[Any], None]


def main(arguments: Sequence[str] | None = None) -> None:
    """Tell the stories, with numbers computed on the spot.

    Parameters
    ----------
    arguments : sequence of str, optional
        Command-line arguments; those of the process unless given.
    """
    parser = argparse.ArgumentParser(prog="python -m poolwise.demo", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("demo_output"), help="folder for files")
    parser.add_argument("--draws", type=int, default=100, help="random draws behind the figure")
    options = parser.parse_args(arguments)
    tell_stories(options.out, options.draws)


def tell_stories(out: Path, draws: int, *, quiet: bool = False) -> list[dict[str, Any]]:
    """Tell both stories, and write a report of each.

    Parameters
    ----------
    out : Path
        The folder to write to; files of an earlier demo are replaced.
    draws : int
        Random draws behind the figure.
    quiet : bool, default=False
        Whether to print nothing.

    Returns
    -------
    list of dict
        Of each story its name, the answer of its report, the verdict, and the files.
    """
    out.mkdir(parents=True, exist_ok=True)
    say: Say = (lambda text: None) if quiet else (lambda text: print(text, flush=True))
    return [_clinic(out, draws, say), _pumps(out, say)]


def _clinic(out: Path, draws: int, say: Say) -> dict[str, Any]:
    """Tell of a clinic that adds two measurements, and whose old patients still help."""
    data = load_diabetes(as_frame=True, scaled=False)
    X, y = data.data, data.target.rename("progression")
    old = [c for c in X.columns if c not in NEW_COLUMNS]
    order = np.random.default_rng(0).permutation(len(X))
    history, new = order[:HISTORY_ROWS], order[HISTORY_ROWS : HISTORY_ROWS + NEW_ROWS]
    say(
        f"FIRST STORY\n\nA clinic predicts how diabetes progresses. It has {HISTORY_ROWS} past "
        f"patients with {len(old)} measurements,\nand {NEW_ROWS} new ones for whom "
        f"{' and '.join(NEW_COLUMNS)} were measured too. Pool them?\n"
    )
    sources = {"past patients": (X.iloc[history][old], y.iloc[history])}
    made = report(X.iloc[new], y.iloc[new], sources=sources, title="A clinic adds bmi and bp")
    say(made.model.summary())
    say(f"\n{made}")

    say(f"\nCross-validated on the {NEW_ROWS} new patients, as a user can:\n")
    say(compare(X.iloc[new], y.iloc[new], sources=sources))

    say(
        f"\n{NEW_ROWS} patients say little about an error. A demo can draw again: {draws} "
        f"times {HISTORY_ROWS} past\nand {NEW_ROWS} new patients, tested on all the others:\n"
    )
    results = _draw_again(X.to_numpy(), y.to_numpy(), list(X.columns), draws)
    at = SIZES.index(NEW_ROWS)
    say("\n".join(_results_table(results, at)))
    say("\n" + _verdict(results, at))
    figure = _draw_figure(results, out)
    say(f"\nFigure: {figure} (and .png): the same for {SIZES[0]} to {SIZES[-1]} new patients.")
    return _told("clinic", made, out, say, [figure])


def _pumps(out: Path, say: Say) -> dict[str, Any]:
    """Tell of a maker of pumps who changes the bearings, and whose old pumps mislead."""
    rng = np.random.default_rng(0)
    old, wear_old = _drawn_pumps(rng, OLD_PUMPS, level=2.0, load=-0.1, speed=0.03, vibration=0.0)
    new, wear = _drawn_pumps(rng, NEW_PUMPS, level=10.0, load=0.25, speed=0.004, vibration=6.0)
    say(
        f"\n\nSECOND STORY\n\nA maker of pumps predicts their wear from load and speed. It has "
        f"{OLD_PUMPS:,} old pumps, and {NEW_PUMPS} with a\nvibration sensor, and with other "
        "bearings, which nobody wrote down. Pool them? (The numbers are drawn.)\n"
    )
    sources = {"old pumps": (old.drop(columns="vibration"), wear_old)}
    made = report(new, wear, sources=sources, title="Pumps get a vibration sensor")
    say(str(made))
    stacked = PooledRegressor("mean_fill").fit(new, wear, sources=sources)
    say(
        f"\nWho stacks both tables and fills the gap with its mean gets {stacked.coef_[0]:+.2f} "
        f"for load, which is +0.25 in new pumps\nand -0.10 in old ones. Bayes pooling notices, and "
        f"says {made.model.coef_[0]:+.2f}."
    )
    return _told("pumps", made, out, say)


def _drawn_pumps(
    rng: np.random.Generator, rows: int, *, level: float, **coef: float
) -> tuple[Any, Any]:
    import pandas as pd

    load, speed = rng.gamma(4.0, 10.0, rows), rng.normal(1500.0, 200.0, rows)
    vibration = 0.02 * load + 0.001 * (speed - 1500.0) + rng.normal(0.0, 0.4, rows)
    X = pd.DataFrame({"load": load, "speed": speed, "vibration": vibration})
    wear = level + X.to_numpy() @ list(coef.values()) + rng.normal(0.0, 3.0, rows)
    return X, pd.Series(wear, name="wear")


def _told(
    name: str, made: Report, out: Path, say: Say, files: Sequence[Path] = ()
) -> dict[str, Any]:
    """Write the report of a story, and return what it says."""
    path = out / f"{name}.html"
    made.save(path, overwrite=True)
    say(f"\nReport: {path}\n{made.data['verdict']['headline']}")
    return {
        "name": name,
        "answer": made.data["verdict"]["answer"],
        "verdict": made.verdict,
        "report": str(path),
        "figures": [str(file) for file in files],
    }


@dataclass(frozen=True, eq=False)
class Results:
    """Test errors, of shape (draws, sizes), for each method."""

    rmse: dict[str, Array]


def _draw_again(X: Array, y: Array, names: list[str], draws: int) -> Results:
    old = [n for n in names if n not in NEW_COLUMNS]
    rows = np.column_stack((X, y))
    rmse = {method: np.empty((draws, len(SIZES))) for method in DRAWN}
    for k, order in tracked(enumerate(_orders(len(rows), draws)), draws, "Drawing again"):
        history = Moments.of_rows((*names, "y"), rows[order[:HISTORY_ROWS]]).select((*old, "y"))
        test = rows[order[HISTORY_ROWS + max(SIZES) :]]
        for j, size in enumerate(SIZES):
            new = rows[order[HISTORY_ROWS : HISTORY_ROWS + size]]
            problem = Problem(Moments.of_rows((*names, "y"), new), {"past": history}, "y")
            for method, errors in rmse.items():
                left = test[:, -1] - METHODS[method]().solve(problem).predict(test[:, :-1])
                errors[k, j] = np.sqrt(np.mean(left**2))
    return Results(rmse)


def _orders(rows: int, draws: int) -> Iterator[NDArray[np.intp]]:
    rng = np.random.default_rng(1)
    for _ in range(draws):
        yield rng.permutation(rows).astype(np.intp)


def _results_table(results: Results, at: int) -> list[str]:
    lines = [
        [DRAWN[m], f"{e[:, at].mean():.1f}", f"{e[:, at].std(ddof=1):.1f}"]
        for m, e in results.rmse.items()
    ]
    return text_table(["model", "mean RMSE", "sd over draws"], lines)


def _verdict(results: Results, at: int) -> str:
    pooled = results.rmse["bayes_pooling"][:, at]
    others = {DRAWN[m]: e[:, at] for m, e in results.rmse.items() if m != "bayes_pooling"}
    wins = [f"{np.mean(pooled < e):.0%} of draws against {label}" for label, e in others.items()]
    best = min(others.values(), key=np.mean)
    change = 1 - pooled.mean() / best.mean()
    says = "History helps" if change > 0 else "History does not help"
    return (
        f"{says}: pooling changes the mean error by {-change:+.1%} against the better of the two "
        f"others,\nand wins in {', in '.join(wins)}."
    )


def _draw_figure(results: Results, folder: Path) -> Path:
    """Draw error against new rows, with the middle half of the draws as bands."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes: Any = figure.subplots()
    colours = dict(zip(DRAWN, ("#8a8a8a", "#c98500", "#0b62a4"), strict=True))
    ends: dict[str, float] = {}
    for method, errors in results.rmse.items():
        low, middle, high = np.quantile(errors, (0.25, 0.5, 0.75), axis=0)
        axes.fill_between(SIZES, low, high, color=colours[method], alpha=0.15, linewidth=0)
        axes.plot(SIZES, middle, color=colours[method], linewidth=2)
        ends[method] = float(middle[-1])
    for method, height in _spread(ends, apart=2.0).items():
        axes.text(
            SIZES[-1] + 2, height, DRAWN[method], color=colours[method], va="center", clip_on=False
        )
    axes.set(
        xlabel="new patients with all columns",
        ylabel="error on other patients\n(RMSE: median and middle half of draws)",
        title=f"{HISTORY_ROWS} past patients without bmi and bp: do they help?",
        ylim=(50, min(95, float(np.quantile(results.rmse["target_only"], 0.75, axis=0).max()))),
    )
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlim(SIZES[0], SIZES[-1])
    axes.set_xticks([n for n in SIZES if n not in (16,)])
    folder.mkdir(parents=True, exist_ok=True)
    for ending in ("svg", "png"):
        figure.savefig(folder / f"history_helps.{ending}", dpi=150)
    return folder / "history_helps.svg"


def _spread(heights: dict[str, float], apart: float) -> dict[str, float]:
    """Move labels apart, upwards from the lowest, so that none covers another."""
    spread: dict[str, float] = {}
    for label in sorted(heights, key=lambda label: heights[label]):
        lowest = max(spread.values(), default=-np.inf) + apart
        spread[label] = max(heights[label], lowest)
    return spread


if __name__ == "__main__":
    main()
