"""Piles: put by keys, proposed, taken back, put off, and handed on as stated groups."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QFontMetricsF
from PySide6.QtTest import QTest

from elicit_app.gui.setup.begin_page import BeginPage
from elicit_app.gui.setup.piles import elided_title
from elicit_app.gui.setup.piles_page import PilesPage
from elicit_app.registry.procedures import BayesSetting
from elicit_app.session.journal.events import Guess
from elicit_app.session.packing import packed, write_pack
from elicit_app.session.piles import NAMES, Piles, cards_of
from elicit_app.session.session import Session
from elicit_app.session.warm_up import practice_pair
from elicit_app.study import open_study
from elicit_app.study.words import with_mistakes

CTRL = Qt.KeyboardModifier.ControlModifier
DIGITS = open_study("digits")


def request(qtbot, study, tmp_path):
    page = BeginPage()
    qtbot.addWidget(page)
    begun = []
    page.begin_requested.connect(begun.append)
    page.show_study(study, str(tmp_path), 3)
    page.begin.click()
    return begun[0]


@pytest.fixture
def page(shown, qtbot, tmp_path):
    page = PilesPage()
    page.done = []
    page.finished.connect(page.done.append)
    page.show_request(request(qtbot, DIGITS, tmp_path))
    shown(page)
    page.top.setFocus()
    return page


def plain(study):
    """Return a study without consequences."""
    mistakes = {key: replace(mistake, consequence="") for key, mistake in study.wording.mistakes.items()}
    return with_mistakes(study, mistakes)


def press(page, key, modifier=Qt.KeyboardModifier.NoModifier):
    QTest.keyClick(page.focusWidget() or page, key, modifier)


def test_a_screen_reader_is_told_what_the_card_is(page):
    card = QAccessible.queryAccessibleInterface(page.top)
    assert card.role() == QAccessible.Role.Grouping
    assert card.text(QAccessible.Text.Name).startswith(page.piles.cards[page.piles.remaining[0]].title)


def test_a_digit_puts_the_card_and_undo_takes_it_back(page):
    first, second = page.piles.remaining[:2]
    press(page, Qt.Key.Key_4)
    assert page.piles.assigned == {first: 3}
    assert page.piles.remaining[0] == second
    press(page, Qt.Key.Key_Z, CTRL)
    assert page.piles.assigned == {}
    assert page.piles.remaining[0] == first


def test_later_puts_a_card_under_the_others(page):
    first = page.piles.remaining[0]
    press(page, Qt.Key.Key_L)
    assert page.piles.remaining[-1] == first
    assert first not in page.piles.remaining[:-1]


def test_enter_puts_all_that_say_the_same_where_the_first_of_them_went(page):
    press(page, Qt.Key.Key_2)
    said = page.piles.cards[0].consequence
    alike = [at for at, card in enumerate(page.piles.cards) if card.consequence == said]
    while page.piles.remaining[0] not in alike:
        press(page, Qt.Key.Key_L)
    press(page, Qt.Key.Key_Return)
    assert all(page.piles.assigned[at] == 1 for at in alike)
    assert set(page.piles.assigned) == set(alike)


def test_in_a_pile_a_digit_moves_the_card_under_the_cursor(page):
    first = page.piles.remaining[0]
    press(page, Qt.Key.Key_1)
    page.columns[0].chips.setFocus()
    press(page, Qt.Key.Key_5)
    assert page.piles.assigned == {first: 4}


def test_arrows_go_from_pile_to_pile(page):
    page.columns[0].chips.setFocus()
    press(page, Qt.Key.Key_Right)
    assert page.columns[1].chips.hasFocus()
    press(page, Qt.Key.Key_Left)
    press(page, Qt.Key.Key_Left)
    assert page.columns[0].chips.hasFocus()


def test_a_digit_typed_into_a_name_is_a_digit(page):
    page.columns[0].name.setFocus()
    page.columns[0].name.clear()
    QTest.keyClicks(page.columns[0].name, "3 days")
    assert page.piles.assigned == {}
    assert page.piles.names[0] == "3 days"


def test_go_on_asks_once_whether_the_proposals_are_meant(page):
    press(page, Qt.Key.Key_2)
    press(page, Qt.Key.Key_Return, CTRL)
    assert page.done == []
    assert "are in no pile" in page.notice.sentence
    page.notice.button.click()
    (pile,) = page.done[0].setting.piles
    assert pile.name == NAMES[5][1]
    assert len(pile.mistakes) > 1


def test_one_proposal_is_told_of_in_the_singular(page):
    page.piles.put(range(1, len(page.piles.cards)), 2)
    page._show()
    page.proceed.click()
    assert page.notice.sentence == "1 mistake is in no pile; it has a proposal."
    assert page.notice.button.text() == "Use the proposal"


def test_skipped_piles_are_none(page):
    press(page, Qt.Key.Key_2)
    page.skip.click()
    assert page.done[0].setting.piles is None


def test_from_the_page_to_the_belief_of_the_session(page, tmp_path):
    for key in (Qt.Key.Key_1, Qt.Key.Key_5, Qt.Key.Key_5):
        press(page, key)
    page.proceed.click()
    page.proceed.click()
    begun = page.done[0]
    with Session.create(begun.study, begun.setting, tmp_path / "one.session.jsonl") as session:
        prior = session.procedure().prior
    with Session.open_read_only(tmp_path / "one.session.jsonl") as again:
        assert again.setting.piles == begun.setting.piles
    (first, second, third) = (prior.index(0, predicted) for predicted in (1, 2, 3))
    assert prior.covariance[second, third] > prior.covariance[first, third]


def test_fewer_piles_keep_the_ranks(page):
    press(page, Qt.Key.Key_1)
    press(page, Qt.Key.Key_5)
    page.sizes[3].click()
    assert list(page.piles.assigned.values()) == [0, 2]
    assert page.piles.names == list(NAMES[3])
    assert not page.columns[3].isVisibleTo(page)


def test_another_number_of_piles_is_undone_with_what_it_moved(page):
    for key in (Qt.Key.Key_1, Qt.Key.Key_4):
        press(page, key)
    page.sizes[3].click()
    assert list(page.piles.assigned.values()) == [0, 2]
    press(page, Qt.Key.Key_Z, CTRL)
    assert list(page.piles.assigned.values()) == [0, 3]
    assert page.piles.names == list(NAMES[5])
    assert page.sizes[5].isChecked()
    page.piles.names[0] = "trifles"
    press(page, Qt.Key.Key_Z, CTRL)
    assert page.piles.names[0] == "trifles", "a name is not a step"


def test_new_guesses_are_proposed_for_as_many_piles_as_were_kept(shown, qtbot, tmp_path):
    page, asked = PilesPage(), request(qtbot, plain(DIGITS), tmp_path)
    page.show_request(asked)
    shown(page)
    page.sizes[3].click()
    press(page, Qt.Key.Key_1)
    guesses = tuple(Guess(true=0, predicted=at, ratio=ratio) for at, ratio in ((2, 1), (3, 5), (4, 50)))
    page.show_request(asked._replace(guesses=guesses))
    assert page.piles.proposals() == {1: 0, 2: 1, 3: 2}
    assert page.piles.assigned == {0: 0}
    press(page, Qt.Key.Key_Z, CTRL)
    assert page.piles.assigned == {}, "what was done before can still be undone"


def test_cards_that_are_grouped_anew_stay_in_no_pile(shown, qtbot, many_classes, tmp_path):
    study, page = many_classes(12), PilesPage()
    said = {
        key: replace(one, consequence="No harm." if key[1] < 6 else "Harm.")
        for key, one in study.wording.mistakes.items()
    }
    page.show_request(asked := request(qtbot, with_mistakes(study, said), tmp_path))
    shown(page)
    press(page, Qt.Key.Key_1)
    other = {
        key: replace(one, consequence="No harm." if key[1] < 4 else "Harm.")
        for key, one in study.wording.mistakes.items()
    }
    cards = len(page.piles.cards)
    page.show_request(asked._replace(study=with_mistakes(study, other)))
    assert len(page.piles.cards) == cards
    assert page.piles.assigned == {}


def test_first_guesses_propose_where_cards_go():
    guesses = [Guess(true=0, predicted=1, ratio=1), Guess(true=0, predicted=2, ratio=50)]
    piles = Piles.of(plain(DIGITS), guesses)
    assert piles.proposals() == {0: 0, 1: 4}


@pytest.mark.parametrize("k", [5, 20, 50])
def test_every_mistake_is_on_one_card_and_many_go_as_groups(many_classes, k):
    study = many_classes(k)
    cards = cards_of(study)
    on_cards = [mistake for card in cards for mistake in card.mistakes]
    assert sorted(on_cards) == sorted(study.wording.mistakes)
    assert len(cards) == (k * (k - 1) if k <= 10 else k)
    assert cards[0].short == cards[0].title.replace("Kind", "…").replace("kind", "…")


def test_fifty_classes_are_shown_and_stated(shown, qtbot, many_classes, tmp_path):
    page = PilesPage()
    page.show_request(request(qtbot, many_classes(50), tmp_path))
    shown(page)
    page.top.setFocus()
    press(page, Qt.Key.Key_3)
    (pile,) = page.piles.stated(many_classes(50))
    assert len(pile.mistakes) == 49


def test_a_card_counts_the_cases_that_the_questions_show_also_where_the_cases_are_elsewhere(many_classes, tmp_path):
    study = replace(many_classes(5), population=1000, stated_prevalence=(0.4, 0.3, 0.15, 0.1, 0.05))
    first, shown = cards_of(study), practice_pair(study).left.sum(axis=1)
    assert [card.detail.split()[1] for card in first[::4]] == [f"{cases:,}" for cases in shown]
    write_pack(packed(replace(study, kind="folder"), BayesSetting(seed=1)), tmp_path / "sent.elicit")
    sent = open_study(str(tmp_path / "sent.elicit"))
    assert [card.detail for card in cards_of(sent)] == [card.detail for card in first]


def test_names_and_cards_are_whole_in_a_small_window(page):
    page.resize(800, 600)
    for column in page.columns:
        written = QFontMetricsF(column.name.font()).horizontalAdvance(column.name.text())
        margins = column.name.textMargins()
        assert written <= column.name.width() - margins.left() - margins.right() - 4, column.name.text()
    one_line = page.columns[0].chips.sizeHintForRow(0)
    page.resize(1280, 800)
    assert page.columns[0].chips.sizeHintForRow(0) <= one_line


def test_long_names_with_the_same_middle_are_told_apart(qapp):
    metrics = QFontMetricsF(qapp.font())
    eyes = [f"{stage} diabetic retinopathy of the {eye}" for stage in ("early", "late") for eye in ("left", "right")]
    width = metrics.horizontalAdvance(eyes[0])
    shown = {elided_title(f"{one} called {other}", metrics, width) for one in eyes for other in eyes if one != other}
    assert len(shown) == 12
    assert max(map(metrics.horizontalAdvance, shown)) <= width
    assert elided_title("Ill called well", metrics, width) == "Ill called well"
