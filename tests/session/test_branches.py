"""The full picture of a pair: every case in exactly one leaf."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from elicit_app.elicitation.questions import Counts
from elicit_app.session.pair_words import branches
from elicit_app.study.model import default_wording


def counts(*rows: list[int]) -> Counts:
    return np.array(rows, dtype=np.int64)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Counts, Counts]:
    k = draw(st.integers(2, 10))
    left = np.array(draw(st.lists(st.lists(st.integers(0, 30), min_size=k, max_size=k), min_size=k, max_size=k)))
    right = left.copy()
    for i, j in draw(st.lists(st.tuples(st.integers(0, k - 1), st.integers(0, k - 1)), max_size=4)):
        moved = int(right[i, i]) // 2
        right[i, i] -= moved
        right[i, j] += moved
    return left.astype(np.int64), right.astype(np.int64)


@given(pairs(), st.booleans())
def test_every_case_is_in_one_leaf(pair: tuple[Counts, Counts], condensed: bool) -> None:
    left, right = pair
    shown = branches(left, right, default_wording([f"c{i}" for i in range(len(left))]), condensed=condensed)
    assert sum(leaf.left for branch in shown for leaf in branch.leaves) == left.sum()
    assert sum(leaf.right for branch in shown for leaf in branch.leaves) == right.sum()
    for branch in shown:
        assert branch.total == sum(leaf.left for leaf in branch.leaves) == sum(leaf.right for leaf in branch.leaves)
    assert sum(leaf.left for branch in shown for leaf in branch.leaves if leaf.correct) == np.trace(left)


@given(pairs())
def test_what_differs_is_never_joined(pair: tuple[Counts, Counts]) -> None:
    left, right = pair
    wording = default_wording([f"c{i}" for i in range(len(left))])
    full, condensed = branches(left, right, wording), branches(left, right, wording, condensed=True)
    different = [
        [(branch.truth, leaf) for branch in shown for leaf in branch.leaves if leaf.differs]
        for shown in (full, condensed)
    ]
    assert different[0] == different[1]
    assert sum(len(branch.leaves) for branch in condensed) <= sum(len(branch.leaves) for branch in full)


def test_what_is_the_same_is_joined_and_counted() -> None:
    left = np.diag([10, 10, 10, 10, 10]).astype(np.int64)
    right = left.copy()
    right[0] = [8, 2, 0, 0, 0]
    shown = branches(left, right, default_wording(list("vwxyz")), condensed=True)
    assert [(branch.truth, branch.total) for branch in shown] == [("v", 10), ("4 others", 40)]
    assert [leaf.called for leaf in shown[0].leaves] == ["v", "w", "3 others"]
    assert [(leaf.called, leaf.left, leaf.correct) for leaf in shown[1].leaves] == [
        ("the same", 40, True),
        ("something else", 0, False),
    ]


def test_the_right_answers_merely_follow() -> None:
    left, right = counts([8, 2], [1, 9]), counts([9, 1], [1, 9])
    (first, second) = branches(left, right, default_wording(["a", "b"]))
    assert [leaf.differs for leaf in first.leaves] == [False, True]
    assert first.leaves[1].surplus == 1
    assert not any(leaf.differs for leaf in second.leaves)
