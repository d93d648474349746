"""Studies of amounts, for several labels or for suggestions in contexts: made from predictions, scored by prices.

Questions compare outcomes of batches of the study's own items, as counts of amounts: labels found, missed and false;
or the distances of suggestions from the most frequent outcome and from the actual one. In the matrix of a question each
amount is a row: the good ones out of all possible ones are on the diagonal, the others beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elicit_app.problem import Problem, listed
from elicit_app.study.case_columns import CONTEXT, TRUE_LABEL, CaseColumns
from elicit_app.study.model import MOST_SHOWN, Mistake, Pack, Study, TalliedModel, Wording
from elicit_app.study.packs import pack_bytes, pack_name, parse_pack
from elicit_app.study.tables import PREDICTED, PROBABILITY, TRUTH
from metrics import ElicitedMetric
from metrics.elicited.kinds import PRICED, multilabel_amounts
from metrics.elicited.metric_parts import range_of_draws
from metrics.inputs.arguments import Floats
from metrics.measures.relevance import OutcomeFrequencies
from metrics.text import capitalised, counted

Kind = Literal["multilabel", "relevance"]

_USUAL = 60  # number shown of the most frequent amount, good or bad: two digits
_ROOM = 4.0  # rows hold this many times the models' amounts, so that amounts can differ either way
_FEWEST_POSSIBLE = 100
_BATCHES = 360
_SEED = 22
# No equal points: at small amounts people with constant noise place them very inaccurately, and ranges that rely on
# them are too narrow (benchmarks/prices.py).
_ASKED = {"max_cells": 2, "answers": "choice"}
_POINTS = (10, 20, 25, 30, 40, 50, 60, 70, 80, 90)  # sizes of a step between frequencies, in per cent


class ItemAmounts(NamedTuple):
    """The amounts of each item under one model's predictions, shape (n, m)."""

    name: str
    amounts: Floats


class ReadAmounts(NamedTuple):
    """The amounts of all models, their kind, and the difference of frequencies that one unit stands for."""

    kind: Kind
    models: tuple[ItemAmounts, ...]
    step: float = 1.0
    notes: tuple[str, ...] = ()


def is_of_amounts(path: Path) -> bool:
    """Return whether a predictions file holds several labels per item, or outcomes in contexts."""
    return _kind(CaseColumns(path)) is not None


def read_amounts(files: Sequence[Path], names: Sequence[str]) -> ReadAmounts:
    """Read the amounts of the models' predictions, item by item.

    There is one file per model, all for the same items, with columns as in `study.case_columns`. Raises Problem if the
    files are of different kinds or items, or one is invalid.
    """
    columns = [CaseColumns(file) for file in files]
    kinds = [_kind(one) for one in columns]
    kind = kinds[0]
    if None in kinds:
        neither = files[kinds.index(None)]
        raise Problem(
            f"{neither} is neither about several labels (columns true_<label> and pred_<label>) nor about outcomes in "
            "contexts (y_true, y_pred and context_<feature>)."
        )
    if kind is None or set(kinds) != {kind}:
        raise Problem("The files of one study must all be about several labels, or all about outcomes in contexts.")
    if kind == "multilabel":
        found = [multilabel_amounts(one.bits.true, one.bits.predicted) for one in columns]
    else:
        found = [_in_context(one) for one in columns]
    for file, amounts in zip(files[1:], found[1:], strict=True):
        if len(amounts) != len(found[0]):
            raise Problem(
                f"{file} has {counted(len(amounts), 'row')}, {files[0]} has {len(found[0]):,}: all files of one study "
                "list the same items in the same order."
            )
    for one in columns[1:]:
        _require_same_items(columns[0], one, kind)
    step, notes = 1.0, list[str]()
    if kind == "multilabel" and (columns[0].bits.true.sum(axis=1) == 1).all():
        notes.append(
            f"Every item in {files[0].name} has exactly one label. If none can have two, write it into a column "
            f"{TRUTH}: then each kind of mistake has a cost of its own."
        )
    if kind == "relevance" and (apart := np.concatenate(found)).any():
        typical = 100 * float(apart[apart > 0].mean())
        step = min(_POINTS, key=lambda size: abs(size - typical)) / 100
        found = [amounts / step for amounts in found]
    return ReadAmounts(kind, tuple(map(ItemAmounts, names, found)), step, tuple(notes))


def _require_same_items(first: CaseColumns, other: CaseColumns, kind: Kind) -> None:
    """Check that a file with as many items has the same true labels, outcomes or contexts as the first one."""
    ours, theirs = _truth_columns(first, kind), _truth_columns(other, kind)
    if ours.keys() != theirs.keys():
        raise Problem(
            f"{other.path} has {listed(sorted(theirs), 8)}, {first.path} has {listed(sorted(ours), 8)}: all files of "
            "one study are about the same items."
        )
    rows = [int(np.argmax(apart)) for name in ours if (apart := ours[name] != theirs[name]).any()]
    if rows:
        raise Problem(
            f"{other.path} and {first.path} differ in what is true of row {min(rows) + 1}: all files of one study list "
            "the same items in the same order."
        )


def _truth_columns(columns: CaseColumns, kind: Kind) -> dict[str, NDArray[Any]]:
    """Return the columns of a file that do not depend on a model, by name."""
    if kind == "multilabel":
        return {TRUE_LABEL + label: columns.bits.true[:, j] for j, label in enumerate(columns.bits.labels)}
    names = (name for name in columns.names if name in (TRUTH, CONTEXT) or name.startswith(f"{CONTEXT}_"))
    return {name: np.array(columns.labels(name)) for name in names}


def _kind(columns: CaseColumns) -> Kind | None:
    if not columns.has(TRUTH) and any(name.startswith(TRUE_LABEL) for name in columns.names):
        return "multilabel"
    in_context = columns.has(TRUTH, PREDICTED) and any(name.startswith(CONTEXT) for name in columns.names)
    return "relevance" if in_context and not any(name.startswith(PROBABILITY) for name in columns.names) else None


def _in_context(columns: CaseColumns) -> Floats:
    frequencies = OutcomeFrequencies(columns.y_true, columns.context)
    return frequencies.distances(columns.y_true, columns.y_pred, columns.context)[0]


def study_of_amounts(read: ReadAmounts, *, title: str, noun: tuple[str, str], population: int | None = None) -> Study:
    """Return the study: a packed one that holds only counts.

    `noun` is the word for labels, singular and plural: "mood", "moods". At most `population` of each amount are
    possible; by default 100, or more if the models require it.
    """
    _require_something_to_ask(read)
    kind = PRICED[read.kind]
    if population is not None and population > (most := MOST_SHOWN // len(kind.amounts)):
        raise Problem(f"At most {most:,} of each amount can be shown, not {population:,}.")
    tallied, possible = _tallied(read, np.array(kind.good), population)
    wording = _words(read, noun)
    setting: dict[str, object] = {"procedure": "bayes", "family": "dlpm", "purpose": "costs", **_ASKED}
    items = len(read.models[0].amounts)
    models = counted(len(read.models), "model")
    what = "several labels" if read.kind == "multilabel" else "outcomes in contexts"
    study = Study(
        name=pack_name(title),
        title=title,
        classes=kind.amounts,
        models=(),
        population=int(possible.sum()),
        stated_prevalence=None,
        wording=wording,
        yardstick=(0, 1) if read.kind == "multilabel" else (1, 0),
        kind="pack",
        description=f"{what}, {items:,} items, {models}",
        digest=_digest(read),
        pack=Pack(tallied, setting, ""),
    )
    return replace(parse_pack(Path(study.name), pack_bytes(study)), notes=read.notes)


def _require_something_to_ask(read: ReadAmounts) -> None:
    if not any(model.amounts.any() for model in read.models):
        raise Problem("Nothing was missed, wrong or found, so there is nothing to ask about.")
    if read.kind == "relevance" and all((one.amounts[:, 0] == one.amounts[:, 1]).all() for one in read.models):
        raise Problem(
            "There is nothing to ask about: every suggestion is as far from the usual outcome of its context as from "
            "what then happened. If contexts occur only once, leave out columns that tell every row from all others, "
            "and group numbers."
        )


def _tallied(
    read: ReadAmounts, good: NDArray[np.bool_], population: int | None
) -> tuple[tuple[TalliedModel, ...], Floats]:
    """Return the models with outcomes of random batches, and the number of possible units of each amount."""
    means = np.array([model.amounts.mean(axis=0) for model in read.models])
    items = _USUAL / means.max()
    usual = items * means
    room = np.where(good, usual.max(axis=0) / (1 - 1 / (_ROOM + 1)), _ROOM * usual.max(axis=0))
    possible = np.ceil(np.maximum(room, _FEWEST_POSSIBLE if population is None else population))
    rng = np.random.default_rng(_SEED)
    tallied = []
    for index, model in enumerate(read.models):
        own = np.arange(index, _BATCHES, len(read.models))
        n, size = len(model.amounts), max(1, round(items))
        # Batches of all items would be the same.
        batches = np.array([model.amounts[rng.choice(n, size, replace=size >= n)].mean(axis=0) for _ in own])
        outcomes = np.concatenate([usual[[index]], items * batches])
        matrices = np.array([_matrix(np.rint(one), possible, good) for one in outcomes])
        tallied.append(TalliedModel(model.name, matrices[0], matrices[1:], own.astype(np.int64)))
    return tuple(tallied), possible


def _matrix(amounts: Floats, possible: Floats, good: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return amounts as a matrix: in each row the good ones on the diagonal and the others beside it."""
    m = len(amounts)
    within = np.minimum(amounts, possible)
    right = np.where(good, within, possible - within)
    matrix = np.diag(right)
    matrix[np.arange(m), (np.arange(m) + 1) % m] = possible - right
    return matrix.astype(np.int64)


def _words(read: ReadAmounts, noun: tuple[str, str]) -> Wording:
    one, many = noun
    names: tuple[str, ...]
    several: tuple[str, ...]
    consequences: tuple[str, ...]
    if read.kind == "multilabel":
        names = (f"{one} found", f"missed {one}", f"false {one}")
        several = (f"{many} found", f"missed {many}", f"false {many}")
        consequences = ("", "It is there, and was not given.", "It was given, and is not there.")
    else:
        points = f"{100 * read.step:.0f} in 100"
        names = ("unusual suggestion", "suggestion off the mark")
        several = ("unusual suggestions", "suggestions off the mark")
        consequences = (f"{points} fewer do so than the usual.", f"{points} apart from what then happened.")
    amounts = tuple(
        Mistake(capitalised(plural), single, plural, consequence)
        for single, plural, consequence in zip(names, several, consequences, strict=True)
    )
    m = len(amounts)
    return Wording(
        case=one if read.kind == "multilabel" else "suggestion",
        cases=many if read.kind == "multilabel" else "suggestions",
        class_one=names,
        class_many=several,
        mistakes={(i, j): amounts[i] for i in range(m) for j in range(m) if i != j},
        any_mistake=amounts,
        priced=read.kind,
    )


def _digest(read: ReadAmounts) -> str:
    import hashlib

    digest = hashlib.sha256(b"elicit amounts 1" + read.kind.encode())
    for model in read.models:
        digest.update(np.ascontiguousarray(model.amounts, dtype="<f8").tobytes())
    return f"sha256:{digest.hexdigest()}"


_GROUPS = 512  # beyond this, items share weights: their uncertainty is then known within about 3 %


@dataclass(frozen=True)
class PricedScore:
    """One model under elicited prices; greater scores are better."""

    name: str
    amounts: dict[str, float]  # mean of each priced amount per item
    score: float  # as from `ElicitedMetric.multilabel_score` or `relevance_score`
    interval: tuple[float, float] | None  # 90 %, with the uncertainty of answers and items; None without draws
    rank: int  # by the score, from 1
    probability_best: float | None  # share of the draws in which no model scores higher


def priced_scores(
    metric: ElicitedMetric, files: Sequence[Path], names: Sequence[str], *, draws: int, seed: int
) -> tuple[PricedScore, ...]:
    """Score models, in the order given, by a metric of kind "multilabel" or "relevance"; see `read_amounts`.

    The `draws` reflect the uncertainty of answers and items; 0 leaves all uncertainty out. Raises Problem if the files
    are of another kind, or one is invalid.
    """
    read = read_amounts(files, names)
    if read.kind != metric.kind:
        what = {"multilabel": "several labels", "relevance": "outcomes in contexts"}
        raise Problem(f"{files[0]} is about {what[read.kind]}, the metric prices {what.get(metric.kind, 'mistakes')}.")
    amounts = np.array([model.amounts for model in read.models]) * read.step
    n_labels = len(CaseColumns(files[0]).bits.labels) if read.kind == "multilabel" else 1
    start, slopes = _linear(read.kind, metric.weights[None], n_labels)
    scores = start + amounts.mean(axis=1) @ slopes[0]
    drawn = _drawn(metric, amounts, read.kind, n_labels, draws, seed) if draws else None
    return tuple(
        PricedScore(
            name=name,
            amounts=dict(zip(PRICED[read.kind].amounts, map(float, amounts[m].mean(axis=0)), strict=True)),
            score=float(scores[m]),
            interval=None if drawn is None else range_of_draws(drawn[:, m]),
            rank=int((scores > scores[m] + 1e-12).sum()) + 1,
            probability_best=None if drawn is None else float((drawn[:, m] >= drawn.max(axis=1) - 1e-12).mean()),
        )
        for m, name in enumerate(names)
    )


def _linear(kind: Kind, weights: Floats, n_labels: int) -> tuple[float, Floats]:
    """Return the score as an intercept and the slope of each amount per item, shape (draws, m), given weights."""
    if kind == "relevance":
        return 100.0, -100 * weights / weights.sum(axis=1, keepdims=True)
    good = np.where(PRICED[kind].good, 1.0, -1.0)
    return 0.0, good * weights / weights[:, :1] / n_labels


def _drawn(metric: ElicitedMetric, amounts: Floats, kind: Kind, n_labels: int, draws: int, seed: int) -> Floats:
    """Return draws of the scores, shape (draws, models); each combines a draw of the prices and of item weights."""
    rng = np.random.default_rng(seed)
    prices = metric.weights[None] if metric.samples is None else metric.samples
    start, slopes = _linear(kind, prices[rng.integers(len(prices), size=draws)], n_labels)
    n = amounts.shape[1]
    groups = np.arange(n) % min(n, _GROUPS)
    sums = np.stack([[np.bincount(groups, weights=column) for column in model.T] for model in amounts])
    share = rng.exponential(size=(draws, groups.max() + 1))
    share /= share @ np.bincount(groups)[:, None]
    means = np.einsum("dg,kmg->dkm", share, sums)  # the same weights for every model: their draws are paired
    return np.asarray(start + np.einsum("dkm,dm->dk", means, slopes))
