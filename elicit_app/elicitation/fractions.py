"""Belief about linear-fractional metrics: what counts where results are bad, and what counts where they are good.

Let M be the middle of two results and D their difference, both in the coordinates that the family weighs. A fraction
<a, x> / <b, x> (constants included) prefers the first exactly where ``<b, M> <a, D> - <a, M> <b, D> > 0``: it judges
every pair linearly, by weights that depend on where the pair lies. Two members of its pencil determine these weights:
the one that is 0 where every answer is wrong, with weights v, and the one that is 0 where every answer is right, with
weights w. A pair is judged by the mixture

    (w . l) v + (v . (h - l)) w        l: how far M is from perfect; h: how far the worst is,

with v and w each up to its unit. Preferences therefore reveal only these two directions of a fraction, and they are
linear in the products ``v_i w_j``. The products are positive, so whatever holds for positive weights holds for them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self, cast

import numpy as np

from elicit_app.elicitation.belief import ParticlePosterior, ends_of_ratios, median_weights
from elicit_app.elicitation.pairs import FrontierPairs, PairSet
from elicit_app.elicitation.plausible import PlausiblePairs
from elicit_app.elicitation.prior import WeightPrior, heavy_tailed, relative_weights
from elicit_app.elicitation.procedure import Outcome
from elicit_app.elicitation.questions import Belief, Family, Matrix, StopReason
from elicit_app.elicitation.utilities import Fraction
from elicit_app.problem import Problem
from metrics.elicited.family import error_cells, fraction_family, linear_family
from metrics.elicited.metric_parts import rounded_draws

# Of log v - log w: how differently a mistake may count where results are bad and where they are good. The belief
# infers how much the two actually differ: hardly at all in a nearly linear fraction.
SPREAD, SPREAD_OPEN = 0.35, 0.5  # its median, and the standard deviation of its logarithm
WHAT_IS_KNOWN = (
    "Preferences determine a fraction up to one parameter: its numerator is the one without a constant, and its "
    "denominator is known up to a multiple of that numerator."
)
LOCAL = (
    "The answers were interpreted as a fraction (a linear-fractional metric): a mistake may count differently where "
    "results are bad and where they are good. The costs are those that hold near what these models do; the fraction "
    "itself has no cost matrix, and no metric file holds it."
)


@dataclass(frozen=True, eq=False)
class FractionPrior(WeightPrior):
    """Products ``v_i w_j`` of two positive weight vectors, and what they multiply.

    Parameters
    ----------
    family : {"dlfpm", "lfpm"}
        The family of the metric.
    n_classes, parts, order
        As in `WeightPrior`: the prior of w.
    """

    @classmethod
    def from_linear(cls, linear: WeightPrior) -> Self:
        """Return the prior of the fractions over what a linear prior weighs.

        Raises
        ------
        Problem
            If orders between mistakes are stated, which say nothing about two weights per mistake.
        """
        if len(linear.order):
            raise Problem(
                "Orders between mistakes apply to linear metrics only: remove them, or do not ask for a fraction."
            )
        return cls(cast(Family, fraction_family(linear.family)), linear.n_classes, linear.parts, linear.order)

    @property
    def size(self) -> int:
        """Return 2 m + 1: the number of coordinates of v, of w, and of how much they differ."""
        return 2 * self.n_weights + 1

    @property
    def n_weights(self) -> int:
        """Return m, the number of weights of a numerator."""
        return len(self.parts[-1].labels)

    @property
    def n_gains(self) -> int:
        """Return m^2, the number of products."""
        return self.n_weights**2

    def halves(self, x: Matrix) -> tuple[Matrix, Matrix]:
        """Return log v and log w, each (..., m), from standard normal coordinates x, shape (..., 2 m + 1)."""
        m = self.n_weights
        good = WeightPrior.log_weights(self, x[..., :m])
        spread = SPREAD * np.exp(SPREAD_OPEN * x[..., 2 * m :])
        return np.asarray(good + spread * heavy_tailed(x[..., m : 2 * m])), good

    def log_weights(self, x: Matrix) -> Matrix:
        """Return the logarithms of the products, shape (..., m^2)."""
        bad, good = self.halves(x)
        return products(bad, good)

    def gain(self, first: Matrix, second: Matrix) -> Matrix:
        """Return the factors of the products, (..., m^2); the first side is preferred where the sum is positive."""
        family = linear_family(self.family)
        first, second = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
        gained = family.sign * family.coordinates(first - second)
        perfect, worst = (family.sign * family.coordinates(one) for one in perfect_and_worst(first))
        short = perfect - family.sign * family.coordinates((first + second) / 2)
        left = perfect - worst - short
        lifted = gained[..., :, None] * short[..., None, :] + left[..., :, None] * gained[..., None, :]
        return np.asarray(lifted.reshape(*lifted.shape[:-2], self.n_gains))


def products(bad: Matrix, good: Matrix) -> Matrix:
    """Return the logarithms of v_i w_j, shape (..., m^2), from log v and log w."""
    return np.asarray((bad[..., :, None] + good[..., None, :]).reshape(*bad.shape[:-1], -1))


def perfect_and_worst(matrix: Matrix) -> tuple[Matrix, Matrix]:
    """Return, for the given row sums, the perfect matrices and those with every answer wrong, spread evenly."""
    sums, k = matrix.sum(axis=-1), matrix.shape[-1]
    return sums[..., None] * np.eye(k), sums[..., None] * error_cells(k) / (k - 1)


class FractionPairs:
    """The pairs of another source, with gains for a belief about fractions.

    Parameters
    ----------
    source : FrontierPairs or PlausiblePairs
        Source of the pairs.
    prior : FractionPrior
        Determines the gains of the pairs.
    """

    def __init__(self, source: FrontierPairs | PlausiblePairs, prior: FractionPrior) -> None:
        self.source, self.prior, self.pool = source, prior, source.pool
        self.population, self.region = source.population, source.region

    def candidates(self, weights: Matrix, rng: np.random.Generator) -> PairSet:
        """Return candidate pairs, given draws of the products, shape (n, m^2)."""
        pairs, m = self.source.candidates(weights, rng), self.prior.n_weights
        gains = self.prior.gain(pairs.first, pairs.second)
        # A mistake is part of about 2 m of the products, but is read once.
        return PairSet(pairs.first, pairs.second, gains, pairs.hypothetical, pairs.far, 2 * m * pairs.reading)

    def random_gains(self, n: int, rng: np.random.Generator) -> Matrix:
        """Return the gains of random pairs of achievable matrices, shape (<= n, m^2)."""
        return self.pool.random_gains(self.prior, n, rng)


@dataclass(frozen=True, eq=False)
class FractionPosterior(ParticlePosterior):
    """Draws of v and w, and of how the person answers."""

    prior: FractionPrior

    @cached_property
    def _halves(self) -> tuple[Matrix, Matrix]:
        return self.prior.halves(self.draws[:, : self.prior.size])

    @property
    def ratio_log_weights(self) -> Matrix:
        """Return the log-weights of the numerator without a constant: v for hits, w for errors."""
        return self._halves[0] if self.prior.family == "dlfpm" else self._halves[1]

    @cached_property
    def samples(self) -> Matrix:
        """Return the draws of the numerator in its normalisation, shape (n, m)."""
        logs = self.ratio_log_weights
        family = linear_family(self.prior.family)
        return family.normalise(family.sign * np.exp(logs - logs.max(axis=1, keepdims=True)))

    @cached_property
    def estimate(self) -> Matrix:
        """Return the point estimate of the numerator, shape (m,): medians of ratios."""
        family = linear_family(self.prior.family)
        return family.normalise(family.sign * median_weights(self.ratio_log_weights))

    @property
    def middle(self) -> Matrix:
        """Return the point estimate of the products, shape (m^2,)."""
        bad, good = (np.log(median_weights(half)) for half in self._halves)
        return np.exp(products(bad, good))

    def fraction(self, prevalence: Matrix) -> Fraction:
        """Return the estimated utility, at most 1 in absolute value, for matrices of a prevalence, shape (k,)."""
        family = linear_family(self.prior.family)
        perfect, worst = perfect_and_worst(np.diag(prevalence))
        whole = family.sign * family.coordinates(perfect - worst)
        bad, good = (middle / (middle @ whole) for middle in map(median_weights, self._halves))
        if self.prior.family == "dlfpm":
            return Fraction("dlfpm", bad, 0.0, bad - good, 1.0)
        return Fraction("lfpm", -good, 0.0, good - bad, 1.0)

    def near(self, matrix: Matrix) -> Matrix:
        """Return draws of the linear weights, shape (n, m), that judge pairs around a matrix (k, k)."""
        family = linear_family(self.prior.family)
        perfect, worst = (family.sign * family.coordinates(one) for one in perfect_and_worst(matrix))
        short = perfect - family.sign * family.coordinates(matrix)
        bad, good = map(relative_weights, self._halves)
        # A result may be worse than the "worst" one, which spreads wrong answers evenly: no mistake may become a gain.
        left = np.maximum(bad @ (perfect - worst - short), 0.0)
        weights = (good @ short)[:, None] * bad + left[:, None] * good
        return np.asarray(weights / weights.max(axis=1, keepdims=True))

    def utilities(self, matrices: Matrix) -> Matrix:
        """Return the utility of matrices (models, k, k) under each draw, (n, models), at most 1 in absolute value."""
        family = linear_family(self.prior.family)
        perfect, worst = (family.sign * family.coordinates(one) for one in perfect_and_worst(matrices))
        bad, good = map(relative_weights, self._halves)
        whole = (perfect - worst)[0]
        bad, good = (one / (one @ whole)[:, None] for one in (bad, good))
        reached = family.sign * family.coordinates(matrices)
        above, below = bad @ (reached - worst).T, good @ (perfect - reached).T
        return np.asarray(above / (above + below))

    def summary(self, gains: Matrix) -> Belief:
        """Return the summary for a step; a fraction has no cost matrix and no intervals of one."""
        return Belief(self.estimate, None, self.agreement(gains))

    def local_outcome(self, stopped: StopReason, questions: int, around: Matrix) -> Outcome:
        """Return the linear metric that judges results around a matrix (k, k), which a metric file can hold."""
        family = linear_family(self.prior.family)
        draws = self.near(around)
        logs = np.log(draws)
        middle = median_weights(logs)
        tails = ends_of_ratios(logs, int(np.argmax(middle)))
        return replace(
            self.outcome(stopped, questions, around.sum(axis=1)),
            family=family.name,
            weights=family.normalise(family.sign * middle),
            intervals=np.moveaxis(family.on_errors(tails), 0, -1),
            samples=rounded_draws(family.normalise(family.sign * draws)),
            notes=(LOCAL,),
        )

    def outcome(self, stopped: StopReason, questions: int, prevalence: Matrix) -> Outcome:
        """Return what was learned about a fraction for matrices of a prevalence, shape (k,)."""
        return Outcome(
            family=self.prior.family,
            weights=self.estimate,
            bounded=(None,) * self.prior.n_weights,
            stopped=stopped,
            questions=questions,
            samples=rounded_draws(self.samples),
            notes=(WHAT_IS_KNOWN,),
            utility=self.fraction(prevalence),
            effective_draws=self.effective_draws,
            sensitivity=float(np.median(self.person.sensitivity)),
            lapse=float(self.person.lapse.mean()),
            method=self.method + self.prior.remark,
        )
