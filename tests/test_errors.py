"""Errors and warnings: few classes, whole sentences, and a way through processes and files."""

import ast
import inspect
import pickle
from collections import Counter
from pathlib import Path

import poolwise
from poolwise import errors
from poolwise.errors import BadColumns, PoolwiseError, PoolwiseWarning

SOURCE = Path(poolwise.__file__).parent


def classes():
    """Return the classes of the module, the two bases left out."""
    found = [kind for _, kind in inspect.getmembers(errors, inspect.isclass)]
    return [
        kind
        for kind in found
        if kind.__module__ == errors.__name__ and kind not in (PoolwiseError, PoolwiseWarning)
    ]


def constructors():
    """Yield the class and the name of each constructor that builds a message."""
    for kind in classes():
        for name, member in vars(kind).items():
            if isinstance(member, classmethod):
                yield kind.__name__, name


def calls():
    """Yield the calls in the source, each with its file."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                yield path.relative_to(SOURCE), node


def test_there_are_few_classes_each_documented_and_in_one_family():
    assert len(classes()) <= 25
    for kind in classes():
        assert kind.__doc__.strip().endswith("."), kind
        assert issubclass(kind, PoolwiseError) != issubclass(kind, PoolwiseWarning), kind


def test_errors_are_value_errors_and_warnings_are_user_warnings():
    assert issubclass(PoolwiseError, ValueError)
    assert issubclass(PoolwiseWarning, UserWarning)
    assert issubclass(errors.BadTable, TypeError)
    assert issubclass(errors.NotAvailable, AttributeError)
    assert issubclass(errors.NotInstalled, ImportError)


def test_the_text_is_the_message_and_then_the_hint():
    for kind in classes():
        assert str(kind("Column 'a' is empty.", hint="Drop it.")) == "Column 'a' is empty. Drop it."
        assert str(kind("Column 'a' is empty.")) == "Column 'a' is empty."


def test_everything_survives_pickling():
    for kind in classes():
        told = kind("Column 'a' is empty.", hint="Drop it.", column="a")
        again = pickle.loads(pickle.dumps(told))
        assert type(again) is kind
        assert str(again) == str(told)
        assert (again.message, again.hint, again.about) == (
            told.message,
            told.hint,
            {"column": "a"},
        )


def test_every_class_is_used_and_a_message_of_one_place_stands_there():
    used, built = set(), Counter()
    for path, node in calls():
        if isinstance(node.func, ast.Name):
            used.add(node.func.id)
        used |= {arg.id for arg in node.args if isinstance(arg, ast.Name)}
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            used.add(node.func.value.id)
            if path.name != "errors.py" or node.func.value.id != "cls":
                built[node.func.value.id, node.func.attr] += 1
    assert not {kind.__name__ for kind in classes()} - used
    once = [f"{kind}.{name}" for kind, name in constructors() if built[kind, name] < 2]
    assert not once, f"Write the message where it is raised: {once}."


def test_messages_and_hints_are_whole_sentences():
    names = {kind.__name__ for kind in classes()}
    checked = 0
    for path, node in calls():
        if not (isinstance(node.func, ast.Name) and node.func.id in names | {"cls"}):
            continue
        texts = [*node.args[:2], *(k.value for k in node.keywords if k.arg == "hint")]
        for text in texts:
            end = last_letters(text)
            if end:
                checked += 1
                assert end[-1] in ".?)", f"{path}:{node.lineno} ends in {end!r}"
                assert "  " not in end, f"{path}:{node.lineno}"
    assert checked > 50


def last_letters(node):
    """Return the last literal part of a text, or nothing where it ends in a value."""
    if isinstance(node, ast.JoinedStr) and node.values:
        node = node.values[-1]
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def test_every_error_says_what_to_do():
    names = {kind.__name__ for kind in classes() if issubclass(kind, PoolwiseError)}
    without = []
    for path, node in calls():
        if isinstance(node.func, ast.Name) and node.func.id in names:
            hints = [*node.args[1:2], *(k.value for k in node.keywords if k.arg == "hint")]
            if not hints or (isinstance(hints[0], ast.Constant) and not hints[0].value):
                without.append(f"{path}:{node.lineno}")
    assert not without


def test_a_name_in_other_capitals_is_near():
    assert "Did you mean 'cost'?" in str(errors.BadColumns.missing(["COST"], ["age", "cost"]))
    assert "mean" not in str(errors.BadColumns.missing(["zzz"], ["age", "cost"]))


def test_names_are_suggested_for_missing_columns_that_are_alike_only():
    there = ["state", "income", "children"]
    assert "Did you mean 'state'?" in BadColumns.missing(["site"], there).hint
    several = BadColumns.missing(["site", "incomes"], there).hint
    assert several == "Did you mean 'income' for 'incomes'?"
    assert BadColumns.missing(["site", "age"], there).hint == ""
