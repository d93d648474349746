"""Text from a file is text: never markup, and a name written right to left never turns a sentence round."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt

import elicit_app.gui
from elicit_app.gui.elements.painting import Label, StressedLabel, annotate
from metrics.text import isolated

MARKUP = '<img src="/etc/hostname"><b>bold</b> & more'
GUI = Path(elicit_app.gui.__file__).parent


def test_only_one_module_hands_text_to_tooltips_and_names_unescaped() -> None:
    # a cell of a table or list is no widget: it has its tooltip from `tooltip_text`
    bare = re.compile(
        r"(setToolTip\(|ToolTipRole:\s+return )(?!tooltip_text\()|ToolTipRole(?!:)|QToolTip"
        r"|setAccessible(Name|Description)\(|setWhatsThis\("
    )
    users = {path.name for path in GUI.rglob("*.py") if bare.search(path.read_text("utf-8"))}
    assert users == {"painting.py"}


def test_markup_from_a_file_is_shown_as_it_is_written(qtbot) -> None:
    label, stressed = Label(MARKUP), StressedLabel()
    qtbot.addWidget(label)
    qtbot.addWidget(stressed)
    stressed.say("One ", MARKUP)
    annotate(label, tooltip=MARKUP, name=MARKUP)
    assert label.textFormat() == Qt.TextFormat.PlainText
    assert label.text() == label.accessibleName() == MARKUP
    for shown in (label.toolTip(), stressed.text()):
        assert "<img" not in shown
        assert "&lt;img src=" in shown


@pytest.mark.parametrize("name", ["سرطان", "ورم حميد", "סרטן"])
def test_a_name_written_right_to_left_keeps_to_itself(qtbot, name) -> None:
    label = Label(f"{name} called {name}")
    qtbot.addWidget(label)
    assert label.text() == f"\u2068{name}\u2069 called \u2068{name}\u2069"


def test_direction_controls_of_a_name_are_dropped_and_control_characters_replaced() -> None:
    assert isolated("a\u202eb\u2066c\u200f") == "abc"
    assert isolated("bell\a") == "bell\ufffd"
    assert isolated("two\nlines") == "two\nlines"


def test_what_is_read_aloud_of_a_stressed_text_obeys_nobody(qtbot) -> None:
    stressed = StressedLabel()
    qtbot.addWidget(stressed)
    stressed.say("One ", "\x1b[31mred\u202e")
    assert stressed.accessibleName() == "One \ufffd[31mred"


@given(st.text())
def test_isolation_is_balanced_and_settled(text: str) -> None:
    once = isolated(text)
    assert once.count("\u2068") == once.count("\u2069")
    assert isolated(once) == once
