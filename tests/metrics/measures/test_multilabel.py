"""Multi-label score with separate penalties."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array
from sklearn.metrics import hamming_loss

from metrics.errors import InputError
from metrics.measures.multilabel import MultilabelTally, penalized_multilabel_score

Y, P = [[1, 0, 0, 1], [0, 0, 1, 0], [1, 1, 0, 0]], [[1, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 0]]


@pytest.mark.parametrize("kind", [list, np.array, lambda t: np.array(t, dtype=bool), pd.DataFrame])
def test_checked_example(kind):
    score = penalized_multilabel_score(kind(Y), kind(P), false_positive_penalty=1, false_negative_penalty=5)
    assert score == pytest.approx(-0.6666666667, abs=1e-9)
    np.testing.assert_allclose(score.per_item, [-0.5, 0.5, -2], atol=1e-12)
    assert score.counts == (2, 6, 1, 3)
    assert score.counts.false_negative == 3
    np.testing.assert_allclose(score.per_label, [2 / 3, 1 / 3, 1, 2 / 3], atol=1e-12)


def test_never_giving_a_label_does_not_pay():
    true = np.zeros((100, 10), dtype=int)
    true.ravel()[:80] = 1
    score = penalized_multilabel_score(true, np.zeros_like(true), false_negative_penalty=5)
    assert score == pytest.approx(0.52, abs=1e-9)
    assert penalized_multilabel_score(
        true, np.zeros_like(true), false_positive_penalty=0, false_negative_penalty=0
    ) == pytest.approx(0.92)


tables = arrays(bool, st.tuples(st.just(2), st.integers(1, 8), st.integers(1, 5)))


@given(tables, st.floats(0, 10), st.floats(0, 10))
def test_laws(tables, fp, fn):
    true, predicted = tables
    free = penalized_multilabel_score(true, predicted, false_positive_penalty=0, false_negative_penalty=0)
    assert free == pytest.approx(1 - hamming_loss(true, predicted), abs=1e-12)
    score = penalized_multilabel_score(true, predicted, false_positive_penalty=fp, false_negative_penalty=fn)
    assert score == pytest.approx(score.per_item.mean(), abs=1e-9)
    swapped = penalized_multilabel_score(predicted, true, false_positive_penalty=fn, false_negative_penalty=fp)
    assert swapped == pytest.approx(float(score), abs=1e-12)
    assert sum(score.counts) == true.size


@pytest.mark.parametrize(
    ("true", "predicted", "options", "said"),
    [
        ([[0, 2]], [[0, 1]], {}, r"y_true, entry \[0, 1\]: 0 or 1 was expected, found 2"),
        ([[0, 1]], [[0, 0.5]], {}, r"y_pred, entry \[0, 1\]: 0 or 1"),
        ([[0, 1]], [[0, 1, 1]], {}, r"y_pred: the shape of y_true, \(1, 2\)"),
        ([0, 1], [0, 1], {}, "y_true: a row per item"),
        ([[0, 1], [1]], [[0, 1]], {}, "y_true: numbers were expected, all rows of the same length"),
        (np.empty((0, 3)), np.empty((0, 3)), {}, "y_true: a row per item"),
        ([[0, 1]], [[0, 1]], {"false_positive_penalty": -1}, "false_positive_penalty: a number >= 0"),
        ([[0, 1]], [[0, 1]], {"false_negative_penalty": float("nan")}, "false_negative_penalty: a number >= 0"),
    ],
)
def test_what_is_refused(true, predicted, options, said):
    with pytest.raises(ValueError, match=said):
        penalized_multilabel_score(true, predicted, **options)


def test_batches_have_as_many_labels_as_was_said():
    with pytest.raises(ValueError, match="y_true: 3 labels were expected, found 2"):
        MultilabelTally(3).update([[0, 1]], [[0, 1]])
    with pytest.raises(ValueError, match="no case with a weight above zero"):
        MultilabelTally(3).result()


def test_labels_have_names_and_scores_of_their_own_under_the_penalties():
    score = penalized_multilabel_score(
        pd.DataFrame(Y, columns=["calm", "sad", "warm", "wild"]), P, false_positive_penalty=1, false_negative_penalty=5
    )
    assert score.labels == ("calm", "sad", "warm", "wild")
    np.testing.assert_allclose(score.per_label_score, [(2 - 5) / 3, (1 - 1 - 5) / 3, 1, (2 - 5) / 3])
    assert score.per_label_score.mean() == pytest.approx(score)
    assert penalized_multilabel_score(Y, P, labels=["a", "b", "c", "d"]).labels == ("a", "b", "c", "d")
    assert penalized_multilabel_score(Y, P).labels[0] == "label 0"
    with pytest.raises(ValueError, match="labels: 4 names were expected, one per column, found 1"):
        penalized_multilabel_score(Y, P, labels=["a"])
    for sides in ((pd.DataFrame(Y, columns=[*"abcd"]), P), (Y, pd.DataFrame(P, columns=[*"abcd"]))):
        with pytest.raises(ValueError, match="the columns are named a, b, c, d, but d, c, b, a was expected"):
            penalized_multilabel_score(*sides, labels=[*"dcba"])
    names = [text.get_text() for text in score.plot().get_yticklabels()]
    assert names == [*score.labels]


def test_a_sparse_table_is_a_table():
    assert penalized_multilabel_score(csr_array(Y), csr_array(P), false_negative_penalty=5) == pytest.approx(-2 / 3)


def test_columns_of_another_order_are_refused():
    true, predicted = (pd.DataFrame(table, columns=[*"abcd"]) for table in (Y, P))
    assert penalized_multilabel_score(true, predicted) == penalized_multilabel_score(Y, P)
    with pytest.raises(InputError, match="y_pred: the columns are named b, a, c, d, but a, b, c, d was expected"):
        penalized_multilabel_score(true, predicted[[*"bacd"]])
