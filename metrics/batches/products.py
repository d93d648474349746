"""Products of a small matrix with a long one, in pieces that linear algebra libraries do on one thread.

Above about 64^3 multiplications they share a product among all processors, and the threads wait for each other: where
other programs are running, or several of our own threads are, that costs many times what the product does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_MOST_MULTIPLICATIONS = 250_000
# Of so wide matrices every piece is too large anyway, and sharing pays.
_WIDE = 200


def small_by_long(matrix: NDArray[np.float64], columns: NDArray[Any]) -> NDArray[np.float64]:
    """Return ``matrix @ columns``.

    Parameters
    ----------
    matrix : ndarray of shape (m, k)
        m and k are small.
    columns : ndarray of shape (k, b)
        b is large.

    Returns
    -------
    ndarray of shape (m, b)
        Of float64.
    """
    m, k = matrix.shape
    product = np.empty((m, columns.shape[1]))
    for start, stop in _pieces(m, k, columns.shape[1]):
        np.matmul(matrix, columns[:, start:stop], out=product[:, start:stop])
    return product


def long_by_long(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``left.T @ right``.

    Parameters
    ----------
    left : ndarray of shape (b, m)
        b is large.
    right : ndarray of shape (b, k)
        m and k are small.

    Returns
    -------
    ndarray of shape (m, k)
        Of float64.
    """
    total = np.zeros((left.shape[1], right.shape[1]))
    for start, stop in _pieces(*total.shape, len(left)):
        total += left[start:stop].T @ right[start:stop]
    return total


def _pieces(m: int, k: int, length: int) -> list[tuple[int, int]]:
    step = length if max(m, k) > _WIDE else max(_MOST_MULTIPLICATIONS // (m * k), 1)
    return [(start, min(start + step, length)) for start in range(0, length, step)]
