"""True values of simulated experts: metrics that are stated or drawn at random, and people who are not linear."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from elicit_app.elicitation.oracles import Utility
from elicit_app.elicitation.orders import broken
from elicit_app.elicitation.prior import WeightPrior
from elicit_app.elicitation.procedures.published import Fraction
from elicit_app.elicitation.procedures.quadratic import Quadratic
from elicit_app.elicitation.questions import Family, Matrix, Outcome
from elicit_app.experiments.fractions import random_fraction, stated_fraction
from elicit_app.problem import Problem, WrongOption
from elicit_app.registry import Setting
from elicit_app.registry.entries import stated_orders
from elicit_app.study.model import Study
from metrics.elicited.family import LPM, error_cells, family_of, fraction_family, is_fraction, linear_family

Kind = Literal["iid", "structured"]
_MOST_DRAWS = 20_000  # of an expert, until one keeps the stated orders
PersonKind = Literal["linear", "concave", "quadratic", "minimax", "threshold", "f1", "gmean", "hmean", "qmean"]
MONOTONE: tuple[PersonKind, ...] = ("gmean", "hmean", "qmean")
"""Monotone functions of how often each class is right, weighted by the weights of the classes: `psi`."""
_SAME_RATE = 1e-12
PERSON_FORMS = "linear, concave:P, quadratic:P, minimax, threshold:T or f1"
_WITH_NUMBER: tuple[PersonKind, ...] = ("concave", "quadratic", "threshold")


class Values(Protocol):
    """What a simulated expert values."""

    @property
    def family(self) -> Family:
        """Return the family that is elicited."""

    @property
    def weights(self) -> Matrix:
        """Return the weights in that family, of the nearest linear metric where the expert is not linear."""

    @property
    def utility(self) -> Utility:
        """Return the utility of one matrix of rates."""

    def __call__(self, matrices: Matrix) -> Matrix:
        """Return the utilities, shape (...), of matrices of rates, shape (..., k, k); greater is better."""

    def wobbled(self, spread: float, rng: np.random.Generator) -> Values:
        """Return values whose log-ratios of weights are off by `spread` (standard deviation)."""


@dataclass(frozen=True, eq=False)
class Metric:
    """A metric that can be computed for many matrices at once.

    Parameters
    ----------
    family : str
        dlpm, lpm, dlfpm or lfpm.
    weights : ndarray
        In the family's normalisation; for the linear-fractional families the numerator p.
    numerator, denominator : ndarray of shape (k, k)
        u(C) = (sum(numerator * C) + numerator_offset) / (sum(denominator * C) + denominator_offset).
    """

    family: Family
    weights: Matrix
    numerator: Matrix
    numerator_offset: float
    denominator: Matrix
    denominator_offset: float

    @classmethod
    def linear(cls, weights: Matrix, family: Family) -> Metric:
        """Return the linear metric of given weights."""
        matrix = family_of(family).weight_matrix(weights)
        return cls(family, weights, matrix, 0.0, np.zeros_like(matrix), 1.0)

    @classmethod
    def fractional(cls, fraction: Fraction, weights: Matrix) -> Metric:
        """Return a linear-fractional metric."""
        linear = fraction.family.replace("f", "")
        p, q = family_of(linear).weight_matrix(fraction.p), family_of(linear).weight_matrix(fraction.q)
        return cls(fraction.family, weights, p, fraction.p0, q, fraction.q0)

    @classmethod
    def elicited(cls, outcome: Outcome) -> Values:
        """Return the metric that a procedure learned."""
        if isinstance(outcome.utility, Quadratic):
            return outcome.utility
        if not is_fraction(outcome.family):
            return cls.linear(outcome.weights, outcome.family)
        assert outcome.utility is not None
        return cls.fractional(outcome.utility, outcome.weights)

    def __call__(self, matrices: Matrix) -> Matrix:
        """Return the utilities, shape (...), of matrices of rates, shape (..., k, k); greater is better."""
        above = np.tensordot(matrices, self.numerator, 2) + self.numerator_offset
        below = np.tensordot(matrices, self.denominator, 2) + self.denominator_offset
        values: Matrix = above / below
        return values

    @property
    def utility(self) -> Utility:
        """Return the utility of one matrix, for an oracle."""
        return lambda matrix: float(self(matrix))

    def wobbled(self, spread: float, rng: np.random.Generator) -> Metric:
        """Return the metric with each log-weight off by ``spread / sqrt(2)``, so that ratios are off by `spread`.

        Raises
        ------
        WrongOption
            The metric is linear-fractional.
        """
        if is_fraction(self.family):
            raise WrongOption(f"`noise` weights is about linear metrics, not about {self.family}.")
        size = len(self.weights)
        return Metric.linear(self.weights * np.exp(spread / np.sqrt(2) * rng.standard_normal(size)), self.family)


@dataclass(frozen=True)
class Person:
    """In which way an expert values a result.

    Parameters
    ----------
    kind : str
        linear; concave: mistakes of a kind are felt by a power of their count; quadratic: mistakes of a kind weigh the
        more the more of them there are, 1 + P times as much where all cases of a class are wrong that way; minimax:
        only the class that is right least often counts; threshold: linear while the gravest class is wrong at most so
        often, else unacceptable; f1: the mean over classes of the F-measure; gmean, hmean: the geometric and the
        harmonic mean over classes of how often they are right; qmean: 1 - the root mean square of how often they are
        wrong.
    amount : float
        The power, in (0, 1]; P, in (0, 1); the rate, in (0, 1).
    """

    kind: PersonKind = "linear"
    amount: float = 1.0

    def __str__(self) -> str:
        """Return the text that stands for it."""
        return f"{self.kind}:{self.amount:g}" if self.kind in _WITH_NUMBER else self.kind

    @classmethod
    def parse(cls, text: str) -> Person:
        """Return what a text such as "concave:0.6" stands for.

        Raises
        ------
        WrongOption
            Another text.
        """
        kind, _, amount = text.partition(":")
        if kind in ("linear", "minimax", "f1") and not amount:
            return cls(cast(PersonKind, kind))
        if kind not in _WITH_NUMBER:
            raise WrongOption(f"`person` {text}: {PERSON_FORMS} was expected.")
        try:
            number = float(amount)
        except ValueError:
            raise WrongOption(f"`person` {text}: a number was expected after {kind}:.") from None
        if not 0 < number < 1:
            raise WrongOption(f"`person` {text}: the number must lie strictly between 0 and 1.")
        return cls(kind, number)

    @classmethod
    def of_psi(cls, name: str) -> Person:
        """Return who values results by a monotone function of the hits, by its name.

        Raises
        ------
        WrongOption
            There is no such function.
        """
        if name not in MONOTONE:
            raise WrongOption(f"`psi` {name}: {', '.join(MONOTONE[:-1])} or {MONOTONE[-1]} was expected.")
        return cls(name)

    def values(self, metric: Metric, prevalence: Matrix, population: int) -> Values:
        """Return how such a person values results, given linear weights.

        Parameters
        ----------
        metric : Metric
            The weights; a minimax or f1 person gives every class the same and only wobbles.
        prevalence : ndarray of shape (k,)
            Row sums of the matrices.
        population : int
            How many cases a result is about: counts are felt, not rates.

        Raises
        ------
        WrongOption
            The metric is linear-fractional and the person another.
        """
        if self.kind == "linear":
            return metric
        if is_fraction(metric.family):
            raise WrongOption(f"`person` {self.kind} goes with the families dlpm and lpm, not with {metric.family}.")
        if self.kind in MONOTONE and metric.family != "dlpm":
            raise WrongOption(f"`psi` {self.kind} is a function of the hits: it goes with the family dlpm.")
        return NonLinear(self, metric, np.asarray(prevalence, dtype=np.float64), population, np.ones(len(prevalence)))


LINEAR = Person()


@dataclass(frozen=True, eq=False)
class NonLinear:
    """The values of a person who is not linear.

    Parameters
    ----------
    person : Person
        In which way.
    metric : Metric
        Linear weights; not used by minimax and f1.
    prevalence : ndarray of shape (k,)
        Row sums of the matrices.
    population : int
        How many cases a result is about.
    importance : ndarray of shape (k,)
        How much each class counts for minimax and f1.
    """

    person: Person
    metric: Metric
    prevalence: Matrix
    population: int
    importance: Matrix

    @property
    def family(self) -> Family:
        """Return the family that is elicited."""
        return self.metric.family

    @property
    def weights(self) -> Matrix:
        """Return the linear weights that the person starts from."""
        return self.metric.weights

    @property
    def utility(self) -> Utility:
        """Return the utility of one matrix, for an oracle."""
        return lambda matrix: float(self(matrix))

    def wobbled(self, spread: float, rng: np.random.Generator) -> NonLinear:
        """Return values whose log-ratios, of weights or of the importance of classes, are off by `spread`."""
        if self.person.kind in ("minimax", "f1"):
            off = np.exp(spread / np.sqrt(2) * rng.standard_normal(len(self.importance)))
            return replace(self, importance=self.importance * off)
        return replace(self, metric=self.metric.wobbled(spread, rng))

    def __call__(self, matrices: Matrix) -> Matrix:
        """Return the utilities, shape (...), of matrices of rates, shape (..., k, k); greater is better."""
        of = {
            "concave": self._concave,
            "quadratic": self._quadratic,
            "minimax": self._minimax,
            "threshold": self._threshold,
            "f1": self._f1,
        }
        if self.person.kind in MONOTONE:
            return self._mean(1.0 - self._wrong(np.asarray(matrices, dtype=np.float64)))
        return of[self.person.kind](np.asarray(matrices, dtype=np.float64))

    @property
    def _costs(self) -> Matrix:
        return family_of(self.metric.family).costs(self.metric.weights)

    def _concave(self, matrices: Matrix) -> Matrix:
        counts = np.maximum(matrices, 0.0) * self.population
        return np.asarray(-(self._costs * counts**self.person.amount).sum(axis=(-2, -1)))

    def _quadratic(self, matrices: Matrix) -> Matrix:
        shares = np.maximum(matrices, 0.0) / np.maximum(self.prevalence, 1e-300)[:, None]
        return np.asarray(-(self._costs * matrices * (1.0 + self.person.amount * shares / 2)).sum(axis=(-2, -1)))

    def _minimax(self, matrices: Matrix) -> Matrix:
        return np.asarray((-self.importance * self._wrong(matrices)).min(axis=-1))

    def _threshold(self, matrices: Matrix) -> Matrix:
        costs = self._costs
        missed = self._wrong(matrices)[..., int(np.argmax(costs.max(axis=1)))]
        linear = -(costs * matrices).sum(axis=(-2, -1))
        # No cost is above 1 and rates sum to 1: every acceptable result is better than -1.
        return np.where(missed <= self.person.amount + _SAME_RATE, linear, -1.0 - missed)

    def _f1(self, matrices: Matrix) -> Matrix:
        hits = np.diagonal(matrices, axis1=-2, axis2=-1)
        named = matrices.sum(axis=-2) + matrices.sum(axis=-1)
        return np.asarray(np.average(2 * hits / np.maximum(named, 1e-300), axis=-1, weights=self.importance))

    def _mean(self, right: Matrix) -> Matrix:
        """Return a weighted mean over classes of how often they are right, shape (...); 0 where one never is."""
        weights = self.metric.weights
        if self.person.kind == "qmean":
            return np.asarray(1.0 - np.sqrt(((1.0 - right) ** 2) @ weights))
        with np.errstate(divide="ignore"):
            if self.person.kind == "gmean":
                return np.exp(np.log(np.maximum(right, 0.0)) @ weights)
            return np.asarray(1.0 / ((1.0 / np.maximum(right, 0.0)) @ weights))

    def _wrong(self, matrices: Matrix) -> Matrix:
        """Return the share of each true class that is wrong, shape (..., k)."""
        hits = np.diagonal(matrices, axis1=-2, axis2=-1)
        return np.asarray(1.0 - hits / np.maximum(self.prevalence, 1e-300))


def true_metric(
    study: Study,
    setting: Setting,
    rng: np.random.Generator,
    *,
    stated: Sequence[float] | None = None,
    kind: Kind = "iid",
    ratio: float | None = None,
    denominator: Sequence[float] | Literal["random"] | None = None,
) -> Metric:
    """Return the metric of a simulated expert; it keeps the orders that are stated to the procedure.

    Parameters
    ----------
    study : Study
        What the expert is asked about.
    setting : Setting
        The family, the query space and the orders.
    rng : numpy.random.Generator
        Chance.
    stated : sequence of float, optional
        The weights; without them they are drawn, see `random_metric`.
    kind : str
        iid or structured.
    ratio : float, optional
        Of the largest to the smallest drawn weight, see `with_ratio`.
    denominator : sequence of float or "random", optional
        The metric is linear-fractional, with the weights in the numerator, see `stated_fraction`; a procedure of the
        linear families then elicits the nearest linear metric.

    Raises
    ------
    WrongOption
        Stated weights that are none of the family, or break an order.
    Problem
        No random expert keeps the orders.
    """
    prevalence = study.prevalence
    if denominator is not None or (stated is not None and is_fraction(setting.family)):
        if setting.orders:
            raise WrongOption("`never_worse` is about linear metrics: leave it or `denominator` out.")
        return _fractional(setting, prevalence, rng, stated, denominator, kind)
    if stated is not None:
        metric = stated_metric(stated, setting.family, study.n_classes)
        order = broken(metric.weights, setting.orders, study.classes, setting.family)
        if order is not None:
            raise WrongOption(f"The true weights break the stated order {order}: change one of the two.")
        return metric
    smaller, larger = _order(study, setting)
    for _ in range(_MOST_DRAWS):
        drawn = random_metric(setting.family, prevalence, rng, on_the_sphere=setting.space == "sphere", kind=kind)
        drawn = drawn if ratio is None else with_ratio(drawn, ratio)
        sizes = np.abs(drawn.weights)
        if (sizes[smaller] <= sizes[larger]).all():
            return drawn
    raise Problem(f"None of {_MOST_DRAWS:,} random experts keeps all the stated orders: state fewer.")


def _fractional(
    setting: Setting,
    prevalence: Matrix,
    rng: np.random.Generator,
    stated: Sequence[float] | None,
    denominator: Sequence[float] | Literal["random"] | None,
    kind: Kind,
) -> Metric:
    """Return a linear-fractional metric whose numerator is stated or drawn, and so its denominator."""
    linear = linear_family(setting.family).name
    family = cast(Family, fraction_family(linear))
    if stated is None:
        drawn = random_metric(linear, prevalence, rng, on_the_sphere=setting.space == "sphere", kind=kind)
    else:
        drawn = stated_metric(stated, linear, len(prevalence))
    if denominator is None or isinstance(denominator, str):
        fraction = random_fraction(family, drawn.weights, prevalence, rng)
    else:
        fraction = stated_fraction(family, drawn.weights, denominator, prevalence)
    return Metric.fractional(fraction, drawn.weights)


def _order(study: Study, setting: Setting) -> NDArray[np.intp]:
    """Return the places of the smaller and of the larger weight in every stated order, shape (2, orders)."""
    if not setting.orders:
        return np.empty((2, 0), dtype=np.intp)
    constraints = stated_orders(setting, study.classes)
    return WeightPrior.of(setting.family, study.n_classes, "iid", constraints).order.T


def stated_metric(values: Sequence[float], family: Family, n_classes: int) -> Metric:
    """Return the linear metric whose weights a user states; they are normalised.

    Raises
    ------
    WrongOption
        A wrong number, or a wrong sign.
    """
    size = family_of(family).n_weights(n_classes)
    if len(values) != size:
        raise WrongOption(f"The family {family} has {size} weights at {n_classes} classes, {len(values)} were given.")
    try:
        return Metric.linear(family_of(family).normalise(values), family)
    except ValueError as error:
        raise WrongOption(f"The true {error}") from error


def random_metric(
    family: Family, prevalence: Matrix, rng: np.random.Generator, *, on_the_sphere: bool = False, kind: Kind = "iid"
) -> Metric:
    """Draw a metric.

    dlpm: Dirichlet(1). lpm: -|N(0, I)| normalised on the sphere, elsewhere -exp(1.2 N(0, I)) normalised; structured:
    log-weight = row .7 + column .5 + residual .7 standard normals. The linear-fractional ones get a denominator that
    keeps them monotone and at most 1 in size.

    Parameters
    ----------
    family : str
        dlpm, lpm, dlfpm or lfpm.
    prevalence : ndarray of shape (k,)
        Row sums of the matrices it will judge.
    rng : numpy.random.Generator
        Chance.
    on_the_sphere : bool
        Whether the query space is the sphere.
    kind : str
        iid or structured.
    """
    k = len(prevalence)
    if kind == "structured" and family != "lpm":
        raise WrongOption("`truth` structured is about the errors of the family lpm.")
    if not linear_family(family).tells_apart:
        weights = rng.dirichlet(np.ones(k))
    else:
        weights = LPM.normalise(-_sizes(k, rng, on_the_sphere, kind))
    if not is_fraction(family):
        return Metric.linear(weights, family)
    return Metric.fractional(random_fraction(family, weights, prevalence, rng), weights)


def _sizes(k: int, rng: np.random.Generator, on_the_sphere: bool, kind: Kind) -> Matrix:
    q = k * (k - 1)
    if kind == "structured":
        rows, columns, residuals = rng.standard_normal(k), rng.standard_normal(k), rng.standard_normal((k, k))
        log_weights = 0.7 * rows[:, None] + 0.5 * columns + 0.7 * residuals
        sizes: Matrix = np.exp(log_weights[error_cells(k)])
        return sizes
    return np.abs(rng.standard_normal(q)) if on_the_sphere else np.exp(1.2 * rng.standard_normal(q))


def with_ratio(metric: Metric, ratio: float) -> Metric:
    """Return the metric with its log-weights stretched so that the largest is `ratio` times the smallest.

    Which weights are large stays as it is, and so random where the metric is.

    Raises
    ------
    WrongOption
        A ratio below 1, or a metric that is linear-fractional or has a weight of 0.
    """
    sizes = np.abs(metric.weights)
    if is_fraction(metric.family) or sizes.min() == 0:
        raise WrongOption("`ratio` is about the weights of dlpm and lpm, none of them 0.")
    if not 1 <= ratio < np.inf:
        raise WrongOption(f"`ratio` {ratio:g}: a number of at least 1 was expected.")
    logs = np.log(sizes)
    wide = float(np.ptp(logs))
    if wide > 0:
        logs = (logs - logs.max()) * (np.log(ratio) / wide)
    return Metric.linear(family_of(metric.family).normalise(np.sign(metric.weights) * np.exp(logs)), metric.family)
