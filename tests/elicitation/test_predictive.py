"""How well answers were foretold, set against who clicks without looking."""

from itertools import product

import numpy as np
import pytest

from elicit_app.elicitation.belief import ParticlePosterior
from elicit_app.elicitation.predictive import (
    PredictiveScores,
    evidence_against_chance,
    likely_answers,
    predictive_scores,
    random_count_probability,
)
from elicit_app.elicitation.prior import WeightPrior
from elicit_app.elicitation.questions import Answer, Asked, Choice, Moved, Proposal, Question, Strength
from elicit_app.elicitation.response import ResponseModel

PRIOR = WeightPrior.of("dlpm", 2)
PAIR = Question(np.array([[60, 40], [10, 90]]), np.array([[90, 10], [30, 70]]), 200)
COUNT = Question(PAIR.first, PAIR.second, 200, proposal=Proposal("second", 1, 0, 30, 10, 90, at_once=True))


def named(count: int, choice: Choice = Choice.EQUAL) -> Asked:
    return Asked(COUNT, Answer(choice, moved=Moved("second", 1, 0, count, 30)))


@pytest.fixture(scope="module")
def belief() -> ParticlePosterior:
    rng = np.random.default_rng(1)
    response = ResponseModel.of_people(PRIOR, rng.normal(size=(100, 2)), rng)
    return ParticlePosterior.from_prior(PRIOR, response, 500, rng)


def test_what_says_nothing_scores_nothing(belief):
    assert predictive_scores(Asked(PAIR, Answer(Choice.UNSURE)), belief) == (0, 0)
    log_probability, log_ratio_to_chance = predictive_scores(Asked(PAIR, Answer(Choice.EQUAL)), belief)
    assert log_probability < 0
    assert log_ratio_to_chance == 0


def test_about_equal_counts_where_it_was_less_likely_than_this_person_says_it(belief):
    """Said in one of four choices, it is evidence of four answers: log2 of p over 1/4, and of 1 - p over 3/4."""

    def bits(*answers):
        history = [Asked(PAIR, answer) for answer in answers]
        scores = PredictiveScores(*np.transpose([predictive_scores(asked, belief) for asked in history]))
        return evidence_against_chance(history, scores, belief, belief, None).others

    side, tie = Answer(Choice.FIRST), Answer(Choice.EQUAL)
    probability = np.exp(predictive_scores(Asked(PAIR, tie), belief)[0])
    expected = np.log2(4 * probability) + 3 * np.log2(4 / 3 * (1 - probability))
    assert bits(side, side, side, tie) - bits(side, side, side) == pytest.approx(expected)
    graded = Answer(Choice.FIRST, Strength.CLEARLY)
    assert bits(side, side, side, tie, graded) - bits(side, side, side, graded) == pytest.approx(expected)


def test_it_may_be_said_every_time(belief):
    history = [Asked(PAIR, Answer(Choice.EQUAL))] * 3 + [named(30)]
    scores = PredictiveScores(*np.transpose([predictive_scores(asked, belief) for asked in history]))
    assert np.isfinite(evidence_against_chance(history, scores, belief, belief, None).total)


def test_the_more_counts_are_left_where_they_stood_the_likelier_are_they_by_chance(belief):
    def bits(left: int) -> float:
        """Return the evidence of where six counts lie on a scale from 10 to 90, some of them beside the start, 30."""
        history = [named(31)] * left + [named(80)] * (6 - left)
        scores = PredictiveScores(*np.transpose([predictive_scores(asked, belief) for asked in history]))
        found = evidence_against_chance(history, scores, belief, belief, None).others
        return float(found - scores.log_ratio_to_chance.sum() / np.log(2))

    found = [bits(left) for left in range(7)]
    assert found[0] - found[1] < 0.2, "one may be luck"
    assert all(found[2:] < np.array(found[1:-1]))
    assert found[0] - found[6] > 5


def test_both_sides_together_are_as_probable_as_by_chance(belief):
    both = [predictive_scores(Asked(PAIR, Answer(choice)), belief) for choice in (Choice.FIRST, Choice.SECOND)]
    log_probability, log_ratio_to_chance = np.array(both).T
    assert np.exp(log_ratio_to_chance).mean() == pytest.approx(1)
    equal = belief.answer_probabilities(PRIOR.gain(*PAIR.rates)[None])[2].mean()
    assert np.exp(log_probability).sum() == pytest.approx(1 - equal)


def test_a_count_is_set_against_any_place_of_its_scale(belief):
    # Rungs of 30: from sqrt(20 * 30) to sqrt(30 * 50), on a scale from 9.5 to 90.5.
    assert random_count_probability(named(30)) == pytest.approx(np.log(np.sqrt(50 / 20)) / np.log(90.5 / 9.5))
    log_probability, log_ratio_to_chance = predictive_scores(named(30), belief)
    assert log_ratio_to_chance == pytest.approx(log_probability - np.log(random_count_probability(named(30))))


NO_COUNTS = (named(90, Choice.SECOND), named(10, Choice.FIRST))


@pytest.mark.parametrize("asked", NO_COUNTS)
def test_no_count_is_said_at_either_end_alike_by_chance(belief, asked):
    log_probability, log_ratio_to_chance = predictive_scores(asked, belief)
    assert log_ratio_to_chance == pytest.approx(log_probability - np.log(0.5))


def test_the_probabilities_of_all_replies_by_chance_sum_to_one(belief):
    """Else people are suspected, or trusted, for being asked for counts."""

    def by_chance(history: list[Asked]) -> float:
        scores = np.array([predictive_scores(asked, belief) for asked in history])
        found = evidence_against_chance(history, PredictiveScores(*scores.T), belief, belief, None)
        return float(np.exp(scores[:, 0].sum() - found.total * np.log(2.0)))

    # Rounded counts that cover the scale nearly without gaps: 50 stands for 39 to 70, 80 for 75 to 85.
    replies = [*NO_COUNTS, *(named(count) for count in (10, 20, 30, 50, 71, 72, 73, 74, 80, 90))]
    # 30, where the count stood, stands for more than is taken to be left there: hence up to .03 and .06.
    assert sum(by_chance([reply]) for reply in replies) == pytest.approx(1, abs=0.03)
    assert sum(by_chance(list(two)) for two in product(replies, repeat=2)) == pytest.approx(1, abs=0.06)
    # Who never finds a count, or always does, clicks by chance as well as who does so one time in four.
    assert by_chance([NO_COUNTS[0]] * 3) > (1 / 4 / 2) ** 3


@pytest.mark.parametrize("better", [Choice.FIRST, Choice.SECOND])
def test_a_preference_at_a_count_within_the_scale_is_a_choice_of_what_was_shown(belief, better):
    moved = named(60, better)
    plain = Asked(moved.shown, Answer(better))
    assert predictive_scores(moved, belief) == pytest.approx(predictive_scores(plain, belief))


@pytest.mark.parametrize("better_first", [True, False])
def test_answers_come_in_the_order_of_their_probability(belief, better_first):
    sides = [PAIR.first, np.array([[50, 50], [30, 70]])]  # the first has fewer mistakes of both kinds
    question = Question(*(sides if better_first else sides[::-1]), 200)
    found = likely_answers(belief, question)
    assert set(found) == set(likely_answers(None, question))
    assert len(found) == 8
    assert found[0] == Answer(Choice.FIRST if better_first else Choice.SECOND)
    assert found[-1] == Answer(Choice.UNSURE)
    log_probability = [predictive_scores(Asked(question, answer), belief)[0] for answer in found[:-1]]
    assert log_probability == sorted(log_probability, reverse=True)
    assert Answer(Choice.SECOND if better_first else Choice.FIRST, Strength.CLEARLY) in found[-3:-1]
