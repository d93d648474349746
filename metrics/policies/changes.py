"""What would change a conclusion: other values, other cases, other models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from metrics.display.numbers import percent, two_digits
from metrics.elicited.exchange import exchange_rates, headline_of
from metrics.elicited.family import family_of
from metrics.policies.recommendation import what_one_does

if TYPE_CHECKING:
    from metrics.elicited.exchange import ExchangeRate
    from metrics.policies.judgement import JudgedPolicy, Judgement

_FURTHEST = 1_000.0  # a value so many times off is nobody's


def what_would_change(judgement: Judgement) -> tuple[tuple[str, str], ...]:
    """Return what would change a conclusion, each as a word or two and a sentence.

    Parameters
    ----------
    judgement : Judgement
        The conclusion.

    Returns
    -------
    tuple of (str, str)
        ("Other values.", "Above about 12 needless biopsies for one missed cancer ..."), then cases, then models.
    """
    return (
        ("Other values.", _other_values(judgement)),
        (f"Other {judgement.words.cases}.", _other_cases(judgement)),
        ("Other models.", _other_models(judgement)),
    )


def turning_points(judgement: Judgement, rate: ExchangeRate) -> tuple[tuple[float, JudgedPolicy] | None, ...]:
    """Return at which values of one mistake, below and above its own, another policy is the cheapest.

    Everything else stays as it is, the decisions too: costs are straight lines in the value.

    Parameters
    ----------
    judgement : Judgement
        What is compared.
    rate : ExchangeRate
        The mistake, which is not the yardstick.

    Returns
    -------
    tuple of two (float, JudgedPolicy) or None
        The nearest value below and above, in units of the yardstick, and the policy that is cheaper beyond it.
    """
    metric = judgement.metric
    cells = family_of(metric.family).mistake_at
    unit = metric.cost_matrix / metric.cost_matrix[judgement.unit]
    k = len(judgement.classes)
    own = np.array([[i != j and cells(i, j) == rate.key for j in range(k)] for i in range(k)])
    many = np.array([one.counts[own].sum() for one in judgement.policies], dtype=np.float64)
    rest = np.array([(one.counts * unit)[~own].sum() for one in judgement.policies])
    now = float(unit[own].max())
    below: tuple[float, JudgedPolicy] | None = None
    above: tuple[float, JudgedPolicy] | None = None
    for place, one in enumerate(judgement.policies[1:], start=1):
        fewer = many[0] - many[place]
        if fewer == 0:
            continue
        value = float((rest[place] - rest[0]) / fewer)
        if value <= 0 or not now / _FURTHEST < value < now * _FURTHEST:
            continue
        if fewer > 0 and value >= now and (above is None or value < above[0]):
            above = value, one
        if fewer < 0 and value <= now and (below is None or value > below[0]):
            below = value, one
    return below, above


def _other_values(judgement: Judgement) -> str:
    rate = headline_of(exchange_rates(judgement.metric)).rate
    one, many = rate.mistake.one, judgement.mistake(*judgement.unit).many
    below, above = turning_points(judgement, rate)
    said = []
    if above is not None:
        said.append(f"above about {two_digits(above[0])} {many} for one {one}: {_what(judgement, above[1])}")
    if below is not None:
        for_one = "" if said else f" {many} for one {one}"
        said.append(f"below about {two_digits(below[0])}{for_one}: {_what(judgement, below[1])}")
    if not said:
        return f"However many {many} one {one} counts for, nothing else in the list is cheaper."
    return f"Cheaper would be, {'; '.join(said)}."


def _what(judgement: Judgement, one: JudgedPolicy) -> str:
    name, manner = what_one_does(one, judgement.words, judgement.positive)
    if one.policy.model is None:
        return name[:1].lower() + name[1:]
    return f"{name}, {manner.split(' (')[0]}"


def _other_cases(judgement: Judgement) -> str:
    at = judgement.positive if judgement.positive is not None else int(np.argmax(judgement.prevalence))
    share, name, cases = percent(float(judgement.prevalence[at])), judgement.words.classes[at], judgement.words.cases
    first = f"It holds for {share} {name}, as stated" if judgement.stated else f"Of these {cases} {share} were {name}"
    return (
        f"{first}. Where that is otherwise, or {cases} are of another kind, the models’ probabilities must be "
        "corrected first."
    )


def _other_models(judgement: Judgement) -> str:
    names = list(dict.fromkeys(one.policy.model for one in judgement.policies if one.policy.model is not None))
    if len(names) < 2:
        return "Only this one was looked at."
    return f"Only these {len(names)} were compared."
