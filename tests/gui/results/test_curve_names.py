"""Names on curves: each is taken for the name of its own curve."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QRectF, QSize

from elicit_app.gui.results.curve_plot import free_place


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
