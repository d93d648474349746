"""The start page: the session to resume, a new study, examples and recent studies."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent, QFontMetricsF, QPainter
from PySide6.QtWidgets import QPushButton, QSizePolicy

from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import Button, LinkButton, PrimaryButton
from elicit_app.gui.elements.page import ScrolledPage, bind_enter, dropped_files
from elicit_app.gui.elements.painting import (
    Arranged,
    Glyph,
    Label,
    Painted,
    annotate,
    box,
    elided,
    focus_ring,
    paint_glyph,
    write,
)
from elicit_app.gui.elements.surfaces import Block, Card, Divider, Notice, ProgressBar, Surface, fill, in_column, in_row
from elicit_app.gui.theme import RIGHT


@dataclass(frozen=True)
class ContinueView:
    """A session that can be resumed."""

    title: str  # "Skin lesions · dermatology"
    line: str  # "6 answers kept · about 5 to 8 more questions · last answer yesterday, 17:42"
    share: float  # the share done, in [0, 1]
    ref: str


class ContinueCard(Arranged, Card):
    """A card to resume a session. Emits `open_requested` with the session file."""

    open_requested = Signal(object)

    def __init__(self) -> None:
        super().__init__(Surface.IMPORTANT)
        self._ref = ""
        hint = Label("Continue where you stopped", theme.Role.LABEL, theme.INK2)
        self._title, self._line = Label(role=theme.Role.TITLE), Label(ink=theme.INK2)
        self._bar = ProgressBar()
        words = in_column(hint, self._title, self._line, spacing=4)
        words.addSpacing(theme.S)
        words.addWidget(self._bar)
        self.button = PrimaryButton("Continue", lambda: self.open_requested.emit(self._ref), keys=("Enter",))
        self._across = in_row((words, 1), self.button, on=self, spacing=theme.L, stacks="large")

    def show_view(self, view: ContinueView) -> None:
        self._ref = view.ref
        self._title.setText(view.title)
        self._line.setText(view.line)
        self._bar.set_share(view.share, f"About {round(100 * view.share)} % done")

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        sides, ends = (20, 8) if breakpoint_.compact else (24, 20)
        self._across.setContentsMargins(sides, ends, sides, ends)


class DropCard(Arranged, Card):
    """A new study from predictions files. Emits `choose_requested`; the page handles dropped files."""

    choose_requested = Signal()

    def __init__(self) -> None:
        super().__init__(Surface.DROP)
        self._line = Label(ink=theme.INK2)
        words = in_column(Label("New study from a predictions file", theme.Role.SECTION), self._line, spacing=2)
        self._or = Label("or drop it here", theme.Role.NOTE, theme.INK3, wrap=False)
        self.outline, self.primary = Button("Choose file…"), PrimaryButton("Choose file…")
        beside = ((widget, 0, Qt.AlignmentFlag.AlignVCenter) for widget in (self._or, self.outline, self.primary))
        self._across = in_row((words, 1), *beside, on=self, spacing=theme.M, stacks="large")
        for button in (self.outline, self.primary):
            button.clicked.connect(self.choose_requested)

    def set_first(self, first: bool) -> None:
        """Make this the primary action if there is no session to resume."""
        self.primary.setVisible(first)
        self.outline.setVisible(not first)

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        narrow = breakpoint_.compact
        self._line.setText(
            "CSV, Parquet or NPZ; or a study sent to you."
            if narrow
            else "True labels and class probabilities of models: CSV, Parquet or NPZ. Or a study that was sent to you."
        )
        self._or.setVisible(not narrow)
        sides, ends = (20, 6) if narrow else (24, 16)
        self._across.setContentsMargins(sides, ends, sides, ends)


_PAD = 16
_ROLES = (theme.Role.STRONG, theme.Role.NOTE)  # of the two lines of a row


@dataclass(frozen=True)
class RowView:
    """One row: its texts, and what it opens."""

    # the name, and a line under it
    title: str
    line: str
    side_text: str  # text on the right: "about 15 min", "18 Nov"
    ref: str  # the study's name or path to open
    compares: bool = False  # whether `ref` is a session whose expert is compared with the others


class RowButton(Painted, QPushButton):
    """One row; its accessible name includes all its texts."""

    def __init__(self, view: RowView) -> None:
        super().__init__(view.title)
        self.view, self._compact = view, False
        annotate(
            self,
            name=", ".join(part for part in (view.title, view.line, view.side_text) if part),
            tooltip=f"{view.title}\n{view.line}",
        )
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAutoDefault(False)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def set_compact(self, compact: bool) -> None:
        self._compact = compact
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        height = max(theme.em(42 if self._compact else 58), math.ceil(sum(self._heights())) + 2)
        return QSize(theme.em(260), height)

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.em(120), self.sizeHint().height())

    def paint(self, painter: QPainter, colours: theme.Tokens) -> None:
        room = QRectF(self.rect())
        if self.isDown() or self.underMouse():
            fill = colours.sunken if self.isDown() else colours.hover
            box(painter, room.adjusted(4, 2, -4, -2), theme.BUTTON_RADIUS, fill=fill)
        if self.hasFocus():
            focus_ring(painter, room.adjusted(2, 0, -2, 0), theme.BUTTON_RADIUS, colours.ink)
        self._paint_words(painter, room.adjusted(_PAD, 0, -_PAD, 0), colours)

    def _paint_words(self, painter: QPainter, room: QRectF, colours: theme.Tokens) -> None:
        sign = theme.em(14)
        chevron = QRectF(room.right() - sign, room.center().y() - sign / 2, sign, sign)
        paint_glyph(painter, Glyph.CLOSED, chevron, colours.ink)
        width = chevron.left() - theme.S - room.left()
        top = room.center().y() - sum(self._heights()) / 2
        lines = zip((self.view.title, self.view.line), (colours.ink, colours.ink2), self._heights(), strict=True)
        for at, (text, ink, height) in enumerate(lines):
            own = self.text_width(at, width)
            face = theme.font(_ROLES[at])
            cut = Qt.TextElideMode.ElideRight if at else Qt.TextElideMode.ElideMiddle
            shown = elided(text, QFontMetricsF(face), own, cut)
            write(painter, QRectF(room.left(), top, own, height), shown, face, ink)
            if own < width:
                beside = QRectF(room.left() + own, top, width - own, height)
                write(painter, beside, self.view.side_text, theme.font(theme.Role.NOTE), colours.ink2, RIGHT)
            top += height

    def text_width(self, line: int, width: float) -> float:
        """Return the part of `width` available to a line's text; the aside is on the line with more room to spare.

        If it fits on both, it is on the first.
        """
        texts = self.view.title, self.view.line
        spare = [width - _advance(text, role) for text, role in zip(texts, _ROLES, strict=True)]
        side_text = _advance(self.view.side_text, theme.Role.NOTE) + theme.M
        beside = 0 if spare[0] >= min(side_text, spare[1]) else 1
        return width - side_text if line == beside and self.view.side_text else width

    def _heights(self) -> list[float]:
        """Return the heights of both lines, at least those of their fonts with descenders."""
        least = 0 if self._compact else theme.em(23)
        return [max(least, QFontMetricsF(theme.font(role)).height()) for role in _ROLES]


def _advance(text: str, role: theme.Role) -> float:
    return QFontMetricsF(theme.font(role)).horizontalAdvance(text)


class RowCard(Arranged, Card):
    """A card of rows, or a sentence if there are none."""

    def __init__(self, open_row: Callable[[RowView], None]) -> None:
        super().__init__()
        self._open, self.rows, self._compact = open_row, list[RowButton](), False
        self._inside = Block()
        self._column = in_column(self._inside, on=self, margins=(0, 4, 0, 4), spacing=0)

    def show_rows(self, rows: Sequence[RowView], nothing: tuple[str, str] = ("", "")) -> None:
        """Show `rows`; if there are none, show a title and a sentence."""
        column = in_column(on=self._inside.renew(), spacing=0)
        self.rows = [RowButton(row) for row in rows]
        for index, button in enumerate(self.rows):
            if index:
                column.addLayout(in_column(Divider(), margins=(8, 0, 8, 0)))
            button.set_compact(self._compact)
            button.clicked.connect(lambda _=False, view=button.view: self._open(view))
            column.addWidget(button)
        if not rows:
            column.setContentsMargins(_PAD, 10, _PAD, 10)
            fill(column, Label(nothing[0], theme.Role.STRONG), Label(nothing[1], theme.Role.NOTE, theme.INK2))

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        self._compact = breakpoint_.compact
        for row in self.rows:
            row.set_compact(self._compact)


FEW = 4
_NOTHING = ("Nothing here yet", "Sessions that you begin are kept here, answer by answer. There is nothing to save.")


@dataclass(frozen=True)
class StartView:
    """The content of the start page."""

    current: ContinueView | None  # the session to resume
    # bundled studies; recent sessions and studies, newest first
    examples: tuple[RowView, ...]
    recent: tuple[RowView, ...]


class StartPage(ScrolledPage):
    """Shows a `StartView`.

    Emits `open_requested` with the reference of a study or session, `compare_requested` with one of the sessions to
    compare, and `files_dropped` with paths.
    """

    notice: Notice
    open_requested = Signal(object)
    compare_requested = Signal(object)
    files_dropped = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setAcceptDrops(True)
        self._recent_views: tuple[RowView, ...] = ()
        self._title, self._line = Label("Which mistakes matter more?", theme.Role.START), Label(ink=theme.INK2)
        self._line.setText(
            "Compare about 20 pairs of results. Your answers become a score that judges models as you would."
        )
        self.notice, self.current, self.drop = Notice(), ContinueCard(), DropCard()
        self.examples, self.recent = RowCard(self._open), RowCard(self._open)
        self.folder = LinkButton("Open a study folder…")
        self.all_recent = LinkButton("Show all", self._show_all)
        self.help, self.settings = LinkButton("Help"), LinkButton("Settings")
        self.laboratory = LinkButton("For researchers")
        self._lists = in_row(spacing=theme.L, stacks="large")
        self._heads: list[Label] = []
        self._build()
        # The sessions are read in the background; until then, hide the empty cards.
        for card in (self.current, self.examples, self.recent, self.all_recent):
            card.hide()
        self.drop.set_first(False)
        bind_enter(self, self._resume_current)
        self.settle()

    def show_view(self, view: StartView) -> None:
        self.current.setVisible(view.current is not None)
        if view.current is not None:
            self.current.show_view(view.current)
        self.drop.set_first(view.current is None)
        self.examples.show_rows(view.examples)
        for card in (self.examples, self.recent):
            card.show()
        self._recent_views = view.recent
        self.recent.show_rows(view.recent[:FEW], _NOTHING)
        self.all_recent.setVisible(len(view.recent) > FEW)

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        super().arrange(breakpoint_)
        self.body.setSpacing(theme.S if breakpoint_.compact else theme.M)
        for head in self._heads:
            # As high as the link beside one of them, so that the cards start at the same height.
            head.setMinimumHeight(self.folder.heightForWidth(1000))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if dropped_files(event):
            self.drop.set_surface(Surface.IMPORTANT)
            event.acceptProposedAction()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self.drop.set_surface(Surface.DROP)

    def dropEvent(self, event: QDropEvent) -> None:
        self.drop.set_surface(Surface.DROP)
        event.acceptProposedAction()
        self.files_dropped.emit(dropped_files(event))

    def _build(self) -> None:
        fill(self.head, in_column(self._title, self._line, spacing=4), self.notice)
        fill(self.body, self.current, self.drop)
        for title, link, card in (("Try it on an example", None, self.examples), ("Recent", self.folder, self.recent)):
            label = Label(title, theme.Role.SECTION)
            self._heads.append(label)
            head = in_row((label, 1))
            if link is not None:
                head.addWidget(link)
            column = in_column(head, card, spacing=6)
            if card is self.recent:
                column.addWidget(self.all_recent, 0, Qt.AlignmentFlag.AlignRight)
            column.addStretch(1)
            self._lists.addLayout(column, 1)
        fill(self.body, self._lists, 1)
        self.foot.addLayout(
            in_row(
                (Label("Everything stays on this computer.", theme.Role.NOTE, theme.INK2), 1),
                self.laboratory,
                self.help,
                self.settings,
                spacing=theme.M,
            )
        )

    def _open(self, row: RowView) -> None:
        (self.compare_requested if row.compares else self.open_requested).emit(row.ref)

    def _resume_current(self) -> None:
        if not self.current.isHidden():
            self.current.button.click()

    def _show_all(self) -> None:
        self.recent.show_rows(self._recent_views)
        self.all_recent.hide()
