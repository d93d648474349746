"""How answers come about: laws of the response model and of the evidence it is fed."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elicit_app.elicitation.prior import WeightPrior
from elicit_app.elicitation.questions import Answer, Asked, Choice, Purpose, Question, Strength
from elicit_app.elicitation.response import Person, ResponseModel, evidence, sigmoid

SEEDS = st.integers(0, 2**20)
PLAIN = (Answer(Choice.FIRST), Answer(Choice.SECOND), Answer(Choice.EQUAL))
GRADED = (
    Answer(Choice.FIRST, Strength.SLIGHTLY),
    Answer(Choice.FIRST, Strength.CLEARLY),
    Answer(Choice.SECOND, Strength.SLIGHTLY),
    Answer(Choice.SECOND, Strength.CLEARLY),
    Answer(Choice.EQUAL),
)
KINDS = {False: PLAIN, True: GRADED}
MODEL = ResponseModel(0.02)
PRIOR = WeightPrior.of("lpm", 3)


def people(seed: int, n: int = 40, model: ResponseModel = MODEL) -> Person:
    return model.person(np.random.default_rng(seed).standard_normal((n, 4)))


def one(latent: np.ndarray, graded: bool = False, tie: float = 0.5, gap: float = 1.5, lapse: float = 0.0) -> np.ndarray:
    """Return the chances (answers, pairs) of one person."""
    person = Person(*(np.array([value]) for value in (1.0, tie, gap, lapse)))
    return MODEL.chances(latent[None], person, graded)[:, 0]


def pair(rng: np.random.Generator) -> Question:
    prevalence = rng.dirichlet(np.ones(3))
    a, b = prevalence[:, None] * rng.dirichlet(np.ones(3), size=(2, 3))
    return Question(a, b)


def swapped(answer: Answer) -> Answer:
    return replace(answer, choice=answer.choice.swapped())


class TestChances:
    @settings(deadline=None, max_examples=40)
    @given(SEEDS, st.booleans(), st.floats(0.01, 1000))
    def test_those_of_all_answers_sum_to_one(self, seed, graded, spread):
        rng = np.random.default_rng(seed)
        chances = MODEL.chances(spread * rng.standard_normal((40, 7)), people(seed), graded)
        assert chances.shape == (5 if graded else 3, 40, 7)
        assert chances.min() >= -1e-12
        np.testing.assert_allclose(chances.sum(axis=0), 1, atol=1e-12)

    @settings(deadline=None, max_examples=40)
    @given(SEEDS)
    def test_sides_are_alike(self, seed):
        latent = 3 * np.random.default_rng(seed).standard_normal((40, 7))
        for graded, mirror in ((False, [1, 0, 2]), (True, [2, 3, 0, 1, 4])):
            here, there = (MODEL.chances(sign * latent, people(seed), graded) for sign in (1, -1))
            np.testing.assert_allclose(there, here[mirror], atol=1e-12)

    @settings(deadline=None, max_examples=40)
    @given(SEEDS)
    def test_slightly_and_clearly_together_are_a_preference(self, seed):
        latent = 3 * np.random.default_rng(seed).standard_normal((40, 7))
        plain, graded = (MODEL.chances(latent, people(seed), kind) for kind in (False, True))
        np.testing.assert_allclose([graded[0] + graded[1], graded[2] + graded[3], graded[4]], plain, atol=1e-12)

    @settings(deadline=None, max_examples=40)
    @given(SEEDS)
    def test_the_better_side_is_likelier(self, seed):
        latent = 3 * np.random.default_rng(seed).standard_normal((40, 7))
        a, b, _ = MODEL.chances(latent, people(seed))
        np.testing.assert_array_equal(a > b, latent > 0)

    @settings(deadline=None, max_examples=40)
    @given(st.floats(0.01, 3), st.floats(0.01, 5), st.floats(0, 0.5))
    def test_the_greater_the_difference_the_rarer_a_tie_and_the_likelier_clearly(self, tie, gap, lapse):
        latent = np.linspace(0, 20, 200)
        _, clearly, _, clearly_other, equal = one(latent, True, tie, gap, lapse)
        assert (np.diff(equal) <= 1e-12).all()
        assert (np.diff(clearly) >= -1e-12).all()
        assert (np.diff(clearly_other) <= 1e-12).all()
        assert equal[0] > equal[-1]

    @settings(deadline=None, max_examples=40)
    @given(st.floats(0.01, 3), st.floats(0.01, 5))
    def test_clearly_speaks_for_a_greater_difference_than_slightly(self, tie, gap):
        slightly, clearly, _, _, equal = one(np.linspace(-8, 8, 100), True, tie, gap)
        assert (np.diff(np.log(clearly / slightly)) > -1e-9).all()
        assert (np.diff(np.log(slightly / equal)) > -1e-9).all()

    def test_a_plain_person_is_the_logistic_one(self):
        latent = np.array([-2.0, 0.0, 1.5])
        a, b, equal = one(latent, tie=0.0)
        np.testing.assert_allclose(a, 1 / (1 + np.exp(-latent)))
        np.testing.assert_allclose(b, 1 - a)
        np.testing.assert_allclose(equal, 0, atol=1e-15)

    @settings(deadline=None, max_examples=40)
    @given(st.floats(-50, 50), st.booleans())
    def test_in_a_lapse_the_matrices_do_not_matter(self, latent, graded):
        here, nowhere = (one(np.array([value]), graded, lapse=1.0) for value in (latent, 0.0))
        np.testing.assert_allclose(here, nowhere)
        assert here.min() > 0
        np.testing.assert_allclose(here[0], here[2 if graded else 1])


class TestLikelihood:
    @settings(deadline=None, max_examples=40)
    @given(SEEDS, st.booleans())
    def test_it_is_the_chance_of_the_answer(self, seed, graded):
        rng = np.random.default_rng(seed)
        question, person = pair(rng), people(seed, 20)
        weights = np.exp(PRIOR.log_weights(rng.standard_normal((20, 6))))
        told = evidence([Asked(question, answer) for answer in KINDS[graded]], PRIOR)
        latent = person.sensitivity[:, None] * (weights @ PRIOR.gain(*question.rates)[:, None])
        chances = MODEL.chances(latent, person, graded)[:, :, 0]
        fit = MODEL.log_likelihood(weights, person, told)
        np.testing.assert_allclose(np.exp(fit), chances.T, rtol=1e-9, atol=1e-12)

    @settings(deadline=None, max_examples=40)
    @given(SEEDS, st.sampled_from([*PLAIN, *GRADED]))
    def test_the_same_answer_with_sides_swapped_says_the_same(self, seed, answer):
        rng = np.random.default_rng(seed)
        question = pair(rng)
        turned = Asked(question.swapped(), swapped(answer))
        weights = np.exp(PRIOR.log_weights(rng.standard_normal((20, 6))))
        here, there = (
            MODEL.log_likelihood(weights, people(seed, 20), evidence([asked], PRIOR))
            for asked in (Asked(question, answer), turned)
        )
        np.testing.assert_allclose(there, here, rtol=1e-9, atol=1e-12)

    @settings(deadline=None, max_examples=40)
    @given(SEEDS, st.floats(1e-4, 1e4))
    def test_the_unit_of_utility_does_not_matter(self, seed, unit):
        rng = np.random.default_rng(seed)
        told = evidence([Asked(pair(rng), answer) for answer in GRADED], PRIOR)
        weights, z = np.exp(PRIOR.log_weights(rng.standard_normal((20, 6)))), rng.standard_normal((20, 4))
        larger = replace(MODEL, scale=unit * MODEL.scale)
        np.testing.assert_allclose(
            larger.log_likelihood(weights, larger.person(z), told._replace(gain=unit * told.gain)),
            MODEL.log_likelihood(weights, MODEL.person(z), told),
            rtol=1e-7,
            atol=1e-9,
        )

    def test_nothing_is_impossible_and_nothing_overflows(self):
        told = evidence([Asked(pair(np.random.default_rng(1)), answer) for answer in GRADED], PRIOR)
        z = np.array([[50.0, -8, -8, -8], [-50, 8, 8, 8], [50, 8, 8, -40]])
        fit = MODEL.log_likelihood(np.full((3, 6), 1e3) ** np.arange(-3, 3), MODEL.person(z), told)
        assert np.isfinite(fit).all()
        assert fit.max() <= 0


class TestEvidence:
    @settings(deadline=None, max_examples=40)
    @given(SEEDS, st.lists(st.sampled_from([*PLAIN, *GRADED, Answer(Choice.UNSURE)]), max_size=8))
    def test_cannot_say_tells_nothing(self, seed, answers):
        rng = np.random.default_rng(seed)
        history = [Asked(pair(rng), answer) for answer in answers]
        told = evidence(history, PRIOR)
        without = evidence([asked for asked in history if asked.answer.choice is not Choice.UNSURE], PRIOR)
        for mine, other in zip(told, without, strict=True):
            np.testing.assert_array_equal(mine, other)
        assert len(told.gain) == sum(answer.choice is not Choice.UNSURE for answer in answers)
        assert told.gain.shape[1:] == (6,)

    def test_some_of_it_is_that_of_some_answers(self):
        rng = np.random.default_rng(4)
        history = [Asked(pair(rng), answer) for answer in GRADED]
        for mine, other in zip(
            evidence(history, PRIOR).of(np.array([3, 1])), evidence([history[3], history[1]], PRIOR), strict=True
        ):
            np.testing.assert_array_equal(mine, other)

    def test_why_it_was_asked_and_how_long_it_took_do_not_matter(self):
        question = pair(np.random.default_rng(5))
        repeat = replace(question, purpose=Purpose.REPEAT, repeat_of=1, hypothetical=True)
        history = [Asked(question, Answer(Choice.FIRST)), Asked(repeat, Answer(Choice.FIRST, seconds=60.0))]
        for column in evidence(history, PRIOR):
            np.testing.assert_array_equal(column[0], column[1])


class TestPeople:
    def test_the_middle_person(self):
        person = MODEL.person(np.zeros((1, 4)))
        np.testing.assert_allclose(np.log(person.sensitivity * MODEL.scale), MODEL.log_sensitivity)
        np.testing.assert_allclose(np.log(person.tie), MODEL.log_tie)
        np.testing.assert_allclose(np.log(person.gap), MODEL.log_gap)
        np.testing.assert_allclose(np.log(person.lapse / (1 - person.lapse)), MODEL.logit_lapse)

    @pytest.mark.parametrize("model", [MODEL, ResponseModel.laboratory(0.02)], ids=["people", "laboratory"])
    def test_lapses_are_at_most_one_in_fifty_on_average(self, model):
        points, shares = np.polynomial.hermite_e.hermegauss(60)
        z = np.zeros((60, 4))
        z[:, 3] = points
        assert (model.person(z).lapse @ shares) / shares.sum() <= 0.02

    def test_a_known_lapse_probability_is_everybodys(self):
        np.testing.assert_array_equal(people(1, model=ResponseModel(1.0, lapse=0.05)).lapse, 0.05)

    @pytest.mark.parametrize("model", [MODEL, ResponseModel.laboratory(0.02)], ids=["people", "laboratory"])
    def test_more_of_a_coordinate_is_more_of_what_it_stands_for(self, model):
        z = np.repeat(np.linspace(-5, 5, 400)[:, None], 4, axis=1)
        for values in model.person(z):
            assert (np.diff(values) >= 0).all()
            assert np.isfinite(values).all()
            assert (values > 0).all()

    @pytest.mark.parametrize("difference", [1.0, 0.01])
    def test_an_oracle_of_the_laboratory_errs_less(self, difference):
        z = np.random.default_rng(1).standard_normal((2000, 4))
        wrong = []
        for model in (ResponseModel(1.0), ResponseModel.laboratory(1.0)):
            person = model.person(z)
            chances = model.chances(difference * person.sensitivity[:, None], person)
            wrong.append(chances[1].mean())
        assert wrong[1] < wrong[0] / 2 < 0.25


@settings(deadline=None, max_examples=40)
@given(st.floats(-800, 800))
def test_sigmoid_is_the_logistic_function(x):
    assert sigmoid(np.array(x)) == pytest.approx(np.exp(-np.logaddexp(0, -x)), rel=1e-9, abs=1e-15)
    assert sigmoid(np.array(x)) + sigmoid(np.array(-x)) == pytest.approx(1)
