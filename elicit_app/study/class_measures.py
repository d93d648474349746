"""Measures of predicted classes and of class probabilities, and the list of all measures."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import metrics
from elicit_app.problem import Problem, WrongOption
from elicit_app.study import other_measures
from elicit_app.study.case_columns import CaseColumns
from elicit_app.study.measuring import (
    Compute,
    Draw,
    Measure,
    Measurement,
    Options,
    completed_prevalence,
    numbers_by_class,
    read_class_table,
)
from metrics.elicited.family import family_of
from metrics.inputs.arguments import Floats
from metrics.inputs.class_index import ClassIndex

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_COSTS, _WEIGHTS = ("metric", "costs"), ("metric", "class_weight")
_BINARY = ("positive",)
_CONCERN = ("metric", "top_k", "intervals", "true_concern", "release")
_THRESHOLD, _BINS, _INTERVALS = 0.5, 10, 50


def _weights_of_cases(cases: CaseColumns, options: Options) -> Floats | None:
    """Return the weights under which the cases have a stated prevalence."""
    if options.prevalence is None:
        return None
    return _shift(cases, options, np.full((len(cases.y_true), len(cases.classes)), 1 / len(cases.classes)))[0]


def _shift(cases: CaseColumns, options: Options, proba: Floats) -> tuple[Floats, Floats]:
    """Return weights and corrected probabilities at a stated prevalence; classes not stated share the rest."""
    assert options.prevalence is not None
    stated = numbers_by_class(options.prevalence, cases.classes, "prevalence")
    shares = completed_prevalence(stated, {name: cases.y_true.count(name) for name in cases.classes})
    by_name = dict(zip(cases.classes, shares, strict=True))
    return metrics.prevalence_shift(cases.y_true, proba, by_name, labels=cases.classes)


def _table(cases: CaseColumns, options: Options) -> tuple[list[str], Floats, Floats | None]:
    """Return true labels, probabilities in the order of the classes, and weights of the cases."""
    read = cases.probabilities
    true = [read.classes[i] for i in read.predictions.y_true]
    if options.prevalence is None:
        return true, read.predictions.y_proba, None
    weight, proba = _shift(cases, options, read.predictions.y_proba)
    return true, proba, weight


def _costs(cases: CaseColumns, options: Options) -> Floats:
    """Return the costs of mistakes in the order of the classes, as stated or from an elicited metric."""
    if options.costs is not None:
        if options.metric is not None:
            raise WrongOption("`metric` and `costs` both state costs: omit one of them.")
        return read_class_table(options.costs, cases.classes)
    if options.metric is None:
        raise WrongOption("The costs of mistakes are not known: state them by `metric` or `costs`.")
    places = _places(cases, options)
    return options.metric.cost_matrix[np.ix_(places, places)]


def _places(cases: CaseColumns, options: Options) -> NDArray[np.intp]:
    """Return the index in the metric of each class of the file."""
    assert options.metric is not None
    places = ClassIndex(options.metric.classes).search(np.array(cases.classes, dtype=object))
    if (places < 0).any():
        known = ", ".join(options.metric.classes)
        raise Problem(f"{cases.path.name} has classes that the metric does not know; its classes are {known}.")
    return places


def _class_weight(cases: CaseColumns, options: Options) -> dict[str, float]:
    """Return the weight of each class, as stated or from an elicited metric; classes not stated have weight 1."""
    if options.class_weight is not None:
        if options.metric is not None:
            raise WrongOption("`metric` and `class_weight` both state weights: omit one of them.")
        stated = numbers_by_class(options.class_weight, cases.classes, "class_weight")
        return {name: stated.get(name, 1.0) for name in cases.classes}
    if options.metric is None:
        raise WrongOption("The weights of the classes are not known: state them by `class_weight` or `metric`.")
    weight = family_of(options.metric.family).class_weight(options.metric.weights)[_places(cases, options)]
    return dict(zip(cases.classes, map(float, weight), strict=True))


def _positive(cases: CaseColumns, options: Options) -> str:
    """Return the positive class: the named one, otherwise the second of two."""
    if options.positive is not None:
        at = ClassIndex(cases.classes).place(options.positive)
        if at < 0:
            raise WrongOption(f"`positive`: {options.positive!r} is not one of {', '.join(cases.classes)}.")
        return cases.classes[at]
    if len(cases.classes) != 2:
        raise WrongOption(f"There are {len(cases.classes)} classes: name the positive one by `positive`.")
    return cases.classes[1]


def _of_decisions(name: str, **fixed: Any) -> Compute:
    """Return the computation of a measure of true and predicted labels, by its name in `metrics`.

    Scikit-learn, which provides many of them, takes a second to import.
    """

    def compute(cases: CaseColumns, options: Options) -> Measurement:
        weight, function = _weights_of_cases(cases, options), getattr(metrics, name)
        return Measurement(float(function(cases.y_true, cases.y_pred, sample_weight=weight, **fixed)), {})

    return compute


def _of_probabilities(function: Callable[..., float]) -> Compute:
    """Return the computation of a measure of true labels and all probabilities."""

    def compute(cases: CaseColumns, options: Options) -> Measurement:
        true, proba, weight = _table(cases, options)
        return Measurement(float(function(true, proba, labels=cases.classes, sample_weight=weight)), {})

    return compute


def _weighted_error(cases: CaseColumns, options: Options) -> Measurement:
    weight = _class_weight(cases, options)
    value = metrics.class_weighted_error_rate(cases.y_true, cases.y_pred, weight, labels=cases.classes)
    return Measurement(float(value), {"class_weight": weight})


def _cost(cases: CaseColumns, options: Options) -> Measurement:
    costs, weight = _costs(cases, options), _weights_of_cases(cases, options)
    value = metrics.misclassification_cost(
        cases.y_true, cases.y_pred, costs, labels=cases.classes, sample_weight=weight
    )
    return Measurement(float(value), {"cost_matrix": costs.tolist(), "classes": [*cases.classes]})


def _expected_cost(cases: CaseColumns, options: Options) -> Measurement:
    true, proba, weight = _table(cases, options)
    costs = _costs(cases, options)
    value = metrics.expected_misclassification_cost(true, proba, costs, labels=cases.classes, sample_weight=weight)
    return Measurement(float(value), {"cost_matrix": costs.tolist(), "classes": [*cases.classes]})


def _by_class(name: str) -> Compute:
    """Return the computation of precision, recall or F1: for the positive class, or averaged over the classes."""

    def compute(cases: CaseColumns, options: Options) -> Measurement:
        weight = _weights_of_cases(cases, options)
        classes = [*cases.classes]
        each = getattr(metrics, name)(
            cases.y_true, cases.y_pred, labels=classes, average=None, sample_weight=weight, zero_division=0.0
        )
        found = dict(zip(classes, map(float, each), strict=True))
        if options.positive is None and len(classes) > 2:
            return Measurement(float(np.mean(each)), {"mean of": found})
        positive = _positive(cases, options)
        return Measurement(found[positive], {"positive": positive, "by class": found})

    return compute


def _true_positive_rate(cases: CaseColumns, options: Options) -> Measurement:
    """Return the share of the positive cases above a threshold, with that of the negative cases."""
    positive = _positive(cases, options)
    threshold = _THRESHOLD if options.threshold is None else options.threshold
    true, proba, _ = _table(cases, options)
    is_positive = np.array(true) == positive
    if is_positive.all() or not is_positive.any():
        raise Problem(f"{cases.path.name}: cases of “{positive}” and others are needed for these rates.")
    called = proba[:, cases.classes.index(positive)] >= threshold
    rate, false_rate = float(called[is_positive].mean()), float(called[~is_positive].mean())
    return Measurement(rate, {"positive": positive, "threshold": threshold, "false positive rate": false_rate})


def _false_positive_rate(cases: CaseColumns, options: Options) -> Measurement:
    found = _true_positive_rate(cases, options)
    details = dict(found.details)
    return Measurement(details.pop("false positive rate"), {**details, "true positive rate": found.value})


def _area(cases: CaseColumns, options: Options) -> Measurement:
    true, proba, weight = _table(cases, options)
    if options.positive is None and len(cases.classes) > 2:
        areas = {
            name: float(metrics.roc_auc_score(np.array(true) == name, proba[:, j], sample_weight=weight))
            for j, name in enumerate(cases.classes)
        }
        return Measurement(float(np.mean([*areas.values()])), {"mean of one against the rest": areas})
    positive = _positive(cases, options)
    score = proba[:, cases.classes.index(positive)]
    value = metrics.roc_auc_score(np.array(true) == positive, score, sample_weight=weight)
    return Measurement(float(value), {"positive": positive})


def _weighted_likelihood(cases: CaseColumns, options: Options) -> Measurement:
    true, proba, _ = _table(cases, options)
    by_class = _class_weight(cases, options)
    value = metrics.negative_log_likelihood(true, proba, labels=cases.classes, class_weight=by_class)
    return Measurement(value, {"class_weight": by_class})


def _calibration(cases: CaseColumns, options: Options) -> Any:
    true, proba, weight = _table(cases, options)
    bins = options.bins or _BINS
    if options.positive is None:
        return metrics.expected_calibration_error(true, proba, n_bins=bins, labels=cases.classes, sample_weight=weight)
    positive = _positive(cases, options)
    score = proba[:, cases.classes.index(positive)]
    is_positive = np.array(true) == positive
    return metrics.expected_calibration_error(is_positive, score, n_bins=bins, pos_label=True, sample_weight=weight)


def _calibration_error(cases: CaseColumns, options: Options) -> Measurement:
    found = _calibration(cases, options)
    of_what = "of the most probable class" if options.positive is None else f"of {options.positive}"
    curve = {"predicted": found.curve.prob_pred.tolist(), "came true": found.curve.prob_true.tolist()}
    return Measurement(float(found), {"probability": of_what, "bins": options.bins or _BINS, **curve})


def _concern(cases: CaseColumns, options: Options) -> metrics.MetaPatternConcernScore:
    true, proba, _ = _table(cases, options)
    how: dict[str, Any] = {
        "top_k": options.top_k,
        "n_intervals": options.intervals or _INTERVALS,
        "true_concern": options.true_concern or "sum",
    }
    if options.metric is not None:
        places = _places(cases, options)
        factors = options.metric.release_factors(options.release or "graded")
        how["release_factors"] = factors[np.ix_(places, places)]
    elif options.release is not None:
        raise WrongOption("`release` is about the release factors of a metric: name it by `metric`.")
    return metrics.meta_pattern_concern_score(true, proba, labels=cases.classes, **how)


def _concern_score(cases: CaseColumns, options: Options) -> Measurement:
    found = _concern(cases, options)
    details = {"top_k": found.top_k, "intervals": found.n_intervals, "true class outside": found.share_outside_top_k}
    return Measurement(float(found), details)


def _weighted_concern(cases: CaseColumns, options: Options) -> Measurement:
    found, weight = _concern(cases, options), _class_weight(cases, options)
    of_cases = np.array([weight[label] for label in _table(cases, options)[0]])
    if not of_cases.any():
        raise Problem(f"{cases.path.name}: every case is of a class whose weight is 0.")
    return Measurement(float(np.average(found.per_sample, weights=of_cases)), {"class_weight": weight})


def _draw_confusion(cases: CaseColumns, options: Options, axes: Axes) -> object:
    from metrics.plots import plot_confusion

    weight = _weights_of_cases(cases, options)
    matrix = metrics.confusion_matrix(cases.y_true, cases.y_pred, labels=cases.classes, sample_weight=weight)
    return plot_confusion(matrix, axes, labels=cases.classes)


def _draw_roc(cases: CaseColumns, options: Options, axes: Axes) -> object:
    from metrics.plots import plot_roc

    true, proba, weight = _table(cases, options)
    positive = _positive(cases, options)
    score = proba[:, cases.classes.index(positive)]
    return plot_roc(true, score, ax=axes, pos_label=positive, sample_weight=weight)


def _draw_areas(cases: CaseColumns, options: Options, axes: Axes) -> object:
    """Draw the ROC curve of the positive class; if none of several is named, of each class against the rest."""
    if options.positive is not None or len(cases.classes) == 2:
        return _draw_roc(cases, options, axes)
    from sklearn.metrics import RocCurveDisplay

    true, proba, weight = _table(cases, options)
    for name, score in zip(cases.classes, proba.T, strict=True):
        RocCurveDisplay.from_predictions(np.array(true) == name, score, sample_weight=weight, name=name, ax=axes)
    axes.set(xlabel="share of the others called so", ylabel="share of the class called so")
    return axes


def _plotted(of: Callable[[CaseColumns, Options], Any]) -> Draw:
    """Return the drawing function for a result with a `plot` method."""
    return lambda cases, options, axes: of(cases, options).plot(axes)


def _decisions(name: str, title: str, compute: Compute, better: Any = "lower", *options: str) -> Measure:
    return Measure(name, title, "decisions", better, compute, _draw_confusion, options)


def _probabilities(
    name: str, title: str, compute: Compute, draw: Draw, *options: str, better: Any = "lower"
) -> Measure:
    return Measure(name, title, "probabilities", better, compute, draw, options)


_ANY = "prevalence"
_CALIBRATION = _plotted(_calibration)

MEASURES = (
    _decisions("accuracy", "Share of cases that are right", _of_decisions("accuracy_score"), "higher", _ANY),
    _decisions("error", "Share of cases that are wrong", _of_decisions("error_rate"), "lower", _ANY),
    _decisions("balanced-error", "Mean error rate of the classes", _of_decisions("balanced_error_rate")),
    _decisions("class-weighted-error", "Error rate, each case by its class", _weighted_error, "lower", *_WEIGHTS),
    _decisions("misclassification-cost", "Mean cost of the decisions", _cost, "lower", *_COSTS, _ANY),
    _decisions(
        "precision", "Share right among those called so", _by_class("precision_score"), "higher", *_BINARY, _ANY
    ),
    _decisions("recall", "Share of a class that is found", _by_class("recall_score"), "higher", *_BINARY, _ANY),
    _decisions("f1", "Harmonic mean of precision and recall", _by_class("f1_score"), "higher", *_BINARY, _ANY),
    _decisions("mcc", "Matthews correlation coefficient", _of_decisions("matthews_corrcoef"), "higher", _ANY),
    _probabilities(
        "true-positive-rate",
        "Share of the positive cases above a threshold",
        _true_positive_rate,
        _draw_roc,
        *_BINARY,
        "threshold",
        better="higher",
    ),
    _probabilities(
        "false-positive-rate",
        "Share of the others above a threshold",
        _false_positive_rate,
        _draw_roc,
        *_BINARY,
        "threshold",
    ),
    _probabilities("auc", "Area under the ROC curve", _area, _draw_areas, *_BINARY, _ANY, better="higher"),
    _probabilities(
        "nll",
        "Negative log-likelihood (cross-entropy, log loss)",
        _of_probabilities(metrics.negative_log_likelihood),
        _CALIBRATION,
        _ANY,
    ),
    _probabilities(
        "class-weighted-nll",
        "Negative log-likelihood, each case by its class",
        _weighted_likelihood,
        _CALIBRATION,
        *_WEIGHTS,
    ),
    _probabilities(
        "squared-error",
        "Mean squared error of the probabilities, halved",
        _of_probabilities(metrics.probability_squared_error),
        _CALIBRATION,
        _ANY,
    ),
    _probabilities(
        "expected-cost", "Mean expected cost under the probabilities", _expected_cost, _CALIBRATION, *_COSTS, _ANY
    ),
    _probabilities(
        "calibration", "Expected calibration error", _calibration_error, _CALIBRATION, "bins", *_BINARY, _ANY
    ),
    Measure(
        "mpcs", "Meta Pattern Concern Score", "probabilities", "lower", _concern_score, _plotted(_concern), _CONCERN
    ),
    Measure(
        "mpcs-by-class-weight",
        "Meta Pattern Concern Score, each case by its class",
        "probabilities",
        "lower",
        _weighted_concern,
        _plotted(_concern),
        (*_CONCERN, "class_weight"),
    ),
)


def measures() -> dict[str, Measure]:
    """Return all measures by name, in listing order."""
    return {one.name: one for one in (*MEASURES, *other_measures.MEASURES)}


def measure_named(name: str) -> Measure:
    """Return the measure of a given name. Raises WrongOption if there is no measure of that name."""
    from difflib import get_close_matches

    known = measures()
    if name not in known:
        close = get_close_matches(name, known, 1)
        hint = f"did you mean {close[0]}?" if close else "`list` names them all."
        raise WrongOption(f"There is no measure {name}: {hint}")
    return known[name]
