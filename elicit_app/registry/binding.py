"""What procedures need of a study: cases of its models, spheres of its predictions, orders between its mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from elicit_app.elicitation.laws import Cases
from elicit_app.elicitation.orders import StatedOrder, constraints_of, read_order
from elicit_app.elicitation.prior import NeverWorse
from elicit_app.elicitation.sphere import Sphere, measure_sphere
from elicit_app.problem import Problem, WrongOption
from elicit_app.registry.entries import Setting, entry_named
from elicit_app.study.model import Predictions, Study

Confusions = Literal["plugin", "counts"]

_SPHERES: dict[tuple[str, tuple[float, ...] | None, str | None], Sphere] = {}
_MOST_SPHERES = 8


def read_orders(texts: Sequence[str], classes: Sequence[str]) -> tuple[StatedOrder, ...] | None:
    """Return the orders that texts state, "TRUE:PREDICTED<=TRUE:PREDICTED"; None where there is no text.

    Raises
    ------
    WrongOption
        A text that states none of these classes' orders.
    """
    try:
        return tuple(read_order(text, classes) for text in texts) or None
    except Problem as problem:
        raise WrongOption(f"`never_worse`: {problem.sentence}") from problem


def stated_orders(setting: Setting, classes: Sequence[str]) -> tuple[NeverWorse, ...]:
    """Return the orders of a setting, for a study of these classes.

    Raises
    ------
    WrongOption
        Orders that make no sense for the classes and the family, or contradict each other.
    """
    try:
        return constraints_of(setting.orders, classes, setting.family)
    except Problem as problem:
        raise WrongOption(problem.sentence) from problem


def cases_of(study: Study, model: Predictions | None, confusions: Confusions = "counts") -> Cases:
    """Return the cases of one model of a study, or its law where it is synthetic (`model` None)."""
    if model is None:
        assert study.law is not None
        return Cases.law(study.law.eta)
    if confusions == "counts":
        return Cases.counted(model.y_true, model.y_proba, study.stated_prevalence)
    return Cases.plug_in(model.y_proba, study.stated_prevalence)


def models_asked(study: Study, setting: Setting) -> tuple[Predictions | None, ...]:
    """Return the models that a procedure asks about; (None,) stands for the law of a synthetic study."""
    if study.law is not None:
        if setting.model is not None:
            raise WrongOption(f"{study.name} is synthetic and has no models; leave `model` out.")
        return (None,)
    if setting.model is None:
        return study.models if entry_named(setting.procedure).pools_models else study.models[:1]
    for model in study.models:
        if model.name == setting.model:
            return (model,)
    names = ", ".join(model.name for model in study.models)
    raise Problem(f"{study.name} has no model {setting.model!r}. Its models: {names}.")


def sphere_for(study: Study, setting: Setting) -> Sphere:
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
