"""The questions that the system's own windows ask: which files, which folder, where to save."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

PREDICTIONS = "Predictions (*.csv *.parquet *.npz);;All files (*)"


class Dialogs:
    """Asks with the system's dialogs; every method returns None or () where the person changed their mind."""

    def predictions(self, parent: QWidget) -> tuple[Path, ...]:
        """Return predictions files of one or several models."""
        names, _ = QFileDialog.getOpenFileNames(parent, "Predictions of one or several models", "", PREDICTIONS)
        return tuple(Path(name) for name in names)

    def study_folder(self, parent: QWidget) -> Path | None:
        """Return a study folder."""
        name = QFileDialog.getExistingDirectory(parent, "A study folder")
        return Path(name) if name else None

    def new_folder(self, parent: QWidget, proposed: Path) -> Path | None:
        """Return a folder that is to be made."""
        name = QFileDialog.getExistingDirectory(parent, "Where the study is kept", str(proposed.parent))
        return Path(name) / proposed.name if name else None

    def save(self, parent: QWidget, proposed: Path) -> Path | None:
        """Return where to save a file."""
        name, _ = QFileDialog.getSaveFileName(parent, "Save", str(proposed))
        return Path(name) if name else None
