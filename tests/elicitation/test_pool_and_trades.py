"""What could really be had, and the trades made of it: feasible, in whole cases, in few cells."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from elicit_app.elicitation import Bayes, LinearOracle, run
from elicit_app.elicitation.cases import Cases
from elicit_app.elicitation.pool import Pool, imagined, mixtures
from elicit_app.elicitation.prior import WeightPrior
from metrics.measures.confusion import natural_frequencies

SEEDS = st.integers(0, 2**20)
POPULATION = 1000


def models(k: int, seed: int, n: int = 80, count: int = 2) -> list[Cases]:
    """Return models that judge the same cases differently well."""
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.full(k, 0.6), n)
    truth = np.concatenate([np.arange(k), [rng.choice(k, p=row) for row in proba[k:]]])
    blurred = [(proba ** (1 / (1 + m))) / (proba ** (1 / (1 + m))).sum(axis=1, keepdims=True) for m in range(count)]
    return [Cases.counted(truth, one) for one in blurred]


def pool_of(k: int, seed: int, population: int | None = POPULATION, **options) -> Pool:
    return Pool.of(models(k, seed, **options), population, np.random.default_rng([seed, 1]))


def distance(target: np.ndarray, corners: np.ndarray) -> float:
    """Return the largest deviation in a cell from the nearest mixture of the corners (n, cells)."""
    n, m = corners.shape
    off = np.ones((m, 1))
    solved = linprog(
        np.append(np.zeros(n), 1.0),
        np.block([[corners.T, -off], [-corners.T, -off]]),
        np.concatenate([target, -target]),
        np.append(np.ones(n), 0.0)[None],
        [1.0],
        method="highs",
    )
    assert solved.status == 0
    return float(solved.fun)


def weighed(prior: WeightPrior, matrices: np.ndarray) -> np.ndarray:
    return prior.gain(matrices, np.zeros_like(matrices))


class TestPool:
    @settings(deadline=None, max_examples=10)
    @given(st.integers(2, 5), SEEDS, st.sampled_from([100, 1000, 12345]))
    def test_every_matrix_is_of_whole_cases_and_the_same_prevalence(self, k, seed, population):
        cases = models(k, seed)
        pool = pool_of(k, seed, population)
        counts = pool.matrices * population
        np.testing.assert_allclose(counts, np.round(counts), atol=1e-9)
        assert pool.matrices.min() >= 0
        rows = np.round(counts).sum(axis=2)
        assert (rows == rows[0]).all()
        assert np.abs(rows[0] - population * cases[0].prevalence).max() < 1
        assert len(np.unique(np.round(counts), axis=0)) == len(counts)  # none twice
        np.testing.assert_allclose(pool.corners.sum(axis=2), np.tile(cases[0].prevalence, (len(pool.corners), 1)))

    @settings(deadline=None, max_examples=5)
    @given(st.integers(2, 4), SEEDS)
    def test_constant_and_usual_decisions_are_in_it(self, k, seed):
        cases, pool = models(k, seed), pool_of(k, seed)
        known = [cases[0].confusion(np.full(len(cases[0].weight), j)) for j in range(k)]
        known += [model.confusion(model.eta.argmax(axis=1)) for model in cases]
        for matrix in known:
            shown = natural_frequencies(matrix, POPULATION) / POPULATION
            assert np.isclose(pool.matrices, shown, atol=1e-12).all(axis=(1, 2)).any()
            assert np.isclose(pool.corners, matrix, atol=1e-12).all(axis=(1, 2)).any()

    def test_without_a_population_rates_are_exact(self):
        cases = models(3, 4)
        pool = pool_of(3, 4, None)
        assert pool.population is None
        np.testing.assert_allclose(pool.matrices.sum(axis=2), np.tile(cases[0].prevalence, (len(pool.matrices), 1)))
        for matrix in pool.matrices:
            assert np.isclose(pool.corners, matrix, atol=1e-12).all(axis=(1, 2)).any()

    def test_no_decision_of_a_pool_is_beaten_by_another_model_that_could_be_run(self):
        # One model: decisions of least expected cost by a distribution's own probabilities are the best there is.
        rng = np.random.default_rng(8)
        exact = Cases.exact(rng.dirichlet(np.ones(3), 40))
        pool = Pool.of([exact], None, rng)
        for _ in range(20):
            costs = np.exp(rng.standard_normal((3, 3))) * (1 - np.eye(3))
            least = (costs * exact.least_cost(costs)).sum()
            assert (costs * pool.matrices).sum(axis=(1, 2)).min() >= least - 1e-12
            assert (costs * pool.corners).sum(axis=(1, 2)).min() >= least - 1e-12

    def test_pairs_are_told_apart_where_a_model_is_known_by_its_labels_alone(self):
        # It decides alike under all costs: how people answer was then scaled by no pair, and nothing was a number.
        rng = np.random.default_rng(1)
        case = Cases.counted(rng.integers(3, size=60), np.eye(3)[rng.integers(3, size=60)])
        with np.errstate(all="raise"):
            bayes = Bayes([case], family="lpm", seed=1, population=POPULATION, questions=6)
            outcome, _ = run(bayes, LinearOracle(-np.arange(9.0).reshape(3, 3) * (1 - np.eye(3))))
        assert np.isfinite(outcome.intervals[~np.eye(3, dtype=bool)]).any(axis=1).all()
        assert len(bayes.random_gains(50, rng)) > 10

    def test_a_class_that_never_occurs_has_an_empty_row(self):
        rng = np.random.default_rng(1)
        case = Cases.counted(rng.integers(2, size=60), rng.dirichlet(np.ones(3), 60))
        pool = Pool.of([case], POPULATION, rng)
        assert not pool.matrices[:, 2].any()
        assert pool.matrices[:, :2].any()

    def test_the_same_chance_gives_the_same_pool(self):
        one, same = pool_of(3, 2), pool_of(3, 2)
        np.testing.assert_array_equal(one.matrices, same.matrices)
        np.testing.assert_array_equal(one.corners, same.corners)


class TestMixtures:
    @settings(deadline=None, max_examples=12)
    @given(st.sampled_from(["dlpm", "lpm"]), st.integers(3, 4), SEEDS, st.integers(2, 5))
    def test_ends_differ_in_few_cells_and_are_whole_cases_of_the_same_truths(self, family, k, seed, most):
        prior, pool = WeightPrior.of(family, k), pool_of(k, seed % 5)
        first, second = mixtures(pool, prior, most, 10, np.random.default_rng(seed))
        assert first.shape == second.shape == (len(first), k, k)
        assert len(first)
        counts = np.stack([first, second]) * POPULATION
        np.testing.assert_allclose(counts, np.round(counts), atol=1e-6)
        assert counts.min() >= -1e-6
        assert (np.round(counts).sum(axis=3) == np.round(pool.matrices[0] * POPULATION).sum(axis=1)).all()
        gains = prior.gain(first, second)
        assert (np.abs(gains) > 1e-12).sum(axis=1).max() <= most
        # Where they do not differ they are equal, not nearly so; in dlpm whole rows are.
        differ = np.abs(first - second) > 0
        if family == "dlpm":
            assert differ.any(axis=2).sum(axis=1).max() <= most
        else:
            assert differ[:, ~np.eye(k, dtype=bool)].sum(axis=1).max() <= most

    @pytest.mark.parametrize("family", ["dlpm", "lpm"])
    @pytest.mark.parametrize("population", [POPULATION, None])
    def test_both_ends_are_mixtures_of_what_could_be_run(self, family, population):
        prior, pool = WeightPrior.of(family, 3), pool_of(3, 1, population)
        corners = weighed(prior, pool.corners)
        # Rounding a matrix moves an error by less than two cases, a hit by what all errors of its row move.
        slack = 1e-7 if population is None else (2 if family == "lpm" else 6) / population
        ends = np.concatenate(mixtures(pool, prior, 3, 8, np.random.default_rng(2)))
        assert len(ends) > 8
        for target in weighed(prior, ends):
            assert distance(target, corners) <= slack

    def test_what_is_no_mixture_is_found_out(self):
        # The law above can fail: a matrix without any mistake is not within reach of these models.
        pool, prior = pool_of(3, 1), WeightPrior.of("lpm", 3)
        assert distance(np.zeros(6), weighed(prior, pool.corners)) > 0.01

    def test_trades_in_two_cells_are_wide_enough_to_be_judged(self):
        prior, pool = WeightPrior.of("lpm", 3), pool_of(3, 1)
        gains = prior.gain(*mixtures(pool, prior, 2, 30, np.random.default_rng(3)))
        assert np.median(np.abs(gains).max(axis=1)) > 0.05


class TestImagined:
    @settings(deadline=None, max_examples=12)
    @given(st.integers(3, 7), SEEDS, st.integers(2, 6), st.sampled_from([POPULATION, None]))
    def test_some_mistakes_and_no_others_on_each_side(self, k, seed, most, population):
        prior, pool = WeightPrior.of("lpm", k), pool_of(k, seed % 3, population, n=150)
        first, second = imagined(pool, prior, most, 20, np.random.default_rng(seed))
        assert len(first) == 20
        errors = ~np.eye(k, dtype=bool)
        for a, b in zip(first, second, strict=True):
            for end in (a, b):
                np.testing.assert_allclose(end.sum(axis=1), pool.matrices[0].sum(axis=1), atol=1e-12)
                assert end.min() >= -1e-12
                if population is not None:
                    np.testing.assert_allclose(end * population, np.round(end * population), atol=1e-6)
            assert (np.abs(a - b)[errors] > 1e-12).sum() <= most
            # No mistake is made on both sides.
            assert not (a[errors] > 1e-12)[b[errors] > 1e-12].any()

    def test_mistakes_are_as_large_as_a_class(self):
        pool = pool_of(4, 1)
        first, _ = imagined(pool, WeightPrior.of("lpm", 4), 4, 50, np.random.default_rng(1))
        shares = (first * ~np.eye(4, dtype=bool)).max(axis=2) / first.sum(axis=2)
        assert np.median(shares.max(axis=1)) > 0.5

    def test_mistakes_that_nobody_makes_are_not_imagined(self):
        small = pool_of(2, 1).matrices
        matrices = np.zeros((len(small), 4, 4))
        matrices[:, :2, :2] = small
        pool = Pool(matrices, matrices, matrices, POPULATION)
        ends = np.stack(imagined(pool, WeightPrior.of("lpm", 4), 4, 20, np.random.default_rng(1)))
        assert not ends[..., 2:, :].any()
        assert not ends[..., 2:].any()
