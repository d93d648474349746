"""The restricted frontier against the literal rule, point by point."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elicit_app.elicitation.cases import Cases
from elicit_app.elicitation.procedures.dlpm import RestrictedFrontier

seeds = st.integers(0, 10**6)


def some_cases(seed: int, kind: str, n: int = 30, k: int = 3) -> Cases:
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.full(k, 0.6), n)
    proba[:5] = np.round(proba[:5], 1)  # equal probabilities, zeros: thresholds that coincide
    proba[:5] /= proba[:5].sum(axis=1, keepdims=True)
    truth = np.append(np.arange(k), rng.integers(0, k, n - k))
    return Cases.counted(truth, proba) if kind == "counted" else Cases.plug_in(proba)


@given(seeds, st.sampled_from(["counted", "plug-in"]), st.floats(0.001, 0.999))
def test_the_frontier_is_the_literal_threshold_rule(seed, kind, m):
    cases = some_cases(seed, kind)
    matrix = RestrictedFrontier(cases, 0, 2)(m)
    wanted = np.zeros((3, 3))
    for eta, outcome, weight in zip(cases.eta, cases.outcome, cases.weight, strict=True):
        if abs(m * eta[0] - (1 - m) * eta[2]) < 1e-12 and eta[0] + eta[2] > 0:
            return  # which side a rounding error falls on is not this test's business
        wanted[:, 0 if m * eta[0] >= (1 - m) * eta[2] else 2] += weight * outcome
    np.testing.assert_allclose(matrix, wanted, atol=1e-12)


@given(seeds, st.sampled_from(["counted", "plug-in"]))
def test_the_ends_are_always_k2_and_always_k1(seed, kind):
    cases = some_cases(seed, kind)
    frontier = RestrictedFrontier(cases, 0, 1)
    np.testing.assert_allclose(frontier(0.0)[:, 1], cases.prevalence, atol=1e-12)
    np.testing.assert_allclose(frontier(1.0)[:, 0], cases.prevalence, atol=1e-12)
    assert frontier(0.0)[:, 0].sum() == frontier(1.0)[:, 1].sum() == 0


@given(seeds, st.floats(0.01, 0.99))
def test_nu_is_best_among_all_thresholds_for_its_own_weights(seed, m):
    frontier = RestrictedFrontier(some_cases(seed, "plug-in"), 1, 2)
    utility = [m * c[1, 1] + (1 - m) * c[2, 2] for c in map(frontier.matrix_at, range(len(frontier) + 1))]
    best, worst = frontier(m), frontier.lower(m)
    assert m * best[1, 1] + (1 - m) * best[2, 2] == pytest.approx(max(utility), abs=1e-12)
    # The lower boundary is the best for the negated weights, among the swapped decisions.
    swapped = [
        m * (c[1, 1] + c[1, 2] - c[1, 1]) + (1 - m) * (c[2, 1] + c[2, 2] - c[2, 2])
        for c in map(frontier.matrix_at, range(len(frontier) + 1))
    ]
    assert m * worst[1, 1] + (1 - m) * worst[2, 2] == pytest.approx(min(swapped), abs=1e-12)


@given(seeds, st.sampled_from(["counted", "plug-in"]), st.floats(0, 1))
def test_a_stretch_holds_one_matrix_and_its_ends_change_it(seed, kind, m):
    frontier = RestrictedFrontier(some_cases(seed, kind), 0, 1)
    lowest, highest = frontier.flat_range(m)
    here = frontier(m)
    assert 0 <= lowest <= highest <= 1
    if lowest == highest:  # only at the ends, where some case turns at once
        assert m in (0, 1)
        return
    np.testing.assert_array_equal(frontier(lowest + 0.5 * (highest - lowest)), here)
    if lowest > 0:
        assert not np.array_equal(frontier(np.nextafter(lowest, 0)), here)
    if highest < 1:
        assert not np.array_equal(frontier(highest), here)


def test_the_published_law_only_reaches_a_limited_range_of_ratios(eta_of):
    cases = Cases.exact(eta_of("paper-3"))
    found = []
    for i in (1, 2):
        frontier = RestrictedFrontier(cases, 0, i)
        _, low = frontier.flat_range(0.0)
        high, _ = frontier.flat_range(1.0)
        found.append(((1 - high) / high, (1 - low) / low))
    np.testing.assert_allclose(found, [(0.750, 5.67), (0.674, 40.2)], rtol=0.002)
    four = RestrictedFrontier(Cases.exact(eta_of("paper-4")), 0, 3)
    _, low = four.flat_range(0.0)
    assert (1 - low) / low == pytest.approx(5924, rel=0.001)


def test_the_prevalence_of_the_softmax_laws(eta_of):
    np.testing.assert_allclose(Cases.exact(eta_of("softmax-3")).prevalence, (0.2834, 0.3586, 0.3579), atol=6e-5)
    np.testing.assert_allclose(Cases.exact(eta_of("softmax-4")).prevalence, (0.1798, 0.2735, 0.2725, 0.2743), atol=6e-5)
