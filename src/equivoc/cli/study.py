"""``equivoc study``: runs a plan; an interrupted run is continued by the same command."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equivoc.charts.drawing import check_drawing, save_chart
from equivoc.cli.options import EscapeOption, check_intruder
from equivoc.cli.process import StoppedError
from equivoc.files import check_outputs, write_csv
from equivoc.requests.named_files import technique_files
from equivoc.text import bits, figure

if TYPE_CHECKING:
    from equivoc.experiments.reproduction import Claim
    from equivoc.experiments.study_result import StudyResult

FILES = ("results.csv", "summary.csv", "seconds.csv", "study.png")


def study(
    plan: Annotated[Path, typer.Argument(help="The plan, a TOML file: [data], [[technique]] …, [study].")],
    out: Annotated[
        Path,
        typer.Option(
            "--out", "--store", help="The folder for the results; an unfinished run in it is continued."
        ),
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
    from equivoc.experiments.stores import STUDY_FILE as STORE
    from equivoc.experiments.study import study_of
    from equivoc.experiments.workers import Interrupted, checked_kind
    from equivoc.parallel import cores
    from equivoc.requests.plan import read_plan

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
        done = study_of(read, prior=prior, intruder=intruder).run(
            out, workers=workers or cores(), progress=progress
        )
        check_outputs(outputs, inputs=inputs, folder=out)
        written = _write(done, out, escape=escape)
    except KeyboardInterrupt as stopped:
        reason = str(stopped) if isinstance(stopped, Interrupted) else "stopped."
        chosen = {"--prior": prior, "--intruder": intruder}
        options = [word for option, given in chosen.items() if given for word in (option, given)]
        again = shlex.join(["equivoc", "study", str(plan), "--out", str(out), *options])
        raise StoppedError(f"{reason} To continue: {again}") from None
    if as_json:
        print(json.dumps(_facts(done, written), indent=2))
    else:
        from equivoc.render.lines import print_blocks
        from equivoc.render.study import study_lines

        print_blocks(study_lines(done), written.values())


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
        "remarks": list(done.remarks),
        "summary": rows,
        "files": {name: str(path) for name, path in written.items()},
    }


# ``equivoc reproduce``: the paper's whole experiment, its figures and its claims.


def reproduce(
    pums: Annotated[
        Path | None,
        typer.Option(
            help="A Census ACS PUMS person file (CSV or zip); without it, the file that ships with equivoc."
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option(help="The folder for figures and tables; an unfinished run in it is continued.")
    ] = Path("reproduction"),
    replicates: Annotated[
        int, typer.Option(help="Releases per technique; the paper has 30.", min=1, max=60_000)
    ] = 30,
    records: Annotated[
        int, typer.Option(help="How many people to draw from the Census file.", min=2, max=1_000_000_000)
    ] = 2500,
    seed: Annotated[
        int, typer.Option(help="The same seed gives the same figures.", min=0, max=2**63 - 1)
    ] = 0,
    workers: Annotated[int | None, typer.Option(help="How many cores to use; default: all.", min=1)] = None,
    progress: Annotated[str, typer.Option(help="auto, bar, plain or none.")] = "auto",
    escape: EscapeOption = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Repeat the paper's experiment.

    Prints and draws the worked example, the two salary examples and Figures 2 and 4, and tests the paper's five claims.

    Example: equivoc reproduce --pums csv_pil.zip --out illinois
    """
    from equivoc.experiments.reproduction import claims, experiment, experiment_people
    from equivoc.experiments.workers import Interrupted, checked_kind
    from equivoc.parallel import cores

    checked_kind(progress)
    check_outputs(_outputs(out), inputs=[pums], folder=out)
    check_drawing()
    people = experiment_people(pums, records=records, seed=seed)
    try:
        done = experiment(people, replicates=replicates, seed=seed).run(
            out, workers=workers or cores(), progress=progress
        )
    except KeyboardInterrupt as stopped:
        reason = str(stopped) if isinstance(stopped, Interrupted) else "stopped."
        raise StoppedError(f"{reason} To continue, run the same command again.") from None
    check_outputs(_outputs(out), inputs=[pums], folder=out)
    judged = claims(done.summary())
    written = _write_claims(done, judged, out, escape=escape)
    if as_json:
        facts = {
            "claims": [{**asdict(c), "verdict": c.verdict} for c in judged],
            "files": [str(p) for p in written],
        }
        print(json.dumps(facts, indent=2))
    else:
        _print_claims(done, judged, written)


FIGURES, ENDINGS = ("worked_example", "two_salaries", "figure2", "figure4"), (".png", ".svg")
TABLES = ("claims.csv", "results.csv", "summary.csv")


def _outputs(folder: Path) -> list[Path]:
    return [folder / name for name in (*(f"{f}{ending}" for f in FIGURES for ending in ENDINGS), *TABLES)]


def _write_claims(done: StudyResult, judged: list[Claim], folder: Path, *, escape: bool) -> list[Path]:
    import pandas as pd

    from equivoc.charts.curves import curve_chart
    from equivoc.charts.study import noise_chart
    from equivoc.measure.curve import curve

    close, far = curve([77, 80], [0.5, 0.5]), curve([50, 107], [0.5, 0.5])
    summary = done.summary()
    drawn = (
        curve([1, 3, 8, 9], [0.15, 0.1, 0.7, 0.05]).plot(),
        curve_chart({"77K or 80K": close, "50K or 107K": far}, unit="thousand"),
        done.plot(),
        noise_chart(summary, confidential=done.made_of["data"]["confidential"]),
    )
    charts = dict(zip(FIGURES, drawn, strict=True))
    for name, chart in charts.items():
        for ending in ENDINGS:
            save_chart(chart, folder / f"{name}{ending}")
    verdicts = pd.DataFrame([{**asdict(c), "holds": c.verdict} for c in judged])
    for name, table in zip(TABLES, (verdicts, done.results, summary), strict=True):
        write_csv(table, folder / name, escape=escape)
    return _outputs(folder)


def _print_claims(done: StudyResult, judged: list[Claim], written: list[Path]) -> None:
    from rich.table import Table

    from equivoc.measure.curve import curve
    from equivoc.render.lines import Terminal

    terminal = Terminal()
    worked = curve([1, 3, 8, 9], [0.15, 0.1, 0.7, 0.05])
    terminal.say(
        f"Worked example: H(0) = {worked.h0:.3f}, H(1) = {worked(1):.3f}, H(2) = {worked(2):.3f}, "
        f"H(6) = {worked(6):.3f}, H(7) = {worked(7):.3f}, H(8) = {worked(8):.3f} bits; A = {worked.area:.3f}."
    )
    close, far = curve([77, 80], [0.5, 0.5]), curve([50, 107], [0.5, 0.5])
    terminal.say(
        f"{{77K, 80K}}: H0 = {bits(close.h0)}, A = {figure(close.area)}K bits. "
        f"{{50K, 107K}}: H0 = {bits(far.h0)}, A = {figure(far.area)}K bits."
    )
    seconds = done.frame.groupby("technique", sort=False)["seconds"].sum()
    terminal.say("Computing: " + ", ".join(f"{name} {spent:.0f} s" for name, spent in seconds.items()) + ".")
    table = Table("claim", "judged by", "measured", "verdict", show_lines=True)
    for c in judged:
        table.add_row(f"({c.number}) {c.claim}", c.rule, c.measured, c.verdict)
    terminal.print(table)
    for path in written:
        terminal.say(f"written: {path}")
