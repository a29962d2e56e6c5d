"""``equivoc assess``: the disclosure risk of a technique for an intruder with given knowledge."""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equivoc.charts.drawing import check_drawing, save_chart
from equivoc.cli.options.kind_options import attribute_units, one_attribute
from equivoc.cli.options.people_options import AssessmentOptions, EscapeOption, with_options
from equivoc.cli.options.requirement_options import exit_code_of
from equivoc.cli.options.words import names
from equivoc.cli.output.waiting import waiting
from equivoc.csv_output import write_csv
from equivoc.errors import InputError
from equivoc.files import check_outputs, one_each, replacing, writing_into

if TYPE_CHECKING:
    from equivoc.assessment.assessment import Assessment
    from equivoc.assessment.several import SeveralAssessments


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
        bool, typer.Option(help="Name the riskiest classes even if they have fewer than 3 people.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure the disclosure risk of a release.

    Prints how much uncertainty about a person's confidential value remains for an intruder after the release.

    Example: equivoc assess people.csv --confidential salary --keys age,sex --technique sampling:fraction=0.1
    """
    from equivoc.report.facts.requirement_facts import requirement_facts
    from equivoc.report.facts.several_facts import one_or_several_facts

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
        told = one_or_several_facts(result, units, record_values=record_values) if as_json else result.summary
        every = result.requirements
        required = {name: requirement_facts(each, every) for name, each in result.attributes.items()}
        if out is not None:
            check_outputs(written, inputs=options.inputs(), folder=out)
            written = _write(result, out, file_format, escape=escape)
        if records_to is not None:
            one: Assessment = next(iter(result.attributes.values()))
            one.write_records(records_to, beside=columns)
    with exit_code_of(meets=result.meets):
        if as_json:
            print(json.dumps(told, indent=2, allow_nan=False))
            return
        from equivoc.cli.output.assess_tables import print_assessments

        print_assessments(result, units, required, record_values=record_values, written=written)


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
    result: Assessment | SeveralAssessments, folder: Path, file_format: str, *, escape: bool
) -> list[Path]:
    """Write the tables and charts. The tables are about single persons, so only their owner can read them."""
    results = result.attributes
    outputs = _outputs(folder, file_format, list(results))
    tables, pictures = outputs[: len(results) + 1], outputs[len(results) + 1 :]
    *of_classes, of_records = tables
    with writing_into(folder):
        for path, each in zip(of_classes, results.values(), strict=True):
            _write_frame(each.classes, path, escape=escape)
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
