"""Models with a few trees, and their files."""

import json
from functools import cache

import pytest

from poolwise.methods import Auto, BoostedPooling
from tests.methods.boosting.few_trees import grow_few
from tests.model.model_file.damage import text_of_model
from tests.model.model_file.worlds import fitted, world

KINDS = {
    "numbers": ("boosted_pooling", "numbers"),
    "texts": ("boosted_pooling", "texts"),
    "two sets": ("boosted_pooling", "weights, two sources"),
    "no sources": ("boosted_pooling", "no sources"),
    "rows that lack columns": ("boosted_pooling", "rows that lack columns"),
    "large and small": ("boosted_pooling", "large and small"),
    "own parameters": (BoostedPooling(random_state=4, most_rows=90), "numbers"),
    "derived": ("derived_pooling", "texts"),
    "derived, large and small": ("derived_pooling", "large and small"),
    "auto": (Auto(random_state=2), "numbers"),
}


@cache
def model_of(kind):
    """Return a model of a few trees, which nobody may change."""
    with pytest.MonkeyPatch.context() as patch:
        grow_few(patch, stages=(1, 2, 4), own=3)
        method, name = KINDS[kind]
        return fitted(method, world(name))


@cache
def file_of(kind, *, moments=True):
    return json.loads(text_of_model(model_of(kind), moments=moments))


def world_of(kind):
    return world(KINDS[kind][1])
