"""The base of the question and practice pages: headline, comparison, strip and answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from PySide6.QtCore import QElapsedTimer, QSize, Qt, QTimer
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter, QPaintEvent, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QWidget

from elicit_app.elicitation.questions import Counts, Family, Moved, Proposal
from elicit_app.gui import theme
from elicit_app.gui.elements.page import Page, QuietArea, bind
from elicit_app.gui.elements.painting import Label, annotate
from elicit_app.gui.question.answers import ANSWER_KEYS, EQUAL_NOW, AnswerChoice, Answers, MoveAnswers, MoveState
from elicit_app.gui.question.bands import StripBand, TopBar
from elicit_app.gui.question.comparison_card import ComparisonCard
from elicit_app.gui.question.layout import Plan, frame, plan, sizes
from elicit_app.gui.question.row import side_width
from elicit_app.gui.theme import Breakpoint, em
from elicit_app.session.pair_words import PairComparison, letter_of, opposite
from elicit_app.session.sentences import Balance, balance_of, bound_words, move_name, moved_comparison
from elicit_app.session.views import Reply
from elicit_app.study.model import Study, Wording
from metrics.elicited.family import linear_family

MOVE_LOCK_MS, SPEAK_MS = 350, 500
"""Time for which "Equally bad now" is initially disabled, and delay before a moved number is spoken."""

_LOWEST_WIDE = 700  # height at the base font
_HIGHEST = 900  # height of the page at the base font; in a higher window it stays together
_ANSWERS_AT_MOST = 0.4  # largest share of the height for fixed answers; if they need more, they scroll with the rest
_AROUND_AT_LEAST = 2  # least free pixels above and below the comparison


class Pair(NamedTuple):
    """The matrices of a pair, with the wording and the family; rows are true classes."""

    left: Counts
    right: Counts
    wording: Wording
    population: int
    family: Family


class PairPage(Page):
    """A pair of results: headline at the top, sentence and answers at the bottom, and the comparison in between.

    `place` places everything whenever size, font or values change. In `practice` the meaning of a square replaces the
    folded line.
    """

    def __init__(self, bar: TopBar, *, practice: bool = False) -> None:
        super().__init__()
        self.bar = bar
        bar.setParent(self)
        self.body = QWidget()
        self.area = QuietArea(self.body, self)
        centre = Qt.AlignmentFlag.AlignHCenter
        self.headline = Label(role=theme.Role.HEADLINE, align=centre, parent=self.body)
        self.note = Label(role=theme.Role.CAPTION, ink=theme.INK2, align=centre, parent=self.body)
        self.card = ComparisonCard(self.body, practice=practice)
        self.strip = StripBand(self)
        self.answers, self.move_answers = Answers(self), MoveAnswers(self)
        self.move_answers.hide()
        self._view: PairComparison | None = None
        self._pair: Pair | None = None
        self._name = ""
        self._proposal: Proposal | None = None
        self._moving: MoveState | None = None
        self._balance = self._widest = Balance(("A", "B"), ("", ""), None)
        self._touched = False
        self._since_moving = QElapsedTimer()
        self._spoken = QTimer(self, singleShot=True, interval=SPEAK_MS)
        self._spoken.timeout.connect(self._speak)
        self._unlock = QTimer(self, singleShot=True, interval=MOVE_LOCK_MS + 5)
        # A coarse timer may fire some milliseconds early, and then nothing would enable the answer.
        self._unlock.setTimerType(Qt.TimerType.PreciseTimer)
        self._unlock.timeout.connect(self._allow_equal)
        self._connect_move()
        bind(self, lambda: self.scroll_pages(-1), "PgUp")
        bind(self, lambda: self.scroll_pages(1), "PgDown")
        self._words: tuple[str, ...] = ()
        self._page_title = ""

    def order_focus(self, *last: QWidget) -> None:
        """Make Tab visit the comparison, the number, the answers of both modes, and then `last`."""
        answers = (*self.answers.buttons, *self.move_answers.buttons)
        for before, after in pairwise((self.card, self.card.fold.toggle, self.card.field, *answers, *last)):
            self.setTabOrder(before, after)

    def set_numbers_only(self, numbers_only: bool) -> None:
        self.card.set_numbers_only(numbers_only)
        self.place()

    def set_page_title(self, name: str) -> None:
        """Set the page's part of the window title: "Question 7"."""
        self._page_title = name
        self._update_title()

    def _update_title(self) -> None:
        self.setWindowTitle(f"{self._page_title}, make both equally bad" if self.moving else self._page_title)

    @property
    def room(self) -> Breakpoint:
        """Return the breakpoint of the page; a window too low for the wide page has the distances of a narrow one."""
        room = theme.breakpoint_for(self.size())
        return room._replace(compact=room.compact or self.height() < em(_LOWEST_WIDE))

    def take_words(self, study: Study) -> None:
        """Take the words of a study; the longest one decides the width of the middle column."""
        wording = study.wording
        real = f"Scaled from {wording.counted(study.n_cases)}" if study.n_cases and not wording.priced else ""
        annotate(self.headline, tooltip=real, more=real)
        names = [mistake.name for mistake in (*wording.mistakes.values(), *wording.any_mistake)]
        self._words = tuple(
            {word for name in (*names, *wording.class_one, *wording.class_many) for word in name.split()}
        )

    def show_pair(
        self, view: PairComparison, pair: Pair, name: str, proposal: Proposal | None = None, *, at_once: bool = False
    ) -> None:
        """Show a pair, in words and with its matrices; `name` is the accessible name of the comparison.

        `proposal` is the count that may be moved until both results are equally bad (its first side is the left one);
        with `at_once` the move starts immediately.
        """
        self._view, self._pair, self._name, self._proposal = view, pair, name, proposal
        self._moving = None
        if proposal is not None:
            far = proposal.at(proposal.most, pair.left, pair.right)
            self._widest = balance_of(moved_comparison(*far, pair.wording, pair.population, pair.family, view).rows)
        self.answers.offer_equalise(proposal is not None)
        self._set_mode(moving=False)
        self._show(view, pair.left, pair.right)
        self.record_counts(view, pair, proposal)
        self.card.offer(proposal)
        self.place()
        self.area.verticalScrollBar().setValue(0)
        if at_once:
            self.begin_move()

    def _show(self, view: PairComparison, left: Counts, right: Counts) -> None:
        assert self._pair is not None
        self.headline.setText(view.headline)
        self.card.show_pair(view, left, right, self._pair.wording, self._name)
        self.place()

    # making both results equally bad

    def _connect_move(self) -> None:
        self.answers.equalise_requested.connect(self.begin_move)
        self.card.field.moved.connect(self._move_to)
        self.card.field.confirmed.connect(self._take_equal)
        self.move_answers.back.clicked.connect(self.end_move)
        self.move_answers.equal.clicked.connect(self._take_equal)
        self.move_answers.bound.clicked.connect(self._take_bound)
        self.move_answers.unsure.clicked.connect(self._take_unsure)
        self._choice_keys: list[QShortcut] = []
        bind(self, self.begin_move, "E")
        self._move_keys = [
            *bind(self, self.end_move, "Esc"),
            *bind(self, self._take_bound, "N"),
            *bind(self, self._take_unsure, "S"),
        ]
        for key in self._move_keys:
            key.setEnabled(False)

    def answer_with(self, answer: Callable[[AnswerChoice], object]) -> None:
        self.answers.given.connect(answer)
        for key, choice in ANSWER_KEYS.items():
            self._choice_keys += bind(self, partial(answer, choice), key)

    def give_moved(self, reply: Reply, moved: Moved | None) -> None:
        raise NotImplementedError

    @property
    def moving(self) -> bool:
        return self._moving is not None

    @property
    def ratio(self) -> str | None:
        """Return the ratio in words that the current number implies for one of the rarer mistakes."""
        return self._balance.ratio

    @property
    def answerable(self) -> bool:
        return True

    def begin_move(self) -> None:
        """Switch from the choice to making both results equally bad, if there is a number to move."""
        pair, proposal, view = self._pair, self._proposal, self._view
        if pair is None or proposal is None or view is None or self.moving or not self.answerable:
            return
        if self.card.is_full:
            self.card.show_full(False)
        self._touched = False
        self._set_mode(moving=True)
        self._since_moving.start()
        self._unlock.start()
        self._set_moving(MoveState(proposal, proposal.start, self._others(pair, proposal)))
        self._update_title()
        self._speak()
        self.card.field.begin()
        self._show_moved_row()

    def _show_moved_row(self) -> None:
        """Scroll to the number that is moved, with its words if there is room."""
        if self._moving is not None and self.room.large:
            self.area.ensureWidgetVisible(self.card.rows[self.card.moving_row(self._moving)], 0, 0)
            self.area.ensureWidgetVisible(self.card.field, 0, em(60))

    def record_counts(self, view: PairComparison, pair: Pair, proposal: Proposal | None) -> None:
        """Extend the scale to the counts of a pair and to the far end of the movable count."""
        self.card.record_counts(view, proposal, self._others(pair, proposal))

    def _others(self, pair: Pair, proposal: Proposal | None) -> int:
        """Return the cases of other mistakes in the row of the proposal, which any-wrong-answer rows have."""
        if proposal is None or linear_family(pair.family).distinguishes_errors:
            return 0
        cells = (pair.left if proposal.side == "first" else pair.right)[proposal.true]
        return int(cells.sum() - cells[proposal.true] - cells[proposal.predicted])

    def end_move(self) -> None:
        if not self.moving or self._view is None or self._pair is None:
            return
        self._moving = None
        self._set_mode(moving=False)
        self._show(self._view, self._pair.left, self._pair.right)
        self.card.take_focus()

    def _set_mode(self, *, moving: bool) -> None:
        for key in self._choice_keys:
            key.setEnabled(not moving)
        for key in self._move_keys:
            key.setEnabled(moving)
        self.card.fold.toggle.setEnabled(not moving)
        if not moving:
            self.card.set_moving(None)
        self.answers.setVisible(not moving)
        self.move_answers.setVisible(moving)
        self._update_title()

    def _move_to(self, shown: int | None) -> None:
        """Move the number; None means that the typed number is off the scale."""
        if self._moving is None:
            return
        self._touched = True
        self._set_moving(replace(self._moving, beyond=True) if shown is None else self._moving.at(shown))
        self._spoken.start()

    def _set_moving(self, moving: MoveState) -> None:
        pair, view = self._pair, self._view
        if pair is None or view is None:
            return
        self._moving = moving
        left, right = moving.proposal.at(moving.count, pair.left, pair.right)
        words = moved_comparison(left, right, pair.wording, pair.population, pair.family, view)
        at_least = moving.count == moving.proposal.least
        self.move_answers.set_bound_text(bound_words(moving.least, moving.most, at_least=at_least))
        self._balance = balance_of(words.rows)
        self.card.set_moving(moving)
        self._allow_equal()
        self._show(words, left, right)

    def _allow_equal(self) -> None:
        waited = self._since_moving.isValid() and self._since_moving.hasExpired(MOVE_LOCK_MS - 1)
        equal, on_scale = self.move_answers.equal, self.card.field.valid
        equal.setEnabled(self._touched and waited and on_scale)
        moving = self._moving
        equal.setText(EQUAL_NOW if moving is None or on_scale else f"Only {moving.least:,} to {moving.most:,}")

    def _speak(self) -> None:
        """Announce the number to a screen reader, with the sentence of the strip."""
        if self._moving is None:
            return
        moving = self._moving
        row = self.card.row_view(moving)
        name = move_name(row, letter_of(moving.side), moving.shown, moving.least, moving.most)
        more = self.move_answers.equal.text() if moving.beyond else self._balance.sentence
        for widget in (self.card.field, self.card.slider):
            annotate(widget, name=name, more=more)

    def _moved(self, count: int) -> Moved | None:
        if self._moving is None:
            return None
        proposal = self._moving.proposal
        return Moved(proposal.side, proposal.true, proposal.predicted, count, proposal.start)

    def _take_equal(self) -> None:
        self._allow_equal()
        if self._moving is not None and self.move_answers.equal.isEnabled() and self.answerable:
            self.give_moved("equal", self._moved(self._moving.count))

    def _take_bound(self) -> None:
        """Answer that no number on the scale makes the results equal: even at its end one side remains better."""
        moving = self._moving
        if moving is None or not self.answerable or not self._since_moving.hasExpired(MOVE_LOCK_MS - 1):
            return
        if moving.count == moving.proposal.least:
            self.give_moved(opposite(moving.side), self._moved(moving.proposal.least))
        else:
            self.give_moved(moving.side, self._moved(moving.proposal.most))

    def _take_unsure(self) -> None:
        if self.moving and self.answerable:
            self.give_moved("unsure", None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the number even if its field does not have the focus."""
        if self._moving is None or not self.card.field.handle_key(event):
            super().keyPressEvent(event)

    def bottom(self) -> QWidget:
        """Return the widget at the bottom: the answers, or their replacement while a number is moved."""
        return self.move_answers if self.moving else self.answers

    def bottom_height(self, width: int) -> int:
        """Return the height of the bottom widget: equal in both modes, so that nothing moves."""
        if self._proposal is None:
            return self.answers.needed_height()
        return max(self.answers.needed_height(), self.move_answers.needed_height())

    # arranging

    def arrange(self, breakpoint_: Breakpoint) -> None:
        small = breakpoint_.narrow
        self.headline.set_role(theme.Role.TITLE if breakpoint_.large else theme.Role.HEADLINE, compact=small)
        self.bar.arrange(breakpoint_)
        self.place()

    def showEvent(self, event: QShowEvent) -> None:
        """Focus the comparison if nothing on the page has the focus, so that the keys work at once."""
        super().showEvent(event)
        inside = self.focusWidget()
        if inside is None or not inside.isVisibleTo(self):
            self.card.take_focus()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.place()
        self._show_moved_row()

    def plan(self) -> Plan:
        """Return places and sizes for the current size of the page and number of rows."""
        rows = len(self._view.rows) if self._view is not None else 1
        size = sizes(self.room, rows)
        metrics = QFontMetricsF(theme.font(size.title, compact=size.compact))
        longest = max((metrics.horizontalAdvance(word) for word in self._words), default=0.0)
        side = side_width(self.card.largest, size)
        width = theme.content_width(self.width())
        return plan(width, self.room, rows, longest_word=longest, least_side=side)

    def place(self) -> None:
        if not self._settled:
            return
        plan_, side = self.plan(), self.side_margin
        if self._view is not None:
            moving = self._moving
            sentence = self._view.strip if moving is None else self._balance
            self.strip.show_strip(sentence, plan_.room, blank=moving is not None and moving.beyond)
        self.answers.arrange(plan_)
        self.move_answers.arrange(plan_)
        top = self._place_top(plan_, side)
        for spare in (self._spare, 0):  # a comparison that would scroll takes all of the height
            bottom = self._place_bottom(plan_, side, self.height() - spare)
            self.area.setGeometry(0, top + spare, self.width(), max(0, bottom - top - spare))
            scrolls = self._place_body(plan_, side, bottom - top - spare)
            if not (scrolls and spare):
                break
        self.update()

    @property
    def _spare(self) -> int:
        """Return the height left empty above and below in a high window, where the page would fall apart."""
        return 0 if self.room.large else max(0, self.height() - em(_HIGHEST)) // 2

    def _place_top(self, plan_: Plan, side: int) -> int:
        """Place the top bar and the band under it; return the top of the body."""
        high = self.bar.needed_height(plan_.width)
        self.bar.setGeometry(side, plan_.frame.top, plan_.width, high)
        top = plan_.frame.top + high
        if self.notice is not None and not self.notice.isHidden():
            tall = self.notice.heightForWidth(plan_.width)
            self.notice.setGeometry(side, top + theme.S, plan_.width, tall)
            top += theme.S + tall
        return top

    def _place_bottom(self, plan_: Plan, side: int, end: int) -> int:
        """Place the strip and the answers above `end`, unless they scroll; return the bottom of the body."""
        high = self.bottom_height(plan_.width)
        _put_on(self.bottom(), self.body if self.answers_scroll else self)
        _put_on(self.strip, self.body if plan_.room.large else self)
        if not self.answers_scroll:
            end -= plan_.frame.bottom + high
            self.bottom().setGeometry(side, end, plan_.width, high)
            end -= theme.S + 1 if plan_.room.large else plan_.frame.strip_gap
        if not plan_.room.large:
            tall = self._strip_height(plan_.width)
            end -= tall
            self.strip.setGeometry(side, end, plan_.width, tall)
        return end

    def _strip_height(self, width: int) -> int:
        """Return the height of the strip: enough for the sentences of both modes, so that nothing moves."""
        heights = [self.strip.heightForWidth(width)]
        if self._proposal is not None and self._view is not None:
            heights += [self.strip.height_of(one, width, self.room) for one in (self._view.strip, self._widest)]
        return max(heights)

    @property
    def answers_scroll(self) -> bool:
        """Return whether the answers are so high that they scroll with the rest."""
        high = self.bottom_height(theme.content_width(self.width()))
        return self.room.large and high > _ANSWERS_AT_MOST * self.height()

    def _place_body(self, plan_: Plan, side: int, view: int) -> bool:
        """Place headline and comparison; return whether they scroll, because they are higher than `view`."""
        y = self._place_sentences(plan_, side)
        below = self.bottom_height(plan_.width) + 2 * theme.S if self.answers_scroll else 0
        free = view - y - below
        self.card.fit(plan_)
        for tighter in (plan_.tightened(most_lines=2), plan_.tightened(most_lines=1)):
            if plan_.room.large or self.card.needed_height() + 2 * _AROUND_AT_LEAST <= free:
                break
            self.card.fit(tighter)
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
        return scrolls

    def _place_sentences(self, plan_: Plan, side: int) -> int:
        """Place the headline, the note and, with a large font, the strip; return the top of the comparison's part."""
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
        """Return the least size in which no word is cut; the card scrolls if it is higher than its place."""
        width = max(self.bar.minimum_width(), self.answers.minimum_width(), self.headline.minimumSizeHint().width())
        size, content = frame(self.room), max(width, theme.content_width(self.width()))
        fixed = size.top + self.bar.needed_height(content) + size.headline + size.bottom
        if not self.answers_scroll:
            fixed += self.bottom_height(content) + size.strip_gap
        if not self.room.large:
            fixed += self.strip.heightForWidth(content)
        return QSize(width + 2 * theme.MARGIN, fixed + em(100))

    def scroll_pages(self, pages: int) -> None:
        bar = self.area.verticalScrollBar()
        bar.setValue(bar.value() + pages * bar.pageStep())

    def paintEvent(self, event: QPaintEvent) -> None:
        """With a large font, draw lines at the edges of the scrolling part."""
        if self.room.large and not self.answers_scroll and not self.area.isHidden():
            colours, area = theme.tokens(self), self.area.geometry()
            with QPainter(self) as painter:
                painter.fillRect(0, area.y() - 1, self.width(), 1, colours.line)
                painter.fillRect(0, area.bottom() + 1, self.width(), 1, colours.line2)


def _put_on(widget: QWidget, home: QWidget) -> None:
    """Move `widget` onto `home`, and keep it hidden if it was hidden."""
    if widget.parent() is not home:
        hidden = widget.isHidden()
        widget.setParent(home)
        widget.setVisible(not hidden)
