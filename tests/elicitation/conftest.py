"""Distributions of class probabilities that the tests of asking share."""

from functools import cache

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from elicit_app.elicitation.oracles import run


@pytest.fixture(scope="session")
def run_without_result():
    """Return why a sitting ended and what was answered, without the result, which costs as much as ten questions."""

    def of(procedure, oracle):
        procedure.conclude = lambda history, reason: reason
        try:
            return run(procedure, oracle)
        finally:
            del procedure.conclude

    return of


@pytest.fixture(scope="session")
def simulated_answers(run_without_result):
    """Return what somebody answers, without the result."""
    return lambda procedure, oracle: run_without_result(procedure, oracle)[1]


@cache
def _softmax(k: int) -> np.ndarray:
    d = k - 1
    g = brentq(lambda x: x ** (d + 1) - x - 1, 1, 2)
    steps = g ** -np.arange(1.0, d + 1)
    x = norm.ppf(np.mod(0.5 + np.arange(1, 4097)[:, None] * steps, 1.0))
    scores = np.hstack([np.zeros((len(x), 1)), 2 * x])
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


@cache
def _paper(k: int, x: tuple[float, ...]) -> np.ndarray:
    slopes = {3: (1, 3, 5), 4: (1, 3, 6, 10)}[k]
    parts = 1 / (1 + np.exp(np.outer(x, slopes)))
    return parts / parts.sum(axis=1, keepdims=True)


@pytest.fixture(scope="session")
def eta_of():
    """Return eta of a synthetic study by name; `radius=True`: the points that its radius is computed from."""

    def of(name: str, radius: bool = False) -> np.ndarray:
        kind, k = name.split("-")
        if kind == "softmax":
            return _softmax(int(k))[: 512 if radius else None]
        x = np.linspace(-1, 1, 201) if radius else -1 + (np.arange(20001) + 0.5) * 2 / 20001
        return _paper(int(k), tuple(x))

    return of
