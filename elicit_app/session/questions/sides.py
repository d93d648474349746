"""Which matrix stands left, and whom the strip's sentence is about: random, balanced, seeded."""

from __future__ import annotations

import numpy as np

from elicit_app.session.journal.events import Answered, Pair, Stood, Subject
from elicit_app.session.journal.pairs import same_pair

_BLOCK: tuple[tuple[Stood, Subject], ...] = (("a", "left"), ("a", "right"), ("b", "left"), ("b", "right"))
_STREAM = 0x51DE5


def sides(seed: int, number: int) -> tuple[Stood, Subject]:
    """Return the left matrix and the subject of question `number` (from 1).

    Each block of four questions has every combination once, in random order, so that neither side nor subject can
    favour an answer.
    """
    block, place = divmod(number - 1, len(_BLOCK))
    order = np.random.default_rng(np.random.SeedSequence([seed, _STREAM, block])).permutation(len(_BLOCK))
    return _BLOCK[order[place]]


def sides_of_repeat(original: Answered, pair: Pair, subject: Subject) -> tuple[Stood, Subject]:
    """Return the sides of a repeat: the matrix that stood left before stands right now."""
    same_order = same_pair(original.pair, pair)
    was_left_a = (original.left == "a") == bool(same_order)
    return ("b" if was_left_a else "a"), subject
