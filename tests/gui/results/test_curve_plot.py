"""Curves: each name is taken for that of its own curve, and every point on one is seen."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QRectF, QSize

from elicit_app.gui import theme
from elicit_app.gui.results.curve_plot import Curve, CurvePlot, Mark, Picture, Stroke, free_place
from metrics.drawing import LinearAxis


@given(
    heights=st.lists(st.integers(2, 28), min_size=2, max_size=5, unique=True).map(
        lambda steps: [7.0 * n for n in steps]
    ),
    width=st.integers(60, 300),
)
def test_a_name_lies_at_its_own_curve_and_along_no_other(heights, width):
    room, taken = QRectF(0, 0, 460, 220), []
    curves = [np.array([(x, y) for x in np.arange(0.0, 460, 12)]) for y in heights]
    for place, own in enumerate(curves):
        others = np.concatenate([curve for at, curve in enumerate(curves) if at != place])
        box = free_place(room, QSize(width, 19), own, others, taken)
        if box is None:
            continue
        taken.append(box)
        assert not any(box.top() < y < box.bottom() for at, y in enumerate(heights) if at != place)
        assert abs(box.center().y() - heights[place]) < box.height()
        assert room.contains(box)


def test_no_range_covers_the_point_of_another_curve(qtbot):
    steps = np.array([0.0, 1.0])
    points = ((0.3, 0.3), (0.6, 0.6))
    marks = tuple(Mark(point, ((0.1, 0.1), (0.9, 0.9))) for point in points)
    curves = (Curve("one", steps, steps, Stroke.STRONG), Curve("two", steps, steps, Stroke.DASHED))
    plot = CurvePlot()
    qtbot.addWidget(plot)
    plot.resize(500, 400)
    plot.show_picture(Picture("", curves, LinearAxis(0.0, 1.0), LinearAxis(0.0, 1.0), str, str, "", marks=marks))
    room, image = plot._room(), plot.grab().toImage()
    for x, y in points:
        across, down = round(plot._x(room, x)), round(plot._y(room, y))
        assert all(image.pixelColor(across + step, down) == theme.LIGHT.ink for step in (-4, 0, 4))
