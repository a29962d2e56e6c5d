"""The finished cells of a study on disk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from math import isfinite
from pathlib import Path
from typing import Any

from equivoc.arguments import is_whole
from equivoc.study.cell import CellKey, CellResult, Figures
from equivoc.study.fingerprint import Facts, are_facts, differences, known_sizes
from equivoc.study.resumable import store_file
from equivoc.study.resumable.store_file import Asked, StoreFile, StoreKind

OLD_FORMATS = {
    "equivoc study 1": "contains confidential values",
    "equivoc study 2": "has no surprise, gain and true hits",
}
"""Formats of earlier versions, and why they cannot be used."""

_TABLES = """
CREATE TABLE seconds (technique TEXT, content TEXT, replicate INTEGER, seconds REAL,
    PRIMARY KEY (technique, content, replicate));
CREATE TABLE results (technique TEXT, content TEXT, replicate INTEGER, known_size INTEGER,
    h0 REAL, area REAL, h0_record REAL, area_record REAL, surprise REAL, gain REAL, true_hit REAL,
    PRIMARY KEY (technique, content, replicate, known_size));
"""
_CELLS = f"""
SELECT technique, replicate, seconds, content, {", ".join(Figures._fields)}
FROM results JOIN seconds USING (technique, content, replicate)
WHERE replicate < ? ORDER BY technique, content, replicate, known_size
"""
STUDY = StoreKind("study", "equivoc study 3", _TABLES, are_facts, differences, OLD_FORMATS)
FILE = STUDY.file


@dataclass(frozen=True, eq=False)
class Store:
    """The folder of a study. A cell is stored completely or not at all."""

    file: StoreFile

    @property
    def folder(self) -> Path:
        return self.file.folder

    @property
    def facts(self) -> Facts:
        """The description of the study requested last."""
        return self.file.facts

    def add(self, cell: CellResult) -> None:
        """Store a finished cell; on return it is on disk."""
        technique, replicate = cell.key
        key = (technique, self.file.contents[technique], replicate)
        with self.file.transaction() as transaction:
            transaction.execute("INSERT OR REPLACE INTO seconds VALUES (?, ?, ?, ?)", (*key, cell.seconds))
            rows = [(*key, *figures) for figures in cell.figures]
            places = ", ".join("?" * len(rows[0]))
            transaction.executemany(f"INSERT OR REPLACE INTO results VALUES ({places})", rows)

    def cells(self) -> list[CellResult]:
        """All finished cells of the study, without those of other techniques and further replicates."""
        rows = self.file.rows(_CELLS, (self.facts["replicates"],))
        sizes, once, found = known_sizes(self.facts), set(self.facts["once"]), []
        for (technique, replicate, seconds, content), of_cell in groupby(rows, key=lambda row: row[:4]):
            figures = [row[4:] for row in of_cell]
            if self.file.contents.get(technique) != content or (replicate and technique in once):
                continue
            whole = tuple(row[0] for row in figures) == sizes and all(map(_are_figures, figures))
            if not (whole and isinstance(replicate, int) and replicate >= 0 and isinstance(seconds, float)):
                raise self.file.damaged(f"the figures of {technique} are incomplete")
            found.append(
                CellResult(CellKey(technique, replicate), tuple(Figures(*row) for row in figures), seconds)
            )
        return found


@contextmanager
def open_store(folder: Path, asked: Asked) -> Iterator[Store]:
    """The store for a study: a new one, or the existing one if its cells can be used.

    Its data, seed and knowledge must be the same; techniques and replicates may differ.
    """
    with store_file.open_to_write(STUDY, folder, asked) as file:
        yield Store(file)


@contextmanager
def open_to_read(folder: Path) -> Iterator[Store]:
    """A finished or unfinished study; nothing is changed."""
    with store_file.open_to_read(STUDY, folder) as file:
        yield Store(file)


def _are_figures(row: Sequence[Any]) -> bool:
    """True for a number of known keys and finite figures: an SQLite column accepts any type."""
    return is_whole(row[0]) and all(isinstance(figure, float) and isfinite(figure) for figure in row[1:])
