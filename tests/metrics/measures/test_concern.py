"""Meta Pattern Concern Score: published and checked values, a literal loop, laws."""

import json
import math
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, make_scorer
from sklearn.model_selection import cross_val_score

from metrics.measures.concern import (
    ConcernScore,
    MetaPatternConcernScore,
    meta_pattern_concern_score,
    penalties,
    release_matrix,
)

KEYS = {"sum": "paper", "count": "authors_code"}


def shared(name):
    """Return a file of the folder of reference data, or skip."""
    home = os.environ.get("ELICIT_SHARED_DATA")
    data = Path(home) if home else Path(__file__).resolve().parents[4] / "shared" / "data"
    path = data.parent / "reference" / name
    if not path.exists():
        pytest.skip(f"{name} is not beside the checkout")
    return path


def literal_score(y, proba, *, top_k, n_intervals, factors, true_concern="sum"):
    """The paper's algorithm 1, row by row and class by class; nothing of the library is used."""
    total = 0.0
    for true, row in zip(y, proba, strict=True):
        chosen = sorted(range(len(row)), key=lambda j: (-row[j], j))[:top_k]
        levels, concerns = [], []
        for j in chosen:
            interval = min(math.floor(row[j] * n_intervals), n_intervals - 1)
            levels.append(interval if j == true else n_intervals - 1 - interval)
            concerns.append(factors[true][j])
        punished = [-math.log(max(level, 1e-7) / (n_intervals - 1)) for level in levels]
        if true not in chosen:
            total += sum(punished) / top_k
            continue
        wrong = [(c, p) for j, c, p in zip(chosen, concerns, punished, strict=True) if j != true]
        others = sum(c for c, _ in wrong)
        right = punished[chosen.index(true)]
        own = others if true_concern == "sum" else top_k - 1
        total += (own * right + sum(c * p for c, p in wrong)) / (own + others) if others > 0 else right
    return total / len(y)


def test_every_checked_case_in_both_conventions():
    cases = json.loads(shared("mpcs_cases.json").read_text(encoding="utf-8"))["cases"]
    compared = 0
    for case in cases:
        factors = release_matrix(case["release"], case["release_factor"], len(case["proba"][0]))
        for convention, key in KEYS.items():
            if case[key] is None:  # one class and 0/0: the published program has no value
                continue
            score = meta_pattern_concern_score(
                case["y"],
                case["proba"],
                top_k=case["k"],
                n_intervals=case["t"],
                release_factors=factors,
                true_concern=convention,
            )
            assert score == pytest.approx(case[key], abs=1e-9), (case, convention)
            compared += 1
    assert compared >= 2 * len(cases) - 10


A2 = [[0.99, 0.01]] * 99 + [[0.49, 0.51]]
B2 = [[0.98, 0.02]] * 100
A3 = [[0.99, 0.005, 0.005]] * 99 + [[0.49, 0.51, 0.0]]
B3 = [[0.98, 0.01, 0.01]] * 100


@pytest.mark.parametrize(
    ("a", "b", "top_k", "score_a", "score_b"),
    [
        (A2, B2, 1, 0.007137664678, 0),
        (A2, B2, 2, 0.007137664678, 0.010309643601),
        (A3, B3, 2, 0.007137664678, 0),
        (A3, B3, 3, 0.005353248508, 0),
    ],
)
def test_table_one(a, b, top_k, score_a, score_b):
    y = [0] * 100
    k = len(a[0])
    for proba, score in ((a, score_a), (b, score_b)):
        found = meta_pattern_concern_score(y, proba, top_k=top_k, n_intervals=50, labels=range(k))
        assert found == pytest.approx(score, abs=1e-9)


@pytest.mark.parametrize(
    ("row", "n_intervals", "factor", "paper", "programs"),
    [
        ([0.2, 0.7, 0.1], 50, 0.1, 0.900484403032, 1.100444313315),
        ([0.2, 0.7, 0.1], 50, 0.5, 1.039288318705, 1.117852159621),
        ([0.2, 0.7, 0.1], 200, 0.5, 1.040146921736, None),
        ([0.2, 0.1, 0.7], 50, 0.1, 1.368947618429, 1.432902079080),
        ([0.2, 0.1, 0.7], 50, 0.5, 1.230143702755, 1.281442488807),
        ([0.2, 0.1, 0.7], 200, 0.5, 1.225121648725, None),
        ([0.7, 0.2, 0.1], 50, 0.1, 0.227534540761, 0.259161613753),
        ([0.7, 0.2, 0.1], 50, 0.5, 0.242156115038, 0.255629846693),
        ([0.7, 0.2, 0.1], 200, 0.5, 0.248537644436, None),
        ([0.2, 0.7, 0.1], 50, 1.0, 1.134716010730, 1.134716010730),
        ([0.2, 0.1, 0.7], 50, 1.0, 1.134716010730, 1.134716010730),
    ],
)
def test_traffic_light(row, n_intervals, factor, paper, programs):
    setting = {"n_intervals": n_intervals, "release_factors": release_matrix([(0, 1)], factor, 3)}
    assert meta_pattern_concern_score([0], [row], **setting) == pytest.approx(paper, abs=1e-9)
    if programs is not None:
        counted = meta_pattern_concern_score([0], [row], **setting, true_concern="count")
        assert counted == pytest.approx(programs, abs=1e-9)


def rows_of(rng, n, k, coarse):
    """Random rows; coarse ones are full of ties, zeros and ones."""
    if coarse:
        return rng.multinomial(4, np.ones(k) / k, size=n) / 4
    return rng.dirichlet(np.full(k, 0.3), n)


settings = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 10_000),
        "k": st.integers(2, 6) | st.sampled_from([25, 30]),
        "n": st.integers(1, 30),
        "n_intervals": st.integers(2, 300),
        "coarse": st.booleans(),
        "true_concern": st.sampled_from(["sum", "count"]),
        "share": st.floats(0, 1),
    }
)


def drawn(setting):
    rng = np.random.default_rng(setting["seed"])
    k, n = setting["k"], setting["n"]
    proba, y = rows_of(rng, n, k, setting["coarse"]), rng.integers(0, k, n)
    factors = rng.choice([0.0, 0.3, 1.0], (k, k))
    top_k = 1 + int(setting["share"] * (k - 1))
    return (
        rng,
        y,
        proba,
        {"top_k": top_k, "n_intervals": setting["n_intervals"], "true_concern": setting["true_concern"]},
        factors,
    )


@given(settings)
def test_a_literal_loop_of_the_algorithm_agrees(setting):
    _, y, proba, options, factors = drawn(setting)
    score = meta_pattern_concern_score(y, proba, release_factors=factors, **options)
    literal = literal_score(y, proba.tolist(), factors=factors.tolist(), **options)
    assert score == pytest.approx(literal, abs=1e-9)
    assert score >= 0


@given(settings)
def test_float32_agrees_with_the_loop_in_float32(setting):
    _, y, proba, options, factors = drawn(setting)
    single = proba.astype(np.float32)
    rows = [[np.float32(p) for p in row] for row in single]
    score = meta_pattern_concern_score(y, single, release_factors=factors, **options)
    assert score == pytest.approx(literal_score(y, rows, factors=factors.tolist(), **options), abs=1e-9)


@given(settings)
def test_patterns_and_concerns_explain_each_score(setting):
    _, y, proba, options, factors = drawn(setting)
    score = meta_pattern_concern_score(y, proba, release_factors=factors, **options)
    penalty = penalties(options["n_intervals"])[score.confidence_pattern]
    explained = (penalty * score.concern).sum(axis=1) / score.concern.sum(axis=1)
    np.testing.assert_allclose(score.per_sample, explained, atol=1e-12)
    assert score.per_sample.mean() == pytest.approx(float(score), abs=1e-12)
    assert score.prediction_pattern.shape == score.concern.shape == (len(y), options["top_k"])
    outside = ~(score.prediction_pattern == y[:, np.newaxis]).any(axis=1)
    assert score.share_outside_top_k == pytest.approx(outside.mean())


@given(settings)
def test_permuting_classes_changes_nothing_where_nothing_is_tied(setting):
    rng, y, proba, options, factors = drawn(setting | {"coarse": False})
    order = rng.permutation(setting["k"])
    place = np.argsort(order)
    score = meta_pattern_concern_score(y, proba, release_factors=factors, **options)
    again = meta_pattern_concern_score(
        place[y], proba[:, order], release_factors=factors[np.ix_(order, order)], **options
    )
    assert again == pytest.approx(float(score), abs=1e-12)


@given(settings)
def test_row_order_and_weights_as_repetition(setting):
    rng, y, proba, options, factors = drawn(setting)
    options |= {"release_factors": factors}
    order = rng.permutation(len(y))
    score = meta_pattern_concern_score(y, proba, **options)
    assert meta_pattern_concern_score(y[order], proba[order], **options) == pytest.approx(float(score), abs=1e-12)
    weight = rng.integers(0, 4, len(y))
    weight[0] = 1
    weighted = meta_pattern_concern_score(y, proba, sample_weight=weight, **options)
    repeated = meta_pattern_concern_score(np.repeat(y, weight), np.repeat(proba, weight, axis=0), **options)
    assert weighted == pytest.approx(float(repeated), abs=1e-12)
    assert weighted.share_outside_top_k == pytest.approx(repeated.share_outside_top_k, abs=1e-12)


@given(settings)
def test_class_weights_are_sample_weights_of_the_true_classes(setting):
    rng, y, proba, options, factors = drawn(setting)
    weight = rng.random(setting["k"]) + 0.1
    by_class = meta_pattern_concern_score(y, proba, class_weight=weight, release_factors=factors, **options)
    by_case = meta_pattern_concern_score(y, proba, sample_weight=weight[y], release_factors=factors, **options)
    assert by_class == pytest.approx(float(by_case), abs=1e-12)


def test_releases_have_an_orientation():
    released = release_matrix([(0, 1)], 0.1, 3)
    red_as_yellow = meta_pattern_concern_score([0], [[0.2, 0.7, 0.1]], release_factors=released)
    yellow_as_red = meta_pattern_concern_score([1], [[0.7, 0.2, 0.1]], release_factors=released)
    assert red_as_yellow < yellow_as_red
    assert yellow_as_red == pytest.approx(1.134716010730, abs=1e-9)


def test_at_two_classes_a_release_cancels():
    proba, y = [[0.3, 0.7], [0.8, 0.2]], [0, 0]
    plain = meta_pattern_concern_score(y, proba)
    assert meta_pattern_concern_score(y, proba, release_factors=release_matrix([(0, 1)], 0.2, 2)) == float(plain)


def test_everything_released_leaves_the_penalty_of_the_true_class():
    nothing = release_matrix([(0, 1, 2), (1, 0, 2), (2, 0, 1)], 0.0, 3)
    row = [[0.5, 0.3, 0.2]]
    for convention in KEYS:
        score = meta_pattern_concern_score([0], row, release_factors=nothing, true_concern=convention)
        assert score == pytest.approx(-math.log(25 / 49))
    assert meta_pattern_concern_score([0], row, top_k=1) == pytest.approx(-math.log(25 / 49))


def test_certainty():
    assert meta_pattern_concern_score([0], [[1.0, 0, 0]]) == 0
    # A sum that is over 1 within the tolerance does not leave the last interval.
    for top_k in (2, 3):
        over, exact = (
            [meta_pattern_concern_score([y], [[p, 0, 0]], n_intervals=5000, top_k=top_k) for y in range(3)]
            for p in (1.0005, 1.0)
        )
        assert over == exact
        assert over[0] == 0
    assert meta_pattern_concern_score([1], [[1.0, 0, 0]], top_k=1) == pytest.approx(-math.log(1e-7 / 49))
    for t in (3, 50, 1000):
        assert penalties(t)[0] - penalties(t)[1] == pytest.approx(16.118, abs=1e-3)


def test_a_true_label_outside_the_top_k_can_lower_the_score_and_is_reported():
    row = [[0.3, 0.3, 0.25, 0.15]]
    outside, inside = (meta_pattern_concern_score([3], row, top_k=size) for size in (3, 4))
    assert outside < inside
    assert (outside.share_outside_top_k, inside.share_outside_top_k) == (1.0, 0.0)


def test_the_interval_is_the_floor_in_the_precision_of_the_probability():
    assert meta_pattern_concern_score([0], [[0.58, 0.42]]).confidence_pattern[0, 0] == math.floor(50 * 0.58) == 28
    single = np.array([[0.58, 0.42]], dtype=np.float32)
    expected = int(np.floor(np.float32(50) * np.float32(0.58)))
    assert meta_pattern_concern_score([0], single).confidence_pattern[0, 0] == expected


def test_ties_go_to_the_lower_index():
    score = meta_pattern_concern_score([0], [[0.25, 0.25, 0.25, 0.25]], top_k=2)
    assert score.prediction_pattern.tolist() == [[0, 1]]
    assert score.share_outside_top_k == 0
    assert meta_pattern_concern_score([2], [[0.25] * 4], top_k=2, labels=range(4)).share_outside_top_k == 1


def test_confidence_threshold_sets_the_intervals():
    proba = [[0.9, 0.1]]
    assert meta_pattern_concern_score([0], proba, confidence_threshold=0.98).n_intervals == 50
    assert meta_pattern_concern_score([0], proba, confidence_threshold=0.8).n_intervals == 5
    assert meta_pattern_concern_score([0], proba, confidence_threshold=0.8, n_intervals=5).n_intervals == 5
    # Confidence in the right class at or above the threshold goes unpunished.
    assert meta_pattern_concern_score([0], [[0.8, 0.2]], top_k=1, confidence_threshold=0.8) == 0
    assert meta_pattern_concern_score([0], [[0.79, 0.21]], top_k=1, confidence_threshold=0.8) > 0


def test_on_right_rows_the_limit_is_cross_entropy():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.ones(4), 200)
    limit = meta_pattern_concern_score(proba.argmax(axis=1), proba, top_k=1, n_intervals=1_000_000)
    assert limit == pytest.approx(log_loss(proba.argmax(axis=1), proba, labels=range(4)), abs=1e-4)
    wrong = proba.argmin(axis=1)
    limit = meta_pattern_concern_score(wrong, proba, top_k=1, n_intervals=1_000_000)
    assert limit == pytest.approx(-np.log(1 - proba.max(axis=1)).mean(), abs=1e-4)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"top_k": 0}, "top_k: 1 to 3 was expected, found 0"),
        ({"top_k": 4}, "top_k: 1 to 3 was expected, found 4"),
        ({"n_intervals": 1}, "n_intervals: 2 to 1000000 was expected, found 1"),
        ({"true_concern": "mean"}, "true_concern: 'sum' or 'count'"),
        ({"confidence_threshold": 1.0}, "confidence_threshold: a number in"),
        ({"confidence_threshold": 0.2}, "confidence_threshold: 0.2 leaves one interval"),
        ({"confidence_threshold": 0.9, "n_intervals": 20}, "n_intervals: confidence_threshold=0.9 means 10"),
        ({"release_factors": np.ones((2, 2))}, "release_factors: 3 x 3 numbers"),
        ({"release_factors": np.full((3, 3), 1.5)}, r"release_factors, entry \[0, 1\]: a factor in \[0, 1\]"),
        ({"class_weight": [1, 2]}, "class_weight: 3 weights"),
    ],
)
def test_options_out_of_range(option, said):
    with pytest.raises(ValueError, match=said):
        meta_pattern_concern_score([0], [[0.5, 0.3, 0.2]], **option)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"top_k": 1.5}, "top_k: a whole number was expected, found 1.5"),
        ({"n_intervals": "50"}, "n_intervals: a whole number was expected, found '50'"),
        ({"confidence_threshold": "0.9"}, r"confidence_threshold: a number in \(0, 1\) was expected, found '0.9'"),
    ],
)
def test_options_of_another_type(option, said):
    with pytest.raises(TypeError, match=said):
        meta_pattern_concern_score([0], [[0.5, 0.3, 0.2]], **option)


def test_release_matrix():
    factors = release_matrix([(0, 1), (2, 0, 1)], 0.25, 3)
    assert factors.tolist() == [[1, 0.25, 1], [1, 1, 1], [0.25, 0.25, 1]]


@pytest.mark.parametrize(
    ("releases", "factor", "n_classes", "said"),
    [
        ([(0, 3)], 0.5, 3, "entry 0: 0 to 2 was expected, found 3"),
        ([(0, 1), (1,)], 0.5, 3, "entry 1: a true class and at least one released class"),
        ([(0, 0)], 0.5, 3, "entry 0: class 0 cannot be released to itself"),
        ([], 1.5, 3, "factor: a number in"),
        ([], 0.5, 1, "n_classes: at least 2"),
    ],
)
def test_release_lists_that_make_no_sense(releases, factor, n_classes, said):
    with pytest.raises(ValueError, match=said):
        release_matrix(releases, factor, n_classes)
    with pytest.raises(TypeError, match=r"entry 0: \(true, released, \.\.\.\) was expected, found 0"):
        release_matrix([0, 1], 0.5, 3)
    with pytest.raises(TypeError, match=r"releases: a list of \(true, released, \.\.\.\) was expected, found 3"):
        release_matrix(3, 0.5, 3)
    with pytest.raises(TypeError, match=r"factor: a number in .* found None"):
        release_matrix([(0, 1)], None, 3)


def test_the_result_is_a_float():
    score = meta_pattern_concern_score([0, 1], [[0.2, 0.7, 0.1], [0.1, 0.8, 0.1]])
    assert isinstance(score, float)
    assert type(score + 1) is float
    assert json.dumps(score) == repr(float(score))
    again = pickle.loads(pickle.dumps(score))
    assert type(again) is MetaPatternConcernScore
    assert again == score
    np.testing.assert_array_equal(again.per_sample, score.per_sample)
    assert again.share_outside_top_k == 0


def test_arrays_that_were_changed_since_are_noticed():
    proba = np.array([[0.2, 0.8], [0.6, 0.4]])
    score = meta_pattern_concern_score([0, 1], proba)
    proba[0] = [0.9, 0.1]
    with pytest.raises(ValueError, match="changed since the score was taken"):
        _ = score.per_sample


def test_it_goes_through_cross_validation():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 2))
    for k in (2, 3):
        y = np.array(["a", "b", "c"])[np.argmax(x @ rng.normal(size=(2, k)) + rng.normal(size=(120, k)), axis=1)]
        scorer = make_scorer(meta_pattern_concern_score, greater_is_better=False, response_method="predict_proba")
        scores = cross_val_score(LogisticRegression(), x, y, scoring=scorer, cv=3)
        assert (scores < 0).all()


def test_an_accumulator_keeps_to_its_setting():
    one, other = ConcernScore(3, top_k=2), ConcernScore(3, top_k=3)
    with pytest.raises(ValueError, match="different top_k cannot be merged"):
        one.merge(other)
    with pytest.raises(ValueError, match="no case with a weight above zero"):
        one.result()
