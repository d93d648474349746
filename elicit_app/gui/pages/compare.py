"""Comparison of experts: their exchange rates on one axis, and the pooled metric file."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import Button, LinkButton, PrimaryButton
from elicit_app.gui.elements.page import HeadedPage, bind
from elicit_app.gui.elements.painting import Label, annotate, elided, wrapped_height, write, write_wrapped
from elicit_app.gui.elements.surfaces import Card, Section, fill, in_column
from elicit_app.gui.results import plotting
from elicit_app.gui.results.plotting import LogPlot, PlotColumns, Sign
from elicit_app.gui.theme import LEFT, RIGHT, Role, Tokens, em, font
from elicit_app.session.comparing import ComparisonView
from elicit_app.session.disagreement import MistakeRates, furthest
from metrics.drawing import LogAxis
from metrics.elicited.exchange import PLAUSIBLE, ExchangeRate, RateMark, rates_question
from metrics.text import series, two_digits

_EVERYBODY = "all pooled"
_HEAD, _LINE = 24, 25  # height of what is above the blocks, and of a line of a block, at the base font


@dataclass(frozen=True)
class _Columns(PlotColumns):
    """The columns, and the right edge of the numbers, in pixels; the ranges end where the plot does."""

    value: float


def apart_words(row: MistakeRates) -> str:
    """Return how far apart the experts are: "28 times apart; ranges do not meet"."""
    if row.factor < 1.05:
        return "the same for all"
    times = row.times if math.isfinite(row.factor) else "one counts it as nothing"
    ranges = "ranges do not meet" if row.plainly_apart else "ranges nearly meet" if row.disjoint else ""
    return "; ".join(filter(None, (times, ranges)))


class ExpertPlot(LogPlot):
    """One block per mistake, with a dot and a range per expert, and below them the pooled rate with a bar."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: tuple[MistakeRates, ...] = ()
        self._names: tuple[str, ...] = ()

    def show_rows(
        self, rows: Sequence[MistakeRates], names: Sequence[str], yardstick: str, *, priced: bool = False
    ) -> None:
        """Show `rows` for the experts `names`; `yardstick` is the unit mistake or amount in the singular."""
        self._rows, self._names = tuple(rows), (*names, _EVERYBODY)
        self._compare_with(yardstick, priced=priced)
        rates = [rate for row in rows for rate in (*row.rates, row.pooled)]
        self._axis = LogAxis.around((x for rate in rates for x in rate.shown), (x for rate in rates for x in rate.ends))
        what = "How much each amount counts for each expert" if priced else "How bad each expert finds each mistake"
        annotate(self, name=f"{what}, compared with one {yardstick}", more=" ".join(map(self._sentence, rows)))
        self.updateGeometry()
        self.update()

    def _sentence(self, row: MistakeRates) -> str:
        parts = (
            f"{name} {rate.in_words()}" + (f", {rate.range_in_words()}" if rate.range_in_words() else "")
            for name, rate in self._lines(row)
        )
        return f"{row.mistake.name}, {apart_words(row)}: {'; '.join(parts)}."

    def _lines(self, row: MistakeRates) -> Iterator[tuple[str, ExchangeRate]]:
        return zip(self._names, (*row.rates, row.pooled), strict=True)

    def heightForWidth(self, width: int) -> int:
        return math.ceil(
            em(_HEAD) + sum(self._block(row, width) for row in self._rows) + em(28) + self._legend_height(width)
        )

    def paint(self, painter: QPainter, colours: Tokens) -> None:
        columns = self._columns()
        top = float(em(_HEAD))
        for index, row in enumerate(self._rows):
            height = self._block(row, self.width())
            self._paint_block(painter, colours, columns, row, QRectF(0, top, self.width(), height), first=not index)
            top += height
        self._paint_axis(painter, columns, top - em(6))
        self._paint_legend(painter, top + em(24))

    def _title(self, row: MistakeRates, width: float) -> float:
        """Return the height of a block's heading: one line if name and distance fit on it, otherwise two."""
        strong, note = QFontMetricsF(font(Role.STRONG)), QFontMetricsF(font(Role.NOTE))
        name, apart = strong.horizontalAdvance(row.mistake.name), note.horizontalAdvance(apart_words(row))
        if name + apart + em(24) <= width:
            return float(em(32))
        return wrapped_height(row.mistake.name, font(Role.STRONG), width) + em(34)

    def _block(self, row: MistakeRates, width: float) -> float:
        return self._title(row, width) + len(self._names) * em(_LINE) + em(8)

    def _columns(self) -> _Columns:
        body, strong, note = (QFontMetricsF(font(role)) for role in (Role.BODY, Role.STRONG, Role.NOTE))
        width = float(self.width())
        widths = [body.horizontalAdvance(name) for name in self._names[:-1]]  # the last is everybody
        names = min(max([*widths, strong.horizontalAdvance(_EVERYBODY)]) + em(8), width * 0.26)
        rates = [rate for row in self._rows for _, rate in self._lines(row)]
        value = max((strong.horizontalAdvance(rate.in_words()) for rate in rates), default=0.0) + em(4)
        ranges = max((note.horizontalAdvance(rate.range_in_words()) for rate in rates), default=0.0) + em(4)
        end = width - ranges - em(10)
        return _Columns(names, names + em(10), end - value - em(16), width, end)

    def _paint_block(
        self, painter: QPainter, colours: Tokens, columns: _Columns, row: MistakeRates, room: QRectF, *, first: bool
    ) -> None:
        if not first:
            painter.fillRect(QRectF(0, room.top(), room.width(), 1), colours.line)
        title = self._title(row, room.width())
        self._paint_title(painter, colours, row, QRectF(0, room.top(), room.width(), title))
        for index, (name, rate) in enumerate(self._lines(row)):
            line = QRectF(0, room.top() + title + index * em(_LINE), room.width(), em(_LINE))
            self._paint_line(painter, colours, columns, name, rate, line)

    @staticmethod
    def _paint_title(painter: QPainter, colours: Tokens, row: MistakeRates, room: QRectF) -> None:
        strong, ink = font(Role.STRONG), colours.ink if row.plainly_apart else colours.ink2
        note = font(Role.NOTE, weight=600 if row.plainly_apart else 400)
        if room.height() <= em(32):
            write(painter, room, row.mistake.name, strong, colours.ink)
            write(painter, room, apart_words(row), note, ink, RIGHT)
        else:
            write_wrapped(painter, room.adjusted(0, em(6), 0, -em(26)), row.mistake.name, strong, colours.ink, LEFT)
            write(painter, room.adjusted(0, room.height() - em(28), 0, 0), apart_words(row), note, ink)

    def _paint_line(
        self, painter: QPainter, colours: Tokens, columns: _Columns, name: str, rate: ExchangeRate, room: QRectF
    ) -> None:
        pooled, y = name == _EVERYBODY, room.center().y()
        self._paint_grid(painter, columns, room.top(), room.bottom())
        for mark in _marks(rate, pooled=pooled):
            self._paint_mark(painter, columns, mark, y)
        face = font(Role.BODY, weight=600 if pooled else 400)
        fitting = elided(name, QFontMetricsF(face), columns.names)
        write(painter, QRectF(0, room.top(), columns.names + 2, room.height()), fitting, face, colours.ink)
        value = QRectF(columns.right, room.top(), columns.value - columns.right, room.height())
        write(painter, value, rate.in_words(), font(Role.STRONG), colours.ink, RIGHT)
        ends = QRectF(columns.value, room.top(), columns.width - columns.value, room.height())
        write(painter, ends, rate.range_in_words(), font(Role.NOTE), colours.ink2, RIGHT)

    def legend(self) -> list[Sign]:
        colours = theme.tokens(self)

        def paint(painter: QPainter, x: float, y: float, *, pooled: bool) -> None:
            (plotting.bar if pooled else plotting.line)(
                painter, colours.unit if pooled else colours.ink, x, x + em(34), y
            )
            plotting.dot(painter, colours.ink, colours.surface, x + em(17), y)

        rates = [rate for row in self._rows for _, rate in self._lines(row)]
        plausible = all(rate.plausible for rate in rates if rate.range_90 is not None)
        signs = [
            Sign(f"an expert, {PLAUSIBLE.legend}" if plausible else "an expert", 34, partial(paint, pooled=False)),
            Sign("all of them pooled", 34, partial(paint, pooled=True)),
        ]
        return [*signs, self._bound_sign()] if any(rate.bounded for rate in rates) else signs


def _marks(rate: ExchangeRate, *, pooled: bool) -> Sequence[RateMark]:
    """Return how a rate is shown: what is only bounded as everywhere, of all others the range and the estimate."""
    if rate.bounded:
        return rate.marks()
    dot = RateMark("dot", rate.ratio, rate.ratio)
    return [dot] if rate.range_90 is None else [RateMark("bar" if pooled else "line", *rate.range_90), dot]


MOST = 8  # number of mistakes shown; with many classes those on which experts are furthest apart


class ComparePage(HeadedPage):
    """Shows a `ComparisonView`. Emits `trusted_only_requested`: whether to leave out inconsistent experts."""

    trusted_only_requested = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.report = Button("Save report…")
        self.save = PrimaryButton("Save pooled metric file…")
        self.header.add_actions(self.report, self.save)
        self._trusted_only = False
        self.title, self.detail = Label(role=theme.Role.TITLE), Label()
        self.caveat = Label(role=theme.Role.STRONG)
        self.choice, self.agreement = Label(ink=theme.INK2), Label(ink=theme.INK2)
        self.question, self.plot = Label(role=theme.Role.SECTION), ExpertPlot()
        self.rest = Label(role=theme.Role.NOTE, ink=theme.INK2)
        fill(
            self.body,
            _card(self.title, self.detail, self.caveat, self.agreement, self.choice),
            _card(self.question, self.plot, self.rest),
        )
        self.meaning = Section("What pooled means")
        self.how, self.made_of, self.notes = Label(), Label(ink=theme.INK2), Label(ink=theme.INK2)
        self.trusted = LinkButton("", lambda: self.trusted_only_requested.emit(not self._trusted_only))
        fill(self.meaning.column, self.how, self.made_of, self.notes, (self.trusted, 0, Qt.AlignmentFlag.AlignLeft))
        self.body.addWidget(self.meaning)
        self.back = LinkButton("Back", self.back_requested)
        fill(self.body, (self.back, 0, Qt.AlignmentFlag.AlignLeft), 1)
        bind(self, self.back_requested, "Esc")
        self.settle()

    def show_view(self, view: ComparisonView, *, trusted_only: bool = False) -> None:
        """Show `view`; `trusted_only` says whether untrusted experts were left out."""
        names, self._trusted_only = view.names, trusted_only
        self.trusted.setVisible(trusted_only or 0 < len(view.untrusted) <= len(names) - 2)
        self.trusted.setText("Pool everybody" if trusted_only else f"Leave out {' and '.join(view.untrusted)}")
        self.agreement.show_text(view.agreement)
        who = series(names) if len(names) <= 4 else f"{len(names)} experts"
        self.header.say(f"Experts compared: {view.title}", who)
        self.notice.say("")
        self.title.setText(view.headline)
        self.detail.setText(view.detail)
        self.choice.show_text(view.choice)
        self.caveat.show_text(view.pooled.quality.caveat)
        yardstick, kind = view.yardstick.mistake.one, view.pooled.kind
        self.question.setText(rates_question(kind, yardstick, of_experts=True))
        others = [one for one in view.mistakes if not one.is_yardstick]
        shown = furthest(others, MOST)
        self.plot.show_rows(shown, names, yardstick, priced=kind != "confusion")
        left = [one.factor for one in others if one not in shown]
        self.rest.show_text(f"{len(left)} other mistakes: at most {two_digits(max(left))} times apart." if left else "")
        self.how.setText(view.how)
        self.made_of.setText(view.made_of)
        self.notes.show_text(" ".join(view.notes))
        self.area.verticalScrollBar().setValue(0)


def _card(*widgets: QWidget) -> Card:
    card = Card()
    in_column(*widgets, on=card, margins=(20, 16, 20, 16), spacing=8)
    return card
