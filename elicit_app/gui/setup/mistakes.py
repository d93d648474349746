"""The words of every mistake: a list to search in, and the words of the chosen one beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QBoxLayout,
    QFrame,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from elicit_app.gui import theme
from elicit_app.gui.elements import Card, Label, Surface, box
from elicit_app.gui.elements.fields import CountedField, Field, named
from elicit_app.gui.elements.page import QuietScrollBar
from elicit_app.gui.elements.surfaces import Section
from elicit_app.gui.elements.texts import elided, tell
from elicit_app.session.words.ledger import ARROW
from elicit_app.study.model import LONGEST_CONSEQUENCE, Mistake, Study, Wording, default_wording

Key = tuple[int, int | None]
"""(true, predicted); None stands for any wrong answer for that truth."""


def keys_of(study: Study) -> tuple[Key, ...]:
    """Return every mistake that has words: by true class, then by predicted class, then any wrong answer."""
    k = study.n_classes
    pairs: list[Key] = [(i, j) for i in range(k) for j in range(k) if i != j]
    return (*pairs, *((i, None) for i in range(k)))


def mistake_at(wording: Wording, key: Key) -> Mistake:
    """Return the words of one mistake."""
    true, predicted = key
    return wording.any_mistake[true] if predicted is None else wording.mistakes[true, predicted]


def with_mistake(study: Study, key: Key, mistake: Mistake) -> Study:
    """Return the study with other words for one mistake."""
    true, predicted = key
    wording = study.wording
    if predicted is None:
        named = tuple(mistake if at == true else other for at, other in enumerate(wording.any_mistake))
        return replace(study, wording=replace(wording, any_mistake=named))
    return replace(study, wording=replace(wording, mistakes={**wording.mistakes, (true, predicted): mistake}))


def with_nouns(study: Study, case: str, cases: str, class_one: tuple[str, ...], class_many: tuple[str, ...]) -> Study:
    """Return the study with other nouns; words of mistakes that were still the default ones follow them."""
    before = study.wording
    old = default_wording(before.class_one, before.case, before.cases)
    new = default_wording(class_one, case, cases)
    mistakes = {
        key: new.mistakes[key] if _untouched(mistake, old.mistakes[key]) else mistake
        for key, mistake in before.mistakes.items()
    }
    named = tuple(
        new.any_mistake[at] if _untouched(mistake, old.any_mistake[at]) else mistake
        for at, mistake in enumerate(before.any_mistake)
    )
    return replace(study, wording=Wording(case, cases, class_one, class_many, mistakes, named))


def _untouched(mistake: Mistake, default: Mistake) -> bool:
    return (mistake.name, mistake.one, mistake.many) == (default.name, default.one, default.many)


def flow(study: Study, key: Key) -> str:
    """Return truth and prediction of a mistake: "melanoma called naevus"."""
    true, predicted = key
    called = "anything else" if predicted is None else study.wording.class_one[predicted]
    return f"{study.wording.class_one[true]} called {called}"


def matches(study: Study, key: Key, typed: str) -> bool:
    """Tell whether a mistake is found by what was typed: every word somewhere in its words."""
    mistake = mistake_at(study.wording, key)
    text = " ".join((flow(study, key), mistake.name, mistake.one, mistake.many, mistake.consequence)).lower()
    return all(word in text for word in typed.lower().split())


Index = QModelIndex | QPersistentModelIndex


class MistakeList(QAbstractListModel):
    """The mistakes that are found, by their flow and name."""

    def __init__(self) -> None:
        super().__init__()
        self._study: Study | None = None
        self._keys: tuple[Key, ...] = ()

    @property
    def keys(self) -> tuple[Key, ...]:
        """Return the mistakes shown."""
        return self._keys

    def show_found(self, study: Study, typed: str) -> None:
        """Show the mistakes of `study` that what was `typed` finds."""
        self.beginResetModel()
        self._study = study
        self._keys = tuple(key for key in keys_of(study) if matches(study, key, typed))
        self.endResetModel()

    def refresh(self, study: Study) -> None:
        """Show the same mistakes with other words."""
        self._study = study
        if self._keys:
            self.dataChanged.emit(self.index(0), self.index(len(self._keys) - 1))

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._keys)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if self._study is None or not index.isValid():
            return None
        key = self._keys[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            name, said = mistake_at(self._study.wording, key).name, flow(self._study, key)
            return said if name.lower() == said.lower() else f"{said}: {name}"
        return None


class _Row(QStyledItemDelegate):
    """Paints one line of the list; the chosen one is sunken, and outlined while the list has the focus."""

    def __init__(self, view: QListView) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(theme.em(120), theme.em(32))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        colours, room = theme.tokens(self._view), QRectF(option.rect).adjusted(2, 1, -2, -1)
        if option.state & QStyle.StateFlag.State_Selected:
            border = colours.ink if self._view.hasFocus() else None
            box(painter, room, 6, fill=colours.sunken, border=border, width=1.5)
        painter.setFont(theme.font(theme.Role.BODY))
        painter.setPen(colours.ink)
        inside = room.adjusted(8, 0, -8, 0)
        text = elided(str(index.data()), QFontMetricsF(painter.font()), inside.width())
        painter.drawText(inside, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)


class MistakeWords(QWidget):
    """The words of one mistake, with the row of the question page they make. Emits `edited` with a `Mistake`."""

    edited = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        self.name, self.one, self.many = Field(), Field(), Field()
        self.consequence = CountedField("One sentence on what follows", LONGEST_CONSEQUENCE)
        self._preview = _Preview()
        column.addLayout(named("Name of the row", self.name))
        column.addLayout(named("One of them, inside a sentence", self.one))
        column.addLayout(named("Several of them", self.many))
        column.addLayout(named("What follows, in one sentence", self.consequence, focus=self.consequence.field))
        column.addWidget(self._preview)
        column.addStretch(1)
        for field in (self.name, self.one, self.many, self.consequence.field):
            field.textEdited.connect(self._edited)

    def show_mistake(self, study: Study, key: Key) -> None:
        """Show the words of a mistake."""
        mistake = mistake_at(study.wording, key)
        for field, text in (
            (self.name, mistake.name),
            (self.one, mistake.one),
            (self.many, mistake.many),
            (self.consequence.field, mistake.consequence),
        ):
            if field.text() != text:
                field.setText(text)
        self._preview.show_mistake(study, key)

    def _edited(self) -> None:
        texts = (self.name.text(), self.one.text(), self.many.text(), self.consequence.field.text())
        self.edited.emit(Mistake(*texts))


class _Preview(Card):
    """How the row will look in a question."""

    def __init__(self) -> None:
        super().__init__(Surface.BAND)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.M, 10, theme.M, 12)
        column.setSpacing(2)
        middle = Qt.AlignmentFlag.AlignHCenter
        self._name = Label(role=theme.Role.TITLE, align=middle)
        self._name.set_compact(True)
        self._flow = Label(align=middle, ink=theme.INK2)
        self._consequence = Label(role=theme.Role.NOTE, align=middle, ink=theme.INK2)
        for label in (self._name, self._flow, self._consequence):
            column.addWidget(label)

    def show_mistake(self, study: Study, key: Key) -> None:
        wording, (true, predicted) = study.wording, key
        mistake = mistake_at(wording, key)
        called = "something else" if predicted is None else wording.class_one[predicted]
        self._name.setText(mistake.name or "…")
        self._flow.setText(f"{wording.class_many[true]} {ARROW} called {called}")
        self._consequence.setText(mistake.consequence)
        self._consequence.setVisible(bool(mistake.consequence))


class MistakesSection(Section):
    """All mistakes of a study. Emits `edited` with the study that has the new words."""

    edited = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        sentence = "Say each mistake as you would to a colleague. What you leave as it is can be understood too."
        super().__init__("The mistakes", sentence, parent)
        self._study: Study | None = None
        self._key: Key | None = None
        self.search = Field(hint="Search: a class, a word")
        tell(self.search, name="Search among the mistakes")
        self.model, self.list, self.words = MistakeList(), QListView(), MistakeWords()
        self.list.setModel(self.model)
        tell(self.list, name="Mistakes")
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.list.setUniformItemSizes(True)
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setVerticalScrollBar(QuietScrollBar(on_card=True))
        self.list.setItemDelegate(_Row(self.list))
        self._found = Label(role=theme.Role.CAPTION, ink=theme.INK2)
        left = QVBoxLayout()
        left.setSpacing(8)
        frame = Card()
        inside = QVBoxLayout(frame)
        inside.setContentsMargins(4, 4, 4, 4)
        inside.addWidget(self.list)
        left.addWidget(self.search)
        left.addWidget(frame, 1)
        left.addWidget(self._found)
        self._across = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._across.setSpacing(theme.L)
        self._across.addLayout(left, 1)
        self._across.addWidget(self.words, 1)
        self.column.addLayout(self._across)
        self.search.textChanged.connect(self._search)
        self.list.selectionModel().currentChanged.connect(self._chosen)
        self.words.edited.connect(self._edited)

    def show_study(self, study: Study) -> None:
        """Show the mistakes of `study`; the chosen one stays chosen."""
        first = self._study is None or self._study.classes != study.classes
        self._study = study
        if first:
            self._search(self.search.text())
        else:
            self.model.refresh(study)
        if self._key is not None:
            self.words.show_mistake(study, self._key)

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        """List and words side by side, or one above the other on a compact page."""
        down, across = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._across.setDirection(down if breakpoint_.compact else across)
        self.list.setMinimumHeight(theme.em(160 if breakpoint_.compact else 260))

    def _search(self, typed: str) -> None:
        if self._study is None:
            return
        self.model.show_found(self._study, typed)
        found, k = len(self.model.keys), self._study.n_classes
        every = f"{k * (k - 1)} mistakes, and {k} lines for any wrong answer"
        self._found.setText(every if found == k * k else f"{found} found of {every}")
        if self.model.keys:
            self.list.selectionModel().setCurrentIndex(
                self.model.index(0), QItemSelectionModel.SelectionFlag.ClearAndSelect
            )

    def _chosen(self, index: QModelIndex) -> None:
        if self._study is not None and index.isValid():
            self._key = self.model.keys[index.row()]
            self.words.show_mistake(self._study, self._key)

    def _edited(self, mistake: object) -> None:
        assert isinstance(mistake, Mistake)
        if self._study is not None and self._key is not None:
            self._study = with_mistake(self._study, self._key, mistake)
            self.model.refresh(self._study)
            self.words.show_mistake(self._study, self._key)
            self.edited.emit(self._study)
