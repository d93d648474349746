"""Orders that an expert states: reading them, what is refused, and that weights are held to them."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elicit_app.elicitation.belief import ParticlePosterior
from elicit_app.elicitation.orders import (
    StatedMistake,
    StatedOrder,
    constraints_of,
    contradicted_orders,
    read_order,
    violated_order,
)
from elicit_app.elicitation.prior import NeverWorse, WeightPrior
from elicit_app.elicitation.response import N_PARAMETERS, ResponseModel
from elicit_app.problem import Problem

CLASSES = ("melanoma", "naevus", "keratosis")
names = st.text("ab:<= ", min_size=1, max_size=4).map(str.strip).filter(bool)


def order(*ends):
    return StatedOrder(*(StatedMistake(*end) for end in ends))


@given(st.lists(names, min_size=2, max_size=4, unique=True), st.data())
def test_what_is_written_is_read_unless_a_name_makes_it_ambiguous(classes, data):
    pick = st.sampled_from(classes)
    stated = order((data.draw(pick), data.draw(pick)), (data.draw(pick), data.draw(pick)))
    if any(":" in name or "<=" in name for name in classes):
        with suppress(Problem):
            assert read_order(str(stated), classes) == stated
    else:
        assert read_order(str(stated), classes) == stated


def test_what_can_be_read_in_two_ways_is_refused():
    with pytest.raises(Problem, match="in more than one way"):
        read_order("a:b:c<=c:a", ("a", "a:b", "b:c", "c"))


def test_spaces_do_not_matter_and_a_truth_alone_is_enough_for_dlpm():
    assert read_order(" melanoma : naevus <= naevus:melanoma ", CLASSES) == order(
        ("melanoma", "naevus"), ("naevus", "melanoma")
    )
    alone = read_order("naevus<=melanoma", CLASSES)
    assert alone == order(("naevus",), ("melanoma",))
    (constraint,) = constraints_of([alone], CLASSES, "dlpm")
    assert (constraint.mistake[0], constraint.than[0]) == (1, 0)


def test_names_and_indices_say_the_same():
    named = constraints_of([order(("naevus", "melanoma"), ("melanoma", "naevus"))], CLASSES, "lpm")
    assert named == constraints_of([order((1, 0), (0, 1))], CLASSES, "lpm") == (NeverWorse((1, 0), (0, 1)),)
    # A name comes before an index: a class may be called 1.
    assert constraints_of([order(("1", "0"), ("0", "1"))], ("1", "0"), "lpm") == (NeverWorse((0, 1), (1, 0)),)


@pytest.mark.parametrize("text", ["", "melanoma:naevus", "melanoma:naevus<naevus:melanoma", "melanoma:wart<=naevus"])
def test_what_states_no_order_is_refused_with_the_classes(text):
    with pytest.raises(Problem, match=r"states no order of two mistakes\..*melanoma, naevus, keratosis"):
        read_order(text, CLASSES)


@pytest.mark.parametrize(
    ("stated", "family", "says"),
    [
        ([order(("naevus",), ("melanoma", "naevus"))], "lpm", "leaves open what naevus is taken for"),
        ([order(("wart", "naevus"), ("melanoma", "naevus"))], "lpm", "class 'wart', which does not exist"),
        ([order((3, 0), (0, 1))], "lpm", "class 3, which does not exist"),
        ([order((1, 1), (0, 1))], "lpm", "1:1 is not a mistake"),
        ([order((1, 0), (1, 0))], "lpm", "compares a mistake with itself. State"),
        ([order((1, 0), (1, 2))], "dlpm", "in this family all wrong answers for the same truth are equally bad"),
        ([order((1, 0), (0, 1)), order((0, 1), (1, 0))], "lpm", "contradict each other"),
        ([order((0,), (1,)), order((1,), (2,)), order((2,), (0,))], "dlpm", "contradict each other"),
    ],
)
def test_orders_that_make_no_sense_are_refused_in_words(stated, family, says):
    with pytest.raises(Problem, match=says):
        constraints_of(stated, CLASSES, family)


@given(st.lists(st.floats(0, 1), min_size=6, max_size=6))
def test_weights_break_an_order_where_the_first_mistake_weighs_more(sizes):
    stated = [order((0, 1), (1, 0)), order((2, 0), (2, 1))]
    weights = -np.array(sizes)  # row-major: 01 02 10 12 20 21
    expected = stated[0] if sizes[0] > sizes[2] else stated[1] if sizes[4] > sizes[5] else None
    assert violated_order(weights, stated, CLASSES, "lpm") is expected


@pytest.mark.parametrize(("kept", "contradicted"), [(0, True), (9, True), (11, False), (100, False)])
def test_an_order_is_contradicted_where_less_than_a_tenth_of_the_draws_keep_it(kept, contradicted):
    prior = WeightPrior.of("lpm", 3, "iid")
    logs = np.zeros((100, prior.size))
    logs[:, 1] = np.where(np.arange(100) < kept, -1.0, np.log(3))  # of melanoma called keratosis
    draws = np.hstack([prior.coordinates(logs), np.zeros((100, N_PARAMETERS))])
    belief = ParticlePosterior(prior, ResponseModel(np.eye(prior.size), np.ones(11)), draws, 100.0)
    found = contradicted_orders([NeverWorse((0, 2), (1, 0)), NeverWorse((1, 0), (2, 1))], belief)
    assert [one.order for one in found] == ([NeverWorse((0, 2), (1, 0))] if contradicted else [])
    assert [one.ratio for one in found] == ([pytest.approx(3)] if contradicted else [])
