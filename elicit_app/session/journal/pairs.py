"""A pair as it is recorded, and the question it stands for."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from elicit_app.elicitation.questions import Purpose, Question
from elicit_app.session.journal.events import Pair


def as_question(pair: Pair, places: Mapping[int, int]) -> Question:
    """Return the recorded pair as a question; `places` maps answer numbers to places, from 0, in the history."""
    place = None if pair.repeat_of is None else places.get(pair.repeat_of)
    # A repeat whose original was taken out is the only answer to its pair: it informs.
    purpose = Purpose.INFORMATIVE if pair.purpose is Purpose.REPEAT and place is None else pair.purpose
    return Question(
        np.array(pair.first, dtype=np.int64),
        np.array(pair.second, dtype=np.int64),
        pair.population,
        purpose=purpose,
        repeat_of=None if place is None else place + 1,
        hypothetical=pair.hypothetical,
    )


def as_pair(question: Question, numbers: tuple[int, ...]) -> Pair:
    """Return a question as it is recorded; `numbers[place]` is the answer number at a place in the history.

    Raises
    ------
    ValueError
        When the question has no population.
    """
    if question.population is None:
        raise ValueError("a person is asked in whole cases: the question has no population")
    repeat_of = None if question.repeat_of is None else numbers[question.repeat_of - 1]
    return Pair(
        first=question.first.tolist(),
        second=question.second.tolist(),
        population=question.population,
        purpose=question.purpose,
        repeat_of=repeat_of,
        hypothetical=question.hypothetical,
    )


def same_pair(one: Pair, other: Pair) -> bool | None:
    """Return True for the same pair in the same order, False for the same pair swapped, None for different pairs."""
    if one.population != other.population:
        return None
    if (one.first, one.second) == (other.first, other.second):
        return True
    return False if (one.first, one.second) == (other.second, other.first) else None
