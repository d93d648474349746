"""The window with a study of amounts: what is counted is named as such, and nothing is said of classes."""

from dataclasses import replace

import numpy as np
import pytest

from elicit_app.gui.elements.painting import Glyph
from elicit_app.gui.pages.compare import ComparePage
from elicit_app.gui.question.bands import _parts
from elicit_app.gui.question.page import QuestionPage
from elicit_app.gui.results.costs import ANSWERS, METRIC, OF_COSTS
from elicit_app.gui.results.page import ResultsPage
from elicit_app.gui.setup.begin_page import BeginPage
from elicit_app.registry import setting_of
from elicit_app.session.comparing import Expert, compare
from elicit_app.session.pair_words import compare_pair
from elicit_app.session.pooling import Source
from elicit_app.session.result import result_view
from elicit_app.session.session import Session
from elicit_app.session.view_builders import question_view
from elicit_app.study.amounts import ItemAmounts, ReadAmounts, study_of_amounts
from metrics import ElicitedMetric

PRICES = np.array([1.0, 3.0, 0.5])


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    rng = np.random.default_rng(4)
    models = tuple(
        ItemAmounts(name, rng.poisson(rate, (80, 3)).astype(float))
        for name, rate in (("cautious", (1.4, 0.6, 0.1)), ("eager", (1.8, 0.2, 0.4)))
    )
    made = study_of_amounts(ReadAmounts("multilabel", models), title="Moods", noun=("mood", "moods"))
    return replace(made, kind="folder", folder=tmp_path_factory.mktemp("moods"))


@pytest.fixture(scope="module")
def views(study, tmp_path_factory):
    """Return a question, and the result of six answers."""
    path = tmp_path_factory.mktemp("sessions") / "moods.session.jsonl"
    with Session.create(study, setting_of("bayes", answers="choice", seed=2), path, expert="Ada") as session:
        first = question_view(session, 1)
        for _ in range(6):
            pair = session.asking().pair
            better = (np.array(pair.first) - np.array(pair.second)).diagonal() @ PRICES > 0
            session.answer("left" if better == (session.asking().left == "first") else "right")
        session.finish()
        yield first, result_view(session)


def test_a_question_says_what_both_batches_come_to_and_has_no_full_picture(shown, views, study):
    page = QuestionPage(lock_ms=0)
    page.begin(study, "dlpm")
    page = shown(page)
    page.show_question(views[0])
    assert page.headline.text().startswith("A finds ")
    assert page.headline.text().endswith("Which would you rather have?")
    assert page.card.fold.toggle.isHidden()
    page.toggle_full_picture()
    assert not page.card.is_full


def test_more_of_what_is_good_gets_no_sign_of_fewer(views, study):
    view = views[0]
    said = compare_pair(view.left, view.right, study.wording, view.population, "dlpm", subject=view.subject).strip
    signs = {part.glyph for part in _parts(said)}
    good = any("found" in change for change in said.fewer)
    assert (Glyph.FEWER in signs) != (good and len(said.fewer) == 1)


def test_experts_are_compared_by_what_counts_more(shown, views):
    metric = views[1].metric
    of = {"Ada": metric, "Ben": ElicitedMetric.from_weights(metric.classes, PRICES, "dlpm", kind=metric.kind)}
    page = shown(ComparePage())
    page.show_view(compare([Expert(name, Source(name, one)) for name, one in of.items()], "Moods"))
    assert page.question.text().startswith("How much does each amount count for each expert, compared with one ")
    assert page.plot.accessibleName().startswith("How much each amount counts for each expert")
    assert page.plot._sides == ("counts less", "counts more")


def test_a_study_in_its_folder_is_sent_to_experts_and_one_that_was_sent_is_not(shown, study):
    page = shown(BeginPage())
    page.show_study(study, "sessions", 1)
    assert page.elsewhere.isVisibleTo(page)
    assert page.elsewhere.add.isVisibleTo(page)
    assert not page.words.isVisibleTo(page)
    page.show_study(replace(study, kind="pack", folder=None), "sessions", 1)
    assert not page.elsewhere.isVisibleTo(page)


def test_the_result_is_saved_as_a_metric_and_shows_no_costs_of_classes(shown, views, study):
    page = shown(ResultsPage())
    page.show_result(views[1], study)
    assert page.save.text() == "Save metric file…"
    named = [page.tabs.tabText(tab) for tab in range(page.tabs.count()) if page.tabs.isTabVisible(tab)]
    assert named == ["What you told us", "Files"]
    assert page.rates._plot.accessibleName().startswith("How much each amount counts")
    assert [page.costs.costs.isHidden(), page.costs.releases.isHidden(), page.costs.weights.isHidden()] == [True] * 3
    assert page.costs.files.isVisibleTo(page.costs)
    buttons = page.costs.files.buttons
    assert all(not buttons[key].isEnabled() for key in OF_COSTS)
    assert buttons[METRIC].isEnabled()
    assert buttons[ANSWERS].isEnabled()
    assert views[1].metric.kind == "multilabel"
