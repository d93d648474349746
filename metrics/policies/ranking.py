"""Policies in the order of their costs, each with its uncertainty, and the value of information about the first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from metrics.elicited.exchange import mistake_words
from metrics.elicited.family import family_of
from metrics.elicited.metric_parts import NOT_TO_DECIDE_BY, CaseWords, Consequence, ranges_of_draws
from metrics.inputs.arguments import Floats
from metrics.measures.costs import EQUAL_COST
from metrics.policies.cases import People, Policy
from metrics.policies.costs import Unshown
from metrics.policies.information import Information, information, optimism
from metrics.text import counted, probability

FEW_OF_CLASS = 40  # with fewer cases, the bootstrap, which knows only mistakes that happened, is too sure
ENDS_WITH_FEW = 0.01, 0.99  # "more than 99 %" would claim what "at most" takes back

if TYPE_CHECKING:
    from metrics.elicited.elicited_metric import ElicitedMetric

Range = tuple[float, float]


@dataclass(frozen=True)
class Threshold:
    """The model's probability from which a case is called positive, with its 90 % range given the answers."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class JudgedPolicy:
    """A policy and its costs, per population and in units of the yardstick; lower is better.

    Parameters
    ----------
    policy : Policy
        The policy.
    threshold : Threshold or None
        Only for two classes and a model that decides with the costs.
    cost_per_population : float
        Cost at the metric's estimate and the counted cases.
    counts : ndarray of int64, shape (k, k)
        Confusion matrix of its decisions as natural frequencies in the population; rows are true classes.
    macro_f1 : float
        Mean F1 of the classes, for people who go by it; the order and the rank go by cost.
    cases : ndarray of shape (k,) or None
        Number of independent cases of each class on which its decisions were counted; None if they are known.
    rank : int
        Policies whose difference to the best may be 0 share rank 1; the others follow by cost.
    difference_to_best : float
        Extra cost over the recommended policy; 0 for that policy.
    interval, interval_answers, interval_cases : tuple of float or None
        90 % range of the cost: with both uncertainties, with that of the answers alone (None if the metric has no
        draws), and with that of the cases alone. None without draws.
    difference_interval, difference_answers, difference_cases : tuple of float or None
        The same for the difference.
    probability_best : float or None
        Share of the draws in which it costs least; tied policies share a draw equally. None without draws.
    """

    policy: Policy
    threshold: Threshold | None
    cost_per_population: float
    counts: NDArray[np.int64]
    macro_f1: float
    cases: NDArray[np.int64] | None
    rank: int
    difference_to_best: float
    interval: Range | None = None
    interval_answers: Range | None = None
    interval_cases: Range | None = None
    difference_interval: Range | None = None
    difference_answers: Range | None = None
    difference_cases: Range | None = None
    probability_best: float | None = None

    @property
    def name(self) -> str:
        """Return the name of the policy."""
        return self.policy.name


@dataclass(frozen=True)
class TooFewCases:
    """A class with too few cases for the bootstrap, which knows only mistakes that happened.

    Parameters
    ----------
    label : int
        Index of the true class.
    number : int
        Number of its cases, or of people with such cases if several cases may be of one person.
    of : {"cases", "people", "practice"}
        What the number counts: cases of the models, people, or cases of present practice.
    """

    label: int
    number: int
    of: Literal["cases", "people", "practice"] = "cases"

    def words(self, cases: CaseWords) -> str:
        """Return the number with its noun: "24 patients", "24 people"."""
        one, many = ("person", "people") if self.of == "people" else (cases.case, cases.cases)
        return counted(self.number, one, many)


@dataclass(frozen=True, eq=False)
class CostDraws:
    """Costs of p policies per population: the estimate (p,), and paired draws (b, p) with both uncertainties or one.

    `answers` is None if the metric has no draws, `anew` also where no probabilities are at hand: the costs (s, p) if
    decisions follow each of the first s draws of `answers`. `worth` (b,) is that of `UnitCosts`.
    """

    estimate: Floats
    both: Floats
    answers: Floats | None
    cases: Floats
    worth: Floats
    unshown: Unshown
    anew: Floats | None = None

    def of(self, places: Sequence[int]) -> CostDraws:
        """Return the costs of some of the policies."""
        at = list(places)
        answers, anew = (None if draws is None else draws[:, at] for draws in (self.answers, self.anew))
        unshown = self.unshown.of(at)
        return CostDraws(self.estimate[at], self.both[:, at], answers, self.cases[:, at], self.worth, unshown, anew)

    def against(self, first: int) -> CostDraws:
        """Return the costs for a comparison with the first policy: what no case shows may speak for the others."""
        both, cases = self.unshown.against(first)
        return replace(self, both=self.both - both, cases=self.cases - cases)


@dataclass(frozen=True, eq=False)
class Ranking:
    """Policies judged by an elicited metric; the recommended one comes first.

    Parameters
    ----------
    metric : ElicitedMetric
        The costs of mistakes.
    words : CaseWords
        The words of the domain.
    unit : tuple of int
        Cell (true, predicted) of the yardstick mistake, the unit of all costs.
    positive : int or None
        With two classes, the one predicted above a threshold; the yardstick is its false alarm.
    population : int
        Number of cases to which costs refer.
    prevalence : ndarray of shape (k,)
        Shares of the true classes.
    stated : bool
        Whether the prevalence is stated; a counted prevalence is uncertain.
    cases : ndarray of shape (k,)
        Number of cases by true class.
    n_draws : int
        Number of draws.
    model_names : tuple of str
        The models, in the order in which they were given, on which the draws depend.
    policies : tuple of JudgedPolicy
        In the order of `compared`; ties go to policies without a model, then to those that change nothing.
    sure : float or None
        Probability that no other policy costs less than the recommended one; None without draws.
    information : Information or None
        Value of information; None without draws.
    drawn : CostDraws
        The draws of the costs, in the order of `policies`.
    grouped : bool
        Whether the bootstrap weighs groups of cases; see `metrics.policies.cases.CaseTally`.
    people : People or None
        How many people the cases are of, if the bootstrap weighs people.
    notes : tuple of str
        Notes for the reader: uncertainty that was not counted, badly calibrated probabilities.
    """

    metric: ElicitedMetric
    words: CaseWords
    unit: tuple[int, int]
    positive: int | None
    population: int
    prevalence: Floats
    stated: bool
    cases: NDArray[np.int64]
    n_draws: int
    model_names: tuple[str, ...]
    policies: tuple[JudgedPolicy, ...]
    sure: float | None
    information: Information | None
    drawn: CostDraws
    grouped: bool
    people: People | None
    notes: tuple[str, ...] = ()

    @property
    def classes(self) -> tuple[str, ...]:
        """Return the k classes."""
        return self.metric.classes

    @property
    def n_cases(self) -> int:
        """Return the number of cases."""
        return int(self.cases.sum())

    @cached_property
    def too_few(self) -> TooFewCases | None:
        """Return the class with too few cases to be as sure as the draws are; None if there is none."""
        return few_cases(self.policies, self.prevalence, self.people is not None) if self.n_draws else None

    @cached_property
    def optimism(self) -> float:
        """Return how much more the recommended policy probably costs per population than `cost_per_population` says.

        It was chosen because it seemed the cheapest; see `metrics.policies.information.optimism`. 0 without draws, and
        for a policy without a model.
        """
        if not self.n_draws or self.best.policy.model is None:
            return 0.0
        return optimism(self.drawn.estimate, self.drawn.cases)

    @property
    def unit_name(self) -> str:
        """Return the name of the yardstick mistake."""
        return self.mistake(*self.unit).name

    def mistake(self, true: int, predicted: int) -> Consequence:
        """Return the expert's words for a mistake, with plain words in the gaps."""
        return mistake_words(self.metric, family_of(self.metric.family).mistake_at(true, predicted))

    @property
    def advice(self) -> str | None:
        """Return whether to decide now or to learn more first; None without draws."""
        found, few, reason = self.information, self.too_few, self.metric.quality.provisional
        if found is None:
            return None
        if reason in NOT_TO_DECIDE_BY:
            return f"Do not decide by these costs yet: {reason}"
        of_practice = few is not None and few.of == "practice"
        if few is None or found.kind == "answers" or (found.kind == "cases" and not of_practice):
            return found.advice
        number = few.words(self.words) if few.of == "people" else f"{few.number:,}"
        cases = f"{self.words.cases} of “{self.words.classes[few.label]}”"
        collect = f"Count more {cases} in present practice" if few.of == "practice" else f"Collect more {cases}"
        return (
            f"{collect} before you decide: {number} {'is' if few.number == 1 else 'are'} too few to show rare mistakes"
        )

    @property
    def best(self) -> JudgedPolicy:
        """Return the recommended policy."""
        return self.policies[0]

    @property
    def best_without_model(self) -> JudgedPolicy | None:
        """Return present practice if given, otherwise the cheapest policy that always predicts the same class."""
        found = [one for one in self.policies if one.policy.decides == "practice"]
        found += [one for one in self.policies if one.policy.decides == "always"]
        return found[0] if found else None

    def probability_text(self, one: JudgedPolicy) -> str:
        """Return a policy's probability of being best, for a table: "77 %", "≤ 77 %" if too few cases are behind it."""
        share = one.probability_best
        if share is None or one is not self.best or self.too_few is None:
            return probability(share)
        return f"≤ {probability(float(np.clip(share, *ENDS_WITH_FEW)))}"

    def named(self, name: str) -> JudgedPolicy:
        """Return the policy with a given name."""
        return next(one for one in self.policies if one.name == name)

    def among(self, wanted: Callable[[Policy], bool]) -> Self:
        """Return the ranking of a subset of the policies, from the same draws.

        Parameters
        ----------
        wanted : callable
            Returns whether a policy takes part; at least one must.
        """
        kept = [index for index, one in enumerate(self.policies) if wanted(one.policy)]
        policies = [self.policies[index] for index in kept]
        models = tuple(name for name in self.model_names if any(one.policy.model == name for one in policies))
        fields = compared(policies, self.drawn.of(kept), self.n_cases, self.metric, self.words, self.people)
        return replace(self, model_names=models, **fields)


def few_cases(policies: Sequence[JudgedPolicy], prevalence: Floats, of_people: bool = False) -> TooFewCases | None:
    """Return the class with the fewest cases of which there are too few for the bootstrap; None if there is none.

    Present practice that is plainly dearer than the best is left out. `of_people` tells that people are counted.
    """
    found = [
        TooFewCases(label, int(one.cases[label]), "practice" if practised else "people" if of_people else "cases")
        for one in policies
        if one.cases is not None and (not (practised := one.policy.decides == "practice") or one.rank == 1)
        for label in np.flatnonzero((one.cases > 0) & (prevalence > 0)).tolist()
        if one.cases[label] < FEW_OF_CLASS
    ]
    return min(found, key=lambda few: few.number, default=None)


def compared(
    policies: Sequence[JudgedPolicy],
    drawn: CostDraws,
    n_cases: int,
    metric: ElicitedMetric,
    words: CaseWords,
    people: People | None,
) -> Mapping[str, Any]:
    """Rank and compare policies; return the fields `policies`, `drawn`, `sure` and `information` of a `Ranking`.

    The cheapest comes first, then those that may be no dearer, then the others, each group ordered by cost.
    """
    order = _by_cost(drawn.estimate)
    rivals = drawn.against(order[0])
    no_dearer = _may_cost_no_more(rivals, order[0])
    tied = [index for index in order if no_dearer[index]]
    order = [*tied, *(index for index in order if index not in tied)]
    drawn, rivals, policies = drawn.of(order), rivals.of(order), [policies[index] for index in order]
    n_draws = len(drawn.both)
    best = share_best(rivals.both) if n_draws else None
    slack = _slack(drawn.estimate)
    judged: list[JudgedPolicy] = []
    ranges = _ranges(drawn, rivals) if n_draws else {}
    for index, one in enumerate(policies):
        figures: dict[str, Any] = {name: tuple(of_all[index]) for name, of_all in ranges.items()}
        cost = drawn.estimate[index]
        below = int((drawn.estimate[len(tied) :] < cost - slack).sum())
        figures["rank"] = 1 if index < len(tied) else 1 + len(tied) + below
        figures["difference_to_best"] = float(cost - drawn.estimate[0])
        judged.append(replace(one, probability_best=None if best is None else float(best[index]), **figures))
    loss = sure = None
    if n_draws:
        sure = float(_cheapest(rivals.both)[:, 0].mean())
        # More answers of the same experts do not bring the experts together.
        n_answers = 0 if metric.provenance.procedure == "pooled" else metric.provenance.questions
        loss = _information(rivals, n_answers, n_cases, words, people is not None)
    return {"policies": tuple(judged), "sure": sure, "information": loss, "drawn": drawn}


def _information(drawn: CostDraws, n_answers: int, n_cases: int, words: CaseWords, of_people: bool) -> Information:
    """Return the value of information about the first policy.

    If the yardstick may be a slight mistake, the few draws in which it is dominate a mean of ratios to it. Means are
    therefore taken on the scale on which the worst mistake costs 1, in units of the estimated yardstick.
    """
    worth = drawn.worth[:, None]
    answers = None if drawn.answers is None else worth * drawn.answers
    anew = None if drawn.anew is None else worth[: len(drawn.anew)] * drawn.anew
    return information(worth * drawn.both, answers, drawn.cases, n_answers, n_cases, words, anew, of_people)


def _by_cost(estimate: Floats) -> list[int]:
    """Return the order of the policies by cost; ties up to rounding keep the given order."""
    order = list(np.argsort(estimate, kind="stable"))
    slack = _slack(estimate)
    for index in range(1, len(order)):
        at = index
        while at and order[at] < order[at - 1] and estimate[order[at]] - estimate[order[at - 1]] <= slack:
            order[at - 1], order[at] = order[at], order[at - 1]
            at -= 1
    return [int(index) for index in order]


def _may_cost_no_more(drawn: CostDraws, first: int) -> NDArray[np.bool_]:
    """Return which policies may cost no more than the first, shape (p,); without draws, which cost no more."""
    slack = _slack(drawn.estimate)
    if not len(drawn.both):
        return np.asarray(drawn.estimate - drawn.estimate[first] <= slack)
    return np.asarray(ranges_of_draws(drawn.both - drawn.both[:, [first]])[:, 0] <= slack)


def _slack(estimate: Floats) -> float:
    return EQUAL_COST * float(np.abs(estimate).max())


def _ranges(drawn: CostDraws, rivals: CostDraws) -> dict[str, list[list[float]]]:
    """Return the ranges of all policies, [low, high] each, by the field of a policy that holds them."""
    parts = {"": (drawn.both, rivals.both), "cases": (drawn.cases, rivals.cases)}
    if drawn.answers is not None:
        parts["answers"] = drawn.answers, drawn.answers
    found = {}
    for name, (draws, to_compare) in parts.items():
        found[f"interval_{name}" if name else "interval"] = ranges_of_draws(draws).tolist()
        found[f"difference_{name or 'interval'}"] = ranges_of_draws(to_compare - to_compare[:, [0]]).tolist()
    return found


def share_best(draws: Floats) -> Floats:
    """Return the share of draws in which each policy is the cheapest; tied policies share a draw equally."""
    cheapest = _cheapest(draws)
    return np.asarray((cheapest / cheapest.sum(axis=1, keepdims=True)).mean(axis=0))


def _cheapest(draws: Floats) -> NDArray[np.bool_]:
    """Return for each draw and policy whether no other one is cheaper, shape (b, p)."""
    lowest = draws.min(axis=1, keepdims=True)
    return np.asarray(draws <= lowest + EQUAL_COST * np.abs(lowest))
