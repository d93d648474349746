"""The question that stands, and what a reply to it means."""

from __future__ import annotations

from dataclasses import dataclass

from elicit_app.elicitation.questions import PREFERENCES, Choice, Progress, Purpose, Side, Strength
from elicit_app.session.journal.events import Pair, Subject
from elicit_app.session.journal.state import SessionState
from elicit_app.session.questions.sides import sides, sides_of_repeat
from elicit_app.session.views.asked import Reply


@dataclass(frozen=True, eq=False)
class Asking:
    """The question that stands: its number, the pair, how it stands, and how far the procedure is."""

    number: int
    pair: Pair
    left: Side
    subject: Subject
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


def stand(state: SessionState, pair: Pair) -> tuple[Side, Subject]:
    """Return how a new question stands: sides and subject at random, a repeat with its sides swapped."""
    left, subject = sides(state.begun.seed, len(state.entries) + 1)
    if pair.repeat_of is None or pair.purpose is not Purpose.REPEAT:
        return left, subject
    return sides_of_repeat(state.entries[pair.repeat_of - 1].event, pair, subject)
