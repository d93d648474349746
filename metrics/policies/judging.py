"""The judge: policies of models, trivial ones and present practice, at any prevalence, with both doubts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.elicited.metric_parts import CaseWords, range_of_draws
from metrics.errors import ArgumentTypeError, InputError
from metrics.inputs.arguments import Floats, same_length
from metrics.inputs.labels import checked_rows
from metrics.measures.confusion import natural_frequencies
from metrics.measures.costs import cost_sensitive_decisions
from metrics.policies.cases import PRACTICE, CaseTable, Policy, Practice, always, case_table, of_model
from metrics.policies.costs import DRAWS, PolicyCosts, UnitCosts, policy_costs
from metrics.policies.judgement import Drawn, JudgedPolicy, Judgement, Threshold, compared
from metrics.policies.recalibration import UNKNOWN, Calibration, calibration
from metrics.text import series, two_digits

if TYPE_CHECKING:
    from metrics.elicited.elicited_metric import ElicitedMetric


DEFAULT_POPULATION = 1_000
# A model whose probabilities are off by this much in the share of a class was made for another population.
_OTHER_PREVALENCE = 0.02


@dataclass(frozen=True, eq=False)
class ModelPolicies:
    """What one could do with one model, and how each of it decides.

    Parameters
    ----------
    name : str
        The model.
    cost_matrix : ndarray of shape (k, k)
        Decisions with the costs are those of least expected cost under it: the estimate of the metric, not its draws.
    calibration : Calibration
        Where the model's probabilities are off, one more policy puts them right before it decides; where they are
        labels, it can only be used as it decides now.
    """

    name: str
    cost_matrix: Floats
    calibration: Calibration = UNKNOWN

    @property
    def policies(self) -> tuple[Policy, ...]:
        """Return the policies, in the order of their decisions."""
        return of_model(self.name, self.calibration.labels_only, self.calibration.recalibration is not None)

    def deciding(self, y_proba: NDArray[Any], first_row: int = 0) -> Iterator[tuple[Policy, NDArray[Any]]]:
        """Yield each policy with the probabilities that it decides by; parameters as in `decisions`."""
        for policy in self.policies:
            right = self.calibration.recalibration if policy.recalibrated else None
            yield policy, y_proba if right is None else right.probabilities(y_proba, first_row)

    def decisions(self, y_proba: NDArray[Any], first_row: int = 0) -> NDArray[np.int64]:
        """Return what each policy decides, shape (policies, n), as indices of classes.

        Parameters
        ----------
        y_proba : ndarray of shape (n, k)
            Columns in the order of the metric's classes.
        first_row : int
            Number of the first row among all; it says which fold of the recalibration each row is of.
        """
        decided = [
            proba.argmax(axis=1) if policy.decides == "as-is" else cost_sensitive_decisions(proba, self.cost_matrix)
            for policy, proba in self.deciding(y_proba, first_row)
        ]
        return np.array(decided, dtype=np.int64)


def notes_on(models: Sequence[ModelPolicies]) -> tuple[str, ...]:
    """Return what to know about the probabilities of models, in sentences."""
    labels = [model.name for model in models if model.calibration.labels_only]
    notes = []
    if labels:
        give, decide = ("gives", "it decides") if len(labels) == 1 else ("give", "they decide")
        text = f"{series(labels)} {give} labels without probabilities: these costs cannot change what {decide}"
        notes.append(f"{text}, and MPCS takes every label for certain.")
    for model in models:
        if model.calibration.recalibration is not None:
            points = two_digits(100 * model.calibration.recalibration.distance)
            notes.append(
                f"The probabilities of {model.name} are badly calibrated, {points} points off on average: deciding "
                "with these costs relies on them. Recalibrated (cross-fitted) they are one more policy."
            )
    return tuple(notes)


@dataclass(frozen=True, eq=False)
class Judge:
    """Judges one set of policies at any prevalence, from the same draws.

    Parameters
    ----------
    metric : ElicitedMetric
        What mistakes cost.
    costs : PolicyCosts
        From `policy_costs`.
    population : int
        Costs are reported for so many cases.
    words : CaseWords
        The words of the domain.
    notes : tuple of str
        Passed on to the judgement.
    """

    metric: ElicitedMetric
    costs: PolicyCosts
    population: int
    words: CaseWords
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        metric: ElicitedMetric,
        table: CaseTable,
        columns: Sequence[Policy],
        *,
        practice: Practice | None = None,
        population: int | None = None,
        words: CaseWords | None = None,
        draws: int = DRAWS,
        seed: int = 0,
        notes: tuple[str, ...] = (),
    ) -> Self:
        """Draw what the policies of models, the trivial ones and present practice cost.

        Parameters
        ----------
        metric : ElicitedMetric
            Costs, and posterior draws where it has any; without them the answers contribute no doubt.
        table : CaseTable
            Truth and decisions of the policies of models.
        columns : sequence of Policy
            Those policies, in the order of the table.
        practice : Practice, optional
            What people do today.
        population : int, optional
            By default that of the metric, else 1,000.
        words : CaseWords, optional
            By default those of the metric, else the names of the classes.
        draws, seed
            As in `policy_costs`.
        notes : tuple of str
            Passed on to the judgement.
        """
        others = always(metric.classes)
        if practice is not None:
            others = (*others, Policy(PRACTICE, "practice"))
        unit_costs = UnitCosts.of(metric)
        costs = policy_costs(unit_costs, table, columns, others, practice, draws=draws, seed=seed)
        if draws and unit_costs.draws is None:
            notes = ("The metric has no draws: only the doubt of the cases is counted, none of its costs.", *notes)
        if draws and costs.grouped:
            notes = (*notes, "The doubt of the cases comes from 512 groups of cases a class, dealt out in turn.")
        words = words or metric.words or CaseWords.plain(metric.classes)
        if population is None:
            population = metric.population or DEFAULT_POPULATION
        return cls(metric, costs, population, words, notes)

    @classmethod
    def of_models(
        cls,
        metric: ElicitedMetric,
        true: NDArray[np.int64],
        models: Sequence[tuple[ModelPolicies, NDArray[Any]]],
        **options: Any,
    ) -> Self:
        """Return the judge of models, each with its probabilities of the cases; further options as in `of`.

        Parameters
        ----------
        metric : ElicitedMetric
            As in `of`.
        true : ndarray of shape (n,)
            Indices of the true classes.
        models : sequence of pairs
            What one could do with each model, and its probabilities, shape (n, k).
        options
            As in `of`, but for the notes, which are about the models.
        """
        decided = [row for model, proba in models for row in model.decisions(proba)]
        columns = [policy for model, _ in models for policy in model.policies]
        table = case_table(true, decided, len(metric.classes))
        return cls.of(metric, table, columns, notes=notes_on([model for model, _ in models]), **options)

    def at(self, prevalence: ArrayLike | Mapping[Any, float] | None = None) -> Judgement:
        """Judge at a prevalence.

        Parameters
        ----------
        prevalence : array-like of shape (k,) or mapping of label to share, optional
            Stated shares of the true classes; cases are then doubted within each class alone. By default the shares
            are those of the cases, and doubted with them.

        Raises
        ------
        InputError
            Where it is none, or names a class without cases.
        """
        costs, draws = self.costs, len(self.costs.shares)
        own = costs.shares_at(prevalence, self.metric.class_index)
        drawn = self._drawn(own, costs.shares if prevalence is None else np.broadcast_to(own, (draws, len(own))))
        unit = costs.unit_costs.unit
        positive = unit[1] if len(self.metric.classes) == 2 else None
        threshold = None if positive is None else threshold_of(costs.unit_costs, positive)
        policies = [
            JudgedPolicy(
                policy=policy,
                threshold=threshold if policy.decides == "least-cost" else None,
                cost_per_population=float(drawn.estimate[index]),
                counts=_frozen(natural_frequencies(costs.rates[:, index] * own[:, None], self.population)),
                rank=1,
                difference_to_best=0.0,
            )
            for index, policy in enumerate(costs.policies)
        ]
        n_cases = int(costs.cases.sum())
        return Judgement(
            metric=self.metric,
            words=self.words,
            unit=unit,
            positive=positive,
            population=self.population,
            prevalence=own,
            stated=prevalence is not None,
            n_cases=n_cases,
            n_draws=draws,
            grouped=costs.grouped,
            notes=(*self.notes, *self._notes_at(own)),
            **compared(policies, drawn, n_cases, self.metric.provenance.questions),
        )

    def _drawn(self, own: Floats, shares: Floats) -> Drawn:
        """Return costs per population at the shares `own`, (k,), and drawn ones at as many drawn `shares`."""
        costs = self.costs
        answers = costs.drawn_from_answers(own)
        return Drawn(
            estimate=self.population * (own @ costs.estimate),
            both=self.population * costs.drawn_from_both(shares),
            answers=None if answers is None else self.population * answers,
            cases=self.population * costs.drawn_from_cases(shares),
            worth=costs.worth,
        )

    def _notes_at(self, shares: Floats) -> tuple[str, ...]:
        """Return what to know where the classes are more or less common than in the cases."""
        own = self.costs.own_shares
        at = int(np.abs(shares - own).argmax())
        used = any(policy.decides == "least-cost" for policy in self.costs.policies)
        if not used or abs(shares[at] - own[at]) < _OTHER_PREVALENCE:
            return ()
        return (
            f"The models' probabilities are for {two_digits(100 * own[at])} % “{self.metric.classes[at]}”, as in the "
            f"cases; where there are {two_digits(100 * shares[at])} % they should be corrected before they decide.",
        )


def judge(
    metric: ElicitedMetric,
    y_true: ArrayLike,
    y_proba: Mapping[str, ArrayLike],
    *,
    labels: Sequence[object] | None = None,
    prevalence: ArrayLike | Mapping[Any, float] | None = None,
    practice: ArrayLike | None = None,
    population: int | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> Judgement:
    """Judge what one could do with models that were tried on the same cases.

    What is judged is every model as it decides now, every model with these costs (recalibrated too, where its
    probabilities are off; not where it gives labels only), always the same class, and present practice where it is
    given. Doubted are the costs, by the metric's draws, and the cases, by a Bayesian bootstrap, both paired over the
    policies.

    Parameters
    ----------
    metric : ElicitedMetric
        What mistakes cost.
    y_true : array-like of shape (n,)
        True labels, matched with the classes of the metric as text.
    y_proba : mapping of str to array-like of shape (n, k)
        Per model the probabilities.
    labels : sequence of k labels, optional
        What the columns stand for, such as an estimator's ``classes_``. By default what those of a frame are named
        after, else the classes of the metric in their order.
    prevalence : array-like of shape (k,) or mapping of label to share, optional
        Stated shares of the true classes; by default those of the cases.
    practice : array-like of shape (k, k), optional
        Counts or rates of what is done today; rows are true classes.
    population : int, optional
        Costs are for so many cases; by default the metric's population, else 1,000.
    draws : int
        Of both doubts; 0 leaves all doubt out.
    seed : int
        Of all that is drawn.

    Returns
    -------
    Judgement
        The recommended policy first.

    Raises
    ------
    InputError
        In words: which argument, what was expected.

    Examples
    --------
    >>> from metrics import ElicitedMetric, judge
    >>> metric = ElicitedMetric.from_cost_matrix(['ill', 'well'], [[0, 10], [1, 0]])
    >>> y_true = ['ill', 'ill', 'well', 'well'] * 25
    >>> proba = [[0.9, 0.1], [0.3, 0.7], [0.4, 0.6], [0.1, 0.9]] * 25
    >>> found = judge(metric, y_true, {'model': proba}, draws=200)
    >>> [policy.rank for policy in found.policies]
    [1, 1, 3, 4]
    """
    true, models = models_of(metric, y_true, y_proba, labels)
    today = None if practice is None else Practice.of(practice, metric.classes)
    options = {"practice": today, "population": population, "draws": draws, "seed": seed}
    return Judge.of_models(metric, true, models, **options).at(prevalence)


def models_of(
    metric: ElicitedMetric, y_true: ArrayLike, y_proba: Mapping[str, ArrayLike], labels: Sequence[object] | None = None
) -> tuple[NDArray[np.int64], list[tuple[ModelPolicies, Floats]]]:
    """Return the indices of the true classes, shape (n,), and the models, each with its probabilities, shape (n, k).

    Raises
    ------
    InputError
        A label is none of the metric's classes, there is no model, or a table holds no probabilities of these cases.
    """
    true = metric.class_index.indices(y_true, "y_true").astype(np.int64)
    if not isinstance(y_proba, Mapping):
        raise ArgumentTypeError("y_proba: the probabilities of each model by its name were expected, {name: y_proba}.")
    if not y_proba:
        raise InputError("y_proba: the probabilities of at least one model were expected.")
    models = []
    for model, given in y_proba.items():
        name = f"y_proba, {model!r}"
        proba, columns = metric.table_of(given, labels, name)
        same_length(len(true), len(proba), name)
        checked_rows(proba, name)
        table = np.zeros((len(proba), len(metric.class_index)))  # a class that no column stands for is never predicted
        table[:, columns] = proba
        models.append((ModelPolicies(model, metric.cost_matrix, calibration(true, table)), table))
    return true, models


def threshold_of(costs: UnitCosts, positive: int) -> Threshold:
    """Return p_t = c_FP / (c_FP + c_FN) with its 90 % range over the draws (C. Elkan, IJCAI 2001, section 1)."""
    negative = 1 - positive

    def of(matrix: Floats) -> Floats:
        alarm, miss = matrix[..., negative, positive], matrix[..., positive, negative]
        return np.asarray(alarm / (alarm + miss))

    value = float(of(costs.estimate))
    return Threshold(value, *((value, value) if costs.draws is None else range_of_draws(of(costs.draws))))


def _frozen(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    counts.setflags(write=False)
    return counts
