"""How answers come about: laws of the response model and of the evidence it is fed."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from elicit_app.elicitation.prior import NeverWorse, WeightPrior
from elicit_app.elicitation.questions import Answer, Asked, Choice, Moved, Proposal, Purpose, Question, Strength
from elicit_app.elicitation.response import N_PARAMETERS, Person, ResponseModel, evidence, rounding_cell

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
PRIOR = WeightPrior.of("lpm", 3)
GAINS = 0.05 * np.random.default_rng(9).standard_normal((200, 6))
MODEL = ResponseModel.of_people(PRIOR, GAINS, np.random.default_rng(1))
ORACLE = ResponseModel.of_an_oracle(PRIOR, GAINS, np.random.default_rng(1))


def people(seed: int, n: int = 40, model: ResponseModel = MODEL) -> Person:
    return model.person(np.random.default_rng(seed).standard_normal((n, N_PARAMETERS)))


def one(latent: np.ndarray, graded: bool = False, tie: float = 0.5, gap: float = 1.5, lapse: float = 0.0) -> np.ndarray:
    """Return the chances (answers, pairs) of one person."""
    person = Person(*(np.array([value]) for value in (1.0, tie, gap, lapse, 0.0, 1.0, 0.6, 0.0)))
    return MODEL.answer_probabilities(latent[None], person, graded)[:, 0]


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
        answer_probabilities = MODEL.answer_probabilities(spread * rng.standard_normal((40, 7)), people(seed), graded)
        assert answer_probabilities.shape == (5 if graded else 3, 40, 7)
        assert answer_probabilities.min() >= -1e-12
        np.testing.assert_allclose(answer_probabilities.sum(axis=0), 1, atol=1e-12)

    @settings(deadline=None, max_examples=40)
    @given(SEEDS)
    def test_sides_are_alike(self, seed):
        latent = 3 * np.random.default_rng(seed).standard_normal((40, 7))
        for graded, mirror in ((False, [1, 0, 2]), (True, [2, 3, 0, 1, 4])):
            here, there = (MODEL.answer_probabilities(sign * latent, people(seed), graded) for sign in (1, -1))
            np.testing.assert_allclose(there, here[mirror], atol=1e-12)

    @settings(deadline=None, max_examples=40)
    @given(SEEDS)
    def test_slightly_and_clearly_together_are_a_preference(self, seed):
        latent = 3 * np.random.default_rng(seed).standard_normal((40, 7))
        plain, graded = (MODEL.answer_probabilities(latent, people(seed), kind) for kind in (False, True))
        np.testing.assert_allclose([graded[0] + graded[1], graded[2] + graded[3], graded[4]], plain, atol=1e-12)

    @settings(deadline=None, max_examples=40)
    @given(SEEDS)
    def test_the_better_side_is_likelier(self, seed):
        latent = 3 * np.random.default_rng(seed).standard_normal((40, 7))
        a, b, _ = MODEL.answer_probabilities(latent, people(seed))
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
        latent = MODEL.latent(weights, person, PRIOR.gain(*question.rates)[None])
        answer_probabilities = MODEL.answer_probabilities(latent, person, graded)[:, :, 0]
        fit = MODEL.log_likelihood(weights, person, told)
        np.testing.assert_allclose(np.exp(fit), answer_probabilities.T, rtol=1e-9, atol=1e-12)

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
    def test_neither_the_unit_of_the_weights_nor_that_of_the_counts_matters(self, seed, unit):
        rng = np.random.default_rng(seed)
        answers = evidence([Asked(pair(rng), answer) for answer in GRADED], PRIOR)
        weights, person = np.exp(PRIOR.log_weights(rng.standard_normal((20, 6)))), people(seed, 20)
        fit = MODEL.log_likelihood(weights, person, answers)
        np.testing.assert_allclose(MODEL.log_likelihood(unit * weights, person, answers), fit, rtol=1e-6, atol=1e-8)
        larger = ResponseModel.of_people(PRIOR, unit * GAINS, np.random.default_rng(1))
        choices = answers.choices._replace(gain=unit * answers.choices.gain)
        same = larger.log_likelihood(weights, person, answers._replace(choices=choices))
        np.testing.assert_allclose(same, fit, rtol=1e-6, atol=1e-8)

    def test_nothing_is_impossible_and_nothing_overflows(self):
        told = evidence([Asked(pair(np.random.default_rng(1)), answer) for answer in GRADED], PRIOR)
        z = np.zeros((3, N_PARAMETERS))
        z[:, :4] = [[50.0, -8, -8, -8], [-50, 8, 8, 8], [50, 8, 8, -40]]
        z[:, 4] = [-40.0, 0, 40]
        fit = MODEL.log_likelihood(np.full((3, 6), 1e3) ** np.arange(-3, 3), MODEL.person(z), told)
        assert np.isfinite(fit).all()
        assert fit.max() <= 0


class TestEvidence:
    @settings(deadline=None, max_examples=40)
    @given(SEEDS, st.lists(st.sampled_from([*PLAIN, *GRADED, Answer(Choice.UNSURE)]), max_size=8))
    def test_cannot_say_tells_nothing(self, seed, answers):
        rng = np.random.default_rng(seed)
        history = [Asked(pair(rng), answer) for answer in answers]
        told = evidence(history, PRIOR).choices
        without = evidence([asked for asked in history if asked.answer.choice is not Choice.UNSURE], PRIOR).choices
        for mine, other in zip(told, without, strict=True):
            np.testing.assert_array_equal(mine, other)
        assert len(told.gain) == sum(answer.choice is not Choice.UNSURE for answer in answers)
        assert told.gain.shape[1:] == (6,)

    def test_why_it_was_asked_and_how_long_it_took_do_not_matter(self):
        question = pair(np.random.default_rng(5))
        repeat = replace(question, purpose=Purpose.REPEAT, repeat_of=1, hypothetical=True)
        history = [Asked(question, Answer(Choice.FIRST)), Asked(repeat, Answer(Choice.FIRST, seconds=60.0))]
        for column in evidence(history, PRIOR).choices:
            np.testing.assert_array_equal(column[0], column[1])


class TestPeople:
    @pytest.mark.parametrize(("model", "most"), [(MODEL, 0.021), (ORACLE, 0.07)], ids=["people", "oracle"])
    def test_lapses_are_rare_on_average(self, model, most):
        z = np.zeros((20_001, N_PARAMETERS))
        z[:, 3] = norm.ppf((np.arange(20_001) + 0.5) / 20_001)
        assert model.person(z).lapse.mean() <= most

    def test_people_are_right_on_about_four_random_pairs_in_five(self):
        rng = np.random.default_rng(3)
        weights, person = np.exp(PRIOR.log_weights(rng.standard_normal((2000, 6)))), people(5, 2000)
        latent = MODEL.latent(weights, person, GAINS)
        first, second, _ = MODEL.answer_probabilities(latent, person)
        right = np.where(latent > 0, first, second) / (first + second)
        assert 0.72 < np.median(right.mean(axis=1)) < 0.85

    @pytest.mark.parametrize("gains", [GAINS, GAINS[:, ::-1] ** 3], ids=["these pairs", "others"])
    @pytest.mark.parametrize("orders", [(), [NeverWorse((0, 1), (1, 0))]], ids=["no orders", "an order"])
    def test_the_unit_is_the_median_preference_under_this_prior_between_these_pairs(self, gains, orders):
        prior = WeightPrior.of("lpm", 3, constraints=orders)
        weights = np.exp(prior.log_weights(np.random.default_rng(1).standard_normal((300, prior.size))))
        gained = weights @ gains.T
        median = np.median(np.abs(gained) / np.sqrt((gained**2).mean(axis=1, keepdims=True)))
        for _ in range(2):
            assert ResponseModel.of_people(prior, gains, np.random.default_rng(1)).units[0] == pytest.approx(median)

    def test_a_known_lapse_probability_is_everybodys(self):
        np.testing.assert_array_equal(people(1, model=replace(MODEL, lapse=0.05)).lapse, 0.05)

    @pytest.mark.parametrize("model", [MODEL, ORACLE], ids=["people", "oracle"])
    def test_more_of_a_coordinate_is_more_of_what_it_stands_for(self, model):
        z = np.repeat(np.linspace(-5, 5, 400)[:, None], N_PARAMETERS, axis=1)
        for values in model.person(z):
            assert (np.diff(values) >= 0).all()
            assert np.isfinite(values).all()
            assert (values >= 0).all()


class TestNoiseThatGrows:
    """Latent preferences between noise that is constant in utility and noise that is constant in ratios."""

    def latent(self, rho: float, gains: np.ndarray) -> np.ndarray:
        person = people(1, 1)._replace(rho=np.array([rho]), sensitivity=np.ones(1))
        return MODEL.latent(np.ones((1, 6)), person, gains)[0]

    def test_at_zero_it_goes_with_the_difference_and_at_one_with_the_ratio(self):
        trade = np.array([[0.02, -0.01, 0, 0, 0, 0], [0.2, -0.1, 0, 0, 0, 0]])
        small, large = self.latent(0.0, trade)
        assert large == pytest.approx(10 * small)
        small, large = self.latent(1.0, trade)
        assert large == pytest.approx(small, rel=1e-3)
        small, large = self.latent(0.5, trade)
        assert large == pytest.approx(np.sqrt(10) * small)

    @settings(deadline=None, max_examples=40)
    @given(st.floats(0, 1), SEEDS)
    def test_the_sign_is_that_of_the_difference_whatever_the_exponent(self, rho, seed):
        gains = 0.1 * np.random.default_rng(seed).standard_normal((20, 6))
        np.testing.assert_array_equal(self.latent(rho, gains) > 0, gains.sum(axis=1) > 0)

    @pytest.mark.parametrize("rho", [0.0, 1.0])
    def test_a_known_exponent_gives_what_inferring_it_would(self, rho):
        rng = np.random.default_rng(2)
        weights = np.exp(rng.standard_normal((30, 6)))
        person = people(3, 30)._replace(rho=np.full(30, rho))
        known = replace(MODEL, rho=rho).latent(weights, person, GAINS[:9])
        np.testing.assert_allclose(known, MODEL.latent(weights, person, GAINS[:9]), rtol=1e-4)


def equal_point(count: int, rest: int, start: int = 5, side: str = "first", base: int = 0) -> Asked:
    """Return "so many of mistake (0, 1) are as bad as `rest` of (1, 0)", out of 1,000, both on top of a common base."""
    counts = np.diag([400, 400, 200])
    sides = []
    for true, predicted, more in ((0, 1, 1), (1, 0, rest)):
        matrix = counts.copy()
        for cell, amount in (((0, 1), base), ((true, predicted), more)):
            matrix[cell] += amount
            matrix[cell[0], cell[0]] -= amount
        sides.append(matrix)
    first, second = sides if side == "first" else sides[::-1]
    question = Question(first, second, 1000)
    return Asked(question, Answer(Choice.EQUAL, moved=Moved(side, 0, 1, count + base, start + base)))


class TestEqualPoints:
    def expected(self, log_weights: np.ndarray, asked: Asked, **person: float) -> float:
        points = evidence([asked], PRIOR).points
        draws = people(1, 1)._replace(**{name: np.array([value]) for name, value in person.items()})
        return float(MODEL.equal_points(np.exp(log_weights)[None], draws, points)[0, 0] + np.log(1000))

    @settings(deadline=None, max_examples=40)
    @given(st.integers(1, 60), st.integers(1, 100), SEEDS, st.sampled_from(["first", "second"]))
    def test_who_says_what_the_weights_say_is_expected_to(self, count, rest, seed, side):
        logs = np.random.default_rng(seed).standard_normal(6)
        expected = self.expected(logs, equal_point(count, rest, side=side), shrinkage=1.0, pull=0.0)
        # w01 * count = w10 * rest; (0, 1) is the first weight and (1, 0) the third.
        assert expected == pytest.approx(np.log(rest) + logs[2] - logs[0])

    def test_a_common_base_changes_nothing_for_linear_costs(self):
        logs = np.array([0.3, 0, -0.4, 0, 0, 0])
        plain, based = (
            self.expected(logs, equal_point(20, 30, base=base), shrinkage=1.0, pull=0.0) for base in (0, 50)
        )
        assert based == pytest.approx(plain)
        one, other = (evidence([equal_point(20, 30, base=base)], PRIOR).points for base in (0, 50))
        np.testing.assert_allclose(one.rest, other.rest, atol=1e-15)

    def test_shrunk_ratios_lie_nearer_to_one_and_a_pull_nearer_to_the_start(self):
        logs, asked = np.array([-1.5, 0, 1.5, 0, 0, 0]), equal_point(20, 4, start=2)
        plain = self.expected(logs, asked, shrinkage=1.0, pull=0.0)
        shrunk = self.expected(logs, asked, shrinkage=0.5, pull=0.0)
        pulled = self.expected(logs, asked, shrinkage=1.0, pull=0.3)
        assert plain == pytest.approx(np.log(4) + 3)
        assert shrunk == pytest.approx(np.log(4) + 1.5)
        assert pulled == pytest.approx(0.7 * plain + 0.3 * np.log(2))

    @settings(deadline=None, max_examples=40)
    @given(SEEDS)
    def test_all_counts_of_a_scale_have_probability_one(self, seed):
        weights, person = (
            np.exp(PRIOR.log_weights(np.random.default_rng(seed).standard_normal((20, 6)))),
            people(seed, 20),
        )
        rungs = [0, 1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 400]
        points = evidence([equal_point(count, 10) for count in rungs], PRIOR).points
        # Apart from lapses, and where rounding cells overlap or leave a gap at the ends.
        sure = person._replace(lapse=np.zeros(20), pull=np.zeros(20))
        total = np.exp(MODEL.point_log_likelihood(weights, sure, points)).sum(axis=1)
        np.testing.assert_allclose(total, 1, atol=0.2)

    def test_a_bound_is_a_choice_of_the_pair_with_the_count_moved(self):
        asked = equal_point(20, 30)
        bound = Asked(asked.question, Answer(Choice.SECOND, moved=asked.answer.moved))
        shown = Asked(asked.question.moved(asked.answer.moved), Answer(Choice.SECOND))
        for mine, other in zip(evidence([bound], PRIOR).choices, evidence([shown], PRIOR).choices, strict=True):
            np.testing.assert_array_equal(mine, other)

    def test_the_end_of_the_scale_is_that_of_the_proposal(self):
        asked = equal_point(20, 30)
        moved = asked.answer.moved
        scale = Proposal(moved.side, moved.true, moved.predicted, moved.start, 0, max(moved.count, moved.start))
        ended = Asked(replace(asked.question, proposal=scale), asked.answer)
        assert np.isfinite(evidence([asked], PRIOR).points.high[0])
        assert np.isinf(evidence([ended], PRIOR).points.high[0]) == (moved.count >= scale.most)

    @pytest.mark.parametrize("side", ["first", "second"])
    def test_who_prefers_a_side_with_the_last_count_of_its_scale_says_that_the_equal_point_lies_beyond(self, side):
        asked = equal_point(20, 30)
        moved = replace(asked.answer.moved, side=side)
        scale = Proposal(side, moved.true, moved.predicted, moved.start, 0, moved.count)
        question = asked.question if side == "first" else asked.question.swapped()
        question = replace(question, proposal=scale)
        better, worse = (Choice.FIRST, Choice.SECOND) if side == "first" else (Choice.SECOND, Choice.FIRST)
        choices, points = evidence([Asked(question, Answer(better, moved=moved))], PRIOR)
        assert len(choices.gain) == 0
        assert points.low[0] == pytest.approx(np.log(moved.count / question.population))
        assert np.isinf(points.high[0])
        for choice, count in ((worse, moved.count), (better, moved.count - 10)):
            answer = Answer(choice, moved=replace(moved, count=count))
            choices, points = evidence([Asked(question, answer)], PRIOR)
            assert (len(choices.gain), len(points.cell)) == (1, 0)

    def test_who_finds_even_the_least_count_worse_says_that_the_equal_point_lies_below(self):
        asked = equal_point(1, 30)
        moved = asked.answer.moved
        scale = Proposal(moved.side, moved.true, moved.predicted, moved.start, 1, 200)
        kept, other = Choice(moved.side), Choice(moved.side).swapped()
        for question in (asked.question, replace(asked.question, proposal=scale)):
            choices, points = evidence([Asked(question, Answer(other, moved=moved))], PRIOR)
            assert len(choices.gain) == 0
            assert points.low[0] == -np.inf
            assert points.high[0] == pytest.approx(np.log(0.5 / question.population))
            for choice, count in ((kept, 1), (other, 2)):
                answer = Answer(choice, moved=replace(moved, count=count))
                choices, points = evidence([Asked(question, answer)], PRIOR)
                assert (len(choices.gain), len(points.cell)) == (1, 0)

    def test_where_nothing_else_differs_an_equal_point_tells_nothing(self):
        asked = equal_point(20, 30)
        question = replace(asked.question, second=np.diag([400, 400, 200]))
        assert evidence([Asked(question, asked.answer)], PRIOR).n_answers == 0


class TestRounding:
    @settings(deadline=None, max_examples=60)
    @given(st.integers(0, 5000), st.integers(1, 5000))
    def test_a_count_lies_in_its_own_cell(self, count, more):
        low, high = rounding_cell(count, count + more)
        assert low <= count < high
        assert rounding_cell(count, count)[1] in (np.inf, 0.5)

    def test_round_numbers_stand_for_wide_cells(self):
        for count, wide in ((47, 1), (45, 5), (40, 10), (250, 50), (700, 100)):
            low, high = rounding_cell(count, 10_000)
            assert high - low == pytest.approx(wide)
        low, high = rounding_cell(30, 10_000)
        assert (low, high) == pytest.approx((np.sqrt(600), np.sqrt(1500)))
