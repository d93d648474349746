"""The procedures there are: one entry each, bound to studies here; above it nobody tells procedures apart by name."""

from elicit_app.registry import procedures as _procedures  # they register themselves
from elicit_app.registry.entries import (
    Entry,
    Setting,
    entries,
    entry_named,
    for_person,
    procedure_for,
    register,
    registered,
    setting_of,
)

__all__ = [
    "Entry",
    "Setting",
    "entries",
    "entry_named",
    "for_person",
    "procedure_for",
    "register",
    "registered",
    "setting_of",
]

del _procedures
