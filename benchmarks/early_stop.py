"""Whether choices that ended a sitting as settled really were: `python benchmarks/early_stop.py [--runs N]`.

Simulated experts, whose log-ratios wobble at every answer, answer a sitting for a choice until the program stops by
itself. Among the sittings that it ended because the choice was settled, the benchmark counts how often the recommended
policy also costs least under the expert's true values.

  same decisions   among the options at the end, with every model deciding as it would then be used, the recommended one
                   costs least under the true values; this is what P >= .95 refers to (wanted: at least 95 %)
  same policy      the policy recommended under the true values has the same name, although knowing the values would
                   change the threshold too
  loss             excess cost of the recommended policy over that one, in percent

Of all sittings it prints what known values would save, as the result says and as the true values have it: if decisions
stay as they are, and if they follow the values. With --further it asks on instead, and prints what is said of further
answers, and what the recommended policy then costs less. --only lesions and --only fevers are made-up studies of three
and six classes, of which one is rare, with two calibrated models; with --power 1 people mind equal shares of the
classes equally. Of all sittings it prints how many of the ratios to the unit lie in their 90 % ranges.

Real predictions are read from the folder `../shared/data` beside the checkout (or ELICIT_SHARED_DATA); without it their
studies are omitted.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from elicitation import opened
from numpy.typing import NDArray

from elicit_app.elicitation import LPM
from elicit_app.elicitation.oracles import WobblingOracle, run
from elicit_app.elicitation.procedure import Outcome, Procedure
from elicit_app.elicitation.questions import Progress
from elicit_app.registry.entries import procedure_for, setting_of
from elicit_app.session.result import judge_of
from elicit_app.study import create_study
from elicit_app.study.model import Study
from metrics import ElicitedMetric, Provenance
from metrics.policies.judging import Judge

Floats = NDArray[np.float64]
WITH_A_RARE_CLASS = {"lesions": (0.015, 0.9, 0.085), "fevers": (0.005, 0.4, 0.2, 0.15, 0.145, 0.1)}
STUDIES = ("breast-cancer", "wine", "traffic-light", "pneumonia", "emotions", "news")
SAME_COST = 1e-9
LENGTHS = (10, 15, 20, 30, 40, 60)  # answers after which further ones are looked at


@dataclass(frozen=True)
class Sitting:
    """One sitting: how it ended, and at which questions, (n, 3), as many followed as was said, more, and fewer."""

    stopped: str
    answers: int
    same_decisions: bool
    same_policy: bool
    loss: float
    held: float  # share of the ratios to the unit that lie in their 90 % ranges
    # per 1,000 cases, in worst mistakes: what known values would save if decisions stay and if they follow the values,
    # and the cost of the recommended policy; each as said and as found
    said: Floats
    saved: Floats
    as_said: Floats


def person(log_costs: Floats, wobble: float, rng: np.random.Generator) -> WobblingOracle:
    """Return an expert with given log-costs, shape (k^2 - k,)."""

    def utility(costs: Floats) -> Callable[[Floats], float]:
        matrix = LPM.weight_matrix(-costs)
        return lambda rates: float((matrix * rates).sum())

    def wobbled() -> Callable[[Floats], float]:
        return utility(np.exp(log_costs + wobble / np.sqrt(2) * rng.standard_normal(len(log_costs))))

    return WobblingOracle(utility(np.exp(log_costs)), wobbled)


def asked_until_the_end(procedure: Procedure, oracle: WobblingOracle) -> tuple[Outcome, list[Progress]]:
    """Return the outcome of a sitting, and what was said of its progress at every question."""
    elicitation = procedure.begin()
    said: list[Progress] = []
    try:
        step = next(elicitation)
        while True:
            said.append(step.progress)
            step = elicitation.send(oracle.answer(step.question))
    except StopIteration as end:
        return end.value, said


def as_said(said: list[Progress]) -> Floats:
    """Return at which questions, shape (n, 3), as many of the plan were left as was said, more, and fewer."""
    planned = [one for one in said if not one.beyond_plan]
    left = np.arange(len(planned), 0, -1)
    fewest, most = (np.array([getattr(one, end) for one in planned]) for end in ("fewest", "most"))
    return np.column_stack([(fewest <= left) & (left <= most), left > most, left < fewest]).astype(float)


def with_a_rare_class(name: str, folder: Path) -> Study:
    """Return a study of two calibrated models, whose first class is rare."""
    shares = np.array(WITH_A_RARE_CLASS[name])
    true = np.random.default_rng(15).choice(len(shares), 12_000, p=shares)
    paths: list[Path] = []
    for model, apart in (("one", 2.6), ("two", 2.2)):
        scores = np.random.default_rng(len(paths)).standard_normal((len(true), len(shares)))
        scores[np.arange(len(true)), true] += apart
        proba = shares * np.exp(apart * scores)
        paths.append(folder / f"{model}.npz")
        np.savez(paths[-1], y_true=true, y_proba=proba / proba.sum(axis=1, keepdims=True))
    return create_study(folder / name, paths)


def drawn_costs(study: Study, rng: np.random.Generator, options: argparse.Namespace) -> Floats:
    """Return log-costs (k^2 - k,) that grow with how rare a class is, by a power."""
    k = study.n_classes
    true = np.repeat(np.arange(k), k - 1)
    around = -options.power * np.log(study.prevalence[true])
    return np.asarray(around + rng.normal(0, options.spread, k * k - k))


def sitting(study: Study, seed: int, options: argparse.Namespace) -> Sitting:
    """Ask one simulated expert, and compare the recommendation with that under the true values."""
    rng = np.random.default_rng((seed, 4))
    log_costs = drawn_costs(study, rng, options)
    purpose = None if options.purpose == "either" else options.purpose
    setting = setting_of("bayes", purpose=purpose, seed=seed).for_person()
    outcome, said = asked_until_the_end(procedure_for(study, setting), person(log_costs, options.wobble, rng))
    metric = ElicitedMetric.from_weights(study.classes, outcome.weights, outcome.family, samples=outcome.samples)
    found = judge_of(study, metric)
    known = judge_of(study, ElicitedMetric.from_cost_matrix(study.classes, LPM.costs(-np.exp(log_costs))))
    truth = known.metric.cost_matrix
    costs, least = true_costs(found, truth), true_costs(known, truth).min()
    judged, best_known = found.at(), known.at().best.policy
    best, information = judged.best.policy, judged.information
    assert information is not None
    cost = costs[found.costs.policies.index(best)]
    unit = 1_000 * metric.cost_matrix[judged.unit] / judged.population
    expected = float((judged.drawn.worth * judged.drawn.both[:, 0]).mean())
    assert outcome.samples is not None
    place = LPM.index(*judged.unit, study.n_classes)
    ratios = np.log(np.abs(outcome.samples)) - np.log(np.abs(outcome.samples[:, [place]]))
    low, high = np.delete(np.quantile(ratios, [0.05, 0.95], axis=0), place, axis=1)
    true_ratios = np.delete(log_costs - log_costs[place], place)
    return Sitting(
        stopped=outcome.stopped,
        answers=len(said),
        same_decisions=bool(cost <= costs.min() * (1 + SAME_COST)),
        same_policy=best == best_known,
        loss=float(100 * (cost / least - 1)) if least else 0.0,
        held=float(((low <= true_ratios) & (true_ratios <= high)).mean()),
        said=unit * np.array([information.of_values, information.of_known_values, expected]),
        saved=1_000 * np.array([cost - costs.min(), cost - min(costs.min(), least), cost]),
        as_said=as_said(said),
    )


def asked_on(study: Study, seed: int, options: argparse.Namespace) -> tuple[Floats, Floats]:
    """Return what further answers save as said, shape (n, n), and what the recommended policy costs, shape (n,).

    Both are after each of `LENGTHS` answers, per 1,000 cases; what is said is for each of the lengths.
    """
    rng = np.random.default_rng((seed, 4))
    log_costs = drawn_costs(study, rng, options)
    procedure = procedure_for(study, setting_of("bayes", purpose="costs", questions=max(LENGTHS), seed=seed))
    _, asked = run(procedure, person(log_costs, options.wobble, rng))
    truth = ElicitedMetric.from_cost_matrix(study.classes, LPM.costs(-np.exp(log_costs))).cost_matrix
    said, costs = [], []
    for length in LENGTHS:
        outcome = procedure.conclude(asked[:length])
        metric = ElicitedMetric.from_weights(
            study.classes,
            outcome.weights,
            outcome.family,
            samples=outcome.samples,
            provenance=Provenance(procedure="bayes", questions=length),
        )
        judge = judge_of(study, metric)
        judged = judge.at()
        costs.append(1_000 * true_costs(judge, truth)[judge.costs.policies.index(judged.best.policy)])
        assert judged.information is not None
        more = [(0, 0.0), *((one.number, one.spares) for one in judged.information.more if one.of == "answers")]
        unit = 1_000 * judge.metric.cost_matrix[judged.unit] / judged.population
        said.append(unit * np.interp(np.array(LENGTHS) - length, *np.array(more).T))
    return np.array(said), np.array(costs)


def report_further(found: list[tuple[Floats, Floats]]) -> None:
    """Print shares of the cost: said, and found with its standard error."""
    said, costs = (np.array(part) for part in zip(*found, strict=True))
    for at, length in enumerate(LENGTHS[:-1]):
        print(f"after {length} answers, of {len(costs)} sittings", end="")
        for then in range(at + 1, len(LENGTHS)):
            share = said[:, at, then].mean() / costs[:, at].mean()
            spared, error = _share(costs[:, at] - costs[:, then], costs[:, at])
            print(f"; {LENGTHS[then] - length} more: said {share:.3f}, found {spared:.3f} (se {error:.3f})", end="")
        print(flush=True)


def true_costs(judge: Judge, truth: Floats) -> Floats:
    """Return the cost per case under true costs of every policy, shape (p,), deciding with the judge's costs."""
    return np.asarray(np.einsum("ipj,ij,i->p", judge.costs.rates, truth, judge.costs.own_shares))


def report(name: str, found: list[Sitting]) -> None:
    settled = [one for one in found if one.stopped == "best-model"]
    shares = np.concatenate([one.as_said for one in found]).mean(axis=0)
    print(
        f"{name:>14}: {len(found):4d} sittings; questions left: as said {shares[0]:.2f}, more {shares[1]:.2f},", end=""
    )
    held = np.array([one.held for one in found])
    print(f" fewer {shares[2]:.2f}; ranges hold {held.mean():.3f} (se {held.std() / np.sqrt(len(held)):.3f})", end="")
    print("; known values would save", end="")
    for place, which in enumerate(("decisions as they are", "deciding by them")):
        parts = (np.array([getattr(one, field) for one in found]) for field in ("said", "saved"))
        (said, _), (saved, error) = (_share(each[:, place], each[:, 2]) for each in parts)
        print(f" {which}: said {said:.3f}, found {saved:.3f} (se {error:.3f}),", end="")
    print(f" {len(settled):4d} stopped because the choice was settled", end="")
    if not settled:
        print(flush=True)
        return

    def share(field: str) -> str:
        right = np.array([getattr(one, field) for one in settled], dtype=float)
        return f"{right.mean():.3f} (se {np.sqrt(right.mean() * (1 - right.mean()) / len(right)):.3f})"

    loss = np.array([one.loss for one in settled])
    print(
        f" after {np.median([one.answers for one in settled]):.0f} answers: same decisions {share('same_decisions')}, "
        f"same policy {share('same_policy')}, loss mean {loss.mean():.2f} %, 95th percentile "
        f"{np.quantile(loss, 0.95):.2f} %",
        flush=True,
    )


def _share(amounts: Floats, costs: Floats) -> tuple[float, float]:
    """Return the ratio of two means, and its standard error."""
    share = amounts.mean() / costs.mean()
    return float(share), float((amounts - share * costs).std() / np.sqrt(len(costs)) / costs.mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=400, help="sittings over all studies")
    parser.add_argument("--only", choices=(*STUDIES, *WITH_A_RARE_CLASS), help="of one study")
    parser.add_argument("--wobble", type=float, default=0.4, help="of the log-ratios, at every answer")
    parser.add_argument("--spread", type=float, default=1.2, help="standard deviation of the true log-costs")
    parser.add_argument("--power", type=float, default=0.0, help="of the rarity of a class, by which its costs grow")
    parser.add_argument(
        "--purpose", choices=("choose", "costs", "both", "either"), default="choose", help="of the answers"
    )
    parser.add_argument("--further", action="store_true", help="what further answers save, after 10 to 40")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        names = [options.only] if options.only else list(STUDIES)
        here = Path(folder)
        found_here = {
            name: with_a_rare_class(name, here) if name in WITH_A_RARE_CLASS else opened(name, here) for name in names
        }
        studies = {name: study for name, study in found_here.items() if study is not None}
        if options.further:
            chosen = [(names_in_turn(studies, number), options.seed + number) for number in range(options.runs)]
            report_further([asked_on(studies[name], seed, options) for name, seed in chosen])
            return
        found: dict[str, list[Sitting]] = {name: [] for name in studies}
        for number in range(options.runs):
            name = names_in_turn(studies, number)
            found[name].append(sitting(studies[name], options.seed + number, options))
            if number % 60 == 59:
                report(f"{number + 1} so far", [one for own in found.values() for one in own])
    for name, own in found.items():
        report(name, own)
    report("all", [one for own in found.values() for one in own])


def names_in_turn(studies: dict[str, Study], number: int) -> str:
    return list(studies)[number % len(studies)]


if __name__ == "__main__":
    main()
