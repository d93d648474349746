"""The plots of exchange rates: names broken between words, and a legend that holds every sign they have."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF

from elicit_app.gui import theme
from elicit_app.gui.elements.painting import breakable
from elicit_app.gui.results.expert_plot import ExpertPlot, ExpertRates
from elicit_app.gui.results.rates import PlotRow, RatioPlot
from elicit_app.gui.theme import Role, em, font
from metrics.elicited.exchange import ExchangeRate
from metrics.elicited.metric_parts import Consequence

WORDS = Consequence("missed melanoma", "missed melanomas", "Missed melanoma")
KNOWN = ExchangeRate(0, 1, 2.0, 0.5, 9.0, False, WORDS)
BOUNDED = ExchangeRate(1, 0, 0.1, 0.0, 0.4, False, WORDS)


@given(name=st.lists(st.text("abcdefgh", min_size=1, max_size=30), min_size=1, max_size=6).map(" ".join))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_name_is_broken_between_words_and_never_wider_than_its_column(appearance, name):
    metrics, width = QFontMetricsF(font(Role.STRONG)), 240.0
    shown = breakable(name, metrics, width)
    used = metrics.boundingRect(QRectF(0, 0, width, 10_000), Qt.TextFlag.TextWordWrap, shown)
    assert used.width() <= width + 1
    for word, found in zip(name.split(), shown.split(), strict=True):
        assert (word == found) == (metrics.horizontalAdvance(word) <= width), "only what has no room is broken"


@pytest.mark.parametrize(("rates", "named"), [((KNOWN,), False), ((KNOWN, BOUNDED), True), ((BOUNDED,), True)])
def test_the_dashed_line_is_in_the_legend_where_there_is_one(qtbot, rates, named):
    one, beside = RatioPlot(), ExpertPlot()
    qtbot.addWidget(one)
    qtbot.addWidget(beside)
    one.show_rows([PlotRow(rate, "Missed melanoma", "", guess=3.0) for rate in rates], "needless excision")
    rows = [ExpertRates(WORDS.name, (("Ada", KNOWN), ("Ben", rate)), KNOWN) for rate in rates]
    beside.show_rows(rows, "needless excision")
    assert any("estimate" in sign.text for sign in one.legend()) == (KNOWN in rates), "a dot"
    for plot in (one, beside):
        assert ("only bounded" in [sign.text for sign in plot.legend()]) == named


def test_what_is_only_bounded_is_shown_alike_of_one_expert_and_of_several(qtbot, monkeypatch):
    beside, shapes = ExpertPlot(), []
    qtbot.addWidget(beside)
    monkeypatch.setattr(beside, "_paint_mark", lambda painter, columns, mark, y: shapes.append(mark.shape))
    beside.resize(700, 300)
    for pooled, names, below in ((KNOWN, ("A", "B"), ["bar", "dot"]), (None, ("", "you"), [])):
        beside.show_rows([ExpertRates(WORDS.name, tuple(zip(names, (KNOWN, BOUNDED), strict=True)), pooled)], "x")
        shapes.clear()
        beside.grab()
        assert shapes == ["line", "dot", "bound", *below]
        assert any("pooled" in sign.text for sign in beside.legend()) == bool(below)


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_beside_many_words_ranges_of_experts_have_room_under_them(qtbot, appearance, scale):
    theme.apply(appearance, family="DejaVu Sans", scale=scale, dark=False)
    plot, far = ExpertPlot(), ExchangeRate(0, 1, 0.04, 0.0065, 0.19, False, WORDS)
    qtbot.addWidget(plot)
    plot.show_rows([ExpertRates(WORDS.name, (("Cardiology", far), ("Radiology", KNOWN)), KNOWN)], "excision")
    heights = []
    for width in (1_400, 420):
        columns = plot._columns(width)
        heights.append(plot.heightForWidth(width))
        assert columns.right - columns.left >= em(150)
        assert columns.right <= width
        assert columns.stacked == (width == 420)
    assert heights[1] > heights[0]


@pytest.mark.parametrize("width", [300, 520, 900])
def test_the_legend_takes_as_many_lines_as_it_needs(qtbot, width):
    plot = RatioPlot()
    qtbot.addWidget(plot)
    plot.show_rows([PlotRow(rate, "Missed melanoma", "", guess=3.0) for rate in (KNOWN, BOUNDED)], "excision")
    face, ends = QFontMetricsF(font(Role.NOTE)), {}
    for x, line, sign in plot._placed(width):
        assert x >= ends.get(line, 0.0)
        ends[line] = x + sign.width + face.horizontalAdvance(sign.text)
        assert x == 0 or ends[line] <= width
    assert plot.heightForWidth(width) >= 24 * len(ends)
