"""The views that window and terminal show: the question, the review, the end of a sitting, and the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from elicit_app.elicitation.questions import Counts, Moved, Progress, Proposal, Strength
from elicit_app.problem import Finding
from elicit_app.session.scenarios import ModelView, Scenarios
from metrics.elicited.exchange import ExchangeRate
from metrics.inputs.arguments import Floats
from metrics.policies.judgement import Judgement

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

    `moved` is the moved count, its first side the left one; the reply then holds for the pair with that count.
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
    changed: bool = False  # whether it was answered differently at first


@dataclass(frozen=True, eq=False)
class QuestionView:
    """A question to show.

    `request` must be returned with the answer; `subject` is the side that the strip's sentence describes; `last` is
    True at the cap; `can_redo` states whether an undone answer can be redone; `note` is a remark about the procedure,
    or empty. `undoes` is what Undo would take back; for an answer it is `previous`. `again` is the number of an answer
    under review: a reply changes it, Undo leaves it unchanged. `full_picture` states whether the full picture was on at
    the previous answer. `proposal` is the count that may be moved until both results are equally bad, in the order of
    the screen: its first side is the left one. `reversed_rows` states whether the rows are in the reverse of study
    order, so that no mistake is always on top. `far` states whether a mistake is much more frequent than near the
    study's models.
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

    @property
    def given(self) -> AnsweredView | None:
        """Return the answer under review; None if the question is asked for the first time."""
        return None if self.again is None else self.previous


@dataclass(frozen=True, eq=False)
class UnsavedView:
    """An answer that could not be written: the sentence to show, and the question that is still current."""

    sentence: str
    question: QuestionView


@dataclass(frozen=True, eq=False)
class RecapView:
    """Summary of a session for somebody who comes back, shown before the next question; every text is a sentence.

    `kept` is the number of answers, without the full stop; `last` says what the last answer was; `following` says what
    comes next; `stated` holds the orders that were stated with certainty, or is empty. It does not say what the answers
    suggest so far, because that would be an anchor in the middle of a measurement.
    """

    kept: str
    last: str
    following: str
    stated: str = ""


@dataclass(frozen=True, eq=False)
class SittingOverView:
    """End of a sitting, by its number of questions or because enough is known: stop, or ask for more.

    `can_continue` is False if the procedure has no further question; `unsaved` is a sentence to show with "Try again"
    if the last change could not be written, or empty.
    """

    reason: str
    sentence: str
    can_continue: bool = True
    unsaved: str = ""


@dataclass(frozen=True, eq=False)
class ReviewView:
    """All answers, newest last, and the pairs (indices into `answers`) that contradict each other.

    `can_continue` is False if the procedure has no further question; `unsaved` as in `SittingOverView`; `undoes` as in
    `QuestionView`, where the answer is the last of `answers`.
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
    """One curve: of the recommended policy, of another one, or of one that needs no model (`trivial`).

    `in_sentence` is its name within a sentence, if that differs.
    """

    name: str
    values: Floats
    recommended: bool = False
    trivial: bool = False
    in_sentence: str = ""


@dataclass(frozen=True, eq=False)
class Band:
    """Range of the first curve relative to another: the 90 % range of their difference, added to the other."""

    other: str  # the other curve's name within a sentence
    # shape (n,): of the first curve. If the other curve lies in between, the cases cannot distinguish the two.
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class CurveSet:
    """Curves over one variable."""

    at: Floats  # shape (n,): its values, ascending
    lines: tuple[CurveLine, ...]  # each with n values; the most important first
    elicited: float  # the elicited value
    plausible: tuple[float, float] | None  # its 90 % range
    band: Band | None = None  # the first curve compared with the best of the others at the elicited value

    def values(self, number: float) -> tuple[tuple[CurveLine, float], ...]:
        """Return every line with its linearly interpolated value at a number."""
        return tuple((line, float(np.interp(number, self.at, line.values))) for line in self.lines)


@dataclass(frozen=True, eq=False)
class RocLine:
    """The ROC curve of a model with the elicited threshold on it."""

    name: str
    # shape (m,): share of the negative and of the positive cases that are predicted positive, ascending
    false_rate: Floats
    true_rate: Floats
    point: tuple[float, float]  # false and true rate at the threshold
    # the same at the ends of its 90 % range; `point` twice if there is none
    ends: tuple[tuple[float, float], tuple[float, float]]
    recommended: bool  # whether this model is the recommended one


@dataclass(frozen=True, eq=False)
class CurvesView:
    """Everything shown under "What more can be seen"."""

    # the ratio that varies, and the unit
    rate: ExchangeRate
    yardstick: ExchangeRate
    # with two classes: positive cases found per population, minus the price of false alarms, over the threshold
    net_benefit: CurveSet | None
    cost: CurveSet  # cost per population in units of the yardstick, over the ratio
    best: CurveSet  # probability of being best, over the ratio
    roc: tuple[RocLine, ...] = ()  # with two classes
    corrected: bool = False  # whether risks are corrected for a stated prevalence


@dataclass(frozen=True)
class TrustView:
    """One finding on how far the result can be trusted.

    `question` is the number of the answer that it concerns; `may_withdraw` says that the stated orders, which
    it concerns, may be withdrawn.
    """

    good: bool
    headline: str
    detail: str = ""
    question: int | None = None
    may_withdraw: bool = False


@dataclass(frozen=True)
class HeldOutView:
    """How many held-out answers each rule predicts: this result, F1 score, accuracy."""

    name: str
    right: int
    total: int
    expected: int | None = None  # how many are expected of answers like these


@dataclass(frozen=True, eq=False)
class ResultView:
    """Everything that the result pages show. Costs of models are per population, in units of the yardstick mistake.

    `notes` are sentences on what was bounded or interpreted; `judgement` holds the policies for the models, and
    `scenarios` judges them at another prevalence; both are None if the study has no models. `models` are the models as
    they decide now; `experts` states how many experts have finished this study, empty if fewer than two; `guesses` are
    the first guesses of ratios; `practice` is what is done today, as it was typed; `method` tells how the costs follow
    from the answers.
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
    method: str = ""


@dataclass(frozen=True)
class ProblemView:
    """Work that could not be done, in one sentence; the previous view is still valid."""

    sentence: str
    findings: tuple[Finding, ...] = ()


View = QuestionView | RecapView | UnsavedView | SittingOverView | ReviewView | ResultView | CurvesView | ProblemView
