"""The result of a session as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elicit_app.cli.judgement_text import print_judgement
from elicit_app.session.views.outcome import ResultView
from elicit_app.study.model import Study
from metrics.display.numbers import two_digits
from metrics.elicited.exchange import called

if TYPE_CHECKING:
    from rich.console import Console


def print_result(console: Console, view: ResultView, study: Study) -> None:
    """Print what was learned: the ratios, how far they can be trusted, and what to do with the models."""
    _line(console, f"{view.headline.start} {view.headline.number}.", style="bold")
    said, stressed = view.headline.below
    if said:
        _line(console, f"{said}{stressed}{'.' if stressed else ''}")
    if view.headline.provisional is not None:
        _line(console, f"Provisional: {view.headline.provisional.rstrip('.')}.")
    guess = view.guesses.get(view.headline.rate.key)
    if guess is not None:
        _line(console, f"Your first guess, before the questions: {two_digits(guess)}.")
    _ratios(console, view, study)
    _line(console, f"Can you trust this? {view.trust_sentence}")
    for finding in view.trust:
        detail = f" {finding.detail}" if finding.detail and not finding.detail.endswith(":") else ""
        _line(console, f"  {'+' if finding.good else '!'} {finding.headline}.{detail}")
    if view.held_out:
        told = ", ".join(f"{one.name} {one.right} of {one.total}" for one in view.held_out)
        _line(console, f"    Answers kept aside and predicted: {told}.")
    _models(console, view)
    for note in view.notes:
        _line(console, note)


def _ratios(console: Console, view: ResultView, study: Study) -> None:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2), show_edge=False)
    table.add_column("Mistake")
    table.add_column("counts as", justify="right")
    table.add_column("")
    for ratio in view.ratios:
        flow = called(study.wording.class_one, ratio.key)
        table.add_row(f"{ratio.mistake.name} ({flow})", ratio.in_words(), ratio.range_in_words())
    console.print(table)


def _models(console: Console, view: ResultView) -> None:
    """Print what one could do, and what is known of the models beside their costs."""
    from rich.table import Table

    if view.judgement is None:
        return
    print_judgement(console, view.judgement)
    table = Table(box=None, padding=(0, 2), show_edge=False)
    table.add_column("Model as it decides now")
    for name in ("MPCS", "accuracy"):
        table.add_column(name, justify="right")
    for model in view.models:
        table.add_row(model.name, f"{model.mpcs:.2f}", f"{100 * model.accuracy:.1f} %")
    console.print(table)


def _line(console: Console, text: str, style: str = "") -> None:
    # A terminal wraps between words; a file or a pipe gets whole lines.
    console.print(text, style=style, soft_wrap=not console.is_terminal)
