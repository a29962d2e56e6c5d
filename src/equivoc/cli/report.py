"""``equivoc report``: one page to hand over."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from equivoc.cli.people_options import AssessmentOptions, with_options
from equivoc.errors import InputError
from equivoc.files import replacing


@with_options(AssessmentOptions)
def report(
    options: AssessmentOptions,
    out: Annotated[Path, typer.Option(help="The page's file.")] = Path("report.html"),
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the same facts as JSON into this file.")
    ] = None,
    unit: Annotated[str, typer.Option(help="The confidential attribute's unit, such as K or cents.")] = "",
    title: Annotated[str | None, typer.Option(help="The page's title.")] = None,
    date: Annotated[
        str | None, typer.Option(help="A date to print; without one, the same data give the same page.")
    ] = None,
    record_values: Annotated[
        bool, typer.Option(help="Name the riskiest classes even if they have fewer than 3 people.")
    ] = False,
    budget: Annotated[
        bool, typer.Option(help="Add what differential privacy would buy: bits and hit rates for each ε.")
    ] = False,
) -> None:
    """Write one self-contained HTML page about the risk that a release leaves: offline, for screen and paper.

    Example: equivoc report people.csv --confidential salary --keys age,sex --technique sampling:fraction=0.1
    """
    for path in filter(None, (out, json_file)):
        if not path.parent.is_dir():
            raise InputError(f"{path} cannot be written: {path.parent} is not a folder.")
        if path.is_dir():
            raise InputError(f"{path} cannot be written: it is a folder.")
    result = options.assessment()
    from equivoc.report.page import facts_of, render, write_page

    facts = facts_of(result, unit=unit, record_values=record_values, title=title, date=date, budget=budget)
    write_page(render(facts), out)
    if json_file is not None:
        with replacing(json_file) as temporary:
            temporary.write_text(json.dumps(facts, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    print(facts["verdict"]["headline"])
    print(facts["sentences"]["shown"])
    print(f"The report is in {out}.")
