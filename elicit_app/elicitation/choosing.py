"""Which pair to ask about: the most information expected for the effort of reading it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from elicit_app.elicitation.belief import Posterior
from elicit_app.elicitation.pairs import PairSet
from elicit_app.elicitation.questions import Matrix

Goal = Literal["order", "closeness"]
Chooser = Callable[[Posterior, PairSet, Goal, Matrix, bool], int]  # as `best_pair`

_READING, _PER_CELL = 12.0, 1.0  # effort of a question, in rows read: the page itself, and each mistake that differs
_SHORTLIST = 150
_NEARLY = 0.95  # share of the most information that is as good as the most
_DECIMALS = 9  # scores are compared rounded: machines differ in the last digits


def information(belief: Posterior, gains: Matrix, graded: bool = False) -> Matrix:
    """Return the mutual information, in bits, between the answer and everything unknown (Lindley 1956).

    Parameters
    ----------
    belief : Posterior
        The draws.
    gains : ndarray of shape (pairs, m)
        Of the pairs.
    graded : bool
        Whether slightly and clearly are among the answers.
    """
    return _information(belief.chances(gains, graded))


def best_pair(belief: Posterior, pairs: PairSet, goal: Goal, targets: Matrix, graded: bool = False) -> int:
    """Return the index of the pair to ask about; of equal ones the first.

    Parameters
    ----------
    belief : Posterior
        What is believed now.
    pairs : PairSet
        Candidates.
    goal : {"order", "closeness"}
        What the answer shall tell most about. closeness: the weights in the family's normalisation, by expected squared
        error, among the pairs that tell nearly most about everything unknown; where weights are few, so are the cells.
        order: which of two achievable matrices is better (expected predictive information, Bickford Smith et al.
        2023), for the effort of reading, where there are more weights than answers can pin down.
    targets : ndarray of shape (n, m)
        Gains of random pairs of achievable matrices.
    graded : bool
        Whether slightly and clearly are among the answers.
    """
    chances = belief.chances(pairs.gains, graded)
    told = _information(chances)
    if goal == "closeness":
        nearly = np.flatnonzero(told >= _NEARLY * told.max())
        return int(nearly[_first_best(_spread_explained(chances[..., nearly], belief.samples))])
    effort = _READING + _PER_CELL * pairs.cells
    shortlist = np.sort(np.argsort(-np.round(told / effort, _DECIMALS), kind="stable")[:_SHORTLIST])
    order = belief.weights @ targets.T > 0
    return int(shortlist[_first_best(_predictive(chances[..., shortlist], order) / effort[shortlist])])


def _information(chances: Matrix) -> Matrix:
    chances = np.maximum(chances, 1e-12)
    expected = chances.mean(axis=1)
    noise = (chances * np.log2(chances)).mean(axis=1).sum(axis=0)
    return np.asarray(noise - (expected * np.log2(expected)).sum(axis=0))


def _predictive(chances: Matrix, order: NDArray[np.bool_]) -> Matrix:
    """Return the bits that each answer, chances (answers, n, pairs), tells about the order (n, targets), on average."""
    before, n = order.mean(axis=0), len(order)
    told = np.zeros(chances.shape[2])
    for chance in chances:
        share = np.maximum(chance.mean(axis=0), 1e-12)
        after = (chance.T @ order) / (n * share[:, None])
        told += share * (_entropy(before) - _entropy(after)).mean(axis=1)
    return told


def _spread_explained(chances: Matrix, samples: Matrix) -> Matrix:
    """Return by how much each answer is expected to lower the squared error of the samples' mean, shape (pairs,)."""
    centred = samples - samples.mean(axis=0)
    lowered = np.zeros(chances.shape[2])
    for chance in chances:
        share = np.maximum(chance.mean(axis=0), 1e-12)
        shift = (chance.T @ centred) / (len(centred) * share[:, None])
        lowered += share * (shift**2).sum(axis=1)
    return lowered / max(float((centred**2).sum(axis=1).mean()), 1e-300)


def _entropy(p: Matrix) -> Matrix:
    p = np.clip(p, 1e-12, 1 - 1e-12)
    return np.asarray(-(p * np.log2(p) + (1 - p) * np.log2(1 - p)))


def _first_best(scores: Matrix) -> int:
    return int(np.argmax(np.round(scores, _DECIMALS)))
