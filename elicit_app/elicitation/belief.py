"""The belief after some answers: draws of the weights and of how the person answers; and a cache keyed by history."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from elicit_app.elicitation.prior import WeightPrior, relative_weights
from elicit_app.elicitation.questions import Asked, Belief, Matrix
from elicit_app.elicitation.response import N_PARAMETERS, Evidence, Person, ResponseModel
from elicit_app.elicitation.sampler import LogDensity, annealing, assimilating, gathered, moved
from metrics.batches import InParts
from metrics.elicited.family import family_of

LEVEL = 0.9  # of all intervals
ENDS = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)  # quantile levels at which they end
# Effective draws wanted: a minimum, and a number per draw. Ends of intervals need more than means.
ENOUGH_WHILE_ASKING, ENOUGH_TO_SHOW = (250.0, 0.3), (5_400.0, 9.0)
KEPT = 1_000  # draws behind a shown result: screen, file and intervals use the same ones
_GOES_A_STAGE = 2  # multiples of `sweeps` between the stages that a shown result keeps
_ONE_BY_ONE = 100
_STARTLING = 0.2  # probability of a choice below which the draws are made anew
_RENEWED = 0.6  # worth of a renewed draw: copies have moved little
_YARDSTICKS = 6  # tried for the estimate
_SETTLING_SWEEPS = 20  # after stated orders were imposed on prior draws
_AT_ONCE = 100_000  # numbers (draws times answers): thousands of answers need no more memory than two hundred
_COPIED_AT_ONCE = 500_000  # numbers: with fifty classes a copy of all draws is 45 MiB
_BALANCED = 100  # ratios whose ranges a reduced belief keeps; with fifty classes all would take too long
_PARTS = 20  # the levels of intervals are whole multiples of one such part
_REFIT_PARTICLES = 240  # enough to predict one side or the other
_REFIT_ROUNDS, _REFIT_SWEEPS = 3, 6  # the sampler adapts anew in every round
_REFIT_WIDENED = 1.5  # fewer answers leave more open, and draws contract faster than they spread


Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class Posterior(ABC):
    """Equally weighted draws of the joint posterior of the weights and of how the person answers.

    Parameters
    ----------
    prior : WeightPrior
        Prior of the weights.
    response : ResponseModel
        Model of how answers arise.
    """

    prior: WeightPrior
    response: ResponseModel

    method: ClassVar[str]  # how the draws follow from the answers, with the source: sentences for a report

    @property
    def deviations(self) -> Matrix | None:
        """Return standard deviations of the parts of the log-weights, (parts,), if learned with them; else None."""
        return None

    @property
    @abstractmethod
    def log_weights(self) -> Matrix:
        """Return the draws of the logarithms of the positive weights, shape (n, m); their common shift is arbitrary."""

    @property
    @abstractmethod
    def person(self) -> Person:
        """Return the draws of how the person answers."""

    @property
    @abstractmethod
    def effective_draws(self) -> float:
        """Return the number of independent draws that would determine every ratio as well as these do."""

    @abstractmethod
    def updating(self, answers: Evidence, newest: Evidence, rng: np.random.Generator) -> InParts[Posterior]:
        """Return the belief after one more answer, in parts.

        Parameters
        ----------
        answers : Evidence
            All answers, the newest included.
        newest : Evidence
            The newest answer alone.
        rng : numpy.random.Generator
            Source of chance.
        """

    @abstractmethod
    def refined(self, answers: Evidence, rng: np.random.Generator) -> Posterior:
        """Return the same belief with 1,000 effective draws or more, as far as about a second allows."""

    @abstractmethod
    def refitted(self, answers: Evidence, rng: np.random.Generator) -> Posterior:
        """Return, less exactly, the belief after only some of the answers."""

    @abstractmethod
    def subset(self, rows: NDArray[np.intp], effective: float) -> Self:
        """Return the belief restricted to some of the draws, which are worth `effective` independent ones."""

    def thinned(self, step: int) -> Self:
        """Return the belief by every `step`-th draw."""
        if step == 1:
            return self
        return self.subset(np.arange(0, len(self.log_weights), step), self.effective_draws / step)

    def condensed(self, most: int) -> Self:
        """Return the belief reduced to at most `most` draws that keep the medians and ranges of all draws."""
        n = len(self.log_weights)
        if n <= most:
            return self
        rows = ((np.arange(most) + 0.5) * n / most).astype(np.intp)
        logs = self.ratio_log_weights
        # Of many weights medians take long, and the unit of the ratios that are kept matters little.
        unit = self.yardstick if logs.shape[1] <= _BALANCED else int(logs.mean(axis=0).argmax())
        others = np.delete(np.arange(logs.shape[1]), unit)
        some = others[:: -(-len(others) // _BALANCED)]
        rows = _balanced(logs[:, some] - logs[:, [unit]], rows)
        return self.subset(rows, min(self.effective_draws, float(most)))

    def forget(self) -> None:
        """Drop cached values that the draws determine."""
        for name in ("weights", "samples", "log_ratios"):
            self.__dict__.pop(name, None)

    @cached_property
    def weights(self) -> Matrix:
        """Return the draws of the positive weights, shape (n, m), in any unit."""
        return relative_weights(self.log_weights)

    @cached_property
    def samples(self) -> Matrix:
        """Return the draws of the weights in the family's normalisation, shape (n, m)."""
        return self.prior.normalised(self.weights)

    @cached_property
    def estimate(self) -> Matrix:
        """Return the point estimate in the family's normalisation, shape (m,): medians of ratios.

        Ratios are taken to the weight with the largest median, so that estimates and the middles of the intervals
        describe the same quantity.
        """
        return self.prior.normalised(median_weights(self.log_weights))

    @property
    def middle(self) -> Matrix:
        """Return the positive point estimate that multiplies gains, in any unit."""
        return np.abs(self.estimate)

    @cached_property
    def yardstick(self) -> int:
        """Return the index of the largest weight of the estimate, the reference of all ratios."""
        return int(np.argmax(np.abs(self.estimate)))

    @property
    def ratio_log_weights(self) -> Matrix:
        """Return the draws of the logarithms that ratios are formed from, shape (n, m): the log-weights."""
        return self.log_weights

    @cached_property
    def log_ratios(self) -> Matrix:
        """Return the draws of log weight over log yardstick, shape (n, m)."""
        return np.asarray(self.ratio_log_weights - self.ratio_log_weights[:, [self.yardstick]])

    @cached_property
    def intervals(self) -> Matrix:
        """Return 90 % intervals of the cost matrix, shape (k, k, 2), relative to the largest entry of the estimate."""
        return self.on_mistakes(self.ratio_ends)

    @cached_property
    def ratio_ends(self) -> Matrix:
        """Return the ends of 90 % intervals of weight over yardstick, shape (2, m)."""
        return ends_of_ratios(self.ratio_log_weights, self.yardstick)

    def on_mistakes(self, ends: Matrix) -> Matrix:
        """Place ends of intervals, shape (2, m), in the cells of the cost matrix, shape (k, k, 2)."""
        return np.moveaxis(family_of(self.prior.family).on_errors(ends), 0, -1)

    def latent(self, gains: Matrix) -> Matrix:
        """Return the latent preferences for the first side, shape (n, pairs), given gains (pairs, m)."""
        return self.response.latent(self.weights, self.person, gains)

    def answer_probabilities(self, gains: Matrix, graded: bool = False) -> Matrix:
        """Return the probability of every choice, shape (choices, n, pairs); see the method of `ResponseModel`."""
        return self.response.answer_probabilities(self.latent(gains), self.person, graded)

    def agreement(self, gains: Matrix) -> float:
        """Return the expected share of pairs, given by gains (pairs, m), that the estimate orders correctly."""
        mine = gains @ self.middle > 0
        theirs = (self.weights @ gains.T > 0).mean(axis=0)
        return float(np.where(mine, theirs, 1 - theirs).mean())

    def estimated(self, gain: Matrix) -> float:
        """Return the estimated utility of a gain, shape (m,), in any unit; its sign says which side is better."""
        return float(gain @ self.middle)

    def utilities(self, matrices: Matrix) -> Matrix:
        """Return the utility of matrices (models, k, k) under each draw, shape (n, models)."""
        return np.asarray(self.weights @ self.prior.gain(matrices, np.zeros_like(matrices[0])).T)

    def summary(self, gains: Matrix) -> Belief:
        """Return the immutable summary that a step carries; `gains` are those of random achievable pairs."""
        return Belief(self.estimate, self.intervals, self.agreement(gains))


@dataclass(frozen=True, eq=False)
class ParticlePosterior(Posterior):
    """Draws updated answer by answer, for up to about twenty weights.

    Parameters
    ----------
    draws : ndarray of shape (n, m + 8)
        Coordinates whose prior is standard normal: m of the weights, then those of `ResponseModel.person`.
    effective : float
        Number of independent draws that `draws` are worth.
    sweeps : int
        Moves of every draw per answer, before checking whether more are needed.
    """

    method = (
        "Log ratios have a Student t prior; slips, ties and noise that grows with the amounts are learned "
        "with them, by elliptical slice sampling (Nishihara, Murray and Adams 2014)."
    )

    draws: Matrix
    effective: float
    sweeps: int = 16

    @classmethod
    def from_prior(
        cls, prior: WeightPrior, response: ResponseModel, n: int, rng: np.random.Generator, sweeps: int = 16
    ) -> Self:
        """Draw n times from the prior."""
        return cls(prior, response, prior_draws(prior, n, prior.size + N_PARAMETERS, rng), float(n), sweeps)

    @cached_property
    def log_weights(self) -> Matrix:
        """Return the draws of the log-weights, shape (n, m)."""
        return self.prior.log_weights(self.draws[:, : self.prior.size])

    @cached_property
    def person(self) -> Person:
        """Return the draws of how the person answers."""
        return self.response.person(self.draws[:, self.prior.size :])

    @property
    def effective_draws(self) -> float:
        """Return what the draws are worth, measured by the autocorrelation of their moves."""
        return self.effective

    def updating(self, answers: Evidence, newest: Evidence, rng: np.random.Generator) -> InParts[Self]:
        """Resample by the newest answer, then move given all answers; after a startling choice, sample anew."""
        fit = self.response.log_likelihood(self.weights, self.person, newest).sum(axis=1)
        if self._may_be_stuck(fit, newest):
            # An earlier slip may have led all draws astray: start again from the prior.
            before = prior_draws(self.prior, len(self.draws), self.draws.shape[1], rng)
            _, draws = yield from annealing(before, self._log_likelihood(answers), rng)
            return self._with(draws, _RENEWED * len(draws))
        mixed = yield from assimilating(
            self.draws,
            self.effective,
            fit,
            self._log_likelihood(answers),
            self._observed,
            rng,
            self.sweeps,
            min(self._enough(*ENOUGH_WHILE_ASKING), 0.7 * len(self.draws)),  # few draws cannot be worth more
        )
        return self._with(mixed.particles, mixed.effective)

    def _may_be_stuck(self, fit: Matrix, newest: Evidence) -> bool:
        """Return whether the draws must be made anew, because they give the newest choice a low probability."""
        if not len(newest.choices.gain):
            return False
        return float(np.exp(fit / newest.n_answers).mean()) < _STARTLING

    def refined(self, answers: Evidence, rng: np.random.Generator) -> Self:
        """Move the draws further and keep every stage."""
        density = self._log_likelihood(answers)
        sweeps = _GOES_A_STAGE * self.sweeps
        enough = self._enough(*ENOUGH_TO_SHOW)
        mixed = gathered(self.draws, self.effective, density, self._observed, rng, sweeps, enough)
        return self._with(mixed.particles, mixed.effective)

    def refitted(self, answers: Evidence, rng: np.random.Generator) -> Self:
        """Move some of the draws to the posterior of fewer answers."""
        some = rng.choice(len(self.draws), min(_REFIT_PARTICLES, len(self.draws)), replace=False)
        centre = self.draws.mean(axis=0)
        # Every draw satisfies the stated orders; widening could move it across them.
        draws = centre + (1.0 if len(self.prior.order) else _REFIT_WIDENED) * (self.draws[some] - centre)
        for _ in range(_REFIT_ROUNDS):
            draws = moved(draws, self._log_likelihood(answers), rng, _REFIT_SWEEPS)
        return self._with(draws, float(len(draws)))

    def subset(self, rows: NDArray[np.intp], effective: float) -> Self:
        """Return the belief restricted to some of the draws, which are worth `effective` independent ones."""
        return self._with(self.draws[rows], effective)

    def _enough(self, fewest: float, of_each: float) -> float:
        return max(fewest, of_each * len(self.draws))

    def _with(self, draws: Matrix, effective: float) -> Self:
        return type(self)(self.prior, self.response, draws, effective, self.sweeps)

    def _observed(self, draws: Matrix) -> Matrix:
        """Return every log-weight minus the mean of all, which is arbitrary."""
        logs = self.prior.log_weights(draws[:, : self.prior.size])
        return np.asarray(logs - logs.mean(axis=1, keepdims=True))

    def _log_likelihood(self, answers: Evidence) -> LogDensity:
        m, most = self.prior.size, max(1, _AT_ONCE // max(answers.n_answers, 1))

        def fit_of(draws: Matrix, logs: Matrix) -> Matrix:
            person = self.response.person(draws[:, m:])
            return np.asarray(self.response.log_likelihood(relative_weights(logs), person, answers).sum(axis=1))

        def log_likelihood(draws: Matrix) -> Matrix:
            if len(draws) > most:
                parts = [log_likelihood(draws[start : start + most]) for start in range(0, len(draws), most)]
                return np.concatenate(parts)
            logs = self.prior.log_weights(draws[:, :m])
            if not len(self.prior.order):
                return fit_of(draws, logs)
            # Most of what is tried violates some order, and the likelihood takes longer than to see that.
            fit, kept = np.full(len(draws), -np.inf), np.flatnonzero(self.prior.allowed(logs))
            fit[kept] = fit_of(draws[kept], logs[kept])
            return fit

        return log_likelihood


def prior_draws(prior: WeightPrior, n: int, d: int, rng: np.random.Generator) -> Matrix:
    """Return draws (n, d) from the prior, whose first coordinates are weights that keep the stated orders."""
    draws, m = rng.standard_normal((n, d)), prior.size
    if not len(prior.order):
        return draws
    draws[:, :m] = prior.coordinates(prior.in_order(prior.log_weights(draws[:, :m])))

    def of_orders(draws: Matrix) -> Matrix:
        return np.where(prior.allowed(prior.log_weights(draws[:, :m])), 0.0, -np.inf)

    # Rounding can leave a draw just outside an order that it touches; such a draw can still move.
    return moved(draws, of_orders, rng, _SETTLING_SWEEPS)


def ends_of_ratios(logs: Matrix, yardstick: int) -> Matrix:
    """Return the ends of 90 % intervals of weight over yardstick, shape (2, m), from draws of log-weights (n, m)."""

    def ends(some: slice) -> Matrix:
        ratios = sorted_columns(np.exp(logs[:, some] - logs[:, [yardstick]]))
        return np.asarray(np.quantile(ratios, ENDS, axis=1))

    return by_columns(logs.shape, ends)


def median_weights(log_weights: Matrix) -> Matrix:
    """Return the weights, shape (m,), whose ratios to the largest of them are medians of the draws (n, m)."""

    def middle_above(level: Matrix) -> Matrix:
        # Sorting is faster than selecting the median.
        return by_columns(log_weights.shape, lambda some: _middle(sorted_columns(log_weights[:, some] - level)))

    middle = middle_above(log_weights.mean(axis=1, keepdims=True))
    for _ in range(_YARDSTICKS):  # medians need not be transitive: the largest may change with the yardstick
        top = int(np.argmax(middle))
        middle = middle_above(log_weights[:, [top]])
        if middle.max() <= 0.0:
            break
    return np.asarray(np.exp(middle))


def sorted_columns(values: Matrix) -> Matrix:
    """Return the columns of values (n, m) as rows (m, n), each sorted; adjacent numbers are sorted twice as fast."""
    rows = np.array(values.T, order="C")
    rows.sort(axis=1)
    return rows


def _middle(in_order: Matrix) -> Matrix:
    """Return the medians of the rows of values (m, n), which are sorted."""
    n = in_order.shape[1]
    return np.asarray(0.5 * (in_order[:, (n - 1) // 2] + in_order[:, n // 2]))


def memory_slices(n: int, each: int) -> Iterator[slice]:
    """Yield slices over n items of `each` numbers, small enough that a copy of one slice takes a few megabytes."""
    step = max(1, _COPIED_AT_ONCE // max(each, 1))
    return (slice(start, start + step) for start in range(0, n, step))


def by_columns(shape: tuple[int, ...], of: Callable[[slice], Matrix]) -> Matrix:
    """Apply `of` to slices of the columns of an (n, m) array, and concatenate the results."""
    return np.concatenate([of(some) for some in memory_slices(shape[1], shape[0])], axis=-1)


def _balanced(log_ratios: Matrix, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Exchange rows until those chosen have the medians and the 90 % ranges of all values (n, m)."""
    levels = np.array([ENDS[0], 0.5, ENDS[1]])
    below = log_ratios[:, None, :] < np.quantile(log_ratios, levels, axis=0)
    # Whole numbers, whose sums are the same on every machine; those over two rows are exact in four bytes too.
    excess = (_PARTS * below - np.rint(_PARTS * levels)[:, None]).reshape(len(below), -1).astype(np.float32)
    inside = np.zeros(len(excess), dtype=bool)
    inside[rows] = True
    total, size = excess[inside].sum(axis=0, dtype=np.float64), (excess**2).sum(axis=1, dtype=np.float64)
    along = excess @ total
    for _ in rows:
        out = int(np.where(inside, size - 2 * along, np.inf).argmin())
        without = along - excess @ excess[out]
        new = int(np.where(inside, np.inf, size + 2 * without).argmin())
        change = excess[new].astype(np.float64) - excess[out]
        if float(((total + change) ** 2).sum()) >= float((total**2).sum()):
            break
        inside[out], inside[new] = False, True
        total, along = total + change, without + excess @ excess[new]
    return np.flatnonzero(inside)


def parent_length(n: int, stride: int = 1) -> int:
    """Return the number of answers known to the belief from which the belief after `n` >= 1 answers is built.

    Every update uses all answers so far, so updating at each answer takes quadratic time. That is done for as many
    answers as people usually give, or for every `stride`-th of them where updates are slow. Later beliefs are built
    from the last of those after 125, 156, 195, ... answers, so that the number of updates grows with the logarithm of
    the session's length.

    >>> [parent_length(n) for n in (1, 100, 101, 125, 126, 1_000)]
    [0, 99, 100, 100, 125, 921]
    >>> [parent_length(n, 5) for n in (1, 5, 6, 100, 101)]
    [0, 0, 5, 95, 100]
    """
    known = _ONE_BY_ONE
    if n <= known:
        return (n - 1) // stride * stride
    while (further := known + known // 4) < n:
        known = further
    return known


class LRUCache(Generic[Value]):
    """Thread-safe cache of values by the digest of a history; drops the least recently used."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[bytes, Value] = OrderedDict()
        self._lock = Lock()

    def get(self, key: bytes) -> Value | None:
        """Return the value of a key, or None if it is not (or no longer) stored."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def get_or_compute(self, history: Sequence[Asked], make: Callable[[], Value]) -> Value:
        """Return the value of a whole history, computed if it is not stored."""
        key = prefix_digests(history)[-1]
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        found = make()
        self.put(key, found)
        return found

    def put(self, key: bytes, value: Value) -> None:
        """Store a value."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._most:
                self._values.popitem(last=False)


def prefix_digests(history: Sequence[Asked]) -> list[bytes]:
    """Return one digest for every prefix of a history, the empty one first; answer times are ignored."""
    digests = [b""]
    for question, answer in history:
        shown = b"".join(np.ascontiguousarray(side).tobytes() for side in (question.first, question.second))
        said = f"{answer.choice}/{answer.strength}/{answer.moved}/{question.population}/"
        why = f"{question.purpose}/{question.repeat_of}/"
        digests.append(hashlib.sha256(digests[-1] + (said + why).encode() + shown).digest())
    return digests


def shares_of_best(utilities: Matrix) -> Matrix:
    """Return the share of draws for which each matrix is best, shape (matrices,), given utilities (draws, matrices)."""
    best = utilities >= utilities.max(axis=1, keepdims=True) - 1e-12
    return np.asarray((best / best.sum(axis=1, keepdims=True)).mean(axis=0))
