"""The result of a session: the elicited metric, its ratios in words, the judged models, and the metric file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np

import elicit_app
from elicit_app.elicitation.agenda import n_answered
from elicit_app.elicitation.belief import sorted_columns
from elicit_app.elicitation.procedure import Outcome
from elicit_app.elicitation.questions import Answer, Choice, Matrix
from elicit_app.problem import Problem
from elicit_app.session.header import stored
from elicit_app.session.journal.events import Answered, Event, Pair
from elicit_app.session.journal.state import FEWEST_TO_EXPORT, SessionState, StateBuilder
from elicit_app.session.scenarios import Scenarios, proportions
from elicit_app.session.sentences import stated_words
from elicit_app.session.session import Session
from elicit_app.session.trust_findings import orders_contradicted, reliance_on_prior, trust_of
from elicit_app.session.views import ResultView
from elicit_app.study.model import Predictions, Study
from elicit_app.study.writing import write_problem
from metrics import Consequence, ElicitedMetric, Provenance, Quality, exchange_rates
from metrics.elicited.exchange import ExchangeRate, headline_of, with_quality
from metrics.elicited.family import MistakeKey, family_of, is_fraction, linear_family
from metrics.elicited.metric_parts import DEVIATIONS, NOT_TO_DECIDE_BY, intervals_around, kept_draws, ranges_of_draws
from metrics.measures.concern import ConcernScore
from metrics.policies.cases import Practice
from metrics.policies.judging import CostsByPrevalence, Judge, ModelPolicies
from metrics.policies.recommendation import UNSURE
from metrics.text import day, in_zone, probability


class ResultBuilder:
    """A result made in parts, each of which takes a fraction of a second, so that other work can come between."""

    def __init__(self, session: Session) -> None:
        self._state, self._parts = session.state, _parts_of_result(session)
        self._view: ResultView | None = None

    def is_current_for(self, state: SessionState) -> bool:
        """Return whether this is also the result of `state`: the same answers, with only the phase changed."""
        return replace(self._state, phase=state.phase).same_as(state)

    def build_next(self) -> bool:
        """Make the next part, and return whether it was the last. Raises Problem if there is no answer yet."""
        if self._view is None:
            self._view = next(self._parts)
        return self._view is not None

    def completed(self) -> ResultView:
        """Make the remaining parts, and return everything the result pages show; raises as `build_next`."""
        while not self.build_next():
            pass
        assert self._view is not None
        return self._view


def result_view(session: Session) -> ResultView:
    """Return everything the result pages show. Raises Problem if there is no answer yet."""
    return ResultBuilder(session).completed()


def _parts_of_result(session: Session) -> Iterator[ResultView | None]:
    """Yield None after each part, and the result after the last."""
    if not session.state.informative:
        raise Problem("There is no result yet: answer at least one question first.")
    study, state = session.study, session.state
    outcome = by_the_yardstick(session.outcome(), study)
    yield None
    metric = metric_of(session, outcome)
    ratios = exchange_rates(metric)
    yield None
    contradicted = yield from orders_contradicted(session)
    trust = trust_of(session, outcome, ratios, contradicted)
    yield None
    metric = with_quality(metric, trust.quality)
    practice = state.practice
    scenarios = scenarios_of(study, metric, None if practice is None else Practice.of(practice, study.classes))
    yield None
    judgement = None if scenarios is None else scenarios.judgement()
    yield ResultView(
        metric=metric,
        ratios=ratios,
        headline=headline_of(ratios, metric.quality.provisional),
        trust=trust.findings,
        trust_sentence=trust.sentence,
        held_out=trust.held_out,
        models=() if scenarios is None or judgement is None else scenarios.models(judgement),
        judgement=judgement,
        answers=len(state.used),
        date=_day(state),
        can_export=session.can_export,
        notes=(
            *models_under_prices(study, outcome, metric.quality.provisional),
            *_known_before(session, outcome),
            *outcome.notes,
            *_of_a_slight_yardstick(outcome, ratios),
            *reliance_on_prior(outcome, n_answered(state.history)),
            *state.notes,
            *study.unread_notes,
        ),
        can_continue=session.continuation() is not None,
        scenarios=scenarios,
        guesses=_guesses(state, study, outcome.family),
        practice=practice,
        method=outcome.method,
    )


def models_under_prices(study: Study, outcome: Outcome, provisional: str | None = None) -> tuple[str, ...]:
    """Return which counted model does best under elicited prices, unless there is a reason not to decide by them.

    Nothing is returned if mistakes were asked about.
    """
    if study.wording.priced is None or study.pack is None or len(study.pack.models) < 2:
        return ()
    if provisional in NOT_TO_DECIDE_BY:
        return (f"Which model does better is left open, because {provisional}.",)
    names = [model.name for model in study.pack.models]
    worth = np.array([np.diagonal(model.usual) for model in study.pack.models], dtype=np.float64)
    best = int((worth @ outcome.weights).argmax())
    draws = outcome.weights[None] if outcome.samples is None else outcome.samples
    share = float(((draws @ worth.T).argmax(axis=1) == best).mean())
    does = "may do" if share < UNSURE else "does"
    rivals = names[1 - best] if len(names) == 2 else f"the other {len(names) - 1} models"
    # Only totals are available, so the uncertainty from the items is unknown here.
    return (
        f"Under these prices {names[best]} {does} better than {rivals} on the counted {study.wording.cases}: "
        f"probability {probability(share)}, given the answers alone. Other {study.wording.cases} would give other "
        "counts; scoring the models' predictions with the metric file shows how certain this is.",
    )


def _guesses(state: SessionState, study: Study, family: str) -> dict[MistakeKey, float]:
    """Return the first guesses by the mistakes that the family distinguishes."""
    guessed = {MistakeKey(guess.true, guess.predicted): guess.ratio for guess in state.guesses}
    metric_family = linear_family(family)
    return {
        key: guessed.get(key, guessed.get(MistakeKey(*metric_family.cell(key)), 0.0))
        for key in metric_family.mistakes(study.n_classes)
        if key in guessed or MistakeKey(*metric_family.cell(key)) in guessed
    }


def _known_before(session: Session, outcome: Outcome) -> Iterator[str]:
    """Yield notes on what the expert stated or saw before the questions."""
    text = stated_words(session.setting, session.study)
    if text:
        yield f"Stated as certain before the questions, so that all numbers keep to it: {text}"
    if not session.state.orders_hold:
        yield "What was stated as certain before the questions was withdrawn after them."
    piles = [pile.name for pile in session.setting.stated_piles if pile.mistakes]
    if piles and linear_family(outcome.family).distinguishes_errors:
        yield (
            f"The mistakes were sorted by their consequence before the questions ({', '.join(piles)}): those of one "
            "pile are expected to cost about the same, unless answers say otherwise."
        )
    if session.state.begun.study.round == 2:
        yield "These answers were given in a second round, after the opinions of the other experts were shown."


def _of_a_slight_yardstick(outcome: Outcome, ratios: Sequence[ExchangeRate]) -> tuple[str, ...]:
    """Return how to learn more from the same answers, if the cost of the yardstick itself is not known."""
    if outcome.ranges is None or len(ratios) == 2:  # the other mistake is as badly known in units of it
        return ()
    yardstick = next(rate.mistake.one for rate in ratios if rate.is_yardstick)
    return (
        f"Beside the worst mistake one {yardstick} counts so little that its cost is only bounded. With a graver "
        "yardstick, chosen among the words of the study, ranges are narrower; the same answers count.",
    )


def metric_of(session: Session, outcome: Outcome) -> ElicitedMetric:
    """Return the elicited metric of a session with its provenance; its quality is added later."""
    study, begun = session.study, session.state.begun
    provenance = Provenance(
        procedure=session.procedure().name,
        parameters=stored(session.setting),
        seed=begun.seed,
        questions=outcome.questions,
        answers_digest=answers_digest(session.state),
        expert=begun.who,
    )
    name = study.title if begun.who is None else f"{study.title}, {begun.who}"
    return elicited(study, outcome, name, provenance, Quality(), session.state.last or begun.at)


def elicited(
    study: Study, outcome: Outcome, name: str, provenance: Provenance, quality: Quality, created: datetime | None = None
) -> ElicitedMetric:
    """Return what a procedure learned, from a person or a simulated expert, as a metric in the words of its study.

    The outcome is `by_the_yardstick`. The program's version and the study's digest are added to the provenance;
    `created` is now by default.
    """
    true, predicted = study.yardstick
    when = {} if created is None else {"created": created}
    deviations = outcome.deviations
    learned = {} if deviations is None else {DEVIATIONS: [round(float(one), 3) for one in deviations]}
    return ElicitedMetric.from_weights(
        study.classes,
        outcome.weights,
        outcome.family,
        name=name,
        intervals=cost_intervals(outcome, study.yardstick),
        samples=None if outcome.samples is None else kept_draws(outcome.samples),
        prevalence=None if study.wording.priced else study.prevalence,
        population=None if study.wording.priced else study.population,
        consequences=consequences(study, not family_of(outcome.family).distinguishes_errors),
        words=study.wording.of_cases,
        yardstick=(study.classes[true], study.classes[predicted]),
        provenance=replace(
            provenance,
            version=elicit_app.__version__,
            study_digest=study.digest.removeprefix("sha256:") or None,
            parameters={**provenance.parameters, **learned},
        ),
        quality=quality,
        kind=study.wording.priced or "confusion",
        **when,
    )


def by_the_yardstick(outcome: Outcome, study: Study) -> Outcome:
    """Return it with weights whose ratios to that of the yardstick are medians of the draws, as every table has them.

    An outcome's weights are medians of ratios to the largest weight, whose quotients differ from these.
    """
    if outcome.samples is None or is_fraction(outcome.family):
        return outcome
    family = family_of(outcome.family)
    unit = family.index(*study.yardstick, study.n_classes)
    ratios = sorted_columns(outcome.samples / outcome.samples[:, [unit]])
    # The table takes its medians in the same way: as one of the draws.
    middle = np.quantile(ratios, 0.5, axis=1, method="inverted_cdf")
    return replace(outcome, weights=family.normalise(family.sign * middle))


def consequences(study: Study, any_mistake: bool) -> tuple[Consequence, ...]:
    """Return the study's words for each mistake; one per true class if all its wrong answers are equally bad."""
    words, names = study.wording, study.classes
    if any_mistake:
        return tuple(mistake.of(name, None) for name, mistake in zip(names, words.any_mistake, strict=True))
    return tuple(mistake.of(names[i], names[j]) for (i, j), mistake in sorted(words.mistakes.items()))


_SIDES_BEFORE = {Choice.FIRST: "a", Choice.SECOND: "b"}  # names in sessions and metric files of version 1


class _AnswersDigest:
    """SHA-256 of the questions and answers that count, in order; one more answer continues it."""

    def __init__(self, state: SessionState, before: bool) -> None:
        self._sides = _SIDES_BEFORE if before else {}
        self._hash, self._between = hashlib.sha256(b"["), ""
        for index, (_, answer) in zip(state.used, state.history, strict=True):
            self.add(state.entries[index].event.pair, answer)

    def add(self, pair: Pair, answer: Answer) -> None:
        parts = [pair.first, pair.second, self._sides.get(answer.choice, answer.choice.value)]
        strength, moved = answer.strength and answer.strength.value, answer.moved
        where = [] if moved is None else [[moved.side, moved.true, moved.predicted, moved.count]]
        self._hash.update((self._between + json.dumps([*parts, strength, *where], separators=(",", ":"))).encode())
        self._between = ","

    def hexdigest(self) -> str:
        whole = self._hash.copy()
        whole.update(b"]")
        return whole.hexdigest()


def answers_digest(state: SessionState, *, before: bool = False) -> str:
    """Return the SHA-256 of the questions and answers that count, in order, ignoring their times.

    With `before`, sides have their names of version 1, as in metric files of that time.
    """
    return _AnswersDigest(state, before).hexdigest()


def answers_behind(digest: str, events: Sequence[Event]) -> int | None:
    """Return how many lines of a session, at most, give the answers digest that a metric file states.

    Return None if the metric comes from other answers.
    """
    builder, found = StateBuilder(), None
    digests: list[_AnswersDigest] = []
    for number, event in enumerate(events, start=1):
        builder.add(event)
        if isinstance(event, Answered):
            for one in digests:
                one.add(event.pair, event.answer)
        else:  # it may change any answer
            digests = [_AnswersDigest(builder.state, before) for before in (False, True)]
        if any(one.hexdigest() == digest for one in digests):
            found = number
    return found


def export(view: ResultView, path: Path) -> Path:
    """Write the elicited metric file atomically, and return its path.

    Raises Problem if there are fewer than five informative answers, or the file cannot be written.
    """
    if not view.can_export:
        raise Problem(
            f"A metric file needs at least {FEWEST_TO_EXPORT} informative answers; ask for more questions first."
        )
    return save_metric(view.metric, path)


def save_metric(metric: ElicitedMetric, path: Path) -> Path:
    """Write a metric file atomically, creating missing folders, and return its path.

    Raises Problem if the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        metric.save(path)
    except OSError as error:
        raise write_problem(path, error) from error
    return path


def _day(state: SessionState) -> str:
    """Return the local date of the last answer: "20 November 2025"."""
    assert state.last is not None
    return day(in_zone(state.last))


def cost_intervals(outcome: Outcome, yardstick: tuple[int, int]) -> Matrix | None:
    """Return 90 % intervals of the costs, shape (k, k, 2): those of the outcome, or those implied by a search.

    A search knows ratios only, so its intervals are on the scale on which the cost of the yardstick (true, predicted)
    is exact. So are those of many weights, of whose draws the metric keeps too few to compute them again, and those of
    a yardstick so slight that its own cost is only bounded. None if nothing is known about them.
    """
    family, tolerance = family_of(outcome.family), outcome.tolerance
    costs = family.costs(outcome.weights)
    unit, cost = family.index(*yardstick, len(costs)), costs[yardstick]
    if cost > 0 and tolerance is not None:
        low, high = tolerance.low[:, unit] * cost, tolerance.high[:, unit] * cost
    elif (
        cost > 0
        and outcome.samples is not None
        and (outcome.ranges is not None or len(kept_draws(outcome.samples)) < len(outcome.samples))
    ):
        low, high = _ranges_to(outcome, unit) * cost
    else:
        return intervals_around(costs, outcome.intervals)
    low[unit] = high[unit] = cost
    return intervals_around(costs, np.stack([family.on_errors(low), family.on_errors(high)], axis=-1))


def _ranges_to(outcome: Outcome, unit: int) -> Matrix:
    """Return 90 % ranges of weight over yardstick, shape (2, m), from all draws; ends left open stay open."""
    assert outcome.samples is not None
    ends = ranges_of_draws(sorted_columns(outcome.samples / outcome.samples[:, [unit]]).T).T
    known = outcome.ranges
    if known is None and outcome.intervals is not None:
        known = family_of(outcome.family).of_errors(np.moveaxis(outcome.intervals, -1, 0))
    if known is not None:
        ends[0][known[0] == 0] = 0.0
        ends[1][np.isinf(known[1])] = np.inf
    return ends


def judge_of(study: Study, metric: ElicitedMetric, practice: Practice | None = None) -> Judge:
    """Return the judge of the policies for a study's models, at least one, and of present practice."""
    true, words = study.models[0].y_true, study.wording.of_cases
    models = policies_of(study, metric)
    return Judge.of_models(
        metric, true, models, study.people, practice=practice, population=study.population, words=words
    )


def policies_of(study: Study, metric: ElicitedMetric) -> list[tuple[ModelPolicies, Matrix]]:
    """Return the policies of each model of a study, with its probabilities."""
    cases, stated = study.case_counts, study.stated_prevalence
    assert cases is not None
    shares = None if stated is None else proportions(stated)
    known = [one.calibration().at(shares, cases) for one in study.models]
    return [
        (ModelPolicies(one.name, metric.cost_matrix, found), one.y_proba)
        for one, found in zip(study.models, known, strict=True)
    ]


def scenarios_of(study: Study, metric: ElicitedMetric, practice: Practice | None = None) -> Scenarios | None:
    """Return the costs of a study's models at any prevalence; None if it has no models."""
    if not study.models:
        return None
    concern = ConcernScore(study.n_classes, release_factors=metric.release_factors())

    def judge_at(shares: Matrix) -> Judge:
        return judge_of(replace(study, stated_prevalence=tuple(shares)), metric, practice)

    judge = judge_of(study, metric, practice)
    return Scenarios(
        judge=judge,
        judge_at=judge_at,
        costs=CostsByPrevalence(judge.costs, study.models[0].y_true, policies_of(study, metric), study.people),
        stated=study.stated_prevalence,
        concern=np.array([_class_concern(concern, model) for model in study.models]),
        class_weight=np.array([metric.class_weight[label] for label in metric.labels]),
    )


def _class_concern(concern: ConcernScore, model: Predictions) -> list[float]:
    """Return a model's Meta Pattern Concern Score over the cases of each true class, 0 for a class without cases."""
    rows = [model.y_true == true for true in range(len(concern.classes))]
    return [
        concern.fresh().update(model.y_true[own], model.y_proba[own]).result() if own.any() else 0.0 for own in rows
    ]
