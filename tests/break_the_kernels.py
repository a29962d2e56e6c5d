"""Put deliberate faults into the package, one at a time, and check that the tests fail.

Run it from the repository's root, with the tests' own Python:

    python -m tests.break_the_kernels            # every fault: some minutes, most of them compiling
    python -m tests.break_the_kernels linkage 7  # only faults whose description holds "linkage", and number 7

Each fault is applied to a copy of the source in a temporary directory, and the tests that the fault names run against
that copy until the first failure. A fault is caught when a test fails, or when they do not end in time. Faults that
survive are listed and make the exit code 1: either the tests are too weak, or the fault changes no result (then remove
it from the list). The repository itself is not changed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from tests.kernel_faults import FAULTS, SOURCE, Fault

ROOT = SOURCE.parents[1]
MOST_SECONDS = 600


def apply(fault: Fault, source: Path) -> None:
    """Put the fault into the copy, and change the kernels beside it so that they are compiled anew.

    Numba's cache compares a kernel's own file only; the fault is compiled into other files' kernels, too.
    """
    file = fault.file(source)
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(fault.right, fault.wrong), encoding="utf-8")
    if file.name.endswith("_kernels.py"):
        for kernels in (source / fault.package).rglob("*_kernels.py"):
            with kernels.open("a", encoding="utf-8") as text_file:
                text_file.write(f"\n# {fault.what}\n")


def first_failure(workplace: Path, tests: Iterable[str], *, seconds: float | None) -> str | None:
    """The first test that fails against the copy; None if all pass."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(workplace / "src"),
        "NUMBA_CACHE_DIR": str(workplace / "kernels"),
    }
    command = [sys.executable, "-m", "pytest", "-x", "--tb=no", "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "does not end"
    if done.returncode == 0:
        return None
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0].split(" - ")[0].split("/")[-1] if failed else f"exit code {done.returncode}"


def main(wanted: list[str]) -> int:
    chosen = [
        (number, fault)
        for number, fault in enumerate(FAULTS, start=1)
        if not wanted or any(w == str(number) or (not w.isdigit() and w in fault.what) for w in wanted)
    ]
    survivors = 0
    with tempfile.TemporaryDirectory() as directory:
        sound, workplace = Path(directory, "sound"), Path(directory, "work")
        shutil.copytree(ROOT / "src", workplace / "src", ignore=shutil.ignore_patterns("__pycache__"))
        named = sorted({test for _, fault in chosen for test in fault.tests})
        if failed := first_failure(workplace, named, seconds=None):
            print(f"without any fault: {failed}; mend that first.")
            return 1
        workplace.rename(sound)  # with the sound kernels, compiled
        for number, fault in chosen:
            shutil.copytree(sound, workplace)
            apply(fault, workplace / "src" / "equivoc")
            started = time.time()
            failed = first_failure(workplace, fault.tests, seconds=MOST_SECONDS)
            shutil.rmtree(workplace)
            verdict = "caught  " if failed else "SURVIVES"
            seconds = time.time() - started
            print(f"{number:3} {verdict} {seconds:4.0f} s  {fault.what}: {failed or '-'}", flush=True)
            survivors += not failed
    print(f"{len(chosen) - survivors} of {len(chosen)} faults caught.")
    return 1 if survivors else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
