"""``equivoc table``: tables of counts or totals, their unsafe cells, and what a released table gives away."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equivoc.cli.people_options import EscapeOption
from equivoc.cli.technique_files import named_files
from equivoc.cli.waiting import waiting
from equivoc.cli.words import domain_values, names
from equivoc.csv_output import write_csv
from equivoc.errors import InputError
from equivoc.files import check_outputs, writing_into

if TYPE_CHECKING:
    from equivoc.tables.cell_table import CellTable
    from equivoc.tables.rules import Rule

KERNELS = "equivoc.tables.contribution_kernels"


def table(
    people: Annotated[
        Path | None,
        typer.Argument(help="The original file: CSV with a header, or Parquet. Not with --audit."),
    ] = None,
    by: Annotated[
        str, typer.Option(help="One to four columns that make the cells, separated by commas.")
    ] = "",
    value: Annotated[
        str | None,
        typer.Option(
            help="The column to add up; without it, people are counted. With --audit: the column of values."
        ),
    ] = None,
    rule: Annotated[
        list[str] | None,
        typer.Option(
            help="A rule for unsafe cells: p:10, dominance:n=1,k=60, pq:p=20,q=100 or threshold:3. Repeatable: a cell "
            "is unsafe by any of them."
        ),
    ] = None,
    confidential: Annotated[
        str | None, typer.Option(help="The confidential column; default: that of --value.")
    ] = None,
    keys: Annotated[
        str | None,
        typer.Option(
            help="Columns that an intruder may know, separated by commas; default: those that are used."
        ),
    ] = None,
    hierarchies: Annotated[
        str | None,
        typer.Option(help="Subtotals: age:5/10+region:region.csv, or a folder with a CSV file for each key."),
    ] = None,
    contributors: Annotated[
        str | None,
        typer.Option(help="A column of holdings: contributions of one holding to a cell count as one."),
    ] = None,
    waiver: Annotated[
        str | None, typer.Option(help="A column that says yes for those who agreed to be published.")
    ] = None,
    weights: Annotated[str | None, typer.Option(help="A column of survey weights.")] = None,
    domain: Annotated[
        str | None,
        typer.Option(
            help="Values the confidential attribute can take: 10:250:10 (low:high:step) or 10,20,50."
        ),
    ] = None,
    round_to: Annotated[
        float | None, typer.Option(help="Round confidential values to the nearest multiple.")
    ] = None,
    drop_missing: Annotated[bool, typer.Option(help="Leave out rows without a confidential value.")] = False,
    audit: Annotated[
        Path | None,
        typer.Option(
            help="A released table, a row for each cell with margins: what follows for its suppressed cells."
        ),
    ] = None,
    margin: Annotated[
        list[str] | None,
        typer.Option(
            help="With --audit: what stands for all categories; default: nothing, Total and *. Repeatable."
        ),
    ] = None,
    symbol: Annotated[
        list[str] | None,
        typer.Option(
            help="With --audit: what stands for a suppressed value; default: nothing, x, *, .. and c. Repeatable."
        ),
    ] = None,
    missing_margins: Annotated[
        bool,
        typer.Option("--missing-margins", help="With --audit: the table was published without some margins."),
    ] = False,
    counts: Annotated[
        bool, typer.Option("--counts", help="With --audit: the values are numbers of people.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="A folder for table.csv and unsafe.csv; with --audit, for intervals.csv and unsafe.csv."
        ),
    ] = None,
    escape: EscapeOption = True,
    record_values: Annotated[
        bool, typer.Option(help="Show values of unsafe cells and of fewer than 3 contributors.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Make a table of counts or totals and find its unsafe cells, or audit a table that was released.

    With --audit, the interval of every suppressed cell is computed from the published ones.

    Example: equivoc table people.csv --by region,sex --value salary --rule p:10 --rule threshold:3
    """
    from equivoc.tables.rules import as_rules

    if not by:
        raise InputError(
            "--by is missing: name one to four columns that make the cells, such as --by region,sex."
        )
    columns = names("--by", by)
    rules = as_rules(rule) if rule else ()
    only_people = {
        "a file of people": people,
        "--confidential": confidential,
        "--keys": keys,
        "--contributors": contributors,
        "--waiver": waiver,
        "--weights": weights,
        "--domain": domain,
        "--round-to": round_to,
        "--drop-missing": drop_missing or None,
    }
    only_audit = {
        "--margin": margin,
        "--symbol": symbol,
        "--missing-margins": missing_margins or None,
        "--counts": counts or None,
    }
    _check_together(audit, only_people, only_audit)
    inputs = [file for file in (people, audit) if file is not None] + list(named_files([hierarchies or []]))
    files = [] if out is None else [out / name for name in _files(audit=audit is not None, rules=rules)]
    check_outputs(files, inputs=inputs, folder=out)
    if audit is not None:
        words: dict[str, Any] = {"counts": counts, "missing_margins": missing_margins}
        words |= {} if margin is None else {"margins": margin}
        words |= {} if symbol is None else {"symbols": symbol}
        frames, facts = _released(
            audit, columns, "value" if value is None else value, hierarchies, rules, words
        )
    else:
        with waiting("tabulating", kernels=KERNELS):
            made = _tabulated(
                people,
                columns,
                value,
                confidential=confidential,
                keys=keys,
                hierarchies=hierarchies,
                contributors=contributors,
                waiver=waiver,
                weights=weights,
                domain=domain,
                round_to=round_to,
                drop_missing=drop_missing,
                rules=rules,
            )
            frames, facts = _judged(made, rules, record_values=record_values)
    if out is not None:
        check_outputs(files, inputs=inputs, folder=out)
        with writing_into(out, private=True):
            for file, frame in zip(files, frames, strict=True):
                write_csv(frame, file, escape=escape, private=True)
    if as_json:
        print(json.dumps(facts | {"files": [str(file) for file in files]}, indent=2, allow_nan=False))
        return
    from equivoc.cli.table_output import print_released_table, print_table

    (print_table if audit is None else print_released_table)(facts, files)


def _check_together(audit: Path | None, only_people: dict[str, Any], only_audit: dict[str, Any]) -> None:
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


def _files(*, audit: bool, rules: Sequence[Rule]) -> list[str]:
    return ["intervals.csv" if audit else "table.csv", *(["unsafe.csv"] if rules else [])]


def _tabulated(
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
    from equivoc.data.microdata import read
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


def _judged(
    made: CellTable, rules: Sequence[Rule], *, record_values: bool
) -> tuple[list[Any], dict[str, Any]]:
    """The frames to write, and the facts to print."""
    from equivoc.report.table_facts import table_facts

    facts = table_facts(made, rules, record_values=record_values)
    return [made.frame, *([made.unsafe(rules)] if rules else [])], facts


def _released(
    file: Path,
    by: list[str],
    value: str,
    hierarchies: str | None,
    rules: Sequence[Rule],
    words: dict[str, Any],
) -> tuple[list[Any], dict[str, Any]]:
    """The frames to write, and the facts to print."""
    from equivoc.report.table_facts import released_table_facts
    from equivoc.tables.attacker.intervals import cell_intervals
    from equivoc.tables.cell_table import CellTable
    from equivoc.tables.frames import cell_frame

    released = CellTable.read(file, by=by, value=value, hierarchies=hierarchies, **words)
    found = cell_intervals(released)
    facts = released_table_facts(released, found, rules)
    intervals = cell_frame(released, found.cells, {"low": found.low, "high": found.high})
    return [intervals, *([released.unsafe(rules)] if rules else [])], facts
