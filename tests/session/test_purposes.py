"""What the answers are for, as window and terminal ask it."""

import io

import pytest
from rich.console import Console

from elicit_app.cli import asking
from elicit_app.session.sentences import purpose_words
from elicit_app.study import open_study


def test_each_purpose_says_when_it_stops_and_how_many_questions_there_are():
    choose, costs, both = purpose_words(open_study("breast-cancer"), 18)
    assert (choose.purpose, costs.purpose, both.purpose) == ("choose", "costs", "both")
    assert choose.title == "To choose between these models"
    assert choose.sentence == "Also: where to cut. Stops when the choice is settled."
    assert choose.questions == "10 to 22 questions"
    assert costs.questions == both.questions == "up to 22 questions"


def test_where_it_may_not_stop_early_nothing_is_said_to_stop():
    said = purpose_words(open_study("wine"), 24, early=False)
    assert not any("Stops" in one.sentence for one in said)
    assert len({one.questions for one in said}) == 1


@pytest.mark.parametrize(("typed", "purpose"), [([""], "choose"), (["2"], "costs"), (["4", "3"], "both")])
def test_the_terminal_takes_a_number_and_asks_again_for_anything_else(monkeypatch, typed, purpose):
    lines = iter(typed)
    monkeypatch.setattr(asking, "prompt", lambda console, text: next(lines))
    console = Console(file=io.StringIO())
    assert asking.ask_purpose(open_study("wine"), None, console) == purpose
    assert "To write down what mistakes cost (up to 22 questions)" in console.file.getvalue()
