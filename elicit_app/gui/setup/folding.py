"""A card that opens and closes: closed, one line says what is set inside."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QVBoxLayout, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements import Card, Divider, Glyph, elided, focus_ring, paint_glyph
from elicit_app.gui.elements.surfaces import Section
from elicit_app.gui.elements.texts import tell

_PAD = 20


class Part(Section):
    """A section inside a card: without a border of its own."""

    def __init__(self, title: str, sentence: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, sentence, parent)
        self.column.setContentsMargins(_PAD, theme.S, _PAD, theme.S)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint nothing: the card around it is the surface."""


class _FoldButton(QPushButton):
    """The line of a folded card: a chevron, the title, and what is set in grey."""

    def __init__(self, title: str) -> None:
        super().__init__(title)
        self._said = ""
        self.setCheckable(True)
        self.setAutoDefault(False)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def say(self, said: str) -> None:
        """Change what is said to be set."""
        self._said = said
        tell(self, name=self.text(), more=said, tooltip=said)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(theme.em(260), theme.em(44))

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.em(160), theme.em(44))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.isAutoRepeat():
            self.click()
            return
        super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours, room = theme.tokens(self), QRectF(self.rect())
        side = theme.em(14)
        middle = Qt.AlignmentFlag.AlignVCenter
        with QPainter(self) as painter:
            if self.hasFocus():
                focus_ring(painter, room, theme.CARD_RADIUS, colours.ink)
            sign = Glyph.OPEN if self.isChecked() else Glyph.CLOSED
            paint_glyph(painter, sign, QRectF(_PAD, room.center().y() - side / 2, side, side), colours.ink)
            painter.setFont(theme.font(theme.Role.STRONG))
            painter.setPen(colours.ink)
            text = room.adjusted(_PAD + side + theme.S, 0, -_PAD, 0)
            painter.drawText(text, Qt.AlignmentFlag.AlignLeft | middle, self.text())
            left = text.left() + QFontMetricsF(painter.font()).horizontalAdvance(self.text()) + theme.M
            painter.setFont(theme.font(theme.Role.NOTE))
            painter.setPen(colours.ink2)
            rest = QRectF(left, room.top(), room.right() - _PAD - left, room.height())
            said = elided(self._said, QFontMetricsF(painter.font()), rest.width())
            painter.drawText(rest, Qt.AlignmentFlag.AlignRight | middle, said)


class FoldedCard(Card):
    """Parts that are shown when the card is opened. Emits `folded` with whether it is open."""

    folded = Signal(bool)

    def __init__(self, title: str, parts: tuple[QWidget, ...], parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.button, self._inside = _FoldButton(title), QWidget()
        inside = QVBoxLayout(self._inside)
        inside.setContentsMargins(0, 0, 0, theme.S)
        inside.setSpacing(theme.S)
        for part in parts:
            inside.addWidget(Divider())
            inside.addWidget(part)
        column.addWidget(self.button)
        column.addWidget(self._inside)
        self._inside.hide()
        self.button.toggled.connect(self._inside.setVisible)
        self.button.toggled.connect(self.folded)

    def say(self, said: str) -> None:
        """Say what is set inside."""
        self.button.say(said)

    def open(self) -> None:
        """Show what is inside."""
        self.button.setChecked(True)
