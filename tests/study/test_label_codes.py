"""Labels found at once mean what they mean one by one."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elicit_app.study.label_codes import exact_codes

NUMBERS = [str(number) for number in (-3, 0, 1, 2, 7, 40)]
WORDS = ["cat", "dog", "a", "é", "0", "1.0", "-0", "7", "bird", "wolf"]


@given(st.data())
def test_text(data):
    classes = data.draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=10, unique=True))
    labels = data.draw(st.lists(st.sampled_from([*WORDS, " cat", "", None]), max_size=8))
    codes = exact_codes(pl.Series("y", labels, dtype=pl.String), classes)
    if labels and set(labels) <= set(classes):
        assert codes.dtype == np.int64
        assert [classes[code] for code in codes] == labels
    else:
        assert codes is None


@given(
    st.lists(st.sampled_from([*NUMBERS, "07", "+1", "x"]), min_size=1, max_size=6, unique=True),
    st.lists(st.sampled_from([-3, 0, 1, 2, 7, 40, 41, 2**40]), min_size=1, max_size=8),
)
def test_integers(classes, labels):
    codes = exact_codes(pl.Series("y", labels, dtype=pl.Int64), classes)
    if {str(label) for label in labels} <= set(classes):
        assert [classes[code] for code in codes] == [str(label) for label in labels]
    else:
        assert codes is None


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt8, pl.UInt32, pl.UInt64, pl.Int64])
def test_integers_of_every_width(dtype):
    assert exact_codes(pl.Series("y", [1, 0, 1], dtype=dtype), ["0", "1"]).tolist() == [1, 0, 1]


def test_an_integer_that_no_column_can_hold():
    assert exact_codes(pl.Series("y", [2**64 - 1], dtype=pl.UInt64), ["-1", "0"]) is None
    assert exact_codes(pl.Series("y", [0], dtype=pl.Int64), ["0", str(10**30)]) is None


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["b", "c", "a"])])
def test_categories(dtype):
    labels = pl.Series("y", ["b", "a", "b"], dtype=dtype)
    assert exact_codes(labels, ["a", "b"]).tolist() == [1, 0, 1]
    assert exact_codes(labels, ["a", "c"]) is None


@pytest.mark.parametrize("values", [[1.0, 0.0], [True, False], [1, None]])
def test_other_types_and_empty_cells_are_left_to_others(values):
    assert exact_codes(pl.Series("y", values), ["0", "1"]) is None
