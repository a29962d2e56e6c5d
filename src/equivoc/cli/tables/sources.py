"""What ``equivoc table`` starts from: people to tabulate, or a table that was released."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equivoc.cli.options.words import domain_values, names
from equivoc.errors import InputError

if TYPE_CHECKING:
    from equivoc.tables.cell_table import CellTable
    from equivoc.tables.rules import Rule


def check_together(audit: Path | None, only_people: dict[str, Any], only_audit: dict[str, Any]) -> None:
    """InputError if an option does not belong to what is asked for, or if there is no table."""
    if audit is not None:
        given = next((name for name, value in only_people.items() if value is not None), None)
        if given is not None:
            raise InputError(f"--audit reads a released table, which has no use for {given}: leave it out.")
        return
    given = next((name for name, value in only_audit.items() if value is not None), None)
    if given is not None:
        raise InputError(f"{given} is about a released table: give --audit as well.")
    if only_people["a file of people"] is None:
        raise InputError("there is no table: give a file of people, or --audit with a released table.")


def tabulated(
    people: Path | None,
    by: list[str],
    value: str | None,
    *,
    confidential: str | None,
    keys: str | None,
    hierarchies: str | None,
    contributors: str | None,
    waiver: str | None,
    weights: str | None,
    domain: str | None,
    round_to: float | None,
    drop_missing: bool,
    rules: Sequence[Rule],
) -> CellTable:
    from equivoc.data.read import read
    from equivoc.tables.rules import Dominance
    from equivoc.tables.tabulate import tabulate

    if people is None:
        raise InputError("there is no table: give a file of people, or --audit with a released table.")
    if confidential is None and value is None:
        raise InputError("--confidential is missing: name the column whose values are protected.")
    protected = [str(value)] if confidential is None else names("--confidential", confidential)
    used = [name for name in (*by, value, contributors, waiver) if name is not None and name not in protected]
    person = read(
        people,
        confidential=protected if len(protected) > 1 else protected[0],
        keys=list(dict.fromkeys(used)) if keys is None else names("--keys", keys),
        domain=None if domain is None else domain_values(domain),
        round_to=round_to,
        weights=weights,
        drop_missing=drop_missing,
    )
    return tabulate(
        person,
        by,
        value,
        hierarchies=hierarchies,
        contributors=contributors,
        waiver=waiver,
        largest=max([5, *(min(rule.n, len(person)) for rule in rules if isinstance(rule, Dominance))]),
    )


def judged(
    made: CellTable, rules: Sequence[Rule], *, record_values: bool
) -> tuple[list[Any], dict[str, Any]]:
    """The frames to write, and the facts to print."""
    from equivoc.report.facts.table_facts import table_facts

    facts = table_facts(made, rules, record_values=record_values)
    return [made.frame, *([made.unsafe(rules)] if rules else [])], facts


def released_table(
    file: Path,
    by: list[str],
    value: str,
    hierarchies: str | None,
    rules: Sequence[Rule],
    words: dict[str, Any],
) -> tuple[list[Any], dict[str, Any]]:
    """The frames to write, and the facts to print."""
    from equivoc.report.facts.table_facts import released_table_facts
    from equivoc.tables.attacker.intervals import cell_intervals
    from equivoc.tables.cell_table import CellTable
    from equivoc.tables.frames import cell_frame

    released = CellTable.read(file, by=by, value=value, hierarchies=hierarchies, **words)
    found = cell_intervals(released)
    facts = released_table_facts(released, found, rules)
    intervals = cell_frame(released, found.cells, {"low": found.low, "high": found.high})
    return [intervals, *([released.unsafe(rules)] if rules else [])], facts
