"""What the person knows before any question: first guesses of the ratios, and orders that hold for certain."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from elicit_app.elicitation.orders import StatedMistake, StatedOrder, constraints_of
from elicit_app.elicitation.questions import Family
from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import Button, LinkButton
from elicit_app.gui.elements.fields import Field, ListBox
from elicit_app.gui.elements.surfaces import Block, Divider, Part, Section, fill, in_column, in_grid, in_row, turn
from elicit_app.gui.elements.texts import Label, StressedLabel, tell
from elicit_app.problem import Problem
from elicit_app.session.journal.events import Guess
from elicit_app.session.sentences import order_words
from elicit_app.session.warm_up import MOST_GUESSES, Key, keys_to_guess, ratio_typed, yardstick_key
from elicit_app.study.model import Study
from metrics.elicited.family import linear_family

_NAME, _FOLLOWS, _AS_BAD_AS, _FIELD = range(4)


class _GuessField(Field):
    """A field as wide as a ratio needs."""

    size_asked, size_least = (104, 32), (60, 32)

    def __init__(self, text: str, hint: str) -> None:
        super().__init__(text, hint)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)


class GuessesSection(Section):
    """One row per mistake: how many of the yardstick it is as bad as; what is left empty is no guess.

    Emits `rows_changed` when other rows are shown, and `begin_requested` on Enter in a field.
    """

    rows_changed = Signal()
    begin_requested = Signal()

    def __init__(self) -> None:
        super().__init__("Your first guess, before the questions")
        self.column.setSpacing(theme.XS)
        self._asks = StressedLabel(ink=theme.INK2)
        self._rows = Block()
        self._study: Study | None = None
        self._family: Family = "lpm"
        self._shown = MOST_GUESSES
        self._breakpoint = theme.Breakpoint(compact=False, low=False, large=False)
        self._typed: dict[Key, str] = {}
        self.fields: dict[Key, Field] = {}
        self.more = LinkButton("Guess more", self._show_more)
        fill(self.column, self._asks, self._rows, (self.more, 0, Qt.AlignmentFlag.AlignLeft))

    def show_study(self, study: Study, family: Family) -> None:
        """Ask about the mistakes of `study`; what was typed for the same study stays, even where it is not shown."""
        if self._study is None or (study.digest, study.classes) != (self._study.digest, self._study.classes):
            self._typed, self._shown = {}, MOST_GUESSES
            self.fields = {}
        self._study, self._family = study, family
        yardstick = study.wording.mistake(yardstick_key(study, family))
        self._asks.say(
            "One of these counts as how many " if study.wording.priced else "One mistake is as bad as how many ",
            yardstick.many,
            "? A number like 20, 0.5 or 1/3; leave a field empty if you have no idea. Guesses change nothing; they are "
            "shown beside the result.",
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
            Where something typed is not a number greater than 0.
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
        grid = in_grid(on=self._rows.renew(), across=theme.M, down=3)
        keys = keys_to_guess(study, self._family, self._shown)
        beside = self._beside and any(study.wording.mistake(key).consequence for key in keys)
        for at, key in enumerate(keys):
            if at:
                grid.addWidget(Divider(), 3 * at - 1, 0, 1, 4)
            self._lay_row(grid, 3 * at, study, key, beside=beside)
        grid.setColumnStretch(_NAME, 0 if beside else 1)
        grid.setColumnStretch(_FOLLOWS, 1 if beside else 0)
        every = len(keys_to_guess(study, self._family, study.n_classes**2))
        self.more.setVisible(len(keys) < every)
        self.more.setText(f"Guess more ({every - len(keys):,} are left)")
        if focused in self.fields:
            self.fields[focused].setFocus(Qt.FocusReason.OtherFocusReason)
        self.rows_changed.emit()

    @property
    def _beside(self) -> bool:
        return not (self._breakpoint.compact or self._breakpoint.large)

    def _lay_row(self, grid: QGridLayout, row: int, study: Study, key: Key, *, beside: bool) -> None:
        mistake = study.wording.mistake(key)
        yardstick = study.wording.mistake(yardstick_key(study, self._family))
        name = Label(mistake.name, theme.Role.LABEL)
        follows = Label(mistake.consequence, theme.Role.NOTE, theme.INK2)
        field = _GuessField(self._typed.get(key, ""), "no idea")
        tell(field, name=f"One {mistake.one} is as bad as how many {yardstick.many}", more=mistake.consequence)
        field.returnPressed.connect(self.begin_requested)
        if beside:
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


_NONE_CHOSEN = "Choose a mistake"
_SENTENCE = "Only if you are certain: it is taken as given, whatever you answer later. You can leave this empty."


class OrdersSection(Part):
    """A list of stated orders, and a form that adds one: one mistake "is never worse than" another.

    Emits `changed` when other orders are stated.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__("Is one mistake never worse than another?", _SENTENCE)
        self._study: Study | None = None
        self._family: Family = "lpm"
        self._stated: dict[Family, list[StatedOrder]] = {}
        self._list, self._form = Block(), QWidget()
        self.state = LinkButton("State one")
        self.state.setCheckable(True)
        self.first, self.second = ListBox("This mistake"), ListBox("is never worse than this one")
        self.add = Button("Add", self._add)
        self.refused = Label(role=theme.Role.NOTE)
        self._row = in_row(
            (self.first, 1),
            Label("is never worse than", theme.Role.LABEL, wrap=False),
            (self.second, 1),
            (self.add, 0, Qt.AlignmentFlag.AlignLeft),
            on=self._form,
            spacing=12,
        )
        fill(self.column, self._list, (self.state, 0, Qt.AlignmentFlag.AlignLeft), self._form, self.refused)
        self._form.hide()
        self.refused.hide()
        self.state.toggled.connect(self._form.setVisible)

    def show_study(self, study: Study, family: Family) -> None:
        """Offer the mistakes of `study`; what was stated for the same study and family stays."""
        if self._study is None or (study.digest, study.classes) != (self._study.digest, self._study.classes):
            self._stated = {}
            self.state.setChecked(False)
        self._study, self._family = study, family
        keys = linear_family(family).mistakes(study.n_classes)
        for box in (self.first, self.second):
            box.clear()
            box.addItem(_NONE_CHOSEN, None)
            for key in keys:
                box.addItem(study.wording.mistake(key).name, key)
        self._say_refused("")
        self._show_stated()

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        """Put the parts of the form below each other where they do not fit beside each other."""
        turn(self._row, down=breakpoint_.compact or breakpoint_.large)

    def orders(self) -> tuple[StatedOrder, ...] | None:
        """Return what is stated; None where that is nothing.

        Raises
        ------
        ValueError
            Where mistakes are chosen that were not added.
        """
        if not self.isHidden() and (self.first.currentData() or self.second.currentData()):
            raise ValueError("You chose a mistake that is never worse than another, but did not add it")
        return tuple(self._stated.get(self._family, ())) or None

    def _add(self) -> None:
        study, one, other = self._study, self.first.currentData(), self.second.currentData()
        if study is None or one is None or other is None or one == other:
            self._say_refused("Choose two different mistakes.")
            return
        order = StatedOrder(*(_stated(study, key) for key in (one, other)))
        stated = self._stated.setdefault(self._family, [])
        try:
            constraints_of([*stated, order], study.classes, self._family)
        except Problem:
            self._say_refused(f"{self._words(order)}: this goes round in a circle with the above. Take one out first.")
            return
        if order not in stated:
            stated.append(order)
        for box in (self.first, self.second):
            box.setCurrentIndex(0)
        self._say_refused("")
        self._show_stated()
        self.first.setFocus(Qt.FocusReason.OtherFocusReason)

    def _take_out(self, order: StatedOrder) -> None:
        self._stated[self._family].remove(order)
        self._say_refused("")
        self._show_stated()
        self.state.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_stated(self) -> None:
        column = in_column(on=self._list.renew())
        stated = self._stated.get(self._family, [])
        for order in stated:
            label, out = Label(self._words(order), theme.Role.LABEL), LinkButton("Take it out")
            tell(out, name=f"Take out: {self._words(order)}")
            out.clicked.connect(lambda _=False, order=order: self._take_out(order))
            column.addLayout(in_row((label, 1), (out, 0, Qt.AlignmentFlag.AlignTop), spacing=12))
        self._list.setVisible(bool(stated))
        self.changed.emit()

    @property
    def count(self) -> int:
        """Return how many orders are stated."""
        return len(self._stated.get(self._family, ()))

    def _words(self, order: StatedOrder) -> str:
        assert self._study is not None
        (constraint,) = constraints_of([order], self._study.classes, self._family)
        return order_words(constraint, self._study.wording, self._family)

    def _say_refused(self, sentence: str) -> None:
        self.refused.show_text(sentence)


def _stated(study: Study, key: Key) -> StatedMistake:
    true, predicted = key
    return StatedMistake(study.classes[true], None if predicted is None else study.classes[predicted])
