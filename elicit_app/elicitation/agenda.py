"""Decide what kind of question comes next (new, asked again, repeat or check) and when the answers are enough.

A sitting has at most 18 informative questions. With checks, three repeats and one dominated pair are added, and a
second dominated pair if the expert fails the first, because one slip proves little. If it is still unclear whether the
expert looked at the questions, up to five more dominated pairs follow.

A sitting may end earlier, once its purpose is met: the ratios are known, or the choice is settled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Literal, NamedTuple

import numpy as np

from elicit_app.elicitation.belief import ENDS, Posterior, shares_of_best
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
from elicit_app.elicitation.reach import PolicyDoubt
from elicit_app.elicitation.region import Region
from metrics.elicited.family import MistakeKey, error_cells, linear_family
from metrics.policies.information import NEGLIGIBLE

SITTING = 18  # informative questions
MOST_QUESTIONS = 10_000  # the most that may be requested, so that no file can ask for an endless session
PLAIN_REPEATS = 1  # per sitting; the other repeats add a common base, to test whether values are linear
_EXTRAS: tuple[tuple[float, Purpose], ...] = (
    (0.45, Purpose.REPEAT),
    (0.6, Purpose.CHECK),
    (0.8, Purpose.REPEAT),
    (0.95, Purpose.REPEAT),
)  # the share of a sitting, or of all questions if they are fewer, after which each is due
MAX_EXTRA_CHECKS = 5  # at most, after all questions, while it is unclear whether the expert looked
_LATER = 4  # questions between "cannot say" and asking again
_LATEST = 100  # latest answers from which a repeat is chosen

_SPOILT = 0.8  # share of a class's hits that a check turns into errors when any result may be shown
_SPOILT_CLASSES, _WRONG_CLASSES = 4, 2  # true classes, and wrong classes for each: a single mistake might not matter
_SPOILT_MISTAKES = 3  # changed by a plausible check
_LEAST_SPOILT = 0.5  # share of the most errors that may be added, in a further check

KNOWN_FACTOR = 2.0  # ratios are known once none may be off by more than this factor
BEST_PROBABILITY = 0.95  # a choice is settled once it is best with at least this probability
# Share of the cost: a settled choice does not end the questions if deciding every case by known values would save more.
_MOST_BY_DECIDING_ANEW = 0.1
FEWEST_ANSWERS = 8  # before anything counts as known or settled
_UNTIL_PRECISION_SHOWS, _ANSWERS_A_RATIO = 6, 12  # answers; at most in nine sittings of ten
_LOG_ODDS_PER_ANSWER = 0.15  # gain of the best option, to estimate how many answers are left
_ANSWERS_ONCE_PROBABLE = 3  # until the rivals and what the choice may cost agree as well

Kind = Literal["new", "again", "repeat", "check"]


class Item(NamedTuple):
    """The next item of a sitting; `place` is the index of the answered question to ask again."""

    kind: Kind
    place: int | None = None


def n_informative(history: Sequence[Asked]) -> int:
    """Count the informative questions that were asked."""
    return sum(asked.question.purpose is Purpose.INFORMATIVE for asked in history)


def n_informative_before(history: Sequence[Asked]) -> list[int]:
    """Return, for each question, how many informative questions were asked before it."""
    return list(accumulate((asked.question.purpose is Purpose.INFORMATIVE for asked in history), initial=0))[:-1]


def n_answered(history: Sequence[Asked]) -> int:
    """Count the informative questions that were answered, excluding "cannot say"."""
    return sum(
        asked.question.purpose is Purpose.INFORMATIVE and asked.answer.choice is not Choice.UNSURE for asked in history
    )


def extras(asked: int, questions: int) -> list[Purpose]:
    """Return the repeats and checks that are due after `asked` of `questions` informative questions.

    A few questions after a whole sitting bring as few of them as the same number within one.
    """
    length = min(SITTING, questions)
    return [
        purpose
        for start in range(0, asked + 1, SITTING)
        for share, purpose in _EXTRAS
        if start + max(1, round(share * length)) <= asked
    ]


def _outstanding(due: Sequence[Purpose], history: Sequence[Asked]) -> list[Purpose]:
    """Return the repeats and checks of `due` that have not been asked yet, in order."""
    anew = zip(history, _are_retries(history), strict=True)
    done = Counter(asked.question.purpose for asked, again in anew if not again)
    done[Purpose.CHECK] -= len(_check_retries(history)[0])
    left = []
    for purpose in due:
        if done[purpose]:
            done[purpose] -= 1
        else:
            left.append(purpose)
    return left


def next_item(history: Sequence[Asked], questions: int, checks: bool) -> Item | None:
    """Return the next item, or None once all informative questions and their repeats and checks were asked.

    Parameters
    ----------
    history : sequence of Asked
        Answers so far.
    questions : int
        Informative questions to ask.
    checks : bool
        Whether repeats and checks are added.
    """
    asked = n_informative(history)
    for wanted in _outstanding(extras(asked, questions), history) if checks else ():
        if wanted is Purpose.CHECK:
            return Item("check")
        if repeatable_answers(history):
            return Item("repeat")
    failed = _check_retries(history)[1] if checks else None
    if failed is not None and (len(history) - failed > _LATER or asked >= questions):
        return Item("check")
    last = asked + 1 >= questions
    again = next((n for n in _unsure(history) if len(history) - n > _LATER or last), None)
    if asked >= questions:
        # Once the informative questions are used up, only a repeat may be asked again.
        on_top = again is not None and history[again].question.purpose is not Purpose.INFORMATIVE
        return Item("again", again) if on_top else None
    return Item("new") if again is None else Item("again", again)


def required_item(history: Sequence[Asked]) -> Item | None:
    """Return the repeat or check still needed before trust can be judged, or None if both were asked."""
    purposes = {asked.question.purpose for asked in history}
    if Purpose.REPEAT not in purposes and repeatable_answers(history):
        return Item("repeat")
    return None if Purpose.CHECK in purposes and _check_retries(history)[1] is None else Item("check")


def required_left(history: Sequence[Asked]) -> int:
    """Return how many questions `required_item` still asks for, assuming that there is an answer to repeat."""
    purposes = {asked.question.purpose for asked in history}
    failed = _check_retries(history)[1] is not None
    return (Purpose.REPEAT not in purposes) + (Purpose.CHECK not in purposes or failed)


def questions_left(history: Sequence[Asked], questions: int, checks: bool) -> int:
    """Return how many questions remain until the informative ones are used up, including repeats and checks."""
    left = max(questions - n_informative(history), 0)
    again = sum(history[n].question.purpose is not Purpose.INFORMATIVE for n in _unsure(history))
    if not checks:
        return left + again
    again += _check_retries(history)[1] is not None
    extra = _outstanding(extras(questions, questions), history)
    repeats = extra.count(Purpose.REPEAT)
    repeatable = len(repeatable_answers(history)) + (left if history else left - 1)  # never the very first question
    return left + again + len(extra) - repeats + min(repeats, max(repeatable, 0))


def count_extra_checks(history: Sequence[Asked], questions: int) -> int:
    """Count the checks asked after the last of `questions` informative questions."""
    return sum(
        asked.question.purpose is Purpose.CHECK and before >= questions
        for asked, before in zip(history, n_informative_before(history), strict=True)
    )


def repeatable_answers(history: Sequence[Asked]) -> list[int]:
    """Return the indices of preferences not yet asked about twice, excluding the very first question.

    If there are none, return those of equal points instead.
    """
    once = tradable_answers(history)
    preferences = [n for n in once if history[n].answer.picks_a_side]
    possible = preferences or [n for n in once if history[n].answer.moved is not None]
    return not_just_asked(possible, history)


def not_just_asked(places: Sequence[int], history: Sequence[Asked]) -> list[int]:
    """Return the latest indices that lie a few questions back, or the first: a fresh answer is remembered, not judged.

    Only the latest are candidates, so that thousands of answers cost no more time and memory than hundreds.
    """
    return [n for n in places if len(history) - n > _LATER][-_LATEST:] or list(places[:1])


def tradable_answers(history: Sequence[Asked]) -> list[int]:
    """Return the indices of informative answers not yet asked about twice, excluding the very first question."""
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


def _check_retries(history: Sequence[Asked]) -> tuple[list[int], int | None]:
    """Return the indices of checks that follow a failed one, and that of a failed one which none has followed yet."""
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


def unasked_mistakes(history: Sequence[Asked], family: Family, n_classes: int) -> tuple[MistakeKey, ...]:
    """Return the mistakes that no answered question involved; their weights rest on the other answers alone.

    Parameters
    ----------
    history : sequence of Asked
        All answers; "cannot say" is ignored.
    family : str
        Determines which mistakes are distinguished.
    n_classes : int
        Number of classes k.
    """
    weighs = linear_family(family)
    seen = np.zeros(weighs.n_weights(n_classes), dtype=bool)
    for asked in history:
        if asked.answer.choice is not Choice.UNSURE:
            shown = asked.shown
            seen |= weighs.coordinates(shown.first) != weighs.coordinates(shown.second)
    return tuple(key for key, asked in zip(weighs.mistakes(n_classes), seen, strict=True) if not asked)


def better_side(a: Matrix, b: Matrix) -> Choice | None:
    """Return the side of two (k, k) matrices with no more mistakes of any kind and fewer of one, or None."""
    more = (a - b)[error_cells(len(a))]
    if not more.any():
        return None
    return Choice.FIRST if (more <= 0).all() else Choice.SECOND if (more >= 0).all() else None


def check_question(
    matrices: Matrix,
    region: Region | None,
    rng: np.random.Generator,
    loss: Callable[[Matrix, Matrix], Matrix] | None = None,
) -> Question:
    """Return a pair in which one side equals the other plus extra errors: worse whatever the expert values.

    The extra errors are of several kinds, because a single kind may matter little to an expert.

    Parameters
    ----------
    matrices : ndarray of shape (n, k, k)
        Rates of achievable matrices, of which the most accurate one is used without a region.
    region : Region or None
        Results that may be shown, in whole cases; None in the laboratory, where any rates may be.
    rng : numpy.random.Generator
        Chooses the mistakes and the side.
    loss : callable, optional
        Maps two arrays of results, shape (n, k, k), to the estimated loss of each second result against the first.
        Within a region, the extra errors are then those that matter most, on the counts of any model, between half as
        many as possible and all. Without it, as many as possible are added to the most accurate counts.
    """
    if region is not None:
        counts = _worse_within(region, rng, loss)
        check = Question(*counts, int(counts[0].sum()), Purpose.CHECK, hypothetical=True)
        return check if rng.integers(2) else check.swapped()
    better = matrices[int(np.argmax(np.trace(matrices, axis1=1, axis2=2)))]
    hits, worse = better.diagonal(), better.copy()
    for true in np.argsort(-np.round(hits, 9), kind="stable")[:_SPOILT_CLASSES]:
        others = np.delete(np.arange(len(hits)), true)
        for predicted in rng.permutation(others)[:_WRONG_CLASSES]:
            more = hits[true] * _SPOILT / min(_WRONG_CLASSES, len(others))
            worse[true, predicted] += more
            worse[true, true] -= more
    pair = (better, worse) if rng.integers(2) else (worse, better)
    return Question(*pair, None, Purpose.CHECK, hypothetical=True)


def _worse_within(
    region: Region, rng: np.random.Generator, loss: Callable[[Matrix, Matrix], Matrix] | None
) -> tuple[Counts, Counts]:
    """Return a result of a region, and the same with many more of some mistakes; see `check_question`."""
    accurate = int(np.argmax(np.trace(region.bases, axis1=1, axis2=2)))
    better = region.bases[accurate if loss is None else int(rng.integers(len(region.bases)))]
    cells = rng.permutation(np.argwhere(error_cells(len(better))))
    true, predicted = cells.T
    each, sides = np.arange(len(cells)), np.repeat(better[None], len(cells), axis=0)
    more = region.limits(sides, true, predicted) - sides[each, true, predicted]
    if loss is not None:  # such checks follow one another, and should not look alike
        more = np.ceil(more * rng.uniform(_LEAST_SPOILT, 1.0, len(more))).astype(np.int64)
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
    """Return the indices of questions and repeats answered "cannot say" and not asked again."""
    last = {(question.purpose, question.repeat_of): n for n, (question, _) in enumerate(history)}
    return [
        n
        for n, ((question, answer), again) in enumerate(zip(history, _are_retries(history), strict=True))
        if answer.choice is Choice.UNSURE
        and question.purpose is not Purpose.CHECK
        and not again
        and last.get(_retry_key(question, n), -1) <= n
    ]


def _are_retries(history: Sequence[Asked]) -> list[bool]:
    """Return, for each question, whether it asks again what was answered "cannot say"."""
    unsure: set[tuple[Purpose, int | None]] = set()
    found = []
    for n, (question, answer) in enumerate(history):
        found.append((question.purpose, question.repeat_of) in unsure)
        if answer.choice is Choice.UNSURE and question.purpose is not Purpose.CHECK:
            unsure.add(_retry_key(question, n))
    return found


def _retry_key(question: Question, place: int) -> tuple[Purpose, int | None]:
    """Return the purpose and number of a question that asks this one again; a repeat keeps what it repeats."""
    return question.purpose, place + 1 if question.purpose is Purpose.INFORMATIVE else question.repeat_of


def ratio_factors(belief: Posterior) -> Matrix:
    """Return the factor by which each weight, shape (m,), may be off relative to the largest one.

    The factor spans half of the 90 % range of the log-ratio: 2 means "between half and twice as much".
    """
    low, high = np.quantile(belief.log_ratios, ENDS, axis=0)
    return np.asarray(np.exp((high - low) / 2))


def probability_best(belief: Posterior, models: Matrix) -> Matrix:
    """Return the probability that the expert would prefer each model, matrices (n, k, k), to all others.

    Models with the same matrix share the probability.
    """
    return shares_of_best(belief.utilities(models))


def early_stop_reason(
    belief: Posterior,
    models: Matrix,
    answers: int,
    linearity: Callable[[], tuple[Linearity, Matrix] | None] = lambda: None,
    purpose: AnswersFor | None = None,
    policy_doubt: Callable[[], PolicyDoubt] = lambda: PolicyDoubt(1.0, 0.0, 0.0),
) -> Literal["known", "best-model"] | None:
    """Return why the answers are enough, or None if they are not.

    A choice is not settled while every case would be decided at much lower cost if the values were known. Known ratios
    end a choice as well, because further answers of this kind cannot settle it. Eliciting costs requires known ratios;
    "both" requires known ratios and a choice that is settled or hardly depends on what is not known.

    Parameters
    ----------
    belief : Posterior
        Current belief.
    models : ndarray of shape (n, k, k)
        Matrices of the options.
    answers : int
        Number of informative answers, excluding "cannot say".
    linearity : callable
        Returns the evidence for rivals of linear costs and the matrices that it covers, or None if that is not judged.
        Called last, where linear costs alone would decide, because it takes longer than the question itself.
    purpose : {"choose", "costs", "both"} or None
        Purpose of the answers; None stops for either reason.
    policy_doubt : callable
        Returns how the choice depends on the values. Called only where linear costs settle the choice among `models`,
        or where it alone keeps the questions from ending.
    """
    if answers < FEWEST_ANSWERS:
        return None
    known = bool(ratio_factors(belief).max() <= KNOWN_FACTOR)
    if known and (purpose != "both" or len(models) < 2):
        return "known"
    if len(models) < 2 or purpose == "costs" or (purpose == "both" and not known):
        return None
    settled = probability_best(belief, models).max() >= BEST_PROBABILITY
    if not (known or settled):
        return None
    doubt = policy_doubt()
    if known and doubt.loss <= NEGLIGIBLE:
        return "known"
    if not settled or doubt.same < BEST_PROBABILITY or doubt.loss > NEGLIGIBLE or doubt.anew > _MOST_BY_DECIDING_ANEW:
        return None
    judged = linearity()
    if judged is not None:
        rivals, among = judged
        if rivals.probability_best(probability_best(belief, among)).max() < BEST_PROBABILITY:
            return None
    return "known" if purpose == "both" else "best-model"


def answers_until_known(belief: Posterior, answers: int, most: int) -> tuple[int, int]:
    """Estimate the fewest and the most informative answers until all ratios are known.

    Precision grows in proportion to the number of answers, and the prior is worth about half an answer a ratio. The
    first few answers do not yet show how fast; until then, `most` is what nine sittings in ten need.

    Parameters
    ----------
    belief : Posterior
        Current belief.
    answers : int
        Number of informative answers so far.
    most : int
        Upper limit of both estimates.
    """
    factors = ratio_factors(belief)
    widest = max(float(np.log(factors.max()) / np.log(KNOWN_FACTOR)), 1.0)
    ratios = len(factors) - 1
    if answers < _UNTIL_PRECISION_SHOWS:
        most = min(most, _ANSWERS_A_RATIO * ratios - answers)
    return _fewest_and_most((answers + ratios / 2) * (widest**2 - 1), answers, most)


def answers_until_settled(best: Matrix, answers: int, most: int) -> tuple[int, int]:
    """Estimate the fewest and the most informative answers until a choice is settled.

    Parameters
    ----------
    best : ndarray of shape (n,)
        Current probability that each option is the best.
    answers : int
        Number of informative answers so far.
    most : int
        Upper limit of both estimates.
    """
    now = min(float(best.max()), BEST_PROBABILITY)
    likely = _ANSWERS_ONCE_PROBABLE + (_log_odds(BEST_PROBABILITY) - _log_odds(now)) / _LOG_ODDS_PER_ANSWER
    return _fewest_and_most(likely, answers, most)


def _fewest_and_most(likely: float, answers: int, most: int) -> tuple[int, int]:
    """Return limits that hold for at least four sittings in five (docs/method/calibration.md)."""
    fewest = max(1, FEWEST_ANSWERS - answers, int(np.sqrt(likely)))
    return min(most, fewest), min(most, max(fewest, int(np.ceil(1.5 * likely)) + 1))


def _log_odds(share: float) -> float:
    return float(np.log(share / (1 - share)))
