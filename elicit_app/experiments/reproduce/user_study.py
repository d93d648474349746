"""The user study of 2022 with simulated people: the published search against `bayes`, and agreement on 15 pairs.

Source: [A22] Ali, Upadhyay, Hiranandani, Glassman & Koyejo, "Metric Elicitation; Moving from Theory to Practice", 2022:
ten people, breast cancer, a metric a0 TN + (1 - a0) TP, tolerance .05; each judged 15 more random pairs afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from elicit_app.elicitation import Choice, Question
from elicit_app.experiments.measures import JudgedPairs
from elicit_app.experiments.people import Noise
from elicit_app.experiments.reproduce.shape import (
    Curve,
    Experiment,
    Findings,
    Options,
    Panel,
    Part,
    Row,
    mean_and_error,
)
from elicit_app.experiments.simulation import Experts, Laboratory
from elicit_app.experiments.truths import Metric, Values
from elicit_app.registry import setting_of
from elicit_app.study.opening import open_study
from metrics.elicited.metric_parts import range_of_draws

_PAPER = "Ali et al. 2022"
_A0 = (0.125, 0.141, 0.125, 0.141, 0.328, 0.031, 0.031, 0.359, 0.125, 0.141)
_AGREEMENT = (87, 100, 93, 100, 73, 87, 100, 87, 93, 87)
_NOISES = ("none", "logit:0.95", "logit:0.9")
_JUDGED, _SITTINGS = 15, 20  # pairs judged at a time, and how often that is repeated
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
    """Return what a person's metric comes to in several runs, and agreement on 15 and on many later pairs."""
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
    """Return shares of 15 later pairs on which the person, who errs as before, and the elicited metric agree."""
    chance = np.random.default_rng([seed, 12, number])
    true = laboratory.truth(chance)
    pairs = JudgedPairs.draw(true, laboratory.achievable, chance, _JUDGED * _SITTINGS)
    oracle = laboratory.experts.oracle(true, pairs, chance)
    prefers_first = [
        oracle.answer(Question.of_rates(first, second, None)).choice is Choice.FIRST
        for first, second in zip(pairs.first, pairs.second, strict=True)
    ]
    agreed = np.array(prefers_first) == (elicited(pairs.first) > elicited(pairs.second))
    return [float(share) for share in agreed.reshape(_SITTINGS, _JUDGED).mean(axis=1)]


def _parts(options: Options) -> list[Part]:
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


def _report(results: Mapping[str, Any]) -> Findings:
    noises = [noise for noise in _NOISES if f"bayes, {noise}, 0" in results]
    rows = []
    for person, a0 in enumerate(_A0):
        for procedure in _SETTINGS:
            one = results[f"{procedure}, none, {person}"]
            rows.append(
                Row(
                    f"person {person + 1}, {procedure}: a0",
                    a0,
                    float(np.mean(one["a0"])),
                    f"Simulated with the published weight, never errs; {one['questions']} questions.",
                    3,
                )
            )
    published = float(np.mean(_AGREEMENT))
    curves = [Curve("published", range(1, 11), _AGREEMENT, "published", marks=True)]
    for procedure in _SETTINGS:
        for noise in noises:
            people = [results[f"{procedure}, {noise}, {person}"] for person in range(len(_A0))]
            judged = [100 * float(np.mean(one["judged"])) for one in people]
            who = f"{procedure}, {_NOISE_WORDS[noise]}"
            rows += _agreement_rows(who, people, published)
            if noise != "none":
                curves.append(Curve(who, range(1, 11), judged, "series", marks=True))
    return Findings(
        tuple(rows),
        (Panel("agreement on 15 later pairs", "person", "%", tuple(curves)),),
        (
            "The bundled breast cancer study; the study's own curve of classifiers is not published. Questions of the "
            "published search come from plug-in confusions, those of bayes are counted.",
            f"The published mean is {published:.1f} %, with 73 to 100 for single people. {_in_words(results, noises)} "
            "With 15 pairs a share wanders by 6 to 8 points by itself.",
        ),
    )


def _agreement_rows(who: str, people: list[dict[str, Any]], published: float) -> list[Row]:
    """Return how often ten people and their elicited metrics agree on 15 pairs, and the true metric on many."""
    singles = [100 * value for one in people for value in one["judged"]]
    error = mean_and_error([100 * float(np.mean(one["judged"])) for one in people])[1]
    low, high = range_of_draws(singles)
    many, many_error = mean_and_error([100 * value for one in people for value in one["agreement"]])
    why = (
        f"People err on the 15 pairs too, and how often is not known; 90 % of ours lie in {low:.0f} to {high:.0f}, the "
        f"published ten in 73 to 100. Standard error over the ten people {error:.1f}."
    )
    true = f"{who}: agreement with the true metric on random pairs, %"
    return [
        Row(f"{who}: mean agreement on 15 pairs, %", published, float(np.mean(singles)), why, 1),
        Row(true, None, many, f"Standard error {many_error:.1f}.", 1),
    ]


def _in_words(results: Mapping[str, Any], noises: Sequence[str]) -> str:
    """Return the mean agreement of people who err, by procedure, in sentences."""
    sentences = []
    for procedure in _SETTINGS:
        means = []
        for noise in noises[1:]:
            people = [np.mean(results[f"{procedure}, {noise}, {person}"]["judged"]) for person in range(len(_A0))]
            means.append(f"{100 * float(np.mean(people)):.0f} % where they are {_NOISE_WORDS[noise]}")
        sentences.append(f"Asked by {_WHO[procedure]}, people come to {' and '.join(means)}.")
    return " ".join(sentences)


EXPERIMENTS = (
    Experiment("user-study-2022", "The user study, with simulated people", f"{_PAPER}, user study", _parts, _report),
)
