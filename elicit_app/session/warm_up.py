"""What precedes the first question: first guesses of the ratios, and practice answers."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from elicit_app.elicitation.questions import Counts, Family, Proposal
from elicit_app.session.pair_words import PairComparison
from elicit_app.session.views import Reply
from elicit_app.study.model import Key, Study
from metrics.elicited.family import linear_family
from metrics.measures.confusion import natural_frequencies

_SHARE_SPARED = 0.4
_SHARE_ADDED = 0.1


class PracticePair(NamedTuple):
    """Two results to practise with and, for a trade, the count that may be moved to make them equally bad."""

    left: Counts
    right: Counts
    proposal: Proposal | None = None


class Feedback(NamedTuple):
    """Feedback after a practice answer."""

    right: bool
    headline: str
    sentence: str


def practice_pair(study: Study) -> PracticePair:
    """Return a pair in which B has fewer of the study's yardstick mistake and nothing else differs.

    It starts from the most probable answers of the study's first model, or of its distribution.
    """
    return PracticePair(*_apart(_usual_result(study), study.yardstick))


def practice_trade(study: Study) -> PracticePair:
    """Return a practice trade: A has more of the yardstick mistake, B more of another one, whose count may be moved.

    The count starts as the pair shows it. Its scale runs from one more than the other side has to where half of that
    class is wrong.
    """
    usual = _usual_result(study)
    first, second = _two_mistakes(study, usual)
    with_more, with_fewer = _apart(usual, first)
    right, left = _apart(with_fewer, second)[0], _apart(with_more, second)[1]
    true = second[0]
    least = int(left[second]) + 1
    most = max(least + 1, min(int(right[second] + right[true, true]), int(right[true].sum()) // 2))
    proposal = Proposal("second", true, second[1], min(most, max(least, int(right[second]))), least, most)
    return PracticePair(left, right, proposal)


def _two_mistakes(study: Study, usual: Counts) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the yardstick mistake and the most frequent other one, of another truth if possible."""
    first = study.yardstick
    others = usual.astype(np.float64)
    np.fill_diagonal(others, -1.0)
    others[first] = -1.0
    # Another truth if possible, so that the second pair shows another row in either family.
    others[first[0]] -= 0.5
    true, predicted = divmod(int(others.argmax()), len(usual))
    return first, (true, predicted)


def _usual_result(study: Study) -> Counts:
    law = study.distribution
    rates = study.usual_counts[0] / study.n_cases if law is None else law.usual
    sums = rates.sum(axis=1)
    scale = np.divide(study.prevalence, sums, out=np.zeros(study.n_classes), where=sums > 0)
    return natural_frequencies(rates * scale[:, None], study.population)


def _apart(usual: Counts, mistake: tuple[int, int]) -> tuple[Counts, Counts]:
    """Return a result with more and one with fewer of `mistake`; the other cases of that truth are correct."""
    true, predicted = mistake
    more, fewer = usual.copy(), usual.copy()
    spared = round(_SHARE_SPARED * int(usual[mistake]))
    if spared:
        fewer[true, predicted] -= spared
        fewer[true, true] += spared
        return more, fewer
    # The model hardly ever makes this mistake, so add some instead.
    added = min(int(usual[true, true]), max(1, round(_SHARE_ADDED * int(usual[true].sum()))))
    more[true, predicted] += added
    more[true, true] -= added
    return more, fewer


def practice_feedback(words: PairComparison, reply: Reply) -> Feedback:
    """Return the feedback on a practice pair: what B has, taken from `words`, and whether B was chosen."""
    gain = words.strip.changes
    if reply == "right":
        return Feedback(
            True,
            "You chose B, and B is better whatever you value",
            f"B has {gain} and nothing else differs. In the real questions each side is better at something, and there "
            "is no right answer: only yours counts.",
        )
    return Feedback(
        False,
        f"Look once more: B has {gain} and nothing else differs",
        "The outlined part is how many more there are on that side.",
    )


def trade_feedback(reply: Reply, ratio: str | None, *, moved: bool) -> Feedback:
    """Return the feedback on a practice trade: any answer is right, what comes next, how to take an answer back."""
    headlines = {
        "left": "You chose A",
        "right": "You chose B",
        "equal": "You said about equal",
        "unsure": "You cannot say",
    }
    headline = headlines[reply]
    if moved:
        headline = "You made them equal" if reply == "equal" else "You said that they cannot be made equal"
        headline += f": one counts as {ratio}" if ratio and reply == "equal" else ""
        more = "In the real questions the program sometimes begins with this; you can always go back to the choice."
    else:
        more = "Next, the same pair once more: move one number until both results are equally bad."
    undo = "Ctrl+Z takes an answer back, as often as you like."
    return Feedback(True, headline, f"Any answer is right here. {undo} {more}")


MOST_GUESSES = 6
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(,\d{3})+")


def yardstick_key(study: Study, family: Family) -> Key:
    """Return the mistake that the others are compared with, as the family distinguishes mistakes."""
    return linear_family(family).mistake_at(*study.yardstick)


def keys_to_guess(study: Study, family: Family, most: int = MOST_GUESSES) -> tuple[Key, ...]:
    """Return the mistakes to ask about, in study order; if there are many, those that the models make most often."""
    k, yardstick = study.n_classes, yardstick_key(study, family)
    keys = [key for key in linear_family(family).mistakes(k) if key != yardstick]
    rates = sum((counts / study.n_cases for counts in study.usual_counts), start=np.zeros((k, k)))
    np.fill_diagonal(rates, 0.0)
    often = sorted(keys, key=lambda key: -float(rates[key[0]].sum() if key[1] is None else rates[key[0], key[1]]))
    return tuple(key for key in keys if key in often[:most])


def ratio_typed(text: str) -> float | None:
    """Return a typed ratio: "20", "0.5", "0,5", "1/3", "1,200"; None if nothing was typed.

    Raises ValueError if it is not a number greater than 0.
    """
    text = text.strip()
    if not text:
        return None
    above, slash, below = text.partition("/")
    try:
        ratio = number_typed(above) / (number_typed(below) if slash else 1.0)
    except (ValueError, ZeroDivisionError):
        ratio = float("nan")
    if not (0 < ratio < 1e9):
        raise ValueError(f"“{text}” is not a number greater than 0")
    return ratio


def number_typed(text: str) -> float:
    """Return a number; a comma before groups of three digits separates thousands, any other is a decimal point."""
    text = text.strip()
    return float(text.replace(",", "") if _THOUSANDS.fullmatch(text) else text.replace(",", "."))
