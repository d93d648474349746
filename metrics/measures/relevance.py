"""Relevance score: the relevance of predictions in contexts that may lead to several valid outcomes [G13].

Source: A. Kota Gopalakrishna, T. Ozcelebi, A. Liotta, J. J. Lukkien, "Relevance As a Metric for Evaluating Machine
Learning Algorithms", MLDM 2013.

P(y | context) is the share of the outcome among the reference cases of the same context. H is the most frequent outcome
of the context, P the predicted and A the actual one; d_HP = |P(H) - P(P)|, d_PA = |P(P) - P(A)|. A case scores 100 if
P = A, otherwise 100 (1 - (alpha d_HP + beta d_PA) / (alpha + beta)). There are five cases:

1. P = A;
2. P is as frequent as H (if A is too, the score is 100);
3. P is less frequent than H and at least as frequent as A;
4. A lies between H and P;
5. A is as frequent as H, P is less frequent.

These are the rows of table 2 of the paper: highly relevant, moderately relevant, relevant, less relevant, irrelevant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.batches import Accumulator, Measured
from metrics.errors import InputError, RowError
from metrics.inputs.arguments import named_classes, real_number, require_order, same_length
from metrics.inputs.labels import as_array, is_missing, label_array, label_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Context = tuple[str, ...]

# The five cases, in the words of the module.
_KINDS = (
    "1 right",
    "2 predicted one of the most frequent",
    "3 predicted less frequent, actual not more so",
    "4 actual in between",
    "5 actual one of the most frequent",
)


class RelevanceBounds(NamedTuple):
    """The limits of the relevance score as alpha : beta goes to infinity and to 0 [G13, equations 9 and 10].

    The score is linear in alpha / (alpha + beta), so for every choice of the two it lies between these limits.
    """

    alpha_only: float
    beta_only: float


class RelevanceScore(Measured):
    """The mean score, a float in [0, 100], greater is better.

    Attributes
    ----------
    per_sample : ndarray of shape (n,)
        Score of each case.
    case : ndarray of int, shape (n,)
        Number of its case, 1 to 5; see the module.
    bounds : RelevanceBounds
        The score if only alpha counts, and if only beta counts; for every alpha : beta it lies between the two.
    alpha_share : float
        alpha / (alpha + beta), the position of the score between the bounds.
    """

    per_sample: NDArray[np.float64]
    case: NDArray[np.int8]
    bounds: RelevanceBounds
    alpha_share: float

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the number of cases of each of the five kinds, with their mean scores.

        Draws on `ax` or on a new figure, and returns the axes.
        """
        from metrics.drawing import plot_bars

        counts = np.bincount(self.case, minlength=6)[1:]
        scores = np.bincount(self.case, weights=self.per_sample, minlength=6)[1:] / np.maximum(counts, 1)
        texts = [f"{n:,}, mean score {s:.1f}" if n else "0" for n, s in zip(counts, scores, strict=True)]
        return plot_bars(_KINDS, counts, texts, ax, "cases")


class OutcomeFrequencies:
    """Frequencies of the outcomes in each context of a reference data set.

    Parameters
    ----------
    y_reference : array-like of shape (m,)
        Outcomes.
    context_reference : array-like of shape (m,) or (m, f)
        Contexts: the features that cases share, without the one that causes the randomness.
    names : tuple of str
        Names of the two arguments in error messages.

    Raises
    ------
    InputError
        If the lengths differ or a label is missing.
    """

    def __init__(
        self,
        y_reference: ArrayLike,
        context_reference: ArrayLike,
        *,
        names: tuple[str, str] = ("y_reference", "context_reference"),
    ) -> None:
        outcomes = _names(label_array(y_reference, names[0]))
        contexts = _contexts(context_reference, len(outcomes), names[1], names[0])
        self.features = named_classes(context_reference)
        self.outcomes = Counter(zip(contexts, outcomes, strict=True))
        self.contexts = Counter(contexts)
        self.most = dict.fromkeys(self.contexts, 0)
        for (context, _), count in self.outcomes.items():
            self.most[context] = max(self.most[context], count)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OutcomeFrequencies) and self.outcomes == other.outcomes

    __hash__ = None  # type: ignore[assignment]  # it holds counters, which may change

    def of(self, outcomes: list[str], contexts: list[Context]) -> NDArray[np.float64]:
        """Return P(outcome | context) of each case, shape (n,)."""
        pairs = zip(contexts, outcomes, strict=True)
        return np.array([self.outcomes[pair] / self.contexts[pair[0]] for pair in pairs])

    def highest(self, contexts: list[Context]) -> NDArray[np.float64]:
        """Return the probability of the most frequent outcome of each case's context, shape (n,).

        Raises
        ------
        InputError
            If a context does not occur in the reference; the message gives its row.
        """
        for row, context in enumerate(contexts):
            if context not in self.contexts:
                raise RowError("context", row, f"{', '.join(context)} does not occur in the reference data.")
        return np.array([self.most[context] / self.contexts[context] for context in contexts])

    def distances(
        self, y_true: ArrayLike, y_pred: ArrayLike, context: ArrayLike
    ) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        """Return d_HP and d_PA of each case, both 0 if the prediction is right, and the number of its case.

        Parameters
        ----------
        y_true, y_pred, context
            As in `relevance_score`; the same inputs are rejected.

        Returns
        -------
        tuple of ndarray of shape (n, 2) and ndarray of shape (n,)
            Differences of frequencies in [0, 1], and numbers 1 to 5.
        """
        true = _names(label_array(y_true, "y_true"))
        predicted = _names(label_array(y_pred, "y_pred"))
        same_length(len(true), len(predicted), "y_pred")
        contexts = _contexts(context, len(true), "context")
        if self.features is not None:
            require_order(context, self.features, "context")
        highest = self.highest(contexts)
        of_predicted, of_true = self.of(predicted, contexts), self.of(true, contexts)
        hit = np.array(true, dtype=object) == np.array(predicted, dtype=object)
        apart = np.stack([np.abs(highest - of_predicted), np.abs(of_predicted - of_true)], axis=1)
        conditions = [hit, of_predicted == highest, of_predicted >= of_true, of_true < highest]
        case = np.select(conditions, [1, 2, 3, 4], default=5).astype(np.int8)
        return np.where(hit[:, np.newaxis], 0.0, apart), case


class Relevance(Accumulator):
    """The mean relevance score, accumulated over batches of cases.

    Parameters
    ----------
    frequencies : OutcomeFrequencies
        Frequencies in the whole data set.
    alpha, beta : float
        Weights >= 0 of d_HP and d_PA, not both zero.
    """

    def __init__(self, frequencies: OutcomeFrequencies, *, alpha: float = 2.0, beta: float = 1.0) -> None:
        self.frequencies = frequencies
        self.alpha, self.beta = real_number(alpha, "alpha", 0), real_number(beta, "beta", 0)
        if self.alpha + self.beta == 0:
            raise InputError("alpha, beta: one of the two must be above 0.")
        alpha, beta = (weight / max(self.alpha, self.beta) for weight in (self.alpha, self.beta))
        self.alpha_share = alpha / (alpha + beta)
        super().__init__()

    def update(self, y_true: ArrayLike, y_pred: ArrayLike, context: ArrayLike) -> Self:
        """Add a batch of cases; if it is rejected, nothing is added.

        Parameters
        ----------
        y_true, y_pred, context
            As in `relevance_score`; the same inputs are rejected.
        """
        scores, _ = self.row_scores(y_true, y_pred, context)
        self.add({"score": float(scores.sum()), "weight": len(scores)})
        return self

    def result(self) -> float:
        """Return the mean score in [0, 100]; greater is better."""
        return float(self.value("score")) / self.weight()

    def row_scores(
        self, y_true: ArrayLike, y_pred: ArrayLike, context: ArrayLike
    ) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        """Return the score of each case and the number of its case, 1 to 5.

        Parameters
        ----------
        y_true, y_pred, context
            As in `relevance_score`; the same inputs are rejected.

        Returns
        -------
        tuple of ndarray of shape (n,)
            Scores in [0, 100], and numbers 1 to 5.
        """
        distances, case = self.frequencies.distances(y_true, y_pred, context)
        return self.of_distances(distances), case

    def of_distances(self, distances: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores, shape (n,), for the distances d_HP and d_PA, shape (n, 2)."""
        share = self.alpha_share
        return np.asarray(100 * (1 - (share * distances[:, 0] + (1 - share) * distances[:, 1])))


def relevance_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    context: ArrayLike,
    *,
    alpha: float = 2.0,
    beta: float = 1.0,
    reference: tuple[ArrayLike, ArrayLike] | None = None,
) -> RelevanceScore:
    """Return the relevance score [G13]: the mean over the cases, in [0, 100]; greater is better.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Actual and predicted outcomes, compared as text.
    context : array-like of shape (n,) or (n, f)
        Context of each case, one or several features, without the one that causes the randomness. Features of a frame
        must be in the order of those of the reference.
    alpha, beta : float
        Weights of the distance between the most frequent and the predicted outcome, and between the predicted and the
        actual one. Only their ratio matters; the paper uses 2 and 1.
    reference : (y_reference, context_reference), optional
        The data set from which the frequencies of outcomes in contexts are taken; by default the cases themselves.

    Returns
    -------
    RelevanceScore
        A float with `per_sample`, `case`, `alpha_share` and `bounds`, its values if only alpha or only beta counts.

    Raises
    ------
    InputError
        If an argument is invalid (the message names the argument and the row), or a context is not in the reference.

    Examples
    --------
    >>> from metrics import relevance_score
    >>> relevance_score([1, 0, 1, 0], [1, 1, 0, 0], ['a', 'a', 'b', 'b'])
    100.0
    """
    if reference is not None and (not isinstance(reference, Sequence) or len(reference) != 2):
        raise InputError("reference: a pair (y_reference, context_reference) was expected.")
    if reference is None:
        frequencies = OutcomeFrequencies(y_true, context, names=("y_true", "context"))
    else:
        frequencies = OutcomeFrequencies(*reference)
    relevance = Relevance(frequencies, alpha=alpha, beta=beta)
    distances, case = frequencies.distances(y_true, y_pred, context)
    scores = relevance.of_distances(distances)
    bounds = RelevanceBounds(*map(float, 100 * (1 - distances.mean(axis=0))))
    return RelevanceScore(scores.mean(), per_sample=scores, case=case, bounds=bounds, alpha_share=relevance.alpha_share)


def _names(labels: NDArray[Any]) -> list[str]:
    """Return labels as text; booleans count as 0 and 1, so that they match integer labels."""
    return [label_text(label) for label in (labels.astype(int) if labels.dtype.kind == "b" else labels).tolist()]


def _contexts(values: ArrayLike, n: int, name: str, outcomes: str = "y_true") -> list[Context]:
    """Return the context of each row as a tuple of texts."""
    try:
        array = as_array(values)
    except ValueError:
        raise InputError(f"{name}: every case needs the same number of features.") from None
    if array.ndim not in (1, 2):
        raise InputError(
            f"{name}: one context per case was expected, shape (n,) or (n, f); the shape is {array.shape}."
        )
    same_length(n, len(array), name, outcomes)
    rows = array.reshape(len(array), -1).tolist()
    for number, row in enumerate(rows):
        if any(map(is_missing, row)):
            raise RowError(name, number, "a feature is missing; give missing ones a name of their own.")
    return [tuple(label_text(feature) for feature in row) for row in rows]
