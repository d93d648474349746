"""Words of a study while they are edited, first guesses, and what the window remembers."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from elicit_app.gui.settings import Settings, load_settings, save_settings
from elicit_app.gui.setup.overview import continue_view, day_words, moment_words, overview, session_row
from elicit_app.gui.setup.words import flow, matches
from elicit_app.registry.procedures import BayesSetting
from elicit_app.session.journal.listing import SUFFIX, SessionSummary
from elicit_app.session.session import Session
from elicit_app.session.warm_up import keys_to_guess, ratio_typed, yardstick_key
from elicit_app.study import open_study
from elicit_app.study.folder import write_folder
from elicit_app.study.model import Mistake, default_wording
from elicit_app.study.words import keys_of, with_mistakes, with_nouns


@pytest.fixture(scope="module")
def wine():
    return open_study("wine")


def test_new_nouns_change_the_default_words_and_leave_the_chosen_ones(wine):
    chosen = Mistake("Fraud", "fraud", "frauds", "Somebody pays too much.")
    plain = replace(wine, wording=default_wording(wine.classes))
    study = with_mistakes(plain, {(0, 1): chosen})
    changed = with_nouns(study, "bottle", "bottles", ("red", "rosé", "white"), ("reds", "rosés", "whites"))
    assert changed.wording.mistake((0, 1)) == chosen
    assert changed.wording.mistake((1, 2)).name == "Rosé called white"
    assert changed.wording.mistake((2, None)).name.startswith("White")
    assert changed.wording.cases == "bottles"


def test_new_nouns_leave_every_consequence_as_it_was_typed(wine):
    plain = replace(wine, wording=default_wording(wine.classes))
    follows = {key: f"What follows from {key}." for key in keys_of(plain)}
    words = {key: replace(plain.wording.mistake(key), consequence=text) for key, text in follows.items()}
    typed = with_mistakes(plain, words)
    changed = with_nouns(typed, "bottle", "bottles", ("red", "rosé", "white"), ("reds", "rosés", "whites")).wording
    assert {key: changed.mistake(key).consequence for key in follows} == follows
    assert changed.mistake((0, 1)).name == "Red called rosé"


def test_every_mistake_has_words_and_is_found_by_them(wine):
    keys = keys_of(wine)
    assert len(keys) == 9
    assert len(set(keys)) == 9
    for key in keys:
        assert matches(wine, key, flow(wine, key).upper())
    assert not any(matches(wine, key, "zebra") for key in keys)
    assert all(matches(wine, key, "") for key in keys)


@pytest.mark.parametrize(("typed", "ratio"), [("20", 20), (" 0,5 ", 0.5), ("1/4", 0.25), ("1,200", 1200), ("", None)])
def test_a_guess_is_a_number_or_nothing(typed, ratio):
    assert ratio_typed(typed) == ratio


@pytest.mark.parametrize("typed", ["0", "-3", "many", "1/0", "1/0.0", "1/", "nan", "1e12"])
def test_what_is_no_guess_is_refused(typed):
    with pytest.raises(ValueError):
        ratio_typed(typed)


@pytest.mark.parametrize(("name", "family", "count"), [("wine", "lpm", 5), ("wine", "dlpm", 2), ("digits", "lpm", 6)])
def test_guesses_are_asked_about_the_mistakes_that_happen(name, family, count):
    study = open_study(name)
    keys = keys_to_guess(study, family)
    assert len(keys) == count
    assert yardstick_key(study, family) not in keys
    assert list(keys) == sorted(keys, key=str)


def test_settings_come_back_as_they_were(tmp_path):
    path = tmp_path / "deep" / "settings.json"
    settings = Settings("dark", 150, False, True, "AQID", ("/a", "/b"))
    save_settings(settings, path)
    assert load_settings(path) == settings
    assert [file.name for file in path.parent.iterdir()] == ["settings.json"]


DAMAGED = (
    "",
    "{",
    "[]",
    "null",
    '{"appearance": "pink", "font_percent": 7, "folders": "no"}',
    "[" * 100_000,
    '{"folders": ' + "[" * 100_000,
    '{"geometry": "\\ud800", "folders": ["\\u0000"]}',
    '{"font_percent": {}, "appearance": [[]], "animation": 1e999}',
)


@pytest.mark.parametrize("text", DAMAGED, ids=range(len(DAMAGED)))
def test_damaged_settings_are_replaced_by_the_defaults(tmp_path, text):
    path = tmp_path / "settings.json"
    path.write_text(text)
    assert load_settings(path) == Settings()


def test_folders_that_no_disk_can_have_are_left_out_of_the_start_page(tmp_path):
    now = datetime.now(UTC)
    assert overview(tmp_path, ["x" * 10_000, "nowhere"], now).recent == overview(tmp_path, [], now).recent


def test_what_is_sound_in_damaged_settings_is_kept(tmp_path):
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({"appearance": "dark", "font_percent": "huge", "of the future": 1}))
    assert load_settings(path) == Settings(appearance="dark")


def test_a_folder_opened_again_comes_first_once(tmp_path):
    settings = Settings().with_folder(tmp_path / "a").with_folder(tmp_path / "b").with_folder(tmp_path / "a")
    assert settings.folders == (str(tmp_path / "a"), str(tmp_path / "b"))


def test_days_are_said_as_people_say_them():
    now = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
    assert moment_words(now - timedelta(hours=1), now) == "today, 08:00"
    assert moment_words(now - timedelta(hours=10), now) == "yesterday, 23:00"
    assert day_words(now - timedelta(days=2), now) == "18 Nov"
    assert day_words(now - timedelta(days=400), now) == "16 Oct 2025"


@pytest.mark.parametrize(
    ("fewest", "most", "still"),
    [
        (9, 11, "about 9 to 11 more questions"),
        (1, 1, "about 1 more question"),
        (0, 3, "up to 3 more questions"),
        (0, 1, "up to 1 more question"),
        (0, 0, "the result is next"),
    ],
)
def test_what_is_left_of_a_sitting_is_said_in_whole_words(fewest, most, still):
    one = SessionSummary(Path("a"), "t", answers=18, fewest=fewest, most=most, phase="asking")
    assert continue_view(one, datetime.now(UTC)).line.split(" · ")[1] == still


def test_sittings_of_one_name_are_told_apart():
    one = SessionSummary(Path("a"), "t", answers=18, fewest=2, most=3, phase="asking", expert="Ada", round=2)
    assert continue_view(one, datetime.now(UTC)).line == "18 answers kept · about 2 to 3 more questions · second round"
    row = session_row(replace(one, phase="finished", simulated=True), datetime.now(UTC))
    assert row.line == "Finished, 18 answers, second round, by a program"


def test_a_study_that_was_answered_stays_in_reach_for_the_next_expert(tmp_path, wine):
    folder = write_folder(tmp_path / "wines", wine).folder
    for number, name in enumerate(("Ada", "Ben")):
        path = folder / "sessions" / f"{number}{SUFFIX}"
        path.parent.mkdir(exist_ok=True)
        with Session.create(open_study(str(folder)), BayesSetting(seed=1), path, expert=name) as session:
            session.answer("left")
    rows = overview(tmp_path / "data", [str(folder)], datetime.now(UTC)).recent
    assert [row.title for row in rows] == ["Italian wines · Ben", "Italian wines", "Italian wines · Ada"]
    assert (rows[1].ref, rows[1].line) == (str(folder), "Study folder: somebody else can answer")
