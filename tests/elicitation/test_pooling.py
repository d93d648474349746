"""Several experts in one belief: a common centre, the spread around it, and who counts for how much."""

import numpy as np
import pytest

from elicit_app.elicitation.pooling import Expert, leave_one_out, pooled
from elicit_app.elicitation.prior import WeightPrior

COVARIANCE = WeightPrior.of("lpm", 3).covariance
M = len(COVARIANCE)


def expert(centre: np.ndarray, error: float, seed: int, n: int = 3000) -> Expert:
    """Return somebody whose log-weights were all observed with this error, exactly at `centre`."""
    spread = np.linalg.inv(np.linalg.inv(COVARIANCE) + np.eye(M) / error**2)
    mean = spread @ (centre / error**2)
    return Expert(np.random.default_rng(seed).multivariate_normal(mean, spread, n), COVARIANCE)


def group(experts: list[Expert], seed: int = 1):
    return pooled(experts, COVARIANCE, np.random.default_rng(seed))


CENTRE = np.array([1.5, -0.5, 0.4, -1.0, 0.0, -0.4])
CENTRED = CENTRE - CENTRE.mean()


class TestCentre:
    def test_one_expert_alone_is_given_back(self):
        one = expert(CENTRE, 0.3, 1)
        found = pooled([one], COVARIANCE, np.random.default_rng(1))
        values = one.log_weights - one.log_weights.mean(axis=1, keepdims=True)
        # Wider by what a single expert leaves open about a group.
        np.testing.assert_allclose(found.log_weights.mean(axis=0), values.mean(axis=0), atol=0.15)
        assert (found.log_weights.std(axis=0) >= 0.9 * values.std(axis=0)).all()

    def test_experts_of_one_mind_are_not_pulled_to_equal_costs(self):
        """The prior counts once, not once an expert."""
        found = group([expert(CENTRE, 0.8, seed) for seed in range(8)])
        slope = (found.log_weights.mean(axis=0) @ CENTRED) / (CENTRED @ CENTRED)
        assert 0.9 < slope < 1.1

    def test_piles_sorted_before_the_questions_are_no_answers(self):
        sorted_ = WeightPrior.of("lpm", 3, piles=[[(0, 1), (0, 2), (1, 0)]]).covariance
        draws = [np.random.default_rng(seed).multivariate_normal(np.zeros(M), sorted_, 3000) for seed in range(6)]
        found = group([Expert(one, sorted_) for one in draws]).log_weights
        beforehand = np.random.default_rng(9).multivariate_normal(np.zeros(M), COVARIANCE, 3000)
        within = [(logs[:, 0] - logs[:, 1]).std() for logs in (found, beforehand)]
        assert within[0] > 0.8 * within[1], "nobody was asked about these two"

    def test_more_experts_narrow_it(self):
        widths = [
            group([expert(CENTRE, 0.6, seed) for seed in range(n)]).log_weights.std(axis=0).mean() for n in (2, 4, 12)
        ]
        assert widths == sorted(widths, reverse=True)

    def test_the_order_of_experts_and_the_scale_of_their_weights_do_not_matter(self):
        experts = [expert(CENTRE + 0.3 * seed * np.eye(M)[seed], 0.5, seed) for seed in range(3)]
        shifted = [one._replace(log_weights=one.log_weights + 7.0) for one in experts[::-1]]
        one, other = group(experts), group(shifted)
        np.testing.assert_allclose(one.log_weights.mean(axis=0), other.log_weights.mean(axis=0), atol=1e-6)
        np.testing.assert_allclose(one.shares, other.shares[::-1], atol=1e-9)
        assert one.tau == pytest.approx(other.tau)


class TestSpread:
    def test_experts_who_agree_have_little_and_others_more(self):
        rng = np.random.default_rng(4)
        taus = []
        for tau in (0.0, 0.5, 1.2):
            found = [
                group([expert(CENTRE + tau * rng.standard_normal(M), 0.3, s) for s in range(6)]).tau for _ in range(3)
            ]
            taus.append(np.median(found))
        assert taus == sorted(taus)
        assert taus[0] < 0.25
        assert 0.3 < taus[1] < 0.8
        assert 0.8 < taus[2] < 1.7

    def test_its_interval_holds_it(self):
        found = group([expert(CENTRE, 0.5, seed) for seed in range(4)])
        low, high = found.tau_interval
        assert low <= found.tau <= high


class TestWeighing:
    def test_whoever_is_known_more_exactly_counts_for_more(self):
        found = group([expert(CENTRE, 0.2, 1), expert(CENTRE, 0.8, 2), expert(CENTRE, 0.8, 3)])
        assert found.shares.sum() == pytest.approx(1)
        assert found.shares[0] > found.shares[1]

    def test_without_an_expert_the_group_is_that_of_the_others(self):
        odd = CENTRE[::-1]
        experts = [*(expert(CENTRE, 0.3, seed) for seed in range(3)), expert(odd, 0.3, 9)]
        without = leave_one_out(experts, COVARIANCE, np.random.default_rng(1))
        assert len(without) == 4
        np.testing.assert_allclose(without[3].log_weights.mean(axis=0), CENTRED, atol=0.25)
        assert without[3].tau < without[0].tau

    def test_nobody_and_different_weights_are_refused(self):
        with pytest.raises(ValueError, match="at least one expert"):
            group([])
        with pytest.raises(ValueError, match="the same weights"):
            group([expert(CENTRE, 0.3, 1), Expert(np.zeros((10, 3)), np.eye(3))])
