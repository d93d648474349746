"""What it costs to decide now, and what more answers or more cases would spare: the value of information.

Deciding now costs L = E[cost(recommended)] - E[min over policies]. Perfect knowledge of the values would spare
E[cost(recommended)] - E_values[min over policies of E_cases[cost]], that of the cases the same with the roles changed
(K. Claxton, "The irrelevance of inference", Journal of Health Economics 18, 1999; A. Briggs, M. Sculpher and K.
Claxton, "Decision Modelling for Health Economic Evaluation", 2006).

What n more answers or cases would spare follows from how far they would narrow the doubt: where n_0 stand behind the
draws, the mean after n more varies, before they are seen, like the draws pulled to their mean by sqrt(n / (n_0 + n));
the interval that is left is narrower by sqrt(n_0 / (n_0 + n)) (H. Jalal and F. Alarid-Escudero, "A Gaussian
approximation approach for value of information analysis", Medical Decision Making 38, 2018). That takes further answers
to be as telling as those so far. Costs are in one scale over all draws.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from metrics.inputs.arguments import Floats
from metrics.text import amount

Kind = Literal["decide", "answers", "cases"]

# A loss of less than this share of what is paid anyway is not worth asking or collecting for.
_NEGLIGIBLE = 0.025
_MOST_OF_IT = 0.5
DOUBTED, DOUBTED_CASES = "what is not known", "what the cases leave open"
_FURTHEST = 20


@dataclass(frozen=True)
class More:
    """What so many more answers or cases would spare.

    Parameters
    ----------
    of : {"answers", "cases"}
        Of what.
    number : int
        How many more.
    spares : float
        Per population, in units of the yardstick; at most the expected loss.
    """

    of: Literal["answers", "cases"]
    number: int
    spares: float


@dataclass(frozen=True)
class Information:
    """What deciding now is expected to cost beyond deciding with all doubt removed.

    All per population, in units of the yardstick.

    Parameters
    ----------
    expected_loss : float
        Of deciding now.
    of_values, of_cases : float
        Of that, what perfect knowledge of the values or of the cases alone would spare. They need not add up.
    kind : {"decide", "answers", "cases"}
        What to do.
    advice : str
        In words: "Decide now", "Answer about 6 more questions", "Collect about 900 more cases".
    more : tuple of More
        What some numbers of answers and cases would spare.
    doubted : str
        What is doubted, inside a sentence: without draws of the costs, only what the cases leave open.
    """

    expected_loss: float
    of_values: float
    of_cases: float
    kind: Kind
    advice: str
    more: tuple[More, ...]
    doubted: str = DOUBTED


def information(
    recommended: int, cost: float, both: Floats, values: Floats | None, cases: Floats, n_answers: int, n_cases: int
) -> Information:
    """Return the value of information from paired draws of the costs of p policies.

    Parameters
    ----------
    recommended : int
        The policy that is decided for.
    cost : float
        What it costs.
    both, cases : ndarray of shape (draws, p)
        Drawn from both doubts, and from the cases alone.
    values : ndarray of shape (draws, p) or None
        Drawn from the values alone; None where they are not doubted.
    n_answers, n_cases : int
        What stands behind the draws; without answers nothing can be said about more of them.
    """
    loss = _spared(both, recommended)
    # less by Jensen's inequality, but for the chance of finitely many draws
    of_cases = min(_spared(cases, recommended), loss)
    of_values = 0.0 if values is None else min(_spared(values, recommended), loss)
    more = [*_more("cases", cases, recommended, n_cases, of_cases)]
    if values is not None and n_answers:
        more = [*_more("answers", values, recommended, n_answers, of_values), *more]
    doubted = DOUBTED if values is not None else DOUBTED_CASES
    kind, advice = _advice(loss, cost, of_values, of_cases, more, doubted)
    return Information(loss, of_values, of_cases, kind, advice, tuple(more), doubted)


def _spared(draws: Floats, recommended: int) -> float:
    return float((draws[:, recommended] - draws.min(axis=1)).mean())


def _more(
    of: Literal["answers", "cases"], draws: Floats, recommended: int, behind: int, perfect: float
) -> Iterator[More]:
    """Yield round numbers up to `_FURTHEST` times what is there, until most of the perfect knowledge is had."""
    mean = draws.mean(axis=0)
    for number in _round_numbers(max(1, behind // 10), _FURTHEST * behind):
        spares = _spared(mean + math.sqrt(number / (behind + number)) * (draws - mean), recommended)
        yield More(of, number, min(spares, perfect))
        if perfect == 0 or spares >= _MOST_OF_IT * perfect:
            return


def _round_numbers(low: int, high: int) -> list[int]:
    """Return numbers that people would name: 1, 2, 3, 5, 8, 10, 15, 20, 30, ..."""
    named = {step * 10**power // 10 for power in range(len(str(high)) + 1) for step in (10, 15, 20, 30, 50, 80)}
    return sorted(number for number in named if low <= number <= high)


def _advice(
    loss: float, cost: float, of_values: float, of_cases: float, more: list[More], doubted: str
) -> tuple[Kind, str]:
    # Of costs without draws nobody knows how far they are off.
    now = "Decide now" if doubted == DOUBTED else "Decide now, if the costs hold"
    if loss <= _NEGLIGIBLE * cost:
        return "decide", f"{now}: {doubted} hardly matters"
    kind: Literal["answers", "cases"] = "answers" if of_values > of_cases else "cases"
    perfect = of_values if kind == "answers" else of_cases
    enough = [one.number for one in more if one.of == kind and one.spares >= _MOST_OF_IT * perfect]
    if not enough:
        return "decide", f"{now}: more {kind} would hardly settle it"
    if kind == "answers":
        return kind, f"Answer about {amount(enough[0])} more question{'s' if enough[0] > 1 else ''}"
    return kind, f"Collect about {amount(enough[0])} more case{'s' if enough[0] > 1 else ''}"
