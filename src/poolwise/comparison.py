"""Comparison: scores of several methods on the same folds, and what they say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
import scipy.stats

from poolwise.double_double import Array
from poolwise.p_values import corrected_p
from poolwise.text_tables import html_table, paragraph, text_table
from poolwise.tree_summary import MeanTrees
from poolwise.wording import listed, plural

FEW_TEST_ROWS = 5  # below this the RMSE of a fold is far from that of all rows
FEWEST_TESTED = 10  # rows: the folds of fewer show chance alone, whatever their number
MOST_EFFECTS = 5  # of new columns that are told in words
LEVEL = 0.05  # of the verdict, after correction for several methods


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
        Rows of all sources, and complete rows of the target.
    test_rows : float
        Test rows in a fold, on average.
    own : tuple of str
        The user's own estimators among the methods, and those with trees. The verdict on history
        leaves them out: what they gain over a linear model may have nothing to do with it.
    trees : mapping of str to MeanTrees
        Of methods that are a weighted mean of linear models and trees: on average over folds, the
        weight of each candidate, what trees add, and what new columns do.
    """

    scores: Mapping[str, Array]
    baseline: str
    test_share: float
    skipped: Mapping[str, str] = field(default_factory=dict)
    history_rows: int = 0
    target_rows: int = 0
    test_rows: float = np.inf
    own: tuple[str, ...] = ()
    trees: Mapping[str, MeanTrees] = field(default_factory=dict)

    @property
    def weights(self) -> dict[str, dict[str, float]]:
        """The weight of each candidate of methods with trees, on average over folds."""
        return {method: dict(made.weights) for method, made in self.trees.items()}

    def records(self) -> list[dict[str, Any]]:
        """Return one record per method and fold: ``method, fold, rmse``."""
        return [
            {"method": method, "fold": k, "rmse": float(score)}
            for method, scores in self.scores.items()
            for k, score in enumerate(scores)
        ]

    def table(self) -> list[dict[str, Any]]:
        """Return one record per method, the best first.

        ``difference`` is the mean error less that of the baseline on the same folds, with its 95 %
        interval ``low, high`` and the two-sided ``p`` of the corrected resampled t-test (Nadeau
        and Bengio 2003): training sets overlap, so the variance of a mean difference over J folds
        is taken as (1/J + test rows / training rows) times that of one. ``p_holm`` is corrected
        for the number of methods (Holm 1979). They are None where there is no test: of one fold, or
        of fewer than ten test rows, which are the same in all repetitions.
        """
        base = self.scores[self.baseline]
        lines = []
        for method, scores in self.scores.items():
            line = {"method": method, "rmse": float(scores.mean()), "sd": _sd(scores)}
            lines.append(line | _difference(scores - base, self.test_share, self.has_test))
        _add_holm([line for line in lines if line["method"] != self.baseline])
        return sorted(lines, key=lambda line: line["rmse"])

    def answer(self) -> str:
        """Say in a word that stays whether history helps.

        Returns
        -------
        str
            One of helps, hurts, unclear, nothing_to_compare.
        """
        base, lines = self._lines()
        if not lines or not self.history_rows:
            return "nothing_to_compare"
        best = next(iter(lines.values()))
        if not _is_significant(best):
            return "unclear"
        return "helps" if best["rmse"] < base["rmse"] else "hurts"

    @property
    def has_test(self) -> bool:
        """Whether there are enough folds and rows to tell a difference from chance."""
        folds = len(self.scores[self.baseline])
        rows = self.test_rows * folds
        return folds > 1 and min(rows, self.target_rows or rows) >= FEWEST_TESTED

    def verdict(self) -> str:
        """Say in words whether history helps."""
        base, lines = self._lines()
        history, target = plural(self.history_rows, "row"), plural(self.target_rows, "target row")
        rows = f"{history} of history beside {target}"
        if not lines and self.history_rows and (own := [n for n in self.own if n in self.scores]):
            return (
                f"{', '.join(own)}: another kind of model than {self.baseline}, so a smaller error "
                "says nothing about history by itself. Compare bayes_pooling, too."
            )
        answer = self.answer()
        if answer == "nothing_to_compare":
            return f"There is nothing to compare: {rows}, methods {listed([*self.scores])}."
        best = next(iter(lines.values()))
        change = f"{abs(1 - best['rmse'] / base['rmse']):.1%}" if base["rmse"] else "by all of it"
        numbers = (
            f"{best['method']} has RMSE {best['rmse']:.4g} against {base['rmse']:.4g} of "
            f"{self.baseline} on target rows"
        )
        how = "lower" if best["rmse"] < base["rmse"] else "higher"
        sure = _sure(best, len(self.scores) - 1)
        if answer == "helps":
            said = f"History helps: {numbers}, {change} {how} ({sure}; {rows})."
        elif answer == "hurts":
            said = f"History hurts, by every method: {numbers}, {change} {how} ({sure})."
        else:
            said = (
                f"Not clear whether history helps: {numbers}, {change} {how}, which may be chance "
                f"({sure}; {rows})."
            )
        worse = [
            line["method"]
            for line in lines.values()
            if line["rmse"] > base["rmse"] and _is_significant(line)
        ]
        if worse:
            said += f" Worse than {self.baseline}: {', '.join(worse)}."
        better = [n for n in self.own if n in self.scores and self.scores[n].mean() < best["rmse"]]
        if better:
            said += (
                f" Lower still: {', '.join(better)}, another kind of model, which says nothing "
                "about history by itself."
            )
            if not {"auto", "boosted_pooling"} & self.scores.keys():
                said += " The methods auto and boosted_pooling have trees, and pool."
            elif {"auto", "boosted_pooling"} & {*better}:
                said += " The report holds such a model against the same one without history."
        return said

    def _lines(self) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Return the line of the baseline, and those of methods that use history."""
        lines = {line["method"]: line for line in self.table() if line["method"] not in self.own}
        return lines.pop(self.baseline), lines

    def __str__(self) -> str:
        lines = text_table(*self.cells())
        left_out = [f"{name} was left out: {why}" for name, why in self.skipped.items()]
        lines += map(paragraph, (*left_out, "", *self.notes(), self.verdict()))
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        left_out = [f"{escape(n)} was left out: {escape(w)}" for n, w in self.skipped.items()]
        said = [escape(text) for text in (*self.notes(), self.verdict())]
        paragraphs = "".join(f"<p>{text}</p>" for text in (*left_out, *said))
        return html_table(*self.cells()) + paragraphs

    def notes(self) -> list[str]:
        """Return what a reader of the table should know."""
        folds = len(self.scores[self.baseline])
        said = [f"Means over {folds} fold{'' if folds == 1 else 's'}, the same for every method."]
        said += [self._said_of_trees(method) for method in self.trees]
        if self.test_rows >= FEW_TEST_ROWS:
            return said
        return [
            *said,
            f"Folds of {self.test_rows:.3g} test rows: a mean of their RMSE is below the RMSE of "
            "all rows together. It compares methods; it is no error to expect.",
        ]

    def _said_of_trees(self, method: str) -> str:
        """Say what a weighted mean is made of, what its trees add, and what new columns do."""
        made, line = self.trees[method], self.scores.get("bayes_pooling")
        each = ", ".join(f"{name} {weight:.0%}" for name, weight in made.weights.items())
        folds = len(self.scores[method])
        which = "" if made.models == folds else f"the {made.models} of {folds} "
        took = " in which it took trees" if which else ""
        said = f"{method} is, on average over {which}folds{took}, {each}."
        fall, over = made.fall, "its linear candidate on rows that neither had seen"
        if line is not None and line.any():
            fall = 1.0 - float(np.mean(self.scores[method] ** 2) / np.mean(line**2))
            over, which = "bayes_pooling", ""
        if not which:  # folds in which trees were taken are those in which they did well
            how = "below" if fall >= 0.0 else "above"
            said += f" Its squared error is {abs(fall):.0%} {how} that of {over}."
        largest = sorted(made.effects, key=lambda e: -abs(e.change))
        effects = [
            f"{e.change:+.3g} as {e.feature} goes from {e.low:.3g} to {e.high:.3g} (standard error "
            f"{e.std_error:.2g})"
            for e in largest[:MOST_EFFECTS]
        ]
        if not effects:
            return said
        more = len(largest) - len(effects)
        less = f"; less with {more} more new column{'' if more == 1 else 's'}" if more else ""
        return f"{said} The mean prediction changes by {', '.join(effects)}{less}."

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Return the table as it is printed: names of its columns, and its rows."""
        head = ["method", "RMSE", "sd", "difference", "95 % interval", "p", "p (Holm)"]
        rows = []
        for line in self.table():
            is_base = line["method"] == self.baseline
            interval = f"[{_signed(line['low'])}, {_signed(line['high'])}]"
            rows.append(
                [
                    line["method"],
                    f"{line['rmse']:.4g}",
                    f"{line['sd']:.3g}",
                    "-" if is_base else _signed(line["difference"]),
                    "-" if is_base or line["low"] is None else interval,
                    "-" if is_base else _p(line["p"]),
                    "-" if is_base else _p(line["p_holm"]),
                ]
            )
        return head, rows


def _sd(scores: Array) -> float:
    return float(scores.std(ddof=1)) if len(scores) > 1 else 0.0


def _difference(d: Array, test_share: float, has_test: bool) -> dict[str, float | None]:
    mean, folds = float(d.mean()), len(d)
    error = _sd(d) * np.sqrt(1.0 / folds + test_share)
    if not has_test:
        return {"difference": mean, "low": None, "high": None, "p": None, "p_holm": None}
    half = float(scipy.stats.t.ppf(0.975, folds - 1) * error)
    p = 1.0 if error == 0.0 else float(2.0 * scipy.stats.t.sf(abs(mean) / error, folds - 1))
    return {"difference": mean, "low": mean - half, "high": mean + half, "p": p, "p_holm": p}


def _add_holm(lines: list[dict[str, Any]]) -> None:
    """Correct p-values for their number (Holm 1979), in place."""
    known = [line for line in lines if line["p"] is not None]
    for line, p in zip(known, corrected_p([line["p"] for line in known]), strict=True):
        line["p_holm"] = float(p)


def _is_significant(line: Mapping[str, Any]) -> bool:
    return line["p_holm"] is not None and line["p_holm"] < LEVEL


def _sure(line: Mapping[str, Any], methods: int) -> str:
    if line["p_holm"] is None:
        return f"no test: it takes two folds and {FEWEST_TESTED} rows"
    corrected = f" after correction for {methods} methods" if methods > 1 else ""
    return f"p {_p(line['p_holm'])}{corrected}"


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.3g}"


def _p(value: float | None) -> str:
    if value is None:
        return "-"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
