"""The recommendation, the policies, the curves behind them, and what is done today."""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from elicit_app.gui import theme
from elicit_app.gui.elements.buttons import LinkButton
from elicit_app.gui.flow.background import proposal, save_pictures
from elicit_app.gui.results.details import count_cells
from elicit_app.gui.results.page import PracticeDialog, ResultsPage
from elicit_app.gui.results.policy_table import PolicyTable
from elicit_app.problem import Problem
from elicit_app.registry.procedures import BayesSetting
from elicit_app.session.curves import benefit_sentence, best_sentence, cost_sentence, curves_of, roc_sentence
from elicit_app.session.policy_words import policy_texts
from elicit_app.session.result import result_view, scenarios_of
from elicit_app.session.session import Session
from elicit_app.study import open_study
from metrics import ElicitedMetric, judge
from metrics.batches import completed
from metrics.drawing import LinearAxis
from metrics.elicited.metric_parts import CHOICE_SETTLED
from metrics.text import total_cost

TODAY = ((167, 45), (150, 207))


@pytest.fixture(scope="module")
def study():
    return open_study("breast-cancer")


@pytest.fixture(scope="module")
def path(study, tmp_path_factory, answer_by_costs):
    """A session of somebody to whom a missed cancer is as bad as four needless biopsies, with today's practice."""
    path = tmp_path_factory.mktemp("sessions") / "breast.session.jsonl"
    with Session.create(study, BayesSetting(questions=8, seed=3), path) as session:
        answer_by_costs(session, [[0, 4], [1, 0]])
        session.finish()
        session.state_practice(TODAY)
    return path


@pytest.fixture(scope="module")
def view(path, study):
    with Session.open(path, study) as session:
        return result_view(session)


@pytest.fixture(scope="module")
def curves(study, view):
    return completed(curves_of(study, view))


def test_the_band_is_that_of_the_difference_to_the_next_best(curves, study):
    found = curves.net_benefit
    first, second, everybody, nobody = found.lines
    assert (first.name, second.name, found.band.other) == ("Size and texture", "Cell outline", "Cell outline")
    assert (found.band.low <= first.values + 1).all()
    assert (first.values <= found.band.high + 1).all()
    assert everybody.name == "biopsy in every case"
    assert nobody.name == "every patient harmless"
    for at in found.at[::7]:
        said = benefit_sentence(found, float(at), study.wording, 0)
        values = dict(found.values(float(at)))
        inside = np.interp(at, found.at, found.band.low) <= values[second] <= np.interp(at, found.at, found.band.high)
        assert ("cannot tell them apart" in said) == inside


def test_the_best_are_shown_as_they_add_up_with_models_as_they_are_in_one_line(curves):
    lines = {line.name: line for line in curves.best.lines}
    assert "a model, as it decides now" in lines
    np.testing.assert_allclose(sum(line.values for line in lines.values()), 1.0, atol=0.051)


def test_at_the_elicited_ratio_the_curves_cost_what_the_table_says(curves, view):
    judged = {one.policy.name: total_cost(one.cost_per_population) for one in view.judgement.policies}
    found = {line.name: total_cost(value) for line, value in curves.cost.values(curves.cost.elicited)}
    shared = found.keys() & judged.keys()
    assert len(shared) >= 4
    assert {name: found[name] for name in shared} == {name: judged[name] for name in shared}


def test_at_a_stated_prevalence_curves_are_of_corrected_risks(view, study, curves):
    rare = replace(study, stated_prevalence=(0.1, 0.9))
    judgement = scenarios_of(rare, view.metric).judgement()
    found = completed(curves_of(rare, replace(view, judgement=judgement, practice=None)))
    assert found.corrected
    assert not curves.corrected
    *_, everybody, _ = found.net_benefit.lines
    at = found.net_benefit.at[0]
    assert everybody.values[0] == pytest.approx(judgement.population * (0.1 - 0.9 * at / (1 - at)))
    assert found.net_benefit.elicited == pytest.approx(curves.net_benefit.elicited)
    assert found.net_benefit.at[-1] == pytest.approx(curves.net_benefit.at[-1])
    odds = found.net_benefit.elicited / (1 - found.net_benefit.elicited)
    for line, roc in zip(found.net_benefit.lines, sorted(found.roc, key=lambda one: not one.recommended), strict=False):
        counts = judgement.named(f"{line.name}, corrected, with these costs").counts
        assert line.name == roc.name
        assert roc.point == pytest.approx((counts[1, 0] / 900, counts[0, 0] / 100), abs=0.006)
        worth = counts[0, 0] - odds * counts[1, 0]
        assert dict(found.net_benefit.values(found.net_benefit.elicited))[line] == pytest.approx(worth, abs=1.5)


def test_of_more_than_two_classes_the_curves_say_what_stays_as_it_is(curves):
    several = replace(curves, net_benefit=None)
    for sentence in (best_sentence, cost_sentence):
        assert "every other mistake" not in sentence(curves, 3.0), "there is one other mistake, the unit"
        assert "needless biopsies and every other mistake cost what it does now" in sentence(several, 3.0)
    assert "\N{NO-BREAK SPACE}%" in best_sentence(curves, 3.0)


def test_a_rate_of_false_alarms_in_screening_is_not_called_none(curves, study):
    line = replace(curves.roc[0], point=(0.0012, 0.9993))
    said = roc_sentence(line, study.wording, 0)
    assert said.endswith("finds 99.93 % of the cancers and calls 0.12 % of the harmless lumps cancer.")


def test_a_few_of_very_many_cases_are_not_called_none(view, study):
    judged = replace(view.models[0].judged, counts=np.array([[300, 0], [2, 9698]]))
    (_, none), (few, nearly_all) = count_cells(replace(view.models[0], judged=judged), study)
    assert [one.below for one in (none, few, nearly_all)] == ["0 %", "< 1 %", "> 99 %"]


@pytest.fixture
def page(qtbot, view, study, curves):
    page = ResultsPage()
    qtbot.addWidget(page)
    page.resize(1280, 800)
    page.show_result(view, study)
    page.show()
    qtbot.waitExposed(page)
    return page


def test_the_page_begins_with_the_recommendation_of_the_judge(page, view):
    assert page.tabs.currentIndex() == 0
    assert page.recommendation.card.sentence.accessibleName() == view.judgement.recommendation.sentence
    assert page.recommendation.card.costs.text() == view.metric.quality.caveat
    said = page.recommendation.policies.table.accessibleDescription()
    assert all(row.sentence in said for row in policy_texts(view.judgement).rows)


def test_settled_choices_with_open_costs_are_said(page, view, study):
    quality = replace(view.metric.quality, provisional=CHOICE_SETTLED, purpose="choose")
    page.show_result(replace(view, metric=replace(view.metric, quality=quality)), study)
    assert (
        page.recommendation.card.costs.text()
        == "The questions ended when answers would hardly change the choice; the costs are not known closely."
    )
    assert page.save.text() == "Save report…"


@pytest.mark.parametrize(("purpose", "button"), [("costs", "Save metric file…"), ("both", "Save metric file…")])
def test_the_first_button_follows_the_purpose(page, view, study, purpose, button):
    quality = replace(view.metric.quality, purpose=purpose)
    page.show_result(replace(view, metric=replace(view.metric, quality=quality)), study)
    assert page.save.text() == button


def test_what_is_far_dearer_does_not_squeeze_the_axis(view):
    judged = [row.judged for row in policy_texts(view.judgement).rows]
    last = judged[-1]
    far = replace(last, difference_to_best=100 * last.difference_to_best, difference_interval=None)

    def around(judged):
        ends = [(one.difference_to_best, one.difference_interval) for one in judged]
        return LinearAxis.of_differences(ends, judged[0].cost_per_population)

    axis = around([*judged, far])
    assert axis == around(judged)
    assert axis.low <= 0 <= axis.high < far.difference_to_best
    assert all(axis.low <= one.difference_to_best <= axis.high for one in judged if one.rank == 1)


def test_policies_that_are_folded_away_do_not_squeeze_the_axis(qtbot):
    metric, true = ElicitedMetric.from_cost_matrix(["ill", "well"], [[0, 9], [1, 0]]), np.arange(300) % 3 == 0
    rng = np.random.default_rng(2)
    chances = [1 / (1 + np.exp(-(3.0 * np.where(true, 1, -1) + rng.normal(0, 2.5, 300)))) for _ in range(6)]
    given = {f"m{at}": np.column_stack([ill, 1 - ill]) for at, ill in enumerate(chances)}
    texts = policy_texts(judge(metric, np.where(true, "ill", "well"), given, draws=400))
    table, ends = PolicyTable(), []
    qtbot.addWidget(table)
    table.show_policies(texts)
    for everything in (False, True):
        table.show_all(everything)
        ends.append(table._axis.high)
    assert table.folded > 4
    assert ends[0] < 0.8 * ends[1], "the dearest have no row"


def test_a_long_unit_stands_on_two_lines(qtbot, view):
    table, texts = PolicyTable(), policy_texts(view.judgement)
    qtbot.addWidget(table)
    table.show_policies(replace(texts, unit="biopsies", notes=()))
    short = table.heightForWidth(1_200)
    table.show_policies(replace(texts, unit="yellow lights taken for red", notes=()))
    assert short < table.heightForWidth(1_200) < short + 30


def test_a_provisional_metric_is_called_so_where_it_is_saved(view):
    def of(provisional, ending):
        quality = replace(view.metric.quality, provisional=provisional)
        return proposal(replace(view.metric, quality=quality), ending)

    name, title = of(CHOICE_SETTLED, ".metric.json")
    assert name.endswith(" (provisional)")
    assert title == "Save: provisional, its numbers are not settled yet"
    for others in (of(None, ".metric.json"), of(CHOICE_SETTLED, ".pdf")):
        assert "provisional" not in "".join(others)


def test_practice_is_judged_and_there_next_time(view, path, study):
    assert view.practice == TODAY
    practice = view.judgement.named("present practice")
    assert practice.counts.sum(axis=1) == pytest.approx([373, 627], abs=1)
    with Session.open(path, study) as again:
        assert again.state.practice == TODAY
        again.state_practice(None)
        assert again.state.practice is None
        with pytest.raises(ValueError, match="square"):
            again.state_practice(((1, 2),))
        with pytest.raises(Problem, match="classes"):
            again.state_practice(np.eye(3).tolist())
        again.state_practice(TODAY)


def test_practice_is_typed_or_pasted(qtbot, study):
    dialog = PracticeDialog(study, None)
    qtbot.addWidget(dialog)
    told = []
    dialog.stated.connect(told.append)
    dialog.use.click()
    assert "cancer" in dialog.notice.sentence
    dialog.fields[0][0].setText("many")
    dialog.use.click()
    assert "not a number" in dialog.notice.sentence
    assert told == []
    QGuiApplication.clipboard().setText("167\t45\n150\t207\n")
    QTest.keyClick(dialog.fields[0][0], Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    dialog.use.click()
    assert told == [TODAY]


def test_the_average_of_the_readers_can_be_today_s_practice(qtbot, study):
    true = study.models[0].y_true
    ill, well = (int((true == at).sum()) for at in (0, 1))
    miss, alarm = true.copy(), true.copy()
    miss[np.flatnonzero(true == 0)[:8]] = 1
    alarm[np.flatnonzero(true == 1)[:4]] = 0
    said = {"A": miss, "B": alarm}
    readers = [replace(study.models[0], name=name, y_proba=np.eye(2)[called]) for name, called in said.items()]
    dialog = PracticeDialog(replace(study, models=(*study.models, *readers)), None)
    qtbot.addWidget(dialog)
    assert dialog.of_readers.text() == "Fill in the average of the 2 readers"
    dialog.of_readers.click()
    assert dialog.table() == ((ill - 4, 4), (2, well - 2))
    alone = PracticeDialog(replace(study, models=(readers[1],)), None)
    qtbot.addWidget(alone)
    assert alone.of_readers.text() == "Fill in the decisions of B"
    alone.of_readers.click()
    assert alone.table() == ((ill, 0), (4, well - 4))
    without = PracticeDialog(study, None)
    qtbot.addWidget(without)
    assert without.of_readers.isHidden()


def test_practice_is_read_with_decimal_commas_and_thousands(qtbot, study):
    dialog = PracticeDialog(study, None)
    qtbot.addWidget(dialog)
    fields = [field for row in dialog.fields for field in row]
    for field, text in zip(fields, ("0,5", "0,25", "1,200", "85,5 %"), strict=True):
        field.setText(text)
    assert dialog.table() == ((0.5, 0.25), (1200.0, 85.5))


def test_with_a_large_font_the_links_of_a_tab_stand_above_those_of_the_page(page, qtbot, appearance):
    theme.apply(appearance, family="DejaVu Sans", scale=2.0)
    page.resize(800, 600)
    page.tabs.setCurrentIndex(2)
    answers = next(link for link in page.findChildren(LinkButton) if link.text() == "Look at the answers")
    height = lambda link: link.mapTo(page.inner, QPoint(0, 0)).y()  # noqa: E731
    qtbot.waitUntil(lambda: page.details.y() < height(page.tables) < height(answers))


def test_in_a_small_window_the_links_of_a_tab_stand_at_its_left_edge(page, qtbot):
    page.resize(800, 600)
    page.tabs.setCurrentIndex(2)
    left = lambda widget: widget.mapTo(page, QPoint(0, 0)).x()  # noqa: E731
    qtbot.waitUntil(lambda: page.inner.isAncestorOf(page.tables))
    qtbot.waitUntil(lambda: left(page.tables) == left(page.details))
    assert page.tables.width() == page.tables.sizeHint().width(), "its text stands in the middle of what it fills"
    page.resize(1280, 800)
    qtbot.waitUntil(lambda: not page.inner.isAncestorOf(page.tables))
    answers = next(link for link in page.findChildren(LinkButton) if link.text() == "Look at the answers")
    qtbot.waitUntil(lambda: left(page.tables) + page.tables.width() == left(answers) - theme.M)


def test_the_arrows_move_the_line_and_the_sentence_follows(page, curves, qtbot):
    asked = []
    page.details.curves_requested.connect(lambda: asked.append(1))
    page.tabs.setCurrentIndex(2)
    assert asked
    page.show_curves(curves)
    card = page.details.right
    before, at = card.sentence.text(), card.plot.at
    QTest.keyClick(card.plot, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert card.plot.at > at
    assert card.sentence.text() != before
    assert card.sentence.text() in card.plot.accessibleDescription()
    QTest.keyClick(card.plot, Qt.Key.Key_Home)
    assert card.sentence.text() == before
    QTest.keyClick(card.plot, Qt.Key.Key_T)
    assert card.numbers.isVisible()
    assert card.numbers.columnCount() == 1 + len(curves.best.lines)


def test_the_curves_agree_with_the_judge(curves, view):
    best = view.judgement.best
    recommended = next(line for line in curves.cost.lines if line.recommended)
    at = {line.name: value for line, value in curves.cost.values(curves.cost.elicited)}
    assert recommended.name == best.name
    assert at[best.name] == pytest.approx(best.cost_per_population, rel=0.1)
    assert all((line.values >= 0).all() and (line.values <= 1 + 1e-9).all() for line in curves.best.lines)


def test_roc_and_tables_are_shown_and_left_again(page, curves):
    page.tabs.setCurrentIndex(2)
    page.show_curves(curves)
    for link, part in ((page.roc, "roc"), (page.tables, "tables")):
        link.click()
        assert page.details.part == part
        assert link.text() == "Back to the curves"
        link.click()
        assert page.details.part == "curves"


def test_pictures_are_saved_or_the_reason_said(curves, tmp_path):
    assert save_pictures(curves, tmp_path / "curves.png").stat().st_size > 1_000
    with pytest.raises(Problem, match="a name that ends in"):
        save_pictures(curves, tmp_path / "curves.nothing")


def test_todays_practice_is_typed_at_once_and_comes_back_as_it_was_typed(qtbot, study):
    k = study.n_classes
    typed = tuple(tuple(1234567.0 + i + j for j in range(k)) for i in range(k))
    dialog = PracticeDialog(study, typed)
    qtbot.addWidget(dialog)
    with qtbot.waitExposed(dialog):
        dialog.show()
    assert dialog.focusWidget() is dialog.fields[0][0]
    assert dialog.table() == typed
