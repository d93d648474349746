"""Making both results equally bad: the number that is moved, its slider in the squares' scale, and the answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QEvent, QRectF, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QIntValidator, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QLineEdit, QSlider, QWidget

from elicit_app.elicitation.questions import Proposal
from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import AnswerButton, Button, MinorButton, PrimaryButton
from elicit_app.gui.elements.fields import IgnoresWheel
from elicit_app.gui.elements.painting import box, side_colours
from elicit_app.gui.elements.texts import tell
from elicit_app.gui.question.answers import AnswerRows
from elicit_app.gui.question.measures import Plan, Span
from elicit_app.gui.theme import em
from elicit_app.session.pair_words import letter_of
from elicit_app.session.views import Side

_HANDLE, _RING = 20, 28
_LARGE_STEP = 10


@dataclass(frozen=True)
class Moving:
    """The count that is being moved, and where it stands."""

    proposal: Proposal  # which mistake on which side (the first is the left one), and the ends of its scale
    count: int  # where it stands now
    # cases of other mistakes that stand in the same row, where a row counts any wrong answer for a truth
    others: int = 0

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
        """Return the near end of the scale as the row counts it."""
        return self.proposal.least + self.others

    @property
    def most(self) -> int:
        """Return the far end of the scale as the row counts it."""
        return self.proposal.most + self.others

    def at(self, shown: int) -> Moving:
        """Return the same with the row's number at `shown`, or at the end of the scale that it lies beyond."""
        count = min(max(shown - self.others, self.proposal.least), self.proposal.most)
        return replace(self, count=count)


class MoveField(IgnoresWheel, QLineEdit):
    """The number itself: arrows step it, digits replace it. Emits `moved` with the new number, `taken` at Enter."""

    moved = Signal(object)
    taken = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrame(False)
        self.setValidator(QIntValidator(0, 999_999, self))
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        self._moving: Moving | None = None
        self._replace = True
        self.textEdited.connect(self._typed)

    def show_move(self, moving: Moving) -> None:
        """Show where the number stands; what is being typed stays as it is typed."""
        self._moving = moving
        if self._replace:
            self.setText(str(moving.shown))

    def begin(self) -> None:
        """Take the focus; the first digit replaces the number."""
        self._replace = True
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def valid(self) -> bool:
        """Return whether what is typed lies on the scale."""
        moving, text = self._moving, self.text()
        return moving is not None and text.isdigit() and moving.least <= int(text) <= moving.most

    def _typed(self, text: str) -> None:
        self.moved.emit(int(text) if self.valid else None)

    def step(self, by: int) -> None:
        """Move the number by some cases."""
        self._go_to(None if self._moving is None else self._moving.shown + by)

    def _go_to(self, shown: int | None) -> None:
        if self._moving is None or shown is None:
            return
        self._replace = True
        self.moved.emit(self._moving.at(shown).shown)

    def takes(self, event: QKeyEvent) -> bool:
        """Do what a key means for the number; tell whether it meant anything."""
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
                self.taken.emit()
        else:
            return False
        return True

    def event(self, event: QEvent) -> bool:
        """Leave letters to the keys of the page: a line of text would keep them for itself."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            own = event.text().isdigit() or event.key() in (Qt.Key.Key_Backspace, Qt.Key.Key_Delete)
            event.setAccepted(own and not event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.takes(event):
            return
        if self._replace and event.text().isdigit():
            self.clear()
        self._replace = False
        super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Show the number again where what was typed lies beyond the scale."""
        super().focusOutEvent(event)
        self._replace = True
        if self._moving is not None:
            self.setText(str(self._moving.shown))

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._moving is not None:
            hue, _ = side_colours(theme.tokens(self), letter_of(self._moving.side))
            with QPainter(self) as painter:
                box(painter, QRectF(self.rect()), theme.BUTTON_RADIUS, border=hue, width=2)


class MoveSlider(IgnoresWheel, QSlider):
    """The scale of the number under its squares: the handle stands under the edge of their block."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._moving: Moving | None = None
        self._near = self._far = 0.0

    def show_move(self, moving: Moving, near: float, far: float) -> None:
        """Show a number; `near` and `far` are where the ends of its scale stand, in pixels from the left edge."""
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

    def sizeHint(self) -> QSize:
        return QSize(em(100), em(_RING))

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._moving is None:
            return
        colours, middle, x = theme.tokens(self), self.height() / 2, self._x(self.value())
        hue, _ = side_colours(colours, letter_of(self._moving.side))
        ring = min(em(_RING), self.height())
        handle = ring * _HANDLE / _RING
        with QPainter(self) as painter:
            for start, end, colour in ((self._near, x, hue), (x, self._far, colours.line2)):
                box(painter, QRectF(min(start, end), middle - 2, abs(end - start), 4), 2, fill=colour)
            box(painter, _around(x, middle, ring), ring / 2, fill=colours.surface, border=colours.ink, width=2)
            box(painter, _around(x, middle, handle), handle / 2, fill=colours.surface, border=colours.ink, width=2)
            box(painter, _around(x, middle, handle * 0.4), handle * 0.2, fill=colours.ink)


def _around(x: float, y: float, side: float) -> QRectF:
    return QRectF(x - side / 2, y - side / 2, side, side)


class MoveAnswers(AnswerRows):
    """The answers while a number is moved, in the places of the others: back, equally bad now, a bound, cannot say."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.back = AnswerButton(None, "Back to A or B", keys=("Esc",), parent=self)
        self.equal = PrimaryButton("Equally bad now", keys=("Enter",), parent=self)
        self.bound = AnswerButton(None, "", keys=("N",), parent=self)
        self.unsure = MinorButton("Cannot say, ask later", keys=("S",), parent=self)
        self.equal.role = theme.Role.LEAD
        for button, keys in ((self.back, "Escape"), (self.equal, "Enter"), (self.bound, "N"), (self.unsure, "S")):
            tell(button, name=button.text(), more=keys)

    @property
    def buttons(self) -> tuple[Button, ...]:
        """Return the buttons in the order of the Tab key."""
        return self.back, self.equal, self.bound, self.unsure

    def arrange(self, plan: Plan) -> None:
        """Take the columns of the comparison, and the sizes and words for the room there is."""
        self._plan = plan
        for button in self.buttons:
            button.set_compact(plan.sizes.compact)
        self.unsure.setText("Cannot say" if plan.sizes.compact else "Cannot say, ask later")
        self.back.setText("Back" if plan.room.large else "Back to A or B")
        self.place()

    def say_bound(self, words: str) -> None:
        """Say what the far answer says: "Even 313 is less bad"."""
        self.bound.setText(words)
        tell(self.bound, name=words)

    @property
    def main(self) -> tuple[Button, Button, Button]:
        return self.back, self.equal, self.bound

    def place_below(self, plan: Plan, spans: Sequence[Span], y: int) -> None:
        self.unsure.setGeometry(spans[1].x, y, spans[1].width, plan.frame.minor)
