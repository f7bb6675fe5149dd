"""Size and shape of the package, and the modules that a run passes through.

``python -m benchmarks.anatomy`` prints one table; ``--chain``, ``--modules RUN`` or ``--switches
RUN`` print the names behind its numbers instead.

An import counts if importing the module executes it: not in a function, not below ``if
TYPE_CHECKING``. ``from a import b`` imports ``a.b`` where that is a module, ``a`` otherwise, and
not the packages above as well. A chain is counted in modules.

Each run is made twice, and ``sys.setprofile`` follows the second, when imports and caches are done.
Only frames whose code is in a file of the package count, and only in this thread. Each "call" event
of such a frame is a call: functions, comprehensions, lambdas, and each time a generator is resumed.
It is a module switch if the nearest frame of the package on the stack is of another module. Depth
is the largest number of these frames on the stack. Functions are those with a name. From Python
3.12 on, list comprehensions have no frame: fewer calls, less depth, the same switches.
"""

from __future__ import annotations

import ast
import sys
import warnings
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import poolwise
from benchmarks.tables import make_tables
from poolwise import PooledRegressor, report

Chain = tuple[str, ...]
PACKAGE = Path(poolwise.__file__).parent
CORE = (  # what a newcomer reads first
    "moments/moments.py",
    "linear/problem.py",
    "linear/regress.py",
    "methods/data_pooling.py",
    "model/regressor.py",
)
TYPING = ("TYPE_CHECKING", "typing.TYPE_CHECKING")
TABLES = make_tables(400, shared=2, new=1, target_rows=60)
GIVEN: Mapping[str, Any] = {"X": TABLES.X, "y": TABLES.y, "sources": TABLES.sources()}
_fitted = cache(lambda: PooledRegressor().fit(**GIVEN))  # in the first run, not in the second
RUNS: Mapping[str, Callable[[], object]] = {
    "target_only fit": lambda: PooledRegressor("target_only").fit(**GIVEN),
    "default fit": lambda: PooledRegressor().fit(**GIVEN),
    "boosted fit": lambda: PooledRegressor("boosted_pooling").fit(**GIVEN),
    "report": lambda: report(**GIVEN, progress=False).html(),
    "predict": lambda: _fitted().predict(TABLES.X),
}


@dataclass(frozen=True)
class Passage:
    """What one run passes through."""

    calls: Counter[str]  # into each module, in the order of first entry
    functions: int
    switches: Counter[tuple[str, str]]  # by the module of the caller and of the callee
    depth: int

    @property
    def counts(self) -> dict[str, int]:
        """How many modules, functions, calls and module switches, and how deep."""
        return {
            "modules": len(self.calls),
            "functions": self.functions,
            "calls": self.calls.total(),
            "switches": self.switches.total(),
            "depth": self.depth,
        }


@dataclass(frozen=True)
class Anatomy:
    """The numbers of the table."""

    modules: int
    lines: Mapping[str, int]  # of each kind
    entries: tuple[str, ...]  # files and folders at the root of the package
    chain: Chain  # the importing module first
    cycles: tuple[Chain, ...]  # the chain leaves out one import of each
    core: Mapping[str, int]  # lines of each file that is there
    runs: Mapping[str, Passage]


def anatomy(package: Path = PACKAGE, runs: Iterable[str] = RUNS) -> Anatomy:
    """Return the numbers of a package, and of the named runs of poolwise."""
    modules = modules_of(package)
    chain, cycles = longest_chain(imports_of(package))
    return Anatomy(
        modules=len(modules),
        lines=sum(map(line_kinds, modules.values()), Counter()),
        entries=root_entries(package),
        chain=chain,
        cycles=cycles,
        core={f: line_kinds(package / f).total() for f in CORE if (package / f).is_file()},
        runs={name: follow(RUNS[name]) for name in runs},
    )


def modules_of(package: Path) -> dict[str, Path]:
    """Return the file of each module, by full name."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def root_entries(package: Path) -> tuple[str, ...]:
    """Return the files and folders at the root, without folders in which only bytecode is left."""
    files = (path.relative_to(package) for path in package.rglob("*") if path.is_file())
    return tuple(sorted({path.parts[0] for path in files if "__pycache__" not in path.parts}))


def line_kinds(path: Path) -> Counter[str]:
    """Return how many lines of a file are of each kind."""
    text, docs = path.read_text(encoding="utf-8"), set[int]()
    for node in ast.walk(ast.parse(text)):
        documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        if isinstance(node, documented) and ast.get_docstring(node) is not None:
            docs.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    rest = [line.strip() for n, line in enumerate(text.splitlines(), start=1) if n not in docs]
    kinds = ("blank" if not line else "comments" if line[0] == "#" else "code" for line in rest)
    return Counter(kinds) + Counter(docstrings=len(docs))


def imports_of(package: Path) -> dict[str, set[str]]:
    """Return the modules of the package that each of them imports when it is imported itself."""
    modules, graph = modules_of(package), {}
    for name, path in modules.items():
        home = name if path.name == "__init__.py" else name.rpartition(".")[0]
        named: list[str] = []
        for node in _executed([ast.parse(path.read_text(encoding="utf-8"))]):
            if isinstance(node, ast.Import):
                named += (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = resolve_name("." * node.level + (node.module or ""), home)
                members = (f"{base}.{alias.name}" for alias in node.names)
                named += (member if member in modules else base for member in members)
        graph[name] = {other for other in named if other in modules} - {name}
    return graph


def _executed(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield the nodes and all below, without bodies of functions and of ``if TYPE_CHECKING``."""
    for node in nodes:
        yield node
        if isinstance(node, ast.If) and ast.unparse(node.test) in TYPING:
            yield from _executed(node.orelse)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _executed(ast.iter_child_nodes(node))


def longest_chain(graph: Mapping[str, Iterable[str]]) -> tuple[Chain, tuple[Chain, ...]]:
    """Return the longest chain of imports, the importing module first, and the cycles."""
    try:
        order = list(TopologicalSorter({n: sorted(graph[n]) for n in graph}).static_order())
    except CycleError as error:
        cycle = tuple(error.args[1][::-1])  # each imports the next, and the last is the first
        cut = set(graph[cycle[0]]) - {cycle[1]}
        chain, cycles = longest_chain({**graph, cycle[0]: cut})
        return chain, (cycle, *cycles)
    chains: dict[str, Chain] = {}
    for name in order:
        below = (chains[other] for other in sorted(graph.get(name, ())))
        chains[name] = (name, *max(below, key=len, default=()))
    return max(chains.values(), key=len, default=()), ()


def follow(run: Callable[[], object], package: Path = PACKAGE) -> Passage:
    """Run twice, and return what the second run passes through."""
    names = {str(path): name for name, path in modules_of(package).items()}
    calls, switches = Counter[str](), Counter[tuple[str, str]]()
    functions, stack, depth = set[CodeType](), list[str](), 0

    def note(frame: FrameType, event: str, _: object) -> None:
        nonlocal depth
        module = names.get(frame.f_code.co_filename)
        if module is not None and event == "return":
            stack.pop()
        elif module is not None and event == "call":
            calls[module] += 1
            if not frame.f_code.co_name.startswith("<"):
                functions.add(frame.f_code)
            if stack and stack[-1] != module:
                switches[stack[-1], module] += 1
            stack.append(module)
            depth = max(depth, len(stack))

    before = sys.getprofile()
    with warnings.catch_warnings(action="ignore"):
        run()
        sys.setprofile(note)
        try:
            run()
        finally:
            sys.setprofile(before)
    return Passage(calls, len(functions), switches, depth)


def as_text(found: Anatomy) -> str:
    """Return the numbers as a table."""
    sizes = {
        "modules": found.modules,
        "lines": sum(found.lines.values()),
        **{f"  {kind}": found.lines[kind] for kind in ("code", "docstrings", "comments", "blank")},
        "entries at the root": len(found.entries),
        "longest import chain": len(found.chain),
        "import cycles": len(found.cycles),
        f"lines of the core, {len(found.core)} of {len(CORE)} files": sum(found.core.values()),
    }
    lines = [f"{what:<33}{count:>8,}" for what, count in sizes.items()]
    lines += ["", "run                modules  functions      calls   switches      depth"]
    for name, run in found.runs.items():
        lines.append(f"{name:<15}" + "".join(f"{count:>11,}" for count in run.counts.values()))
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = ArgumentParser(prog="benchmarks.anatomy", description="Size and shape of poolwise.")
    parser.add_argument("--chain", action="store_true", help="the longest import chain, and cycles")
    parser.add_argument("--modules", choices=RUNS, help="modules by first entry, calls into each")
    parser.add_argument("--switches", choices=RUNS, help="pairs of modules, calls by caller")
    options = parser.parse_args(arguments)
    if options.chain:
        chain, cycles = longest_chain(imports_of(PACKAGE))
        lines = [*chain, *("cycle: " + " -> ".join(cycle) for cycle in cycles)]
    elif options.modules:
        calls = follow(RUNS[options.modules]).calls
        lines = [f"{count:>7,}  {module}" for module, count in calls.items()]
    elif options.switches:
        pairs = follow(RUNS[options.switches]).switches.most_common()
        lines = [f"{count:>7,}  {caller} -> {callee}" for (caller, callee), count in pairs]
    else:
        lines = [as_text(anatomy())]
    print("\n".join(lines))


if __name__ == "__main__":
    main()
