"""The words of a study, and the table of those for mistakes that is written and read as CSV."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

from elicit_app.problem import Finding, Problem
from elicit_app.study.model import Key, Mistake, Study, Wording, default_wording
from elicit_app.study.tables import MOST_TYPED_BYTES, SEPARATORS
from elicit_app.study.writing import write_whole
from metrics.errors import InputError
from metrics.files import cell_text, csv_cell, read_regular_file
from metrics.inputs.class_index import ClassIndex

Names = tuple[str, ...]

HEADS = ("truth", "called", "name", "one", "several", "what follows")
ANYTHING_ELSE = "(anything else)"
_PARTS = {"name": "name", "one": "one", "many": "several", "consequence": "what follows"}


def keys_of(study: Study) -> tuple[Key, ...]:
    """Return every mistake that has words: by true class, then by predicted class, then the "any wrong answer" ones."""
    k = study.n_classes
    pairs: list[Key] = [(i, j) for i in range(k) for j in range(k) if i != j]
    return tuple(pairs) if _single_mistake_per_class(study) else (*pairs, *((i, None) for i in range(k)))


def _single_mistake_per_class(study: Study) -> bool:
    """Return whether "any wrong answer" is the same as the only mistake for a truth, and shares its words."""
    return study.n_classes == 2 and study.wording.priced is None


def with_mistakes(study: Study, words: dict[Key, Mistake]) -> Study:
    """Return the study with other words for some mistakes."""
    if _single_mistake_per_class(study):
        words = words | {(true, None): mistake for (true, _), mistake in words.items()}
    return replace(study, wording=study.wording.with_mistakes(words))


def with_nouns(study: Study, case: str, cases: str, class_one: Names, class_many: Names) -> Study:
    """Return the study with other nouns for one case and several, and for one and several of each class.

    Default names of mistakes follow them, and consequences stay. If no plural of a class is another one, those that are
    composed of the class and the word for several cases follow, too.
    """
    before = study.wording
    if class_many == before.class_many:
        class_many = tuple(
            f"{new} {cases}" if many == f"{one} {before.cases}" else many
            for many, one, new in zip(before.class_many, before.class_one, class_one, strict=True)
        )
    old = default_wording(before.class_one, before.case, before.cases)
    new = default_wording(class_one, case, cases)

    def renamed(mistake: Mistake, old: Mistake, new: Mistake) -> Mistake:
        usual = (mistake.name, mistake.one, mistake.many) == (old.name, old.one, old.many)
        return Mistake(new.name, new.one, new.many, mistake.consequence) if usual else mistake

    mistakes = {key: renamed(mistake, old.mistakes[key], new.mistakes[key]) for key, mistake in before.mistakes.items()}
    named = tuple(map(renamed, before.any_mistake, old.any_mistake, new.any_mistake))
    return replace(study, wording=Wording(case, cases, class_one, class_many, mistakes, named, before.class_action))


def words_csv(study: Study) -> str:
    """Return the words of all mistakes as CSV, one per line, with classes named as in the predictions."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(HEADS)
    for true, predicted in keys_of(study):
        called = ANYTHING_ELSE if predicted is None else study.classes[predicted]
        mistake = study.wording.mistake((true, predicted))
        words = (study.classes[true], called, mistake.name, mistake.one, mistake.many, mistake.consequence)
        rows.writerow(map(csv_cell, words))
    return text.getvalue()


def write_words(study: Study, path: Path) -> Path:
    """Write the words of all mistakes to a file; a byte order mark tells spreadsheets that it is UTF-8.

    Raises Problem if it cannot be written.
    """
    return write_whole(path, words_csv(study).encode("utf-8-sig"))


def read_words(study: Study, path: Path) -> dict[Key, Mistake]:
    """Return the words for mistakes of `study` from a CSV file; empty cells keep the present words.

    Raises Problem if it cannot be read, lacks the columns "truth" and "called", or names an unknown class.
    """
    try:
        text = read_regular_file(path, MOST_TYPED_BYTES).decode("utf-8-sig")
        delimiter = max(SEPARATORS, key=text.partition("\n")[0].count)
        lines = list(csv.DictReader(io.StringIO(text), delimiter=delimiter))
    except OSError as error:
        raise Problem(f"{path} cannot be read ({error.strerror or error}).") from error
    except InputError as error:
        raise Problem(f"{path} {error}: a table of words was expected.") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise Problem(f"{path} cannot be read as text in UTF-8 ({error}). Save it as CSV UTF-8.") from error
    rows = [{name.strip().lower(): cell_text(cell or "") for name, cell in line.items() if name} for line in lines]
    if not rows or not {"truth", "called"} <= set(rows[0]):
        raise Problem(f"{path.name} has no columns “truth” and “called”. Save the words as CSV, and fill that in.")
    index = ClassIndex(study.classes)
    found: dict[Key, Mistake] = {}
    findings = []
    for number, row in enumerate(rows, start=2):
        key = _key(index, row.get("truth", ""), row.get("called", ""))
        if key is None:
            mistake = f"“{row.get('truth')}” called “{row.get('called')}”"
            what = f"line {number} is about {mistake}, which is not a mistake in this study"
            findings.append(Finding(what, "Write the classes as the predictions file does."))
            continue
        found[key] = _filled(study, key, row)
    if findings:
        raise Problem(f"{path.name}: {findings[0].what}.", tuple(findings))
    return found


def _key(index: ClassIndex, truth: str, called: str) -> Key | None:
    true, predicted = index.place(truth), index.place(called)
    if true >= 0 and predicted < 0 and called.strip() == ANYTHING_ELSE:
        return true, None
    return (true, predicted) if min(true, predicted) >= 0 and true != predicted else None


def _filled(study: Study, key: Key, row: dict[str, str]) -> Mistake:
    before = study.wording.mistake(key)
    cells = {part: row.get(head, "").strip() for part, head in _PARTS.items()}
    return replace(before, **{part: text for part, text in cells.items() if text})
