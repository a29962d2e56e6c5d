"""``equivoc audit``: what the answers to a log of queries disclose about each person."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equivoc.charts.drawing import check_drawing
from equivoc.cli.attribute_options import (
    NOTHING,
    ReadingOptions,
    asked_tolerances,
    domain_values,
    names,
    one_attribute,
)
from equivoc.cli.options import (
    DomainOption,
    DropMissingOption,
    EscapeOption,
    RequireOption,
    RoundToOption,
    asked_requirements,
    check_intruder,
    exit_code_of,
    with_options,
)
from equivoc.cli.process import waiting
from equivoc.files import check_outputs, write_csv, writing_into

if TYPE_CHECKING:
    from equivoc.data.microdata import Microdata
    from equivoc.reading.reading import Reading

FILES = ("records.csv", "compromised.csv", "statements.csv", "report.html")


@with_options(ReadingOptions)
def audit(
    how: ReadingOptions,
    people: Annotated[Path, typer.Argument(help="The original file: CSV with a header, or Parquet.")],
    confidential: Annotated[str, typer.Option(help="The confidential column: numbers.")],
    queries: Annotated[
        Path,
        typer.Option(
            "--queries",
            "--statements",
            help="A file of SQL statements, separated by semicolons; -- answer: 57 behind one records its answer.",
        ),
    ],
    keys: Annotated[
        str | None,
        typer.Option(
            help="The columns that queries may select by, separated by commas; default: all but the confidential one."
        ),
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(
            help="A file of recorded answers (CSV with the columns statement and answer, or JSON); answers that are "
            "not recorded are computed."
        ),
    ] = None,
    known: Annotated[
        str | None,
        typer.Option(
            help="The keys of her target that the intruder knows, separated by commas; 'none' for no key; default: all "
            "keys."
        ),
    ] = None,
    domain: DomainOption = None,
    round_to: RoundToOption = None,
    prior: Annotated[
        str,
        typer.Option(
            help="What weighs the databases that fit: uniform (all are equally likely) or marginal (the distribution "
            "of the confidential attribute)."
        ),
    ] = "uniform",
    eps: Annotated[
        str | None, typer.Option(help="Tolerances, in the confidential attribute's unit: 5,10.")
    ] = None,
    require: RequireOption = None,
    seed: Annotated[int, typer.Option(help="The seed of figures that are sampled.", min=0)] = 0,
    work: Annotated[
        float | None,
        typer.Option(
            help="Steps for the posteriors of people who are linked by answers; 1e8 take about a second, the default "
            "about a minute."
        ),
    ] = None,
    drop_missing: DropMissingOption = False,
    out: Annotated[
        Path | None,
        typer.Option(help="A file ending in .html: the page. Otherwise a folder for tables and page."),
    ] = None,
    escape: EscapeOption = True,
    record_values: Annotated[
        bool,
        typer.Option(
            help="Show answers, name groups even if they have fewer than 3 people, and write keys and values of single "
            "people into the tables."
        ),
    ] = False,
    unit: Annotated[str, typer.Option(help="The confidential attribute's unit, such as K or cents.")] = "",
    title: Annotated[str | None, typer.Option(help="The page's title.")] = None,
    date: Annotated[
        str | None, typer.Option(help="A date to print; without one, the same data give the same page.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Audit answered queries: whose confidential value follows from the answers, and from which statements.

    Statements are SUM, AVG, COUNT, MIN, MAX, MEDIAN, VARIANCE or STDDEV over people selected by their keys.

    Example: equivoc audit people.csv --confidential salary --keys age,sex --queries log.sql --require 'h0@worst >= 1'
    """
    from equivoc.auditing.audit import audit as audited

    own = names("--confidential", confidential)
    one_attribute("audit", own)
    check_intruder(prior, None)
    required = asked_requirements(require)
    tolerances = asked_tolerances(eps, own)
    inputs = [people, queries, *([] if answers is None else [answers])]
    folder = None if out is None or out.suffix.lower() in (".html", ".htm") else out
    outputs = [] if out is None else [out] if folder is None else [folder / name for name in FILES]
    check_outputs(outputs, inputs=inputs, folder=folder)
    if outputs:
        check_drawing()
    words: dict[str, Any] = {"unit": unit, "record_values": record_values, "title": title, "date": date}
    with waiting("auditing"):
        person = _read(people, own[0], keys, domain, round_to, drop_missing=drop_missing, how=how.reading)
        found = audited(
            person,
            queries,
            answers=answers,
            prior=prior,
            known=_known(known, person.keys),
            eps=tolerances,
            seed=seed,
            require=required,
            work=work,
        )
        # Computed here, while the terminal shows the elapsed time.
        from equivoc.render.audit import audit_facts

        facts = audit_facts(found, **words)
        if outputs:
            check_outputs(outputs, inputs=inputs, folder=folder)
            tables = found.tables(record_values=record_values)
            _write(tables, facts, outputs, folder, escape=escape)
    with exit_code_of(meets=found.meets):
        if as_json:
            print(json.dumps(facts | {"files": [str(path) for path in outputs]}, indent=2, allow_nan=False))
            return
        from equivoc.render.audit import audit_lines
        from equivoc.render.lines import print_blocks

        print_blocks(audit_lines(facts), outputs)


def _read(
    file: Path,
    confidential: str,
    keys: str | None,
    domain: str | None,
    round_to: float | None,
    *,
    drop_missing: bool,
    how: Reading,
) -> Microdata:
    from equivoc.data.read import read
    from equivoc.data.tables import open_table

    values = None if domain is None else domain_values(domain)
    chosen = (
        [name for name in open_table(file, given=how).names if name != confidential]
        if keys is None
        else names("--keys", keys)
    )
    return read(
        file,
        confidential=confidential,
        keys=chosen,
        domain=values,
        round_to=round_to,
        drop_missing=drop_missing,
        **how.options,
    )


def _known(known: str | None, keys: tuple[str, ...]) -> list[str] | None:
    if known is None:
        return None
    return [] if known.strip() == NOTHING and NOTHING not in keys else names("--known", known)


def _write(
    tables: dict[str, Any], facts: dict[str, Any], outputs: list[Path], folder: Path | None, *, escape: bool
) -> None:
    """Write the page, or the tables and the page. Tables are about single persons: only their owner can read them."""
    from equivoc.render.page import render, write_page

    page = render(facts)
    if folder is None:
        write_page(page, outputs[0])
        return
    with writing_into(folder):
        for name, frame in tables.items():
            write_csv(frame, folder / f"{name}.csv", escape=escape, private=True)
        write_page(page, outputs[-1])
