"""``equivoc report``: one page to hand over."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from equivoc.charts.drawing import check_drawing
from equivoc.cli.people_options import AssessmentOptions, with_options
from equivoc.cli.waiting import waiting
from equivoc.files import check_outputs, replacing


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
        bool, typer.Option(help="Add what differential privacy would buy: bits and hit rates for each ε.")
    ] = False,
) -> None:
    """Write one self-contained HTML page about the risk that a release leaves: offline, for screen and paper.

    Example: equivoc report people.csv --confidential salary --keys age,sex --technique sampling:fraction=0.1
    """
    outputs = [out] if json_file is None else [out, json_file]
    check_outputs(outputs, inputs=options.inputs())
    check_drawing()
    with waiting("assessing and drawing"):
        result = options.assessment()
        from equivoc.report.page import facts_of, render, write_page

        facts = facts_of(
            result,
            unit=options.unit,
            record_values=record_values,
            title=title,
            date=date,
            budget=budget,
        )
        page = render(facts)
        check_outputs(outputs, inputs=options.inputs())
        if json_file is None:
            write_page(page, out)
        else:
            with replacing(json_file) as temporary:  # around the page: neither is written if one cannot be
                temporary.write_text(json.dumps(facts, indent=2, allow_nan=False) + "\n", encoding="utf-8")
                write_page(page, out)
    from equivoc.cli.terminal import Terminal

    terminal = Terminal()
    for sentence in (facts["verdict"]["headline"], facts["sentences"]["shown"], f"The report is in {out}."):
        terminal.say(sentence)
