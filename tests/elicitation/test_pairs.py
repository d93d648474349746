"""Pairs that may be asked about: fair, clear, in few cells, and honest about what is hypothetical."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elicit_app.elicitation.agenda import better_side
from elicit_app.elicitation.cases import Cases
from elicit_app.elicitation.pairs import PairSet, SpherePairs
from elicit_app.elicitation.plausible import pairs_of_study
from elicit_app.elicitation.pool import Pool
from elicit_app.elicitation.prior import WeightPrior
from elicit_app.elicitation.sphere import Sphere, measure_sphere
from elicit_app.problem import Problem

SEEDS = st.integers(0, 2**20)
POPULATION = 1000


def counted(k: int, n: int = 150) -> Cases:
    rng = np.random.default_rng(11)
    proba = rng.dirichlet(np.full(k, 0.5), n)
    return Cases.counted([rng.choice(k, p=row) for row in proba], proba)


def weights_of(prior: WeightPrior, n: int = 50, seed: int = 1) -> np.ndarray:
    return np.exp(prior.log_weights(np.random.default_rng(seed).standard_normal((n, prior.size))))


def matrices(k: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return pairs (2, n, k, k) that share most of their cells, some the same, some with one side better."""
    hits = np.full(k, 1.0 / k)
    errors = rng.integers(0, 2, (2, n, k, k)) * rng.integers(0, 25, (2, n, k, k)) / POPULATION
    errors[1] = np.where(rng.random((n, k, k)) < 0.6, errors[0], errors[1])
    errors *= ~np.eye(k, dtype=bool)
    return errors + np.eye(k) * (hits - errors.sum(axis=3))[..., None]


class TestPairSet:
    @settings(deadline=None, max_examples=40)
    @given(st.integers(2, 4), SEEDS)
    def test_what_is_kept_is_fair_and_clear_and_nothing_else_is_dropped(self, k, seed):
        rng, prior = np.random.default_rng(seed), WeightPrior.of("lpm", k)
        first, second = matrices(k, 30, rng)
        kept = PairSet.of(first, second, prior, hypothetical=True)
        wanted = [
            n
            for n, (a, b) in enumerate(zip(first, second, strict=True))
            if better_side(a, b) is None
            and (a != b).any()
            and np.abs(a - b)[~np.eye(k, dtype=bool)].max() >= 0.01 - 1e-12
        ]
        assert len(kept) == len(wanted) < 30
        np.testing.assert_array_equal(kept.first, first[wanted])
        np.testing.assert_array_equal(kept.second, second[wanted])
        np.testing.assert_array_equal(kept.gains, prior.gain(first[wanted], second[wanted]))
        assert kept.hypothetical.all()

    @settings(deadline=None, max_examples=40)
    @given(st.integers(2, 4), SEEDS)
    def test_cells_are_the_errors_that_differ(self, k, seed):
        prior = WeightPrior.of("lpm", k)
        pairs = PairSet.of(*matrices(k, 30, np.random.default_rng(seed)), prior, hypothetical=False)
        differ = [(a != b)[~np.eye(k, dtype=bool)].sum() for a, b in zip(pairs.first, pairs.second, strict=True)]
        np.testing.assert_array_equal(pairs.cells, differ)

    def test_sets_are_joined_in_order_and_picked_from(self):
        prior, rng = WeightPrior.of("lpm", 3), np.random.default_rng(2)
        real, made = (PairSet.of(*matrices(3, 40, rng), prior, hypothetical) for hypothetical in (False, True))
        both = PairSet.joined([real, made])
        assert len(both) == len(real) + len(made) > 10
        np.testing.assert_array_equal(both.hypothetical, np.repeat([False, True], [len(real), len(made)]))
        picked = both[np.array([len(real), 0])]
        np.testing.assert_array_equal(picked.gains, [made.gains[0], real.gains[0]])
        np.testing.assert_array_equal(picked.first, [made.first[0], real.first[0]])
        np.testing.assert_array_equal(picked.second, [made.second[0], real.second[0]])


@pytest.fixture(scope="module", params=[("lpm", 2, 6), ("dlpm", 3, 2), ("lpm", 4, 4), ("lpm", 6, 4)], ids=str)
def frontier(request):
    family, k, most = request.param
    cases = [counted(k)]
    return pairs_of_study(cases, POPULATION, WeightPrior.of(family, k), most, 1.0), cases, most


class TestFrontier:
    def test_every_pair_is_fair_clear_and_in_few_cells(self, frontier):
        source, _, most = frontier
        assert sum(map(len, source.groups)) > 0
        for group in source.groups:
            assert (group.gains > 1e-12).any(axis=1).all()
            assert (group.gains < -1e-12).any(axis=1).all()
            assert (np.abs(group.gains).max(axis=1, initial=1.0) >= 0.01 - 1e-12).all()
            assert (group.cells <= most).all()
            np.testing.assert_allclose(group.gains, source.prior.gain(group.first, group.second), atol=1e-12)

    def test_what_is_not_hypothetical_is_what_a_model_does(self, frontier):
        source, cases, _ = frontier
        pool = Pool.of(cases, POPULATION, np.random.default_rng([20, 0]))
        does = {matrix.tobytes() for matrix in np.round(source.pool.matrices * POPULATION).astype(int)}
        assert {matrix.tobytes() for matrix in np.round(pool.matrices * POPULATION).astype(int)} == does
        for group in source.groups:
            for ends in (group.first[:300], group.second[:300]):
                known = [matrix.tobytes() in does for matrix in np.round(ends * POPULATION).astype(int)]
                if not group.hypothetical.any():
                    assert all(known)
        assert not source.groups[0].hypothetical.any()
        assert all(group.hypothetical.all() for group in source.groups[1:])

    def test_candidates_are_some_of_them_and_different_ones_each_time(self, frontier):
        source, *_ = frontier
        weights = weights_of(source.prior)
        some, same, other = (source.candidates(weights, np.random.default_rng(seed)) for seed in (1, 1, 2))
        known = {gains.tobytes() for group in source.groups for gains in group.gains}
        assert {gains.tobytes() for gains in some.gains} <= known
        np.testing.assert_array_equal(some.gains, same.gains)
        assert some.gains.shape != other.gains.shape or not np.array_equal(some.gains, other.gains)
        if all(map(len, source.groups)):
            assert some.hypothetical.any() == (len(source.groups) > 1)
            assert not some.hypothetical.all()

    def test_random_pairs_are_different_matrices(self, frontier):
        source, *_ = frontier
        gains = source.random_gains(200, np.random.default_rng(1))
        assert 100 < len(gains) <= 200
        assert gains.shape[1] == source.prior.size
        assert np.abs(gains).max(axis=1).min() > 1e-12

    def test_they_belong_to_the_study_and_are_found_once(self):
        prior = WeightPrior.of("lpm", 2)
        source, again = pairs_of_study([counted(2)], POPULATION, prior, 2, 1.0), counted(2)
        assert pairs_of_study([again], POPULATION, prior, 2, 1.0) is source
        assert pairs_of_study([again], POPULATION, prior, 3, 1.0) is not source
        assert pairs_of_study([again], 10 * POPULATION, prior, 2, 1.0) is not source
        assert pairs_of_study([again, again], POPULATION, prior, 2, 1.0) is not source
        assert pairs_of_study([again], POPULATION, WeightPrior.of("dlpm", 2), 2, 1.0) is not source
        assert pairs_of_study([again], POPULATION, prior, 2, 0.5) is not source


class TestNothingToAsk:
    def test_a_class_that_is_always_the_truth_is_said(self):
        rng = np.random.default_rng(1)
        one_class = Cases.counted(np.zeros(50, dtype=int), rng.dirichlet(np.ones(2), 50))
        with pytest.raises(Problem, match=r"nothing to ask\. Use predictions .* classes that all occur"):
            pairs_of_study([one_class], POPULATION, WeightPrior.of("lpm", 2), 4, 1.0)

    def test_probabilities_that_never_differ_leave_constant_answers_to_compare(self):
        always = Cases.counted(np.arange(50) % 2, np.full((50, 2), 0.5))
        source = pairs_of_study([always], POPULATION, WeightPrior.of("lpm", 2), 4, 1.0)
        assert len(source.candidates(np.ones((3, 2)), np.random.default_rng(1))) == 1


class TestSphere:
    CASES = counted(3)
    SPHERE = measure_sphere(CASES)
    PRIOR = WeightPrior.of("lpm", 3)

    def source(self) -> SpherePairs:
        return SpherePairs(self.SPHERE.centre, self.SPHERE.radius, self.PRIOR)

    @settings(deadline=None, max_examples=20)
    @given(SEEDS, st.floats(0.05, 2))
    def test_every_end_lies_on_the_lower_boundary(self, seed, spread):
        middle = np.random.default_rng(seed).standard_normal(6)
        weights = np.exp(middle + spread * np.random.default_rng(seed + 1).standard_normal((60, 6)))
        pairs = self.source().candidates(weights, np.random.default_rng(seed))
        errors = ~np.eye(3, dtype=bool)
        differ = np.abs(pairs.gains).max(axis=1) > 1e-12
        assert differ.mean() > 0.9
        for ends in (pairs.first, pairs.second):
            moved = (ends - self.SPHERE.centre)[differ][:, errors]
            np.testing.assert_allclose(np.linalg.norm(moved, axis=1), self.SPHERE.radius, rtol=1e-9)
            assert moved.max() <= 1e-9
            assert ends.min() >= -1e-9
            np.testing.assert_allclose(ends.sum(axis=2), np.tile(self.CASES.prevalence, (len(ends), 1)), atol=1e-12)
        np.testing.assert_allclose(pairs.gains, self.PRIOR.gain(pairs.first, pairs.second), atol=1e-12)
        assert not pairs.hypothetical.any()

    def test_nobody_is_asked_about_the_same_matrix_twice(self):
        pairs = self.source().candidates(weights_of(self.PRIOR, 60), np.random.default_rng(1))
        assert np.abs(pairs.gains).max(axis=1).min() > 1e-12

    def test_most_pairs_leave_the_draws_divided(self):
        weights = weights_of(self.PRIOR, 200)
        pairs = self.source().candidates(weights, np.random.default_rng(1))
        for_first = (weights @ pairs.gains.T > 0).mean(axis=0)
        assert (np.abs(for_first - 0.5) < 0.25).mean() > 0.6
        assert (for_first * (1 - for_first) > 0).mean() > 0.95

    def test_random_pairs_lie_anywhere_on_it(self):
        gains = self.source().random_gains(500, np.random.default_rng(1))
        assert gains.shape == (500, 6)
        assert np.linalg.norm(gains, axis=1).max() <= np.sqrt(2) * self.SPHERE.radius + 1e-12
        assert (gains > 0).any(axis=1).all()
        assert (gains < 0).any(axis=1).all()

    def test_hits_are_no_sphere(self):
        sphere = Sphere.around([0.5, 0.3, 0.2], 0.01)
        with pytest.raises(Problem, match="use it with the family lpm"):
            SpherePairs(sphere.centre, sphere.radius, WeightPrior.of("dlpm", 3))
