"""Wheel and sdist: the same bytes wherever and whenever they are built, with what builds them pinned."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def built(folder, parts, later):
    """Build in a copy of the project with files of another age and permission; returns the digests by name."""
    folder.mkdir(parents=True)
    for part in parts:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
        else:
            shutil.copy(source, folder / part)
    for path in folder.rglob("*"):
        os.utime(path, (1_600_000_000 + later, 1_600_000_000 + later))
        path.chmod(path.stat().st_mode & (0o700 if later else 0o755))
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build"],
        cwd=folder,
        env=os.environ | {"SOURCE_DATE_EPOCH": "1700000000", "PYTHONHASHSEED": str(later % 100)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (folder / "dist").iterdir()}


@pytest.mark.long
def test_built_twice_they_are_the_same_bytes(tmp_path):
    tracked = [part["include"] for part in PROJECT["tool"]["hatch"]["build"]["targets"].values() if "include" in part]
    parts = {"pyproject.toml", *(name.strip("/") for names in tracked for name in names)}
    one = built(tmp_path / "here", parts, 0)
    other = built(tmp_path / "somewhere else" / "deeper", parts, 12_345_678)
    assert len(one) == 2
    assert one == other


def test_what_builds_is_pinned_with_hashes():
    (requires,) = PROJECT["build-system"]["requires"]
    for name in ("build", "uv"):
        text = (ROOT / "tools" / f"{name}.txt").read_text("utf-8")
        pinned = re.findall(r"^(\S+==\S+) \\$", text, re.MULTILINE)
        assert pinned
        assert text.count("--hash=sha256:") >= len(pinned)
        if name == "build":
            assert requires in pinned
    assert "--require-hashes -r tools/uv.txt" in (ROOT / "tools" / "prepare.sh").read_text("utf-8")


@pytest.fixture(scope="module")
def audit():
    spec = importlib.util.spec_from_file_location("audit", ROOT / "tools" / "audit.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class TestAudit:
    """What `make audit` makes of the answers of the advisory database; the database itself is not asked here."""

    LOCKED = 'a==1 ; python_full_version < "3.12" \\\n    --hash=sha256:0\na==2 \\\n    --hash=sha256:1\nb==3\n'

    def test_every_version_is_asked_about_whatever_it_is_for(self, audit, tmp_path):
        locked, files = audit.requirements(self.LOCKED, tmp_path)
        assert locked == [("a", "1"), ("a", "2"), ("b", "3")]
        first, second = (file.read_text("utf-8") for file in files)
        assert "a==1" in first
        assert "b==3" in first
        assert "a==2" in second
        assert ";" not in first

    def test_nothing_is_well_while_a_package_was_not_audited(self, audit):
        sound = {"name": "a", "version": "1", "vulns": []}
        locked = [("a", "1"), ("b", "3")]
        assert audit.verdict(locked, [[sound], [{"name": "b", "version": "3", "vulns": []}]])[1]
        for answered in ([[sound, {"name": "b", "skip_reason": "not found"}]], [[sound]]):
            lines, well = audit.verdict(locked, answered)
            assert not well
            assert lines[-1].startswith("NOT AUDITED: b 3: ")
        harmed = {"name": "b", "version": "3", "vulns": [{"id": "X-1", "fix_versions": ["4"]}]}
        lines, well = audit.verdict(locked, [[sound, harmed]])
        assert not well
        assert lines[0] == "b 3: X-1, mended in 4."
