"""Sharing work out changes nothing but when things are done."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elicit_app.study.sharing import shared_out


def alive():
    return [thread for thread in threading.enumerate() if thread.name.startswith("shared-out")]


@given(st.lists(st.integers(), max_size=20), st.integers(1, 3))
def test_every_item_is_worked_on_once_and_comes_back_in_order(items, n_threads):
    states = [[] for _ in range(n_threads)]

    def work(state, item):
        state.append(item)
        return -item

    assert list(shared_out(items, states, work)) == [-item for item in items]
    assert sorted(item for state in states for item in state) == sorted(items)
    assert not alive()


@given(st.lists(st.integers(), max_size=5))
def test_what_making_an_item_raises_is_raised(items):
    def failing():
        yield from items
        raise ValueError("no more")

    state = []
    with pytest.raises(ValueError, match="no more"):
        list(shared_out(failing(), [state], list.append))
    assert state == items
    assert not alive()


def test_what_the_work_raises_is_raised_after_the_items_before():
    def work(state, item):
        if item == 3:
            raise ValueError("three")
        return item

    done = shared_out(range(1_000), [None, None], work)
    assert [next(done) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="three"):
        next(done)
    assert not alive()


def test_only_a_few_items_are_made_before_and_none_after_the_reader_has_left():
    made = []

    def numbers():
        for number in range(1_000):
            made.append(number)
            yield number

    done = shared_out(numbers(), [None, None], lambda state, item: item)
    assert next(done) == 0
    done.close()
    assert not alive()
    assert len(made) == 3
