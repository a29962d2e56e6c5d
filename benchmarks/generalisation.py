"""Generalisation and suppression, k = 10, of people with 4 keys: how time grows from 10⁵ to 10⁶ records.

    .venv/bin/python benchmarks/generalisation.py [--rows 100000]

Seconds depend on the machine; the growth is measured within one run. The people are read again for each release;
reading is not timed. The posteriors of an intruder who knows all 4 keys are timed too, at the smaller size. In the last
line each key has 200 values, so that nearly every record is a class of its own.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

import equivoc as eq

KEYS = ["age", "sex", "region", "occupation"]
BAR = 15


def census(rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(42)
    age = np.clip(rng.normal(42, 14, rows), 16, 85).astype(int)
    return pd.DataFrame(
        {
            "age": age,
            "sex": rng.integers(1, 3, rows),
            "region": rng.integers(1, 21, rows),
            "occupation": np.minimum(rng.geometric(0.12, rows), 25),
            "income": np.exp(rng.normal(10.2 + 0.012 * (age - 40), 0.6, rows)).round(-3),
        }
    )


def unique(rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(43)
    return pd.DataFrame(
        {**{key: rng.integers(200, size=rows) for key in KEYS}, "income": rng.integers(50, size=rows)}
    )


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.perf_counter()
    done = work()
    return time.perf_counter() - begin, done


def beliefs(release: Any) -> Any:
    return release.posteriors(KEYS, intruder="paper").probabilities


def compare(
    name: str, technique: eq.Generalisation | eq.Suppression, make: Callable[[int], pd.DataFrame], rows: int
) -> None:
    times = []
    for data in (make(rows), make(10 * rows)):
        runs = []
        for _ in range(4):  # the first loads or compiles the kernels
            people = eq.Microdata(data, confidential="income", keys=KEYS)
            taken, release = seconds(partial(technique.release, people))
            runs.append(taken)
        times.append(min(runs))
        if len(times) == 1:
            linking, post = seconds(partial(beliefs, release))
    growth = times[1] / times[0]
    bar = f"; bar {BAR} ×: {'met' if growth <= BAR else 'NOT met'}" if "Mondrian" in name else ""
    print(
        f"{name}: {times[0]:.3f} s at {rows:,}, {times[1]:.3f} s at {10 * rows:,} records: {growth:.1f} ×{bar}"
    )
    print(f"  posteriors, all keys known, {rows:,} records: {linking:.2f} s, {post.shape[0]:,} classes")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=100_000)
    rows = options.parse_args().rows
    compare("Mondrian", eq.Generalisation(k=10), census, rows)
    hierarchies = {"age": (5, 10, 20), "region": (5, 10)}
    compare("lattice search", eq.Generalisation(k=10, hierarchies=hierarchies), census, rows)
    compare("suppression", eq.Suppression(k=10), census, rows)
    compare("Mondrian, hardly two alike", eq.Generalisation(k=10), unique, rows)


if __name__ == "__main__":
    main()
