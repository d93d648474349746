"""What is believed after some answers: draws of weights and of how the person answers, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from elicit_app.elicitation.prior import WeightPrior
from elicit_app.elicitation.questions import Belief, Matrix
from elicit_app.elicitation.response import N_PARAMETERS, Evidence, Person, ResponseModel, evidence
from elicit_app.elicitation.sampler import LogDensity, moved, resampled

LEVEL = 0.9  # of all intervals
_SETTLING_SWEEPS = 20  # after stated orders have been forced upon prior draws


@dataclass(frozen=True, eq=False)
class Posterior:
    """Equally weighted draws of the joint posterior of weights, sensitivity, tie, gap and lapse.

    Parameters
    ----------
    prior : WeightPrior
        Of the weights.
    response : ResponseModel
        How answers come about.
    draws : ndarray of shape (n, m + 4)
        Coordinates whose prior is standard normal: m of the weights, then those of `ResponseModel.person`.
    """

    prior: WeightPrior
    response: ResponseModel
    draws: Matrix

    @classmethod
    def before(cls, prior: WeightPrior, response: ResponseModel, n: int, rng: np.random.Generator) -> Posterior:
        """Draw n times from the prior."""
        draws = rng.standard_normal((n, prior.size + N_PARAMETERS))
        belief = cls(prior, response, draws)
        if not len(prior.order):
            return belief
        logs = prior.log_weights(draws[:, : prior.size])
        while not prior.allowed(logs).all():
            for small, large in prior.order:
                pair = logs[:, [small, large]]
                logs[:, [small, large]] = np.sort(pair, axis=1)
        draws[:, : prior.size] = np.linalg.solve(prior.factor, logs.T).T
        # Solving rounds: what touches an order from the wrong side by that much is still allowed to move.
        return cls(prior, response, moved(draws, belief.log_likelihood(evidence([], prior)), rng, _SETTLING_SWEEPS))

    def told(self, answers: Evidence, rng: np.random.Generator, sweeps: int) -> Posterior:
        """Return the belief after one more answer: the last of `answers`, which holds all of them."""
        newest = answers.of(np.array([-1]))
        fit = self.response.log_likelihood(self.weights, self.person, newest)[:, 0]
        draws = resampled(self.draws, fit, rng)
        return Posterior(self.prior, self.response, moved(draws, self.log_likelihood(answers), rng, sweeps))

    @cached_property
    def weights(self) -> Matrix:
        """Return the draws of the positive weights, shape (n, m)."""
        return np.exp(self.prior.log_weights(self.draws[:, : self.prior.size]))

    @cached_property
    def person(self) -> Person:
        """Return the draws of how the person answers."""
        return self.response.person(self.draws[:, self.prior.size :])

    @cached_property
    def samples(self) -> Matrix:
        """Return the draws of the weights in the family's normalisation, shape (n, m)."""
        return self.prior.normalised(self.weights)

    @cached_property
    def estimate(self) -> Matrix:
        """Return the point estimate in the family's normalisation, shape (m,)."""
        middle = np.median(self.samples, axis=0) if self.prior.family == "dlpm" else self.samples.mean(axis=0)
        return self.prior.normalised(np.abs(middle))

    @cached_property
    def intervals(self) -> Matrix:
        """Return 90 % intervals of the cost matrix, shape (k, k, 2), relative to the largest entry of the estimate."""
        k, size = self.prior.n_classes, np.abs(self.estimate)
        ratios = self.weights / self.weights[:, [int(np.argmax(size))]]
        tails = np.quantile(ratios, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0).T
        cells = ~np.eye(k, dtype=bool)
        intervals = np.zeros((k, k, 2))
        intervals[cells] = np.repeat(tails, k - 1, axis=0) if self.prior.family == "dlpm" else tails
        return intervals

    def latent(self, gains: Matrix) -> Matrix:
        """Return the latent preferences for A, shape (n, pairs), of gains (pairs, m)."""
        return np.asarray(self.person.sensitivity[:, None] * (self.weights @ gains.T))

    def chances(self, gains: Matrix, graded: bool = False) -> Matrix:
        """Return the probability of every answer, shape (answers, n, pairs), see `ResponseModel.chances`."""
        return self.response.chances(self.latent(gains), self.person, graded)

    def agreement(self, gains: Matrix) -> float:
        """Return the expected share of pairs, given by gains (pairs, m), that the estimate orders rightly."""
        mine = gains @ np.abs(self.estimate) > 0
        theirs = (self.weights @ gains.T > 0).mean(axis=0)
        return float(np.where(mine, theirs, 1 - theirs).mean())

    def summary(self, gains: Matrix) -> Belief:
        """Return the immutable summary that a step carries; `gains` are those of random achievable pairs."""
        return Belief(self.estimate, self.intervals, self.agreement(gains))

    def log_likelihood(self, answers: Evidence) -> LogDensity:
        """Return the function that gives the log-likelihood of answers for draws (n, m + 4), shape (n,)."""
        m = self.prior.size

        def log_likelihood(draws: Matrix) -> Matrix:
            logs = self.prior.log_weights(draws[:, :m])
            fit = self.response.log_likelihood(np.exp(logs), self.response.person(draws[:, m:]), answers).sum(axis=1)
            if len(self.prior.order):
                fit = np.where(self.prior.allowed(logs), fit, -np.inf)
            return np.asarray(fit)

        return log_likelihood
