"""Break the measure on purpose, one fault at a time, and see the tests fail.

Run it from the repository's root, with the tests' own Python:

    python -m tests.break_the_kernels            # every fault: some ten minutes, most of it compiling
    python -m tests.break_the_kernels reach 17   # only faults whose description holds "reach", and number 17

Each fault is applied to a copy of the source in a temporary directory, and the tests in tests/measure run against that
copy until the first failure. A fault is caught when a test fails, or when they do not end in time. Faults that survive
are listed and make the exit code 1: the tests need strengthening, or the fault changes nothing (then it does not
belong here). The tree itself is never touched.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.kernel_faults import FAULTS, KERNELS, Fault

ROOT = Path(__file__).resolve().parents[1]
TESTS = [
    "tests/measure/test_against_oracles.py::test_up_to_two_thousand_values",  # compiles least
    "tests/measure/test_overtaking.py",
    "tests/measure/test_logarithm.py",
    "tests/measure/test_turns.py",
    "tests/measure/test_sorting.py",
    "tests/measure/test_worked_values.py",
    "tests/measure/test_ties.py",
    "tests/measure/test_against_oracles.py",
    "tests/measure/test_properties.py",
    "tests/measure/test_two_threads.py",
    "tests/measure/test_many.py",
    "tests/measure/test_certified_area.py",
]
MOST_SECONDS = 400


def apply(fault: Fault, measure: Path) -> None:
    """Put the fault into the copy, and mark the files it is compiled into so that they are compiled anew."""
    file = measure / fault.file
    source = file.read_text(encoding="utf-8")
    if source.count(fault.right) != 1:
        raise SystemExit(
            f"{fault.file} holds {fault.right!r} {source.count(fault.right)} times; update the fault."
        )
    file.write_text(source.replace(fault.right, fault.wrong), encoding="utf-8")
    if fault.file in KERNELS:
        for later in KERNELS[KERNELS.index(fault.file) :]:
            with (measure / later).open("a", encoding="utf-8") as kernels:
                kernels.write(f"\n# {fault.what}\n")


def first_failure(workplace: Path) -> str | None:
    """The first test that fails against the copy; None if all pass."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(workplace / "src"),
        "NUMBA_CACHE_DIR": str(workplace / "kernels"),
        "CI": "1",
    }
    command = [sys.executable, "-m", "pytest", "-x", "--tb=no", "-p", "no:cacheprovider", *TESTS]
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=MOST_SECONDS,
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
    survivors = []
    with tempfile.TemporaryDirectory() as directory:
        sound, workplace = Path(directory, "sound"), Path(directory, "work")
        shutil.copytree(ROOT / "src", workplace / "src", ignore=shutil.ignore_patterns("__pycache__"))
        if failed := first_failure(workplace):
            print(f"without any fault: {failed}; mend that first.")
            return 1
        workplace.rename(sound)  # with the sound kernels, compiled
        for number, fault in chosen:
            shutil.copytree(sound, workplace)
            apply(fault, workplace / "src" / "equivoc" / "measure")
            started = time.time()
            failed = first_failure(workplace)
            shutil.rmtree(workplace)
            verdict = "caught  " if failed else "SURVIVES"
            print(
                f"{number:3} {verdict} {time.time() - started:4.0f} s  {fault.what}: {failed or '-'}",
                flush=True,
            )
            if not failed:
                survivors.append(fault)
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} faults caught.")
    return 1 if survivors else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
