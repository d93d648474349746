"""What kind of question comes next: budgets, repeats, checks, and what could not be said."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elicit_app.elicitation.agenda import (
    SITTING,
    extras,
    n_answered,
    n_informative,
    next_item,
    questions_left,
    repeatable_answers,
    required_item,
    required_left,
    unasked_mistakes,
)
from elicit_app.elicitation.questions import Answer, Asked, Choice, Moved, Purpose, Question

PREFERENCES = (Choice.FIRST, Choice.SECOND)
CHOICES = st.sampled_from(list(Choice))
LATER = 4  # questions before one that could not be answered comes back
NOTHING = np.eye(2) / 2


def asked_as(kind: str, place: int | None, history: list[Asked], choice: Choice, seconds: float | None) -> Asked:
    """Return the item of an agenda as the question that the procedure makes of it, answered."""
    if kind == "repeat":
        place = repeatable_answers(history)[0]
    if kind == "again" and history[place].question.purpose is Purpose.REPEAT:
        return Asked(history[place].question, Answer(choice, seconds=seconds))
    purpose = {"repeat": Purpose.REPEAT, "check": Purpose.CHECK}.get(kind, Purpose.INFORMATIVE)
    return Asked(
        Question(NOTHING, NOTHING, None, purpose, None if place is None else place + 1), Answer(choice, seconds=seconds)
    )


def sat(questions: int, checks: bool, choices, seconds: float | None = None) -> tuple[list[Asked], list[str]]:
    """Follow the agenda to its end; `choices` gives the answer to the nth question."""
    history, kinds = [], []
    while (item := next_item(history, questions, checks)) is not None:
        kinds.append(item.kind)
        history.append(asked_as(*item, history, choices(len(history)), seconds))
        assert len(history) < 20 * questions + 20
    return history, kinds


def at_random(seed: int, shares=(0.4, 0.4, 0.1, 0.1)):
    rng = np.random.default_rng(seed)
    return lambda n: list(Choice)[rng.choice(4, p=shares)]


def count(history: list[Asked], purpose: Purpose) -> int:
    return sum(asked.question.purpose is purpose for asked in history)


class TestBudget:
    @settings(deadline=None, max_examples=40)
    @given(st.integers(1, 60), st.booleans(), st.integers(0, 2**20))
    def test_exactly_so_many_informative_questions_whatever_is_answered(self, questions, checks, seed):
        history, kinds = sat(questions, checks, at_random(seed))
        assert n_informative(history) == questions == count(history, Purpose.INFORMATIVE)
        assert n_answered(history) == sum(
            asked.answer.choice is not Choice.UNSURE
            for asked in history
            if asked.question.purpose is Purpose.INFORMATIVE
        )
        if not checks:
            assert set(kinds) <= {"new", "again"}

    @settings(deadline=None, max_examples=40)
    @given(st.integers(4, 60), st.integers(0, 2**20))
    def test_every_sitting_has_three_repeats_and_one_check(self, questions, seed):
        history, _ = sat(questions, True, at_random(seed, (0.5, 0.5, 0, 0)))
        due = extras(questions, questions)
        assert count(history, Purpose.REPEAT) == due.count(Purpose.REPEAT)
        assert count(history, Purpose.CHECK) == due.count(Purpose.CHECK)
        if questions <= SITTING:
            assert (due.count(Purpose.REPEAT), due.count(Purpose.CHECK)) == (3, 1)

    @pytest.mark.parametrize(("questions", "more"), [(19, 0), (25, 0), (26, 1), (30, 2), (36, 4), (37, 4)])
    def test_a_few_questions_more_than_a_sitting_bring_few_repeats_and_checks(self, questions, more):
        assert len(extras(questions, questions)) == 4 + more

    @pytest.mark.parametrize(("questions", "choice"), [(18, Choice.EQUAL), (18, Choice.UNSURE), (1, Choice.FIRST)])
    def test_no_sitting_has_more_than_one_check(self, questions, choice):
        history, _ = sat(questions, True, lambda n: choice)
        assert count(history, Purpose.CHECK) <= 1

    @settings(deadline=None, max_examples=40)
    @given(st.integers(1, 80), st.integers(0, 80))
    def test_more_is_due_the_more_was_asked_in_a_fixed_order(self, questions, asked):
        asked = min(asked, questions)
        due, before = extras(asked, questions), extras(max(asked - 1, 0), questions)
        assert due[: len(before)] == before
        assert len(extras(0, questions)) == 0
        assert len(extras(questions, questions)) >= 4 * (questions // SITTING)

    def test_a_sitting_begins_with_what_it_is_for_and_repeats_come_late_enough(self):
        _, kinds = sat(18, True, lambda n: Choice.FIRST)
        assert kinds[:8] == ["new"] * 8
        assert kinds.count("new") == 18
        assert "check" not in kinds[: kinds.index("repeat")]

    @settings(deadline=None, max_examples=40)
    @given(st.integers(3, 60), st.integers(0, 2**20), st.booleans())
    def test_what_is_left_counts_down_to_nothing(self, questions, seed, checks):
        history, _ = sat(questions, checks, at_random(seed, (0.5, 0.5, 0, 0)))
        for n in range(len(history) + 1):
            assert questions_left(history[:n], questions, checks) == len(history) - n

    def test_asking_for_more_goes_on_where_one_stopped(self):
        history, _ = sat(18, True, lambda n: Choice.FIRST)
        assert next_item(history, 18, True) is None
        assert next_item(history, 36, True).kind == "new"
        assert questions_left(history, 36, True) == 18 + 4


class TestRepeats:
    @settings(deadline=None, max_examples=40)
    @given(st.integers(3, 60), st.integers(0, 2**20))
    def test_only_preferences_and_each_once(self, questions, seed):
        history, _ = sat(questions, True, at_random(seed, (0.4, 0.4, 0.2, 0)))
        repeats = [asked.question.repeat_of - 1 for asked in history if asked.question.purpose is Purpose.REPEAT]
        assert len(set(repeats)) == len(repeats)
        for n in repeats:
            assert history[n].answer.choice in PREFERENCES
            assert history[n].question.purpose is Purpose.INFORMATIVE
        for n in repeatable_answers(history):
            assert n not in repeats
            assert history[n].answer.choice in PREFERENCES

    def test_the_very_first_question_is_not_repeated(self):
        history, _ = sat(18, True, lambda n: Choice.FIRST)
        assert 1 not in [asked.question.repeat_of for asked in history]

    def test_of_hundreds_of_answers_the_latest_may_be_repeated(self):
        history = [Asked(Question(NOTHING, NOTHING), Answer(Choice.FIRST))] * 300
        assert repeatable_answers(history) == list(range(300 - LATER - 100, 300 - LATER))

    def test_equal_points_are_repeated_only_where_nothing_was_chosen(self):
        moved = Answer(Choice.EQUAL, moved=Moved("first", 0, 1, 3, 5))
        history = [Asked(Question(NOTHING, NOTHING), moved)] * 3
        assert repeatable_answers(history) == [1]
        history.append(Asked(Question(NOTHING, NOTHING), Answer(Choice.SECOND)))
        assert repeatable_answers(history) == [3]

    def test_in_a_short_sitting_the_question_just_answered_does_not_come_back_at_once(self):
        history, _ = sat(6, True, lambda n: Choice.FIRST)
        back = [n + 1 - asked.question.repeat_of for n, asked in enumerate(history) if asked.question.repeat_of]
        assert len(back) == 3
        assert min(back) > 1


class TestCannotSay:
    @settings(deadline=None, max_examples=40)
    @given(st.integers(1, 40), st.booleans(), st.integers(0, 2**20))
    def test_a_pair_comes_back_once_at_most_and_not_at_once(self, questions, checks, seed):
        history, _ = sat(questions, checks, at_random(seed, (0.3, 0.3, 0.1, 0.3)))
        again = [
            (n, asked.question.repeat_of - 1)
            for n, asked in enumerate(history)
            if asked.question.purpose is Purpose.INFORMATIVE and asked.question.repeat_of is not None
        ]
        places = [place for _, place in again]
        assert len(set(places)) == len(places)
        for n, place in again:
            assert history[place].answer.choice is Choice.UNSURE
            assert history[place].question.repeat_of is None
            assert n - place - 1 >= LATER or n_informative(history[:n]) == questions - 1

    @settings(deadline=None, max_examples=40)
    @given(st.integers(8, 40), st.data())
    def test_it_does_come_back(self, questions, data):
        place = data.draw(st.integers(0, questions - 2))
        history, _ = sat(questions, False, lambda n: Choice.UNSURE if n == place else Choice.FIRST)
        assert [asked.question.repeat_of for asked in history].count(place + 1) == 1

    def test_a_check_that_was_not_answered_is_let_go(self):
        history, kinds = sat(18, True, lambda n: Choice.FIRST)
        unanswered = [
            Asked(question, Answer(Choice.UNSURE) if question.purpose is Purpose.CHECK else answer)
            for question, answer in history
        ]
        again = [next_item(unanswered[:n], 18, True).kind for n in range(len(history))]
        assert again == kinds

    @settings(deadline=None, max_examples=40)
    @given(st.integers(6, 40), st.integers(0, 2**20))
    def test_a_repeat_that_could_not_be_answered_comes_back_once(self, questions, seed):
        rng = np.random.default_rng(seed)
        history = []
        while (item := next_item(history, questions, True)) is not None:
            if item.kind == "again":
                again = history[item.place].question
                asked = again if again.purpose is Purpose.REPEAT else None
                assert asked is not None
                assert history[item.place].answer.choice is Choice.UNSURE
                history.append(Asked(again, Answer(Choice.UNSURE)))
                continue
            asked = asked_as(*item, history, Choice.FIRST, None)
            unsure = asked.question.purpose is Purpose.REPEAT and rng.random() < 0.5
            history.append(Asked(asked.question, Answer(Choice.UNSURE)) if unsure else asked)
        first_time = [
            n
            for n, (question, _) in enumerate(history)
            if question.purpose is Purpose.REPEAT
            and question.repeat_of not in [one.question.repeat_of for one in history[:n]]
        ]
        for n in first_time:
            times = sum(one.question.repeat_of == history[n].question.repeat_of for one in history[n:])
            assert times == (2 if history[n].answer.choice is Choice.UNSURE else 1)


class TestNeverAsked:
    FIRST = np.array([[8, 2, 0], [0, 10, 0], [0, 0, 10]])
    SECOND = np.array([[10, 0, 0], [5, 5, 0], [0, 0, 10]])

    def test_mistakes_that_no_answer_was_about(self):
        question = Question(self.FIRST, self.SECOND, 30)
        history = [Asked(question, Answer(Choice.FIRST))]
        left = unasked_mistakes(history, "lpm", 3)
        assert {(key.true, key.predicted) for key in left} == {(0, 2), (1, 2), (2, 0), (2, 1)}
        assert [key.true for key in unasked_mistakes(history, "dlpm", 3)] == [2]
        assert len(unasked_mistakes([Asked(question, Answer(Choice.UNSURE))], "lpm", 3)) == 6


class TestOwed:
    def test_first_a_repeat_then_a_check_then_nothing(self):
        history = [Asked(Question(NOTHING, NOTHING), Answer(Choice.FIRST))] * 8
        assert required_left(history) == 2
        assert required_item(history).kind == "repeat"
        history.append(Asked(Question(NOTHING, NOTHING, None, Purpose.REPEAT, 1), Answer(Choice.FIRST)))
        assert required_left(history) == 1
        assert required_item(history).kind == "check"
        history.append(Asked(Question(NOTHING, NOTHING, None, Purpose.CHECK), Answer(Choice.FIRST)))
        assert required_left(history) == 0
        assert required_item(history) is None

    def test_where_nothing_can_be_repeated_a_check_is_enough(self):
        history = [Asked(Question(NOTHING, NOTHING), Answer(Choice.EQUAL))] * 8
        assert required_item(history).kind == "check"
        history.append(Asked(Question(NOTHING, NOTHING, None, Purpose.CHECK), Answer(Choice.FIRST)))
        assert required_item(history) is None
