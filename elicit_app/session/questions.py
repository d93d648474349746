"""The next question for a person: its layout, and what a reply to it means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from elicit_app.elicitation.procedure import Outcome, Procedure
from elicit_app.elicitation.questions import (
    Asked,
    Choice,
    Family,
    Moved,
    Progress,
    Proposal,
    Purpose,
    Side,
    Step,
    StopReason,
)
from elicit_app.elicitation.utilities import coordinates
from elicit_app.registry import Setting, entry_named, procedure_for
from elicit_app.session.journal.events import Answered, Pair, Subject
from elicit_app.session.journal.state import SessionState
from elicit_app.session.sentences import how_many
from elicit_app.session.views import Reply
from elicit_app.study.model import Study
from metrics.elicited.family import is_fraction

Count = TypeVar("Count", Proposal | None, Moved | None)


@dataclass(frozen=True, eq=False)
class CurrentQuestion:
    """The current question: its number, the pair, its layout, and the progress of the procedure."""

    number: int
    pair: Pair
    left: Side
    subject: Subject
    reversed_rows: bool
    progress: Progress


# The meaning of a reply when the first matrix was on the left.
_CHOICE_OF_REPLY: dict[Reply, Choice] = {
    "left": Choice.FIRST,
    "right": Choice.SECOND,
    "equal": Choice.EQUAL,
    "unsure": Choice.UNSURE,
}


def to_choice(left: Side, reply: Reply) -> Choice:
    """Return the choice that a reply means in the pair's own order, given the matrix on the left."""
    choice = _CHOICE_OF_REPLY[reply]
    return choice if left == "first" else choice.swapped()


def to_reply(left: Side, choice: Choice) -> Reply:
    """Return the reply that stands for a choice, given the matrix on the left."""
    shown = choice if left == "first" else choice.swapped()
    return next(reply for reply, meant in _CHOICE_OF_REPLY.items() if meant is shown)


def on_screen(left: Side, count: Count) -> Count:
    """Convert a count to move, or a moved one, between the pair's order and that of the screen (left is first)."""
    return count if count is None or left == "first" else count.swapped()


def lay_out(state: SessionState, pair: Pair, progress: Progress, winner: Side | None = None) -> CurrentQuestion:
    """Lay out a new question: random sides, rows and subject; a repeat swaps the sides of the original.

    `winner` is the side expected to be chosen. If one side of the screen has been chosen more often, the winner goes to
    the other. Counts to be moved appear on the left as often as on the right.
    """
    number = len(state.entries) + 1
    left, subject = sides(state.begun.seed, number)
    if pair.repeat_of is not None and pair.purpose is Purpose.REPEAT:
        left, subject = sides_of_repeat(state.entries[pair.repeat_of - 1].event, pair, subject)
    elif pair.proposal is not None and pair.proposal.at_once:
        left = _balanced_left(left, pair.proposal.side, _lead_of_left(state, counts=True))
    elif winner is not None:
        left = _balanced_left(left, winner, _lead_of_left(state, counts=False))
    return CurrentQuestion(number, pair, left, subject, rows_reversed(state.begun.seed, number), progress)


def predicted_winner(step: Step, family: Family) -> Side | None:
    """Return the side expected to be chosen; None if unknown, because a search predicts nothing."""
    if step.belief.agreement is None or is_fraction(family):
        return None
    first, second = step.question.rates
    better = float(step.belief.weights @ (coordinates(first, family) - coordinates(second, family)))
    return None if better == 0.0 else "first" if better > 0 else "second"


def _balanced_left(left: Side, wanted: Side, lead: int) -> Side:
    """Return the matrix on the left: as drawn or, if left leads or trails by enough, so that `wanted` evens it out."""
    if abs(lead) < _MOST_AHEAD:
        return left
    other: Side = "second" if wanted == "first" else "first"
    return other if lead > 0 else wanted


def _lead_of_left(state: SessionState, *, counts: bool) -> int:
    """Return by how much left leads right: in choices or, with `counts`, in counts to be moved."""
    lead = 0
    for entry in state.entries:
        event, proposal = entry.event, entry.event.pair.proposal
        if proposal is not None and proposal.at_once:
            lead += (1 if proposal.side == event.left else -1) if counts else 0
        elif not counts and entry.answer.picks_a_side:
            lead += 1 if to_reply(event.left, entry.answer.choice) == "left" else -1
    return lead


_MOST_AHEAD = 2  # lead of left over right, in choices or counts, from which it is evened out
_BLOCK: tuple[tuple[Side, Subject], ...] = (
    ("first", "left"),
    ("first", "right"),
    ("second", "left"),
    ("second", "right"),
)
_STREAM = 0x51DE5
_ROWS = 0x7035


def sides(seed: int, number: int) -> tuple[Side, Subject]:
    """Return the left matrix and the subject of question `number` (from 1).

    Each block of four questions has every combination once, in random order, so that neither side nor subject can
    favour an answer.
    """
    block, index = divmod(number - 1, len(_BLOCK))
    order = np.random.default_rng(np.random.SeedSequence([seed, _STREAM, block])).permutation(len(_BLOCK))
    return _BLOCK[order[index]]


def rows_reversed(seed: int, number: int) -> bool:
    """Return whether the rows of question `number` are reversed; that is so for one of every two questions."""
    block, index = divmod(number - 1, 2)
    return bool(np.random.default_rng(np.random.SeedSequence([seed, _ROWS, block])).permutation(2)[index])


def sides_of_repeat(original: Answered, pair: Pair, subject: Subject) -> tuple[Side, Subject]:
    """Return the sides of a repeat: the matrix that was on the left is now on the right."""
    same_order = original.pair.order(pair)
    first_was_left = (original.left == "first") == bool(same_order)
    return ("second" if first_was_left else "first"), subject


_REMEMBERED = 64


@dataclass(frozen=True)
class EndOfQuestions:
    """The end of the questions, and its reason."""

    stopped: StopReason


def setting_now(setting: Setting, state: SessionState) -> Setting:
    """Return the setting with which a session began, without stated orders if they were withdrawn since."""
    return setting if state.orders_hold else setting.without_orders()


class Steps:
    """The steps of one session, cached so that undo and lookahead cost nothing."""

    def __init__(self, study: Study, setting: Setting) -> None:
        self._study, self._setting = study, setting
        self._procedures: dict[object, Procedure] = {}  # at most one, because its caches take memory
        self._steps: dict[object, Step | EndOfQuestions] = {}

    def procedure(self, state: SessionState) -> Procedure:
        """Return the procedure with the number of questions that the expert asked for."""
        key = (state.questions, state.early_stop, state.orders_hold)
        if key not in self._procedures:
            setting = setting_now(self._setting, state).with_budget(state.questions, state.early_stop)
            self._procedures = {key: procedure_for(self._study, setting)}
        return self._procedures[key]

    def after(self, state: SessionState) -> Step | EndOfQuestions:
        """Return the next step after a state, or why there is no further question."""
        key = _key(state)
        if key not in self._steps:
            while len(self._steps) >= _REMEMBERED:
                del self._steps[next(iter(self._steps))]
            self._steps[key] = self._compute_step(state)
        return self._steps[key]

    def over(self, state: SessionState) -> EndOfQuestions | None:
        """Return why there is no further question; None where there is one, which only a search has to make."""
        procedure = self.procedure(state)
        if _key(state) in self._steps or procedure.belief(state.history) is None:
            step = self.after(state)
            return step if isinstance(step, EndOfQuestions) else None
        reason = procedure.stops(state.history)
        return None if reason is None else EndOfQuestions(reason)

    def prepare(self, state: SessionState) -> Iterator[None]:
        """Prepare the step after a state, in parts that take some hundredths of a second each."""
        procedure = self.procedure(state)
        yield from procedure.prepare(state.history)
        yield
        procedure.stops(state.history)
        yield
        self.after(state)

    def _compute_step(self, state: SessionState) -> Step | EndOfQuestions:
        procedure = self.procedure(state)
        reason = procedure.stops(state.history)  # the outcome takes longer than a question, and can wait
        step = EndOfQuestions(reason) if reason is not None else first_step(procedure, state.history)
        return EndOfQuestions(step.stopped) if isinstance(step, Outcome) else step


def _key(state: SessionState) -> object:
    """Return what determines the next question: all but the time of the last answer (`Asker.seconds` ignores it)."""
    answers = [asked.answer for asked in state.history]
    given = tuple(
        (index, state.entries[index].pair_digest, answer.choice, answer.strength, answer.moved)
        for index, answer in zip(state.used, answers, strict=True)
    )
    # Hashes instead of answers: for a session of thousands the cached keys would take megabytes.
    times = hash(tuple(answer.seconds for answer in answers[:-1]))
    return state.questions, state.early_stop, state.orders_hold, hash(given), times


def first_step(procedure: Procedure, history: Sequence[Asked]) -> Step | Outcome:
    """Return the first step of a procedure after a history, or its outcome."""
    elicitation = procedure.begin(history)
    try:
        return next(elicitation)
    except StopIteration as end:
        outcome: Outcome = end.value
        return outcome
    finally:
        elicitation.close()


def procedure_note(setting: Setting, step: Step | EndOfQuestions) -> str:
    """Return how many questions a published search needs, or why more than planned are asked; else nothing."""
    if isinstance(step, Step) and step.progress.beyond_plan:
        return "One question more than planned, to be sure of your answers."
    if isinstance(step, EndOfQuestions) or not entry_named(setting.procedure).narrows:
        return ""
    progress = step.progress
    total = how_many(progress.asked + progress.fewest, progress.asked + progress.most)
    return f"This procedure asks {total} questions; the later ones look alike."
