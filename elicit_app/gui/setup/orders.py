"""Orders that hold for certain: one mistake is never worse than another."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from elicit_app.elicitation.orders import StatedMistake, StatedOrder, constraints_of
from elicit_app.elicitation.questions import Family
from elicit_app.gui import theme
from elicit_app.gui.elements import Label, LinkButton, OutlineButton
from elicit_app.gui.elements.fields import ListBox
from elicit_app.gui.elements.surfaces import Block
from elicit_app.gui.elements.texts import tell
from elicit_app.gui.setup.folding import Part
from elicit_app.problem import Problem
from elicit_app.session.warm_up import Key, mistake_of_key
from elicit_app.session.words.sentences import order_words
from elicit_app.study.model import Study

_NONE_CHOSEN = "Choose a mistake"
_SENTENCE = "Only if you are certain: it is taken as given, and no answer can speak against it. It may stay empty."


class OrdersSection(Part):
    """A list of stated orders, and a form that adds one: one mistake "is never worse than" another.

    Emits `changed` when other orders are stated.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Is one mistake never worse than another?", _SENTENCE, parent=parent)
        self._study: Study | None = None
        self._family: Family = "lpm"
        self._stated: dict[Family, list[StatedOrder]] = {}
        self._list, self._form = Block(), QWidget()
        self.state = LinkButton("State one")
        self.state.setCheckable(True)
        self.first, self.second = ListBox("This mistake"), ListBox("is never worse than this one")
        self.add = OutlineButton("Add")
        self.refused = Label(role=theme.Role.NOTE)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self._form)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(12)
        self._row.addWidget(self.first, 1)
        self._row.addWidget(Label("is never worse than", theme.Role.LABEL, wrap=False))
        self._row.addWidget(self.second, 1)
        self._row.addWidget(self.add, 0, Qt.AlignmentFlag.AlignLeft)
        self.column.addWidget(self._list)
        self.column.addWidget(self.state, 0, Qt.AlignmentFlag.AlignLeft)
        self.column.addWidget(self._form)
        self.column.addWidget(self.refused)
        self._form.hide()
        self.refused.hide()
        self.state.toggled.connect(self._form.setVisible)
        self.add.clicked.connect(self._add)

    def show_study(self, study: Study, family: Family) -> None:
        """Offer the mistakes of `study`; what was stated for the same study and family stays."""
        if self._study is None or (study.digest, study.classes) != (self._study.digest, self._study.classes):
            self._stated = {}
            self.state.setChecked(False)
        self._study, self._family = study, family
        k = study.n_classes
        keys: list[Key] = [(i, j) for i in range(k) for j in range(k) if i != j]
        if family == "dlpm":
            keys = [(i, None) for i in range(k)]
        for box in (self.first, self.second):
            box.clear()
            box.addItem(_NONE_CHOSEN, None)
            for key in keys:
                box.addItem(mistake_of_key(study, key).name, key)
        self._say_refused("")
        self._show_stated()

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        """Put the parts of the form below each other where they do not fit beside each other."""
        down, across = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._row.setDirection(down if breakpoint_.compact or breakpoint_.large else across)

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
        column = QVBoxLayout(self._list.renew())
        column.setContentsMargins(0, 0, 0, 0)
        stated = self._stated.get(self._family, [])
        for order in stated:
            said, out = Label(self._words(order), theme.Role.LABEL), LinkButton("Take it out")
            tell(out, name=f"Take out: {self._words(order)}")
            out.clicked.connect(lambda _=False, order=order: self._take_out(order))
            row = QHBoxLayout()
            row.setSpacing(12)
            row.addWidget(said, 1)
            row.addWidget(out, 0, Qt.AlignmentFlag.AlignTop)
            column.addLayout(row)
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
        self.refused.setText(sentence)
        self.refused.setVisible(bool(sentence))


def _stated(study: Study, key: Key) -> StatedMistake:
    true, predicted = key
    return StatedMistake(study.classes[true], None if predicted is None else study.classes[predicted])
