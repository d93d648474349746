"""Every page fits a small window with long words, and a screen reader finds names on everything it can reach."""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtGui import QAccessible, QFontMetricsF, QImage
from PySide6.QtWidgets import QAbstractButton, QAbstractSlider, QAbstractSpinBox, QComboBox, QLineEdit, QTableView

from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import Button
from elicit_app.gui.elements.painting import Label
from elicit_app.gui.pages.compare import ComparePage
from elicit_app.gui.pages.laboratory import LaboratoryPage
from elicit_app.gui.pages.messages import (
    DamagedPage,
    DamagedView,
    ErrorDetails,
    ErrorPage,
    HelpPage,
    OpeningPage,
    RecapPage,
    SettingsPage,
    SittingOverPage,
)
from elicit_app.gui.pages.review import FITS, HEADS, AnswersTable, AnswerWords, ReviewPage, answer_words
from elicit_app.gui.question.page import PracticePage, QuestionPage
from elicit_app.gui.results.page import TABS, ResultsPage
from elicit_app.gui.settings import FONT_PERCENTS, Settings
from elicit_app.gui.setup.begin_page import BeginPage, SessionRequest
from elicit_app.gui.setup.columns_page import ColumnsPage
from elicit_app.gui.setup.overview import example_row
from elicit_app.gui.setup.piles_page import PilesPage
from elicit_app.gui.setup.start_page import ContinueView, RowButton, RowView, StartPage, StartView
from elicit_app.gui.setup.study_page import StudyPage
from elicit_app.problem import Finding
from elicit_app.registry.procedures import BayesSetting
from elicit_app.session.comparing import Expert, compare
from elicit_app.session.pooling import Source
from elicit_app.session.result import result_view
from elicit_app.session.session import Session
from elicit_app.session.view_builders import question_view, recap_view, review_view, sitting_over_view
from elicit_app.study import list_studies
from elicit_app.study.first_rows import read_first_rows
from elicit_app.study.model import default_wording


def answers_about(study, path):
    """Return the views of a session of eight answers: end of the sitting, review, result, recap and first question."""
    k = study.n_classes
    costs = np.array([[0, 5, 2], [1, 0, 1], [0.3, 0.5, 0]]) if k == 3 else np.add.outer(np.arange(k), 1 + np.arange(k))
    setting = BayesSetting(family="lpm", questions=8, checks=True, seed=5)
    with Session.create(study, setting, path / "long.session.jsonl", expert="Kardiologie") as session:
        first = question_view(session, 1)
        while (asking := session.asking()) is not None:
            a, b = (np.array(side) for side in (asking.pair.first, asking.pair.second))
            session.answer(
                "left" if (((a - b) * costs).sum() < 0) == (asking.left == "first") else "right", seconds=7.0
            )
        return sitting_over_view(session), review_view(session), result_view(session), recap_view(session), first


@pytest.fixture(scope="module")
def answered(long_words, tmp_path_factory):
    """Answers about the study with long words."""
    return answers_about(long_words, tmp_path_factory.mktemp("sessions"))


def start_page(study, answered):
    page = StartPage()
    row = RowView(f"{study.title} of {study.classes[0]}", f"Finished, {study.classes[1]}", "yesterday", "x")
    current = ContinueView(f"{study.title} · {study.classes[2]}", f"6 answers kept · {study.classes[0]}", 0.4, "x")
    page.show_view(StartView(current, (row,) * 4, (row,) * 9))
    return page


def study_page(study, answered, tmp_path):
    page = StudyPage()
    page.show_study(study, tmp_path / study.classes[0])
    return page


def begin_page(study, answered, tmp_path):
    page = BeginPage()
    page.show_study(study, str(tmp_path), 1)
    page.settings.open()
    page.asking.researchers.setChecked(True)
    page.orders.state.setChecked(True)
    page.orders.first.setCurrentIndex(1)
    page.orders.second.setCurrentIndex(4)
    page.orders.add.click()
    return page


def results_page(study, answered):
    page = ResultsPage()
    page.show_result(answered[2], study, "Kardiologie")
    return page


def review_page(study, answered):
    page = ReviewPage()
    page.show_review(answered[1], study.wording, "lpm")
    return page


def contradicting_page(study, answered):
    page = ReviewPage()
    page.show_review(replace(answered[1], contradictions=((0, 1), (2, 3)), undoes="change"), study.wording, "lpm")
    return page


def error_page(study, answered, tmp_path):
    page = ErrorPage()
    findings = tuple(Finding(f"Row 214: {name} has no column", f"Add proba_{name}.") for name in study.classes)
    page.show_error(
        ErrorDetails(
            "This file cannot be used yet", f"Before {study.classes[0]}.csv can be used, …", findings, (tmp_path,)
        )
    )
    return page


def sitting_page(study, answered):
    page = SittingOverPage()
    page.show_view(answered[0])
    return page


def recap_page(study, answered):
    page = RecapPage()
    page.show_view(answered[3], f"{study.title} · Kardiologie")
    return page


def settings_page(study, answered, tmp_path):
    page = SettingsPage()
    page.show_settings(Settings(), str(tmp_path))
    return page


def opening_page(study, answered):
    page = OpeningPage()
    page.say(f"Opening {study.classes[0]}", "Reading the study.")
    return page


def help_page(study, answered):
    return HelpPage()


def laboratory_page(study, answered):
    return LaboratoryPage([("x", study.title)], [("bayes", ""), ("dlpm", "")])


def columns_page(study, answered, tmp_path):
    path = tmp_path / "odd.csv"
    names = ["true", *(f"logit_of_{name}_{n}" for n in "xy" for name in study.classes)]
    rows = [[study.classes[n % 3], *(["0.123456789"] * 6)] for n in range(9)]
    path.write_text("\n".join(map(",".join, [names, *rows])))
    page = ColumnsPage()
    page.show_preview(read_first_rows(path))
    return page


def question_page(study, answered):
    page = QuestionPage(lock_ms=0)
    page.begin(study, "lpm")
    page.show_question(answered[4])
    return page


def practice_page(study, answered):
    page = PracticePage()
    page.begin(study, "lpm")
    return page


def compare_page(study, answered):
    page = ComparePage()
    metric, names = answered[2].metric, (*study.classes[:2], "Kardiologie")
    metrics = [replace(metric, provenance=replace(metric.provenance, answers_digest=name)) for name in names]
    page.show_view(
        compare([Expert(*both) for both in zip(names, map(Source, names, metrics), strict=True)], study.title)
    )
    return page


def piles_page(study, answered):
    page = PilesPage()
    page.show_request(SessionRequest(study, BayesSetting(), "", ()))
    return page


def damaged_page(study, answered, tmp_path):
    page = DamagedPage()
    words = tuple(answer_words(one, study.wording, "lpm") for one in answered[1].answers)
    page.show_view(DamagedView(tmp_path, study.title, f"{tmp_path} is damaged in line 7.", words, 8))
    return page


PAGES = [
    columns_page,
    piles_page,
    damaged_page,
    start_page,
    study_page,
    begin_page,
    results_page,
    review_page,
    contradicting_page,
    error_page,
    sitting_page,
    recap_page,
    settings_page,
    opening_page,
    help_page,
    laboratory_page,
    question_page,
    practice_page,
    compare_page,
]


def made(make, study, answered, tmp_path):
    """Return the page that `make` makes."""
    extra = (tmp_path,) if "tmp_path" in make.__code__.co_varnames[: make.__code__.co_argcount] else ()
    return make(study, answered, *extra)


@pytest.fixture(params=PAGES, ids=lambda make: make.__name__)
def page(request, qtbot, long_words, answered, tmp_path):
    page = made(request.param, long_words, answered, tmp_path)
    qtbot.addWidget(page)
    return page


def cut_off(page):
    """Return by how many pixels the content is wider than its page."""
    return page.area.widget().width() - page.area.viewport().width()


def cut_texts(page):
    """Return the texts that wrap into more lines than they have room for."""
    labels = [
        label.text()
        for label in page.findChildren(Label)
        if label.isVisible() and label.wordWrap() and label.heightForWidth(label.width()) > label.height() + 1
    ]
    buttons = [
        button.text()
        for button in page.findChildren(Button)
        if button.isVisible() and button.text_height(button.width()) - 2 * theme.S > button.height()
    ]
    return labels + buttons


@pytest.mark.parametrize("scale", [1.0, 1.5])
def test_every_page_fits_a_small_window(page, qtbot, appearance, scale):
    page.resize(1280, 800)
    page.show()
    qtbot.waitExposed(page)
    theme.apply(appearance, family="DejaVu Sans", scale=scale)
    page.resize(800, 600)
    qtbot.waitUntil(lambda: cut_off(page) <= 0)
    assert page.minimumSizeHint().width() <= 800
    assert page.minimumSizeHint().height() <= 600
    for tab in range(page.tabs.count() if isinstance(page, ResultsPage) else 0):
        page.tabs.setCurrentIndex(tab)
        qtbot.waitUntil(lambda: cut_off(page) <= 0)


def test_every_page_fits_a_large_window_with_a_large_font(page, qtbot, appearance):
    page.show()
    qtbot.waitExposed(page)
    theme.apply(appearance, family="DejaVu Sans", scale=2.0)
    page.resize(2560, 1440)
    for tab in range(page.tabs.count() if isinstance(page, ResultsPage) else 1):
        if isinstance(page, ResultsPage):
            page.tabs.setCurrentIndex(tab)
        qtbot.waitUntil(lambda: cut_off(page) <= 0)


def test_the_shares_of_classes_fit_a_small_window_with_a_large_font(qtbot, appearance, many_classes, tmp_path):
    theme.apply(appearance, family="DejaVu Sans", scale=2.0)
    page = StudyPage()
    qtbot.addWidget(page)
    study = many_classes(4)
    names = ("Supraventricular", "Atrioventricular", "Idioventricular", "Junctional")
    page.show_study(replace(study, wording=default_wording(names)), tmp_path)
    page.population.stated.radio.click()
    page.resize(800, 600)
    page.show()
    qtbot.waitUntil(lambda: cut_off(page) <= 0)


LETTERS = {"latin": "W" * 60, "arabic": "سرطان" * 12, "chinese": "黑色素瘤" * 15}


@pytest.mark.parametrize("k", [3, 20])
def test_no_page_is_wider_than_the_smallest_window_with_the_largest_font(qtbot, appearance, tmp_path, named_classes, k):
    names = [*LETTERS.values(), *(f"rhythm{number}{'m' * 52}" for number in range(k - 3))]
    study = named_classes(names)
    answered = answers_about(study, tmp_path)
    theme.apply(appearance, family="DejaVu Sans", scale=FONT_PERCENTS[-1] / 100)
    for make in PAGES:
        page = made(make, study, answered, tmp_path)
        qtbot.addWidget(page)
        page.resize(800, 600)
        page.show()
        for tab in range(page.tabs.count() if isinstance(page, ResultsPage) else 1):
            if isinstance(page, ResultsPage):
                page.tabs.setCurrentIndex(tab)
            qtbot.waitUntil(lambda page=page: cut_off(page) <= 0)
            qtbot.waitUntil(lambda page=page: not cut_texts(page))
            assert page.minimumSizeHint().width() <= 800, make.__name__
        page.close()


@pytest.mark.parametrize("first", [True, False])
def test_the_start_page_does_not_scroll_in_a_small_window(qtbot, appearance, first):
    page = StartPage()
    qtbot.addWidget(page)
    rows = (RowView("Handwritten amounts", "10 digits, 2 models", "about 15 min", "x"),) * 4
    current = ContinueView("Skin lesions · dermatology", "6 answers kept · last answer yesterday", 0.4, "x")
    page.show_view(StartView(None if first else current, rows, () if first else rows))
    page.resize(800, 600)
    page.show()
    qtbot.waitUntil(lambda: page.area.widget().height() <= page.area.viewport().height())


def test_everything_that_takes_the_focus_has_a_name(page):
    kinds = (QAbstractButton, QLineEdit, QComboBox, QAbstractSpinBox, QAbstractSlider, QTableView)
    nameless = []
    for kind in kinds:
        for widget in page.findChildren(kind):
            inside = isinstance(widget.parent(), QAbstractSpinBox | QComboBox)
            shown = widget.isVisibleTo(page) and not widget.objectName().startswith("qt_")
            if inside or not shown or not widget.focusPolicy().value:
                continue
            text = widget.text() if isinstance(widget, QAbstractButton) else ""
            if not (widget.accessibleName() or text):
                nameless.append(widget)
    assert nameless == []


def test_painted_plots_are_texts_to_a_screen_reader(qtbot, long_words, answered):
    page = results_page(long_words, answered)
    qtbot.addWidget(page)
    for plot in (page.rates._plot, page.recommendation.policies.table, page.costs.costs.grid, page.costs.releases.grid):
        seen = QAccessible.queryAccessibleInterface(plot)
        assert seen.role() == QAccessible.Role.StaticText
        assert seen.text(QAccessible.Text.Name)
        assert len(seen.text(QAccessible.Text.Description)) > 50
    page.tabs.setCurrentIndex([name for name, _ in TABS].index("Other prevalence"))
    page.show()
    track = QAccessible.queryAccessibleInterface(page.prevalence.shares.track)
    assert track.role() == QAccessible.Role.Slider
    assert "Cheapest from" in track.text(QAccessible.Text.Description)


def test_plots_say_what_they_show(qtbot, long_words, answered):
    page = results_page(long_words, answered)
    qtbot.addWidget(page)
    plot = page.rates.findChild(type(page.rates._plot))
    assert len([row for row in plot.accessibleDescription().split(". ") if row]) >= 6
    for name in (model.name for model in long_words.models):
        assert name in page.recommendation.policies.table.accessibleDescription()
    assert "called" in page.costs.costs.grid.accessibleDescription()


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_the_heads_of_all_answers_are_whole_where_every_answer_fits(qtbot, appearance, long_words, answered, scale):
    theme.apply(appearance, family="DejaVu Sans", scale=scale)
    page = ReviewPage()
    qtbot.addWidget(page)
    answers = tuple(replace(one, fit="fits") for one in answered[1].answers)
    page.show_review(replace(answered[1], answers=answers, contradictions=()), long_words.wording, "lpm")
    page.resize(1280, 800)
    page.show()
    qtbot.waitExposed(page)
    head = QFontMetricsF(theme.font(theme.Role.NOTE)).horizontalAdvance(HEADS[FITS])
    assert page.table.columnWidth(FITS) >= head + 24 + 2 * 6


def test_answers_about_long_names_can_be_told_apart_in_a_narrow_table(qtbot, appearance):
    theme.apply(appearance, family="DejaVu Sans", scale=2.0)
    seen = []
    for end in "ab":
        table = AnswersTable()
        qtbot.addWidget(table)
        table.resize(700, 400)
        table.arrange(theme.Breakpoint(compact=True, low=False, large=False))
        name = "Herzrhythmusstörungsverdacht" + end
        table.answers.show_rows((AnswerWords(1, f"3 fewer {name}", f"5 fewer {name}", "", "", "fits"),))
        seen.append([table.grab().toImage().copy(left, 0, 200, 400) for left in (120, 320)])
    assert all(one != other for one, other in zip(*seen, strict=True))


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_the_two_lists_of_the_start_page_begin_on_one_line(qtbot, appearance, scale):
    theme.apply(appearance, family="DejaVu Sans", scale=scale)
    page = StartPage()
    qtbot.addWidget(page)
    rows = (RowView("Handwritten amounts", "10 digits, 2 models", "about 15 min", "x"),) * 3
    page.show_view(StartView(None, rows, rows))
    page.resize(2400, 1600)
    page.show()
    qtbot.waitUntil(lambda: page.examples.y() == page.recent.y() > 0)


@pytest.mark.parametrize("compact", [False, True])
def test_rows_of_the_start_page_show_their_letters_whole(qtbot, compact):
    row = RowButton(RowView("gjpqy", "", "", ""))
    qtbot.addWidget(row)
    row.set_compact(compact)
    row.resize(200, row.sizeHint().height())
    image = row.grab().toImage().convertToFormat(QImage.Format.Format_Grayscale8)
    words = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())[:, :100]
    inked = np.flatnonzero((words < 150).any(axis=1))
    tall = QFontMetricsF(theme.font(theme.Role.STRONG)).tightBoundingRect("gjpqy").height()
    assert inked[-1] - inked[0] + 1 >= tall


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_every_example_of_the_start_page_is_told_whole_in_a_small_window(qtbot, appearance, scale):
    theme.apply(appearance, family="DejaVu Sans", scale=scale)
    page = StartPage()
    qtbot.addWidget(page)
    page.show_view(StartView(None, tuple(example_row(one) for one in list_studies() if one.minutes), ()))
    page.resize(800, 600)
    page.show()
    qtbot.waitUntil(lambda: page.examples.rows[0].width() > 300)
    for row in page.examples.rows:
        width = row.width() - 2 * 16 - theme.em(14) - theme.S
        for at, (text, role) in enumerate(((row.view.title, theme.Role.STRONG), (row.view.line, theme.Role.NOTE))):
            assert QFontMetricsF(theme.font(role)).horizontalAdvance(text) <= row.text_width(at, width), text
