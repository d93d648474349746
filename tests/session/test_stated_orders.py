"""Orders stated for certain: kept in the session, in every draw of the result, in the file and in what is said."""

import json
import re

import numpy as np
import pytest

from elicit_app.elicitation.orders import StatedMistake, StatedOrder
from elicit_app.elicitation.questions import Purpose
from elicit_app.problem import Problem
from elicit_app.registry import procedure_for
from elicit_app.registry.entries import read_orders
from elicit_app.registry.procedures import BayesSetting
from elicit_app.session.result import export, result_view
from elicit_app.session.session import Session
from elicit_app.session.view_builders import recap_view
from elicit_app.study import open_study
from metrics import ElicitedMetric
from metrics.elicited.metric_parts import AGAINST_AN_ORDER
from metrics.exports.metric_page import metric_page

WINE = open_study("wine")
ORDERS = read_orders(["Barolo:Barbera<=Barbera:Barolo", "Barbera:Barolo<=Grignolino:Barolo"], WINE.classes)
COSTS = np.array([[0, 3, 9], [4, 0, 2], [2, 1, 0]])  # the other way round
SETTING = BayesSetting(questions=6, seed=5, never_worse=ORDERS)
SAID = (
    "One Barolo sold as Barbera is never worse than one Barbera sold as Barolo. "
    "One Barbera sold as Barolo is never worse than one Grignolino sold as Barolo."
)


def test_every_draw_of_the_metric_file_keeps_them_whatever_was_answered(journal_path, tmp_path, answer_by_costs):
    with Session.create(WINE, SETTING, journal_path) as session:
        answer_by_costs(session, COSTS, seconds=7.0)
        session.finish()
        view = result_view(session)
        metric = ElicitedMetric.load(export(view, tmp_path / "wine.metric.json"))
    assert len(metric.samples) > 100
    for weights in (metric.weights, *metric.samples):
        costs = np.zeros((3, 3))
        costs[~np.eye(3, dtype=bool)] = np.abs(weights)
        assert costs[0, 2] <= costs[2, 0] + 1e-12
        assert costs[2, 0] <= costs[1, 0] + 1e-12
    stated = metric.provenance.parameters["never_worse"]
    assert stated[0] == {
        "mistake": {"true": "Barolo", "predicted": "Barbera"},
        "than": {"true": "Barbera", "predicted": "Barolo"},
    }
    assert any(SAID in note for note in view.notes)


def test_the_fifth_new_question_is_decided_by_the_first_of_them(journal_path, answer_by_costs):
    """Every number keeps to them, so that only an answer of the expert can show that one does not hold."""
    with Session.create(WINE, SETTING, journal_path) as session:
        answer_by_costs(session, COSTS, seconds=7.0)
        new = [entry.event.pair for entry in session.state.entries if entry.event.pair.purpose == Purpose.INFORMATIVE]
    pair = new[4]
    difference = np.array(pair.first) - np.array(pair.second)
    np.fill_diagonal(difference, 0)
    assert {tuple(cell) for cell in np.argwhere(difference)} == {(0, 2), (2, 0)}
    assert difference[0, 2] * difference[2, 0] < 0
    assert abs(difference[0, 2]) <= abs(difference[2, 0])


def test_they_come_back_from_the_journal_with_the_same_questions(journal_path):
    with Session.create(WINE, SETTING, journal_path) as session:
        session.answer("left", seconds=5.0)
        expected = session.asking().pair
    with Session.open(journal_path) as again:
        assert again.setting.never_worse == ORDERS
        assert again.asking().pair == expected
        assert recap_view(again).stated == SAID


def test_a_journal_of_before_them_loads(journal_path):
    with Session.create(WINE, SETTING.model_copy(update={"never_worse": None}), journal_path) as session:
        session.answer("left")
    first = json.loads(journal_path.read_text(encoding="utf-8").splitlines()[0])
    assert "never_worse" not in first["setting"]
    with Session.open(journal_path) as again:
        assert again.setting.never_worse is None
        assert recap_view(again).stated == ""


def test_an_order_of_the_classes_is_kept_by_every_draw_and_said_in_two_sentences(
    journal_path, tmp_path, answer_by_costs
):
    ordered = ("Grignolino", "Barolo", "Barbera")
    said = (
        "The classes are in an order: Grignolino, Barolo and Barbera. Of two mistakes with the same truth, or the same "
        "prediction, the one that is further off is never the lesser."
    )
    with Session.create(WINE, BayesSetting(questions=6, seed=5, ordered=ordered), journal_path) as session:
        session.answer("left", seconds=5.0)
    with Session.open(journal_path) as session:
        assert recap_view(session).stated == said
        answer_by_costs(session, COSTS, seconds=7.0)
        session.finish()
        view = result_view(session)
        metric = ElicitedMetric.load(export(view, tmp_path / "wine.metric.json"))
    assert any(said in note for note in view.notes)
    assert metric.provenance.parameters["ordered"] == list(ordered)
    assert "Grignolino, Barolo, Barbera" in str(metric_page(metric))
    for weights in (metric.weights, *metric.samples):
        costs = np.zeros((3, 3))
        costs[~np.eye(3, dtype=bool)] = np.abs(weights)
        assert costs[1, 2] >= max(costs[1, 0], costs[0, 2]) - 1e-12
        assert costs[2, 1] >= max(costs[2, 0], costs[0, 1]) - 1e-12


@pytest.mark.parametrize(
    ("orders", "says"),
    [
        (["Barolo:Barbera<=Barbera:Barolo", "Barbera:Barolo<=Barolo:Barbera"], "contradict each other"),
        (["Barolo<=Barbera"], "leaves open what Barolo is taken for"),
    ],
)
def test_what_cannot_hold_is_refused_before_there_is_a_file(journal_path, orders, says):
    setting = BayesSetting(never_worse=read_orders(orders, WINE.classes))
    with pytest.raises(Problem, match=says):
        Session.create(WINE, setting, journal_path)
    assert not journal_path.exists()


def test_a_class_of_another_study_is_refused():
    order = StatedOrder(StatedMistake("red", "green"), StatedMistake("green", "red"))
    with pytest.raises(
        Problem, match=r"class 'red', which does not exist\. The classes are Barolo, Grignolino, Barbera"
    ):
        procedure_for(WINE, BayesSetting(never_worse=(order,)))


def test_names_and_indices_ask_the_same_questions():
    by_index = StatedOrder(StatedMistake(0, 2), StatedMistake(2, 0))
    named, numbered = (
        procedure_for(WINE, BayesSetting(never_worse=orders, seed=2)) for orders in (ORDERS[:1], (by_index,))
    )
    assert next(named.begin()).question.same_as(next(numbered.begin()).question)


class TestContradicted:
    """An order that the answers contradict, three of one mistake against one of the other; and one that they keep."""

    FALSE, TRUE = (
        read_orders([text], WINE.classes)
        for text in ("Barolo:Barbera<=Grignolino:Barbera", "Grignolino:Barbera<=Barolo:Barbera")
    )
    FOUND = "The answers contradict an order that was stated"

    def answered(self, path, orders=(), **more):
        setting = BayesSetting(questions=16, seed=5, answers="choice", never_worse=orders, **more)
        session = Session.create(WINE, setting, path)
        while (asking := session.asking()) is not None:
            trade = np.array(asking.pair.first) - np.array(asking.pair.second)
            first = (trade * np.array([[0, 3, 9], [3, 0, 1], [3, 3, 0]])).sum() < 0
            session.answer("left" if first == (asking.left == "first") else "right", seconds=7.0)
        session.finish()
        return session

    def findings(self, view):
        return [finding for finding in view.trust if finding.headline == self.FOUND]

    def test_it_is_said_and_nothing_is_decided_by_such_costs(self, journal_path):
        with self.answered(journal_path, self.FALSE) as session:
            view = result_view(session)
        (found,) = self.findings(view)
        assert not found.good
        assert found.may_withdraw
        assert found.detail.startswith(
            "“One Barolo sold as Barbera is never worse than one Grignolino sold as Barbera.” By the answers alone it"
        )
        assert "All costs keep to the order. " in found.detail
        assert not any("fit these numbers" in one.headline for one in view.trust)
        assert view.trust_sentence == "Hardly: see the reservations below."
        assert view.metric.quality.provisional == AGAINST_AN_ORDER
        assert view.judgement.advice == f"Do not decide by these costs yet: {AGAINST_AN_ORDER}"

    def test_an_order_of_the_classes_is_doubted_as_one(self, journal_path):
        with self.answered(journal_path, ordered=("Grignolino", "Barolo", "Barbera")) as session:
            view = result_view(session)
        (found,) = self.findings(view)
        assert found.may_withdraw
        assert re.match(
            r"The answers are (more than 1,000|\d+) times as likely if the classes are in no order\. What fits least: "
            r"“One Barolo sold as Barbera is never worse than one Grignolino sold as Barbera\.” By the answers ",
            found.detail,
        )
        assert view.metric.quality.provisional == AGAINST_AN_ORDER

    def test_an_order_of_the_classes_that_the_answers_keep_is_not(self, journal_path):
        with self.answered(journal_path, ordered=("Barolo", "Grignolino", "Barbera")) as session:
            assert not self.findings(result_view(session))

    def test_it_is_asked_about_once_where_it_decides_the_side(self, journal_path):
        with self.answered(journal_path, self.FALSE) as session:
            asked = [one.question for one in session.state.history if one.question.purpose is Purpose.INFORMATIVE]
        trade = np.array(asked[4].first) - np.array(asked[4].second)
        np.fill_diagonal(trade, 0)
        assert np.argwhere(trade).tolist() == [[0, 2], [1, 2]]
        assert trade[0, 2] * trade[1, 2] < 0
        assert abs(trade[0, 2]) <= abs(trade[1, 2])

    def test_an_order_that_the_answers_keep_is_not_doubted(self, journal_path):
        with self.answered(journal_path, self.TRUE) as session:
            assert not self.findings(result_view(session))

    def test_without_it_the_same_answers_tell_what_they_would_have_told(self, journal_path):
        with self.answered(journal_path, self.FALSE) as session:
            answers = len(session.state.history)
            session.withdraw_orders()
            view = result_view(session)
            free = procedure_for(WINE, session.setting)
        assert len(session.state.history) == answers
        assert not self.findings(view)
        assert "What was stated as certain before the questions was withdrawn after them." in view.notes
        assert "never_worse" not in view.metric.provenance.parameters
        costs = view.metric.cost_matrix
        assert costs[0, 2] > 2 * costs[1, 2]
        assert free.belief(session.state.history).log_weights == pytest.approx(
            session.procedure().belief(session.state.history).log_weights
        )

    def test_the_journal_keeps_that_it_was_withdrawn(self, journal_path):
        with self.answered(journal_path, self.FALSE) as session:
            session.withdraw_orders()
            session.withdraw_orders()
        assert journal_path.read_text(encoding="utf-8").count('"orders withdrawn"') == 1
        with Session.open(journal_path) as again:
            assert not again.setting.orders
            assert recap_view(again).stated == ""
            assert again.state.phase == "finished"
