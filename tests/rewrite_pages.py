"""Write what the code of pages prints into them: ``python -m tests.rewrite_pages [PAGE ...]``.

Read the difference before it is committed: the text around a block may speak of its numbers.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.test_docs import NEEDS_JAVA, RUN, blocks_of, name_of, output_of, text_of


def rewritten(page: Path) -> str:
    """Return a page with the present output of each block that shows some."""
    text, names = text_of(page), {"__name__": "__main__"}
    with TemporaryDirectory() as folder, contextlib.chdir(folder):
        for block in blocks_of(page):
            output = output_of(block, page, names)
            if not block.shown or output.split() == block.shown.split():
                continue
            shown = "".join(f"{line.rstrip()}\n" for line in output.rstrip().split("\n"))
            start = text.index(block.code)
            before, after = text[:start], text[start:]
            text = before + after.replace(f"```text\n{block.shown}", f"```text\n{shown}", 1)
    return text


def main() -> None:
    pages = [Path(p).resolve() for p in sys.argv[1:]] or [p for p in RUN if p not in NEEDS_JAVA]
    for page in pages:
        text = rewritten(page)
        if text != text_of(page):
            page.write_text(text, encoding="utf-8")
            print(f"Rewritten: {name_of(page)}")


if __name__ == "__main__":
    main()
