"""Whether the belief's uncertainty is honest for people who are not drawn from its prior; with standard errors.

    uv run python benchmarks/belief.py [--part NAME ...] [--runs N] [--seed S] [--only TEXT]

Parts: coverage, matrices, tables, many, piles, extremes, sphere, seeds, pooling, comparing. For non-linear people and
coins see `trust.py --part values`.
Thresholds ("wanted") were fixed here before the runs. Real predictions are read from the folder `../shared/data` beside
the checkout (or ELICIT_SHARED_DATA); without it their rows are omitted.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from itertools import permutations, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from early_stop import asked_until_the_end, person, with_a_rare_class
from elicitation import opened
from numpy.typing import NDArray

from elicit_app.elicitation.agenda import unasked_mistakes
from elicit_app.elicitation.belief import ENDS, Posterior, ends_of_ratios
from elicit_app.elicitation.oracles import Matching
from elicit_app.elicitation.orders import StatedMistake, StatedPile
from elicit_app.elicitation.pooling import Expert, Group, log_odds_of_opposition, pooled
from elicit_app.elicitation.prior import MOST_JOINTLY
from elicit_app.elicitation.procedure import Outcome
from elicit_app.elicitation.procedures.bayes import Bayes
from elicit_app.elicitation.questions import Matrix
from elicit_app.elicitation.trust import held_out
from elicit_app.experiments.people import Noise
from elicit_app.experiments.simulated import SimulatedRun
from elicit_app.experiments.simulation import Experts, Laboratory
from elicit_app.registry import setting_of
from elicit_app.registry.entries import procedure_for
from elicit_app.session.comparing import Expert as Compared
from elicit_app.session.comparing import compare
from elicit_app.session.pooling import Source
from elicit_app.session.result import by_the_yardstick, elicited
from elicit_app.study.model import Study
from metrics import ElicitedMetric, Provenance, Quality
from metrics.elicited.family import LPM
from metrics.elicited.metric_parts import ranges_of_draws
from metrics.elicited.release import factor_ranges

PEOPLE = ("weights:0.6", "logit:0.8")
COUNTS = Matching(0.6, rounded=True)  # standard deviation .6 on the log scale
FEW = {"breast-cancer": 2, "wine": 3, "emotions": 4, "news": 4}
ANSWERS = 20


def people_of(noise: str, **more: Any) -> Experts:
    """Return people with noisy choices who name rounded, noisy counts."""
    return Experts(noise=Noise.parse(noise), matching=COUNTS, **more)


def laboratory(study: Study, seed: int, experts: Experts, **asks: object) -> Laboratory:
    """Return a laboratory in which `bayes` asks some people."""
    return Laboratory(study, setting_of("bayes", seed=seed, **asks), experts)


def print_row(name: str, people: str, values: Sequence[float], wanted: str = "", form: str = ".3f") -> None:
    """Print one line: mean, standard error, number of runs, and target."""
    found = np.array([value for value in values if value is not None], dtype=float)
    error = found.std(ddof=1) / np.sqrt(len(found)) if len(found) > 1 else float("nan")
    print(f"| {name} | {people} | {found.mean():{form}} +- {error:{form}} | {len(found)} | {wanted} |", flush=True)


def coverage(open_: Callable[[str], Study | None], options: argparse.Namespace) -> None:
    """Few classes: share of true ratios within their 90 % range, expected and real agreement, width."""
    for name in FEW:
        study = open_(name)
        for people, answers in product(PEOPLE, ("choice", "mixed")) if study is not None else ():
            assert study is not None
            lab = laboratory(study, options.seed, people_of(people), questions=ANSWERS, answers=answers)
            runs = [lab.run(number) for number in range(options.runs)]
            _told_runs(f"{name} ({FEW[name]}), {ANSWERS} answers, {answers}", people, lab, runs, ".86 to .94")


def matrices(open_: Callable[[str], Study | None], options: argparse.Namespace) -> None:
    """Few classes: ranges of the matrices and class weights of a metric file, and which mistake costs most."""
    for name in FEW:
        study = open_(name)
        for answers in ("choice", "mixed") if study is not None else ():
            assert study is not None
            lab = laboratory(study, options.seed, people_of("weights:0.6"), questions=ANSWERS, answers=answers)
            found = [_in_files(study, lab.run(number, judged=False)) for number in range(options.runs)]
            wanted = {"worst mistake": "", "worst mistake, as said": ""}
            for what in found[0]:
                title = f"{name} ({FEW[name]}), {ANSWERS} answers, {answers}: {what}"
                print_row(title, "weights:0.6", [one[what] for one in found], wanted.get(what, ".86 to .94"))


def _in_files(study: Study, run: SimulatedRun) -> dict[str, float]:
    assert run.outcome.samples is not None
    true, learned = (
        ElicitedMetric.from_weights(study.classes, weights, "lpm", samples=samples)
        for weights, samples in ((run.true_weights, None), (run.elicited_weights, run.outcome.samples))
    )
    errors, costs = ~np.eye(study.n_classes, dtype=bool), learned.cost_samples
    assert costs is not None
    worst = learned.cost_matrix.argmax()
    weights = ranges_of_draws(LPM.class_weight(run.outcome.samples))
    return {
        "costs covered": _share_inside(true.cost_matrix[errors], ranges_of_draws(costs)[errors]),
        "release factors covered": _share_inside(true.release_factors()[errors], factor_ranges(costs)[errors]),
        "class weights covered": _share_inside(np.array([*true.class_weight.values()]), weights),
        "worst mistake": float(true.cost_matrix.ravel()[worst] == 1),
        "worst mistake, as said": float((costs.reshape(len(costs), -1).argmax(axis=1) == worst).mean()),
    }


def tables(open_: Callable[[str], Study | None], options: argparse.Namespace) -> None:
    """How often the yardstick is too slight for its own cost to be known, and what is then known in units of it."""
    for name, questions in (("wine", ANSWERS), ("emotions", ANSWERS), ("digits", 40)):
        study = open_(name)
        if study is None:
            continue
        lab = laboratory(study, options.seed, people_of("weights:0.6"), questions=questions)
        runs = [lab.run(number, judged=False) for number in range(options.runs)]
        print_row(f"{name}: too slight", "weights:0.6", [run.outcome.ranges is not None for run in runs])
        unit = LPM.index(*study.yardstick, study.n_classes)
        known, covered = [], []
        for run in runs:
            if (ends := run.outcome.ranges) is not None:
                others = np.arange(ends.shape[1]) != unit
                shut = others & (ends[0] > 0) & np.isfinite(ends[1])
                known.append(shut[others].mean())
                true = np.array(run.true_weights)
                covered.append(_share_inside((true / true[unit])[shut], ends.T[shut]))
        print_row(f"{name}: then known, of the ratios", "weights:0.6", known)
        print_row(f"{name}: then covered, of those known", "weights:0.6", covered, ".86 to .94")


def _share_inside(values: Matrix, ends: Matrix) -> float:
    return float(((ends[..., 0] <= values + 1e-9) & (values <= ends[..., 1] + 1e-9)).mean())


def many(open_: Callable[[str], Study | None], options: argparse.Namespace) -> None:
    """Ten classes: the same after 40 and 60 answers, with and without structure in the costs."""
    study = open_("digits")
    assert study is not None
    for truth in ("iid", "structured"):
        for questions in (40, 60):
            lab = laboratory(study, options.seed, people_of("weights:0.6", truth=truth), questions=questions)
            runs = [lab.run(number) for number in range(options.runs)]
            _told_runs(f"digits (10), {truth}, {questions} mixed answers", "weights:0.6", lab, runs, ".84 to .96")


def piles(open_: Callable[[str], Study | None], options: argparse.Namespace) -> None:
    """Ten classes, with mistakes sorted into four piles of equal size, as well as the person can judge."""
    study = open_("digits")
    assert study is not None
    for questions, wobble in product((40, 60), (0.0, 0.6)):
        runs = [_sorted_run(study, options.seed, number, questions, wobble) for number in range(options.runs)]
        for name in ("agreement", "covered"):
            wanted = ">= .92 after 60" if name == "agreement" else ".84 to .96"
            found = [getattr(run, name) for run in runs]
            print_row(
                f"digits (10), {questions} mixed answers, piles off by {wobble:g}: {name}", "weights:0.6", found, wanted
            )


def _sorted_run(study: Study, seed: int, number: int, questions: int, wobble: float) -> SimulatedRun:
    rng = np.random.default_rng([seed, number])
    mistakes = [StatedMistake(*mistake) for mistake in permutations(range(study.n_classes), 2)]
    logs = 1.2 * rng.standard_normal(len(mistakes))
    felt = logs + wobble / np.sqrt(2) * rng.standard_normal(len(mistakes))
    stated = tuple(
        StatedPile(f"pile {place}", tuple(mistakes[one] for one in pile))
        for place, pile in enumerate(np.array_split(np.argsort(felt), 4))
    )
    weights = tuple(-np.exp(logs) / np.linalg.norm(np.exp(logs)))
    lab = laboratory(study, seed, people_of("weights:0.6", weights=weights), questions=questions, piles=stated)
    return lab.run(number)


def _told_runs(name: str, people: str, lab: Laboratory, runs: Sequence[SimulatedRun], wanted: str) -> None:
    print_row(f"{name}: covered", people, [run.covered or 0.0 for run in runs], wanted)
    print_row(f"{name}: agreement", people, [run.agreement for run in runs])
    print_row(f"{name}: agreement expected", people, [_expected(lab, run) for run in runs])
    print_row(f"{name}: range factor", people, [run.range_factor or 0.0 for run in runs], form=".2f")
    print_row(f"{name}: range factor to the best known", people, [_to_best_known(run) for run in runs], form=".2f")
    print_row(f"{name}: held-out answers predicted, less those expected", people, _unexpected(lab, runs), "0", ".2f")
    print_row(
        f"{name}: effective draws", people, [run.outcome.effective_draws or 0.0 for run in runs], ">= 1000", ".0f"
    )


def _unexpected(lab: Laboratory, runs: Sequence[SimulatedRun]) -> list[float]:
    procedure, rng = _bayes(lab, 0), np.random.default_rng(0)
    found = [held_out(procedure.belief(run.asked), run.asked, rng) for run in runs]
    return [one.learned - one.expected for one in found if one is not None]


def _to_best_known(run: SimulatedRun) -> float:
    assert run.outcome.samples is not None
    logs = np.log(np.abs(run.outcome.samples))
    known = np.argmin([np.median((logs - logs[:, [place]]).std(axis=0)) for place in range(logs.shape[1])])
    low, high = np.quantile(np.delete(logs - logs[:, [known]], known, axis=1), ENDS, axis=0)
    return float(np.exp(np.median(high - low) / 2))


def _expected(lab: Laboratory, run: SimulatedRun) -> float:
    procedure = _bayes(lab, 0)
    assert run.outcome.samples is not None
    gains = procedure.random_gains(1_000, np.random.default_rng(1))
    mine = gains @ np.abs(run.outcome.weights) > 0
    theirs = (np.abs(run.outcome.samples) @ gains.T > 0).mean(axis=0)
    return float(np.where(mine, theirs, 1 - theirs).mean())


def _bayes(lab: Laboratory, seed: int) -> Bayes:
    procedure = lab.procedure(seed)
    assert isinstance(procedure, Bayes)
    return procedure


def extremes(open_: Callable[[str], Study | None], options: argparse.Namespace) -> None:
    """Two classes with costs in a ratio of 100 or 1,000: coverage (an open end covers), and the lower end."""
    study = open_("pneumonia") or open_("breast-cancer")
    assert study is not None
    for ratio, least in ((100.0, 40.0), (1_000.0, 100.0)):
        for people in PEOPLE:
            lab = laboratory(study, options.seed, people_of(people, ratio=ratio), questions=ANSWERS)
            inside, lower, open_ends = [], [], []
            for number in range(options.runs):
                run = lab.run(number)
                assert run.outcome.samples is not None
                large = int(np.argmax(np.abs(run.true_weights)))
                sizes = np.abs(run.outcome.samples)
                low, high = np.quantile(sizes[:, large] / sizes[:, 1 - large], ENDS)
                ends = run.outcome.bounded[1 - large]
                is_open = ends is not None and ends[0] == 0.0
                inside.append(float(low <= ratio and (ratio <= high or is_open)))
                lower.append(low)
                open_ends.append(float(is_open))
            print_row(f"1 : {ratio:g}, covered", people, inside, ">= .90")
            print_row(
                f"1 : {ratio:g}, lower end", people, lower, f">= {least:g} (median {np.median(lower):.0f})", ".0f"
            )
            print_row(f"1 : {ratio:g}, said to be a bound", people, open_ends)


def sphere(open_: Callable[[str], Study | None], options: argparse.Namespace) -> None:
    """An oracle on the sphere: error of the estimate (L2) and coverage, with and without flips."""
    rows = (
        ("paper-3", "none", 20, "<= .040"),
        ("paper-3", "none", 40, "<= .0035"),
        ("paper-3", "flip:0.1", 60, "<= .05"),
    )
    for name, noise, questions, wanted in rows:
        study = open_(name)
        if study is None or options.only not in f"{name} {noise}":
            continue
        experts = Experts(noise=Noise.parse(noise))
        lab = laboratory(study, options.seed, experts, questions=questions, space="sphere", family="lpm")
        runs = [lab.run(number) for number in range(options.runs)]
        errors = [run.error_l2 for run in runs]
        print_row(f"{name}, {questions}: error (median {np.median(errors):.4f})", noise, errors, wanted, ".4f")
        print_row(f"{name}, {questions}: covered", noise, [run.covered or 0.0 for run in runs], ".84 to .96")


def seeds(open_: Callable[[str], Study | None], options: argparse.Namespace) -> None:
    """The same answers with two seeds of the sampler: share of interval ends that agree within a factor."""
    for name, questions in (("wine", 20), ("emotions", 20), ("softmax-5", 20), ("digits", 60)):
        study = open_(name)
        if study is None or options.only not in name:
            continue
        lab = laboratory(study, options.seed, people_of("weights:0.6"), questions=questions)
        asking, shown = [], []
        for number in range(options.runs):
            history = lab.run(number).asked
            one, other = (_bayes(lab, 1_000 + 2 * number + which) for which in (0, 1))
            asking.append(_within(one.belief(history), other.belief(history), 1.35))
            shown.append(_within(one.shown_belief(history), other.shown_belief(history), 1.15))
        print_row(f"{name}, {questions}: while asking, ends within 1.35", "weights:0.6", asking, ">= .95")
        print_row(f"{name}, {questions}: in the result, ends within 1.15", "weights:0.6", shown, ">= .95")


def _within(one: Posterior, other: Posterior, factor: float) -> float:
    place = one.yardstick
    ends = [
        np.quantile(np.delete(belief.log_weights - belief.log_weights[:, [place]], place, axis=1), ENDS, axis=0)
        for belief in (one, other)
    ]
    return float((np.abs(ends[0] - ends[1]) <= np.log(factor)).mean())


def pooling(open_: Callable[[str], Study | None], options: argparse.Namespace) -> None:
    """Four experts around a group's values: coverage of the pooled range, the reported spread, who is called opposed.

    With three classes, ratios to the largest weight; with ten, all ratios of mistakes that somebody was asked about.
    """
    for name, questions in (("wine", 18), ("digits", 25)):
        study = open_(name)
        for tau in (0.0, 0.5) if study is not None else ():
            assert study is not None
            groups = [_group(study, tau, number, options.seed, questions) for number in range(options.runs)]
            _pooled_rows(f"{name} ({study.n_classes})", tau, groups)
        if study is not None and study.n_classes > 3:
            _opposition_rows(study, options, questions)


def _pooled_rows(name: str, tau: float, groups: Sequence[tuple[Matrix, list[Expert]]]) -> None:
    inside, taus, held = [], [], []
    for number, (truth, experts) in enumerate(groups):
        group = pooled(experts, experts[0].prior, np.random.default_rng(number), 1_000)
        told, units = np.arange(len(truth)), [int(truth.argmax())]
        if len(truth) > MOST_JOINTLY:
            told = np.flatnonzero(sum(np.asarray(one.asked, dtype=int) for one in experts))
            units = told[::4].tolist()
        inside.append(float(np.mean([_covered(group, truth, told, unit) for unit in units])))
        taus.append(group.tau)
        held.append(float(group.tau_interval[0] <= max(tau, 0.05) <= group.tau_interval[1]))
    print_row(f"{name}, tau {tau:g}: pooled range of 4 experts covers", "weights:0.6", inside, ".84 to .95")
    near = [float(found <= 0.25 if tau == 0 else abs(np.log(max(found, 1e-9) / tau)) <= np.log(1.5)) for found in taus]
    wanted = ">= .90 at most .25" if tau == 0 else ">= .80 within a factor 1.5"
    print_row(f"{name}, tau {tau:g} (median {np.median(taus):.2f})", "weights:0.6", near, wanted)
    print_row(f"{name}, tau {tau:g}: its 90 % range holds it", "weights:0.6", held)


def _covered(group: Group, truth: Matrix, asked: NDArray[np.intp], unit: int) -> float:
    """Return the share of ratios to one weight that lie in their pooled range."""
    low, high = np.log(ends_of_ratios(group.log_weights, unit))
    others = np.setdiff1d(asked, [unit])
    apart = truth[others] - truth[unit]
    return float(((low[others] <= apart) & (apart <= high[others])).mean())


def _opposition_rows(study: Study, options: argparse.Namespace, questions: int) -> None:
    for sign, wanted in ((1.0, "<= .05"), (-1.0, "")):
        found = []
        for number in range(options.runs):
            centre = _centre(study, number, options.seed)
            pair = [
                _expert(study, logs, 2 * number + place, options.seed, questions)
                for place, logs in enumerate((centre, sign * centre))
            ]
            found.append(float(log_odds_of_opposition(*pair) > np.log(20.0)))
        values = "the same values" if sign > 0 else "reversed values"
        print_row(f"{study.n_classes} classes, two experts of {values}: called opposed", "weights:0.6", found, wanted)


def _centre(study: Study, number: int, seed: int) -> Matrix:
    k = study.n_classes
    return np.asarray(1.2 * np.random.default_rng([seed, number]).standard_normal(k * (k - 1)))


def _group(study: Study, tau: float, number: int, seed: int, questions: int) -> tuple[Matrix, list[Expert]]:
    centre, rng = _centre(study, number, seed), np.random.default_rng([seed, number, 1])
    return centre, [
        _expert(study, centre + tau * rng.standard_normal(len(centre)), 4 * number + member, seed, questions)
        for member in range(4)
    ]


def _of_values(study: Study, logs: Matrix, seed: int, questions: int) -> Laboratory:
    weights = tuple(-np.exp(logs) / np.linalg.norm(np.exp(logs)))
    return laboratory(study, seed, people_of("weights:0.6", weights=weights), questions=questions)


def _expert(study: Study, logs: Matrix, number: int, seed: int, questions: int) -> Expert:
    lab = _of_values(study, logs, seed, questions)
    run = lab.run(number, judged=False)
    assert run.outcome.samples is not None
    prior, learned = _bayes(lab, 0).prior, run.outcome.deviations
    unasked = set(unasked_mistakes(run.asked, run.outcome.family, study.n_classes))
    asked = np.array([key not in unasked for key in LPM.mistakes(study.n_classes)])
    known = prior if learned is None else prior.with_deviations(learned)
    return Expert(np.log(np.abs(run.outcome.samples)), known, asked)


def comparing(open_: Callable[[str], Study | None], options: argparse.Namespace) -> None:
    """Four experts of the same values, or around a group's: how often they, and two of them, are said to disagree."""
    for name, questions in (("breast-cancer", 12), ("wine", 18), ("emotions", 20), ("digits", 25)):
        study = open_(name)
        for tau in (0.0, 0.7) if study is not None else ():
            assert study is not None
            groups = [_compared(study, tau, number, options.seed, questions) for number in range(options.runs)]
            for size in (2, 4):
                said = [compare(experts[:size], study.title).headline for experts in groups]
                title = f"{name} ({study.n_classes}), {size} experts, tau {tau:g}: said to disagree"
                found = [float(headline.startswith("They disagree")) for headline in said]
                print_row(title, "weights:0.6", found, "" if tau else "<= .05")
    if options.only in "lesions":
        with TemporaryDirectory() as folder:
            study = with_a_rare_class("lesions", Path(folder))
        pairs = [_by_shares(study, number, options.seed) for number in range(options.runs)]
        found = [float(compare(experts, study.title).headline.startswith("They disagree")) for experts in pairs]
        print_row("lesions (3), 2 experts, one by shares: said to disagree", "wobble .4", found)


def _by_shares(study: Study, number: int, seed: int) -> list[Compared]:
    """Return two experts, one whose costs go with the rarity of a class, and one whose costs hardly do."""
    true, _ = np.nonzero(~np.eye(study.n_classes, dtype=bool))
    experts = []
    for member, power in enumerate((0.8, 0.2)):
        rng = np.random.default_rng([seed, number, member])
        logs = 0.3 * rng.standard_normal(len(true)) - power * np.log(study.prevalence[true])
        setting = setting_of("bayes", seed=2 * number + member).for_person()
        outcome, asked = asked_until_the_end(procedure_for(study, setting), person(logs, 0.4, rng))
        experts.append(_as_compared(study, outcome, len(asked), member, seed))
    return experts


def _compared(study: Study, tau: float, number: int, seed: int, questions: int) -> list[Compared]:
    centre, rng = _centre(study, number, seed), np.random.default_rng([seed, number, 1])
    experts = []
    for member in range(4):
        lab = _of_values(study, centre + tau * rng.standard_normal(len(centre)), seed, questions)
        run = lab.run(4 * number + member, judged=False)
        experts.append(_as_compared(study, run.outcome, run.questions, member, seed))
    return experts


def _as_compared(study: Study, outcome: Outcome, questions: int, member: int, seed: int) -> Compared:
    digest = f"{member:064x}"
    provenance = Provenance(procedure="bayes", parameters={}, seed=seed, questions=questions, answers_digest=digest)
    metric = elicited(study, by_the_yardstick(outcome, study), f"{member}", provenance, Quality())
    return Compared(f"{member}", Source(f"{member}", metric))


PARTS = {
    part.__name__: part
    for part in (coverage, matrices, tables, many, piles, extremes, sphere, seeds, pooling, comparing)
}


def main() -> None:
    """Print the tables."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--part", nargs="*", choices=PARTS, default=list(PARTS))
    options.add_argument("--runs", type=int, default=200)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", default="", help="studies whose name holds this")
    chosen = options.parse_args()
    print("| what | people | found | runs | wanted |\n|" + "---|" * 5)
    with TemporaryDirectory() as folder:

        def open_(name: str) -> Study | None:
            return opened(name, Path(folder)) if chosen.only in name else None

        for part in chosen.part:
            PARTS[part](open_, chosen)


if __name__ == "__main__":
    main()
