"""Scoring of models with an elicited metric from their predictions files, in bounded memory.

All models are read side by side, so that their decisions on the same case are counted together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elicit_app.problem import Problem, shortened
from elicit_app.study.checking import Batch, require_comparable
from elicit_app.study.identity import SEVERAL_PLACES, tell_cases
from elicit_app.study.model import ColumnMap
from elicit_app.study.reading import (
    FIRST_CASES,
    PredictionsFile,
    file_notes,
    numbering_notes,
    open_predictions,
    repeats_notes,
    weight_notes,
)
from metrics import ElicitedMetric
from metrics.accumulating import ConcernScore, ExpectedCost, OnePass
from metrics.elicited.release import ReleaseForm
from metrics.measures.concern import TrueConcern
from metrics.measures.costs import mean_cost
from metrics.policies.cases import CaseTally, Policy, Practice
from metrics.policies.judgement import JudgedPolicy, Judgement
from metrics.policies.judging import Judge, ModelPolicies, notes_on
from metrics.policies.recalibration import UNKNOWN, Calibration, RowSample

Advance = Callable[[int], None]

_SAME_PREVALENCE = 1e-9
_FAR_PREVALENCE = 0.1  # of a class, from that of the metric file: its numbers may be those of the other class
_SAME_CASES = "files of one call must list the same cases in the same order."
_KEPT = 4_000_000  # probabilities, 32 MB: so few are not read again where the policies change


class Piece(NamedTuple):
    """Rows `start` up to `stop` (None: the end) of a predictions file, whose columns may have other names."""

    path: Path
    start: int = 0
    stop: int | None = None
    columns: ColumnMap | None = None

    def opened(self, classes: Sequence[str], *, by_case: bool = False) -> PredictionsFile:
        """Return the opened file; see `open_predictions`."""
        file = open_predictions(self.path, columns=self.columns, classes=classes, by_case=by_case)
        return replace(file, start=self.start, stop=self.stop)


@dataclass(frozen=True)
class ModelRows:
    """Some rows of one model, in consecutive pieces, in the form sent to a worker."""

    name: str
    pieces: tuple[Piece, ...]  # location of the rows


@dataclass(frozen=True)
class ConcernSettings:
    """Settings of the Meta Pattern Concern Score; see `metrics.meta_pattern_concern_score`."""

    top_k: int | None = None  # number of most probable classes considered; None for all
    n_intervals: int = 50  # number of confidence intervals, at least 2
    true_concern: TrueConcern = "sum"  # concern of the true class
    release: ReleaseForm = "graded"  # the metric's release factors, or its release list with one factor

    def kernel(self, metric: ElicitedMetric) -> ConcernScore:
        """Return the accumulator of the scores, both with and without class weights."""
        return ConcernScore(
            len(metric.classes),
            top_k=self.top_k,
            n_intervals=self.n_intervals,
            true_concern=self.true_concern,
            release_factors=metric.release_factors(self.release),
            class_weight=[*metric.class_weight.values()],
        )


AS_USUAL = ConcernSettings()


Stated = Callable[[NDArray[np.int64]], Sequence[float] | None]
"""A stated prevalence, shape (k,), given the number of rows by true class; None for that of the rows."""


def as_counted(labels: NDArray[np.int64]) -> None:
    """Return that no prevalence is stated."""


class ModelTally:
    """Sums over the rows of one model, other than its decisions."""

    def __init__(self, metric: ElicitedMetric, concern: ConcernSettings) -> None:
        k = len(metric.classes)
        self.sums = OnePass(expected=ExpectedCost(k, cost_matrix=metric.cost_matrix), concern=concern.kernel(metric))
        self.sample = RowSample()
        self.labels = np.zeros(k, dtype=np.int64)
        self.rescaled: list[tuple[Path, int]] = []
        self.numbered = False  # whether a file numbers the classes
        self.notes: list[str] = []
        self.person_columns: list[tuple[Path, str]] = []

    def update(self, batch: Batch, first_row: int, people: NDArray[np.int64] | None) -> None:
        """Add checked rows, and whose they are; `first_row` is the number of rows before them."""
        self.sums.update(batch.y_true, batch.y_proba, check_input=False)
        self.sample.update(batch.y_true, batch.y_proba, first_row, people)

    def merge(self, other: ModelTally) -> None:
        """Add another tally under the same metric."""
        self.sums.merge(other.sums)
        self.sample.merge(other.sample)
        self.labels += other.labels
        self.rescaled += other.rescaled
        self.numbered |= other.numbered
        self.notes += [note for note in other.notes if note not in self.notes]
        self.person_columns += other.person_columns


class RowsTally:
    """Sums over the rows of all models; tallies of parts of the rows can be merged.

    The order of the columns is that of the metric's classes; the calibrations of the models' probabilities are by
    default unknown. `cases` holds the truth and the decisions of all policies, `same_labels` whether the true labels of
    every row agree in all models.
    """

    def __init__(
        self,
        metric: ElicitedMetric,
        names: Sequence[str],
        calibrations: Sequence[Calibration] | None = None,
        concern: ConcernSettings = AS_USUAL,
    ) -> None:
        known = calibrations or [UNKNOWN] * len(names)
        self.metric = metric
        self.policies = [
            ModelPolicies(name, metric.cost_matrix, found) for name, found in zip(names, known, strict=True)
        ]
        self.cases = CaseTally(len(metric.classes), len(self.columns))
        self.models = [ModelTally(metric, concern) for _ in names]
        self.same_labels = True

    @property
    def columns(self) -> tuple[Policy, ...]:
        """Return the policies whose decisions are counted, in order."""
        return tuple(policy for model in self.policies for policy in model.policies)

    def update(self, batches: Sequence[Batch], first_row: int) -> None:
        """Add the same rows of all models; `first_row` is the number of rows before them."""
        truth = batches[0].y_true
        if any(not np.array_equal(batch.y_true, truth) for batch in batches[1:]):
            self.same_labels = False
            return
        people = _people_of(batches)
        for model, batch in zip(self.models, batches, strict=True):
            model.update(batch, first_row, people)
        self.decide(batches, first_row)

    def decide(self, batches: Sequence[Batch], first_row: int) -> None:
        """Count what the policies decide of rows, and nothing else; see `update`."""
        numbers, people = first_row + np.arange(len(batches[0].y_true)), _people_of(batches)
        decided = [
            policies.decisions(batch.y_proba, numbers, people)
            for policies, batch in zip(self.policies, batches, strict=True)
        ]
        self.cases.update(batches[0].y_true, np.concatenate(decided), first_row, people)

    def merge(self, other: RowsTally) -> None:
        """Add another tally of the same models."""
        self.cases.merge(other.cases)
        for own, theirs in zip(self.models, other.models, strict=True):
            own.merge(theirs)
        self.same_labels &= other.same_labels

    def calibrations(self, stated: Stated) -> list[Calibration] | None:
        """Return the calibration of each model found from the rows; None if it changes no policy."""
        labels = self.models[0].labels
        shares, _ = judged_prevalence(self.metric, labels, stated(labels))
        by_person = self.cases.people is not None
        found = [model.sample.calibration(by_person=by_person).at(shares, model.labels) for model in self.models]
        return None if found == [model.calibration for model in self.policies] else found


def _people_of(batches: Sequence[Batch]) -> NDArray[np.int64] | None:
    """Return whose cases the same rows of all models are, by the first model that tells it."""
    return next((batch.people for batch in batches if batch.people is not None), None)


def tally_rows(
    models: Sequence[ModelRows],
    metric: ElicitedMetric,
    first_row: int = 0,
    calibrations: Sequence[Calibration] | None = None,
    advance: Advance | None = None,
    concern: ConcernSettings = AS_USUAL,
) -> RowsTally:
    """Read the same rows of all models, before which there are `first_row` others, side by side and tally them.

    The classes of the models must be those of the metric, in any order, or their numbers 0..k-1. Raises Problem if a
    file has other classes or invalid rows; it lists all faults.
    """
    tally = RowsTally(metric, [model.name for model in models], calibrations, concern)
    for start, batches in _numbered(models, tally, first_row, advance):
        tally.update(batches, start)
    return tally


def tally_models(
    models: Sequence[ModelRows],
    metric: ElicitedMetric,
    advance: Advance | None = None,
    concern: ConcernSettings = AS_USUAL,
    stated: Stated = as_counted,
) -> RowsTally:
    """Tally all rows of models, and once more if their calibration or the prevalence requires other policies.

    Raises Problem as for `tally_rows`, or if the models were not tried on the same cases.
    """
    names = [model.name for model in models]
    tally = RowsTally(metric, names, concern=concern)
    few: list[tuple[int, list[Batch]]] = []
    numbers = 0
    for start, batches in _numbered(models, tally, 0, advance):
        tally.update(batches, start)
        numbers += sum(batch.y_proba.size for batch in batches)
        few = [*few, (start, batches)] if numbers <= _KEPT else []
    require_same_cases(models, tally)
    found = tally.calibrations(stated)
    if found is None:
        return tally
    again = RowsTally(metric, names, found, concern)
    for start, batches in few or _numbered(models, again):
        again.decide(batches, start)
    again.models = tally.models  # which the policies do not change
    return again


def _numbered(
    models: Sequence[ModelRows], tally: RowsTally, first_row: int = 0, advance: Advance | None = None
) -> Iterator[tuple[int, list[Batch]]]:
    """Yield the rows of all models side by side, checked, with the number of the first of them."""
    streams = [_batches(rows, tally.metric, model, advance) for rows, model in zip(models, tally.models, strict=True)]
    for batches in _side_by_side(streams):
        yield first_row, batches
        first_row += len(batches[0].y_true)


def _batches(rows: ModelRows, metric: ElicitedMetric, tally: ModelTally, advance: Advance | None) -> Iterator[Batch]:
    """Yield the checked rows of a model, and record notes in its tally."""
    for piece in rows.pieces:
        file = piece.opened(metric.classes)
        numbered = file.only_numbers(metric.classes)
        file = file.by_number() if numbered else file.ordered(metric.classes)
        check = file.check()
        for batch in file.batches(check):
            tally.labels += np.bincount(batch.y_true, minlength=len(metric.classes))
            if advance is not None:
                advance(len(batch.y_true))
            yield batch
        if check.rescaled:
            tally.rescaled.append((piece.path, check.rescaled))
        tally.numbered |= numbered
        notes = (
            *(numbering_notes(piece.path, metric.classes) if numbered else ()),
            *weight_notes(piece.path, file.weights),
            *(_notes_on_cases(piece, metric.classes) if piece is rows.pieces[0] and not piece.start else ()),
        )
        tally.notes += [note for note in notes if note not in tally.notes]
        tally.person_columns += [(piece.path, file.person_column)] if file.person_column else []


def _notes_on_cases(piece: Piece, classes: Sequence[str]) -> tuple[str, ...]:
    """Return notes on first rows that repeat cases, or on which models were trained."""
    file = piece.opened(classes, by_case=True)
    known = () if file.person_column else repeats_notes(file, file.first_cases(FIRST_CASES))
    return (*file_notes(file), *known)


def _side_by_side(streams: Sequence[Iterator[Batch]]) -> Iterator[list[Batch]]:
    """Yield the same rows of all streams; if one ends earlier, the others are still read to their end."""
    waiting: list[Batch | None] = [None] * len(streams)
    while True:
        waiting = [
            next(stream, None) if batch is None else batch for batch, stream in zip(waiting, streams, strict=True)
        ]
        batches = [batch for batch in waiting if batch is not None]
        if len(batches) < len(streams):
            break
        common = min(len(batch.y_true) for batch in batches)
        yield [batch.part(0, common) for batch in batches]
        waiting = [batch.part(common, len(batch.y_true)) if len(batch.y_true) > common else None for batch in batches]
    for stream in streams:
        for _ in stream:
            pass


def require_same_cases(models: Sequence[ModelRows], tally: RowsTally) -> None:
    """Check that there is something to compare and that the models were tried on the same cases.

    Raises Problem if not; the message says which two differ and how.
    """
    metric = tally.metric
    for rows, model in zip(models, tally.models, strict=True):
        require_comparable(rows.pieces[0].path, metric.classes, model.labels)
    (first, labels), *others = ((rows, model.labels) for rows, model in zip(models, tally.models, strict=True))
    for other, found in others:
        if found.sum() != labels.sum():
            raise other_rows(other.name, int(found.sum()), first.name, int(labels.sum()))
        fault = remedy = ""
        if (found != labels).any():
            at = int((found != labels).argmax())
            fault = f"{other.name} has {found[at]:,} cases of “{metric.classes[at]}”, {first.name} has {labels[at]:,}"
        elif not tally.same_labels or _in_other_order(first.pieces[0], other.pieces[0], metric.classes):
            what = "names the cases" if tally.same_labels else "has the true labels"
            fault = f"{other.name} {what} of {first.name}, but in another order"
            remedy = " A study puts files in one order by a column like case_id."
        if fault:
            raise Problem(f"{fault}: {_SAME_CASES}{remedy}")


def other_rows(name: str, rows: int, first: str, of_first: int) -> Problem:
    """Return the problem that a file has another number of rows than the first."""
    return Problem(f"{name} has {rows:,} rows, {first} has {of_first:,}: {_SAME_CASES} {SEVERAL_PLACES}")


def _in_other_order(one: Piece, other: Piece, classes: Sequence[str]) -> bool:
    """Return whether columns that name the cases place some of the first ones in different rows."""
    known = []
    for piece in (one, other):
        file = piece.opened(classes, by_case=True)
        cases = file.first_cases(FIRST_CASES)
        if cases is None or not tell_cases(file.case_column, cases):
            return False
        known.append(cases)
    here, there = known
    _, rows, others = np.intersect1d(here, there, assume_unique=True, return_indices=True)
    return not np.array_equal(rows, others)


@dataclass(frozen=True, eq=False)
class ModelScore:
    """One model judged by an elicited metric; lower costs are better."""

    name: str
    counts: NDArray[np.int64]  # shape (k, k): confusion matrix of the most probable classes; rows are true classes
    # the model as it decides now, compared with the other models as they decide now: cost per population in units of
    # the yardstick at the judged prevalence, rank, and probability of being best
    judged: JudgedPolicy
    # cost per row of the files, in units of the worst mistake, as from `metrics.misclassification_cost`
    misclassification_cost: float
    expected_misclassification_cost: float  # mean of sum_j p_ij C[y_i, j], likewise
    decided_cost: float  # cost of the decisions of least expected cost, likewise
    # Meta Pattern Concern Score with the metric's release factors and cases weighted by true class; None if every case
    # belongs to a class of weight 0
    mpcs: float | None
    mpcs_unweighted: float  # the same with equal weights, equation (9) of the paper
    # for the most probable classes; classes without cases are left out of the mean
    accuracy: float
    balanced_error_rate: float


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of models, in the order given, and the judgement of their policies."""

    models: tuple[ModelScore, ...]
    judgement: Judgement


def scores_of(
    tally: RowsTally,
    metric: ElicitedMetric,
    *,
    prevalence: Sequence[float] | None = None,
    practice: Practice | None = None,
    draws: int | None = None,
    seed: int = 0,
) -> Scores:
    """Return the models of a tally from `tally_models`, scored and judged with `draws` from `seed`; see `Judge`.

    The shares of the true classes are those of `prevalence`, by default those of the metric, if they differ from those
    of the rows.
    """
    shares, notes = judged_prevalence(metric, tally.models[0].labels, prevalence)
    if any(model.numbered for model in tally.models):
        notes += doubts_of_numbers(metric, tally.models[0].labels)
    notes += () if shares is None else ("Accuracy, MPCS and costs per case are those of the cases in the files.",)
    judge = Judge.of(
        metric,
        tally.cases.table(),
        tally.columns,
        practice=practice,
        draws=draws,
        seed=seed,
        notes=(*notes, *notes_on(tally.policies)),
        samples=[(policies, model.sample) for policies, model in zip(tally.policies, tally.models, strict=True)],
    )
    judgement = judge.at(shares)
    as_is = judgement.among(lambda policy: policy.decides == "as-is")
    return Scores(tuple(_scored(tally, index, metric, as_is) for index in range(len(tally.models))), judgement)


def judged_prevalence(
    metric: ElicitedMetric, cases: NDArray[np.int64], stated: Sequence[float] | None
) -> tuple[NDArray[np.float64] | None, tuple[str, ...]]:
    """Return the prevalence to judge at (None for that of the cases) and notes on it."""
    if stated is not None:
        return np.asarray(stated, dtype=np.float64), ()
    own = cases / cases.sum()
    if metric.prevalence is None or np.abs(metric.prevalence - own).max() <= _SAME_PREVALENCE:
        return None, ()
    known = metric.prevalence * (cases > 0)
    if not known.any():
        return None, ()
    at = int(np.abs(metric.prevalence - own).argmax())
    text = (
        f"Costs are for the prevalence of the metric file, {100 * metric.prevalence[at]:.3g} % “{metric.classes[at]}”; "
        f"the predictions have {100 * own[at]:.3g} %."
    )
    return known / known.sum(), (text,)


def doubts_of_numbers(metric: ElicitedMetric, cases: NDArray[np.int64]) -> tuple[str, ...]:
    """Return a note if two numbered classes seem to be the metric's in reverse order, by how common they are."""
    if metric.prevalence is None or len(cases) != 2:
        return ()
    one, known, (own, reverse) = shortened(metric.classes[0]), metric.prevalence[0], cases / cases.sum()
    if abs(own - known) < _FAR_PREVALENCE or abs(reverse - known) > abs(own - known) / 2:
        return ()
    return (
        f"Does 1 stand for “{one}”? Then {100 * reverse:.3g} % of the predictions are “{one}”, which is closer to the "
        f"{100 * known:.3g} % of the metric file than {100 * own:.3g} %. If so, name the classes in the file.",
    )


def _scored(tally: RowsTally, index: int, metric: ElicitedMetric, as_is: Judgement) -> ModelScore:
    model, name = tally.models[index], tally.policies[index].name
    counts = {policy: tally.cases.counts[at] for at, policy in enumerate(tally.columns) if policy.model == name}
    now = next(counts[policy] for policy in counts if policy.decides == "as-is")
    decided = next((counts[policy] for policy in counts if policy.decides == "least-cost"), now)
    present, concern = model.labels > 0, model.sums["concern"]
    assert isinstance(concern, ConcernScore)
    weighted = np.array([*metric.class_weight.values()]) @ model.labels > 0
    return ModelScore(
        name=name,
        counts=now,
        judged=next(one for one in as_is.policies if one.policy.model == name),
        misclassification_cost=mean_cost(now, metric.cost_matrix),
        expected_misclassification_cost=float(model.sums["expected"].result()),
        decided_cost=mean_cost(decided, metric.cost_matrix),
        mpcs=concern.result() if weighted else None,
        mpcs_unweighted=concern.unweighted(),
        accuracy=float(np.trace(now) / now.sum()),
        balanced_error_rate=float(1 - (now.diagonal()[present] / model.labels[present]).mean()),
    )
