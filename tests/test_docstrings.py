"""What can be called from outside says what it takes and what it returns."""

import inspect

import pytest

import poolwise
from poolwise import evaluation

docscrape = pytest.importorskip("numpydoc.docscrape", reason="numpydoc is not installed")


def callables():
    """Yield every public function, and every public method, with what to call it."""
    for module in (poolwise, evaluation):
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isfunction(thing):
                yield name, thing
            elif inspect.isclass(thing) and thing.__module__.startswith("poolwise"):
                for own in dir(thing):
                    method = inspect.unwrap(inspect.getattr_static(thing, own, None) or object)
                    method = getattr(method, "__func__", method)
                    is_ours = (getattr(method, "__module__", None) or "").startswith("poolwise")
                    if inspect.isfunction(method) and is_ours and not own.startswith("_"):
                        yield f"{name}.{own}", method


def parameters(function):
    return [p for p in inspect.signature(function).parameters if p not in ("self", "cls")]


def test_every_public_callable_says_what_it_does_takes_and_returns():
    found = dict(callables())
    assert {"compare", "PooledRegressor.fit", "PooledRegressor.update", "Moments.load"} <= set(
        found
    )
    for name, function in found.items():
        told = docscrape.FunctionDoc(function)
        assert told["Summary"], name
        if len(parameters(function)) < 2:
            continue
        explained = {one.strip() for entry in told["Parameters"] for one in entry.name.split(",")}
        assert explained == set(parameters(function)), name
        if inspect.signature(function).return_annotation not in (None, "None"):
            assert told["Returns"] or told["Yields"], name
