"""ACS-like people streamed to Parquet: rows per second and peak memory.

    python benchmarks/acs_like.py                 # 10 million rows
    python benchmarks/acs_like.py --large         # and 100 million

Every measurement runs in its own process, so that peak memory is measured separately. Each time is printed with that of
filling a NumPy array with as many random numbers (seven per row), so that machines can be compared.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

MILLION = 1_000_000
MEMORY_BAR = 1.0


def measure_here(rows: int, folder: Path) -> None:
    from equivoc.datasets import write_acs_like

    write_acs_like(folder / "warm.parquet", 1000)
    path = folder / "people.parquet"
    started = time.perf_counter()
    write_acs_like(path, rows)
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps({"seconds": seconds, "gib": peak, "bytes": path.stat().st_size}))


def measure(rows: int) -> dict[str, float]:
    """Seconds, peak GiB and file size of writing so many rows in a fresh process."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--measure", str(rows), folder]
        run = subprocess.run(command, check=True, capture_output=True, text=True)
    measured: dict[str, float] = json.loads(run.stdout)
    return measured


def plain_fill(rows: int) -> float:
    """Seconds for seven uniform numbers per row, one block at a time."""
    rng = np.random.default_rng(0)
    block = np.empty(7 * 16_384)
    started = time.perf_counter()
    for _ in range(rows // 16_384):
        rng.random(out=block)
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--large", action="store_true", help="also 100 million rows")
    parser.add_argument("--measure", nargs=2, metavar=("ROWS", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure_here(int(options.measure[0]), Path(options.measure[1]))
        return
    fill = plain_fill(10 * MILLION)
    for rows in [10 * MILLION] + [100 * MILLION] * options.large:
        measured = measure(rows)
        times = measured["seconds"] / (fill * rows / (10 * MILLION))
        word = "holds" if measured["gib"] < MEMORY_BAR else "MISSED"
        print(
            f"{rows:,} rows: {measured['seconds']:.1f} s, {rows / measured['seconds'] / MILLION:.1f} million rows/s, "
            f"{times:.1f} × a plain fill; {measured['bytes'] / rows:.1f} bytes a row"
        )
        print(f"  peak memory: {measured['gib']:.2f} GiB (bar {MEMORY_BAR:g} GiB): {word}")


if __name__ == "__main__":
    main()
