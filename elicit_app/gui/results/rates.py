"""The elicited values: the sentence, the exchange rates, and how far they can be trusted."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import LinkButton
from elicit_app.gui.elements.painting import (
    Arranged,
    Glyph,
    GlyphSign,
    Label,
    Painted,
    Sized,
    StressedLabel,
    annotate,
    box,
    wrapped_height,
    write,
    write_wrapped,
)
from elicit_app.gui.elements.surfaces import Block, Card, Divider, FoldedCard, in_column, in_grid, in_row, set_width
from elicit_app.gui.results import plotting
from elicit_app.gui.results.plotting import LogPlot, PlotColumns, Sign
from elicit_app.gui.theme import LEFT, Role, Tokens, em, font
from elicit_app.session.trust_findings import held_out_caption
from elicit_app.session.views import HeldOutView, ResultView, TrustView
from elicit_app.study.model import Study, Wording
from metrics.drawing import LogAxis
from metrics.elicited.exchange import ExchangeRate, Headline, beside_name, called, rates_question, unasked_ratios
from metrics.elicited.family import MistakeKey
from metrics.text import two_digits

_TOP_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop
_BOTTOM_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom
NEVER_ASKED = "never asked"
_HEAD = 26  # height of what is above the rows, at the base font


@dataclass(frozen=True)
class PlotRow:
    """One row of the plot: a ratio with its words."""

    ratio: ExchangeRate
    name: str
    flow: str
    guess: float | None = None
    asked: bool = True

    @property
    def below(self) -> str:
        """Return the text beneath the number: its range, or that no question was about it."""
        if self.asked:
            return self.ratio.range_in_words()
        range_ = self.ratio.range_in_words()
        return f"{range_}, {NEVER_ASKED}" if range_ else NEVER_ASKED

    @property
    def sentence(self) -> str:
        guess = f", first guess {two_digits(self.guess)}" if self.guess is not None else ""
        what = f"{self.name}, {self.flow}" if self.flow else self.name
        return f"{what}: {self.ratio.in_words()}, {self.below}{guess}."


def rows_of(
    rates: Sequence[ExchangeRate],
    wording: Wording,
    guesses: Mapping[MistakeKey, float],
    unasked: Container[MistakeKey] = (),
) -> tuple[PlotRow, ...]:
    """Return the rows of the plot in study order; `unasked` are mistakes that no question covered."""
    return tuple(
        PlotRow(
            rate,
            rate.mistake.name,
            "" if wording.priced else beside_name(rate.mistake.name, called(wording.class_one, rate.key)),
            guesses.get(rate.key),
            rate.key not in unasked,
        )
        for rate in rates
    )


class RatioPlot(LogPlot):
    """The plot: dot, bar for 50 %, line for the range, dashed arrow for a bound, hollow diamond for the first guess."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: tuple[PlotRow, ...] = ()

    def show_rows(self, rows: Sequence[PlotRow], yardstick: str, *, priced: bool = False) -> None:
        """Show `rows`; `yardstick` is the unit mistake or amount in the singular."""
        self._rows = tuple(rows)
        self._compare_with(yardstick, priced=priced)
        shown = (number for row in rows for number in (*row.ratio.shown, row.guess or 0.0))
        self._axis = LogAxis.around(shown, (end for row in rows for end in row.ratio.ends))
        what = "How much each amount counts" if priced else "How bad each mistake is"
        annotate(self, name=f"{what}, compared with one {yardstick}", more=" ".join(row.sentence for row in rows))
        self.updateGeometry()
        self.update()

    def heightForWidth(self, width: int) -> int:
        columns = self._columns(width)
        return math.ceil(em(_HEAD) + sum(self._heights(columns)) + em(26) + self._legend_height(width))

    def paint(self, painter: QPainter, colours: Tokens) -> None:
        columns = self._columns(self.width())
        heights = self._heights(columns)
        bottom = em(_HEAD) + sum(heights)
        self._paint_grid(painter, columns, em(_HEAD) - em(4), bottom)
        self._paint_axis(painter, columns, bottom + em(2))
        top = float(em(_HEAD))
        for row, height in zip(self._rows, heights, strict=True):
            self._paint_words(painter, colours, columns, row, QRectF(0, top, self.width(), height))
            for mark in row.ratio.marks(row.guess):
                self._paint_mark(painter, columns, mark, top + height / 2)
            top += height
        self._paint_legend(painter, bottom + em(25))

    def _columns(self, width: int) -> PlotColumns:
        strong, small = QFontMetricsF(font(Role.STRONG)), QFontMetricsF(font(Role.NOTE))
        lead, gap = QFontMetricsF(font(Role.LEAD, compact=True)), em(16)
        names = max(
            (max(strong.horizontalAdvance(r.name), small.horizontalAdvance(r.flow)) for r in self._rows), default=0
        )
        numbers = max(
            (max(lead.horizontalAdvance(r.ratio.in_words()), small.horizontalAdvance(r.below)) for r in self._rows),
            default=0,
        )
        names, numbers = min(names + 2, width * 0.34), min(numbers + 2, width * 0.3)
        return PlotColumns(names, names + gap + em(6), width - numbers - gap - em(6), width)

    def _heights(self, columns: PlotColumns) -> list[float]:
        return [max(self._text_height(row, columns.names) + em(8), em(46)) for row in self._rows]

    @staticmethod
    def _text_height(row: PlotRow, width: float) -> float:
        return wrapped_height(row.name, font(Role.STRONG), width) + wrapped_height(row.flow, font(Role.NOTE), width)

    def _paint_words(
        self, painter: QPainter, colours: Tokens, columns: PlotColumns, row: PlotRow, room: QRectF
    ) -> None:
        top = room.center().y() - self._text_height(row, columns.names) / 2
        for text, role, ink in ((row.name, Role.STRONG, colours.ink), (row.flow, Role.NOTE, colours.ink2)):
            high = wrapped_height(text, font(role), columns.names)
            write_wrapped(painter, QRectF(0, top, columns.names, high), text, font(role), ink, LEFT)
            top += high
        upper = QRectF(columns.right, room.top(), columns.width - columns.right, room.height() / 2)
        lead = font(Role.LEAD, compact=True)
        write(painter, upper, row.ratio.in_words(), lead, colours.ink, _BOTTOM_RIGHT)
        write(painter, upper.translated(0, upper.height()), row.below, font(Role.NOTE), colours.ink2, _TOP_RIGHT)

    def legend(self) -> list[Sign]:
        colours = theme.tokens(self)
        measured = any(row.ratio.range_90 is not None and not row.ratio.bounded for row in self._rows)

        def estimate(painter: QPainter, x: float, y: float) -> None:
            if measured:
                plotting.line(painter, colours.ink, x, x + em(34), y)
                plotting.bar(painter, colours.unit, x + em(8), x + em(26), y)
            plotting.dot(painter, colours.ink, colours.surface, x + em(17), y)

        signs = []
        if any(mark.shape == "dot" for row in self._rows for mark in row.ratio.marks()):
            bar = "bar: 50 %, " if any(row.ratio.half for row in self._rows) else ""
            text = f"best estimate; {bar}line: {self._rows[0].ratio.range_words.legend}" if measured else "estimate"
            signs.append(Sign(text, 34, estimate))
        if any(row.ratio.bounded for row in self._rows):
            signs.append(self._bound_sign())
        if any(row.guess is not None for row in self._rows):
            signs.append(
                Sign("your first guess", 16, lambda painter, x, y: plotting.diamond(painter, colours, x + em(8), y))
            )
        return signs


class Tally(Painted, QLabel):
    """One box per held-out answer, filled if it was predicted correctly."""

    def __init__(self, right: int, total: int, strong: bool) -> None:
        super().__init__()
        self._right, self._total, self._strong = right, total, strong
        annotate(self, name=f"{right} of {total} predicted")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(min(self._total * theme.em(20), theme.em(110)), theme.em(12))

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.em(40), theme.em(12))

    def paint(self, painter: QPainter, colours: Tokens) -> None:
        pitch = min(float(theme.em(20)), self.width() / max(self._total, 1))
        gap = 4.0 if pitch > 12 else 1.0
        for index in range(self._total):
            cell = QRectF(index * pitch, 0, pitch - gap, self.height())
            filled = index < self._right
            full = colours.ink if self._strong else colours.unit
            box(painter, cell, 2, fill=full if filled else None, border=full if filled else colours.line2)


class TrustCard(Card):
    """The panel beside the result.

    Emits `look_again_requested` with the number of the answer behind a finding, and `withdraw_requested` if the stated
    orders shall no longer hold.
    """

    look_again_requested = Signal(object)
    withdraw_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._title = Label("Can you trust this?", theme.Role.SECTION)
        self._sentence = Label(ink=theme.INK2)
        self._findings = Block()
        self._column = in_column(
            self._title, self._sentence, self._findings, 1, on=self, margins=(20, 18, 20, 18), spacing=12
        )

    def show_result(self, view: ResultView) -> None:
        """Show the findings of `view`: the good ones, the held-out answers, then the reservations."""
        self._sentence.setText(view.trust_sentence)
        column = in_column(on=self._findings.renew(), spacing=12)
        good, bad = [t for t in view.trust if t.good], [t for t in view.trust if not t.good]
        table = _held_out(view.held_out) if view.held_out else None
        for finding in good:
            introduces = "held out" in finding.detail
            column.addWidget(self._finding(finding, table if introduces else None))
            table = None if introduces else table
        if table is not None:
            column.addWidget(Label(held_out_caption(view.held_out), theme.Role.NOTE, theme.INK2))
            column.addWidget(table)
        if bad and (good or view.held_out):
            column.addWidget(Divider())
        for finding in bad:
            column.addWidget(self._finding(finding))

    def _finding(self, finding: TrustView, table: QWidget | None = None) -> QWidget:
        row = QWidget()
        sign = GlyphSign(Glyph.CHECK if finding.good else Glyph.WARNING, 15)
        words = in_column(Label(finding.headline, theme.Role.STRONG), spacing=2)
        if finding.detail:
            words.addWidget(Label(finding.detail, theme.Role.NOTE, theme.INK2))
        if finding.question is not None:
            link = LinkButton(f"Look at question {finding.question}")
            link.clicked.connect(lambda _=False, number=finding.question: self.look_again_requested.emit(number))
            words.addWidget(link, 0, Qt.AlignmentFlag.AlignLeft)
        if finding.may_withdraw:
            withdraw = LinkButton("Go by the answers alone", self.withdraw_requested)
            words.addWidget(withdraw, 0, Qt.AlignmentFlag.AlignLeft)
        if table is not None:
            words.addSpacing(theme.S)
            words.addWidget(table)
        in_row((sign, 0, Qt.AlignmentFlag.AlignTop), (words, 1), on=row, spacing=12)
        return row


def _held_out(rules: Sequence[HeldOutView]) -> QWidget:
    """Return a table of the held-out answers predicted by each rule."""
    block = QWidget()
    grid = in_grid(on=block, across=12, down=6)
    for line, rule in enumerate(rules):
        role = theme.Role.BODY if line else theme.Role.STRONG
        grid.addWidget(Label(rule.name, role, wrap=False), line, 0)
        grid.addWidget(Tally(rule.right, rule.total, strong=not line), line, 1, Qt.AlignmentFlag.AlignVCenter)
        grid.addWidget(Label(f"{rule.right} of {rule.total}", role, wrap=False), line, 2)
    grid.setColumnStretch(0, 1)
    grid.setColumnStretch(1, 1)
    return block


_MOST_ROWS = 30  # with more rows, mistakes that no question covered are folded away
NO_BREAK = "\N{NO-BREAK SPACE}"
_SHORT = 32


class GuessSign(Painted, Sized, QWidget):
    """The hollow diamond of the first guess, beside its text."""

    size_asked = size_least = (18, 18)
    smooth = True

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def paint(self, painter: QPainter, colours: Tokens) -> None:
        plotting.diamond(painter, colours, self.width() / 2, self.height() / 2)


class SentenceCard(Arranged, Card):
    """The result in one sentence, its range and the first guess."""

    def __init__(self) -> None:
        super().__init__()
        self._sentence = StressedLabel(theme.Role.RESULT)
        self._range = StressedLabel(theme.Role.FLOW)
        self._guess, self._first_guess = StressedLabel(theme.Role.FLOW), QWidget()
        in_row(GuessSign(), (self._guess, 1), on=self._first_guess, spacing=10)
        below = in_row(self._range, (self._first_guess, 1), spacing=theme.L, stacks="large")
        in_column(self._sentence, below, on=self, margins=(24, 20, 24, 20), spacing=10)
        self._headline: Headline | None = None
        self._large = False

    def show_headline(self, headline: Headline, guess: float | None) -> None:
        self._headline = headline
        self._say_sentence()
        lead, stressed = headline.below
        self._range.setVisible(bool(lead))
        self._range.say(lead, stressed, "." if stressed else "")
        self._first_guess.setVisible(guess is not None)
        if guess is not None:
            self._guess.say("Your first guess, before the questions: ", two_digits(guess), ".")

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        self._range.setWordWrap(breakpoint_.large)
        self._large = breakpoint_.large
        self._say_sentence()

    def _say_sentence(self) -> None:
        if self._headline is not None:
            number = self._headline.number
            if len(number) < _SHORT and not self._large:  # then it breaks before number and noun
                number = number.replace(" ", NO_BREAK)
            self._sentence.say(f"{self._headline.start} ", number, ".")


class RatesPane(Arranged, QWidget):
    """The second tab of the result."""

    def __init__(self) -> None:
        super().__init__()
        self._sentence = SentenceCard()
        plot_card = Card()
        self._question = Label(role=theme.Role.SECTION)
        self._plot = RatioPlot()
        in_column(self._question, self._plot, 1, on=plot_card, margins=(24, 18, 24, 14), spacing=8)
        self._others = RatioPlot()
        self._folded = FoldedCard("Mistakes that no question was about", (self._others,))
        left = in_column(self._sentence, (plot_card, 1), self._folded, spacing=theme.M)
        self.trust = TrustCard()
        in_row((left, 1), self.trust, on=self, spacing=theme.L, stacks="compact")

    def show_result(self, view: ResultView, study: Study) -> None:
        mistake = view.headline.yardstick.mistake
        self._sentence.show_headline(view.headline, view.guesses.get(view.headline.rate.key))
        self._question.setText(rates_question(view.metric.kind, mistake.one))
        rows = rows_of(view.ratios, study.wording, view.guesses, unasked_ratios(view.metric))
        others = [row for row in rows if not row.asked] if len(rows) > _MOST_ROWS else []
        shown = [row for row in rows if row.asked or not others]
        self._plot.show_rows(shown, mistake.one, priced=study.wording.priced is not None)
        self._others.show_rows(others, mistake.one)
        self._folded.say(f"{len(others):,} of {len(rows):,}, known only from the others")
        self._folded.setVisible(bool(others))
        self.trust.show_result(view)

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        set_width(self.trust, None if breakpoint_.compact else theme.em(344))
