"""``equivoc table``: tables of counts or totals, their unsafe cells, and what a released table gives away."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equivoc.cli.attribute_options import ReadingOptions, domain_values, names, numbers
from equivoc.cli.options import (
    DomainOption,
    DropMissingOption,
    EscapeOption,
    RequireOption,
    RoundToOption,
    asked_requirements,
    exit_code_of,
    with_options,
)
from equivoc.cli.process import waiting
from equivoc.cli.table_decide import (
    CHOICE_FILES,
    COMPARISON_FILES,
    ChooseOption,
    CompareOption,
    CostOption,
    MethodOption,
    MostOption,
    NoisyOption,
    PublicOption,
    RedesignOption,
    RoundOption,
    SeedOption,
    SuppressOption,
    TimeLimitOption,
    asked_method,
    chosen_setting,
    methods_from,
    setting_range,
)
from equivoc.errors import InputError
from equivoc.files import check_outputs, write_csv, writing_into
from equivoc.requests.named_files import named_files

if TYPE_CHECKING:
    from equivoc.reading.reading import Reading
    from equivoc.tables.cell_table import CellTable
    from equivoc.tables.rules import Rule

# What ``equivoc table`` starts from: people to tabulate, or a table that was released.


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
    how: Reading,
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
        **how.options,
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


def frames_and_facts(
    made: CellTable, rules: Sequence[Rule], *, record_values: bool
) -> tuple[list[Any], dict[str, Any]]:
    """The frames to write, and the facts to print. Both hold contributions only with ``record_values``."""
    from equivoc.render.table import table_facts, withheld_cells
    from equivoc.tables.release import table_frame, unsafe_frame

    facts = table_facts(made, rules, record_values=record_values)
    shown = record_values or made.value is None  # a count is not somebody's value
    frames = [table_frame(made, None if shown else withheld_cells(made, rules))]
    return [*frames, *([unsafe_frame(made, rules, contributions=shown)] if rules else [])], facts


def released_table(
    file: Path,
    by: list[str],
    value: str,
    hierarchies: str | None,
    rules: Sequence[Rule],
    words: dict[str, Any],
) -> tuple[list[Any], dict[str, Any]]:
    """The frames to write, and the facts to print."""
    from equivoc.render.table import released_table_facts
    from equivoc.tables.attacker import cell_intervals
    from equivoc.tables.cell_table import CellTable
    from equivoc.tables.release import cell_frame

    released = CellTable.read(file, by=by, value=value, hierarchies=hierarchies, **words)
    found = cell_intervals(released)
    facts = released_table_facts(released, found, rules)
    intervals = cell_frame(released, found.cells, {"low": found.low, "high": found.high})
    return [intervals, *([released.unsafe(rules)] if rules else [])], facts


KERNELS = "equivoc.tables.contribution_kernels"


@with_options(ReadingOptions)
def table(
    how: ReadingOptions,
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
        typer.Option(
            "--hierarchies",
            "--key-hierarchies",
            help="Subtotals: age:5/10+region:region.csv, or a folder with a CSV file for each key.",
        ),
    ] = None,
    contributors: Annotated[
        str | None,
        typer.Option(help="A column of holdings: contributions of one holding to a cell count as one."),
    ] = None,
    waiver: Annotated[
        str | None, typer.Option(help="A column that says yes for those who agreed to be published.")
    ] = None,
    weights: Annotated[str | None, typer.Option(help="A column of survey weights.")] = None,
    domain: DomainOption = None,
    round_to: RoundToOption = None,
    drop_missing: DropMissingOption = False,
    suppress: SuppressOption = False,
    round_cells: RoundOption = None,
    redesign: RedesignOption = False,
    noisy: NoisyOption = None,
    public_categories: PublicOption = False,
    most_per_contributor: MostOption = None,
    compare: CompareOption = None,
    choose: ChooseOption = None,
    method: MethodOption = None,
    cost: CostOption = None,
    time_limit: TimeLimitOption = None,
    seed: SeedOption = None,
    eps: Annotated[
        str | None, typer.Option(help="Tolerances of the hit rates, in the value's unit: 5,10.")
    ] = None,
    require: RequireOption = None,
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
            help="A folder for table.csv and unsafe.csv; with --audit, for intervals.csv and unsafe.csv; with "
            "--suppress, --round, --redesign or --noisy, for released.csv and report.html; with --compare, for "
            "comparison.csv and why.csv; with --choose, for tried.csv."
        ),
    ] = None,
    escape: EscapeOption = True,
    record_values: Annotated[
        bool, typer.Option(help="Show values of unsafe cells and of fewer than 3 contributors.")
    ] = False,
    unit: Annotated[str, typer.Option(help="The value's unit in the report, such as K or cents.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Make a table of counts or totals and find its unsafe cells, protect it, or audit a table that was released.

    With --suppress, --round, --redesign or --noisy, the protected table is made and assessed. With --audit, the
    interval of every suppressed cell is computed from the published ones. --compare and --choose find a method, or the
    mildest setting of one, that meets --require.

    Example: equivoc table people.csv --by region,sex --value salary --rule p:10 --rule threshold:3 --suppress
    """
    from equivoc.tables.rules import as_rules

    if not by:
        raise InputError(
            "--by is missing: name one to four columns that make the cells, such as --by region,sex."
        )
    columns = names("--by", by)
    rules = as_rules(rule) if rule else ()
    required = asked_requirements(require)
    tolerances = None if eps is None else numbers("--eps", eps)
    deciding = compare is not None or choose is not None
    asked = asked_method(
        rules,
        suppress=suppress,
        base=round_cells,
        redesign=redesign,
        epsilon=noisy,
        public=public_categories,
        most=most_per_contributor,
        method=method,
        cost=cost,
        time_limit=time_limit,
        seed=None if deciding else seed,
        hierarchies=hierarchies,
        assessed={} if deciding else {"--require": require, "--eps": eps, "--unit": unit or None},
        holdings=contributors is not None,
    )
    if deciding and (asked is not None or (compare is not None and choose is not None)):
        named = "--choose names the method" if compare is None else "--compare names the methods"
        others = "--suppress, --round, --redesign and --noisy" if asked is not None else "--choose"
        raise InputError(f"{named}: leave {others} out.")
    if choose is not None:
        setting_range(choose)
        if rules:
            raise InputError("--choose tries rules and settings of its own: leave --rule out.")
    compared = None if compare is None else methods_from(compare, rules, hierarchies)
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
        "--suppress, --round, --redesign or --noisy": asked,
        "--compare": compare,
        "--choose": choose,
    }
    only_audit = {
        "--margin": margin,
        "--symbol": symbol,
        "--missing-margins": missing_margins or None,
        "--counts": counts or None,
    }
    check_together(audit, only_people, only_audit)
    inputs = [file for file in (people, audit) if file is not None] + list(named_files([hierarchies or []]))
    written = (
        list(COMPARISON_FILES)
        if compare is not None
        else list(CHOICE_FILES)
        if choose is not None
        else ["released.csv", "report.html"]
        if asked is not None
        else ["intervals.csv" if audit else "table.csv", *(["unsafe.csv"] if rules else [])]
    )
    files = [] if out is None else [out / name for name in written]
    check_outputs(files, inputs=inputs, folder=out)
    page, meets = "", True
    with waiting("working on the table", kernels=KERNELS):
        if audit is not None:
            words: dict[str, Any] = {"counts": counts, "missing_margins": missing_margins}
            words |= {} if margin is None else {"margins": margin}
            words |= {} if symbol is None else {"symbols": symbol}
            words |= how.reading.options
            frames, facts = released_table(
                audit, columns, "value" if value is None else value, hierarchies, rules, words
            )
        else:
            made = tabulated(
                people,
                columns,
                value,
                confidential=confidential,
                keys=keys,
                hierarchies=None
                if compare is not None or (asked is not None and asked.own_hierarchies)
                else hierarchies,
                contributors=contributors,
                waiver=waiver,
                weights=weights,
                domain=domain,
                round_to=round_to,
                drop_missing=drop_missing,
                how=how.reading,
                rules=rules,
            )
            from equivoc.render.table_lines import table_choice_facts, table_comparison_facts

            if compared is not None:
                from equivoc.experiments.compare_tables import compare_tables

                done = compare_tables(made, compared, require=required, seed=seed or 0, eps=tolerances)
                frames, facts, meets = [done.frame, done.why], table_comparison_facts(done), done.meets
            elif choose is not None:
                found = chosen_setting(choose, made, require=required, seed=seed or 0, eps=tolerances)
                frames, facts = [found.tried], table_choice_facts(found)
                meets = facts["meets"]
            elif asked is None:
                frames, facts = frames_and_facts(made, rules, record_values=record_values)
            else:
                frames, facts, page = asked.release(
                    made,
                    eps=tolerances,
                    require=required,
                    unit=unit,
                    record_values=record_values,
                    page=out is not None,
                )
                meets = facts["meets"]
        if out is not None:
            check_outputs(files, inputs=inputs, folder=out)
            with writing_into(out, private=True):
                for file, frame in zip(files, frames, strict=not page):
                    write_csv(frame, file, escape=escape, private=True)
                if page:
                    from equivoc.render.page import write_page

                    write_page(page, files[-1], private=True)
    with exit_code_of(meets=meets):
        if as_json:
            print(json.dumps(facts | {"files": [str(file) for file in files]}, indent=2, allow_nan=False))
            return
        from equivoc.render import table_lines
        from equivoc.render.lines import print_blocks

        if deciding:
            lines = table_lines.table_comparison_lines if choose is None else table_lines.table_choice_lines
        elif audit is not None:
            lines = table_lines.released_table_lines
        else:
            lines = table_lines.table_lines if asked is None else table_lines.table_release_lines
        print_blocks(lines(facts), files)
