"""What the commands print and write is what was recorded; `record.py` records anew."""

import importlib.util
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.long
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="recorded on Linux")
def test_the_commands_do_what_was_recorded():
    spec = importlib.util.spec_from_file_location("acceptance_record", HERE / "record.py")
    record = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(record)
    assert {path.stem for path in record.EXPECTED.iterdir()} == set(record.read_commands())
    found = [diff for _, diff in record.differences()]
    assert not found, "\n".join(found)
