"""Whether recommendations are honest: `python benchmarks/policies.py [--runs N] [--answers drawn|asked] [--data DIR]`.

Each data set is split in halves. The first half and a simulated expert give a judgement; the second half, under the
expert's true costs, shows what the policies really cost. Data sets: the bundled studies, three of scikit-learn with two
models each (cross-validated predictions), and every folder of DIR with scores.npy (logits) and targets.npy.

Experts: `drawn` are calibrated by construction (the truth is a draw from the belief, whose log-ratios are known up to a
factor that varies between runs); `asked` answer 15 questions of the program about the first half, with log-ratios that
wobble by 0.4 at every answer.

Both halves are samples, so the second does not reveal the truth either. The uncertainty of the second half (a Bayesian
bootstrap at the true costs, minus its mean) is therefore added to the draws of the first: the check is whether costs
counted on the second half lie where the judgement and that noise together put them. The halves of one data set are not
independent samples: if two policies are equal on the whole set, the one that is cheaper in the first half is dearer in
the second. With few data sets that makes judgements look too certain; --resampled draws both halves with replacement.
A bin of 50 policies has a standard error of .05, so 2,000 runs are needed to see whether bins are within .07.

  coverage       share of runs in which the 90 % range of the difference of two random policies holds the difference on
                 the second half (wanted: 85 to 95 %)
  calibration    binned probability of being cheapest on the second half, against the observed frequency (within .07)
  trivial        how often the recommended policy was dearer than the best trivial one of the second half, by more than
                 the upper end of that range
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from elicit_app.elicitation import LPM, Bayes, Cases, run
from elicit_app.elicitation.oracles import WobblingOracle
from elicit_app.study import list_studies, open_study
from metrics import ElicitedMetric
from metrics.policies.cases import case_table
from metrics.policies.costs import UnitCosts, policy_costs
from metrics.policies.judgement import Judgement
from metrics.policies.judging import Judge, ModelPolicies
from metrics.policies.recalibration import calibration

Floats = NDArray[np.float64]
DRAWS, WOBBLE = 2_000, 0.4
BINS = (0.0, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98, 1.0)


@dataclass(frozen=True)
class Data:
    """True classes (n,) and per model probabilities (n, k)."""

    name: str
    true: NDArray[np.int64]
    models: dict[str, Floats]

    @property
    def k(self) -> int:
        return int(next(iter(self.models.values())).shape[1])


@dataclass(frozen=True)
class Run:
    """One run; `pairs` holds, per policy, the probability of being cheapest and whether it was; equal ones share."""

    covered: bool
    pairs: list[tuple[float, float]]
    dearer: bool
    trivial: bool


def bundled() -> list[Data]:
    studies = [open_study(summary.name) for summary in list_studies()]
    return [
        Data(study.name, study.models[0].y_true, {model.name: model.y_proba for model in study.models})
        for study in studies
        if study.models
    ]


def of_sklearn() -> list[Data]:
    """Return three data sets with a linear model of few columns; of the digits these are blank, so it is at chance."""
    found = []
    for name, load in (("sk-breast", load_breast_cancer), ("sk-wine", load_wine), ("sk-digits", load_digits)):
        X, y = load(return_X_y=True)
        few = X[:, :: max(1, X.shape[1] // 8)]
        linear = make_pipeline(StandardScaler(), LogisticRegression(C=0.05, max_iter=500))
        models = {
            "linear": cross_val_predict(linear, few, y, method="predict_proba"),
            "bayes": cross_val_predict(GaussianNB(var_smoothing=1e-2), X, y, method="predict_proba"),
        }
        found.append(Data(name, y.astype(np.int64), models))
    return found


def of_folder(folder: Path) -> list[Data]:
    found = []
    for scores_file in sorted(folder.glob("*/scores.npy")):
        scores = np.load(scores_file).astype(np.float64)
        scores -= scores.max(axis=1, keepdims=True)
        proba = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        true = np.load(scores_file.with_name("targets.npy")).ravel().astype(np.int64)
        rng = np.random.default_rng(0)
        worse = np.exp(0.5 * scores + rng.normal(0, 0.5, scores.shape))
        models = {"model": proba, "worse": worse / worse.sum(axis=1, keepdims=True)}
        found.append(Data(scores_file.parent.name, true, models))
    return found


def drawn_expert(k: int, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Return the true costs of the mistakes, their estimate and draws, shapes (q,), (q,), (draws, q)."""
    spread = rng.uniform(0.1, 0.6)
    estimate = rng.uniform(0.5, 2.5) * rng.standard_normal(k * k - k)
    truth = estimate + spread * rng.standard_normal(k * k - k)
    draws = estimate + spread * rng.standard_normal((1_000, k * k - k))
    return np.exp(truth), np.exp(estimate), np.exp(draws)


def asked_expert(true: NDArray[np.int64], models: dict[str, Floats], seed: int) -> tuple[Floats, Floats, Floats]:
    """Return the same for an expert who answers the program's questions about these cases."""
    rng = np.random.default_rng((seed, 3))
    k = next(iter(models.values())).shape[1]
    truth = np.exp(rng.normal(0, 1.2, k * k - k))
    cases = [Cases.counted(true, proba) for proba in models.values()]
    procedure = Bayes(cases, family="lpm", seed=seed, population=1_000, questions=15)

    def utility(weights: Floats) -> Callable[[Floats], float]:
        matrix = LPM.weight_matrix(-weights)
        return lambda rates: float((matrix * rates).sum())

    def wobbled() -> Callable[[Floats], float]:
        return utility(truth * np.exp(WOBBLE / np.sqrt(2) * rng.standard_normal(len(truth))))

    oracle = WobblingOracle(utility(truth), wobbled)
    outcome, _ = run(procedure, oracle)
    assert outcome.samples is not None
    return truth, -np.asarray(outcome.weights), -np.asarray(outcome.samples)


def one_run(data: Data, seed: int, asked: bool, resampled: bool = False) -> Run:
    rng = np.random.default_rng((seed, 1))
    n = len(data.true)
    order = rng.integers(0, n, n) if resampled else rng.permutation(n)
    halves = order[: n // 2], order[n // 2 :]
    first, second = ((data.true[half], {name: p[half] for name, p in data.models.items()}) for half in halves)
    truth, estimate, samples = asked_expert(*first, seed) if asked else drawn_expert(data.k, rng)
    metric = ElicitedMetric.from_weights([f"c{i}" for i in range(data.k)], -estimate, "lpm", samples=-samples)
    models = [ModelPolicies(name, metric.cost_matrix, calibration(first[0], p)) for name, p in first[1].items()]
    columns = [policy for model in models for policy in model.policies]
    decided = [np.concatenate([model.decisions(p[model.name]) for model in models]) for _, p in (first, second)]
    judgement = Judge.of(metric, case_table(first[0], decided[0], data.k), columns, draws=DRAWS, seed=seed).at()
    unit = UnitCosts.of(metric).unit
    real = ElicitedMetric.from_cost_matrix(metric.classes, LPM.costs(-truth)).cost_matrix
    others = tuple(one.policy for one in judgement.policies if one.policy.decides == "always")
    table = case_table(second[0], decided[1], data.k)
    found = policy_costs(UnitCosts(unit, real / real[unit], None), table, columns, others, draws=DRAWS, seed=seed + 1)
    drawn = 1_000 * found.drawn_from_cases(found.shares)
    place = [found.policies.index(one.policy) for one in judgement.policies]
    return checked(judgement, 1_000 * (found.own_shares @ found.estimate)[place], drawn[:, place], rng)


def checked(judgement: Judgement, counted: Floats, drawn: Floats, rng: np.random.Generator) -> Run:
    """Compare a judgement with the costs counted on the second half, and with their bootstrap draws."""
    noise = drawn - drawn.mean(axis=0)
    costs, expected = judgement.drawn.both + noise, judgement.drawn.against(0).both + noise
    one, other = rng.choice(len(counted), 2, replace=False)
    while np.array_equal(judgement.drawn.both[:, one], judgement.drawn.both[:, other]):
        one, other = rng.choice(len(counted), 2, replace=False)
    low, high = np.quantile(costs[:, one] - costs[:, other], [0.05, 0.95])
    covered = bool(low <= counted[one] - counted[other] <= high)
    same = 1e-9 * counted.max()
    least = expected <= expected.min(axis=1, keepdims=True) + same
    best = (least / least.sum(axis=1, keepdims=True)).mean(axis=0)
    was = counted <= counted.min() + same
    trivial = [place for place, policy in enumerate(judgement.policies) if policy.policy.decides == "always"]
    cheapest = min(trivial, key=lambda place: counted[place])
    upper = np.quantile(expected[:, 0] - expected[:, cheapest], 0.95)
    return Run(
        covered=covered,
        pairs=[*zip(best.tolist(), (was / was.sum()).tolist(), strict=True)],
        dearer=bool(counted[0] - counted[cheapest] > max(0.0, upper) + same),
        trivial=judgement.best.policy.model is None,
    )


def report(name: str, runs: list[Run]) -> None:
    covered = np.mean([one.covered for one in runs])
    print(
        f"{name:>24}: {len(runs):4d} runs, coverage {covered:.3f}, dearer than the best trivial beyond the range "
        f"{np.mean([one.dearer for one in runs]):.3f}, trivial recommended {np.mean([one.trivial for one in runs]):.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=400, help="over all data sets")
    parser.add_argument("--answers", choices=("drawn", "asked"), default="drawn")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--resampled", action="store_true", help="draw both halves with replacement")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    sets = [*bundled(), *of_sklearn(), *(of_folder(options.data) if options.data else ())]
    runs: dict[str, list[Run]] = {data.name: [] for data in sets}
    for number in range(options.runs):
        data = sets[number % len(sets)]
        runs[data.name].append(one_run(data, options.seed + number, options.answers == "asked", options.resampled))
    for name, found in runs.items():
        report(name, found)
    every = [one for found in runs.values() for one in found]
    report("all", every)
    said, came = np.array([pair for one in every for pair in one.pairs]).T
    for low, high in pairwise(BINS):
        inside = (said >= low) & ((said < high) | (high == 1))
        if inside.any():
            off = (came - said)[inside]
            print(
                f"  cheapest: said {said[inside].mean():.3f}, came {came[inside].mean():.3f}, off by {off.mean():+.3f} "
                f"(standard error {off.std() / np.sqrt(len(off)):.3f}, {len(off)} policies)"
            )


if __name__ == "__main__":
    main()
