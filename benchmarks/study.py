"""The paper's complete study: 3 techniques, 16 parameters, 30 replicates, 64 subsets of 6 keys, 2,500 records.

    .venv/bin/python benchmarks/study.py [--replicates 30]

Runs the command in a new process, on two cores. Prints seconds per technique, total seconds, and the peak memory of the
command and its workers together; compares two workers with one, and the query-restriction part with two linear programs
per record and release, extrapolated from a few of them. Exits 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.optimize import linprog

RECORDS = 2_500
LEVELS = {"age": 69, "sex": 2, "education": 16, "industry": 18, "occupation": 25, "travel": 177}
SALARIES = np.arange(10, 260, 10)
SIZES = (2, 4, 8, 16, 32)
PROGRAMS = 4
"""Linear programs that are solved for each query size; a release needs 2 × 2,500."""
PLAN = """
[data]
path = "people.csv"
confidential = "salary"
keys = ["age", "sex", "education", "industry", "occupation", "travel"]
domain = {{ low = 10, high = 250, step = 10 }}

[[technique]]
name = "sampling"
fraction = [0.05, 0.10, 0.20, 0.50]

[[technique]]
name = "query-restriction"
size = [2, 4, 8, 16, 32]

[[technique]]
name = "noise-addition"
percent = [5, 10, 20, 40, 60, 80, 100]

[study]
replicates = {replicates}
seed = 0
"""


def people() -> pd.DataFrame:
    """Every level occurs; attributes are correlated through a common factor and uneven, as in a census."""
    rng = np.random.default_rng(2006)
    common = rng.normal(size=RECORDS)
    columns = {}
    for name, size in {**LEVELS, "salary": len(SALARIES)}.items():
        level = 1 / (1 + np.exp(-1.2 * (0.4 * common + rng.normal(size=RECORDS))))
        codes = (level ** (3 if size > 100 else 1) * size).astype(int)
        codes[rng.choice(RECORDS, size, replace=False)] = np.arange(size)
        columns[name] = codes + 1 if name != "salary" else SALARIES[codes]
    return pd.DataFrame(columns)


def run(folder: Path, *, replicates: int, workers: int, every: float = 1.0) -> tuple[float, float]:
    """Seconds of the command, and the largest memory (MiB) that it and its workers held together.

    Memory is measured every ``every`` seconds. One measurement takes about 10 ms of a core, which slows two workers but
    not one: ten per second would slow two workers by 4 %.
    """
    plan, out = folder / "plan.toml", folder / f"out{replicates}-{workers}-{time.monotonic_ns()}"
    plan.write_text(PLAN.format(replicates=replicates))
    command = [
        sys.executable,
        "-m",
        "equivoc",
        "study",
        str(plan),
        "--out",
        str(out),
        "--workers",
        str(workers),
    ]
    begin = time.perf_counter()
    started = subprocess.Popen(
        [*command, "--progress", "none"], stdout=subprocess.DEVNULL, start_new_session=True
    )
    peak = 0.0
    while started.poll() is None:
        peak = max(peak, memory(started.pid))
        with suppress(subprocess.TimeoutExpired):
            started.wait(every)
    if started.returncode:
        raise SystemExit(f"the study ended with {started.returncode}")
    (folder / "last").unlink(missing_ok=True)
    (folder / "last").symlink_to(out)
    return time.perf_counter() - begin, peak


def memory(group: int) -> float:
    """MiB of memory that the processes of a group use; shared memory is counted once."""
    total = 0.0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.getpgid(int(process.name)) != group:
                continue
            for line in (process / "smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1]) / 1024
        except OSError:
            continue
    return total


def linear_program_seconds(salaries: np.ndarray) -> float:
    """Seconds for all bounds of one release of each query size: 2n programs each, from a few of them."""
    rng = np.random.default_rng(0)
    seconds = 0.0
    for size in SIZES:
        order = rng.permutation(RECORDS)
        first = np.arange(2 * RECORDS // size - 1)[:, None] * (size // 2)
        columns = order[(first + np.arange(size)).ravel()]
        rows = np.repeat(np.arange(len(first)), size)
        matrix = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(first), RECORDS))
        sums = matrix @ salaries
        begin = time.perf_counter()
        for _ in range(PROGRAMS):
            cost = np.zeros(RECORDS)
            cost[rng.integers(RECORDS)] = rng.choice([-1.0, 1.0])
            found = linprog(cost, A_eq=matrix, b_eq=sums, bounds=(10, 250), method="highs")
            assert found.status == 0
        seconds += (time.perf_counter() - begin) / PROGRAMS * 2 * RECORDS
    return seconds


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--replicates", type=int, default=30)
    asked = options.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    missed = 0

    def bar(what: str, measured: str, limit: str, *, met: bool) -> None:
        nonlocal missed
        missed += not met
        print(f"{what}: {measured}; bar {limit}: {'met' if met else 'MISSED'}", flush=True)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        frame = people()
        frame.to_csv(folder / "people.csv", index=False)
        _, at_first = run(folder, replicates=1, workers=2, every=0.1)  # compiles the kernels
        print(f"{asked.replicates} replicates × 16 techniques, 64 subsets, {RECORDS:,} records, 2 workers")
        seconds, peak = run(folder, replicates=asked.replicates, workers=2)
        cells = pd.read_csv(folder / "last" / "seconds.csv")
        parts = cells.groupby("technique", sort=False)["seconds"]
        for technique, total in parts.sum().items():
            print(f"  {technique}: {total:.1f} core seconds, {parts.mean()[technique]:.3f} a release")
        allowed = 300 * asked.replicates / 30
        bar("the complete study", f"{seconds:.1f} s", f"{allowed:.0f} s", met=seconds <= allowed)
        peak = max(peak, at_first)
        bar("memory", f"{peak:,.0f} MiB", "2,048 MiB", met=peak <= 2048)

        programs = linear_program_seconds(frame["salary"].to_numpy(float)) * asked.replicates
        ours = parts.sum()["query-restriction"]
        print(
            f"query restriction by 2n linear programs a release: {programs:,.0f} s (from {PROGRAMS} for each size)"
        )
        bar(
            "the whole query-restriction part against the programs alone",
            f"{programs / ours:,.0f} ×",
            "1,000 ×",
            met=programs >= 1000 * ours,
        )

        one, _ = run(folder, replicates=asked.replicates, workers=1)
        bar(
            f"one worker {one:.1f} s, two {seconds:.1f} s",
            f"{one / seconds:.2f} ×",
            "1.6 ×",
            met=one >= 1.6 * seconds,
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
