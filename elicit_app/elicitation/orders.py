"""What the expert stated beforehand: orders that certainly hold, and piles of similar mistakes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from elicit_app.elicitation.belief import Posterior
from elicit_app.elicitation.prior import STRUCTURED_ABOVE, NeverWorse, WeightPrior
from elicit_app.elicitation.procedure import Procedure
from elicit_app.elicitation.questions import Asked, Family, Matrix
from elicit_app.problem import Problem, WrongOption
from metrics.elicited.family import family_of, is_fraction

_MOST_NAMED = 12
_FEWEST_IN_ORDER = 3  # two have one mistake of each kind
# Beyond, beliefs are approximated: with ten classes ranges would hold two of three true costs instead of nine of ten.
_MOST_IN_ORDER = STRUCTURED_ABOVE
# An order of two mistakes less probable than this, given the answers alone, is contradicted by them.
_IMPROBABLE = 0.1
# An order of the classes is, if the answers are so many times likelier without it. No order that it implies says as
# much: after few answers each is about as probable as not. Of people who keep to it at most one in ten is accused.
_LIKELIER_WITHOUT = 10.0


@dataclass(frozen=True)
class StatedMistake:
    """A mistake as stated.

    Parameters
    ----------
    true : int or str
        The true class: its name, or its index.
    predicted : int, str or None
        The predicted class; None means any wrong answer, for the family dlpm, which does not distinguish them.
    """

    true: int | str
    predicted: int | str | None = None

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    def __str__(self) -> str:
        return str(self.true) if self.predicted is None else f"{self.true}:{self.predicted}"


@dataclass(frozen=True)
class StatedOrder:
    """An order as stated: the first mistake is never worse than the second."""

    mistake: StatedMistake
    than: StatedMistake

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    def __str__(self) -> str:
        return f"{self.mistake}<={self.than}"


def read_order(text: str, classes: Sequence[str]) -> StatedOrder:
    """Return the order that a text states: "TRUE:PREDICTED<=TRUE:PREDICTED", or "TRUE<=TRUE" for the family dlpm.

    Class names may contain the separators, as long as the text has only one reading.

    Raises
    ------
    Problem
        If the text has no reading, or more than one.
    """
    ends = [(text[:at], text[at + 2 :]) for at in range(len(text)) if text.startswith("<=", at)]
    found = {
        StatedOrder(mistake, than)
        for left, right in ends
        for mistake in _mistakes(left, classes)
        for than in _mistakes(right, classes)
    }
    if len(found) == 1:
        return found.pop()
    if found:
        raise Problem(f"“{text}” can be read in more than one way, because a class has “:” or “<=” in its name.")
    raise Problem(
        f"“{text}” states no order of two mistakes. Write TRUE:PREDICTED<=TRUE:PREDICTED with the classes "
        f"{_named(classes)}."
    )


def read_mistake(text: str, classes: Sequence[str]) -> tuple[int, int]:
    """Return the mistake that a text "TRUE:PREDICTED" names, as its true and its predicted class.

    Raises
    ------
    Problem
        If the text has no reading, or more than one.
    """
    readings = [
        (true, predicted)
        for mistake in _mistakes(text, classes)
        if (true := _position(mistake.true, classes)) is not None
        and (predicted := _position(mistake.predicted, classes)) is not None
        and true != predicted
    ]
    if len(readings) > 1:
        raise Problem(f"“{text}” can be read in more than one way, because a class has “:” in its name.")
    if not readings:
        raise Problem(f"“{text}” is no mistake. Write TRUE:PREDICTED with two of the classes {_named(classes)}.")
    return readings[0]


def orders_by_distance(ordered: Sequence[str]) -> tuple[StatedOrder, ...]:
    """Return the orders between mistakes that an order of classes implies.

    Of two mistakes that share the truth or the prediction, the one that is further off is never the lesser.

    Parameters
    ----------
    ordered : sequence of str
        Names of classes, from one end to the other; others may be in no order.
    """
    places = range(len(ordered))
    mistakes = {(i, j): StatedMistake(ordered[i], ordered[j]) for i in places for j in places if i != j}
    further = (
        (mistake, one)
        for (i, j), mistake in mistakes.items()
        for one in ((i, j + (1 if j > i else -1)), (i + (1 if i > j else -1), j))
    )
    return tuple(StatedOrder(mistake, mistakes[one]) for mistake, one in further if one in mistakes)


def may_be_in_order(n_classes: int, family: Family) -> bool:
    """Return whether an order of so many classes says something about the mistakes of a family, and can be stated."""
    few = _FEWEST_IN_ORDER <= n_classes <= _MOST_IN_ORDER
    return few and not is_fraction(family) and family_of(family).distinguishes_errors


def check_ordered(ordered: Sequence[str], classes: Sequence[str]) -> None:
    """Raise a Problem if no order of classes can be stated so."""
    for name in ordered:
        if name not in classes:
            raise Problem(f"There is no class “{name}”. The classes are {_named(classes)}.")
    if len(ordered) < _FEWEST_IN_ORDER or len(set(ordered)) < len(ordered):
        raise Problem("Name at least three classes, each once, from one end of the order to the other.")
    if len(classes) > _MOST_IN_ORDER:
        raise Problem(
            f"An order of the classes can be stated for up to {_MOST_IN_ORDER} classes. Of more, put the mistakes into "
            "piles, or state orders between two mistakes."
        )


def constraints_of(orders: Sequence[StatedOrder], classes: Sequence[str], family: Family) -> tuple[NeverWorse, ...]:
    """Convert stated orders to the constraints of a belief.

    Parameters
    ----------
    orders : sequence of StatedOrder
        The orders as stated.
    classes : sequence of str
        Names of the k classes.
    family : {"dlpm", "lpm"}
        In dlpm only the true classes matter.

    Raises
    ------
    Problem
        If a class does not exist, a mistake is none or is compared with itself, or the orders form a circle.
    """
    found = []
    for order in orders:
        constraint = NeverWorse(
            _indices(order.mistake, order, classes, family), _indices(order.than, order, classes, family)
        )
        apart = family_of(family).distinguishes_errors
        same = 2 if apart else 1
        if constraint.mistake[:same] == constraint.than[:same]:
            why = ": in this family all wrong answers for the same truth are equally bad" if not apart else ""
            raise Problem(f"The order {order} compares a mistake with itself{why}. State it between two mistakes.")
        found.append(constraint)
    if found:
        WeightPrior.of(family, len(classes), "iid", found)  # refuses circles
    return tuple(found)


def violated_order(
    weights: Matrix, orders: Sequence[StatedOrder], classes: Sequence[str], family: Family
) -> StatedOrder | None:
    """Return the first stated order that weights in their family's normalisation violate; None if they keep all.

    Raises
    ------
    Problem
        See `constraints_of`.
    """
    sizes = np.abs(np.asarray(weights, dtype=np.float64))
    for order, constraint in zip(orders, constraints_of(orders, classes, family), strict=True):
        smaller, larger = _places(constraint, family, len(classes))
        if sizes[smaller] > sizes[larger]:
            return order
    return None


@dataclass(frozen=True)
class ContradictedOrder:
    """A stated order that the answers alone make improbable.

    Parameters
    ----------
    order : NeverWorse
        The order.
    ratio, low, high : float
        The cost of its first mistake divided by that of the second, given the answers alone: median and 90 % range.
    times_likelier : float or None
        How many times as likely the answers are without the order of the classes that implies it; None if it was stated
        by itself.
    """

    order: NeverWorse
    ratio: float
    low: float
    high: float
    times_likelier: float | None = None


def contradicted_by(
    history: Sequence[Asked],
    told: Procedure,
    untold: Procedure,
    orders: Sequence[NeverWorse],
    implied: Sequence[NeverWorse] = (),
) -> tuple[ContradictedOrder, ...]:
    """Return the orders that answers contradict, by procedures with a belief that were told them and were not."""
    belief = untold.belief(history)
    without, with_orders = (procedure.predictive_scores(history) for procedure in (untold, told))
    if belief is None or without is None or with_orders is None:
        return ()
    log_odds = float((without.log_probability - with_orders.log_probability).sum())
    return contradicted_orders(orders, implied, belief, log_odds)


def contradicted_orders(
    orders: Sequence[NeverWorse], implied: Sequence[NeverWorse], belief: Posterior, log_odds: float
) -> tuple[ContradictedOrder, ...]:
    """Return the orders that answers contradict.

    A belief that keeps to an order never finds out that it does not hold, and fits the other costs to it.

    Parameters
    ----------
    orders : sequence of NeverWorse
        The orders that were stated.
    implied : sequence of NeverWorse
        The orders that an order of the classes implies; if it is contradicted, the least probable of them is returned.
    belief : Posterior
        The belief after the same answers of a procedure that was not told the orders.
    log_odds : float
        The log-evidence that the answers are for that belief, over the one that was told the orders.
    """

    def lead(order: NeverWorse) -> Matrix:
        first, second = _places(order, belief.prior.family, belief.prior.n_classes)
        return np.asarray(belief.log_weights[:, first] - belief.log_weights[:, second])

    def probability(order: NeverWorse) -> float:
        return float((lead(order) <= 0).mean())

    def contradicted(order: NeverWorse, times_likelier: float | None = None) -> ContradictedOrder:
        low, ratio, high = np.exp(np.quantile(lead(order), (0.05, 0.5, 0.95))).tolist()
        return ContradictedOrder(order, ratio, low, high, times_likelier)

    found = tuple(contradicted(order) for order in orders if probability(order) < _IMPROBABLE)
    if found or not implied or log_odds < np.log(_LIKELIER_WITHOUT):
        return found
    return (contradicted(min(implied, key=probability), float(np.exp(log_odds))),)


def _places(order: NeverWorse, family: Family, n_classes: int) -> tuple[int, int]:
    """Return the indices of both mistakes of an order among the weights."""
    first, second = (family_of(family).index(*mistake, n_classes) for mistake in order)
    return first, second


def _mistakes(text: str, classes: Sequence[str]) -> Iterator[StatedMistake]:
    """Yield every reading of a text as a mistake."""
    if text.strip() in classes:
        yield StatedMistake(text.strip())
    for at in (at for at, sign in enumerate(text) if sign == ":"):
        true, predicted = text[:at].strip(), text[at + 1 :].strip()
        if true in classes and predicted in classes:
            yield StatedMistake(true, predicted)


def _indices(mistake: StatedMistake, order: StatedOrder, classes: Sequence[str], family: Family) -> tuple[int, int]:
    true = _index(mistake.true, order, classes)
    if mistake.predicted is None:
        if family_of(family).distinguishes_errors:
            raise Problem(
                f"The order {order} leaves open what {mistake.true} is taken for: write {mistake.true}:PREDICTED, "
                "because in the family lpm wrong answers for the same truth differ."
            )
        return true, int(true == 0)
    predicted = _index(mistake.predicted, order, classes)
    if predicted == true:
        raise Problem(f"In the order {order}, {mistake} is not a mistake: truth and prediction are the same.")
    return true, predicted


def _index(of: int | str, order: StatedOrder, classes: Sequence[str]) -> int:
    place = _position(of, classes)
    if place is None:
        raise Problem(
            f"The order {order} names the class {of!r}, which does not exist. The classes are {_named(classes)}."
        )
    return place


def _position(of: int | str | None, classes: Sequence[str]) -> int | None:
    """Return the index of a class that is given by its name or by its index; None if there is no such class."""
    if isinstance(of, str):
        return list(classes).index(of) if of in classes else None
    return of if of is not None and 0 <= of < len(classes) else None


def _named(classes: Sequence[str]) -> str:
    more = ", ..." if len(classes) > _MOST_NAMED else ""
    return ", ".join(classes[:_MOST_NAMED]) + more


@dataclass(frozen=True)
class StatedPile:
    """Mistakes of about the same consequence.

    Parameters
    ----------
    name : str
        What they have in common: "Wrong treatment".
    mistakes : tuple of StatedMistake
        Each with its true and its predicted class, by name or index.
    """

    name: str
    mistakes: tuple[StatedMistake, ...]

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}


def piles_of(stated: Sequence[StatedPile], classes: Sequence[str]) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Convert stated piles to index form: the mistakes (true, predicted) of each pile that is not empty.

    Raises
    ------
    WrongOption
        If a class does not exist, a mistake is none, or a mistake lies in two piles.
    """
    found, seen = [], set[tuple[int, int]]()
    for pile in stated:
        own = tuple(_place(mistake, pile, classes) for mistake in pile.mistakes)
        twice = seen & set(own) or (len(set(own)) < len(own))
        if twice:
            raise WrongOption(f"`piles`: a mistake of “{pile.name}” is stated twice; leave it in one pile.")
        seen |= set(own)
        if own:
            found.append(own)
    return tuple(found)


def _place(mistake: StatedMistake, pile: StatedPile, classes: Sequence[str]) -> tuple[int, int]:
    true, predicted = (_position(of, classes) for of in (mistake.true, mistake.predicted))
    if true is None or predicted is None or true == predicted:
        raise WrongOption(f"`piles`: {mistake} in “{pile.name}” is not a mistake of this study.")
    return true, predicted
