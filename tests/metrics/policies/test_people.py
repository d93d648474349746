"""Several cases of one person: a bootstrap that draws people, whose cases resemble each other."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics import ElicitedMetric, InputError, decision_curve, judge, policy_curves
from metrics.policies.cases import CaseTable, CaseTally, case_table, of_model
from metrics.policies.costs import UnitCosts, policy_costs
from metrics.policies.ranking import TooFewCases

METRIC = ElicitedMetric.from_cost_matrix(["ill", "well"], [[0, 8], [1, 0]])


def people(n, seed=0):
    """Return the labels and well calibrated probabilities of n people with one case each."""
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.4
    seen = np.where(ill, 1.2, -1.2) + rng.standard_normal((2, n))
    models = dict(zip("ab", 1 / (1 + np.exp(-2.4 * seen) * 0.6 / 0.4), strict=True))
    return np.where(ill, "ill", "well"), {name: np.column_stack([p, 1 - p]) for name, p in models.items()}


def several(labels, models, times):
    """Return the same cases, each `times` times, in another order, and whose they are."""
    order = np.random.default_rng(1).permutation(len(labels) * times)
    whose = np.repeat(np.arange(len(labels)), times)[order]
    return labels[whose], {name: proba[whose] for name, proba in models.items()}, whose


def widths(judgement):
    return {one.name: np.diff(one.difference_interval)[0] for one in judgement.policies if one.difference_to_best}


@pytest.mark.parametrize("prevalence", [None, [0.1, 0.9]])
def test_a_case_that_is_there_five_times_tells_no_more_than_once(prevalence):
    labels, models = people(2_000)
    once = widths(judge(METRIC, labels, models, prevalence=prevalence))
    repeated, copies, whose = several(labels, models, 5)
    by_person = judge(METRIC, repeated, copies, groups=whose, prevalence=prevalence)
    as_cases = widths(judge(METRIC, repeated, copies, prevalence=prevalence))
    assert by_person.people.total == 2_000
    assert "rests on 2,000 people, not on 10,000 cases" in by_person.notes[1]
    for name, width in widths(by_person).items():
        assert width == pytest.approx(once[name], rel=0.2)
        assert as_cases[name] == pytest.approx(once[name] / np.sqrt(5), rel=0.2)


def test_cases_of_one_person_in_two_classes_are_drawn_together():
    """Everybody has one case of each class, so the shares are the same in every draw."""
    n = 300
    decided = [np.tile([0, 1], n), np.repeat(np.arange(n) % 2, 2)]
    table = case_table(np.tile([0, 1], n), decided, 2, np.repeat(np.arange(n), 2))
    costs = policy_costs(UnitCosts.estimated(METRIC), table, of_model("m", labels_only=True) * 2, draws=500)
    assert costs.shares == pytest.approx(np.full((500, 2), 0.5))
    # of the second model a person's cases are both right or both wrong in the same draw
    right, wrong = costs.from_cases[:, 0, 1] / 8, costs.from_cases[:, 1, 1]
    np.testing.assert_allclose(right, 1 - wrong)


@pytest.mark.parametrize("groups", [np.arange(400), np.zeros(400), [f"p{i}" for i in range(400)]])
def test_groups_of_one_case_and_one_group_of_all_change_nothing(groups):
    labels, models = people(400)
    found, expected = judge(METRIC, labels, models, groups=groups), judge(METRIC, labels, models)
    np.testing.assert_array_equal(found.drawn.both, expected.drawn.both)
    assert (found.people, found.notes) == (None, expected.notes)


def test_what_people_are_called_and_the_order_of_cases_do_not_matter_for_curves():
    labels, models, whose = several(*people(300), 4)
    order = np.random.default_rng(3).permutation(len(labels))
    turned = {name: proba[order] for name, proba in models.items()}
    one = policy_curves(METRIC, labels, models, groups=whose, draws=200)
    other = policy_curves(METRIC, labels[order], turned, groups=whose[order], draws=200)
    np.testing.assert_allclose(one.probability_best, other.probability_best)
    as_cases = policy_curves(METRIC, labels, models, draws=200)
    assert len(as_cases.policies) > len(one.policies), (
        "copies of cases pass for evidence that a model is badly calibrated"
    )


def test_few_people_are_few_however_many_their_cases():
    labels, _, whose = several(*people(60), 50)
    right = np.where((labels == "ill")[:, None], [0.9, 0.1], [0.1, 0.9])
    wrong = [whose[labels == label][0] for label in ("ill", "well")]
    models = {"a": np.where(np.isin(whose, wrong)[:, None], 1 - right, right)}
    judgement = judge(METRIC, labels, models, groups=whose)
    ill = len(np.unique(whose[labels == "ill"]))
    assert judgement.too_few == TooFewCases(0, ill, "people")
    assert f"of “ill” only {ill} people were counted" in judgement.recommendation.sureness
    assert judgement.advice.endswith(f"before you decide: {ill} people are too few to show rare mistakes")
    assert any("ranges are too narrow" in note for note in judgement.notes)
    assert judge(METRIC, labels, models).too_few is None


def test_more_cases_help_if_they_are_of_other_people():
    labels, models, whose = several(*people(200, seed=4), 10)
    judgement = judge(METRIC, labels, models, groups=whose)
    assert judgement.information.advice.startswith("Collect about ")
    assert judgement.information.advice.endswith("more cases of other people")


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1_000), cuts=st.lists(st.integers(0, 300), max_size=3))
def test_tallies_of_parts_merge_to_that_of_the_whole(seed, cuts):
    rng = np.random.default_rng(seed)
    true, decided, whose = rng.integers(0, 3, 300), rng.integers(0, 3, (2, 300)), rng.integers(-20, 40, 300)
    merged = CaseTally(3, 2)
    for start, stop in reversed([*pairwise([0, *sorted(cuts), 300])]):
        part = CaseTally(3, 2)
        part.update(true[start:stop], decided[:, start:stop], start, whose[start:stop])
        merged.merge(part)
    found, expected = merged.table(), case_table(true, decided, 3, whose)
    assert isinstance(found, CaseTable)
    assert found.people.total == len(np.unique(whose))
    np.testing.assert_array_equal(found.people.by_class, [len(np.unique(whose[true == label])) for label in range(3)])
    np.testing.assert_array_equal(found.decided, expected.decided)
    np.testing.assert_array_equal(found.cases, np.bincount(true, minlength=3))


@pytest.mark.parametrize("each", [1, 4])
def test_very_many_people_are_counted_by_a_sample_of_them(monkeypatch, each):
    monkeypatch.setattr("metrics.policies.cases._MOST_PEOPLE", 256)
    rng = np.random.default_rng(2)
    whose = np.repeat(rng.integers(0, 2**63, 20_000), each)
    order = rng.permutation(len(whose))
    true, decided = rng.integers(0, 2, len(whose)), np.zeros((1, len(whose)), dtype=np.int64)
    merged = CaseTally(2, 1)
    for start, stop in pairwise(range(0, len(whose) + 1, 5_000)):
        part = CaseTally(2, 1)
        rows = order[start:stop]
        part.update(true[rows], decided[:, rows], start, whose[rows])
        merged.merge(part)
    assert len(merged._people._all) <= 256
    if each == 1:
        assert merged.people is None
        return
    assert merged.people.total == pytest.approx(20_000, rel=0.25)
    assert merged.people.by_class == pytest.approx(20_000 * (1 - 0.5**4), rel=0.25)


@pytest.mark.filterwarnings("error")
def test_a_class_without_cases_is_no_matter():
    labels, models, whose = several(*people(100), 3)
    metric = ElicitedMetric.from_cost_matrix(["ill", "well", "odd"], [[0, 8, 8], [1, 0, 1], [2, 2, 0]])
    proba = {"a": np.column_stack([models["a"], np.zeros(len(labels))])}
    judgement = judge(metric, labels, proba, groups=whose)
    assert np.isfinite(judgement.drawn.both).all()
    assert judgement.people.by_class[2] == 0


def test_people_unknown_of_some_rows_are_unknown():
    true, decided = np.array([0, 1, 0, 1]), np.array([[0, 1, 1, 1]])
    tally = CaseTally(2, 1)
    tally.update(true, decided, 0, np.array([5, 5, 6, 6]))
    assert tally.people is not None
    tally.update(true, decided, 4)
    assert tally.people is tally.table().people is None


@pytest.mark.parametrize("groups", [np.arange(399), np.zeros((400, 2)), [None] * 400])
def test_groups_that_are_none_are_refused(groups):
    labels, models = people(400)
    with pytest.raises(InputError, match="groups"):
        judge(METRIC, labels, models, groups=groups)


@pytest.mark.parametrize("prevalence", [None, 0.1])
def test_bands_of_a_decision_curve_rest_on_people(prevalence):
    def width(labels, models, **more):
        chances = {name: proba[:, 0] for name, proba in models.items()}
        curve = decision_curve(labels, chances, pos_label="ill", prevalence=prevalence, **more)
        low, high = curve.band("a", "b")
        return float((high - low)[20])

    labels, models = people(1_500)
    repeated, copies, whose = several(labels, models, 5)
    once = width(labels, models)
    assert width(repeated, copies, groups=whose) == pytest.approx(once, rel=0.15)
    assert width(repeated, copies) == pytest.approx(once / np.sqrt(5), rel=0.15)
    assert width(labels, models, groups=np.arange(1_500)) == once
