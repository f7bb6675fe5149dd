"""Compute the paper again by both protocols and write the pages of this folder.

``python -m docs.paper.write [FOLDER]``, which is ``make paper-pages``; what is finished in FOLDER
is not computed again.
"""

import sys
from pathlib import Path
from shutil import copyfile

from paper.reproduction import NAMES, Outcome, entry_of, reproduce
from paper.specs import FIGURES

HERE = Path(__file__).parent
LEADS = {
    "published": """# Tables, as published

What `make reproduce ARGS=all` computes with the published protocol, next to the
printed numbers; bold numbers differ. [The paper](../reproduction.md) explains data, splits and
where rounding decides.
""",
    "corrected": """# Tables, corrected

The same tables with the errors of the published program corrected (`--protocol corrected`), next to
the printed ones; bold numbers differ. [Two protocols](../reproduction.md#two-protocols) explains
the errors and their effect.
""",
}
ABOUT_FIGURES = """# Figures

Every figure of the paper, computed again by `make reproduce ARGS=all` with the published protocol.
Bands are 95 % intervals of the mean. Below each figure are the paper's statements about its own,
and what was found here; `make reproduce ARGS=NAME` prints the same.
"""


def main() -> None:
    out = sys.argv[1] if len(sys.argv) > 1 else "reproduction"
    for protocol, lead in LEADS.items():
        outcomes = list(reproduce(NAMES, protocol=protocol, jobs=2, out=out))
        tables = [_parts(o) for o in outcomes if o.name not in FIGURES]
        sections = ["\n\n".join(own) for own, _ in tables]
        legend = "\n\n".join(("## How to read the tables", *tables[0][1]))
        _write(f"{protocol}.md", [lead.strip(), *sections, legend])
        if protocol == "published":
            figures = [o for o in outcomes if o.name in FIGURES]
            _write("figures.md", [ABOUT_FIGURES.strip(), *map(_figure, figures)])


def _parts(outcome: Outcome) -> tuple[list[str], list[str]]:
    """Return title, table and summary of a rendered table, and the notes below them."""
    file = next(f for f in outcome.files if f.suffix == ".md")
    paragraphs = file.read_text(encoding="utf-8").strip().split("\n\n")
    return paragraphs[:3], paragraphs[3:]


def _figure(outcome: Outcome) -> str:
    """Copy a figure here; return its section."""
    picture = next(f for f in outcome.files if f.suffix == ".svg")
    copyfile(picture, HERE / picture.name)
    entry = entry_of(outcome.name)
    says = "\n".join(f"- {sentence}" for sentence in outcome.says)
    return f"## {entry.title} ({entry.where})\n\n![{entry.title}]({picture.name})\n\n{says}"


def _write(name: str, paragraphs: list[str]) -> None:
    (HERE / name).write_text("\n\n".join(paragraphs) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
