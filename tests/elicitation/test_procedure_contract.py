"""What every procedure owes to whoever drives it."""

from dataclasses import replace

import numpy as np
import pytest

from elicit_app.elicitation.cases import Cases
from elicit_app.elicitation.oracles import FlipOracle, LogitOracle, RecordedOracle, UtilityOracle, run
from elicit_app.elicitation.procedure import Outcome
from elicit_app.elicitation.procedures.bayes import Bayes
from elicit_app.elicitation.procedures.dlpm import Binary, Dlpm
from elicit_app.elicitation.procedures.fractional import Dlfpm, Lfpm
from elicit_app.elicitation.procedures.lpm import Lpm, QuadraticSearch
from elicit_app.elicitation.procedures.published import Published
from elicit_app.elicitation.questions import Answer, Asked, Choice, Moved, Question, Step
from elicit_app.elicitation.sphere import Sphere
from elicit_app.problem import Problem

pytestmark = pytest.mark.usefixtures("few_draws")
COSTS = np.array([[0.0, 1.0, 0.4], [0.2, 0.0, 0.1], [0.7, 0.3, 0.0]])


def counted() -> Cases:
    rng = np.random.default_rng(11)
    proba = rng.dirichlet(np.full(3, 0.5), 150)
    return Cases.counted([rng.choice(3, p=row) for row in proba], proba)


CASES = counted()
SPHERE = Sphere.around(CASES.prevalence, 0.03)
TWO = Cases.exact(np.column_stack([np.linspace(0.02, 0.98, 400), np.linspace(0.98, 0.02, 400)]))


def honest() -> UtilityOracle:
    """Return the expert of `COSTS`, of the first two classes where there are only these."""
    return UtilityOracle(lambda matrix: -float((COSTS[: len(matrix), : len(matrix)] * matrix).sum()))


PROCEDURES = {
    "dlpm": lambda: Dlpm(CASES, epsilon=0.05, population=1000),
    "dlpm-all": lambda: Dlpm(CASES, epsilon=0.05, ask="all"),
    "dlpm-repair": lambda: Dlpm(CASES, epsilon=0.05, repair=True, population=1000),
    "lpm": lambda: Lpm(SPHERE, epsilon=0.1, cycles=1, population=1000),
    "lpm-all": lambda: Lpm(SPHERE, epsilon=0.2, cycles=1, ask="all"),
    "dlfpm": lambda: Dlfpm(CASES, epsilon=0.1, population=1000),
    "dlfpm-bisect": lambda: Dlfpm(CASES, epsilon=0.4, ask="bisect"),
    "lfpm": lambda: Lfpm(SPHERE, epsilon=0.2, cycles=1, population=1000),
    "binary": lambda: Binary(TWO, epsilon=0.1),
    "quadratic": lambda: QuadraticSearch(Sphere.around(TWO.prevalence, 0.03), epsilon=0.4, cycles=1),
    "bayes-dlfpm": lambda: Bayes([CASES], family="dlfpm", seed=3, population=1000, questions=4, answers="choice"),
    "bayes": lambda: Bayes([CASES], family="lpm", seed=3, population=1000, questions=6),
    "bayes-dlpm": lambda: Bayes([CASES], family="dlpm", seed=3, population=1000, questions=6),
}
PUBLISHED = [name for name in PROCEDURES if not name.startswith("bayes")]


@pytest.fixture(scope="module", params=list(PROCEDURES))
def procedure(request):
    return PROCEDURES[request.param]()


@pytest.fixture(scope="module")
def truthful(procedure):
    """What it learned of a person who answers by `COSTS`, and the answers."""
    return run(procedure, honest())


@pytest.fixture(scope="module")
def cycled(procedure):
    """What it learned from every kind of answer in turn, and the answers."""
    return run(procedure, Cycling())


@pytest.fixture(params=PUBLISHED)
def published(request) -> Published:
    return PROCEDURES[request.param]()


class Cycling:
    """Answers with every kind of answer in turn."""

    def __init__(self) -> None:
        self.answers = 0

    def answer(self, question: Question) -> Answer:
        self.answers += 1
        return Answer((Choice.FIRST, Choice.EQUAL, Choice.UNSURE, Choice.SECOND, Choice.UNSURE)[self.answers % 5])


def first(procedure, history=()) -> Step | Outcome:
    elicitation = procedure.begin(history)
    try:
        return next(elicitation)
    except StopIteration as end:
        return end.value
    finally:
        elicitation.close()


def same_outcome(one: Outcome, other: Outcome) -> bool:
    return np.array_equal(one.weights, other.weights) and (one.stopped, one.questions) == (
        other.stopped,
        other.questions,
    )


def noisy(which):
    rng, linear = np.random.default_rng(2), honest()
    return FlipOracle(linear, 0.2, rng) if which == "flip" else LogitOracle(linear.utility, 50.0, rng)


@pytest.mark.parametrize("which", ["linear", "flip", "logit", "every kind"])
def test_every_oracle_drives_it_to_an_outcome_of_the_right_shape(procedure, truthful, cycled, which):
    done = {"linear": truthful, "every kind": cycled}
    outcome, asked = done[which] if which in done else run(procedure, noisy(which))
    k = len(asked[0].question.first)
    size = k if procedure.family.startswith("d") else k * (k - 1)
    assert outcome.family == procedure.family
    assert outcome.weights.shape == (size,)
    assert np.isfinite(outcome.weights).all()
    assert len(outcome.bounded) == size
    assert outcome.questions == len(asked) > 0
    if procedure.family == "dlpm":
        assert outcome.weights.min() >= 0
        assert outcome.weights.sum() == pytest.approx(1)
    if procedure.family == "lpm":
        assert outcome.weights.max() <= 0
        assert np.linalg.norm(outcome.weights) == pytest.approx(1)


def test_beginning_after_any_part_of_a_history_asks_what_was_asked_next(procedure, cycled):
    outcome, asked = cycled
    for n in [*range(0, len(asked), max(1, len(asked) // 12)), len(asked) - 1]:
        step = first(procedure, asked[:n])
        assert isinstance(step, Step)
        assert procedure.stops(asked[:n]) is None
        assert step.progress.asked == n
        np.testing.assert_array_equal(step.question.first, asked[n].question.first)
        np.testing.assert_array_equal(step.question.second, asked[n].question.second)
        assert (step.question.purpose, step.question.repeat_of) == (
            asked[n].question.purpose,
            asked[n].question.repeat_of,
        )
    finished = first(procedure, asked)
    assert isinstance(finished, Outcome)
    assert same_outcome(finished, outcome)
    assert procedure.stops(asked) in (finished.stopped, None)


def test_it_can_be_stopped_after_any_answer(procedure, truthful):
    _, asked = truthful
    for n in (0, 1, len(asked) // 2, len(asked) - 1):
        outcome = procedure.conclude(asked[:n])
        assert (outcome.stopped, outcome.questions) == ("expert", n)
        assert np.isfinite(outcome.weights).all()


def test_a_record_of_the_answers_gives_the_same_outcome(procedure, cycled):
    outcome, asked = cycled
    again, _ = run(procedure, RecordedOracle(asked))
    assert same_outcome(again, outcome)


def test_only_prevalence_keeping_matrices_are_shown(truthful):
    _, asked = truthful
    rows = asked[0].question.rates[0].sum(axis=1)
    for question, _ in asked:
        for matrix in question.rates:
            assert matrix.min() >= -1e-12
            np.testing.assert_allclose(matrix.sum(axis=1), rows, atol=1e-9)


def test_recorded_answers_count_whichever_side_was_which(published):
    outcome, asked = run(published, honest())
    turned = [Asked(question.swapped(), answer.swapped()) for question, answer in asked]
    assert same_outcome(first(published, turned), outcome)


def recomputed(question: Question) -> Question:
    """Return the question as another computer may find it: one case, or a rounding error, elsewhere."""
    first = question.first.copy()
    step = 4e-10 if question.population is None else 1
    first[0, np.argmax(first[0])] -= step
    first[1, 1] += step
    return replace(question, first=first)


def test_a_recorded_question_that_differs_by_rounding_is_the_truth(published):
    outcome, asked = run(published, honest())
    moved = [Asked(recomputed(question), answer) for question, answer in asked]
    assert same_outcome(first(published, moved), outcome)


def test_after_an_edit_recorded_answers_are_used_where_their_question_comes_back(published):
    _, asked = run(published, honest())
    changed = Answer(Choice.SECOND if asked[1].answer.choice is Choice.FIRST else Choice.FIRST)
    edited = [asked[0], Asked(asked[1].question, changed), *asked[2:]]
    step = first(published, edited)
    # Only what the new course shares with the old one is used; nothing is asked twice.
    used = step.progress.asked if isinstance(step, Step) else step.questions
    assert 2 <= used <= len(asked)
    if isinstance(step, Step):
        for question, _ in edited:
            assert not question.same_as(step.question)
    without = [asked[0], *asked[2:]]
    again = first(published, without)
    assert isinstance(again, Step)
    assert again.question.same_as(asked[1].question)
    put_back = first(published, [*without, asked[1]])
    assert same_outcome(put_back, first(published, asked))


def test_where_the_expert_cannot_say_the_question_comes_again_as_a_repeat(published):
    step = first(published)
    history = [Asked(step.question, Answer(Choice.UNSURE))]
    for _ in range(200):
        step = first(published, history)
        if step.question.repeat_of is not None:
            break
        history.append(Asked(step.question, honest().answer(step.question)))
    assert step.question.repeat_of == 1
    assert step.question.same_as(history[0].question)
    history.append(Asked(step.question, Answer(Choice.UNSURE)))
    following = first(published, history)
    # Twice "cannot say" is a tie: the search goes on.
    assert isinstance(following, Outcome) or not following.question.same_as(step.question)


def test_a_moved_count_is_refused_by_a_search_given_or_recorded(published):
    step = first(published)
    moved = Answer(Choice.EQUAL, moved=Moved("first", 0, 1, 10, 20))
    with pytest.raises(Problem, match=f"The procedure {published.name} .* cannot use an answer that moves a count"):
        first(published, [Asked(step.question, moved)])
    elicitation = published.begin()
    next(elicitation)
    with pytest.raises(Problem, match="cannot use"):
        elicitation.send(moved)


@pytest.mark.parametrize("cap", [1, 4])
def test_a_cap_is_kept(cap):
    for build in (
        lambda: Dlpm(CASES, questions=cap),
        lambda: Lpm(SPHERE, questions=cap),
        lambda: Dlfpm(CASES, questions=cap),
        lambda: Lfpm(SPHERE, questions=cap),
        lambda: Bayes([CASES], family="lpm", seed=1, population=1000, questions=cap),
    ):
        outcome, asked = run(build(), UtilityOracle(lambda matrix: float(np.trace(matrix))))
        assert (outcome.stopped, outcome.questions, len(asked)) == ("budget", cap, cap)


def test_progress_ends_at_nothing(published):
    _, asked = run(published, honest())
    last = first(published, asked[:-1])
    assert isinstance(last, Step)
    assert last.progress.fewest <= last.progress.most
    assert last.progress.most <= 4
    assert last.progress.asked == len(asked) - 1
