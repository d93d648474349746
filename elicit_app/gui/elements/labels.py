"""Texts: a label with a role, an ink and word wrap."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from elicit_app.gui import theme


class Label(QLabel):
    """A text in one of the roles of the type scale; it follows font and palette by itself.

    Parameters
    ----------
    text : str
        Plain text; it wraps unless `wrap` is false.
    role : theme.Role
        Size and weight.
    ink : QPalette.ColorRole
        theme.INK, theme.INK2 or theme.INK3.
    wrap : bool
        A label that does not wrap keeps the window from becoming narrower than its text: only for short ones.
    align : Qt.AlignmentFlag
        Horizontal place of the text.
    """

    def __init__(
        self,
        text: str = "",
        role: theme.Role = theme.Role.BODY,
        ink: QPalette.ColorRole = theme.INK,
        *,
        wrap: bool = True,
        align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(text, parent)
        self._role, self._compact = role, False
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(wrap)
        self.setAlignment(align | Qt.AlignmentFlag.AlignVCenter)
        self.setForegroundRole(ink)
        self._refresh()
        app = QApplication.instance()
        if isinstance(app, QGuiApplication):
            app.fontChanged.connect(self._refresh)

    @property
    def role(self) -> theme.Role:
        """Return the role of the text."""
        return self._role

    def set_role(self, role: theme.Role, *, compact: bool | None = None) -> None:
        """Change the role, and whether the page is compact."""
        self._role = role
        self._compact = self._compact if compact is None else compact
        self._refresh()

    def set_compact(self, compact: bool) -> None:
        """Take the size for a compact page, or for a wide one."""
        self._compact = compact
        self._refresh()

    def _refresh(self) -> None:
        self.setFont(theme.font(self._role, compact=self._compact))
