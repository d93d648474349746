"""The question that stands: its sides, what a reply to it means, and whom the sentence about it is about."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elicit_app.elicitation.questions import PREFERENCES, Choice, Moved, Progress, Purpose, Side, Strength
from elicit_app.session.journal.events import Answered, Pair, Subject
from elicit_app.session.journal.state import SessionState
from elicit_app.session.views.asked import Reply


@dataclass(frozen=True, eq=False)
class Asking:
    """The question that stands: its number, the pair, how it stands, and how far the procedure is."""

    number: int
    pair: Pair
    left: Side
    subject: Subject
    reversed_rows: bool
    progress: Progress


def to_choice(left: Side, reply: Reply) -> Choice:
    """Return what a reply means in the pair's own order, given the matrix that stood left."""
    match reply:
        case "left":
            return Choice.FIRST if left == "first" else Choice.SECOND
        case "right":
            return Choice.SECOND if left == "first" else Choice.FIRST
        case "equal":
            return Choice.EQUAL
        case "unsure":
            return Choice.UNSURE


def to_reply(left: Side, choice: Choice) -> Reply:
    """Return which button stood for a choice, given the matrix that stood left."""
    match choice:
        case Choice.FIRST:
            return "left" if left == "first" else "right"
        case Choice.SECOND:
            return "right" if left == "first" else "left"
        case Choice.EQUAL:
            return "equal"
        case Choice.UNSURE:
            return "unsure"


def only_of_preference(choice: Choice, strength: Strength | None) -> Strength | None:
    """Return the strength where there is a preference that it can belong to."""
    return strength if choice in PREFERENCES else None


def on_screen(left: Side, moved: Moved | None) -> Moved | None:
    """Return a moved count as the screen has it, its first side the left one, or back in the pair's own order."""
    return moved if moved is None or left == "first" else moved.swapped()


def stand(state: SessionState, pair: Pair, progress: Progress) -> Asking:
    """Return how a new question stands: sides, rows and subject at random, a repeat with its sides swapped."""
    number = len(state.entries) + 1
    left, subject = sides(state.begun.seed, number)
    if pair.repeat_of is not None and pair.purpose is Purpose.REPEAT:
        left, subject = sides_of_repeat(state.entries[pair.repeat_of - 1].event, pair, subject)
    return Asking(number, pair, left, subject, rows_reversed(state.begun.seed, number), progress)


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
    block, place = divmod(number - 1, len(_BLOCK))
    order = np.random.default_rng(np.random.SeedSequence([seed, _STREAM, block])).permutation(len(_BLOCK))
    return _BLOCK[order[place]]


def rows_reversed(seed: int, number: int) -> bool:
    """Return whether the rows of question `number` stand in the reverse of study order: one of every two questions."""
    block, place = divmod(number - 1, 2)
    return bool(np.random.default_rng(np.random.SeedSequence([seed, _ROWS, block])).permutation(2)[place])


def sides_of_repeat(original: Answered, pair: Pair, subject: Subject) -> tuple[Side, Subject]:
    """Return the sides of a repeat: the matrix that stood left before stands right now."""
    same_order = original.pair.order(pair)
    first_was_left = (original.left == "first") == bool(same_order)
    return ("second" if first_was_left else "first"), subject
