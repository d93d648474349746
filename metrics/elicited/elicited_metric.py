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

from metrics.elicited import metric_checks
from metrics.elicited.family import family_of
from metrics.elicited.judging import Judging
from metrics.elicited.metric_parts import Consequence, MetricDetails, Provenance, Quality
from metrics.errors import InputError
from metrics.inputs.arguments import number_array, square_matrix, whole_number
from metrics.inputs.class_index import ClassIndex, class_names
from metrics.inputs.labels import label_text
from metrics.inputs.tables import matrix_by_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

_LARGEST_POPULATION = 10**12


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ElicitedMetric(Judging):
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
    yardstick: tuple[str, str] | None = None
    provenance: Provenance = field(default_factory=Provenance)
    quality: Quality = field(default_factory=Quality)
    labels: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        k = len(class_names(self.classes))
        checked: dict[str, Any] = {"weights": metric_checks.checked_weights(self.weights, self.family, k)}
        checked["cost_matrix"] = metric_checks.checked_costs(self.cost_matrix, checked["weights"], self.family)
        if self.intervals is not None:
            checked["intervals"] = metric_checks.checked_intervals(self.intervals, k)
        if self.samples is not None:
            checked["samples"] = metric_checks.checked_samples(self.samples, self.family, len(checked["weights"]))
        if self.prevalence is not None:
            checked["prevalence"] = metric_checks.checked_prevalence(self.prevalence, k)
        if self.population is not None:
            checked["population"] = whole_number(self.population, "population", 1, _LARGEST_POPULATION)
        if not isinstance(self.name, str):
            raise TypeError(f"name: a text was expected, found {self.name!r}")
        if not isinstance(self.created, datetime) or self.created.tzinfo is None:
            raise InputError("created: a time with a time zone was expected, such as datetime.now(UTC)")
        for mistake in self.consequences:
            metric_checks.checked_mistake(mistake.true, mistake.predicted, self.classes, "consequences")
        if self.yardstick is not None:
            metric_checks.checked_mistake(*self.yardstick, self.classes, "yardstick")
        checked.update(created=self.created.astimezone(UTC), labels=self.labels or self.classes)
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        """Return a line that says which metric this is."""
        classes = ", ".join(self.classes[:6]) + (", ..." if len(self.classes) > 6 else "")
        answers = f" from {self.provenance.questions} answers" if self.provenance.questions else ""
        return (
            f"<ElicitedMetric {self.name!r}: {self.family} by {self.provenance.procedure}{answers}, classes {classes}>"
        )

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
            name, created, intervals, samples, prevalence, population, consequences, yardstick, provenance, quality, as
            in the class. `created` is now by default.

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
            yardstick=None if yardstick is None else (label_text(yardstick[0]), label_text(yardstick[1])),
            provenance=details.get("provenance", Provenance()),
            quality=details.get("quality", Quality()),
            labels=tuple(classes),
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read an elicited metric file.

        Parameters
        ----------
        path : path-like
            A ``*.metric.json`` file.

        Returns
        -------
        ElicitedMetric
            After its worked example came out.

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
        """Write an elicited metric file, in one step: it is complete or as it was before.

        Parameters
        ----------
        path : path-like
            A ``*.metric.json`` file; one that exists is replaced.

        Raises
        ------
        OSError
            Where the folder does not exist or cannot be written.
        """
        from metrics.files.atomic_write import write_atomically

        write_atomically(path, self.to_json())

    def to_json(self) -> str:
        """Return the text of the elicited metric file."""
        from metrics.elicited.metric_file import metric_text

        return metric_text(self, {name: getattr(self, name) for name in MetricDetails.__optional_keys__})

    @classmethod
    def from_json(cls, text: str, source: str = "The text") -> Self:
        """Read the text of an elicited metric file, and refuse what `load` refuses.

        Parameters
        ----------
        text : str
            JSON.
        source : str
            What an error calls it.
        """
        from metrics.elicited.metric_file import metric_from_text

        return metric_from_text(text, source, cls)

    @cached_property
    def cost_samples(self) -> Floats | None:
        """Return the posterior draws as cost matrices, shape (draws, k, k), each with largest entry 1, or None."""
        return None if self.samples is None else family_of(self.family).costs(self.samples)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the cost matrix with its 90 % intervals.

        On `ax` or a new figure, whose axes it returns; see `metrics.plots.plot_cost_matrix`.
        """
        from metrics.display.matrices import plot_cost_matrix

        return plot_cost_matrix(self, ax)


def _numbers(values: ArrayLike | None, name: str) -> Floats | None:
    return None if values is None else number_array(values, name, finite=False)
