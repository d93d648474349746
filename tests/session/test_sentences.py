"""What is said about answers and progress."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elicit_app.elicitation.questions import Moved, Progress
from elicit_app.session.pair_words import all_rows
from elicit_app.session.sentences import balance_of, last_words, preference, progress_words, undo_words
from elicit_app.session.views import AnsweredView, QuestionView
from elicit_app.study.model import Mistake, Wording

WORDING = Wording(
    case="patient",
    cases="patients",
    class_one=("melanoma", "naevus"),
    class_many=("melanomas", "naevi"),
    mistakes={
        (0, 1): Mistake("Missed melanoma", "missed melanoma", "missed melanomas"),
        (1, 0): Mistake("Needless excision", "needless excision", "needless excisions"),
    },
    any_mistake=(Mistake("Missed", "missed one", "missed ones"), Mistake("Needless", "needless one", "needless ones")),
)
A = np.array([[89, 31], [48, 832]], dtype=np.int64)
B = np.array([[101, 19], [133, 747]], dtype=np.int64)


def view(asked: int = 6, fewest: int = 5, most: int = 8, *, last: bool = False) -> QuestionView:
    return QuestionView(
        request=1,
        number=asked + 1,
        left=A,
        right=B,
        population=1000,
        subject="right",
        progress=Progress(asked, fewest, most),
        hypothetical=False,
        last=last,
        offer_break=False,
        previous=None,
        can_redo=False,
    )


def test_a_preference_says_what_was_gained_and_at_what_price() -> None:
    chosen = preference(A, B, "right", WORDING, "lpm")
    assert chosen[:2] == ("12 fewer missed melanomas", "85 fewer needless excisions")
    assert chosen.sentence == "you preferred 12 fewer missed melanomas"
    assert preference(A, B, "left", WORDING, "lpm")[:2] == ("85 fewer needless excisions", "12 fewer missed melanomas")
    assert preference(A, B, "left", WORDING, "dlpm")[:2] == ("85 fewer needless ones", "12 fewer missed ones")


def test_a_preference_does_not_depend_on_the_sides() -> None:
    assert preference(A, B, "right", WORDING, "lpm") == preference(B, A, "left", WORDING, "lpm")


def test_a_dominated_side_is_preferred_for_what_it_has_more_of() -> None:
    worse = A + np.array([[-5, 5], [0, 0]])
    assert preference(A, worse, "right", WORDING, "lpm")[:2] == ("5 more missed melanomas", "5 fewer missed melanomas")
    assert preference(A, worse, "left", WORDING, "lpm")[:2] == ("5 fewer missed melanomas", "")


def test_equal_and_unsure() -> None:
    assert preference(A, B, "equal", WORDING, "lpm")[:2] == (
        "About equal: 12 missed melanomas, 85 needless excisions",
        "",
    )
    assert preference(A, B, "unsure", WORDING, "lpm").preferred == "Cannot say"
    again = preference(A, B, "unsure", WORDING, "lpm", asked_again_as=14)
    assert again[:2] == ("Cannot say, asked again as 14", "")


def test_about_equal_says_where_nothing_was_traded() -> None:
    worse = A + np.array([[-5, 5], [0, 0]])
    for left, right in ((A, worse), (worse, A)):
        said = preference(left, right, "equal", WORDING, "lpm")
        assert said.preferred == "About equal, though one side only had 5 more missed melanomas"
    trade = preference(A, B, "equal", WORDING, "lpm").preferred
    assert trade.startswith("About equal: 12")


def test_nothing_is_as_bad_as_what_one_side_merely_has_on_top() -> None:
    worse = A + np.array([[-5, 5], [0, 0]])
    merely = balance_of(all_rows(A, worse, WORDING, "lpm"))
    assert merely.sentence == "A: nothing more against B: 5 more missed melanomas"
    one = balance_of(all_rows(A + np.array([[0, 0], [3, -3]]), A + np.array([[-1, 1], [0, 0]]), WORDING, "lpm"))
    assert " 1 more missed melanoma is as bad as " in one.sentence


def test_undo_says_what_it_takes_back() -> None:
    previous = AnsweredView(6, A, B, "right", None, 9.0, "fits")
    assert undo_words(previous, WORDING, "lpm") == "Take back answer 6: you preferred 12 fewer missed melanomas"
    assert undo_words(replace(previous, reply="unsure"), WORDING, "lpm") == "Take back answer 6: cannot say"
    assert undo_words(replace(previous, reply="equal"), WORDING, "lpm").startswith(
        "Take back answer 6: about equal: 12"
    )
    assert undo_words(None, WORDING, "lpm") == "There is no answer to take back yet"


def test_progress() -> None:
    words = progress_words(view())
    assert words.line == "Question 7, about 5 to 8 more"
    assert words.spoken == "About half known, about 5 to 8 questions left"
    assert progress_words(view(fewest=6, most=6)).line == "Question 7, about 6 more"
    assert progress_words(view(asked=23, last=True)).line == "Question 24, last one"
    assert progress_words(view(asked=19, fewest=0, most=0)).line == "Question 20, last one"


@pytest.mark.parametrize(
    ("asked", "words"), [(0, "Little"), (3, "About a quarter"), (6, "About half"), (14, "Most"), (60, "Nearly all")]
)
def test_the_share_is_said_in_words(asked: int, words: str) -> None:
    assert progress_words(view(asked=asked)).spoken.startswith(words)


def test_the_last_answer_is_said_with_what_was_forgone() -> None:
    last = AnsweredView(9, A, B, "right", None, 4.0, "fits")
    assert last_words(last, WORDING, "lpm") == (
        "You preferred 12 fewer missed melanomas rather than 85 fewer needless excisions."
    )
    assert last_words(replace(last, number=1, reply="unsure"), WORDING, "lpm") == "Cannot say."


def test_an_equal_point_says_what_one_mistake_counts_as():
    left, right = np.array([[100, 20], [41, 839]]), np.array([[114, 6], [41, 839]])
    moved = Moved("second", 1, 0, 161, 41)
    said = preference(left, right, "equal", WORDING, "lpm", moved=moved)
    missed, needless = WORDING.mistakes[0, 1], WORDING.mistakes[1, 0]
    assert said.sentence == f"14 more {missed.many} are as bad as 120 more {needless.many}: one counts as 8.6"
    bound = preference(left, right, "right", WORDING, "lpm", moved=moved)
    assert bound.sentence == f"you preferred 14 fewer {missed.many}"
    assert bound.rather_than == f"120 fewer {needless.many}"


@given(st.integers(1, 30), st.integers(1, 900))
def test_a_trade_counts_the_same_while_it_is_made_and_in_the_list_of_answers(missed, needless):
    left, right = np.array([[100, 31], [0, 1000]]), np.array([[100 + missed, 31 - missed], [needless, 1000 - needless]])
    now = balance_of(all_rows(left, right, WORDING, "lpm"))
    moved = Moved("second", 1, 0, needless, 0)
    assert preference(left, right, "equal", WORDING, "lpm", moved=moved).sentence.endswith(f"one counts as {now.ratio}")
