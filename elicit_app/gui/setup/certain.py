"""What an expert states for certain before the questions: that classes are in an order, and which mistake is worse."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from elicit_app.elicitation.orders import StatedMistake, StatedOrder, constraints_of, may_be_in_order
from elicit_app.elicitation.questions import Family
from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import Button, LinkButton
from elicit_app.gui.elements.fields import CheckRow, ListBox
from elicit_app.gui.elements.painting import Arranged, Label, annotate
from elicit_app.gui.elements.surfaces import Block, Part, fill, in_column, in_row
from elicit_app.problem import Problem
from elicit_app.session.sentences import order_words
from elicit_app.study.guessing import in_grades
from elicit_app.study.model import Key, Study
from metrics.elicited.family import linear_family


class ClassOrderSection(Arranged, Part):
    """Whether the classes are in an order, and in which. Emits `changed`."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__("Are the classes in an order, like none, mild and severe?")
        self._study: Study | None = None
        self._order: list[int] = []
        self._breakpoint = theme.WIDE
        self.applies = False  # whether an order of the classes of this study can be stated
        self.stated = CheckRow("")
        self.boxes: list[ListBox] = []
        self._places = Block()
        hint = "From one end to the other. Choosing a class exchanges it with the one there."
        self._hint = Label(hint, theme.Role.NOTE, theme.INK2)
        fill(self.column, self.stated, self._places, self._hint)
        self.stated.box.toggled.connect(self._show_places)

    def show_study(self, study: Study, family: Family) -> None:
        """Offer the classes of `study`; an order stated for the same classes is kept."""
        before, self._study = self._study, study
        self.applies = may_be_in_order(study.n_classes, family)
        if before is None or before.classes != study.classes:
            self._order = list(in_grades(study.classes) or range(study.n_classes))
            self.stated.box.setChecked(False)
        self._show_places()

    def arrange(self, breakpoint_: theme.Breakpoint) -> None:
        """Put the classes below each other where the font is large."""
        self._breakpoint = breakpoint_
        self._show_places()

    def forget(self) -> None:
        """Keep nothing that was stated when a study is shown next, be it the same."""
        self._study = None

    @property
    def summary(self) -> str:
        """Return in words what is stated, or, of classes that seem to be grades, the question; else nothing."""
        if self._study is None or not self.applies:
            return ""
        if self.stated.box.isChecked():
            return "the classes are in an order"
        return "are the classes in an order?" if in_grades(self._study.classes) else ""

    def ordered(self) -> tuple[str, ...] | None:
        """Return the names of the classes in their order; None if none is stated."""
        if self._study is None or not self.applies or not self.stated.box.isChecked():
            return None
        return tuple(self._study.classes[number] for number in self._order)

    def _show_places(self) -> None:
        if self._study is None or not self.applies:
            return
        self._say()
        self.boxes = []
        shown = self.stated.box.isChecked()
        for place, number in enumerate(self._order if shown else ()):
            box = ListBox(f"Place {place + 1} in the order")
            box.addItems([str(name) for name in self._study.wording.class_one])
            box.setCurrentIndex(number)
            box.activated.connect(lambda chosen, place=place: self._exchange(place, chosen))
            self.boxes.append(box)
        lay = in_column if self._breakpoint.large else in_row
        lay(*((box, 1) for box in self.boxes), on=self._places.renew(), spacing=theme.S)
        self._places.setVisible(shown)
        self._hint.setVisible(shown)
        self.changed.emit()

    def _say(self) -> None:
        assert self._study is not None
        one, two, three = (self._study.wording.class_one[number] for number in self._order[:3])
        self.stated.say(
            "Yes, and the further off a wrong answer is, the worse it is, or at least as bad",
            f"For example, {one} called {three} is never less bad than {one} called {two}, nor than {two} called "
            f"{three}. Only if you are certain: it is taken as given, and makes the costs much better known.",
        )

    def _exchange(self, place: int, chosen: int) -> None:
        other = self._order.index(chosen)
        self._order[place], self._order[other] = chosen, self._order[place]
        for box, number in zip(self.boxes, self._order, strict=True):
            box.setCurrentIndex(number)
        self._say()
        self.changed.emit()


_NONE_CHOSEN = "Choose a mistake"
_SENTENCE = "Only if you are certain: it is taken as given. If your answers contradict it, the result says so."


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
        words, add = (
            Label("is never worse than", theme.Role.LABEL, wrap=False),
            (self.add, 0, Qt.AlignmentFlag.AlignLeft),
        )
        in_row((self.first, 1), words, (self.second, 1), add, on=self._form, spacing=12, stacks="narrow")
        fill(self.column, self._list, (self.state, 0, Qt.AlignmentFlag.AlignLeft), self._form, self.refused)
        self._form.hide()
        self.refused.hide()
        self.state.toggled.connect(self._form.setVisible)

    def show_study(self, study: Study, family: Family) -> None:
        """Offer the mistakes of `study`; orders stated for the same study and family are kept."""
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
        self.refused.show_text("")
        self._show_stated()

    def forget(self) -> None:
        """Keep nothing that was stated when a study is shown next, be it the same."""
        self._study = None

    def orders(self) -> tuple[StatedOrder, ...] | None:
        """Return the stated orders; None if there are none.

        Raises
        ------
        ValueError
            If mistakes are chosen but not added.
        """
        if not self.isHidden() and (self.first.currentData() or self.second.currentData()):
            raise ValueError("You chose a mistake that is never worse than another, but did not add it")
        return tuple(self._stated.get(self._family, ())) or None

    def _add(self) -> None:
        study, one, other = self._study, self.first.currentData(), self.second.currentData()
        if study is None or one is None or other is None or one == other:
            self.refused.show_text("Choose two different mistakes.")
            return
        order = StatedOrder(*(_stated(study, key) for key in (one, other)))
        stated = self._stated.setdefault(self._family, [])
        try:
            constraints_of([*stated, order], study.classes, self._family)
        except Problem:
            self.refused.show_text(f"{self._words(order)}: this forms a circle with the above. Take one out first.")
            return
        if order not in stated:
            stated.append(order)
        for box in (self.first, self.second):
            box.setCurrentIndex(0)
        self.refused.show_text("")
        self._show_stated()
        self.first.setFocus(Qt.FocusReason.OtherFocusReason)

    def _take_out(self, order: StatedOrder) -> None:
        self._stated[self._family].remove(order)
        self.refused.show_text("")
        self._show_stated()
        self.state.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_stated(self) -> None:
        column = in_column(on=self._list.renew())
        stated = self._stated.get(self._family, [])
        for order in stated:
            label, out = Label(self._words(order), theme.Role.LABEL), LinkButton("Take it out")
            annotate(out, name=f"Take out: {self._words(order)}")
            out.clicked.connect(lambda _=False, order=order: self._take_out(order))
            column.addLayout(in_row((label, 1), (out, 0, Qt.AlignmentFlag.AlignTop), spacing=12))
        self._list.setVisible(bool(stated))
        self.changed.emit()

    @property
    def count(self) -> int:
        return len(self._stated.get(self._family, ()))

    def _words(self, order: StatedOrder) -> str:
        assert self._study is not None
        (constraint,) = constraints_of([order], self._study.classes, self._family)
        return order_words(constraint, self._study.wording, self._family)


def _stated(study: Study, key: Key) -> StatedMistake:
    true, predicted = key
    return StatedMistake(study.classes[true], None if predicted is None else study.classes[predicted])
