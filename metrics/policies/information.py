"""The value of information: the expected loss of deciding now, and the savings from more answers or more cases.

The expected loss of deciding now is L = E[cost(recommended)] - E[min over policies]. Perfect knowledge of the values
would save E[cost(recommended)] - E_values[min over policies of E_cases[cost]]; for the cases the roles are exchanged
(K. Claxton, "The irrelevance of inference", Journal of Health Economics 18, 1999; A. Briggs, M. Sculpher and K.
Claxton, "Decision Modelling for Health Economic Evaluation", 2006). Both keep the decisions of each policy as they are;
who knew the values would also decide by them, which saves more.

The value of n more answers or cases follows from a Gaussian approximation (H. Jalal and F. Alarid-Escudero, "A Gaussian
approximation approach for value of information analysis", Medical Decision Making 38, 2018). With n_0 observations
behind the draws, the preposterior distribution of the mean is that of the draws shrunk towards their mean by
sqrt(n / (n_0 + n)), and the remaining interval narrows by sqrt(n_0 / (n_0 + n)). This assumes that further answers are
as informative as those so far. What deciding anew saves is quadratic in the change of the values, so n more answers
bring n / (n_0 + n) of it. Costs are on one scale over all draws.

The cheapest of several policies owes its place partly to luck, so that it seems cheaper than it is (J. Smith and R.
Winkler, "The optimizer's curse", Management Science 52, 2006).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from metrics.elicited.metric_parts import CaseWords
from metrics.inputs.arguments import Floats
from metrics.text import amount, capitalised

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
        Saving per population, in units of the yardstick; at most what is at stake.
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
    of_deciding_anew : float
        What known values would save on top if decisions followed them; 0 where no probabilities are at hand.
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
    of_deciding_anew: float
    kind: Kind
    advice: str
    more: tuple[More, ...]
    doubted: str = DOUBTED

    @property
    def at_stake(self) -> float:
        """Return what deciding now costs compared with knowing everything and deciding by it."""
        return self.expected_loss + self.of_deciding_anew

    @property
    def of_known_values(self) -> float:
        """Return what perfect knowledge of the values alone would save."""
        return self.of_values + self.of_deciding_anew


def information(
    both: Floats,
    values: Floats | None,
    cases: Floats,
    n_answers: int,
    n_cases: int,
    words: CaseWords,
    anew: Floats | None = None,
    of_people: bool = False,
) -> Information:
    """Return the value of information from paired draws, (draws, p), of the costs of p policies, the best first.

    The draws have both uncertainties, that of the values alone (None if the values have no draws), and that of the
    cases alone. `n_answers` and `n_cases` are behind them; without answers, nothing can be said about more of them.
    `anew` has the costs of deciding by the values, for the first draws of `values`. `of_people` tells that several
    cases may be of one person.
    """
    loss = _expected_loss(both)
    # at most the loss by Jensen's inequality; finitely many draws may exceed it
    of_cases = min(_expected_loss(cases), loss)
    of_values = 0.0 if values is None else min(_expected_loss(values), loss)
    further = 0.0
    if values is not None and anew is not None:
        kept = values[: len(anew)].min(axis=1)
        further = float((kept - np.minimum(kept, anew.min(axis=1))).mean())
    more = [*_more("cases", cases, n_cases, of_cases)]
    if values is not None and n_answers:
        more = [*_more("answers", values, n_answers, of_values, further), *more]
    doubted = DOUBTED if values is not None else DOUBTED_CASES
    found = Information(loss, of_values, of_cases, further, "decide", "", tuple(more), doubted)
    kind, advice = _advice(found, float(both[:, 0].mean()), words, of_people)
    return replace(found, kind=kind, advice=advice)


def optimism(estimate: Floats, draws: Floats) -> float:
    """Return how much more the cheapest policy probably costs than its estimate says, because it was chosen for it.

    If one half of the cases chooses and the other half judges, the two differ from all cases by about plus and minus
    what a draw does. With all cases the differences are smaller by a factor of the square root of 2.

    Parameters
    ----------
    estimate : ndarray of shape (p,)
        Costs of the policies by all cases.
    draws : ndarray of shape (b, p)
        Draws of these costs with the uncertainty of the cases alone.
    """
    deviations = draws - estimate
    lucky = (deviations * sign for sign in (1, -1))
    chosen = [np.take_along_axis(one, (estimate + one).argmin(axis=1)[:, None], axis=1) for one in lucky]
    return float(-math.sqrt(2) * np.mean(chosen))


def _expected_loss(draws: Floats) -> float:
    return float((draws[:, 0] - draws.min(axis=1)).mean())


def _more(
    of: Literal["answers", "cases"], draws: Floats, behind: int, fixed: float, further: float = 0.0
) -> Iterator[More]:
    """Yield savings for round numbers up to `_FURTHEST` times those at hand, until most of all is reached.

    Perfect knowledge saves `fixed` if decisions stay as they are, and `further` if they do not.
    """
    mean, perfect = draws.mean(axis=0), fixed + further
    # Without more, nothing is saved, although another policy may be cheaper in the mean than the recommended one.
    now, known = _expected_loss(mean[None]), _expected_loss(draws)
    for number in _round_numbers(max(1, behind // 10), _FURTHEST * behind):
        learned = number / (behind + number)
        then = _expected_loss(mean + math.sqrt(learned) * (draws - mean))
        part = (then - now) / (known - now) if known > now else 1.0
        spares = part * fixed + learned * further
        yield More(of, number, spares)
        if perfect == 0 or spares >= _MOST_OF_IT * perfect:
            return


def _round_numbers(low: int, high: int) -> list[int]:
    """Return the round numbers in a range: 1, 2, 3, 5, 8, 10, 15, 20, 30, ..."""
    named = {step * 10**power // 10 for power in range(len(str(high)) + 1) for step in (10, 15, 20, 30, 50, 80)}
    return sorted(number for number in named if low <= number <= high)


def _advice(found: Information, cost: float, words: CaseWords, of_people: bool) -> tuple[Kind, str]:
    # Without draws, the error of the costs is unknown.
    now = "Decide now" if found.doubted == DOUBTED else "Decide now, if the costs hold"
    negligible = NEGLIGIBLE * cost
    # Where nobody can be asked more, only the choice among the policies counts.
    askable = any(one.of == "answers" for one in found.more)
    of_answers = found.of_known_values if askable else found.of_values
    kind: Literal["answers", "cases"] = "answers" if of_answers > found.of_cases else "cases"
    perfect = max(of_answers, found.of_cases)
    more = [one for one in found.more if one.of == kind]
    enough = next((one.number for one in more if one.spares >= _MOST_OF_IT * perfect), None)
    decided = found.expected_loss <= negligible or max(found.of_values, found.of_cases) <= negligible
    if kind == "answers" and found.of_values <= negligible < of_answers and enough is not None:
        improve = f"{_more_of('answer', 'answers', enough)} would improve the decisions"
        return ("decide", f"{now}; {improve}") if decided else (kind, capitalised(improve))
    if decided:
        if found.expected_loss <= negligible:
            return "decide", f"{now}: {found.doubted} hardly matters"
        return "decide", f"{now}: neither more answers nor more {words.cases} alone would spare much"
    if not more:
        return kind, "Learn more about the costs first"
    if enough is None:
        return "decide", f"{now}: more {'answers' if kind == 'answers' else words.cases} would hardly settle it"
    if kind == "answers":
        return kind, f"Answer {_more_of('question', 'questions', enough)}"
    return kind, f"Collect {_more_of(words.case, words.cases, enough)}{' of other people' if of_people else ''}"


def _more_of(one: str, many: str, number: int) -> str:
    return f"about {amount(number)} more {many if number > 1 else one}"
