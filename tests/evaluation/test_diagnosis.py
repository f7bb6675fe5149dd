import json

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from poolwise import PooledRegressor, diagnose, plan
from poolwise.errors import BadTable, TooFewRows
from poolwise.evaluation import conflict, gain, influence, predictability, shift
from tests.evaluation.worlds import hard_cases, nested, world
from tests.methods.boosting.few_trees import grow_few
from tests.methods.nonlinear import fit
from tests.methods.nonlinear import world as bent

HARD = hard_cases()


@pytest.mark.parametrize("case", HARD)
def test_every_hard_case_has_a_defined_answer(case):
    found = diagnose(HARD[case])
    json.dumps(found.to_dict(), allow_nan=False)
    assert str(found).startswith(found.verdict.headline.split()[0])
    if HARD[case].target.weight < 5:
        with pytest.raises(TooFewRows, match="at least 5 recent rows"):
            plan(HARD[case])
        return
    coming = plan(HARD[case], rows=[HARD[case].target.weight * 2], draws=1)
    json.dumps(coming.to_dict(), allow_nan=False)
    assert str(coming)


def test_a_fitted_model_and_its_problem_give_the_same_answer():
    tables = nested()
    sources = {n: (s.frame, s.y) for n, s in tables.sources.items()}
    model = PooledRegressor().fit(tables.target.frame, tables.target.y, sources=sources)
    assert diagnose(model).to_dict() == diagnose(model.problem_).to_dict()
    assert plan(model, [48], draws=1).gain == plan(model.problem_, [48], draws=1).gain


def test_the_fit_of_another_method_is_judged_too():
    tables = nested()
    sources = {n: (s.frame, s.y) for n, s in tables.sources.items()}
    model = PooledRegressor("data_pooling").fit(
        tables.target.frame, tables.target.y, sources=sources
    )
    found = diagnose(model)
    assert found.gain.lines[-1].fit == "data_pooling"
    assert found.verdict.headline.startswith("Expected with data_pooling: ")


def test_no_history_is_told_as_such():
    found = diagnose(HARD["no sources"])
    assert str(found) == "There is no history: nothing was transferred."


def test_a_source_in_conflict_is_named():
    found = diagnose(world(1, target_rows=60, shift=3.0).problem)
    assert "“s0” contradicts the recent rows" in found.verdict.text


@pytest.mark.parametrize("rows", [1, 2, 9])
def test_few_target_rows_make_nothing_sure(rows):
    found = [diagnose(world(seed, target_rows=rows).problem) for seed in range(8)]
    surest = max(one.gain.lines[0].probability for one in found)
    assert surest > {1: 0.7, 2: 0.7, 9: 0.8}[rows]  # the model is surer than the answer
    levels = {one.verdict.level for one in found}
    assert levels <= {"probably_helps", "no_clear_difference"}
    few = f"{rows} recent row{'s are' if rows > 1 else ' is'} too few to confirm or contradict"
    assert all(few in one.verdict.text for one in found)


def test_the_answer_says_that_it_is_model_based():
    for seed in range(3):
        found = diagnose(world(seed).problem)
        assert found.verdict.headline.startswith("Expected with bayes_pooling: ")
        assert "was not measured" in found.verdict.text


def test_something_else_is_refused():
    with pytest.raises(BadTable, match="ndarray cannot be diagnosed"):
        diagnose(np.eye(3))
    with pytest.raises(NotFittedError):
        diagnose(PooledRegressor())


def test_each_part_takes_a_fitted_model_too():
    tables = nested()
    sources = {n: (s.frame, s.y) for n, s in tables.sources.items()}
    model = PooledRegressor().fit(tables.target.frame, tables.target.y, sources=sources)
    for part in (conflict, gain, influence, predictability, shift):
        assert part(model).to_dict() == part(model.problem_).to_dict()
        with pytest.raises(BadTable):
            part("no problem")


@pytest.mark.parametrize("method", ["boosted_pooling", "derived_pooling"])
def test_the_verdict_on_a_model_with_trees_says_that_it_is_about_linear_models(method, monkeypatch):
    grow_few(monkeypatch, stages=(1, 2, 4), own=3)
    model = fit(method, bent("smooth", rows=40, history=80))
    found, linear = diagnose(model).verdict, diagnose(model.problem_).verdict
    about = "Expected with bayes_pooling, a linear model of the same tables: "
    assert found.headline.startswith(about)
    assert found.headline.split(": ", 1)[1] == linear.headline.split(": ", 1)[1]
    assert found.level == linear.level
    assert "was not measured; compare and report measure it" in found.text
    assert "\n\nWhat follows is about linear models" in str(diagnose(model))
    json.dumps(diagnose(model).to_dict(), allow_nan=False)
    if method == "boosted_pooling":
        seen = model.fit_.stack.held_out
        alone = min(seen.errors["target_trees"], seen.errors["deep_target_trees"])
        for error in (seen.error, seen.errors["linear"], alone):
            assert f" {error:.4g} " in found.text


def test_findings_have_a_form_in_html():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), rng.normal(size=80)
    model = PooledRegressor().fit(X[50:], y[50:], sources={"<old>": (X[:50, :2], y[:50])})
    found = diagnose(model)
    page = found._repr_html_()
    assert page.startswith(f"<p>{found.verdict.headline[:20]}")
    assert page.count("<table>") == 4 + bool(found.shift.found)
    assert "&lt;old&gt;" in page
    assert "<old>" not in page
    alone = diagnose(PooledRegressor().fit(X, y))
    assert alone._repr_html_() == f"<p>{alone.verdict.text}</p>"
