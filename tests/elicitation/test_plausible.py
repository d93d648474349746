"""Plausible questions: near what the models do, whole cases, few mistakes that differ, and the same again by seed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elicit_app.elicitation.agenda import better_side
from elicit_app.elicitation.cases import Cases
from elicit_app.elicitation.plausible import PlausiblePairs, pairs_of_study
from elicit_app.elicitation.prior import WeightPrior
from elicit_app.elicitation.reach import widest_rates
from elicit_app.elicitation.region import Region
from elicit_app.problem import Problem

POPULATION = 1000
SEEDS = st.integers(0, 2**20)


def counted(k: int, skill: float, n: int = 300, rare: bool = False) -> Cases:
    """Return a model that is right more often, the greater its skill; below 0 it is mostly wrong."""
    rng = np.random.default_rng([k, 3])
    shares = np.append(np.full(k - 1, 0.94 / (k - 1)), 0.06) if rare else np.full(k, 1 / k)
    truth = np.concatenate([np.arange(k), rng.choice(k, n, p=shares)])
    scores = rng.standard_normal((len(truth), k)) + skill * np.eye(k)[truth]
    return Cases.counted(truth, np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True))


CASES = [(2, 1.5, "lpm"), (3, 1.0, "lpm"), (3, -1.0, "lpm"), (4, 1.0, "dlpm"), (6, 2.0, "lpm"), (10, 0.5, "lpm")]


@pytest.fixture(scope="module", params=[(*one, worst) for one in CASES for worst in (0.5, 0.3)], ids=str)
def source(request) -> PlausiblePairs:
    return plausible(*request.param)


def plausible(k: int, skill: float, family: str, worst: float, *, large: bool = False) -> PlausiblePairs:
    cases = [counted(k, skill), counted(k, skill / 2)]
    return pairs_of_study(cases, POPULATION, WeightPrior.of(family, k), 3, worst, large=large)


def drawn(source: PlausiblePairs, seed: int = 0):
    pairs = source.candidates(np.ones((5, source.prior.size)), np.random.default_rng(seed))
    first, second = (np.rint(side * POPULATION).astype(int) for side in (pairs.first, pairs.second))
    return pairs, first, second


@pytest.mark.parametrize("seed", range(3))
def test_every_question_is_plausible_in_whole_cases_and_fair(source, seed):
    pairs, first, second = drawn(source, seed)
    k, off = source.prior.n_classes, ~np.eye(source.prior.n_classes, dtype=bool)
    assert len(pairs) > 100
    for side, rates in ((first, pairs.first), (second, pairs.second)):
        np.testing.assert_allclose(side, rates * POPULATION, atol=1e-6)
        assert side.min() >= 0
        assert source.region.contains(side).all()
    np.testing.assert_array_equal(first.sum(axis=2), second.sum(axis=2))
    np.testing.assert_array_equal(first.sum(axis=2), np.repeat(first[:1].sum(axis=2), len(first), axis=0))
    assert (pairs.cells <= 3).all()
    assert (pairs.cells >= 2).all()
    if source.prior.family == "lpm":
        np.testing.assert_array_equal(pairs.cells, ((first != second) & off).sum(axis=(1, 2)))
    assert all(better_side(a, b) is None for a, b in zip(pairs.first[:300], pairs.second[:300], strict=True))
    if k > 5:
        assert (pairs.cells == 2).all() or not pairs.hypothetical[pairs.cells == 3].any()


def test_every_class_is_wrong_less_often_than_the_worst_error(source):
    _, first, second = drawn(source)
    sizes = first[0].sum(axis=1)
    for side in (first, second):
        wrong = sizes - side.diagonal(axis1=1, axis2=2)
        assert (wrong <= source.region.most).all()
    assert (np.rint(100 * source.region.most / sizes) < 50).all(), "half of a class is never to be read"


def test_amounts_are_of_every_size_and_the_larger_one_is_clear(source):
    pairs, first, second = drawn(source)
    made = pairs.hypothetical
    off = ~np.eye(source.prior.n_classes, dtype=bool)
    largest = np.abs(first - second)[made][:, off].max(axis=1)
    assert largest.min() >= min(10, source.region.most.max() // 2)
    assert np.quantile(largest, 0.9) > 1.5 * np.quantile(largest, 0.1)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("large", [False, True])
def test_half_of_the_trades_of_few_classes_are_as_large_as_there_is_room_for_if_they_are_to_be_large(case, large):
    source = plausible(*case, 0.5, large=large)
    pairs, first, second = drawn(source)
    off = ~np.eye(source.prior.n_classes, dtype=bool)
    two = pairs.hypothetical & (pairs.cells == 2)
    sides = np.stack([first[two], second[two]])
    apart = (first[two] != second[two]) & off
    kinds = (sides * apart).max(axis=(0, 3))
    wrong = (sides * off).sum(axis=3).max(axis=0)
    full = (wrong >= source.region.most - 1) | (kinds >= source.region.near - 1) & (kinds <= source.region.near)
    least, most = (0.4, 0.75) if large and source.prior.n_classes <= 5 else (0.0, 0.35)
    assert least < full.any(axis=1).mean() < most


@pytest.mark.parametrize(("large", "share"), [(False, 0.25), (True, 0.4)])
def test_one_mistake_near_the_models_makes_up_a_quarter_of_its_class_and_more_in_large_trades(large, share):
    region = Region.around(np.array([[[80, 20], [30, 70]], [[90, 10], [10, 90]]]), 0.5, large=large)
    assert region.near.tolist() == [100 * share, 100 * share]


def test_results_near_the_models_have_no_more_of_a_mistake_than_that_or_than_a_model(source):
    near = source.region.are_near(source.region.bases)
    assert near.all()
    model = source.region.bases[0].copy()
    most = max(source.region.near[1], source.region.bases[:, 1, 0].max())
    for count, inside in ((most, True), (most + 1, False)):
        side = model.copy()
        side[1, 0] = count
        assert bool(source.region.are_near(side[None])[0]) == inside


def test_pairs_that_models_achieve_are_near_the_models_unless_trades_are_large():
    for large in (False, True):
        source = plausible(2, 1.5, "lpm", 0.5, large=large)
        pairs, first, second = drawn(source)
        achieved = ~pairs.hypothetical
        assert achieved.any()
        near = source.region.are_near(first[achieved]) & source.region.are_near(second[achieved])
        assert near.all() == (not large)


def test_far_pairs_are_those_beyond_what_is_near(source):
    pairs, first, second = drawn(source)
    apart = np.maximum(first, second) * (first != second) * ~np.eye(source.prior.n_classes, dtype=bool)
    beyond = (apart > source.region.near[:, None]).any(axis=(1, 2))
    np.testing.assert_array_equal(pairs.far[pairs.hypothetical], beyond[pairs.hypothetical])


def test_the_same_seed_draws_the_same_pairs_and_another_one_others(source):
    for one, other, same in ((4, 4, True), (4, 5, False)):
        (_, first, _), (_, again, _) = drawn(source, one), drawn(source, other)
        assert (first.shape == again.shape and bool((first == again).all())) == same


def test_models_that_are_mostly_wrong_are_replaced_by_better_ones():
    models = np.array([[[2, 40, 8], [3, 44, 3], [5, 5, 40]]])
    region = Region.around(models, 0.5)
    np.testing.assert_array_equal(region.bases[0, 1:], models[0, 1:])
    assert region.bases[0, 0].sum() == 50
    assert 50 - region.bases[0, 0, 0] <= 0.15 * 50
    with pytest.raises(Problem, match="at most 1"):
        Region.around(models, 1.5)


def test_the_first_questions_show_at_most_a_quarter_of_a_class_wrong():
    region = Region.around(np.array([[[80, 10, 10], [5, 90, 5], [10, 14, 76]]]), 0.5)
    quarter, more = (np.array([[[80, 10, 10], [n, 100 - n, 0], [10, 14, 76]]]) / 300 for n in (25, 26))
    assert region.are_usual(np.concatenate([quarter, more])).tolist() == [True, False]
    assert Region.around(np.array([[[80, 20], [30, 70]]]), 1.0).are_usual(np.array([[[0.0, 0.5], [0.5, 0.0]]])).all()


@settings(deadline=None, max_examples=60)
@given(SEEDS)
def test_a_limit_is_the_most_that_a_plausible_result_allows(seed):
    rng = np.random.default_rng(seed)
    region = Region.around(np.array([[[80, 10, 10], [5, 90, 5], [20, 10, 70]]]), 0.5)
    side = region.bases[0].copy()
    true, predicted = (int(one) for one in rng.permutation(3)[:2])
    limit = int(region.limits(side[None], np.array([true]), np.array([predicted]))[0])
    assert limit >= side[true, predicted]
    for count, inside in ((limit, True), (limit + 1, False)):
        moved = side.copy()
        moved[true, true] += moved[true, predicted] - count
        moved[true, predicted] = count
        assert not inside or region.contains(moved)
        assert inside or not region.contains(moved)


@settings(deadline=None, max_examples=60)
@given(SEEDS, st.floats(0.3, 0.9))
def test_a_common_base_changes_nothing_for_a_linear_person_and_much_for_a_concave_one(seed, power):
    source = pairs_of_study([counted(3, 1.0)], POPULATION, WeightPrior.of("lpm", 3), 2, 0.5)
    rng = np.random.default_rng(seed)
    pairs, first, second = drawn(source, seed)
    n = int(rng.choice(np.flatnonzero(pairs.hypothetical)))
    bases = source.region.common_bases(first[n], second[n])
    assert source.region.contains(np.array(bases)).all() if bases else True
    if not bases:
        return
    based = bases[int(rng.integers(len(bases)))]
    off = ~np.eye(3, dtype=bool)
    before, after = (first[n] - second[n])[off], (based[0] - based[1])[off]
    # The same two mistakes on the same sides, in about the same ratio.
    np.testing.assert_array_equal(np.sign(before), np.sign(after))
    (one, other), (a, b) = np.abs(before[before != 0]), np.abs(after[after != 0])
    assert abs(np.log((a / b) / (one / other))) < 0.35
    shared = np.minimum(*based)[off][after != 0]
    assert (shared > 0).sum() == 1
    base, amount = float(shared.max()), float(np.abs(after[after != 0][np.argmax(shared)]))
    assert base >= amount
    assert (base + amount) ** power - base**power < 0.9 * amount**power


def test_fifty_classes_have_questions():
    k, n = 50, 3000
    rng = np.random.default_rng(1)
    truth = np.arange(n) % k
    scores = rng.standard_normal((n, k)) + 3 * np.eye(k)[truth]
    cases = Cases.counted(truth, np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True))
    source = pairs_of_study([cases], 3000, WeightPrior.of("lpm", k), 3)
    pairs = source.candidates(np.ones((5, source.prior.size)), rng)
    assert len(pairs) > 100
    assert (pairs.cells == 2).all()


def test_what_cannot_be_traded_is_refused_in_words():
    truth = np.array([0, 0, 0, 1])
    cases = Cases.counted(truth, np.array([[0.9, 0.1]] * 3 + [[0.2, 0.8]]))
    with pytest.raises(Problem, match=r"too few of 4 cases .* Show results for more cases"):
        pairs_of_study([cases], 4, WeightPrior.of("lpm", 2), 3, 0.1)


def test_the_widest_rates_offered_are_those_of_the_pairs_drawn_and_the_same_for_every_session():
    cases = [counted(7, 1.5), counted(7, 0.7)]
    source = pairs_of_study(cases, POPULATION, WeightPrior.of("lpm", 7), 3, 0.4)
    offered = source.widest_offered(np.random.default_rng(5))
    pairs = source.candidates(np.ones((5, source.prior.size)), np.random.default_rng(5))
    np.testing.assert_array_equal(offered, widest_rates(pairs.gains))
    assert source.widest_offered(np.random.default_rng(6)) is offered
