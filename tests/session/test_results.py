import csv
import io
import math
from dataclasses import replace

import numpy as np
import pytest

from elicit_app.elicitation.procedure import Outcome
from elicit_app.problem import Problem
from elicit_app.registry.procedures import BayesSetting, DlpmSetting
from elicit_app.session.journal.events import Guess
from elicit_app.session.policy_words import information_texts, policy_texts
from elicit_app.session.result import (
    answers_behind,
    answers_digest,
    by_the_yardstick,
    cost_intervals,
    export,
    result_view,
    scenarios_of,
)
from elicit_app.session.session import Session
from elicit_app.session.view_builders import answers_csv, export_answers
from elicit_app.study import open_study
from elicit_app.study.model import default_wording
from metrics import ElicitedMetric, confusion_matrix, exchange_rates, judge, meta_pattern_concern_score
from metrics.elicited.family import family_of
from metrics.elicited.metric_parts import kept_draws


@pytest.fixture(scope="module")
def traffic():
    return open_study("traffic-light")


@pytest.fixture
def session(study, journal_path):
    with Session.create(study, BayesSetting(seed=3, questions=40), journal_path) as opened:
        yield opened


def answer_many(session, number):
    for place in range(number):
        session.answer(("left", "right", "left", "equal", "right")[place % 5], seconds=float(place))


@pytest.fixture(scope="module")
def answered(study, tmp_path_factory):
    """A session of eleven answers that tests only look at."""
    path = tmp_path_factory.mktemp("answered") / "one.session.jsonl"
    with Session.create(study, BayesSetting(seed=3, questions=40), path) as opened:
        answer_many(opened, 11)
        yield opened


@pytest.fixture(scope="module")
def result(answered):
    return result_view(answered)


def test_a_result_says_that_cases_were_left_out(study, journal_path):
    with Session.create(replace(study, unread=7), BayesSetting(seed=3, questions=40), journal_path) as opened:
        answer_many(opened, 1)
        (note,) = (one for one in result_view(opened).notes if "everybody" in one)
    assert note.startswith(f"Only the {study.n_cases:,} of {study.n_cases + 7:,} ")


def test_a_result_says_where_it_comes_from(answered, result, study, tmp_path):
    metric = result.metric
    assert metric.classes == study.classes
    assert metric.provenance.procedure == "bayes"
    assert metric.provenance.seed == 3
    assert metric.provenance.questions == 11
    assert metric.provenance.study_digest == study.digest.removeprefix("sha256:")
    assert metric.provenance.answers_digest == answers_digest(answered.state)
    assert metric.provenance.parameters["person"] is True
    assert metric.prevalence == pytest.approx(np.bincount(study.models[0].y_true) / len(study.models[0].y_true))
    assert metric.population == study.population
    assert metric.yardstick == tuple(study.classes[i] for i in study.yardstick)
    assert {mistake.name for mistake in metric.consequences} == {one.name for one in study.wording.mistakes.values()}
    path = export(result, tmp_path / "deep" / "x.metric.json")
    again = ElicitedMetric.load(path)
    assert np.array_equal(again.cost_matrix, metric.cost_matrix)
    assert again.provenance == metric.provenance
    assert again.quality == metric.quality


def test_the_lines_behind_a_metric_are_the_last_whose_answers_fit(session):
    answer_many(session, 1)
    session.stop()
    session.finish()
    digest, lines = answers_digest(session.state), len(session.events)
    session.more()
    session.answer("left")
    assert answers_behind(digest, session.events) == lines + 1, "asking for more questions answers none"
    assert answers_behind(digest, session.events[:lines]) == lines
    assert answers_behind("another", session.events) is None


def test_a_metric_is_found_again_in_a_session_that_was_never_stopped(session):
    digests = []
    for act in (*["left"] * 4, "undo", "right", "take out", "left"):
        if act == "undo":
            session.undo()
        elif act == "take out":
            session.take_out(2)
        else:
            session.answer(act)
        digests.append((answers_digest(session.state), len(session.events)))
    assert [answers_behind(digest, session.events) for digest, _ in digests[4:]] == [lines for _, lines in digests[4:]]
    assert answers_behind(digests[2][0], session.events) == digests[4][1], "undone: as they were before the fourth"


def test_the_same_answers_give_the_same_file(answered, result, tmp_path, study):
    one = export(result, tmp_path / "one.metric.json").read_bytes()
    copy = tmp_path / "copy.session.jsonl"
    copy.write_bytes(answered.path.read_bytes())
    with Session.open(copy, study) as again:
        assert export(result_view(again), tmp_path / "two.metric.json").read_bytes() == one


def test_the_headline_is_the_worst_mistake_and_the_yardstick_counts_as_one(result):
    yardstick = next(view for view in result.ratios if view.is_yardstick)
    assert yardstick.ratio == 1
    other = next(view for view in result.ratios if not view.is_yardstick)
    assert result.headline.rate is other
    low, high = other.range_90
    inner_low, inner_high = other.half
    assert low <= inner_low <= inner_high <= high


def test_under_five_answers_that_say_something_nothing_is_exported(session, tmp_path):
    with pytest.raises(Problem, match="no result yet"):
        result_view(session)
    for reply in ("left", "unsure", "right", "left", "equal"):
        session.answer(reply)
    view = result_view(session)
    assert not view.can_export
    with pytest.raises(Problem, match="at least 5 informative answers"):
        export(view, tmp_path / "x.metric.json")
    session.answer("left")
    assert result_view(session).can_export
    assert list(tmp_path.glob("*.json")) == []


def test_a_file_that_cannot_be_written_is_said(result, tmp_path):
    (tmp_path / "in the way").write_text("")
    with pytest.raises(Problem, match="is a file, not a folder"):
        export(result, tmp_path / "in the way" / "x.metric.json")


def test_first_guesses_stand_beside_what_was_learned(traffic, journal_path):
    guesses = (Guess(true=0, ratio=9.0),)
    setting = DlpmSetting(epsilon=0.2)
    with Session.create(traffic, setting, journal_path, guesses=guesses) as session:
        answer_many(session, 6)
        view = result_view(session)
    assert [view.guesses.get(ratio.key) for ratio in view.ratios] == [9.0, None, None]
    assert [ratio.predicted for ratio in view.ratios] == [None] * 3
    assert all(ratio.half is None for ratio in view.ratios)


def test_dlpm_says_how_closely_it_searched(traffic, journal_path):
    with Session.create(traffic, DlpmSetting(epsilon=0.1), journal_path) as session:
        session.answer("left")
        early = result_view(session)
        while session.asking() is not None:
            session.answer("right")
        late = result_view(session)
    for view, wider in zip(late.ratios, early.ratios, strict=True):
        if not view.is_yardstick:
            assert view.range_90[0] <= view.ratio * (1 + 1e-9)
            assert view.ratio <= view.range_90[1] * (1 + 1e-9)
            assert wider.range_90[0] <= view.range_90[0] or math.isinf(wider.range_90[1])


def models_as_is(scenarios):
    return scenarios.models(scenarios.judgement())


def test_models_are_judged_by_counted_decisions_in_units_of_the_yardstick(traffic):
    costs = np.array([[0, 1.0, 0.8], [0.1, 0, 0.2], [0.05, 0.02, 0]])
    yardstick = tuple(traffic.classes[i] for i in traffic.yardstick)
    metric = ElicitedMetric.from_cost_matrix(traffic.classes, costs, yardstick=yardstick)
    views = models_as_is(scenarios_of(traffic, metric))
    assert [view.judged.cost_per_population for view in views] == sorted(
        view.judged.cost_per_population for view in views
    )
    unit = costs[traffic.yardstick]
    for view in views:
        model = next(one for one in traffic.models if one.name == view.name)
        decided = model.y_proba.argmax(axis=1)
        table = np.asarray(confusion_matrix(model.y_true, decided)) / len(decided)
        assert view.judged.cost_per_population == pytest.approx(traffic.population * (table * costs).sum() / unit)
        assert view.accuracy == pytest.approx((decided == model.y_true).mean())
        weight = np.array([1.0, 0.2, 0.05])[model.y_true]
        factors = metric.release_factors()
        expected = meta_pattern_concern_score(
            model.y_true, model.y_proba, release_factors=factors, sample_weight=weight
        )
        assert view.mpcs == pytest.approx(float(expected))
        assert view.judged.counts.sum() == traffic.population
        assert view.judged.difference_to_best == pytest.approx(
            view.judged.cost_per_population - views[0].judged.cost_per_population
        )
        # a stated cost matrix has no draws: what is doubted then are the cases
        assert (
            view.judged.difference_interval[0] <= view.judged.difference_to_best <= view.judged.difference_interval[1]
        )


def test_of_two_classes_each_count_stands_under_the_mistake_that_it_is_of():
    study = open_study("breast-cancer")
    judgement = scenarios_of(study, ElicitedMetric.from_cost_matrix(study.classes, [[0, 4], [1, 0]])).judgement()
    texts = policy_texts(judgement)
    mistakes = {judgement.mistake(*key).many: key for key in ((0, 1), (1, 0))}
    keys = [mistakes[" ".join(head).lower()] for head in texts.heads]
    assert sorted(keys) == [(0, 1), (1, 0)]
    for row in texts.rows:
        assert row.counts == tuple(f"{row.judged.counts[key]:,}" for key in keys)


def test_the_share_of_right_cases_is_rounded_as_where_they_are_counted(tmp_path):
    right = [("rare", "rare")] + [("common", "common")] * 10
    wrong = [("rare", "common")] * 2 + [("common", "rare")] * 67
    rows = (f"{true},{0.9 if said == 'rare' else 0.1},{0.1 if said == 'rare' else 0.9}" for true, said in right + wrong)
    (tmp_path / "a.csv").write_text("\n".join(["y_true,proba_rare,proba_common", *rows]))
    study = open_study(str(tmp_path / "a.csv"))
    (view,) = models_as_is(scenarios_of(study, ElicitedMetric.from_cost_matrix(study.classes, 1 - np.eye(2))))
    assert f"{100 * view.accuracy:.1f}" == f"{100 * 11 / 80:.1f}"


def test_models_that_the_draws_cannot_tell_apart_share_a_rank(traffic):
    costs = np.array([[0, 1.0, 0.8], [0.1, 0, 0.2], [0.05, 0.02, 0]])
    off = ~np.eye(3, dtype=bool)
    rng = np.random.default_rng(0)
    for spread, tied in ((0.01, False), (3.0, True)):
        draws = -costs[off] * np.exp(spread * rng.standard_normal((400, 6)))
        metric = ElicitedMetric.from_weights(traffic.classes, -costs[off], "lpm", samples=draws)
        first, second = models_as_is(scenarios_of(traffic, metric))
        assert (second.judged.rank == 1) == tied
        assert first.judged.probability_best + second.judged.probability_best == pytest.approx(1)
        low, high = second.judged.difference_interval
        assert (low <= 0 <= high) == tied


def test_a_stated_prevalence_replaces_the_one_of_the_data(traffic):
    stated = replace(traffic, stated_prevalence=(0.2, 0.3, 0.5))
    assert stated.prevalence == pytest.approx([0.2, 0.3, 0.5])
    metric = ElicitedMetric.from_cost_matrix(traffic.classes, 1 - np.eye(3))
    for view in models_as_is(scenarios_of(stated, metric)):
        assert view.judged.cost_per_population == pytest.approx(stated.population * (1 - view.accuracy))


def test_policies_that_decide_alike_are_said_to():
    metric = ElicitedMetric.from_cost_matrix(["ill", "well"], [[0, 5], [1, 0]])
    true = np.repeat(["ill", "well"], 50)
    right = np.where(np.arange(100) % 10 == 0, 0.1, 0.9)
    proba = np.where((true == "ill")[:, None], np.column_stack([right, 1 - right]), np.column_stack([1 - right, right]))
    other = proba.copy()
    other[1] = 1 - other[1]
    notes = policy_texts(judge(metric, true, {"a": proba, "b": other})).notes
    alike = "Rank 1 five times: the first two decide alike, and 100 cases cannot tell them from the others."
    assert any(alike == note for note in notes)
    many = policy_texts(judge(metric, true, {str(name): proba for name in range(8)})).notes
    assert any(note.startswith("Rank 1 is shared by 17: the first 16 decide alike") for note in many)


@pytest.mark.parametrize(("cases", "lost"), [(6, "What that costs cannot be said."), (60, "costs nothing")])
def test_what_few_cases_leave_unknown_is_not_said_to_cost_nothing(cases, lost):
    metric = ElicitedMetric.from_cost_matrix(["ill", "well"], [[0, 5], [1, 0]])
    true = np.repeat(["ill", "well"], [cases, 100])
    sure = np.column_stack([true == "ill", true == "well"]) * 0.98 + 0.01
    texts = information_texts(judge(metric, true, {"model": sure}))
    assert lost in texts.loss
    assert texts.advice.startswith("Collect more cases of “ill”" if cases == 6 else "Decide now")
    assert any("more cases" in one.number for one in texts.more) == (cases == 60)


def test_few_cases_are_not_said_to_show_that_more_would_tell_nothing():
    names = ["mild", "severe", "rare"]
    for rare, said in ((5, False), (3_000, True)):
        true = np.repeat([0, 1, 2], [3_000, 3_000, rare])
        wrong = np.arange(len(true)) % 5 == 0
        alpha, beta = (np.where(wrong & (true == label), 1 - label, true) for label in (0, 1))
        draws = -np.ones((400, 6))
        draws[:, 0] *= np.exp(np.random.default_rng(0).choice([-0.3, 1.0, 2.0], 400))
        metric = ElicitedMetric.from_weights(names, -np.ones(6), "lpm", samples=draws)
        sure = {name: np.eye(3)[called] * 0.97 + 0.01 for name, called in (("alpha", alpha), ("beta", beta))}
        judgement = judge(metric, np.array(names)[true], sure)
        assert ("more cases would spare nothing" in information_texts(judgement).in_words) == said


def test_the_table_has_every_answer_as_it_was_shown(session, tmp_path):
    answer_many(session, 3)
    session.undo()
    session.answer("right", "clearly", seconds=7.25, full_picture=True)
    session.take_out(1)
    session.change(2, "equal")
    rows = list(csv.DictReader(io.StringIO(answers_csv(session))))
    assert [row["state"] for row in rows] == ["taken out", "changed", "undone", "kept"]
    assert [row["number"] for row in rows] == ["1", "2", "3", "3"]
    last, entry = rows[-1], session.state.entries[-1].event
    assert (last["reply"], last["strength"], last["seconds"], last["full picture"]) == (
        "right",
        "clearly",
        "7.25",
        "yes",
    )
    assert (rows[1]["reply"], rows[1]["counts as"]) == ("right", "equal")
    true, called = session.study.classes
    shown = entry.pair.first if entry.left == "first" else entry.pair.second
    assert int(last[f"left: {true} as {called}"]) == shown[0][1]
    path = export_answers(session, tmp_path / "answers.csv")
    assert path.read_text(encoding="utf-8") == answers_csv(session)
    with pytest.raises(Problem, match="could not be written"):
        export_answers(session, tmp_path / "no folder" / "answers.csv")


def test_every_wrong_answer_for_the_yardsticks_truth_costs_exactly_what_the_yardstick_does(traffic, journal_path):
    """A search that told nothing of ratios left one cell of that row "not known" beside its equal."""
    yardstick = traffic.yardstick
    with Session.create(traffic, DlpmSetting(epsilon=0.2), journal_path) as session:
        while session.asking() is not None:
            session.answer("left")
        metric = result_view(session).metric
    row = np.delete(metric.intervals[yardstick[0]], yardstick[0], axis=0)
    assert row == pytest.approx(metric.cost_matrix[yardstick], rel=1e-12)


def test_of_a_yardstick_whose_own_cost_is_only_bounded_other_ratios_are_known(traffic):
    family, rng = family_of("lpm"), np.random.default_rng(8)
    centre = np.log([0.3, 1.0, 0.004, 0.01, 0.5, 0.2])  # of the mistakes in the order of the family; the third is 1, 0
    draws = family.normalise(-np.exp(centre + rng.normal(0, 0.3, (1_000, 6))))
    weights = np.quantile(draws, 0.5, axis=0)
    ends = np.quantile(draws / draws[:, [1]], (0.05, 0.95), axis=0)
    ends[0, 2] = 0.0
    within_reach = np.quantile(draws / draws[:, [2]], (0.05, 0.95), axis=0)
    within_reach[1, 1] = np.inf
    outcome = Outcome(
        family="lpm",
        weights=family.normalise(weights),
        bounded=(None, None, (0.0, float(ends[1, 2])), None, None, None),
        stopped="budget",
        questions=20,
        intervals=np.moveaxis(family.on_errors(ends), 0, -1),
        ranges=within_reach,
        samples=draws,
    )
    study = replace(traffic, models=(), yardstick=(1, 0))
    learned = by_the_yardstick(outcome, study)
    made = {"intervals": cost_intervals(learned, (1, 0)), "samples": draws, "yardstick": ("yellow", "red")}
    rates = exchange_rates(ElicitedMetric.from_weights(traffic.classes, learned.weights, "lpm", **made))
    assert [rate.bounded for rate in rates] == [False, True, False, False, False, False]
    for place, rate in enumerate(rates):
        if not rate.is_yardstick:
            assert rate.range_90 == pytest.approx(tuple(within_reach[:, place]), rel=1e-9)


@pytest.mark.parametrize("name", ["traffic-light", "breast-cancer"])
def test_a_graver_yardstick_is_advised_where_there_is_one(name, journal_path, answer_by_costs):
    study = open_study(name)
    costs = np.full((study.n_classes,) * 2, 0.001)
    costs[:, (study.yardstick[1] + 1) % study.n_classes] = 1.0
    np.fill_diagonal(costs, 0.0)
    with Session.create(study, BayesSetting(seed=1), journal_path) as session:
        answer_by_costs(session, costs)
        result = result_view(session)
    assert result.ratios[0].range_90 is not None
    advised = [note for note in result.notes if "With a graver yardstick" in note]
    assert len(advised) == (study.n_classes > 2)


def test_the_ranges_of_a_metric_of_many_weights_come_from_all_draws_of_which_it_keeps_some(study):
    k, rng = 26, np.random.default_rng(8)
    family, names = family_of("lpm"), tuple(f"c{number}" for number in range(k))
    draws = family.normalise(-np.exp(rng.normal(0, 1, (1_000, k * k - k))))
    largest = np.quantile(draws, 0.5, axis=0)
    known = family.on_errors(np.array([np.full(k * k - k, 1e-6), np.full(k * k - k, 1e6)]))
    known[0, 3, 4], known[1, 5, 6] = 0.0, np.inf
    outcome = Outcome(
        family="lpm",
        weights=family.normalise(largest),
        bounded=(None,) * (k * k - k),
        stopped="budget",
        questions=20,
        intervals=np.moveaxis(known, 0, -1),
        samples=draws,
    )
    many = replace(study, classes=names, wording=default_wording(names), models=(), yardstick=(0, 1))
    learned = by_the_yardstick(outcome, many)
    made = [("intervals", cost_intervals(learned, (0, 1))), ("samples", kept_draws(draws))]
    metric = ElicitedMetric.from_weights(names, learned.weights, "lpm", yardstick=names[:2], **dict(made))
    ratios = draws / draws[:, [0]]
    ends = np.quantile(ratios, (0.05, 0.95), axis=0)
    assert len(metric.samples) < 1_000
    for place, rate in enumerate(exchange_rates(metric)):
        if (rate.true, rate.predicted) not in ((0, 1), (3, 4), (5, 6)):
            assert (rate.low, rate.high) == pytest.approx(tuple(ends[:, place]))
            assert rate.ratio == pytest.approx(np.quantile(ratios[:, place], 0.5, method="inverted_cdf"))
    shut = {(rate.true, rate.predicted): rate.range_90 for rate in exchange_rates(metric)}
    assert shut[3, 4][0] == 0
    assert shut[5, 6][1] == math.inf
