"""A study sent from one window, answered in another by keys alone, and filed again in the first."""

import shutil
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from elicit_app.gui.elements.painting import Glyph
from elicit_app.registry import setting_of
from elicit_app.registry.procedures import BayesSetting
from elicit_app.session.journal.listing import sessions_folder
from elicit_app.session.packing import collect, opinions_of, packed, save_answers, stated_opinions, write_pack
from elicit_app.session.session import Session
from elicit_app.study import open_study
from elicit_app.study.folder import write_folder

PLAIN, CTRL = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def study(tmp_path):
    return write_folder(tmp_path / "breast", open_study("breast-cancer"))


@pytest.fixture
def pack(study, tmp_path):
    return write_pack(packed(study, setting_of("bayes", purpose="costs", questions=5)), tmp_path / "sent.elicit")


def drop(page, *paths):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    page.dropEvent(QDropEvent(QPoint(50, 50), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, PLAIN))


def answered(pack, home, expert, seed):
    """Return the answers of an expert who minds missed cancers, as they were saved to be sent back."""
    study, costs = open_study(str(pack)), np.array([[0, 8.0], [1.0, 0]])
    with Session.create(
        study, BayesSetting(seed=seed, questions=8), home / "a.session.jsonl", expert=expert
    ) as session:
        while (asking := session.asking()) is not None:
            gain = ((np.array(asking.pair.first) - np.array(asking.pair.second)) * costs).sum()
            session.answer("left" if (gain < 0) == (asking.left == "first") else "right")
        session.finish()
        return save_answers(session, home / "answers")


def test_a_study_is_sent_as_it_is_set_on_the_page(qtbot, window, dialogs, study, tmp_path, on):
    window.flow.open(str(study.folder))
    page = on("begin")
    page.purpose.rows["costs"].radio.click()
    page.asking.questions.setValue(7)
    dialogs.save_as = tmp_path / "for-the-expert"
    page.elsewhere.send.click()
    qtbot.waitUntil(lambda: page.notice.sentence == f"Saved: {tmp_path / 'for-the-expert.elicit'}")
    sent = open_study(str(tmp_path / "for-the-expert.elicit"))
    assert (sent.pack.setting["purpose"], sent.pack.setting["questions"]) == ("costs", 7)
    assert dialogs.asked[-1].name == "breast-lumps.elicit"


def test_answers_of_several_experts_dropped_on_the_start_are_sent_to_their_study(window, tmp_path, on):
    files = [tmp_path / f"{name}.session.jsonl" for name in ("ada", "ben")]
    drop(window.pages.start, *files)
    error = on("error")
    said = " ".join(label.text() for label in error.findChildren(QLabel))
    assert "Open their study, and drop them onto its page." in said


def test_an_expert_answers_by_keys_alone_and_saves_the_answers(qtbot, window, dialogs, pack, tmp_path, on):
    drop(window.pages.start, pack)
    page = on("begin")
    assert page.expert.text().startswith("Expert ")
    assert page.expert.selectedText() == page.expert.text(), "a name that is typed replaces it"
    steps = {label.text() for label in page.findChildren(QLabel) if label.isVisible()}
    assert "What you told us" in steps
    assert "What to do" not in steps, "the result has no such tab"
    assert not any(part.isVisible() for part in (page.purpose, page.settings, page.elsewhere, page.words))
    QTest.keyClick(page.expert, Qt.Key.Key_Return, CTRL)
    on("practice").skip.click()
    question = on("question")
    for _ in range(12):
        qtbot.waitUntil(lambda: window.pages.shown is not question or not question.locked)
        if window.pages.shown is not question:
            break
        view = question._question
        if question.moving:
            QTest.keyClick(question.card.field, Qt.Key.Key_Escape)
        QTest.keyClick(question.card, Qt.Key.Key_Left)
        qtbot.waitUntil(lambda view=view: question._question is not view or not question.isVisible())
    QTest.keyClick(on("sitting_over").stop, Qt.Key.Key_Space)
    QTest.keyClick(on("review").finish, Qt.Key.Key_Space)
    results = on("results")
    shown = [results.tabs.tabText(tab) for tab in range(results.tabs.count()) if results.tabs.isTabVisible(tab)]
    assert shown == ["What you told us", "Costs and files"]
    dialogs.save_as = tmp_path / "mine"
    QTest.keyClick(results, Qt.Key.Key_S, CTRL)
    qtbot.waitUntil(lambda: "Send this file back" in results.notice.sentence)
    assert (tmp_path / "mine-answers.session.jsonl").is_file()


def test_answers_are_dropped_on_the_study_and_compared(qtbot, window, study, pack, tmp_path, on):
    files = []
    for seed, name in enumerate(("Ada", "Ben")):
        home = tmp_path / name
        home.mkdir()
        files.append(answered(pack, home, name, seed))
    window.flow.open(str(study.folder))
    page = on("begin")
    drop(page, *files)
    qtbot.waitUntil(lambda: "from Ada" in page.notice.sentence and "from Ben" in page.notice.sentence)
    assert page.notice._sign._glyph is Glyph.CHECK
    drop(page, *files)
    qtbot.waitUntil(lambda: page.notice.sentence.startswith("Already filed"))
    assert page.notice._sign._glyph is Glyph.WARNING, "nothing was filed"
    assert "Compare the 2 experts" in page.compare.text()
    page.compare.click()
    compare = on("compare")
    assert compare.header.line.text() == "Ada and Ben"
    assert not compare.trusted.isVisible()


def test_the_file_of_a_second_round_tells_the_round(window, study, dialogs, on):
    window.flow.open(str(study.folder))
    page = on("begin")
    for again, name in ((False, "breast-lumps.elicit"), (True, "breast-lumps-round-2.elicit")):
        page.elsewhere.again.box.setChecked(again)
        page.elsewhere.send.click()
        assert dialogs.asked[-1].name == name


def test_a_pseudonym_for_a_study_that_was_sent_is_not_proposed_elsewhere(window, study, pack, on):
    drop(window.pages.start, pack)
    page = on("begin")
    assert page.expert.text()
    window.flow.show_start()
    window.flow.open(str(study.folder))
    assert on("begin").expert.text() == ""


def test_a_second_round_is_answered_under_the_name_of_the_first(window, study, pack, tmp_path, on):
    for seed, name in enumerate(("Ada", "Ben")):
        home = tmp_path / name
        home.mkdir()
        collect(study, [answered(pack, home, name, seed)])
    first, *more = opinions_of(study)
    others = (replace(first, reasons=("Whoever is missed comes too late.",)), *more)
    second = write_pack(packed(study, setting_of("bayes", purpose="costs"), others), tmp_path / "second")
    drop(window.pages.start, pack)
    assert not on("begin").others.isVisible()
    assert on("begin").expert.text().startswith("Expert "), "a proposal that does not stay for the second round"
    window.flow.show_start()
    drop(window.pages.start, second)
    page = on("begin")
    assert page.others.isVisible()
    drawn = page.others.plot.accessibleDescription()
    for said in stated_opinions(open_study(second)):
        assert f"{said.mistake}: {said.rates[0].in_words()}, " in drawn
        assert len(said.rates) == 2
    words = " ".join(label.text() for label in page.others.findChildren(QLabel))
    assert f"Reasons: {stated_opinions(open_study(second))[0].mistake}" in words
    assert "“Whoever is missed comes too late.”" in words
    assert (page.expert.text(), page.expert.placeholderText()) == ("", "The name of your first answers")
    page.begin.click()
    assert "Name the expert as in the first round" in page.notice.sentence
    assert page.expert.hasFocus()
    page.expert.setText("Ada")
    page.begin.click()
    on("practice")


def test_the_own_position_in_the_first_round_is_shown(qtbot, window, study, pack, places, tmp_path, on):
    for seed, name in enumerate(("Ada", "Ben")):
        home = tmp_path / name
        home.mkdir()
        collect(study, [answered(pack, home, name, seed)])
    second = write_pack(packed(study, setting_of("bayes", purpose="costs"), opinions_of(study)), tmp_path / "second")
    here = sessions_folder(open_study(second), places.data)
    here.mkdir(parents=True)
    shutil.copy(tmp_path / "Ada" / "a.session.jsonl", here)
    drop(window.pages.start, second)
    page = on("begin")
    assert page.expert.text() == "Ada"
    plot = page.others.plot
    qtbot.waitUntil(lambda: ": you " in plot.accessibleDescription() or "; you " in plot.accessibleDescription())
    page.expert.setText("Eve")
    assert "you" not in plot.accessibleDescription()
    page.expert.setText(" ada ")
    assert "you" in plot.accessibleDescription()


def test_who_leaves_while_a_file_is_written_is_told(qtbot, window, study, dialogs, tmp_path, monkeypatch, on):
    gate = threading.Event()

    def slowly(study, path):
        assert gate.wait(60)
        return write_pack(study, path)

    monkeypatch.setattr("elicit_app.session.packing.write_pack", slowly)
    window.flow.open(str(study.folder))
    page = on("begin")
    dialogs.save_as = tmp_path / "sent.elicit"
    page.elsewhere.send.click()
    qtbot.waitUntil(lambda: page.notice.sentence == "sent.elicit is being written.")
    page.back.click()
    start = on("start")
    assert not start.notice.sentence
    gate.set()
    qtbot.waitUntil(lambda: start.notice.sentence == f"Saved: {dialogs.save_as}")
    qtbot.waitUntil(lambda: start.examples.isVisible())
    assert start.notice.sentence, "the list of sessions, which comes later, leaves it"


def test_closing_waits_for_a_file_that_is_written(window, study, dialogs, tmp_path, monkeypatch, on):
    def slowly(study, path):
        time.sleep(0.5)
        return write_pack(study, path)

    monkeypatch.setattr("elicit_app.gui.flow.navigation.PATIENCE", 0.1)
    monkeypatch.setattr("elicit_app.session.packing.write_pack", slowly)
    window.flow.open(str(study.folder))
    dialogs.save_as = tmp_path / "sent.elicit"
    on("begin").elsewhere.send.click()
    window.close()
    assert dialogs.save_as.is_file()


def test_a_session_away_from_its_study_goes_on_once_the_study_is_chosen(window, dialogs, study, tmp_path, on):
    path = tmp_path / "elsewhere" / "a.session.jsonl"
    path.parent.mkdir()
    with Session.create(study, BayesSetting(questions=8), path, expert="Ada") as session:
        session.answer("left", seconds=5.0)
    window.flow.open(str(path))
    page = on("error")
    assert page.title.text() == "This session cannot be opened"
    assert page.primary.text() == "Choose the study folder…"
    page.primary.click()  # and cancels
    assert window.pages.shown is page
    dialogs.folder = write_folder(tmp_path / "wine", open_study("wine")).folder
    page.primary.click()
    on("opening")
    assert "Open it with the study it was begun on." in on("error").sentence.text()
    dialogs.folder = study.folder
    page.primary.click()
    on("recap")


def test_a_damaged_session_away_from_its_study_is_looked_at_once_that_is_chosen(window, dialogs, pack, tmp_path, on):
    path = tmp_path / "elsewhere" / "a.session.jsonl"
    with Session.create(open_study(str(pack)), BayesSetting(questions=8), path, expert="Ada") as session:
        for _ in range(3):
            session.answer("left", seconds=5.0)
    for copy in path.parent.glob("*.elicit"):
        copy.unlink()
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:-1], lines[-1][:-9], b"\n"]))
    window.flow.open(str(path))
    page = on("error")
    assert page.primary.text() == "Choose the study file…"
    dialogs.study = pack
    page.primary.click()
    assert on("damaged").table.answers.rowCount() == 2
