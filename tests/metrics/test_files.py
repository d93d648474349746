"""CSV that no spreadsheet runs, and files that are no larger than they may be."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics import ElicitedMetric, InputError
from metrics.exports import export
from metrics.files import cell_text, csv_cell, read_regular_file

ROOT = Path(__file__).parents[2]
FORMULAS = ("=cmd|' /C calc'!A0", "@SUM(1)", "+1", "-2", "\t=1", "'=1", "＝1+1", "\n=1")


def test_every_csv_that_is_written_has_such_cells() -> None:
    users = [path for room in ("metrics", "elicit_app") for path in (ROOT / room).rglob("*.py")]
    writers = [path for path in users if "csv.writer(" in path.read_text("utf-8")]
    bare = [path for path in writers if "csv_cell" not in path.read_text("utf-8")]
    assert bare == [ROOT / "elicit_app/study/mapping.py"]  # a line of options for a shell, which quotes it


@given(st.one_of(st.text(), st.sampled_from(FORMULAS)))
def test_a_cell_is_never_a_formula_and_reads_back(text: str) -> None:
    cell = csv_cell(text)
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"))
    assert cell_text(cell) == text


@pytest.mark.parametrize("name", FORMULAS)
def test_no_cell_of_an_export_is_a_formula(name: str) -> None:
    metric = ElicitedMetric.from_cost_matrix([name, "b"], [[0, 1], [0.5, 0]])
    rows = list(csv.DictReader(io.StringIO(str(export(metric, "csv")))))
    assert [cell_text(row["true_class"]) for row in rows] == [name.strip(), name.strip(), "b", "b"]
    assert not any(cell.startswith(("=", "+", "@", "\t")) for row in rows for cell in row.values())


def test_a_file_may_be_as_large_as_the_limit(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes(1 << 20))
    assert len(read_regular_file(tmp_path / "a", 1 << 20)) == 1 << 20
    with pytest.raises(InputError, match="is larger than 0 MiB"):
        read_regular_file(tmp_path / "a", (1 << 20) - 1)
