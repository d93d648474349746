"""From the start page to a metric file that loads: set-up, practice, answers by keys, undo, review, result."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication
from PySide6.QtTest import QTest

from elicit_app.gui.app import make_window
from elicit_app.gui.flow.background import documents
from metrics import ElicitedMetric

COSTS = np.array([[0, 6, 2], [1, 0, 0.6], [0.4, 1.5, 0]])


@pytest.fixture
def window(window):
    window.resize(1280, 800)
    return window


@pytest.fixture
def predictions(tmp_path):
    rng = np.random.default_rng(4)
    classes = ("melanoma", "naevus", "keratosis")
    y = rng.choice(3, 600, p=(0.15, 0.6, 0.25))
    scores = rng.standard_normal((600, 3)) + 1.6 * np.eye(3)[y]
    proba = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    table = {"y_true": [classes[i] for i in y]}
    table |= {f"proba_{name}": proba[:, column] for column, name in enumerate(classes)}
    path = tmp_path / "lesions.csv"
    pl.DataFrame(table).write_csv(path)
    return path


def press(widget, key, modifier=Qt.KeyboardModifier.NoModifier):
    QTest.keyClick(widget, key, modifier)


def drop(page, path):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    button, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    page.dropEvent(QDropEvent(QPoint(50, 50), Qt.DropAction.CopyAction, data, button, none))


def on(qtbot, window, page):
    qtbot.waitUntil(lambda: window.pages.shown is page)


def waits_for_answer(page):
    return page._question is not None and not page.locked


def answer(qtbot, page):
    """Answer the question that stands by the arrow key of the cheaper side, and return its number."""
    if not page.break_card.isHidden():
        page.break_card.proceed.click()
    qtbot.waitUntil(lambda: waits_for_answer(page))
    view = page._question
    if page.moving:
        press(page.card.field, Qt.Key.Key_Escape)
    dearer_left = float(((view.left - view.right) * COSTS).sum()) > 0
    press(page.card, Qt.Key.Key_Right if dearer_left else Qt.Key.Key_Left)
    qtbot.waitUntil(lambda: page._question is not view or not page.isVisible())
    return view.number


def stands_at(qtbot, page, number):
    qtbot.waitUntil(lambda: page._question.number == number)


def says(qtbot, page, text):
    qtbot.waitUntil(lambda: text in page.notice.sentence)


def practise(qtbot, window):
    page = window.pages.practice
    on(qtbot, window, page)
    for better in (Qt.Key.Key_Right, Qt.Key.Key_Left):
        press(page.card, better)
        assert page.feedback.headline.text().startswith("You chose")
        press(page.feedback.next, Qt.Key.Key_Return)
    assert page.moving
    press(page.card.field, Qt.Key.Key_Up)
    qtbot.waitUntil(page.move_answers.equal.isEnabled)
    press(page.card.field, Qt.Key.Key_Return)
    press(page.feedback.next, Qt.Key.Key_Return)


@pytest.mark.long
def test_the_whole_way_by_keyboard(qtbot, window, dialogs, predictions, tmp_path):
    drop(window.pages.start, predictions)
    study = window.pages.study
    on(qtbot, window, study)
    study.nouns.name.setText("Skin lesions")
    study.nouns.name.textEdited.emit("Skin lesions")
    study.nouns.case.setText("patient")
    study.nouns.cases.setText("patients")
    study.nouns.cases.textEdited.emit("patients")
    said = ("Missed melanoma", "missed melanoma", "missed melanomas", "Sent home. Found later, harder to treat.")
    study.mistakes.table.setCurrentIndex(study.mistakes.grid.index(0, 2))
    QGuiApplication.clipboard().setText("\t".join(said))
    press(study.mistakes.table, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    folder = Path(study.place.path.text())
    study.save.click()
    begin = window.pages.begin
    on(qtbot, window, begin)
    stored = json.loads((folder / "study.json").read_text())
    assert stored["title"] == "Skin lesions"
    assert (folder / "lesions.parquet").is_file()
    begin.expert.setText("dermatology")
    press(begin.purpose.rows["costs"].radio, Qt.Key.Key_Space)
    assert begin.purpose.purpose == "costs"
    next(iter(begin.guesses.fields.values())).setText("8")
    begin.asking.questions.setValue(16)
    begin.asking.early.box.setChecked(False)
    begin.begin.click()
    practise(qtbot, window)
    page = window.pages.question
    on(qtbot, window, page)
    numbers = [answer(qtbot, page) for _ in range(14)]
    assert numbers == list(range(1, 15))
    for left in (14, 13, 12):
        press(page.card, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        stands_at(qtbot, page, left)
    page.stop.click()
    review = window.pages.review
    on(qtbot, window, review)
    assert len(review.table.answers.rows) == 11
    review.finish.click()
    results = window.pages.results
    on(qtbot, window, results)
    assert "dermatology, 11 answers" in results.header.line.text()
    target = tmp_path / "expert.metric.json"
    dialogs.save_as = target
    results.save.click()
    says(qtbot, results, "Saved")
    metric = ElicitedMetric.load(target)
    assert sorted(metric.classes) == ["keratosis", "melanoma", "naevus"]
    assert metric.provenance.expert == "dermatology"
    check_what_saving_says(dialogs, results, metric, target)
    check_exports(qtbot, window, dialogs, tmp_path)
    check_the_start_page_remembers(qtbot, window)


def check_what_saving_says(dialogs, results, metric, target):
    assert dialogs.asked[-1].parent == documents()
    provisional = bool(metric.quality.provisional)
    assert ("(provisional).metric.json" in dialogs.asked[-1].name) == provisional
    assert ("provisional" in dialogs.titles[-1]) == provisional
    assert results.notice.button.text() == "Open"
    results.notice.button.click()
    assert dialogs.shown == [target]
    dialogs.can_show = False
    results.notice.button.click()
    assert dialogs.shown[-2:] == [target, target.parent]
    assert results.notice.sentence == f"There is no program here that opens it. Saved: {target}"
    dialogs.can_show = True


def check_exports(qtbot, window, dialogs, tmp_path):
    results = window.pages.results
    assert results.costs.files.isVisibleTo(results.costs)
    results.costs.files.buttons["sklearn"].click()
    pasted = {}
    exec(QGuiApplication.clipboard().text(), pasted)
    assert callable(pasted["scorer"])
    for key, ending in (("answers", ".answers.csv"), ("weka", ".cost"), ("html", ".html")):
        target = tmp_path / f"export{ending}"
        dialogs.save_as = target
        results.costs.files.buttons[key].click()
        says(qtbot, results, str(target))
        assert target.stat().st_size > 50
    rows = (tmp_path / "export.answers.csv").read_text().splitlines()
    assert len(rows) == 1 + 14
    assert sum(",undone," in row for row in rows) == 3


def check_the_start_page_remembers(qtbot, window):
    window.pages.results.start_requested.emit()
    start = window.pages.start
    on(qtbot, window, start)
    qtbot.waitUntil(lambda: any("dermatology" in row.text() for row in start.recent.rows))
    start.recent.rows[0].click()
    on(qtbot, window, window.pages.results)


@pytest.mark.long
def test_a_window_closed_in_the_middle_goes_on_where_it_stood(qtbot, window, appearance, places):
    window.flow.open("breast-cancer")
    on(qtbot, window, window.pages.begin)
    window.pages.begin.begin.click()
    on(qtbot, window, window.pages.practice)
    window.pages.practice.skip.click()
    page = window.pages.question
    on(qtbot, window, page)
    for _ in range(3):
        qtbot.waitUntil(lambda: waits_for_answer(page))
        number = page._question.number
        press(page.card, Qt.Key.Key_Left)
        stands_at(qtbot, page, number + 1)
    window.close()
    again = make_window(appearance, places)
    qtbot.addWidget(again, before_close_func=lambda w: w.flow.close())
    again.flow.show_start()
    again.show()
    start = again.pages.start
    qtbot.waitUntil(lambda: not start.current.isHidden())
    assert "3 answers kept" in start.current._line.text()
    start.current.button.click()
    on(qtbot, again, again.pages.recap)
    assert "3 answers are kept" in again.pages.recap.sentence.text()
    press(again.pages.recap, Qt.Key.Key_Return)
    on(qtbot, again, again.pages.question)
    assert again.pages.question._question.number == 4
