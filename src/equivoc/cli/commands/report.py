"""``equivoc report``: the HTML report."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from equivoc.charts.drawing import check_drawing
from equivoc.cli.options.kind_options import attribute_units
from equivoc.cli.options.people_options import AssessmentOptions, with_options
from equivoc.cli.options.requirement_options import exit_code_of
from equivoc.cli.output.waiting import waiting
from equivoc.files import check_outputs, one_each, replacing


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
        from equivoc.report.facts.several_facts import one_or_several_facts
        from equivoc.report.page import render, write_page

        units = attribute_units(options.unit, result.people.attributes)
        told = one_or_several_facts(
            result, units, record_values=record_values, title=title, date=date, budget=budget
        )
        by_attribute = told["attributes"] if len(pages) > 1 else dict.fromkeys(pages, told)
        drawn = {pages[name]: render(facts) for name, facts in by_attribute.items()}
        check_outputs(outputs, inputs=options.inputs())
        with ExitStack() as files:
            if json_file is not None:  # replaced last: if a page cannot be written, neither is the JSON
                temporary = files.enter_context(replacing(json_file))
                temporary.write_text(json.dumps(told, indent=2, allow_nan=False) + "\n", encoding="utf-8")
            for path, page in drawn.items():
                write_page(page, path)
    from equivoc.cli.output.terminal import Terminal

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
