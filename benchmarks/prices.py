"""How closely the prices of simulated people are learned: of several labels, and alpha : beta of the relevance score.

    python benchmarks/prices.py [--study labels|suggestions] [--people N] [--questions N] [--accuracy A] [--seed S]

The data are generated: 400 items with 13 labels and two models that miss and invent labels; 500 suggestions by two
rule-like models in three contexts. People have log-normal prices (standard deviation 1.2 of each logarithm). With
logistic noise, they answer random pairs of batches, neither of which is better in everything, correctly with the given
mean probability.
Printed per ratio of prices: the median factor by which the estimate is off and the share of true ratios within their
90 % range, both with standard errors over the people, and the median width of the ranges.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from elicit_app.experiments.people import Noise
from elicit_app.experiments.simulation import Experts, Laboratory
from elicit_app.registry import setting_of
from elicit_app.registry.entries import as_packed
from elicit_app.session.result import elicited
from elicit_app.study.amounts import read_amounts, study_of_amounts
from elicit_app.study.model import Study
from metrics import Provenance, Quality, exchange_rates

_SPREAD = 1.2
_BOOTSTRAPS = 1_000


def labels_study(folder: Path) -> Study:
    """Return a study of 13 labels with two models."""
    rng = np.random.default_rng(13)
    names = [f"mood{j}" for j in range(13)]
    shared, mixing = rng.standard_normal((400, 3)), 0.8 * rng.standard_normal((3, 13))
    rare = np.log(rng.uniform(0.04, 0.2, 13))
    true = rng.random((400, 13)) < 1 / (1 + np.exp(-(rare + shared @ mixing)))
    files = []
    for model, shift in (("cautious", -1.4), ("eager", -0.2)):
        predicted = 2.2 * (2 * true - 1) + 1.3 * rng.standard_normal(true.shape) + shift > 0
        header = [*(f"true_{name}" for name in names), *(f"pred_{name}" for name in names)]
        files.append(_written(folder / f"{model}.csv", header, np.hstack([true, predicted]).astype(int).tolist()))
    return study_of_amounts(read_amounts(files, ["cautious", "eager"]), title="Moods", noun=("mood", "moods"))


def suggestions_study(folder: Path) -> Study:
    """Return a study of suggestions in contexts with two models."""
    rng = np.random.default_rng(3)
    law = np.array([[0.5, 0.3, 0.15, 0.05], [0.1, 0.2, 0.1, 0.6], [0.4, 0.1, 0.4, 0.1]])
    rooms = rng.integers(3, size=500)
    actual = np.array([rng.choice(4, p=law[room]) for room in rooms])
    files = []
    for model, random in (("rules", 0.35), ("tree", 0.2)):
        predicted = np.where(rng.random(500) < random, rng.integers(4, size=500), law[rooms].argmax(axis=1))
        rows = [[f"light {a}", f"light {p}", f"room {c}"] for a, p, c in zip(actual, predicted, rooms, strict=True)]
        files.append(_written(folder / f"{model}.csv", ["y_true", "y_pred", "context_room"], rows))
    return study_of_amounts(read_amounts(files, ["rules", "tree"]), title="Lights", noun=("", ""))


def _written(path: Path, header: list[str], rows: Sequence[Sequence[object]]) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def one_person(study: Study, options: argparse.Namespace, number: int) -> dict[str, tuple[float, bool, float]]:
    """Return, per ratio of prices, the factor by which it is off, whether its range holds it, and the range's width."""
    truth = np.exp(_SPREAD * np.random.default_rng([options.seed, number, 1]).standard_normal(study.n_classes))
    setting = setting_of("bayes", questions=options.questions, seed=options.seed)
    setting = as_packed(study, setting)
    experts = Experts(weights=tuple(truth), noise=Noise.parse(f"logit:{options.accuracy}"))
    run = Laboratory(study, setting, experts).run(number)
    found = {}
    for unit in range(study.n_classes - 1, -1, -1):
        others = [place for place in range(study.n_classes) if place != unit]
        metric = elicited(study, run.outcome, "", Provenance("bayes"), Quality())
        metric = replace(metric, yardstick=(study.classes[unit], study.classes[others[0]]))
        for rate in exchange_rates(metric):
            pair = tuple(sorted((rate.true, unit)))
            if rate.is_yardstick or pair in found or rate.low is None or rate.high is None:
                continue
            true = truth[rate.true] / truth[unit]
            off = float(np.exp(abs(np.log(rate.ratio / true))))
            found[pair] = (off, bool(rate.low <= true <= rate.high), float(np.sqrt(rate.high / max(rate.low, 1e-9))))
    return {f"{study.classes[a]} : {study.classes[b]}": value for (a, b), value in sorted(found.items())}


def report(study: Study, options: argparse.Namespace) -> None:
    """Print the results over all people."""
    people = [one_person(study, options, number) for number in range(options.people)]
    rng = np.random.default_rng(0)
    print(f"{study.title}: {options.people} people, {options.questions} answers, right on {options.accuracy:.0%}")
    everything = []
    for name in people[0]:
        off, inside, width = (np.array([person[name][part] for person in people]) for part in range(3))
        everything.append((off, inside))
        _line(name, off, inside, width, rng)
    off = np.concatenate([one for one, _ in everything])
    print(f"  all ratios: median factor {np.median(off):.2f}, inside {np.mean([one for _, one in everything]):.3f}")


def _line(name: str, off: np.ndarray, inside: np.ndarray, width: np.ndarray, rng: np.random.Generator) -> None:
    again = np.median(off[rng.integers(len(off), size=(_BOOTSTRAPS, len(off)))], axis=1)
    error = np.sqrt(inside.mean() * (1 - inside.mean()) / len(inside))
    print(
        f"  {name:40} median factor {np.median(off):.2f} (se {again.std():.2f}), inside {inside.mean():.3f} "
        f"(se {error:.3f}), range a factor {np.median(width):.2f}",
        flush=True,
    )


def main() -> None:
    """Run both studies."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--study", choices=("labels", "suggestions"))
    parser.add_argument("--people", type=int, default=60)
    parser.add_argument("--questions", type=int, default=12)
    parser.add_argument("--accuracy", type=float, default=0.8)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, made in {"labels": labels_study, "suggestions": suggestions_study}.items():
            if options.study in (None, name):
                report(made(Path(folder)), options)


if __name__ == "__main__":
    main()
