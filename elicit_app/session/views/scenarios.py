"""What is cheapest, and what it costs, where the classes are rarer or more common than in the data.

The rates within each true class are taken as they are, and so are the costs of the mistakes: only how common the true
classes are changes. It is the same judge, and the same draws, at another prevalence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from elicit_app.elicitation.questions import Matrix
from elicit_app.session.views.outcome import ModelView
from metrics import natural_frequencies
from metrics.models.cost_curves import CostLines
from metrics.policies.judgement import JudgedPolicy, Judgement
from metrics.policies.judging import Judge

_SAME_SHARE = 1e-9


@dataclass(frozen=True, eq=False)
class Scenarios:
    """What one could do, at any prevalence; made by `results.result.scenarios_of`.

    Parameters
    ----------
    judge : Judge
        Of the study.
    stated : tuple of float or None
        The study's prevalence where it is stated; else it is that of the cases.
    concern : ndarray of shape (m, k)
        Meta Pattern Concern Score of each model over the cases of each true class.
    class_weight : ndarray of shape (k,)
        Of the metric, for that score.
    """

    judge: Judge
    stated: tuple[float, ...] | None
    concern: Matrix
    class_weight: Matrix

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
        """Return the judgement at a prevalence, by default the study's own."""
        of = self.own if shares is None else proportions(shares)
        # the study's own shares, where they are counted, are doubted like everything counted
        counted = self.stated is None and np.allclose(of, self.own, rtol=0, atol=_SAME_SHARE)
        return self.judge.at(None if counted else of)

    def at(self, shares: ArrayLike | None = None) -> tuple[ModelView, ...]:
        """Return the models as they decide now, the cheapest first.

        Parameters
        ----------
        shares : array-like of shape (k,), optional
            Shares of the true classes, >= 0; only their proportions matter. By default those of the study.
        """
        return self.models(self.judgement(shares))

    def models(self, judgement: Judgement) -> tuple[ModelView, ...]:
        """Return the models as they decide now, as a judgement of this judge has them among each other."""
        as_is = judgement.among(lambda policy: policy.decides == "as-is")
        return tuple(self._model(one, judgement.prevalence) for one in as_is.policies)

    def with_share(self, shares: ArrayLike, true: int, share: float) -> Matrix:
        """Return the shares with another one for class `true`; the others keep their proportions to each other.

        Parameters
        ----------
        shares : array-like of shape (k,)
            Shares before.
        true : int
            Index of the class.
        share : float
            Its new share, in (0, 1).
        """
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
        names = tuple(policy.name for policy in costs.policies)
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
            name=str(one.policy.model),
            rank=one.rank,
            cost=one.cost_per_population,
            difference=one.difference_to_best,
            difference_range=one.difference_interval,
            # Where no case is of a class that matters there is nothing to be concerned about.
            mpcs=float(self.concern[of_model] @ weight / weight.sum()) if weight.any() else 0.0,
            accuracy=float(np.diagonal(rates) @ shares),
            probability_best=one.probability_best,
            rates=one.counts,
        )


def proportions(shares: ArrayLike) -> Matrix:
    """Return shares scaled to the sum 1.

    Parameters
    ----------
    shares : array-like of shape (k,)
        Numbers >= 0, at least one of them greater; anything else is a ValueError.
    """
    of = np.asarray(shares, dtype=np.float64)
    if not (np.isfinite(of).all() and (of >= 0).all() and of.sum() > 0):
        raise ValueError("shares: numbers >= 0 were expected, at least one of them greater.")
    scaled: Matrix = of / of.sum()
    return scaled
