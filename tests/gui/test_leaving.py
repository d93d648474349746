"""Leaving: the window hides at once and ends within a second; what was answered is written, what is computed is not
waited for."""

from __future__ import annotations

import threading

from elicit_app.gui.app import make_window
from elicit_app.gui.flow.navigation import AppPaths


def window_of(appearance, tmp_path):
    return make_window(appearance, AppPaths(tmp_path / "settings.json", tmp_path / "data"))


def test_what_is_computed_is_not_waited_for(qtbot, appearance, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("elicit_app.gui.flow.navigation.PATIENCE", 0.1)
    window = window_of(appearance, tmp_path)
    window.show()
    go_on, computed = threading.Event(), threading.Event()

    def compute():
        go_on.wait(60)
        computed.set()

    window.flow.background.run(compute, lambda _: None, lambda _: None)
    window.close()
    waited_for = computed.is_set()
    go_on.set()
    assert not waited_for
    assert not window.isVisible()
    assert not window.at_rest


def test_the_window_is_gone_while_a_file_is_still_written(qtbot, appearance, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("elicit_app.gui.flow.navigation.PATIENCE", 0.1)
    window, seen = window_of(appearance, tmp_path), []
    window.show()
    go_on = threading.Event()

    def write():
        go_on.wait(60)
        seen.append(window.isVisible())

    window.flow.background.save(write, lambda _: None, lambda _: None)
    threading.Timer(1.0, go_on.set).start()
    window.close()
    assert seen == [False]


def test_a_window_at_rest_ends_in_order(qtbot, appearance, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("elicit_app.gui.flow.navigation.PATIENCE", 60.0)
    window = window_of(appearance, tmp_path)
    window.show()
    window.close()
    assert window.at_rest


def test_the_first_window_fits_the_screen_with_its_frame(qtbot, appearance, tmp_path) -> None:
    window = window_of(appearance, tmp_path)
    with qtbot.waitExposed(window):
        window.show()
    qtbot.wait(20)
    room = window.screen().availableGeometry()
    assert window.frameGeometry().height() <= room.height()
    assert window.frameGeometry().width() <= room.width()
    window.close()
