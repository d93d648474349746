"""Describe a pair of confusion matrices in words: which mistakes differ, by how much, and what stays the same.

Presentation only: no toolkit, no clock, no session. Window, terminal and screen readers say the same, because they all
read a `PairComparison`. Rows of a matrix are true classes, columns are predicted classes; *left* is what the person
sees as A, *right* as B.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from elicit_app.elicitation.questions import Counts, Family
from elicit_app.problem import Problem
from elicit_app.session.views import Side
from elicit_app.study.model import Mistake, Wording
from metrics.elicited.family import linear_family
from metrics.elicited.kinds import PRICED
from metrics.text import counted

Letter = Literal["A", "B"]
SOMETHING_ELSE = "something else"
_MOST_ROWS = 4  # for what differs; the rest is folded into one line


def letter_of(side: Side) -> Letter:
    """Return the letter of a side: left is A."""
    return "A" if side == "left" else "B"


def opposite(side: Side) -> Side:
    """Return the other side."""
    return "right" if side == "left" else "left"


@dataclass(frozen=True)
class Row:
    """One kind of mistake that differs."""

    true: int  # index of the true class
    predicted: int | None  # index of the predicted class; None stands for any wrong answer
    mistake: Mistake
    # the true class and the model's answer, in the words of the domain
    truth: str
    truths: str  # plural of the true class: "melanomas"
    called: str
    total: int  # cases of the true class, the same on both sides
    # cases with this mistake in A and in B
    left: int
    right: int
    good: bool = False  # whether more of it is better, for an amount that is no mistake
    # for an amount that is part of a total: that total in A and in B; else None
    totals: tuple[int, int] | None = None
    amount: bool = False  # whether it is an amount, see `elicit_app.study.amounts`

    @property
    def surplus(self) -> int:
        """Return the difference between the two sides."""
        return abs(self.left - self.right)

    @property
    def worse(self) -> Side:
        """Return the side on which this row is worse: with more of a mistake, or with less of something good."""
        return opposite(self.larger) if self.good else self.larger

    @property
    def excess(self) -> str:
        """Return how much worse the worse side is: "12 more missed melanomas", "8 fewer moods found"."""
        return self.change(self.worse)

    @property
    def larger(self) -> Side:
        """Return the side with more of this mistake."""
        return "left" if self.left > self.right else "right"

    @property
    def surplus_words(self) -> str:
        """Return the label above the surplus: "12 more"."""
        return f"{self.surplus:,} more"

    @property
    def flow(self) -> str:
        """Return the line below the name, see `flow_words`; for an amount, its totals."""
        if self.amount:
            return "" if self.totals is None else f"of {self.totals[0]:,} in A, of {self.totals[1]:,} in B"
        return flow_words(self.total, self.truths, self.answer)

    @property
    def answer(self) -> str:
        """Return the model's answer, or nothing if the name of the mistake says it."""
        return unsaid_answer(self.mistake.name, self.called)

    @property
    def rates(self) -> tuple[str, str]:
        """Return the class-conditional rates of A and B: "26 %", "16 %"; empty for an amount without a total."""
        if self.amount:
            parts = zip((self.left, self.right), self.totals or (), strict=False)
            left, right = [rate_words(part, part, total)[0] for part, total in parts] or ["", ""]
            return left, right
        return rate_words(self.left, self.right, self.total)

    def count(self, side: Side) -> int:
        """Return the cases with this mistake on one side."""
        return self.left if side == "left" else self.right

    def change(self, side: Side) -> str:
        """Return how `side` differs from the other: "12 fewer missed melanomas"."""
        more = self.count(side) > self.count(opposite(side))
        noun = self.mistake.one if self.surplus == 1 else self.mistake.many
        return f"{self.surplus:,} {'more' if more else 'fewer'} {noun}"

    def spoken(self, side: Side) -> str:
        """Return the accessible name of a cell."""
        other = letter_of(opposite(side))
        more = "more" if self.count(side) > self.count(opposite(side)) else "fewer"
        if self.amount:
            return (
                f"{self.mistake.name}: {self.count(side):,} in {letter_of(side)}, {self.surplus:,} {more} than {other}."
            )
        return (
            f"Truth {self.truth}, model says {self.called}: {self.count(side):,} of {self.total:,} "
            f"in {letter_of(side)}, {self.surplus:,} {more} than {other}."
        )


def flow_words(total: int, truths: str, answer: str) -> str:
    """Return truth and answer: "of 120 melanomas", then an arrow and "called naevus" unless the answer is empty."""
    return f"of {total:,} {truths}{f' → called {answer}' if answer else ''}"


def unsaid_answer(name: str, called: str) -> str:
    """Return the model's answer, or nothing for a mistake whose name, like "Melanoma called naevus", says it."""
    return "" if name.casefold().endswith(f" called {called}".casefold()) else called


class Rest(NamedTuple):
    """What has no row of its own: mistakes that are equal, mistakes that differ less, and correct answers."""

    same_kinds: int
    same_cases: int
    other_kinds: int
    other_left: int
    other_right: int
    correct_left: int
    correct_right: int


@dataclass(frozen=True)
class DifferenceSentence:
    """The difference as one sentence about one side, what it has fewer of first."""

    subject: Letter  # the side that the sentence describes
    # "12 fewer missed melanomas"; "85 more needless excisions"
    fewer: tuple[str, ...]
    more: tuple[str, ...]

    @property
    def reference(self) -> Letter:
        """Return the side that the subject is compared with."""
        return "A" if self.subject == "B" else "B"

    @property
    def changes(self) -> str:
        """Return all changes in one line, fewer first; empty if nothing differs."""
        return ", ".join((*self.fewer, *self.more))

    @property
    def sentence(self) -> str:
        """Return the whole sentence: "B: 12 fewer missed melanomas, 85 more needless excisions than A"."""
        return f"{self.subject}: {self.changes or 'the same'} {'than' if self.changes else 'as'} {self.reference}"


@dataclass(frozen=True)
class PairComparison:
    """Everything that is said about a pair."""

    rows: tuple[Row, ...]  # what differs, in study order, up to the maximum number of rows
    fold: Rest  # what has no row
    fold_sentence: str  # `fold` in words
    strip: DifferenceSentence  # the difference in one sentence
    headline: str
    cases: str  # "1,000 patients"

    def spoken(self, number: int) -> str:
        """Return the accessible name of the comparison in question `number`."""
        strip = self.strip
        compared = f"{strip.subject} compared with {strip.reference}: {strip.changes or 'nothing differs'}"
        return f"Question {number}. For {self.cases}. {compared}."


def compare_pair(
    left: Counts,
    right: Counts,
    wording: Wording,
    population: int,
    family: Family,
    subject: Side = "right",
    reversed_rows: bool = False,
) -> PairComparison:
    """Describe how two confusion matrices differ: rows for the largest differences, one folded line for the rest.

    Parameters
    ----------
    left, right : ndarray of int64, shape (k, k)
        Cases of the two results; rows are true classes and have the same sums on both sides.
    wording : Wording
        The words of the domain.
    population : int
        The number of cases of either matrix.
    family : str
        dlpm and dlfpm treat all wrong answers for a class as one kind of mistake; lpm and lfpm distinguish them.
    subject : {"left", "right"}
        The side that the strip's sentence describes.
    reversed_rows : bool
        Whether the rows are in the reverse of study order.

    Raises
    ------
    Problem
        If the row sums of the two matrices differ: such a pair compares populations, not classifiers.
    """
    kinds = all_rows(left, right, wording, family)
    amounts = wording.priced is not None
    differing = [row for row in kinds if row.surplus]
    largest = _largest(differing)
    rows = largest[:: -1 if reversed_rows else 1]
    rest = [row for row in differing if row not in largest]
    same = [row for row in kinds if not row.surplus]
    fold = Rest(
        same_kinds=len(same),
        same_cases=sum(row.left for row in same),
        other_kinds=len(rest),
        other_left=sum(row.left for row in rest),
        other_right=sum(row.right for row in rest),
        correct_left=int(np.trace(left)),
        correct_right=int(np.trace(right)),
    )
    cases = "two batches" if amounts else wording.counted(population)
    headline = f"For {cases}, which result would you rather have?"
    if amounts:
        headline = f"{outcome_words(left, right, wording)} Which would you rather have?"
    return PairComparison(
        rows=rows,
        fold=fold,
        fold_sentence=same_words(same) if amounts else rest_words(fold, wording),
        strip=difference_sentence(rows, subject),
        headline=headline,
        cases=cases,
    )


def largest_rows(left: Counts, right: Counts, wording: Wording, family: Family) -> tuple[Row, ...]:
    """Return the mistakes that differ most, in study order: the rows of `compare_pair`."""
    differing = all_rows(left, right, wording, family, only_differing=True)
    return _largest([row for row in differing if row.surplus])


def nothing_traded(left: Counts, right: Counts, wording: Wording, family: Family) -> bool:
    """Return whether one of two different results is no worse in anything."""
    rows = all_rows(left, right, wording, family, only_differing=True)
    return len({row.worse for row in rows if row.surplus}) == 1


def _largest(differing: Sequence[Row]) -> tuple[Row, ...]:
    largest = sorted(differing, key=lambda row: -row.surplus)[:_MOST_ROWS]
    return tuple(row for row in differing if row in largest)


def all_rows(
    left: Counts, right: Counts, wording: Wording, family: Family, *, only_differing: bool = False
) -> tuple[Row, ...]:
    """Return every kind of mistake of `family` in study order: by true class, then by predicted class.

    `only_differing` omits mistakes that both sides make equally often, which are nearly all 2,450 with fifty classes.
    """
    totals = left.sum(axis=1)
    if left.shape != right.shape or not np.array_equal(totals, right.sum(axis=1)):
        raise Problem(
            "The two results of this question do not have the same number of cases in every true class, so they "
            "cannot be compared; make the study again from predictions of the same cases"
        )
    if wording.priced is not None:
        return _amount_rows(left, right, wording, PRICED[wording.priced].good)
    rows = []
    for i, total in enumerate(totals.tolist()):
        truth, truths = wording.class_one[i], wording.class_one[i] if total == 1 else wording.class_many[i]
        if not linear_family(family).distinguishes_errors:
            wrong = (total - int(left[i, i]), total - int(right[i, i]))
            called = wording.class_one[1 - i] if len(totals) == 2 else SOMETHING_ELSE
            rows.append(Row(i, None, wording.any_mistake[i], truth, truths, called, total, *wrong))
            continue
        for j in np.flatnonzero(left[i] != right[i]).tolist() if only_differing else range(len(totals)):
            if j != i:
                cell = (int(left[i, j]), int(right[i, j]))
                called = wording.class_one[j]
                rows.append(Row(i, j, wording.mistakes[i, j], truth, truths, called, total, *cell))
    return tuple(rows)


def _amount_rows(left: Counts, right: Counts, wording: Wording, good: tuple[bool, ...]) -> tuple[Row, ...]:
    """Return the rows of amounts: good ones are read from the diagonal, the others beside it."""
    shown = [np.where(good, side.diagonal(), side.sum(axis=1) - side.diagonal()) for side in (left, right)]
    counts = np.stack(shown, axis=1)
    # Labels found and labels missed add up to the labels present.
    there = (int(counts[:2, 0].sum()), int(counts[:2, 1].sum())) if wording.priced == "multilabel" else None
    rows = []
    for i, (a, b) in enumerate(counts.tolist()):
        words, totals = wording.any_mistake[i], there if i == 0 else None
        total = int(left[i].sum())
        rows.append(Row(i, None, words, words.one, words.many, words.many, total, a, b, good[i], totals, amount=True))
    return tuple(rows)


def outcome_words(left: Counts, right: Counts, wording: Wording) -> str:
    """Return the totals of two batches: "A finds 12 of 15 moods and adds 4 wrong ones; B finds 9 of 9 and adds 2."."""
    rows = all_rows(left, right, wording, "dlpm")
    parts = []
    for letter, counts in (("A", [row.left for row in rows]), ("B", [row.right for row in rows])):
        noun = f" {wording.cases}" if letter == "A" else ""
        if wording.priced == "multilabel":
            found, missed, false = counts
            wrong = f" wrong {'one' if false == 1 else 'ones'}" if letter == "A" else ""
            added = f"{false:,}{wrong}" if false else "none"
            parts.append(f"{letter} finds {found:,} of {found + missed:,}{noun} and adds {added}")
        else:
            mistakes = (
                f"{n or 'no'} {row.mistake.one if n == 1 else row.mistake.many}"
                for n, row in zip(counts, rows, strict=True)
            )
            parts.append(f"{letter}: {', '.join(mistakes)}")
    return f"{'; '.join(parts)}."


def same_words(same: Sequence[Row]) -> str:
    """Return the amounts that are equal on both sides as one sentence; empty if there is none."""
    text = ", ".join(counted(row.left, row.mistake.one, row.mistake.many) for row in same)
    return f"The same in A and B: {text}" if text else ""


def difference_sentence(rows: tuple[Row, ...], subject: Side) -> DifferenceSentence:
    """Return the sentence about `subject`: first what it is better in, then what it is worse in."""
    fewer = tuple(row.change(subject) for row in rows if row.surplus and row.worse != subject)
    more = tuple(row.change(subject) for row in rows if row.surplus and row.worse == subject)
    return DifferenceSentence(letter_of(subject), fewer, more)


_PEOPLE = {
    *("patients", "people", "persons", "children", "adults", "women", "men", "infants", "newborns", "students"),
    *("applicants", "customers", "clients", "users", "employees", "passengers", "drivers", "donors", "borrowers"),
}


def rest_words(fold: Rest, wording: Wording) -> str:
    """Return the folded line: mistakes that differ less, mistakes that are equal or, failing both, correct answers."""
    parts = []
    if fold.other_kinds:
        kinds = _kinds(fold.other_kinds, "differs less", "differ less")
        parts.append(f"{kinds}: {wording.counted(fold.other_left)} in A, {fold.other_right:,} in B")
    if fold.same_kinds:
        kinds = _kinds(fold.same_kinds, "is the same in A and B", "are the same in A and B")
        parts.append(f"{kinds}: {wording.counted(fold.same_cases)}")
    if parts:
        return "; ".join(parts)
    numbers = f"{fold.correct_left:,} in A, {fold.correct_right:,} in B"
    if wording.cases.split()[0].lower() in _PEOPLE:
        return f"Everyone else is told the right thing: {numbers}"
    return f"All other {wording.cases} get the right answer: {numbers}"


def _kinds(number: int, one: str, many: str) -> str:
    kinds = counted(number, "other kind of mistake", "other kinds of mistake")
    return f"{kinds} {one if number == 1 else many}"


def rate_words(left: int, right: int, total: int) -> tuple[str, str]:
    """Return two class-conditional rates in per cent, with decimals if whole numbers would hide a difference."""
    for decimals in (0, 1, 2):
        words = per_cent(left, total, decimals), per_cent(right, total, decimals)
        if left == right or words[0] != words[1]:
            break
    return words


def per_cent(count: int, total: int, decimals: int = 0) -> str:
    """Return a count as a share of its total; neither "0 %" if there are some nor "100 %" if some are left out."""
    share = 100 * count / total if total else 0.0
    shown = math.floor(share * 10**decimals + 0.5) / 10**decimals
    step = f"{10.0**-decimals:.{decimals}f}"
    if shown == 0 and count:
        return f"< {step} %"
    if shown == 100 and count < total:
        return f"> {100 - 10.0**-decimals:.{decimals}f} %"
    return f"{shown:.{decimals}f} %"


class Leaf(NamedTuple):
    """One answer of the model for the cases of one truth, and its count in A (left) and in B (right)."""

    called: str
    left: int
    right: int
    correct: bool

    @property
    def differs(self) -> bool:
        """Return whether this is a mistake whose count differs; counts of correct answers only follow."""
        return not self.correct and self.left != self.right

    @property
    def surplus(self) -> int:
        """Return the difference between the two sides."""
        return abs(self.left - self.right)


class Branch(NamedTuple):
    """One truth, its number of cases, and the model's answers for them."""

    truth: str
    total: int
    leaves: tuple[Leaf, ...]


def branches(left: Counts, right: Counts, wording: Wording, *, condensed: bool = False) -> tuple[Branch, ...]:
    """Return the full picture of A and B, both of shape (k, k), in study order; every case is in exactly one leaf.

    `condensed` merges what is equal: the mistakes of a truth that do not differ, and the truths in which nothing does.
    """
    if wording.priced is not None:
        return ()  # every amount already has its row
    full = [_branch(i, left, right, wording) for i in range(len(left))]
    if not condensed:
        return tuple(full)
    differing = [branch for branch in full if any(leaf.differs for leaf in branch.leaves)]
    same = [branch for branch in full if branch not in differing]
    shown = [branch._replace(leaves=_condensed(branch.leaves)) for branch in differing]
    return (*shown, *([same[0]._replace(leaves=_condensed(same[0].leaves))] if len(same) == 1 else _joined(same)))


def _branch(i: int, left: Counts, right: Counts, wording: Wording) -> Branch:
    leaves = (Leaf(name, int(left[i, j]), int(right[i, j]), i == j) for j, name in enumerate(wording.class_one))
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
