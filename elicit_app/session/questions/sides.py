"""Which matrix stands left, and whom the strip's sentence is about: random, balanced, seeded."""

from __future__ import annotations

import numpy as np

from elicit_app.elicitation.questions import Side
from elicit_app.session.journal.events import Answered, Pair, Subject

_BLOCK: tuple[tuple[Side, Subject], ...] = (
    ("first", "left"),
    ("first", "right"),
    ("second", "left"),
    ("second", "right"),
)
_STREAM = 0x51DE5


def sides(seed: int, number: int) -> tuple[Side, Subject]:
    """Return the left matrix and the subject of question `number` (from 1).

    Each block of four questions has every combination once, in random order, so that neither side nor subject can
    favour an answer.
    """
    block, place = divmod(number - 1, len(_BLOCK))
    order = np.random.default_rng(np.random.SeedSequence([seed, _STREAM, block])).permutation(len(_BLOCK))
    return _BLOCK[order[place]]


def sides_of_repeat(original: Answered, pair: Pair, subject: Subject) -> tuple[Side, Subject]:
    """Return the sides of a repeat: the matrix that stood left before stands right now."""
    same_order = original.pair.order(pair)
    first_was_left = (original.left == "first") == bool(same_order)
    return ("second" if first_was_left else "first"), subject
