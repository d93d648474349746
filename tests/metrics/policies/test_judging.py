"""The judge: the checked values of the bundled breast study, a direct bootstrap, and laws."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics import ElicitedMetric, judge, policy_curves
from metrics.errors import InputError
from metrics.policies import cases
from metrics.policies.cases import MOST_PATTERNS, CaseTally, Policy, Practice, case_table, of_model
from metrics.policies.costs import UnitCosts
from metrics.policies.judging import Judge

# counts (missed, false alarms), cost per 1,000 and probability of being best at two ratios: 20,000 draws of a paired
# Bayesian bootstrap over the 569 cases, computed apart from this program
CHECKED = {
    3.6: {
        "Cell outline, as it decides now": ((34, 35), 277, 0.04),
        "Cell outline, with these costs": ((14, 94), 254, 0.10),
        "Size and texture, as it decides now": ((40, 22), 292, 0.0),
        "Size and texture, with these costs": ((14, 70), 212, 0.85),
        "always malignant": ((0, 357), 627, 0.0),
        "always benign": ((212, 0), 1_341, 0.0),
    },
    19.0: {
        "Cell outline, as it decides now": ((34, 35), 1_197, 0.0),
        "Cell outline, with these costs": ((3, 215), 478, 0.62),
        "Size and texture, as it decides now": ((40, 22), 1_374, 0.0),
        "Size and texture, with these costs": ((5, 193), 506, 0.37),
        "always malignant": ((0, 357), 627, 0.01),
        "always benign": ((212, 0), 7_079, 0.0),
    },
}


def breast_metric(ratio, spread=0.0, draws=2_000):
    samples = None
    if spread:
        rng = np.random.default_rng(4)
        samples = np.array([-ratio, -1.0]) * np.exp(spread / np.sqrt(2) * rng.standard_normal((draws, 2)))
    return ElicitedMetric.from_cost_matrix(
        ["malignant", "benign"],
        [[0, ratio], [1, 0]],
        samples=samples,
        yardstick=("benign", "malignant"),
        population=1_000,
    )


def test_columns_may_stand_in_the_order_of_an_estimator(breast_cancer_cases):
    labels, models = breast_cancer_cases
    metric = breast_metric(3.6)
    turned = {name: np.asarray(proba)[:, ::-1] for name, proba in models.items()}
    same, first = judge(metric, labels, turned, labels=["benign", "malignant"]), judge(metric, labels, models)
    assert str(same) == str(first)
    assert [one.cost_per_population for one in same.policies] == [one.cost_per_population for one in first.policies]
    with pytest.raises(InputError, match="at least two classes"):
        judge(metric, labels, turned, labels=["benign"])


@pytest.mark.parametrize("ratio", [3.6, 19.0])
def test_checked_values_of_the_breast_study(ratio, breast_cancer_cases):
    labels, models = breast_cancer_cases
    judgement = judge(breast_metric(ratio), labels, models, draws=20_000)
    assert {one.name for one in judgement.policies} == set(CHECKED[ratio])
    for one in judgement.policies:
        (missed, alarms), cost, best = CHECKED[ratio][one.name]
        assert round(one.cost_per_population) == cost
        assert one.cost_per_population == pytest.approx(1_000 / 569 * (ratio * missed + alarms))
        assert one.probability_best == pytest.approx(best, abs=0.011)
    first, second = (judgement.named(f"{name}, as it decides now") for name in ("Cell outline", "Size and texture"))
    as_is = judgement.among(lambda policy: policy.decides == "as-is")
    low, high = as_is.named(second.name).difference_interval
    expected = {3.6: (-59, 88, 0.63), 19.0: (-195, 551, 0.785)}[ratio]
    assert (low, high) == pytest.approx(expected[:2], abs=12)
    assert as_is.named(first.name).probability_best == pytest.approx(expected[2], abs=0.012)
    assert [one.rank for one in as_is.policies] == [1, 1]
    assert judgement.best.threshold.value == pytest.approx(1 / (1 + ratio))


def test_differences_are_those_of_a_direct_bootstrap_with_both_doubts(breast_cancer_cases):
    """Every case by itself, every draw by itself: nothing is grouped, nothing is contracted."""
    labels, models = breast_cancer_cases
    metric = breast_metric(19.0, spread=0.4)
    judgement = judge(metric, labels, models, draws=20_000, seed=1)
    rng = np.random.default_rng(9)
    ratios = metric.cost_samples[:, 0, 1] / metric.cost_samples[:, 1, 0]
    decided = {name: proba[:, 0] >= 0.05 for name, proba in models.items()}
    lost = {
        name: [((labels == "malignant") & ~called).astype(float), ((labels == "benign") & called).astype(float)]
        for name, called in decided.items()
    }
    first, second = "Cell outline", "Size and texture"
    differences = []
    for _ in range(20):
        weights = rng.standard_exponential((1_000, len(labels)))
        weights *= 1_000 / weights.sum(axis=1, keepdims=True)
        ratio = rng.choice(ratios, 1_000)
        costs = [ratio * (weights @ lost[name][0]) + weights @ lost[name][1] for name in (second, first)]
        differences.append(costs[0] - costs[1])
    direct = np.concatenate(differences)
    one = judgement.named(f"{second}, with these costs")
    spread = direct.std()
    assert one.difference_interval == pytest.approx(tuple(np.quantile(direct, [0.05, 0.95])), abs=0.05 * spread)
    two = judgement.among(lambda policy: policy.decides == "least-cost")
    assert two.best.probability_best == pytest.approx((direct > 0).mean(), abs=0.015)


def test_the_two_doubts_apart_are_narrower_than_together(breast_cancer_cases):
    labels, models = breast_cancer_cases
    judgement = judge(breast_metric(19.0, spread=0.4), labels, models)
    for one in judgement.policies[1:]:
        width, of_answers, of_cases = (
            high - low for low, high in (one.difference_interval, one.difference_answers, one.difference_cases)
        )
        assert max(of_answers, of_cases) <= 1.05 * width
    information = judgement.information
    assert 0 <= information.of_values <= information.expected_loss
    assert 0 <= information.of_cases <= information.expected_loss


def test_without_draws_of_the_costs_only_the_cases_are_doubted_and_it_is_said(breast_cancer_cases):
    labels, models = breast_cancer_cases
    judgement = judge(breast_metric(19.0), labels, models)
    assert all(one.interval_answers is None for one in judgement.policies)
    assert judgement.information.of_values == 0
    assert judgement.notes[0].startswith("The metric has no draws")
    assert judgement.best.threshold.low == judgement.best.threshold.high == judgement.best.threshold.value
    bare = judge(breast_metric(19.0), labels, models, draws=0)
    assert bare.information is None
    assert [one.interval for one in bare.policies] == [None] * 6
    assert [one.rank for one in bare.policies] == [1, 2, 3, 4, 5, 6]
    assert [one.name for one in bare.policies] == [one.name for one in judgement.policies]


def test_a_stated_prevalence_is_not_doubted(breast_cancer_cases):
    labels, models = breast_cancer_cases
    judgement = judge(breast_metric(19.0), labels, models, prevalence=[0.1, 0.9])
    everybody = judgement.named("always malignant")
    assert everybody.cost_per_population == pytest.approx(900)
    assert everybody.interval == pytest.approx((900, 900))
    assert everybody.counts.tolist() == [[100, 0], [900, 0]]
    assert any("corrected for 10 % they are one more policy" in note for note in judgement.notes)
    as_is = judgement.named("Cell outline, as it decides now")
    assert as_is.cost_per_population == pytest.approx(100 * 19 * 34 / 212 + 900 * 35 / 357)


@settings(max_examples=25, deadline=None)
@given(
    share=st.floats(0.01, 0.99), ratio=st.floats(0.05, 50), hits=st.lists(st.integers(0, 10), min_size=2, max_size=5)
)
def test_where_probabilities_are_right_correcting_them_for_another_prevalence_costs_least(share, ratio, hits):
    """Of ten cases with probability m / 10, m are positive; a group of ten is added so that both classes have cases."""
    hits = [*hits, 5]
    positive = np.concatenate([np.arange(10) < m for m in hits])
    proba = np.repeat(np.array(hits) / 10, 10)
    labels, model = np.where(positive, "malignant", "benign"), {"m": np.column_stack([proba, 1 - proba])}
    judgement = judge(breast_metric(ratio), labels, model, prevalence=[share, 1 - share], draws=0)
    cheapest = judgement.best.cost_per_population
    found = next((one for one in judgement.policies if one.policy.correction), None)
    assert (found is None) == (abs(share - positive.mean()) < 0.02)
    if found is not None:
        assert found.cost_per_population == pytest.approx(cheapest)
        own = np.where(proba >= found.threshold.value, "malignant", "benign")
        miss, alarm = (float((own[labels == name] != name).mean()) for name in ("malignant", "benign"))
        near = np.abs(proba - found.threshold.value).min() < 1e-9
        assert near or found.cost_per_population == pytest.approx(1_000 * (share * ratio * miss + (1 - share) * alarm))


def test_whoever_corrects_probabilities_as_the_note_says_decides_as_the_policy():
    rng = np.random.default_rng(3)
    proba = rng.dirichlet(np.ones(3), 2_000)
    true = (proba.cumsum(axis=1) < rng.random((2_000, 1))).sum(axis=1)
    metric = ElicitedMetric.from_cost_matrix(list("abc"), [[0, 1, 2], [3, 0, 1], [9, 9, 0]])
    stated = np.array([0.7, 0.25, 0.05])
    judgement = judge(metric, np.array(list("abc"))[true], {"m": proba}, prevalence=stated, draws=0)
    (note,) = [note for note in judgement.notes if "corrected for" in note]
    assert note.endswith(": each times the share of its class there over that in the cases, then divided by their sum.")
    own = np.bincount(true, minlength=3) / 2_000
    right = proba * (stated / own)
    decided = (right / right.sum(axis=1, keepdims=True) @ metric.cost_matrix).argmin(axis=1)
    cost = metric.cost_matrix[true, decided] @ (stated / own)[true] / 2_000 / metric.cost_matrix[judgement.unit]
    found = judgement.named("m, corrected, with these costs")
    assert found.cost_per_population == pytest.approx(judgement.population * cost)


def test_a_model_is_recalibrated_before_it_is_corrected(breast_cancer_cases):
    labels, models = breast_cancer_cases
    rare = {"malignant": 0.05, "benign": 0.95}
    proba = np.asarray(models["Cell outline"])
    sharpened = proba**4 / (proba**4).sum(axis=1, keepdims=True)
    names = {
        one.name: one.policy for one in judge(breast_metric(19.0), labels, {"m": sharpened}, prevalence=rare).policies
    }
    done = names["m, recalibrated and corrected, with these costs"]
    assert done.recalibrated
    assert done.correction == pytest.approx((0.05 * 569 / 212, 0.95 * 569 / 357))
    curves = policy_curves(breast_metric(19.0), labels, {"m": sharpened}, prevalence=rare, ratios=[1.0, 10.0], draws=20)
    assert {one.name for one in curves.policies} == set(names)
    certain = judge(breast_metric(19.0), labels, {"m": np.eye(2)[proba.argmax(axis=1)]}, prevalence=rare)
    assert not any(one.policy.correction for one in certain.policies), "labels have no probabilities to correct"


def test_present_practice_is_one_more_policy(breast_cancer_cases):
    labels, models = breast_cancer_cases
    typed = [[188, 24], [50, 307]]
    judgement = judge(breast_metric(3.6), labels, models, practice=typed)
    practice = judgement.named("present practice")
    assert practice.cost_per_population == pytest.approx(1_000 / 569 * (3.6 * 24 + 50))
    assert practice.interval[1] - practice.interval[0] > 20
    rates = judge(breast_metric(3.6), labels, models, practice=np.array(typed) / np.sum(typed, axis=1)[:, None])
    assert rates.named("present practice").cost_per_population == pytest.approx(practice.cost_per_population)
    narrow = rates.named("present practice").interval
    assert narrow[1] - narrow[0] < practice.interval[1] - practice.interval[0]
    assert "than in present practice" in judgement.recommendation.spares
    with pytest.raises(InputError, match="the row of 'benign' is empty"):
        judge(breast_metric(3.6), labels, models, practice=[[1, 1], [0, 0]])


def random_cases(seed, n=400, k=3, n_models=2):
    rng = np.random.default_rng(seed)
    true = rng.integers(0, k, n)
    models = {}
    for name in "abcd"[:n_models]:
        proba = rng.dirichlet(np.ones(k), n) + 1.5 * np.eye(k)[true] * rng.random((n, 1))
        models[name] = proba / proba.sum(axis=1, keepdims=True)
    costs = rng.random((k, k)) * (1 - np.eye(k))
    samples = -costs[~np.eye(k, dtype=bool)] * np.exp(0.5 * rng.standard_normal((300, k * k - k)))
    metric = ElicitedMetric.from_cost_matrix([*"xyzuvw"[:k]], costs, samples=samples)
    return metric, np.array([*"xyzuvw"[:k]])[true], models


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_laws_of_a_judgement(seed):
    metric, labels, models = random_cases(seed)
    judgement = judge(metric, labels, models, draws=500)
    costs = [one.cost_per_population for one in judgement.policies]
    assert costs[0] == min(costs)
    assert sum(one.probability_best for one in judgement.policies) == pytest.approx(1)
    for one in judgement.policies:
        assert one.difference_to_best == pytest.approx(one.cost_per_population - costs[0])
        assert (one.rank == 1) == (one.difference_interval[0] <= 1e-9 * costs[-1])
        assert one.counts.sum() == judgement.population
    information = judgement.information
    assert 0 <= information.of_cases <= information.expected_loss * (1 + 1e-9)
    assert 0 <= information.of_values <= information.expected_loss * (1 + 1e-9)
    assert all(more.spares <= information.at_stake * (1 + 1e-9) for more in information.more)
    # scaled costs are the same costs; the order of the models does not change what each costs
    scaled = ElicitedMetric.from_cost_matrix(metric.classes, 7 * metric.cost_matrix)
    turned = judge(scaled, labels, dict(reversed(models.items())), draws=0)
    assert {one.name: one.cost_per_population for one in turned.policies} == pytest.approx(
        {one.name: one.cost_per_population for one in judgement.policies}
    )


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_the_same_seed_gives_the_same_and_cases_in_another_order_the_same(seed):
    metric, labels, models = random_cases(seed, n=150)
    order = np.random.default_rng(seed).permutation(150)
    one = judge(metric, labels, models, draws=200, seed=3)
    again = judge(metric, labels[order], {name: proba[order] for name, proba in models.items()}, draws=200, seed=3)
    if one.notes == again.notes == ():
        np.testing.assert_array_equal(one.drawn.both, again.drawn.both)
        assert one.recommendation == again.recommendation


def test_groups_of_cases_are_doubted_as_widely_as_patterns():
    metric, labels, models = random_cases(2, n=30_000)
    true = np.array([metric.classes.index(label) for label in labels])
    columns = [policy for name in models for policy in of_model(name)]
    decided = [
        made
        for proba in models.values()
        for made in (proba.argmax(axis=1), (proba @ metric.cost_matrix).argmin(axis=1))
    ]
    tally = CaseTally(3, len(decided))
    tally.update(true, np.array(decided), 0)
    by_pattern = Judge.of(metric, tally.table(), columns).at()
    tally._codes = None
    by_group = Judge.of(metric, tally.table(), columns).at()
    assert (by_pattern.grouped, by_group.grouped) == (False, True)
    assert "512 groups" in by_group.notes[-1]
    for one in by_pattern.policies:
        other = by_group.named(one.name)
        assert other.cost_per_population == pytest.approx(one.cost_per_population)
        widths = [high - low for low, high in (one.interval_cases, other.interval_cases)]
        assert widths[1] == pytest.approx(widths[0], rel=0.15)


def test_too_many_patterns_become_groups():
    rng = np.random.default_rng(0)
    tally = CaseTally(10, 8)
    for start in range(0, 20_000, 5_000):
        tally.update(rng.integers(0, 10, 5_000), rng.integers(0, 10, (8, 5_000)), start)
    table = tally.table()
    assert MOST_PATTERNS < 20_000
    assert table.grouped
    assert table.cases.sum() == 20_000
    assert table.rates.sum(axis=2) == pytest.approx(np.ones((10, 8)))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1_000), cut=st.integers(0, 300))
def test_tallies_of_parts_merge_to_that_of_the_whole(seed, cut):
    rng = np.random.default_rng(seed)
    true, decided = rng.integers(0, 3, 300), rng.integers(0, 3, (4, 300))
    whole, first, second = (CaseTally(3, 4) for _ in range(3))
    whole.update(true, decided, 0)
    second.update(true[cut:], decided[:, cut:], cut)
    first.update(true[:cut], decided[:, :cut], 0)
    second.merge(first)
    np.testing.assert_array_equal(whole.counts, second.counts)
    for one, other in zip(whole.table().weights, second.table().weights, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(whole._groups, second._groups)
    for place, row in enumerate(decided):
        np.testing.assert_array_equal(whole.counts[place], np.bincount(3 * true + row, minlength=9).reshape(3, 3))


def test_patterns_are_kept_up_to_their_number(monkeypatch):
    monkeypatch.setattr(cases, "MOST_PATTERNS", 4)
    assert not case_table([0, 0, 1, 1], [[0, 1, 0, 1]], 2).grouped
    assert case_table([0, 0, 1, 1, 2], [[0, 1, 0, 1, 1]], 3).grouped


def test_whole_numbers_are_counts_unless_no_row_has_more_than_one():
    assert Practice.of([[1, 0], [3, 5]], ["ill", "well"]).counts is not None
    assert Practice.of([[1, 0], [0, 1]], ["ill", "well"]).counts is None


def test_a_class_without_cases_has_no_share():
    metric = ElicitedMetric.from_cost_matrix([*"xyz"], 1 - np.eye(3))
    table = case_table([0, 0, 2, 2], [[0, 2, 2, 2]], 3)
    judged = Judge.of(metric, table, [Policy("m", "as-is", "m")], draws=50)
    assert judged.at().prevalence == pytest.approx([0.5, 0, 0.5])
    assert judged.at([0.2, 0, 0.8]).named("m").cost_per_population == pytest.approx(100)
    with pytest.raises(InputError, match="there is no case of 'y'"):
        judged.at([0.2, 0.2, 0.6])


def test_what_the_models_were_made_for_is_said_from_two_points_of_difference_on():
    judged = Judge.of(
        breast_metric(2.0, 0.4), case_table([0, 1] * 50, [[0, 1] * 50], 2), [Policy("m", "least-cost", "m")], draws=300
    )
    said = {share: judged.at([share, 1 - share]).notes for share in (0.485, 0.5, 0.515, 0.525)}
    assert [len(notes) for notes in said.values()] == [0, 0, 0, 1]
    assert "should be corrected" in said[0.525][0]


def test_costs_by_the_answers_alone_are_those_of_the_draw_that_each_row_has():
    judged = Judge.of(
        breast_metric(2.0, 0.4, draws=40),
        case_table([0, 1] * 50, [[0, 1, 1, 1] * 25], 2),
        [Policy("m", "as-is")],
        draws=30,
    )
    costs, shares = judged.costs, np.array([0.3, 0.7])
    expected = np.einsum("i,ipj,bij->bp", shares, costs.rates, costs.unit_costs.draws[costs.order])
    np.testing.assert_allclose(costs.drawn_from_answers(shares), expected)


def test_draws_are_in_units_of_the_yardstick_and_left_out_where_it_costs_nothing():
    names, costs = ["malignant", "benign"], [[0, 4], [2, 0]]
    samples = [[-2.0, -1.0], [-3.0, -1.0], [-1.0, 0.0]]
    metric = ElicitedMetric.from_cost_matrix(names, costs, samples=samples, yardstick=("benign", "malignant"))
    found = UnitCosts.of(metric)
    np.testing.assert_allclose(found.draws, [[[0, 2], [1, 0]], [[0, 3], [1, 0]]])
    np.testing.assert_allclose(found.worth, [1, 2 / 3])


def test_where_no_mistake_costs_anything_there_is_no_threshold():
    free = ElicitedMetric.from_cost_matrix(["ill", "well"], [[0, 0], [1, 0]])
    proba = np.repeat([[0.9, 0.1], [0.4, 0.6]], 20, axis=0)
    judgement = judge(free, np.repeat(["ill", "well"], 20), {"m": proba}, prevalence=[1.0, 0.0])
    assert all(one.cost_per_population == 0 for one in judgement.policies)
    (corrected,) = [one for one in judgement.policies if one.policy.correction is not None]
    assert corrected.threshold is None
    assert "m" in str(judgement)


def test_what_makes_no_sense_is_refused():
    metric = breast_metric(2.0)
    with pytest.raises(InputError, match="at least one model"):
        judge(metric, ["benign"], {})
    with pytest.raises(InputError, match="2 columns were expected"):
        judge(metric, ["benign"], {"m": np.ones((1, 3))})
    with pytest.raises(InputError, match="practice: a square matrix was expected"):
        Practice.of([[1, 2]], metric.classes)
    with pytest.raises(InputError, match=">= 0"):
        Practice.of([[1, -2], [1, 1]], metric.classes)


def three_classes():
    """Return a metric, true labels and probabilities of a frame."""
    rng = np.random.default_rng(8)
    proba = pd.DataFrame(rng.dirichlet([1, 1, 1], 60), columns=[*"abc"])
    metric = ElicitedMetric.from_cost_matrix([*"abc"], [[0, 9, 1], [2, 0, 3], [4, 5, 0]])
    return metric, [*"abc"] * 20, proba


def costs_of(judgement):
    return {policy.policy.name: policy.cost_per_population for policy in judgement.policies}


def test_columns_and_shares_are_read_by_name():
    metric, true, proba = three_classes()
    plain = costs_of(judge(metric, true, {"m": proba}, draws=0, prevalence=[0.2, 0.7, 0.1]))
    shares = pd.Series({"b": 0.7, "a": 0.2, "c": 0.1})  # as value_counts orders them
    assert costs_of(judge(metric, true, {"m": proba[[*"cab"]]}, draws=0, prevalence=shares)) == plain
    encoded, codes = metric.with_labels([2, 0, 1]), [2, 0, 1] * 20
    assert costs_of(judge(encoded, codes, {"m": proba[[*"bca"]]}, draws=0, prevalence=[0.2, 0.7, 0.1])) == plain
    stated = ElicitedMetric.from_cost_matrix([*"abc"], metric.cost_matrix, prevalence=shares)
    assert stated.prevalence.tolist() == [0.2, 0.7, 0.1]
    curves = (
        policy_curves(metric, true, {"m": proba}, prevalence=given, draws=1).cost for given in (shares, [0.2, 0.7, 0.1])
    )
    np.testing.assert_array_equal(*curves)


def test_what_is_no_model_and_no_population_is_refused_in_words():
    metric, true, proba = three_classes()
    with pytest.raises(TypeError, match="y_proba: the probabilities of each model by its name were expected"):
        judge(metric, true, proba, draws=0)
    with pytest.raises(InputError, match="population: 1 to 1000000000000"):
        judge(metric, true, {"m": proba}, draws=0, population=0)
    with pytest.raises(InputError, match="draws: at least 1"):
        policy_curves(metric, true, {"m": proba}, draws=0)
    for ask in (judge, policy_curves):
        with pytest.raises(InputError, match=r"seed: a whole number was expected, found 1\.5"):
            ask(metric, true, {"m": proba}, draws=5, seed=1.5)
        with pytest.raises(InputError, match="prevalence: no share for the class 'b'"):
            ask(metric, true, {"m": proba}, draws=5, prevalence={"a": 0.5, "c": 0.5})
        with pytest.raises(InputError, match="there is no case of 'b', so nothing is known of it"):
            ask(metric, [*"acc"] * 20, {"m": proba}, draws=5, prevalence=[0.2, 0.7, 0.1])


def test_models_may_be_named_by_numbers():
    metric, true, proba = three_classes()
    found = judge(metric, true, {1: proba, 2: proba.iloc[::-1]}, draws=0)
    assert {one.policy.model for one in found.policies} == {"1", "2", None}
    assert str(found)


def test_a_reader_gives_labels_in_place_of_probabilities(breast_cancer_cases):
    true, models = breast_cancer_cases
    metric, (name, proba) = breast_metric(3.6, 0.3), next(iter(models.items()))
    said = np.array(metric.classes)[np.asarray(proba).argmax(axis=1)]
    found = judge(metric, true, {name: proba, "reader": pd.Series(said, dtype="category")}, draws=200)
    as_probabilities = judge(
        metric, true, {name: proba, "reader": np.eye(2)[np.asarray(proba).argmax(axis=1)]}, draws=200
    )
    assert str(found) == str(as_probabilities)
    costs = [found.named(f"{one}, as it decides now").cost_per_population for one in (name, "reader")]
    assert costs[0] == costs[1]
    assert "reader, with these costs" not in [one.name for one in found.policies]
    for wrong, words in ((["ill", *said[1:]], "row 0: ill is not one of the classes"), (said[1:], "569 cases were")):
        with pytest.raises(InputError, match=words):
            judge(metric, true, {"reader": wrong})
