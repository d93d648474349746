"""What is said about how far a result can be trusted."""

import io
import shutil
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from rich.console import Console
from sklearn import metrics as sk

from elicit_app.cli.result_text import print_result
from elicit_app.elicitation import trust
from elicit_app.elicitation.agenda import FEWEST_ANSWERS
from elicit_app.elicitation.linearity import Rival
from elicit_app.elicitation.oracles import UtilityOracle
from elicit_app.elicitation.procedure import Outcome
from elicit_app.elicitation.questions import Moved, Purpose, Question
from elicit_app.registry.procedures import BayesSetting, DlpmSetting, LpmSetting
from elicit_app.session import trust_findings
from elicit_app.session.policy_words import policy_texts
from elicit_app.session.questions import to_reply
from elicit_app.session.report import report_of
from elicit_app.session.result import result_view, scenarios_of
from elicit_app.session.session import Session
from elicit_app.session.trust_findings import held_out_caption, held_out_words, why_provisional
from elicit_app.session.view_builders import question_view, review_view
from elicit_app.study import open_study
from metrics import Consequence, Tally
from metrics.elicited.exchange import ExchangeRate, with_quality
from metrics.elicited.metric_parts import CHOICE_SETTLED, OTHER_VALUES
from metrics.exports.metric_page import metric_page
from metrics.exports.page import page_as_markdown
from metrics.measures.confusion import macro_f1
from metrics.text import two_digits

COSTS = np.array([[0.0, 9.0, 3.0], [2.0, 0.0, 1.0], [6.0, 1.0, 0.0]])


@pytest.fixture(scope="module")
def traffic():
    return open_study("traffic-light")


@pytest.fixture(scope="module")
def sitting(traffic, tmp_path_factory):
    """Returns the session after a whole sitting without early stop, answered by a rule of the view."""
    opened, folder = [], tmp_path_factory.mktemp("sittings")

    def run(reply, seed=2):
        setting = BayesSetting(seed=seed, questions=18)
        session = Session.create(traffic, setting, folder / f"{len(opened)}.session.jsonl")
        opened.append(session)
        while (view := question_view(session, 0)) is not None:
            session.answer(reply(view), seconds=2.0)
        return session

    yield run
    for session in opened:
        session.close()


@pytest.fixture(scope="module")
def honestly(sitting):
    """The session of somebody honest, for tests that only look at it."""
    return sitting(honest)


@pytest.fixture(scope="module")
def honest_result(honestly):
    return result_view(honestly)


def honest(view):
    return "left" if (COSTS * (view.left - view.right)).sum() < 0 else "right"


def worse(view):
    return "right" if honest(view) == "left" else "left"


def headlines(view, good):
    return [finding.headline for finding in view.trust if finding.good is good]


def test_without_a_check_nobody_is_called_trusted(traffic, tmp_path):
    with Session.create(traffic, BayesSetting(seed=2, questions=18), tmp_path / "short.session.jsonl") as session:
        while session.state.phase == "asking" and len(session.state.history) < 10:
            session.answer(honest(question_view(session, 0)), seconds=2.0)
        asked = {question.purpose for question, _ in session.state.history}
        assert Purpose.REPEAT in asked
        assert Purpose.CHECK not in asked
        assert result_view(session).trust_sentence == "So far, yes; but the questions included no check."


def test_honest_answers_are_trusted_in_words_and_numbers(honest_result):
    view = honest_result
    assert view.trust_sentence == "Yes, as far as the answers can tell."
    assert headlines(view, good=False) == []
    assert headlines(view, good=True) == [
        "1 of 1 repeat: same answer",
        "22 of 22 answers fit these numbers",
        "It predicts answers it was not shown",
    ]
    assert view.trust[0].detail == "The plainly better side, shown once, was chosen."
    assert [held.name for held in view.held_out] == ["this result", "F1 score", "accuracy"]
    assert {held.total for held in view.held_out} == {18}
    this, f1, accuracy = view.held_out
    assert view.trust[2].detail == held_out_caption(view.held_out)
    assert f"about {this.expected} expected" in held_out_caption(view.held_out)
    numbers = f"this result {this.right} of 18, F1 score {f1.right} of 18, accuracy {accuracy.right} of 18"
    assert held_out_words(view.held_out) == numbers
    quality = view.metric.quality
    assert (quality.repeats_agreed.agreed, quality.repeats_agreed.of) == (1, 1)
    assert (quality.answers_explained.agreed, quality.answers_explained.of) == (22, 22)
    assert (quality.held_out_agreement.agreed, quality.held_out_agreement.of) == (view.held_out[0].right, 18)


def test_trades_that_came_again_to_see_whether_costs_add_up_are_in_the_report(honestly, honest_result):
    based = sum(entry.event.pair.common_base for entry in honestly.state.entries)
    assert based == 2
    assert "2 trades came again with more of one mistake on both sides" in page_as_markdown(
        report_of(honestly, honest_result)
    )


def test_half_of_the_repeats_or_as_many_as_a_plain_score_is_no_good_sign(honestly, monkeypatch):
    report_of, few = trust.trust_report, trust.HeldOut(learned=8, accuracy=7, f1=7, total=10, expected=7.0)
    monkeypatch.setattr(
        trust,
        "trust_report",
        lambda *about: replace(report_of(*about), repeats=trust.Count(1, 2), held_out=few, misfits=tuple(range(6))),
    )
    view = result_view(honestly)
    odd = [said for said in headlines(view, good=False) if said.endswith(" does not fit the rest")]
    assert odd == [f"Answer {number} does not fit the rest" for number in (1, 2, 3, 4)]
    assert "Nor do 2 more: they are marked among the answers" in headlines(view, good=False)
    assert "1 of 2 repeats: same answer" in headlines(view, good=False)
    assert any(said.endswith("too few to tell them apart") for said in headlines(view, good=True))


@pytest.mark.parametrize(
    ("learned", "accuracy", "f1", "total"), [(3, 2, 3, 8), (4, 1, 0, 8), (7, 10, 8, 10), (9, 10, 10, 15)]
)
def test_what_no_plain_score_does_better_is_no_good_sign_where_a_coin_does_as_well(
    honestly, monkeypatch, learned, accuracy, f1, total
):
    """Questions are about near ties: this speaks neither for the result nor against it."""
    report_of = trust.trust_report
    held = trust.HeldOut(learned=learned, accuracy=accuracy, f1=f1, total=total, expected=5.4)
    monkeypatch.setattr(trust, "trust_report", lambda *about: replace(report_of(*about), held_out=held))
    view = result_view(honestly)
    assert view.held_out[0].right == learned
    assert not any("not shown" in finding.headline for finding in view.trust)


def test_sides_are_counted_as_they_are_judged(traffic, tmp_path):
    """Where a count was moved, the side says where it was moved to."""
    with Session.create(traffic, BayesSetting(seed=2, questions=18), tmp_path / "s.session.jsonl") as session:
        for _ in range(3):
            session.answer("left")
        at = question_view(session, 0).proposal
        session.answer("right", moved=Moved(at.side, at.true, at.predicted, at.most - 1, at.start))
        assert trust_findings._side_found(session.state).headline == "3 of 3 preferences went to side A"


def test_always_the_same_side_is_said_and_not_called_the_worse_one_after_the_review(sitting):
    session = sitting(lambda _: "left")
    view, answers = result_view(session), len(session.state.entries)
    assert f"{answers} of {answers} preferences went to side A" in headlines(view, good=False)
    assert "0 of 1 repeat: same answer" in headlines(view, good=False)
    assert view.trust_sentence.startswith("Hardly")
    while pairs := review_view(session).contradictions:
        session.resolve(*(place + 1 for place in pairs[0]), "first")
    found = headlines(result_view(session), good=False)
    assert "The worse side seems to have been chosen throughout" not in found, "these answers do not agree"


def test_a_quarter_of_the_answers_may_miss_the_numbers():
    assert trust_findings._fits_well(Tally(3, 4))
    assert not trust_findings._fits_well(Tally(29, 40))


def test_where_a_check_failed_another_is_not_said_to_be_all_that_was_shown(sitting):
    shown = []

    def wrong_once(view):
        more = (view.left - view.right)[COSTS > 0]
        shown.extend([view] if (more >= 0).all() or (more <= 0).all() else [])
        return worse(view) if len(shown) == 1 and shown[0] is view else honest(view)

    found = result_view(sitting(wrong_once, seed=1)).trust
    assert len(shown) > 1, "a failed check is asked again"
    assert sum(one.headline.endswith(": the plainly better side was not chosen") for one in found) == 1
    said = [text for one in found for text in (one.headline, one.detail) if text.startswith("The plainly better side")]
    assert said == [f"The plainly better side was chosen {'once' if len(shown) == 2 else f'{len(shown) - 1} times'}."]


def test_about_equal_throughout_is_no_choice_of_the_worse_side(sitting):
    view = result_view(sitting(lambda _: "equal"))
    found = headlines(view, good=False)
    assert any(headline.endswith(": the plainly better side was not chosen") for headline in found)
    assert "The answers do not hang together" in found
    assert not any("fit these numbers" in headline for headline in headlines(view, good=True))
    random = next(one for one in view.trust if one.headline == "The answers do not hang together")
    assert random.detail.endswith(" answers fit these numbers only because the numbers were fitted to them.")
    assert "The worse side seems to have been chosen throughout" not in found
    assert view.trust_sentence.startswith("Hardly")


def test_who_takes_the_worse_side_is_asked_whether_it_was_meant(sitting):
    session = sitting(worse, seed=1)
    view = result_view(session)
    assert "The worse side seems to have been chosen throughout" in headlines(view, good=False)
    assert view.trust_sentence.startswith("Hardly")
    failed = [finding for finding in view.trust if "plainly better side was not" in finding.headline]
    assert len(failed) >= 2, "a failed check is asked again"
    for one in failed:
        assert session.state.entries[one.question - 1].event.pair.purpose is Purpose.CHECK
    review = review_view(session)
    assert {review.answers[one.question - 1].fit for one in failed} <= {"worse side", "does not fit"}
    assert "No two of them" not in review.sentence
    linked = [finding.question for finding in view.trust if finding.question is not None]
    assert len(linked) == len(set(linked)), "one finding a question"


def test_who_changes_their_mind_or_clicks_without_looking_is_told_so(sitting):
    turned = result_view(sitting(lambda view: honest(view) if view.number <= 11 else worse(view)))
    assert not turned.trust_sentence.startswith("Yes")
    assert "Later answers disagree with earlier ones" in headlines(turned, good=False)
    rng = np.random.default_rng(5)
    clicked = result_view(sitting(lambda _: ("left", "right")[rng.integers(2)]))
    assert clicked.trust_sentence.startswith("Hardly")


def at_stake(pair):
    """Return by how much the honest person finds one side of a pair better."""
    return abs(float(((np.array(pair.first) - np.array(pair.second)) * COSTS).sum()))


def test_an_answer_against_the_rest_is_named_in_the_panel_and_in_the_review(traffic, honestly, honest_result, tmp_path):
    with Session.open(Path(shutil.copy(honestly.path, tmp_path)), traffic) as session:
        entries = enumerate(session.state.entries, 1)
        check = next(n for n, entry in entries if entry.event.pair.purpose is Purpose.CHECK)
        # One result is better in everything: chance does not explain the other answer.
        reply = "right" if honest(review_view(session).answers[check - 1]) == "left" else "left"
        session.change(check, reply)
        view, review = result_view(session), review_view(session)
    assert view.metric.quality.answers_explained.agreed < honest_result.metric.quality.answers_explained.of
    odd = [answer.number for answer in review.answers if answer.fit in ("does not fit", "worse side")]
    assert check in odd
    explained = view.metric.quality.answers_explained
    assert explained.of - explained.agreed == len(odd), "no costs explain the worse side"
    named = [finding.question for finding in view.trust if finding.question is not None]
    assert set(named) >= set(odd)


def test_equal_where_one_side_was_merely_better_neither_fits_nor_took_the_worse_side(traffic, honestly, tmp_path):
    with Session.open(Path(shutil.copy(honestly.path, tmp_path)), traffic) as session:
        entries = enumerate(session.state.entries, 1)
        check = next(n for n, entry in entries if entry.event.pair.purpose is Purpose.CHECK)
        session.change(check, "equal")
        review = review_view(session)
    assert [answer.number for answer in review.answers if answer.fit == "level"] == [check]
    assert "One calls two results equal although one was plainly better" in review.sentence
    assert "worse side" not in review.sentence


def named(study, path, rates):
    """Name these exchange rates of two classes, one an answer; return the session and what whole cases made of them."""
    session, given = Session.create(study, BayesSetting(seed=1), path), []
    for rate in rates:
        view = question_view(session, 0)
        may, sides = view.proposal, {"first": view.left, "second": view.right}
        mine = sides.pop(may.side)
        (theirs,) = sides.values()
        against = abs(int(mine[may.predicted, may.true] - theirs[may.predicted, may.true]))
        base = int(theirs[may.true, may.predicted])
        count = round(base + against * (rate if may.true == 1 else 1 / rate))
        count = min(max(count, may.least, base + 1), may.most)
        given.append((count - base) / against if may.true == 1 else against / (count - base))
        session.answer("equal", seconds=3.0, moved=Moved(may.side, may.true, may.predicted, count, may.start))
    return session, given


def test_answers_that_plainly_disagree_are_named_whatever_the_fit_makes_of_them(tmp_path):
    study = open_study("breast-cancer")
    session, given = named(study, tmp_path / "apart.session.jsonl", [0.2, 9.0, 0.2, 9.0, 0.2, 9.0, 0.2])
    with session:
        view = result_view(session)
        assert max(given) / min(given) > 8
        (found,) = [one for one in view.trust if "apart" in one.headline]
        assert not found.good
        first, second = sorted(given[int(number) - 1] for number in found.headline.split()[1:4:2])
        assert second / first == pytest.approx(max(given) / min(given))
        assert found.headline.endswith(f"are a factor of {two_digits(second / first)} apart")
        most, least = (two_digits(rate) for rate in (second, first))
        assert f"one missed cancer counts as {most} needless biopsies" in found.detail
        assert f" as {least}." in found.detail
        assert not view.trust_sentence.startswith("Yes")
        review = review_view(session)
        assert found.headline in review.sentence
        marked = [answer.number for answer in review.answers if answer.fit == "far apart"]
        assert marked == [int(number) for number in found.headline.split()[1:4:2]]
        assert not any("fit these numbers" in headline for headline in headlines(view, good=True))
        assert "7 of 7 answers fit these numbers, but only if the person errs that much." in found.detail


def test_answers_that_agree_are_not_called_far_apart(tmp_path):
    session, given = named(open_study("breast-cancer"), tmp_path / "near.session.jsonl", [4, 6, 5, 8, 4, 5, 6])
    with session:
        assert max(given) / min(given) < 4
        assert not any("apart" in one.headline for one in result_view(session).trust)
        assert review_view(session).sentence == "7 answers. No pair has two different answers."


def test_a_search_is_judged_by_its_fit_alone(traffic, tmp_path):
    with Session.create(traffic, DlpmSetting(), tmp_path / "x.session.jsonl") as session:
        for place in range(8):
            session.answer("left" if place % 3 else "right")
        view = result_view(session)
        assert view.held_out == ()
        assert view.metric.quality.held_out_agreement is None
        assert view.metric.quality.answers_explained.of == 8


@pytest.mark.parametrize("purpose", ["choose", "costs", None])
def test_the_metric_file_says_what_the_answers_are_for_and_what_they_leave_open(study, tmp_path, purpose):
    setting = BayesSetting(seed=3, purpose=purpose)
    with Session.create(study, setting, tmp_path / "s.session.jsonl", simulated=True) as session:
        for number in range(3):
            session.answer("left" if number % 2 else "right")
        quality = result_view(session).metric.quality
    assert (quality.purpose, quality.simulated, quality.linear) == (purpose, True, None)
    assert quality.provisional == "they rest on 3 answers only"
    assert quality.caveat == "The numbers are provisional: they rest on 3 answers only."


@pytest.mark.parametrize(
    ("stopped", "wide", "reason"),
    [
        ("best-model", True, CHOICE_SETTLED),
        ("best-model", False, None),
        ("expert", True, "the questions ended before the costs were known"),
        ("budget", True, None),
        ("cycles", True, None),
    ],
)
def test_costs_are_provisional_where_the_questions_ended_before_they_were_known(stopped, wide, reason):
    known = ExchangeRate(0, 1, 1.0, 1.0, 1.0, True, Consequence("a", "b", "a called b"))
    other = ExchangeRate(1, 0, 8.0, 2.0 if wide else 5.0, 20.0, False, Consequence("b", "a", "b called a"))
    outcome = Outcome("lpm", np.array([-1.0, -8.0]), (None, None), stopped, 12)
    assert why_provisional(outcome, (known, other), FEWEST_ANSWERS, untrusted=False) == reason
    assert why_provisional(outcome, (known, other), 12, untrusted=True) == "the answers do not hang together"


@pytest.mark.parametrize("stopped", ["expert", "budget"])
def test_a_search_that_was_cut_short_is_provisional(traffic, tmp_path, stopped):
    setting = LpmSetting(seed=3, questions=FEWEST_ANSWERS if stopped == "budget" else None)
    with Session.create(traffic, setting, tmp_path / "s.session.jsonl") as session:
        for _ in range(FEWEST_ANSWERS):
            session.answer(honest(question_view(session, 0)))
        assert session.outcome().stopped == stopped
        quality = result_view(session).metric.quality
    assert quality.provisional == "the questions ended before the costs were known"


@pytest.mark.parametrize(("weights", "bound"), [((-1.0, -1e-4), "a lower bound"), ((-1e-4, -1.0), "an upper bound")])
def test_of_one_mistake_that_outweighs_the_others_the_right_number_is_called_a_bound(study, tmp_path, weights, bound):
    costs = np.array([[0.0, weights[0]], [weights[1], 0.0]])
    with Session.create(study, BayesSetting(seed=5, purpose="costs"), tmp_path / "s.session.jsonl") as session:
        while len(session.state.history) < 14 and (view := question_view(session, 0)) is not None:
            session.answer("left" if (costs * (view.left - view.right)).sum() > 0 else "right")
        view = result_view(session)
    found = {finding.headline: finding.detail for finding in view.trust}
    assert found["One mistake outweighs all others"].endswith(f"number as {bound}.")
    assert ("at least" if bound == "a lower bound" else "at most") in view.headline.number
    assert "beyond any trade" in found["One mistake is only bounded"]


@pytest.mark.parametrize(
    ("ends", "headline", "ending"),
    [
        ([(0.5, np.inf)], "One mistake is only bounded", "The other end lies beyond any trade"),
        ([(0.0, np.inf)], "One mistake is not known", "What is open lies beyond any trade"),
        ([(0.5, np.inf), (0.0, np.inf)], "2 mistakes are only bounded or not known", "What is open lies beyond"),
    ],
)
def test_what_is_not_known_is_not_called_bounded(traffic, ends, headline, ending):
    one = Consequence("a", None, "A called b", "a called b", "a called b")
    unit = ExchangeRate(1, 0, 1.0, 1.0, 1.0, True, one)
    rates = tuple(ExchangeRate(0, place, 2.0, *both, False, one) for place, both in enumerate(ends, 1))
    (found,) = trust_findings._bounded_found(traffic, (*rates, unit), None)
    assert found.headline == headline
    assert ending in found.detail
    assert (": at least 0.5." in found.detail) == ((0.5, np.inf) in ends)


@pytest.mark.parametrize(
    ("factor", "answers", "said"),
    [(3.24, 18, "a factor of 3.2."), (70.0, 18, "more than 10."), (1.9, 18, None), (3.2, 7, None), (None, 18, None)],
)
def test_ranges_that_another_prior_would_widen_are_said_to_rest_on_it(factor, answers, said):
    outcome = Outcome("lpm", np.array([-1.0, -8.0]), (None, None), "budget", 22, reliance_on_prior=factor)
    notes = trust_findings.reliance_on_prior(outcome, answers)
    assert bool(notes) is (said is not None)
    assert all(said in note for note in notes)


def lowest_recall(matrix):
    return float((np.diag(matrix) / matrix.sum(axis=1)).min())


@pytest.fixture
def result_of_a_score(tmp_path):
    """Returns the session of somebody who goes by a score, its report, and its result."""

    def run(score, name, questions):
        session, oracle = (
            Session.create(open_study(name), BayesSetting(seed=4, questions=questions), tmp_path / "s.session.jsonl"),
            UtilityOracle(score),
        )
        with session:
            while (view := question_view(session, 0)) is not None:
                answer = oracle.answer(Question(view.left, view.right, view.population, proposal=view.proposal))
                session.answer(to_reply("first", answer.choice), moved=answer.moved, seconds=2.0)
            view = result_view(session)
            return session, page_as_markdown(report_of(session, view)), view

    return run


def test_other_values_than_costs_that_add_up_are_said_in_words_wherever_the_result_is(result_of_a_score):
    _, report, view = result_of_a_score(lowest_recall, "wine", 18)
    assert view.metric.quality.linear == "minimax"
    words = OTHER_VALUES["minimax"]
    assert words in [finding.headline for finding in view.trust if not finding.good]
    assert words in report
    assert words in page_as_markdown(metric_page(view.metric))


def test_models_are_judged_by_f1_beside_costs_where_the_answers_follow_f1(result_of_a_score):
    session, report, view = result_of_a_score(macro_f1, "breast-cancer", 10)
    assert view.metric.quality.linear == "f1"
    texts = policy_texts(view.judgement)
    assert texts.heads[-1] == ("Macro", "F1")
    (first,) = (note for note in texts.notes if "macro F1" in note)
    most = max(row.counts[-1] for row in texts.rows)
    best = [f"{row.name}, {row.short_manner}, is first" for row in texts.rows if row.counts[-1] == most]
    assert any(words in first for words in best)  # rounded, two may share the first place
    for model in session.study.models:
        (row,) = (row for row in texts.rows if row.judged.name == f"{model.name}, as it decides now")
        f1 = sk.f1_score(model.y_true, model.y_proba.argmax(axis=1), average="macro")
        assert row.counts[-1] == f"{f1:.3f}"
    console = Console(file=io.StringIO(), markup=False, highlight=False, width=400)
    print_result(console, view, session.study)
    said = " ".join(console.file.getvalue().split())
    for surface in (report, said):
        assert first in surface
        assert most in surface
        assert "F1 itself may be the better measure: the table of what one can do has macro F1 beside" in surface
    unfollowed = with_quality(view.metric, replace(view.metric.quality, linear=True))
    assert ("Macro", "F1") not in policy_texts(scenarios_of(session.study, unfollowed).judgement()).heads


def test_every_rival_of_costs_that_add_up_has_words():
    assert set(OTHER_VALUES) == set(get_args(Rival))


def test_one_judgement_that_was_given_twice_is_counted_once_where_it_does_not_fit(tmp_path):
    """Who minds missed cancers a hundred times as much contradicts that in a repeat, and calls the pair equal then."""
    session = Session.create(
        open_study("breast-cancer"), BayesSetting(seed=0, questions=16, stop=False), tmp_path / "equal.session.jsonl"
    )
    with session:
        while (asking := session.asking()) is not None:
            dearer = (np.subtract(asking.pair.first, asking.pair.second) * [[0, 100.0], [1.0, 0]]).sum() > 0
            second = dearer != (asking.pair.purpose is Purpose.REPEAT)
            session.answer("right" if second == (asking.left == "first") else "left")
        ((first, second),) = review_view(session).contradictions
        session.resolve(first + 1, second + 1, "equal")
        review, trust = review_view(session), headlines(result_view(session), good=False)
    assert [one for one in trust if "does not fit" in one] == [f"Answer {first + 1} does not fit the rest"]
    assert [answer.number - 1 for answer in review.answers if answer.fit == "does not fit"] == [first, second]
    assert review.sentence == f"{len(review.answers)} answers. One answer, given twice, does not fit the rest."
