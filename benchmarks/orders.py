"""Whether answers that contradict a stated order are noticed: `python benchmarks/orders.py [--runs N] [--seed S]`.

Simulated experts, whose log-ratios wobble at every answer, state one order between two random mistakes before a
sitting: one that holds for them, or its reverse. Printed is how often the answers are found to contradict it, of all
experts and of those for whom the costs of the two mistakes differ by a factor of three or more. With --ordered they
state that the classes are in an order, which holds for their costs, or for none; then printed is also how many of the
ratios to the largest cost lie in their 90 % ranges, and how wide these are, with the order and without it. With
--pooled four experts of one mind state an order that holds, and these are the ranges of their pool. Real predictions
are read from the folder `../shared/data` beside the checkout (or ELICIT_SHARED_DATA); without it their studies are
omitted.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

import numpy as np
from early_stop import person
from elicitation import opened

from elicit_app.elicitation import LPM
from elicit_app.elicitation.belief import ends_of_ratios
from elicit_app.elicitation.oracles import run
from elicit_app.elicitation.orders import StatedMistake, StatedOrder, contradicted_by, may_be_in_order
from elicit_app.elicitation.pooling import Expert, pooled
from elicit_app.elicitation.prior import WeightPrior
from elicit_app.elicitation.questions import AnswersFor, Matrix
from elicit_app.registry.entries import procedure_for, setting_of, stated_orders
from elicit_app.study.model import Study
from elicit_app.study.opening import open_study

STUDIES = ("breast-cancer", "wine", "emotions", "news", "graded")
FAR = np.log(3)
EXPERTS = 4  # of a pool


def contradicted(study: Study, seed: int, wobble: float, *, holds: bool) -> tuple[bool, bool]:
    """Return whether an expert's answers are found to contradict the order, and whether the two costs are far apart."""
    rng = np.random.default_rng((seed, 4))
    keys = LPM.mistakes(study.n_classes)
    log_costs = rng.normal(0, 1.2, len(keys))
    smaller, larger = sorted(rng.choice(len(keys), 2, replace=False), key=lambda place: log_costs[place])
    named = [StatedMistake(*keys[place]) for place in (smaller, larger)]
    order = StatedOrder(*(named if holds else named[::-1]))
    setting = setting_of("bayes", purpose="costs", seed=seed, never_worse=(order,)).for_person()
    told, untold = (procedure_for(study, one) for one in (setting, setting.without_orders()))
    _, history = run(told, person(log_costs, wobble, rng))
    found = contradicted_by(history, told, untold, stated_orders(setting, study.classes))
    return bool(found), bool(log_costs[larger] - log_costs[smaller] >= FAR)


def ordered(
    study: Study, seed: int, wobble: float, purpose: AnswersFor, *, holds: bool
) -> tuple[bool, bool, list[float]]:
    """Return whether answers contradict an order of the classes, whether costs do, and how well these are known.

    That is the share of the ratios to the largest cost within their ranges and the mean log-width of the ranges, with
    the order and, after a sitting of its own, without it.
    """
    rng = np.random.default_rng((seed, 5))
    log_costs = rng.normal(0, 1.2, study.n_classes * (study.n_classes - 1))
    setting = setting_of("bayes", purpose=purpose, seed=seed, ordered=study.classes).for_person()
    orders = stated_orders(setting, study.classes)
    prior = WeightPrior.of("lpm", study.n_classes, "iid", orders)
    if holds:
        log_costs = prior.in_order(log_costs[None])[0]
    far_off = any(log_costs[small] - log_costs[large] >= FAR for small, large in prior.order)
    known: list[float] = []
    for one in (setting, setting.without_orders()):
        procedure = procedure_for(study, one)
        _, history = run(procedure, person(log_costs, wobble, np.random.default_rng((seed, 6))))
        belief = procedure.belief(history)
        assert belief is not None
        if one is setting:
            untold = procedure_for(study, setting.without_orders())
            said = bool(contradicted_by(history, procedure, untold, (), orders))
        known += how_well_known(belief.log_weights, log_costs)
    return said, far_off, known


def in_a_pool(study: Study, seed: int, wobble: float) -> list[float]:
    """Return how well the costs of four experts of one mind, who state the order that holds, are known when pooled."""
    settings = [
        setting_of("bayes", purpose="costs", seed=EXPERTS * seed + number, ordered=study.classes).for_person()
        for number in range(EXPERTS)
    ]
    prior = WeightPrior.of("lpm", study.n_classes, "iid", stated_orders(settings[0], study.classes))
    drawn = np.random.default_rng((seed, 55)).normal(0, 1.2, study.n_classes * (study.n_classes - 1))
    log_costs, experts = prior.in_order(drawn[None])[0], list[Expert]()
    for number, setting in enumerate(settings):
        procedure = procedure_for(study, setting)
        _, history = run(procedure, person(log_costs, wobble, np.random.default_rng((seed, number, 6))))
        belief = procedure.belief(history)
        assert belief is not None
        experts.append(Expert(belief.log_weights, belief.prior))
    group = pooled(experts, experts[0].prior, np.random.default_rng(seed), 1_000)
    return how_well_known(group.log_weights, log_costs)


def how_well_known(log_weights: Matrix, log_costs: Matrix) -> list[float]:
    """Return the share of the ratios to the largest cost within their ranges, and the mean log-width of the ranges."""
    largest = int(np.argmax(log_costs))
    low, high = np.log(ends_of_ratios(log_weights, largest))
    others, truth = np.arange(len(log_costs)) != largest, log_costs - log_costs[largest]
    return [float(((low <= truth) & (truth <= high))[others].mean()), float((high - low)[others].mean())]


def report(name: str, found: list[tuple[bool, bool]]) -> None:
    said, far = np.array(found).T
    print(
        f"{name}: contradicted {share(said)} of {len(said)}; costs far apart {share(said[far])} of {far.sum()}",
        flush=True,
    )


def share(said: np.ndarray) -> str:
    mean = said.mean() if len(said) else np.nan
    return f"{mean:.2f} +- {np.sqrt(mean * (1 - mean) / max(len(said), 1)):.2f}"


def report_ordered(name: str, found: list[tuple[bool, bool, list[float]]]) -> None:
    said, far = np.array([one[:2] for one in found]).T
    known, errors = [f([one[2] for one in found], axis=0) for f in (np.mean, np.std)]
    within, width, within_without, width_without = known
    off, off_without = errors[[0, 2]] / np.sqrt(len(found))
    print(
        f"{name}: contradicted {share(said)} of {len(said)}; costs far apart {share(said[far])} of {far.sum()}; "
        f"within {within:.2f} +- {off:.2f}, factor {np.exp(width / 2):.1f}; "
        f"without {within_without:.2f} +- {off_without:.2f}, factor {np.exp(width_without / 2):.1f}",
        flush=True,
    )


def report_pooled(name: str, found: list[list[float]]) -> None:
    within, width = np.mean(found, axis=0)
    off = np.std(found, axis=0)[0] / np.sqrt(len(found))
    known = f"within {within:.2f} +- {off:.2f}, factor {np.exp(width / 2):.1f}"
    print(f"{name}, {len(found)} groups of {EXPERTS} pooled: {known}", flush=True)


def graded(folder: Path) -> Study:
    """Return a study of five grades, from healthy in half of the cases to severe in one of twelve."""
    shares, rng = np.array([0.49, 0.10, 0.27, 0.06, 0.08]), np.random.default_rng(5)
    grades = np.arange(len(shares))
    y_true = rng.choice(len(shares), 1500, p=shares)
    seen = y_true + rng.normal(0, 0.8, len(y_true))
    likely = shares * np.exp(-0.5 * ((seen[:, None] - grades) / 0.8) ** 2)
    path = folder / "graded.npz"
    np.savez(path, y_true=y_true, y_proba=likely / likely.sum(axis=1, keepdims=True))
    return open_study(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=40, help="experts for each study and kind of order")
    parser.add_argument("--only", choices=STUDIES, help="of one study")
    parser.add_argument("--ordered", action="store_true", help="orders of the classes instead of two mistakes")
    parser.add_argument("--pooled", action="store_true", help="four experts each, who state an order of the classes")
    parser.add_argument("--wobble", type=float, default=0.6, help="of the log-ratios, at every answer")
    parser.add_argument("--purpose", choices=get_args(AnswersFor), default="costs", help="of sittings with --ordered")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    kinds = (("an order that holds", True), ("its reverse", False))
    if options.ordered:
        kinds = (("an order of the classes that holds", True), ("one of classes that have none", False))
    with TemporaryDirectory() as folder:
        for name in [options.only] if options.only else STUDIES:
            study = graded(Path(folder)) if name == "graded" else opened(name, Path(folder))
            if study is None or ((options.ordered or options.pooled) and not may_be_in_order(study.n_classes, "lpm")):
                continue
            if options.pooled:
                groups = range(options.seed, options.seed + options.runs)
                report_pooled(name, [in_a_pool(study, seed, options.wobble) for seed in groups])
                continue
            for kind, holds in kinds:
                seeds = range(options.seed, options.seed + options.runs)
                if options.ordered:
                    both = [ordered(study, seed, options.wobble, options.purpose, holds=holds) for seed in seeds]
                    report_ordered(f"{name}, {kind}", both)
                else:
                    found = [contradicted(study, seed, options.wobble, holds=holds) for seed in seeds]
                    report(f"{name}, {kind}", found)


if __name__ == "__main__":
    main()
