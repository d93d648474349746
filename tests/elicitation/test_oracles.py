"""Oracles: who is right how often, and what a vote does."""

import numpy as np
import pytest

from elicit_app.elicitation.oracles import (
    BoundedNoiseOracle,
    FlipOracle,
    LinearOracle,
    LogitOracle,
    MajorityOracle,
    PopulationOracle,
    RecordedOracle,
    majority,
)
from elicit_app.elicitation.questions import Answer, Asked, Choice, Question, Strength
from elicit_app.problem import Problem

BETTER = np.array([[0.5, 0.0], [0.1, 0.4]])
WORSE = np.array([[0.4, 0.1], [0.1, 0.4]])
HITS = np.eye(2)


class Voice:
    """An oracle that always says the same."""

    def __init__(self, choice: Choice, strength: Strength | None = None) -> None:
        self.said = Answer(choice, strength)

    def answer(self, question: Question) -> Answer:
        return self.said


def hits(matrix: np.ndarray) -> float:
    return float(np.trace(matrix))


def share_right(oracle, n: int = 2000) -> float:
    return np.mean([oracle.answer(Question(BETTER, WORSE)).choice is Choice.FIRST for _ in range(n)])


def test_a_linear_oracle_prefers_the_greater_utility_and_sees_ties():
    oracle = LinearOracle(HITS)
    assert oracle.answer(Question(BETTER, WORSE)).choice is Choice.FIRST
    assert oracle.answer(Question(WORSE, BETTER)).choice is Choice.SECOND
    assert oracle.answer(Question(WORSE, WORSE)).choice is Choice.EQUAL


def test_strength_follows_the_difference():
    assert LinearOracle(HITS, clear=0.05).answer(Question(BETTER, WORSE)).strength is Strength.CLEARLY
    assert LinearOracle(HITS, clear=0.2).answer(Question(BETTER, WORSE)).strength is Strength.SLIGHTLY
    assert LinearOracle(HITS).answer(Question(BETTER, WORSE)).strength is None


@pytest.mark.parametrize("probability", [0.0, 0.1, 1.0])
def test_flips_come_as_often_as_said(probability):
    oracle = FlipOracle(LinearOracle(HITS), probability, np.random.default_rng(0))
    assert share_right(oracle) == pytest.approx(1 - probability, abs=0.03)


def test_logistic_noise_has_the_stated_probability():
    # u differs by 0.1; s = 20 gives 1 / (1 + exp(-2)) = .881.
    oracle = LogitOracle(hits, 20.0, np.random.default_rng(0), clear=0.1)
    assert share_right(oracle) == pytest.approx(0.881, abs=0.025)
    strengths = {oracle.answer(Question(BETTER, WORSE)).strength for _ in range(50)}
    assert strengths == {Strength.SLIGHTLY, Strength.CLEARLY}


def test_bounded_noise_is_a_coin_within_the_bound_and_right_beyond():
    rng = np.random.default_rng(0)
    assert share_right(BoundedNoiseOracle(hits, 0.2, rng)) == pytest.approx(0.5, abs=0.04)
    assert share_right(BoundedNoiseOracle(hits, 0.05, rng)) == 1


def test_a_majority_of_three_is_right_more_often():
    rng = np.random.default_rng(0)
    oracle = MajorityOracle(FlipOracle(LinearOracle(HITS), 0.2, rng), 3)
    assert share_right(oracle) == pytest.approx(0.8**3 + 3 * 0.8**2 * 0.2, abs=0.025)


def test_a_population_answers_by_majority():
    voters = [LinearOracle(HITS)] * 3 + [LinearOracle(-HITS)] * 2
    assert PopulationOracle(voters).answer(Question(BETTER, WORSE)).choice is Choice.FIRST
    many = [LogitOracle(hits, 5.0, np.random.default_rng(seed)) for seed in range(301)]
    assert share_right(PopulationOracle(many), 20) == 1


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("aab", Choice.FIRST),
        ("abb", Choice.SECOND),
        ("ab", Choice.EQUAL),
        ("ee", Choice.EQUAL),
        ("aee", Choice.FIRST),
        ("uu", Choice.UNSURE),
        ("uub", Choice.SECOND),
    ],
)
def test_votes_are_counted(said, wanted):
    kinds = {"a": Choice.FIRST, "b": Choice.SECOND, "e": Choice.EQUAL, "u": Choice.UNSURE}
    assert majority([Answer(kinds[one]) for one in said]).choice is wanted


def test_the_winning_side_gives_the_strength():
    clearly, slightly = Answer(Choice.FIRST, Strength.CLEARLY), Answer(Choice.FIRST, Strength.SLIGHTLY)
    assert majority([clearly, clearly, slightly]).strength is Strength.CLEARLY
    assert majority([clearly, slightly]).strength is Strength.SLIGHTLY
    assert majority([Voice(Choice.FIRST).said]).strength is None


def test_a_record_answers_again_in_either_order_and_refuses_anything_else():
    record = [
        Asked(Question(BETTER, WORSE), Answer(Choice.UNSURE)),
        Asked(Question(BETTER, WORSE), Answer(Choice.FIRST, Strength.CLEARLY)),
    ]
    oracle = RecordedOracle(record)
    assert oracle.answer(Question(BETTER, WORSE)).choice is Choice.UNSURE
    swapped = oracle.answer(Question(WORSE, BETTER))
    assert (swapped.choice, swapped.strength) == (Choice.SECOND, Strength.CLEARLY)
    with pytest.raises(Problem, match="no \\(further\\) answer"):
        oracle.answer(Question(BETTER, WORSE))


@pytest.mark.parametrize(
    "build",
    [
        lambda rng: FlipOracle(LinearOracle(HITS), 1.5, rng),
        lambda rng: LogitOracle(hits, 0.0, rng),
        lambda rng: BoundedNoiseOracle(hits, -1.0, rng),
        lambda rng: PopulationOracle([]),
        lambda rng: MajorityOracle(LinearOracle(HITS), 0),
    ],
)
def test_noise_that_is_none_is_refused(build):
    with pytest.raises(Problem):
        build(np.random.default_rng(0))
