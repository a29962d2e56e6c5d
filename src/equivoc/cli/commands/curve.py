"""``equivoc curve``: H(ε) of one posterior."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equivoc.charts.drawing import check_drawing, save_chart
from equivoc.cli.options.words import numbers
from equivoc.cli.output.waiting import waiting
from equivoc.errors import InputError
from equivoc.files import check_outputs, check_readable
from equivoc.number_format import bits, exact, figure, probability

if TYPE_CHECKING:
    from equivoc.measure.curve import Curve

MOST_LINES = 40


def curve(
    source: Annotated[
        str | None,
        typer.Argument(help="A CSV with two columns, values and probabilities; '-' reads standard input."),
    ] = None,
    values: Annotated[str | None, typer.Option(help="Candidate values, separated by commas.")] = None,
    probabilities: Annotated[
        str | None, typer.Option(help="Their probabilities, separated by commas; they must sum to 1.")
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(help="Also print H and the hit rate at these tolerances, separated by commas."),
    ] = None,
    tolerance: Annotated[
        float,
        typer.Option(help="0: exact. 1e-3: certify the area to within 0.1 %; faster for very many values."),
    ] = 0.0,
    plot: Annotated[Path | None, typer.Option(help="Draw H(ε) into this .png or .svg file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compute H(ε), the remaining entropy at every tolerance ε.

    Prints H(ε) and the hit rate at every break point, H0 = H(0), and the area under H.

    Example: equivoc curve --values 1,3,8,9 --probabilities .15,.1,.7,.05 --plot curve.png
    """
    from equivoc.measure.curve import curve as measure

    if plot is not None and plot.suffix.lower() not in (".png", ".svg"):
        raise InputError(f"--plot {plot}: the file name must end in .png or .svg.")
    read = [] if source is None else [Path("/dev/stdin" if source == "-" else source)]
    if plot is not None:
        check_outputs([plot], inputs=read)
        check_drawing()
    x, p = _posterior(source, values, probabilities)
    asked = numbers("--at", at) if at is not None else []
    with waiting("measuring", kernels="equivoc.measure.search.jump_kernels"):
        result = measure(x, p, tolerance=tolerance)
        facts = _facts(result, asked)
        if plot is not None:
            check_outputs([plot], inputs=read)
            save_chart(result.plot(), plot)
    if as_json:
        print(json.dumps(facts, indent=2))
    else:
        _print_tables(result, asked, plot)


def _posterior(
    source: str | None, values: str | None, probabilities: str | None
) -> tuple[list[float], list[float]]:
    if source is not None:
        if values is not None or probabilities is not None:
            raise InputError("Give either a file or --values and --probabilities, not both.")
        return _from_csv(source)
    if values is None or probabilities is None:
        raise InputError("Give a two-column CSV file, or both --values and --probabilities.")
    return numbers("--values", values), numbers("--probabilities", probabilities)


def _from_csv(source: str) -> tuple[list[float], list[float]]:
    name = "standard input" if source == "-" else source
    try:
        if source == "-":
            text = sys.stdin.read()
        else:
            check_readable(Path(source))
            text = Path(source).read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise InputError(f"{name} cannot be read: {problem.strerror}.") from None
    except UnicodeDecodeError:
        raise InputError(f"{name} is not a text file; give a CSV in UTF-8.") from None
    x: list[float] = []
    p: list[float] = []
    for number, row in enumerate(_rows(name, text), start=1):
        if not row or not "".join(row).strip():
            continue
        if len(row) != 2:
            raise InputError(
                f"{name}, line {number} has {len(row)} columns; two are needed: value,probability."
            )
        try:
            pair = float(row[0]), float(row[1])
        except ValueError:
            if not x:  # a header
                continue
            raise InputError(f"{name}, line {number}: {','.join(row)!r} is not a pair of numbers.") from None
        x.append(pair[0])
        p.append(pair[1])
    if not x:
        raise InputError(f"{name} contains no pair of numbers; give lines such as 77,0.5.")
    return x, p


def _rows(name: str, text: str) -> Iterator[list[str]]:
    try:
        yield from csv.reader(io.StringIO(text))
    except csv.Error as problem:
        raise InputError(f"{name} cannot be read as CSV: {problem}.") from None


def _facts(result: Curve, asked: list[float]) -> dict[str, object]:
    return {
        "h0_bits": result.h0,
        "area": result.area,
        "area_bounds": list(result.area_bounds),
        "eps_max": result.eps_max,
        "epsilons": result.epsilons.tolist(),
        "entropies_bits": result.entropies.tolist(),
        "at": [{"eps": e, "entropy_bits": result(e), "hit_rate": result.hit(e)} for e in asked],
    }


def _print_tables(result: Curve, asked: list[float], plot: Path | None) -> None:
    from equivoc.cli.output.terminal import Terminal

    terminal = Terminal()
    low, high = result.area_bounds
    bounds = "exact" if result.exact else f"certified between {figure(low)} and {figure(high)}"
    for name, told, meaning in (
        ("H0", bits(result.h0), "0: the exact value is known"),
        ("area", f"{figure(result.area)} bits × the values' unit", f"{bounds}; smaller is riskier"),
        ("ε_max", exact(result.eps_max), "H is 0 from this tolerance on"),
    ):
        terminal.say(f"{name:5} {told:30} ({meaning})")
    shown = range(len(result.epsilons))
    if len(shown) > MOST_LINES:
        shown = range(0, len(shown), -(-len(shown) // MOST_LINES))
    rows = sorted({*(float(result.epsilons[i]) for i in shown), *asked})
    terminal.show(
        "",
        ("from ε", "H(ε), bits", "hit rate V(ε)"),
        [(exact(e), figure(result(e)), probability(result.hit(e))) for e in rows],
    )
    if len(shown) < len(result.epsilons):
        terminal.say(f"({len(shown)} of {len(result.epsilons)} break points shown; --json has all)")
    if plot is not None:
        terminal.say(f"The chart is in {plot}.")
