"""The result of a session: the elicited metric, the ratios in words, the models judged, and what can be exported."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import elicit_app
from elicit_app.elicitation.questions import Choice, Outcome
from elicit_app.problem import Problem
from elicit_app.registry.binding import stated_orders
from elicit_app.session.journal.events import Event
from elicit_app.session.journal.state import SessionState, fold
from elicit_app.session.results.judging import prevalence, scenarios_of
from elicit_app.session.results.tolerances import cost_intervals
from elicit_app.session.results.trusting import trust_of
from elicit_app.session.session import FEWEST_TO_EXPORT, Session
from elicit_app.session.views.outcome import ResultView
from elicit_app.session.words.sentences import stated_words
from elicit_app.study.model import Mistake, Study
from elicit_app.study.writing import write_problem
from metrics import Consequence, ElicitedMetric, Provenance, Quality, exchange_rates
from metrics.display.numbers import day
from metrics.elicited.exchange import headline_of
from metrics.elicited.family import MistakeKey, linear_family


def result_view(session: Session) -> ResultView:
    """Return everything the result pages show.

    Raises
    ------
    Problem
        Where there is no answer yet.
    """
    if not session.state.informative:
        raise Problem("There is no result yet: answer at least one question first.")
    outcome = session.outcome()
    study, state = session.study, session.state
    shares = prevalence(study)
    draft = metric_of(session, outcome, tuple(map(float, shares)))
    ratios = exchange_rates(draft)
    trust = trust_of(session, outcome, ratios)
    metric = metric_of(session, outcome, tuple(map(float, shares)), trust.quality)
    scenarios = scenarios_of(study, metric)
    judgement = None if scenarios is None else scenarios.judgement()
    return ResultView(
        metric=metric,
        ratios=ratios,
        headline=headline_of(ratios, metric.quality.provisional),
        trust=trust.findings,
        trust_sentence=trust.sentence,
        held_out=trust.held_out,
        models=() if scenarios is None or judgement is None else scenarios.models(judgement),
        judgement=judgement,
        answers=len(state.entries),
        date=_day(state),
        can_export=session.can_export,
        journal=session.path,
        notes=(*_stated(session, outcome), *outcome.notes, *state.notes),
        stopped=outcome.stopped,
        can_continue=session.continuation() is not None,
        scenarios=scenarios,
        guesses=_guesses(state, study, outcome.family),
    )


def _guesses(state: SessionState, study: Study, family: str) -> dict[MistakeKey, float]:
    """Return the first guesses, as the family tells mistakes apart."""
    guessed = {MistakeKey(guess.true, guess.predicted): guess.ratio for guess in state.guesses}
    weigh = linear_family(family)
    return {
        key: guessed.get(key, guessed.get(MistakeKey(*weigh.cell(key)), 0.0))
        for key in weigh.mistakes(study.n_classes)
        if key in guessed or MistakeKey(*weigh.cell(key)) in guessed
    }


def _stated(session: Session, outcome: Outcome) -> tuple[str, ...]:
    """Return a note about the orders that were stated: the answers did not have to show them."""
    orders = stated_orders(session.setting, session.study.classes)
    said = stated_words(orders, session.study.wording, outcome.family)
    return (f"Stated for certain before the questions, so that no answer can speak against it: {said}",) if said else ()


def metric_of(
    session: Session, outcome: Outcome, shares: tuple[float, ...] | None = None, quality: Quality | None = None
) -> ElicitedMetric:
    """Return the elicited metric with where it comes from."""
    study, begun = session.study, session.state.begun
    true, predicted = study.yardstick
    return ElicitedMetric.from_weights(
        study.classes,
        outcome.weights,
        outcome.family,
        name=study.title if begun.expert is None else f"{study.title}, {begun.expert}",
        created=session.state.last or begun.at,
        intervals=cost_intervals(outcome, study.yardstick),
        samples=outcome.samples,
        prevalence=shares,
        population=study.population,
        consequences=consequences(study, outcome.family == "dlpm"),
        yardstick=(study.classes[true], study.classes[predicted]),
        provenance=Provenance(
            procedure=session.procedure().name,
            version=elicit_app.__version__,
            parameters=dict(begun.setting),
            seed=begun.seed,
            questions=outcome.questions,
            study_digest=_hexadecimal(study.digest),
            answers_digest=answers_digest(session.state),
            expert=begun.expert,
        ),
        quality=quality or Quality(),
    )


def consequences(study: Study, any_mistake: bool) -> tuple[Consequence, ...]:
    """Return the study's words for each mistake; one per true class where any wrong answer is equally bad."""
    words, names = study.wording, study.classes
    told: list[tuple[str, str | None, Mistake]]
    if any_mistake:
        told = [(names[i], None, words.any_mistake[i]) for i in range(len(names))]
    else:
        told = [(names[i], names[j], words.mistakes[i, j]) for i, j in sorted(words.mistakes)]
    return tuple(
        Consequence(true, predicted, mistake.name, mistake.one, mistake.many, mistake.consequence)
        for true, predicted, mistake in told
    )


_SIDES_BEFORE = {Choice.FIRST: "a", Choice.SECOND: "b"}  # what sessions and metric files of version 1 called them


def answers_digest(state: SessionState, *, before: bool = False) -> str:
    """Return the SHA-256 of the questions and answers that count, in order, whatever time they were given at.

    Parameters
    ----------
    state : SessionState
        The answers.
    before : bool
        With the names that the sides had in version 1, as metric files of that time hold it.
    """
    sides = _SIDES_BEFORE if before else {}
    used = []
    for index, (_, answer) in zip(state.used, state.history, strict=True):
        pair, moved = state.entries[index].event.pair, answer.moved
        said = [pair.first, pair.second, sides.get(answer.choice, answer.choice.value)]
        strength = answer.strength and answer.strength.value
        where = [] if moved is None else [[moved.side, moved.true, moved.predicted, moved.count]]
        used.append([*said, strength, *where])
    return hashlib.sha256(json.dumps(used, separators=(",", ":")).encode()).hexdigest()


def answers_behind(digest: str, events: Sequence[Event]) -> int | None:
    """Return after how many lines of a session its answers were those that a metric file was made from.

    Parameters
    ----------
    digest : str
        The metric file's answers digest.
    events : sequence of Event
        What is in the session.

    Returns
    -------
    int or None
        The most lines that fit; None where the metric comes from other answers.
    """
    # A metric was exported from a session at rest: when it was stopped or finished, or at its end.
    rests = [number for number, event in enumerate(events, start=1) if event.kind in ("stopped", "finished")]
    rests += [number - 1 for number, event in enumerate(events, start=1) if event.kind in ("continued", "noted")]
    for number in dict.fromkeys([len(events), *sorted(rests, reverse=True)]):
        state = fold(events[:number])
        if digest in (answers_digest(state), answers_digest(state, before=True)):
            return number
    return None


def export(view: ResultView, path: Path) -> Path:
    """Write the elicited metric file, whole or not at all, and return where.

    Raises
    ------
    Problem
        Under five informative answers, or where the file cannot be written.
    """
    if not view.can_export:
        raise Problem(
            f"A metric file needs at least {FEWEST_TO_EXPORT} answers that say something; ask for more questions first."
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        view.metric.save(path)
    except OSError as error:
        raise write_problem(path, error) from error
    return path


def _hexadecimal(digest: str) -> str | None:
    return digest.removeprefix("sha256:") or None


def _day(state: SessionState) -> str:
    """Return the day of the last answer where the expert is: "20 November 2025"."""
    assert state.last is not None
    return day(state.last.astimezone())
