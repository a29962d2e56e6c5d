"""The text output of ``equivoc table`` with --suppress, --round, --redesign or --noisy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from equivoc.cli.output.terminal import Terminal
from equivoc.cli.tables.output import MOST_COLUMNS, bound, end, label_of, list_rows
from equivoc.number_format import counted, figure, probability

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
                *(_shown(cells[at]) for at in row["cells"]),
            )
            for row in tables[0]["rows"]
        ]
        list_rows(terminal, title, (facts["by"][0], *across), rows, left=1)
        return
    rows = [(*map(label_of, cell["categories"]), _shown(cell)) for cell in cells]
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


def _shown(cell: dict[str, Any]) -> str:
    value = WITHHELD if cell["withheld"] else figure(cell["value"])
    if "true_value" in cell:
        value += f" (true: {figure(cell['true_value'])})"
    return f"{value} unsafe" if cell["unsafe"] else value
