"""The value of information: the expected loss of deciding now, and the savings from more answers or more cases.

The expected loss of deciding now is L = E[cost(recommended)] - E[min over policies]. Perfect knowledge of the values
would save E[cost(recommended)] - E_values[min over policies of E_cases[cost]]; for the cases the roles are exchanged
(K. Claxton, "The irrelevance of inference", Journal of Health Economics 18, 1999; A. Briggs, M. Sculpher and K.
Claxton, "Decision Modelling for Health Economic Evaluation", 2006).

The value of n more answers or cases follows from a Gaussian approximation (H. Jalal and F. Alarid-Escudero, "A Gaussian
approximation approach for value of information analysis", Medical Decision Making 38, 2018). With n_0 observations
behind the draws, the preposterior distribution of the mean is that of the draws shrunk towards their mean by
sqrt(n / (n_0 + n)), and the remaining interval narrows by sqrt(n_0 / (n_0 + n)). This assumes that further answers are
as informative as those so far. Costs are on one scale over all draws.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from metrics.elicited.metric_parts import CaseWords
from metrics.inputs.arguments import Floats
from metrics.text import amount

Kind = Literal["decide", "answers", "cases"]

NEGLIGIBLE = 0.025  # an expected loss below this share of the cost does not justify more questions or cases
_MOST_OF_IT = 0.5
DOUBTED, DOUBTED_CASES = "what is not known", "the uncertainty of the cases"
_FURTHEST = 20


@dataclass(frozen=True)
class More:
    """The expected saving from a number of further answers or cases.

    Parameters
    ----------
    of : {"answers", "cases"}
        What is added.
    number : int
        How many are added.
    spares : float
        Saving per population, in units of the yardstick; at most the expected loss.
    """

    of: Literal["answers", "cases"]
    number: int
    spares: float


@dataclass(frozen=True)
class Information:
    """The expected loss of deciding now compared with deciding under certainty.

    All amounts are per population, in units of the yardstick.

    Parameters
    ----------
    expected_loss : float
        Expected loss of deciding now.
    of_values, of_cases : float
        The part that perfect knowledge of the values alone, or of the cases alone, would save. They need not add up.
    kind : {"decide", "answers", "cases"}
        The recommended next step.
    advice : str
        The same in words: "Decide now", "Answer about 6 more questions", "Collect about 900 more patients".
    more : tuple of More
        Savings from various numbers of answers and cases.
    doubted : str
        The uncertainty, inside a sentence; without draws of the costs, only that of the cases.
    """

    expected_loss: float
    of_values: float
    of_cases: float
    kind: Kind
    advice: str
    more: tuple[More, ...]
    doubted: str = DOUBTED


def information(
    both: Floats, values: Floats | None, cases: Floats, n_answers: int, n_cases: int, words: CaseWords
) -> Information:
    """Return the value of information from paired draws, (draws, p), of the costs of p policies, the best first.

    The draws have both uncertainties, that of the values alone (None if the values have no draws), and that of the
    cases alone. `n_answers` and `n_cases` are behind them; without answers, nothing can be said about more of them.
    """
    loss = _expected_loss(both)
    # at most the loss by Jensen's inequality; finitely many draws may exceed it
    of_cases = min(_expected_loss(cases), loss)
    of_values = 0.0 if values is None else min(_expected_loss(values), loss)
    more = [*_more("cases", cases, n_cases, of_cases)]
    if values is not None and n_answers:
        more = [*_more("answers", values, n_answers, of_values), *more]
    doubted = DOUBTED if values is not None else DOUBTED_CASES
    kind, advice = _advice(loss, float(both[:, 0].mean()), of_values, of_cases, more, doubted, words)
    return Information(loss, of_values, of_cases, kind, advice, tuple(more), doubted)


def _expected_loss(draws: Floats) -> float:
    return float((draws[:, 0] - draws.min(axis=1)).mean())


def _more(of: Literal["answers", "cases"], draws: Floats, behind: int, perfect: float) -> Iterator[More]:
    """Yield savings for round numbers up to `_FURTHEST` times those at hand, until most of `perfect` is reached."""
    mean = draws.mean(axis=0)
    for number in _round_numbers(max(1, behind // 10), _FURTHEST * behind):
        spares = _expected_loss(mean + math.sqrt(number / (behind + number)) * (draws - mean))
        yield More(of, number, min(spares, perfect))
        if perfect == 0 or spares >= _MOST_OF_IT * perfect:
            return


def _round_numbers(low: int, high: int) -> list[int]:
    """Return the round numbers in a range: 1, 2, 3, 5, 8, 10, 15, 20, 30, ..."""
    named = {step * 10**power // 10 for power in range(len(str(high)) + 1) for step in (10, 15, 20, 30, 50, 80)}
    return sorted(number for number in named if low <= number <= high)


def _advice(
    loss: float, cost: float, of_values: float, of_cases: float, more: list[More], doubted: str, words: CaseWords
) -> tuple[Kind, str]:
    # Without draws, the error of the costs is unknown.
    now = "Decide now" if doubted == DOUBTED else "Decide now, if the costs hold"
    if loss <= NEGLIGIBLE * cost:
        return "decide", f"{now}: {doubted} hardly matters"
    kind: Literal["answers", "cases"] = "answers" if of_values > of_cases else "cases"
    perfect = max(of_values, of_cases)
    if perfect <= NEGLIGIBLE * cost:
        return "decide", f"{now}: neither more answers nor more {words.cases} alone would spare much"
    known = [one for one in more if one.of == kind]
    if not known:
        return kind, "Learn more about the costs first"
    enough = [one.number for one in known if one.spares >= _MOST_OF_IT * perfect]
    if not enough:
        return "decide", f"{now}: more {'answers' if kind == 'answers' else words.cases} would hardly settle it"
    if kind == "answers":
        return kind, f"Answer about {amount(enough[0])} more question{'s' if enough[0] > 1 else ''}"
    return kind, f"Collect about {amount(enough[0])} more {words.cases if enough[0] > 1 else words.case}"
