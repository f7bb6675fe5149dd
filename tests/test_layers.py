"""Imports point one way: the arrows of the architecture, read from the source."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import poolwise
from poolwise.tables import engines

ROOT = Path(poolwise.__file__).parent

# An entry of the package may import only what stands before it.
ORDER = [
    "_typing",
    "wording",
    "errors",
    "numerics",
    "moments",
    "linear",
    "tables",
    "methods",
    "model",
    "evaluation",
    "report",
    "cli",
]
APART = ("tables", "methods")  # neither imports the other
# The packages from outside the standard library that the core may import.
CORE = {
    "_typing": {"numpy"},
    "wording": set(),
    "errors": set(),
    "numerics": {"numpy"},
    "moments": {"msgspec", "numpy", "rich"},
    "linear": {"msgspec", "numpy", "scipy"},
}
ENGINES = ["pandas", "polars", "pyarrow", "dask", "distributed"]


def modules():
    """Yield the name of each module inside poolwise, and its file."""
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def imports_of(name, path):
    """Return the full names of all modules that a file imports, wherever in the file."""
    package = ["poolwise", *name.split(".")] if name else ["poolwise"]
    if path.name != "__init__.py":
        package = package[:-1]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        found |= names_in(node, package)
    return found


def names_in(node, package=()):
    """Return the full names of the modules that one statement imports."""
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names}
    if not isinstance(node, ast.ImportFrom):
        return set()
    above = package[: len(package) + 1 - node.level] if node.level else []
    base = ".".join([*above, *([node.module] if node.module else [])])
    # "from poolwise import moments" and "from poolwise.tables import rows" name modules.
    members = {f"{base}.{alias.name}" for alias in node.names}
    return {base} | {name for name in members if is_module(name)}


def is_module(name):
    path = ROOT.parent.joinpath(*name.split("."))
    return name.startswith("poolwise.") and (path.is_dir() or path.with_suffix(".py").is_file())


def inside(name, path):
    """Return what a file imports from poolwise, without the prefix; the package itself is ''."""
    return {
        full.removeprefix("poolwise").removeprefix(".")
        for full in imports_of(name, path)
        if full == "poolwise" or full.startswith("poolwise.")
    }


def outside(name, path):
    """Return the top-level packages from outside the standard library that a file imports."""
    tops = {full.partition(".")[0] for full in imports_of(name, path)}
    return tops - {"poolwise", ""} - set(sys.stdlib_module_names)


def layer_of(module):
    return module.partition(".")[0]


def after_import(code):
    """Run code in a fresh interpreter and return what it prints."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


ALL = list(modules())


def test_the_source_is_found():
    assert {"", "errors", "moments.moments", "tables.rows", "methods"} <= {name for name, _ in ALL}


def test_the_root_of_the_package_has_the_twelve_entries():
    assert {layer_of(name) for name, _ in ALL if name} == set(ORDER)


def test_imports_point_backwards_only():
    for name, path in ALL:
        if not name:
            continue
        own = layer_of(name)
        allowed = set(ORDER[: ORDER.index(own) + 1])
        if own in APART:
            allowed -= set(APART) - {own}
        wrong = sorted(m for m in inside(name, path) if layer_of(m) not in allowed)
        assert not wrong, f"{name} imports {[m or 'poolwise' for m in wrong]}."


def test_the_core_needs_few_packages():
    for name, path in ALL:
        if (own := layer_of(name)) in CORE:
            assert outside(name, path) <= CORE[own], name


def test_only_moments_and_the_solver_know_how_the_scatter_is_stored():
    knowing = {name for name, path in ALL if "numerics.scatter" in inside(name, path)}
    assert "moments.moments" in knowing
    assert {layer_of(name) for name in knowing - {"model.saving"}} <= {"numerics", "moments"}


def test_each_engine_is_named_in_a_module_that_is_there():
    named = [*engines.ENGINES.values(), *engines.FRAMES_ELSEWHERE.values()]
    named += engines.CLUSTERS.values()
    assert {f"tables.{module}" for module in named} <= {name for name, _ in ALL}


# What scikit-learn does to a process is its own affair: it imports pandas where there is one.
THEIRS = """
import sys, warnings, narwhals, numpy, scipy.linalg, scipy.stats, sklearn
import sklearn.base, sklearn.metrics.pairwise, sklearn.model_selection, sklearn.utils.validation
"""


@pytest.mark.parametrize("package", ENGINES)
def test_no_module_imports_an_engine_before_it_meets_a_table_of_it(package):
    for name, path in ALL:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            assert package not in {top.partition(".")[0] for top in names_in(node)}, name


@pytest.mark.slow
def test_importing_poolwise_adds_no_engine_to_what_scikit_learn_imports():
    code = (
        f"{THEIRS}\nbefore = set(sys.modules)\nfrom poolwise import *\n"
        "print(*sys.modules.keys() - before)"
    )
    added = {name.partition(".")[0] for name in after_import(code).split()}
    assert "poolwise" in added
    assert not added & {*ENGINES, "matplotlib"}


@pytest.mark.slow
def test_importing_poolwise_alone_is_quick():
    code = "import sys, poolwise; print(*sys.modules)"
    loaded = {name.partition(".")[0] for name in after_import(code).split()}
    assert "poolwise" in loaded
    assert not loaded & {"numpy", "scipy", "sklearn", "rich", "typer", *ENGINES}


@pytest.mark.slow
def test_poolwise_works_where_no_engine_is_installed():
    code = f"""
import sys
for package in {ENGINES}:
    sys.modules[package] = None  # importing it fails
import numpy, poolwise
X, y = numpy.arange(8.0).reshape(4, 2) ** 2, [1.0, 3.0, 2.0, 5.0]
print(poolwise.PooledRegressor("target_only").fit(X, y).predict(X).shape)
"""
    assert after_import(code) == "(4,)"


@pytest.mark.slow
def test_importing_poolwise_changes_no_global_state():
    state = "(sklearn.get_config(), warnings.filters[:], numpy.geterr(), numpy.get_printoptions())"
    code = f"{THEIRS}\nbefore = {state}\nfrom poolwise import *\nprint(before == {state})"
    assert after_import(code) == "True"


def test_no_module_is_named_for_being_of_use():
    unhelpful = {"utils", "util", "helpers", "helper", "common", "base", "misc"}
    assert not {name for name, _ in ALL if unhelpful & set(name.split("."))}
