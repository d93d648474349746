"""Files with a row for each model, or reader, and case: their rows are read as those of several models."""

import json
import shlex

import numpy as np
import pytest

from elicit_app.problem import Problem
from elicit_app.study import create_study, open_study
from elicit_app.study.first_rows import read_first_rows
from elicit_app.study.guessing import names_models
from elicit_app.study.mapping import as_options
from elicit_app.study.model import ColumnMap
from elicit_app.study.reading import read_predictions
from metrics import ElicitedMetric

N, NETS = 40, ("resnet", "vit", "lenet")
CLASSES = ("cat", "dog")
RNG = np.random.default_rng(4)
TRUTH = RNG.integers(2, size=N)
SCORES = {net: np.clip(0.5 + 0.3 * (2 * TRUTH - 1) + 0.3 * RNG.standard_normal(N), 0, 1).round(3) for net in NETS}


def lines(net, order=range(N)):
    return [f"i{at:02d},{net},{CLASSES[TRUTH[at]]},{SCORES[net][at]}" for at in order]


def write(path, rows, head="image,net,truth,score"):
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


@pytest.fixture(params=["one after the other", "in turn"])
def table(tmp_path, request):
    rows = [line for net in NETS for line in lines(net)]
    if request.param == "in turn":
        rows = [line for one in zip(*map(lines, NETS), strict=True) for line in one]
    return write(tmp_path / "nets.csv", rows)


def maps(path, columns=None):
    first_rows = read_first_rows(path)
    return first_rows.of_each_model(columns or first_rows.guess, first_rows.model_column)


class TestScores:
    def test_they_are_those_of_a_file_for_each_model(self, table, tmp_path):
        assert read_first_rows(table).model_column == "net"
        study = create_study(tmp_path / "long", [table] * 3, columns=maps(table))
        assert study.model_names == ("lenet", "resnet", "vit")
        files = [write(tmp_path / f"{net}.csv", lines(net)) for net in sorted(NETS)]
        apart = create_study(tmp_path / "apart", files, columns=ColumnMap("truth", CLASSES, ("score",)))
        assert study.digest == apart.digest
        for one, other in zip(study.models, apart.models, strict=True):
            np.testing.assert_array_equal(one.y_proba, other.y_proba)
        assert open_study(str(tmp_path / "long")).columns.only is None, "further files are of one model each"

    def test_cases_in_other_orders_are_put_into_one(self, tmp_path):
        rows = [line for net in NETS for line in lines(net, RNG.permutation(N))]
        path = write(tmp_path / "nets.csv", rows)
        study = create_study(tmp_path / "long", [path] * 3, columns=maps(path))
        by_case = {f"i{at:02d}": at for at in range(N)}
        places = [by_case[line[:3]] for line in rows if ",lenet," in line]
        for name, one in zip(sorted(NETS), study.models, strict=True):
            np.testing.assert_array_equal(one.y_proba[:, 1], SCORES[name][places])
        assert any("nets.csv (vit): its rows were put in the order of nets.csv (lenet)" in one for one in study.notes)

    def test_columns_may_have_the_usual_names_and_models_a_slash_in_theirs(self, tmp_path):
        rows = [
            f"i{at:02d},{net},{CLASSES[TRUTH[at]]},{1 - SCORES[net][at]:.3f},{SCORES[net][at]}"
            for net in NETS
            for at in RNG.permutation(N)
        ]
        text = "\n".join(rows).replace(",vit,", ",google/vit,")
        path = write(tmp_path / "nets.csv", [text], "image,net,y_true,proba_cat,proba_dog")
        study = create_study(tmp_path / "long", [path] * 3, columns=maps(path))
        assert study.model_names == ("google/vit", "lenet", "resnet")
        np.testing.assert_array_equal(np.sort(study.models[0].y_proba[:, 1]), np.sort(SCORES["vit"]))

    def test_a_fault_is_told_with_its_row_in_the_file(self, table):
        rows = table.read_text().splitlines()
        at = next(at for at, line in enumerate(rows) if line.startswith("i07,vit"))
        rows[at] = rows[at].rsplit(",", 1)[0] + ",1.5"
        table.write_text("\n".join(rows))
        for one in maps(table, ColumnMap("truth", CLASSES, ("score",))):
            if one.called == "vit":
                with pytest.raises(Problem, match=f"Row {at}: score is 1.5, above 1"):
                    read_predictions(table, columns=one)
            else:
                assert len(read_predictions(table, columns=one).predictions.y_true) == N

    def test_without_the_column_that_is_pointed_out(self, table):
        (note,) = read_predictions(table, columns=read_first_rows(table).guess).notes
        assert "If net says which model or reader (“lenet”, “resnet”, “vit”), say so when the study is made, or" in note

    def test_a_model_that_lacks_a_case_is_refused(self, tmp_path):
        path = write(tmp_path / "nets.csv", [line for net in NETS for line in lines(net, range(net == "vit", N))])
        with pytest.raises(Problem, match=r"nets.csv \(vit\) has 39 rows, .*nets.csv \(lenet\) has 40"):
            create_study(tmp_path / "long", [path] * 3, columns=maps(path))

    def test_unless_the_cases_that_not_all_have_are_to_be_left_out(self, tmp_path, elicit):
        path = write(tmp_path / "nets.csv", [line for net in NETS for line in lines(net, range(net == "vit", N))])
        done = elicit("study", "new", tmp_path / "made", path)
        options = done.stderr.partition("it seems to be: ")[2].partition(" would tell apart")[0].replace(";", "")
        assert options.endswith("--model net --skip-unread")
        assert elicit("study", "new", tmp_path / "made", path, *shlex.split(options)).returncode == 0
        study = open_study(str(tmp_path / "made"))
        assert [len(one.y_true) for one in study.models] == [N - 1] * 3


@pytest.mark.parametrize(("name", "likely"), [("reader_id", True), ("Model", True), ("view", False), ("fold", False)])
def test_by_its_name_a_column_is_likely_to_say_which_model(tmp_path, name, likely):
    rows = [f"i{at},{number},{CLASSES[TRUTH[at]]},0.{at + 10}" for number in (1, 2) for at in range(N)]
    path = write(tmp_path / "rows.csv", rows, f"image,{name},truth,score")
    first_rows = read_first_rows(path)
    assert first_rows.model_column == name
    assert names_models(name) == likely
    assert [one.called for one in first_rows.of_each_model(first_rows.guess, name)] == ["1", "2"]


def test_scores_are_those_of_the_study(table, tmp_path, elicit):
    metric = ElicitedMetric.from_cost_matrix(CLASSES, [[0, 1], [8, 0]], name="cost")
    metric.save(tmp_path / "m.metric.json")
    options = ["--truth", "truth", "--columns", "dog=score", "--model", "net"]
    assert elicit("study", "new", tmp_path / "made", table, *options).returncode == 0
    told = [
        elicit("score", tmp_path / "m.metric.json", *what, "--draws", "50", "--json").stdout
        for what in ((table, *options), (tmp_path / "made",))
    ]
    costs = [[(one["name"], one["cost_per_population"]) for one in json.loads(text)["policies"]] for text in told]
    assert costs[0] == costs[1]
    assert len(costs[0]) > 4
    on_dask = elicit("score", tmp_path / "m.metric.json", table, *options, "--engine", "dask")
    assert on_dask.returncode == 2
    assert "it requires --engine local" in " ".join(on_dask.stderr.split())


class TestReaders:
    @pytest.fixture
    def readers(self, tmp_path):
        wrong = {"Dr. A": {3, 9}, "Dr. B": {4}, "Dr. C": {9, 11, 20}}
        rows = [
            f"{reader},i{at:02d},{CLASSES[TRUTH[at]]},{CLASSES[TRUTH[at] ^ (at in missed)]}"
            for reader, missed in wrong.items()
            for at in range(reader == "Dr. B", N)
        ]
        return write(tmp_path / "reads.csv", rows, "reader,image,truth,said")

    def test_the_cases_that_all_read_are_compared_if_so_told(self, readers, tmp_path, elicit):
        first_rows = read_first_rows(readers)
        assert (first_rows.model_column, first_rows.guess.kind) == ("reader", "labels")
        found = maps(readers)
        assert first_rows.cases_read(found) == (N - 1, N)
        assert as_options(*found) == "--truth truth --predicted said --model reader"
        options = shlex.split(f"{as_options(*found)} --skip-unread")
        done = elicit("study", "new", tmp_path / "made", readers, *options)
        assert done.returncode == 0
        study = open_study(str(tmp_path / "made"))
        assert study.model_names == ("Dr. A", "Dr. B", "Dr. C")
        right = [(one.y_proba.argmax(axis=1) == one.y_true).sum() for one in study.models]
        assert right == [N - 3, N - 2, N - 4]
        assert "said of reads.csv holds decided labels" in done.stderr

    def test_a_column_that_no_file_has_is_refused(self, readers, tmp_path, elicit):
        done = elicit("study", "new", tmp_path / "made", readers, "--model", "net")
        assert done.returncode == 2
        assert "no file has a column “net”" in " ".join(done.stderr.split())
        assert not (tmp_path / "made").exists()

    def test_a_column_of_too_many_values_is_none_of_models(self, tmp_path, elicit):
        rows = [f"i{at},{at},{CLASSES[at % 2]},0.{at + 10}" for at in range(60)]
        path = write(tmp_path / "rows.csv", rows, "image,number,truth,score")
        done = elicit("study", "new", tmp_path / "made", path, "--model", "number")
        assert done.returncode == 2
        assert "“number” of rows.csv has 60 different values; models are at most 50." in " ".join(done.stderr.split())
