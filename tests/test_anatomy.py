"""The anatomy of a package that one can count by hand."""

import importlib
import sys
from itertools import pairwise

import pytest

from benchmarks import anatomy
from poolwise import PooledRegressor

# a imports b and sub.c; b imports sub.c and, in a function and for types only, late.
FILES = {
    "__init__.py": '"""A package."""\n',
    "a.py": (
        '"""First line.\n\nLast line.\n"""\n\n'
        "from {name}.b import double\nfrom {name} import sub\n\n"
        "# A comment.\n"
        "def run():\n    return [double(k) for k in range(3)] + sub.plain([1])  # and code\n"
    ),
    "b.py": (
        "from __future__ import annotations\nimport typing\nfrom .sub import c\n\n"
        "if typing.TYPE_CHECKING:\n    from {name} import late\nelse:\n    late = None\n\n"
        "def double(k):\n    from {name} import late\n    return c.add(k, k)\n"
    ),
    "late.py": "from {name}.a import run\n",
    "sub/__init__.py": (
        "try:\n    import {name}.sub.c as c\nexcept ImportError:\n    raise\n\n"
        "def plain(items):\n    return sorted(items, key=lambda k: c.add(k, 0))\n"
    ),
    "sub/c.py": "def add(j, k):\n    return j + k\n",
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    name = "made_up_anatomy"
    for path, text in FILES.items():
        file = tmp_path / name / path
        file.parent.mkdir(exist_ok=True, parents=True)
        file.write_text(text.replace("{name}", name))
    (tmp_path / name / "gone" / "__pycache__").mkdir(parents=True)
    (tmp_path / name / "gone" / "__pycache__" / "old.cpython-311.pyc").write_bytes(b"")
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path / name
    for module in [m for m in sys.modules if m.partition(".")[0] == name]:
        del sys.modules[module]


def full(*names):
    return tuple(f"made_up_anatomy.{name}" for name in names)


def test_modules_lines_and_entries_are_counted(package):
    found = anatomy.anatomy(package, runs=())
    assert found.modules == 6
    assert found.entries == ("__init__.py", "a.py", "b.py", "late.py", "sub")
    assert anatomy.line_kinds(package / "a.py") == {
        "docstrings": 4, "blank": 2, "code": 4, "comments": 1,
    }  # fmt: skip
    assert found.lines == {"docstrings": 5, "blank": 5, "code": 23, "comments": 1}
    assert found.core == {}


def test_the_chain_follows_what_an_import_executes(package):
    graph = anatomy.imports_of(package)
    a, b, late, sub, c = full("a", "b", "late", "sub", "sub.c")
    assert graph == {"made_up_anatomy": set(), a: {b, sub}, b: {c}, late: {a}, sub: {c}, c: set()}
    assert anatomy.longest_chain(graph) == ((late, a, b, c), ())


def test_a_cycle_is_named_and_the_rest_of_the_chain_is_found():
    graph = {"top": {"x"}, "x": {"y", "p"}, "y": {"x"}, "p": {"q"}, "q": {"r"}, "r": set()}
    graph["above"] = {"top"}
    chain, (cycle,) = anatomy.longest_chain(graph)
    assert cycle in {("x", "y", "x"), ("y", "x", "y")}
    assert chain == ("above", "top", "x", "p", "q", "r")
    assert anatomy.longest_chain({}) == ((), ())


def test_calls_switches_and_depth_of_a_run_are_counted(package):
    a = importlib.import_module("made_up_anatomy.a")
    found = anatomy.follow(a.run, package)
    names = full("a", "b", "sub.c", "sub")
    a, b, c, sub = names
    comprehension = sys.version_info < (3, 12)  # which has a frame of its own until then
    # run, its comprehension; double and add three times; plain, its lambda, add (the deepest).
    assert found.calls == {a: 1 + comprehension, b: 3, c: 3 + 1, sub: 2}
    assert tuple(found.calls) == names
    # sorted() is not of the package: the lambda is called by its own module.
    assert found.switches == {(a, b): 3, (b, c): 3, (a, sub): 1, (sub, c): 1}
    assert found.counts == {
        "modules": 4,
        "functions": 4,
        "calls": 10 + comprehension,
        "switches": 8,
        "depth": 4,
    }


def test_a_run_that_fails_leaves_no_profile_behind(package):
    before = sys.getprofile()
    with pytest.raises(ZeroDivisionError):
        anatomy.follow(lambda: 1 / 0, package)
    assert sys.getprofile() is before


def test_what_a_first_run_does_is_not_counted(package):
    module = importlib.import_module("made_up_anatomy.sub.c")
    runs = []

    def run():
        runs.extend(module.add(k, 1) for k in range(2 if not runs else 1))

    assert anatomy.follow(run, package).counts["calls"] == 1


@pytest.mark.slow
def test_a_fit_of_poolwise_is_followed_through_the_regressor(capsys):
    anatomy.main(["--modules", "default fit"])
    listed = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert PooledRegressor.__module__ in {name for _, name in listed}
    found = anatomy.anatomy(runs=["default fit"])
    assert [name for _, name in listed] == list(found.runs["default fit"].calls)
    counts = found.runs["default fit"].counts
    last = anatomy.as_text(found).splitlines()[-1]
    assert last.split() == ["default", "fit", *(f"{n:,}" for n in counts.values())]


@pytest.mark.slow
def test_a_listing_of_switches_adds_up_to_their_number(capsys):
    anatomy.main(["--switches", "predict"])
    lines = capsys.readouterr().out.splitlines()
    switches = anatomy.anatomy(runs=["predict"]).runs["predict"].counts["switches"]
    assert sum(int(line.split()[0].replace(",", "")) for line in lines) == switches
    assert all(line.split()[1] != line.split()[3] for line in lines)


@pytest.mark.slow
def test_the_chain_is_listed_from_the_importing_module_down(capsys):
    anatomy.main(["--chain"])
    chain = capsys.readouterr().out.splitlines()
    graph = anatomy.imports_of(anatomy.PACKAGE)
    assert all(below in graph[above] for above, below in pairwise(chain))
    assert len(chain) == len(anatomy.anatomy(runs=()).chain)
