"""The state of a session after its events: the current answers, and the actions to undo and redo.

Nothing is erased, so undo can go back any number of times.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from functools import cached_property
from typing import Literal, NamedTuple

from elicit_app.elicitation.questions import Answer, Asked, Choice, Purpose, Question
from elicit_app.session.journal import events

FEWEST_TO_EXPORT = 5
"""Informative answers that a metric file needs."""

Numbers = frozenset[tuple[int, int]]
Phase = Literal["asking", "stopped", "finished"]
_CUT_OFF = "An unfinished line at the end of the session file was cut off; the answers before it are complete."


class OutOfPlaceError(ValueError):
    """An event that cannot follow the ones before it."""


@dataclass(frozen=True, eq=False)
class Entry:
    """One answer in its current state."""

    event: events.Answered  # the original answer, with the question as it was shown
    answer: Answer  # the answer that counts: as changed or resolved later, or as given
    taken_out: bool = False  # whether the answer is excluded
    _questions: dict[int | None, Question] = field(default_factory=dict, init=False, repr=False)

    def question(self, places: Mapping[int, int]) -> Question:
        """Return the question of `Pair.question`, cached because thousands of them are used after every answer."""
        repeated = self.event.pair.repeat_of
        index = None if repeated is None else places.get(repeated)
        if index not in self._questions:
            self._questions[index] = self.event.pair.question(places)
        return self._questions[index]

    @cached_property
    def pair_digest(self) -> int:
        """Return a hash of the question as it was shown."""
        return hash(self.event.pair)

    @property
    def changed(self) -> bool:
        """Return whether the answer that counts differs from the original one in more than its duration."""
        return replace(self.answer, seconds=None) != replace(self.event.answer, seconds=None)

    @property
    def has_content(self) -> bool:
        """Return whether it counts and has content: not taken out, not "cannot say"."""
        return not self.taken_out and self.answer.choice is not Choice.UNSURE


Entries = tuple[Entry, ...]


def contradict(one: Entry, other: Entry, first: Answer, second: Answer) -> bool:
    """Return whether `first` and `second`, answers to these two entries, contradict each other about the same pair.

    A moved count makes it a different pair.
    """
    order = one.event.pair.order(other.event.pair)
    if order is None or first.moved or second.moved:
        return False
    return first.choice != (second.choice if order else second.choice.swapped())


def is_merged_repeat(entries: Sequence[Entry], number: int, joined: Numbers) -> bool:
    """Return whether answer `number` is a repeat that was merged with its original, which already counts."""
    entry = entries[number - 1]
    first = entry.event.pair.repeat_of
    if first is None or not {(first, number), (number, first)} & joined:
        return False
    original = entries[first - 1]
    return not original.taken_out and not contradict(original, entry, original.answer, entry.answer)


class AppliedAction(NamedTuple):
    """An action and what it replaced, so that it can be undone."""

    event: events.Action
    replaced: tuple[tuple[int, Entry], ...]
    settled: Numbers
    joined: Numbers


@dataclass(frozen=True, eq=False)
class SessionState:
    """A session after some events; immutable."""

    begun: events.Begun
    entries: Entries = ()  # every answer that was not undone, oldest first; answer number n is entry n - 1
    settled: Numbers = frozenset()  # pairs of numbers whose two different answers were both kept on purpose
    # pairs of numbers whose two different answers were merged into one judgement that counts once
    joined: Numbers = frozenset()
    # the actions that `undo` and `redo` go through, the next one last
    undo_stack: tuple[AppliedAction, ...] = ()
    redo_stack: tuple[events.Action, ...] = ()
    phase: Phase = "asking"
    # the number of informative questions, if the expert asked for more; None: as the setting says
    questions: int | None = None
    early_stop: bool = True  # whether the procedure may stop before that number
    orders_hold: bool = True  # whether the orders stated before the questions still hold
    guesses: tuple[events.Guess, ...] = ()
    # present practice, as typed: counts or rates, rows are true classes
    practice: tuple[tuple[float, ...], ...] | None = None
    notes: tuple[str, ...] = ()  # sentences worth keeping
    last: datetime | None = None  # time of the last answer, or of the beginning of the session

    @property
    def informative(self) -> tuple[int, ...]:
        """Return the numbers of the answers with new content; checks and repeats of earlier answers have none."""
        return tuple(number for number, entry in enumerate(self.entries, start=1) if self._informs(entry))

    @property
    def can_export(self) -> bool:
        """Return whether there are enough answers for a metric file."""
        return len(self.informative) >= FEWEST_TO_EXPORT

    def _informs(self, entry: Entry) -> bool:
        pair = entry.event.pair
        if pair.purpose is Purpose.REPEAT and pair.repeat_of is not None:
            # A question asked again after "cannot say" is answered for the first time.
            return entry.has_content and not self.entries[pair.repeat_of - 1].has_content
        return entry.has_content and pair.purpose is not Purpose.CHECK

    @property
    def used(self) -> tuple[int, ...]:
        """Return the indices of the entries that count, oldest first."""
        return tuple(index for index, entry in enumerate(self.entries) if not entry.taken_out)

    @cached_property
    def history(self) -> tuple[Asked, ...]:
        """Return the questions and answers that count, in the procedure's own order of the two matrices.

        A repeat merged with its original remains as a question, but without content.
        """
        places = {index + 1: place for place, index in enumerate(self.used)}
        return tuple(Asked(self.entries[index].question(places), self._counted(index)) for index in self.used)

    def _counted(self, index: int) -> Answer:
        answer = self.entries[index].answer
        already = is_merged_repeat(self.entries, index + 1, self.joined)
        return Answer(Choice.UNSURE, None, answer.seconds) if already else answer

    def same_as(self, other: SessionState) -> bool:
        """Return whether all but the stacks of `undo` and `redo` is the same; entries are compared by identity."""
        names = (each.name for each in fields(self) if each.name not in ("undo_stack", "redo_stack"))
        return all(getattr(self, name) == getattr(other, name) for name in names)

    @property
    def full_picture(self) -> bool:
        """Return whether the full picture was on at the last answer."""
        return self.entries[-1].event.full_picture if self.entries else False


class StateBuilder:
    """Builder of a state from events, in constant time each: `add` events, then take `state`; may start from one."""

    def __init__(self, state: SessionState | None = None) -> None:
        self._state = state
        self.entries: list[Entry] = list(state.entries) if state else []
        self.undo_stack: list[AppliedAction] = list(state.undo_stack) if state else []
        self.redo_stack: list[events.Action] = list(state.redo_stack) if state else []
        self._notes: list[str] = list(state.notes) if state else []
        self._settled: Numbers = state.settled if state else frozenset()
        self._joined: Numbers = state.joined if state else frozenset()

    @property
    def state(self) -> SessionState:
        """Return the session after the events so far."""
        if self._state is None:
            raise OutOfPlaceError("a session has no beginning")
        return replace(
            self._state,
            entries=tuple(self.entries),
            settled=self._settled,
            joined=self._joined,
            undo_stack=tuple(self.undo_stack),
            redo_stack=tuple(self.redo_stack),
            notes=tuple(self._notes),
        )

    def add(self, event: events.Event) -> None:
        """Apply one more event.

        Raises OutOfPlaceError if it cannot follow the previous events; then nothing has changed.
        """
        if self._state is None:
            if not isinstance(event, events.Begun):
                raise OutOfPlaceError("a session does not start with its beginning")
            self._state = SessionState(event, last=event.at)
            return
        match event:
            case events.Begun():
                raise OutOfPlaceError("a session begins twice")
            case events.Answered() | events.TakenOut() | events.Changed() | events.Resolved():
                self._apply_action(event)
                self.redo_stack.clear()
            case events.Undone():
                self._undo()
            case events.Redone():
                if not self.redo_stack:
                    raise OutOfPlaceError("there is nothing to redo")
                self._apply_action(self.redo_stack[-1])
                self.redo_stack.pop()
            case events.Noted():
                self._notes.append(event.sentence)
            case events.Recovered():
                self._notes.append(_CUT_OFF)
            case events.OrdersWithdrawn():
                self._state = replace(self._state, orders_hold=False)
            case events.PracticeStated():
                classes, table = len(self._state.begun.study.classes), event.table
                if table is not None and len(table) != classes:
                    raise OutOfPlaceError(f"the table of practice is about {len(table)} classes, not {classes}")
                self._state = replace(self._state, practice=table)
            case events.Guessed():
                self._state = replace(self._state, guesses=event.guesses)
            case events.Practised():
                pass
            case events.Stopped():
                self._state = replace(self._state, phase="stopped")
            case events.Finished():
                self._state = replace(self._state, phase="finished")
            case events.Continued():
                self._state = replace(
                    self._state, phase="asking", questions=event.questions, early_stop=event.early_stop
                )

    def _apply_action(self, event: events.Action) -> None:
        if isinstance(event, events.Answered):
            self._check_answered(event)
            done = AppliedAction(event, (), self._settled, self._joined)
            self.entries.append(Entry(event, event.answer))
        else:
            new = self._changes(event)
            replaced = tuple((number, self.entries[number - 1]) for number in new)
            done = AppliedAction(event, replaced, self._settled, self._joined)
            for number, entry in new.items():
                self.entries[number - 1] = entry
            if isinstance(event, events.Resolved):
                pair = {(event.first, event.second)}
                both = event.kept == "both"
                self._settled = self._settled | pair if both else self._settled - pair
                self._joined = self._joined - pair if both else self._joined | pair
        self.undo_stack.append(done)
        self._update_phase(event)

    def _undo(self) -> None:
        if not self.undo_stack:
            raise OutOfPlaceError("there is nothing to undo")
        done = self.undo_stack.pop()
        if isinstance(done.event, events.Answered):
            self.entries.pop()
        for number, entry in done.replaced:
            self.entries[number - 1] = entry
        self._settled, self._joined = done.settled, done.joined
        self.redo_stack.append(done.event)
        self._update_phase(None)

    def _update_phase(self, event: events.Action | None) -> None:
        """Record the time of an answer; a change to a finished session leads back to the review."""
        assert self._state is not None
        phase: Phase = "stopped" if self._state.phase == "finished" else self._state.phase
        last = event.at if isinstance(event, events.Answered) else self._state.last
        if (phase, last) != (self._state.phase, self._state.last):
            self._state = replace(self._state, phase=phase, last=last)

    def _check_answered(self, event: events.Answered) -> None:
        """Refuse an answer that is not about the study's classes, or that repeats an answer which does not exist."""
        assert self._state is not None
        classes, n_classes = len(event.pair.first), len(self._state.begun.study.classes)
        if classes != n_classes:
            raise OutOfPlaceError(f"answer {len(self.entries) + 1} is about {classes} classes, not {n_classes}")
        if event.pair.repeat_of is not None:
            self._entry(event.pair.repeat_of)

    def _changes(self, event: events.TakenOut | events.Changed | events.Resolved) -> dict[int, Entry]:
        """Return the entries that an action replaces, by number."""
        match event:
            case events.TakenOut():
                return {event.number: replace(self._entry(event.number), taken_out=True)}
            case events.Changed():
                return {event.number: replace(self._entry(event.number), answer=event.answer, taken_out=False)}
            case events.Resolved():
                return self._resolved(event)

    def _resolved(self, event: events.Resolved) -> dict[int, Entry]:
        """Return both entries with the answer that was meant."""
        first, second = self._entry(event.first), self._entry(event.second)
        order = first.event.pair.order(second.event.pair)
        if order is None or event.first == event.second:
            raise OutOfPlaceError(f"answers {event.first} and {event.second} are not about the same pair")
        meant: dict[int, Answer] = {}
        if event.kept == "equal":
            meant = {event.first: Answer(Choice.EQUAL), event.second: Answer(Choice.EQUAL)}
        elif event.kept == "first":
            meant = {event.second: first.answer if order else first.answer.swapped()}
        elif event.kept == "second":
            meant = {event.first: second.answer if order else second.answer.swapped()}
        new = {}
        for number, answer in meant.items():
            entry = self._entry(number)
            new[number] = replace(entry, answer=replace(answer, seconds=entry.answer.seconds), taken_out=False)
        return new

    def _entry(self, number: int) -> Entry:
        if not 1 <= number <= len(self.entries):
            raise OutOfPlaceError(f"there is no answer {number}")
        return self.entries[number - 1]


def fold(happened: Iterable[events.Event]) -> SessionState:
    """Return the session after all events. Raises OutOfPlaceError if an event cannot follow the previous ones."""
    builder = StateBuilder()
    for event in happened:
        builder.add(event)
    return builder.state


def apply(state: SessionState, event: events.Event) -> SessionState:
    """Return the session after one more event; see `fold`."""
    builder = StateBuilder(state)
    builder.add(event)
    return builder.state
