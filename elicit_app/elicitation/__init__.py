"""Elicit a metric: procedures, oracles and the loop between them, in one import.

>>> import numpy as np
>>> from elicit_app.elicitation import LPM, Bayes, Cases, LinearOracle, run
>>> y_true = np.repeat([0, 1], 50)
>>> p = np.linspace(0.05, 0.95, 100)
>>> cases = Cases.counted(y_true, np.column_stack([1 - p, p]))
>>> truth = LinearOracle(LPM.weight_matrix(LPM.normalise(np.array([-3.0, -1.0]))))
>>> procedure = Bayes([cases], family="lpm", seed=1, population=1000, questions=12)
>>> outcome, asked = run(procedure, truth)
>>> len(asked), outcome.stopped
(12, 'budget')
>>> bool(outcome.weights[0] < outcome.weights[1] < 0)
True

Names are imported on first use: a window that only lists sessions needs none of the procedures.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from metrics.errors import as_missing_package

if TYPE_CHECKING:
    from elicit_app.elicitation.cases import Cases as Cases
    from elicit_app.elicitation.oracles import FlipOracle as FlipOracle
    from elicit_app.elicitation.oracles import LinearOracle as LinearOracle
    from elicit_app.elicitation.oracles import LogitOracle as LogitOracle
    from elicit_app.elicitation.oracles import MajorityOracle as MajorityOracle
    from elicit_app.elicitation.oracles import Oracle as Oracle
    from elicit_app.elicitation.oracles import RecordedOracle as RecordedOracle
    from elicit_app.elicitation.oracles import UtilityOracle as UtilityOracle
    from elicit_app.elicitation.oracles import run as run
    from elicit_app.elicitation.procedure import Outcome as Outcome
    from elicit_app.elicitation.procedure import Procedure as Procedure
    from elicit_app.elicitation.procedures.bayes import Bayes as Bayes
    from elicit_app.elicitation.procedures.dlpm import Dlpm as Dlpm
    from elicit_app.elicitation.procedures.fractional import Dlfpm as Dlfpm
    from elicit_app.elicitation.procedures.fractional import Lfpm as Lfpm
    from elicit_app.elicitation.procedures.lpm import Lpm as Lpm
    from elicit_app.elicitation.questions import Answer as Answer
    from elicit_app.elicitation.questions import Asked as Asked
    from elicit_app.elicitation.questions import Choice as Choice
    from elicit_app.elicitation.questions import Question as Question
    from elicit_app.elicitation.questions import Step as Step
    from elicit_app.elicitation.sphere import Sphere as Sphere
    from elicit_app.elicitation.trust import TrustReport as TrustReport
    from elicit_app.elicitation.trust import trust_report as trust_report
    from metrics.elicited.family import DLPM as DLPM
    from metrics.elicited.family import LPM as LPM
    from metrics.elicited.family import family_of as family_of

_OURS = {
    "cases": ("Cases",),
    "oracles": (
        *("FlipOracle", "LinearOracle", "LogitOracle", "MajorityOracle"),
        *("Oracle", "RecordedOracle", "UtilityOracle", "run"),
    ),
    "procedures.bayes": ("Bayes",),
    "procedures.fractional": ("Dlfpm", "Lfpm"),
    "procedures.dlpm": ("Dlpm",),
    "procedures.lpm": ("Lpm",),
    "procedure": ("Outcome", "Procedure"),
    "questions": ("Answer", "Asked", "Choice", "Question", "Step"),
    "sphere": ("Sphere",),
    "trust": ("TrustReport", "trust_report"),
}
_HOME = {name: f"{__name__}.{module}" for module, names in _OURS.items() for name in names}
_HOME.update(dict.fromkeys(("DLPM", "LPM", "family_of"), "metrics.elicited.family"))

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    """Import a public name from its module on first use."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(_HOME[name]), name)
    except ModuleNotFoundError as error:
        raise as_missing_package(error) from None
