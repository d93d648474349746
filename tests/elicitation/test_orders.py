"""Orders that an expert states: reading them, what is refused, and that weights are held to them."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elicit_app.elicitation.belief import ParticlePosterior, prior_draws
from elicit_app.elicitation.orders import (
    StatedMistake,
    StatedOrder,
    constraints_of,
    contradicted_orders,
    orders_by_distance,
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


@given(st.lists(st.floats(0.1, 1), min_size=12, max_size=12), st.permutations(range(4)))
def test_an_order_of_classes_says_that_what_is_further_off_is_never_less_bad(sizes, places):
    classes = ["none", "mild", "moderate", "severe"]
    costs = np.zeros((4, 4))
    costs[~np.eye(4, dtype=bool)] = sizes
    within = costs[np.ix_(places, places)]
    grows = all(
        within[near, far] >= max(within[near, middle], within[middle, far])
        and within[far, near] >= max(within[far, middle], within[middle, near])
        for near in range(4)
        for middle in range(near + 1, 4)
        for far in range(middle + 1, 4)
    )
    orders = orders_by_distance([classes[place] for place in places])
    assert (violated_order(-np.array(sizes), orders, classes, "lpm") is None) == grows


@pytest.mark.parametrize("power", [0.0, 0.5, 2.0])
def test_costs_that_grow_with_the_distance_keep_an_order_of_classes(power):
    far = np.abs(np.subtract.outer(np.arange(5), np.arange(5))).astype(float)
    costs = far**power * np.where(np.tri(5, k=-1), 3.0, 1.0)
    classes = list("abcde")
    orders = orders_by_distance(classes)
    assert len(orders) == len(set(orders)) == 24
    assert violated_order(-costs[~np.eye(5, dtype=bool)], orders, classes, "lpm") is None


def test_classes_beside_an_order_are_in_none():
    named = {str(one) for order in orders_by_distance(["b", "d", "a"]) for one in (order.mistake, order.than)}
    assert named == {"b:d", "b:a", "d:b", "d:a", "a:d", "a:b"}


def test_draws_keep_an_order_of_classes_and_are_those_that_keep_it_by_chance():
    classes = ["none", "mild", "severe"]
    prior = WeightPrior.of("lpm", 3, "iid", constraints_of(orders_by_distance(classes), classes, "lpm"))
    rng = np.random.default_rng(5)
    logs = prior.log_weights(prior_draws(prior, 4_000, prior.size + N_PARAMETERS, rng)[:, : prior.size])
    free = prior.log_weights(rng.standard_normal((60_000, prior.size)))
    kept = free[prior.allowed(free)]
    assert prior.allowed(np.round(logs, 9)).all()
    levels = (0.25, 0.5, 0.75)
    np.testing.assert_allclose(np.quantile(logs, levels, axis=0), np.quantile(kept, levels, axis=0), atol=0.12)


def belief_in(cost: np.ndarray) -> ParticlePosterior:
    """Return a belief in which costs are 1, but for draws of that of melanoma called keratosis."""
    prior = WeightPrior.of("lpm", 3, "iid")
    logs = np.zeros((len(cost), prior.size))
    logs[:, 1] = np.log(cost)
    draws = np.hstack([prior.coordinates(logs), np.zeros((len(cost), N_PARAMETERS))])
    return ParticlePosterior(prior, ResponseModel(np.eye(prior.size), np.ones(11)), draws, float(len(cost)))


@pytest.mark.parametrize(("likelier", "contradicted"), [(9, False), (11, True)])
def test_an_order_of_the_classes_is_contradicted_by_answers_likelier_without_it(likelier, contradicted):
    belief = belief_in(np.where(np.arange(100) < 30, 0.5, 3.0))
    implied = [NeverWorse((1, 0), (2, 1)), NeverWorse((0, 2), (1, 0)), NeverWorse((1, 2), (2, 0))]
    found = contradicted_orders((), implied, belief, np.log(likelier))
    assert [one.order for one in found] == ([implied[1]] if contradicted else []), "the least probable speaks for all"


def test_answers_that_contradict_an_order_of_two_mistakes_say_nothing_of_the_classes():
    belief = belief_in(np.full(100, 3.0))
    single = NeverWorse((0, 2), (1, 0))
    assert [one.order for one in contradicted_orders([single], [NeverWorse((0, 2), (2, 0))], belief, 9.0)] == [single]


@pytest.mark.parametrize(("kept", "contradicted"), [(0, True), (9, True), (11, False), (100, False)])
def test_an_order_is_contradicted_where_less_than_a_tenth_of_the_draws_keep_it(kept, contradicted):
    belief = belief_in(np.where(np.arange(100) < kept, 0.5, 3.0))
    found = contradicted_orders([NeverWorse((0, 2), (1, 0)), NeverWorse((1, 0), (2, 1))], (), belief, 0.0)
    assert [one.order for one in found] == ([NeverWorse((0, 2), (1, 0))] if contradicted else [])
    assert [one.ratio for one in found] == ([pytest.approx(3)] if contradicted else [])
