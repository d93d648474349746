import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elicit_app.elicitation.questions import Choice, Purpose, Question
from elicit_app.session.journal.events import EVENT, Continued, Finished, Pair, Stopped, to_line
from elicit_app.session.journal.state import OutOfPlaceError, apply, fold


def standing(state):
    """Everything that an undo has to bring back."""
    return [(entry.event, entry.answer, entry.taken_out) for entry in state.entries], state.settled


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_undo_is_as_if_it_had_never_happened_and_redo_as_if_not_undone(write, data):
    begun = write.begun()
    kept, back, events = [], [], [begun]
    for _ in range(data.draw(st.integers(0, 25))):
        answers = sum(event.kind == "answered" for event in kept)
        kinds = ["answered"] + ["taken out", "changed"] * bool(answers) + ["undone"] * 2 * bool(kept)
        kind = data.draw(st.sampled_from(kinds + ["redone"] * 2 * bool(back)))
        if kind == "undone":
            back.append(kept.pop())
            events.append(write.undone())
        elif kind == "redone":
            kept.append(back.pop())
            events.append(write.redone())
        else:
            number = data.draw(st.integers(1, max(answers, 1)))
            choice = data.draw(st.sampled_from(list(Choice)))
            missed = data.draw(st.integers(0, 3))
            event = {
                "answered": lambda choice=choice, missed=missed: write.answered(choice, write.pair(missed)),
                "taken out": lambda number=number: write.taken_out(number),
                "changed": lambda number=number, choice=choice: write.changed(number, choice),
            }[kind]()
            kept.append(event)
            events.append(event)
            back = []
    state = fold(events)
    assert standing(state) == standing(fold([begun, *kept]))
    assert len(state.undo_stack) == len(kept)
    assert list(state.redo_stack) == back
    assert standing(fold(EVENT.validate_json(to_line(event, None)[0]) for event in events)) == standing(state), (
        "and read again"
    )


def test_an_answer_taken_out_leaves_the_history_and_its_repeat_informs_alone(write):
    repeat = write.pair(purpose=Purpose.REPEAT, repeat_of=1)
    events = [
        write.begun(),
        write.answered("first"),
        write.answered("second", write.pair(50)),
        write.answered("first", repeat),
    ]
    state = fold(events)
    assert [asked.question.repeat_of for asked in state.history] == [None, None, 1]
    second_out = apply(state, write.taken_out(2))
    assert [asked.question.repeat_of for asked in second_out.history] == [None, 1]
    assert second_out.used == (0, 2)
    first_out = apply(state, write.taken_out(1))
    assert [asked.question.purpose for asked in first_out.history] == ["informative", "informative"]
    assert [asked.question.repeat_of for asked in first_out.history] == [None, None]
    back = apply(first_out, write.undone())
    assert standing(back) == standing(state)


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        ("first", ["first", "second"]),
        ("second", ["second", "first"]),
        ("equal", ["equal"] * 2),
        ("both", ["first", "first"]),
    ],
)
def test_resolving_two_answers_turns_the_other_one_round_where_the_pair_is_swapped(write, kept, expected):
    pair = write.pair()
    swapped = pair.model_copy(update={"first": pair.second, "second": pair.first})
    state = fold(
        [write.begun(), write.answered("first", pair), write.answered("first", swapped), write.resolved(1, 2, kept)]
    )
    assert [entry.answer.choice for entry in state.entries] == expected
    given = [entry.event.answer.choice for entry in state.entries]
    assert given == ["first", "first"], "what was given first stays known"
    assert ((1, 2) in state.settled) == (kept == "both")


@pytest.mark.parametrize("kept", ["first", "second", "equal"])
def test_a_repeat_that_was_made_one_with_its_original_tells_nothing_twice(write, kept):
    pair = write.pair()
    swapped = pair.model_copy(
        update={"first": pair.second, "second": pair.first, "purpose": Purpose.REPEAT, "repeat_of": 1}
    )
    state = fold(
        [write.begun(), write.answered("first", pair), write.answered("first", swapped), write.resolved(1, 2, kept)]
    )
    first, second = state.history
    assert first.answer.choice == kept
    assert (second.answer.choice, second.question.purpose, second.question.repeat_of) == ("unsure", "repeat", 1)
    told = [asked.answer.choice for asked in apply(state, write.undone()).history]
    assert told == ["first", "first"], "two answers that differ both count until one is meant"
    kept_both = apply(state, write.resolved(1, 2, "both"))
    assert [asked.answer.choice for asked in kept_both.history] == [entry.answer.choice for entry in state.entries]
    assert kept_both.settled == {(1, 2)}
    assert apply(kept_both, write.resolved(1, 2, kept)).settled == frozenset(), "one is meant now, not both"
    (alone,) = apply(state, write.taken_out(1)).history
    assert alone.answer.choice == state.entries[1].answer.choice, "the only answer to its pair counts"
    apart = apply(state, write.changed(1, "unsure"))
    assert [asked.answer.choice for asked in apart.history] == ["unsure", state.entries[1].answer.choice]


def test_answers_about_other_classes_or_repeats_of_nothing_are_refused(write):
    three = Pair(first=((1, 0, 0), (0, 5, 0), (0, 0, 4)), second=((0, 1, 0), (0, 5, 0), (0, 0, 4)), population=10)
    with pytest.raises(OutOfPlaceError, match="answer 1 is about 3 classes, not 2"):
        fold([write.begun(), write.answered("first", three)])
    for number in (1, 2, 7):
        with pytest.raises(OutOfPlaceError, match=f"there is no answer {number}"):
            fold([write.begun(), write.answered("first", write.pair(purpose=Purpose.REPEAT, repeat_of=number))])


def test_only_answers_that_say_something_new_count_as_informative(write):
    events = [
        write.begun(),
        write.answered("first"),
        write.answered("unsure"),
        write.answered("equal"),
        write.answered("second", write.pair(purpose=Purpose.CHECK)),
        write.answered("second", write.pair(purpose=Purpose.REPEAT, repeat_of=1)),
        write.answered("second"),
        write.taken_out(6),
    ]
    assert fold(events).informative == (1, 3)
    asked_again = write.answered("second", write.pair(purpose=Purpose.REPEAT, repeat_of=2))
    assert fold([*events, asked_again]).informative == (1, 3, 7), "asked again after it could not be said"


def test_phases_follow_stop_more_and_finish(write):
    state = fold([write.begun(), write.answered("first")])
    assert state.phase == "asking"
    state = apply(state, Stopped(at=write.at()))
    assert state.phase == "stopped"
    state = apply(state, Finished(at=write.at()))
    assert state.phase == "finished"
    assert apply(state, write.undone()).phase == "stopped", "a result whose answers change is looked at again"
    state = apply(state, Continued(at=write.at(), questions=36, early_stop=False))
    assert (state.phase, state.questions, state.early_stop) == ("asking", 36, False)


def test_events_that_cannot_follow_are_refused(write):
    begun, answered = write.begun(), write.answered()
    for events in (
        [],
        [answered],
        [begun, write.begun()],
        [begun, write.undone()],
        [begun, answered, write.redone()],
        [begun, answered, write.undone(), write.answered("second"), write.redone()],
        [begun, answered, write.taken_out(2)],
        [begun, answered, write.changed(2, "first")],
        [begun, answered, write.answered("first", write.pair(7)), write.resolved(1, 2, "first")],
        [begun, answered, write.resolved(1, 1, "first")],
    ):
        with pytest.raises(OutOfPlaceError):
            fold(events)


@given(
    st.integers(2, 4).flatmap(lambda k: st.lists(st.integers(0, 99), min_size=2 * k * k, max_size=2 * k * k)),
    st.booleans(),
)
def test_a_question_comes_back_from_its_record_bit_by_bit(numbers, hypothetical):
    k = int(np.sqrt(len(numbers) // 2))
    a, b = np.array(numbers).reshape(2, k, k)
    a[0, 0] += max(0, b.sum() - a.sum()) + 1
    b[0, 0] += a.sum() - b.sum()
    population = int(a.sum())
    question = Question(a, b, population, hypothetical=hypothetical)
    pair = Pair.of(question, ())
    again = pair.question({})
    assert np.array_equal(again.first, question.first)
    assert np.array_equal(again.second, question.second)
    assert (again.population, again.hypothetical, again.purpose) == (population, hypothetical, question.purpose)
    assert again.same_as(question)


def test_a_question_that_is_not_in_whole_cases_is_refused():
    rates = np.array([[0.25, 0.25], [0.25, 0.25]])
    with pytest.raises(ValueError, match="no population"):
        Pair.of(Question(rates, rates), ())
    with pytest.raises(ValueError, match="not whole cases per 10"):
        Question.of_rates(rates, rates, 10)
