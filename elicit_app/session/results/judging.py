"""The study's models under the elicited costs: what one could do with them, judged as everywhere else."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from elicit_app.elicitation.questions import Matrix
from elicit_app.session.views.scenarios import Scenarios
from elicit_app.study.counting import prevalence_of
from elicit_app.study.model import Predictions, Study
from metrics import ElicitedMetric, meta_pattern_concern_score
from metrics.policies.cases import Practice, case_table
from metrics.policies.judging import Judge, ModelPolicies
from metrics.policies.recalibration import Recalibration, recalibration
from metrics.policies.recommendation import CaseWords


def prevalence(study: Study) -> Matrix:
    """Return the study's prevalence, as stated or as counted, shape (k,), sum 1."""
    if study.stated_prevalence is not None:
        return np.array(study.stated_prevalence)
    return prevalence_of(study.models, study.law, study.n_classes)


def judge_of(study: Study, metric: ElicitedMetric, practice: Practice | None = None) -> Judge:
    """Return the judge of what one could do with a study's models.

    Parameters
    ----------
    study : Study
        With at least one model.
    metric : ElicitedMetric
        Costs and, where there are any, draws of them.
    practice : Practice, optional
        What is done today.
    """
    models = [ModelPolicies.of(model.name, metric, _recalibration(model)) for model in study.models]
    decided = [row for own, model in zip(models, study.models, strict=True) for row in own.decisions(model.y_proba)]
    wording = study.wording
    return Judge.of(
        metric,
        case_table(study.models[0].y_true, decided, study.n_classes),
        [policy for own in models for policy in own.policies],
        practice=practice,
        population=study.population,
        words=CaseWords(wording.case, wording.cases, wording.class_one),
        notes=tuple(note for own in models for note in own.notes),
    )


def scenarios_of(study: Study, metric: ElicitedMetric, practice: Practice | None = None) -> Scenarios | None:
    """Return what a study's models would cost at any prevalence; None where it has none."""
    if not study.models:
        return None
    factors = metric.release_factors()
    return Scenarios(
        judge=judge_of(study, metric, practice),
        stated=study.stated_prevalence,
        concern=np.array([_class_concern(factors, model, study.n_classes) for model in study.models]),
        class_weight=np.array([metric.class_weight[label] for label in metric.labels]),
    )


@lru_cache(maxsize=16)
def _recalibration(model: Predictions) -> Recalibration | None:
    """Return what is known of a model's probabilities, whatever mistakes cost."""
    return recalibration(model.y_true, model.y_proba)


def _class_concern(factors: Matrix, model: Predictions, n_classes: int) -> list[float]:
    """Return the Meta Pattern Concern Score of a model over the cases of each true class, 0 where there are none."""
    rows = [model.y_true == true for true in range(n_classes)]
    return [
        float(meta_pattern_concern_score(model.y_true[own], model.y_proba[own], release_factors=factors))
        if own.any()
        else 0.0
        for own in rows
    ]
