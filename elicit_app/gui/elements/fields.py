"""Fields to type in, choose from or check, painted in the app's colours; keys and accessible roles are Qt's own."""

from __future__ import annotations

from PySide6.QtCore import QLocale, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QMouseEvent, QPainter, QPaintEvent, QPolygonF, QValidator, QWheelEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QLineEdit,
    QRadioButton,
    QSizePolicy,
    QSpinBox,
    QStyle,
    QStyleOptionSpinBox,
    QVBoxLayout,
    QWidget,
)

from elicit_app.gui import theme
from elicit_app.gui.elements.painting import Glyph, Label, Painted, Sized, annotate, box, paint_glyph, write
from elicit_app.gui.elements.surfaces import in_column, in_row

HEIGHT = 36  # height of a field in pixels at the base font
_SIDE = 18


class IgnoresWheel:
    """A mix-in for fields that ignore the wheel, which scrolls the page instead. List it before Qt's class."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class RadioDot(Painted, Sized, QRadioButton):
    """A radio button without text; its label is beside it."""

    size_asked = size_least = (_SIDE, _SIDE)

    def paint(self, painter: QPainter, colours: theme.Tokens) -> None:
        room = _square(self)
        _frame(painter, self, room, room.width() / 2)
        if self.isChecked():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colours.ink if self.isEnabled() else colours.ink3)
            painter.drawEllipse(room.center(), room.width() * 0.25, room.width() * 0.25)


class CheckSquare(Painted, Sized, QCheckBox):
    """A check box without text; its label is beside it."""

    size_asked = size_least = (_SIDE, _SIDE)

    def paint(self, painter: QPainter, colours: theme.Tokens) -> None:
        room = _square(self)
        _frame(painter, self, room, theme.KEY_RADIUS)
        if self.isChecked():
            ink = colours.ink if self.isEnabled() else colours.ink3
            paint_glyph(painter, Glyph.CHECK, room.adjusted(3, 3, -3, -3), ink, 2.2)


NUMBERS = QLocale(QLocale.Language.English, QLocale.Country.UnitedStates)
"""How fields write and read numbers, whatever the system's language: as the texts of the window do."""


class ListBox(Painted, IgnoresWheel, Sized, QComboBox):
    """A combo box that may be narrower than its longest entry.

    `name` is for screen readers. `widest` is in pixels at the base font; 0 takes the available width.
    """

    def __init__(self, name: str, widest: int = 0) -> None:
        super().__init__()
        self.size_asked, self.size_least = (widest or 260, HEIGHT), (90, HEIGHT)
        annotate(self, name=name)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(8)
        across = QSizePolicy.Policy.Maximum if widest else QSizePolicy.Policy.Preferred
        self.setSizePolicy(across, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def paint(self, painter: QPainter, colours: theme.Tokens) -> None:
        room = QRectF(self.rect())
        side = theme.em(14)
        _frame(painter, self, room, theme.BUTTON_RADIUS)
        chosen = self.currentIndex() >= 0
        ink = colours.ink if self.isEnabled() and chosen else colours.ink3
        text, face = room.adjusted(10, 0, -side - 16, 0), theme.font(theme.Role.BODY)
        said = self.currentText() if chosen else self.placeholderText()
        fitting = QFontMetrics(face).elidedText(said, Qt.TextElideMode.ElideRight, int(text.width()))
        write(painter, text, fitting, face, ink)
        chevron = QRectF(room.right() - side - 8, room.center().y() - side / 2, side, side)
        paint_glyph(painter, Glyph.OPEN, chevron, ink)


class NumberBox(IgnoresWheel, QSpinBox):
    """A whole number to type or step."""

    def __init__(self, name: str, low: int, high: int) -> None:
        super().__init__()
        annotate(self, name=name)
        self.setRange(low, high)
        self.setGroupSeparatorShown(True)
        prepare_spin(self)

    def sizeHint(self) -> QSize:
        return QSize(theme.em(96), theme.em(HEIGHT))

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_spin(self)


class DecimalBox(IgnoresWheel, Sized, QDoubleSpinBox):
    """A number with decimals to type or step."""

    size_asked, size_least = (110, HEIGHT), (84, HEIGHT)

    def __init__(self) -> None:
        super().__init__()
        prepare_spin(self)

    def validate(self, text: str, position: int) -> tuple[QValidator.State, str, int]:
        """Take a comma for the decimal point; English would drop it, and make 35 of "3,5"."""
        return super().validate(text.replace(",", "."), position)

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_spin(self)


def prepare_spin(spin: QAbstractSpinBox) -> None:
    """Prepare a spin box whose frame `paint_spin` paints, with numbers written as everywhere in the window."""
    spin.setLocale(NUMBERS)
    spin.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    line = spin.lineEdit()
    if line is not None:
        line.setTextMargins(6, 0, 0, 0)


def paint_spin(spin: QAbstractSpinBox) -> None:
    """Paint the frame and the step buttons of a spin box; its field paints itself."""
    option = QStyleOptionSpinBox()
    spin.initStyleOption(option)
    colours = theme.tokens(spin)
    with QPainter(spin) as painter:
        _frame(painter, spin, QRectF(spin.rect()), theme.BUTTON_RADIUS)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colours.ink2 if spin.isEnabled() else colours.ink3)
        for part, upward in ((QStyle.SubControl.SC_SpinBoxUp, -1), (QStyle.SubControl.SC_SpinBoxDown, 1)):
            room = QRectF(spin.style().subControlRect(QStyle.ComplexControl.CC_SpinBox, option, part, spin))
            middle, half = room.center() - QPointF(2, 0), theme.em(4)
            tip = middle + QPointF(0, upward * half * 0.7)
            foot = upward * half * 0.5
            painter.drawPolygon(QPolygonF([tip, middle + QPointF(half, -foot), middle + QPointF(-half, -foot)]))


def _frame(painter: QPainter, widget: QWidget, room: QRectF, radius: float) -> None:
    """Paint the surface and the border; the border is ink while the widget or its field has the focus."""
    colours, focused = theme.tokens(widget), widget.hasFocus()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    border = colours.ink if focused else colours.line2
    fill = colours.surface if widget.isEnabled() else colours.sunken
    box(painter, room, radius, fill=fill, border=border, width=2 if focused else 1)


def _square(widget: QWidget) -> QRectF:
    side = min(widget.width(), widget.height()) - 2
    room = QRectF(0, 0, side, side)
    room.moveCenter(QRectF(widget.rect()).center())
    return room


class Field(Sized, QLineEdit):
    """A line of text in a rounded box; while focused, its border is ink."""

    size_asked, size_least = (160, HEIGHT), (60, HEIGHT)

    def __init__(self, text: str = "", hint: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.setPlaceholderText(hint)
        self.setFrame(False)
        self.set_narrow(False)

    def set_narrow(self, narrow: bool) -> None:
        """Use small type near the border, for a field hardly wider than its text."""
        side = 4 if narrow else 10
        self.setTextMargins(side, 0, side, 0)
        self.setFont(theme.font(theme.Role.CAPTION) if narrow else QFont())

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        colours, focused = theme.tokens(self), self.hasFocus()
        with QPainter(self) as painter:
            border = colours.ink if focused else colours.line2
            box(painter, QRectF(self.rect()), theme.BUTTON_RADIUS, border=border, width=2 if focused else 1)


class _Explained(QWidget):
    """A check or radio button with its text and an explanation; both wrap, and a click on them presses the button."""

    def __init__(self, button: QAbstractButton, text: str, explanation: str) -> None:
        super().__init__()
        self.button = button
        self._title, self._explanation = Label(role=theme.Role.LABEL), Label(role=theme.Role.NOTE, ink=theme.INK2)
        self._side_text = Label(role=theme.Role.NOTE, ink=theme.INK2, wrap=False)
        words = in_column(self._title, self._explanation, spacing=2)
        in_row(
            (button, 0, Qt.AlignmentFlag.AlignTop),
            (words, 1),
            (self._side_text, 0, Qt.AlignmentFlag.AlignTop),
            on=self,
            spacing=theme.S,
        )
        self.say(text, explanation)

    def say(self, text: str, explanation: str = "", side_text: str = "") -> None:
        """Change the words; `side_text` is on their right."""
        self._side_text.show_text(side_text)
        self._title.setText(text)
        self._explanation.show_text(explanation)
        annotate(self.button, name=text, more=", ".join(part for part in (explanation, side_text) if part))

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


def named(widget: QWidget, name: str = "") -> QVBoxLayout:
    """Return `widget` with a name above it, by default the one that screen readers say."""
    label = Label(name or widget.accessibleName(), theme.Role.NOTE, theme.INK2)
    label.setBuddy(widget)
    if not widget.accessibleName():
        annotate(widget, name=name)
    return in_column(label, widget, spacing=4)
