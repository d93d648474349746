"""Texts, and the one way in which text from a file becomes a tooltip or a name: always as text, never as markup.

Qt reads a tooltip or a label that looks like markup as markup, and then opens the files it names. Labels are plain;
everything else that Qt shows goes through `tell`.
"""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QGuiApplication, QPainter, QPalette
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QToolTip, QWidget

from elicit_app.gui import theme
from metrics.text import html_text, isolated


def tell(widget: QWidget, *, tooltip: str | None = None, name: str | None = None, more: str | None = None) -> None:
    """Give `widget` a tooltip, its accessible name, or (`more`) its accessible description; None leaves it."""
    if tooltip is not None:
        widget.setToolTip(tooltip_text(tooltip))
    if name is not None:
        widget.setAccessibleName(isolated(name))
    if more is not None:
        widget.setAccessibleDescription(isolated(more))


def tooltip_text(text: str) -> str:
    """Return `text` for a tooltip: escaped, its lines kept; empty stays empty."""
    lines = "<br>".join(map(html_text, text.split("\n")))
    return f"<qt>{lines}</qt>" if text else ""


def tell_item(box: QComboBox, at: int, tooltip: str) -> None:
    """Give one item of a box its tooltip."""
    box.setItemData(at, tooltip_text(tooltip), Qt.ItemDataRole.ToolTipRole)


def show_tooltip(place: QPoint, text: str, widget: QWidget) -> None:
    """Show a tooltip over a part of a painted widget; `place` is on the screen."""
    QToolTip.showText(place, tooltip_text(text), widget)


def elided(
    text: str, metrics: QFontMetricsF, width: float, where: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle
) -> str:
    """Return `text` in one line, cut to `width` pixels: a name in its middle, since the ends tell names apart."""
    return metrics.elidedText(isolated(" ".join(text.split())), where, width)


def write(
    painter: QPainter,
    room: QRectF,
    text: str,
    face: QFont,
    ink: QColor,
    align: int = theme.LEFT,
    *,
    elide: bool = False,
) -> None:
    """Paint a text into `room`, in one line that is cut in its middle where it has no room (`elide`)."""
    painter.setFont(face)
    painter.setPen(ink)
    painter.drawText(room, align, elided(text, QFontMetricsF(face), room.width()) if elide else text)


class Label(QLabel):
    """A text in one of the roles of the type scale; it follows font and palette by itself.

    One that does not `wrap` keeps the window from becoming narrower than its text: only for short ones.
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
        super().__init__(isolated(text), parent)
        self._role, self._compact = role, False
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(wrap)
        self.setAlignment(align | Qt.AlignmentFlag.AlignVCenter)
        self.setForegroundRole(ink)
        self._refresh()
        app = QApplication.instance()
        if isinstance(app, QGuiApplication):
            app.fontChanged.connect(self._refresh)

    def setText(self, text: str) -> None:
        """Show `text`, names in it isolated."""
        super().setText(isolated(text))

    def show_text(self, text: str) -> None:
        """Show `text`; where it is empty, the label takes no room."""
        self.setText(text)
        self.setVisible(bool(text))

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


class StressedLabel(Label):
    """A text with some parts stressed; the words of a study are shown as they are."""

    def __init__(self, role: theme.Role = theme.Role.BODY, ink: QPalette.ColorRole = theme.INK) -> None:
        super().__init__(role=role, ink=ink)
        self.setTextFormat(Qt.TextFormat.RichText)

    def say(self, *parts: str) -> None:
        """Show `parts` one after another: the first plain, the second stressed, the third plain, and so on."""
        weights = (400, 600)
        # A number and its sign stay on one line.
        shown = (html_text(part).replace(" %", "\N{NO-BREAK SPACE}%") for part in parts)
        spans = (f'<span style="font-weight:{weights[i % 2]}">{part}</span>' for i, part in enumerate(shown))
        QLabel.setText(self, "".join(spans))
        self.setAccessibleName(isolated("".join(parts)))
