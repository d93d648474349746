"""Several experts in one belief: a common centre, the spread around it, and who counts for how much."""

import numpy as np
import pytest

from elicit_app.elicitation.pooling import Expert, leave_one_out, log_odds_of_opposition, pooled
from elicit_app.elicitation.prior import NeverWorse, WeightPrior

PRIOR = WeightPrior.of("lpm", 3)
COVARIANCE = PRIOR.covariance
M = len(COVARIANCE)


def expert(centre: np.ndarray, error: float, seed: int, n: int = 3000, prior: WeightPrior = PRIOR) -> Expert:
    """Return somebody whose log-weights were all observed with this error, exactly at `centre`."""
    before = np.linalg.inv(prior.covariance)
    spread = np.linalg.inv(before + np.eye(prior.size) / error**2)
    mean = spread @ (centre / error**2 + before @ prior.centre)
    return Expert(np.random.default_rng(seed).multivariate_normal(mean, spread, n), prior)


def group(experts: list[Expert], seed: int = 1):
    return pooled(experts, PRIOR, np.random.default_rng(seed))


CENTRE = np.array([1.5, -0.5, 0.4, -1.0, 0.0, -0.4])
CENTRED = CENTRE - CENTRE.mean()


class TestCentre:
    def test_one_expert_alone_is_given_back(self):
        one = expert(CENTRE, 0.3, 1)
        found = pooled([one], PRIOR, np.random.default_rng(1))
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
        sorted_ = WeightPrior.of("lpm", 3, piles=[[(0, 1), (0, 2), (1, 0)]])
        draws = [
            np.random.default_rng(seed).multivariate_normal(np.zeros(M), sorted_.covariance, 3000) for seed in range(6)
        ]
        found = group([Expert(one, sorted_) for one in draws]).log_weights
        beforehand = np.random.default_rng(9).multivariate_normal(np.zeros(M), COVARIANCE, 3000)
        within = [(logs[:, 0] - logs[:, 1]).std() for logs in (found, beforehand)]
        assert within[0] > 0.8 * within[1], "nobody was asked about these two"

    def test_what_is_expected_of_a_rare_class_counts_once_whether_or_not_it_was_asked_about(self):
        rare = WeightPrior.of("lpm", 3, shares=np.array([0.015, 0.9, 0.085]))
        spread = rare.covariance
        beforehand = [np.random.default_rng(one).multivariate_normal(rare.centre, spread, 3000) for one in range(6)]
        found = pooled([Expert(one, rare) for one in beforehand], rare, np.random.default_rng(1)).log_weights
        np.testing.assert_allclose(found.mean(axis=0), rare.centre - rare.centre.mean(), atol=0.3)
        told = [expert(CENTRE, 0.8, seed, prior=rare) for seed in range(6)]
        for of_group in (rare, PRIOR):
            found = pooled(told, of_group, np.random.default_rng(1)).log_weights
            np.testing.assert_allclose(found.mean(axis=0), CENTRED, atol=0.25)

    @pytest.mark.parametrize("size", [5, 6], ids=["jointly", "one by one"])
    def test_an_order_that_all_stated_is_no_answer_and_is_kept(self, size):
        orders = [NeverWorse((0, 1), (1, 0)), NeverWorse((1, 0), (2, 0))]
        stated = WeightPrior.of("lpm", size, "iid", orders)
        draws = stated.in_order(stated.log_weights(np.random.default_rng(3).standard_normal((3000, stated.size))))
        places = np.unique(stated.order)
        for known in (None, np.isin(np.arange(stated.size), places)):
            experts = [Expert(draws, stated, known)] * 6
            found = pooled(experts, stated, np.random.default_rng(1)).log_weights
            assert stated.allowed(found).all()
            apart, beforehand = ((logs[:, places[-1]] - logs[:, places[0]]) for logs in (found, draws))
            assert apart.std() > 0.75 * beforehand.std(), "six times nothing was told"
            assert apart.mean() == pytest.approx(beforehand.mean(), rel=0.25)

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
        without = leave_one_out(experts, PRIOR, np.random.default_rng(1))
        assert len(without) == 4
        np.testing.assert_allclose(without[3].log_weights.mean(axis=0), CENTRED, atol=0.25)
        assert without[3].tau < without[0].tau

    def test_nobody_and_different_weights_are_refused(self):
        with pytest.raises(ValueError, match="at least one expert"):
            group([])
        with pytest.raises(ValueError, match="the same weights"):
            group([expert(CENTRE, 0.3, 1), Expert(np.zeros((10, 2)), WeightPrior.of("lpm", 2))])


MANY = WeightPrior.of("lpm", 7).with_deviations((0.6, 0.5, 0.9))
ROOT = np.linalg.cholesky(MANY.covariance)


def values(rng: np.random.Generator) -> np.ndarray:
    """Return log-weights from the prior of many weights."""
    return ROOT @ rng.standard_normal(MANY.size)


def asked_about_some(truth: np.ndarray, rng: np.random.Generator, answers: int = 25) -> Expert:
    """Return somebody who named, with errors, as many ratios of pairs among 24 of the weights."""
    pool, ratios = rng.choice(MANY.size, 24, replace=False), np.zeros((answers, MANY.size))
    for row in ratios:
        row[rng.choice(pool, 2, replace=False)] = 1.0, -1.0
    covariance, error = MANY.covariance, 0.5
    gain = covariance @ ratios.T @ np.linalg.inv(ratios @ covariance @ ratios.T + error**2 * np.eye(answers))
    seen = ratios @ truth + error * rng.standard_normal(answers)
    beforehand = ROOT @ rng.standard_normal((MANY.size, 400))
    imagined = ratios @ beforehand + error * rng.standard_normal((answers, 400))
    return Expert((beforehand + gain @ (seen[:, None] - imagined)).T, MANY, np.abs(ratios).any(axis=0))


def sitting(tau: float, seed: int, experts: int = 4) -> tuple[np.ndarray, list[Expert]]:
    """Return the values of a group, and experts around them."""
    rng = np.random.default_rng(seed)
    centre = values(rng)
    return centre, [asked_about_some(centre + tau * rng.standard_normal(MANY.size), rng) for _ in range(experts)]


class TestManyWeights:
    """Draws of few answers about many weights: their covariance says nothing reliable about most directions."""

    @pytest.mark.parametrize("tau", [0.0, 0.5])
    def test_ranges_hold_the_values_of_the_group(self, tau):
        inside, intervals = [], []
        for seed in range(25):
            centre, experts = sitting(tau, seed)
            found = pooled(experts, MANY, np.random.default_rng(seed), 500)
            known = np.flatnonzero(np.any([one.asked for one in experts], axis=0))
            for unit in known[::6]:
                low, high = np.quantile(found.log_weights - found.log_weights[:, [unit]], [0.05, 0.95], axis=0)
                apart = np.delete(centre - centre[unit], unit)
                inside.append(((np.delete(low, unit) <= apart) & (apart <= np.delete(high, unit))).mean())
            intervals.append(found.tau_interval)
        assert 0.84 < np.mean(inside) < 0.97
        assert np.mean([low <= max(tau, 0.05) <= high for low, high in intervals]) > 0.8

    def test_what_nobody_was_asked_about_stays_open(self):
        _, experts = sitting(0.0, 3, experts=2)
        found = pooled(experts, MANY, np.random.default_rng(1), 2000)
        unknown = ~np.any([one.asked for one in experts], axis=0)
        widths, own = found.log_weights.std(axis=0), np.mean([one.log_weights.std(axis=0) for one in experts], axis=0)
        assert unknown.sum() > 3
        assert (widths[unknown] > 0.85 * own[unknown]).all()

    def test_several_experts_are_nearer_than_one(self):
        far = []
        for seed in range(15):
            centre, experts = sitting(0.0, seed)
            groups = [pooled(some, MANY, np.random.default_rng(seed), 500) for some in (experts[:1], experts)]
            far.append([np.square(group.log_weights.mean(axis=0) - centre + centre.mean()).mean() for group in groups])
        assert np.mean(far, axis=0)[1] < 0.8 * np.mean(far, axis=0)[0]

    def test_what_is_expected_of_a_rare_class_counts_once(self):
        rare = WeightPrior.of("lpm", 6, shares=np.array([0.005, 0.4, 0.2, 0.15, 0.145, 0.1]))
        alone = expert(np.zeros(rare.size), 5.0, 1, prior=rare)
        own = alone.log_weights - alone.log_weights.mean(axis=1, keepdims=True)
        found = pooled([alone], rare, np.random.default_rng(1)).log_weights
        np.testing.assert_allclose(found.mean(axis=0)[:5].mean(), own.mean(axis=0)[:5].mean(), atol=0.2)
        assert own.mean(axis=0)[:5].mean() > 0.5, "little was told, and more was expected"

    def test_a_weight_counts_by_those_who_were_asked_about_it(self):
        _, (one, other) = sitting(0.0, 5, experts=2)
        nobody = other._replace(asked=np.zeros(MANY.size, dtype=bool))
        found = pooled([one, nobody], MANY, np.random.default_rng(1), 500)
        assert found.shares[0] > 0.999


class TestOpposition:
    def test_the_same_values_are_not_called_opposed_and_reversed_ones_are(self):
        same, opposed = [], []
        for seed in range(30):
            rng = np.random.default_rng(seed)
            centre = values(rng)
            one = asked_about_some(centre, rng, 40)
            same.append(log_odds_of_opposition(one, asked_about_some(centre, rng, 40)))
            opposed.append(log_odds_of_opposition(one, asked_about_some(-centre, rng, 40)))
        assert np.mean(np.array(same) > np.log(20)) <= 0.04
        assert np.mean(np.array(opposed) > np.log(20)) > 0.6

    def test_it_does_not_matter_who_is_first_and_who_was_asked_nothing_tells_nothing(self):
        _, (one, other) = sitting(1.0, 7, experts=2)
        assert log_odds_of_opposition(one, other) == pytest.approx(log_odds_of_opposition(other, one))
        silent = other._replace(asked=np.zeros(MANY.size, dtype=bool))
        assert log_odds_of_opposition(one, silent) == 0.0
