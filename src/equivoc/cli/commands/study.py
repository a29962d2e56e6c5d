"""``equivoc study``: runs a plan; an interrupted run is continued by the same command."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equivoc.charts.drawing import check_drawing, save_chart
from equivoc.cli.options.people_options import EscapeOption, check_intruder
from equivoc.cli.options.technique_files import technique_files
from equivoc.csv_output import write_csv
from equivoc.files import check_outputs
from equivoc.number_format import figure

if TYPE_CHECKING:
    from equivoc.study.result import StudyResult

FILES = ("results.csv", "summary.csv", "seconds.csv", "study.png")


def study(
    plan: Annotated[Path, typer.Argument(help="The plan, a TOML file: [data], [[technique]] …, [study].")],
    out: Annotated[
        Path,
        typer.Option(help="The folder for the results; an unfinished run in it is continued."),
    ],
    workers: Annotated[int | None, typer.Option(help="How many cores to use; default: all.", min=1)] = None,
    progress: Annotated[
        str,
        typer.Option(
            help="auto (a bar on a terminal, otherwise nothing), bar, plain (lines for logs) or none."
        ),
    ] = "auto",
    prior: Annotated[
        str | None,
        typer.Option(
            help="Instead of the plan's: marginal or uniform, what is publicly known of the values."
        ),
    ] = None,
    intruder: Annotated[
        str | None,
        typer.Option(help="Instead of the plan's: informed, paper, register, learned or strongest."),
    ] = None,
    escape: EscapeOption = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run a study of many techniques and intruders.

    Releases the data with every technique and parameter of the plan, several times, and measures each release for
    intruders who know 0, 1, 2, … keys. Writes results.csv, summary.csv, seconds.csv and study.png into the folder.
    After an interruption, the same command continues the run.

    Example: equivoc study plan.toml --out results --workers 2
    """
    from equivoc.measure.parallel import cores
    from equivoc.study.plan import read_plan
    from equivoc.study.resumable.progress import checked_kind
    from equivoc.study.resumable.run import Interrupted
    from equivoc.study.store import FILE as STORE

    checked_kind(progress)
    check_intruder(prior, intruder)
    try:
        read = read_plan(plan)
        inputs = [plan, plan.parent / read.data["path"], *read.hierarchies().values()]
        for technique in read.techniques:
            inputs += technique_files(technique)
        outputs = [out / name for name in (*FILES, STORE)]
        check_outputs(outputs, inputs=inputs, folder=out)
        check_drawing()
        done = read.study(prior=prior, intruder=intruder).run(
            out, workers=workers or cores(), progress=progress
        )
        check_outputs(outputs, inputs=inputs, folder=out)
        written = _write(done, out, escape=escape)
    except KeyboardInterrupt as stopped:
        told = str(stopped) if isinstance(stopped, Interrupted) else "stopped."
        chosen = {"--prior": prior, "--intruder": intruder}
        options = [word for option, given in chosen.items() if given for word in (option, given)]
        again = shlex.join(["equivoc", "study", str(plan), "--out", str(out), *options])
        print(f"equivoc: {told} To continue: {again}", file=sys.stderr)
        raise typer.Exit(130) from None
    if as_json:
        print(json.dumps(_facts(done, written), indent=2))
    else:
        _print(done, written)


def _write(done: StudyResult, folder: Path, *, escape: bool) -> dict[str, Path]:
    """Write the tables and the chart, each completely or not at all."""
    frame = done.frame
    seconds = (
        frame.groupby(["technique", "parameters", "replicate"], sort=False)["seconds"].sum().reset_index()
    )
    paths = {name: folder / name for name in FILES}
    for name, table in (
        ("results.csv", done.results),
        ("summary.csv", done.summary()),
        ("seconds.csv", seconds),
    ):
        write_csv(table, paths[name], escape=escape)
    save_chart(done.plot(), paths["study.png"])
    return paths


def _facts(done: StudyResult, written: dict[str, Path]) -> dict[str, Any]:
    summary = done.summary()
    rows = summary.astype(object).where(summary.notna(), None).to_dict("records")
    return {
        "cells": len(done.cells),
        "seconds": float(done.frame["seconds"].sum()),
        "study": done.made_of,
        "summary": rows,
        "files": {name: str(path) for name, path in written.items()},
    }


def _print(done: StudyResult, written: dict[str, Path]) -> None:
    from equivoc.cli.output.terminal import Terminal

    terminal = Terminal()
    data = done.made_of["data"]
    terminal.say(
        f"{data['records']:,} records, {len(data['keys'])} keys; {len(done.made_of['techniques'])} techniques × "
        f"{done.made_of['replicates']} replicates; {done.frame['seconds'].sum():.1f} s of computation."
    )
    summary = done.summary()
    sizes = sorted({summary["known_size"].min(), summary["known_size"].max()})
    terminal.say(f"Intruder: {done.intruder}; prior: {done.prior}.")
    terminal.say(
        f"H0 (bits) and A (bits × {done.area_unit}): means over classes, less is riskier. Gain (bits of truth per "
        "person): more is riskier."
    )
    columns = [f"{measure}, {size} known" for measure in ("H0", "A", "gain") for size in sizes]
    rows = []
    for (technique, parameters), of_technique in summary.groupby(["technique", "parameters"], sort=False):
        by_size = of_technique.set_index("known_size")
        means = [by_size.loc[size, measure] for measure in ("h0", "area", "gain") for size in sizes]
        rows.append((technique, parameters, *map(figure, means)))
    terminal.show("", ("technique", "parameters", *columns), rows, left=2)
    for path in written.values():
        terminal.say(f"written: {path}")
