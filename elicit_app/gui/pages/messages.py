"""Pages with a single message: opening, errors, recap, end of a sitting; and help and settings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QBoxLayout, QButtonGroup, QLabel, QLayout, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import Button, FlatButton, LinkButton, PrimaryButton
from elicit_app.gui.elements.fields import CheckRow, ChoiceRow, ListBox, named
from elicit_app.gui.elements.page import HeadedPage, ScrolledPage, bind, bind_enter
from elicit_app.gui.elements.painting import Glyph, GlyphSign, KeyCap, Label
from elicit_app.gui.elements.surfaces import (
    Block,
    Card,
    Divider,
    Item,
    Notice,
    Section,
    Surface,
    fill,
    in_column,
    in_grid,
    in_row,
)
from elicit_app.gui.pages.review import AnswersTable, AnswerWords
from elicit_app.gui.settings import FONT_PERCENTS, Appearance, Settings
from elicit_app.gui.theme import RIGHT
from elicit_app.problem import Finding, Problem
from elicit_app.session.views import RecapView, SittingOverView
from metrics import __version__
from metrics.text import counted, number_word


class _MiddlePage(ScrolledPage):
    """A page with one message in the middle of the window: a headline, a sentence under it, and further items."""

    def __init__(self, title: str = "") -> None:
        super().__init__()
        self.title = Label(title, theme.Role.HEADLINE)
        self.sentence = Label(role=theme.Role.FLOW, ink=theme.INK2)

    def centre_items(self, *items: Item, link: QWidget) -> None:
        """Place `items` in the middle, and `link` on the left under them."""
        self.back = link
        fill(self.body, 1, *items, (link, 0, Qt.AlignmentFlag.AlignLeft), 2)
        self.settle()


class _CardPage(_MiddlePage):
    """A page with its message and a row of buttons on a card, under the band that reports failures."""

    notice: Notice

    def __init__(self, title: str = "") -> None:
        super().__init__(title)
        self.notice = Notice()
        self.head.addWidget(self.notice)

    def centre_card(self, margin: int, *items: Item, row: QBoxLayout, link: QWidget) -> None:
        """Place a card with `items` and, below them, `row` in the middle, and `link` under it."""
        card = Card(Surface.IMPORTANT)
        in_column(*items, row, on=card, margins=(margin, margin, margin, margin), spacing=theme.M)
        self.centre_items(card, link=link)


class RecapPage(_CardPage):
    """Shows a `RecapView`. Emits `resume_requested`."""

    resume_requested = Signal()

    def __init__(self) -> None:
        super().__init__("Where you stopped")
        self.last, self.stated = (Label(role=theme.Role.FLOW) for _ in range(2))
        self.following = Label(role=theme.Role.FLOW, ink=theme.INK2)
        self.proceed = PrimaryButton("Go on", self.resume_requested, keys=("Enter",))
        self._certain, last = _part("What you stated as certain", self.stated), _part("Your last answer", self.last)
        row = in_row(self.proceed, (self.following, 1), spacing=theme.M, stacks="large")
        bind_enter(self, self.proceed.click)
        link = self.link_to_start("Not now, back to the start")
        self.centre_card(28, self.title, self.sentence, self._certain, last, Divider(), row=row, link=link)

    def show_view(self, view: RecapView, title: str) -> None:
        """Show the state of a session; `title` names the study and the expert."""
        self.notice.say("")
        self.sentence.setText(f"{title} · {view.kept}")
        self.last.setText(view.last)
        self.stated.setText(view.stated)
        self._certain.setVisible(bool(view.stated))
        self.following.setText(view.following)


def _part(name: str, label: Label) -> QWidget:
    """Return a divider, a name and the text under it."""
    part, words = QWidget(), in_column(Label(name, theme.Role.NOTE, theme.INK2), label, spacing=theme.XS)
    in_column(Divider(), words, on=part, spacing=theme.M)
    return part


class SittingOverPage(_CardPage):
    """Shows a `SittingOverView`."""

    def __init__(self) -> None:
        super().__init__()
        self.stop = PrimaryButton("Look back and finish", self.stop_requested, keys=("Enter",))
        self.more = Button("Answer more questions", self.more_requested)
        self.undo = FlatButton("Undo", self.undo_requested, keys=("Ctrl+Z",), glyph=Glyph.UNDO)
        row = in_row(self.stop, self.more, 1, self.undo, spacing=12, stacks="large")
        sign = (GlyphSign(Glyph.CHECK, 26), 0, Qt.AlignmentFlag.AlignLeft)
        bind_enter(self, self.stop.click)
        bind(self, self.undo_requested, "Ctrl+Z")
        link = self.link_to_start("Stop for now, back to the start")
        self.centre_card(theme.XL, sign, self.title, self.sentence, row=row, link=link)

    def show_view(self, view: SittingOverView) -> None:
        self.title.setText("Enough for now" if view.reason == "budget" else "No more questions are needed")
        self.setWindowTitle(self.title.text())
        self.sentence.setText(view.sentence)
        self.more.setVisible(view.can_continue)
        self.notice.say(view.unsaved, button="Try again", then=self.retry_requested.emit)


class OpeningPage(_MiddlePage):
    """Shows what is being read or prepared."""

    def __init__(self) -> None:
        super().__init__()
        self.centre_items(self.title, self.sentence, link=self.link_to_start())

    def say(self, title: str, sentence: str) -> None:
        self.title.setText(title)
        self.sentence.setText(sentence)


class ErrorDetails(NamedTuple):
    """The content of the page: a headline, a sentence, findings, and the files to read again (none: nothing to read).

    `choose` says what would help: another file or folder in place of the first, or the study of a session, as a folder
    or a file. With nothing the page leads back to the start.
    """

    title: str
    sentence: str
    findings: tuple[Finding, ...] = ()
    sources: tuple[Path, ...] = ()
    choose: Literal["nothing", "another", "study folder", "study file"] = "nothing"

    @classmethod
    def of_files(cls, problem: Problem, sources: tuple[Path, ...]) -> ErrorDetails:
        """Return the details for a folder, or one of several files, that cannot be used yet."""
        file = problem.file or sources[0]
        sentence = problem.sentence
        if problem.findings:
            count = len(problem.findings)
            things = f"{number_word(count)} {'thing has' if count == 1 else 'things have'}"
            sentence = f"Before {file.name} can be used, {things} to be put right."
        made = cls("", sentence, problem.findings, sources, choose="another")
        return made._replace(title=f"This {'study folder' if made.is_folder else 'file'} cannot be used yet")

    @property
    def is_folder(self) -> bool:
        return len(self.sources) == 1 and self.sources[0].is_dir()

    @property
    def text(self) -> str:
        """Return everything as text, to send to the author of the file."""
        lines = [self.title, self.sentence]
        for number, finding in enumerate(self.findings, start=1):
            lines.append(f"{number}. {finding.what}" + (f"\n   {finding.remedy}" if finding.remedy else ""))
        return "\n".join(lines)


class ErrorPage(_MiddlePage):
    """Emits `choose_requested` and `again_requested` with `ErrorDetails` or paths, and `format_requested`."""

    choose_requested = Signal(object)
    again_requested = Signal(object)
    format_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._error = ErrorDetails("", "")
        self.sentence.set_role(theme.Role.BODY)
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._card, self._rows = Card(), Block()
        in_column(self._rows, on=self._card, margins=(24, 18, 24, 18), spacing=14)
        self.primary = PrimaryButton("Choose another file…", self._press_primary)
        self.again = Button("Read it again", self._read_again, keys=("F5",))
        self.copy = FlatButton("Copy these findings", self._copy)
        self.format = LinkButton("What a predictions file looks like", self.format_requested)
        self.back = self.link_to_start()
        fill(
            self.body,
            1,
            (GlyphSign(Glyph.WARNING, 30), 0, Qt.AlignmentFlag.AlignLeft),
            self.title,
            self.sentence,
            self._card,
            in_row(self.primary, self.again, 1, self.copy, spacing=12),
            in_row(self.format, 1, self.back),
            2,
        )
        bind(self, self._read_again, "F5")
        self.settle()

    def show_error(self, error: ErrorDetails) -> None:
        self._error = error
        self.title.setText(error.title)
        self.sentence.setText(error.sentence)
        self._card.setVisible(bool(error.findings))
        self.again.setVisible(bool(error.sources))
        self.format.setVisible(error.choose == "another")
        self.copy.setText("Copy these findings" if error.findings else "Copy this sentence")
        self.primary.setText(_what_helps(error))
        self.back.setVisible(error.choose != "nothing")
        _lay_findings(self._rows.renew(), error.findings)

    def _press_primary(self) -> None:
        if self._error.choose == "nothing":
            self.start_requested.emit()
        else:
            self.choose_requested.emit(self._error)

    def _read_again(self) -> None:
        if self._error.sources:
            self.again_requested.emit(self._error.sources)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._error.text)
        self.copy.setText("Copied")


def _what_helps(error: ErrorDetails) -> str:
    """Return the text of the page's first button."""
    match error.choose:
        case "nothing":
            return "Back to the start"
        case "another":
            return f"Choose another {'folder' if error.is_folder else 'file'}…"
        case _:
            return f"Choose the {error.choose}…"


def _lay_findings(block: QWidget, findings: tuple[Finding, ...]) -> None:
    """Lay out the numbered findings, each with its remedy."""
    column = in_column(on=block, spacing=14)
    for number, finding in enumerate(findings, start=1):
        if number > 1:
            column.addWidget(Divider())
        words = in_column(Label(finding.what, theme.Role.STRONG), spacing=2)
        if finding.remedy:
            words.addWidget(Label(finding.remedy, theme.Role.BODY, theme.INK2))
        shown = Label(str(number), theme.Role.STRONG, theme.INK2, wrap=False)
        column.addLayout(in_row((shown, 0, Qt.AlignmentFlag.AlignTop), (words, 1), spacing=theme.M))


class DamagedView(NamedTuple):
    """The content of the page on a damaged session."""

    path: Path  # the session file, which is not changed
    title: str  # study and expert
    damage: str  # why it cannot be resumed, in one sentence
    answers: tuple[AnswerWords, ...]  # the readable answers, newest first
    recoverable: int  # answers that a copy will hold


class DamagedPage(HeadedPage):
    """Shows a `DamagedView`. Emits `copy_requested` with the session file."""

    copy_requested = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._path = Path()
        self.copy = PrimaryButton("Go on in a copy", lambda: self.copy_requested.emit(self._path))
        self.back = self.link_to_start()
        self._why = Label(ink=theme.INK2)
        self.table = AnswersTable()
        self.header.add_actions(self.copy)
        card = Card()
        in_column(self._why, self.table, on=card, margins=(20, 16, 20, 18), spacing=theme.S)
        fill(self.body, card, 1)
        self.foot.addLayout(in_row(self.back, 1))
        self.first_focus = self.copy
        self.settle()

    def show_view(self, view: DamagedView) -> None:
        self._path = view.path
        copy = f"A copy will hold {counted(view.recoverable, 'answer')}."
        more = view.recoverable - len(view.answers)
        if more > 0:
            copy += f" {more} of them can be restored, but not be shown here."
        self.header.say(view.title, f"{copy} The file is damaged; it will not be changed.")
        self._why.setText(view.damage)
        self.table.answers.show_rows(view.answers)
        self.notice.say("")


KEYS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("Left", "1"), "A is better"),
    (("Right", "2"), "B is better"),
    (("Down", "0"), "About equal"),
    (("S",), "Cannot say, ask later"),
    (("E",), "Make both results equally bad, where it is offered; Esc leads back to the choice"),
    (("Up", "Down"), "While a number is moved: more, fewer; with Shift by ten, or type it; Enter takes it"),
    (("N",), "While a number is moved: even the end of the scale does not make them equal"),
    (("R",), "Type a reason that is kept with your answer"),
    (("Shift", "Left"), "Slightly A; with Right slightly B"),
    (("Ctrl", "Left"), "Clearly A; with Right clearly B"),
    (("Ctrl+Z",), "Undo, as often as you like"),
    (("Ctrl+Shift+Z",), "Put back what was undone"),
    (("F",), "Full picture: every mistake, not only what differs"),
    (("Ctrl+Enter",), "Begin, and after the questions finish, from any field"),
    (("Ctrl+Tab",), "The next part of a result; out of a table of words, with Shift backwards"),
    (("Ctrl+S",), "Save the metric file of a result; of a study that was sent to you, your answers"),
    (("F1",), "This page"),
    (("Ctrl+,",), "Settings"),
    (("F5",), "Read again a file that could not be used"),
)
_ABOUT = (
    "Two results of a model on the same cases stand side by side. Each is better at something. You say which you "
    "would rather have; there is no right answer. After about 20 such answers the program knows how bad you find each "
    "mistake, and how sure it can be. It asks so that each answer tells as much as possible, and it allows for a slip "
    "now and then."
)
_STORED = (
    "Every answer is written to the session file the moment you give it. You can close the window at any time, also in "
    "the middle of a question, and go on later from the first page. Undo takes back any number of answers; nothing is "
    "ever erased from the file. Nothing leaves this computer."
)
_FILE = (
    "One row per case: a column y_true with the true class, and for every class a column proba_<class> with the "
    "probability that the model gives it. The probabilities of a row add up to 1. CSV or Parquet; or an NPZ file with "
    "y_true (n,) and y_proba (n, k). Several models: one file each, with the same cases in the same order, chosen or "
    "dropped together."
)
_LABORATORY = (
    "Every dot is a simulated person whose true costs are known. Pairs judged differently: of random pairs of results, "
    "the share that the costs learned from the answers judge otherwise than the person. Range factor, the width of the "
    "ranges: 2 means that the 90 % range of a typical ratio goes from half to twice; searches give no ranges. True "
    "values inside: how many true ratios lie within their ranges; nine in ten should. Noise is how answers stray. "
    "weights: the costs waver from answer to answer; logit: slips where results are close, so many that this share of "
    "random pairs is answered rightly; flip: this share of answers is turned round; bounded: chance decides between "
    "results that differ by less than this."
)
_EXAMPLE = "y_true,proba_melanoma,proba_naevus,proba_keratosis\nmelanoma,0.71,0.24,0.05\nnaevus,0.08,0.87,0.05"


_LICENCES = (
    "elicit is free software under the MIT licence. Its window is drawn by Qt through PySide6 and shiboken6, which are "
    "under the GNU Lesser General Public License, version 3. They are packages of their own beside this program, "
    "unchanged, and you may put your own build in their place: install it into the same Python environment (pip "
    "install --no-deps YOUR_WHEEL, both of one version) and start elicit again. Their source is at code.qt.io. Reports "
    "in PDF are set by Typst, under the Apache License 2.0, which can be replaced in the same way. All other parts are "
    "under licences that require only their notice (BSD, MIT, Apache, Python), except certifi, which is under the "
    "Mozilla Public License 2.0. Each package has its text in its .dist-info folder among Python's site-packages."
)


class HelpPage(HeadedPage):
    """What happens here, the keys, files, and words."""

    def __init__(self) -> None:
        super().__init__()
        self.header.say("Help")
        self.done = PrimaryButton("Back", self.back_requested)
        self.header.add_actions(self.done)
        self._sections = {
            "file": _section("What a predictions file looks like", Label(_FILE), _code(_EXAMPLE)),
            "laboratory": _section("What the laboratory shows", Label(_LABORATORY)),
        }
        fill(
            self.body,
            _section("What happens here", Label(_ABOUT)),
            _section("Keys", _keys()),
            self._sections["file"],
            _section("What is stored", Label(_STORED)),
            self._sections["laboratory"],
            _section(f"About elicit {__version__}", Label(_LICENCES)),
            1,
        )
        bind(self, self.back_requested, "Esc")
        self.first_focus = self.done
        self.settle()

    def show_section(self, name: Literal["file", "laboratory"]) -> None:
        self.area.verticalScrollBar().setValue(self._sections[name].y() - theme.S)


def _section(title: str, *content: QWidget | QLayout) -> Section:
    section = Section(title)
    fill(section.column, *content)
    return section


def _keys() -> QWidget:
    block = QWidget()
    grid = in_grid(on=block, across=theme.M, down=8)
    for row, (keys, text) in enumerate(KEYS):
        grid.addWidget(KeyCap(*keys), row, 0, RIGHT)
        grid.addWidget(Label(text), row, 1)
    grid.setColumnStretch(1, 1)
    return block


def _code(text: str) -> QLabel:
    """Return lines of a file as a selectable label."""
    label = Label(text, theme.Role.NOTE)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label


_APPEARANCES: tuple[tuple[Appearance, str], ...] = (("system", "Like the system"), ("light", "Light"), ("dark", "Dark"))


class SettingsPage(HeadedPage):
    """Emits `changed` with the new `Settings`."""

    changed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._settings = Settings()
        self.header.say("Settings", "Changes take effect at once.")
        self.done = PrimaryButton("Done", self.back_requested)
        self.header.add_actions(self.done)
        self._group = QButtonGroup(self)
        self.appearances: dict[Appearance, ChoiceRow] = {}
        self.text_size = ListBox("Size of all text", 260)
        for percent in FONT_PERCENTS:
            self.text_size.addItem("as the system has it" if percent == 100 else f"{percent} %", percent)
        self.animation = CheckRow("A new question fades in")
        self.numbers_only = CheckRow("Numbers only, without the squares")
        fill(
            self.body,
            _section("Appearance", *self._appearance_rows()),
            _section("Text", named(self.text_size)),
            _section("Questions", self.animation, self.numbers_only),
        )
        self.place = Label(role=theme.Role.NOTE, ink=theme.INK2)
        self.body.addWidget(self.place)
        self.back = self.link_to_start()
        self.body.addStretch(1)
        self.foot.addLayout(in_row(self.back, 1))
        bind(self, self.back_requested, "Esc")
        self.text_size.activated.connect(self._changed)
        for check in (self.animation, self.numbers_only):
            check.box.clicked.connect(self._changed)
        self.settle()

    def show_settings(self, settings: Settings, place: str) -> None:
        """Show `settings`; `place` is the path of their file."""
        self._settings = settings
        self.appearances[settings.appearance].radio.setChecked(True)
        self.text_size.setCurrentIndex(self.text_size.findData(settings.font_percent))
        self.animation.box.setChecked(settings.animation)
        self.numbers_only.box.setChecked(settings.numbers_only)
        self.place.setText(f"Kept in {place}. Nothing leaves this computer.")

    def _appearance_rows(self) -> list[QWidget]:
        for name, label in _APPEARANCES:
            row = ChoiceRow(label)
            self._group.addButton(row.radio)
            row.radio.clicked.connect(self._changed)
            self.appearances[name] = row
        return list(self.appearances.values())

    def _changed(self) -> None:
        chosen = next(name for name, row in self.appearances.items() if row.radio.isChecked())
        self._settings = replace(
            self._settings,
            appearance=chosen,
            font_percent=int(self.text_size.currentData()),
            animation=self.animation.box.isChecked(),
            numbers_only=self.numbers_only.box.isChecked(),
        )
        self.changed.emit(self._settings)
