"""The figures of a result, one view each: a model, a finding, how many held-out answers a rule predicts."""

from __future__ import annotations

from dataclasses import dataclass

from elicit_app.elicitation.questions import Counts


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
