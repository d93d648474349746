"""The commands that open the window, and what they say where there is none."""

import os
import subprocess
import sys

import pytest
from PySide6.QtGui import QImage

from elicit_app.cli.window import no_window
from elicit_app.gui.screenshots import STOPS, Variant, take

ELICIT = [sys.executable, "-c", "from elicit_app.cli.main import run; run()"]


def run(tmp_path, *arguments, **more):
    env = {key: value for key, value in os.environ.items() if not key.startswith(("QT_", "WAYLAND", "DISPLAY"))}
    env |= {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), **more}
    return subprocess.run([*ELICIT, *arguments], env=env, capture_output=True, text=True, timeout=100)


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only X11 and Wayland have displays that may be missing"
)
@pytest.mark.parametrize("display", ["", ":987", "nonsense", "localhost:654"])
def test_without_a_display_it_says_what_to_do_instead(tmp_path, display):
    done = run(tmp_path, "open", "wine", DISPLAY=display)
    assert done.returncode == 1
    assert done.stderr.strip().count("\n") == 0
    assert "There is no display here. Answer in the terminal with: elicit ask wine" in done.stderr
    assert done.stdout == ""


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only X11 and Wayland have displays that may be missing"
)
def test_the_start_page_without_a_display_names_the_terminal(tmp_path):
    done = run(tmp_path)
    assert done.returncode == 1
    assert "elicit ask STUDY" in done.stderr


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only X11 and Wayland have displays that may be missing"
)
def test_the_demo_without_a_display_runs_in_the_terminal_and_leaves_nothing(tmp_path):
    done = run(tmp_path, "demo")
    assert done.returncode == 0
    assert done.stderr.startswith("There is no display here. A simulated expert answers in the terminal instead.")
    assert "counts as much as" in done.stdout
    assert not list(tmp_path.rglob("*.session.jsonl"))


@pytest.mark.parametrize("command", ["open", "demo"])
def test_a_study_that_does_not_exist_is_refused_before_a_window_opens(tmp_path, command):
    done = run(tmp_path, command, "wein", QT_QPA_PLATFORM="offscreen")
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
    assert [path.name for path in paths] == [f"{name}-800x600-dark.png" for name in STOPS]
    digests = set()
    for path in paths:
        image = QImage(str(path))
        assert (image.width(), image.height()) == (800, 600)
        colours = {image.pixel(x, y) for x in range(0, 800, 5) for y in range(0, 600, 5)}
        assert len(colours) > 3, f"{path.name} is blank"
        digests.add(path.read_bytes())
    assert len(digests) == len(paths)
