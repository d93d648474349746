"""Utilities that are not linear: linear-fractional ones, with the pencil that finds them, and quadratic ones.

All level sets of phi = (<p, x> + p0) / (<q, x> + q0) lie in the pencil of two hyperplanes, the one that touches at the
best point and the one that touches at the worst. The pencil therefore orders matrices exactly as phi does, and no
answer can reveal more: q is known up to one parameter, and p only by the convention p0 = 0. Source of the two
hyperplanes: [HBMK19] Hiranandani, Boodaghians, Mehta & Koyejo, "Multiclass Performance Metric Elicitation", NeurIPS
2019, appendix E. The pencil replaces their grid search, which does not recover the metric.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from elicit_app.elicitation.questions import Family, Matrix
from metrics.elicited.family import LPM, error_cells


@dataclass(frozen=True, eq=False)
class Fraction:
    """A linear-fractional utility u(x) = (<p, x> + p0) / (<q, x> + q0), greater is better.

    Parameters
    ----------
    family : str
        dlfpm: x are the k hits; lfpm: the q = k^2 - k errors in row-major order.
    p, q : ndarray of shape (n,)
        Weights of numerator and denominator.
    p0, q0 : float
        Their offsets.
    """

    family: Family
    p: Matrix
    p0: float
    q: Matrix
    q0: float

    def __call__(self, matrix: Matrix) -> float:
        """Return the utility of a confusion matrix of rates (k, k)."""
        return self.at(coordinates(matrix, self.family))

    def at(self, x: Matrix) -> float:
        """Return the utility at coordinates x, shape (n,)."""
        return float((self.p @ x + self.p0) / (self.q @ x + self.q0))


def coordinates(matrix: Matrix, family: Family) -> Matrix:
    """Return what a family weighs: the hits (dlpm, dlfpm), or the errors in row-major order (lpm, lfpm)."""
    x: Matrix = np.diagonal(matrix) if family.startswith("d") else matrix[error_cells(len(matrix))]
    return x


def numerator(m1: ArrayLike, c1: float, m2: ArrayLike, c2: float) -> Matrix:
    """Return p, up to scale, under p0 = 0: the member C2 m1 - C1 m2 of the pencil, whose offset is 0.

    Parameters
    ----------
    m1, c1 : ndarray of shape (n,) and float
        The hyperplane <m1, x> = C1 that touches at the best point.
    m2, c2 : ndarray of shape (n,) and float
        The hyperplane <m2, x> = C2 that touches at the worst point.
    """
    p: Matrix = c2 * np.asarray(m1, dtype=np.float64) - c1 * np.asarray(m2, dtype=np.float64)
    return p


def ordering(family: Family, first: Matrix, second: Matrix, points: Matrix, best: Matrix, worst: Matrix) -> Fraction:
    """Return the utility of a pencil that is continuous over the given points and prefers `best` to `worst`.

    Parameters
    ----------
    family : str
        dlfpm or lfpm.
    first, second : ndarray of shape (n + 1,)
        Two members of the pencil: weights, then the offset.
    points : ndarray of shape (m, n)
        Points at which the denominator must be positive.
    best, worst : ndarray of shape (n,)
        The two ends of the expert's preference.
    """
    lifted = np.column_stack([points, np.ones(len(points))])
    # Scale both members alike, so that angles between them are meaningful.
    first, second = (member / np.abs(lifted @ member).max() for member in (first, second))
    angles = np.sort(np.arctan2(lifted @ second, lifted @ first))
    gaps = np.diff(np.append(angles, angles[0] + 2 * np.pi))
    # The points fill the circle except for the widest gap; the denominator points away from the middle of that gap.
    away = angles[gaps.argmax()] + gaps.max() / 2 + np.pi
    below = np.cos(away) * first + np.sin(away) * second
    above = np.cos(away) * second - np.sin(away) * first
    fraction = Fraction(family, above[:-1], float(above[-1]), below[:-1], float(below[-1]))
    if fraction.at(best) >= fraction.at(worst):
        return fraction
    return Fraction(family, -fraction.p, -fraction.p0, fraction.q, fraction.q0)


@dataclass(frozen=True, eq=False)
class Quadratic:
    """A quadratic utility u(C) = <a, c - o> + 1/2 (c - o)' B (c - o) of the errors c, greater is better.

    Parameters
    ----------
    slope : ndarray of shape (q,)
        a <= 0, norm 1, over the errors in row-major order.
    curvature : ndarray of shape (q, q)
        B, symmetric.
    centre : ndarray of shape (k, k)
        The matrix at which the errors are o.
    """

    slope: Matrix
    curvature: Matrix
    centre: Matrix

    def utility(self, matrix: Matrix) -> float:
        """Return the utility of one matrix of rates (k, k)."""
        return float(self(matrix))

    def __call__(self, matrices: Matrix) -> Matrix:
        """Return the utilities, shape (...), of matrices of rates, shape (..., k, k)."""
        away = LPM.coordinates(np.asarray(matrices) - self.centre)
        return np.asarray(away @ self.slope + ((away @ self.curvature) * away).sum(axis=-1) / 2)

    def wobbled(self, spread: float, rng: np.random.Generator) -> Self:
        """Return the metric with each log-weight of its slope perturbed, with deviation ``spread / sqrt(2)``."""
        slope = self.slope * np.exp(spread / np.sqrt(2) * rng.standard_normal(len(self.slope)))
        return type(self)(LPM.normalise(slope), self.curvature, self.centre)
