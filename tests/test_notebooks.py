"""The notebooks run. All of them cell by cell in this process; one by a kernel, as `make notebooks` runs them all."""

import re
import sys
from pathlib import Path

import matplotlib as mpl
import nbformat
import pytest
from matplotlib import pyplot

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "notebooks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.ipynb"))


def cells(name: str, kind: str) -> list[nbformat.NotebookNode]:
    return [cell for cell in nbformat.read(FOLDER / f"{name}.ipynb", as_version=4).cells if cell.cell_type == kind]


@pytest.mark.long
@pytest.mark.usefixtures("few_draws")
@pytest.mark.parametrize("name", NAMES)
def test_every_cell_runs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    mpl.use("agg")
    scope: dict[str, object] = {"__name__": "notebook"}
    try:
        for number, cell in enumerate(cells(name, "code")):
            exec(compile(cell.source, f"{name}, cell {number}", "exec"), scope)
    finally:
        pyplot.close("all")
    assert capsys.readouterr().out


@pytest.mark.long
def test_a_kernel_runs_them_as_the_command_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    import notebooks

    made = notebooks.run(FOLDER / "a_papers_table.ipynb")
    shown = "".join(output.get("text", "") for cell in made.cells for output in cell.get("outputs", []))
    assert "56 questions (all)" in shown
    sys.modules.pop("notebooks")


def test_there_are_six_and_each_says_what_to_install() -> None:
    assert len(NAMES) == 6
    for name in NAMES:
        prose = "\n".join(cell.source for cell in cells(name, "markdown"))
        assert prose.startswith("# ")
        assert "`elicit-metrics[" in prose
        lines = [line for cell in cells(name, "code") for line in cell.source.splitlines()]
        assert all(len(line) <= 120 for line in lines)
        assert not re.search("pandas|as_frame", "\n".join(lines))  # no extra installs pandas
