"""What can be done on the review and result pages, with a real session behind them."""

import io
import itertools
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFontMetricsF, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from rich.console import Console

from elicit_app.cli.result_text import print_result
from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import LinkButton
from elicit_app.gui.pages.review import FITS, NOTHING_CHOSEN, PREFERRED, SECONDS, ReviewPage
from elicit_app.gui.results.page import TABS, ResultsPage
from elicit_app.gui.results.rates import RatioPlot
from elicit_app.gui.results.recommendation import NO_MODELS
from elicit_app.registry.procedures import BayesSetting, DlpmSetting
from elicit_app.session.policy_words import policy_texts
from elicit_app.session.report import report_of
from elicit_app.session.result import result_view
from elicit_app.session.session import Session
from elicit_app.session.view_builders import review_view
from elicit_app.session.views import TrustView
from elicit_app.study import open_study
from metrics.exports.metric_page import metric_page
from metrics.exports.page import page_as_markdown

PREVALENCE = [name for name, _ in TABS].index("Other prevalence")
COSTS = np.array([[0, 4.0, 9.0], [0.6, 0, 2.0], [1.0, 0.3, 0]])


@pytest.fixture(scope="module")
def study():
    return open_study("traffic-light")


@pytest.fixture(scope="module")
def views(study, tmp_path_factory):
    """Review and result of a session with one answer against all others and one taken out."""
    path = tmp_path_factory.mktemp("sessions") / "lights.session.jsonl"
    setting = BayesSetting(family="lpm", questions=9, strength=True, seed=2)
    with Session.create(study, setting, path) as session:
        while (asking := session.asking()) is not None:
            a, b = (np.array(side) for side in (asking.pair.first, asking.pair.second))
            a_is_better = bool(((a - b) * COSTS).sum() < 0) != (asking.number == 4)
            session.answer("left" if a_is_better == (asking.left == "first") else "right", seconds=asking.number)
        session.take_out(2)
        yield review_view(session), result_view(session)


@pytest.fixture
def review(qtbot, views, study):
    page = ReviewPage()
    qtbot.addWidget(page)
    page.resize(1280, 800)
    page.show_review(views[0], study.wording, "lpm")
    with qtbot.waitActive(page):
        page.show()
        page.activateWindow()
    return page


def test_after_an_answer_is_taken_out_the_keys_stay_on_the_table(review, views, study):
    rows = views[0].answers
    before = tuple(replace(one, fit="fits") if one.fit == "taken out" else one for one in rows)
    review.show_review(replace(views[0], answers=before), study.wording, "lpm")
    review.table.choose(2)
    review.out.setFocus()
    review.out.click()
    review.show_review(views[0], study.wording, "lpm")
    assert not review.out.isEnabled()
    assert review.table.hasFocus(), "Enter would ask more questions"


def test_both_pages_say_how_many_answers_count(views):
    given = len(views[0].answers)
    assert views[0].sentence.startswith(f"{given} answers, 1 taken out.")
    assert views[1].answers == given - 1 == views[1].metric.provenance.questions


def test_undo_says_whether_it_takes_back_an_answer_or_a_change(review, views, study, tip):
    assert tip(review.undo) == "Take back the last change", "an answer was taken out"
    review.show_review(replace(views[0], undoes="answer"), study.wording, "lpm")
    assert tip(review.undo).startswith(f"Take back answer {len(views[0].answers)}: ")
    assert review.undo.accessibleDescription() == tip(review.undo)


@pytest.fixture
def results(qtbot, views, study):
    page = ResultsPage()
    qtbot.addWidget(page)
    page.resize(1280, 800)
    page.show_result(views[1], study)
    page.show()
    qtbot.waitExposed(page)
    return page


def test_the_page_scrolls_by_keys_wherever_the_focus_is(results, qtbot):
    bar = results.area.verticalScrollBar()
    for place in (results, results.tabs, results.header):
        qtbot.keyClick(place, Qt.Key.Key_PageDown)
        assert bar.value() > 0
        qtbot.keyClick(place, Qt.Key.Key_PageUp)
        assert bar.value() == 0


def test_answers_stand_newest_first_in_words_without_sides(review):
    rows = review.table.answers.rows
    assert [row.number for row in rows] == list(range(len(rows), 0, -1))
    assert len(rows) >= 9
    for row in rows:
        assert "fewer" in row.preferred
        assert "fewer" in row.rather_than or row.fit == "check"
        assert " A" not in row.preferred
    assert rows[-2].cells[-1] == "taken out"


def test_the_chosen_answer_is_looked_at_with_enter_and_taken_out_with_a_button_only(review, qtbot):
    asked, out = [], []
    review.look_again_requested.connect(asked.append)
    review.take_out_requested.connect(out.append)
    assert review.chosen.text() == NOTHING_CHOSEN
    assert not review.again.isEnabled()
    review.table.setFocus()
    QTest.keyClick(review.table, Qt.Key.Key_Down)
    QTest.keyClick(review.table, Qt.Key.Key_Down)
    chosen = review.table.number
    assert review.chosen.text() == f"Question {chosen} is selected"
    for key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace, Qt.Key.Key_Return):
        QTest.keyClick(review.table, key)
    assert (asked, out) == ([chosen], [])
    review.out.click()
    assert out == [chosen]
    review.table.choose(2)
    assert review.again.isEnabled()
    assert not review.out.isEnabled()


def test_who_comes_back_to_a_chosen_answer_looks_at_it_again_with_enter(review, views, study):
    assert review.first_focus is review, "nothing is chosen yet"
    review.table.choose(2)
    review.show_review(views[0], study.wording, "lpm")
    assert review.first_focus is review.table


def test_undo_and_redo_have_their_keys_on_the_review(review, qtbot):
    undone, redone = [], []
    review.undo_requested.connect(lambda: undone.append(1))
    review.redo_requested.connect(lambda: redone.append(1))
    control, shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(review.table, Qt.Key.Key_Z, control)
    QTest.keyClick(review.table, Qt.Key.Key_Z, control | shift)
    assert (len(undone), len(redone)) == (1, 1)


def test_the_answers_are_copied_as_a_table(review, views, study):
    review.copy.click()
    assert review.copy.text() == "Copied"
    lines = QGuiApplication.clipboard().text().split("\n")
    assert lines[0].split("\t")[1] == "You preferred"
    assert len(lines) == 1 + len(review.table.answers.rows)
    assert all(len(line.split("\t")) == 6 for line in lines)
    review.show_review(views[0], study.wording, "lpm")
    assert review.copy.text() == "Copy as a table", "these answers are not copied yet"


def test_only_the_code_of_the_result_shown_is_said_to_be_copied(results, views, study):
    button = results.costs.files.buttons["sklearn"]
    results.costs.files.show_copied()
    assert button.text() == "Copied"
    results.show_result(views[1], study)
    assert button.text() == "Copy"


def test_hidden_tabs_take_no_room_from_the_others(results):
    tabs = results.tabs
    names = [round(tabs._name_width(tab)) for tab in range(tabs.count())]
    tabs.resize(names[0] + names[4] + 2 * theme.L, tabs.height())
    tabs.hide_tabs((1, 2, 3))
    assert tabs.tabRect(0).width() == round(tabs._name_width(0)) + theme.L
    assert tabs.tabRect(4).left() == tabs.tabRect(0).right() + 1
    tabs.hide_tabs((0,))
    tabs.hide_tabs(())
    rects = [tabs.tabRect(tab) for tab in range(tabs.count())]
    assert all(before.right() + 1 == after.left() for before, after in itertools.pairwise(rects))
    assert min(rect.width() for rect in rects) > 0


@pytest.mark.parametrize("scale", [1.0, 1.5])
def test_the_table_is_as_high_as_its_rows(review, appearance, qtbot, scale):
    theme.apply(appearance, family="DejaVu Sans", scale=scale)
    table, n = review.table, review.table.answers.rowCount()
    header = table.horizontalHeader()
    qtbot.waitUntil(lambda: table.height() >= sum(map(table.rowHeight, range(n))) + header.height())


def test_after_the_last_two_answers_were_resolved_the_focus_is_on_the_next_step(review, views, study):
    twice = replace(views[0], contradictions=((0, 3),))
    review.show_review(twice, study.wording, "lpm")
    button = review.contradiction._buttons["first"]
    button.setFocus()
    review.show_review(twice, study.wording, "lpm")
    assert button.hasFocus(), "another pair is left"
    review.show_review(replace(twice, contradictions=()), study.wording, "lpm")
    assert review.finish.hasFocus()


def test_the_track_is_dragged_with_the_mouse(results):
    results.tabs.setCurrentIndex(PREVALENCE)
    track = results.prevalence.shares.track
    place = QPointF(track.width() * 0.9, track.height() / 2).toPoint()
    QTest.mouseClick(track, Qt.MouseButton.LeftButton, pos=place)
    assert track._x(track.number) == pytest.approx(place.x(), abs=2)


def test_too_few_answers_switch_the_files_off_except_the_answers(qtbot, views, study, tip):
    page = ResultsPage()
    qtbot.addWidget(page)
    page.show_result(replace(views[1], can_export=False), study)
    enabled = {key for key, button in page.costs.files.buttons.items() if button.isEnabled()}
    assert enabled == {"answers"}
    assert not page.save.isEnabled()
    assert "five informative answers" in tip(page.save)


def test_a_reservation_leads_to_its_question(results, views):
    asked = []
    results.rates.trust.look_again_requested.connect(asked.append)
    about = [finding.question for finding in views[1].trust if finding.question is not None]
    for link in results.rates.trust.findChildren(LinkButton):
        link.click()
    assert asked == about


def test_orders_that_the_answers_contradict_can_be_withdrawn(qtbot, views, study):
    page = ResultsPage()
    qtbot.addWidget(page)
    against = TrustView(
        False, "The answers contradict an order that was stated", "All costs keep to it.", may_withdraw=True
    )
    page.show_result(replace(views[1], trust=(*views[1].trust, against)), study)
    (link,) = [one for one in page.rates.trust.findChildren(LinkButton) if one.text() == "Go by the answers alone"]
    with qtbot.waitSignal(page.rates.trust.withdraw_requested):
        link.click()


def test_the_matrices_say_every_cell_with_truth_first(results, study):
    said = results.costs.costs.grid.accessibleDescription()
    for true in study.wording.class_one:
        for called in study.wording.class_one:
            assert f"{true} called {called}:" in said


def test_of_many_mistakes_those_never_asked_about_are_folded_away(qtbot, many_classes, tmp_path):
    study = many_classes(13)
    with Session.create(study, BayesSetting(seed=1), tmp_path / "many.session.jsonl") as session:
        session.answer("left")
        session.answer("right")
        view = result_view(session)
    page = ResultsPage()
    qtbot.addWidget(page)
    page.show_result(view, study)
    shown, folded = (plot.accessibleDescription() for plot in (page.rates._plot, page.rates._others))
    never = folded.count("never asked")
    assert never > 140
    assert "never asked" not in shown
    assert never + shown.count(" called ") == 13 * 12
    assert f"{never} of 156" in page.rates._folded.button.accessibleDescription()
    grid = page.costs.costs.grid
    grid.resize(400, 400)
    assert not grid._legible(grid._places())
    assert grid.accessibleDescription().count(" called ") == 13 * 13


def test_ctrl_tab_goes_round_the_parts_that_are_shown(results, qtbot):
    results.tabs.hide_tabs((1,))
    results.tabs.setCurrentIndex(0)
    qtbot.keyClick(results, Qt.Key.Key_Tab, Qt.KeyboardModifier.ControlModifier)
    assert results.tabs.currentIndex() == 2
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    for key, expected in ((Qt.Key.Key_Backtab, 0), (Qt.Key.Key_Tab, len(TABS) - 1)):
        qtbot.keyClick(results, key, both)
        assert results.tabs.currentIndex() == expected
    results.tabs.hide_tabs(())


def test_every_tab_paints_in_both_themes(results, appearance, qtbot):
    for dark in (False, True):
        theme.apply(appearance, family="DejaVu Sans", dark=dark)
        for tab in range(results.tabs.count()):
            results.tabs.setCurrentIndex(tab)
            qtbot.wait(10)
            image = results.grab().toImage()
            colours = {image.pixel(x, y) for x in range(0, image.width(), 7) for y in range(0, image.height(), 7)}
            assert len(colours) > 5


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_no_tab_is_cut_short_where_all_names_fit(results, appearance, qtbot, scale):
    theme.apply(appearance, family="DejaVu Sans", scale=scale)
    tabs, bold = results.tabs, QFontMetricsF(theme.font(theme.Role.STRONG))

    def fits(tab):
        return tabs.tabRect(tab).width() - tabs._gap() >= bold.horizontalAdvance(tabs.tabText(tab)) - 1

    for tab in range(tabs.count()):
        tabs.setCurrentIndex(tab)
        qtbot.waitUntil(partial(fits, tab))


def test_a_wide_range_with_a_first_guess_fits_a_small_window(results, views, study, qtbot):
    rate = replace(views[1].headline.rate, low=1.1, high=55.0)
    results.resize(800, 600)
    results.show_result(
        replace(views[1], headline=replace(views[1].headline, rate=rate), guesses={rate.key: 30.0}), study, None
    )
    qtbot.wait(20)
    assert results.rates._sentence._range.text()
    assert results.minimumSizeHint().width() <= 800
    assert results.rates.minimumSizeHint().width() <= theme.content_width(800)


@pytest.fixture
def elsewhere(results):
    results.tabs.setCurrentIndex(PREVALENCE)
    return results.prevalence


def choose_class(pane, true):
    place = pane.shares.classes.findData(true)
    pane.shares.classes.setCurrentIndex(place)
    pane.shares.classes.activated.emit(place)


def test_another_prevalence_begins_with_the_studys_own(elsewhere, results, views, study):
    shares = elsewhere.shares
    assert shares.box.value() == round(1000 * views[1].scenarios.own[views[1].headline.rate.true])
    assert shares.cases.text() == "Then there are 450 red lights, 100 yellow lights, 450 green lights."
    assert not shares.back.isEnabled()
    here, there = results.recommendation.policies.table.rows, elsewhere.policies.table.rows
    assert [(row.sentence, row.manner, row.counts) for row in there] == [
        (row.sentence, row.manner, row.counts) for row in here
    ]
    assert elsewhere.title.text() == views[1].judgement.recommendation.sentence
    assert elsewhere.sentence.text().endswith("As in your study.")


def test_the_number_the_slider_and_the_table_of_a_prevalence_say_the_same(elsewhere, views, study):
    shares, scenarios = elsewhere.shares, views[1].scenarios
    before = elsewhere.policies.table.accessibleDescription()
    choose_class(elsewhere, 0)
    shares.box.setValue(40)
    expected = scenarios.with_share(scenarios.own, 0, 0.04)
    assert shares.shares == pytest.approx(tuple(expected))
    assert shares.track.number == pytest.approx(0.04)
    assert shares.cases.text() == "Then there are 40 red lights, 175 yellow lights, 785 green lights."
    said = elsewhere.policies.table.accessibleDescription()
    assert said != before
    judgement = scenarios.judgement(expected)
    assert all(row.sentence in said for row in policy_texts(judgement).rows)
    assert elsewhere.title.text() == judgement.recommendation.sentence
    cheapest = next(name for name, _ in shares.track.named().values())
    assert judgement.best.policy.model in cheapest
    QTest.keyClick(shares.track, Qt.Key.Key_Right)
    assert shares.box.value() > 40
    shares.back.click()
    assert elsewhere.policies.table.accessibleDescription() == before


def test_a_second_class_starts_from_what_the_first_one_left(elsewhere, views):
    shares = elsewhere.shares
    choose_class(elsewhere, 0)
    shares.box.setValue(100)
    choose_class(elsewhere, 1)
    assert shares.box.value() == round(1000 * shares.shares[1])
    shares.box.setValue(500)
    scenarios = views[1].scenarios
    first = scenarios.with_share(scenarios.own, 0, 0.1)
    assert shares.shares == pytest.approx(tuple(scenarios.with_share(first, 1, 0.5)))
    assert "yellow lights" in shares.track.accessibleName()
    assert "square: in your study, 100" in shares.track.accessibleDescription().lower()


def test_what_is_assumed_stands_on_the_page(elsewhere):
    assert "like those in your data" in elsewhere.shares.sentence.text()
    assert "how common the classes are" in elsewhere.shares.sentence.text()


@pytest.mark.parametrize("setting", [DlpmSetting(epsilon=0.3), BayesSetting(family="dlpm", questions=5)])
def test_only_ranges_of_a_belief_are_called_plausible(qtbot, setting, tmp_path):
    study = open_study("softmax-3")  # without models: no costs of policies have ranges
    with Session.create(study, setting, tmp_path / "s.session.jsonl") as session:
        while (asking := session.asking()) is not None:
            a, b = (np.diagonal(side) @ [0.5, 0.3, 0.2] for side in (asking.pair.first, asking.pair.second))
            session.answer("left" if (a > b) == (asking.left == "first") else "right")
        view = result_view(session)
        report = page_as_markdown(report_of(session, view))
    page = ResultsPage()
    qtbot.addWidget(page)
    page.show_result(view, study)
    terminal = Console(file=io.StringIO(), width=200)
    print_result(terminal, view, study)
    texts = {
        "window": " ".join(label.text() for label in page.findChildren(QLabel)),
        "legend": " ".join(sign.text for sign in page.findChild(RatioPlot).legend()),
        "terminal": terminal.file.getvalue(),
        "report": report,
        "page": page_as_markdown(metric_page(view.metric)),
    }
    searched = isinstance(setting, DlpmSetting)
    assert any(rate.range_90 is not None and not rate.bounded for rate in view.ratios)
    for where, text in texts.items():
        text = text.casefold()
        assert ("plausible" in text) != searched, (where, text)
        assert ("left open" in text) == searched, (where, text)
        assert not searched or "90 %" not in text, (where, text)


def test_a_study_without_models_has_no_scenarios(qtbot, views, study):
    page = ResultsPage()
    qtbot.addWidget(page)
    page.show_result(replace(views[1], scenarios=None, judgement=None, models=()), study)
    assert page.prevalence.title.text() == NO_MODELS
    assert page.prevalence.shares.isHidden()
    assert page.recommendation.policies.isHidden()
    assert page.recommendation.more.isHidden()
    assert page.practice.isHidden()


def test_no_link_at_the_foot_is_cut_in_a_small_window(results, views, study, qtbot):
    results.show_result(replace(views[1], experts="2 experts"), study)
    results.resize(800, 600)
    for tab in range(len(TABS)):
        results.tabs.setCurrentIndex(tab)
        shown = [link for link in results.findChildren(LinkButton) if link.isVisibleTo(results)]
        qtbot.waitUntil(lambda shown=shown: all(one.width() >= one.sizeHint().width() for one in shown))
    results.resize(1280, 800)


def test_answers_keep_their_columns_with_a_large_font_in_a_small_window(review, views, study, qtbot, appearance):
    theme.apply(appearance, family="DejaVu Sans", scale=2.0)
    review.show_review(views[0], study.wording, "lpm")
    review.resize(800, 600)
    table, metrics = review.table, QFontMetricsF(theme.font(theme.Role.STRONG))
    qtbot.waitUntil(lambda: table.isColumnHidden(SECONDS))
    words = [word for row in review.table.answers.rows for word in row.preferred.split()]
    assert table.columnWidth(PREFERRED) >= max(map(metrics.horizontalAdvance, words))
    assert sum(map(table.columnWidth, range(FITS + 1))) <= table.viewport().width()
