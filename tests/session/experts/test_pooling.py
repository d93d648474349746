"""Laws of pooling: identical experts, order, scale and yardstick do not matter; ratios are geometric means."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from elicit_app.problem import Problem
from elicit_app.session.experts.pooling import Source, aligned, pool
from metrics import ElicitedMetric, Provenance, Quality, Tally

CLASSES = ("red", "yellow", "green")
OFF = ~np.eye(3, dtype=bool)
COSTS = arrays(np.float64, 6, elements=st.floats(0.01, 1.0))


def metric(costs, name="Ada", *, classes=CLASSES, draws=0, **details):
    rng = np.random.default_rng(len(name))
    samples = -np.array(costs) * np.exp(0.2 * rng.standard_normal((draws, 6))) if draws else None
    intervals = np.zeros((3, 3, 2)) if draws else None
    if draws:
        relative = -samples / -samples[:, [int(np.argmax(costs))]]
        intervals[OFF] = np.quantile(relative, (0.05, 0.95), axis=0).T
    provenance = Provenance(procedure="bayes", questions=12, expert=name, answers_digest=name.lower())
    details = {"yardstick": ("green", "red"), "provenance": provenance} | details
    made = ElicitedMetric.from_weights(
        classes, -np.array(costs), "lpm", name=name, samples=samples, intervals=intervals, **details
    )
    return Source(f"{name}.metric.json", made)


ONE, OTHER = (1.0, 0.8, 0.1, 0.2, 0.05, 0.02), (0.4, 1.0, 0.05, 0.4, 0.1, 0.1)


@settings(max_examples=30)
@given(first=COSTS, second=COSTS)
def test_every_ratio_is_the_geometric_mean_of_theirs(first, second):
    pooled = pool([metric(first), metric(second, "Ben")]).cost_matrix[OFF]
    for i in range(6):
        for j in range(6):
            expected = np.sqrt(first[i] / first[j] * second[i] / second[j])
            assert pooled[i] / pooled[j] == pytest.approx(expected)


@settings(max_examples=30)
@given(costs=COSTS, scale=st.floats(0.01, 100))
def test_experts_of_one_mind_pool_to_that_whatever_their_scale(costs, scale):
    pooled = pool([metric(costs), metric(scale * costs, "Ben"), metric(costs, "Cleo")])
    assert pooled.cost_matrix == pytest.approx(metric(costs).metric.cost_matrix)


def test_the_order_of_experts_does_not_change_the_costs():
    sources = [metric(ONE), metric(OTHER, "Ben"), metric((0.3, 0.1, 1, 0.2, 0.2, 0.2), "Cleo")]
    assert pool(sources).cost_matrix == pytest.approx(pool(sources[::-1]).cost_matrix)


def test_classes_in_another_order_are_brought_into_the_first_ones():
    order = [2, 0, 1]
    table = np.zeros((3, 3))
    table[OFF] = OTHER
    turned = metric(table[np.ix_(order, order)][OFF], "Ben", classes=tuple(CLASSES[i] for i in order), draws=50)
    plain = metric(OTHER, "Ben", draws=50)
    pooled, expected = pool([metric(ONE), turned]), pool([metric(ONE), plain])
    assert pooled.classes == CLASSES
    assert pooled.cost_matrix == pytest.approx(expected.cost_matrix)
    back = aligned([metric(ONE), turned])[1].metric
    assert back.cost_matrix == pytest.approx(plain.metric.cost_matrix)


def test_other_classes_are_refused_in_words():
    other = metric(ONE, "Ben", classes=("red", "yellow", "blue"), yardstick=None)
    with pytest.raises(Problem, match=r"Ben.metric.json is about the classes red, yellow, blue, but Ada.metric.json"):
        pool([metric(ONE), other])
    with pytest.raises(Problem, match="at least two"):
        pool([metric(ONE)])


def test_the_same_answers_count_once():
    with pytest.raises(Problem, match="hold the same answers"):
        pool([metric(ONE), replace(metric(ONE), name="copy.metric.json")])


def test_families_meet_where_mistakes_are_told_apart():
    coarse = ElicitedMetric.from_weights(CLASSES, (0.5, 0.3, 0.2), "dlpm", yardstick=("green", "red"))
    both = pool([metric(ONE), Source("Ben", coarse)])
    assert both.family == "lpm"
    assert both.cost_matrix[0, 1] / both.cost_matrix[0, 2] == pytest.approx(np.sqrt(1.0 / 0.8))
    finer = ElicitedMetric.from_weights(CLASSES, (0.2, 0.3, 0.5), "dlpm")
    same = pool([Source("Ben", coarse), Source("Cleo", finer)])
    assert same.family == "dlpm"
    assert same.weights[0] == pytest.approx(same.weights[2])


def test_draws_are_pooled_where_all_have_them_and_what_is_open_stays_open():
    sources = [metric(ONE, draws=400), metric(OTHER, "Ben", draws=300)]
    pooled = pool(sources)
    assert pooled.samples.shape == (300, 6)
    low, high = pooled.intervals[..., 0], pooled.intervals[..., 1]
    assert (low <= pooled.cost_matrix + 1e-9).all()
    assert (pooled.cost_matrix <= high + 1e-9).all()
    # The spread of a mean of two independent logarithms is smaller than theirs.
    alone = sources[0].metric.intervals[..., 1][OFF] / sources[0].metric.intervals[..., 0][OFF]
    assert np.median(high[OFF] / low[OFF]) < np.median(alone)
    open_ended = sources[1].metric.intervals.copy()
    open_ended[0, 2] = (0.3, np.inf)
    opened = pool([sources[0], Source("Ben", replace(sources[1].metric, intervals=open_ended))])
    assert np.isinf(opened.intervals[0, 2, 1])
    assert pool([sources[0], metric(OTHER, "Ben")]).samples is None


def test_the_yardstick_costs_something_to_everybody():
    free = (1.0, 0.8, 0.1, 0.2, 0.0, 0.02)
    assert pool([metric(ONE), metric(free, "Ben")]).yardstick == ("red", "yellow")
    with pytest.raises(Problem, match="no common yardstick"):
        pool([metric((1, 0, 0, 0, 0, 0)), metric((0, 1, 0, 0, 0, 0), "Ben")])


def test_a_pooled_file_names_what_it_is_made_of_and_can_be_read_again(tmp_path):
    quality = Quality(repeats_agreed=Tally(2, 3))
    sources = [metric(ONE, draws=40, quality=quality), metric(OTHER, "Ben", draws=40, quality=quality)]
    made = pool(sources)
    made.save(tmp_path / "both.metric.json")
    again = ElicitedMetric.load(tmp_path / "both.metric.json")
    assert again.provenance.procedure == "pooled"
    assert again.provenance.expert == "Ada, Ben"
    assert again.provenance.questions == 24
    assert again.quality.repeats_agreed == Tally(4, 6)
    assert [part["source"] for part in again.provenance.parameters["of"]] == ["Ada.metric.json", "Ben.metric.json"]
    assert again.provenance.parameters["pooled_by"] == "geometric mean of the cost ratios"
    pool(sources).save(tmp_path / "again.metric.json")
    assert (tmp_path / "again.metric.json").read_bytes() == (tmp_path / "both.metric.json").read_bytes()


def test_what_each_experts_own_numbers_explained_is_not_claimed_for_the_pooled_ones():
    quality = Quality(answers_explained=Tally(12, 12), held_out_agreement=Tally(9, 10))
    made = pool([metric(ONE, quality=quality), metric(OTHER, "Ben", quality=quality)])
    assert made.quality == Quality()


def test_the_report_names_who_was_pooled():
    from metrics.exports import export

    page = export(pool([metric(ONE), metric(OTHER, "Ben")]), "markdown")
    assert "Ada (12 answers, Ada.metric.json), Ben (12 answers, Ben.metric.json)" in page
    assert "several experts pooled, 24 answers" in page
    assert "{" not in page
