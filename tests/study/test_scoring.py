"""Models judged by an elicited metric: the figures of the definitions, however the rows are cut into batches."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elicit_app.elicitation.cases import Cases
from elicit_app.problem import Problem
from elicit_app.session.result import judge_of
from elicit_app.study import open_study
from elicit_app.study.checking import Batch
from elicit_app.study.parquet import BATCH_ROWS
from elicit_app.study.reading import read_predictions
from elicit_app.study.scoring import (
    ModelRows,
    Piece,
    RowsTally,
    doubts_of_numbers,
    judged_prevalence,
    scores_of,
    tally_models,
    tally_rows,
)
from metrics import ElicitedMetric, judge, meta_pattern_concern_score

CLASSES = ("red", "yellow", "green")
COSTS = np.array([[0, 0.2, 1], [0.3, 0, 0.1], [0.05, 0.4, 0]])


def metric(**details):
    return ElicitedMetric.from_cost_matrix(CLASSES, COSTS, **details)


def predictions(seed, n=200):
    generator = np.random.default_rng(seed)
    return generator.integers(0, 3, n), generator.dirichlet([0.5, 0.7, 0.9], size=n)


def tally(under, truth, models, cuts=()):
    """Add up models that lie in memory, in parts that are merged in the reverse order."""
    parts = []
    for start, stop in pairwise([0, *sorted(cuts), len(truth)]):
        part = RowsTally(under, list(models))
        if stop > start:
            part.update([Batch(truth[start:stop], proba[start:stop]) for proba in models.values()], start)
        for model in part.models:
            model.labels += np.bincount(truth[start:stop], minlength=3)
        parts.append(part)
    whole = RowsTally(under, list(models))
    for part in reversed(parts):
        whole.merge(part)
    return whole


def scored(under, truth, models, cuts=(), **options):
    return scores_of(tally(under, truth, models, cuts), under, **options)


def rows_of(*paths):
    return [ModelRows(path.name, (Piece(path),)) for path in paths]


def test_the_figures_are_those_of_the_definitions():
    truth, proba = predictions(1)
    under = metric(population=10_000)
    (score,) = scored(under, truth, {"m": proba}, draws=0).models
    decided = proba.argmax(axis=1)
    assert score.misclassification_cost == pytest.approx(COSTS[truth, decided].mean(), abs=1e-12)
    # the cheapest mistake is the yardstick where none is named
    assert score.judged.cost_per_population == pytest.approx(10_000 * COSTS[truth, decided].mean() / 0.05, abs=1e-8)
    expected = sum(proba[i] @ COSTS[truth[i]] for i in range(len(truth))) / len(truth)
    assert score.expected_misclassification_cost == pytest.approx(expected, abs=1e-12)
    assert score.decided_cost == pytest.approx(COSTS[truth, (proba @ COSTS).argmin(axis=1)].mean(), abs=1e-12)
    assert score.accuracy == pytest.approx((decided == truth).mean())
    rates = [(decided[truth == label] != label).mean() for label in range(3)]
    assert score.balanced_error_rate == pytest.approx(np.mean(rates))
    worst = COSTS.max(axis=1)
    factors = COSTS / worst[:, None] + np.eye(3)
    concern = meta_pattern_concern_score(truth, proba, release_factors=factors, sample_weight=worst[truth])
    assert score.mpcs == pytest.approx(concern, abs=1e-12)
    assert (score.judged.rank, score.judged.probability_best, score.judged.difference_interval) == (1, None, None)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 1_000), cuts=st.lists(st.integers(0, 200), max_size=6))
def test_parts_merge_to_the_whole(seed, cuts):
    truth, proba = predictions(seed)
    under = metric()
    models = {"m": proba, "other": proba[::-1]}
    whole, parts = (scored(under, truth, models, cut, draws=200) for cut in ((), cuts))
    for one, other in zip(whole.models, parts.models, strict=True):
        np.testing.assert_array_equal(one.counts, other.counts)
        for name in ("expected_misclassification_cost", "decided_cost", "mpcs"):
            # sums within a batch are rounded, so other cuts may differ in the last digits
            assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-12)
    np.testing.assert_array_equal(whole.judgement.drawn.both, parts.judgement.drawn.both)


def test_ranks_go_by_cost_and_equal_costs_share_a_rank():
    truth = np.array([0, 1, 2, 2])
    models = {"right": [0, 1, 2, 2], "as bad": [2, 1, 2, 2], "also": [2, 1, 2, 2], "worse": [2, 1, 1, 1]}
    found = scored(metric(), truth, {name: np.eye(3)[said] for name, said in models.items()}, draws=0).models
    assert [score.name for score in found] == list(models)
    assert [score.judged.rank for score in found] == [1, 2, 2, 4]


def test_the_draws_say_which_model_is_probably_best():
    truth = np.repeat([0, 0, 1, 2], 25_000)
    models = [np.eye(3)[np.repeat(said, 25_000)] for said in ([2, 0, 1, 2], [0, 0, 0, 2], [0, 0, 0, 2])]
    draws = np.array([[1, 3, 9, 3, 3, 3], [1, 3, 9, 3, 3, 3], [1, 9, 3, 3, 3, 3], [1, 9, 3, 3, 3, 3.0]])
    draws = draws[:, [0, 1, 2, 3, 4, 5]] / 9
    draws[:2, 1], draws[:2, 2] = 3 / 9, 1.0
    draws[2:, 1], draws[2:, 2] = 1.0, 3 / 9
    under = ElicitedMetric.from_weights(
        CLASSES, -draws[2], "lpm", samples=-draws, population=100, yardstick=("red", "yellow")
    )
    found = scored(under, truth, {str(at): proba for at, proba in enumerate(models)}).models
    # under the first two draws red as green costs a third of yellow as red, under the last two three times as much;
    # with so many cases these are in no doubt
    assert [score.judged.probability_best for score in found] == [0.5, 0.25, 0.25]
    assert [score.judged.rank for score in found] == [1, 1, 1]
    assert found[1].judged.difference_interval == (0, 0)
    low, high = found[0].judged.difference_interval
    assert (low, high) == pytest.approx((-150, 150), rel=0.05)


def test_both_doubts_are_counted():
    """Two cases more or less do not make a model the best, however well the costs are known."""
    truth = np.repeat([0, 1, 2], 60)
    better, worse = (np.repeat(np.eye(3), 60, axis=0) for _ in range(2))
    better[:9], worse[60:71] = np.eye(3)[1], np.eye(3)[2]
    draws = -np.ones((50, 6)) / np.sqrt(6)
    under = ElicitedMetric.from_weights(CLASSES, draws[0], "lpm", samples=draws)
    first, second = scored(under, truth, {"better": better, "worse": worse}).models
    assert (first.judged.rank, second.judged.rank) == (1, 1)
    assert 0.5 < first.judged.probability_best < 0.9


def test_costs_are_for_the_prevalence_that_is_stated_else_for_that_of_the_metric():
    cases, own = np.array([10, 20, 70]), np.array([0.1, 0.2, 0.7])
    assert judged_prevalence(metric(), cases, None) == (None, ())
    assert judged_prevalence(metric(prevalence=own), cases, None) == (None, ())
    shares, (note,) = judged_prevalence(metric(prevalence=[0.5, 0.2, 0.3]), cases, None)
    assert shares == pytest.approx([0.5, 0.2, 0.3])
    assert "50 % “red”; the predictions have 10 %" in note
    stated, notes = judged_prevalence(metric(prevalence=[0.5, 0.2, 0.3]), cases, [0.3, 0.3, 0.4])
    assert (stated.tolist(), notes) == ([0.3, 0.3, 0.4], ())
    shares, _ = judged_prevalence(metric(prevalence=[0.5, 0.2, 0.3]), np.array([10, 0, 70]), None)
    assert shares == pytest.approx([0.625, 0, 0.375])
    shares, _ = judged_prevalence(metric(prevalence=[0.5, 0.2, 0.3]), np.array([29, 1, 70]), None)
    assert shares == pytest.approx([0.5, 0.2, 0.3]), "a class with one case has a share"


def test_a_class_of_weight_zero_alone_has_no_concern():
    costs = np.array([[0, 0, 0], [1, 0, 1], [1, 1, 0.0]])
    under = ElicitedMetric.from_cost_matrix(CLASSES, costs)
    (score,) = scored(under, np.array([0, 0]), {"m": np.eye(3)[[0, 1]]}).models
    assert score.mpcs is None
    assert score.misclassification_cost == 0


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ([0, 1], "b has 2 rows, a has 3"),
        ([0, 1, 1], "b has 1 cases of “red”, a has 2"),
        ([0, 0, 1], "b has the true labels of a, but in another order"),
    ],
)
def test_models_of_other_cases_are_not_compared(tmp_path, other, expected):
    for name, truth in (("a", [0, 1, 0]), ("b", other)):
        np.savez(tmp_path / f"{name}.npz", y_true=np.array(CLASSES)[truth], y_proba=np.eye(3)[truth], classes=CLASSES)
    models = [ModelRows(name, (Piece(tmp_path / f"{name}.npz"),)) for name in "ab"]
    with pytest.raises(Problem, match=expected):
        tally_models(models, metric())


@pytest.mark.parametrize(
    ("ids", "is_other_order"),
    [
        ("1 2 3", False),
        ("2 1 3", True),
        ("2.0 1 3", True),  # numbers as another program writes them
        ("7 8 9", False),  # other names for the cases
        ("2 1 1", False),  # no names of single cases
        ("2 1 ", False),
        (" 1 3", False),  # the first case has no name
    ],
)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_models_that_name_the_same_cases_in_another_order_are_not_compared(tmp_path, ids, is_other_order, ending):
    for name, own in (("a", "1 2 3"), ("b", ids)):
        frame = pl.DataFrame({"y_true": ["red", "red", "yellow"], "case_id": own.split(" "), "proba_red": [1, 1, 0]})
        frame = frame.with_columns(proba_yellow=pl.Series([0, 0, 1]), proba_green=pl.Series([0, 0, 0]))
        (frame.write_csv if ending == "csv" else frame.write_parquet)(tmp_path / f"{name}.{ending}")
    models = rows_of(tmp_path / f"a.{ending}", tmp_path / f"b.{ending}")
    if not is_other_order:
        tally_models(models, metric())
        return
    with pytest.raises(Problem, match=r"^b\..* names the cases of a\..*, but in another order: .* A study puts"):
        tally_models(models, metric())


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 100))
def test_files_of_any_format_and_column_order_give_the_same_figures(tmp_path, seed):
    truth, proba = predictions(seed, 50)
    truth[:2] = 0, 1
    under = metric()
    frame = pl.DataFrame({"proba_green": proba[:, 2], "y_true": np.array(CLASSES)[truth], "proba_red": proba[:, 0]})
    frame = frame.with_columns(proba_yellow=pl.Series(proba[:, 1]))
    frame.write_csv(tmp_path / "m.csv")
    frame.write_parquet(tmp_path / "m.parquet")
    np.savez(tmp_path / "m.npz", y_true=np.array(CLASSES)[truth], y_proba=proba, classes=np.array(CLASSES))
    seen, found = [], []
    for ending in ("csv", "parquet", "npz"):
        added = tally_models(rows_of(tmp_path / f"m.{ending}"), under, seen.append)
        (score,) = scores_of(added, under, draws=0).models
        cost, counts = score.judged.cost_per_population, score.counts.tolist()
        found.append(score.__dict__ | {"name": "", "judged": cost, "counts": counts})
    assert found[0] == found[1] == found[2]
    assert sum(seen) == 150


def test_models_are_read_side_by_side_however_their_files_are_cut(tmp_path):
    rows = BATCH_ROWS + 7
    long_file(tmp_path / "whole.parquet", rows)
    pl.read_parquet(tmp_path / "whole.parquet").write_csv(tmp_path / "plain.csv")
    lines = [
        f"{line}\n" + ("\n" if number % 1_000 == 5 else "")
        for number, line in enumerate((tmp_path / "plain.csv").read_text().splitlines())
    ]
    (tmp_path / "blank.csv").write_text("".join(lines))
    added = tally_models(rows_of(tmp_path / "whole.parquet", tmp_path / "blank.csv"), metric())
    one, other = scores_of(added, metric(), draws=0).models
    np.testing.assert_array_equal(one.counts, other.counts)
    assert one.counts.sum() == rows
    assert one.judged.rank == other.judged.rank == 1


def test_a_file_that_goes_on_after_another_ends_is_read_to_its_end(tmp_path):
    longer = 2 * BATCH_ROWS + 3
    long_file(tmp_path / "longer.parquet", longer)
    long_file(tmp_path / "shorter.parquet", 5)
    with pytest.raises(Problem, match=f"has {longer:,} rows, .* has 5"):
        tally_models(rows_of(tmp_path / "shorter.parquet", tmp_path / "longer.parquet"), metric())


def long_file(path, rows, **cells):
    truth, proba = predictions(4, rows)
    columns = {f"proba_{name}": proba[:, j].copy() for j, name in enumerate(CLASSES)}
    for row, value in cells.items():
        columns["proba_red"][int(row.removeprefix("row_")) - 1] = value
    pl.DataFrame({"y_true": np.array(CLASSES)[truth], **columns}).write_parquet(path, row_group_size=50_000)
    return truth, proba


def test_faults_of_several_batches_are_told_in_the_order_of_the_rows(tmp_path):
    path, later = tmp_path / "m.parquet", 2 * BATCH_ROWS + 9
    long_file(path, 3 * BATCH_ROWS, row_70000=-0.25, row_70001=-0.5, **{f"row_{later}": -1.0})
    with pytest.raises(Problem) as scored:
        tally_models(rows_of(path), metric())
    with pytest.raises(Problem) as read:
        read_predictions(path)
    assert "Row 70000: proba_red is -0.25, below 0, and so in 2 more rows" in scored.value.sentence
    assert scored.value.sentence == read.value.sentence


def test_rows_have_the_same_numbers_in_one_file_and_in_many_pieces(tmp_path):
    truth, proba = predictions(4, 180)
    table = pl.DataFrame(
        {"y_true": np.array(CLASSES)[truth]} | {f"proba_{c}": proba[:, j] for j, c in enumerate(CLASSES)}
    )
    cuts = [0, 50, 120, 150, 180]
    pieces = []
    for start, stop in pairwise(cuts):
        pieces.append(Piece(tmp_path / f"{start}.csv"))
        table[start:stop].write_csv(pieces[-1].path)
    table.write_csv(tmp_path / "whole.csv")
    whole, cut = (
        tally_models([ModelRows("m", part)], metric()) for part in ((Piece(tmp_path / "whole.csv"),), tuple(pieces))
    )
    one, other = (tally.models[0].sample.fitted() for tally in (whole, cut))
    np.testing.assert_array_equal(one.slope, other.slope)


def test_policies_that_are_found_out_late_are_counted_as_if_they_had_been_known(tmp_path, monkeypatch):
    rows = rows_of(tmp_path / "m.parquet")
    long_file(tmp_path / "m.parquet", BATCH_ROWS + 7)
    kept = tally_models(rows, metric())
    monkeypatch.setattr("elicit_app.study.scoring._KEPT", 3 * BATCH_ROWS)
    read_again = tally_models(rows, metric())
    known = tally_rows(rows, metric(), 0, [policies.calibration for policies in kept.policies])
    assert any(policy.recalibrated for policy in known.columns)
    for tallied in (kept, read_again):
        np.testing.assert_array_equal(tallied.cases.counts, known.cases.counts)
        np.testing.assert_array_equal(tallied.models[0].labels, known.models[0].labels)
        assert tallied.models[0].sums["expected"].result() == known.models[0].sums["expected"].result()


def test_files_are_judged_at_a_stated_prevalence_as_cases_in_memory_and_as_the_questions_end(tmp_path):
    long_file(tmp_path / "m.parquet", 500)
    study, shares, under = open_study(tmp_path / "m.parquet"), (0.1, 0.2, 0.7), metric()
    (model,) = study.models
    rows = [ModelRows("m", (Piece(tmp_path / "m.parquet"),))]
    tallied = tally_models(rows, under, stated=lambda labels: shares)
    of_files = scores_of(tallied, under, prevalence=shares).judgement
    in_memory = judge(under, np.array(CLASSES)[model.y_true], {"m": model.y_proba}, prevalence=shares)
    of_study = judge_of(replace(study, stated_prevalence=shares), under).at(shares)
    expected = {one.name: (one.policy, pytest.approx(one.cost_per_population)) for one in in_memory.policies}
    assert any(policy.correction for policy, _ in expected.values())
    for judgement in (of_files, of_study):
        assert {one.name: (one.policy, one.cost_per_population) for one in judgement.policies} == expected
    asked = Cases.counted(model.y_true, model.y_proba, shares).policies(COSTS)
    costs = sorted(1_000 * float((matrix * COSTS).sum()) / COSTS[in_memory.unit] for matrix in asked)
    judged = [one.cost_per_population for one in in_memory.policies if one.policy.model]
    assert costs == pytest.approx(sorted(judged))


def test_labels_are_read_and_have_no_second_policy(tmp_path):
    truth, proba = predictions(4, 60)
    names, said = np.array(CLASSES)[truth], np.array(CLASSES)[proba.argmax(axis=1)]
    pl.DataFrame({"y_true": names, "y_pred": said}).write_csv(tmp_path / "reader.csv")
    table = {f"proba_{c}": proba[:, j] for j, c in enumerate(CLASSES)}
    pl.DataFrame({"y_true": names} | table).write_csv(tmp_path / "m.csv")
    models = [ModelRows(name, (Piece(tmp_path / f"{name}.csv"),)) for name in ("reader", "m")]
    scores = scores_of(tally_models(models, metric()), metric(), draws=50)
    named = [one.name for one in scores.judgement.policies if one.policy.model == "reader"]
    assert named == ["reader, as it decides now"]
    assert scores.models[0].decided_cost == scores.models[0].misclassification_cost


def test_labels_may_number_the_classes_of_the_metric(tmp_path):
    truth, proba = predictions(4, 60)
    said = proba.argmax(axis=1)
    names = np.array(CLASSES)
    pl.DataFrame({"y_true": names[truth], "y_pred": names[said]}).write_csv(tmp_path / "named.csv")
    pl.DataFrame({"y_true": truth, "y_pred": said}).write_csv(tmp_path / "numbered.csv")
    named, numbered = (tally_models(rows_of(tmp_path / f"{name}.csv"), metric()) for name in ("named", "numbered"))
    np.testing.assert_array_equal(named.cases.counts, numbered.cases.counts)
    assert "numbered.csv: the classes are numbered; 0 for" in " ".join(numbered.models[0].notes)
    pl.DataFrame({"y_true": truth, "y_pred": names[said]}).write_csv(tmp_path / "mixed.csv")
    with pytest.raises(Problem):
        tally_models(rows_of(tmp_path / "mixed.csv"), metric())


def test_rows_with_other_labels_in_one_part_are_other_labels_of_the_whole():
    truth, proba = predictions(3, 20)
    other = np.where(np.arange(20) == 4, (truth + 1) % 3, truth)
    parts = [RowsTally(metric(), ["a", "b"]) for _ in range(2)]
    for part, labels, start in zip(parts, (truth, other), (0, 20), strict=True):
        part.update([Batch(truth, proba), Batch(labels, proba)], start)
    assert [part.same_labels for part in parts] == [True, False]
    parts[0].merge(parts[1])
    assert not parts[0].same_labels


def test_rows_that_were_rescaled_are_counted_over_all_batches(tmp_path):
    path = tmp_path / "m.parquet"
    truth = np.array(CLASSES)[predictions(5, 2 * BATCH_ROWS)[0]]
    third = np.where(np.arange(len(truth)) % 1_000 == 3, 0.335, 1 / 3)
    pl.DataFrame({"y_true": truth, **{f"proba_{name}": third for name in CLASSES}}).write_parquet(path)
    (tallied,) = tally_models(rows_of(path), metric()).models
    assert tallied.rescaled == [(path, len(truth) // 1_000)]
    assert tallied.sums["expected"].matrix().sum() == pytest.approx(len(truth), rel=1e-12)


def test_a_file_with_other_classes_is_refused(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("y_true,proba_red,proba_blue\nred,1,0\nblue,0,1\n")
    with pytest.raises(Problem, match="no column for “yellow”, “green”, but a column for “blue”"):
        tally_models(rows_of(path), metric())


def test_numbered_classes_are_the_metrics_in_their_order_unless_names_and_numbers_mix(tmp_path):
    truth, proba = predictions(4)
    named, numbered = tmp_path / "named.npz", tmp_path / "numbered.npz"
    np.savez(named, y_true=np.array(CLASSES)[truth], y_proba=proba, classes=CLASSES)
    np.savez(numbered, y_true=truth, y_proba=proba)
    one, other = (tally_models(rows_of(path), metric()) for path in (named, numbered))
    assert one.models[0].notes == []
    (note,) = other.models[0].notes
    assert note.startswith("numbered.npz: the classes are numbered; 0 for")
    assert (one.cases.counts == other.cases.counts).all()
    mixed = ElicitedMetric.from_cost_matrix(("1", "2", "3"), COSTS)
    with pytest.raises(Problem, match="no column for “3”, but a column for “0”"):
        tally_models(rows_of(numbered), mixed)
    two = ElicitedMetric.from_cost_matrix(("red", "green"), COSTS[:2, :2])
    with pytest.raises(Problem, match="no column for “red”"):
        tally_models(rows_of(numbered), two)


@pytest.mark.parametrize(("ill", "doubted"), [(700, True), (300, False), (400, False), (500, False)])
def test_numbers_that_seem_to_be_the_other_way_round_are_pointed_out(ill, doubted):
    """A third of the metric's cases are ill, and people who number two classes often call the illness 1."""
    two = replace(ElicitedMetric.from_cost_matrix(("ill", "well"), [[0, 5], [1, 0]]), prevalence=np.array([0.35, 0.65]))
    found = doubts_of_numbers(two, np.array([ill, 1000 - ill]))
    assert bool(found) == doubted
    if doubted:
        assert found[0].startswith("Does 1 stand for “ill”? Then 30 % of the predictions are “ill”, which is closer")
