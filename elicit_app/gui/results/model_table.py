"""The models ranked by what their mistakes cost: a painted table with the interval of each difference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from elicit_app.gui.elements.texts import elided, tell
from elicit_app.gui.results import plotting
from elicit_app.gui.results.plotting import LinearAxis
from elicit_app.gui.theme import Role, Tokens, em, font, tokens
from elicit_app.session.views.outcome import ModelView
from metrics.display.numbers import probability, total_cost

LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
CENTRE = Qt.AlignmentFlag.AlignCenter


@dataclass(frozen=True)
class Columns:
    """Left ends of the columns in pixels; `mpcs` is None where MPCS and accuracy stand under the name."""

    rank: float
    name: float
    cost: float
    plot: float
    plot_end: float
    mpcs: float | None
    best: float
    end: float

    def x(self, axis: LinearAxis, value: float) -> float:
        """Return where a difference lies in the column of the plot."""
        return self.plot + axis.position(value) * (self.plot_end - self.plot)


def weighted(role: Role, weight: int) -> QFont:
    """Return the font of a row: heavier for the first."""
    return font(role, compact=True, weight=weight)


def text_between(
    painter: QPainter, left: float, right: float, room: QRectF, text: str, align: Qt.AlignmentFlag = LEFT
) -> None:
    """Paint `text` between two columns, shortened in its middle where it does not fit."""
    fitting = elided(text, QFontMetricsF(painter.font()), right - left)
    painter.drawText(QRectF(left, room.top(), right - left, room.height()), align, fitting)


def sentence(model: ModelView, yardsticks: str) -> str:
    """Return a row as a sentence for a screen reader."""
    best = (
        f", best with probability {probability(model.probability_best)}" if model.probability_best is not None else ""
    )
    if model.difference_range is None:
        more = f", {total_cost(model.difference)} more than the first" if model.difference else ""
    else:
        low, high = model.difference_range
        more = f", {total_cost(low)} to {total_cost(high)} more than the first" if model.difference else ""
    return (
        f"Rank {model.rank}, {model.name}: cost {total_cost(model.cost)} {yardsticks}{more},"
        f" MPCS {model.mpcs:.2f}, accuracy {100 * model.accuracy:.1f} %{best}."
    )


def _below(model: ModelView) -> str:
    """Return what stands under a model's name where MPCS and accuracy have no columns."""
    return f"MPCS {model.mpcs:.2f}, {100 * model.accuracy:.1f} % right"


class ModelTable(QLabel):
    """Rank with a bracket around ties, name, cost, difference to the first with its range, probability of best."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._models: tuple[ModelView, ...] = ()
        self._cases, self._yardsticks = "", ""
        self._axis = LinearAxis(-1.0, 1.0)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_models(self, models: Sequence[ModelView], cases: str, yardsticks: str) -> None:
        """Show `models` in the order of their rank; `cases` is "1,000 patients", `yardsticks` "needless excisions"."""
        self._models, self._cases, self._yardsticks = tuple(models), cases, yardsticks
        ends = [end for model in models for end in (model.difference, *(model.difference_range or ()))]
        self._axis = LinearAxis.around(ends)
        tell(
            self,
            name=f"Models by their cost per {cases}, in {yardsticks}",
            more=" ".join(sentence(model, yardsticks) for model in models),
        )
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(em(700), round(self._head() + len(self._models) * self._row() + em(28)))

    def minimumSizeHint(self) -> QSize:
        return QSize(em(420), self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        colours, columns = tokens(self), self._columns()
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            paint_row = self._paint_stacked_row if self._stacked() else self._paint_row
            self._paint_head(painter, colours, columns)
            self._paint_axis(painter, colours, columns)
            for index, model in enumerate(self._models):
                top = self._head() + index * self._row()
                paint_row(painter, colours, columns, model, QRectF(0, top, self.width(), self._row()))
            self._paint_bracket(painter, colours, columns)

    def _compact(self) -> bool:
        return self.width() * 15 < 820 * em(15)

    def _stacked(self) -> bool:
        return self.width() * 15 < 600 * em(15)

    def _head(self) -> float:
        if not self._stacked():
            return float(em(50))
        room = QRectF(0, 0, self.width(), 10_000)
        return QFontMetricsF(font(Role.NOTE)).boundingRect(room, Qt.TextFlag.TextWordWrap, self._how()).height() + em(8)

    def _how(self) -> str:
        """Return what the numbers are, where there are no columns to name."""
        return f"Cost per {self._cases}, in {self._yardsticks}. Below: more than the first, line: 90 % plausible."

    def _row(self) -> float:
        return float(em(104 if self._stacked() else 54))

    def _tied(self) -> int:
        return sum(model.rank == self._models[0].rank for model in self._models)

    def _columns(self) -> Columns:
        compact = self._compact()
        body, small = QFontMetricsF(font(Role.STRONG)), QFontMetricsF(font(Role.NOTE))
        rank = em(4)
        name = rank + em(44)
        if self._stacked():
            end = self.width() - em(4)
            return Columns(rank, name, end - em(110), name, end - em(30), None, name, end)
        longest = max((body.horizontalAdvance(model.name) for model in self._models), default=0)
        if compact:
            longest = max(longest, QFontMetricsF(font(Role.CAPTION)).horizontalAdvance(_below(self._models[0])))
        cost = name + min(max(longest, em(100)), self.width() * 0.28) + em(24)
        heads = max(
            small.horizontalAdvance(f"Cost per {self._cases}"), small.horizontalAdvance(f"in {self._yardsticks}")
        )
        plot = cost + min(heads, self.width() * 0.26) + em(20)
        end = self.width() - em(4)
        best = end - em(120 if compact else 190)
        mpcs = None if compact else best - em(160)
        return Columns(rank, name, cost, plot, (mpcs if mpcs is not None else best) - em(28), mpcs, best, end)

    def _paint_head(self, painter: QPainter, colours: Tokens, at: Columns) -> None:
        upper, lower = QRectF(0, 0, self.width(), em(24)), QRectF(0, em(20), self.width(), em(22))
        painter.setPen(colours.ink2)
        painter.setFont(font(Role.NOTE))
        if self._stacked():
            painter.drawText(QRectF(0, 0, self.width(), self._head()), Qt.TextFlag.TextWordWrap, self._how())
            return
        text_between(painter, at.rank, at.name, upper, "Rank")
        text_between(painter, at.name, at.cost, upper, "Model")
        text_between(painter, at.cost, at.plot - em(10), upper, f"Cost per {self._cases}")
        text_between(painter, at.plot, at.plot_end + em(20), upper, "More than the first")
        if at.mpcs is not None:
            text_between(painter, at.mpcs - em(20), at.mpcs + em(48), upper, "MPCS", RIGHT)
            text_between(painter, at.mpcs + em(50), at.best - em(14), upper, "Accuracy", RIGHT)
        text_between(painter, at.best, at.end, upper, "Best" if self._compact() else "Best, with probability")
        painter.setFont(font(Role.CAPTION))
        text_between(painter, at.cost, at.plot - em(10), lower, f"in {self._yardsticks}")
        text_between(painter, at.plot, at.plot_end + em(20), lower, "line: 90 % plausible")

    def _paint_axis(self, painter: QPainter, colours: Tokens, at: Columns) -> None:
        bottom = self._head() + len(self._models) * self._row()
        zero = round(at.x(self._axis, 0.0)) + 0.5
        painter.setPen(plotting.pen(colours.ink3, 1.5))
        for index in range(len(self._models)):
            foot = self._head() + (index + 1) * self._row()
            height = em(44) if self._stacked() else self._row()
            painter.drawLine(QPointF(zero, foot - height), QPointF(zero, foot))
        painter.setFont(font(Role.CAPTION))
        room = QFontMetricsF(painter.font()).horizontalAdvance("+1,000") + em(8)
        for tick in self._axis.ticks(max(1, int((at.plot_end - at.plot) // room))):
            x = at.x(self._axis, tick)
            painter.setPen(colours.ink2)
            said = "0" if tick == 0 else f"{'+' if tick > 0 else '−'}{total_cost(abs(tick))}"
            painter.drawText(QRectF(x - room, bottom + em(4), 2 * room, em(20)), CENTRE, said)

    def _paint_row(self, painter: QPainter, colours: Tokens, at: Columns, model: ModelView, room: QRectF) -> None:
        first = model.rank == self._models[0].rank
        ink, mark = (colours.ink, colours.ink) if first else (colours.ink2, colours.unit)
        painter.setPen(plotting.pen(colours.line, 1))
        painter.drawLine(QPointF(0, room.top() + 0.5), QPointF(room.right(), room.top() + 0.5))
        painter.drawLine(QPointF(0, room.bottom() + 0.5), QPointF(room.right(), room.bottom() + 0.5))
        painter.setPen(ink)
        painter.setFont(weighted(Role.LABEL, 600 if first else 400))
        text_between(painter, at.rank, at.name, room, str(model.rank))
        self._paint_name(painter, colours, at, model, room)
        painter.setPen(ink)
        painter.setFont(weighted(Role.LEAD, 600 if first else 400))
        text_between(painter, at.cost, at.plot, room, total_cost(model.cost))
        self._paint_difference(painter, colours, at, model, room.center().y(), mark)
        painter.setFont(font(Role.BODY))
        painter.setPen(ink)
        if at.mpcs is not None:
            text_between(painter, at.mpcs - em(20), at.mpcs + em(48), room, f"{model.mpcs:.2f}", RIGHT)
            text_between(painter, at.mpcs + em(50), at.best - em(14), room, f"{100 * model.accuracy:.1f} %", RIGHT)
        self._paint_best(painter, colours, at, model, room)

    def _paint_stacked_row(
        self, painter: QPainter, colours: Tokens, at: Columns, model: ModelView, room: QRectF
    ) -> None:
        """Paint a row of three lines, for a large font: name and cost, the other numbers, the difference."""
        first = model.rank == self._models[0].rank
        ink, mark = (colours.ink, colours.ink) if first else (colours.ink2, colours.unit)
        painter.setPen(plotting.pen(colours.line, 1))
        painter.drawLine(QPointF(0, room.top() + 0.5), QPointF(room.right(), room.top() + 0.5))
        line = QRectF(0, room.top() + em(8), room.width(), em(28))
        painter.setPen(ink)
        painter.setFont(weighted(Role.LEAD, 600 if first else 400))
        text_between(painter, at.rank, at.name, line, str(model.rank))
        text_between(painter, at.name, at.cost, line, model.name)
        text_between(painter, at.cost, at.end, line, total_cost(model.cost), RIGHT)
        painter.setFont(font(Role.CAPTION))
        painter.setPen(colours.ink2)
        best = "" if model.probability_best is None else f", best {probability(model.probability_best)}"
        text_between(painter, at.name, at.end, line.translated(0, em(25)), _below(model) + best)
        self._paint_difference(painter, colours, at, model, room.bottom() - em(22), mark)

    def _paint_name(self, painter: QPainter, colours: Tokens, at: Columns, model: ModelView, room: QRectF) -> None:
        metrics = QFontMetricsF(painter.font())
        name = elided(model.name, metrics, at.cost - at.name - em(8))
        if at.mpcs is not None:
            text_between(painter, at.name, at.cost, room, name)
            return
        half = room.height() / 2
        text_between(painter, at.name, at.cost, room.adjusted(0, em(4), 0, -half + em(2)), name)
        painter.setFont(font(Role.CAPTION))
        painter.setPen(colours.ink2)
        text_between(painter, at.name, at.cost - em(8), room.adjusted(0, half - em(2), 0, -em(4)), _below(model))

    def _paint_difference(
        self, painter: QPainter, colours: Tokens, at: Columns, model: ModelView, y: float, ink: QColor
    ) -> None:
        if model.difference_range is not None and model.difference_range[0] < model.difference_range[1]:
            low, high = (at.x(self._axis, end) for end in model.difference_range)
            plotting.line(painter, ink, low, high, y)
            if math.isinf(model.difference_range[1]):
                plotting.head(painter, ink, high, y, 1)
        plotting.dot(painter, ink, colours.surface, at.x(self._axis, model.difference), y)

    def _paint_best(self, painter: QPainter, colours: Tokens, at: Columns, model: ModelView, room: QRectF) -> None:
        first = model.rank == self._models[0].rank
        said = probability(model.probability_best)
        painter.setFont(weighted(Role.BODY, 600 if first else 400))
        number = QFontMetricsF(painter.font()).horizontalAdvance("> 99 %") + em(4)
        text_between(painter, at.best, at.end, room, said, RIGHT)
        if model.probability_best is None:
            return
        track = QRectF(at.best, room.center().y() - em(6), at.end - at.best - number - em(8), em(12))
        painter.fillRect(track, colours.sunken)
        track.setWidth(max(track.width() * model.probability_best, 1.0))
        painter.fillRect(track, colours.ink if first else colours.unit)

    def _paint_bracket(self, painter: QPainter, colours: Tokens, at: Columns) -> None:
        tied = self._tied()
        if tied < 2:
            return
        top, bottom = self._head() + em(12), self._head() + tied * self._row() - em(12)
        right, left = at.name - em(14), at.name - em(22)
        painter.setPen(plotting.pen(colours.ink))
        painter.drawPolyline([QPointF(left, top), QPointF(right, top), QPointF(right, bottom), QPointF(left, bottom)])
