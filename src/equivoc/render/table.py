"""The facts of a table of cells: its cells, which of them are unsafe, and what follows for suppressed ones.

As in other reports, no fact discloses a contribution: values of unsafe cells, and totals of fewer than three
contributors, are withheld unless ``record_values=True``. A released table's own values are public and shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes.level_text import written
from equivoc.render.parts import json_values
from equivoc.tables.attacker import CellIntervals
from equivoc.tables.cell_table import CellTable
from equivoc.tables.rules import Rule
from equivoc.text import counted

FEWEST = 3
"""The total of fewer contributors is withheld."""


def table_facts(table: CellTable, rules: Sequence[Rule], *, record_values: bool = False) -> dict[str, Any]:
    """The cells of a table that is not published yet, ready for JSON."""
    found = [rule.unsafe(table) for rule in rules]
    levels = [rule.protection(table) for rule in rules]
    unsafe = np.any(found, axis=0) if rules else np.zeros(len(table), bool)
    withheld = np.zeros(len(table), bool) if record_values else withheld_cells(table, rules)
    cells = []
    for cell, categories in enumerate(categories_of(table)):
        cells.append(
            {
                "categories": categories,
                "value": None if withheld[cell] else table.values[cell],
                "withheld": bool(withheld[cell]),
                "people": int(table.people[cell]),
                "why": [rule.text for rule, by in zip(rules, found, strict=True) if by[cell]],
                "protection": None if withheld[cell] or not rules else max(level[cell] for level in levels),
            }
        )
    facts = {
        "by": list(table.by),
        "value": table.value,
        "rules": [rule.text for rule in rules],
        "cells": cells,
        "unsafe": int(unsafe.sum()),
        "unsafe_inner": int((unsafe & table.inner).sum()),
        "empty": int((table.people == 0).sum()),
        "withheld": int(withheld.sum()),
    }
    return dict(json_values(facts | {"headline": _headline(facts), "notes": _notes(table, facts)}))


def withheld_cells(table: CellTable, rules: Sequence[Rule]) -> NDArray[np.bool_]:
    """The cells whose values tell a contribution: unsafe ones, and those of one or two contributors."""
    if table.value is None:  # a count is not somebody's value
        return np.zeros(len(table), bool)
    few = (table.people > 0) & (table.people < FEWEST) & ~table.waived
    return np.asarray(few | np.any([rule.unsafe(table) for rule in rules], axis=0))


def released_table_facts(table: CellTable, intervals: CellIntervals, rules: Sequence[Rule]) -> dict[str, Any]:
    """What a table that is already published tells about its suppressed cells, ready for JSON."""
    suppressed = np.isnan(table.values)
    unsafe = [rule.unsafe(table) for rule in rules]
    names = categories_of(table)
    exact = intervals.width <= intervals.accuracy
    rows = [
        {
            "categories": names[cell],
            "low": low,
            "high": high,
            "width": width,
            "disclosed": bool(known),
        }
        for cell, low, high, width, known in zip(
            intervals.cells, intervals.low, intervals.high, intervals.width, exact, strict=True
        )
    ]
    published = [
        {
            "categories": names[cell],
            "value": table.values[cell],
            "why": [rule.text for rule, by in zip(rules, unsafe, strict=True) if by[cell]],
        }
        for cell in (np.flatnonzero(np.any(unsafe, axis=0)) if rules else ())
    ]
    disclosed = int(exact.sum())
    headline = (
        "No cell is suppressed."
        if not rows
        else "No suppressed cell follows exactly from the published ones."
        if not disclosed
        else f"{disclosed:,} of {counted(len(rows), 'suppressed cell')} can be computed exactly from published ones."
    )
    notes = [
        "Intervals follow from the published cells and from how cells add up; a suppressed cell is taken to be at "
        "least 0 unless a published one is below 0. A wider interval is safer. A contributor of a cell knows more."
    ]
    if not rules:
        notes.append(
            "Whether published cells are unsafe was not judged: give --rule, and columns people, largest and second."
        )
    facts = {
        "by": list(table.by),
        "value": table.value,
        "rules": [rule.text for rule in rules],
        "cells": len(table),
        "suppressed": int(suppressed.sum()),
        "disclosed": disclosed,
        "intervals": rows,
        "unsafe_published": published,
        "headline": headline,
        "notes": notes,
    }
    return dict(json_values(facts))


def categories_of(table: CellTable) -> list[list[str | None]]:
    """The labels of every cell as text; None for a margin."""
    labels = [[written(label) for label in dimension.labels] for dimension in table.dimensions]
    return [[labels[at][node] for at, node in enumerate(nodes)] for nodes in table.nodes.tolist()]


def _headline(facts: dict[str, Any]) -> str:
    if not facts["rules"]:
        return "No rule was given, so no cell was judged."
    by = " or ".join(facts["rules"])
    if not facts["unsafe"]:
        return f"No cell is unsafe by {by}."
    verb = "is" if facts["unsafe"] == 1 else "are"
    totals = facts["unsafe"] - facts["unsafe_inner"]
    of_totals = f", {totals:,} of them margins or subtotals" if totals else ""
    return f"{counted(facts['unsafe'], 'cell')} {verb} unsafe by {by}{of_totals}."


def _notes(table: CellTable, facts: dict[str, Any]) -> list[str]:
    notes = list(table.remarks)
    if facts["withheld"]:
        notes.append(
            f"Values of unsafe cells and of fewer than {FEWEST} contributors are withheld; --record-values shows them. "
            "This is no protection: whoever has the other cells can compute them from the totals."
        )
    zeros = int(((table.people > 0) & (table.contributions == 0) & ~table.waived).sum())
    if zeros and table.value is not None:
        notes.append(
            f"The contributions of {counted(zeros, 'cell')} are all 0. Such a total discloses everybody in it, and "
            "no rule about the largest contribution calls it unsafe; consider suppressing it."
        )
    if np.any(table.top < 0):
        notes.append("Some contributions are below 0: the rules take their absolute size.")
    if table.source is not None and table.source.rounded and table.value in table.source.attributes:
        notes.append("Contributions were rounded before they were added up.")
    return notes
