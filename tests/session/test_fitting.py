import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elicit_app.elicitation.procedure import Outcome
from elicit_app.elicitation.questions import Answer, Asked, Choice, Purpose, Question
from elicit_app.elicitation.trust import balance, fits
from elicit_app.session.journal.state import apply, fold
from elicit_app.session.trust_findings import contradictions
from metrics.elicited.family import family_of

counts = st.lists(st.integers(0, 50), min_size=9, max_size=9).map(lambda cells: np.array(cells).reshape(3, 3) / 450)


@given(counts, counts, st.lists(st.floats(0.01, 1), min_size=6, max_size=6))
def test_features_give_the_utility_of_the_family(a, b, numbers):
    for family, weights in (("dlpm", np.array(numbers[:3])), ("lpm", -np.array(numbers))):
        direct = (family_of(family).weight_matrix(weights) * (a - b)).sum()
        gains = family_of(family).coordinates(a - b)
        share = balance(weights, gains)
        assert -1 <= share <= 1
        assert share == pytest.approx(-balance(weights, -gains))
        assert np.sign(share) == pytest.approx(np.sign(direct), abs=0) or abs(direct) < 1e-12


def asked(choice, *, missed=10, needless=30):
    a = np.array([[100, 20], [10, 70]])
    b = a + np.array([[missed, -missed], [needless, -needless]])
    return Asked(Question(a, b, 200), Answer(choice))


def outcome(ratio):
    weights = -np.array([ratio, 1.0]) / np.hypot(ratio, 1)
    return Outcome("lpm", weights, (None, None), "expert", 1)


def test_an_answer_fits_when_the_weights_would_give_it_too():
    """B has 10 fewer misses and 30 more needless ones, so B is better from a ratio of 3 on."""
    for ratio, better in ((6.0, Choice.SECOND), (1.5, Choice.FIRST)):
        assert fits(asked(better), outcome(ratio))
        assert not fits(asked(better.swapped()), outcome(ratio))
        assert not fits(asked(Choice.EQUAL), outcome(ratio * (2 if ratio > 3 else 0.5)))
        assert fits(asked(Choice.UNSURE), outcome(ratio))
    assert fits(asked(Choice.EQUAL), outcome(3.0))
    assert fits(asked(Choice.FIRST), outcome(3.1)), "too close to hold it against anyone"


def test_the_same_pair_with_two_answers_is_a_contradiction_until_it_is_settled(write):
    pair = write.pair()
    swapped = pair.model_copy(
        update={"first": pair.second, "second": pair.first, "purpose": Purpose.REPEAT, "repeat_of": 1}
    )
    state = fold([write.begun(), write.answered("first", pair), write.answered("equal", write.pair(50))])
    agreed = apply(state, write.answered("second", swapped))
    assert contradictions(agreed) == ()
    torn = apply(state, write.answered("first", swapped))
    assert contradictions(torn) == ((1, 3),)
    for event in (
        write.resolved(1, 3, "both"),
        write.resolved(1, 3, "first"),
        write.resolved(1, 3, "equal"),
        write.taken_out(1),
        write.changed(3, "second"),
        write.changed(3, "unsure"),
    ):
        settled = apply(torn, event)
        assert contradictions(settled) == ()
        assert contradictions(apply(settled, write.undone())) == ((1, 3),)
