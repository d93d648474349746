"""A label with some words stressed."""

from __future__ import annotations

import html

from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements import Label


class StressedLabel(Label):
    """A text with some parts stressed; the words of a study are shown as they are."""

    def __init__(
        self,
        role: theme.Role = theme.Role.BODY,
        ink: QPalette.ColorRole = theme.INK,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(role=role, ink=ink, parent=parent)
        self.setTextFormat(Qt.TextFormat.RichText)

    def say(self, *parts: str) -> None:
        """Show `parts` one after another: the first plain, the second stressed, the third plain, and so on."""
        weights = (400, 600)
        spans = (
            f'<span style="font-weight:{weights[i % 2]}">{html.escape(part)}</span>' for i, part in enumerate(parts)
        )
        self.setText("".join(spans))
        self.setAccessibleName("".join(parts))
