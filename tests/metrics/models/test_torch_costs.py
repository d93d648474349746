"""The loss and the metric for PyTorch; they run where the extra `torch` is installed."""

import numpy as np
import pytest

from metrics import ElicitedMetric, InputError, expected_misclassification_cost

torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra torch)")
pytest.importorskip("torchmetrics", reason="torchmetrics is not installed (extra torch)")

from metrics.torch import ExpectedCostLoss, MeanCost  # noqa: E402  only where PyTorch is

COSTS = np.array([[0, 1, 0.5], [0.2, 0, 0.3], [0.9, 0.8, 0]])
METRIC = ElicitedMetric.from_cost_matrix(["a", "b", "c"], COSTS)
LOGITS = torch.randn(40, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
TARGETS = torch.arange(40) % 3


def test_the_loss_is_the_expected_cost_and_has_a_gradient():
    proba = LOGITS.softmax(1).numpy()
    expected = expected_misclassification_cost(TARGETS.numpy(), proba, COSTS)
    assert float(ExpectedCostLoss(METRIC)(LOGITS, TARGETS)) == pytest.approx(expected, abs=1e-12)
    assert float(ExpectedCostLoss(COSTS, reduction="sum")(LOGITS, TARGETS)) == pytest.approx(40 * expected, abs=1e-9)
    assert ExpectedCostLoss(METRIC, reduction="none")(LOGITS.float(), TARGETS).shape == (40,)
    logits = LOGITS[:4].clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: ExpectedCostLoss(METRIC)(x, TARGETS[:4]), (logits,))
    with pytest.raises(InputError, match="mean, sum or none"):
        ExpectedCostLoss(METRIC, reduction="median")
    amounts = ElicitedMetric.from_weights(["found", "missed", "false"], [1, 5, 2], "dlpm", kind="multilabel")
    for kind in (ExpectedCostLoss, MeanCost):
        with pytest.raises(InputError, match="prices labels of items"):
            kind(amounts)


@pytest.mark.parametrize("least_cost", [False, True])
def test_the_metric_of_batches_is_that_of_all_cases(least_cost):
    cost = MeanCost(METRIC, least_cost=least_cost)
    for rows in (slice(0, 13), slice(13, 40)):
        cost.update(LOGITS[rows], TARGETS[rows])
    proba = LOGITS.softmax(1).numpy()
    decided = METRIC.decide(proba) if least_cost else np.array(["a", "b", "c"])[proba.argmax(axis=1)]
    assert float(cost.compute()) == pytest.approx(METRIC.score(np.array(["a", "b", "c"])[TARGETS], decided), abs=1e-12)
    cost.reset()
    cost.update(torch.tensor([1, 0]), torch.tensor([0, 0]))
    assert float(cost.compute()) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("outputs", "targets"),
    [
        (LOGITS, TARGETS[:, None]),  # would be broadcast, every case against every other
        (LOGITS, TARGETS[:1]),
        (LOGITS, TARGETS.double()),
        (LOGITS[:, :2], TARGETS),
        (LOGITS[:, :1], TARGETS),
        (LOGITS[:, 0], TARGETS),
    ],
)
def test_shapes_that_do_not_fit_are_refused_in_words(outputs, targets):
    with pytest.raises(InputError, match="expected"):
        ExpectedCostLoss(METRIC)(outputs, targets)
    with pytest.raises(InputError, match="expected"):
        MeanCost(METRIC).update(outputs, targets)


def test_what_is_no_class_is_not_counted_from_the_end():
    with pytest.raises(IndexError):
        ExpectedCostLoss(METRIC)(LOGITS, TARGETS - 1)
    with pytest.raises(IndexError):
        MeanCost(METRIC).update(LOGITS, TARGETS - 1)
    with pytest.raises(InputError, match="NaN"):
        MeanCost(METRIC).update(LOGITS * np.nan, TARGETS)


def test_of_decisions_that_cost_the_same_the_first_is_taken_as_by_the_metric():
    metric = ElicitedMetric.from_cost_matrix([0, 1], [[0, 2], [3, 0]])
    proba = torch.tensor([[0.6, 0.4]], dtype=torch.float64)
    cost = MeanCost(metric, least_cost=True)
    cost.update(proba, torch.tensor([1]))
    assert float(cost.compute()) == metric.score([1], metric.decide(proba.numpy()))


def test_training_by_the_loss_turns_towards_the_dear_mistake():
    generator = torch.Generator().manual_seed(0)
    targets = torch.arange(200) % 2
    inputs = torch.randn(200, 1, generator=generator) + targets[:, None]
    calls = []
    for ratio in (1.0, 9.0):
        loss, layer = ExpectedCostLoss([[0.0, 1.0], [ratio, 0.0]]), torch.nn.Linear(1, 2)
        with torch.no_grad():
            layer.weight.copy_(torch.tensor([[-0.5], [0.5]]))
            layer.bias.zero_()
        optimizer = torch.optim.Adam(layer.parameters(), lr=0.05)
        for _ in range(150):
            optimizer.zero_grad()
            loss(layer(inputs), targets).backward()
            optimizer.step()
        calls.append(int(layer(inputs).argmax(dim=1).sum()))
    assert calls[1] > calls[0] + 30
