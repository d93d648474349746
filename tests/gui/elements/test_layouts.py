"""Columns and rows hold what they are given, in order, with the room and the place that each is given."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QLabel, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements.page import HeadedPage
from elicit_app.gui.elements.surfaces import arrange_parts, column_widths, fill, in_column, in_row
from elicit_app.gui.pages.review import ReviewPage

TOP = Qt.AlignmentFlag.AlignTop


def test_a_column_holds_widgets_layouts_and_empty_room_in_order(qtbot):
    page = QWidget()
    qtbot.addWidget(page)
    first, second, last = QLabel("first"), QLabel("second"), QLabel("last")
    beside = in_row((second, 2), spacing=7)
    column = in_column(first, (beside, 3), 1, on=page, margins=(1, 2, 3, 4), spacing=5)
    fill(column, (last, 0, TOP))
    items = [column.itemAt(at) for at in range(column.count())]
    assert [items[0].widget(), items[1].layout(), items[3].widget()] == [first, beside, last]
    assert items[2].spacerItem() is not None
    assert [column.stretch(at) for at in range(4)] == [0, 3, 1, 0]
    assert items[3].alignment() == TOP
    margins = column.contentsMargins()
    assert (margins.left(), margins.top(), margins.right(), margins.bottom()) == (1, 2, 3, 4)
    assert (column.spacing(), beside.spacing(), beside.stretch(0)) == (5, 7, 2)
    assert page.layout() is column


def test_what_stands_beside_each_other_may_stand_below(qtbot):
    page, row = QWidget(), in_row(spacing=24, stacks="compact")
    qtbot.addWidget(page)
    in_column(in_column(row), on=page)
    arrange_parts(page, theme.Breakpoint(compact=True, low=False, large=False))
    assert (row.direction(), row.spacing()) == (QBoxLayout.Direction.TopToBottom, theme.M)
    arrange_parts(page, theme.WIDE)
    assert (row.direction(), row.spacing()) == (QBoxLayout.Direction.LeftToRight, 24)


def test_no_column_is_wider_than_it_needs_while_another_is_cut(qtbot):
    assert column_widths(600, {0: (1, 60), 2: (1, 280), 3: (1, 400)}) == {0: 60, 2: 270, 3: 270}
    assert column_widths(600, {0: (1, 60), 1: (1, 100)}) == {0: 300, 1: 300}, "what fits everywhere is shared as stated"
    assert column_widths(101, {0: (1, 90), 1: (1, 90)}) == {0: 50, 1: 51}, "no pixel is left over"
    assert column_widths(100, {}) == {}


def test_a_long_line_under_a_headline_is_shown_whole(qtbot):
    page = ReviewPage()
    qtbot.addWidget(page)
    page.resize(800, 600)
    with qtbot.waitExposed(page):
        page.show()
    found = "One pair has two different answers, and one took the plainly worse side, and answers 12 and 14 differ."
    for times in (1, 2, 3):
        page.header.say("Look back before you finish", " ".join([found] * times))
        qtbot.wait(50)
        line = page.header.line
        assert line.height() >= line.heightForWidth(line.width())


def test_what_is_reported_comes_into_view_where_the_head_of_a_page_scrolls(qtbot, qapp):
    theme.apply(qapp, scale=2.0, family="DejaVu Sans")
    page = HeadedPage()
    qtbot.addWidget(page)
    tall = QWidget()
    tall.setFixedHeight(2_000)
    page.body.addWidget(tall)
    page.resize(800, 600)
    with qtbot.waitExposed(page):
        page.show()
    bar = page.area.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0)
    for sentence in ("The file could not be written.", "Saved."):
        bar.setValue(bar.maximum())
        page.notice.say(sentence)
        qtbot.waitUntil(lambda: page.notice.visibleRegion().boundingRect() == page.notice.rect())
    bar.setValue(bar.maximum())
    page.notice.say("")
    qtbot.wait(20)
    assert bar.value() == bar.maximum()
