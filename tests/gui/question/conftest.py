"""Studies and pairs of the question page's specification, and a page that shows them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from elicit_app.elicitation.questions import Counts, Progress
from elicit_app.gui.question.page import QuestionPage
from elicit_app.session.views import AnsweredView, QuestionView
from elicit_app.study.model import Mistake, Predictions, Study, Wording, default_wording


def counts(*rows: list[int]) -> Counts:
    return np.array(rows, dtype=np.int64)


def study_of(wording: Wording, population: int = 1000) -> Study:
    k = len(wording.class_one)
    y_true = np.arange(200, dtype=np.int64) % k
    scores = np.eye(k)[y_true] * 1.2 + np.random.default_rng(5).random((200, k))
    model = Predictions("model", y_true, scores / scores.sum(axis=1, keepdims=True))
    return Study("made-up", "Made up", wording.class_one, (model,), population, None, wording, (0, 1), "file")


def worded(classes: list[str], **named: Mistake) -> Wording:
    """Return default words with mistakes named by "i_j"."""
    usual = default_wording(classes, "patient", "patients")
    places = {tuple(int(i) for i in key[1:].split("_")): mistake for key, mistake in named.items()}
    return replace(usual, mistakes={**usual.mistakes, **places})  # type: ignore[dict-item]


MISSED = Mistake("Missed melanoma", "missed melanoma", "missed melanomas", "Sent home. Found later, harder to treat.")
NEEDLESS = Mistake(
    "Needless excision", "needless excision", "needless excisions", "Small operation, a scar, two worried weeks."
)


@pytest.fixture
def skin() -> Study:
    return study_of(worded(["melanoma", "naevus", "keratosis"], m0_1=MISSED, m1_0=NEEDLESS))


@pytest.fixture
def two() -> Study:
    return study_of(worded(["melanoma", "naevus"], m0_1=MISSED, m1_0=NEEDLESS))


@pytest.fixture
def ten() -> Study:
    return study_of(worded([f"kind {n}" for n in "ABCDEFGHIJ"], m0_1=MISSED, m1_0=NEEDLESS))


SKIN_A = counts([80, 31, 9], [48, 588, 24], [17, 21, 182])
SKIN_B = counts([92, 19, 9], [133, 503, 24], [17, 21, 182])
TWO_A, TWO_B = counts([89, 31], [48, 832]), counts([101, 19], [133, 747])


def ten_pair() -> tuple[Counts, Counts]:
    """Return a pair of ten classes in which four kinds of mistake differ."""
    a = np.diag([60, 90, 310, 120, 100, 100, 70, 60, 50, 40]).astype(np.int64)
    b = a.copy()
    for matrix, errors in ((a, (14, 11, 22, 33)), (b, (9, 16, 51, 18))):
        for (i, j), n in zip(((0, 1), (1, 0), (2, 0), (3, 4)), errors, strict=True):
            matrix[i, i] -= n
            matrix[i, j] += n
        for i in range(4, 10):
            matrix[i, i] -= 20
            matrix[i, (i + 1) % 10] += 20
    return a, b


def asked(left: Counts, right: Counts, number: int = 7, **changes: object) -> QuestionView:
    """Return the view of a question."""
    view = QuestionView(
        request=100 + number,
        number=number,
        left=left,
        right=right,
        population=int(left.sum()),
        subject="right",
        progress=Progress(number - 1, 5, 8),
        hypothetical=False,
        last=False,
        offer_break=False,
        previous=AnsweredView(number - 1, left, right, "right", None, 9.0, "fits") if number > 1 else None,
        can_redo=False,
    )
    return replace(view, **changes)  # type: ignore[arg-type]


Pair = tuple[Study, Counts, Counts]


@pytest.fixture
def pairs(skin: Study, two: Study, ten: Study) -> dict[str, Pair]:
    """Pairs with two rows, two classes, four rows of ten classes, and large counts."""
    return {
        "three": (skin, SKIN_A, SKIN_B),
        "two": (two, TWO_A, TWO_B),
        "ten": (ten, *ten_pair()),
        "large": (replace(skin, population=10_000), SKIN_A * 10, SKIN_B * 10),
    }


Ask = Callable[..., QuestionView]


@pytest.fixture
def ask() -> Ask:
    return asked


@pytest.fixture
def page(qtbot, skin: Study) -> QuestionPage:
    """A page of 1280 by 800 that shows question 7 of the study on skin lesions and takes answers at once."""
    page = QuestionPage(lock_ms=0)
    qtbot.addWidget(page)
    page.resize(1280, 800)
    page.begin(skin, "lpm")
    with qtbot.waitActive(page):
        page.show()
        page.activateWindow()
    page.show_question(asked(SKIN_A, SKIN_B))
    qtbot.waitUntil(lambda: page.on_screen)
    return page
