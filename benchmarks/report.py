"""Results as a text table and as JSON."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from textwrap import wrap
from typing import Any

from threadpoolctl import threadpool_info

from benchmarks.answers import Answer
from benchmarks.clock import the_clock, threads

WIDTHS = (58, 26, 12)
PACKAGES = ("poolwise", "numpy", "scipy", "scikit-learn")


def tell(answers: Sequence[Answer], *, judged: bool, file: Path | None) -> None:
    """Print the table, and write it as JSON if a file is named."""
    print(as_text(answers, judged=judged))
    if file is not None:
        file.write_text(json.dumps(as_data(answers, judged=judged), indent=1) + "\n")


def as_text(answers: Sequence[Answer], *, judged: bool) -> str:
    """Return the table, and as its last line how many targets are met."""
    lines = [*_heading(), "", _line("Question", "Measured (repeats)", "Target", "Verdict"), ""]
    for answer in answers:
        what = wrap(answer.what, WIDTHS[0])
        lines.append(_line(what[0], _measured(answer), *_verdict(answer, judged=judged)))
        lines += what[1:]
        lines += wrap(answer.detail, 100, initial_indent="    ", subsequent_indent="    ")
    verdicts = [a.met for a in answers if a.met is not None]
    count = f"Targets met: {sum(verdicts)} of {len(verdicts)}"
    return "\n".join(
        [*lines, "", count if judged else "Targets met: none judged, a quick run is too small"]
    )


def as_data(answers: Sequence[Answer], *, judged: bool) -> dict[str, Any]:
    """Return all results as JSON types."""
    return {
        "machine": _heading(),
        "threads": threads(),
        "answers": [
            {
                "question": a.question,
                "what": a.what,
                "median": a.value,
                "repeats": list(a.values),
                "unit": a.unit or "ratio",
                "target": a.target and a.target.words,
                "range": a.target and [a.target.low, min(a.target.high, sys.float_info.max)],
                "met": a.met if judged else None,
                "detail": a.detail,
            }
            for a in answers
        ],
    }


def versions(packages: Sequence[str]) -> str:
    """Return the packages with their versions."""
    return ", ".join(f"{name} {version(name)}" for name in packages)


def _heading() -> list[str]:
    blas = sorted(
        f"{p['internal_api']} {p['version']}" for p in threadpool_info() if p["user_api"] == "blas"
    )
    load = f", load {os.getloadavg()[0]:.2f}" if hasattr(os, "getloadavg") else ""
    kind = "CPU seconds of that thread" if the_clock().__name__ == "thread_time" else "wall seconds"
    return [
        versions(PACKAGES),
        f"Python {platform.python_version()}, {sys.platform} {platform.machine()}, "
        f"{os.cpu_count()} cores{load}",
        f"BLAS ({', '.join(blas)}) held to {threads()} thread(s) for us and for the peers; {kind}",
        "Medians of interleaved repeats, in brackets the least and the greatest of them",
    ]


def _measured(answer: Answer) -> str:
    unit = f" {answer.unit}" if answer.unit else ""
    text = _number(answer.value) + unit
    if len(answer.values) == 1:
        return text
    return f"{text} ({_number(min(answer.values))} to {_number(max(answer.values))})"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000.0 else f"{value:#.3g}".rstrip(".")


def _verdict(answer: Answer, *, judged: bool) -> tuple[str, str]:
    if answer.target is None:
        return "", "information"
    return answer.target.words, ("met" if answer.met else "MISSED") if judged else "not judged"


def _line(*cells: str) -> str:
    *padded, last = cells
    return "  ".join([*(c.ljust(w) for c, w in zip(padded, WIDTHS, strict=True)), last]).rstrip()
