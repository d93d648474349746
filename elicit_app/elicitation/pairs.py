"""Which pair to ask about: the most information expected for the effort of reading it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elicit_app.elicitation.belief import Posterior
from elicit_app.elicitation.pool import Pool
from elicit_app.elicitation.prior import WeightPrior
from elicit_app.elicitation.questions import Matrix

_SAME = 1e-12  # rates closer than this are the same
_CLEAR = 0.01  # share of the cases that the largest difference of a pair must reach
_KEPT = 40_000  # pairs kept of a pool
_FEWEST = 300  # pairs needed before "few cells" can be demanded
_READING, _PER_CELL = 12.0, 1.0  # effort of a question, in rows read: the page itself, and each mistake that differs


@dataclass(frozen=True, eq=False)
class PairSet:
    """Pairs that may be asked about: neither side dominates, the difference is clear, few cells differ.

    Parameters
    ----------
    first, second : ndarray of shape (n, k, k)
        The matrices.
    gains : ndarray of shape (n, m)
        ``WeightPrior.gain`` of each pair.
    cells : ndarray of int, shape (n,)
        Numbers of weights that take part.
    """

    first: Matrix
    second: Matrix
    gains: Matrix
    cells: NDArray[np.intp]

    @classmethod
    def of(cls, pool: Pool, prior: WeightPrior, max_cells: int, rng: np.random.Generator) -> PairSet:
        """Pair up the matrices of a pool; where the pool has too few simple pairs the simplest ones are taken."""
        first, second = np.triu_indices(len(pool.matrices), 1)
        gains = prior.gain(pool.matrices[first], pool.matrices[second])
        ok = (gains > _SAME).any(axis=1) & (gains < -_SAME).any(axis=1) & (np.abs(gains).max(axis=1) >= _CLEAR - _SAME)
        first, second, gains = first[ok], second[ok], gains[ok]
        cells = (np.abs(gains) > _SAME).sum(axis=1)
        limit = max(max_cells, int(np.sort(cells)[min(_FEWEST, len(cells)) - 1]))
        simple = np.flatnonzero(cells <= limit)
        if len(simple) > _KEPT:
            simple = np.sort(rng.choice(simple, _KEPT, replace=False))
        return cls(pool.matrices[first[simple]], pool.matrices[second[simple]], gains[simple], cells[simple])

    def __len__(self) -> int:
        return len(self.cells)


def information(belief: Posterior, gains: Matrix, graded: bool = False) -> Matrix:
    """Return the mutual information, in bits, between the answer and everything unknown.

    Parameters
    ----------
    belief : Posterior
        The draws.
    gains : ndarray of shape (pairs, m)
        Of the pairs.
    graded : bool
        Whether slightly and clearly are among the answers.
    """
    chances = np.maximum(belief.chances(gains, graded), 1e-12)
    expected = chances.mean(axis=1)
    noise = (chances * np.log2(chances)).mean(axis=1).sum(axis=0)
    return np.asarray(noise - (expected * np.log2(expected)).sum(axis=0))


def best_pair(belief: Posterior, gains: Matrix, cells: NDArray[np.intp], graded: bool = False) -> int:
    """Return the index of the pair with the most bits per effort; of equal ones the first."""
    effort = _READING + _PER_CELL * cells
    return int(np.argmax(np.round(information(belief, gains, graded) / effort, 9)))
