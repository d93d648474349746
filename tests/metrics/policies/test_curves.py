"""Curves over a ratio: at the metric's own ratio they are the judgement, and they can be drawn."""

import numpy as np
import polars
import pytest

from elicit_app.study import open_study
from metrics import ElicitedMetric, confusion_matrix, cost_curve, decision_curve, judge, policy_curves
from metrics.errors import InputError


def metric(ratio=3.6):
    return ElicitedMetric.from_cost_matrix(
        ["malignant", "benign"], [[0, ratio], [1, 0]], yardstick=("benign", "malignant"), population=1_000
    )


def test_at_a_ratio_costs_and_probabilities_are_those_of_the_judge(breast_cancer_cases):
    true, models = breast_cancer_cases
    curves = policy_curves(metric(), true, models, ratios=[1.0, 3.6, 19.0], draws=4_000)
    for ratio, place in ((3.6, 1), (19.0, 2)):
        judgement = judge(metric(ratio), true, models)
        for at, policy in enumerate(curves.policies):
            one = judgement.named(policy.name)
            assert 1_000 * curves.cost[at, place] == pytest.approx(one.cost_per_population)
            assert curves.probability_best[at, place] == pytest.approx(one.probability_best)
    assert curves.elicited == pytest.approx(3.6)
    assert curves.probability_best.sum(axis=0) == pytest.approx(np.ones(3))


def test_they_are_the_policies_of_the_judge_with_practice_and_recalibrated_models():
    rng = np.random.default_rng(3)
    chance = rng.random(1_500)
    true = np.where(rng.random(1_500) > chance, "benign", "malignant")
    sharp = 1 / (1 + (1 / chance - 1) ** 4)
    models = {"sharp": np.column_stack([sharp, 1 - sharp])}
    practice = [[9, 1], [4, 6]]
    curves = policy_curves(metric(), true, models, ratios=[3.6], practice=practice, draws=500)
    judgement = judge(metric(), true, models, practice=practice, draws=500)
    assert {policy.name for policy in curves.policies} == {one.policy.name for one in judgement.policies}
    assert {"present practice", "sharp, recalibrated, with these costs"} <= {one.name for one in curves.policies}
    assert judgement.best.policy in curves.policies
    for policy, (cost,), (best,) in zip(curves.policies, curves.cost, curves.probability_best, strict=True):
        one = judgement.named(policy.name)
        assert 1_000 * cost == pytest.approx(one.cost_per_population)
        assert best == pytest.approx(one.probability_best)


def test_ratios_near_each_other_are_averaged(breast_cancer_cases):
    true, models = breast_cancer_cases
    ratios = np.array([3.5, 3.6, 3.7, 10.0])
    smooth = policy_curves(metric(), true, models, ratios=ratios, draws=500).probability_best
    alone = np.array(
        [policy_curves(metric(), true, models, ratios=[r], draws=500).probability_best[:, 0] for r in ratios]
    ).T
    assert smooth[:, 0] == pytest.approx(alone[:, :3].mean(axis=1))
    assert smooth[:, 3] == pytest.approx(alone[:, 3])


def test_by_default_the_worst_mistake_varies_around_what_is_plausible():
    study = open_study("wine")
    under = ElicitedMetric.from_cost_matrix(
        study.classes, [[0, 1, 4], [2, 0, 2], [5, 3, 0]], yardstick=("Barolo", "Grignolino")
    )
    models = {model.name: model.y_proba for model in study.models}
    true = np.array(study.classes)[study.models[0].y_true]
    curves = policy_curves(under, true, models, draws=100, prevalence=[0.2, 0.3, 0.5])
    assert curves.mistake == "Barbera called Barolo"
    assert curves.ratios[[0, -1]] == pytest.approx([1, 25])
    always = [policy.name for policy in curves.policies].index("always Barbera")
    assert curves.cost[always] == pytest.approx(np.full(len(curves.ratios), 0.2 * 4 + 0.3 * 2))
    for refused in ((0, 1), ("Barolo", "Grignolino"), (1, 1)):
        with pytest.raises(InputError, match=r"is the yardstick|is a right answer"):
            policy_curves(under, true, models, refused)
    with pytest.raises(InputError, match=r"a pair \(true class, predicted class\) was expected"):
        policy_curves(under, true, models, "Barolo")
    one, same = (
        policy_curves(under, true, models, which, ratios=[2], draws=5) for which in ((2, 1), ("Barbera", "Grignolino"))
    )
    assert one.mistake == same.mistake == "Barbera called Grignolino"
    with pytest.raises(InputError, match="ascending numbers above 0"):
        policy_curves(under, true, models, ratios=[2.0, 1.0])


def test_costs_of_confusion_matrices_are_those_of_the_policies():
    rng = np.random.default_rng(4)
    draws = -rng.lognormal(size=(200, 6))
    under = ElicitedMetric.from_weights([*"abc"], -rng.lognormal(size=6), "lpm", samples=draws)
    true, proba = rng.choice([*"abc"], 60), rng.dirichlet(np.ones(3), 60)
    counts = confusion_matrix(true, np.array([*"abc"])[proba.argmax(axis=1)])
    ratios = np.array([0.5, 2.0, 7.0])
    curves = policy_curves(under, true, {"model": proba}, ratios=ratios, draws=1)
    as_now = [policy.name for policy in curves.policies].index("model, as it decides now")
    true_class, predicted = curves.mistake.split(" called ")
    lines = cost_curve(under, {"model": counts}, (true_class, predicted))
    assert lines.cost(ratios)[0] == pytest.approx(curves.cost[as_now], abs=1e-12)


@pytest.mark.parametrize(
    ("classes", "mistake", "name"),
    [
        ([1, 2, 3], (1, 2), "1 called 2"),
        ([2, 1, 0], (0, 2), "0 called 2"),
        ([1, 2, 3], (0, 2), "1 called 3"),  # 0 is no label, so these are indices
        ([*"abc"], (2, 1), "c called b"),
    ],
)
def test_a_mistake_between_numbered_classes_is_named_by_their_labels(classes, mistake, name):
    under = ElicitedMetric.from_cost_matrix(classes, [[0, 5, 2], [1, 0, 7], [3, 4, 0]])
    counts = confusion_matrix(classes, classes[::-1], labels=classes)
    assert cost_curve(under, {"model": counts}, mistake).mistake == name
    found = policy_curves(under, classes, {"model": np.eye(3)}, mistake, ratios=[2.0], draws=1)
    assert found.mistake == name


def test_lists_and_frames_are_taken_as_the_judge_takes_them():
    true = ["benign", "malignant"] * 30
    rows = [[0.3, 0.7], [0.8, 0.2]] * 30
    wanted = policy_curves(metric(), true, {"a": np.array(rows)}, draws=50)
    frame = polars.DataFrame({"benign": [row[1] for row in rows], "malignant": [row[0] for row in rows]})
    for given in (rows, frame):
        found = policy_curves(metric(), true, {"a": given}, draws=50)
        assert np.array_equal(found.cost, wanted.cost)
        assert judge(metric(), true, {"a": given}, draws=0).best.policy in found.policies


@pytest.mark.parametrize(
    ("labels", "rows", "said"),
    [
        (["benign", "ill"], [[0.3, 0.7], [0.8, 0.2]], "y_true, row 1: ill is not one of the classes"),
        (["benign"], [[0.3, 0.7], [0.8, 0.2]], "y_proba, 'a': 1 case was expected, as many as in y_true, found 2"),
        (["benign", "malignant"], [[0.3, 0.7], [0.8, 0.4]], "y_proba, 'a', row 1: the probabilities add up to 1.2"),
        (["benign", "malignant"], [[0.3, 0.7, 0], [0.8, 0.2, 0]], "y_proba, 'a': 2 columns were expected"),
    ],
)
@pytest.mark.parametrize("function", [judge, policy_curves])
def test_what_is_wrong_with_the_cases_is_said_in_the_same_words(function, labels, rows, said):
    with pytest.raises(InputError, match=said):
        function(metric(), labels, {"a": rows}, draws=10)


def test_the_curves_are_drawn(breast_cancer_cases):
    true, models = breast_cancer_cases
    curves = policy_curves(metric(), true, models, draws=50)
    axes = curves.plot()
    assert axes.get_ylabel() == "probability of being best"
    assert len(axes.get_lines()) >= len(curves.policies)
    assert curves.plot_cost().get_ylim()[0] == 0
    names = ["benign", "malignant"]
    decision = decision_curve(
        true, {name: proba[:, 0] for name, proba in models.items()}, pos_label="malignant", draws=0
    )
    shown = decision.plot(shaded=(0.16, 0.29))
    legend = [text.get_text() for text in shown.get_legend().get_texts()]
    assert legend == [*models, f"everybody called {names[1]}", "nobody", "fits the answers"]
