"""Columns, rows and grids of widgets; cards, folded cards, bands, dividers and the progress bar."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Literal, TypeVar

from PySide6.QtCore import QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QGridLayout,
    QHBoxLayout,
    QLayout,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import Button
from elicit_app.gui.elements.painting import (
    Arranged,
    Glyph,
    GlyphSign,
    Label,
    Painted,
    Sized,
    annotate,
    box,
    focus_ring,
    paint_glyph,
    write,
)

Item = QWidget | QLayout | tuple[QWidget | QLayout, int] | tuple[QWidget, int, Qt.AlignmentFlag] | int
"""An item of a column or row: a widget or a layout; a tuple of one with its stretch factor and optional alignment; or a
number, which is an empty stretch."""

Margins = tuple[int, int, int, int]
NONE: Margins = (0, 0, 0, 0)
L = TypeVar("L", bound=QBoxLayout)

Narrow = Literal["compact", "narrow", "large"]  # a breakpoint at which a row becomes a column
_ANY = 16_777_215  # Qt's largest width


def in_column(
    *items: Item, on: QWidget | None = None, margins: Margins = NONE, spacing: int | None = None
) -> QVBoxLayout:
    """Return a vertical layout of `items`, set on the widget `on` or to be added to another layout."""
    return _filled(QVBoxLayout(on) if on is not None else QVBoxLayout(), items, margins, spacing)


def in_row(
    *items: Item,
    on: QWidget | None = None,
    margins: Margins = NONE,
    spacing: int | None = None,
    stacks: Narrow | None = None,
) -> QHBoxLayout:
    """Return a horizontal layout of `items`, set on the widget `on` or to be added to another layout.

    On a page with the breakpoint `stacks` it becomes a column (`arrange_parts`).
    """
    row = _filled(QHBoxLayout(on) if on is not None else QHBoxLayout(), items, margins, spacing)
    row.setProperty("stacks", stacks)
    row.setProperty("beside", spacing)
    return row


def in_grid(*, on: QWidget, margins: Margins = NONE, across: int | None = None, down: int | None = None) -> QGridLayout:
    """Return an empty grid; `across` and `down` are the spacings of columns and rows."""
    grid = QGridLayout(on)
    grid.setContentsMargins(*margins)
    if across is not None:
        grid.setHorizontalSpacing(across)
    if down is not None:
        grid.setVerticalSpacing(down)
    return grid


def _filled(layout: L, items: tuple[Item, ...], margins: Margins, spacing: int | None) -> L:
    layout.setContentsMargins(*margins)
    if spacing is not None:
        layout.setSpacing(spacing)
    fill(layout, *items)
    return layout


def fill(layout: QBoxLayout, *items: Item) -> None:
    """Append `items` to `layout`."""
    for item in items:
        if isinstance(item, int):
            layout.addStretch(item)
            continue
        what, *how = item if isinstance(item, tuple) else (item,)
        put: Callable[..., None] = layout.addWidget if isinstance(what, QWidget) else layout.addLayout
        put(what, *how)


def arrange_parts(page: QWidget, breakpoint_: theme.Breakpoint) -> None:
    """Arrange all parts of a page for a breakpoint, and stack its rows that do not fit."""
    for row in page.findChildren(QBoxLayout):
        if stacks := row.property("stacks"):
            down, beside = getattr(breakpoint_, stacks), row.property("beside")
            row.setDirection(QBoxLayout.Direction.TopToBottom if down else QBoxLayout.Direction.LeftToRight)
            if beside is not None:
                row.setSpacing(min(beside, theme.M) if down else beside)  # stacked like the cards of a page
    for part in page.findChildren(QWidget):
        if isinstance(part, Arranged):
            part.arrange(breakpoint_)


def set_width(widget: QWidget, width: int | None) -> None:
    """Fix the width of a widget, or leave it to the layout."""
    widget.setMinimumWidth(width or 0)
    widget.setMaximumWidth(width or _ANY)


def column_widths(width: int, needs: Mapping[int, tuple[int, int]]) -> dict[int, int]:
    """Return the widths of columns: by their shares, but no column exceeds its need while another is too narrow.

    `width` is their total in pixels; `needs` holds for each column its share and the width that it needs.
    """
    found: dict[int, int] = {}
    while needs.keys() - found.keys():
        left = width - sum(found.values())
        free = [at for at in needs if at not in found]
        shares = sum(needs[at][0] for at in free)
        given = {at: left * needs[at][0] // shares for at in free}
        content = {at: needs[at][1] for at in free if needs[at][1] < given[at]}
        found |= content if content and len(content) < len(free) else given
    if found:
        found[max(found)] += width - sum(found.values())
    return found


class Surface(Enum):
    """The look of a card: plain, important (outlined in ink), a drop target (dashed), or a sunken band."""

    PLAIN = "plain"
    IMPORTANT = "important"
    DROP = "drop"
    BAND = "band"


class Card(QWidget):
    """A rounded surface for widgets; if focusable, it shows the focus ring inside its border."""

    def __init__(self, surface: Surface = Surface.PLAIN, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._surface = surface

    def set_surface(self, surface: Surface) -> None:
        self._surface = surface
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_card(self, self._surface)


def paint_card(widget: QWidget, surface: Surface) -> None:
    """Paint a card over a whole widget, with the focus ring if it has the focus."""
    colours, rect = theme.tokens(widget), QRectF(widget.rect())
    with QPainter(widget) as painter:
        if surface is Surface.BAND:
            box(painter, rect, theme.BUTTON_RADIUS, fill=colours.sunken)
        elif surface is Surface.IMPORTANT:
            box(painter, rect, theme.CARD_RADIUS, fill=colours.surface, border=colours.ink, width=1.5)
        elif surface is Surface.DROP:
            box(painter, rect, theme.CARD_RADIUS, fill=colours.surface, border=colours.line2, dashed=True)
        else:
            box(painter, rect, theme.CARD_RADIUS, fill=colours.surface, border=colours.line)
        if widget.hasFocus():
            focus_ring(painter, rect, theme.CARD_RADIUS, colours.ink)


class Divider(QWidget):
    """A line between two rows; decorative, without an accessible name."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedHeight(1)

    def paintEvent(self, event: QPaintEvent) -> None:
        # Not as a background: Qt takes that for opaque, and paints nothing beneath it while a card fades in.
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self.palette().color(theme.LINE))


HEIGHT = 6


class ProgressBar(Painted, QProgressBar):
    """A bar six pixels high; `set_share` fills it, and its accessible name says the same in words."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setRange(0, 1000)
        self.setTextVisible(False)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_share(self, share: float, words: str) -> None:
        """Show the share done, in [0, 1], and state it in words: "About half known, 5 to 8 questions left"."""
        self.setValue(round(1000 * min(1.0, max(0.0, share))))
        annotate(self, name=words)

    def sizeHint(self) -> QSize:
        return QSize(theme.em(160), HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.em(40), HEIGHT)

    def paint(self, painter: QPainter, colours: theme.Tokens) -> None:
        track = QRectF(self.rect())
        box(painter, track, track.height() / 2, fill=colours.line)
        if self.value() > 0:
            done = QRectF(track)
            done.setWidth(max(track.height(), track.width() * self.value() / self.maximum()))
            box(painter, done, track.height() / 2, fill=colours.ink2)


class Block(QWidget):
    """A container whose content is rebuilt on every change."""

    def __init__(self) -> None:
        super().__init__()
        self._content = QWidget()
        self._column = in_column(self._content, on=self)

    def renew(self) -> QWidget:
        """Discard the content and return an empty widget in its place, to be filled."""
        # Hidden at once, because a deleted widget is painted until control returns to the event loop.
        self._content.hide()
        self._column.removeWidget(self._content)
        self._content.deleteLater()
        self._content = QWidget()
        self._column.addWidget(self._content)
        return self._content


class Section(Card):
    """A card with an optional heading and sentence. Add the content to `column`."""

    def __init__(self, title: str = "", sentence: str = "") -> None:
        super().__init__()
        self.title, self.sentence = Label(title, theme.Role.SECTION), Label(sentence, theme.Role.BODY, theme.INK2)
        self.column = in_column(self.title, self.sentence, on=self, margins=(20, 16, 20, 18), spacing=10)
        self.title.setVisible(bool(title))
        self.sentence.setVisible(bool(sentence))

    def say(self, sentence: str) -> None:
        self.sentence.show_text(sentence)


class Notice(Card):
    """A band that reports a failure or a success; hidden while there is nothing to report."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Surface.BAND, parent)
        self._then: Callable[[], object] | None = None
        self._sign = GlyphSign(Glyph.WARNING, 18)
        self._sentence = Label(role=theme.Role.LABEL)
        self.button = Button("Try again", self._press)
        in_row(self._sign, (self._sentence, 1), self.button, on=self, margins=(theme.M, 10, theme.M, 10), spacing=12)
        self.hide()

    @property
    def sentence(self) -> str:
        return self._sentence.text()

    def say(
        self, sentence: str, *, good: bool = False, button: str = "", then: Callable[[], object] | None = None
    ) -> None:
        """Show `sentence`, or hide the band if it is empty; `button` is the text of a button, which calls `then`."""
        self._then = then
        self._sentence.setText(sentence)
        self._sign.set_glyph(Glyph.CHECK if good else Glyph.WARNING)
        self.button.setText(button)
        self.button.setVisible(bool(button))
        self.setVisible(bool(sentence))
        if sentence:
            QTimer.singleShot(0, self, self._come_into_view)  # when it has its place

    def _come_into_view(self) -> None:
        """Scroll to the band, because with a large font it scrolls with the page."""
        around = self.parentWidget()
        while around is not None and not isinstance(around, QScrollArea):
            around = around.parentWidget()
        if around is not None and self.isVisible():
            around.ensureWidgetVisible(self, 0, theme.S)

    def _press(self) -> None:
        if self._then is not None:
            self._then()


_PAD = 20


class Part(Section):
    """A section inside a card: without a border of its own."""

    def __init__(self, title: str = "", sentence: str = "") -> None:
        super().__init__(title, sentence)
        self.column.setContentsMargins(_PAD, theme.S, _PAD, theme.S)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint nothing: the card around it is the surface."""


class _FoldButton(Painted, Sized, QPushButton):
    """The line of a folded card: a chevron, the title, and in grey a summary of the settings inside."""

    size_asked, size_least = (260, 44), (160, 44)

    def __init__(self, title: str) -> None:
        super().__init__(title)
        self._summary = ""
        self.setCheckable(True)
        self.setAutoDefault(False)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def say(self, text: str) -> None:
        self._summary = text
        annotate(self, name=self.text(), more=text, tooltip=text)
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.isAutoRepeat():
            self.click()
            return
        super().keyPressEvent(event)

    def paint(self, painter: QPainter, colours: theme.Tokens) -> None:
        room = QRectF(self.rect())
        side, strong = theme.em(14), theme.font(theme.Role.STRONG)
        if self.hasFocus():
            focus_ring(painter, room, theme.CARD_RADIUS, colours.ink)
        sign = Glyph.OPEN if self.isChecked() else Glyph.CLOSED
        paint_glyph(painter, sign, QRectF(_PAD, room.center().y() - side / 2, side, side), colours.ink)
        text = room.adjusted(_PAD + side + theme.S, 0, -_PAD, 0)
        write(painter, text, self.text(), strong, colours.ink)
        text.setLeft(text.left() + QFontMetricsF(strong).horizontalAdvance(self.text()) + theme.M)
        write(painter, text, self._summary, theme.font(theme.Role.NOTE), colours.ink2, theme.RIGHT, elide=True)


class _BelowLines(QWidget):
    """Parts of a card, each below a line if it is shown."""

    def __init__(self, parts: tuple[QWidget, ...]) -> None:
        super().__init__()
        self._parts = parts
        in_column(*parts, on=self, margins=(0, theme.S, 0, theme.S), spacing=2 * theme.S)

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            for part in (part for part in self._parts if part.isVisible()):
                painter.fillRect(0, part.y() - theme.S, self.width(), 1, self.palette().color(theme.LINE))


class FoldedCard(Card):
    """A card whose parts are shown when it is opened."""

    def __init__(self, title: str, parts: tuple[QWidget, ...]) -> None:
        super().__init__()
        self.button, self._inside = _FoldButton(title), _BelowLines(parts)
        in_column(self.button, self._inside, on=self, spacing=0)
        self._inside.hide()
        self.button.toggled.connect(self._inside.setVisible)

    def say(self, text: str) -> None:
        self.button.say(text)

    def open(self) -> None:
        self.button.setChecked(True)
