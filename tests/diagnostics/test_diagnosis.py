import json

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from poolwise import PooledRegressor, diagnose, plan
from poolwise.diagnostics import conflict, gain, influence, predictability, shift
from poolwise.errors import NotAProblem, TooFewRows
from tests.boosting.few_trees import grow_few
from tests.diagnostics.worlds import hard_cases, nested, world
from tests.methods.nonlinear import fit
from tests.methods.nonlinear import world as bent

HARD = hard_cases()


@pytest.mark.parametrize("case", HARD)
def test_every_hard_case_has_a_defined_answer(case):
    found = diagnose(HARD[case])
    json.dumps(found.to_dict(), allow_nan=False)
    assert str(found).startswith(found.verdict.split(":")[0].split()[0])
    if HARD[case].target.weight < 5:
        with pytest.raises(TooFewRows, match="at least 5 rows"):
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
    assert "The fit itself, by data_pooling" in found.verdict


def test_no_history_is_told_as_such():
    found = diagnose(HARD["no sources"])
    assert str(found) == "There is no history: nothing was transferred."


def test_a_source_in_conflict_is_named():
    found = diagnose(world(1, target_rows=60, shift=3.0).problem)
    assert "contradict" in found.verdict
    assert "s0" in found.verdict


@pytest.mark.parametrize("rows", [1, 2, 9])
def test_few_target_rows_make_nothing_sure(rows):
    found = [diagnose(world(seed, target_rows=rows).problem) for seed in range(8)]
    surest = max(one.gain.lines[0].probability for one in found)
    assert surest > {1: 0.7, 2: 0.7, 9: 0.95}[rows]  # the model is surer than the answer
    assert {one.answer for one in found} <= {"probably_helps", "matters_little"}
    assert all(f"few target rows ({rows})" in one.verdict for one in found)


def test_the_answer_says_that_it_is_model_based():
    for seed in range(3):
        found = diagnose(world(seed).problem)
        assert found.verdict.startswith("History ")
        assert "no measurement" in found.verdict


def test_something_else_is_refused():
    with pytest.raises(NotAProblem, match="ndarray cannot be diagnosed"):
        diagnose(np.eye(3))
    with pytest.raises(NotFittedError):
        diagnose(PooledRegressor())


def test_each_part_takes_a_fitted_model_too():
    tables = nested()
    sources = {n: (s.frame, s.y) for n, s in tables.sources.items()}
    model = PooledRegressor().fit(tables.target.frame, tables.target.y, sources=sources)
    for part in (conflict, gain, influence, predictability, shift):
        assert part(model).to_dict() == part(model.problem_).to_dict()
        with pytest.raises(NotAProblem):
            part("no problem")


@pytest.mark.parametrize("method", ["boosted_pooling", "derived_pooling"])
def test_the_verdict_on_a_model_with_trees_begins_with_that_model(method, monkeypatch):
    grow_few(monkeypatch, stages=(1, 2, 4), own=3)
    model = fit(method, bent("smooth", rows=40, history=80))
    found = diagnose(model)
    begins = {
        "boosted_pooling": "This model, of linear fits and trees, has RMSE ",
        "derived_pooling": "This model is linear in its columns and in what trees learnt",
    }
    assert found.verdict.startswith(begins[method])
    assert found.answer == "not_measured"
    assert "Whether history helps this model was not measured; a report does that" in found.verdict
    linear = diagnose(model.problem_)
    assert linear.verdict.startswith("History ")
    first = linear.verdict.split(".")[0]
    assert f"by linear models of the same tables, h{first[1:]}" in found.verdict
    assert "\n\nWhat follows is about linear models" in str(found)
    json.dumps(found.to_dict(), allow_nan=False)
    if method == "boosted_pooling":
        seen = model.derived_.stack.evidence
        alone = min(seen.errors["target_trees"], seen.errors["deep_target_trees"])
        for error in (seen.error, seen.errors["linear"], alone):
            assert f" {error:.4g} " in found.verdict
