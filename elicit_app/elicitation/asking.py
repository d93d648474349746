"""Turn an item of the agenda into the next question: a choice or an equal point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
from scipy.special import expit

from elicit_app.elicitation.agenda import (
    PLAIN_REPEATS,
    SITTING,
    Item,
    check_question,
    n_informative,
    n_informative_before,
    not_just_asked,
    repeatable_answers,
    tradable_answers,
)
from elicit_app.elicitation.belief import Posterior
from elicit_app.elicitation.choosing import (
    Chooser,
    EqualCandidates,
    Goal,
    MovedMistake,
    best_equal_point,
    best_pair,
    equal_candidates,
    most_discriminating_count,
    most_discriminating_pair,
    worth,
)
from elicit_app.elicitation.linearity import gains_if_felt
from elicit_app.elicitation.pairs import PairSet, PairSource
from elicit_app.elicitation.pool import SAME
from elicit_app.elicitation.prior import WeightPrior
from elicit_app.elicitation.questions import Asked, Choice, Counts, Matrix, Moved, Proposal, Purpose, Question, Side
from elicit_app.elicitation.region import Region
from metrics.elicited.family import is_fraction

Answers = Literal["choice", "equal", "mixed"]

CHOICES_FIRST = 3  # informative questions before a count is asked for
COUNTS_IN_A_ROW = 3  # then a choice follows, because the two kinds are known to differ
FAR_AFTER = 4  # informative questions before a pair far from the models may come
_USUAL_FIRST = 2  # first questions with usual results; those tell less about people with noise constant in utility
_ENOUGH_USUAL = 100  # usual pairs, enough to find a good one among them
_SECONDS = {"choice": 14.0, "equal": 22.0}  # expected time of an answer before anything is known about the person
_SECONDS_KNOWN = 3  # answers that the expected time is worth
_START = (0.2, 0.9)  # part of the log scale on which a count may start
_ORDERS_ASKED, _BETWEEN_ORDERS = 2, 4  # stated orders that are asked about, every fourth question
_BETWEEN_PILES = 3  # questions for every pile but one, before mistakes of the same pile are compared


@dataclass(eq=False)
class Asker:
    """Source of the next question, given the belief and the answers so far.

    Parameters
    ----------
    source : PairSource
        Source of the pairs.
    prior : WeightPrior
        Determines which mistakes are weighed.
    models : ndarray of shape (n, k, k)
        Rates of the models' most probable classes; a check starts from them where any result may be shown.
    goal : {"order", "closeness"}
        What a choice should tell most about; see `best_pair`.
    targets : ndarray of shape (n, m)
        Gains of the pairs of results whose order matters: random achievable pairs, or those a decision depends on.
    answers : {"choice", "equal", "mixed"}
        Kinds of answer to ask for.
    graded : bool
        Whether "slightly" and "clearly" are among the answers.
    choose : callable
        Selects the pair of a choice.
    piles : ndarray of int, shape (m,), or None
        Pile of consequence of each weighed mistake.
    """

    source: PairSource
    prior: WeightPrior
    models: Matrix
    goal: Goal
    targets: Matrix
    answers: Answers = "mixed"
    graded: bool = False
    choose: Chooser = best_pair
    piles: Counts | None = None

    def question(
        self, item: Item | None, history: Sequence[Asked], belief: Posterior, rng: np.random.Generator
    ) -> Question:
        """Return the question for an item of the agenda.

        Parameters
        ----------
        item : Item or None
            The next item; None for a new question.
        history : sequence of Asked
            Answers so far.
        belief : Posterior
            Current belief.
        rng : numpy.random.Generator
            Draws the candidates, the sides and the starting count.
        """
        if item is not None and item.place is not None:
            again = history[item.place].question
            return replace(again, repeat_of=item.place + 1) if again.purpose is Purpose.INFORMATIVE else again
        if item is not None and item.kind == "repeat":
            return self._repeat(history, belief, rng)
        if item is not None and item.kind == "check":
            # One slip proves little: a further check adds the mistakes that matter most to this person.
            checked = any(asked.question.purpose is Purpose.CHECK for asked in history)
            loss = partial(self._loss, belief) if checked else None
            return check_question(self.models, self.source.region, rng, loss)
        return self._new(history, belief, rng)

    def _loss(self, belief: Posterior, better: Matrix, worse: Matrix) -> Matrix:
        """Return how much worse results (n, k, k) are believed to be than others, as a share of all weights."""
        shares = belief.weights / belief.weights.sum(axis=1, keepdims=True)
        return np.asarray(shares.mean(axis=0) @ self.prior.gain(better, worse).T)

    def _new(self, history: Sequence[Asked], belief: Posterior, rng: np.random.Generator) -> Question:
        pairs = self._candidates(history, belief, rng)
        # A person who graded one answer will grade others.
        graded = self.graded or any(asked.answer.strength for asked in history)
        wanted = self._mistake_to_move(history)
        counts = self._counts(belief, pairs, wanted)
        best = None
        if counts is not None and self._may_ask_equal(history):
            best = best_equal_point(belief, counts, self.targets)
        if best is not None and self.answers == "equal":
            return self._equal_question(pairs, best.pair, best.proposal, history, rng)
        chosen = self.choose(belief, pairs, self.goal, self.targets, graded)
        if best is not None:
            bits = worth(belief, pairs, chosen, self.targets, graded)
            if best.worth / self.seconds(history, "equal") > bits / self.seconds(history, "choice"):
                return self._equal_question(pairs, best.pair, best.proposal, history, rng)
        return self._choice(pairs, chosen, history, belief, wanted, rng)

    @property
    def _movable_region(self) -> Region | None:
        """Return where a count may be moved or a base added; None for a fraction, where both change its two parts."""
        return None if is_fraction(self.prior.family) else self.source.region

    def _counts(self, belief: Posterior, pairs: PairSet, moved_mistake: MovedMistake) -> EqualCandidates | None:
        """Return the counts that could be asked for; None where the sides are not in whole cases."""
        region, population = self._movable_region, self.source.population
        return (
            None
            if region is None or population is None
            else equal_candidates(belief, pairs, region, population, moved_mistake)
        )

    def _candidates(self, history: Sequence[Asked], belief: Posterior, rng: np.random.Generator) -> PairSet:
        pairs = _not_asked_yet(self.source.candidates(belief.weights, rng), history)
        asked = n_informative(history)
        direct = self._of_stated_order(pairs, asked)
        pairs = pairs[direct] if len(direct) else pairs
        if asked < FAR_AFTER:
            near = np.flatnonzero(~pairs.far)
            pairs = pairs[near] if 0 < len(near) < len(pairs) else pairs
        region = self.source.region
        if region is not None and asked < _USUAL_FIRST:
            usual = np.flatnonzero(region.are_usual(pairs.first) & region.are_usual(pairs.second))
            pairs = pairs[usual] if len(usual) >= _ENOUGH_USUAL else pairs
        if self.piles is not None and asked < _BETWEEN_PILES * len(np.unique(self.piles)[1:]):
            piles = self.piles
            across = np.array([len(np.unique(piles[gain != 0])) > 1 for gain in pairs.gains], dtype=bool)
            pairs = pairs[np.flatnonzero(across)] if across.any() else pairs
        return pairs

    def _of_stated_order(self, pairs: PairSet, asked: int) -> Counts:
        """Return the pairs, if one of the first stated orders is now asked about, in which it decides the side.

        The belief keeps to the order, so that no other question would show that it does not hold.
        """
        place, rest = divmod(asked - FAR_AFTER, _BETWEEN_ORDERS)
        if rest or not 0 <= place < min(len(self.prior.order), _ORDERS_ASKED):
            return np.zeros(0, dtype=np.int64)
        small, large = self.prior.order[place]
        gains = pairs.gains
        trades = (np.count_nonzero(gains, axis=1) == 2) & (gains[:, small] * gains[:, large] < 0)
        return np.flatnonzero(trades & (np.abs(gains[:, small]) <= np.abs(gains[:, large]) + SAME))

    def _may_ask_equal(self, history: Sequence[Asked]) -> bool:
        if self.answers == "choice" or self._movable_region is None:
            return False
        if self.answers == "equal":
            return True
        new = [asked.question.asks_equal for asked in history if asked.question.purpose is Purpose.INFORMATIVE]
        return len(new) >= CHOICES_FIRST and not all(new[-COUNTS_IN_A_ROW:])

    def seconds(self, history: Sequence[Asked], kind: Literal["choice", "equal"]) -> float:
        """Return how long this person takes for an answer of a kind: a median, which no interruption changes much.

        The time of the latest answer is ignored.
        """
        taken = [
            answer.seconds
            for question, answer in history[:-1]
            if answer.seconds and answer.choice is not Choice.UNSURE and question.asks_equal == (kind == "equal")
        ]
        return float(np.median([_SECONDS[kind]] * _SECONDS_KNOWN + taken))

    def _mistake_to_move(self, history: Sequence[Asked]) -> MovedMistake:
        """Return whether to move the count of the graver or of the slighter mistake; the two alternate."""
        return "grave" if sum(asked.question.asks_equal for asked in history) % 2 else "slight"

    def _equal_question(
        self, pairs: PairSet, at: int, proposal: Proposal, history: Sequence[Asked], rng: np.random.Generator
    ) -> Question:
        """Return a question that asks for a count, with a start well inside its scale and on alternating sides."""
        question, least = self._pair(pairs, at), proposal.least
        start = round(least * np.exp(rng.uniform(*_START) * np.log(proposal.most / least)))
        start = int(np.clip(start, least, proposal.most))
        question = question.moved(Moved(proposal.side, proposal.true, proposal.predicted, start, start))
        question = replace(question, proposal=replace(proposal, start=start, at_once=True))
        on_first = sum(
            asked.question.asks_equal
            and asked.question.proposal is not None
            and asked.question.proposal.side == "first"
            for asked in history
        )
        on_second = sum(asked.question.asks_equal for asked in history) - on_first
        side: Side = "first" if on_first < on_second or (on_first == on_second and rng.integers(2)) else "second"
        return question if proposal.side == side else question.swapped()

    def _choice(
        self,
        pairs: PairSet,
        n: int,
        history: Sequence[Asked],
        belief: Posterior,
        moved_mistake: MovedMistake,
        rng: np.random.Generator,
    ) -> Question:
        """Return a choice; the side that has won less often so far is more likely to show the expected winner."""
        question = self._pair(pairs, n)
        counts = self._counts(belief, pairs[np.array([n])], moved_mistake)
        if counts is not None and len(counts):
            question = replace(question, proposal=counts.proposal(0))
        first, second = belief.answer_probabilities(pairs.gains[[n]])[:2].mean(axis=1)[:, 0]
        won = [asked.answer.choice for asked in history if asked.question.purpose is Purpose.INFORMATIVE]
        lead = won.count(Choice.FIRST) - won.count(Choice.SECOND)
        winner_first = bool(rng.random() < expit(-float(lead)))
        return question if bool(first >= second) == winner_first else question.swapped()

    def _pair(self, pairs: PairSet, n: int) -> Question:
        question = Question.of_rates(
            pairs.first[n], pairs.second[n], self.source.population, hypothetical=bool(pairs.hypothetical[n])
        )
        return replace(question, far=bool(pairs.far[n]))

    def _repeat(self, history: Sequence[Asked], belief: Posterior, rng: np.random.Generator) -> Question:
        """Repeat an answer that the person was close to giving otherwise, with the sides swapped.

        Some repeats add a common base of one of the two mistakes; a person with linear values answers them alike.
        """
        if self._movable_region is not None and self._plain_repeats(history) >= PLAIN_REPEATS:
            based = self._with_common_base(history, belief, rng)
            if based is not None:
                return based
        place = self._by_closeness(repeatable_answers(history), history, belief)[0]
        return replace(history[place].question.swapped(), purpose=Purpose.REPEAT, repeat_of=place + 1)

    def _with_common_base(
        self, history: Sequence[Asked], belief: Posterior, rng: np.random.Generator
    ) -> Question | None:
        """Return the trade on a common base for which linear costs and felt counts predict the most different answers.

        It asks for a count, which discriminates better than a choice, unless only choices are asked for.
        """
        region, population = self._movable_region, self.source.population
        assert region is not None
        found = []
        for place in not_just_asked(tradable_answers(history), history):
            question = history[place].shown
            sides = region.common_bases(np.asarray(question.first), np.asarray(question.second))
            found += [(place, *pair) for pair in sides]
        if not found:
            return None
        places, first, second = (np.array(column) for column in zip(*found, strict=True))
        first, second = first / population, second / population
        gains, plain = self.prior.gain(first, second), np.ones(len(first), dtype=bool)
        pairs, felt = PairSet(first, second, gains, plain, ~plain), gains_if_felt(first, second, self.prior)
        counts = None if self.answers == "choice" else self._counts(belief, pairs, "bare")
        best = None if counts is None else most_discriminating_count(belief, counts, felt)
        if counts is not None and best is not None:
            at = int(counts.pairs[best])
            question = self._equal_question(pairs, at, counts.proposal(best), history, rng)
        else:
            at = most_discriminating_pair(belief, gains, felt)
            question = self._pair(pairs, at)
            question = question if rng.integers(2) else question.swapped()
        return replace(question, purpose=Purpose.REPEAT, repeat_of=int(places[at]) + 1, common_base=True)

    def _by_closeness(self, places: Sequence[int], history: Sequence[Asked], belief: Posterior) -> list[int]:
        """Return the given places of the history, those first where the belief expects the closest decision."""
        if not places:
            return []
        gains = np.array([self.prior.gain(*history[n].shown.rates) for n in places])
        first, second = belief.answer_probabilities(gains)[:2].mean(axis=1)
        return [places[n] for n in np.argsort(np.round(np.abs(first - second), 9), kind="stable")]

    @staticmethod
    def _plain_repeats(history: Sequence[Asked]) -> int:
        """Count the repeats of this sitting that had no common base."""
        before = (n_informative(history) - 1) // SITTING * SITTING
        return sum(
            asked.question.purpose is Purpose.REPEAT and not asked.question.common_base and number > before
            for asked, number in zip(history, n_informative_before(history), strict=True)
        )


def _not_asked_yet(pairs: PairSet, history: Sequence[Asked]) -> PairSet:
    """Return the pairs not shown before, in either order; all of them if every one was shown."""
    new = np.ones(len(pairs), dtype=bool)
    shown = [question.rates for question, _ in history]
    shown += [(second, first) for first, second in shown]
    # Sorting pairs by one number each lets thousands of answers be compared with few pairs each.
    scale = np.sqrt(np.arange(1.0, 1.0 + pairs.first[0].size)).reshape(pairs.first[0].shape)
    level, slack = np.tensordot(pairs.first, scale), SAME * scale.sum()
    order = np.argsort(level)
    asked = np.array([(first * scale).sum() for first, _ in shown])
    starts, stops = (np.searchsorted(level[order], asked + side * slack) for side in (-1, 1))
    for at in np.flatnonzero(starts < stops):
        near = order[starts[at] : stops[at]]
        apart = [np.abs(sides[near] - side) for sides, side in zip((pairs.first, pairs.second), shown[at], strict=True)]
        new[near[np.maximum(*apart).max(axis=(1, 2)) <= SAME]] = False
    return pairs if new.all() or not new.any() else pairs[np.flatnonzero(new)]
