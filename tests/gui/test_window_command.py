"""The commands that open the window, and what they say where there is none."""

import os
import subprocess
import sys

import pytest
from PySide6.QtGui import QImage

from elicit_app.cli.main import no_window
from elicit_app.gui.screenshots import PAGES, Variant, take

ELICIT = [sys.executable, "-c", "from elicit_app.cli.main import run; run()"]


@pytest.fixture
def without_display(monkeypatch, tmp_path):
    for key in os.environ:
        if key.startswith(("QT_", "WAYLAND", "DISPLAY")):
            monkeypatch.delenv(key)
    for key in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(key, str(tmp_path))


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only X11 and Wayland have displays that may be missing"
)
@pytest.mark.parametrize("display", ["", ":987", "nonsense", "localhost:654"])
def test_without_a_display_it_says_what_to_do_instead(elicit, without_display, monkeypatch, display):
    monkeypatch.setenv("DISPLAY", display)
    done = elicit("open", "wine")
    assert done.returncode == 1
    assert done.stderr.strip().count("\n") == 0
    assert "There is no display here. Answer in the terminal with: elicit ask wine" in done.stderr
    assert done.stdout == ""


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only X11 and Wayland have displays that may be missing"
)
def test_the_start_page_without_a_display_names_the_terminal(elicit, without_display):
    done = elicit()
    assert done.returncode == 1
    assert "elicit ask STUDY" in done.stderr


@pytest.mark.parametrize("command", ["open", "demo"])
def test_a_study_that_does_not_exist_is_refused_before_a_window_opens(command):
    done = subprocess.run(
        [*ELICIT, command, "wein"], env=os.environ | {"QT_QPA_PLATFORM": "offscreen"}, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "did you mean “wine”" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_platform_without_a_display_server_needs_none(monkeypatch):
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    monkeypatch.delenv("DISPLAY", raising=False)
    assert no_window() == ""


@pytest.mark.long
def test_every_page_is_rendered_from_the_scripted_session(tmp_path, qapp):
    variants = (Variant(800, 600, dark=True),)
    paths = list(take(tmp_path / "pictures", variants))
    assert [path.name for path in paths] == sorted({path.name for path in paths})
    assert len(paths) == PAGES
    assert all(path.name.endswith("-800x600-dark.png") for path in paths)
    digests = set()
    for path in paths:
        image = QImage(str(path))
        assert (image.width(), image.height()) == (800, 600)
        colours = {image.pixel(x, y) for x in range(0, 800, 5) for y in range(0, 600, 5)}
        assert len(colours) > 3, f"{path.name} is blank"
        digests.add(path.read_bytes())
    assert len(digests) == len(paths)
