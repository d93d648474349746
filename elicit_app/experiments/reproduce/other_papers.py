"""Other papers on metric elicitation, against what they print: binary and quadratic metrics, and the user study.

Sources: [HBMK19b] Hiranandani, Boodaghians, Mehta & Koyejo, "Performance Metric Elicitation from Pairwise Classifier
Comparisons", AISTATS 2019, appendix A: x uniform on [-1, 1], eta(x) = 1 / (1 + exp(a x)), a metric m11 TP + m00 TN.
The procedure is `binary`; `dlpm` with two classes is the same search over m11 / (m11 + m00) instead of the angle.

Hiranandani, Mathur, Narasimhan & Koyejo, "Quadratic Metric Elicitation for Fairness and Beyond", UAI 2022, with
`quadratic`; the published errors are those printed by its code, github.com/koyejolab/qme at 5293a03, in the notebook
qme/ipynb/qme.ipynb.

[A22] Ali, Upadhyay, Hiranandani, Glassman & Koyejo, "Metric Elicitation; Moving from Theory to Practice", 2022: ten
people, breast cancer, a metric a0 TN + (1 - a0) TP, tolerance .05; each judged 15 more random pairs afterwards. Here
the people are simulated, and asked by the published search and by `bayes`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from elicit_app.elicitation import DLPM, Cases, Choice, LinearOracle, Question, Sphere
from elicit_app.elicitation import run as drive
from elicit_app.elicitation.oracles import UtilityOracle
from elicit_app.elicitation.procedures.dlpm import Binary, RestrictedFrontier
from elicit_app.elicitation.procedures.lpm import QuadraticSearch
from elicit_app.elicitation.procedures.search import Ask
from elicit_app.elicitation.questions import Matrix
from elicit_app.elicitation.utilities import Quadratic
from elicit_app.experiments.measures import JudgedPairs
from elicit_app.experiments.people import Noise
from elicit_app.experiments.reproduce.shape import (
    Curve,
    Experiment,
    Finding,
    Options,
    Panel,
    Part,
    Row,
    Value,
    mean_and_error,
)
from elicit_app.experiments.simulation import Experts, Laboratory
from elicit_app.experiments.truths import Metric, Values
from elicit_app.registry import setting_of
from elicit_app.study.opening import open_study
from metrics.elicited.metric_parts import range_of_draws

_BINARY_PAPER = "Hiranandani et al., AISTATS 2019"
_SLOPES = (0.5, 1.0, 2.0, 5.0, 10.0)
_POINTS = 20_001
_BINARY_TOLERANCES = (0.05, 0.02, 0.01, 0.005)
_M11 = 0.7


def binary_law(a: float) -> Cases:
    """Return the law of appendix A; the larger `a`, the less its classes overlap."""
    x = (2 * np.arange(_POINTS) + 1) / _POINTS - 1
    positive = 1 / (1 + np.exp(a * x))
    return Cases.exact(np.column_stack([positive, 1 - positive]))


def _geometry(a: float) -> dict[str, Any]:
    """Return prevalence and frontier and, for one metric, the best hits: by the printed integrals, and ours."""
    cases = binary_law(a)
    frontier = RestrictedFrontier(cases, 0, 1)
    x0 = float(np.clip(np.log(_M11 / (1 - _M11)) / a, -1, 1))
    true_positive = (_antiderivative(x0, a) - _antiderivative(-1.0, a)) / 2
    true_negative = ((1 - x0) - (_antiderivative(1.0, a) - _antiderivative(x0, a))) / 2
    ours = np.diagonal(frontier(_M11))
    ends = np.array([np.diagonal(frontier(m)) for m in np.linspace(0, 1, 101)])
    return {
        "prevalence": float(cases.prevalence[0]),
        "printed": [true_positive, true_negative],
        "ours": ours.tolist(),
        "frontier": ends.tolist(),
    }


def _antiderivative(x: float, a: float) -> float:
    """Return the integral of 1 / (1 + exp(a x)) from 0 to x."""
    return float(x - (np.logaddexp(0, a * x) - np.log(2)) / a)


def _elicited(a: float, epsilon: float, runs: int, seed: int) -> dict[str, Any]:
    """Return the errors of the angle, for random metrics with a best threshold, and the number of questions."""
    search = Binary(binary_law(a), epsilon=epsilon, ask="all")
    rng = np.random.default_rng([seed, 13])
    least = np.arctan(np.exp(-a))
    found, asked = [], 0
    for theta in rng.uniform(least, np.pi / 2 - least, runs):
        true = DLPM.normalise([np.cos(theta), np.sin(theta)])
        outcome, transcript = drive(search, LinearOracle(DLPM.weight_matrix(true)))
        found.append(float(abs(np.arctan2(outcome.weights[1], outcome.weights[0]) - theta)))
        asked = len(transcript)
    return {"errors": found, "questions": asked}


def _binary_parts(options: Options) -> list[Part]:
    runs = 20 if options.quick else 100
    return [
        *(Part(f"law {a}", _geometry, (a,)) for a in _SLOPES),
        *(
            Part(f"search {a}, {epsilon}", _elicited, (a, epsilon, runs, options.seed))
            for a in _SLOPES
            for epsilon in _BINARY_TOLERANCES
        ),
    ]


def _binary_report(results: Mapping[str, Any]) -> Iterator[Finding]:
    frontiers, errors = [], []
    for a in _SLOPES:
        law, most = results[f"law {a}"], max(results[f"search {a}, 0.01"]["errors"])
        yield from _law_rows(a, law, most)
        positives, negatives = zip(*law["frontier"], strict=True)
        frontiers.append(Curve(f"a = {a:g}", positives, negatives, "series"))
        measured = [mean_and_error(results[f"search {a}, {epsilon}"]["errors"]) for epsilon in _BINARY_TOLERANCES]
        errors.append(Curve(f"a = {a:g}", _BINARY_TOLERANCES, [mean for mean, _ in measured], "series"))
    questions = [results[f"search {_SLOPES[0]}, {epsilon}"]["questions"] for epsilon in _BINARY_TOLERANCES]
    yield Row(
        "questions at tolerance .05, .02, .01, .005: four per halving",
        tuple(float(4 * np.ceil(np.log2(np.pi / 2 / epsilon))) for epsilon in _BINARY_TOLERANCES),
        tuple(map(float, questions)),
        digits=0,
    )
    yield Panel("frontiers of the feasible sets", "TP", "TN", tuple(frontiers), equal=True)
    yield Panel("elicitation", "tolerance", "mean error", tuple(errors), log="xy")
    yield (
        "The “published” values are computed by the formulas of appendix A. The paper's tables of elicited metrics are "
        "not reproduced: only the abstract, the first page and appendix A of arXiv 1806.01827 were available, and no "
        "code of its authors. Metrics are drawn with m11 / m00 between exp(-a) and exp(a). Outside this range the best "
        "classifier always predicts the same class, and no question identifies the ratio."
    )


def _law_rows(a: float, law: Mapping[str, Any], most: float) -> list[Row]:
    """Return the rows of one law; `most` is the largest error of its elicited metrics."""
    return [
        Row(f"a = {a:g}: prevalence of class 1", 0.5, law["prevalence"], digits=9),
        Row(
            f"a = {a:g}: TP and TN of the best classifier for m11 = {_M11}",
            tuple(law["printed"]),
            tuple(law["ours"]),
            f"The paper prints integrals; ours is the sum over {_POINTS:,} points.",
            6,
        ),
        Row(
            f"a = {a:g}: largest error of the angle, tolerance .01",
            "at most .01",
            "at most .01" if most <= 0.01 else f"{most:.4f}",
            f"Ours is {most:.4f} radians; the search brackets the best angle within .01 and returns the midpoint.",
        ),
    ]


_QUADRATIC_PAPER = "Hiranandani et al., UAI 2022"
_RADIUS = 0.052
_QUADRATIC_TOLERANCES = (0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
_CLASSES = (2, 3)
_ASKED: tuple[Ask, ...] = ("needed", "bisect")
# The authors' notebook: a unit sphere, small spheres of .005, metrics with |a|^2 + |B|^2 = 1.
_THEIR_SMALL = 0.005
_THEIR_EXAMPLE = 2, 0.001, (0.0016076871, 0.0018994205)  # classes, tolerance, errors of a and of B of one metric
_THEIR_TRIALS = 5, 0.01  # classes, tolerance
_THEIR_COUNTS = np.array([49, 92, 72, 49, 23, 5, 3, 6, 0, 1])  # of 300 metrics, by their error of B
_THEIR_EDGES = np.linspace(0.00652797, 0.03139211, len(_THEIR_COUNTS) + 1)


def random_quadratic(around: Sphere, rng: np.random.Generator) -> Quadratic:
    """Return a < 0 of norm 1 and a symmetric B so small that every error lowers the metric on the sphere."""
    k = around.n_classes
    q = k * k - k
    a = -(0.5 + rng.random(q))
    a /= np.linalg.norm(a)
    raw = rng.standard_normal((q, q))
    b = (raw + raw.T) / 2
    steepest = float(np.abs(b).max()) * around.radius
    return Quadratic(a, b * 0.5 * float(np.abs(a).min()) / steepest, around.centre)


def _quadratic_errors(k: int, epsilon: float, runs: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng([seed, 14, k])
    around = Sphere.around(np.full(k, 1 / k), _RADIUS)
    search = QuadraticSearch(around, epsilon=epsilon)
    linear, quadratic, questions = [], [], []
    for _ in range(runs):
        true = random_quadratic(around, rng)
        outcome, asked = drive(search, UtilityOracle(true.utility))
        found = outcome.utility
        assert isinstance(found, Quadratic)
        linear.append(float(np.linalg.norm(found.slope - true.slope)))
        quadratic.append(float(np.linalg.norm(found.curvature - true.curvature) / np.linalg.norm(true.curvature)))
        questions.append(len(asked))
    return {"a": linear, "B": quadratic, "questions": questions}


def _errors_as_theirs(k: int, epsilon: float, ask: Ask, runs: int, seed: int) -> dict[str, Any]:
    """Return the errors of a and B by the measure of the authors' notebook."""
    rng = np.random.default_rng([seed, 15, k])
    around = Sphere.around(np.full(k, 1 / k), _RADIUS)
    search = QuadraticSearch(around, epsilon=epsilon, ask=ask, small=_THEIR_SMALL)
    off, questions = [], []
    for _ in range(runs):
        true = random_quadratic(around, rng)
        outcome, asked = drive(search, UtilityOracle(true.utility))
        assert isinstance(outcome.utility, Quadratic)
        (a, b), (mine, my_b) = _on_the_unit_sphere(true), _on_the_unit_sphere(outcome.utility)
        questions.append(len(asked))
        off.append((float(np.linalg.norm(mine - a)), float(np.linalg.norm(my_b - b))))
    return {"a": [one for one, _ in off], "B": [one for _, one in off], "questions": questions}


def _on_the_unit_sphere(metric: Quadratic) -> tuple[Matrix, Matrix]:
    """Return a and B in units of the radius, scaled so that |a|^2 + |B|^2 = 1."""
    a, b = metric.slope, metric.curvature * _RADIUS
    size = float(np.sqrt((a**2).sum() + (b**2).sum()))
    return a / size, b / size


def _quadratic_parts(options: Options) -> list[Part]:
    runs = 3 if options.quick else 6
    tolerances = _QUADRATIC_TOLERANCES[2::2] if options.quick else _QUADRATIC_TOLERANCES
    theirs = [(*_THEIR_EXAMPLE[:2], 20)] if options.quick else [(*_THEIR_EXAMPLE[:2], 100), (*_THEIR_TRIALS, 2)]
    return [
        *(
            Part(f"{k}, {epsilon}", _quadratic_errors, (k, epsilon, runs, options.seed))
            for k in _CLASSES
            for epsilon in tolerances
        ),
        *(
            Part(f"as theirs, {k}, {ask}", _errors_as_theirs, (k, epsilon, ask, n, options.seed))
            for k, epsilon, n in theirs
            for ask in _ASKED
        ),
    ]


def _quadratic_report(results: Mapping[str, Any]) -> Iterator[Finding]:
    tolerances = [epsilon for epsilon in _QUADRATIC_TOLERANCES if f"{_CLASSES[0]}, {epsilon}" in results]
    yield from _rows_beside_theirs(results)
    curves = []
    for k in _CLASSES:
        found = [results[f"{k}, {epsilon}"] for epsilon in tolerances]
        for epsilon, one in zip(tolerances, found, strict=True):
            (linear, linear_error), (quadratic, quadratic_error) = mean_and_error(one["a"]), mean_and_error(one["B"])
            yield Row(
                f"k = {k}, tolerance {epsilon:g}: mean error of a, mean relative error of B",
                None,
                (linear, quadratic),
                f"{len(one['a'])} metrics, {np.mean(one['questions']):,.0f} questions on average, standard errors "
                f"{linear_error:.4f} and {quadratic_error:.4f}.",
                4,
            )
        curves += [
            Curve(f"k = {k}, {part}", tolerances, [mean_and_error(one[part])[0] for one in found], "series")
            for part in ("a", "B")
        ]
    yield Panel("quadratic metrics, no noise", "tolerance of an angle", "error", tuple(curves), log="xy")
    yield (
        "The paper shows its errors as box plots, and no available text prints them; the “published” values are those "
        "that the authors' notebook prints. Their metrics may rise with some errors, and they compute B from ratios of "
        "slopes at one end of each axis. Ours computes B from differences of slopes over a short distance, so its "
        "relative error is several times that of a. The error that remains at fine tolerances comes from the radius "
        "of the small spheres, on which the metric is not quite linear."
    )


def _rows_beside_theirs(results: Mapping[str, Any]) -> list[Row]:
    """Return the rows for which the authors' notebook prints a number."""
    k, epsilon, example = _THEIR_EXAMPLE
    rows = [
        _beside(results[f"as theirs, {k}, {ask}"], ("a", "B"), f"k = {k}, tolerance {epsilon:g}", example, ask)
        for ask in _ASKED
    ]
    k, epsilon = _THEIR_TRIALS
    middles = (_THEIR_EDGES[1:] + _THEIR_EDGES[:-1]) / 2
    mean = float(middles @ _THEIR_COUNTS / _THEIR_COUNTS.sum())
    return rows + [
        _beside(results[f"as theirs, {k}, {ask}"], ("B",), f"k = {k}, tolerance {epsilon:g}", mean, ask)
        for ask in _ASKED
        if f"as theirs, {k}, {ask}" in results
    ]


def _beside(found: Mapping[str, Any], parts: tuple[str, ...], where: str, published: Value, ask: Ask) -> Row:
    """Return the row of some errors: of one published metric, or of the mean of many."""
    means, errors = zip(*(mean_and_error(found[part]) for part in parts), strict=True)
    of = "that of one metric"
    if len(parts) == 1:
        of = (
            f"the mean of {_THEIR_COUNTS.sum()}, from the midpoints of a histogram's bins (k follows from the number "
            "of weights, although a comment says 3; the tolerance is the last one set)"
        )
    text = " and ".join(f"{error:.4f}" for error in errors)
    return Row(
        f"{where}, on the unit sphere{', by bisection' if ask == 'bisect' else ''}: error of {' and of '.join(parts)}",
        published,
        means if len(parts) > 1 else means[0],
        f"The published value is {of}. Ours is the mean of {len(found[parts[0]])} metrics that fall with every error, "
        f"standard error {text}, {np.mean(found['questions']):,.0f} questions each.",
        4,
    )


_STUDY_PAPER = "Ali et al. 2022"
_A0 = (0.125, 0.141, 0.125, 0.141, 0.328, 0.031, 0.031, 0.359, 0.125, 0.141)
_AGREEMENT = (87, 100, 93, 100, 73, 87, 100, 87, 93, 87)
_NOISES = ("none", "logit:0.95", "logit:0.9")
_JUDGED, _SITTINGS = 15, 20  # pairs per judgement, and number of judgements
_SETTINGS: dict[str, dict[str, Any]] = {
    "published search": {"procedure": "dlpm", "ask": "all", "epsilon": 0.05},
    "bayes": {"procedure": "bayes", "family": "dlpm", "questions": 20},
}


@cache
def _laboratory(procedure: str, a0: float, noise: str, seed: int) -> Laboratory:
    """Return the laboratory of one person; the classes are malignant and benign, in this order."""
    options = dict(_SETTINGS[procedure])
    setting = setting_of(options.pop("procedure"), seed=seed, **options)
    return Laboratory(open_study("breast-cancer"), setting, Experts((1 - a0, a0), noise=Noise.parse(noise)))


def _person(procedure: str, a0: float, noise: str, runs: int, seed: int) -> dict[str, Any]:
    """Return a person's metric in several runs, and the agreement on 15 and on many later pairs."""
    laboratory = _laboratory(procedure, a0, noise, seed)
    found, agreements, asked = [], [], 0
    judged: list[float] = []
    for number in range(runs):
        one = laboratory.run(number)
        found.append(one.elicited_weights[1])
        agreements.append(one.agreement)
        asked = one.questions
        judged += _agreements(laboratory, Metric.elicited(one.outcome), number, seed)
    return {"a0": found, "agreement": agreements, "judged": judged, "questions": asked}


def _agreements(laboratory: Laboratory, elicited: Values, number: int, seed: int) -> list[float]:
    """Return the shares of 15 later pairs on which the person, with the same noise, and the elicited metric agree."""
    rng = np.random.default_rng([seed, 12, number])
    true = laboratory.truth(rng)
    pairs = JudgedPairs.draw(true, laboratory.achievable, rng, _JUDGED * _SITTINGS)
    oracle = laboratory.experts.oracle(true, pairs, rng)
    prefers_first = [
        oracle.answer(Question.of_rates(first, second, None)).choice is Choice.FIRST
        for first, second in zip(pairs.first, pairs.second, strict=True)
    ]
    agreed = np.array(prefers_first) == (elicited(pairs.first) > elicited(pairs.second))
    return [float(share) for share in agreed.reshape(_SITTINGS, _JUDGED).mean(axis=1)]


def _study_parts(options: Options) -> list[Part]:
    runs = {"published search": 1 if options.quick else 6, "bayes": 1}
    return [
        Part(
            f"{procedure}, {noise}, {person}",
            _person,
            (procedure, a0, noise, runs[procedure], options.seed + 100 * person),
        )
        for procedure in _SETTINGS
        for noise in (_NOISES[:2] if options.quick else _NOISES)
        for person, a0 in enumerate(_A0)
    ]


_WHO = {"published search": "the published search", "bayes": "`bayes`"}
_NOISE_WORDS = {
    "none": "never errs",
    "logit:0.95": "right on .95 of random pairs",
    "logit:0.9": "right on .90 of random pairs",
}


def _study_report(results: Mapping[str, Any]) -> Iterator[Finding]:
    noises = [noise for noise in _NOISES if f"bayes, {noise}, 0" in results]
    for person, a0 in enumerate(_A0):
        for procedure in _SETTINGS:
            one = results[f"{procedure}, none, {person}"]
            yield Row(
                f"person {person + 1}, {procedure}: a0",
                a0,
                float(np.mean(one["a0"])),
                f"Simulated with the published weight and without errors; {one['questions']} questions.",
                3,
            )
    published = float(np.mean(_AGREEMENT))
    curves = [Curve("published", range(1, 11), _AGREEMENT, "published", marks=True)]
    for procedure in _SETTINGS:
        for noise in noises:
            people = [results[f"{procedure}, {noise}, {person}"] for person in range(len(_A0))]
            judged = [100 * float(np.mean(one["judged"])) for one in people]
            who = f"{procedure}, {_NOISE_WORDS[noise]}"
            yield from _agreement_rows(who, people, published)
            if noise != "none":
                curves.append(Curve(who, range(1, 11), judged, "series", marks=True))
    yield Panel("agreement on 15 later pairs", "person", "%", tuple(curves))
    yield (
        "Simulated on the bundled breast cancer study, because the user study's own curve of classifiers is not "
        "published. The published search asks about plug-in confusions, `bayes` about counted ones."
    )
    yield (
        f"The published mean is {published:.1f} %; individual people range from 73 to 100. "
        f"{_agreement_in_words(results, noises)} With 15 pairs, a share varies by 6 to 8 points by chance alone."
    )


def _agreement_rows(who: str, people: list[dict[str, Any]], published: float) -> list[Row]:
    """Return the agreement of ten people with their elicited metrics on 15 pairs, and of the true metric on many."""
    singles = [100 * value for one in people for value in one["judged"]]
    error = mean_and_error([100 * float(np.mean(one["judged"])) for one in people])[1]
    low, high = range_of_draws(singles)
    many, many_error = mean_and_error([100 * value for one in people for value in one["agreement"]])
    why = (
        f"People also err on the 15 pairs, at an unknown rate. 90 % of ours lie between {low:.0f} and {high:.0f}, the "
        f"published ten between 73 and 100. Standard error over the ten people {error:.1f}."
    )
    true = f"{who}: agreement with the true metric on random pairs, %"
    return [
        Row(f"{who}: mean agreement on 15 pairs, %", published, float(np.mean(singles)), why, 1),
        Row(true, None, many, f"Standard error {many_error:.1f}.", 1),
    ]


def _agreement_in_words(results: Mapping[str, Any], noises: Sequence[str]) -> str:
    """Return the mean agreement of people who err, by procedure, in sentences."""
    sentences = []
    for procedure in _SETTINGS:
        means = []
        for noise in noises[1:]:
            people = [np.mean(results[f"{procedure}, {noise}, {person}"]["judged"]) for person in range(len(_A0))]
            means.append(f"{100 * float(np.mean(people)):.0f} % for people {_NOISE_WORDS[noise]}")
        sentences.append(f"With {_WHO[procedure]}, agreement is {' and '.join(means)}.")
    return " ".join(sentences)


EXPERIMENTS = (
    Experiment("binary-2019", "Binary elicitation", f"{_BINARY_PAPER}, appendix A", _binary_parts, _binary_report),
    Experiment("quadratic-2022", "Quadratic metrics", _QUADRATIC_PAPER, _quadratic_parts, _quadratic_report),
    Experiment(
        "user-study-2022",
        "The user study, with simulated people",
        f"{_STUDY_PAPER}, user study",
        _study_parts,
        _study_report,
    ),
)
