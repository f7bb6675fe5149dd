"""The report on a model with trees: what it is made of, what its new columns do, and a verdict."""

import json
from functools import cache

import numpy as np
import pandas as pd
import pytest

import poolwise
from tests.boosting.few_trees import grow_few
from tests.report.stories import HOSTILE
from tests.report.test_html import ALLOWED, Page

NEW = HOSTILE[0]  # <script>


@cache
def made(method="boosted_pooling", truth="bent"):
    """Return a report on a history that bends, with a new column of a bad name."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(-2.0, 2.0, size=(240, 3)), columns=["a", "b", NEW])
    shared = np.sin(2.0 * X["a"]) + X["a"] * X["b"] if truth == "bent" else X["a"] - X["b"]
    y = (shared + X[NEW] + 0.1 * rng.normal(size=240)).rename("wear")
    with pytest.MonkeyPatch.context() as patch:
        grow_few(patch, stages=(5, 10, 20))
        return poolwise.report(
            X[200:],
            y[200:],
            sources={"past": (X[:200][["a", "b"]], y[:200])},
            method=method,
            methods=[],
            cv=4,
            date="2025-01-31T12:00:00+00:00",
        )


def test_the_page_says_what_the_model_is_made_of():
    page = Page(made().html())
    assert {"id": "trees", "aria-labelledby": "h-trees"} in page.all("section")
    texts = " ".join(page.texts)
    assert "What the model is made of" in texts
    for candidate in made().data["trees"]["candidates"]:
        assert candidate["words"][1:] in texts  # a capital begins it
        assert f"{candidate['weight']:.0%}" in texts


def test_a_bad_name_of_the_new_column_is_text_and_the_page_is_whole():
    page = Page(made().html())
    assert page.flaws == []
    assert page.open == []
    assert {tag for tag, _ in page.tags} <= ALLOWED
    assert "<script" not in made().html()
    assert NEW in "".join(page.texts)


def test_the_data_are_plain_and_add_up():
    data = json.loads(made().json(), parse_constant=pytest.fail)
    assert data == made().data
    trees = data["trees"]
    assert sum(c["weight"] for c in trees["candidates"]) == pytest.approx(1.0)
    (effect,) = trees["effects"]
    assert effect["feature"] == NEW
    assert effect["low"] <= effect["change"] <= effect["high"]
    width = 1.96 * effect["change_deviation"]
    assert effect["high"] - effect["low"] == pytest.approx(2.0 * width)
    assert effect["values"][0] < effect["values"][-1]
    assert effect["change"] == pytest.approx(effect["means"][-1] - effect["means"][0])


def test_the_verdict_rests_on_what_was_measured():
    data = made().data
    verdict = data["verdict"]
    assert verdict["answer"] in ("helps", "probably_helps")
    assert "on the target rows, the error of predictions was" in verdict["headline"]
    assert verdict["text"].startswith(verdict["headline"])
    assert data["coefficients"] is not None


def test_a_chosen_method_is_named_with_its_reason():
    bent, line = made("auto").data, made("auto", "line").data
    assert "boosted_pooling." in bent["trees"]["text"]
    assert "standard errors" in bent["trees"]["text"]
    assert line["trees"] is None
    assert 'id="trees"' not in made("auto", "line").html()


def test_a_line_with_a_derived_column_shows_its_coefficient():
    data = made("derived_pooling").data
    assert data["trees"] is None
    assert "boosted" in made("derived_pooling").html()
    assert Page(made("derived_pooling").html()).flaws == []
