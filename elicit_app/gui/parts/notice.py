"""A band under the head of a page: one sentence, and one thing to do about it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements import Card, Glyph, GlyphSign, Label, OutlineButton, Surface


class Notice(Card):
    """Says what could not be done, or that something was done; hidden while there is nothing to say.

    Emits `pressed` when its button is pressed.
    """

    pressed = Signal()

    def __init__(self, button: str = "Try again", parent: QWidget | None = None) -> None:
        super().__init__(Surface.BAND, parent)
        across = QHBoxLayout(self)
        across.setContentsMargins(theme.M, 10, theme.M, 10)
        across.setSpacing(12)
        self._sign = GlyphSign(Glyph.WARNING, 18)
        self._sentence = Label(role=theme.Role.LABEL)
        self.button = OutlineButton(button)
        across.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        across.addWidget(self._sentence, 1)
        across.addWidget(self.button)
        self.button.clicked.connect(self.pressed)
        self.hide()

    @property
    def sentence(self) -> str:
        """Return what is said."""
        return self._sentence.text()

    def say(self, sentence: str, *, good: bool = False, button: str = "") -> None:
        """Show `sentence`, or hide the band where it is empty; without `button` there is nothing to press."""
        self._sentence.setText(sentence)
        self._sign.set_glyph(Glyph.CHECK if good else Glyph.WARNING)
        self.button.setText(button)
        self.button.setVisible(bool(button))
        self.setVisible(bool(sentence))
