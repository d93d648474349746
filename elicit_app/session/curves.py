"""The curves behind a result, computed from the models and the judgement, and the texts around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from elicit_app.session.result import policies_of
from elicit_app.session.views import Band, CurveLine, CurveSet, CurvesView, ResultView, RocLine
from elicit_app.study.model import Study, Wording
from metrics.batches import InParts
from metrics.elicited.metric_parts import CaseWords
from metrics.inputs.arguments import Floats
from metrics.policies.cases import Policy, Practice
from metrics.policies.costs import UnitCosts
from metrics.policies.curves import PolicyCurves, curves_of_models
from metrics.policies.judgement import Judgement, Threshold
from metrics.policies.judging import ModelPolicies, threshold_of
from metrics.policies.net_benefit import TREAT_ALL, TREAT_NONE, decision_curve
from metrics.text import capitalised, probability, threshold_text, total_cost, two_digits

_MOST_LINES = 5
_LEAST_SEEN = 0.05
_HALF = 0.5
AS_NOW = "as it decides now"


def curves_of(study: Study, view: ResultView) -> InParts[CurvesView | None]:
    """Return, computed in parts, the curves of a result.

    None without models, or if there is no mistake to compare with the yardstick.
    """
    judgement, rate = view.judgement, view.headline.rate
    if judgement is None or rate.is_yardstick:
        return None
    prevalence = judgement.prevalence if judgement.stated else None
    p, models, costs = judgement.positive, policies_of(study, view.metric), UnitCosts.of(judgement.metric)
    threshold = None if p is None else threshold_of(costs, p)
    found = yield from curves_of_models(
        view.metric,
        study.models[0].y_true,
        models,
        rate,
        study.people,
        prevalence=prevalence,
        practice=None if view.practice is None else Practice.of(view.practice, study.classes),
    )
    return CurvesView(
        rate=rate,
        yardstick=view.headline.yardstick,
        net_benefit=None if threshold is None else _net_benefit(study, models, judgement, threshold, prevalence),
        cost=_cost(found, judgement),
        best=_best(found, judgement),
        roc=() if p is None else tuple(_roc(study, model, proba, judgement, costs) for model, proba in models),
        corrected=any(model.calibration.correction is not None for model, _ in models),
    )


def _net_benefit(
    study: Study,
    models: Sequence[tuple[ModelPolicies, Floats]],
    judgement: Judgement,
    threshold: Threshold,
    prevalence: Floats | None,
) -> CurveSet:
    """Return the decision curves of the models, by risks that are corrected for a stated prevalence."""
    p, words = judgement.positive, judgement.words
    assert p is not None
    curve = decision_curve(
        (study.models[0].y_true == p).astype(np.int64),
        {model.name: model.calibration.corrected(proba)[:, p] for model, proba in models},
        pos_label=1,
        prevalence=None if prevalence is None else float(prevalence[p]),
    )
    furthest = min(max(_HALF, 1.3 * threshold.high), 0.99)
    shown = curve.thresholds <= furthest + 1e-9
    best = judgement.best.policy.model
    lines = [
        CurveLine(name, judgement.population * values[shown], recommended=name == best)
        for name, values in zip(curve.models, curve.net_benefit, strict=True)
    ]
    everybody = _trivial(p, judgement.population * curve.treat_all[shown], words)
    nobody = _trivial(1 - p, np.zeros(int(shown.sum())), words)
    ordered = sorted(lines, key=lambda line: not line.recommended)[: _MOST_LINES - 2]
    range_ = (threshold.low, threshold.high) if threshold.low < threshold.high else None
    found = CurveSet(curve.thresholds[shown], (*ordered, everybody, nobody), threshold.value, range_)
    second, _ = max(found.values(threshold.value)[1:], key=lambda one: one[1])
    known_as = {everybody.name: TREAT_ALL, nobody.name: TREAT_NONE}
    ends = curve.band(ordered[0].name, known_as.get(second.name, second.name))[:, shown]
    low, high = second.values + judgement.population * ends
    return replace(found, band=Band(second.in_sentence or second.name, low, high))


def _trivial(predicted: int, values: Floats, words: CaseWords, recommended: bool = False) -> CurveLine:
    """Return the curve of always predicting one class."""
    name = words.rule(predicted).removeprefix("call ")
    return CurveLine(name, values, recommended, trivial=True, in_sentence=words.following(predicted))


def _best(found: PolicyCurves, judgement: Judgement) -> CurveSet:
    """Return each policy's probability of being best; the models as they decide now share one line."""
    together = _together(found.policies)
    lines: dict[str, CurveLine] = {}
    for policy, values in zip(found.policies, found.probability_best, strict=True):
        line = _line(policy, values, judgement)
        if policy.decides == "as-is":
            before = lines.get(together, CurveLine(together, np.zeros_like(values)))
            line = CurveLine(together, before.values + values, before.recommended or line.recommended)
        lines[line.name] = line
    seen = [line for line in lines.values() if line.recommended or float(line.values.max()) >= _LEAST_SEEN]
    seen.sort(key=lambda line: (not line.recommended, -float(line.values.max())))
    return CurveSet(found.ratios, tuple(seen[:_MOST_LINES]), found.elicited, found.plausible)


def _cost(found: PolicyCurves, judgement: Judgement) -> CurveSet:
    """Return the costs of the policies that are cheapest at the elicited ratio."""
    at, ratios, costs = 0, found.ratios, judgement.population * found.cost
    if found.elicited > 0:
        # Decisions jump from ratio to ratio, so at the elicited one the costs are those of the judgement.
        judged = {one.policy: one.cost_per_population for one in judgement.policies}
        at = int(np.searchsorted(ratios, found.elicited))
        ratios = np.insert(ratios, at, found.elicited)
        costs = np.insert(costs, at, [judged[policy] for policy in found.policies], axis=1)
    lines = [_line(policy, values, judgement) for policy, values in zip(found.policies, costs, strict=True)]
    lines.sort(key=lambda line: (not line.recommended, float(line.values[at])))
    return CurveSet(ratios, tuple(lines[:_MOST_LINES]), found.elicited, found.plausible)


def _line(policy: Policy, values: Floats, judgement: Judgement) -> CurveLine:
    """Return the curve of a policy."""
    recommended = policy == judgement.best.policy
    if policy.predicted is not None:
        return _trivial(policy.predicted, values, judgement.words, recommended)
    right = policy.recalibrated or policy.correction is not None  # which tells it from the others in less space
    name = policy.name.removesuffix(", with these costs") if right else policy.name
    return CurveLine(name, values, recommended, trivial=policy.model is None)


def _together(policies: Sequence[Policy]) -> str:
    models = [str(policy.model) for policy in policies if policy.decides == "as-is"]
    return f"{models[0]}, {AS_NOW}" if len(models) == 1 else f"a model, {AS_NOW}"


def _roc(study: Study, model: ModelPolicies, proba: Floats, judgement: Judgement, costs: UnitCosts) -> RocLine:
    from sklearn.metrics import roc_curve  # imported here because it is slow and asking does not need it

    p = judgement.positive
    assert p is not None
    positive, score = study.models[0].y_true == p, proba[:, p]
    threshold = threshold_of(costs, p, model.calibration.correction)
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


SMOOTHED = "Each value is averaged over a tenth to either side."
_NEGLIGIBLE = 0.005


class CurveText(NamedTuple):
    """Title of a curve, the line that explains how to read it, and the label of its axis."""

    title: str
    how: str
    axis: str


def odds_text(threshold: float) -> str:
    """Return how many false alarms a missed case counts as at a threshold; "" if infinitely many."""
    return two_digits((1 - threshold) / threshold) if threshold > 0 else ""


def benefit_text(wording: Wording, positive: int, per: str, corrected: bool) -> CurveText:
    """Return the texts of the decision curve; `positive` is the class predicted above a threshold."""
    risks = " Risks are corrected for the stated prevalence." if corrected else ""
    cases, alarms = wording.class_many[positive], wording.mistakes[1 - positive, positive].many
    action = wording.of_cases.action(positive) or f"called {wording.class_one[positive]}"
    return CurveText(
        "Is a model worth using, and from which risk?",
        f"{capitalised(cases)} found per {per}, less the price of {alarms}. Higher is better.{risks}",
        f"{capitalised(action)} from this risk on",
    )


def benefit_sentence(curves: CurveSet, at: float, wording: Wording, positive: int) -> str:
    """Return the worth of each policy at a threshold, except treating nobody, and what the band says there."""
    (first, worth), *others = curves.values(at)
    cases, alarm = wording.class_many[positive], wording.mistakes[1 - positive, positive].one
    first_text = f"At {threshold_text(at)} {_named(first)} is worth {_worth(worth)} {cases} found without a {alarm}"
    text = ", ".join(f"{_named(line)} {_worth(value)}" for line, value in others if line.values.any())
    return " ".join(part for part in (f"{first_text}; {text}.", _band_sentence(curves, at)) if part)


def _band_sentence(curves: CurveSet, at: float) -> str:
    """Return how much more the first policy is worth than the next at a threshold; empty if unknown."""
    if curves.band is None:
        return ""
    band = curves.band
    next_ = next(value for line, value in curves.values(at) if _named(line) == band.other)
    low, high = (float(np.interp(at, curves.at, ends)) - next_ for ends in (band.low, band.high))
    text = f"Grey (90 %): {_worth(low)} to {_worth(high)} more than {band.other}"
    return f"{text}; these cases cannot tell them apart." if low <= 0 <= high else f"{text}."


def _named(line: CurveLine) -> str:
    return line.in_sentence or line.name


def _worth(value: float) -> str:
    text = total_cost(abs(value))
    return f"−{text}" if value < 0 and text != "0" else text


def best_text(view: CurvesView) -> CurveText:
    """Return the texts of the curves of the probability of being best."""
    return CurveText(
        "How sure is that for other values?",
        f"Probability that each is the best, if one {view.rate.mistake.one} counted as …",
        f"… this many {view.yardstick.mistake.many}",
    )


def best_sentence(view: CurvesView, at: float) -> str:
    """Return each policy's probability of being best at a ratio."""
    lines = sorted(view.best.values(at), key=lambda one: -one[1])
    seen = [(_named(line), probability(value)) for line, value in lines if value >= _NEGLIGIBLE]
    listed = "; ".join("{} {}".format(name, share.replace(" ", "\N{NO-BREAK SPACE}")) for name, share in seen)
    return f"{_if_it_counted(view, at)}, each would be best with this probability: {listed}."


def cost_text(view: CurvesView, per: str) -> CurveText:
    """Return the texts of the cost curve."""
    return CurveText(
        "What would it cost for other values?",
        f"Cost per {per} in {view.yardstick.mistake.many}, if one {view.rate.mistake.one} counted as … "
        "Lower is better.",
        f"… this many {view.yardstick.mistake.many}",
    )


def cost_sentence(view: CurvesView, at: float) -> str:
    """Return each policy's cost at a ratio."""
    lines = sorted(view.cost.values(at), key=lambda one: one[1])
    listed = "; ".join(f"{_named(line)} {total_cost(value)}" for line, value in lines)
    return f"{_if_it_counted(view, at)}, the costs would be: {listed}."


def _if_it_counted(view: CurvesView, at: float) -> str:
    unit, text = view.yardstick.mistake, two_digits(at)
    others = "" if view.net_benefit is not None else " and every other mistake cost what it does now"
    return f"If one {view.rate.mistake.one} counted as {text} {unit.one if text == '1' else unit.many}{others}"


def roc_text(wording: Wording, positive: int) -> CurveText:
    """Return the texts of the ROC curves."""
    negative = wording.class_many[1 - positive]
    return CurveText(
        "What does the threshold trade?",
        f"Up: {wording.class_many[positive]} found. Right: {negative} called {wording.class_one[positive]}. The closer "
        "to the upper left corner, the better. The dot is the threshold of your answers, the grey its range.",
        f"{negative} called {wording.class_one[positive]}",
    )


def roc_sentence(line: RocLine, wording: Wording, positive: int) -> str:
    """Return where the elicited threshold lies on a ROC curve."""
    false_rate, true_rate = map(threshold_text, line.point)
    return (
        f"With your threshold {line.name} finds {true_rate} of the {wording.class_many[positive]} and calls "
        f"{false_rate} of the {wording.class_many[1 - positive]} {wording.class_one[positive]}."
    )


MPCS = (
    "MPCS, the meta pattern concern score, adds up how much a model’s leanings towards wrong answers concern you, "
    "weighted by how strongly it leans and by the true class. Lower is better; 0 is no concern. It uses the model’s "
    "probabilities, the cost its decisions, so the two may rank models differently."
)
