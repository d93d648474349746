"""What a procedure registers: its settings, label and abilities, and how it is bound to a study."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, Self, TypeVar, Union, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from elicit_app.elicitation.agenda import MOST_QUESTIONS
from elicit_app.elicitation.cases import Cases, Decider, Tally
from elicit_app.elicitation.orders import (
    StatedOrder,
    StatedPile,
    check_ordered,
    constraints_of,
    orders_by_distance,
    read_order,
)
from elicit_app.elicitation.prior import NeverWorse
from elicit_app.elicitation.procedure import Procedure
from elicit_app.elicitation.questions import AnswersFor, Family
from elicit_app.elicitation.sphere import MeasuredSphere, Sphere, measure_sphere
from elicit_app.problem import Problem, WrongOption
from elicit_app.study.model import Predictions, Study, TalliedModel
from metrics.elicited.kinds import PRICED
from metrics.errors import finding_words
from metrics.text import series

Space = Literal["frontier", "sphere"]


class Setting(BaseModel):
    """How a procedure asks; each procedure has its own subclass, identified by `procedure`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    procedure: str  # the name, a `Literal` of one string in every subclass
    # what is elicited, and the source of the matrices: a `Literal` of what the procedure can do, starting with the
    # default
    family: Family
    space: Space
    # number of questions to ask; None if the procedure decides
    questions: StrictInt | None = Field(default=None, ge=1, le=MOST_QUESTIONS)
    radius: StrictFloat | None = None  # on the sphere: a radius below the largest one
    model: str | None = None  # ask about this model of the study only
    seed: StrictInt = Field(default=0, ge=0)  # of all random choices
    # purpose of the answers, which decides when a procedure stops early; None if not stated
    purpose: AnswersFor | None = None
    # whether a person answers: whole cases of the study's population, counted from true labels
    person: StrictBool = False

    @model_validator(mode="before")
    @classmethod
    def _without_unused(cls, fields: Any) -> Any:
        """Leave out unused options, whichever procedure they belong to: older sessions stored every option."""
        if not isinstance(fields, dict):
            return fields
        return {
            name: value
            for name, value in fields.items()
            if value is not None and (value is not False or name in cls.model_fields)
        }

    @model_validator(mode="after")
    def _check_radius(self) -> Self:
        if self.space != "sphere" and self.radius is not None:
            raise WrongOption(f"`radius` applies to the sphere, but {self.procedure} asks on the frontier here.")
        return self

    def for_person(self) -> Self:
        """Return the setting for people: whole cases of real decisions, in sittings of bearable length."""
        return self.model_copy(update={"person": True})

    def in_full(self) -> Self:
        """Return the setting with the defaults that the procedure uses filled in."""
        return self

    def with_budget(self, questions: int | None, early_stop: bool) -> Self:
        """Return the setting after the expert asked for more questions (None: unchanged)."""
        del early_stop  # only matters to a procedure that may stop early
        return self if questions is None else self.model_copy(update={"questions": questions})

    @property
    def orders(self) -> tuple[StatedOrder, ...]:
        """Return the orders between mistakes that certainly hold; none for a procedure that cannot use them."""
        return ()

    @property
    def classes_in_order(self) -> tuple[str, ...]:
        """Return the classes of which an order is stated, from one end to the other; none if none is."""
        return ()

    @property
    def all_orders(self) -> tuple[StatedOrder, ...]:
        """Return the orders between mistakes that were stated, and those that an order of the classes implies."""
        return self.orders + orders_by_distance(self.classes_in_order)

    def without_orders(self) -> Self:
        """Return the setting without the orders that were stated."""
        return self

    @property
    def stated_piles(self) -> tuple[StatedPile, ...]:
        """Return the piles that mistakes were sorted into; none for a procedure that cannot use them."""
        return ()

    @property
    def may_stop_early(self) -> bool:
        """Return whether the questions may end before their number is used up."""
        return False

    def planned(self, n_classes: int) -> tuple[int, int] | None:
        """Return the fewest and the most questions of a search for so many classes; None if that is not known."""
        del n_classes  # only matters to a search
        return None


S = TypeVar("S", bound=Setting)


@dataclass(frozen=True)
class Entry(Generic[S]):
    """One procedure."""

    setting: type[S]  # its settings; `procedure` names it, `family` and `space` list what it can do
    label: str  # a description of a few words, for people who choose
    build: Callable[[Study, S], Procedure]  # returns the procedure for a study and a setting
    people: bool = False  # whether people may be asked: its metric is a cost matrix, its matrices are whole cases
    # whether it asks about all models of a study at once; others ask about the first, or the named one
    pools_models: bool = False
    draws_chance: bool = False  # whether other seeds ask other questions
    narrows: bool = False  # whether it halves intervals: it then asks many questions, and the later ones look alike
    costs: bool = True  # whether its result has a cost matrix

    @property
    def name(self) -> str:
        """Return the procedure's name."""
        return str(_literals(self.setting, "procedure")[0])

    @property
    def families(self) -> tuple[Family, ...]:
        """Return the families it can elicit, the default first."""
        return _literals(self.setting, "family")

    @property
    def spaces(self) -> tuple[Space, ...]:
        """Return the query spaces it can ask on, the default first."""
        return _literals(self.setting, "space")

    def offers(self, option: str) -> bool:
        """Return whether the procedure has an option of this name."""
        return option in self.setting.model_fields

    def __post_init__(self) -> None:
        if not (isinstance(self.setting, type) and issubclass(self.setting, Setting)):
            raise TypeError(f"A procedure is registered with a subclass of Setting, not with {self.setting!r}.")
        for field, allowed in (("procedure", None), ("family", get_args(Family)), ("space", get_args(Space))):
            values = _literals(self.setting, field)
            if not values or self.setting.model_fields[field].default != values[0]:
                raise TypeError(
                    f"{self.setting.__name__}.{field} must be a Literal whose first value is its default, as in "
                    f'{field}: Literal["x"] = "x".'
                )
            if allowed is not None and not set(values) <= set(allowed):
                raise TypeError(f"{self.setting.__name__}.{field} can be {', '.join(allowed)}, not {values}.")
        if len(_literals(self.setting, "procedure")) > 1:
            raise TypeError(f"{self.setting.__name__}.procedure must be one name.")
        if not self.label.strip():
            raise TypeError(f"The procedure {self.name} needs a label: what people read when they choose.")
        if not callable(self.build) or len(inspect.signature(self.build).parameters) != 2:
            raise TypeError(f"The procedure {self.name} needs build(study, setting), which returns it.")


def _literals(setting: type[Setting], field: str) -> tuple[Any, ...]:
    annotation = setting.model_fields[field].annotation
    return get_args(annotation) if getattr(annotation, "__origin__", None) is Literal else ()


_ENTRIES: dict[str, Entry[Any]] = {}


def register(entry: Entry[Any]) -> None:
    """Add a procedure. Raises TypeError if the name is taken. An incomplete entry is refused when it is created."""
    if entry.name in _ENTRIES:
        raise TypeError(f"There is a procedure {entry.name} already.")
    _ENTRIES[entry.name] = entry


@contextmanager
def registered(entry: Entry[Any]) -> Iterator[None]:
    """Register a procedure for the duration of a ``with`` block, for trials and tests."""
    register(entry)
    try:
        yield
    finally:
        del _ENTRIES[entry.name]


def entries() -> tuple[Entry[Any], ...]:
    """Return all procedures, starting with the one for people."""
    return tuple(_ENTRIES.values())


def entry_named(name: str) -> Entry[Any]:
    """Return a procedure by its name. Raises WrongOption if there is none."""
    if name not in _ENTRIES:
        raise WrongOption(f"There is no `procedure` {name}. There are {', '.join(_ENTRIES)}.")
    return _ENTRIES[name]


def setting_of(procedure: str = "bayes", /, **options: object) -> Setting:
    """Return the setting of a procedure; options that are None or False count as not given.

    Raises WrongOption if the procedure does not have an option, or options do not fit together.
    """
    entry = entry_named(procedure)
    used = {name: value for name, value in options.items() if value is not None and value is not False}
    for field, allowed in (("family", entry.families), ("space", entry.spaces)):
        if field in used and used[field] not in allowed:
            what = "elicits the family" if field == "family" else "asks on the"
            raise WrongOption(
                f"The procedure {procedure} {what} {series(allowed, 'or')} only; omit or change `{field}`."
            )
    for name in used:
        if not entry.offers(name):
            having = [one.name for one in entries() if one.offers(name)]
            for_whom = f"; it belongs to {series(having)}" if having else ""
            raise WrongOption(f"The procedure {procedure} has no option `{name}`{for_whom}.")
    try:
        return setting_from({"procedure": procedure, **used})
    except ValidationError as error:
        raise wrong_option(error, next((str(part) for part in error.errors()[0]["loc"][1:]), "procedure")) from error


def wrong_option(error: ValidationError, option: str) -> WrongOption:
    """Return the first finding about options as the problem of one of them."""
    first = error.errors()[0]
    own = first["type"] == "value_error"
    return WrongOption(f"`{option}`: {first['ctx']['error'] if own else f'it {finding_words(first)}'}.")


def setting_from(fields: dict[str, Any]) -> Setting:
    """Return a setting from its stored form.

    Raises ValidationError if the fields are no setting of a registered procedure. Raises WrongOption if they do not fit
    together.
    """
    models = tuple(entry.setting for entry in entries())
    union: Any = Annotated[Union[models], Field(discriminator="procedure")]  # noqa: UP007  of a tuple
    adapter: TypeAdapter[Setting] = TypeAdapter(union)
    return adapter.validate_python({"procedure": next(iter(_ENTRIES)), **fields})


def as_packed(study: Study, setting: Setting) -> Setting:
    """Return a setting with what the coordinator of a packed study fixed; for other studies it is unchanged.

    Raises Problem if the pack fixes something that this version does not know.
    """
    if study.pack is None:
        return setting
    try:
        fixed = type(setting_from(study.pack.setting)).model_fields
        own = setting.model_dump(mode="json", exclude_none=True, exclude_unset=True, include=set(fixed))
        return setting_from({**own, **study.pack.setting})
    except ValidationError as error:
        raise Problem(
            f"“{study.title}” asks in a way that this version does not know: update elicit, or ask for another file."
        ) from error


def for_person(setting: Setting) -> Setting:
    """Return a setting for people: whole cases of real decisions, in sittings.

    Raises Problem if no elicited metric file can hold the procedure's result.
    """
    entry = entry_named(setting.procedure)
    if not entry.people:
        names = [entry.name for entry in entries() if entry.people]
        why = "" if entry.costs else ": no cost matrix represents its metric"
        raise Problem(f"The procedure {entry.name} is for simulations{why}. Ask people with {series(names, 'or')}.")
    return setting.for_person()


def procedure_for(study: Study, setting: Setting) -> Procedure:
    """Return the procedure of a setting, bound to a study.

    Raises WrongOption if options do not fit together. Raises Problem if the study does not have the model, or cannot
    provide the query space.
    """
    return entry_named(setting.procedure).build(study, setting)


Confusions = Literal["plugin", "counts"]

_SPHERES: dict[tuple[str, tuple[float, ...] | None, str | None], Sphere] = {}
_MOST_SPHERES = 8


def read_orders(texts: Sequence[str], classes: Sequence[str]) -> tuple[StatedOrder, ...] | None:
    """Return the orders stated by texts, "TRUE:PREDICTED<=TRUE:PREDICTED"; None if there are no texts.

    Raises WrongOption if a text states no order of these classes.
    """
    try:
        return tuple(read_order(text, classes) for text in texts) or None
    except Problem as problem:
        raise WrongOption(f"`never_worse`: {problem.sentence}") from problem


def read_stated(orders: Sequence[str], ordered: str | None, classes: Sequence[str]) -> dict[str, Any]:
    """Return what options state for certain, by the names of settings.

    `orders` are texts as in `read_orders`, and `ordered` is "CLASS,CLASS,...", a line of CSV. Raises WrongOption.
    """
    from elicit_app.study.mapping import parts_of

    return {
        "never_worse": read_orders(orders, classes),
        "ordered": None if ordered is None else tuple(parts_of(ordered)),
    }


def stated_orders(setting: Setting, classes: Sequence[str]) -> tuple[NeverWorse, ...]:
    """Return the orders of a setting for a study with these classes.

    Raises WrongOption if orders do not fit the classes and the family, or contradict each other.
    """
    if setting.classes_in_order:
        try:
            check_ordered(setting.classes_in_order, classes)
        except Problem as problem:
            raise WrongOption(f"`ordered`: {problem.sentence}") from problem
    try:
        return constraints_of(setting.all_orders, classes, setting.family)
    except Problem as problem:
        raise WrongOption(problem.sentence) from problem


def cases_of(study: Study, model: Predictions | None, confusions: Confusions = "counts") -> Cases:
    """Return the cases of one model of a study, or its distribution if it is synthetic (`model` None)."""
    if model is None:
        if study.distribution is None:
            raise Problem(f"“{study.title}” has no cases: simulate on the study that it was made from.")
        return Cases.exact(study.distribution.eta)
    if confusions == "counts":
        return Cases.counted(
            model.y_true, model.y_proba, study.stated_prevalence, model.people, calibrate=model.calibration
        )
    return Cases.plug_in(model.y_proba, study.stated_prevalence)


def deciders(study: Study, setting: Setting) -> tuple[Decider, ...]:
    """Return the deciders of questions for people or the laboratory: cases, a distribution, or a pack's tallies."""
    if study.pack is None:
        return tuple(cases_of(study, model) for model in models_asked(study, setting))
    return tuple(_tally(model, study) for model in _named(study.pack.models, study, setting))


def _tally(model: TalliedModel, study: Study) -> Tally:
    priced = study.wording.priced
    good = None if priced is None else PRICED[priced].good
    return Tally(model.usual, model.decided, model.places, study.stated_prevalence, good)


def models_asked(study: Study, setting: Setting) -> tuple[Predictions | None, ...]:
    """Return the models that a procedure asks about; (None,) stands for the distribution of a synthetic study."""
    if study.pack is not None:
        raise WrongOption(
            f"The `procedure` {setting.procedure} computes decisions from the cases, which “{study.title}” does not "
            "have: leave it at bayes on the frontier."
        )
    if study.distribution is not None:
        if setting.model is not None:
            raise WrongOption(f"{study.name} is synthetic and has no models; omit `model`.")
        return (None,)
    return _named(study.models, study, setting)


Model = TypeVar("Model", Predictions, TalliedModel)


def _named(models: tuple[Model, ...], study: Study, setting: Setting) -> tuple[Model, ...]:
    """Return the models that a setting selects: all, the first, or the one that it names."""
    if setting.model is None:
        return models if entry_named(setting.procedure).pools_models else models[:1]
    for model in models:
        if model.name == setting.model:
            return (model,)
    raise Problem(f"{study.name} has no model {setting.model!r}. Its models: {', '.join(study.model_names)}.")


def sphere_for(study: Study, setting: Setting) -> Sphere:
    """Return the sphere on which a procedure asks: the largest one, or the one with the stated radius."""
    model = models_asked(study, setting)[0]
    # By content, not identity, because a study sent to another process is still the same one.
    key = (study.digest or str(id(study)), study.stated_prevalence, None if model is None else model.name)
    if key not in _SPHERES:
        while len(_SPHERES) >= _MOST_SPHERES:
            _SPHERES.pop(next(iter(_SPHERES)))
        _SPHERES[key] = _largest_sphere(study, model)
    return _SPHERES[key].with_radius(setting.radius)


def measured_sphere(study: Study, model: Predictions | None) -> MeasuredSphere:
    """Return the sphere of one model, or of the points that represent a distribution; takes seconds."""
    if study.distribution is None:
        return measure_sphere(cases_of(study, model, "plugin"))
    return measure_sphere(Cases.exact(study.distribution.for_radius))


def _largest_sphere(study: Study, model: Predictions | None) -> Sphere:
    """Return the sphere of one model, or of a distribution: the radius of its points, around its whole prevalence."""
    measured = measured_sphere(study, model)
    if study.distribution is None:
        return measured
    return Sphere.around(Cases.exact(study.distribution.eta).prevalence, measured.radius)
