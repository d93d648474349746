"""Beliefs about many weights: every answer is an interval on a difference of log-weights.

Where noise depends on ratios alone, an equal point of two mistakes says between which numbers the noisy log-ratio of
their weights lies, and a choice is an equal point of which only the side is known. Expectation propagation (Minka 2001;
in the form of Rasmussen and Williams 2006, section 3.6) turns such intervals into a Gaussian over the log-weights. It
works with as many numbers as there are answers, so that fifty classes cost little more than six. Spreads of rows,
columns, piles and own parts and the person's errors are drawn by population Monte Carlo on the running evidence (Cappé
et al. 2004). Trades of more than two mistakes are linear in the log-weights to first order about the present mean.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from elicit_app.elicitation.belief import KEPT, Posterior, at_a_time, by_columns
from elicit_app.elicitation.prior import WeightPrior
from elicit_app.elicitation.questions import Matrix
from elicit_app.elicitation.response import Evidence, Person, ResponseModel, point_lapse
from elicit_app.problem import Problem
from metrics.batches import in_threads

LOGISTIC = 1.702  # a logistic variable is about normal with this standard deviation

MOST_ANSWERS = 500
_WEIGHED_FULLY = 120  # answers: time grows with the cube of their number, so beyond it fewer sets are looked at
_FEWEST_SETS = 45  # of hyperparameters: as many numbers as a quadratic of four spreads, two errors, power and lapse has
_PARTS, _MOST_NUMBERS = 4, 750_000  # fitted side by side: the same parts by any number of threads, so the same sums
_DRAWS, _DRAWS_TO_SHOW = (400, 1_200), (2_400, 12_000)  # fewest, and most: with fifty classes a draw is 20 kB
_MOST_OF_WEIGHTS = 90  # the mistakes among ten classes
_POPULATION, _POPULATION_TO_SHOW = 160, 800
_FITS_TO_SHOW = 3  # at most, .4 s each with ten classes
_PASSES, _FIRST_PASSES = 3, 12  # of expectation propagation, from sites that nearly fit, and from none
_DAMPING = 0.8
_GENTLE_PASSES, _GENTLE_DAMPING = 12, 0.4
_SETTLED = 0.5  # standard deviations by which an answer alone may still differ from the fit of all
_LEAST = 1e-10  # precision of a site that says nothing
_DEGREES = 8.0  # of the proposal
_WIDENED = 1.15  # its covariance, times that of the fit
_CURVATURES = (0.6, 60.0)  # least and most precision of the fit; that of the prior is 1
_FARTHEST = 3.5  # normal score of a centre
_SPREAD_OF_SPREADS = 0.5
# Of the logarithms (logit for the lapse) of: error of a choice, error of an equal point, power of a ratio, lapse.
_CENTRES = np.array([np.log(0.5), np.log(0.6), -0.1, -4.5])
_WIDTHS = np.array([0.7, 0.4, 0.2, 1.2])
_TIE, _GAP, _PULL = 0.06, 1.5, 0.05
_TINY = 1e-300
_PHI = 1.0 / np.sqrt(2.0 * np.pi)


class _Intervals(NamedTuple):
    """Answers as intervals on ``projection @ log_weights``, with normal noise, for each of h sets of hyperparameters.

    Parameters
    ----------
    projection : ndarray of shape (n, m)
        One row an answer.
    low, high : ndarray of shape (h, n)
        Between which the noisy projection lies; may be infinite.
    error : ndarray of shape (h, n)
        Standard deviation of the noise.
    lapse : ndarray of shape (h, n)
        Probability that the answer says nothing.
    share : ndarray of shape (n,)
        Probability of the answer where it says nothing.
    """

    projection: Matrix
    low: Matrix
    high: Matrix
    error: Matrix
    lapse: Matrix
    share: Matrix

    def of(self, some: slice | NDArray[np.intp]) -> _Intervals:
        """Return them under some of the sets of hyperparameters."""
        low, high, error, lapse = (each[some] for each in (self.low, self.high, self.error, self.lapse))
        return self._replace(low=low, high=high, error=error, lapse=lapse)


class _Sites(NamedTuple):
    """Gaussian stand-ins of the answers, for each set of hyperparameters: shape (h, n) each, and the evidence (h,)."""

    precision: Matrix
    weighted: Matrix  # precision times mean
    evidence: Matrix
    inverse: Matrix  # (h, n, n), of I + root(precision) covariance root(precision)


@dataclass(frozen=True, eq=False)
class IntervalPosterior(Posterior):
    """Draws of a mixture of Gaussians over the log-weights, one for each set of hyperparameters.

    Parameters
    ----------
    log_draws : ndarray of shape (n, m)
        Of the log-weights.
    people : Person
        As many draws of how the person answers.
    effective : float
        What the draws are worth.
    hyper : ndarray of shape (h, parts + 4)
        Hyperparameters in standard normal scores: logarithms of the spreads, then those of `_CENTRES`.
    evidence : ndarray of shape (h,)
        Logarithm of the evidence of the answers under each.
    site : ndarray of shape (2, answers)
        Mean precision and precision-weighted mean of the answers' stand-ins: where the next fit starts.
    """

    log_draws: Matrix
    people: Person
    effective: float
    hyper: Matrix
    evidence: Matrix
    site: Matrix

    @classmethod
    def from_prior(cls, prior: WeightPrior, rng: np.random.Generator, n: int) -> Self:
        """Draw n times from the prior."""
        h = _POPULATION
        hyper = rng.standard_normal((h, len(prior.parts) + len(_CENTRES)))
        nothing = _Sites(np.zeros((h, 0)), np.zeros((h, 0)), np.zeros(h), np.zeros((h, 0, 0)))
        return cls._of(prior, np.zeros((0, prior.size)), hyper, np.full(h, 1.0 / h), nothing, rng, n)

    @cached_property
    def log_weights(self) -> Matrix:
        """Return the draws of the log-weights, shape (n, m)."""
        return self.log_draws

    @property
    def person(self) -> Person:
        """Return the draws of how the person answers."""
        return self.people

    @property
    def effective_draws(self) -> float:
        """Return what the draws are worth: few sets of hyperparameters inflate the error of a mean."""
        return self.effective

    def updated(self, answers: Evidence, newest: Evidence, rng: np.random.Generator) -> Self:
        """Fit all answers again, from where the fit stood before the newest."""
        n = draws_while_asking(self.prior.size)
        return self._fitted(answers, rng, _POPULATION, n, self._start(answers, newest))

    def refined(self, answers: Evidence, rng: np.random.Generator) -> Self:
        """Fit with more hyperparameters, and draw more; where few of them explain the answers, from there again."""
        n, fits = _so_many(*_DRAWS_TO_SHOW, self.prior.size), [self]
        for _ in range(_FITS_TO_SHOW if self.prior.size <= _MOST_OF_WEIGHTS else 1):
            fits.append(fits[-1]._fitted(answers, rng, _POPULATION_TO_SHOW, n, fits[-1].site))
            if fits[-1].effective >= KEPT:
                break
        return max(fits[1:], key=lambda one: one.effective)

    def refitted(self, answers: Evidence, rng: np.random.Generator) -> Self:
        """Fit some of the answers from scratch."""
        return self._fitted(answers, rng, _POPULATION // 2, _DRAWS[0] // 2, None)

    def only(self, rows: NDArray[np.intp], effective: float) -> Self:
        """Return the belief by some of the draws, which are worth `effective`."""
        return replace(self, log_draws=self.log_draws[rows], people=self.people.only(rows), effective=effective)

    def _start(self, answers: Evidence, newest: Evidence) -> Matrix | None:
        """Return the sites so far with an empty one where the newest answer stands: at the end of its kind."""
        before = self.site.shape[1] - len(self.prior.order)
        if newest.n_answers > 1 or answers.n_answers != before + newest.n_answers:
            return None
        if not newest.n_answers:
            return self.site
        place = len(answers.choices.gain) - 1 if len(newest.choices.gain) else answers.n_answers - 1
        return np.insert(self.site, place, [_LEAST, 0.0], axis=1)

    def _fitted(self, answers: Evidence, rng: np.random.Generator, h: int, n: int, start: Matrix | None) -> Self:
        if answers.n_answers > MOST_ANSWERS:
            raise Problem(
                f"Of so many mistakes at most {MOST_ANSWERS} answers can be weighed together, these are "
                f"{answers.n_answers:,}. All are kept in the session; undo the last ones to see what the others say."
            )
        h = max(2 * _FEWEST_SETS, round(h * min(1.0, (_WEIGHED_FULLY / max(answers.n_answers, 1)) ** 3)))
        hyper, log_proposal = self._proposed(h, rng)
        answered = _as_intervals(answers, self.prior, hyper, self.log_draws.mean(axis=0))
        passes = _PASSES
        if start is None:
            passes = _FIRST_PASSES
            start = np.repeat([[_LEAST], [0.0]], len(answered.share), axis=1)
        sites = _propagated(answered, _spreads(self.prior, hyper), self.prior, start, passes)
        logs = np.round(sites.evidence - 0.5 * (hyper**2).sum(axis=1) - log_proposal, 9)
        shares = np.exp(logs - logs.max())
        return self._of(self.prior, answered.projection, hyper, shares / shares.sum(), sites, rng, n)

    def _proposed(self, h: int, rng: np.random.Generator) -> tuple[Matrix, Matrix]:
        """Draw hyperparameters from a t that fits their posterior so far; return them with their log-densities."""
        d = self.hyper.shape[1]
        mean, covariance = _quadratic_fit(self.hyper, self.evidence)
        root = np.linalg.cholesky(_WIDENED * covariance)
        scale = np.sqrt(_DEGREES / (2.0 * rng.standard_gamma(_DEGREES / 2, h)))
        scores = rng.standard_normal((h, d)) * scale[:, None]
        density = -0.5 * (_DEGREES + d) * np.log1p((scores**2).sum(axis=1) / _DEGREES)
        return np.round(mean + scores @ root.T, 9), density

    @classmethod
    def _of(
        cls,
        prior: WeightPrior,
        projection: Matrix,
        hyper: Matrix,
        shares: Matrix,
        sites: _Sites,
        rng: np.random.Generator,
        n: int,
    ) -> Self:
        """Draw n times from the mixture of what the sites say under each set of hyperparameters."""
        ticks = (rng.random() + np.arange(n)) / n
        chosen = np.minimum(np.searchsorted(np.cumsum(shares), ticks), len(shares) - 1)
        logs, means = _conditional_draws(prior, projection, _spreads(prior, hyper), sites, chosen, rng)
        if len(prior.order):
            logs = prior.in_order(logs)
        logs = np.round(logs, 9, out=logs)
        level = logs.mean(axis=1, keepdims=True)
        means = means - means.mean(axis=1, keepdims=True)
        between = shares @ (means - shares @ means) ** 2
        varied = by_columns(logs.shape, lambda some: (logs[:, some] - level).var(axis=0))
        total = np.maximum(varied, 1e-12)
        error = between * float(shares @ shares) + np.maximum(total - between, 0.0) / n
        effective = float(min((total / np.maximum(error, 1e-300)).min(), n))
        site = np.stack([shares @ sites.precision, shares @ sites.weighted])
        response = ResponseModel.of_ratios()
        return cls(
            prior, response, logs, _people(hyper[chosen, len(prior.parts) :]), effective, hyper, sites.evidence, site
        )


def draws_while_asking(size: int) -> int:
    """Return by how many draws so many weights are followed."""
    return _so_many(*_DRAWS, size)


def _so_many(fewest: int, most: int, size: int) -> int:
    return max(fewest, most * _MOST_OF_WEIGHTS // max(size, _MOST_OF_WEIGHTS))


def _quadratic_fit(hyper: Matrix, evidence: Matrix) -> tuple[Matrix, Matrix]:
    """Return mean and covariance of the posterior of hyperparameters, from the curvature of their log-evidence.

    The evidence is a smooth function without noise: a quadratic fitted to it, best where the posterior is large, knows
    more about its shape than the scatter of the points does.
    """
    settled = np.isfinite(evidence)
    hyper, evidence = hyper[settled], evidence[settled]
    h, d = hyper.shape
    logs = evidence - 0.5 * (hyper**2).sum(axis=1)
    trust = np.sqrt(np.exp(logs - logs.max()) + 0.02)
    one, other = np.triu_indices(d)
    features = np.hstack([np.ones((h, 1)), hyper, hyper[:, one] * hyper[:, other]])
    ridge = 0.1 * np.eye(features.shape[1])
    ridge[0, 0] = 1e-9
    left = (features * trust[:, None] ** 2).T @ features + ridge
    found = np.linalg.solve(left, (features * trust[:, None] ** 2).T @ (evidence - evidence.max()))
    curve = np.zeros((d, d))
    curve[one, other] = found[1 + d :]
    values, axes = np.linalg.eigh(np.eye(d) - curve - curve.T)
    covariance = (axes / np.clip(values, *_CURVATURES)) @ axes.T
    return np.clip(covariance @ found[1 : 1 + d], -_FARTHEST, _FARTHEST), np.asarray(0.5 * (covariance + covariance.T))


def _spreads(prior: WeightPrior, hyper: Matrix) -> Matrix:
    """Return the spread of each part of the log-weights, shape (h, parts)."""
    centres = np.log([part.spread for part in prior.parts])
    return np.exp(centres + _SPREAD_OF_SPREADS * hyper[:, : len(prior.parts)])


def _people(hyper: Matrix) -> Person:
    """Return how people answer of whom errors, power and lapse are known, in standard normal scores (n, 4)."""
    choice, point, power, lapse = (_CENTRES + _WIDTHS * hyper).T
    n = len(hyper)
    return Person(
        LOGISTIC / np.exp(choice),
        np.full(n, _TIE),
        np.full(n, _GAP),
        1.0 / (1.0 + np.exp(-lapse)),
        np.ones(n),
        np.exp(power),
        np.exp(point),
        np.full(n, _PULL),
    )


def _linear_logs(amounts: Matrix, at: Matrix) -> tuple[Matrix, Matrix]:
    """Return shares (n, m) and constants (n,) with log(amounts @ exp(x)) = shares @ x + constant near x = `at`.

    Amounts (n, m) are not negative; exact for rows with one amount. A row of zeros gives a constant of -inf.
    """
    parts = amounts * np.exp(at - at.max())
    total = parts.sum(axis=1)
    shares = parts / np.where(total > 0, total, 1.0)[:, None]
    with np.errstate(divide="ignore"):
        return shares, np.asarray(np.log(total) + at.max() - shares @ at)


def _one_each(places: NDArray[np.intp], m: int) -> Matrix:
    """Return rows (n, m) of zeros with a one in each: of fifty classes the identity itself is 46 MiB."""
    rows = np.zeros((len(places), m))
    rows[np.arange(len(places)), places] = 1.0
    return rows


def _as_intervals(answers: Evidence, prior: WeightPrior, hyper: Matrix, at: Matrix) -> _Intervals:
    """Return the answers, then the stated orders, as intervals; trades of many mistakes are linear about `at`."""
    people = _people(hyper[:, len(prior.parts) :])
    choices, points = answers.choices, answers.points
    good, above = _linear_logs(np.maximum(choices.gain, 0.0), at)
    bad, below = _linear_logs(np.maximum(-choices.gain, 0.0), at)
    decided = np.isinf(above) | np.isinf(below)  # one side is better whatever the weights
    shift = np.where(decided, np.where(np.isinf(below), 700.0, -700.0), above - below)
    cuts = np.array([_TIE, _GAP]) / people.sensitivity[:, None]
    low = cuts @ choices.near.T - shift
    high = np.where(choices.open_, np.inf, cuts @ choices.far.T - shift)
    rest, constant = _linear_logs(np.maximum(points.rest, 0.0), at)
    toward = rest - _one_each(points.cell, prior.size)
    # What is left of the numbers said when the pull towards the start, and the power of ratios, are taken off.
    pull = np.where(np.isnan(points.start), 0.0, _PULL)
    start, amount = np.nan_to_num(points.start), points.log_amount
    slope = people.shrinkage[:, None]
    ends = [((end - pull * start) / (1 - pull) - amount) / slope + amount - constant for end in points[2:4]]
    order = _one_each(prior.order[:, 1], prior.size) - _one_each(prior.order[:, 0], prior.size)
    h, n_choices, n_points, n_orders = len(hyper), len(shift), len(pull), len(order)
    of_choices = np.repeat((LOGISTIC / people.sensitivity)[:, None], n_choices, axis=1)
    of_points = people.error[:, None] / (slope * (1 - pull))
    lapse = np.repeat(people.lapse[:, None], n_choices + n_points, axis=1)
    certain = np.zeros((h, n_orders))
    return _Intervals(
        np.concatenate([np.where(decided[:, None], 0.0, good - bad), toward, order]),
        np.concatenate([low, ends[0], certain], axis=1),
        np.concatenate([high, ends[1], np.full((h, n_orders), np.inf)], axis=1),
        np.concatenate([of_choices, of_points, certain], axis=1),
        np.concatenate([lapse, certain], axis=1),
        np.concatenate([choices.lapse, point_lapse(points), np.ones(n_orders)]),
    )


def _on_labels(projection: Matrix, prior: WeightPrior) -> tuple[list[Matrix], NDArray[np.intp], Matrix]:
    """Return sums of projections (n, m) over weights with a label in common, (n, labels), for each part they share.

    Then the few weights that are asked about, shape (c,), and the projections on those, (n, c).
    """
    about = np.flatnonzero(projection.any(axis=0))
    return [part.sums(projection) for part in prior.parts[:-1]], about, projection[:, about]


def _covariances(projection: Matrix, spreads: Matrix, prior: WeightPrior) -> Matrix:
    """Return the prior covariance of the projections under each set of spreads, shape (h, n, n)."""
    sums, _, few = _on_labels(projection, prior)
    squares = np.stack([one @ one.T for one in (*sums, few)])
    return np.asarray(np.tensordot(spreads**2, squares, axes=1))


def _propagated(answered: _Intervals, spreads: Matrix, prior: WeightPrior, start: Matrix, passes: int) -> _Sites:
    """Fit the sites for every set of hyperparameters, as many of them at once as have room.

    Where passes swing to and fro, gentler ones follow. Fits that do not settle even then have no evidence (-inf).
    """
    h, n = answered.low.shape
    at_once = max(1, min(-(-h // _PARTS), _MOST_NUMBERS // max(n * n, 1)))
    parts = (slice(first, first + at_once) for first in range(0, h, at_once))
    fits = in_threads(lambda own: _until_settled(answered.of(own), spreads[own], prior, start, passes), parts)
    sites = _Sites(*map(np.concatenate, zip(*(found for found, _ in fits), strict=True)))
    settled = np.concatenate([fine for _, fine in fits])
    if settled.sum() < _FEWEST_SETS:
        return sites
    return sites._replace(evidence=np.where(settled, sites.evidence, -np.inf))


def _until_settled(
    answered: _Intervals, spreads: Matrix, prior: WeightPrior, start: Matrix, passes: int
) -> tuple[_Sites, NDArray[np.bool_]]:
    """Fit the sites from `start` (2, n), gently where they swing, and return which fits have settled."""
    empty = np.repeat(start[:, None], len(spreads), axis=1)
    sites, fine = _after_passes(answered, spreads, prior, empty, passes, _DAMPING)
    if not fine.all():
        swinging = np.flatnonzero(~fine)
        stand_ins = np.stack([sites.precision[swinging], sites.weighted[swinging]])
        again, fine[swinging] = _after_passes(
            answered.of(swinging), spreads[swinging], prior, stand_ins, _GENTLE_PASSES, _GENTLE_DAMPING
        )
        for of_all, of_some in zip(sites, again, strict=True):
            of_all[swinging] = of_some
    return sites, fine


def _after_passes(
    answered: _Intervals, spreads: Matrix, prior: WeightPrior, start: Matrix, passes: int, damping: float
) -> tuple[_Sites, NDArray[np.bool_]]:
    """Fit the sites by parallel expectation propagation from `start` (2, h, n), and return which fits have settled."""
    h, n = answered.low.shape
    covariance = _covariances(answered.projection, spreads, prior)
    precision, weighted = np.maximum(start[0], _LEAST), start[1]
    if not n:
        return _Sites(precision, weighted, np.zeros(h), np.zeros((h, 0, 0))), np.ones(h, dtype=bool)
    variance = np.maximum(np.diagonal(covariance, axis1=1, axis2=2), 1e-12)
    for turn in range(passes + 1):
        root = np.sqrt(precision)
        inner = np.eye(n) + root[:, :, None] * covariance * root[:, None, :]
        inverse = np.linalg.inv(inner)
        solved = covariance @ (root[:, :, None] * inverse * root[:, None, :])
        pulled = (covariance @ weighted[:, :, None])[:, :, 0]
        mean = pulled - (solved @ pulled[:, :, None])[:, :, 0]
        spread = np.clip(variance - (solved * covariance).sum(axis=2), 1e-12, None)
        # Without the answer's own site.
        cavity = np.maximum(1.0 / spread - precision, 1e-9)
        cavity_weighted = mean / spread - weighted
        centre = cavity_weighted / cavity
        log_chance, slope, curve = _tilted(answered, centre, 1.0 / cavity)
        if turn == passes:
            evidence = _evidence(inner, mean, precision, weighted, cavity, cavity_weighted, log_chance)
            settled = (np.abs(centre + slope / cavity - mean) <= _SETTLED * np.sqrt(spread)).all(axis=1)
            settled &= evidence <= 0.0  # it is a probability; where the passes went astray it means nothing
            return _Sites(precision, weighted, evidence, inverse), settled
        step = damping if turn else 1.0
        new = np.maximum(-curve / np.maximum(1.0 + curve / cavity, 1e-6), _LEAST)
        new_weighted = (slope - centre * curve) / np.maximum(1.0 + curve / cavity, 1e-6)
        new_weighted = np.where(new > _LEAST, new_weighted, slope)
        precision = (1 - step) * precision + step * new
        weighted = (1 - step) * weighted + step * new_weighted
    raise AssertionError("unreachable")


def _tilted(answered: _Intervals, mean: Matrix, variance: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    """Return log P(answer) and its first two derivatives by the mean, for normal projections; shape (h, n) each."""
    scale = np.sqrt(variance + answered.error**2)
    low, high = (answered.low - mean) / scale, (answered.high - mean) / scale
    flip = low > 0  # the smaller tail is known more exactly
    inside = np.where(flip, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))
    at_low, at_high = np.exp(-0.5 * low**2) * _PHI, np.exp(-0.5 * high**2) * _PHI
    first = (at_low - at_high) / scale
    second = (np.where(np.isinf(low), 0.0, low) * at_low - np.where(np.isinf(high), 0.0, high) * at_high) / scale**2
    sure = 1.0 - answered.lapse
    chance = np.maximum(sure * inside + answered.lapse * answered.share, _TINY)
    slope = sure * first / chance
    return np.log(chance), slope, np.asarray(sure * second / chance - slope**2)


def _evidence(
    inner: Matrix,
    mean: Matrix,
    precision: Matrix,
    weighted: Matrix,
    cavity: Matrix,
    cavity_weighted: Matrix,
    log_chance: Matrix,
) -> Matrix:
    """Return the logarithm of the evidence, shape (h,) (Rasmussen and Williams 2006, equations 3.65, 3.73, 3.74)."""
    both = cavity + precision
    gaussian = -0.5 * np.linalg.slogdet(inner)[1] + 0.5 * (weighted * mean).sum(axis=1)
    sites = (
        log_chance
        + 0.5 * np.log1p(precision / cavity)
        + 0.5 * cavity_weighted * (precision / cavity * cavity_weighted - 2 * weighted) / both
        - 0.5 * weighted**2 / both
    )
    return np.asarray(gaussian + sites.sum(axis=1))


def _conditional_draws(
    prior: WeightPrior, projection: Matrix, spreads: Matrix, sites: _Sites, chosen: np.ndarray, rng: np.random.Generator
) -> tuple[Matrix, Matrix]:
    """Return draws of the log-weights, shape (n, m), under the chosen hyperparameters, and all means (h, m).

    A draw of the prior is corrected by what the answers say about its projections (Matheron's rule).
    """
    shared, own_spread = prior.parts[:-1], spreads[:, -1:]
    drawn = (rng.standard_normal((len(chosen), int(part.labels.max()) + 1)) for part in shared)
    values = [spreads[chosen, place][:, None] * value for place, value in enumerate(drawn)]
    logs = rng.standard_normal((len(chosen), prior.size))
    logs *= own_spread[chosen]
    means = np.zeros((len(spreads), prior.size))
    if len(projection):
        on_labels, about, few = _on_labels(projection, prior)
        projected = sum((v @ sums.T for v, sums in zip(values, on_labels, strict=True)), logs[:, about] @ few.T)
        root = np.sqrt(sites.precision)
        wanted = sites.weighted / root
        off = wanted[chosen] - root[chosen] * projected - rng.standard_normal(projected.shape)
        # Draws of one set of hyperparameters stand beside each other.
        ends = np.searchsorted(chosen, np.arange(len(spreads) + 1))
        for h, (start, stop) in enumerate(pairwise(ends)):
            both = np.vstack([off[start:stop], wanted[h]]) @ sites.inverse[h] * root[h]
            off[start:stop], wanted[h] = both[:-1], both[-1]
        logs[:, about] += (off @ few) * own_spread[chosen] ** 2
        means[:, about] = (wanted @ few) * own_spread**2
        for place, (part, sums) in enumerate(zip(shared, on_labels, strict=True)):
            values[place] += (off @ sums) * spreads[chosen, place][:, None] ** 2
            means += part.on_weights((wanted @ sums) * spreads[:, place][:, None] ** 2)
    for part, value in zip(shared, values, strict=True):
        for some in at_a_time(len(chosen), prior.size):
            logs[some] += part.on_weights(value[some])
    return logs, means
