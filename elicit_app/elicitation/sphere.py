"""The sphere within the set C of feasible confusion matrices: its centre o, radius lambda, and classifiers on it.

Source: [HBMK19] Hiranandani, Boodaghians, Mehta & Koyejo, "Multiclass Performance Metric Elicitation", NeurIPS 2019,
section 3.2 (sphere and parametrisation) and algorithm 3 (radius). Points are off-diagonal confusions c, q = k^2 - k
numbers in row-major order; the hits follow from the prevalence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elicit_app.elicitation.cases import Cases
from elicit_app.elicitation.questions import Matrix
from elicit_app.problem import Problem
from metrics.elicited.family import error_cells


def direction(theta: ArrayLike) -> Matrix:
    """Return the unit vector a(theta), shape (q,), from q - 1 angles: a_i = prod_{j<i} sin(theta_j) cos(theta_i)."""
    angles = np.asarray(theta, dtype=np.float64)
    sines = np.cumprod(np.append(1.0, np.sin(angles)))
    a: Matrix = sines * np.append(np.cos(angles), 1.0)
    return a


def quadrants(n_classes: int) -> list[tuple[float, float]]:
    """Return the q - 1 intervals of the angles for which every a_i <= 0: [pi/2, pi], the last one [pi, 3 pi/2]."""
    q = n_classes * (n_classes - 1)
    return [(np.pi / 2, np.pi)] * (q - 2) + [(np.pi, 3 * np.pi / 2)]


@dataclass(frozen=True, eq=False)
class Sphere:
    """All c = o + lambda a with |a| = 1.

    Parameters
    ----------
    centre : ndarray of shape (k, k)
        o as a full matrix of rates: every answer equally often, o_ij = zeta_i / k.
    radius : float
        lambda > 0.
    """

    centre: Matrix
    radius: float

    @classmethod
    def around(cls, prevalence: ArrayLike, radius: float) -> Sphere:
        """Return the sphere of `radius` around the centre for a prevalence, shape (k,)."""
        zeta = np.asarray(prevalence, dtype=np.float64)
        return cls(np.repeat(zeta[:, None] / len(zeta), len(zeta), axis=1), radius)

    @property
    def n_classes(self) -> int:
        """Return the number of classes k."""
        return len(self.centre)

    def point(self, a: ArrayLike) -> Matrix:
        """Return the confusion matrix (k, k) at o + lambda a, for a of shape (q,)."""
        matrix = self.centre.copy()
        errors = error_cells(self.n_classes)
        moved = np.zeros_like(matrix)
        moved[errors] = self.radius * np.asarray(a, dtype=np.float64)
        matrix += moved
        matrix[np.diag_indices(self.n_classes)] -= moved.sum(axis=1)
        return matrix

    def mu(self, theta: ArrayLike) -> Matrix:
        """Return the confusion matrix (k, k) at o + lambda a(theta), for q - 1 angles."""
        return self.point(direction(theta))

    def with_radius(self, radius: float | None) -> Sphere:
        """Return the sphere with a smaller radius; None keeps the radius.

        Raises
        ------
        Problem
            If the radius is not positive, or is larger than feasible.
        """
        if radius is None:
            return self
        if not 0 < radius <= self.radius * (1 + 1e-9):
            raise Problem(
                f"A radius of {radius:g} leaves the feasible matrices: "
                f"give a number above 0 and at most {self.radius:.4g}."
            )
        return Sphere(self.centre, radius)


@dataclass(frozen=True, eq=False)
class Reach:
    """How far one confusion can grow at the expense of another of the same true class, all else as at the centre.

    Parameters
    ----------
    length : float
        lambda_i: the largest t with o + t (e_ij - e_il) feasible, the same for all j != l.
    gaining, losing : ndarray of shape (n,)
        Probability, for each case, that the randomised classifier at that point answers j, and l.
    """

    length: float
    gaining: NDArray[np.float64]
    losing: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MeasuredSphere(Sphere):
    """The largest sphere that algorithm 3 finds for given cases, with the randomised classifiers on it.

    Parameters
    ----------
    reaches : tuple of Reach
        One per true class.
    """

    reaches: tuple[Reach, ...]

    def classifier(self, a: ArrayLike) -> NDArray[np.float64]:
        """Return h(x, j), shape (n, k), rows summing to 1: a randomised classifier whose matrix is ``point(a)``.

        The classifiers at the ends of the axes are mixed in shares lambda |a_ij| / lambda_i, which sum to at most 1 by
        Cauchy-Schwarz; the classifier of the centre makes up the rest.
        """
        k = self.n_classes
        steps = np.zeros((k, k))
        steps[error_cells(k)] = self.radius * np.asarray(a, dtype=np.float64)
        h = np.full((len(self.reaches[0].gaining), k), 1.0 / k)
        for i, j in np.argwhere(steps).tolist():
            up, down = (j, i) if steps[i, j] > 0 else (i, j)
            h += abs(steps[i, j]) / self.reaches[i].length * (self._end(self.reaches[i], up, down) - 1.0 / k)
        return h

    def _end(self, reach: Reach, up: int, down: int) -> NDArray[np.float64]:
        others = (1.0 - reach.gaining - reach.losing) / max(self.n_classes - 2, 1)
        end = np.repeat(others[:, None], self.n_classes, axis=1)
        end[:, up], end[:, down] = reach.gaining, reach.losing
        return end


def measure_sphere(cases: Cases) -> MeasuredSphere:
    """Return the largest sphere by algorithm 3: lambda = (sum_j lambda_j^-2)^(-1/2) over the q axes.

    Exchanging predicted classes leaves the centre unchanged, so lambda_j is the same in both directions of an axis and
    for all errors of one true class. That takes k linear programmes instead of 2 q, each with two decision columns.

    Parameters
    ----------
    cases : Cases
        Plug-in cases or a distribution. (With counted cases a classifier could look at the truth.)

    Raises
    ------
    Problem
        If no sphere fits, because some class has the same probability for every case.
    """
    k = cases.n_classes
    reaches = tuple(_reach(cases, i) for i in range(k))
    shortest = min(reach.length for reach in reaches)
    if shortest <= 1e-9:
        raise Problem(
            "No sphere of confusion matrices fits: the model gives some class the same probability everywhere."
        )
    radius = float(sum((k - 1) * reach.length**-2 for reach in reaches) ** -0.5)
    plain = Sphere.around(cases.prevalence, radius)
    return MeasuredSphere(plain.centre, radius, reaches)


def _reach(cases: Cases, i: int) -> Reach:
    """Maximise t over the probabilities of two answers: one gains t cases of true class i, the other loses them."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, hstack, vstack

    k, n = cases.n_classes, len(cases.weight)
    # Masses are about 1 / n; scaling by n makes the solver's absolute tolerances independent of n.
    mass, nothing = cases.mass * n, np.zeros((k, n))
    shift = np.zeros((k, 1))
    shift[i] = n
    moments = csr_array(np.vstack([np.hstack([mass, nothing, -shift]), np.hstack([nothing, mass, shift])]))
    wanted = np.tile(cases.prevalence * n / k, 2)
    shares = hstack([eye_array(n), eye_array(n), csr_array((n, 1))], format="csr")
    goal = np.append(np.zeros(2 * n), -1.0)
    solve: Any = linprog  # its stubs do not know sparse matrices
    if k == 2:  # with two answers there is no third one
        rules, right = vstack([moments, shares], format="csr"), np.append(wanted, np.ones(n))
        solved = solve(goal, A_eq=rules, b_eq=right, bounds=(0, None), method="highs-ipm")
    else:
        solved = solve(goal, shares, np.ones(n), moments, wanted, bounds=(0, None), method="highs-ipm")
    if solved.status != 0:
        raise Problem(f"The radius of the sphere could not be computed: {solved.message}")
    return Reach(float(solved.x[-1]), solved.x[:n], solved.x[n : 2 * n])
