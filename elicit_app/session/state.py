"""The fold: what a session is after its events. Nothing is erased, so undo goes back any number of times."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

import numpy as np

from elicit_app.elicitation.questions import Answer, Asked, Choice, Purpose, Question
from elicit_app.session.events import (
    Action,
    Answered,
    Begun,
    Changed,
    Continued,
    CountRows,
    Event,
    Finished,
    Guess,
    Guessed,
    Noted,
    Pair,
    Practised,
    Recovered,
    Redone,
    Resolved,
    Stood,
    Stopped,
    Subject,
    TakenOut,
    Undone,
)

Phase = Literal["asking", "stopped", "finished"]


class OutOfPlaceError(ValueError):
    """An event that cannot follow the ones before it."""


@dataclass(frozen=True, eq=False)
class Entry:
    """One answer as it stands now.

    Parameters
    ----------
    event : Answered
        The answer as it was given first, with the question as it was shown.
    answer : Answer
        The answer that counts: changed or resolved later, or as given.
    taken_out : bool
        The answer is used no more.
    """

    event: Answered
    answer: Answer
    taken_out: bool = False

    @property
    def given(self) -> Answer:
        """Return the answer as it was given first."""
        return Answer(self.event.choice, self.event.strength, self.event.seconds)

    @property
    def says(self) -> bool:
        """Tell whether it counts and says something: not taken out, not "cannot say"."""
        return not self.taken_out and self.answer.choice is not Choice.UNSURE


@dataclass(frozen=True, eq=False)
class Done:
    """An action and what stood before it, so that it can be taken back."""

    event: Action
    entries: tuple[Entry, ...]
    settled: frozenset[tuple[int, int]]


@dataclass(frozen=True, eq=False)
class SessionState:
    """A session after some events; immutable.

    Parameters
    ----------
    begun : Begun
        Study, setting, seed and expert.
    entries : tuple of Entry
        Every answer that was not undone, oldest first; answer number n is entry n - 1.
    settled : frozenset of (int, int)
        Pairs of numbers whose two answers were both kept on purpose.
    done, undone : tuple
        The actions that `undo` and `redo` go through, the next one last.
    phase : str
        asking, stopped (looking back) or finished.
    questions : int or None
        The number of informative questions asked for, where the expert wanted more; None: as the setting says.
    early_stop : bool
        Whether the procedure may stop before that number.
    guesses : tuple of Guess
        First guesses of the ratios.
    practised : bool
        The practice questions were done.
    notes : tuple of str
        Sentences worth keeping.
    last : datetime
        When the last answer was given, or the session begun.
    """

    begun: Begun
    entries: tuple[Entry, ...] = ()
    settled: frozenset[tuple[int, int]] = frozenset()
    done: tuple[Done, ...] = ()
    undone: tuple[Action, ...] = ()
    phase: Phase = "asking"
    questions: int | None = None
    early_stop: bool = True
    guesses: tuple[Guess, ...] = ()
    practised: bool = False
    notes: tuple[str, ...] = ()
    last: datetime | None = None

    @property
    def informative(self) -> tuple[int, ...]:
        """Return the numbers of the answers that say something new: checks do not, nor repeats of what was said."""
        return tuple(number for number, entry in enumerate(self.entries, start=1) if self._informs(entry))

    def _informs(self, entry: Entry) -> bool:
        pair = entry.event.pair
        if pair.purpose is Purpose.REPEAT and pair.repeat_of is not None:
            # What is asked again after "cannot say" is asked for the first time, as far as answers go.
            return entry.says and not self.entries[pair.repeat_of - 1].says
        return entry.says and pair.purpose is not Purpose.CHECK

    @property
    def used(self) -> tuple[int, ...]:
        """Return the indices of the entries that count, oldest first."""
        return tuple(index for index, entry in enumerate(self.entries) if not entry.taken_out)

    @property
    def history(self) -> tuple[Asked, ...]:
        """Return questions and answers that count, in the procedure's own order of the two matrices."""
        places = {index + 1: place for place, index in enumerate(self.used)}
        return tuple(
            Asked(as_question(entry.event.pair, places), entry.answer) for entry in self.entries if not entry.taken_out
        )

    @property
    def full_picture(self) -> bool:
        """Return whether the full picture was on at the last answer."""
        return self.entries[-1].event.full_picture if self.entries else False


def as_question(pair: Pair, places: dict[int, int]) -> Question:
    """Return the recorded pair as a question; `places` maps answer numbers to places in the history."""
    place = None if pair.repeat_of is None else places.get(pair.repeat_of)
    # A repeat whose original was taken out is the only answer to its pair: it informs.
    purpose = Purpose.INFORMATIVE if pair.purpose is Purpose.REPEAT and place is None else pair.purpose
    return Question(
        np.array(pair.a) / pair.population,
        np.array(pair.b) / pair.population,
        population=pair.population,
        purpose=purpose,
        repeat_of=place,
        hypothetical=pair.hypothetical,
    )


def as_pair(question: Question, numbers: tuple[int, ...]) -> Pair:
    """Return a question as it is recorded; `numbers[place]` is the answer number at a place in the history.

    Raises
    ------
    ValueError
        When the question has no population, or its matrices are not whole cases of it.
    """
    if question.population is None:
        raise ValueError("a person is asked in whole cases: the question has no population")
    repeat_of = None if question.repeat_of is None else numbers[question.repeat_of]
    return Pair(
        a=_counts(question.a, question.population),
        b=_counts(question.b, question.population),
        population=question.population,
        purpose=question.purpose,
        repeat_of=repeat_of,
        hypothetical=question.hypothetical,
    )


def _counts(rates: np.ndarray[tuple[int, ...], np.dtype[np.float64]], population: int) -> CountRows:
    scaled = rates * population
    counts = np.rint(scaled)
    if np.abs(scaled - counts).max() > 1e-3:
        raise ValueError(f"the matrices of a question are not whole cases per {population}")
    return tuple(tuple(int(entry) for entry in row) for row in counts)


def fold(events: Iterable[Event]) -> SessionState:
    """Return the session after all events.

    Raises
    ------
    OutOfPlaceError
        When an event cannot follow the ones before it.
    """
    state: SessionState | None = None
    for event in events:
        state = apply(state, event)
    if state is None:
        raise OutOfPlaceError("a session has no beginning")
    return state


def apply(state: SessionState | None, event: Event) -> SessionState:
    """Return the session after one more event; see `fold`."""
    if state is None:
        if not isinstance(event, Begun):
            raise OutOfPlaceError("a session does not start with its beginning")
        return SessionState(event, last=event.at)
    match event:
        case Begun():
            raise OutOfPlaceError("a session begins twice")
        case Answered() | TakenOut() | Changed() | Resolved():
            return replace(_act(state, event), undone=())
        case Undone():
            return _undo(state)
        case Redone():
            return _redo(state)
        case Guessed():
            return replace(state, guesses=event.guesses)
        case Practised():
            return replace(state, practised=True)
        case Stopped():
            return replace(state, phase="stopped")
        case Finished():
            return replace(state, phase="finished")
        case Continued():
            return replace(state, phase="asking", questions=event.questions, early_stop=event.early_stop)
        case Noted():
            return replace(state, notes=(*state.notes, event.sentence))
        case Recovered():
            note = "An unfinished line at the end of the session file was cut off; the answers before it are complete."
            return replace(state, notes=(*state.notes, note))


def _act(state: SessionState, event: Action) -> SessionState:
    entries, settled, last = state.entries, state.settled, state.last
    match event:
        case Answered():
            entries = (*entries, Entry(event, Answer(event.choice, event.strength, event.seconds)))
            last = event.at
        case TakenOut():
            entries = _with(entries, event.number, taken_out=True)
        case Changed():
            answer = Answer(event.choice, event.strength, event.seconds)
            entries = _with(entries, event.number, answer=answer, taken_out=False)
        case Resolved():
            entries, settled = _resolve(entries, settled, event)
    # Looking at a finished result again and changing something goes back to looking.
    phase: Phase = "stopped" if state.phase == "finished" else state.phase
    done = (*state.done, Done(event, state.entries, state.settled))
    return replace(state, entries=entries, settled=settled, done=done, phase=phase, last=last)


def _with(
    entries: tuple[Entry, ...], number: int, *, answer: Answer | None = None, taken_out: bool
) -> tuple[Entry, ...]:
    entry = _entry(entries, number)
    new = replace(entry, answer=answer or entry.answer, taken_out=taken_out)
    return (*entries[: number - 1], new, *entries[number:])


def _entry(entries: tuple[Entry, ...], number: int) -> Entry:
    if not 1 <= number <= len(entries):
        raise OutOfPlaceError(f"there is no answer {number}")
    return entries[number - 1]


def _resolve(
    entries: tuple[Entry, ...], settled: frozenset[tuple[int, int]], event: Resolved
) -> tuple[tuple[Entry, ...], frozenset[tuple[int, int]]]:
    first, second = _entry(entries, event.first), _entry(entries, event.second)
    order = same_pair(first.event.pair, second.event.pair)
    if order is None or event.first == event.second:
        raise OutOfPlaceError(f"answers {event.first} and {event.second} are not about the same pair")
    if event.kept == "both":
        return entries, settled | {(event.first, event.second)}
    if event.kept == "equal":
        meant = {event.first: Answer(Choice.EQUAL), event.second: Answer(Choice.EQUAL)}
    elif event.kept == "first":
        meant = {event.second: first.answer if order else _swapped(first.answer)}
    else:
        meant = {event.first: second.answer if order else _swapped(second.answer)}
    for number, answer in meant.items():
        own = Answer(answer.choice, answer.strength, entries[number - 1].answer.seconds)
        entries = _with(entries, number, answer=own, taken_out=False)
    return entries, settled


def _swapped(answer: Answer) -> Answer:
    return Answer(answer.choice.swapped(), answer.strength, answer.seconds)


def same_pair(one: Pair, other: Pair) -> bool | None:
    """Return True for the same pair in the same order, False for the same pair swapped, None for different pairs."""
    if one.population != other.population:
        return None
    if (one.a, one.b) == (other.a, other.b):
        return True
    return False if (one.a, one.b) == (other.b, other.a) else None


def _undo(state: SessionState) -> SessionState:
    if not state.done:
        raise OutOfPlaceError("there is nothing to undo")
    *rest, last = state.done
    phase: Phase = "stopped" if state.phase == "finished" else state.phase
    return replace(
        state,
        entries=last.entries,
        settled=last.settled,
        done=tuple(rest),
        undone=(*state.undone, last.event),
        phase=phase,
    )


def _redo(state: SessionState) -> SessionState:
    if not state.undone:
        raise OutOfPlaceError("there is nothing to redo")
    *rest, event = state.undone
    return replace(_act(state, event), undone=tuple(rest))


__all__ = [
    "Done",
    "Entry",
    "OutOfPlaceError",
    "Phase",
    "SessionState",
    "Stood",
    "Subject",
    "apply",
    "as_pair",
    "as_question",
    "fold",
    "same_pair",
]
