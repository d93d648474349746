"""A question and the review as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elicit_app.elicitation.questions import Family, Proposal
from elicit_app.session.views.asked import AnsweredView, QuestionView, ReviewView
from elicit_app.session.words.ledger import branches, ledger
from elicit_app.session.words.sentences import IMAGINED, preference_of, progress_words
from elicit_app.study.model import Wording

if TYPE_CHECKING:
    from rich.console import Console


def print_question(
    console: Console, view: QuestionView, wording: Wording, family: Family, *, full_picture: bool
) -> None:
    """Print a question: what differs, in words; with the full picture every count."""
    from rich.table import Table

    words = ledger(
        view.left, view.right, wording, view.population, family, subject=view.subject, reversed_rows=view.reversed_rows
    )
    console.print()
    progress = progress_words(view).line if view.again is None else f"Question {view.again}, again"
    console.print(progress, style="dim")
    console.print(words.headline, style="bold")
    table = Table(box=None, padding=(0, 2), show_edge=False)
    table.add_column("Result A", justify="right")
    table.add_column("What differs", justify="center")
    table.add_column("Result B")
    for row in words.rows:
        rates = row.rates
        a = f"{row.left:,} ({rates[0]})" + (f"  {row.surplus_words}" if row.larger == "left" else "")
        b = f"{row.right:,} ({rates[1]})" + (f"  {row.surplus_words}" if row.larger == "right" else "")
        told = f"\n{row.mistake.consequence}" if row.mistake.consequence else ""
        table.add_row(a, f"{row.mistake.name}, {row.flow}{told}", b)
    if full_picture:
        for branch in branches(view.left, view.right, wording):
            for leaf in branch.leaves:
                table.add_row(f"{leaf.left:,}", f"{branch.truth} called {leaf.said}", f"{leaf.right:,}")
    console.print(table)
    for line in (words.fold_sentence, words.strip.sentence, view.note):
        if line:
            console.print(line)
    if view.proposal is not None:
        console.print(_proposal_words(view.proposal, wording, family))
    if view.hypothetical:
        console.print(IMAGINED)
    if view.offer_break:
        console.print(f"{view.number - 1} answers, all kept. Take a break? Ctrl+C stops for now.")


def _proposal_words(proposal: Proposal, wording: Wording, family: Family) -> str:
    """Say which count may be moved, and how it is typed."""
    letter = "A" if proposal.side == "first" else "B"
    key = (proposal.true, proposal.predicted)
    mistake = wording.any_mistake[proposal.true] if family == "dlpm" else wording.mistakes[key]
    return (
        f"How many {mistake.many} in {letter} make both results equally bad? "
        f"Type = and the number, {proposal.least:,} to {proposal.most:,} (now {proposal.start:,})."
    )


def print_contradiction(
    console: Console, first: AnsweredView, second: AnsweredView, wording: Wording, family: Family
) -> None:
    """Print two answers to the same pair, and the keys that say which was meant."""
    console.print("The same pair, two answers. Which do you mean?")
    for key, answer in (("1", first), ("2", second)):
        console.print(f"{key}  question {answer.number}: {_said(answer, wording, family)}")
    console.print("0  about equal        k or Enter  keep both answers")


def print_review(console: Console, view: ReviewView, wording: Wording, family: Family) -> None:
    """Print all answers, newest first, with what fits the rest."""
    from rich.table import Table

    table = Table(box=None, padding=(0, 2), show_edge=False)
    for name in ("No.", "Answer", "how clearly", "seconds", "fits the rest"):
        table.add_column(name, justify="right" if name in ("No.", "seconds") else "left")
    for answer in reversed(view.answers):
        seconds = "" if answer.seconds is None else f"{answer.seconds:.0f}"
        strength = answer.strength.value if answer.strength else ""
        table.add_row(str(answer.number), _said(answer, wording, family), strength, seconds, answer.fit)
    console.print(table)


def _said(answer: AnsweredView, wording: Wording, family: Family) -> str:
    said = preference_of(answer, wording, family)
    return said.sentence + (f" rather than {said.rather_than}" if said.rather_than else "")
