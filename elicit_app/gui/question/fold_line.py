"""The last line of the ledger: what has no row of its own, and the way to the full picture."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements import FlatButton, Glyph, GlyphSign, Label

_RIGHT = 14


class FoldLine(QWidget):
    """A sign, the sentence, and the button of the full picture."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sign = GlyphSign(Glyph.CLOSED, 14, self, ink=theme.INK2)
        self.sentence = Label(role=theme.Role.NOTE, ink=theme.INK3, parent=self)
        self.toggle = FlatButton("Full picture", keys=("F",), parent=self)
        self.toggle.role = theme.Role.MINOR

    def say(self, sentence: str, *, full: bool) -> None:
        """Show the sentence, and what the button leads to."""
        self.sentence.setText(sentence)
        self.toggle.setText("Only what differs" if full else "Full picture")
        self._sign.set_glyph(Glyph.OPEN if full else Glyph.CLOSED)

    def needed_height(self, width: int) -> int:
        """Return the height that the sentence takes."""
        return self.sentence.heightForWidth(self._sentence_width(width)) + theme.S

    def _sentence_x(self) -> int:
        return theme.M + self._sign.sizeHint().width() + theme.S

    def _sentence_width(self, width: int) -> int:
        return width - self._sentence_x() - self.toggle.sizeHint().width() - _RIGHT - theme.S

    def place(self) -> None:
        """Put the parts in their places."""
        sign, toggle, middle = self._sign.sizeHint(), self.toggle.sizeHint(), self.height() // 2
        self._sign.setGeometry(theme.M, middle - sign.height() // 2, sign.width(), sign.height())
        tall = min(toggle.height(), self.height() - theme.XS)
        self.toggle.setGeometry(self.width() - _RIGHT - toggle.width(), middle - tall // 2, toggle.width(), tall)
        self.sentence.setGeometry(self._sentence_x(), 0, self._sentence_width(self.width()), self.height())
