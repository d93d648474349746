"""Fields, choices with an explanation, and the names above them."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements import Label, box
from elicit_app.gui.parts.controls import HEIGHT, CheckSquare, RadioDot


class Field(QLineEdit):
    """A line of text in a rounded box; in focus its border is ink."""

    def __init__(self, text: str = "", hint: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.setPlaceholderText(hint)
        self.setFrame(False)
        self.setTextMargins(10, 0, 10, 0)

    def sizeHint(self) -> QSize:
        return QSize(theme.em(160), theme.em(HEIGHT))

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.em(60), theme.em(HEIGHT))

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        colours, focused = theme.tokens(self), self.hasFocus()
        with QPainter(self) as painter:
            border = colours.ink if focused else colours.line2
            box(painter, QRectF(self.rect()), theme.BUTTON_RADIUS, border=border, width=2 if focused else 1)


class CountedField(QWidget):
    """A field with the number of characters used and allowed; what is too long stays, and is said to be too long."""

    def __init__(self, name: str, longest: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._longest = longest
        across = QHBoxLayout(self)
        across.setContentsMargins(0, 0, 0, 0)
        across.setSpacing(theme.S)
        self.field = Field()
        self.field.setAccessibleName(name)
        self._count = Label(role=theme.Role.CAPTION, ink=theme.INK2, wrap=False, align=Qt.AlignmentFlag.AlignRight)
        across.addWidget(self.field, 1)
        across.addWidget(self._count)
        self.field.textChanged.connect(self._counted)
        self._counted("")

    @property
    def too_long(self) -> bool:
        """Tell whether the text is longer than the page has room for."""
        return len(self.field.text()) > self._longest

    def _counted(self, text: str) -> None:
        over = len(text) - self._longest
        said = f"{len(text)} of {self._longest}"
        self._count.setText(f"{said}, {over} too many" if over > 0 else said)
        self._count.setForegroundRole(theme.INK if over > 0 else theme.INK2)


class _Explained(QWidget):
    """A button to check, its text, and an explanation under it; both wrap, and a click on them presses the button."""

    def __init__(self, button: QAbstractButton, text: str, explanation: str) -> None:
        super().__init__()
        self.button = button
        row, words = QHBoxLayout(self), QVBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.S)
        words.setSpacing(2)
        self._title, self._explanation = Label(role=theme.Role.LABEL), Label(role=theme.Role.NOTE, ink=theme.INK2)
        words.addWidget(self._title)
        words.addWidget(self._explanation)
        row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 1)
        self.say(text, explanation)

    def say(self, text: str, explanation: str = "") -> None:
        """Change the words."""
        self._title.setText(text)
        self._explanation.setText(explanation)
        self._explanation.setVisible(bool(explanation))
        self.button.setAccessibleName(text)
        self.button.setAccessibleDescription(explanation)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self.button.isEnabled():
            self.button.setFocus(Qt.FocusReason.MouseFocusReason)
            self.button.click()


class ChoiceRow(_Explained):
    """One of several: a radio button."""

    def __init__(self, text: str, explanation: str = "") -> None:
        self.radio = RadioDot()
        super().__init__(self.radio, text, explanation)


class CheckRow(_Explained):
    """Yes or no: a check box."""

    def __init__(self, text: str, explanation: str = "") -> None:
        self.box = CheckSquare()
        super().__init__(self.box, text, explanation)


def named(name: str, widget: QWidget, *, focus: QWidget | None = None) -> QVBoxLayout:
    """Return `widget` with its name above it; `focus` is what the name belongs to, where that is inside of `widget`."""
    column = QVBoxLayout()
    column.setSpacing(4)
    label = Label(name, theme.Role.NOTE, theme.INK2)
    label.setBuddy(focus or widget)
    column.addWidget(label)
    column.addWidget(widget)
    if not (focus or widget).accessibleName():
        (focus or widget).setAccessibleName(name)
    return column
