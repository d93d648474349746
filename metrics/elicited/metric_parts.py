"""The parts of an elicited metric other than its costs, and the checks on its fields."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from metrics.elicited.family import checked_cost_matrix, family_of
from metrics.elicited.kinds import AnswersFor, KindName
from metrics.errors import ArgumentTypeError, InputError
from metrics.inputs.arguments import Floats

if TYPE_CHECKING:
    from pydantic import ConfigDict

# Redundant numbers in a file may differ by this much, because people round what they write.
TOLERANCE = 1e-6
_SIGNIFICANT, _DRAWS_AT_ONCE = 6, 50  # digits of the draws; rounded at a time, so that they stay in the cache
_POWERS_OF_TEN = 10.0 ** np.arange(23)  # all that floating point represents exactly
MOST_WEIGHTS_OF_ALL_DRAWS = 600
"""With more weights a metric keeps fewer of a belief's 1,000 draws, and its intervals state the ranges of all."""
_MOST_NUMBERS = 1_000 * MOST_WEIGHTS_OF_ALL_DRAWS  # in the draws of a metric: its file takes 9 MB at most

CHOICE_SETTLED = "the choice was settled before the costs were known"
UNTRUSTED = "the answers do not hang together"
OPPOSED = "experts of opposed values are pooled in them"
UNTRUSTED_AMONG = "answers that do not hang together are pooled in them"
AGAINST_AN_ORDER = "the answers contradict an order that was stated"
AGAINST_AN_ORDER_AMONG = "answers that contradict an order that was stated are pooled in them"
NOT_TO_DECIDE_BY = (UNTRUSTED, OPPOSED, UNTRUSTED_AMONG, AGAINST_AN_ORDER, AGAINST_AN_ORDER_AMONG)
"""The reasons for which a metric should not be used for any decision."""
STATED = ("ordered", "never_worse", "piles")
"""Parameters: what the expert stated before the questions."""
DEVIATIONS, SPREAD = "deviations_of_log_costs", "spread_between_experts"
"""Parameters: learned deviations of log-costs (by true class, predicted class, pile, and own); spread of experts."""

OTHER_VALUES: Mapping[str, str] = {
    "concave": "Each further mistake of a kind seems to count less than the one before",
    "minimax": "Only the class with the largest share of mistakes seems to count",
    "threshold": "Too many mistakes in one class seem to rule a result out",
    "f1": "The answers seem to follow F1",
}
"""What explains the answers better than costs that add up, by the name in `Quality.linear` -> in words."""

# Validation of these parts when a file is read: no unknown fields, no strings in place of numbers.
_STRICT: ConfigDict = {"extra": "forbid", "strict": True}


@dataclass(frozen=True)
class Consequence:
    """The expert's words for one mistake.

    Parameters
    ----------
    true : str
        The true class.
    predicted : str or None
        The predicted class; None stands for any wrong answer for that truth.
    name : str
        A title: "Missed melanoma".
    one, many : str
        Singular and plural inside a sentence: "missed melanoma", "missed melanomas"; may be empty.
    consequence : str
        One sentence: "Sent home. Found later, harder to treat."; may be empty.
    """

    true: str
    predicted: str | None
    name: str
    one: str = ""
    many: str = ""
    consequence: str = ""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT


@dataclass(frozen=True)
class CaseWords:
    """The domain's words for cases and classes, used in sentences.

    Parameters
    ----------
    case, cases : str
        What is classified, singular and plural: "patient", "patients".
    classes : tuple of k str
        What a case of each class is called: "cancer".
    actions : tuple of k str, optional
        What is done with a case of each predicted class, as an instruction: "biopsy"; "" if nothing is stated.
    """

    case: str
    cases: str
    classes: tuple[str, ...]
    actions: tuple[str, ...] = ()

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    @classmethod
    def plain(cls, classes: Sequence[str]) -> Self:
        """Return plain words for a metric that names only its classes."""
        return cls("case", "cases", tuple(classes))

    def action(self, at: int) -> str:
        """Return what is done with a case of a predicted class; empty if nothing is stated."""
        return self.actions[at] if self.actions else ""

    def rule(self, at: int) -> str:
        """Return, in words, the rule that predicts one class for every case.

        >>> CaseWords("patient", "patients", ("cancer", "harmless")).rule(0)
        'call every patient cancer'
        >>> CaseWords("patient", "patients", ("cancer", "harmless"), ("biopsy", "")).rule(0)
        'biopsy in every case'
        """
        action = self.action(at)
        return f"{action} in every case" if action else f"call every {self.case} {self.classes[at]}"

    def following(self, at: int) -> str:
        """Return that rule as a noun phrase: "calling every patient cancer", "the rule “biopsy in every case”"."""
        rule = self.rule(at)
        return f"the rule “{rule}”" if self.action(at) else rule.replace("call ", "calling ", 1)


@dataclass(frozen=True)
class Provenance:
    """The origin of the weights.

    Parameters
    ----------
    procedure : str
        The procedure that asked: "dlpm", "lpm", "bayes", ...; "stated" if somebody wrote the costs down.
    version : str
        Version of the program.
    parameters : mapping
        Settings of the procedure, as JSON values.
    seed : int or None
        Seed of the random generator.
    questions : int
        Number of answers used.
    study_digest, answers_digest : str or None
        SHA-256 of the study and of the answers, in hexadecimal.
    expert : str or None
        Name of the person who answered, if they want to be named.

    Raises
    ------
    InputError
        If a parameter is not a JSON value.
    """

    procedure: str = "stated"
    version: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    questions: int = 0
    study_digest: str | None = None
    answers_digest: str | None = None
    expert: str | None = None

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    def __post_init__(self) -> None:
        try:
            json.dumps(dict(self.parameters), allow_nan=False)
        except (TypeError, ValueError) as error:
            raise InputError(f"parameters: JSON values were expected ({error})") from None

    @property
    def pooled(self) -> tuple[Mapping[str, Any], ...]:
        """Return what is known of each metric pooled into this one; empty if it is not pooled."""
        parts = self.parameters.get("of")
        return tuple(part for part in parts if isinstance(part, Mapping)) if isinstance(parts, list | tuple) else ()


@dataclass(frozen=True)
class Tally:
    """A count out of a total.

    Parameters
    ----------
    agreed : int
        The count, at least 0.
    of : int
        The total, at least `agreed`.

    Raises
    ------
    InputError
        If `agreed` is negative or greater than `of`.
    """

    agreed: int
    of: int

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    def __post_init__(self) -> None:
        if not 0 <= self.agreed <= self.of:
            raise InputError(f"{self.agreed} of {self.of}: a number from 0 to {self.of} was expected")

    def __str__(self) -> str:
        """Return "13 of 15"."""
        return f"{self.agreed} of {self.of}"


@dataclass(frozen=True)
class Quality:
    """How well the answers support the weights; None for what was not examined.

    Parameters
    ----------
    repeats_agreed : Tally or None
        Repeated questions that received the same answer again.
    answers_explained : Tally or None
        Answers that the weights reproduce.
    held_out_agreement : Tally or None
        Held-out answers predicted by weights learned from the others.
    purpose : {"choose", "costs", "both"} or None
        The purpose of the answers: to choose between models, to write down what mistakes cost, or both.
        `answers_for` has the words.
    provisional : str or None
        Why the weights should not be relied on yet, in words; None if nothing speaks against them.
    never_asked : tuple of (str, str or None)
        Mistakes that no question covered, as (true, predicted), with None for any wrong answer.
    linear : bool, str or None
        Whether additive costs fit the answers: True, or the name of the rule that fits better.
    simulated : bool
        Whether a program answered in place of a person.
    """

    repeats_agreed: Tally | None = None
    answers_explained: Tally | None = None
    held_out_agreement: Tally | None = None
    purpose: AnswersFor | None = None
    provisional: str | None = None
    never_asked: tuple[tuple[str, str | None], ...] = ()
    linear: bool | str | None = None
    simulated: bool = False

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    @property
    def source(self) -> str:
        """Return a sentence saying that a program answered; empty otherwise."""
        return "A program answered, not a person." if self.simulated else ""

    @property
    def other_values(self) -> str:
        """Return what explains the answers better than costs that add up, in words; empty if nothing is known to.

        >>> Quality(linear="f1").other_values
        'The answers seem to follow F1'
        """
        return OTHER_VALUES.get(self.linear, self.linear) if isinstance(self.linear, str) else ""

    @property
    def caveat(self) -> str:
        """Return a sentence that readers need before they use the costs; empty if there is no caveat.

        >>> Quality(provisional=CHOICE_SETTLED).caveat
        'The questions ended when answers would hardly change the choice; the costs are not known closely.'
        >>> Quality(provisional="only 6 answers").caveat
        'The numbers are provisional: only 6 answers.'
        """
        if self.provisional is None:
            return ""
        if self.provisional == CHOICE_SETTLED:
            # Said as what happened: other cases, models or prevalences may unsettle the choice again.
            return "The questions ended when answers would hardly change the choice; the costs are not known closely."
        return f"The numbers are provisional: {self.provisional.rstrip('.')}."


class MetricDetails(TypedDict, total=False):
    """Optional fields of a metric when it is made, besides classes and weights; see `ElicitedMetric`."""

    name: str
    created: datetime
    intervals: ArrayLike | None
    samples: ArrayLike | None
    prevalence: ArrayLike | Mapping[Any, float] | None
    population: int | None
    consequences: Sequence[Consequence]
    words: CaseWords | None
    yardstick: tuple[object, object] | None
    provenance: Provenance
    quality: Quality
    kind: KindName


def _owned(values: ArrayLike) -> Floats:
    """Return a float array that nobody else can write to: a copy, unless the array is already read-only."""
    shared = isinstance(values, np.ndarray) and values.flags.owndata and not values.flags.writeable
    return np.asarray(values, dtype=np.float64) if shared else np.array(values, dtype=np.float64)


def frozen(values: ArrayLike, name: str, shape: tuple[int | None, ...]) -> Floats:
    """Return a read-only float array after checking its shape (None: any length) and that it holds no NaN."""
    try:
        array: Floats = _owned(values)
    except (TypeError, ValueError, OverflowError):
        array = np.empty(0)
    if array.ndim != len(shape) or any(n not in (None, m) for n, m in zip(shape, array.shape, strict=True)):
        expected = " x ".join("any number" if n is None else str(n) for n in shape)
        raise InputError(f"{name}: {expected} numbers were expected")
    if np.isnan(array).any():
        raise InputError(f"{name}: holds NaN, every entry must be a number")
    array.flags.writeable = False
    return array


def checked_weights(weights: ArrayLike, family: str, k: int) -> Floats:
    """Return the weights, read-only, after checking their number, signs and normalisation."""
    values = np.array(weights, dtype=np.float64)
    metric_family = family_of(family)
    if values.shape != (metric_family.n_weights(k),):
        raise InputError(
            f"weights: {metric_family.n_weights(k)} numbers were expected for {k} classes of family {family!r}"
        )
    if np.abs(metric_family.normalise(values) - values).max() > TOLERANCE:
        raise InputError(f"weights: the weights of family {family!r} must {metric_family.normalised}")
    values.flags.writeable = False
    return values


def checked_costs(cost_matrix: ArrayLike, weights: Floats, family: str) -> Floats:
    """Return the cost matrix, read-only, after checking its scale and its agreement with the weights."""
    expected = family_of(family).costs(weights)
    values = frozen(cost_matrix, "cost_matrix", expected.shape)
    checked_cost_matrix(values)
    if abs(values.max() - 1) > TOLERANCE:
        raise InputError(f"cost_matrix: the largest cost is {values.max():g}, it must be 1")
    if np.abs(values - expected).max() > TOLERANCE:
        if np.abs(values.T - expected).max() <= TOLERANCE:
            raise InputError("cost_matrix: is transposed: rows must be true classes, columns predicted classes")
        i, j = map(int, np.argwhere(np.abs(values - expected) > TOLERANCE)[0])
        raise InputError(
            f"cost_matrix: row {i}, column {j} holds {values[i, j]:g}, the weights give {expected[i, j]:g}; "
            "one of them was changed"
        )
    return values


def checked_intervals(intervals: ArrayLike, k: int) -> Floats:
    """Return the 90 % intervals of the costs, read-only, after checking them; an upper end may be infinite."""
    values = frozen(intervals, "intervals", (k, k, 2))
    low, high = values[..., 0], values[..., 1]
    bad = ~np.isfinite(low) | (low < 0) | (high < low)
    if bad.any():
        i, j = map(int, np.argwhere(bad)[0])
        raise InputError(
            f"intervals: row {i}, column {j} holds [{low[i, j]:g}, {high[i, j]:g}]; 0 <= low <= high was expected"
        )
    return values


def ranges_of_draws(draws: ArrayLike) -> Floats:
    """Return the 90 % range of each number over the posterior draws.

    Parameters
    ----------
    draws : array-like of shape (draws, ...)
        For example release factors or class weights, one set per draw of the costs.

    Returns
    -------
    ndarray of shape (..., 2)
        The 5 % and 95 % quantiles.

    Examples
    --------
    >>> ranges_of_draws([[1.0, 2.0], [1.0, 4.0]])
    array([[1. , 1. ],
           [2.1, 3.9]])
    """
    return np.moveaxis(np.quantile(np.asarray(draws, dtype=np.float64), (0.05, 0.95), axis=0), 0, -1)


def range_of_draws(draws: ArrayLike) -> tuple[float, float]:
    """Return the 90 % range of one number over its draws, shape (draws,)."""
    low, high = ranges_of_draws(draws).tolist()
    return low, high


def intervals_around(costs: Floats, intervals: Floats | None) -> Floats | None:
    """Return intervals of costs, widened to include the estimates; files with a cost outside its interval are rejected.

    Parameters
    ----------
    costs : ndarray of shape (k, k)
        The estimates.
    intervals : ndarray of shape (k, k, 2) or None
        Their 90 % intervals.
    """
    if intervals is None:
        return None
    return np.stack([np.minimum(intervals[..., 0], costs), np.maximum(intervals[..., 1], costs)], axis=-1)


def checked_samples(samples: ArrayLike, family: str, n_weights: int) -> Floats:
    """Return the draws of the weights, read-only, after checking them."""
    values = frozen(samples, "samples", (None, n_weights))
    if not len(values):
        raise InputError("samples: at least one draw was expected; leave the field out (null) where there are none")
    try:
        family_of(family).signed(values)
    except ValueError as error:
        raise InputError(f"samples: {error}") from None
    return values


def rounded_draws(draws: Floats) -> Floats:
    """Return draws (n, weights) rounded to six digits, read-only: chance moves them far more, and files are shorter."""
    found = np.empty_like(draws)
    for at in range(0, len(draws), _DRAWS_AT_ONCE):
        some = slice(at, at + _DRAWS_AT_ONCE)
        own = draws[some]
        decade = np.floor(np.frexp(own)[1] * math.log10(2)).astype(np.intp)
        scale = _POWERS_OF_TEN.take(_SIGNIFICANT - decade, mode="clip")
        # Smaller draws would lose their digits, and in the end become 0, whose ratios are not finite.
        found[some] = np.where(np.abs(own) < 1e-16, own, np.rint(own * scale) / scale)
    found.flags.writeable = False
    return found


def kept_draws(draws: Floats) -> Floats:
    """Return the draws (n, weights) that a metric keeps: all, or of many weights evenly spaced ones, read-only."""
    n = min(len(draws), max(1, _MOST_NUMBERS // draws.shape[1]))
    if n == len(draws):
        return draws
    found: Floats = draws[((np.arange(n) + 0.5) * len(draws) / n).astype(np.intp)]
    found.flags.writeable = False
    return found


def checked_prevalence(prevalence: ArrayLike, k: int) -> Floats:
    """Return the shares of the true classes, read-only, after checking them."""
    values = frozen(prevalence, "prevalence", (k,))
    if (values < 0).any() or abs(values.sum() - 1) > TOLERANCE:
        raise InputError("prevalence: shares of the true classes were expected, none negative, with sum 1")
    return values


def checked_mistake(true: str, predicted: str | None, classes: Sequence[str], name: str) -> None:
    """Check that a mistake names known classes and is not a right answer."""
    for label in (true, predicted):
        if label is not None and label not in classes:
            raise InputError(f"{name}: {label!r} is not one of the metric's classes ({', '.join(classes)})")
    if true == predicted:
        raise InputError(f"{name}: {true!r} called {predicted!r} is a right answer, a mistake was expected")


def check_mistakes(
    consequences: Sequence[Consequence], yardstick: tuple[str, str] | None, quality: Quality, classes: Sequence[str]
) -> None:
    """Check that consequences, the yardstick, and what was never asked about, name mistakes."""
    for mistake in consequences:
        checked_mistake(mistake.true, mistake.predicted, classes, "consequences")
    for true, predicted in quality.never_asked:
        checked_mistake(true, predicted, classes, "never_asked")
    if yardstick is not None:
        checked_mistake(*yardstick, classes, "yardstick")


def check_words(words: CaseWords | None, classes: Sequence[str]) -> None:
    """Check that there are words for every class."""
    if words is None:
        return
    k = len(classes)
    if len(words.classes) != k or len(words.actions) not in (0, k):
        raise InputError(f"words: {k} classes, and as many actions or none, were expected")


def check_records(
    consequences: Sequence[Consequence], words: CaseWords | None, provenance: Provenance, quality: Quality
) -> None:
    """Check that the parts of a metric are records of this module; dictionaries would fail only when they are used."""
    given: list[tuple[str, object, type]] = [("provenance", provenance, Provenance), ("quality", quality, Quality)]
    given += [("words", words, CaseWords)] if words is not None else []
    given += [("consequences", stated, Consequence) for stated in consequences]
    for name, value, kind in given:
        if not isinstance(value, kind):
            raise ArgumentTypeError(f"{name}: a {kind.__name__} was expected, found {value!r}")


def check_name_and_time(name: object, created: object) -> None:
    """Check that the name is a string and that the time has a time zone."""
    if not isinstance(name, str):
        raise ArgumentTypeError(f"name: a text was expected, found {name!r}")
    if not isinstance(created, datetime) or created.tzinfo is None:
        raise InputError("created: a time with a time zone was expected, such as datetime.now(UTC)")
