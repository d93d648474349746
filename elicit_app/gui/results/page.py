"""The result: five tabs, and from each of them more questions or the metric file."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QTabBar, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements import Label, LinkButton, OutlineButton, PrimaryButton, focus_ring
from elicit_app.gui.elements.page import Header, ScrolledPage, press_by
from elicit_app.gui.elements.surfaces import Notice
from elicit_app.gui.elements.texts import elided, tell
from elicit_app.gui.results.costs import CostsPane
from elicit_app.gui.results.files import METRIC, PICTURES, REPORT, TO_SEND_BACK, TOO_FEW
from elicit_app.gui.results.practice import PracticeDialog, Table
from elicit_app.gui.results.prevalence import PrevalencePane
from elicit_app.gui.results.seen import Part, SeenPane
from elicit_app.gui.results.to_do import ToDoPane
from elicit_app.gui.results.told import ToldPane
from elicit_app.session.views.result import CurvesView, ResultView
from elicit_app.session.words.policy_words import chooses
from elicit_app.study.model import Study

TABS = (
    ("What to do", "To do"),
    ("What you told us", "Told us"),
    ("What more can be seen", "More"),
    ("Other prevalence", "Prevalence"),
    ("Costs and files", "Costs"),
)
_TO_DO, _TOLD, _SEEN, _PREVALENCE = 0, 1, 2, 3
_ROC, _TABLES = "ROC curve", "What each model does, as tables"
_WIDEST_GAP, _NARROWEST_GAP = theme.XL, theme.S


class TabStrip(QTabBar):
    """A tab bar (same keys and accessible roles) that paints text and an underline only.

    Parameters
    ----------
    names : tuple of (str, str)
        Per tab its name, and a short one for where the names have no room beside each other.
    """

    def __init__(self, *names: tuple[str, str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
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

    def hide_tabs(self, hidden: tuple[int, ...]) -> None:
        """Hide some tabs and show all others."""
        for tab in range(self.count()):
            self.setTabVisible(tab, tab not in hidden)
        self._fit()

    def _fit(self) -> None:
        """Use the short names where the long ones have no room."""
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
        # Every name has room for the bold letters it gets when chosen.
        return QFontMetricsF(theme.font(theme.Role.STRONG)).horizontalAdvance(self.tabText(index))

    def _gap(self) -> int:
        """Return the space after a name: less where the font is large, so that no name is cut short for it."""
        names = sum(round(self._name_width(index)) for index in range(self.count()))
        left = (self.width() - names) // max(self.count(), 1)
        return max(_NARROWEST_GAP, min(_WIDEST_GAP, left))

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = theme.tokens(self)
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.fillRect(QRectF(0, self.height() - 1, self.width(), 1), colours.line)
            for index in range(self.count()):
                self._paint_tab(painter, colours, index)

    def _paint_tab(self, painter: QPainter, colours: theme.Tokens, index: int) -> None:
        room = QRectF(self.tabRect(index)).adjusted(0, 0, -self._gap(), 0)
        chosen = index == self.currentIndex()
        painter.setFont(theme.font(theme.Role.STRONG if chosen else theme.Role.LABEL))
        painter.setPen(colours.ink if chosen else colours.ink2)
        text = elided(self.tabText(index), QFontMetricsF(painter.font()), room.width() + 1)
        painter.drawText(room, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
        if chosen:
            painter.fillRect(QRectF(room.left(), self.height() - 3, room.width(), 3), colours.ink)
            if self.hasFocus():
                focus_ring(painter, room.adjusted(-8, 2, 8, -4), theme.BUTTON_RADIUS, colours.ink)


class ResultsPage(ScrolledPage):
    """Shows a `ResultView`.

    Emits `more_requested`, `export_requested` with the key of a format, `look_again_requested` with the number of
    an answer, `start_requested`, `review_requested`, `compare_requested` and `retry_requested` (after something
    could not be written), `practice_told` with a table of today's practice, or None for none.
    """

    notice: Notice
    more_requested = Signal()
    export_requested = Signal(object)
    look_again_requested = Signal(object)
    start_requested = Signal()
    review_requested = Signal()
    retry_requested = Signal()
    compare_requested = Signal()
    practice_told = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._judged, self._saves = False, METRIC
        self._study: Study | None = None
        self._practice: Table | None = None
        self._header = Header()
        self.more, self.save = OutlineButton("Answer more questions"), PrimaryButton("Save metric file…")
        self._header.add_action(self.more)
        self._header.add_action(self.save)
        self.notice = Notice()
        self.tabs = TabStrip(*TABS)
        tell(self.tabs, name="Parts of the result")
        for widget in (self._header, self.notice, self.tabs):
            self.head.addWidget(widget)
        self.to_do, self.told, self.seen = ToDoPane(), ToldPane(), SeenPane()
        self.prevalence, self.costs = PrevalencePane(), CostsPane()
        for pane in self._panes:
            self.body.addWidget(pane)
        self._notes = Label(role=theme.Role.NOTE, ink=theme.INK2)
        self.body.addWidget(self._notes)
        self.body.addStretch(1)
        self.body.addLayout(self._links())
        self._connect()
        self._turn(0)
        self.settle()

    def show_curves(self, view: CurvesView) -> None:
        """Show the curves behind the result."""
        self.seen.show_curves(view)
        self._say_links()

    def show_result(self, view: ResultView, study: Study, expert: str = "") -> None:
        """Show `view`; the tab stays where it is."""
        self._study, self._practice = study, view.practice
        self._judged, self._saves = view.judgement is not None, REPORT if chooses(view) else METRIC
        if study.answered_elsewhere:
            self._saves = TO_SEND_BACK
        self.save.setText({REPORT: "Save report…", METRIC: "Save metric file…"}.get(self._saves, self._saves.button))
        self._show_tabs(elsewhere=study.pack is not None)
        answers = "1 answer" if view.answers == 1 else f"{view.answers} answers"
        self._header.say(f"Result: {study.title}", ", ".join(part for part in (expert, answers, view.date) if part))
        possible = view.can_export or self._saves is TO_SEND_BACK
        self.save.setEnabled(possible)
        tell(self.save, tooltip="" if possible else TOO_FEW)
        self.more.setVisible(view.can_continue)
        self.compare.setVisible(view.experts > 1)
        self.compare.setText(f"Compare the {view.experts} experts who have finished")
        self._notes.setText(" ".join(view.notes))
        self._notes.setVisible(bool(view.notes))
        self.notice.say(view.unsaved, button="Try again")
        self.told.show_result(view, study)
        self.to_do.show_result(view)
        self.seen.show_result(view, study)
        self.prevalence.show_result(view, study)
        self.costs.show_result(view, study)
        self._say_links()

    def _show_tabs(self, *, elsewhere: bool) -> None:
        """Hide the tabs that judge models where their cases are elsewhere, or amounts are priced."""
        judging = (_TO_DO, _SEEN, _PREVALENCE)
        self.tabs.hide_tabs(judging if elsewhere else ())
        if elsewhere and self.tabs.currentIndex() in judging:
            self.tabs.setCurrentIndex(_TOLD)

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        super().arrange(breakpoint_)
        self._header.arrange(breakpoint_)
        for pane in self._panes:
            pane.arrange(breakpoint_)

    @property
    def _panes(self) -> tuple[ToDoPane, ToldPane, SeenPane, PrevalencePane, CostsPane]:
        return self.to_do, self.told, self.seen, self.prevalence, self.costs

    def _links(self) -> QHBoxLayout:
        foot = QHBoxLayout()
        back, review = LinkButton("Back to the start"), LinkButton("Look at the answers")
        self.practice, self.roc = LinkButton("Change today’s practice…"), LinkButton(_ROC)
        self.tables, self.pictures = LinkButton(_TABLES), LinkButton("Save pictures…")
        self.compare = LinkButton("Compare experts")
        self.compare.clicked.connect(self.compare_requested)
        back.clicked.connect(self.start_requested)
        review.clicked.connect(self.review_requested)
        foot.addWidget(back)
        foot.addStretch(1)
        for link in (self.compare, self.practice, self.roc, self.tables, self.pictures, review):
            foot.addWidget(link)
        self.practice.clicked.connect(self._ask_practice)
        self.roc.clicked.connect(lambda: self._show_part("roc"))
        self.tables.clicked.connect(lambda: self._show_part("tables"))
        self.pictures.clicked.connect(lambda: self.export_requested.emit(PICTURES.key))
        return foot

    def _connect(self) -> None:
        self.tabs.currentChanged.connect(self._turn)
        self.more.clicked.connect(self.more_requested)
        self.save.clicked.connect(lambda: self.export_requested.emit(self._saves.key))
        press_by(self, self.costs.files.buttons[METRIC.key], "Ctrl+S")
        self.costs.export_requested.connect(self.export_requested)
        self.told.look_again_requested.connect(self.look_again_requested)
        self.notice.pressed.connect(self.retry_requested)

    def _turn(self, index: int) -> None:
        # Panes are hidden, not stacked: a stack is as high as its tallest page, and a short one would scroll.
        for place, pane in enumerate(self._panes):
            pane.setVisible(place == index)
        self._say_links()
        self.area.verticalScrollBar().setValue(0)

    def _ask_practice(self) -> None:
        """Ask for the table of today's practice."""
        if self._study is not None:
            dialog = PracticeDialog(self._study, self._practice, self)
            dialog.told.connect(self.practice_told)
            dialog.open()

    def _show_part(self, part: Part) -> None:
        """Show a part of "What more can be seen", or the curves again."""
        self.seen.show_part("curves" if self.seen.part == part else part)
        self._say_links()

    def _say_links(self) -> None:
        """Show the links that belong to the tab."""
        tab = self.tabs.currentIndex()
        has_models = self._judged and tab == _SEEN
        self.practice.setVisible(self._judged and tab == _TO_DO)
        self.practice.setText("Change today’s practice…" if self._practice else "Add today’s practice…")
        self.roc.setVisible(has_models and self.seen.has_roc)
        self.tables.setVisible(has_models)
        self.pictures.setVisible(has_models and self.seen.curves is not None)
        self.roc.setText("Back to the curves" if self.seen.part == "roc" else _ROC)
        self.tables.setText("Back to the curves" if self.seen.part == "tables" else _TABLES)
