"""Which answers fit what was learned from all of them, and which pairs have two different answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from elicit_app.elicitation.questions import Asked, Choice, Family, Matrix, Outcome
from elicit_app.session.entries import Entry, differ
from elicit_app.session.pairs import same_pair
from elicit_app.session.state import SessionState

# An answer does not fit when at least this share of the plausible weights says otherwise.
_SURE = 0.9
# Without draws of the weights: the other side must be better by this share of all that is at stake.
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


def balance(weights: Matrix, difference: Matrix, family: Family) -> NDArray[np.float64]:
    """Return by how much A is better, as a share of all that is at stake, in [-1, 1].

    Parameters
    ----------
    weights : ndarray of shape (..., n)
        One or many sets of weights.
    difference : ndarray of shape (k, k)
        A - B in rates.
    """
    parts = weights * features(difference, family)
    stake = np.abs(parts).sum(axis=-1)
    total = parts.sum(axis=-1)
    shares: NDArray[np.float64] = np.divide(total, stake, out=np.zeros_like(total), where=stake > 0)
    return shares


def fits(asked: Asked, outcome: Outcome) -> bool:
    """Tell whether an answer agrees with what was learned ("cannot say" always does)."""
    draws = outcome.samples if outcome.samples is not None else outcome.weights[None, :]
    margin = 0.0 if outcome.samples is not None else _MARGIN
    better = balance(np.asarray(draws), asked.question.a - asked.question.b, outcome.family)
    match asked.answer.choice:
        case Choice.A:
            return bool(np.mean(better < -margin) < _SURE)
        case Choice.B:
            return bool(np.mean(better > margin) < _SURE)
        case Choice.EQUAL:
            return bool(max(np.mean(better > _EQUAL), np.mean(better < -_EQUAL)) < _SURE)
        case Choice.UNSURE:
            return True


def predicted(weights: Matrix, question_difference: Matrix, family: Family) -> Choice:
    """Return the side that the weights prefer, or equal where they cannot tell."""
    better = float(balance(weights, question_difference, family))
    return Choice.EQUAL if better == 0 else Choice.A if better > 0 else Choice.B


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
        if same_pair(original.event.pair, entry.event.pair) is None:
            continue
        total += 1
        same += not differ(original, entry, original.given, entry.given)
    return same, total
