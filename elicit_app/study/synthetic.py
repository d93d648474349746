"""Synthetic studies: finite laws of class probabilities on which the published results can be checked.

Sources: Hiranandani, Boodaghians, Mehta, Koyejo, *Multiclass Performance Metric Elicitation*, NeurIPS 2019, section 5
(`paper-3`, `paper-4`); `softmax-3` and `softmax-4` are laws of our own on which every ratio is identifiable.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from elicit_app.study.counting import population_for, prevalence_of, yardstick_for
from elicit_app.study.model import Law, Study, default_wording, study_digest

_SLOPES = {"paper-3": (1.0, 3.0, 5.0), "paper-4": (1.0, 3.0, 6.0, 10.0)}
_SOFTMAX_CLASSES = {"softmax-3": 3, "softmax-4": 4}
TITLES = {
    "paper-3": "The paper's three classes",
    "paper-4": "The paper's four classes",
    "softmax-3": "Three overlapping classes",
    "softmax-4": "Four overlapping classes",
}
_GRID = 20_001
_PAPER_RADIUS_POINTS = 201
_SOFTMAX_POINTS = 4_096
_SOFTMAX_RADIUS_POINTS = 512

Probabilities = NDArray[np.float64]


def synthetic_description(name: str) -> str:
    """Return one line about a synthetic study; nothing is computed for it."""
    points = _GRID if name in _SLOPES else _SOFTMAX_POINTS
    return f"{_n_classes(name)} classes, {points:,} points, no data"


def _n_classes(name: str) -> int:
    return len(_SLOPES[name]) if name in _SLOPES else _SOFTMAX_CLASSES[name]


@cache
def synthetic_study(name: str) -> Study:
    """Return a synthetic study.

    Parameters
    ----------
    name : str
        One of `TITLES`.

    Returns
    -------
    Study
        Without models: its law is the study, C_ij = mean of eta_i where class j is predicted.

    Raises
    ------
    KeyError
        There is no synthetic study of that name.
    """
    law = _paper_law(_SLOPES[name]) if name in _SLOPES else _softmax_law(_n_classes(name))
    k = law.eta.shape[1]
    classes = tuple(str(index + 1) for index in range(k))
    return Study(
        name=name,
        title=TITLES[name],
        classes=classes,
        models=(),
        population=population_for(prevalence_of((), law, k)),
        stated_prevalence=None,
        wording=default_wording(classes),
        yardstick=yardstick_for((), law),
        kind="synthetic",
        description=synthetic_description(name),
        law=law,
        digest=study_digest(classes, (), law),
    )


def _paper_law(slopes: tuple[float, ...]) -> Law:
    """Return eta_i proportional to 1/(1 + exp(p_i x)), x uniform on [-1, 1] (the stated eta do not add up to 1)."""
    midpoints = (2 * np.arange(_GRID) + 1) / _GRID - 1
    return Law(_logistic(midpoints, slopes), radius_points=_logistic(np.linspace(-1, 1, _PAPER_RADIUS_POINTS), slopes))


def _logistic(x: NDArray[np.float64], slopes: tuple[float, ...]) -> Probabilities:
    raw = 1 / (1 + np.exp(np.outer(x, slopes)))
    eta: Probabilities = raw / raw.sum(axis=1, keepdims=True)
    return eta


def _softmax_law(n_classes: int) -> Law:
    """Return the softmax of the scores (0, 2 x_1, ..., 2 x_d), x standard normal on an additive recurrence."""
    from scipy.special import ndtri, softmax

    d = n_classes - 1
    n = np.arange(1, _SOFTMAX_POINTS + 1)
    u = np.modf(0.5 + np.outer(n, _generalised_golden_ratio(d) ** -np.arange(1.0, d + 1)))[0]
    scores = np.column_stack([np.zeros(len(n)), 2 * ndtri(u)])
    eta: Probabilities = softmax(scores, axis=1)
    return Law(eta, radius_points=eta[:_SOFTMAX_RADIUS_POINTS])


def _generalised_golden_ratio(d: int) -> float:
    """Return the g > 0 with g^(d+1) = g + 1; iterating g = (1 + g)^(1/(d+1)) contracts to it."""
    g = 2.0
    for _ in range(100):
        g = (1 + g) ** (1 / (d + 1))
    return g
