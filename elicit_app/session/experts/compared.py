"""What is compared: experts, how bad each of them finds each mistake, and all of it for a page."""

from __future__ import annotations

import math
from dataclasses import dataclass

from elicit_app.session.experts.pooling import Source
from elicit_app.session.views.figures import ModelView
from elicit_app.study.model import Mistake, Wording
from metrics import ElicitedMetric
from metrics.elicited.exchange import ExchangeRate


@dataclass(frozen=True, eq=False)
class Expert:
    """One expert's result.

    Parameters
    ----------
    name : str
        Who, or where no name was given, when.
    source : Source
        The metric, called by its file or session.
    models : tuple of ModelView
        The study's models under this metric, the cheapest first; empty where there are none.
    """

    name: str
    source: Source
    models: tuple[ModelView, ...] = ()


@dataclass(frozen=True)
class MistakeRates:
    """One mistake, and how bad each expert and all of them pooled find it.

    Parameters
    ----------
    mistake : Mistake
        Its words.
    rates : tuple of ExchangeRate
        In the order of the experts.
    pooled : ExchangeRate
        Of the pooled metric.
    """

    mistake: Mistake
    rates: tuple[ExchangeRate, ...]
    pooled: ExchangeRate

    @property
    def is_yardstick(self) -> bool:
        """Return whether this is the mistake that counts as 1 for everybody."""
        return self.pooled.is_yardstick

    @property
    def factor(self) -> float:
        """Return how many times as bad the one finds it who minds it most, compared with the one who minds it least."""
        ratios = [rate.ratio for rate in self.rates]
        return max(ratios) / min(ratios) if min(ratios) > 0 else (math.inf if max(ratios) > 0 else 1.0)

    @property
    def ends(self) -> tuple[int, int]:
        """Return the places of the experts who mind it most and least."""
        ratios = [rate.ratio for rate in self.rates]
        return ratios.index(max(ratios)), ratios.index(min(ratios))

    @property
    def apart(self) -> bool | None:
        """Tell whether the ranges of those two do not meet; None where there is no range."""
        most, least = (self.rates[place] for place in self.ends)
        if most.low is None or least.high is None:
            return None
        return most.low > least.high


@dataclass(frozen=True, eq=False)
class ComparisonView:
    """Experts compared.

    Parameters
    ----------
    title : str
        The study, or what the metrics are about.
    names : tuple of str
        The experts.
    mistakes : tuple of MistakeRates
        In study order.
    headline, detail : str
        Where they disagree most, in words.
    choice : str
        Which model each would take; empty without models.
    made_of : str
        The metrics pooled, in words.
    pooled : ElicitedMetric
        All of them pooled.
    wording : Wording
        The words of the domain.
    notes : tuple of str
        What was left out, and why.
    """

    title: str
    names: tuple[str, ...]
    mistakes: tuple[MistakeRates, ...]
    headline: str
    detail: str
    choice: str
    made_of: str
    pooled: ElicitedMetric
    wording: Wording
    notes: tuple[str, ...] = ()

    @property
    def yardstick(self) -> MistakeRates:
        """Return the mistake that the others are compared with."""
        return next(one for one in self.mistakes if one.is_yardstick)
