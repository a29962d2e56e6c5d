"""``equivoc reproduce``: the paper's whole experiment, its figures and its claims."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equivoc.files import new_folder, replacing

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
        int, typer.Option(help="Releases of each technique; the paper has 30.", min=1)
    ] = 30,
    records: Annotated[int, typer.Option(help="How many of the Census file's people to draw.", min=2)] = 2500,
    seed: Annotated[int, typer.Option(help="The same seed gives the same figures.", min=0)] = 0,
    workers: Annotated[
        int | None, typer.Option(help="How many cores to use; all unless given.", min=1)
    ] = None,
    progress: Annotated[str, typer.Option(help="auto, bar, plain or none.")] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """The worked example, the two salary examples, Figures 2 and 4, and the five claims with a verdict on each.

    Example: equivoc reproduce --pums csv_pil.zip --out illinois
    """
    from equivoc.measure.parallel import cores
    from equivoc.study.claims import claims
    from equivoc.study.reproduction import experiment, experiment_people
    from equivoc.study.study import StudyInterrupted

    people = experiment_people(pums, records=records, seed=seed)
    new_folder(out)
    try:
        done = experiment(people, replicates=replicates, seed=seed).run(
            out, workers=workers or cores(), progress=progress
        )
    except KeyboardInterrupt as stopped:
        told = str(stopped) if isinstance(stopped, StudyInterrupted) else "stopped."
        print(f"equivoc: {told} To go on, give the same command again.", file=sys.stderr)
        raise typer.Exit(130) from None
    judged = claims(done.summary())
    written = _write(done, judged, out)
    if as_json:
        facts = {
            "claims": [{**asdict(c), "verdict": c.verdict} for c in judged],
            "files": [str(p) for p in written],
        }
        print(json.dumps(facts, indent=2))
    else:
        _print(done, judged, written)


def _write(done: StudyResult, judged: list[Claim], folder: Path) -> list[Path]:
    import pandas as pd

    from equivoc.measure.chart import curve_chart
    from equivoc.measure.curve import curve
    from equivoc.study.reproduction import noise_figure

    close, far = curve([77, 80], [0.5, 0.5]), curve([50, 107], [0.5, 0.5])
    summary = done.summary()
    charts = {
        "worked_example": curve([1, 3, 8, 9], [0.15, 0.1, 0.7, 0.05]).plot(),
        "two_salaries": curve_chart({"77K or 80K": close, "50K or 107K": far}, unit="thousand"),
        "figure2": done.plot(),
        "figure4": noise_figure(summary, confidential=done.made_of["data"]["confidential"]),
    }
    written = []
    for name, chart in charts.items():
        for ending in (".png", ".svg"):
            path = folder / f"{name}{ending}"
            with replacing(path) as temporary:
                chart.save(str(temporary), scale_factor=2 if ending == ".png" else 1)
            written.append(path)
    verdicts = pd.DataFrame([{**asdict(c), "holds": c.verdict} for c in judged])
    for name, table in (("claims.csv", verdicts), ("results.csv", done.results), ("summary.csv", summary)):
        with replacing(folder / name) as temporary:
            table.to_csv(temporary, index=False)
        written.append(folder / name)
    return written


def _print(done: StudyResult, judged: list[Claim], written: list[Path]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from equivoc.measure.curve import curve

    console = Console(highlight=False)
    worked = curve([1, 3, 8, 9], [0.15, 0.1, 0.7, 0.05])
    console.print(
        f"Worked example: H(0) = {worked.h0:.3f}, H(1) = {worked(1):.3f}, H(2) = {worked(2):.3f}, "
        f"H(6) = {worked(6):.3f}, H(7) = {worked(7):.3f}, H(8) = {worked(8):.3f} bits; A = {worked.area:.3f}."
    )
    close, far = curve([77, 80], [0.5, 0.5]), curve([50, 107], [0.5, 0.5])
    console.print(
        f"{{77K, 80K}}: H0 = {close.h0:g} bit, A = {close.area:g}K. "
        f"{{50K, 107K}}: H0 = {far.h0:g} bit, A = {far.area:g}K."
    )
    seconds = done.frame.groupby("technique", sort=False)["seconds"].sum()
    console.print("Computing: " + ", ".join(f"{name} {spent:.0f} s" for name, spent in seconds.items()) + ".")
    table = Table("claim", "judged by", "measured", "verdict", show_lines=True)
    for c in judged:
        table.add_row(Text(f"({c.number}) {c.claim}"), Text(c.rule), Text(c.measured), Text(c.verdict))
    console.print(table)
    for path in written:
        console.print(f"written: {path}", soft_wrap=True, markup=False)
