"""The answers: A, about equal, B, and below them the finer ones. They never move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from elicit_app.elicitation.questions import Moved, Strength
from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import AnswerButton, Button, MinorButton
from elicit_app.gui.elements.texts import tell
from elicit_app.gui.question.measures import GAP, Plan, Span, answer_spans
from elicit_app.session.views import Reply


class Pressed(NamedTuple):
    """What a key or a button of the answers says: a side, equal or unsure, and how strongly a side is preferred."""

    reply: Reply
    strength: Strength | None = None


@dataclass(frozen=True)
class GivenAnswer:
    """An answer as the page hands it on."""

    request: int  # the number of the view it answers
    reply: Reply  # what was answered; left is A
    strength: Strength | None  # slightly or clearly, with a side
    seconds: float  # since the question was painted
    full_picture: bool  # whether the full picture was seen
    # the count that was moved, where both results were made equally bad; its first side is the left one
    moved: Moved | None = None
    reason: str = ""  # what the person typed about the answer, or empty


class AnswerRows(QWidget):
    """Three answers beside each other, and smaller ones below them, in the columns of a plan."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._plan: Plan | None = None

    @property
    def main(self) -> tuple[Button, Button, Button]:
        """Return the three answers, from the left."""
        raise NotImplementedError

    def place_below(self, plan: Plan, spans: Sequence[Span], y: int) -> None:
        """Place the smaller answers from `y` on."""
        raise NotImplementedError

    def needed_height(self) -> int:
        """Return the height of both lines of answers."""
        if self._plan is None:
            return 0
        return self._first_height(self._plan) + self._plan.frame.answer_gap + self._plan.frame.minor

    def _first_height(self, plan: Plan) -> int:
        wrapped = [b.text_height(span.width) for b, span in zip(self.main, answer_spans(plan), strict=True)]
        return max(plan.frame.answer, *wrapped)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.place()

    def place(self) -> None:
        """Place all answers by the plan, once there is one."""
        if self._plan is None:
            return
        high, spans = self._first_height(self._plan), answer_spans(self._plan)
        for button, span in zip(self.main, spans, strict=True):
            button.setGeometry(span.x, 0, span.width, high)
        self.place_below(self._plan, spans, high + self._plan.frame.answer_gap)


class Answers(AnswerRows):
    """Three answers and five finer ones, in the columns of the comparison. Emits `given` with a `Pressed`."""

    given = Signal(object)
    level_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.a = AnswerButton("A", "A is better", parent=self)
        self.equal = AnswerButton(None, "About equal", parent=self)
        self.b = AnswerButton("B", "B is better", parent=self)
        self.clearly_a, self.slightly_a = MinorButton(parent=self), MinorButton(parent=self)
        self.unsure = MinorButton(keys=("S",), parent=self)
        self.slightly_b, self.clearly_b = MinorButton(parent=self), MinorButton(parent=self)
        self.level = MinorButton("Make them equal", keys=("E",), parent=self)
        self.level.clicked.connect(self.level_requested)
        self.level.hide()
        tell(self.level, name="Make them equal", more="E", tooltip="Move one number until both results are equally bad")
        for button, name, keys, reply, strength in (
            (self.a, "A is better", "Left arrow or 1", "left", None),
            (self.equal, "About equal", "Down arrow or 0", "equal", None),
            (self.b, "B is better", "Right arrow or 2", "right", None),
            (self.clearly_a, "clearly A", "Control and left arrow", "left", Strength.CLEARLY),
            (self.slightly_a, "slightly A", "Shift and left arrow", "left", Strength.SLIGHTLY),
            (self.unsure, "Cannot say, ask later", "S", "unsure", None),
            (self.slightly_b, "slightly B", "Shift and right arrow", "right", Strength.SLIGHTLY),
            (self.clearly_b, "clearly B", "Control and right arrow", "right", Strength.CLEARLY),
        ):
            spelled_out = button in (self.a, self.equal, self.b)
            tell(button, name=name, more=keys, tooltip="" if spelled_out else f"{name}: {keys.lower()}")
            button.clicked.connect(lambda _=False, r=reply, s=strength: self.given.emit(Pressed(r, s)))

    @property
    def buttons(self) -> tuple[Button, ...]:
        """Return the buttons in the order of the Tab key."""
        level = () if self.level.isHidden() else (self.level,)
        minor = (self.clearly_a, self.slightly_a, *level, self.unsure, self.slightly_b, self.clearly_b)
        return (*self.main, *minor)

    def offer_level(self, offered: bool) -> None:
        """Offer to make both results equally bad, beside "Cannot say"."""
        self.level.setVisible(offered)
        if self._plan is not None:
            self.arrange(self._plan)

    def arrange(self, plan: Plan) -> None:
        """Take the columns of the comparison, and the sizes and words for the room there is."""
        self._plan, room = plan, plan.room
        small = plan.sizes.compact
        for button in self.buttons:
            button.set_compact(small)
        self.a.set_keys(*(("Left",) if small else ("Left", "1")))
        self.equal.set_keys(*(("Down",) if small else ("Down", "0")))
        self.b.set_keys(*(("Right",) if small else ("Right", "2")))
        short = small or not self.level.isHidden()
        self.unsure.setText("Cannot say" if short else "Cannot say, ask later")
        self.level.setText("Make equal" if small else "Make them equal")
        a, b = ("", "") if room.large else (" A", " B")
        self.clearly_a.setText(f"clearly{a}")
        self.slightly_a.setText(f"slightly{a}")
        self.slightly_b.setText(f"slightly{b}")
        self.clearly_b.setText(f"clearly{b}")
        half = (plan.answers.a.width - theme.S) // 2
        for button, keys in (
            (self.clearly_a, ("Ctrl", "Left")),
            (self.slightly_a, ("Shift", "Left")),
            (self.slightly_b, ("Shift", "Right")),
            (self.clearly_b, ("Ctrl", "Right")),
        ):
            button.set_keys(*keys)
            if button.width_for(button.text()) > half:
                button.set_keys()
        self._fit_middle(answer_spans(plan)[1].width)
        self.place()

    def _fit_middle(self, width: int) -> None:
        """Leave out the key caps of "Make them equal" and "Cannot say" where the words would be cut beside them."""
        self.level.set_keys("E")
        self.unsure.set_keys("S")
        if not self.level.isHidden() and self.level.sizeHint().width() + self.unsure.sizeHint().width() > width:
            self.level.set_keys()
            self.unsure.set_keys()

    def minimum_width(self) -> int:
        """Return the least width in which no word of an answer is cut."""
        minor = theme.S + max(self.clearly_a.minimumSizeHint().width(), self.slightly_a.minimumSizeHint().width()) * 2
        sides = max(minor, self.a.minimumSizeHint().width())
        middle = max(self.equal.minimumSizeHint().width(), self.unsure.minimumSizeHint().width())
        return 2 * sides + middle + 2 * GAP

    @property
    def main(self) -> tuple[Button, Button, Button]:
        return self.a, self.equal, self.b

    def place_below(self, plan: Plan, spans: Sequence[Span], y: int) -> None:
        for pair, (x, width) in (
            ((self.clearly_a, self.slightly_a), spans[0]),
            ((self.slightly_b, self.clearly_b), spans[2]),
        ):
            half = (width - theme.S) // 2
            pair[0].setGeometry(x, y, half, plan.frame.minor)
            pair[1].setGeometry(x + width - half, y, half, plan.frame.minor)
        self._place_middle(spans[1], y, plan.frame.minor)

    def _place_middle(self, span: Span, y: int, high: int) -> None:
        """Place "Make them equal" and "Cannot say", each as wide as its words ask for."""
        if self.level.isHidden():
            self.unsure.setGeometry(span.x, y, span.width, high)
            return
        wanted = self.level.sizeHint().width(), self.unsure.sizeHint().width()
        first = round((span.width - theme.S) * wanted[0] / sum(wanted))
        self.level.setGeometry(span.x, y, first, high)
        self.unsure.setGeometry(span.x + first + theme.S, y, span.width - first - theme.S, high)


ANSWER_KEYS = {
    "Left": Pressed("left"),
    "1": Pressed("left"),
    "Right": Pressed("right"),
    "2": Pressed("right"),
    "Down": Pressed("equal"),
    "0": Pressed("equal"),
    "S": Pressed("unsure"),
    "Shift+Left": Pressed("left", Strength.SLIGHTLY),
    "Shift+Right": Pressed("right", Strength.SLIGHTLY),
    "Ctrl+Left": Pressed("left", Strength.CLEARLY),
    "Ctrl+Right": Pressed("right", Strength.CLEARLY),
}
