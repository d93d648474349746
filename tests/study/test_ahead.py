"""Reading ahead changes nothing but when things are done."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elicit_app.study.ahead import read_ahead


def alive():
    return [thread for thread in threading.enumerate() if thread.name == "read-ahead"]


@given(st.lists(st.integers(), max_size=20))
def test_the_items_come_in_order(items):
    assert list(read_ahead(iter(items))) == items
    assert not alive()


@given(st.lists(st.integers(), max_size=5))
def test_an_error_comes_after_the_items_before_it(items):
    def failing():
        yield from items
        raise ValueError("no more")

    reader = read_ahead(failing())
    assert [next(reader) for _ in items] == items
    with pytest.raises(ValueError, match="no more"):
        next(reader)
    assert not alive()


def test_only_a_few_are_made_before_they_are_asked_for_and_none_after_the_reader_has_left():
    made = []

    def numbers():
        for number in range(1_000):
            made.append(number)
            yield number

    reader = read_ahead(numbers())
    assert next(reader) == 0
    reader.close()
    assert not alive()
    assert len(made) <= 5
