"""A table of counts or totals: its unsafe cells, or the protected table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from equivoc.assessment.of_table import assess_table
from equivoc.charts.cell_intervals import interval_chart
from equivoc.csv_output import write_csv
from equivoc.errors import InputError
from equivoc.report.facts.table_release_facts import table_release_facts
from equivoc.report.page import chart_spec, render_table, write_page
from equivoc.tables.cell_table import CellTable
from equivoc.tables.release import TableRelease
from equivoc.tables.rounding.cell_rounding import CellRounding
from equivoc.tables.rules import Dominance, as_rules
from equivoc.tables.suppression.cell_suppression import CellSuppression
from equivoc.tables.tabulate import tabulate
from equivoc.web.jobs.work import Work

TIME_LIMIT = 60.0
"""Seconds for the search of cells to suppress."""


def run(work: Work) -> dict[str, Any]:
    """The facts of the table, with the table as a file."""
    by, value, method = list(work.texts("by")), work.text("value") or None, work.text("method", "none")
    if not by:
        raise InputError("choose one to four columns that make the cells.")
    named = [text for text in (work.text("rule"), *work.texts("rules")) if text]
    rules = as_rules(named) if named else ()
    spec = work.spec
    # A table may be made of any columns: those that are used become keys.
    used = [name for name in (*by, *([value] if value else [])) if name != spec.confidential]
    people = replace(spec, keys=tuple(dict.fromkeys((*spec.keys, *used)))).read()
    work.tell(0, 0, "working on the table")
    table = tabulate(
        people,
        by,
        value,
        largest=max([5, *(min(rule.n, len(people)) for rule in rules if isinstance(rule, Dominance))]),
    )
    made = _release(work, table, rules, method)
    facts = table_release_facts(
        assess_table(table, made, require=work.texts("require")), rules=rules, unit=spec.unit
    )
    write_csv(made.table, work.files / "released.csv", private=True)
    write_page(render_table(facts), work.files / "table.html", private=True)
    chart = interval_chart(facts)
    return {**facts, "charts": {} if chart is None else {"intervals": chart_spec(chart)}}


def _release(work: Work, table: CellTable, rules: Any, method: str) -> Any:
    name, _, rest = method.partition(":")
    if name == "none":
        return TableRelease(table, table.values.copy())
    if name == "suppress":
        if not rules:
            raise InputError("choose a rule that says which cells are unsafe, such as p:10.")
        return CellSuppression(rule=rules, time_limit=TIME_LIMIT).release(table)
    if name == "round":
        try:
            base = float(rest)
        except ValueError:
            raise InputError(f"{method!r} needs a base, as in round:5.") from None
        return CellRounding(int(base) if base.is_integer() else base).release(table)
    if name == "redesign":
        from equivoc.tables.redesign import Redesign

        own = {column: rule for column, rule in work.spec.column_rules.items() if column in table.by}
        if not own:
            raise InputError("a redesign merges categories: give one of the columns a hierarchy first.")
        return Redesign(rule=rules, hierarchies=own).release(table)
    raise InputError(f"there is no method {method!r}; choose none, suppress, round:5 or redesign.")
