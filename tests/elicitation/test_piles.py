"""Piles stated before the questions: read by class names, refused in words, and what they do to the belief."""

import numpy as np
import pytest

from elicit_app.elicitation.orders import StatedMistake, StatedPile, piles_of
from elicit_app.elicitation.prior import WeightPrior
from elicit_app.problem import WrongOption
from elicit_app.registry import setting_of
from elicit_app.registry.entries import setting_from

CLASSES = ("a", "b", "c")


def pile(name, *mistakes):
    return StatedPile(name, tuple(StatedMistake(*mistake) for mistake in mistakes))


def test_piles_are_read_by_name_or_index_and_empty_ones_left_out():
    stated = [pile("mild", ("a", "b"), (1, 2)), pile("nothing"), pile("grave", ("c", "a"))]
    assert piles_of(stated, CLASSES) == (((0, 1), (1, 2)), ((2, 0),))


@pytest.mark.parametrize(
    "stated",
    [
        [pile("one", ("a", "b")), pile("two", ("a", "b"))],
        [pile("one", ("a", "b"), (0, 1))],
        [pile("one", ("a", "a"))],
        [pile("one", ("a", "d"))],
        [pile("one", ("a", None))],
    ],
)
def test_what_is_no_pile_is_refused(stated):
    with pytest.raises(WrongOption, match="piles"):
        piles_of(stated, CLASSES)


def test_a_setting_keeps_piles_and_purpose_as_it_is_stored():
    setting = setting_of("bayes", piles=(pile("mild", ("a", "b")),), purpose="costs")
    assert setting_from(setting.model_dump(mode="json", exclude_none=True)) == setting


def test_mistakes_of_one_pile_are_believed_to_be_more_alike():
    plain = WeightPrior.of("lpm", 3, "iid").covariance
    piled = WeightPrior.of("lpm", 3, "iid", piles=piles_of([pile("mild", ("a", "b"), ("a", "c"))], CLASSES)).covariance
    assert piled[0, 1] > plain[0, 1]
    assert piled[0, 2] == pytest.approx(0.0)
    assert np.all(np.linalg.eigvalsh(piled) > 0)
