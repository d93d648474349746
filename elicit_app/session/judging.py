"""The study's models under the elicited costs: ranked, in units of the yardstick mistake."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elicit_app.elicitation.questions import Matrix
from elicit_app.session.scenarios import scenarios_of
from elicit_app.session.views import ModelView
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
