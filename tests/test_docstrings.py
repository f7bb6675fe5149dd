"""What can be called from outside says what it takes and what it gives back."""

import inspect

import pytest

import poolwise
from poolwise import diagnostics

docscrape = pytest.importorskip("numpydoc.docscrape", reason="numpydoc is not installed")


def callables():
    """Yield every public function, and every public method, with what to call it."""
    for module in (poolwise, diagnostics):
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isfunction(thing):
                yield name, thing
            elif inspect.isclass(thing) and thing.__module__.startswith("poolwise"):
                for own, method in vars(thing).items():
                    method = inspect.unwrap(getattr(method, "__func__", method))
                    if inspect.isfunction(method) and not own.startswith("_"):
                        yield f"{name}.{own}", method


CALLABLES = dict(callables())


def parameters(function):
    return [p for p in inspect.signature(function).parameters if p not in ("self", "cls")]


@pytest.mark.parametrize("name", CALLABLES)
def test_it_says_what_it_does(name):
    assert docscrape.FunctionDoc(CALLABLES[name])["Summary"]


@pytest.mark.parametrize("name", [n for n, f in CALLABLES.items() if len(parameters(f)) > 1])
def test_with_several_parameters_it_explains_each_and_what_comes_back(name):
    function = CALLABLES[name]
    told = docscrape.FunctionDoc(function)
    explained = {one.strip() for entry in told["Parameters"] for one in entry.name.split(",")}
    assert explained == set(parameters(function))
    if inspect.signature(function).return_annotation not in (None, "None"):
        assert told["Returns"] or told["Yields"]
