import doctest
import inspect

import metrics
from metrics import accumulating


def test_every_measure_of_the_table_is_there_and_every_accumulator_is_in_the_table():
    table = accumulating.__doc__
    assert doctest.testmod(accumulating).failed == 0
    named = {word.strip("`,;").removeprefix("metrics.") for word in table.split() if word.startswith("`metrics.")}
    assert named <= set(metrics.__all__)
    for name in set(accumulating.__all__) - {"Accumulator", "LeastCost"}:
        assert f"`{name}`" in table
    means = {"confusion_matrix", "calibration_curve"}
    means |= {name for name in metrics.__all__ if name.endswith(("_score", "_cost", "_likelihood", "_error"))}
    own = {name for name in means if getattr(metrics, name).__module__.startswith("metrics.")}
    assert own <= named


def test_all_take_batches_and_merge():
    for name in set(accumulating.__all__) - {"Accumulator", "LeastCost", "OutcomeFrequencies"}:
        kind = getattr(accumulating, name)
        assert all(inspect.isfunction(getattr(kind, method)) for method in ("update", "merge", "result"))
