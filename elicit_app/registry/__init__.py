"""The available procedures, one entry each, bound to studies here; no caller distinguishes procedures by name."""

from elicit_app.registry import procedures as _procedures  # they register themselves
from elicit_app.registry.entries import Entry as Entry
from elicit_app.registry.entries import Setting as Setting
from elicit_app.registry.entries import entries as entries
from elicit_app.registry.entries import entry_named as entry_named
from elicit_app.registry.entries import for_person as for_person
from elicit_app.registry.entries import procedure_for as procedure_for
from elicit_app.registry.entries import register as register
from elicit_app.registry.entries import registered as registered
from elicit_app.registry.entries import setting_of as setting_of

del _procedures
