"""What the question page and the practice page share: top bar, headline, ledger, strip and answers in their places."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from elicit_app.elicitation.questions import Counts
from elicit_app.gui import theme
from elicit_app.gui.elements import Label, Page
from elicit_app.gui.question.answers import Answers
from elicit_app.gui.question.ledger_card import LedgerCard
from elicit_app.gui.question.measures import columns, frame
from elicit_app.gui.question.strip import StripBand
from elicit_app.gui.question.top_bar import TopBar
from elicit_app.gui.scrolled import QuietScrollBar
from elicit_app.gui.theme import Breakpoint, em
from elicit_app.session.ledger import LedgerView
from elicit_app.study.model import Wording

_ANSWERS_AT_MOST = 0.4
"""Share of the height that the answers may take; where they need more, they scroll with the rest."""

_AROUND_AT_LEAST = 2
"""Free pixels above and below a ledger that hardly fits."""


class PairPage(Page):
    """A pair of results: headline at the top, sentence and answers at the bottom, the ledger takes what is between.

    Parameters
    ----------
    bar : TopBar
        Progress and actions.
    practice : bool
        True shows what a square means instead of the folded line.
    """

    def __init__(self, bar: TopBar, *, practice: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.bar = bar
        bar.setParent(self)
        self.area = QScrollArea(self)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setVerticalScrollBar(QuietScrollBar())
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.area.viewport().setBackgroundRole(QPalette.ColorRole.Window)
        self.body = QWidget()
        self.body.setAutoFillBackground(True)
        self.area.setWidget(self.body)
        centre = Qt.AlignmentFlag.AlignHCenter
        self.headline = Label(role=theme.Role.HEADLINE, align=centre, parent=self.body)
        self.note = Label(role=theme.Role.CAPTION, ink=theme.INK2, align=centre, parent=self.body)
        self.card = LedgerCard(self.body, practice=practice)
        self.strip = StripBand(self)
        self.answers = Answers(self)
        self._view: LedgerView | None = None
        self._pair: tuple[Counts, Counts, Wording, str] | None = None

    @property
    def room(self) -> Breakpoint:
        """Return how much room the page has."""
        return theme.breakpoint_for(self.size())

    def show_pair(self, view: LedgerView, left: Counts, right: Counts, wording: Wording, name: str) -> None:
        """Show a pair; `name` is what a screen reader calls the ledger."""
        self._view, self._pair = view, (left, right, wording, name)
        self.headline.setText(view.headline)
        self._show_values()

    def bottom(self) -> QWidget:
        """Return what stands at the bottom: the answers, or what took their place."""
        return self.answers

    def bottom_height(self, width: int) -> int:
        """Return the height of what stands at the bottom."""
        return self.answers.needed_height()

    def under_bar(self) -> QWidget | None:
        """Return a band that stands under the top bar, where there is one."""
        return None

    # arranging

    def arrange(self, breakpoint_: Breakpoint) -> None:
        small = breakpoint_.compact or breakpoint_.large
        self.headline.set_role(theme.Role.TITLE if breakpoint_.large else theme.Role.HEADLINE, compact=small)
        self.bar.arrange(breakpoint_)
        self._show_values()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.place()

    def _show_values(self) -> None:
        if self._view is not None and self._pair is not None:
            left, right, wording, name = self._pair
            self.card.show_pair(self._view, left, right, wording, name, self.room)
            self.strip.show_strip(self._view.strip, self.room)
        self.place()

    def place(self) -> None:
        """Put everything in its place for the present size and values."""
        if not self._settled:
            return
        room, side, width = self.room, self.side_margin, theme.content_width(self.width())
        size, rows = frame(room), len(self._view.rows) if self._view is not None else 1
        self.answers.arrange(columns(width, room, rows), size, room)
        top = self._place_top(side, width)
        bottom = self._place_bottom(side, width, top)
        self.area.setGeometry(0, top, self.width(), max(0, bottom - top))
        self._place_body(side, width, bottom - top)
        self.update()

    def _place_top(self, side: int, width: int) -> int:
        """Place the top bar and the band under it; return where the body begins."""
        high = self.bar.needed_height(width)
        self.bar.setGeometry(side, frame(self.room).top, width, high)
        top = frame(self.room).top + high
        band = self.under_bar()
        if band is not None and not band.isHidden():
            tall = max(band.sizeHint().height(), band.heightForWidth(width))
            band.setGeometry(side, top + theme.S, width, tall)
            top += theme.S + tall
        return top

    def _place_bottom(self, side: int, width: int, top: int) -> int:
        """Place strip and answers above the lower edge, unless they scroll; return where the body ends."""
        size, bottom = frame(self.room), self.bottom()
        high = self.bottom_height(width)
        end = self.height()
        if self.answers_scroll:
            bottom.setParent(self.body)
            bottom.show()
        else:
            if bottom.parent() is not self:
                bottom.setParent(self)
                bottom.show()
            end = self.height() - size.bottom - high
            bottom.setGeometry(side, end, width, high)
            end -= theme.S + 1 if self.room.large else size.strip_gap
        self._strip_home().show()
        if not self.room.large:
            tall = self.strip.heightForWidth(width)
            end -= tall
            self.strip.setGeometry(side, end, width, tall)
        return max(top, end)

    @property
    def answers_scroll(self) -> bool:
        """Tell whether the answers take so much of the height that they scroll with the rest."""
        high = self.bottom_height(theme.content_width(self.width()))
        return self.room.large and high > _ANSWERS_AT_MOST * self.height()

    def _strip_home(self) -> StripBand:
        """Put the strip where it belongs: over the ledger in the scrolling part where the font is large."""
        home = self.body if self.room.large else self
        if self.strip.parent() is not home:
            self.strip.setParent(home)
        return self.strip

    def _place_body(self, side: int, width: int, view: int) -> None:
        size, large = frame(self.room), self.room.large
        y = size.headline
        high = self.headline.heightForWidth(width)
        self.headline.setGeometry(side, y, width, high)
        y += high
        self.note.setVisible(bool(self.note.text()))
        if self.note.text():
            self.note.setGeometry(side, y, width, self.note.heightForWidth(width))
            y += self.note.height()
        if large:
            tall = self.strip.heightForWidth(width)
            self.strip.setGeometry(side, y + theme.S, width, tall)
            y += theme.S + tall
        below = self.bottom_height(width) + 2 * theme.S if self.answers_scroll else 0
        needed = self.card.needed_height(width)
        around = min(size.around, max(_AROUND_AT_LEAST, (view - y - needed - below) // 2))
        least = y + needed + 2 * around + below
        total = max(view, least)
        scrolls = least > view
        policy = Qt.ScrollBarPolicy
        self.area.setVerticalScrollBarPolicy(policy.ScrollBarAlwaysOn if scrolls else policy.ScrollBarAlwaysOff)
        self.body.resize(self.area.viewport().width(), total)
        between = total - y - below - 2 * around
        card = min(between, max(needed, self.card.wanted_height(width)))
        around += 0 if large else (between - card) // 2
        self.card.setGeometry(side, y + around, width, card)
        if self.answers_scroll:
            self.bottom().setGeometry(side, y + around + card + theme.S, width, self.bottom_height(width))

    def minimumSizeHint(self) -> QSize:
        """Return the least size in which every word is whole; the ledger scrolls where it is higher than its place."""
        width = max(self.bar.minimum_width(), self.answers.minimum_width(), self.headline.minimumSizeHint().width())
        size, content = frame(self.room), max(width, em(400))
        fixed = size.top + self.bar.needed_height(content) + size.headline + size.bottom + size.strip_gap
        fixed += self.bottom_height(content) + self.strip.heightForWidth(content)
        return QSize(width + 2 * theme.MARGIN, fixed + em(100))

    def turn(self, pages: int) -> None:
        """Scroll the middle part by whole pages, where it scrolls."""
        bar = self.area.verticalScrollBar()
        bar.setValue(bar.value() + pages * bar.pageStep())

    def paintEvent(self, event: QPaintEvent) -> None:
        """With a large font lines mark what stays while the middle scrolls."""
        if self.room.large and not self.answers_scroll:
            with QPainter(self) as painter:
                colour = theme.tokens(self)
                painter.fillRect(0, self.area.y() - 1, self.width(), 1, colour.line)
                painter.fillRect(0, self.area.geometry().bottom() + 1, self.width(), 1, colour.line2)
