"""The measures over batches of cases: from files larger than memory, from threads, from other machines.

``update`` adds a batch, ``merge`` adds what another accumulator has seen, and ``result`` returns the measure. Results
agree to about 1e-12 however the cases are split and in whatever order they are merged. Accumulators can be pickled
and sent to other processes. With `OnePass` several accumulators share one pass over each batch.

========================================================  =========================================================
Measure                                                   Accumulator
========================================================  =========================================================
`metrics.confusion_matrix`                                `ConfusionCounts`; `DecisionCounts` from probabilities
`metrics.error_rate` and the balanced and class-weighted  `ErrorCounts`, with a method for each
`metrics.misclassification_cost`                          `MisclassificationCost`
`metrics.expected_misclassification_cost`                 `ExpectedCost`
`metrics.negative_log_likelihood`                         `LogLikelihood`
`metrics.probability_squared_error`                       `SquaredError`
`metrics.meta_pattern_concern_score`                      `ConcernScore`
`metrics.calibration_curve`                               `CalibrationBins`
`metrics.expected_calibration_error`                      `CalibrationBins` of one class, `TopLabelCalibration`
`metrics.relevance_score`                                 `Relevance`, with `OutcomeFrequencies` of all cases
`metrics.penalized_multilabel_score`                      `MultilabelTally`
`metrics.gaussian_negative_log_likelihood`                `GaussianLikelihood`
`metrics.density_negative_log_likelihood`                 none: it is the mean of the distribution's own `logpdf`
`metrics.interval_coverage`                               `Coverage`
========================================================  =========================================================

Examples
--------
>>> from metrics.accumulating import LogLikelihood
>>> whole = LogLikelihood(["no", "yes"])
>>> for labels, proba in [(["no", "yes"], [[0.9, 0.1], [0.4, 0.6]]), (["yes"], [[0.2, 0.8]])]:
...     _ = whole.merge(LogLikelihood(["no", "yes"]).update(labels, proba))
>>> round(whole.result(), 4)
0.2798
"""

from metrics.batches import Accumulator, OnePass
from metrics.measures.calibration import CalibrationBins, TopLabelCalibration
from metrics.measures.concern import ConcernScore
from metrics.measures.confusion import ConfusionCounts, ErrorCounts
from metrics.measures.costs import DecisionCounts, ExpectedCost, LeastCost, MisclassificationCost
from metrics.measures.likelihood import Coverage, GaussianLikelihood, LogLikelihood, SquaredError
from metrics.measures.multilabel import MultilabelTally
from metrics.measures.relevance import OutcomeFrequencies, Relevance

__all__ = [
    "Accumulator",
    "CalibrationBins",
    "ConcernScore",
    "ConfusionCounts",
    "Coverage",
    "DecisionCounts",
    "ErrorCounts",
    "ExpectedCost",
    "GaussianLikelihood",
    "LeastCost",
    "LogLikelihood",
    "MisclassificationCost",
    "MultilabelTally",
    "OnePass",
    "OutcomeFrequencies",
    "Relevance",
    "SquaredError",
    "TopLabelCalibration",
]
