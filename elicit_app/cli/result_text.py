"""The result of a session, a judgement of models, and a comparison of experts, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elicit_app.cli import output
from elicit_app.problem import first_of
from elicit_app.session.policy_words import information_texts, policy_texts
from elicit_app.session.trust_findings import held_out_caption, held_out_words
from elicit_app.session.views import ResultView
from elicit_app.study.model import Study
from metrics.elicited.exchange import beside_name, called
from metrics.elicited.kinds import thing_of
from metrics.exports.page import MOST_LISTED
from metrics.text import accuracy_text, capitalised, concern, total_cost, two_digits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from elicit_app.session.comparing import ComparisonView
    from elicit_app.session.disagreement import MistakeRates
    from metrics.policies.judgement import Judgement, Range

_MOST_ROWS = 12  # policies
_MOST_COMPARED = 24  # mistakes of a comparison, of two lines each
_MOST_OF_MANY = 8  # the same of many experts, of a line for each expert


def print_result(console: Console, view: ResultView, study: Study) -> None:
    """Print the result: the ratios, how far they can be trusted, and what to do with the models."""
    output.line(console, f"{view.headline.start} {view.headline.number}.", style="bold")
    plain, stressed = view.headline.below
    if plain:
        output.line(console, f"{plain}{stressed}{'.' if stressed else ''}")
    if view.headline.provisional is not None:
        output.line(console, view.metric.quality.caveat)
    guess = view.guesses.get(view.headline.rate.key)
    if guess is not None:
        output.line(console, f"Your first guess, before the questions: {two_digits(guess)}.")
    _ratios(console, view, study)
    output.line(console, f"Can you trust this? {view.trust_sentence}")
    for finding in view.trust:
        detail = f" {finding.detail}" if finding.detail and not finding.detail.endswith(":") else ""
        output.line(console, f"  {'+' if finding.good else '!'} {finding.headline}.{detail}")
        if finding.may_withdraw:
            output.line(console, "    To go by the answers alone: elicit ask ... --session FILE --withdraw-orders")
    if view.held_out:
        output.line(console, f"    {held_out_caption(view.held_out)} {held_out_words(view.held_out)}.")
    _models(console, view)
    for note in view.notes:
        output.line(console, note)


def _ratios(console: Console, view: ResultView, study: Study) -> None:
    what = capitalised(thing_of(view.metric.kind))
    table = output.table((what, "counts as", view.ratios[0].range_words.head), left=(0, 2))
    shown = view.ratios
    if len(shown) > MOST_LISTED:
        shown = tuple(sorted(shown, key=lambda one: (not one.is_yardstick, -one.ratio))[:MOST_LISTED])
    for ratio in shown:
        name = ratio.mistake.name
        flow = "" if study.wording.priced else beside_name(name, called(study.wording.class_one, ratio.key))
        table.add_row(f"{name} ({flow})" if flow else name, *ratio.columns())
    console.print(table)
    say_left_out(console, len(view.ratios), "the gravest")


def say_left_out(
    console: Console, mistakes: int, which: str, where: str = "the metric file", listed: int = MOST_LISTED
) -> None:
    """Print how many of the mistakes a table lists and where all of them are; nothing if it lists them all."""
    if mistakes > listed:
        output.line(console, f"{listed} of {mistakes:,} mistakes, {which}; {where} has them all.")


def _models(console: Console, view: ResultView) -> None:
    """Print the policies, and the models' measures other than costs."""
    if view.judgement is None:
        return
    print_judgement(console, view.judgement)
    table = output.table(("Model as it decides now", "MPCS by class weight", "accuracy"))
    for model in view.models:
        table.add_row(model.name, concern(model.mpcs), accuracy_text(model.accuracy))
    console.print(table)


def print_judgement(console: Console, judgement: Judgement) -> None:
    """Print the recommendation, the table of policies and the value of more information; the caveat stands above."""
    recommended = judgement.recommendation
    output.line(console, recommended.sentence, style="bold")
    for text in (recommended.spares, recommended.sureness):
        if text:
            output.line(console, text)
    _policies(console, judgement)
    found = information_texts(judgement)
    if found is not None:
        output.line(console, found.in_words)
    for note in judgement.notes:
        output.line(console, note)


def _policies(console: Console, judgement: Judgement) -> None:
    texts = policy_texts(judgement)
    output.line(console, f"Per {texts.per}; costs in {texts.unit}:")
    counts = (" ".join(two).strip() for two in texts.heads)
    doubts = ("Above the first, 90 %", "Best") if judgement.n_draws else ()
    table = output.table(("Rank", "What one can do", *counts, "Cost", *doubts), left=(1,))
    shown = first_of(texts.rows, _MOST_ROWS)
    for index, row in enumerate(shown):
        one, doubt = row.judged, []
        if one.difference_interval is not None and one.probability_best is not None:
            doubt = [_above(one.difference_interval) if index else "", row.best]
        cost = total_cost(one.cost_per_population)
        table.add_row(str(one.rank), f"{row.name}, {row.manner}", *row.counts, cost, *doubt)
    console.print(table)
    if len(texts.rows) > len(shown):
        output.line(console, f"and {len(texts.rows) - len(shown)} more that cost more")
    for note in texts.notes:
        output.line(console, note)


def _above(range_: Range) -> str:
    if range_ == (0.0, 0.0):
        return "the same"
    low, high = (f"{'-' if end < 0 else '+'}{total_cost(abs(end))}" for end in range_)
    return f"{low} to {high}"


def print_comparison(console: Console, view: ComparisonView) -> None:
    """Print where the experts disagree, their ratios, and what pooling means."""
    from elicit_app.session.disagreement import furthest

    most = _MOST_COMPARED if view.side_by_side else _MOST_OF_MANY
    shown = furthest(view.mistakes, most)
    output.line(console, f"{view.headline}.", style="bold")
    output.line(console, view.detail)
    if view.pooled.quality.caveat:
        output.line(console, view.pooled.quality.caveat)
    output.line(console, f"One of each counts as this many {view.yardstick.mistake.many}:")
    (_side_by_side if view.side_by_side else _one_below_the_other)(console, view, shown)
    which, where = "those on which the experts differ most", "a pooled metric file"
    say_left_out(console, len(view.mistakes), which, where, most)
    for line in (view.choice, view.agreement, view.how, view.made_of, *view.notes):
        if line:
            output.line(console, line)


def _side_by_side(console: Console, view: ComparisonView, shown: Sequence[MistakeRates]) -> None:
    table = output.table((capitalised(thing_of(view.pooled.kind)), *view.names, "pooled"))
    for row in shown:
        cells = (*row.rates, row.pooled)
        texts = (
            ["1" for _ in cells] if row.is_yardstick else ["\n".join(filter(None, cell.columns())) for cell in cells]
        )
        table.add_row(row.mistake.name, *texts)
    console.print(table)


def _one_below_the_other(console: Console, view: ComparisonView, shown: Sequence[MistakeRates]) -> None:
    """Print a table per mistake, because as many columns would not fit a terminal."""
    for row in shown:
        if not row.is_yardstick:
            table = output.table((row.mistake.name, "counts as", row.pooled.range_words.head))
            for name, rate in (*view.lines(row), ("all pooled", row.pooled)):
                table.add_row(name, *rate.columns())
            console.print(table)
