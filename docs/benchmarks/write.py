"""Run the benchmarks and write what they print into this folder: ``make bench-pages``.

``python docs/benchmarks/write.py [NAME]...`` runs those alone that are named. Nothing else should
run on the machine meanwhile.
"""

import json
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

HERE = Path(__file__).parent
COMMANDS = {
    "speed": ["benchmarks"],
    "scale": ["benchmarks.scale"],
    "boosted": ["benchmarks.boosted", "--jobs", "2", "--only", "datasets"],
    "lies": ["benchmarks.boosted", "--jobs", "2"]
    + [f"--only={question}" for question in ("lies", "coverage")],
    "cost": ["benchmarks.boosted", "--only=cost", "--only=auto"],
    "accuracy": ["benchmarks.accuracy"],
    "messy": ["benchmarks.messy", "--jobs", "2"],
    "today": ["benchmarks.today", "--jobs", "2", "--picture", "docs/pictures/two_tables.svg"],
}
WITHOUT_FIGURE = {"cost", "accuracy", "messy", "today"}  # their tables say more


def main() -> None:
    for name in sys.argv[1:] or COMMANDS:
        command = [sys.executable, "-m", *COMMANDS[name]]
        answers = HERE / f"{name}.json"
        if name not in WITHOUT_FIGURE:
            command += ["--json", str(answers)]
        printed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        (HERE / f"{name}.txt").write_text(printed, encoding="utf-8")
        if name not in WITHOUT_FIGURE:
            draw(json.loads(answers.read_text()), HERE / f"{name}.svg")
            answers.unlink()


def draw(data: dict, file: Path) -> None:
    """Draw each median over its target."""
    judged = [a for a in data["answers"] if a["target"]]
    figure, axes = plt.subplots(figsize=(8.0, 0.8 + 0.42 * len(judged)), layout="constrained")
    for line, answer in enumerate(reversed(judged)):
        _line(axes, line, answer)
    axes.axvline(1.0, color="#222222", linewidth=1.0)
    axes.set(xscale="log", xlabel="measured / target", yticks=range(len(judged)))
    low, high = axes.get_xlim()
    wide = LogLocator(subs=(1.0, 2.0, 5.0)) if high > 5.0 * low else MaxNLocator(6)
    axes.xaxis.set_major_locator(wide)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axes.set_yticklabels([_short(a["what"]) for a in reversed(judged)], fontsize=8)
    figure.savefig(file, metadata={"Date": None, "Creator": "poolwise"})
    plt.close(figure)


def _line(axes: Axes, line: int, answer: dict) -> None:
    low, high = answer["range"]
    at_most = high < sys.float_info.max
    target = high if at_most else low
    values = [
        v / target for v in (answer["median"], min(answer["repeats"]), max(answer["repeats"]))
    ]
    color = "#1b7837" if answer["met"] else "#b2182b"
    axes.hlines(line, values[1], values[2], color=color, linewidth=2.0)
    axes.plot(values[0], line, "o", color=color)
    axes.annotate(
        answer["target"],
        (1.0, line),
        xytext=(1.01, line),
        textcoords=("axes fraction", "data"),
        va="center",
        fontsize=8,
        annotation_clip=False,
    )


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


if __name__ == "__main__":
    main()
