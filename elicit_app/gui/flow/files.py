"""From predictions files to a study: what their columns are is asked where it is not plain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from elicit_app.gui.flow.bridge import Background
from elicit_app.gui.flow.pages import Pages
from elicit_app.problem import Problem

if TYPE_CHECKING:
    from elicit_app.gui.setup.columns_page import ColumnsPage
    from elicit_app.study.mapping import FirstRows
    from elicit_app.study.model import ColumnMap, Study

Maps = tuple["ColumnMap | None", ...]


class Files(QObject):
    """Emits `reading` with the first file's name before anything is read, and `left`.

    Parameters
    ----------
    pages : Pages
        The pages of the window.
    background : Background
        Reads files.
    """

    reading = Signal(str)
    left = Signal()

    def __init__(self, pages: Pages, background: Background, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pages, self._background = pages, background
        self._looks: tuple[FirstRows, ...] = ()
        self._maps: dict[Path, ColumnMap] = {}
        self._read: Callable[[Maps], Study] = lambda maps: _study_of(self._files, maps)
        self._done: Callable[[Study], None] = lambda study: None
        self._failed: Callable[[Problem], None] = lambda problem: None
        self._files: tuple[Path, ...] = ()

    def open(
        self,
        files: Sequence[Path],
        done: Callable[[Study], None],
        failed: Callable[[Problem], None],
        *,
        known: ColumnMap | None = None,
        read: Callable[[Maps], Study] | None = None,
    ) -> None:
        """Read predictions files.

        Parameters
        ----------
        files : sequence of Path
            Of one study.
        done, failed : callable
            Take the study, or why there is none.
        known : ColumnMap, optional
            What columns were before; a file that has them is not asked about.
        read : callable, optional
            Makes the study, given what the columns of each file are; by default a new one is made of the files.
        """
        self._files, self._done, self._failed = tuple(files), done, failed
        self._read = read or (lambda maps: _study_of(self._files, maps))
        self._maps = {}
        self.reading.emit(self._files[0].name)
        looked = self._files
        self._background.run(lambda: _looks(looked), lambda looks: self._looked(looks, known), failed)

    def _looked(self, looks: tuple[FirstRows, ...], known: ColumnMap | None) -> None:
        self._looks = looks
        if known is not None:
            self._maps = {look.path: known for look in looks if look.holds(known)}
        self._ask_or_read()

    def _ask_or_read(self) -> None:
        """Ask about the first file whose columns are not known; read all where there is none."""
        unknown = [look for look in self._looks if not look.fits and look.values and look.path not in self._maps]
        if unknown:
            self._page.show_look(unknown[0])
            self._pages.show(self._page)
            return
        maps = tuple(self._maps.get(file) for file in self._files)
        read = self._read
        self.reading.emit(self._files[0].name)
        self._background.run(lambda: read(maps), self._done, self._failed)

    @Slot(object)
    def _mapped(self, columns: ColumnMap) -> None:
        """Take an answer for the file that was asked about, and for all others with these columns."""
        asked = next(look for look in self._looks if not look.fits and look.path not in self._maps)
        for look in self._looks:
            if look is asked or (not look.fits and look.path not in self._maps and look.holds(columns)):
                self._maps[look.path] = columns
        self._ask_or_read()

    @cached_property
    def _page(self) -> ColumnsPage:
        page = self._pages.columns
        page.mapped.connect(self._mapped)
        page.start_requested.connect(self.left)
        return page


def _looks(files: tuple[Path, ...]) -> tuple[FirstRows, ...]:
    from elicit_app.study.amounts import is_of_amounts
    from elicit_app.study.mapping import look_at

    looks = tuple(look_at(file) for file in files)
    for file in files:
        if file.suffix.lower() != ".npz" and is_of_amounts(file):
            raise Problem(
                f"{file.name} is not about classes: make a study of it with elicit study new, and answer it in the "
                "terminal, with elicit ask."
            )
    return looks


def _study_of(files: tuple[Path, ...], maps: Maps) -> Study:
    from elicit_app.study.making import study_of

    return study_of(files, kind="file", name=files[0].stem, columns=maps)
