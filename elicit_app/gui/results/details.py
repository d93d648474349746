"""Further views: curves over the threshold and over one ratio, ROC curves, and every model as a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import cycle
from typing import Literal

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableWidget, QTableWidgetItem, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements.painting import Label, annotate
from elicit_app.gui.elements.surfaces import Block, Card, Divider, in_column, in_row
from elicit_app.gui.results.curve_plot import Curve, CurvePlot, Mark, Picture, Stroke
from elicit_app.gui.results.plotting import Cell, MatrixCard
from elicit_app.gui.theme import RIGHT
from elicit_app.session import curves as words
from elicit_app.session.pair_words import per_cent
from elicit_app.session.scenarios import ModelView
from elicit_app.session.views import CurveSet, CurvesView, ResultView
from elicit_app.study.model import Study
from metrics.drawing import LinearAxis, LogAxis
from metrics.text import accuracy_text, concern, threshold_text, total_cost, two_digits

NOTHING = "This study has no models, so there is nothing to see of them."
COMPUTING = "The curves are being computed …"
_OTHERS = (Stroke.DASHED, Stroke.DASH_DOT, Stroke.DOTTED, Stroke.THIN)
_ROOM_ABOVE = 1.08
_SQUARE = 560
Part = Literal["curves", "roc", "tables"]


class NumbersTable(QTableWidget):
    """A read-only table of the numbers behind curves, as high as its rows."""

    def __init__(self) -> None:
        super().__init__()
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.verticalHeader().hide()
        self.setWordWrap(True)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        annotate(self, name="The numbers of the curves")

    def show_numbers(self, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        self.clear()
        self.setRowCount(len(rows))
        self.setColumnCount(len(heads))
        self.setHorizontalHeaderLabels(list(heads))
        for i, row in enumerate(rows):
            for j, text in enumerate(row):
                item = QTableWidgetItem(text)
                item.setTextAlignment(RIGHT)
                self.setItem(i, j, item)
        height = sum(self.rowHeight(row) for row in range(len(rows))) + theme.em(64)
        self.setMinimumHeight(min(height, theme.em(320)))


class CurveCard(Card):
    """A title, how to read it, the plot or its numbers, and a sentence on the values at the line."""

    def __init__(self) -> None:
        super().__init__()
        self._curves: CurveSet | None = None
        self._sentence_at: Callable[[float], str] | None = None
        self.title = Label(role=theme.Role.SECTION)
        self._how, self._note = (Label(role=theme.Role.NOTE, ink=theme.INK2) for _ in range(2))
        self.plot, self.numbers, self.sentence = CurvePlot(), NumbersTable(), Label(role=theme.Role.BODY)
        in_column(
            self.title,
            self._how,
            self.plot,
            self.numbers,
            self._note,
            Divider(),
            self.sentence,
            1,
            on=self,
            margins=(20, 14, 20, 16),
            spacing=theme.S,
        )
        self.numbers.hide()
        self.plot.moved.connect(self._moved)
        self.plot.table_requested.connect(self.toggle_numbers)

    def show_words(self, text: words.CurveText, note: str = "") -> None:
        self.title.setText(text.title)
        self._how.setText(text.how)
        self._note.show_text(note)

    def show_curves(
        self, picture: Picture, curves: CurveSet, say: Callable[[float], str], value: Callable[[float], str]
    ) -> None:
        """Show `curves` as `picture`; `say` returns the sentence at a number, `value` a value as text."""
        self._curves, self._sentence_at = curves, say
        self.plot.show_picture(picture)
        self._moved(curves.elicited)
        heads = [picture.x_title.removeprefix("… "), *(line.name for line in curves.lines)]
        ticks = [tick for tick in picture.x.ticks(12) if curves.at[0] <= tick <= curves.at[-1]]
        rows = [
            [picture.x_text(tick), *(value(number) for _, number in curves.values(tick))]
            for tick in sorted({*ticks, curves.elicited})
        ]
        self.numbers.show_numbers(heads, rows)

    def show_still(self, picture: Picture, sentence: str) -> None:
        self.plot.show_picture(picture)
        self.sentence.setText(sentence)
        self.plot.describe(sentence)

    def toggle_numbers(self) -> None:
        if self._curves is None:
            return
        show = self.numbers.isHidden()
        self.numbers.setVisible(show)
        self.plot.setVisible(not show)
        (self.numbers if show else self.plot).setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_T and not self.numbers.isHidden():
            self.toggle_numbers()
        else:
            super().keyPressEvent(event)

    def _moved(self, number: float) -> None:
        if self._sentence_at is not None:
            self.sentence.setText(self._sentence_at(number))
            self.plot.describe(self.sentence.text())


def strokes(recommended: Sequence[bool]) -> list[Stroke]:
    """Return the style of each line: strong for the recommended one, the others in turn."""
    others = cycle(_OTHERS)
    return [Stroke.STRONG if one else next(others) for one in recommended]


def curves_of(curves: CurveSet) -> tuple[Curve, ...]:
    """Return the lines of a set as curves."""
    return tuple(
        Curve(line.name, curves.at, line.values, stroke)
        for line, stroke in zip(curves.lines, strokes([line.recommended for line in curves.lines]), strict=True)
    )


class DetailsPane(QWidget):
    """The third tab of the result. Emits `curves_requested` when it is shown without curves."""

    curves_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.curves: CurvesView | None = None  # of the result shown, once they are computed
        self._study: Study | None = None
        self._result: ResultView | None = None
        self.waiting = Label(COMPUTING, theme.Role.LEAD, theme.INK2)
        self.left, self.right, self.roc = CurveCard(), CurveCard(), CurveCard()
        self._curves, self._tables = QWidget(), Block()
        in_row((self.left, 1), (self.right, 1), on=self._curves, spacing=theme.L, stacks="compact")
        in_column(self.waiting, self._curves, self.roc, self._tables, 1, on=self, spacing=theme.M)
        self.roc.plot.setMaximumWidth(_SQUARE)
        self.part: Part = "curves"
        self._update_visibility()

    def show_result(self, view: ResultView, study: Study) -> None:
        """Discard the curves of another result, and show the models of this one as tables."""
        self._result, self._study, self.curves = view, study, None
        self.waiting.setText(COMPUTING if view.judgement is not None else NOTHING)
        self._show_tables(view.models, study)
        self.part = "curves"
        self._update_visibility()
        if self.isVisible():
            self.request()

    def request(self) -> None:
        if self.curves is None and self._result is not None and self._result.judgement is not None:
            self.curves_requested.emit()

    def show_part(self, part: Part) -> None:
        self.part = part
        self._update_visibility()

    def show_curves(self, view: CurvesView) -> None:
        result, study = self._result, self._study
        if result is None or study is None or result.judgement is None:
            return
        self.curves = view
        per, positive = study.wording.counted(result.judgement.population), result.judgement.positive
        if view.net_benefit is not None and positive is not None:
            self._show_benefit(
                view.net_benefit, study, positive, words.benefit_text(study.wording, positive, per, view.corrected)
            )
            self._show_roc(view, study, positive)
        else:
            self._show_cost(view, per)
        self._show_best(view)
        self._update_visibility()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.request()

    def _update_visibility(self) -> None:
        ready = self.curves is not None
        self.waiting.setVisible(not ready and self.part != "tables")
        self._curves.setVisible(ready and self.part == "curves")
        self.roc.setVisible(ready and self.part == "roc")
        self._tables.setVisible(self.part == "tables")

    # --- the cards

    def _show_benefit(self, curves: CurveSet, study: Study, positive: int, text: words.CurveText) -> None:
        wording = study.wording
        top = max(float(line.values.max()) for line in curves.lines)
        missed, alarms = (wording.mistakes[key] for key in ((positive, 1 - positive), (1 - positive, positive)))
        picture = Picture(
            name=text.title,
            curves=curves_of(curves),
            x=LinearAxis(0.0, float(curves.at[-1])),
            y=LinearAxis(0.0, top * _ROOM_ABOVE),
            x_text=threshold_text,
            y_text=lambda value: f"{value:,.0f}",
            x_title=text.axis,
            second=(words.odds_text, f"One {missed.one} counts as this many {alarms.many}"),
            shaded=curves.plausible,
            at=curves.elicited,
            band=None if curves.band is None else (curves.at, curves.band.low, curves.band.high),
        )
        self.left.show_words(text)
        self.left.show_curves(
            picture, curves, lambda at: words.benefit_sentence(curves, at, wording, positive), picture.y_text
        )

    def _show_cost(self, view: CurvesView, per: str) -> None:
        curves, text = view.cost, words.cost_text(view, per)
        _, high = curves.plausible or (0.0, curves.elicited)
        seen = curves.at <= max(high if np.isfinite(high) else curves.elicited, curves.elicited) * 1.5
        top = max(float(line.values[seen].max()) for line in curves.lines)
        picture = self._over_ratio(curves, text, LinearAxis(0.0, top * _ROOM_ABOVE), lambda value: f"{value:,.0f}")
        self.left.show_words(text)
        self.left.show_curves(picture, curves, lambda at: words.cost_sentence(view, at), total_cost)

    def _show_best(self, view: CurvesView) -> None:
        text, axis = words.best_text(view), LinearAxis(0.0, 1.0)
        picture = self._over_ratio(view.best, text, axis, lambda value: f"{100 * value:.0f} %")
        self.right.show_words(text, words.SMOOTHED)
        self.right.show_curves(picture, view.best, lambda at: words.best_sentence(view, at), picture.y_text)

    @staticmethod
    def _over_ratio(curves: CurveSet, text: words.CurveText, y: LinearAxis, as_text: Callable[[float], str]) -> Picture:
        return Picture(
            name=text.title,
            curves=curves_of(curves),
            x=LogAxis(float(curves.at[0]), float(curves.at[-1])),
            y=y,
            x_text=two_digits,
            y_text=as_text,
            x_title=text.axis,
            shaded=curves.plausible,
            at=curves.elicited,
        )

    def _show_roc(self, view: CurvesView, study: Study, positive: int) -> None:
        text = words.roc_text(study.wording, positive)
        lines = sorted(view.roc, key=lambda line: not line.recommended)
        drawn = strokes([line.recommended for line in lines])
        curves = tuple(
            Curve(line.name, line.false_rate, line.true_rate, stroke) for line, stroke in zip(lines, drawn, strict=True)
        )
        marks = tuple(Mark(line.point, _stretch(line.false_rate, line.true_rate, line.ends)) for line in lines)
        picture = Picture(
            name=text.title,
            curves=curves,
            x=LinearAxis(0.0, 1.0),
            y=LinearAxis(0.0, 1.0),
            x_text=lambda value: f"{100 * value:.0f} %",
            y_text=lambda value: f"{100 * value:.0f} %",
            x_title=text.axis,
            marks=marks,
        )
        self.roc.show_words(text)
        self.roc.show_still(picture, " ".join(words.roc_sentence(line, study.wording, positive) for line in lines))

    def _show_tables(self, models: Sequence[ModelView], study: Study) -> None:
        column = in_column(on=self._tables.renew(), spacing=theme.M)
        explained = Card()
        in_column(Label(words.MPCS, theme.Role.NOTE, theme.INK2), on=explained, margins=(20, 14, 20, 14))
        for model in models:
            per = study.wording.counted(int(model.judged.counts.sum()))
            text = (
                f"Rows: truth. Columns: what the model says now. Per {per}. "
                f"Right: {accuracy_text(model.accuracy)}. MPCS {concern(model.mpcs)}."
            )
            card = MatrixCard(model.name, text)
            names = study.wording.class_one
            card.grid.show_cells(names, count_cells(model, study), f"{model.name}, rows are truths")
            column.addWidget(card)
        column.addWidget(explained)


def _stretch(
    xs: np.ndarray, ys: np.ndarray, ends: tuple[tuple[float, float], tuple[float, float]]
) -> tuple[tuple[float, float], ...]:
    """Return the part of a ROC curve between two points."""
    (x0, y0), (x1, y1) = ends
    inside = [(float(x), float(y)) for x, y in zip(xs, ys, strict=True) if x0 <= x <= x1 and y0 <= y <= y1]
    return ((x0, y0), *inside, (x1, y1)) if ends[0] != ends[1] else ()


def count_cells(model: ModelView, study: Study) -> list[list[Cell]]:
    """Return the cells of a model's confusion matrix: counts, and their share of the true class."""
    names = study.wording.class_one
    return [
        [_count_cell(truth, called, count, sum(counts)) for called, count in zip(names, counts, strict=True)]
        for truth, counts in zip(names, model.judged.counts.tolist(), strict=True)
    ]


def _count_cell(truth: str, called: str, count: int, whole: int) -> Cell:
    share = count / whole if whole else 0.0
    below = per_cent(count, whole) if whole else ""
    return Cell(f"{count:,}", below, f"{truth} called {called}: {count:,} of {whole:,}.", share)
