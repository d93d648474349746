"""Pages that say one thing: what is being read or cannot be, where one stopped, and that a sitting is over."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import Button, FlatButton, LinkButton, PrimaryButton
from elicit_app.gui.elements.page import HeadedPage, ScrolledPage, bind, go_on_by_enter
from elicit_app.gui.elements.painting import Glyph, GlyphSign
from elicit_app.gui.elements.surfaces import Block, Card, Divider, Notice, Surface, fill, in_column, in_row, turn
from elicit_app.gui.elements.texts import Label
from elicit_app.gui.pages.review import AnswersModel, AnswersTable, AnswerWords
from elicit_app.problem import Finding, Problem
from elicit_app.session.views import RecapView, SittingOverView
from metrics.text import counted

_PAD = 28


class RecapPage(ScrolledPage):
    """Shows a `RecapView`. Emits `go_on_requested` and `start_requested`."""

    notice: Notice
    go_on_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.notice = Notice()
        self.title = Label("Where you stopped", theme.Role.HEADLINE)
        self.line = Label(role=theme.Role.FLOW, ink=theme.INK2)
        self.last, self.stated = (Label(role=theme.Role.FLOW) for _ in range(2))
        self.following = Label(role=theme.Role.FLOW, ink=theme.INK2)
        self.go_on = PrimaryButton("Go on", self.go_on_requested, keys=("Enter",))
        card = Card(Surface.IMPORTANT)
        self._certain = _part("What you stated for certain", self.stated)
        self._row = in_row(self.go_on, (self.following, 1), spacing=theme.M)
        in_column(
            self.title,
            self.line,
            self._certain,
            _part("Your last answer", self.last),
            Divider(),
            self._row,
            on=card,
            margins=(_PAD, _PAD, _PAD, _PAD),
            spacing=theme.M,
        )
        self.back = self.link_to_start("Not now, back to the start")
        self.head.addWidget(self.notice)
        fill(self.body, 1, card, (self.back, 0, Qt.AlignmentFlag.AlignLeft), 2)
        self._connect()
        self.settle()

    def show_view(self, view: RecapView, title: str) -> None:
        """Show where a session stands; `title` names the study and the expert."""
        self.notice.say("")
        self.line.setText(f"{title} · {view.kept}")
        self.last.setText(view.last)
        self.stated.setText(view.stated)
        self._certain.setVisible(bool(view.stated))
        self.following.setText(view.following)

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        super().arrange(breakpoint_)
        for label in (self.title, self.line, self.stated, self.last, self.following):
            label.set_compact(breakpoint_.compact)
        turn(self._row, down=breakpoint_.large)

    def _connect(self) -> None:
        go_on_by_enter(self, self.go_on.click)


def _part(name: str, label: Label) -> QWidget:
    """Return a line, a name and what is said under it."""
    part = QWidget()
    in_column(
        Divider(),
        in_column(Label(name, theme.Role.NOTE, theme.INK2), label, spacing=theme.XS),
        on=part,
        spacing=theme.M,
    )
    return part


class SittingOverPage(ScrolledPage):
    """Shows a `SittingOverView`.

    Emits `stop_requested`, `more_requested`, `undo_requested`, `retry_requested` and `start_requested`.
    """

    notice: Notice
    stop_requested = Signal()
    more_requested = Signal()
    undo_requested = Signal()
    retry_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.notice = Notice()
        self.title, self.sentence = Label(role=theme.Role.HEADLINE), Label(role=theme.Role.FLOW, ink=theme.INK2)
        self.stop = PrimaryButton("Look back and finish", self.stop_requested, keys=("Enter",))
        self.more = Button("Answer more questions", self.more_requested)
        self.undo = FlatButton("Undo", self.undo_requested, keys=("Ctrl+Z",), glyph=Glyph.UNDO)
        card = Card(Surface.IMPORTANT)
        self._row = in_row(self.stop, self.more, 1, self.undo, spacing=12)
        in_column(
            (GlyphSign(Glyph.CHECK, 26), 0, Qt.AlignmentFlag.AlignLeft),
            self.title,
            self.sentence,
            self._row,
            on=card,
            margins=(theme.XL, theme.XL, theme.XL, theme.XL),
            spacing=theme.M,
        )
        self.back = self.link_to_start("Stop for now, back to the start")
        self.head.addWidget(self.notice)
        fill(self.body, 1, card, (self.back, 0, Qt.AlignmentFlag.AlignLeft), 2)
        go_on_by_enter(self, self.stop.click)
        self.notice.pressed.connect(self.retry_requested)
        bind(self, self.undo_requested, "Ctrl+Z")
        self.settle()

    def show_view(self, view: SittingOverView) -> None:
        """Show why the sitting is over."""
        self.title.setText("Enough for now" if view.reason == "budget" else "No more questions are needed")
        self.sentence.setText(view.sentence)
        self.more.setVisible(view.can_continue)
        self.notice.say(view.unsaved, button="Try again")

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        super().arrange(breakpoint_)
        self.title.set_compact(breakpoint_.compact)
        turn(self._row, down=breakpoint_.large)


class OpeningPage(ScrolledPage):
    """Says what is being read or prepared."""

    def __init__(self) -> None:
        super().__init__()
        self.title, self.sentence = Label(role=theme.Role.HEADLINE), Label(role=theme.Role.FLOW, ink=theme.INK2)
        self.back = self.link_to_start()
        fill(self.body, 1, self.title, self.sentence, (self.back, 0, Qt.AlignmentFlag.AlignLeft), 2)
        self.settle()

    def say(self, title: str, sentence: str) -> None:
        """Say what is being done."""
        self.title.setText(title)
        self.sentence.setText(sentence)

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        super().arrange(breakpoint_)
        self.title.set_compact(breakpoint_.compact)


_NUMBERS = {2: "Two", 3: "Three", 4: "Four", 5: "Five", 6: "Six"}


class ErrorDetails(NamedTuple):
    """What the page shows: a headline, what was read, findings, and the file to read again (None: nothing to read).

    `choose` tells whether another file would help; else the way on is back to the start.
    """

    title: str
    sentence: str
    findings: tuple[Finding, ...] = ()
    source: Path | None = None
    choose: bool = False

    @classmethod
    def of_file(cls, problem: Problem, source: Path) -> ErrorDetails:
        """Say that a file or a folder cannot be used yet."""
        title = "This study folder cannot be used yet" if source.is_dir() else "This file cannot be used yet"
        sentence = problem.sentence
        if problem.findings:
            count = len(problem.findings)
            things = "One thing has" if count == 1 else f"{_NUMBERS.get(count, str(count))} things have"
            sentence = f"{source.name} was read. {things} to be put right first."
        return cls(title, sentence, problem.findings, source, choose=True)

    @property
    def text(self) -> str:
        """Return everything as text, to be sent to whoever made the file."""
        lines = [self.title, self.sentence]
        for number, finding in enumerate(self.findings, start=1):
            lines.append(f"{number}. {finding.what}" + (f"\n   {finding.remedy}" if finding.remedy else ""))
        return "\n".join(lines)


class ErrorPage(ScrolledPage):
    """Emits `choose_requested`, `again_requested` with the path, `format_requested` and `start_requested`."""

    choose_requested = Signal()
    again_requested = Signal(object)
    format_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._error = ErrorDetails("", "")
        self._title, self._sentence = Label(role=theme.Role.HEADLINE), Label(ink=theme.INK2)
        self._sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._card = Card()
        self._rows = Block()
        self._findings = in_column(self._rows, on=self._card, margins=(24, 18, 24, 18), spacing=14)
        self.primary = PrimaryButton("Choose another file…", self._go_on)
        self.again = Button("Read it again", self._read_again, keys=("F5",))
        self.copy = FlatButton("Copy these findings", self._copy)
        self.format = LinkButton("What a predictions file looks like", self.format_requested)
        self.back = self.link_to_start()
        self._build()
        bind(self, self._read_again, "F5")
        self.settle()

    @property
    def source(self) -> Path | None:
        """Return the file or folder that cannot be used."""
        return self._error.source

    def show_error(self, error: ErrorDetails) -> None:
        """Show what is wrong."""
        self._error = error
        self._title.setText(error.title)
        self._sentence.setText(error.sentence)
        self._card.setVisible(bool(error.findings))
        self.again.setVisible(error.source is not None)
        self.format.setVisible(error.choose)
        self.copy.setText("Copy these findings" if error.findings else "Copy this sentence")
        self.primary.setText("Choose another file…" if error.choose else "Back to the start")
        self.back.setVisible(error.choose)
        _lay_findings(self._rows.renew(), error.findings)

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        super().arrange(breakpoint_)
        self._title.set_compact(breakpoint_.compact)

    def _build(self) -> None:
        fill(
            self.body,
            1,
            (GlyphSign(Glyph.WARNING, 30), 0, Qt.AlignmentFlag.AlignLeft),
            self._title,
            self._sentence,
            self._card,
            in_row(self.primary, self.again, 1, self.copy, spacing=12),
            in_row(self.format, 1, self.back),
            2,
        )

    def _go_on(self) -> None:
        (self.choose_requested if self._error.choose else self.start_requested).emit()

    def _read_again(self) -> None:
        if self._error.source is not None:
            self.again_requested.emit(self._error.source)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._error.text)
        self.copy.setText("Copied")


def _lay_findings(block: QWidget, findings: tuple[Finding, ...]) -> None:
    """Lay the numbered findings, each with its remedy."""
    column = in_column(on=block, spacing=14)
    for number, finding in enumerate(findings, start=1):
        if number > 1:
            column.addWidget(Divider())
        words = in_column(Label(finding.what, theme.Role.STRONG), spacing=2)
        if finding.remedy:
            words.addWidget(Label(finding.remedy, theme.Role.BODY, theme.INK2))
        column.addLayout(
            in_row(
                (Label(str(number), theme.Role.STRONG, theme.INK2, wrap=False), 0, Qt.AlignmentFlag.AlignTop),
                (words, 1),
                spacing=theme.M,
            )
        )


class DamagedView(NamedTuple):
    """What the page shows."""

    path: Path  # the session file, which stays as it is
    title: str  # study and expert
    damage: str  # why it cannot go on as it is, in one sentence
    answers: tuple[AnswerWords, ...]  # what can be read, oldest first


class DamagedPage(HeadedPage):
    """Shows a `DamagedView`. Emits `copy_requested` with the session file, and `start_requested`."""

    copy_requested = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._view: DamagedView | None = None
        self.copy, self.back = PrimaryButton("Go on in a copy", self._copy), self.link_to_start()
        self._why = Label(ink=theme.INK2)
        self.model = AnswersModel()
        self.table = AnswersTable(self.model)
        self.header.add_actions(self.copy)
        card = Card()
        in_column(self._why, self.table, on=card, margins=(20, 16, 20, 18), spacing=theme.S)
        fill(self.body, card, 1)
        self.foot.addLayout(in_row(self.back, 1))
        self.settle()

    def show_view(self, view: DamagedView) -> None:
        """Show a damaged session."""
        self._view = view
        count = f"{counted(len(view.answers), 'answer')} can be read"
        self.header.say(view.title, f"{count}. The file is damaged and stays as it is.")
        self._why.setText(f"{view.damage} What can be saved is put into a copy, and you go on there.")
        self.model.show_rows(view.answers)
        self.notice.say("")

    @property
    def first_focus(self) -> QWidget:
        return self.copy

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        super().arrange(breakpoint_)
        self.table.set_compact(breakpoint_.compact)

    def _copy(self) -> None:
        if self._view is not None:
            self.copy_requested.emit(self._view.path)
