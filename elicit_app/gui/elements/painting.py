"""Painting of texts, boxes, glyphs, badges and key caps.

Text from a file becomes a tooltip or an accessible name only through `annotate`, as text and never as markup. Qt
interprets tooltips and labels that look like markup, and then opens the files they name. Labels are plain text.
"""

from __future__ import annotations

from enum import Enum
from math import ceil
from typing import Literal

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QFont,
    QFontMetricsF,
    QGuiApplication,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QPolygonF,
    QTextDocument,
    QTextOption,
)
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QSizePolicy, QToolTip, QWidget

from elicit_app.gui import theme
from metrics.text import html_text, isolated


def annotate(widget: QWidget, *, tooltip: str | None = None, name: str | None = None, more: str | None = None) -> None:
    """Set the tooltip, the accessible name or (`more`) the accessible description of `widget`; None changes nothing."""
    if tooltip is not None:
        widget.setToolTip(tooltip_text(tooltip))
    if name is not None:
        widget.setAccessibleName(isolated(name))
    if more is not None:
        widget.setAccessibleDescription(isolated(more))


def tooltip_text(text: str) -> str:
    """Return `text` escaped for a tooltip, with its line breaks; an empty text stays empty."""
    lines = "<br>".join(map(html_text, text.split("\n")))
    return f"<qt>{lines}</qt>" if text else ""


def set_item_tooltip(box: QComboBox, at: int, tooltip: str) -> None:
    """Set the tooltip of one item of a combo box."""
    box.setItemData(at, tooltip_text(tooltip), Qt.ItemDataRole.ToolTipRole)


def show_tooltip(place: QPoint, text: str, widget: QWidget) -> None:
    """Show a tooltip over a part of a painted widget; `place` is in screen coordinates."""
    QToolTip.showText(place, tooltip_text(text), widget)


def elided(
    text: str, metrics: QFontMetricsF, width: float, where: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle
) -> str:
    """Return `text` on one line, elided to `width` pixels; by default in the middle, as names differ at the ends."""
    return metrics.elidedText(isolated(" ".join(text.split())), where, width)


_SOFT_HYPHEN = "\N{SOFT HYPHEN}"
_FEWEST_LETTERS = 4


def breakable(text: str, metrics: QFontMetricsF, width: float) -> str:
    """Return `text` with soft hyphens in words wider than `width`, so that they wrap instead of being cut."""
    words = []
    for word in isolated(text).split(" "):
        whole = metrics.horizontalAdvance(word)
        if whole <= width:
            words.append(word)
            continue
        room = width - metrics.horizontalAdvance("-")
        piece = max(_FEWEST_LETTERS, int(len(word) * room / whole) - 1)
        words.append(_SOFT_HYPHEN.join(word[start : start + piece] for start in range(0, len(word), piece)))
    return " ".join(words)


def wrapped_height(text: str, face: QFont, width: float) -> float:
    """Return the height of `text`, wrapped and hyphenated in `width` pixels; 0 if it is empty."""
    if not text:
        return 0.0
    metrics = QFontMetricsF(face)
    room = QRectF(0, 0, width, 10_000)
    return metrics.boundingRect(room, Qt.TextFlag.TextWordWrap.value, breakable(text, metrics, width)).height()


def write(
    painter: QPainter,
    room: QRectF,
    text: str,
    face: QFont,
    ink: QColor,
    align: int = theme.LEFT,
    *,
    elide: bool = False,
) -> None:
    """Paint a text into `room`; with `elide`, on one line that is elided in the middle if it does not fit."""
    painter.setFont(face)
    painter.setPen(ink)
    painter.drawText(room, align, elided(text, QFontMetricsF(face), room.width()) if elide else text)


def write_wrapped(
    painter: QPainter, room: QRectF, text: str, face: QFont, ink: QColor, align: int = theme.CENTRE
) -> None:
    """Paint a text into `room`, wrapped and hyphenated; it is as high as `wrapped_height` says."""
    shown = breakable(text, QFontMetricsF(face), room.width())
    write(painter, room, shown, face, ink, align | Qt.TextFlag.TextWordWrap.value)


class Arranged:
    """A mix-in for parts of a page that depend on its breakpoint. List it before Qt's class."""

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        """Arrange for a breakpoint; the page calls it on every new one."""
        raise NotImplementedError


WIDEST_WORD = 180
"""Width at the base font that a wrapping text insists on; a longer word is broken where the room is narrower."""


class Label(Arranged, QLabel):
    """A text in one role of the type scale; it follows the font, the palette and the page's breakpoint automatically.

    A text that wraps breaks within words where one has no room. A label that does not `wrap` keeps the window at least
    as wide as its text, so use it only for short texts.
    """

    def __init__(
        self,
        text: str = "",
        role: theme.Role = theme.Role.BODY,
        ink: QPalette.ColorRole = theme.INK,
        *,
        wrap: bool = True,
        align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(isolated(text), parent)
        self._role, self._compact = role, False
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(wrap)
        self.setAlignment(align | Qt.AlignmentFlag.AlignVCenter)
        self.setForegroundRole(ink)
        self._refresh()
        app = QApplication.instance()
        if isinstance(app, QGuiApplication):
            app.fontChanged.connect(self._refresh)

    def setText(self, text: str) -> None:
        """Show `text` with right-to-left names isolated."""
        super().setText(isolated(text))

    def show_text(self, text: str) -> None:
        """Show `text`; an empty label takes no room."""
        self.setText(text)
        self.setVisible(bool(text))

    def set_role(self, role: theme.Role, *, compact: bool | None = None) -> None:
        self._role = role
        self._compact = self._compact if compact is None else compact
        self._refresh()

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        self._compact = breakpoint_.compact
        self._refresh()

    def _refresh(self) -> None:
        self.setFont(theme.font(self._role, compact=self._compact))

    def minimumSizeHint(self) -> QSize:
        least = super().minimumSizeHint()
        return QSize(min(least.width(), theme.em(WIDEST_WORD)), least.height()) if self.wordWrap() else least

    def heightForWidth(self, width: int) -> int:
        broken = self._broken(width)
        return super().heightForWidth(width) if broken is None else ceil(broken.size().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        broken = self._broken(self.width())
        if broken is None:
            super().paintEvent(event)
            return
        look = QAbstractTextDocumentLayout.PaintContext()
        look.palette = self.palette()
        look.palette.setColor(QPalette.ColorRole.Text, self.palette().color(self.foregroundRole()))
        with QPainter(self) as painter:
            painter.translate(0, max(0.0, (self.height() - broken.size().height()) / 2))
            broken.documentLayout().draw(painter, look)

    def _broken(self, width: int) -> QTextDocument | None:
        """Return the text with words broken to fit `width`, which Qt's label cannot do; None if every word fits."""
        if not self.wordWrap() or width >= super().minimumSizeHint().width():
            return None
        text, wrap = QTextDocument(), QTextOption(self.alignment() & Qt.AlignmentFlag.AlignHorizontal_Mask)
        wrap.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        text.setDefaultTextOption(wrap)
        text.setDocumentMargin(0)
        text.setDefaultFont(self.font())
        (text.setHtml if self.textFormat() == Qt.TextFormat.RichText else text.setPlainText)(self.text())
        text.setTextWidth(width)
        return text


class StressedLabel(Label):
    """A text with some parts stressed; words of a study are shown verbatim."""

    def __init__(self, role: theme.Role = theme.Role.BODY, ink: QPalette.ColorRole = theme.INK) -> None:
        super().__init__(role=role, ink=ink)
        self.setTextFormat(Qt.TextFormat.RichText)

    def say(self, *parts: str) -> None:
        """Show `parts` in sequence: the first plain, the second stressed, the third plain, and so on."""
        weights = (400, 600)
        # Keep a number and its sign on one line.
        shown = (html_text(part).replace(" %", "\N{NO-BREAK SPACE}%") for part in parts)
        spans = (f'<span style="font-weight:{weights[i % 2]}">{part}</span>' for i, part in enumerate(shown))
        QLabel.setText(self, "".join(spans))
        self.setAccessibleName(isolated("".join(parts)))


FOCUS_WIDTH, FOCUS_GAP = 2.0, 3.0


def box(
    painter: QPainter,
    rect: QRectF,
    radius: float,
    *,
    fill: QColor | None = None,
    border: QColor | None = None,
    width: float = 1.0,
    dashed: bool = False,
) -> None:
    """Paint a rounded box whose border, `width` pixels wide, is entirely inside `rect`."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(fill if fill is not None else Qt.BrushStyle.NoBrush)
    if border is None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.drawRoundedRect(rect, radius, radius)
        return
    pen = QPen(border, width)
    if dashed:
        pen.setStyle(Qt.PenStyle.CustomDashLine)
        pen.setDashPattern([5 / width, 4 / width])
    painter.setPen(pen)
    half = width / 2
    painter.drawRoundedRect(rect.adjusted(half, half, -half, -half), radius - half, radius - half)


def focus_ring(
    painter: QPainter, rect: QRectF, radius: float, colour: QColor, border: float = 1.0, gap: float = FOCUS_GAP
) -> None:
    """Paint the focus ring inside the border of an element, so that nothing moves."""
    inset = border + gap
    inner = max(2.0, radius - inset)
    box(painter, rect.adjusted(inset, inset, -inset, -inset), inner, border=colour, width=FOCUS_WIDTH)


class Painted:
    """A mix-in for widgets that paint themselves in the colours of their palette. List it before Qt's class."""

    smooth = False  # whether antialiasing is on from the start

    def paint(self, painter: QPainter, colours: theme.Tokens) -> None:
        raise NotImplementedError

    def paintEvent(self, event: QPaintEvent) -> None:
        assert isinstance(self, QWidget)
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, self.smooth)
            self.paint(painter, theme.tokens(self))


class Sized:
    """A mix-in for widgets whose preferred and least sizes, in pixels at the base font, grow with the font.

    List it before Qt's class, whose size hints it overrides.
    """

    size_asked: tuple[int, int]
    size_least: tuple[int, int]

    def sizeHint(self) -> QSize:
        return QSize(*map(theme.em, self.size_asked))

    def minimumSizeHint(self) -> QSize:
        return QSize(*map(theme.em, self.size_least))


Stroke = tuple[tuple[float, float], ...]


class Glyph(Enum):
    """A glyph: lines on a grid of 16 by 16, or filled triangles."""

    MORE = "more"
    FEWER = "fewer"
    CHECK = "check"
    WARNING = "warning"
    SWAP = "swap"
    CLOSED = "closed"
    OPEN = "open"
    UNDO = "undo"
    LEFT = "left"
    RIGHT = "right"
    UP = "up"
    DOWN = "down"
    DOT = "dot"


_FILLED: dict[Glyph, Stroke] = {Glyph.MORE: ((8, 3), (15, 13), (1, 13)), Glyph.FEWER: ((8, 13), (15, 3), (1, 3))}
_LINES: dict[Glyph, tuple[Stroke, ...]] = {
    Glyph.CHECK: (((2.5, 8.8), (6, 12.5), (13.5, 3.5)),),
    Glyph.WARNING: (((8, 2), (14.6, 13.6), (1.4, 13.6), (8, 2)), ((8, 6), (8, 9.7)), ((8, 11.8), (8, 12))),
    Glyph.SWAP: (
        ((2, 5), (13.5, 5)),
        ((10.5, 2), (13.5, 5), (10.5, 8)),
        ((14, 11), (2.5, 11)),
        ((5.5, 8), (2.5, 11), (5.5, 14)),
    ),
    Glyph.CLOSED: (((6, 3.5), (10.5, 8), (6, 12.5)),),
    Glyph.OPEN: (((3.5, 6), (8, 10.5), (12.5, 6)),),
    Glyph.LEFT: (((13.5, 8), (2.5, 8)), ((7, 3.5), (2.5, 8), (7, 12.5))),
    Glyph.RIGHT: (((2.5, 8), (13.5, 8)), ((9, 3.5), (13.5, 8), (9, 12.5))),
    Glyph.UP: (((8, 13.5), (8, 2.5)), ((3.5, 7), (8, 2.5), (12.5, 7))),
    Glyph.DOWN: (((8, 2.5), (8, 13.5)), ((3.5, 9), (8, 13.5), (12.5, 9))),
}


def paint_glyph(painter: QPainter, glyph: Glyph, rect: QRectF, colour: QColor, width: float = 1.6) -> None:
    """Paint `glyph` in the largest centred square in `rect`, with lines `width` sixteenths of the square wide."""
    side = min(rect.width(), rect.height())
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(rect.center() - QPointF(side / 2, side / 2))
    painter.scale(side / 16, side / 16)
    if glyph in _FILLED or glyph is Glyph.DOT:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
    else:
        cap, join = Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin
        painter.setPen(QPen(colour, width, Qt.PenStyle.SolidLine, cap, join))
        painter.setBrush(Qt.BrushStyle.NoBrush)
    _strokes(painter, glyph)
    painter.restore()


def _strokes(painter: QPainter, glyph: Glyph) -> None:
    if glyph is Glyph.DOT:
        painter.drawEllipse(QPointF(8, 8), 4, 4)
    elif glyph is Glyph.UNDO:
        painter.drawPolyline([QPointF(5.5, 3), QPointF(2.5, 6), QPointF(5.5, 9)])
        painter.drawLine(QPointF(2.5, 6), QPointF(9.5, 6))
        painter.drawArc(QRectF(6, 6, 7, 7), 90 * 16, -180 * 16)
        painter.drawLine(QPointF(9.5, 13), QPointF(6.5, 13))
    elif glyph in _FILLED:
        painter.drawPolygon(QPolygonF([QPointF(x, y) for x, y in _FILLED[glyph]]))
    else:
        for stroke in _LINES[glyph]:
            painter.drawPolyline([QPointF(x, y) for x, y in stroke])


class GlyphSign(Painted, Sized, QWidget):
    """A glyph beside a text; it has no accessible name, because the text says what it means.

    `size` is its side in pixels at the base font.
    """

    def __init__(
        self, glyph: Glyph, size: int = 16, parent: QWidget | None = None, *, ink: QPalette.ColorRole = theme.INK
    ) -> None:
        super().__init__(parent)
        self.setForegroundRole(ink)
        self._glyph = glyph
        self.size_asked = self.size_least = (size, size)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def set_glyph(self, glyph: Glyph) -> None:
        self._glyph = glyph
        self.update()

    def paint(self, painter: QPainter, colours: theme.Tokens) -> None:
        paint_glyph(painter, self._glyph, QRectF(self.rect()), self.palette().color(self.foregroundRole()))


Letter = Literal["A", "B"]


def side_colours(colours: theme.Tokens, letter: Letter) -> tuple[QColor, QColor]:
    """Return the hue and the soft fill of a side."""
    return (colours.A, colours.Asoft) if letter == "A" else (colours.B, colours.Bsoft)


def paint_badge(painter: QPainter, letter: Letter, rect: QRectF, colours: theme.Tokens) -> None:
    """Paint the badge of side A or B into the square `rect`."""
    hue, soft = side_colours(colours, letter)
    box(painter, rect, theme.BADGE_RADIUS, fill=soft, border=hue, width=2)
    face = theme.font(theme.Role.SECTION, weight=700)
    face.setPixelSize(round(rect.height() * 0.56))
    write(painter, rect, letter, face, hue, theme.CENTRE)


class Badge(Painted, Sized, QWidget):
    """The badge of a side; it has no accessible name, because the text beside it names the side."""

    size_asked = size_least = (30, 30)

    def __init__(self, letter: Letter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._letter: Letter = letter
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def paint(self, painter: QPainter, colours: theme.Tokens) -> None:
        paint_badge(painter, self._letter, QRectF(self.rect()), colours)


GAP = theme.XS
_ARROWS = {"Left": Glyph.LEFT, "Right": Glyph.RIGHT, "Down": Glyph.DOWN, "Up": Glyph.UP}


def key_cap_size(key: str) -> QSizeF:
    """Return the size of a key cap: 22 pixels high at the base font, as wide as its text."""
    side = theme.em(22)
    if key in _ARROWS or len(key) == 1:
        return QSizeF(side, side)
    text = QFontMetricsF(theme.font(theme.Role.CAPTION, weight=500)).horizontalAdvance(key)
    return QSizeF(text + 2 * theme.em(5), side)


def key_caps_width(keys: tuple[str, ...]) -> float:
    """Return the width of several key caps in a row."""
    return sum(key_cap_size(key).width() for key in keys) + GAP * max(0, len(keys) - 1)


def paint_key_caps(
    painter: QPainter,
    keys: tuple[str, ...],
    left: float,
    middle: float,
    *,
    ink: QColor,
    border: QColor,
    fill: QColor | None = None,
) -> None:
    """Paint the caps of `keys` from `left`, vertically centred on `middle`; arrow keys are painted as arrows."""
    for key in keys:
        size = key_cap_size(key)
        rect = QRectF(QPointF(left, middle - size.height() / 2), size)
        box(painter, rect, theme.KEY_RADIUS, fill=fill, border=border)
        if key in _ARROWS:
            inset = size.height() * 0.2
            paint_glyph(painter, _ARROWS[key], rect.adjusted(inset, inset, -inset, -inset), ink, 1.7)
        else:
            write(painter, rect, key, theme.font(theme.Role.CAPTION, weight=500), ink, theme.CENTRE)
        left += size.width() + GAP


class KeyCap(Painted, QWidget):
    """The caps of one or more keys, beside a text that says what they do."""

    def __init__(self, *keys: str) -> None:
        super().__init__()
        self._keys = keys
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(round(key_caps_width(self._keys) + 0.5), theme.em(22))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paint(self, painter: QPainter, colours: theme.Tokens) -> None:
        paint_key_caps(
            painter, self._keys, 0, self.height() / 2, ink=colours.ink2, border=colours.line2, fill=colours.surface
        )
