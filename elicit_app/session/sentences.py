"""Wording for purposes, answers, progress, models and moved counts, shared by the window and the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from elicit_app.elicitation.agenda import FEWEST_ANSWERS, questions_left, required_left
from elicit_app.elicitation.orders import StatedOrder, constraints_of
from elicit_app.elicitation.prior import NeverWorse
from elicit_app.elicitation.questions import AnswersFor, Counts, Family, Moved, Progress, Question
from elicit_app.registry import Setting
from elicit_app.session.pair_words import (
    Letter,
    PairComparison,
    Row,
    all_rows,
    compare_pair,
    difference_sentence,
    largest_rows,
    nothing_traded,
    opposite,
    rest_words,
)
from elicit_app.session.views import AnsweredView, Fit, QuestionView, Reply, Side
from elicit_app.study.model import Study, Wording
from metrics.elicited.family import linear_family
from metrics.text import amount, capitalised, counted, series

USUAL: AnswersFor = "choose"
"""The purpose of the answers if neither the study nor the person states one."""


class PurposeWords(NamedTuple):
    """One possible purpose of the answers, in words."""

    purpose: AnswersFor
    title: str  # "To choose between these models"
    sentence: str  # what is included, and when the questions stop
    questions: str  # the expected number: "usually 10 to 22 questions"


def most_questions(informative: int) -> int:
    """Return the usual maximum of questions in a sitting: informative ones, repeats, and one check.

    More follow if a check is failed, a repeat is left open, or it stays unclear whether the person looked.
    """
    return questions_left((), informative, checks=True)


def purpose_words(study: Study, questions: int, *, early: bool = True) -> tuple[PurposeWords, ...]:
    """Return the possible purposes of answers about a study, the usual one first.

    At most `questions` informative questions are asked, or fewer if they may stop `early`; repeats and a check are
    added, and whatever `most_questions` leaves out.
    """
    most = most_questions(questions)
    fewest = min(FEWEST_ANSWERS + required_left(()), most)
    several = len(study.model_names) > 1
    all_of_them = f"usually {most} questions"
    count = f"usually {fewest} to {most} questions" if early and fewest < most else all_of_them
    at_most = f"usually up to {most} questions" if early else all_of_them
    stops = " Stops when the choice is settled." if early else ""
    known = " Stops when the costs are known closely." if early else ""
    also = "Also: where to cut." if study.n_classes == 2 else "Also: how to decide with your costs."
    if study.models and all(model.labels_only for model in study.models):
        also = ""  # labels without probabilities can only be taken as they are
    return (
        PurposeWords(
            "choose",
            "To choose between these models" if several else "To decide how to use this model",
            f"{also}{stops}".strip(),
            count,
        ),
        PurposeWords(
            "costs", "To write down what mistakes cost", f"For training and judging models later.{known}", at_most
        ),
        PurposeWords("both", "For both", "", at_most),
    )


FIT_WORDS: Mapping[Fit, str] = {
    "fits": "fits",
    "check": "a check question",
    "worse side": "the worse side",
    "level": "one side was better",
    "does not fit": "does not fit",
    "far apart": "far from another",
    "two answers": "two answers",
    "asked again": "asked again",
    "left open": "left open",
    "taken out": "taken out",
}
"""How an answer fits the others, in the words of the window and the terminal."""

SEND_BACK = "Send this file back to whoever sent you the study."
WHICH_MEANT = "The same pair, two answers. Which do you mean?"
_IMAGINED = "No model of this study gives exactly these results; imagine one that does."
_FAR = "No model of this study gives such results; only a pair like this shows what counts more."


class Preference(NamedTuple):
    """An answer without sides: what was preferred, and what the other result offered instead, which may be empty.

    Both point in the same direction: 12 fewer of one mistake rather than 85 fewer of another.
    """

    preferred: str
    rather_than: str
    is_preference: bool = True

    @property
    def sentence(self) -> str:
        """Return the answer as part of a sentence: "you preferred 12 fewer missed melanomas", "about equal"."""
        if not self.is_preference:
            return self.preferred[:1].lower() + self.preferred[1:]
        return f"you preferred {self.preferred}"

    @property
    def both(self) -> str:
        """Return the answer with what was forgone: "you preferred 12 fewer missed melanomas rather than 85 fewer"."""
        return f"{self.sentence} rather than {self.rather_than}" if self.rather_than else self.sentence


def preference(
    left: Counts,
    right: Counts,
    reply: Reply,
    wording: Wording,
    family: Family,
    *,
    asked_again_as: int | None = None,
    moved: Moved | None = None,
) -> Preference:
    """Return what an answer meant, whichever side was on the left.

    `left` and `right`, shape (k, k), are the counts as shown; rows are true classes. `asked_again_as` is the number of
    the question that asked an unsure answer again; `moved` is the moved count, whose first side is the left one.
    """
    if reply == "unsure":
        again = f", asked again as {asked_again_as}" if asked_again_as is not None else ""
        return Preference(f"Cannot say{again}", "", is_preference=False)
    if moved is not None:
        left, right = with_moved(left, right, moved)
    rows = largest_rows(left, right, wording, family)
    if reply == "equal" and moved is not None:
        return Preference(equal_point(left, right, wording, family), "", is_preference=False)
    if reply == "equal":
        return Preference(_about_equal(left, right, wording, family), "", is_preference=False)
    chosen: Side = reply
    gained = series([row.change(chosen) for row in rows if row.worse != chosen])
    forgone = series([row.change(opposite(chosen)) for row in rows if row.worse == chosen])
    more = series([row.change(chosen) for row in rows])
    return Preference(gained or more, forgone)


def _about_equal(left: Counts, right: Counts, wording: Wording, family: Family) -> str:
    """Name the differences that felt equal; if nothing was traded, say that one side was better."""
    rows = largest_rows(left, right, wording, family)
    if nothing_traded(left, right, wording, family):
        return f"About equal, though one side only had {series([row.excess for row in rows])}"
    return f"About equal: {', '.join(counted(row.surplus, row.mistake.one, row.mistake.many) for row in rows)}"


def preference_of(answer: AnsweredView, wording: Wording, family: Family) -> Preference:
    """Return what an answer meant; see `preference`."""
    again, moved = answer.asked_again_as, answer.moved
    return preference(answer.left, answer.right, answer.reply, wording, family, asked_again_as=again, moved=moved)


def with_moved(left: Counts, right: Counts, moved: Moved) -> tuple[Counts, Counts]:
    """Return the two results with a moved count, whose first side is the left one."""
    question = Question(left, right, int(left.sum())).moved(moved)
    return question.first.astype(np.int64), question.second.astype(np.int64)


def equal_point(left: Counts, right: Counts, wording: Wording, family: Family) -> str:
    """Name the differences that are equally bad, and what one of the rarer mistakes counts as.

    "14 more missed cancers are as bad as 120 more needless biopsies: one counts as 8.6", without a full stop.
    """
    rows = largest_rows(left, right, wording, family)
    sides = [[row for row in rows if row.worse == side] for side in ("left", "right")]
    if not all(sides):
        return _about_equal(left, right, wording, family)
    fewer, more = sorted(sides, key=lambda side: sum(row.surplus for row in side))
    first, second = (", ".join(row.excess for row in side) for side in (fewer, more))
    are = "is" if len(fewer) == 1 and fewer[0].surplus == 1 else "are"
    counts = ""
    if len(fewer) == len(more) == 1:
        counts = f": one counts as {_ratio(fewer[0], more[0])}"
    return f"{first} {are} as bad as {second}{counts}"


def _ratio(rarer: Row, other: Row) -> str:
    """Return what one of the rarer mistakes counts as, from ten in whole numbers: "8.6", "218"."""
    value = other.surplus / rarer.surplus
    return amount(round(value, 1) if value < 10 else round(value))


def undo_words(previous: AnsweredView | None, wording: Wording, family: Family) -> str:
    """Return the tooltip of Undo: "Take back answer 6: you preferred 12 fewer missed melanomas"."""
    if previous is None:
        return "There is no answer to take back yet"
    preference = preference_of(previous, wording, family)
    return f"Take back answer {previous.number}: {preference.sentence}"


def last_words(last: AnsweredView, wording: Wording, family: Family) -> str:
    """Return an answer, and what was forgone, as a complete sentence."""
    return f"{capitalised(preference_of(last, wording, family).both)}."


def how_many(fewest: int, most: int) -> str:
    """Return a number of questions that is not certain: "about 5 to 8", "about 8", "up to 8" if there may be none."""
    if not fewest:
        return f"up to {most:,}"
    return f"about {most:,}" if fewest == most else f"about {fewest:,} to {most:,}"


class ProgressWords(NamedTuple):
    """Progress of the sitting: "Question 7,", "about 5 to 8 more", and the same for a screen reader."""

    question: str
    rest: str
    spoken: str

    @property
    def line(self) -> str:
        """Return both parts as one line."""
        return f"{self.question} {self.rest}".strip()


def progress_words(view: QuestionView) -> ProgressWords:
    """Return the progress of the sitting in words."""
    progress = view.progress
    question = f"Question {view.number},"
    if view.last or progress.most == 0:
        return ProgressWords(question, "last one", f"{_share_words(progress)}, last question")
    rest = how_many(progress.fewest, progress.most)
    return ProgressWords(question, f"{rest} more", f"{_share_words(progress)}, {rest} questions left")


def mark_words(view: QuestionView) -> str:
    """Return a remark on results that no model gives; empty if one does."""
    return _FAR if view.far else _IMAGINED if view.hypothetical else ""


def _share_words(progress: Progress) -> str:
    share = progress.share
    if share < 0.15:
        return "Little known yet"
    for limit, words in ((0.4, "About a quarter known"), (0.65, "About half known"), (0.9, "Most of it known")):
        if share < limit:
            return words
    return "Nearly all known"


def order_words(order: NeverWorse, wording: Wording, family: Family) -> str:
    """Return a stated order: "One needless excision is never worse than one missed melanoma"."""
    one, other = (wording.mistake(linear_family(family).mistake_at(*mistake)) for mistake in order)
    return f"One {one.one} is never worse than one {other.one}"


def stated_words(setting: Setting, study: Study) -> str:
    """Return the orders that the expert stated, in sentences; empty if there are none."""
    return orders_words(setting.orders, setting.classes_in_order, study.classes, study.wording, setting.family)


def orders_words(
    orders: Sequence[StatedOrder], ordered: Sequence[str], classes: Sequence[str], wording: Wording, family: Family
) -> str:
    """Return orders of two mistakes each, and classes in order, in sentences; empty if there are none."""
    names = dict(zip(classes, wording.class_one, strict=True))
    stated = [f"{order_words(order, wording, family)}." for order in constraints_of(orders, classes, family)]
    if ordered:
        stated.insert(
            0,
            f"The classes are in an order: {series([names[one] for one in ordered])}. Of two mistakes with the same "
            "truth, or the same prediction, the one that is further off is never the lesser.",
        )
    return " ".join(stated)


def scenario_sentence(there: str, here: str) -> str:
    """Return how a scenario's recommendation compares with that of the study itself."""
    return "As in your study." if there == here else f"In your study: {here}"


def cases_words(cases: Sequence[int], wording: Wording) -> str:
    """Return the cases of each true class: "120 melanomas, 880 naevi"; of many classes only the largest six."""
    order = sorted(range(len(cases)), key=lambda i: -cases[i])[:6] if len(cases) > 6 else range(len(cases))
    named = [counted(cases[i], wording.class_one[i], wording.class_many[i]) for i in sorted(order)]
    left = sum(cases) - sum(cases[i] for i in order)
    return ", ".join([*named, f"{left:,} others"] if left else named)


class Balance(NamedTuple):
    """What each side has more of and, in a trade of two mistakes, what one of the rarer ones counts as.

    `letters` and `more` begin with the side that has fewer such cases; `more` is empty for a side that has nothing
    more. `ratio` is None if more than two mistakes differ, or if one side has nothing more.
    """

    letters: tuple[Letter, Letter]
    more: tuple[str, str]
    ratio: str | None

    @property
    def sentence(self) -> str:
        """Return all of it: "A: 14 more misses are as bad as B: 120 more false alarms: one counts as 8.6"."""
        one, other = (f"{side}: {text or 'nothing more'}" for side, text in zip(self.letters, self.more, strict=True))
        return f"{one} {self.compared} {other}" + (f": one counts as {self.ratio}" if self.ratio else "")

    @property
    def compared(self) -> str:
        """Return the words between the two sides; nothing offsets what one side merely has in addition."""
        if not all(self.more):
            return "against"
        return f"{'is' if self.more[0].startswith('1 ') and ',' not in self.more[0] else 'are'} as bad as"


def balance_of(rows: tuple[Row, ...]) -> Balance:
    """Return what each side has more of."""
    sides: list[tuple[Letter, list[Row]]] = [
        ("A", [row for row in rows if row.surplus and row.worse == "left"]),
        ("B", [row for row in rows if row.surplus and row.worse == "right"]),
    ]
    sides.sort(key=lambda side: sum(row.surplus for row in side[1]))
    excesses = [", ".join(row.excess for row in more) for _, more in sides]
    (first, few), (second, many) = sides
    ratio = _ratio(few[0], many[0]) if len(few) == len(many) == 1 else None
    return Balance((first, second), (excesses[0], excesses[1]), ratio)


def moved_comparison(
    left: Counts, right: Counts, wording: Wording, population: int, family: Family, shown: PairComparison
) -> PairComparison:
    """Return the words of a pair in which one count was moved, with the rows of `shown` whatever the pair is like now.

    `left` and `right` are the current results; see `compare_pair`.
    """
    new = compare_pair(left, right, wording, population, family)
    found = {(row.true, row.predicted): row for row in all_rows(left, right, wording, family)}
    rows = tuple(found[row.true, row.predicted] for row in shown.rows)
    level = [row for row in rows if not row.surplus]
    # A row that is level now keeps its place above, and is not counted in the folded line.
    fold = new.fold._replace(
        same_kinds=new.fold.same_kinds - len(level), same_cases=new.fold.same_cases - sum(row.left for row in level)
    )
    fold_sentence = new.fold_sentence if wording.priced is not None else rest_words(fold, wording)
    strip = difference_sentence(rows, "left" if shown.strip.subject == "A" else "right")
    headline = f"For {shown.cases}, make both results equally bad"
    return replace(new, rows=rows, fold=fold, fold_sentence=fold_sentence, strip=strip, headline=headline)


def move_name(row: Row, letter: Letter, count: int, least: int, most: int) -> str:
    """Return the accessible name of a movable count: "Needless biopsies in B, 161 of 627, to move from 41 to 313"."""
    many = capitalised(row.mistake.many)
    return f"{many} in {letter}, {count:,} of {row.total:,}, to move from {least:,} to {most:,}"


def bound_words(least: int, most: int, *, at_least: bool) -> str:
    """Return the label at an end of the scale: "Even 313 is less bad"; at the near end "Even 42 is worse"."""
    return f"Even {least:,} is worse" if at_least else f"Even {most:,} is less bad"
