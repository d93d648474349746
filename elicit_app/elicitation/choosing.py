"""Choose the pair to ask about, or the count to ask for: the most expected information for the effort."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from elicit_app.elicitation.belief import Posterior, memory_slices
from elicit_app.elicitation.pairs import PairSet
from elicit_app.elicitation.questions import ROUND_STEPS, Answer, Asked, Choice, Matrix, Moved, Proposal, Question, Side
from elicit_app.elicitation.region import Region
from elicit_app.elicitation.response import EqualPoints, evidence
from metrics.elicited.family import error_cells, family_of

Goal = Literal["order", "closeness"]
# Which of two mistakes, as believed; bare: the one without a common base.
MovedMistake = Literal["grave", "slight", "bare"]
Chooser = Callable[[Posterior, PairSet, Goal, Matrix, bool], int]  # same signature as `best_pair`

_LIKELY_COUNTS = 6  # for which the next step is prepared while a person looks for one
# Information from a pair far from the models, relative to a near one; small trades give counts as well as large ones
_FAR_WORTH, _FAR_COUNT_WORTH = 0.9, 0.5
_GLANCE = 4  # every fourth draw serves to preselect the pairs that deserve all draws
_LOOKED_INTO = 400  # pairs evaluated with all draws
_SHORTLIST = 150
_LEAST_SCALE = 10  # counts that the scale of an equal point must offer
_POINT_DRAWS, _POINT_SHORTLIST = 320, 100  # draws and counts evaluated
_BINS = 8  # parts of a scale, and one beyond it
_BLOCK = 32_000  # numbers (draws times pairs) per block: what fits the processor's cache
_COUNTS_AT_ONCE = 256  # a part has many copies in memory at once: larger parts cost a long session 9 MiB
_NEARLY = 0.95  # share of the maximum information that is as good as the maximum
_DECIMALS = 9  # scores are compared rounded, because machines differ in the last digits


def information(belief: Posterior, gains: Matrix, graded: bool = False) -> Matrix:
    """Return the mutual information, in bits, between the answer and everything unknown (Lindley 1956).

    Parameters
    ----------
    belief : Posterior
        The draws.
    gains : ndarray of shape (pairs, m)
        Gains of the pairs.
    graded : bool
        Whether "slightly" and "clearly" are among the answers.
    """
    bits = np.zeros(len(gains))
    step = max(1, _BLOCK // len(belief.log_weights))
    for start in range(0, len(gains), step):
        block = slice(start, start + step)
        bits[block] = _information(belief.answer_probabilities(gains[block], graded))
    return bits


def best_pair(belief: Posterior, pairs: PairSet, goal: Goal, targets: Matrix, graded: bool = False) -> int:
    """Return the index of the pair to ask about; ties go to the first.

    Parameters
    ----------
    belief : Posterior
        Current belief.
    pairs : PairSet
        Candidates.
    goal : {"order", "closeness"}
        What the answer should tell most about. closeness: the weights in the family's normalisation, by expected
        squared error, among the pairs with nearly the most information about everything unknown; it ignores the number
        of cells, which is small when weights are few. order: which of two achievable matrices is better (expected
        predictive information, Bickford Smith et al. 2023), per effort of reading, for more weights than answers can
        pin down.
    targets : ndarray of shape (n, m)
        Gains of random pairs of achievable matrices.
    graded : bool
        Whether "slightly" and "clearly" are among the answers.
    """
    effort = np.ones(len(pairs))
    if goal == "order":
        effort *= pairs.effort
    effort[pairs.far] /= _FAR_WORTH
    close = _promising(belief, pairs.gains, effort, graded)
    bits = information(belief, pairs.gains[close], graded)
    if goal == "closeness":
        bits = bits / effort[close]
        nearly = close[bits >= _NEARLY * bits.max()]
        return int(
            nearly[
                _first_best(_spread_explained(belief.answer_probabilities(pairs.gains[nearly], graded), belief.samples))
            ]
        )
    shortlist = close[_top_indices(bits / effort[close], _SHORTLIST)]
    order = belief.weights @ targets.T > 0
    worth = _order_information(belief.answer_probabilities(pairs.gains[shortlist], graded), order) / effort[shortlist]
    return int(shortlist[_first_best(worth)])


def worth(belief: Posterior, pairs: PairSet, chosen: int, targets: Matrix, graded: bool = False) -> float:
    """Return the expected information, in bits, of a choice on one pair about the order of the targets."""
    order = belief.weights @ targets.T > 0
    return float(_order_information(belief.answer_probabilities(pairs.gains[[chosen]], graded), order)[0])


@dataclass(frozen=True, eq=False)
class EqualCandidates:
    """Counts that could be asked for, each of a different pair.

    Parameters
    ----------
    pairs : ndarray of int, shape (n,)
        Pair of each count.
    on_first : ndarray of bool, shape (n,)
        Whether the count of the first side is moved.
    mistakes : ndarray of int, shape (2, n)
        True and predicted class of the mistake whose count is moved.
    scale : ndarray of int, shape (3, n)
        Current count, which is the start; the least, one more than the other side's, where nothing would be traded; and
        the most.
    far : ndarray of bool, shape (n,)
        Whether the pair is far from what the models do.
    points : EqualPoints
        The counts as the belief sees them.
    population : int
        Population that counts refer to.
    """

    pairs: NDArray[np.intp]
    on_first: NDArray[np.bool_]
    mistakes: NDArray[np.intp]
    scale: NDArray[np.intp]
    far: NDArray[np.bool_]
    points: EqualPoints
    population: int

    def __len__(self) -> int:
        """Return the number of candidates."""
        return len(self.pairs)

    def proposal(self, place: int) -> Proposal:
        """Return one candidate as a proposal."""
        side: Side = "first" if self.on_first[place] else "second"
        return Proposal(side, *self.mistakes[:, place].tolist(), *self.scale[:, place].tolist())

    def long_scales(self) -> tuple[NDArray[np.intp], Matrix]:
        """Return the indices of candidates whose scale is long enough, and the logarithms of the scale lengths."""
        lengths = self.scale[2] - self.scale[1] + 1
        places = np.flatnonzero(lengths >= _LEAST_SCALE)
        return places, np.log(lengths[places])


class BestEqualPoint(NamedTuple):
    """The count to ask for: its pair, its scale, and the expected bits."""

    pair: int
    proposal: Proposal
    worth: float


def equal_candidates(
    belief: Posterior, pairs: PairSet, region: Region, population: int, moved_mistake: MovedMistake
) -> EqualCandidates:
    """Return the counts that could be asked for, from the pairs that trade one mistake for one other.

    Parameters
    ----------
    belief : Posterior
        Determines which of two mistakes is graver.
    pairs : PairSet
        Candidates.
    region : Region
        Limits how far a count may be moved.
    population : int
        Population that the pairs' rates are shown for.
    moved_mistake : {"grave", "slight", "bare"}
        Which count is moved: that of the graver mistake, of the slighter one, or of the one without a common base.
    """
    two = np.flatnonzero(pairs.cells == 2)
    first, second = (_whole_cases(side, two, population) for side in (pairs.first, pairs.second))
    apart = first - second
    apart *= error_cells(belief.prior.n_classes)
    whole = np.count_nonzero(apart, axis=(1, 2)) == 2
    if not whole.all():
        two, first, second, apart = two[whole], first[whole], second[whole], apart[whole]
    _, true, predicted = (one.reshape(-1, 2) if one.size else one for one in np.nonzero(apart))
    if not len(two):
        none = EqualPoints(np.empty(0, np.intp), np.empty((0, belief.prior.size)), *(np.empty(0),) * 3)
        nothing = np.empty((3, 0), np.intp)
        return EqualCandidates(two, np.empty(0, bool), nothing[:2], nothing, np.empty(0, bool), none, population)
    weights = np.stack([_weight_index(belief, true[:, c], predicted[:, c]) for c in (0, 1)], axis=1)
    each = np.arange(len(two))
    if moved_mistake == "bare":
        moved = np.minimum(first, second)[each[:, None], true, predicted].argmin(axis=1)
    else:
        graver = np.median(belief.log_weights, axis=0)[weights].argmax(axis=1)
        moved = graver if moved_mistake == "grave" else 1 - graver
    if region.fixed is not None:
        moved = np.where(region.fixed[true[each, moved]], 1 - moved, moved)
    i, j = true[each, moved], predicted[each, moved]
    on_first = apart[each, i, j] > 0
    base, count = (np.where(at, first[each, i, j], second[each, i, j]) for at in (~on_first, on_first))
    most = region.limits(np.where(on_first[:, None, None], first, second), i, j)
    rest = np.zeros((len(two), belief.prior.size))
    still = 1 - moved
    rest[each, weights[each, still]] = np.abs(apart[each, true[each, still], predicted[each, still]]) / population
    unknown = np.full(len(two), np.nan)
    points = EqualPoints(weights[each, moved], rest, unknown, unknown, unknown)
    scale = np.stack([count, base + 1, most]).astype(np.intp)
    return EqualCandidates(two, on_first, np.stack([i, j]), scale, pairs.far[two], points, population)


def _whole_cases(rates: Matrix, some: NDArray[np.intp], population: int) -> NDArray[np.int32]:
    """Return the selected matrices of rates (n, k, k) as counts."""
    counts = np.empty((len(some), *rates.shape[1:]), dtype=np.int32)
    for part in memory_slices(len(some), rates[0].size if len(rates) else 1):
        counts[part] = np.rint(rates[some[part]] * population)
    return counts


def best_equal_point(belief: Posterior, found: EqualCandidates, targets: Matrix) -> BestEqualPoint | None:
    """Return the count whose equal point is expected to tell most about the order of the targets.

    Parameters
    ----------
    belief : Posterior
        Current belief.
    found : EqualCandidates
        Counts that could be asked for.
    targets : ndarray of shape (n, m)
        Gains of the pairs of results whose order matters.

    Returns
    -------
    BestEqualPoint or None
        None if no count can be asked for.
    """
    long_scales, top = found.long_scales()
    if not len(long_scales):
        return None
    few, some = belief.thinned(_GLANCE), belief.thinned(-(-len(belief.log_weights) // _POINT_DRAWS))

    def expected(draws: Posterior, places: NDArray[np.intp]) -> Matrix:
        exact = draws.response.equal_points(draws.weights, draws.person, _some_points(found.points, places))
        return np.asarray(exact + np.log(found.population))

    def promise(part: slice) -> Matrix:
        logs = expected(few, long_scales[part])
        inside = ((logs > 0) & (logs < top[part])).mean(axis=0)
        return np.asarray(np.log1p(logs.var(axis=0) / np.mean(few.person.error**2)) * inside)

    share = np.where(found.far[long_scales], _FAR_COUNT_WORTH, 1.0)
    promising = _top_indices(share * _in_parts(promise, len(long_scales)), _POINT_SHORTLIST)
    person = some.person
    edges = top[promising] * np.linspace(1 / _BINS, 1.0, _BINS)[:, None]
    below = ndtr((edges[:, None, :] - expected(some, long_scales[promising])[None]) / person.error[None, :, None])
    answer_probabilities = np.diff(below, axis=0, prepend=0.0, append=1.0)
    lapse = person.lapse[None, :, None]
    answer_probabilities = answer_probabilities + lapse * (1 / len(answer_probabilities) - answer_probabilities)
    bits = _order_information(answer_probabilities, some.weights @ targets.T > 0)
    bits *= share[promising]
    best = _first_best(bits)
    place = int(long_scales[promising[best]])
    return BestEqualPoint(int(found.pairs[place]), found.proposal(place), float(bits[best]))


def _in_parts(score: Callable[[slice], Matrix], n: int) -> Matrix:
    """Return the scores of n counts, computed in parts: all draws of all counts take many megabytes."""
    return np.concatenate([score(slice(at, at + _COUNTS_AT_ONCE)) for at in range(0, n, _COUNTS_AT_ONCE)])


def most_discriminating_count(belief: Posterior, found: EqualCandidates, felt: Matrix) -> int | None:
    """Return the count that best discriminates between two hypotheses about the gains; None if there is none.

    Parameters
    ----------
    belief : Posterior
        Current belief.
    found : EqualCandidates
        Counts that could be asked for.
    felt : ndarray of shape (pairs, m)
        Gains under the rival, of all pairs that `found` was made from.
    """
    long_scales, top = found.long_scales()
    if not len(long_scales):
        return None
    person = belief.person

    def worth_asking(part: slice) -> Matrix:
        points = _some_points(found.points, long_scales[part])
        rest = np.abs(felt[found.pairs[long_scales[part]]])
        rest[np.arange(len(rest)), points.cell] = 0.0
        shift = np.log(rest.sum(axis=1)) - points.log_amount
        straight = belief.response.equal_points(belief.weights, person, points) + np.log(found.population)
        bent = straight + person.shrinkage[:, None] * shift
        inside = np.mean([((one > 0) & (one < top[part])).mean(axis=0) for one in (straight, bent)], axis=0)
        apart = shift**2 / (straight.var(axis=0) + np.mean(person.error**2))
        return np.asarray(apart * inside**2)

    return int(long_scales[_first_best(_in_parts(worth_asking, len(long_scales)))])


def most_discriminating_pair(belief: Posterior, gains: Matrix, rival: Matrix) -> int:
    """Return the pair whose choice best discriminates between two hypotheses about the gains, each (pairs, m).

    It has the greatest Jensen-Shannon divergence between the two predictions, which is what the answer tells about two
    equally likely hypotheses.
    """
    predicted = [belief.answer_probabilities(each).mean(axis=1) for each in (gains, rival)]
    return _first_best(_information(np.stack(predicted, axis=1)))


def _weight_index(belief: Posterior, true: NDArray[np.intp], predicted: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the index of each mistake among the weights."""
    return family_of(belief.prior.family).places(true, predicted, belief.prior.n_classes)


def _some_points(points: EqualPoints, some: NDArray[np.intp]) -> EqualPoints:
    cell, rest, low, high, start = points
    return EqualPoints(cell[some], rest[some], low[some], high[some], start[some])


def _promising(belief: Posterior, gains: Matrix, effort: Matrix, graded: bool) -> NDArray[np.intp]:
    """Return the indices of the pairs worth evaluating with every draw, in order."""
    if len(gains) <= _LOOKED_INTO:
        return np.arange(len(gains))
    return _top_indices(information(belief.thinned(_GLANCE), gains, graded) / effort, _LOOKED_INTO)


def _top_indices(scores: Matrix, n: int) -> NDArray[np.intp]:
    """Return the indices of the n largest scores, in order; ties go to the first."""
    return np.sort(np.argsort(-np.round(scores, _DECIMALS), kind="stable")[:n])


def _information(answer_probabilities: Matrix) -> Matrix:
    """Return the bits that an answer tells about which draw is true, given probabilities (answers, draws, pairs)."""
    total = np.zeros(answer_probabilities.shape[2])
    for chance in answer_probabilities:
        chance = np.maximum(chance, 1e-12)
        expected = chance.mean(axis=0)
        bits = np.log2(chance)
        bits *= chance
        total += bits.mean(axis=0) - expected * np.log2(expected)
    return total


def _order_information(answer_probabilities: Matrix, order: NDArray[np.bool_]) -> Matrix:
    """Return the expected bits that an answer, chances (answers, n, pairs), tells about the order (n, targets)."""
    before, n = order.mean(axis=0), len(order)
    bits = np.zeros(answer_probabilities.shape[2])
    for chance in answer_probabilities:
        share = np.maximum(chance.mean(axis=0), 1e-12)
        after = (chance.T @ order) / (n * share[:, None])
        bits += share * (_entropy(before) - _entropy(after)).mean(axis=1)
    return bits


def _spread_explained(answer_probabilities: Matrix, samples: Matrix) -> Matrix:
    """Return the expected relative reduction in the squared error of the samples' mean, shape (pairs,)."""
    centred = samples - samples.mean(axis=0)
    lowered = np.zeros(answer_probabilities.shape[2])
    for chance in answer_probabilities:
        share = np.maximum(chance.mean(axis=0), 1e-12)
        shift = (chance.T @ centred) / (len(centred) * share[:, None])
        lowered += share * (shift**2).sum(axis=1)
    return lowered / max(float((centred**2).sum(axis=1).mean()), 1e-300)


def _entropy(p: Matrix) -> Matrix:
    p = np.clip(p, 1e-12, 1 - 1e-12)
    return np.asarray(-(p * np.log2(p) + (1 - p) * np.log2(1 - p)))


def _first_best(scores: Matrix) -> int:
    return int(np.argmax(np.round(scores, _DECIMALS)))


def likely_counts(belief: Posterior, question: Question) -> tuple[Moved, ...]:
    """Return the round counts that a person would most likely name to make both sides equal.

    Parameters
    ----------
    belief : Posterior
        Belief about the person.
    question : Question
        The pair with the count that may be moved; without one the result is empty.
    """
    proposal = question.proposal
    if proposal is None:
        return ()
    tens = 10 ** np.arange(len(str(proposal.most)))
    scale = [int(one) for one in np.outer(tens, ROUND_STEPS).ravel() if proposal.least <= one <= proposal.most]
    at = Moved(proposal.side, proposal.true, proposal.predicted, proposal.start, proposal.start)
    named = [replace(at, count=count) for count in scale]
    points = [evidence([Asked(question, Answer(Choice.EQUAL, moved=one))], belief.prior).points for one in named]
    answer_probabilities = [
        float(np.exp(belief.response.point_log_likelihood(belief.weights, belief.person, one)).mean())
        if len(one.cell)
        else 0.0
        for one in points
    ]
    order = np.argsort(-np.round(answer_probabilities, _DECIMALS), kind="stable")[:_LIKELY_COUNTS]
    return tuple(named[place] for place in order)
