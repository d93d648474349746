"""How well earlier answers predicted each answer, compared with clicking at random."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from elicit_app.elicitation.agenda import SITTING
from elicit_app.elicitation.belief import Posterior
from elicit_app.elicitation.intervals import IntervalPosterior
from elicit_app.elicitation.linearity import PRIOR_OF_LINEAR, Linearity
from elicit_app.elicitation.prior import relative_weights
from elicit_app.elicitation.questions import (
    PREFERENCES,
    Answer,
    Asked,
    Choice,
    Matrix,
    Purpose,
    Question,
    Strength,
    rounding_cell,
)
from elicit_app.elicitation.response import Evidence, ends_of_scale, evidence, is_point

_RANDOM_PAIRS, _PAIRS_SEED = 200, 0x7505  # random pairs on which accuracy is judged

# Bits of evidence against chance below which answers look random: after a whole sitting, and before, when honest
# people fall this low by luck.
_RANDOM, _RANDOM_SO_FAR = -0.5, -2.5
# Between the first two a whole sitting is inconclusive. Once further checks follow, the evidence has to exceed
# `_DOUBTED`, and checks go on until it reaches `_DISPELLED`.
_OPEN_FROM, _OPEN_TO = -4.0, 3.0
_DOUBTED, _DISPELLED = 1.0, 4.5
_COMPETENT = 0.65  # share of random pairs answered correctly by the people who are compared with chance
# Beta prior of how often, by chance, no count of the scale makes both sides equal: honest people differ, too, by study.
_NO_COUNT = (1.0, 3.0)
_NEAR, _STAY = 1.15, 0.1  # a count within this factor of its start was left there; by this share of random answerers


class PredictiveScores(NamedTuple):
    """How each answer was predicted.

    Parameters
    ----------
    log_probability : ndarray of shape (n,)
        Natural logarithm of the probability that the belief before each answer gave it; 0 where nothing was said. The
        sum is the log-evidence of that belief's model (the statistic of a prequential test, Dawid 1984).
    log_ratio_to_chance : ndarray of shape (n,)
        Excess over the log-probability by chance, under which either side, either end of a scale, and any place on the
        log scale of a count is equally likely. Ties score 0 here, because how often they are given at random depends on
        the person.
    """

    log_probability: Matrix
    log_ratio_to_chance: Matrix


def predictive_scores(asked: Asked, belief: Posterior) -> tuple[float, float]:
    """Return the two values of `PredictiveScores` for one answer, given the belief before it."""
    said, choice = evidence([asked], belief.prior), asked.answer.choice
    if not said.n_answers:
        return 0.0, 0.0
    weights, involved = _involved_weights(said, belief)
    likely = belief.response.log_likelihood(weights, belief.person, said.restricted_to(involved))
    log_probability = float(np.log(np.exp(likely).mean()))
    if _finds_no_count(asked):
        return log_probability, log_probability - float(np.log(0.5))
    if len(said.points.cell):
        return log_probability, log_probability - float(np.log(random_count_probability(asked)))
    if choice not in PREFERENCES:
        return log_probability, 0.0
    gain = belief.prior.gain(*asked.shown.rates)[None, involved]
    latent = belief.response.latent(weights, belief.person, gain)
    first, second, _ = belief.response.answer_probabilities(latent, belief.person)[:, :, 0].mean(axis=1)
    chosen = first if choice is Choice.FIRST else second
    return log_probability, float(np.log(2 * chosen / (first + second)))


def likely_answers(belief: Posterior | None, question: Question) -> list[Answer]:
    """Return the answers that name no count, the likeliest first if there is a belief; "cannot say" is last."""
    answers = [Answer(choice, strength) for strength in (None, *Strength) for choice in PREFERENCES]
    answers.append(Answer(Choice.EQUAL))
    if belief is not None:
        log_probability = [predictive_scores(Asked(question, answer), belief)[0] for answer in answers]
        answers = [answers[n] for n in np.argsort(-np.round(log_probability, 9), kind="stable")]
    return [*answers, Answer(Choice.UNSURE)]


def _involved_weights(said: Evidence, belief: Posterior) -> tuple[Matrix, NDArray[np.intp]]:
    """Return draws of the weights that the answers involve, and their indices; all weights if there are few."""
    if not isinstance(belief, IntervalPosterior):
        return belief.weights, np.arange(belief.weights.shape[1])
    return relative_weights(belief.log_weights_of(said.involved)), said.involved


def _finds_no_count(asked: Asked) -> bool:
    """Return whether a side is preferred even at an end of the scale."""
    return is_point(asked) and asked.answer.choice in PREFERENCES


def random_count_probability(asked: Asked) -> float:
    """Return the probability of the named count if every place on the log scale is equally likely."""
    moved = asked.answer.moved
    assert moved is not None
    least, top = _scale(asked)
    # Nothing below the scale can be named: 0 counts as the first place.
    low, high = rounding_cell(max(moved.count, 1), int(top))
    low, high = max(low, least), max(min(high, top), least + 0.5)
    return float(np.log(high / low) / np.log(top / least))


def _scale(asked: Asked) -> tuple[float, float]:
    """Return both ends of the log scale on which a count was moved."""
    assert asked.answer.moved is not None
    least, most = ends_of_scale(asked.question, asked.answer.moved)
    return max(least, 1) - 0.5, most + 0.5


class EvidenceAgainstChance(NamedTuple):
    """Evidence, in bits, that the answers depend on what was shown rather than on chance.

    Parameters
    ----------
    checks, others : float
        From the dominated pairs, and from all other answers.
    answers : int
        Number of answers that carry evidence.
    n_extra_checks : int
        Checks since the last question of another kind.
    """

    checks: float
    others: float
    answers: int
    n_extra_checks: int = 0

    @property
    def total(self) -> float:
        """Return the evidence of all answers."""
        return self.checks + self.others

    @property
    def is_plain(self) -> bool:
        """Return whether the answers so far are plainly not chance, so that questions may end before a whole sitting.

        Those of random answers that happen to agree with each other would end early, too.
        """
        return self.total >= _OPEN_TO

    def looks_random(self, bits: float) -> bool:
        """Return whether so little evidence is what random answers give."""
        if self.answers < SITTING:
            return bits < _RANDOM_SO_FAR
        return bits < (_DOUBTED if self.n_extra_checks else _RANDOM)

    @property
    def is_inconclusive(self) -> bool:
        """Return whether a whole sitting is inconclusive, so that a few more answers may change the verdict."""
        return self.answers >= SITTING and _OPEN_FROM < self.total < self._open_to

    @property
    def may_be_inconclusive(self) -> bool:
        """Return whether a whole sitting may be inconclusive once rivals of linear costs are considered."""
        return self.answers >= SITTING and self.total + np.log2(PRIOR_OF_LINEAR) < self._open_to

    @property
    def _open_to(self) -> float:
        return _DISPELLED if self.n_extra_checks else _OPEN_TO

    def with_rivals(self, linearity: Linearity | None) -> EvidenceAgainstChance:
        """Add the evidence for rivals of linear costs: any amount, but at least log2(PRIOR_OF_LINEAR)."""
        if linearity is None:
            return self
        return self._replace(others=self.others + float(linearity.log_over_linear / np.log(2.0)))


def evidence_against_chance(
    history: Sequence[Asked],
    expected: PredictiveScores,
    prior_belief: Posterior,
    belief: Posterior,
    gains: Matrix | None,
) -> EvidenceAgainstChance | None:
    """Compare all answers with chance under linear costs; return None if nothing was said.

    The evidence is the sum of three parts: how much better earlier answers than chance predicted each answer
    (informative choices add little, whoever answers; counts, repeats and checks are predicted well unless nobody
    looks); how much better they predicted where "about equal" was said than the share of such answers; and the evidence
    that the person tells pairs apart, see `_bits_of_competence`.

    Parameters
    ----------
    history : sequence of Asked
        All answers.
    expected : PredictiveScores
        Predictions of the answers.
    prior_belief, belief : Posterior
        Belief before the first answer, and the current belief.
    gains : ndarray of shape (n, weights) or None
        Gains of random pairs; without them competence is not judged.
    """
    if not expected.log_ratio_to_chance.any():
        return None
    bits = (expected.log_ratio_to_chance + _log_ratios_of_ties(history, expected)) / np.log(2.0)
    checks = np.array([asked.question.purpose is Purpose.CHECK for asked in history])
    others = float(bits[~checks].sum()) + _bits_of_no_counts(history) + _bits_of_starts(history)
    if gains is not None:
        others += _bits_of_competence(accuracies(belief, gains), accuracies(prior_belief, gains))
    n_extra_checks = len(checks) - 1 - max(np.flatnonzero(~checks), default=-1)
    return EvidenceAgainstChance(
        float(bits[checks].sum()), float(others), int(np.count_nonzero(bits)), int(n_extra_checks)
    )


def random_pairs(
    gains_of: Callable[[int, np.random.Generator], Matrix | None],
) -> tuple[Matrix | None, np.random.Generator]:
    """Return the gains of the random pairs on which accuracy is judged, the same for everybody, and the generator.

    Parameters
    ----------
    gains_of : callable
        A procedure's `random_gains`.
    """
    rng = np.random.default_rng(_PAIRS_SEED)
    return gains_of(_RANDOM_PAIRS, rng), rng


def accuracies(belief: Posterior, gains: Matrix) -> Matrix:
    """Return the probability of choosing the better side of a random pair, shape (draws,)."""
    a, b, _ = belief.answer_probabilities(gains)
    return np.asarray((np.maximum(a, b) / (a + b)).mean(axis=1))


def _bits_of_starts(history: Sequence[Asked]) -> float:
    """Return minus the log-probability by chance, in bits, of which counts were left about where they stood at first.

    It is relative to any place of the scale. Somebody who hardly moves any count is predicted well, because the belief
    knows that people stay near the start; so one in ten who answer by chance is taken to leave any share of them there.
    """
    near, by_chance = [], []
    for asked in history:
        moved = asked.answer.moved
        if moved is None or asked.answer.choice is not Choice.EQUAL or not asked.question.asks_equal:
            continue
        least, top = _scale(asked)
        start = min(max(moved.start, least + 0.5), top - 0.5)
        low, high = max(min(start / _NEAR, start - 1.5), least), min(max(start * _NEAR, start + 1.5), top)
        near.append(low <= moved.count <= high)
        by_chance.append(float(np.log(high / low) / np.log(top / least)))
    left, anywhere, shares = np.array(near, dtype=bool), np.array(by_chance), (np.arange(50)[:, None] + 0.5) / 50
    times_likelier = np.where(left, (shares + (1 - shares) * anywhere) / anywhere, 1 - shares).prod(axis=1)
    return float(-np.log2(1 - _STAY + _STAY * times_likelier.mean()))


def _log_ratios_of_ties(history: Sequence[Asked], expected: PredictiveScores) -> Matrix:
    """Return how much better than by this person's share of ties it was predicted where they said "about equal".

    The natural logarithm for each answer, shape (n,); 0 for counts and graded sides, and everywhere if there is no tie.
    """
    plain = np.array([asked.answer.moved is None and asked.answer.strength is None for asked in history])
    tied = plain & np.array([asked.answer.choice is Choice.EQUAL for asked in history])
    aside = plain & np.array([asked.answer.picks_a_side for asked in history])
    found = np.zeros(len(history))
    if not tied.any():
        return found
    share = tied.sum() / (tied.sum() + aside.sum())
    found[tied] = expected.log_probability[tied] - np.log(share)
    if aside.any():
        of_side = expected.log_ratio_to_chance - np.log(2.0)  # of the chosen side, if one is chosen
        found[aside] = (expected.log_probability - of_side)[aside] - np.log1p(-share)
    return found


def _bits_of_no_counts(history: Sequence[Asked]) -> float:
    """Return minus the log-probability, in bits, of when a count was named and when none, at an unknown rate."""
    none = sum(_finds_no_count(asked) for asked in history)
    named = sum(asked.answer.moved is not None for asked in history) - none
    often, seldom = _NO_COUNT
    return float((betaln(often, seldom) - betaln(often + none, seldom + named)) / np.log(2.0))


def _bits_of_competence(right: Matrix, prior_belief: Matrix) -> float:
    """Return the evidence, in bits, that the person tells pairs apart, relative to everybody the belief allows for.

    The belief allows for people close to random, who would explain random answers; chance is compared with the others.

    Parameters
    ----------
    right, prior_belief : ndarray of shape (draws,)
        Probability of a correct answer to a random pair, given the answers and before them.
    """
    before = float((prior_belief >= _COMPETENT).mean())
    now = max(float((right >= _COMPETENT).mean()), 0.5 / len(right))
    return float(np.log2(now / before)) if before else 0.0
