"""``equivoc measures``: the classic measures of a file or a release, each with its meaning."""

from __future__ import annotations

import json
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equivoc.cli.options.kind_options import one_attribute
from equivoc.cli.options.people_options import ReleaseOptions, check_intruder, with_options
from equivoc.cli.output.waiting import waiting

if TYPE_CHECKING:
    from equivoc.models.measure import Measure


@with_options(ReleaseOptions)
def measures(
    options: ReleaseOptions,
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
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compute the classic measures of disclosure risk.

    Prints every measure that applies, from k-anonymity to SUDA, with the meaning of its value.

    Example: equivoc measures people.csv --confidential salary --keys age,sex --technique sampling:fraction=0.1
    """
    from equivoc.models.measures import measure_rows

    one_attribute("equivoc measures", options.attributes())
    check_intruder(options.prior, options.intruder)
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
            prior=options.prior,
            intruder=options.intruder,
        )
    if as_json:
        told = [row._asdict() | {"value": row.value if isfinite(row.value) else None} for row in rows]
        found = {"technique": chosen.notation, "seed": options.seed, "measures": told}
        print(json.dumps(found, indent=2))
        return
    _print(rows)


def _print(rows: list[Measure]) -> None:
    from rich.table import Table

    from equivoc.cli.output.terminal import Terminal
    from equivoc.number_format import figure

    table = Table(show_lines=True)
    table.add_column("measure", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("what it means here")
    for name, value, meaning in rows:
        table.add_row(name, figure(value), meaning)
    Terminal().print(table)
