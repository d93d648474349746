"""Opening, errors and their way out, help and settings, and closing at any moment."""

import shutil

import numpy as np
import polars as pl
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QPalette
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from elicit_app.elicitation.orders import StatedMistake, StatedPile
from elicit_app.gui.app import make_window
from elicit_app.gui.settings import load_settings
from elicit_app.registry.procedures import BayesSetting
from elicit_app.session.journal.files import read
from elicit_app.session.session import Session
from elicit_app.study import open_study
from elicit_app.study.folder import write_folder
from elicit_app.study.making import change_study


def write_predictions(path, *, total=1.0, rows=60):
    rng = np.random.default_rng(1)
    proba = rng.dirichlet(np.ones(2), rows)
    proba[4] *= total
    table = {"y_true": ["cat", "dog"] * (rows // 2), "proba_cat": proba[:, 0], "proba_dog": proba[:, 1]}
    pl.DataFrame(table).write_csv(path)
    return path


def test_what_is_opened_stays_though_the_session_before_it_had_a_view_under_way(window, on):
    window.flow.open("breast-cancer")
    on("begin").begin.click()
    on("practice").skip.click()
    question = on("question")
    view = question._question
    window.flow.open("wine")
    begin = on("begin")
    window.flow._sessions().show_view(view)
    assert window.pages.shown is begin
    assert window.flow.with_session(window.flow.settings).session == ""


def test_what_is_wrong_with_a_file_is_numbered_and_it_can_be_read_again(window, tmp_path, on):
    path = write_predictions(tmp_path / "pets.csv", total=0.5)
    window.flow.open_files((path,))
    page = on("error")
    assert page.title.text() == "This file cannot be used yet"
    assert "pets.csv" in page.sentence.text()
    page.copy.click()
    assert "Row 5" in QGuiApplication.clipboard().text()
    write_predictions(path)
    QTest.keyClick(page, Qt.Key.Key_F5)
    study = on("study")
    assert "2 classes" in study.header.line.text()


def test_of_several_files_the_wrong_one_is_named_and_all_are_read_again(window, tmp_path, on):
    files = (write_predictions(tmp_path / "good.csv"), write_predictions(tmp_path / "bad.csv", total=0.5))
    window.flow.open_files(files)
    page = on("error")
    assert page.sentence.text() == "Before bad.csv can be used, one thing has to be put right."
    write_predictions(files[1])
    page.again.click()
    assert on("study").study.model_names == ("good", "bad")


def test_a_folder_that_is_no_study_leads_to_another_folder(window, tmp_path, monkeypatch, on):
    chosen = []
    monkeypatch.setattr(window.flow, "choose_folder", lambda: chosen.append("folder"))
    window.flow.open_files((tmp_path,))
    page = on("error")
    assert page.primary.text() == "Choose another folder…"
    page.primary.click()
    assert chosen == ["folder"]


def test_another_file_can_be_chosen_and_the_format_looked_up(window, dialogs, tmp_path, on):
    window.flow.open_files((write_predictions(tmp_path / "bad.csv", total=0.5),))
    page = on("error")
    page.format.click()
    help_page = on("help")
    help_page.done.click()
    on("error")
    dialogs.files = (write_predictions(tmp_path / "good.csv"),)
    page.primary.click()
    on("study")


def test_files_of_several_models_make_one_study_that_is_kept_where_it_is_said(window, tmp_path, on):
    first, second = write_predictions(tmp_path / "small.csv"), write_predictions(tmp_path / "large.csv")
    window.flow.open_files((first, second))
    page = on("study")
    assert "2 models" in page.header.line.text()
    page.nouns.case.clear()
    page.nouns.case.textEdited.emit("")
    page.save.click()
    assert "the word for one case is empty" in page.notice.sentence
    page.nouns.case.setText("pet")
    page.nouns.case.textEdited.emit("pet")
    target = tmp_path / "kept here"
    page.place.path.setText(str(target))
    page.save.click()
    begin = on("begin")
    assert open_study(target).wording.case == "pet"
    assert str(target / "sessions") in begin.briefing.stored.text().replace("\u200b", "")
    assert load_settings(window._paths.settings).folders == (str(target),)


def test_files_that_have_a_study_already_are_told_so(window, tmp_path, on):
    path = write_predictions(tmp_path / "[a] pets.csv")
    window.flow.open_files((path,))
    on("study").save.click()
    on("begin")
    for told, rows in ((False, 62), (True, 60)):
        write_predictions(path, rows=rows)
        window.flow.open_files((path,))
        assert ("in the folder [a] pets-study beside them" in on("study").notice.sentence) == told
        window.flow.show_start()
        on("start")
    assert window.pages.study.place.path.text() == str(tmp_path / "[a] pets-study-2")


def test_a_population_prevalence_and_yardstick_are_saved_back(window, tmp_path, on):
    study = write_folder(tmp_path / "wine", open_study("wine"))
    window.flow.open(str(study.folder))
    on("begin").words.click()
    page = on("study")
    section = page.population
    section.population.setCurrentIndex(section.population.findData(10_000))
    section.population.activated.emit(0)
    section.stated.radio.click()
    section.boxes[0].setValue(60)
    assert not section.complete
    page.save.click()
    assert "100 %" in page.notice.sentence
    for box, share in zip(section.boxes, (60, 30, 10), strict=True):
        box.setValue(share)
    page.yardstick.box.setCurrentIndex(3)
    page.yardstick.box.activated.emit(3)
    page.save.click()
    on("begin")
    kept = open_study(study.folder)
    assert kept.population == 10_000
    assert kept.stated_prevalence == pytest.approx((0.6, 0.3, 0.1))
    assert kept.yardstick == sorted(kept.wording.mistakes)[3]


def test_a_consequence_that_is_too_long_is_counted_and_refused(window, tmp_path, on):
    study = write_folder(tmp_path / "wine", open_study("wine"))
    window.flow.open(str(study.folder))
    on("begin").words.click()
    page = on("study")
    page.mistakes.grid.put({(0, 5): "x" * 46})
    page.save.click()
    assert "46 characters" in page.notice.sentence
    assert window.pages.shown is page


def test_words_do_not_replace_what_somebody_else_saved_meanwhile(window, tmp_path, on, qtbot):
    study = write_folder(tmp_path / "wine", open_study("wine"))
    window.flow.open(str(study.folder))
    on("begin").words.click()
    page = on("study")
    QTest.keyClicks(page.nouns.name, " of mine")
    change_study(study, title="Theirs")
    page.save.click()
    qtbot.waitUntil(lambda: "was changed in another place" in page.notice.sentence)
    assert open_study(study.folder).title == "Theirs"
    assert window.pages.shown is page


def test_a_damaged_session_is_said_to_be_damaged(window, tmp_path, on):
    path = tmp_path / "broken.session.jsonl"
    path.write_text('{"kind": "begun"')
    window.flow.open(str(path))
    page = on("error")
    assert page.title.text() == "This session cannot be opened"
    page.primary.click()
    on("start")


def test_a_damaged_session_is_listed_looked_at_and_gone_on_with_in_a_copy(qtbot, window, places, on):
    path = places.data / "sessions" / "wine" / "2026-01-01-120000.session.jsonl"
    path.parent.mkdir(parents=True)
    with Session.create(open_study("wine"), BayesSetting(questions=8), path, expert="Ada") as session:
        for _ in range(4):
            session.answer("left", seconds=5.0)
    Session.open(path).close()  # keeps a backup
    lines = path.read_bytes().splitlines(keepends=True)
    third = next(at for at, line in enumerate(lines) if b'"answered"' in line) + 2
    lines[third] = lines[third][:-20] + b"\n"
    broken = b"".join(lines)
    path.write_bytes(broken)
    window.flow.show_start()
    start = window.pages.start
    qtbot.waitUntil(lambda: bool(start.recent.rows))
    (row,) = start.recent.rows
    assert row.view.title.endswith("Ada")
    assert row.view.line == "Damaged: 2 of 4 answers can be read"
    row.click()
    page = on("damaged")
    assert [row.number for row in page.table.answers.rows] == [2, 1]
    assert "newest first" in page.table.accessibleName()
    hidden = "2 of them can be restored, but not be shown here."
    assert page.header.line.text().startswith(f"A copy will hold 4 answers. {hidden}")
    page.copy.click()
    assert on("recap").sentence.text().endswith("4 answers are kept")
    assert path.read_bytes() == broken
    assert path.with_name("2026-01-01-120000-recovered.session.jsonl").exists()


def test_practice_that_cannot_be_noted_ends_on_the_page_that_says_why(window, places, on):
    window.flow.open("wine")
    on("begin").begin.click()
    practice = on("practice")
    (path,) = (places.data / "sessions" / "wine").glob("*.session.jsonl")
    path.write_bytes(path.read_bytes() + b"something else\n")
    practice.finished.emit()
    assert "changed" in on("error").sentence.text()
    assert window.flow._sessions()._runner is None, "no question replaces it"


def test_no_answer_is_chosen_in_the_review_of_another_session(window, places, on):
    paths = [places.data / "sessions" / "wine" / f"{who}.session.jsonl" for who in ("ada", "bo")]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        with Session.create(open_study("wine"), BayesSetting(questions=8), path) as session:
            for _ in range(3):
                session.answer("left")
            session.stop()
    for path in paths:
        window.flow.open(str(path))
        review = on("review")
        assert review.table.number is None, path.name
        review.table.choose(2)
        window.flow.show_start()
        on("start")


def test_the_only_session_is_recent_too(qtbot, window, places):
    path = places.data / "sessions" / "wine" / "2026-01-01-120000.session.jsonl"
    path.parent.mkdir(parents=True)
    with Session.create(open_study("wine"), BayesSetting(questions=5), path) as session:
        session.answer("left")
    window.flow.show_start()
    start = window.pages.start
    qtbot.waitUntil(lambda: not start.current.isHidden())
    assert [row.view.line for row in start.recent.rows] == ["Stopped at question 2"]


def test_a_session_open_elsewhere_is_refused_in_words(window, tmp_path, on):
    path = tmp_path / "busy.session.jsonl"
    with Session.create(open_study("breast-cancer"), BayesSetting(questions=5), path):
        window.flow.open(str(path))
        page = on("error")
        assert "open" in page.sentence.text()


def test_a_study_with_an_unfinished_session_offers_to_go_on(qtbot, window, places, on):
    study = open_study("breast-cancer")
    path = places.data / "sessions" / "breast-cancer" / "2026-01-01-120000.session.jsonl"
    path.parent.mkdir(parents=True)
    with Session.create(study, BayesSetting(questions=5), path) as session:
        session.answer("left")
        session.answer("right")
    window.flow.open("breast-cancer")
    begin = on("begin")
    assert begin.current.isVisible()
    assert begin.current.button.hasFocus()
    assert not begin.begin.isVisible()
    assert begin.begin_new.isVisible()
    begin.current.button.click()
    recap = on("recap")
    assert recap.sentence.text() == f"{study.title} · 2 answers are kept"
    assert recap.following.text().startswith("Question 3 is next")
    recap.proceed.click()
    question = on("question")
    qtbot.waitUntil(lambda: question.isVisible())
    assert len(read(path).events) > 2


def test_what_was_sorted_before_the_first_answer_is_offered_again(qtbot, window, places, on):
    study = open_study("digits")
    path = places.data / "sessions" / "digits" / "2026-01-01-120000.session.jsonl"
    path.parent.mkdir(parents=True)
    names = study.classes
    pile = StatedPile("Grave", (StatedMistake(names[0], names[1]),))
    with Session.create(study, BayesSetting(questions=5, piles=(pile,)), path):
        pass
    window.flow.show_start()
    start = on("start")
    qtbot.waitUntil(lambda: start.current.isVisible())
    assert "What you entered is kept · no answers yet" in [label.text() for label in start.current.findChildren(QLabel)]
    window.flow.open("digits")
    begin = on("begin")
    assert begin.current.isVisible()
    begin.current.button.click()
    on("practice")
    assert window.flow.with_session(window.flow.settings).session == str(path)


def test_a_study_that_is_gone_is_no_longer_listed(qtbot, window, tmp_path, on):
    study = write_folder(tmp_path / "wine", open_study("wine"))
    window.flow.open(str(study.folder))
    on("begin")
    window.flow.show_start()
    start = on("start")
    qtbot.waitUntil(lambda: [row.text() for row in start.recent.rows] == ["Italian wines"])
    shutil.rmtree(study.folder)
    window.flow.show_start()
    qtbot.waitUntil(lambda: start.recent.rows == [])


def test_help_and_settings_lead_back_to_where_one_was(window, on):
    window.flow.open("breast-cancer")
    begin = on("begin")
    QTest.keyClick(begin, Qt.Key.Key_F1)
    on("help")
    QTest.keyClick(window.pages.help, Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
    settings = on("settings")
    settings.done.click()
    assert window.pages.shown is begin
    for key in (Qt.Key.Key_Escape, Qt.Key.Key_Return):
        QTest.keyClick(begin, Qt.Key.Key_F1)
        help_page = on("help")
        assert help_page.done.hasFocus()
        QTest.keyClick(help_page.done, key)
        assert window.pages.shown is begin


def test_settings_apply_to_the_practice_that_is_shown(window, on):
    window.flow.open("wine")
    on("begin").begin.click()
    practice = on("practice")
    window.flow.show_settings()
    on("settings").numbers_only.box.click()
    on("settings").back_requested.emit()
    assert on("practice") is practice
    assert all(bar.place().bar is None for bar in practice.card.rows[0].bars)


def test_settings_change_the_app_at_once_and_are_kept(qtbot, window, appearance, places, on):
    window.flow.show_settings()
    page = on("settings")
    page.appearances["dark"].radio.click()
    assert appearance.palette().color(QPalette.ColorRole.Window).lightness() < 60
    page.text_size.setCurrentIndex(2)
    page.text_size.activated.emit(2)
    assert appearance.font().pixelSize() >= 22
    page.numbers_only.box.click()
    page.animation.box.click()
    window.resize(760, 640)
    window.close()
    kept = load_settings(places.settings)
    assert (kept.appearance, kept.font_percent, kept.numbers_only, kept.animation) == ("dark", 150, True, False)
    again = make_window(appearance, places)
    qtbot.addWidget(again, before_close_func=lambda w: w.flow.close())
    assert again.size() == window.size()


@pytest.mark.parametrize("how", ["again", "button", "Ctrl+C"])
def test_the_window_asks_once_before_it_closes_over_words_that_are_not_saved(window, on, how):
    window.flow.open("wine")
    on("begin").words.click()
    page = on("study")
    QTest.keyClicks(page.nouns.name, "x")
    if how == "Ctrl+C":
        window.interrupt()
    else:
        window.close()
        assert window.isVisible()
        assert "not saved" in page.notice.sentence
        window.close() if how == "again" else page.notice.button.click()
    assert not window.isVisible()


def test_the_window_closes_at_once_over_words_that_nobody_changed(window, on):
    window.flow.open("wine")
    on("begin").words.click()
    on("study")
    window.close()
    assert not window.isVisible()


def test_closing_while_a_study_is_read_is_safe(qtbot, window, places):
    window.flow.open("digits")
    window.close()
    qtbot.wait(50)
    assert window.pages.shown is window.pages.opening, "what was read comes to nobody"


def test_a_first_guess_must_be_a_number(window, on):
    window.flow.open("wine")
    begin = on("begin")
    field = next(iter(begin.guesses.fields.values()))
    field.setText("a lot")
    begin.begin.click()
    assert "a lot" in begin.notice.sentence
    assert window.pages.shown is begin


@pytest.mark.parametrize(("procedure", "family"), [("dlpm", "dlpm"), ("lpm", "lpm")])
def test_a_published_search_is_for_one_family_and_says_what_it_costs(window, procedure, family, on):
    window.flow.open("wine")
    begin = on("begin")
    asking = begin.asking
    begin.settings.open()
    asking.researchers.click()
    asking.procedure.setCurrentIndex(asking.procedure.findData(procedure))
    setting = asking.setting(begin._family, 1)
    assert (setting.procedure, setting.family) == (procedure, family)
    assert setting.epsilon == 0.02
    count = {"dlpm": "12 to 24", "lpm": "35 to 210"}[procedure]
    assert f"about {count} questions" in asking._warning.text()
    assert not begin.family.differ.isEnabled()


def test_whoever_answers_next_begins_with_nothing_of_the_one_before(window, on):
    window.flow.open("digits")
    begin = on("begin")
    begin.expert.setText("Ada")
    next(iter(begin.guesses.fields.values())).setText("20")
    begin.settings.open()
    begin.orders.state.click()
    begin.orders.first.setCurrentIndex(1)
    begin.orders.second.setCurrentIndex(2)
    begin.orders.add.click()
    begin.begin.click()
    piles = on("piles")
    QTest.keyClick(piles.first_focus, Qt.Key.Key_1)
    assert piles.piles.assigned
    piles.skip.click()
    on("practice")
    window.flow.show_start()
    window.flow.open("digits")
    assert on("begin") is begin
    assert begin.expert.text() == ""
    assert (begin.guesses.guesses(), begin.orders.orders()) == ((), None)
    begin.begin.click()
    assert not on("piles").piles.assigned
