"""The procedure `bayes` from the first question to the outcome."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from elicit_app.elicitation import belief
from elicit_app.elicitation.agenda import better_side
from elicit_app.elicitation.cases import Cases, Tally
from elicit_app.elicitation.oracles import FlipOracle, LinearOracle, LogitOracle, Matching, UtilityOracle, run
from elicit_app.elicitation.predictive import predictive_scores
from elicit_app.elicitation.prior import NeverWorse
from elicit_app.elicitation.procedure import Outcome
from elicit_app.elicitation.procedures.bayes import Bayes
from elicit_app.elicitation.questions import Answer, Asked, Choice, Proposal, Purpose, Question, Strength
from elicit_app.elicitation.sphere import measure_sphere
from elicit_app.problem import Problem
from metrics.elicited.family import LPM, family_of

pytestmark = pytest.mark.usefixtures("few_draws")
COSTS = np.array([[0.0, 1.0, 0.4], [0.2, 0.0, 0.1], [0.7, 0.3, 0.0]])
KINDS = {
    "a": Answer(Choice.FIRST),
    "b": Answer(Choice.SECOND),
    "equal": Answer(Choice.EQUAL),
    "cannot say": Answer(Choice.UNSURE),
    "slightly a": Answer(Choice.FIRST, Strength.SLIGHTLY),
    "clearly a": Answer(Choice.FIRST, Strength.CLEARLY),
    "slightly b": Answer(Choice.SECOND, Strength.SLIGHTLY),
    "clearly b": Answer(Choice.SECOND, Strength.CLEARLY),
}


def counted(k: int) -> Cases:
    rng = np.random.default_rng(11)
    proba = rng.dirichlet(np.full(k, 0.5), 150)
    return Cases.counted([rng.choice(k, p=row) for row in proba], proba)


def bayes(k: int = 3, **options) -> Bayes:
    options = {"family": "lpm", "seed": 1, "population": 1000, "questions": 10} | options
    return Bayes([counted(k)], **options)


@pytest.fixture(scope="module")
def truthful(simulated_answers):
    """Return what makes a procedure and the answers of a person who answers by `COSTS`, once for all tests."""

    @cache
    def sitting(**options) -> tuple[Bayes, tuple[Asked, ...]]:
        procedure = bayes(**options)
        return procedure, tuple(simulated_answers(procedure, LinearOracle(-COSTS)))

    return sitting


class Saying:
    """Gives answers of a list in turn, whatever is asked."""

    def __init__(self, *answers: Answer) -> None:
        self.answers, self.given = answers, 0

    def answer(self, question: Question) -> Answer:
        self.given += 1
        return self.answers[(self.given - 1) % len(self.answers)]


class Taking:
    """Answers by a metric, but with "about equal" below a difference and "cannot say" now and then."""

    def __init__(self, weights: np.ndarray, tie: float, silent: int) -> None:
        self.sharp, self.tie, self.silent, self.asked = LinearOracle(weights, clear=0.05), tie, silent, 0

    def answer(self, question: Question) -> Answer:
        self.asked += 1
        if self.asked % self.silent == 0:
            return Answer(Choice.UNSURE)
        near = abs(self.sharp.utility(question.rates[0]) - self.sharp.utility(question.rates[1])) <= self.tie
        return Answer(Choice.EQUAL) if near else self.sharp.answer(question)


def same(one: list[Asked], other: list[Asked]) -> bool:
    return len(one) == len(other) and all(
        x.question.same_as(y.question, 0.0) and x.answer == y.answer and x.question.purpose is y.question.purpose
        for x, y in zip(one, other, strict=True)
    )


def first(procedure: Bayes, history: list[Asked]) -> Question:
    return next(procedure.begin(history)).question


def width(outcome: Outcome) -> float:
    """Return the geometric mean, over the weights, of the upper end of a 90 % range by the lower one."""
    sizes = np.abs(outcome.samples)
    ratios = sizes / sizes[:, [np.argmax(np.abs(outcome.weights))]]
    low, high = np.quantile(ratios, [0.05, 0.95], axis=0)
    return float(np.exp(np.log(high / low).mean()))


class TestKinds:
    # Every kind of answer, and in each family every choice.
    @pytest.mark.parametrize(
        ("family", "kind"),
        [
            *(("lpm", kind) for kind in ("a", "equal", "cannot say", "slightly b", "clearly a")),
            *(("dlpm", kind) for kind in ("b", "equal", "cannot say", "slightly a", "clearly b")),
        ],
    )
    def test_every_kind_of_answer_leads_to_an_outcome(self, kind, family):
        procedure = bayes(family=family, questions=3, strength=True, checks=True)
        outcome, asked = run(procedure, Saying(KINDS[kind]))
        assert outcome.questions == len(asked) >= 3
        assert sum(one.question.purpose is Purpose.INFORMATIVE for one in asked) == 3
        for numbers in (outcome.weights, outcome.samples, outcome.intervals[..., 0]):
            assert np.isfinite(numbers).all()
        assert outcome.sensitivity > 0
        assert 0 < outcome.lapse < 1

    def test_a_person_who_uses_all_of_them_is_understood(self, simulated_answers):
        procedure = bayes(seed=2, questions=20, strength=True, checks=True)
        person = Taking(-COSTS, tie=0.004, silent=7)
        asked = simulated_answers(procedure, person)
        used = {(answer.choice, answer.strength) for _, answer in asked}
        assert used >= {(answer.choice, answer.strength) for name, answer in KINDS.items() if " " in name}
        gains = procedure.source.random_gains(500, np.random.default_rng(1))
        truth = COSTS[~np.eye(3, dtype=bool)]
        weights = np.abs(procedure.belief(asked).estimate)
        assert ((gains @ weights > 0) == (gains @ truth > 0)).mean() > 0.9

    @pytest.mark.parametrize(("error", "low", "high"), [(0.4, 0.0, 0.7), (2.5, 1.5, np.inf)])
    def test_how_well_counts_are_named_is_learned_from_them(self, error, low, high):
        truth = LinearOracle(-np.array([[0.0, 2.0], [1.0, 0.0]])).utility
        person = UtilityOracle(truth, matching=Matching(error), rng=np.random.default_rng(4))
        asked = []
        for more in range(10, 58, 4):
            sides = np.array([[[480, 20], [20 + more, 480 - more]], [[480 - more, 20 + more], [20, 480]]])
            question = Question(*sides, 1000, proposal=Proposal("second", 0, 1, 20 + more, 20, 400, at_once=True))
            asked.append(Asked(question, person.answer(question)))
        assert low < np.median(bayes(k=2).belief(asked).person.error) < high

    def test_clearly_says_more_than_slightly(self):
        question = first(bayes(strength=True, worst_error=1.0), [])  # a large one: slightly says little of a small one
        gain = bayes().prior.gain(*question.rates)
        felt = [
            float(np.median(bayes(strength=True).belief([Asked(question, KINDS[kind])]).latent(gain[None])))
            for kind in ("clearly b", "slightly b", "equal", "slightly a", "clearly a")
        ]
        assert felt == sorted(felt)
        assert felt[0] < 0 < felt[-1]


class TestSaysNothing:
    def test_cannot_say_to_everything_gives_the_prior_back(self):
        procedure = bayes(questions=6, checks=True)
        outcome, _ = run(procedure, Saying(KINDS["cannot say"]))
        np.testing.assert_array_equal(outcome.samples, procedure.conclude([]).samples)
        assert outcome.stopped == "budget"
        assert width(outcome) > 9

    def test_more_answers_narrow_what_is_told(self, truthful):
        procedure, asked = truthful(questions=18)
        widths = [width(procedure.conclude(asked[:n])) for n in (0, 12, len(asked))]
        assert widths == sorted(widths, reverse=True)
        assert widths[2] < widths[0] / 4

    def test_what_no_question_touches_stays_wide(self, simulated_answers):
        # Class 2 never occurs: its errors cannot be learned about.
        rng = np.random.default_rng(1)
        proba = rng.dirichlet(np.ones(3), 150)
        cases = Cases.counted([rng.choice(2, p=row[:2] / row[:2].sum()) for row in proba], proba)
        procedure = Bayes([cases], family="lpm", seed=1, population=1000, questions=12)
        asked = simulated_answers(procedure, LinearOracle(-COSTS))
        assert not any(question.first[2].any() or question.second[2].any() for question, _ in asked)
        logs, before = (np.log(np.abs(procedure.belief(so_far).samples)) for so_far in (asked, []))
        assert (logs.std(axis=0)[4:] > 0.6 * before.std(axis=0)[4:]).all()
        ratio, prior_ratio = logs[:, 0] - logs[:, 2], before[:, 0] - before[:, 2]
        assert ratio.std() < 0.5 * prior_ratio.std()


class TestTruth:
    def test_it_is_found_by_true_answers_about_six_mistakes(self, truthful):
        procedure, asked = truthful(questions=18)
        gains = procedure.source.random_gains(1000, np.random.default_rng(3))
        truth = COSTS[~np.eye(3, dtype=bool)]
        weights = np.abs(procedure.conclude(asked).weights)
        assert ((gains @ weights > 0) == (gains @ truth > 0)).mean() > 0.9

    @pytest.mark.parametrize(("family", "k"), [("dlpm", 2), ("dlpm", 3), ("lpm", 2)])
    def test_it_is_found_by_true_answers(self, simulated_answers, family, k):
        procedure = bayes(k, family=family, questions=10)
        rng = np.random.default_rng(k)
        truth = procedure.prior.normalised(
            np.exp(procedure.prior.log_weights(rng.standard_normal(procedure.prior.size)))
        )
        asked = simulated_answers(procedure, LinearOracle(family_of(family).weight_matrix(truth)))
        weights = np.abs(procedure.belief(asked).estimate)
        gains = procedure.source.random_gains(1000, rng)
        agreement = ((gains @ weights > 0) == (gains @ np.abs(truth) > 0)).mean()
        assert agreement > 0.97

    def test_one_wrong_answer_in_ten_does_not_ruin_it(self, simulated_answers):
        agreed = []
        for seed in range(3):
            procedure = bayes(2, questions=12, seed=seed)
            expert = FlipOracle(LinearOracle(-COSTS[:2, :2]), 0.1, np.random.default_rng(seed))
            weights = np.abs(procedure.belief(simulated_answers(procedure, expert)).estimate)
            gains = procedure.source.random_gains(1000, np.random.default_rng(1))
            agreed.append(((gains @ weights > 0) == (gains @ [1.0, 0.2] > 0)).mean())
        assert np.median(agreed) > 0.9

    def test_rare_mistakes_of_the_person_show_in_the_sensitivity(self, simulated_answers):
        sharp = LinearOracle(-COSTS[:2, :2])
        found = []
        for person in (sharp, LogitOracle(sharp.utility, 5.0, np.random.default_rng(1))):
            procedure = bayes(2, questions=16, answers="choice")
            found.append(np.median(procedure.belief(simulated_answers(procedure, person)).person.sensitivity))
        assert found[1] < found[0] / 10

    def test_the_order_of_two_sides_does_not_matter(self, truthful):
        procedure, asked = truthful(questions=18)
        turned = [Asked(question.swapped(), answer.swapped()) for question, answer in asked]
        np.testing.assert_allclose(procedure.belief(turned).weights, procedure.belief(asked).weights, atol=1e-9)


class TestQuestions:
    def test_a_person_is_shown_whole_cases_few_of_them_different_and_never_an_easy_choice(self, truthful):
        _, asked = truthful(questions=18, max_cells=4, checks=True, answers="choice")
        for question, _ in asked:
            a, b = question.first, question.second
            np.testing.assert_allclose(a, np.round(a), atol=1e-9)
            np.testing.assert_allclose(b, np.round(b), atol=1e-9)
            np.testing.assert_array_equal(np.round(a).sum(axis=1), np.round(b).sum(axis=1))
            differ = np.round(np.abs(a - b))[~np.eye(3, dtype=bool)]
            assert (better_side(*question.rates) is None) == (question.purpose is not Purpose.CHECK)
            if question.purpose is Purpose.INFORMATIVE:
                assert differ.max() >= 10
            if question.purpose is not Purpose.CHECK:
                assert 2 <= (differ > 0).sum() <= 4
        assert [one.question.purpose for one in asked].count(Purpose.CHECK) == 1

    def test_repeats_are_near_indifference_swapped_or_on_a_common_base_of_one_mistake(self, truthful):
        procedure, asked = truthful(questions=18, max_cells=4, checks=True, answers="choice")
        repeats = [(n, one) for n, one in enumerate(asked) if one.question.purpose is Purpose.REPEAT]
        assert len(repeats) == 3
        assert not repeats[0][1].question.common_base
        for _, (repeat, answer) in repeats:
            original, before = asked[repeat.repeat_of - 1]
            assert repeat.repeat_of > 1
            if not repeat.common_base:
                assert repeat.same_as(original.swapped(), 0.0)
                continue
            apart = (original.first != original.second) & ~np.eye(3, dtype=bool)
            common = np.minimum(repeat.first, repeat.second)[apart]
            assert (common > 0).sum() == 1
            assert procedure.source.region.contains(np.array([repeat.first, repeat.second])).all()
            # Who values results linearly gives the same answer, whichever side is first.
            trade = (repeat.first - repeat.second)[apart]
            swapped = np.sign(trade[0]) != np.sign((original.first - original.second)[apart][0])
            assert answer.choice is (before.choice.swapped() if swapped else before.choice)

    def test_a_person_is_asked_for_counts_after_three_choices_and_never_four_times_in_a_row(self, truthful):
        procedure, asked = truthful(questions=18)
        kinds = [question.asks_equal for question, _ in asked]
        assert not any(kinds[:3])
        assert 4 <= sum(kinds) <= 13
        assert not any(all(kinds[n : n + 4]) for n in range(len(kinds) - 3))
        for question, answer in asked:
            if question.asks_equal:
                assert answer.moved is not None
                assert question.proposal.start == answer.moved.start
                shown = question.moved(replace(answer.moved, count=question.proposal.start))
                assert shown.same_as(question, 0.0)
                least = question.moved(replace(answer.moved, count=question.proposal.least))
                apart = np.sign(least.first - least.second)[~np.eye(3, dtype=bool)]
                assert sorted(apart[apart != 0]) == [-1, 1], "each side has fewer of something at every count"
                most = question.moved(replace(answer.moved, count=question.proposal.most))
                assert procedure.source.region.contains(np.array([most.first, most.second])).all()
        sides = [question.proposal.side for question, _ in asked if question.asks_equal]
        assert abs(sides.count("first") - sides.count("second")) <= 1

    def test_how_long_a_person_takes_is_learned_whoever_interrupts(self, truthful):
        procedure, asked = truthful(questions=18)
        assert procedure.asker.seconds(asked, "choice") == 14.0, "expected before any time is known"
        timed = [one._replace(answer=replace(one.answer, seconds=40.0 if n else 3600.0)) for n, one in enumerate(asked)]
        assert procedure.asker.seconds(timed, "choice") == 40.0
        assert procedure.asker.seconds(timed, "equal") == 40.0

    @pytest.mark.parametrize(("answers", "share"), [("choice", 0.0), ("equal", 1.0)])
    def test_only_one_kind_of_answer_where_that_is_wanted(self, simulated_answers, answers, share):
        asked = simulated_answers(bayes(questions=6, answers=answers), LinearOracle(-COSTS))
        assert np.mean([question.asks_equal for question, _ in asked]) == share

    def test_a_pair_that_could_not_be_judged_comes_back_as_it_was(self, simulated_answers):
        procedure = bayes(questions=10)
        asked = simulated_answers(procedure, Saying(KINDS["cannot say"], *[KINDS["a"]] * 30))
        again = [n for n, one in enumerate(asked) if one.question.repeat_of == 1]
        assert len(again) == 1
        assert again[0] > 4
        assert asked[again[0]].question.same_as(asked[0].question, 0.0)
        assert asked[again[0]].question.purpose is Purpose.INFORMATIVE

    def test_sides_are_balanced(self, simulated_answers):
        for_a = [
            answer.choice is Choice.FIRST
            for seed in range(4)
            for _, answer in simulated_answers(
                bayes(2, seed=seed, questions=10, answers="choice"), LinearOracle(-COSTS[:2, :2])
            )
        ]
        assert 0.25 < np.mean(for_a) < 0.75

    def test_informative_answers_are_hard_to_foretell(self, truthful):
        procedure, asked = truthful(questions=18)
        likeliest = []
        for n, (question, _) in enumerate(asked[:12]):
            belief = procedure.belief(asked[:n])
            answer_probabilities = belief.answer_probabilities(belief.prior.gain(*question.rates)[None])[:, :, 0].mean(
                axis=1
            )
            likeliest.append(answer_probabilities.max())
        assert np.mean(likeliest) < 0.68
        assert max(likeliest) < 0.9


class TestSeeds:
    def test_the_same_seed_gives_the_same_questions_and_another_seed_others(self, simulated_answers):
        (one, asked), (again, repeated) = (run(bayes(questions=6, checks=True), LinearOracle(-COSTS)) for _ in range(2))
        assert same(asked, repeated)
        np.testing.assert_array_equal(one.samples, again.samples)
        np.testing.assert_array_equal(one.intervals, again.intervals)
        other = simulated_answers(bayes(questions=6, checks=True, seed=2), LinearOracle(-COSTS))
        assert not same(asked, other)

    def test_undo_and_looking_ahead_ask_what_a_fresh_procedure_would(self, simulated_answers):
        used = bayes(questions=8, checks=True)
        asked = simulated_answers(used, LinearOracle(-COSTS))
        for n in (3, 6):
            for answer in (KINDS["b"], KINDS["cannot say"], KINDS["clearly a"]):
                used.belief([*asked[:n], Asked(asked[n].question, answer)])  # looked at, not taken
                first(used, [*asked[:n], Asked(asked[n].question, answer)])
            changed = [*asked[: n - 1], Asked(asked[n - 1].question, KINDS["equal"])]
            fresh = bayes(questions=8, checks=True)
            assert first(used, changed).same_as(first(fresh, changed), 0.0)
        np.testing.assert_array_equal(used.conclude(changed).samples, fresh.conclude(changed).samples)
        assert first(used, asked[:5]).same_as(asked[5].question, 0.0)

    def test_a_long_sitting_that_is_opened_again_goes_on_as_it_did(self, truthful, monkeypatch):
        procedure, asked = truthful()
        one_by_one = procedure.belief(asked).log_weights
        monkeypatch.setattr(belief, "_ONE_BY_ONE", 4)  # the belief after ten answers then builds on that after eight
        used, fresh = bayes(), bayes()
        for n in range(len(asked)):
            used.belief(asked[:n])
        np.testing.assert_array_equal(fresh.belief(asked).log_weights, used.belief(asked).log_weights)
        np.testing.assert_array_equal(fresh.predictive_scores(asked), used.predictive_scores(asked))
        both = (one_by_one, fresh.belief(asked).log_weights)
        before, after = (logs - logs.mean(axis=1, keepdims=True) for logs in both)
        apart = (after.mean(axis=0) - before.mean(axis=0)) / before.std(axis=0)
        assert 0 < np.abs(apart).max() < 0.3

    def test_what_was_forgotten_is_found_again(self, simulated_answers):
        procedure = bayes(2, questions=6)
        asked = simulated_answers(procedure, LinearOracle(-COSTS[:2, :2]))
        for n in range(400):  # more than are remembered
            procedure.belief([Asked(Question(np.eye(2) / 2, np.full((2, 2), n / 1600)), KINDS["cannot say"])])
        again = procedure.conclude(asked)
        np.testing.assert_array_equal(again.samples, bayes(2, questions=6).conclude(asked).samples)


class TestOrders:
    ORDERS = (NeverWorse((0, 1), (1, 0)), NeverWorse((1, 0), (1, 2)))

    def test_they_hold_in_every_draw_whatever_is_answered(self):
        procedure = bayes(questions=6, constraints=self.ORDERS)
        outcome, _ = run(procedure, LinearOracle(-COSTS))  # whose costs are the other way round
        for weights in (outcome.weights, *outcome.samples):
            costs = LPM.costs(weights)
            for small, large in self.ORDERS:
                assert costs[small] <= costs[large] + 1e-9
            assert costs[0, 1] <= costs[1, 2] + 1e-9

    def test_true_orders_help(self):
        right = (NeverWorse((1, 2), (0, 1)), NeverWorse((1, 0), (2, 0)), NeverWorse((2, 1), (0, 1)))
        gains = bayes().source.random_gains(1000, np.random.default_rng(1))
        truth = COSTS[~np.eye(3, dtype=bool)]
        agreed = []
        for orders in ((), right):
            weights = np.abs(bayes(constraints=orders).conclude([]).weights)
            agreed.append(((gains @ weights > 0) == (gains @ truth > 0)).mean())
        assert agreed[1] > agreed[0]

    def test_orders_of_hits(self):
        procedure = bayes(family="dlpm", questions=8, constraints=[NeverWorse((0, 1), (1, 0))])
        outcome, _ = run(procedure, Saying(KINDS["a"], KINDS["b"]))
        assert (outcome.samples[:, 0] <= outcome.samples[:, 1] + 1e-9).all()


class TestOtherSettings:
    def test_ten_classes(self):
        procedure = bayes(10, questions=5, max_cells=4)
        outcome, asked = run(procedure, Saying(KINDS["a"], KINDS["b"], KINDS["equal"]))
        assert outcome.weights.shape == (90,)
        assert np.linalg.norm(outcome.weights) == pytest.approx(1)
        assert all(question.hypothetical for question, _ in asked)
        for question, _ in asked:
            assert 2 <= (np.abs(question.first - question.second)[~np.eye(10, dtype=bool)] > 1e-9).sum() <= 4
        assert width(outcome) > 9

    def test_an_answer_about_one_error_tells_about_its_row_where_there_are_many(self):
        procedure = bayes(10, questions=5)
        base = np.eye(10) / 10
        a, b = base.copy(), base.copy()
        a[0, 0], a[0, 1] = 0.06, 0.04
        b[1, 1], b[1, 0] = 0.06, 0.04
        belief = procedure.belief(
            [Asked(Question.of_rates(a, b, 1000), KINDS["b"])] * 4
        )  # "0 taken for 1" is the worse
        logs = np.log(belief.weights)
        errors = {cell: n for n, cell in enumerate((i, j) for i in range(10) for j in range(10) if i != j)}
        apart = logs[:, errors[0, 5]] - logs[:, errors[1, 5]]
        assert apart.mean() > 3 * apart.std() / np.sqrt(len(apart))

    def test_on_the_sphere_in_exact_rates(self):
        sphere = measure_sphere(counted(3))
        options = {"space": "sphere", "sphere": (sphere.centre, sphere.radius), "population": None}
        outcome, asked = run(bayes(questions=16, **options), LinearOracle(-COSTS))
        truth = -COSTS[~np.eye(3, dtype=bool)] / np.linalg.norm(COSTS)
        assert np.linalg.norm(outcome.weights - truth) < 0.1
        assert all(question.population is None and not question.hypothetical for question, _ in asked)

    def test_several_models_are_asked_about_together(self):
        one = counted(3)
        other = Cases.counted(one.outcome.argmax(axis=1), one.eta[:, [0, 2, 1]])
        both = Bayes([one, other], family="lpm", seed=1, population=1000, questions=5)
        alone = {m.tobytes() for m in bayes().source.pool.matrices}
        assert not {m.tobytes() for m in both.source.pool.matrices} <= alone
        assert run(both, LinearOracle(-COSTS))[0].stopped == "budget"

    def test_what_cannot_be_asked_is_refused_in_words(self):
        with pytest.raises(Problem, match="at least one model"):
            Bayes([], family="lpm", seed=1, population=1000)
        with pytest.raises(Problem, match="needs a centre and a radius"):
            bayes(space="sphere")
        with pytest.raises(Problem, match="use it with the family lpm"):
            bayes(family="dlpm", space="sphere", sphere=(np.eye(3) / 3, 0.01))
        with pytest.raises(Problem, match="At least 2 cells"):
            bayes(max_cells=1)
        with pytest.raises(Problem, match="contradict"):
            bayes(constraints=[NeverWorse((0, 1), (1, 0)), NeverWorse((1, 0), (0, 1))])


class TestARareClass:
    """In 1.5 % of the cases a miss costs 200 and 150, where the dearest other mistake costs 3."""

    COSTS = np.array([[0.0, 200.0, 150.0], [1.0, 0.0, 0.5], [0.8, 3.0, 0.0]])

    @staticmethod
    @cache
    def cases() -> Cases:
        rng, shares = np.random.default_rng(15), np.array([0.015, 0.9, 0.085])
        true = rng.choice(3, 6000, p=shares)
        scores = rng.standard_normal((6000, 3))
        scores[np.arange(6000), true] += 2.6
        proba = shares * np.exp(2.6 * scores)
        return Cases.counted(true, proba / proba.sum(axis=1, keepdims=True))

    @pytest.mark.parametrize("seed", [4, 6])
    def test_its_misses_are_known_when_the_questions_end(self, seed):
        procedure = Bayes([self.cases()], family="lpm", seed=seed, population=10_000, questions=18, stop=True)
        outcome, _ = run(procedure, LinearOracle(-self.COSTS))
        low, high = np.quantile(np.divide(*outcome.samples.T[[0, 5]]), [0.05, 0.95])
        assert low < 200 / 3 < high
        assert outcome.method.endswith(" Mistakes on a rare class were expected to cost more.")

    def test_points_of_a_sphere_and_prices_know_no_rare_class(self):
        rates = self.cases().usual()
        assert not bayes(space="sphere", sphere=(np.eye(3) / 3, 0.01)).prior.centre.any()
        counts = np.round(6000 * rates).astype(np.int64)
        amounts = Tally(counts, counts[None], np.zeros(1, np.int64), good=(True, False, False))
        assert not Bayes([amounts], family="lpm", seed=1, population=6000).prior.centre.any()


def test_every_answer_is_foretold_by_the_belief_before_it(truthful):
    asked = truthful()[1]
    fresh = bayes()
    found = fresh.predictive_scores(asked)
    for n, one in enumerate(asked[:3]):
        assert (found.log_probability[n], found.log_ratio_to_chance[n]) == predictive_scores(
            one, bayes().belief(asked[:n])
        )
    assert fresh.predictive_scores(asked[:4]).log_ratio_to_chance.tolist() == found.log_ratio_to_chance[:4].tolist()
