"""What an installation of the library alone does, and what is said where an extra is missing or our name is taken."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from metrics import ElicitedMetric, __version__
from metrics.errors import EXTRAS, MissingPackage, as_missing_package

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DISTRIBUTIONS = {"sklearn": "scikit-learn", "PySide6": "PySide6-Essentials", "distributed": "dask"}
METRIC = "import metrics; metric = metrics.ElicitedMetric.from_cost_matrix(['a', 'b'], [[0, 1], [2, 0]]); "


def without(*modules: str) -> str:
    """Return code after which modules count as not installed."""
    return f"import sys; sys.modules.update(dict.fromkeys({sorted(modules)}))\n"


def python(code: str, *arguments: str, beside: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run a program in a Python of its own; the modules in `beside` come first."""
    places = {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys([str(beside), str(ROOT)]))}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=places, cwd=beside)


def test_the_library_alone_loads_scores_and_decides(tmp_path: Path) -> None:
    ElicitedMetric.from_cost_matrix(["ill", "well"], [[0, 4], [1, 0]]).save(tmp_path / "m.metric.json")
    done = python(
        without(*EXTRAS) + "from metrics import ElicitedMetric\nmetric = ElicitedMetric.load(sys.argv[1])\n"
        "print(metric.score(['ill', 'ill', 'well'], ['well', 'ill', 'ill']), *metric.decide([[0.3, 0.7], [0.1, 0.9]]))",
        str(tmp_path / "m.metric.json"),
    )
    assert (done.stdout.split(), done.stderr) == ([str((1 + 0.25) / 3), "ill", "well"], "")


def test_nothing_that_an_extra_brings_is_imported_before_it_is_asked_for() -> None:
    done = python(
        f"import sys, elicit_app.study, elicit_app.session, elicit_app.registry\n{METRIC}\n"
        "metric.from_json(metric.to_json()); metric.score(['a'], ['b']); metric.decide([[0.3, 0.7]])\n"
        f"print([name for name in {['PySide6', 'polars', 'matplotlib', 'typst', 'torch']} if name in sys.modules])"
    )
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_a_missing_package_is_named_with_its_extra() -> None:
    needs = {
        "from metrics import CostSensitiveClassifier": "sklearn",
        "from metrics import roc_auc_score": "sklearn",
        "metric.as_scorer()": "sklearn",
        "metric.expected_score(['a'], [[1, 0]])": "sklearn",
        "metric.plot()": "plots",
        "from elicit_app.study import open_study; open_study('wine')": "cli",
        "from elicit_app.elicitation import Bayes": "sklearn",
        "import metrics.torch": "torch",
    }
    done = python(
        without(*EXTRAS) + f"from metrics.errors import MissingPackage\n{METRIC}\nfor code in {[*needs]}:\n"
        "    try: exec(code)\n    except MissingPackage as error: print(error)"
    )
    for said, extra in zip(done.stdout.splitlines(), needs.values(), strict=True):
        assert re.fullmatch(rf'\S+ is not installed: pip install "elicit-metrics\[{extra}\]"\.', said)


@pytest.mark.parametrize(
    ("arguments", "missing", "extra"),
    [("--help", [*EXTRAS], "cli"), ("score m.metric.json x.csv", ["polars"], "cli"), ("open wine", ["PySide6"], "app")],
)
def test_the_command_names_the_missing_extra(
    arguments: str, missing: list[str], extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")  # without a display that is what is said first
    ElicitedMetric.from_cost_matrix(["a", "b"], [[0, 1], [2, 0]]).save(tmp_path / "m.metric.json")
    (tmp_path / "x.csv").write_text("y_true,proba_a,proba_b\na,1,0\n", encoding="utf-8")
    start = without(*missing) + "from elicit_command import main; main()"
    done = python(start, *arguments.split(), beside=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.match(rf'elicit: \S+ is not installed: pip install "elicit-metrics\[{extra}\]"\.', done.stderr)
    assert len(done.stderr.splitlines()) == 1


def test_a_module_of_ours_that_is_missing_is_no_missing_extra() -> None:
    fault = ModuleNotFoundError("No module named 'elicit_app.nothing'", name="elicit_app.nothing")
    assert as_missing_package(fault) is fault
    assert isinstance(as_missing_package(ModuleNotFoundError("", name="polars.plan")), MissingPackage)


@pytest.mark.parametrize("start", ["from elicit_command import main; main()", "import elicit_app"])
def test_another_module_called_metrics_is_named_with_what_to_do(start: str, tmp_path: Path) -> None:
    (tmp_path / "metrics.py").write_text("accuracy = 1\n", encoding="utf-8")
    done = python(start, "study", "list", beside=tmp_path)
    assert done.returncode == 1
    assert f"{tmp_path / 'metrics.py'} hides elicit's own library" in done.stderr.splitlines()[-1]
    assert "rename that file or folder" in done.stderr
    assert ("Traceback" in done.stderr) == start.startswith("import")


def test_the_table_of_extras_is_what_the_project_declares() -> None:
    brought = {
        extra: {re.split(r"[\[<>=!]", requirement)[0] for requirement in requirements}
        for extra, requirements in PROJECT["optional-dependencies"].items()
    }
    for module, (_, extra) in EXTRAS.items():
        assert DISTRIBUTIONS.get(module, module) in brought[extra]
    assert {each.partition(">")[0] for each in PROJECT["dependencies"]} == {"numpy", "pydantic"}
    assert f"version: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
