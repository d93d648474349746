"""Which procedure asks, and how: one setting for people and for the laboratory, and the procedure it stands for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from elicit_app.elicitation.laws import Cases
from elicit_app.elicitation.orders import StatedOrder, constraints_of, read_order
from elicit_app.elicitation.prior import NeverWorse
from elicit_app.elicitation.questions import Family, Procedure
from elicit_app.elicitation.sphere import Sphere, measure_sphere
from elicit_app.problem import Problem
from elicit_app.study.model import Predictions, Study

Name = Literal["bayes", "dlpm", "lpm", "dlfpm", "lfpm"]
Space = Literal["frontier", "sphere"]
Confusions = Literal["plugin", "counts"]
Ask = Literal["all", "needed"]

_FAMILIES: dict[str, tuple[Family, ...]] = {
    "bayes": ("lpm", "dlpm"),
    "dlpm": ("dlpm",),
    "lpm": ("lpm",),
    "dlfpm": ("dlfpm",),
    "lfpm": ("lfpm",),
}
_SPACES: dict[str, tuple[Space, ...]] = {
    "bayes": ("frontier", "sphere"),
    "dlpm": ("frontier",),
    "dlfpm": ("frontier",),
    "lpm": ("sphere",),
    "lfpm": ("sphere",),
}
# Options that mean nothing to some procedures: said, not ignored.
_ONLY: dict[str, tuple[str, ...]] = {
    "epsilon": ("dlpm", "lpm", "dlfpm", "lfpm"),
    "ask": ("dlpm", "lpm", "dlfpm", "lfpm"),
    "repair": ("dlpm", "lpm", "dlfpm", "lfpm"),
    "cycles": ("lpm", "lfpm"),
    "stop": ("bayes",),
    "checks": ("bayes",),
    "max_cells": ("bayes",),
    "strength": ("bayes",),
    "never_worse": ("bayes",),
}
DEFAULT_EPSILON = 0.01
_FINEST = 1e-12  # an interval this small still halves in double precision
DEFAULT_QUESTIONS = 20
DEFAULT_CELLS = 6
_SPHERES: dict[tuple[str, tuple[float, ...] | None, str | None], Sphere] = {}
_MOST_SPHERES = 8


class WrongPairing(Problem):
    """Options that do not go together: wrong usage, not work that failed."""


class ProcedureSetting(BaseModel):
    """How to ask; None means the procedure's own default.

    Parameters
    ----------
    procedure : str
        bayes, dlpm, lpm, dlfpm or lfpm.
    family : str or None
        dlpm or lpm for bayes; each published procedure has its own.
    space : str or None
        frontier or sphere.
    radius : float or None
        A smaller sphere than the largest.
    confusions : str or None
        plugin or counts: what steers dlpm in the laboratory. People are always shown what is counted.
    epsilon : float or None
        Tolerance of a published search, on m in [0, 1] or on an angle; default 0.01.
    ask : str or None
        all: the published questions; needed (default): only those that can still change the outcome.
    cycles : int, "auto" or None
        Passes over the angles; auto: until none moves by more than epsilon. Default 2 with ``ask="all"``, else auto.
    repair : bool
        Read a claimed descent followed by an ascent as an ascent.
    questions : int or None
        bayes: informative questions (default 20); the others: a cap.
    stop : bool
        bayes may stop before that number.
    checks : bool
        bayes adds repeats and check questions.
    max_cells : int or None
        bayes: most differing cells of a question.
    strength : bool
        Answers may say slightly or clearly.
    never_worse : tuple of StatedOrder or None
        bayes: orders between mistakes that hold for certain; none is None.
    model : str or None
        Ask about this model only.
    seed : int
        Of every random choice.
    person : bool
        Whole cases out of the study's population, counted from true labels.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    procedure: Name = "bayes"
    family: Literal["dlpm", "lpm", "dlfpm", "lfpm"] | None = None
    space: Space | None = None
    radius: float | None = None
    confusions: Confusions | None = None
    epsilon: float | None = None
    ask: Ask | None = None
    cycles: int | Literal["auto"] | None = None
    repair: bool = False
    questions: int | None = Field(default=None, ge=1)
    stop: bool = False
    checks: bool = False
    max_cells: int | None = Field(default=None, ge=2)
    strength: bool = False
    never_worse: tuple[StatedOrder, ...] | None = None
    model: str | None = None
    seed: int = Field(default=0, ge=0)
    person: bool = False

    @field_validator("never_worse")
    @classmethod
    def _none_is_none(cls, orders: tuple[StatedOrder, ...] | None) -> tuple[StatedOrder, ...] | None:
        return orders or None

    @property
    def resolved_family(self) -> Family:
        """Return the family of metrics that is elicited."""
        return self.family or _FAMILIES[self.procedure][0]

    @property
    def resolved_space(self) -> Space:
        """Return the query space."""
        return self.space or _SPACES[self.procedure][0]

    @property
    def resolved_confusions(self) -> Confusions:
        """Return what steers the procedure on predictions."""
        if self.resolved_space == "sphere":
            return "plugin"
        return "counts" if self.person or self.procedure == "bayes" else self.confusions or "plugin"


def check_setting(setting: ProcedureSetting) -> None:
    """Refuse options that do not go together.

    Raises
    ------
    WrongPairing
        Says which, and what goes instead.
    """
    name = setting.procedure
    if setting.resolved_family not in _FAMILIES[name]:
        raise WrongPairing(f"The procedure {name} elicits the family {' or '.join(_FAMILIES[name])} only.")
    if setting.resolved_space not in _SPACES[name]:
        raise WrongPairing(f"The procedure {name} asks on the {_SPACES[name][0]} only; leave --space out.")
    for option, procedures in _ONLY.items():
        if getattr(setting, option) not in (None, False) and name not in procedures:
            flag = option.replace("_", "-")
            raise WrongPairing(f"--{flag} means nothing to the procedure {name}: it is for {', '.join(procedures)}.")
    if setting.resolved_space == "sphere" and setting.resolved_family == "dlpm":
        raise WrongPairing("The sphere is a space of errors: --space sphere goes with --family lpm only.")
    if setting.resolved_space == "sphere" and setting.max_cells is not None:
        raise WrongPairing("--max-cells is about the frontier: two points of the sphere differ in every cell.")
    if setting.radius is not None and setting.resolved_space != "sphere":
        raise WrongPairing("--radius is about the sphere: use it with lpm, or with bayes and --space sphere.")
    if setting.confusions == "plugin" and name == "bayes" and setting.resolved_space == "frontier":
        raise WrongPairing("bayes asks about counted matrices only: plug-in estimates flatter the model.")
    if setting.confusions == "counts" and setting.resolved_space == "sphere":
        raise WrongPairing("The sphere is made of estimated probabilities: counted labels have no such sphere.")
    if setting.epsilon is not None and not _FINEST <= setting.epsilon < 1:
        raise WrongPairing(f"--epsilon must lie between {_FINEST:g} and 1, not at {setting.epsilon:g}.")
    if isinstance(setting.cycles, int) and setting.cycles < 1:
        raise WrongPairing("--cycles must be at least 1, or auto.")


def procedure_for(study: Study, setting: ProcedureSetting) -> Procedure:
    """Return the procedure that a setting stands for, bound to a study.

    Parameters
    ----------
    study : Study
        Real predictions, or a synthetic law.
    setting : ProcedureSetting
        How to ask.

    Raises
    ------
    WrongPairing
        Options that do not go together.
    Problem
        A model that the study does not have, or a query space that it cannot give.
    """
    check_setting(setting)
    if setting.procedure == "bayes":
        return _bayes(study, setting)
    if setting.resolved_space == "sphere":
        return _on_the_sphere(study, setting)
    return _on_the_frontier(study, setting)


def read_orders(texts: Sequence[str], classes: Sequence[str]) -> tuple[StatedOrder, ...] | None:
    """Return the orders that texts state, "TRUE:PREDICTED<=TRUE:PREDICTED"; None where there is no text.

    Raises
    ------
    WrongPairing
        A text that states none of these classes' orders.
    """
    try:
        return tuple(read_order(text, classes) for text in texts) or None
    except Problem as problem:
        raise WrongPairing(f"--never-worse: {problem.sentence}") from problem


def stated_orders(setting: ProcedureSetting, classes: Sequence[str]) -> tuple[NeverWorse, ...]:
    """Return the orders of a setting, for a study of these classes.

    Raises
    ------
    WrongPairing
        Orders that make no sense for the classes and the family, or contradict each other.
    """
    try:
        return constraints_of(setting.never_worse or (), classes, setting.resolved_family)
    except Problem as problem:
        raise WrongPairing(problem.sentence) from problem


def cases_of(study: Study, model: Predictions | None, confusions: Confusions = "counts") -> Cases:
    """Return the cases of one model of a study, or its law where it is synthetic (`model` None)."""
    if model is None:
        assert study.law is not None
        return Cases.law(study.law.eta)
    if confusions == "counts":
        return Cases.counted(model.y_true, model.y_proba, study.stated_prevalence)
    return Cases.plug_in(model.y_proba, study.stated_prevalence)


def models_asked(study: Study, setting: ProcedureSetting) -> tuple[Predictions | None, ...]:
    """Return the models that a procedure asks about; (None,) stands for the law of a synthetic study.

    bayes pools the frontiers of all models; the published procedures use the first, or the one that is named.
    """
    if study.law is not None:
        if setting.model is not None:
            raise Problem(f"{study.name} is synthetic and has no models; leave --model out.")
        return (None,)
    if setting.model is None:
        return study.models if setting.procedure == "bayes" else study.models[:1]
    for model in study.models:
        if model.name == setting.model:
            return (model,)
    names = ", ".join(model.name for model in study.models)
    raise Problem(f"{study.name} has no model {setting.model!r}. Its models: {names}.")


def sphere_for(study: Study, setting: ProcedureSetting) -> Sphere:
    """Return the sphere that a procedure asks on: the largest one, or that of the stated radius."""
    model = models_asked(study, setting)[0]
    # By what is in it, not by which object it is: a study that comes from another process is the same one.
    key = (study.digest or str(id(study)), study.stated_prevalence, None if model is None else model.name)
    if key not in _SPHERES:
        while len(_SPHERES) >= _MOST_SPHERES:
            _SPHERES.pop(next(iter(_SPHERES)))
        _SPHERES[key] = _largest_sphere(study, model)
    return _SPHERES[key].with_radius(setting.radius)


def _largest_sphere(study: Study, model: Predictions | None) -> Sphere:
    """Return the sphere of a study's law or of one model; linear programmes, seconds for ten thousand cases."""
    law = study.law
    if law is None:
        return measure_sphere(cases_of(study, model, "plugin"))
    points = law.eta if law.radius_points is None else law.radius_points
    return Sphere.around(Cases.law(law.eta).prevalence, measure_sphere(Cases.law(points)).radius)


def _bayes(study: Study, setting: ProcedureSetting) -> Procedure:
    from elicit_app.elicitation.procedures.bayes import Bayes

    sphere = sphere_for(study, setting) if setting.resolved_space == "sphere" else None
    return Bayes(
        [cases_of(study, model) for model in models_asked(study, setting)],
        family=setting.resolved_family,
        seed=setting.seed,
        population=study.population if setting.person or sphere is None else None,
        questions=setting.questions or DEFAULT_QUESTIONS,
        space=setting.resolved_space,
        sphere=None if sphere is None else (sphere.centre, sphere.radius),
        stop=setting.stop,
        checks=setting.checks,
        strength=setting.strength,
        max_cells=setting.max_cells or DEFAULT_CELLS,
        constraints=stated_orders(setting, study.classes),
    )


def _on_the_frontier(study: Study, setting: ProcedureSetting) -> Procedure:
    from elicit_app.elicitation.procedures.dlfpm import Dlfpm
    from elicit_app.elicitation.procedures.dlpm import Dlpm

    kind = Dlpm if setting.procedure == "dlpm" else Dlfpm
    return kind(
        cases_of(study, models_asked(study, setting)[0], setting.resolved_confusions),
        epsilon=setting.epsilon or DEFAULT_EPSILON,
        ask=setting.ask or "needed",
        repair=setting.repair,
        questions=setting.questions,
        population=study.population if setting.person else None,
        names=study.wording.class_many,
    )


def _on_the_sphere(study: Study, setting: ProcedureSetting) -> Procedure:
    from elicit_app.elicitation.procedures.lfpm import Lfpm
    from elicit_app.elicitation.procedures.lpm import Lpm

    kind = Lpm if setting.procedure == "lpm" else Lfpm
    return kind(
        sphere_for(study, setting),
        epsilon=setting.epsilon or DEFAULT_EPSILON,
        ask=setting.ask or "needed",
        cycles=setting.cycles,
        repair=setting.repair,
        questions=setting.questions,
        population=study.population if setting.person else None,
    )
