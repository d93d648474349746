"""Beliefs about many weights: every answer is an interval on a difference of log-weights.

If noise depends on ratios alone, an equal point of two mistakes gives an interval for the noisy log-ratio of their
weights, and a choice is an equal point of which only the side is known. Expectation propagation (Minka 2001) turns such
intervals into a Gaussian over the log-weights. Its cost depends on the number of answers, so that fifty classes cost
little more than six. The spreads of rows, columns, piles and own parts and the person's errors are drawn by population
Monte Carlo on the running evidence (Cappé et al. 2004). Trades of more than two mistakes are linearised in the
log-weights about the current mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from threading import Lock
from typing import NamedTuple, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from elicit_app.elicitation.belief import KEPT, Posterior, by_columns, median_weights, memory_slices
from elicit_app.elicitation.prior import WeightPrior, relative_weights
from elicit_app.elicitation.propagation import FEWEST_SETS, LEAST, Intervals, Sites, product, propagated, quadratic_fit
from elicit_app.elicitation.questions import Matrix
from elicit_app.elicitation.response import Evidence, Person, ResponseModel, error_of_counts, point_lapse
from elicit_app.problem import Problem
from metrics.batches import InParts

LOGISTIC = 1.702  # a logistic variable is about normal with this standard deviation

MOST_ANSWERS = 500
_WEIGHED_FULLY = 120  # answers: time grows with the cube of their number, so that beyond it fewer sets are tried
_DRAWS, _DRAWS_TO_SHOW = (400, 1_200), (1_600, 12_000)  # fewest and most draws: with fifty classes a draw takes 20 kB
FEW_ENOUGH = 90  # weights, as with ten classes; with more, an answer reveals little about the others
_PASSES = 3  # of expectation propagation, from sites that nearly fit
_NEWEST = 6  # answers that may be added to sites that nearly fit
_DEGREES = 8.0  # of the proposal, a t distribution
_WIDENED = 1.15  # covariance of the proposal, relative to that of the fit
_FIT_DECIMALS = 6
# Prior of the logarithms (logit for the lapse) of: error of a choice, power of a ratio, lapse. Second, the score of the
# error of an equal point, see `error_of_counts`.
_CENTRES, _WIDTHS = np.array([np.log(0.5), 0.0, -0.1, -4.5]), np.array([0.7, 1.0, 0.2, 1.2])
_TIE, _GAP, _PULL = 0.06, 1.5, 0.05


class _Effort(NamedTuple):
    """How closely answers are fitted: numbers of sets of hyperparameters, of passes and of fits."""

    asking: int  # sets while asking
    showing: int  # sets for a shown result
    some: int  # sets when only some answers are fitted
    passes_to_show: int
    fits_to_show: int  # at most, .4 s each with ten classes
    first_passes: int  # from empty sites
    newest_passes: int  # for several answers added at once


_FEW_WEIGHTS, _MANY_WEIGHTS = _Effort(160, 800, 90, 3, 3, 12, 5), _Effort(96, 640, 60, 1, 1, 5, 1)


@dataclass(frozen=True, eq=False)
class IntervalPosterior(Posterior):
    """Draws of a mixture of Gaussians over the log-weights, one for each set of hyperparameters.

    Parameters
    ----------
    drawn : _Drawn
        Draws of the log-weights.
    people : Person
        Equally many draws of how the person answers.
    means : _Means or float
        Means of the log-weights under each set, which determine what the draws are worth; or that worth itself.
    hyper : ndarray of shape (h, learned spreads + 4)
        Hyperparameters in standard normal scores: logarithms of the spreads, then those of `_CENTRES`.
    evidence : ndarray of shape (h,)
        Log-evidence of the answers under each set.
    site : ndarray of shape (2, answers)
        Mean precision and precision-weighted mean of the answers' sites: the start of the next fit.
    spreads : ndarray of shape (parts,)
        Standard deviations of the parts of the log-weights, over all draws.
    """

    method = (
        "Log costs are normal, with shared parts for the mistakes of a class; their spreads, the errors of the answers "
        "and slips are learned with them, by expectation propagation (Minka 2001)."
    )

    drawn: _Drawn
    people: Person
    means: _Means | float
    hyper: Matrix
    evidence: Matrix
    site: Matrix
    spreads: Matrix

    @classmethod
    def from_prior(cls, prior: WeightPrior, rng: Generator, n: int) -> Self:
        """Draw n times from the prior."""
        h = _effort(prior.size).asking
        hyper = rng.standard_normal((h, prior.n_learned + len(_CENTRES)))
        nothing = Sites(np.zeros((h, 0)), np.zeros((h, 0)), np.zeros(h), np.zeros((h, 0, 0)))
        randomness = _Randomness.of(prior, 0, n, rng)
        return cls._of(prior, np.zeros((0, prior.size)), hyper, np.full(h, 1.0 / h), nothing, randomness)

    @property
    def deviations(self) -> Matrix:
        """Return the learned standard deviations of the parts of the log-weights, shape (parts,)."""
        return self.spreads

    @property
    def log_weights(self) -> Matrix:
        """Return the draws of the log-weights, shape (n, m)."""
        return self.drawn.all()

    def log_weights_of(self, some: NDArray[np.intp]) -> Matrix:
        """Return the draws of some of the log-weights, shape (n, c)."""
        return self.drawn.of(some)

    @property
    def person(self) -> Person:
        """Return the draws of how the person answers."""
        return self.people

    @cached_property
    def effective_draws(self) -> float:
        """Return what the draws are worth: few sets of hyperparameters inflate the error of a mean."""
        known = self.means
        return known if isinstance(known, float) else known.effective(self.log_weights, self.prior)

    def updating(self, answers: Evidence, newest: Evidence, rng: Generator) -> InParts[Self]:
        """Fit all answers again, starting from the fit before the newest, in one part."""
        yield from ()
        n, effort = draws_while_asking(self.prior.size), _effort(self.prior.size)
        passes = _PASSES + min(max(newest.n_answers - 1, 0), effort.newest_passes)
        return self._fitted(answers, rng, effort.asking, n, self._start(answers, newest), passes)

    def refined(self, answers: Evidence, rng: Generator) -> Self:
        """Fit with more hyperparameters and draws; repeat from there while too few of them explain the answers."""
        n, effort, fits = _scaled_draws(*_DRAWS_TO_SHOW, self.prior.size), _effort(self.prior.size), [self]
        for _ in range(effort.fits_to_show):
            fits.append(fits[-1]._fitted(answers, rng, effort.showing, n, fits[-1].site, effort.passes_to_show))
            if fits[-1].effective_draws >= KEPT:
                break
        return max(fits[1:], key=lambda one: one.effective_draws)

    def refitted(self, answers: Evidence, rng: Generator) -> Self:
        """Fit some of the answers from scratch."""
        return self._fitted(answers, rng, _effort(self.prior.size).some, _DRAWS[0] // 2, None)

    def estimated(self, gain: Matrix) -> float:
        """Return the estimated utility of a gain; of many weights only those that it involves are drawn."""
        if self.prior.size <= FEW_ENOUGH:
            return super().estimated(gain)
        some = np.flatnonzero(gain)
        return float(gain[some] @ median_weights(self.log_weights_of(some))) if len(some) else 0.0

    def latent(self, gains: Matrix) -> Matrix:
        """Return the latent preferences for the first side, shape (n, pairs); of many weights only a few are drawn."""
        some = np.flatnonzero(gains.any(axis=0))
        if self.prior.size <= FEW_ENOUGH or 2 * len(some) > self.prior.size:
            return super().latent(gains)
        return self.response.latent(relative_weights(self.log_weights_of(some)), self.person, gains[:, some])

    def subset(self, rows: NDArray[np.intp], effective: float) -> Self:
        """Return the belief restricted to some of the draws, which are worth `effective` independent ones."""
        drawn = _Drawn(self.prior, self.log_weights[rows], None)
        return replace(self, drawn=drawn, people=self.people.subset(rows), means=effective)

    def _start(self, answers: Evidence, newest: Evidence) -> Matrix | None:
        """Return the current sites, with empty ones inserted for the newest answers at the end of their kinds."""
        before = self.site.shape[1] - len(self.prior.order)
        if newest.n_answers > _NEWEST or answers.n_answers != before + newest.n_answers:
            return None
        new_choices, new_points = len(newest.choices.gain), len(newest.points.cell)
        places = [len(answers.choices.gain) - new_choices] * new_choices + [before] * new_points
        return np.insert(self.site, places, [[LEAST], [0.0]], axis=1)

    def _fitted(
        self, answers: Evidence, rng: Generator, h: int, n: int, start: Matrix | None, passes: int = _PASSES
    ) -> Self:
        if answers.n_answers > MOST_ANSWERS:
            raise Problem(
                f"With so many mistakes, at most {MOST_ANSWERS} answers can be combined; there are "
                f"{answers.n_answers:,}. All are kept in the session; undo the latest ones to see what the others give."
            )
        fewer = round(h * min(1.0, (_WEIGHED_FULLY / max(answers.n_answers, 1)) ** 3))
        h = max(min(h, 2 * FEWEST_SETS), fewer)
        hyper, log_proposal = self._proposed(h, rng)
        at, involved = np.zeros(self.prior.size), answers.involved
        at[involved] = self.log_weights_of(involved).mean(axis=0)
        answered = as_intervals(answers, self.prior, hyper, at)
        if start is None:
            passes = _effort(self.prior.size).first_passes
            start = np.repeat([[LEAST], [0.0]], len(answered.share), axis=1)
        squares = prior_covariances(answered.projection, self.prior)
        randomness = _Randomness.of(self.prior, len(answered.share), n, rng)
        sites = propagated(answered, self.prior.spreads_at(hyper), squares, start, passes)
        logs = np.round(sites.evidence - 0.5 * (hyper**2).sum(axis=1) - log_proposal, 9)
        shares = np.exp(logs - logs.max())
        return self._of(self.prior, answered.projection, hyper, shares / shares.sum(), sites, randomness)

    def _proposed(self, h: int, rng: Generator) -> tuple[Matrix, Matrix]:
        """Draw hyperparameters from a t fitted to their current posterior; return them with their log-densities."""
        d = self.hyper.shape[1]
        mean, covariance = quadratic_fit(self.hyper, self.evidence)
        # Rounded far more coarsely than machines differ, and far more finely than a proposal needs.
        root = np.round(np.linalg.cholesky(_WIDENED * covariance), _FIT_DECIMALS)
        mean = np.round(mean, _FIT_DECIMALS)
        scale = np.sqrt(_DEGREES / (2.0 * rng.standard_gamma(_DEGREES / 2, h)))
        scores = rng.standard_normal((h, d)) * scale[:, None]
        density = -0.5 * (_DEGREES + d) * np.log1p((scores**2).sum(axis=1) / _DEGREES)
        return np.round(mean + product(scores, root.T), 9), density

    @classmethod
    def _of(
        cls,
        prior: WeightPrior,
        projection: Matrix,
        hyper: Matrix,
        shares: Matrix,
        sites: Sites,
        randomness: _Randomness,
    ) -> Self:
        """Draw from the mixture over sets of hyperparameters that the sites define."""
        spreads = prior.spreads_at(hyper)
        chosen, drawn, means = _conditional_draws(prior, projection, spreads, sites, shares, randomness)
        site = np.stack([(shares[:, None] * one).sum(axis=0) for one in (sites.precision, sites.weighted)])
        people = _people(hyper[chosen, prior.n_learned :])
        over_all = np.sqrt((spreads[chosen] ** 2).mean(axis=0))
        return cls(prior, ResponseModel.of_ratios(), drawn, people, means, hyper, sites.evidence, site, over_all)


class _Normals:
    """Standard normal numbers, n per weight, from separate streams of which only those requested are drawn."""

    def __init__(self, n: int, rng: Generator) -> None:
        self._n, self._seed = n, int(rng.integers(2**63))

    def of(self, weights: NDArray[np.intp]) -> Matrix:
        """Return the numbers of some weights, shape (n, c)."""
        bits, found = np.random.PCG64(self._seed), np.empty((len(weights), self._n))
        numbers, start = Generator(bits), bits.state
        for own, weight in zip(found, weights.tolist(), strict=True):
            bits.state = start
            bits.advance(weight << 64)
            numbers.standard_normal(out=own)
        return found.T


class _Randomness(NamedTuple):
    """Standard normal numbers behind n draws: for the labels of shared parts, for the weights and for the answers."""

    tick: float
    shared: list[Matrix]
    own: _Normals
    noise: Matrix

    @classmethod
    def of(cls, prior: WeightPrior, n_answers: int, n: int, rng: Generator) -> _Randomness:
        tick = rng.random()
        shared = [rng.standard_normal((n, part.n_labels)) for part in prior.parts[:-1]]
        return cls(tick, shared, _Normals(n, rng), rng.standard_normal((n, n_answers)))


class _Parts(NamedTuple):
    """Components of n draws of log-weights: own parts (from the answers, else random) and shared parts.

    Parameters
    ----------
    normals : _Normals
        Random numbers, in units of `spread`.
    spread : ndarray of shape (n, 1)
        Spread of the weights' own parts.
    involved, conditioned : ndarray of shape (c,) and (n, c)
        Indices of the weights that were asked about, and their own parts.
    shared : list of ndarray of shape (n, labels)
        Values of the shared parts.
    """

    normals: _Normals
    spread: Matrix
    involved: NDArray[np.intp]
    conditioned: Matrix
    shared: Sequence[Matrix]

    def of(self, some: NDArray[np.intp], prior: WeightPrior) -> Matrix:
        """Return the draws of some of the weights, shape (n, c)."""
        logs = self.normals.of(some) * self.spread
        _, known, places = np.intersect1d(self.involved, some, return_indices=True)
        logs[:, places] = self.conditioned[:, known]
        for part, value in zip(prior.parts, self.shared, strict=False):
            logs += part.on_weights(value + part.mean, some)  # in the order of the memory of `logs`
        return logs


class _Drawn:
    """Draws of log-weights, shape (n, m), or their components.

    An intermediate belief about thousands of weights is asked for only a few of them, so draws are assembled on demand.
    """

    def __init__(self, prior: WeightPrior, logs: Matrix | None, parts: _Parts | None) -> None:
        self._prior, self._logs, self._parts, self._lock = prior, logs, parts, Lock()

    def of(self, some: NDArray[np.intp]) -> Matrix:
        """Return the draws of some of the weights, shape (n, c)."""
        with self._lock:
            if self._parts is not None and not len(self._prior.order):
                return np.round(self._parts.of(some, self._prior), 9)
        return self.all()[:, some]

    def all(self) -> Matrix:
        """Return the draws of all weights."""
        with self._lock:
            if self._logs is None:
                assert self._parts is not None
                n, everything = len(self._parts.spread), np.arange(self._prior.size)
                logs = np.empty((len(everything), n)).T
                for some in memory_slices(len(everything), n):
                    np.round(self._parts.of(everything[some], self._prior), 9, out=logs[:, some])
                if len(self._prior.order):
                    logs = self._prior.in_order(logs)
                self._logs, self._parts = logs, None
            return self._logs


@dataclass(frozen=True, eq=False)
class _Means:
    """Means of the log-weights under each of h sets of hyperparameters, whose shares of the draws are `shares` (h,).

    Parameters
    ----------
    shares : ndarray of shape (h,)
        Sum 1.
    involved, own : ndarray of shape (c,) and (h, c)
        Indices of the weights that were asked about, and the means of their own parts.
    shared : list of ndarray of shape (h, labels)
        Means of the shared parts.
    """

    shares: Matrix
    involved: NDArray[np.intp]
    own: Matrix
    shared: Sequence[Matrix]

    def effective(self, logs: Matrix, prior: WeightPrior) -> float:
        """Return what draws (n, m) are worth: few sets of hyperparameters inflate the error of a mean."""
        means = np.zeros((len(self.shares), prior.size))
        means[:, self.involved] = self.own
        for part, value in zip(prior.parts, self.shared, strict=False):
            means += part.on_weights(value)
        means -= means.mean(axis=1, keepdims=True)
        share = self.shares[:, None]

        def variance(of_some: Matrix) -> Matrix:
            return np.asarray((share * (of_some - (share * of_some).sum(axis=0)) ** 2).sum(axis=0))

        between = by_columns(means.shape, lambda some: variance(means[:, some]))
        level = logs.mean(axis=1, keepdims=True)
        varied = by_columns(logs.shape, lambda some: (logs[:, some] - level).var(axis=0))
        total = np.maximum(varied, 1e-12)
        error = between * float((self.shares**2).sum()) + np.maximum(total - between, 0.0) / len(logs)
        return float(min((total / np.maximum(error, 1e-300)).min(), len(logs)))


def draws_while_asking(size: int) -> int:
    """Return the number of draws used while asking, for a number of weights."""
    return _scaled_draws(*_DRAWS, size)


def _effort(size: int) -> _Effort:
    """Return the effort for a number of weights: answers about many hardly overlap, and are soon fitted."""
    return _FEW_WEIGHTS if size <= FEW_ENOUGH else _MANY_WEIGHTS


def _scaled_draws(fewest: int, most: int, size: int) -> int:
    return max(fewest, most * FEW_ENOUGH // max(size, FEW_ENOUGH))


def _people(hyper: Matrix) -> Person:
    """Return how people answer with given errors, power and lapse, in standard normal scores (n, 4)."""
    n, (choice, score, power, lapse) = len(hyper), (_CENTRES + _WIDTHS * hyper).T
    return Person(
        LOGISTIC / np.exp(choice),
        np.full(n, _TIE),
        np.full(n, _GAP),
        1.0 / (1.0 + np.exp(-lapse)),
        np.ones(n),
        np.exp(power),
        error_of_counts(score),
        np.full(n, _PULL),
    )


def _linear_logs(amounts: Matrix, at: Matrix) -> tuple[Matrix, Matrix]:
    """Return shares (n, m) and constants (n,) with log(amounts @ exp(x)) = shares @ x + constant near x = `at`.

    Amounts (n, m) must not be negative. Rows with one amount are exact; a row of zeros gives a constant of -inf.
    """
    parts = amounts * np.exp(at - at.max())
    total = parts.sum(axis=1)
    shares = parts / np.where(total > 0, total, 1.0)[:, None]
    with np.errstate(divide="ignore"):
        return shares, np.asarray(np.log(total) + at.max() - (shares * at).sum(axis=1))


def _one_hot(places: NDArray[np.intp], m: int) -> Matrix:
    """Return rows (n, m) of zeros with a single one each; the identity itself takes 46 MiB for fifty classes."""
    rows = np.zeros((len(places), m))
    rows[np.arange(len(places)), places] = 1.0
    return rows


def as_intervals(answers: Evidence, prior: WeightPrior, hyper: Matrix, at: Matrix) -> Intervals:
    """Return the answers, then the stated orders, as intervals; trades of many mistakes are linearised about `at`."""
    people = _people(hyper[:, prior.n_learned :])
    choices, points = answers.choices, answers.points
    good, above = _linear_logs(np.maximum(choices.gain, 0.0), at)
    bad, below = _linear_logs(np.maximum(-choices.gain, 0.0), at)
    decided = np.isinf(above) | np.isinf(below)  # one side is better whatever the weights
    shift = np.where(decided, np.where(np.isinf(below), 700.0, -700.0), above - below)
    cuts = np.array([_TIE, _GAP]) / people.sensitivity[:, None]
    low = cuts @ choices.near.T - shift
    high = np.where(choices.open_, np.inf, cuts @ choices.far.T - shift)
    rest, constant = _linear_logs(np.maximum(points.rest, 0.0), at)
    toward = rest - _one_hot(points.cell, prior.size)
    # Undo the pull towards the start and the power of ratios, to recover the interval that the person stated.
    pull = np.where(np.isnan(points.start), 0.0, _PULL)
    start, amount = np.nan_to_num(points.start), points.log_amount
    slope = people.shrinkage[:, None]
    ends = [((end - pull * start) / (1 - pull) - amount) / slope + amount - constant for end in points[2:4]]
    order = _one_hot(prior.order[:, 1], prior.size) - _one_hot(prior.order[:, 0], prior.size)
    of_choices = np.repeat((LOGISTIC / people.sensitivity)[:, None], len(shift), axis=1)
    of_points = people.error[:, None] / (slope * (1 - pull))
    lapse = np.repeat(people.lapse[:, None], answers.n_answers, axis=1)
    certain = np.zeros((len(hyper), len(order)))
    projection = np.concatenate([np.where(decided[:, None], 0.0, good - bad), toward, order])
    centre = product(projection, prior.centre[:, None])[:, 0]
    return Intervals(
        projection,
        np.concatenate([low, ends[0], certain], axis=1) - centre,
        np.concatenate([high, ends[1], np.full(certain.shape, np.inf)], axis=1) - centre,
        np.concatenate([of_choices, of_points, certain], axis=1),
        np.concatenate([lapse, certain], axis=1),
        np.concatenate([choices.lapse, point_lapse(points), np.ones(len(order))]),
    )


def _on_labels(projection: Matrix, prior: WeightPrior) -> tuple[list[Matrix], NDArray[np.intp], Matrix]:
    """Sum projections (n, m) over weights with a common label, for each shared part: a list of (n, labels).

    Also return the indices of the few weights that were asked about, shape (c,), and the projections on them, (n, c).
    """
    involved = np.flatnonzero(projection.any(axis=0))
    return [part.sums(projection) for part in prior.parts[:-1]], involved, projection[:, involved]


def prior_covariances(projection: Matrix, prior: WeightPrior) -> Matrix:
    """Return the prior covariance of the projections due to each part of the log-weights at a spread of 1."""
    sums, _, few = _on_labels(projection, prior)
    return np.stack([product(one, one.T) for one in (*sums, few)])


def _conditional_draws(
    prior: WeightPrior, projection: Matrix, spreads: Matrix, sites: Sites, shares: Matrix, randomness: _Randomness
) -> tuple[NDArray[np.intp], _Drawn, _Means]:
    """Draw log-weights from the mixture; return the set of hyperparameters of each draw, the draws, and all means.

    A draw from the prior is corrected by what the answers say about its projections (Matheron's rule).
    """
    n = len(randomness.noise)
    ticks = (randomness.tick + np.arange(n)) / n
    chosen = np.minimum(np.searchsorted(np.cumsum(shares), ticks), len(shares) - 1)
    variance = spreads**2
    values = [spreads[chosen, place][:, None] * value for place, value in enumerate(randomness.shared)]
    on_labels, involved, few = _on_labels(projection, prior)
    spread = spreads[chosen, -1:]
    conditioned = randomness.own.of(involved) * spread
    wanted = off = np.zeros((len(spreads), 0))
    if len(projection):
        projected = product(conditioned, few.T)
        for value, one in zip(values, on_labels, strict=True):
            projected += product(value, one.T)
        root = np.sqrt(sites.precision)
        wanted = sites.weighted / root
        off = wanted[chosen] - root[chosen] * projected - randomness.noise
        # Draws from one set of hyperparameters are adjacent.
        ends = np.searchsorted(chosen, np.arange(len(spreads) + 1))
        for h, (start, stop) in enumerate(pairwise(ends)):
            for some in (off[start:stop], wanted[h : h + 1]):  # times the inverse of I + root covariance root, and root
                some[:] = (some - product(some * root[h], sites.posterior_covariance[h]) * root[h]) * root[h]
        conditioned += product(off, few) * variance[chosen, -1:]
        for place, one in enumerate(on_labels):
            values[place] += product(off, one) * variance[chosen, place][:, None]
    shared = [product(wanted, one) * variance[:, place][:, None] for place, one in enumerate(on_labels)]
    means = _Means(shares, involved, product(wanted, few) * variance[:, -1:], shared)
    return chosen, _Drawn(prior, None, _Parts(randomness.own, spread, involved, conditioned, values)), means
