"""Binary elicitation by an angle, and quadratic metrics from the slopes on small spheres."""

import numpy as np
import pytest

from elicit_app.elicitation.cases import Cases
from elicit_app.elicitation.oracles import LinearOracle, UtilityOracle, run
from elicit_app.elicitation.procedures.dlpm import Binary
from elicit_app.elicitation.procedures.lpm import QuadraticSearch
from elicit_app.elicitation.sphere import Sphere
from elicit_app.elicitation.utilities import Quadratic
from elicit_app.problem import Problem


def logistic(steepness: float) -> Cases:
    """Return x uniform on [-1, 1] with eta(x) = 1 / (1 + exp(steepness x)), the law of the paper's appendix A."""
    x = np.linspace(-1, 1, 4001)
    first = 1 / (1 + np.exp(steepness * x))
    return Cases.exact(np.column_stack([first, 1 - first]))


@pytest.mark.parametrize("degrees", [10, 30, 50, 70])
def test_an_angle_is_found_within_the_tolerance(degrees):
    theta = np.radians(degrees)
    hits = np.array([np.cos(theta), np.sin(theta)])
    search = Binary(logistic(5.0), epsilon=0.02, ask="all")
    outcome, asked = run(search, LinearOracle(np.diag(hits)))
    assert (search.name, outcome.family, outcome.stopped) == ("binary", "dlpm", "tolerance")
    assert len(asked) == 4 * 7  # ceil(log2(pi / (2 * .02))) = 7
    assert np.arctan2(outcome.weights[1], outcome.weights[0]) == pytest.approx(theta, abs=0.02)


def test_what_no_threshold_tells_is_bounded():
    outcome, _ = run(Binary(logistic(0.5)), LinearOracle(np.diag([0.9, 0.1])))
    assert outcome.stopped == "bounded"
    (low, high), (low_other, high_other) = outcome.bounded
    assert low <= 0.9 <= high
    assert (low_other, high_other) == pytest.approx((1 - high, 1 - low))


def test_binary_is_for_two_classes():
    with pytest.raises(Problem, match="for two classes, not for 3"):
        Binary(Cases.exact(np.full((4, 3), 1 / 3)))


def test_a_quadratic_metric_is_found_from_the_slopes_on_small_spheres():
    around = Sphere.around([0.5, 0.5], 0.05)
    true = Quadratic(np.array([-0.8, -0.6]), np.array([[2.0, -1.0], [-1.0, 3.0]]), around.centre)
    search = QuadraticSearch(around, epsilon=0.002)
    outcome, asked = run(search, UtilityOracle(true.utility))
    found = outcome.utility
    assert (search.name, outcome.family, outcome.weights.tolist()) == ("quadratic", "lpm", found.slope.tolist())
    assert found.slope == pytest.approx(true.slope, abs=0.01)
    assert found.curvature == pytest.approx(true.curvature, abs=0.35)
    assert "No cost matrix represents it" in outcome.notes[0]
    assert 50 < len(asked) < 400
    rng = np.random.default_rng(3)
    points = np.array([around.point(one / np.linalg.norm(one)) for one in -np.abs(rng.normal(size=(60, 2)))])
    plain = Quadratic(outcome.weights, np.zeros((2, 2)), around.centre)

    def agreement(metric: Quadratic) -> float:
        return float(np.mean((metric(points[::2]) > metric(points[1::2])) == (true(points[::2]) > true(points[1::2]))))

    assert agreement(found) >= max(0.95, agreement(plain))
