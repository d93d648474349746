"""Experts beside each other: which sessions count, where they disagree in words, and what is said of models."""

import re
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from elicit_app.problem import Problem
from elicit_app.session.comparing import (
    Expert,
    FinishedExperts,
    choice,
    compare,
    dearer_by_own_values,
    experts_beside,
    numbered_names,
    wording_of,
)
from elicit_app.session.disagreement import furthest, widest
from elicit_app.session.journal.listing import (
    SessionSummary,
    comparable_experts,
    experts_in_words,
    finished_experts,
    sessions_of,
    sittings_before,
)
from elicit_app.session.pooling import Source
from elicit_app.session.report import pooled_report
from elicit_app.session.result import result_view, scenarios_of
from elicit_app.session.session import Session
from elicit_app.study import open_study
from metrics import Consequence, ElicitedMetric, Provenance
from metrics.exports.page import Table, page_as_markdown
from metrics.policies.recommendation import short_recommendation

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def lumps():
    return open_study("breast-cancer")


def missed_counts(value):
    """Return a metric under which one missed cancer counts as `value` needless biopsies."""
    classes = ("malignant", "benign")
    return ElicitedMetric.from_cost_matrix(classes, [[0, value], [1, 0]], yardstick=("benign", "malignant"))


def test_what_is_best_for_whom_is_what_their_results_recommend(folder, lumps):
    ada, ben = (result_view(Session.open_read_only(folder / f"{n}.session.jsonl", lumps)).judgement for n in (1, 2))
    said = choice((ada, ben, ada), ("Ada", "Ben", "Cleo"), ben)
    (for_ada, sure_ada), (for_ben, sure_ben) = (short_recommendation(one, "their own costs") for one in (ada, ben))
    assert said == (
        f"Best for Ada ({sure_ada}) and Cleo ({sure_ada}): {for_ada}; for Ben ({sure_ben}): {for_ben}; "
        f"pooled ({sure_ben}): {for_ben}."
    )
    for judgement, action, sure in ((ada, for_ada, sure_ada), (ben, for_ben, sure_ben)):
        assert (judgement.best.policy.model or "call every patient") in action
        assert sure.endswith(" sure")
    assert choice((ada, None), ("Ada", "Ben")) == ""


@pytest.mark.parametrize(
    ("dearer", "said"),
    [
        ((0.0, 0.004, 0.009), "nothing shows that the pooled choice costs more than the best for each of them."),
        (
            (0.064, 0.0, 0.0),
            "the pooled choice costs at least 6.4 % more than the best for A; for the others nothing shows that it "
            "costs more.",
        ),
        (
            (0.12, 0.35, 0.0),
            "the pooled choice costs at least 35 % more than the best for B and 12 % for A; for C nothing shows that "
            "it costs more.",
        ),
        (
            (0.1, 0.2, 0.3, 0.4, 0.05),
            "the pooled choice costs at least 40 % more than the best for D, 30 % for C and 20 % for B; for the others "
            "less.",
        ),
        ((0.1, 0.2), "the pooled choice costs at least 20 % more than the best for B and 10 % for A."),
    ],
)
def test_what_the_pooled_choice_costs_each_expert_is_said_of_those_for_whom_it_is_dearest(lumps, dearer, said):
    one = scenarios_of(lumps, missed_counts(2.0)).judgement()
    text = choice([one] * len(dearer), "ABCDE"[: len(dearer)], one, dearer)
    assert text.split(". ", 1)[1] == f"By their own values, {said}"


@pytest.mark.parametrize("stated", [None, (0.1, 0.9)], ids=["as counted", "stated prevalence"])
def test_what_the_pooled_choice_costs_is_counted_by_each_experts_own_costs(lumps, stated):
    study = replace(lumps, stated_prevalence=stated)
    metrics = [missed_counts(value) for value in (0.2, 3.0, 40.0)]
    experts = [of_one(study, metric) for metric in metrics]
    pooled = scenarios_of(study, missed_counts(3.0))
    chosen = pooled.judgement().best
    found = dearer_by_own_values(experts, pooled)
    for metric, one, share in zip(metrics, experts, found, strict=True):
        counted = (chosen.counts * metric.cost_matrix).sum() / metric.cost_matrix[1, 0]  # rounded to whole patients
        assert share == pytest.approx(counted / one.judgement.best.cost_per_population - 1, abs=0.06)
    assert found[1] == pytest.approx(0.0, abs=1e-12)
    assert min(found[0], found[2]) > 0.1


def of_one(study, metric):
    """Return an expert with this metric, and what is best for the models of a study under it."""
    scenarios = scenarios_of(study, metric)
    judgement = scenarios.judgement()
    return Expert("A", Source("A", metric), judgement, scenarios.decided(judgement.best.policy))


def test_what_an_experts_own_doubt_explains_is_not_told_as_the_price_of_one_choice_for_all(lumps):
    """The best for each was chosen by the answers that judge it, so experts of one mind seemed to lose much."""
    pooled, dearer = scenarios_of(lumps, missed_counts(3.0)), []
    for spread in (0.01, 1.5):
        draws = -np.ones((400, 2)) * [12.0, 1.0]
        draws[:, 0] *= np.exp(spread * np.random.default_rng(1).standard_normal(400))
        own = replace(missed_counts(12.0), samples=draws / np.linalg.norm(draws, axis=1)[:, None])
        dearer += dearer_by_own_values([of_one(lumps, own)], pooled)
    assert dearer[0] > 0.1
    assert dearer[1] == 0.0


def test_experts_that_are_programs_are_counted_as_such():
    programs = [replace(summary(name, name, 1), simulated=True) for name in "ab"]
    assert experts_in_words(finished_experts(programs)) == "2 simulated experts"
    assert experts_in_words(finished_experts([*programs, summary("c", "Cleo", 2)])) == "1 expert"


def test_names_that_are_the_same_get_numbers():
    assert numbered_names(("Ada", "Ben", "Ada")) == ("Ada (1)", "Ben", "Ada (2)")


def summary(name, expert, hours, *, phase="finished", problem=""):
    last = None if problem else NOON + timedelta(hours=hours)
    return SessionSummary(Path(name), "Lumps", expert, 12, last=last, phase=phase, problem=problem)


def test_each_expert_counts_once_by_the_newest_finished_session():
    found = finished_experts(
        [
            summary("a", "Ada", 1),
            summary("b", "  ada ", 5),
            summary("c", "Ben", 3),
            summary("d", "Cleo", 4, phase="stopped"),
            summary("e", None, 2),
            summary("f", None, 6),
            summary("g", "Dora", 0, problem="damaged"),
        ]
    )
    assert [one.path.name for one in found] == ["e", "c", "b", "f"]


def test_whose_earlier_session_does_not_count_is_named_and_an_earlier_round_is_none():
    sessions = [
        summary("a", "Ada", 1),
        summary("b", " ada", 5),
        replace(summary("c", "Ben", 3), round=1),
        replace(summary("d", "Ben", 4), round=2),
        summary("e", None, 2),
        summary("f", None, 6),
        summary("g", "Cleo", 7),
        summary("h", "Cleo", 8, phase="stopped"),
    ]
    again = {
        one.expert: [other.path.name for other in sittings_before(one, sessions)] for one in finished_experts(sessions)
    }
    assert {name: files for name, files in again.items() if files} == {" ada": ["a"]}


@pytest.fixture(scope="module")
def folder(lumps, tmp_path_factory, finish_sitting):
    made = tmp_path_factory.mktemp("sessions")
    finish_sitting(lumps, made / "1.session.jsonl", "Ada", 30.0, 6)
    finish_sitting(lumps, made / "2.session.jsonl", "Ben", 0.3, 6)
    return made


@pytest.fixture(scope="module")
def beside(folder, lumps):
    """Return what the comparison says while one session is open, and the bytes of that session before and after."""
    with Session.open(folder / "1.session.jsonl", lumps) as open_one:
        before = open_one.path.read_bytes()
        told = []
        experts = experts_beside(folder / "2.session.jsonl", lambda done, of: told.append((done, of)))
        assert told == [(1, 2), (2, 2)]
        view = experts.comparison()
        return view, before, open_one.path.read_bytes()


def test_two_finished_sessions_are_compared_and_pooled(beside, lumps):
    view = beside[0]
    assert view.names == ("Ada", "Ben")
    assert view.title == lumps.title
    missed = next(one for one in view.mistakes if not one.is_yardstick)
    assert missed.rates[0].ratio > 1 > missed.rates[1].ratio
    assert missed.rates[1].ratio < missed.pooled.ratio < missed.rates[0].ratio
    assert "Pooled in one belief" in view.how
    assert "For Ada one missed cancer counts as " in view.detail
    assert missed.disjoint
    assert view.headline == "They disagree most about missed cancers"
    assert view.made_of.startswith("Made of Ada (10 answers) and Ben (10 answers), on ")
    of = view.pooled.provenance.parameters["of"]
    assert [part["source"] for part in of] == ["1.session.jsonl", "2.session.jsonl"]
    assert view.pooled.name == f"{lumps.title}, Ada and Ben pooled"
    assert view.pooled.population == lumps.population
    assert view.choice.startswith("Best for Ada (")
    assert (
        "; pooled ({1}): {0}. By their own values, the pooled choice costs ".format(
            *short_recommendation(view.judgement, "the pooled costs")
        )
        in view.choice
    )
    assert re.search(r"costs at least \d+ % more than the best for Ben; for Ada nothing shows", view.choice)


def test_a_session_that_is_open_can_be_compared(beside):
    _, before, after = beside
    assert before == after


def test_practice_that_one_expert_typed_is_judged_for_all_unless_another_typed_another(folder, lumps, tmp_path):
    paths = [shutil.copy(folder / f"{n}.session.jsonl", tmp_path) for n in (1, 2)]
    practised = lambda of: of is not None and "present practice" in {one.name for one in of.policies}  # noqa: E731
    for path, table, everywhere in (
        (paths[0], [[200, 12], [20, 337]], True),
        (paths[1], [[212, 0], [357, 0]], False),
        (paths[1], [[200, 12], [20, 337]], True),
    ):
        with Session.open(Path(path), lumps) as session:
            session.state_practice(table)
        found = experts_beside(Path(path))
        view = found.comparison()
        assert practised(view.judgement) is everywhere
        assert [practised(one.judgement) for one in found.experts] == [everywhere] * 2
        assert ("Present practice is left out: Ada and Ben did not type the same." in view.notes) is not everywhere
    assert "Present practice is as Ada and Ben typed it." in view.notes


def test_what_cannot_be_compared_is_left_out_and_said(folder, lumps, tmp_path, finish_sitting):
    ada = shutil.copy(folder / "1.session.jsonl", tmp_path)
    with pytest.raises(Problem, match=r"two experts who have finished “.*”; there is one"):
        experts_beside(Path(ada)).comparison()
    finish_sitting(lumps, tmp_path / "3.session.jsonl", "Cleo", 3.0, 2)
    assert [one.expert for one in comparable_experts(sessions_of(tmp_path, lumps.digests))] == ["Ada"]
    with pytest.raises(Problem, match=r"Fewer than two .* Left out: Cleo has too few answers\."):
        experts_beside(Path(ada)).comparison()
    shutil.copy(folder / "2.session.jsonl", tmp_path)
    assert "Left out: Cleo has too few answers." in experts_beside(Path(ada)).comparison().notes
    finish_sitting(lumps, tmp_path / "4.session.jsonl", "Ben", 3.0, 2)
    view = experts_beside(Path(ada)).comparison()
    assert view.names == ("Ada", "Ben")
    assert "Several sessions are named Ben: the last with enough answers counts." in view.notes
    assert not any("The last answers of" in note for note in view.notes), "one of the two has too few to compare"


def test_after_a_second_round_what_speaks_against_the_pool_is_still_said(lumps):
    true, predicted = lumps.yardstick

    def asked(name, cost):
        costs = np.zeros((2, 2))
        costs[true, predicted], costs[predicted, true] = 1.0, cost
        provenance = Provenance(expert=name, answers_digest=f"{name}{cost}")
        yardstick = (lumps.classes[true], lumps.classes[predicted])
        return Source(
            name, ElicitedMetric.from_cost_matrix(lumps.classes, costs, yardstick=yardstick, provenance=provenance)
        )

    experts = tuple(Expert(name, asked(name, cost)) for name, cost in (("Ada", 9.0), ("Ben", 1 / 9)))
    plain = FinishedExperts(lumps, experts, {}, {}, ()).comparison().notes
    assert any("in opposite ways" in note for note in plain)
    *notes, closer = FinishedExperts(lumps, experts, {"Ada": asked("Ada", 20.0)}, {}, ()).comparison().notes
    assert tuple(notes) == plain
    assert "in the first round" in closer


def test_files_bring_their_own_words():
    words = (Consequence("sick", "well", "Missed illness", "missed illness", "missed illnesses"),)
    made = [
        ElicitedMetric.from_cost_matrix(
            ("sick", "well"), [[0, 1], [cost, 0]], consequences=words, yardstick=("well", "sick"), name=name
        )
        for name, cost in (("a", 0.1), ("b", 0.5))
    ]
    view = compare([Expert(one.name, Source(f"{one.name}.json", one)) for one in made], "files")
    assert "one missed illness counts as much as 10 " in view.detail
    assert view.choice == ""
    assert wording_of(made[0]).mistakes[1, 0].name == "Well called sick"
    any_wrong = ElicitedMetric.from_weights(
        ("a", "b", "c"), (1, 1, 1), "dlpm", consequences=(Consequence("a", None, "Lost a"),), provenance=Provenance()
    )
    assert wording_of(any_wrong).any_mistake[0].name == "Lost a"
    assert wording_of(any_wrong).any_mistake[1].name == "Class b called something else"


def test_prices_are_of_amounts_and_none_of_these_is_called_a_mistake():
    experts = []
    for name, prices in (("Ada", [1.0, 8.0, 0.1]), ("Ben", [1.0, 0.1, 8.0])):
        metric = ElicitedMetric.from_weights(
            ("found", "missed", "false"), prices, "dlpm", kind="multilabel", provenance=Provenance(expert=name)
        )
        experts.append(Expert(name, Source(name, metric)))
    view = compare(experts, "Moods")
    said = [view.headline, view.detail, view.agreement, view.how, view.made_of, *view.notes]
    assert "rank the amounts" in view.agreement
    assert "what counts most first" in view.agreement
    assert "order the amounts in opposite ways" in " ".join(view.notes)
    assert not any("mistake" in text for text in said)
    page = page_as_markdown(pooled_report(view))
    assert "| Amount | Ada | Ben | Pooled |" in page
    assert "Mistake" not in page


def test_of_many_mistakes_the_report_lists_those_on_which_experts_differ_most():
    k, rng = 11, np.random.default_rng(3)
    names = [f"kind {number}" for number in range(k)]
    costs = [np.exp(rng.normal(0, 1, (k, k))) * (1 - np.eye(k)) for _ in range(2)]
    metrics = [ElicitedMetric.from_cost_matrix(names, own, yardstick=("kind 0", "kind 1")) for own in costs]
    experts = [Expert(f"Expert {at}", Source(f"{at}.json", metric)) for at, metric in enumerate(metrics)]
    view = compare(experts, "Kinds")
    text = page_as_markdown(pooled_report(view))
    assert "These are the 90 of 110 mistakes on which the experts differ most" in text
    listed = {one.mistake.name for one in furthest(view.mistakes, 90)}
    table = text[text.index("## The experts") : text.index("These are the 90")]
    assert {one.mistake.name for one in view.mistakes if f"| {one.mistake.name} |" in table} == listed


def many_experts(number=6):
    names = ("red", "green", "blue")
    rng = np.random.default_rng(8)
    costs = [np.exp(rng.normal(0, 1, (3, 3))) * (1 - np.eye(3)) for _ in range(number)]
    metrics = [ElicitedMetric.from_cost_matrix(names, own, yardstick=("red", "green")) for own in costs]
    return [Expert(f"Expert {at}", Source(f"{at}.json", metric)) for at, metric in enumerate(metrics)]


def test_many_experts_stand_one_below_the_other_and_few_side_by_side():
    for number, tables in ((4, 1), (5, 5)):
        view = compare(many_experts(number), "Colours")
        page = pooled_report(view)
        text = page_as_markdown(page)
        experts = text[text.index("## The experts") : text.index("## How they were pooled")]
        assert experts.count("\n| --- ") == tables
        assert ("| Mistake | Expert 0 | Expert 1 |" in experts) == (number == 4)
        for one in view.mistakes:
            for name, rate in zip((*view.names, "All pooled"), (*one.rates, one.pooled), strict=True):
                assert rate.in_words() in experts
                assert one.is_yardstick or (f"| {name} | {rate.in_words()} |" in experts) == (number == 5)
        shown = [rate.ratio for _, rate in view.lines(widest(view.mistakes))]
        assert (shown == sorted(shown)) == (number == 5)
        assert sorted(view.lines(view.yardstick)) == sorted(zip(view.names, view.yardstick.rates, strict=True))
        assert view.who == ("Expert 0, Expert 1, Expert 2 and Expert 3" if number == 4 else "5 experts")
        assert page.subtitle.startswith(f"What the answers of {view.who} say ")
        shown = [block for section in page.sections for block in section.blocks if isinstance(block, Table)]
        drawn = [table.foot for table in shown if table.heads[0] == "Expert"]
        assert len(drawn) == (5 if number == 5 else 0)
        assert len(set(drawn)) <= 1, "all are drawn on one axis"


def test_experts_who_answered_on_one_day_share_its_date():
    today, earlier = (datetime(2026, 3, day, 12, tzinfo=UTC) for day in (2, 1))
    one, other = (
        Expert(name, Source(name, replace(missed_counts(ratio), created=today, provenance=Provenance(questions=12))))
        for name, ratio in (("Ada", 3.0), ("Ben", 4.0))
    )
    assert compare([one, other], "x").made_of == "Made of Ada (12 answers) and Ben (12 answers), on 2 March 2026."
    before = replace(other, source=replace(other.source, metric=replace(other.source.metric, created=earlier)))
    assert compare([one, before], "x").made_of == (
        "Made of Ada (12 answers, 2 March 2026) and Ben (12 answers, 1 March 2026)."
    )
