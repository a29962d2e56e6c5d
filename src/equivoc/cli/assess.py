"""``equivoc assess``: the risk that a technique leaves to an intruder with given knowledge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equivoc.charts.drawing import check_drawing, save_chart
from equivoc.cli.people_options import AssessmentOptions, EscapeOption, with_options
from equivoc.cli.waiting import waiting
from equivoc.csv_output import write_csv
from equivoc.errors import InputError
from equivoc.files import check_outputs, new_folder, replacing

if TYPE_CHECKING:
    from equivoc.assessment.assessment import Assessment


@with_options(AssessmentOptions)
def assess(
    options: AssessmentOptions,
    out: Annotated[
        Path | None, typer.Option(help="A folder for classes and records, and the picture of contributions.")
    ] = None,
    file_format: Annotated[
        str, typer.Option("--format", help="csv or parquet, for what --out writes.")
    ] = "csv",
    escape: EscapeOption = True,
    record_values: Annotated[
        bool, typer.Option(help="Name the riskiest classes even if they have fewer than 3 people.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """How much an intruder still does not know about a person's confidential value, once the release is out.

    Example: equivoc assess people.csv --confidential salary --keys age,sex --technique sampling:fraction=0.1
    """
    if file_format not in ("csv", "parquet"):
        raise InputError(f"--format {file_format}: choose csv or parquet.")
    written = [] if out is None else _outputs(out, file_format)
    if out is not None:
        check_outputs(written, inputs=options.inputs(), folder=out)
        check_drawing()
    with waiting("assessing"):
        result = options.assessment()
        told = _told(result)
        if out is not None:
            check_outputs(written, inputs=options.inputs(), folder=out)
            written = _write(result, out, written, escape=escape)
    if as_json:
        print(json.dumps({**told, "seed": options.seed}, indent=2))
        return
    from equivoc.cli.assess_tables import print_assessment

    print_assessment(result, unit=options.unit, record_values=record_values, written=written)


def _told(result: Assessment) -> dict[str, Any]:
    """The summary as it may be handed over: the least and the greatest person's values are not in it."""
    from equivoc.report.bounds import shown_bounds

    bounds = shown_bounds(result.people)
    return {
        **result.summary,
        "domain": {
            "values": len(result.people.values),
            "low": None if bounds is None else bounds.low,
            "high": None if bounds is None else bounds.high,
            "exact": bounds is not None and bounds.exact,
        },
        "dropped": result.people.dropped,
        "notes": result.release.notes(result.known),
    }


def _outputs(folder: Path, file_format: str) -> list[Path]:
    return [
        folder / name for name in (f"classes.{file_format}", f"records.{file_format}", "contributions.png")
    ]


def _write(result: Assessment, folder: Path, outputs: list[Path], *, escape: bool) -> list[Path]:
    """Classes and records, which are about single persons, for the owner's eyes only; the picture for anyone's."""
    new_folder(folder)
    *tables, picture = outputs
    for path, frame in zip(tables, (result.classes, result.records), strict=True):
        if path.suffix == ".csv":
            write_csv(frame, path, escape=escape, private=True)
        else:
            with replacing(path, private=True) as temporary:
                frame.to_parquet(temporary, index=False)
    if not (result.known and "contributions" in result.summary):
        return tables
    save_chart(result.plot_contributions(), picture)
    return outputs
