"""Laws of other prevalences: today's own gives today's numbers, classes may be renamed, only shares change."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from elicit_app.session.result import scenarios_of
from elicit_app.session.scenarios import stretches_of
from elicit_app.study import open_study
from elicit_app.study.model import Predictions
from metrics import ElicitedMetric, confusion_matrix, meta_pattern_concern_score

COSTS = np.array([[0, 1.0, 0.8], [0.1, 0, 0.2], [0.05, 0.02, 0]])
OFF = ~np.eye(3, dtype=bool)
SHARES = arrays(np.float64, 3, elements=st.floats(0.01, 1.0))


@pytest.fixture(scope="module")
def traffic():
    return open_study("traffic-light")


def metric_of(study, draws=200):
    rng = np.random.default_rng(1)
    samples = -COSTS[OFF] * np.exp(0.4 * rng.standard_normal((draws, 6)))
    return ElicitedMetric.from_weights(study.classes, -COSTS[OFF], "lpm", samples=samples, yardstick=named(study))


def named(study):
    return tuple(study.classes[i] for i in study.yardstick)


def made(study, metric=None):
    return scenarios_of(study, metric or metric_of(study))


def models_at(scenarios, shares=None):
    return scenarios.models(scenarios.judgement(shares))


def by_name(views):
    return {view.name: view for view in views}


def test_the_own_prevalence_gives_todays_numbers(traffic):
    scenarios, metric = made(traffic), metric_of(traffic)
    shares = np.bincount(traffic.models[0].y_true, minlength=3)
    views = by_name(models_at(scenarios, shares))
    unit, weight = COSTS[traffic.yardstick], np.array([1.0, 0.2, 0.05])
    for model in traffic.models:
        view = views[model.name]
        decided = model.y_proba.argmax(axis=1)
        table = np.asarray(confusion_matrix(model.y_true, decided)) / len(decided)
        assert view.judged.cost_per_population == pytest.approx(
            traffic.population * (table * COSTS).sum() / unit, rel=1e-12
        )
        assert view.accuracy == pytest.approx((decided == model.y_true).mean(), rel=1e-12)
        concern = meta_pattern_concern_score(
            model.y_true, model.y_proba, release_factors=metric.release_factors(), sample_weight=weight[model.y_true]
        )
        assert view.mpcs == pytest.approx(float(concern), rel=1e-9)
    judgement = scenarios.judgement()
    as_is = [one for one in judgement.policies if one.policy.decides == "as-is"]
    for one, other in zip(models_at(scenarios), as_is, strict=True):
        assert (one.name, one.judged.cost_per_population) == (other.policy.model, other.cost_per_population)


@settings(max_examples=20, deadline=None)
@given(shares=SHARES)
def test_another_prevalence_is_what_counting_such_cases_would_give(traffic, shares):
    """Stated as the study's prevalence, the same shares give the same figures."""
    stated = replace(traffic, stated_prevalence=tuple(shares / shares.sum()))
    metric = metric_of(traffic)
    expected = models_at(made(stated, metric))
    for one, other in zip(models_at(made(traffic, metric), shares), expected, strict=True):
        assert (one.name, one.judged.rank) == (other.name, other.judged.rank)
        assert one.judged.cost_per_population == pytest.approx(other.judged.cost_per_population, rel=1e-9)
        assert one.mpcs == pytest.approx(other.mpcs, rel=1e-9)
        assert one.judged.probability_best == pytest.approx(other.judged.probability_best)
        assert np.array_equal(one.judged.counts, other.judged.counts)


@settings(max_examples=20, deadline=None)
@given(shares=SHARES, order=st.permutations(range(3)))
def test_the_order_of_the_classes_does_not_matter(traffic, shares, order):
    order = list(order)
    place = np.argsort(order)
    models = tuple(Predictions(one.name, place[one.y_true], one.y_proba[:, order]) for one in traffic.models)
    yardstick = tuple(int(place[i]) for i in traffic.yardstick)
    classes = tuple(traffic.classes[i] for i in order)
    turned = replace(traffic, classes=classes, models=models, yardstick=yardstick)
    metric = ElicitedMetric.from_cost_matrix(classes, COSTS[np.ix_(order, order)], yardstick=named(traffic))
    plain = ElicitedMetric.from_cost_matrix(traffic.classes, COSTS, yardstick=named(traffic))
    there, here = (
        by_name(models_at(made(turned, metric), shares[order])),
        by_name(models_at(made(traffic, plain), shares)),
    )
    for name, view in here.items():
        # other draws: where the range of the difference ends near 0 the rank is a matter of chance
        if abs(view.judged.difference_interval[0]) > 0.05 * view.judged.cost_per_population:
            assert there[name].judged.rank == view.judged.rank
        assert there[name].judged.cost_per_population == pytest.approx(view.judged.cost_per_population, rel=1e-9)
        assert there[name].mpcs == pytest.approx(view.mpcs, rel=1e-9)


@given(shares=SHARES, true=st.integers(0, 2), share=st.floats(0.001, 0.999))
@settings(max_examples=40, deadline=None)
def test_one_share_changes_and_the_others_keep_their_proportions(traffic, shares, true, share):
    scenarios = made(traffic, ElicitedMetric.from_cost_matrix(traffic.classes, COSTS))
    after = scenarios.with_share(shares, true, share)
    assert after.sum() == pytest.approx(1)
    assert after[true] == share
    one, other = (i for i in range(3) if i != true)
    assert after[one] * shares[other] == pytest.approx(after[other] * shares[one])
    assert scenarios.with_share(after, true, shares[true] / shares.sum()) == pytest.approx(shares / shares.sum())
    assert sum(scenarios.cases(after)) == traffic.population


@given(shares=SHARES, own=st.booleans(), counted=st.booleans())
@settings(max_examples=30, deadline=None)
def test_costs_without_draws_are_those_of_the_judgement(traffic, shares, own, counted):
    """Of every policy, corrected ones included, where the study itself states another prevalence, too."""
    study = traffic if counted else replace(traffic, stated_prevalence=(0.1, 0.3, 0.6))
    scenarios = made(study, ElicitedMetric.from_cost_matrix(study.classes, COSTS))
    shares = scenarios.own if own else shares / shares.sum()
    policies, costs = scenarios.costs.at(shares)
    judged = {one.name: one.cost_per_population for one in scenarios.judgement(shares).policies}
    names = [policy.name for policy in policies]
    assert dict(zip(names, study.population * costs, strict=True)) == pytest.approx(judged)


@pytest.mark.parametrize("name", ["traffic-light", "breast-cancer", "wine", "digits"])
def test_what_is_named_along_a_share_is_what_would_be_recommended(name):
    study, rng = open_study(name), np.random.default_rng(4)
    costs = np.exp(rng.standard_normal((study.n_classes,) * 2)) * (1 - np.eye(study.n_classes))
    scenarios = made(study, ElicitedMetric.from_cost_matrix(study.classes, costs))

    def named(policy):
        return policy.model if policy.predicted is None else scenarios.judge.words.following(policy.predicted)

    for true in (0, 1):
        stretches = scenarios.cheapest(scenarios.own, true, 0.01, 0.9)
        assert (stretches[0].low, stretches[-1].high) == (0.01, 0.9)
        assert all(one.high == then.low and one.names != then.names for one, then in pairwise(stretches))
        for stretch in stretches:
            shares = scenarios.with_share(scenarios.own, true, (stretch.low + stretch.high) / 2)
            found = scenarios.judgement(shares).policies
            least = min(one.cost_per_population for one in found if named(one.policy) in stretch.names)
            assert least <= 1.01 * found[0].cost_per_population  # between the shares that were looked up


@given(costs=arrays(np.float64, st.tuples(st.integers(2, 12), st.integers(1, 4)), elements=st.floats(1.0, 1.1)))
def test_what_costs_least_is_named_at_every_share(costs):
    at, names = np.linspace(0.1, 0.9, len(costs)), tuple("ABCD"[: costs.shape[1]])
    stretches = stretches_of(at, names, costs)
    assert (stretches[0].low, stretches[-1].high) == (0.1, 0.9)
    assert all(one.high == then.low and one.names != then.names for one, then in pairwise(stretches))
    for share, of_all in zip(at, costs, strict=True):
        inside = [one for one in stretches if one.low - 1e-9 <= share <= one.high + 1e-9]
        named = {name for one in inside for name in one.names}
        assert min(of_all[names.index(name)] for name in named) <= of_all.min() * (1 + 1e-9)


def test_what_changes_places_at_random_is_about_equal():
    camera, lamp = [1.0, 1.0, 1.001, 1.0, 1.002, 1.0], [1.1, 1.001, 1.0, 1.003, 1.0, 1.2]
    at = np.linspace(0.1, 0.6, 6)
    stretches = stretches_of(at, ("camera", "lamp"), np.array([camera, lamp]).T)
    assert [one.name for one in stretches] == ["camera", "camera or lamp", "camera"]
    assert stretches[1].low == pytest.approx(0.1 + 0.1 * 0.05 / 0.099)  # where the lamp costs 5 % more
    assert stretches[1].high == pytest.approx(0.5 + 0.1 * 0.048 / 0.198)
    once = stretches_of(at, ("camera", "lamp"), np.array([np.linspace(1, 2, 6), np.linspace(2, 1, 6)]).T)
    assert [(one.name, round(one.high, 9)) for one in once] == [("camera", 0.35), ("lamp", 0.6)]


def test_only_what_is_possible_is_taken(traffic):
    scenarios = made(traffic)
    for wrong in (0, 1, -0.2, float("nan")):
        with pytest.raises(ValueError, match="between 0 and 1"):
            scenarios.with_share(scenarios.own, 0, wrong)
    for shares in ((0, 0, 0), (1, -1, 1), (float("nan"), 1, 1)):
        with pytest.raises(ValueError, match="shares"):
            scenarios.judgement(shares)
    assert scenarios.with_share((0, 1, 0), 1, 0.5) == pytest.approx([0.25, 0.5, 0.25])


def test_a_class_without_cases_is_not_asked_about():
    study = open_study("traffic-light")
    models = tuple(
        Predictions(one.name, one.y_true[one.y_true != 1], one.y_proba[one.y_true != 1]) for one in study.models
    )
    scenarios = made(replace(study, models=models, yardstick=(2, 0)))
    assert scenarios.classes_with_cases == (0, 2)
    assert scenarios.own[1] == 0
    assert scenarios.with_share(scenarios.own, 0, 0.3) == pytest.approx([0.3, 0, 0.7])


def test_where_no_case_is_of_a_class_that_matters_there_is_no_concern_score(traffic):
    """As `elicit score` has it: a dash, not the 0 of a model that never errs."""
    costs = np.zeros((3, 3))
    costs[0, 1:] = 1.0
    scenarios = made(traffic, ElicitedMetric.from_cost_matrix(traffic.classes, costs))
    assert {one.mpcs for one in models_at(scenarios, [0, 0.5, 0.5])} == {None}
    assert None not in {one.mpcs for one in models_at(scenarios)}
