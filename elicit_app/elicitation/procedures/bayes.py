"""The procedure for people: a belief over log-weights, and the most informative pair next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np

from elicit_app.elicitation.agenda import (
    FEWEST_ANSWERS,
    MAX_EXTRA_CHECKS,
    Item,
    answers_until_known,
    answers_until_settled,
    count_extra_checks,
    early_stop_reason,
    n_answered,
    n_informative,
    next_item,
    probability_best,
    questions_left,
    required_item,
    required_left,
)
from elicit_app.elicitation.asking import Answers, Asker
from elicit_app.elicitation.belief import KEPT, LRUCache, ParticlePosterior, Posterior, parent_length, prefix_digests
from elicit_app.elicitation.cases import Decider, Tally
from elicit_app.elicitation.choosing import Goal
from elicit_app.elicitation.fractions import FractionPairs, FractionPosterior, FractionPrior
from elicit_app.elicitation.intervals import FEW_ENOUGH, IntervalPosterior, draws_while_asking
from elicit_app.elicitation.linearity import Linearity, check_linearity
from elicit_app.elicitation.pairs import FrontierPairs, SpherePairs
from elicit_app.elicitation.plausible import PlausiblePairs, pairs_of_study
from elicit_app.elicitation.pool import SAME, argmax_confusions
from elicit_app.elicitation.predictive import (
    EvidenceAgainstChance,
    PredictiveScores,
    evidence_against_chance,
    predictive_scores,
    random_pairs,
)
from elicit_app.elicitation.prior import MOST_JOINTLY, NeverWorse, Structure, WeightPrior, pile_labels, relative_weights
from elicit_app.elicitation.procedure import Elicitation, Outcome
from elicit_app.elicitation.questions import AnswersFor, Asked, Choice, Family, Matrix, Progress, Step, StopReason
from elicit_app.elicitation.reach import PolicyDoubt, doubt_of_policies, ranges_reached, reliance_on_prior, widest_rates
from elicit_app.elicitation.region import WORST_ERROR
from elicit_app.elicitation.response import ResponseModel, evidence
from elicit_app.problem import Problem
from metrics.batches import InParts, completed
from metrics.elicited.family import family_of, is_fraction, linear_family
from metrics.elicited.metric_parts import rounded_draws

PARTICLES, _WEIGHTS_OF_THEM = 500, 7  # more weights have wider ranges, which need more draws for the same precision
SWEEPS = 4  # moves of every particle, before checking whether more are needed
_STRIDE_OF_MANY = 5  # answers between beliefs that later ones are built from, for more than FEW_ENOUGH weights

_FEW_WEIGHTS = 4  # number of weights that a sitting can pin down
_POLICIES_TO_OTHERS = 4  # pairs of options per random pair, if the answers are for a choice
_VALUES_TRIED = 100  # draws under which policies are recomputed, to see whether the same one is chosen
# With priced amounts, the prior for mistakes would give too wide ranges to people who are right on 80 % of pairs.
_SENSITIVITY_ON_PRICES, _SPREAD_ON_PRICES = float(np.log(2.2)), 0.8
_TARGETS = 300  # random pairs that represent the metric's later use
_REMEMBERED = 160  # beliefs kept for undo and lookahead, fewer if they are large
_REMEMBERED_NUMBERS, _FEWEST_REMEMBERED = 6_000_000, 6
_RESULTS_REMEMBERED = 12
_ANSWERS_REMEMBERED = 1_000
_BELIEF, _PAIR, _SCALE, _TARGET, _RESULT, _RIVALS, _WIDEST = range(7)  # separate random streams
_STUDY_SEED = 21


class Bayes:
    """Elicit a metric by Bayesian experimental design; answers may be wrong, tied or missing.

    Everything is a function of the seed and the history. Beliefs are cached by history, so that undo, resume and
    lookahead cost one update.

    For a linear-fractional family the result is the fraction or, with `local`, the linear metric that approximates it
    near what the models do, which has a cost matrix.

    Up to about twenty weights are tracked by particles, more by Gaussians fitted to intervals.

    If the cost of the `yardstick`, a mistake (true, predicted), is only bounded, ratios to it are judged by themselves.

    For comparisons, `asker.choose` and `response` may be replaced before the first question.
    """

    name = "bayes"

    def __init__(
        self,
        cases: Sequence[Decider],
        *,
        family: Family,
        seed: int,
        population: int | None,
        questions: int = 20,
        space: Literal["frontier", "sphere"] = "frontier",
        sphere: tuple[Matrix, float] | None = None,
        max_cells: int = 6,
        stop: bool = False,
        checks: bool = False,
        strength: bool = False,
        worst_error: float = WORST_ERROR,
        answers: Answers = "mixed",
        prior: Structure = "auto",
        constraints: Sequence[NeverWorse] = (),
        piles: Sequence[Sequence[tuple[int, int]]] = (),
        purpose: AnswersFor | None = None,
        yardstick: tuple[int, int] | None = None,
        local: bool = False,
    ) -> None:
        if not cases:
            raise Problem("The procedure bayes needs the predictions of at least one model.")
        if max_cells < 2:
            raise Problem(f"At least 2 cells have to differ for one mistake to be traded for another, not {max_cells}.")
        self._local = local and is_fraction(family)
        self.family: Family = linear_family(family).name if self._local else family
        self.questions, self.stop, self.checks, self.strength = questions, stop, checks, strength
        self._seed, self._purpose, self._cases = seed, purpose, cases
        self._unit = None if yardstick is None else linear_family(family).index(*yardstick, cases[0].n_classes)
        shares = None if space == "sphere" or self._asks_prices else cases[0].prevalence
        linear = WeightPrior.of(linear_family(family).name, cases[0].n_classes, prior, constraints, piles, shares)
        self.prior = FractionPrior.from_linear(linear) if is_fraction(family) else linear
        if is_fraction(family) and linear.size > MOST_JOINTLY:
            raise Problem(
                f"A fraction can have at most {MOST_JOINTLY} weights, not {linear.size}: use the family dlpm or lpm."
            )
        self._models = argmax_confusions(cases, population)
        goal: Goal = "order" if self.prior.size > _FEW_WEIGHTS and space != "sphere" else "closeness"
        self.source: SpherePairs | FrontierPairs | PlausiblePairs | FractionPairs
        if space == "sphere":
            if sphere is None:
                raise Problem("The space sphere needs a centre and a radius.")
            self.source = SpherePairs(*sphere, self.prior)
        else:
            # A count tells as much of a small trade as of a large one; a choice may not.
            pairs = pairs_of_study(cases, population, linear, max_cells, worst_error, large=answers == "choice")
            self.source = FractionPairs(pairs, self.prior) if isinstance(self.prior, FractionPrior) else pairs
        self._by_particles = space == "sphere" or linear.size <= MOST_JOINTLY
        self._targets = self.source.random_gains(_TARGETS, _study_rng(_TARGET))
        labels = pile_labels(piles, family, cases[0].n_classes, self.prior.size) if piles else None
        self.asker = Asker(self.source, self.prior, self._models, goal, self._targets, answers, strength, piles=labels)
        self.response = self._response(space)
        self._stride = _STRIDE_OF_MANY if linear.size > FEW_ENOUGH else 1
        particles = PARTICLES * -(-min(linear.size, MOST_JOINTLY) // _WEIGHTS_OF_THEM)
        self._draws = particles if self._by_particles else draws_while_asking(linear.size)
        beliefs, results = (_REMEMBERED_NUMBERS // (draws * self.prior.size) for draws in (self._draws, KEPT))
        self._beliefs: LRUCache[Posterior] = LRUCache(int(np.clip(beliefs, _FEWEST_REMEMBERED, _REMEMBERED)))
        self._newest: Posterior | None = None
        self._shown: LRUCache[Posterior] = LRUCache(int(np.clip(results, 1, _RESULTS_REMEMBERED)))
        self._linearities: LRUCache[Linearity] = LRUCache(_RESULTS_REMEMBERED)
        self._choices: LRUCache[Matrix] = LRUCache(_RESULTS_REMEMBERED)
        self._ends: LRUCache[Literal["known", "best-model"] | None] = LRUCache(_REMEMBERED)
        self._predictive_scores: LRUCache[tuple[float, float]] = LRUCache(_ANSWERS_REMEMBERED)
        self._evidence_against_chance: LRUCache[EvidenceAgainstChance | None] = LRUCache(_RESULTS_REMEMBERED)

    def begin(self, history: Sequence[Asked] = ()) -> Elicitation:
        """Start, or continue after answers already given; see `Procedure.begin`."""
        so_far = list(history)
        while (reason := self.stops(so_far)) is None:
            step = self._step(so_far)
            answer = yield step
            so_far.append(Asked(step.question, answer))
        return self.conclude(so_far, reason)

    def conclude(self, history: Sequence[Asked], reason: StopReason = "expert") -> Outcome:
        """Return what is known after `history`, with more draws than a step has."""
        if isinstance(self.prior, FractionPrior):
            fraction = self.shown_belief(history)
            assert isinstance(fraction, FractionPosterior)
            if self._local:
                return fraction.local_outcome(reason, len(history), self._models.mean(axis=0))
            return fraction.outcome(reason, len(history), self._cases[0].prevalence)
        # Pairs of fifty classes briefly take 100 MiB, so they are examined before thousands of draws are in memory.
        widest = self._widest(history)
        belief, linearity = self.shown_belief(history), self.linearity(history)
        ranges = to_largest = ranges_reached(belief, widest, belief.yardstick)
        if self._unit is not None and to_largest.are_open[self._unit]:
            ranges = ranges_reached(belief, widest, self._unit)
        outcome = Outcome(
            family=self.family,
            weights=belief.estimate,
            bounded=to_largest.bounded,
            stopped=reason,
            questions=len(history),
            intervals=belief.on_mistakes(to_largest.ends),
            samples=rounded_draws(belief.samples),
            effective_draws=belief.effective_draws,
            linear=None if linearity is None else linearity.rival or True,
            sensitivity=float(np.median(belief.person.sensitivity)),
            lapse=float(belief.person.lapse.mean()),
            method=belief.method + self.prior.remark,
            ranges=None if ranges is to_largest else ranges.ends,
            reliance_on_prior=reliance_on_prior(belief, ranges) if self._by_particles else None,
            deviations=belief.deviations,
        )
        belief.forget()
        return outcome

    def stops(self, history: Sequence[Asked]) -> StopReason | None:
        """Return why nothing is asked after `history`; None if something is."""
        return None if self._item(history) is not None else self._early_stop_reason(history) or "budget"

    def belief(self, history: Sequence[Asked]) -> Posterior:
        """Return the posterior after `history`, built from its longest cached prefix."""
        return completed(self.prepare(history))

    def prepare(self, history: Sequence[Asked]) -> InParts[Posterior]:
        """Compute the posterior after `history` in parts, and keep it."""
        keys, stages = prefix_digests(history), [len(history)]
        while (belief := self._beliefs.get(keys[stages[-1]])) is None and stages[-1]:
            stages.append(parent_length(stages[-1], self._stride))
        if belief is None:
            belief = self._from_prior()
            self._beliefs.put(keys[0], belief)
        for before, n in pairwise(reversed(stages)):
            for place in range(before, n):
                if self._predictive_scores.get(keys[place + 1]) is None:
                    self._predictive_scores.put(keys[place + 1], predictive_scores(history[place], belief))
            if not self._by_particles:
                belief.forget()
            if any(one.answer.choice is not Choice.UNSURE for one in history[before:n]):
                answers, newest = (evidence(history[first:n], self.prior) for first in (0, before))
                belief = yield from belief.updating(answers, newest, self._rng(n, _BELIEF))
            self._beliefs.put(keys[n], belief)
        if self._newest is not None and self._newest is not belief:
            self._newest.forget()  # what is derived from thousands of weights takes more memory than they do
        self._newest = None if self._by_particles else belief
        return belief

    def shown_belief(self, history: Sequence[Asked]) -> Posterior:
        """Return the posterior after `history` with as many draws as a shown result needs."""

        def refined() -> Posterior:
            answers = evidence(history, self.prior)
            return self.belief(history).refined(answers, self._rng(answers.n_answers, _RESULT)).condensed(KEPT)

        return self._shown.get_or_compute(history, refined)

    def predictive_scores(self, history: Sequence[Asked]) -> PredictiveScores:
        """Return how the belief before each answer predicted it."""
        found = np.zeros((2, len(history)))
        for n, key in enumerate(prefix_digests(history)[1:]):
            known = self._predictive_scores.get(key)
            if known is None:
                known = predictive_scores(history[n], self.belief(history[: parent_length(n + 1, self._stride)]))
                self._predictive_scores.put(key, known)
            found[:, n] = known
        return PredictiveScores(*found)

    def evidence_against_chance(self, history: Sequence[Asked]) -> EvidenceAgainstChance | None:
        """Return the evidence that the answers depend on what was shown, by linear costs or a rival of them."""
        found = self._evidence_if_linear(history)
        return None if found is None else found.with_rivals(self.linearity(history))

    def _evidence_if_linear(self, history: Sequence[Asked]) -> EvidenceAgainstChance | None:
        def found() -> EvidenceAgainstChance | None:
            gains, _ = random_pairs(self.random_gains)
            before, now = self.belief([]), self.belief(history)
            return evidence_against_chance(history, self.predictive_scores(history), before, now, gains)

        return self._evidence_against_chance.get_or_compute(history, found)

    def linearity(self, history: Sequence[Asked]) -> Linearity | None:
        """Return how well rivals of linear costs explain the answers.

        None on the sphere, for a fraction, with more than twenty weights, if amounts are priced instead of mistakes,
        and with fewer than eight answers.
        """
        return self._judged_linearity(history, FEWEST_ANSWERS)

    def _judged_linearity(self, history: Sequence[Asked], fewest: int) -> Linearity | None:
        source = self.source
        if isinstance(source, SpherePairs | FractionPairs) or self._asks_prices or n_answered(history) < fewest:
            return None
        if not isinstance(belief := self.belief(history), ParticlePosterior):
            return None

        def checked() -> Linearity:
            log_evidence = float(self.predictive_scores(history).log_probability.sum())
            typical, rng = source.pool.typical, self._rng(len(history), _RIVALS)
            return check_linearity(history, belief, log_evidence, typical, self._options(history), rng)

        return self._linearities.get_or_compute(history, checked)

    def _from_prior(self) -> Posterior:
        rng = self._rng(0, _BELIEF)
        if isinstance(self.prior, FractionPrior):
            return FractionPosterior.from_prior(self.prior, self.response, self._draws, rng, SWEEPS)
        if self._by_particles:
            return ParticlePosterior.from_prior(self.prior, self.response, self._draws, rng, SWEEPS)
        return IntervalPosterior.from_prior(self.prior, rng, self._draws)

    def _response(self, space: str) -> ResponseModel:
        if not self._by_particles:
            return ResponseModel.of_ratios()
        # Questions that halve the uncertainty hardly reveal lapses. Only the laboratory asks about a fraction itself or
        # about points of the sphere; people are asked about results near what models do.
        sharp = space == "sphere" or is_fraction(self.family)
        kind = ResponseModel.of_an_oracle if sharp else ResponseModel.of_people
        expected = kind(self.prior, self._targets, _study_rng(_SCALE))
        if not self._asks_prices:
            return expected
        return replace(expected, log_sensitivity=_SENSITIVITY_ON_PRICES, spread=_SPREAD_ON_PRICES)

    @property
    def _asks_prices(self) -> bool:
        """Return whether amounts are priced instead of mistakes."""
        first = self._cases[0]
        return isinstance(first, Tally) and first.good is not None

    def _widest(self, history: Sequence[Asked]) -> Matrix:
        """Return how many of each mistake, at most, could be traded for one of another, shape (m,)."""
        asked = [widest_rates(self.prior.gain(*question.rates)[None]) for question, _ in history]
        widest = np.max([self._widest_offered, *asked], axis=0)
        # Among thousands of pairs each class is traded often, but not each of its mistakes.
        k = self.prior.n_classes
        true = np.array([key.true for key in family_of(self.family).mistakes(k)])
        of_class = np.array([widest[true == number].max() for number in range(k)])[true]
        return np.where(of_class > 0, of_class, widest.max() or np.inf)

    @cached_property
    def _widest_offered(self) -> Matrix:
        """Return the same among the pairs from which questions are chosen."""
        rng = _study_rng(_WIDEST)
        if isinstance(self.source, PlausiblePairs) and not self._by_particles:
            return self.source.widest_offered(rng)
        if self._by_particles:
            weights = relative_weights(self.prior.log_weights(rng.standard_normal((50, self.prior.size))))
        else:
            # From draws of the belief, because the prior's covariance of thousands of weights is large.
            weights = relative_weights(self.belief([]).log_weights[:50])
        return widest_rates(self.source.candidates(weights, rng).gains)

    def _early_stop_reason(self, history: Sequence[Asked]) -> StopReason | None:
        if not self.stop:
            return None

        def judged() -> Literal["known", "best-model"] | None:
            reason = early_stop_reason(
                self.belief(history),
                self._options(history),
                n_answered(history),
                lambda: self._rivals_before(history),
                self._purpose,
                lambda: self._policy_doubt(history),
            )
            found = self._evidence_if_linear(history) if reason is not None and self.checks else None
            return reason if found is None or found.is_plain else None

        return self._ends.get_or_compute(history, judged)

    def _rivals_before(self, history: Sequence[Asked]) -> tuple[Linearity, Matrix] | None:
        """Return the evidence for rivals from all answers but the last, which hardly changes it, and the options.

        Computing it takes longer than the next question; this way it is done once, while the person thinks.
        """
        said = [n for n, asked in enumerate(history) if asked.answer.choice is not Choice.UNSURE]
        before = history[: said[-1]]
        judged = self._judged_linearity(before, FEWEST_ANSWERS - 1)
        return None if judged is None else (judged, self._options(before))

    def _options(self, history: Sequence[Asked]) -> Matrix:
        """Return the matrices of the options, shape (n, k, k).

        The options are the policies judged at the end: each model as it decides now and at least expected cost, and
        each class for every case. If the answers are for the costs alone, and before enough of them, they are the
        models as they are. Options that decide alike are one, because they would share the probability of being best.
        """
        if not self._compares_policies(history):
            _, first = np.unique(np.round(self._models, 12), axis=0, return_index=True)
            return self._models[np.sort(first)]
        return self._policies(history)

    def _compares_policies(self, history: Sequence[Asked]) -> bool:
        """Return whether the options are policies; an answer early, as rivals are judged by all but the last."""
        return self._purpose != "costs" and n_answered(history) >= FEWEST_ANSWERS - 1

    def _policies(self, history: Sequence[Asked]) -> Matrix:
        """Return the matrices, shape (n, k, k), of the policies judged at the end: of models, and one class for all."""

        def decided() -> Matrix:
            found = self._decided_by(linear_family(self.family).costs(self._weights_now(history)[0]))
            return np.asarray(np.unique(np.round(found, 12), axis=0))

        return self._choices.get_or_compute(history, decided)

    def _decided_by(self, costs: Matrix) -> Matrix:
        """Return the matrices, shape (n, k, k), of the policies of all models under these costs, and of each class."""
        trivial = np.eye(self.prior.n_classes)[:, None, :] * self._cases[0].prevalence[None, :, None]
        return np.array([*(matrix for model in self._cases for matrix in model.policies(costs)), *trivial])

    def _policy_doubt(self, history: Sequence[Asked]) -> PolicyDoubt:
        """Return how the choice of a policy depends on what is not known of the values."""
        weights, draws = self._weights_now(history)
        costs_of = linear_family(self.family).costs
        return doubt_of_policies(self._decided_by, costs_of(weights), [costs_of(one) for one in draws])

    def _weights_now(self, history: Sequence[Asked]) -> tuple[Matrix, Matrix]:
        """Return the estimated linear weights and some draws; for a fraction, those near what the models do."""
        belief = self.belief(history)
        if isinstance(belief, FractionPosterior):
            local = belief.local_outcome("expert", len(history), self._models.mean(axis=0))
            assert local.samples is not None
            return local.weights, local.samples[:: max(1, len(local.samples) // _VALUES_TRIED)]
        return belief.estimate, belief.condensed(_VALUES_TRIED).samples

    def _item(self, history: Sequence[Asked]) -> Item | None:
        """Return the next item; None once the answers are enough and include what is needed to judge trust."""
        item = next_item(history, self.questions, self.checks)
        if item is None:
            return Item("check") if self._needs_extra_check(history) else None
        if self._early_stop_reason(history) is None:
            return item
        return required_item(history) if self.checks else None

    def _needs_extra_check(self, history: Sequence[Asked]) -> bool:
        """Return whether one more check, after all questions, may settle whether the person looked."""
        extra = count_extra_checks(history, self.questions)
        if not self.checks or extra >= MAX_EXTRA_CHECKS:
            return False
        found = self._evidence_if_linear(history)
        if found is None or not found.may_be_inconclusive:
            return False
        # Rivals answer pairs with one better side as linear costs do, so the checks need not be judged by them.
        rivals = self._rivals_before(history[: len(history) - extra])
        return found.with_rivals(None if rivals is None else rivals[0]).is_inconclusive

    def _step(self, history: Sequence[Asked]) -> Step:
        belief = self.belief(history)
        some = belief.thinned(max(1, self._draws // PARTICLES))  # enough to choose by, while a person waits
        question = self._asker_now(history).question(self._item(history), history, some, self._rng(len(history), _PAIR))
        return Step(question, self._progress(history, belief), belief.summary(self._targets))

    def _asker_now(self, history: Sequence[Asked]) -> Asker:
        """Return the source of the next question, targeted at the options if the answers are for a choice.

        Some of the random pairs stay among the targets, so that questions continue once the choice is clear.
        """
        if self._purpose != "choose" or isinstance(self.source, SpherePairs):
            return self.asker
        policies = self._policies(history)
        first, second = np.triu_indices(len(policies), 1)
        between = self.prior.gain(policies[first], policies[second])
        between = between[(between > SAME).any(axis=1) & (between < -SAME).any(axis=1)]
        if not len(between):
            return self.asker
        others = self._targets[: max(1, len(between) // _POLICIES_TO_OTHERS)]
        return replace(self.asker, targets=np.concatenate([between, others]), goal="order")

    def _progress(self, history: Sequence[Asked], belief: Posterior) -> Progress:
        if next_item(history, self.questions, self.checks) is None:
            more = MAX_EXTRA_CHECKS - count_extra_checks(history, self.questions)
            return Progress(len(history), 1, more, beyond_plan=True)
        most = questions_left(history, self.questions, self.checks)
        if not self.stop:
            return Progress(len(history), most, most)
        trust = required_left(history) if self.checks else 0
        if self._early_stop_reason(history) is not None:
            # Questions asked for trust alone may show that the answers are not enough after all.
            return Progress(len(history), min(trust, most), min(trust + 1, most))
        asked = n_informative(history)
        fewest, likely = self._answers_needed(history, belief, self.questions - asked)
        fewest = max(fewest + trust, 1)  # also where only repeats are left
        likely = questions_left(history, asked + likely, self.checks)
        return Progress(len(history), min(fewest, most), min(likely, most))

    def _answers_needed(self, history: Sequence[Asked], belief: Posterior, most: int) -> tuple[int, int]:
        needed = answers_until_known(belief, n_answered(history), most)
        if self._purpose == "costs":
            return needed
        settled = answers_until_settled(probability_best(belief, self._options(history)), n_answered(history), most)
        if self._purpose == "both":
            return max(needed[0], settled[0]), max(needed[1], settled[1])
        # The models alone say little about how long it takes to choose among the policies, and without a stated purpose
        # questions are not aimed at the choice.
        aimed = self._purpose == "choose" and self._compares_policies(history)
        return min(needed[0], settled[0]), min(needed[1], settled[1]) if aimed else needed[1]

    def random_gains(self, n: int, rng: np.random.Generator) -> Matrix:
        """Return the gains, shape (<= n, m), of random pairs of achievable matrices."""
        return self.source.random_gains(n, rng)

    def _rng(self, n: int, stream: int) -> np.random.Generator:
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence([self._seed, n, stream])))


def _study_rng(stream: int) -> np.random.Generator:
    """Return a generator that is the same in every session, because the prior must not depend on the seed."""
    return np.random.default_rng([_STUDY_SEED, stream])
