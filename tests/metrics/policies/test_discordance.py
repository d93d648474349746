"""What disagreements could cost though no case has shown it: Jeffreys' prior, laws, and what the bootstrap knows."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from metrics import ElicitedMetric, judge, policy_curves
from metrics.policies import costs
from metrics.policies.cases import Policy, Practice, always, case_table, of_model
from metrics.policies.discordance import Pairing, unshown_decisions
from metrics.policies.judging import Judge

EQUAL = ElicitedMetric.from_cost_matrix(["ill", "well"], [[0, 1], [1, 0]])


def labels_only(*names):
    return [policy for name in names for policy in of_model(name, labels_only=True)]


def two_models(differences, n=200, wrong=20):
    """Return the judgement of two models that are wrong on 20 cases of each class, the second on a few more of one."""
    true = np.repeat([0, 1], n)
    first = true.copy()
    first[:wrong] = 1
    first[n : n + wrong] = 0
    second = first.copy()
    second[wrong : wrong + differences] = 1
    return Judge.of(EQUAL, case_table(true, [first, second], 2), labels_only("a", "b")).at([0.5, 0.5])


@pytest.mark.parametrize("differences", [1, 2, 3, 5, 10])
def test_the_better_one_on_a_few_cases_is_as_sure_as_jeffreys_prior_says(differences):
    """Rates of the shown disagreements, Gamma(d), and of the unshown ones, Gamma(1/2), of as many cases."""
    judgement = two_models(differences)
    assert judgement.best.name.startswith("a")
    expected = beta.cdf(0.5, 0.5, differences)
    assert judgement.sure == pytest.approx(expected, abs=0.025)
    assert judgement.best.probability_best == pytest.approx(expected, abs=0.025)


def test_one_case_makes_no_model_surely_better():
    judgement = two_models(1)
    other = judgement.policies[1]
    assert judgement.sure < 0.75
    assert other.rank == 1
    assert other.difference_interval[0] < 0 < other.difference_interval[1]
    assert other.difference_cases[0] < 0
    assert judgement.information.expected_loss > 0


def test_policies_that_never_disagree_share_what_there_is():
    judgement = two_models(0)
    assert [one.probability_best for one in judgement.policies[:2]] == [0.5, 0.5]
    assert judgement.sure == 1


def test_costs_themselves_stay_as_they_were_counted(monkeypatch):
    doubted = two_models(1)
    monkeypatch.setattr(costs, "JEFFREYS", 1e-9)
    known = two_models(1)
    assert known.sure == 1
    assert [one.interval for one in doubted.policies] == [one.interval for one in known.policies]
    assert [one.cost_per_population for one in doubted.policies] == [one.cost_per_population for one in known.policies]


def test_a_lower_threshold_of_the_same_model_is_not_doubted_where_it_cannot_err():
    """Whoever is ill for the higher threshold is so for the lower one, which misses nobody whom that one finds."""
    true = np.repeat([0, 1], 30)
    low = np.repeat([0, 0, 1, 0, 1], [20, 8, 2, 9, 21])
    high = np.repeat([0, 1, 1, 0, 1], [20, 8, 2, 3, 27])
    found = Pairing.of(case_table(true, [low, high], 2))
    low, high = found.decided.T
    assert not found.unshown(low, high, 2)[0, 1]
    # false alarms of the lower one are shown, and missed ill of the higher one as well
    assert not found.unshown(low, high, 2)[1, 0]
    assert not found.unshown(high, low, 2)[0, 1]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 4), st.integers(2, 3))
def test_what_is_unshown_is_what_single_cases_say(seed, k, n_models):
    rng = np.random.default_rng(seed)
    true = rng.integers(k, size=25)
    decided = [np.where(rng.random(25) < 0.7, true, rng.integers(k, size=25)) for _ in range(n_models)]
    table = case_table(true, decided, k)
    policies = (*always([str(label) for label in range(k)]), *labels_only(*"abc"[:n_models]))
    everything = [np.full(25, label) for label in range(k)] + decided
    rates = np.zeros((k, len(policies), k))
    first = int(rng.integers(len(policies)))
    found = unshown_decisions(policies, first, rates, table.cases, Pairing.of(table))
    for other, column in enumerate(everything):
        for label in range(k):
            said = everything[first][(column == label) & (everything[first] != label)]
            is_shown = ((true == label) & (column == label) & (everything[first] != label)).any()
            expected = np.bincount(said, minlength=k) / len(said) if len(said) and not is_shown else np.zeros(k)
            np.testing.assert_allclose(found[other, label], expected)


def test_present_practice_that_is_never_wrong_is_doubted_and_known_rates_are_not():
    true, said = np.repeat([0, 0, 1, 1], [90, 10, 10, 90]), np.repeat([0, 1, 0, 1], [90, 10, 10, 90])
    table, sure = case_table(true, [said], 2), []
    for practice in ([[400, 0], [0, 80]], [[4_000, 0], [0, 8_000]], [[1.0, 0.0], [0.0, 1.0]]):
        judge_of = Judge.of(EQUAL, table, labels_only("m"), practice=Practice.of(practice, EQUAL.classes))
        judgement = judge_of.at([0.5, 0.5])
        assert judgement.best.policy.decides == "practice"
        costs_of = judge_of.costs
        place = next(i for i, policy in enumerate(costs_of.policies) if policy.decides == "practice")
        both, _ = costs_of.unshown_costs(place, np.full((len(costs_of.shares), 2), 0.5))
        model = next(i for i, policy in enumerate(costs_of.policies) if policy.model)
        sure.append(both[:, model].mean())
    assert sure[0] > 10 * sure[1] > 0
    assert sure[2] == 0


@pytest.mark.parametrize("of_practice", [(20, 0), (19, 1), (18, 2)])
@pytest.mark.parametrize("of_model", [(20, 0), (19, 1)])
def test_practice_that_is_no_better_is_not_likelier_to_be(of_model, of_practice):
    """The grave mistake of practice is doubted as well where only the model has never made it, or neither of them."""
    true, said = np.repeat([0, 0, 1, 1], [*of_model, 4, 16]), np.repeat([0, 1, 0, 1], [*of_model, 4, 16])
    grave = ElicitedMetric.from_cost_matrix(["ill", "well"], [[0, 5], [1, 0]])
    practice = Practice.of([of_practice, (5, 15)], grave.classes)
    judgement = Judge.of(grave, case_table(true, [said], 2), labels_only("m"), practice=practice).at([0.5, 0.5])
    chances = {one.policy.decides: one.probability_best for one in judgement.policies}
    assert (chances["as-is"] > chances["practice"]) == (of_model >= of_practice)


def test_people_are_what_rates_rest_on():
    true = np.tile([0, 0, 0, 0, 0, 1, 1, 1, 1, 1], 40)
    first = true.copy()
    first[:5], first[5:10] = 1, 0
    second = first.copy()
    second[10] = 1
    people = np.repeat(np.arange(40), 10)
    many, few = (
        Judge.of(EQUAL, case_table(true, [first, second], 2, own), labels_only("a", "b")) for own in (None, people)
    )
    doubts = [one.costs.unshown_costs(2, np.full((4_000, 2), 0.5))[0][:, 3].mean() for one in (many, few)]
    assert doubts[1] == pytest.approx(5 * doubts[0], rel=0.1)


def test_among_some_policies_another_one_is_compared_with_the_rest():
    judgement = two_models(3)
    without = judgement.among(lambda policy: policy != judgement.best.policy)
    assert without.best.name.startswith("b")
    assert sum(one.probability_best for one in without.policies) == pytest.approx(1)
    assert without.among(lambda policy: policy.model is None).best.policy.decides == "always"


def test_a_judgement_can_be_stored():
    judgement = pickle.loads(pickle.dumps(two_models(3)))
    assert judgement.among(lambda policy: policy.model is not None).sure == judgement.sure


def test_curves_are_as_sure_as_the_judgement():
    rng = np.random.default_rng(5)
    true = np.repeat(["ill", "well"], 40)
    ill = np.clip(np.where(true == "ill", 0.8, 0.2) + 0.15 * rng.standard_normal(80), 0.01, 0.99)
    models = {"m": np.column_stack([ill, 1 - ill])}
    metric = ElicitedMetric.from_cost_matrix(["ill", "well"], [[0, 30], [1, 0]])
    found = policy_curves(metric, true, models, ("ill", "well"), ratios=[30.0], draws=4_000)
    judgement = judge(metric, true, models)
    for policy, share in zip(found.policies, found.probability_best[:, 0], strict=True):
        assert share == pytest.approx(judgement.named(policy.name).probability_best, abs=0.01)
    assert judgement.sure < 0.99


def test_too_many_patterns_are_not_looked_at():
    policy = Policy("m", "as-is", "m")
    found = unshown_decisions((*always(["a", "b"]), policy), 2, np.zeros((2, 3, 2)), np.array([5, 5]), None)
    assert not found.any()
