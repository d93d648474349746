"""An elicited metric: the costs of mistakes learned from an expert's answers, for scoring and for decisions."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike

from metrics.elicited import metric_parts as parts
from metrics.elicited.family import family_of
from metrics.elicited.kinds import KindName, check_kind
from metrics.elicited.metric_parts import CaseWords, Consequence, MetricDetails, Provenance, Quality
from metrics.elicited.scoring import CostsOfCases
from metrics.errors import ArgumentTypeError, InputError
from metrics.inputs.arguments import Floats, by_class, matrix_of, number_array, whole_number
from metrics.inputs.class_index import ClassIndex, class_names
from metrics.inputs.labels import label_text
from metrics.measures.confusion import LARGEST_POPULATION
from metrics.text import cost_cells, costs_html, counted, in_zone, table_html

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ElicitedMetric(CostsOfCases):
    """Costs of mistakes and their provenance. Made by `from_weights`, `from_cost_matrix` or `load`.

    Labels are compared with `classes` as text, so a metric with the classes "0" and "1" scores integer labels.
    In every matrix rows are true classes and columns are predicted classes.

    Parameters
    ----------
    classes : tuple of str
        Names of the k classes, in order.
    family : {"dlpm", "lpm"}
        "dlpm": all wrong answers for the same truth are equally bad; "lpm": some hurt more than others.
    weights : ndarray of shape (k,) or (k^2 - k,)
        DLPM: weights of the hits, >= 0, sum 1. LPM: weights of the errors, row-major, <= 0, L2 norm 1.
    cost_matrix : ndarray of shape (k, k)
        Costs >= 0, zero diagonal, largest entry 1.
    name : str
        What the metric is called.
    created : datetime
        When it was made, with a time zone.
    intervals : ndarray of shape (k, k, 2) or None
        90 % intervals of the entries of `cost_matrix`, or what a published search leaves open; the upper end is inf if
        a cost is only bounded below.
    samples : ndarray of shape (draws, n_weights) or None
        Posterior draws of the weights.
    prevalence : ndarray of shape (k,) or None
        Shares of the true classes in the study.
    population : int or None
        Number of cases to which natural frequencies and costs refer.
    consequences : tuple of Consequence
        The expert's words for the mistakes.
    words : CaseWords or None
        The domain's words for cases and classes, used in sentences; None stands for plain words.
    yardstick : tuple of str or None
        (true, predicted): the mistake with which the others are compared.
    provenance : Provenance
        Procedure, settings, seed, number of questions, digests.
    quality : Quality
        How well the answers support the weights: repeats agreed, answers explained, held-out agreement, and more.
    kind : {"confusion", "multilabel", "relevance"}
        What the weights price: mistakes between classes, or amounts; see `metrics.elicited.kinds`.
    labels : tuple
        The classes as the caller's own objects: data are matched with them and `decide` returns them. By default
        `classes`; not stored in files. See `with_labels`.

    Raises
    ------
    InputError
        If a field is not as described or two fields disagree; the message names the field.
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
    kind: KindName = "confusion"
    labels: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        k = len(class_names(self.classes))
        check_kind(self.kind, self.family, k)
        checked: dict[str, Any] = {"weights": parts.checked_weights(self.weights, self.family, k)}
        checked["cost_matrix"] = parts.checked_costs(self.cost_matrix, checked["weights"], self.family)
        if self.intervals is not None:
            checked["intervals"] = parts.checked_intervals(self.intervals, k)
        if self.samples is not None:
            checked["samples"] = parts.checked_samples(self.samples, self.family, len(checked["weights"]))
        if self.prevalence is not None:
            checked["prevalence"] = parts.checked_prevalence(self.prevalence, k)
        if self.population is not None:
            checked["population"] = whole_number(self.population, "population", 1, LARGEST_POPULATION)
        parts.check_name_and_time(self.name, self.created)
        parts.check_records(self.consequences, self.words, self.provenance, self.quality)
        parts.check_mistakes(self.consequences, self.yardstick, self.quality, self.classes)
        parts.check_words(self.words, self.classes)
        checked.update(created=in_zone(self.created, UTC), labels=self.labels or self.classes)
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        """Return whether all fields but the creation time are equal; labels are compared as text."""
        if not isinstance(other, ElicitedMetric):
            return NotImplemented
        names = [[*map(label_text, metric.labels)] for metric in (self, other)]
        return names[0] == names[1] and all(
            _same(getattr(self, each.name), getattr(other, each.name))
            for each in fields(self)
            if each.name not in ("created", "labels")
        )

    def __hash__(self) -> int:
        return hash((self.classes, self.family, self.name, self.weights.tobytes()))

    def __repr__(self) -> str:
        """Return a one-line description."""
        classes = ", ".join(self.classes[:6]) + (", ..." if len(self.classes) > 6 else "")
        return f"<ElicitedMetric {self.name!r}: {self.family} {self._origin}, classes {classes}>"

    def _repr_html_(self) -> str:
        """Return the costs, or the prices of amounts, as an HTML table for notebooks, with source and caveats."""
        caveats = [self.quality.caveat, self.quality.source]
        if self.kind == "confusion":
            notes = [f"Costs {self._origin}; the worst mistake costs 1.", *caveats]
            return costs_html(self.name, self.classes, self.cost_matrix, self.intervals, notes)
        cells = cost_cells(self.cost_matrix, self.intervals)
        prices = [[amount, *cells[row][row - 1]] for row, amount in enumerate(self.classes)]  # beside the diagonal
        notes = [f"Prices {self._origin}; the highest is 1.", *caveats]
        return table_html(self.name, ["", "price", "90 % plausible"], prices, notes)

    @property
    def _origin(self) -> str:
        """Return the source in a few words: "by bayes from 14 answers"."""
        source = self.provenance
        return f"by {source.procedure}" + (f" from {counted(source.questions, 'answer')}" if source.questions else "")

    @classmethod
    def from_weights(
        cls, classes: Sequence[object], weights: ArrayLike, family: str, **details: Unpack[MetricDetails]
    ) -> Self:
        """Make a metric from the weights that a procedure learned; the costs follow from them.

        Parameters
        ----------
        classes : sequence of k labels
            In the order of the rows and columns.
        weights : array-like of shape (k,) or (k^2 - k,)
            Weights with the signs of `family`, in any scale.
        family : {"dlpm", "lpm"}
            The family of the metric.
        **details
            name, created, intervals, samples, prevalence, population, consequences, words, yardstick, provenance,
            quality and kind, as in the class. `created` defaults to now.

        Returns
        -------
        ElicitedMetric
            With normalised weights.

        Raises
        ------
        InputError
            If any argument is invalid.
        """
        costs = family_of(family).costs(weights)
        return cls._made(classes, family_of(family).normalise(weights), family, costs, details)

    @classmethod
    def from_cost_matrix(
        cls, classes: Sequence[object], cost_matrix: ArrayLike, *, family: str = "lpm", **details: Unpack[MetricDetails]
    ) -> Self:
        """Make a metric from stated costs.

        Parameters
        ----------
        classes : sequence of k labels
            In the order of the rows and columns.
        cost_matrix : array-like of shape (k, k)
            Costs >= 0 with a zero diagonal, in any scale; the largest is scaled to 1. Rows are true classes, columns
            are predicted classes. A pandas frame whose rows and columns are named after the classes is read by name.
        family : {"lpm", "dlpm"}
            "dlpm" requires the same cost for every wrong answer for the same true class.
        **details
            As in `from_weights`; the procedure of the provenance defaults to "stated".

        Returns
        -------
        ElicitedMetric
            With the weights that correspond to these costs.

        Raises
        ------
        InputError
            If any argument is invalid.
        """
        names = class_names(classes)
        costs = matrix_of(cost_matrix, ClassIndex(names))
        weights = family_of(family).weights(costs)
        return cls._made(classes, weights, family, costs / costs.max(), details)

    @classmethod
    def _made(
        cls, classes: Sequence[object], weights: Floats, family: str, cost_matrix: Floats, details: MetricDetails
    ) -> Self:
        """Convert the caller's arguments to the types of the fields."""
        names, yardstick = class_names(classes), details.get("yardstick")
        unknown = set(details) - MetricDetails.__optional_keys__
        if unknown:
            known = ", ".join(sorted(MetricDetails.__optional_keys__))
            raise ArgumentTypeError(f"{min(unknown)}: is not a detail of a metric; there are {known}")
        if yardstick is not None and (isinstance(yardstick, str) or len(yardstick) != 2):
            raise InputError(f"yardstick: a pair (true class, predicted class) was expected, found {yardstick!r}")
        given: dict[str, Any] = {"name": "elicited metric", "consequences": (), **details}
        if given.get("prevalence") is not None:
            given["prevalence"] = by_class(given["prevalence"], ClassIndex(names), "prevalence")
        for name in ("intervals", "samples", "prevalence"):
            given[name] = None if given.get(name) is None else number_array(given[name], name, finite=False)
        given["created"] = given.get("created") or datetime.now(UTC)
        given["consequences"] = tuple(given["consequences"])
        given["yardstick"] = None if yardstick is None else tuple(map(label_text, yardstick))
        given |= {"weights": weights, "cost_matrix": cost_matrix, "labels": tuple(classes)}
        return cls(classes=names, family=family, **given)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read an elicited metric file.

        Raises
        ------
        MetricFileError
            If the file is invalid; the message names the file, the field and what was expected. An InputError.
        OSError
            If the file does not exist or cannot be read.
        """
        from metrics.elicited.metric_file import metric_from_text, read_text

        return metric_from_text(read_text(path), str(path), cls)[0]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an elicited metric file (``*.metric.json``) atomically: it is either complete or unchanged.

        Raises
        ------
        OSError
            If the folder does not exist or cannot be written.
        """
        from metrics.elicited.metric_file import metric_text
        from metrics.files import write_atomically

        write_atomically(path, metric_text(self))

    def to_json(self) -> str:
        """Return the content of the elicited metric file."""
        from metrics.elicited.metric_file import metric_text

        return "".join(metric_text(self))

    @classmethod
    def from_json(cls, text: str, source: str = "The text") -> Self:
        """Make a metric from the text of its file, with the checks of `load`; error messages call the text `source`."""
        from metrics.elicited.metric_file import metric_from_text

        if not isinstance(text, str):
            raise ArgumentTypeError(f"text: the text of a metric file was expected, found {type(text).__name__}")
        return metric_from_text(text, source, cls)[0]

    def with_labels(self, labels: Mapping[Any, Any] | Sequence[Any]) -> Self:
        """Return the same metric for data with other labels; draws, words and provenance are kept.

        Estimators that encode their labels (`VotingClassifier`, `StackingClassifier`, XGBoost) pass 0, ..., k-1 to the
        estimators inside them, in the sorted order of the labels.

        Parameters
        ----------
        labels : mapping or sequence of k labels
            Either class (or its present label) -> new label, for every class, or the new labels in the order of
            `classes`. As text they must differ.

        Returns
        -------
        ElicitedMetric
            Its `classes` are unchanged; data are matched with the new labels, and `decide` returns them.

        Raises
        ------
        InputError
            If a class is unknown or missing, or two labels are equal as text.

        Examples
        --------
        >>> metric = ElicitedMetric.from_cost_matrix(["ill", "well"], [[0, 4], [1, 0]])
        >>> encoded = metric.with_labels({"ill": 1, "well": 0})
        >>> encoded.score([1, 1, 0], [0, 1, 1]) == metric.score(["ill", "ill", "well"], ["well", "ill", "ill"])
        True
        >>> encoded.decide([[0.3, 0.7]]).tolist(), encoded.classes
        ([1], ('ill', 'well'))
        """
        given: Sequence[Any]
        if isinstance(labels, Mapping):
            now = all(self.class_index.place(key) >= 0 for key in labels)
            own = self.class_index if now else ClassIndex(self.classes, "classes")
            found = dict(zip(own.indices_of(labels, "labels").tolist(), labels.values(), strict=True))
            left = [name for index, name in enumerate(self.classes) if index not in found]
            if left:
                raise InputError(f"labels: class {left[0]!r} has none; every class of the metric needs one.")
            given = [found[index] for index in range(len(self.classes))]
        else:
            given = labels
        if len(class_names(given, "labels")) != len(self.classes):
            raise InputError(f"labels: {len(self.classes)} labels were expected, one per class, found {len(given)}.")
        return replace(self, labels=tuple(given))

    @property
    def cost_samples(self) -> Floats | None:
        """Return the posterior draws as cost matrices, shape (draws, k, k), each with largest entry 1, or None.

        They are recomputed on each access: for fifty classes they take 19 MiB.
        """
        return None if self.samples is None else family_of(self.family).costs(self.samples)

    @cached_property
    def stated_consequences(self) -> Mapping[tuple[str, str | None], Consequence]:
        """Return the expert's words for mistakes, keyed by (true, predicted)."""
        return {(stated.true, stated.predicted): stated for stated in self.consequences}

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the costs with their 90 % intervals on `ax` or a new figure; see `metrics.plots.plot_cost_matrix`."""
        from metrics.drawing import plot_cost_matrix

        self.require_kind("confusion")
        return plot_cost_matrix(self, ax)


def require_metric(given: object) -> None:
    """Check that an argument is an elicited metric, not its costs or the path of its file.

    Raises TypeError if it is anything else.
    """
    if not isinstance(given, ElicitedMetric):
        raise ArgumentTypeError(
            f"metric: an ElicitedMetric was expected, found {type(given).__name__}; ElicitedMetric.load reads one from "
            "its file, ElicitedMetric.from_cost_matrix makes one of costs."
        )


def _same(one: Any, other: Any) -> bool:
    """Return whether two values of a field are equal, arrays entry by entry."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    return type(one) is type(other) and bool(one == other)
