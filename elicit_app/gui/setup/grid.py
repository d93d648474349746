"""A table of words edited like a spreadsheet: paste, fill down and undo, all by keyboard."""

from __future__ import annotations

import csv
import heapq
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFontMetricsF, QGuiApplication, QKeyEvent, QKeySequence, QPainter, QPen, QWheelEvent
from PySide6.QtWidgets import (
    QAbstractItemDelegate,
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QLineEdit,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from elicit_app.gui import theme
from elicit_app.gui.elements.page import QuietScrollBar
from elicit_app.gui.elements.painting import annotate, box, tooltip_text, write
from elicit_app.gui.elements.surfaces import column_widths
from elicit_app.gui.theme import LEFT, RIGHT
from metrics.text import counted

Index = QModelIndex | QPersistentModelIndex
Cell = tuple[int, int]

ROW = 27
_PAD = 10
_COUNT = 34  # width of the character count, in pixels at the base font
_MEASURED = 5  # number of the longest cells of a column to measure, because the longest text is not always the widest


class Column(NamedTuple):
    """One column."""

    head: str
    share: int  # of the width
    editable: bool = True  # whether it may be typed in
    longest: int = 0  # character limit, counted in every cell; 0 for none
    missing: str = ""  # prompt in an empty cell
    # look of its text
    grey: bool = False
    align: Qt.AlignmentFlag = LEFT


Steps = list[tuple["Grid", dict[Cell, str]]]
"""The steps of all tables of a page, the newest last: which table, and the texts that its cells had before."""


class Grid(QAbstractTableModel):
    """A table of texts; what it can take back is in `steps`. Emits `edited` with the rows that the person changed."""

    edited = Signal(object)

    def __init__(self, columns: Sequence[Column], steps: Steps) -> None:
        super().__init__()
        self.columns = tuple(columns)
        self._cells: list[list[str]] = []
        self._starts: frozenset[int] = frozenset()
        self._steps = steps
        self.fresh: set[Cell] = set()

    def show_cells(self, cells: Sequence[Sequence[str]], starts: Sequence[int] = ()) -> None:
        """Show other rows, with a stronger line above each of `starts`."""
        self.beginResetModel()
        self._cells, self._starts = [list(row) for row in cells], frozenset(starts)
        self.fresh = set()
        self.endResetModel()

    def refresh(self, cells: Sequence[Sequence[str]]) -> None:
        self._cells = [list(row) for row in cells]
        self._changed()

    def row(self, at: int) -> tuple[str, ...]:
        return tuple(self._cells[at])

    def starts(self, row: int) -> bool:
        return row in self._starts

    def put(self, texts: Mapping[Cell, str], *, fresh: bool = False) -> int:
        """Write several cells as one undoable step, and return their number."""
        before = {cell: self._cells[cell[0]][cell[1]] for cell in texts}
        if before != dict(texts):
            self._steps.append((self, before))
        self._write(texts)
        self.fresh = set(texts) if fresh else set()
        return len(texts)

    def undo(self) -> bool:
        """Undo the last step on the page, in whichever table it was."""
        if not self._steps:
            return False
        grid, before = self._steps.pop()
        grid.fresh = set()
        grid._write(before)
        return True

    def forget_fresh(self) -> None:
        if self.fresh:
            self.fresh = set()
            self._changed()

    def _write(self, texts: Mapping[Cell, str]) -> None:
        for (row, column), text in texts.items():
            self._cells[row][column] = text
        self._changed()
        self.edited.emit(sorted({row for row, _ in texts}))

    def _changed(self) -> None:
        if self._cells:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._cells) - 1, len(self.columns) - 1))

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._cells)

    def texts_in(self, column: int) -> Iterator[str]:
        return (row[column] for row in self._cells)

    def columnCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        text, column = self._cells[index.row()][index.column()], self.columns[index.column()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return text
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip_text(text)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{column.head}: {text or column.missing or 'empty'}"
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role != Qt.ItemDataRole.EditRole or str(value) == self.data(index):
            return False
        self.put({(index.row(), index.column()): str(value)})
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        usual = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return usual | Qt.ItemFlag.ItemIsEditable if self.columns[index.column()].editable else usual

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self.columns[section].head
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.TextAlignmentRole:
            return self.columns[section].align
        return None


def block_of(text: str, *, split: bool) -> list[list[str]]:
    """Return clipboard text from a spreadsheet as rows of cells.

    Tabs separate cells; without tabs, commas do if `split` allows it and every line has the same number of them. A
    cell with a line break is in quotation marks; the break becomes a space.
    """
    text = text.removesuffix("\n").removesuffix("\r")

    def separated(by: str) -> list[list[str]]:
        return list(csv.reader(io.StringIO(text, newline=None), delimiter=by, strict=True))

    try:
        rows, commas = separated("\t"), separated(",") if split and "\t" not in text else []
    except csv.Error:  # the quotation marks belong to the text
        rows, commas = [line.split("\t") for line in text.splitlines()], []
    if len({len(row) for row in commas}) == 1 and len(commas[0]) > 1:
        rows = commas
    return [[" ".join(cell.split()) for cell in row or [""]] for row in rows] or [[""]]


class _Cells(QStyledItemDelegate):
    """Paints cells: texts elided in the middle, with counts; pasted cells sunken, the current cell framed."""

    def __init__(self, view: GridView) -> None:
        super().__init__(view)
        self._view = view

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        editor = QLineEdit(parent)
        editor.setFrame(False)
        editor.setTextMargins(_PAD - 2, 0, 4, 0)
        editor.setFont(theme.font(theme.Role.NOTE))
        annotate(editor, name=self._view.grid.columns[index.column()].head)
        return editor

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        grid, colours = self._view.grid, theme.tokens(self._view)
        column, cell = grid.columns[index.column()], QRectF(option.rect)
        text = str(index.data())
        current = index == self._view.currentIndex() and self._view.hasFocus()
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.fillRect(cell, colours.surface)  # hides the style's selection
        if (index.row(), index.column()) in grid.fresh or (chosen and not current and self._view.several_chosen):
            painter.fillRect(cell, colours.sunken)
        strong = grid.starts(index.row()) and index.row() > 0
        painter.setPen(QPen(colours.line2 if strong else colours.line, 1))
        painter.drawLine(cell.topLeft(), cell.topRight())
        painter.setPen(QPen(colours.line, 1))
        if index.column():
            painter.drawLine(cell.topLeft(), cell.bottomLeft())
        face = theme.font(theme.Role.STRONG if index.column() == 0 else theme.Role.NOTE)
        room = cell.adjusted(_PAD, 0, -_PAD, 0)
        if column.longest and text:
            ink = colours.ink if len(text) > column.longest else colours.ink2
            write(painter, room, str(len(text)), face, ink, RIGHT)
            room.adjust(0, 0, -theme.em(26), 0)
        if not text and column.missing:
            radius = theme.em(3)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(colours.ink2, 1.4))
            middle = room.center()
            middle.setX(room.left() + radius)
            painter.drawEllipse(middle, radius, radius)
            room.adjust(theme.em(14), 0, 0, 0)
        ink = colours.ink2 if column.grey or not text else colours.ink
        write(painter, room, text or column.missing, face, ink, column.align, elide=True)
        if current:
            box(painter, cell, theme.KEY_RADIUS, border=colours.ink, width=2)


class _Heads(QHeaderView):
    """Column titles, in grey on the card, without a border."""

    def __init__(self, view: GridView) -> None:
        super().__init__(Qt.Orientation.Horizontal, view)
        self._view = view

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        colours, column = theme.tokens(self._view), self._view.grid.columns[section]
        painter.fillRect(rect, colours.surface)
        room, face = QRectF(rect).adjusted(_PAD, 0, -_PAD, 0), theme.font(theme.Role.CAPTION)
        write(painter, room, column.head, face, colours.ink2, column.align, elide=True)


_TABS = (Qt.Key.Key_Tab, Qt.Key.Key_Backtab)


class GridView(QTableView):
    """Shows a `Grid`. Enter moves down, Tab right; F2 or a letter edits. Ctrl+Tab leaves the table.

    Ctrl+V pastes a block, Ctrl+D fills down, Ctrl+Z undoes. Emits `message` with what was done, and `row_chosen` with
    the current row.
    """

    message = Signal(str)
    row_chosen = Signal(int)

    def __init__(self, grid: Grid, name: str, rows: int) -> None:
        super().__init__()
        self.grid, self._rows = grid, rows
        self.setModel(grid)
        self.setHorizontalHeader(_Heads(self))
        annotate(self, name=name)
        self.setItemDelegate(_Cells(self))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setEditTriggers(
            QAbstractItemView.EditTrigger.AnyKeyPressed
            | QAbstractItemView.EditTrigger.EditKeyPressed
            | QAbstractItemView.EditTrigger.DoubleClicked
        )
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBar(QuietScrollBar(on_card=True))
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setFrameShape(QFrame.Shape.NoFrame)
        self.selectionModel().currentChanged.connect(lambda index, _: self.row_chosen.emit(index.row()))
        grid.modelReset.connect(self._begin)
        self.measure()

    def measure(self) -> None:
        """Set the row heights for the current font, and divide the width among the columns."""
        self.setFont(theme.font(theme.Role.NOTE))
        self.horizontalHeader().setFont(theme.font(theme.Role.CAPTION))
        self.verticalHeader().setDefaultSectionSize(theme.em(ROW))
        self.horizontalHeader().setFixedHeight(theme.em(ROW))
        rows = min(self.grid.rowCount(), self._rows)
        self.setFixedHeight(theme.em(ROW) * (max(rows, 1) + 1) + 2)
        shown = [at for at in range(len(self.grid.columns)) if not self.isColumnHidden(at)]
        needs = {at: self._share_and_need(at) for at in shown}
        # Half a number would be another one.
        numbers = {at: need for at, (_, need) in needs.items() if self.grid.columns[at].align == RIGHT}
        words = {at: needs[at] for at in shown if at not in numbers}
        widths = column_widths(self.viewport().width() - sum(numbers.values()), words)
        for at, width in (widths | numbers).items():
            self.setColumnWidth(at, width)

    def _share_and_need(self, column: int) -> tuple[int, int]:
        """Return the share of a column, and the width at which none of its cells is cut off."""
        one, letters = self.grid.columns[column], QFontMetricsF(theme.font(theme.Role.STRONG))
        longest = heapq.nlargest(_MEASURED, self.grid.texts_in(column), key=len)
        count = theme.em(_COUNT) if one.longest else 0
        widest = max(letters.horizontalAdvance(text) for text in (one.head, *longest))
        return one.share, math.ceil(widest) + 2 * _PAD + count

    @property
    def several_chosen(self) -> bool:
        return len(self.selectionModel().selectedIndexes()) > 1

    def sizeHint(self) -> QSize:
        return QSize(theme.em(400), self.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.em(200), theme.em(ROW) * 3)

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self.measure()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.viewport().update()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll the table if it has hidden rows, otherwise the page."""
        if self.verticalScrollBar().maximum() > 0:
            super().wheelEvent(event)
        else:
            event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        acts = (
            (QKeySequence.StandardKey.Paste, self.paste),
            (QKeySequence.StandardKey.Copy, self.copy),
            (QKeySequence.StandardKey.Undo, self.undo),
        )
        for keys, act in acts:
            if event.matches(keys):
                act()
                return
        self.grid.forget_fresh()
        control = event.modifiers() == Qt.KeyboardModifier.ControlModifier
        if event.key() in _TABS and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._leave(event.key() == Qt.Key.Key_Tab)
        elif control and event.key() == Qt.Key.Key_D:
            self.fill_down()
        elif event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.grid.put(dict.fromkeys(self._chosen(), ""))
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not control:
            if self.state() != QAbstractItemView.State.EditingState:  # otherwise it comes from the closing editor
                self._go_down()
        else:
            super().keyPressEvent(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Move from cell to cell on Tab, and leave the table at its ends."""
        return super().focusNextPrevChild(forward) if self._stop(forward=forward).isValid() else self._leave(forward)

    def _leave(self, forward: bool) -> bool:
        self.setTabKeyNavigation(False)
        moved = super().focusNextPrevChild(forward)
        self.setTabKeyNavigation(True)
        return moved

    def moveCursor(self, action: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier) -> QModelIndex:
        """Make Tab stop only at editable cells, because text typed elsewhere would be lost."""
        steps = {QAbstractItemView.CursorAction.MoveNext: True, QAbstractItemView.CursorAction.MovePrevious: False}
        return self._stop(forward=steps[action]) if action in steps else super().moveCursor(action, modifiers)

    def _stop(self, *, forward: bool) -> QModelIndex:
        """Return the next cell for Tab; invalid if Tab leaves the table."""
        here = (self.currentIndex().row(), self.currentIndex().column())
        columns = [at for at, one in enumerate(self.grid.columns) if one.editable and not self.isColumnHidden(at)]
        stops = list(product(self._visible_rows(), columns))
        if forward:
            found = min((cell for cell in stops if cell > here), default=None)
        else:
            found = max((cell for cell in stops if cell < here), default=None)
        return QModelIndex() if found is None else self.grid.index(*found)

    def take_typed(self) -> None:
        """Commit the text being typed into a cell, because shortcuts of the page do not close the editor."""
        editor = self.indexWidget(self.currentIndex())
        if editor is not None:
            self.commitData(editor)
            self.closeEditor(editor, QAbstractItemDelegate.EndEditHint.NoHint)

    def closeEditor(self, editor: QWidget, hint: QAbstractItemDelegate.EndEditHint) -> None:
        """Move down after Enter commits a cell."""
        super().closeEditor(editor, hint)
        if hint == QAbstractItemDelegate.EndEditHint.SubmitModelCache:
            self._go_down()

    def paste(self) -> None:
        """Paste a block starting at the current cell, or a single text into all selected cells."""
        index = self.currentIndex()
        if not index.isValid():
            self.message.emit("Choose a cell first: the block is pasted from there on.")
            return
        columns = [at for at in range(index.column(), len(self.grid.columns)) if not self.isColumnHidden(at)]
        block = block_of(QGuiApplication.clipboard().text(), split=len(columns) > 1)
        if block == [block[0][:1]] and self.several_chosen:
            cells = dict.fromkeys(self._chosen(), block[0][0])
            self.message.emit(f"{counted(self.grid.put(cells, fresh=True), 'cell')} pasted from the clipboard.")
            return
        rows = [row for row in self._visible_rows() if row >= index.row()]
        texts = {
            (row, column): text
            for row, line in zip(rows, block, strict=False)
            for column, text in zip(columns, line, strict=False)
            if self.grid.columns[column].editable
        }
        lost = sum(map(len, block)) - len(texts)
        self.grid.put(texts, fresh=True)
        more = f" {counted(lost, 'cell')} did not fit." if lost else ""
        self.message.emit(f"{counted(len(texts), 'cell')} pasted from the clipboard.{more}")

    def copy(self) -> None:
        chosen = self.selectionModel().selectedIndexes()
        rows, columns = sorted({one.row() for one in chosen}), sorted({one.column() for one in chosen})
        lines = ["\t".join(self.grid.row(row)[column] for column in columns) for row in rows]
        QGuiApplication.clipboard().setText("\n".join(lines))

    def fill_down(self) -> None:
        """Copy the topmost selected cell of each column into those below; for a single cell, copy the one above it."""
        chosen = self._chosen()
        if not chosen:
            return
        visible = self._visible_rows()
        texts: dict[Cell, str] = {}
        for column in {at for _, at in chosen}:
            own = sorted(row for row, at in chosen if at == column)
            above = [row for row in visible if row < own[0]]
            source = own[0] if len(own) > 1 else (above[-1] if above else own[0])
            texts |= {(row, column): self.grid.row(source)[column] for row in own if row != source}
        if texts:
            self.message.emit(f"{counted(self.grid.put(texts, fresh=True), 'cell')} filled.")

    def undo(self) -> None:
        self.message.emit("Taken back." if self.grid.undo() else "There is nothing to take back.")

    def show_only(self, rows: Sequence[int]) -> None:
        wanted = set(rows)
        for row in range(self.grid.rowCount()):
            self.setRowHidden(row, row not in wanted)
        if rows and self.currentIndex().row() not in wanted:
            self.setCurrentIndex(self.grid.index(rows[0], self._first_editable))

    def _chosen(self) -> list[Cell]:
        places = [(one.row(), one.column()) for one in self.selectionModel().selectedIndexes()]
        return [
            (row, column)
            for row, column in places
            if self.grid.columns[column].editable and not self.isRowHidden(row) and not self.isColumnHidden(column)
        ]

    def _visible_rows(self) -> list[int]:
        return [row for row in range(self.grid.rowCount()) if not self.isRowHidden(row)]

    def _go_down(self) -> None:
        index = self.currentIndex()
        below = next((row for row in self._visible_rows() if row > index.row()), None)
        if below is not None:
            self.setCurrentIndex(self.grid.index(below, index.column()))

    @property
    def _first_editable(self) -> int:
        return next(at for at, column in enumerate(self.grid.columns) if column.editable)

    def _begin(self) -> None:
        self.measure()
        if self.grid.rowCount():
            self.setCurrentIndex(self.grid.index(0, self._first_editable))
