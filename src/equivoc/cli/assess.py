"""``equivoc assess``: the disclosure risk of a technique for an intruder with given knowledge."""

from __future__ import annotations

import json
from contextlib import ExitStack
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equivoc.charts.drawing import check_drawing, save_chart
from equivoc.checks import check_choice
from equivoc.cli.attribute_options import attribute_units, names, one_attribute
from equivoc.cli.options import (
    AssessmentOptions,
    EscapeOption,
    MeasureOptions,
    check_intruder,
    exit_code_of,
    with_options,
)
from equivoc.cli.process import waiting
from equivoc.errors import InputError
from equivoc.files import check_outputs, one_each, replacing, write_csv, writing_into

if TYPE_CHECKING:
    from equivoc.assessment.assessment import Assessment
    from equivoc.assessment.several import SeveralAssessments
    from equivoc.models.of_file.measure import Measure


@with_options(AssessmentOptions)
def assess(
    options: AssessmentOptions,
    out: Annotated[
        Path | None,
        typer.Option(help="A folder for tables of classes and records, and the chart of contributions."),
    ] = None,
    file_format: Annotated[
        str, typer.Option("--format", help="The format of the tables in --out: csv or parquet.")
    ] = "csv",
    records_to: Annotated[
        str | None,
        typer.Option(
            help="With --engine spark: a new folder in which the executors write the figures of every record, as "
            "Parquet."
        ),
    ] = None,
    beside: Annotated[
        str | None, typer.Option(help="Columns to write beside the figures in --records-to: person_id.")
    ] = None,
    escape: EscapeOption = True,
    record_values: Annotated[
        bool,
        typer.Option(
            help="Name the riskiest classes even if they have fewer than 3 people, also in the table of classes."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure the disclosure risk of a release.

    Prints how much uncertainty about a person's confidential value remains for an intruder after the release.

    Example: equivoc assess people.csv --confidential salary --keys age,sex --technique sampling:fraction=0.1
    """
    from equivoc.render.several import one_or_several_facts
    from equivoc.render.truth import requirement_facts

    if file_format not in ("csv", "parquet"):
        raise InputError(f"--format {file_format}: choose csv or parquet.")
    columns = _beside(options, records_to, beside)
    written = [] if out is None else _outputs(out, file_format, options.attributes())
    if out is not None:
        check_outputs(written, inputs=options.inputs(), folder=out)
        check_drawing()
    with waiting("assessing"):
        result = options.assessment()
        units = attribute_units(options.unit, result.people.attributes)
        # Computed here, while the terminal shows the elapsed time.
        shown = (
            one_or_several_facts(result, units, record_values=record_values) if as_json else result.summary
        )
        every = result.requirements
        required = {name: requirement_facts(each, every) for name, each in result.attributes.items()}
        if out is not None:
            check_outputs(written, inputs=options.inputs(), folder=out)
            written = _write(result, out, file_format, escape=escape, record_values=record_values)
        if records_to is not None:
            one: Assessment = next(iter(result.attributes.values()))
            one.write_records(records_to, beside=columns)
    with exit_code_of(meets=result.meets):
        if as_json:
            print(json.dumps(shown, indent=2, allow_nan=False))
            return
        from equivoc.render.assessment_lines import assessment_lines
        from equivoc.render.lines import print_blocks

        print_blocks(assessment_lines(result, units, required, record_values=record_values), written)


def _beside(options: AssessmentOptions, records_to: str | None, beside: str | None) -> list[str]:
    """The columns of --beside, after a check of --records-to."""
    if records_to is None:
        if beside is not None:
            raise InputError("--beside names columns for --records-to: give --records-to as well.")
        return []
    if options.engine != "spark":
        raise InputError("--records-to is for people in a Spark cluster (--engine spark); here, use --out.")
    one_attribute("--records-to", options.attributes())
    return [] if beside is None else names("--beside", beside)


def _outputs(folder: Path, file_format: str, attributes: list[str]) -> list[Path]:
    """All files that may be written: the classes of each attribute, the records, the chart of each attribute."""
    classes = one_each(folder / f"classes.{file_format}", attributes).values()
    pictures = one_each(folder / "contributions.png", attributes).values()
    return [*classes, folder / f"records.{file_format}", *pictures]


def _write_frame(frame: Any, path: Path, *, escape: bool) -> None:
    if path.suffix == ".csv":
        write_csv(frame, path, escape=escape, private=True)
    else:
        with replacing(path, private=True) as temporary:
            frame.to_parquet(temporary, index=False)


def _write_pieces(result: Assessment, path: Path) -> None:
    """The records' figures, piece by piece, so that they need not fit into memory together."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pieces = map(pa.RecordBatch.from_pydict, result.record_pieces())
    first = next(pieces)
    with replacing(path, private=True) as temporary, pq.ParquetWriter(temporary, first.schema) as writer:
        for piece in chain([first], pieces):
            writer.write_batch(piece)


def _write(
    result: Assessment | SeveralAssessments,
    folder: Path,
    file_format: str,
    *,
    escape: bool,
    record_values: bool,
) -> list[Path]:
    """Write the tables and charts. The tables are about single persons, so only their owner can read them."""
    from equivoc.render.parts import FEWEST_PEOPLE

    results = result.attributes
    outputs = _outputs(folder, file_format, list(results))
    tables, pictures = outputs[: len(results) + 1], outputs[len(results) + 1 :]
    *of_classes, of_records = tables
    fewest = 1 if record_values else FEWEST_PEOPLE
    with writing_into(folder):
        for path, each in zip(of_classes, results.values(), strict=True):
            _write_frame(each.named_classes(fewest), path, escape=escape)
        if file_format == "parquet" and not result.people.several:
            _write_pieces(next(iter(results.values())), of_records)
        else:
            _write_frame(result.records, of_records, escape=escape)
        drawn = []
        for path, each in zip(pictures, results.values(), strict=True):
            if each.known and "contributions" in each.summary:
                save_chart(each.plot_contributions(), path)
                drawn.append(path)
    return [*tables, *drawn]


# ``equivoc report``: the HTML report.


@with_options(AssessmentOptions)
def report(
    options: AssessmentOptions,
    out: Annotated[Path, typer.Option(help="The page's file.")] = Path("report.html"),
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the same facts as JSON into this file.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="The page's title.")] = None,
    date: Annotated[
        str | None, typer.Option(help="A date to print; without one, the same data give the same page.")
    ] = None,
    record_values: Annotated[
        bool, typer.Option(help="Name the riskiest classes even if they have fewer than 3 people.")
    ] = False,
    budget: Annotated[
        bool, typer.Option(help="Add a section on privacy budgets: bits and hit rates for many budgets ε.")
    ] = False,
) -> None:
    """Write an HTML report on the disclosure risk of a release.

    The report is one file that needs no network.

    Example: equivoc report people.csv --confidential salary --keys age,sex --technique sampling:fraction=0.1
    """
    pages = one_each(out, options.attributes())
    outputs = [*pages.values(), *([] if json_file is None else [json_file])]
    check_outputs(outputs, inputs=options.inputs())
    check_drawing()
    with waiting("assessing and drawing"):
        result = options.assessment()
        from equivoc.render.page import render, write_page
        from equivoc.render.several import one_or_several_facts

        units = attribute_units(options.unit, result.people.attributes)
        all_facts = one_or_several_facts(
            result, units, record_values=record_values, title=title, date=date, budget=budget
        )
        by_attribute = all_facts["attributes"] if len(pages) > 1 else dict.fromkeys(pages, all_facts)
        drawn = {pages[name]: render(facts) for name, facts in by_attribute.items()}
        check_outputs(outputs, inputs=options.inputs())
        with ExitStack() as files:
            if json_file is not None:  # replaced last: if a page cannot be written, neither is the JSON
                temporary = files.enter_context(replacing(json_file))
                temporary.write_text(
                    json.dumps(all_facts, indent=2, allow_nan=False) + "\n", encoding="utf-8"
                )
            for path, page in drawn.items():
                write_page(page, path)
    from equivoc.render.lines import Terminal

    terminal = Terminal()
    with exit_code_of(meets=result.meets):
        for name, facts in by_attribute.items():
            headline = facts["verdict"]["headline"]
            terminal.say(headline if len(pages) == 1 else f"{name}: {headline}")
            required = facts["requirements"]
            for sentence in () if required is None else (required["help"], required["note"]):
                if sentence:
                    terminal.say(sentence)
            terminal.say(facts["sentences"]["shown"])
            terminal.say(f"The report is in {pages[name]}.")


# ``equivoc measures``: the classic measures of a file or a release, each with its meaning.


@with_options(MeasureOptions)
def measures(
    options: MeasureOptions,
    fraction: Annotated[
        float | None,
        typer.Option(
            help="The share of the population that the file is a random sample of, such as 0.05: estimates the number "
            "of people who are unique in the population."
        ),
    ] = None,
    control: Annotated[
        Path | None,
        typer.Option(
            help="A file of people who were not in the data: attacks on a released table are judged by them."
        ),
    ] = None,
    missing_keys: Annotated[
        str,
        typer.Option(
            help="In k, prosecutor and individual risk, a missing key is a value of its own (own) or matches any value "
            "(any), as sdcMicro counts it."
        ),
    ] = "own",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compute the classic measures of disclosure risk.

    Prints every measure that applies, from k-anonymity to SUDA, with the meaning of its value. Without --confidential:
    those of the keys alone, such as k-anonymity.

    Example: equivoc measures people.csv --confidential salary --keys age,sex --technique sampling:fraction=0.1
    """
    from equivoc.data.missing_keys import MISSING_KEYS
    from equivoc.models.measures import measure_rows

    one_attribute("equivoc measures", options.attributes())
    check_intruder(options.prior, options.intruder)
    check_choice("--missing-keys", missing_keys, MISSING_KEYS)
    chosen = options.chosen()
    with waiting("measuring"):
        people = options.read()
        unchanged = options.technique is None and options.release is None
        release = None if unchanged else chosen.release(people, options.seed)
        others = None if control is None else options.others(control)
        rows = measure_rows(
            people,
            release,
            known=options.asked(people),
            fraction=fraction,
            control=others,
            missing_keys=missing_keys,
            prior=options.prior,
            intruder=options.intruder,
        )
    if as_json:
        plain = [row._asdict() | {"value": row.value if isfinite(row.value) else None} for row in rows]
        found = {"technique": chosen.notation, "seed": options.seed, "measures": plain}
        print(json.dumps(found, indent=2))
        return
    _print(rows)


def _print(rows: list[Measure]) -> None:
    from rich.table import Table

    from equivoc.render.lines import Terminal
    from equivoc.text import figure

    table = Table(show_lines=True)
    table.add_column("measure", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("what it means here")
    for name, value, meaning in rows:
        table.add_row(name, figure(value), meaning)
    Terminal().print(table)


# ``equivoc roles``: what each column of a file is likely to be.


def roles(
    people: Annotated[
        Path,
        typer.Argument(help="A file of people: CSV with a header, Parquet, or a folder of Parquet files."),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Suggest a role for each column: confidential, key, weights, household, identifier.

    Prints each column with its role and the reason. Roles are guessed from names, in several languages, and from
    values; nothing is used before you name it yourself.

    Example: equivoc roles people.csv --json
    """
    from equivoc.data.suggested_roles.suggest import suggestions

    with waiting("looking at the columns"):
        found = suggestions(people)
    if as_json:
        columns = [
            {"column": each.column, "role": each.role, "reason": each.reason} for each in found.columns
        ]
        told = {"rows": found.rows, "looked_at": found.looked_at or "all rows", "columns": columns}
        print(json.dumps(told, indent=2))
        return
    from rich.table import Table

    from equivoc.render.lines import Terminal

    table = Table(show_lines=True)
    table.add_column("column", overflow="fold")
    table.add_column("role", no_wrap=True)
    table.add_column("why")
    for each in found.columns:
        table.add_row(each.column, each.role, each.reason)
    terminal = Terminal()
    terminal.print(table)
    terminal.say(
        "These are guesses: check them, then name the columns with --confidential, --keys and --weights."
    )
