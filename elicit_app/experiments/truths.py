"""True metrics of simulated experts: stated, or drawn at random."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from elicit_app.elicitation.oracles import Utility
from elicit_app.elicitation.orders import broken
from elicit_app.elicitation.prior import WeightPrior
from elicit_app.elicitation.procedures.pencil import Fraction
from elicit_app.elicitation.questions import Family, Matrix, Outcome
from elicit_app.problem import Problem, WrongOption
from elicit_app.registry import Setting
from elicit_app.registry.binding import cases_of, stated_orders
from elicit_app.study.model import Study
from metrics.elicited.family import LPM, family_of

Kind = Literal["iid", "structured"]
_MOST_DRAWS = 20_000  # of an expert, until one keeps the stated orders


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
    def elicited(cls, outcome: Outcome) -> Metric:
        """Return the metric that a procedure learned."""
        if outcome.family in ("dlpm", "lpm"):
            return cls.linear(outcome.weights, outcome.family)
        return cls.fractional(Fraction.of(outcome), outcome.weights)

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


def true_metric(
    study: Study,
    setting: Setting,
    rng: np.random.Generator,
    *,
    stated: Sequence[float] | None = None,
    kind: Kind = "iid",
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

    Raises
    ------
    WrongOption
        Stated weights that are none of the family, or break an order.
    Problem
        No random expert keeps the orders.
    """
    if stated is not None:
        metric = stated_metric(stated, setting.family, study.n_classes)
        order = broken(metric.weights, setting.orders, study.classes, setting.family)
        if order is not None:
            raise WrongOption(f"The true weights break the stated order {order}: change one of the two.")
        return metric
    prevalence = cases_of(study, study.models[0] if study.models else None).prevalence
    sphere = setting.space == "sphere"
    smaller, larger = _order(setting, study)
    for _ in range(_MOST_DRAWS):
        drawn = random_metric(setting.family, prevalence, rng, on_the_sphere=sphere, kind=kind)
        sizes = np.abs(drawn.weights)
        if (sizes[smaller] <= sizes[larger]).all():
            return drawn
    raise Problem(f"None of {_MOST_DRAWS:,} random experts keeps all the stated orders: state fewer.")


def _order(setting: Setting, study: Study) -> NDArray[np.intp]:
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
        A wrong number, a wrong sign, or a family without such weights.
    """
    if family not in ("dlpm", "lpm"):
        raise WrongOption(
            f"Weights can be stated for the families dlpm and lpm, not for {family}; leave `weights` out."
        )
    size = n_classes if family == "dlpm" else n_classes * (n_classes - 1)
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
    if family in ("dlpm", "dlfpm"):
        weights = rng.dirichlet(np.ones(k))
        return Metric.linear(weights, family) if family == "dlpm" else _diagonal_fraction(weights, prevalence, rng)
    weights = LPM.normalise(-_sizes(k, rng, on_the_sphere, kind))
    return Metric.linear(weights, "lpm") if family == "lpm" else _fraction(weights, prevalence, rng)


def _sizes(k: int, rng: np.random.Generator, on_the_sphere: bool, kind: Kind) -> Matrix:
    q = k * (k - 1)
    if kind == "structured":
        rows, columns, residuals = rng.standard_normal(k), rng.standard_normal(k), rng.standard_normal((k, k))
        log_weights = 0.7 * rows[:, None] + 0.5 * columns + 0.7 * residuals
        sizes: Matrix = np.exp(log_weights[~np.eye(k, dtype=bool)])
        return sizes
    return np.abs(rng.standard_normal(q)) if on_the_sphere else np.exp(1.2 * rng.standard_normal(q))


def _diagonal_fraction(p: Matrix, prevalence: Matrix, rng: np.random.Generator) -> Metric:
    """Return p with 0 <= q <= p and q0 = <p - q, zeta>: between 0 and 1, growing with every hit [HBMK19, section 2]."""
    q = p * rng.uniform(0, 1, len(p))
    return Metric.fractional(Fraction("dlfpm", p, 0.0, q, float((p - q) @ prevalence)), p)


def _fraction(p: Matrix, prevalence: Matrix, rng: np.random.Generator) -> Metric:
    """Return p <= 0 with 0 <= q <= -p: between -1 and 0, falling with every error."""
    k = len(prevalence)
    q = -p * rng.uniform(0, 1, len(p))
    worst = (-p - q).reshape(k, k - 1).max(axis=1)
    return Metric.fractional(Fraction("lfpm", p, 0.0, q, float(worst @ prevalence)), p)
