"""The result: five tabs, each of which leads to more questions and to the metric file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QGuiApplication, QKeyEvent, QKeySequence, QPainter, QResizeEvent, QShortcut
from PySide6.QtWidgets import QDialog, QHBoxLayout, QSizePolicy, QTabBar, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import Button, FlatButton, LinkButton, PrimaryButton
from elicit_app.gui.elements.fields import Field, IgnoresWheel
from elicit_app.gui.elements.page import HeadedPage, QuietArea, bind
from elicit_app.gui.elements.painting import Label, Painted, annotate, elided, focus_ring, write
from elicit_app.gui.elements.surfaces import Notice, fill, in_column, in_grid, in_row
from elicit_app.gui.results.costs import METRIC, PICTURES, REPORT, TO_SEND_BACK, TOO_FEW, CostsPane
from elicit_app.gui.results.details import DetailsPane, Part
from elicit_app.gui.results.prevalence import PrevalencePane
from elicit_app.gui.results.rates import NO_BREAK, RatesPane
from elicit_app.gui.results.recommendation import RecommendationPane
from elicit_app.session.policy_words import chooses
from elicit_app.session.views import CurvesView, ResultView
from elicit_app.session.warm_up import number_typed
from elicit_app.study.model import Study
from metrics.errors import InputError
from metrics.policies.cases import Practice
from metrics.text import capitalised, counted

_LEAST_ROWS, _MOST_ROWS = 3, 8
Table = tuple[tuple[float, ...], ...]
EXPLAINED = (
    "How are these cases decided today, without a model? Type how many, out of the cases of each truth, are called "
    "what. Whole numbers are read as counts: the more cases, the surer. Shares or percentages are read as rates. How "
    "common each truth is does not matter here."
)


class PracticeDialog(QDialog):
    """Asks for the table of present practice; emits `stated` with it, or with None to remove it."""

    stated = Signal(object)

    def __init__(self, study: Study, table: Table | None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._study = study
        self.setWindowTitle("Today’s practice")
        self.setModal(True)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.fields: list[list[Field]] = []
        self.notice = Notice()
        in_column(
            Label("Today’s practice", theme.Role.TITLE),
            Label(EXPLAINED, theme.Role.NOTE, theme.INK2),
            (self._grid(), 1),
            self.notice,
            self._buttons(table is not None),
            on=self,
            margins=(24, 20, 24, 20),
            spacing=theme.M,
        )
        self.show_table(table)
        self.fields[0][0].setFocus()  # otherwise the first key presses are lost on the scroll area
        rows = min(max(len(self.fields), _LEAST_ROWS), _MOST_ROWS)
        self.resize(theme.em(680), theme.em(290 + 46 * rows))

    def show_table(self, table: Sequence[Sequence[float]] | None) -> None:
        for i, row in enumerate(self.fields):
            for j, field in enumerate(row):
                field.setText("" if table is None else f"{table[i][j]:.15g}")

    def _show_average_reader(self) -> None:
        self.show_table(self._study.average_reader().tolist())

    def table(self) -> Table:
        """Return the typed table.

        Raises
        ------
        InputError
            If a field does not hold a number, or the table is not valid for practice.
        """
        rows = tuple(tuple(self._number(i, j) for j in range(len(row))) for i, row in enumerate(self.fields))
        Practice.of(rows, self._study.wording.class_one)
        return rows

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # a block from a spreadsheet is pasted starting at the focused field
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            text = QGuiApplication.clipboard().text()
            if event.matches(QKeySequence.StandardKey.Paste) and ("\t" in text or "\n" in text.strip()):
                self._paste(watched, text)
                return True
        return super().eventFilter(watched, event)

    def _paste(self, start: QObject, text: str) -> None:
        at = [(i, j) for i, row in enumerate(self.fields) for j, field in enumerate(row) if field is start]
        for i, line in enumerate(text.strip("\n").split("\n"), start=at[0][0]):
            for j, cell in enumerate(line.split("\t"), start=at[0][1]):
                if i < len(self.fields) and j < len(self.fields):
                    self.fields[i][j].setText(cell.strip())

    def _number(self, i: int, j: int) -> float:
        typed = self.fields[i][j].text().strip()
        try:
            return number_typed(typed.rstrip("% ")) if typed else 0.0
        except ValueError:
            truth, called = (self._study.wording.class_one[index] for index in (i, j))
            raise InputError(f"“{typed}” for {truth} called {called} is not a number.") from None

    def _grid(self) -> QuietArea:
        inside, names = QWidget(), self._study.wording.class_one
        grid = in_grid(on=inside, margins=(0, 0, 8, 0), across=theme.S, down=theme.S)
        grid.setColumnMinimumWidth(0, theme.em(110))
        grid.addWidget(Label("the truth is", theme.Role.NOTE, theme.INK2), 1, 0)
        grid.addWidget(Label("it is called", theme.Role.NOTE, theme.INK2), 0, 1, 1, len(names))
        for j, name in enumerate(names):
            grid.addWidget(Label(name, theme.Role.LABEL), 1, j + 1)
        for i, truth in enumerate(names):
            grid.addWidget(Label(truth, theme.Role.LABEL), i + 2, 0)
            self.fields.append([])
            for j, called in enumerate(names):
                field = Field()
                annotate(field, name=f"{truth} called {called}")
                field.installEventFilter(self)
                self.fields[-1].append(field)
                grid.addWidget(field, i + 2, j + 1)
        grid.setRowStretch(len(names) + 2, 1)
        area = QuietArea(inside)
        area.setWidgetResizable(True)
        return area

    def _buttons(self, known: bool) -> QHBoxLayout:
        readers = self._study.readers
        whose = f"decisions of {readers[0]}" if len(readers) == 1 else f"average of the {len(readers)} readers"
        self.of_readers = LinkButton(f"Fill in the {whose}", self._show_average_reader)
        self.of_readers.setVisible(bool(readers))
        self.none = FlatButton("Leave it out", lambda: self._submit(None))
        cancel = Button("Cancel")
        self.use = PrimaryButton("Use it", self._accept)
        self.none.setVisible(known)
        self.use.setDefault(True)
        cancel.clicked.connect(self.reject)
        return in_row(self.none, self.of_readers, 1, cancel, self.use, spacing=12)

    def _accept(self) -> None:
        try:
            table = self.table()
        except InputError as error:
            self.notice.say(capitalised(str(error).removeprefix("practice: ")))
            return
        self._submit(table)

    def _submit(self, table: Sequence[Sequence[float]] | None) -> None:
        self.stated.emit(table)
        self.accept()


TABS = (
    ("What to do", "To do"),
    ("What you told us", "Told us"),
    ("What more can be seen", "More"),
    ("Other prevalence", "Prevalence"),
    ("Costs and files", "Costs"),
)
_TO_DO, _RATES, _DETAILS, _PREVALENCE, _COSTS = range(5)
_FILES = "Files", "Files"  # of a metric of prices, which has no table of costs
_SAVE = {REPORT: "Save report…", METRIC: "Save metric file…", TO_SEND_BACK: "Save my answers…"}
_ROC, _TABLES = "ROC curve", "What each model does, as tables"
_WIDEST_GAP, _NARROWEST_GAP = theme.XL, theme.S


class TabStrip(Painted, IgnoresWheel, QTabBar):
    """A tab bar (with the usual keys and accessible roles) that paints only text and an underline.

    Every tab has a name, and a short name for when the names do not fit side by side.
    """

    smooth = True

    def __init__(self, *names: tuple[str, str]) -> None:
        super().__init__()
        self._names = names
        self.setDrawBase(False)
        self.setExpanding(False)
        self.setUsesScrollButtons(False)
        self.setElideMode(Qt.TextElideMode.ElideRight)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        for name, _ in names:
            self.setAccessibleTabName(self.addTab(name), name)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def rename(self, tab: int, names: tuple[str, str]) -> None:
        """Give a tab another name and short name, shown with the next `hide_tabs`."""
        self._names = (*self._names[:tab], names, *self._names[tab + 1 :])
        self.setAccessibleTabName(tab, names[0])

    def hide_tabs(self, hidden: tuple[int, ...]) -> None:
        for tab in range(self.count()):
            self.setTabVisible(tab, tab not in hidden)
        self._fit()
        self.setTabText(0, self.tabText(0))  # Qt leaves the other tabs where they were until a text is set

    def cycle(self, step: int) -> None:
        """Go to the next visible tab, or with -1 to the previous one, cyclically."""
        shown = [tab for tab in range(self.count()) if self.isTabVisible(tab)]
        self.setCurrentIndex(shown[(shown.index(self.currentIndex()) + step) % len(shown)])

    def _fit(self) -> None:
        """Use the short names if the long ones do not fit."""
        metrics = QFontMetricsF(theme.font(theme.Role.STRONG))
        shown = [name for tab, (name, _) in enumerate(self._names) if self.isTabVisible(tab)]
        wanted = sum(round(metrics.horizontalAdvance(name)) + _NARROWEST_GAP for name in shown)
        for index, pair in enumerate(self._names):
            if self.tabText(index) != pair[wanted > self.width()]:
                self.setTabText(index, pair[wanted > self.width()])

    def tabSizeHint(self, index: int) -> QSize:
        return QSize(round(self._name_width(index)) + self._gap(), theme.em(40))

    def minimumTabSizeHint(self, index: int) -> QSize:
        return QSize(theme.em(60), theme.em(40))

    def _name_width(self, index: int) -> float:
        # Every name has room for the bold type it gets when selected.
        return QFontMetricsF(theme.font(theme.Role.STRONG)).horizontalAdvance(self.tabText(index))

    def _gap(self) -> int:
        """Return the space after a name; it is smaller with a large font, so that no name is cut for it."""
        shown = [index for index in range(self.count()) if self.isTabVisible(index)]
        left = (self.width() - sum(round(self._name_width(index)) for index in shown)) // max(len(shown), 1)
        return max(_NARROWEST_GAP, min(_WIDEST_GAP, left))

    def paint(self, painter: QPainter, colours: theme.Tokens) -> None:
        painter.fillRect(QRectF(0, self.height() - 1, self.width(), 1), colours.line)
        for index in range(self.count()):
            self._paint_tab(painter, colours, index)

    def _paint_tab(self, painter: QPainter, colours: theme.Tokens, index: int) -> None:
        room = QRectF(self.tabRect(index)).adjusted(0, 0, -self._gap(), 0)
        chosen = index == self.currentIndex()
        face = theme.font(theme.Role.STRONG if chosen else theme.Role.LABEL)
        text = elided(self.tabText(index), QFontMetricsF(face), room.width() + 1)
        write(painter, room, text, face, colours.ink if chosen else colours.ink2)
        if chosen:
            painter.fillRect(QRectF(room.left(), self.height() - 3, room.width(), 3), colours.ink)
            if self.hasFocus():
                focus_ring(painter, room.adjusted(-8, 2, 8, -4), theme.BUTTON_RADIUS, colours.ink)


class ResultsPage(HeadedPage):
    """Shows a `ResultView`.

    Emits `export_requested` with the key of a format, `review_requested`, and `practice_stated` with a table of present
    practice, or None.
    """

    export_requested = Signal(object)
    review_requested = Signal()
    practice_stated = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._judged, self._save_format = False, METRIC
        self._study: Study | None = None
        self._practice: Table | None = None
        self.more = Button("Answer more questions", self.more_requested)
        self.save = PrimaryButton("Save metric file…", lambda: self.export_requested.emit(self._save_format))
        self.header.add_actions(self.more, self.save)
        self.tabs = TabStrip(*TABS)
        annotate(self.tabs, name="Parts of the result")
        self.head.addWidget(self.tabs)
        self.recommendation, self.rates, self.details = RecommendationPane(), RatesPane(), DetailsPane()
        self.prevalence, self.costs = PrevalencePane(), CostsPane()
        fill(self.body, *self._panes)
        self._notes = Label(role=theme.Role.NOTE, ink=theme.INK2)
        fill(self.body, self._notes, 1)
        self._links()
        self._connect()
        self._show_pane(0)
        self.settle()

    def show_curves(self, view: CurvesView) -> None:
        self.details.show_curves(view)
        self._update_links()

    def show_result(self, view: ResultView, study: Study, expert: str = "") -> None:
        self._study, self._practice = study, view.practice
        self._judged, self._save_format = view.judgement is not None, REPORT if chooses(view) else METRIC
        if study.answered_elsewhere:
            self._save_format = TO_SEND_BACK
        self.save.setText(_SAVE[self._save_format])
        self.tabs.rename(_COSTS, TABS[_COSTS] if study.wording.priced is None else _FILES)
        self._show_tabs(elsewhere=study.pack is not None)
        told = (expert, counted(view.answers, "answer"), view.date.replace(" ", NO_BREAK))
        self.header.say(f"Result: {study.title}", ", ".join(part for part in told if part))
        possible = view.can_export or self._save_format == TO_SEND_BACK
        self.save.setEnabled(possible)
        annotate(self.save, tooltip="" if possible else TOO_FEW)
        self.more.setVisible(view.can_continue)
        self.compare.setVisible(bool(view.experts))
        self.compare.setText(f"Compare the {view.experts}")
        self._notes.show_text(" ".join(view.notes))
        self.notice.say(view.unsaved, button="Try again", then=self.retry_requested.emit)
        self.rates.show_result(view, study)
        self.recommendation.show_result(view)
        self.details.show_result(view, study)
        self.prevalence.show_result(view, study)
        self.costs.show_result(view, study)
        self._update_links()

    def _show_tabs(self, *, elsewhere: bool) -> None:
        """Hide the tabs that judge models if their cases are elsewhere or amounts are priced."""
        judging = (_TO_DO, _DETAILS, _PREVALENCE)
        self.tabs.hide_tabs(judging if elsewhere else ())
        if elsewhere and self.tabs.currentIndex() in judging:
            self.tabs.setCurrentIndex(_RATES)

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        super().arrange(breakpoint_)
        # a narrow footer has no room for a tab's links, so they go to the end of the tab
        for layout in (self.body, self._of_result):
            layout.removeItem(self._of_tab)
        if breakpoint_.compact:
            self.body.insertLayout(self.body.indexOf(self._notes) + 2, self._of_tab)  # before the foot, if that scrolls
            self.body.setAlignment(self._of_tab, Qt.AlignmentFlag.AlignLeft)
        else:
            self._of_result.insertLayout(self._of_result.count() - 1, self._of_tab)
            self._of_result.setAlignment(self._of_tab, Qt.AlignmentFlag(0))

    @property
    def _panes(self) -> tuple[RecommendationPane, RatesPane, DetailsPane, PrevalencePane, CostsPane]:
        return self.recommendation, self.rates, self.details, self.prevalence, self.costs

    def _links(self) -> None:
        back, review = self.link_to_start(), LinkButton("Look at the answers", self.review_requested)
        self.practice = LinkButton("Change today’s practice…", self._ask_practice)
        self.roc = LinkButton(_ROC, lambda: self._show_part("roc"))
        self.tables = LinkButton(_TABLES, lambda: self._show_part("tables"))
        self.pictures = LinkButton("Save pictures…", lambda: self.export_requested.emit(PICTURES))
        self.compare = LinkButton("Compare experts")
        self._of_tab = in_row(self.practice, self.roc, self.tables, self.pictures, spacing=theme.M)
        self._of_result = in_row(back, 1, self.compare, self._of_tab, review, spacing=theme.M)
        self.foot.addLayout(self._of_result)

    def _connect(self) -> None:
        self.tabs.currentChanged.connect(self._show_pane)
        for keys, step in ((QKeySequence.StandardKey.NextChild, 1), (QKeySequence.StandardKey.PreviousChild, -1)):
            shortcut = QShortcut(keys, self, context=Qt.ShortcutContext.WidgetWithChildrenShortcut)
            if step < 0:  # not every keyboard layout maps it to Backtab
                shortcut.setKeys([*shortcut.keys(), QKeySequence("Ctrl+Shift+Tab")])
            shortcut.activated.connect(partial(self.tabs.cycle, step))
        bind(self, self._save_by_key, "Ctrl+S")
        self.costs.files.export_requested.connect(self.export_requested)

    def _save_by_key(self) -> None:
        """Save the metric file or, for a study sent from elsewhere, the answers to send back."""
        button = self.save if self._save_format == TO_SEND_BACK else self.costs.files.buttons[METRIC]
        button.click()

    def _show_pane(self, index: int) -> None:
        # Panes are hidden, not stacked: a stack is as high as its tallest page, so a short page would scroll.
        for place, pane in enumerate(self._panes):
            pane.setVisible(place == index)
        self._update_links()
        self.area.verticalScrollBar().setValue(0)

    def _ask_practice(self) -> None:
        if self._study is not None:
            dialog = PracticeDialog(self._study, self._practice, self)
            dialog.stated.connect(self.practice_stated)
            dialog.open()

    def _show_part(self, part: Part) -> None:
        self.details.show_part("curves" if self.details.part == part else part)
        self._update_links()

    def _update_links(self) -> None:
        tab = self.tabs.currentIndex()
        has_models = self._judged and tab == _DETAILS
        self.practice.setVisible(self._judged and tab == _TO_DO)
        self.practice.setText("Change today’s practice…" if self._practice else "Add today’s practice…")
        self.roc.setVisible(has_models and self.details.curves is not None and bool(self.details.curves.roc))
        self.tables.setVisible(has_models)
        self.pictures.setVisible(has_models and self.details.curves is not None)
        self.roc.setText("Back to the curves" if self.details.part == "roc" else _ROC)
        self.tables.setText("Back to the curves" if self.details.part == "tables" else _TABLES)
