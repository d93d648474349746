"""What a person is told about how many questions are still to come."""

from dataclasses import replace

import pytest

from elicit_app.elicitation.agenda import FEWEST_ANSWERS
from elicit_app.elicitation.questions import Progress, Purpose
from elicit_app.registry.procedures import BayesSetting
from elicit_app.session.questions import procedure_note
from elicit_app.session.sentences import progress_words
from elicit_app.session.session import Session
from elicit_app.session.view_builders import question_view, review_view, sitting_over_view
from elicit_app.study import open_study


def sitting(session, replies):
    """Answer until the sitting is over; what was said before each answer."""
    views = []
    while (view := question_view(session, 0)) is not None:
        views.append(view)
        session.answer(replies(view), seconds=1.0)
    return views


@pytest.mark.parametrize("seed", [0])
def test_a_sitting_never_ends_before_the_fewest_questions_and_only_the_last_is_called_the_last(
    study, journal_path, seed
):
    def dislikes_missed(view):
        return "left" if view.left[0, 1] * 3 + view.left[1, 0] < view.right[0, 1] * 3 + view.right[1, 0] else "right"

    with Session.create(study, BayesSetting(seed=seed), journal_path) as session:
        views = sitting(session, dislikes_missed)
        total = len(session.state.entries)
        first = views[0].progress
        assert first.fewest + 1 >= FEWEST_ANSWERS + 2, "at least eight answers, a repeat and the check"
        assert 1 + first.fewest <= total <= 1 + first.most
        assert all(view.number == total for view in views if view.last)
        assert sitting_over_view(session).sentence == (
            "Your answers tell how bad each mistake is, compared with the worst one, within a factor of 2 "
            "(90 % plausible)."
        )
        purposes = [entry.event.pair.purpose for entry in session.state.entries]
        assert purposes.count(Purpose.INFORMATIVE) >= FEWEST_ANSWERS
        assert {Purpose.REPEAT, Purpose.CHECK} <= set(purposes)


def test_what_cannot_be_said_is_no_reason_to_stop(study, journal_path):
    with Session.create(study, BayesSetting(seed=3), journal_path) as session:
        for _ in range(4):
            session.answer("left")
        for _ in range(6):
            session.answer("unsure")
        assert session.asking() is not None, "four answers say something"
        step = session.next()
        assert session.note == ""
        beyond = replace(step, progress=replace(step.progress, beyond_plan=True))
        assert procedure_note(session.setting, beyond) == "One question more than planned, to be sure of your answers."
        assert session.asking().progress.fewest > FEWEST_ANSWERS - 4


def test_few_cells_differ_where_people_are_asked(journal_path):
    traffic = open_study("traffic-light")
    with Session.create(traffic, BayesSetting(seed=1), journal_path) as session:
        for _ in range(6):
            view = question_view(session, 0)
            changed = view.left != view.right
            changed[[0, 1, 2], [0, 1, 2]] = False
            assert 2 <= changed.sum() <= 4
            session.answer("left")
    with Session.create(
        traffic, BayesSetting(seed=1, max_cells=2), journal_path.with_name("two.session.jsonl")
    ) as session:
        assert session.setting.max_cells == 2, "whoever asks for another number gets it"


@pytest.mark.parametrize(
    ("fewest", "most", "said"),
    [(5, 8, "about 5 to 8 more"), (4, 4, "about 4 more"), (0, 3, "up to 3 more"), (0, 0, "last one")],
)
def test_how_many_more_in_words(session, fewest, most, said):
    view = question_view(session, 0)
    words = progress_words(replace(view, progress=Progress(6, fewest, most)))
    assert words.line == f"Question 1, {said}"


def test_what_could_not_be_said_is_asked_again_or_left_open(study, journal_path):
    with Session.create(study, BayesSetting(seed=0), journal_path) as session:
        sitting(session, lambda _: "unsure")
        fits = {answer.number: answer.fit for answer in review_view(session).answers}
        again = {entry.event.pair.repeat_of for entry in session.state.entries}
        assert {number for number, fit in fits.items() if fit == "asked again"} == again - {None}
        assert {fit for number, fit in fits.items() if number not in again} == {"left open"}
        assert "needs at least 5 other than “cannot say”: 5 more answers." in review_view(session).sentence
