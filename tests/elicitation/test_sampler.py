"""Resampling in proportion, and moves that leave a posterior as it is and find it from elsewhere."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elicit_app.elicitation.sampler import moved, resampled

SEEDS = st.integers(0, 2**20)

# (particles, dimensions): a stand-in fitted to the particles, and too few of them for one.
FITTED, PLAIN = (800, 4), (200, 30)
BOTH = pytest.mark.parametrize("size", [FITTED, PLAIN], ids=["few dimensions", "many dimensions"])


def ordered(x: np.ndarray) -> np.ndarray:
    return np.where(x[:, 0] <= x[:, 1], 0.0, -np.inf)


class Gaussian:
    """N(0, I) times a correlated Gaussian likelihood, posterior in closed form."""

    def __init__(self, d: int, seed: int = 3) -> None:
        rng = np.random.default_rng(seed)
        root = rng.standard_normal((d, d)) / np.sqrt(d)
        self.precision = root @ root.T + 0.2 * np.eye(d)
        self.precision[0, 0] += (
            200.0 if d < 10 else 3.0
        )  # one direction is known better; the plain moves are slow there
        self.centre = rng.standard_normal(d)
        self.covariance = np.linalg.inv(np.eye(d) + self.precision)
        self.mean = self.covariance @ self.precision @ self.centre

    def __call__(self, x: np.ndarray) -> np.ndarray:
        off = x - self.centre
        return -0.5 * ((off @ self.precision) * off).sum(axis=1)

    def drawn(self, n: int, seed: int) -> np.ndarray:
        return np.random.default_rng(seed).multivariate_normal(self.mean, self.covariance, n)

    def assert_drawn_from(self, x: np.ndarray) -> None:
        """Demand that means and variances of (n, d) are within five standard errors."""
        spread, n = np.sqrt(self.covariance.diagonal()), len(x)
        assert np.abs((x.mean(axis=0) - self.mean) / spread).max() < 5 / np.sqrt(n)
        whitened = (x - self.mean) @ np.linalg.cholesky(np.linalg.inv(self.covariance))
        assert np.abs(whitened.var(axis=0) - 1).max() < 5 * np.sqrt(2 / n)


class TestMoves:
    @BOTH
    def test_a_posterior_is_left_as_it_is(self, size):
        n, d = size
        target = Gaussian(d)
        start = target.drawn(n, 1)
        after = moved(start, target, np.random.default_rng(2), 6)
        assert np.abs(after - start).max(axis=1).min() > 0  # everybody moved
        target.assert_drawn_from(after)

    def test_a_posterior_is_left_as_it_is_where_next_angles_are_tried_in_the_same_round(self):
        target = Gaussian(6)
        few = [moved(target.drawn(20, seed), target, np.random.default_rng(seed), 20) for seed in range(100)]
        target.assert_drawn_from(np.concatenate(few))

    @BOTH
    def test_a_posterior_is_found_from_the_prior(self, size):
        n, d = size
        target = Gaussian(d)
        start = np.random.default_rng(1).standard_normal((n, d))
        target.assert_drawn_from(moved(start, target, np.random.default_rng(2), 200 if d > 10 else 30))

    @BOTH
    def test_a_skewed_posterior_is_found(self, size):
        n, d = size

        def half_known(x: np.ndarray) -> np.ndarray:
            return -np.logaddexp(0, 4 - 10 * x[:, 0])

        grid = np.linspace(-8, 8, 20_001)
        share = np.exp(half_known(grid[:, None]) - grid**2 / 2)
        share /= share.sum()
        mean, square = share @ grid, share @ grid**2
        x = moved(np.random.default_rng(1).standard_normal((n, d)), half_known, np.random.default_rng(2), 20)
        known, free = x[:, 0], x[:, 1:]
        assert known.mean() == pytest.approx(mean, abs=5 * np.sqrt((square - mean**2) / n))
        assert (known**2).mean() == pytest.approx(square, abs=5 * np.sqrt((share @ grid**4 - square**2) / n))
        assert free.mean() == pytest.approx(0, abs=5 / np.sqrt(free.size))
        assert free.var() == pytest.approx(1, abs=5 * np.sqrt(2 / free.size))

    @BOTH
    def test_without_a_likelihood_the_prior_stays(self, size):
        n, d = size
        start = np.random.default_rng(1).standard_normal((n, d))
        after = moved(start, lambda x: np.zeros(len(x)), np.random.default_rng(2), 8)
        assert after.mean() == pytest.approx(0, abs=5 / np.sqrt(n * d))
        assert after.var() == pytest.approx(1, abs=5 * np.sqrt(2 / (n * d)))
        assert abs(np.corrcoef(after.ravel(), start.ravel())[0, 1]) < 0.5

    @BOTH
    def test_what_is_impossible_is_never_entered(self, size):
        n, d = size

        start = np.random.default_rng(1).standard_normal((n, d))
        start[:, :2].sort(axis=1)
        after = moved(start, ordered, np.random.default_rng(2), 10)
        assert (after[:, 0] <= after[:, 1] + 1e-9).all()
        # The difference of two ordered normals is half normal: sqrt(2) |z|.
        assert (after[:, 1] - after[:, 0]).mean() == pytest.approx(2 / np.sqrt(np.pi), abs=5 * 0.85 / np.sqrt(n))

    def test_many_moves_of_many_particles_show_no_bias(self):
        n, rounds = 20_000, 6
        x, rng = np.random.default_rng(7).standard_normal((n, 2)), np.random.default_rng(2)
        x.sort(axis=1)
        apart = []
        for _ in range(rounds):
            x = moved(x, ordered, rng, 8)
            apart.append((x[:, 1] - x[:, 0]).mean())
        spread = np.sqrt(2 - 4 / np.pi)  # of the half normal sqrt(2) |z|
        assert np.mean(apart) == pytest.approx(2 / np.sqrt(np.pi), abs=4 * spread / np.sqrt(rounds * n))

    @BOTH
    def test_the_same_seed_gives_the_same_draws(self, size):
        n, d = size
        target, start = Gaussian(d), np.random.default_rng(1).standard_normal((n, d))
        kept = start.copy()
        one, same, other = (moved(start, target, np.random.default_rng(seed), 4) for seed in (5, 5, 6))
        np.testing.assert_array_equal(one, same)
        assert not np.allclose(one, other)
        np.testing.assert_array_equal(start, kept)  # what comes in is not changed


class TestResampling:
    @settings(deadline=None, max_examples=40)
    @given(st.lists(st.floats(-30, 5), min_size=1, max_size=60), SEEDS)
    def test_everybody_comes_as_often_as_the_weight_says_give_or_take_one(self, log_weights, seed):
        log_weights = np.array(log_weights)
        n = len(log_weights)
        chosen = resampled(np.arange(n)[:, None].astype(float), log_weights, np.random.default_rng(seed))
        expected = n * np.exp(log_weights) / np.exp(log_weights).sum()
        counts = np.bincount(chosen[:, 0].astype(int), minlength=n)
        assert chosen.shape == (n, 1)
        assert (np.abs(counts - expected) < 1 + 1e-9).all()

    @settings(deadline=None, max_examples=40)
    @given(st.integers(1, 60), SEEDS, st.floats(-700, 700))
    def test_equal_weights_of_any_size_keep_everybody_once(self, n, seed, size):
        particles = np.arange(2.0 * n).reshape(n, 2)
        np.testing.assert_array_equal(resampled(particles, np.full(n, size), np.random.default_rng(seed)), particles)

    def test_over_many_seeds_the_proportions_are_exact(self):
        log_weights = np.log([0.02, 0.5, 0.3, 0.18])
        counts = np.zeros(4)
        for seed in range(2000):
            drawn = resampled(np.arange(4.0)[:, None], log_weights, np.random.default_rng(seed))
            counts += np.bincount(drawn[:, 0].astype(int), minlength=4)
        np.testing.assert_allclose(counts / counts.sum(), np.exp(log_weights), atol=0.01)

    def test_what_is_impossible_is_dropped(self):
        drawn = resampled(np.arange(4.0)[:, None], np.array([-np.inf, 0, -np.inf, 0]), np.random.default_rng(0))
        np.testing.assert_array_equal(drawn[:, 0], [1, 1, 3, 3])
