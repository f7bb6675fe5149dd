"""The summary of a model with trees, as text, as a page and as plain data."""

import json

import pytest

from poolwise.linear.fit import Candidate
from poolwise.methods.boosting.candidates import WORDS
from poolwise.model.tree_summary import MeanTrees
from tests.methods.nonlinear import fitted


def test_it_lists_every_candidate_with_weight_and_error():
    model = fitted("boosted_pooling")
    text, stack = str(model.summary()), model.fit_.stack
    for name, weight in zip(stack.candidates.names, stack.weights, strict=True):
        (line,) = [row for row in text.splitlines() if row.split()[:1] == [name]]
        assert f"{weight:.0%}" in line
        assert f"{stack.held_out.errors[name]:.5g}" in line
        assert WORDS[name] in line
    assert "new feature" in text
    assert " RMSE on unseen rows " in text
    (mean,) = [row for row in text.splitlines() if row.startswith("weighted mean ")]
    assert mean.split()[2:4] == ["100%", f"{stack.held_out.error:.5g}"]
    assert stack.held_out.in_words() in " ".join(text.split())


def test_there_is_no_table_of_coefficients():
    summary = fitted("boosted_pooling").summary()
    assert summary.coefficients == ()
    assert summary.intercept is None
    assert summary.transfer_gain is None
    assert "coef" not in str(summary).replace("coefficients", "")
    assert str(summary).startswith("boosted_pooling: y\n")


def test_it_names_the_tables_and_what_they_lack():
    lines = {t.name: t for t in fitted("boosted_pooling").summary().tables}
    assert lines["source"].lacks == ("x3",)
    assert lines["target"].rows == 60


def test_plain_data_go_through_json():
    data = fitted("boosted_pooling").summary().to_dict()
    assert json.loads(json.dumps(data, allow_nan=False))["trees"]["error"] > 0.0
    assert sum(c["weight"] for c in data["trees"]["candidates"]) == pytest.approx(1.0)
    assert data["trees"]["effects"][0]["feature"] == "x3"


def test_as_html_it_has_the_same_tables():
    page = fitted("boosted_pooling").summary()._repr_html_()
    assert page.count("<table>") == 3
    assert "pooled_trees" in page


def test_a_linear_model_has_no_part_of_trees():
    for method in ("bayes_pooling", "derived_pooling"):
        summary = fitted(method).summary()
        assert summary.trees is None
        assert summary.to_dict()["trees"] is None


def candidates(weights, errors):
    return [Candidate(n, WORDS[n], w, errors[n]) for n, w in weights.items()]


def test_the_mean_over_models_is_that_of_each_number():
    both = candidates({"linear": 0.5, "derived": 0.5}, {"linear": 2.0, "derived": 1.0})
    line = candidates({"linear": 1.0}, {"linear": 4.0})
    mean = MeanTrees.of([(both, 1.0), (both, 1.0), (line, 4.0)])
    assert mean.weights == pytest.approx({"linear": 2.0 / 3.0, "derived": 1.0 / 3.0})
    assert mean.fall == pytest.approx(1.0 - 18.0 / 24.0)  # of sums of squares: 1 1 16 and 4 4 16
    assert mean.models == 3
