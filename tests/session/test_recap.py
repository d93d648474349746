"""What somebody who comes back is told: how many answers are kept, the last answer, what is next."""

from elicit_app.session.runner import SessionRunner
from elicit_app.session.session import Session
from elicit_app.session.view_builders import recap_view
from elicit_app.session.views import QuestionView, RecapView, ResultView


def answer(session, number):
    for place in range(number):
        session.answer(("left", "right", "equal")[place % 3])


def test_it_says_what_is_kept_and_what_is_next_and_nothing_of_what_weighs_most(session):
    assert recap_view(session).kept == "No answers yet"
    answer(session, 1)
    assert recap_view(session).kept == "1 answer is kept"
    answer(session, 3)
    view = recap_view(session)
    assert view.kept == "4 answers are kept"
    assert view.following.startswith("Question 5 is next, then ")
    answer(session, 2)
    assert "mind" not in " ".join(str(text) for text in vars(recap_view(session)).values())
    session.stop()
    assert recap_view(session).following == "You were looking back at your answers."


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
