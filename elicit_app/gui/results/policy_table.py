"""Policies ranked by cost: a painted table with both uncertainties of every difference to the first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QHelpEvent, QPainter
from PySide6.QtWidgets import QLabel, QSizePolicy

from elicit_app.gui.elements.painting import Painted, annotate, show_tooltip, wrapped_height, write, write_wrapped
from elicit_app.gui.results import plotting
from elicit_app.gui.theme import CENTRE, LEFT, RIGHT, Role, Tokens, em, font
from elicit_app.problem import first_of
from elicit_app.session.policy_words import PolicyRow, PolicyTexts
from metrics.drawing import LinearAxis
from metrics.policies.judgement import JudgedPolicy, Range
from metrics.text import total_cost

_MOST_ROWS = 8
_HEAD, _WIDEST_HEAD = 112, 160
_PLOT, _LEAST_PLOT = 240, 170
_EMPTY = PolicyTexts((), (), "", "", ())


def signed(difference: float) -> str:
    """Return a difference as text for the axis: "0", "+100", "−20"."""
    return "0" if difference == 0 else f"{'+' if difference > 0 else '−'}{total_cost(abs(difference))}"


@dataclass(frozen=True)
class _Columns:
    """Places of the columns, in pixels; `counts` are right ends, `bar` is the start of the probability bars.

    `two_lines`: whether names are above manners instead of beside them.
    """

    name: float
    name_end: float
    counts: tuple[float, ...]
    cost: float
    plot: float
    plot_end: float
    bar: float | None
    end: float
    two_lines: bool = True

    def x(self, axis: LinearAxis, value: float) -> float:
        return self.plot + axis.position(value) * (self.plot_end - self.plot)


class PolicyTable(Painted, QLabel):
    """The table: rank with a bracket around ties, policy, counts, cost, range of the difference, probability best."""

    smooth = True

    def __init__(self) -> None:
        super().__init__()
        self._texts, self._all = _EMPTY, False
        self._axis = LinearAxis(-1.0, 1.0)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def show_policies(self, texts: PolicyTexts) -> None:
        self._texts = texts
        self._set_axis()
        annotate(
            self,
            name=f"What one can do, by its cost per {texts.per} in {texts.unit}",
            more=" ".join([*(row.sentence for row in texts.rows), *texts.notes]),
        )
        self.updateGeometry()
        self.update()

    def show_all(self, everything: bool) -> None:
        self._all = everything
        self._set_axis()
        self.updateGeometry()
        self.update()

    def _set_axis(self) -> None:
        judged = [row.judged for row in self.rows]
        cost = min((one.cost_per_population for one in judged), default=0.0)
        self._axis = LinearAxis.of_differences(
            ((one.difference_to_best, one.difference_interval) for one in judged), cost
        )

    @property
    def folded(self) -> int:
        return len(self._texts.rows) - len(first_of(self._texts.rows, _MOST_ROWS))

    @property
    def rows(self) -> Sequence[PolicyRow]:
        return self._texts.rows if self._all else first_of(self._texts.rows, _MOST_ROWS)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        height = self._head(width) + len(self.rows) * self._row(width) + em(26)
        if self._notes_beside(width):
            return math.ceil(height + em(26))
        legend = 0 if self._legend_beside_axis(width) else self._legend_height(width)
        return math.ceil(height + legend + self._notes_height(width))

    def sizeHint(self) -> QSize:
        width = self.width() if self.width() > em(200) else em(700)
        return QSize(em(700), self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        return QSize(em(330), em(80))

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            index = int((event.pos().y() - self._head(self.width())) // self._row(self.width()))
            text = self.rows[index].sentence if 0 <= index < len(self.rows) else ""
            show_tooltip(event.globalPos(), text, self)
            return True
        return super().event(event)

    def paint(self, painter: QPainter, colours: Tokens) -> None:
        columns, width = self._columns(self.width()), self.width()
        self._paint_head(painter, colours, columns)
        for index, row in enumerate(self.rows):
            room = QRectF(0, self._head(width) + index * self._row(width), width, self._row(width))
            self._paint_row(painter, colours, columns, row, room)
        self._paint_bracket(painter, colours, columns)
        self._paint_foot(painter, colours, columns)

    # --- measures

    @staticmethod
    def _compact(width: int) -> bool:
        return width * 15 < 900 * em(15)

    @staticmethod
    def _stacked(width: int) -> bool:
        return width * 15 < 600 * em(15)

    def _head(self, width: int) -> float:
        if self._compact(width):
            return float(em(26))
        return float(em(46) + (len(self._unit_lines()) - 1) * em(18))

    def _unit_lines(self) -> tuple[str, ...]:
        """Return the unit of the costs on one line, or on two of about equal length."""
        text = f"in {self._texts.unit}"
        if QFontMetricsF(font(Role.CAPTION)).horizontalAdvance(text) <= em(_HEAD):
            return (text,)
        return _on_two_lines(text, least=2)

    def _heads(self) -> tuple[tuple[str, ...], ...]:
        """Return the heads of the counts, rebroken if a second line would be too long."""
        metrics = QFontMetricsF(font(Role.CAPTION))
        return tuple(
            head if metrics.horizontalAdvance(head[1]) <= em(_HEAD) else _on_two_lines(" ".join(head))
            for head in self._texts.heads
        )

    def _row(self, width: int) -> float:
        return float(em(96 if self._stacked(width) else 42 if self._columns(width).two_lines else 34))

    def _columns(self, width: int) -> _Columns:
        strong, note = QFontMetricsF(_face(Role.STRONG, True)), QFontMetricsF(font(Role.NOTE))
        lead, name, end = QFontMetricsF(font(Role.LEAD, compact=True)), float(em(46)), float(width - em(4))
        cost_width = max(
            strong.horizontalAdvance("1,341"),
            *(lead.horizontalAdvance(total_cost(row.judged.cost_per_population)) for row in self._texts.rows),
            0.0,
        )
        if self._stacked(width):
            return _Columns(name, end - cost_width - em(16), (), end, name, end - em(20), None, end)
        best = strong.horizontalAdvance("> 99 %") + em(2)
        if self._compact(width):
            name_end = name + min(self._name_width(stacked=True), (width - name) * 0.36)
            cost = name_end + em(8) + cost_width
            return _Columns(name, name_end, (), cost, cost + em(30), end - best - em(20), None, end)
        heads = [
            min(max(note.horizontalAdvance(word) for word in (*head, "1,000")) + em(20), em(_WIDEST_HEAD))
            for head in self._heads()
        ]
        lines = self._unit_lines()
        unit = max(em(_HEAD) if len(lines) > 1 else 0, *(note.horizontalAdvance(line) for line in lines))
        cost_width = max(cost_width, min(unit, em(_WIDEST_HEAD))) + em(14)
        bar = end - best - em(10) - em(72)
        room = bar - em(24) - em(30) - sum(heads) - cost_width - name
        two_lines = self._name_width(stacked=False, short=True) > room - em(_PLOT)
        # A shorter axis loses less than a cut name.
        least = em(_LEAST_PLOT if two_lines else _PLOT)
        name_end = name + min(self._name_width(stacked=two_lines), room - least)
        counts, x = [], name_end
        for one in heads:
            x += one
            counts.append(x)
        cost = x + cost_width
        return _Columns(name, name_end, tuple(counts), cost, cost + em(30), bar - em(24), bar, end, two_lines)

    def _name_width(self, *, stacked: bool, short: bool = False) -> float:
        """Return the width of names and manners, stacked or on one line, with or without ranges."""
        strong, note = QFontMetricsF(_face(Role.STRONG, True)), QFontMetricsF(font(Role.NOTE))
        widths = [
            (strong.horizontalAdvance(row.name), note.horizontalAdvance(row.short_manner if short else row.manner))
            for row in self._texts.rows
        ]
        return max((max(pair) if stacked else sum(pair) + em(12) for pair in widths), default=0.0) + 4

    def _notes_beside(self, width: int) -> bool:
        """Return whether the notes fit to the left of the axis and the legend."""
        if self._compact(width) or len(self._texts.notes) > 2:
            return False
        metrics, room = QFontMetricsF(font(Role.CAPTION)), self._columns(width).plot - em(20)
        return all(metrics.horizontalAdvance(note) <= room for note in self._texts.notes)

    def _notes_height(self, width: int) -> float:
        heights = [wrapped_height(note, font(Role.CAPTION), width) + em(4) for note in self._texts.notes]
        return sum(heights) + (em(4) if heights else 0)

    def _legend(self) -> tuple[tuple[str, str], ...]:
        if not any(row.judged.difference_interval for row in self._texts.rows):
            return ()
        marks = [("both", "both doubts")]
        if any(row.judged.difference_answers for row in self._texts.rows):
            marks.append(("answers", "from your answers"))
        return (*marks, ("cases", "from the cases"))

    def _legend_width(self) -> float:
        metrics = QFontMetricsF(font(Role.CAPTION))
        return sum(em(38) + metrics.horizontalAdvance(words) + em(18) for _, words in self._legend())

    def _legend_height(self, width: float) -> float:
        """Return the height of the legend: one line or, where that is too wide, one for each mark."""
        return em(26) * (len(self._legend()) if self._legend_width() > width else 1)

    def _legend_beside_axis(self, width: int) -> bool:
        return self._compact(width) and self._legend_width() < self._columns(width).plot - em(20)

    # --- painting

    def _paint_head(self, painter: QPainter, colours: Tokens, at: _Columns) -> None:
        width = self.width()
        compact, full = self._compact(width), self._head(width)
        minor, caption, ink = font(Role.MINOR), font(Role.CAPTION), colours.ink2
        whole = QRectF(0, 0, width, full - em(4))
        upper, lower = QRectF(0, full - em(46), width, em(22)), QRectF(0, full - em(26), width, em(20))
        _text(painter, 0, at.name - em(4), whole, "Rank", minor, ink)
        _text(painter, at.name, at.name_end, whole, "What one can do", minor, ink)
        if self._stacked(width):
            _text(painter, at.name_end - em(60), at.end, whole, "Cost", minor, ink, RIGHT)
            return
        before = at.name_end
        for head, right in zip(self._heads(), at.counts, strict=False):
            for face, room, line in zip((minor, caption), (upper, lower), head, strict=False):
                _text(painter, before + em(6), right, room, line, face, ink, RIGHT)
            before = right
        best_end, more = at.plot_end + em(10) if at.bar is None else at.bar, "Costs more than the first"
        if compact:
            _text(painter, before, at.cost, whole, "Cost", minor, ink, RIGHT)
            _text(painter, at.plot - em(8), best_end, whole, f"{more}, 90 %", minor, ink)
            _text(painter, best_end, at.end, whole, "Best", minor, ink, RIGHT)
            return
        _text(painter, before, at.cost, QRectF(0, 0, width, em(22)), "Cost", minor, ink, RIGHT)
        _text(painter, at.plot - em(8), best_end, upper, more, minor, ink)
        _text(painter, best_end, at.end, whole, "Probably best", minor, ink)
        for index, line in enumerate(reversed(self._unit_lines())):
            _text(painter, before + em(6), at.cost, lower.translated(0, -index * em(18)), line, caption, ink, RIGHT)
        _text(painter, at.plot - em(8), best_end, lower, "90 % plausible", caption, ink)

    def _paint_row(self, painter: QPainter, colours: Tokens, at: _Columns, row: PolicyRow, room: QRectF) -> None:
        stacked, first = self._stacked(self.width()), row.judged.rank == 1
        ink = colours.ink if first else colours.ink2
        plotting.rule(painter, plotting.pen(colours.line, 1), 0, room.top() + 0.5, room.right(), room.top() + 0.5)
        line = QRectF(0, room.top() + em(4), room.width(), em(26)) if stacked else room
        _text(painter, em(4), at.name, line, str(row.judged.rank), _face(Role.LABEL, first), ink)
        self._paint_name(painter, colours, at, row, room)
        for count, right in zip(row.counts, at.counts, strict=False):
            _text(painter, right - em(90), right, line, count, font(Role.BODY), ink, RIGHT)
        cost = total_cost(row.judged.cost_per_population)
        _text(painter, at.cost - em(110), at.cost, line, cost, _face(Role.LEAD, first), ink, RIGHT)
        self._paint_difference(painter, colours, at, row, room.bottom() - em(20) if stacked else room.center().y())
        if not stacked:
            self._paint_best(painter, colours, at, row, room)

    def _paint_name(self, painter: QPainter, colours: Tokens, at: _Columns, row: PolicyRow, room: QRectF) -> None:
        first, stacked, best = row.judged.rank == 1, self._stacked(self.width()), row.judged.probability_best
        strong, ink = _face(Role.STRONG, first), colours.ink if first else colours.ink2
        width, note = QFontMetricsF(strong).horizontalAdvance(row.name), QFontMetricsF(font(Role.NOTE))
        if at.two_lines:
            lines, small = QRectF(0, room.top() + em(3), room.width(), em(22)), font(Role.CAPTION)
            _text(painter, at.name, at.name_end, lines, row.name, strong, ink)
            more = f", best with {row.best}" if stacked and best is not None else ""
            manner, end = row.manner + more, at.end if stacked else at.name_end
            if QFontMetricsF(small).horizontalAdvance(manner) > end - at.name:
                manner = row.short_manner
            _text(painter, at.name, end, lines.translated(0, em(19)), manner, small, colours.ink2)
            return
        left = at.name_end - at.name
        manner = row.manner if width + em(12) + note.horizontalAdvance(row.manner) <= left + 1 else row.short_manner
        name_end = min(at.name + width + 1, at.name_end - note.horizontalAdvance(manner) - em(10))
        _text(painter, at.name, name_end, room, row.name, strong, ink)
        _text(painter, name_end + em(10), at.name_end + 1, room, manner, font(Role.NOTE), colours.ink2)

    def _paint_difference(self, painter: QPainter, colours: Tokens, at: _Columns, row: PolicyRow, y: float) -> None:
        one, axis = row.judged, self._axis
        ink = colours.ink if one.rank == 1 else colours.ink2
        half, zero = (em(22) if self._stacked(self.width()) else self._row(self.width()) / 2), at.x(axis, 0.0)
        x = round(zero) + 0.5
        plotting.rule(painter, plotting.pen(colours.ink3, 1), x, y - half, x, y + half)
        if one.difference_to_best > axis.high:
            self._paint_far(painter, ink, at, one.difference_to_best, y)
            return
        if one.difference_interval is not None and one.difference_interval[0] < one.difference_interval[1]:
            self._paint_doubts(painter, colours, ink, at, one, one.difference_interval, y)
        plotting.dot(painter, ink, colours.surface, at.x(axis, one.difference_to_best), y)

    def _paint_doubts(
        self, painter: QPainter, colours: Tokens, ink: QColor, at: _Columns, one: JudgedPolicy, both: Range, y: float
    ) -> None:
        """Paint the total range, with that of the answers above it and that of the cases below it."""
        axis = self._axis
        if one.difference_answers is not None and axis.holds(one.difference_answers):
            ends = [at.x(axis, end) for end in one.difference_answers]
            _solid(painter, colours.ink2, ends[0], ends[1], y - em(10))
        if one.difference_cases is not None and axis.holds(one.difference_cases):
            ends = [at.x(axis, end) for end in one.difference_cases]
            _open(painter, colours.ink2, colours.surface, ends[0], ends[1], y + em(10))
        continues = both[0] < axis.low, both[1] > axis.high
        plotting.whisker(painter, ink, (at.x(axis, both[0]), at.x(axis, both[1])), y, continues)
        dot = at.x(axis, one.difference_to_best)
        for end, further, inside in zip(both, continues, ((at.plot, dot), (dot, at.plot_end)), strict=True):
            if further:
                _paint_cut(painter, colours, end, inside, y)

    def _paint_far(self, painter: QPainter, ink: QColor, at: _Columns, difference: float, y: float) -> None:
        """Paint a dashed arrow with its number for a row beyond the axis."""
        text, tip = signed(difference), at.plot_end + em(8)
        width = QFontMetricsF(font(Role.NOTE)).horizontalAdvance(text)
        start = tip - em(60)
        beside = QRectF(start - width - em(8), y - em(12), width + em(4), em(24))
        write(painter, beside, text, font(Role.NOTE), ink, RIGHT)
        plotting.rule(painter, plotting.pen(ink, 1.5, Qt.PenStyle.DashLine), start, y, tip - 2, y)
        plotting.head(painter, ink, tip, y, 1)

    def _paint_best(self, painter: QPainter, colours: Tokens, at: _Columns, row: PolicyRow, room: QRectF) -> None:
        first, best = row.judged.rank == 1, row.judged.probability_best
        face, ink = _face(Role.BODY, first), colours.ink if first else colours.ink2
        _text(painter, at.end - em(90), at.end, room, row.best, face, ink, RIGHT)
        if at.bar is None or best is None:
            return
        track = QRectF(at.bar, room.center().y() - em(5), em(72), em(10))
        painter.fillRect(track, colours.sunken)
        track.setWidth(track.width() * best)
        painter.fillRect(track, colours.ink if first else colours.unit)

    def _paint_bracket(self, painter: QPainter, colours: Tokens, at: _Columns) -> None:
        tied = sum(row.shared for row in self.rows)
        if tied < 2:
            return
        width = self.width()
        top, bottom = self._head(width) + em(6), self._head(width) + tied * self._row(width) - em(6)
        right, left = at.name - em(16), at.name - em(25)
        painter.setPen(plotting.pen(colours.ink))
        painter.drawPolyline([QPointF(left, top), QPointF(right, top), QPointF(right, bottom), QPointF(left, bottom)])

    def _paint_foot(self, painter: QPainter, colours: Tokens, at: _Columns) -> None:
        width = self.width()
        top = self._head(width) + len(self.rows) * self._row(width)
        plotting.rule(painter, plotting.pen(colours.line, 1), 0, top + 0.5, width, top + 0.5)
        painter.setFont(font(Role.CAPTION))
        self._paint_ticks(painter, colours, at, top)
        if self._legend_beside_axis(width):
            self._paint_legend(painter, colours, 0.0, top + em(14))
            below = top + em(26)
        else:
            start = min(at.plot - em(8), width - self._legend_width()) if not self._compact(width) else 0.0
            self._paint_legend(painter, colours, max(start, 0.0), top + em(40))
            below = top + em(26) + self._legend_height(width)
        painter.setPen(colours.ink2)
        if self._notes_beside(width):
            for index, note in enumerate(self._texts.notes):
                painter.drawText(QRectF(0, top + em(4) + index * em(26), at.plot, em(22)), LEFT, note)
            return
        face = font(Role.CAPTION)
        for note in self._texts.notes:
            room = QRectF(0, below + em(4), width, wrapped_height(note, face, width))
            write_wrapped(painter, room, note, face, colours.ink2, LEFT)
            below += room.height() + em(4)

    def _paint_ticks(self, painter: QPainter, colours: Tokens, at: _Columns, top: float) -> None:
        face = font(Role.CAPTION)
        widest = max(("+1,000", signed(self._axis.low), signed(self._axis.high)), key=len)
        room = QFontMetricsF(face).horizontalAdvance(widest) + em(14)
        for tick in self._axis.ticks(max(1, int((at.plot_end - at.plot) // room))):
            under = QRectF(at.x(self._axis, tick) - room, top + em(4), 2 * room, em(20))
            write(painter, under, signed(tick), face, colours.ink2, CENTRE)

    def _paint_legend(self, painter: QPainter, colours: Tokens, x: float, y: float) -> None:
        face = font(Role.CAPTION)
        for mark, words in self._legend():
            if mark == "both":
                plotting.whisker(painter, colours.ink, (x + 1, x + em(31)), y)
                plotting.dot(painter, colours.ink, colours.surface, x + em(16), y)
            elif mark == "answers":
                _solid(painter, colours.ink2, x, x + em(31), y)
            else:
                _open(painter, colours.ink2, colours.surface, x, x + em(31), y)
            width = QFontMetricsF(face).horizontalAdvance(words) + 2
            write(painter, QRectF(x + em(38), y - em(12), width, em(24)), words, face, colours.ink2)
            if self._legend_width() > self.width():
                y += em(26)
            else:
                x += em(38) + width + em(16)


def _on_two_lines(text: str, least: int = 1) -> tuple[str, ...]:
    """Return `text` on two lines of about equal length, with at least `least` words on the first."""
    words = text.split()
    pairs = [(" ".join(words[:at]), " ".join(words[at:])) for at in range(least, len(words))]
    return min(pairs, key=lambda pair: max(map(len, pair)), default=(text,))


def _face(role: Role, heavy: bool) -> QFont:
    return font(role, compact=True, weight=600 if heavy else 400)


def _text(
    painter: QPainter,
    left: float,
    right: float,
    room: QRectF,
    text: str,
    face: QFont,
    ink: QColor,
    align: Qt.AlignmentFlag = LEFT,
) -> None:
    """Paint `text` between two columns, elided in the middle if it does not fit."""
    between = QRectF(left, room.top(), right - left, room.height())
    write(painter, between, text, face, ink, align, elide=True)


def _paint_cut(painter: QPainter, colours: Tokens, end: float, inside: tuple[float, float], y: float) -> None:
    """Write the end of a range that continues beyond the axis into its line, beside the arrow, if there is room."""
    text, small, gap = signed(end), font(Role.CAPTION), em(10)
    width = QFontMetricsF(small).horizontalAdvance(text) + em(6)
    if width + 2 * gap > inside[1] - inside[0]:
        return
    room = QRectF(inside[0] + gap if end < 0 else inside[1] - gap - width, y - em(7), width, em(14))
    painter.fillRect(room, colours.surface)
    write(painter, room, text, small, colours.ink2, CENTRE)


def _solid(painter: QPainter, colour: QColor, left: float, right: float, y: float) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawRoundedRect(QRectF(left, y - em(2.5), max(right - left, 2.0), em(5)), 2, 2)
    painter.setBrush(Qt.BrushStyle.NoBrush)


def _open(painter: QPainter, colour: QColor, ground: QColor, left: float, right: float, y: float) -> None:
    painter.setPen(plotting.pen(colour, 1))
    painter.setBrush(ground)
    painter.drawRoundedRect(QRectF(left, y - em(2.5), max(right - left, 2.0), em(5)), 2, 2)
    painter.setBrush(Qt.BrushStyle.NoBrush)
