"""Measures of predicted class probabilities that take their cases in batches, several in one pass."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

from numpy.typing import ArrayLike, NDArray

from metrics.batches.accumulators import Accumulator, Totals, add_totals, as_sums, joined
from metrics.batches.blocks import Block, Workspace, for_blocks, rows_per_block
from metrics.errors import InputError
from metrics.inputs.arguments import case_weights, same_length
from metrics.inputs.labels import Classes, column_classes, label_array
from metrics.inputs.probabilities import Probabilities, checked_rows, probability_array
from metrics.inputs.tables import demand_order, named_classes


class ProbabilityAccumulator(Accumulator):
    """Sums over predicted probabilities and true labels.

    Parameters
    ----------
    classes : int, array-like of shape (k,) or Classes
        The k labels in the order of the columns; a number k stands for the labels 0, ..., k-1.

    Attributes
    ----------
    by_column : bool
        Whether `totals` needs `Block.columns`.
    """

    by_column = False

    def __init__(self, classes: int | ArrayLike | Classes) -> None:
        self.classes = classes if isinstance(classes, Classes) else Classes(classes)
        super().__init__()

    @abstractmethod
    def totals(self, block: Block) -> Totals:
        """Return the sums over the rows of one block, by name; nothing is changed."""

    def setting(self) -> dict[str, Any]:
        """Return the classes."""
        return {"classes": self.classes}

    def update(self, y_true: ArrayLike, y_proba: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Self:
        """Add a batch of cases; where it is refused nothing is added.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            True labels.
        y_proba : array-like of shape (n, k)
            Predicted probabilities; rows sum to 1 within `metrics.inputs.probabilities.ROW_SUM_TOLERANCE`.
        sample_weight : array-like of shape (n,), optional
            Weights of the cases.

        Returns
        -------
        ProbabilityAccumulator
            This one.

        Raises
        ------
        InputError
            In words: which argument, which row, what was expected.
        """
        _add_batch([self], y_true, y_proba, sample_weight)
        return self


class OnePass(Mapping[str, ProbabilityAccumulator]):
    """Several accumulators over the same cases, which read every batch once.

    Parameters
    ----------
    **accumulators : ProbabilityAccumulator
        By name; all of the same classes.

    Raises
    ------
    InputError
        Where there is none, or their classes differ.
    """

    def __init__(self, **accumulators: ProbabilityAccumulator) -> None:
        self._parts = accumulators
        classes = [part.classes for part in accumulators.values()]
        if not classes or any(other != classes[0] for other in classes):
            raise InputError("Accumulators that share a pass must be of the same classes, and at least one is needed.")

    def __getitem__(self, name: str) -> ProbabilityAccumulator:
        return self._parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def update(
        self,
        y_true: ArrayLike,
        y_proba: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        check_input: bool = True,
    ) -> Self:
        """Add a batch of cases to all; see `ProbabilityAccumulator.update`.

        Parameters
        ----------
        y_true, y_proba, sample_weight
            As there.
        check_input : bool
            False spares a look at every probability, where the caller has made sure that they are not negative and
            add up to 1; those that do not are then added unseen.

        Returns
        -------
        OnePass
            This one.
        """
        _add_batch(list(self._parts.values()), y_true, y_proba, sample_weight, check_input)
        return self

    def merge(self, other: Self) -> Self:
        """Add what another pass with accumulators of the same names has seen; see `Accumulator.merge`."""
        if set(other) != set(self):
            raise InputError("Two passes with different accumulators cannot be merged.")
        for name, part in self._parts.items():
            part.merge(other[name])
        return self

    def result(self) -> dict[str, Any]:
        """Return the results by name."""
        return {name: part.result() for name, part in self._parts.items()}


def labelled_probabilities(
    y_true: ArrayLike, y_proba: ArrayLike, labels: ArrayLike | Classes | None
) -> tuple[NDArray[Any], Probabilities, Classes]:
    """Return true labels and probabilities as arrays, and what the columns stand for.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_proba : array-like of shape (n, k)
        Predicted probabilities.
    labels : array-like of shape (k,) or None
        See `metrics.inputs.labels`.

    Returns
    -------
    tuple of (ndarray, ndarray, Classes)
        Ready for `ProbabilityAccumulator.update`, which looks at the values.

    Raises
    ------
    InputError
        In words: which argument, what was expected.
    """
    true, proba = label_array(y_true, "y_true"), probability_array(y_proba)
    same_length(len(true), len(proba), "y_proba")
    named = named_classes(y_proba)
    classes = column_classes(proba.shape[1], labels, true, named=named)
    if labels is None and classes is named and named.names != named.sorted_names():
        # Matrices and weights beside it would have to be in this order too: that is for the caller to say.
        raise InputError(
            f"labels: the columns of y_proba are named {', '.join(named.names[:8])}, which is not the sorted order; "
            "pass labels in the order of the columns."
        )
    demand_order(y_proba, classes.names, "y_proba")
    return true, proba, classes


def _add_batch(
    accumulators: Sequence[ProbabilityAccumulator],
    y_true: ArrayLike,
    y_proba: ArrayLike,
    sample_weight: ArrayLike | None,
    check_input: bool = True,
) -> None:
    classes = accumulators[0].classes
    true, proba = label_array(y_true, "y_true"), probability_array(y_proba)
    same_length(len(true), len(proba), "y_proba")
    weight = case_weights(sample_weight, len(true))
    n, k = proba.shape
    demand_order(y_proba, classes.names, "y_proba")
    if k != len(classes):
        raise InputError(f"y_proba: {len(classes)} columns were expected, one per class, found {k}.")

    by_column = any(part.by_column for part in accumulators)

    def work(space: Workspace, start: int, stop: int) -> list[Totals]:
        codes = classes.indices(true[start:stop], "y_true", start)
        block = Block(codes, proba[start:stop], None if weight is None else weight[start:stop], space)
        if check_input:
            checked_rows(block.rows, first=start, columns=block.columns if by_column else None)
        return [as_sums(part.totals(block)) for part in accumulators]

    batch = for_blocks(n, rows_per_block(k), work, joined, n_columns=k)
    add_totals(accumulators, batch, weight is not None)
