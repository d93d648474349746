"""Theorems 1 and 2, finite samples, voting and linear-fractional metrics: what is proved against what is measured.

Source: [HBMK19] Hiranandani, Boodaghians, Mehta & Koyejo, "Multiclass Performance Metric Elicitation", NeurIPS 2019:
theorem 1 (DLPM), theorem 2 (LPM), definition 7 (bounded noise), sections 5 and 7, appendix E (linear-fractional);
[HBMK19b] the same authors, "Performance Metric Elicitation from Pairwise Classifier Comparisons", AISTATS 2019 (grid
search).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from elicit_app.elicitation import DLPM, LPM, Cases, Dlfpm, Dlpm, Lfpm, LinearOracle, Lpm, MajorityOracle
from elicit_app.elicitation import run as drive
from elicit_app.elicitation.oracles import BoundedNoiseOracle, FlipOracle, UtilityOracle
from elicit_app.elicitation.procedures.dlpm import RestrictedFrontier
from elicit_app.elicitation.procedures.search import DEFAULT_EPSILON, Ask
from elicit_app.elicitation.questions import Matrix
from elicit_app.elicitation.utilities import numerator
from elicit_app.experiments.measures import Achievable, JudgedPairs, LowerBoundary, ModelDecisions
from elicit_app.experiments.reproduce.other_papers import binary_law
from elicit_app.experiments.reproduce.shape import Curve, Experiment, Finding, Options, Panel, Part, Row, mean_and_error
from elicit_app.experiments.reproduce.tables import law_of
from elicit_app.experiments.truths import Metric, random_metric
from elicit_app.registry import procedure_for, setting_of
from elicit_app.registry.entries import sphere_for
from elicit_app.study.opening import open_study
from metrics.elicited.family import family_of

_PAPER = "Hiranandani et al., NeurIPS 2019"
_NOISES = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
_TOLERANCES = (0.16, 0.08, 0.04, 0.02, 0.01, 0.005)


def _true_weights(family: str, k: int, rng: np.random.Generator) -> Matrix:
    """Return a random metric with moderate ratios: Dirichlet(2) hits, or half-normal errors."""
    if family == "dlpm":
        return rng.dirichlet(np.full(k, 2.0))
    return LPM.normalise(-np.abs(rng.standard_normal(k * k - k)))


def _noisy(procedure: str, law: str, epsilon: float, noise: float, runs: int, seed: int) -> list[float]:
    """Return the errors of a search whose expert tosses a coin if utilities differ by at most `noise`.

    Errors are in the theorem's norm: the maximum norm for DLPM, the Euclidean norm for LPM.
    """
    study = open_study(law)
    asked = procedure_for(study, setting_of(procedure, ask="all", epsilon=epsilon))
    found = []
    for number in range(runs):
        rng = np.random.default_rng([seed, 8, number])
        true = _true_weights(procedure, study.n_classes, rng)
        weights = family_of(procedure).weight_matrix(true)
        oracle = BoundedNoiseOracle(lambda matrix, w=weights: float((w * matrix).sum()), noise, rng)  # type: ignore[misc]
        outcome, _ = drive(asked, oracle)
        apart = np.abs(outcome.weights - true)
        found.append(float(apart.max() if procedure == "dlpm" else np.linalg.norm(apart)))
    return found


def _theorem_parts(procedure: str, options: Options) -> list[Part]:
    runs = 10 if options.quick else 60 if procedure == "dlpm" else 24
    laws = ("softmax-3",) if options.quick else ("softmax-3", "softmax-4")
    return [
        *(
            Part(f"{law}, noise {noise}", _noisy, (procedure, law, DEFAULT_EPSILON, noise, runs, options.seed))
            for law in laws
            for noise in _NOISES
        ),
        *(
            Part(f"{law}, tolerance {epsilon}", _noisy, (procedure, law, epsilon, 0.0, runs, options.seed))
            for law in laws
            for epsilon in _TOLERANCES
        ),
    ]


def _slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Return the slope of a line fitted to points on logarithmic axes."""
    return float(np.polyfit(np.log(x), np.log(np.maximum(y, 1e-12)), 1)[0])


_AT_MOST = "The theorem bounds the worst case; the mean grows no faster."
_PROPORTIONAL = {
    "dlpm": "Proportional to the tolerance, as stated, apart from chance in the metrics drawn.",
    "lpm": "The published two cycles leave an error that no tolerance removes; it is larger at k = 4.",
}
_STEEP = 3  # number of the largest noises, at which noise rather than tolerance determines the error


def _theorem(procedure: str, results: Mapping[str, Any]) -> Iterator[Finding]:
    for law in dict.fromkeys(key.split(",")[0] for key in results):
        by_noise = [mean_and_error(results[f"{law}, noise {noise}"]) for noise in _NOISES]
        by_epsilon = [mean_and_error(results[f"{law}, tolerance {epsilon}"]) for epsilon in _TOLERANCES]
        bounds = [_bound(procedure, law, DEFAULT_EPSILON, noise) for noise in _NOISES]
        plain = [_bound(procedure, law, epsilon, 0.0) for epsilon in _TOLERANCES]
        for noise, (mean, error), bound in zip(_NOISES, by_noise, bounds, strict=True):
            yield Row(
                f"{law}, bounded noise {noise:g}: mean error",
                f"O({bound:.3g})",
                mean,
                f"The theorem gives an order without a constant; ours is {mean / bound:.2f} times the order. Standard "
                f"error {error:.4f}.",
                4,
            )
        steep = _slope(_NOISES[-_STEEP:], [mean for mean, _ in by_noise][-_STEEP:])
        yield Row(f"{law}: slope of log error against log noise, three largest noises", 0.5, steep, _AT_MOST)
        slope = _slope(_TOLERANCES, [mean for mean, _ in by_epsilon])
        yield Row(f"{law}: slope of log error against log tolerance, no noise", 1.0, slope, _PROPORTIONAL[procedure])
        yield _error_panel(f"{law}: bounded noise, tolerance .01", "noise", _NOISES, by_noise, bounds)
        yield _error_panel(f"{law}: tolerance, no noise", "tolerance", _TOLERANCES, by_epsilon, plain)
    yield "The expert answers at random when two utilities differ by no more than the noise."


def _bound(procedure: str, law: str, epsilon: float, noise: float) -> float:
    """Return the argument of the theorem's O(...): eps + sqrt(noise), or sqrt(q) (eps + sqrt(noise / lambda))."""
    if procedure == "dlpm":
        return float(epsilon + noise**0.5)
    study = open_study(law)
    q = study.n_classes * (study.n_classes - 1)
    radius = sphere_for(study, setting_of("lpm")).radius
    return float(q**0.5 * (epsilon + (noise / radius) ** 0.5))


def _error_panel(
    title: str, xlabel: str, x: Sequence[float], measured: Sequence[tuple[float, float]], bounds: Sequence[float]
) -> Panel:
    means, errors = zip(*measured, strict=True)
    curves = (
        Curve("measured, mean", x, means, "ours", spread=errors),
        Curve("the theorem's O(...) with constant 1", x, bounds, "bound"),
    )
    return Panel(title, xlabel, "error", curves, log="xy")


_SAMPLES = (250, 1_000, 4_000, 16_000, 64_000)
_METRICS_A_RUN = 5


def _sampled(n: int, runs: int, seed: int) -> dict[str, list[float]]:
    """Return the largest errors with n cases drawn from softmax-3, for counted and for plug-in confusions."""
    eta = law_of("softmax-3").eta
    found: dict[str, list[float]] = {"counts": [], "plug-in": []}
    for number in range(runs):
        rng = np.random.default_rng([seed, 9, n, number])
        drawn = eta[rng.integers(0, len(eta), n)]
        labels = (rng.random((n, 1)) > np.cumsum(drawn, axis=1)[:, :-1]).sum(axis=1)
        searches = {"counts": Dlpm(Cases.counted(labels, drawn)), "plug-in": Dlpm(Cases.plug_in(drawn))}
        for _ in range(_METRICS_A_RUN):
            true = _true_weights("dlpm", 3, rng)
            for name, search in searches.items():
                outcome, _ = drive(search, LinearOracle(DLPM.weight_matrix(true)))
                found[name].append(float(np.abs(outcome.weights - true).max()))
    return found


def _samples_parts(options: Options) -> list[Part]:
    return [Part(str(n), _sampled, (n, 4 if options.quick else 24, options.seed)) for n in _SAMPLES]


def _samples(results: Mapping[str, Any]) -> Iterator[Finding]:
    curves = []
    for name in ("counts", "plug-in"):
        measured = [mean_and_error(results[str(n)][name]) for n in _SAMPLES]
        for n, (mean, error) in zip(_SAMPLES, measured, strict=True):
            why = f"Standard error {error:.4f}, {len(results[str(n)][name])} metrics."
            yield Row(f"{name}, {n:,} cases: mean of the largest error", None, mean, why, 4)
        means, errors = zip(*measured, strict=True)
        curves.append(Curve(name, _SAMPLES, means, "ours" if name == "plug-in" else "third", spread=errors))
    slope = _slope(_SAMPLES, curves[0].y)
    yield Row(
        "counts: slope of log error against log cases",
        None,
        slope,
        "Near their flat maximum, counted utilities fluctuate by the square root of the number of cases, so the best "
        "threshold converges at a rate of about n^(-1/3).",
    )
    yield Panel("softmax-3, known probabilities", "cases", "largest error", tuple(curves), log="xy")
    yield (
        "The paper states that elicitation from samples is as accurate as the samples allow; apart from figure 3 it "
        "prints no numbers. Counted confusions are step functions, on which the search gets stuck; plug-in confusions "
        "carry only the sampling error of the cases drawn."
    )


_VOTERS = (1, 3, 5, 9, 15, 25, 51)
_FLIPS = (0.0, 0.05, 0.1, 0.2, 0.3)


def _crowd_errors(flips: float, votes: int, repair: bool, runs: int, seed: int) -> dict[str, Any]:
    """Return the largest errors if each of several voters inverts an answer with a given probability."""
    study = open_study("softmax-3")
    asked = procedure_for(study, setting_of("dlpm", ask="all", repair=repair))
    found, questions = [], 0
    for number in range(runs):
        rng = np.random.default_rng([seed, 10, number])
        true = _true_weights("dlpm", 3, rng)
        one = FlipOracle(LinearOracle(DLPM.weight_matrix(true)), flips, rng)
        outcome, transcript = drive(asked, MajorityOracle(one, votes))
        found.append(float(np.abs(outcome.weights - true).max()))
        questions = len(transcript) * votes
    return {"errors": found, "answers": questions}


def _crowd_parts(options: Options) -> list[Part]:
    runs = 20 if options.quick else 100
    parts = [
        Part(f"{flips}, {votes}", _crowd_errors, (flips, votes, False, runs, options.seed))
        for flips in _FLIPS
        for votes in (_VOTERS if flips else (1,))
    ]
    return parts + [Part(f"{flips}, repaired", _crowd_errors, (flips, 1, True, runs, options.seed)) for flips in _FLIPS]


def _crowd(results: Mapping[str, Any]) -> Iterator[Finding]:
    curves = []
    for flips in _FLIPS:
        for key, title in ((f"{flips}, 1", "one voter"), (f"{flips}, repaired", "one voter, order repaired")):
            mean, error = mean_and_error(results[key]["errors"])
            why = f"Standard error {error:.4f}, {len(results[key]['errors'])} metrics."
            yield Row(f"{flips:.0%} of answers inverted, {title}: mean of the largest error", None, mean, why, 4)
        if flips:
            measured = [mean_and_error(results[f"{flips}, {votes}"]["errors"]) for votes in _VOTERS]
            means, errors = zip(*measured, strict=True)
            curves.append(Curve(f"{flips:.0%} inverted", _VOTERS, means, "series", spread=errors))
            enough = next((votes for votes, mean in zip(_VOTERS, means, strict=True) if mean < 0.02), None)
            shown = "more than 51" if enough is None else enough
            yield Row(
                f"{flips:.0%} of answers inverted: voters needed for a mean error below .02",
                None,
                shown,
                "The majority decides; every voter answers every question.",
                0,
            )
    yield Panel("softmax-3, 56 questions each", "voters", "mean of the largest error", tuple(curves), log="xy")
    yield "The paper proposes majority votes of a population in section 7 but prints no number."


# The paper's example: lines that touch the feasible set of eta(x) = 1 / (1 + exp(5 x)) at its best and worst points.
_TOUCHING = (((0.97976, 0.20017), 0.53703), ((-0.97130, -0.23786), -0.05914))
_P11 = tuple(i / 100 for i in range(101))


def _fraction(family: str, k: int, epsilon: float, ask: Ask, runs: int, seed: int) -> dict[str, Any]:
    """Return the questions of searches on both boundaries, and the agreement with the true fraction on random pairs.

    The linear search for comparison asks as published, or only the questions needed.
    """
    law = Cases.exact(law_of(f"softmax-{k}").eta)
    sphere = sphere_for(open_study(f"softmax-{k}"), setting_of("lpm"))
    plain: Ask = "all" if ask == "all" else "needed"
    search = Dlfpm(law, epsilon=epsilon, ask=ask) if family == "dlfpm" else Lfpm(sphere, epsilon=epsilon, ask=ask)
    linear = Dlpm(law, epsilon=epsilon, ask=plain) if family == "dlfpm" else Lpm(sphere, epsilon=epsilon, ask=plain)
    achievable: Achievable = ModelDecisions([law]) if family == "dlfpm" else LowerBoundary(sphere)
    agreements, asked, off, beside = [], [], [], []
    for number in range(runs):
        rng = np.random.default_rng([seed, 11, number])
        true = random_metric(search.family, law.prevalence, rng, on_the_sphere=family == "lfpm")
        outcome, transcript = drive(search, UtilityOracle(true.utility))
        elicited = Metric.elicited(outcome)
        agreements.append(JudgedPairs.draw(true, achievable, rng, 500).agreement(elicited))
        off.append(float(np.abs(outcome.weights - true.weights).max()))
        asked.append(len(transcript))
        linear_truth = family_of(linear.family).weight_matrix(_true_weights(linear.family, k, rng))
        beside.append(len(drive(linear, LinearOracle(linear_truth))[1]))
    return {"agreements": agreements, "off": off, "questions": float(np.mean(asked)), "linear": float(np.mean(beside))}


def _pencil() -> list[float]:
    """Return the numerator of the paper's example, with sum 1, from its two touching lines."""
    (m1, c1), (m2, c2) = _TOUCHING
    p = numerator(m1, c1, m2, c2)
    return [float(x) for x in p / p.sum()]


_FAMILIES = (("dlfpm", 3), ("dlfpm", 4), ("lfpm", 3), ("lfpm", 4))
_FINENESS = (0.05, 0.02, 0.01, 0.005)


def _grid_search() -> dict[str, Any]:
    """Return, for each p11 of the published grid, the variation of the ratio of two fractions over each boundary.

    [HBMK19b] takes p of sum 1 and p0 = 0, reads a denominator off either touching line as q = p - m and q0 = C, up to
    the factor that gives perfect decisions the value 1, and returns the p11 with the smallest standard deviation.
    """
    frontier = RestrictedFrontier(binary_law(5.0), 0, 1)
    points = [
        np.array([np.diagonal(boundary(m)) for m in np.linspace(0, 1, 101)]) for boundary in (frontier, frontier.lower)
    ]
    spreads = []
    for p11 in _P11:
        p = np.array([p11, 1 - p11])
        upper, lower = ([_denominator(p, m, c, x) for m, c in _TOUCHING] for x in points)
        ratios = [lower_line / upper_line for upper_line, lower_line in (upper, lower)]
        spreads.append([float(np.std(ratios[0])), float(np.std(np.concatenate(ratios)))])
    return {"upper": [one for one, _ in spreads], "both": [both for _, both in spreads]}


def _denominator(p: Matrix, m: Sequence[float], c: float, points: Matrix) -> Matrix:
    q, perfect = p - np.array(m), np.array([0.5, 0.5])
    denominator: Matrix = (points @ q + c) * (perfect @ p) / (perfect @ q + c)
    return denominator


def _fractional_parts(options: Options) -> list[Part]:
    runs = 4 if options.quick else 16
    families = _FAMILIES[::2] if options.quick else _FAMILIES
    return [
        Part("pencil", _pencil),
        Part("grid search", _grid_search),
        *(
            Part(f"{family}, {k}, {epsilon}", _fraction, (family, k, epsilon, "all", runs, options.seed))
            for family, k in families
            for epsilon in _FINENESS
        ),
        *(
            Part(f"{family}, {k}, bisect", _fraction, (family, k, DEFAULT_EPSILON, "bisect", runs, options.seed))
            for family, k in families
        ),
    ]


def _fractional(results: Mapping[str, Any]) -> Iterator[Finding]:
    yield Row("numerator from the two touching lines, p of sum 1", (0.8, 0.2), tuple(results["pencil"]), digits=4)
    spreads = results["grid search"]
    yield Row(
        "p11 by the published grid search, with matrices of the upper boundary and of both boundaries",
        (0.80, 0.80),
        tuple(_P11[int(np.argmin(spreads[points]))] for points in ("upper", "both")),
        "At the true p, the fractions of the two lines order matrices alike but are not proportional. The spread of "
        "their ratio is smallest elsewhere, depends on the matrices and hardly changes over the grid.",
    )
    yield Panel(
        "published grid search, true p11 = .80",
        "p11",
        "standard deviation of the ratio",
        (
            Curve("upper boundary", _P11, spreads["upper"], "ours"),
            Curve("both boundaries", _P11, spreads["both"], "other"),
        ),
    )
    curves = []
    for family, k in dict.fromkeys(tuple(key.split(", ")[:2]) for key in results if ", " in key):
        found = [results[f"{family}, {k}, {epsilon}"] for epsilon in _FINENESS]
        name = f"{family}, k = {k}"
        yield from _family_rows(name, found[_FINENESS.index(DEFAULT_EPSILON)], published=True)
        yield from _family_rows(f"{name}, by bisection", results[f"{family}, {k}, bisect"], published=False)
        means, errors = zip(*(mean_and_error(one["agreements"]) for one in found), strict=True)
        curves.append(Curve(name, _FINENESS, [1 - mean for mean in means], "series", spread=errors))
    yield Panel("pairs ordered wrongly", "tolerance", "share of pairs", tuple(curves), log="x")
    yield (
        "All level sets lie in the pencil of the two touching hyperplanes, which orders matrices as the metric does. "
        "Answers identify the denominator only up to one parameter."
    )
    yield (
        "The pencil does not cause the errors of the published searches at the tolerance .01. Where the two lines meet "
        "far away, the error of their axis is several times that of the lines; a tolerance on m is coarse where the "
        "first class counts little; and two cycles over the angles are too few at k = 4. Bisection takes about one "
        "question per halving, and finds an angle again in a few steps from its previous value. It reaches a "
        "tolerance 16 times finer with no more questions than two linear searches need, and its cycles continue "
        "until no angle moves."
    )


def _questions_by_bisection(name: str, questions: float, linear: float) -> Row:
    """Return the mean numbers of questions for a fraction by bisection and for its linear metric, as needed."""
    why = f"Two linear searches need {2 * linear:.1f} on average."
    return Row(f"{name}: questions", None, questions, why, 0)


def _family_rows(name: str, fine: Mapping[str, Any], *, published: bool) -> list[Row]:
    """Return questions, agreement and error of one family at the tolerance .01."""
    mean, error = mean_and_error(fine["agreements"])
    off, off_error = mean_and_error(fine["off"])
    of_runs = f"Standard error {error:.5f}, {len(fine['agreements'])} metrics, tolerance .01."
    convention = f"Unique only under the convention p0 = 0. Standard error {off_error:.4f}."
    return [
        Row(
            f"{name}: questions, twice as many as for the linear metric",
            2 * fine["linear"],
            fine["questions"],
            digits=0,
        )
        if published
        else _questions_by_bisection(name, fine["questions"], fine["linear"]),
        Row(f"{name}: agreement with the true fraction on random pairs", None, mean, of_runs, 4),
        Row(f"{name}: largest error of the numerator", None, off, convention, 4),
    ]


EXPERIMENTS = (
    *(
        Experiment(
            f"theorem{number}",
            f"Theorem {number}: error of {procedure.upper()}",
            f"{_PAPER}, theorem {number}",
            partial(_theorem_parts, procedure),
            partial(_theorem, procedure),
        )
        for number, procedure in ((1, "dlpm"), (2, "lpm"))
    ),
    Experiment("finite-samples", "Finite samples", f"{_PAPER}, section 5", _samples_parts, _samples),
    Experiment("crowd", "A population of voters", f"{_PAPER}, section 7", _crowd_parts, _crowd),
    Experiment("fractional", "Linear-fractional metrics", f"{_PAPER}, appendix E", _fractional_parts, _fractional),
)
