"""Can you trust this? What speaks for the result, what it was tested on, and what speaks against it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements import Card, Divider, Glyph, GlyphSign, Label, LinkButton, box
from elicit_app.gui.parts.section import Block
from elicit_app.session.views.figures import HeldOutView, TrustView
from elicit_app.session.views.outcome import ResultView


class Tally(QLabel):
    """One box for each answer kept aside, filled where it was predicted rightly."""

    def __init__(self, right: int, total: int, strong: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._right, self._total, self._strong = right, total, strong
        self.setAccessibleName(f"{right} of {total} predicted")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(min(self._total * theme.em(20), theme.em(110)), theme.em(12))

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.em(40), theme.em(12))

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = theme.tokens(self)
        pitch = min(float(theme.em(20)), self.width() / max(self._total, 1))
        gap = 4.0 if pitch > 12 else 1.0
        with QPainter(self) as painter:
            for index in range(self._total):
                cell = QRectF(index * pitch, 0, pitch - gap, self.height())
                filled = index < self._right
                full = colours.ink if self._strong else colours.unit
                box(painter, cell, 2, fill=full if filled else None, border=full if filled else colours.line2)


class TrustCard(Card):
    """The panel beside the result. Emits `look_at` with the number of the answer a finding is about."""

    look_at = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(20, 18, 20, 18)
        self._column.setSpacing(12)
        self._title = Label("Can you trust this?", theme.Role.SECTION)
        self._sentence = Label(ink=theme.INK2)
        self._column.addWidget(self._title)
        self._column.addWidget(self._sentence)
        self._findings = Block()
        self._column.addWidget(self._findings)
        self._column.addStretch(1)

    def show_result(self, view: ResultView) -> None:
        """Show the findings of `view`: what is good, the answers kept aside, then the reservations."""
        self._sentence.setText(view.trust_sentence)
        column = QVBoxLayout(self._findings.renew())
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        good, bad = [t for t in view.trust if t.good], [t for t in view.trust if not t.good]
        for finding in good:
            column.addWidget(self._finding(finding))
        if view.held_out:
            said = any("kept aside" in finding.detail for finding in good)
            column.addWidget(_held_out(view.held_out, said))
        if bad and (good or view.held_out):
            column.addWidget(Divider())
        for finding in bad:
            column.addWidget(self._finding(finding))

    def _finding(self, finding: TrustView) -> QWidget:
        row = QWidget()
        across = QHBoxLayout(row)
        across.setContentsMargins(0, 0, 0, 0)
        across.setSpacing(12)
        sign = GlyphSign(Glyph.CHECK if finding.good else Glyph.WARNING, 15)
        across.addWidget(sign, 0, Qt.AlignmentFlag.AlignTop)
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(Label(finding.headline, theme.Role.STRONG))
        if finding.detail:
            words.addWidget(Label(finding.detail, theme.Role.NOTE, theme.INK2))
        if finding.question is not None:
            link = LinkButton(f"Look at question {finding.question}")
            link.clicked.connect(lambda _=False, number=finding.question: self.look_at.emit(number))
            words.addWidget(link, 0, Qt.AlignmentFlag.AlignLeft)
        across.addLayout(words, 1)
        return row


def _held_out(rules: Sequence[HeldOutView], said: bool) -> QWidget:
    """Return the table of how many answers kept aside each rule predicts; `said` where a finding leads over to it."""
    block = QWidget()
    grid = QGridLayout(block)
    grid.setContentsMargins(theme.em(15) + 12, 0, 0, 0)
    grid.setHorizontalSpacing(12)
    grid.setVerticalSpacing(6)
    if not said:
        caption = f"Agreement on {rules[0].total} answers kept aside:"
        grid.addWidget(Label(caption, theme.Role.NOTE, theme.INK2), 0, 0, 1, 3)
    for line, rule in enumerate(rules, start=1):
        role = theme.Role.STRONG if line == 1 else theme.Role.BODY
        grid.addWidget(Label(rule.name, role), line, 0)
        grid.addWidget(Tally(rule.right, rule.total, strong=line == 1), line, 1, Qt.AlignmentFlag.AlignVCenter)
        grid.addWidget(Label(f"{rule.right} of {rule.total}", role, wrap=False), line, 2)
    grid.setColumnStretch(0, 1)
    grid.setColumnStretch(1, 1)
    return block
