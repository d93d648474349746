"""Do linear costs explain the answers, or does a rival? Evidence of each, from the answers that were given.

Rivals: counts that are felt less than in proportion (a power), the worst recall of a class, a limit on the misses of
the gravest class, and the macro-averaged F1 score. Each is given the same beliefs about how people err, so that only
what is valued differs. Power is homogeneous: what tells it from linear costs are pairs with a common base of one
mistake on both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, ndtr

from elicit_app.elicitation.prior import WeightPrior, positive
from elicit_app.elicitation.questions import Answer, Asked, Choice, Matrix
from elicit_app.elicitation.response import (
    N_PARAMETERS,
    Choices,
    EqualPoints,
    Evidence,
    Person,
    ResponseModel,
    ends_of_scale,
    evidence,
)
from elicit_app.elicitation.sampler import LogDensity, annealed, bridged
from metrics.elicited.family import family_of

Rival = Literal["concave", "minimax", "threshold", "f1"]

POWER = 0.6  # of felt counts
# Bayes factors of a rival against linear costs, from which on it is named: set on simulated people, see docs/method.
BAYES_FACTORS: dict[Rival, float] = {"concave": 10.0, "minimax": 10.0, "threshold": 10.0, "f1": 10.0}
# Where questions were made for it, felt counts need less: linear people stay far below.
BAYES_FACTOR_ON_BASES = 1.5
ENOUGH_BASES = 2  # answered questions with a common base that this takes
PRIOR_OF_LINEAR = 0.8  # the rivals share the rest

_PARTICLES, _DRAWS, _USUAL = 600, 2_000, 300
_LEAST_LIMIT, _MOST_LIMIT = 0.01, 0.3  # of the miss rate of the gravest class
_OUT_OF_THE_QUESTION = 6.0  # typical differences by which a result beyond the limit is worse

Utilities = Callable[[Matrix], Matrix]
Latent = Callable[[Matrix, Person], Matrix]  # of weights and how people answer, shape (draws, choices)


@dataclass(frozen=True, eq=False)
class Linearity:
    """How well linear costs and their rivals explain the answers.

    Parameters
    ----------
    log_bayes_factors : dict of str to float
        Natural logarithm of the evidence of each rival over that of linear costs.
    best : dict of str to ndarray of shape (models,)
        Under each rival, the probability of each model of the study to be the best.
    bases : int
        Answers to questions with a common base, which are made to tell felt counts.
    over_chance : dict of str to float
        Natural logarithm of the evidence of rivals over that of answering without looking.
    """

    log_bayes_factors: dict[Rival, float]
    best: dict[Rival, Matrix]
    bases: int = 0
    over_chance: dict[Rival, float] = field(default_factory=dict)

    @property
    def rival(self) -> Rival | None:
        """Return the rival that explains the answers clearly better than linear costs, or None."""
        clear = {name: value for name, value in self.log_bayes_factors.items() if value > self._needed(name)}
        return max(clear, key=clear.__getitem__, default=None)

    def _needed(self, name: Rival) -> float:
        on_bases = name == "concave" and self.bases >= ENOUGH_BASES
        return float(np.log(BAYES_FACTOR_ON_BASES if on_bases else BAYES_FACTORS[name]))

    @property
    def probabilities(self) -> dict[str, float]:
        """Return the posterior probability of "linear" and of each rival."""
        each = (1.0 - PRIOR_OF_LINEAR) / len(self.log_bayes_factors)
        odds = {
            name: each / PRIOR_OF_LINEAR * np.exp(min(value, 500.0)) for name, value in self.log_bayes_factors.items()
        }
        total = 1.0 + sum(odds.values())
        return {"linear": float(1.0 / total), **{name: float(value / total) for name, value in odds.items()}}

    def bits_over_chance(self, linear: float) -> float:
        """Return the bits by which linear costs or rivals foretell the answers better than chance does.

        All of them mixed as they are thought probable beforehand; a rival that is named stands for itself.

        Parameters
        ----------
        linear : float
            Those of linear costs, answer by answer.
        """
        share = (1.0 - PRIOR_OF_LINEAR) / len(self.log_bayes_factors)
        logs = {"linear": np.log(PRIOR_OF_LINEAR) + linear * np.log(2.0)}
        for name, factor in self.log_bayes_factors.items():
            # Felt counts are compared on the same answers, the others on a rougher reading of equal points.
            of_rival = self.over_chance.get(name, linear * np.log(2.0) + factor)
            logs[name] = of_rival if name == self.rival else np.log(share) + of_rival
        return float(logsumexp(list(logs.values())) / np.log(2.0))

    def probability_best(self, of_linear: Matrix) -> Matrix:
        """Return the probability of each model to be the best, given that under linear costs, shape (models,)."""
        share = self.probabilities
        rivals = sum(share[name] * best for name, best in self.best.items())
        return np.asarray(share["linear"] * of_linear + rivals)


class _Pairs(NamedTuple):
    """Both sides of pairs as rates, each of shape (n, k, k)."""

    first: Matrix
    second: Matrix


def check_linearity(
    history: Sequence[Asked],
    prior: WeightPrior,
    typical: Matrix,
    models: Matrix,
    rng: np.random.Generator,
) -> Linearity:
    """Compare linear costs with their rivals by the evidence of the answers, about half a second's work.

    Parameters
    ----------
    history : sequence of Asked
        The answers. For rivals without weights, and the limit, an equal point counts as two choices: with half and
        with twice the net amount.
    prior : WeightPrior
        Of the costs, the same for linear costs and rivals.
    typical : ndarray of shape (t, k, k)
        Rates of typical achievable decisions, whose differences are the unit of every utility.
    models : ndarray of shape (n, k, k)
        Rates of the models of the study, of which one is the best.
    rng : numpy.random.Generator
        Source of chance.
    """
    answers = evidence(history, prior)
    shown = [choice for asked in history for choice in _as_choices(asked)]
    choices = evidence(shown, prior).choices
    pairs = _pairs_of(shown, typical.shape[1:])
    first, second = rng.integers(len(typical), size=(2, _USUAL))
    usual = _Pairs(typical[first], typical[second])
    gains = _gains(pairs, prior, 1.0)
    weighted = _Weighted(prior, _gains(usual, prior, 1.0), rng)
    found: dict[Rival, float] = {}
    best: dict[Rival, Matrix] = {}
    # Who feels counts by a power names equal points as well, so that these need no translation.
    asked = _pairs_of([one for one in history if _is_choice(one)], typical.shape[1:])
    straight = weighted.log_likelihood(answers, weighted.straight(_gains(asked, prior, 1.0)))
    as_felt = answers._replace(points=_felt_points(history, prior))
    felt = weighted.log_likelihood(as_felt, weighted.felt(_gains(asked, prior, POWER)))
    _, draws = weighted.evidence(straight, rng)
    found["concave"], draws = bridged(draws, straight, felt, rng)
    weights = positive(POWER * prior.log_weights(draws[:, : prior.size]))
    best["concave"] = _shares(weights @ _gains_of_each(models, prior, POWER).T)
    linear, _ = weighted.evidence(
        weighted.log_likelihood(Evidence(choices, evidence([], prior).points), weighted.straight(gains)), rng
    )
    limited = _Limited(prior, usual, rng)
    evidence_of_limit, draws = limited.limited_evidence(choices, pairs, rng)
    found["threshold"] = evidence_of_limit - linear
    best["threshold"] = _shares(limited.utilities(draws, models))
    scores: tuple[tuple[Rival, Utilities], ...] = (("minimax", _worst_recall), ("f1", _macro_f1))
    for name, score in scores:
        found[name] = _evidence_of_a_score(score, choices, pairs, usual, rng) - linear
        best[name] = _shares(score(models)[None])
    chance = sum(_log_chance(one) for one in history)
    over_chance: dict[Rival, float] = {name: found[name] + linear - chance for name in found if name != "concave"}
    bases = sum(one.question.common_base and one.answer.choice is not Choice.UNSURE for one in history)
    return Linearity(found, best, bases, over_chance)


def _pairs_of(shown: Sequence[Asked], shape: tuple[int, ...]) -> _Pairs:
    """Return both sides of what was shown: where a count was moved, as it was left."""
    rates = [(question if answer.moved is None else question.moved(answer.moved)).rates for question, answer in shown]
    return _Pairs(*np.array(rates).reshape(-1, 2, *shape).swapaxes(0, 1))


def _felt_points(history: Sequence[Asked], prior: WeightPrior) -> EqualPoints:
    """Return the equal points of who feels counts by a power: a base of what is not moved makes it count for less."""
    points = evidence(history, prior).points
    rest = []
    for question, answer in history:
        if answer.moved is None or not len(evidence([Asked(question, answer)], prior).points.cell):
            continue
        first, second = (side[None] for side in question.moved(answer.moved).rates)
        rest.append(gains_if_felt(first, second, prior)[0] * (1.0 if answer.moved.side == "first" else -1.0))
    felt = np.array(rest).reshape(points.rest.shape)
    felt[np.arange(len(felt)), points.cell] = 0.0
    return points._replace(rest=felt)


def _is_choice(asked: Asked) -> bool:
    """Tell whether an answer is evidence of the kind `Choices`."""
    choice, moved = asked.answer.choice, asked.answer.moved
    return choice is not Choice.UNSURE and (moved is None or choice is not Choice.EQUAL)


def _as_choices(asked: Asked) -> list[Asked]:
    """Return an answer as choices: an equal point as two of them, "cannot say" as none."""
    question, answer = asked
    if answer.choice is Choice.UNSURE:
        return []
    moved = answer.moved
    if moved is None or answer.choice is not Choice.EQUAL:
        return [asked]
    side = question.moved(moved).rates[0 if moved.side == "first" else 1]
    other = question.rates[1 if moved.side == "first" else 0]
    assert question.population is not None
    most = moved.count + round(side[moved.true, moved.true] * question.population)
    same = round(other[moved.true, moved.predicted] * question.population)
    net = moved.count - same
    found = []
    for times in (0.5, 2.0):
        count = int(np.clip(round(same + times * net), 0, most))
        better = (times < 1) == (net > 0)
        choice = Choice.FIRST if better == (moved.side == "first") else Choice.SECOND
        pair = question.moved(replace(moved, count=count))
        found.append(Asked(pair, Answer(choice)))
    return found


def _log_chance(asked: Asked) -> float:
    """Return the log-probability of an answer, as `_as_choices` takes it, for who does not look."""
    choice, moved = asked.answer.choice, asked.answer.moved
    if choice is Choice.UNSURE:
        return 0.0
    if choice is not Choice.EQUAL:
        return float(np.log(0.5))
    if moved is None:
        return float(np.log(1 / 3))
    least, top = ends_of_scale(asked)
    return float(np.log(min(1.0, np.log(4.0) / np.log(top / least))))


def gains_if_felt(first: Matrix, second: Matrix, prior: WeightPrior) -> Matrix:
    """Return the gains, shape (n, m), by which linear costs would choose as who feels mistakes by a power does.

    A power is homogeneous: without a common base the choice of a two-mistake trade is that of linear costs w^(1/p), so
    these gains differ from the real ones where there is a base alone.

    Parameters
    ----------
    first, second : ndarray of shape (n, k, k)
        Rates of both sides.
    prior : WeightPrior
        Says which mistakes are weighed.
    """
    felt = _gains(_Pairs(first, second), prior, POWER)
    return np.asarray(np.sign(felt) * np.abs(felt) ** (1.0 / POWER))


def _gains(pairs: _Pairs, prior: WeightPrior, power: float) -> Matrix:
    """Return the gains, shape (n, m), of pairs whose misses are felt as their power."""
    return _gains_of_each(pairs.first, prior, power) - _gains_of_each(pairs.second, prior, power)


def _gains_of_each(matrices: Matrix, prior: WeightPrior, power: float) -> Matrix:
    misses = family_of(prior.family).misses(matrices)
    return np.asarray(-(np.maximum(misses, 0.0) ** power))


def _worst_recall(matrices: Matrix) -> Matrix:
    sums = matrices.sum(axis=-1)
    hits = np.diagonal(matrices, axis1=-2, axis2=-1)
    return np.asarray(np.where(sums > 0, hits / np.where(sums > 0, sums, 1.0), 1.0).min(axis=-1))


def _macro_f1(matrices: Matrix) -> Matrix:
    sums = matrices.sum(axis=-1) + matrices.sum(axis=-2)
    hits = np.diagonal(matrices, axis1=-2, axis2=-1)
    return np.asarray(np.where(sums > 0, 2 * hits / np.where(sums > 0, sums, 1.0), 0.0).mean(axis=-1))


def _shares(utilities: Matrix) -> Matrix:
    """Return how often each matrix is the best, shape (matrices,), for utilities (draws, matrices)."""
    best = utilities >= utilities.max(axis=1, keepdims=True) - 1e-12
    return np.asarray((best / best.sum(axis=1, keepdims=True)).mean(axis=0))


class _Weighted:
    """Costs that weigh (felt) counts."""

    def __init__(self, prior: WeightPrior, usual: Matrix, rng: np.random.Generator) -> None:
        self.prior = prior
        self.response = ResponseModel.of_people(prior, usual[np.abs(usual).max(axis=1) > 1e-12], rng)

    def straight(self, gains: Matrix) -> Latent:
        """Return the latent preferences of linear costs for pairs of gains (n, m)."""
        return lambda weights, person: self.response.latent(weights, person, gains)

    def felt(self, gains: Matrix) -> Latent:
        """Return those of felt counts, gains (n, m) of counts to the power, in the terms of who is linear.

        Weights are those of the linear person who makes the same choices where there is no base, so that only bases,
        and trades of three mistakes, tell the two apart.
        """
        more, less = np.maximum(gains, 0.0).T, np.maximum(-gains, 0.0).T

        def latent(weights: Matrix, person: Person) -> Matrix:
            felt = weights**POWER
            good, bad = (np.log(np.maximum(felt @ side, 1e-300)) / POWER for side in (more, less))
            return self.response.latent_of_logs(good, bad, weights, person)

        return latent

    def evidence(self, log_likelihood: LogDensity, rng: np.random.Generator) -> tuple[float, Matrix]:
        """Return the log-evidence of a likelihood and draws of the posterior."""
        return annealed(_PARTICLES, self.prior.size + N_PARAMETERS, log_likelihood, rng)

    def log_likelihood(self, answers: Evidence, latent: Latent) -> LogDensity:
        """Return the log-likelihood of answers; `latent` gives the preferences of the choices, in order."""
        m = self.prior.size

        def log_likelihood(draws: Matrix) -> Matrix:
            logs, person = self.prior.log_weights(draws[:, :m]), self.response.person(draws[:, m:])
            weights = positive(logs)
            fit = np.zeros(len(draws))
            if len(answers.choices.gain):
                felt = latent(weights, person) * answers.choices.sign
                fit += self.response.of_latent(felt, person, answers.choices).sum(axis=1)
            if len(answers.points.cell):
                fit += self.response.of_points(weights, person, answers.points).sum(axis=1)
            return np.asarray(np.where(self.prior.allowed(logs), fit, -1e9))

        return log_likelihood


class _Limited(_Weighted):
    """Linear costs while the miss rate of the gravest class keeps a limit; beyond it, only fewer misses of it count."""

    def __init__(self, prior: WeightPrior, pairs: _Pairs, rng: np.random.Generator) -> None:
        super().__init__(prior, _gains(pairs, prior, 1.0), rng)
        usual = np.abs(_miss_rates(pairs.first) - _miss_rates(pairs.second))
        self.unit = float(max(np.median(usual), 1e-3))

    def limits(self, draws: Matrix) -> tuple[Matrix, NDArray[np.intp]]:
        """Return the limit, shape (n,), and the gravest class, that of the largest weight, of draws (n, m + 9)."""
        top = np.argmax(self.prior.log_weights(draws[:, : self.prior.size]), axis=1)
        gravest = top // (self.prior.n_classes - 1) if family_of(self.prior.family).tells_apart else top
        span = np.log(_MOST_LIMIT / _LEAST_LIMIT)
        return np.asarray(_LEAST_LIMIT * np.exp(span * ndtr(draws[:, -1]))), gravest

    def limited_evidence(self, choices: Choices, pairs: _Pairs, rng: np.random.Generator) -> tuple[float, Matrix]:
        """Return the log-evidence and draws of the posterior."""
        m, gains = self.prior.size, _gains(pairs, self.prior, 1.0)
        misses = _miss_rates(pairs.first), _miss_rates(pairs.second)

        def log_likelihood(draws: Matrix) -> Matrix:
            logs, person = self.prior.log_weights(draws[:, :m]), self.response.person(draws[:, m:-1])
            limit, gravest = self.limits(draws)
            first, second = (of_all[:, gravest].T for of_all in misses)
            over_first, over_second = (np.maximum(of_one - limit[:, None], 0.0) for of_one in (first, second))
            linear = self.response.latent(positive(logs), person, gains)
            beyond = (over_first > 0) | (over_second > 0)
            worse = np.clip((over_second - over_first) / self.unit, -1, 1)
            worse += ((over_second > 0).astype(float) - (over_first > 0)) * _OUT_OF_THE_QUESTION
            latent = np.where(beyond, person.sensitivity[:, None] * worse, linear)
            fit = self.response.of_latent(latent * choices.sign, person, choices).sum(axis=1)
            return np.asarray(np.where(self.prior.allowed(logs), fit, -1e9))

        return annealed(_PARTICLES, m + N_PARAMETERS + 1, log_likelihood, rng)

    def utilities(self, draws: Matrix, matrices: Matrix) -> Matrix:
        """Return the utilities of matrices (n, k, k) under each draw, shape (draws, n)."""
        limit, gravest = self.limits(draws)
        over = np.maximum(_miss_rates(matrices)[:, gravest].T - limit[:, None], 0.0)
        weights = positive(self.prior.log_weights(draws[:, : self.prior.size]))
        linear = weights @ _gains_of_each(matrices, self.prior, 1.0).T
        return np.asarray(np.where(over > 0, linear.min() - 1.0 - over, linear))


def _miss_rates(matrices: Matrix) -> Matrix:
    """Return the share of each true class that is missed, shape (n, k)."""
    sums = matrices.sum(axis=2)
    hits = np.diagonal(matrices, axis1=1, axis2=2)
    return np.asarray(np.where(sums > 0, 1.0 - hits / np.where(sums > 0, sums, 1.0), 0.0))


def _evidence_of_a_score(
    score: Utilities, choices: Choices, pairs: _Pairs, usual: _Pairs, rng: np.random.Generator
) -> float:
    """Return the log-evidence of a score without weights, by draws of how the person answers."""
    differences = np.abs(score(usual.first) - score(usual.second))
    unit = float(np.median(differences[differences > 1e-12])) if (differences > 1e-12).any() else 1.0
    response = ResponseModel(np.ones((1, 1)), np.ones(11))
    person = response.person(rng.standard_normal((_DRAWS, N_PARAMETERS)))
    latent = person.sensitivity[:, None] * ((score(pairs.first) - score(pairs.second)) / unit)
    fit = response.of_latent(latent * choices.sign, person, choices).sum(axis=1)
    return float(np.log(np.exp(fit - fit.max()).mean()) + fit.max())
