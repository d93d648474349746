"""The words of a study as a table: typed, pasted, filled down, taken back and searched, by keys alone."""

import csv
import io
from dataclasses import replace

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from elicit_app.gui import theme
from elicit_app.gui.setup.grid import block_of
from elicit_app.gui.setup.study_page import StudyPage
from elicit_app.problem import Problem
from elicit_app.study import open_study
from elicit_app.study.model import default_wording
from elicit_app.study.words import read_words, with_mistakes, with_nouns, words_csv, write_words

CTRL = Qt.KeyboardModifier.ControlModifier
NAME, ONE, SEVERAL, FOLLOWS = range(2, 6)


@pytest.fixture
def page(shown, tmp_path):
    page = StudyPage()
    page.show_study(open_study("wine"), tmp_path / "wine")
    shown(page)
    page.resize(1280, 800)
    return page


@pytest.fixture
def table(page):
    page.mistakes.table.setFocus()
    return page.mistakes.table


def go(table, row, column):
    """Go to a cell, and select it alone, even if Qt thinks that the last test still holds Shift down."""
    alone = QItemSelectionModel.SelectionFlag.ClearAndSelect
    table.selectionModel().setCurrentIndex(table.grid.index(row, column), alone)


def paste(table, text):
    QGuiApplication.clipboard().setText(text)
    QTest.keyClick(table, Qt.Key.Key_V, CTRL)


def test_a_block_from_a_spreadsheet_is_pasted_from_the_current_cell_on_and_taken_back_at_once(page, table):
    before = page.study.wording.mistakes[0, 1]
    go(table, 0, NAME)
    paste(table, "Fraud\tfraud\tfrauds\nSlip\tslip\tslips\n")
    assert page.study.wording.mistakes[0, 1] == replace(before, name="Fraud", one="fraud", many="frauds")
    assert page.study.wording.mistakes[0, 2].many == "slips"
    assert page._done.text() == "6 cells pasted from the clipboard."
    assert len(table.grid.fresh) == 6
    QTest.keyClick(table, Qt.Key.Key_Z, CTRL)
    assert page.study.wording == open_study("wine").wording


def test_the_last_step_is_taken_back_whichever_table_it_was_in(page, table):
    before = page.study.wording
    go(table, 0, NAME)
    paste(table, "Fraud")
    classes = page.nouns.table
    classes.setFocus()
    go(classes, 1, 3)
    paste(classes, "sell it")
    page.undo.click()
    assert (
        page.study.wording
        == with_mistakes(open_study("wine"), {(0, 1): replace(before.mistakes[0, 1], name="Fraud")}).wording
    )
    QTest.keyClick(classes, Qt.Key.Key_Z, CTRL)
    assert page.study.wording == before
    assert not page.undo.isEnabled()


def test_another_study_of_the_same_classes_has_no_step_to_take_back(page, table, tmp_path):
    page.mistakes.grid.put({(0, NAME): "Fraud"})
    wine = open_study("wine")
    other = with_mistakes(wine, {(0, 1): replace(wine.wording.mistakes[0, 1], name="Slip")})
    page.show_study(other, tmp_path / "other")
    assert not page.undo.isEnabled()
    QTest.keyClick(table, Qt.Key.Key_Z, CTRL)
    assert page.study.wording == other.wording


def test_pasted_cells_stay_marked_until_the_next_key(table):
    go(table, 0, NAME)
    paste(table, "Fraud")
    assert table.grid.fresh == {(0, NAME)}
    QTest.keyClick(table, Qt.Key.Key_Down)
    assert not table.grid.fresh


def test_what_does_not_fit_is_said(page, table):
    go(table, table.grid.rowCount() - 1, SEVERAL)
    paste(table, "a\tb\tc\nd\te\tf")
    assert page._done.text() == "2 cells pasted from the clipboard. 4 cells did not fit."


def test_a_sentence_with_a_comma_stays_one_cell(page, table):
    go(table, 0, FOLLOWS)
    paste(table, "A scar, two worried weeks.")
    assert page.study.wording.mistakes[0, 1].consequence == "A scar, two worried weeks."


@pytest.mark.parametrize(
    ("text", "split", "block"),
    [
        ("a\tb\nc\td\n", True, [["a", "b"], ["c", "d"]]),
        ('"a\nb"\tc', True, [["a b", "c"]]),
        ('"a\nb"\nc', False, [["a b"], ["c"]]),
        ('"a" b\nc', False, [['"a" b'], ["c"]]),
        ('"a\nb', False, [['"a'], ["b"]]),
        ("a\r\n\r\nc\r\n", False, [["a"], [""], ["c"]]),
        ("a, b\nc, d", True, [["a", "b"], ["c", "d"]]),
        ("a, b\nc", True, [["a, b"], ["c"]]),
        ("a, b", False, [["a, b"]]),
        ("", True, [[""]]),
    ],
)
def test_blocks_are_read_as_spreadsheets_write_them(text, split, block):
    assert block_of(text, split=split) == block


def test_fill_down_takes_the_topmost_or_the_one_above(page, table):
    go(table, 0, FOLLOWS)
    paste(table, "Sold too dear.")
    go(table, 1, FOLLOWS)
    QTest.keyClick(table, Qt.Key.Key_D, CTRL)
    assert page.study.wording.mistakes[0, 2].consequence == "Sold too dear."
    go(table, 1, FOLLOWS)
    for _ in range(2):
        QTest.keyClick(table, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClick(table, Qt.Key.Key_D, CTRL)
    assert {page.study.wording.mistakes[key].consequence for key in ((0, 2), (1, 0), (1, 2))} == {"Sold too dear."}


def test_enter_takes_what_was_typed_and_goes_down_and_f2_edits(page, table, qtbot):
    go(table, 0, FOLLOWS)
    QTest.keyClick(table, Qt.Key.Key_F2)
    editor = QApplication.focusWidget()
    assert editor is not table
    editor.selectAll()
    QTest.keyClicks(editor, "Nothing follows.")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: table.currentIndex().row() == 1)
    assert page.study.wording.mistakes[0, 1].consequence == "Nothing follows."
    assert (table.currentIndex().row(), table.currentIndex().column()) == (1, FOLLOWS)


def test_what_is_being_typed_is_saved_by_the_keys_that_save(page, table, qtbot):
    go(table, 0, FOLLOWS)
    QTest.keyClick(table, Qt.Key.Key_F2)
    editor = QApplication.focusWidget()
    editor.selectAll()
    QTest.keyClicks(editor, "Nothing follows.")
    with qtbot.waitSignal(page.save_requested) as saved:
        QTest.keyClick(editor, Qt.Key.Key_Return, CTRL)
    assert saved.args[0].study.wording.mistakes[0, 1].consequence == "Nothing follows."


def test_tab_stops_where_one_can_type_and_leaves_the_table_behind_the_last_cell(page, table, visited):
    go(table, 0, FOLLOWS)
    QTest.keyClick(table, Qt.Key.Key_Tab)
    assert (table.currentIndex().row(), table.currentIndex().column()) == (1, NAME)
    QTest.keyClick(table, Qt.Key.Key_Backtab)
    assert (table.currentIndex().row(), table.currentIndex().column()) == (0, FOLLOWS)
    go(table, table.grid.rowCount() - 1, FOLLOWS)
    assert visited(table, 1)[-1] is page.yardstick.box
    go(table, 0, NAME)
    table.setFocus()
    QTest.keyClick(table, Qt.Key.Key_Backtab)
    assert QApplication.focusWidget() is page.mistakes.save_csv


def test_ctrl_tab_leaves_the_table_from_any_cell(page, table):
    go(table, 1, NAME)
    QTest.keyClick(table, Qt.Key.Key_Tab, CTRL)
    assert QApplication.focusWidget() is page.yardstick.box
    table.setFocus()
    QTest.keyClick(table, Qt.Key.Key_Backtab, CTRL | Qt.KeyboardModifier.ShiftModifier)
    assert QApplication.focusWidget() is page.mistakes.save_csv
    table.setFocus()
    QTest.keyClick(table, Qt.Key.Key_Tab)
    assert (table.currentIndex().row(), table.currentIndex().column()) == (1, NAME + 1)


def test_the_yardstick_is_called_as_its_mistake_is_now(page, table):
    page.mistakes.grid.put({(0, NAME): "Barolo thrown away"})
    assert page.yardstick.box.itemText(0).startswith("Barolo thrown away")


def test_of_two_classes_each_mistake_has_its_words_once(page, tmp_path):
    page.show_study(open_study("breast-cancer"), tmp_path / "lumps")
    assert page.mistakes.grid.rowCount() == 2
    page.mistakes.grid.put({(0, FOLLOWS): "Found too late."})
    assert page.study.wording.mistake((0, 1)).consequence == "Found too late."
    assert page.study.wording.mistake((0, None)) == page.study.wording.mistake((0, 1))
    again = read_words(page.study, write_words(page.study, tmp_path / "words.csv"))
    assert set(again) == {(0, 1), (1, 0)}


def test_shares_that_do_not_add_up_yet_stay_while_a_noun_is_typed(page):
    section = page.population
    section.stated.radio.click()
    section.boxes[0].setValue(60)
    QTest.keyClicks(page.nouns.cases, "x")
    assert section.stated.radio.isChecked()
    assert section.boxes[0].value() == 60
    page.save.click()
    assert page.notice.sentence == "The stated shares must add up to 100 %."


def test_a_rare_class_stays_as_rare_as_it_was_stated(page, tmp_path):
    study = open_study("breast-cancer")
    stated = (1 - 0.000213, 0.000213)
    page.show_study(replace(study, stated_prevalence=stated), tmp_path / "rare")
    section = page.population
    assert [box.text() for box in section.boxes] == ["99.979 %", "0.021 %"]
    section.population.setCurrentIndex(section.population.count() - 1)
    section.population.activated.emit(section.population.currentIndex())
    assert page.study.population == section.population.currentData() != study.population
    assert page.study.stated_prevalence == pytest.approx(stated, rel=1e-12)
    for box, percent in zip(section.boxes, ("99.9992", "0.0008"), strict=True):
        box.selectAll()
        QTest.keyClicks(box, percent)
        assert box.text() == f"{percent} %"
    assert page.study.stated_prevalence == pytest.approx((0.999992, 0.000008), rel=1e-12)
    assert "is then 8 of them" in section.scaled.text()


def test_more_cases_are_offered_where_few_of_the_rarest_class_are_shown(page, tmp_path):
    for stated, population, said in (
        (0.00002, 100_000, "1,000,000 would show 20."),
        (0.002, 1_000, "100,000 would show 200."),
    ):
        study = replace(open_study("breast-cancer"), stated_prevalence=(stated, 1 - stated), population=population)
        page.show_study(study, tmp_path / "rare")
        assert page.population.scaled.text().endswith(said)
    page.show_study(replace(study, population=100_000), tmp_path / "rare")
    assert "would show" not in page.population.scaled.text()


def test_a_consequence_too_long_is_refused_with_how_long_it_may_be(page):
    page.mistakes.grid.put({(0, FOLLOWS): "x" * 46})
    page.save.click()
    assert page.notice.sentence.endswith("has 46 characters. At most 45 fit on the page.")


def test_empty_consequences_are_counted_and_never_block(page, table, qtbot):
    go(table, 0, FOLLOWS)
    QTest.keyClick(table, Qt.Key.Key_Delete)
    assert page.mistakes.sentence.text() == "1 of 6 has no consequence yet"
    with qtbot.waitSignal(page.save_requested):
        page.save.click()


def test_the_preview_reads_the_row_under_the_cursor(page, table):
    go(table, 3, NAME)
    paste(table, "Fraud\tfraud\tfrauds\tSomebody pays too much.")
    assert page.preview._name.text() == "Fraud"
    assert page.preview._change.accessibleName() == "“… 12 fewer frauds than A”"


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_numbers_are_shown_whole_in_the_smallest_window(qtbot, qapp, page, scale):
    theme.apply(qapp, scale=scale, family="DejaVu Sans")
    page.resize(800, 600)
    classes = page.nouns.table
    cases = classes.grid.columns[4]
    numbers = [cases.head, *classes.grid.texts_in(4)]
    widest = max(map(classes.fontMetrics().horizontalAdvance, numbers))
    qtbot.waitUntil(lambda: classes.columnWidth(4) > widest)
    assert sum(map(classes.columnWidth, range(5))) == classes.viewport().width()


def test_twenty_classes_have_a_field_to_search_in(shown, many_classes, tmp_path):
    page = StudyPage()
    page.show_study(many_classes(20), tmp_path / "many")
    shown(page)
    assert page.mistakes.search.isVisibleTo(page)
    page.mistakes.search.setText("kind 3 called kind 17")
    table = page.mistakes.table
    assert [row for row in range(table.grid.rowCount()) if not table.isRowHidden(row)]
    paste(table, "Only this one")
    names = [mistake.name for mistake in page.study.wording.mistakes.values()]
    assert names.count("Only this one") == 1
    assert page.study.wording.mistakes[3, 17].name == "Only this one"


def test_class_words_follow_the_case_word():
    wording = default_wording(("red", "x"), "light", "lights")
    wine = replace(open_study("wine"), wording=replace(wording, class_many=("red lights", "crimson")))
    assert with_nouns(wine, "lamp", "lamps", ("red", "x"), ("red lights", "crimson")).wording.class_many == (
        "red lamps",
        "crimson",
    )
    renamed = with_nouns(wine, "light", "lights", ("ruby", "x"), ("red lights", "crimson")).wording
    assert renamed.class_many == ("ruby lights", "crimson")
    assert with_nouns(wine, "lamp", "lamps", ("red", "x"), ("red ones", "x")).wording.class_many == ("red ones", "x")


def test_words_come_back_from_a_csv_file_as_they_were(tmp_path):
    wine = open_study("wine")
    changed = with_mistakes(wine, {(0, 1): replace(wine.wording.mistakes[0, 1], consequence="Dear, and sour.")})
    assert (
        with_mistakes(wine, read_words(wine, write_words(changed, tmp_path / "words.csv"))).wording == changed.wording
    )
    assert words_csv(wine).splitlines()[0] == "truth,called,name,one,several,what follows"


def test_a_csv_file_of_other_classes_is_refused_in_words(tmp_path):
    path = tmp_path / "words.csv"
    path.write_text("truth,called,name\ncat,dog,Bite\n")
    with pytest.raises(Problem, match="line 2 is about “cat” called “dog”"):
        read_words(open_study("wine"), path)
    path.write_text("a,b\n1,2\n")
    with pytest.raises(Problem, match="no columns “truth” and “called”"):
        read_words(open_study("wine"), path)


def test_a_spreadsheet_may_spell_the_classes_in_its_own_way(tmp_path, named_classes):
    path = tmp_path / "words.csv"
    path.write_text("truth;called;name\nTRUE;FALSE;Missed\nFALSE;(anything else);Needless\n")
    found = read_words(named_classes(("True", "False")), path)
    assert {key: mistake.name for key, mistake in found.items()} == {(0, 1): "Missed", (1, None): "Needless"}


def test_words_from_a_file_are_one_step_to_take_back(page, tmp_path):
    wine = open_study("wine")
    changed = replace(wine.wording.mistakes[0, 1], name="Fraud", consequence="Dear, and sour.")
    page.take_words({(0, 1): changed}, "words.csv")
    assert page.study.wording.mistakes[0, 1].name == "Fraud"
    page.undo.click()
    assert page.study.wording == wine.wording


def test_words_that_a_spreadsheet_would_run_are_defused_and_read_back(tmp_path):
    wine = open_study("wine")
    said = replace(wine.wording.mistakes[0, 1], name="=1+1", one="-one", many="+many", consequence="@now")
    study = with_mistakes(wine, {(0, 1): said})
    path = write_words(study, tmp_path / "words.csv")
    cells = [cell for row in csv.reader(io.StringIO(path.read_text("utf-8-sig"))) for cell in row]
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in cells)
    assert read_words(study, path)[0, 1] == said


def test_what_is_done_with_a_class_is_typed_beside_its_names(page):
    grid = page.nouns.grid
    grid.put({(0, 3): "sell as Barolo "})
    assert page.study.wording.class_action == ("sell as Barolo", "", "")
    page.nouns.cases.setText("flasks")
    page.nouns.cases.textEdited.emit("flasks")
    assert page.study.wording.class_action == ("sell as Barolo", "", "")
    grid.put({(0, 3): ""})
    assert page.study.wording.class_action == ()


def test_who_goes_back_to_the_start_is_asked_about_what_is_not_saved(page, table):
    left = []
    page.start_requested.connect(lambda: left.append(1))
    page.back.click()
    assert left == [1], "nothing was changed, so nothing is asked"
    go(table, 0, NAME)
    paste(table, "Fraud")
    page.back.click()
    assert left == [1]
    assert "not saved" in page.notice.sentence
    assert page.study.wording.mistakes[0, 1].name == "Fraud"
    page.notice.button.click()
    assert left == [1, 1]


def test_what_was_taken_back_is_not_asked_about(page, table):
    left = []
    page.start_requested.connect(lambda: left.append(1))
    go(table, 0, NAME)
    paste(table, "Fraud")
    page.undo.click()
    page.back.click()
    assert left == [1]


@pytest.mark.parametrize("entry", ["title", "shares", "place"])
def test_every_entry_on_the_page_counts_as_a_change(page, entry):
    left = []
    page.start_requested.connect(lambda: left.append(1))
    if entry == "shares":
        page.population.stated.radio.click()
        page.population.boxes[0].setValue(1)
    else:
        field = page.nouns.name if entry == "title" else page.place.path
        QTest.keyClicks(field, "x")
    page.back.click()
    assert left == []
    assert page.notice.button.isVisible()
