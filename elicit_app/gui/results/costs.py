"""Costs and files: the cost matrix, what it means for MPCS, class weights, and a file for every tool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements import Card, Divider, Label
from elicit_app.gui.elements.painting import box
from elicit_app.gui.elements.surfaces import Block
from elicit_app.gui.elements.texts import elided, show_tooltip, tell
from elicit_app.gui.results.files import FilesCard
from elicit_app.gui.theme import XS, Role, Tokens, em, font, tokens
from elicit_app.session.views.outcome import ResultView
from elicit_app.study.model import Study
from metrics import ElicitedMetric
from metrics.display.numbers import cost_text, two_digits

_CENTRE = Qt.AlignmentFlag.AlignCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True)
class Cell:
    """One cell: a number, what stands under it, and the sentence of its tool tip."""

    text: str
    below: str = ""
    sentence: str = ""


class MatrixGrid(QLabel):
    """Rows are truths, columns what the model says; the diagonal is sunken. Above five classes the second line goes."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._classes: tuple[str, ...] = ()
        self._cells: tuple[tuple[Cell, ...], ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_cells(self, classes: Sequence[str], cells: Sequence[Sequence[Cell]], name: str) -> None:
        """Show `cells` (k rows of k); `name` is the accessible name."""
        self._classes, self._cells = tuple(classes), tuple(tuple(row) for row in cells)
        tell(self, name=name, more=" ".join(cell.sentence for row in cells for cell in row if cell.sentence))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(em(440), round(self._top() + len(self._classes) * self._row()))

    def minimumSizeHint(self) -> QSize:
        return QSize(em(280), self.sizeHint().height())

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            show_tooltip(event.globalPos(), self._sentence_at(QPointF(event.pos())), self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours, size = tokens(self), len(self._classes)
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_head(painter, colours)
            for i in range(size):
                painter.setFont(font(Role.NOTE, weight=500))
                painter.setPen(colours.ink)
                top = self._top() + i * self._row()
                label = QRectF(0, top, self._label() - em(8), self._row())
                painter.drawText(label, _LEFT | Qt.TextFlag.TextWordWrap, self._fitting(painter, i, label.width(), 2))
                for j in range(size):
                    self._paint_cell(painter, colours, self._cells[i][j], self._cell(i, j), i == j)

    def _dense(self) -> bool:
        return len(self._classes) > 5

    def _row(self) -> float:
        return float(em(34 if self._dense() else 56))

    def _top(self) -> float:
        return float(em(46))

    def _label(self) -> float:
        metrics = QFontMetricsF(font(Role.NOTE, weight=500))
        longest = max((metrics.horizontalAdvance(name) for name in (*self._classes, "the truth is")), default=0.0)
        return min(longest + em(14), self.width() * 0.27)

    def _cell(self, i: int, j: int) -> QRectF:
        left, size = self._label(), max(len(self._classes), 1)
        width = (self.width() - left) / size
        gap = XS / 2
        return QRectF(left + j * width, self._top() + i * self._row(), width, self._row()).adjusted(
            gap, gap, -gap, -gap
        )

    def _paint_head(self, painter: QPainter, colours: Tokens) -> None:
        left = self._label()
        painter.setFont(font(Role.NOTE))
        painter.setPen(colours.ink2)
        painter.drawText(QRectF(left, 0, self.width() - left, em(22)), _CENTRE, "the model says")
        painter.drawText(QRectF(0, em(22), left, em(22)), _LEFT, "the truth is")
        painter.setFont(font(Role.CAPTION if self._dense() else Role.NOTE, weight=500))
        painter.setPen(colours.ink)
        for j in range(len(self._classes)):
            room = self._cell(0, j)
            room = QRectF(room.left(), em(22), room.width(), em(22))
            painter.drawText(room, _CENTRE, self._fitting(painter, j, room.width()))

    def _fitting(self, painter: QPainter, index: int, width: float, lines: int = 1) -> str:
        metrics, name = QFontMetricsF(painter.font()), self._classes[index]
        room = width if lines == 1 or " " not in name else width * 1.7
        return elided(name, metrics, room)

    def _paint_cell(self, painter: QPainter, colours: Tokens, cell: Cell, room: QRectF, diagonal: bool) -> None:
        fill = colours.sunken if diagonal else colours.surface
        box(painter, room, XS, fill=fill, border=colours.line)
        painter.setPen(colours.ink3 if diagonal else colours.ink)
        painter.setFont(
            font(Role.NOTE if self._dense() else Role.SECTION, compact=True, weight=400 if diagonal else 600)
        )
        if not cell.below or self._dense():
            painter.drawText(room, _CENTRE, cell.text)
            return
        painter.drawText(room.adjusted(0, em(5), 0, -em(22)), _CENTRE, cell.text)
        painter.setFont(font(Role.CAPTION))
        painter.setPen(colours.ink2)
        painter.drawText(room.adjusted(0, em(26), 0, -em(4)), _CENTRE, cell.below)

    def _sentence_at(self, point: QPointF) -> str:
        size = len(self._classes)
        for i in range(size):
            for j in range(size):
                if self._cell(i, j).contains(point):
                    return self._cells[i][j].sentence
        return ""


_FROM_HERE_WIDE = 5


def cost_cells(view: ResultView, study: Study) -> list[list[Cell]]:
    """Return the cells of the cost matrix: the cost and its 90 % interval, or its bound."""
    metric, names = view.metric, study.wording.class_one
    rows = []
    for i in range(len(names)):
        row = []
        for j in range(len(names)):
            if i == j:
                row.append(Cell("0", sentence=f"{names[i]} called {names[j]}: right, costs nothing."))
                continue
            interval = None if metric.intervals is None else metric.intervals[i, j]
            text, below = cost_text(float(metric.cost_matrix[i, j]), interval)
            row.append(Cell(text, below, f"{names[i]} called {names[j]}: {text}{f', {below}' if below else ''}."))
        rows.append(row)
    return rows


def release_cells(view: ResultView, study: Study) -> list[list[Cell]]:
    """Return the cells of the release factors; the worst wrong name of each truth is marked."""
    factors, names = view.metric.release_factors(), study.wording.class_one
    rows = []
    for i in range(len(names)):
        row = []
        for j in range(len(names)):
            if i == j:
                row.append(Cell("–"))
                continue
            text, below = _release_text(view, i, j, float(factors[i, j]))
            row.append(
                Cell(text, below, f"{names[i]} called {names[j]}: concern {text}{f', {below}' if below else ''}.")
            )
        rows.append(row)
    return rows


def _release_text(view: ResultView, i: int, j: int, factor: float) -> tuple[str, str]:
    """Return a release factor; an upper bound of its cost bounds it too, where the worst cost of the row is known."""
    costs, intervals = view.metric.cost_matrix, view.metric.intervals
    if factor < 1 and intervals is not None and any((r.true, r.predicted) == (i, j) and r.bounded for r in view.ratios):
        high = float(intervals[i, j, 1] / costs[i].max())
        return (f"≤ {two_digits(high)}" if high < 1 else "≤ 1"), "bounded"
    return two_digits(factor), "worst" if factor == 1 else ""


def two_level_sentence(metric: ElicitedMetric, study: Study) -> str:
    """Return the paper's two-level form in words."""
    release, names = metric.release_list(), study.wording.class_one
    if not release.releases:
        return "No mistake is discounted."
    parts = [f"{names[entry[0]]} called {_listed([names[j] for j in entry[1:]])}" for entry in release.releases]
    kept = "; ".join(parts)
    return (
        f"Release {kept}, with factor {two_digits(release.factor)}. "
        f"The best two-level fit of the factors above; off by {two_digits(release.error)} on average."
    )


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


class MatrixCard(Card):
    """A matrix with its title and the sentence that says which way to read it."""

    def __init__(self, title: str, sentence: str, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 20, 16)
        column.setSpacing(6)
        self.grid = MatrixGrid()
        column.addWidget(Label(title, theme.Role.SECTION))
        column.addWidget(Label(sentence, theme.Role.NOTE, theme.INK2))
        column.addWidget(self.grid)
        column.addStretch(1)


class WeightsCard(Card):
    """Class weights and the paper's two-level form."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(20, 16, 20, 16)
        self._column.setSpacing(8)
        self._weights, self._pairs = Block(), list[QWidget]()
        self._grid = QGridLayout(self._weights.renew())
        self._two_level = Label(role=theme.Role.NOTE)
        self._column.addWidget(Label("Class weights", theme.Role.SECTION))
        self._column.addWidget(self._weights)
        note = "They weigh the truths against each other; their mean is 1. Release factors compare within one truth."
        self._column.addWidget(Label(note, theme.Role.NOTE, theme.INK2))
        self._column.addWidget(Divider())
        self._column.addWidget(Label("Two-level form, as in the paper", theme.Role.SECTION))
        self._column.addWidget(self._two_level)
        self._column.addStretch(1)

    def show_result(self, view: ResultView, study: Study) -> None:
        """Show the weights of `view`."""
        self._pairs = []
        self._grid = QGridLayout(self._weights.renew())
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(theme.XL)
        for name, weight in zip(study.wording.class_one, view.metric.class_weight.values(), strict=True):
            pair = QWidget()
            inside = QVBoxLayout(pair)
            inside.setContentsMargins(0, 0, 0, 0)
            inside.setSpacing(0)
            inside.addWidget(Label(name, theme.Role.NOTE, theme.INK2))
            inside.addWidget(Label(two_digits(weight), theme.Role.LEAD))
            self._pairs.append(pair)
        self._two_level.setText(two_level_sentence(view.metric, study))

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        """Put as many weights on a line as long names leave room for."""
        per_row = 1 if breakpoint_.large else 2 if breakpoint_.compact else _FROM_HERE_WIDE
        for pair in self._pairs:
            self._grid.removeWidget(pair)
        for index, pair in enumerate(self._pairs):
            self._grid.addWidget(pair, index // per_row, index % per_row)
        for column in range(_FROM_HERE_WIDE + 1):
            self._grid.setColumnStretch(column, int(column == per_row))


class CostsPane(QWidget):
    """The third tab of the result. Emits `export_requested` with a format, `answers_requested` and `save_requested`."""

    export_requested = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(theme.M)
        rows = "Rows: truth. Columns: what the model says. 1 = the worst mistake."
        within = "How much each wrong name concerns you, within one truth. 1 = fully."
        self.costs = MatrixCard("Cost matrix", rows)
        self.releases = MatrixCard("Release factors for MPCS", within)
        self.weights, self.files = WeightsCard(), FilesCard()
        self.files.export_requested.connect(self.export_requested)
        self._classes, self._last = 0, theme.Breakpoint(False, False, False)

    def show_result(self, view: ResultView, study: Study) -> None:
        """Show the costs of `view`."""
        names = study.wording.class_one
        self.costs.grid.show_cells(names, cost_cells(view, study), "Cost matrix, rows are truths")
        self.releases.grid.show_cells(names, release_cells(view, study), "Release factors, rows are truths")
        self.weights.show_result(view, study)
        self.files.show_result(view)
        self._classes = len(names)
        self.arrange(self._last)

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        """Two cards a row; one where the page is compact or the matrices are large."""
        self._last = breakpoint_
        self.files.arrange(breakpoint_)
        self.weights.arrange(breakpoint_)
        cards: tuple[Card, ...] = (self.costs, self.releases, self.weights, self.files)
        for card in cards:
            self._grid.removeWidget(card)
        if breakpoint_.compact:
            places = [(0, 0, 2), (1, 0, 2), (2, 0, 2), (3, 0, 2)]
        elif self._classes > _FROM_HERE_WIDE:
            places = [(0, 0, 2), (1, 0, 2), (2, 0, 1), (2, 1, 1)]
        else:
            places = [(0, 0, 1), (0, 1, 1), (1, 0, 1), (1, 1, 1)]
        for card, (row, column, across) in zip(cards, places, strict=True):
            self._grid.addWidget(card, row, column, 1, across)
        self._grid.setColumnStretch(0, 1)
        self._grid.setColumnStretch(1, 1)
