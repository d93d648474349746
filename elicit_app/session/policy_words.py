"""Policies in words: the rows of a table, and the sentences around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from metrics.policies.information import DOUBTED, More
from metrics.policies.recommendation import difference_words, main_doubt, name_and_manner
from metrics.text import amount, capitalised, number_word, total_cost

if TYPE_CHECKING:
    from elicit_app.session.views import ResultView
    from metrics.policies.information import Information
    from metrics.policies.judgement import JudgedPolicy, Judgement

# Below this share of the loss, more answers or cases would save next to nothing.
_NOTHING = 0.03
_PARTLY, _MAINLY = 0.1, 0.5
_FEW_ANSWERS = 10


@dataclass(frozen=True, eq=False)
class PolicyRow:
    """One policy as a row of the table."""

    judged: JudgedPolicy  # how it was judged
    shared: bool  # whether it shares rank 1: its difference to the first may be 0
    # "Size and texture", "cancer from 22 % (16 to 29)", "cancer from 22 %"
    name: str
    manner: str
    short_manner: str
    # cases in the population and, where the answers follow F1, that; in the order of the heads of `PolicyTexts`
    counts: tuple[str, ...]
    best: str  # probability of being best
    sentence: str  # the row as read by a screen reader


@dataclass(frozen=True)
class PolicyTexts:
    """A judgement as a table."""

    rows: tuple[PolicyRow, ...]  # the recommended one first
    heads: tuple[tuple[str, str], ...]  # the heads of the counts, in two lines
    unit: str  # the unit of costs: "needless biopsies"
    per: str  # the population: "1,000 patients"
    notes: tuple[str, ...]  # remarks below the table


def policy_texts(judgement: Judgement, counts_as: str = "") -> PolicyTexts:
    """Return a judgement as a table; `counts_as` is the sentence that states what the costs rest on."""
    shared = sum(one.rank == 1 for one in judgement.policies) > 1
    heads = _heads(judgement)
    rows = tuple(_row(judgement, one, heads, shared and one.rank == 1) for one in judgement.policies)
    return PolicyTexts(
        rows=rows,
        heads=tuple(_two_lines(head) for head in heads),
        unit=judgement.mistake(*judgement.unit).many,
        per=f"{judgement.population:,} {judgement.words.cases}",
        notes=tuple(note for note in (_shared_note(judgement), _f1_note(judgement), counts_as) if note),
    )


def _row(judgement: Judgement, one: JudgedPolicy, heads: tuple[str, ...], shared: bool) -> PolicyRow:
    name, manner = name_and_manner(one, judgement.words, judgement.positive)
    counts = tuple(f"{count:,}" for count in _counts(judgement, one))
    counts += (f"{one.macro_f1:.3f}",) if _follows_f1(judgement) else ()
    return PolicyRow(
        judged=one,
        shared=shared,
        name=name,
        manner=manner,
        short_manner=name_and_manner(one, judgement.words, judgement.positive, ranges=False)[1],
        counts=counts,
        best=judgement.probability_text(one),
        sentence=_sentence(judgement, one, f"{name}, {manner}", dict(zip(heads, counts, strict=True)), shared),
    )


def _sentence(judgement: Judgement, one: JudgedPolicy, what: str, counts: dict[str, str], shared: bool) -> str:
    text = ", ".join(f"{count} {head}" for head, count in counts.items())
    sentence = (
        f"Rank {one.rank}{', shared' if shared else ''}. {what}: {text}, cost {total_cost(one.cost_per_population)}"
    )
    sentence += f", {beyond}" if (beyond := difference_words(one)) else ""
    best = "" if one.probability_best is None else f"; best with {judgement.probability_text(one)}"
    return f"{sentence}{best}."


def _heads(judgement: Judgement) -> tuple[str, ...]:
    """Return the heads of the counts: both mistakes with two classes, else the cases decided correctly."""
    f1 = ("macro F1",) if _follows_f1(judgement) else ()
    if judgement.positive is None:
        return f"{judgement.words.cases} right", *f1
    positive, negative = judgement.positive, 1 - judgement.positive
    return judgement.mistake(positive, negative).many, judgement.mistake(negative, positive).many, *f1


def _counts(judgement: Judgement, one: JudgedPolicy) -> tuple[int, ...]:
    if judgement.positive is None:
        return (int(np.trace(one.counts)),)
    positive, negative = judgement.positive, 1 - judgement.positive
    return int(one.counts[positive, negative]), int(one.counts[negative, positive])


def _two_lines(head: str) -> tuple[str, str]:
    """Return a head in two lines, of which the longer one is as short as can be.

    >>> _two_lines("ill cases called well")
    ('Ill cases', 'called well')
    """
    words = head.split(" ")
    splits = [(" ".join(words[:n]), " ".join(words[n:])) for n in range(1, len(words) + 1)]
    first, rest = min(splits, key=lambda lines: max(map(len, lines)))
    return capitalised(first), rest


def _shared_note(judgement: Judgement) -> str:
    tied = [one for one in judgement.policies if one.rank == 1]
    if len(tied) < 2:
        return ""
    number = number_word(len(tied))
    times = "twice" if len(tied) == 2 else f"is shared by {number}" if number.isdecimal() else f"{number} times"
    cases = f"{judgement.n_cases:,} {judgement.words.cases}"
    doubts = {main_doubt(one) for one in tied[1:]} - {"none"}
    if not doubts:
        return f"Rank 1 {times}: these cost the same."
    doubt = doubts.pop() if len(doubts) == 1 else "both"
    whose = {"cases": cases, "answers": "the answers", "both": f"the answers and {cases} together"}[doubt]
    alike = 1 + sum(main_doubt(one) == "none" for one in tied[1:])
    if alike > 1:
        first = f"the first {number_word(alike)} decide alike"
        return f"Rank 1 {times}: {first}, and {whose} cannot tell them from the others."
    return f"Rank 1 {times}: {whose} cannot tell these apart."


def _follows_f1(judgement: Judgement) -> bool:
    """Return whether F1 explains the answers better than costs, so that policies are judged by it, too."""
    return judgement.metric.quality.linear == "f1"


def _f1_note(judgement: Judgement) -> str:
    """Return what macro F1 would choose, for people who go by it."""
    if not _follows_f1(judgement):
        return ""
    first = max(judgement.policies, key=lambda one: one.macro_f1)
    name, manner = name_and_manner(first, judgement.words, judgement.positive, ranges=False)
    too = " too" if first is judgement.best else ""
    said = f"{judgement.metric.quality.other_values}: by macro F1, which is better the higher it is"
    return f"{said}, {name}, {manner}, is first{too} ({first.macro_f1:.3f})."


def chooses(view: ResultView) -> bool:
    """Return whether the answers serve only to choose, so that a report follows."""
    return view.metric.quality.purpose == "choose"


@dataclass(frozen=True)
class MoreText:
    """What more answers or cases would save: "900 more cases", "spare 1 of 4", and the share of the loss."""

    number: str
    spares: str
    share: float


@dataclass(frozen=True)
class InformationTexts:
    """Whether more would help: the advice, the expected loss of deciding now, and up to three amounts of more data."""

    advice: str
    loss: str
    more: tuple[MoreText, ...]

    @property
    def in_words(self) -> str:
        """Return everything as one paragraph."""
        others = "; ".join(f"{one.number} would {one.spares}" for one in self.more)
        return f"{self.advice}. {self.loss}" + (f" {others}." if others else "")


def information_texts(judgement: Judgement) -> InformationTexts | None:
    """Return in words what more answers or more cases would gain; None without draws."""
    found, advice = judgement.information, judgement.advice
    if found is None or advice is None:
        return None
    if not found.at_stake and judgement.too_few is not None:  # few cases cannot show that nothing is at stake
        return InformationTexts(advice, "What that costs cannot be said.", ())
    shown = _chosen(found)
    if judgement.too_few is not None:  # nor that more of them would tell nothing
        shown = [one for one in shown if one.of == "answers" or _share(found, one) >= _NOTHING]
    more = tuple(_more_text(found, one, judgement.words.cases) for one in shown)
    return InformationTexts(advice, _loss_text(judgement, found), more)


def _loss_text(judgement: Judgement, found: Information) -> str:
    """Return what deciding now costs on average, as a sentence."""
    doubted = capitalised(found.doubted)
    if not found.at_stake:
        of_it = "" if found.doubted == DOUBTED else " of them"
        return f"{doubted} costs nothing: whatever is true{of_it}, the first stays the best."
    unit, loss = judgement.mistake(*judgement.unit), total_cost(found.at_stake)
    lost = f"{loss} {unit.one if loss == '1' else unit.many}"
    why = ""
    if found.of_deciding_anew > _PARTLY * found.at_stake:
        much = "mainly" if found.of_deciding_anew > _MAINLY * found.at_stake else "partly"
        why = f", {much} because exact values would change some decisions"
    return f"{doubted} costs {lost} per {judgement.population:,} {judgement.words.cases} on average{why}."


def _chosen(found: Information) -> list[More]:
    """Return the most informative amounts: one of answers, and a small and a large one of cases."""
    answers = [one for one in found.more if one.of == "answers"]
    if answers and found.of_known_values == 0:
        answers = [More("answers", _FEW_ANSWERS, 0.0)]
    cases = [one for one in found.more if one.of == "cases"]
    # where the large amount spares nothing, a small one goes without saying
    few = [cases[len(cases) // 2]] if len(cases) > 1 and _share(found, cases[-1]) >= _NOTHING else []
    return [*answers[-1:], *few, *cases[-1:]]


def _share(found: Information, one: More) -> float:
    return one.spares / found.at_stake if found.at_stake > 0 else 0.0


def _more_text(found: Information, one: More, cases: str) -> MoreText:
    share = _share(found, one)
    noun = "answer" if one.of == "answers" else cases
    plural = "s" if one.of == "answers" and one.number != 1 else ""
    spares = "spare nothing"
    if share >= _NOTHING:
        spares = f"spare {total_cost(one.spares)} of {total_cost(found.at_stake)}"
    return MoreText(f"{amount(one.number)} more {noun}{plural}", spares, share)
