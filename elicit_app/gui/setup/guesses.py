"""First guesses: what the person thinks each mistake is worth, before any question."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from elicit_app.elicitation.questions import Family
from elicit_app.gui import theme
from elicit_app.gui.elements import Divider, Label, LinkButton, StressedLabel
from elicit_app.gui.elements.fields import Field
from elicit_app.gui.elements.surfaces import Block, Section
from elicit_app.gui.elements.texts import tell
from elicit_app.session.journal.events import Guess
from elicit_app.session.warm_up import (
    MOST_GUESSES,
    Key,
    keys_to_guess,
    mistake_of_key,
    ratio_typed,
    yardstick_key,
)
from elicit_app.study.model import Study

_NAME, _FOLLOWS, _AS_BAD_AS, _FIELD = range(4)


class _GuessField(Field):
    """A field as wide as a ratio needs."""

    def __init__(self, text: str, hint: str) -> None:
        super().__init__(text, hint)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(theme.em(104), theme.em(32))

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.em(60), theme.em(32))


class GuessesSection(Section):
    """One row a mistake: how many of the yardstick it is as bad as; what is left empty is no guess.

    Emits `rows_changed` when other rows are shown, and `begin_requested` on Enter in a field.
    """

    rows_changed = Signal()
    begin_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Your first guess, before the questions", parent=parent)
        self.column.setSpacing(theme.XS)
        self._asks = StressedLabel(ink=theme.INK2)
        self._rows = Block()
        self._study: Study | None = None
        self._family: Family = "lpm"
        self._shown = MOST_GUESSES
        self._breakpoint = theme.Breakpoint(compact=False, low=False, large=False)
        self._typed: dict[Key, str] = {}
        self.fields: dict[Key, Field] = {}
        self.more = LinkButton("Guess more")
        self.column.addWidget(self._asks)
        self.column.addWidget(self._rows)
        self.column.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)
        self.more.clicked.connect(self._show_more)

    def show_study(self, study: Study, family: Family) -> None:
        """Ask about the mistakes of `study`; what was typed for the same study stays, even where it is not shown."""
        if self._study is None or (study.digest, study.classes) != (self._study.digest, self._study.classes):
            self._typed, self._shown = {}, MOST_GUESSES
            self.fields = {}
        self._study, self._family = study, family
        yardstick = mistake_of_key(study, yardstick_key(study, family))
        self._asks.say(
            "One mistake is as bad as how many ",
            yardstick.many,
            "? A number like 20, 0.5 or 1/3; leave empty what you have no idea of. It changes nothing and stands "
            "beside the result.",
        )
        self._lay_rows()

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        """On a compact page what follows from a mistake stands under its name."""
        if breakpoint_ != self._breakpoint:
            self._breakpoint = breakpoint_
            self._lay_rows()

    def guesses(self) -> tuple[Guess, ...]:
        """Return what was guessed.

        Raises
        ------
        ValueError
            Where something typed is no number above 0.
        """
        found = []
        for (true, predicted), field in self.fields.items():
            ratio = ratio_typed(field.text())
            if ratio is not None:
                found.append(Guess(true=true, predicted=predicted, ratio=ratio))
        return tuple(found)

    def _show_more(self) -> None:
        before = set(self.fields)
        self._shown += MOST_GUESSES
        self._lay_rows()
        new = next((field for key, field in self.fields.items() if key not in before), None)
        if new is not None:
            new.setFocus(Qt.FocusReason.OtherFocusReason)

    def _lay_rows(self) -> None:
        study = self._study
        if study is None:
            return
        self._typed |= {key: field.text() for key, field in self.fields.items()}
        focused = next((key for key, field in self.fields.items() if field.hasFocus()), None)
        self.fields = {}
        grid = QGridLayout(self._rows.renew())
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.M)
        grid.setVerticalSpacing(3)
        keys = keys_to_guess(study, self._family, self._shown)
        for at, key in enumerate(keys):
            if at:
                grid.addWidget(Divider(), 3 * at - 1, 0, 1, 4)
            self._lay_row(grid, 3 * at, study, key)
        grid.setColumnStretch(_NAME, 0 if self._beside else 1)
        grid.setColumnStretch(_FOLLOWS, 1 if self._beside else 0)
        every = len(keys_to_guess(study, self._family, study.n_classes**2))
        self.more.setVisible(len(keys) < every)
        self.more.setText(f"Guess more ({every - len(keys):,} are left)")
        if focused in self.fields:
            self.fields[focused].setFocus(Qt.FocusReason.OtherFocusReason)
        self.rows_changed.emit()

    @property
    def _beside(self) -> bool:
        return not (self._breakpoint.compact or self._breakpoint.large)

    def _lay_row(self, grid: QGridLayout, row: int, study: Study, key: Key) -> None:
        mistake = mistake_of_key(study, key)
        yardstick = mistake_of_key(study, yardstick_key(study, self._family))
        name = Label(mistake.name, theme.Role.LABEL)
        follows = Label(mistake.consequence, theme.Role.NOTE, theme.INK2)
        field = _GuessField(self._typed.get(key, ""), "no idea")
        tell(field, name=f"One {mistake.one} is as bad as how many {yardstick.many}", more=mistake.consequence)
        field.returnPressed.connect(self.begin_requested)
        if self._beside:
            name.setMinimumWidth(theme.em(170))
            name.setMaximumWidth(theme.em(260))
            grid.addWidget(name, row, _NAME)
            grid.addWidget(follows, row, _FOLLOWS)
        else:
            grid.addWidget(name, row, _NAME, 1, 2)
            if mistake.consequence:
                grid.addWidget(follows, row + 1, _NAME, 1, 2)
        if not self._breakpoint.large:
            grid.addWidget(Label("as bad as", theme.Role.NOTE, theme.INK2, wrap=False), row, _AS_BAD_AS)
        grid.addWidget(field, row, _FIELD)
        self.fields[key] = field
