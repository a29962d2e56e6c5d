"""The text output of ``equivoc table``."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from equivoc.cli.terminal import Terminal
from equivoc.text import counted, figure, probability

ALL = "(all)"
"""A margin's label."""
MOST_ROWS = 40
"""Longer lists are cut; --out writes everything."""
MOST_COLUMNS = 8
"""A table of two keys is printed as rows and columns if the second has at most this many, its margin included."""


def print_table(facts: dict[str, Any], written: Sequence[Path]) -> None:
    """The table with unsafe cells marked, the unsafe cells with the reason, and what to know about them."""
    terminal = Terminal()
    cells = facts["cells"]
    of = "people" if facts["value"] is None else f"totals of {facts['value']}"
    terminal.say(
        f"{counted(len(cells), 'cell')} of {of} by {', '.join(facts['by'])}; {facts['empty']:,} empty."
    )
    terminal.say(facts["headline"])
    title = "Number of people" if facts["value"] is None else f"Total of {facts['value']}"
    across = list(dict.fromkeys(label_of(cell["categories"][-1]) for cell in cells))
    if len(facts["by"]) == 2 and len(across) <= MOST_COLUMNS:
        _rows_and_columns(terminal, title, facts, across)
    else:
        rows = [(*map(label_of, cell["categories"]), _shown(cell), f"{cell['people']:,}") for cell in cells]
        list_rows(terminal, title, (*facts["by"], "value", "contributors"), rows, left=len(facts["by"]))
    unsafe = [cell for cell in cells if cell["why"]]
    rows = [
        (
            *map(label_of, cell["categories"]),
            ", ".join(cell["why"]),
            f"{cell['people']:,}",
            "withheld" if cell["protection"] is None else figure(cell["protection"]),
        )
        for cell in unsafe
    ]
    if rows:
        list_rows(
            terminal,
            "Unsafe cells; the interval that an intruder can compute must reach above the value by the protection",
            (*facts["by"], "unsafe by", "contributors", "protection"),
            rows,
            left=len(facts["by"]) + 1,
        )
    end(terminal, facts, written)


def print_released_table(facts: dict[str, Any], written: Sequence[Path]) -> None:
    """The interval of each suppressed cell, and published cells that are unsafe."""
    terminal = Terminal()
    terminal.say(
        f"{counted(facts['cells'], 'cell')} by {', '.join(facts['by'])}; {facts['suppressed']:,} without a value."
    )
    terminal.say(facts["headline"])
    rows = [
        (
            *map(label_of, row["categories"]),
            bound(row["low"], "no limit"),
            bound(row["high"], "no limit"),
            "disclosed" if row["disclosed"] else bound(row["width"], "–"),
        )
        for row in sorted(facts["intervals"], key=_width)
    ]
    if rows:
        list_rows(
            terminal,
            "What follows for cells without a value, narrowest first",
            (*facts["by"], "at least", "at most", "width"),
            rows,
            left=len(facts["by"]),
        )
    rows = [
        (*map(label_of, row["categories"]), figure(row["value"]), ", ".join(row["why"]))
        for row in facts["unsafe_published"]
    ]
    if rows:
        list_rows(
            terminal,
            "Published cells that are unsafe",
            (*facts["by"], "value", "unsafe by"),
            rows,
            left=len(facts["by"]),
        )
    elif facts["rules"]:
        terminal.say(f"No published cell is unsafe by {' or '.join(facts['rules'])}.")
    end(terminal, facts, written)


def _rows_and_columns(terminal: Terminal, title: str, facts: dict[str, Any], across: list[str]) -> None:
    cells = facts["cells"]
    rows = [
        (label_of(cells[at]["categories"][0]), *map(_shown, cells[at : at + len(across)]))
        for at in range(0, len(cells), len(across))
    ]
    down, over = facts["by"]
    list_rows(terminal, f"{title}, {down} by {over}", (down, *across), rows, left=1)


def list_rows(
    terminal: Terminal, title: str, columns: Sequence[str], rows: list[tuple[str, ...]], *, left: int
) -> None:
    terminal.show(title, columns, rows[:MOST_ROWS], left=left)
    if len(rows) > MOST_ROWS:
        terminal.say(f"{counted(len(rows) - MOST_ROWS, 'more row')}; --out writes all of them.")


def _shown(cell: dict[str, Any]) -> str:
    """A cell's value; unsafe cells are marked in words."""
    value = "" if cell["withheld"] else figure(cell["value"])
    mark = "unsafe" if cell["why"] else "withheld" if cell["withheld"] else ""
    return f"{value} {mark}".strip()


def label_of(label: str | None) -> str:
    return ALL if label is None else label


def bound(bound: float | None, nothing: str) -> str:
    return nothing if bound is None or not isfinite(bound) else figure(bound)


def _width(row: dict[str, Any]) -> tuple[bool, float]:
    return row["width"] is None, row["width"] or 0.0


def end(terminal: Terminal, facts: dict[str, Any], written: Sequence[Path]) -> None:
    for note in facts["notes"]:
        terminal.say(f"Note: {note}")
    for path in written:
        terminal.say(f"written: {path}")


# The text output of ``equivoc table`` with --suppress, --round, --redesign or --noisy.

WITHHELD = "x"
MOST_SHOWN = 10
"""Of cells that are published, so many of the riskiest are listed; of withheld ones as many as in any list."""


def print_release(facts: dict[str, Any], written: Sequence[Path]) -> None:
    """The released table, what follows for its cells, the requirements and the notes."""
    terminal, counts = Terminal(), facts["counts"]
    of = "people" if facts["value"] is None else f"totals of {facts['value']}"
    terminal.say(
        f"{counted(counts['cells'], 'cell')} of {of} by {', '.join(facts['by'])}; {counts['withheld']:,} withheld."
    )
    terminal.say(facts["method"])
    terminal.say(facts["headline"])
    if facts["said"]:
        terminal.say(facts["said"])
    for row in facts["requirements"]:
        terminal.say(f"- {row['sentence']}")
    _show_table(terminal, facts)
    _show_cells(terminal, facts)
    for row in facts["utility"]:
        terminal.say(f"{row['label']}: {figure(row['value'])} ({row['meaning']}).")
    end(terminal, facts, written)


def _show_table(terminal: Terminal, facts: dict[str, Any]) -> None:
    title = "Number of people" if facts["value"] is None else f"Total of {facts['value']}"
    cells = facts["cells"]
    title += f" as released, {WITHHELD}: withheld" if facts["counts"]["withheld"] else " as released"
    tables = facts["tables"]
    if len(facts["by"]) == 2 and tables and len(tables[0]["columns"]) <= MOST_COLUMNS:
        across = [label_of(cells[at]["categories"][-1]) for at in tables[0]["rows"][0]["cells"]]
        rows = [
            (
                label_of(cells[row["cells"][0]]["categories"][0]),
                *(_shown_released(cells[at]) for at in row["cells"]),
            )
            for row in tables[0]["rows"]
        ]
        list_rows(terminal, title, (facts["by"][0], *across), rows, left=1)
        return
    rows = [(*map(label_of, cell["categories"]), _shown_released(cell)) for cell in cells]
    list_rows(terminal, title, (*facts["by"], "value"), rows, left=len(facts["by"]))


def _show_cells(terminal: Terminal, facts: dict[str, Any]) -> None:
    """The intervals and figures of the riskiest cells."""
    withheld = bool(facts["counts"]["withheld"])
    riskiest = facts["assessed"] if withheld else facts["assessed"][:MOST_SHOWN]
    if not riskiest:
        return
    unit = facts["unit"]
    rows = [
        (
            *map(label_of, row["categories"]),
            ", ".join(
                word for word, holds in (("unsafe", row["unsafe"]), ("computed", row["computed"])) if holds
            ),
            bound(row["low"], "no limit"),
            bound(row["high"], "no limit"),
            bound(row["h0"], "–"),
            bound(row["area"], "–"),
            "–" if row["hit"] is None else probability(row["hit"]),
        )
        for row in riskiest
    ]
    which = "withheld cells" if withheld else f"the {len(rows)} riskiest cells"
    list_rows(
        terminal,
        f"What follows for {which}; H0 in bits and area in bits × {unit}: more is safer; hit rate at "
        f"{figure(facts['hit_eps'])}: less is safer",
        (*facts["by"], "", "at least", "at most", "H0", "area", "hit"),
        rows,
        left=len(facts["by"]) + 1,
    )
    terminal.say(facts["about"])
    average = facts["average"]
    if average is not None:
        whose = "" if facts["value"] is None else ", for the second largest contributor, who knows her own"
        terminal.say(
            f"On average over {counted(facts['counts']['assessed'], 'cell')}{whose}: H0 {figure(average['h0'])} bits, "
            f"area {figure(average['area'])}, hit rate {probability(average['hit'])}."
        )


def _shown_released(cell: dict[str, Any]) -> str:
    value = WITHHELD if cell["withheld"] else figure(cell["value"])
    if "true_value" in cell:
        value += f" (true: {figure(cell['true_value'])})"
    return f"{value} unsafe" if cell["unsafe"] else value
