"""The entry of bayes, the procedure for people."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from elicit_app.elicitation.agenda import SITTING
from elicit_app.elicitation.orders import StatedOrder, StatedPile, piles_of
from elicit_app.elicitation.questions import Procedure
from elicit_app.elicitation.region import WORST_ERROR
from elicit_app.problem import WrongOption
from elicit_app.registry.entries import Entry, Setting, deciders, register, sphere_for, stated_orders
from elicit_app.study.model import Study
from metrics.elicited.family import is_fraction, linear_family

DEFAULT_QUESTIONS = 20
DEFAULT_CELLS = 6
CELLS_FOR_PEOPLE = 3  # more rows than these cannot be weighed against each other at a glance


class BayesSetting(Setting):
    """How bayes asks; see `Setting` for what all procedures share.

    Parameters
    ----------
    stop : bool
        It may stop before `questions` (default 20) informative questions.
    checks : bool
        Repeats and check questions come on top.
    max_cells : int or None
        On the frontier: most differing cells of a question.
    strength : bool
        Answers may say slightly or clearly.
    worst_error : float or None
        On the frontier: in every question each class is wrong less often, on both sides; 1 asks about anything that can
        be had or imagined. None is 0.5: every class is right more often than not.
    answers : str or None
        choice: which side is better; equal: the count at which both are equally bad; mixed, and None: whichever tells
        more for the time it takes. Counts are only asked for on the frontier.
    never_worse : tuple of StatedOrder or None
        Orders between mistakes that hold for certain; none is None.
    piles : tuple of StatedPile or None
        For the family lpm: mistakes of about the same consequence, the mildest pile first; none is None.
    """

    procedure: Literal["bayes"] = "bayes"
    family: Literal["lpm", "dlpm", "lfpm", "dlfpm"] = "lpm"
    space: Literal["frontier", "sphere"] = "frontier"
    stop: bool = False
    checks: bool = False
    max_cells: int | None = Field(default=None, ge=2)
    strength: bool = False
    worst_error: float | None = Field(default=None, gt=0, le=1)
    answers: Literal["choice", "equal", "mixed"] | None = None
    never_worse: tuple[StatedOrder, ...] | None = None
    piles: tuple[StatedPile, ...] | None = None

    @field_validator("never_worse")
    @classmethod
    def _none_is_none(cls, orders: tuple[StatedOrder, ...] | None) -> tuple[StatedOrder, ...] | None:
        return orders or None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if is_fraction(self.family):
            self._check_fraction()
        if self.space == "sphere" and self.family != "lpm":
            raise WrongOption("The sphere is a space of errors: its `family` can only be lpm.")
        if self.space == "sphere" and self.max_cells is not None:
            raise WrongOption("`max_cells` is about the frontier: two points of the sphere differ in every cell.")
        if self.space == "sphere" and (self.worst_error is not None or self.answers not in (None, "choice")):
            raise WrongOption("`worst_error` and `answers` are about the frontier: on the sphere sides are chosen.")
        return self

    def _check_fraction(self) -> None:
        if self.orders or self.piles or self.answers not in (None, "choice"):
            raise WrongOption(
                "A fraction is elicited by choices alone, from nothing stated: leave `never_worse`, and an `answers` "
                "other than choice out, or ask for the `family` lpm or dlpm."
            )

    @property
    def orders(self) -> tuple[StatedOrder, ...]:
        """Return the orders between mistakes that hold for certain."""
        return self.never_worse or ()

    def for_person(self) -> Self:
        """Return the setting in whole cases, few of them differing, checked; without a number, in sittings."""
        changes: dict[str, object] = {"person": True, "checks": True}
        if self.max_cells is None:
            changes["max_cells"] = CELLS_FOR_PEOPLE
        if self.questions is None:
            changes.update(questions=SITTING, stop=True)
        return self.model_copy(update=changes)

    def in_full(self) -> Self:
        """Return the setting with the numbers that bayes takes where it leaves them open."""
        taken: dict[str, object] = {"questions": self.questions or DEFAULT_QUESTIONS, "answers": "choice"}
        if self.space == "frontier":
            taken["answers"] = "choice" if is_fraction(self.family) else self.answers or "mixed"
            taken["max_cells"] = self.max_cells or DEFAULT_CELLS
            taken["worst_error"] = WORST_ERROR if self.worst_error is None else self.worst_error
        return self.model_copy(update=taken)

    def with_budget(self, questions: int | None, early_stop: bool) -> Self:
        """Return the setting after the expert asked for more questions, and whether it may stop before them."""
        if questions is None:
            return self
        return self.model_copy(update={"questions": questions, "stop": self.stop and early_stop})


def _build(study: Study, setting: BayesSetting) -> Procedure:
    from elicit_app.elicitation.procedures.bayes import Bayes

    if is_fraction(setting.family) and study.wording.priced is not None:
        raise WrongOption("Prices of amounts are linear: the `family` of this study is dlpm.")
    sphere = sphere_for(study, setting) if setting.space == "sphere" else None
    taken = setting.in_full()
    return Bayes(
        deciders(study, setting),
        family=setting.family,
        seed=setting.seed,
        population=study.population if setting.person or sphere is None else None,
        questions=taken.questions or DEFAULT_QUESTIONS,
        space=setting.space,
        sphere=None if sphere is None else (sphere.centre, sphere.radius),
        stop=setting.stop,
        checks=setting.checks,
        strength=setting.strength,
        max_cells=taken.max_cells or DEFAULT_CELLS,
        worst_error=WORST_ERROR if taken.worst_error is None else taken.worst_error,
        answers=taken.answers or "choice",
        constraints=stated_orders(setting, study.classes),
        piles=piles_of(setting.piles or (), study.classes) if linear_family(setting.family).tells_apart else (),
        purpose=setting.purpose,
        local=setting.person,
    )


register(
    Entry(
        BayesSetting,
        label="Few questions that tell most (bayes)",
        build=_build,
        people=True,
        pools_models=True,
        draws_chance=True,
    )
)
