"""What an elicited metric prices: mistakes between classes, labels of items, or suggestions in contexts.

A metric of kind "confusion" holds the costs of mistakes between classes. The other kinds price amounts counted over
items. They use the same file format: each amount takes the place of a class, its weight is the price of one unit, and
every off-diagonal entry in its row of the cost matrix is that price, scaled (family "dlpm").

* "multilabel": labels found, labels missed, false labels. The prices of a missed and of a false label, in units of a
  found one, are the penalties of the multi-label score [ML]. Labels rightly left out are not counted.
* "relevance": the distance of predictions from the most frequent outcome of their context, and from the actual
  outcome. The two prices are alpha and beta of the relevance score [G13].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from metrics.errors import InputError
from metrics.inputs.arguments import Floats

if TYPE_CHECKING:
    from metrics.measures.multilabel import PenalizedMultilabelScore
    from metrics.measures.relevance import RelevanceScore

KindName = Literal["confusion", "multilabel", "relevance"]
AnswersFor = Literal["choose", "costs", "both"]


@dataclass(frozen=True)
class PricedKind:
    """A kind of metric that prices amounts counted over items."""

    name: KindName  # its name in files
    amounts: tuple[str, ...]  # what is counted, in the order of the weights: the classes of its metrics
    good: tuple[bool, ...]  # whether more of an amount is better


MULTILABEL = PricedKind("multilabel", ("found", "missed", "false"), (True, False, False))
RELEVANCE = PricedKind("relevance", ("from the most frequent", "from the actual"), (False, False))
PRICED = {kind.name: kind for kind in (MULTILABEL, RELEVANCE)}
WHAT_IS_PRICED: dict[KindName, str] = {
    "confusion": "mistakes between classes",
    "multilabel": "labels of items",
    "relevance": "suggestions in contexts",
}


def thing_of(kind: str) -> str:
    """Return what counts in a metric of a kind, in one word: "mistake" or "amount"."""
    return "mistake" if kind == "confusion" else "amount"


def answers_for(purpose: AnswersFor, kind: str) -> str:
    """Return the purpose of answers in words, after "for".

    >>> answers_for("costs", "confusion")
    'writing down what mistakes cost'
    """
    choice = "a choice of what to do"  # there may be one model only
    costs = "writing down what mistakes cost" if kind == "confusion" else "setting prices"
    return {"choose": choice, "costs": costs, "both": f"{choice}, and {costs}"}[purpose]


class Penalties(NamedTuple):
    """Costs of a false and of a missed label, in units of a found one."""

    false_positive: float
    false_negative: float


def check_kind(kind: str, family: str, n_classes: int) -> None:
    """Check that a kind is known and fits a metric's family and number of classes.

    Raises InputError if it is unknown or does not fit.
    """
    if kind == "confusion":
        return
    priced = PRICED.get(kind)  # type: ignore[call-overload]  # any text may stand in a file
    if priced is None:
        raise InputError(f"kind: is {kind!r}; known are confusion, {', '.join(PRICED)}")
    if family != "dlpm" or n_classes != len(priced.amounts):
        raise InputError(f"kind: {kind!r} has {len(priced.amounts)} prices in the family dlpm, not {n_classes} classes")


class PricedScores:
    """The part of `ElicitedMetric` that scores multi-label predictions and suggestions in contexts."""

    if TYPE_CHECKING:
        name: str
        kind: KindName
        weights: Floats
        samples: Floats | None

    def require_kind(self, kind: KindName) -> None:
        """Check that the metric is of the given kind.

        Raises
        ------
        InputError
            If it is of another kind; the message says what it prices and how to use it.
        """
        if self.kind != kind:
            use = {"confusion": "score and decide", "multilabel": "multilabel_score", "relevance": "relevance_score"}
            raise InputError(f"{self.name}: this metric prices {WHAT_IS_PRICED[self.kind]}; use {use[self.kind]}.")

    def penalties(self) -> Penalties:
        """Return the costs of a false and of a missed label, in units of a found one (kind "multilabel")."""
        self.require_kind("multilabel")
        found, missed, false = map(float, self.weights)
        if not found > 0:
            raise InputError(f"{self.name}: a found label is worth nothing here, so there is no unit for penalties.")
        return Penalties(false / found, missed / found)

    def alpha_share(self) -> float:
        """Return alpha / (alpha + beta) (kind "relevance")."""
        self.require_kind("relevance")
        return float(self.weights[0] / self.weights.sum())

    def multilabel_score(
        self, y_true: ArrayLike, y_pred: ArrayLike, *, labels: Sequence[object] | None = None
    ) -> PenalizedMultilabelScore:
        """Return the multi-label score under the elicited penalties (kind "multilabel"); greater is better.

        Labels rightly left out do not count, because no question was about them.

        Parameters
        ----------
        y_true, y_pred, labels
            As in `metrics.penalized_multilabel_score`; the same inputs are rejected.
        """
        from metrics.measures.multilabel import penalized_multilabel_score

        false_positive, false_negative = self.penalties()
        return penalized_multilabel_score(
            y_true,
            y_pred,
            false_positive_penalty=false_positive,
            false_negative_penalty=false_negative,
            true_negative_reward=0.0,
            labels=labels,
        )

    def relevance_score(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        context: ArrayLike,
        *,
        reference: tuple[ArrayLike, ArrayLike] | None = None,
    ) -> RelevanceScore:
        """Return the relevance score under the elicited alpha : beta (kind "relevance"); greater is better.

        Parameters
        ----------
        y_true, y_pred, context, reference
            As in `metrics.relevance_score`; the same inputs are rejected.
        """
        from metrics.measures.relevance import relevance_score

        alpha = self.alpha_share()
        return relevance_score(y_true, y_pred, context, alpha=alpha, beta=1 - alpha, reference=reference)


def multilabel_amounts(y_true: ArrayLike, y_pred: ArrayLike) -> Floats:
    """Count the labels of each item that were found, missed and false, shape (n, 3); see `penalized_multilabel_score`.

    >>> multilabel_amounts([[1, 0, 1], [0, 0, 1]], [[1, 1, 0], [0, 0, 1]]).tolist()
    [[1.0, 1.0, 1.0], [1.0, 0.0, 0.0]]
    """
    from metrics.measures.multilabel import label_bits

    true, predicted = label_bits(y_true, y_pred)
    cells = (true & predicted, true & ~predicted, predicted & ~true)
    return np.stack([cell.sum(axis=1) for cell in cells], axis=1).astype(np.float64)
