"""``equivoc curve``: H(ε) of one posterior."""

from __future__ import annotations

import csv
import io
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata, resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equivoc.charts.drawing import check_drawing, save_chart
from equivoc.checks import installed, size_in_bytes
from equivoc.cli.attribute_options import numbers
from equivoc.cli.process import waiting
from equivoc.errors import InputError
from equivoc.files import check_outputs, check_readable
from equivoc.text import bits, exact, figure, probability
from equivoc.version import __version__

if TYPE_CHECKING:
    from equivoc.measure.curve import Curve

# ``equivoc serve``: the page in the browser.


def serve(
    people: Annotated[
        Path | None,
        typer.Argument(help="A file to open: CSV with a header, or Parquet. It is never changed."),
    ] = None,
    port: Annotated[int, typer.Option(help="The port to listen on; 0: a free one.", min=0, max=65535)] = 0,
    host: Annotated[
        str, typer.Option(help="The address to listen on; 127.0.0.1: this machine only.")
    ] = "127.0.0.1",
    i_know: Annotated[
        bool, typer.Option("--i-know", help="Listen on an address that other machines can reach.")
    ] = False,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
    folder: Annotated[
        Path | None,
        typer.Option(
            help="The private folder of uploads and results; default: in the user's folder of states."
        ),
    ] = None,
    keep: Annotated[
        bool,
        typer.Option("--keep", help="Keep uploads and results when the server stops; default: remove them."),
    ] = False,
    most_upload: Annotated[
        str, typer.Option(help="The largest file that is accepted: 500MiB, 20GiB.")
    ] = "20GiB",
) -> None:
    """Open the page: load a file, see the risk, try techniques, choose, download.

    The page is for you alone: the server listens on this machine only, and the printed address holds a token that
    works once; Enter prints another. No data leave this machine. Ctrl-C stops the server and removes uploads and
    results; after a crash, the next start goes on where it ended.

    Example: equivoc serve people.csv
    """
    if not installed("fastapi", "uvicorn"):
        raise InputError("the page needs more packages: pip install 'equivoc[web]'")
    from equivoc.serving.serving import is_loopback
    from equivoc.web.app import serve_page

    if not is_loopback(host) and not i_know:
        raise InputError(
            f"--host {host} can be reached from other machines, and the page shows your data without encryption: use "
            "a tunnel such as ssh -L instead, or add --i-know."
        )
    serve_page(
        people,
        host=host,
        port=port,
        folder=folder,
        keep=keep,
        most_upload=_most_upload(most_upload),
        browser=browser,
        announce=lambda address: _announce(address, host),
    )


def _most_upload(text: str) -> int:
    found = size_in_bytes("--most-upload", text)
    if not found:
        raise InputError(f"--most-upload is {text!r}; give a size above 0, such as 500MiB or 20GiB.")
    return found


def _announce(address: str, host: str) -> None:
    from equivoc.serving.serving import is_loopback

    if not is_loopback(host):
        print(
            "Other machines can reach this page. Nothing is encrypted: whoever reads the network reads the token, your "
            "data and all results."
        )
    print(
        f"The page is at {address}",
        "This address works once; press Enter for another. Stop it with Ctrl-C.",
        sep="\n",
        flush=True,
    )


# ``equivoc doctor``: versions, the engines that were found, and whether the kernels are compiled.

ENGINES = {"duckdb": "", "postgresql": "postgresql", "spark": "spark"}
"""Engines, and the extra whose packages each needs; empty: what equivoc always needs."""
JAVA_PATIENCE = 10.0
"""Seconds in which ``java -version`` must answer."""

_NAME = re.compile(r"[A-Za-z0-9._-]+")
_EXTRA = re.compile(r"""extra\s*==\s*['"]([A-Za-z0-9._-]+)['"]""")


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show versions, engines and compiled kernels: what to send along with a question.

    Nothing is installed, compiled or sent, and no path or user name is shown.

    Example: equivoc doctor --json
    """
    facts = installation_facts()
    if as_json:
        print(json.dumps(facts, indent=2))
        return
    from equivoc.render.lines import Terminal

    terminal = Terminal()
    system = facts["system"]
    terminal.say(
        f"equivoc {facts['equivoc']}, Python {facts['python']}, {system['name']}, {system['cores']} cores, "
        f"{_gibibytes(system['memory'])}"
    )
    terminal.show(
        "Packages",
        ["package", "version", "for"],
        [
            [each["name"], each["version"] or "missing", each["extra"] or "every command"]
            for each in facts["packages"]
        ],
        left=3,
    )
    terminal.show(
        "Engines",
        ["engine", "found", "note"],
        [
            [name, "yes" if each["found"] else "no", each["note"] or ""]
            for name, each in facts["engines"].items()
        ],
        left=3,
    )
    kernels = facts["kernels"]
    terminal.say(
        f"Kernels: {kernels['compiled']} of {kernels['modules']} modules are compiled; the others are compiled when "
        "they are first used, once, within seconds."
    )


def installation_facts() -> dict[str, Any]:
    """What is installed here, as plain data."""
    from equivoc.parallel import cores

    packages = needed_packages()
    return {
        "equivoc": __version__,
        "python": platform.python_version(),
        "system": {
            "name": f"{platform.system()} {platform.machine()}",
            "cores": cores(),
            "memory": _memory(),
        },
        "packages": packages,
        "engines": {name: _engine(name, extra, packages) for name, extra in ENGINES.items()},
        "kernels": _kernels(),
    }


def needed_packages() -> list[dict[str, Any]]:
    """The packages that equivoc's own metadata name: their version (None: missing), and the extra that needs them."""
    try:
        lines = metadata.requires("equivoc") or []
    except metadata.PackageNotFoundError:  # run from a source tree that is not installed
        lines = []
    found = []
    for line in lines:
        name, extra = _NAME.match(line), _EXTRA.search(line)
        if name is None:
            continue
        try:
            version = metadata.version(name.group())
        except metadata.PackageNotFoundError:
            version = None
        found.append({"name": name.group(), "version": version, "extra": extra.group(1) if extra else None})
    return found


def _engine(name: str, extra: str, packages: list[dict[str, Any]]) -> dict[str, Any]:
    missing = [
        each["name"]
        for each in packages
        if each["version"] is None and (each["extra"] == extra if extra else each["name"] == name)
    ]
    if missing:
        install = f"pip install 'equivoc[{extra}]'" if extra else f"pip install {name}"
        return {"found": False, "note": f"{' and '.join(missing)} missing: {install}"}
    if name != "spark":
        return {"found": True, "note": None}
    java = _java()
    if java is None:
        return {"found": True, "note": "no Java here: enough for Spark Connect; other masters need Java 17"}
    return {"found": True, "note": f"Java {java}"}


def _java() -> str | None:
    """The version of the Java that Spark would start; None if there is none."""
    home = os.environ.get("JAVA_HOME")
    command = shutil.which("java", path=os.path.join(home, "bin")) if home else shutil.which("java")  # noqa: PTH118
    if command is None:
        return None
    try:
        printed = subprocess.run(
            [command, "-version"], capture_output=True, text=True, timeout=JAVA_PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = re.search(r'version "([^"]+)"', printed.stderr)
    return version.group(1) if version else None


def _memory() -> int | None:
    """Bytes of main memory; None where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _gibibytes(size: int | None) -> str:
    return "memory unknown" if size is None else f"{size / 2**30:.0f} GiB of memory"


def _kernels() -> dict[str, int]:
    from equivoc import parallel

    modules = sorted(_kernel_modules(resources.files("equivoc"), "equivoc"))
    return {
        "modules": len(modules),
        "compiled": sum(parallel.kernels_are_compiled(module) for module in modules),
    }


def _kernel_modules(folder: Any, package: str) -> list[str]:
    """The names of all modules of kernels below a folder."""
    found = []
    for each in folder.iterdir():
        if each.is_dir():
            found += _kernel_modules(each, f"{package}.{each.name}")
        elif each.name.endswith("_kernels.py"):
            found.append(f"{package}.{each.name.removesuffix('.py')}")
    return found


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
    with waiting("measuring", kernels="equivoc.measure.jump_kernels"):
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
    from equivoc.render.lines import Terminal

    terminal = Terminal()
    low, high = result.area_bounds
    bounds = "exact" if result.exact else f"certified between {figure(low)} and {figure(high)}"
    for name, text, meaning in (
        ("H0", bits(result.h0), "0: the exact value is known"),
        ("area", f"{figure(result.area)} bits × the values' unit", f"{bounds}; smaller is riskier"),
        ("ε_max", exact(result.eps_max), "H is 0 from this tolerance on"),
    ):
        terminal.say(f"{name:5} {text:30} ({meaning})")
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
