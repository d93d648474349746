"""The full picture of a pair: for every truth, what the model says in A and in B. Rows are true classes."""

from __future__ import annotations

from typing import NamedTuple

from elicit_app.elicitation.questions import Counts
from elicit_app.study.model import Wording


class Leaf(NamedTuple):
    """What the model says of the cases of one truth, and how many there are in A (left) and in B (right)."""

    said: str
    left: int
    right: int
    correct: bool

    @property
    def differs(self) -> bool:
        """Tell whether this is a mistake whose number differs; the right answers merely follow."""
        return not self.correct and self.left != self.right

    @property
    def surplus(self) -> int:
        """Return how many more the larger side has."""
        return abs(self.left - self.right)


class Branch(NamedTuple):
    """One truth, its cases, and what the model says of them."""

    truth: str
    total: int
    leaves: tuple[Leaf, ...]


def branches(left: Counts, right: Counts, wording: Wording, *, condensed: bool = False) -> tuple[Branch, ...]:
    """Return the full picture in study order; every case is in exactly one leaf.

    Parameters
    ----------
    left, right : ndarray of int64, shape (k, k)
        Cases in A and in B.
    wording : Wording
        The words of the domain.
    condensed : bool
        Join what is the same: the mistakes of a truth that do not differ, and the truths in which nothing differs.
    """
    full = [_branch(i, left, right, wording) for i in range(len(left))]
    if not condensed:
        return tuple(full)
    differing = [branch for branch in full if any(leaf.differs for leaf in branch.leaves)]
    same = [branch for branch in full if branch not in differing]
    shown = [branch._replace(leaves=_condensed(branch.leaves)) for branch in differing]
    return (*shown, *([same[0]._replace(leaves=_condensed(same[0].leaves))] if len(same) == 1 else _joined(same)))


def _branch(i: int, left: Counts, right: Counts, wording: Wording) -> Branch:
    leaves = (Leaf(said, int(left[i, j]), int(right[i, j]), i == j) for j, said in enumerate(wording.class_one))
    return Branch(wording.class_one[i], int(left[i].sum()), tuple(leaves))


def _condensed(leaves: tuple[Leaf, ...]) -> tuple[Leaf, ...]:
    kept = [leaf for leaf in leaves if leaf.correct or leaf.differs]
    same = [leaf for leaf in leaves if leaf not in kept]
    if len(same) == 1:
        return tuple(leaf for leaf in leaves if leaf in kept or leaf in same)
    rest = Leaf(f"{len(same)} others", sum(leaf.left for leaf in same), sum(leaf.right for leaf in same), False)
    return (*kept, rest) if same else tuple(kept)


def _joined(same: list[Branch]) -> tuple[Branch, ...]:
    if not same:
        return ()
    correct = [leaf for branch in same for leaf in branch.leaves if leaf.correct]
    wrong = [leaf for branch in same for leaf in branch.leaves if not leaf.correct]
    leaves = (
        Leaf("the same", sum(leaf.left for leaf in correct), sum(leaf.right for leaf in correct), True),
        Leaf("something else", sum(leaf.left for leaf in wrong), sum(leaf.right for leaf in wrong), False),
    )
    return (Branch(f"{len(same)} others", sum(branch.total for branch in same), leaves),)
