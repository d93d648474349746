"""The means of answering: fixed buttons, the number that is moved until both results are equal, and the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from PySide6.QtCore import QEvent, QRectF, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFocusEvent, QIntValidator, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QLineEdit, QSlider, QWidget

from elicit_app.elicitation.questions import Moved, Proposal, Strength
from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import AnswerButton, Button, MinorButton, PrimaryButton
from elicit_app.gui.elements.fields import NUMBERS, Field, IgnoresWheel
from elicit_app.gui.elements.painting import Painted, Sized, annotate, box, side_colours
from elicit_app.gui.question.layout import GAP, Plan, Span, answer_spans
from elicit_app.gui.theme import em
from elicit_app.session.journal.events import LONGEST_REASON
from elicit_app.session.pair_words import letter_of
from elicit_app.session.views import Reply, Side


class AnswerChoice(NamedTuple):
    """The meaning of an answer's key or button: a side, equal or unsure, and the strength of preference for a side."""

    reply: Reply
    strength: Strength | None = None


@dataclass(frozen=True)
class GivenAnswer:
    """An answer as the page passes it on."""

    request: int  # the number of the view it answers
    reply: Reply  # the answer; left is A
    strength: Strength | None  # slightly or clearly, only with a side
    seconds: float  # since the question was painted
    full_picture: bool  # whether the full picture was seen
    # the count that was moved to make both results equally bad; its first side is the left one
    moved: Moved | None = None
    reason: str = ""  # the person's comment on the answer, or empty


class AnswerRows(QWidget):
    """Three answers side by side (`main`), and smaller ones below them, in the columns of a plan."""

    main: tuple[Button, Button, Button]  # from left to right
    buttons: tuple[Button, ...]  # in Tab order

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._plan: Plan | None = None

    def place_below(self, plan: Plan, spans: Sequence[Span], y: int) -> None:
        raise NotImplementedError

    def needed_height(self) -> int:
        if self._plan is None:
            return 0
        return self._first_height(self._plan) + self._plan.frame.answer_gap + self._second_height(self._plan)

    def _first_height(self, plan: Plan) -> int:
        wrapped = [b.text_height(span.width) for b, span in zip(self.main, answer_spans(plan), strict=True)]
        return max(plan.frame.answer, *wrapped)

    def _second_height(self, plan: Plan) -> int:
        return plan.frame.minor

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.place()

    def place(self) -> None:
        if self._plan is None:
            return
        high, spans = self._first_height(self._plan), answer_spans(self._plan)
        for button, span in zip(self.main, spans, strict=True):
            button.setGeometry(span.x, 0, span.width, high)
        self.place_below(self._plan, spans, high + self._plan.frame.answer_gap)


class Answers(AnswerRows):
    """Three answers and five finer ones, in the columns of the comparison. Emits `given` with an `AnswerChoice`."""

    given = Signal(object)
    equalise_requested = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.a = AnswerButton("A", "A is better", parent=self)
        self.equal = AnswerButton(None, "About equal", parent=self)
        self.b = AnswerButton("B", "B is better", parent=self)
        self.clearly_a, self.slightly_a = MinorButton(parent=self), MinorButton(parent=self)
        self.unsure = MinorButton(keys=("S",), parent=self)
        self.slightly_b, self.clearly_b = MinorButton(parent=self), MinorButton(parent=self)
        self.equalise = MinorButton("Make them equal", self.equalise_requested, keys=("E",), parent=self)
        self.equalise.hide()
        self.main = self.a, self.equal, self.b
        minor = self.clearly_a, self.slightly_a, self.equalise, self.unsure, self.slightly_b, self.clearly_b
        self.buttons = *self.main, *minor
        meaning = "Move one number until both results are equally bad"
        annotate(self.equalise, name="Make them equal", more="E", tooltip=meaning)
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
            annotate(button, name=name, more=keys, tooltip="" if button in self.main else f"{name}: {keys.lower()}")
            button.clicked.connect(lambda _=False, r=reply, s=strength: self.given.emit(AnswerChoice(r, s)))

    def offer_equalise(self, offered: bool) -> None:
        self.equalise.setVisible(offered)
        if self._plan is not None:
            self.arrange(self._plan)

    def arrange(self, plan: Plan) -> None:
        """Take the columns of the comparison, and the sizes and texts for the available room."""
        self._plan, room = plan, plan.room
        small = plan.sizes.compact
        for button in self.buttons:
            button.set_compact(small)
        self.a.set_keys(*(("Left",) if small else ("Left", "1")))
        self.equal.set_keys(*(("Down",) if small else ("Down", "0")))
        self.b.set_keys(*(("Right",) if small else ("Right", "2")))
        short = small or not self.equalise.isHidden()
        self.unsure.setText("Cannot say" if short else "Cannot say, ask later")
        self.equalise.setText("Make equal" if small else "Make them equal")
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
        """Omit the key caps of "Make them equal" and "Cannot say" if they would leave too little room for the texts."""
        self.equalise.set_keys("E")
        self.unsure.set_keys("S")
        if not self.equalise.isHidden() and self.equalise.sizeHint().width() + self.unsure.sizeHint().width() > width:
            self.equalise.set_keys()
            self.unsure.set_keys()

    def minimum_width(self) -> int:
        """Return the least width in which no word of an answer is cut."""
        minor = theme.S + max(self.clearly_a.minimumSizeHint().width(), self.slightly_a.minimumSizeHint().width()) * 2
        sides = max(minor, self.a.minimumSizeHint().width())
        middle = max(self.equal.minimumSizeHint().width(), self.unsure.minimumSizeHint().width())
        return 2 * sides + middle + 2 * GAP

    def _second_height(self, plan: Plan) -> int:
        if self.equalise.isHidden():
            return plan.frame.minor
        widths = self._middle_widths(answer_spans(plan)[1].width)
        wrapped = [one.text_height(width) for one, width in zip((self.equalise, self.unsure), widths, strict=True)]
        return max(plan.frame.minor, *wrapped)

    def place_below(self, plan: Plan, spans: Sequence[Span], y: int) -> None:
        high = self._second_height(plan)
        for pair, (x, width) in (
            ((self.clearly_a, self.slightly_a), spans[0]),
            ((self.slightly_b, self.clearly_b), spans[2]),
        ):
            half = (width - theme.S) // 2
            pair[0].setGeometry(x, y, half, high)
            pair[1].setGeometry(x + width - half, y, half, high)
        self._place_middle(spans[1], y, high)

    def _place_middle(self, span: Span, y: int, high: int) -> None:
        """Place "Make them equal" and "Cannot say", each as wide as its text needs."""
        if self.equalise.isHidden():
            self.unsure.setGeometry(span.x, y, span.width, high)
            return
        first, second = self._middle_widths(span.width)
        self.equalise.setGeometry(span.x, y, first, high)
        self.unsure.setGeometry(span.x + first + theme.S, y, second, high)

    def _middle_widths(self, width: int) -> tuple[int, int]:
        wanted = self.equalise.sizeHint().width(), self.unsure.sizeHint().width()
        first = round((width - theme.S) * wanted[0] / sum(wanted))
        return first, width - theme.S - first


ANSWER_KEYS = {
    "Left": AnswerChoice("left"),
    "1": AnswerChoice("left"),
    "Right": AnswerChoice("right"),
    "2": AnswerChoice("right"),
    "Down": AnswerChoice("equal"),
    "0": AnswerChoice("equal"),
    "S": AnswerChoice("unsure"),
    "Shift+Left": AnswerChoice("left", Strength.SLIGHTLY),
    "Shift+Right": AnswerChoice("right", Strength.SLIGHTLY),
    "Ctrl+Left": AnswerChoice("left", Strength.CLEARLY),
    "Ctrl+Right": AnswerChoice("right", Strength.CLEARLY),
}


_HANDLE, _RING = 20, 28
_LARGE_STEP = 10


@dataclass(frozen=True)
class MoveState:
    """A count that is being moved, and its current value."""

    proposal: Proposal  # the mistake, its side (the first is the left one), and the ends of the scale
    count: int  # the current value
    # cases of other mistakes in the same row, if a row counts any wrong answer for a truth
    others: int = 0
    beyond: bool = False  # whether the number being typed is off the scale, so that no ratio applies

    @property
    def side(self) -> Side:
        """Return the side on the screen."""
        return "left" if self.proposal.side == "first" else "right"

    @property
    def shown(self) -> int:
        """Return the number of the row."""
        return self.count + self.others

    @property
    def least(self) -> int:
        """Return the near end of the scale, including the other mistakes of the row."""
        return self.proposal.least + self.others

    @property
    def most(self) -> int:
        """Return the far end of the scale, including the other mistakes of the row."""
        return self.proposal.most + self.others

    def at(self, shown: int) -> MoveState:
        """Return a copy with the row's number set to `shown`, limited to the scale."""
        count = min(max(shown - self.others, self.proposal.least), self.proposal.most)
        return replace(self, count=count, beyond=False)


class MoveField(IgnoresWheel, QLineEdit):
    """The number itself: arrows step it, digits replace it. Emits `moved` with the new number, on Enter `confirmed`."""

    moved = Signal(object)
    confirmed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrame(False)
        validator = QIntValidator(0, 999_999, self)
        validator.setLocale(NUMBERS)
        self.setValidator(validator)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        self._moving: MoveState | None = None
        self._replace = True
        self.textEdited.connect(self._typed)

    def show_move(self, moving: MoveState) -> None:
        """Show the current number; text being typed is not changed."""
        self._moving = moving
        self.setMaxLength(len(str(moving.most)))  # more digits would not be visible
        if self._replace:
            self.setText(str(moving.shown))

    def begin(self) -> None:
        """Take the focus; the first digit replaces the number."""
        self._replace = True
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def valid(self) -> bool:
        moving, text = self._moving, self.text()
        return moving is not None and text.isdecimal() and moving.least <= int(text) <= moving.most

    def _typed(self, text: str) -> None:
        self.moved.emit(int(text) if self.valid else None)

    def step(self, by: int) -> None:
        self._go_to(None if self._moving is None else self._moving.shown + by)

    def _go_to(self, shown: int | None) -> None:
        if self._moving is None or shown is None:
            return
        self._replace = True
        self.moved.emit(self._moving.at(shown).shown)

    def handle_key(self, event: QKeyEvent) -> bool:
        """Apply a key to the number, and return whether it had a meaning."""
        moving, key = self._moving, event.key()
        others = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
        if moving is None or event.modifiers() & others:
            return False
        outwards = -1 if moving.side == "left" else 1
        steps = {Qt.Key.Key_Left: -outwards, Qt.Key.Key_Right: outwards, Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1}
        ends = {Qt.Key.Key_Home: moving.least, Qt.Key.Key_End: moving.most}
        if key in steps:
            large = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self.step(steps[Qt.Key(key)] * (_LARGE_STEP if large else 1))
        elif key in ends:
            self._go_to(ends[Qt.Key(key)])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if not event.isAutoRepeat():
                self.confirmed.emit()
        else:
            return False
        return True

    def event(self, event: QEvent) -> bool:
        """Leave letters to the page's shortcuts, which a line edit would otherwise take."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            own = event.text().isdecimal() or event.key() in (Qt.Key.Key_Backspace, Qt.Key.Key_Delete)
            event.setAccepted(own and not event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.handle_key(event):
            return
        if self._replace and event.text().isdecimal():
            self.clear()
        self._replace = False
        super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Restore the number if the typed one is off the scale."""
        super().focusOutEvent(event)
        self._replace = True
        if self._moving is not None:
            self.setText(str(self._moving.shown))
            if self._moving.beyond:
                self.moved.emit(self._moving.shown)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._moving is not None:
            hue, _ = side_colours(theme.tokens(self), letter_of(self._moving.side))
            with QPainter(self) as painter:
                box(painter, QRectF(self.rect()), theme.BUTTON_RADIUS, border=hue, width=2)


class MoveSlider(Painted, IgnoresWheel, Sized, QSlider):
    """The scale of the number under its squares; the handle is under the edge of their block."""

    size_asked = size_least = (100, _RING)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._moving: MoveState | None = None
        self._near = self._far = 0.0

    def show_move(self, moving: MoveState, near: float, far: float) -> None:
        """Show a number; `near` and `far` are the ends of its scale in pixels from the left edge."""
        self._moving, self._near, self._far = moving, near, far
        with QSignalBlocker(self):
            self.setRange(moving.least, moving.most)
            self.setValue(moving.shown)
        self.update()

    def _x(self, shown: int) -> float:
        span = max(1, self.maximum() - self.minimum())
        return self._near + (self._far - self._near) * (shown - self.minimum()) / span

    def _pull(self, x: float) -> None:
        if self._far != self._near:
            share = min(1.0, max(0.0, (x - self._near) / (self._far - self._near)))
            self.setValue(round(self.minimum() + share * (self.maximum() - self.minimum())))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pull(event.position().x())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._pull(event.position().x())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def paint(self, painter: QPainter, colours: theme.Tokens) -> None:
        if self._moving is None:
            return
        middle, x = self.height() / 2, self._x(self.value())
        hue, _ = side_colours(colours, letter_of(self._moving.side))
        ring = min(em(_RING), self.height())
        handle = ring * _HANDLE / _RING
        for start, end, colour in ((self._near, x, hue), (x, self._far, colours.line2)):
            box(painter, QRectF(min(start, end), middle - 2, abs(end - start), 4), 2, fill=colour)
        box(painter, _around(x, middle, ring), ring / 2, fill=colours.surface, border=colours.ink, width=2)
        box(painter, _around(x, middle, handle), handle / 2, fill=colours.surface, border=colours.ink, width=2)
        box(painter, _around(x, middle, handle * 0.4), handle * 0.2, fill=colours.ink)


def _around(x: float, y: float, side: float) -> QRectF:
    return QRectF(x - side / 2, y - side / 2, side, side)


EQUAL_NOW = "Equally bad now"


class MoveAnswers(AnswerRows):
    """The answers while a number is moved, in place of the others: back, equally bad now, a bound, cannot say."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.back = AnswerButton(None, "Back to A or B", keys=("Esc",), parent=self)
        self.equal = PrimaryButton(EQUAL_NOW, keys=("Enter",), parent=self)
        self.bound = AnswerButton(None, "", keys=("N",), parent=self)
        self.unsure = MinorButton("Cannot say, ask later", keys=("S",), parent=self)
        self.equal.role = theme.Role.LEAD
        self.main = self.back, self.equal, self.bound
        self.buttons = *self.main, self.unsure
        for button, keys in ((self.back, "Escape"), (self.equal, "Enter"), (self.bound, "N"), (self.unsure, "S")):
            annotate(button, name=button.text(), more=keys)

    def arrange(self, plan: Plan) -> None:
        """Take the columns of the comparison, and the sizes and texts for the available room."""
        self._plan = plan
        for button in self.buttons:
            button.set_compact(plan.sizes.compact)
        self.unsure.setText("Cannot say" if plan.sizes.compact else "Cannot say, ask later")
        self.back.setText("Back" if plan.room.large else "Back to A or B")
        self.place()

    def set_bound_text(self, words: str) -> None:
        """Set the text of the far answer: "Even 313 is less bad"."""
        self.bound.setText(words)
        annotate(self.bound, name=words)

    def place_below(self, plan: Plan, spans: Sequence[Span], y: int) -> None:
        self.unsure.setGeometry(spans[1].x, y, spans[1].width, plan.frame.minor)


class ReasonField(Field):
    """A line for the reason; Enter keeps it for the next answer, Esc drops it. Emits `kept` and `dropped`."""

    kept = Signal()
    dropped = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(hint="Why? Enter keeps it for your answer, Esc drops it.", parent=parent)
        self.setMaxLength(LONGEST_REASON)
        annotate(self, name="Reason for the answer that follows")
        self.hide()

    def event(self, event: QEvent) -> bool:
        """Keep Esc and letters from the page's shortcuts."""
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.dropped.emit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.kept.emit()
        else:
            super().keyPressEvent(event)
