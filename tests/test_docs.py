"""The documentation: its code runs, its outputs are real, and what it names is there.

In a page, a ```python block is run, page by page and in order. What it prints, the warnings it
gives and the error it ends with stand in the ```text block right below it. Without such a block it
must be silent. Commands of ours in a ```sh block are run as well; where no block shows what they
print, they must succeed.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from fnmatch import fnmatch
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

import poolwise
from poolwise import METHODS, errors
from poolwise.cli.app import app
from poolwise.errors import PoolwiseError, PoolwiseWarning
from poolwise.linear import theory

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(p for p in DOCS.rglob("*.md") if "_build" not in p.parts)
FRONT = [
    ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG", "SECURITY", "DATA")
]
GUIDES = [ROOT / "README.md", DOCS / "start.md", *sorted((DOCS / "guides").glob("*.md"))]
GALLERY = sorted((DOCS / "examples").rglob("*.py"))
RUN = [p for p in PAGES + FRONT if "```python\n" in p.read_text(encoding="utf-8")]
HOLDERS = (poolwise, poolwise.methods, errors, theory)  # where a bare name may come from

FENCE = re.compile(r"^(?P<fence>`{3,})(?P<kind>[^\n`]*)\n(?P<body>.*?)^(?P=fence)$", re.M | re.S)
CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")
HEADING = re.compile(r"^(#{1,6}) +(.+?) *$", re.M)


# Pages whose code needs more than Python.
NEEDS_JAVA = {DOCS / "guides" / "spark.md"}
HAS_JAVA = shutil.which("java") or os.environ.get("JAVA_HOME")


def name_of(page):
    return str(page.relative_to(ROOT))


def text_of(page):
    return page.read_text(encoding="utf-8")


def prose_of(page):
    """Return a page without its code blocks."""
    return FENCE.sub("", text_of(page))


class Block(NamedTuple):
    kind: str
    line: int
    code: str
    shown: str


def blocks_of(page):
    """Return the blocks of a page that are run, each with the text block right below it."""
    text, found = text_of(page), list(FENCE.finditer(text_of(page)))
    for k, match in enumerate(found):
        kind = match["kind"].strip()
        if kind not in ("python", "sh"):
            continue
        below = found[k + 1] if k + 1 < len(found) else None
        shown = ""
        if below is not None and below["kind"].strip() == "text":
            shown = "" if text[match.end() : below.start()].strip() else below["body"]
        if kind == "python" or shown or (page in GUIDES and match["body"].startswith("poolwise ")):
            yield Block(kind, text.count("\n", 0, match.start("body")) + 1, match["body"], shown)


def output_of(block, page, names):
    """Run a block; return what it prints, then its warnings, then the error it ends with."""
    if block.kind == "sh":
        told = [output_of_command(line, block) for line in block.code.strip().split("\n")]
        return "".join(told) if block.shown else ""
    out, told = io.StringIO(), []
    code = compile("\n" * (block.line - 1) + block.code, str(page), "exec")
    with warnings.catch_warnings(record=True) as seen, contextlib.redirect_stdout(out):
        warnings.simplefilter("error")
        warnings.simplefilter("always", PoolwiseWarning)
        # What Spark says of pandas holds for its functions on pandas objects: no page has one.
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")
        try:
            exec(code, names)
        except PoolwiseError as error:
            told.append(f"{type(error).__name__}: {error}")
    told = [f"{w.category.__name__}: {w.message}" for w in seen] + told
    return out.getvalue() + "\n".join(told)


def output_of_command(line, block):
    """Run a command of ours in the working directory; return what it prints."""
    verb, *arguments = shlex.split(line, comments=True)
    assert verb == "poolwise", f"{line}: only our own commands are run"
    told = CliRunner().invoke(app, arguments)  # in this process, which has imported all it needs
    assert block.shown or not told.exit_code, f"{line}\n{told.stderr}"
    return told.stdout + told.stderr


def other_output(page, folder):
    """Run a page in a folder; return the first block that gives something else than is shown."""
    names = {"__name__": "__main__"}
    with contextlib.chdir(folder):  # a page may write files where it is
        for block in blocks_of(page):
            output = output_of(block, page, names)
            if output.split() != block.shown.split():
                return f"{name_of(page)}:{block.line}\n{output}"
    return None


@pytest.mark.parametrize("page", RUN, ids=name_of)
def test_the_code_of_a_page_runs_and_its_output_is_the_one_shown(page, tmp_path, monkeypatch):
    if page not in NEEDS_JAVA:
        assert other_output(page, tmp_path) is None
        return
    if not HAS_JAVA:
        pytest.skip("there is no Java, which Spark runs on")
    # A process has one session of Spark, whose working directory is the one it began in. What runs
    # once starts sooner when Java does not optimise it.
    java = "--driver-java-options -XX:TieredStopAtLevel=1"
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"{java} pyspark-shell")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
        assert alone.submit(other_output, page, tmp_path).result() is None


def test_only_pages_that_are_run_have_python_blocks():
    assert [name_of(p) for p in PAGES if p not in RUN and any(blocks_of(p))] == []


@pytest.mark.parametrize("page", PAGES + FRONT, ids=name_of)
def test_every_file_that_a_page_names_exists(page):
    assert [p for p in paths_in(prose_of(page)) if not exists(p, page)] == []


@pytest.mark.parametrize("page", PAGES + FRONT, ids=name_of)
def test_every_symbol_that_a_page_names_exists(page):
    assert [s for s in symbols_in(text_of(page)) if not resolves(s)] == []


@pytest.mark.parametrize("page", PAGES + FRONT, ids=name_of)
def test_every_class_and_verb_that_a_page_names_exists(page):
    if page.name == "CHANGELOG.md":  # which also tells of what is gone
        return
    typed = [line for b in FENCE.finditer(text_of(page)) for line in b["body"].split("\n")]
    typed += CODE.findall(prose_of(page))
    verbs = {m[1] for m in (re.match(r"make ([a-z][a-z-]*)", line) for line in typed) if m}
    assert sorted(verbs - set(re.findall(r"^([a-z-]+):", text_of(ROOT / "Makefile"), re.M))) == []
    classes = {c for c in CODE.findall(prose_of(page)) if re.fullmatch(r"([A-Z][a-z0-9]+){2,}", c)}
    assert sorted(classes - words_of_the_source()) == []


@cache
def words_of_the_source():
    files = [p for folder in ("src", "tests", "benchmarks") for p in (ROOT / folder).rglob("*.py")]
    return {word for p in files if p != Path(__file__) for word in re.findall(r"\w+", text_of(p))}


@pytest.mark.parametrize("page", PAGES + FRONT, ids=name_of)
def test_every_link_inside_the_documentation_leads_somewhere(page):
    broken = []
    for link in LINK.findall(prose_of(page)):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        there = (page.parent / file).resolve() if file else page
        if not there.exists() or (anchor and anchor not in anchors_of(there)):
            broken.append(link)
    assert broken == []


def test_every_page_is_in_a_table_of_contents():
    listed = {DOCS / "index.md"}
    written = {DOCS / "gallery" / "index.md"}  # by the build, as are the pages below it
    for page in PAGES:
        for match in FENCE.finditer(text_of(page)):
            if match["kind"].strip() == "{toctree}":
                entries = [e for e in match["body"].split("\n") if e and not e.startswith(":")]
                files = [re.sub(r".*<(.+)>", r"\1", entry) for entry in entries]  # Title <file>
                listed |= {page.parent / f"{file}.md" for file in files}
    assert sorted(map(name_of, set(PAGES) ^ (listed - written))) == []


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_a_section_with_its_assumptions_and_a_derivation(method):
    section = re.search(
        rf"^## `{method}`$(.*?)(?=^## |\Z)", text_of(DOCS / "methods.md"), re.M | re.S
    )
    assert section is not None
    assert "**Assumes**" in section[1]
    assert re.search(r"^\*\*Derivation\b[^*]*\*\*", section[1], re.M)


def test_every_error_and_warning_is_explained():
    kinds = {
        name
        for name, kind in vars(errors).items()
        if inspect.isclass(kind)
        and issubclass(kind, PoolwiseError | PoolwiseWarning)
        and kind.__module__ == errors.__name__
    }
    page = prose_of(DOCS / "guides" / "when_it_complains.md")
    lines = re.findall(r"^\| `(\w+)` \| .+ \| .+ \|$", page, re.M)
    assert sorted(lines) == sorted(kinds)


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("index.md", [f"poolwise.{n}" for n in poolwise.__all__]),
        (
            "methods.md",
            [f"poolwise.methods.{kind.__name__}" for kind in METHODS.values()],
        ),
        (
            "theory.md",
            [
                f"poolwise.linear.theory.{name}"
                for name, thing in vars(theory).items()
                if getattr(thing, "__module__", None) == theory.__name__ and name[0] != "_"
            ],
        ),
    ],
    ids=["poolwise", "poolwise.methods", "poolwise.linear.theory"],
)
def test_every_public_name_is_in_the_reference(page, names):
    text = text_of(DOCS / "api" / page)
    assert [n for n in names if not re.search(rf"\b{re.escape(n)}\b", text)] == []


def test_every_module_has_its_line_for_contributors():
    package = ROOT / "src" / "poolwise"
    there = {p.name for p in package.glob("*.py") if p.name != "__init__.py"}
    there |= {f"{p.parent.name}/" for p in package.glob("*/__init__.py")}
    lines = re.findall(r"^\| `([\w.]+/?)` \|", text_of(ROOT / "CONTRIBUTING.md"), re.M)
    assert sorted(there - set(lines)) == []


@pytest.mark.slow
def test_the_pages_build_without_a_warning(tmp_path):
    sphinx = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    built = subprocess.run(
        [*sphinx, str(DOCS), str(tmp_path / "html")], capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    figures = (tmp_path / "html" / "_images").glob("sphx_glr_*_[0-9][0-9][0-9].png")
    assert sorted(f.name for f in figures) == sorted(f"sphx_glr_{p.stem}_001.png" for p in GALLERY)


@pytest.mark.parametrize("page", [DOCS / "guides" / f"{n}.md" for n in ("files", "dask", "spark")])
def test_guides_quote_the_numbers_of_the_benchmarks_page(page):
    quoting = [p for p in prose_of(page).split("\n\n") if p.startswith("`make bench-scale`")]
    assert len(quoting) == 1
    printed = re.findall(r"[\d,.]*\d", text_of(DOCS / "benchmarks" / "scale.txt"))
    quoted = re.findall(r"\d+\.\d+", quoting[0])
    assert len(quoted) >= 3
    assert [q for q in quoted if q not in printed] == []


def test_the_gallery_answers_ten_questions_or_more():
    assert len({title_of(page) for page in GALLERY}) >= 10


@pytest.mark.parametrize("page", GALLERY, ids=name_of)
def test_a_page_of_the_gallery_asks_a_question_and_ends_in_one_figure_and_an_answer(page):
    title, tree = title_of(page), ast.parse(text_of(page))
    assert title.endswith("?")
    last = tree.body[-1]
    assert isinstance(last, ast.Expr)
    assert ast.unparse(last).startswith("print(f")  # an answer with the numbers just computed
    figures = [node.lineno for node in ast.walk(tree) if makes_a_figure(node)]
    assert len(figures) == 1
    blocks = [k for k, line in enumerate(text_of(page).splitlines(), 1) if line == "# %%"]
    assert figures[0] > max(blocks)  # in the last block, beside the answer


def title_of(page):
    return ast.get_docstring(ast.parse(text_of(page))).partition("\n")[0]


def makes_a_figure(node):
    makers = {"plt.subplots", "plt.figure", "plt.subplot_mosaic"}
    return isinstance(node, ast.Call) and ast.unparse(node.func) in makers


def paths_in(text):
    """Yield what is written as code and looks like a file or a folder of this repository."""
    for code in CODE.findall(text):
        ours = r"[\w.-]+(/[\w.-]+)*(\.(py|md|toml|lock|typed|cff)|/)"
        if re.fullmatch(ours, code) or re.fullmatch(r"(src|tests|docs|benchmarks)/[\w./-]+", code):
            yield code


def exists(path, page):
    """Say whether a path is there, from the root, the package or the page, or is made by a verb."""
    ignored = [p.strip("/") for p in text_of(ROOT / ".gitignore").splitlines() if p.strip("/")]
    parts = Path(path).parts
    if any(fnmatch("/".join(parts[:k]), i) for k in range(1, len(parts) + 1) for i in ignored):
        return True
    roots = (ROOT, ROOT / "src" / "poolwise", page.parent)
    return any((root / path).exists() for root in roots)


def symbols_in(text):
    """Yield dotted names that begin with poolwise, or with one of its classes."""
    yield from re.findall(r"(?<![\w./-])poolwise(?:\.\w+)+", text)
    for code in CODE.findall(FENCE.sub("", text)):
        if re.fullmatch(r"[A-Z]\w+\.\w+", code) and any(
            hasattr(holder, code.partition(".")[0]) for holder in HOLDERS
        ):
            yield code


def resolves(symbol):
    first, *rest = symbol.split(".")
    if first != "poolwise":
        found = next(getattr(h, first) for h in HOLDERS if hasattr(h, first))
        return hasattr(found, rest[0]) or rest[0] in getattr(found, "__dataclass_fields__", {})
    found = poolwise
    for k, name in enumerate(rest, start=1):
        if not hasattr(found, name):
            try:
                importlib.import_module(".".join([first, *rest[:k]]))
            except ImportError:
                return False
        if not hasattr(found, name):  # a function has taken the name of its package
            return False
        found = getattr(found, name)
    return True


def anchors_of(page):
    """Return the anchors of a page's headings, as GitHub and MyST write them."""
    titles = [title for _, title in HEADING.findall(prose_of(page))]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
