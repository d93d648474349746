"""Decisions that may be left to a person: "refer" is one more column of the cost matrix, with a cost of its own.

Sources: C. K. Chow, "On optimum recognition error and reject tradeoff", IEEE Transactions on Information Theory 16,
1970; with costs that differ, L. Ferrer, "Analysis and Comparison of Classification Metrics", 2022.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.classification.costs import least_cost_decisions
from metrics.elicited.alignment import labelled_table
from metrics.errors import InputError
from metrics.inputs.arguments import case_weights, number_array, same_length
from metrics.inputs.class_index import ClassIndex

if TYPE_CHECKING:
    from metrics.elicited.scoring import CostsOfCases

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Referral:
    """A metric with a further decision, to refer the case to a person. Made by `ElicitedMetric.refer`.

    Parameters
    ----------
    metric : ElicitedMetric
        What mistakes cost.
    cost : ndarray of shape (k,)
        What referring a case of each true class costs, in units of the worst mistake.
    label : object
        What stands for it among the decisions.
    """

    metric: CostsOfCases
    cost: Floats
    label: object

    @classmethod
    def of(cls, metric: CostsOfCases, cost: float | Sequence[float] | Mapping[Any, float], label: object) -> Self:
        """Bring what callers say to the types of the fields; see `ElicitedMetric.refer`."""
        k = len(metric.classes)
        if isinstance(cost, Mapping):
            places = metric.class_index.indices_of(cost, "cost")
            if len({*places.tolist()}) < k:
                raise InputError(f"cost: one for each of the {k} classes was expected, found {len(cost)}.")
            cost = [[*cost.values()][place] for place in np.argsort(places)]
        costs = number_array(cost, "cost")
        if costs.shape not in ((), (k,)) or (costs < 0).any():
            raise InputError(f"cost: a number >= 0 was expected, or {k} of them, one per class; found {cost!r}.")
        if metric.class_index.place(label) >= 0:
            raise InputError(f"label: {label!r} is a class; a label that is none was expected.")
        return cls(metric, np.broadcast_to(costs, (k,)), label)

    @property
    def cost_matrix(self) -> Floats:
        """Return the costs, shape (k, k + 1): rows are true classes, the last column is to refer."""
        return np.column_stack([self.metric.cost_matrix, self.cost])

    def decide(self, y_proba: ArrayLike, *, labels: Sequence[object] | None = None) -> NDArray[Any]:
        """Return the decisions of least expected cost.

        Parameters
        ----------
        y_proba, labels
            As in `ElicitedMetric.decide`, and refused as there.

        Returns
        -------
        ndarray of shape (n,)
            Elements of `labels`, or the label of referring; of equal costs the earlier, and referring last.
        """
        proba, columns = labelled_table(self.metric.class_index, y_proba, labels)
        names = [self.metric.labels[j] for j in columns] if labels is None else [*labels]
        costs = np.column_stack([self.metric.cost_matrix[np.ix_(columns, columns)], self.cost[columns]])
        decided = ClassIndex([*names, self.label])  # type: ignore[arg-type]  # labels of any type
        return np.asarray(decided.labels.take(least_cost_decisions(proba, costs)))

    def score(self, y_true: ArrayLike, decisions: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean cost per case of decisions, in units of the worst mistake; lower is better.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels of any type, compared with the classes as text.
        decisions : array-like of shape (n,)
            Labels, or the label of referring.
        sample_weight : array-like of shape (n,), optional
            Weights of the cases.

        Raises
        ------
        InputError
            Where a label is not one of the metric's classes or the lengths differ.
        """
        true = self.metric.class_index.indices(y_true, "y_true")
        every = ClassIndex([*self.metric.labels, self.label])
        decided = every.indices(decisions, "decisions")
        same_length(len(true), len(decided), "decisions")
        return float(np.average(self.cost_matrix[true, decided], weights=case_weights(sample_weight, len(true))))
