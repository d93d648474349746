"""The entries of all procedures: bayes, the one for people, and the published searches."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, StrictBool, StrictFloat, StrictInt, field_validator, model_validator

from elicit_app.elicitation.agenda import SITTING
from elicit_app.elicitation.orders import StatedOrder, StatedPile, piles_of
from elicit_app.elicitation.procedure import Procedure
from elicit_app.elicitation.procedures.search import DEFAULT_EPSILON, Ask, Rules
from elicit_app.elicitation.region import WORST_ERROR
from elicit_app.elicitation.sphere import Sphere
from elicit_app.problem import WrongOption
from elicit_app.registry.entries import (
    Confusions,
    Entry,
    Setting,
    cases_of,
    deciders,
    models_asked,
    register,
    sphere_for,
    stated_orders,
)
from elicit_app.study.model import Study
from metrics.elicited.family import is_fraction, linear_family

DEFAULT_QUESTIONS = 20
DEFAULT_CELLS = 6
CELLS_FOR_PEOPLE = 3  # people cannot weigh more rows than this at a glance


class BayesSetting(Setting):
    """Settings of bayes; see `Setting` for those that all procedures share."""

    procedure: Literal["bayes"] = "bayes"
    family: Literal["lpm", "dlpm", "lfpm", "dlfpm"] = "lpm"
    space: Literal["frontier", "sphere"] = "frontier"
    stop: StrictBool = False  # whether it may stop before `questions` (default 20) informative questions
    checks: StrictBool = False  # whether repeats and checks are added
    max_cells: StrictInt | None = Field(default=None, ge=2)  # on the frontier: most differing cells of a question
    strength: StrictBool = False  # whether answers may say slightly or clearly
    # on the frontier: every class is wrong less often than this on both sides; 1 asks about anything achievable or
    # imagined. None is 0.5: every class is right more often than not.
    worst_error: StrictFloat | None = Field(default=None, gt=0, le=1)
    # choice: which side is better; equal: the count at which both are equally bad; mixed, and None: whichever reveals
    # more for the time it takes. Counts are asked for on the frontier only.
    answers: Literal["choice", "equal", "mixed"] | None = None
    never_worse: tuple[StatedOrder, ...] | None = None  # orders that certainly hold; no orders are None
    # for the family lpm: classes from one end of an order to the other, so that a mistake that is further off is never
    # the lesser one; no order is None
    ordered: tuple[str, ...] | None = None
    # for the family lpm: mistakes of about the same consequence, the mildest pile first; no piles are None
    piles: tuple[StatedPile, ...] | None = None

    @field_validator("never_worse", "ordered")
    @classmethod
    def _none_is_none(cls, stated: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
        return stated or None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if is_fraction(self.family):
            self._check_fraction()
        elif self.ordered and not linear_family(self.family).distinguishes_errors:
            raise WrongOption(
                "`ordered` applies to the `family` lpm: in dlpm all wrong answers for the same truth are equally bad."
            )
        if self.space == "sphere" and self.family != "lpm":
            raise WrongOption("The sphere is a space of errors: its `family` can only be lpm.")
        if self.space == "sphere" and self.person:
            raise WrongOption("Points of the sphere are not whole cases: `space` can only be frontier for a person.")
        if self.space == "sphere" and self.max_cells is not None:
            raise WrongOption("`max_cells` applies to the frontier: two points of the sphere differ in every cell.")
        if self.space == "sphere" and (self.worst_error is not None or self.answers not in (None, "choice")):
            raise WrongOption(
                "`worst_error` and `answers` apply to the frontier: on the sphere the expert chooses a side."
            )
        return self

    def _check_fraction(self) -> None:
        if self.all_orders or self.stated_piles or self.answers not in (None, "choice"):
            raise WrongOption(
                "A fraction is elicited by choices alone: omit `never_worse`, `ordered` and any `answers` other than "
                "choice, or ask for the `family` lpm or dlpm."
            )

    @property
    def orders(self) -> tuple[StatedOrder, ...]:
        """Return the orders between mistakes that certainly hold."""
        return self.never_worse or ()

    @property
    def classes_in_order(self) -> tuple[str, ...]:
        """Return the classes of which an order is stated, from one end to the other."""
        return self.ordered or ()

    def without_orders(self) -> Self:
        """Return the setting without the orders that were stated."""
        return self.model_copy(update={"never_worse": None, "ordered": None})

    @property
    def stated_piles(self) -> tuple[StatedPile, ...]:
        """Return the piles that mistakes were sorted into."""
        return self.piles or ()

    @property
    def may_stop_early(self) -> bool:
        """Return whether the questions may end before their number is used up."""
        return self.stop

    def for_person(self) -> Self:
        """Return the setting for people: whole cases, few differing cells, checks and, without a number, sittings."""
        changes: dict[str, object] = {"person": True, "checks": True}
        if self.max_cells is None:
            changes["max_cells"] = CELLS_FOR_PEOPLE
        if self.questions is None:
            changes.update(questions=SITTING, stop=True)
        return self.model_validate({**dict(self), **changes})

    def in_full(self) -> Self:
        """Return the setting with the defaults of bayes filled in."""
        taken: dict[str, object] = {"questions": self.questions or DEFAULT_QUESTIONS, "answers": "choice"}
        if self.space == "frontier":
            taken["answers"] = "choice" if is_fraction(self.family) else self.answers or "mixed"
            taken["max_cells"] = self.max_cells or DEFAULT_CELLS
            taken["worst_error"] = WORST_ERROR if self.worst_error is None else self.worst_error
        return self.model_copy(update=taken)

    def with_budget(self, questions: int | None, early_stop: bool) -> Self:
        """Return the setting after the expert asked for more questions, with or without an early stop."""
        if questions is None:
            return self
        return self.model_copy(update={"questions": questions, "stop": self.stop and early_stop})


# Settings that are passed on to bayes unchanged.
_HOW_BAYES = {"family", "space", "seed", "questions", "stop", "checks", "strength", "purpose", "answers"}
_HOW_BAYES |= {"max_cells", "worst_error"}


def _build(study: Study, setting: BayesSetting) -> Procedure:
    from elicit_app.elicitation.procedures.bayes import Bayes

    if is_fraction(setting.family) and study.wording.priced is not None:
        raise WrongOption("Prices of amounts are linear: the `family` of this study is dlpm.")
    sphere = sphere_for(study, setting) if setting.space == "sphere" else None
    apart = linear_family(setting.family).distinguishes_errors
    return Bayes(
        deciders(study, setting),
        population=study.population if sphere is None else None,
        sphere=None if sphere is None else (sphere.centre, sphere.radius),
        constraints=stated_orders(setting, study.classes),
        piles=piles_of(setting.stated_piles, study.classes) if apart else (),
        yardstick=study.yardstick,
        local=setting.person,
        **setting.in_full().model_dump(include=_HOW_BAYES, exclude_none=True),
    )


register(
    Entry(
        BayesSetting,
        label="Few but informative questions (bayes)",
        build=_build,
        people=True,
        pools_models=True,
        draws_chance=True,
    )
)


_FINEST = 1e-12  # double precision can still halve an interval of this width


class SearchSetting(Setting):
    """Settings that all searches share; `questions` is a cap."""

    epsilon: StrictFloat = DEFAULT_EPSILON  # tolerance, on m in [0, 1] or on an angle
    # all: the published questions; needed: only those that can still change the outcome; bisect: one per halving, about
    # two matrices beside the middle, with a finer result from as many questions; for experts who do not err
    ask: Ask = "needed"
    repair: StrictBool = False  # read a claimed descent followed by an ascent as an ascent

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.repair and self.ask == "bisect":
            raise WrongOption(
                "`repair` compares neighbouring answers of one step, and `ask` bisect has only one per step."
            )
        if not _FINEST <= self.epsilon < 1:
            raise WrongOption(f"`epsilon` must lie between {_FINEST:g} and 1, not at {self.epsilon:g}.")
        return self


class FrontierSetting(SearchSetting):
    """A search on the restricted frontier."""

    space: Literal["frontier"] = "frontier"
    # plugin or counts: the confusions that steer the search in the laboratory. People are always shown counts.
    confusions: Confusions = "plugin"

    def for_person(self) -> Self:
        """Return the setting in whole cases, counted from true labels."""
        return self.model_copy(update={"person": True, "confusions": "counts"})


class SphereSetting(SearchSetting):
    """A search on the sphere of errors, which is built from estimated probabilities."""

    space: Literal["sphere"] = "sphere"
    # passes over the angles; auto: until none moves by more than epsilon. Default 2 with ``ask="all"``, else auto.
    cycles: StrictInt | Literal["auto"] | None = None

    @model_validator(mode="after")
    def _check_cycles(self) -> Self:
        if isinstance(self.cycles, int) and self.cycles < 1:
            raise WrongOption("`cycles` must be at least 1, or auto.")
        return self

    def in_full(self) -> Self:
        """Return the setting with the default number of passes filled in."""
        from elicit_app.elicitation.procedures.lpm import usual_cycles

        return self.model_copy(update={"cycles": self.cycles or usual_cycles(self.ask)})


class DlpmSetting(FrontierSetting):
    """Algorithm 1 of Hiranandani et al. (NeurIPS 2019)."""

    procedure: Literal["dlpm"] = "dlpm"
    family: Literal["dlpm"] = "dlpm"

    def planned(self, n_classes: int) -> tuple[int, int]:
        """Return the fewest and the most questions for so many classes."""
        from elicit_app.elicitation.procedures.dlpm import planned

        return planned(n_classes, Rules(self.epsilon, self.ask, self.repair))


class DlfpmSetting(FrontierSetting):
    """The linear-fractional form of dlpm; it needs finer lines, because their errors grow where they meet."""

    procedure: Literal["dlfpm"] = "dlfpm"
    family: Literal["dlfpm"] = "dlfpm"
    ask: Ask = "bisect"


class LpmSetting(SphereSetting):
    """Algorithm 2 of Hiranandani et al. (NeurIPS 2019)."""

    procedure: Literal["lpm"] = "lpm"
    family: Literal["lpm"] = "lpm"

    def planned(self, n_classes: int) -> tuple[int, int]:
        """Return the fewest and the most questions for so many classes, which are the same on every sphere."""
        from elicit_app.elicitation.procedures.lpm import Lpm

        sphere = Sphere.around([1 / n_classes] * n_classes, 1.0)
        return Lpm(sphere, **self.model_dump(include=_HOW)).run().remaining()


class LfpmSetting(SphereSetting):
    """The linear-fractional form of lpm; it needs more than the two published cycles."""

    procedure: Literal["lfpm"] = "lfpm"
    family: Literal["lfpm"] = "lfpm"
    ask: Ask = "bisect"


class BinarySetting(FrontierSetting):
    """Algorithm 1 of Hiranandani et al. (AISTATS 2019), for two classes: `epsilon` is on the angle, in radians."""

    procedure: Literal["binary"] = "binary"
    family: Literal["dlpm"] = "dlpm"


class QuadraticSetting(SphereSetting):
    """Quadratic metrics by Hiranandani et al. (UAI 2022): linear searches on small spheres inside the largest one."""

    procedure: Literal["quadratic"] = "quadratic"
    family: Literal["lpm"] = "lpm"


# Settings that are passed on to a search unchanged.
_HOW = {"epsilon", "ask", "repair", "questions", "cycles"}


def _on_the_frontier(study: Study, setting: FrontierSetting) -> Procedure:
    from elicit_app.elicitation.procedures.dlpm import Binary, Dlpm
    from elicit_app.elicitation.procedures.fractional import Dlfpm

    cases = cases_of(study, models_asked(study, setting)[0], "counts" if setting.person else setting.confusions)
    how = setting.model_dump(include=_HOW)
    if isinstance(setting, BinarySetting):
        return Binary(cases, **how)
    kind = Dlpm if isinstance(setting, DlpmSetting) else Dlfpm
    population = study.population if setting.person else None
    return kind(cases, **how, population=population, names=study.wording.class_many)


def _on_the_sphere(study: Study, setting: SphereSetting) -> Procedure:
    from elicit_app.elicitation.procedures.fractional import Lfpm
    from elicit_app.elicitation.procedures.lpm import Lpm, QuadraticSearch

    sphere, how = sphere_for(study, setting), setting.model_dump(include=_HOW)
    if isinstance(setting, QuadraticSetting):
        return QuadraticSearch(sphere, **how)
    kind = Lpm if isinstance(setting, LpmSetting) else Lfpm
    return kind(sphere, **how, population=study.population if setting.person else None)


register(Entry(DlpmSetting, "Published binary search over hits (dlpm)", _on_the_frontier, people=True, narrows=True))
register(
    Entry(LpmSetting, "Published coordinate search over mistakes (lpm)", _on_the_sphere, people=True, narrows=True)
)
register(
    Entry(DlfpmSetting, "Binary searches for a fraction of hits (dlfpm)", _on_the_frontier, narrows=True, costs=False)
)
register(
    Entry(
        LfpmSetting, "Coordinate searches for a fraction of mistakes (lfpm)", _on_the_sphere, narrows=True, costs=False
    )
)
register(
    Entry(BinarySetting, "Published search over an angle, for two classes (binary)", _on_the_frontier, narrows=True)
)
register(
    Entry(
        QuadraticSetting,
        "Linear searches on small spheres for a quadratic metric (quadratic)",
        _on_the_sphere,
        narrows=True,
        costs=False,
    )
)
