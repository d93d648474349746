"""The study's models under the elicited costs: ranked, in units of the yardstick mistake."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elicit_app.elicitation.questions import Counts, Matrix
from elicit_app.session.views import ModelView
from elicit_app.study.model import Predictions, Study
from metrics import ElicitedMetric, natural_frequencies


@dataclass(frozen=True, eq=False)
class Counted:
    """One model's counted decisions: rates (sum 1, the study's prevalence), and the weights of its cases."""

    model: Predictions
    rates: Matrix
    case_weight: NDArray[np.float64] | None


def count(study: Study) -> tuple[Counted, ...]:
    """Return every model's confusion rates, its most probable class being its decision."""
    return tuple(_counted(study, model) for model in study.models)


def _counted(study: Study, model: Predictions) -> Counted:
    k = study.n_classes
    decided = model.y_proba.argmax(axis=1)
    table = np.bincount(model.y_true * k + decided, minlength=k * k).reshape(k, k) / len(model.y_true)
    if study.stated_prevalence is None:
        return Counted(model, table, None)
    sums = table.sum(axis=1)
    share = np.divide(np.array(study.stated_prevalence), sums, out=np.zeros(k), where=sums > 0)
    return Counted(model, table * share[:, None], share[model.y_true])


def prevalence(study: Study, counted: tuple[Counted, ...]) -> Matrix:
    """Return the study's prevalence, shape (k,), sum 1."""
    if study.stated_prevalence is not None:
        return np.array(study.stated_prevalence)
    if study.law is not None:
        mean: Matrix = study.law.eta.mean(axis=0)
        return mean
    counted_shares: Matrix = counted[0].rates.sum(axis=1)
    return counted_shares


def judged(study: Study, counted: tuple[Counted, ...], metric: ElicitedMetric) -> tuple[ModelView, ...]:
    """Return the models, the cheapest first; models that the answers cannot tell apart share a rank.

    Parameters
    ----------
    study : Study
        Population and yardstick.
    counted : tuple of Counted
        From `count`.
    metric : ElicitedMetric
        Costs and, where there are any, draws of them.
    """
    if not counted:
        return ()
    rates = np.array([one.rates for one in counted])
    costs = _costs(rates, metric.cost_matrix[None], study)[:, 0]
    draws = None if metric.cost_samples is None else _costs(rates, metric.cost_samples, study)
    order = np.argsort(costs, kind="stable")
    first = order[0]
    best = None if draws is None else _share_best(draws)
    return tuple(
        ModelView(
            name=counted[place].model.name,
            rank=1 + sum(_clearly_less(costs, draws, other, place) for other in order),
            cost=float(costs[place]),
            difference=float(costs[place] - costs[first]),
            difference_range=None if draws is None else _range(draws[place] - draws[first]),
            mpcs=_concern(metric, counted[place]),
            accuracy=float(np.trace(counted[place].rates)),
            probability_best=None if best is None else float(best[place]),
            rates=_frozen(natural_frequencies(counted[place].rates, study.population)),
        )
        for place in order
    )


def _costs(rates: Matrix, costs: Matrix, study: Study) -> Matrix:
    """Return cost per population in units of the yardstick: (models, draws)."""
    per_case: Matrix = np.einsum("mij,sij->ms", rates, costs)
    unit = costs[:, study.yardstick[0], study.yardstick[1]]
    # Where the yardstick costs nothing, the worst mistake has to be the unit.
    return study.population * per_case / np.where(unit > 0, unit, 1.0)


def _clearly_less(costs: Matrix, draws: Matrix | None, one: int, other: int) -> bool:
    if draws is None:
        return bool(costs[one] < costs[other])
    return bool(costs[one] < costs[other] and _range(draws[other] - draws[one])[0] > 0)


def _range(values: Matrix) -> tuple[float, float]:
    low, high = np.quantile(values, (0.05, 0.95))
    return float(low), float(high)


def _share_best(draws: Matrix) -> Matrix:
    """Return how often each model is the cheapest; equal models share the draw."""
    least = draws == draws.min(axis=0)
    shares: Matrix = (least / least.sum(axis=0)).mean(axis=1)
    return shares


def _concern(metric: ElicitedMetric, one: Counted) -> float:
    from metrics import meta_pattern_concern_score

    class_weight = np.array([metric.class_weight[label] for label in metric.labels])
    weight = class_weight[one.model.y_true] * (1.0 if one.case_weight is None else one.case_weight)
    return float(
        meta_pattern_concern_score(
            one.model.y_true, one.model.y_proba, release_factors=metric.release_factors(), sample_weight=weight
        )
    )


def _frozen(matrix: Counts) -> Counts:
    matrix.setflags(write=False)
    return matrix
