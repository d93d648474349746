"""Models judged by an elicited metric: the figures of the definitions, however the rows are cut into batches."""

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elicit_app.problem import Problem
from elicit_app.study.reading import open_predictions, read_predictions
from elicit_app.study.scoring import LabelDigest, Tally, ranked, tally_file
from elicit_app.study.tables import BATCH_ROWS
from metrics import ElicitedMetric, meta_pattern_concern_score

CLASSES = ("red", "yellow", "green")
COSTS = np.array([[0, 0.2, 1], [0.3, 0, 0.1], [0.05, 0.4, 0]])


def metric(**details):
    return ElicitedMetric.from_cost_matrix(CLASSES, COSTS, **details)


def predictions(seed, n=200):
    generator = np.random.default_rng(seed)
    return generator.integers(0, 3, n), generator.dirichlet([0.5, 0.7, 0.9], size=n)


def tally(under, truth, proba, cuts=()):
    parts = []
    bounds = [0, *sorted(cuts), len(truth)]
    for start, stop in pairwise(bounds):
        part = Tally(under)
        if stop > start:
            part.update(truth[start:stop], proba[start:stop], start)
        parts.append(part)
    whole = Tally(under)
    for part in reversed(parts):
        whole.merge(part)
    return whole


def test_the_figures_are_those_of_the_definitions():
    truth, proba = predictions(1)
    under = metric(population=10_000)
    (score,) = ranked(under, [("m", tally(under, truth, proba))])
    decided = proba.argmax(axis=1)
    assert score.misclassification_cost == pytest.approx(COSTS[truth, decided].mean(), abs=1e-12)
    assert score.cost_per_population == pytest.approx(10_000 * COSTS[truth, decided].mean(), abs=1e-9)
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
    assert (score.rank, score.probability_best, score.difference_range) == (1, None, None)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 1_000), cuts=st.lists(st.integers(0, 200), max_size=6))
def test_parts_merge_to_the_whole(seed, cuts):
    truth, proba = predictions(seed)
    under = metric()
    in_parts = tally(under, truth, proba, cuts)
    whole, parts = ranked(under, [("whole", tally(under, truth, proba)), ("parts", in_parts)])
    np.testing.assert_array_equal(whole.counts, parts.counts)
    for name in ("cost_per_population", "expected_misclassification_cost", "decided_cost", "mpcs"):
        # sums within a batch are rounded, so other cuts may differ in the last digits
        assert getattr(whole, name) == pytest.approx(getattr(parts, name), rel=1e-12)


@given(st.lists(st.integers(0, 3), min_size=2, max_size=30), st.data())
def test_the_digest_of_labels_sees_order_and_values(labels, data):
    truth = np.array(labels)
    digest = LabelDigest()
    digest.update(truth, 0)
    other = data.draw(st.permutations(labels))
    changed = LabelDigest()
    changed.update(np.array(other), 0)
    assert (digest == changed) == (other == labels)


def test_ranks_go_by_cost_and_equal_costs_share_a_rank():
    truth = np.array([0, 1, 2, 2])
    models = {"right": [0, 1, 2, 2], "as bad": [2, 1, 2, 2], "also": [2, 1, 2, 2], "worse": [2, 1, 1, 1]}
    under = metric()
    scores = ranked(under, [(name, tally(under, truth, np.eye(3)[said])) for name, said in models.items()])
    assert [score.name for score in scores] == list(models)
    assert [score.rank for score in scores] == [1, 2, 2, 4]


def test_the_draws_say_which_model_is_probably_best():
    truth = np.array([0, 0, 1, 2])
    models = [np.eye(3)[[2, 0, 1, 2]], np.eye(3)[[0, 0, 0, 2]], np.eye(3)[[0, 0, 0, 2]]]
    draws = np.array([[0.2, 1, 3, 1, 1, 1], [0.2, 1, 3, 1, 1, 1], [0.2, 3, 1, 1, 1, 1], [0.2, 3, 1, 1, 1, 1.0]])
    draws = -draws / np.linalg.norm(draws, axis=1, keepdims=True)
    under = ElicitedMetric.from_weights(CLASSES, draws[2], "lpm", samples=draws, population=100)
    scores = ranked(under, [(str(at), tally(under, truth, proba)) for at, proba in enumerate(models)])
    # under the first two draws red as green costs 1/3 and yellow as red 1; under the last two it is the reverse
    assert [score.probability_best for score in scores] == [0.5, 0.25, 0.25]
    assert [score.rank for score in scores] == [3, 1, 1]
    assert scores[1].difference_range == (0, 0)
    assert scores[0].difference_range == pytest.approx((-100 / 6, 100 / 6))


def test_a_class_of_weight_zero_alone_has_no_concern():
    costs = np.array([[0, 0, 0], [1, 0, 1], [1, 1, 0.0]])
    under = ElicitedMetric.from_cost_matrix(CLASSES, costs)
    (score,) = ranked(under, [("m", tally(under, np.array([0, 0]), np.eye(3)[[0, 1]]))])
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
def test_models_of_other_cases_are_not_compared(other, expected):
    under = metric()
    first = tally(under, np.array([0, 1, 0]), np.eye(3))
    with pytest.raises(Problem, match=expected):
        ranked(under, [("a", first), ("b", tally(under, np.array(other), np.eye(3)[: len(other)]))])


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
    seen = []
    tallies = [
        (ending, tally_file(open_predictions(tmp_path / f"m.{ending}"), under, seen.append))
        for ending in ("csv", "parquet", "npz")
    ]
    figures = [score.__dict__ | {"name": "", "counts": score.counts.tolist()} for score in ranked(under, tallies)]
    assert figures[0] == figures[1] == figures[2]
    assert sum(seen) == 150


def long_file(path, rows, **cells):
    truth, proba = predictions(4, rows)
    columns = {f"proba_{name}": proba[:, j].copy() for j, name in enumerate(CLASSES)}
    for row, value in cells.items():
        columns["proba_red"][int(row.removeprefix("row_")) - 1] = value
    pl.DataFrame({"y_true": np.array(CLASSES)[truth], **columns}).write_parquet(path, row_group_size=50_000)
    return truth, proba


def test_batches_that_are_worked_on_side_by_side_add_up(tmp_path):
    rows = 3 * BATCH_ROWS + 7
    truth, proba = long_file(tmp_path / "m.parquet", rows)
    done = []
    from_file = tally_file(open_predictions(tmp_path / "m.parquet"), metric(), done.append)
    by_hand = Tally(metric())
    for start in range(0, rows, BATCH_ROWS):
        part = slice(start, start + BATCH_ROWS)
        by_hand.update(truth[part], np.asfortranarray(proba[part]), start)
    assert done == [BATCH_ROWS] * 3 + [7]
    assert from_file.labels == by_hand.labels
    for name, sums in from_file.sums.items():
        for field, total in sums.sums.items():
            np.testing.assert_allclose(total, by_hand.sums[name].value(field), rtol=1e-12, err_msg=f"{name} {field}")


def test_faults_of_several_batches_are_told_in_the_order_of_the_rows(tmp_path):
    path, later = tmp_path / "m.parquet", 2 * BATCH_ROWS + 9
    long_file(path, 3 * BATCH_ROWS, row_70000=-0.25, row_70001=-0.5, **{f"row_{later}": -1.0})
    with pytest.raises(Problem) as scored:
        tally_file(open_predictions(path), metric())
    with pytest.raises(Problem) as read:
        read_predictions(path)
    assert "Row 70000: proba_red is -0.25, below 0, and so in 2 more rows" in scored.value.sentence
    assert scored.value.sentence == read.value.sentence


def test_rows_that_were_rescaled_are_counted_over_all_batches(tmp_path):
    path = tmp_path / "m.parquet"
    truth = np.array(CLASSES)[predictions(5, 2 * BATCH_ROWS)[0]]
    third = np.where(np.arange(len(truth)) % 1_000 == 3, 0.335, 1 / 3)
    pl.DataFrame({"y_true": truth, **{f"proba_{name}": third for name in CLASSES}}).write_parquet(path)
    tallied = tally_file(open_predictions(path), metric())
    assert tallied.rescaled == len(truth) // 1_000
    assert tallied.sums["expected"].matrix().sum() == pytest.approx(len(truth), rel=1e-12)


def test_a_file_with_other_classes_is_refused(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("y_true,proba_red,proba_blue\nred,1,0\nblue,0,1\n")
    with pytest.raises(Problem, match="no column for “yellow”, “green” and a column for “blue”"):
        tally_file(open_predictions(path), metric())


def test_numbered_classes_are_the_metrics_in_their_order_unless_names_and_numbers_mix(tmp_path):
    truth, proba = predictions(4)
    named, numbered = tmp_path / "named.npz", tmp_path / "numbered.npz"
    np.savez(named, y_true=np.array(CLASSES)[truth], y_proba=proba, classes=CLASSES)
    np.savez(numbered, y_true=truth, y_proba=proba)
    one, other = (tally_file(open_predictions(path), metric()) for path in (named, numbered))
    assert (one.numbered, other.numbered) == (False, True)
    assert (one.counts == other.counts).all()
    assert one.labels == other.labels
    mixed = ElicitedMetric.from_cost_matrix(("1", "2", "3"), COSTS)
    with pytest.raises(Problem, match="no column for “3” and a column for “0”"):
        tally_file(open_predictions(numbered), mixed)
    two = ElicitedMetric.from_cost_matrix(("red", "green"), COSTS[:2, :2])
    with pytest.raises(Problem, match="no column for “red”"):
        tally_file(open_predictions(numbered), two)
