"""What is recommended, in words: each kind of policy, what it spares, whose doubt, and what more would bring."""

from dataclasses import replace

import numpy as np
import pytest

from elicit_app.study import open_study
from metrics import Consequence, ElicitedMetric, Provenance, Quality, judge
from metrics.elicited.exchange import exchange_rates
from metrics.elicited.family import LPM, family_of
from metrics.elicited.metric_parts import OPPOSED, UNTRUSTED, UNTRUSTED_AMONG, CaseWords
from metrics.policies.cases import Practice, case_table, of_model
from metrics.policies.information import DOUBTED, DOUBTED_CASES, information
from metrics.policies.judging import Judge
from metrics.policies.ranking import TooFewCases, few_cases
from metrics.policies.recommendation import name_and_manner, short_recommendation, turning_points, what_would_change

WORDS = (
    Consequence("malignant", "benign", "Missed cancer", "missed cancer", "missed cancers"),
    Consequence("benign", "malignant", "Needless biopsy", "needless biopsy", "needless biopsies"),
)

PATIENTS = CaseWords("patient", "patients", ("malignant", "benign"))


def metric(ratio, spread=0.0, **details):
    if spread:
        rng = np.random.default_rng(4)
        details["samples"] = np.array([-ratio, -1.0]) * np.exp(spread * rng.standard_normal((1_000, 2)))
    return ElicitedMetric.from_cost_matrix(
        ["malignant", "benign"],
        [[0, ratio], [1, 0]],
        yardstick=("benign", "malignant"),
        consequences=WORDS,
        population=1_000,
        **details,
    )


def judged(table, under=None, words=None, practice=None):
    """Judge one model of which is known how often it decides what."""
    under = under or metric(2.0)
    true = np.repeat([0, 0, 1, 1], table)
    said = np.repeat([0, 1, 0, 1], table)
    practice = None if practice is None else Practice.of(practice, under.classes)
    return Judge.of(under, case_table(true, [said, said], 2), of_model("m"), words=words, practice=practice).at()


def test_a_model_with_a_threshold(breast_cancer_cases):
    said = judge(metric(3.6), *breast_cancer_cases).recommendation
    assert said.sentence == "Call it malignant where Size and texture says 22 % or more."
    assert [piece.text for piece in said.pieces if piece.strong] == ["Size and texture", "22 % or more"]
    assert said.spares == (
        "Per 1,000 cases: 504 fewer needless biopsies and 25 more missed cancers than by calling every case malignant."
    )
    assert said.sureness.startswith("85 % sure that nothing in the list is better.")
    assert said.sureness.endswith(
        "The doubt comes from the 569 cases; that from the answers is unknown. The cheapest of 6 seems cheaper than it "
        "is: for other cases, expect it to cost about 7 % more."
    )


def test_a_reader_is_used_without_saying_how_one_decides():
    true = np.repeat([0, 0, 1, 1], [950, 50, 50, 950])
    said = np.eye(2)[np.repeat([0, 1, 0, 1], [950, 50, 50, 950])]
    under = metric(3.0, 0.2)
    judgement = judge(under, np.array(under.classes)[true], {"Dr. A": said, "m": 0.6 * said + 0.2})
    reader = next(one for one in judgement.policies if one.policy.labels_only)
    assert name_and_manner(reader, judgement.words, judgement.positive) == ("Dr. A", "labels only")
    alone = judge(under, np.array(under.classes)[true], {"Dr. A": said})
    assert alone.recommendation.sentence == "Use Dr. A."
    assert short_recommendation(alone, "these costs")[0] == "Dr. A"


def test_no_model_does_better():
    judgement = judged([50, 50, 50, 50], metric(9.0), CaseWords("patient", "patients", ("cancer", "harmless")))
    said = judgement.recommendation
    assert said.sentence == "Call every patient cancer: no model does better."
    assert said.spares == (
        "Per 1,000 patients the best use of a model, m, as it decides now, costs 2,000 needless biopsies more."
    )


def test_no_model_is_said_to_be_worse_that_may_be_better():
    judgement = judged([95, 5, 60, 40], metric(9.0))
    assert [one.rank for one in judgement.policies[:2]] == [1, 1]
    assert judgement.recommendation.sentence == "Call every case malignant: nothing shows that a model does better."


def test_what_is_done_with_a_class_is_said_instead_of_calling_it_so(breast_cancer_cases):
    words = CaseWords("patient", "patients", ("cancer", "harmless"), ("biopsy", ""))
    one = judge(metric(3.6, words=words), *breast_cancer_cases)
    assert one.recommendation.sentence == "Biopsy where Size and texture says 22 % or more."
    assert one.recommendation.spares.endswith(" than by the rule “biopsy in every case”.")
    assert name_and_manner(one.best, one.words, one.positive) == ("Size and texture", "biopsy from 22 %")
    everybody = judged([50, 50, 50, 50], metric(9.0), words).recommendation
    assert everybody.sentence == "Biopsy in every case: no model does better."


def test_of_equal_policies_the_one_without_a_model_is_recommended():
    judgement = judged([100, 0, 100, 0])
    assert judgement.best.policy.decides == "always"
    assert [one.rank for one in judgement.policies] == [1, 1, 1, 4]
    assert [one.probability_best for one in judgement.policies] == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0])
    assert judgement.sure == 1
    assert judgement.recommendation.spares.endswith("m, as it decides now, costs the same.")


def test_present_practice_and_what_is_spared_against_it():
    kept = judged([60, 40, 40, 60], practice=[[95, 5], [5, 95]])
    assert kept.recommendation.sentence == "Keep to present practice: no model does better."
    better = judged([95, 5, 5, 95], practice=[[90, 10], [15, 85]])
    assert better.recommendation.sentence == "Use m as it decides now: each case gets the most probable answer."
    assert better.recommendation.spares == (
        "Per 1,000 cases: 25 fewer missed cancers and 50 fewer needless biopsies than in present practice."
    )


def test_more_than_two_classes_are_said_in_the_yardstick():
    study = open_study("wine")
    labels = np.array(study.classes)[study.models[0].y_true]
    under = ElicitedMetric.from_cost_matrix(
        study.classes, [[0, 1, 3], [1, 0, 1], [3, 2, 0]], yardstick=("Barolo", "Grignolino"), population=1_000
    )
    said = judge(under, labels, {study.models[0].name: study.models[0].y_proba}).recommendation
    assert "Use " in said.sentence
    assert said.sentence.endswith(": each case gets the answer with the least expected cost.")
    assert "cases of Barolo called Grignolino" in said.spares
    assert " less than by calling every case " in said.spares


@pytest.mark.parametrize(
    ("cases", "said"),
    [((5, 300, 700), "Of these cases 0.5 % were a. "), ((300, 400, 500), "Of these cases 42 % were c. ")],
    ids=["a rare class", "none is rare"],
)
def test_the_share_that_is_told_is_that_of_a_rare_class_or_of_the_commonest(cases, said):
    under = ElicitedMetric.from_cost_matrix(["a", "b", "c"], [[0, 9, 9], [1, 0, 1], [1, 1, 0]], population=1_000)
    true = np.repeat(["a", "b", "c"], cases)
    judgement = judge(under, true, {"m": np.full((len(true), 3), 1 / 3)})
    assert dict(what_would_change(judgement))["Other cases."].startswith(said)


def three_classes(under, *models):
    """Judge models of three classes, of which is known how often they decide what."""
    true = np.repeat(np.arange(3), np.sum(models[0], axis=1))
    said = [np.concatenate([np.repeat(np.arange(3), row) for row in model]) for model in models]
    return judge(under, np.array(under.classes)[true], {f"m{at}": np.eye(3)[own] for at, own in enumerate(said)})


def alike(spread=(0.0,) * 6):
    """Return a metric of three classes whose mistakes cost the same; `spread` is that of their log-costs."""
    drawn = -np.exp(np.array(spread) * np.random.default_rng(4).standard_normal((1_000, 6)))
    weights, samples = LPM.normalise(-np.ones(6)), LPM.normalise(drawn)
    return ElicitedMetric.from_weights(["a", "b", "c"], weights, "lpm", samples=samples, yardstick=("a", "b"))


KEPT = "If decisions stay as they are, "
FIRST = [[90, 5, 5], [5, 90, 5], [5, 5, 90]]
SECOND = [[90, 5, 5], [5, 85, 10], [2, 5, 93]]  # five more b called c, three fewer c called a


@pytest.mark.parametrize("name", ["lpm", "dlpm"])
@pytest.mark.parametrize("seed", range(12))
def test_a_turning_point_is_where_another_policy_becomes_cheaper_and_none_does_before(seed, name):
    rng = np.random.default_rng(seed)
    models = [
        np.array([rng.multinomial(100, rng.dirichlet([8.0 if i == j else 1 for j in range(3)])) for i in range(3)])
    ]
    models += [np.array([rng.permutation(row) if rng.random() < 0.3 else row for row in models[0]]) for _ in range(2)]
    family = family_of(name)
    under = ElicitedMetric.from_weights(
        ["a", "b", "c"], family.normalise(family.sign * np.exp(rng.normal(0, 1, family.n_weights(3)))), name
    )
    judgement = three_classes(under, *models)
    unit = judgement.metric.cost_matrix / judgement.metric.cost_matrix[judgement.unit]
    counts = np.array([one.counts for one in judgement.policies], dtype=float)

    def cheapest(rate, value):
        moved = np.where(rate.cells(3), value, unit)
        costs = (counts * moved).sum(axis=(1, 2))
        return costs - costs[0]

    rates = [rate for rate in exchange_rates(judgement.metric) if not rate.is_yardstick]
    for rate, points in zip(rates, turning_points(judgement, rates), strict=True):
        now = unit[rate.cells(3)].max()
        found = {point.side: point for point in points}
        for side, way, end in (("below", 0.999, 1e-3), ("above", 1.001, 1e3)):
            far = found[side].value / way if side in found else now * end
            assert cheapest(rate, (now + far) / 2).min() >= -1e-9
            assert cheapest(rate, far).min() >= -1e-6 * counts.sum()
            if side in found:
                beyond = cheapest(rate, found[side].value * way)
                assert beyond[judgement.policies.index(found[side].policy)] < 0


@pytest.mark.parametrize(
    ("place", "spread", "said"),
    [
        (
            4,
            0.6,
            "above about 1.7 cases of a called b for one case of c called a, which the answers do not rule out: m1",
        ),
        (
            3,
            0.6,
            "below about 0.59 cases of a called b for one case of b called c, which the answers do not rule out: m1",
        ),
        (3, 0.1, "below about 0.59 cases of a called b for one case of b called c: m1"),
    ],
    ids=["may be more", "may be less", "hardly"],
)
def test_the_value_that_would_change_the_choice_is_that_of_which_least_is_known(place, spread, said):
    judgement = three_classes(alike(np.where(np.arange(6) == place, spread, 0.0)), FIRST, SECOND)
    assert dict(what_would_change(judgement))["Other values."].startswith(f"{KEPT}another choice is cheaper {said}")


def test_a_mistake_that_costs_nothing_has_no_turning_point():
    costs = [[0, 1, 1], [1, 0, 0], [1, 1, 0]]
    under = ElicitedMetric.from_cost_matrix(["a", "b", "c"], costs, yardstick=("a", "b"))
    judgement = three_classes(under, FIRST, SECOND)
    rates = [rate for rate in exchange_rates(under) if not rate.is_yardstick]
    free = [rate.ratio == 0 for rate in rates]
    assert sum(free) == 1
    assert turning_points(judgement, rates)[free.index(True)] == []
    assert dict(what_would_change(judgement))["Other values."].startswith(KEPT)


def test_where_no_value_alone_changes_the_choice_that_is_said():
    judgement = three_classes(alike(), np.diag([9, 9, 9]).tolist())
    found = dict(what_would_change(judgement))["Other values."]
    assert found == f"{KEPT}nothing else in the list is cheaper, however much any one of the mistakes counts for."


@pytest.mark.parametrize(
    ("spread", "cases", "expected"),
    [
        (0.01, 200, "hardly from the answers"),
        (0.1, 200, "from the answers and from the 200 cases"),
        (0.4, 200, "from the answers and from the 200 cases"),
        (0.6, 200_000, "The doubt comes from the answers, hardly from"),
    ],
)
def test_whose_doubt_it_is(spread, cases, expected):
    table = np.array([70, 30, 45, 55]) * cases // 200
    judgement = judged(table, metric(1.6, spread))
    assert expected in judgement.recommendation.sureness


@pytest.mark.parametrize("seed", [*range(20), 233, 249, 289])  # in the last three the closest rival says otherwise
def test_what_is_advised_to_be_learned_is_not_said_to_be_hardly_in_doubt(seed):
    rng = np.random.default_rng(seed)
    true = rng.integers(0, 2, int(rng.integers(100, 3_000)))
    models = {}
    for name in "abc":
        scores = rng.normal(size=len(true)) * rng.uniform(0.6, 2) + 1 - 2 * true
        says = 1 / (1 + np.exp(-scores))
        models[name] = np.column_stack([says, 1 - says])
    under = metric(float(np.exp(rng.normal() * 1.5)), float(rng.uniform(0.1, 1.2)))
    judgement = judge(under, np.array(under.classes)[true], models, draws=400)
    hardly = {"answers": "hardly from the answers", "cases": f"hardly from the {len(true):,} cases"}
    assert hardly.get(judgement.information.kind, "hardly sure") not in judgement.recommendation.sureness


@pytest.mark.parametrize("spread", [0.0, 0.2])
def test_provisional_costs_are_told_however_sure_the_choice_and_whether_or_not_their_doubt_is_known(spread):
    under = metric(3.0, spread, quality=Quality(provisional="they rest on 6 answers only"))
    for table in ([950, 50, 50, 950], [5, 5, 5, 5]):
        judgement = judged(table, under)
        assert judgement.recommendation.reservation == "The numbers are provisional: they rest on 6 answers only."
        assert judgement.recommendation.reservation in str(judgement)
    assert judged([950, 50, 50, 950], metric(3.0, spread)).recommendation.reservation == ""


@pytest.mark.parametrize("reason", [UNTRUSTED, OPPOSED, UNTRUSTED_AMONG])
def test_nothing_is_decided_by_answers_that_speak_against_each_other(reason):
    under = metric(3.0, 0.2, quality=Quality(provisional=reason))
    table = [950, 50, 50, 950]
    assert judged(table, under).advice == f"Do not decide by these costs yet: {reason}"
    assert judged(table, under).recommendation.reservation == f"The numbers are provisional: {reason}."
    assert judged(table, under).recommendation.sentence.startswith("Best guess only. Use m")
    assert short_recommendation(judged(table, under), "these costs")[1].startswith("best guess only, ")
    assert judged(table, metric(3.0, 0.2)).advice.startswith("Decide now")


def test_of_costs_without_draws_it_is_not_said_that_what_is_not_known_hardly_matters():
    table = [950, 50, 50, 950]
    known, stated = judged(table, metric(3.0, 0.01)), judged(table, metric(3.0))
    assert known.advice == "Decide now: what is not known hardly matters"
    assert stated.advice == "Decide now, if the costs hold: the uncertainty of the cases hardly matters"
    assert (known.information.doubted, stated.information.doubted) == (DOUBTED, DOUBTED_CASES)


def test_a_sentence_that_something_else_is_likelier_than_is_called_a_guess():
    guess = [judged(table, metric(1.6, 0.6)) for table in ([70, 30, 45, 55], [950, 50, 50, 950])]
    assert guess[0].sure < 0.5 < guess[1].sure
    assert [one.recommendation.sentence.startswith("Best guess only. ") for one in guess] == [True, False]
    sure = [short_recommendation(one, "these costs")[1] for one in guess]
    assert ["best guess only" in one for one in sure] == [True, False]


def test_what_one_does_names_every_policy():
    words = CaseWords("patient", "patients", ("cancer", "harmless"))
    judgement = judged([80, 20, 30, 70], metric(3.0, 0.3), words, [[90, 10], [20, 80]])
    found = {" | ".join(name_and_manner(one, words, judgement.positive)) for one in judgement.policies}
    (cut,) = (one for one in found if "from" in one)
    assert found - {cut} == {
        "m | as it decides now",
        "Call every patient cancer | no model",
        "Call every patient harmless | no model",
        "Present practice | as typed in",
    }
    assert cut.startswith("m | cancer from 25 % (")


def test_the_costs_that_a_recommendation_rests_on_are_named_as_asked():
    true = np.repeat([0, 1, 2], 30)
    proba = np.random.default_rng(2).dirichlet(np.ones(3), 90) + 0.5 * np.eye(3)[true]
    under = ElicitedMetric.from_cost_matrix(["a", "b", "c"], [[0, 9, 9], [1, 0, 2], [1, 3, 0]])
    judgement = judge(under, np.array(under.classes)[true], {"m": proba / proba.sum(axis=1, keepdims=True)})
    assert short_recommendation(judgement, "the pooled costs")[0] in {
        f"m, {'recalibrated, ' * recalibrated}with the pooled costs" for recalibrated in (False, True)
    }


def test_brackets_in_a_name_are_kept_where_ranges_are_left_out():
    words = CaseWords("patient", "patients", ("cancer (any)", "harmless"))
    judgement = judged([80, 20, 30, 70], metric(3.0, 0.3), words)
    cut = next(one for one in judgement.policies if one.threshold is not None)
    assert name_and_manner(cut, words, judgement.positive, ranges=False) == ("m", "cancer (any) from 25 %")
    assert name_and_manner(cut, words, judgement.positive)[1].startswith("cancer (any) from 25 % (")


@pytest.mark.parametrize(("ill", "few"), [(12, True), (39, True), (40, False)])
def test_few_cases_of_a_class_make_no_recommendation_sure(ill, few):
    judgement = judged([ill, 0, 1, 199], metric(9.0, 0.1), CaseWords("patient", "patients", ("cancer", "harmless")))
    words = judgement.recommendation
    assert judgement.sure > 0.99
    assert words.sureness.startswith("At most 99 % sure" if few else "More than 99 % sure")
    best = [judgement.probability_text(one) for one in judgement.policies]
    assert ("≤" in best[0]) == few
    assert not any("≤" in one for one in best[1:])
    assert (f"of “cancer” only {ill} patients were counted" in words.sureness) == few
    assert any("ranges are too narrow" in note for note in judgement.notes) == few
    assert judgement.advice.startswith("Collect more patients of “cancer” before" if few else "Decide now")


@pytest.mark.parametrize(("alarms", "well", "sure"), [(0, 300, False), (1, 299, True), (0, 30_000, True)])
def test_mistakes_that_did_not_happen_make_a_recommendation_less_sure_where_a_few_would_change_it(alarms, well, sure):
    """Calling all well costs 5 more per 1,000; 2 alarms in 300 cases would cost more than that."""
    true, said = np.repeat([0, 0, 1, 1], [60, 60, alarms, well]), np.repeat([0, 1, 0, 1], [60, 60, alarms, well])
    judgement = Judge.of(metric(0.5, 0.1), case_table(true, [said, said], 2), of_model("m")).at([0.02, 0.98])
    assert judgement.too_few is None
    if alarms:  # it may cost more, as one case shows
        assert judgement.sure < 0.9
    else:
        assert (judgement.sure > 0.99) == sure
        assert judgement.sure > 0.85


def test_a_class_that_is_not_among_the_cases_judged_makes_nothing_unsure():
    judgement = judged([8, 2, 40, 160], metric(9.0, 0.1))
    assert judgement.too_few == TooFewCases(0, 10)
    assert few_cases(judgement.policies, np.array([0.0, 1.0])) is None


class TestInformation:
    def draws(self, gap, spread, n=20_000):
        rng = np.random.default_rng(0)
        return np.column_stack([np.full(n, 100.0), 100 + gap + spread * rng.standard_normal(n)])

    def test_the_expected_loss_of_two_policies_has_a_closed_form(self):
        gap, spread = 5.0, 10.0
        drawn = self.draws(gap, spread)
        found = information(drawn, None, drawn, 0, 400, PATIENTS)
        # the unit normal loss integral at gap / spread
        at = gap / spread
        density, tail = np.exp(-(at**2) / 2) / np.sqrt(2 * np.pi), 0.5 - 0.19146
        expected = spread * (density - at * tail)
        assert found.expected_loss == pytest.approx(expected, rel=0.03)
        assert found.of_cases == found.expected_loss
        assert found.of_values == 0

    def test_more_cases_spare_what_the_shrunken_draws_say(self):
        drawn = self.draws(0.0, 10.0)
        found = information(drawn, None, drawn, 0, 400, PATIENTS)
        assert [one.number for one in found.more] == sorted(one.number for one in found.more)
        for one in found.more:
            # at a gap of 0 the loss is proportional to the spread that is still to be seen
            shrunk = np.sqrt(one.number / (400 + one.number))
            assert one.spares == pytest.approx(found.of_cases * shrunk, rel=0.03)
        assert found.more[-1].spares >= 0.5 * found.of_cases
        assert (found.kind, found.advice) == ("cases", "Collect about 150 more patients")

    def test_answers_are_advised_where_they_would_spare_more(self):
        drawn = self.draws(0.0, 10.0)
        none = np.tile([100.0, 101.0], (len(drawn), 1))
        found = information(drawn, drawn, none, 12, 400, PATIENTS)
        assert (found.kind, found.advice) == ("answers", "Answer about 5 more questions")
        assert {one.of for one in found.more if one.spares > 0} == {"answers"}

    def test_the_number_advised_is_one_of_the_kind_advised(self):
        drawn = self.draws(0.0, 10.0)
        nearly = drawn.mean(axis=0) + 0.99 * (drawn - drawn.mean(axis=0))
        found = information(drawn, nearly, drawn, 12, 400, PATIENTS)
        assert (found.kind, found.advice) == ("cases", "Collect about 150 more patients"), "5 answers would do as well"

    def test_what_only_answers_and_cases_together_would_settle_is_decided_now(self):
        drawn, hardly = self.draws(0.0, 10.0), self.draws(0.0, 5.0)
        found = information(drawn, hardly, hardly, 12, 400, PATIENTS)
        assert found.expected_loss > 0.025 * 100 > max(found.of_values, found.of_cases) > 0
        assert found.kind == "decide"
        assert found.advice == "Decide now: neither more answers nor more patients alone would spare much"

    def test_what_would_only_move_the_decisions_does_not_put_off_the_choice(self):
        drawn = self.draws(60.0, 10.0)
        anew = drawn[:100] - 8.0
        found = information(drawn, drawn, drawn, 12, 400, PATIENTS, anew)
        assert found.of_deciding_anew == pytest.approx(8.0)
        assert found.at_stake == found.expected_loss + found.of_deciding_anew
        assert found.kind == "decide"
        assert found.advice == "Decide now; about 15 more answers would improve the decisions"
        assert [one.spares for one in found.more if one.of == "answers"][-1] == pytest.approx(8.0 * 15 / 27)

    def test_deciding_anew_counts_where_answers_would_settle_the_choice(self):
        drawn, hardly = self.draws(0.0, 10.0), self.draws(0.0, 5.0)
        assert information(drawn, hardly, drawn, 12, 400, PATIENTS).kind == "cases"
        assert information(drawn, hardly, drawn, 12, 400, PATIENTS, hardly[:100] - 8.0).kind == "answers"

    def test_who_cannot_be_asked_more_is_not_told_to_learn_what_only_moves_decisions(self):
        drawn, settled = self.draws(0.0, 10.0), self.draws(60.0, 10.0)
        found = information(drawn, settled, drawn, 0, 400, PATIENTS, settled[:100] - 8.0)
        assert (found.kind, found.advice) == ("cases", "Collect about 150 more patients")

    def test_answers_that_would_not_change_the_choice_are_not_said_to_settle_it(self):
        drawn, settled = self.draws(0.0, 10.0), self.draws(60.0, 10.0)
        found = information(drawn, settled, drawn, 12, 400, PATIENTS, settled[:100] - 8.0)
        assert (found.kind, found.advice) == ("answers", "About 15 more answers would improve the decisions")

    def test_policies_as_they_are_stay_among_what_known_values_would_choose(self):
        drawn = self.draws(60.0, 10.0)
        assert information(drawn, drawn, drawn, 12, 400, PATIENTS, drawn[:100] + 1.0).of_deciding_anew == 0

    def test_knowing_a_part_spares_no_more_than_knowing_all(self):
        narrow, wide = self.draws(0.0, 5.0), self.draws(0.0, 10.0)
        found = information(narrow, wide, wide, 12, 400, PATIENTS)
        assert found.of_values == found.of_cases == found.expected_loss

    def test_more_answers_do_not_bring_pooled_experts_together(self):
        origins = {name: Provenance(procedure=name, questions=30) for name in ("bayes", "pooled")}
        found = {name: judged((50, 10, 10, 50), metric(1.0, 1.5, provenance=one)) for name, one in origins.items()}
        assert found["bayes"].advice.startswith("Answer about")
        assert found["pooled"].advice == "Learn more about the costs first"
        assert {one.of for one in found["pooled"].information.more} == {"cases"}

    def test_what_hardly_matters_needs_no_more(self):
        drawn = self.draws(30.0, 10.0)
        found = information(drawn, drawn, drawn, 12, 400, PATIENTS)
        assert found.kind == "decide"
        assert found.advice.startswith("Decide now")


def test_a_judgement_of_some_policies_is_that_of_their_draws(breast_cancer_cases):
    judgement = judge(metric(19.0, 0.3), *breast_cancer_cases)
    some = judgement.among(lambda policy: policy.model is not None)
    assert {one.name for one in some.policies} == {one.name for one in judgement.policies if one.policy.model}
    assert sum(one.probability_best for one in some.policies) == pytest.approx(1)
    for one in some.policies:
        assert replace(one, rank=1).cost_per_population == judgement.named(one.name).cost_per_population
        assert one.interval == judgement.named(one.name).interval


@pytest.mark.parametrize(
    ("table", "few"),
    [
        ([[10, 0], [0, 20]], TooFewCases(0, 10, "practice")),
        ([[400, 0], [0, 8_000]], None),
        ([[1.0, 0], [0, 1.0]], None),  # rates, which are taken as exact
        ([[1, 9], [9, 1]], None),  # plainly dearer
    ],
)
def test_present_practice_that_was_counted_on_few_cases_makes_nothing_sure(table, few):
    both = metric(0.5, 0.1)
    true, said = np.repeat([0, 0, 1, 1], [225, 25, 50, 700]), np.repeat([0, 1, 0, 1], [225, 25, 50, 700])
    practice = Practice.of(table, both.classes)
    words = CaseWords("patient", "patients", ("cancer", "harmless"))
    table = case_table(true, [said, said], 2)
    judgement = Judge.of(both, table, of_model("m"), words=words, practice=practice).at([0.02, 0.98])
    assert judgement.too_few == few
    practised = judgement.recommendation.sureness, judgement.advice, "".join(judgement.notes)
    if few is None:
        assert not any("few" in text for text in practised)
    else:
        assert ": of “cancer” only 10 patients were counted in present practice." in practised[0]
        assert practised[1].startswith("Count more patients of “cancer” in present practice before you decide: 10 are")
        assert "ranges are too narrow" in practised[2]
