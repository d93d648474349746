"""What window and terminal show: the question that stands, the review, the end of a sitting, and the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from elicit_app.elicitation.questions import Counts, Matrix, Moved, Progress, Proposal, Strength
from elicit_app.problem import Finding
from metrics import natural_frequencies
from metrics.elicited.exchange import ExchangeRate
from metrics.inputs.arguments import Floats
from metrics.models.cost_curves import CostLines
from metrics.policies.judgement import JudgedPolicy, Judgement
from metrics.policies.judging import Judge

if TYPE_CHECKING:
    from metrics import ElicitedMetric
    from metrics.elicited.exchange import Headline
    from metrics.elicited.family import MistakeKey

Side = Literal["left", "right"]
Reply = Literal["left", "right", "equal", "unsure"]
Fit = Literal[
    "fits",
    "does not fit",
    "far apart",
    "two answers",
    "asked again",
    "left open",
    "taken out",
    "check",
    "worse side",
    "level",
]


@dataclass(frozen=True, eq=False)
class AnsweredView:
    """One answer as it was given: left is what the person saw as A, right as B.

    `moved` is the count that was moved, its first side the left one; the reply then holds for the pair with that count.
    """

    number: int
    left: Counts
    right: Counts
    reply: Reply
    strength: Strength | None
    seconds: float | None
    fit: Fit
    asked_again_as: int | None = None
    moved: Moved | None = None
    reason: str = ""


@dataclass(frozen=True, eq=False)
class QuestionView:
    """A question to show.

    `request` must come back with the answer; `subject` is the side the strip's sentence is about; `last` is True at the
    cap; `can_redo` tells whether an undone answer can be put back; `note` is a sentence about the procedure, or empty.
    `undoes` is what Undo would take back; for an answer it is `previous`. `again` is the number of the answer that is
    looked at again: the reply changes it, Undo leaves it as it was. `full_picture` is whether the full picture was on
    at the answer before. `proposal` is the count that may be moved until both results are equally bad, in the order of
    the screen: its first side is the left one. `reversed_rows` tells that the rows stand in the reverse of study order,
    so that no mistake is always the upper one. `far` tells that a mistake is much more frequent than near the study's
    models.
    """

    request: int
    number: int
    left: Counts
    right: Counts
    population: int
    subject: Side
    progress: Progress
    hypothetical: bool
    last: bool
    offer_break: bool
    previous: AnsweredView | None
    can_redo: bool
    note: str = ""
    undoes: Literal["answer", "change", "nothing"] = "answer"
    again: int | None = None
    full_picture: bool = False
    proposal: Proposal | None = None
    reversed_rows: bool = False
    far: bool = False


@dataclass(frozen=True, eq=False)
class UnsavedView:
    """An answer that could not be written: the sentence to show, and the question that still stands."""

    sentence: str
    question: QuestionView


@dataclass(frozen=True, eq=False)
class RecapView:
    """Where a session stood, shown before its next question to somebody who comes back; every text is a sentence.

    `kept` is how many answers there are, without the full stop; `last` says what the last answer was; `following` says
    what comes next; `stated` are the orders that were stated for certain, or empty. What the answers seem to say is
    not in it: it would be an anchor in the middle of a measurement.
    """

    kept: str
    last: str
    following: str
    stated: str = ""


@dataclass(frozen=True, eq=False)
class SittingOverView:
    """The sitting is over (its number of questions, or known well enough): stop, or ask for more.

    `can_continue` is False where the procedure has no further question; `unsaved` is a sentence to show with
    "Try again" where the last change could not be written, or empty.
    """

    reason: str
    sentence: str
    can_continue: bool = True
    unsaved: str = ""


@dataclass(frozen=True, eq=False)
class ReviewView:
    """All answers, newest last, and the pairs (indices into `answers`) that contradict each other.

    `can_continue` is False where the procedure has no further question; `unsaved` as in `SittingOverView`;
    `undoes` as in `QuestionView`, the answer being the last of `answers`.
    """

    answers: tuple[AnsweredView, ...]
    contradictions: tuple[tuple[int, int], ...]
    can_finish: bool
    sentence: str
    can_continue: bool = True
    undoes: Literal["answer", "change", "nothing"] = "nothing"
    unsaved: str = ""


@dataclass(frozen=True, eq=False)
class CurveLine:
    """One curve: the recommended policy, another one, or one that needs no model (`trivial`).

    `in_sentence` is what it is called inside a sentence, where that is not its name.
    """

    name: str
    values: Floats
    recommended: bool = False
    trivial: bool = False
    in_sentence: str = ""


@dataclass(frozen=True, eq=False)
class Band:
    """Where the first curve may lie compared with another: the 90 % range of their difference, added to that one."""

    other: str  # the curve that is compared with, as it is called inside a sentence
    # shape (n,): of the first curve. Where the other curve lies between them, the cases cannot tell the two apart.
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class CurveSet:
    """Curves over one number."""

    at: Floats  # shape (n,): the numbers, ascending
    lines: tuple[CurveLine, ...]  # each with n values; the most important first
    elicited: float  # what the answers say the number is
    plausible: tuple[float, float] | None  # its 90 % range
    band: Band | None = None  # how the first curve compares with the best of the others where the answers lie

    def values(self, number: float) -> tuple[tuple[CurveLine, float], ...]:
        """Return every line with its value at a number, as the straight line between two known ones has it."""
        return tuple((line, float(np.interp(number, self.at, line.values))) for line in self.lines)


@dataclass(frozen=True, eq=False)
class RocLine:
    """The ROC curve of a model with the elicited threshold on it."""

    name: str
    # shape (m,): share of the negative and of the positive cases that are called positive, ascending
    false_rate: Floats
    true_rate: Floats
    point: tuple[float, float]  # false and true rate at the threshold
    # the same at the ends of its 90 % range; `point` twice without one
    ends: tuple[tuple[float, float], tuple[float, float]]
    recommended: bool  # whether this model is the recommended one


@dataclass(frozen=True, eq=False)
class CurvesView:
    """Everything behind "What more can be seen"."""

    # whose ratio varies, and the unit
    rate: ExchangeRate
    yardstick: ExchangeRate
    # two classes: positive cases found per population, less the price of false alarms, over the threshold
    net_benefit: CurveSet | None
    cost: CurveSet  # cost per population in units of the yardstick, over the ratio
    best: CurveSet  # probability of being best, over the ratio
    roc: tuple[RocLine, ...] = ()  # of two classes


_SAME_SHARE = 1e-9


@dataclass(frozen=True, eq=False)
class Scenarios:
    """What one could do, at any prevalence; made by `result.scenarios_of`."""

    judge: Judge
    stated: tuple[float, ...] | None  # the study's prevalence where it is stated; else it is that of the cases
    concern: Matrix  # shape (m, k): Meta Pattern Concern Score of each model over the cases of each true class
    class_weight: Matrix  # shape (k,): of the metric, for that score

    @property
    def population(self) -> int:
        """Return for how many cases costs are."""
        return self.judge.population

    @property
    def own(self) -> Matrix:
        """Return the study's own shares of the true classes; a class without cases has none, whatever is stated."""
        counted = self.judge.costs.own_shares
        return counted if self.stated is None else proportions(np.array(self.stated) * (counted > 0))

    @property
    def known(self) -> tuple[int, ...]:
        """Return the true classes that have cases: nothing is known about models on the others."""
        return tuple(int(i) for i in np.flatnonzero(self.judge.costs.cases))

    def judgement(self, shares: ArrayLike | None = None) -> Judgement:
        """Return the judgement at a prevalence, by default the study's own.

        `shares` are those of the true classes, >= 0; only their proportions matter.
        """
        of = self.own if shares is None else proportions(shares)
        return self._at_own if np.allclose(of, self.own, rtol=0, atol=_SAME_SHARE) else self.judge.at(of)

    @cached_property
    def _at_own(self) -> Judgement:
        # shares that are counted are as uncertain as all other counts
        return self.judge.at(None if self.stated is None else self.own)

    def models(self, judgement: Judgement) -> tuple[ModelView, ...]:
        """Return the models as they decide now, the cheapest first, as a judgement of this judge has them."""
        as_is = judgement.among(lambda policy: policy.decides == "as-is")
        return tuple(self._model(one, judgement.prevalence) for one in as_is.policies)

    def with_share(self, shares: ArrayLike, true: int, share: float) -> Matrix:
        """Return the shares with another one, in (0, 1), for class `true`; the others keep their proportions."""
        if not 0 < share < 1:
            raise ValueError(f"share: a number between 0 and 1 was expected, found {share:g}.")
        changed = proportions(shares) * (1 - share)
        rest = changed.sum() - changed[true]
        if rest > 0:
            changed *= (1 - share) / rest
        else:
            # All cases were of this class: the others have no proportions to keep.
            changed[[i for i in self.known if i != true]] = (1 - share) / (len(self.known) - 1)
        changed[true] = share
        return changed

    def lines(self, shares: ArrayLike, true: int) -> CostLines:
        """Return what every policy costs as the share of class `true` goes from 0 to 1; see `with_share`."""
        half = self.with_share(shares, true, 0.5)
        only = np.zeros_like(half)
        only[true] = 1.0
        costs = self.judge.costs
        per_class = self.population * costs.estimate
        base, end = (2 * half - only) @ per_class, only @ per_class
        words = self.judge.words
        names = tuple(
            policy.name if policy.predicted is None else words.following(policy.predicted) for policy in costs.policies
        )
        return CostLines(names, base, end - base)

    def cases(self, shares: ArrayLike | None = None) -> tuple[int, ...]:
        """Return whole cases of each true class out of the population."""
        of = self.own if shares is None else proportions(shares)
        return tuple(map(int, np.diagonal(natural_frequencies(np.diag(of), self.population))))

    def _model(self, one: JudgedPolicy, shares: Matrix) -> ModelView:
        costs = self.judge.costs
        of_model = [policy.model for policy in costs.policies if policy.decides == "as-is"].index(one.policy.model)
        rates = costs.rates[:, costs.policies.index(one.policy)]
        weight = self.class_weight * shares
        return ModelView(
            judged=one,
            mpcs=float(self.concern[of_model] @ weight / weight.sum()) if weight.any() else None,
            # Free of what a sum of shares is off by: 0.7825 would be shown as 78.3 %, elsewhere as 78.2 %.
            accuracy=round(float(np.diagonal(rates) @ shares), 12),
        )


def proportions(shares: ArrayLike) -> Matrix:
    """Return shares, shape (k,), scaled to the sum 1; a ValueError unless all are >= 0 and one is greater."""
    of = np.asarray(shares, dtype=np.float64)
    if not (np.isfinite(of).all() and (of >= 0).all() and of.sum() > 0):
        raise ValueError("shares: numbers >= 0 were expected, at least one of them greater.")
    scaled: Matrix = of / of.sum()
    return scaled


@dataclass(frozen=True)
class TrustView:
    """One finding about how far the result can be trusted; `question` is the number of the answer it is about."""

    good: bool
    headline: str
    detail: str = ""
    question: int | None = None


@dataclass(frozen=True)
class HeldOutView:
    """How many of the answers kept aside each rule predicts: this result, F1 score, accuracy."""

    name: str
    right: int
    total: int


@dataclass(frozen=True, eq=False)
class ModelView:
    """One model as it decides now: how it was judged, and what else is known of its decisions."""

    judged: JudgedPolicy
    mpcs: float | None  # None where every case is of a class of weight 0
    accuracy: float

    @property
    def name(self) -> str:
        """Return what the model is called."""
        return str(self.judged.policy.model)


@dataclass(frozen=True, eq=False)
class ResultView:
    """Everything the result pages show. Costs of models are per population, in units of the yardstick mistake.

    `notes` are sentences about what was bounded, or read in which way; `judgement` is what one could do with the
    models, `scenarios` judges it at another prevalence, both None where the study has no models; `models` are the
    models as they decide now; `experts` is how many experts have finished this study in words, empty where there are no
    two; `guesses` are the first guesses of ratios; `practice` is what is done today, as it was typed.
    """

    metric: ElicitedMetric
    ratios: tuple[ExchangeRate, ...]
    headline: Headline
    trust: tuple[TrustView, ...]
    trust_sentence: str
    held_out: tuple[HeldOutView, ...]
    models: tuple[ModelView, ...]
    answers: int
    date: str
    can_export: bool
    notes: tuple[str, ...] = ()
    can_continue: bool = True
    unsaved: str = ""
    scenarios: Scenarios | None = None
    judgement: Judgement | None = None
    experts: str = ""
    guesses: Mapping[MistakeKey, float] = field(default_factory=dict)
    practice: tuple[tuple[float, ...], ...] | None = None


@dataclass(frozen=True)
class ProblemView:
    """Work that could not be done, in one sentence; what stood before still stands."""

    sentence: str
    findings: tuple[Finding, ...] = ()


View = QuestionView | RecapView | UnsavedView | SittingOverView | ReviewView | ResultView | CurvesView | ProblemView
