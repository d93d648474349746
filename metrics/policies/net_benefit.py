"""Net benefit and decision curves: is a model worth using, and from which probability?

Sources: A. Vickers and E. Elkin, "Decision curve analysis: a novel method for evaluating prediction models", Medical
Decision Making 26, 2006; bands by the Bayesian bootstrap (D. Rubin, Annals of Statistics 9, 1981).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.drawing import INK, LINE, QUIET, SECOND, axes_for, line_style, tidy
from metrics.errors import InputError
from metrics.inputs.arguments import (
    Floats,
    case_weights,
    named_classes,
    number_array,
    real_number,
    required_weight,
    same_length,
    whole_number,
)
from metrics.inputs.class_index import ClassIndex
from metrics.inputs.labels import Probabilities, checked_rows, distinct, label_array, label_text, probability_array
from metrics.measures.calibration import positive_cases
from metrics.policies.cases import numbered_groups

if TYPE_CHECKING:
    from matplotlib.axes import Axes


TREAT_ALL, TREAT_NONE = "treat all", "treat none"
# If a class has more cases than this, they are dealt in turn to groups that share a bootstrap weight.
_MOST_UNITS = 2_000
_MOST_DRAWS = 1_000_000


def net_benefit(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    threshold: float,
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the net benefit of treating the cases whose probability is at least `threshold`.

    NB = TP/n - FP/n * t / (1 - t), in units of a true positive. For the cost ratio r = c_FN / c_FP and t = 1 / (1 + r),
    the cost per case in units of a miss is the prevalence minus the net benefit: pi - NB = (FN + FP / r) / n.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels, of two classes.
    y_proba : array-like of shape (n,) or (n, 2)
        Probability of the positive class, or of both classes, in the order of the labels or with columns named after
        them.
    threshold : float
        t, in [0, 1).
    pos_label : label, optional
        The positive class; by default the second of the sorted labels.
    sample_weight : array-like of shape (n,), optional
        Weights of the cases.

    Returns
    -------
    float
        At most the prevalence; 0 if nobody is treated.

    Raises
    ------
    InputError
        If an argument is invalid; the message names the argument, the row and what was expected.

    Examples
    --------
    >>> round(net_benefit([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8], threshold=0.2), 4)
    0.4375
    """
    true, positive, weight = _outcomes(y_true, pos_label, sample_weight)
    proba = _of_positive(y_proba, "y_proba", true, pos_label)
    t = _threshold(threshold)
    treated = proba >= proba.dtype.type(t)  # in the precision of the probabilities, as for calibration bins
    gain = np.where(positive, 1.0, -t / (1 - t))
    return float(np.average(gain * treated, weights=weight))


@dataclass(frozen=True, eq=False)
class DecisionCurve:
    """Net benefit of models over thresholds, compared with treating all and treating none.

    Parameters
    ----------
    thresholds : ndarray of shape (t,)
        Ascending, in [0, 1).
    models : tuple of m str
        Names.
    net_benefit : ndarray of shape (m, t)
        Net benefit of each model, per case, in units of a true positive.
    treat_all : ndarray of shape (t,)
        Net benefit of treating everybody; that of treating nobody is 0.
    prevalence : float
        Share of positive cases.
    positive : str
        Name of the positive class.
    draws : ndarray of shape (b, m + 1, t)
        Bootstrap draws, paired over models and thresholds; the last row is treating everybody.
    """

    thresholds: Floats
    models: tuple[str, ...]
    net_benefit: Floats
    treat_all: Floats
    prevalence: float
    positive: str
    draws: Floats = field(repr=False)

    def of(self, name: str) -> Floats:
        """Return the net benefit of a model, of "treat all" or of "treat none", shape (t,)."""
        if name == TREAT_NONE:
            return np.zeros_like(self.treat_all)
        return self.treat_all if name == TREAT_ALL else np.asarray(self.net_benefit[self._place(name)])

    def band(self, name: str, other: str = TREAT_NONE, level: float = 0.9) -> Floats:
        """Return the pointwise bootstrap band of the difference of two curves.

        Parameters
        ----------
        name, other : str
            Models, "treat all" or "treat none"; the difference to "treat none" is the curve itself.
        level : float
            Level of the band at each threshold, in (0, 1).

        Returns
        -------
        ndarray of shape (2, t)
            Lower and upper ends.
        """
        real_number(level, "level", 0.0, 1.0, ends=False)
        if not len(self.draws):
            raise InputError("draws: the curve was made without draws, so it has no bands.")
        difference = self._drawn(name) - self._drawn(other)
        return np.asarray(np.quantile(difference, [(1 - level) / 2, (1 + level) / 2], axis=0))

    def plot(self, ax: Axes | None = None, *, shaded: tuple[float, float] | None = None) -> Axes:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        shaded : tuple of float, optional
            A range of thresholds to shade, such as the elicited range.

        Returns
        -------
        matplotlib Axes
            The axes drawn on.
        """
        axes = axes_for(ax)
        for index, (name, benefit) in enumerate(zip(self.models, self.net_benefit, strict=True)):
            axes.plot(self.thresholds, benefit, **line_style(index), label=name)
        everybody = f"everybody called {self.positive}"
        axes.plot(self.thresholds, self.treat_all, color=QUIET, lw=1.2, ls=":", label=everybody)
        axes.axhline(0.0, color=INK, lw=1.2, label="nobody")
        if shaded is not None and shaded[0] == shaded[1]:
            axes.axvline(shaded[0], color=SECOND, lw=1.2, ls="--", label="from the costs")
        elif shaded is not None:
            axes.axvspan(*shaded, color=LINE, alpha=0.5, lw=0, label="fits the answers")
        axes.set(xlabel="threshold: called from this probability", ylabel="net benefit per case")
        axes.set(ylim=(-0.1 * self.prevalence, 1.1 * self.prevalence))
        return tidy(axes, "upper right")

    def _place(self, name: str) -> int:
        if name not in self.models:
            raise InputError(f"{name!r} is not one of {', '.join((*self.models, TREAT_ALL, TREAT_NONE))}.")
        return self.models.index(name)

    def _drawn(self, name: str) -> Floats:
        if name == TREAT_NONE:
            return np.zeros_like(self.draws[:, 0])
        return np.asarray(self.draws[:, -1 if name == TREAT_ALL else self._place(name)])


def decision_curve(
    y_true: ArrayLike,
    y_proba: Mapping[str, ArrayLike] | ArrayLike,
    *,
    thresholds: ArrayLike | None = None,
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    prevalence: float | None = None,
    draws: int = 1_000,
    seed: int = 0,
) -> DecisionCurve:
    """Return the decision curves of models that were tried on the same cases.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels, of two classes, both of which occur.
    y_proba : mapping of str to array-like, or array-like, of shape (n,) or (n, 2)
        Probability of the positive class, or of both classes, of each model, as in `net_benefit`; a single model is
        called "model".
    thresholds : array-like of shape (t,), optional
        Thresholds in [0, 1), ascending; by default 0.01, 0.02, ..., 0.99.
    pos_label, sample_weight
        As in `net_benefit`.
    groups : array-like of shape (n,), optional
        Whose case each is, if several may be of one person, as in `judge`; bands then rest on people, not on cases.
    prevalence : float, optional
        A stated share of positive cases, in (0, 1); by default that of the cases. Rates within the classes are kept.
    draws : int
        Bootstrap draws for the bands; 0 for none.
    seed : int
        Seed of the draws.

    Returns
    -------
    DecisionCurve
        With `plot`, and with bands for any curve and for the difference of any two.

    Raises
    ------
    InputError
        If an argument is invalid; the message names the argument, the row and what was expected.

    Examples
    --------
    >>> from metrics import decision_curve
    >>> curve = decision_curve([0, 0, 1, 1], {'model': [0.1, 0.6, 0.4, 0.9]}, thresholds=[0.2, 0.5])
    >>> curve.net_benefit
    array([[0.4375, 0.    ]])
    """
    true, positive, weight = _outcomes(y_true, pos_label, sample_weight)
    if not weight[positive].any() or not weight[~positive].any():
        raise InputError(
            "y_true: positive and negative cases with weights above 0 were expected, there is only one kind."
        )
    cuts = _thresholds(thresholds)
    whole_number(draws, "draws", 0, _MOST_DRAWS)
    whole_number(seed, "seed", 0)
    models = y_proba if isinstance(y_proba, Mapping) else {"model": y_proba}
    if not models:
        raise InputError("y_proba: the probabilities of at least one model were expected.")
    names = tuple(map(str, models))
    if len({*names, TREAT_ALL, TREAT_NONE}) < len(names) + 2:
        raise InputError(f"y_proba: models need names of their own, other than {TREAT_ALL!r} and {TREAT_NONE!r}.")
    # a case is treated at all thresholds up to its probability; "treat all" treats it at every threshold
    columns = [_of_positive(proba, f"y_proba, {name!r}", true, pos_label) for name, proba in models.items()]
    reached = np.array([np.searchsorted(cuts.astype(column.dtype), column, side="right") for column in columns])
    reached = np.vstack([reached, np.full(len(positive), len(cuts))])
    share = float(np.average(positive, weights=weight))
    people = numbered_groups(groups, len(positive))
    kinds = (positive, ~positive)
    if people is None:
        unit = [np.arange(int(kind.sum())) for kind in kinds]
        number = [len(of) for of in unit]
    else:
        unit, number = [people[kind] for kind in kinds], [int(people.max()) + 1] * 2
    found = [
        _histograms(reached[:, kind], weight[kind], len(cuts), of, units)
        for kind, of, units in zip(kinds, unit, number, strict=True)
    ]
    # the cases of one person have one weight in both classes
    weights = [
        np.random.default_rng((seed, 1 + index if people is None else 1)).standard_exponential((draws, len(one)))
        for index, one in enumerate(found)
    ]
    rates = [one.sum(axis=0) / one[:, -1, -1].sum() for one in found]
    drawn = [_drawn_rates(one, each) for one, each in zip(found, weights, strict=True)]
    if prevalence is not None:
        share = real_number(prevalence, "prevalence", 0.0, 1.0, ends=False)
        shares = np.full((draws, 1, 1), share)
    elif people is None:
        shares = _drawn_shares(positive, weight, draws, seed)
    else:
        of_positive, of_negative = (each @ one[:, -1, -1] for one, each in zip(found, weights, strict=True))
        shares = (of_positive / (of_positive + of_negative))[:, None, None]
    price = cuts / (1 - cuts)
    curves = share * rates[0] - (1 - share) * price * rates[1]
    return DecisionCurve(
        thresholds=cuts,
        models=names,
        net_benefit=curves[:-1],
        treat_all=curves[-1],
        prevalence=share,
        positive=label_text(true[positive.argmax()]),
        draws=shares * drawn[0] - (1 - shares) * price * drawn[1],
    )


def _thresholds(values: ArrayLike | None) -> Floats:
    cuts = np.arange(1, 100) / 100 if values is None else number_array(values, "thresholds")
    if cuts.ndim != 1 or not len(cuts) or (cuts < 0).any() or (cuts >= 1).any() or (np.diff(cuts) <= 0).any():
        raise InputError("thresholds: ascending numbers in [0, 1) were expected.")
    return cuts


def _drawn_shares(positive: NDArray[np.bool_], weight: Floats, draws: int, seed: int) -> Floats:
    """Return drawn shares of the positive cases, shape (draws, 1, 1).

    A sum of exponential draws weighted by w is drawn from the gamma distribution with the same mean and variance. This
    is exact for equal weights, and cases of weight 0 have no effect.
    """
    rng, weight = np.random.default_rng((seed, 0)), weight / weight.max()

    def drawn(w: Floats) -> Floats:
        number = w.sum() ** 2 / (w**2).sum()
        return np.asarray(rng.standard_gamma(number, (draws, 1, 1)) * (w.sum() / number))

    of_positive, of_negative = drawn(weight[positive]), drawn(weight[~positive])
    return np.asarray(of_positive / (of_positive + of_negative))


def _outcomes(
    y_true: ArrayLike, pos_label: object, sample_weight: ArrayLike | None
) -> tuple[NDArray[Any], NDArray[np.bool_], Floats]:
    """Return the labels, a mask of the positive cases, and the weights of the cases."""
    true = label_array(y_true, "y_true")
    weight = case_weights(sample_weight, len(true))
    weights = np.ones(len(true)) if weight is None else weight
    required_weight(float(weights.sum()))
    return true, positive_cases(true, pos_label), weights


def _of_positive(values: ArrayLike, name: str, true: NDArray[Any], pos_label: object) -> Probabilities:
    """Return the probability of the positive class, shape (n,)."""
    proba = probability_array(values, name)
    same_length(len(true), len(proba), name)
    if np.ndim(values) == 1:
        return proba[:, 1]
    if proba.shape[1] != 2:
        raise InputError(f"{name}: one probability per case was expected, or two columns, the shape is {proba.shape}.")
    checked_rows(proba, name)
    found, named = distinct(true), named_classes(values)
    if named is None or not named.contains_all(true):
        named = ClassIndex(found if len(found) == 2 else 2)
    column = named.place(pos_label if pos_label is not None else found[1] if len(found) == 2 else 1)
    if column < 0:
        raise InputError(
            f"{name}: pass the probability of {pos_label!r} alone; y_true does not tell which column it is."
        )
    return proba[:, column]


def _threshold(value: float) -> float:
    threshold = real_number(value, "threshold", 0.0, 1.0)
    if threshold == 1:
        raise InputError("threshold: a number in [0, 1) was expected; at 1 a needless treatment has no price.")
    return threshold


def _histograms(reached: NDArray[np.intp], weight: Floats, n_cuts: int, of: NDArray[np.int64], units: int) -> Floats:
    """Return the weight treated at each threshold in each unit of cases, shape (units, models, thresholds).

    Cases with the same number `of`, (n,), below `units`, are in the same unit; there are at most `_MOST_UNITS`.
    """
    n_models, units = len(reached), min(units, _MOST_UNITS)
    unit = of % units
    found = np.empty((units, n_models, n_cuts + 1))
    for model, column in enumerate(reached):
        cells = np.bincount(unit * (n_cuts + 1) + column, weights=weight, minlength=units * (n_cuts + 1))
        found[:, model] = cells.reshape(units, n_cuts + 1)
    # reverse cumulative sum: cases that reach at least this threshold
    return np.asarray(found[:, :, ::-1].cumsum(axis=2)[:, :, ::-1][:, :, 1:])


def _drawn_rates(histograms: Floats, weights: Floats) -> Floats:
    """Return draws of the treated share of a class, (draws, models, thresholds), given weights (draws, units)."""
    flat = weights @ histograms.reshape(len(histograms), -1)
    return (flat / (weights @ histograms[:, -1, -1])[:, None]).reshape(len(weights), *histograms.shape[1:])
