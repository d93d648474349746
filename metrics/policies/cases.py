"""Policies, and the joint table of truth and the decisions of all policies.

Judging counted decisions needs only the number of cases for each truth and each combination of decisions. This table is
small, can be summed over parts of the rows, and preserves the pairing of the policies.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.errors import InputError
from metrics.inputs.arguments import Floats, matrix_of, same_length
from metrics.inputs.class_index import ClassIndex
from metrics.inputs.labels import label_array

Decides = Literal["as-is", "least-cost", "always", "practice"]

PRACTICE = "present practice"
# With more combinations than this, cases are kept in groups instead.
MOST_PATTERNS = 8_192
_MOST_PEOPLE = 2**16
_GROUPS = 512
# Multiplied by 2^64 over the golden ratio, consecutive numbers differ in their upper nine bits, which tell the group.
_SCRAMBLE, _LOWER_BITS = np.uint64(0x9E3779B97F4A7C15), np.uint64(64 - 9)
_LARGEST_CODE = 2**62
_FEW_CODES = 2**17


@dataclass(frozen=True)
class Policy:
    """A policy: one way to decide cases.

    Parameters
    ----------
    name : str
        "Cell outline, with these costs", "always malignant", "present practice".
    decides : {"as-is", "least-cost", "always", "practice"}
        For the most probable class; for the class of least expected cost; for one class in every case; as people do
        today.
    model : str or None
        The model whose probabilities are used.
    predicted : int or None
        Index of the class that is always predicted.
    recalibrated : bool
        Whether the model's probabilities are recalibrated first; see `metrics.policies.recalibration`.
    correction : tuple of float or None
        Factors by which its probabilities are corrected for a stated prevalence, one per class; see `correction_for`.
    labels_only : bool
        Whether the model gives only labels, as human readers do.
    """

    name: str
    decides: Decides
    model: str | None = None
    predicted: int | None = None
    recalibrated: bool = False
    correction: tuple[float, ...] | None = None
    labels_only: bool = False


def always(classes: Sequence[str]) -> tuple[Policy, ...]:
    """Return the trivial policies, one per class, which need no model."""
    return tuple(Policy(f"always {name}", "always", predicted=index) for index, name in enumerate(classes))


def of_model(
    model: str, labels_only: bool = False, recalibrated: bool = False, correction: tuple[float, ...] | None = None
) -> tuple[Policy, ...]:
    """Return the policies of a model: as it decides now, with the costs, and recalibrated or corrected if requested.

    A model that gives only labels has the first policy alone. Costs cannot change its decisions, and a second,
    identical policy would split the probability of being best.
    """
    policies = [Policy(f"{model}, as it decides now", "as-is", model, labels_only=labels_only)]
    if not labels_only:
        policies.append(Policy(f"{model}, with these costs", "least-cost", model))
    if recalibrated:
        policies.append(Policy(f"{model}, recalibrated, with these costs", "least-cost", model, recalibrated=True))
    if correction is not None:
        first = "recalibrated and corrected" if recalibrated else "corrected"
        name = f"{model}, {first}, with these costs"
        policies.append(Policy(name, "least-cost", model, recalibrated=recalibrated, correction=correction))
    return tuple(policies)


@dataclass(frozen=True, eq=False)
class Practice:
    """Present practice, as a table that somebody entered."""

    rates: Floats  # shape (k, k): shares of the decisions for the cases of each true class; rows sum to 1
    # shape (k, k): the counts behind the rates, which determine their uncertainty; None if only rates are known, which
    # are then taken as exact
    counts: Floats | None = None

    @classmethod
    def of(cls, table: ArrayLike, classes: Sequence[str]) -> Self:
        """Read a table of counts (whole numbers) or rates, whose prevalence does not matter; a frame is read by name.

        Raises InputError if the shape is wrong, a number is negative, or a row is empty.
        """
        values = matrix_of(table, ClassIndex(list(classes)), "practice")
        if (values < 0).any():
            raise InputError(f"practice: counts or rates >= 0 were expected, found {values.min():g}.")
        rows = values.sum(axis=1, keepdims=True)
        if not rows.all():
            raise InputError(
                f"practice: the row of {classes[int(rows.argmin())]!r} is empty; each true class needs one."
            )
        counted = bool((values == np.round(values)).all()) and bool((rows > 1).any())
        return cls(values / rows, values if counted else None)


class People(NamedTuple):
    """How many people the cases are of, where several cases may be of one person."""

    total: int
    by_class: NDArray[np.int64]  # shape (k,): number of those with a case of each true class


class PeopleCount:
    """Counts the different people of cases in any order and in bounded memory.

    The numbers are exact up to `_MOST_PEOPLE`. Beyond that only people are kept whose number ends in enough zero bits,
    and stand for all (adaptive sampling: P. Flajolet, Computing 43, 1990).
    """

    def __init__(self, n_classes: int) -> None:
        self._all = np.zeros(0, dtype=np.int64)
        self._of_class = [self._all] * n_classes
        self._bits = 0
        self._is_repeated = False

    def update(self, people: NDArray[np.int64], y_true: NDArray[np.int64]) -> None:
        """Add cases: the numbers of the people whose they are, (n,), and their true classes, (n,)."""
        kept = self._is_kept(people)
        people, y_true = people[kept], y_true[kept]
        different = np.unique(people)
        by_class = [np.unique(people[y_true == label]) for label in range(len(self._of_class))]
        self._join(different, by_class, len(different) < len(people))

    def merge(self, other: PeopleCount) -> None:
        """Add the people of other cases."""
        self._bits = max(self._bits, other._bits)
        self._join(other._all, other._of_class, other._is_repeated)

    def people(self) -> People | None:
        """Return how many people there are; None if nobody has several cases, or one person has all of them."""
        if not self._is_repeated or len(self._all) == 1:
            return None
        return People(len(self._all) << self._bits, np.array([len(own) << self._bits for own in self._of_class]))

    def _join(self, people: NDArray[np.int64], by_class: Sequence[NDArray[np.int64]], is_repeated: bool) -> None:
        before, new = (some[self._is_kept(some)] for some in (self._all, people))
        self._all = np.union1d(before, new)
        self._is_repeated |= is_repeated or len(self._all) < len(before) + len(new)
        while len(self._all) > _MOST_PEOPLE:
            self._bits += 1
            self._all = self._all[self._is_kept(self._all)]
        joined = (np.union1d(own, more) for own, more in zip(self._of_class, by_class, strict=True))
        self._of_class = [own[self._is_kept(own)] for own in joined]

    def _is_kept(self, people: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.asarray(people & ((1 << self._bits) - 1) == 0)


def numbered_groups(groups: ArrayLike | None, n_cases: int) -> NDArray[np.int64] | None:
    """Return the groups of cases as numbers 0, 1, ..., shape (n,); None if there are none, or none of several cases.

    Raises InputError if there is not one for each case.
    """
    if groups is None:
        return None
    labels = label_array(groups, "groups")
    same_length(n_cases, len(labels), "groups")
    numbers = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    return numbers if are_several_of_one(numbers) else None


def are_several_of_one(people: NDArray[np.int64]) -> bool:
    """Return whether several cases are of one person, but not all, given the number of each case's person, (n,)."""
    return 1 < len(np.unique(people)) < len(people)


@dataclass(frozen=True, eq=False)
class CaseTable:
    """The cases of each true class, in units that share one weight in the bootstrap."""

    cases: NDArray[np.int64]  # shape (k,): number of cases by true class
    # shape (units,): for each true class, the shape parameter of the gamma distribution of each unit's weight
    weights: tuple[Floats, ...]
    # shape (units, policies, k): for each true class, unit and policy, the shares of the decisions, in units of the
    # weight
    decided: tuple[Floats, ...]
    grouped: bool  # whether the units are groups of cases rather than combinations of decisions; see `CaseTally`
    # where units are groups of people, the same in every class, whose weights are shared by the classes
    people: People | None = None
    by_pattern: CaseTable | None = None  # the same cases by combinations of decisions, where groups are of people

    @property
    def patterns(self) -> CaseTable | None:
        """Return the table whose units are combinations of decisions; None if there are too many."""
        return self.by_pattern if self.grouped else self

    @property
    def n_classes(self) -> int:
        """Return k."""
        return len(self.cases)

    @property
    def rates(self) -> Floats:
        """Return the shares of each policy's decisions for the cases of each true class, shape (k, policies, k)."""
        found: Floats = np.array(
            [np.einsum("u,upj->pj", w, d) for w, d in zip(self.weights, self.decided, strict=True)]
        )
        cases = found[:, :1].sum(axis=2, keepdims=True)
        return np.asarray(np.divide(found, cases, out=np.zeros_like(found), where=cases > 0))


class CaseTally:
    """Sums the joint table of truth and decisions over parts of the rows, in any order and in bounded memory.

    Up to `MOST_PATTERNS` combinations of a truth with the decisions of all policies, the cases of one combination share
    a weight Gamma(number of cases), which is exactly the Bayesian bootstrap (D. Rubin, "The Bayesian bootstrap", Annals
    of Statistics 9, 1981). Beyond that the cases of a class are dealt in turn to 512 groups with one exponential weight
    each. The variance is the same, but known only within about 3 %.

    Where several cases are of one person, people are dealt to the groups, and a group has one weight in all classes
    (the cluster bootstrap: A. Davison and D. Hinkley, "Bootstrap Methods and their Application", 1997, section 3.8).

    Unless there are several parts (`in_parts`), groups are counted only when they are needed.
    """

    def __init__(self, n_classes: int, n_policies: int, *, in_parts: bool = True) -> None:
        self._in_parts = in_parts
        self.n_classes, self.n_policies = n_classes, n_policies
        self._codes: NDArray[np.int64] | None = np.zeros(0, dtype=np.int64)
        self._times = np.zeros(0, dtype=np.int64)
        if n_classes ** (n_policies + 1) > _LARGEST_CODE:
            self._codes = None
        self._groups = self._no_cases() if in_parts else np.zeros(0, dtype=np.int32)
        self._of_people = np.zeros(0, dtype=np.int32)
        self._people = PeopleCount(n_classes)
        self._rows = 0

    def update(
        self,
        y_true: NDArray[np.int64],
        decisions: NDArray[np.int64],
        first_row: int,
        people: NDArray[np.int64] | None = None,
    ) -> None:
        """Add rows: the true classes, (n,), and what each policy decides for, (policies, n), as indices of classes.

        `first_row` is the number of rows before these in all parts together; it determines the groups of the rows.
        `people`, (n,), are numbers of the people whose cases they are, if they are known.
        """
        k = self.n_classes
        self._rows += len(y_true)
        if people is not None:
            dealt = (people.astype(np.uint64) * _SCRAMBLE >> _LOWER_BITS).astype(np.int64)
            if not len(self._of_people):
                self._of_people = self._no_cases()
            self._count(self._of_people, y_true, decisions, dealt)
            self._people.update(people, y_true)
        if self._codes is not None:
            codes = y_true.astype(np.int64)
            for column in decisions:
                codes = codes * k + column
            self._add(*_counted(codes, k ** (len(decisions) + 1)))
        if not self._in_parts:
            if self._codes is not None:
                return
            self._groups = self._no_cases()  # 25 MB for fifty classes, and few tables need it
        self._count(self._groups, y_true, decisions, (first_row + np.arange(len(y_true))) % _GROUPS)

    def merge(self, other: CaseTally) -> None:
        """Add the counts of another tally with the same classes and policies."""
        self._groups += other._groups
        self._rows += other._rows
        if len(other._of_people):
            self._of_people = self._of_people + other._of_people if len(self._of_people) else other._of_people.copy()
        self._people.merge(other._people)
        if other._codes is None:
            self._codes = None
        elif self._codes is not None:
            self._add(other._codes, other._times)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Return the confusion matrix of each policy, shape (policies, k, k); rows are true classes."""
        return np.asarray(self._groups.sum(axis=1, dtype=np.int64).transpose(1, 0, 2))

    @property
    def people(self) -> People | None:
        """Return how many people the rows so far are of; None if that is unknown of some, or all are different."""
        is_known = len(self._of_people) and self._of_people[:, :, 0].sum() == self._rows
        return self._people.people() if is_known else None

    def table(self) -> CaseTable:
        """Return the table of all rows added so far."""
        people = self.people
        if people is not None:
            return self._by_person(people)
        return self._grouped() if self._codes is None else self._by_pattern(self._codes)

    def _no_cases(self) -> NDArray[np.int32]:
        return np.zeros((self.n_classes, _GROUPS, self.n_policies, self.n_classes), dtype=np.int32)

    def _count(
        self, groups: NDArray[np.int32], y_true: NDArray[np.int64], decisions: NDArray[np.int64], of: NDArray[np.int64]
    ) -> None:
        """Add rows to groups, given the group of each row, (n,)."""
        k = self.n_classes
        places = y_true * _GROUPS + of
        for policy, column in enumerate(decisions):
            found = np.bincount(places * k + column, minlength=k * _GROUPS * k)
            groups[:, :, policy] += found.reshape(k, _GROUPS, k).astype(np.int32)

    def _add(self, codes: NDArray[np.int64], times: NDArray[np.int64]) -> None:
        assert self._codes is not None
        joined, place = np.unique(np.concatenate([self._codes, codes]), return_inverse=True)
        counts = np.bincount(place, weights=np.concatenate([self._times, times]), minlength=len(joined))
        self._codes, self._times = (
            (joined, counts.astype(np.int64)) if len(joined) <= MOST_PATTERNS else (None, times[:0])
        )

    def _by_pattern(self, codes: NDArray[np.int64]) -> CaseTable:
        k, rest, columns = self.n_classes, codes, []
        for _ in range(self.n_policies):
            rest, column = np.divmod(rest, k)
            columns.append(column)
        decided = np.eye(k)[np.array(columns[::-1], dtype=np.int64).reshape(self.n_policies, -1).T]
        rows = [rest == true for true in range(k)]
        return CaseTable(
            cases=np.bincount(rest, weights=self._times, minlength=k).astype(np.int64),
            weights=tuple(self._times[own].astype(np.float64) for own in rows),
            decided=tuple(decided[own] for own in rows),
            grouped=False,
        )

    def _grouped(self) -> CaseTable:
        filled = self._groups[:, :, 0].sum(axis=2) > 0
        return CaseTable(
            cases=self.counts[0].sum(axis=1),
            weights=tuple(np.ones(int(own.sum())) for own in filled),
            decided=tuple(part[own].astype(np.float64) for part, own in zip(self._groups, filled, strict=True)),
            grouped=True,
        )

    def _by_person(self, people: People) -> CaseTable:
        filled = self._of_people[:, :, 0].sum(axis=(0, 2)) > 0
        decided = self._of_people[:, filled].astype(np.float64)
        return CaseTable(
            cases=self._of_people[:, :, 0].sum(axis=(1, 2), dtype=np.int64),
            weights=(np.ones(int(filled.sum())),) * self.n_classes,
            decided=tuple(decided),
            grouped=True,
            people=people,
            by_pattern=None if self._codes is None else self._by_pattern(self._codes),
        )


def _counted(codes: NDArray[np.int64], n_codes: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the codes that occur, ascending, with their counts; avoids sorting if few codes are possible."""
    if n_codes > _FEW_CODES:
        return np.unique(codes, return_counts=True)
    times = np.bincount(codes, minlength=n_codes)
    found = np.flatnonzero(times)
    return found, times[found]


def case_table(
    y_true: ArrayLike, decisions: Iterable[ArrayLike], n_classes: int, people: NDArray[np.int64] | None = None
) -> CaseTable:
    """Return the joint table of cases in memory; parameters as in `CaseTally.update`."""
    table = np.array([np.asarray(column, dtype=np.int64) for column in decisions])
    tally = CaseTally(n_classes, len(table), in_parts=False)
    tally.update(np.asarray(y_true, dtype=np.int64), table, 0, people)
    return tally.table()
