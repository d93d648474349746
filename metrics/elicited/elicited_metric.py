"""An elicited metric: what an expert's answers say about the cost of each mistake, ready to judge and to decide."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.elicited import metric_parts as parts
from metrics.elicited.alignment import aligned, labelled_table
from metrics.elicited.family import family_of
from metrics.elicited.metric_parts import CaseWords, Consequence, MetricDetails, Provenance, Quality
from metrics.elicited.release import ReleaseForm, ReleaseList, release_factors, release_list, two_level_factors
from metrics.errors import InputError
from metrics.extras import require
from metrics.inputs.arguments import matrix_by_name, number_array, square_matrix, whole_number
from metrics.inputs.class_index import ClassIndex, LabelledWeights, class_names
from metrics.inputs.labels import label_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from metrics.probabilistic.concern import MetaPatternConcernScore, TrueConcern

Floats = NDArray[np.float64]

_LARGEST_POPULATION = 10**12


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ElicitedMetric:
    """Costs of mistakes with where they come from. Made by `from_weights`, `from_cost_matrix` or `load`.

    Labels of data are compared with `classes` as text, so a metric with the classes "0" and "1" judges integer labels.
    In every matrix rows are true classes and columns are predicted classes.

    Parameters
    ----------
    classes : tuple of str
        Names of the k classes, in order.
    family : {"dlpm", "lpm"}
        Whether any wrong answer for the same truth is equally bad (dlpm) or not (lpm).
    weights : ndarray of shape (k,) or (k^2 - k,)
        DLPM: weights of the hits, >= 0, sum 1. LPM: weights of the errors, row-major, <= 0, L2 norm 1.
    cost_matrix : ndarray of shape (k, k)
        Costs >= 0, zero diagonal, largest entry 1.
    name : str
        What the metric is called.
    created : datetime
        When it was made, with a time zone.
    intervals : ndarray of shape (k, k, 2) or None
        90 % intervals of the entries of `cost_matrix`; an upper end of inf where the cost is only bounded below.
    samples : ndarray of shape (draws, n_weights) or None
        Posterior draws of the weights.
    prevalence : ndarray of shape (k,) or None
        Shares of the true classes in the study.
    population : int or None
        Natural frequencies and costs are given per this many cases.
    consequences : tuple of Consequence
        The expert's words for the mistakes.
    words : CaseWords or None
        The domain's words for cases and classes, which sentences are made of; None has plain ones.
    yardstick : tuple of str or None
        (true, predicted): the mistake that others are compared with.
    provenance : Provenance
        Procedure, settings, seed, number of questions, digests.
    quality : Quality
        Repeats agreed, answers explained, held-out agreement.
    labels : tuple
        The classes as the caller's own objects, which `decide` returns; not stored in files, by default `classes`.

    Raises
    ------
    InputError
        In one sentence that names the field, where two fields disagree or one is not as described.
    """

    classes: tuple[str, ...]
    family: str
    weights: Floats
    cost_matrix: Floats
    name: str
    created: datetime
    intervals: Floats | None = None
    samples: Floats | None = None
    prevalence: Floats | None = None
    population: int | None = None
    consequences: tuple[Consequence, ...] = ()
    words: CaseWords | None = None
    yardstick: tuple[str, str] | None = None
    provenance: Provenance = field(default_factory=Provenance)
    quality: Quality = field(default_factory=Quality)
    labels: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        k = len(class_names(self.classes))
        checked: dict[str, Any] = {"weights": parts.checked_weights(self.weights, self.family, k)}
        checked["cost_matrix"] = parts.checked_costs(self.cost_matrix, checked["weights"], self.family)
        if self.intervals is not None:
            checked["intervals"] = parts.checked_intervals(self.intervals, k)
        if self.samples is not None:
            checked["samples"] = parts.checked_samples(self.samples, self.family, len(checked["weights"]))
        if self.prevalence is not None:
            checked["prevalence"] = parts.checked_prevalence(self.prevalence, k)
        if self.population is not None:
            checked["population"] = whole_number(self.population, "population", 1, _LARGEST_POPULATION)
        parts.check_name_and_time(self.name, self.created)
        parts.check_mistakes(self.consequences, self.yardstick, self.classes)
        parts.check_words(self.words, self.classes)
        checked.update(created=self.created.astimezone(UTC), labels=self.labels or self.classes)
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        """Return a line that says which metric this is."""
        classes = ", ".join(self.classes[:6]) + (", ..." if len(self.classes) > 6 else "")
        source = self.provenance
        answers = f" from {source.questions} answers" if source.questions else ""
        return f"<ElicitedMetric {self.name!r}: {self.family} by {source.procedure}{answers}, classes {classes}>"

    @classmethod
    def from_weights(
        cls, classes: Sequence[object], weights: ArrayLike, family: str, **details: Unpack[MetricDetails]
    ) -> Self:
        """Make a metric of the weights that a procedure learned; the costs follow from them.

        Parameters
        ----------
        classes : sequence of k labels
            In the order of the rows and columns.
        weights : array-like of shape (k,) or (k^2 - k,)
            In the sign convention of `family`, in any scale.
        family : {"dlpm", "lpm"}
            The family of the metric.
        **details
            name, created, intervals, samples, prevalence, population, consequences, words, yardstick, provenance,
            quality, as in the class. `created` is now by default.

        Returns
        -------
        ElicitedMetric
            With normalised weights.

        Raises
        ------
        InputError
            In one sentence, for anything that does not fit.
        """
        costs = family_of(family).costs(weights)
        return cls._made(classes, family_of(family).normalise(weights), family, costs, details)

    @classmethod
    def from_cost_matrix(
        cls, classes: Sequence[object], cost_matrix: ArrayLike, *, family: str = "lpm", **details: Unpack[MetricDetails]
    ) -> Self:
        """Make a metric of costs that somebody states.

        Parameters
        ----------
        classes : sequence of k labels
            In the order of the rows and columns.
        cost_matrix : array-like of shape (k, k)
            Costs >= 0 with a zero diagonal, in any scale: the largest becomes 1. Rows are true classes, columns are
            predicted classes. A frame of pandas whose rows and columns are named after the classes is read by name.
        family : {"lpm", "dlpm"}
            "dlpm" needs the same cost for every wrong answer of the same true class.
        **details
            As in `from_weights`; the provenance is "stated" by default.

        Returns
        -------
        ElicitedMetric
            With the weights that stand for these costs.

        Raises
        ------
        InputError
            In one sentence, for anything that does not fit.
        """
        names = class_names(classes)
        costs, k = square_matrix(matrix_by_name(cost_matrix, ClassIndex(names), "cost_matrix")), len(names)
        if len(costs) != k:
            raise InputError(f"cost_matrix: {k} x {k} costs were expected, one per class, the shape is {costs.shape}.")
        weights = family_of(family).weights(costs)
        return cls._made(classes, weights, family, costs / costs.max(), details)

    @classmethod
    def _made(
        cls, classes: Sequence[object], weights: Floats, family: str, cost_matrix: Floats, details: MetricDetails
    ) -> Self:
        """Bring what callers say to the types of the fields."""
        names, yardstick = class_names(classes), details.get("yardstick")
        unknown = set(details) - MetricDetails.__optional_keys__
        if unknown:
            known = ", ".join(sorted(MetricDetails.__optional_keys__))
            raise TypeError(f"{min(unknown)}: is no detail of a metric; there are {known}")
        if yardstick is not None and (isinstance(yardstick, str) or len(yardstick) != 2):
            raise InputError(f"yardstick: a pair (true class, predicted class) was expected, found {yardstick!r}")
        return cls(
            classes=names,
            family=family,
            weights=weights,
            cost_matrix=cost_matrix,
            name=details.get("name", "elicited metric"),
            created=details.get("created") or datetime.now(UTC),
            intervals=_numbers(details.get("intervals"), "intervals"),
            samples=_numbers(details.get("samples"), "samples"),
            prevalence=_numbers(details.get("prevalence"), "prevalence"),
            population=details.get("population"),
            consequences=tuple(details.get("consequences", ())),
            words=details.get("words"),
            yardstick=None if yardstick is None else (label_text(yardstick[0]), label_text(yardstick[1])),
            provenance=details.get("provenance", Provenance()),
            quality=details.get("quality", Quality()),
            labels=tuple(classes),
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read an elicited metric file.

        Raises
        ------
        MetricFileError
            An InputError: in one sentence, which file, which field, what was expected.
        OSError
            Where the file does not exist or cannot be read.
        """
        from metrics.elicited.metric_file import metric_from_text, read_text

        return metric_from_text(read_text(path), str(path), cls)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an elicited metric file (``*.metric.json``), in one step: it is complete or as it was before.

        Raises
        ------
        OSError
            Where the folder does not exist or cannot be written.
        """
        from metrics.files import write_atomically

        write_atomically(path, self.to_json())

    def to_json(self) -> str:
        """Return the text of the elicited metric file."""
        from metrics.elicited.metric_file import metric_text

        return metric_text(self)

    @classmethod
    def from_json(cls, text: str, source: str = "The text") -> Self:
        """Read the text of an elicited metric file, which errors call `source`; what `load` refuses is refused."""
        from metrics.elicited.metric_file import metric_from_text

        return metric_from_text(text, source, cls)

    @cached_property
    def cost_samples(self) -> Floats | None:
        """Return the posterior draws as cost matrices, shape (draws, k, k), each with largest entry 1, or None."""
        return None if self.samples is None else family_of(self.family).costs(self.samples)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the costs with their 90 % intervals on `ax` or a new figure; see `metrics.plots.plot_cost_matrix`."""
        from metrics.display.matrices import plot_cost_matrix

        return plot_cost_matrix(self, ax)

    @cached_property
    def class_index(self) -> ClassIndex:
        """Return what says which class a label means."""
        return ClassIndex(self.classes, "classes")

    @cached_property
    def class_weight(self) -> LabelledWeights:
        """Return label -> weight of the true class, mean 1: how much the class's worst error matters.

        A dict, as scikit-learn's estimators take it; labels are found as text.
        """
        values = family_of(self.family).class_weight(self.weights)
        return LabelledWeights(zip(self.labels, map(float, values), strict=True))

    def release_factors(self, form: ReleaseForm = "graded") -> NDArray[np.float64]:
        """Return the release factors of the Meta Pattern Concern Score, shape (k, k); 1 is full concern.

        "graded": one for each mistake, from the costs; "list": the paper's two levels, those of `release_list`.
        """
        graded = release_factors(self.cost_matrix)
        return graded if form == "graded" else two_level_factors(graded)

    def release_list(self) -> ReleaseList:
        """Return the paper's two-level form: a list R of class indices, one factor, and the error of the fit."""
        return release_list(self.release_factors())

    def decision_threshold(self, pos_label: object) -> float:
        """Return the probability from which calling a case positive costs least (two classes).

        Parameters
        ----------
        pos_label : label
            The positive class.

        Returns
        -------
        float
            C[n, p] / (C[n, p] + C[p, n]) in [0, 1], n and p the negative and the positive class.

        Raises
        ------
        InputError
            With more than two classes, or where `pos_label` is none of them.
        """
        if len(self.classes) != 2:
            raise InputError(f"a decision threshold exists for two classes, the metric has {len(self.classes)}.")
        positive = int(self.class_index.indices_of([pos_label], "pos_label")[0])
        false_alarm, miss = self.cost_matrix[1 - positive, positive], self.cost_matrix[positive, 1 - positive]
        return float(false_alarm / (false_alarm + miss))

    def score(self, y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean cost per case of predictions, in units of the worst mistake; lower is better.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n,)
            Labels of any type, compared with the classes as text.
        sample_weight : array-like of shape (n,), optional
            Weights of the cases.

        Returns
        -------
        float
            In [0, 1]; 0 where every prediction is right.

        Raises
        ------
        InputError
            Where a label is no class of the metric or the lengths differ.
        """
        from metrics.classification.costs import misclassification_cost

        true, predicted = self.class_index.indices(y_true, "y_true"), self.class_index.indices(y_pred, "y_pred")
        return misclassification_cost(true, predicted, self.cost_matrix, sample_weight=sample_weight)

    def expected_score(
        self,
        y_true: ArrayLike,
        y_proba: ArrayLike,
        *,
        labels: Sequence[object] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the mean cost per case expected under predicted probabilities; lower is better.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels of any type, compared with the classes as text.
        y_proba : array-like of shape (n, m)
            Probabilities; rows sum to 1.
        labels : sequence of m labels, optional
            What the columns stand for, such as an estimator's ``classes_``; a class left out has probability 0. By
            default what the columns of a frame are named after, else the classes of the metric in their order.
        sample_weight : array-like of shape (n,), optional
            Weights of the cases.

        Returns
        -------
        float
            In [0, 1].

        Raises
        ------
        InputError
            Where a label is no class of the metric, or the probabilities are none.
        """
        from metrics.classification.costs import expected_misclassification_cost

        true, proba, columns = aligned(self.class_index, y_true, y_proba, labels)
        costs = self.cost_matrix[np.ix_(columns, columns)]
        return expected_misclassification_cost(true, proba, costs, sample_weight=sample_weight)

    def decide(self, y_proba: ArrayLike, *, labels: Sequence[object] | None = None) -> NDArray[Any]:
        """Return the decisions of least expected cost.

        Parameters
        ----------
        y_proba : array-like of shape (n, m)
            Probabilities; rows sum to 1.
        labels : sequence of m labels, optional
            What the columns stand for, such as an estimator's ``classes_``; only these are decided for. By default the
            classes of the metric in their order.

        Returns
        -------
        ndarray of shape (n,)
            Elements of `labels`; of equal costs the earlier label.

        Raises
        ------
        InputError
            Where a label is no class of the metric, or the probabilities are none.
        """
        from metrics.classification.costs import cost_sensitive_decisions

        proba, columns = labelled_table(self.class_index, y_proba, labels)
        names: Any = [self.labels[j] for j in columns] if labels is None else labels
        return cost_sensitive_decisions(proba, self.cost_matrix[np.ix_(columns, columns)], labels=names)

    def meta_pattern_concern_score(
        self,
        y_true: ArrayLike,
        y_proba: ArrayLike,
        *,
        labels: Sequence[object] | None = None,
        sample_weight: ArrayLike | None = None,
        top_k: int | None = None,
        n_intervals: int = 50,
        true_concern: TrueConcern = "sum",
        release: ReleaseForm = "graded",
        by_class: bool = True,
    ) -> MetaPatternConcernScore:
        """Return the Meta Pattern Concern Score with this metric's release factors.

        Parameters
        ----------
        y_true, y_proba, labels, sample_weight
            As in `expected_score`, and refused as there.
        top_k, n_intervals, true_concern
            As in `metrics.meta_pattern_concern_score`.
        release : {"graded", "list"}
            See `release_factors`.
        by_class : bool
            Whether each case has its true class's weight in the mean, `class_weight`; without it the mean is that of
            the paper, equation (9).

        Returns
        -------
        MetaPatternConcernScore
            A float, lower is better. It carries the patterns, see `metrics.meta_pattern_concern_score`.
        """
        from metrics.probabilistic.concern import meta_pattern_concern_score

        true, proba, columns = aligned(self.class_index, y_true, y_proba, labels)
        return meta_pattern_concern_score(
            true,
            proba,
            top_k=top_k,
            n_intervals=n_intervals,
            true_concern=true_concern,
            release_factors=self.release_factors(release)[np.ix_(columns, columns)],
            class_weight=family_of(self.family).class_weight(self.weights)[columns] if by_class else None,
            sample_weight=sample_weight,
        )

    def as_scorer(self) -> Any:
        """Return a scikit-learn scorer: the negated mean cost of an estimator's predictions, greater is better.

        It goes where scikit-learn takes ``scoring``: `cross_val_score`, `GridSearchCV`, `TunedThresholdClassifierCV`.
        An estimator's classes are matched as text; ``set_score_request(sample_weight=True)`` routes weights.

        Returns
        -------
        callable
            ``scorer(estimator, X, y, sample_weight=None)``.
        """
        require("sklearn")
        from sklearn.metrics import make_scorer

        return make_scorer(self.score, greater_is_better=False)


def _numbers(values: ArrayLike | None, name: str) -> Floats | None:
    return None if values is None else number_array(values, name, finite=False)
