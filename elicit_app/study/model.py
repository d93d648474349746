"""A study: classes, predictions of one or more models for the same cases, and the words of the domain."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from elicit_app.problem import Finding, Problem
from metrics.elicited.kinds import AnswersFor
from metrics.elicited.metric_parts import CaseWords, Consequence
from metrics.inputs.labels import has_line_end, labels_only
from metrics.measures.confusion import natural_cases
from metrics.text import capitalised, counted

if TYPE_CHECKING:
    from pydantic import ConfigDict

    from metrics.policies.recalibration import Calibration

LONGEST_TEXT = 2_000
"""Characters of a title, a name or a word; laying out more would freeze the window."""

MOST_CLASSES = 50
"""Largest number of classes: they have 2,450 mistakes, each with its own words, weight and uncertainty."""

MOST_SHOWN = 1_000_000  # cases a matrix
_CALIBRATING = Lock()  # a thread that comes while another computes waits, and finds the result

Key = tuple[int, int | None]
"""A mistake, (true, predicted); None stands for any wrong answer for that truth."""


@dataclass(frozen=True, eq=False)
class Predictions:
    """One model's class probabilities for the cases of a study."""

    name: str
    y_true: NDArray[np.int64]  # shape (n,): index of the true class
    y_proba: NDArray[np.float64]  # shape (n, k): probability of each class; rows sum to 1
    people: NDArray[np.int64] | None = None  # shape (n,): whose case each is, by number, if several are of one person
    cases: NDArray[np.int64] | None = None  # shape (n,): a number for each case, the same in every file, if known

    @cached_property
    def labels_only(self) -> bool:
        """Return whether the model names a class for each case, without probabilities."""
        return labels_only(self.y_proba)

    def calibration(self) -> Calibration:
        """Return the calibration of the probabilities, which does not depend on costs; computed once."""
        with _CALIBRATING:
            return self._calibration

    @cached_property
    def _calibration(self) -> Calibration:
        from metrics.policies.recalibration import calibration  # imported here because the start page does without it

        return calibration(self.y_true, self.y_proba, self.people)


@dataclass(frozen=True)
class ColumnMap:
    """The meaning of the columns of a predictions file that does not use the usual names."""

    __pydantic_config__: ClassVar[ConfigDict] = {"extra": "forbid", "strict": True}  # as a part of `study.json`

    truth: str  # the column of true labels
    classes: tuple[str, ...]  # in order
    # one per class; for two classes possibly only that of the second; for labels the column of predicted labels
    columns: tuple[str, ...]
    # their content: probabilities, the same times 100, raw scores for a softmax, or labels
    kind: Literal["probabilities", "percentages", "logits", "labels"] = "probabilities"
    # whether a case without a label was not read, and is left out for all models; further files must say so themselves
    skip_unread: bool = False
    # a column and its value in the rows of this model, where a file has a row for each model and case
    only: tuple[str, str] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Return all columns that the map names."""
        return (self.truth, *self.columns, *(self.only or ())[:1])

    @property
    def called(self) -> str:
        """Return what names the model: the words in the names of all columns ("net_cat", "net_dog"), or its rows."""
        if self.only is not None:
            return self.only[1]
        first, *others = [re.split(r"[\W_]+", name) for name in self.columns]
        common = [word for word in first if all(word in words for words in others)]
        return (" ".join(common) if others else "") or self.columns[0]


@dataclass(frozen=True, eq=False)
class TalliedModel:
    """One model of a packed study: counts of its decisions, without any case."""

    name: str
    usual: NDArray[np.int64]  # shape (k, k): counts of the most probable classes; rows are true classes
    decided: NDArray[np.int64]  # shape (m, k, k): counts of least-cost decisions under random costs
    places: NDArray[np.int64]  # shape (m,): the position of each of these draws among those of all models


@dataclass(frozen=True)
class Opinions:
    """The opinions of the experts of an earlier round about one mistake, without names."""

    mistake: Key
    ratios: tuple[float, ...]  # cost of this mistake in units of the yardstick, ascending
    reasons: tuple[str, ...] = ()  # their comments on answers in which this mistake was traded
    # the 90 % range of each ratio, None if unknown; empty if all are unknown
    bounds: tuple[tuple[float, float] | None, ...] = ()


@dataclass(frozen=True, eq=False)
class Pack:
    """The content of a packed study in place of predictions."""

    models: tuple[TalliedModel, ...]  # at least one
    # how to ask: fields of a setting fixed by the coordinator, among them `procedure` and possibly `purpose`
    setting: dict[str, object]
    digest: str  # sha256 over the file's content
    round: int = 1  # 1, or 2 if experts answer again after seeing the opinions of the others
    # in a second round: the others' opinions on the mistakes about which they differ most
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
        """Return these words with their classes, as in files; a predicted class of None means any wrong answer."""
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
    # what is done with a case of each predicted class, as an instruction, "biopsy"; "" if nothing is stated, and empty
    # if nothing is stated for any class
    class_action: tuple[str, ...] = ()
    # for a study of amounts instead of mistakes: what is counted, see `metrics.elicited.kinds`. Each class is then an
    # amount, and `any_mistake` holds its words.
    priced: Literal["multilabel", "relevance"] | None = None

    @property
    def of_cases(self) -> CaseWords:
        """Return the words for cases and classes in the form stored in a metric."""
        return CaseWords(self.case, self.cases, self.class_one, self.class_action)

    def counted(self, cases: int) -> str:
        """Return a number of cases with its noun: "1,000 patients", "1 patient"."""
        return counted(cases, self.case, self.cases)

    def mistake(self, key: Key) -> Mistake:
        """Return the words of a mistake (true, predicted); None as the second means any wrong answer for that truth."""
        true, predicted = key
        return self.any_mistake[true] if predicted is None else self.mistakes[true, predicted]

    def with_mistakes(self, words: Mapping[Key, Mistake]) -> Wording:
        """Return the wording with other words for some mistakes, with keys as in `mistake`."""
        pairs = {(true, predicted): mistake for (true, predicted), mistake in words.items() if predicted is not None}
        named = tuple(words.get((at, None), mistake) for at, mistake in enumerate(self.any_mistake))
        return replace(self, mistakes={**self.mistakes, **pairs}, any_mistake=named)


@dataclass(frozen=True, eq=False)
class Distribution:
    """A finite distribution of class probabilities, from which a synthetic study is made."""

    eta: NDArray[np.float64]  # shape (n, k): conditional class probabilities P(Y = i | x) at n points of equal weight
    # shape (m, k) or None: the points used to compute the radius; None: all of `eta`
    radius_points: NDArray[np.float64] | None = None

    @property
    def for_radius(self) -> NDArray[np.float64]:
        """Return the points used to compute the radius, shape (m, k)."""
        return self.eta if self.radius_points is None else self.radius_points

    @property
    def usual(self) -> NDArray[np.float64]:
        """Return the confusion matrix of the most probable classes as rates, shape (k, k), sum 1."""
        chosen = np.eye(self.eta.shape[1])[self.eta.argmax(axis=1)]
        return np.asarray(self.eta.T @ chosen / len(self.eta))


@dataclass(frozen=True, eq=False)
class Study:
    """Real or synthetic predictions, with the words of their domain."""

    name: str  # its name on the command line: "breast-cancer", or the folder's or file's name
    title: str  # for a page: "Skin lesions"
    classes: tuple[str, ...]  # in order; rows and columns of every matrix
    # at least one, all with the same true labels; empty for a synthetic or packed study
    models: tuple[Predictions, ...]
    population: int  # number of cases to which natural frequencies refer
    stated_prevalence: tuple[float, ...] | None  # row sums stated by the user; None takes them from the data
    wording: Wording
    # (true, predicted): the mistake with which others are compared; by default the models' most frequent one
    yardstick: tuple[int, int]
    kind: Literal["bundled", "folder", "file", "synthetic", "pack"]
    folder: Path | None = None  # the study folder, if any; sessions are stored in it
    description: str = ""  # one line for lists: "pneumonia or healthy, 1 model"
    distribution: Distribution | None = None  # only for a synthetic study
    # sha256 over classes, true labels and probabilities; a packed study has that of its source
    digest: str = field(default="")
    # purpose of the answers as stated by the study's author; the expert may choose another
    purpose: AnswersFor | None = None
    # notes on how the predictions were read, such as rows that were divided by their sum
    notes: tuple[str, ...] = ()
    pack: Pack | None = None  # only for a packed study
    # meaning of the columns of the source files, if they had other than the usual names
    columns: ColumnMap | None = None
    # digests of the study before models were added or removed; earlier answers remain valid
    earlier: tuple[str, ...] = ()
    unread: int = 0  # cases of the source files that were left out because not everybody read them

    @property
    def unread_notes(self) -> tuple[str, ...]:
        """Return a note if cases were left out that not everybody read."""
        if not self.unread:
            return ()
        left, of = self.n_cases, self.n_cases + self.unread
        return (f"Only the {left:,} of {of:,} {self.wording.cases} that everybody read are compared.",)

    @property
    def digests(self) -> tuple[str, ...]:
        """Return the digest of the predictions, and the earlier ones for the same cases with other models."""
        return (self.digest, *self.earlier)

    @property
    def people(self) -> NDArray[np.int64] | None:
        """Return a number for the person whose case each row is, shape (n,), if several are of one person."""
        return self.models[0].people if self.models else None

    @property
    def n_classes(self) -> int:
        """Return the number of classes k."""
        return len(self.classes)

    @property
    def answered_elsewhere(self) -> bool:
        """Return whether the answers are returned to a coordinator, who alone has the cases."""
        return self.kind == "pack"

    @property
    def model_names(self) -> tuple[str, ...]:
        """Return the names of the models; none for a synthetic study."""
        return tuple(model.name for model in (self.models if self.pack is None else self.pack.models))

    @property
    def usual_counts(self) -> tuple[NDArray[np.int64], ...]:
        """Return the confusion matrix of each model's most probable classes, as counts of shape (k, k)."""
        if self.pack is not None:
            return tuple(model.usual for model in self.pack.models)
        k = self.n_classes
        cells = (model.y_true * k + model.y_proba.argmax(axis=1) for model in self.models)
        return tuple(np.bincount(cell, minlength=k * k).reshape(k, k).astype(np.int64) for cell in cells)

    @property
    def readers(self) -> tuple[str, ...]:
        """Return the names of the models that give only labels, as human readers do."""
        return tuple(model.name for model in self.models if model.labels_only)

    def average_reader(self) -> NDArray[np.int64]:
        """Return what a reader decides on average, as counts of shape (k, k); there is at least one reader."""
        counts = [one for model, one in zip(self.models, self.usual_counts, strict=True) if model.labels_only]
        return np.asarray(np.rint(np.mean(counts, axis=0)), dtype=np.int64)

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
        """Return the prevalence of each class, shape (k,), with sum 1: as stated, otherwise as counted."""
        if self.stated_prevalence is not None:
            return np.array(self.stated_prevalence)
        return self.counted_prevalence

    @property
    def counted_prevalence(self) -> NDArray[np.float64]:
        """Return the prevalence among the cases, or in a synthetic study's distribution, shape (k,), with sum 1."""
        counts = self.case_counts
        if counts is not None:
            return np.asarray(counts / counts.sum())
        assert self.distribution is not None
        return np.asarray(self.distribution.eta.mean(axis=0))

    @property
    def shown_cases(self) -> list[int]:
        """Return the number of cases of each class in a question."""
        return natural_cases(self.prevalence, self.population)


def study_digest(
    classes: Sequence[str], models: Sequence[Predictions], distribution: Distribution | None = None
) -> str:
    """Return the sha256 of classes, true labels and probabilities: "sha256:" and 64 hexadecimal digits.

    It does not depend on names of files, models, people and cases, on wording or population.
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
_MISREAD = re.compile("[IVX]+|(?i:all|any|both|correct|different|false|left|no|none|others?|right|same|true|wrong|yes)")
"""Names that sentences turn into something else: "12 fewer no cases called yes"."""


def default_wording(classes: Sequence[str], case: str = "case", cases: str = "cases") -> Wording:
    """Return generic words: "Melanoma called naevus", "melanoma cases called naevus".

    Numbers get a noun: "class 7", "class 2+", "class II". So do A and B, as the results of a question are called, and
    names like "no".
    """
    like_a_result = any(name.lower() in ("a", "b") for name in classes)

    def named(name: str) -> str:
        misread = _MISREAD.fullmatch(name) or (like_a_result and len(name) <= 2)
        return f"class {name}" if misread or not any(map(str.isalpha, name)) else name

    names = [named(name) for name in classes]
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
    """Check that all words can be shown; `classes` are for error messages.

    Raises Problem if a word is empty or missing for a class, or a consequence is too long for the page; it lists all
    faults.
    """
    k = len(classes)
    findings = [*_counts(wording, k)] or [*_texts(wording, classes)]
    if findings:
        first = findings[0]
        raise Problem(f"The words of the study need a change: {first.what}. {first.remedy}".rstrip(), tuple(findings))


def _counts(wording: Wording, k: int) -> Iterator[Finding]:
    pairs = {(i, j) for i in range(k) for j in range(k) if i != j}
    if not len(wording.class_one) == len(wording.class_many) == len(wording.any_mistake) == k:
        yield Finding(f"give words for each of the {k} classes")
    if len(wording.class_action) not in (0, k):
        yield Finding(f"give an action for each of the {k} classes, or for none")
    if set(wording.mistakes) != pairs:
        yield Finding(f"give words for each of the {len(pairs):,} kinds of mistake")


def _texts(wording: Wording, classes: Sequence[str]) -> Iterator[Finding]:
    texts = [("the word for one case", wording.case), ("the word for several cases", wording.cases)]
    for name, one, many in zip(classes, wording.class_one, wording.class_many, strict=True):
        texts += [(f"the word for one “{name}”", one), (f"the word for several “{name}”", many)]
    named = {f"“{classes[i]}” called “{classes[j]}”": mistake for (i, j), mistake in wording.mistakes.items()}
    named |= {f"any wrong answer for “{classes[i]}”": mistake for i, mistake in enumerate(wording.any_mistake)}
    for where, mistake in named.items():
        words = ("name", mistake.name), ("word for one", mistake.one), ("word for several", mistake.many)
        texts += [(f"the {part} of {where}", text) for part, text in words]
        if len(mistake.consequence) > LONGEST_CONSEQUENCE:
            message = f"the consequence of {where} has {len(mistake.consequence)} characters"
            yield Finding(message, f"At most {LONGEST_CONSEQUENCE} fit on the page.")
    for where, text in texts:
        if not text.strip():
            yield Finding(f"{where} is empty", "Write a word or two.")
        if has_line_end(text):
            yield Finding(f"{where} has a line end in it", "Write it on one line.")
        if len(text) > LONGEST_TEXT:
            # the message cannot name it, because the text is the name
            yield Finding(f"one of its words has {len(text):,} characters", f"At most {LONGEST_TEXT:,} can be shown.")
