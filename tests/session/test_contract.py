"""One procedure, three drivers: the reference driver with an oracle, the runner as a window uses it, the terminal."""

import io
import queue

import numpy as np
import pytest
from rich.console import Console

from elicit_app.cli.terminal import Terminal
from elicit_app.elicitation.oracles import LinearOracle, run
from elicit_app.elicitation.questions import Choice, Question
from elicit_app.problem import Problem
from elicit_app.registry import entries, for_person, procedure_for
from elicit_app.registry.procedures import BayesSetting
from elicit_app.session.runner import SessionRunner
from elicit_app.session.session import Session
from elicit_app.session.views import QuestionView, SittingOverView
from elicit_app.study import open_study
from metrics.elicited.family import family_of

KEYS = {"left": "1", "right": "2", "equal": "0"}


def oracle_of(study, family):
    k = study.n_classes
    weights = np.arange(1.0, k + 1) if family == "dlpm" else -np.exp(np.linspace(0, 1.5, k * k - k))
    return LinearOracle(family_of(family).weight_matrix(weights))


def reply_of(oracle, view):
    """Answer as a person would: from what is on the page; with the count that was moved where one is asked for."""
    answer = oracle.answer(Question(view.left, view.right, view.population, proposal=view.proposal))
    return {Choice.FIRST: "left", Choice.SECOND: "right", Choice.EQUAL: "equal"}[answer.choice], answer.moved


def typed(reply, moved):
    return KEYS[reply] if moved is None else f"{KEYS[reply].replace('0', '')}={moved.count}"


def transcript(asked):
    return [
        (question.first.tolist(), question.second.tolist(), question.purpose, answer.choice, answer.moved)
        for question, answer in asked
    ]


def by_window(study, setting, path, oracle):
    views = queue.Queue()
    runner = SessionRunner(Session.create(study, setting, path), views.put)
    runner.start()
    while isinstance(view := views.get(timeout=600), QuestionView):
        reply, moved = reply_of(oracle, view)
        runner.answer(view.request, reply, moved=moved)
    assert isinstance(view, SittingOverView)
    runner.close()


def by_terminal(study, setting, path, oracle):
    def read(view):
        return None if view is None else typed(*reply_of(oracle, view))

    console = Console(file=io.StringIO(), markup=False, highlight=False)
    assert Terminal(Session.create(study, setting, path), console, read).run() is not None


# Where a procedure is quick; one that is registered later is tried on breast-cancer with four questions.
SMALL = {"dlpm": ("traffic-light", {}), "lpm": ("breast-cancer", {"epsilon": 0.1})}
FOR_PEOPLE = [
    (SMALL.get(entry.name, ("breast-cancer",))[0], entry.setting(**SMALL.get(entry.name, ("", {"questions": 4}))[1]))
    for entry in entries()
    if entry.people
]


@pytest.mark.parametrize(
    ("name", "setting"),
    [*FOR_PEOPLE, ("wine", BayesSetting(questions=4, seed=4, answers="equal"))],
    ids=lambda value: value if isinstance(value, str) else value.procedure,
)
def test_window_terminal_and_oracle_have_equal_transcripts(tmp_path, name, setting):
    study = open_study(name)
    oracle = oracle_of(study, setting.family)
    outcome, asked = run(procedure_for(study, for_person(setting)), oracle)
    expected = transcript(asked)
    assert len(expected) >= 4
    for drive in (by_window, by_terminal):
        path = tmp_path / f"{drive.__name__}.session.jsonl"
        drive(study, setting, path, oracle)
        with Session.open(path, study) as session:
            assert transcript(session.state.history) == expected
    with Session.open(path, study) as session:
        assert np.array_equal(session.outcome().weights, outcome.weights)
        assert session.outcome().stopped == outcome.stopped


@pytest.mark.parametrize("entry", [entry for entry in entries() if not entry.people], ids=lambda entry: entry.name)
def test_a_procedure_whose_result_no_metric_file_holds_is_refused_to_people_in_words(entry):
    with pytest.raises(Problem, match=rf"The procedure {entry.name} is for simulations"):
        for_person(entry.setting())
