"""What stands around the curves of a result: titles, and one sentence on what is seen at a number."""

from __future__ import annotations

from typing import NamedTuple

from elicit_app.session.views.curves import CurveLine, CurveSet, CurvesView, RocLine
from elicit_app.study.model import Wording
from metrics.display.numbers import probability, total_cost, two_digits

SMOOTHED = "Each value is averaged over a tenth to either side."
_NEGLIGIBLE = 0.005


class CurveText(NamedTuple):
    """Title, the line that says how to read it, and what stands below the axis."""

    title: str
    how: str
    axis: str


def percent_said(share: float) -> str:
    """Return a threshold as it is said: "22 %"."""
    return f"{two_digits(100 * share)} %"


def odds_said(threshold: float) -> str:
    """Return how many false alarms a missed case counts as at a threshold; "" where there is no end of them."""
    return two_digits((1 - threshold) / threshold) if threshold > 0 else ""


def benefit_text(view: CurvesView, wording: Wording, positive: int, per: str) -> CurveText:
    """Return what stands around the decision curve; `positive` is the class that is called from a threshold on."""
    cases, alarms = wording.class_many[positive], wording.mistakes[1 - positive, positive].many
    return CurveText(
        "Is a model worth using, and from which risk?",
        f"{cases[:1].upper()}{cases[1:]} found per {per}, less the price of {alarms}. Higher is better.",
        f"Called {wording.class_one[positive]} from this risk on",
    )


def benefit_sentence(curves: CurveSet, at: float, wording: Wording, positive: int) -> str:
    """Return what each is worth at a threshold."""
    (first, worth), *others = curves.values(at)
    cases, alarm = wording.class_many[positive], wording.mistakes[1 - positive, positive].one
    said = f"At {percent_said(at)} {_named(first)} is worth {_worth(worth)} {cases} found without a {alarm}"
    told = ", ".join(f"{_named(line)} {_worth(value)}" for line, value in others)
    return f"{said}; {told}."


def _named(line: CurveLine) -> str:
    return f"calling {line.name}" if line.trivial else line.name


def _worth(value: float) -> str:
    said = total_cost(abs(value))
    return f"−{said}" if value < 0 and said != "0" else said


def best_text(view: CurvesView) -> CurveText:
    """Return what stands around the curves of the probability of being best."""
    return CurveText(
        "How sure is that for other values?",
        f"How probable it is that each is the best of them, if one {view.rate.mistake.one} counted as …",
        f"… so many {view.yardstick.mistake.many}",
    )


def best_sentence(view: CurvesView, at: float) -> str:
    """Return how probably each is best at a ratio."""
    told = sorted(view.best.values(at), key=lambda one: -one[1])
    listed = "; ".join(f"{_named(line)} ({probability(value)})" for line, value in told if value >= _NEGLIGIBLE)
    return f"{_if_it_counted(view, at)}, this would probably be best: {listed}."


def cost_text(view: CurvesView, per: str) -> CurveText:
    """Return what stands around the cost curve."""
    return CurveText(
        "What would it cost for other values?",
        f"Cost per {per} in {view.yardstick.mistake.many}, if one {view.rate.mistake.one} counted as … "
        "Lower is better.",
        f"… so many {view.yardstick.mistake.many}",
    )


def cost_sentence(view: CurvesView, at: float) -> str:
    """Return what each costs at a ratio."""
    told = sorted(view.cost.values(at), key=lambda one: one[1])
    listed = "; ".join(f"{_named(line)} {total_cost(value)}" for line, value in told)
    return f"{_if_it_counted(view, at)}, the costs would be: {listed}."


def _if_it_counted(view: CurvesView, at: float) -> str:
    unit, said = view.yardstick.mistake, two_digits(at)
    return f"If one {view.rate.mistake.one} counted as {said} {unit.one if said == '1' else unit.many}"


def roc_text(wording: Wording, positive: int) -> CurveText:
    """Return what stands around the ROC curves."""
    negative = wording.class_many[1 - positive]
    return CurveText(
        "What does the threshold trade?",
        f"Up: {wording.class_many[positive]} found. Right: {negative} called {wording.class_one[positive]}. The closer "
        "to the upper left corner, the better. The dot is the threshold of your answers, the grey its range.",
        f"{negative} called {wording.class_one[positive]}",
    )


def roc_sentence(line: RocLine, wording: Wording, positive: int) -> str:
    """Return where the threshold of the answers lies on a ROC curve."""
    false_rate, true_rate = (f"{100 * rate:.0f} %" for rate in line.point)
    return (
        f"With your threshold {line.name} finds {true_rate} of the {wording.class_many[positive]} and calls "
        f"{false_rate} of the {wording.class_many[1 - positive]} {wording.class_one[positive]}."
    )


MPCS = (
    "MPCS, the meta pattern concern score, adds up how much the wrong answers that a model leans to concern you, with "
    "how firmly it leans, each case by the weight of its true class. Lower is better; 0 is no concern. It looks at the "
    "model’s probabilities, the cost at what it decides, so the two may rank models differently."
)
