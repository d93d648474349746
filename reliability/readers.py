"""Every reader of foreign files, with small sound files of its kind as seeds."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import polars as pl

from elicit_app.gui.settings import Settings, load_settings
from elicit_app.problem import Problem
from elicit_app.registry import for_person
from elicit_app.registry.procedures import BayesSetting, LpmSetting
from elicit_app.session.header import begun
from elicit_app.session.journal.events import digest_after, sealed, unsealed
from elicit_app.session.journal.files import read_up_to_damage
from elicit_app.session.journal.listing import summary
from elicit_app.session.journal.recovery import check_session, recover_session
from elicit_app.session.journal.writing import to_lines
from elicit_app.session.packing import packed
from elicit_app.session.session import Session
from elicit_app.study import create_study, open_study
from elicit_app.study.class_measures import measures
from elicit_app.study.first_rows import read_first_rows
from elicit_app.study.folder import read_folder
from elicit_app.study.making import study_of
from elicit_app.study.mapping import settled
from elicit_app.study.measuring import Options, read_practice
from elicit_app.study.packs import pack_bytes, read_pack
from elicit_app.study.reading import read_predictions
from elicit_app.study.words import read_words, words_csv
from metrics import ElicitedMetric
from metrics.errors import InputError
from metrics.files import json_text

REFUSALS = (Problem, InputError)
"""What a reader may raise, with one sentence."""

_CLASSES = ("a", "b", "c")
_ROWS = 6
_BEGUN = datetime(2026, 11, 20, tzinfo=UTC)


@dataclass(frozen=True)
class Reader:
    """One way for a file to get in.

    Parameters
    ----------
    ending : str
        Suffix of its files.
    read : callable
        Reads a path; raises one of `REFUSALS`, or returns.
    seeds : callable
        Returns sound contents, given a folder to work in.
    dressed : callable, optional
        Makes a file from mutated bytes: corrects digests, or puts the bytes into an archive.
    """

    ending: str
    read: Callable[[Path], object]
    seeds: Callable[[Path], list[bytes]]
    dressed: Callable[[bytes], bytes] = bytes


def _table(*, of_people: bool = False) -> dict[str, list[str] | list[float]]:
    truth = [_CLASSES[i % 3] for i in range(_ROWS)]
    shares = np.array([[0.7, 0.2, 0.1], [0.25, 0.5, 0.25], [0, 0, 1]])
    columns = {f"proba_{name}": [float(shares[i % 3, j]) for i in range(_ROWS)] for j, name in enumerate(_CLASSES)}
    named = {"patient_id": [f"MRN {i // 2}" for i in range(_ROWS)], "image": [f"{i}.png" for i in range(_ROWS)]}
    return {"y_true": truth, **(named if of_people else {}), **columns}


def _csv(_: Path) -> list[bytes]:
    text, of_people = pl.DataFrame(_table()).write_csv(), pl.DataFrame(_table(of_people=True)).write_csv()
    return [
        of_people.encode(),
        text.encode(),
        text.replace("\n", "\r\n").encode("utf-8-sig"),
        text.replace("a,", '"a, ""b""",').encode(),
    ]


def _npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def _npz(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), content)
    return buffer.getvalue()


def _proba() -> np.ndarray:
    return np.array([[0.7, 0.2, 0.1], [0.25, 0.5, 0.25], [0, 0, 1]] * 2)


def _archive(_: Path) -> list[bytes]:
    numbers, names = _npy(np.arange(_ROWS) % 3), _npy(np.array(_CLASSES))
    texts = _npy(np.array(_CLASSES)[np.arange(_ROWS) % 3])
    images = _npy(np.array([f"{i}.png" for i in range(_ROWS)]))
    named = _npz(y_true=texts, y_proba=_npy(_proba()), classes=names, image=images)
    return [_npz(y_true=numbers, y_proba=_npy(_proba())), named]


def _members(_: Path) -> list[bytes]:
    return [_npy(_proba()), _npy(_proba().astype(np.float32)), _npy(_proba().astype(">f8")), _npy(_proba().T)]


def _labels(_: Path) -> list[bytes]:
    labels = np.array(_CLASSES)[np.arange(_ROWS) % 3]
    return [_npy(np.arange(_ROWS) % 3), _npy(labels), _npy(labels.astype("S1")), _npy(np.arange(_ROWS) % 3.0)]


def _parquet(_: Path) -> list[bytes]:
    found = []
    for compression in ("zstd", "snappy", "uncompressed"):
        buffer = io.BytesIO()
        pl.DataFrame(_table(of_people=compression == "snappy")).write_parquet(buffer, compression=compression)
        found.append(buffer.getvalue())
    return found


def _session(folder: Path) -> list[bytes]:
    path = folder / "seed.session.jsonl"
    if not path.exists():
        study, setting = open_study("traffic-light"), BayesSetting(seed=1, questions=6)
        with Session.create(study, setting, path, expert="Ada") as session:
            for reply in ("left", "right", "equal"):
                session.answer(reply)
            session.undo()
            session.stop()
    old = sorted((Path(__file__).parents[1] / "tests" / "session" / "journal" / "old").glob("*.jsonl"))
    return [path.read_bytes(), *(one.read_bytes()[:20_000] for one in old[:2])]


def _read_session(path: Path) -> None:
    assert summary(path).path == path
    new = path.with_name("recovered.session.jsonl")
    new.unlink(missing_ok=True)
    try:
        check_session(path)
    finally:
        recover_session(path, new)
        new.unlink()
    read_up_to_damage(path)


def _sealed_lines(data: bytes) -> bytes:
    """Return lines with matching digests, so that their content is examined."""
    digest, lines = "", []
    for line in data.split(b"\n"):
        if not line.endswith(b"}"):
            lines.append(line)
            continue
        digest = digest_after(digest, line)
        lines.append(sealed(line, digest))
    return b"\n".join(lines)


def _bare_lines(folder: Path) -> list[bytes]:
    return [b"\n".join(unsealed(line)[0] for line in _session(folder)[0].splitlines()) + b"\n"]


def _session_settings(_: Path) -> list[bytes]:
    settings = for_person(BayesSetting(seed=1)), for_person(LpmSetting(seed=1))
    return [one.model_dump_json(exclude_none=True).encode() for one in settings]


def _begun_with(setting: bytes) -> bytes:
    """Return a session that begins with a given setting."""
    line = to_lines([begun(open_study("traffic-light"), BayesSetting(), _BEGUN, None, simulated=False)])
    before, after = unsealed(line.strip())[0].split(b'"setting":{', 1)
    return _sealed_lines(before + b'"setting":' + setting + after.split(b"}", 1)[1])


def _ask(path: Path) -> None:
    # In its own folder, because a session remembers which file was there before.
    with tempfile.TemporaryDirectory(dir=path.parent) as own, Session.open(Path(shutil.copy(path, own))) as session:
        session.asking()


def _metric(folder: Path) -> list[bytes]:
    costs = [[0, 0.2, 1], [0.5, 0, 0.1], [0.3, 0.4, 0]]
    bare = ElicitedMetric.from_cost_matrix(list(_CLASSES), costs).to_json()
    document = json.loads(bare)
    document.pop("digest", None)
    return [bare.encode(), json_text(document).encode()]


def _study(folder: Path) -> list[bytes]:
    made = folder / "study"
    if not made.exists():
        (folder / "model.csv").write_bytes(_csv(folder)[0])
        create_study(made, [folder / "model.csv"], population=100)
    return [(made / "study.json").read_bytes()]


def _read_study(path: Path) -> object:
    made = path.parent / "study"
    (made / "study.json").write_bytes(path.read_bytes())
    return read_folder(made)


def _pack(_: Path) -> list[bytes]:
    return [pack_bytes(packed(open_study("traffic-light"), BayesSetting(seed=1)))]


def _repacked(data: bytes) -> bytes:
    try:
        fields = json.loads(data)
        fields.pop("content_digest")
        text = json.dumps(fields, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return json.dumps(fields | {"content_digest": f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"}).encode()
    except (ValueError, AttributeError, TypeError, KeyError, RecursionError):
        return data


def _settings(folder: Path) -> list[bytes]:
    return [json_text({"appearance": "dark", "font_percent": 125, "geometry": "AQID", "folders": ["/a"]}).encode()]


def _words(_: Path) -> list[bytes]:
    return [words_csv(open_study("traffic-light")).encode("utf-8-sig")]


def _practice(_: Path) -> list[bytes]:
    return [b",a,b,c\na,5,1,0\nb,1,0.5,0\nc,0,0,7\n"]


def _odd_columns(_: Path) -> list[bytes]:
    return [
        b"id,sex,Diagnosis,P(a) %,P(b) %,Dr. A\n1,f,a,70 %,30 %,a\n2,m,b,20 %,80 %,a\n3,f,a,55%,45%,b\n",
        b"label;s1;s2;s3\na;0,5;-1;2\nb;1e2;inf;0\nc;nan;3;1\n",
        b"y,pred,score\ntrue,1,0.9\nfalse,0,-inf\ntrue,,0.2\n",
        b"id,truth,pa,pb,Dr. A,Dr. B\n1,a,.7,.3,a,\n2,b,.2,.8,b,a\n3,a,.6,.4,,b\n4,b,.5,.5,a,b\n",
    ]


def _read_odd_columns(path: Path) -> None:
    """Read a file by what its columns seem to be; also guess that for every column that may be the true class."""
    first_rows = read_first_rows(path)
    for truth in first_rows.values:
        first_rows.guess_with(truth)
    if first_rows.guess is not None:
        columns = settled(first_rows, first_rows.guess)
        first_rows.other_models(columns)
        if (model := first_rows.model_column) is not None:
            first_rows.cases_read(first_rows.of_each_model(columns, model))
        readers = first_rows.readers(columns)[:2]
        left, cases = first_rows.cases_read(readers)
        models = (columns, *(replace(one, skip_unread=0 < left < cases) for one in readers))
        study_of([path] * len(models), kind="file", name=path.stem, columns=models)


def _cases(folder: Path) -> list[bytes]:
    return [
        *_csv(folder),
        b"y_true,y_pred\na,a\nb,a\nb,b\n",
        b"y_true,mean,std,lower,upper\n1,1.5,.5,0,2\n2,2.5,1,1,3\n4,3,.1,2,5\n",
        b"true_x,true_y,pred_x,pred_y\n1,0,1,1\n0,1,0,0\n1,1,0,1\n",
        b"x_true,y_true_,x_pred,z_true,z_proba\nyes,a,no,1,.5\nno,b,no,0,.2\n",
        b"y_true,y_pred,context_room\na,b,hall\nb,b,office\na,a,hall\n",
    ]


def _measure(path: Path) -> None:
    """Take every measure of a file; what it gives must be JSON."""
    refusals = []
    for one in measures().values():
        try:
            found = one.of(path, Options())
        except REFUSALS as refusal:
            refusals.append(refusal)
        else:
            json.dumps([found.value, found.details], allow_nan=False)
    if len(refusals) == len(measures()):
        raise refusals[0]


READERS = {
    "predictions-csv": Reader(".csv", read_predictions, _csv),
    "odd-columns": Reader(".csv", _read_odd_columns, _odd_columns),
    "predictions-npz": Reader(".npz", read_predictions, _archive),
    "npz-probabilities": Reader(
        ".npz", read_predictions, _members, lambda data: _npz(y_true=_npy(np.arange(_ROWS) % 3), y_proba=data)
    ),
    "odd-arrays": Reader(
        ".npz",
        _read_odd_columns,
        _members,
        lambda data: _npz(target=_npy(np.arange(_ROWS) % 3), logits=data, names=_npy(np.array(_CLASSES))),
    ),
    "npz-labels": Reader(".npz", read_predictions, _labels, lambda data: _npz(y_true=data, y_proba=_npy(_proba()))),
    "predictions-parquet": Reader(".parquet", read_predictions, _parquet),
    "session": Reader(".session.jsonl", _read_session, _session),
    "session-lines": Reader(".session.jsonl", _read_session, _bare_lines, _sealed_lines),
    "session-setting": Reader(".session.jsonl", _ask, _session_settings, _begun_with),
    "metric": Reader(".metric.json", ElicitedMetric.load, _metric),
    "study": Reader(".json", _read_study, _study),
    "pack": Reader(".elicit", read_pack, _pack, _repacked),
    "settings": Reader(".settings", lambda path: isinstance(load_settings(path), Settings), _settings),
    "words": Reader(".csv", lambda path: read_words(open_study("traffic-light"), path), _words),
    "measures": Reader(".csv", _measure, _cases),
    "practice": Reader(".csv", lambda path: read_practice(path, _CLASSES), _practice),
}
