"""What is said while one count is moved until both results are equally bad."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from elicit_app.elicitation.questions import Counts, Family, Proposal
from elicit_app.session.words.ledger import (
    Letter,
    PairComparison,
    Row,
    all_rows,
    difference_sentence,
    ledger,
    rest_words,
)
from elicit_app.study.model import Wording
from metrics.display.numbers import amount


class Balance(NamedTuple):
    """What either side has more of; where each has more of one mistake, what one of the rarer counts as.

    `letters` and `more` begin with the side that has fewer such cases; `more` is empty where a side has nothing more.
    `ratio` is None where more than two mistakes differ, or one side has nothing more.
    """

    letters: tuple[Letter, Letter]
    more: tuple[str, str]
    ratio: str | None

    @property
    def sentence(self) -> str:
        """Return the whole: "A: 14 more misses are as bad as B: 120 more false alarms: one counts as 8.6"."""
        one, other = (f"{side}: {said or 'nothing more'}" for side, said in zip(self.letters, self.more, strict=True))
        return f"{one} are as bad as {other}" + (f": one counts as {self.ratio}" if self.ratio else "")


def balance_of(rows: tuple[Row, ...]) -> Balance:
    """Return what either side has more of."""
    sides: list[tuple[Letter, list[Row]]] = [
        ("A", [row for row in rows if row.surplus and row.worse == "left"]),
        ("B", [row for row in rows if row.surplus and row.worse == "right"]),
    ]
    sides.sort(key=lambda side: sum(row.surplus for row in side[1]))
    said = [", ".join(row.excess for row in more) for _, more in sides]
    (first, few), (second, many) = sides
    ratio = None
    if len(few) == len(many) == 1:
        value = many[0].surplus / few[0].surplus
        ratio = amount(round(value, 1) if value < 10 else round(value))
    return Balance((first, second), (said[0], said[1]), ratio)


def moved_ledger(
    left: Counts, right: Counts, wording: Wording, population: int, family: Family, shown: PairComparison
) -> PairComparison:
    """Return the words of a pair in which one count was moved, in the rows of `shown`, however the pair compares now.

    Parameters
    ----------
    left, right : ndarray of int64, shape (k, k)
        The two results as they are now.
    wording, population, family
        As for `ledger`.
    shown : PairComparison
        The pair as it was asked about: its rows stay, in their order.
    """
    new = ledger(left, right, wording, population, family)
    found = {(row.true, row.predicted): row for row in all_rows(left, right, wording, family)}
    rows = tuple(found[row.true, row.predicted] for row in shown.rows)
    level = [row for row in rows if not row.surplus]
    # A row that happens to be level now still has its place above, not in the folded line.
    fold = new.fold._replace(
        same_kinds=new.fold.same_kinds - len(level), same_cases=new.fold.same_cases - sum(row.left for row in level)
    )
    fold_sentence = new.fold_sentence if wording.priced is not None else rest_words(fold, wording)
    strip = difference_sentence(rows, "left" if shown.strip.subject == "A" else "right")
    headline = f"For {shown.cases}, make both results equally bad"
    return replace(new, rows=rows, fold=fold, fold_sentence=fold_sentence, strip=strip, headline=headline)


def move_name(row: Row, letter: Letter, count: int, least: int, most: int) -> str:
    """Return the name of the number that is moved: "Needless biopsies in B, 161 of 627, to move from 41 to 313"."""
    many = row.mistake.many[:1].upper() + row.mistake.many[1:]
    return f"{many} in {letter}, {count:,} of {row.total:,}, to move from {least:,} to {most:,}"


def bound_words(least: int, most: int, *, at_least: bool) -> str:
    """Return what an end of the scale says: "Even 313 is less bad"; at the near end "Even 42 is worse"."""
    return f"Even {least:,} is worse" if at_least else f"Even {most:,} is less bad"


def with_count(left: Counts, right: Counts, proposal: Proposal, count: int) -> tuple[Counts, Counts]:
    """Return both results with the proposed mistake at `count`; the first side of the proposal is the left one."""
    changed = (left if proposal.side == "first" else right).copy()
    true, predicted = proposal.true, proposal.predicted
    changed[true, true] += changed[true, predicted] - count
    changed[true, predicted] = count
    return (changed, right) if proposal.side == "first" else (left, changed)
