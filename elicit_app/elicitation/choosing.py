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
_GLANCE = 4  # one draw in so many says which pairs deserve all of them
_LOOKED_INTO = 600  # pairs that all draws are asked about
_SHORTLIST = 150
_BLOCK = 64  # pairs at a time: what fits the processor's cache
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
    told = np.zeros(len(gains))
    for start in range(0, len(gains), _BLOCK):
        block = slice(start, start + _BLOCK)
        told[block] = _information(belief.chances(gains[block], graded))
    return told


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
    effort = np.ones(len(pairs))
    if goal == "order":
        effort *= _READING + _PER_CELL * pairs.cells
    close = _promising(belief, pairs.gains, effort, graded)
    told = information(belief, pairs.gains[close], graded)
    if goal == "closeness":
        nearly = close[told >= _NEARLY * told.max()]
        return int(nearly[_first_best(_spread_explained(belief.chances(pairs.gains[nearly], graded), belief.samples))])
    shortlist = close[_most(told / effort[close], _SHORTLIST)]
    order = belief.weights @ targets.T > 0
    worth = _predictive(belief.chances(pairs.gains[shortlist], graded), order) / effort[shortlist]
    return int(shortlist[_first_best(worth)])


def _promising(belief: Posterior, gains: Matrix, effort: Matrix, graded: bool) -> NDArray[np.intp]:
    """Return which pairs are worth the time of asking every draw, in order."""
    if len(gains) <= _LOOKED_INTO:
        return np.arange(len(gains))
    return _most(information(belief.thinned(_GLANCE), gains, graded) / effort, _LOOKED_INTO)


def _most(scores: Matrix, n: int) -> NDArray[np.intp]:
    """Return the indices of the n largest scores, in order; of equal ones the first."""
    return np.sort(np.argsort(-np.round(scores, _DECIMALS), kind="stable")[:n])


def _information(chances: Matrix) -> Matrix:
    told = np.zeros(chances.shape[2])
    for chance in chances:
        chance = np.maximum(chance, 1e-12)
        expected = chance.mean(axis=0)
        bits = np.log2(chance)
        bits *= chance
        told += bits.mean(axis=0) - expected * np.log2(expected)
    return told


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
