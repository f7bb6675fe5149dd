"""What every method says of itself: names, assumptions, parameters, noise and weights."""

import inspect
from pathlib import Path

import pytest
from sklearn.base import clone

import poolwise.methods
from poolwise import METHODS
from poolwise.methods import METHOD_LABELS
from tests.laws.problems import tables_of


def test_file_class_and_key_are_the_same_words():
    files = {path.stem for path in Path(poolwise.methods.__file__).parent.glob("[!_]*.py")}
    assert files == set(METHODS) == set(METHOD_LABELS)
    for name, kind in METHODS.items():
        assert kind.__module__ == f"poolwise.methods.{name}"
        assert kind.__name__ == "".join(word.capitalize() for word in name.split("_"))
        assert getattr(poolwise.methods, kind.__name__) is kind
        assert kind.__name__ in dir(poolwise.methods)
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        poolwise.methods.Nothing  # noqa: B018  to ask is the test


def test_every_method_is_imported_by_name_for_type_checkers():
    source = Path(poolwise.methods.__file__).read_text(encoding="utf-8")
    for name, kind in METHODS.items():
        line = f"    from poolwise.methods.{name} import {kind.__name__} as {kind.__name__}\n"
        assert source.count(line) == 1, name


@pytest.mark.parametrize("kind", METHODS.values())
def test_every_method_says_what_it_assumes(kind):
    paragraphs = inspect.cleandoc(kind.__doc__).split("\n\n")
    assert any(p.startswith("Assumes ") for p in paragraphs)


def test_every_parameter_is_documented(method):
    text = inspect.cleandoc(type(method).__doc__)
    for name in method.get_params():
        assert f"\n{name} : " in text


def test_parameters_survive_a_clone(method):
    for name, default in method.get_params().items():
        changed = clone(method).set_params(**{name: 0.25})
        copy = clone(changed)
        assert copy is not changed
        assert copy.get_params() == method.get_params() | {name: 0.25}
        assert getattr(method, name) == default
    assert clone(method).get_params() == method.get_params()


def test_every_fit_tells_the_noise_and_the_weight_of_each_source(method):
    problem = tables_of("one source", seed=3).problem()
    fit = method.solve(problem)
    if type(method).__name__ not in ("TargetOnly", "TargetRidge"):  # they look at no source
        assert set(fit.source_noise) == set(problem.sources)
        assert set(fit.weights) == set(problem.sources)
    assert fit.noise > 0.0
