import json
import os
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import metrics
from metrics import CaseWords, Consequence, ElicitedMetric, MetricFileError, Provenance, Quality, Tally
from metrics.elicited.metric_file import CURRENT_VERSION, MetricDocument, metric_schema, migrate
from metrics.elicited.metric_parts import kept_draws, rounded_draws
from metrics.errors import ArgumentTypeError
from metrics.files import document_digest, json_text, write_atomically
from metrics.inputs.labels import label_text

CREATED = datetime(2026, 11, 20, 12, 30, tzinfo=UTC)
COSTS = [[0, 1, 0.91], [0.13, 0, 0.013], [0.11, 0.03, 0]]
INTERVALS = [[[0, 0], [1, 1], [0.52, np.inf]], [[0.08, 0.2], [0, 0], [0.005, 0.03]], [[0.07, 0.17], [0, 0.03], [0, 0]]]


def full_metric(**changes):
    details = {
        "name": "Skin lesions",
        "created": CREATED,
        "intervals": INTERVALS,
        "samples": -np.random.default_rng(0).gamma(1, size=(20, 6)),
        "prevalence": [0.1, 0.7, 0.2],
        "population": 1000,
        "words": CaseWords("lesion", "lesions", ("melanoma", "naevus", "keratosis"), ("cut out", "", "")),
        "consequences": [Consequence("melanoma", "naevus", "Missed melanoma", "missed melanoma", "missed melanomas")],
        "yardstick": ("naevus", "melanoma"),
        "provenance": Provenance("bayes", "0.1.0", {"ask": "all", "caps": [1, 2.5]}, 7, 14, "ab", "cd", "Dr. Ö"),
        "quality": Quality(Tally(2, 3), Tally(12, 14), Tally(5, 5)),
    }
    return ElicitedMetric.from_cost_matrix(["melanoma", "naevus", "keratosis"], COSTS, **(details | changes))


def same(first, second):
    assert json.loads(first.to_json()) == json.loads(second.to_json())


def changed(tmp_path, change):
    """Write a good file, let `change` edit its JSON object, and return the path."""
    document = json.loads(full_metric().to_json())
    change(document)
    path = tmp_path / "changed.metric.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_everything_comes_back(tmp_path):
    metric = full_metric()
    path = tmp_path / "skin.metric.json"
    metric.save(path)
    loaded = ElicitedMetric.load(path)
    same(metric, loaded)
    assert loaded.created == CREATED
    assert loaded.consequences == metric.consequences
    assert loaded.words == metric.words
    assert loaded.provenance == metric.provenance
    assert loaded.quality == metric.quality
    np.testing.assert_array_equal(loaded.intervals, INTERVALS)
    np.testing.assert_array_equal(loaded.samples, metric.samples)
    np.testing.assert_array_equal(loaded.cost_matrix, COSTS)
    np.testing.assert_array_equal(loaded.weights, metric.weights)


names = st.lists(st.text(min_size=1, max_size=8).map(label_text).filter(bool), min_size=2, max_size=4, unique=True)


@settings(deadline=None)
@given(st.data())
def test_any_costs_and_any_names_come_back(data):
    classes = data.draw(names)
    k = len(classes)
    family = data.draw(st.sampled_from(["lpm", "dlpm"]))
    size = k if family == "dlpm" else k * k - k
    weights = data.draw(arrays(np.float64, size, elements=st.floats(1e-9, 1e9)))
    metric = ElicitedMetric.from_weights(classes, weights if family == "dlpm" else -weights, family, created=CREATED)
    loaded = ElicitedMetric.from_json(metric.to_json())
    same(metric, loaded)
    assert loaded.classes == tuple(classes)
    np.testing.assert_array_equal(loaded.release_factors(), metric.release_factors())


def test_the_fields_are_those_of_the_specification():
    document = json.loads(full_metric().to_json())
    # A metric of mistakes between classes is written as it was before there were other kinds.
    assert list(document) == [name for name in MetricDocument.model_fields if name != "kind"]
    assert document["format"] == "elicited-metric"
    assert document["version"] == CURRENT_VERSION
    assert document["created"] == "2026-11-20T12:30:00Z"
    assert document["orientation"] == "rows are true classes, columns are predicted classes"
    assert np.linalg.norm(document["weights"]) == pytest.approx(1)
    assert max(map(max, document["cost_matrix"])) == 1
    assert sum(document["class_weight"].values()) == pytest.approx(3)
    assert document["intervals"][0][2] == [0.52, None]
    assert document["release"]["list"][0][0] in document["classes"]
    counts, costs = np.array(document["worked_example"]["counts"]), np.array(document["cost_matrix"])
    assert document["worked_example"]["mean_cost"] == pytest.approx((counts * costs).sum() / counts.sum())
    assert len(set(counts[~np.eye(3, dtype=bool)])) == 6


def test_draws_are_written_once_and_read_however_they_are_laid_out(tmp_path):
    draws = -np.random.default_rng(1).gamma(1, size=(3, 6))
    draws[0, :2], draws[1, 0] = (-0.0, -2.0), -1e-300
    text = full_metric(samples=draws).to_json()
    document = json.loads(text)
    assert text == json_text(document)
    assert document["digest"] == document_digest(document)
    others = [
        json.dumps(document, indent=2),
        json.dumps(document),
        text.replace("\n", "\r\n"),
        text.replace("-2.0", "-2"),
    ]
    for other in (text, *others, text.replace('"samples": [', '"samples": [ ')):
        np.testing.assert_array_equal(ElicitedMetric.from_json(other).samples, draws)


@given(arrays(float, (3, 4), elements=st.floats(1e-9, 1e3)), st.sampled_from([-1, 1]))
def test_rounded_draws_are_short_and_near(draws, sign):
    rounded = rounded_draws(sign * draws)
    np.testing.assert_allclose(rounded, sign * draws, rtol=5.1e-6)
    np.testing.assert_array_equal(rounded_draws(rounded), rounded)
    assert all(value == float(f"{value:.7g}") for value in rounded.ravel())


@given(arrays(float, 4, elements=st.floats(1e-100, 1e-9)))
def test_no_draw_is_rounded_to_nothing(draws):
    np.testing.assert_allclose(rounded_draws(draws[None])[0], draws, rtol=5.1e-6)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("-0.5,", "-0.25,", "digest: does not fit"),
        ("-0.5,", "-0.5", "is not JSON .*line 26, column 15"),
        ("-0.5,", "NaN,", r"samples\[0\]\[1\] must be a finite number"),
        ("-0.5,", '"-0.5",', r"samples\[0\]\[1\] must be a number"),
        ("-0.5,", "[-0.5],", r"samples\[0\]\[1\] must be a number"),
        ('"population": 1000', '"samples": []', "field samples occurs twice"),
        ('"consequences": [', '"consequences": [nothing', "is not JSON .*line 44"),
    ],
)
def test_a_fault_among_or_after_the_draws_is_named(old, new, words):
    text = full_metric(samples=np.tile([-1.0, -0.5, -1, -1, -1, -1], (2, 1))).to_json()
    assert text.count(old)
    with pytest.raises(MetricFileError, match=words):
        ElicitedMetric.from_json(text.replace(old, new, 1))


def test_times_are_written_in_utc(tmp_path):
    local = datetime(2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=2)))
    assert json.loads(full_metric(created=local).to_json())["created"] == "2025-12-31T23:00:00Z"
    with pytest.raises(ValueError, match="time zone"):
        full_metric(created=datetime(2026, 1, 1))
    before = datetime.now(UTC)
    made = ElicitedMetric.from_cost_matrix(["a", "b"], [[0, 1], [1, 0]]).created
    assert before <= made <= datetime.now(UTC)


def test_the_published_schema_is_current():
    published = Path(metrics.__file__).parent / "schema" / "elicited-metric.schema.json"
    assert json.loads(published.read_text(encoding="utf-8")) == json.loads(json.dumps(metric_schema()))


CORRUPTIONS = {
    "newer version": (lambda d: d.update(version=2), "version 2, this program reads versions up to 1; update"),
    "no version": (lambda d: d.pop("version"), "field version holds null"),
    "version as text": (lambda d: d.update(version="1"), "field version holds '1'"),
    "version as truth": (lambda d: d.update(version=True), "field version holds true"),
    "version zero": (lambda d: d.update(version=0), "field version holds 0"),
    "other format": (lambda d: d.update(format="session"), "field format holds 'session'"),
    "missing field": (lambda d: d.pop("cost_matrix"), "field cost_matrix is missing"),
    "unknown field": (lambda d: d.update(cost_matrx=[]), "field cost_matrx is unknown"),
    "unknown nested field": (lambda d: d["provenance"].update(sed=1), r"field provenance\.sed is unknown"),
    "text for number": (
        lambda d: d["weights"].__setitem__(1, "-0.5"),
        r"field weights\[1\] must be a number, not '-0.5'",
    ),
    "boolean for number": (lambda d: d["weights"].__setitem__(1, True), r"field weights\[1\] must be a number"),
    "null in costs": (
        lambda d: d["cost_matrix"][0].__setitem__(0, None),
        r"field cost_matrix\[0\]\[0\] must be a number",
    ),
    "number for name": (lambda d: d["classes"].__setitem__(0, 3), r"field classes\[0\] must be a text, not 3"),
    "one class": (lambda d: d.update(classes=["a"]), "field classes needs at least 2 entries, 1 given"),
    "two alike": (lambda d: d.update(classes=["a", "b", "a"]), "'a' stands for two classes"),
    "too few weights": (lambda d: d["weights"].pop(), "weights"),
    "weights of more classes": (lambda d: d["weights"].extend([-0.1] * 6), "6 numbers were expected for 3 classes"),
    "wrong family": (lambda d: d.update(family="dlpm"), "weights"),
    "unknown family": (lambda d: d.update(family="lfpm"), "field family must be 'dlpm' or 'lpm', not 'lfpm'"),
    "unnormalised": (lambda d: d.update(weights=[2 * w for w in d["weights"]]), "must have L2 norm 1"),
    "positive weight": (lambda d: d["weights"].__setitem__(0, 0.5), "wrong sign"),
    "ragged costs": (lambda d: d["cost_matrix"][1].pop(), "cost_matrix: 3 x 3 numbers were expected"),
    "small costs": (lambda d: d.update(cost_matrix=[[0, 1], [1, 0]]), "cost_matrix: 3 x 3 numbers were expected"),
    "transposed": (lambda d: d.update(cost_matrix=np.transpose(d["cost_matrix"]).tolist()), "is transposed: rows must"),
    "other orientation": (lambda d: d.update(orientation="rows are predicted classes"), "field orientation must be"),
    "changed cost": (lambda d: d["cost_matrix"][1].__setitem__(0, 0.2), "row 1, column 0 holds 0.2, the weights give"),
    "unscaled costs": (lambda d: d.update(cost_matrix=(2 * np.array(COSTS)).tolist()), "largest cost is 2"),
    "negative cost": (lambda d: d["cost_matrix"][1].__setitem__(0, -0.13), "a cost >= 0 was expected"),
    "cost of a hit": (lambda d: d["cost_matrix"][1].__setitem__(1, 0.1), "right answer costs 0"),
    "worked example": (lambda d: d["worked_example"].update(mean_cost=0.5), "worked example is wrong"),
    "worked counts": (lambda d: d["worked_example"]["counts"][0].__setitem__(1, 99), "worked example is wrong"),
    "worked shape": (lambda d: d["worked_example"]["counts"].pop(), r"worked_example\.counts: 3 x 3"),
    "fewer than no worked cases": (
        lambda d: d["worked_example"]["counts"][0].__setitem__(1, -1),
        r"worked_example\.counts: counts >= 0",
    ),
    "no worked cases": (lambda d: d["worked_example"].update(counts=[[0] * 3] * 3), "not all 0"),
    "class weight": (lambda d: d["class_weight"].update(naevus=2.0), "class_weight: does not follow"),
    "class weight of another": (lambda d: d["class_weight"].update(wart=2.0), "one number for each class"),
    "release factor": (lambda d: d["release"]["factors"][0].__setitem__(2, 0.1), "release.factors: does not follow"),
    "release list": (lambda d: d["release"]["list"].pop(), "release.list: is off by"),
    "release of nothing": (
        lambda d: d["release"]["list"].append(["naevus"]),
        r"release.list: \['naevus'\] is not a true class",
    ),
    "release of a stranger": (lambda d: d["release"]["list"][0].append("wart"), "release.list: .* is not a true class"),
    "crossed interval": (
        lambda d: d["intervals"][1].__setitem__(0, [0.3, 0.2]),
        r"holds \[0.3, 0.2\]; 0 <= low <= high was",
    ),
    "interval without low": (lambda d: d["intervals"][1].__setitem__(0, [None, 0.2]), "intervals: holds NaN"),
    "interval of three": (lambda d: d["intervals"][1][0].append(1), r"intervals\[1\]\[0\] takes at most 2"),
    "sample too short": (lambda d: d["samples"][3].pop(), "samples: any number x 6"),
    "sample sign": (lambda d: d["samples"][3].__setitem__(0, 0.5), "samples: weights: 0.5 has the wrong sign"),
    "no samples": (lambda d: d.update(samples=[]), "samples"),
    "prevalence": (lambda d: d.update(prevalence=[0.5, 0.4, 0.2]), "prevalence: shares"),
    "negative prevalence": (lambda d: d.update(prevalence=[-0.1, 0.7, 0.4]), "prevalence: shares"),
    "population": (lambda d: d.update(population=0), "field population must be at least 1, not 0"),
    "half a case": (lambda d: d.update(population=0.5), "field population must be a whole number"),
    "no time zone": (lambda d: d.update(created="2026-01-01T00:00:00"), "field created must have a time zone"),
    "words": (lambda d: d["words"]["classes"].pop(), "words: 3 classes, and as many actions or none"),
    "consequence": (lambda d: d["consequences"][0].update(true="wart"), "'wart' is not one of the metric's classes"),
    "never asked": (
        lambda d: d["quality"].update(never_asked=[["wart", None]]),
        "'wart' is not one of the metric's classes",
    ),
    "right answer": (lambda d: d.update(yardstick=["naevus", "naevus"]), "is a right answer"),
    "cost outside its interval": (
        lambda d: d["intervals"][1].__setitem__(0, [0.2, 0.3]),
        r"row 1, column 0 holds \[0.2, 0.3\], but the cost there is",
    ),
    "cost above its interval": (
        lambda d: d["intervals"][1].__setitem__(0, [0.05, 0.1]),
        r"row 1, column 0 holds \[0.05, 0.1\], but the cost there is",
    ),
    "another population": (lambda d: d.update(population=123), "digest: does not fit the rest of the file"),
    "another prevalence": (lambda d: d.update(prevalence=[0.2, 0.3, 0.5]), "digest: does not fit"),
    "another yardstick": (lambda d: d["yardstick"].reverse(), "digest: does not fit"),
    "another draw": (lambda d: d["samples"][0].__setitem__(0, d["samples"][1][0]), "digest: does not fit"),
    "another digest": (lambda d: d.update(digest="0" * 64), "digest: does not fit"),
    "tally": (lambda d: d["quality"]["repeats_agreed"].update(agreed=4), "4 of 3"),
}


@pytest.mark.parametrize(("change", "words"), CORRUPTIONS.values(), ids=[*CORRUPTIONS])
def test_a_changed_file_is_refused_in_one_sentence(tmp_path, change, words):
    path = changed(tmp_path, change)
    with pytest.raises(MetricFileError, match=words) as caught:
        ElicitedMetric.load(path)
    sentence = str(caught.value)
    assert sentence.startswith(f"{path}: ")
    assert "\n" not in sentence
    assert len(sentence) < 320 + len(str(path))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("[1, 2]", "JSON object was expected"),
        ('{"format": "elicited-metric", "version": NaN}', "holds NaN"),
        ('{"format": "elicited-metric", "weights": [-Infinity]}', "holds -Infinity"),
        ('{"format": 1, "format": 2}', "field format occurs twice"),
        ('{"format": elicited}', "is not JSON .*line 1, column 12"),
        ("[" * 100_000, "nested too deeply"),
        (
            json.dumps(json.loads(full_metric().to_json()) | {"samples": []}, indent=2, sort_keys=True),
            "samples: any number x 6",
        ),
        (full_metric().to_json().replace("0.91", "1e999", 1), "finite number"),
        (full_metric().to_json().replace("0.91", "9" * 5000, 1), "cost_matrix|digits"),
        (full_metric().to_json().replace("0.91", "9" * 400, 1), "cost_matrix"),
        (full_metric().to_json().replace('"counts": [\n      [30', '"counts": [\n      [' + "9" * 400, 1), "counts"),
        (full_metric().to_json().replace("Skin lesions", "\\ud800", 1), "text that is not Unicode"),
        (
            full_metric().to_json().replace('"parameters": {', '"parameters": {"a": ' + "[" * 900 + "]" * 900 + ",", 1),
            "recurs|nested",
        ),
    ],
)
def test_what_is_no_metric_file_is_refused_in_one_sentence(text, words):
    with pytest.raises(MetricFileError, match=words) as caught:
        ElicitedMetric.from_json(text, "a.json")
    assert str(caught.value).startswith("a.json: ")
    assert "\n" not in str(caught.value)


def test_a_file_cut_anywhere_is_refused(tmp_path):
    whole = full_metric(samples=None).to_json().rstrip().encode()
    path = tmp_path / "cut.metric.json"
    for length in range(0, len(whole), 3):
        path.write_bytes(whole[:length])
        with pytest.raises(MetricFileError, match=r"cut off|empty|UTF-8|not JSON") as caught:
            ElicitedMetric.load(path)
        assert str(path) in str(caught.value)
    path.write_bytes(whole)
    ElicitedMetric.load(path)


def test_files_that_cannot_be_read_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nothing\.json: there is no such file"):
        ElicitedMetric.load(tmp_path / "nothing.json")
    with pytest.raises(OSError, match=r"is a folder|cannot be read"):
        ElicitedMetric.load(tmp_path)
    (tmp_path / "latin.json").write_bytes("größe".encode("latin-1"))
    with pytest.raises(MetricFileError, match="not UTF-8"):
        ElicitedMetric.load(tmp_path / "latin.json")
    (tmp_path / "bom.json").write_bytes(b"\xef\xbb\xbf" + full_metric().to_json().encode())
    assert ElicitedMetric.load(tmp_path / "bom.json").name == "Skin lesions"


def test_writing_is_all_or_nothing(tmp_path, monkeypatch):
    path = tmp_path / "skin.metric.json"
    full_metric().save(path)
    before = path.read_bytes()

    def full_disk(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        full_metric(name="other").save(path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert [*tmp_path.iterdir()] == [path]
    with pytest.raises(FileNotFoundError):
        full_metric().save(tmp_path / "nowhere" / "skin.metric.json")


@pytest.mark.parametrize("value", [np.nan, np.float32(1), {1, 2}])
def test_parameters_are_json_values(value):
    with pytest.raises(ValueError, match="parameters: JSON values"):
        Provenance(parameters={"epsilon": value})


def test_what_cannot_be_written_is_said_of_the_file_that_was_meant(tmp_path):
    for path, kind in ((tmp_path / "missing" / "m.json", FileNotFoundError), (tmp_path, IsADirectoryError)):
        with pytest.raises(kind) as caught:
            write_atomically(path, "text")
        assert caught.value.filename == str(path)
        assert ".tmp" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_through_a_link(tmp_path):
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    target.write_text("old")
    link.symlink_to(target)
    with pytest.raises(OSError, match="it is a link; name the file itself"):
        write_atomically(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "old"


@pytest.mark.skipif(sys.platform == "win32", reason="permissions and pipes of this kind are not known there")
def test_permissions_are_kept_and_a_pipe_stays_one(tmp_path):
    private, pipe = tmp_path / "private.txt", tmp_path / "pipe"
    private.write_text("old")
    private.chmod(0o600)
    write_atomically(private, "new")
    assert private.stat().st_mode & 0o777 == 0o600
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_atomically(pipe, "told")
    assert os.read(reader, 100) == b"told"
    os.close(reader)
    assert pipe.is_fifo()


def test_older_documents_are_brought_up_step_by_step():
    steps = {1: lambda d: d | {"b": d["a"] + 1}, 2: lambda d: {"c": d["b"] * 10}}
    old = {"version": 1, "a": 1}
    assert migrate(old, steps, 3) == {"version": 3, "c": 20}
    assert old == {"version": 1, "a": 1}
    assert migrate({"version": 2, "b": 5}, steps, 3) == {"version": 3, "c": 50}
    with pytest.raises(ValueError, match="reads versions up to 3"):
        migrate({"version": 4}, steps, 3)


def test_a_metric_cannot_be_changed_in_place():
    metric = full_metric()
    for name in ("weights", "cost_matrix", "intervals", "samples", "prevalence"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(metric, name)[0] = 0
    assert replace(metric, name="other").name == "other"


def test_a_file_without_a_digest_is_read_as_older_ones_are(tmp_path):
    def older(document):
        del document["digest"]
        for name in ("purpose", "provisional", "never_asked", "linear", "simulated"):
            del document["quality"][name]

    assert ElicitedMetric.load(changed(tmp_path, older)).quality.provisional is None


def test_the_digest_does_not_depend_on_layout_order_or_how_numbers_are_written(tmp_path):
    def rewritten(document):
        for name in reversed([*document]):
            document[name] = document.pop(name)
        document["cost_matrix"] = [[int(x) if x in (0, 1) else x for x in row] for row in document["cost_matrix"]]

    same(ElicitedMetric.load(changed(tmp_path, rewritten)), full_metric())
    drawn = full_metric(samples=np.tile([-1.0, -0.5, -1, -1, -1, 0.0], (2, 1)))
    older = drawn.to_json().replace("[-1, -0.5", "[-1.0, -0.5").replace("-1, 0]", "-1.0, 0.0]")
    assert older != drawn.to_json()
    same(ElicitedMetric.from_json(older), drawn)


def test_what_speaks_about_the_answers_comes_back(tmp_path):
    quality = Quality(
        purpose="choose",
        provisional="the choice is settled, the costs are not",
        never_asked=(("naevus", "melanoma"), ("melanoma", None)),
        linear="the larger of two",
        simulated=True,
    )
    path = tmp_path / "skin.metric.json"
    full_metric(quality=quality).save(path)
    assert ElicitedMetric.load(path).quality == quality


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_a_pipe_or_a_device_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "a.metric.json")
    (tmp_path / "b.metric.json").symlink_to("/dev/zero")
    for path in tmp_path.iterdir():
        with pytest.raises(MetricFileError, match="is a pipe or a device, not a file"):
            ElicitedMetric.load(path)


@pytest.mark.parametrize("text", [b"{}", None, Path("a.metric.json")])
def test_only_text_is_read_as_text(text):
    with pytest.raises(ArgumentTypeError, match="text: the text of a metric file was expected"):
        ElicitedMetric.from_json(text)


@pytest.mark.parametrize(("weights", "kept"), [(6, 1_000), (600, 1_000), (601, 998), (2_450, 244)])
def test_a_metric_of_many_weights_keeps_fewer_draws_evenly_spaced(weights, kept):
    draws = np.repeat(np.arange(1_000.0)[:, None], weights, axis=1)
    found = kept_draws(draws)
    assert found.shape == (kept, weights)
    assert found.size <= 600_000
    assert found[:, 0].mean() == pytest.approx(draws[:, 0].mean(), abs=1)
