"""``equivoc reproduce``: the paper's whole experiment, its figures and its claims."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equivoc.charts.drawing import check_drawing, save_chart
from equivoc.cli.options.people_options import EscapeOption
from equivoc.csv_output import write_csv
from equivoc.files import check_outputs
from equivoc.number_format import bits, figure

if TYPE_CHECKING:
    from equivoc.study.claims import Claim
    from equivoc.study.result import StudyResult


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
    from equivoc.measure.parallel import cores
    from equivoc.study.claims import claims
    from equivoc.study.reproduction import experiment, experiment_people
    from equivoc.study.resumable.progress import checked_kind
    from equivoc.study.resumable.run import Interrupted

    checked_kind(progress)
    check_outputs(_outputs(out), inputs=[pums], folder=out)
    check_drawing()
    people = experiment_people(pums, records=records, seed=seed)
    try:
        done = experiment(people, replicates=replicates, seed=seed).run(
            out, workers=workers or cores(), progress=progress
        )
    except KeyboardInterrupt as stopped:
        told = str(stopped) if isinstance(stopped, Interrupted) else "stopped."
        print(f"equivoc: {told} To continue, run the same command again.", file=sys.stderr)
        raise typer.Exit(130) from None
    check_outputs(_outputs(out), inputs=[pums], folder=out)
    judged = claims(done.summary())
    written = _write(done, judged, out, escape=escape)
    if as_json:
        facts = {
            "claims": [{**asdict(c), "verdict": c.verdict} for c in judged],
            "files": [str(p) for p in written],
        }
        print(json.dumps(facts, indent=2))
    else:
        _print(done, judged, written)


FIGURES, ENDINGS = ("worked_example", "two_salaries", "figure2", "figure4"), (".png", ".svg")
TABLES = ("claims.csv", "results.csv", "summary.csv")


def _outputs(folder: Path) -> list[Path]:
    return [folder / name for name in (*(f"{f}{ending}" for f in FIGURES for ending in ENDINGS), *TABLES)]


def _write(done: StudyResult, judged: list[Claim], folder: Path, *, escape: bool) -> list[Path]:
    import pandas as pd

    from equivoc.charts.curve import curve_chart
    from equivoc.measure.curve import curve
    from equivoc.study.reproduction import noise_figure

    close, far = curve([77, 80], [0.5, 0.5]), curve([50, 107], [0.5, 0.5])
    summary = done.summary()
    drawn = (
        curve([1, 3, 8, 9], [0.15, 0.1, 0.7, 0.05]).plot(),
        curve_chart({"77K or 80K": close, "50K or 107K": far}, unit="thousand"),
        done.plot(),
        noise_figure(summary, confidential=done.made_of["data"]["confidential"]),
    )
    charts = dict(zip(FIGURES, drawn, strict=True))
    for name, chart in charts.items():
        for ending in ENDINGS:
            save_chart(chart, folder / f"{name}{ending}")
    verdicts = pd.DataFrame([{**asdict(c), "holds": c.verdict} for c in judged])
    for name, table in zip(TABLES, (verdicts, done.results, summary), strict=True):
        write_csv(table, folder / name, escape=escape)
    return _outputs(folder)


def _print(done: StudyResult, judged: list[Claim], written: list[Path]) -> None:
    from rich.table import Table

    from equivoc.cli.output.terminal import Terminal
    from equivoc.measure.curve import curve

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
