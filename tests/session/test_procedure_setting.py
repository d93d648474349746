"""One setting for people and for the laboratory: what goes together, and what people are shown."""

import numpy as np
import pytest

from elicit_app.elicitation.questions import Step
from elicit_app.problem import Problem
from elicit_app.session.procedures import (
    ProcedureSetting,
    WrongPairing,
    check_setting,
    procedure_for,
    read_orders,
    sphere_for,
)
from elicit_app.study.opening import open_study

WINE, SOFTMAX = open_study("wine"), open_study("softmax-3")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"procedure": "dlpm", "family": "lpm"}, "dlpm only"),
        ({"procedure": "lpm", "family": "dlpm"}, "lpm only"),
        ({"procedure": "dlpm", "space": "sphere"}, "frontier only"),
        ({"procedure": "lpm", "space": "frontier"}, "sphere only"),
        ({"procedure": "dlpm", "radius": 0.01}, "about the sphere"),
        ({"procedure": "bayes", "confusions": "plugin"}, "counted"),
        ({"procedure": "lpm", "confusions": "counts"}, "estimated probabilities"),
        ({"procedure": "dlpm", "cycles": 2}, "--cycles"),
        ({"procedure": "lpm", "cycles": 0}, "at least 1"),
        ({"procedure": "dlpm", "stop": True}, "--stop"),
        ({"procedure": "lpm", "checks": True}, "--checks"),
        ({"procedure": "lpm", "max_cells": 4}, "--max-cells"),
        ({"procedure": "dlpm", "strength": True}, "--strength"),
        ({"procedure": "dlpm", "never_worse": read_orders(["a<=b"], "ab")}, "--never-worse"),
        ({"procedure": "bayes", "epsilon": 0.1}, "--epsilon"),
        ({"procedure": "bayes", "ask": "all"}, "--ask"),
        ({"procedure": "bayes", "repair": True}, "--repair"),
        ({"procedure": "dlpm", "epsilon": 0.0}, "between 1e-12 and 1"),
        ({"procedure": "dlpm", "epsilon": 1e-13}, "between 1e-12 and 1"),
        ({"procedure": "lpm", "epsilon": float("nan")}, "between 1e-12 and 1"),
        ({"procedure": "dlpm", "epsilon": 1.5}, "between 1e-12 and 1"),
    ],
)
def test_what_does_not_go_together_is_said(options, says):
    with pytest.raises(WrongPairing, match=says):
        check_setting(ProcedureSetting(**options))


@pytest.mark.parametrize(
    ("procedure", "family", "space", "confusions"),
    [
        ("bayes", "lpm", "frontier", "counts"),
        ("dlpm", "dlpm", "frontier", "plugin"),
        ("lpm", "lpm", "sphere", "plugin"),
        ("dlfpm", "dlfpm", "frontier", "plugin"),
        ("lfpm", "lfpm", "sphere", "plugin"),
    ],
)
@pytest.mark.parametrize("study", [WINE, SOFTMAX], ids=["predictions", "law"])
def test_defaults(procedure, family, space, confusions, study):
    setting = ProcedureSetting(procedure=procedure)
    assert (setting.resolved_family, setting.resolved_space, setting.resolved_confusions) == (family, space, confusions)
    made = procedure_for(study, setting)
    assert (made.name, made.family) == (procedure, family)


@pytest.mark.parametrize("procedure", ["dlpm", "lpm", "bayes"])
def test_people_are_shown_whole_cases(procedure):
    made = procedure_for(WINE, ProcedureSetting(procedure=procedure, person=True))
    step = next(made.begin())
    assert isinstance(step, Step)
    population = step.question.population
    assert population >= WINE.population
    for matrix in step.question.rates:
        np.testing.assert_allclose(matrix * population, np.rint(matrix * population), atol=1e-6)


def test_people_are_shown_what_is_counted_and_the_laboratory_may_be_steered_by_estimates():
    model = WINE.models[0]
    counted = np.bincount(model.y_true, minlength=3) / len(model.y_true)
    person = next(procedure_for(WINE, ProcedureSetting(procedure="dlpm", person=True)).begin()).question
    plugin = next(procedure_for(WINE, ProcedureSetting(procedure="dlpm")).begin()).question
    counts = next(procedure_for(WINE, ProcedureSetting(procedure="dlpm", confusions="counts")).begin()).question
    np.testing.assert_allclose(person.rates[0].sum(axis=1), counted, atol=1 / person.population)
    np.testing.assert_allclose(counts.first.sum(axis=1), counted, atol=1e-12)
    np.testing.assert_allclose(plugin.first.sum(axis=1), model.y_proba.mean(axis=0), atol=1e-12)


def test_a_setting_survives_json():
    setting = ProcedureSetting(procedure="lpm", cycles="auto", epsilon=0.05, person=True, seed=2**40)
    assert ProcedureSetting.model_validate(setting.model_dump(mode="json")) == setting
    with pytest.raises(ValueError, match="colour"):
        ProcedureSetting.model_validate({"colour": "blue"})


def test_orders_survive_json_and_none_of_them_leaves_no_trace():
    setting = ProcedureSetting(never_worse=read_orders(["a:b<=b:a"], "ab"))
    assert ProcedureSetting.model_validate(setting.model_dump(mode="json", exclude_none=True)) == setting
    assert ProcedureSetting(never_worse=()) == ProcedureSetting()
    with pytest.raises(ValueError, match="colour"):
        ProcedureSetting.model_validate({"never_worse": [{"mistake": {"true": "a", "colour": 1}, "than": {"true": 1}}]})


def test_models_are_found_by_name():
    second = WINE.models[1].name
    made = procedure_for(WINE, ProcedureSetting(procedure="dlpm", model=second))
    first = procedure_for(WINE, ProcedureSetting(procedure="dlpm"))
    assert not next(made.begin()).question.same_as(next(first.begin()).question)
    with pytest.raises(Problem, match="Its models: "):
        procedure_for(WINE, ProcedureSetting(procedure="dlpm", model="nobody"))
    with pytest.raises(Problem, match="synthetic"):
        procedure_for(SOFTMAX, ProcedureSetting(procedure="dlpm", model="nobody"))


def test_the_radius_is_that_of_the_law_and_never_more():
    setting = ProcedureSetting(procedure="lpm")
    assert round(sphere_for(SOFTMAX, setting).radius, 4) == 0.0407
    smaller = setting.model_copy(update={"radius": 0.01})
    assert sphere_for(SOFTMAX, smaller).radius == 0.01
    with pytest.raises(Problem, match="leaves the feasible"):
        procedure_for(SOFTMAX, setting.model_copy(update={"radius": 0.05}))
