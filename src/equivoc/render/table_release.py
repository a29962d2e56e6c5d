"""The facts of an assessed release of a table: the table as it is published, and what follows for each cell.

No fact discloses a contribution: true values of withheld cells, and the figures of an insider (which depend on her own
contribution), are left out unless ``record_values=True``. What anybody can compute from the published table is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.assessment.of_table import TableAssessment
from equivoc.information_loss.table_losses import table_losses
from equivoc.render.assessment import versions
from equivoc.render.parts import json_values
from equivoc.render.table import categories_of
from equivoc.render.table_lines import table_notebook, table_release_lines
from equivoc.render.truth import publication_answer
from equivoc.results.result import Renderer
from equivoc.tables.cell_posteriors import Figures
from equivoc.tables.cell_rounding import RoundedTable
from equivoc.tables.noisy_counts import NoisyCellTable
from equivoc.tables.redesign import RedesignedTable
from equivoc.tables.release import TableRelease
from equivoc.tables.rules import Rule
from equivoc.tables.suppression.cell_suppression import SuppressedTable
from equivoc.tables.suppression.exposure import Exposure
from equivoc.text import amount, counted, exact

MOST_CELLS = 2_000
"""A larger table is not shown in full."""
MOST_ROWS = 300
"""Of a longer list of cells, the riskiest are shown."""
FEWEST_CELLS = 3
"""An average of an insider's figures over fewer cells is withheld."""
MULTIPLE_OF_WIDTH = 1e-9
"""An interval that is narrower than this share of its ends is one value."""
ALL = "all"
"""The label of a margin on the page."""


def table_release_facts(
    result: TableAssessment,
    *,
    rules: Sequence[Rule] = (),
    unit: str = "",
    record_values: bool = False,
    title: str | None = None,
    date: str | None = None,
) -> dict[str, Any]:
    """The facts of the report of a released table, ready for JSON. ``rules`` mark cells that are unsafe by them."""
    release, table = result.release, result.release.cells
    low, high = release.bounds
    exact = _one_value(low, high)
    unsafe, by = _unsafe(result, rules)
    figures = _shown_figures(result, record_values=record_values)
    hidden, names = release.withheld, categories_of(table)
    # Cells that are published as they are have an interval of one value, and that says nothing.
    protected = hidden | (low != release.values) | (high != release.values)
    cells = []
    for cell in range(min(len(table), MOST_CELLS)):
        fact: dict[str, Any] = {
            "categories": names[cell],
            "value": None if hidden[cell] else release.values[cell],
            "withheld": bool(hidden[cell]),
            "unsafe": bool(unsafe[cell]),
            "people": int(table.people[cell]),
            "interval": _interval(cell, low, high, unit) if protected[cell] else "",
        }
        if record_values and protected[cell]:
            fact["true_value"] = table.values[cell]
        cells.append(fact)
    assessed = _riskiest_first(result, low, high, figures)
    exposed = _exposure(release)
    headline, tone = _verdict(result, protected, exact, high - low, unit)
    facts = {
        "kind": "table",
        "title": title or _title(result),
        "question": "May this table be published under these requirements?"
        if result.require
        else "What can be computed about cells and contributors that this table does not show?",
        "headline": headline,
        "said": _said(result, protected, exact, high - low, unit) if result.require else "",
        "tone": tone,
        "meets": result.meets,
        "requirements": [each.facts for each in result.requirements],
        "method": _method(result),
        "mechanism": release.mechanism,
        "by": list(table.by),
        "value": table.value,
        "unit": unit or _unit(result),
        "given_unit": unit,
        "rules": [by] if by else [],
        "counts": {
            "cells": len(table),
            "published": int((~hidden).sum()),
            "withheld": int(hidden.sum()),
            "unsafe": int(unsafe.sum()),
            "unsafe_withheld": int((unsafe & hidden).sum()),
            "computed": int((exact & protected).sum()),
            "computed_by_contributors": 0
            if exposed is None
            else int((exposed.by_contributor & ~exact).sum()),
            "certain": result.disclosed,
            "assessed": len(result.cells),
            "shown": len(cells),
        },
        "cells": cells,
        "tables": _tables(result, len(cells)),
        "assessed": [
            {
                "cell": int(cell),
                "categories": names[cell],
                "unsafe": bool(unsafe[cell]),
                "withheld": bool(hidden[cell]),
                "people": int(table.people[cell]),
                "low": low[cell],
                "high": high[cell],
                "width": high[cell] - low[cell],
                "computed": bool(exact[cell] and protected[cell]),
                "h0": figures.h0[cell],
                "area": figures.area[cell],
                "hit": figures.hit[cell],
                **({"true_value": table.values[cell]} if record_values else {}),
            }
            for cell in assessed[:MOST_ROWS]
        ],
        "hit_eps": result.hit_eps,
        "about": _about(result, record_values=record_values),
        "average": _average(result),
        "gap": release.gap if isinstance(release, SuppressedTable) else None,
        "everybody_checked": exposed is None or exposed.complete,
        "proven": release.proven if isinstance(release, SuppressedTable) else None,
        "utility": _utility(result, record_values=record_values),
        "notes": list(result.notes),
        "record_values": record_values,
        "versions": versions(),
        "seed": None,
        "date": date,
    }
    plain: dict[str, Any] = json_values(facts)
    return plain


def _unsafe(result: TableAssessment, rules: Sequence[Rule]) -> tuple[NDArray[np.bool_], str]:
    """Which cells are unsafe before the release, and by what."""
    release = result.release
    if rules and not isinstance(release, RedesignedTable):
        every = np.any([rule.unsafe(release.cells) for rule in rules], axis=0)
        return every, " or ".join(rule.text for rule in rules)
    if isinstance(release, SuppressedTable):
        return release.primary, "the rule of the suppression"
    return np.zeros(len(release.cells), dtype=bool), ""


def _exposure(release: TableRelease) -> Exposure | None:
    """What contributors can compute in a table with suppressed cells."""
    return release.exposure if isinstance(release, SuppressedTable) else None


def _shown_figures(result: TableAssessment, *, record_values: bool) -> Figures:
    """The insider's figures follow from her own contribution, so without ``record_values`` they are an outsider's."""
    if record_values or result.release.cells.value is None:
        return result.figures(result.hit_eps)
    return result.release.contributors(insider=False).figures(eps=result.hit_eps)


def _about(result: TableAssessment, *, record_values: bool) -> str:
    if result.release.cells.value is None:
        return "The figures are about the count of a cell."
    of = f"The figures are about the largest contribution of {result.release.cells.value} to a cell"
    if record_values:
        return f"{of}, for the second largest contributor, who knows her own."
    return (
        f"{of}, for somebody who contributed nothing. Those of a contributor are riskier, but they depend on her own "
        "contribution and would disclose it: they count in the requirements and in the averages, and are not listed."
    )


def _average(result: TableAssessment) -> dict[str, Any] | None:
    """Means over the assessed cells, with the insider's figures; None if they are of too few cells."""
    found = result.figures(result.hit_eps)
    cells = result.cells[np.isfinite(found.h0[result.cells])]
    if len(cells) < FEWEST_CELLS:
        return None
    return {name: float(np.mean(getattr(found, name)[cells])) for name in ("h0", "area", "hit")}


def _utility(result: TableAssessment, *, record_values: bool) -> list[dict[str, Any]]:
    """The losses that say nothing about withheld or rounded cells beyond what is published."""
    release, rows = result.release, table_losses(result.table, result.release)
    public = {"cells_suppressed", "cells_lost"}
    # With the grand total and contributions of 0 or more, the sum of withheld inner cells follows by subtraction.
    if (
        not release.withheld[0]
        and not isinstance(release, RoundedTable)
        and np.all(release.cells.values >= 0)
    ):
        public.add("total_suppressed")
    return [
        {
            "measure": row.measure,
            "label": row.measure.replace("_", " ").capitalize(),
            "value": row.value,
            "unit": row.unit,
            "meaning": row.meaning,
        }
        for row in rows
        if record_values or row.measure in public
    ]


def _riskiest_first(
    result: TableAssessment, low: NDArray[np.float64], high: NDArray[np.float64], figures: Figures
) -> NDArray[np.int64]:
    cells = result.cells
    order = np.lexsort((high[cells] - low[cells], np.nan_to_num(figures.area[cells], nan=np.inf)))
    return cells[order]


def _one_value(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.bool_]:
    """True where the interval is one value, up to rounding."""
    known = np.isfinite(low) & np.isfinite(high)
    low, high = np.where(known, low, 0.0), np.where(known, high, np.inf)
    size = np.maximum(np.maximum(np.abs(low), np.where(known, np.abs(high), 0.0)), 1.0)
    return np.asarray(high - low <= MULTIPLE_OF_WIDTH * size)


def _verdict(
    result: TableAssessment,
    protected: NDArray[np.bool_],
    exact: NDArray[np.bool_],
    width: NDArray[np.float64],
    unit: str,
) -> tuple[str, str]:
    """The headline, and how alarming it is."""
    exposed = _exposure(result.release)
    if result.require:
        if exposed is not None and exposed.cells.any():
            return f"No, it may not be published. {exposed.sentence}", "alarm"
        answer = publication_answer(result.requirements)
        if exposed is not None and not exposed.complete and result.meets:
            return f"{answer} But not every contributor was checked.", "caution"
        return answer, "calm" if result.meets else "alarm"
    disclosed = bool((exact & protected).any()) or (
        result.release.cells.value is not None and result.disclosed > 0
    )
    if exposed is not None:
        disclosed |= bool(exposed.cells.any())
    return _said(result, protected, exact, width, unit), "alarm" if disclosed else "caution"


def _said(
    result: TableAssessment,
    protected: NDArray[np.bool_],
    exact: NDArray[np.bool_],
    width: NDArray[np.float64],
    unit: str,
) -> str:
    """How many cells can be computed exactly, and by whom, how wide the narrowest interval is, and whose contribution
    is certain."""
    said = _said_of_cells(result, protected, exact, width, unit)
    exposed = _exposure(result.release)
    if exposed is None:
        return said
    unchecked = "" if exposed.complete else "Not every contributor was checked."
    return " ".join(filter(None, (said, exposed.sentence, unchecked)))


def _said_of_cells(
    result: TableAssessment,
    protected: NDArray[np.bool_],
    exact: NDArray[np.bool_],
    width: NDArray[np.float64],
    unit: str,
) -> str:
    table, cells = result.release.cells, result.cells
    asked = np.flatnonzero(protected)
    certain = ""
    if table.value is not None and result.disclosed:
        whose = "" if len(cells) == 1 else f"{result.disclosed:,} of "
        certain = (
            f" The largest contribution is certain in {whose}{counted(len(cells), 'assessed cell')} for a contributor "
            "who knows her own."
        )
    if not len(asked):
        few = table.people[table.people > 0]
        fewest = f"; the fewest contributors of a cell are {few.min():,}" if len(few) else ""
        return f"Every cell is published as it is{fewest}.{certain}"
    what = "withheld cell" if result.release.withheld.any() else "cell whose true value is not published"
    computed = int(exact[asked].sum())
    if computed:
        return f"{computed:,} of {_cells(len(asked), what)} can be computed exactly.{certain}"
    narrowest = float(width[asked].min())
    wide = (
        f"the narrowest interval is {amount(narrowest, unit)} wide"
        if np.isfinite(narrowest)
        else "none has limits"
    )
    none = f"The {what} cannot" if len(asked) == 1 else f"None of {_cells(len(asked), what)} can"
    exposed = _exposure(result.release)
    outsider = "" if exposed is None or exposed.safe else " from what is published"
    return f"{none} be computed exactly{outsider}; {wide}.{certain}"


def _cells(number: int, what: str) -> str:
    if what == "withheld cell":
        return counted(number, what)
    return f"{counted(number, 'cell')} whose true value is not published"


def _title(result: TableAssessment) -> str:
    table = result.release.cells
    of = "Numbers of people" if table.value is None else f"Totals of {table.value}"
    return f"{of} by {', '.join(table.by)}"


def _unit(result: TableAssessment) -> str:
    return "people" if result.release.cells.value is None else f"unit of {result.release.cells.value}"


def _method(result: TableAssessment) -> str:
    """What was done to the table, in a sentence."""
    release = result.release
    if isinstance(release, SuppressedTable):
        primary = int(release.primary.sum())
        more = int(release.withheld.sum()) - int((release.primary & release.withheld).sum())
        proven = (
            "It is proven that no protected choice of cells costs less."
            if release.proven
            else "But not every unsafe cell is protected from contributors."
            if release.exposure.cells.any()
            else "Whether a cheaper choice exists is not proven."
            if not release.found.proven
            else "Whether it protects from every contributor is not known."
        )
        withheld = f"Cell suppression: {counted(primary, 'unsafe cell')} withheld (primary suppression)"
        if not more:
            return f"{withheld}; no other cell had to be."
        return (
            f"{withheld}, and {counted(more, 'more cell')} so that none of them follows from the others (secondary "
            f"suppression). {proven}"
        )
    if isinstance(release, RoundedTable):
        return f"Cell rounding, {release.rounded.method}: every cell is a multiple of {amount(release.rounded.base)}."
    if isinstance(release, RedesignedTable):
        up = [f"{key} to level {level}" for key, level in release.levels.items() if level]
        return (
            f"Redesign: categories were merged, {', '.join(up)}."
            if up
            else "Redesign: nothing had to be merged."
        )
    if isinstance(release, NoisyCellTable):
        return (
            f"Noisy counts: two-sided geometric noise of scale {release.most:,}/ε with ε = {exact(release.epsilon)} on "
            "every inner cell; margins are sums of noisy cells."
        )
    if type(release) is TableRelease:
        return "Nothing is withheld or changed."
    return f"{type(release).__name__}."


def _tables(result: TableAssessment, shown: int) -> list[dict[str, Any]]:
    """The cells as rows and columns: one table for one or two keys, one for each combination of the others if more.

    Each entry is the number of a cell. Rows beyond the first ``shown`` cells are left out.
    """
    table = result.release.cells
    labels = [[ALL if label is None else label for label in cell] for cell in categories_of(table)]
    last = table.shape[-1]
    if len(table.shape) == 1:
        rows = [{"label": labels[cell][0], "cells": [cell]} for cell in range(shown)]
        return [{"caption": "", "down": table.by[0], "across": "", "columns": ["value"], "rows": rows}]
    down, found = table.shape[-2], []
    for first in range(0, shown, down * last):
        rows = [
            {"label": labels[at][-2], "cells": list(range(at, at + last))}
            for at in range(first, first + down * last, last)
            if at + last <= shown
        ]
        caption = "; ".join(
            f"{key}: {label}" for key, label in zip(table.by[:-2], labels[first][:-2], strict=True)
        )
        if rows:
            found.append(
                {
                    "caption": caption,
                    "down": table.by[-2],
                    "across": table.by[-1],
                    "columns": [labels[first + at][-1] for at in range(last)],
                    "rows": rows,
                }
            )
    return found


def _interval(cell: int, low: NDArray[np.float64], high: NDArray[np.float64], unit: str) -> str:
    """The interval of a cell in words."""
    least, most = float(low[cell]), float(high[cell])
    if not np.isfinite(least) and not np.isfinite(most):
        return "no limits"
    if not np.isfinite(most):
        return f"at least {amount(least, unit)}"
    if not np.isfinite(least):
        return f"at most {amount(most, unit)}"
    return f"between {amount(least, unit)} and {amount(most, unit)}"


def _charts(facts: dict[str, Any], result: Any) -> dict[str, Any]:
    from equivoc.charts.assessment import interval_chart

    chart = interval_chart(facts)
    return {} if chart is None else {"intervals": chart}


RENDERER = Renderer(
    table_release_facts,
    frozenset({"unit", "record_values", "title", "date"}),
    table_notebook,
    table_release_lines,
    "table",
    _charts,
)
