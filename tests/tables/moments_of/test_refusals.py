"""What moments cannot be taken of is told by name: columns, options, tables."""

import numpy as np
import pandas as pd
import pytest

from poolwise import Moments, moments_by_pattern, moments_of
from poolwise.errors import (
    BadColumns,
    BadFile,
    BadTable,
    BadWeights,
    LeftOut,
    NotNumeric,
    PoolwiseError,
)
from tests.tables.moments_of.doors import NAMES, N, bits


def test_no_rows_are_told(door, pumps):
    with pytest.warns(LeftOut):
        found = moments_of(door(pumps[["hours", "wear"]][:0]))
    assert bits(found) == bits(Moments.empty(["hours", "wear"]))
    with pytest.warns(LeftOut):
        assert moments_by_pattern(door(pumps[["hours", "wear"]][:0])) == {}


def test_dates_are_refused_by_name_and_may_be_left_out(door, pumps):
    dated = pumps.assign(day=pd.Timestamp("2021-05-04"))
    with pytest.raises(NotNumeric, match=r"'day' of .*drop it"):
        moments_of(door(dated))
    assert moments_of(door(dated), drop=["day"]).names == NAMES


def test_identifiers_are_refused_by_name(door, pumps):
    many = pd.concat([pumps] * 2, ignore_index=True)
    named = many.assign(patient=[f"p{k}" for k in range(2 * N)])
    with pytest.raises(NotNumeric, match=r"'patient' .*500 .*Leave it out with drop=\['patient'\]"):
        moments_of(door(named))


def test_a_response_must_be_a_column_of_numbers(door, pumps):
    for take in (moments_of, moments_by_pattern):
        with pytest.raises(BadColumns, match=r"'waer'.*Did you mean 'wear'"):
            take(door(pumps), response="waer")
        with pytest.raises(NotNumeric, match="'site'"):
            take(door(pumps), response="site")


@pytest.mark.parametrize(
    "options",
    [{"columns": ["laod"]}, {"drop": ["laod"]}, {"texts": ["laod"]}, {"weights": "laod"}],
    ids=str,
)
def test_unknown_columns_are_told(some_door, pumps, options):
    with pytest.raises(BadColumns, match=r"'laod'.*Did you mean 'load'"):
        moments_of(some_door(pumps), **options)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"nulls": "split"}, "moments_by_pattern"),
        ({"nulls": "skip"}, "'raise' or 'drop'"),
        ({"columns": "load"}, "a list of names"),
        ({"drop": "load"}, "a list of names"),
        ({"texts": "load"}, "a list of names"),
        ({"precision": "double"}, "'exact'"),
        ({"drop": ["wear"], "response": "wear"}, "other than the response"),
        ({"drop": [*"abc"], "columns": [*"abc"]}, "No column named"),
        ({"columns": []}, "some of"),
        ({"texts": ["load"]}, "texts='load'.*holds text"),
    ],
)
def test_options_that_cannot_be_are_told(pumps, options, says):
    with pytest.raises(PoolwiseError, match=says):
        moments_of(pumps, **options)


def test_bad_weights_are_told(some_door, pumps):
    with pytest.raises(BadWeights, match="negative"):
        moments_of(some_door(pumps.assign(w=-1.0)), weights="w")


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (Moments.empty(["a"]), BadTable),
        (([[1.0]], [2.0]), BadTable),
        (np.ones(3), BadTable),
        ({"a": [1.0]}, BadTable),
        ([], BadTable),
        ("no/such/*.csv", BadFile),
    ],
    ids=["moments", "pair", "vector", "dict", "nothing", "no file"],
)
def test_what_is_no_table_is_told(given, error):
    with pytest.raises(error):
        moments_of(given)
