"""True metrics of simulated experts: linear or linear-fractional, stated or drawn at random.

Source of the fractions: [HBMK19] Hiranandani, Boodaghians, Mehta & Koyejo, "Multiclass Performance Metric Elicitation",
NeurIPS 2019, section 2 and appendix E. By convention a numerator has no offset, because preferences reveal no more than
that. A stated fraction must be defined everywhere and monotone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, cast

import numpy as np

from elicit_app.elicitation.oracles import Utility
from elicit_app.elicitation.orders import violated_order
from elicit_app.elicitation.prior import WeightPrior
from elicit_app.elicitation.procedure import Outcome
from elicit_app.elicitation.questions import Family, Matrix
from elicit_app.elicitation.utilities import Fraction, Quadratic
from elicit_app.problem import Problem, WrongOption
from elicit_app.registry import Setting
from elicit_app.registry.entries import stated_orders
from elicit_app.study.model import Study
from metrics.elicited.family import LPM, error_cells, family_of, fraction_family, is_fraction, linear_family

Kind = Literal["iid", "structured"]
_MOST_DRAWS = 20_000  # experts drawn until one keeps the stated orders
_HALVINGS = 60
_FLAT = 1e-12


class Values(Protocol):
    """The values of a simulated expert."""

    @property
    def utility(self) -> Utility:
        """Return the utility of one matrix of rates."""

    def __call__(self, matrices: Matrix) -> Matrix:
        """Return the utilities, shape (...), of matrices of rates, shape (..., k, k); greater is better."""

    def wobbled(self, spread: float, rng: np.random.Generator) -> Values:
        """Return values whose log-ratios of weights are perturbed with standard deviation `spread`."""


@dataclass(frozen=True, eq=False)
class Metric:
    """A metric that evaluates many matrices at once."""

    family: Family
    weights: Matrix  # in the family's normalisation; for a linear-fractional family, the numerator p
    # shape (k, k): u(C) = (sum(numerator * C) + numerator_offset) / (sum(denominator * C) + denominator_offset)
    numerator: Matrix
    numerator_offset: float
    denominator: Matrix
    denominator_offset: float

    @classmethod
    def linear(cls, weights: Matrix, family: Family) -> Metric:
        """Return the linear metric with the given weights."""
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
        """Return the metric with each log-weight off by ``spread / sqrt(2)``, so that log-ratios are off by `spread`.

        Raises WrongOption if the metric is linear-fractional.
        """
        if is_fraction(self.family):
            raise WrongOption(f"`noise` weights applies only to linear metrics, not to {self.family}.")
        size = len(self.weights)
        return Metric.linear(self.weights * np.exp(spread / np.sqrt(2) * rng.standard_normal(size)), self.family)


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
    """Return the metric of a simulated expert; it satisfies the orders that are stated to the procedure.

    Its weights are those `stated`, or drawn as `kind` (iid or structured) says, with a `ratio` of the largest to the
    smallest; see `random_metric` and `with_ratio`. A `denominator` makes it linear-fractional; see `stated_fraction`. A
    procedure for a linear family then elicits the nearest linear metric. Raises WrongOption if stated weights do not
    fit the family, or violate an order. Raises Problem if no random expert keeps the orders.
    """
    prevalence = study.prevalence
    if denominator is not None or (stated is not None and is_fraction(setting.family)):
        if setting.all_orders:
            raise WrongOption("`never_worse` and `ordered` apply only to linear metrics: omit them or `denominator`.")
        return _fractional(setting, prevalence, rng, stated, denominator, kind)
    if stated is not None:
        metric = stated_metric(stated, setting.family, study.n_classes)
        order = violated_order(metric.weights, setting.all_orders, study.classes, setting.family)
        if order is not None:
            raise WrongOption(f"The true weights violate the stated order {order}: change one of the two.")
        return metric
    orders = stated_orders(setting, study.classes)
    prior = WeightPrior.of(setting.family, study.n_classes, "iid", orders) if orders else None
    for _ in range(_MOST_DRAWS):
        drawn = random_metric(setting.family, prevalence, rng, on_the_sphere=setting.space == "sphere", kind=kind)
        drawn = drawn if ratio is None else with_ratio(drawn, ratio)
        if prior is None:
            return drawn
        logs = np.log(np.abs(drawn.weights))[None]
        if prior.allowed(logs)[0]:
            return drawn
        if setting.classes_in_order:  # which one expert in millions keeps by chance
            sorted_weights = np.copysign(np.exp(prior.in_order(logs)[0]), drawn.weights)
            return stated_metric(sorted_weights.tolist(), setting.family, study.n_classes)
    raise Problem(f"None of {_MOST_DRAWS:,} random experts keeps all the stated orders: state fewer.")


def _fractional(
    setting: Setting,
    prevalence: Matrix,
    rng: np.random.Generator,
    stated: Sequence[float] | None,
    denominator: Sequence[float] | Literal["random"] | None,
    kind: Kind,
) -> Metric:
    """Return a linear-fractional metric whose numerator and denominator are each stated or drawn."""
    linear = linear_family(setting.family).name
    family = cast("Family", fraction_family(linear))
    if stated is None:
        drawn = random_metric(linear, prevalence, rng, on_the_sphere=setting.space == "sphere", kind=kind)
    else:
        drawn = stated_metric(stated, linear, len(prevalence))
    if denominator is None or isinstance(denominator, str):
        fraction = random_fraction(family, drawn.weights, prevalence, rng)
    else:
        fraction = stated_fraction(family, drawn.weights, denominator, prevalence)
    return Metric.fractional(fraction, drawn.weights)


def stated_metric(values: Sequence[float], family: Family, n_classes: int) -> Metric:
    """Return the linear metric with weights stated by a user, normalised.

    Raises WrongOption if there is a wrong number of weights, or a wrong sign.
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
    """Draw a metric of a family, for matrices with row sums `prevalence`, shape (k,).

    dlpm: Dirichlet(1). lpm: -|N(0, I)| normalised on the sphere, elsewhere -exp(1.2 N(0, I)) normalised; `kind`
    structured: log-weight = row .7 + column .5 + residual .7 standard normals. A linear-fractional metric gets a
    denominator that keeps it monotone and at most 1 in absolute value.
    """
    k = len(prevalence)
    if kind == "structured" and family != "lpm":
        raise WrongOption("`truth` structured applies only to the family lpm.")
    if not linear_family(family).distinguishes_errors:
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
    """Return the metric with its log-weights stretched so that the largest weight is `ratio` times the smallest.

    The order of the weights does not change, so it is random if the metric is. Raises WrongOption if the ratio is below
    1, or the metric is linear-fractional or has a weight of 0.
    """
    sizes = np.abs(metric.weights)
    if is_fraction(metric.family) or sizes.min() == 0:
        raise WrongOption("`ratio` applies only to the weights of dlpm and lpm, none of which may be 0.")
    if not 1 <= ratio < np.inf:
        raise WrongOption(f"`ratio` {ratio:g}: a number of at least 1 was expected.")
    logs = np.log(sizes)
    wide = float(np.ptp(logs))
    if wide > 0:
        logs = (logs - logs.max()) * (np.log(ratio) / wide)
    return Metric.linear(family_of(metric.family).normalise(np.sign(metric.weights) * np.exp(logs)), metric.family)


def random_fraction(family: Family, p: Matrix, prevalence: Matrix, rng: np.random.Generator) -> Fraction:
    """Return a fraction with numerator `p`, shape (n,), and a random denominator that keeps it monotone.

    Its absolute value is at most 1. For hits (dlfpm), p >= 0: 0 <= q <= p; for errors (lfpm), p <= 0: 0 <= q <= -p.
    `prevalence`, shape (k,), holds the row sums of the matrices to judge.
    """
    size = np.abs(p)
    q = size * rng.uniform(0, 1, len(p))
    rest = size - q
    k = len(prevalence)
    largest = rest if family == "dlfpm" else rest.reshape(k, k - 1).max(axis=1)
    return Fraction(family, p, 0.0, q, float(largest @ prevalence))


def stated_fraction(family: Family, p: Matrix, denominator: Sequence[float], prevalence: Matrix) -> Fraction:
    """Return the fraction <p, x> / (<q, x> + q0) that a user states; x: the k hits, or the errors in row-major order.

    `p`, shape (n,), is in the family's normalisation; `denominator` is q followed by q0, which defaults to 1;
    `prevalence`, shape (k,), holds the row sums of the matrices. Raises WrongOption if a number is wrong, the
    denominator is not positive everywhere, or an error could raise the fraction.
    """
    n = len(p)
    if not np.isfinite(denominator).all():
        raise WrongOption("`denominator`: every number must be finite.")
    if len(denominator) not in (n, n + 1):
        raise WrongOption(
            f"`denominator` has {len(denominator)} numbers; {n}, one for each weight, were expected, and one more for "
            "the constant where it is not 1."
        )
    q = np.array(denominator[:n], dtype=np.float64)
    q0 = float(denominator[n]) if len(denominator) > n else 1.0
    if _largest(family, -q, prevalence) >= q0:
        raise WrongOption(
            "`denominator` is not above 0 for every confusion matrix: raise its constant, the last number."
        )
    fraction = Fraction(family, p, 0.0, q, q0)
    sign = 1.0 if family == "dlfpm" else -1.0
    for extreme in (_extreme(fraction, prevalence, 1.0), -_extreme(fraction, prevalence, -1.0)):
        if (sign * (p - extreme * q) < -_FLAT).any():
            what = "falls with a hit" if family == "dlfpm" else "grows with an error"
            raise WrongOption(
                f"With this `denominator` the metric {what} for some confusion matrices: make its weights smaller."
            )
    return fraction


def _largest(family: Family, slope: Matrix, prevalence: Matrix) -> float:
    """Return the largest <slope, x> over all matrices of a prevalence: row by row, the hit or the steepest error."""
    k = len(prevalence)
    rows = slope[:, np.newaxis] if family == "dlfpm" else slope.reshape(k, k - 1)
    return float(np.maximum(rows.max(axis=1), 0.0) @ prevalence)


def _extreme(fraction: Fraction, prevalence: Matrix, sign: float) -> float:
    """Return the largest value of sign * fraction: the t at which the maximum of <p - t q, x> - t q0 is 0."""
    p, q, q0 = sign * fraction.p, fraction.q, fraction.q0
    high = float(np.abs(p).sum() / (q0 - _largest(fraction.family, -q, prevalence)))
    low = -high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        above = _largest(fraction.family, p - middle * q, prevalence) > middle * q0
        low, high = (middle, high) if above else (low, middle)
    return (low + high) / 2
