"""The column that shows a pile of mistakes, and the cards in it, which are dragged."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QMimeData, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QDrag,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QResizeEvent,
    QStandardItem,
    QStandardItemModel,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QFrame,
    QListView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from elicit_app.gui import theme
from elicit_app.gui.elements.fields import Field
from elicit_app.gui.elements.page import QuietScrollBar
from elicit_app.gui.elements.painting import Arranged, KeyCap, Label, annotate, box, elided, tooltip_text
from elicit_app.gui.elements.surfaces import Card, Divider, Surface, in_column, in_row
from elicit_app.gui.setup.grid import Index
from elicit_app.gui.theme import LEFT
from elicit_app.session.piles import PileCard
from metrics.text import counted

_MIME = "application/x-elicit-card"
_CARD, _PROPOSED, _SHORT = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1, Qt.ItemDataRole.UserRole + 2
CHIP, NARROW_CHIP = 36, 46
_TWO_LINES = 1.7  # line widths of text that two lines hold, given where words break
_CALLED = " called "
_BESIDE = 18  # pixels on both sides of a card's text together
_WRAPPED = LEFT | Qt.TextFlag.TextWordWrap


def elided_title(text: str, metrics: QFontMetricsF, width: float) -> str:
    """Return a title elided to `width` pixels; in "A called B" each name is elided in its own middle."""
    names, whole = text.split(_CALLED), metrics.horizontalAdvance
    room = width - whole(_CALLED)
    if len(names) != 2 or whole(text) <= width or room <= 0:
        return elided(text, metrics, width)
    first, second = (whole(name) for name in names)
    first = min(first, max(room / 2, room - second))
    return _CALLED.join(elided(one, metrics, part) for one, part in zip(names, (first, room - first), strict=True))


def drag_card(source: QWidget, card: int) -> None:
    """Drag a card from a widget until it is dropped."""
    data = QMimeData()
    data.setData(_MIME, str(card).encode())
    drag = QDrag(source)
    drag.setMimeData(data)
    drag.exec(Qt.DropAction.MoveAction)


class _Chip(QStyledItemDelegate):
    """One card in a pile; dashed while it is only proposed, outlined in ink at the cursor."""

    def __init__(self, view: QListView) -> None:
        super().__init__(view)
        self._view = view
        self.narrow = False

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(theme.em(60), theme.em(NARROW_CHIP if self.narrow else CHIP))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        colours, room = theme.tokens(self._view), QRectF(option.rect).adjusted(0, 3, 0, -3)
        proposed = bool(index.data(_PROPOSED))
        painter.fillRect(QRectF(option.rect), colours.surface)
        current = self._view.hasFocus() and index == self._view.currentIndex()
        border = colours.ink if current else colours.line2 if proposed else colours.line
        fill = None if proposed else colours.surface
        box(painter, room, 6, fill=fill, border=border, width=2 if current else 1, dashed=proposed and not current)
        painter.setFont(theme.font(theme.Role.CAPTION if self.narrow else theme.Role.NOTE))
        painter.setPen(colours.ink2 if proposed else colours.ink)
        text = room.adjusted(_BESIDE - 8, 0, -8, 0)
        metrics, name = QFontMetricsF(painter.font()), str(index.data())
        if metrics.horizontalAdvance(name) > text.width():
            name = str(index.data(_SHORT))
        wrapped = elided_title(name, metrics, _TWO_LINES * text.width())
        if self.narrow and metrics.boundingRect(text, _WRAPPED, wrapped).height() <= text.height():
            painter.drawText(text, _WRAPPED, wrapped)
        else:
            painter.drawText(text, LEFT, elided_title(name, metrics, text.width()))


class _Chips(QListView):
    """The cards of one pile. Emits `adjacent_requested` with -1 or 1 for the pile on the left or right."""

    adjacent_requested = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.cards = QStandardItemModel(self)
        self.setModel(self.cards)
        self._chip = _Chip(self)
        self.setItemDelegate(self._chip)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setUniformItemSizes(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollBar(QuietScrollBar(on_card=True))
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTabKeyNavigation(False)
        self._pressed: QPoint | None = None
        self._compact = False

    def set_narrow(self, narrow: bool) -> None:
        """Show each card on two small lines, for a narrow column."""
        self._compact = narrow
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Show cards on two small lines if the page is compact or one of them does not fit."""
        metrics, room = QFontMetricsF(theme.font(theme.Role.NOTE)), self.viewport().width() - _BESIDE
        texts = (str(self.cards.index(row, 0).data(_SHORT)) for row in range(self.cards.rowCount()))
        self._chip.narrow = self._compact or any(metrics.horizontalAdvance(text) > room for text in texts)
        self.scheduleDelayedItemsLayout()

    def show_cards(self, own: Sequence[tuple[int, PileCard, bool]]) -> None:
        """Show cards with their numbers, and whether each is only proposed."""
        kept = self.current_card()
        self.cards.clear()
        for number, card, proposed in own:
            item = QStandardItem(card.title)
            item.setData(number, _CARD)
            item.setData(proposed, _PROPOSED)
            item.setData(card.short, _SHORT)
            item.setToolTip(tooltip_text(f"{card.title}\n{card.detail}\n{card.consequence}"))
            item.setAccessibleText(f"{card.title}, proposed" if proposed else card.title)
            self.cards.appendRow(item)
        self._fit()
        rows = [number for number, _, _ in own]
        if rows:
            self.setCurrentIndex(self.cards.index(rows.index(kept) if kept in rows else 0, 0))

    def current_card(self) -> int | None:
        found = self.currentIndex().data(_CARD) if self.currentIndex().isValid() else None
        return None if found is None else int(found)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self.adjacent_requested.emit(-1 if event.key() == Qt.Key.Key_Left else 1)
            return
        super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed = event.position().toPoint()
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        card = self.current_card()
        far = QApplication.startDragDistance()
        if self._pressed is None or card is None:
            return
        if (event.position().toPoint() - self._pressed).manhattanLength() >= far:
            self._pressed = None
            drag_card(self, card)


class PileColumn(Arranged, Card):
    """One pile: its number, its name, its number of mistakes, and its cards.

    Emits `dropped` with a card dropped on it, and `renamed` with the new name.
    """

    dropped = Signal(int)
    renamed = Signal(str)

    def __init__(self, number: int) -> None:
        super().__init__()
        self.setAcceptDrops(True)
        self.name, self.chips = Field(), _Chips()
        self._count = Label(role=theme.Role.CAPTION, ink=theme.INK2)
        self._key = KeyCap(str(number))
        self._head, self._under = in_row((self.name, 1), spacing=theme.S), in_row((self._count, 1), spacing=theme.S)
        annotate(self.name, name=f"Name of pile {number}")
        annotate(self.chips, name=f"Pile {number}")
        in_column(self._head, self._under, Divider(), (self.chips, 1), on=self, margins=(10, 10, 10, 10), spacing=6)
        self.name.textEdited.connect(self.renamed)

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        """In a narrow column, give the name the full width, with the number below; long cards take two lines."""
        narrow = breakpoint_.compact and not breakpoint_.large
        (self._under if narrow else self._head).insertWidget(0, self._key)
        self.name.set_narrow(narrow)
        self.chips.setMinimumHeight(theme.em(CHIP * (3 if breakpoint_.low else 5)))
        self.chips.set_narrow(narrow)

    def show_pile(self, name: str, mistakes: int, own: Sequence[tuple[int, PileCard, bool]]) -> None:
        if self.name.text() != name:
            self.name.setText(name)
            self.name.setCursorPosition(0)
        self._count.setText(counted(mistakes, "mistake"))
        self.chips.show_cards(own)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasFormat(_MIME):
            self.set_surface(Surface.IMPORTANT)
            event.acceptProposedAction()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self.set_surface(Surface.PLAIN)

    def dropEvent(self, event: QDropEvent) -> None:
        self.set_surface(Surface.PLAIN)
        event.acceptProposedAction()
        self.dropped.emit(int(bytes(event.mimeData().data(_MIME).data())))
