"""The curves behind a result, from the study's models and the judgement of what one could do with them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.metrics import roc_curve

from elicit_app.session.views.curves import CurveLine, CurveSet, CurvesView, Floats, RocLine
from elicit_app.session.views.outcome import ResultView
from elicit_app.study.model import Predictions, Study
from metrics.elicited.metric_parts import CaseWords
from metrics.policies.cases import Policy
from metrics.policies.curves import PolicyCurves, policy_curves
from metrics.policies.judgement import Judgement
from metrics.policies.net_benefit import decision_curve

_MOST_LINES = 5
_LEAST_SEEN = 0.05
_HALF = 0.5
AS_NOW = "as it decides now"


def curves_of(study: Study, view: ResultView) -> CurvesView | None:
    """Return the curves of a result; None where the study has no models, or nothing to compare a mistake with."""
    judgement, rate = view.judgement, view.headline.rate
    if judgement is None or rate.is_yardstick:
        return None
    tables = {model.name: model.y_proba for model in study.models}
    prevalence = judgement.prevalence if judgement.stated else None
    found = policy_curves(
        view.metric,
        study.models[0].y_true,
        tables,
        (rate.true, rate.predicted),
        prevalence=prevalence,
        practice=view.practice,
    )
    return CurvesView(
        rate=rate,
        yardstick=view.headline.yardstick,
        net_benefit=_net_benefit(study, judgement, prevalence),
        cost=_cost(found, judgement),
        best=_best(found, judgement),
        roc=() if judgement.positive is None else tuple(_roc(model, judgement) for model in study.models),
    )


def _net_benefit(study: Study, judgement: Judgement, prevalence: Floats | None) -> CurveSet | None:
    threshold = next((one.threshold for one in judgement.policies if one.threshold is not None), None)
    if judgement.positive is None or threshold is None:
        return None
    p, words = judgement.positive, judgement.words
    curve = decision_curve(
        (study.models[0].y_true == p).astype(np.int64),
        {model.name: model.y_proba[:, p] for model in study.models},
        pos_label=1,
        prevalence=None if prevalence is None else float(prevalence[p]),
        draws=0,
    )
    furthest = min(max(_HALF, 1.3 * threshold.high), 0.99)
    shown = curve.thresholds <= furthest + 1e-9
    best = judgement.best.policy.model
    lines = [
        CurveLine(name, judgement.population * values[shown], recommended=name == best)
        for name, values in zip(curve.models, curve.net_benefit, strict=True)
    ]
    everybody = CurveLine(_always(p, words), judgement.population * curve.treat_all[shown], trivial=True)
    nobody = CurveLine(_always(1 - p, words), np.zeros(int(shown.sum())), trivial=True)
    ordered = sorted(lines, key=lambda line: not line.recommended)[: _MOST_LINES - 2]
    range_ = (threshold.low, threshold.high) if threshold.low < threshold.high else None
    return CurveSet(curve.thresholds[shown], (*ordered, everybody, nobody), threshold.value, range_)


def _best(found: PolicyCurves, judgement: Judgement) -> CurveSet:
    """Return how probably each is best; the models as they decide now are one line together."""
    names = [_short(policy, judgement.words) for policy in found.policies]
    together = _together(found.policies)
    lines: dict[str, CurveLine] = {}
    for name, policy, values in zip(names, found.policies, found.probability_best, strict=True):
        told = together if policy.decides == "as-is" else name
        before = lines.get(told)
        total = values if before is None else before.values + values
        chosen = (before is not None and before.recommended) or policy == judgement.best.policy
        lines[told] = CurveLine(told, total, recommended=chosen, trivial=policy.model is None)
    seen = [line for line in lines.values() if line.recommended or float(line.values.max()) >= _LEAST_SEEN]
    seen.sort(key=lambda line: (not line.recommended, -float(line.values.max())))
    return CurveSet(found.ratios, tuple(seen[:_MOST_LINES]), found.elicited, found.plausible)


def _cost(found: PolicyCurves, judgement: Judgement) -> CurveSet:
    """Return what policies cost; those are shown that cost least where the answers lie."""
    at = int(np.abs(np.log(found.ratios / found.elicited)).argmin()) if found.elicited > 0 else 0
    lines = [
        CurveLine(
            _short(policy, judgement.words),
            judgement.population * values,
            recommended=policy == judgement.best.policy,
            trivial=policy.model is None,
        )
        for policy, values in zip(found.policies, found.cost, strict=True)
    ]
    lines.sort(key=lambda line: (not line.recommended, float(line.values[at])))
    return CurveSet(found.ratios, tuple(lines[:_MOST_LINES]), found.elicited, found.plausible)


def _short(policy: Policy, words: CaseWords) -> str:
    """Return what a policy is called beside its curve."""
    if policy.predicted is not None:
        return _always(policy.predicted, words)
    return policy.name


def _always(predicted: int, words: CaseWords) -> str:
    return words.rule(predicted).removeprefix("call ")


def _together(policies: Sequence[Policy]) -> str:
    models = [str(policy.model) for policy in policies if policy.decides == "as-is"]
    return f"{models[0]}, {AS_NOW}" if len(models) == 1 else f"a model, {AS_NOW}"


def _roc(model: Predictions, judgement: Judgement) -> RocLine:
    p = judgement.positive
    assert p is not None
    threshold = next(one.threshold for one in judgement.policies if one.threshold is not None)
    positive, score = model.y_true == p, model.y_proba[:, p]
    false_rate, true_rate, _ = roc_curve(positive, score)

    def at(cut: float) -> tuple[float, float]:
        called = score >= cut
        return float(called[~positive].mean()), float(called[positive].mean())

    return RocLine(
        name=model.name,
        false_rate=np.asarray(false_rate),
        true_rate=np.asarray(true_rate),
        point=at(threshold.value),
        ends=(at(threshold.high), at(threshold.low)),
        recommended=model.name == judgement.best.policy.model,
    )
