"""Geometry of the count bars: every case is one square, and a length always means the same number."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPointF

from elicit_app.gui.question.layout import LARGEST_PITCH, MOST_SQUARES, Bar, Scale, ScaleMemory, scale_for

COUNTS = st.integers(0, 160)
SCALES = st.builds(Scale, st.sampled_from([5, 10]), st.sampled_from([3.0, 5.5, 7.0, 9.0, 12.0]))


@given(st.integers(1, 3000), st.floats(40, 400), st.floats(20, 160))
def test_the_largest_count_fits_its_room(largest: int, width: float, height: float) -> None:
    scale = scale_for(largest, width, height)
    assert scale.length(largest) <= width + 1e-6
    assert scale.height <= height + 1e-6
    assert scale.pitch <= LARGEST_PITCH
    assert scale.pitch * 2 == int(scale.pitch * 2), "half-pixel steps"
    assert scale.solid or largest <= MOST_SQUARES
    assert scale.solid or scale.pitch > scale.gap


@given(st.integers(1, 400))
def test_five_squares_a_column_unless_ten_are_larger(largest: int) -> None:
    scale = scale_for(largest, 247, 140)
    if scale.rows == 10:
        assert -(-largest // 5) * 7.0 > 247, "five would have left less than seven pixels"


@given(COUNTS, COUNTS, SCALES, st.sampled_from([-1, 1]))
def test_every_case_is_one_square_and_squares_never_overlap(a: int, b: int, scale: Scale, outwards: int) -> None:
    bar = Bar(a, min(a, b), scale, 200.0, 30.0, outwards)
    assert len(bar.common) == min(a, b)
    assert len(bar.surplus) == a - min(a, b)
    squares = [*bar.common, *bar.surplus]
    assert len({(square.x(), square.y()) for square in squares}) == a
    for square in squares:
        assert square.width() == square.height() == scale.pitch - scale.gap
        reach = (square.left() - 200.0) if outwards > 0 else (200.0 - square.right())
        assert -1e-9 <= reach <= scale.length(a) + 1e-9
        assert square.top() >= 30.0 - 1e-9
        assert square.bottom() <= 30.0 + scale.height + 1e-9


@given(COUNTS, COUNTS, SCALES)
def test_the_sides_mirror_each_other(a: int, b: int, scale: Scale) -> None:
    left, right = (Bar(a, min(a, b), scale, 0.0, 0.0, outwards) for outwards in (-1, 1))
    for one, two in zip([*left.common, *left.surplus], [*right.common, *right.surplus], strict=True):
        assert abs(one.left() + two.right()) < 1e-9
        assert one.top() == two.top()


@given(st.integers(1, 120), st.integers(1, 60), SCALES)
def test_one_outline_goes_round_the_surplus_and_leaves_the_common_part_out(
    common: int, extra: int, scale: Scale
) -> None:
    bar = Bar(common + extra, common, scale, 0.0, 0.0, 1)
    outline = bar.outline
    assert all(outline.contains(square) for square in bar.surplus)
    assert not any(outline.contains(square.center()) for square in bar.common)
    assert len(outline.toSubpathPolygons()) == 1 or extra < scale.rows, "only few cases may touch at a corner"
    between = bar.surplus[0].center()
    if extra >= 2 * scale.rows:
        assert outline.contains(QPointF(between.x() + scale.pitch, between.y())), "no holes"


@given(st.integers(501, 20_000), st.integers(501, 20_000))
def test_solid_bars_are_as_long_as_their_counts(a: int, b: int) -> None:
    scale = scale_for(max(a, b), 240, 100)
    assert scale.solid
    bar = Bar(a, min(a, b), scale, 0.0, 0.0, 1)
    length = sum(rect.width() for rect in (*bar.common, *bar.surplus))
    assert abs(length / 240 - a / max(a, b)) < 1e-9


@given(st.lists(st.integers(1, 900), min_size=1, max_size=12), st.lists(st.floats(40, 160), min_size=12, max_size=12))
def test_during_a_session_a_length_only_ever_means_more(largest: list[int], heights: list[float]) -> None:
    memory, lengths = ScaleMemory(), []
    for count, height in zip(largest, heights, strict=False):
        memory.record_counts([count])
        scale = memory.scale(240, height, (1280, 800, 15))
        assert memory.largest == max(largest[: len(lengths) + 1])
        assert scale.length(memory.largest) <= 240 + 1e-6
        assert scale.height <= height
        lengths.append(scale)
    for before, after in itertools.pairwise(lengths):
        if before.height <= min(heights) and before.length(memory.largest) <= 240:
            assert after.length(1000) <= before.length(1000)


def test_the_same_questions_keep_their_scale() -> None:
    memory = ScaleMemory()
    memory.record_counts([133, 31])
    first = memory.scale(247, 140, (1280, 800, 15))
    memory.record_counts([12, 40])
    assert memory.scale(247, 140, (1280, 800, 15)) is first
    assert (first.rows, first.pitch) == (5, 9.0)


def test_gaps_shrink_with_the_squares() -> None:
    assert [Scale(5, pitch).gap for pitch in (12.0, 8.0, 7.5, 6.0, 5.5)] == [2, 2, 1.5, 1.5, 1]
