"""The finished cells of a study on disk."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from math import inf, isfinite
from pathlib import Path
from typing import Any

from equivoc.checks import is_whole
from equivoc.data.fingerprint import Facts
from equivoc.experiments import store
from equivoc.experiments.cell import CellKey, CellResult, Figures
from equivoc.experiments.compared import FRONT_RELEASES, ComparedCell
from equivoc.experiments.description import (
    are_comparison_facts,
    are_study_facts,
    comparison_differences,
    known_sizes,
    study_differences,
)
from equivoc.experiments.store import Asked, StoreFile, StoreKind, insert_row, json_or_none, open_to_write
from equivoc.information_loss.utility import MEASURES

OLD_FORMATS = {
    "equivoc study 1": "contains confidential values",
    "equivoc study 2": "has no surprise, gain and true hits",
}
"""Formats of earlier versions, and why they cannot be used."""

ROUNDING = 1e-9
_KEY = {"technique": "TEXT", "content": "TEXT", "replicate": "INTEGER"}
_STUDY_TABLES = {
    "seconds": {**_KEY, "seconds": "REAL"},
    "results": {**_KEY, "known_size": "INTEGER", **dict.fromkeys(Figures._fields[1:], "REAL")},
}
_KEYS = {"seconds": ", ".join(_KEY), "results": ", ".join((*_KEY, "known_size"))}
_STUDY_CELLS = f"""
SELECT technique, replicate, seconds, content, {", ".join(Figures._fields)}
FROM results JOIN seconds USING (technique, content, replicate)
WHERE replicate < ? ORDER BY technique, content, replicate, known_size
"""
STUDY = StoreKind(
    "study",
    "equivoc study 4",
    "equivoc study 3",
    _STUDY_TABLES,
    _KEYS,
    are_study_facts,
    study_differences,
    OLD_FORMATS,
)
STUDY_FILE = STUDY.file


@dataclass(frozen=True, eq=False)
class StudyStore:
    """The folder of a study. A cell is stored completely or not at all."""

    file: StoreFile

    @property
    def folder(self) -> Path:
        return self.file.folder

    @property
    def remarks(self) -> tuple[str, ...]:
        """What to know about the stored cells, one sentence each."""
        return self.file.remarks

    @property
    def facts(self) -> Facts:
        """The description of the study requested last."""
        return self.file.facts

    def add(self, cell: CellResult) -> None:
        """Store a finished cell; on return it is on disk."""
        technique, replicate = cell.key
        key = (technique, self.file.contents[technique], replicate)
        with self.file.transaction() as transaction:
            insert_row(transaction, "seconds", (*key, cell.seconds))
            for figures in cell.figures:
                insert_row(transaction, "results", (*key, *figures))

    def cells(self) -> list[CellResult]:
        """All finished cells of the study, without those of other techniques and further replicates."""
        rows = self.file.rows(_STUDY_CELLS, (self.facts["replicates"],))
        sizes, once, found = known_sizes(self.facts), set(self.facts["once"]), []
        for (technique, replicate, seconds, content), of_cell in groupby(rows, key=lambda row: row[:4]):
            figures = [row[4:] for row in of_cell]
            if self.file.contents.get(technique) != content or (replicate and technique in once):
                continue
            whole = tuple(row[0] for row in figures) == sizes and all(map(_are_study_figures, figures))
            if not (whole and isinstance(replicate, int) and replicate >= 0 and isinstance(seconds, float)):
                raise self.file.damaged(
                    f"the figures of {technique} are incomplete, or cannot be such figures"
                )
            found.append(
                CellResult(CellKey(technique, replicate), tuple(Figures(*row) for row in figures), seconds)
            )
        return found


@contextmanager
def open_study(folder: Path, asked: Asked) -> Iterator[StudyStore]:
    """The store for a study: a new one, or the existing one if its cells can be used.

    Its data, seed and knowledge must be the same; techniques and replicates may differ.
    """
    with store.open_to_write(STUDY, folder, asked) as file:
        yield StudyStore(file)


@contextmanager
def study_to_read(folder: Path) -> Iterator[StudyStore]:
    """A finished or unfinished study; nothing is changed."""
    with store.open_to_read(STUDY, folder) as file:
        yield StudyStore(file)


BITS = (-ROUNDING, 1100.0)
"""No surprise is larger: smaller probabilities than 2^−1074 do not exist."""
RANGES: Mapping[str, tuple[float, float]] = {
    "h0": BITS,
    "area": (-ROUNDING, inf),
    "h0_record": BITS,
    "area_record": (-ROUNDING, inf),
    "surprise": BITS,
    "gain": BITS,
    "true_hit": (-ROUNDING, 1 + ROUNDING),
}
"""Least and greatest value of each figure."""


def _are_study_figures(row: Sequence[Any]) -> bool:
    """True for a number of known keys and figures in their range: an SQLite column accepts any type."""
    return is_whole(row[0]) and all(
        isinstance(figure, float) and isfinite(figure) and low <= figure <= high
        for figure, (low, high) in zip(row[1:], RANGES.values(), strict=True)
    )


# The finished cells of a comparison on disk.

_COMPARISON_TABLES = {"results": {**_KEY, "figures": "TEXT", "seconds": "REAL"}}
_COMPARISON_CELLS = """
SELECT technique, content, replicate, figures, seconds FROM results
WHERE replicate < ? ORDER BY technique, content, replicate
"""
COMPARISON = StoreKind(
    "comparison",
    "equivoc comparison 2",
    "equivoc comparison 1",
    _COMPARISON_TABLES,
    {"results": ", ".join(_KEY)},
    are_comparison_facts,
    comparison_differences,
)
COMPARISON_FILE = COMPARISON.file
CHOICE = replace(COMPARISON, what="choice", format="equivoc choice 1", before_digests="")
"""What a choice has tried: the same figures of risk, without losses."""
CHOICE_FILE = CHOICE.file


@dataclass(frozen=True, eq=False)
class ComparedStore:
    """The folder of a comparison, or of a choice. A cell is stored completely or not at all."""

    file: StoreFile
    wanted: frozenset[str]
    """The figures of risk that are needed; a stored cell that lacks one is computed again."""

    @property
    def folder(self) -> Path:
        return self.file.folder

    def add(self, cell: ComparedCell) -> None:
        """Store a finished cell; on return it is on disk. A failed one is tried again the next time."""
        if cell.failure:
            return
        technique, replicate = cell.key
        figures = {
            "risks": dict(cell.risks),
            "losses": dict(cell.losses),
            "reasons": dict(cell.reasons),
            "intruder": cell.intruder,
        }
        row = (technique, self.file.contents[technique], replicate, json.dumps(figures), cell.seconds)
        with self.file.transaction() as transaction:
            insert_row(transaction, "results", row)

    def cells(self) -> list[ComparedCell]:
        """The finished cells of this comparison that have all figures needed."""
        facts, found = self.file.facts, []
        once = set(facts["once"])
        measures = set() if self.file.kind is CHOICE else set(MEASURES)
        most = max(facts["replicates"], FRONT_RELEASES)
        for technique, content, replicate, text, seconds in self.file.rows(_COMPARISON_CELLS, (most,)):
            if self.file.contents.get(technique) != content or (replicate and technique in once):
                continue
            figures = json_or_none(text)
            whole = isinstance(replicate, int) and replicate >= 0 and isinstance(seconds, float)
            if not (whole and _are_comparison_figures(figures, measures)):
                raise self.file.damaged(
                    f"the figures of {technique} are incomplete, or cannot be such figures"
                )
            if self.wanted <= figures["risks"].keys():
                found.append(ComparedCell(CellKey(technique, replicate), **figures, seconds=seconds))
        return found


@contextmanager
def open_compared(
    kind: StoreKind, folder: Path, asked: Asked, *, wanted: Collection[str]
) -> Iterator[ComparedStore]:
    """The store of this kind, COMPARISON or CHOICE: a new one, or the existing one if its cells can be used."""
    with open_to_write(kind, folder, asked) as file:
        yield ComparedStore(file, frozenset(wanted))


def _are_comparison_figures(found: Any, measures: set[str]) -> bool:
    """True if these are the figures of a cell: a damaged store may contain anything."""
    if not isinstance(found, dict) or found.keys() != {"risks", "losses", "reasons", "intruder"}:
        return False
    risks, lost, reasons = found["risks"], found["losses"], found["reasons"]
    return (
        all(isinstance(each, dict) for each in (risks, lost, reasons))
        and lost.keys() == measures
        and all(_is_figure(value, *_range(name)) for name, value in risks.items())
        and all(_is_figure(value) for value in lost.values())
        and all(isinstance(text, str) for text in (*reasons.values(), found["intruder"]))
    )


def _range(left: str) -> tuple[float, float]:
    """Least and greatest value of a figure by the left side of a requirement, such as ``true_hit(5000)@worst``."""
    name = left.partition("@")[0].partition("(")[0]
    if name == "gain":  # of one person, it can be a loss
        return -BITS[1], BITS[1]
    return {**RANGES, "hit": RANGES["true_hit"]}.get(name, (0.0, inf))


def _is_figure(value: Any, low: float = -inf, high: float = inf) -> bool:
    return value is None or (isinstance(value, float) and isfinite(value) and low <= value <= high)
