"""A simulated expert at the terminal: answers from stated or random weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elicit_app.problem import WrongOption

if TYPE_CHECKING:
    from rich.console import Console

    from elicit_app.cli.terminal import Read
    from elicit_app.elicitation.questions import Matrix
    from elicit_app.registry import Setting
    from elicit_app.session.session import Session
    from elicit_app.session.views.asked import QuestionView
    from elicit_app.study.model import Study


def simulated(session: Session, truth: str, talk: Console) -> Read:
    """Return a reader that answers by itself, from stated or random weights; see `expert_weights`."""
    from elicit_app.elicitation.oracles import LinearOracle
    from elicit_app.elicitation.questions import Choice, Question
    from metrics.elicited.family import family_of

    family = session.procedure().family
    weights = expert_weights(truth, session.setting, session.study)
    oracle = LinearOracle(family_of(family).weight_matrix(family_of(family).normalise(weights)))
    talk.print(f"A simulated expert answers, with the weights {', '.join(f'{one:.3g}' for one in weights)}.")

    def read(view: QuestionView | None) -> str | None:
        if view is None:
            return None
        answer = oracle.answer(Question(view.left, view.right, view.population, proposal=view.proposal))
        key = {Choice.FIRST: "1", Choice.SECOND: "2", Choice.EQUAL: "0", Choice.UNSURE: "s"}[answer.choice]
        if answer.moved is not None:
            key = f"{key.replace('0', '')}={answer.moved.count}"
        talk.print(f"> {key}")
        return key

    return read


def expert_weights(truth: str, setting: Setting, study: Study) -> Matrix:
    """Return the weights of a simulated expert: "random", or the stated "W1,W2,..."; they keep the stated orders.

    Raises
    ------
    WrongOption
        They are no weights of the family at so many classes, or break an order.
    """
    import numpy as np

    from elicit_app.experiments.truths import true_metric

    try:
        stated = None if truth == "random" else tuple(float(part) for part in truth.split(","))
    except ValueError:
        raise WrongOption(f"`simulate` {truth}: numbers with commas, or random, were expected.") from None
    rng = np.random.default_rng(np.random.SeedSequence([setting.seed, 1]))
    return true_metric(study, setting, rng, stated=stated).weights
