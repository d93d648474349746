"""The question that stands, and what a reply to it means."""

from __future__ import annotations

from dataclasses import dataclass

from elicit_app.elicitation.questions import Choice, Progress, Purpose, Strength
from elicit_app.session.journal.events import Pair, Stood, Subject
from elicit_app.session.journal.state import SessionState
from elicit_app.session.questions.sides import sides, sides_of_repeat
from elicit_app.session.views.asked import Reply


@dataclass(frozen=True, eq=False)
class Asking:
    """The question that stands: its number, the pair, how it stands, and how far the procedure is."""

    number: int
    pair: Pair
    left: Stood
    subject: Subject
    progress: Progress


def to_choice(left: Stood, reply: Reply) -> Choice:
    """Return what a reply means in the pair's own order, given the matrix that stood left."""
    match reply:
        case "left":
            return Choice.A if left == "a" else Choice.B
        case "right":
            return Choice.B if left == "a" else Choice.A
        case "equal":
            return Choice.EQUAL
        case "unsure":
            return Choice.UNSURE


def to_reply(left: Stood, choice: Choice) -> Reply:
    """Return which button stood for a choice, given the matrix that stood left."""
    match choice:
        case Choice.A:
            return "left" if left == "a" else "right"
        case Choice.B:
            return "right" if left == "a" else "left"
        case Choice.EQUAL:
            return "equal"
        case Choice.UNSURE:
            return "unsure"


def only_of_preference(choice: Choice, strength: Strength | None) -> Strength | None:
    """Return the strength where there is a preference that it can belong to."""
    return strength if choice in (Choice.A, Choice.B) else None


def stand(state: SessionState, pair: Pair) -> tuple[Stood, Subject]:
    """Return how a new question stands: sides and subject at random, a repeat with its sides swapped."""
    left, subject = sides(state.begun.seed, len(state.entries) + 1)
    if pair.repeat_of is None or pair.purpose is not Purpose.REPEAT:
        return left, subject
    return sides_of_repeat(state.entries[pair.repeat_of - 1].event, pair, subject)
