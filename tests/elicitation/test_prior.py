"""The prior of the weights: what a gain means, how classes share strength, which orders can hold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm, t

from elicit_app.elicitation.prior import (
    COLUMN_SPREAD,
    OWN_SPREAD,
    PILE_SPREAD,
    ROW_SPREAD,
    SPREAD,
    NeverWorse,
    WeightPrior,
    heavy_tailed,
    normal_scores,
)
from elicit_app.problem import Problem
from metrics.elicited.family import RARE, family_of

FAMILIES = st.sampled_from(["dlpm", "lpm"])
SEEDS = st.integers(0, 2**20)


def rates(k: int, rng: np.random.Generator, n: int = 2) -> np.ndarray:
    """Return matrices (n, k, k) of the same prevalence, none of them symmetric."""
    prevalence = rng.dirichlet(np.ones(k))
    return prevalence[:, None] * rng.dirichlet(np.ones(k), size=(n, k))


def mistakes(k: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(k) for j in range(k) if i != j]


class TestGain:
    @settings(deadline=None, max_examples=40)
    @given(FAMILIES, st.integers(2, 6), SEEDS)
    def test_it_is_the_utility_that_metric_files_have(self, family, k, seed):
        rng = np.random.default_rng(seed)
        prior = WeightPrior.of(family, k)
        weights = np.exp(rng.standard_normal(prior.size))
        a, b = rates(k, rng)
        elicited = family_of(family).weight_matrix(prior.normalised(weights))
        utility = float((elicited * a).sum() - (elicited * b).sum())
        scale = weights.sum() if family == "dlpm" else np.linalg.norm(weights)
        assert weights @ prior.gain(a, b) / scale == pytest.approx(utility, abs=1e-12)

    @settings(deadline=None, max_examples=40)
    @given(FAMILIES, st.integers(2, 6), SEEDS)
    def test_it_is_the_cost_that_is_saved(self, family, k, seed):
        rng = np.random.default_rng(seed)
        prior = WeightPrior.of(family, k)
        weights = np.exp(rng.standard_normal(prior.size))
        a, b = rates(k, rng)
        cost = family_of(family).costs(prior.normalised(weights))
        saved = float((cost * b).sum() - (cost * a).sum()) * weights.max()
        assert weights @ prior.gain(a, b) == pytest.approx(saved, abs=1e-12)

    def test_rows_are_true_classes(self):
        prior = WeightPrior.of("lpm", 3)
        a = np.array([[0.2, 0.1, 0.0], [0.0, 0.3, 0.0], [0.0, 0.0, 0.4]])
        b = np.array([[0.3, 0.0, 0.0], [0.0, 0.3, 0.0], [0.05, 0.0, 0.35]])
        # A has more of "0 taken for 1" (the first error, row-major), B of "2 taken for 0" (the fifth).
        np.testing.assert_allclose(prior.gain(a, b), [-0.1, 0, 0, 0, 0.05, 0], atol=1e-15)
        assert not np.allclose(prior.gain(a, b), prior.gain(a.T, b.T))
        np.testing.assert_allclose(WeightPrior.of("dlpm", 3).gain(a, b), [-0.1, 0, 0.05], atol=1e-15)

    @settings(deadline=None, max_examples=40)
    @given(FAMILIES, st.integers(2, 5), SEEDS)
    def test_sides_change_the_sign_and_stacks_are_taken_one_by_one(self, family, k, seed):
        rng = np.random.default_rng(seed)
        prior = WeightPrior.of(family, k)
        a, b = rates(k, rng, 10).reshape(2, 5, k, k)
        together = prior.gain(a, b)
        assert together.shape == (5, prior.size)
        np.testing.assert_array_equal(together, -prior.gain(b, a))
        np.testing.assert_array_equal(together, [prior.gain(x, y) for x, y in zip(a, b, strict=True)])
        assert not prior.gain(a[0], a[0]).any()


class TestNormalisation:
    @settings(deadline=None, max_examples=40)
    @given(FAMILIES, st.integers(2, 6), SEEDS, st.floats(1e-6, 1e6))
    def test_it_is_that_of_the_family_and_forgets_the_scale(self, family, k, seed, scale):
        prior = WeightPrior.of(family, k)
        weights = np.exp(3 * np.random.default_rng(seed).standard_normal((4, prior.size)))
        normalised = prior.normalised(weights)
        for one, given_weights in zip(normalised, weights, strict=True):
            np.testing.assert_allclose(one, family_of(family).normalise(one), rtol=1e-12)
            np.testing.assert_allclose(one / one[0], given_weights / given_weights[0], rtol=1e-9)
        assert (normalised > 0).all() if family == "dlpm" else (normalised < 0).all()
        np.testing.assert_allclose(prior.normalised(scale * weights), normalised, rtol=1e-9)


class TestStructure:
    @pytest.mark.parametrize("k", [3, 7])
    def test_errors_of_one_truth_or_one_answer_share_strength(self, k):
        prior = WeightPrior.of("lpm", k, "structured")
        covariance = prior.factor @ prior.factor.T
        for n, (i, j) in enumerate(mistakes(k)):
            for m, (true, predicted) in enumerate(mistakes(k)):
                shared = ROW_SPREAD**2 * (i == true) + COLUMN_SPREAD**2 * (j == predicted) + OWN_SPREAD**2 * (n == m)
                assert covariance[n, m] == pytest.approx(shared, abs=1e-12)

    @pytest.mark.parametrize(("family", "k", "alone"), [("lpm", 5, True), ("lpm", 6, False), ("dlpm", 10, True)])
    def test_by_default_only_many_errors_do(self, family, k, alone):
        factor = WeightPrior.of(family, k).factor
        assert np.array_equal(factor, SPREAD * np.eye(len(factor))) == alone
        if not alone:
            np.testing.assert_array_equal(factor, WeightPrior.of(family, k, "structured").factor)

    @settings(deadline=None, max_examples=40)
    @given(st.sampled_from(["iid", "structured"]), SEEDS)
    def test_coordinates_and_log_weights_are_inverse_to_each_other(self, structure, seed):
        prior = WeightPrior.of("lpm", 3, structure)
        x = np.random.default_rng(seed).standard_normal((5, prior.size))
        logs = prior.log_weights(x)
        np.testing.assert_allclose(logs, [prior.factor @ heavy_tailed(row) for row in x], atol=1e-12)
        np.testing.assert_allclose(prior.coordinates(logs), x, atol=1e-9)

    def test_nine_cost_ratios_in_ten_lie_between_1_to_20_and_20_to_1_and_two_in_a_hundred_beyond_200(self):
        prior = WeightPrior.of("lpm", 3)
        logs = prior.log_weights(np.random.default_rng(1).standard_normal((200_000, 6)))
        apart = np.abs(logs[:, 0] - logs[:, 4])
        assert (apart <= np.log(20)).mean() == pytest.approx(0.9, abs=0.02)
        assert (apart > np.log(200)).mean() == pytest.approx(0.02, abs=0.005)

    def test_scores_are_those_of_a_student_t_with_four_degrees(self):
        for p in (0.001, 0.05, 0.3, 0.5, 0.9, 0.999):
            exact = t.ppf(p, 4)
            assert heavy_tailed(np.array(norm.ppf(p))) == pytest.approx(exact, rel=0.03, abs=1e-9)

    @settings(deadline=None, max_examples=40)
    @given(st.floats(-5, 5))
    def test_scores_can_be_taken_back(self, z):
        assert normal_scores(heavy_tailed(np.array(z))) == pytest.approx(z, abs=1e-9)


class TestPiles:
    PILES = (((0, 1), (2, 0)), ((1, 2),))

    def test_mistakes_of_one_pile_share_strength_and_those_in_no_pile_are_one(self):
        covariance = WeightPrior.of("lpm", 3, piles=self.PILES).covariance
        piles = [0, 2, 2, 1, 0, 2]  # of (0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)
        same = np.equal.outer(piles, piles) & ~np.eye(6, dtype=bool)
        off = ~np.eye(6, dtype=bool)
        assert (covariance[same] == 2 * PILE_SPREAD**2).all()
        np.testing.assert_array_equal(covariance[off & ~same], 0)

    def test_a_mistake_in_two_piles_is_refused_in_words(self):
        with pytest.raises(Problem, match="two piles"):
            WeightPrior.of("lpm", 3, piles=[[(0, 1)], [(0, 1), (1, 2)]])


class TestOrders:
    @settings(deadline=None, max_examples=40)
    @given(st.integers(2, 5), SEEDS)
    def test_an_order_is_kept_where_the_first_weighs_no_more(self, k, seed):
        rng = np.random.default_rng(seed)
        cells = mistakes(k)
        first, second = rng.choice(len(cells), 2, replace=False)
        prior = WeightPrior.of("lpm", k, constraints=[NeverWorse(cells[first], cells[second])])
        logs = rng.integers(-2, 3, (50, prior.size)).astype(float)
        np.testing.assert_array_equal(prior.allowed(logs), logs[:, first] <= logs[:, second])

    def test_without_orders_everything_is_allowed(self):
        prior = WeightPrior.of("lpm", 3)
        assert prior.allowed(np.random.default_rng(0).standard_normal((20, 6))).all()

    def test_in_dlpm_only_the_truth_counts(self):
        prior = WeightPrior.of("dlpm", 3, constraints=[NeverWorse((2, 0), (1, 2))])
        assert prior.order.tolist() == [[2, 1]]

    @settings(deadline=None, max_examples=40)
    @given(st.integers(3, 5), SEEDS, st.integers(1, 12))
    def test_orders_of_a_ranking_never_contradict_each_other_until_one_is_turned(self, k, seed, n):
        rng = np.random.default_rng(seed)
        ranking = [mistakes(k)[place] for place in rng.permutation(k * k - k)]
        places = [sorted(rng.choice(len(ranking), 2, replace=False)) for _ in range(n)]
        orders = [NeverWorse(ranking[low], ranking[high]) for low, high in places]
        prior = WeightPrior.of("lpm", k, constraints=orders)
        ranked = np.empty(prior.size)
        ranked[[mistakes(k).index(cell) for cell in ranking]] = np.arange(prior.size)
        assert prior.allowed(ranked[None]).all()
        low, high = places[0]
        with pytest.raises(Problem, match="contradict"):
            WeightPrior.of("lpm", k, constraints=[*orders, NeverWorse(ranking[high], ranking[low])])

    @settings(deadline=None, max_examples=40)
    @given(st.integers(3, 4), SEEDS, st.integers(3, 6))
    def test_a_circle_of_any_length_is_refused_in_words(self, k, seed, length):
        rng = np.random.default_rng(seed)
        round_trip = [mistakes(k)[place] for place in rng.choice(k * k - k, length, replace=False)]
        orders = [
            NeverWorse(one, other) for one, other in zip(round_trip, [*round_trip[1:], round_trip[0]], strict=True)
        ]
        WeightPrior.of("lpm", k, constraints=orders[:-1])
        with pytest.raises(Problem, match="contradict each other; remove one of them"):
            WeightPrior.of("lpm", k, constraints=orders)

    @pytest.mark.parametrize("mistake", [(0, 0), (0, 3), (3, 0), (-1, 0)])
    def test_what_is_no_mistake_is_refused_in_words(self, mistake):
        with pytest.raises(Problem, match="a true and another predicted class, both from 0 to 2"):
            WeightPrior.of("lpm", 3, constraints=[NeverWorse(mistake, (0, 1))])

    def test_in_dlpm_two_mistakes_of_one_truth_are_in_order_anyway(self):
        prior = WeightPrior.of("dlpm", 3, constraints=[NeverWorse((0, 1), (0, 2))])
        assert prior.allowed(np.zeros((1, 3))).all()


class TestSizes:
    @settings(deadline=None, max_examples=40)
    @given(FAMILIES, st.integers(2, 7))
    def test_one_weight_for_each_hit_or_each_error(self, family, k):
        assert WeightPrior.of(family, k).size == (k if family == "dlpm" else k * k - k)

    def test_two_classes_with_an_order(self):
        prior = WeightPrior.of("lpm", 2, constraints=[NeverWorse((0, 1), (1, 0))])
        a, b = np.array([[0.4, 0.1], [0.2, 0.3]]), np.array([[0.5, 0.0], [0.3, 0.2]])
        np.testing.assert_allclose(prior.gain(a, b), [-0.1, 0.1])
        np.testing.assert_array_equal(prior.allowed(np.array([[0.0, 1.0], [1.0, 0.0]])), [True, False])

    def test_other_families_are_refused_in_words(self):
        with pytest.raises(Problem, match="dlpm and lpm, not 'lfpm'"):
            WeightPrior.of("lfpm", 3)


class TestARareClass:
    SHARES = np.array([0.015, 0.9, 0.085])

    @pytest.mark.parametrize("family", ["dlpm", "lpm"])
    def test_its_mistakes_are_expected_to_cost_more_but_by_a_power_that_is_not_known(self, family):
        prior = WeightPrior.of(family, 3, shares=self.SHARES)
        logs = prior.log_weights(np.random.default_rng(1).standard_normal((20_000, prior.size)))
        usual = WeightPrior.of(family, 3).log_weights(np.random.default_rng(1).standard_normal((20_000, prior.size)))
        of_rare = np.array([key.true == 0 for key in family_of(family).mistakes(3)])
        middle = np.median(logs, axis=0)
        beyond = np.log(0.9 / 0.015 / RARE)
        np.testing.assert_allclose(middle[of_rare] - middle[~of_rare][0], 0.75 * beyond, atol=0.1)
        assert (logs.std(axis=0)[of_rare] > 1.5 * usual.std(axis=0)[of_rare]).all()
        less, usual_less = ((each[:, of_rare] < each[:, ~of_rare][:, :1]).mean() for each in (logs, usual))
        assert 0.1 < less < 0.3 < usual_less, "they may cost less all the same"
        if family == "lpm":
            together = np.corrcoef(logs[:, of_rare].T)[0, 1]
            assert together > 0.5, "what one of them tells of the power holds for the other"

    @settings(deadline=None, max_examples=40)
    @given(FAMILIES, st.integers(2, 5), SEEDS)
    def test_coordinates_are_the_inverse(self, family, k, seed):
        rng = np.random.default_rng(seed)
        prior = WeightPrior.of(family, k, shares=rng.dirichlet(np.full(k, 0.2)))
        x = rng.standard_normal((20, prior.size))
        np.testing.assert_allclose(prior.coordinates(prior.log_weights(x)), x, atol=1e-8)

    @pytest.mark.parametrize("shares", [[0.2, 0.45, 0.35], [0.0, 0.6, 0.4]], ids=["none is rare", "one has no cases"])
    def test_nothing_else_changes_the_prior(self, shares):
        prior, usual = WeightPrior.of("lpm", 3, shares=np.array(shares)), WeightPrior.of("lpm", 3)
        x = np.random.default_rng(2).standard_normal((50, prior.size))
        np.testing.assert_array_equal(prior.log_weights(x), usual.log_weights(x))

    def test_the_spread_of_the_power_is_not_learned(self):
        prior = WeightPrior.of("lpm", 6, shares=np.array([0.01, 0.5, 0.2, 0.1, 0.1, 0.09]))
        usual = WeightPrior.of("lpm", 6)
        scores = np.random.default_rng(3).standard_normal((8, prior.n_learned + 4))
        spreads = prior.spreads_at(scores)
        assert spreads.shape == (8, len(prior.parts)) == (8, prior.n_learned + 1)
        assert (spreads[:, 0] == prior.parts[0].spread).all()
        np.testing.assert_array_equal(spreads[:, 1:], usual.spreads_at(scores))

    @settings(deadline=None, max_examples=30)
    @given(FAMILIES, st.integers(2, 8), SEEDS)
    def test_variances_are_those_of_draws_minus_their_mean(self, family, k, seed):
        prior = WeightPrior.of(family, k, shares=np.random.default_rng(seed).dirichlet(np.full(k, 0.2)))
        without_mean = np.eye(prior.size) - 1 / prior.size
        exact = (without_mean @ prior.covariance @ without_mean).diagonal()
        np.testing.assert_allclose(prior.centred_variances, exact, rtol=1e-9)
