"""The apparent meaning of the columns of a predictions file with unusual names, and of classes that are grades."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from elicit_app.study.checking import SUM_RANGE
from elicit_app.study.model import ColumnMap
from metrics.inputs.class_index import joint_names
from metrics.inputs.labels import label_text
from metrics.text import confusable_key

_TRUTHS = (
    *("y_true", "true", "truth", "true_label", "true_class", "label", "labels", "target", "targets", "gold"),
    *("ground_truth", "gt", "actual", "obs", "observed", "reference", "diagnosis", "diagnose", "outcome", "class", "y"),
)
_DECIDED = (
    *("y_pred", "pred", "pred_class", "prediction", "predictions", "predicted", "predicted_label", "predicted_class"),
    *("predict", "y_hat", "scored_labels", "response", "estimate", "decision", "output", "reader", "answer"),
)
_SCORES = (
    *("p", "prob", "proba", "probs", "probability", "probabilities", "softmax", "score", "scores", "logit", "logits"),
    *("conf", "confidence", "risk", "pred"),
)
_ID = ("", "id", "index", "case", "row", "unnamed: 0", "image", "file", "filename", "patient_id", "fold")
_MOST_WORDS = 50  # of a name; those of a damaged file may have thousands, and each would be compared without each
_ROWS_OF_SHARES = 3
_DEGREES: tuple[tuple[str, ...], ...] = (
    ("none", "no", "not", "non", "normal", "healthy", "well", "benign", "control", "controls", "absent", "negative"),
    ("minimal", "trace", "slight", "slightly", "doubtful"),
    ("mild", "mildly", "low", "minor", "small", "early"),
    ("moderate", "moderately", "medium", "intermediate"),
    ("severe", "severely", "high", "major", "large", "serious", "advanced", "poorly"),
    ("critical", "extreme", "profound", "end", "undifferentiated"),
)
TELLING = 0.6  # share of the pairs of cases that a model orders rightly, at least
_OF_A_SCORE = 10  # different values, more than codes of classes have
_LONGEST_SCALE = 10
_OFTEN = 0.05  # of the numbers
_MODELS = (
    *("model", "models", "classifier", "algorithm", "method", "net", "network", "learner", "estimator", "system"),
    *("reader", "rater", "annotator", "observer", "radiologist", "pathologist", "physician", "doctor", "expert"),
)
_ANSWERS = (("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"), ("0", "1"), ("-1", "1"), ("absent", "present"))
_GENERIC = ("y", "true", "truth", "label", "labels", "class", "target", "outcome", "event", "result", "status")
_VERBS = ("is", "was", "has", "had")
_LONGEST_ASKED = 40
_ROMAN = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6, "vii": 7}
_NUMBERED = r"^(\D*?)[\s_-]*(\d+)$|^(.*[a-z])[\s_-]+([ivx]+)$"
PERCENT = r"^\s*(\S*)\s*%\s*$"

Cells = dict[str, list[Any]]  # of each column, in order, without empty ones
Labels = dict[str, tuple[str, ...]]  # for each column that may hold labels, its different values, sorted
Scores = dict[str, NDArray[np.float64]]


def guess(cells: Cells, labels: Labels, numbers: Scores) -> ColumnMap | None:
    """Return the apparent meaning of columns, from the cells of each; None if it is unclear."""
    named = _named(_TRUTHS, labels) or _with_word_for_truth(labels)
    if named is not None:
        return guess_with(named, cells, labels, numbers)
    # What is named like a decision is the truth only if nothing else can be.
    in_turn = sorted(cells, key=lambda name: not {*_words(name)}.isdisjoint(_DECIDED))
    words = [name for name in in_turn if _holds_words(name, labels)]
    counted = [name for name in in_turn if _numbers_classes(name, labels)]
    counted = [name for name in counted if not _is_cut_from_another(cells[name], numbers)] or counted
    found = [one for name in words or counted if (one := guess_with(name, cells, labels, numbers)) is not None]
    scored = [one for one in found if one.kind != "labels"]
    if words:
        # A column of words that other columns score is the truth, and not the sex or the hospital before it.
        return next(iter(scored or found), None)
    return scored[0] if len(scored) == 1 else None


def guess_with(truth: str, cells: Cells, labels: Labels, numbers: Scores) -> ColumnMap | None:
    """Return the apparent meaning of columns if `truth` is the true class; None if it is unclear."""
    classes, names = _each_written_once(labels[truth], cells[truth]), [*cells]
    decided = _named(_DECIDED, labels, other_than=truth)
    if decided is not None and len(labels[decided]) > len(classes) and {*classes}.isdisjoint(labels[decided]):
        decided = None  # who decided, and not what
    decided = decided or next((n for n in names if n != truth and set(labels.get(n, ("",))) <= set(classes)), None)
    scored = _score_columns(classes, cells[truth], {name: own for name, own in numbers.items() if name != truth})
    two_said = decided is not None and len({*labels[decided]} & {*classes}) == 2
    if scored is not None and len(scored) == 1 and two_said:
        own = numbers[scored[0]]
        scored = None if are_of_decided(own) or _are_ratings(own) else scored
    if scored is not None:
        if len(scored) == 1 and _is_of_first(scored[0], classes, cells[truth], numbers[scored[0]]):
            # A single column of two classes holds the probability of the second.
            classes = classes[::-1]
        elif len(scored) == len(classes):
            # In the order of the columns, which was chosen on purpose; sorted names would put 10 before 2.
            pairs = sorted(zip(scored, classes, strict=True), key=lambda pair: names.index(pair[0]))
            scored, classes = tuple(column for column, _ in pairs), tuple(name for _, name in pairs)
        found = [numbers[name] for name in scored]
        # What lies in [0, 1] is no raw score, even if it does not add up to 1; reading it says so.
        return ColumnMap(truth, classes, scored, "probabilities" if _inside(found) else kind_of(found))
    if decided is None:
        return None
    return ColumnMap(truth, classes_of_both(classes, labels[decided]), (decided,), "labels")


def are_of_decided(scores: NDArray[np.float64]) -> bool:
    """Return whether the only scores of two classes are those of whichever was decided, never below one half."""
    whole = 1.0 if scores.max() <= 1 else 100.0
    return bool(((scores >= whole / 2) & (scores <= whole)).all())


def numbers_in(cells: Cells) -> Scores:
    """Return the numbers of the columns that may hold scores, which are neither text nor numbers of the cases.

    A cell with a percent sign is a hundredth of its number.
    """
    found = ((name, _numbers(name, values)) for name, values in cells.items())
    return {name: numbers for name, numbers in found if numbers is not None}


def _numbers(name: str, values: Sequence[Any]) -> NDArray[np.float64] | None:
    if name.lower() in _ID or not values:
        return None
    try:
        numbers = np.array([_number(value) for value in values])
    except (TypeError, ValueError):
        return None
    return None if len(numbers) > 2 and (numbers[1:] == numbers[:-1] + 1).all() else numbers


def kind_of(scores: Sequence[NDArray[np.float64]]) -> Literal["probabilities", "percentages", "logits"]:
    """Return the kind of the numbers in columns, of which each belongs to a class.

    Probabilities are in [0, 1] and, with one column per class, sum to 1; percentages sum to 100, or a single column of
    them goes up to 100; others are scores.
    """
    inside = _inside(scores)
    if len(scores) == 1 or len({len(own) for own in scores}) > 1:
        per_cent = len(scores) == 1 and _reaches_per_cent(scores[0])
        return "probabilities" if inside else "percentages" if per_cent else "logits"
    sums, positive = np.sum(scores, axis=0), all((own >= 0).all() for own in scores)
    if inside and _mostly_sum_to(1, sums):
        return "probabilities"
    # Of many classes in whole per cent, rounding shows; a row that is too far off is refused when it is read.
    near = (sums >= 100 - len(scores)) & (sums <= 100 + len(scores))
    return "percentages" if positive and (_mostly_sum_to(100, sums) or bool(near.all())) else "logits"


def as_probabilities(values: NDArray[np.float64], kind: str) -> NDArray[np.float64]:
    """Return probabilities (n, k) from the given columns; a single column belongs to the second of two classes."""
    from scipy.special import softmax

    if kind != "logits":
        shares = values / 100 if kind == "percentages" else values
        # What lies beyond 0 and 1 is a fault of the column itself, not of its complement.
        return np.column_stack([np.clip(1 - shares, 0, 1), shares]) if shares.shape[1] == 1 else shares
    scores = np.column_stack([np.zeros(len(values)), values]) if values.shape[1] == 1 else values
    with np.errstate(invalid="ignore"):  # of what is infinite nothing follows, and the check of the rows says so
        return np.asarray(softmax(scores, axis=1))


def whole_of_shares(scores: Sequence[NDArray[np.float64]]) -> float | None:
    """Return what the columns add up to if it is the same in every row, as of counted votes; None if it is not."""
    if len(scores) < 2 or len({len(own) for own in scores}) > 1 or len(scores[0]) < _ROWS_OF_SHARES:
        return None
    sums = np.sum(scores, axis=0)
    same = bool(np.ptp(sums) <= 1e-3 * sums.max()) and all((own >= 0).all() for own in scores)
    return float(np.median(sums)) if same and sums.max() > 0 else None


def classes_of_both(true: Iterable[object], predicted: Iterable[object]) -> tuple[str, ...]:
    """Return the classes that true and predicted labels mean, in order."""
    return tuple(in_order([*joint_names(true, predicted).values()]))


def in_order(values: Iterable[Any]) -> list[str]:
    """Return the different labels in order: numbers by size, then text alphabetically."""
    found = {label_text(value) for value in values}
    return sorted(found, key=lambda text: (0, int(text), "") if re.fullmatch(r"-?\d{1,9}", text) else (1, 0, text))


def _is_cut_from_another(labels: Sequence[Any], numbers: Scores) -> bool:
    """Return whether two labels only say on which side of a limit another number lies, as an alarm does."""
    high = np.array([label_text(one) == label_text(labels[0]) for one in labels])
    several = (own for own in numbers.values() if len(own) == len(high) and len(np.unique(own)) > _OF_A_SCORE)
    sides = ((own[high], own[~high]) for own in several)
    return not high.all() and any(one.min() > other.max() or other.min() > one.max() for one, other in sides)


def _are_ratings(scores: NDArray[np.float64]) -> bool:
    """Return whether numbers are marks on a scale such as 1 to 5."""
    return bool((scores == np.round(scores)).all()) and float(np.ptp(scores)) <= _LONGEST_SCALE


def _reaches_per_cent(scores: NDArray[np.float64]) -> bool:
    """Return whether numbers are from 0 to 100 and, unlike ratings and mistakes among probabilities, often above 1.

    Raw scores of two classes are of both signs, unless the same class is always decided.
    """
    inside = bool(((scores >= 0) & (scores <= 100)).all())
    return inside and bool((scores > 1).mean() > _OFTEN) and not _are_ratings(scores)


def _inside(scores: Sequence[NDArray[np.float64]]) -> bool:
    return all(((own >= 0) & (own <= 1)).all() for own in scores)


def _number(value: Any) -> float:
    try:
        return float(value)
    except ValueError:
        share = re.match(PERCENT, str(value))
        if share is None:
            raise
        return float(share[1]) / 100


def _mostly_sum_to(whole: float, sums: NDArray[np.float64]) -> bool:
    return bool(((sums >= whole * SUM_RANGE[0]) & (sums <= whole * SUM_RANGE[1])).mean() > 0.5)


def _named(wanted: Sequence[str], labels: Labels, other_than: str = "") -> str | None:
    """Return the column of labels with the first of the names that are wanted."""
    plain = {"_".join(_words(name)): name for name in reversed(labels) if name != other_than}
    return next((plain[name] for name in wanted if name in plain), None)


def _with_word_for_truth(labels: Labels) -> str | None:
    """Return the first column in whose name a word for the truth stands, and none for decisions."""
    telling = {name for name in _TRUTHS if len(name) > 2} - {"class", "label", "labels"}
    words = {name: {*_words(name)} for name in labels}
    return next((name for name, own in words.items() if telling & own and not own & {*_DECIDED}), None)


def _numbers_classes(name: str, labels: Labels) -> bool:
    return name in labels and all(re.fullmatch(r"\d{1,9}", value) for value in labels[name])


def _holds_words(name: str, labels: Labels) -> bool:
    return name in labels and not all(re.fullmatch(r"[-+.\deE]+", value) for value in labels[name])


def names_models(column: str) -> bool:
    """Return whether a column seems to say which model or reader gave a row, by its name."""
    return not {*_words(column)}.isdisjoint(_MODELS)


def _words(name: str) -> tuple[str, ...]:
    """Return the first words and numbers in a name: "p", "cat", "2" for "P(cat)_2" and for "p cat2"."""
    found = re.finditer(r"\d+|[^\W\d_]+", unicodedata.normalize("NFC", name).casefold())
    return tuple(word[0] for word in islice(found, _MOST_WORDS))


def _each_written_once(classes: tuple[str, ...], truth: Sequence[Any]) -> tuple[str, ...]:
    """Return classes without those that look like a more frequent one: a "healthy" among many of "Healthy"."""
    counts = Counter(map(str, truth))
    by_look = groupby(sorted(classes, key=lambda name: (confusable_key(name), -counts[name])), key=confusable_key)
    kept = {next(alike) for _, alike in by_look}
    return tuple(name for name in classes if name in kept)


def _score_columns(classes: Sequence[str], truth: list[Any], numbers: Scores) -> tuple[str, ...] | None:
    """Return the score column of each class, by name or by where scores are high; of two classes perhaps only one."""
    named = next(named_by_class(classes, numbers), None) or _named_class_only(classes, numbers)
    if named is not None:
        return named
    wide = [name for name, own in numbers.items() if len(np.unique(own)) > min(len(own), 2) or len(own) <= 2]
    telling = [name for name in wide if {*_SCORES} & {*_words(name)}]
    for few in (telling, wide):
        if len(few) == 1 and len(classes) == 2:
            return (few[0],)
        if len(few) == len(classes) and (len(few) > 2 or [*_groups_of(2, few, numbers)]):
            break
    else:
        few = next(_groups_of(len(classes), wide, numbers), [])
    if few and len(classes) == 2 and _inside(own := [numbers[name] for name in few]) and kind_of(own) == "logits":
        return (few[0],)  # probabilities of the same class by two models
    if not few and len(classes) == 2:
        inside = (name for name in wide if _inside([numbers[name]]))
        apart = (name for name in inside if abs(share_in_order(numbers[name], truth, classes[1]) - 0.5) > TELLING - 0.5)
        return tuple(islice(apart, 1)) or None  # the first of several models
    return tuple(few[at] for at in _highest(classes, truth, [numbers[name] for name in few])) if few else None


def share_in_order(numbers: NDArray[np.float64], truth: Sequence[Any], second: str) -> float:
    """Return in how many pairs of cases of two classes the number is higher for the second: the area under the ROC."""
    of_second = np.array([label_text(one) == second for one in truth])
    if len(numbers) != len(of_second) or len(np.unique(of_second)) < 2 or len(np.unique(numbers)) <= 2:
        return 0.5
    from sklearn.metrics import roc_auc_score  # takes a second to load, and most files do not need it

    return float(roc_auc_score(of_second, numbers)) if np.isfinite(numbers).all() else 0.5


def named_by_class(classes: Sequence[str], names: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """Yield groups of columns, one per class, whose names differ only in the class: "P(cat) %" and "P(dog) %"."""
    groups: dict[tuple[str, ...], list[list[str]]] = {}
    for name in names:
        own = _words(name)
        for at, text in enumerate(classes):
            wanted = _words(text)
            for start in range(len(own) - len(wanted) + 1 if wanted else 0):
                if own[start : start + len(wanted)] == wanted:
                    rest = (*own[:start], "*", *own[start + len(wanted) :])
                    groups.setdefault(rest, [[] for _ in classes])[at].append(name)
    whole = (tuple(own[0] for own in group) for group in groups.values() if all(len(own) == 1 for own in group))
    yield from (columns for columns in whole if len({*columns}) == len(classes))


def _named_class_only(classes: Sequence[str], names: Iterable[str]) -> tuple[str, ...] | None:
    """Return the columns that are named by a class and at most words for scores: "score_cat" and "Dog logit"."""
    found = [[name for name in names if _is_named(name, text)] for text in classes]
    return tuple(own[0] for own in found) if all(len(own) == 1 for own in found) else None


def _is_named(column: str, text: str) -> bool:
    own, wanted = _words(column), _words(text)
    without = tuple(word for word in own if word not in _SCORES and word != "y")
    return text.casefold() == column.casefold() or (bool(wanted) and wanted in (own, without))


def _groups_of(k: int, names: Sequence[str], numbers: Scores) -> Iterator[list[str]]:
    """Yield groups of k columns that seem to belong together: differing in one word, or next to each other."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        own = _words(name)
        for at in range(len(own) if len(own) > 1 else 0):
            alike.setdefault((*own[:at], "*", *own[at + 1 :]), []).append(name)
    yield from (group for group in alike.values() if len(group) == k)
    runs = (list(names[at : at + k]) for at in range(len(names) - k + 1))
    yield from (run for run in runs if kind_of([numbers[name] for name in run]) != "logits")


def _highest(
    classes: Sequence[str], truth: list[Any], columns: Sequence[NDArray[np.float64]]
) -> NDArray[np.int64] | range:
    """Return the column that is highest on the cases of each class; in column order if this is unclear."""
    from scipy.optimize import linear_sum_assignment

    if any(len(own) != len(truth) or not np.isfinite(own).all() for own in columns):
        return range(len(columns))
    of_case = np.array([label_text(value) for value in truth])
    means = np.array([[own[of_case == name].mean() for own in columns] for name in classes])
    spreads = np.array([own.std() for own in columns])
    _, places = linear_sum_assignment((means - means.mean(axis=0)) / np.where(spreads > 0, spreads, 1), maximize=True)
    return np.asarray(places)


def _is_of_first(column: str, classes: Sequence[str], truth: list[Any], scores: NDArray[np.float64]) -> bool:
    """Return whether the only column of two classes belongs to the first, by its name or by where it is high."""
    named = [_is_named(column, text) for text in classes]
    if any(named):
        return named[0]
    return list(_highest(classes, truth, [scores, -scores])) == [0, 1] and len(scores) == len(truth)


def answered_names(classes: Sequence[str], truth: str) -> tuple[str, ...]:
    """Return names for the classes of a column that answers its own name by yes and no; else the classes.

    >>> answered_names(["no", "yes"], "was_readmitted")
    ('not readmitted', 'readmitted')
    >>> answered_names(["0", "1"], "label")
    ('0', '1')
    """
    words = re.split(r"[\s_]+", truth.strip())
    asked = " ".join(words[1:] if words[0].casefold() in _VERBS else words)
    asked = asked[:1].lower() + asked[1:] if asked[1:2].islower() else asked
    answers = next((pair for pair in _ANSWERS if {*pair} == {name.casefold() for name in classes}), None)
    says_nothing = "_".join(_words(truth)) in _TRUTHS or not {*_words(truth)}.isdisjoint(_GENERIC)
    if answers is None or says_nothing or not any(map(str.isalpha, asked)) or len(asked) > _LONGEST_ASKED:
        return tuple(classes)
    return tuple(asked if name.casefold() == answers[1] else f"not {asked}" for name in classes)


def in_grades(classes: Sequence[str]) -> tuple[int, ...] | None:
    """Return the indices of classes whose names are grades, from the lowest grade on; None if they are none.

    Names that are numbers may be grades. If only some of the names say a degree, the others come last.

    >>> in_grades(["moderate", "no DR", "severe", "mild"])
    (1, 3, 0, 2)
    >>> in_grades(["stage II", "stage III", "stage I"])
    (2, 0, 1)
    >>> in_grades(["melanoma", "naevus", "keratosis"])
    """
    places = range(len(classes))
    numbers = [_number_of(name) for name in classes]
    if all(numbers) and len({kind for kind, _ in filter(None, numbers)}) == 1:
        return tuple(sorted(places, key=lambda place: numbers[place] or ("", 0)))
    degrees = [_degree_of(name) for name in classes]
    said = [degree for degree in degrees if degree is not None]
    if len(set(said)) < max(2, len(classes) / 2):
        return None
    known = [len(_DEGREES) if degree is None else degree for degree in degrees]
    return tuple(sorted(places, key=known.__getitem__))


def _number_of(name: str) -> tuple[str, int] | None:
    """Return what is numbered and its number, of a name like "grade 2", "KL-3", "Stage IV" or "4"."""
    found = re.match(_NUMBERED, name.strip().casefold())
    if found is None:
        return None
    kind, number, of_roman, roman = found.groups()
    if number is not None:
        return kind.strip(), int(number)
    return (of_roman.strip(), _ROMAN[roman]) if roman in _ROMAN else None


def _degree_of(name: str) -> int | None:
    """Return the first degree that a name says, as a number."""
    words = re.findall(r"[^\W\d_]+", name.casefold())
    return next((rank for word in words for rank, same in enumerate(_DEGREES) if word in same), None)
