"""What somebody who comes back is told: how many answers are kept, what weighs most, the last answer, what is next."""

import numpy as np
import pytest

from elicit_app.session.procedures import ProcedureSetting
from elicit_app.session.recapping import TOO_EARLY, recap_view, worst_mistake_sentence
from elicit_app.session.runner import SessionRunner
from elicit_app.session.session import Session
from elicit_app.session.views.asked import QuestionView, RecapView
from elicit_app.session.views.outcome import ResultView
from elicit_app.study import open_study
from metrics import Consequence
from metrics.elicited.exchange import ExchangeRate


def ratio(true, predicted, value, *, yardstick=False, ninety=(2.0, 20.0), study=None):
    words = (study or open_study("breast-cancer")).wording.mistakes[true, predicted]
    mistake = Consequence(str(true), str(predicted), words.name, words.one, words.many)
    return ExchangeRate(true, predicted, value, *((1.0, 1.0) if yardstick else ninety), yardstick, mistake)


@pytest.fixture(scope="module")
def lumps():
    return open_study("breast-cancer")


def test_what_weighs_most_is_said_with_its_range(lumps):
    ratios = (ratio(0, 1, 7.5), ratio(1, 0, 1.0, yardstick=True))
    missed, needless = (lumps.wording.mistakes[cell] for cell in ((0, 1), (1, 0)))
    said = worst_mistake_sentence(ratios, np.array([0.9, 0.1]))
    assert said == (
        f"So far you seem to mind {missed.many} most: one {missed.one} counts as much as 7.5 {needless.many} "
        "(plausible: 2 to 20)."
    )
    assert worst_mistake_sentence(ratios, None) == said


def test_the_yardstick_may_weigh_most(lumps):
    ratios = (ratio(0, 1, 0.2), ratio(1, 0, 1.0, yardstick=True))
    said = worst_mistake_sentence(ratios, np.array([0.1, 0.9]))
    assert said == f"So far you seem to mind {lumps.wording.mistakes[1, 0].many} most."


def test_what_is_only_bounded_is_said_to_be(lumps):
    ratios = (ratio(0, 1, 30.0, ninety=(20.0, np.inf)), ratio(1, 0, 1.0, yardstick=True))
    assert "counts as at least 20 " in worst_mistake_sentence(ratios, None)
    assert "plausible" not in worst_mistake_sentence(ratios, None)


def test_where_no_mistake_stands_out_two_are_named():
    lights = open_study("traffic-light")
    ratios = (
        ratio(0, 1, 3.0, study=lights),
        ratio(0, 2, 2.9, study=lights),
        ratio(1, 0, 1.0, study=lights, yardstick=True),
        ratio(1, 2, 0.5, study=lights),
        ratio(2, 0, 0.4, study=lights),
        ratio(2, 1, 0.3, study=lights),
    )
    said = worst_mistake_sentence(ratios, np.array([0.45, 0.4, 0.1, 0.05, 0, 0]))
    first, second = (lights.wording.mistakes[cell].many for cell in ((0, 1), (0, 2)))
    assert f"{first} or {second} most" in said


def answer(session, number):
    for place in range(number):
        session.answer(("left", "right", "equal")[place % 3])


def test_few_answers_say_nothing_about_what_weighs_most(session):
    assert recap_view(session).kept == "Nothing was answered yet"
    answer(session, 1)
    assert recap_view(session).kept == "1 answer is kept"
    answer(session, 3)
    view = recap_view(session)
    assert (view.answers, view.kept, view.minds) == (4, "4 answers are kept", TOO_EARLY)
    assert view.following.startswith("Question 5 is next, then ")
    answer(session, 2)
    assert recap_view(session).minds.startswith("So far you seem to mind ")
    session.stop()
    assert recap_view(session).following == "You were looking back on your answers."


def test_a_published_search_says_it_too(tmp_path):
    setting = ProcedureSetting(procedure="dlpm", epsilon=0.1)
    with Session.create(open_study("traffic-light"), setting, tmp_path / "x.session.jsonl") as session:
        for _ in range(6):
            session.answer("left")
        assert recap_view(session).minds.startswith("So far you seem to mind ")


def drive(session, **start):
    """Return the views of a runner that is told to go on once after the recap."""
    seen = []

    def listen(view):
        seen.append(view)
        if isinstance(view, RecapView):
            runner.go_on()

    runner = SessionRunner(session, listen, look_ahead=False)
    runner.start(**start)
    runner._worker.submit(lambda: None).result()
    runner._worker.submit(lambda: None).result()
    runner.close()
    return seen


def test_a_session_that_goes_on_begins_with_the_recap_and_then_asks(session):
    answer(session, 2)
    first, then = drive(session, recap=True)
    assert isinstance(first, RecapView)
    assert isinstance(then, QuestionView)
    assert then.number == 3


def test_there_is_no_recap_without_an_answer_or_a_question(session, study, journal_path):
    (only,) = drive(session, recap=True)
    assert isinstance(only, QuestionView)
    with Session.open(journal_path, study) as again:
        answer(again, 6)
        again.finish()
        (only,) = drive(again, recap=True)
    assert isinstance(only, ResultView)


def test_nobody_who_asks_for_none_gets_a_recap(session):
    answer(session, 2)
    (only,) = drive(session)
    assert isinstance(only, QuestionView)
