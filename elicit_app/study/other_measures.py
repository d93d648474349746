"""Measures of predicted numbers, of multi-label predictions, and of outcomes in contexts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import metrics
from elicit_app.problem import WrongOption
from elicit_app.study.case_columns import CaseColumns
from elicit_app.study.measuring import Compute, Measure, Measurement, Options
from metrics.drawing import FIRST, QUIET, SECOND, tidy
from metrics.inputs.arguments import Floats
from metrics.text import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from metrics.measures.multilabel import PenalizedMultilabelScore
    from metrics.measures.relevance import RelevanceScore

_LEVEL = 0.95
_PENALTIES, _ALPHA_BETA = ("false_positive_penalty", "false_negative_penalty"), ("alpha", "beta", "reference")
_FREE = Options(false_positive_penalty=0.0, false_negative_penalty=0.0)
_SHARES = np.linspace(0, 1, 21)  # shares of alpha in the plot


def _of_numbers(name: str) -> Compute:
    """Return how a measure of numbers is taken, named as in `metrics`: only then is scikit-learn imported."""

    def compute(cases: CaseColumns, options: Options) -> Measurement:
        cases.require("y_true")
        return Measurement(float(getattr(metrics, name)(cases.numbers("y_true"), cases.mean)), {})

    return compute


def _gaussian(cases: CaseColumns, options: Options) -> Measurement:
    cases.require("y_true", "mean", "std")
    value = metrics.gaussian_negative_log_likelihood(
        cases.numbers("y_true"), cases.numbers("mean"), cases.numbers("std")
    )
    return Measurement(value, {})


def _distribution(cases: CaseColumns, options: Options) -> tuple[Any, list[str]]:
    """Return the predicted distribution of each case, and the parameters that are columns."""
    from scipy import stats

    if options.distribution is None:
        raise WrongOption("The distribution is not known: name one of scipy.stats by `distribution`, such as laplace.")
    family = getattr(stats, options.distribution, None)
    if not isinstance(family, stats.rv_continuous | stats.rv_discrete):
        raise WrongOption(f"`distribution`: scipy.stats has no distribution {options.distribution!r}.")
    shapes = [name.strip() for name in (family.shapes or "").split(",") if name.strip()]
    missing = [name for name in shapes if not cases.has(name)]
    if missing:
        cases.refuse(f"There is no column {missing[0]}", f"It is a parameter of {options.distribution}.")
    known = [*shapes, *(name for name in ("loc", "scale") if cases.has(name))]
    if not known:  # the same distribution for every case is no prediction
        cases.refuse("There is no column loc or scale", f"Name the parameters of {options.distribution} as scipy does.")
    return family(**{name: cases.numbers(name) for name in known}), known


def _density(cases: CaseColumns, options: Options) -> Measurement:
    distribution, known = _distribution(cases, options)
    value = metrics.density_negative_log_likelihood(cases.numbers("y_true"), distribution)
    return Measurement(value, {"distribution": options.distribution, "parameters": known})


def _intervals(cases: CaseColumns, options: Options) -> dict[str, Any]:
    if cases.has("lower", "upper"):
        if options.level is not None:
            raise WrongOption("`level` makes intervals of mean and std; this file has its own, lower and upper.")
        return {"lower": cases.numbers("lower"), "upper": cases.numbers("upper")}
    cases.require("y_true", "mean", "std")
    level = _LEVEL if options.level is None else options.level
    return {"mean": cases.numbers("mean"), "std": cases.numbers("std"), "level": level}


def _coverage(cases: CaseColumns, options: Options) -> Measurement:
    limits = _intervals(cases, options)
    value = metrics.interval_coverage(cases.numbers("y_true"), **limits)
    return Measurement(value, {"should be": limits["level"]} if "level" in limits else {})


def _penalised(cases: CaseColumns, options: Options) -> PenalizedMultilabelScore:
    true, predicted, labels = cases.bits
    given = options.given()
    if options.metric is not None:
        if any(name in given for name in _PENALTIES):
            raise WrongOption("`metric` states both penalties: omit it or the others.")
        return options.metric.multilabel_score(true, predicted, labels=labels)
    return metrics.penalized_multilabel_score(
        true, predicted, labels=labels, **{name: given[name] for name in _PENALTIES if name in given}
    )


def _multilabel(cases: CaseColumns, options: Options) -> Measurement:
    found = _penalised(cases, options)
    by_label = dict(zip(found.labels, map(float, found.per_label_score), strict=True))
    return Measurement(float(found), {**found.counts._asdict(), "by label": by_label})


def _label_accuracy(cases: CaseColumns, options: Options) -> Measurement:
    found = _penalised(cases, _FREE)
    by_label = dict(zip(found.labels, map(float, found.per_label), strict=True))
    return Measurement(float(found), {"by label": by_label})


def _relevance_of(cases: CaseColumns, options: Options) -> RelevanceScore:
    reference = None
    if options.reference is not None:
        other = CaseColumns(options.reference)
        reference = (other.y_true, other.context)
    given = options.given()
    if options.metric is not None:
        if "alpha" in given or "beta" in given:
            raise WrongOption("`metric` states `alpha` and `beta`: omit it or the others.")
        return options.metric.relevance_score(cases.y_true, cases.y_pred, cases.context, reference=reference)
    weights = {name: given[name] for name in ("alpha", "beta") if name in given}
    return metrics.relevance_score(cases.y_true, cases.y_pred, cases.context, reference=reference, **weights)


def _relevance(cases: CaseColumns, options: Options) -> Measurement:
    found = _relevance_of(cases, options)
    counts = np.bincount(found.case, minlength=6)[1:].tolist()
    return Measurement(float(found), {**found.bounds._asdict(), "cases 1 to 5": counts})


def _draw_numbers(cases: CaseColumns, options: Options, axes: Axes) -> object:
    """Draw predicted against actual numbers, with one standard deviation if it is known."""
    mean, known = cases.mean, cases.has("std")
    reach = cases.numbers("std") if known else np.zeros(len(mean))
    return _draw_predicted(
        axes, cases, mean, mean - reach, mean + reach, "mean ± one standard deviation" if known else "case"
    )


def _draw_intervals(cases: CaseColumns, options: Options, axes: Axes) -> object:
    """Draw the intervals and their centres against actual numbers."""
    from scipy.special import ndtri

    limits = _intervals(cases, options)
    if "level" not in limits:
        low, high = limits["lower"], limits["upper"]
        return _draw_predicted(axes, cases, (low + high) / 2, low, high, "interval")
    mean, reach = limits["mean"], ndtri((1 + limits["level"]) / 2) * limits["std"]
    return _draw_predicted(axes, cases, mean, mean - reach, mean + reach, f"{percent(limits['level'])} interval")


def _draw_density(cases: CaseColumns, options: Options, axes: Axes) -> object:
    """Draw the medians and the middle 90 % of the predicted distributions against actual numbers."""
    distribution, _ = _distribution(cases, options)
    low, high = distribution.interval(0.9)
    return _draw_predicted(axes, cases, distribution.median(), low, high, "median and middle 90 %")


def _draw_predicted(axes: Axes, cases: CaseColumns, middle: Floats, low: Floats, high: Floats, what: str) -> object:
    true = cases.numbers("y_true")
    axes.errorbar(true, middle, yerr=(middle - low, high - middle), fmt="o", ms=3, lw=1, color=FIRST, label=what)
    ends = [min(true.min(), middle.min()), max(true.max(), middle.max())]
    axes.plot(ends, ends, color=QUIET, lw=1, ls="--", label="exactly right")
    axes.set(xlabel="actual", ylabel="predicted")
    return tidy(axes, "upper left")


def _draw_relevance(cases: CaseColumns, options: Options, axes: Axes) -> object:
    """Draw the score against alpha / (alpha + beta): a line between its two bounds."""
    found = _relevance_of(cases, options)
    bounds = found.bounds
    line = bounds.beta_only + _SHARES * (bounds.alpha_only - bounds.beta_only)
    axes.plot(_SHARES, line, color=FIRST, label="with other weights")
    axes.plot([found.alpha_share], [float(found)], "o", color=SECOND, label=f"here: {float(found):.1f}")
    axes.set(xlabel="alpha / (alpha + beta)", ylabel="relevance score")
    return tidy(axes, "upper left")


def _regression(name: str, title: str, function: str, better: Any = "lower") -> Measure:
    return Measure(name, title, "numbers", better, _of_numbers(function), _draw_numbers)


MEASURES = (
    _regression("mse", "Mean squared error", "mean_squared_error"),
    _regression("rmse", "Root of the mean squared error", "root_mean_squared_error"),
    _regression("mae", "Mean absolute error", "mean_absolute_error"),
    _regression("r2", "Share of the variance explained", "r2_score", "higher"),
    Measure(
        "gaussian-nll",
        "Negative log-likelihood of normal distributions",
        "numbers with std",
        "lower",
        _gaussian,
        _draw_numbers,
    ),
    Measure(
        "density-nll",
        "Negative log-likelihood of any distribution of scipy",
        "distributions",
        "lower",
        _density,
        _draw_density,
        ("distribution",),
    ),
    Measure(
        "coverage",
        "Share of the numbers inside their intervals",
        "intervals",
        "higher",
        _coverage,
        _draw_intervals,
        ("level",),
    ),
    Measure(
        "label-accuracy",
        "Share of the labels that are right",
        "several labels",
        "higher",
        _label_accuracy,
        lambda cases, options, axes: _penalised(cases, _FREE).plot(axes),
    ),
    Measure(
        "multilabel",
        "Multi-label score with two penalties",
        "several labels",
        "higher",
        _multilabel,
        lambda cases, options, axes: _penalised(cases, options).plot(axes),
        ("metric", *_PENALTIES),
        "multilabel",
    ),
    Measure(
        "relevance",
        "Relevance score",
        "contexts",
        "higher",
        _relevance,
        _draw_relevance,
        ("metric", *_ALPHA_BETA),
        "relevance",
    ),
)
