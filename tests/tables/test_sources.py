"""Sources: names, kinds, and safety from being cut like rows."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.model_selection import cross_validate

from poolwise import Moments, PooledRegressor, Sources
from poolwise.errors import BadColumns, BadSource
from poolwise.tables.sources import Given, sources_of

X, y = np.arange(6.0).reshape(3, 2), np.array([1.0, 2.0, 4.0])
FRAME = pd.DataFrame({"a": y, "y": y})
MOMENTS = Moments.of_rows(["a", "y"], X)


def named(sources):
    return dict(Sources(sources))


def test_nothing_is_no_source():
    assert named(None) == named([]) == named({}) == named(()) == {}


def test_a_pair_is_one_source():
    (item,) = Sources((X, y))
    name, given = item
    assert name == "source"
    assert isinstance(given, Given)
    assert given.X is X
    assert given.y is y
    assert given.weights is None


def test_a_triple_brings_weights():
    weights = np.ones(3)
    assert named((X, y, weights))["source"].weights is weights


@pytest.mark.parametrize("kind", [list, tuple])
def test_several_sources_are_numbered(kind):
    sources = named(kind([(X, y), (X, y, None), MOMENTS]))
    assert list(sources) == ["source 1", "source 2", "source 3"]
    assert sources["source 3"] is MOMENTS


def test_a_mapping_names_its_sources():
    sources = named({"2019": (X, y), 2020: FRAME, "moments": MOMENTS})
    assert list(sources) == ["2019", "2020", "moments"]
    assert sources["2020"].X is FRAME
    assert sources["2020"].y is None


@pytest.mark.parametrize(
    "table", [FRAME, pl.from_pandas(FRAME), pa.Table.from_pandas(FRAME)], ids=["pd", "pl", "pa"]
)
def test_a_table_may_hold_the_response(table):
    assert named(table)["source"].X is table
    assert named([table, table])["source 2"].y is None


def test_moments_are_a_source():
    assert named(MOMENTS)["source"] is MOMENTS


def test_sources_in_sources_are_the_same():
    inner = Sources({"old": (X, y)})
    assert list(named(inner)) == ["old"]
    assert sources_of(inner, 3) is inner
    assert repr(Sources(inner)) == "Sources(['old'])"


@pytest.mark.parametrize(
    ("bad", "kind"),
    [(X, "ndarray"), (b"old", "bytes"), (7, "int"), ((X,), "tuple"), ((X, y, y, y), "tuple")],
)
def test_what_is_no_source_is_refused_by_name_and_kind(bad, kind):
    with pytest.raises(BadSource) as caught:
        Sources({"old": bad})
    assert f"Source 'old' is a {kind}. Give (X, y), (X, y, weights)" in str(caught.value)


def test_a_list_of_arrays_is_refused_by_number():
    with pytest.raises(BadSource, match=r"Source 'source 1' is a ndarray"):
        Sources([X, y])


def test_names_that_are_alike_as_text_are_refused():
    with pytest.raises(BadColumns, match=r"named '1'"):
        Sources({1: (X, y), "1": (X, y)})


class TestCutting:
    @pytest.mark.parametrize("rows", [1, 3])
    def test_a_bare_list_as_long_as_the_target_may_have_been_cut(self, rows):
        with pytest.raises(BadSource) as caught:
            sources_of([(X, y)] * rows, rows)
        assert f"sources is a list of length {rows}, and X has {rows} rows" in str(caught.value)
        assert "sources=poolwise.Sources(...)" in str(caught.value)

    def test_a_bare_table_as_long_as_the_target_may_have_been_cut(self):
        with pytest.raises(BadSource, match="sources is a DataFrame of length 3"):
            sources_of(FRAME, 3)

    def test_a_list_of_another_length_has_not_been_cut(self):
        assert len(dict(sources_of([(X, y)] * 3, 4))) == 3
        assert len(dict(sources_of(FRAME, 4))) == 1

    @pytest.mark.parametrize("sources", [{"a": (X, y), "b": (X, y)}, (X, y), Sources([(X, y)] * 2)])
    def test_what_scikit_learn_does_not_cut_may_have_any_length(self, sources):
        assert isinstance(sources_of(sources, 2), Sources)

    def test_a_container_of_sources_has_no_length(self):
        assert not hasattr(Sources([(X, y)]), "__len__")
        assert not hasattr(Sources([(X, y)]), "shape")

    @pytest.mark.filterwarnings("ignore::poolwise.errors.PoolwiseWarning")
    def test_cross_validation_passes_the_container_on_whole(self):
        rng = np.random.default_rng(0)
        target, response = rng.normal(size=(6, 2)), rng.normal(size=6)
        old = [(rng.normal(size=(9, 1)), rng.normal(size=9)) for _ in range(6)]
        options = {"cv": 3, "return_estimator": True, "error_score": "raise"}
        model = PooledRegressor("mean_fill")
        with pytest.raises(BadSource, match=r"list of length 4, and X has 4 rows"):
            cross_validate(model, target, response, params={"sources": old}, **options)
        whole = {"sources": Sources(old)}
        scores = cross_validate(model, target, response, params=whole, **options)
        assert [len(m.problem_.sources) for m in scores["estimator"]] == [6, 6, 6]
