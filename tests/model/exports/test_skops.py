"""skops: a fitted model comes back, from the types that are published and no others."""

import numpy as np
import pytest
import skops.io
from skops.io.exceptions import UntrustedTypesFoundException

from poolwise import SKOPS_TRUSTED, PooledRegressor
from poolwise.errors import PoolwiseWarning, RankDeficient
from tests.linear_methods import LINEAR_METHODS, TREE_METHODS
from tests.model.model_file.reloading import assert_same_model
from tests.model.model_file.worlds import WORLDS, fitted, world

WARNINGS = [
    kind("Column empty.", hint="Drop it.", column="a") for kind in PoolwiseWarning.__subclasses__()
]


def name_of(kind):
    return f"{kind.__module__}.{kind.__qualname__}"


@pytest.mark.parametrize("kind", WORLDS)
def test_a_model_comes_back(kind):
    given = world(kind)
    model = fitted("bayes_pooling", given)
    again = skops.io.loads(skops.io.dumps(model), trusted=SKOPS_TRUSTED)
    assert_same_model(model, again, given.rows, given.lacking)


def test_the_list_is_what_skops_asks_for_and_no_more():
    asked = set()
    cases = [(m, "numbers", p) for m in LINEAR_METHODS for p in ("fast", "exact")]
    others = [(kind(), "numbers", "fast") for kind in TREE_METHODS.values()]
    for method, kind, precision in (*cases, *others, ("bayes_pooling", "texts", "fast")):
        model = fitted(method, world(kind), precision=precision)
        model.summary()  # computes partial effects, which a model then keeps
        asked |= set(skops.io.get_untrusted_types(data=skops.io.dumps(model)))
    asked |= set(skops.io.get_untrusted_types(data=skops.io.dumps(WARNINGS)))
    assert sorted(asked) == list(SKOPS_TRUSTED)


def test_a_model_is_not_loaded_without_the_list():
    data = skops.io.dumps(fitted("target_only", world("numbers")))
    with pytest.raises(UntrustedTypesFoundException, match="PooledRegressor"):
        skops.io.loads(data)


def test_a_warning_of_the_fit_keeps_its_words():
    X = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.warns(RankDeficient):
        model = PooledRegressor("target_only").fit(np.column_stack((X, X[:, 0])), X[:, 1])
    again = skops.io.loads(skops.io.dumps(model), trusted=SKOPS_TRUSTED)
    assert str(again.fit_.cautions[0]) == str(model.fit_.cautions[0]) != ""
    every = skops.io.loads(skops.io.dumps(WARNINGS), trusted=SKOPS_TRUSTED)
    assert [(type(w), str(w), vars(w)) for w in every] == [
        (type(w), str(w), vars(w)) for w in WARNINGS
    ]


def test_every_type_in_the_list_is_ours():
    assert all(name.startswith("poolwise.") for name in SKOPS_TRUSTED)
    assert name_of(PooledRegressor) in SKOPS_TRUSTED


def test_an_export_to_scikit_learn_needs_no_type_of_ours():
    exported = fitted("bayes_pooling", world("texts")).to_sklearn()
    asked = skops.io.get_untrusted_types(data=skops.io.dumps(exported))
    assert sorted(asked) == ["functools.partial", "numpy.clip"]
    plain = skops.io.dumps(fitted("data_pooling", world("texts")).to_sklearn())
    assert skops.io.get_untrusted_types(data=plain) == []
