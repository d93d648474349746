"""Settings: appearance, size of text, animation, numbers only. What is changed is changed at once."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QVBoxLayout, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements import Label, LinkButton, PrimaryButton
from elicit_app.gui.parts.controls import ListBox
from elicit_app.gui.parts.inputs import CheckRow, ChoiceRow, named
from elicit_app.gui.parts.scrolled import Header, ScrolledPage, leave_by_escape
from elicit_app.gui.parts.section import Section
from elicit_app.gui.settings import FONT_PERCENTS, Appearance, Settings

_APPEARANCES: tuple[tuple[Appearance, str], ...] = (
    ("system", "Like the system"),
    ("light", "Light"),
    ("dark", "Dark"),
)


class SettingsPage(ScrolledPage):
    """Emits `changed` with the new `Settings`, and `back_wanted`."""

    changed = Signal(object)
    back_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._settings = Settings()
        self.header = Header()
        self.header.say("Settings", "What you change here changes at once.")
        self.done = PrimaryButton("Done")
        self.header.add_action(self.done)
        self.head.addWidget(self.header)
        self._group = QButtonGroup(self)
        self.appearances: dict[Appearance, ChoiceRow] = {}
        self.text_size = ListBox("Size of all text", 260)
        for percent in FONT_PERCENTS:
            self.text_size.addItem("as the system has it" if percent == 100 else f"{percent} %", percent)
        self.animation = CheckRow("A new question fades in")
        self.numbers_only = CheckRow("Numbers only, without the squares")
        self.body.addWidget(self._section("Appearance", *self._appearance_rows()))
        self.body.addWidget(self._section("Text", named("Size of all text", self.text_size)))
        self.body.addWidget(self._section("Questions", self.animation, self.numbers_only))
        self.place = Label(role=theme.Role.NOTE, ink=theme.INK2)
        self.body.addWidget(self.place)
        self.back = LinkButton("Back to the start")
        row = QHBoxLayout()
        row.addWidget(self.back)
        row.addStretch(1)
        self.body.addLayout(row)
        self.body.addStretch(1)
        self.done.clicked.connect(self.back_wanted)
        leave_by_escape(self, self.back_wanted.emit)
        self.back.clicked.connect(self.back_wanted)
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

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        super().arrange(breakpoint_)
        self.header.arrange(breakpoint_)

    def _appearance_rows(self) -> list[QWidget]:
        for name, said in _APPEARANCES:
            row = ChoiceRow(said)
            self._group.addButton(row.radio)
            row.radio.clicked.connect(self._changed)
            self.appearances[name] = row
        return list(self.appearances.values())

    @staticmethod
    def _section(title: str, *content: QWidget | QVBoxLayout) -> Section:
        section = Section(title)
        for each in content:
            if isinstance(each, QWidget):
                section.column.addWidget(each)
            else:
                section.column.addLayout(each)
        return section

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
