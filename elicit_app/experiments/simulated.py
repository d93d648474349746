"""Results of simulations: runs, their summary, and the object that `elicit simulate --json` prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property

import numpy as np

import elicit_app
from elicit_app.elicitation.belief import ENDS, prefix_digests
from elicit_app.elicitation.procedure import Bound, Outcome
from elicit_app.elicitation.questions import Asked, Matrix, Purpose
from elicit_app.problem import WrongOption
from elicit_app.registry import Setting, entry_named
from elicit_app.session.result import elicited
from elicit_app.session.trust_findings import never_asked
from elicit_app.study.model import Study
from metrics import ElicitedMetric, Provenance, Quality
from metrics.elicited.family import is_fraction
from metrics.elicited.metric_parts import ranges_of_draws

MEASURES = ("questions", "error_l1", "error_l2", "error_linf", "agreement", "regret", "seconds")
_OF_RANGES = ("range_factor", "covered")  # known if every run has ranges


@dataclass(frozen=True, eq=False)
class SimulatedRun:
    """One simulated expert."""

    # in the family's normalisation
    true_weights: tuple[float, ...]
    elicited_weights: tuple[float, ...]
    bounded: tuple[Bound, ...]  # per weight None, or (lo, hi)
    questions: int  # number of answers, including votes
    stopped: str  # why the procedure stopped
    # norms of elicited minus true weights
    error_l1: float
    error_l2: float
    error_linf: float
    agreement: float  # share of random pairs of achievable matrices on which both metrics prefer the same side
    regret: float  # share of the possible utility lost by choosing with the elicited metric, in [0, 1]
    seconds: float  # time taken by the procedure and its answers
    outcome: Outcome  # everything that was learned
    asked: tuple[Asked, ...] = field(repr=False)

    @property
    def range_factor(self) -> float | None:
        """Return the median of sqrt(high / low) over the 90 % ranges of all ratios of weights; None without draws."""
        ranges = self._log_ranges
        return None if ranges is None else float(np.exp(np.median(ranges[1] - ranges[0]) / 2))

    @property
    def covered(self) -> float | None:
        """Return the share of true ratios of weights within their 90 % range; None without draws."""
        ranges = self._log_ranges
        if ranges is None:
            return None
        true = _log_ratios(np.array(self.true_weights))
        return float(np.mean((ranges[0] <= true) & (true <= ranges[1])))

    @property
    def kinds(self) -> dict[str, int]:
        """Return the number of answers that chose a side (or neither), and of those that named an equal point."""
        equal = sum(asked.answer.moved is not None for asked in self.asked)
        return {"choice": len(self.asked) - equal, "equal": equal}

    @cached_property
    def _log_ranges(self) -> Matrix | None:
        """Return the ends of the 90 % ranges of all log-ratios, shape (2, ratios)."""
        if self.outcome.samples is None:
            return None
        ratios = _log_ratios(self.outcome.samples)
        return np.asarray(np.quantile(ratios, ENDS, axis=0))

    @property
    def intervals(self) -> tuple[tuple[float, float], ...] | None:
        """Return the 90 % interval of every weight from the draws; None for a procedure without draws."""
        if self.outcome.samples is None:
            return None
        return tuple((low, high) for low, high in ranges_of_draws(self.outcome.samples).tolist())

    def as_json(self) -> dict[str, object]:
        """Return the run as printed by `elicit simulate --json`; an infinite end is null."""
        bounded = [None if one is None else [_finite(one[0]), _finite(one[1])] for one in self.bounded]
        return {
            "true_weights": list(self.true_weights),
            "elicited_weights": list(self.elicited_weights),
            "bounded": bounded,
            "questions": self.questions,
            "stopped": self.stopped,
            **{name: _finite(getattr(self, name)) for name in MEASURES if name != "questions"},
            "intervals": None if self.intervals is None else [list(ends) for ends in self.intervals],
            "range_factor": _finite(self.range_factor),
            "covered": self.covered,
            "effective_draws": self.outcome.effective_draws,
            "linear": True if self.outcome.linear is None else self.outcome.linear,
            "asked": self.kinds,
        }


@dataclass(frozen=True, eq=False)
class Simulation:
    """Simulated experts of one study and setting."""

    study: Study  # what they were asked about
    setting: Setting
    runs: tuple[SimulatedRun, ...]  # in order of their seeds
    experts: Mapping[str, object] = field(default_factory=dict)  # the simulated experts, see `Experts.as_json`

    def values(self, measure: str) -> Matrix:
        """Return a measure for every run; NaN where it is not known."""
        return np.array([getattr(run, measure) for run in self.runs], dtype=np.float64)

    @property
    def measures(self) -> tuple[str, ...]:
        """Return the names of the measures that are known of every run."""
        return *MEASURES, *(name for name in _OF_RANGES if np.isfinite(self.values(name)).all())

    @cached_property
    def summary(self) -> dict[str, object]:
        """Return mean, median, minimum and maximum of every measure, and how often each reason to stop occurred."""
        found: dict[str, object] = {"runs": len(self.runs)}
        for measure in self.measures:
            values = self.values(measure)
            found[measure] = {
                "mean": float(values.mean()),
                "median": float(np.median(values)),
                "least": float(values.min()),
                "most": float(values.max()),
            }
        found["stopped"] = dict(sorted(Counter(run.stopped for run in self.runs).items()))
        found["bounded"] = sum(any(one is not None for one in run.bounded) for run in self.runs)
        return found

    def as_json(self) -> dict[str, object]:
        """Return the object that `elicit simulate --json` prints."""
        return {
            **settings_used(self.study, self.setting, self.experts),
            "runs": [run.as_json() for run in self.runs],
            "summary": self.summary,
        }


def settings_used(study: Study, setting: Setting, experts: Mapping[str, object]) -> dict[str, object]:
    """Return all settings that runs depend on, by name, as JSON objects and tables of runs hold them.

    `experts` is the result of `Experts.as_json`.
    """
    return {
        "study": study.name,
        "procedure": setting.procedure,
        "family": setting.family,
        "space": setting.space,
        "classes": list(study.classes),
        "version": elicit_app.__version__,
        **setting.in_full().model_dump(mode="json", exclude={"procedure", "family", "space", "person"}),
        **experts,
    }


def transcript_line(run: int, asked: Asked) -> dict[str, object]:
    """Return a question (with a population) and its answer as a line of `--transcript`; matrices are counts.

    Runs are numbered from 0.
    """
    question, answer = asked
    kind = "equal" if question.asks_equal else "choice"
    if question.purpose is not Purpose.INFORMATIVE:
        kind = question.purpose.value
    moved = answer.moved
    return {
        "run": run,
        "first": question.first.tolist(),
        "second": question.second.tolist(),
        "population": question.population,
        "kind": kind,
        "hypothetical": question.hypothetical,
        "far": question.far,
        "answer": answer.choice.value,
        "strength": None if answer.strength is None else answer.strength.value,
        "moved": None if moved is None else asdict(moved),
    }


def _log_ratios(weights: Matrix) -> Matrix:
    """Return the log-ratios of all pairs of weights, shape (..., ratios); a weight of 0 gives an infinite one."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(np.abs(weights))
        one, other = np.triu_indices(logs.shape[-1], 1)
        return np.asarray(np.nan_to_num(logs[..., one] - logs[..., other], posinf=np.inf, neginf=-np.inf))


def _finite(value: float | None) -> float | None:
    return value if value is not None and np.isfinite(value) else None


def check_has_costs(setting: Setting) -> None:
    """Refuse a setting whose metric has no cost matrix.

    Raises WrongOption if the metric is linear-fractional or quadratic.
    """
    if is_fraction(setting.family):
        raise WrongOption(f"A metric of the family {setting.family} is a fraction and has no cost matrix; omit `out`.")
    if not entry_named(setting.procedure).costs:
        raise WrongOption(f"What the procedure {setting.procedure} elicits has no cost matrix; omit `out`.")


def metric_of(simulation: Simulation) -> ElicitedMetric:
    """Return the metric that the only run elicited, with its provenance."""
    study, setting, (run,) = simulation.study, simulation.setting, simulation.runs
    provenance = Provenance(
        procedure=setting.procedure,
        parameters=setting.model_dump(mode="json", exclude_none=True),
        seed=setting.seed,
        questions=run.questions,
        answers_digest=prefix_digests(run.asked)[-1].hex(),
        expert="simulated",
    )
    quality = Quality(simulated=True, never_asked=never_asked(study, run.outcome.family, run.asked))
    return elicited(study, run.outcome, f"{study.title}, simulated expert", provenance, quality)
