"""The report on a model with trees: what it is made of, what its new columns do, and a verdict."""

import json
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

import poolwise
from poolwise.wording import number
from tests.methods.boosting.few_trees import grow_few
from tests.report.stories import HOSTILE
from tests.report.test_html import ALLOWED, html_of, page_of

NEW = HOSTILE[0]  # <script>


@cache
def made(method="boosted_pooling", truth="bent"):
    """Return a report on a history that bends, with a new column of a bad name."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(-2.0, 2.0, size=(460, 3)), columns=["a", "b", NEW])
    shared = np.sin(2.0 * X["a"]) + X["a"] * X["b"] if truth == "bent" else X["a"] - X["b"]
    y = (shared + X[NEW] + 0.1 * rng.normal(size=460)).rename("wear")
    with pytest.MonkeyPatch.context() as patch:
        grow_few(patch, stages=(3, 6, 12), own=6)
        return poolwise.report(
            X[400:],
            y[400:],
            sources={"past": (X[:400][["a", "b"]], y[:400])},
            method=method,
            methods=[],
            cv=4,
            date="2025-01-31T12:00:00+00:00",
        )


def in_order(page, first, count=3):
    """Return some texts of a page, from the one that begins so."""
    texts = [text.strip() for text in page.texts if text.strip()]
    (at,) = [k for k, text in enumerate(texts) if text.startswith(first)]
    return texts[at : at + count]


def test_the_page_says_what_the_model_is_made_of():
    page = page_of(made())
    assert {"id": "trees", "aria-labelledby": "h-trees"} in page.all("section")
    texts = " ".join(page.texts)
    assert "Parts of the model" in texts
    for candidate in made().data["trees"]["candidates"]:
        assert candidate["words"][1:] in texts  # a capital begins it
        assert f"{candidate['weight']:.0%}" in texts
    mean = number(made().data["trees"]["error"])
    assert ["Their weighted mean: this model", "100%", mean] == in_order(page, "Their weighted")
    assert "RMSE inside the fit" in texts


def test_a_bad_name_of_the_new_column_is_text_and_the_page_is_whole():
    page = page_of(made())
    assert page.flaws == []
    assert page.open == []
    assert {tag for tag, _ in page.tags} <= ALLOWED
    assert "<script" not in html_of(made())
    assert NEW in "".join(page.texts)


def test_the_data_are_plain_and_add_up():
    data = json.loads(made().json(), parse_constant=pytest.fail)
    assert data == made().data
    trees = data["trees"]
    assert trees.keys() == {"text", "error", "candidates", "effects"}
    assert sum(c["weight"] for c in trees["candidates"]) == pytest.approx(1.0)
    (effect,) = trees["effects"]
    assert effect["feature"] == NEW
    assert effect["low"] <= effect["change"] <= effect["high"]
    width = t.ppf(0.975, 9) * effect["change_deviation"]  # from ten groups
    assert effect["high"] - effect["low"] == pytest.approx(2.0 * width, rel=2e-3)
    assert effect["values"][0] < effect["values"][-1]
    assert effect["change"] == pytest.approx(effect["means"][-1] - effect["means"][0])


@pytest.mark.parametrize("method", ["boosted_pooling", "derived_pooling"])
def test_what_is_about_linear_models_says_so(method):
    page = " ".join(page_of(made(method)).texts)
    assert "thanks to history" not in page
    labels = [x["label"] for x in made(method).data["gain"]["lines"]]
    assert labels == [
        "Expected with bayes_pooling, against the same method without history",
        "Expected with bayes_pooling, against least squares on the recent rows",
        f"Measured with {method}, against the same method without history",
        f"Measured with {method}, against ridge regression on the recent rows",
    ]
    for sentence in (
        "No theory covers this model, which is not linear.",
        "All diagnostics above the outliers are about linear models of the same tables",
        "This is a plan of Bayes pooling, a linear model.",
        "shows that the model misses something.",
    ):
        assert sentence in page
    of_a_line = " ".join(page_of(made("auto", "line")).texts)
    told = made("auto", "line").data["reason"]
    assert "linear model" not in of_a_line.replace(told, "")


def test_the_verdict_rests_on_what_was_measured():
    data = made().data
    verdict = data["verdict"]
    assert verdict["level"] == "helps"
    assert verdict["headline"].startswith("Measured with boosted_pooling: ")
    assert verdict["sentences"][0].startswith("Expected with bayes_pooling, a linear model")
    assert verdict["text"].startswith(verdict["headline"])
    assert data["coefficients"] is not None


def test_a_chosen_method_is_named_with_its_reason():
    bent, line = made("auto").data, made("auto", "line").data
    assert "boosted_pooling." in bent["trees"]["text"]
    assert "standard errors" in bent["trees"]["text"]
    assert line["trees"] is None
    assert line["reason"].endswith("and a reduction by 1% is needed: bayes_pooling.")
    assert line["reason"] in " ".join(page_of(made("auto", "line")).texts)
    assert 'id="trees"' not in html_of(made("auto", "line"))


def test_a_line_with_a_derived_column_shows_its_coefficient():
    data = made("derived_pooling").data
    assert data["trees"] is None
    assert "boosted" in html_of(made("derived_pooling"))
    assert page_of(made("derived_pooling")).flaws == []
