"""Evidence from the answers for linear costs and for rival ways to value results.

The rivals are: counts felt less than in proportion (a power), the worst recall of a class, a limit on the misses of
the gravest class, and the macro-averaged F1 score. All share the same prior of how people err, so that they differ
only in what is valued. A power is homogeneous: only pairs with a common base of one mistake on both sides distinguish
it from linear costs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, ndtr

from elicit_app.elicitation.belief import ParticlePosterior, prior_draws, shares_of_best
from elicit_app.elicitation.prior import WeightPrior, relative_weights
from elicit_app.elicitation.questions import Asked, Choice, Matrix
from elicit_app.elicitation.response import (
    N_PARAMETERS,
    EqualPoints,
    Evidence,
    Person,
    ResponseModel,
    evidence,
    is_point,
    log_amounts,
)
from elicit_app.elicitation.sampler import LogDensity, annealing, bridging
from metrics.batches import completed
from metrics.elicited.family import family_of
from metrics.measures.confusion import macro_f1

Rival = Literal["concave", "minimax", "threshold", "f1"]

POWER = 0.6  # exponent of felt counts
# Bayes factors against linear costs above which a rival is named, set on simulated people (see docs/method)
BAYES_FACTORS: dict[Rival, float] = {"concave": 10.0, "minimax": 5.0, "threshold": 5.0, "f1": 5.0}
BAYES_FACTOR_ON_BASES = 3.0  # less suffices with questions made to detect felt counts: linear people stay far below
ENOUGH_BASES = 2  # answered questions with a common base that this requires
MOSTLY_KEPT = 0.5  # probability above which some result shown is taken to keep the limit
PRIOR_OF_LINEAR = 0.8  # the rivals share the rest
SHARE_OF_NAMED = 0.25  # prior probability of a named rival when all hypotheses are compared with chance
# Equal costs, of cases or of shares, need no weights either and mostly agree with F1 and worst recall, which have to be
# twice as good.
EQUAL_COSTS = 0.4

_PARTICLES, _USUAL = 600, 300
_COUNTS_TRIED = 400  # counts tried along a scale, to find where a score is the same on both sides
_BEYOND = 1.5  # times the largest possible count: the equal point of a person for whom no count is large enough
_SAME = 1e-12
_LEAST_LIMIT, _MOST_LIMIT = 0.01, 0.3  # range of the limit on the miss rate of the gravest class
_OUT_OF_THE_QUESTION = 6.0  # penalty, in typical differences, of a result beyond the limit

Utilities = Callable[[Matrix], Matrix]
Latent = Callable[[Matrix, Person], Matrix]  # from weights and how people answer, shape (draws, choices)


@dataclass(frozen=True, eq=False)
class Linearity:
    """How well linear costs and their rivals explain the answers.

    Parameters
    ----------
    log_bayes_factors : dict of str to float
        Natural logarithm of the evidence for each rival over that for linear costs; for a rival without weights, over
        that for equal costs if those explain the answers better.
    best_probabilities : dict of str to ndarray of shape (models,)
        Under each rival, the probability that each model of the study is the best.
    n_common_bases : int
        Number of answers to questions with a common base, which are designed to detect felt counts.
    limit_kept_probability : float
        Under "threshold", the probability that any result shown keeps the limit; if none does, one class alone counted.
    """

    log_bayes_factors: dict[Rival, float]
    best_probabilities: dict[Rival, Matrix]
    n_common_bases: int = 0
    limit_kept_probability: float = 1.0

    @property
    def rival(self) -> Rival | None:
        """Return the rival that explains the answers clearly better than linear costs, or None."""
        clear = {name: value for name, value in self.log_bayes_factors.items() if value > self._needed(name)}
        return max(clear, key=clear.__getitem__, default=None)

    def _needed(self, name: Rival) -> float:
        on_bases = name == "concave" and self.n_common_bases >= ENOUGH_BASES
        if name == "threshold" and self.limit_kept_probability <= MOSTLY_KEPT:  # linear costs of one class say as much
            return float("inf")
        return float(np.log(BAYES_FACTOR_ON_BASES if on_bases else BAYES_FACTORS[name]))

    @property
    def probabilities(self) -> dict[str, float]:
        """Return the posterior probability of "linear" and of each rival."""
        each = (1.0 - PRIOR_OF_LINEAR) / len(self.log_bayes_factors) / PRIOR_OF_LINEAR
        odds = {name: each * np.exp(min(value, 500.0)) for name, value in self.log_bayes_factors.items()}
        total = 1.0 + sum(odds.values())
        return {"linear": float(1.0 / total), **{name: float(value / total) for name, value in odds.items()}}

    @property
    def log_over_linear(self) -> float:
        """Return the log-evidence for linear costs and all rivals together over that for linear costs alone.

        The hypotheses are weighted by their prior probabilities, except that a named rival gets more: a person with
        other values does not answer at random, however badly linear costs predict the answers. It does not get full
        weight, because the best of four rivals explains random answers a little, too.
        """
        named, share = self.rival, (1.0 - PRIOR_OF_LINEAR) / len(self.log_bayes_factors)
        shares = {name: SHARE_OF_NAMED if name == named else share for name in self.log_bayes_factors}
        logs = [value + np.log(shares[name]) for name, value in self.log_bayes_factors.items()]
        return float(logsumexp([np.log(PRIOR_OF_LINEAR), *logs]))

    def probability_best(self, of_linear: Matrix) -> Matrix:
        """Return the probability that each model is the best, given that under linear costs, shape (models,)."""
        share = self.probabilities
        return np.asarray(
            share["linear"] * of_linear
            + sum(share[name] * best_probabilities for name, best_probabilities in self.best_probabilities.items())
        )


class _Pairs(NamedTuple):
    """Both sides of pairs as rates, each of shape (n, k, k)."""

    first: Matrix
    second: Matrix


class _Scales(NamedTuple):
    """The named counts: both sides, in cases of `population`; shapes begin with n, the number of counts."""

    true: NDArray[np.intp]  # the mistake whose count was moved
    predicted: NDArray[np.intp]
    moved: Matrix  # (n, k, k): the side on which it was moved, with none of this mistake
    other: Matrix  # (n, k, k): the other side
    population: Matrix  # cases of each side

    @classmethod
    def of(cls, counts: Sequence[Asked], n_classes: int) -> _Scales:
        """Collect the named counts."""
        cells, sides = [], []
        for question, answer in counts:
            moved = answer.moved
            assert moved is not None
            both = [np.array(one, dtype=np.float64) for one in (question.first, question.second)]
            side, other = both if moved.side == "first" else both[::-1]
            side[moved.true, moved.true] += side[moved.true, moved.predicted]
            side[moved.true, moved.predicted] = 0.0
            cells.append((moved.true, moved.predicted))
            sides.append((side, other))
        true, predicted = np.array(cells, dtype=np.intp).reshape(-1, 2).T
        moved_sides, others = np.array(sides).reshape(-1, 2, n_classes, n_classes).swapaxes(0, 1)
        return cls(true, predicted, moved_sides, others, others.sum(axis=(1, 2)))

    @property
    def base(self) -> Matrix:
        """Return the count of the moved mistake on the other side, shape (n,)."""
        return np.asarray(self.other[np.arange(len(self.true)), self.true, self.predicted])

    @property
    def most(self) -> Matrix:
        """Return the largest possible count, shape (n,)."""
        return np.asarray(self.moved[np.arange(len(self.true)), self.true, self.true])

    def log_amounts(self, count: Matrix) -> Matrix:
        """Return log D of counts (..., n), taken as at least half a case above the other side's."""
        return np.asarray(np.log(np.maximum(count - self.base, 0.5) / self.population))


@dataclass(frozen=True, eq=False)
class _Answered:
    """The answers in the form that all rivals share: the same choices and the same counts."""

    evidence: Evidence  # as linear costs see them
    pairs: _Pairs  # of the choices; a moved count is where the person left it
    scales: _Scales  # of the counts

    @classmethod
    def of(cls, history: Sequence[Asked], prior: WeightPrior) -> _Answered:
        """Collect the answers of a history; "cannot say" is left out."""
        k = prior.n_classes
        choices = [asked for asked in history if asked.answer.choice is not Choice.UNSURE and not is_point(asked)]
        counts = [asked for asked in history if len(evidence([asked], prior).points.cell)]
        return cls(evidence(history, prior), _pairs_of(choices, (k, k)), _Scales.of(counts, k))

    def log_likelihood(self, response: ResponseModel, person: Person, latent: Matrix, exact: Matrix) -> Matrix:
        """Return the log-likelihood, shape (draws,), of answers of the drawn persons.

        `latent`, (draws, choices), are preferences for the first side, and `exact`, (draws or 1, counts), logarithms of
        the amounts at which both sides are equally bad.
        """
        choices, points = self.evidence
        fit = np.zeros(len(person.lapse))
        if len(choices.gain):
            fit += response.choice_log_likelihood(latent * choices.sign, person, choices).sum(axis=1)
        if len(points.cell):
            fit += response.exact_point_log_likelihood(exact, person, points).sum(axis=1)
        return fit


def check_linearity(
    history: Sequence[Asked],
    belief: ParticlePosterior,
    log_evidence: float,
    typical: Matrix,
    models: Matrix,
    rng: np.random.Generator,
) -> Linearity:
    """Compare linear costs with their rivals by the evidence of the answers; takes about half a second.

    Parameters
    ----------
    history : sequence of Asked
        The answers; both choices and counts are evidence for every rival.
    belief : ParticlePosterior
        Belief after these answers, under linear costs.
    log_evidence : float
        Natural logarithm of the evidence for linear costs.
    typical : ndarray of shape (t, k, k)
        Rates of typical achievable decisions, whose differences set the unit of every utility.
    models : ndarray of shape (n, k, k)
        Rates of the models of the study, among which the best is sought.
    rng : numpy.random.Generator
        Source of chance.
    """
    prior, answered = belief.prior, _Answered.of(history, belief.prior)
    usual = _Pairs(*typical[rng.integers(len(typical), size=(2, _USUAL))])
    weighted = _Weighted(prior, belief.response)
    found: dict[Rival, float] = {}
    best_probabilities: dict[Rival, Matrix] = {}
    felt = weighted.felt(answered, _felt_points(history, prior))
    found["concave"], draws = completed(bridging(belief.draws, weighted.straight(answered), felt, rng))
    weights = relative_weights(POWER * prior.log_weights(draws[:, : prior.size]))
    best_probabilities["concave"] = shares_of_best(weights @ _gains_of_each(models, prior, POWER).T)
    limited = _Limited(prior, belief.response, usual)
    evidence_of_limit, draws = limited.limited_evidence(answered, rng)
    found["threshold"] = evidence_of_limit - log_evidence
    best_probabilities["threshold"] = shares_of_best(limited.utilities(draws, models))
    limit_kept_probability = limited.limit_kept_probability(draws, _pairs_of(history, models.shape[1:]))
    scores: tuple[tuple[Rival, Utilities], ...] = (("minimax", _worst_recall), ("f1", macro_f1))
    plain: list[Utilities] = [partial(_equal_costs, prior), *([_mean_recall] if prior.centre.any() else [])]
    of_equal = max(_evidence_of_a_score(score, answered, usual, rng) for score in plain) + np.log(EQUAL_COSTS)
    for name, score in scores:
        found[name] = _evidence_of_a_score(score, answered, usual, rng) - max(log_evidence, of_equal)
        best_probabilities[name] = shares_of_best(score(models)[None])
    n_common_bases = sum(one.question.common_base and one.answer.choice is not Choice.UNSURE for one in history)
    return Linearity(found, best_probabilities, n_common_bases, limit_kept_probability)


def _pairs_of(shown: Sequence[Asked], shape: tuple[int, ...]) -> _Pairs:
    """Return both sides of what was shown, a moved count where the person left it."""
    rates = [asked.shown.rates for asked in shown]
    return _Pairs(*np.array(rates).reshape(-1, 2, *shape).swapaxes(0, 1))


def _felt_points(history: Sequence[Asked], prior: WeightPrior) -> EqualPoints:
    """Return the equal points as felt by a power: a base of the mistake that is not moved makes it count less."""
    points = evidence(history, prior).points
    rest = []
    for asked in history:
        moved = asked.answer.moved
        if moved is None or not len(evidence([asked], prior).points.cell):
            continue
        first, second = (side[None] for side in asked.shown.rates)
        rest.append(gains_if_felt(first, second, prior)[0] * (1.0 if moved.side == "first" else -1.0))
    felt = np.array(rest).reshape(points.rest.shape)
    felt[np.arange(len(felt)), points.cell] = 0.0
    return points._replace(rest=felt)


def gains_if_felt(first: Matrix, second: Matrix, prior: WeightPrior) -> Matrix:
    """Return gains, shape (n, m), for which linear costs choose as a person does who feels mistakes by a power.

    A power is homogeneous: without a common base, such a person chooses in a two-mistake trade as linear costs w^(1/p)
    do. These gains therefore differ from the real ones only where there is a base.

    Parameters
    ----------
    first, second : ndarray of shape (n, k, k)
        Rates of both sides.
    prior : WeightPrior
        Determines which mistakes are weighed.
    """
    felt = _gains(_Pairs(first, second), prior, POWER)
    return np.asarray(np.sign(felt) * np.abs(felt) ** (1.0 / POWER))


def _gains(pairs: _Pairs, prior: WeightPrior, power: float) -> Matrix:
    """Return the gains, shape (n, m), of pairs whose misses are raised to a power."""
    return _gains_of_each(pairs.first, prior, power) - _gains_of_each(pairs.second, prior, power)


def _gains_of_each(matrices: Matrix, prior: WeightPrior, power: float) -> Matrix:
    return np.asarray(-(np.maximum(family_of(prior.family).misses(matrices), 0.0) ** power))


def _equal_costs(prior: WeightPrior, matrices: Matrix) -> Matrix:
    return np.asarray(_gains_of_each(matrices, prior, 1.0).sum(axis=-1))


def _mean_recall(matrices: Matrix) -> Matrix:
    return np.asarray(1.0 - miss_rates(matrices).mean(axis=-1))


def _worst_recall(matrices: Matrix) -> Matrix:
    return np.asarray(1.0 - miss_rates(matrices).max(axis=-1))


class _Weighted:
    """Costs that weigh counts, as they are or as they are felt."""

    def __init__(self, prior: WeightPrior, response: ResponseModel) -> None:
        self.prior, self.response = prior, response

    def straight(self, answered: _Answered) -> LogDensity:
        """Return the log-likelihood of linear costs."""
        gains = _gains(answered.pairs, self.prior, 1.0)

        def latent(weights: Matrix, person: Person) -> Matrix:
            return self.response.latent(weights, person, gains)

        return self._log_likelihood(answered, latent, answered.evidence.points)

    def felt(self, answered: _Answered, points: EqualPoints) -> LogDensity:
        """Return the log-likelihood of felt counts, in terms of the equivalent linear person; `points` are as felt.

        The weights are those of the linear person who makes the same choices where there is no base. Only bases, and
        trades of three mistakes, therefore distinguish the two.
        """
        gains = _gains(answered.pairs, self.prior, POWER)
        more, less = np.maximum(gains, 0.0).T, np.maximum(-gains, 0.0).T

        def latent(weights: Matrix, person: Person) -> Matrix:
            felt = weights**POWER
            good, bad = (np.log(np.maximum(felt @ side, 1e-300)) / POWER for side in (more, less))
            return self.response.latent_of_logs(good, bad, weights, person)

        return self._log_likelihood(answered, latent, points)

    def _log_likelihood(self, answered: _Answered, latent: Latent, points: EqualPoints) -> LogDensity:
        m = self.prior.size

        def log_likelihood(draws: Matrix) -> Matrix:
            logs, person = self.prior.log_weights(draws[:, :m]), self.response.person(draws[:, m:])
            weights = relative_weights(logs)
            exact = log_amounts(weights, points)
            fit = answered.log_likelihood(self.response, person, latent(weights, person), exact)
            return np.asarray(np.where(self.prior.allowed(logs), fit, -1e9))

        return log_likelihood


class _Limited:
    """Linear costs while the miss rate of the gravest class is within a limit; beyond it, only its misses count."""

    def __init__(self, prior: WeightPrior, response: ResponseModel, usual: _Pairs) -> None:
        self.prior, self.response = prior, response
        apart = np.abs(miss_rates(usual.first) - miss_rates(usual.second))
        self.unit = float(max(np.median(apart), 1e-3))

    def limits(self, draws: Matrix) -> tuple[Matrix, NDArray[np.intp]]:
        """Return the limit, shape (n,), and the gravest class (largest weight) of draws (n, m + 9)."""
        top = np.argmax(self.prior.log_weights(draws[:, : self.prior.size]), axis=1)
        gravest = top // (self.prior.n_classes - 1) if family_of(self.prior.family).distinguishes_errors else top
        return np.asarray(_LEAST_LIMIT * np.exp(np.log(_MOST_LIMIT / _LEAST_LIMIT) * ndtr(draws[:, -1]))), gravest

    def limited_evidence(self, answered: _Answered, rng: np.random.Generator) -> tuple[float, Matrix]:
        """Return the log-evidence and posterior draws."""
        m, gains = self.prior.size, _gains(answered.pairs, self.prior, 1.0)
        misses = miss_rates(answered.pairs.first), miss_rates(answered.pairs.second)

        def log_likelihood(draws: Matrix) -> Matrix:
            logs, person = self.prior.log_weights(draws[:, :m]), self.response.person(draws[:, m:-1])
            weights, (limit, gravest) = relative_weights(logs), self.limits(draws)
            over_first, over_second = (np.maximum(one[:, gravest].T - limit[:, None], 0.0) for one in misses)
            beyond = (over_first > 0) | (over_second > 0)
            worse = np.clip((over_second - over_first) / self.unit, -1, 1)
            worse += ((over_second > 0).astype(float) - (over_first > 0)) * _OUT_OF_THE_QUESTION
            linear = self.response.latent(weights, person, gains)
            latent = np.where(beyond, person.sensitivity[:, None] * worse, linear)
            exact = _within_limits(log_amounts(weights, answered.evidence.points), limit, gravest, answered.scales)
            fit = answered.log_likelihood(self.response, person, latent, exact)
            return np.asarray(np.where(self.prior.allowed(logs), fit, -1e9))

        before = prior_draws(self.prior, _PARTICLES, m + N_PARAMETERS + 1, rng)
        return completed(annealing(before, log_likelihood, rng))

    def limit_kept_probability(self, draws: Matrix, shown: _Pairs) -> float:
        """Return the share of draws whose limit is kept by some side that was shown."""
        limit, gravest = self.limits(draws)
        least = np.minimum(miss_rates(shown.first), miss_rates(shown.second))
        return float((least[:, gravest] <= limit).any(axis=0).mean())

    def utilities(self, draws: Matrix, matrices: Matrix) -> Matrix:
        """Return the utilities of matrices (n, k, k) under each draw, shape (draws, n)."""
        limit, gravest = self.limits(draws)
        over = np.maximum(miss_rates(matrices)[:, gravest].T - limit[:, None], 0.0)
        logs = self.prior.log_weights(draws[:, : self.prior.size])
        linear = relative_weights(logs) @ _gains_of_each(matrices, self.prior, 1.0).T
        return np.asarray(np.where(over > 0, linear.min() - 1.0 - over, linear))


def _within_limits(linear: Matrix, limit: Matrix, gravest: NDArray[np.intp], scales: _Scales) -> Matrix:
    """Return log D at which both sides are equally bad if the misses of one class are limited, shape (draws, n).

    `linear`, (draws, n), is log D without a limit, `limit`, (draws,), the largest acceptable miss rate of the class
    `gravest`, (draws,).
    """
    rows = scales.other.sum(axis=2)
    ours, theirs = ((rows - np.diagonal(side, axis1=1, axis2=2))[:, gravest].T for side in (scales.moved, scales.other))
    allowed = limit[:, None] * rows[:, gravest].T
    # The moved count adds to the misses of the gravest class: it may grow to the limit, or to the other side's misses.
    end = scales.log_amounts(np.maximum(allowed, theirs) - ours)
    bound = np.where(theirs > allowed, end, np.minimum(linear, end))
    # It does not add to them: which side keeps the limit is settled whatever the count.
    lead = np.maximum(theirs, allowed) - np.maximum(ours, allowed)
    always, never = scales.log_amounts(_BEYOND * scales.most), scales.log_amounts(0.0 * scales.most)
    settled = np.where(lead > _SAME, always, np.where(lead < -_SAME, never, linear))
    return np.asarray(np.where(gravest[:, None] == scales.true, bound, settled))


def miss_rates(matrices: Matrix) -> Matrix:
    """Return the share of each true class that is missed, shape (..., k), of matrices (..., k, k)."""
    sums = matrices.sum(axis=-1)
    hits = np.diagonal(matrices, axis1=-2, axis2=-1)
    return np.asarray(np.where(sums > 0, 1.0 - hits / np.where(sums > 0, sums, 1.0), 0.0))


def _evidence_of_a_score(score: Utilities, answered: _Answered, usual: _Pairs, rng: np.random.Generator) -> float:
    """Return the log-evidence for a score without weights, in which only how the person answers is unknown."""
    differences = np.abs(score(usual.first) - score(usual.second))
    unit = float(np.median(differences[differences > _SAME])) if (differences > _SAME).any() else 1.0
    response = ResponseModel(np.ones((1, 1)), np.ones(11))
    apart = (score(answered.pairs.first) - score(answered.pairs.second)) / unit
    exact = _exact_by_score(score, answered.scales)

    def log_likelihood(draws: Matrix) -> Matrix:
        person = response.person(draws)
        return answered.log_likelihood(response, person, person.sensitivity[:, None] * apart, exact)

    log_evidence, _ = completed(annealing(rng.standard_normal((_PARTICLES, N_PARAMETERS)), log_likelihood, rng))
    return log_evidence


def _exact_by_score(score: Utilities, scales: _Scales) -> Matrix:
    """Return log D at which a score is the same on both sides, shape (1, n); beyond the scale where it never is."""
    counts = []
    for true, predicted, moved, other, most in zip(*scales[:4], scales.most, strict=True):
        tried = np.linspace(0.0, most, _COUNTS_TRIED)
        sides = np.repeat(moved[None], len(tried), axis=0)
        sides[:, true, predicted], sides[:, true, true] = tried, most - tried
        # No score rises with a mistake, so the moved side is better up to some count.
        better = int((score(sides) - score(other[None]) > _SAME).sum())
        counts.append(tried[better] if better < len(tried) else _BEYOND * most)
    return scales.log_amounts(np.array(counts))[None]
