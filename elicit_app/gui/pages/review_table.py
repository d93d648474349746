"""All answers as a table: what was preferred, how clearly, in how many seconds, and whether it fits."""

from __future__ import annotations

from typing import Any, NamedTuple

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetricsF, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
)

from elicit_app.elicitation.questions import Family
from elicit_app.gui import theme
from elicit_app.gui.elements.painting import Glyph, box, paint_glyph
from elicit_app.gui.elements.texts import tell
from elicit_app.gui.theme import LEFT, RIGHT
from elicit_app.session.sentences import preference_of
from elicit_app.session.views import AnsweredView, Fit
from elicit_app.study.model import Wording

Index = QModelIndex | QPersistentModelIndex

NUMBER, PREFERRED, RATHER, CLEARLY, SECONDS, FITS = range(6)
HEADS = ("No.", "You preferred", "rather than", "how clearly", "seconds", "fits the rest")
GLYPHS: dict[Fit, Glyph] = {
    "fits": Glyph.CHECK,
    "check": Glyph.CHECK,
    "two answers": Glyph.SWAP,
    "does not fit": Glyph.WARNING,
    "worse side": Glyph.WARNING,
    "asked again": Glyph.DOT,
    "left open": Glyph.DOT,
    "taken out": Glyph.DOT,
}
STRESSED: tuple[Fit, ...] = ("two answers", "does not fit", "worse side")
_FIT_WORDS: dict[Fit, str] = {"check": "a check question", "worse side": "the worse side"}


class AnswerWords(NamedTuple):
    """One answer in the words of a row."""

    number: int
    preferred: str
    rather_than: str
    clearly: str
    seconds: str
    fit: Fit

    @property
    def fit_words(self) -> str:
        """Return what stands in the last column."""
        return _FIT_WORDS.get(self.fit, self.fit)

    @property
    def cells(self) -> tuple[str, ...]:
        """Return the texts of all columns."""
        return str(self.number), self.preferred, self.rather_than, self.clearly, self.seconds, self.fit_words


def answer_words(answer: AnsweredView, wording: Wording, family: Family) -> AnswerWords:
    """Say an answer: what was preferred, and what the other result would have offered instead."""
    preference = preference_of(answer, wording, family)
    clearly = answer.strength.value if answer.strength is not None else ""
    seconds = "" if answer.seconds is None else f"{answer.seconds:,.0f}"
    return AnswerWords(answer.number, preference.preferred, preference.rather_than, clearly, seconds, answer.fit)


class AnswersModel(QAbstractTableModel):
    """The rows of the review table; every cell is readable by a screen reader."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: tuple[AnswerWords, ...] = ()

    def show_rows(self, rows: tuple[AnswerWords, ...]) -> None:
        """Show `rows`, in this order."""
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    @property
    def rows(self) -> tuple[AnswerWords, ...]:
        """Return the rows shown."""
        return self._rows

    def row_of(self, number: int) -> int | None:
        """Return the row of answer `number`."""
        return next((index for index, row in enumerate(self._rows) if row.number == number), None)

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(HEADS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return HEADS[section]
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._rows[index.row()].cells[index.column()]
        return None

    def as_text(self) -> str:
        """Return head and rows separated by tabs, for a spreadsheet."""
        return "\n".join("\t".join(cells) for cells in (HEADS, *(row.cells for row in self._rows)))


_WRAP = Qt.TextFlag.TextWordWrap
_PAD, _GAP = 6, 24


def _face(model: AnswersModel, row: int, column: int) -> QFont:
    stressed = column == PREFERRED or (column == FITS and model.rows[row].fit in STRESSED)
    return theme.font(theme.Role.STRONG if stressed else theme.Role.BODY)


class _Row(QStyledItemDelegate):
    """Paints one cell: wrapped text, in the last column with its sign."""

    def __init__(self, view: AnswersTable, model: AnswersModel) -> None:
        super().__init__(view)
        self._view, self._model = view, model

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        across = range(index.column(), index.column() + self._view.columnSpan(index.row(), index.column()))
        width = sum(map(self._view.columnWidth, across)) - 2 * _PAD
        metrics = QFontMetricsF(_face(self._model, index.row(), index.column()))
        used = metrics.boundingRect(QRectF(0, 0, max(width, 20), 10_000), _WRAP, self._text(index))
        return QSize(round(used.width()), max(theme.em(46), round(used.height()) + theme.em(20)))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        colours, rect = theme.tokens(self._view), QRectF(option.rect)
        row = self._model.rows[index.row()]
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.fillRect(rect, colours.surface)
        if selected:
            painter.fillRect(rect.adjusted(0, 3, 0, -3), colours.hover)
        painter.fillRect(QRectF(rect.left(), rect.top(), rect.width(), 1), colours.line)
        painter.setFont(_face(self._model, index.row(), index.column()))
        out, plain = row.fit == "taken out", index.column() not in (PREFERRED, FITS)
        painter.setPen(colours.ink3 if out else colours.ink2 if plain else colours.ink)
        inside = rect.adjusted(_PAD, 0, -_PAD, 0)
        if index.column() == FITS:
            inside.setLeft(inside.left() + _GAP)
            side = theme.em(16)
            sign = QRectF(inside.left(), inside.center().y() - side / 2, side, side)
            paint_glyph(painter, GLYPHS[row.fit], sign, painter.pen().color())
            inside.setLeft(inside.left() + side + theme.S)
        align = RIGHT if index.column() == SECONDS else LEFT
        painter.drawText(inside, int(align) | int(_WRAP), self._text(index))

    def _text(self, index: QModelIndex | QPersistentModelIndex) -> str:
        return self._model.rows[index.row()].cells[index.column()]


class AnswersTable(QTableView):
    """Emits `chosen` with the number of an answer (or None), `opened` on Enter or a double click."""

    chosen = Signal(object)
    opened = Signal(object)

    def __init__(self, model: AnswersModel) -> None:
        super().__init__()
        self._model, self._compact = model, False
        self.setModel(model)
        self.setItemDelegate(_Row(self, model))
        tell(self, name="All answers, newest first")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setTabKeyNavigation(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        self.setHorizontalHeader(_Head(self))
        self.selectionModel().selectionChanged.connect(self._moved)
        self.doubleClicked.connect(lambda index: self.opened.emit(self._model.rows[index.row()].number))
        model.modelReset.connect(self._reset)

    @property
    def number(self) -> int | None:
        """Return the number of the chosen answer."""
        rows = self.selectionModel().selectedRows()
        return self._model.rows[rows[0].row()].number if rows else None

    def choose(self, number: int) -> None:
        """Choose answer `number`."""
        row = self._model.row_of(number)
        if row is not None:
            self.selectRow(row)

    def set_compact(self, compact: bool) -> None:
        """Leave out how clearly and seconds on a compact page."""
        self._compact = compact
        for column in (CLEARLY, SECONDS):
            self.setColumnHidden(column, compact)
        self.fit()

    def fit(self) -> None:
        """Share the width among the columns and take the height of all rows."""
        metrics = QFontMetricsF(theme.font(theme.Role.STRONG))
        small = {
            NUMBER: metrics.horizontalAdvance("No. 10") + 2 * _PAD,
            CLEARLY: metrics.horizontalAdvance("how clearly") + 3 * _PAD,
            SECONDS: metrics.horizontalAdvance("seconds") + 3 * _PAD,
            FITS: max(map(metrics.horizontalAdvance, ("does not fit", "two answers", "a check question")))
            + theme.em(24)
            + _GAP
            + 2 * _PAD,
        }
        shown = {column: width for column, width in small.items() if not self.isColumnHidden(column)}
        rest = max(self.viewport().width() - sum(shown.values()), theme.em(120))
        for column, width in {**shown, PREFERRED: rest * 0.52, RATHER: rest * 0.48}.items():
            self.setColumnWidth(column, int(width))
        self.resizeRowsToContents()
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        rows = sum(self.rowHeight(row) for row in range(self._model.rowCount()))
        return QSize(theme.em(600), self.horizontalHeader().sizeHint().height() + rows + 2)

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.em(240), self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.number is not None:
            self.opened.emit(self.number)
            return
        super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        rows = self.selectionModel().selectedRows()
        if not rows:
            return
        top, height = self.rowViewportPosition(rows[0].row()), self.rowHeight(rows[0].row())
        with QPainter(self.viewport()) as painter:
            rect = QRectF(0, top + 2, self.viewport().width(), height - 3)
            colours = theme.tokens(self)
            strong = self.hasFocus()
            box(painter, rect, 6, border=colours.ink if strong else colours.line2, width=2 if strong else 1)

    def _reset(self) -> None:
        self.clearSpans()
        for index, row in enumerate(self._model.rows):
            if not row.rather_than:
                self.setSpan(index, PREFERRED, 1, 2)
        self.fit()

    def _moved(self) -> None:
        self.viewport().update()
        self.chosen.emit(self.number)


class _Head(QHeaderView):
    """The names of the columns, without boxes."""

    def __init__(self, table: QTableView) -> None:
        super().__init__(Qt.Orientation.Horizontal, table)
        self.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), theme.em(40))

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = theme.tokens(self)
        with QPainter(self.viewport()) as painter:
            painter.fillRect(self.rect(), colours.surface)
            painter.setFont(theme.font(theme.Role.NOTE))
            painter.setPen(colours.ink2)
            for column in range(self.count()):
                if not self.isSectionHidden(column):
                    room = QRectF(self.sectionViewportPosition(column), 0, self.sectionSize(column), self.height())
                    head = self.model().headerData(column, Qt.Orientation.Horizontal)
                    align = RIGHT if column == SECONDS else LEFT
                    left = _PAD + (_GAP if column == FITS else 0)
                    painter.drawText(room.adjusted(left, 0, -_PAD, 0), align, str(head))
