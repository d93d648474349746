"""Help and settings: looked at from anywhere, and left again to where one was."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QLabel, QLayout, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import PrimaryButton
from elicit_app.gui.elements.fields import CheckRow, ChoiceRow, ListBox, named
from elicit_app.gui.elements.page import HeadedPage, bind
from elicit_app.gui.elements.painting import KeyCap
from elicit_app.gui.elements.surfaces import Section, fill, in_grid, in_row
from elicit_app.gui.elements.texts import Label
from elicit_app.gui.settings import FONT_PERCENTS, Appearance, Settings
from elicit_app.gui.theme import RIGHT
from metrics import __version__

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
    (("Ctrl+Tab",), "The next part of a result"),
    (("Ctrl+S",), "Save the metric file of a result; of a study that was sent to you, your answers"),
    (("F1",), "This page"),
    (("Ctrl+,",), "Settings"),
    (("F5",), "Read a file again that could not be used"),
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
_EXAMPLE = "y_true,proba_melanoma,proba_naevus,proba_keratosis\nmelanoma,0.71,0.24,0.05\nnaevus,0.08,0.87,0.05"


_LICENCES = (
    "elicit is free software under the MIT licence. Its window is drawn by Qt through PySide6 and shiboken6, which are "
    "under the GNU Lesser General Public License, version 3. They are packages of their own beside this program, "
    "unchanged, and you may put your own build in their place: install it into the same Python environment (pip "
    "install --no-deps YOUR_WHEEL, both of one version) and start elicit again. Their source is at code.qt.io. Reports "
    "in PDF are set by Typst, under the Apache License 2.0, which can be replaced in the same way. All other parts are "
    "under licences that ask for their notice alone (BSD, MIT, Apache, Python), but certifi, which is under the "
    "Mozilla Public License 2.0. Each package has its text in its .dist-info folder among Python's site-packages."
)


class HelpPage(HeadedPage):
    """Emits `back_requested`."""

    back_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.header.say("Help")
        self.done = PrimaryButton("Back", self.back_requested)
        self.header.add_actions(self.done)
        fill(self.body, _section("What happens here", Label(_ABOUT)), _section("Keys", _keys()))
        self._file = _section("What a predictions file looks like", Label(_FILE), _code(_EXAMPLE))
        fill(
            self.body,
            self._file,
            _section("What is stored", Label(_STORED)),
            _section(f"About elicit {__version__}", Label(_LICENCES)),
            1,
        )
        bind(self, self.back_requested, "Esc")
        self.settle()

    @property
    def first_focus(self) -> QWidget:
        return self.done

    def show_file_format(self) -> None:
        """Scroll to what a predictions file looks like."""
        self.area.verticalScrollBar().setValue(self._file.y() - theme.S)


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
    """Return lines of a file, in the words of the file; they can be selected."""
    label = Label(text, theme.Role.NOTE)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label


_APPEARANCES: tuple[tuple[Appearance, str], ...] = (("system", "Like the system"), ("light", "Light"), ("dark", "Dark"))


class SettingsPage(HeadedPage):
    """Emits `changed` with the new `Settings`, `back_requested` and `start_requested`."""

    changed = Signal(object)
    back_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._settings = Settings()
        self.header.say("Settings", "What you change here changes at once.")
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
            _section("Text", named("Size of all text", self.text_size)),
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
        """Show `settings`; `place` says where they are kept."""
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
