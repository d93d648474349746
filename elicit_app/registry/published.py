"""The entries of the published searches: dlpm, lpm, their linear-fractional forms, binary and quadratic."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from elicit_app.elicitation.procedures.search import Ask
from elicit_app.elicitation.questions import Procedure
from elicit_app.problem import WrongOption
from elicit_app.registry.entries import Confusions, Entry, Setting, cases_of, models_asked, register, sphere_for
from elicit_app.study.model import Study

DEFAULT_EPSILON = 0.01
_FINEST = 1e-12  # an interval this small still halves in double precision


class SearchSetting(Setting):
    """What all searches share; `questions` is a cap.

    Parameters
    ----------
    epsilon : float
        Tolerance, on m in [0, 1] or on an angle.
    ask : str
        all: the published questions; needed: only those that can still change the outcome; bisect: one for every
        halving, about two matrices beside the middle, and a finer result by as many questions; for experts who do not
        err.
    repair : bool
        Read a claimed descent followed by an ascent as an ascent.
    """

    epsilon: float = DEFAULT_EPSILON
    ask: Ask = "needed"
    repair: bool = False

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.repair and self.ask == "bisect":
            raise WrongOption("`repair` looks at neighbouring answers of one step, and `ask` bisect has one a step.")
        if not _FINEST <= self.epsilon < 1:
            raise WrongOption(f"`epsilon` must lie between {_FINEST:g} and 1, not at {self.epsilon:g}.")
        return self


class FrontierSetting(SearchSetting):
    """A search on the restricted frontier.

    Parameters
    ----------
    confusions : str
        plugin or counts: what steers the search in the laboratory. People are always shown what is counted.
    """

    space: Literal["frontier"] = "frontier"
    confusions: Confusions = "plugin"

    def for_person(self) -> Self:
        """Return the setting in whole cases, counted from true labels."""
        return self.model_copy(update={"person": True, "confusions": "counts"})


class SphereSetting(SearchSetting):
    """A search on the sphere of errors, which is made of estimated probabilities.

    Parameters
    ----------
    cycles : int, "auto" or None
        Passes over the angles; auto: until none moves by more than epsilon. Default 2 with ``ask="all"``, else auto.
    """

    space: Literal["sphere"] = "sphere"
    cycles: int | Literal["auto"] | None = None

    @model_validator(mode="after")
    def _check_cycles(self) -> Self:
        if isinstance(self.cycles, int) and self.cycles < 1:
            raise WrongOption("`cycles` must be at least 1, or auto.")
        return self

    def in_full(self) -> Self:
        """Return the setting with the passes that are made where it leaves them open."""
        from elicit_app.elicitation.procedures.lpm import usual_cycles

        return self.model_copy(update={"cycles": self.cycles or usual_cycles(self.ask)})


class DlpmSetting(FrontierSetting):
    """Algorithm 1 of Hiranandani et al. (NeurIPS 2019)."""

    procedure: Literal["dlpm"] = "dlpm"
    family: Literal["dlpm"] = "dlpm"


class DlfpmSetting(FrontierSetting):
    """Its linear-fractional form, which takes finer lines: what they are off by grows where they meet."""

    procedure: Literal["dlfpm"] = "dlfpm"
    family: Literal["dlfpm"] = "dlfpm"
    ask: Ask = "bisect"


class LpmSetting(SphereSetting):
    """Algorithm 2 of Hiranandani et al. (NeurIPS 2019)."""

    procedure: Literal["lpm"] = "lpm"
    family: Literal["lpm"] = "lpm"


class LfpmSetting(SphereSetting):
    """Its linear-fractional form, which takes more than the two published cycles."""

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


def _on_the_frontier(study: Study, setting: FrontierSetting) -> Procedure:
    from elicit_app.elicitation.procedures.dlpm import Dlpm
    from elicit_app.elicitation.procedures.fractional import Dlfpm

    kind = Dlpm if isinstance(setting, DlpmSetting) else Dlfpm
    return kind(
        cases_of(study, models_asked(study, setting)[0], "counts" if setting.person else setting.confusions),
        epsilon=setting.epsilon,
        ask=setting.ask,
        repair=setting.repair,
        questions=setting.questions,
        population=study.population if setting.person else None,
        names=study.wording.class_many,
    )


def _on_the_sphere(study: Study, setting: SphereSetting) -> Procedure:
    from elicit_app.elicitation.procedures.fractional import Lfpm
    from elicit_app.elicitation.procedures.lpm import Lpm

    kind = Lpm if isinstance(setting, LpmSetting) else Lfpm
    return kind(
        sphere_for(study, setting),
        epsilon=setting.epsilon,
        ask=setting.ask,
        cycles=setting.cycles,
        repair=setting.repair,
        questions=setting.questions,
        population=study.population if setting.person else None,
    )


def _for_two_classes(study: Study, setting: BinarySetting) -> Procedure:
    from elicit_app.elicitation.procedures.binary import Binary

    return Binary(
        cases_of(study, models_asked(study, setting)[0], setting.confusions),
        epsilon=setting.epsilon,
        ask=setting.ask,
        repair=setting.repair,
        questions=setting.questions,
    )


def _on_small_spheres(study: Study, setting: QuadraticSetting) -> Procedure:
    from elicit_app.elicitation.procedures.quadratic import QuadraticSearch

    return QuadraticSearch(
        sphere_for(study, setting),
        epsilon=setting.epsilon,
        ask=setting.ask,
        cycles=setting.cycles,
        repair=setting.repair,
        questions=setting.questions,
    )


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
    Entry(BinarySetting, "Published search over an angle, for two classes (binary)", _for_two_classes, narrows=True)
)
register(
    Entry(
        QuadraticSetting,
        "Linear searches on small spheres for a quadratic metric (quadratic)",
        _on_small_spheres,
        narrows=True,
        costs=False,
    )
)
