"""Errors of several methods on the same folds, with tests and the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
import scipy.stats

from poolwise._typing import Array
from poolwise.evaluation.shift import corrected_p
from poolwise.evaluation.verdict import (
    FEWEST_ROWS,
    HistoryEffect,
    Verdict,
    no_history,
    unknown,
    verdict,
)
from poolwise.methods import DEFAULT_METHOD
from poolwise.model.tree_summary import MeanTrees
from poolwise.wording import html_table, paragraph, plural, text_table

FEW_TEST_ROWS = 5  # with fewer, the RMSE of a fold is far from the RMSE of all rows
# Always compared, and without history; differences are against the first.
RIVALS = {"target_ridge": "ridge regression", "target_only": "least squares"}
BASELINE = next(iter(RIVALS))
FAR_OFF = 1.1  # times the error of the baseline: a fit without history that is worse is no rival
NOT_JUDGED = (
    "No method of poolwise was measured with and without history; compare bayes_pooling, too."
)
LEVEL = 0.05  # of a difference between methods, after correction for their number


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Root mean squared errors on target rows, per method and fold.

    Parameters
    ----------
    scores : mapping of str to array
        Error of each method in each fold, the same folds for all.
    baseline : str
        The method that the others are measured against.
    test_share : float
        Test rows per training row in a fold, which the corrected test needs.
    skipped : mapping of str to str
        Methods that could not run, and why.
    history_rows, target_rows : int
        Rows of all sources, and rows of the target.
    held_out : int
        Rows of the target that were in some test set; all of them, unless given.
    test_rows : float
        Test rows in a fold, on average.
    own : tuple of str
        Estimators of the user. Their gain over a linear model may have nothing to do with history.
    nonlinear : tuple of str
        Methods of poolwise that are not linear, of which the same is true.
    trees : mapping of str to MeanTrees
        For methods that are a weighted mean of linear models and trees: the weights of the
        candidates, and the gain of trees, on average over folds.
    judged : str, optional
        The method that the verdict is about; see :attr:`judged_method`.
    without : array, optional
        Error of this method without history in each fold; by default the error of the baseline.
    expected : HistoryEffect, optional
        The expected effect of history.
    scale : str
        What was fitted, if that is a transform of the response.
    split : str
        What is special about the folds, as a sentence.
    """

    scores: Mapping[str, Array]
    baseline: str
    test_share: float
    skipped: Mapping[str, str] = field(default_factory=dict)
    history_rows: int = 0
    target_rows: int = 0
    held_out: int = 0
    test_rows: float = np.inf
    own: tuple[str, ...] = ()
    nonlinear: tuple[str, ...] = ()
    trees: Mapping[str, MeanTrees] = field(default_factory=dict)
    judged: str | None = None
    without: Array | None = None
    expected: HistoryEffect | None = None
    scale: str = ""
    split: str = ""

    def records(self) -> list[dict[str, Any]]:
        """Return one record per method and fold: ``method, fold, rmse``."""
        return [
            {"method": method, "fold": k, "rmse": float(score)}
            for method, scores in self.scores.items()
            for k, score in enumerate(scores)
        ]

    def table(self) -> list[dict[str, Any]]:
        """Return one record per method, the best first.

        ``difference`` is the mean error minus the error of the baseline on the same folds, with its
        95 % interval ``low, high`` and the two-sided ``p`` of the corrected resampled t-test
        (Nadeau and Bengio 2003): training sets overlap, so the variance of a mean difference over
        J folds is (1/J + test rows / training rows) times the variance of one. ``p_holm`` is
        corrected for the number of methods (Holm 1979). They are None for one fold or fewer than
        ten test rows.
        """
        base = self.scores[self.baseline]
        lines: list[dict[str, Any]] = []
        for method, scores in self.scores.items():
            line = {"method": method, "rmse": float(scores.mean()), "sd": _sd(scores)}
            lines.append(line | _difference(scores - base, self.test_share, self.has_test))
        known = [x for x in lines if x["method"] != self.baseline and x["p"] is not None]
        for line, p in zip(known, corrected_p([x["p"] for x in known]), strict=True):
            line["p_holm"] = float(p)
        return sorted(lines, key=lambda line: line["rmse"])

    @property
    def has_test(self) -> bool:
        """Whether there are enough folds and rows for a test."""
        rows = self.held_out or self.target_rows or FEWEST_ROWS
        return len(self.scores[self.baseline]) > 1 and rows >= FEWEST_ROWS

    @property
    def judged_method(self) -> str | None:
        """The method that the verdict is about.

        The one that was named, else bayes_pooling, else the linear method with the lowest error,
        else the method with the lowest error; None where history was used by the user's own
        estimators alone.
        """
        if self.judged is not None:
            return self.judged
        if DEFAULT_METHOD in self._candidates:
            return DEFAULT_METHOD
        return min(self._candidates, key=lambda n: self.scores[n].mean(), default=None)

    @property
    def _candidates(self) -> list[str]:
        ours = [n for n in self.scores if n not in (*RIVALS, *self.own)]
        return [n for n in ours if n not in self.nonlinear] or ours

    @property
    def effect(self) -> HistoryEffect | None:
        """The measured change of the error of one method, against itself without history.

        Against the baseline if the method without history has more than 1.5 times its error.

        A method that was chosen for its low error is corrected for that (Bonferroni). None where
        nothing was measured, or where the error without history is zero.
        """
        method = self.judged_method
        alone, over = self._alone
        if method is None or method not in self.scores or not (base := float(alone.mean())):
            return None
        chosen = self.judged is None and method != DEFAULT_METHOD
        tests = len(self._candidates) if chosen else 1
        line = _difference(self.scores[method] - alone, self.test_share, self.has_test, tests)
        change, rows = line["difference"] / base, (self.held_out or self.target_rows, len(alone))
        scale = "the response itself" if self.scale else ""
        about = *rows, over, scale, float(self.scores[method].mean())
        if (p := line["p"]) is None:
            return HistoryEffect("measured", method, change, None, None, None, *about)
        fell = 1.0 - p / 2.0 if change < 0.0 else p / 2.0
        low = max(line["low"] / base, -1.0)  # no error falls by more than all of it
        high = line["high"] / base
        return HistoryEffect("measured", method, change, low, high, fell, *about)

    @property
    def _alone(self) -> tuple[Array, str]:
        """The errors that history is judged against, and what had them.

        Where the method without history is worse than the baseline, as least squares with hardly
        more rows than columns, it is the baseline.
        """
        base, over = self.scores[self.baseline], HistoryEffect.over
        if self.without is None:
            return base, over
        if self.without.mean() > FAR_OFF * base.mean():
            return base, f"with {self.baseline}, on the recent rows alone"
        return self.without, over

    @property
    def verdict(self) -> Verdict:
        """Whether history helps, measured on target rows, and whether that was expected."""
        if not self.history_rows:
            rows = plural(self.target_rows, "recent row")
            return no_history(f"There is no history to compare with {rows}.")
        if self.judged_method is None:
            return verdict(self.expected, None, not_measured=NOT_JUDGED)
        if (effect := self.effect) is None:
            return unknown("the error without it is zero")
        is_linear = self.judged_method not in self.nonlinear
        return verdict(self.expected, effect, reasons=self._reasons(), is_linear=is_linear)

    def _reasons(self) -> list[str]:
        """Return the errors behind the verdict, and methods that were better or worse."""
        method, errors = self.judged_method, {n: float(s.mean()) for n, s in self.scores.items()}
        assert method is not None
        said = f"RMSE of {method}: {errors[method]:.4g} with history"
        if self.without is not None:
            said += f", {self.without.mean():.4g} without"
        rivals = [f"{errors[n]:.4g} by {RIVALS[n]} ({n})" for n in RIVALS if n in errors]
        told = [f"{said}; on the recent rows alone {' and '.join(rivals)}."]
        worse = [f"{x['method']} ({x['rmse']:.4g})" for x in self.table() if is_worse(x)]
        if worse:
            told.append(f"Worse than {self.baseline}, after correction: {', '.join(worse)}.")
        others = [n for n in (*self.own, *self.nonlinear) if n in errors]
        better = [f"{n} ({errors[n]:.4g})" for n in others if errors[n] < errors[method]]
        if better:
            told.append(
                f"Another kind of model has a lower error, for other reasons: {', '.join(better)}."
            )
        return told

    def __str__(self) -> str:
        told = *self.notes(), self.verdict.text
        return "\n".join([*text_table(*self.cells()), "", *map(paragraph, told)])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        told = *self.notes(), self.verdict.text
        return html_table(*self.cells()) + "".join(f"<p>{escape(text)}</p>" for text in told)

    def remarks(self) -> list[str]:
        """Return sentences about small folds, and a transform of the response."""
        said = []
        if self.test_rows < FEW_TEST_ROWS:
            said.append(
                f"Folds of {self.test_rows:.3g} test rows: the mean of their RMSE is below the "
                "RMSE of all rows together. Use it to compare methods, not as the error to expect."
            )
        if self.scale:
            said.append(
                f"Methods of poolwise were fitted to {self.scale}; errors are in the units of the "
                "response itself, of predictions of its mean."
            )
        return said

    def notes(self) -> list[str]:
        """Return notes on the table."""
        folds = plural(len(self.scores[self.baseline]), "fold")
        said = [f"Means over {folds}, the same for every method. {self.split}".rstrip()]
        said += [f"{name} was left out: {why}" for name, why in self.skipped.items()]
        return [*said, *map(self._said_of_trees, self.trees), *self.remarks()]

    def _said_of_trees(self, method: str) -> str:
        """Describe a weighted mean: candidates, and the gain of trees."""
        made, line = self.trees[method], self.scores.get("bayes_pooling")
        each = ", ".join(f"{name} {weight:.0%}" for name, weight in made.weights.items())
        folds = len(self.scores[method])
        which = "" if made.models == folds else f"the {made.models} of {folds} "
        took = " in which it took trees" if which else ""
        said = f"{method} is, on average over {which}folds{took}, {each}."
        fall, over = made.fall, "its linear candidate on rows that neither was fitted on"
        if line is not None and line.any():
            fall = 1.0 - float(np.mean(self.scores[method] ** 2) / np.mean(line**2))
            over, which = "bayes_pooling", ""
        if not which:  # folds in which trees were taken are folds in which they did well
            how = "lower" if fall >= 0.0 else "higher"
            said += f" Its squared error is {abs(fall):.0%} {how} than with {over}."
        return said

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Return the table as it is printed: names of its columns, and its rows."""
        head = ["method", "RMSE", "sd", "difference", "95 % interval", "p", "p (Holm)"]
        rows = []
        for line in self.table():
            is_base = line["method"] == self.baseline
            ends = "-" if line["low"] is None else f"[{line['low']:+.3g}, {line['high']:+.3g}]"
            tested = [f"{line['difference']:+.3g}", ends, _p(line["p"]), _p(line["p_holm"])]
            own = [line["method"], f"{line['rmse']:.4g}", f"{line['sd']:.3g}"]
            rows.append(own + (["-"] * 4 if is_base else tested))
        return head, rows


def _sd(scores: Array) -> float:
    return float(scores.std(ddof=1)) if len(scores) > 1 else 0.0


def _difference(d: Array, test_share: float, has_test: bool, tests: int = 1) -> dict[str, Any]:
    """Return the corrected resampled t-test of a mean difference over folds."""
    mean, folds = float(d.mean()), len(d)
    error = _sd(d) * np.sqrt(1.0 / folds + test_share)
    if not has_test:
        return {"difference": mean, "low": None, "high": None, "p": None, "p_holm": None}
    half = float(scipy.stats.t.ppf(1.0 - 0.025 / tests, folds - 1) * error)
    p = 1.0 if error == 0.0 else float(2.0 * scipy.stats.t.sf(abs(mean) / error, folds - 1))
    p = min(tests * p, 1.0)
    return {"difference": mean, "low": mean - half, "high": mean + half, "p": p, "p_holm": p}


def is_worse(line: Mapping[str, Any]) -> bool:
    """Return whether a method that uses history has a significantly larger error."""
    is_larger = line["method"] not in RIVALS and line["difference"] > 0.0
    return is_larger and line["p_holm"] is not None and line["p_holm"] < LEVEL


def _p(value: float | None) -> str:
    if value is None:
        return "-"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
