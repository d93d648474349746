"""Experts compared in the window: ways to the page, what it says and paints, and the pooled metric file."""

import shutil
import threading

import numpy as np
import pytest

from elicit_app.gui import theme
from elicit_app.gui.flow.background import documents
from elicit_app.gui.pages.compare import MOST, ComparePage
from elicit_app.registry.procedures import BayesSetting
from elicit_app.session import comparing
from elicit_app.session.comparing import Expert, compare
from elicit_app.session.disagreement import apart_words
from elicit_app.session.pooling import Source
from elicit_app.session.session import Session
from elicit_app.study import open_study
from metrics import ElicitedMetric, Provenance

LONG = ("Herzrhythmusstörungsverdacht", "Lungenentzündungsverdacht", "Nebenschilddrüsenunterfunktion")


def expert(name, seed, classes=LONG):
    rng = np.random.default_rng(seed)
    size = len(classes) ** 2 - len(classes)
    middle = np.exp(rng.standard_normal(size))
    metric = ElicitedMetric.from_weights(
        classes,
        -middle,
        "lpm",
        samples=-middle * np.exp(0.2 * rng.standard_normal((100, size))),
        provenance=Provenance(procedure="bayes", questions=15, expert=name, answers_digest=name),
        yardstick=(classes[1], classes[0]),
    )
    return Expert(name, Source(f"{name}.metric.json", metric))


@pytest.fixture(scope="module")
def view():
    return compare([expert("Kardiologie", 1), expert("Allgemeinmedizin", 2), expert("Radiologie", 3)], "Made-up study")


@pytest.fixture
def page(qtbot, view):
    made = ComparePage()
    qtbot.addWidget(made)
    made.show_view(view)
    made.resize(1280, 800)
    made.show()
    qtbot.waitExposed(made)
    return made


def test_the_page_says_where_they_disagree_and_what_pooled_means(page, view):
    assert page.header.title.text() == "Experts compared: Made-up study"
    assert page.header.line.text() == "Kardiologie, Allgemeinmedizin and Radiologie"
    assert (page.title.text(), page.detail.text()) == (view.headline, view.detail)
    assert page.choice.isHidden()
    assert "Kardiologie (15 answers), " in page.made_of.text()
    assert page.how.text() == view.how
    assert "geometric mean" in view.how
    said = page.plot.accessibleDescription()
    for row in view.mistakes:
        if not row.is_yardstick:
            assert f"{row.mistake.name}, {apart_words(row)}: Kardiologie {row.rates[0].in_words()}, " in said
    assert said.count("all pooled") == 5


@pytest.mark.parametrize("scale", [1.0, 1.5])
def test_it_fits_a_small_window_in_both_themes(page, qtbot, appearance, scale):
    for dark in (False, True):
        theme.apply(appearance, family="DejaVu Sans", scale=scale, dark=dark)
        page.resize(800, 600)
        qtbot.waitUntil(lambda: page.area.widget().width() <= page.area.viewport().width())
        assert page.minimumSizeHint().width() <= 800
        assert page.minimumSizeHint().height() <= 600
        assert page.plot.height() >= page.plot.heightForWidth(page.plot.width())
        image = page.plot.grab().toImage()
        colours = {image.pixel(x, y) for x in range(0, image.width(), 5) for y in range(0, image.height(), 5)}
        assert len(colours) > 4


def test_of_many_mistakes_those_furthest_apart_are_shown_and_the_rest_is_counted(qtbot):
    classes = tuple(f"kind {i}" for i in range(5))
    made = compare([expert("Ada", 4, classes), expert("Ben", 5, classes)], "Kinds")
    page = ComparePage()
    qtbot.addWidget(page)
    page.show_view(made)
    assert page.rest.text().startswith(f"{len(made.mistakes) - 1 - MOST} other mistakes: at most ")


@pytest.fixture(scope="module")
def two_sessions(tmp_path_factory, answer_by_costs):
    """Two people who finished the same study."""
    folder, study = tmp_path_factory.mktemp("finished"), open_study("breast-cancer")
    for number, (name, missed) in enumerate((("Ada", 20.0), ("Ben", 2.0))):
        path = folder / f"{number}.session.jsonl"
        with Session.create(study, BayesSetting(seed=5, questions=7), path, expert=name) as session:
            answer_by_costs(session, [[0, missed], [1, 0]])
            session.finish()
    return folder


@pytest.fixture
def finished(two_sessions, places):
    """Their sessions among those of the app."""
    return shutil.copytree(two_sessions, places.data / "sessions" / "breast-cancer")


@pytest.fixture
def window(finished, window):
    """Open the window only after both have finished: its start page lists them."""
    return window


def test_from_the_start_page_to_the_pooled_file_and_back(qtbot, window, dialogs, finished, tmp_path, on):
    dialogs.save_as = tmp_path / "both"
    start = on("start")
    qtbot.waitUntil(lambda: any(row.view.compares for row in start.recent.rows))
    row = next(row for row in start.recent.rows if row.view.compares)
    assert row.view.line == "Compare its 2 experts"
    row.click()
    page = on("compare")
    assert page.title.text() == "They disagree most about missed cancers"
    assert "For Ada one missed cancer" in page.detail.text()
    page.save.click()
    qtbot.waitUntil(lambda: page.notice.sentence.startswith("Saved: "))
    pooled = ElicitedMetric.load(tmp_path / "both.metric.json")
    assert page.caveat.text() == pooled.quality.caveat == ""
    assert dialogs.asked == [documents() / "breast-lumps-ada-and-ben-pooled.metric.json"]
    assert [part["source"] for part in pooled.provenance.parameters["of"]] == ["0.session.jsonl", "1.session.jsonl"]
    page.back.click()
    on("start")


def test_from_the_study_and_from_a_result_and_back_there(window, finished, on):
    window.flow.open("breast-cancer")
    begin = on("begin")
    assert begin.compare.text() == "Compare the 2 experts"
    begin.compare.click()
    on("compare").back.click()
    assert window.pages.shown is begin
    window.flow.open(str(finished / "1.session.jsonl"))
    results = on("results")
    assert not results.compare.isHidden()
    results.compare.click()
    page = on("compare")
    page.back.click()
    assert window.pages.shown is results


@pytest.mark.parametrize("name", ["mine.jsonl", "mine.session", "mine"])
def test_a_session_is_opened_whatever_it_was_called_in_the_terminal(window, finished, on, tmp_path, name):
    shutil.copy(finished / "1.session.jsonl", tmp_path / name)
    window.flow.open_files((tmp_path / name,))
    assert on("results") is window.pages.shown
    window.flow.open(str(tmp_path / name))
    assert on("results") is window.pages.shown
    (tmp_path / "rows.jsonl").write_text('{"a": 1}\n')
    window.flow.open_files((tmp_path / "rows.jsonl",))
    assert "rows.jsonl" in on("error").sentence.text()


def test_what_cannot_be_compared_is_said(window, finished, on):
    (finished / "0.session.jsonl").unlink()
    window.flow.comparing.compare(finished / "1.session.jsonl")
    error = on("error")
    assert error.title.text() == "These experts cannot be compared"
    assert "there is one" in error.sentence.text()


def test_it_is_said_how_far_the_sessions_are_read_and_who_leaves_ends_it(qtbot, window, finished, on, monkeypatch):
    read, go_on, begun = comparing._expert, threading.Semaphore(0), []

    def slowly(one, study):
        begun.append(one.expert)
        go_on.acquire()
        return read(one, study)

    monkeypatch.setattr(comparing, "_expert", slowly)
    window.flow.comparing.compare(finished / "1.session.jsonl")
    opening = on("opening")
    assert opening.sentence.text() == "Reading their answers."
    go_on.release()
    qtbot.waitUntil(lambda: opening.sentence.text() == "Reading their answers: 1 of 2 done.")
    go_on.release()
    on("compare")
    window.flow.comparing.compare(finished / "1.session.jsonl")
    qtbot.waitUntil(lambda: len(begun) == 3)
    window.flow.show_start()
    on("start")
    go_on.release()
    window.flow.open("breast-cancer")
    on("begin")
    assert len(begun) == 3


def test_sessions_are_not_read_again_to_leave_somebody_out(qtbot, window, finished, on):
    window.flow.open("breast-cancer")
    begin = on("begin")
    begin.compare.click()
    page = on("compare")
    shutil.rmtree(finished)
    page.trusted_only_requested.emit(True)
    qtbot.waitUntil(lambda: page.trusted.text() == "Pool everybody")
    assert window.pages.shown is page
    page.trusted_only_requested.emit(False)
    page.back.click()
    after = []
    window.flow.background.save(lambda: None, after.append, after.append)
    qtbot.waitUntil(lambda: after == [None])
    assert window.pages.shown is begin


def test_one_expert_alone_is_offered_no_comparison(qtbot, window, finished, on):
    (finished / "0.session.jsonl").unlink()
    window.flow.open(str(finished / "1.session.jsonl"))
    assert on("results").compare.isHidden()
    window.flow.show_start()
    start = on("start")
    qtbot.waitUntil(lambda: len(start.recent.rows) == 1)


def test_what_speaks_against_a_pool_stands_above_everything_that_follows_from_it(qtbot):
    costs = {"Ada": 9, "Ben": 1 / 9}
    metrics = [ElicitedMetric.from_cost_matrix(["ill", "well"], [[0, cost], [1, 0]]) for cost in costs.values()]
    page = ComparePage()
    qtbot.addWidget(page)
    page.show_view(compare([Expert(name, Source(name, one)) for name, one in zip(costs, metrics, strict=True)], "Ills"))
    assert page.caveat.text().endswith("experts of opposed values are pooled in them.")
    page.show_view(compare([Expert(name, Source(name, metrics[0])) for name in costs], "Ills"))
    assert page.caveat.isHidden()
