"""``equivoc measures``: the classic measures of a file or a release, each with a sentence."""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING, Annotated

import typer

from equivoc.cli.people_options import (
    Confidential,
    Domain,
    DropMissing,
    Keys,
    Known,
    PeopleFile,
    RoundTo,
    Seed,
    Weights,
    names,
    people_from,
)

if TYPE_CHECKING:
    from equivoc.models.file_measures import Measure


def measures(
    people: PeopleFile,
    confidential: Confidential,
    keys: Keys,
    technique: Annotated[
        str | None,
        typer.Option(help="Such as sampling:fraction=0.1; without one, the file as it is."),
    ] = None,
    known: Known = None,
    seed: Seed = 0,
    domain: Domain = None,
    round_to: RoundTo = None,
    weights: Weights = None,
    drop_missing: DropMissing = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """The classic measures of disclosure risk that apply, from k-anonymity to SUDA, and what each value means here.

    Example: equivoc measures people.csv --confidential salary --keys age,sex --technique sampling:fraction=0.1
    """
    from equivoc.models.measures import measure_rows
    from equivoc.techniques.notation import technique_from

    chosen = None if technique is None else technique_from(technique)
    file = people_from(
        people,
        confidential=confidential,
        keys=keys,
        domain=domain,
        round_to=round_to,
        weights=weights,
        drop_missing=drop_missing,
    )
    asked = None if known is None else names(known)
    rows = measure_rows(file, None if chosen is None else chosen.release(file, seed), known=asked)
    if as_json:
        told = [row._asdict() | {"value": row.value if isfinite(row.value) else None} for row in rows]
        print(
            json.dumps({"technique": technique, "seed": seed, "measures": told}, indent=2, ensure_ascii=False)
        )
        return
    _print(rows)


def _print(rows: list[Measure]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from equivoc.models.phrases import figure

    table = Table(show_lines=True)
    table.add_column("measure", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("what it means here")
    for name, value, meaning in rows:
        table.add_row(name, figure(value), Text(meaning))
    Console(highlight=False).print(table)
