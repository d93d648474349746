"""A procedure is one entry: what is registered runs everywhere, and what is half registered says so at once."""

import json
import queue
from typing import Literal

import numpy as np
import pytest
from typer.testing import CliRunner

from elicit_app.cli.main import app
from elicit_app.elicitation.procedure import Outcome, Procedure
from elicit_app.elicitation.questions import Answer, Asked, Belief, Choice, Progress, Question, Step
from elicit_app.problem import WrongOption
from elicit_app.registry import Entry, Setting, entries, procedure_for, registered, setting_of
from elicit_app.session.runner import SessionRunner
from elicit_app.session.session import Session
from elicit_app.session.views import QuestionView, SittingOverView
from elicit_app.study import open_study
from metrics.elicited.exchange import SEARCHES

WINE = open_study("wine")


class ToySetting(Setting):
    procedure: Literal["toy"] = "toy"
    family: Literal["dlpm"] = "dlpm"
    space: Literal["frontier"] = "frontier"
    patience: int = 6


class Toy(Procedure):
    """Asks for every class whether it is worse to lose some cases of it than of the first, and counts."""

    name = "toy"
    family = "dlpm"

    def __init__(self, study, setting):
        self.k, self.questions = study.n_classes, setting.questions or setting.patience
        self.population = study.population

    def question(self, n: int) -> Question:
        share, spoilt = self.population // self.k, 1 + n % (self.k - 1)
        whole = np.diag([self.population - share * (self.k - 1), *[share] * (self.k - 1)]).astype(np.int64)
        first, second = whole.copy(), whole.copy()
        first[0, 0], first[0, 1] = first[0, 0] - 10 - n, 10 + n
        second[spoilt, spoilt], second[spoilt, 0] = share - 10 - n, 10 + n
        return Question(first, second, self.population, hypothetical=True)

    def begin(self, history=()):
        so_far = list(history)
        while len(so_far) < self.questions:
            left = self.questions - len(so_far)
            step = Step(
                self.question(len(so_far)), Progress(len(so_far), left, left), Belief(self.conclude(so_far).weights)
            )
            so_far.append(Asked(step.question, (yield step)))
        return self.conclude(so_far, "budget")

    def conclude(self, history, reason="expert"):
        weights = np.ones(self.k)
        for n, asked in enumerate(history):
            if asked.answer.choice is Choice.FIRST:
                weights[1 + n % (self.k - 1)] += 1
        return Outcome("dlpm", weights / weights.sum(), (None,) * self.k, reason, len(history))


TOY = Entry(ToySetting, "A toy", Toy, people=True)


@pytest.fixture(autouse=True)
def toy():
    with registered(TOY):
        yield


def test_ranges_of_searches_are_known_by_the_procedure():
    assert set(SEARCHES) == {entry.name for entry in entries() if entry.narrows and entry.costs}


def test_it_runs_in_simulate():
    told = CliRunner().invoke(
        app, ["simulate", "wine", "--procedure", "toy", "--questions", "5", "--runs", "2", "--json"]
    )
    assert told.exit_code == 0, told.output
    found = json.loads(told.stdout)
    assert (found["procedure"], found["family"]) == ("toy", "dlpm")
    assert [run["questions"] for run in found["runs"]] == [5, 5]


def test_it_runs_in_ask(tmp_path):
    path, out = tmp_path / "x.session.jsonl", tmp_path / "x.metric.json"
    options = ["--procedure", "toy", "--simulate", "random", "--seed", "1", "--session", str(path), "--out", str(out)]
    told = CliRunner().invoke(app, ["ask", "wine", *options])
    assert told.exit_code == 0, told.output
    assert json.loads(out.read_text())["provenance"]["procedure"] == "toy"
    assert json.loads(path.read_text().splitlines()[0])["setting"]["patience"] == 6
    with Session.open(path) as session:
        assert isinstance(session.setting, ToySetting)


def test_it_runs_in_the_window(tmp_path):
    views = queue.Queue()
    session = Session.create(WINE, setting_of("toy", patience=5), tmp_path / "x.session.jsonl")
    runner = SessionRunner(session, views.put)
    runner.start()
    try:
        answered = 0
        while isinstance(view := views.get(timeout=600), QuestionView):
            runner.answer(view.request, "left")
            answered += 1
        assert isinstance(view, SittingOverView)
        assert answered == 5
    finally:
        runner.close()


def test_its_name_is_known_where_names_are_told_and_gone_afterwards():
    assert TOY in entries()
    with pytest.raises(WrongOption, match="toy"):
        setting_of("nobody")
    with pytest.raises(TypeError, match="There is a procedure toy already"), registered(TOY):
        pass
    assert procedure_for(WINE, setting_of("toy")).belief([]) is None


class NoName(Setting):
    family: Literal["dlpm"] = "dlpm"
    space: Literal["frontier"] = "frontier"


class NoFamily(Setting):
    procedure: Literal["half"] = "half"
    space: Literal["frontier"] = "frontier"


class OtherDefault(ToySetting):
    space: Literal["frontier", "sphere"] = "sphere"


@pytest.mark.parametrize(
    ("setting", "label", "build", "says"),
    [
        (dict, "A half", Toy, "a subclass of Setting"),
        (NoName, "A half", Toy, "NoName.procedure must be a Literal"),
        (NoFamily, "A half", Toy, "NoFamily.family must be a Literal"),
        (OtherDefault, "A half", Toy, "first value is its default"),
        (ToySetting, " ", Toy, "needs a label"),
        (ToySetting, "A half", None, "needs build"),
        (ToySetting, "A half", lambda study: None, "needs build"),
    ],
)
def test_what_is_half_registered_fails_at_once_in_words(setting, label, build, says):
    with pytest.raises(TypeError, match=says):
        Entry(setting, label, build)


def test_answers_are_those_of_the_procedure():
    made = procedure_for(WINE, setting_of("toy"))
    asked = [Asked(made.question(n), Answer(Choice.FIRST)) for n in range(3)]
    assert next(made.begin(asked)).progress.asked == 3
