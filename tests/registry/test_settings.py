"""One setting for people and for the laboratory: what goes together, and what people are shown."""

import re

import numpy as np
import pytest

from elicit_app.cli.output import flag
from elicit_app.elicitation.questions import Step
from elicit_app.problem import Problem, WrongOption
from elicit_app.registry import entries, for_person, procedure_for, setting_of
from elicit_app.registry.entries import read_orders, setting_from, sphere_for
from elicit_app.registry.procedures import BayesSetting, DlpmSetting, LpmSetting
from elicit_app.study.opening import open_study

WINE, SOFTMAX = open_study("wine"), open_study("softmax-3")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"procedure": "dlpm", "family": "lpm"}, "elicits the family dlpm only"),
        ({"procedure": "lpm", "family": "dlpm"}, "elicits the family lpm only"),
        ({"procedure": "dlpm", "space": "sphere"}, "asks on the frontier only"),
        ({"procedure": "lpm", "space": "frontier"}, "asks on the sphere only"),
        ({"procedure": "dlpm", "radius": 0.01}, "--radius applies to the sphere"),
        ({"procedure": "bayes", "radius": 0.01}, "--radius applies to the sphere"),
        ({"procedure": "bayes", "space": "sphere", "family": "dlpm"}, "--family can only be lpm"),
        ({"procedure": "bayes", "space": "sphere", "max_cells": 3}, "--max-cells applies to the frontier"),
        ({"procedure": "bayes", "confusions": "plugin"}, "it belongs to dlpm"),
        ({"procedure": "lpm", "confusions": "counts"}, "has no option --confusions"),
        ({"procedure": "dlpm", "cycles": 2}, "has no option --cycles; it belongs to lpm, lfpm"),
        ({"procedure": "lpm", "cycles": 0}, "--cycles must be at least 1"),
        ({"procedure": "dlpm", "stop": True}, "--stop"),
        ({"procedure": "lpm", "checks": True}, "--checks"),
        ({"procedure": "lpm", "max_cells": 4}, "--max-cells"),
        ({"procedure": "dlpm", "strength": True}, "--strength"),
        ({"procedure": "dlpm", "never_worse": read_orders(["a<=b"], "ab")}, "--never-worse"),
        ({"procedure": "bayes", "epsilon": 0.1}, "The procedure bayes has no option --epsilon"),
        ({"procedure": "bayes", "ask": "all"}, "--ask"),
        ({"procedure": "bayes", "repair": True}, "--repair"),
        ({"procedure": "bayes", "questions": 0}, "--questions: "),
        ({"procedure": "bayes", "colour": "blue"}, "The procedure bayes has no option --colour."),
        ({"procedure": "nobody"}, "no --procedure nobody. There are bayes, dlpm"),
        ({"procedure": "dlpm", "epsilon": 0.0}, "between 1e-12 and 1"),
        ({"procedure": "dlpm", "epsilon": 1e-13}, "between 1e-12 and 1"),
        ({"procedure": "lpm", "epsilon": float("nan")}, "between 1e-12 and 1"),
        ({"procedure": "dlpm", "epsilon": 1.5}, "between 1e-12 and 1"),
    ],
)
def test_what_does_not_go_together_is_said_with_flags_only_by_the_command(options, says):
    procedure = options.pop("procedure")
    with pytest.raises(WrongOption) as wrong:
        setting_of(procedure, **options)
    assert "--" not in wrong.value.sentence
    assert "`" not in wrong.value.sentence
    assert re.search(says, wrong.value.with_option_names(flag))


def test_what_is_not_used_is_as_good_as_left_out():
    off = dict.fromkeys(["epsilon", "cycles", "ask", "family", "space", "max_cells"])
    assert setting_of("dlpm", **off, stop=False, checks=False, repair=False) == DlpmSetting()
    assert setting_of("bayes", **off, repair=False) == BayesSetting()


@pytest.mark.parametrize(
    ("procedure", "family", "space"),
    [
        ("bayes", "lpm", "frontier"),
        ("dlpm", "dlpm", "frontier"),
        ("lpm", "lpm", "sphere"),
        ("dlfpm", "dlfpm", "frontier"),
        ("lfpm", "lfpm", "sphere"),
    ],
)
@pytest.mark.parametrize("study", [WINE, SOFTMAX], ids=["predictions", "law"])
def test_defaults(procedure, family, space, study):
    setting = setting_of(procedure)
    assert (setting.family, setting.space) == (family, space)
    made = procedure_for(study, setting)
    assert (made.name, made.family) == (procedure, family)


@pytest.mark.parametrize("procedure", ["dlpm", "lpm", "bayes"])
def test_people_are_shown_whole_cases(procedure):
    made = procedure_for(WINE, setting_of(procedure, person=True))
    step = next(made.begin())
    assert isinstance(step, Step)
    population = step.question.population
    assert population >= WINE.population
    for matrix in step.question.rates:
        np.testing.assert_allclose(matrix * population, np.rint(matrix * population), atol=1e-6)


def test_people_are_not_shown_points_of_the_sphere_by_bayes():
    with pytest.raises(WrongOption, match="not whole cases"):
        setting_of("bayes", space="sphere", person=True)
    with pytest.raises(WrongOption, match="not whole cases"):
        for_person(setting_of("bayes", space="sphere"))


def test_people_are_shown_what_is_counted_and_the_laboratory_may_be_steered_by_estimates():
    model = WINE.models[0]
    counted = np.bincount(model.y_true, minlength=3) / len(model.y_true)
    person = next(procedure_for(WINE, DlpmSetting(person=True)).begin()).question
    plugin = next(procedure_for(WINE, DlpmSetting()).begin()).question
    counts = next(procedure_for(WINE, DlpmSetting(confusions="counts")).begin()).question
    np.testing.assert_allclose(person.rates[0].sum(axis=1), counted, atol=1 / person.population)
    np.testing.assert_allclose(counts.first.sum(axis=1), counted, atol=1e-12)
    np.testing.assert_allclose(plugin.first.sum(axis=1), model.y_proba.mean(axis=0), atol=1e-12)


def test_a_setting_survives_json():
    setting = LpmSetting(cycles="auto", epsilon=0.05, person=True, seed=2**40)
    assert setting_from(setting.model_dump(mode="json")) == setting
    with pytest.raises(ValueError, match="colour"):
        setting_from({"colour": "blue"})


def test_orders_survive_json_and_none_of_them_leaves_no_trace():
    setting = BayesSetting(never_worse=read_orders(["a:b<=b:a"], "ab"))
    assert setting_from(setting.model_dump(mode="json", exclude_none=True)) == setting
    assert BayesSetting(never_worse=()) == BayesSetting()
    with pytest.raises(ValueError, match="colour"):
        setting_from({"never_worse": [{"mistake": {"true": "a", "colour": 1}, "than": {"true": 1}}]})


def test_an_order_of_classes_survives_json_and_is_left_out_with_the_others():
    setting = BayesSetting(ordered=("c", "a", "b"), never_worse=read_orders(["a:b<=b:a"], "abc"))
    assert setting_from(setting.model_dump(mode="json", exclude_none=True)) == setting
    assert len(setting.all_orders) == 1 + 4
    assert setting.without_orders().all_orders == ()
    assert BayesSetting(ordered=()) == BayesSetting()


@pytest.mark.parametrize(
    ("ordered", "family", "says"),
    [
        (("Barolo", "Barbera"), "lpm", "at least three classes"),
        (("Barolo", "Barbera", "Barolo"), "lpm", "each once"),
        (("Barolo", "Barbera", "Dolcetto"), "lpm", "no class “Dolcetto”"),
        (("Barolo", "Barbera", "Grignolino"), "dlpm", "ordered applies to the family lpm"),
    ],
)
def test_an_order_of_classes_that_cannot_be_stated_is_refused(ordered, family, says):
    with pytest.raises(WrongOption, match=says):
        procedure_for(WINE, BayesSetting(family=family, ordered=ordered))


def test_an_order_of_many_classes_is_refused_with_what_to_do():
    with pytest.raises(WrongOption, match=r"up to 5 classes.*piles"):
        procedure_for(open_study("digits"), BayesSetting(ordered=("0", "1", "2")))


def test_models_are_found_by_name():
    second = WINE.models[1].name
    made = procedure_for(WINE, DlpmSetting(model=second))
    first = procedure_for(WINE, DlpmSetting())
    assert not next(made.begin()).question.same_as(next(first.begin()).question)
    with pytest.raises(Problem, match="Its models: "):
        procedure_for(WINE, DlpmSetting(model="nobody"))
    with pytest.raises(Problem, match="synthetic"):
        procedure_for(SOFTMAX, DlpmSetting(model="nobody"))


def test_the_radius_is_that_of_the_law_and_never_more():
    setting = LpmSetting()
    assert round(sphere_for(SOFTMAX, setting).radius, 4) == 0.0407
    smaller = setting.model_copy(update={"radius": 0.01})
    assert sphere_for(SOFTMAX, smaller).radius == 0.01
    with pytest.raises(Problem, match="leaves the feasible"):
        procedure_for(SOFTMAX, setting.model_copy(update={"radius": 0.05}))


@pytest.mark.parametrize("study", ["breast-cancer", "wine"])
@pytest.mark.parametrize("tolerance", [0.05, 0.01])
@pytest.mark.parametrize("entry", [one for one in entries() if one.people], ids=lambda one: one.name)
def test_what_a_search_is_said_to_ask_is_what_its_first_question_says(entry, tolerance, study):
    opened = open_study(study)
    options = {"epsilon": tolerance} if entry.offers("epsilon") else {}
    setting = setting_of(entry.name, family=entry.families[0], person=True, **options)
    planned = setting.planned(opened.n_classes)
    assert (planned is None) == (not entry.narrows)
    if planned is not None:
        step = next(procedure_for(opened, setting).begin())
        assert (step.progress.fewest, step.progress.most) == planned
