"""Columns of the full picture, measured from its middle outwards, and how it is painted: grey but for what differs."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPainterPath, QPen

from elicit_app.gui import theme
from elicit_app.gui.elements import Glyph, box, paint_badge, paint_glyph, side_colours
from elicit_app.gui.question.measures import breakable, wrapped_height
from elicit_app.gui.theme import Role, em, font
from elicit_app.session.views.asked import Side
from elicit_app.session.words.ledger import Branch, Leaf, letter_of

BESIDE_NUMBER = 10
SIGN = 10
"""Side of the triangle before "12 more", at the base font."""

_LEAST_NAME = 60
"""Width of a name that must be wrapped, at least, at the base font."""


def said_font(*, compact: bool, strong: bool) -> QFont:
    """Return the font of what the model says."""
    return font(Role.FLOW, compact=compact, weight=600 if strong else 400)


def number_font(*, compact: bool, strong: bool) -> QFont:
    """Return the font of a number."""
    return font(Role.TITLE if strong else Role.SECTION, compact=compact, weight=600 if strong else 400)


def truth_font() -> QFont:
    """Return the font of the name of a truth."""
    return font(Role.STRONG)


def truth_line(branch: Branch) -> str:
    """Return number and name of a truth on one line."""
    return f"{branch.total:,} · {branch.truth}"


def truth_width(place: FlowPlace) -> float:
    """Return the width of the text in the box of a truth."""
    return 2 * place.box - theme.S


def more_font() -> QFont:
    """Return the font of "12 more"."""
    return font(Role.MINOR, weight=600)


@dataclass(frozen=True)
class FlowPlace:
    """Distances from the middle.

    Parameters
    ----------
    width : float
        Width of the view.
    box : float
        Half the width of the box of a truth.
    names, name_width : float
        Where the names begin, and how wide they may be.
    number : float
        Where the numbers end.
    bars : float
        Where the bars begin.
    per_case : float
        Length of a bar per case.
    """

    width: float
    box: float
    names: float
    name_width: float
    number: float
    bars: float
    per_case: float

    def span(self, side: Side, start: float, width: float, y: float, height: float) -> QRectF:
        """Return a box that begins `start` from the middle and is `width` wide, centred on the height `y`."""
        middle = self.width / 2
        left = middle - start - width if side == "left" else middle + start
        return QRectF(left, y - height / 2, width, height)


def flow_place(shown: tuple[Branch, ...], width: float, *, compact: bool) -> FlowPlace:
    """Return the columns: numbers whole, names as wide as the longest where there is room, the bars get the rest."""
    half = width / 2
    leaves = [leaf for branch in shown for leaf in branch.leaves]
    names, strong = QFontMetricsF(said_font(compact=compact, strong=True)), QFontMetricsF(truth_font())
    numbers = QFontMetricsF(number_font(compact=compact, strong=True))
    digits = max(numbers.horizontalAdvance(f"{max(leaf.left, leaf.right):,}") for leaf in leaves)
    truth = max(strong.horizontalAdvance(branch.truth) for branch in shown)
    box = min(max(em(44 if compact else 95), truth / 2 + theme.S), half * (0.18 if compact else 0.25))
    start = box + (28 if compact else em(58))
    gap = 12 if compact else em(16)
    beyond = BESIDE_NUMBER + _after_bars(leaves) + theme.S
    longest = max(names.horizontalAdvance(leaf.said) for leaf in leaves) + 2
    name_width = min(longest, max(em(_LEAST_NAME), half - start - gap - digits - beyond))
    number = start + max(name_width, 0 if compact else min(em(102), half * 0.2)) + gap + digits
    bars = number + BESIDE_NUMBER
    wrong = [max(leaf.left, leaf.right) for leaf in leaves if not leaf.correct]
    length = max(theme.XS, half - theme.S - _after_bars(leaves) - bars)
    return FlowPlace(width, box, start, name_width, number, bars, length / max(1, *wrong, 1))


def _after_bars(leaves: list[Leaf]) -> float:
    """Return what stands after the longest bar: triangle and "12 more", at least as wide as sign and "correct"."""
    surplus = max(leaf.surplus for leaf in leaves)
    more = em(SIGN) + 6 + QFontMetricsF(more_font()).horizontalAdvance(f"{surplus:,} more") + theme.M
    return max(more, em(14) + 6 + QFontMetricsF(font(Role.BODY)).horizontalAdvance("correct"))


def leaf_heights(branch: Branch, place: FlowPlace, usual: int, *, compact: bool) -> list[float]:
    """Return the least heights of the leaves of a truth.

    `usual` at the base font; more where a name is wrapped, or where the box of the truth needs it.
    """
    face = said_font(compact=compact, strong=True)
    one_line = QFontMetricsF(face).height()
    names = [wrapped_height(leaf.said, face, place.name_width) for leaf in branch.leaves]
    heights = [max(em(usual), name if name > 1.5 * one_line else 0.0) for name in names]
    box = max(2 * em(usual), wrapped_height(truth_line(branch), truth_font(), truth_width(place)) + theme.XS)
    return [height * max(1.0, box / sum(heights)) for height in heights]


_CENTRE = Qt.AlignmentFlag.AlignCenter
_INWARDS = {"left": Qt.AlignmentFlag.AlignRight, "right": Qt.AlignmentFlag.AlignLeft}
_OUTWARDS = {"left": Qt.AlignmentFlag.AlignLeft, "right": Qt.AlignmentFlag.AlignRight}
_MIDDLE, _WRAP = Qt.AlignmentFlag.AlignVCenter, Qt.TextFlag.TextWordWrap
_SIDES: tuple[Side, Side] = ("left", "right")


class FlowPainter:
    """Paints the parts of the view with one painter, in one set of columns."""

    def __init__(self, painter: QPainter, place: FlowPlace, colours: theme.Tokens, *, compact: bool) -> None:
        self._painter, self._place, self._colours, self._compact = painter, place, colours, compact
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)

    def head(self, height: float) -> None:
        """Paint "the model says [A]", "Truth", "[B] the model says"."""
        painter, place, y = self._painter, self._place, height / 2
        side = em(26 if self._compact else 30)
        face = font(Role.LABEL)
        said = QFontMetricsF(face).horizontalAdvance("the model says") + 2
        for each in _SIDES:
            paint_badge(painter, letter_of(each), place.span(each, place.names, side, y, side), self._colours)
            painter.setFont(face)
            painter.setPen(self._colours.ink2)
            painter.drawText(place.span(each, place.names + side + theme.S, said, y, height), _CENTRE, "the model says")
        painter.drawText(place.span("right", -place.box, 2 * place.box, y, height), _CENTRE, "Truth")

    def branch(self, branch: Branch, rect: QRectF, heights: list[float]) -> None:
        """Paint one truth with its leaves, of these heights, in `rect`."""
        top = rect.top()
        for leaf, height in zip(branch.leaves, heights, strict=True):
            for side in _SIDES:
                self._curve(leaf, rect.center().y(), top + height / 2, side)
                self._leaf(leaf, top + height / 2, height, side)
            top += height
        self._truth(branch, rect)

    def _truth(self, branch: Branch, rect: QRectF) -> None:
        painter, place = self._painter, self._place
        number, name, width = font(Role.TITLE, compact=self._compact), truth_font(), truth_width(place)
        upper, lower = QFontMetricsF(number).height(), wrapped_height(branch.truth, name, width)
        wanted = upper + lower + theme.XS
        high = min(rect.height() - 2, max(wanted + theme.XS, em(64) if rect.height() > em(90) else 0))
        frame = place.span("right", -place.box, 2 * place.box, rect.center().y(), high)
        box(painter, frame, theme.BUTTON_RADIUS, fill=self._colours.sunken, border=self._colours.line2)
        painter.setPen(self._colours.ink)
        if high < wanted:
            self._wrapped(truth_line(branch), name, frame.adjusted(theme.XS, 0, -theme.XS, 0), _CENTRE)
            return
        top = frame.center().y() - (upper + lower) / 2
        painter.setFont(number)
        painter.drawText(QRectF(frame.left(), top, frame.width(), upper), _CENTRE, f"{branch.total:,}")
        self._wrapped(branch.truth, name, QRectF(frame.left() + theme.XS, top + upper, width, lower), _CENTRE)

    def _wrapped(self, text: str, face: QFont, rect: QRectF, flags: Qt.AlignmentFlag) -> None:
        self._painter.setFont(face)
        self._painter.drawText(rect, flags | _WRAP, breakable(text, QFontMetricsF(face), rect.width()))

    def _curve(self, leaf: Leaf, start: float, y: float, side: Side) -> None:
        place, outwards = self._place, -1 if side == "left" else 1
        middle = place.width / 2
        near, far = middle + outwards * place.box, middle + outwards * (place.names - theme.S)
        bend = (near + far) / 2
        path = QPainterPath(QPointF(near, start))
        path.cubicTo(QPointF(bend, start), QPointF(bend, y), QPointF(far, y))
        ink, width = (self._colours.ink, 2.0) if leaf.differs else (self._colours.line2, 1.0)
        self._painter.strokePath(path, QPen(ink, width))

    def _leaf(self, leaf: Leaf, y: float, high: float, side: Side) -> None:
        painter, place = self._painter, self._place
        count = leaf.left if side == "left" else leaf.right
        painter.setPen(self._colours.ink if leaf.differs else self._colours.ink3)
        name = place.span(side, place.names, place.name_width, y, high)
        face = said_font(compact=self._compact, strong=leaf.differs)
        self._wrapped(leaf.said, face, name, _INWARDS[side] | _MIDDLE)
        painter.setFont(number_font(compact=self._compact, strong=leaf.differs))
        width = QFontMetricsF(painter.font()).horizontalAdvance(f"{count:,}") + 2
        number = place.span(side, place.number - width, width, y, high)
        painter.drawText(number, _OUTWARDS[side] | _MIDDLE, f"{count:,}")
        if leaf.correct:
            self._correct(y, high, side)
        else:
            self._bar(leaf, count, y, high, side)

    def _correct(self, y: float, high: float, side: Side) -> None:
        painter, place = self._painter, self._place
        paint_glyph(painter, Glyph.CHECK, place.span(side, place.bars, em(14), y, high), self._colours.ink3)
        painter.setFont(font(Role.BODY))
        painter.setPen(self._colours.ink3)
        width = QFontMetricsF(painter.font()).horizontalAdvance("correct") + 2
        painter.drawText(place.span(side, place.bars + em(14) + 6, width, y, high), _CENTRE, "correct")

    def _bar(self, leaf: Leaf, count: int, y: float, high: float, side: Side) -> None:
        painter, place = self._painter, self._place
        common, thick = min(leaf.left, leaf.right), min(em(14), high - 5)
        painter.fillRect(place.span(side, place.bars, common * place.per_case, y, thick), self._colours.unit)
        if count == common:
            return
        hue, soft = side_colours(self._colours, letter_of(side))
        start, length = place.bars + common * place.per_case, (count - common) * place.per_case
        around = place.span(side, start, length + 4, y, thick + 5)
        painter.setBrush(soft)
        painter.setPen(QPen(hue, 1.5))
        painter.drawRect(around)
        painter.fillRect(around.adjusted(2, 2.5, -2, -2.5), hue)
        self._more(leaf, start + length + 4 + theme.S, y, high, side)

    def _more(self, leaf: Leaf, start: float, y: float, high: float, side: Side) -> None:
        painter, words, sign = self._painter, f"{leaf.surplus:,} more", em(SIGN)
        painter.setFont(more_font())
        width = QFontMetricsF(painter.font()).horizontalAdvance(words) + 2
        whole = self._place.span(side, start, sign + 6 + width, y, high)
        hue, _ = side_colours(self._colours, letter_of(side))
        paint_glyph(painter, Glyph.MORE, QRectF(whole.left(), whole.top(), sign, high), hue)
        painter.setPen(self._colours.ink)
        painter.drawText(whole.adjusted(sign + 6, 0, 0, 0), _CENTRE, words)
