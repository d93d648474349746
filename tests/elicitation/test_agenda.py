"""What kind of question comes next: budgets, repeats, checks, and what could not be said."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elicit_app.elicitation.agenda import (
    SITTING,
    extras,
    informative,
    next_item,
    owed,
    owed_left,
    questions_left,
    repeatable_answers,
    slow_half,
    told,
)
from elicit_app.elicitation.questions import Answer, Asked, Choice, Purpose, Question

PREFERENCES = (Choice.FIRST, Choice.SECOND)
CHOICES = st.sampled_from(list(Choice))
LATER = 4  # questions before one that could not be answered comes back
NOTHING = np.eye(2) / 2


def asked_as(kind: str, place: int | None, history: list[Asked], choice: Choice, seconds: float | None) -> Asked:
    """Return the item of an agenda as the question that the procedure makes of it, answered."""
    if kind == "repeat":
        place = repeatable_answers(history)[0]
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
        assert informative(history) == questions == count(history, Purpose.INFORMATIVE)
        assert told(history) == sum(
            asked.answer.choice is not Choice.UNSURE
            for asked in history
            if asked.question.purpose is Purpose.INFORMATIVE
        )
        if not checks:
            assert set(kinds) <= {"new", "again"}

    @settings(deadline=None, max_examples=40)
    @given(st.integers(3, 60), st.integers(0, 2**20))
    def test_every_sitting_has_three_repeats_and_one_check(self, questions, seed):
        history, _ = sat(questions, True, at_random(seed, (0.5, 0.5, 0, 0)))
        sittings = -(-questions // SITTING)
        assert count(history, Purpose.REPEAT) + count(history, Purpose.CHECK) == 4 * sittings
        if questions % SITTING not in (1, 2):  # the rest of a sitting long enough to be repeated from
            assert count(history, Purpose.CHECK) == sittings

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
        everything = extras(questions, questions)
        assert everything.count(Purpose.CHECK) == -(-questions // SITTING)
        assert everything.count(Purpose.REPEAT) == 3 * everything.count(Purpose.CHECK)

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
        history, _ = sat(questions, True, at_random(seed))
        repeats = [asked.question.repeat_of - 1 for asked in history if asked.question.purpose is Purpose.REPEAT]
        assert len(set(repeats)) == len(repeats)
        for n in repeats:
            assert history[n].answer.choice in PREFERENCES
            assert history[n].question.purpose is Purpose.INFORMATIVE
        for n in repeatable_answers(history):
            assert n not in repeats
            assert history[n].answer.choice in PREFERENCES

    @settings(deadline=None, max_examples=40)
    @given(st.lists(st.floats(0.1, 100), min_size=2, max_size=20), st.data())
    def test_the_slow_half_took_longer_than_the_others(self, seconds, data):
        history = [Asked(Question(NOTHING, NOTHING), Answer(Choice.FIRST, seconds=second)) for second in seconds]
        some = sorted(data.draw(st.sets(st.integers(0, len(seconds) - 2), min_size=1)))
        slow = slow_half(history, some)
        assert set(slow) <= set(some)
        assert len(slow) >= len(some) / 2
        quick = [seconds[n] for n in some if n not in slow]
        assert max(quick, default=0) <= min(seconds[n] for n in slow)

    @given(st.lists(st.floats(0.1, 100), min_size=1, max_size=8), st.floats(0.1, 100), st.floats(0.1, 100))
    def test_the_time_of_the_last_answer_changes_nothing(self, seconds, quick, slow):
        """What comes next is computed before the click: the time of the click itself cannot be in it."""
        halves = []
        for last in (quick, slow, None):
            history = [Asked(Question(NOTHING, NOTHING), Answer(Choice.FIRST, seconds=s)) for s in (*seconds, last)]
            halves.append(slow_half(history, range(len(history))))
        assert halves[0] == halves[1] == halves[2]

    def test_without_times_everything_may_be_repeated(self):
        history = [Asked(Question(NOTHING, NOTHING), Answer(Choice.FIRST, seconds=s)) for s in (1.0, None, 9.0, 3.0)]
        assert slow_half(history, [0, 1, 2]) == [0, 1, 2]
        assert slow_half(history, [0, 2]) == [2]
        assert slow_half(history, [0, 2, 3]) == [0, 2]
        assert slow_half(history, [3]) == [3]


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
            assert n - place - 1 >= LATER or informative(history[:n]) == questions - 1

    @settings(deadline=None, max_examples=40)
    @given(st.integers(8, 40), st.data())
    def test_it_does_come_back(self, questions, data):
        place = data.draw(st.integers(0, questions - 2))
        history, _ = sat(questions, False, lambda n: Choice.UNSURE if n == place else Choice.FIRST)
        assert [asked.question.repeat_of for asked in history].count(place + 1) == 1

    def test_a_check_or_a_repeat_that_was_not_answered_is_let_go(self):
        history, kinds = sat(18, True, lambda n: Choice.FIRST)
        unanswered = [
            Asked(question, Answer(Choice.UNSURE) if question.purpose is not Purpose.INFORMATIVE else answer)
            for question, answer in history
        ]
        again = [next_item(unanswered[:n], 18, True).kind for n in range(len(history))]
        assert again == kinds


class TestOwed:
    def test_first_a_repeat_then_a_check_then_nothing(self):
        history = [Asked(Question(NOTHING, NOTHING), Answer(Choice.FIRST))] * 8
        assert owed_left(history) == 2
        assert owed(history).kind == "repeat"
        history.append(Asked(Question(NOTHING, NOTHING, None, Purpose.REPEAT, 1), Answer(Choice.FIRST)))
        assert owed_left(history) == 1
        assert owed(history).kind == "check"
        history.append(Asked(Question(NOTHING, NOTHING, None, Purpose.CHECK), Answer(Choice.FIRST)))
        assert owed_left(history) == 0
        assert owed(history) is None

    def test_where_nothing_can_be_repeated_a_check_is_enough(self):
        history = [Asked(Question(NOTHING, NOTHING), Answer(Choice.EQUAL))] * 8
        assert owed(history).kind == "check"
        history.append(Asked(Question(NOTHING, NOTHING, None, Purpose.CHECK), Answer(Choice.FIRST)))
        assert owed(history) is None
