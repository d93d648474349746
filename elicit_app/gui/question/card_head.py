"""The head of the ledger: which column is A's, which is B's."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from elicit_app.gui import theme
from elicit_app.gui.elements import Badge, Label
from elicit_app.gui.question.measures import Plan
from elicit_app.gui.theme import em


class CardHead(QWidget):
    """Names the columns: "Result [A]", "What differs", "[B] Result"."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._left, self._middle, self._right = (
            Label(text, theme.Role.LABEL, theme.INK2, wrap=False, parent=self)
            for text in ("Result", "What differs", "Result")
        )
        self.badges = (Badge("A", parent=self), Badge("B", parent=self))

    def place(self, plan: Plan) -> None:
        """Put the parts over the columns."""
        size, middle = plan.sizes, self.height() // 2
        side = em(size.badge)
        for badge, x in zip(
            self.badges, (plan.ledger.a.end - size.inner - side, plan.ledger.b.x + size.inner), strict=True
        ):
            badge.set_size(size.badge)
            badge.setGeometry(x, middle - side // 2, side, side)
        hint = self._left.sizeHint()
        y, wide = middle - hint.height() // 2, self._middle.sizeHint().width()
        self._left.setGeometry(self.badges[0].x() - theme.S - hint.width(), y, hint.width(), hint.height())
        self._right.setGeometry(self.badges[1].x() + side + theme.S, y, hint.width(), hint.height())
        self._middle.setVisible(not size.stacked)
        self._middle.setGeometry((self.width() - wide) // 2, y, wide, hint.height())
