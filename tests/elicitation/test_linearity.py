"""Rivals of linear costs: what tells them apart, and what does not."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from elicit_app.elicitation import LPM, Bayes, Cases, LinearOracle, run
from elicit_app.elicitation.belief import ParticlePosterior
from elicit_app.elicitation.linearity import BAYES_FACTORS, MOSTLY_KEPT, Linearity, check_linearity
from elicit_app.elicitation.oracles import UtilityOracle
from elicit_app.elicitation.prior import WeightPrior, relative_weights
from elicit_app.elicitation.questions import Answer, Asked, Choice, Moved, Proposal, Question
from elicit_app.elicitation.response import N_PARAMETERS, ResponseModel, evidence
from elicit_app.elicitation.sampler import annealing
from metrics.batches import completed

PRIOR = WeightPrior.of("lpm", 3)
CASES = 900
COSTS = np.array([[0.0, 1.0, 0.4], [0.5, 0.0, 0.2], [0.8, 0.3, 0.0]])


def matrices(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return counts (n, 3, 3) of classes of 300 cases that are mostly right."""
    found = np.zeros((n, 3, 3), dtype=np.int64)
    for matrix in found:
        for row in range(3):
            matrix[row] = np.roll(rng.multinomial(300, rng.dirichlet([6, 1.5, 1.0])), row)
    return found


def power(costs: np.ndarray, exponent: float):
    return lambda counts: -float((costs * counts**exponent).sum())


def f1(counts: np.ndarray) -> float:
    return float((2 * np.diagonal(counts) / (counts.sum(axis=0) + counts.sum(axis=1))).mean())


def answers(utility, questions: list[Question]) -> list[Asked]:
    return [
        Asked(question, Answer(Choice.FIRST if utility(question.first) > utility(question.second) else Choice.SECOND))
        for question in questions
    ]


def at_random(n: int, seed: int) -> list[Question]:
    rng = np.random.default_rng(seed)
    pairs = matrices(2 * n, rng).reshape(n, 2, 3, 3)
    return [Question(*pair, CASES) for pair in pairs]


def on_a_base(n: int, seed: int) -> list[Question]:
    """Return trades of two mistakes near indifference under COSTS, with a base of twice the amount of the first."""
    rng = np.random.default_rng(seed)
    cells = [(i, j) for i in range(3) for j in range(3) if i != j]
    found = []
    while len(found) < n:
        one, other = (cells[place] for place in rng.choice(6, 2, replace=False))
        amount = int(rng.integers(15, 45))
        against = round(amount * COSTS[one] / COSTS[other] * np.exp(rng.uniform(-0.7, 0.3)))
        if not 5 <= against <= 150:
            continue
        sides = []
        for (true, predicted), more in ((one, amount), (other, against)):
            side = np.diag([300, 300, 300])
            for (row, column), count in ((one, 2 * amount), ((true, predicted), more)):
                side[row, column] += count
                side[row, row] -= count
            sides.append(side)
        found.append(Question(sides[0], sides[1], CASES))
    return found


def counts(n: int, seed: int, sizes: tuple[int, int, int] = (300, 300, 300)) -> list[Question]:
    """Return trades of a mistake of one class for one of another, of which one is to be moved until both are equal."""
    usual = np.array([[270, 20, 10], [15, 275, 10], [20, 15, 265]]) * np.array(sizes)[:, None] // 300
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        true, other = rng.choice(3, 2, replace=False)
        sides = []
        for row in (true, other):
            more = int(rng.integers(20, 90)) * sizes[row] // 300
            side = usual.copy()
            side[row, (row + 1) % 3] += more
            side[row, row] -= more
            sides.append(side)
        cell = int(other), int(other + 1) % 3
        base = int(sides[0][cell])
        room = 140 * sizes[other] // 300
        proposal = Proposal("second", *cell, base + 5, base, base + room, at_once=True)
        found.append(Question(*sides, int(usual.sum()), proposal=proposal))
    return found


def worst_recall(rates: np.ndarray) -> float:
    return float((np.diagonal(rates) / rates.sum(axis=1)).min())


def limited(rates: np.ndarray) -> float:
    missed = 1 - rates[0, 0] / rates[0].sum()
    return float(-(COSTS * rates).sum() if missed <= 0.15 else -2 - missed)


def checked(history: list[Asked], seed: int = 1) -> Linearity:
    rng = np.random.default_rng([seed, 7])
    typical = matrices(80, rng) / CASES
    gains = PRIOR.gain(*np.split(typical[rng.permutation(80)], 2))
    response = ResponseModel.of_people(PRIOR, gains, rng)
    said = evidence(history, PRIOR)

    def log_likelihood(draws: np.ndarray) -> np.ndarray:
        weights, person = (
            relative_weights(PRIOR.log_weights(draws[:, : PRIOR.size])),
            response.person(draws[:, PRIOR.size :]),
        )
        return response.log_likelihood(weights, person, said).sum(axis=1)

    log_evidence, draws = completed(
        annealing(rng.standard_normal((600, PRIOR.size + N_PARAMETERS)), log_likelihood, rng)
    )
    belief = ParticlePosterior(PRIOR, response, draws, 400.0)
    return check_linearity(history, belief, log_evidence, typical, typical[:3], rng)


class TestRivals:
    @pytest.mark.parametrize("seed", [1, 2, 3])
    def test_linear_costs_are_not_accused(self, seed):
        found = checked(answers(power(COSTS, 1.0), at_random(20, seed)), seed)
        assert found.rival is None
        assert found.probabilities["linear"] > 0.5

    @pytest.mark.parametrize("seed", [1, 2, 3])
    def test_who_minds_all_mistakes_equally_is_not_taken_for_f1(self, seed):
        person = UtilityOracle(np.trace)
        found = checked([Asked(question, person.answer(question)) for question in counts(14, seed)], seed)
        assert found.rival is None, found.log_bayes_factors

    def test_a_person_of_f1_is_named(self):
        assert checked(answers(f1, at_random(30, 4))).rival == "f1"

    @pytest.mark.parametrize(
        ("utility", "rival"), [(worst_recall, "minimax"), (limited, "threshold"), (power(COSTS, 1.0), None)]
    )
    def test_counts_tell_who_goes_by_what(self, utility, rival):
        self.told(utility, counts(14, 8), rival)

    def test_a_limit_that_nothing_shown_keeps_is_not_named(self):
        """Only one class counted then, which linear costs of its mistakes alone say as well."""
        person = UtilityOracle(limited)
        found = checked([Asked(question, person.answer(question)) for question in counts(14, 8)])
        assert found.limit_kept_probability > MOSTLY_KEPT
        assert found.rival == "threshold"
        assert replace(found, limit_kept_probability=0.2).rival is None
        assert replace(found, limit_kept_probability=0.2).log_over_linear < found.log_over_linear

    def test_f1_is_told_from_equal_costs_where_classes_differ_in_size(self):
        self.told(f1, counts(14, 8, (600, 240, 60)), "f1")
        same = counts(14, 8)
        assert [UtilityOracle(f1).answer(one).moved.count for one in same] == pytest.approx(
            [UtilityOracle(np.trace).answer(one).moved.count for one in same], abs=1
        )
        self.told(f1, same, None)

    @staticmethod
    def told(utility, questions, rival):
        person = UtilityOracle(utility)
        found = checked([Asked(question, person.answer(question)) for question in questions])
        assert found.rival == rival, found.log_bayes_factors
        assert (found.log_over_linear > 0) == (rival is not None)

    def test_felt_counts_show_on_a_common_base(self):
        questions = [*at_random(12, 5), *on_a_base(14, 6)]
        curved = checked(answers(power(COSTS**0.6, 0.6), questions)).log_bayes_factors["concave"]
        straight = checked(answers(power(COSTS, 1.0), questions)).log_bayes_factors["concave"]
        assert curved > straight + np.log(BAYES_FACTORS["concave"])

    def test_without_answers_nothing_is_known(self):
        found = checked([])
        assert found.rival is None
        np.testing.assert_allclose(list(found.log_bayes_factors.values()), 0, atol=1e-9)
        assert found.probabilities["linear"] == pytest.approx(0.8)

    def test_an_equal_point_and_cannot_say_are_taken(self):
        question = on_a_base(1, 3)[0]
        cell = tuple(np.argwhere((question.first > question.second) & ~np.eye(3, dtype=bool))[0])
        count = int(question.first[cell])
        moved = Answer(Choice.EQUAL, moved=Moved("first", int(cell[0]), int(cell[1]), count, count))
        found = checked([Asked(question, moved), Asked(question, Answer(Choice.UNSURE))])
        assert all(np.isfinite(value) for value in found.log_bayes_factors.values())


class TestARareClass:
    """Screening: in .4 % of the cases a miss costs hundreds of false alarms."""

    @pytest.mark.parametrize("ratio", [300.0, 1_000.0])
    def test_linear_people_are_not_taken_for_others_who_need_no_weights(self, ratio):
        rng = np.random.default_rng(7)
        well = rng.random(20_000) >= 0.004
        ill = expit(2.6 * (rng.standard_normal(20_000) + np.where(well, 0.0, 2.6)) - 8.9)
        cases = Cases.counted(well.astype(int), np.column_stack([ill, 1 - ill]))
        bayes = Bayes([cases], family="lpm", seed=1, population=100_000, questions=14, answers="choice")
        _, asked = run(bayes, LinearOracle(LPM.weight_matrix(LPM.normalise(np.array([-ratio, -1.0])))))
        found = bayes.linearity(asked)
        assert found.rival is None, found.log_bayes_factors


class TestBestModel:
    def test_it_is_a_mixture_of_what_linear_costs_and_rivals_say(self):
        found = Linearity({"f1": 0.0, "concave": 0.0}, {"f1": np.array([1.0, 0.0]), "concave": np.array([0.5, 0.5])})
        assert sum(found.probabilities.values()) == pytest.approx(1)
        np.testing.assert_allclose(found.probability_best(np.array([0.0, 1.0])), [0.1 + 0.05, 0.8 + 0.05])

    def test_a_sure_rival_decides(self):
        found = Linearity({"f1": 1e4}, {"f1": np.array([1.0, 0.0])})
        np.testing.assert_allclose(found.probability_best(np.array([0.0, 1.0])), [1.0, 0.0], atol=1e-12)
