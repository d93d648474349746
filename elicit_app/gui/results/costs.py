"""Costs and files: the cost matrix, release factors for MPCS, class weights, and a file for every tool."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import Button
from elicit_app.gui.elements.painting import Arranged, Label, annotate
from elicit_app.gui.elements.surfaces import Block, Card, Divider, arrange_parts, in_column, in_grid, in_row
from elicit_app.gui.results.plotting import MOST_WITH_RANGES, Cell, MatrixCard
from elicit_app.session.views import ResultView
from elicit_app.study.model import Study
from metrics.elicited.exchange import PLAUSIBLE, scale_of_ranges
from metrics.exports import FORMATS
from metrics.exports.metric_page import cost_texts, factor_texts, release_sentence, weight_texts
from metrics.exports.page import Cells
from metrics.inputs.arguments import Floats

METRIC, ANSWERS, COPIED = "metric", "answers", "sklearn"
REPORT, PICTURES, TO_SEND_BACK = "pdf", "pictures", "to send back"
ENDINGS = {
    **FORMATS,
    METRIC: ".metric.json",
    ANSWERS: ".answers.csv",
    PICTURES: ".png",
    TO_SEND_BACK: "-answers.session.jsonl",
}
"""Format -> suffix of its files."""

ROWS = (
    ("Metric file (.metric.json)", "what scripts, notebooks and this app read", {METRIC: "Save…"}),
    ("scikit-learn", "scorer and cost matrix, ready to paste", {COPIED: "Copy"}),
    ("Weka, mlr3", "in each tool’s own orientation (mlr3 is transposed)", {"weka": "Weka…", "mlr3": "mlr3…"}),
    ("Report", "to read, sign and keep", {REPORT: "PDF…", "html": "HTML…", "markdown": "Markdown…"}),
    ("Costs as a table", "CSV, for a spreadsheet", {"csv": "Save…"}),
    ("All answers", "CSV, every question as it was shown", {ANSWERS: "Save…"}),
)
"""The rows of the card: name, use, and the button of each format."""

OF_COSTS = (COPIED, "weka", "mlr3", "csv")  # formats of a cost matrix
TOO_FEW = "A metric file needs five informative answers. Answer more questions first."


class FilesCard(Card):
    """Emits `export_requested` with the key of a format."""

    export_requested = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.buttons: dict[str, Button] = {}
        self._caveat = Label(TOO_FEW, theme.Role.NOTE, theme.INK2)
        column = in_column(self._caveat, on=self, margins=(20, 10, 20, 10), spacing=6)
        for index, row in enumerate(ROWS):
            if index:
                column.addWidget(Divider())
            column.addLayout(self._row(*row))
        column.addStretch(1)

    def show_result(self, view: ResultView) -> None:
        """Disable the formats while there are too few answers; the answers themselves can always be saved."""
        self._caveat.show_text(view.metric.quality.caveat if view.can_export else TOO_FEW)
        self.buttons[COPIED].setText("Copy")
        for key, button in self.buttons.items():
            fits = view.metric.kind == "confusion" or key not in OF_COSTS
            button.setEnabled((view.can_export and fits) or key == ANSWERS)
            annotate(button, tooltip="" if fits else "Amounts were priced here, not mistakes between classes.")

    def show_copied(self) -> None:
        self.buttons[COPIED].setText("Copied")

    def _row(self, name: str, use: str, formats: dict[str, str]) -> QBoxLayout:
        buttons = in_row(spacing=theme.S)
        words = in_column(Label(name, theme.Role.STRONG), Label(use, theme.Role.NOTE, theme.INK2), spacing=0)
        for key, text in formats.items():
            does = text.rstrip("…")
            button = Button(text)
            annotate(button, name=f"{does} {name}" if len(formats) == 1 else f"Save {does}")
            button.clicked.connect(lambda _=False, key=key: self.export_requested.emit(key))
            self.buttons[key] = button
            buttons.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
        return in_row((words, 1), buttons, spacing=theme.S, stacks="large")


def cells_of(
    texts: Cells, shades: Floats, names: Sequence[str], *, says: str = "", right: str = ""
) -> list[list[Cell]]:
    """Return the cells of a matrix of mistakes; in sentences, `says` precedes a number and `right` describes a hit."""

    def cell(i: int, j: int, text: str, below: str) -> Cell:
        flow = f"{names[i]} called {names[j]}"
        if i == j:
            return Cell(text, sentence=f"{flow}: {right}." if right else "")
        return Cell(text, below, f"{flow}: {says}{text}{f', {below}' if below else ''}.", float(shades[i, j]))

    return [[cell(i, j, *both) for j, both in enumerate(row)] for i, row in enumerate(texts)]


_WEIGHTS_A_ROW = 5


class WeightsCard(Arranged, Card):
    """Class weights and the paper's two-level form."""

    def __init__(self) -> None:
        super().__init__()
        self._weights, self._pairs = Block(), list[QWidget]()
        self._grid = QGridLayout(self._weights.renew())
        self._note, self._two_level = Label(role=theme.Role.NOTE, ink=theme.INK2), Label(role=theme.Role.NOTE)
        self._column = in_column(
            Label("Class weights", theme.Role.SECTION),
            self._weights,
            self._note,
            Divider(),
            Label("Two-level form, as in the paper", theme.Role.SECTION),
            self._two_level,
            1,
            on=self,
            margins=(20, 16, 20, 16),
            spacing=8,
        )

    def show_result(self, view: ResultView, study: Study) -> None:
        self._pairs = []
        self._grid = in_grid(on=self._weights.renew(), across=theme.XL)
        for name, (weight, range_) in zip(study.wording.class_one, weight_texts(view.metric), strict=True):
            pair = QWidget()
            inside = in_column(
                Label(name, theme.Role.NOTE, theme.INK2), Label(weight, theme.Role.LEAD), on=pair, spacing=0
            )
            if range_:
                inside.addWidget(Label(range_, theme.Role.CAPTION, theme.INK2))
            self._pairs.append(pair)
        note = "How much the worst mistake of each truth matters relative to the other truths: 1 is average, more is "
        note += "graver."
        if view.metric.samples is not None:
            note += f" Below: {PLAUSIBLE.head}, the values that nine in ten readings of your answers lie between."
        self._note.setText(note)
        self._two_level.setText(release_sentence(view.metric, study.wording.class_one))

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        """Put as many weights on a line as fit beside long names."""
        per_row = 1 if breakpoint_.large else 2 if breakpoint_.compact else _WEIGHTS_A_ROW
        for pair in self._pairs:
            self._grid.removeWidget(pair)
        for index, pair in enumerate(self._pairs):
            self._grid.addWidget(pair, index // per_row, index % per_row)
        for column in range(_WEIGHTS_A_ROW + 1):
            self._grid.setColumnStretch(column, int(column == per_row))


_COSTS = "How bad each mistake is: 1 = as bad as the worst, 0 = costs nothing. Rows: truth."
_BEYOND = "A range beyond 1: it may be worse than the one taken for the worst."


class CostsPane(Arranged, QWidget):
    """The fifth tab of the result."""

    def __init__(self) -> None:
        super().__init__()
        self._grid = in_grid(on=self, across=theme.M, down=theme.M)
        within = (
            "How much of the worst mistake of the same truth each one is: 1 = all of it, 0 = of no concern. MPCS, a "
            "score of wrong answers and how confident they are, uses them; lower is better."
        )
        self.costs = MatrixCard("Cost matrix")
        self.releases = MatrixCard("Release factors for MPCS", within)
        self.weights, self.files = WeightsCard(), FilesCard()
        self._cards: tuple[Card, ...] = (self.costs, self.releases, self.weights, self.files)
        self._shown: Sequence[Card] = self._cards
        self._classes = 0
        self.arrange(theme.WIDE)

    def show_result(self, view: ResultView, study: Study) -> None:
        names = study.wording.class_one
        self._shown = (self.files,) if study.wording.priced is not None else self._cards
        for card in self._cards:
            card.setVisible(card in self._shown)
        notes = [_COSTS]
        if len(names) <= MOST_WITH_RANGES:
            intervals = view.metric.intervals
            if intervals is not None:
                notes += [f"Below: {view.ratios[0].range_words.legend}."]
                notes += [scale] if (scale := scale_of_ranges(view.metric)) else []
                notes += [_BEYOND] if (intervals[np.isfinite(intervals)] > 1).any() else []
        self.costs.say(" ".join(notes))
        metric = view.metric
        costs = cells_of(cost_texts(metric), metric.cost_matrix, names, right="right, costs nothing")
        self.costs.grid.show_cells(names, costs, "Cost matrix, rows are truths")
        factors = cells_of(factor_texts(metric), metric.release_factors(), names, says="concern ")
        self.releases.grid.show_cells(names, factors, "Release factors, rows are truths")
        self.weights.show_result(view, study)
        self.files.show_result(view)
        self._classes = len(names)
        arrange_parts(self, self._last)  # the weights are new
        self.arrange(self._last)

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        self._last = breakpoint_
        for card in self._cards:
            self._grid.removeWidget(card)
        if breakpoint_.compact:
            places = [(0, 0, 2), (1, 0, 2), (2, 0, 2), (3, 0, 2)]
        elif self._classes > MOST_WITH_RANGES:
            places = [(0, 0, 2), (1, 0, 2), (2, 0, 1), (2, 1, 1)]
        else:
            places = [(0, 0, 1), (0, 1, 1), (1, 0, 1), (1, 1, 1)]
        for card, (row, column, across) in zip(self._shown, places, strict=False):
            self._grid.addWidget(card, row, column, 1, across)
        self._grid.setColumnStretch(0, 1)
        self._grid.setColumnStretch(1, 1)
