"""Comparison: scores of several methods on the same folds, and what they say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
import scipy.stats

from poolwise.double_double import Array
from poolwise.summary import html_table, text_table

LEVEL = 0.05  # of the verdict, after correction for several methods


@dataclass(frozen=True, eq=False)
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
    """

    scores: Mapping[str, Array]
    baseline: str
    test_share: float
    skipped: Mapping[str, str] = field(default_factory=dict)
    history_rows: int = 0
    target_rows: int = 0

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
        for the number of methods (Holm 1979).
        """
        base = self.scores[self.baseline]
        lines = []
        for method, scores in self.scores.items():
            line = {"method": method, "rmse": float(scores.mean()), "sd": _sd(scores)}
            lines.append(line | _difference(scores - base, self.test_share))
        _add_holm([line for line in lines if line["method"] != self.baseline])
        return sorted(lines, key=lambda line: line["rmse"])

    def verdict(self) -> str:
        """Say in words whether history helps."""
        lines = {line["method"]: line for line in self.table()}
        base = lines.pop(self.baseline)
        rows = f"{self.history_rows:,} rows of history beside {self.target_rows:,} target rows"
        if not lines or not self.history_rows:
            return f"There is nothing to compare: {rows}, methods {list(self.scores)}."
        best = next(iter(lines.values()))
        change = f"{abs(1 - best['rmse'] / base['rmse']):.1%}"
        numbers = (
            f"{best['method']} has RMSE {best['rmse']:.4g} against {base['rmse']:.4g} of "
            f"{self.baseline} on target rows"
        )
        how = "lower" if best["rmse"] < base["rmse"] else "higher"
        surely = _is_significant(best)
        if how == "lower" and surely:
            said = f"History helps: {numbers}, {change} {how} ({_sure(best)}; {rows})."
        elif how == "higher" and surely:
            said = f"History hurts, by every method: {numbers}, {change} {how} ({_sure(best)})."
        else:
            said = (
                f"Not clear whether history helps: {numbers}, {change} {how}, which may be chance "
                f"({_sure(best)}; {rows})."
            )
        worse = [
            line["method"]
            for line in lines.values()
            if line["rmse"] > base["rmse"] and _is_significant(line)
        ]
        return said + (f" Worse than {self.baseline}: {', '.join(worse)}." if worse else "")

    def __str__(self) -> str:
        lines = text_table(*self._cells())
        lines += [f"{name} was left out: {why}" for name, why in self.skipped.items()]
        return "\n".join([*lines, "", self.verdict()])

    def _repr_html_(self) -> str:
        left_out = [f"{escape(n)} was left out: {escape(w)}" for n, w in self.skipped.items()]
        paragraphs = "".join(f"<p>{text}</p>" for text in (*left_out, escape(self.verdict())))
        return html_table(*self._cells()) + paragraphs

    def _cells(self) -> tuple[list[str], list[list[str]]]:
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


def _difference(d: Array, test_share: float) -> dict[str, float | None]:
    mean, folds = float(d.mean()), len(d)
    error = _sd(d) * np.sqrt(1.0 / folds + test_share)
    if folds < 2:
        return {"difference": mean, "low": None, "high": None, "p": None, "p_holm": None}
    half = float(scipy.stats.t.ppf(0.975, folds - 1) * error)
    p = 1.0 if error == 0.0 else float(2.0 * scipy.stats.t.sf(abs(mean) / error, folds - 1))
    return {"difference": mean, "low": mean - half, "high": mean + half, "p": p, "p_holm": p}


def _add_holm(lines: list[dict[str, Any]]) -> None:
    """Correct p-values for their number (Holm 1979), in place."""
    known = sorted((line for line in lines if line["p"] is not None), key=lambda line: line["p"])
    largest = 0.0
    for k, line in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - k) * line["p"]))
        line["p_holm"] = largest


def _is_significant(line: Mapping[str, Any]) -> bool:
    return line["p_holm"] is not None and line["p_holm"] < LEVEL


def _sure(line: Mapping[str, Any]) -> str:
    if line["p_holm"] is None:
        return "one fold gives no test"
    return f"difference {_signed(line['low'])} to {_signed(line['high'])}, p {_p(line['p_holm'])}"


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.3g}"


def _p(value: float | None) -> str:
    if value is None:
        return "-"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
