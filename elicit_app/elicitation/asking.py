"""What is asked next: the agenda's item made into a question, a choice or an equal point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from elicit_app.elicitation.agenda import (
    PLAIN_REPEATS,
    SITTING,
    Item,
    dominated,
    informative,
    informative_before,
    not_just_asked,
    repeatable_answers,
    tradable_answers,
)
from elicit_app.elicitation.belief import Posterior
from elicit_app.elicitation.choosing import (
    Chooser,
    EqualCandidates,
    Goal,
    Row,
    best_equal_point,
    best_pair,
    equal_points,
    most_different,
    most_different_count,
    worth,
)
from elicit_app.elicitation.linearity import gains_if_felt
from elicit_app.elicitation.pairs import PairSet, PairSource
from elicit_app.elicitation.pool import SAME
from elicit_app.elicitation.prior import WeightPrior
from elicit_app.elicitation.questions import Asked, Choice, Counts, Matrix, Proposal, Purpose, Question, Side
from elicit_app.elicitation.region import Region
from metrics.elicited.family import is_fraction

Answers = Literal["choice", "equal", "mixed"]

CHOICES_FIRST = 3  # informative questions before a count is asked for
COUNTS_IN_A_ROW = 3  # then comes a choice: the two kinds are known to differ
FAR_AFTER = 4  # informative questions before a pair far from the models may come
_USUAL_FIRST = 2  # informative questions in which results are as usual; they tell less about who errs by differences
_ENOUGH_USUAL = 100  # pairs among which a good one of those is found
_SECONDS = {"choice": 14.0, "equal": 22.0}  # what an answer takes before anything is known about the person
_SECONDS_KNOWN = 3  # answers that this is worth
_START = (0.2, 0.9)  # of the scale, counted in logarithms, where a count may stand at first
_BETWEEN_PILES = 3  # questions for every pile but one, before mistakes of the same pile are compared


@dataclass(eq=False)
class Asker:
    """Makes questions from what is believed and what was asked so far.

    Parameters
    ----------
    source : PairSource
        Where pairs come from.
    prior : WeightPrior
        Says which mistakes are weighed.
    models : ndarray of shape (n, k, k)
        Rates of the models' most probable classes; what a check starts from where anything may be shown.
    goal : {"order", "closeness"}
        What choices shall tell most about, see `best_pair`.
    targets : ndarray of shape (n, m)
        Gains of the pairs of results whose order matters: random achievable ones, or those that a choice hangs on.
    answers : {"choice", "equal", "mixed"}
        Which kinds of answer are asked for.
    graded : bool
        Whether slightly and clearly are among the answers.
    choose : callable
        Chooses the pair of a choice.
    piles : ndarray of int, shape (m,), or None
        Which pile of consequence each weighed mistake lies in.
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
        """Return the question of an item of the agenda.

        Parameters
        ----------
        item : Item or None
            What comes next; None for a new question.
        history : sequence of Asked
            What was answered so far.
        belief : Posterior
            What is believed now.
        rng : numpy.random.Generator
            Draws the candidates, the sides and where a count starts.
        """
        if item is not None and item.place is not None:
            again = history[item.place].question
            return replace(again, repeat_of=item.place + 1) if again.purpose is Purpose.INFORMATIVE else again
        if item is not None and item.kind == "repeat":
            return self._repeat(history, belief, rng)
        if item is not None and item.kind == "check":
            # One slip says little: where another check follows, it is about what matters most to this person.
            checked = any(asked.question.purpose is Purpose.CHECK for asked in history)
            loss = partial(self._loss, belief) if checked else None
            return dominated(self.models, self.source.population, self.source.region, rng, loss)
        return self._new(history, belief, rng)

    def _loss(self, belief: Posterior, better: Matrix, worse: Matrix) -> Matrix:
        """Return how much worse, as a share of all weights, results (n, k, k) are thought to be than others."""
        shares = belief.weights / belief.weights.sum(axis=1, keepdims=True)
        return np.asarray(shares.mean(axis=0) @ self.prior.gain(better, worse).T)

    def _new(self, history: Sequence[Asked], belief: Posterior, rng: np.random.Generator) -> Question:
        pairs = self._candidates(history, belief, rng)
        # Who has said slightly or clearly once will say so again.
        graded = self.graded or any(asked.answer.strength for asked in history)
        wanted = self._wanted_row(history)
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
    def _room(self) -> Region | None:
        """Return within what a count may be moved, or a base added; either changes both parts of a fraction."""
        return None if is_fraction(self.prior.family) else self.source.region

    def _counts(self, belief: Posterior, pairs: PairSet, row: Row) -> EqualCandidates | None:
        """Return the counts that could be asked for; None where the sides are no whole cases."""
        region, population = self._room, self.source.population
        return None if region is None or population is None else equal_points(belief, pairs, region, population, row)

    def _candidates(self, history: Sequence[Asked], belief: Posterior, rng: np.random.Generator) -> PairSet:
        pairs = _not_asked_yet(self.source.candidates(belief.weights, rng), history)
        asked = informative(history)
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

    def _may_ask_equal(self, history: Sequence[Asked]) -> bool:
        if self.answers == "choice" or self._room is None:
            return False
        if self.answers == "equal":
            return True
        new = [asked.question.asks_equal for asked in history if asked.question.purpose is Purpose.INFORMATIVE]
        return len(new) >= CHOICES_FIRST and not all(new[-COUNTS_IN_A_ROW:])

    def seconds(self, history: Sequence[Asked], kind: Literal["choice", "equal"]) -> float:
        """Return how long an answer of a kind takes this person; the last answer's time does not count."""
        taken = [
            answer.seconds
            for question, answer in history[:-1]
            if answer.seconds and answer.choice is not Choice.UNSURE and question.asks_equal == (kind == "equal")
        ]
        logs = [np.log(_SECONDS[kind])] * _SECONDS_KNOWN + [np.log(one) for one in taken]
        return float(np.exp(np.mean(logs)))

    def _wanted_row(self, history: Sequence[Asked]) -> Row:
        """Return whether the graver mistake is to be moved, or the slighter one: in turn."""
        return "grave" if sum(asked.question.asks_equal for asked in history) % 2 else "slight"

    def _equal_question(
        self, pairs: PairSet, at: int, proposal: Proposal, history: Sequence[Asked], rng: np.random.Generator
    ) -> Question:
        """Return a question that asks for a count; it starts well inside its scale, and on either side in turn."""
        question, least = self._pair(pairs, at), max(proposal.least, 1)
        start = round(least * np.exp(rng.uniform(*_START) * np.log(proposal.most / least)))
        start = int(np.clip(start, least, proposal.most))
        question = _with_count(question, proposal, start)
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
        self, pairs: PairSet, n: int, history: Sequence[Asked], belief: Posterior, row: Row, rng: np.random.Generator
    ) -> Question:
        """Return a question that asks to choose; the side that won less so far is more often expected to win."""
        question = self._pair(pairs, n)
        counts = self._counts(belief, pairs[np.array([n])], row)
        if counts is not None and len(counts):
            question = replace(question, proposal=counts.proposal(0))
        first, second = belief.chances(pairs.gains[[n]])[:2].mean(axis=1)[:, 0]
        won = [asked.answer.choice for asked in history if asked.question.purpose is Purpose.INFORMATIVE]
        lead = won.count(Choice.FIRST) - won.count(Choice.SECOND)
        winner_first = bool(rng.random() < 1 / (1 + np.exp(lead)))
        return question if bool(first >= second) == winner_first else question.swapped()

    def _pair(self, pairs: PairSet, n: int) -> Question:
        question = Question.of_rates(
            pairs.first[n], pairs.second[n], self.source.population, hypothetical=bool(pairs.hypothetical[n])
        )
        return replace(question, far=bool(pairs.far[n]))

    def _repeat(self, history: Sequence[Asked], belief: Posterior, rng: np.random.Generator) -> Question:
        """Ask an answer again that the person was near to giving otherwise, sides swapped.

        Some repeats come with a common base of one of the two mistakes: who values results linearly answers the same.
        """
        if self._room is not None and self._plain_repeats(history) >= PLAIN_REPEATS:
            based = self._with_common_base(history, belief, rng)
            if based is not None:
                return based
        place = self._undecided(repeatable_answers(history), history, belief)[0]
        return replace(history[place].question.swapped(), purpose=Purpose.REPEAT, repeat_of=place + 1)

    def _with_common_base(
        self, history: Sequence[Asked], belief: Posterior, rng: np.random.Generator
    ) -> Question | None:
        """Return the trade on a base that linear costs and felt counts are expected to answer most differently.

        A count says more about the difference than a choice; where choices alone are asked for, it is a choice.
        """
        region, population = self._room, self.source.population
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
        best = None if counts is None else most_different_count(belief, counts, felt)
        if counts is not None and best is not None:
            at = int(counts.pairs[best])
            question = self._equal_question(pairs, at, counts.proposal(best), history, rng)
        else:
            at = most_different(belief, gains, felt)
            question = self._pair(pairs, at)
            question = question if rng.integers(2) else question.swapped()
        return replace(question, purpose=Purpose.REPEAT, repeat_of=int(places[at]) + 1, common_base=True)

    def _undecided(self, places: Sequence[int], history: Sequence[Asked], belief: Posterior) -> list[int]:
        """Return places of the history, those first that the belief thinks the person is nearest to indifferent in."""
        if not places:
            return []
        gains = np.array([self.prior.gain(*history[n].shown.rates) for n in places])
        first, second = belief.chances(gains)[:2].mean(axis=1)
        return [places[n] for n in np.argsort(np.round(np.abs(first - second), 9), kind="stable")]

    @staticmethod
    def _plain_repeats(history: Sequence[Asked]) -> int:
        """Return how many repeats of this sitting came without a common base."""
        before = (informative(history) - 1) // SITTING * SITTING
        return sum(
            asked.question.purpose is Purpose.REPEAT and not asked.question.common_base and number > before
            for asked, number in zip(history, informative_before(history), strict=True)
        )


def _not_asked_yet(pairs: PairSet, history: Sequence[Asked]) -> PairSet:
    """Return the pairs that were not shown before, in whichever order; all of them where every one was."""
    new = np.ones(len(pairs), dtype=bool)
    shown = [question.rates for question, _ in history]
    shown += [(second, first) for first, second in shown]
    # Pairs in the order of one number each: of thousands of answers few have to be compared with any pair.
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


def _with_count(question: Question, proposal: Proposal, count: int) -> Question:
    """Return the pair with one count of one side at another place, its row kept."""
    side = np.array(question.first if proposal.side == "first" else question.second, dtype=np.int64)
    cell = proposal.true, proposal.predicted
    side[proposal.true, proposal.true] += side[cell] - count
    side[cell] = count
    there: Question = replace(question, first=side) if proposal.side == "first" else replace(question, second=side)
    return there
