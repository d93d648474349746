"""Who is flagged, and how honest intervals are: attentive and careless people, on synthetic and real predictions.

    uv run python benchmarks/trust.py [--part values|detection|calibration] [--study NAME] [--only PERSON]
                                      [--runs N] [--jobs J] [--seed S]

Part values: people with linear and other values, and a coin, who answer choices and counts on wine; targets are
printed. With --sitting they answer until the program ends by itself, as it does for people, about --study (by default
wine), and what the recommended policy loses by their own values is printed, as a share of the difference between the
best and the worst policy. The thresholds were set on people with seeds 901, 3301, 3302 and 5001, so report other seeds.
Real predictions are read from the folder `../shared/data` beside the checkout (or ELICIT_SHARED_DATA); without it they
are omitted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import numpy as np
from elicitation import opened

from elicit_app.elicitation.agenda import BEST_PROBABILITY, KNOWN_FACTOR, count_extra_checks, probability_best
from elicit_app.elicitation.linearity import BAYES_FACTOR_ON_BASES, BAYES_FACTORS
from elicit_app.elicitation.oracles import LogitOracle, Matching, Oracle
from elicit_app.elicitation.procedures.bayes import Bayes
from elicit_app.elicitation.questions import Answer, Asked, Choice, Matrix, Moved, Purpose, Question, Side
from elicit_app.elicitation.response import N_PARAMETERS
from elicit_app.elicitation.trust import TrustReport, trust_report
from elicit_app.experiments.measures import JudgedPairs
from elicit_app.experiments.people import Noise
from elicit_app.experiments.people import Person as Valuing
from elicit_app.experiments.simulation import Experts, Laboratory, in_processes
from elicit_app.experiments.truths import Metric
from elicit_app.registry.procedures import BayesSetting
from elicit_app.session.questions import sides
from elicit_app.session.result import judge_of
from elicit_app.study.model import Study
from metrics import ElicitedMetric

QUESTIONS = 18
STUDIES = ("softmax-3", "breast-cancer", "emotions")
REAL = ("wine", "pneumonia")
BINS = 10

Person = Callable[[Question, Side, int], Choice | Answer]  # question, the side on the left, its number from 0
Rng = np.random.Generator
Found = TypeVar("Found")


@dataclass(frozen=True)
class Run:
    """One simulated person: the trust report, and where the true weights lie in the posterior.

    Parameters
    ----------
    report : TrustReport
        Report on all answers.
    agreement : float
        Agreement with the truth on random achievable pairs.
    covered : ndarray of bool
        Whether the 90 % interval of each weight's ratio to the largest one holds the truth.
    ranks : ndarray of shape (m + 1,)
        Share of the draws below the truth, for every log-weight and for the log-sensitivity.
    warned : bool
        Whether the ranges are said to rest on the prior.
    """

    report: TrustReport
    agreement: float
    covered: Matrix
    ranks: Matrix
    warned: bool = False


# --- people -----------------------------------------------------------------------------------------------------------


def logit(truth: Metric, sensitivity: float, rng: Rng) -> Person:
    """Return a person who answers with logistic noise."""
    oracle = LogitOracle(truth.utility, sensitivity, rng)
    return lambda question, left, number: oracle.answer(question).choice


def right(accuracy: float, truth: Metric, pairs: JudgedPairs, rng: Rng) -> Person:
    """Return a person who answers random pairs correctly with a given probability."""
    return logit(truth, pairs.sensitivity(accuracy), rng)


def coin(truth: Metric, pairs: JudgedPairs, rng: Rng) -> Person:
    return lambda question, left, number: (Choice.FIRST, Choice.SECOND)[int(rng.integers(2))]


def often_equal(truth: Metric, pairs: JudgedPairs, rng: Rng) -> Person:
    """Return a person who clicks "about equal" or a side at random, as often the one as the other."""
    toss = coin(truth, pairs, rng)
    return lambda question, left, number: Choice.EQUAL if rng.random() < 0.5 else toss(question, left, number)


def always_left(truth: Metric, pairs: JudgedPairs, rng: Rng) -> Person:
    return lambda question, left, number: Choice(left)


def backwards(truth: Metric, pairs: JudgedPairs, rng: Rng) -> Person:
    """Return a person who takes the worse side as reliably as one who is right 85 % of the time takes the better."""
    person = right(0.85, truth, pairs, rng)
    return lambda question, left, number: person(question, left, number).swapped()


DETECTED: dict[str, Callable[[Metric, JudgedPairs, Rng], Person]] = {
    "honest, right 80 %": partial(right, 0.8),
    "honest, right 85 %": partial(right, 0.85),
    "honest, right 90 %": partial(right, 0.9),
    "random": coin,
    "random, half about equal": often_equal,
    "always left": always_left,
    "reversed": backwards,
}


@dataclass(frozen=True)
class Misspecified:
    """A person outside the model; the truth is what holds at the end.

    Parameters
    ----------
    times : float
        Sensitivity relative to the prior's most likely one.
    lapses : float
        Probability of a coin toss instead of an answer.
    tiring : float
        Factor applied to the sensitivity at each question.
    lexicographic : float
        Factor of one weight.
    changes : bool
        Whether other weights hold for the first half of the questions.
    """

    times: float = 1.0
    lapses: float = 0.0
    tiring: float = 1.0
    lexicographic: float = 1.0
    changes: bool = False


MISSPECIFIED = {
    "sensitivity / 3": Misspecified(times=1 / 3),
    "sensitivity x 3": Misspecified(times=3.0),
    "5 % lapses": Misspecified(lapses=0.05),
    "tiring (x .9 a question)": Misspecified(tiring=0.9),
    "lexicographic (x 100)": Misspecified(lexicographic=100.0),
    "changes their mind": Misspecified(changes=True),
}


def misspecified(kind: Misspecified, procedure: Bayes, rng: Rng) -> tuple[Matrix, Matrix, Person]:
    """Draw a person outside the model: log-weights, log-sensitivity, and the person's answers."""
    prior, response = procedure.prior, procedure.response
    now, before = prior.log_weights(rng.standard_normal((2, prior.size)))
    if kind.lexicographic > 1:
        now[rng.integers(prior.size)] += np.log(kind.lexicographic)
    usual = response.person(np.zeros((1, N_PARAMETERS)))
    sensitivity = kind.times * usual.sensitivity

    def person(question: Question, left: Side, number: int) -> Choice:
        logs = before if kind.changes and number < QUESTIONS // 2 + 2 else now
        manner = usual._replace(sensitivity=sensitivity * kind.tiring**number)
        felt = float(response.latent(np.exp(logs)[None], manner, prior.gain(*question.rates)[None])[0, 0])
        if rng.random() < kind.lapses:
            felt = 0.0
        return Choice.FIRST if felt + rng.logistic() > 0 else Choice.SECOND

    return now, np.log(sensitivity[0]), person


def well_specified(procedure: Bayes, rng: Rng) -> tuple[Matrix, Matrix, Person]:
    """Draw a person from the procedure's own prior, who answers by its own response model."""
    prior, response = procedure.prior, procedure.response
    logs = prior.log_weights(rng.standard_normal((1, prior.size)))
    manner = response.person(rng.standard_normal((1, N_PARAMETERS)))

    def person(question: Question, left: Side, number: int) -> Choice:
        latent = response.latent(np.exp(logs), manner, prior.gain(*question.rates)[None])
        answer_probabilities = response.answer_probabilities(latent, manner)[:, 0, 0]
        return (Choice.FIRST, Choice.SECOND, Choice.EQUAL)[
            int(rng.choice(3, p=answer_probabilities / answer_probabilities.sum()))
        ]

    return logs[0], np.log(manner.sensitivity[0]), person


# --- people with various values, who also name counts ---


COIN = "a coin"
VALUES = {
    "linear, weights:0.4": ("linear", "weights:0.4", "<= .05 not linear, <= .05 flagged"),
    "linear, weights:0.6": ("linear", "weights:0.6", "<= .05 not linear, <= .05 flagged"),
    "linear, logit:0.8": ("linear", "logit:0.8", "<= .05 not linear, <= .05 flagged"),
    "concave:0.6": ("concave:0.6", "weights:0.4", ">= .80 not linear"),
    "minimax": ("minimax", "weights:0.4", ">= .70 not linear"),
    "f1": ("f1", "weights:0.4", ">= .70 not linear"),
    "threshold:0.05": ("threshold:0.05", "weights:0.4", ">= .70 not linear"),
    COIN: ("linear", "none", ">= .95 untrusted"),
}


class Coin:
    """An oracle that picks either side at random, and any count of a scale, uniformly on the log scale."""

    def __init__(self, rng: Rng) -> None:
        self.rng = rng

    def answer(self, question: Question) -> Answer:
        proposal = question.proposal
        if not question.asks_equal or proposal is None:
            return Answer((Choice.FIRST, Choice.SECOND)[int(self.rng.integers(2))])
        anywhere = np.exp(self.rng.uniform(np.log(max(proposal.least, 1)), np.log(proposal.most + 0.99)))
        count = int(np.clip(int(anywhere), 1, proposal.most))
        moved = Moved(proposal.side, proposal.true, proposal.predicted, count, proposal.start)
        return Answer(Choice.EQUAL, moved=moved)


@dataclass(frozen=True)
class Judged:
    """The values ascribed to a person, whether the answers are trusted, and whether a settled choice is right.

    Parameters
    ----------
    rival : str or None
        The hypothesis named instead of linear costs.
    report : TrustReport
        Report on all answers.
    best_right : bool or None
        Whether the model said to be the best is; None if the choice is not settled.
    n_extra_checks : int
        Number of checks after all other questions, asked because it was unclear whether the person looked.
    n_answers : int
        Number of all answers.
    lost : float
        By the person's values, the best policy less the recommended one, in units of best less worst.
    """

    rival: str | None
    report: TrustReport
    best_right: bool | None
    n_extra_checks: int
    n_answers: int
    lost: float


def judged(laboratory: Laboratory, is_coin: bool, number: int) -> Judged:
    """Simulate one of `VALUES`."""
    chance = [np.random.default_rng(one) for one in np.random.SeedSequence([laboratory.setting.seed, number]).spawn(4)]
    truth, study = laboratory.truth(chance[0]), laboratory.study
    values = laboratory.experts.person.values(truth, study.population)
    oracle: Oracle = Coin(chance[2])
    if not is_coin:
        pairs = JudgedPairs.draw(values, laboratory.achievable, chance[1])
        oracle = laboratory.experts.oracle(values, pairs, chance[2])
    seed = int(chance[3].integers(2**31))
    procedure = laboratory.procedure(seed)
    assert isinstance(procedure, Bayes)
    asked, left_sides = sitting(procedure, lambda question, left, at: oracle.answer(question), seed)
    linearity = procedure.linearity(asked)
    assert linearity is not None
    models = procedure._options(asked)  # the models as they are, or policies
    best = linearity.probability_best(probability_best(procedure.belief(asked), models))
    utility = np.asarray(values(models))
    right = None if is_coin or best.max() < BEST_PROBABILITY else bool(utility[best.argmax()] >= utility.max() - 1e-12)
    report = trust_report(procedure, asked, left_sides)
    extra = count_extra_checks(asked, procedure.questions)
    outcome = procedure.conclude(asked)
    metric = ElicitedMetric.from_weights(study.classes, outcome.weights, outcome.family, samples=outcome.samples)
    judge = judge_of(study, metric)
    chosen = judge.costs.policies.index(judge.at().best.policy)
    worth = np.asarray(values(np.einsum("ipj,i->pij", judge.costs.rates, judge.costs.own_shares)))
    lost = float((worth.max() - worth[chosen]) / np.ptp(worth))
    return Judged(linearity.rival, report, right, extra, len(asked), lost)


def valuing(study: Study, chosen: argparse.Namespace) -> None:
    """Print who is called non-linear, flagged and untrusted, and how often settled choices are right."""
    print(
        f"Rivals are named from these Bayes factors on: {BAYES_FACTORS}, concave on common bases "
        f"{BAYES_FACTOR_ON_BASES}; a choice is settled at {BEST_PROBABILITY}."
    )
    print("| person | runs | answers, median | not linear | rightly named | flagged | untrusted ", end="")
    print("| asked more, questions | best model settled, right | lost | wanted |\n|" + "---|" * 11)
    settled: list[bool] = []
    for name, (kind, noise, wanted) in VALUES.items():
        if chosen.only is not None and chosen.only not in name:
            continue
        matching = Matching(0.6 if noise.startswith("logit") else None, rounded=True)
        experts = Experts(noise=Noise.parse(noise), person=Valuing.parse(kind), matching=matching)
        # For the costs alone, so that the options are the models as they are.
        setting: BayesSetting = BayesSetting(questions=QUESTIONS, checks=True, purpose="costs", seed=chosen.seed)
        if chosen.sitting:
            setting = BayesSetting(purpose="both", seed=chosen.seed).for_person()
        laboratory = Laboratory(study, setting, experts)
        found = several(partial(judged, laboratory, name == COIN), chosen.runs, chosen.jobs)
        called = [one.rival is not None for one in found]
        right = sum(one.rival == kind.partition(":")[0] for one in found)
        flagged = [one.report.verdict != "trusted" for one in found]
        untrusted = [one.report.verdict == "untrusted" for one in found]
        best = [one.best_right for one in found if one.best_right is not None]
        settled += best
        print(
            f"| {name} | {len(found)} | {np.median([one.n_answers for one in found]):.0f} | {with_error(called)} "
            f"| {right} of {sum(called)} | {with_error(flagged)} "
            f"| {with_error(untrusted)} | {with_error([one.n_extra_checks > 0 for one in found])}, "
            f"{np.mean([one.n_extra_checks for one in found]):.1f} | {len(best)}, {sum(best)} "
            f"| {np.mean([one.lost for one in found]):.3f} | {wanted} |",
            flush=True,
        )
    print(f"Settled choices that are right: {with_error(settled)} of {len(settled)}, wanted >= .95")


def with_error(shares: Sequence[bool]) -> str:
    """Return a share and its standard error."""
    if not shares:
        return ""
    mean = float(np.mean(shares))
    return f"{mean:.2f} +- {np.sqrt(mean * (1 - mean) / max(len(shares) - 1, 1)):.2f}"


# --- runs -------------------------------------------------------------------------------------------------------------


def sitting(procedure: Bayes, person: Person, seed: int) -> tuple[list[Asked], list[Side]]:
    """Ask a person, with sides as in a session."""
    asked: list[Asked] = []
    left_sides: list[Side] = []
    elicitation = procedure.begin()
    step = next(elicitation)
    while True:
        question, number = step.question, len(asked)
        left: Side = sides(seed, number + 1)[0]
        if question.purpose is Purpose.REPEAT and question.repeat_of is not None:
            left = left_sides[question.repeat_of - 1]  # the sides are swapped
        said = person(question, left, number)
        answer = said if isinstance(said, Answer) else Answer(said)
        asked.append(Asked(question, answer))
        left_sides.append(left)
        try:
            step = elicitation.send(answer)
        except StopIteration:
            return asked, left_sides


def detect(laboratory: Laboratory, kind: str, number: int) -> Run:
    """Simulate one of `DETECTED`."""
    chance = np.random.SeedSequence([laboratory.setting.seed, number]).spawn(4)
    truth = laboratory.truth(np.random.default_rng(chance[0]))
    pairs = JudgedPairs.draw(truth, laboratory.achievable, np.random.default_rng(chance[1]), 500)
    seed = int(chance[3].generate_state(1)[0])
    person = DETECTED[kind](truth, pairs, np.random.default_rng(chance[2]))
    procedure = laboratory.procedure(seed)
    assert isinstance(procedure, Bayes)
    asked, left_sides = sitting(procedure, person, seed)
    agreement = pairs.agreement(Metric.elicited(procedure.conclude(asked)))
    return Run(trust_report(procedure, asked, left_sides), agreement, np.empty(0), np.empty(0))


def calibrate(laboratory: Laboratory, kind: Misspecified | None, number: int) -> Run:
    """Simulate a person of the model (None) or outside it, and compare the posterior with the truth."""
    chance = np.random.SeedSequence([laboratory.setting.seed, number]).spawn(2)
    seed = int(chance[0].generate_state(1)[0])
    procedure, rng = laboratory.procedure(seed), np.random.default_rng(chance[1])
    assert isinstance(procedure, Bayes)
    drawn = well_specified(procedure, rng) if kind is None else misspecified(kind, procedure, rng)
    logs, log_sensitivity, person = drawn
    asked, left_sides = sitting(procedure, person, seed)
    belief = procedure.belief(asked)
    # Not `belief.weights`, which are scaled to a largest of 1: the truth has the scale of the prior.
    draws = np.column_stack([belief.log_weights, np.log(belief.person.sensitivity)])
    largest = int(np.argmax(np.abs(belief.estimate)))
    others = np.arange(len(logs)) != largest
    ratios = np.log(belief.weights) - np.log(belief.weights[:, [largest]])
    low, high = np.quantile(ratios[:, others], [0.05, 0.95], axis=0)
    true = (logs - logs[largest])[others]
    gains = procedure.source.random_gains(500, rng)
    agreement = float(((gains @ np.abs(belief.estimate) > 0) == (gains @ np.exp(logs) > 0)).mean())
    ranks = (draws < np.append(logs, log_sensitivity)).mean(axis=0)
    covered = (low <= true) & (true <= high)
    warned = (procedure.conclude(asked).reliance_on_prior or 0.0) > KNOWN_FACTOR
    return Run(trust_report(procedure, asked, left_sides), agreement, covered, ranks, warned)


def uniform(ranks: Matrix) -> float:
    """Return the p-value of a chi-squared test of ranks in [0, 1] in ten bins (Talts et al. 2018)."""
    from scipy.stats import chisquare

    counts = np.bincount(np.minimum((ranks * BINS).astype(int), BINS - 1), minlength=BINS)
    return float(chisquare(counts).pvalue)


def share(runs: Sequence[Run], names: Sequence[str]) -> float:
    """Return the share of runs in which any of these suspicions is flagged."""
    return float(np.mean([any(one.flagged for one in run.report.suspicions if one.name in names) for run in runs]))


def several(work: Callable[[int], Found], runs: int, jobs: int) -> list[Found]:
    return list(in_processes(work, [(number,) for number in range(runs)], jobs))


def flags(runs: Sequence[Run]) -> str:
    """Return the columns of the findings."""
    verdicts = [run.report.verdict for run in runs]
    names = [one.name for one in runs[0].report.suspicions]
    each = " ".join(f"{name} {share(runs, [name]):.2f}" for name in names)
    untrusted, reserved = verdicts.count("untrusted") / len(runs), verdicts.count("reservations") / len(runs)
    return f"**{untrusted:.2f}** | {reserved:.2f} | {each} |"


def main() -> None:
    """Print the tables."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--part", choices=["values", "detection", "calibration"], action="append")
    options.add_argument("--study", choices=(*STUDIES, *REAL), action="append")
    options.add_argument("--sitting", action="store_true", help="values: sittings that end by themselves")
    options.add_argument("--only", help="print only the people whose description contains this text")
    options.add_argument("--runs", type=int, default=100)
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--seed", type=int, default=7)
    chosen = options.parse_args()
    setting = BayesSetting(questions=QUESTIONS, checks=True, seed=chosen.seed)
    parts = chosen.part or ["values", "detection", "calibration"]
    with TemporaryDirectory() as folder:
        if "values" in parts:
            about = opened((chosen.study or REAL)[0] if chosen.sitting else REAL[0], Path(folder))
            assert about is not None
            valuing(about, chosen)
        for name in chosen.study or STUDIES if parts != ["values"] else ():
            study = opened(name, Path(folder))
            if study is None:
                print(f"{name}: the shared predictions are not here", file=sys.stderr)
                continue
            laboratory = Laboratory(study, setting, Experts())
            if "detection" in parts:
                detection(laboratory, name, chosen)
            if "calibration" in parts:
                calibration(laboratory, name, chosen)


def detection(laboratory: Laboratory, name: str, chosen: argparse.Namespace) -> None:
    """Print who is flagged."""
    print("| study | person | runs | agreement | not to be trusted | reservations | findings |\n|" + "---|" * 7)
    for kind in DETECTED:
        if chosen.only is None or chosen.only in kind:
            runs = several(partial(detect, laboratory, kind), chosen.runs, chosen.jobs)
            agreement = np.median([run.agreement for run in runs])
            print(f"| {name} | {kind} | {len(runs)} | {agreement:.3f} | {flags(runs)}", flush=True)


def calibration(laboratory: Laboratory, name: str, chosen: argparse.Namespace) -> None:
    """Print coverage and, for people of the model, the uniformity of the ranks."""
    print(
        "| study | person | runs | agreement | coverage of 90 % | ranks uniform: p of each weight; sensitivity ", end=""
    )
    print("| warned; coverage of the others | not to be trusted | reservations | findings |\n|" + "---|" * 10)
    people: dict[str, Misspecified | None] = {"well specified": None, **MISSPECIFIED}
    for kind, person in people.items():
        if chosen.only is not None and chosen.only not in kind:
            continue
        runs = several(partial(calibrate, laboratory, person), chosen.runs, chosen.jobs)
        covered = np.mean([run.covered for run in runs])
        agreement = np.median([run.agreement for run in runs])
        ps = [uniform(ranks) for ranks in np.array([run.ranks for run in runs]).T] if person is None else []
        told = " ".join(f"{p:.2f}" for p in ps)
        others = np.mean([float(run.covered.mean()) for run in runs if not run.warned] or [np.nan])
        print(
            f"| {name} | {kind} | {len(runs)} | {agreement:.3f} | **{covered:.3f}** | {told} "
            f"| {with_error([run.warned for run in runs])}; {others:.3f} | {flags(runs)}",
            flush=True,
        )


if __name__ == "__main__":
    main()
