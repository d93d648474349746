"""Prior belief about the weights: heavy-tailed log-weights, some of whose variation may be shared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elicit_app.elicitation.questions import Family, Matrix
from elicit_app.problem import Problem
from metrics.elicited.family import RARE, error_cells, family_of, is_fraction

Structure = Literal["iid", "structured", "auto"]

SPREAD = 0.95  # scale of an independent log-weight
ROW_SPREAD, COLUMN_SPREAD, OWN_SPREAD = 0.7, 0.5, 0.7
PILE_SPREAD = 1.0  # of the part that the mistakes of one pile share
_SPREAD_OF_SPREADS = 0.5  # of their logarithms, where they are learned
# Weights grow with how much rarer than `RARE` their class is, by a power that is not known. With a power of 1, equal
# shares of the classes would count alike.
_POWER, _SPREAD_OF_POWER = 0.75, 0.75
_RAREST = 1e-4  # share below which a class counts as no rarer
STRUCTURED_ABOVE = 5  # classes: with more than this, "auto" lets the errors of a row or column share a part
MOST_JOINTLY = 20  # weights, as with five classes: draws of all of them are moved, and experts pooled, together

DEGREES = 4.0  # of the Student t distribution of a log-weight
_VARIANCE = DEGREES / (DEGREES - 2)  # of a score of that distribution
_FARTHEST = 30.0  # squared normal score beyond which scores are constant: no person is there, and nothing overflows
_BEND = (DEGREES - 5 / 6) / (DEGREES - 2 / 3 + 0.1 / DEGREES) ** 2


def heavy_tailed(z: Matrix) -> Matrix:
    """Turn standard normal scores into Student t scores with 4 degrees of freedom (Wallace 1959, formula 2).

    The largest error of a quantile between .001 and .999 is 3 %; the function is smooth, odd and has a closed inverse.
    """
    return np.asarray(np.sign(z) * np.sqrt(DEGREES * np.expm1(_BEND * np.minimum(z * z, _FARTHEST))))


def normal_scores(t: Matrix) -> Matrix:
    """Return the inverse of `heavy_tailed`."""
    return np.asarray(np.sign(t) * np.sqrt(np.log1p(t * t / DEGREES) / _BEND))


def relative_weights(log_weights: Matrix) -> Matrix:
    """Return weights, shape (..., m), scaled so that the largest of every draw is 1."""
    below: Matrix = np.asarray(log_weights - log_weights.max(axis=-1, keepdims=True))
    np.exp(below, out=below)
    return below


class NeverWorse(NamedTuple):
    """An order stated by the expert: the first mistake is never worse than the second.

    Mistakes are (true class, predicted class); in the family dlpm only the true class matters.
    """

    mistake: tuple[int, int]
    than: tuple[int, int]


class SharedPart(NamedTuple):
    """A part of every log-weight that has one value for all weights with the same label.

    Parameters
    ----------
    labels : ndarray of int, shape (m,)
        Label of each weight, from 0.
    spread : float
        Standard deviation of the values, or the centre of its prior.
    loadings : ndarray of shape (m,), optional
        By what each weight multiplies the value, if not by 1.
    mean : float
        Mean of the values.
    is_learned : bool
        Whether the spread is learned where spreads are.
    """

    labels: NDArray[np.intp]
    spread: float
    loadings: Matrix | None = None
    mean: float = 0.0
    is_learned: bool = True

    def on_weights(self, values: Matrix, some: NDArray[np.intp] | None = None) -> Matrix:
        """Expand values of the labels, shape (n, labels), to (some of) the weights that share them, shape (n, m)."""
        labels = self.labels if some is None else self.labels[some]
        expanded = values if some is None and self._is_own() else np.ascontiguousarray(values.T)[labels].T
        if self.loadings is None:
            return expanded
        return expanded * (self.loadings if some is None else self.loadings[some])

    def sums(self, values: Matrix) -> Matrix:
        """Sum values of the weights, shape (n, m), times loadings, over those of each label, shape (n, labels)."""
        if self._is_own():
            return values
        loaded = values if self.loadings is None else values * self.loadings
        return np.array([np.bincount(self.labels, row, self.n_labels) for row in loaded]).reshape(-1, self.n_labels)

    @property
    def squares(self) -> Matrix:
        """Return the covariance of the log-weights due to the part, shape (m, m)."""
        factors = self.factors
        return np.asarray(self.spread**2 * (self.labels[:, None] == self.labels) * np.outer(factors, factors))

    @property
    def factors(self) -> Matrix:
        """Return by what each weight multiplies its value, shape (m,)."""
        return np.ones(len(self.labels)) if self.loadings is None else self.loadings

    @property
    def n_labels(self) -> int:
        """Return the number of labels."""
        return int(self.labels.max()) + 1

    def _is_own(self) -> bool:
        """Return whether every weight has a label of its own, in order."""
        return np.array_equal(self.labels, np.arange(len(self.labels)))


@dataclass(frozen=True, eq=False)
class WeightPrior:
    """Prior of positive weights whose logarithms are sums of shared parts.

    A pair of matrices enters through its `gain`: the utility of the first minus that of the second is ``w @ gain``. In
    the family dlpm, w holds the k rewards of the hits; in lpm, the q = k^2 - k costs of the errors in row-major order
    (Hiranandani et al. 2019, section 2, with the sign reversed).

    Parameters
    ----------
    family : {"dlpm", "lpm"}
        The family of the metric.
    n_classes : int
        k, at least 2.
    parts : tuple of SharedPart
        Parts of the log-weights; in the last one every weight has a label of its own.
    order : ndarray of int, shape (n, 2)
        Rows (i, j): weight i is never larger than weight j.
    """

    family: Family
    n_classes: int
    parts: tuple[SharedPart, ...]
    order: NDArray[np.intp]

    @classmethod
    def of(
        cls,
        family: Family,
        n_classes: int,
        structure: Structure = "auto",
        constraints: Sequence[NeverWorse] = (),
        piles: Sequence[Sequence[tuple[int, int]]] = (),
        shares: Matrix | None = None,
    ) -> WeightPrior:
        """Build the prior of a family.

        Parameters
        ----------
        family : {"dlpm", "lpm"}
            The family of the metric.
        n_classes : int
            k, at least 2.
        structure : {"iid", "structured", "auto"}
            Independent log-weights, or row + column + own part (lpm only); auto: structured above five classes.
        constraints : sequence of NeverWorse
            Orders that certainly hold.
        piles : sequence of sequence of (true, predicted)
            Mistakes of about the same consequence; those in no pile form one more.
        shares : ndarray of shape (k,), optional
            Shares of the true classes. Mistakes on a rare class are then expected to cost more.

        Raises
        ------
        Problem
            If the family has no such belief, a mistake is none or in two piles, or orders contradict each other.
        """
        if is_fraction(family):
            raise Problem(f"The procedure bayes knows the families dlpm and lpm, not {family!r}.")
        m = family_of(family).n_weights(n_classes)
        parts = [] if shares is None else _power_of_rarity(shares, family, n_classes)
        own = SPREAD
        if family_of(family).distinguishes_errors and (
            structure == "structured" or (structure == "auto" and n_classes > STRUCTURED_ABOVE)
        ):
            true, predicted = np.nonzero(error_cells(n_classes))
            parts += [SharedPart(true, ROW_SPREAD), SharedPart(predicted, COLUMN_SPREAD)]
            own = OWN_SPREAD
        if piles:
            parts.append(SharedPart(pile_labels(piles, family, n_classes, m), PILE_SPREAD))
            own = OWN_SPREAD
        parts.append(SharedPart(np.arange(m), own))
        pairs = [(_index(c.mistake, family, n_classes), _index(c.than, family, n_classes)) for c in constraints]
        if not family_of(family).distinguishes_errors:
            pairs = [(small, large) for small, large in pairs if small != large]  # the same weight
        order = np.array(pairs, dtype=np.intp).reshape(-1, 2)
        _require_no_circle(order, m)
        return cls(family, n_classes, tuple(parts), order)

    @property
    def size(self) -> int:
        """Return m, the number of weights."""
        return len(self.parts[-1].labels)

    @property
    def n_gains(self) -> int:
        """Return the length of a `gain`, which equals the number of weights."""
        return self.size

    @cached_property
    def factor(self) -> Matrix:
        """Return the lower triangular (m, m) matrix that turns independent scores into log-weights."""
        if len(self.parts) == 1:
            return np.asarray(self.parts[0].spread * np.eye(len(self.parts[0].labels)))
        return np.asarray(np.linalg.cholesky(self._squares))

    @property
    def _squares(self) -> Matrix:
        return np.asarray(sum(part.squares for part in self.parts))

    @cached_property
    def centre(self) -> Matrix:
        """Return the centres of the log-weights, shape (m,)."""
        return np.asarray(sum(part.mean * part.factors for part in self.parts))

    @property
    def remark(self) -> str:
        """Return what a report says of the prior where it is not the usual one, after the method."""
        return " Mistakes on a rare class were expected to cost more." if self.centre.any() else ""

    @property
    def n_learned(self) -> int:
        """Return the number of parts whose spreads are learned where spreads are."""
        return sum(part.is_learned for part in self.parts)

    @cached_property
    def covariance(self) -> Matrix:
        """Return the covariance of the log-weights, shape (m, m): that of a Student t with 4 degrees of freedom."""
        return np.asarray(_VARIANCE * self._squares)

    @cached_property
    def centred_variances(self) -> Matrix:
        """Return the variances of the log-weights minus the mean of all, shape (m,)."""
        found = np.zeros(self.size)
        for part in self.parts:
            factors = part.factors
            means = np.bincount(part.labels, factors) / self.size
            found += part.spread**2 * (factors**2 - 2 * factors * means[part.labels] + (means**2).sum())
        return np.asarray(_VARIANCE * found)

    def spreads_at(self, scores: Matrix) -> Matrix:
        """Return spreads of the parts, shape (h, parts), with logarithms at the first of some normal scores (h, c)."""
        learned = np.array([part.is_learned for part in self.parts])
        scored = np.zeros((len(scores), len(self.parts)))
        scored[:, learned] = scores[:, : self.n_learned]
        return np.exp(np.log([part.spread for part in self.parts]) + _SPREAD_OF_SPREADS * scored)

    def with_deviations(self, deviations: Sequence[float] | Matrix) -> WeightPrior:
        """Return the prior with other standard deviations of the parts."""
        parts = zip(self.parts, deviations, strict=True)
        return replace(self, parts=tuple(part._replace(spread=float(own / np.sqrt(_VARIANCE))) for part, own in parts))

    def shares_parts_with(self, other: WeightPrior) -> bool:
        """Return whether the same log-weights share parts in both."""
        return len(self.parts) == len(other.parts) and all(
            np.array_equal(one.labels, its.labels) for one, its in zip(self.parts, other.parts, strict=True)
        )

    def log_weights(self, x: Matrix) -> Matrix:
        """Return the log-weights, shape (..., m), at standard normal coordinates x, shape (..., m)."""
        scores = heavy_tailed(x)
        if len(self.parts) == 1:
            return np.asarray(self.parts[0].spread * scores)
        return np.asarray(scores @ self.factor.T + self.centre)

    def coordinates(self, log_weights: Matrix) -> Matrix:
        """Return the inverse of `log_weights`."""
        return normal_scores(
            np.asarray(np.linalg.solve(self.factor, (log_weights - self.centre).T).T, dtype=np.float64)
        )

    def log_odds_of_wider(self, log_weights: Matrix, times: float) -> Matrix:
        """Return how much likelier draws (n, m) are if log-weights vary `times` as much; a constant is left out."""
        squares = np.linalg.solve(self.factor, (log_weights - self.centre).T) ** 2 / DEGREES
        return np.asarray((np.log1p(squares) - np.log1p(squares / times**2)).sum(axis=0) * (DEGREES + 1) / 2)

    def allowed(self, log_weights: Matrix) -> NDArray[np.bool_]:
        """Return which draws, shape (n, m), keep every stated order; shape (n,)."""
        return np.asarray((log_weights[:, self.order[:, 0]] <= log_weights[:, self.order[:, 1]]).all(axis=1))

    def in_order(self, log_weights: Matrix) -> Matrix:
        """Return draws, shape (n, m), with weights that violate a stated order exchanged."""
        logs = log_weights.copy()
        while not self.allowed(logs).all():
            for small, large in self.order:
                logs[:, [small, large]] = np.sort(logs[:, [small, large]], axis=1)
        return logs

    def index(self, true: int, predicted: int) -> int:
        """Return the index of a mistake among the weights.

        Raises
        ------
        Problem
            If it is not a mistake.
        """
        return _index((true, predicted), self.family, self.n_classes)

    def gain(self, first: Matrix, second: Matrix) -> Matrix:
        """Return the factor of the weights, (..., m), with u(first) - u(second) = w @ gain; rates (..., k, k)."""
        family = family_of(self.family)
        return np.asarray(family.sign * family.coordinates(np.asarray(first) - np.asarray(second)))

    def normalised(self, weights: Matrix) -> Matrix:
        """Scale positive weights, shape (..., m), to the family's normalisation (dlpm: sum 1; lpm: <= 0, norm 1)."""
        family = family_of(self.family)
        return family.normalise(family.sign * np.asarray(weights))


def _power_of_rarity(shares: Matrix, family: Family, k: int) -> list[SharedPart]:
    """Return the part by which weights grow with how many times rarer than `RARE` their true class is, if any is.

    Classes without cases are none, because nothing can be asked about them.
    """
    times = np.where(shares > 0, shares.max() / RARE / np.maximum(shares, _RAREST), 1.0)
    rarity = np.log(np.maximum(times, 1.0))[[key.true for key in family_of(family).mistakes(k)]]
    if not rarity.any():
        return []
    return [SharedPart(np.zeros(len(rarity), np.intp), _SPREAD_OF_POWER, rarity, _POWER, is_learned=False)]


def pile_labels(piles: Sequence[Sequence[tuple[int, int]]], family: Family, k: int, m: int) -> NDArray[np.intp]:
    """Return the pile of each of m weights, shape (m,); those in no pile share the last number."""
    labels = np.full(m, len(piles), dtype=np.intp)
    for number, pile in enumerate(piles):
        for mistake in pile:
            place = _index(mistake, family, k)
            if labels[place] not in (number, len(piles)):
                raise Problem(f"The mistake {tuple(mistake)} lies in two piles; leave it in one.")
            labels[place] = number
    return labels


def _index(mistake: tuple[int, int], family: Family, k: int) -> int:
    true, predicted = mistake
    if not (0 <= true < k and 0 <= predicted < k and true != predicted):
        raise Problem(f"A mistake is a true and another predicted class, both from 0 to {k - 1}, not {mistake}.")
    return family_of(family).index(true, predicted, k)


def _require_no_circle(order: NDArray[np.intp], m: int) -> None:
    """Raise an error if the orders would make some weight smaller than itself."""
    if not len(order):
        return
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(order)), (order[:, 0], order[:, 1])), shape=(m, m))
    rings, _ = connected_components(graph, directed=True, connection="strong")
    if rings < m or (order[:, 0] == order[:, 1]).any():
        raise Problem("The stated orders contradict each other; remove one of them.")
