"""A simulated expert at the terminal: answers from stated or random weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elicit_app.problem import Problem

if TYPE_CHECKING:
    from rich.console import Console

    from elicit_app.cli.terminal import Read
    from elicit_app.elicitation.questions import Matrix
    from elicit_app.session.procedures import ProcedureSetting
    from elicit_app.session.session import Session
    from elicit_app.session.views.asked import QuestionView
    from elicit_app.study.model import Study

_MOST_DRAWS = 2_000  # of an expert, until one keeps the stated orders


class WrongWeights(Problem):
    """Weights of a simulated expert that are none: wrong usage."""


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


def expert_weights(truth: str, setting: ProcedureSetting, study: Study) -> Matrix:
    """Return the weights of a simulated expert: "random", or the stated "W1,W2,..."; they keep the stated orders.

    Raises
    ------
    WrongWeights
        They are no weights of the family at so many classes, or break an order.
    """
    import numpy as np

    from elicit_app.elicitation.orders import broken
    from metrics.elicited.family import family_of

    n_classes, family, orders = study.n_classes, setting.resolved_family, setting.never_worse or ()
    size = n_classes if family == "dlpm" else n_classes * n_classes - n_classes
    if truth == "random":
        rng = np.random.default_rng(np.random.SeedSequence([setting.seed, 1]))
        for _ in range(_MOST_DRAWS):
            drawn = rng.dirichlet(np.ones(size)) if family == "dlpm" else -np.exp(1.2 * rng.standard_normal(size))
            if broken(drawn, orders, study.classes, family) is None:
                return drawn
        raise Problem(f"None of {_MOST_DRAWS:,} random experts keeps all the stated orders: state fewer.")
    try:
        weights = np.array([float(part) for part in truth.split(",")])
    except ValueError:
        raise WrongWeights(f"--simulate {truth}: numbers with commas, or random, were expected.") from None
    if len(weights) != size:
        raise WrongWeights(
            f"--simulate {truth}: {size} weights are needed for {n_classes} classes, not {len(weights)}."
        )
    try:
        family_of(family).normalise(weights)
    except ValueError as error:
        raise WrongWeights(f"--simulate {truth}: {error}") from error
    order = broken(weights, orders, study.classes, family)
    if order is not None:
        raise WrongWeights(f"--simulate {truth}: these weights break the stated order {order}; change one of the two.")
    return weights
