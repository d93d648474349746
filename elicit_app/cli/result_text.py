"""The result of a session, and a judgement of models, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elicit_app.session.views.result import ResultView
from elicit_app.study.model import Study
from metrics.display.numbers import amount, probability, total_cost, two_digits
from metrics.elicited.exchange import called
from metrics.policies.recommendation import what_one_does

if TYPE_CHECKING:
    from rich.console import Console

    from metrics.policies.judgement import JudgedPolicy, Judgement, Range

_MOST_ROWS = 12


def print_result(console: Console, view: ResultView, study: Study) -> None:
    """Print what was learned: the ratios, how far they can be trusted, and what to do with the models."""
    _line(console, f"{view.headline.start} {view.headline.number}.", style="bold")
    said, stressed = view.headline.below
    if said:
        _line(console, f"{said}{stressed}{'.' if stressed else ''}")
    if view.headline.provisional is not None:
        _line(console, view.metric.quality.caveat)
    guess = view.guesses.get(view.headline.rate.key)
    if guess is not None:
        _line(console, f"Your first guess, before the questions: {two_digits(guess)}.")
    _ratios(console, view, study)
    _line(console, f"Can you trust this? {view.trust_sentence}")
    for finding in view.trust:
        detail = f" {finding.detail}" if finding.detail and not finding.detail.endswith(":") else ""
        _line(console, f"  {'+' if finding.good else '!'} {finding.headline}.{detail}")
    if view.held_out:
        text = ", ".join(f"{one.name} {one.right} of {one.total}" for one in view.held_out)
        _line(console, f"    Answers kept aside and predicted: {text}.")
    _models(console, view)
    for note in view.notes:
        _line(console, note)


def _ratios(console: Console, view: ResultView, study: Study) -> None:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2), show_edge=False)
    table.add_column("Amount" if study.wording.priced else "Mistake")
    table.add_column("counts as", justify="right")
    table.add_column("plausible (90 %)")
    for ratio in view.ratios:
        flow = "" if study.wording.priced else f" ({called(study.wording.class_one, ratio.key)})"
        table.add_row(f"{ratio.mistake.name}{flow}", *ratio.columns())
    console.print(table)


def _models(console: Console, view: ResultView) -> None:
    """Print what one could do, and what is known of the models beside their costs."""
    from rich.table import Table

    if view.judgement is None:
        return
    print_judgement(console, view.judgement)
    table = Table(box=None, padding=(0, 2), show_edge=False)
    table.add_column("Model as it decides now")
    for name in ("MPCS by class weight", "accuracy"):
        table.add_column(name, justify="right")
    for model in view.models:
        table.add_row(model.name, f"{model.mpcs:.2f}", f"{100 * model.accuracy:.1f} %")
    console.print(table)


def _line(console: Console, text: str, style: str = "") -> None:
    # A terminal wraps between words; a file or a pipe gets whole lines.
    console.print(text, style=style, soft_wrap=not console.is_terminal)


def print_judgement(console: Console, judgement: Judgement) -> None:
    """Print the recommendation, the table of policies and what more information would bring."""
    said = judgement.recommendation
    _line(console, said.sentence, style="bold")
    for text in (said.spares, said.sureness, said.reservation):
        if text:
            _line(console, text)
    _policies(console, judgement)
    _information(console, judgement)
    for note in judgement.notes:
        _line(console, note)


def _policies(console: Console, judgement: Judgement) -> None:
    from rich.table import Table

    words, shown = judgement.words, judgement.policies[:_MOST_ROWS]
    two, unit = len(judgement.classes) == 2, judgement.mistake(*judgement.unit).many
    _line(console, f"Per {judgement.population:,} {words.cases}; costs in {unit}:")
    table = Table(box=None, padding=(0, 2), show_edge=False)
    table.add_column("Rank", justify="right")
    table.add_column("What one can do")
    for heading in [judgement.mistake(true, 1 - true).name for true in (0, 1)] if two else ["mistakes"]:
        table.add_column(heading, justify="right")
    for heading in ("cost", *(("above the first, 90 %", "best") if judgement.n_draws else ())):
        table.add_column(heading, justify="right")
    for one in shown:
        wrong = one.counts - np.diag(one.counts.diagonal())
        mistakes = [wrong[0, 1], wrong[1, 0]] if two else [wrong.sum()]
        counts = [f"{int(count):,}" for count in mistakes]
        what = ", ".join(what_one_does(one, words, judgement.positive))
        table.add_row(str(one.rank), what, *counts, total_cost(one.cost_per_population), *_doubt(one, judgement))
    console.print(table)
    if len(judgement.policies) > _MOST_ROWS:
        _line(console, f"and {len(judgement.policies) - _MOST_ROWS} more that cost more")


def _doubt(one: JudgedPolicy, judgement: Judgement) -> list[str]:
    if one.difference_interval is None or one.probability_best is None:
        return []
    first = one is judgement.best
    return ["" if first else _above(one.difference_interval), probability(one.probability_best)]


def _above(range_: Range) -> str:
    low, high = (f"{'-' if end < 0 else '+'}{total_cost(abs(end))}" for end in range_)
    return f"{low} to {high}"


def _information(console: Console, judgement: Judgement) -> None:
    known = judgement.information
    if known is None:
        return
    loss = f"What is not known costs {total_cost(known.expected_loss)} on average"
    parts = []
    for of in ("answers", "cases"):
        found = [one for one in known.more if one.of == of]
        if found and found[-1].spares > 0:
            parts.append(f"{amount(found[-1].number)} more {of} would spare {total_cost(found[-1].spares)} of it")
    _line(console, f"{known.advice}. {'; '.join([loss, *parts])}.")
