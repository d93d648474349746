"""Experts who answered again: in a second round, or in a second sitting."""

import shutil

import numpy as np
import pytest

from elicit_app.session.answered_again import since_first_round, since_sitting_before
from elicit_app.session.comparing import experts_of, metric_in, wording_of
from elicit_app.session.pooling import Source, pool
from elicit_app.study import open_study
from metrics import Consequence, ElicitedMetric, Provenance, exchange_rates

WORDS = (Consequence("sick", "well", "Missed illness", "missed illness", "missed illnesses"),)


def of_two_classes(*needless):
    """Return what experts said for whom one needless treatment counts as so many missed illnesses."""
    made = [
        ElicitedMetric.from_cost_matrix(
            ("sick", "well"), [[0, 1], [cost, 0]], consequences=WORDS, yardstick=("well", "sick")
        )
        for cost in needless
    ]
    return [Source(f"{at}.json", metric) for at, metric in enumerate(made)]


def of_three_classes(*experts):
    costs = [[[0, 1, one], [other, 0, 1], [1, 1, 0]] for one, other in experts]
    made = [ElicitedMetric.from_cost_matrix(tuple("abc"), cost, yardstick=("a", "b")) for cost in costs]
    return [Source(f"{at}.json", metric) for at, metric in enumerate(made)]


@pytest.mark.parametrize(
    ("now", "said"),
    [
        ((0.25, 0.5), "About missed illnesses they were 5 times apart in the first round, and are 2 times apart now."),
        ((0.5, 0.5), "About missed illnesses they were 5 times apart in the first round, and agree now."),
    ],
)
def test_after_a_second_round_it_is_told_how_far_apart_the_experts_were(now, said):
    now = of_two_classes(*now)
    pooled, wording = pool(now), wording_of(now[0].metric)
    assert since_first_round(of_two_classes(0.1, 0.5), now, pooled, wording) == said
    assert since_first_round(of_two_classes(0.5, 0.5), now, pooled, wording) == "", "they agreed before"


def test_after_a_second_round_the_average_is_told_too_because_the_largest_difference_shrinks_by_chance():
    now = of_three_classes((0.25, 0.5), (0.5, 0.5))
    before = of_three_classes((0.1, 0.5), (0.8, 0.5))
    said = since_first_round(before, now, pool(now), wording_of(now[0].metric))
    assert "8 times apart in the first round, and are 2 times apart now; on average over 5 mistakes, " in said


def uncertain(ratio, spread, seed):
    """Return what somebody said for whom one missed illness counts as about `ratio` needless treatments."""
    logs = np.log(ratio) + spread * np.random.default_rng(seed).standard_normal(400)
    draws = -np.column_stack([np.exp(logs), np.ones(400)])
    return Source(
        f"{seed}.json",
        ElicitedMetric.from_weights(
            ("sick", "well"),
            (-ratio, -1),
            "lpm",
            samples=draws / np.linalg.norm(draws, axis=1)[:, None],
            consequences=WORDS,
            yardstick=("well", "sick"),
            provenance=Provenance(answers_digest=str(seed)),
        ),
    )


@pytest.mark.parametrize(
    ("then", "now", "spread", "chance"),
    [
        (12.0, 9.0, 0.4, ", which chance can explain."),
        (12.0, 2.0, 0.1, ", more than chance explains: ask what has changed, or whether two people gave this name."),
    ],
)
def test_what_an_expert_said_in_the_sitting_before_is_told_and_whether_chance_explains_the_difference(
    then, now, spread, chance
):
    before, last = uncertain(then, spread, 1), uncertain(now, spread, 2)
    said = since_sitting_before("Ada", before, last, pool([before, last]), wording_of(last.metric))
    start, end = (exchange_rates(source.metric)[0].with_range() for source in (before, last))
    assert said == (
        "The last answers of Ada differ most from those before about missed illnesses: one counted as "
        f"{start} well cases called sick then, and counts as {end} now{chance}"
    )
    assert "(" in start
    assert "(" in end


def test_the_average_over_all_mistakes_is_told_of_two_sittings_and_nothing_of_chance_without_ranges():
    before, last = of_three_classes((0.1, 0.5), (0.4, 0.5))
    said = since_sitting_before("Ada", before, last, pool([before, last]), wording_of(last.metric))
    assert said.endswith("counts as 0.4 now. On average over 5 mistakes, they are 1.3 times apart.")
    assert since_sitting_before("Ada", last, last, last.metric, wording_of(last.metric)) == (
        "The last answers of Ada give the same costs as those before."
    )


def test_sittings_may_differ_in_what_mistakes_they_distinguish():
    costs = {"lpm": [[0, 1, 2], [3, 0, 4], [1, 1, 0]], "dlpm": [[0, 1, 1], [4, 0, 4], [2, 2, 0]]}
    made = {
        family: ElicitedMetric.from_cost_matrix(tuple("abc"), cost, family=family) for family, cost in costs.items()
    }
    for before, last in (("lpm", "dlpm"), ("dlpm", "lpm")):
        sources = Source("before", made[before]), Source("last", made[last])
        said = since_sitting_before("Ada", *sources, made["dlpm"], wording_of(made["lpm"]))
        assert "On average over 5 mistakes" in said


def at_least(low, ratio):
    """Return what somebody said for whom one missed illness counts as `low` needless treatments or more."""
    ends = [[[0, 0], [low / ratio, np.inf]], [[1 / ratio, 1 / ratio], [0, 0]]]
    metric = ElicitedMetric.from_cost_matrix(
        ("sick", "well"), [[0, ratio], [1, 0]], intervals=ends, consequences=WORDS, yardstick=("well", "sick")
    )
    return Source(f"{low}.json", metric)


def test_bounds_that_do_not_meet_are_told_and_others_tell_too_little():
    vague, high, low = at_least(2, 50), at_least(40, 100), uncertain(3.0, 0.1, 1)
    for before, last in ((vague, high), (vague, low)):
        said = since_sitting_before("Ada", before, last, pool([before, last]), wording_of(last.metric))
        assert said == "The last answers of Ada and those before tell too little to say how far they are apart."
    said = since_sitting_before("Ada", high, low, pool([high, low]), wording_of(low.metric))
    assert "one counted as at least 40 well cases called sick then, and counts as 3 (2.6 to 3.4) now, more" in said


@pytest.fixture(scope="module")
def lumps():
    return open_study("breast-cancer")


def test_the_comparison_of_experts_tells_how_steady_one_is_who_answered_twice(lumps, tmp_path, finish_sitting):
    finish_sitting(lumps, tmp_path / "1.session.jsonl", "Ada", 30.0, 8)
    finish_sitting(lumps, tmp_path / "2.session.jsonl", "Ben", 3.0, 8)
    shutil.copy(tmp_path / "2.session.jsonl", tmp_path / "1b.session.jsonl")  # a copy is no other sitting
    finish_sitting(lumps, tmp_path / "3.session.jsonl", "ada", 0.1, 8)
    view = experts_of(lumps, tmp_path).comparison()
    same, other, ada = (note for note in view.notes if note.startswith(("Several sessions", "The last answers")))
    assert {same, other} == {
        "Several sessions are named Ben: the last with enough answers counts.",
        "Several sessions are named ada: the last with enough answers counts.",
    }
    assert ada.startswith("The last answers of ada differ most from those before about missed cancers: one counted as ")
    assert ada.endswith(", more than chance explains: ask what has changed, or whether two people gave this name.")
    then = exchange_rates(metric_in(tmp_path / "1.session.jsonl", lumps))[0]
    assert f"one counted as {then.with_range()} needless biopsies then" in ada
