"""Answers in which a count was moved until both results are equally bad, and answers with a reason."""

from dataclasses import replace

import numpy as np
import pytest

from elicit_app.cli.terminal import read_key
from elicit_app.elicitation.questions import Choice, Moved, Proposal, Step
from elicit_app.problem import Problem
from elicit_app.session.session import Session
from elicit_app.session.view_builders import answers_csv, looking_again_view, question_view, review_view


@pytest.fixture
def offered(session, monkeypatch):
    """A session whose question offers a count to move, which side it stands on notwithstanding."""
    computed = session.next

    def with_proposal():
        step = computed()
        assert isinstance(step, Step)
        second = step.question.second
        proposal = Proposal("second", 1, 0, int(second[1, 0]), 0, int(second[1].sum()))
        return replace(step, question=replace(step.question, proposal=proposal))

    monkeypatch.setattr(session, "next", with_proposal)
    return session


def moved_by(view, steps):
    may = view.proposal
    return Moved(may.side, may.true, may.predicted, may.start + steps, may.start)


@pytest.mark.parametrize("number", range(4))
def test_the_moved_count_is_kept_in_the_pairs_own_order_whatever_stood_left(offered, number):
    for _ in range(number):
        offered.answer("left")
    view = question_view(offered, 0)
    side = view.left if view.proposal.side == "first" else view.right
    assert view.proposal.start == side[1, 0]
    offered.answer("equal", moved=moved_by(view, 5), reason="  a biopsy is  worse than they think ")
    answer = offered.state.entries[-1].answer
    assert (answer.moved.side, answer.moved.count) == ("second", answer.moved.start + 5)
    assert answer.reason == "a biopsy is  worse than they think"
    shown = review_view(offered).answers[-1]
    assert shown.moved == moved_by(view, 5)
    assert np.array_equal(shown.left, view.left), "the pair as it was shown"


def test_it_is_read_again_undone_and_changed(offered, study, journal_path):
    view = question_view(offered, 0)
    offered.answer("equal", moved=moved_by(view, 7), reason="because")
    given = offered.state.entries[0].answer
    offered.undo()
    assert question_view(offered, 0).proposal == view.proposal
    offered.redo()
    again = looking_again_view(offered, 0, 1)
    offered.change(1, "equal", moved=moved_by(again, 9))
    offered.close()
    with Session.open(journal_path, study) as opened:
        entry = opened.state.entries[0]
        assert entry.event.answer == given
        assert (entry.answer.choice, entry.answer.moved.count) == (Choice.EQUAL, given.moved.start + 9)
        row = answers_csv(opened).splitlines()[1]
        assert ",changed," in row
        assert f",{given.moved.start},{given.moved.count},because," in row


def test_only_the_offered_count_can_be_moved_and_only_within_its_scale(offered, session):
    view = question_view(offered, 0)
    for wrong in (replace(moved_by(view, 1), true=0, predicted=1), moved_by(view, 10_000)):
        with pytest.raises(Problem, match=r"cannot be moved|must lie between"):
            offered.answer("equal", moved=wrong)
    assert offered.state.entries == ()


@pytest.mark.parametrize("end", ["least", "most"])
def test_both_ends_of_the_scale_can_be_said_and_nothing_beyond(offered, end):
    view = question_view(offered, 0)
    may = view.proposal
    with pytest.raises(Problem, match="must lie between"):
        offered.answer("equal", moved=moved_by(view, may.most + 1 - may.start))
    offered.answer("equal", moved=moved_by(view, getattr(may, end) - may.start))
    assert offered.state.entries[-1].answer.moved.count == getattr(may, end)


def test_a_typed_count_is_an_equal_point_or_a_bound():
    assert read_key("=40")[::3] == ("equal", 40)
    assert read_key("2=1,313")[::3] == ("right", 1313)
    assert read_key("=")[::3] == ("equal", None)
    assert read_key("=x").reply is None
