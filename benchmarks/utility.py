"""All utility measures of one release: 100,000 people, 7 columns, on several shapes of data.

    .venv/bin/python benchmarks/utility.py [--rows 100000]

Prints the seconds, the processor time and the peak memory of `eq.utility` for each shape and technique, each in a
process of its own. The process first measures a hundred other people, so that libraries are imported. Reading the
people and making the release are not in the seconds, but in the memory.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

SECONDS, GIBIBYTES = 10.0, 2.0
"""The bars."""

WORK = """
import resource, sys, time
import numpy as np, pandas as pd
import equivoc as eq
from equivoc.techniques.notation import technique_from

def people(shape, rows):
    rng = np.random.default_rng(42)
    age = np.clip(rng.normal(42, 14, rows), 16, 85).astype(int)
    occupation = np.minimum(rng.geometric(0.12, rows), 25)
    table = pd.DataFrame({
        "age": age, "sex": rng.choice(["F", "M"], rows), "region": rng.integers(1, 21, rows),
        "occupation": occupation, "education": rng.choice(list("abcdefg"), rows),
        "status": rng.choice(["single", "married", "divorced", "widowed"], rows, p=[.3, .5, .15, .05]),
    })
    income = np.exp(rng.normal(10.2 + 0.012 * (age - 40) - 0.02 * occupation, 0.6))
    if shape == "few values":
        table["income"] = np.minimum(income, 100_000).round(-3).astype(int)
    elif shape == "distinct incomes":
        table["income"] = income.round(0).astype(int)
    elif shape == "categories":
        table["income"] = np.char.add("code ", np.minimum(income // 1000, 300).astype(int).astype(str))
    else:  # many categories in every key
        for name in ("region", "education", "status"):
            table[name] = np.char.add(name, rng.integers(0, 3000, rows).astype(str))
        table["income"] = income.round(-2).astype(int)
    return eq.Microdata(table, confidential="income", keys=list(table.columns[:6]))

shape, technique, rows = sys.argv[1], technique_from(sys.argv[2]), int(sys.argv[3])
few = people(shape, 100)
eq.utility(few, technique.release(few, 0))
many = people(shape, rows)
release = technique.release(many, 0)
begin, busy = time.perf_counter(), time.process_time()
eq.utility(many, release)
seconds, processor = time.perf_counter() - begin, time.process_time() - busy
print(seconds, processor, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, len(many.values))
"""
SHAPES = ("few values", "distinct incomes", "categories", "many categories")
TECHNIQUES = (
    "unprotected",
    "sampling:fraction=0.3",
    "swapping:rate=0.3",
    "suppression:k=3",
    "generalisation:k=10",
)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rows", type=int, default=100_000)
    rows = options.parse_args().rows
    print(f"{'shape':18}{'technique':24}{'values':>8}{'seconds':>9}{'processor':>11}{'GiB':>7}")
    worst = [0.0, 0.0]
    for shape in SHAPES:
        for technique in TECHNIQUES:
            done = subprocess.run(
                [sys.executable, "-c", WORK, shape, technique, str(rows)],
                capture_output=True,
                text=True,
                check=True,
            )
            seconds, processor, memory, values = (float(part) for part in done.stdout.split())
            worst = [max(worst[0], seconds), max(worst[1], memory)]
            print(
                f"{shape:18}{technique:24}{values:8.0f}{seconds:9.2f}{processor:11.2f}{memory:7.2f}",
                flush=True,
            )
    met = worst[0] <= SECONDS and worst[1] <= GIBIBYTES
    print(f"most: {worst[0]:.1f} s (bar {SECONDS:.0f}), {worst[1]:.2f} GiB (bar {GIBIBYTES:.0f})")
    print("met" if met else "missed")


if __name__ == "__main__":
    main()
