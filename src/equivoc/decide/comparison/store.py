"""The finished cells of a comparison on disk."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from equivoc.decide.comparison.cell import ComparedCell
from equivoc.decide.comparison.description import are_facts, differences
from equivoc.information_loss.overall import MEASURES
from equivoc.study.cell import CellKey
from equivoc.study.resumable.store_file import Asked, StoreFile, StoreKind, json_or_none, open_to_write

_TABLES = """
CREATE TABLE results (technique TEXT, content TEXT, replicate INTEGER, figures TEXT, seconds REAL,
    PRIMARY KEY (technique, content, replicate));
"""
_CELLS = """
SELECT technique, content, replicate, figures, seconds FROM results
WHERE replicate < ? ORDER BY technique, content, replicate
"""
COMPARISON = StoreKind("comparison", "equivoc comparison 1", _TABLES, are_facts, differences)
FILE = COMPARISON.file


@dataclass(frozen=True, eq=False)
class Store:
    """The folder of a comparison. A cell is stored completely or not at all."""

    file: StoreFile
    wanted: frozenset[str]
    """The figures of risk that are needed; a stored cell that lacks one is computed again."""

    @property
    def folder(self) -> Path:
        return self.file.folder

    def add(self, cell: ComparedCell) -> None:
        """Store a finished cell; on return it is on disk."""
        technique, replicate = cell.key
        figures = {
            "risks": dict(cell.risks),
            "losses": dict(cell.losses),
            "reasons": dict(cell.reasons),
            "intruder": cell.intruder,
        }
        row = (technique, self.file.contents[technique], replicate, json.dumps(figures), cell.seconds)
        with self.file.transaction() as transaction:
            transaction.execute("INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?, ?)", row)

    def cells(self) -> list[ComparedCell]:
        """The finished cells of this comparison that have all figures needed."""
        facts, found = self.file.facts, []
        once = set(facts["once"])
        for technique, content, replicate, text, seconds in self.file.rows(_CELLS, (facts["replicates"],)):
            if self.file.contents.get(technique) != content or (replicate and technique in once):
                continue
            figures = json_or_none(text)
            whole = isinstance(replicate, int) and replicate >= 0 and isinstance(seconds, float)
            if not (whole and _are_figures(figures)):
                raise self.file.damaged(f"the figures of {technique} are incomplete")
            if self.wanted <= figures["risks"].keys():
                found.append(ComparedCell(CellKey(technique, replicate), **figures, seconds=seconds))
        return found


@contextmanager
def open_store(folder: Path, asked: Asked, *, wanted: Collection[str]) -> Iterator[Store]:
    """The store for a comparison: a new one, or the existing one if its cells can be used."""
    with open_to_write(COMPARISON, folder, asked) as file:
        yield Store(file, frozenset(wanted))


def _are_figures(found: Any) -> bool:
    """True if these are the figures of a cell: a damaged store may contain anything."""
    if not isinstance(found, dict) or found.keys() != {"risks", "losses", "reasons", "intruder"}:
        return False
    risks, lost, reasons = found["risks"], found["losses"], found["reasons"]
    return (
        all(isinstance(each, dict) for each in (risks, lost, reasons))
        and lost.keys() == set(MEASURES)
        and all(_is_figure(value) for value in (*risks.values(), *lost.values()))
        and all(isinstance(text, str) for text in (*reasons.values(), found["intruder"]))
    )


def _is_figure(value: Any) -> bool:
    return value is None or (isinstance(value, float) and isfinite(value))
