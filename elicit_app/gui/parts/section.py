"""Parts of a page: a card with a heading, and a block whose content is made anew."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements import Card, Label


class Block(QWidget):
    """A place for content that is made anew whenever what it shows changes."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._content = QWidget()
        self._column.addWidget(self._content)

    def renew(self) -> QWidget:
        """Drop what is shown and return an empty widget in its place, to be filled."""
        # Hidden at once, since a deleted widget is painted until the event loop has come round.
        self._content.hide()
        self._column.removeWidget(self._content)
        self._content.deleteLater()
        self._content = QWidget()
        self._column.addWidget(self._content)
        return self._content


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
