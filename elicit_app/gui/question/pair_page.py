"""What the question page and the practice page share: top bar, headline, ledger, strip and answers in their places."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPalette, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from elicit_app.elicitation.questions import Counts
from elicit_app.gui import theme
from elicit_app.gui.elements import Button, Label, Page, ProgressBar
from elicit_app.gui.elements.page import QuietScrollBar
from elicit_app.gui.elements.texts import tell
from elicit_app.gui.question.answers import Answers
from elicit_app.gui.question.ledger_card import LedgerCard
from elicit_app.gui.question.measures import Plan, frame, plan, sizes
from elicit_app.gui.question.row import side_width
from elicit_app.gui.question.strip import StripBand
from elicit_app.gui.theme import Breakpoint, em
from elicit_app.session.words.ledger import LedgerView, counted
from elicit_app.study.model import Study, Wording

_BAR = 6
_BAR_WIDTH = 248
_BETWEEN_ACTIONS = 14


class TopBar(QWidget):
    """Progress in words and as a bar; with a large font the bar takes the whole width below the words.

    Parameters
    ----------
    actions : tuple of Button
        From left to right; they become children of the bar.
    brief : tuple of str
        Their texts where there is little room.
    """

    def __init__(self, actions: tuple[Button, ...], brief: tuple[str, ...], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.strong = Label(role=theme.Role.STRONG, wrap=False, parent=self)
        self.quiet = Label(role=theme.Role.BODY, ink=theme.INK2, wrap=False, parent=self)
        self.progress = ProgressBar(self)
        self._actions, self._brief = actions, brief
        self._texts = tuple(action.text() for action in actions)
        for action in actions:
            action.setParent(self)
            tell(action, name=action.text())
        self._room = Breakpoint(False, False, False)

    def show_progress(self, strong: str, quiet: str, share: float, spoken: str) -> None:
        """Show how far one is: "Question 7,", "about 5 to 8 more", the share done, and the same in words."""
        self.strong.setText(strong)
        self.quiet.setText(quiet)
        self.progress.set_share(share, spoken)
        self._place()

    def arrange(self, room: Breakpoint) -> None:
        """Take the room there is."""
        self._room = room
        self._place()

    def needed_height(self, width: int) -> int:
        """Return the height the bar takes at this width."""
        if not self._room.large:
            return em(40)
        lines = 1 if self._fits_one_line(width) else 2
        return max(self._action_height(), lines * self.strong.sizeHint().height()) + _BAR + 14

    def minimum_width(self) -> int:
        """Return the least width in which nothing overlaps."""
        words = max(self.strong.sizeHint().width(), self.quiet.sizeHint().width())
        if not self._room.large:
            words = max(em(_BAR_WIDTH), self._words_width())
        return words + theme.M + self._actions_width(self._brief)

    def _words_width(self) -> int:
        return self.strong.sizeHint().width() + em(5) + self.quiet.sizeHint().width()

    def _actions_width(self, texts: tuple[str, ...]) -> int:
        widths = [action.width_for(text) for action, text in zip(self._actions, texts, strict=True)]
        return sum(widths) + _BETWEEN_ACTIONS * max(0, len(widths) - 1)

    def _shorten(self) -> None:
        """Take the brief texts with a large font, and where the others do not fit."""
        words = max(em(_BAR_WIDTH), self._words_width()) + theme.M
        brief = self._room.large or words + self._actions_width(self._texts) > self.width()
        for action, text in zip(self._actions, self._brief if brief else self._texts, strict=True):
            action.setText(text)

    def _action_height(self) -> int:
        return em(26) if self._room.large else em(40)

    def _fits_one_line(self, width: int) -> bool:
        return self._words_width() + theme.M + self._actions_width(self._brief) <= width

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        self._shorten()
        line = self.strong.sizeHint().height()
        two_lines = self._room.large and not self._fits_one_line(self.width())
        top = 0 if two_lines else (self._action_height() - line) // 2 if self._room.large else em(5)
        self.strong.setGeometry(0, top, self.strong.sizeHint().width(), line)
        x, y = (0, top + line) if two_lines else (self.strong.width() + em(5), top)
        self.quiet.setGeometry(x, y, self.quiet.sizeHint().width(), line)
        bar = self.width() if self._room.large else min(self.width(), em(_BAR_WIDTH))
        below = self.height() - _BAR - (theme.S if self._room.large else 0)
        self.progress.setGeometry(0, below, bar, _BAR)
        x = self.width()
        for action in reversed(self._actions):
            width = action.sizeHint().width()
            action.setGeometry(x - width, 0, width, self._action_height())
            x -= width + _BETWEEN_ACTIONS
        self.update()


_ANSWERS_AT_MOST = 0.4
"""Share of the height that the answers may take; where they need more, they scroll with the rest."""

_AROUND_AT_LEAST = 2
"""Free pixels above and below a ledger that hardly fits."""


class PairPage(Page):
    """A pair of results: headline at the top, sentence and answers at the bottom, the ledger takes what is between.

    Everything is placed by `place`, which is called whenever size, font or values change.

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
        self._words: tuple[str, ...] = ()

    @property
    def room(self) -> Breakpoint:
        """Return how much room the page has."""
        return theme.breakpoint_for(self.size())

    def take_words(self, study: Study) -> None:
        """Take the words of a study: its longest one decides how wide the middle column must be."""
        wording = study.wording
        real = f"Scaled from {counted(len(study.models[0].y_true), wording)}" if study.models else ""
        tell(self.headline, tooltip=real, more=real)
        names = [mistake.name for mistake in (*wording.mistakes.values(), *wording.any_mistake)]
        self._words = tuple(
            {word for name in (*names, *wording.class_one, *wording.class_many) for word in name.split()}
        )

    def show_pair(self, view: LedgerView, left: Counts, right: Counts, wording: Wording, name: str) -> None:
        """Show a pair; `name` is what a screen reader calls the ledger."""
        self._view = view
        self.headline.setText(view.headline)
        self.card.show_pair(view, left, right, wording, name)
        self.place()

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
        self.place()

    def showEvent(self, event: QShowEvent) -> None:
        """Put the focus on the ledger where nothing on the page has it: the keys work at once."""
        super().showEvent(event)
        inside = self.focusWidget()
        if inside is None or not inside.isVisibleTo(self):
            self.card.setFocus(Qt.FocusReason.OtherFocusReason)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.place()

    def plan(self) -> Plan:
        """Return places and sizes for the present size of the page and number of rows."""
        rows = len(self._view.rows) if self._view is not None else 1
        size = sizes(self.room, rows)
        metrics = QFontMetricsF(theme.font(size.title, compact=size.compact))
        longest = max((metrics.horizontalAdvance(word) for word in self._words), default=0.0)
        side = side_width(self.card.largest, size)
        width = theme.content_width(self.width())
        return plan(width, self.room, rows, longest_word=longest, least_side=side)

    def place(self) -> None:
        """Put everything in its place for the present size and values."""
        if not self._settled:
            return
        plan_, side = self.plan(), self.side_margin
        if self._view is not None:
            self.strip.show_strip(self._view.strip, plan_.room)
        self.answers.arrange(plan_)
        top = self._place_top(plan_, side)
        bottom = self._place_bottom(plan_, side)
        self.area.setGeometry(0, top, self.width(), max(0, bottom - top))
        self._place_body(plan_, side, bottom - top)
        self.update()

    def _place_top(self, plan_: Plan, side: int) -> int:
        """Place the top bar and the band under it; return where the body begins."""
        high = self.bar.needed_height(plan_.width)
        self.bar.setGeometry(side, plan_.frame.top, plan_.width, high)
        top = plan_.frame.top + high
        band = self.under_bar()
        if band is not None and not band.isHidden():
            tall = band.heightForWidth(plan_.width)
            band.setGeometry(side, top + theme.S, plan_.width, tall)
            top += theme.S + tall
        return top

    def _place_bottom(self, plan_: Plan, side: int) -> int:
        """Place strip and answers above the lower edge, unless they scroll; return where the body ends."""
        high, end = self.bottom_height(plan_.width), self.height()
        _put_on(self.bottom(), self.body if self.answers_scroll else self)
        _put_on(self.strip, self.body if plan_.room.large else self)
        if not self.answers_scroll:
            end -= plan_.frame.bottom + high
            self.bottom().setGeometry(side, end, plan_.width, high)
            end -= theme.S + 1 if plan_.room.large else plan_.frame.strip_gap
        if not plan_.room.large:
            tall = self.strip.heightForWidth(plan_.width)
            end -= tall
            self.strip.setGeometry(side, end, plan_.width, tall)
        return end

    @property
    def answers_scroll(self) -> bool:
        """Tell whether the answers take so much of the height that they scroll with the rest."""
        high = self.bottom_height(theme.content_width(self.width()))
        return self.room.large and high > _ANSWERS_AT_MOST * self.height()

    def _place_body(self, plan_: Plan, side: int, view: int) -> None:
        y = self._place_sentences(plan_, side)
        below = self.bottom_height(plan_.width) + 2 * theme.S if self.answers_scroll else 0
        free = view - y - below
        self.card.fit(plan_)
        if self.card.needed_height() + 2 * _AROUND_AT_LEAST > free and not plan_.room.large:
            self.card.fit(plan_.without_consequences())
        needed = self.card.needed_height()
        tight = (free - needed) // 2
        around = min(plan_.frame.around, tight) if tight >= _AROUND_AT_LEAST else plan_.frame.around
        scrolls = needed + 2 * around > free
        policy = Qt.ScrollBarPolicy
        self.area.setVerticalScrollBarPolicy(policy.ScrollBarAlwaysOn if scrolls else policy.ScrollBarAlwaysOff)
        between = max(free - 2 * around, needed)
        high = min(between, max(needed, self.card.wanted_height()))
        above = around + (0 if plan_.room.large else (between - high) // 2)
        self.body.resize(self.area.viewport().width(), max(view, y + between + 2 * around + below))
        self.card.setGeometry(side, y + above, plan_.width, high)
        self.card.place()
        if self.answers_scroll:
            self.bottom().setGeometry(side, y + above + high + theme.S, plan_.width, self.bottom_height(plan_.width))

    def _place_sentences(self, plan_: Plan, side: int) -> int:
        """Place headline, note and, with a large font, the strip; return where the ledger's part begins."""
        width, y = plan_.width, plan_.frame.headline
        self.headline.setGeometry(side, y, width, self.headline.heightForWidth(width))
        y += self.headline.height()
        self.note.setVisible(bool(self.note.text()))
        if self.note.text():
            self.note.setGeometry(side, y, width, self.note.heightForWidth(width))
            y += self.note.height()
        if plan_.room.large:
            self.strip.setGeometry(side, y + theme.S, width, self.strip.heightForWidth(width))
            y += theme.S + self.strip.height()
        return y

    def minimumSizeHint(self) -> QSize:
        """Return the least size in which every word is whole; the ledger scrolls where it is higher than its place."""
        width = max(self.bar.minimum_width(), self.answers.minimum_width(), self.headline.minimumSizeHint().width())
        size, content = frame(self.room), max(width, theme.content_width(self.width()))
        fixed = size.top + self.bar.needed_height(content) + size.headline + size.bottom
        if not self.answers_scroll:
            fixed += self.bottom_height(content) + size.strip_gap
        if not self.room.large:
            fixed += self.strip.heightForWidth(content)
        return QSize(width + 2 * theme.MARGIN, fixed + em(100))

    def turn(self, pages: int) -> None:
        """Scroll the middle part by whole pages, where it scrolls."""
        bar = self.area.verticalScrollBar()
        bar.setValue(bar.value() + pages * bar.pageStep())

    def paintEvent(self, event: QPaintEvent) -> None:
        """With a large font lines mark what stays while the middle scrolls."""
        if self.room.large and not self.answers_scroll and not self.area.isHidden():
            colours, area = theme.tokens(self), self.area.geometry()
            with QPainter(self) as painter:
                painter.fillRect(0, area.y() - 1, self.width(), 1, colours.line)
                painter.fillRect(0, area.bottom() + 1, self.width(), 1, colours.line2)


def _put_on(widget: QWidget, home: QWidget) -> None:
    """Move `widget` onto `home`; it stays hidden where it was."""
    if widget.parent() is not home:
        hidden = widget.isHidden()
        widget.setParent(home)
        widget.setVisible(not hidden)
