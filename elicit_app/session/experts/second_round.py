"""A second round: each expert sees where the others stand, unnamed, and may answer again; both rounds are kept.

After Dalkey and Helmer, "An experimental application of the Delphi method to the use of experts", Management Science 9,
1963: opinions and reasons go round without names, so that arguments count and not who gives them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from elicit_app.session.experts.comparing import ComparisonView, MistakeRates, compare_study
from elicit_app.session.journal.listing import finished_experts, sessions_folder, sessions_of
from elicit_app.session.journal.reading import read
from elicit_app.session.journal.state import Entry, fold
from elicit_app.study.model import Mistake, Opinions, Study
from metrics.display.numbers import two_digits

MOST_SHOWN = 3
"""Mistakes whose differences are shown: those that the experts are furthest apart about."""

INTRODUCTION = (
    "These are the mistakes that the experts of the first round are furthest apart about, with what each of them "
    "answered, you among them. Think about it, and answer again, as before or otherwise. Both rounds are kept."
)


class Stand(NamedTuple):
    """Where the experts stand about one mistake, in words."""

    mistake: str
    sentence: str
    reasons: tuple[str, ...]


def opinions_of(study: Study) -> tuple[Opinions, ...]:
    """Return where the experts who finished a study stand, for the mistakes with the largest differences.

    Raises
    ------
    Problem
        Fewer than two experts have a result.
    """
    view = compare_study(study)
    others = [one for one in view.mistakes if not _is(one, study.yardstick)]
    widest = sorted(others, key=lambda one: (not one.apart, -one.factor))[:MOST_SHOWN]
    found = finished_experts(sessions_of(sessions_folder(study), study.digests))
    answers = [entry for one in found for entry in fold(read(one.path).events).entries]
    shown = [one for one in others if one in widest]
    return tuple(Opinions(_key(one), _ratios(view, one, study), _reasons(answers, _key(one))) for one in shown)


def stands(study: Study) -> tuple[Stand, ...]:
    """Return in words where the others stand, of a study that was packed for a second round; else nothing."""
    if study.pack is None:
        return ()
    unit = _words(study, study.yardstick)
    found = []
    for said in study.pack.others:
        mistake, numbers = _words(study, said.mistake), [two_digits(ratio) for ratio in said.ratios]
        listed = f"{', '.join(numbers[:-1])} and {numbers[-1]}" if len(numbers) > 1 else numbers[0]
        found.append(Stand(mistake.name, f"One {mistake.one} counts as {listed} {unit.many}.", said.reasons))
    return tuple(found)


def _key(one: MistakeRates) -> tuple[int, int | None]:
    return one.pooled.true, one.pooled.predicted


def _is(one: MistakeRates, mistake: tuple[int, int]) -> bool:
    true, predicted = _key(one)
    return true == mistake[0] and predicted in (None, mistake[1])


def _ratios(view: ComparisonView, one: MistakeRates, study: Study) -> tuple[float, ...]:
    """Return everybody's ratio to the study's yardstick, ascending, so that no place belongs to a name."""
    unit = next(other for other in view.mistakes if _is(other, study.yardstick))
    pairs = zip(one.rates, unit.rates, strict=True)
    return tuple(sorted(float(rate.ratio / of.ratio) for rate, of in pairs if of.ratio > 0))


def _reasons(answers: Sequence[Entry], mistake: tuple[int, int | None]) -> tuple[str, ...]:
    """Return what was written about answers in which a mistake was traded, each text once, in no order of experts."""
    true, predicted = mistake
    texts = set()
    for entry in answers:
        differs = np.array(entry.event.pair.first)[true] != np.array(entry.event.pair.second)[true]
        differs[true] = False
        reason = (entry.answer.reason or "").strip()
        if reason and (differs.any() if predicted is None else differs[predicted]):
            texts.add(reason)
    return tuple(sorted(texts))


def _words(study: Study, mistake: tuple[int, int | None]) -> Mistake:
    true, predicted = mistake
    return study.wording.any_mistake[true] if predicted is None else study.wording.mistakes[true, predicted]
