"""The result of a session as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elicit_app.session.views.outcome import ResultView
from elicit_app.session.words import result_words as words
from elicit_app.study.model import Study

if TYPE_CHECKING:
    from rich.console import Console


def print_result(console: Console, view: ResultView, study: Study) -> None:
    """Print what was learned: the ratios, how far they can be trusted, and the models ranked."""
    yardstick = words.mistake_of(words.yardstick_of(view), study.wording)
    start, end = words.headline(view.headline, yardstick, study.wording)
    _line(console, f"{start} {end}.", style="bold")
    said, stressed = words.below_headline(view.headline)
    if said:
        _line(console, f"{said}{stressed}{'.' if stressed else ''}")
    if view.headline.guess is not None:
        _line(console, f"Your first guess, before the questions: {words.amount(view.headline.guess)}.")
    _ratios(console, view, study)
    _line(console, f"Can you trust this? {view.trust_sentence}")
    for finding in view.trust:
        detail = f" {finding.detail}" if finding.detail and not finding.detail.endswith(":") else ""
        _line(console, f"  {'+' if finding.good else '!'} {finding.headline}.{detail}")
    if view.held_out:
        told = ", ".join(f"{one.name} {one.right} of {one.total}" for one in view.held_out)
        _line(console, f"    Answers kept aside and predicted: {told}.")
    _models(console, view, study)
    for note in view.notes:
        _line(console, note)


def _ratios(console: Console, view: ResultView, study: Study) -> None:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2), show_edge=False)
    table.add_column("Mistake")
    table.add_column("counts as", justify="right")
    table.add_column("")
    for ratio in view.ratios:
        mistake = words.mistake_of(ratio, study.wording)
        value, below = words.value_of(ratio), words.below_value(ratio)
        table.add_row(f"{mistake.name} ({words.flow_of(ratio, study.wording)})", value, below)
    console.print(table)


def _models(console: Console, view: ResultView, study: Study) -> None:
    from rich.table import Table

    if not view.models:
        return
    headline, sentence = words.model_headline(view.models)
    _line(console, f"{headline}. {sentence}")
    yardstick = words.mistake_of(words.yardstick_of(view), study.wording)
    table = Table(box=None, padding=(0, 2), show_edge=False)
    table.add_column("Rank", justify="right")
    table.add_column("Model")
    table.add_column(f"cost per {study.population:,} {study.wording.cases}, in {yardstick.many}", justify="right")
    for name in ("MPCS", "accuracy", "best"):
        table.add_column(name, justify="right")
    for model in view.models:
        table.add_row(
            str(model.rank),
            model.name,
            words.cost(model.cost),
            f"{model.mpcs:.2f}",
            f"{100 * model.accuracy:.1f} %",
            words.percent(model.probability_best),
        )
    console.print(table)


def _line(console: Console, text: str, style: str = "") -> None:
    # A terminal wraps between words; a file or a pipe gets whole lines.
    console.print(text, style=style, soft_wrap=not console.is_terminal)
