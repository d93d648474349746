"""Settings that the window keeps between starts: appearance, geometry, recent study folders."""

from __future__ import annotations

import contextlib
import os
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

from metrics.files import json_text, read_regular_file, real_path, strict_json, write_atomically

Appearance = Literal["system", "light", "dark"]
FONT_PERCENTS = (100, 125, 150, 175, 200)
_MOST_FOLDERS = 20
_MOST_BYTES = 1 << 20


@dataclass(frozen=True)
class Settings:
    """The settings of the window."""

    appearance: Appearance = "system"
    font_percent: int = 100  # size of all text, 100 to 200 percent of the system's
    animation: bool = True  # whether a new question fades in
    numbers_only: bool = False  # whether the question page omits the squares
    geometry: str = ""  # position and size of the window in Qt's encoding, base64; empty before the first start
    folders: tuple[str, ...] = ()  # recently opened study folders, newest first
    # the session that was open when the window was closed, reopened at the next start; empty for none
    session: str = ""
    tab: int = 0  # the tab of the result shown at that time

    def with_folder(self, folder: Path) -> Settings:
        name = str(real_path(folder))
        others = tuple(known for known in self.folders if known != name)
        return replace(self, folders=(name, *others)[:_MOST_FOLDERS])


def _valid(name: str, value: Any) -> bool:
    """Return whether `value` is valid for field `name` of a settings file."""
    if name == "appearance":
        return value in get_args(Appearance)
    if name == "font_percent":
        return value in FONT_PERCENTS
    if name == "folders":
        return isinstance(value, list) and all(_is_text(item) for item in value)
    if name == "tab":
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10
    return _is_text(value) if name in ("geometry", "session") else isinstance(value, bool)


def _is_text(value: Any) -> bool:
    """Return whether a value is text that the system accepts: no lone surrogates and no NUL."""
    return isinstance(value, str) and "\0" not in value and value.encode(errors="replace").decode() == value


def load_settings(path: Path) -> Settings:
    """Read the settings; missing or damaged ones get their defaults, because nothing of value is lost."""
    try:
        found = strict_json(read_regular_file(path, _MOST_BYTES).decode())
    except (OSError, ValueError):
        return Settings()
    if not isinstance(found, dict):
        return Settings()
    known = {field.name for field in fields(Settings)}
    kept = {name: value for name, value in found.items() if name in known and _valid(name, value)}
    if "folders" in kept:
        kept["folders"] = tuple(kept["folders"][:_MOST_FOLDERS])
    return Settings(**kept)


def save_settings(settings: Settings, path: Path) -> None:
    """Write the settings atomically; errors such as a full disk are ignored, because nothing of value is lost."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        # follow links, because people keep their settings in a folder elsewhere
        write_atomically(os.path.realpath(path), json_text(asdict(settings)))
