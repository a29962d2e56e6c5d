"""Controlled rounding of tables: time against its bars, distance against the bound; the intruder's intervals after it.

Prints one line per table; exits 1 if a bar is missed or a margin does not add up. ``--seeds 3`` runs more tables of
each kind, ``--time-limit 25`` is passed on.
"""

from __future__ import annotations

import argparse
import sys
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from equivoc.tables.cell_rounding import CellRounding
from equivoc.tables.cell_table import CellTable, Dimension
from equivoc.tables.contributions import summed_up


def groups(name: str, branches: int, size: int) -> Dimension:
    """A key with subtotals: so many groups of so many categories."""
    labels: list[str | None] = [None]
    parents = [-1]
    for group in range(branches):
        top = len(labels)
        labels += [f"{name}{group}", *(f"{name}{group}.{at}" for at in range(size))]
        parents += [0, *[top] * size]
    return Dimension(name, tuple(labels), np.array(parents, dtype=np.int64))


def flat(name: str, size: int) -> Dimension:
    return Dimension.flat(name, list(range(size)))


def table_of(keys: tuple[Dimension, ...], inner: NDArray[np.float64]) -> CellTable:
    shape = tuple(map(len, keys))
    numbers = np.arange(int(np.prod(shape))).reshape(shape)[np.ix_(*(key.leaves for key in keys))]
    totals = summed_up(inner.ravel(), numbers.ravel(), keys)
    people = np.rint(totals).astype(np.int64)
    return CellTable(
        keys, None, totals, people, np.ones((len(totals), 1)), totals, np.zeros(len(totals), dtype=bool)
    )


TABLES = {
    "20 × 20": ((flat("a", 20), flat("b", 20)), 0.5),
    "100 × 100": ((flat("a", 100), flat("b", 100)), None),
    "8 × 8 × 8": ((flat("a", 8), flat("b", 8), flat("c", 8)), None),
    "16 × 16 × 16": ((flat("a", 16), flat("b", 16), flat("c", 16)), 30.0),
    "4 × 20 × 47": ((flat("a", 4), flat("b", 20), flat("c", 47)), 30.0),
    "4·5 × 3·5 × 11": ((groups("a", 4, 5), groups("b", 3, 5), flat("c", 11)), 30.0),
}


def counts(kind: str, shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.float64]:
    return {
        "small": lambda: rng.poisson(1, shape),
        "middle": lambda: rng.poisson(8, shape),
        "skewed": lambda: np.floor(rng.lognormal(2, 2, shape)),
    }[kind]().astype(np.float64)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--seeds", type=int, default=1)
    arguments.add_argument("--time-limit", type=float, default=25)
    arguments.add_argument("--intervals", action="store_true", help="also the intruder's intervals")
    given = arguments.parse_args()
    missed = False
    CellRounding(5, "controlled").release(table_of(*warm_up()))
    for name, (keys, bar) in TABLES.items():
        shape = tuple(len(key.leaves) for key in keys)
        for kind in ("small", "middle", "skewed"):
            for seed in range(given.seeds):
                table = table_of(keys, counts(kind, shape, np.random.default_rng(seed)))
                start = perf_counter()
                release = CellRounding(5, "controlled", given.time_limit).release(table)
                seconds = perf_counter() - start
                found = release.controlled
                adds_up = not (table.relations @ release.values).any()
                within = float(np.abs(release.values - table.values).max()) < 5
                met = (bar is None or seconds <= bar) and adds_up and within
                missed |= not met
                gap = found.gap if found else 0.0
                line = f"{name:15} {kind:7} {len(table):6,} cells {seconds:6.2f} s, gap {gap:6.2%}"
                line += f", bar {bar} s: {'met' if met else 'MISSED'}" if bar else ""
                if given.intervals:
                    start = perf_counter()
                    low, high = release.bounds
                    width = high - low
                    line += f"; intervals {perf_counter() - start:.1f} s, mean width {width.mean():.2f}"
                print(line, flush=True)
    return int(missed)


def warm_up() -> tuple[tuple[Dimension, ...], NDArray[np.float64]]:
    return (flat("a", 2), flat("b", 2)), np.ones((2, 2))


if __name__ == "__main__":
    sys.exit(main())
