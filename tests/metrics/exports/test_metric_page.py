"""What the page of a metric says beside its numbers."""

import numpy as np

from metrics import ElicitedMetric
from metrics.exports.html_page import page_as_html
from metrics.exports.metric_page import factor_texts, metric_page, weight_texts


def test_a_release_factor_is_called_the_worst_only_where_that_is_sure():
    weights = -np.array([4.0, 1, 2, 2.2, 3, 0.6])
    plain = ElicitedMetric.from_weights(["a", "b", "c"], weights, "lpm")
    assert [[said for _, said in row] for row in factor_texts(plain)] == [
        ["", "worst", ""],
        ["", "", "worst"],
        ["worst", "", ""],
    ]
    draws = weights * np.exp(np.random.default_rng(0).normal(0, [0.1, 0.1, 0.5, 0.5, 0.1, 0.1], (400, 6)))
    drawn = factor_texts(ElicitedMetric.from_weights(["a", "b", "c"], weights, "lpm", samples=draws))
    assert drawn[0][1] == drawn[2][0] == ("1", "worst")
    number, range_ = drawn[1][2]
    assert (number, range_[-4:]) == ("1", "to 1"), "which of these two is worse is open"


def test_a_class_weight_says_what_its_cost_rests_on():
    ends = [[[0, 0], [0, 0.075], [0, 0.075]], [[0.5, 0.5], [0, 0], [0.5, 0.5]], [[0, np.inf], [0, np.inf], [0, 0]]]
    metric = ElicitedMetric.from_cost_matrix(
        ["a", "b", "c"], [[0, 0.05, 0.05], [0.5, 0, 0.5], [1, 1, 0]], intervals=np.array(ends)
    )
    assert [said for _, said in weight_texts(metric)] == ["rests on a bound", "", "not known"]
    assert "(rests on a bound)" in page_as_html(metric_page(metric))
