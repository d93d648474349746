"""One row of the comparison: a mistake in words, and on either side its number, rate and squares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QFont, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QLabel, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements.painting import (
    Glyph,
    Label,
    Painted,
    Sized,
    annotate,
    breakable,
    elided,
    key_caps_width,
    paint_glyph,
    paint_key_caps,
    side_colours,
    wrapped_height,
    write,
)
from elicit_app.gui.question.answers import MoveState
from elicit_app.gui.question.layout import OUTLINE, Bar, Plan, Scale, Sizes, plan
from elicit_app.gui.theme import Role, em, font
from elicit_app.session.pair_words import Row, flow_words, letter_of
from elicit_app.session.views import Side

BESIDE_NUMBER = 18  # distance between the digits and the squares
FIELD_BEYOND, _FIELD_GAP, _FRAME_BEYOND = 12, 6, 6
"""Margin of a number's field beyond its digits, its distance from the squares, and the margin of the frame around both
beyond the column."""

_OR_TYPE = "or type"
_HANDLE_AIR = 18  # distance from an end of the slider without text, because its handle may be there
_UNDER_NUMBER, _UNDER_NUMBER_TIGHT = 8, 6  # distance between the digits and the rate


@dataclass(frozen=True)
class BarPlace:
    """Places of the parts of a count bar, in widget coordinates."""

    number: QPointF
    rate: QPointF
    squares: QRectF
    bar: Bar | None
    label: QRectF


class MovePlaces(NamedTuple):
    """Places for moving a number, in the bar's coordinates: field, ends of the scale, height of the slider."""

    field: QRectF
    ends: tuple[float, float]
    middle: float


def digits_width(largest: int, sizes: Sizes) -> float:
    """Return the width reserved for the page's numbers: three digits, or as many as the largest number has."""
    metrics = QFontMetricsF(font(sizes.number, compact=sizes.compact))
    return max(metrics.horizontalAdvance("000"), metrics.horizontalAdvance(f"{largest:,}"))


def side_width(largest: int, sizes: Sizes) -> float:
    """Return the least width of a side that fits the number and "12 more" side by side."""
    label = em(12) + theme.S + QFontMetricsF(_label_font(sizes)).horizontalAdvance(f"{max(100, largest):,} more")
    return sizes.inner + digits_width(largest, sizes) + BESIDE_NUMBER + label + theme.S


def label_height(sizes: Sizes) -> float:
    """Return the height of "12 more" with the space under it."""
    return QFontMetricsF(_label_font(sizes)).height() + _over_squares(sizes)


def _over_squares(sizes: Sizes) -> int:
    return 2 if sizes.tight else theme.XS


def _label_font(sizes: Sizes) -> QFont:
    return font(Role.MINOR if sizes.tight else Role.STRONG, weight=600)


class CountBar(Painted, Sized, QLabel):
    """A painted label whose accessible name states its content; the left side grows to the left."""

    size_asked = size_least = (100, 48)

    def __init__(self, side: Side, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.side: Side = side
        self._row: Row | None = None
        self._sizes: Sizes | None = None
        self._scale: Scale | None = None
        self._digits = 0.0
        self.moving: MoveState | None = None  # while its number is moved

    def set_moving(self, moving: MoveState | None) -> None:
        """Leave the number to its field while it is moved, or paint it."""
        self.moving = moving
        self.update()

    def show_row(self, row: Row, sizes: Sizes, scale: Scale | None, digits: float) -> None:
        """Show one side of a row, without squares if `scale` is None; `digits` is the width reserved for the number."""
        self._row, self._sizes, self._scale, self._digits = row, sizes, scale, digits
        annotate(self, name=row.spoken(self.side))
        self.update()

    def place(self) -> BarPlace | None:
        """Return the current places of all parts; None before there is a row."""
        row, sizes = self._row, self._sizes
        if row is None or sizes is None:
            return None
        digits = QFontMetricsF(font(sizes.number, compact=sizes.compact))
        rates = QFontMetricsF(font(sizes.rate))
        outwards = -1 if self.side == "left" else 1
        edge = self.width() - sizes.inner if self.side == "left" else float(sizes.inner)
        squares = self._squares(sizes, outwards, edge)
        middle = squares.center().y()
        comma = digits.tightBoundingRect("1,000").bottom() if self._digits > digits.horizontalAdvance("000") else 0
        between = em(_UNDER_NUMBER_TIGHT if sizes.tight else _UNDER_NUMBER) + max(0.0, comma)
        block = digits.capHeight() + between + rates.capHeight()
        top = min(middle - block / 2, self.height() - theme.XS - block)
        number_y = float(round(top + digits.capHeight()))
        rate_y = number_y + between + rates.capHeight()
        if self.moving is not None:
            below = self.field(sizes, squares, number_y).bottom()
            rate_y = max(rate_y, below + theme.XS + rates.capHeight())
        number, rate = f"{row.count(self.side):,}", row.rates[0 if self.side == "left" else 1]
        back = (digits.horizontalAdvance(number), rates.horizontalAdvance(rate)) if outwards < 0 else (0.0, 0.0)
        start = squares.right() if outwards < 0 else squares.left()
        common, bar = min(row.left, row.right), None
        if self._scale is not None:
            bar = Bar(row.count(self.side), common, self._scale, start, squares.top(), outwards)
        at, label = QPointF(edge - back[0], number_y), self._label(row, sizes, squares, bar)
        high, wide = digits.capHeight() + theme.XS, digits.horizontalAdvance(number)
        taken = QRectF(at.x(), number_y - high, wide, high)
        if self.moving is not None:
            taken = self.field(sizes, squares, number_y)
        if label.right() > taken.left() and label.left() < taken.right():  # no room beside the number
            label.moveBottom(min(label.bottom(), taken.top()))
        if label.top() < 0:
            label = QRectF()  # the strip says it too
        return BarPlace(number=at, rate=QPointF(edge - back[1], rate_y), squares=squares, bar=bar, label=label)

    def _squares(self, sizes: Sizes, outwards: int, edge: float) -> QRectF:
        """Return the room for the squares, centred together with "12 more" above and the slider below."""
        height = self._scale.height if self._scale is not None else 0.0
        above = label_height(sizes)
        spare = max(0.0, (self.height() - above - height - sizes.below) / 2)
        top = round(above + (min(12.0, spare) if sizes.stacked else spare))
        near = round(edge + outwards * (self._digits + BESIDE_NUMBER))
        far = sizes.outer if outwards < 0 else self.width() - sizes.outer
        return QRectF(min(near, far), top, abs(far - near), height)

    def _label(self, row: Row, sizes: Sizes, squares: QRectF, bar: Bar | None) -> QRectF:
        """Return the place of triangle and "12 more": over the surplus, within the column, never over the number."""
        if row.larger != self.side:
            return QRectF()
        metrics = QFontMetricsF(_label_font(sizes))
        width = em(10) + theme.S + metrics.horizontalAdvance(row.surplus_words)
        if bar is None:
            left = squares.right() - width if self.side == "left" else squares.left()
            return QRectF(left, squares.center().y() - metrics.height() / 2, width, metrics.height())
        block = bar.outline.boundingRect()
        low, high = float(theme.XS), self.width() - theme.XS - width
        if self.side == "left":
            high = min(high, squares.right() - width)
        else:
            low = max(low, squares.left())
        left = max(min(max(block.center().x() - width / 2, low), high), float(theme.XS))
        return QRectF(left, squares.top() - _over_squares(sizes) - metrics.height(), width, metrics.height())

    def paint(self, painter: QPainter, colours: theme.Tokens) -> None:
        place, row, sizes = self.place(), self._row, self._sizes
        if place is None or row is None or sizes is None:
            return
        if self.moving is not None:
            self._paint_move(painter, place, self.moving)
        else:
            painter.setFont(font(sizes.number, compact=sizes.compact))
            painter.setPen(colours.ink)
            painter.drawText(place.number, f"{row.count(self.side):,}")
        if self.moving is not None and self.moving.beyond:
            return
        painter.setFont(font(sizes.rate))
        painter.setPen(colours.ink2)
        painter.drawText(place.rate, row.rates[0 if self.side == "left" else 1])
        if place.bar is not None:
            self._paint_bar(painter, place.bar, colours)
        if not place.label.isEmpty():
            self._paint_label(painter, place.label, row.surplus_words, sizes, colours)

    # moving the number

    @property
    def frame(self) -> QRectF:
        """Return the frame around a moved number; it extends slightly into the middle column."""
        rect = QRectF(self.rect()).adjusted(0, theme.XS, 0, -theme.XS)
        return (
            rect.adjusted(theme.S, 0, _FRAME_BEYOND, 0)
            if self.side == "left"
            else rect.adjusted(-_FRAME_BEYOND, 0, -theme.S, 0)
        )

    def field(self, sizes: Sizes, squares: QRectF, number_y: float) -> QRectF:
        """Return the box of the number's field, around the position of the digits."""
        digits = QFontMetricsF(font(sizes.number, compact=sizes.compact))
        high = digits.capHeight() + em(16 if sizes.compact else 26)
        middle = number_y - digits.capHeight() / 2
        beyond = theme.S if sizes.compact else FIELD_BEYOND
        if self.side == "left":
            near, far = squares.right() + _FIELD_GAP, float(self.width() - sizes.inner + beyond)
        else:
            near, far = float(sizes.inner - beyond), squares.left() - _FIELD_GAP
        return QRectF(near, middle - high / 2, far - near, high)

    def move_places(self) -> MovePlaces | None:
        """Return the places of the field and the slider; None if the number is not being moved."""
        place, sizes, moving = self.place(), self._sizes, self.moving
        if place is None or sizes is None or moving is None:
            return None
        outwards = -1 if self.side == "left" else 1
        start = place.squares.right() if outwards < 0 else place.squares.left()
        per_case = place.squares.width() / max(1, moving.most)
        if self._scale is not None:
            scale = self._scale
            per_case = min(per_case, scale.per_case if scale.solid else scale.pitch / scale.rows)
        ends = tuple(start + outwards * count * per_case for count in (moving.least, moving.most))
        middle = min(place.squares.bottom() + em(12 if sizes.compact else 18), self.height() - em(12))
        return MovePlaces(self.field(sizes, place.squares, place.number.y()), (ends[0], ends[1]), middle)

    def _paint_move(self, painter: QPainter, place: BarPlace, moving: MoveState) -> None:
        """Paint "Move this", the keys, and the far end of the scale."""
        colours, where, frame = theme.tokens(self), self.move_places(), self.frame
        if where is None:
            return
        face = font(Role.CAPTION)
        metrics = QFontMetricsF(face)
        painter.setFont(face)
        painter.setPen(colours.ink2)
        far = where.ends[1]
        words = f"{moving.most:,}"
        wide = metrics.horizontalAdvance(words) + 2
        left = far - em(_HANDLE_AIR) - wide if self.side == "left" else far + em(_HANDLE_AIR)
        beside = QRectF(left, where.middle - metrics.height() / 2, wide, metrics.height())
        if beside.left() < frame.left() + 4 or beside.right() > frame.right() - 4:
            beside.moveCenter(QPointF(far, where.middle + metrics.height()))
            beside.moveRight(min(beside.right(), frame.right() - 4))
            beside.moveLeft(max(beside.left(), frame.left() + 4))
        if beside.bottom() < frame.bottom():
            painter.drawText(beside, Qt.AlignmentFlag.AlignCenter, words)
        self._paint_move_words(painter, place, where, colours)

    def _paint_move_words(self, painter: QPainter, place: BarPlace, where: MovePlaces, colours: theme.Tokens) -> None:
        """Paint "Move this" over the field and the keys under the rate, or over it if there is no room below."""
        metrics, frame, field = QFontMetricsF(painter.font()), self.frame, where.field
        below, over = place.rate.y() + em(18), field.top() - em(14)
        keys_below = below + em(12) <= frame.bottom()
        if keys_below and field.top() - metrics.height() - 2 > frame.top() + 2:
            align = Qt.AlignmentFlag.AlignRight if self.side == "left" else Qt.AlignmentFlag.AlignLeft
            above = QRectF(field.left(), field.top() - metrics.height() - 2, field.width(), metrics.height())
            painter.drawText(above.adjusted(theme.S, 0, -theme.S, 0), align, "Move this")
        if keys_below:
            reach = key_caps_width(("Left", "Right")) + theme.S + metrics.horizontalAdvance(_OR_TYPE)
            inner = field.right() - reach if self.side == "left" else field.left() + reach
            beside_handle = abs(where.middle - below) < em(_HANDLE_AIR) and abs(inner - where.ends[0]) < em(_HANDLE_AIR)
            self._paint_keys(painter, field, below, "" if beside_handle else _OR_TYPE, colours)
        elif over - em(12) > frame.top():
            self._paint_keys(painter, field, over, "", colours)

    def _paint_keys(self, painter: QPainter, field: QRectF, middle: float, words: str, colours: theme.Tokens) -> None:
        caps, width = key_caps_width(("Left", "Right")), QFontMetricsF(painter.font()).horizontalAdvance(words) + 2
        wide = caps + theme.S + width if words else caps
        left = field.left() if self.side == "right" else field.right() - wide
        ink, border = colours.ink2, colours.line2
        paint_key_caps(painter, ("Left", "Right"), left, middle, ink=ink, border=border, fill=colours.surface)
        beside = QRectF(left + caps + theme.S, middle - em(11), width, em(22))
        write(painter, beside, words, font(Role.CAPTION), colours.ink2)

    def _paint_bar(self, painter: QPainter, bar: Bar, colours: theme.Tokens) -> None:
        hue, soft = side_colours(colours, letter_of(self.side))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colours.unit)
        painter.drawRects(bar.common)
        if not bar.surplus:
            return
        painter.fillPath(bar.outline, soft)
        painter.setBrush(QBrush(hue, Qt.BrushStyle.BDiagPattern) if bar.scale.solid else QBrush(hue))
        painter.drawRects(bar.surplus)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.strokePath(bar.outline, QPen(hue, OUTLINE, j=Qt.PenJoinStyle.MiterJoin))

    def _paint_label(self, painter: QPainter, rect: QRectF, words: str, sizes: Sizes, colours: theme.Tokens) -> None:
        hue, _ = side_colours(colours, letter_of(self.side))
        triangle = QRectF(rect.left(), rect.top(), em(10), rect.height())
        paint_glyph(painter, Glyph.MORE, triangle, hue)
        write(painter, rect.adjusted(em(10) + theme.S - 1, 0, 1, 0), words, _label_font(sizes), colours.ink)


_BAR_AIR, _BAR_AIR_TIGHT = 16, 3  # "12 more" stays off the frame around a moved number
"""Total free height above and below the bars and "12 more"; the second is for a small window."""

_SLIDER = 44  # height under stacked squares for the slider of a movable number, at the base font
_MOST_LINES = 2  # most lines of a name, and of the truth and prediction under it
_LEAST_SQUARES = 26  # least height of the squares in a row
_STACKED_BARS = 36  # height of the squares in a stacked row, at the base font


class ComparisonRow(QWidget):
    """A row: words in the middle, A's bar on the left, B's on the right; stacked if the font is large."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        centre = Qt.AlignmentFlag.AlignHCenter
        self.name = Label(role=theme.Role.TITLE, align=centre, parent=self)
        self.flow = Label(role=theme.Role.FLOW, ink=theme.INK2, align=centre, parent=self)
        self.consequence = Label(role=theme.Role.BODY, ink=theme.INK3, align=centre, parent=self)
        self.bars = (CountBar("left", self), CountBar("right", self))
        self._plan = plan(theme.WIDEST, theme.WIDE, 1)
        self._is_short = False
        self.movable = False

    def show_row(self, row: Row, plan_: Plan) -> None:
        """Show the words of a row; `show_bars` adds its bars once the height of the row is known."""
        self._plan = plan_
        size, consequence = plan_.sizes, row.mistake.consequence
        for label, text, role in (
            (self.name, row.mistake.name, size.title),
            (self.flow, row.flow, size.flow),
            (self.consequence, consequence, size.consequence),
        ):
            label.set_role(role, compact=size.compact)
            label.setText(breakable(text, QFontMetricsF(label.font()), self._words_width()))
            annotate(label, name=text)  # what is read aloud is never elided
        self._shorten(row, plan_)
        self.consequence.setVisible(size.says_consequence and bool(consequence))
        hidden = [row.mistake.name, row.flow] if self._is_short else []
        annotate(
            self, tooltip="\n".join([*hidden, *([] if size.says_consequence else [consequence])]), more=consequence
        )

    def _shorten(self, row: Row, plan_: Plan) -> None:
        """Fit very long names on two lines: in smaller type, then elided in the middle; the tooltip has all."""
        size, width = plan_.sizes, self._words_width()
        self._is_short = False
        if plan_.room.large:
            return
        if _lines(self.name, width) > _MOST_LINES:
            self.name.set_role(theme.Role.STRONG, compact=size.compact)
            self.name.setText(fitted(row.mistake.name, self.name.font(), width, _MOST_LINES))
            self._is_short = True
        most = size.most_lines
        if not row.amount and _lines(self.flow, width) > most:
            self.flow.set_role(theme.Role.NOTE, compact=size.compact)
            whole = QFontMetricsF(self.flow.font())
            names = [row.truths, *filter(None, [row.answer])]
            fixed = whole.horizontalAdvance(row.flow) - sum(map(whole.horizontalAdvance, names))
            room = (width * most - fixed - em(30 if most > 1 else 4)) / len(names)
            truths, called = (elided(name, whole, room) for name in (row.truths, row.answer))
            self.flow.setText(fitted(flow_words(row.total, truths, called), self.flow.font(), width, most))
            self._is_short = True

    def show_bars(self, row: Row, scale: Scale | None, digits: float) -> None:
        """Show the bars at a scale, or without squares (None); `digits` is the width reserved for the numbers."""
        for bar in self.bars:
            bar.show_row(row, self._plan.sizes, scale, digits)
        self._place()

    # measures

    def needed_height(self) -> int:
        if self._plan.sizes.stacked:
            return self._words_height() + self._stacked_bars() + 3 * theme.S
        bars = label_height(self._plan.sizes) + _LEAST_SQUARES + self._plan.sizes.below + self._padding()
        return max(self._words_height() + theme.S, round(bars))

    def squares_height(self) -> float:
        if self._plan.sizes.stacked:
            return em(_STACKED_BARS)
        return self.height() - label_height(self._plan.sizes) - self._plan.sizes.below - self._padding()

    def squares_width(self, digits: float) -> float:
        """Return the width available to the squares beside the number, whose width is `digits`."""
        sizes = self._plan.sizes
        return self._plan.comparison.a.width - sizes.inner - digits - theme.M - sizes.outer

    def _padding(self) -> int:
        return _BAR_AIR_TIGHT if self._plan.sizes.compact else _BAR_AIR

    def _stacked_bars(self) -> int:
        """Return the height of stacked bars, with room for the slider if a number may be moved."""
        below = em(_SLIDER) if self.movable else 0
        return round(label_height(self._plan.sizes) + em(_STACKED_BARS)) + theme.S + below

    def _words(self) -> list[Label]:
        return [label for label in (self.name, self.flow, self.consequence) if not label.isHidden()]

    def _words_width(self) -> int:
        if self._plan.sizes.stacked:
            return self._plan.width - 2 * theme.M
        return self._plan.comparison.middle.width - 2 * theme.S

    def _words_gap(self) -> int:
        return 0 if self._plan.sizes.tight else theme.XS

    def _words_height(self) -> int:
        words = self._words()
        heights = sum(label.heightForWidth(self._words_width()) for label in words)
        return heights + self._words_gap() * (len(words) - 1)

    # arranging

    def _place(self) -> None:
        stacked, width = self._plan.sizes.stacked, self._words_width()
        x = (self.width() - width) // 2
        y = theme.S if stacked else (self.height() - self._words_height()) // 2
        for label in self._words():
            height = label.heightForWidth(width)
            label.setGeometry(x, y, width, height)
            y += height + self._words_gap()
        high = self._stacked_bars() if stacked else self.height()
        top = self.height() - high - theme.S if stacked else 0
        for bar, column in zip(self.bars, (self._plan.comparison.a, self._plan.comparison.b), strict=True):
            bar.setGeometry(column.x, top, column.width, high)


def _lines(label: Label, width: int) -> int:
    """Return the number of lines of a label in `width` pixels."""
    return round(label.heightForWidth(width) / QFontMetricsF(label.font()).lineSpacing())


def fitted(text: str, face: QFont, width: float, most: int) -> str:
    """Return `text` elided in the middle until it fits on `most` lines of `width` pixels."""
    metrics = QFontMetricsF(face)
    room = most * width
    while room > width / 2:
        short = breakable(elided(text, metrics, room), metrics, width)
        if wrapped_height(short, face, width) <= metrics.lineSpacing() * most + 1:
            return short
        room -= width / 8
    return elided(text, metrics, width)
