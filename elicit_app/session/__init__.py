"""Sessions: one expert's answers about one study, kept as they are given.

Names are imported when they are first used: the start page needs the list of sessions only.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elicit_app.session.journal.events import Guess as Guess
    from elicit_app.session.journal.listing import SessionSummary as SessionSummary
    from elicit_app.session.journal.listing import data_folder as data_folder
    from elicit_app.session.journal.listing import list_sessions as list_sessions
    from elicit_app.session.journal.listing import new_session_path as new_session_path
    from elicit_app.session.journal.listing import sessions_folder as sessions_folder
    from elicit_app.session.results.result import export as export
    from elicit_app.session.results.result import result_view as result_view
    from elicit_app.session.runner import SessionRunner as SessionRunner
    from elicit_app.session.session import Session as Session
    from elicit_app.session.view_builders import answers_csv as answers_csv
    from elicit_app.session.view_builders import export_answers as export_answers

_NAMES = {
    "journal.events": ("Guess",),
    "journal.listing": ("SessionSummary", "data_folder", "list_sessions", "new_session_path", "sessions_folder"),
    "results.result": ("export", "result_view"),
    "runner": ("SessionRunner",),
    "session": ("Session",),
    "view_builders": ("answers_csv", "export_answers"),
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    """Import a public name from its module at its first use."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
