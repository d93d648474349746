"""How far the answers of experts who answered again are from their answers before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from elicit_app.session.disagreement import SAME, Disagreement, compared_mistakes
from elicit_app.session.pooling import Source, aligned
from elicit_app.study.model import Wording
from metrics import ElicitedMetric
from metrics.elicited.kinds import thing_of
from metrics.text import capitalised, two_digits


def only_in_second_round(name: str) -> str:
    """Return what to do if an expert of a second round is not known from the first."""
    return (
        f"{name} answered only in the second round: if this is an expert of the first under another name, who would "
        "count twice, take the file of the first round out of the folder of sessions."
    )


def since_first_round(before: Sequence[Source], now: Sequence[Source], pooled: ElicitedMetric, wording: Wording) -> str:
    """Return how far apart the experts were in the first round, and how far they are now; `pooled` are those of now.

    Where they differed most, chance alone brings them closer; so the mean over all mistakes is told, too.
    """
    metrics, then = ([source.metric for source in aligned(sources)] for sources in (now, before))
    mistakes, earlier = (compared_mistakes(each, pooled, wording) for each in (metrics, then))
    most = Disagreement.of(earlier, then, pooled, wording)
    still = most.found_by(mistakes, metrics, pooled)
    if most.compared.factor < SAME:
        return ""
    said = ""
    if most.compared.times and still is not None and still.times:
        are = f"are {still.times}" if still.factor >= SAME else "agree"
        said = f"About {most.subject} they were {most.compared.times} in the first round, and {are} now"
    both = [pair for pair in zip(earlier, mistakes, strict=True) if all(one.known for one in pair)]
    pairs = [(one.factor, other.factor) for one, other in both if not one.is_yardstick]
    if len(pairs) < 2 or not np.isfinite(pairs).all():
        return f"{said}." if said else ""
    were, are = (_mean(factors) for factors in zip(*pairs, strict=True))
    over = f"on average over {len(pairs)} {thing_of(pooled.kind)}s"
    if not said:
        return f"{capitalised(over)} they were {were} times apart in the first round, and are {are} times apart now."
    shrinks = "Where differences were largest, chance alone makes them smaller."
    return f"{said}; {over}, {were} times then and {are} times now. {shrinks}"


def since_sitting_before(name: str, before: Source, now: Source, pooled: ElicitedMetric, wording: Wording) -> str:
    """Return how far an expert's answers are from those of the sitting before.

    The same questions after some time show how steady an expert's values are (test-retest reliability).
    """
    # one sitting may distinguish wrong answers for the same truth, and another not
    pooled, *metrics = (source.metric for source in aligned([Source("all", pooled), before, now]))
    mistakes = compared_mistakes(metrics, pooled, wording)
    found = Disagreement.of(mistakes, metrics, pooled, wording)
    compared, unit = found.compared, found.unit.mistake.many
    if compared.factor < SAME:
        return f"The last answers of {name} give the same costs as those before."
    if not compared.known and not compared.plainly_apart:
        return f"The last answers of {name} and those before tell too little to say how far they are apart."
    then, last = (rate.with_range() for rate in compared.rates)
    chance = ""
    if compared.disjoint is not None and all(rate.plausible for rate in compared.rates):
        chance = ", which chance can explain"
        if compared.plainly_apart:
            chance = ", more than chance explains: ask what has changed, or whether two people gave this name"
    counted = "counted, on average," if found.of_classes else "counted"
    said = (
        f"The last answers of {name} differ most from those before about {compared.mistake.many}: one {counted} as "
        f"{then} {unit} then, and counts as {last} now{chance}."
    )
    factors = [one.factor for one in mistakes if one.known and not one.is_yardstick]
    if len(factors) < 2 or not np.isfinite(factors).all():
        return said
    return f"{said} On average over {len(factors)} {thing_of(pooled.kind)}s, they are {_mean(factors)} times apart."


def _mean(factors: Iterable[float]) -> str:
    """Return the geometric mean of factors in words."""
    return two_digits(float(np.exp(np.mean(np.log(list(factors))))))
