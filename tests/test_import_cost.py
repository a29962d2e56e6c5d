"""`import equivoc` loads almost nothing, and a process loads the kernels that an earlier one compiled."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import equivoc

SOURCE = str(Path(equivoc.__file__).parents[1])


def run(program: str, *options: str, **variables: str) -> str:
    """Standard output of a fresh Python process that can import equivoc from where we did."""
    environment = {**os.environ, "PYTHONPATH": SOURCE, **variables}
    done = subprocess.run(
        [sys.executable, "-W", "error", *options, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_loads_three_small_modules_of_ours_and_nothing_else() -> None:
    """-S leaves the installed packages off the path: importing any of them would fail."""
    program = "import equivoc, sys, json; print(json.dumps(sorted(sys.modules)))"
    loaded = json.loads(run(program, "-S"))
    ours = [name for name in loaded if name.split(".")[0] == "equivoc"]
    assert ours == ["equivoc", "equivoc.errors", "equivoc.version"]


def test_public_names_load_on_first_use() -> None:
    program = (
        "import equivoc as eq, json, sys\n"
        "found = [n for n in eq.__all__ if getattr(eq, n) is None]\n"
        "print(json.dumps([found, sorted(dir(eq)) == sorted(eq.__all__), 'altair' in sys.modules]))"
    )
    assert json.loads(run(program)) == [[], True, False]


def test_types_of_results_and_methods_of_tables_have_packages_that_load_them_on_first_use() -> None:
    program = (
        "import equivoc as eq, json, sys\n"
        "packages = [eq.results, eq.tables]\n"
        "before = sorted(name for name in sys.modules if name.startswith('equivoc.'))\n"
        "kinds = [isinstance(getattr(package, name), type) for package in packages for name in dir(package)]\n"
        "same = all(getattr(eq, name) is getattr(package, name) for package in packages for name in dir(package)\n"
        "    if hasattr(eq, name))\n"
        "print(json.dumps([before, len(kinds), all(kinds), same, 'altair' in sys.modules]))"
    )
    light = ["equivoc.errors", "equivoc.results", "equivoc.tables", "equivoc.version"]
    assert json.loads(run(program)) == [light, 17 + 8, True, True, False]


def test_names_that_moved_to_packages_are_still_those_of_the_package() -> None:
    for name in ("Assessment", "Curve", "CellTable", "Audit", "Comparison", "Window"):
        assert getattr(equivoc, name) is getattr(equivoc.results, name)
        assert name not in dir(equivoc)
    for name in equivoc.tables.__all__:
        assert getattr(equivoc, name) is getattr(equivoc.tables, name)


def test_unknown_names_are_refused() -> None:
    for package in (equivoc, equivoc.results, equivoc.tables):
        assert not hasattr(package, "no_such_name")


def test_the_second_process_compiles_nothing(tmp_path: Path) -> None:
    program = """
import json
from numba.core.dispatcher import Dispatcher
import equivoc as eq
from equivoc.measure import partition_kernels
eq.entropy_at([1, 3, 8, 9], [.15, .1, .7, .05], 2)
stats = {
    name: [sum(kernel.stats.cache_hits.values()), sum(kernel.stats.cache_misses.values())]
    for name, kernel in vars(partition_kernels).items()
    if isinstance(kernel, Dispatcher) and kernel.signatures
}
print(json.dumps(stats))
"""
    first = json.loads(run(program, NUMBA_CACHE_DIR=str(tmp_path)))
    second = json.loads(run(program, NUMBA_CACHE_DIR=str(tmp_path)))
    called = {"least_cost"}
    assert all(first[name] == [0, 1] for name in called), first
    assert all(second[name] == [1, 0] for name in called), second
    assert all(misses == 0 for _, misses in second.values())
