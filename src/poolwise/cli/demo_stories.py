"""The stories of the demo: a clinic, where history helps, and pumps, where it does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from sklearn.datasets import load_diabetes

from poolwise._typing import Array
from poolwise.errors import NotInstalled
from poolwise.evaluation.compare import compare
from poolwise.linear.problem import Problem
from poolwise.methods import METHODS
from poolwise.model.regressor import PooledRegressor
from poolwise.moments.atomic_write import drafted
from poolwise.moments.moments import Moments
from poolwise.moments.progress import tracked
from poolwise.report import Report, report
from poolwise.wording import text_table

NEW_COLUMNS = ("bmi", "bp")
HISTORY_ROWS, NEW_ROWS = 250, 40
OLD_PUMPS, NEW_PUMPS = 1000, 60
FIGURE = "history_helps"
FILES = ("clinic.html", f"{FIGURE}.svg", f"{FIGURE}.png", "pumps.html")
SIZES = (12, 16, 20, 30, 40, 60, 80, 120)
DRAWN = {  # method -> its label in the figure
    "target_only": "new patients only",
    "source_columns_only": "old columns only",
    "bayes_pooling": "pooled",
}

Say: TypeAlias = Callable[[Any], None]
Errors: TypeAlias = dict[str, Array]  # RMSE of each method, of shape (draws, sizes)


def tell_stories(out: Path, draws: int, *, quiet: bool = False) -> list[dict[str, Any]]:
    """Print both stories and write a report of each; return names, verdicts and files.

    Files that exist are replaced: the command has asked before.
    """
    for package, extra in (("pyarrow", "io"), ("jinja2", "report"), ("matplotlib", "report")):
        if find_spec(package) is None:
            raise NotInstalled.of("The demo", package, extra, "Then try again.")
    out.mkdir(parents=True, exist_ok=True)
    say: Say = (lambda text: None) if quiet else (lambda text: print(text, flush=True))
    return [_clinic(out, draws, say), _pumps(out, say)]


def _clinic(out: Path, draws: int, say: Say) -> dict[str, Any]:
    """Show a clinic that adds two measurements: its past patients still help."""
    import pyarrow as pa

    data = load_diabetes(scaled=False)
    X, y, names = data.data, data.target, list(data.feature_names)
    old = [c for c in names if c not in NEW_COLUMNS]
    order = np.random.default_rng(0).permutation(len(X))
    history, new = order[:HISTORY_ROWS], order[HISTORY_ROWS : HISTORY_ROWS + NEW_ROWS]
    say(
        f"FIRST STORY\n\nA clinic predicts how diabetes progresses. It has {HISTORY_ROWS} past "
        f"patients with {len(old)} measurements,\nand {NEW_ROWS} new patients for whom "
        f"{' and '.join(NEW_COLUMNS)} were measured too. Do the past patients help?\n"
    )
    past = pa.table({n: X[history, names.index(n)] for n in old})
    sources = {"past patients": (past, y[history])}
    recent = pa.table(dict(zip(names, X[new].T, strict=True)))
    called: dict[str, Any] = {"sources": sources, "response": "progression"}
    made = report(recent, y[new], **called, title="A clinic adds bmi and bp")
    say(made.model.summary())
    say(f"\n{made}")

    say(f"\nAll methods, compared by cross-validation on the {NEW_ROWS} new patients:\n")
    say(compare(recent, y[new], **called))

    say(
        f"\nAn error measured on {NEW_ROWS} patients is uncertain. A demo can draw again: {draws} "
        f"times {HISTORY_ROWS} past\nand {NEW_ROWS} new patients, tested on all the others:\n"
    )
    results = _draw_again(X, y, names, draws)
    at = SIZES.index(NEW_ROWS)
    say("\n".join(_results_table(results, at)))
    say("\n" + _change_in_words(results, at))
    figure = _draw_figure(results, out)
    say(f"\nFigure: {figure} (and .png): the same for {SIZES[0]} to {SIZES[-1]} new patients.")
    return _written("clinic", made, out, say, [figure])


def _pumps(out: Path, say: Say) -> dict[str, Any]:
    """Show a maker of pumps that changes the bearings: its old pumps mislead."""
    rng = np.random.default_rng(0)
    old, wear_old = _drawn_pumps(rng, OLD_PUMPS, level=2.0, load=-0.1, speed=0.03, vibration=0.0)
    new, wear = _drawn_pumps(rng, NEW_PUMPS, level=10.0, load=0.25, speed=0.004, vibration=6.0)
    say(
        f"\n\nSECOND STORY\n\nA maker of pumps predicts their wear from load and speed. It has "
        f"{OLD_PUMPS:,} old pumps, and {NEW_PUMPS} with\na vibration sensor and with other "
        "bearings, which was not recorded. Do the old pumps help?\n(The data are simulated.)\n"
    )
    sources = {"old pumps": (old.drop_columns(["vibration"]), wear_old)}
    made = report(new, wear, sources=sources, response="wear", title="Pumps get a vibration sensor")
    say(str(made))
    stacked = PooledRegressor("mean_fill", response="wear").fit(new, wear, sources=sources)
    say(
        "\nThe coefficient of load is +0.25 in new pumps and -0.10 in old ones. Stacking both "
        f"tables and filling\nthe gap with its mean gives {stacked.coef_[0]:+.2f}; bayes_pooling "
        f"gives {made.model.coef_[0]:+.2f}."
    )
    return _written("pumps", made, out, say)


def _drawn_pumps(
    rng: np.random.Generator, rows: int, *, level: float, **coef: float
) -> tuple[Any, Array]:
    import pyarrow as pa

    load, speed = rng.gamma(4.0, 10.0, rows), rng.normal(1500.0, 200.0, rows)
    vibration = 0.02 * load + 0.001 * (speed - 1500.0) + rng.normal(0.0, 0.4, rows)
    columns = {"load": load, "speed": speed, "vibration": vibration}
    wear = level + rng.normal(0.0, 3.0, rows)
    for name, column in columns.items():
        wear += coef[name] * column
    return pa.table(columns), wear


def _written(
    name: str, made: Report, out: Path, say: Say, files: Sequence[Path] = ()
) -> dict[str, Any]:
    path = out / f"{name}.html"
    made.save(path, overwrite=True)
    say(f"\nReport: {path}\n{made.verdict.headline}")
    return {
        "name": name,
        "verdict": made.verdict.to_dict(),
        "report": str(path),
        "figures": [str(file) for file in files],
    }


def _draw_again(X: Array, y: Array, names: list[str], draws: int) -> Errors:
    old = [n for n in names if n not in NEW_COLUMNS]
    rows = np.column_stack((X, y))
    rmse = {method: np.empty((draws, len(SIZES))) for method in DRAWN}
    rng = np.random.default_rng(1)
    for k in tracked(range(draws), draws, "Drawing again"):
        order = rng.permutation(len(rows))
        history = Moments.of_rows((*names, "y"), rows[order[:HISTORY_ROWS]]).select((*old, "y"))
        test = rows[order[HISTORY_ROWS + max(SIZES) :]]
        for j, size in enumerate(SIZES):
            new = rows[order[HISTORY_ROWS : HISTORY_ROWS + size]]
            problem = Problem(Moments.of_rows((*names, "y"), new), {"past": history}, "y")
            for method, errors in rmse.items():
                left = test[:, -1] - METHODS[method]().solve(problem).predict(test[:, :-1])
                errors[k, j] = np.sqrt(np.mean(left**2))
    return rmse


def _results_table(results: Errors, at: int) -> list[str]:
    lines = [
        [DRAWN[m], f"{e[:, at].mean():.1f}", f"{e[:, at].std(ddof=1):.1f}"]
        for m, e in results.items()
    ]
    return text_table(["model", "mean RMSE", "sd over draws"], lines)


def _change_in_words(results: Errors, at: int) -> str:
    pooled = results["bayes_pooling"][:, at]
    others = {DRAWN[m]: e[:, at] for m, e in results.items() if m != "bayes_pooling"}
    wins = [f"{np.mean(pooled < e):.0%} of draws against {label}" for label, e in others.items()]
    best = min(others.values(), key=np.mean)
    change = 1 - pooled.mean() / best.mean()
    return (
        f"Over all draws, pooling changes the mean error by {-change:+.1%} against the better of "
        f"the two others,\nand wins in {', in '.join(wins)}."
    )


def _draw_figure(results: Errors, out: Path) -> Path:
    """Draw error against new rows, with the middle half of the draws as bands."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes: Any = figure.subplots()
    colours = dict(zip(DRAWN, ("#8a8a8a", "#c98500", "#0b62a4"), strict=True))
    ends: dict[str, float] = {}
    for method, errors in results.items():
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
        ylim=(50, min(95, float(np.quantile(results["target_only"], 0.75, axis=0).max()))),
    )
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlim(SIZES[0], SIZES[-1])
    axes.set_xticks([n for n in SIZES if n not in (16,)])
    for ending in ("svg", "png"):
        with drafted(out / f"{FIGURE}.{ending}", overwrite=True) as draft:
            figure.savefig(draft, format=ending, dpi=150)
    return out / f"{FIGURE}.svg"


def _spread(heights: dict[str, float], apart: float) -> dict[str, float]:
    """Move labels upwards, starting with the lowest, until no two overlap."""
    spread: dict[str, float] = {}
    for label in sorted(heights, key=lambda label: heights[label]):
        lowest = max(spread.values(), default=-np.inf) + apart
        spread[label] = max(heights[label], lowest)
    return spread
