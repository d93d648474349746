"""The page of piles: a card on top and the piles below it, mild on the left and grave on the right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPaintEvent
from PySide6.QtWidgets import QApplication, QButtonGroup, QGridLayout, QGroupBox, QSizePolicy

from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import Button, LinkButton, Look, MinorButton, PrimaryButton
from elicit_app.gui.elements.page import CTRL_ENTER, HeadedPage, bind, bind_enter
from elicit_app.gui.elements.painting import Label, annotate
from elicit_app.gui.elements.surfaces import Divider, ProgressBar, Surface, fill, in_column, in_row, paint_card
from elicit_app.gui.setup.begin_page import SessionRequest
from elicit_app.gui.setup.piles import PileColumn, drag_card
from elicit_app.session.piles import FEWEST, MOST, Piles


class _TopCard(QGroupBox):
    """The card to place, the number left, and the proposal. Emits `dragged`.

    A group, so that screen readers announce its name.
    """

    dragged = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.OpenHandCursor)
        middle = Qt.AlignmentFlag.AlignHCenter
        self._left, self._bar = Label(role=theme.Role.STRONG), ProgressBar()
        self._title = Label(role=theme.Role.TITLE, align=middle)
        self._detail = Label(role=theme.Role.FLOW, ink=theme.INK2, align=middle)
        self._follows = Label(role=theme.Role.BODY, ink=theme.INK2, align=middle)
        self._proposed = Label(ink=theme.INK2)
        self.later, self.accept = Button("Later", keys=("L",)), Button("Put it there", keys=("Enter",))
        self._asks = Label("Which pile?", theme.Role.NOTE, theme.INK2, align=Qt.AlignmentFlag.AlignRight)
        self._or = Label("a digit, or drag the card", theme.Role.CAPTION, theme.INK2, align=Qt.AlignmentFlag.AlignRight)
        self.across = QGridLayout()
        self._pressed: QPoint | None = None
        self._build()

    def _build(self) -> None:
        left, words, right = (in_column(spacing=4) for _ in range(3))
        for layout, widgets in (
            (left, (self._left, self._bar)),
            (words, (self._title, self._detail, self._follows)),
            (right, (self._asks, self._or)),
        ):
            fill(layout, *widgets, 1)
        for at, (layout, share) in enumerate(((left, 1), (words, 2), (right, 1))):
            self.across.addLayout(layout, 0, at)
            self.across.setColumnStretch(at, share)
        margins = (21, 8, 21, 9)  # in addition to a group's own margins
        in_column(self.across, Divider(), on=self, margins=margins, spacing=theme.S).addLayout(
            in_row((self._proposed, 1), self.later, self.accept, spacing=theme.S)
        )

    def show_left(self, piles: Piles) -> None:
        remaining = piles.remaining
        every, free = piles.mistakes_in(range(len(piles.cards))), piles.mistakes_in(remaining)
        self._left.setText(f"{free:,} of {every:,} are left" if free else f"All {every:,} are in a pile")
        self._bar.set_share(1 - free / every, f"{every - free:,} of {every:,} mistakes are in a pile")
        for widget in (self.later, self.accept, self._asks, self._or):
            widget.setVisible(bool(remaining))
        if not remaining:
            self._show_card("Every mistake is in a pile", "Go on, or move a card by its digit.", "")
            self._proposed.setText("")
            return
        card = piles.cards[remaining[0]]
        self._show_card(card.title, card.detail, card.consequence)
        pile = piles.proposals().get(remaining[0])
        alike = piles.alike(remaining[0])
        self.accept.setEnabled(pile is not None)
        if pile is None:
            self._proposed.setText("No proposal yet: cards that say the same will be proposed for the same pile.")
            return
        others = piles.mistakes_in(alike) - len(card.mistakes)
        more = f", with {others:,} more that say “{card.consequence}”" if others else ""
        self._proposed.setText(f"Proposed: pile {pile + 1}{more}")
        self.accept.setText(f"Put all {piles.mistakes_in(alike):,} there" if others else "Put it there")

    def _show_card(self, title: str, detail: str, follows: str) -> None:
        self._title.setText(title)
        self._detail.setText(detail)
        self._follows.show_text(follows)
        annotate(self, name=". ".join(part for part in (title, detail, follows) if part))

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_card(self, Surface.IMPORTANT)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed = event.position().toPoint()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pressed is None:
            return
        if (event.position().toPoint() - self._pressed).manhattanLength() >= QApplication.startDragDistance():
            self._pressed = None
            self.dragged.emit()


class _SizeButton(MinorButton):
    """A choice of the number of piles; the chosen one is outlined in ink."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.setCheckable(True)

    def look(self, colours: theme.Tokens) -> Look:
        look = super().look(colours)
        return look._replace(border=colours.ink, border_width=2.0, ink=colours.ink) if self.isChecked() else look


class PilesPage(HeadedPage):
    """Sorts mistakes into piles. Emits `finished` with the `SessionRequest` and its piles."""

    finished = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._request: SessionRequest | None = None
        self.piles = Piles(())
        self.skip = Button("Skip", lambda: self._finish(None))
        self.proceed = PrimaryButton("Go on", self._proceed, keys=("Ctrl+Enter",))
        self.top = _TopCard()
        self.columns = [PileColumn(number + 1) for number in range(MOST)]
        self.sizes = {n: _SizeButton(str(n)) for n in range(FEWEST, MOST + 1)}
        self.back = LinkButton("Back", self.back_requested)
        self.undo = Button("Undo", self._undo, keys=("Ctrl+Z",))
        self._build()
        self._connect()
        self.first_focus = self.top
        self.settle()

    def _build(self) -> None:
        self.header.add_actions(self.skip, self.proceed)
        self.body.addWidget(self.top)
        for column in self.columns:
            column.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._row = in_row(*((column, 1) for column in self.columns), stacks="large")
        self.body.addLayout(self._row, 1)
        row, group = in_row(spacing=theme.S), QButtonGroup(self)
        fill(row, self.back, Label("Piles", theme.Role.LABEL, wrap=False))
        for n, size in self.sizes.items():
            annotate(size, name=f"{n} piles")
            group.addButton(size)
            row.addWidget(size)
        text = "Dashed: only proposed. In a pile, arrow keys choose a card and a digit moves it. Names can be changed."
        row.addWidget(Label(text, theme.Role.NOTE, theme.INK2), 1)
        self.undo.tall = 34
        row.addWidget(self.undo)
        self.foot.addLayout(row)

    def _connect(self) -> None:
        self.top.later.clicked.connect(self._later)
        self.top.accept.clicked.connect(self._accept)
        self.top.dragged.connect(lambda: drag_card(self.top, self.piles.remaining[0]) if self.piles.remaining else None)
        for n, size in self.sizes.items():
            size.clicked.connect(lambda _=False, n=n: self._resize(n))
        for at, column in enumerate(self.columns):
            column.dropped.connect(lambda card, at=at: self._put([card], at))
            column.renamed.connect(lambda name, at=at: self._rename(at, name))
            column.chips.adjacent_requested.connect(lambda step, at=at: self._go_beside(at, step))
        bind(self, self._later, "L")
        bind(self, self._undo, "Ctrl+Z")
        bind_enter(self, self._accept)
        bind(self, self._proceed, *CTRL_ENTER)
        for n in range(MOST):
            bind(self, partial(self._digit, n), str(n + 1))

    def show_request(self, request: SessionRequest) -> None:
        """Ask about the mistakes of a study; earlier piles for the same study are kept."""
        before, self._request = self._request, request
        if before is None or before.study.digest != request.study.digest:
            self.piles = Piles.of(request.study, request.guesses)
        elif before.study.wording != request.study.wording or before.guesses != request.guesses:
            new = Piles.of(request.study, request.guesses)
            if [card.mistakes for card in new.cards] == [card.mistakes for card in self.piles.cards]:
                new = replace(self.piles, cards=new.cards, guessed=new.guessed)
            self.piles = new
        k = request.study.n_classes
        self.header.say(
            "Which mistakes are about equally bad?",
            f"{k} classes, {k * (k - 1):,} mistakes. Put similar ones into one pile; your answers can still tell "
            "them apart.",
        )
        self._show()

    def forget(self) -> None:
        """Keep no pile when a study is shown next, be it the same."""
        self._request = None

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        super().arrange(breakpoint_)
        self._row.setSpacing(theme.S if breakpoint_.compact else 12)

    def _show(self) -> None:
        piles = self.piles
        proposed = piles.proposals()
        for at, column in enumerate(self.columns):
            column.setVisible(at < len(piles.names))
            if at < len(piles.names):
                own = [(card, piles.cards[card], False) for card in piles.in_pile(at)]
                own += [(card, piles.cards[card], True) for card, pile in proposed.items() if pile == at]
                column.show_pile(piles.names[at], piles.mistakes_in(piles.in_pile(at)), own)
        self.top.show_left(piles)
        self.undo.setEnabled(piles.can_undo)
        self.sizes[len(piles.names)].setChecked(True)

    def _changed(self) -> None:
        self.notice.say("")
        self.proceed.setText("Go on")
        self._show()

    def _put(self, cards: Sequence[int], pile: int) -> None:
        if cards:
            self.piles.put(cards, pile)
            self._changed()

    def _digit(self, pile: int) -> None:
        """Move the card under the cursor in a pile, otherwise place the top card."""
        for column in self.columns:
            card = column.chips.current_card()
            if column.chips.hasFocus() and card is not None:
                self._put([card], pile)
                return
        self._put(self.piles.remaining[:1], pile)

    def _accept(self) -> None:
        if not self.piles.remaining:
            return
        card = self.piles.remaining[0]
        pile = self.piles.proposals().get(card)
        if pile is not None:
            self._put(self.piles.alike(card), pile)

    def _later(self) -> None:
        if self.piles.remaining:
            self.piles.later(self.piles.remaining[0])
            self._changed()

    def _undo(self) -> None:
        if self.piles.undo():
            self._changed()

    def _resize(self, n: int) -> None:
        self.piles.resize(n)
        self._changed()

    def _rename(self, pile: int, name: str) -> None:
        self.piles.names[pile] = name

    def _go_beside(self, at: int, step: int) -> None:
        beside = self.columns[max(0, min(len(self.columns) - 1, at + step))]
        if beside.isVisibleTo(self):
            beside.chips.setFocus(Qt.FocusReason.OtherFocusReason)

    def _use_proposals(self) -> None:
        self.piles.use_proposals()
        self._changed()
        self._proceed()

    def _proceed(self) -> None:
        piles = self.piles
        proposed = piles.mistakes_in(list(piles.proposals()))
        if proposed and not self.notice.isVisibleTo(self):
            remaining = piles.mistakes_in(piles.remaining)
            have = "all have" if proposed == remaining else f"{proposed:,} of them {'has' if proposed == 1 else 'have'}"
            said = f"{remaining:,} mistakes are in no pile; {have} a proposal."
            if remaining == 1:
                said = "1 mistake is in no pile; it has a proposal."
            use = "Use the proposal" if proposed == 1 else f"Use the proposals for {proposed:,}"
            self.notice.say(said, button=use, then=self._use_proposals)
            self.proceed.setText("Go on without")
            return
        self._finish(piles)

    def _finish(self, piles: Piles | None) -> None:
        if self._request is None:
            return
        stated = None if piles is None else piles.stated(self._request.study)
        setting = self._request.setting.model_copy(update={"piles": stated})
        self.finished.emit(self._request._replace(setting=setting))
