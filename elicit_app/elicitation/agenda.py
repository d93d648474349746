"""What kind of question comes next: a new one, one to ask again, a repeat, or a check.

A sitting has at most 18 informative questions; with checks, three repeats and one dominated pair come on top.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from elicit_app.elicitation.questions import PREFERENCES, Asked, Choice, Family, Matrix, Purpose, Question
from metrics.elicited.family import MistakeKey, linear_family

SITTING = 18  # informative questions
_EXTRAS: tuple[tuple[float, Purpose], ...] = (
    (0.45, Purpose.REPEAT),
    (0.6, Purpose.CHECK),
    (0.8, Purpose.REPEAT),
    (0.95, Purpose.REPEAT),
)  # after which share of a sitting
_LATER = 4  # questions between "cannot say" and asking again

_SPOILT = 0.8  # share of a class's hits that a check turns into errors
_SPOILT_CLASSES, _WRONG_CLASSES = 4, 2  # of so many classes, into so many others: one mistake may not matter

Kind = Literal["new", "again", "repeat", "check"]


class Item(NamedTuple):
    """The next item of a sitting; `place` is the answered question that is asked again."""

    kind: Kind
    place: int | None = None


def informative(history: Sequence[Asked]) -> int:
    """Count the informative questions that were asked."""
    return sum(asked.question.purpose is Purpose.INFORMATIVE for asked in history)


def told(history: Sequence[Asked]) -> int:
    """Count the informative questions that were answered, "cannot say" left out."""
    return sum(
        asked.question.purpose is Purpose.INFORMATIVE and asked.answer.choice is not Choice.UNSURE for asked in history
    )


def extras(asked: int, questions: int) -> list[Purpose]:
    """Return the repeats and checks that are due after `asked` of `questions` informative questions."""
    due = []
    for start in range(0, asked + 1, SITTING):
        length = min(SITTING, questions - start)
        due += [purpose for share, purpose in _EXTRAS if start + max(1, round(share * length)) <= asked]
    return due


def _still(due: Sequence[Purpose], history: Sequence[Asked]) -> list[Purpose]:
    """Return the repeats and checks of `due` that were not asked yet, in order."""
    done = Counter(asked.question.purpose for asked in history)
    left = []
    for purpose in due:
        if done[purpose]:
            done[purpose] -= 1
        else:
            left.append(purpose)
    return left


def next_item(history: Sequence[Asked], questions: int, checks: bool) -> Item | None:
    """Return what comes next, or None when all informative questions and what belongs to them were asked.

    Parameters
    ----------
    history : sequence of Asked
        What was answered so far.
    questions : int
        Informative questions to ask.
    checks : bool
        Whether repeats and checks come on top.
    """
    asked = informative(history)
    for wanted in _still(extras(asked, questions), history) if checks else ():
        if wanted is Purpose.CHECK:
            return Item("check")
        if repeatable_answers(history):
            return Item("repeat")
    if asked >= questions:
        return None
    again = next((n for n in _unsure(history) if len(history) - n > _LATER or asked + 1 >= questions), None)
    return Item("new") if again is None else Item("again", again)


def owed(history: Sequence[Asked]) -> Item | None:
    """Return the repeat or the check without which nothing can be said about trust, or None when both were asked."""
    purposes = {asked.question.purpose for asked in history}
    if Purpose.REPEAT not in purposes and repeatable_answers(history):
        return Item("repeat")
    return None if Purpose.CHECK in purposes else Item("check")


def owed_left(history: Sequence[Asked]) -> int:
    """Return how many questions `owed` still asks for, where there is an answer to repeat."""
    purposes = {asked.question.purpose for asked in history}
    return (Purpose.REPEAT not in purposes) + (Purpose.CHECK not in purposes)


def questions_left(history: Sequence[Asked], questions: int, checks: bool) -> int:
    """Return how many questions come until the informative ones are used up, repeats and checks included."""
    left = max(questions - informative(history), 0)
    if not checks:
        return left
    extra = _still(extras(questions, questions), history)
    repeats = extra.count(Purpose.REPEAT)
    return left + len(extra) - repeats + min(repeats, left + len(repeatable_answers(history)))


def repeatable_answers(history: Sequence[Asked]) -> list[int]:
    """Return the indices of preferences that were not asked about twice yet."""
    repeated = {asked.question.repeat_of for asked in history}
    return [
        n
        for n, (question, answer) in enumerate(history)
        if question.purpose is Purpose.INFORMATIVE
        and question.repeat_of is None
        and answer.choice in PREFERENCES
        and n + 1 not in repeated
    ]


def slow_half(history: Sequence[Asked], indices: Sequence[int]) -> list[int]:
    """Return the half of the answers that took longest, or all where the times were not recorded.

    What follows an answer is computed before it is given, so the last one counts as quick.
    """
    last = len(history) - 1
    seconds = {n: history[n].answer.seconds for n in indices if n != last}
    timed = [second for second in seconds.values() if second is not None]
    if len(timed) < len(seconds) or not timed:
        return list(indices)
    middle = float(np.median([*timed, *(0.0 for n in indices if n == last)]))
    return [n for n in indices if (seconds.get(n) or 0.0) >= middle]


def never_asked(history: Sequence[Asked], family: Family, n_classes: int) -> tuple[MistakeKey, ...]:
    """Return the mistakes that no answered question was about: what is said of them rests on the others alone.

    Parameters
    ----------
    history : sequence of Asked
        All answers; "cannot say" tells nothing.
    family : str
        Which mistakes are told apart.
    n_classes : int
        k.
    """
    weighs = linear_family(family)
    seen = np.zeros(weighs.n_weights(n_classes), dtype=bool)
    for question, answer in history:
        if answer.choice is not Choice.UNSURE:
            shown = question if answer.moved is None else question.moved(answer.moved)
            seen |= weighs.coordinates(shown.first) != weighs.coordinates(shown.second)
    return tuple(key for key, asked in zip(weighs.mistakes(n_classes), seen, strict=True) if not asked)


def dominated(matrices: Matrix, population: int | None, rng: np.random.Generator) -> Question:
    """Return a pair of which one side is better whatever the expert values: the same, but for errors on top.

    The errors are of several kinds: one of them alone may matter little to an expert.

    Parameters
    ----------
    matrices : ndarray of shape (n, k, k)
        Achievable matrices; the most accurate is taken.
    population : int or None
        Errors come in whole cases of it.
    rng : numpy.random.Generator
        Chooses the mistakes and the side.
    """
    better = matrices[int(np.argmax(np.trace(matrices, axis1=1, axis2=2)))]
    hits, worse = better.diagonal(), better.copy()
    for true in np.argsort(-np.round(hits, 9), kind="stable")[:_SPOILT_CLASSES]:
        others = np.delete(np.arange(len(hits)), true)
        for predicted in rng.permutation(others)[:_WRONG_CLASSES]:
            more = hits[true] * _SPOILT / min(_WRONG_CLASSES, len(others))
            more = more if population is None else min(np.ceil(more * population) / population, worse[true, true])
            worse[true, predicted] += more
            worse[true, true] -= more
    a, b = (better, worse) if rng.integers(2) else (worse, better)
    return Question.of_rates(a, b, population, Purpose.CHECK, hypothetical=True)


def _unsure(history: Sequence[Asked]) -> list[int]:
    again = {asked.question.repeat_of for asked in history}
    return [
        n
        for n, (question, answer) in enumerate(history)
        if answer.choice is Choice.UNSURE
        and question.purpose is Purpose.INFORMATIVE
        and question.repeat_of is None
        and n + 1 not in again
    ]
