"""The track of another prevalence: what is named where."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elicit_app.gui.results.plotting import ShareAxis
from elicit_app.gui.results.prevalence import Scale, ShareTrack
from elicit_app.session.scenarios import Stretch

SHARES = st.integers(2, 98).map(lambda percent: percent / 100)


@pytest.fixture
def track(qtbot):
    made = ShareTrack()
    qtbot.addWidget(made)
    made.resize(1000, 116)
    return made


@given(cuts=st.lists(SHARES, max_size=5, unique=True).map(sorted), at=SHARES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_part_with_the_handle_is_named_and_no_other_name_leaves_its_own_part(track, cuts, at):
    ends = [0.01, *cuts, 0.99]
    names = [(f"model_{n}_of_the_hospital, as it decides now",) for n in range(len(ends))]
    stretches = tuple(map(Stretch, ends, ends[1:], names))
    track.show_scale(Scale(ShareAxis(0.01, 0.99), "How many?", str, 0.5), stretches)
    track.set_number(at)
    named = track.named()
    here = next(one for one in stretches if one.low <= at <= one.high)
    assert here in named
    rooms = [room for _, room in named.values()]
    for stretch, (text, room) in named.items():
        assert stretch.name in text
        assert room.left() >= 0
        assert room.right() <= track.width()
        inside = track._x(stretch.low) <= room.left() and room.right() <= track._x(stretch.high)
        assert inside or stretch == here or len(stretches) == 1
        assert not any(room.intersects(other) for other in rooms if other is not room)


def test_a_name_wider_than_the_track_is_shortened_and_read_out_whole(track):
    names = "a_model_with_a_very_long_name_of_the_first_hospital", "another_one_of_the_second_hospital_nearby"
    track.resize(300, 116)
    track.show_scale(Scale(ShareAxis(0.01, 0.99), "How many?", str, 0.5), (Stretch(0.01, 0.99, names),))
    ((text, room),) = track.named().values()
    assert "…" in text
    assert 0 <= room.left() < room.right() <= 300
    assert " or ".join(names) in track.accessibleDescription()
