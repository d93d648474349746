from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from elicit_app.session.questions import sides, sides_of_repeat


@given(seed=st.integers(0, 2**63), blocks=st.integers(1, 6))
def test_every_four_questions_have_every_side_and_subject_once(seed, blocks):
    drawn = [sides(seed, number) for number in range(1, 4 * blocks + 1)]
    assert set(Counter(drawn).values()) == {blocks}
    assert drawn == [sides(seed, number) for number in range(1, 4 * blocks + 1)]


def test_sides_differ_between_seeds():
    drawn = {tuple(sides(seed, number) for number in range(1, 13)) for seed in range(30)}
    assert len(drawn) == 30


def test_a_repeat_swaps_sides_whatever_order_the_procedure_repeats_it_in(write):
    original = write.answered("first")
    assert original.left == "second"
    pair = original.pair
    swapped = pair.model_copy(update={"first": pair.second, "second": pair.first})
    assert sides_of_repeat(original, pair, "right") == ("first", "right")
    assert sides_of_repeat(original, swapped, "left") == ("second", "left")
