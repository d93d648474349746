"""What kind of question comes next (a new one, one to ask again, a repeat, a check), and when the answers are enough.

A sitting has at most 18 informative questions; with checks, three repeats and one dominated pair come on top, and a
second such pair where the first was answered wrongly: one slip says little. Where all of that leaves open whether
somebody looked, up to five more such pairs follow.

A sitting may end earlier, once what the answers are for is reached: the ratios are known, or the choice is settled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Literal, NamedTuple

import numpy as np

from elicit_app.elicitation.belief import ENDS, Posterior
from elicit_app.elicitation.linearity import Linearity
from elicit_app.elicitation.questions import (
    PREFERENCES,
    AnswersFor,
    Asked,
    Choice,
    Counts,
    Family,
    Matrix,
    Purpose,
    Question,
)
from elicit_app.elicitation.region import Region
from metrics.elicited.family import MistakeKey, error_cells, linear_family

SITTING = 18  # informative questions
MOST_QUESTIONS = 10_000  # that may be asked for: a file that says more must not keep anybody waiting
PLAIN_REPEATS = 1  # of the repeats of a sitting; the others come with a common base, to see whether values are linear
_EXTRAS: tuple[tuple[float, Purpose], ...] = (
    (0.45, Purpose.REPEAT),
    (0.6, Purpose.CHECK),
    (0.8, Purpose.REPEAT),
    (0.95, Purpose.REPEAT),
)  # after which share of a sitting
MORE_CHECKS = 5  # at most, after all questions, where it is open whether somebody looked
_LATER = 4  # questions between "cannot say" and asking again
_LATEST = 100  # answers that a repeat is chosen from

_SPOILT = 0.8  # share of a class's hits that a check turns into errors where anything may be shown
_SPOILT_CLASSES, _WRONG_CLASSES = 4, 2  # of so many classes, into so many others: one mistake may not matter
_SPOILT_MISTAKES = 3  # of a plausible check

KNOWN_FACTOR = 2.0  # ratios are known once none may be off by more
BEST_PROBABILITY = 0.95  # a choice is settled once it is best with at least this probability
FEWEST_ANSWERS = 8  # before anything counts as known or settled
_BITS_PER_ANSWER, _LOG_ODDS_PER_ANSWER = 0.7, 0.4  # what an answer brings, for the estimate of how many are left

Kind = Literal["new", "again", "repeat", "check"]


class Item(NamedTuple):
    """The next item of a sitting; `place` is the answered question, from 0, that is asked again."""

    kind: Kind
    place: int | None = None


def informative(history: Sequence[Asked]) -> int:
    """Count the informative questions that were asked."""
    return sum(asked.question.purpose is Purpose.INFORMATIVE for asked in history)


def informative_before(history: Sequence[Asked]) -> list[int]:
    """Return how many informative questions were asked before each one."""
    return list(accumulate((asked.question.purpose is Purpose.INFORMATIVE for asked in history), initial=0))[:-1]


def n_answered(history: Sequence[Asked]) -> int:
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
    anew = zip(history, _asked_again(history), strict=True)
    done = Counter(asked.question.purpose for asked, again in anew if not again)
    done[Purpose.CHECK] -= len(_checks_again(history)[0])
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
    failed = _checks_again(history)[1] if checks else None
    if failed is not None and (len(history) - failed > _LATER or asked >= questions):
        return Item("check")
    last = asked + 1 >= questions
    again = next((n for n in _unsure(history) if len(history) - n > _LATER or last), None)
    if asked >= questions:
        # What was on top is asked again on top.
        on_top = again is not None and history[again].question.purpose is not Purpose.INFORMATIVE
        return Item("again", again) if on_top else None
    return Item("new") if again is None else Item("again", again)


def required_item(history: Sequence[Asked]) -> Item | None:
    """Return the repeat or the check without which nothing can be said about trust, or None when both were asked."""
    purposes = {asked.question.purpose for asked in history}
    if Purpose.REPEAT not in purposes and repeatable_answers(history):
        return Item("repeat")
    return None if Purpose.CHECK in purposes and _checks_again(history)[1] is None else Item("check")


def required_left(history: Sequence[Asked]) -> int:
    """Return how many questions `required_item` still asks for, where there is an answer to repeat."""
    purposes = {asked.question.purpose for asked in history}
    failed = _checks_again(history)[1] is not None
    return (Purpose.REPEAT not in purposes) + (Purpose.CHECK not in purposes or failed)


def questions_left(history: Sequence[Asked], questions: int, checks: bool) -> int:
    """Return how many questions come until the informative ones are used up, repeats and checks included."""
    left = max(questions - informative(history), 0)
    again = sum(history[n].question.purpose is not Purpose.INFORMATIVE for n in _unsure(history))
    if not checks:
        return left + again
    again += _checks_again(history)[1] is not None
    extra = _still(extras(questions, questions), history)
    repeats = extra.count(Purpose.REPEAT)
    repeatable = len(repeatable_answers(history)) + (left if history else left - 1)  # never the very first question
    return left + again + len(extra) - repeats + min(repeats, max(repeatable, 0))


def checks_on_top(history: Sequence[Asked], questions: int) -> int:
    """Return how many checks were asked after the last of so many informative questions."""
    return sum(
        asked.question.purpose is Purpose.CHECK and before >= questions
        for asked, before in zip(history, informative_before(history), strict=True)
    )


def repeatable_answers(history: Sequence[Asked]) -> list[int]:
    """Return the places of preferences that were not asked about twice yet, without the very first question.

    Where there is none, equal points are repeated.
    """
    once = tradable_answers(history)
    preferences = [n for n in once if history[n].answer.choice in PREFERENCES and history[n].answer.moved is None]
    possible = preferences or [n for n in once if history[n].answer.moved is not None]
    return not_just_asked(possible, history)


def not_just_asked(places: Sequence[int], history: Sequence[Asked]) -> list[int]:
    """Return the latest places that lie some questions back, or all: what was just asked is remembered, not judged.

    Of thousands of answers the latest are chosen from, so that choosing takes no more time and memory than of hundreds.
    """
    return [n for n in places if len(history) - n > _LATER][-_LATEST:] or list(places)


def tradable_answers(history: Sequence[Asked]) -> list[int]:
    """Return the places of informative answers that were not asked about twice yet, without the very first question."""
    repeated = {asked.question.repeat_of for asked in history}
    return [
        n
        for n, (question, answer) in enumerate(history)
        if n > 0
        and question.purpose is Purpose.INFORMATIVE
        and question.repeat_of is None
        and answer.choice is not Choice.UNSURE
        and n + 1 not in repeated
    ]


def _checks_again(history: Sequence[Asked]) -> tuple[list[int], int | None]:
    """Return the places of checks that follow a failed one, and that of a failed one that none followed yet."""
    second: list[int] = []
    failed = None
    for n, (question, answer) in enumerate(history):
        if question.purpose is not Purpose.CHECK:
            continue
        if failed is not None:
            second.append(n)
            failed = None
        elif answer.choice in PREFERENCES and better_side(*question.rates) not in (None, answer.choice):
            failed = n
    return second, failed


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
    for asked in history:
        if asked.answer.choice is not Choice.UNSURE:
            shown = asked.shown
            seen |= weighs.coordinates(shown.first) != weighs.coordinates(shown.second)
    return tuple(key for key, asked in zip(weighs.mistakes(n_classes), seen, strict=True) if not asked)


def better_side(a: Matrix, b: Matrix) -> Choice | None:
    """Return the side of (k, k) matrices with no more mistakes of any kind and fewer of one, or None."""
    more = (a - b)[error_cells(len(a))]
    if not more.any():
        return None
    return Choice.FIRST if (more <= 0).all() else Choice.SECOND if (more >= 0).all() else None


def dominated(
    matrices: Matrix,
    population: int | None,
    region: Region | None,
    rng: np.random.Generator,
    loss: Callable[[Matrix, Matrix], Matrix] | None = None,
) -> Question:
    """Return a pair of which one side is better whatever the expert values: the same, but for errors on top.

    The errors are of several kinds: one of them alone may matter little to an expert.

    Parameters
    ----------
    matrices : ndarray of shape (n, k, k)
        Rates of achievable matrices; the most accurate is taken.
    population : int or None
        Errors come in whole cases of it.
    region : Region or None
        Which results may be shown; None where anything may.
    rng : numpy.random.Generator
        Chooses the mistakes and the side.
    loss : callable, optional
        From two arrays of results, shape (n, k, k), to how much worse the person is thought to find each of the second.
        Within a region, the errors on top are then those that matter most, on the counts of any model; without it as
        many as possible, on the most accurate ones.
    """
    if region is not None and population is not None:
        check = Question(*_worse_within(region, rng, loss), population, Purpose.CHECK, hypothetical=True)
        return check if rng.integers(2) else check.swapped()
    better = matrices[int(np.argmax(np.trace(matrices, axis1=1, axis2=2)))]
    hits, worse = better.diagonal(), better.copy()
    for true in np.argsort(-np.round(hits, 9), kind="stable")[:_SPOILT_CLASSES]:
        others = np.delete(np.arange(len(hits)), true)
        for predicted in rng.permutation(others)[:_WRONG_CLASSES]:
            more = hits[true] * _SPOILT / min(_WRONG_CLASSES, len(others))
            more = more if population is None else min(np.ceil(more * population) / population, worse[true, true])
            worse[true, predicted] += more
            worse[true, true] -= more
    pair = (better, worse) if rng.integers(2) else (worse, better)
    return Question.of_rates(*pair, population, Purpose.CHECK, hypothetical=True)


def _worse_within(
    region: Region, rng: np.random.Generator, loss: Callable[[Matrix, Matrix], Matrix] | None
) -> tuple[Counts, Counts]:
    """Return a result of a region, and the same with as many more of some mistakes as it allows; see `dominated`."""
    accurate = int(np.argmax(np.trace(region.bases, axis1=1, axis2=2)))
    better = region.bases[accurate if loss is None else int(rng.integers(len(region.bases)))]
    cells = rng.permutation(np.argwhere(error_cells(len(better))))
    true, predicted = cells.T
    each, sides = np.arange(len(cells)), np.repeat(better[None], len(cells), axis=0)
    more = region.limits(sides, true, predicted) - sides[each, true, predicted]
    sides[each, true, predicted] += more
    sides[each, true, true] -= more
    size = better.sum()
    matters = (
        more if loss is None else np.round(loss(np.repeat(better[None], len(cells), axis=0) / size, sides / size), 9)
    )
    worse = better.copy()
    used: set[int] = set()
    for place in np.argsort(-matters, kind="stable"):
        row = int(true[place])
        if row not in used and len(used) < _SPOILT_MISTAKES:
            worse[row] = sides[place, row]
            used.add(row)
    return better, worse


def _unsure(history: Sequence[Asked]) -> list[int]:
    """Return the places of questions and repeats answered "cannot say" that were not asked again."""
    last = {(question.purpose, question.repeat_of): n for n, (question, _) in enumerate(history)}
    return [
        n
        for n, ((question, answer), again) in enumerate(zip(history, _asked_again(history), strict=True))
        if answer.choice is Choice.UNSURE
        and question.purpose is not Purpose.CHECK
        and not again
        and last.get(_if_again(question, n), -1) <= n
    ]


def _asked_again(history: Sequence[Asked]) -> list[bool]:
    """Tell of each question whether it asks again what was answered "cannot say" before."""
    unsure: set[tuple[Purpose, int | None]] = set()
    found = []
    for n, (question, answer) in enumerate(history):
        found.append((question.purpose, question.repeat_of) in unsure)
        if answer.choice is Choice.UNSURE and question.purpose is not Purpose.CHECK:
            unsure.add(_if_again(question, n))
    return found


def _if_again(question: Question, place: int) -> tuple[Purpose, int | None]:
    """Return purpose and number of what asks the question at a place again; a repeat keeps what it repeats."""
    return question.purpose, place + 1 if question.purpose is Purpose.INFORMATIVE else question.repeat_of


def ratio_factors(belief: Posterior) -> Matrix:
    """Return by which factor each weight, shape (m,), may be off, relative to the largest one.

    The factor spans half of the 90 % range: 2 says "between half and twice as much".
    """
    low, high = np.quantile(belief.log_ratios, ENDS, axis=0)
    return np.asarray(np.exp((high - low) / 2))


def probability_best(belief: Posterior, models: Matrix) -> Matrix:
    """Return for each model, matrices (n, k, k), the probability that the expert would rather have it than any other.

    Models with the same matrix share the probability.
    """
    utility = belief.utilities(models)
    best = utility >= utility.max(axis=1, keepdims=True) - 1e-12
    return np.asarray((best / best.sum(axis=1, keepdims=True)).mean(axis=0))


def enough(
    belief: Posterior,
    models: Matrix,
    answers: int,
    linearity: Callable[[], tuple[Linearity, Matrix] | None] = lambda: None,
    purpose: AnswersFor | None = None,
    stays: Callable[[], float] = lambda: 1.0,
) -> Literal["known", "best-model"] | None:
    """Tell why the answers are enough, or None.

    A choice is settled, or cannot be settled by further answers of this kind, once the ratios are known; costs are
    written down only when they are known; for both, the ratios must be known and the choice be settled.

    Parameters
    ----------
    belief : Posterior
        What is believed now.
    models : ndarray of shape (n, k, k)
        The matrices of what can be chosen.
    answers : int
        Informative answers so far, "cannot say" left out.
    linearity : callable
        Gives what rivals of linear costs say, and of which matrices, or None where that is not judged. Asked last,
        where linear costs alone would decide: it takes longer than the question itself.
    purpose : {"choose", "costs", "both"} or None
        What the answers are for; None stops for either reason.
    stays : callable
        Gives the probability that the choice would be the same if the values were known, and what can be chosen made
        the best of them. Asked only where linear costs settle the choice among `models`.
    """
    if answers < FEWEST_ANSWERS:
        return None
    known = bool(ratio_factors(belief).max() <= KNOWN_FACTOR)
    if known and (purpose != "both" or len(models) < 2):
        return "known"
    if len(models) < 2 or purpose == "costs" or (purpose == "both" and not known):
        return None
    best = probability_best(belief, models)
    if best.max() < BEST_PROBABILITY or stays() < BEST_PROBABILITY:
        return None
    judged = linearity()
    if judged is not None:
        rivals, among = judged
        if rivals.probability_best(probability_best(belief, among)).max() < BEST_PROBABILITY:
            return None
    return "known" if purpose == "both" else "best-model"


def still_needed(belief: Posterior, answers: int, most: int) -> tuple[int, int]:
    """Estimate the fewest and the most informative answers until all ratios are known.

    Parameters
    ----------
    belief : Posterior
        What is believed now.
    answers : int
        Informative answers so far.
    most : int
        No more than these are asked for.
    """
    excess = np.log2(np.maximum(np.log(ratio_factors(belief)) / np.log(KNOWN_FACTOR), 1.0))
    likely = float(excess.sum()) / _BITS_PER_ANSWER
    fewest = min(most, max(1, FEWEST_ANSWERS - answers, int(0.7 * likely)))
    return fewest, min(most, max(fewest, int(np.ceil(1.4 * likely)) + 1))


def still_to_settle(best: Matrix, answers: int, most: int) -> tuple[int, int]:
    """Estimate the fewest and the most informative answers until a choice is settled.

    Parameters
    ----------
    best : ndarray of shape (n,)
        The probability of each choice to be the best, as it is now.
    answers : int
        Informative answers so far.
    most : int
        No more than these are asked for.
    """
    now = min(float(best.max()), BEST_PROBABILITY)
    likely = (_log_odds(BEST_PROBABILITY) - _log_odds(now)) / _LOG_ODDS_PER_ANSWER
    fewest = min(most, max(1, FEWEST_ANSWERS - answers, int(0.6 * likely)))
    return fewest, min(most, max(fewest, int(np.ceil(1.6 * likely)) + 1))


def _log_odds(share: float) -> float:
    return float(np.log(share / (1 - share)))
