"""Where things stand on the question page, in every size and font it is made for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF
from PySide6.QtWidgets import QLabel, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements.painting import breakable
from elicit_app.gui.question.flow_view import FlowList, flow_place, leaf_heights, more_font, prediction_font
from elicit_app.gui.question.page import QuestionPage
from elicit_app.gui.question.row import CountBar

SIZES = ((1280, 800), (1280, 700), (1024, 720), (800, 600))


def shown(qtbot, study, view, size=(1280, 800), family="lpm") -> QuestionPage:
    page = QuestionPage(lock_ms=0)
    qtbot.addWidget(page)
    page.resize(*size)
    page.begin(study, family)
    page.show()
    page.show_question(view)
    qtbot.waitUntil(lambda: page.on_screen)
    return page


def on_page(page, widget: QWidget) -> QRect:
    return QRect(widget.mapTo(page, QPoint(0, 0)), widget.size())


def spans(page, *widgets: QWidget) -> list[tuple[int, int]]:
    return [(on_page(page, w).left(), on_page(page, w).right() + 1) for w in widgets]


def near(found: list[tuple[int, int]], expected: list[tuple[int, int]]) -> bool:
    pairs = zip(found, expected, strict=True)
    return all(abs(a - b) <= 2 for f, e in pairs for a, b in zip(f, e, strict=True))


def heights(page, *widgets: QWidget) -> list[tuple[int, int]]:
    return [(on_page(page, w).top(), on_page(page, w).bottom() + 1) for w in widgets]


def test_places_at_1280_by_800(qtbot, ask, pairs) -> None:
    study, left, right = pairs["three"]
    page = shown(qtbot, study, ask(left, right))
    a, b = page.card.rows[0].bars
    answers = page.answers
    assert near(spans(page, a, b), [(76, 468), (812, 1204)])
    assert near(spans(page, answers.a, answers.equal, answers.b), [(76, 468), (480, 800), (812, 1204)])
    assert near(heights(page, page.stop, page.strip, answers.a), [(16, 56), (610, 658), (674, 738)])
    assert near(heights(page, answers.clearly_a, answers.unsure), [(746, 782), (746, 782)])
    (head_top, _), (top, bottom) = heights(page, page.headline, page.card)
    assert head_top == 88
    assert (top, bottom) == (pytest.approx(146, abs=2), pytest.approx(586, abs=2))
    assert all(row.height() <= 172 + 2 for row in page.card.rows)


@pytest.mark.parametrize(("kind", "sides"), [("three", (232, 288, 232)), ("ten", (216, 320, 216))])
def test_places_at_800_by_600(qtbot, ask, pairs, kind, sides) -> None:
    study, left, right = pairs[kind]
    page = shown(qtbot, study, ask(left, right), (800, 600))
    a, b = page.card.rows[0].bars
    answers = page.answers
    assert near(spans(page, a, b), [(24, 24 + sides[0]), (776 - sides[2], 776)])
    assert near(spans(page, answers.a, answers.b), [(24, 24 + sides[0]), (776 - sides[2], 776)])
    assert near(heights(page, page.stop, answers.a, answers.unsure), [(8, 48), (488, 544), (554, 590)])
    if kind == "three":
        assert near(heights(page, page.strip, page.card), [(435, 478), (96, 426)])
    assert answers.a.keys == ("Left",)
    assert answers.unsure.text() == "Cannot say"


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", ["two", "three", "ten", "large"])
def test_nothing_scrolls_overlaps_or_leaves_the_window(qtbot, ask, pairs, kind, size) -> None:
    study, left, right = pairs[kind]
    page = shown(qtbot, study, ask(left, right), size)
    for full in (False, True):
        if full:
            page.toggle_full_picture()
        # The full picture of ten classes is the one thing that is higher than a small window.
        scrolls = full and kind == "ten" and size == (800, 600)
        assert (page.area.verticalScrollBar().maximum() > 0) == scrolls
        blocks = [page.bar, page.area if scrolls else page.card, page.strip, page.answers]
        places = [on_page(page, block) for block in blocks]
        assert all(page.rect().contains(place) for place in places)
        assert all(not one.intersects(two) for n, one in enumerate(places) for two in places[:n])


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("size", SIZES)
def test_no_text_is_cut(qtbot, qapp, ask, pairs, scale, size) -> None:
    theme.apply(qapp, scale=scale, family="DejaVu Sans")
    for kind in ("three", "ten"):
        study, left, right = pairs[kind]
        page = shown(qtbot, study, ask(left, right), size)
        for label in labels(page):
            needs = label.heightForWidth(label.width()) if label.wordWrap() else label.sizeHint().height()
            assert needs <= label.height() + 1, label.text()
            assert widest_word(label) <= label.width() + 1, label.text()
        for button in (*page.answers.buttons, page.undo, page.stop):
            assert button.isHidden() or button.minimumSizeHint().width() <= button.width(), button.text()
        page.close()


def labels(page: QuestionPage) -> Iterator[QLabel]:
    return (label for label in page.findChildren(QLabel) if label.isVisible() and label.text())


def widest_word(label: QLabel) -> float:
    metrics = QFontMetricsF(label.font())
    words = label.text().replace("\N{SOFT HYPHEN}", " ").split() if label.wordWrap() else [label.text()]
    return max(metrics.horizontalAdvance(word) for word in words)


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_150_percent_needs_no_scrolling_and_200_percent_stacks(qtbot, qapp, ask, pairs, scale) -> None:
    theme.apply(qapp, scale=scale, family="DejaVu Sans")
    study, left, right = pairs["three"]
    page = shown(qtbot, study, ask(left, right))
    bar = page.area.verticalScrollBar()
    assert (bar.maximum() == 0) == (scale < 2)
    if scale < 2:
        return
    assert page.strip.mapTo(page, QPoint(0, 0)).y() < page.card.mapTo(page, QPoint(0, 0)).y()
    assert page.stop.text() == "Stop"
    assert page.stop.accessibleName() == "Stop and see the result"
    row = page.card.rows[0]
    assert row.name.geometry().bottom() < row.bars[0].geometry().top()
    assert row.bars[0].geometry().right() < row.bars[1].geometry().left() + 1
    before = [on_page(page, widget) for widget in (page.bar, page.answers)]
    qtbot.keyClick(page, Qt.Key.Key_PageDown)
    assert bar.value() > 0
    assert [on_page(page, widget) for widget in (page.bar, page.answers)] == before, "only the middle scrolls"
    assert page.answers.height() <= 0.4 * page.height()
    page.show_question(ask(right, left, 8))
    assert bar.value() == 0, "the next question begins at its top"
    qtbot.wait(1)
    assert bar.value() == 0


def test_answers_too_high_for_the_window_scroll_with_the_rest(qtbot, qapp, ask, pairs) -> None:
    theme.apply(qapp, scale=3.5, family="DejaVu Sans")
    study, left, right = pairs["three"]
    page = shown(qtbot, study, ask(left, right), (800, 600))
    assert page.answers_scroll
    assert page.body.isAncestorOf(page.answers)
    theme.apply(qapp, family="DejaVu Sans")
    qtbot.waitUntil(lambda: not page.body.isAncestorOf(page.answers))
    assert not page.answers_scroll
    assert page.answers.isVisible()


def test_in_a_high_window_the_page_stays_together(qtbot, monkeypatch, ask, pairs) -> None:
    study, left, right = pairs["ten"]
    page = shown(qtbot, study, ask(left, right), (2560, 1440))
    top, bottom = on_page(page, page.headline).top(), on_page(page, page.answers).bottom()
    assert bottom - top < 900
    assert abs((top - page.bar.geometry().bottom()) - (page.height() - bottom)) < 100, "in the middle of what is left"
    page.resize(2560, 900)
    assert page.answers.geometry().bottom() > 850, "no height is wasted in a lower window"
    monkeypatch.setattr("elicit_app.gui.question.pair_page._HIGHEST", 500)
    page.resize(2560, 1440)
    assert page.answers.geometry().bottom() > 1390, "what would scroll otherwise takes all of the height"
    assert not page.area.verticalScrollBar().isVisible()


@pytest.mark.parametrize("family", ["lpm", "dlpm"])
def test_the_page_fits_800_by_600_with_long_words(qtbot, long_words, ask, pairs, family) -> None:
    _, left, right = pairs["three"]
    page = shown(qtbot, long_words, ask(left, right), (800, 600), family)
    least = page.minimumSizeHint()
    assert (least.width(), least.height()) <= (800, 600)
    assert least.height() <= 600
    assert page.width() == 800
    for label in labels(page):
        assert widest_word(label) <= label.width() + 1, label.text()


def test_a_word_longer_than_its_column_is_broken_not_cut(qtbot, skin, ask, pairs) -> None:
    from dataclasses import replace

    mistake = replace(skin.wording.mistakes[0, 1], name="Rechtsschutzversicherungsgesellschaftenverwechslung")
    wording = replace(skin.wording, mistakes={**skin.wording.mistakes, (0, 1): mistake})
    _, left, right = pairs["three"]
    page = shown(qtbot, replace(skin, wording=wording), ask(left, right), (800, 600))
    name = page.card.rows[0].name
    assert "\N{SOFT HYPHEN}" in name.text()
    assert widest_word(name) <= name.width()
    assert name.height() >= 2 * QFontMetricsF(name.font()).height()


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", ["two", "three", "ten", "large"])
def test_painted_bars_are_never_cut(qtbot, qapp, ask, pairs, kind, size, scale) -> None:
    theme.apply(qapp, scale=scale, family="DejaVu Sans")
    study, left, right = pairs[kind]
    page = shown(qtbot, study, ask(left, right), size)
    scales = set()
    for bar in page.findChildren(CountBar):
        place = bar.place()
        if not bar.isVisible() or place is None or place.bar is None:
            continue
        inside = bar.rect()
        parts = [*place.bar.common, *place.bar.surplus, place.label]
        if place.bar.surplus:
            parts.append(place.bar.outline.boundingRect())
        for part in parts:
            assert inside.left() <= part.left(), (kind, size, scale)
            assert part.right() <= inside.right() + 1
            assert inside.top() - 1 <= part.top()
            assert part.bottom() <= inside.bottom() + 1
        assert place.rate.y() <= inside.bottom()
        digits = QFontMetricsF(theme.font(page.plan().sizes.number, compact=page.plan().sizes.compact))
        count = QRectF(place.number.x(), place.number.y() - digits.capHeight(), digits.horizontalAdvance("0"), 1)
        assert not place.label.intersects(count)
        assert not (place.bar.surplus and place.label.isEmpty()) or (scale == 2.0 and size != (1280, 800))
        scales.add(place.bar.scale)
    assert len(scales) == 1, "a length means the same number in every row"


def test_the_middle_of_a_row_holds_name_flow_and_consequence(qtbot, ask, pairs) -> None:
    study, left, right = pairs["three"]
    row = shown(qtbot, study, ask(left, right)).card.rows[0]
    assert row.name.text() == "Missed melanoma"
    assert row.flow.text() == "of 120 melanoma patients → called naevus"
    assert row.consequence.text() == "Sent home. Found later, harder to treat."
    assert row.name.geometry().bottom() <= row.flow.geometry().top() <= row.consequence.geometry().top()


def test_dense_rows_keep_the_consequence_in_tooltip_and_description(qtbot, ask, pairs, tip) -> None:
    study, left, right = pairs["ten"]
    row = shown(qtbot, study, ask(left, right), (800, 600)).card.rows[0]
    assert not row.consequence.isVisible()
    assert tip(row) == row.accessibleDescription() == "Sent home. Found later, harder to treat."


def test_values_change_and_widgets_stay(qtbot, ask, pairs) -> None:
    study, left, right = pairs["three"]
    page = shown(qtbot, study, ask(left, right))
    rows, width = page.card.rows, page.card.rows[0].bars[1].place().bar.scale
    page.show_question(ask(right, left, 8))
    assert page.card.rows == rows
    assert page.card.rows[0].bars[1].place().bar.scale == width
    page.begin(pairs["ten"][0], "lpm")
    page.show_question(ask(*pairs["ten"][1:], 9))
    assert page.card.rows[:2] == rows
    assert len(page.card.rows) == 4
    page.begin(study, "lpm")
    page.show_question(ask(left, right, 10))
    assert page.card.rows == rows


def test_numbers_only_leaves_out_the_squares(qtbot, ask, pairs) -> None:
    study, left, right = pairs["three"]
    page = shown(qtbot, study, ask(left, right))
    page.set_numbers_only(True)
    assert all(bar.place().bar is None for bar in page.card.rows[0].bars)
    assert not page.card.rows[0].bars[0].place().label.isEmpty(), '"12 more" stays'
    page.set_numbers_only(False)
    assert page.card.rows[0].bars[0].place().bar.common


@pytest.mark.parametrize("scale", [1.0, 1.5])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", ["two", "three", "ten", "long"])
def test_the_full_picture_is_never_cut(qtbot, qapp, ask, pairs, long_words, kind, size, scale) -> None:
    theme.apply(qapp, scale=scale, family="DejaVu Sans")
    study, left, right = (long_words, *pairs["three"][1:]) if kind == "long" else pairs[kind]
    page = shown(qtbot, study, ask(left, right, full_picture=True), size)
    flow = page.card.flow
    if page.room.large:
        check_list(flow)
        return
    branches, compact = flow.shown(), page.plan().sizes.compact
    place = flow_place(branches, flow.width(), compact=compact)
    surplus = max(leaf.surplus for branch in branches for leaf in branch.leaves if leaf.differs)
    more = QFontMetricsF(more_font()).horizontalAdvance(f"{surplus:,} more")
    assert place.names + place.name_width < place.number < place.bars
    assert place.bars + more <= flow.width() / 2, (kind, size, scale)
    leaves = [height for branch in branches for height in leaf_heights(branch, place, 17, compact=compact)]
    assert sum(leaves) <= flow.height()
    assert min(leaves) >= QFontMetricsF(prediction_font(compact=compact, strong=True)).height()
    names = [leaf.called for branch in branches for leaf in branch.leaves]
    assert widest_piece(names, prediction_font(compact=compact, strong=True), place.name_width) <= place.name_width + 1


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", ["two", "three", "ten", "long"])
def test_the_full_picture_is_a_list_where_the_font_is_large(qtbot, qapp, ask, pairs, long_words, kind, size) -> None:
    theme.apply(qapp, scale=2, family="DejaVu Sans")
    study, left, right = (long_words, *pairs["three"][1:]) if kind == "long" else pairs[kind]
    page = shown(qtbot, study, ask(left, right, full_picture=True), size)
    assert isinstance(page.card.flow, FlowList)
    assert page.card.flow.isVisible()
    check_list(page.card.flow)
    theme.apply(qapp, family="DejaVu Sans")
    qtbot.waitUntil(lambda: not isinstance(page.card.flow, FlowList))
    assert page.card.flow.isVisible()


def check_list(flow: FlowList) -> None:
    room = flow.name_width(flow.width())
    assert room > 0
    assert flow.needed_height(flow.width()) <= flow.height() + 2
    names = [leaf.called for branch in flow.full for leaf in branch.leaves]
    assert widest_piece(names, prediction_font(compact=True, strong=True), room) <= room + 1


def widest_piece(names: list[str], face: QFont, width: float) -> float:
    metrics = QFontMetricsF(face)
    pieces = " ".join(breakable(name, metrics, width) for name in names).replace("\N{SOFT HYPHEN}", "- ").split()
    return max(map(metrics.horizontalAdvance, pieces))


@pytest.mark.parametrize("size", SIZES)
def test_the_strip_takes_smaller_type_before_a_third_line(qtbot, ask, pairs, size) -> None:
    study, left, right = pairs["ten"]
    page = shown(qtbot, study, ask(left, right), size)
    text = page.strip.text_for(page.strip.width())
    assert len(text.lines) <= 2 or text.role is theme.Role.STRONG
    room = page.strip.width() - 2 * theme.M
    assert all(text.width(line) <= room for line in text.lines)
    assert page.strip.height() >= len(text.lines) * QFontMetricsF(text.face()).height()
    assert [word.text for word in text.lines[-1][-1].words][-1] == "than A", "these two words stay together"
