"""Whether the answers can be trusted: what repeats, checks, sides and the belief say about the person who gave them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Literal, NamedTuple

import numpy as np

from elicit_app.elicitation.agenda import better_side
from elicit_app.elicitation.belief import Posterior
from elicit_app.elicitation.conflicting_counts import ConflictingCounts, conflicting_counts
from elicit_app.elicitation.predictive import EvidenceAgainstChance, accuracies, random_pairs
from elicit_app.elicitation.prior import MOST_JOINTLY
from elicit_app.elicitation.procedure import Outcome, Procedure
from elicit_app.elicitation.questions import PREFERENCES, Asked, Choice, Matrix, Purpose, Side
from elicit_app.elicitation.response import evidence
from elicit_app.elicitation.utilities import coordinates
from metrics.measures.confusion import macro_f1

Verdict = Literal["trusted", "reservations", "untrusted"]
Name = Literal["random", "same_side", "reversed", "insensitive", "changed", "lexicographic", "surprises", "no_better"]

_SURPRISING = 0.7  # probability of another answer, given this one too, from which this one is a surprise
_FAR_OFF = 0.025  # probability of a count as small, or as large, below which it is a surprise
_SAME_SIDE_GRAVE, _SAME_SIDE = 0.002, 0.01  # probability, by chance, of answers as one-sided as these
_INSENSITIVE = 0.55  # probability of answering a random pair correctly below which answers are close to random
_CHANGED = 2.6  # bits by which each half of the answers predicts the other half's sides worse than a coin, on average
_EDGE = 0.5  # probability of a lead that the prior hardly allows
_NO_BETTER = -5  # fewer correct predictions by this many cannot be the luck of near ties


_FOLDS, _FEWEST = 5, 8  # parts held out in turn; preferences that this requires
# For a search: an answer does not fit if the other side is better by more than this share of all that is at stake.
_MARGIN = 0.05
# "About equal" fits unless one side weighs more than twice the other: (2 - 1) / (2 + 1).
_EQUAL = 1 / 3


class HeldOut(NamedTuple):
    """How many of `total` preferences, each held out once, every rule predicts correctly; a tie predicts nothing.

    Parameters
    ----------
    learned : int
        By the metric fitted without them.
    accuracy, f1 : int
        By the greater accuracy, and by the greater macro F1 score.
    total : int
        Number of held-out preferences.
    expected : float
        How many `learned` is expected to be, of answers as noisy as these. Questions are near ties, so it is often not
        much more than half.
    """

    learned: int
    accuracy: int
    f1: int
    total: int
    expected: float


@dataclass(frozen=True)
class Count:
    """A number out of a total."""

    right: int
    total: int


@dataclass(frozen=True)
class Surprise:
    """An answer made unlikely by the others: its `index` in the history, and its `probability` given all answers."""

    index: int
    probability: float


@dataclass(frozen=True)
class Suspicion:
    """One way in which answers may not mean what they say.

    Parameters
    ----------
    name : str
        random: clicks without looking; same_side: always left or always right; reversed: chooses the worse side;
        insensitive: hardly distinguishes pairs; changed: the second half contradicts the first; lexicographic: one
        mistake outweighs everything, by more than any question can show; surprises: many answers do not fit;
        no_better: the metric predicts held-out answers worse than F1, and F1 predicts better than accuracy.
    flagged : bool
        Whether it is suspected.
    value : float
        The number on which the suspicion is based.
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
        Pairs answered the same way twice; dominated pairs answered correctly.
    failed_checks : tuple of int
        Indices of the checks answered wrongly.
    explained : Count
        Answers that are no surprise, out of those with content.
    misfits : tuple of int
        Indices of the others.
    surprises : tuple of Surprise
        With a belief: the misfits that all answers make unlikely, and their probabilities.
    suspicions : tuple of Suspicion
        Everything that was examined, flagged or not.
    accuracy : float or None
        Expected probability of a correct answer to a random pair, given all answers; None without a belief.
    held_out : HeldOut or None
        None without a belief, or if there are too few answers.
    conflict : ConflictingCounts or None
        The two most distant counts, apart from surprises; None if no counts differ so much.
    verdict : {"trusted", "reservations", "untrusted"}
        Untrusted if a grave suspicion is flagged; reservations if any is, if counts lie far apart, or if nothing was
        said.
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
    conflict: ConflictingCounts | None
    verdict: Verdict

    def suspicion(self, name: Name) -> Suspicion | None:
        """Return the finding with a name, or None if it could not be examined."""
        return next((one for one in self.suspicions if one.name == name), None)

    def flagged(self, name: Name) -> bool:
        """Return whether a suspicion is flagged."""
        found = self.suspicion(name)
        return found is not None and found.flagged


def trust_report(
    procedure: Procedure, history: Sequence[Asked], sides: Sequence[Side] | None = None, outcome: Outcome | None = None
) -> TrustReport:
    """Judge a history of answers by repeats, dominated pairs, sides and the belief.

    Parameters
    ----------
    procedure : Procedure
        The procedure that asked. Only bayes has a belief; for the others repeats, checks and sides are judged.
    history : sequence of Asked
        All answers.
    sides : sequence of {"first", "second"}, optional
        Which matrix of each question was on the left; by default the first.
    outcome : Outcome, optional
        What was learned from `history`, if it is known; by default it is computed where it is needed.
    """
    history = list(history)
    repeats, (checks, failed) = _repeats(history), _checks(history)
    worse = sum(history[n].answer.choice in PREFERENCES for n in failed)
    suspicions = [_same_side(history, sides)]
    surprises: tuple[Surprise, ...] = ()
    accuracy = bits = held_out_counts = None
    n_answered = sum(asked.answer.choice is not Choice.UNSURE for asked in history)
    belief, prior_belief = procedure.belief(history), procedure.belief([])
    if belief is not None and prior_belief is not None and n_answered:
        surprises = surprises_among(history, belief)
        gains, rng = random_pairs(procedure.random_gains)
        bits = procedure.evidence_against_chance(history)
        accuracy = None if gains is None else float(accuracies(belief, gains).mean())
        held_out_counts = held_out(belief, history, rng)
        suspicions += _of_belief(belief, history, accuracy, rng)
        edge = _at_the_edge(belief, prior_belief, rng)
        beyond = edge > _EDGE and _lead_is_open(outcome or procedure.conclude(history))
        suspicions.append(Suspicion("lexicographic", beyond, edge))
        if held_out_counts is not None:
            better = held_out_counts.learned - held_out_counts.f1
            # Accuracy is a linear metric: a person who goes by it is learned only later than the metric can be guessed.
            poor = better < _NO_BETTER and held_out_counts.f1 > held_out_counts.accuracy
            suspicions.append(Suspicion("no_better", poor, float(better)))
    suspicions += _check_suspicions(repeats, checks, worse, bits)
    odd: tuple[int, ...] = ()
    if n_answered:
        odd = misfits(procedure, history, outcome) if belief is None else _misfits(history, surprises)
    explained = Count(n_answered - len(odd), n_answered)
    share = len(odd) / max(n_answered, 1)
    suspicions.append(Suspicion("surprises", share > 0.25, share))
    found = tuple(suspicions)
    conflict = conflicting_counts(procedure, history, odd)
    verdict = _verdict(found, conflict, n_answered)
    return TrustReport(
        repeats, checks, failed, explained, odd, surprises, found, accuracy, held_out_counts, conflict, verdict
    )


def _verdict(suspicions: Sequence[Suspicion], conflict: ConflictingCounts | None, n_answered: int) -> Verdict:
    flagged = [one for one in suspicions if one.flagged]
    if any(one.grave for one in flagged):
        return "untrusted"
    return "reservations" if flagged or conflict is not None or not n_answered else "trusted"


def _repeats(history: Sequence[Asked]) -> Count:
    right = total = 0
    for n, (question, answer) in enumerate(history):
        if question.purpose is not Purpose.REPEAT or question.repeat_of is None or question.repeat_of > n:
            continue
        if question.common_base:  # another pair, which only a person with linear values answers alike
            continue
        first = history[question.repeat_of - 1]
        if Choice.UNSURE in (answer.choice, first.answer.choice):
            continue
        same_order = question.same_as(first.question)
        total += 1
        said = zip(
            (answer.choice, _implied_choice(history[n])), (first.answer.choice, _implied_choice(first)), strict=True
        )
        right += any(again is (before if same_order else before.swapped()) for again, before in said)
    return Count(right, total)


def _implied_choice(asked: Asked) -> Choice:
    """Return what an answer says about the pair as it was asked.

    Where it took fewer of a mistake to make both sides equal, the side that had more of it was the worse one.
    """
    (question, answer), moved = asked, asked.answer.moved
    if moved is None or answer.choice is not Choice.EQUAL:
        return answer.choice
    had = int((question.first if moved.side == "first" else question.second)[moved.true, moved.predicted])
    if had == moved.count:
        return Choice.EQUAL
    return Choice.SECOND if (moved.side == "first") == (had > moved.count) else Choice.FIRST


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
    """Suspect a side that a fair coin would rarely give so often; the value is that probability."""
    left_sides = ["first"] * len(history) if sides is None else sides
    left = [answer.choice == side for (_, answer), side in zip(history, left_sides, strict=True) if answer.picks_a_side]
    n, most = len(left), max(sum(left), len(left) - sum(left))
    chance = min(1.0, 2 * sum(comb(n, more) for more in range(most, n + 1)) / 2**n)
    return Suspicion("same_side", chance < _SAME_SIDE, chance, grave=chance < _SAME_SIDE_GRAVE)


def _check_suspicions(repeats: Count, checks: Count, worse: int, bits: EvidenceAgainstChance | None) -> list[Suspicion]:
    """Distinguish a person who steadily takes the worse side, in `worse` checks, from one who does not look."""
    wrong = checks.total - checks.right
    # With a belief, its predictions show whether the answers are steady; without one, the repeats do.
    steady = 2 * repeats.right >= repeats.total if bits is None else not bits.looks_random(bits.others)
    always = worse == checks.total and 0 < repeats.total == repeats.right
    # The worse side is meant only if some pair was answered twice, and more than one slip shows it.
    backwards = worse >= min(2, checks.total) > 0 and 2 * worse >= checks.total and repeats.total > 0
    backwards = backwards and (steady or always)
    careless = not backwards and (wrong > 0 or not steady if bits is None else bits.looks_random(bits.total))
    evidence_bits = bits.total if bits is not None else float(repeats.right - repeats.total)
    return [
        Suspicion("reversed", backwards, worse / max(checks.total, 1), grave=True),
        Suspicion("random", careless, evidence_bits, grave=True),
    ]


def surprises_among(history: Sequence[Asked], belief: Posterior) -> tuple[Surprise, ...]:
    """Find the answers that all answers together make unlikely, under posterior predictions.

    These are: a side while the other one is likely; a tie while one side is likely and outweighs the other; a count
    outside the range that holds nineteen in twenty of the counts that this person would name.

    Parameters
    ----------
    history : sequence of Asked
        All answers.
    belief : Posterior
        Belief after all answers.
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
    """Return whether an answer other than the given choice is likely, and the probability of the choice.

    A tie is odd only if one side clearly outweighs the other, because "about equal" need not be exact.
    """
    answer, gain = asked.answer, belief.prior.gain(*asked.shown.rates)
    first, second, equal = belief.answer_probabilities(gain[None])[:, :, 0]
    if answer.choice is Choice.EQUAL:
        share = balance(belief.weights, gain)
        against = max((first * (share > _EQUAL)).mean(), (second * (share < -_EQUAL)).mean())
        return bool(against >= _SURPRISING), float(equal.mean())
    given, against = (first, second) if answer.choice is Choice.FIRST else (second, first)
    return bool(against.mean() >= _SURPRISING), float(given.mean())


def _of_belief(
    belief: Posterior, history: Sequence[Asked], accuracy: float | None, rng: np.random.Generator
) -> list[Suspicion]:
    found = [] if accuracy is None else [Suspicion("insensitive", accuracy < _INSENSITIVE, accuracy)]
    change = _change(belief, history, rng)
    if change is not None:
        found.append(Suspicion("changed", change > _CHANGED, change))
    return found


def _change(belief: Posterior, history: Sequence[Asked], rng: np.random.Generator) -> float | None:
    """Return the bits by which the two halves contradict each other, that is, how badly one predicts the other."""
    answered = [asked for asked in history if asked.answer.choice is not Choice.UNSURE]
    half = len(answered) // 2
    if half < 5:
        return None
    halves = answered[:half], answered[half:]
    lost = 0.0
    for mine, other in (halves, halves[::-1]):
        # Only sides can be compared with a coin: the probability of a count depends on the scale, and ties are rare.
        sides = [asked for asked in other if asked.answer.picks_a_side]
        fitted = refitted(belief, mine, rng)
        for asked in sides:
            first, second = _side_probabilities(fitted, belief.prior.gain(*asked.question.rates))
            lost -= float(np.log2(2 * (first if asked.answer.choice is Choice.FIRST else second)))
    return lost / 2


def _side_probabilities(belief: Posterior, gain: Matrix) -> Matrix:
    """Return the probability of each side of a pair, shape (2,), if one of them is chosen."""
    sides = belief.answer_probabilities(gain[None])[:2, :, 0].mean(axis=1)
    return np.asarray(sides / sides.sum())


def _at_the_edge(belief: Posterior, prior_belief: Posterior, rng: np.random.Generator) -> float:
    """Return the probability that the largest weight leads the next by more than in 95 % of the prior.

    With few weights the prior is sampled again, often enough to know its tail; with many its draws are reused.
    """
    if belief.prior.size < 2:
        return 0.0

    def lead(logs: Matrix) -> Matrix:
        top = np.partition(logs, -2, axis=1)
        return np.asarray(top[:, -1] - top[:, -2])

    m = belief.prior.size
    few = m <= MOST_JOINTLY
    beforehand = belief.prior.log_weights(rng.standard_normal((2000, m))) if few else prior_belief.log_weights
    usual = np.quantile(lead(beforehand), 0.95)
    return float((lead(np.log(belief.weights)) > usual).mean())


def _lead_is_open(outcome: Outcome) -> bool:
    """Return whether no question could have shown by how much the largest weight leads the next."""
    return outcome.bounded[int(np.argsort(np.abs(outcome.weights))[-2])] is not None


def refitted(belief: Posterior, history: Sequence[Asked], rng: np.random.Generator) -> Posterior:
    """Return the posterior after `history` alone, by moving the draws of a nearby posterior.

    Parameters
    ----------
    belief : Posterior
        Belief after `history` and some more answers.
    history : sequence of Asked
        The answers to use.
    rng : numpy.random.Generator
        Source of randomness.
    """
    return belief.refitted(evidence(history, belief.prior), rng)


def held_out(belief: Posterior, history: Sequence[Asked], rng: np.random.Generator) -> HeldOut | None:
    """Predict preferences by what is learned without them; None if there are too few.

    An answer is held out together with all other answers about the same pair. "No count makes both equal" is not among
    them: it is only said where a count was expected, so predicting it would put the metric at a disadvantage.

    Parameters
    ----------
    belief : Posterior
        Belief after all of `history`.
    history : sequence of Asked
        The answers.
    rng : numpy.random.Generator
        Source of randomness.
    """
    subjects = [
        n if asked.question.repeat_of is None else asked.question.repeat_of - 1 for n, asked in enumerate(history)
    ]
    preference_places = [
        n
        for n, (question, answer) in enumerate(history)
        if question.purpose is Purpose.INFORMATIVE and answer.picks_a_side
    ]
    if len(preference_places) < _FEWEST:
        return None
    right, expected = np.zeros(3, dtype=int), 0.0
    # Every fifth preference, so that each fold holds early and late questions.
    for fold in (preference_places[start::_FOLDS] for start in range(_FOLDS)):
        out = {subjects[n] for n in fold}
        kept = [asked for subject, asked in zip(subjects, history, strict=True) if subject not in out]
        fitted = refitted(belief, kept, rng)
        for n in fold:
            (first, second), sign = history[n].question.rates, 1 if history[n].answer.choice is Choice.FIRST else -1
            gain = belief.prior.gain(first, second)
            learned = fitted.estimated(gain)
            expected += float(_side_probabilities(fitted, gain)[0 if learned > 0 else 1])
            accuracy = float(np.trace(first) - np.trace(second))
            right += np.array([learned, accuracy, float(macro_f1(first) - macro_f1(second))]) * sign > 1e-12
    return HeldOut(int(right[0]), int(right[1]), int(right[2]), len(preference_places), expected)


def misfits(procedure: Procedure, history: Sequence[Asked], outcome: Outcome | None = None) -> tuple[int, ...]:
    """Return the indices of the answers that do not fit what was learned from all of them, `outcome` if it is known.

    With a belief, an answer does not fit if all answers together make it unlikely, or if it takes the dominated side,
    which no costs explain. A search has only its weights to compare with.
    """
    belief = procedure.belief(history)
    if belief is not None:
        return _misfits(history, surprises_among(history, belief))
    learned = outcome or procedure.conclude(history)
    return tuple(place for place, asked in enumerate(history) if not fits(asked, learned))


def _misfits(history: Sequence[Asked], surprises: Sequence[Surprise]) -> tuple[int, ...]:
    worse = {n for n in _checks(history)[1] if history[n].answer.choice in PREFERENCES}
    return tuple(sorted(worse.union(surprise.index for surprise in surprises)))


def fits(asked: Asked, outcome: Outcome) -> bool:
    """Return whether an answer agrees with the learned weights ("cannot say" always does)."""
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
    """Return the advantage of the first side as a share of all that is at stake, in [-1, 1]; weights (..., m)."""
    parts = weights * gains
    stake = np.abs(parts).sum(axis=-1)
    return np.asarray(np.divide(parts.sum(axis=-1), stake, out=np.zeros_like(stake), where=stake > 0))
