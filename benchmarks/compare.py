"""A comparison of 12 settings: the 2,500 shipped people, 3 keys known, the strongest intruder.

    .venv/bin/python benchmarks/compare.py [--replicates 1]

Runs the command in new processes on two cores: once to compile the kernels, then with two workers and with one. Prints
the seconds by the clock, the processor time, and the seconds of each technique; exits 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import equivoc as eq

TECHNIQUES = (
    "sampling:fraction=0.1|0.5",
    "query-restriction:size=4|16",
    "noise-addition:percent=10|40",
    "swapping:rate=0.1|0.4",
    "rounding:base=500",
    "pram:keep=0.8",
    "suppression:k=3",
    "top-bottom-coding:low=400,high=1500",
)
SECONDS, FASTER = 40.0, 1.5
"""The bars: seconds with two workers, and how many times as fast as one worker."""


def run(folder: Path, *, workers: int, replicates: int) -> tuple[float, float]:
    """Seconds by the clock and of processor time."""
    out = folder / f"out{time.monotonic_ns()}"
    command = [sys.executable, "-m", "equivoc", "compare", str(eq.datasets.path("cps_hourly_workers"))]
    command += ["--confidential", "wage_per_hour", "--keys", "age,sex,education", "--round-to", "100"]
    for technique in TECHNIQUES:
        command += ["--technique", technique]
    command += ["--require", "true_hit(200) <= 0.45", "--replicates", str(replicates)]
    command += ["--workers", str(workers), "--out", str(out), "--progress", "none"]
    before, begin = _processor(), time.perf_counter()
    ended = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    seconds = time.perf_counter() - begin
    if ended.returncode:
        raise SystemExit(f"the comparison ended with {ended.returncode}")
    (folder / "last").unlink(missing_ok=True)
    (folder / "last").symlink_to(out)
    return seconds, _processor() - before


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--replicates", type=int, default=1)
    asked = options.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(folder, workers=2, replicates=1)  # compiles the kernels
        two, two_busy = run(folder, workers=2, replicates=asked.replicates)
        one, one_busy = run(folder, workers=1, replicates=asked.replicates)
        with sqlite3.connect(folder / "last" / "comparison.sqlite") as store:
            rows = store.execute(
                "SELECT technique, sum(seconds) FROM results GROUP BY technique ORDER BY 2 DESC"
            )
            for technique, seconds in rows:
                print(f"  {technique}: {seconds:.2f} s")
        store.close()
    print(f"two workers: {two:.1f} s ({two_busy:.1f} s of processor time); bar {SECONDS:.0f} s")
    print(f"one worker: {one:.1f} s ({one_busy:.1f} s of processor time); {one / two:.2f} ×; bar {FASTER} ×")
    met = two <= SECONDS * asked.replicates and one >= FASTER * two
    print("met" if met else "MISSED")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
