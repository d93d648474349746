"""What both forms of the full picture share: the branches of a pair, and every number in words."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QWidget

from elicit_app.elicitation.questions import Counts
from elicit_app.session.words.branches import Branch, branches
from elicit_app.study.model import Wording

MOST_CLASSES = 5
"""Above this many classes what is the same is joined."""


class FullPicture(QLabel):
    """A painted label, so that it reads like a text: its accessible name lists every number."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.full: tuple[Branch, ...] = ()
        self.condensed: tuple[Branch, ...] = ()

    def show_pair(self, left: Counts, right: Counts, wording: Wording) -> None:
        """Show a pair of confusion matrices; rows are true classes."""
        self.condensed = branches(left, right, wording, condensed=True)
        few = len(left) <= MOST_CLASSES
        self.full = branches(left, right, wording) if few else self.condensed
        self.setAccessibleName(". ".join(_spoken(branch) for branch in self.full))
        self.update()

    def needed_height(self, width: int) -> int:
        """Return the least height in which no line is cut."""
        raise NotImplementedError

    def wanted_height(self, width: int) -> int:
        """Return the height at which the view looks best."""
        raise NotImplementedError


def _spoken(branch: Branch) -> str:
    said = [
        f"{leaf.said}{', correct' if leaf.correct else ''}: {leaf.left:,} in A, {leaf.right:,} in B"
        for leaf in branch.leaves
    ]
    return f"Truth {branch.truth}, {branch.total:,}; model says " + "; ".join(said)
