"""Imports point one way: the arrows of the architecture, read from the source."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import poolwise
from poolwise import tables

ROOT = Path(poolwise.__file__).parent

# A module or package may import only what stands before it.
ORDER = [
    "wording",
    "errors",
    "options",
    "precision",
    "double_double",
    "fraction_matrix",
    "scatter",
    "chunks",
    "row_sums",
    "sliced_sums",
    "exact_sums",
    "centred",
    "merging",
    "inverse_root",
    "least_squares",
    "adding_up",
    "plausible",
    "subtraction",
    "strict_json",
    "drafts",
    "moments_record",
    "store",
    "sharing",
    "moments",
    "published_numbers",
    "published_model",
    "tails",
    "fit",
    "problem",
    "progress",
    "tables",
    "moments_job",
    "moments_of",
    "theory",
    "noise",
    "intervals",
    "bayes",
    "boosting",
    "answer",
    "methods",
    "suspicions",
    "fitted_model",
    "prediction",
    "model_file",
    "exports",
    "text_tables",
    "tree_summary",
    "summary",
    "second_reading",
    "table_reading",
    "intake",
    "moments_intake",
    "updating",
    "input_checks",
    "regressor",
    "splits",
    "p_values",
    "diagnostics",
    "comparison",
    "contenders",
    "target_folds",
    "cross_validation",
    "report",
    "experiments",
    "demo",
    "cli",
    "__main__",
]
CORE = ORDER[: ORDER.index("problem") + 1]
# Beyond the order: what a package may know at most.
AT_MOST = {"tables": [*ORDER[: ORDER.index("fit") + 1], "progress"]}
# Who may know how second moments are stored; see the docstring of scatter.py.
KNOW_SCATTER = {"centred", "moments", "least_squares"}
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
IDS = [name or "poolwise" for name, _ in ALL]
NUMPY_ALONE = [*(name for name, _ in ALL if layer_of(name) in CORE), "tables", "tables.columns"]


def test_the_source_is_found():
    assert {"", "errors", "moments", "tables.rows", "methods"} <= {name for name, _ in ALL}


def test_every_module_has_its_place_in_the_order():
    unknown = sorted({layer_of(name) for name, _ in ALL if name} - set(ORDER))
    assert not unknown, (
        f"{unknown} is new in src/poolwise. Add it to ORDER in {Path(__file__).name}, after "
        "everything it imports and before everything that imports it."
    )


@pytest.mark.parametrize(
    ("name", "path"), [m for m in ALL if m[0]], ids=[i for i in IDS if i != "poolwise"]
)
def test_imports_point_backwards_only(name, path):
    own = layer_of(name)
    if own not in ORDER:
        pytest.fail(f"{own} is not in ORDER: see test_every_module_has_its_place_in_the_order.")
    allowed = set(AT_MOST.get(own, ORDER[: ORDER.index(own)])) | {own}
    wrong = sorted(m for m in inside(name, path) if layer_of(m) not in allowed)
    assert not wrong, f"{name} imports {[m or 'poolwise' for m in wrong]}, which comes after it."


def test_only_a_few_modules_know_how_scatter_is_stored():
    knowing = {name for name, path in ALL if "scatter" in inside(name, path)}
    assert knowing - {"scatter"} <= KNOW_SCATTER
    assert "moments" in knowing


@pytest.mark.parametrize("name", NUMPY_ALONE)
def test_the_core_needs_numpy_alone(name):
    assert outside(name, dict(ALL)[name]) <= {"numpy"}


def test_each_engine_is_named_in_a_module_that_is_there():
    assert {f"tables.{module}" for module in tables.ENGINES.values()} <= {name for name, _ in ALL}


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
