"""The view of a result as a whole, the view of work that could not be done, and every view that a session shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from elicit_app.elicitation.questions import Counts
from elicit_app.problem import Finding
from elicit_app.session.views.asked import QuestionView, RecapView, ReviewView, SittingOverView, UnsavedView
from elicit_app.session.views.curves import CurvesView

if TYPE_CHECKING:
    from elicit_app.session.views.scenarios import Scenarios
    from metrics import ElicitedMetric
    from metrics.elicited.exchange import ExchangeRate, Headline
    from metrics.elicited.family import MistakeKey
    from metrics.policies.judgement import Judgement


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


@dataclass(frozen=True)
class ModelView:
    """One model judged by the elicited metric; `difference` is to the first model, with its 90 % range."""

    name: str
    rank: int
    cost: float
    difference: float
    difference_range: tuple[float, float] | None
    mpcs: float
    accuracy: float
    probability_best: float | None
    rates: Counts


@dataclass(frozen=True, eq=False)
class ResultView:
    """Everything the result pages show. Costs of models are per population, in units of the yardstick mistake.

    `notes` are sentences about what was bounded, or read in which way; `stopped` is why the questions ended;
    `judgement` is what one could do with the models, `scenarios` judges it at another prevalence, both None where the
    study has no models; `models` are the models as they decide now; `experts` is how many
    experts have finished this study, this one included; `guesses` are the first guesses of ratios; `practice` is what
    is done today, as it was typed.
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
    journal: Path | None
    notes: tuple[str, ...] = ()
    stopped: str = "expert"
    can_continue: bool = True
    unsaved: str = ""
    scenarios: Scenarios | None = None
    judgement: Judgement | None = None
    experts: int = 1
    guesses: Mapping[MistakeKey, float] = field(default_factory=dict)
    practice: tuple[tuple[float, ...], ...] | None = None


@dataclass(frozen=True)
class ProblemView:
    """Work that could not be done, in one sentence; what stood before still stands."""

    sentence: str
    findings: tuple[Finding, ...] = ()


View = QuestionView | RecapView | UnsavedView | SittingOverView | ReviewView | ResultView | CurvesView | ProblemView
