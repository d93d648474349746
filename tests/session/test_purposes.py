"""What the answers are for, as window and terminal ask it."""

import io
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from elicit_app.cli import asking
from elicit_app.elicitation.agenda import FEWEST_ANSWERS
from elicit_app.registry import setting_of
from elicit_app.session.sentences import purpose_words
from elicit_app.session.session import Session
from elicit_app.study import open_study


def test_each_purpose_says_when_it_stops_and_how_many_questions_there_are():
    choose, costs, both = purpose_words(open_study("breast-cancer"), 18)
    assert (choose.purpose, costs.purpose, both.purpose) == ("choose", "costs", "both")
    assert choose.title == "To choose between these models"
    assert choose.sentence == "Also: where to cut. Stops when the choice is settled."
    assert choose.questions == "usually 10 to 22 questions"
    assert costs.questions == both.questions == "usually up to 22 questions"


def test_of_labels_alone_nothing_is_said_about_where_to_cut():
    study = open_study("breast-cancer")
    labels = tuple(replace(one, y_proba=np.eye(2)[one.y_proba.argmax(axis=1)]) for one in study.models)
    assert purpose_words(replace(study, models=labels), 18)[0].sentence == "Stops when the choice is settled."
    assert "where to cut" in purpose_words(replace(study, models=(labels[0], study.models[1])), 18)[0].sentence


def test_where_it_may_not_stop_early_nothing_is_said_to_stop():
    said = purpose_words(open_study("wine"), 24, early=False)
    assert not any("Stops" in one.sentence for one in said)
    assert len({one.questions for one in said}) == 1


@pytest.mark.parametrize(("typed", "purpose"), [([""], "choose"), (["2"], "costs"), (["4", "3"], "both")])
def test_the_terminal_takes_a_number_and_asks_again_for_anything_else(monkeypatch, typed, purpose):
    lines = iter(typed)
    monkeypatch.setattr(asking, "prompt", lambda console, text: next(lines))
    console = Console(file=io.StringIO())
    assert asking.ask_purpose(open_study("wine"), None, console) == purpose
    assert "To write down what mistakes cost (usually up to 22 questions)" in console.file.getvalue()


@pytest.mark.parametrize(
    ("typed", "family"), [([""], "lpm"), (["No"], "lpm"), (["y"], "dlpm"), (["1", "j", "YES"], "dlpm")]
)
def test_the_terminal_takes_yes_or_no_for_alike_mistakes_and_asks_again_for_anything_else(monkeypatch, typed, family):
    lines = iter(typed)
    monkeypatch.setattr(asking, "prompt", lambda console, text: next(lines))
    assert asking.ask_family(open_study("wine"), Console(file=io.StringIO())) == family
    assert next(lines, None) is None


def test_a_choice_that_is_settled_by_the_eighth_answer_ends_the_sitting(tmp_path, answer_by_costs):
    """What can be chosen was the models before the eighth answer, and policies from then on: both were mixed."""
    setting = setting_of("bayes", family="lpm", seed=3, purpose="choose", stop=True, checks=True, answers="choice")
    with Session.create(open_study("breast-cancer"), setting, tmp_path / "a.session.jsonl") as session:
        answer_by_costs(session, [[0, 0.1], [1, 0]])
        assert FEWEST_ANSWERS <= len(session.state.entries) < 22
