"""CPU seconds of ``poolwise report`` on five pairs of raw CSV files.

``python -m benchmarks.raw_pairs [PAIR]...``: each report has default options and a process of its
own. The pairs are named in ``tests/raw_tables.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.process_tree import cost_of
from poolwise.wording import text_table
from tests.raw_tables import ALL, RawTables, write

MOST_SECONDS = 60.0


def main(names: Sequence[str]) -> int:
    """Write the files of each pair and a report on them; print the seconds."""
    lines, met = [], []
    with TemporaryDirectory() as folder:
        for name in names or ALL:
            cost = cost_of(_report(write(name, Path(folder))))
            met.append(cost.cpu < MOST_SECONDS)
            lines.append([name, f"{cost.cpu:.1f}", f"{cost.wall:.1f}", "yes" if met[-1] else "no"])
    head = ["pair", "CPU s", "wall s", f"under {MOST_SECONDS:g} s of CPU"]
    print("\n".join([*text_table(head, lines), "", f"Targets met: {sum(met)} of {len(met)}"]))
    return 0 if all(met) else 1


def _report(tables: RawTables) -> list[str]:
    files = [str(tables.history), str(tables.recent), "--label", tables.label]
    page = str(tables.recent.with_suffix(".html"))
    return [sys.executable, "-m", "poolwise.cli", "report", *files, "-o", page]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
