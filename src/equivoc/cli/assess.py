"""``equivoc assess``: the risk that a technique leaves to an intruder with given knowledge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from equivoc.cli.people_options import AssessmentOptions, with_options
from equivoc.errors import InputError
from equivoc.files import new_folder, replacing

if TYPE_CHECKING:
    from rich.console import Console

    from equivoc.study.assess import Assessment

RISKIEST = 8


@with_options(AssessmentOptions)
def assess(
    options: AssessmentOptions,
    out: Annotated[
        Path | None, typer.Option(help="A folder for classes and records, and the picture of contributions.")
    ] = None,
    file_format: Annotated[
        str, typer.Option("--format", help="csv or parquet, for what --out writes.")
    ] = "csv",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """How much an intruder still does not know about a person's confidential value, once the release is out.

    Example: equivoc assess people.csv --confidential salary --keys age,sex --technique sampling:fraction=0.1
    """
    if file_format not in ("csv", "parquet"):
        raise InputError(f"--format {file_format}: choose csv or parquet.")
    result = options.assessment()
    summary = result.summary
    written = [] if out is None else _write(result, out, file_format)
    if as_json:
        beside = {
            "seed": options.seed,
            "dropped": result.people.dropped,
            "notes": result.release.notes(result.known),
        }
        print(json.dumps({**summary, **beside}, indent=2))
        return
    _print(result, summary, written)


def _write(result: Assessment, folder: Path, file_format: str) -> list[Path]:
    new_folder(folder)
    written = []
    for name, frame in (("classes", result.classes), ("records", result.records)):
        path = folder / f"{name}.{file_format}"
        with replacing(path) as temporary:
            if file_format == "csv":
                frame.to_csv(temporary, index=False)
            else:
                frame.to_parquet(temporary, index=False)
        written.append(path)
    if result.known and "contributions" in result.summary:
        path = folder / "contributions.png"
        with replacing(path) as temporary:
            result.plot_contributions().save(str(temporary), scale_factor=2)
        written.append(path)
    return written


def _print(result: Assessment, summary: dict[str, Any], written: list[Path]) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    knowing = ", ".join(result.known) or "nothing"
    console.print(
        f"{summary['records']:,} records; {result.technique}; an intruder who knows {knowing} "
        f"tells {summary['classes']:,} classes apart."
    )
    if result.people.dropped:
        console.print(f"{result.people.dropped:,} rows without a confidential value were left out.")
    for note in result.release.notes(result.known):
        console.print(Text(note), soft_wrap=True)
    console.print(_figures(result, summary))
    console.print(_riskiest(result))
    if summary.get("contributions"):
        console.print(_contributions(summary["contributions"]))
    _print_sentences(console, result, summary)
    for path in written:
        console.print(f"written: {path}", soft_wrap=True)


def _figures(result: Assessment, summary: dict[str, Any]) -> Any:
    from rich.table import Table

    unit = result.people.confidential
    table = Table(
        title="What is left to find out, for a random person (less is riskier)", title_justify="left"
    )
    for column in ("", "mean", "least", "5 % below", "no release", "as it is", "left"):
        table.add_column(column, justify="left" if not column else "right", no_wrap=bool(column))
    record, prior, bare = summary["per_record"], summary["prior"], summary["unprotected"]
    for name, label in (
        ("h0", "H0, bits (exact value)"),
        ("area", f"area, bits × {unit}"),
        ("mean_entropy", "mean entropy, bits"),
    ):
        figure = record[name]
        table.add_row(
            label,
            _number(figure["mean"]),
            _number(figure["min"]),
            _number(figure["q05"]),
            _number(prior[name]),
            _number(bare[name]),
            f"{summary['left'][name]:.1%}",
        )
    return table


def _number(value: float) -> str:
    """Four digits, or all before the point."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _riskiest(result: Assessment) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(title="The riskiest classes", title_justify="left")
    for column in (*result.known, "people", "H0", "area", *(f"hit within ±{e / 2:g}" for e in result.eps)):
        is_key = column in result.known
        table.add_column(Text(column), justify="left" if is_key else "right", overflow="fold")
    found, curves = result.posteriors.classes, result.curves
    hits = [curves.hit(e) for e in result.eps]
    worst = result.riskiest(RISKIEST)
    decoded = [
        result.people.decode(name, found.key_codes[worst, i]).to_pylist()
        for i, name in enumerate(found.known)
    ]
    h0, area, sizes = curves.h0, curves.area, result.posteriors.sizes
    for row, c in enumerate(worst):
        keys = [Text("null" if column[row] is None else str(column[row])) for column in decoded]
        shown = [f"{sizes[c]:,}", f"{h0[c]:.3f}", _number(area[c]), *(f"{hit[c]:.3f}" for hit in hits)]
        table.add_row(*keys, *shown)
    return table


def _contributions(bits: dict[str, float]) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(title="Which key gives people away (more is riskier)", title_justify="left")
    table.add_column("key")
    table.add_column("bits", justify="right")
    table.add_column("share", justify="right")
    total = sum(bits.values())
    for key, value in sorted(bits.items(), key=lambda item: -item[1]):
        table.add_row(Text(key), f"{value:.3f}", f"{value / total:.1%}" if total else "–")
    return table


def _print_sentences(console: Console, result: Assessment, summary: dict[str, Any]) -> None:
    record = summary["per_record"]
    unit = result.people.confidential
    for e in result.eps:
        exactly = "exactly" if e == 0 else f"within ±{e / 2:g}"
        console.print(
            f"Her best guess of a random person's {unit} is {exactly} right with probability "
            f"{record['hit'][e]['mean']:.3f} by her own belief, {record['true_hit'][e]:.3f} in truth "
            f"(without the release {summary['prior']['hit'][e]:.3f}).",
            soft_wrap=True,
        )
    if "control" in summary:
        _print_control(console, summary["control"])
    largest = int(np.max(result.posteriors.sizes))
    alone = float(np.sum(result.posteriors.sizes == 1) / len(result.people))
    console.print(f"{alone:.1%} of the people are alone in their class; the largest class has {largest:,}.")


def _print_control(console: Console, control: dict[str, Any]) -> None:
    of_people, further = control["people"], control["beyond"]
    for e, hit in control["true_hit"].items():
        exactly = "exactly" if e == 0 else f"within ±{e / 2:g}"
        console.print(
            f"Of {control['records']:,} people who were not in the data it is {exactly} right for {hit:.3f}, of "
            f"those in it for {of_people['true_hit'][e]:.3f}.",
            soft_wrap=True,
        )
    console.print(
        f"The true value surprises her by {of_people['surprise']:.3f} bits for those in the data and by "
        f"{control['surprise']:.3f} for the others: {further['surprise']:.3f} bits are learnt beyond what is learnt of "
        "anyone.",
        soft_wrap=True,
    )
