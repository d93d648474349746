"""Laws of pooling: experts of one mind, order, scale and yardstick do not matter; else ratios are geometric means."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from elicit_app.elicitation.prior import WeightPrior
from elicit_app.problem import Problem
from elicit_app.session import one_belief
from elicit_app.session.one_belief import opposed_pairs
from elicit_app.session.pooling import Source, aligned, doubts, pool, select_sources
from metrics import ElicitedMetric, Provenance, Quality, Tally, exchange_rates
from metrics.elicited.exchange import scale_of_ranges
from metrics.elicited.family import family_of
from metrics.elicited.metric_parts import (
    AGAINST_AN_ORDER,
    AGAINST_AN_ORDER_AMONG,
    DEVIATIONS,
    UNTRUSTED,
    UNTRUSTED_AMONG,
)
from metrics.exports.metric_page import metric_page
from metrics.exports.page import page_as_markdown
from metrics.text import two_digits

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


SIX = ("red as yellow", "red as green", "yellow as red", "yellow as green", "green as red", "green as yellow")
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


def test_if_all_know_only_ratios_to_the_yardstick_so_does_the_pool():
    """Its cost relative to the worst is open for both, and so is the ratio of the worst to it."""

    def to_the_yardstick(source):
        ends = np.stack([source.metric.cost_matrix / 2, source.metric.cost_matrix * 2], axis=-1)
        ends[2, 0] = source.metric.cost_matrix[2, 0]
        ends[0, 1, 1] = np.inf
        return Source(source.name, replace(source.metric, intervals=ends))

    ada, ben = (metric(ONE, name, draws=400) for name in ("Ada", "Ben"))
    pooled = pool([to_the_yardstick(ada), to_the_yardstick(ben)])
    assert scale_of_ranges(pooled) == "Ranges take the cost of green called red as exact."
    assert [rate.bounded for rate in exchange_rates(pooled)] == [True] + [False] * 5
    for sources in ([ada, ben], [to_the_yardstick(ada), ben]):
        assert scale_of_ranges(pool(sources)) == ""
        assert not any(rate.bounded for rate in exchange_rates(pool(sources)))


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


def test_who_finds_wrong_answers_for_the_same_truth_equally_bad_is_pooled_with_who_does_not():
    rng, rows = np.random.default_rng(3), np.array([1.0, 0.3, 0.1])
    draws = rows * np.exp(0.2 * rng.standard_normal((400, 3)))
    coarse = ElicitedMetric.from_weights(CLASSES, rows / rows.sum(), "dlpm", samples=draws)
    experts = [metric(np.repeat(rows, 2), draws=400), Source("Ben", coarse)]
    for sources in (experts, experts[::-1]):
        made = pool(sources)
        assert made.provenance.parameters["pooled_by"].startswith("one belief")
        np.testing.assert_allclose(made.cost_matrix[OFF], np.repeat(rows, 2), rtol=0.25)
        assert made.provenance.parameters["spread_between_experts"][0] <= 0.25


def test_with_draws_experts_are_one_belief_and_what_all_leave_open_stays_open():
    sources = [metric(ONE, draws=400), metric(ONE, "Ben", draws=300)]
    made = pool(sources)
    assert made.provenance.parameters["pooled_by"].startswith("one belief")
    low, high = made.intervals[..., 0], made.intervals[..., 1]
    assert (low <= made.cost_matrix + 1e-9).all()
    assert (made.cost_matrix <= high + 1e-9).all()
    np.testing.assert_allclose(made.cost_matrix, sources[0].metric.cost_matrix, rtol=0.25)
    tau, *ends = made.provenance.parameters["spread_between_experts"]
    assert ends[0] <= tau <= ends[1]
    assert tau <= 0.25
    usual, low, high = (two_digits(np.exp(one)) for one in (tau, *ends))
    said = f"two in three costs of an expert are within a factor of {usual} of the group's (plausible: {low} to {high})"
    assert said in page_as_markdown(metric_page(made))
    apart = pool([sources[0], metric(OTHER, "Ben", draws=300)]).provenance.parameters["spread_between_experts"]
    assert apart[0] > tau
    opened = [Source(one.name, replace(one.metric, intervals=with_an_open_end(one.metric))) for one in sources]
    assert np.isinf(pool(opened).intervals[0, 2, 1])
    assert np.isfinite(pool([sources[0], opened[1]]).intervals[0, 2, 1])
    assert pool([sources[0], metric(OTHER, "Ben")]).samples is None


def test_a_group_that_told_nothing_expects_of_a_rare_class_what_each_expects():
    shares = np.array([0.01, 0.6, 0.39])
    prior = WeightPrior.of("lpm", 3, shares=shares)
    sources = []
    for seed, name in enumerate(("Ada", "Ben", "Cleo")):
        draws = np.random.default_rng(seed).multivariate_normal(prior.centre, prior.covariance, 400)
        source = metric(np.exp(prior.centre), name, prevalence=shares)
        sources.append(Source(source.name, replace(source.metric, samples=-np.exp(draws))))
    made = pool(sources).cost_matrix
    assert made[0, 1] > 3 * made[1, 0]


@pytest.mark.parametrize(("end", "left_open"), [(0, 0.0), (1, np.inf)])
def test_an_end_is_open_in_the_pool_where_everybody_leaves_it_open_and_only_there(end, left_open):
    def opened(source):
        ends = source.metric.intervals.copy()
        ends[0, 2, end] = left_open
        return Source(source.name, replace(source.metric, intervals=ends))

    ada, ben = metric(ONE, draws=400), metric(ONE, "Ben", draws=300)
    assert pool([opened(ada), opened(ben)]).intervals[0, 2, end] == left_open
    for one, other in ((opened(ada), ben), (ada, opened(ben))):
        assert 0 < pool([one, other]).intervals[0, 2, end] < np.inf


@pytest.mark.parametrize(
    "others", [[(0.5, 0.3, 0.2), (0.2, 0.3, 0.5)], [(0.5, 0.3, 0.2), None], [None, (0.5, 0.3, 0.2)]]
)
def test_a_prevalence_that_is_not_everybodys_is_nobodys(others):
    shares = [(0.5, 0.3, 0.2), *others]
    sources = [metric(ONE, name, prevalence=share) for name, share in zip(("Ada", "Ben", "Cleo"), shares, strict=True)]
    assert pool(sources).prevalence is None
    assert pool([sources[0], metric(OTHER, "Dan", prevalence=shares[0])]).prevalence == pytest.approx(shares[0])


def test_two_pairs_of_three_the_other_way_round_are_not_most():
    def classes(weights, name):
        return ElicitedMetric.from_weights(CLASSES, weights, "dlpm", name=name)

    ada = classes([1, 10, 100], "Ada")
    assert opposed_pairs([ada, classes([10, 100, 1], "Ben")]) == ()
    assert opposed_pairs([ada, classes([100, 10, 1], "Cleo")]) == ((0, 1),)


def with_an_open_end(made):
    ends = made.intervals.copy()
    ends[0, 2] = (ends[0, 2, 0], np.inf)
    return ends


def test_who_is_known_more_exactly_counts_for_more():
    vague = metric(OTHER, "Ben", draws=400)
    wide = vague.metric.samples * np.exp(np.random.default_rng(5).standard_normal((400, 6)))
    made = pool([metric(ONE, draws=400), Source("Ben", replace(vague.metric, samples=wide))])
    shares = [one["share"] for one in made.provenance.parameters["of"]]
    assert shares[0] > shares[1]
    assert sum(shares) == pytest.approx(1, abs=0.01)


def test_who_contradicts_themselves_or_another_is_named():
    reverse = tuple(1 / np.array(ONE))
    people = [metric(ONE, draws=300), metric(reverse, "Ben", draws=300, quality=Quality(provisional=UNTRUSTED))]
    said = doubts([one.metric for one in aligned(people)], ["Ada", "Ben"], of=SIX)
    assert len(said) == 2
    assert "answers of Ben do not hang together" in said[0]
    assert "Ada and Ben order the mistakes in opposite ways" in said[1]
    alike = [one.metric for one in aligned([people[0], metric(ONE, "Cleo", draws=300)])]
    assert doubts(alike, ["Ada", "Cleo"], of=SIX) == ()


def test_of_many_opposed_experts_three_pairs_are_named_and_who_is_not_trusted_in_one_sentence():
    quality = Quality(provisional=UNTRUSTED)
    ones = [metric(ONE, name, draws=300, quality=quality) for name in ("Ada", "Ben", "Cleo")]
    others = [metric(tuple(1 / np.array(ONE)), name, draws=300) for name in ("Dan", "Eve")]
    names = ["Ada", "Ben", "Cleo", "Dan", "Eve"]
    said = doubts([one.metric for one in aligned([*ones, *others])], names, of=SIX)
    assert said[0] == "The answers of Ada, Ben and Cleo do not hang together; they are pooled all the same."
    assert "and so do Ada and Eve; Ben and Dan; 3 other pairs: the pooled costs lie in between" in said[1]
    four = doubts([one.metric for one in aligned([*ones[1:], *others])], names[1:], of=SIX)
    assert "and so do Ben and Eve; Cleo and Dan; 1 other pair: the pooled costs lie in between" in four[1]


def test_who_contradicts_an_order_that_was_stated_is_named_and_left_out_on_request():
    against = metric(ONE, "Ben", draws=300, quality=Quality(provisional=AGAINST_AN_ORDER))
    people = [metric(ONE, draws=300), against, metric(ONE, "Cleo", draws=300)]
    said = doubts([one.metric for one in people], ["Ada", "Ben", "Cleo"], of=SIX)
    assert said == ("The answers of Ben contradict an order that was stated; they are pooled all the same.",)
    kept, notes = select_sources(people, trusted_only=True)
    assert [one.who for one in kept] == ["Ada", "Cleo"]
    assert notes == ("Left out: Ben, because the answers contradict an order that was stated.",)
    pooled = pool(people[:2])
    assert pooled.quality.provisional == AGAINST_AN_ORDER_AMONG
    assert doubts([pooled], ["Ben"], of=SIX) == said, "whoever is behind a pool is as little trusted"
    careless = metric(ONE, "Dan", draws=300, quality=Quality(provisional=UNTRUSTED))
    assert pool([*people[:2], careless]).quality.provisional == UNTRUSTED_AMONG


def test_a_pool_of_opposed_experts_says_so_wherever_it_goes():
    two = [metric(ONE, draws=300), metric(tuple(1 / np.array(ONE)), "Ben", draws=300)]
    opposed = pool(two)
    said = doubts([one.metric for one in two], ["Ada", "Ben"], opposed, of=SIX)
    assert said == doubts([one.metric for one in two], ["Ada", "Ben"], of=SIX)
    assert said[0].startswith("Ada and Ben order the mistakes in opposite ways")
    assert opposed.quality.caveat == "The numbers are provisional: experts of opposed values are pooled in them."
    assert pool([metric(ONE, draws=300), metric(OTHER, "Ben", draws=300)]).quality.caveat == ""
    careless = metric(OTHER, "Ben", draws=300, quality=Quality(provisional=UNTRUSTED))
    found = pool([metric(ONE, draws=300), careless]).quality
    assert found.caveat == "The numbers are provisional: answers that do not hang together are pooled in them."


def test_of_many_mistakes_only_those_that_both_tell_apart_make_experts_opposed():
    def vague(source, seed):
        blur = np.exp(1.2 * np.random.default_rng(seed).standard_normal(source.metric.samples.shape))
        return replace(source.metric, samples=source.metric.samples * blur)

    reverse = metric(tuple(1 / np.array(ONE)), "Ben", draws=400)
    assert opposed_pairs([vague(metric(ONE, draws=400), 1), vague(reverse, 2)]) == ((0, 1),)
    assert opposed_pairs([vague(metric(ONE, draws=400), 1), vague(metric(ONE, "Cleo", draws=400), 3)]) == ()
    milder = tuple(np.array(ONE) ** 0.3)
    assert opposed_pairs([metric(ONE, draws=400).metric, metric(milder, "Dan", draws=400).metric]) == ()


def test_who_matters_most_is_named():
    minds = [metric(ONE, name, draws=300) for name in ("Ada", "Ben")] + [metric(tuple(ONE[::-1]), "Cleo", draws=300)]
    said = doubts([one.metric for one in aligned(minds)], ["Ada", "Ben", "Cleo"], of=SIX)
    assert f"Leaving out Cleo would change most: the pooled ratio of {SIX[5]} to {SIX[0]}, by a factor of" in said[-1]


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
    assert again.provenance.parameters["pooled_by"] == "one belief: log-costs of experts around those of the group"
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


def test_a_provisional_metric_without_draws_makes_the_pool_provisional():
    short = Quality(provisional="the questions ended before the costs were known")
    for draws in (0, 50):
        pooled = pool([metric(ONE, draws=draws), metric(OTHER, "Ben", draws=draws, quality=short)])
        assert (pooled.quality.provisional is None) is bool(draws), "ranges speak for themselves"
    assert pool([metric(ONE), metric(OTHER, "Ben")]).quality.provisional is None


@pytest.mark.parametrize("both", [True, False])
def test_an_experts_own_piles_are_what_was_believed_before_the_answers(both):
    mistakes = [{"true": "red", "predicted": "yellow"}, {"true": "red", "predicted": "green"}]
    stated, usual, own = (
        {"piles": [{"name": "mild", "mistakes": mistakes}]},
        WeightPrior.of("lpm", 3),
        WeightPrior.of("lpm", 3, piles=[[(0, 1), (0, 2)]]),
    )
    metrics = [
        metric(ONE, name, draws=60, provenance=Provenance(procedure="bayes", parameters=said)).metric
        for name, said in (("Ada", stated), ("Ben", stated if both else {}))
    ]
    experts = one_belief._experts(metrics)
    for expert, expected in zip(experts, (own, own if both else usual), strict=True):
        np.testing.assert_array_equal(expert.prior.covariance, expected.covariance)
    common, expected = one_belief._common_prior(experts, metrics), own if both else usual
    np.testing.assert_array_equal(common.covariance, expected.covariance, "what all of them said counts once")


IN_ORDER = {"ordered": ["red", "yellow", "green"]}
LESSER = [{"mistake": {"true": "red", "predicted": "yellow"}, "than": {"true": "yellow", "predicted": "red"}}]


@pytest.mark.parametrize(
    ("said", "stated"),
    [
        ((IN_ORDER, IN_ORDER), 4),
        ((IN_ORDER, {**IN_ORDER, "never_worse": LESSER}), 4),
        ((IN_ORDER, {}), 0),
        (({"never_worse": LESSER}, {"never_worse": LESSER}), 1),
        (({"ordered": ["red", "blue", "green"]}, IN_ORDER), 0),
        (({"ordered": 7}, IN_ORDER), 0),
    ],
)
def test_orders_that_all_experts_stated_are_believed_before_the_answers(said, stated):
    metrics = [
        metric(ONE, name, draws=60, provenance=Provenance(procedure="bayes", parameters=parameters)).metric
        for name, parameters in zip(("Ada", "Ben"), said, strict=True)
    ]
    experts = one_belief._experts(metrics)
    assert [
        len(prior.order) for prior in (*(one.prior for one in experts), one_belief._common_prior(experts, metrics))
    ] == [stated] * 3


def test_a_pool_of_experts_who_stated_an_order_keeps_it():
    provenance = Provenance(procedure="bayes", parameters=IN_ORDER)
    found = pool([metric(one, name, draws=60, provenance=provenance) for one, name in ((ONE, "Ada"), (OTHER, "Ben"))])
    costs = found.cost_samples
    assert (costs[:, 0, 1] <= costs[:, 0, 2]).all()
    assert (costs[:, 2, 1] <= costs[:, 2, 0]).all()


EIGHTEEN = tuple(f"class {number:02d}" for number in range(18))


def of_many_classes(name, seed, *, never=(), **parameters):
    """Return a metric of 306 mistakes with 300 draws, of which an expert knows all that are not in `never`."""
    rng, m = np.random.default_rng(seed), 18 * 17
    mistakes = [(true, predicted) for true in EIGHTEEN for predicted in EIGHTEEN if true != predicted]
    spread = np.where([mistake in never for mistake in mistakes], 1.2, 0.3)
    truth = 1.2 * np.random.default_rng(0).standard_normal(m)
    logs = truth * (spread < 1) + spread * rng.standard_normal((300, m))
    family = family_of("lpm")
    samples = family.normalise(-np.exp(logs))
    costs = family.costs(-np.exp(np.median(logs, axis=0)))
    relative = np.exp(logs - logs[:, [int(costs[~np.eye(18, dtype=bool)].argmax())]])
    ends = np.quantile(relative, (0.05, 0.95), axis=0)
    ends[:, spread > 1] = np.array([[0.0], [np.inf]])
    intervals = np.zeros((18, 18, 2))
    intervals[~np.eye(18, dtype=bool)] = ends.T
    return Source(
        f"{name}.metric.json",
        ElicitedMetric.from_weights(
            EIGHTEEN,
            family.of_errors(-costs),
            "lpm",
            name=name,
            samples=samples,
            intervals=np.stack([np.minimum(intervals[..., 0], costs), np.maximum(intervals[..., 1], costs)], axis=-1),
            yardstick=(EIGHTEEN[0], EIGHTEEN[1]),
            provenance=Provenance(procedure="bayes", expert=name, answers_digest=name.lower(), parameters=parameters),
            quality=Quality(never_asked=tuple(never)),
        ),
    )


class TestManyClasses:
    UNASKED = tuple((EIGHTEEN[true], EIGHTEEN[predicted]) for true in (3, 4) for predicted in range(9, 18))

    def pooled(self):
        more = (*self.UNASKED, (EIGHTEEN[5], EIGHTEEN[6]))
        return pool([of_many_classes("Ada", 1, never=self.UNASKED), of_many_classes("Ben", 2, never=more)])

    def test_they_are_pooled_in_one_belief_with_its_doubt(self):
        found = self.pooled()
        assert found.provenance.parameters["pooled_by"] == "one belief: log-costs of experts around those of the group"
        assert found.samples is not None
        rates = {rate.key: rate for rate in exchange_rates(found)}
        known = rates[family_of("lpm").mistake_at(5, 6)].range_90
        assert known is not None
        assert known[0] > 0
        assert np.isfinite(known[1])

    def test_what_nobody_was_asked_about_is_marked_and_not_known(self):
        found = self.pooled()
        assert found.quality.never_asked == self.UNASKED
        rates = {rate.key: rate for rate in exchange_rates(found)}
        assert rates[family_of("lpm").mistake_at(3, 12)].range_90 == (0.0, np.inf)

    def test_the_deviations_that_were_learned_are_the_prior_of_an_expert(self):
        learned, usual, odd = (
            one_belief._prior(of_many_classes("Ada", 1, **said).metric, ())
            for said in ({DEVIATIONS: [0.5, 0.4, 0.6]}, {}, {DEVIATIONS: ["much"]})
        )
        expected = 0.5**2 + 0.4**2 + 0.6**2
        assert learned.covariance[0, 0] == pytest.approx(expected)
        np.testing.assert_array_equal(odd.covariance, usual.covariance)
        few = one_belief._prior(of_many_classes("Ada", 1, **{DEVIATIONS: [0.5]}).metric, ())
        np.testing.assert_array_equal(few.covariance, usual.covariance, "one for each part was expected")
