"""The words for a pair: laws first, then the sentences of the specification."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elicit_app.elicitation.questions import Counts, Family
from elicit_app.problem import Problem
from elicit_app.session.pair_words import all_rows, compare_pair, rate_words
from elicit_app.study.model import Mistake, Wording, default_wording

FAMILIES = st.sampled_from(["dlpm", "lpm"])


def counts(*rows: list[int]) -> Counts:
    return np.array(rows, dtype=np.int64)


def plain_wording(k: int) -> Wording:
    names = tuple(f"class{i}" for i in range(k))
    return Wording(
        case="patient",
        cases="patients",
        class_one=names,
        class_many=tuple(f"{name}s" for name in names),
        mistakes={
            (i, j): Mistake(f"M{i}{j}", f"mistake {i}{j}", f"mistakes {i}{j}")
            for i in range(k)
            for j in range(k)
            if i != j
        },
        any_mistake=tuple(Mistake(f"Any {i}", f"any {i}", f"anys {i}") for i in range(k)),
    )


SKIN = Wording(
    case="patient",
    cases="patients",
    class_one=("melanoma", "naevus", "benign keratosis"),
    class_many=("melanomas", "naevi", "benign keratoses"),
    mistakes={
        **plain_wording(3).mistakes,
        (0, 1): Mistake(
            "Missed melanoma", "missed melanoma", "missed melanomas", "Sent home. Found later, harder to treat."
        ),
        (1, 0): Mistake("Needless excision", "needless excision", "needless excisions"),
    },
    any_mistake=plain_wording(3).any_mistake,
)
A = counts([80, 31, 9], [48, 588, 24], [17, 21, 182])
B = counts([92, 19, 9], [133, 503, 24], [17, 21, 182])


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Counts, Counts]:
    """Two matrices of counts with the same row sums."""
    k = draw(st.integers(2, 5))
    cells = st.lists(st.integers(0, 40), min_size=k, max_size=k)
    left = np.array([draw(cells) for _ in range(k)], dtype=np.int64)
    right = left.copy()
    for i, j, m in draw(
        st.lists(st.tuples(st.integers(0, k - 1), st.integers(0, k - 1), st.integers(0, k - 1)), max_size=8)
    ):
        moved = draw(st.integers(0, int(right[i, j])))
        right[i, j] -= moved
        right[i, m] += moved
    return left, right


@given(pairs(), FAMILIES)
def test_swapping_the_sides_swaps_the_words_and_nothing_else(pair: tuple[Counts, Counts], family: Family) -> None:
    left, right = pair
    words, population = plain_wording(len(left)), int(left.sum())
    here = compare_pair(left, right, words, population, family, "right")
    mirrored = compare_pair(right, left, words, population, family, "left")
    assert tuple(replace(row, left=row.right, right=row.left) for row in mirrored.rows) == here.rows
    assert (mirrored.strip.fewer, mirrored.strip.more) == (here.strip.fewer, here.strip.more)
    assert {mirrored.strip.subject, here.strip.subject} == {"A", "B"}
    assert mirrored.fold_sentence.translate(str.maketrans("AB", "BA")).count("A") == here.fold_sentence.count("A")
    for row, back in zip(here.rows, mirrored.rows, strict=True):
        assert row.rates == back.rates[::-1]
        assert row.surplus_words == back.surplus_words
        assert row.spoken("left") == back.spoken("right").translate(str.maketrans("AB", "BA"))


@given(pairs(), FAMILIES)
def test_every_case_is_in_a_row_in_the_fold_or_told_the_right_thing(
    pair: tuple[Counts, Counts], family: Family
) -> None:
    left, right = pair
    view = compare_pair(left, right, plain_wording(len(left)), int(left.sum()), family)
    fold = view.fold
    assert sum(r.left for r in view.rows) + fold.same_cases + fold.other_left + fold.correct_left == left.sum()
    assert sum(r.right for r in view.rows) + fold.same_cases + fold.other_right + fold.correct_right == right.sum()
    kinds = len(left) if family == "dlpm" else len(left) * (len(left) - 1)
    assert len(view.rows) + fold.same_kinds + fold.other_kinds == kinds


@given(pairs(), FAMILIES)
def test_rows_are_the_largest_differences_in_study_order(pair: tuple[Counts, Counts], family: Family) -> None:
    left, right = pair
    view = compare_pair(left, right, plain_wording(len(left)), int(left.sum()), family)
    differing = [row for row in all_rows(left, right, plain_wording(len(left)), family) if row.surplus]
    assert len(view.rows) == min(4, len(differing))
    kept = {(row.true, row.predicted) for row in view.rows}
    dropped = [row.surplus for row in differing if (row.true, row.predicted) not in kept]
    assert all(row.surplus >= max(dropped, default=1) for row in view.rows)
    places = [(row.true, -1 if row.predicted is None else row.predicted) for row in view.rows]
    assert places == sorted(places)


@given(pairs(), FAMILIES)
def test_the_strip_names_every_row_once_and_its_fewer_first(pair: tuple[Counts, Counts], family: Family) -> None:
    left, right = pair
    view = compare_pair(left, right, plain_wording(len(left)), int(left.sum()), family)
    assert len(view.strip.fewer) + len(view.strip.more) == len(view.rows)
    assert all(" fewer " in part for part in view.strip.fewer)
    assert all(" more " in part for part in view.strip.more)
    if view.strip.fewer and view.strip.more:
        assert view.strip.changes.index(" fewer ") < view.strip.changes.index(" more ")


@given(st.integers(0, 3000), st.integers(0, 3000), st.integers(1, 3000))
def test_rates_show_a_difference_wherever_two_decimals_can(left: int, right: int, total: int) -> None:
    left, right = min(left, total), min(right, total)
    a, b = rate_words(left, right, total)
    if abs(left - right) * 10_000 > total:  # more than one hundredth of a per cent apart
        assert a != b or left == right
    for words, count in ((a, left), (b, right)):
        assert words.endswith(" %")
        assert (words == "0 %") <= (count == 0)


def test_the_words_of_the_specification() -> None:
    view = compare_pair(A, B, SKIN, 1000, "lpm")
    melanoma, excision = view.rows
    assert view.headline == "For 1,000 patients, which result would you rather have?"
    assert melanoma.mistake.name == "Missed melanoma"
    assert melanoma.flow == "of 120 melanomas → called naevus"
    assert melanoma.rates == ("26 %", "16 %")
    assert (melanoma.left, melanoma.right, melanoma.larger, melanoma.surplus_words) == (31, 19, "left", "12 more")
    assert (excision.left, excision.right, excision.larger, excision.surplus_words) == (48, 133, "right", "85 more")
    assert view.fold_sentence == "4 other kinds of mistake are the same in A and B: 71 patients"
    assert view.strip.sentence == "B: 12 fewer missed melanomas, 85 more needless excisions than A"
    assert view.spoken(7) == (
        "Question 7. For 1,000 patients. B compared with A: 12 fewer missed melanomas, 85 more needless excisions."
    )
    assert melanoma.spoken("left") == "Truth melanoma, model says naevus: 31 of 120 in A, 12 more than B."
    assert melanoma.spoken("right") == "Truth melanoma, model says naevus: 19 of 120 in B, 12 fewer than A."


def test_a_name_that_says_the_answer_is_not_followed_by_it_again() -> None:
    view = compare_pair(A, B, default_wording(("Melanoma", "Naevus", "Other")), 1000, "lpm")
    assert [(row.mistake.name, row.flow) for row in view.rows] == [
        ("Melanoma called Naevus", "of 120 Melanoma cases"),
        ("Naevus called Melanoma", "of 660 Naevus cases"),
    ]


def test_the_sentence_can_be_about_the_left_side() -> None:
    strip = compare_pair(A, B, SKIN, 1000, "lpm", subject="left").strip
    assert strip.sentence == "A: 85 fewer needless excisions, 12 more missed melanomas than B"


def test_two_classes_say_who_is_told_the_right_thing() -> None:
    a, b = counts([146, 34], [57, 763]), counts([159, 21], [101, 719])
    assert (
        compare_pair(a, b, plain_wording(2), 1000, "lpm").fold_sentence
        == "Everyone else is told the right thing: 909 in A, 878 in B"
    )
    wines = replace(plain_wording(2), case="wine", cases="wines")
    assert (
        compare_pair(a, b, wines, 1000, "lpm").fold_sentence
        == "All other wines get the right answer: 909 in A, 878 in B"
    )


def test_any_wrong_answer_is_one_kind_in_the_diagonal_family() -> None:
    view = compare_pair(A, B, plain_wording(3), 1000, "dlpm")
    assert [(row.left, row.right) for row in view.rows] == [(40, 28), (72, 157)]
    assert view.rows[0].flow == "of 120 class0s → called something else"
    assert view.rows[0].spoken("left").startswith("Truth class0, model says something else: 40 of 120 in A")
    assert view.fold_sentence == "1 other kind of mistake is the same in A and B: 38 patients"


def test_more_differences_than_rows_are_folded_and_said() -> None:
    left = counts([60, 10, 10], [20, 60, 20], [30, 30, 60])
    right = counts([55, 15, 10], [21, 57, 22], [60, 10, 50])
    view = compare_pair(left, right, plain_wording(3), 300, "lpm")
    assert [(row.true, row.predicted) for row in view.rows] == [(0, 1), (1, 2), (2, 0), (2, 1)]
    assert view.fold_sentence == (
        "1 other kind of mistake differs less: 20 patients in A, 21 in B; "
        "1 other kind of mistake is the same in A and B: 10 patients"
    )


def test_numbers_and_classes_called_as_the_results_are_get_a_noun() -> None:
    """Grades, blood groups, influenza: "97 fewer B cases called A than B" says nothing."""
    assert default_wording(["A", "B", "AB", "0", "weak"]).class_one == (
        "class A",
        "class B",
        "class AB",
        "class 0",
        "weak",
    )
    assert default_wording(["b", "c"]).class_one == ("class b", "class c")
    assert default_wording(["2+", "1.5", "III"]).class_one == ("class 2+", "class 1.5", "class III")
    assert default_wording(["ja", "nein"]).class_one == ("ja", "nein")
    assert default_wording(["No", "other", "weak"]).class_one == ("class No", "class other", "weak")
    wording = default_wording(["A", "B", "C"])
    left, right = counts([9, 1, 0], [0, 8, 2], [0, 0, 5]), counts([9, 1, 0], [4, 6, 0], [0, 0, 5])
    said = compare_pair(left, right, wording, 25, "lpm").strip.sentence
    assert said == "B: 2 fewer class B cases called class C, 4 more class B cases called class A than A"


def test_one_case_is_singular() -> None:
    left, right = counts([9, 1], [0, 1]), counts([10, 0], [0, 1])
    view = compare_pair(left, right, plain_wording(2), 11, "lpm")
    assert view.strip.sentence == "B: 1 fewer mistake 01 than A"
    assert view.rows[0].flow == "of 10 class0s → called class1"
    assert view.rows[0].rates == ("10 %", "0 %")
    assert view.fold_sentence == "1 other kind of mistake is the same in A and B: 0 patients"


def test_the_same_matrix_twice_says_so() -> None:
    view = compare_pair(A, A, SKIN, 1000, "lpm")
    assert view.rows == ()
    assert view.strip.sentence == "B: the same as A"
    assert view.spoken(3).endswith("B compared with A: nothing differs.")


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        ((31, 19, 120), ("26 %", "16 %")),
        ((1, 5, 1000), ("< 1 %", "1 %")),
        ((66, 73, 1000), ("6.6 %", "7.3 %")),
        ((1, 2, 1000), ("0.1 %", "0.2 %")),
        ((999, 1000, 1000), ("> 99 %", "100 %")),
        ((0, 0, 0), ("0 %", "0 %")),
        ((7, 7, 1000), ("1 %", "1 %")),
    ],
)
def test_rates(pair: tuple[int, int, int], words: tuple[str, str]) -> None:
    assert rate_words(*pair) == words


def test_results_of_different_populations_are_refused() -> None:
    with pytest.raises(Problem, match="same number of cases in every true class"):
        compare_pair(counts([5, 0], [0, 5]), counts([4, 0], [0, 6]), plain_wording(2), 10, "lpm")
