"""Whether the doubt from few cases is honest: `python benchmarks/few_cases.py [--runs N] [--data DIR]`.

The data sets are those of `policies.py` with at least 500 cases. Each is taken for the whole population, with equally
many cases of every class. A sample of the same number of each class is judged under known costs, whose logarithms are
drawn from a standard normal distribution; the population tells what the policies really cost, those of badly
calibrated models recalibrated by the sample among them.

With --stated the classes are as frequent in the sample as in the data set, and in the population as random shares say,
which are stated (proportional to the exponentials of normal numbers of standard deviation 1.5).

With --people M the cases of a sample are of people with M cases each, neighbours among those of one class in the order
of the first principal component of all models' log probabilities. Each sample is judged twice: drawn by person, and as
if its cases were independent.

With --copies N each model comes N more times, with standard normal noise on its log-probabilities.

With --practice one of the models, as it decides, is present practice instead, counted on as many other cases.

  cost, difference   share of policies that use a model whose 90 % range holds the true cost, or the true difference to
                     the recommended policy
  P(best)            mean probability that the recommended policy is the best, and how often it was; also of the
                     results that are as sure as a bracket says
  practice           with --practice: mean probability that practice is the best, and how often it was
  loss               what perfect knowledge of the cases would save, as said and as found, in percent of the cost
  luck               how much more the recommended policy costs than it seems, having been chosen as the cheapest, as
                     said and as found, in percent of the cost
  recalibrating      what the recalibrated policies save, in percent of the cost of what would be recommended without
  correcting         with --stated: the same of those that correct probabilities for the shares
  further            with --further: what as many further cases as the advice names save, in percent of the cost: as
                     said, as found for the same policies, and as found if models are recalibrated by them too
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from policies import Data, bundled, of_folder, of_sklearn
from scipy.special import softmax

from metrics import ElicitedMetric
from metrics.policies.cases import Policy, Practice
from metrics.policies.judgement import Judgement
from metrics.policies.judging import Judge, ModelPolicies
from metrics.policies.recalibration import calibration

Floats = NDArray[np.float64]
DRAWS, FEWEST = 1_000, 500
BRACKETS = 0.0, 0.5, 0.7, 0.9, 0.98, 1.01


def true_costs(data: Data, models: list[ModelPolicies], costs: Floats, shares: Floats) -> dict[Policy, float]:
    """Return what each policy of the models costs per case of the population with these shares, by policy."""
    weight = (shares / np.bincount(data.true, minlength=data.k))[data.true]
    return {
        policy: float(weight @ costs[data.true, decided])
        for model in models
        for policy, decided in zip(model.policies, model.decisions(data.models[model.name]), strict=True)
    }


def people_of(data: Data, each: int) -> list[NDArray[np.int64]]:
    """Return the rows of the people of each class, shape (people, each); few rows are left over."""
    logs = np.hstack([np.log(np.maximum(proba, 1e-9)) for proba in data.models.values()])
    along = np.linalg.svd(logs - logs.mean(axis=0), full_matrices=False)[0][:, 0]
    found = []
    for label in range(data.k):
        rows = np.flatnonzero(data.true == label)
        whole = len(rows) // each * each
        found.append(rows[np.argsort(along[rows], kind="stable")][:whole].reshape(-1, each))
    return found


def with_copies(data: Data, copies: int, seed: int) -> Data:
    """Return a data set with noisy copies of its models."""
    rng, models = np.random.default_rng((seed, copies)), dict(data.models)
    for name, proba in data.models.items():
        for number in range(copies):
            noisy = np.log(np.maximum(proba, 1e-9)) + rng.standard_normal(proba.shape)
            models[f"{name} {number}"] = softmax(noisy, axis=1)
    return replace(data, models=models)


class Figures(NamedTuple):
    """What one sample says and what the population does, in units of the worst mistake per case."""

    probability: float  # P(best)
    is_best: float
    said: float  # what perfect knowledge of the cases would save
    loss: float
    cost: float
    seems: float  # what the sample says that it costs
    luck: float  # how much more it probably costs, as said
    uncorrected: float  # cost of what would be recommended without corrected policies
    unrecalibrated: float  # likewise
    practice: float  # probability that practice is best; 0 without one
    practice_is_best: float
    # what further cases save: as said, as found with the same policies, and with models recalibrated by them
    further: tuple[float, float, float] = (np.nan, np.nan, np.nan)


def practice_of(data: Data, name: str, rows: NDArray[np.int64]) -> Practice:
    """Return what a model decides on some cases, as counts of present practice."""
    decided = data.models[name][rows].argmax(axis=1)
    counts = np.bincount(data.true[rows] * data.k + decided, minlength=data.k**2).reshape(data.k, data.k)
    return Practice.of(counts, [f"c{i}" for i in range(data.k)])


class Sampling:
    """Samples of a data set, judged under random costs."""

    def __init__(self, data: Data, per_class: int, options: argparse.Namespace, by_person: bool) -> None:
        self.data, self.per_class, self.options, self.by_person = data, per_class, options, by_person
        self.of_class = [np.flatnonzero(data.true == label) for label in range(data.k)]
        self.people = people_of(data, options.people) if options.people else []

    def models(self, rows: NDArray[np.int64], people: NDArray[np.int64] | None) -> list[ModelPolicies]:
        """Return the models as a sample shows them, at the stated prevalence."""
        known = self.data.true[rows]
        stated = self.shares if self.options.stated else None
        cases = np.bincount(known, minlength=self.data.k)
        right = {
            name: calibration(known, proba[rows], people)
            for name, proba in self.data.models.items()
            if name != self.practised
        }
        return [ModelPolicies(name, self.costs, one.at(stated, cases)) for name, one in right.items()]

    def judged(
        self, rows: NDArray[np.int64], models: list[ModelPolicies], people: NDArray[np.int64] | None, seed: int
    ) -> tuple[Judgement, dict[Policy, float]]:
        """Return the judgement of a sample, and what each policy really costs per case."""
        sample = [(model, self.data.models[model.name][rows]) for model in models]
        judge = Judge.of_models(
            self.metric, self.data.true[rows], sample, people, practice=self.practice, draws=DRAWS, seed=seed
        )
        judgement = judge.at(self.shares)
        true = true_costs(self.data, models, self.costs, self.shares)
        true |= {
            one.policy: float(self.shares @ self.costs[:, one.policy.predicted])
            for one in judgement.policies
            if one.policy.predicted is not None
        }
        if self.practised is not None:
            policy = next(one.policy for one in judgement.policies if one.policy.decides == "practice")
            everybody = np.arange(len(self.data.true))
            rates = practice_of(self.data, self.practised, everybody).rates
            true[policy] = float(self.shares @ (rates * self.costs).sum(axis=1))
        return judgement, true

    def run(self, rng: np.random.Generator, seed: int) -> tuple[Figures, list[tuple[bool, bool]]]:
        """Judge a sample; return figures, and whether the ranges held the costs and differences."""
        k = self.data.k
        costs = np.exp(rng.standard_normal((k, k)))
        np.fill_diagonal(costs, 0.0)
        self.metric = ElicitedMetric.from_cost_matrix([f"c{i}" for i in range(k)], costs)
        self.costs, self.shares = self.metric.cost_matrix, np.full(k, 1 / k)
        rows = self.cases(rng, self.per_class)
        people = None
        if self.people:
            each = self.options.people
            rows = np.concatenate([rng.choice(own, self.per_class // each).ravel() for own in self.people])
            people = np.arange(len(rows)) // each if self.by_person else None
        if self.options.stated:
            self.shares = np.exp(1.5 * rng.standard_normal(k))
            self.shares /= self.shares.sum()
            # one of each class, so that each can be judged
            others = rng.integers(len(self.data.true), size=k * (self.per_class - 1))
            rows = np.concatenate([self.cases(rng, 1), others])
        self.practised, self.practice = None, None
        if self.options.practice:
            self.practised = str(rng.choice([*self.data.models]))
            self.practice = practice_of(self.data, self.practised, self.cases(rng, self.per_class))
        models = self.models(rows, people)
        judgement, true = self.judged(rows, models, people, seed)
        unit, best = self.costs[judgement.unit] / judgement.population, judgement.best
        held = []
        for one in judgement.policies:
            if one.policy.model is not None and one is not best:
                low, high = unit * np.array(one.interval)
                least, most = unit * np.array(one.difference_interval)
                cost, more = true[one.policy], true[one.policy] - true[best.policy]
                held.append((bool(low <= cost <= high), bool(least - 1e-12 <= more <= most + 1e-12)))
        cost = true[best.policy]
        assert judgement.information is not None
        assert best.probability_best is not None
        figures = Figures(
            probability=best.probability_best,
            is_best=cost - min(true.values()) < 1e-12,
            said=unit * judgement.information.of_cases,
            loss=cost - min(true.values()),
            cost=cost,
            seems=unit * best.cost_per_population,
            luck=unit * judgement.optimism,
            uncorrected=true[judgement.among(lambda policy: policy.correction is None).best.policy],
            unrecalibrated=true[judgement.among(lambda policy: not policy.recalibrated).best.policy],
            practice=sum(one.probability_best or 0 for one in judgement.policies if one.policy.decides == "practice"),
            practice_is_best=any(
                true[policy] - min(true.values()) < 1e-12 for policy in true if policy.decides == "practice"
            ),
        )
        named = [one for one in judgement.information.more if one.of == "cases"]
        if self.options.further and named:
            after = np.concatenate([rows, self.cases(rng, max(1, round(named[-1].number / k)))])
            found = []
            for known in (models, self.models(after, None)):
                later, costs_then = self.judged(after, known, None, seed)
                found.append(cost - costs_then[later.best.policy])
            figures = figures._replace(further=(unit * named[-1].spares, *found))
        return figures, held

    def cases(self, rng: np.random.Generator, per_class: int) -> NDArray[np.int64]:
        """Return the rows of a random sample of each class."""
        return np.concatenate([rng.choice(own, per_class) for own in self.of_class])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100, help="of each data set and number of cases")
    parser.add_argument("--per-class", type=int, nargs="+", default=[5, 10, 20, 30, 40, 60, 120])
    more = parser.add_mutually_exclusive_group()
    more.add_argument("--stated", action="store_true", help="judge at another, stated prevalence")
    more.add_argument("--people", type=int, default=0, metavar="M", help="cases are of people with M each")
    more.add_argument("--practice", action="store_true", help="one of the models is present practice")
    more.add_argument("--further", action="store_true", help="collect as many more cases as the advice says")
    parser.add_argument("--copies", type=int, default=0, metavar="N", help="noisy copies of each model")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    folder = of_folder(options.data) if options.data.is_dir() else []
    all_data = [data for data in (*folder, *bundled(), *of_sklearn()) if len(data.true) >= FEWEST]
    all_data = [with_copies(data, options.copies, options.seed) for data in all_data]
    for per_class, by_person in product(options.per_class, [True, False] if options.people else [False]):
        of_data, everything = [], []
        for place, data in enumerate(all_data):
            rng = np.random.default_rng((options.seed, per_class, place))
            sampling = Sampling(data, per_class, options, by_person)
            runs = [sampling.run(rng, seed) for seed in range(options.seed, options.seed + options.runs)]
            everything += [one for one, _ in runs]
            held = np.array([pair for _, pairs in runs for pair in pairs], dtype=float).mean(axis=0)
            of_data.append([*held, *shares_of_cost([one for one, _ in runs])])
        mean, error = np.mean(of_data, axis=0), np.std(of_data, axis=0, ddof=1) / np.sqrt(len(of_data))
        by = ", drawn by person" if by_person else ""
        print(
            f"{per_class:4d} of each class, {len(of_data)} data sets{by}: cost {mean[0]:.3f} (se {error[0]:.3f}), "
            f"difference {mean[1]:.3f} (se {error[1]:.3f}), P(best) said {mean[2]:.3f}, was {mean[3]:.3f} "
            f"(se {error[3]:.3f}), loss said {mean[4]:.1f} %, found {mean[5]:.1f} % (se {error[5]:.1f}), "
            f"luck said {mean[6]:.1f} %, found {mean[7]:.1f} % (se {error[7]:.1f}), "
            f"recalibrating {mean[8]:.1f} % (se {error[8]:.1f})"
            + (f", correcting {mean[9]:.1f} % (se {error[9]:.1f})" if options.stated else "")
            + (
                f", further said {mean[10]:.1f} %, found {mean[11]:.1f} % (se {error[11]:.1f}), "
                f"recalibrated {mean[12]:.1f} % (se {error[12]:.1f})"
                if options.further
                else ""
            ),
            flush=True,
        )
        report_sureness(everything)
        if options.practice:
            said, was = np.array([(one.practice, one.practice_is_best) for one in everything], dtype=float).T
            error = (was - said).std(ddof=1) / np.sqrt(len(everything))
            print(f"     practice best: said {said.mean():.3f}, was {was.mean():.3f} (se {error:.3f})")


def shares_of_cost(runs: list[Figures]) -> list[float]:
    """Return P(best), how often it was, and in percent loss and luck, said and found, then what each thing saves."""
    mean = Figures(*(np.mean([getattr(one, name) for one in runs]) for name in Figures._fields[:-1]))
    savings = [1 - mean.cost / without for without in (mean.unrecalibrated, mean.uncorrected)]
    named = [one for one in runs if not np.isnan(one.further[0])]
    further: list[float] = []
    if named:
        further = list(np.mean([one.further for one in named], axis=0) / np.mean([one.cost for one in named]))
    luck = [mean.luck / mean.cost, 1 - mean.seems / mean.cost]
    in_percent = [mean.said / mean.cost, mean.loss / mean.cost, *luck, *savings, *further]
    return [mean.probability, mean.is_best, *(100 * share for share in in_percent)]


def report_sureness(figures: list[Figures]) -> None:
    """Print how often the recommended policy was the best, among results that are about as sure."""
    for low, high in pairwise(BRACKETS):
        these = [one for one in figures if low <= one.probability < high]
        if these:
            said, was = (np.mean([getattr(one, name) for one in these]) for name in ("probability", "is_best"))
            error = np.sqrt(was * (1 - was) / len(these))
            print(
                f"     P(best) {low} to {min(high, 1)}: {len(these)}, said {said:.3f}, was {was:.3f} (se {error:.3f})",
                flush=True,
            )


if __name__ == "__main__":
    main()
