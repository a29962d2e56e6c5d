"""``equivoc doctor``: versions, the engines that were found, and whether the kernels are compiled."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
from importlib import metadata, resources
from typing import Annotated, Any

import typer

from equivoc.version import __version__

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
    from equivoc.cli.output.terminal import Terminal

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
    from equivoc.measure.parallel import cores

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
        told = subprocess.run(
            [command, "-version"], capture_output=True, text=True, timeout=JAVA_PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = re.search(r'version "([^"]+)"', told.stderr)
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
    from equivoc.measure import compiled

    modules = sorted(_kernel_modules(resources.files("equivoc"), "equivoc"))
    return {
        "modules": len(modules),
        "compiled": sum(compiled.kernels_are_compiled(module) for module in modules),
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
