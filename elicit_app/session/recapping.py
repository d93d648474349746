"""Where a session stood, for somebody who comes back to it: what is kept, what seems to weigh most, what is next."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elicit_app.elicitation.questions import Matrix, Outcome
from elicit_app.session.procedures import stated_orders
from elicit_app.session.results.result import metric_of
from elicit_app.session.session import FEWEST_TO_EXPORT, Session
from elicit_app.session.showing import last_answer, question_view
from elicit_app.session.views.asked import RecapView
from elicit_app.session.words.sentences import last_words, progress_words, stated_words
from metrics import exchange_rates
from metrics.elicited.exchange import ExchangeRate, Headline

TOO_EARLY = "It is too early to say which mistake you mind most."


def recap_view(session: Session) -> RecapView:
    """Return where a session stands."""
    study, state = session.study, session.state
    last = last_answer(session)
    answers = len(state.entries)
    kept = "1 answer is kept" if answers == 1 else f"{answers} answers are kept"
    return RecapView(
        answers=answers,
        kept="Nothing was answered yet" if last is None else kept,
        minds=minds(session),
        last="" if last is None else last_words(last, study.wording, session.procedure().family),
        following=_following(session),
        stated=stated_words(stated_orders(session.setting, study.classes), study.wording, session.procedure().family),
    )


def minds(session: Session) -> str:
    """Say which mistake the expert seems to mind most so far, or that it is too early to say."""
    if len(session.state.informative) < FEWEST_TO_EXPORT:
        return TOO_EARLY
    outcome = session.outcome()
    return worst_mistake_sentence(exchange_rates(metric_of(session, outcome)), _shares_worst(outcome))


def _shares_worst(outcome: Outcome) -> Matrix | None:
    """Return how often each weight is the largest among the draws, in the order of the ratios."""
    if outcome.samples is None:
        return None
    worst = np.abs(outcome.samples).argmax(axis=1)
    shares: Matrix = np.bincount(worst, minlength=outcome.samples.shape[1]) / len(worst)
    return shares


def worst_mistake_sentence(rates: Sequence[ExchangeRate], shares: Matrix | None) -> str:
    """Say which mistake weighs most.

    Parameters
    ----------
    rates : sequence of ExchangeRate
        One per weight.
    shares : ndarray of shape (n_weights,) or None
        How probable it is that each weight is the largest; None where only the estimate is known.
    """
    order = sorted(range(len(rates)), key=lambda place: -(rates[place].ratio if shares is None else shares[place]))
    first, second = (rates[place] for place in order[:2])
    names = [rate.mistake.many for rate in (first, second)]
    if shares is not None and shares[order[0]] < 0.5:
        return f"So far you seem to mind {names[0]} or {names[1]} most; it is not clear yet which of them."
    told = f"So far you seem to mind {names[0]} most"
    if first.is_yardstick:
        return f"{told}."
    said = Headline(first, next(rate for rate in rates if rate.is_yardstick)).in_words()
    return f"{told}: {said[0].lower()}{said[1:]}"


def _following(session: Session) -> str:
    """Say what comes next."""
    if session.state.phase == "finished":
        return "The result is next."
    if session.state.phase == "stopped":
        return "You were looking back on your answers."
    view = question_view(session, 0)
    if view is None:
        return "This sitting is over: see the result, or go on."
    said = progress_words(view)
    return f"{said.question.rstrip(',')} is next" + (", the last one." if view.last else f", then {said.rest}.")
