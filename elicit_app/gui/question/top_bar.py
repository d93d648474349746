"""The top bar: how far one is to the left, the actions to the right."""

from __future__ import annotations

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements import Button, Label, ProgressBar, tell
from elicit_app.gui.theme import Breakpoint, em

_BAR = 6
_BAR_WIDTH = 248
_BETWEEN_ACTIONS = 14


class TopBar(QWidget):
    """Progress in words and as a bar; with a large font the bar takes the whole width below the words.

    Parameters
    ----------
    actions : tuple of Button
        From left to right; they become children of the bar.
    brief : tuple of str
        Their texts where there is little room.
    """

    def __init__(self, actions: tuple[Button, ...], brief: tuple[str, ...], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.strong = Label(role=theme.Role.STRONG, wrap=False, parent=self)
        self.quiet = Label(role=theme.Role.BODY, ink=theme.INK2, wrap=False, parent=self)
        self.progress = ProgressBar(self)
        self._actions, self._brief = actions, brief
        self._texts = tuple(action.text() for action in actions)
        for action in actions:
            action.setParent(self)
            tell(action, name=action.text())
        self._room = Breakpoint(False, False, False)

    def show_progress(self, strong: str, quiet: str, share: float, spoken: str) -> None:
        """Show how far one is: "Question 7,", "about 5 to 8 more", the share done, and the same in words."""
        self.strong.setText(strong)
        self.quiet.setText(quiet)
        self.progress.set_share(share, spoken)
        self._place()

    def rename(self, action: Button, text: str, brief: str) -> None:
        """Give an action other words."""
        place = self._actions.index(action)
        self._texts = (*self._texts[:place], text, *self._texts[place + 1 :])
        self._brief = (*self._brief[:place], brief, *self._brief[place + 1 :])
        tell(action, name=text)
        self._place()

    def arrange(self, room: Breakpoint) -> None:
        """Take the room there is."""
        self._room = room
        self._place()

    def needed_height(self, width: int) -> int:
        """Return the height the bar takes at this width."""
        if not self._room.large:
            return em(40)
        lines = 1 if self._fits_one_line(width) else 2
        return max(self._action_height(), lines * self.strong.sizeHint().height()) + _BAR + 14

    def minimum_width(self) -> int:
        """Return the least width in which nothing overlaps."""
        words = max(self.strong.sizeHint().width(), self.quiet.sizeHint().width())
        if not self._room.large:
            words = max(em(_BAR_WIDTH), self._words_width())
        return words + theme.M + self._actions_width(self._brief)

    def _words_width(self) -> int:
        return self.strong.sizeHint().width() + em(5) + self.quiet.sizeHint().width()

    def _actions_width(self, texts: tuple[str, ...]) -> int:
        widths = [action.width_for(text) for action, text in zip(self._actions, texts, strict=True)]
        return sum(widths) + _BETWEEN_ACTIONS * max(0, len(widths) - 1)

    def _shorten(self) -> None:
        """Take the brief texts with a large font, and where the others do not fit."""
        words = max(em(_BAR_WIDTH), self._words_width()) + theme.M
        brief = self._room.large or words + self._actions_width(self._texts) > self.width()
        for action, text in zip(self._actions, self._brief if brief else self._texts, strict=True):
            action.setText(text)

    def _action_height(self) -> int:
        return em(26) if self._room.large else em(40)

    def _fits_one_line(self, width: int) -> bool:
        return self._words_width() + theme.M + self._actions_width(self._brief) <= width

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        self._shorten()
        line = self.strong.sizeHint().height()
        two_lines = self._room.large and not self._fits_one_line(self.width())
        top = 0 if two_lines else (self._action_height() - line) // 2 if self._room.large else em(5)
        self.strong.setGeometry(0, top, self.strong.sizeHint().width(), line)
        x, y = (0, top + line) if two_lines else (self.strong.width() + em(5), top)
        self.quiet.setGeometry(x, y, self.quiet.sizeHint().width(), line)
        bar = self.width() if self._room.large else min(self.width(), em(_BAR_WIDTH))
        below = self.height() - _BAR - (theme.S if self._room.large else 0)
        self.progress.setGeometry(0, below, bar, _BAR)
        x = self.width()
        for action in reversed(self._actions):
            width = action.sizeHint().width()
            action.setGeometry(x - width, 0, width, self._action_height())
            x -= width + _BETWEEN_ACTIONS
        self.update()
