"""First guesses of the ratios, asked before the first question: which mistakes, and how a typed ratio is read."""

from __future__ import annotations

import re

import numpy as np

from elicit_app.elicitation.questions import Family
from elicit_app.study.counting import confusion_rates
from elicit_app.study.model import Mistake, Study

Key = tuple[int, int | None]

MOST_GUESSES = 6
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(,\d{3})+")


def yardstick_key(study: Study, family: Family) -> Key:
    """Return the mistake that the others are compared with, as the family tells mistakes apart."""
    return (study.yardstick[0], None) if family == "dlpm" else study.yardstick


def mistake_of_key(study: Study, key: Key) -> Mistake:
    """Return the words of a mistake; any wrong answer for a truth where its second part is None."""
    true, predicted = key
    return study.wording.any_mistake[true] if predicted is None else study.wording.mistakes[true, predicted]


def keys_to_guess(study: Study, family: Family, most: int = MOST_GUESSES) -> tuple[Key, ...]:
    """Return the mistakes to ask about, in study order: of many, those that the models make most often."""
    k, yardstick = study.n_classes, yardstick_key(study, family)
    if family == "dlpm":
        keys: list[Key] = [(i, None) for i in range(k)]
    else:
        keys = [(i, j) for i in range(k) for j in range(k) if i != j]
    keys.remove(yardstick)
    rates = sum((confusion_rates(m.y_true, m.y_proba.argmax(axis=1), k) for m in study.models), start=np.zeros((k, k)))
    np.fill_diagonal(rates, 0.0)
    often = sorted(keys, key=lambda key: -float(rates[key[0]].sum() if key[1] is None else rates[key[0], key[1]]))
    return tuple(key for key in keys if key in often[:most])


def ratio_typed(text: str) -> float | None:
    """Return a typed ratio: "20", "0.5", "0,5", "1/3", "1,200"; None where nothing was typed.

    Raises
    ------
    ValueError
        Where it is no number above 0.
    """
    text = text.strip()
    if not text:
        return None
    above, slash, below = text.partition("/")
    try:
        ratio = _number(above) / (_number(below) if slash else 1.0)
    except (ValueError, ZeroDivisionError):
        ratio = float("nan")
    if not (0 < ratio < 1e9):
        raise ValueError(f"“{text}” is no number above 0")
    return ratio


def _number(text: str) -> float:
    """Return a number; a comma before groups of three digits parts thousands, any other is a decimal point."""
    text = text.strip()
    return float(text.replace(",", "") if _THOUSANDS.fullmatch(text) else text.replace(",", "."))
