"""Microaggregation in groups of 3: how MDAV's time grows, compared with the fast method's time and loss.

Run `python benchmarks/aggregation.py` (a minute; `--quick` for a tenth of the rows). Prints seconds, ratios within this
run, and their bars; exits 1 if one is missed. The loss is the sum of squares within groups, of attributes scaled to
variance 1.
"""

import sys
from collections.abc import Callable
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from equivoc.techniques.microaggregation import fast_groups, mdav_groups, optimal_groups

SIZE, ATTRIBUTES = 3, 4
MDAV_GROWTH, FAST_GROWTH, LOSS = 120, 20, 1.05

Codes = NDArray[np.int64]


def skewed(records: int) -> Codes:
    """Correlated whole numbers with long tails, such as incomes, rents and hours."""
    rng = np.random.default_rng(0)
    common = rng.normal(size=(records, 1))
    own = rng.normal(size=(records, ATTRIBUTES))
    return np.rint(1000 * np.exp(0.6 * common + 0.8 * own)).astype(np.int64)


def even(records: int) -> Codes:
    return np.random.default_rng(0).integers(0, 10_000, size=(records, ATTRIBUTES))


def loss(positions: Codes, group: Codes) -> float:
    counts = np.bincount(group)
    columns = (positions / positions.std(axis=0)).T
    return float(sum(((c - (np.bincount(group, c) / counts)[group]) ** 2).sum() for c in columns))


def timed(method: Callable[[Codes, int], Codes], positions: Codes) -> tuple[float, float]:
    """Seconds and loss."""
    start = perf_counter()
    group = method(positions, SIZE)
    return perf_counter() - start, loss(positions, group)


def bar(what: str, found: float, most: float) -> bool:
    print(f"  {what:58} {found:9.3f} ×   bar ≤ {most:g} ×: {'reached' if found <= most else 'MISSED'}")
    return found <= most


def main(few: int) -> int:
    for method in (mdav_groups, fast_groups):
        method(skewed(100), SIZE)  # loads the kernels
    reached = []
    for make in (skewed, even):
        print(f"{make.__name__}, {ATTRIBUTES} attributes, groups of {SIZE}")
        seconds, losses = {}, {}
        for method in (mdav_groups, fast_groups):
            for records in (few, 10 * few, 100 * few):
                if method is mdav_groups and records > 10 * few:
                    continue
                key = method.__name__, records
                seconds[key], losses[key] = timed(method, make(records))
                print(f"  {method.__name__}, {records:9,} records {seconds[key]:10.3f} s")
        mdav, fast = mdav_groups.__name__, fast_groups.__name__
        growth = seconds[mdav, 10 * few] / seconds[mdav, few]
        reached.append(bar("MDAV, time at ten times the records", growth, MDAV_GROWTH))
        growth = seconds[fast, 100 * few] / seconds[fast, 10 * few]
        reached.append(bar("fast, time at ten times the records", growth, FAST_GROWTH))
        for records in (few, 10 * few):
            ratio = losses[fast, records] / losses[mdav, records]
            reached.append(bar(f"fast, loss against MDAV's, {records:,} records", ratio, LOSS))
        print(
            f"  fast is {seconds[mdav, 10 * few] / seconds[fast, 10 * few]:.1f} times faster at {10 * few:,}"
        )
    values = skewed(100 * few)[:, 0]
    optimal_groups(values[:100], SIZE)
    start = perf_counter()
    optimal_groups(values, SIZE)
    print(f"optimal, one attribute, {len(values):,} records: {perf_counter() - start:.3f} s")
    return 0 if all(reached) else 1


if __name__ == "__main__":
    sys.exit(main(1_000 if "--quick" in sys.argv else 10_000))
