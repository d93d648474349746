"""Judging models of several labels, or of suggestions in contexts, by prices that were elicited from a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from elicit_app.problem import Problem
from elicit_app.study.amounts import Kind, read_amounts
from elicit_app.study.measured.columns import CaseColumns
from metrics import ElicitedMetric
from metrics.elicited.kinds import PRICED

Floats = NDArray[np.float64]

_GROUPS = 512  # more items share weights: the doubt of the items is then known within about 3 %


@dataclass(frozen=True)
class PricedScore:
    """One model under elicited prices; greater scores are better.

    Parameters
    ----------
    name : str
        The model.
    amounts : dict of str to float
        What it does per item: the amounts that are priced.
    score : float
        As `ElicitedMetric.multilabel_score` or `relevance_score` has it.
    interval : tuple of float or None
        90 %, with the doubt of the answers and of the items; None without draws.
    rank : int
        By the score, from 1.
    probability_best : float or None
        Share of the draws in which no model scores higher.
    """

    name: str
    amounts: dict[str, float]
    score: float
    interval: tuple[float, float] | None
    rank: int
    probability_best: float | None


def priced_scores(
    metric: ElicitedMetric, files: Sequence[Path], names: Sequence[str], *, draws: int, seed: int
) -> tuple[PricedScore, ...]:
    """Score models by a metric of kind "multilabel" or "relevance".

    Parameters
    ----------
    metric : ElicitedMetric
        Of one of these kinds.
    files, names
        As in `read_amounts`.
    draws : int
        Of both doubts; 0 leaves all doubt out.
    seed : int
        Of the draws.

    Returns
    -------
    tuple of PricedScore
        In the order given.

    Raises
    ------
    Problem
        The files are about something else, or what is wrong with one.
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
            interval=None if drawn is None else _interval(drawn[:, m]),
            rank=int((scores > scores[m] + 1e-12).sum()) + 1,
            probability_best=None if drawn is None else float((drawn[:, m] >= drawn.max(axis=1) - 1e-12).mean()),
        )
        for m, name in enumerate(names)
    )


def _linear(kind: Kind, weights: Floats, n_labels: int) -> tuple[float, Floats]:
    """Return the score as a start and what each amount of an item adds to it, shape (draws, m), under weights."""
    if kind == "relevance":
        return 100.0, -100 * weights / weights.sum(axis=1, keepdims=True)
    good = np.where(PRICED[kind].good, 1.0, -1.0)
    return 0.0, good * weights / weights[:, :1] / n_labels


def _drawn(metric: ElicitedMetric, amounts: Floats, kind: Kind, n_labels: int, draws: int, seed: int) -> Floats:
    """Return the scores, shape (draws, models), under one draw of the prices and one of the items' weights each."""
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


def _interval(scores: Floats) -> tuple[float, float]:
    low, high = np.quantile(scores, (0.05, 0.95))
    return float(low), float(high)
