"""Can the answers be trusted? What repeats, checks, sides and the belief itself say about the person who gave them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Literal, NamedTuple

import numpy as np

from elicit_app.elicitation.agenda import better_side
from elicit_app.elicitation.belief import Posterior
from elicit_app.elicitation.far_apart import FarApart, far_apart
from elicit_app.elicitation.foretelling import AgainstChance, accuracies, random_pairs
from elicit_app.elicitation.procedure import Outcome, Procedure
from elicit_app.elicitation.questions import PREFERENCES, Asked, Choice, Matrix, Purpose, Side
from elicit_app.elicitation.response import evidence
from elicit_app.elicitation.utilities import coordinates

Verdict = Literal["trusted", "reservations", "untrusted"]
Name = Literal["random", "same_side", "reversed", "insensitive", "changed", "lexicographic", "surprises", "no_better"]

_SURPRISING = 0.7  # probability of another answer, its own evidence counted, from which on it is a surprise
_FAR_OFF = 0.025  # probability of a count as small, or as large, below which it is a surprise
_SAME_SIDE_GRAVE, _SAME_SIDE = 0.002, 0.01  # probability of so many on one side by chance
_INSENSITIVE = 0.55  # answers random pairs rightly with less than this probability: next to a coin
_CHANGED = 2.6  # bits by which two metrics, one for each half, explain the sides of the second half better than one
_EDGE = 0.5  # probability of a lead that the prior hardly allows
_NO_BETTER = -5  # answers: fewer predicted by so many is more than the luck of near ties


_FEW_WEIGHTS = 20  # whose prior is quickly drawn from
_FOLDS, _FEWEST = 5, 8  # parts that are held out in turn; preferences that this takes
# A search: an answer does not fit when the other side is better by more than this share of all that is at stake.
_MARGIN = 0.05
# "About equal" fits while neither side weighs more than twice the other: (2 - 1) / (2 + 1).
_EQUAL = 1 / 3


class HeldOut(NamedTuple):
    """How many of `total` preferences, each kept aside once, are predicted by each rule; a tie predicts nothing.

    Parameters
    ----------
    learned : int
        By the metric that was fitted without them.
    accuracy, f1 : int
        By the greater accuracy, and by the greater macro F1 score.
    total : int
        Preferences kept aside.
    """

    learned: int
    accuracy: int
    f1: int
    total: int


@dataclass(frozen=True)
class Count:
    """So many of so many."""

    right: int
    total: int


@dataclass(frozen=True)
class Surprise:
    """An answer that the rest makes unlikely: `index` from 0 in the history; `probability` of it given all answers."""

    index: int
    probability: float


@dataclass(frozen=True)
class Suspicion:
    """One way in which answers may not mean what they say.

    Parameters
    ----------
    name : str
        random: clicks without looking; same_side: always left or always right; reversed: takes the worse one;
        insensitive: tells pairs apart barely; changed: the second half contradicts the first; lexicographic: one
        mistake outweighs everything, at the edge of what is thought possible; surprises: many answers do not fit;
        no_better: answers kept aside are predicted worse than by F1, and F1 does better than accuracy.
    flagged : bool
        Whether it is suspected.
    value : float
        The number behind it.
    grave : bool
        Whether it alone makes the answers untrustworthy.
    """

    name: Name
    flagged: bool
    value: float
    grave: bool = False


@dataclass(frozen=True)
class TrustReport:
    """What was found about a history of answers.

    Parameters
    ----------
    repeats, checks : Count
        Pairs answered the same way twice; dominated pairs answered rightly.
    failed_checks : tuple of int
        Indices of the checks answered wrongly.
    explained : Count
        Answers that are no surprise, of those that say something.
    misfits : tuple of int
        Indices of the others.
    surprises : tuple of Surprise
        With a belief: those of them that all answers make unlikely, and how probable they are.
    suspicions : tuple of Suspicion
        Everything that was looked at, flagged or not.
    accuracy : float or None
        Expected probability of a right answer to a random pair, given all answers; None without a belief.
    held_out : HeldOut or None
        None without a belief, or with too few answers.
    apart : FarApart or None
        The two counts that lie farthest apart, those that are surprises left out; None where no counts differ so much.
    verdict : {"trusted", "reservations", "untrusted"}
        Untrusted where anything grave is flagged; reservations where anything is, where counts lie far apart, or where
        nothing was said.
    """

    repeats: Count
    checks: Count
    failed_checks: tuple[int, ...]
    explained: Count
    misfits: tuple[int, ...]
    surprises: tuple[Surprise, ...]
    suspicions: tuple[Suspicion, ...]
    accuracy: float | None
    held_out: HeldOut | None
    apart: FarApart | None
    verdict: Verdict

    def suspicion(self, name: Name) -> Suspicion | None:
        """Return what was found under a name, or None where it could not be looked at."""
        return next((one for one in self.suspicions if one.name == name), None)

    def flagged(self, name: Name) -> bool:
        """Tell whether something is suspected."""
        found = self.suspicion(name)
        return found is not None and found.flagged


def trust_report(procedure: Procedure, history: Sequence[Asked], sides: Sequence[Side] | None = None) -> TrustReport:
    """Judge a history of answers by what was asked twice, by dominated pairs, by sides and by the belief.

    Parameters
    ----------
    procedure : Procedure
        What asked; only bayes has a belief, of the others repeats, checks and sides are judged.
    history : sequence of Asked
        All answers.
    sides : sequence of {"first", "second"}, optional
        Which matrix of each question stood left; without it A did.
    """
    history = list(history)
    repeats, (checks, failed) = _repeats(history), _checks(history)
    worse = sum(history[n].answer.choice in PREFERENCES for n in failed)
    suspicions = [_same_side(history, sides)]
    surprises: tuple[Surprise, ...] = ()
    accuracy = bits = kept_aside = None
    n_answered = sum(asked.answer.choice is not Choice.UNSURE for asked in history)
    belief, at_first = procedure.belief(history), procedure.belief([])
    if belief is not None and at_first is not None and n_answered:
        surprises = surprises_among(history, belief)
        gains, rng = random_pairs(procedure.random_gains)
        bits = procedure.against_chance(history)
        accuracy = None if gains is None else float(accuracies(belief, gains).mean())
        kept_aside = held_out(belief, history, rng)
        suspicions += _of_belief(belief, at_first, history, accuracy, rng)
        if kept_aside is not None:
            better = kept_aside.learned - kept_aside.f1
            # Accuracy is a linear metric: who goes by it is only learned later than it can be guessed.
            poor = better < _NO_BETTER and kept_aside.f1 > kept_aside.accuracy
            suspicions.append(Suspicion("no_better", poor, float(better)))
    suspicions += _of_checks(repeats, checks, worse, bits)
    odd = _misfits(history, surprises) if belief is not None else misfits(procedure, history) if n_answered else ()
    explained = Count(n_answered - len(odd), n_answered)
    share = len(odd) / max(n_answered, 1)
    suspicions.append(Suspicion("surprises", share > 0.25, share))
    found = tuple(suspicions)
    apart = far_apart(procedure, history, odd)
    verdict = _verdict(found, apart, n_answered)
    return TrustReport(repeats, checks, failed, explained, odd, surprises, found, accuracy, kept_aside, apart, verdict)


def _verdict(suspicions: Sequence[Suspicion], apart: FarApart | None, n_answered: int) -> Verdict:
    flagged = [one for one in suspicions if one.flagged]
    if any(one.grave for one in flagged):
        return "untrusted"
    return "reservations" if flagged or apart is not None or not n_answered else "trusted"


def _repeats(history: Sequence[Asked]) -> Count:
    right = total = 0
    for n, (question, answer) in enumerate(history):
        if question.purpose is not Purpose.REPEAT or question.repeat_of is None or question.repeat_of > n:
            continue
        if question.common_base:  # another pair, which only who values results linearly answers alike
            continue
        first = history[question.repeat_of - 1]
        if Choice.UNSURE in (answer.choice, first.answer.choice):
            continue
        same_order = question.same_as(first.question)
        total += 1
        right += answer.choice is (first.answer.choice if same_order else first.answer.choice.swapped())
    return Count(right, total)


def _checks(history: Sequence[Asked]) -> tuple[Count, tuple[int, ...]]:
    failed, total = [], 0
    for n, (question, answer) in enumerate(history):
        if question.purpose is not Purpose.CHECK or answer.choice is Choice.UNSURE:
            continue
        total += 1
        if answer.choice is not better_side(*question.rates):
            failed.append(n)
    return Count(total - len(failed), total), tuple(failed)


def _same_side(history: Sequence[Asked], sides: Sequence[Side] | None) -> Suspicion:
    """Suspect a side that a fair coin would give so often only now and then; the value is that probability."""
    stood = ["first"] * len(history) if sides is None else sides
    left = [
        answer.choice == side
        for (_, answer), side in zip(history, stood, strict=True)
        if answer.choice in PREFERENCES and answer.moved is None
    ]
    n, most = len(left), max(sum(left), len(left) - sum(left))
    chance = min(1.0, 2 * sum(comb(n, more) for more in range(most, n + 1)) / 2**n)
    return Suspicion("same_side", chance < _SAME_SIDE, chance, grave=chance < _SAME_SIDE_GRAVE)


def _of_checks(repeats: Count, checks: Count, worse: int, bits: AgainstChance | None) -> list[Suspicion]:
    """Tell apart who takes the worse side steadily, in `worse` of the checks, and who does not look."""
    wrong = checks.total - checks.right
    # Where a belief foretells the answers, it says how often they should agree.
    steady = 2 * repeats.right >= repeats.total if bits is None else not bits.by_chance(bits.others)
    always = worse == checks.total and 0 < repeats.total == repeats.right
    # Without a pair that was answered twice nothing shows that the worse side is meant; one slip shows nothing either.
    backwards = worse >= min(2, checks.total) > 0 and 2 * worse >= checks.total and repeats.total > 0
    backwards = backwards and (steady or always)
    careless = not backwards and (wrong > 0 or not steady if bits is None else bits.by_chance(bits.total))
    foretold = bits.total if bits is not None else float(repeats.right - repeats.total)
    return [
        Suspicion("reversed", backwards, worse / max(checks.total, 1), grave=True),
        Suspicion("random", careless, foretold, grave=True),
    ]


def surprises_among(history: Sequence[Asked], belief: Posterior) -> tuple[Surprise, ...]:
    """Find the answers that all answers together make unlikely, by what is foretold, doubt of the weights included.

    A side while the other is likely; a tie while one side is, and outweighs the other; a count outside the range that
    holds nineteen in twenty of the counts this person would name.

    Parameters
    ----------
    history : sequence of Asked
        All answers.
    belief : Posterior
        What they say together.
    """
    found = []
    for n, asked in enumerate(history):
        if asked.answer.choice is Choice.UNSURE:
            continue
        points = evidence([asked], belief.prior).points
        if len(points.cell):
            tail = float(belief.response.point_tails(belief.weights, belief.person, points).mean(axis=1).min())
            odd, given = tail < _FAR_OFF, 2 * tail
        else:
            odd, given = _unlikely_side(asked, belief)
        if odd:
            found.append(Surprise(n, given))
    return tuple(found)


def _unlikely_side(asked: Asked, belief: Posterior) -> tuple[bool, float]:
    """Tell whether another answer than a choice is likely, and how probable the choice is.

    A tie is odd only where one side outweighs the other clearly: "about equal" is not said to be exact.
    """
    answer, gain = asked.answer, belief.prior.gain(*asked.shown.rates)
    first, second, equal = belief.chances(gain[None])[:, :, 0]
    if answer.choice is Choice.EQUAL:
        share = balance(belief.weights, gain)
        against = max((first * (share > _EQUAL)).mean(), (second * (share < -_EQUAL)).mean())
        return bool(against >= _SURPRISING), float(equal.mean())
    given, against = (first, second) if answer.choice is Choice.FIRST else (second, first)
    return bool(against.mean() >= _SURPRISING), float(given.mean())


def _of_belief(
    belief: Posterior, at_first: Posterior, history: Sequence[Asked], accuracy: float | None, rng: np.random.Generator
) -> list[Suspicion]:
    found = [] if accuracy is None else [Suspicion("insensitive", accuracy < _INSENSITIVE, accuracy)]
    change = _change(belief, history, rng)
    if change is not None:
        found.append(Suspicion("changed", change > _CHANGED, change))
    edge = _at_the_edge(belief, at_first, rng)
    return [*found, Suspicion("lexicographic", edge > _EDGE, edge)]


def _change(belief: Posterior, history: Sequence[Asked], rng: np.random.Generator) -> float | None:
    """Return by how many bits the two halves contradict each other: how badly one predicts the other."""
    answered = [asked for asked in history if asked.answer.choice is not Choice.UNSURE]
    half = len(answered) // 2
    if half < 5:
        return None
    halves = answered[:half], answered[half:]
    lost = 0.0
    for mine, other in (halves, halves[::-1]):
        # Only sides can be set against a coin: of a count the probability depends on the scale, and ties are rare.
        sides = [asked for asked in other if asked.answer.choice in PREFERENCES and asked.answer.moved is None]
        fitted = refitted(belief, mine, rng)
        for asked in sides:
            first, second, _ = fitted.chances(belief.prior.gain(*asked.question.rates)[None]).mean(axis=1)[:, 0]
            chosen = first if asked.answer.choice is Choice.FIRST else second
            lost -= float(np.log2(2 * chosen / (first + second)))
    return lost / 2


def _at_the_edge(belief: Posterior, at_first: Posterior, rng: np.random.Generator) -> float:
    """Return how probable it is that the largest weight outdoes the next by more than in 95 % of the prior.

    Of few weights the prior is drawn from again, as often as tells its tail; of many its draws are at hand.
    """
    if belief.prior.size < 2:
        return 0.0

    def lead(logs: Matrix) -> Matrix:
        top = np.sort(logs, axis=1)
        return np.asarray(top[:, -1] - top[:, -2])

    m = belief.prior.size
    few = m <= _FEW_WEIGHTS
    beforehand = belief.prior.log_weights(rng.standard_normal((2000, m))) if few else at_first.log_weights
    usual = np.quantile(lead(beforehand), 0.95)
    return float((lead(np.log(belief.weights)) > usual).mean())


def refitted(belief: Posterior, history: Sequence[Asked], rng: np.random.Generator) -> Posterior:
    """Return the posterior after `history` alone, by moving draws of another posterior that is not far from it.

    Parameters
    ----------
    belief : Posterior
        After `history` and some more answers.
    history : sequence of Asked
        The answers that count.
    rng : numpy.random.Generator
        Source of chance.
    """
    return belief.refitted(evidence(history, belief.prior), rng)


def held_out(belief: Posterior, history: Sequence[Asked], rng: np.random.Generator) -> HeldOut | None:
    """Predict preferences by what is learned without them; None where there are too few.

    An answer is kept aside together with whatever else was answered about the same pair.

    Parameters
    ----------
    belief : Posterior
        After all of `history`.
    history : sequence of Asked
        The answers.
    rng : numpy.random.Generator
        Source of chance.
    """
    subjects = [
        n if asked.question.repeat_of is None else asked.question.repeat_of - 1 for n, asked in enumerate(history)
    ]
    aside = [
        n
        for n, (question, answer) in enumerate(history)
        if question.purpose is Purpose.INFORMATIVE and answer.choice in PREFERENCES
    ]
    if len(aside) < _FEWEST:
        return None
    right = np.zeros(3, dtype=int)
    # Every fifth: each fold holds early and late questions.
    for fold in (aside[start::_FOLDS] for start in range(_FOLDS)):
        out = {subjects[n] for n in fold}
        kept = [asked for subject, asked in zip(subjects, history, strict=True) if subject not in out]
        weights = refitted(belief, kept, rng).middle
        for n in fold:
            question, sign = history[n].question, 1 if history[n].answer.choice is Choice.FIRST else -1
            learned = float(belief.prior.gain(*question.rates) @ weights)
            first, second = question.rates
            accuracy = float(np.trace(first) - np.trace(second))
            right += np.array([learned, accuracy, macro_f1(first) - macro_f1(second)]) * sign > 1e-12
    return HeldOut(int(right[0]), int(right[1]), int(right[2]), len(aside))


def macro_f1(rates: Matrix) -> float:
    """Return the mean over the classes of 2 C_ii / (row sum + column sum), C (k, k); 0 for a class without cases."""
    sums = rates.sum(axis=0) + rates.sum(axis=1)
    return float(np.divide(2 * np.diagonal(rates), sums, out=np.zeros(len(rates)), where=sums > 0).mean())


def misfits(procedure: Procedure, history: Sequence[Asked]) -> tuple[int, ...]:
    """Return the places, from 0, of the answers that do not fit what was learned from all of them.

    With a belief, an answer does not fit where all answers together make it unlikely, and no costs at all explain that
    the plainly worse side is chosen; a search has weights only.
    """
    belief = procedure.belief(history)
    if belief is not None:
        return _misfits(history, surprises_among(history, belief))
    outcome = procedure.conclude(history)
    return tuple(place for place, asked in enumerate(history) if not fits(asked, outcome))


def _misfits(history: Sequence[Asked], surprises: Sequence[Surprise]) -> tuple[int, ...]:
    worse = {n for n in _checks(history)[1] if history[n].answer.choice in PREFERENCES}
    return tuple(sorted(worse.union(surprise.index for surprise in surprises)))


def fits(asked: Asked, outcome: Outcome) -> bool:
    """Return whether an answer agrees with the weights that were learned ("cannot say" always does)."""
    first, second = asked.question.rates
    better = float(balance(outcome.weights, coordinates(first - second, outcome.family)))
    match asked.answer.choice:
        case Choice.FIRST:
            return better >= -_MARGIN
        case Choice.SECOND:
            return better <= _MARGIN
        case Choice.EQUAL:
            return abs(better) <= _EQUAL
        case Choice.UNSURE:
            return True


def balance(weights: Matrix, gains: Matrix) -> Matrix:
    """Return by how much the first side is better, as a share of all that is at stake, in [-1, 1]; weights (..., m)."""
    parts = weights * gains
    stake = np.abs(parts).sum(axis=-1)
    return np.asarray(np.divide(parts.sum(axis=-1), stake, out=np.zeros_like(stake), where=stake > 0))
