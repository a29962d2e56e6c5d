"""Generalisation and suppression, k = 10, of people with 4 keys: how time grows from 10⁵ to 10⁶ records.

    .venv/bin/python benchmarks/generalisation.py [--rows 100000]

Seconds depend on the machine; the growth is taken within one run. A release includes counting the classes of the people
anew. Beside it: the posteriors of an intruder who knows all 4 keys, at the smaller size.
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
TECHNIQUES = {
    "Mondrian": eq.Generalisation(k=10),
    "lattice search": eq.Generalisation(k=10, hierarchies={"age": (5, 10, 20), "region": (5, 10)}),
    "suppression": eq.Suppression(k=10),
}


def frame(rows: int) -> pd.DataFrame:
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


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.perf_counter()
    done = work()
    return time.perf_counter() - begin, done


def beliefs(release: Any) -> Any:
    return release.posteriors(KEYS).probabilities


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=100_000)
    rows = options.parse_args().rows

    def people(data: pd.DataFrame) -> eq.Microdata:
        return eq.Microdata(data, confidential="income", keys=KEYS)

    small, large = frame(rows), frame(10 * rows)
    for name, technique in TECHNIQUES.items():
        technique.release(people(small))  # loads or compiles the kernels
        times = {}
        for data in (small, large):
            runs = []
            for _ in range(3):
                fresh = people(data)
                taken, release = seconds(partial(technique.release, fresh))
                runs.append(taken)
            times[len(data)] = min(runs)
            if data is small:
                linking, post = seconds(partial(beliefs, release))
        growth = times[len(large)] / times[len(small)]
        print(
            f"{name}: {times[len(small)]:.3f} s at {len(small):,}, {times[len(large)]:.3f} s at {len(large):,} records"
        )
        bar = f"; bar {BAR} ×: {'met' if growth <= BAR else 'NOT met'}" if name == "Mondrian" else ""
        print(f"  grows {growth:.1f} ×{bar}")
        print(
            f"  posteriors, all keys known, {len(small):,} records: {linking:.2f} s, {post.shape[0]:,} classes"
        )


if __name__ == "__main__":
    main()
