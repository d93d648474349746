"""A pair as it is recorded, and the question it stands for."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from elicit_app.elicitation.questions import Matrix, Purpose, Question
from elicit_app.session.journal.events import CountRows, Pair


def as_question(pair: Pair, places: Mapping[int, int]) -> Question:
    """Return the recorded pair as a question; `places` maps answer numbers to places in the history."""
    place = None if pair.repeat_of is None else places.get(pair.repeat_of)
    # A repeat whose original was taken out is the only answer to its pair: it informs.
    purpose = Purpose.INFORMATIVE if pair.purpose is Purpose.REPEAT and place is None else pair.purpose
    return Question(
        np.array(pair.a) / pair.population,
        np.array(pair.b) / pair.population,
        population=pair.population,
        purpose=purpose,
        repeat_of=place,
        hypothetical=pair.hypothetical,
    )


def as_pair(question: Question, numbers: tuple[int, ...]) -> Pair:
    """Return a question as it is recorded; `numbers[place]` is the answer number at a place in the history.

    Raises
    ------
    ValueError
        When the question has no population, or its matrices are not whole cases of it.
    """
    if question.population is None:
        raise ValueError("a person is asked in whole cases: the question has no population")
    repeat_of = None if question.repeat_of is None else numbers[question.repeat_of]
    return Pair(
        a=_counts(question.a, question.population),
        b=_counts(question.b, question.population),
        population=question.population,
        purpose=question.purpose,
        repeat_of=repeat_of,
        hypothetical=question.hypothetical,
    )


def _counts(rates: Matrix, population: int) -> CountRows:
    scaled = rates * population
    counts = np.rint(scaled)
    if np.abs(scaled - counts).max() > 1e-3:
        raise ValueError(f"the matrices of a question are not whole cases per {population}")
    return tuple(tuple(int(entry) for entry in row) for row in counts)


def same_pair(one: Pair, other: Pair) -> bool | None:
    """Return True for the same pair in the same order, False for the same pair swapped, None for different pairs."""
    if one.population != other.population:
        return None
    if (one.a, one.b) == (other.a, other.b):
        return True
    return False if (one.a, one.b) == (other.b, other.a) else None
