"""The laboratory: a procedure asks simulated experts, and the elicited metric is compared with the true one."""

from __future__ import annotations

import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from typing import Any, Literal, TypeVar

import numpy as np

from elicit_app.elicitation.cases import Tally
from elicit_app.elicitation.oracles import EXACT_MATCHING, MajorityOracle, Matching, Oracle
from elicit_app.elicitation.oracles import run as drive
from elicit_app.elicitation.procedure import Outcome, Procedure
from elicit_app.elicitation.questions import Asked
from elicit_app.experiments.measures import (
    Achievable,
    CountedOutcomes,
    JudgedPairs,
    LowerBoundary,
    ModelDecisions,
    errors,
)
from elicit_app.experiments.people import LINEAR, MONOTONE, NO_NOISE, Noise, Person, Voters
from elicit_app.experiments.simulated import SimulatedRun, Simulation
from elicit_app.experiments.truths import Kind, Metric, Values, true_metric
from elicit_app.problem import WrongOption
from elicit_app.registry import Setting, entry_named, procedure_for
from elicit_app.registry.entries import cases_of, deciders, sphere_for
from elicit_app.session.result import by_the_yardstick
from elicit_app.study.model import Study

Result = TypeVar("Result")

# Random streams within one run.
_TRUTH, _PAIRS, _ORACLE, _PROCEDURE = range(4)


@dataclass(frozen=True)
class Experts:
    """The simulated experts."""

    weights: tuple[float, ...] | None = None  # the true weights of every run; None draws them
    truth: Kind = "iid"
    noise: Noise = NO_NOISE  # how the experts err
    votes: int = 1  # how often each question is asked; the majority counts
    strength: bool = False  # whether answers say slightly or clearly
    person: Person = LINEAR  # how results are valued, given the weights
    matching: Matching = EXACT_MATCHING  # how equal points are found
    ratio: float | None = None  # ratio of the largest to the smallest weight, to which random weights are stretched
    voters: Voters | None = None  # several experts who answer together, instead of one with `noise`
    # denominator of a fraction by which they value results; see `true_metric`
    denominator: tuple[float, ...] | Literal["random"] | None = None

    def __post_init__(self) -> None:
        if self.votes < 1:
            raise WrongOption("`votes` must be at least 1.")
        if self.voters is not None and (self.noise.kind != "none" or self.votes > 1):
            raise WrongOption("`voters` already states how each voter errs: omit `noise` and `votes`.")
        if self.ratio is not None and self.weights is not None:
            raise WrongOption("`ratio` applies only to random weights: omit it or `weights`.")
        if self.ratio is not None and self.denominator is not None:
            raise WrongOption("`ratio` applies only to linear metrics: omit it or `denominator`.")
        if self.truth != "iid" and self.weights is not None:
            raise WrongOption("`truth` says how random weights are drawn: omit it or `weights`.")

    @classmethod
    def stated(
        cls,
        *,
        weights: tuple[float, ...] | None = None,
        truth: Kind = "iid",
        noise: str = "none",
        votes: int = 1,
        strength: bool = False,
        person: str = "linear",
        equal: float | None = None,
        rounding: bool = False,
        shrink: float = 1.0,
        ratio: float | None = None,
        voters: str | None = None,
        denominator: tuple[float, ...] | Literal["random"] | None = None,
        psi: str | None = None,
    ) -> Experts:
        """Return the experts that options describe, as named by `elicit simulate` and by sweeps.

        Raises WrongOption if a text describes nothing, a number is out of range, or options do not fit together.
        """
        if psi is not None and person != "linear":
            raise WrongOption("`psi` and `person` both state how results are valued: omit one of them.")
        return cls(
            weights=weights,
            truth=truth,
            noise=Noise.parse(noise),
            votes=votes,
            strength=strength,
            person=Person.parse(person) if psi is None else Person.of_psi(psi),
            matching=Matching(equal, rounding, shrink),
            ratio=ratio,
            voters=None if voters is None else Voters.parse(voters),
            denominator=denominator,
        )

    @property
    def noise_needs_pairs(self) -> bool:
        """Return whether their errors depend on the pairs on which a metric is judged."""
        noise = self.noise if self.voters is None else self.voters.noise
        return self.strength or noise.kind == "logit"

    def as_json(self) -> dict[str, object]:
        """Return the experts as part of a JSON object."""
        return {
            "truth": self.truth,
            "noise": str(self.noise),
            "votes": self.votes,
            "person": "linear" if self.person.kind in MONOTONE else str(self.person),
            "equal": self.matching.error,
            "rounding": self.matching.rounded,
            "shrink": self.matching.shrink,
            "ratio": self.ratio,
            "voters": None if self.voters is None else str(self.voters),
            "denominator": list(self.denominator) if isinstance(self.denominator, tuple) else self.denominator,
            "psi": self.person.kind if self.person.kind in MONOTONE else None,
        }

    @property
    def answers_per_question(self) -> int:
        """Return the number of answers that one question gets."""
        return self.votes if self.voters is None else self.voters.number

    def oracle(self, values: Values, pairs: JudgedPairs | None, rng: np.random.Generator) -> Oracle:
        """Return the oracle that answers; logistic noise is calibrated on `pairs`."""
        who = self.noise if self.voters is None else self.voters
        one = who.oracle(values, pairs, rng, matching=self.matching, strength=self.strength)
        return one if self.votes == 1 else MajorityOracle(one, self.votes)


def split_options(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split options of `elicit simulate` or of a sweep into those about asking and those about the experts.

    Whether answers have a strength concerns both.
    """
    of_experts = signature(Experts.stated).parameters
    asking = {name: value for name, value in options.items() if name not in of_experts or name == "strength"}
    return asking, {name: value for name, value in options.items() if name in of_experts}


class Laboratory:
    """One study and setting, ready for any number of runs; the setting's seed is that of the whole series."""

    def __init__(self, study: Study, setting: Setting, experts: Experts) -> None:
        self.study, self.setting, self.experts = study, setting, experts

    @cached_property
    def achievable(self) -> Achievable:
        """Return the matrices on which agreement and regret are judged: counted decisions of models, or the sphere."""
        if self.setting.space == "sphere":
            return LowerBoundary(sphere_for(self.study, self.setting))
        if self.study.wording.priced is not None:
            return CountedOutcomes([one for one in deciders(self.study, self.setting) if isinstance(one, Tally)])
        models = self.study.models or (None,)
        return ModelDecisions([cases_of(self.study, model) for model in models])

    @cached_property
    def _procedure(self) -> Procedure:
        return procedure_for(self.study, self.setting)

    def procedure(self, seed: int) -> Procedure:
        """Return the procedure for one run; the published ones are not random and are made once."""
        if not entry_named(self.setting.procedure).draws_chance:
            return self._procedure
        return procedure_for(self.study, self.setting.model_copy(update={"seed": seed}))

    def values(self, truth: Metric) -> Values:
        """Return how the experts value results, given their true metric."""
        return self.experts.person.values(truth, self.study.population)

    def truth(self, rng: np.random.Generator) -> Metric:
        """Return the true metric of a run; see `true_metric`."""
        who = self.experts
        return true_metric(
            self.study,
            self.setting,
            rng,
            stated=who.weights,
            kind=who.truth,
            ratio=who.ratio,
            denominator=who.denominator,
        )

    def run(self, number: int, *, judged: bool = True) -> SimulatedRun:
        """Simulate run `number` (from 0); all randomness comes from SeedSequence([seed, number]).

        Agreement and regret, NaN unless `judged`, take most of the time of a published search.
        """
        return _Sitting(self, number, judged=judged).run

    def run_with_snapshots(self, number: int, every: int) -> list[SimulatedRun]:
        """Simulate run `number`, and return what was known after each `every` answers; the last is the whole run."""
        sitting = _Sitting(self, number)
        earlier = range(every, len(sitting.asked), every)
        return [*(sitting.snapshot(answers) for answers in earlier), sitting.run]


class _Sitting:
    """One simulated expert, asked until the procedure stops."""

    def __init__(self, laboratory: Laboratory, number: int, *, judged: bool = True) -> None:
        self._laboratory, self._judged = laboratory, judged
        seeds = np.random.SeedSequence([laboratory.setting.seed, number]).spawn(4)
        self._truth = laboratory.truth(np.random.default_rng(seeds[_TRUTH]))
        self._values = laboratory.values(self._truth)
        self._pairs = None
        if judged or laboratory.experts.noise_needs_pairs:
            self._pairs = JudgedPairs.draw(self._values, laboratory.achievable, np.random.default_rng(seeds[_PAIRS]))
        oracle = laboratory.experts.oracle(self._values, self._pairs, np.random.default_rng(seeds[_ORACLE]))
        self._procedure = laboratory.procedure(int(seeds[_PROCEDURE].generate_state(1)[0]))
        started = time.perf_counter()
        outcome, asked = drive(self._procedure, oracle)
        self._seconds = time.perf_counter() - started
        self.asked = tuple(asked)
        self.run = self._judged_run(outcome, self.asked)

    def snapshot(self, answers: int) -> SimulatedRun:
        """Return what was known after a number of answers, as if the expert had stopped there."""
        return self._judged_run(self._procedure.conclude(self.asked[:answers], "expert"), self.asked[:answers])

    def _judged_run(self, outcome: Outcome, asked: tuple[Asked, ...]) -> SimulatedRun:
        outcome = by_the_yardstick(outcome, self._laboratory.study)
        elicited = Metric.elicited(outcome)
        pairs = self._pairs if self._judged else None
        l1, l2, linf = errors(self._truth.weights, outcome.weights)
        return SimulatedRun(
            true_weights=tuple(map(float, self._truth.weights)),
            elicited_weights=tuple(map(float, outcome.weights)),
            bounded=outcome.bounded,
            questions=len(asked) * self._laboratory.experts.answers_per_question,
            stopped=outcome.stopped,
            error_l1=l1,
            error_l2=l2,
            error_linf=linf,
            agreement=np.nan if pairs is None else pairs.agreement(elicited),
            regret=np.nan if pairs is None else pairs.regret(self._values, elicited),
            seconds=self._seconds,
            outcome=outcome,
            asked=asked,
        )


def in_processes(
    of: Callable[..., Result], tasks: Iterable[tuple[Any, ...]], jobs: int, *, ordered: bool = True
) -> Iterator[Result]:
    """Yield the results of a module-level function for tuples of arguments, computed by processes.

    Results come in the order of the tasks or, unless `ordered`, as they are done. An interruption ends the processes
    silently.
    """
    from joblib import Parallel, delayed

    work = Parallel(n_jobs=jobs, return_as="generator" if ordered else "generator_unordered")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".* tasks have been successfully executed")
        with _ctrl_c_ignored():
            results = work(delayed(of)(*task) for task in tasks)
        yield from results


@contextmanager
def _ctrl_c_ignored() -> Iterator[None]:
    """Let Ctrl+C do nothing for a moment, and nothing ever to the processes that start in it, which would print it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def simulate(
    study: Study,
    setting: Setting,
    experts: Experts | None = None,
    *,
    runs: int = 1,
    jobs: int = 1,
    advance: Callable[[int], object] = lambda done: None,
) -> Simulation:
    """Let a procedure ask simulated experts, by default noise-free ones with random metrics.

    Run r draws everything from SeedSequence([setting.seed, r]), whatever the number of processes (`jobs`). `advance` is
    called with the number of runs just finished. Raises WrongOption if options do not fit together. Raises Problem if
    the study cannot provide what is asked for.
    """
    if runs < 1 or jobs < 1:
        raise WrongOption("`runs` and `jobs` must be at least 1.")
    laboratory = Laboratory(study, setting, experts or Experts())
    # Fail here, before any process is started.
    laboratory.procedure(setting.seed)
    laboratory.truth(np.random.default_rng(0))
    if jobs == 1 or runs == 1:
        return Simulation(
            study, setting, tuple(_one_by_one(laboratory, range(runs), advance)), laboratory.experts.as_json()
        )
    # A few portions per process, because each process prepares the study once.
    portions = [part.tolist() for part in np.array_split(np.arange(runs), min(runs, 4 * jobs))]
    found: list[SimulatedRun] = []
    tasks = [(study, setting, laboratory.experts, part) for part in portions]
    for portion in in_processes(_portion, tasks, jobs):
        found.extend(portion)
        advance(len(portion))
    return Simulation(study, setting, tuple(found), laboratory.experts.as_json())


def _portion(study: Study, setting: Setting, experts: Experts, numbers: Sequence[int]) -> list[SimulatedRun]:
    return _one_by_one(Laboratory(study, setting, experts), numbers, lambda done: None)


def _one_by_one(laboratory: Laboratory, numbers: Sequence[int], advance: Callable[[int], object]) -> list[SimulatedRun]:
    found = []
    for number in numbers:
        found.append(laboratory.run(number))
        advance(1)
    return found
