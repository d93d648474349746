"""Negative log-likelihood and the squared error of probabilities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss, log_loss

from metrics.measures.likelihood import negative_log_likelihood, probability_squared_error

Y = [0, 0, 0, 1, 2]
P = [[0.7, 0.2, 0.1], [0.3, 0.5, 0.2], [0.6, 0.3, 0.1], [0.2, 0.6, 0.2], [0.1, 0.5, 0.4]]
W = [1, 2, 5]


def test_values_of_the_lecture():
    assert negative_log_likelihood(Y, P) == pytest.approx(0.6997179455, abs=1e-9)
    weighted = negative_log_likelihood(Y, P, class_weight=W)
    assert weighted == pytest.approx(0.7674578279, abs=1e-9)
    assert weighted == pytest.approx(log_loss(Y, P, sample_weight=np.take(W, Y)), abs=1e-12)
    assert negative_log_likelihood(Y, P, class_weight={0: 1, 1: 2, 2: 5}) == weighted


@given(st.integers(0, 999), st.integers(2, 6), st.integers(1, 50), st.sampled_from([np.float64, np.float32]))
def test_log_loss_of_scikit_learn(seed, k, n, kind):
    rng = np.random.default_rng(seed)
    proba, y, weight = rng.dirichlet(np.full(k, 0.2), n).astype(kind), rng.integers(0, k, n), rng.random(n) + 0.1
    proba[0] = np.eye(k)[rng.integers(0, k)]
    ours = negative_log_likelihood(y, proba, sample_weight=weight)
    theirs = log_loss(y, proba, labels=range(k), sample_weight=weight)
    assert ours == pytest.approx(theirs, abs=1e-12 if kind == np.float64 else 1e-4)


def test_no_chance_at_all_costs_much_but_not_infinitely_much():
    assert negative_log_likelihood([0], [[0.0, 1.0]]) == pytest.approx(36.04365338911715)
    assert negative_log_likelihood([0], np.array([[0, 1]], dtype=np.float32)) == pytest.approx(15.942385152878742)
    assert negative_log_likelihood([1], [[0.0, 1.0]]) == 0
    assert negative_log_likelihood([1], [[0.0, 1.0005]]) == 0


def test_squared_error():
    literal = sum((p - (j == y)) ** 2 for row, y in zip(P, Y, strict=True) for j, p in enumerate(row)) / (2 * len(Y))
    assert probability_squared_error(Y, P) == pytest.approx(literal, abs=1e-12)
    assert probability_squared_error([0], [[1.0, 0.0]]) == 0
    assert probability_squared_error([1], [[1.0, 0.0]]) == 1


@given(st.integers(0, 999), st.integers(1, 50))
def test_at_two_classes_the_squared_error_is_the_brier_score(seed, n):
    rng = np.random.default_rng(seed)
    one, y, weight = rng.random(n), rng.integers(0, 2, n), rng.random(n) + 0.1
    ours = probability_squared_error(y, np.column_stack([1 - one, one]), sample_weight=weight)
    assert ours == pytest.approx(brier_score_loss(y, one, sample_weight=weight, pos_label=1), abs=1e-12)
