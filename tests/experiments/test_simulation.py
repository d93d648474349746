"""The laboratory: the same seed gives the same result, published figures come out, and everything is said in JSON."""

import json
import math
import signal
import sys

import numpy as np
import pytest

from elicit_app.elicitation.oracles import Matching
from elicit_app.experiments.people import Noise, Person, Voters
from elicit_app.experiments.simulated import MEASURES, metric_of, settings_used, transcript_line
from elicit_app.experiments.simulation import Experts, in_processes, simulate
from elicit_app.problem import Problem, WrongOption
from elicit_app.registry import setting_of
from elicit_app.registry.entries import read_orders
from elicit_app.registry.procedures import BayesSetting, DlfpmSetting, DlpmSetting, LfpmSetting, LpmSetting
from elicit_app.session.result import save_metric
from elicit_app.study.opening import open_study
from metrics import ElicitedMetric
from metrics.elicited.metric_parts import DEVIATIONS

SOFTMAX, PAPER, WINE = open_study("softmax-3"), open_study("paper-3"), open_study("wine")
DLPM = DlpmSetting(seed=4)


def told(simulation) -> list[dict]:
    return [{name: value for name, value in run.as_json().items() if name != "seconds"} for run in simulation.runs]


@pytest.mark.parametrize(
    ("name", "procedure", "weights", "questions"),
    [
        ("softmax-3", "dlpm", (0.21, 0.59, 0.20), 56),
        ("softmax-3", "dlpm", (0.23, 0.15, 0.62), 56),
        ("softmax-4", "dlpm", (0.22, 0.13, 0.14, 0.52), 84),
        ("softmax-4", "dlpm", (0.58, 0.17, 0.08, 0.18), 84),
        ("paper-3", "dlpm", (0.21, 0.59, 0.20), 56),
        ("paper-3", "lpm", (-0.37, -0.89, -0.09, -0.23, -0.04, -0.03), 320),
        ("paper-4", "lpm", (-0.54, -0.10, -0.62, -0.52, -0.03, -0.07, -0.11, -0.07, -0.14, -0.03, -0.03, -0.04), 704),
    ],
)
def test_the_published_tables(name, procedure, weights, questions):
    study = open_study(name)
    full, needed = (
        simulate(
            study, setting_of(procedure, ask=ask, cycles=2 if procedure == "lpm" else None), Experts(weights)
        ).runs[0]
        for ask in ("all", "needed")
    )
    assert full.questions == questions
    assert full.error_linf < 0.015
    assert full.bounded == (None,) * len(weights)
    assert full.agreement > 0.99
    assert full.elicited_weights == needed.elicited_weights
    assert needed.questions <= questions / 2


def test_a_ratio_that_the_paper_cannot_identify_is_bounded():
    run = simulate(PAPER, DLPM, Experts((0.23, 0.15, 0.62))).runs[0]
    assert run.stopped == "bounded"
    for true, (low, high) in zip(run.true_weights, run.bounded, strict=True):
        assert low <= true <= high


@pytest.mark.parametrize(
    ("study", "setting"),
    [
        (SOFTMAX, DLPM),
        (WINE, DlpmSetting(confusions="counts", model="Four quick tests")),
        (SOFTMAX, LpmSetting(cycles=1, epsilon=0.1)),
        (WINE, LpmSetting(cycles=1, epsilon=0.1)),
        (SOFTMAX, DlfpmSetting()),
        (SOFTMAX, LfpmSetting(cycles=1, epsilon=0.1)),
        (WINE, BayesSetting(questions=2)),
        (WINE, BayesSetting(questions=2, family="dlpm")),
        (SOFTMAX, BayesSetting(questions=2, space="sphere")),
    ],
)
def test_every_procedure_runs_and_the_same_seed_gives_the_same_runs(study, setting):
    experts = Experts(noise=Noise("flip", 0.1))
    first = simulate(study, setting, experts, runs=2)
    assert told(first)[0]["true_weights"] != told(first)[1]["true_weights"]
    # The same again; a run does not depend on how many there are.
    assert told(simulate(study, setting, experts, runs=1)) == told(first)[:1]
    for run in first.runs:
        assert 0 <= run.agreement <= 1
        assert 0 <= run.regret <= 1
        assert run.questions == len(run.asked)


def test_jobs_do_not_change_the_result():
    done: list[int] = []
    alone = simulate(SOFTMAX, DLPM, runs=3)
    together = simulate(SOFTMAX, DLPM, runs=3, jobs=2, advance=done.append)
    assert told(alone) == told(together)
    assert sum(done) == 3


@pytest.mark.skipif(sys.platform == "win32", reason="processes are started differently")
def test_other_processes_leave_an_interrupt_to_this_one():
    before = signal.getsignal(signal.SIGINT)
    assert [*in_processes(signal.getsignal, [(signal.SIGINT,)] * 2, 2)] == [signal.SIG_IGN] * 2
    assert signal.getsignal(signal.SIGINT) is before


def test_another_seed_gives_other_runs():
    other = DLPM.model_copy(update={"seed": 5})
    assert told(simulate(SOFTMAX, DLPM)) != told(simulate(SOFTMAX, other))


def test_votes_are_counted_and_help():
    experts = [Experts(noise=Noise("flip", 0.1), votes=votes) for votes in (1, 5)]
    setting = DLPM.model_copy(update={"ask": "all"})
    once, five = (simulate(WINE, setting, one, runs=15) for one in experts)
    assert {run.questions for run in once.runs} == {56}
    assert {run.questions for run in five.runs} == {280}
    assert five.values("error_linf").mean() < once.values("error_linf").mean()


@pytest.mark.parametrize(
    ("procedure", "options", "used"),
    [
        ("bayes", {}, {"questions": 20, "answers": "mixed", "max_cells": 6, "worst_error": 0.5}),
        ("bayes", {"space": "sphere"}, {"questions": 20, "answers": "choice", "max_cells": None}),
        ("lpm", {"ask": "all"}, {"cycles": 2, "questions": None, "epsilon": 0.01}),
        ("lpm", {}, {"cycles": "auto"}),
    ],
)
def test_what_nobody_stated_is_reported_as_it_was_used(procedure, options, used):
    told_ = settings_used(WINE, setting_of(procedure, **options), {})
    assert {name: told_[name] for name in used} == used


def test_the_json_has_the_stated_fields_and_no_infinity():
    simulation = simulate(WINE, DLPM, runs=3)
    told_ = json.loads(json.dumps(simulation.as_json(), allow_nan=False))
    assert list(told_)[:6] == ["study", "procedure", "family", "space", "classes", "version"]
    assert list(told_)[-2:] == ["runs", "summary"]
    assert {"seed", "noise", "votes", "truth"} <= set(told_)
    assert set(told_["runs"][0]) == {
        *(
            "true_weights",
            "elicited_weights",
            "bounded",
            "stopped",
            "intervals",
            "range_factor",
            "covered",
            "asked",
            "linear",
            "effective_draws",
        ),
        *MEASURES,
    }
    assert told_["summary"]["runs"] == 3
    assert told_["summary"]["error_linf"]["most"] == max(run["error_linf"] for run in told_["runs"])
    assert "covered" not in told_["summary"]  # a search has no ranges
    # On the paper's law the ratios of a fraction may have no bound at all.
    fraction = simulate(PAPER, DlfpmSetting())
    assert fraction.runs[0].stopped == "bounded"
    json.dumps(fraction.as_json(), allow_nan=False)


def test_the_metric_file_says_where_it_comes_from(tmp_path):
    simulation = simulate(PAPER, DLPM, Experts((0.23, 0.15, 0.62)))
    path = save_metric(metric_of(simulation), tmp_path / "new" / "paper.metric.json")
    metric = ElicitedMetric.load(path)
    np.testing.assert_allclose(metric.weights, simulation.runs[0].elicited_weights)
    assert metric.provenance.procedure == "dlpm"
    assert metric.provenance.expert == "simulated"
    assert metric.provenance.questions == simulation.runs[0].questions
    assert metric.intervals is not None  # what is only bounded is not told as a number
    assert not math.isinf(metric.intervals[..., 0].max())
    with_samples = metric_of(simulate(WINE, BayesSetting(questions=3)))
    assert with_samples.samples is not None
    assert 0 < len(with_samples.quality.never_asked) < 6
    assert DEVIATIONS not in with_samples.provenance.parameters, "with few mistakes they are no matter of learning"
    digits = metric_of(simulate(open_study("digits"), BayesSetting(questions=3)))
    assert len(digits.provenance.parameters[DEVIATIONS]) == 3


def test_options_that_do_not_go_together_are_refused_before_any_run():
    with pytest.raises(WrongOption, match="at least 1"):
        simulate(SOFTMAX, DLPM, runs=0)
    with pytest.raises(WrongOption, match="votes"):
        simulate(SOFTMAX, DLPM, Experts(votes=0))
    with pytest.raises(WrongOption, match="structured"):
        simulate(SOFTMAX, DLPM, Experts(truth="structured"), jobs=2, runs=4)
    # Settings that had no effect stood in the record as if they had one.
    for one in ({"ratio": 5.0}, {"truth": "structured"}):
        with pytest.raises(WrongOption, match="random weights"):
            Experts((0.5, 0.3, 0.2), **one)
    with pytest.raises(WrongOption, match="linear metrics"):
        Experts(ratio=5.0, denominator="random")
    with pytest.raises(WrongOption, match="must be finite"):
        simulate(SOFTMAX, DLPM, Experts(denominator=(1.0, 1.0, np.nan)))
    with pytest.raises(WrongOption, match="has 3 weights"):
        simulate(SOFTMAX, DLPM, Experts((0.5, 0.5)))
    with pytest.raises(Problem, match="no models"):
        simulate(SOFTMAX, DLPM.model_copy(update={"model": "x"}))


@pytest.mark.parametrize(
    ("setting", "orders", "small", "large"),
    [
        ({"questions": 3}, ["Barolo:Barbera<=Barbera:Barolo", "Barbera:Barolo<=Barbera:Grignolino"], [1, 4], [4, 5]),
        ({"questions": 4, "family": "dlpm"}, ["Barolo<=Barbera"], [0], [2]),
        ({"questions": 3, "space": "sphere"}, ["Barolo:Barbera<=Barbera:Barolo"], [1], [4]),
    ],
)
def test_simulated_experts_and_every_draw_keep_the_stated_orders(setting, orders, small, large):
    asked = BayesSetting(never_worse=read_orders(orders, WINE.classes), seed=3, **setting)
    truths = []
    for run in simulate(WINE, asked, Experts(noise=Noise.parse("flip:0.3")), runs=2).runs:
        for weights in (run.true_weights, run.elicited_weights, *run.outcome.samples):
            sizes = np.abs(weights)
            assert (sizes[small] <= sizes[large] + 1e-12).all()
        truths.append(run.true_weights)
    assert len(set(truths)) == 2


def test_weights_that_break_a_stated_order_are_refused():
    asked = BayesSetting(family="dlpm", never_worse=read_orders(["Barolo<=Barbera"], WINE.classes))
    with pytest.raises(WrongOption, match="violate the stated order Barolo<=Barbera"):
        simulate(WINE, asked, Experts((0.5, 0.2, 0.3)))
    assert simulate(WINE, asked.model_copy(update={"questions": 2}), Experts((0.3, 0.2, 0.5))).runs[0].questions == 2


def test_orders_that_hardly_any_expert_keeps_are_said_to_be_too_many():
    digits = open_study("digits")
    chain = [f"{one}:{(one + 1) % 10}<={one + 1}:{(one + 2) % 10}" for one in range(9)]
    asked = BayesSetting(never_worse=read_orders(chain, digits.classes))
    with pytest.raises(Problem, match="None of 20,000 random experts keeps all the stated orders"):
        simulate(digits, asked)


@pytest.mark.parametrize(
    ("experts", "answers"),
    [
        (Experts(noise=Noise("weights", 0.6), matching=Matching(0.6, rounded=True, shrink=0.7)), "equal"),
        (Experts(person=Person("concave", 0.6), noise=Noise("weights", 0.3)), "equal"),
        (Experts(person=Person("minimax")), "choice"),
        (Experts(person=Person("threshold", 0.05)), "choice"),
        (Experts(person=Person("f1"), noise=Noise("logit", 0.8)), "choice"),
        (Experts(ratio=100.0), "equal"),
        (Experts(voters=Voters(3, Noise("weights", 0.6))), "equal"),
        (Experts(voters=Voters(3, Noise("flip", 0.2))), "choice"),
    ],
)
def test_every_kind_of_person_can_be_simulated(experts, answers):
    setting = BayesSetting(questions=2, seed=1, answers=answers)
    first = simulate(WINE, setting, experts)
    assert told(first) == told(simulate(WINE, setting, experts))
    assert first.summary["covered"]["mean"] == np.mean([run.covered for run in first.runs])
    for run in first.runs:
        assert 0 <= run.agreement <= 1
        assert run.range_factor > 1
        assert 0 <= run.covered <= 1
        assert sum(run.kinds.values()) == len(run.asked)
        assert run.questions == len(run.asked) * experts.answers_per_question
        json.dumps([transcript_line(0, asked) for asked in run.asked], allow_nan=False)


@pytest.mark.parametrize(
    "wrong",
    [{"voters": Voters(3, Noise("flip", 0.2)), "votes": 3}, {"ratio": 10.0, "weights": (0.2, 0.3, 0.5)}, {"votes": 0}],
)
def test_people_that_contradict_themselves_are_wrong_usage(wrong):
    with pytest.raises(WrongOption):
        Experts(**wrong)


@pytest.mark.parametrize("text", ["3", "0:none", "x:flip:0.1", "3:flip"])
def test_voters_that_are_none_are_wrong_usage(text):
    with pytest.raises(WrongOption, match="voters"):
        Voters.parse(text)
