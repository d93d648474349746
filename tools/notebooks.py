"""Run the notebooks of docs/notebooks and store their outputs: `make notebooks`, or `tools/notebooks.py NAME ...`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"


def run(path: Path) -> Any:
    """Run a notebook from the start and return it with its outputs; errors in cells are raised."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=300, record_timing=False, resources={"metadata": {"path": str(FOLDER)}}).execute()
    notebook.metadata.pop("widgets", None)
    notebook.metadata["language_info"] = {"name": "python"}
    return notebook


def main() -> None:
    """Run all or the named notebooks, and write each with its outputs."""
    names = sys.argv[1:] or [path.stem for path in sorted(FOLDER.glob("*.ipynb"))]
    for name in names:
        path = FOLDER / f"{name}.ipynb"
        nbformat.write(run(path), path)
        print(f"{name}: done", flush=True)


if __name__ == "__main__":
    main()
