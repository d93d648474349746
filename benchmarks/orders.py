"""Whether answers that contradict a stated order are noticed: `python benchmarks/orders.py [--runs N] [--seed S]`.

Simulated experts, whose log-ratios wobble at every answer, state one order between two random mistakes before a
sitting: one that holds for them, or its reverse. Printed is how often the answers are found to contradict it, of all
experts and of those for whom the costs of the two mistakes differ by a factor of three or more. Real predictions are
read from the folder `../shared/data` beside the checkout (or ELICIT_SHARED_DATA); without it their studies are omitted.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from early_stop import person
from elicitation import opened

from elicit_app.elicitation import LPM
from elicit_app.elicitation.oracles import run
from elicit_app.elicitation.orders import StatedMistake, StatedOrder, contradicted_orders
from elicit_app.registry.entries import procedure_for, setting_of, stated_orders
from elicit_app.study.model import Study

STUDIES = ("breast-cancer", "wine", "emotions", "news")
FAR = np.log(3)


def contradicted(study: Study, seed: int, wobble: float, *, holds: bool) -> tuple[bool, bool]:
    """Return whether an expert's answers are found to contradict the order, and whether the two costs are far apart."""
    rng = np.random.default_rng((seed, 4))
    keys = LPM.mistakes(study.n_classes)
    log_costs = rng.normal(0, 1.2, len(keys))
    smaller, larger = sorted(rng.choice(len(keys), 2, replace=False), key=lambda place: log_costs[place])
    named = [StatedMistake(*keys[place]) for place in (smaller, larger)]
    order = StatedOrder(*(named if holds else named[::-1]))
    setting = setting_of("bayes", purpose="costs", seed=seed, never_worse=(order,)).for_person()
    _, history = run(procedure_for(study, setting), person(log_costs, wobble, rng))
    free = procedure_for(study, setting.without_orders()).belief(history)
    assert free is not None
    found = contradicted_orders(stated_orders(setting, study.classes), free)
    return bool(found), bool(log_costs[larger] - log_costs[smaller] >= FAR)


def report(name: str, found: list[tuple[bool, bool]]) -> None:
    said, far = np.array(found).T
    print(
        f"{name}: contradicted {share(said)} of {len(said)}; costs far apart {share(said[far])} of {far.sum()}",
        flush=True,
    )


def share(said: np.ndarray) -> str:
    mean = said.mean() if len(said) else np.nan
    return f"{mean:.2f} +- {np.sqrt(mean * (1 - mean) / max(len(said), 1)):.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=40, help="experts for each study and kind of order")
    parser.add_argument("--only", choices=STUDIES, help="of one study")
    parser.add_argument("--wobble", type=float, default=0.6, help="of the log-ratios, at every answer")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        for name in [options.only] if options.only else STUDIES:
            study = opened(name, Path(folder))
            if study is None:
                continue
            for kind, holds in (("an order that holds", True), ("its reverse", False)):
                seeds = range(options.seed, options.seed + options.runs)
                found = [contradicted(study, seed, options.wobble, holds=holds) for seed in seeds]
                report(f"{name}, {kind}", found)


if __name__ == "__main__":
    main()
