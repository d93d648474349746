"""A card of a page: a heading, a sentence, and what there is to fill in."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements import Card, Label


class Section(Card):
    """Lay the content into `column`."""

    def __init__(self, title: str, sentence: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(20, 16, 20, 18)
        self.column.setSpacing(10)
        self.title, self.sentence = Label(title, theme.Role.SECTION), Label(sentence, theme.Role.BODY, theme.INK2)
        self.column.addWidget(self.title)
        self.column.addWidget(self.sentence)
        self.sentence.setVisible(bool(sentence))

    def say(self, sentence: str) -> None:
        """Change the sentence under the heading."""
        self.sentence.setText(sentence)
        self.sentence.setVisible(bool(sentence))
