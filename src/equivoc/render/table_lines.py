"""What is said of a table of cells: its unsafe cells, what a released table tells, the table that was made from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

from equivoc.render.blocks import Block, Rows, html_table
from equivoc.render.comparison import meets
from equivoc.render.parts import json_values
from equivoc.results.result import Renderer
from equivoc.text import counted, exact, figure, probability

if TYPE_CHECKING:
    from equivoc.assessment.of_table import TableAssessment
    from equivoc.experiments.compare_tables import TableComparison
    from equivoc.experiments.search import TableChoice

ALL = "(all)"
"""A margin's label."""
MOST_ROWS = 40
"""Longer lists are cut; --out writes everything."""
MOST_COLUMNS = 8
"""A table of two keys is printed as rows and columns if the second has at most this many, its margin included."""


def table_lines(facts: dict[str, Any]) -> Iterator[Block]:
    """The table with unsafe cells marked, the unsafe cells with the reason, and what to know about them."""
    cells = facts["cells"]
    of = "people" if facts["value"] is None else f"totals of {facts['value']}"
    yield (f"{counted(len(cells), 'cell')} of {of} by {', '.join(facts['by'])}; {facts['empty']:,} empty.")
    yield facts["headline"]
    title = "Number of people" if facts["value"] is None else f"Total of {facts['value']}"
    across = list(dict.fromkeys(label_of(cell["categories"][-1]) for cell in cells))
    if len(facts["by"]) == 2 and len(across) <= MOST_COLUMNS:
        yield from _rows_and_columns(title, facts, across)
    else:
        rows = [(*map(label_of, cell["categories"]), _shown(cell), f"{cell['people']:,}") for cell in cells]
        yield from list_rows(title, (*facts["by"], "value", "contributors"), rows, left=len(facts["by"]))
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
        yield from list_rows(
            "Unsafe cells; the interval that an intruder can compute must reach above the value by the protection",
            (*facts["by"], "unsafe by", "contributors", "protection"),
            rows,
            left=len(facts["by"]) + 1,
        )
    yield from notes(facts)


def released_table_lines(facts: dict[str, Any]) -> Iterator[Block]:
    """The interval of each suppressed cell, and published cells that are unsafe."""
    yield (
        f"{counted(facts['cells'], 'cell')} by {', '.join(facts['by'])}; {facts['suppressed']:,} without a value."
    )
    yield facts["headline"]
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
        yield from list_rows(
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
        yield from list_rows(
            "Published cells that are unsafe",
            (*facts["by"], "value", "unsafe by"),
            rows,
            left=len(facts["by"]),
        )
    elif facts["rules"]:
        yield f"No published cell is unsafe by {' or '.join(facts['rules'])}."
    yield from notes(facts)


def _rows_and_columns(title: str, facts: dict[str, Any], across: list[str]) -> Iterator[Block]:
    cells = facts["cells"]
    rows = [
        (label_of(cells[at]["categories"][0]), *map(_shown, cells[at : at + len(across)]))
        for at in range(0, len(cells), len(across))
    ]
    down, over = facts["by"]
    yield from list_rows(f"{title}, {down} by {over}", (down, *across), rows, left=1)


def list_rows(
    title: str, columns: Sequence[str], rows: list[tuple[str, ...]], *, left: int
) -> Iterator[Block]:
    yield Rows(title, columns, rows[:MOST_ROWS], left=left)
    if len(rows) > MOST_ROWS:
        yield f"{counted(len(rows) - MOST_ROWS, 'more row')}; --out writes all of them."


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


def notes(facts: dict[str, Any]) -> Iterator[Block]:
    for note in facts["notes"]:
        yield f"Note: {note}"


# A released table that was made here.

WITHHELD = "x"
MOST_SHOWN = 10
"""Of cells that are published, so many of the riskiest are listed; of withheld ones as many as in any list."""


def table_release_lines(facts: dict[str, Any]) -> Iterator[Block]:
    """The released table, what follows for its cells, the requirements and the notes."""
    counts = facts["counts"]
    of = "people" if facts["value"] is None else f"totals of {facts['value']}"
    yield (
        f"{counted(counts['cells'], 'cell')} of {of} by {', '.join(facts['by'])}; {counts['withheld']:,} withheld."
    )
    yield facts["method"]
    yield facts["headline"]
    if facts["said"]:
        yield facts["said"]
    for row in facts["requirements"]:
        yield f"- {row['sentence']}"
    yield from _show_table(facts)
    yield from _show_cells(facts)
    for row in facts["utility"]:
        yield f"{row['label']}: {figure(row['value'])} ({row['meaning']})."
    yield from notes(facts)


def _show_table(facts: dict[str, Any]) -> Iterator[Block]:
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
        yield from list_rows(title, (facts["by"][0], *across), rows, left=1)
        return
    rows = [(*map(label_of, cell["categories"]), _shown_released(cell)) for cell in cells]
    yield from list_rows(title, (*facts["by"], "value"), rows, left=len(facts["by"]))


def _show_cells(facts: dict[str, Any]) -> Iterator[Block]:
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
    yield from list_rows(
        f"What follows for {which}; H0 in bits and area in bits × {unit}: more is safer; hit rate at "
        f"{figure(facts['hit_eps'])}: less is safer",
        (*facts["by"], "", "at least", "at most", "H0", "area", "hit"),
        rows,
        left=len(facts["by"]) + 1,
    )
    yield facts["about"]
    average = facts["average"]
    if average is not None:
        whose = "" if facts["value"] is None else ", for the second largest contributor, who knows her own"
        yield (
            f"On average over {counted(facts['counts']['assessed'], 'cell')}{whose}: H0 {figure(average['h0'])} bits, "
            f"area {figure(average['area'])}, hit rate {probability(average['hit'])}."
        )


def _shown_released(cell: dict[str, Any]) -> str:
    value = WITHHELD if cell["withheld"] else figure(cell["value"])
    if "true_value" in cell:
        value += f" (true: {figure(cell['true_value'])})"
    return f"{value} unsafe" if cell["unsafe"] else value


# Methods that were compared, and settings that were tried.


def table_choice_facts(done: TableChoice) -> dict[str, Any]:
    """The choice, ready for JSON."""
    facts: dict[str, Any] = json_values(
        {
            "kind": "choice for a table",
            "sentence": done.sentence,
            "parameter": done.parameter,
            "value": done.value,
            "meets": done.chosen is not None,
            "notes": list(done.notes),
            "tried": [
                {
                    "value": trial.value,
                    "meets": trial.meets,
                    "requirements": [outcome.facts for outcome in trial.outcomes],
                }
                for trial in done.trials
            ],
        }
    )
    return facts


def table_choice_lines(facts: dict[str, Any]) -> Iterator[Block]:
    """The choice in a sentence, and a row for each setting that was tried."""
    yield facts["sentence"]
    required = [each["requirement"] for each in facts["tried"][0]["requirements"]]
    yield Rows(
        f"Settings of {facts['parameter']} in the order in which they were tried",
        (facts["parameter"], *required, "meets"),
        [
            (
                exact(trial["value"]),
                *("–" if each["value"] is None else figure(each["value"]) for each in trial["requirements"]),
                "yes" if trial["meets"] else "no",
            )
            for trial in facts["tried"]
        ],
    )
    yield from notes(facts)


def table_comparison_facts(done: TableComparison) -> dict[str, Any]:
    """The comparison, ready for JSON."""
    chosen = done.chosen
    facts: dict[str, Any] = json_values(
        {
            "kind": "comparison of tables",
            "headline": done.headline,
            "choice": None if chosen is None else chosen.notation,
            "meets": done.meets,
            "cells": done.cells,
            "notes": list(done.table.remarks),
            "hit_eps": done.hit_eps,
            "risk": done.risk.left,
            "riskier": done.risk.riskier,
            "loss": done.utility,
            "methods": [
                {
                    "notation": each.notation,
                    "risk": each.risk.mean,
                    "loss": each.loss.mean,
                    "risks": {name: found.mean for name, found in each.risks.items()},
                    "losses": {name: found.mean for name, found in each.losses.items()},
                    "meets": each.meets,
                    "front": front,
                    "chosen": each is chosen,
                    "outcomes": [outcome.facts for outcome in each.outcomes],
                    "reason": done.reasons.get(each.notation),
                    "failed": each.failure or None,
                }
                for each, front in zip(done.compared, done.front, strict=True)
            ],
        }
    )
    return facts


def table_comparison_lines(facts: dict[str, Any]) -> Iterator[Block]:
    """The choice, a row for each method, and why each other one was not chosen."""
    methods = facts["methods"]
    yield f"{counted(len(methods), 'method')}; figures are over {facts['cells']}."
    yield facts["headline"]
    safer = "less" if facts["riskier"] == "more" else "more"
    yield Rows(
        f"{facts['risk']}: {safer} is safer; {facts['loss']}: less is more useful",
        ("method", facts["risk"], facts["loss"], "meets", "front"),
        [
            (
                each["notation"],
                _or_dash(each["risk"]),
                _or_dash(each["loss"]),
                "failed" if each["failed"] else meets(each["meets"], required=bool(each["outcomes"])),
                "yes" if each["front"] else "no",
            )
            for each in methods
        ],
    )
    for each in methods:
        if each["reason"]:
            yield f"- {each['notation']}: {each['reason']}"
    yield from notes(facts)


def _or_dash(value: float | None) -> str:
    return "–" if value is None or isnan(value) else figure(value)


# In a notebook.


def table_notebook(result: TableAssessment) -> str:
    """The riskiest cells."""
    from equivoc.render.table_release import table_release_facts

    facts = table_release_facts(result)
    rows = [
        (
            ", ".join("all" if label is None else label for label in row["categories"]),
            *("no limit" if row[end] is None else figure(row[end]) for end in ("low", "high")),
            "unsafe" if row["unsafe"] else "",
        )
        for row in facts["assessed"][:20]
    ]
    caption = f"{facts['title']}. {facts['method']} {facts['headline']}"
    return html_table(Rows(caption, ("cell, riskiest first", "at least", "at most", ""), rows))


def table_comparison_notebook(done: TableComparison) -> str:
    """The choice, and the figures of all methods."""
    table = done.frame.to_html(index=False, float_format=figure, escape=True, border=0)
    return f"<p>{escape(done.headline)} Figures are over {escape(done.cells)}.</p>{table}"


RENDERER = Renderer(table_comparison_facts, notebook=table_comparison_notebook, lines=table_comparison_lines)
