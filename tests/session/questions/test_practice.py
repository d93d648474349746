"""Practice: a pair in which one mistake differs, so that B is better whatever one values, and a trade."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elicit_app.session.pair_words import compare_pair
from elicit_app.session.warm_up import keys_to_guess, practice_feedback, practice_pair, practice_trade, ratio_typed
from elicit_app.study.model import Distribution, Predictions, Study, default_wording


def study(k: int = 3, *, seed: int = 0, skill: float = 1.0, distribution: bool = False, stated: bool = False) -> Study:
    rng = np.random.default_rng(seed)
    y_true = (np.arange(240) % k).astype(np.int64)
    scores = rng.random((240, k)) + skill * np.eye(k)[y_true]
    proba = scores / scores.sum(axis=1, keepdims=True)
    return Study(
        name="made-up",
        title="Made up",
        classes=tuple("abcdefghij"[:k]),
        models=() if distribution else (Predictions("model", y_true, proba),),
        population=1000,
        stated_prevalence=tuple(np.arange(1, k + 1) / sum(range(1, k + 1))) if stated else None,
        wording=default_wording(list("abcdefghij"[:k]), "patient", "patients"),
        yardstick=(1, 0),
        kind="synthetic" if distribution else "file",
        distribution=Distribution(proba) if distribution else None,
    )


@settings(max_examples=40, deadline=None)
@given(
    st.integers(2, 10),
    st.integers(0, 50),
    st.sampled_from([0.0, 0.4, 5.0]),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["lpm", "dlpm"]),
)
def test_one_side_is_better_and_only_one_thing_differs(k, seed, skill, distribution, stated, family) -> None:
    made = study(k, seed=seed, skill=skill, distribution=distribution, stated=stated)
    worse, better, proposal = practice_pair(made)
    assert proposal is None
    assert better.min() >= 0
    assert worse.min() >= 0
    assert worse.sum() == better.sum() == 1000
    np.testing.assert_array_equal(worse.sum(axis=1), better.sum(axis=1))
    moved = worse - better
    assert np.trace(moved) < 0
    assert np.count_nonzero(moved - np.diag(np.diag(moved))) == 1
    (row,) = compare_pair(worse, better, made.wording, made.population, family).rows
    assert row.larger == "left"
    assert row.true == 1


def test_a_trade_is_about_two_truths() -> None:
    made = study(3)
    left, right, proposal = practice_trade(made)
    one, other = compare_pair(left, right, made.wording, made.population, "dlpm").rows
    assert one.true != other.true
    assert {one.larger, other.larger} == {"left", "right"}
    assert proposal.true in (one.true, other.true)


@pytest.mark.parametrize(("family", "most"), [("lpm", 3), ("lpm", 6), ("dlpm", 2)])
def test_of_many_mistakes_the_most_frequent_are_guessed_in_study_order(family, most) -> None:
    made = study(5, skill=0.4)
    rates = made.usual_counts[0].astype(float)
    np.fill_diagonal(rates, 0)

    def frequent(key):
        return rates[key[0]].sum() if key[1] is None else rates[key]

    every, asked = keys_to_guess(made, family, most=99), keys_to_guess(made, family, most)
    assert list(asked) == [key for key in every if key in asked]
    assert len(asked) == most
    assert min(map(frequent, asked)) >= max(frequent(key) for key in every if key not in asked)


@pytest.mark.parametrize(
    ("typed", "ratio"), [("0,500", 0.5), ("1,200", 1200.0), ("1,20", 1.2), ("12,345,678", 12345678.0)]
)
def test_a_comma_parts_thousands_only_where_a_number_could_begin_so(typed, ratio) -> None:
    assert ratio_typed(typed) == ratio


@pytest.mark.parametrize("k", [2, 3, 7])
@pytest.mark.parametrize("skill", [0.4, 1.0])
def test_the_scale_of_a_trade_ends_where_half_of_the_class_is_wrong(k, skill) -> None:
    left, right, proposal = practice_trade(study(k, skill=skill))
    cell, cases = (proposal.true, proposal.predicted), right[proposal.true].sum()
    assert (proposal.least, proposal.start) == (left[cell] + 1, min(right[cell], proposal.most))
    assert proposal.least < proposal.most
    assert proposal.most <= max(proposal.least + 1, cases // 2) < cases


@pytest.mark.parametrize(("reply", "right"), [("right", True), ("left", False), ("equal", False), ("unsure", False)])
def test_feedback(reply, right) -> None:
    made = study()
    words = compare_pair(*practice_pair(made)[:2], made.wording, made.population, "lpm")
    said, gain = practice_feedback(words, reply), words.strip.changes
    assert said.right is right
    if right:
        assert said.headline == "You chose B, and B is better whatever you value"
        assert said.sentence == (
            f"B has {gain} and nothing else differs. In the real questions each side is better at something, and "
            "there is no right answer: only yours counts."
        )
    else:
        assert said.headline == f"Look once more: B has {gain} and nothing else differs"
        assert said.sentence == "The outlined part is how many more there are on that side."
