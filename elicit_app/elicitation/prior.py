"""What is believed about the weights before any question: log-normal, classes may share strength."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elicit_app.elicitation.questions import Family, Matrix
from elicit_app.problem import Problem

Structure = Literal["iid", "structured", "auto"]

SPREAD = 1.2  # standard deviation of a log-weight: 90 % of cost ratios between 1:16 and 16:1
ROW_SPREAD, COLUMN_SPREAD, OWN_SPREAD = 0.7, 0.5, 0.7
STRUCTURED_ABOVE = 5  # classes: with more than this, "auto" lets errors of one row or column share strength


class NeverWorse(NamedTuple):
    """An order that the expert states: the first mistake is never worse than the second.

    Mistakes are (true class, predicted class); in the family dlpm only the true class counts.
    """

    mistake: tuple[int, int]
    than: tuple[int, int]


@dataclass(frozen=True, eq=False)
class WeightPrior:
    """Positive weights w with log w = factor @ x, where x is standard normal.

    A matrix pair enters through its `gain`: the utility of A minus that of B is ``w @ gain(A, B)``. In the family dlpm
    w are the k rewards of the hits; in lpm they are the q = k^2 - k costs of the errors, row-major (Hiranandani et al.
    2019, section 2, with the sign turned).

    Parameters
    ----------
    family : {"dlpm", "lpm"}
        The family of the metric.
    n_classes : int
        k, at least 2.
    factor : ndarray of shape (m, m)
        Lower triangular; m = k for dlpm, q for lpm.
    order : ndarray of int, shape (n, 2)
        Rows (i, j): weight i is never larger than weight j.
    """

    family: Family
    n_classes: int
    factor: Matrix
    order: NDArray[np.intp]

    @classmethod
    def of(
        cls, family: Family, n_classes: int, structure: Structure = "auto", constraints: Sequence[NeverWorse] = ()
    ) -> WeightPrior:
        """Build the prior of a family.

        Parameters
        ----------
        family : {"dlpm", "lpm"}
            The family of the metric.
        n_classes : int
            k, at least 2.
        structure : {"iid", "structured", "auto"}
            Independent log-weights, or row + column + own part (lpm only); auto: structured above five classes.
        constraints : sequence of NeverWorse
            Orders that hold for certain.

        Raises
        ------
        Problem
            A family without this belief, a mistake that is none, or orders that contradict each other.
        """
        if family not in ("dlpm", "lpm"):
            raise Problem(f"The procedure bayes knows the families dlpm and lpm, not {family!r}.")
        m = n_classes if family == "dlpm" else n_classes * (n_classes - 1)
        shared = structure == "structured" or (structure == "auto" and n_classes > STRUCTURED_ABOVE)
        if family == "lpm" and shared:
            cells = np.argwhere(~np.eye(n_classes, dtype=bool))
            same = cells[:, None, :] == cells[None, :, :]
            covariance = ROW_SPREAD**2 * same[..., 0] + COLUMN_SPREAD**2 * same[..., 1] + OWN_SPREAD**2 * np.eye(m)
            factor = np.linalg.cholesky(covariance)
        else:
            factor = SPREAD * np.eye(m)
        pairs = [(_index(c.mistake, family, n_classes), _index(c.than, family, n_classes)) for c in constraints]
        if family == "dlpm":
            pairs = [(small, large) for small, large in pairs if small != large]  # the same weight
        order = np.array(pairs, dtype=np.intp).reshape(-1, 2)
        _refuse_circle(order, m)
        return cls(family, n_classes, factor, order)

    @property
    def size(self) -> int:
        """Return m, the number of weights."""
        return len(self.factor)

    def log_weights(self, x: Matrix) -> Matrix:
        """Return the log-weights, shape (..., m), of standard normal coordinates x, shape (..., m)."""
        if np.count_nonzero(self.factor) == self.size:
            return np.asarray(x * self.factor.diagonal())
        return np.asarray(x @ self.factor.T)

    def allowed(self, log_weights: Matrix) -> NDArray[np.bool_]:
        """Tell which draws, shape (n, m), keep every stated order; shape (n,)."""
        return np.asarray((log_weights[:, self.order[:, 0]] <= log_weights[:, self.order[:, 1]]).all(axis=1))

    def gain(self, a: Matrix, b: Matrix) -> Matrix:
        """Return what the weights multiply, shape (..., m), so that u(A) - u(B) = w @ gain; a, b: (..., k, k)."""
        difference = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
        if self.family == "dlpm":
            return np.asarray(np.diagonal(difference, axis1=-2, axis2=-1))
        return np.asarray(-difference[..., ~np.eye(self.n_classes, dtype=bool)])

    def normalised(self, weights: Matrix) -> Matrix:
        """Bring positive weights, shape (..., m), to the family's normalisation (dlpm: sum 1; lpm: <= 0, norm 1)."""
        if self.family == "dlpm":
            return np.asarray(weights / weights.sum(axis=-1, keepdims=True))
        return np.asarray(-weights / np.linalg.norm(weights, axis=-1, keepdims=True))


def _index(mistake: tuple[int, int], family: Family, k: int) -> int:
    true, predicted = mistake
    if not (0 <= true < k and 0 <= predicted < k and true != predicted):
        raise Problem(f"A mistake is a true and another predicted class, both from 0 to {k - 1}, not {mistake}.")
    return true if family == "dlpm" else true * (k - 1) + predicted - (predicted > true)


def _refuse_circle(order: NDArray[np.intp], m: int) -> None:
    """Refuse orders from which a weight would have to be no larger than itself by way of others."""
    reach = np.zeros((m, m), dtype=bool)
    reach[order[:, 0], order[:, 1]] = True
    for step in range(m):
        reach |= reach[:, [step]] & reach[[step], :]
    if reach.diagonal().any():
        raise Problem("The stated orders go round in a circle; take one of them back.")
