"""Audit every locked package against the advisory database, and report packages that were skipped or are unknown.

python tools/audit.py UV: exit code 0 only if the database knows all packages and has no advisory against any.

Packages for other systems and Python versions are audited too, one version at a time, as pip-audit requires.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

PIP_AUDIT = "pip-audit==2.10.1"
_NAMED = 5


def requirements(locked: str, folder: Path) -> tuple[list[tuple[str, str]], list[Path]]:
    """Return the locked names and versions, and write them to files without their markers."""
    found, files, seen = [], [""], Counter[str]()
    for entry in re.split(r"\n(?=[A-Za-z0-9])", locked):
        if match := re.match(r"([A-Za-z0-9._-]+)==([^\s\\;]+)", entry):
            name, version = match.groups()
            seen[name] += 1
            files += [""] * (seen[name] - len(files))
            files[seen[name] - 1] += re.sub(r"^([^ ]+) ;[^\\\n]*", r"\1 ", entry.rstrip()) + "\n"
            found.append((name, version))
    paths = [folder / f"locked-{number}.txt" for number in range(1, len(files) + 1)]
    for path, text in zip(paths, files, strict=True):
        path.write_text(text, "utf-8")
    return found, paths


def verdict(locked: list[tuple[str, str]], audits: list[list[dict[str, Any]]]) -> tuple[list[str], bool]:
    """Return a report on pip-audit's findings, one sentence per line, and whether there are none."""
    told = {(one["name"], one["version"]): one["vulns"] for audit in audits for one in audit if "vulns" in one}
    lines = [
        f"{name} {version}: {found['id']}, mended in {', '.join(found['fix_versions']) or 'no version yet'}."
        for (name, version), vulnerabilities in sorted(told.items())
        for found in vulnerabilities
    ]
    unknown = [f"{name} {version}" for name, version in locked if (name, version) not in told]
    lines.append(f"{len(told)} of {len(locked)} locked packages were audited, {len(lines)} vulnerabilities are known.")
    if unknown:
        more = f" and {len(unknown) - _NAMED} more" if len(unknown) > _NAMED else ""
        why = "the advisory database does not know them, or gave no answer"
        lines.append(f"NOT AUDITED: {', '.join(unknown[:_NAMED])}{more}: {why}.")
    return lines, not unknown and len(lines) == 1


def main() -> int:
    """Audit `uv.lock`; the results are kept in dist."""
    uv, folder = sys.argv[1], Path("dist")
    folder.mkdir(exist_ok=True)
    export = [uv, "export", "--quiet", "--locked", "--all-extras", "--no-emit-project", "--format", "requirements.txt"]
    text = subprocess.run(export, check=True, capture_output=True, text=True).stdout
    locked, files = requirements(text, folder)
    audits = []
    for file in files:
        answer = file.with_suffix(".json")
        answer.unlink(missing_ok=True)
        command = [uv, "tool", "run", PIP_AUDIT, "--requirement", str(file), "--require-hashes", "--disable-pip"]
        command += ["--progress-spinner", "off", "--format", "json", "--output", str(answer)]
        done = subprocess.run(command, capture_output=True, text=True)
        if answer.exists():
            audits.append(json.loads(answer.read_text("utf-8"))["dependencies"])
        else:  # the last line holds the error
            print(*done.stderr.strip().splitlines()[-1:], file=sys.stderr)
    lines, well = verdict(locked, audits)
    print(*lines, sep="\n")
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
