"""Which answers fit what was learned from all of them, and which pairs have two different answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elicit_app.elicitation.questions import Asked, Choice, Family, Matrix, Outcome, Procedure
from elicit_app.session.journal.state import Entry, SessionState, differ, said_already

# An answer does not fit when the other side is better by more than this share of all that is at stake.
_MARGIN = 0.05
# "About equal" fits while neither side weighs more than twice the other: (2 - 1) / (2 + 1).
_EQUAL = 1 / 3


def features(difference: Matrix, family: Family) -> Matrix:
    """Return x with u(A) - u(B) = <weights, x>, for the difference of two rate matrices.

    Parameters
    ----------
    difference : ndarray of shape (k, k)
        A - B; rows are true classes.
    family : str
        dlpm takes the k hits, lpm the k^2 - k errors in row-major order (HBMK19, section 2).
    """
    if family == "dlpm":
        hits: Matrix = np.diagonal(difference).copy()
        return hits
    errors: Matrix = difference[~np.eye(len(difference), dtype=bool)]
    return errors


def balance(weights: Matrix, difference: Matrix, family: Family) -> float:
    """Return by how much A is better, as a share of all that is at stake, in [-1, 1].

    Parameters
    ----------
    weights : ndarray of shape (n,)
        In the family's normalisation.
    difference : ndarray of shape (k, k)
        A - B in rates.
    """
    parts = weights * features(difference, family)
    stake = float(np.abs(parts).sum())
    return float(parts.sum()) / stake if stake else 0.0


def fits(asked: Asked, outcome: Outcome) -> bool:
    """Tell whether an answer agrees with the weights that were learned ("cannot say" always does)."""
    first, second = asked.question.rates
    better = balance(outcome.weights, first - second, outcome.family)
    match asked.answer.choice:
        case Choice.FIRST:
            return better >= -_MARGIN
        case Choice.SECOND:
            return better <= _MARGIN
        case Choice.EQUAL:
            return abs(better) <= _EQUAL
        case Choice.UNSURE:
            return True


def misfits(state: SessionState, procedure: Procedure, outcome: Outcome) -> frozenset[int]:
    """Return the numbers of the answers that do not fit what was learned from all of them.

    Parameters
    ----------
    state : SessionState
        The answers.
    procedure : Procedure
        With a belief, an answer does not fit where the others make it unlikely; a search has weights only.
    outcome : Outcome
        What was learned.
    """
    from elicit_app.elicitation.procedures.bayes import Bayes
    from elicit_app.elicitation.trust import surprises_among

    history = state.history
    if isinstance(procedure, Bayes):
        places = [surprise.index for surprise in surprises_among(history, procedure.belief(history))]
    else:
        places = [place for place, asked in enumerate(history) if not fits(asked, outcome)]
    odd = {state.used[place] + 1 for place in places}
    # What was made one with its original fits as that does.
    odd |= {
        number
        for number, entry in enumerate(state.entries, start=1)
        if said_already(state.entries, number, state.joined) and entry.event.pair.repeat_of in odd
    }
    return frozenset(odd)


def contradictions(state: SessionState) -> tuple[tuple[int, int], ...]:
    """Return the pairs of answer numbers that say different things about the same pair of matrices.

    Answers taken out, "cannot say", and pairs whose two answers were kept on purpose do not count.
    """
    live = [
        (number, entry)
        for number, entry in enumerate(state.entries, start=1)
        if not entry.taken_out and entry.answer.choice is not Choice.UNSURE
    ]
    return tuple(
        (first, second)
        for place, (first, one) in enumerate(live)
        for second, other in live[place + 1 :]
        if (first, second) not in state.settled and differ(one, other, one.answer, other.answer)
    )


def repeats(entries: Sequence[Entry]) -> tuple[int, int]:
    """Return how many pairs were answered twice the same way at first, and how many were answered twice at all."""
    same = total = 0
    for entry in entries:
        number = entry.event.pair.repeat_of
        if number is None:
            continue
        original = entries[number - 1]
        if Choice.UNSURE in (entry.given.choice, original.given.choice):
            continue
        if original.event.pair.order(entry.event.pair) is None:
            continue
        total += 1
        same += not differ(original, entry, original.given, entry.given)
    return same, total
