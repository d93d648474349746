"""The laboratory: people are simulated behind the page, shown as they come, stopped, and saved."""

import csv
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication

from elicit_app.experiments.simulation import Experts, simulate
from elicit_app.experiments.watching import LabSettings, Snapshot, questions_text, watch, width_sentence
from elicit_app.gui.elements.painting import Label
from elicit_app.registry import setting_of
from elicit_app.study import open_study


@pytest.fixture(scope="module")
def person():
    (found,) = watch(LabSettings(study="breast-cancer", questions=8, people=1, noise="none"))
    return found


@pytest.fixture
def page(window, qtbot):
    qtbot.mouseClick(window.pages.start.laboratory, Qt.MouseButton.LeftButton)
    shown = window.pages.laboratory
    assert window.pages.shown is shown
    shown.procedure.setCurrentText("dlpm")
    shown.noise.setCurrentText("none")
    return shown


def test_what_was_known_on_the_way_ends_in_what_the_command_finds(person):
    setting = setting_of("bayes", questions=8, answers="choice", seed=1)
    (run,) = simulate(open_study("breast-cancer"), setting, Experts.stated()).runs
    assert [look.answers for look in person.snapshots] == [4, 8]
    assert person.snapshots[-1].otherwise == pytest.approx(1 - run.agreement)
    assert person.snapshots[-1].range_factor == pytest.approx(run.range_factor)
    assert person.snapshots[0].range_factor > person.snapshots[1].range_factor
    assert person.settings.command == ("elicit simulate breast-cancer --answers choice --questions 8 --runs 1 --seed 1")


def test_the_questions_are_told_in_words(person):
    lines = questions_text(person).splitlines()[2:]
    assert [line.split(".")[0] for line in lines] == [str(number) for number in range(1, 9)]
    assert all("fewer" in line or "equal" in line.lower() for line in lines)


def test_people_come_one_by_one_and_both_procedures_in_turn(page, qtbot):
    page.compared.setCurrentText("lpm")
    page.n_people.setValue(2)
    assert page.command.text().splitlines() == [
        "elicit simulate wine --procedure dlpm --runs 2 --seed 1",
        "elicit simulate wine --procedure lpm --runs 2 --seed 1",
    ]
    assert not page.widths.isVisible(), "searches give no ranges"
    page.compared.setCurrentText("bayes")
    assert page.widths.isVisible()
    page.compared.setCurrentText("lpm")
    page.go.click()
    assert page.go.text() == "Stop"
    qtbot.waitUntil(lambda: page.go.text() == "Run")
    assert [one.settings.procedure for one in page.people] == ["dlpm", "lpm", "dlpm", "lpm"]
    assert [row[1] for row in page.rows.rows] == ["lpm", "dlpm", "lpm"]
    assert page.sentence.text().startswith("With ")


def test_stop_lets_nobody_more_in(page, qtbot):
    page.n_people.setValue(500)
    page.go.click()
    qtbot.waitUntil(lambda: len(page.people) > 1)
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    shown = len(page.people)
    assert page.go.text() == "Run"
    qtbot.wait(200)
    assert len(page.people) == shown < 500


def test_what_cannot_be_simulated_is_said(page, qtbot):
    page.procedure.setCurrentText("dlfpm")
    page.person.setCurrentText("minimax")
    page.go.click()
    qtbot.waitUntil(lambda: page.go.text() == "Run")
    assert "goes with the families dlpm and lpm" in page.notice.sentence


def test_rows_questions_and_command_can_be_taken_away(page, qtbot, dialogs, tmp_path, person):
    assert not page.save_rows.isEnabled()
    page.begin([person.settings])
    page.add(person)
    page.end()
    dialogs.save_as = tmp_path / "rows.csv"
    page.save_rows.click()
    qtbot.waitUntil(dialogs.save_as.exists)
    rows = list(csv.DictReader(dialogs.save_as.read_text().splitlines()))
    assert [row["answers"] for row in rows] == ["4", "8"]
    assert float(rows[-1]["otherwise"]) == person.snapshots[-1].otherwise
    dialogs.save_as = tmp_path / "picture.png"
    page.picture.click()
    qtbot.waitUntil(dialogs.save_as.exists)
    assert dialogs.save_as.read_bytes().startswith(b"\x89PNG")
    page.copy.click()
    assert QGuiApplication.clipboard().text() == page.command.text()


def test_of_few_people_no_middle_half_is_told(person):
    def people(*factors):
        return [replace(person, snapshots=(Snapshot(8, 0.1, factor),)) for factor in factors]

    assert width_sentence(people(2.31)) == (
        "With 8 answers the ranges reach a factor of 2.3 each way.",
        "So far 1 person.",
    )
    assert width_sentence(people(2.0, 3.0))[1] == "So far 2 people; all of them between 2.0 and 3.0."
    assert width_sentence(people(2.0, 2.0, 2.0, 2.0, 9.0))[1] == "So far 5 people; half of them at 2.0."
    assert width_sentence(people(1.0, 2.0, 3.0, 4.0, 5.0))[1] == "So far 5 people; half of them between 2.0 and 4.0."


def test_the_link_to_its_words_leads_to_them_and_back(page, window, qtbot):
    page.words.click()
    shown = window.pages.help
    assert window.pages.shown is shown
    section = shown._sections["laboratory"]
    qtbot.waitUntil(lambda: 0 <= section.mapTo(shown.area.viewport(), QPoint(0, 0)).y() < shown.area.height() / 2)
    assert any("True values inside" in label.text() for label in section.findChildren(Label))
    shown.done.click()
    assert window.pages.shown is page


def test_the_plots_stay_with_the_settings_of_their_run(page, person):
    page.begin([person.settings])
    page.add(person)
    page.end()
    said, shown = page.sentence.text(), page.otherwise.accessibleDescription()
    assert shown.startswith("bayes: ")
    assert page.widths.isVisible(), "the run gave ranges, whatever is chosen by now"
    page.compared.setCurrentText("lpm")
    page.n_questions.setValue(60)
    assert (page.sentence.text(), page.otherwise.accessibleDescription()) == (said, shown)
    assert page.otherwise._most == 8
    assert "settings before your changes" in page.so_far.text()
    page.begin(page.chosen)
    assert "settings before your changes" not in page.so_far.text()
    assert page.otherwise.accessibleDescription() == ""


def test_a_change_of_the_settings_clears_what_was_said_of_the_last_ones(page, qtbot, dialogs, tmp_path, person):
    page.begin([person.settings])
    page.add(person)
    page.end()
    dialogs.save_as = tmp_path / "rows.csv"
    page.save_rows.click()
    page.copy.click()
    qtbot.waitUntil(page.notice.isVisible)
    assert page.copy.text() == "Copied"
    page.seed.setValue(7)
    assert not page.notice.isVisible()
    assert page.copy.text() == "Copy"


def test_another_kind_of_person_leaves_the_noise_as_it_was_set(page):
    page.noise.setCurrentText("flip")
    page.noise.number.setValue(0.3)
    page.person.setCurrentText("concave")
    assert [one.noise for one in page.chosen] == ["flip:0.3"]
    assert [one.person for one in page.chosen] == ["concave:0.6"]


def test_what_only_the_compared_procedure_asks_for_can_be_set(page):
    assert not page.n_questions.isEnabled()
    page.compared.setCurrentText("bayes")
    assert page.n_questions.isEnabled()
    assert page.answers.isEnabled()


def test_leaving_the_page_stops_the_run(page, window, qtbot):
    page.n_people.setValue(500)
    page.go.click()
    page.back.click()
    assert window.pages.shown is window.pages.start
    qtbot.mouseClick(window.pages.start.laboratory, Qt.MouseButton.LeftButton)
    assert page.go.text() == "Run"
