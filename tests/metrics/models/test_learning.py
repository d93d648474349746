import copy
import doctest
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import minmax_scale

import metrics.models.learning as module
from metrics import ElicitedMetric, meta_pattern_concern_score
from metrics.models.learning import BestEpoch, ConcernLearningRate, ConcernScheduler, concern_of_logits

scores = st.floats(0, 20)


@given(st.floats(1e-6, 10), st.lists(scores, min_size=1), st.floats(0.001, 10))
def test_the_rate_is_proportional_to_the_score(base, history, reference):
    rate = ConcernLearningRate(base, reference=reference, lowest=0, highest=1e9)
    for score in history:
        assert rate.step(score) == pytest.approx(base * score / reference)
        assert rate.rate == rate.step(score)


@given(st.lists(scores, min_size=1))
def test_the_factor_stays_within_its_limits_and_starts_at_the_first_score(history):
    rate = ConcernLearningRate(0.5)
    first = next((score for score in history if score > 0), None)
    for score in history:
        factor = rate.step(score) / 0.5
        assert 0.01 - 1e-12 <= factor <= 1
        if first is not None and score >= first:
            assert factor == 1


def test_a_checkpoint_goes_on_where_it_was():
    rate = ConcernLearningRate(0.1)
    rate.step(2.0)
    other = ConcernLearningRate(5.0)
    other.load_state_dict(rate.state_dict())
    assert other.step(1.0) == rate.step(1.0) == pytest.approx(0.05)


@given(st.lists(st.integers(0, 5), min_size=1), st.booleans(), st.integers(1, 4))
def test_the_best_epoch_is_the_first_of_the_best(history, greater, patience):
    best = BestEpoch(greater_is_better=greater, patience=patience)
    for epoch, score in enumerate(history):
        best.update(score, lambda epoch=epoch: epoch)
        seen = history[: epoch + 1]
        expected = seen.index(max(seen) if greater else min(seen))
        assert best.epoch == best.model == expected
        assert best.should_stop == (epoch - expected >= patience)


def test_bad_input_is_said_in_words():
    for call, words in (
        (lambda: ConcernLearningRate(0), "base_rate: a number > 0 was expected, found 0"),
        (lambda: ConcernLearningRate(0.1, reference=-1), "reference: a number > 0"),
        (lambda: ConcernLearningRate(0.1, lowest=2), "highest: a number >= 2 was expected"),
        (lambda: ConcernLearningRate(0.1).step(np.nan), "score: a number >= 0 was expected, found nan"),
        (lambda: ConcernLearningRate(0.1).step(-1), "score: .* found -1"),
        (lambda: BestEpoch(patience=0), "patience: at least 1 was expected, found 0"),
        (lambda: BestEpoch().update(np.nan, dict), "score is NaN"),
    ):
        with pytest.raises(ValueError, match=words):
            call()


def test_the_examples_in_the_documentation():
    assert doctest.testmod(module).failed == 0


def descend(optimiser, factor_of_loss, steps=50):
    """Minimise (x - 3)^2 with the gradient scaled by a factor; the rules of SGD and Adam, written out."""
    x, mean, square = 0.0, 0.0, 0.0
    path = []
    for step in range(1, steps + 1):
        gradient = factor_of_loss * 2 * (x - 3)
        if optimiser == "sgd":
            x -= 0.01 * gradient
        else:
            mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
            x -= 0.01 * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
        path.append(x)
    return np.array(path)


def test_an_adaptive_optimiser_undoes_a_factor_of_the_loss():
    np.testing.assert_allclose(descend("adam", 0.25), descend("adam", 1.0), rtol=1e-6)
    assert descend("sgd", 0.25)[-1] < 0.5 * descend("sgd", 1.0)[-1]


def test_a_network_of_scikit_learn_learns_with_concern_and_keeps_its_best_epoch():
    X, y = load_digits(return_X_y=True)
    X, y = minmax_scale(X)[:600], y[:600]
    costs = 1.0 - np.eye(10)
    costs[1, 7] = costs[7, 1] = 0.2
    metric = ElicitedMetric.from_cost_matrix(range(10), costs)
    train, held, y_train, y_held = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    # With warm_start each call of fit is one more epoch, and the learning rate may be set between two of them.
    network = MLPClassifier((30,), solver="sgd", momentum=0, warm_start=True, max_iter=1, batch_size=10, random_state=0)
    rate, best = ConcernLearningRate(0.3), BestEpoch(patience=10)
    rates, concern = [], []
    for _ in range(15):
        network.set_params(learning_rate_init=rate.rate)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            network.fit(train, y_train)
        concern.append(metric.meta_pattern_concern_score(y_train, network.predict_proba(train)))
        rates.append(rate.step(concern[-1]))
        best.update(metric.score(y_held, network.predict(held)), lambda: copy.deepcopy(network))
        if best.should_stop:
            break
    np.testing.assert_allclose(rates, 0.3 * np.clip(np.array(concern) / concern[0], 0.01, 1))
    assert min(rates) < 0.15
    assert metric.score(y_held, best.model.predict(held)) == min(best.scores) < best.scores[0]


class Tensor:
    """As much of a tensor of PyTorch as the adapter uses, on a device that has no double precision."""

    def __init__(self, values, on_device=True):
        self.values, self.on_device = np.asarray(values), on_device

    def detach(self):
        return self

    def cpu(self):
        return Tensor(self.values, on_device=False)

    def double(self):
        assert not self.on_device
        return Tensor(self.values.astype(np.float64), on_device=False)

    def softmax(self, dim):
        return Tensor(softmax(self.values, axis=dim), self.on_device)

    def numpy(self):
        assert not self.on_device
        return self.values


def test_the_adapter_of_pytorch_without_it():
    rng = np.random.default_rng(0)
    logits, targets = rng.normal(size=(30, 3)).astype(np.float32), rng.integers(3, size=30)
    proba = softmax(logits.astype(np.float64), axis=1)
    metric = ElicitedMetric.from_cost_matrix(["x", "b", "a"], [[0, 1, 0.5], [0.2, 0, 0.3], [0.1, 0.05, 0]])
    score = concern_of_logits(Tensor(logits), Tensor(targets), metric=metric)
    assert type(score) is float
    assert score == metric.meta_pattern_concern_score(np.array(metric.classes)[targets], proba)
    plain = concern_of_logits(Tensor(logits), Tensor(targets), top_k=2, n_intervals=200)
    assert type(plain) is float
    assert plain == meta_pattern_concern_score(targets, proba, top_k=2, n_intervals=200)
    with pytest.raises(ValueError, match="top_k come from the metric"):
        concern_of_logits(Tensor(logits), Tensor(targets), metric=metric, top_k=2)
    targets[4] = -1  # which would be the last class, counted from the end
    with pytest.raises(ValueError, match=r"^targets, row 4: -1 is not one of the classes \(0, 1, 2\)"):
        concern_of_logits(Tensor(logits), Tensor(targets), metric=metric)


def test_the_scheduler_scales_every_group_and_goes_on_from_a_checkpoint():
    optimizer = SimpleNamespace(param_groups=[{"lr": 0.1}, {"lr": 0.02}])
    concern = ConcernScheduler(optimizer)
    assert concern.step(2.0) == [0.1, 0.02]
    assert concern.step(1.0) == [group["lr"] for group in optimizer.param_groups] == pytest.approx([0.05, 0.01])
    resumed = ConcernScheduler(optimizer)
    resumed.load_state_dict(concern.state_dict())
    assert resumed.step(0.5) == pytest.approx([0.025, 0.005])


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_pytorch_follows_the_score(kind):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra torch)")
    torch.manual_seed(0)
    inputs, targets = torch.randn(60, 4), torch.randint(0, 3, (60,))
    metric = ElicitedMetric.from_cost_matrix(["a", "b", "c"], [[0, 1, 0.5], [0.2, 0, 0.3], [0.1, 0.05, 0]])
    model = torch.nn.Linear(4, 3)
    optimizer = getattr(torch.optim, kind)(
        [{"params": [model.weight], "lr": 0.1}, {"params": [model.bias], "lr": 0.02}], lr=0.1
    )
    concern = ConcernScheduler(optimizer)
    history = []
    for _ in range(20):
        loss = torch.nn.functional.cross_entropy(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            logits = model(inputs)
        history.append(concern_of_logits(logits, targets, metric=metric))
        rates = concern.step(history[-1])
        assert rates == [group["lr"] for group in optimizer.param_groups]
        assert rates[0] == pytest.approx(0.1 * min(1, history[-1] / history[0]))
        assert rates[1] == pytest.approx(rates[0] / 5)
    proba = logits.double().softmax(1).numpy()
    assert concern_of_logits(logits, targets, top_k=2) == pytest.approx(
        meta_pattern_concern_score(targets.numpy(), proba, top_k=2, labels=[0, 1, 2])
    )
    other = ConcernScheduler(optimizer)
    other.load_state_dict(concern.state_dict())
    assert other.step(1.0) == concern.step(1.0)
    with pytest.raises(ValueError, match="top_k come from the metric"):
        concern_of_logits(logits, targets, metric=metric, top_k=2)
