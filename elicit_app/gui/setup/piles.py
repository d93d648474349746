"""Piles of mistakes by their consequences: the content of each pile, proposals, and the column that shows a pile.

With more than `MAX_CLASSES_UNGROUPED` classes, mistakes are grouped: those of one true class with the same words for
the consequence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

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

from elicit_app.elicitation.orders import StatedMistake, StatedPile
from elicit_app.gui import theme
from elicit_app.gui.elements.fields import Field
from elicit_app.gui.elements.page import QuietScrollBar
from elicit_app.gui.elements.painting import Arranged, KeyCap, Label, annotate, box, elided, tooltip_text
from elicit_app.gui.elements.surfaces import Card, Divider, Surface, in_column, in_row
from elicit_app.gui.setup.grid import Index
from elicit_app.gui.setup.words import shown_cases
from elicit_app.gui.theme import LEFT
from elicit_app.session.journal.events import Guess
from elicit_app.session.pair_words import flow_words, unsaid_answer
from elicit_app.study.model import Study
from metrics.text import capitalised, counted

FEWEST, MOST = 3, 5
NAMES = {
    3: ("Hardly matters", "Matters", "Grave"),
    4: ("Hardly matters", "A nuisance", "Does harm", "Grave"),
    5: ("Hardly matters", "A nuisance", "Does some harm", "Does harm", "Grave"),
}
MAX_CLASSES_UNGROUPED = 10  # largest number of classes for which every mistake has its own card
Mistake = tuple[int, int]


@dataclass(frozen=True)
class PileCard:
    """One card: a mistake, or a group of mistakes."""

    mistakes: tuple[Mistake, ...]  # the mistakes on it
    title: str  # "Ventricular tachycardia called SVT", "VT called anything slower, 6"
    detail: str  # the number of cases of the true class, and the predictions
    consequence: str  # the consequence; may be empty
    short: str  # the title without words that most classes share, for when there is no room


def cards_of(study: Study) -> tuple[PileCard, ...]:
    """Return the cards of a study, in study order."""
    wording, k = study.wording, study.n_classes
    shown, brief = shown_cases(study), without_shared_words(wording.class_one)
    cards = []
    for true in range(k):
        groups: dict[str, list[Mistake]] = {}
        for predicted in (at for at in range(k) if at != true):
            consequence = wording.mistakes[true, predicted].consequence.strip()
            groups.setdefault(consequence if k > MAX_CLASSES_UNGROUPED else str(predicted), []).append(
                (true, predicted)
            )
        for own in groups.values():
            first = wording.mistakes[own[0]]
            called = wording.class_one[own[0][1]] if len(own) == 1 else _listed(study, own)
            title = first.name if len(own) == 1 else f"{wording.class_one[true]} called {called}"
            detail = flow_words(shown[true], wording.class_many[true], unsaid_answer(title, called))
            shown_as = title
            for at in sorted({true, *(predicted for _, predicted in own)}):
                if brief[at] != wording.class_one[at]:
                    whole, part = re.escape(wording.class_one[at]), brief[at].replace("\\", r"\\")
                    shown_as = re.sub(rf"(?<!\w){whole}(?!\w)", part, shown_as, flags=re.IGNORECASE)
            texts = capitalised(title), detail, first.consequence, capitalised(shown_as)
            cards.append(PileCard(tuple(own), *texts))
    return tuple(cards)


def without_shared_words(names: Sequence[str]) -> list[str]:
    """Return names without the words that most of them share, as long as they still differ.

    >>> without_shared_words(["mild reflux, left", "severe reflux, left", "severe reflux, right", "none"])
    ['mild … left', 'severe … left', 'severe … right', 'none']
    """
    words = [name.split() for name in names]
    most = {word for one in words for word in one if 2 * sum(word in other for other in words) > len(names)}
    kept = [[word if word not in most else "…" for word in one] for one in words]
    brief = [" ".join(word for word, _ in groupby(one)) for one in kept]
    return brief if len({*brief}) == len(names) and "…" not in brief else list(names)


def _listed(study: Study, own: list[Mistake]) -> str:
    names = [study.wording.class_one[predicted] for _, predicted in own]
    if len(own) == study.n_classes - 1:
        return f"anything else, {len(own)}"
    return ", ".join(names) if len(names) <= 2 else f"{names[0]} or {len(names) - 1} others"


def _plain_words(text: str) -> str:
    """Return the words of a consequence, without punctuation, for comparison."""
    return " ".join(re.findall(r"\w+", text.lower()))


@dataclass
class Piles:
    """The assignment of cards to piles; every change except of a name can be undone."""

    cards: tuple[PileCard, ...]
    names: list[str] = field(default_factory=lambda: list(NAMES[MOST]))  # of the piles, the mildest first
    assigned: dict[int, int] = field(default_factory=dict)
    guessed: dict[int, float] = field(default_factory=dict)  # rank by the first guess: 0 the mildest, 1 the gravest
    _later: list[int] = field(default_factory=list)
    _undo_stack: list[tuple[dict[int, int], list[int], list[str]]] = field(default_factory=list)

    @classmethod
    def of(cls, study: Study, guesses: Sequence[Guess] = ()) -> Piles:
        """Return empty piles for a study; first guesses provide proposals for some cards."""
        piles = cls(cards_of(study))
        ratios = {(guess.true, guess.predicted): guess.ratio for guess in guesses if guess.predicted is not None}
        if len(set(ratios.values())) > 1:
            ranked = sorted(set(ratios.values()))
            for at, card in enumerate(piles.cards):
                own = [ratios[mistake] for mistake in card.mistakes if mistake in ratios]
                if own:
                    piles.guessed[at] = ranked.index(own[0]) / (len(ranked) - 1)
        return piles

    @property
    def remaining(self) -> list[int]:
        """Return the cards in no pile, with postponed ones last."""
        free = [at for at in range(len(self.cards)) if at not in self.assigned]
        return [at for at in free if at not in self._later] + [at for at in self._later if at in free]

    @property
    def can_undo(self) -> bool:
        return bool(self._undo_stack)

    def in_pile(self, pile: int) -> list[int]:
        return [at for at in reversed(list(self.assigned)) if self.assigned[at] == pile]

    def mistakes_in(self, cards: Sequence[int]) -> int:
        return sum(len(self.cards[at].mistakes) for at in cards)

    def proposals(self) -> dict[int, int]:
        """Return proposed piles for the remaining cards: by equal consequences in a pile, or by a first guess."""
        pile_of: dict[str, int] = {}
        for at, pile in self.assigned.items():
            words = _plain_words(self.cards[at].consequence)
            if words:
                pile_of[words] = pile
        found = {}
        for at in self.remaining:
            words = _plain_words(self.cards[at].consequence)
            if words in pile_of:
                found[at] = pile_of[words]
            elif at in self.guessed:
                found[at] = round(self.guessed[at] * (len(self.names) - 1))
        return found

    def alike(self, card: int) -> list[int]:
        """Return the remaining cards with the same consequence as `card`, including itself."""
        words = _plain_words(self.cards[card].consequence)
        return [
            at for at in self.remaining if at == card or (words and _plain_words(self.cards[at].consequence) == words)
        ]

    def put(self, cards: Sequence[int], pile: int) -> None:
        if not 0 <= pile < len(self.names):
            return
        self._save_undo_state()
        for at in cards:
            self.assigned.pop(at, None)
            self.assigned[at] = pile

    def later(self, card: int) -> None:
        """Postpone a card behind the other remaining ones."""
        self._save_undo_state()
        self._later = [at for at in self._later if at != card] + [card]

    def use_proposals(self) -> None:
        self._save_undo_state()
        self.assigned |= self.proposals()

    def undo(self) -> bool:
        if not self._undo_stack:
            return False
        self.assigned, self._later, names = self._undo_stack.pop()
        if len(names) != len(self.names):  # else they may have been renamed since
            self.names = names
        return True

    def resize(self, n: int) -> None:
        """Change the number of piles; cards keep their relative rank as nearly as possible."""
        if not FEWEST <= n <= MOST or n == len(self.names):
            return
        before = len(self.names)
        usual = list(self.names) == list(NAMES[before])
        scale = (n - 1) / (before - 1)
        self._save_undo_state()
        self.assigned = {at: round(pile * scale) for at, pile in self.assigned.items()}
        self.names = list(NAMES[n]) if usual else [*self.names, *NAMES[MOST]][:n]

    def stated(self, study: Study) -> tuple[StatedPile, ...] | None:
        """Return the piles for a setting; None if all are empty."""
        if not self.assigned:
            return None
        return tuple(
            StatedPile(
                name.strip() or f"Pile {number + 1}",
                tuple(
                    StatedMistake(study.classes[true], study.classes[predicted])
                    for at in sorted(self.in_pile(number))
                    for true, predicted in self.cards[at].mistakes
                ),
            )
            for number, name in enumerate(self.names)
            if self.in_pile(number)
        )

    def _save_undo_state(self) -> None:
        self._undo_stack.append((dict(self.assigned), list(self._later), list(self.names)))


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
