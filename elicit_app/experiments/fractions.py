"""Linear-fractional truths: random ones, and those that a user states, which must be defined and monotone.

Source: [HBMK19] Hiranandani, Boodaghians, Mehta & Koyejo, "Multiclass Performance Metric Elicitation", NeurIPS 2019,
section 2 and appendix E. The numerator has no offset, by convention: more than that no preference tells.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elicit_app.elicitation.procedures.published import Fraction
from elicit_app.elicitation.questions import Family, Matrix
from elicit_app.problem import WrongOption

_HALVINGS = 60
_FLAT = 1e-12


def random_fraction(family: Family, p: Matrix, prevalence: Matrix, rng: np.random.Generator) -> Fraction:
    """Return a fraction with a given numerator whose denominator keeps it monotone and at most 1 in size.

    Parameters
    ----------
    family : {"dlfpm", "lfpm"}
        Of hits, p >= 0: 0 <= q <= p; of errors, p <= 0: 0 <= q <= -p.
    p : ndarray of shape (n,)
        Weights of the numerator.
    prevalence : ndarray of shape (k,)
        Row sums of the matrices it will judge.
    rng : numpy.random.Generator
        Chance.
    """
    size = np.abs(p)
    q = size * rng.uniform(0, 1, len(p))
    rest = size - q
    k = len(prevalence)
    largest = rest if family == "dlfpm" else rest.reshape(k, k - 1).max(axis=1)
    return Fraction(family, p, 0.0, q, float(largest @ prevalence))


def stated_fraction(family: Family, p: Matrix, denominator: Sequence[float], prevalence: Matrix) -> Fraction:
    """Return the fraction <p, x> / (<q, x> + q0) that a user states.

    Parameters
    ----------
    family : {"dlfpm", "lfpm"}
        What x is: the k hits, or the errors in row-major order.
    p : ndarray of shape (n,)
        Weights of the numerator in the family's normalisation.
    denominator : sequence of n or n + 1 float
        q, then q0; without it q0 is 1.
    prevalence : ndarray of shape (k,)
        Row sums of the matrices.

    Raises
    ------
    WrongOption
        A wrong number, a denominator that is not positive everywhere, or a fraction that an error could raise.
    """
    n = len(p)
    if len(denominator) not in (n, n + 1) or not np.isfinite(denominator).all():
        raise WrongOption(
            f"`denominator` has {len(denominator)} numbers; {n}, one for each weight, were expected, and one more for "
            "the constant where it is not 1."
        )
    q = np.array(denominator[:n], dtype=np.float64)
    q0 = float(denominator[n]) if len(denominator) > n else 1.0
    if _largest(family, -q, prevalence) >= q0:
        raise WrongOption("`denominator` is not above 0 for every confusion matrix: raise its constant, the last one.")
    fraction = Fraction(family, p, 0.0, q, q0)
    sign = 1.0 if family == "dlfpm" else -1.0
    for extreme in (_extreme(fraction, prevalence, 1.0), -_extreme(fraction, prevalence, -1.0)):
        if (sign * (p - extreme * q) < -_FLAT).any():
            what = "falls with a hit" if family == "dlfpm" else "grows with an error"
            raise WrongOption(f"With this `denominator` the metric somewhere {what}: make its weights smaller.")
    return fraction


def _largest(family: Family, slope: Matrix, prevalence: Matrix) -> float:
    """Return the largest <slope, x> over all matrices of a prevalence: row by row, the hit or the steepest error."""
    k = len(prevalence)
    rows = slope[:, np.newaxis] if family == "dlfpm" else slope.reshape(k, k - 1)
    return float(np.maximum(rows.max(axis=1), 0.0) @ prevalence)


def _extreme(fraction: Fraction, prevalence: Matrix, sign: float) -> float:
    """Return the largest value of sign * fraction: the t at which the best of <p - t q, x> - t q0 is 0."""
    p, q, q0 = sign * fraction.p, fraction.q, fraction.q0
    high = float(np.abs(p).sum() / (q0 - _largest(fraction.family, -q, prevalence)))
    low = -high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        above = _largest(fraction.family, p - middle * q, prevalence) > middle * q0
        low, high = (middle, high) if above else (low, middle)
    return (low + high) / 2
