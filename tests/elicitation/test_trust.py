"""Who can be trusted: findings on simulated people, and what a sitting asks so that there are findings."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elicit_app.elicitation.agenda import MAX_EXTRA_CHECKS, better_side, check_question, count_extra_checks
from elicit_app.elicitation.cases import Cases
from elicit_app.elicitation.oracles import LinearOracle, LogitOracle, run
from elicit_app.elicitation.predictive import EvidenceAgainstChance, accuracies, random_pairs
from elicit_app.elicitation.procedures import bayes
from elicit_app.elicitation.procedures.bayes import Bayes
from elicit_app.elicitation.procedures.dlpm import Dlpm
from elicit_app.elicitation.questions import PREFERENCES, Answer, Asked, Choice, Moved, Purpose, Question
from elicit_app.elicitation.region import Region
from elicit_app.elicitation.trust import Count, refitted, trust_report

pytestmark = pytest.mark.usefixtures("few_draws")
COSTS = np.array([[0.0, 1.0, 0.4], [0.2, 0.0, 0.1], [0.7, 0.3, 0.0]])


def counted(k: int = 3) -> Cases:
    rng = np.random.default_rng(11)
    proba = rng.dirichlet(np.full(k, 0.5), 300)
    return Cases.counted([rng.choice(k, p=row) for row in proba], proba)


CASES = counted()
TWO = counted(2)


def sitting(seed: int = 1, cases: Cases = CASES) -> Bayes:
    return Bayes([cases], family="lpm", seed=seed, population=1000, questions=18, checks=True, answers="choice")


class Clicking:
    """Answers by a rule that never looks at the matrices."""

    def __init__(self, rule) -> None:
        self.rule = rule

    def answer(self, question: Question) -> Answer:
        return Answer(self.rule(question))


class Worse(LinearOracle):
    """Takes what it values less."""

    def answer(self, question: Question) -> Answer:
        return Answer(super().answer(question).choice.swapped())


@pytest.fixture(scope="module")
def honest(simulated_answers) -> tuple[Bayes, list[Asked]]:
    procedure = sitting(2)
    return procedure, simulated_answers(procedure, LinearOracle(-COSTS))


class TestPeople:
    def test_who_answers_by_what_they_value_is_trusted(self, honest):
        report = trust_report(*honest)
        assert report.verdict == "trusted"
        assert report.repeats == Count(1, 1)
        assert report.checks == Count(1, 1)
        assert report.explained == Count(22, 22)  # and no check on top
        assert report.accuracy > 0.85
        assert report.held_out.total == 18
        assert report.held_out.learned > max(report.held_out.accuracy, report.held_out.f1)
        assert report.held_out.learned - report.held_out.expected == pytest.approx(0, abs=2 * np.sqrt(18 / 4))

    def test_a_preference_after_moving_a_count_is_a_bound_and_not_held_out(self, honest):
        """It is only given where a count was expected, so a result that predicts honest answers would fail on it."""
        procedure, asked = honest
        person = LinearOracle(-COSTS)

        def moved(question: Question, count: int) -> Asked:
            at = question.proposal
            move = Moved(at.side, at.true, at.predicted, count, at.start)
            return Asked(question, replace(person.answer(question.moved(move)), moved=move))

        def turned(before: Asked) -> Asked:
            """Return the answer at the first end of the scale at which it is another one."""
            at = before.question.proposal
            ends = [moved(before.question, count) for count in (at.least, at.most - 1)] if at else []
            return next((one for one in ends if one.answer.choice is before.answer.choice.swapped()), before)

        history = [turned(one) if n < 9 else one for n, one in enumerate(asked)]
        bounds = sum(q.purpose is Purpose.INFORMATIVE and a.moved is not None for q, a in history)
        assert bounds > 3
        assert trust_report(procedure, history).held_out.total == 18 - bounds

    @pytest.mark.parametrize("seed", [4, 5])
    def test_who_minds_all_mistakes_equally_is(self, seed, simulated_answers):
        """Their ties are no change of mind, and accuracy, which is what they go by, is guessed before it is learned."""
        procedure = sitting(seed)
        asked = simulated_answers(procedure, LinearOracle(np.eye(3) - 1.0))
        report = trust_report(procedure, asked)
        assert Choice.EQUAL in [answer.choice for _, answer in asked]
        assert report.held_out.accuracy == report.held_out.total
        assert report.verdict == "trusted", [one for one in report.suspicions if one.flagged]

    def test_who_tosses_a_coin_is_not(self, simulated_answers):
        verdicts = []
        for seed in (1, 2):
            rng, procedure = np.random.default_rng([seed, 5]), sitting(seed)
            asked = simulated_answers(procedure, Clicking(lambda question, rng=rng: PREFERENCES[rng.integers(2)]))
            verdicts.append(trust_report(procedure, asked).verdict)
            assert (
                count_extra_checks(asked, 18) >= MAX_EXTRA_CHECKS
                or not procedure.evidence_against_chance(asked).is_inconclusive
            )
        # How many of many such people are found out is measured by `benchmarks/trust.py`.
        assert verdicts == ["untrusted", "untrusted"]

    @pytest.mark.parametrize("share", [0.3, 0.7])
    def test_who_clicks_about_equal_or_a_side_at_random_is_not(self, simulated_answers, share):
        rng, procedure = np.random.default_rng(5), sitting()

        def rule(question: Question) -> Choice:
            return Choice.EQUAL if rng.random() < share else PREFERENCES[rng.integers(2)]

        assert trust_report(procedure, simulated_answers(procedure, Clicking(rule))).verdict == "untrusted"

    def test_who_finds_a_trade_about_equal_within_a_factor_of_three_is_trusted(self, simulated_answers):
        class Tolerant(LinearOracle):
            def answer(self, question: Question) -> Answer:
                trade = COSTS * (question.rates[0] - question.rates[1])
                most, least = sorted((trade[trade > 0].sum(), -trade[trade < 0].sum()), reverse=True)
                return Answer(Choice.EQUAL) if most < 3 * least else super().answer(question)

        procedure = sitting()
        asked = simulated_answers(procedure, Tolerant(-COSTS))
        assert sum(one.answer.choice is Choice.EQUAL for one in asked) > 4
        assert trust_report(procedure, asked).verdict == "trusted"

    @pytest.mark.parametrize(("ratio", "beyond"), [(50, False), (2000, True)])
    def test_who_minds_one_mistake_above_all_is_so_told_where_no_question_shows_by_how_much(
        self, simulated_answers, monkeypatch, ratio, beyond
    ):
        procedure = sitting(cases=TWO)
        asked = simulated_answers(procedure, LinearOracle(-np.array([[0.0, ratio], [1.0, 0.0]])))
        report, outcome = trust_report(procedure, asked), procedure.conclude(asked)
        found = report.suspicion("lexicographic")
        assert found.value > 0.5
        assert found.flagged is beyond
        monkeypatch.delattr(Bayes, "conclude")
        assert trust_report(procedure, asked, outcome=outcome) == report, "what is known is not computed again"

    @pytest.mark.parametrize(("low", "high", "insensitive"), [(0.5, 0.55, True), (0.56, 0.62, False)])
    def test_who_names_the_better_result_hardly_more_often_than_a_coin_is_told_so(
        self, honest, monkeypatch, low, high, insensitive
    ):
        procedure, asked = honest
        anybody = procedure.belief([])
        right = accuracies(anybody, random_pairs(procedure.random_gains)[0])
        (rows,) = np.nonzero((low < right) & (right < high))
        assert len(rows) > 5
        monkeypatch.setattr(procedure, "belief", lambda history: anybody.subset(rows, float(len(rows))))
        report = trust_report(procedure, asked)
        assert report.accuracy == pytest.approx(right[rows].mean())
        assert report.flagged("insensitive") is insensitive

    def test_always_the_same_side_is_not(self, simulated_answers):
        procedure = sitting()
        asked = simulated_answers(procedure, Clicking(lambda question: Choice.FIRST))
        report = trust_report(procedure, asked)
        assert report.suspicion("same_side").flagged
        assert report.repeats == Count(0, 1)
        assert report.verdict == "untrusted"

    def test_the_worse_side_every_time_is_not(self, simulated_answers):
        procedure = sitting()
        asked = simulated_answers(procedure, Worse(-COSTS))
        report = trust_report(procedure, asked)
        assert report.checks.right == 0
        assert report.checks.total >= 2  # a failed check is asked again
        assert asked[report.failed_checks[0]].question.purpose is Purpose.CHECK
        assert report.suspicion("reversed").flagged
        assert report.verdict == "untrusted"


class TestOpenVerdicts:
    @pytest.mark.parametrize(
        ("checks", "others", "answers", "is_inconclusive"),
        [(-1.0, 0.5, 22, True), (1.0, 4.0, 22, False), (-3.0, -6.0, 22, False), (-1.0, 0.5, 12, False)],
    )
    def test_only_a_whole_sitting_near_the_line_is_open(self, checks, others, answers, is_inconclusive):
        assert EvidenceAgainstChance(checks, others, answers).is_inconclusive is is_inconclusive

    def test_each_check_that_is_passed_speaks_for_somebody_who_looks(self, honest):
        procedure, asked = honest
        region = procedure.source.region
        check = check_question(procedure.asker.models, region, np.random.default_rng(3))
        right = better_side(*check.rates)
        passed, failed = (
            procedure.evidence_against_chance([*asked, Asked(check, Answer(side))]) for side in (right, right.swapped())
        )
        before = procedure.evidence_against_chance(asked)
        assert passed.checks > before.checks > failed.checks
        assert count_extra_checks([*asked, Asked(check, Answer(right))], 18) == 1


class TestFindings:
    def test_the_same_history_gives_the_same_report(self, honest):
        procedure, asked = honest
        assert trust_report(procedure, asked[:12]) == trust_report(sitting(2), asked[:12])

    def test_where_sides_are_known_they_count_instead_of_the_names(self, honest):
        procedure, asked = honest
        left_sides = [str(answer.choice) for _, answer in asked]
        suspicion = trust_report(procedure, asked, left_sides).suspicion("same_side")
        assert suspicion.flagged
        assert suspicion.value == pytest.approx(2 / 2 ** len(asked))

    def test_an_answer_against_all_others_is_named(self, honest):
        procedure, asked = honest
        surest = [one.question.purpose for one in asked].index(Purpose.CHECK)
        turned = list(asked)
        turned[surest] = Asked(asked[surest].question, Answer(asked[surest].answer.choice.swapped()))
        report = trust_report(procedure, turned)
        assert surest in [surprise.index for surprise in report.surprises]
        assert all(surprise.probability < 0.3 for surprise in report.surprises), "another answer is likelier than .7"
        assert report.explained.right == len(asked) - len(report.surprises)

    def test_a_search_is_judged_by_what_needs_no_belief(self):
        procedure = Dlpm(CASES, epsilon=0.05, population=1000)
        asked = run(procedure, Clicking(lambda question: Choice.FIRST))[1]
        report = trust_report(procedure, asked)
        assert report.accuracy is None
        assert report.held_out is None
        assert report.suspicion("changed") is None
        assert report.suspicion("same_side").flagged

    def test_nothing_said_nothing_found(self):
        report = trust_report(sitting(), [])
        assert report.explained == Count(0, 0)
        assert not any(suspicion.flagged for suspicion in report.suspicions)
        assert report.verdict == "reservations", "nothing that could be trusted"

    def test_cannot_say_and_equal_are_no_side(self, honest):
        procedure, asked = honest
        vague = [
            Asked(question, Answer(Choice.EQUAL if n % 2 else Choice.UNSURE)) for n, (question, _) in enumerate(asked)
        ]
        report = trust_report(procedure, vague)
        assert report.suspicion("same_side").value == 1.0
        assert report.suspicion("random").value <= 0.0
        assert report.held_out is None

    def test_a_refit_is_what_would_have_been_believed(self, simulated_answers, monkeypatch):
        monkeypatch.setattr(bayes, "PARTICLES", 500)
        procedure = sitting(2)
        person = LogitOracle(lambda matrix: -float((COSTS * matrix).sum()), 40.0, np.random.default_rng(3))
        # A person who errs: of one who never does, even many draws know the spread badly.
        asked = simulated_answers(procedure, person)
        kept = [one for n, one in enumerate(asked) if n % 5 and (one.question.repeat_of or 2) % 5 != 1]
        # The unit is arbitrary, so logarithms less their mean; tails of few draws say little, so quartiles.
        fresh, refit = (
            np.quantile(belief.log_weights - belief.log_weights.mean(axis=1, keepdims=True), [0.25, 0.5, 0.75], axis=0)
            for belief in (procedure.belief(kept), refitted(procedure.belief(asked), kept, np.random.default_rng(2)))
        )
        spread = fresh[2] - fresh[0]
        assert np.all(np.abs(fresh[1] - refit[1]) < 0.4 * spread)
        assert np.all(np.abs(np.log((refit[2] - refit[0]) / spread)) < 0.4)


class TestPairs:
    @settings(deadline=None)
    @given(st.integers(2, 6), st.integers(0, 2**20), st.sampled_from([None, 0.5, 1.0]))
    def test_a_check_is_worse_for_everybody(self, k, seed, worst_error):
        rng = np.random.default_rng(seed)
        rows, shares = rng.integers(10, 100, k), 0.5 * (np.eye(k) + 1 / k)
        counts = np.array([[rng.multinomial(*row) for row in zip(rows, shares, strict=True)] for _ in range(3)])
        region = None if worst_error is None else Region.around(counts, worst_error)
        question = check_question(counts / counts[0].sum(), region, rng)
        side = better_side(*question.rates)
        better, worse = question.rates if side is Choice.FIRST else question.rates[::-1]
        assert side in (Choice.FIRST, Choice.SECOND)
        assert np.allclose(better.sum(axis=1), worse.sum(axis=1))
        assert min(question.first.min(), question.second.min()) >= -1e-12
        assert 1 <= (np.abs(better - worse)[~np.eye(k, dtype=bool)] > 1e-9).sum() <= 8
        assert (question.population is None) == (region is None)
        assert question.purpose is Purpose.CHECK

    def test_a_later_check_is_about_what_matters_most(self):
        procedure = sitting()
        region = procedure.source.region

        def loss(better, worse):
            return (worse - better)[:, 0, 2] + 0.5 * (worse - better)[:, 1, 0]

        plain, grave = (
            check_question(procedure.asker.models, region, np.random.default_rng(1), one) for one in (None, loss)
        )
        for check in (plain, grave):
            assert better_side(*check.rates) is not None
            assert region.contains(check.first)
            assert region.contains(check.second)
        more = np.abs(grave.first - grave.second)
        assert more[0, 2] > 0
        assert more[1, 0] > 0
        others = [check_question(procedure.asker.models, region, np.random.default_rng(n), loss) for n in range(6)]
        assert len({frozenset((check.first.tobytes(), check.second.tobytes())) for check in others}) == 6

    def test_better_side_needs_a_side(self):
        a = np.array([[0.4, 0.1], [0.1, 0.4]])
        assert better_side(a, a) is None
        assert better_side(a, np.array([[0.3, 0.2], [0.0, 0.5]])) is None
        assert better_side(a, np.array([[0.3, 0.2], [0.1, 0.4]])) is Choice.FIRST


class TestStoppingEarly:
    @pytest.mark.parametrize("seed", range(2))
    def test_no_early_stop_before_a_repeat_and_a_check(self, run_without_result, seed):
        # Two classes are known after few answers, before the places of repeats and checks.
        procedure = Bayes([TWO], family="lpm", seed=seed, population=1000, questions=60, stop=True, checks=True)
        stopped, asked = run_without_result(procedure, LinearOracle(-COSTS[:2, :2]))
        assert stopped in ("known", "best-model")
        assert len(asked) < 20
        assert {one.question.purpose for one in asked} == set(Purpose)
        report = trust_report(procedure, asked)
        assert report.repeats.total >= 1
        assert report.checks.total >= 1

    def test_without_checks_it_stops_at_once(self, simulated_answers):
        procedure = Bayes([TWO], family="lpm", seed=0, population=1000, questions=60, stop=True)
        asked = simulated_answers(procedure, LinearOracle(-COSTS[:2, :2]))
        assert {one.question.purpose for one in asked} == {Purpose.INFORMATIVE}


@pytest.mark.parametrize(("count", "right"), [(150, 1), (199, 1), (200, 0), (250, 0)])
def test_a_repeat_that_was_made_equal_agrees_where_it_took_the_side_that_was_better_before(count, right):
    """Who preferred the second, with fewer of a mistake than 200, finds 150 of it as bad as it, not 250."""
    first = Question.of_rates(np.array([[0.3, 0.2], [0.1, 0.4]]), np.array([[0.4, 0.1], [0.2, 0.3]]), 1000)
    repeat = replace(first.swapped(), purpose=Purpose.REPEAT, repeat_of=1)
    equal = Answer(Choice.EQUAL, moved=Moved("second", 0, 1, count, 200))
    procedure = Bayes([counted(2)], family="lpm", seed=0, population=1000)
    report = trust_report(procedure, [Asked(first, Answer(Choice.SECOND)), Asked(repeat, equal)])
    assert report.repeats == Count(right, 1)


@pytest.mark.parametrize(("again", "right"), [(Choice.SECOND, 1), (Choice.FIRST, 0)])
def test_a_repeat_with_its_sides_exchanged_agrees_where_the_same_result_is_chosen(again, right):
    first = Question.of_rates(np.array([[0.4, 0.1], [0.2, 0.3]]), np.array([[0.3, 0.2], [0.1, 0.4]]), 1000)
    repeat = replace(first.swapped(), purpose=Purpose.REPEAT, repeat_of=1)
    history = [Asked(first, Answer(Choice.FIRST)), Asked(repeat, Answer(again))]
    procedure = Bayes([counted(2)], family="lpm", seed=0, population=1000)
    assert trust_report(procedure, history).repeats == Count(right, 1)
