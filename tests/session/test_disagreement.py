"""Where experts are furthest apart: which ranges are plainly apart, and what is said of them."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from elicit_app.session.answered_again import since_first_round
from elicit_app.session.comparing import Expert, compare, wording_of
from elicit_app.session.disagreement import Disagreement, MistakeRates, furthest, rest_words, spread_words, widest
from elicit_app.session.pooling import Source
from elicit_app.study.model import Mistake
from metrics import Consequence, ElicitedMetric, exchange_rates
from metrics.elicited.exchange import ExchangeRate, rate_between
from metrics.elicited.family import LPM, MistakeKey
from metrics.text import two_digits

MISSED = Mistake("Missed melanoma", "missed melanoma", "missed melanomas")
NEEDLESS = Mistake("Needless excision", "needless excision", "needless excisions")
HARMLESS = Mistake("Harmless mix-up", "harmless mix-up", "harmless mix-ups")


def rates(true, mistake, *found, yardstick=False, plausible=True):
    words = Consequence(str(true), None, mistake.name, mistake.one, mistake.many)
    made = tuple(ExchangeRate(true, None, *one, yardstick, words, plausible=plausible) for one in found)
    return MistakeRates(mistake, made, made[0])


UNIT = rates(1, NEEDLESS, (1, 1, 1), (1, 1, 1), yardstick=True)


def said(mistakes, names, *, opposed=False):
    unit = next(one for one in mistakes if one.is_yardstick)
    return Disagreement(widest(mistakes), unit).in_words(names, opposed=opposed)


def test_a_difference_that_ranges_do_not_explain_comes_first():
    missed = rates(0, MISSED, (12.0, 6.0, 20.0), (2.0, 1.0, 4.0))
    harmless = rates(2, HARMLESS, (0.01, 0.001, 2.0), (0.5, 0.01, 3.0))
    headline, detail = said((missed, UNIT, harmless), ("Ada", "Ben"))
    assert headline == "They disagree most about missed melanomas"
    assert detail == (
        "For Ada one missed melanoma counts as much as 12 needless excisions, for Ben as much as 2: 6 times apart. "
        "Their plausible ranges do not meet, so this is a difference of opinion, not a lack of answers."
    )


def test_of_mistakes_that_are_not_listed_only_known_ratios_are_compared():
    near, same = rates(0, MISSED, (2.0, 1.5, 3.0), (4.0, 3.0, 6.0)), rates(2, HARMLESS, (3, 2, 4), (3, 2, 4))
    free = rates(2, HARMLESS, (0.0, 0.0, 0.0), (0.5, 0.4, 0.6))
    assert rest_words(()) == ""
    assert rest_words((near,)) == "1 other mistake: at most 2 times apart."
    assert rest_words((near, same)) == "2 other mistakes: at most 2 times apart."
    assert rest_words((same,)) == "1 other mistake: the same for all."
    assert rest_words((near, free)) == "2 other mistakes: at most 2 times apart, as far as that is known."
    assert rest_words((free,)) == "1 other mistake: too little is known to say how far apart they are."


def test_two_of_many_experts_seem_apart_more_easily_than_two():
    apart = (10.0, 5.0, 20.0), (2.0, 1.0, 4.0)
    between = (4.0, 2.0, 8.0)
    two, five = (rates(0, MISSED, *apart, *[between] * more) for more in (0, 3))
    assert (two.disjoint, five.disjoint) == (True, True)
    assert (two.plainly_apart, five.plainly_apart) == (True, False)
    headline, detail = said((five, rates(1, NEEDLESS, *[(1, 1, 1)] * 5, yardstick=True)), "ABCDE")
    assert headline == "No clear disagreement"
    assert "nearly meet, which may be chance, so more answers could bring them together" in detail
    assert furthest((five, rates(2, HARMLESS, *[(1, 0.1, 9)] * 4, (90.0, 70.0, 99.0))), 1)[0].mistake is HARMLESS


def test_one_of_many_mistakes_seems_apart_more_easily_than_the_only_one():
    only = rates(0, MISSED, (10.0, 5.0, 20.0), (2.0, 1.0, 4.0))
    assert (only.plainly_apart, replace(only, among=5).plainly_apart) == (True, True)
    assert (replace(only, among=11).plainly_apart, replace(only, among=89).plainly_apart) == (False, False)


def test_ranges_that_are_no_probabilities_are_apart_if_they_do_not_meet():
    nearly = (10.0, 5.0, 20.0), (4.8, 2.4, 4.9)
    assert rates(0, MISSED, *nearly, plausible=False).plainly_apart
    assert not rates(0, MISSED, *nearly).plainly_apart


def test_ranges_that_meet_are_no_clear_said():
    headline, detail = said((rates(0, MISSED, (4.0, 1.0, 9.0), (8.0, 2.0, 20.0)), UNIT), ("Ada", "Ben"))
    assert headline == "No clear disagreement"
    assert "For Ben one missed melanoma counts as much as 8 needless excisions, for Ada as much as 4" in detail
    assert "more answers could bring them together" in detail


def test_they_do_not_differ_most_about_what_is_only_bounded_for_one_of_them():
    bounded = rates(2, HARMLESS, (40.0, 0.19, math.inf), (0.1, 0.0, 11.0))
    known = rates(0, MISSED, (4.0, 1.0, 9.0), (8.0, 2.0, 20.0))
    headline, detail = said((bounded, known, UNIT), ("Ada", "Ben"))
    assert (headline, detail.split(".")[0]) == ("No clear disagreement", "They differ most about missed melanomas")
    headline, detail = said((bounded, UNIT), ("Ada", "Ben"))
    assert (headline, detail) == (
        "No clear disagreement",
        "For Ada one harmless mix-up counts as at least 0.19 needless excisions, for Ben as at most 11. Their "
        "plausible ranges meet, so more answers could bring them together.",
    )


def test_what_is_not_known_of_an_expert_is_said_as_such():
    vague, told = (8.0, 0.0, math.inf), (4.0, 1.0, 9.0)
    for found, known, unknown in (((told, vague), "Ada", "Ben"), ((vague, told), "Ben", "Ada")):
        _, detail = said((rates(0, MISSED, *found), UNIT), ("Ada", "Ben"))
        assert f"For {known} one missed melanoma counts as" in detail
        assert f"4 needless excisions, for {unknown} it is not known." in detail
    _, detail = said((rates(0, MISSED, vague, (1.0, 0.0, math.inf)), UNIT), ("Ada", "Ben"))
    assert "What one missed melanoma counts is not known for Ada nor for Ben." in detail


def test_experts_of_opposed_values_are_not_said_to_agree_where_ranges_meet():
    meeting = (rates(0, MISSED, (4.0, 1.0, 9.0), (8.0, 2.0, 20.0)), UNIT)
    headline, detail = said(meeting, ("Ada", "Ben"), opposed=True)
    assert headline == "They disagree about the order"
    assert "bring them together" not in detail


def test_ranges_that_touch_do_meet():
    touching = rates(0, MISSED, (12.0, 4.0, 20.0), (2.0, 1.0, 4.0))
    assert touching.disjoint is False
    assert rates(0, MISSED, (12.0, 4.01, 20.0), (2.0, 1.0, 4.0)).disjoint is True


def test_what_ranges_do_not_explain_is_shown_before_what_is_further_apart_and_in_study_order():
    clear = rates(3, MISSED, (12.0, 6.0, 20.0), (2.0, 1.0, 4.0))
    vague = [rates(n, HARMLESS, (0.001 * n, 1e-6, 2.0), (n + 1, 0.01, 90.0)) for n in (4, 5, 6)]
    assert furthest([*vague, clear], 2) == (vague[0], clear)
    assert furthest([clear, *vague], 2) == (clear, vague[0])
    assert furthest([clear, *vague], 9) == (clear, *vague)


def test_without_ranges_nobody_knows():
    headline, detail = said((rates(0, MISSED, (4.0, None, None), (8.0, 2.0, 20.0)), UNIT), ("Ada", "Ben"))
    assert headline == "They differ most about missed melanomas"
    assert detail.endswith("Without ranges, it is unknown how certain that is.")


def test_agreement_is_said_and_nothing_is_infinitely_less():
    same = rates(0, MISSED, (4.0, 1.0, 9.0), (4.0, 2.0, 20.0))
    assert said((same, UNIT), ("Ada", "Ben"))[0] == "They agree"
    nothing = rates(0, MISSED, (4.0, 1.0, 9.0), (0.0, 0.0, 0.5))
    detail = said((nothing, UNIT), ("Ada", "Ben"))[1]
    assert "For Ada one missed melanoma counts as much as 4 needless excisions, for Ben as at most 0.5. Their" in detail


def test_how_far_experts_are_from_the_pool_is_said_of_the_numbers_that_are_shown():
    pooled = ExchangeRate(0, None, 1.0, 0.5, 2.0, False, Consequence("0", None, "Missed melanoma"))
    apart = rates(0, MISSED, (12.0, 10.0, 14.0), (1 / 12, 1 / 14, 1 / 10))
    far = replace(apart, pooled=pooled)
    assert spread_words((far, UNIT)) == "Their ratios lie within a factor of 12 of the pooled ones."
    near = replace(rates(2, HARMLESS, (1.2, 1.0, 1.4), (1.0, 0.9, 1.1)), pooled=replace(pooled, true=2))
    assert spread_words((far, UNIT, near)) == (
        "Half of their ratios lie within a factor of 6.6 of the pooled ones; the furthest is off by a factor of 12."
    )
    assert spread_words((UNIT,)) == ""


def test_no_number_is_made_of_what_was_only_bounded_or_said_as_a_range():
    at_least = rates(0, MISSED, (52.0, 3.6, np.inf), (0.5, 0.2, 1.0))
    detail = said((at_least, UNIT), ("Ada", "Ben"))[1]
    assert "for Ben as much as 0.5. Their plausible ranges do not meet" in detail
    searched = replace(at_least, rates=(at_least.rates[0], replace(at_least.rates[1], plausible=False)))
    detail = said((searched, UNIT), ("Ada", "Ben"))[1]
    assert detail.endswith("Their ranges do not meet, so this is a difference of opinion if every answer is right.")
    wide = rates(0, MISSED, (5.0, 0.9, 20.0), (0.5, 0.2, 1.0))
    assert "times apart" not in said((wide, UNIT), ("Ada", "Ben"))[1]
    assert spread_words((at_least, UNIT)) == ""
    known = rates(2, HARMLESS, (1.0, 0.9, 1.1), (2.0, 1.9, 2.1))
    assert spread_words((at_least, UNIT, known)).startswith("Half of their ratios that are known and not 0 lie within")


def test_a_pool_beyond_all_of_its_experts_is_known_as_such():
    both = rates(0, MISSED, (2.0, 0.5, 8.0), (3.0, 0.5, 18.0))
    pooled = [replace(both, pooled=replace(both.pooled, ratio=ratio)) for ratio in (1.5, 1.8, 3.5, 3.8)]
    assert [one.beyond_all for one in pooled] == [True, False, False, True]
    assert not replace(pooled[0], rates=(replace(both.rates[0], low=0.0), both.rates[1])).beyond_all


CLASSES = ("melanoma", "nevus", "keratosis")
FUZZY, KNOWN = 1.2, 0.15  # standard deviations of log-costs


def expert(name, seed, melanoma, yardstick=("keratosis", "nevus")):
    """Return an expert who knows all costs but that of keratosis called nevus, in units of which nothing is known."""
    rng = np.random.default_rng(seed)
    centres = np.array([melanoma, melanoma, -melanoma, 0.0, 0.0, 0.0])
    drawn = np.exp(centres + rng.normal(0, 1, (800, 6)) * [KNOWN, KNOWN, KNOWN, KNOWN, KNOWN, FUZZY])
    middle = np.exp(centres)
    metric = ElicitedMetric.from_weights(
        CLASSES, -middle / np.linalg.norm(middle), "lpm", samples=LPM.normalise(-drawn), yardstick=yardstick
    )
    return Expert(name, Source(name, metric), None)


def test_experts_plainly_apart_on_two_mistakes_disagree_though_neither_is_known_in_the_yardstick():
    view = compare([expert("Ada", 1, 1.2), expert("Ben", 2, 0.0)], "Lesions")
    assert not any(one.plainly_apart for one in view.mistakes)
    assert view.headline.startswith("They disagree most about melanoma cases called ")
    assert view.headline.endswith(" against nevus cases called melanoma")
    assert "nevus cases called melanoma, for Ben as much as 1" in view.detail
    assert view.detail.endswith("do not meet, so this is a difference of opinion, not a lack of answers.")
    assert "do not rule out that the experts agree" not in view.how
    shown = {one.mistake.name for one in furthest(view.mistakes, 2)}
    assert {one.split(" called ")[0] for one in shown} == {"Melanoma", "Nevus"}


def test_which_two_mistakes_divide_experts_does_not_depend_on_their_order_or_on_the_yardstick():
    other = ("keratosis", "melanoma")
    views = [
        compare(experts, "Lesions")
        for experts in (
            [expert("Ada", 1, 1.2), expert("Ben", 2, 0.0)],
            [expert("Ben", 2, 0.0), expert("Ada", 1, 1.2)],
            [expert("Ada", 1, 1.2, other), expert("Ben", 2, 0.0, other)],
        )
    ]
    assert len({view.headline for view in views}) == len({view.detail for view in views}) == 1


def test_the_yardstick_is_kept_if_experts_are_about_as_far_apart_on_a_ratio_to_it():
    one, other = (expert(name, seed, 0.0) for name, seed in (("Ada", 1), ("Ben", 2)))
    more = np.array([8.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    drawn = np.exp(np.random.default_rng(3).normal(0, KNOWN, (2, 800, 6)))
    experts = [
        replace(one, source=Source("Ada", replace(one.source.metric, samples=LPM.normalise(-drawn[0] * more)))),
        replace(other, source=Source("Ben", replace(other.source.metric, samples=LPM.normalise(-drawn[1])))),
    ]
    view = compare(experts, "Lesions")
    assert view.headline == "They disagree most about melanoma cases called nevus"
    assert "keratosis cases called nevus, for Ben as much as" in view.detail


def of_six_classes(name, seed, apart):
    """Return an expert of whom little is known about any mistake; those on the first class count `apart` as much."""
    rng, true = np.random.default_rng(seed), np.nonzero(~np.eye(6, dtype=bool))[0]
    centres = np.where(true == 0, np.log(apart), 0.0)
    drawn = np.exp(centres + rng.normal(0, 0.2, (800, 6))[:, true] + rng.normal(0, 0.9, (800, 30)))
    names = [f"c{at}" for at in range(6)]
    metric = ElicitedMetric.from_weights(
        names, LPM.normalise(-np.exp(centres)), "lpm", samples=LPM.normalise(-drawn), yardstick=("c1", "c2")
    )
    return Expert(name, Source(name, metric), None)


def test_experts_may_be_plainly_apart_on_the_mistakes_on_a_class_though_on_none_of_them_alone():
    experts = [of_six_classes("Ada", 1, 30.0), of_six_classes("Ben", 2, 1.0)]
    view = compare(experts, "Six")
    assert not any(one.plainly_apart for one in view.mistakes)
    found = re.fullmatch(
        r"They disagree most about c0 cases called something else against (c\d) cases .* else", view.headline
    )
    assert view.detail.startswith("For Ada one c0 case called something else counts, on average, as much as ")
    costs = [expert.source.metric.cost_samples for expert in experts]
    at, others = int(found[1][1]), ~np.eye(6, dtype=bool)
    means = [np.log(one[:, others].reshape(-1, 6, 5)).mean(axis=2) for one in costs]
    ada, ben = (np.exp(np.median(one[:, 0] - one[:, at])) for one in means)
    assert f"as much as {two_digits(ada)} {found[1]} cases" in view.detail
    assert f"{two_digits(ada / ben)} times apart" in view.detail


def test_of_mistakes_that_cost_nothing_in_some_draws_no_class_is_compared():
    metrics = [of_six_classes(name, seed, 30.0 - 29.0 * seed).source.metric for seed, name in enumerate("AB")]
    samples = metrics[0].samples.copy()
    samples[::50, 0] = 0.0
    nothing = replace(metrics[0], samples=LPM.normalise(samples))
    view = compare([Expert(str(at), Source(str(at), one), None) for at, one in enumerate((nothing, metrics[1]))], "Six")
    assert view.headline == "No clear disagreement"


@pytest.mark.parametrize("seed", range(12))
def test_experts_of_the_same_values_are_not_divided_by_classes(seed):
    view = compare([of_six_classes("Ada", 2 * seed, 3.0), of_six_classes("Ben", 2 * seed + 1, 3.0)], "Six")
    assert view.headline == "No clear disagreement"


@pytest.mark.parametrize("seed", range(12))
def test_experts_of_the_same_values_are_not_divided_by_any_two_mistakes(seed):
    view = compare([expert("Ada", 2 * seed, 1.0), expert("Ben", 2 * seed + 1, 1.0)], "Lesions")
    assert view.headline in ("No clear disagreement", "They agree")


def test_a_ratio_of_two_mistakes_is_that_of_their_draws_and_the_inverse_of_its_opposite():
    metric = expert("Ada", 1, 1.2).source.metric
    one, other = MistakeKey(0, 1), MistakeKey(1, 0)
    drawn = metric.cost_samples[:, 0, 1] / metric.cost_samples[:, 1, 0]
    rate, inverse = rate_between(metric, one, other), rate_between(metric, other, one)
    assert (rate.low, rate.high) == pytest.approx(np.quantile(drawn, [0.05, 0.95]))
    assert rate.ratio * inverse.ratio == pytest.approx(1.0, rel=0.01)
    in_yardstick = rate_between(metric, one, MistakeKey(2, 1))
    assert in_yardstick == next(rate for rate in exchange_rates(metric) if rate.key == one)


def test_after_a_second_round_it_is_told_of_the_ratio_on_which_experts_were_furthest_apart():
    before = [expert("Ada", 1, 1.2), expert("Ben", 2, 0.0)]
    after = [expert("Ada", 1, 0.6), expert("Ben", 2, 0.0)]
    now = compare(after, "Lesions")
    sources = [[one.source for one in experts] for experts in (before, after)]
    said = since_first_round(*sources, now.pooled, wording_of(now.pooled))
    subject = compare(before, "Lesions").headline.removeprefix("They disagree most about ")
    times = [re.search(r"[\d.]+ times apart", compare(experts, "Lesions").detail)[0] for experts in (before, after)]
    assert said.startswith(f"About {subject} they were {times[0]} in the first round, and are {times[1]} now; ")
    few = [of_six_classes("Ada", 1, 30.0), of_six_classes("Ben", 2, 1.0)]
    more = [of_six_classes("Ada", 1, 5.0), of_six_classes("Ben", 2, 1.0)]
    now = compare(more, "Six")
    sources = [[one.source for one in experts] for experts in (few, more)]
    said = since_first_round(*sources, now.pooled, wording_of(now.pooled))
    assert re.match(r"About c0 cases called something else against c\d .* they were [34]\d times apart in the", said)
    assert re.search(r"and are [45](\.\d)? times apart now; on average over \d+ mistakes, ", said)


def test_where_experts_stated_no_number_only_the_average_is_told():
    def asked(*ratios):
        centres = np.log([*ratios, 1.0])
        drawn = np.exp(centres + np.random.default_rng(5).normal(0, 1.2, (800, 6)))
        return ElicitedMetric.from_weights(
            CLASSES,
            LPM.normalise(-np.exp(centres)),
            "lpm",
            samples=LPM.normalise(-drawn),
            yardstick=("keratosis", "nevus"),
        )

    rounds = [[Source("Ada", asked(9, 9, 1, 1, 1)), Source("Ben", asked(1, 1, 1, 1, 1))] for _ in range(2)]
    rounds[1][0] = Source("Ada", asked(3, 3, 1, 1, 1))
    view = compare([Expert(one.name, one) for one in rounds[1]], "Lesions")
    said = since_first_round(*rounds, view.pooled, wording_of(view.pooled))
    assert re.fullmatch(
        r"On average over 5 mistakes they were 2\.\d times apart in the first round, and are 1\.\d times apart now\.",
        said,
    ), said
