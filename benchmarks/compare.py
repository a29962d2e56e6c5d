"""A comparison of 12 settings: the 2,500 shipped people, 3 keys known, the strongest intruder.

    .venv/bin/python benchmarks/compare.py [--replicates 3]

Runs the command in new processes on two cores: once to compile the kernels, then with two workers and one release of
each setting (once with the page, the map and the tables), then with two workers and with one, and several releases of
each. The ratio is that of the last two: a worker takes two seconds to start, a large part of a comparison of ten
seconds. Exits 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import equivoc as eq

TECHNIQUES = (
    "sampling:fraction=0.1|0.5",
    "query-restriction:size=8",
    "noise-addition:percent=10|40",
    "swapping:rate=0.1|0.4",
    "rounding:base=500",
    "microaggregation:size=5",
    "pram:keep=0.8",
    "suppression:k=3",
    "top-bottom-coding:low=400,high=1500",
)
SECONDS, FASTER = 40.0, 1.5
"""The bars: seconds with two workers, and how many times as fast as one worker."""


def run(*, workers: int, replicates: int, out: Path | None = None) -> tuple[float, float]:
    """Seconds by the clock and of processor time."""
    command = [sys.executable, "-m", "equivoc", "compare", str(eq.datasets.path("cps_hourly_workers"))]
    command += ["--confidential", "wage_per_hour", "--keys", "age,sex,education", "--round-to", "100"]
    for technique in TECHNIQUES:
        command += ["--technique", technique]
    command += ["--require", "true_hit(200) <= 0.45", "--replicates", str(replicates)]
    command += ["--workers", str(workers), "--progress", "none"]
    command += [] if out is None else ["--out", str(out)]
    before, begin = _processor(), time.perf_counter()
    ended = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    seconds = time.perf_counter() - begin
    if ended.returncode:
        raise SystemExit(f"the comparison ended with {ended.returncode}")
    return seconds, _processor() - before


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--replicates", type=int, default=3)
    asked = options.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    run(workers=2, replicates=1)  # compiles the kernels
    once, once_busy = run(workers=2, replicates=1)
    alone, alone_busy = run(workers=1, replicates=1)
    print(f"two workers, one release each: {once:.1f} s ({once_busy:.1f} s of processor time)")
    print(
        f"one worker, one release each: {alone:.1f} s ({alone_busy:.1f} s of processor time), {alone / once:.2f} ×"
    )
    with tempfile.TemporaryDirectory() as name:
        written, _ = run(workers=2, replicates=1, out=Path(name, "out"))
    print(
        f"two workers, with the page, the map and the tables: {written:.1f} s; bar {SECONDS:.0f} s",
        flush=True,
    )
    two, _ = run(workers=2, replicates=asked.replicates)
    one, _ = run(workers=1, replicates=asked.replicates)
    print(
        f"{asked.replicates} releases each: two workers {two:.1f} s, one {one:.1f} s: {one / two:.2f} ×; bar {FASTER} ×"
    )
    met = written <= SECONDS and one >= FASTER * two
    print("met" if met else "MISSED")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
