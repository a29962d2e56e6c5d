"""Exact incomes: assessments with thousands of distinct values, five techniques; a million people; the first run.

    .venv/bin/python benchmarks/many_values.py            # all of it; some ten minutes
    .venv/bin/python benchmarks/many_values.py --quick    # few people, to test the script; the figures mean nothing
    .venv/bin/python benchmarks/many_values.py --only small large million first

Each technique is assessed in its own process, after a small assessment that loads the compiled kernels; the better of
two runs is reported. Wall time and processor time are printed: on a shared machine, use processor time. The part
`first` runs a copy of the package without any compiled kernel.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from assess import people as many_people

TECHNIQUES = (
    "sampling:fraction=0.1",
    "noise-addition:percent=20",
    "query-restriction:size=8",
    "geometric-noise:epsilon=1",
    "swapping:rate=0.3",
)
SHAPES = ("lognormal", "heaped", "uniform")
WORK = """
import resource, sys, time
import pandas as pd
import equivoc as eq
from equivoc.techniques.notation import technique_from

def work(path, technique):
    frame = pd.read_csv(path)
    people = eq.Microdata(frame, confidential="income", keys=[name for name in frame if name != "income"])
    begin, used = time.perf_counter(), time.process_time()
    result = eq.assess(people, technique, eps=[0, 1000])
    h0, area, hit = result.figures.h0, result.figures.area, result.figures.hit
    return time.perf_counter() - begin, time.process_time() - used, len(h0)

technique = technique_from(sys.argv[3])
work(sys.argv[2], technique)
wall, cpu, classes = min(work(sys.argv[1], technique) for _ in range(2))
print(wall, cpu, classes, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
"""


def incomes(shape: str, values: int, rng: np.random.Generator) -> np.ndarray:
    """So many distinct incomes."""
    wanted = 6 * values
    if shape == "uniform":
        drawn = rng.integers(0, 10 * values, wanted)
    elif shape == "lognormal":
        drawn = np.round(rng.lognormal(10.2, 0.7, wanted), 1)
    else:  # heaped: many at round numbers
        drawn, which = rng.lognormal(10.2, 0.7, wanted), rng.random(wanted)
        drawn = np.where(
            which < 0.3, np.round(drawn, -3), np.where(which < 0.5, np.round(drawn, -2), np.round(drawn, 1))
        )
    distinct, times = np.unique(drawn, return_counts=True)
    keep = np.argsort(-times, kind="stable")[:values]  # the heaps, and as many others as it takes
    return distinct[keep]


def people(records: int, values: int, shape: str) -> pd.DataFrame:
    """Three keys, and incomes each of which occurs."""
    rng = np.random.default_rng(0)
    every = incomes(shape, values, rng)
    income = rng.permutation(np.concatenate([every, rng.choice(every, records - len(every))]))
    age = np.clip(rng.normal(42, 14, records), 16, 85).astype(int)
    return pd.DataFrame(
        {
            "age": age,
            "sex": rng.integers(1, 3, records),
            "education": rng.integers(1, 17, records),
            "income": income,
        }
    )


def assessed(frame: pd.DataFrame, technique: str, folder: Path) -> tuple[float, float, int, float]:
    """Wall seconds, processor seconds, classes, GiB."""
    frame.to_csv(folder / "people.csv", index=False)
    frame.head(40).to_csv(folder / "few.csv", index=False)
    done = subprocess.run(
        [sys.executable, "-c", WORK, folder / "people.csv", folder / "few.csv", technique],
        capture_output=True,
        text=True,
        check=True,
    )
    wall, cpu, classes, memory = map(float, done.stdout.split())
    return wall, cpu, int(classes), memory


def small(quick: bool, folder: Path) -> Iterator[str]:
    """2,500 people: 2,440 distinct incomes against 300."""
    records, many, few = (250, 240, 60) if quick else (2_500, 2_440, 300)
    for shape in SHAPES[:1] if quick else SHAPES:
        for technique in TECHNIQUES:
            wall, cpu, classes, _ = assessed(people(records, many, shape), technique, folder)
            _, least_cpu, _, _ = assessed(people(records, few, shape), technique, folder)
            yield (
                f"{records:,} people, {many:,} incomes ({shape}), {classes:,} classes, {technique}: {wall:.1f} s "
                f"({cpu:.1f} s of processor), {cpu / least_cpu:.1f} × that of {few} incomes; bars 10 s, 40 ×"
            )


def large(quick: bool, folder: Path) -> Iterator[str]:
    """100,000 people, 20,000 distinct incomes."""
    records, values = (1_000, 500) if quick else (100_000, 20_000)
    for technique in TECHNIQUES:
        wall, cpu, classes, memory = assessed(people(records, values, "lognormal"), technique, folder)
        yield (
            f"{records:,} people, {values:,} incomes, {classes:,} classes, {technique}: {wall:.1f} s ({cpu:.1f} s of "
            f"processor), {memory:.2f} GiB; bars 90 s, 3 GiB"
        )


def million(quick: bool, folder: Path) -> Iterator[str]:
    """A million people, 4 keys, unprotected."""
    frame = many_people(2_000 if quick else 1_000_000)
    wall, cpu, classes, memory = assessed(frame, "unprotected", folder)
    yield (
        f"{len(frame):,} people, {frame.income.nunique():,} incomes, {classes:,} classes, unprotected, after reading: "
        f"{wall:.2f} s ({cpu:.2f} s of processor), {memory:.2f} GiB; bar 3.3 s"
    )


def first(quick: bool, folder: Path) -> Iterator[str]:
    """`equivoc assess` of a package that has never run: nothing is compiled."""
    import equivoc

    source, copy = Path(equivoc.__file__).parent, folder / "copy" / "equivoc"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("*.nbi", "*.nbc"))
    people(2_500, 300, "lognormal").to_csv(folder / "people.csv", index=False)
    command = [
        sys.executable,
        "-c",
        "from equivoc.cli.main import main; main()",
        "assess",
        str(folder / "people.csv"),
        "--confidential=income",
        "--keys=age,sex,education",
        "--technique=sampling:fraction=0.1",
    ]
    environment = {**os.environ, "PYTHONPATH": str(copy.parent), "NUMBA_CACHE_DIR": str(folder / "cache")}
    for what in ("first", "second"):
        begin = time.perf_counter()
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, check=False, cwd=folder
        )
        said = next((line for line in done.stderr.splitlines() if "ompil" in line), "nothing about compiling")
        if done.returncode:
            said = done.stderr.strip()[-300:]
        yield f"{what} equivoc assess: {time.perf_counter() - begin:.1f} s; it says: {said!r}; bar 12 s"


PARTS = {"small": small, "large": large, "million": million, "first": first}


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--quick", action="store_true")
    options.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    asked = options.parse_args()
    for name in asked.only:
        with tempfile.TemporaryDirectory() as folder:
            for line in PARTS[name](asked.quick, Path(folder)):
                print(line, flush=True)


if __name__ == "__main__":
    main()
