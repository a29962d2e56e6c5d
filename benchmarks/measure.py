"""The speed of the measure and the accuracy of its estimates: figures from one run, each with its bar.

Run with (some minutes; use a machine on which nothing else runs):

    python benchmarks/measure.py
    python benchmarks/measure.py --only sort,rows     # parts: sort rows estimates rowtime blocks area
    python benchmarks/measure.py --quick              # small sizes, to test the script; the figures mean nothing

Times are the best of several repeats after a warm-up, on two cores.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
from numba import njit

import equivoc as eq
from equivoc.measure.area import estimated_area
from equivoc.measure.curves import Curves
from equivoc.measure.distribution import Distribution
from equivoc.parallel import on_one_core

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.measure.many_values import VALUES, posteriors, probabilities_of, values_of

THREADS = 2
SHARES_OF_RANGE = (1e-4, 1e-3, 1e-2, 1e-1)


class Line(NamedTuple):
    """What was measured, the figure, and what it must be at most (or at least)."""

    work: str
    detail: str
    figure: float
    bar: float
    at_most: bool = True

    def cells(self) -> list[str]:
        met = self.figure <= self.bar if self.at_most else self.figure >= self.bar
        sign = "≤" if self.at_most else "≥"
        return [self.work, self.detail, f"{self.figure:.3g}", f"{sign} {self.bar:g}", "yes" if met else "NO"]


def best(
    work: Callable[[], object], repeats: int = 3, clock: Callable[[], float] = time.perf_counter
) -> float:
    """The shortest time of several repeats in seconds, after one call that is not timed."""
    work()
    times = []
    for _ in range(repeats):
        begin = clock()
        work()
        times.append(clock() - begin)
    return min(times)


def against_sort(quick: bool) -> Iterator[Line]:
    """One exact H(ε) against sorting the same values."""
    n, rng = 20_000 if quick else 1_000_000, np.random.default_rng(0)
    for shape in VALUES:
        ascending = values_of(shape, rng, n)
        p = rng.random(len(ascending))
        p /= p.sum()
        shuffle = rng.permutation(len(ascending))
        tolerances = np.ptp(ascending) * np.array(SHARES_OF_RANGE)
        for order, x, q in (("ascending", ascending, p), ("shuffled", ascending[shuffle], p[shuffle])):
            sort = best(lambda x=x: np.sort(x), 5)
            times = [best(lambda x=x, q=q, e=e: eq.entropy_at(x, q, e)) for e in tolerances]
            detail = f"median {statistics.median(times) * 1e3:.0f} ms, np.sort {sort * 1e3:.1f} ms"
            work = f"entropy_at, {len(x):,} {shape} values, {order}: worst of 4 ε, × np.sort"
            yield Line(work, detail, max(times) / sort, 30)


@njit(nogil=True)
def plain_rows(rows, area):
    """Row by row: φ of all intervals once, then the plain recurrence for every ε of an even grid of step 10."""
    n = rows.shape[1]
    cum, cost, terms = np.zeros(n + 1), np.zeros(n + 1), np.zeros((n + 1, n + 1))
    for r in range(len(rows)):
        for i in range(n):
            cum[i + 1] = cum[i] + rows[r, i]
            for j in range(i + 1):
                q = cum[i + 1] - cum[j]
                terms[i + 1, j] = -q * np.log2(q)
        area[r] = 0.0
        for reach in range(n - 1):
            for i in range(1, n + 1):
                least = np.inf
                for j in range(max(0, i - 1 - reach), i):
                    least = min(least, cost[j] + terms[i, j])
                cost[i] = least
            area[r] += 10.0 * cost[n]


def many_rows(quick: bool) -> Iterator[Line]:
    """Dense rows over a small grid against a plain loop, compiled as well."""
    count, n = 20_000 if quick else 1_000_000, 25
    grid, rng = np.arange(1, n + 1) * 10.0, np.random.default_rng(0)
    counts = rng.integers(1, 200, (count, n))
    shares = counts / counts.sum(axis=1, keepdims=True)
    part, area = shares[: count // 20], np.empty(count // 20)
    plain = best(lambda: plain_rows(part, area)) / len(part) / THREADS
    for name, matrix in (("probabilities", shares), ("counts", counts)):
        ours = best(lambda m=matrix, c=name == "counts": eq.curves(grid, m, counts=c).area) / count
        if not np.allclose(eq.curves(grid, matrix[: len(part)], counts=name == "counts").area, area):
            raise SystemExit("The plain loop and curves disagree.")
        detail = f"{ours * 1e9:.0f} ns per row; plain loop {plain * 1e9:.0f} ns (a part, scaled to 2 threads)"
        work = f"curves, {count:,} rows × {n}, {name}: times faster than a plain loop"
        yield Line(work, detail, plain / ours, 1.7, at_most=False)


def estimates(quick: bool) -> Iterator[Line]:
    """Estimated areas against exact ones."""
    off, names = [], []
    for name, x, p in posteriors(1, 10 if quick else 50, 300, 400 if quick else 1200):
        off.append(100 * (estimated_area(Distribution(x, p)) / eq.curve(x, p).area - 1))
        names.append(name)
    sizes = np.abs(off)
    detail = f"furthest off: {names[int(sizes.argmax())]}; mean with sign {np.mean(off):+.2f} %"
    yield Line(f"estimated area, {len(off)} posteriors: largest error, %", detail, float(sizes.max()), 2)
    yield Line("… mean error, %", "", float(sizes.mean()), 0.5)


def all_figures(x: np.ndarray, rows: np.ndarray, eps: Sequence[float]) -> Curves:
    """H0, estimated area and hit rates of every row."""
    found = eq.curves(x, rows, tolerance=None)
    _ = found.h0, found.area, [found.hit(e) for e in eps]
    return found


def time_per_row(quick: bool) -> Iterator[Line]:
    """One posterior on one core: H0, estimated area, hit rates at two tolerances."""
    rng = np.random.default_rng(2)
    for n, bar in ((2_440, 3.0), (20_000, 20.0)):
        times = {}
        for shape in VALUES:
            x = values_of(shape, rng, n // 10 if quick else n)
            rows = np.stack([probabilities_of(kind, rng, x) for kind in ("spikes", "bumps", "random")])
            eps = np.ptp(x) * np.array([0.01, 0.05])
            with on_one_core():
                work = lambda x=x, rows=rows, eps=eps: all_figures(x, rows, eps)  # noqa: E731
                taken = best(work, clock=time.process_time)
            times[shape] = taken / len(rows) * 1e3
        detail = ", ".join(f"{shape} {t:.1f}" for shape, t in times.items())
        yield Line(
            f"a posterior of {n:,} values, one core: worst shape, ms", detail, max(times.values()), bar
        )


def many_blocks(quick: bool) -> Iterator[Line]:
    """Rows that would not fit in memory at once: spikes above a shared prior."""
    count, n, block = (64, 2_000, 16) if quick else (2_200, 20_000, 64)
    rng = np.random.default_rng(3)
    x = values_of("lognormal", rng, n)
    prior = rng.dirichlet(np.ones(len(x)))

    def blocks() -> Iterator[np.ndarray]:
        for begin in range(0, count, block):
            rows = np.tile(0.9 * prior, (min(block, count - begin), 1))
            for row in rows:
                np.add.at(row, rng.integers(0, len(x), 5), 0.02)
            yield rows

    begin = time.perf_counter()
    for rows in blocks():
        found = all_figures(x, rows, [1e3, 5e3])
    taken = time.perf_counter() - begin
    detail = f"error of three rows at most {found.check_estimates() * 100:.2f} %"
    yield Line(f"blocks of rows, {count:,} rows × {len(x):,} values, 2 threads: s", detail, taken, 40)


def certified(quick: bool) -> Iterator[Line]:
    """Certified areas of many values."""
    rng = np.random.default_rng(4)
    for shape in VALUES:
        x = values_of(shape, rng, 5_000 if quick else 100_000)
        p = probabilities_of("random", rng, x)
        taken = best(lambda x=x, p=p: eq.curve(x, p, tolerance=1e-2), 1)
        yield Line(f"curve(tolerance=1e-2), {len(x):,} {shape} values: s", "", taken, 30)


PARTS = {
    "sort": against_sort,
    "rows": many_rows,
    "estimates": estimates,
    "rowtime": time_per_row,
    "blocks": many_blocks,
    "area": certified,
}


def machine() -> str:
    """A description of the machine; restricts the process to two cores if the system allows it."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return (
        f"{names[0] if names else platform.machine()}; {platform.system()}, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, Numba {numba.__version__}, equivoc {eq.__version__}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small sizes; the figures mean nothing")
    parser.add_argument("--only", default=",".join(PARTS), help="parts to run, separated by commas")
    asked = parser.parse_args()
    unknown = set(asked.only.split(",")) - set(PARTS)
    if unknown:
        parser.error(f"no part called {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    print(machine())
    if asked.quick:
        print("Quick: small sizes, to see that the script works. The figures mean nothing.")
    print("\n| work | detail | figure | bar | met |\n|---|---|---|---|---|")
    for part in asked.only.split(","):
        for line in PARTS[part](asked.quick):
            print("| " + " | ".join(line.cells()) + " |", flush=True)


if __name__ == "__main__":
    main()
