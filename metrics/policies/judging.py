"""The judge compares policies of models, trivial policies and present practice, at any prevalence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.elicited.elicited_metric import ElicitedMetric, require_metric
from metrics.elicited.metric_parts import CaseWords, range_of_draws
from metrics.errors import ArgumentTypeError, InputError
from metrics.inputs.arguments import Floats, same_length, stated_shares
from metrics.inputs.labels import checked_rows
from metrics.measures.confusion import macro_f1, natural_frequencies
from metrics.measures.costs import cost_sensitive_decisions
from metrics.policies.cases import PRACTICE, CaseTable, Policy, Practice, always, case_table, numbered_groups, of_model
from metrics.policies.costs import PolicyCosts, UnitCosts, Unshown, policy_costs, usual_draws
from metrics.policies.deciding_anew import enough_draws, savings_of_deciding_anew
from metrics.policies.judgement import Judgement
from metrics.policies.ranking import FEW_OF_CLASS, CostDraws, JudgedPolicy, Threshold, compared, few_cases
from metrics.policies.recalibration import (
    UNKNOWN,
    Calibration,
    Recalibration,
    RowSample,
    calibration,
    correction_for,
    sample_of,
)
from metrics.text import counted, series, threshold_text, two_digits

DEFAULT_POPULATION = 1_000
_MOST_NAMED = 4  # models in a sentence
_FEWEST_DRAWS = 100  # with fewer, neither a range nor "more than 99 %" can be read off them
_TOO_SURE = f"With fewer than {FEW_OF_CLASS} cases of a class, ranges are too narrow and probabilities too sure."


@dataclass(frozen=True, eq=False)
class ModelPolicies:
    """The policies of one model and their decisions."""

    name: str
    # shape (k, k): the metric's estimated costs, not its draws; decisions with the costs minimise the expected cost
    # under them
    cost_matrix: Floats
    # if the model's probabilities are badly calibrated, one more policy recalibrates them first, and if they are for
    # another prevalence than the stated one, one corrects them. If they are labels, the model can only be used as it
    # decides now.
    calibration: Calibration = UNKNOWN

    @property
    def policies(self) -> tuple[Policy, ...]:
        """Return the policies, in the order of their decisions."""
        known = self.calibration
        return of_model(self.name, known.labels_only, known.recalibration is not None, known.correction)

    def deciding(
        self, y_proba: NDArray[Any], numbers: NDArray[np.int64] | None = None, people: NDArray[np.int64] | None = None
    ) -> Iterator[tuple[Policy, NDArray[Any]]]:
        """Yield each policy with the probabilities it uses; parameters as in `decisions`."""
        recalibrated = self.recalibrated(y_proba, numbers, people)
        for policy in self.policies:
            proba = recalibrated if policy.recalibrated else y_proba
            yield policy, proba if policy.correction is None else self.calibration.corrected(proba)

    def recalibrated(
        self, y_proba: NDArray[Any], numbers: NDArray[np.int64] | None = None, people: NDArray[np.int64] | None = None
    ) -> NDArray[Any]:
        """Return the probabilities, recalibrated if they are badly calibrated; parameters as in `decisions`."""
        right = self.calibration.recalibration
        if right is None:
            return y_proba
        return right.probabilities(y_proba, np.arange(len(y_proba)) if numbers is None else numbers, people)

    def decisions(
        self, y_proba: NDArray[Any], numbers: NDArray[np.int64] | None = None, people: NDArray[np.int64] | None = None
    ) -> NDArray[np.int64]:
        """Return the decisions of each policy, shape (policies, n), as indices of classes; `y_proba` has their order.

        The numbers of the rows among all rows, by default 0 to n - 1, or those of the people whose cases they are,
        determine their recalibration folds.
        """
        return decisions_of(self.deciding(y_proba, numbers, people), self.cost_matrix)


def decisions_of(deciding: Iterable[tuple[Policy, NDArray[Any]]], cost_matrix: Floats) -> NDArray[np.int64]:
    """Return the decisions (policies, n) of policies under costs (k, k), given the probabilities that each uses."""
    decided = [
        proba.argmax(axis=1) if policy.decides == "as-is" else cost_sensitive_decisions(proba, cost_matrix)
        for policy, proba in deciding
    ]
    return np.array(decided, dtype=np.int64)


def notes_on(models: Sequence[ModelPolicies]) -> tuple[str, ...]:
    """Return caveats about the probabilities of models, as sentences."""
    labels = [model.name for model in models if model.calibration.labels_only]
    notes = []
    if labels:
        give, decide = ("gives", "it decides") if len(labels) == 1 else ("give", "they decide")
        which = series(labels, most=_MOST_NAMED)
        text = f"{which} {give} labels without probabilities: these costs cannot change what {decide}"
        notes.append(f"{text}, and MPCS treats every label as certain.")
    badly = {model.name: found.distance for model in models if (found := model.calibration.recalibration) is not None}
    if badly:
        ends = dict.fromkeys(two_digits(100 * end(badly.values())) for end in (min, max))
        which = series([*badly], most=_MOST_NAMED)
        notes.append(
            f"The probabilities of {which} are badly calibrated, {' to '.join(ends)} points off on average: "
            "deciding with these costs relies on them. Recalibrated (cross-fitted) they are one more policy"
            f"{' each' if len(badly) > 1 else ''}."
        )
    return tuple(notes)


@dataclass(frozen=True, eq=False)
class Judge:
    """Judges a set of policies at any prevalence, from the same draws."""

    metric: ElicitedMetric
    costs: PolicyCosts  # from `policy_costs`
    population: int  # number of cases to which reported costs refer
    words: CaseWords
    notes: tuple[str, ...] = ()  # passed on to the judgement
    # shape (s, k, p): `savings_of_deciding_anew` for the first s draws; None without draws of the costs
    anew: Floats | None = None
    recalibrations: Mapping[str, Recalibration] = field(default_factory=dict)  # of badly calibrated models, by name

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
        draws: int | None = None,
        seed: int = 0,
        notes: tuple[str, ...] = (),
        samples: Sequence[tuple[ModelPolicies, RowSample]] = (),
    ) -> Self:
        """Draw the costs of the models' policies, the trivial policies and present practice.

        `table` and `columns` are as in `policy_costs`, as are the draws, by default `usual_draws`; a metric without
        posterior draws contributes no uncertainty. The population is by default that of the metric, otherwise 1,000;
        the words are by default those of the metric, otherwise the names of the classes. The notes are passed on to the
        judgement. The samples are rows of each model, from which it is known what deciding anew would save, and how a
        badly calibrated one is recalibrated.
        """
        draws = usual_draws(len(metric.classes)) if draws is None else draws
        others = always(metric.classes)
        if practice is not None:
            others = (*others, Policy(PRACTICE, "practice"))
        unit_costs = UnitCosts.of(metric)
        costs = policy_costs(unit_costs, table, columns, others, practice, draws=draws, seed=seed)
        if draws and unit_costs.draws is None:
            notes = ("The metric has no draws: the doubt from the cases is counted, not that from the answers.", *notes)
        if 0 < draws < _FEWEST_DRAWS:
            notes = (*notes, f"Ranges and probabilities are rough: they rest on {counted(draws, 'draw')} only.")
        words = words or metric.words or CaseWords.plain(metric.classes)
        if draws and costs.people is not None:
            cases = counted(int(costs.cases.sum()), words.case, words.cases)
            rests = f"How sure this is rests on {costs.people.total:,} people, not on {cases}"
            notes = (*notes, f"{rests}: those of one person resemble each other.")
        elif draws and costs.grouped:
            notes = (*notes, "The doubt from the cases is computed from 512 groups of cases per class, dealt in turn.")
        if population is None:
            population = metric.population or DEFAULT_POPULATION
        anew = _savings_of_deciding_anew(costs, samples)
        found = {model.name: model.calibration.recalibration for model, _ in samples}
        recalibrations = {name: one for name, one in found.items() if one is not None}
        return cls(metric, costs, population, words, notes, anew, recalibrations)

    @classmethod
    def of_models(
        cls,
        metric: ElicitedMetric,
        true: NDArray[np.int64],
        models: Sequence[tuple[ModelPolicies, NDArray[Any]]],
        people: NDArray[np.int64] | None = None,
        **options: Any,
    ) -> Self:
        """Return the judge of models, each given as its policies and its probabilities, (n, k), for the same cases.

        The cases may be of numbered people, (n,). The options are those of `of`, except the notes, which are about the
        models.
        """
        decided = [row for model, proba in models for row in model.decisions(proba, people=people)]
        columns = [policy for model, _ in models for policy in model.policies]
        table = case_table(true, decided, len(metric.classes), people)
        samples = [(model, sample_of(true, proba, people)) for model, proba in models]
        notes = notes_on([model for model, _ in models])
        return cls.of(metric, table, columns, notes=notes, samples=samples, **options)

    def at(self, prevalence: ArrayLike | Mapping[Any, float] | None = None) -> Judgement:
        """Judge at a prevalence, stated as shares (k,) or by label; the bootstrap then acts only within each class.

        By default the shares are those of the cases and are part of the bootstrap. Raises InputError if it is invalid,
        or gives a share to a class without cases.
        """
        costs, draws = self.costs, len(self.costs.shares)
        own = costs.shares_at(prevalence, self.metric.class_index)
        drawn = self._drawn(own, costs.shares if prevalence is None else np.broadcast_to(own, (draws, len(own))))
        unit = costs.unit_costs.unit
        positive = unit[1] if len(self.metric.classes) == 2 else None
        thresholds: dict[tuple[float, ...] | None, Threshold] = {}
        if positive is not None:
            corrections = {policy.correction for policy in costs.policies}
            found = {one: threshold_of(costs.unit_costs, positive, one) for one in corrections}
            thresholds = {one: threshold for one, threshold in found.items() if not np.isnan(threshold.value)}
        matrices = [costs.rates[:, index] * own[:, None] for index in range(len(costs.policies))]
        policies = [
            JudgedPolicy(
                policy=policy,
                threshold=thresholds.get(policy.correction) if policy.decides == "least-cost" else None,
                cost_per_population=float(drawn.estimate[index]),
                counts=_frozen(natural_frequencies(matrix, self.population)),
                macro_f1=float(macro_f1(matrix)),
                cases=costs.counted_on(policy),
                rank=1,
                difference_to_best=0.0,
            )
            for index, (policy, matrix) in enumerate(zip(costs.policies, matrices, strict=True))
        ]
        fields = compared(policies, drawn, int(costs.cases.sum()), self.metric, self.words, costs.people)
        few = draws and few_cases(fields["policies"], own) is not None
        return Judgement(
            metric=self.metric,
            words=self.words,
            unit=unit,
            positive=positive,
            population=self.population,
            prevalence=own,
            stated=prevalence is not None,
            cases=costs.cases,
            n_draws=draws,
            grouped=costs.grouped,
            people=costs.people,
            notes=(
                *self.notes,
                *self._how_to_recalibrate(fields["policies"][0]),
                *([_TOO_SURE] if few else []),
                *self._notes_at(own),
            ),
            model_names=tuple(dict.fromkeys(one.model for one in costs.policies if one.model is not None)),
            **fields,
        )

    def _how_to_recalibrate(self, best: JudgedPolicy) -> tuple[str, ...]:
        """Return how the first policy's probabilities are recalibrated, so that it can be put to use."""
        right = self.recalibrations.get(best.policy.model or "") if best.policy.recalibrated else None
        if right is None:
            return ()
        if best.threshold is None:
            return (right.in_words(str(best.policy.model), self.words.classes),)
        own = right.before(best.threshold.value, self.costs.unit_costs.unit[1])
        here, there = threshold_text(own), threshold_text(best.threshold.value)
        return (f"{best.policy.model} itself says {here} where it says {there} once recalibrated.",)

    def _drawn(self, own: Floats, shares: Floats) -> CostDraws:
        """Return the costs per population at the shares `own`, (k,), with draws at the drawn `shares`, (b, k)."""
        costs = self.costs
        answers = costs.drawn_from_answers(own)
        anew = None
        if answers is not None and self.anew is not None:
            anew = self.population * (answers[: len(self.anew)] - np.einsum("skp,k->sp", self.anew, own))
        return CostDraws(
            estimate=self.population * (own @ costs.estimate),
            both=self.population * costs.drawn_from_both(shares),
            answers=None if answers is None else self.population * answers,
            anew=anew,
            cases=self.population * costs.drawn_from_cases(shares),
            worth=costs.worth,
            unshown=Unshown(costs, shares, self.population, tuple(range(len(costs.policies)))),
        )

    def _notes_at(self, shares: Floats) -> tuple[str, ...]:
        """Return a caveat if the prevalence differs from that of the cases, for which probabilities are."""
        own = self.costs.own_shares
        at = int(np.abs(shares - own).argmax())
        used = [policy for policy in self.costs.policies if policy.decides == "least-cost"]
        needed = correction_for(shares, self.costs.cases)
        if not used or needed is None:
            return ()
        here = any(policy.correction is not None and np.allclose(policy.correction, needed) for policy in used)
        there = f"{two_digits(100 * shares[at])} %"
        then = f"where there are {there} they should be corrected before they decide."
        if here:
            then = f"corrected for {there} they are one more policy"
            two = len(shares) == 2
            how = "each times the share of its class there over that in the cases, then divided by their sum"
            then += ", with a threshold for the probability as the model gives it." if two else f": {how}."
        known = f"The models' probabilities are for {two_digits(100 * own[at])} % “{self.metric.classes[at]}”"
        return (f"{known}, as in the cases; {then}",)


@dataclass(frozen=True, eq=False)
class CostsByPrevalence:
    """The estimated costs of all policies at any prevalence, without draws: what `Judge.at` reports, in less time."""

    costs: PolicyCosts  # of the same models, corrected for whatever prevalence
    true: NDArray[np.int64]  # shape (n,)
    models: Sequence[tuple[ModelPolicies, NDArray[Any]]]  # with their probabilities, (n, k), for these cases
    people: NDArray[np.int64] | None = None  # shape (n,)

    def at(self, shares: Floats) -> tuple[tuple[Policy, ...], Floats]:
        """Return the policies and their mean costs per case, (p,), at shares of the true classes, (k,) with sum 1."""
        kept = [index for index, policy in enumerate(self.costs.policies) if policy.correction is None]
        policies, costs = [self.costs.policies[index] for index in kept], [*(shares @ self.costs.estimate[:, kept])]
        for (model, _), proba in zip(self.models, self._recalibrated, strict=True):
            known = model.calibration.at(shares, self.costs.cases)
            if known.correction is None:
                continue
            policies.append(replace(model, calibration=known).policies[-1])
            decided = cost_sensitive_decisions(known.corrected(proba), model.cost_matrix)
            costs.append(float(shares @ self._by_class(decided)))
        return tuple(policies), np.array(costs)

    @cached_property
    def _recalibrated(self) -> tuple[NDArray[Any], ...]:
        return tuple(model.recalibrated(proba, people=self.people) for model, proba in self.models)

    def _by_class(self, decided: NDArray[np.int64]) -> Floats:
        """Return the mean cost of decisions, (n,), for the cases of each true class, (k,)."""
        rates = case_table(self.true, [decided], len(self.costs.cases)).rates[:, 0]
        return np.asarray((rates * self.costs.unit_costs.estimate).sum(axis=1))


def judge(
    metric: ElicitedMetric,
    y_true: ArrayLike,
    y_proba: Mapping[str, ArrayLike],
    *,
    labels: Sequence[object] | None = None,
    groups: ArrayLike | None = None,
    prevalence: ArrayLike | Mapping[Any, float] | None = None,
    practice: ArrayLike | None = None,
    population: int | None = None,
    draws: int | None = None,
    seed: int = 0,
) -> Judgement:
    """Judge the policies of models that were tried on the same cases.

    The policies are: each model as it decides now; each model with these costs, unless it gives only labels; each badly
    calibrated model recalibrated, with these costs; each model corrected for a stated prevalence that is not that of
    the cases, with these costs; always the same class; and present practice, if given. Uncertainty in the costs comes
    from the metric's draws, and in the cases from a Bayesian bootstrap. Both are paired over the policies.

    Parameters
    ----------
    metric : ElicitedMetric
        The costs of mistakes.
    y_true : array-like of shape (n,)
        True labels, matched with the classes of the metric as text.
    y_proba : mapping of str to array-like of shape (n, k) or (n,)
        Probabilities of each model, by name; or the labels that a model, or a human reader, gives.
    labels : sequence of k labels, optional
        Labels of the columns, such as an estimator's ``classes_``. By default the column names of a frame, otherwise
        the classes of the metric in their order.
    groups : array-like of shape (n,), optional
        Whose case each is, if several may be of one person (or machine, or site): the bootstrap then draws all cases of
        a group together. If each case is a group, or all are one, nothing changes.
    prevalence : array-like of shape (k,) or mapping of label to share, optional
        Stated shares of the true classes; by default those of the cases.
    practice : array-like of shape (k, k), optional
        Counts or rates of present practice; rows are true classes, in the order of the metric's or with their own
        names, as from `metrics.confusion_matrix`.
    population : int, optional
        Number of cases to which costs refer; by default the metric's population, otherwise 1,000.
    draws : int, optional
        Number of draws for both uncertainties; 0 leaves all uncertainty out. By default 4,000, with more than ten
        classes fewer: 1,000 from 40 classes on.
    seed : int
        Seed of all draws.

    Returns
    -------
    Judgement
        The recommended policy first.

    Raises
    ------
    InputError
        If an argument is invalid; the message names it and says what was expected.

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
    true, models, people = models_of(metric, y_true, y_proba, labels, groups, prevalence)
    today = None if practice is None else Practice.of(metric.matrix_of(practice, "practice"), metric.classes)
    options = {"practice": today, "population": population, "draws": draws, "seed": seed}
    return Judge.of_models(metric, true, models, people, **options).at(prevalence)


def models_of(
    metric: ElicitedMetric,
    y_true: ArrayLike,
    y_proba: Mapping[str, ArrayLike],
    labels: Sequence[object] | None = None,
    groups: ArrayLike | None = None,
    prevalence: ArrayLike | Mapping[Any, float] | None = None,
) -> tuple[NDArray[np.int64], list[tuple[ModelPolicies, Floats]], NDArray[np.int64] | None]:
    """Return the indices of the true classes, shape (n,), and the models with their probabilities, shape (n, k).

    With groups of several cases also their numbers, (n,). Raises InputError if a label is not one of the metric's
    classes, there is no model, a table does not hold probabilities for these cases, or the groups or the prevalence are
    invalid.
    """
    require_metric(metric)
    true = metric.class_index.indices(y_true, "y_true").astype(np.int64)
    people = numbered_groups(groups, len(true))
    cases = np.bincount(true, minlength=len(metric.classes))
    stated = None if prevalence is None else stated_shares(prevalence, metric.class_index, cases)
    if not isinstance(y_proba, Mapping):
        raise ArgumentTypeError("y_proba: the probabilities of each model by its name were expected, {name: y_proba}.")
    if not y_proba:
        raise InputError("y_proba: the probabilities of at least one model were expected.")
    models = []
    for model, given in y_proba.items():
        name = f"y_proba, {model!r}"
        if _are_labels(given):
            table = np.eye(len(metric.class_index))[metric.class_index.indices(given, name)]
        else:
            proba, columns = metric.table_of(given, labels, name)
            checked_rows(proba, name)
            table = np.zeros((len(proba), len(metric.class_index)))  # a class without a column is never predicted
            table[:, columns] = proba
        same_length(len(true), len(table), name)
        known = calibration(true, table, people).at(stated, cases)
        models.append((ModelPolicies(str(model), metric.cost_matrix, known), table))
    return true, models, people


def _are_labels(given: ArrayLike) -> bool:
    """Return whether a sequence holds labels rather than probabilities."""
    if getattr(given, "ndim", 1) != 1:
        return False
    try:
        values = np.asarray(given)
    except ValueError:  # rows of different lengths
        return False
    return values.ndim == 1 and values.dtype.kind != "f"


def threshold_of(costs: UnitCosts, positive: int, correction: tuple[float, ...] | None = None) -> Threshold:
    """Return p_t = c_FP / (c_FP + c_FN) with its 90 % range over the draws (C. Elkan, IJCAI 2001, section 1).

    With a correction it is that of the probabilities before they are corrected, which the model gives. It is NaN if
    neither mistake costs anything, as where there are no cases of one class and mistakes on the other are free.
    """
    negative = 1 - positive
    common = correction or (1.0, 1.0)

    def of(matrix: Floats) -> Floats:
        alarm = common[negative] * matrix[..., negative, positive]
        miss = common[positive] * matrix[..., positive, negative]
        return np.asarray(alarm / np.where(alarm + miss > 0, alarm + miss, np.nan))

    value = float(of(costs.estimate))
    return Threshold(value, *((value, value) if costs.draws is None else range_of_draws(of(costs.draws))))


def _savings_of_deciding_anew(costs: PolicyCosts, samples: Sequence[tuple[ModelPolicies, RowSample]]) -> Floats | None:
    """Return `savings_of_deciding_anew` of all policies; None if the costs have no draws."""
    draws = costs.unit_costs.draws
    if draws is None or not len(costs.order) or not samples:
        return None
    rows = [sample.rows() for _, sample in samples]
    columns = [
        one
        for (model, _), one_model in zip(samples, rows, strict=True)
        for one in model.deciding(one_model.proba, one_model.numbers, one_model.people)
    ]
    first = draws[costs.order[: enough_draws(len(costs.cases))]]
    found = savings_of_deciding_anew(first, costs.unit_costs.estimate, rows[0].true, columns)
    return np.pad(found, ((0, 0), (0, 0), (len(costs.policies) - len(columns), 0)))  # the others come first


def _frozen(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    counts.setflags(write=False)
    return counts
