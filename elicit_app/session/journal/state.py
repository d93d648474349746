"""The fold: what a session is after its events. Nothing is erased, so undo goes back any number of times."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from elicit_app.elicitation.questions import Answer, Asked, Choice, Purpose
from elicit_app.session.journal.entries import (
    Entries,
    Entry,
    Numbers,
    OutOfPlaceError,
    added,
    changed,
    resolved,
    said_already,
)
from elicit_app.session.journal.events import (
    Action,
    Answered,
    Begun,
    Changed,
    Continued,
    Event,
    Finished,
    Guess,
    Guessed,
    Noted,
    Practised,
    Recovered,
    Redone,
    Resolved,
    Stopped,
    TakenOut,
    Undone,
)
from elicit_app.session.journal.pairs import as_question

Phase = Literal["asking", "stopped", "finished"]


@dataclass(frozen=True, eq=False)
class Done:
    """An action and what stood before it, so that it can be taken back."""

    event: Action
    entries: Entries
    settled: Numbers
    joined: Numbers


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
        Pairs of numbers whose two different answers were both kept on purpose.
    joined : frozenset of (int, int)
        Pairs of numbers whose two different answers were made one: a judgement that counts once.
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
    entries: Entries = ()
    settled: Numbers = frozenset()
    joined: Numbers = frozenset()
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
        """Return questions and answers that count, in the procedure's own order of the two matrices.

        A repeat that was made one with its original stays as a question, but tells nothing more.
        """
        places = {index + 1: place for place, index in enumerate(self.used)}
        return tuple(
            Asked(as_question(self.entries[index].event.pair, places), self._counted(index)) for index in self.used
        )

    def _counted(self, index: int) -> Answer:
        answer = self.entries[index].answer
        already = said_already(self.entries, index + 1, self.joined)
        return Answer(Choice.UNSURE, None, answer.seconds) if already else answer

    @property
    def full_picture(self) -> bool:
        """Return whether the full picture was on at the last answer."""
        return self.entries[-1].event.full_picture if self.entries else False


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
    entries, settled, joined, last = state.entries, state.settled, state.joined, state.last
    match event:
        case Answered():
            entries, last = added(entries, event, len(state.begun.study.classes)), event.at
        case TakenOut():
            entries = changed(entries, event.number, taken_out=True)
        case Changed():
            entries = changed(entries, event.number, answer=Answer(event.choice, event.strength, event.seconds))
        case Resolved():
            entries, both, pair = resolved(entries, event), event.kept == "both", {(event.first, event.second)}
            settled, joined = (settled | pair, joined - pair) if both else (settled - pair, joined | pair)
    # Looking at a finished result again and changing something goes back to looking.
    phase: Phase = "stopped" if state.phase == "finished" else state.phase
    done = (*state.done, Done(event, state.entries, state.settled, state.joined))
    return replace(state, entries=entries, settled=settled, joined=joined, done=done, phase=phase, last=last)


def _undo(state: SessionState) -> SessionState:
    if not state.done:
        raise OutOfPlaceError("there is nothing to undo")
    *rest, last = state.done
    phase: Phase = "stopped" if state.phase == "finished" else state.phase
    return replace(
        state,
        entries=last.entries,
        settled=last.settled,
        joined=last.joined,
        done=tuple(rest),
        undone=(*state.undone, last.event),
        phase=phase,
    )


def _redo(state: SessionState) -> SessionState:
    if not state.undone:
        raise OutOfPlaceError("there is nothing to redo")
    *rest, event = state.undone
    return replace(_act(state, event), undone=tuple(rest))
