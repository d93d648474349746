"""Oracles: who is right how often, and what a vote does."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elicit_app.elicitation.oracles import (
    BoundedNoiseOracle,
    FlipOracle,
    LinearOracle,
    LogitOracle,
    MajorityOracle,
    Matching,
    PopulationOracle,
    RecordedOracle,
    UtilityOracle,
    WobblingOracle,
    majority,
)
from elicit_app.elicitation.questions import Answer, Asked, Choice, Moved, Proposal, Question, Strength
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


def test_a_difference_as_large_as_the_bound_is_still_within_it():
    oracle = BoundedNoiseOracle(lambda rates: rates[0, 0], 0.25, np.random.default_rng(0))
    first, second = np.array([[0.5, 0], [0.25, 0.25]]), np.array([[0.25, 0.25], [0.25, 0.25]])
    assert {oracle.answer(Question(first, second)).choice for _ in range(40)} == {Choice.FIRST, Choice.SECOND}


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


def trade(at_once: bool = True, side: str = "second", most: int = 450) -> Question:
    """40 of one mistake against a count of the other that may be moved."""
    first, second = np.array([[460, 40], [0, 500]]), np.array([[500, 0], [100, 400]])
    true, predicted = (1, 0) if side == "second" else (0, 1)
    start = 100 if side == "second" else 40
    return Question(first, second, 1000, proposal=Proposal(side, true, predicted, start, 0, most, at_once))


def costs(first: float, second: float) -> np.ndarray:
    return -np.array([[0.0, first], [second, 0.0]])


@pytest.mark.parametrize(("weights", "count"), [(costs(5, 1), 200), (costs(1, 1), 40), (costs(1, 4), 10)])
def test_a_linear_oracle_finds_the_count_that_its_costs_imply(weights, count):
    answer = LinearOracle(weights).answer(trade())
    assert answer.choice is Choice.EQUAL
    assert answer.moved == Moved("second", 1, 0, count, 100)
    moved = trade().moved(answer.moved)
    assert abs(float((weights * (moved.rates[0] - moved.rates[1])).sum())) < 1e-9


def test_the_moved_side_may_be_the_first():
    answer = LinearOracle(costs(2, 1)).answer(trade(side="first"))
    assert answer.moved == Moved("first", 0, 1, 50, 40)


def test_beyond_the_scale_an_equal_point_is_only_bounded():
    answer = LinearOracle(costs(100, 1)).answer(trade(most=250))
    assert (answer.choice, answer.moved.count) == (Choice.SECOND, 250)


@pytest.mark.parametrize(
    ("ratio", "choice", "count"), [(2, Choice.EQUAL, 2), (6, Choice.EQUAL, 1), (20, Choice.FIRST, 1)]
)
def test_even_the_least_count_may_be_worse(ratio, choice, count):
    """Against 4 of one mistake, of which the other counts for 2, 6 or 20."""
    first, second = np.array([[496, 4], [0, 500]]), np.array([[500, 0], [20, 480]])
    question = Question(first, second, 1000, proposal=Proposal("second", 1, 0, 20, 1, 300, True))
    answer = LinearOracle(costs(1, ratio)).answer(question)
    assert (answer.choice, answer.moved.count) == (choice, count)


def test_without_being_asked_for_a_count_it_chooses():
    answer = LinearOracle(costs(5, 1)).answer(trade(at_once=False))
    assert (answer.choice, answer.moved) == (Choice.SECOND, None)


@pytest.mark.parametrize(
    ("matching", "count"),
    [
        (Matching(rounded=True), 200),
        (Matching(shrink=0.5), round(40 * 5**0.5)),
        (Matching(shrink=0.5, rounded=True), 100),
    ],
)
def test_how_people_match_counts(matching, count):
    weights = costs(5, 1)
    oracle = UtilityOracle(lambda matrix: float((weights * matrix).sum()), matching=matching)
    assert oracle.answer(trade()).moved.count == count


@given(st.floats(0.5, 900))
def test_rounded_counts_are_what_people_say(count):
    oracle = UtilityOracle(LinearOracle(costs(count, 40)).utility, matching=Matching(rounded=True))
    said = oracle.answer(trade()).moved.count
    assert said == 450 or said in {step * ten for step in (1, 2, 3, 5) for ten in (1, 10, 100)}


@pytest.mark.parametrize("spread", [0.3, 0.6])
def test_equal_points_are_off_by_the_stated_error_or_by_that_of_the_weights(spread):
    rng = np.random.default_rng(3)
    exact = LinearOracle(costs(2, 1)).utility

    def wobbled():
        one, other = np.exp(spread / np.sqrt(2) * rng.standard_normal(2))
        return LinearOracle(costs(2 * one, other)).utility

    for oracle in (
        WobblingOracle(exact, wobbled),
        UtilityOracle(exact, matching=Matching(spread), rng=rng),
        WobblingOracle(exact, wobbled, matching=Matching(spread), rng=rng),
    ):
        logs = np.log([oracle.answer(trade()).moved.count / 80 for _ in range(800)])
        assert np.mean(logs) == pytest.approx(0, abs=0.05)
        assert np.std(logs) == pytest.approx(spread, abs=0.04)


def test_errors_of_equal_points_are_not_drawn_from_a_seed_nobody_chose():
    with pytest.raises(ValueError, match="generator"):
        UtilityOracle(LinearOracle(costs(2, 1)).utility, matching=Matching(0.3))


def test_a_slip_names_any_count_of_the_scale():
    oracle = FlipOracle(LinearOracle(costs(5, 1)), 1.0, np.random.default_rng(0))
    counts = [oracle.answer(trade()).moved.count for _ in range(300)]
    assert 1 <= min(counts) < 5
    assert 300 < max(counts) <= 450


def test_voters_name_the_middle_count():
    voters = [LinearOracle(costs(ratio, 1)) for ratio in (1, 2, 100)]
    assert PopulationOracle(voters).answer(trade()).moved.count == 80
    even_one = Proposal("second", 1, 0, 100, 1, 450, True)
    voters = [LinearOracle(costs(ratio, 1)) for ratio in (1e-3, 1e-3, 1)]
    answer = PopulationOracle(voters).answer(replace(trade(), proposal=even_one))
    assert (answer.choice, answer.moved.count) == (Choice.FIRST, 1), "two of three say that even one is worse"


def test_a_recorded_equal_point_is_given_again_in_either_order():
    question = trade()
    asked = Asked(question, LinearOracle(costs(5, 1)).answer(question))
    again = RecordedOracle([asked]).answer(question.swapped())
    assert again.moved == Moved("first", 1, 0, 200, 100)


@pytest.mark.parametrize("bad", [{"error": -1.0}, {"shrink": 0.0}])
def test_matching_that_cannot_be_is_refused(bad):
    with pytest.raises(Problem):
        Matching(**bad)


def test_who_minds_neither_mistake_names_no_count_whatever_stands_there():
    assert LinearOracle(costs(0, 0)).answer(trade()) == Answer(Choice.EQUAL)
    assert MajorityOracle(LinearOracle(costs(0, 0)), 3).answer(trade()) == Answer(Choice.EQUAL)
    assert LinearOracle(costs(1, 0)).answer(trade()).choice is Choice.SECOND, "no count of what is not minded is enough"
