"""The study's models under the elicited costs: ranked, in units of the yardstick mistake."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elicit_app.elicitation.questions import Matrix
from elicit_app.session.views.figures import ModelView
from elicit_app.session.views.scenarios import Scenarios, proportions
from elicit_app.study.model import Predictions, Study
from metrics import ElicitedMetric


@dataclass(frozen=True, eq=False)
class Counted:
    """One model's counted decisions as rates (sum 1), at the study's prevalence; rows are true classes."""

    model: Predictions
    rates: Matrix


def count(study: Study) -> tuple[Counted, ...]:
    """Return every model's confusion rates, its most probable class being its decision."""
    return tuple(_counted(study, model) for model in study.models)


def _counted(study: Study, model: Predictions) -> Counted:
    k = study.n_classes
    decided = model.y_proba.argmax(axis=1)
    table = np.bincount(model.y_true * k + decided, minlength=k * k).reshape(k, k) / len(model.y_true)
    if study.stated_prevalence is None:
        return Counted(model, table)
    sums = table.sum(axis=1)
    share = np.divide(np.array(study.stated_prevalence), sums, out=np.zeros(k), where=sums > 0)
    return Counted(model, table * share[:, None])


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
    return scenarios_of(study, counted, metric, prevalence(study, counted)).at() if counted else ()


def scenarios_of(study: Study, counted: Sequence[Counted], metric: ElicitedMetric, own: Matrix) -> Scenarios:
    """Return what the models of a study would cost at any prevalence.

    Parameters
    ----------
    study : Study
        Population and yardstick.
    counted : sequence of Counted
        The models' counted decisions, at least one.
    metric : ElicitedMetric
        Costs and, where there are any, draws of them.
    own : ndarray of shape (k,)
        The study's own prevalence.
    """
    rates = np.array([one.rates for one in counted])
    sums = rates.sum(axis=2, keepdims=True)
    draws = metric.cost_samples
    return Scenarios(
        names=tuple(one.model.name for one in counted),
        own=proportions(own * (sums[0, :, 0] > 0)),
        rates=np.divide(rates, sums, out=np.zeros_like(rates), where=sums > 0),
        costs=_in_yardsticks(metric.cost_matrix[None], study)[0],
        cost_draws=None if draws is None else _in_yardsticks(draws, study),
        concern=np.array([_class_concern(metric, one, study.n_classes) for one in counted]),
        class_weight=np.array([metric.class_weight[label] for label in metric.labels]),
        population=study.population,
    )


def _in_yardsticks(costs: Matrix, study: Study) -> Matrix:
    """Return costs for the population in units of the yardstick, shape (draws, k, k)."""
    unit = costs[:, study.yardstick[0], study.yardstick[1]]
    # Where the yardstick costs nothing, the worst mistake has to be the unit.
    return study.population * costs / np.where(unit > 0, unit, 1.0)[:, None, None]


def _class_concern(metric: ElicitedMetric, one: Counted, n_classes: int) -> list[float]:
    from metrics import meta_pattern_concern_score

    factors, scores = metric.release_factors(), []
    for true in range(n_classes):
        rows = one.model.y_true == true
        score = 0.0
        if rows.any():
            score = float(
                meta_pattern_concern_score(one.model.y_true[rows], one.model.y_proba[rows], release_factors=factors)
            )
        scores.append(score)
    return scores
