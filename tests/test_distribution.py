"""Wheel and sdist: the same bytes wherever and whenever they are built, with what builds them pinned."""

from __future__ import annotations

import hashlib
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
