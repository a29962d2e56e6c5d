"""Class counts of all 64 subsets of 6 keys × 25 values: time against 64 separate group-bys, and peak memory.

    python benchmarks/class_counts.py                 # 10 million rows
    python benchmarks/class_counts.py --large         # and 100 million
    python benchmarks/class_counts.py --spread even   # every level equally likely: the most cells possible

Every measurement runs in its own process, after the kernels are compiled, so that peak memory is measured separately.
"""

from __future__ import annotations

import argparse
import itertools
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

LEVELS = {"age": 69, "sex": 2, "education": 16, "industry": 18, "occupation": 25, "travel": 177}
VALUES = 25
MILLION = 1_000_000
PIECE = 5 * MILLION
RATIO_BAR, MEMORY_BAR = 0.35, 1.5
GROWTH_BAR, LARGE_MEMORY_BAR = 12.0, 4.0


def write_people(path: Path, rows: int, *, spread: str) -> None:
    """People whose levels have frequencies of 1/rank (or equal ones), and whose salary depends on education and age."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(1)
    writer = None
    for start in range(0, rows, PIECE):
        size = min(PIECE, rows - start)
        columns = {}
        for name, levels in LEVELS.items():
            chances = 1 / np.arange(1, levels + 1) if spread == "skewed" else np.ones(levels)
            columns[name] = rng.choice(levels, size, p=chances / chances.sum()).astype(np.int32) + 1
        rank = rng.normal(0, 3, size) + 0.6 * columns["education"] + 0.05 * columns["age"]
        columns["salary"] = 10 * (np.clip(np.rint(rank), 0, VALUES - 1).astype(np.int32) + 1)
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table, row_group_size=MILLION)
    if writer is not None:
        writer.close()


def lattice(path: str) -> int:
    """Every class's size and counts, for all subsets."""
    from equivoc.data.read import read

    people = read(path, confidential="salary", keys=list(LEVELS))
    return sum(int(classes.counts.nnz) for classes in people.lattice() if classes.sizes.size)


def group_bys(path: str) -> int:
    """The same by one statement per subset."""
    import duckdb

    connection = duckdb.connect()
    cells = 0
    for size in range(len(LEVELS) + 1):
        for subset in itertools.combinations(LEVELS, size):
            names = ", ".join((*subset, "salary"))
            statement = f"SELECT {names}, CAST(COUNT(*) AS BIGINT) AS n FROM '{path}' GROUP BY ALL"
            cells += connection.sql(statement).to_arrow_table().num_rows
    return cells


WORK = {"lattice": lattice, "group_bys": group_bys}


def measure(work: str, path: Path) -> dict[str, float]:
    """Seconds, cells and peak GiB of one piece of work in a fresh process."""
    run = subprocess.run(
        [sys.executable, __file__, "--measure", work, str(path)], check=True, capture_output=True, text=True
    )
    measured: dict[str, float] = json.loads(run.stdout)
    return measured


def measure_here(work: str, path: str) -> None:
    warm = str(Path(path).with_name("warm.parquet"))
    WORK[work](warm)
    started = time.perf_counter()
    cells = WORK[work](path)
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps({"seconds": seconds, "cells": cells, "gib": peak}))


def verdict(what: str, measured: float, bar: float, unit: str = "") -> None:
    word = "holds" if measured <= bar else "MISSED"
    print(f"  {what}: {measured:.2f}{unit} (bar {bar:g}{unit}): {word}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--large", action="store_true", help="also 100 million rows")
    parser.add_argument("--spread", choices=["skewed", "even"], default="skewed")
    parser.add_argument("--measure", nargs=2, metavar=("WORK", "PATH"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure_here(*options.measure)
        return
    with tempfile.TemporaryDirectory() as folder:
        write_people(Path(folder) / "warm.parquet", 200_000, spread=options.spread)
        path = Path(folder) / "people.parquet"
        write_people(path, 10 * MILLION, spread=options.spread)
        ours, theirs = measure("lattice", path), measure("group_bys", path)
        if ours["cells"] != theirs["cells"]:
            raise SystemExit(f"{ours['cells']} cells against {theirs['cells']}: the counts differ")
        print(
            f"10,000,000 rows, 64 subsets, {ours['cells']:,} cells: {ours['seconds']:.1f} s, "
            f"64 group-bys {theirs['seconds']:.1f} s"
        )
        verdict("ratio", ours["seconds"] / theirs["seconds"], RATIO_BAR)
        verdict("peak memory", ours["gib"], MEMORY_BAR, " GiB")
        if options.large:
            write_people(path, 100 * MILLION, spread=options.spread)
            large = measure("lattice", path)
            print(f"100,000,000 rows, {large['cells']:,} cells: {large['seconds']:.1f} s")
            verdict("times the 10M time", large["seconds"] / ours["seconds"], GROWTH_BAR)
            verdict("peak memory", large["gib"], LARGE_MEMORY_BAR, " GiB")


if __name__ == "__main__":
    main()
