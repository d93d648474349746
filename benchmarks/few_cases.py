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

  cost, difference   share of policies that use a model whose 90 % range holds the true cost, or the true difference to
                     the recommended policy
  P(best)            mean probability that the recommended policy is the best, and how often it was
  unseen             how many of the results with at least 40 cases of each class say that mistakes that did not happen
                     could change the choice; P(best) of these, and of others that are 90 % sure or more
  loss               what perfect knowledge of the cases would save, as said and as found, in percent of the cost
  correcting         with --stated: what the policies that correct probabilities for the shares save, in percent of the
                     cost of what would be recommended without them
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from policies import Data, bundled, of_folder, of_sklearn

from metrics import ElicitedMetric
from metrics.policies.cases import Policy
from metrics.policies.judging import Judge, ModelPolicies
from metrics.policies.recalibration import calibration

Floats = NDArray[np.float64]
DRAWS, FEWEST = 1_000, 500


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


def one_run(
    data: Data, per_class: int, rng: np.random.Generator, seed: int, options: argparse.Namespace, by_person: bool
) -> tuple[Floats, list[tuple[bool, bool]]]:
    """Judge a sample; return figures and what the ranges held.

    The figures are P(best), whether it was, loss said and found, the cost, that without corrected policies, and whether
    unseen mistakes are said to matter; NaN with few cases of a class.
    """
    k = data.k
    costs = np.exp(rng.standard_normal((k, k)))
    np.fill_diagonal(costs, 0.0)
    metric = ElicitedMetric.from_cost_matrix([f"c{i}" for i in range(k)], costs)
    costs = metric.cost_matrix
    shares = np.full(k, 1 / k)
    rows = np.concatenate([rng.choice(np.flatnonzero(data.true == label), per_class) for label in range(k)])
    people = None
    if options.people:
        chosen = [rng.choice(own, per_class // options.people) for own in people_of(data, options.people)]
        rows = np.concatenate([own.ravel() for own in chosen])
        people = np.arange(len(rows)) // options.people if by_person else None
    if options.stated:
        shares = np.exp(1.5 * rng.standard_normal(k))
        shares /= shares.sum()
        # one of each class, so that each can be judged
        first = [rng.choice(np.flatnonzero(data.true == label)) for label in range(k)]
        rows = np.concatenate([first, rng.integers(len(data.true), size=k * per_class - k)])
    known = data.true[rows]
    cases = np.bincount(known, minlength=k)
    right = {name: calibration(known, proba[rows], people) for name, proba in data.models.items()}
    models = [
        ModelPolicies(name, costs, one.at(shares, cases) if options.stated else one) for name, one in right.items()
    ]
    sample = [(model, data.models[model.name][rows]) for model in models]
    judgement = Judge.of_models(metric, known, sample, people, draws=DRAWS, seed=seed).at(shares)
    true = true_costs(data, models, costs, shares)
    true |= {
        one.policy: float(shares @ costs[:, one.policy.predicted])
        for one in judgement.policies
        if one.policy.predicted is not None
    }
    unit, best = costs[judgement.unit] / judgement.population, judgement.best
    held = []
    for one in judgement.policies:
        if one.policy.model is not None and one is not best:
            low, high = unit * np.array(one.interval)
            least, most = unit * np.array(one.difference_interval)
            cost, more = true[one.policy], true[one.policy] - true[best.policy]
            held.append((bool(low <= cost <= high), bool(least - 1e-12 <= more <= most + 1e-12)))
    loss = true[best.policy] - min(true.values())
    assert judgement.information is not None
    assert best.probability_best is not None
    said = unit * judgement.information.of_cases
    plain = true[judgement.among(lambda policy: policy.correction is None).best.policy]
    few = judgement.too_few
    unseen = np.nan if few is not None and not few.never_wrong else few is not None
    return np.array([best.probability_best, loss < 1e-12, said, loss, true[best.policy], plain, unseen]), held


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100, help="of each data set and number of cases")
    parser.add_argument("--per-class", type=int, nargs="+", default=[5, 10, 20, 30, 40, 60, 120])
    parser.add_argument("--stated", action="store_true", help="judge at another, stated prevalence")
    parser.add_argument("--people", type=int, default=0, metavar="M", help="cases are of people with M each")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    folder = of_folder(options.data) if options.data.is_dir() else []
    all_data = [data for data in (*folder, *bundled(), *of_sklearn()) if len(data.true) >= FEWEST]
    for per_class, by_person in product(options.per_class, [True, False] if options.people else [False]):
        of_data, of_all = [], []
        for place, data in enumerate(all_data):
            rng = np.random.default_rng((options.seed, per_class, place))
            seeds = range(options.seed, options.seed + options.runs)
            runs = [one_run(data, per_class, rng, seed, options, by_person) for seed in seeds]
            figures = np.array([one for one, _ in runs])
            held = np.array([pair for _, pairs in runs for pair in pairs], dtype=float).mean(axis=0)
            of_all.append(figures[:, [0, 1, 6]])
            said, was, of_cases, loss, cost, plain = figures[:, :6].mean(axis=0)
            saved = 100 * (1 - cost / plain)
            of_data.append([*held, said, was, 100 * of_cases / cost, 100 * loss / cost, saved])
        mean, error = np.mean(of_data, axis=0), np.std(of_data, axis=0, ddof=1) / np.sqrt(len(of_data))
        print(
            f"{per_class:4d} of each class, {len(of_data)} data sets{', drawn by person' if by_person else ''}: "
            f"cost {mean[0]:.3f} (se {error[0]:.3f}), "
            f"difference {mean[1]:.3f} (se {error[1]:.3f}), P(best) said {mean[2]:.3f}, was {mean[3]:.3f} "
            f"(se {error[3]:.3f}), loss said {mean[4]:.1f} %, found {mean[5]:.1f} % (se {error[5]:.1f})"
            + (f", correcting {mean[6]:.1f} % (se {error[6]:.1f})" if options.stated else ""),
            flush=True,
        )
        report_unseen(np.concatenate(of_all))


def report_unseen(figures: Floats) -> None:
    """Print P(best) of results that do and do not say that unseen mistakes matter, given P(best), was, and that."""
    enough = figures[~np.isnan(figures[:, 2])]
    for flag, name in ((1, "unseen"), (0, "sure without that")):
        said, was = enough[(enough[:, 2] == flag) & (enough[:, 0] >= 0.9), :2].T
        if len(said):
            error = np.sqrt(was.mean() * (1 - was.mean()) / len(was))
            print(
                f"     {name}: {len(said)} of {len(enough)}, P(best) said {said.mean():.3f}, was {was.mean():.3f} "
                f"(se {error:.3f})",
                flush=True,
            )


if __name__ == "__main__":
    main()
