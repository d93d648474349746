"""What a study is: classes, predictions of one or more models of the same cases, and the words of the domain, stated or
generic.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from elicit_app.problem import Finding, Problem
from metrics.elicited.metric_parts import AnswersFor, CaseWords, Consequence
from metrics.inputs.labels import has_line_end
from metrics.text import capitalised, counted

if TYPE_CHECKING:
    from pydantic import ConfigDict

LONGEST_TEXT = 2_000
"""Letters of a title, a name or a word: more would stop the window that has to lay them out."""

MOST_CLASSES = 50
"""So many classes can be asked about: 2,450 mistakes, each with words, a weight and a doubt of its own."""

Key = tuple[int, int | None]
"""A mistake, (true, predicted); None stands for any wrong answer for that truth."""


@dataclass(frozen=True, eq=False)
class Predictions:
    """One model's class probabilities for the cases of a study."""

    name: str
    y_true: NDArray[np.int64]  # shape (n,): index of the true class
    y_proba: NDArray[np.float64]  # shape (n, k): probability of each class; rows sum to 1


@dataclass(frozen=True)
class ColumnMap:
    """Which column of a predictions file is what, where the columns do not have the names that need no map."""

    __pydantic_config__: ClassVar[ConfigDict] = {"extra": "forbid", "strict": True}  # as a part of `study.json`

    truth: str  # the column of true labels
    classes: tuple[str, ...]  # in order
    # one per class; of two classes perhaps only that of the second; for labels the column of predicted labels
    columns: tuple[str, ...]
    # what is in them: probabilities, raw scores of which the softmax is taken, or labels
    kind: Literal["probabilities", "logits", "labels"] = "probabilities"


@dataclass(frozen=True, eq=False)
class TalliedModel:
    """One model of a packed study: how many cases its decisions put where, and no case."""

    name: str
    usual: NDArray[np.int64]  # shape (k, k): counts of the most probable classes; rows are true classes
    decided: NDArray[np.int64]  # shape (m, k, k): counts of decisions of least expected cost under random costs
    places: NDArray[np.int64]  # shape (m,): the number of each of these draws among those of all models


@dataclass(frozen=True)
class Opinions:
    """What the experts of an earlier round said about one mistake; no expert is named."""

    mistake: Key
    ratios: tuple[float, ...]  # how many of the yardstick's mistakes one of these counts as, ascending
    reasons: tuple[str, ...] = ()  # what they wrote about answers in which this mistake was traded
    # for each ratio its 90 % range, None where nothing is known of it; empty where that is so of all
    bounds: tuple[tuple[float, float] | None, ...] = ()


@dataclass(frozen=True, eq=False)
class Pack:
    """What a packed study has instead of predictions."""

    models: tuple[TalliedModel, ...]  # at least one
    # how to ask: fields of a setting that the coordinator fixed, among them `procedure` and perhaps `purpose`
    setting: dict[str, object]
    digest: str  # sha256 over the file's content
    round: int = 1  # 1, or 2 where experts answer again after they have seen where the others stand
    # in a second round: where the others stand, for the mistakes they differ most about
    others: tuple[Opinions, ...] = ()


@dataclass(frozen=True)
class Mistake:
    """One kind of mistake in the words of the domain."""

    name: str  # title of a row: "Missed melanoma"
    # inside a sentence: "missed melanoma", "missed melanomas"
    one: str
    many: str
    # one sentence of at most 45 characters: "Sent home. Found later, harder to treat."; may be empty.
    consequence: str = ""

    def of(self, true: str, predicted: str | None) -> Consequence:
        """Return these words with the classes they are about, as files have them; None is any wrong answer."""
        return Consequence(true, predicted, self.name, self.one, self.many, self.consequence)


@dataclass(frozen=True)
class Wording:
    """The words of the domain."""

    # what is classified: "patient", "patients"
    case: str
    cases: str
    # per class: "melanoma", "melanomas"
    class_one: tuple[str, ...]
    class_many: tuple[str, ...]
    # (true, predicted) -> Mistake, for every ordered pair of different classes
    mistakes: dict[tuple[int, int], Mistake]
    # per true class: any wrong answer for it (the DLPM family): "Melanoma called something else"
    any_mistake: tuple[Mistake, ...]
    # per class what is done with a case that is called so, as an instruction, "biopsy"; "" where nothing is stated, and
    # empty where nothing is for any class
    class_action: tuple[str, ...] = ()
    # where the study is about amounts instead of mistakes: what is counted, see `metrics.elicited.kinds`. Each class is
    # then an amount, and `any_mistake` has its words.
    priced: Literal["multilabel", "relevance"] | None = None

    @property
    def of_cases(self) -> CaseWords:
        """Return the words for cases and classes, as a metric carries them."""
        return CaseWords(self.case, self.cases, self.class_one, self.class_action)

    def counted(self, cases: int) -> str:
        """Return a number of cases with its noun: "1,000 patients", "1 patient"."""
        return counted(cases, self.case, self.cases)

    def mistake(self, key: Key) -> Mistake:
        """Return the words of a mistake (true, predicted); any wrong answer for a truth where the second is None."""
        true, predicted = key
        return self.any_mistake[true] if predicted is None else self.mistakes[true, predicted]

    def with_mistakes(self, words: Mapping[Key, Mistake]) -> Wording:
        """Return the wording with other words for some mistakes, named as in `mistake`."""
        pairs = {(true, predicted): mistake for (true, predicted), mistake in words.items() if predicted is not None}
        named = tuple(words.get((at, None), mistake) for at, mistake in enumerate(self.any_mistake))
        return replace(self, mistakes={**self.mistakes, **pairs}, any_mistake=named)


@dataclass(frozen=True, eq=False)
class Distribution:
    """A finite distribution of class probabilities: what a synthetic study is made of."""

    eta: NDArray[np.float64]  # shape (n, k): conditional class probabilities P(Y = i | x) at n points of equal weight
    # shape (m, k) or None: the points that stand for the distribution where the radius is computed; None: all of `eta`
    radius_points: NDArray[np.float64] | None = None

    @property
    def for_radius(self) -> NDArray[np.float64]:
        """Return the points that stand for the distribution where the radius is computed, shape (m, k)."""
        return self.eta if self.radius_points is None else self.radius_points

    @property
    def usual(self) -> NDArray[np.float64]:
        """Return the confusion matrix of the most probable classes as rates, shape (k, k), sum 1."""
        chosen = np.eye(self.eta.shape[1])[self.eta.argmax(axis=1)]
        return np.asarray(self.eta.T @ chosen / len(self.eta))


@dataclass(frozen=True, eq=False)
class Study:
    """Real or synthetic predictions with the words to talk about them."""

    name: str  # what `elicit` calls it: "breast-cancer", or the folder's or file's name
    title: str  # for a page: "Skin lesions"
    classes: tuple[str, ...]  # in order; rows and columns of every matrix
    # at least one, all with the same true labels; empty for a synthetic or packed study
    models: tuple[Predictions, ...]
    population: int  # natural frequencies are per this many cases
    stated_prevalence: tuple[float, ...] | None  # row sums stated by the user; None takes them from the data
    wording: Wording
    # (true, predicted) of the mistake that others are compared with; default the models' most frequent one
    yardstick: tuple[int, int]
    kind: Literal["bundled", "folder", "file", "synthetic", "pack"]
    folder: Path | None = None  # the study folder, where it has one (sessions lie below it)
    description: str = ""  # one line for lists: "pneumonia or healthy, 1 model"
    distribution: Distribution | None = None  # only for a synthetic study
    # sha256 over classes, true labels and probabilities; a packed study has that of the study it was made from
    digest: str = field(default="")
    # what answers about it are for, where its maker says so; who answers may say otherwise
    purpose: AnswersFor | None = None
    # what a person should know about how the predictions were read: rows that were divided by their sum
    notes: tuple[str, ...] = ()
    pack: Pack | None = None  # only for a packed study
    # what the columns of the files meant that the study was made from, where they had other names
    columns: ColumnMap | None = None
    # digests that the study had before models were added or taken out: what was answered then still counts
    earlier: tuple[str, ...] = ()

    @property
    def digests(self) -> tuple[str, ...]:
        """Return the digest of the predictions, and those of the same cases with other models."""
        return (self.digest, *self.earlier)

    @property
    def n_classes(self) -> int:
        """Return the number of classes k."""
        return len(self.classes)

    @property
    def answered_elsewhere(self) -> bool:
        """Return whether the answers go back to a coordinator, who alone has the cases."""
        return self.pack is not None and self.wording.priced is None

    @property
    def model_names(self) -> tuple[str, ...]:
        """Return the names of the models; none for a synthetic study."""
        return tuple(model.name for model in (self.models if self.pack is None else self.pack.models))

    @property
    def usual_counts(self) -> tuple[NDArray[np.int64], ...]:
        """Return per model how many cases its most probable classes put into each cell, shape (k, k)."""
        if self.pack is not None:
            return tuple(model.usual for model in self.pack.models)
        k = self.n_classes
        cells = (model.y_true * k + model.y_proba.argmax(axis=1) for model in self.models)
        return tuple(np.bincount(cell, minlength=k * k).reshape(k, k).astype(np.int64) for cell in cells)

    @property
    def case_counts(self) -> NDArray[np.int64] | None:
        """Return the number of real cases of each true class, shape (k,); None for a synthetic study."""
        if self.models:
            return np.bincount(self.models[0].y_true, minlength=self.n_classes).astype(np.int64)
        return None if self.pack is None else np.asarray(self.pack.models[0].usual.sum(axis=1))

    @property
    def n_cases(self) -> int:
        """Return the number of real cases; 0 for a synthetic study."""
        counts = self.case_counts
        return 0 if counts is None else int(counts.sum())

    @property
    def prevalence(self) -> NDArray[np.float64]:
        """Return the prevalence of each class, shape (k,), sum 1: as stated, else as counted."""
        if self.stated_prevalence is not None:
            return np.array(self.stated_prevalence)
        return self.counted_prevalence

    @property
    def counted_prevalence(self) -> NDArray[np.float64]:
        """Return the prevalence among the cases, shape (k,), sum 1; for a synthetic study that of its distribution."""
        counts = self.case_counts
        if counts is not None:
            return np.asarray(counts / counts.sum())
        assert self.distribution is not None
        return np.asarray(self.distribution.eta.mean(axis=0))


def study_digest(
    classes: Sequence[str], models: Sequence[Predictions], distribution: Distribution | None = None
) -> str:
    """Return the sha256 of classes, true labels and probabilities: "sha256:" and 64 hexadecimal digits.

    Names of files and models, wording and population leave it unchanged.
    """
    digest = hashlib.sha256(b"elicit study 1")
    for text in classes:
        encoded = text.encode()
        digest.update(len(encoded).to_bytes(8, "little") + encoded)
    if distribution is not None:
        _add(digest, distribution.eta)
    for model in models:
        _add(digest, model.y_true)
        _add(digest, model.y_proba)
    return f"sha256:{digest.hexdigest()}"


def _add(digest: hashlib._Hash, array: NDArray[np.float64] | NDArray[np.int64]) -> None:
    """Add shape and little-endian numbers; adding 0 turns -0.0 into 0.0."""
    kind = "<i8" if array.dtype.kind == "i" else "<f8"
    digest.update(np.asarray(array.shape, dtype="<i8").tobytes())
    digest.update(np.ascontiguousarray(array + 0, dtype=kind).tobytes())


LONGEST_CONSEQUENCE = 45


def default_wording(classes: Sequence[str], case: str = "case", cases: str = "cases") -> Wording:
    """Return words that fit any study: "Melanoma called naevus", "melanoma cases called naevus"; 7 is "class 7"."""
    names = [f"class {name}" if name.lstrip("+-").isdigit() else name for name in classes]
    many = tuple(f"{name} {cases}" for name in names)
    k = len(names)

    def mistake(true: int, called: str) -> Mistake:
        name = f"{names[true]} called {called}"
        return Mistake(capitalised(name), f"{names[true]} {case} called {called}", f"{many[true]} called {called}")

    return Wording(
        case=case,
        cases=cases,
        class_one=tuple(names),
        class_many=many,
        mistakes={(i, j): mistake(i, names[j]) for i in range(k) for j in range(k) if i != j},
        any_mistake=tuple(mistake(i, names[1 - i] if k == 2 else "something else") for i in range(k)),
    )


def check_wording(wording: Wording, classes: Sequence[str]) -> None:
    """Refuse words that cannot be shown; `classes` are for the sentences.

    Raises
    ------
    Problem
        Every word that is empty, missing for a class, or a consequence too long for the page.
    """
    k = len(classes)
    findings = [*_counts(wording, k)] or [*_texts(wording, classes)]
    if findings:
        first = findings[0]
        raise Problem(f"The words of the study need a change: {first.what}. {first.remedy}".rstrip(), tuple(findings))


def _counts(wording: Wording, k: int) -> Iterator[Finding]:
    pairs = {(i, j) for i in range(k) for j in range(k) if i != j}
    if not len(wording.class_one) == len(wording.class_many) == len(wording.any_mistake) == k:
        yield Finding(f"there must be words for each of the {k} classes")
    if len(wording.class_action) not in (0, k):
        yield Finding(f"there must be what is done for each of the {k} classes, or for none")
    if set(wording.mistakes) != pairs:
        yield Finding(f"there must be words for each of the {len(pairs)} kinds of mistake")


def _texts(wording: Wording, classes: Sequence[str]) -> Iterator[Finding]:
    texts = [("the word for one case", wording.case), ("the word for several cases", wording.cases)]
    for name, one, many in zip(classes, wording.class_one, wording.class_many, strict=True):
        texts += [(f"the word for one “{name}”", one), (f"the word for several “{name}”", many)]
    named = {f"“{classes[i]}” called “{classes[j]}”": mistake for (i, j), mistake in wording.mistakes.items()}
    named |= {f"any wrong answer for “{classes[i]}”": mistake for i, mistake in enumerate(wording.any_mistake)}
    for where, mistake in named.items():
        texts += [(f"the {part} of {where}", getattr(mistake, part)) for part in ("name", "one", "many")]
        if len(mistake.consequence) > LONGEST_CONSEQUENCE:
            message = f"the consequence of {where} has {len(mistake.consequence)} characters"
            yield Finding(message, f"At most {LONGEST_CONSEQUENCE} fit on the page.")
    for where, text in texts:
        if not text.strip():
            yield Finding(f"{where} is empty", "Write a word or two.")
        if has_line_end(text):
            yield Finding(f"{where} has a line end in it", "Write it on one line.")
        if len(text) > LONGEST_TEXT:
            # the sentence cannot name it: the text is the name
            yield Finding(f"one of its words has {len(text):,} characters", f"At most {LONGEST_TEXT:,} can be shown.")
